#pragma once
// −∇·(k∇u) + σu on a GPU from the values of k, in 2-D and 3-D: at the inner points of a rank and at points next to ends, in
// 2-D of the first axis, in 3-D of all axes. The other points, next to other ends or ranks, use coefficients. With k at
// points 24 bytes a point move, with k on faces 32 or 40, with a row's coefficients 56 or 72.

#include "capture/apply.hpp"
#include "capture/captured.hpp"
#include "capture/planes_on_gpu.hpp"
#include "formulas/fluxes.hpp"

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

// In 3-D, by the walk of planes_on_gpu.hpp. The flux through a face is computed once for both of its points, if one warp has
// both.
template <class Face, class T> struct FluxesInPlanes : RowsInPlanes {
  static constexpr bool in_packs = true;
  static constexpr int  planes = 5, fields = Face::on_faces ? 3 : 1; // arrays of k
  static constexpr int  most_planes(Form) { return 16; }
  template <Form, int width> struct Block {
    static constexpr bool is_large = sizeof(T) > 8;
    static constexpr int  warps = 4, rows = is_large ? 1 : width > 1 || Face::on_faces ? 2 : 4, columns = 1;
    static constexpr int  at_once = Face::on_faces ? 3 : 4;
  };

  Flux<T> flux;

  explicit FluxesInPlanes(const Flux<T> &all) : flux(all) {}

  template <class Walk> __device__ void walk(const Walk &walk, const T *__restrict__ field, const T *b, T *y) const {
    if (Walk::at_ends || walk.at_ends_of_rows())
      compute<true>(walk, field, b, y);
    else
      compute<false>(walk, field, b, y);
  }
  // The flux outward through an end of an axis, from the values at the last point and the one before it.
  static __device__ T outward(const FluxEnd<T> (&ends)[2], Side side, T u_last, T u_before, T k_last, T k_before) {
    return Face::at_end(ends[side], side, k_last, k_before) * (ends[side].u(u_last, u_before) - u_last);
  }
  template <bool ends_of_rows, class Walk>
  __device__ __forceinline__ void compute(const Walk &walk, const T *__restrict__ field, const T *b, T *y) const {
    constexpr int  rows = Walk::rows, width = Walk::width;
    constexpr bool at_ends = Walk::at_ends;
    using Values = typename Walk::Values;
    using Around = kernel::Around<Walk, T>;
    const FluxEnd<T>(&end)[3][2] = flux.end;
    const PetscInt j = walk.j, k = walk.k;
    const bool     at_lower = ends_of_rows && walk.i == end[0][LOWER].at,
               at_upper = ends_of_rows && walk.i + width - 1 == end[0][UPPER].at;
    ptrdiff_t at = walk.at;
    T         behind[rows][width]; // the flux through the face behind
    Around    u(walk, field + at), kx(walk, flux.k[0] + at), on_y, on_z;
    Around   &ky = Face::on_faces ? on_y : kx, &kz = Face::on_faces ? on_z : kx;
    if (Face::on_faces) ky = Around(walk, flux.k[1] + at), kz = Around(walk, flux.k[2] + at);

#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
      for (int l = 0; l < width; l++)
        behind[r][l] = Face::of(kz.below[r][0].lane[l], kz(r, 0, l)) * (u(r, 0, l) - u.below[r][0].lane[l]);
#pragma unroll 1
    for (int s = 0; s < walk.planes; s++, at += walk.plane) {
      const bool      at_first = at_ends && k + s == end[2][LOWER].at, at_last = at_ends && k + s == end[2][UPPER].at;
      const bool      exists = at_last || walk.has_plane(s + 1);
      const ptrdiff_t ahead = at_last ? -walk.plane : walk.plane; // the face beyond the last plane needs the one before
      Values          add[rows][1];
      T               side[width];
      u.load(walk, field + at, ahead, exists);
      kx.load(walk, flux.k[0] + at, ahead, exists);
      if (Face::on_faces) ky.load(walk, flux.k[1] + at, ahead, exists), kz.load(walk, flux.k[2] + at, ahead, exists);
      if (Walk::form != Form::product) walk.load_rows(b + at, true, add);
#pragma unroll
      for (int l = 0; l < width; l++) {
        side[l] = Face::of(ky(-1, 0, l), ky(0, 0, l)) * (u(0, 0, l) - u(-1, 0, l));
        if (at_ends && j == end[1][LOWER].at)
          side[l] = -outward(end[1], LOWER, u(0, 0, l), u(1, 0, l), ky(0, 0, l), ky(1, 0, l));
      }
#pragma unroll
      for (int r = 0; r < rows; r++) {
        T      west[1], east[1], k_west[1], k_east[1], along[width + 1]; // fluxes along the row
        Values result;
        walk.beside(u.here[r], u.west[r], u.east[r], west, east);
        walk.beside(kx.here[r], kx.west[r], kx.east[r], k_west, k_east);
        along[0] = Face::of(k_west[0], kx(r, 0, 0)) * (u(r, 0, 0) - west[0]);
        along[width] = Face::of(kx(r, 0, width - 1), k_east[0]) * (east[0] - u(r, 0, width - 1));
#pragma unroll
        for (int l = 1; l < width; l++)
          along[l] = Face::of(kx(r, 0, l - 1), kx(r, 0, l)) * (u(r, 0, l) - u(r, 0, l - 1));
        if (ends_of_rows) { // a pack at an end has the point before the last one, or lies beside it
          constexpr int after = width > 1 ? 1 : 0, before = width > 1 ? width - 2 : 0;
          if (at_lower)
            along[0] = -outward(end[0], LOWER, u(r, 0, 0), width > 1 ? u(r, 0, after) : east[0], kx(r, 0, 0),
                                width > 1 ? kx(r, 0, after) : k_east[0]);
          if (at_upper)
            along[width] = outward(end[0], UPPER, u(r, 0, width - 1), width > 1 ? u(r, 0, before) : west[0],
                                   kx(r, 0, width - 1), width > 1 ? kx(r, 0, before) : k_west[0]);
        }
#pragma unroll
        for (int l = 0; l < width; l++) {
          const T here = u(r, 0, l), over = u.over[r][0].lane[l], k_here = kz(r, 0, l), k_over = kz.over[r][0].lane[l];
          T       to_north = Face::of(ky(r, 0, l), ky(r + 1, 0, l)) * (u(r + 1, 0, l) - here);
          T       above = Face::of(k_here, k_over) * (over - here);
          if (at_ends) {
            if (j + r == end[1][UPPER].at)
              to_north = outward(end[1], UPPER, here, u(r - 1, 0, l), ky(r, 0, l), ky(r - 1, 0, l));
            if (at_first) behind[r][l] = -outward(end[2], LOWER, here, over, k_here, k_over);
            if (at_last) above = outward(end[2], UPPER, here, over, k_here, k_over);
          }
          const T Au = flux.sigma * here + flux.c[0] * (along[l] - along[l + 1]) + flux.c[1] * (side[l] - to_north) +
                       flux.c[2] * (behind[r][l] - above);
          result.lane[l] = combine(Walk::form, add[r][0].lane, l, Au);
          side[l] = to_north;
          behind[r][l] = above;
        }
        walk.store(y + at, r, 0, result);
      }
      u.go_on();
      kx.go_on();
      if (Face::on_faces) ky.go_on(), kz.go_on();
    }
  }
};

// The product at inner points by fluxes.
template <class Face, class T> class FluxProduct final : public InteriorProduct {
public:
  FluxProduct(int dim, const Flux<T> &flux) : dim_(dim), flux_(flux) {}

  PetscErrorCode apply(const captured::Apply<T> &point, const T *const *arrays, const Box &box,
                       const Box &inside) const override {
    const Patch &patch = point.row.patch;
    const T     *u = point.field.u, *b = point.b;
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
      PetscCall(launch_rows(patch, row, at_ends, u, point.form, b, box, inner, point.y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    const captured::ApplyWhole<T, 3, false, true> at_ends(point, arrays);
    for (int a = 1; a < 3; a++) extend_to_ends(a);
    PetscCall(launch_planes(patch, FluxesInPlanes<Face, T>(flux_), at_ends, u, point.form, b, box, inner, point.y,
                            alignment));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // of a row: two faces for each axis
  PetscLogDouble flops() const override { return 2 + dim_ * (Face::on_faces ? 6 : 12); }

private:
  int     dim_;
  Flux<T> flux_;
};

} // namespace shellac
#endif
