#pragma once
// −∇·(k∇u) + σu on a GPU from the values of k, in 2-D and 3-D: at the inner points of a rank and at points next to ends, of
// the first axis or, in 3-D with k at points, of all axes. The other points, next to other ends or ranks, use coefficients.
// With k at points 24 bytes a point move, with k on faces 32 or 40, with a row's coefficients 56 or 72.

#include "capture/apply.hpp"
#include "capture/captured.hpp"
#include "formulas/flux_rows_on_gpu.hpp"

#if SHELLAC_CUDA
namespace shellac {

template <class Face, class T> struct FluxRow : RowInside { // for the kernel of 2-D
  static constexpr int  steps = sizeof(T) > 8 ? 3 : std::is_same_v<Face, ArithmeticMean> ? 8 : 6;
  static constexpr bool box = false;
  using Window = kernel::Window<T, steps>;
  struct Values {
    Window k[Face::on_faces ? 2 : 1];
  };
  Flux<T>           flux;
  __device__ Values read(PetscInt, size_t at, size_t stride) const {
    Values values;
    values.k[0].template load<false>(flux.k[0] + at, stride);
    if constexpr (Face::on_faces) values.k[1].template load<false>(flux.k[1] + at, stride);
    return values;
  }
  __device__ void complete(PetscInt i, Values *values, Window *u) const {
#pragma unroll
    for (int side = 0; side < 2; side++)
      if (i == flux.end[0][side].at)
#pragma unroll
        for (int s = 1; s <= steps; s++) {
          T(&kx)[3] = values->k[0].value[s], (&ux)[3] = u->value[s];
          const int to = side == LOWER ? 0 : 2, before = 2 - to;
          ux[to] = flux.end[0][side].u(ux[1], ux[before]);
          kx[to] = Face::beyond(flux.end[0][side], kx[1], kx[before]);
        }
  }
  __device__ T operator()(const Values &values, const Window &u, int s) const {
    const Window &kx = values.k[0], &ky = values.k[Face::on_faces];
    const T       here = u(s, 0, 0);
    // from the lower to the upper point of each face, so that the compiler finds those that two points share
    const T west = Face::of(kx(s, -1, 0), kx(s, 0, 0)) * (here - u(s, -1, 0)),
            east = Face::of(kx(s, 0, 0), kx(s, 1, 0)) * (u(s, 1, 0) - here),
            south = Face::of(ky(s, 0, -1), ky(s, 0, 0)) * (here - u(s, 0, -1)),
            north = Face::of(ky(s, 0, 0), ky(s, 0, 1)) * (u(s, 0, 1) - here);
    return flux.sigma * here + flux.c[0] * (west - east) + flux.c[1] * (south - north);
  }
};

namespace kernel {

struct PairBlock {
  static constexpr int warps = 4, rows = 2, columns = 1; // of a block; of a warp; of a lane, 32 packs apart
};

// Where a thread of a PairBlock stands. Those beyond the points read at the last ones, and write nothing.
template <class T, int width> struct Place {
  static constexpr int rows = PairBlock::rows;
  using Values = Pack<T, width>;

  PetscInt i, nx, lo, hi;
  int      planes, last; // its last row
  bool     in_row;
  size_t   at, row, plane; // the first point in the arrays, and the strides

  __device__ Place(const March &march, const Patch &patch) {
    const Box     &box = march.inner;
    const unsigned above = blockIdx.x / march.blocks_x;
    const int      lane = threadIdx.x % 32;
    const PetscInt j = box.lo[1] + (PetscInt)(above % march.blocks_y * PairBlock::warps + threadIdx.x / 32) * rows,
                   k = box.lo[2] + (PetscInt)(above / march.blocks_y) * march.planes;
    nx = patch.size[0], lo = box.lo[0], hi = box.hi[0];
    i = march.first + ((PetscInt)(blockIdx.x % march.blocks_x) * 32 + lane) * width;
    planes = (int)PetscMin((PetscInt)march.planes, box.hi[2] - k);
    last = (int)PetscMax(PetscMin((PetscInt)rows, box.hi[1] - j) - 1, (PetscInt)0);
    in_row = j < box.hi[1];
    row = nx, plane = row * patch.size[1];
    at = patch.index(PetscMin(i, nx - width), PetscMin(j, box.hi[1] - 1), k);
  }
  __device__ bool   no_west() const { return i <= 0; }
  __device__ bool   no_east() const { return i + width >= nx; }
  __device__ size_t offset(int r) const { return (size_t)(r < last ? r : last) * row; }
  // The values before and after a pack at u; zero beyond the grid.
  __device__ void beside(const T *__restrict__ u, const Values &here, T *west, T *east) const {
    const int lane = threadIdx.x % 32;
    *west = shuffled(here.lane[width - 1], lane - 1);
    *east = shuffled(here.lane[0], lane + 1);
    if (lane == 0 && !no_west() && i < nx) *west = u[-1];
    if (lane == 31 && !no_east()) *east = u[width];
    if (no_west()) *west = 0;
    if (no_east()) *east = 0;
  }
  __device__ void store(T *to, int r, const Values &values) const {
    if (!in_row || r > last) return;
    if (i >= lo && i + width <= hi)
      *reinterpret_cast<Values *>(to + r * row) = values;
    else
#pragma unroll
      for (int l = 0; l < width; l++)
        if (i + l >= lo && i + l < hi) to[r * row + l] = values.lane[l];
  }
  static __device__ Values load(const T *__restrict__ from) {
    return *reinterpret_cast<const Values *>(from);
  }
};

// With k on faces, in 3-D: a face's flux is computed once for both of its points, if one warp has both.
template <Form form, int width, class T>
__global__ void __launch_bounds__(32 * PairBlock::warps)
    flux_planes(March march, Patch patch, Flux<T> flux, const T *__restrict__ field, const T *b, T *y) {
  using Values = Pack<T, width>;
  using Face = OnFaces;
  constexpr int         rows = PairBlock::rows;
  const Place<T, width> place(march, patch);
  const T              *u = field + place.at;
  const T *__restrict__ kx = flux.k[0] + place.at;
  const T *__restrict__ ky = flux.k[1] + place.at;
  const T *__restrict__ kz = flux.k[2] + place.at;
  T         *to = y + place.at;
  Values     here[rows], kz_here[rows];
  T          below[rows][width]; // the flux through the face below
  const bool at_lower = place.i == flux.end[0][LOWER].at, at_upper = place.i + width - 1 == flux.end[0][UPPER].at;

#pragma unroll
  for (int r = 0; r < rows; r++) {
    const size_t at = place.offset(r);
    const Values under = place.load(u + at - place.plane), k_under = place.load(kz + at - place.plane);
    here[r] = place.load(u + at);
    kz_here[r] = place.load(kz + at);
#pragma unroll
    for (int l = 0; l < width; l++)
      below[r][l] = Face::of(k_under.lane[l], kz_here[r].lane[l]) * (here[r].lane[l] - under.lane[l]);
  }
#pragma unroll 1
  for (int s = 0; s < place.planes; s++) {
    const size_t beyond = place.offset(rows) + place.row;
    const Values north = place.load(u + beyond), k_north = place.load(ky + beyond), south = place.load(u - place.row),
                 k_south = place.load(ky - place.row);
    Values over[rows], k_over[rows], kx_here[rows], ky_here[rows], add[rows];
    T      side[width]; // the flux through the face towards the row before
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const size_t at = place.offset(r);
      over[r] = place.load(u + place.plane + at);
      k_over[r] = place.load(kz + place.plane + at);
      kx_here[r] = place.load(kx + at);
      ky_here[r] = place.load(ky + at);
      if (form != Form::product) add[r] = place.load(b + (u - field) + at);
    }
#pragma unroll
    for (int l = 0; l < width; l++)
      side[l] = Face::of(k_south.lane[l], ky_here[0].lane[l]) * (here[0].lane[l] - south.lane[l]);
#pragma unroll
    for (int r = 0; r < rows; r++) {
      T      west, east, k_west, k_east;
      Values result;
      place.beside(u + place.offset(r), here[r], &west, &east);
      place.beside(kx + place.offset(r), kx_here[r], &k_west, &k_east);
      if (at_lower) {
        const T u_after = width > 1 ? here[r].lane[1 % width] : east,
                k_after = width > 1 ? kx_here[r].lane[1 % width] : k_east;
        west = flux.end[0][LOWER].u(here[r].lane[0], u_after);
        k_west = Face::beyond(flux.end[0][LOWER], kx_here[r].lane[0], k_after);
      }
      if (at_upper) {
        constexpr int l = width - 1, l_before = width > 1 ? width - 2 : 0;
        const T       u_before = width > 1 ? here[r].lane[l_before] : west,
                k_before = width > 1 ? kx_here[r].lane[l_before] : k_west;
        east = flux.end[0][UPPER].u(here[r].lane[l], u_before);
        k_east = Face::beyond(flux.end[0][UPPER], kx_here[r].lane[l], k_before);
      }
      T before = Face::of(k_west, kx_here[r].lane[0]) * (here[r].lane[0] - west);
#pragma unroll
      for (int l = 0; l < width; l++) {
        const bool inside = r + 1 < rows && r < place.last, last = l + 1 == width;
        const T    value = here[r].lane[l], u_next = last ? east : here[r].lane[(l + 1) % width],
                k_next = last ? k_east : kx_here[r].lane[(l + 1) % width],
                u_after = inside ? here[(r + 1) % rows].lane[l] : north.lane[l],
                k_after = inside ? ky_here[(r + 1) % rows].lane[l] : k_north.lane[l];
        const T to_east = Face::of(kx_here[r].lane[l], k_next) * (u_next - value),
                to_north = Face::of(ky_here[r].lane[l], k_after) * (u_after - value),
                above = Face::of(kz_here[r].lane[l], k_over[r].lane[l]) * (over[r].lane[l] - value);
        const T Au = flux.sigma * value + flux.c[0] * (before - to_east) + flux.c[1] * (side[l] - to_north) +
                     flux.c[2] * (below[r][l] - above);
        result.lane[l] = combine(form, add[r].lane, l, Au);
        before = to_east;
        side[l] = to_north;
        below[r][l] = above;
      }
      place.store(to, r, result);
    }
#pragma unroll
    for (int r = 0; r < rows; r++) here[r] = over[r], kz_here[r] = k_over[r];
    u += place.plane;
    kx += place.plane;
    ky += place.plane;
    kz += place.plane;
    to += place.plane;
  }
  wait_for_kernel_before();
}

} // namespace kernel

// The product at inner points by fluxes.
template <class Face, class T> class FluxProduct final : public InteriorProduct {
public:
  FluxProduct(int dim, const Flux<T> &flux) : dim_(dim), flux_(flux) {}

  PetscErrorCode apply(const captured::Apply<T> &point, const T *const *arrays, const Box &box,
                       const Box &inside) const override {
    const Patch &patch = point.row.patch;
    const T     *u = point.u.u, *b = point.b;
    const bool   few = inside.points() < 8 << 20; // shorter walks, so that there are warps for the whole GPU
    uintptr_t    alignment = 0;
    Box          inner = inside;

    PetscFunctionBegin;
    for (const T *k : flux_.k) alignment |= (uintptr_t)k;
    const auto extend_to_ends = [&](int a) {
      if (flux_.end[a][LOWER].at >= 0) inner.lo[a] = 0;
      if (flux_.end[a][UPPER].at >= 0) inner.hi[a] = patch.size[a];
    };
    extend_to_ends(0);
    const FluxRow<Face, T> row{{}, flux_};
    if (dim_ == 2) {
      const captured::ApplyWhole<T, 2, false, true> at_ends(point, arrays);
      if (few_points(box))
        PetscCall(launch_rows(patch, row, at_ends, u, point.form, b, box, inner, point.y));
      else if constexpr (Face::on_faces) // the functor for all points leaves the compiler more registers
        PetscCall(launch_rows(patch, row, point, u, point.form, b, box, inner, point.y));
      else
        PetscCall(launch_rows<true>(patch, row, at_ends, u, point.form, b, box, inner, point.y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    const captured::ApplyWhole<T, 3, false, true> at_ends(point, arrays);
    if constexpr (!Face::on_faces) {
      for (int a = 1; a < 3; a++) extend_to_ends(a);
      PetscCall(launch_flux_rows<Face>(patch, flux_, at_ends, u, point.form, b, box, inner, point.y));
    } else
      PetscCall(launch_planes(patch, at_ends, u, point.form, b, box, inner, point.y, alignment,
                              [&](auto form_of, auto width_of, bool in_chain) {
                                using Block = kernel::PairBlock;
                                constexpr Form f = decltype(form_of)::value;
                                constexpr int  width = decltype(width_of)::value;
                                return launch_walk<Block>(in_chain, kernel::flux_planes<f, width, T>,
                                                          march_through<Block, T, width>(inner, few ? 8 : 32), patch,
                                                          flux_, u, b, point.y);
                              }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // of a row: two faces for each axis
  PetscLogDouble flops() const override { return flops_by_fluxes<Face>(dim_); }

private:
  int     dim_;
  Flux<T> flux_;
};

} // namespace shellac
#endif
