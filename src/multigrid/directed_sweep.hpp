#pragma once
// The smoothing step for convection: a Gauss-Seidel sweep in one of the 2^d directions along the axes. Along the wind
// it takes values across the grid, whatever the Péclet number is; the next steps take the other directions
// (Trottenberg, Oosterlee and Schüller, "Multigrid", 2001, section 7.2). A sweep goes over the points of each tile of
// the grid, one after the other. Those around a tile keep their values from before the step, so tiles are independent.
//
// Within a row each point waits for the one before it. What a row's points change, d_i = a_i + f_i d_(i-1), is a
// recurrence of first order: the host runs through it, and a warp on a GPU composes these functions in pairs.

#include "device/chain.hpp"
#include "device/runs.hpp"
#include "device/stream.hpp"
#include "device/warp.hpp"
#include "multigrid/level.hpp"
#include "multigrid/step.hpp"
#include "multigrid/values.hpp"

namespace shellac {

constexpr int columns_of_tile = 30; // on a GPU: with one on either side, a lane of a warp for each
constexpr int most_couplings = 26;

template <class T> struct DirectedSweep {
  VariableLevel<T> level;
  Field<T>         u; // null: zero
  const T         *b;
  T               *out;
  int              way[3];               // 1 or -1 along each axis
  int              tile[3], tiles[3];    // points of a tile; how many of them
  int              rim[3];               // points of neighbours on either side of a tile that are kept beside its own
  int              couplings, before;    // how many; that with the point before in the row, or -1
  int              step[most_couplings]; // to each neighbour in a tile's array

  SHELLAC_HD int    pitch(int a) const { return tile[a] + 2 * rim[a]; }
  SHELLAC_HD size_t points_of_tile() const { return (size_t)pitch(0) * pitch(1) * pitch(2); }
  SHELLAC_HD int    place(int i, int j, int k) const { // in a tile's array
    return i + rim[0] + pitch(0) * (j + rim[1] + pitch(1) * (k + rim[2]));
  }
  SHELLAC_HD PetscInt64 count() const { return (PetscInt64)tiles[0] * tiles[1] * tiles[2]; }
  // The points of a tile.
  SHELLAC_HD Box tile_at(PetscInt64 n) const {
    const PetscInt at[3] = {(PetscInt)(n % tiles[0]), (PetscInt)(n / tiles[0] % tiles[1]),
                            (PetscInt)(n / tiles[0] / tiles[1])};
    Box            box;
    for (int a = 0; a < 3; a++) {
      box.lo[a] = at[a] * tile[a];
      box.hi[a] = PetscMin(box.lo[a] + tile[a], level.patch.size[a]);
    }
    return box;
  }
  SHELLAC_HD T value_before(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    return u.u ? value_at(level.patch, u, p) : T(0);
  }

  // What the step changes at n points of a row, if the point before each stays; and the factor of that point's change.
  template <class Row, int... c>
  SHELLAC_RUN void find_changes(const Row &row, int n, const T *at, T *change, T *factor,
                                std::integer_sequence<int, c...>) const {
    SHELLAC_COLUMNS
    for (int i = 0; i < n; i++) {
      const T scale = row.coefficient(INVERSE_DIAGONAL, i);
      T       r = residual_of(row.right(i), row.coefficient(SHIFT, i), at[i]);
      ((r += flux(row.coefficient(FIRST_COUPLING + c, i), at[i + step[c]], at[i])), ...);
      change[i] = scale * r;
      factor[i] = scale * row.with_before(*this, i);
    }
  }
};

// A row's coefficients in the level's arrays.
template <class T> struct RowInArrays {
  const T *first;
  size_t   points;
  const T *b;

  SHELLAC_RUN RowInArrays(const DirectedSweep<T> &s, const PetscInt p[3])
      : first(s.level.row(0, p)), points((size_t)s.level.grown.points()),
        b(s.b + s.level.patch.index(p[0], p[1], p[2])) {}
  SHELLAC_RUN T right(int i) const { return b[i]; }
  SHELLAC_RUN T coefficient(int slot, int i) const { return first[(size_t)slot * points + i]; }
  SHELLAC_RUN T with_before(const DirectedSweep<T> &s, int i) const {
    return s.before < 0 ? T(0) : coefficient(FIRST_COUPLING + s.before, i);
  }
};

template <int couplings, class T> SHELLAC_WIDE void sweep_on_host(const DirectedSweep<T> &s) {
  std::vector<T> memory(s.points_of_tile());
  std::vector<T> change((size_t)s.tile[0]), factor((size_t)s.tile[0]);

  for (PetscInt64 n = 0; n < s.count(); n++) {
    const Box box = s.tile_at(n);
    const int columns = box.size(0);
    for (PetscInt k = -s.rim[2]; k < box.size(2) + s.rim[2]; k++)
      for (PetscInt j = -s.rim[1]; j < box.size(1) + s.rim[1]; j++) {
        const PetscInt first[3] = {box.lo[0] - s.rim[0], box.lo[1] + j, box.lo[2] + k};
        T *const       to = memory.data() + s.place(-s.rim[0], j, k);
        if (s.u.u)
          copy_row(s.level.patch, s.u, first, columns + 2 * s.rim[0], to);
        else
          std::fill_n(to, columns + 2 * s.rim[0], T(0));
      }
    const int rows = box.size(1), planes = box.size(2);
    for (int r = 0; r < rows * planes; r++) {
      const int      j = r % rows, k = r / rows;
      const PetscInt p[3] = {box.lo[0], box.lo[1] + (s.way[1] > 0 ? j : rows - 1 - j),
                             box.lo[2] + (s.way[2] > 0 ? k : planes - 1 - k)};
      T *const       at = memory.data() + s.place(0, p[1] - box.lo[1], p[2] - box.lo[2]);
      s.find_changes(RowInArrays<T>(s, p), columns, at, change.data(), factor.data(),
                     std::make_integer_sequence<int, couplings>());
      if (s.way[0] > 0)
        for (int i = 1; i < columns; i++) change[i] += factor[i] * change[i - 1];
      else
        for (int i = columns - 2; i >= 0; i--) change[i] += factor[i] * change[i + 1];
      for (int i = 0; i < columns; i++) at[i] += change[i];
      std::copy_n(at, columns, s.out + s.level.patch.index(p[0], p[1], p[2]));
    }
  }
}

#if SHELLAC_CUDA
namespace kernel {

// The same of one point, read before it is needed.
template <int couplings, class T> struct RowInRegisters {
  T values[FIRST_COUPLING + couplings], before, b;

  __device__ __forceinline__ void load(const RowInArrays<T> &from, const DirectedSweep<T> &s) {
#pragma unroll
    for (int slot = 0; slot < FIRST_COUPLING + couplings; slot++) values[slot] = from.coefficient(slot, 0);
    before = from.with_before(s, 0);
    b = from.right(0);
  }
  SHELLAC_RUN T right(int) const {
    return b;
  }
  SHELLAC_RUN T coefficient(int slot, int) const {
    return values[slot];
  }
  SHELLAC_RUN T with_before(const DirectedSweep<T> &, int) const {
    return before;
  }
};

// The place on the patch of an index along an axis, at most one beyond it: that spares the division of periodic_index().
// Or the point is another rank's, or there is none.
struct IndexAlong {
  PetscInt at;
  bool     others, none;

  __device__ __forceinline__ IndexAlong(const Patch &patch, int a, PetscInt p) : at(p), others(false), none(false) {
    const PetscInt size = patch.size[a];
    if (p >= 0 && p < size) return;
    if (patch.periodic[a] && size == patch.N[a]) {
      at += p < 0 ? size : -size;
      return;
    }
    others = patch.neighbour[a][p < 0 ? LOWER : UPPER];
    none = !others;
    at = 0;
  }
};

// A tile's values from before the step, and those around it: a lane has one column, and many loads are under way at once.
template <class T>
__device__ __forceinline__ void load_tile(const DirectedSweep<T> &s, const Box &box, PetscInt i, T *tile) {
  constexpr int    together = 10;
  const Patch     &patch = s.level.patch;
  const int        high = box.size(1) + 2 * s.rim[1];
  const bool       has_column = i < box.hi[0] + s.rim[0];
  const IndexAlong x(patch, 0, has_column ? i : box.lo[0]);
  for (int plane = 0; plane < box.size(2) + 2 * s.rim[2]; plane++) {
    const PetscInt   k = box.lo[2] - s.rim[2] + plane;
    const IndexAlong z(patch, 2, k);
#pragma unroll 1
    for (int first = 0; first < high; first += together) {
      T value[together];
#pragma unroll
      for (int m = 0; m < together; m++) {
        const IndexAlong y(patch, 1, box.lo[1] - s.rim[1] + min(first + m, high - 1));
        const bool       here = s.u.u && !(x.others || y.others || z.others || x.none || y.none || z.none);
        value[m] = here ? unchanging(s.u.u + patch.index(x.at, y.at, z.at)) : T(0);
      }
#pragma unroll
      for (int m = 0; m < together; m++) {
        if (first + m >= high) break;
        const PetscInt   j = box.lo[1] - s.rim[1] + first + m;
        const IndexAlong y(patch, 1, j);
        if ((x.others || y.others || z.others) && !(x.none || y.none || z.none)) value[m] = s.value_before(i, j, k);
        if (has_column) tile[s.place((int)(i - box.lo[0]), first + m - s.rim[1], plane - s.rim[2])] = value[m];
      }
    }
  }
}

// A warp for each tile, a lane for each column and the two beside them.
template <int couplings, class T>
__global__ void __launch_bounds__(32) sweep_tiles(const __grid_constant__ DirectedSweep<T> s) {
  extern __shared__ double2 memory[];
  T *const                  tile = reinterpret_cast<T *>(memory);
  const int                 lane = threadIdx.x, backward = s.way[0] > 0 ? -1 : 1;
  const Box                 box = s.tile_at(blockIdx.x);
  const PetscInt            i = box.lo[0] - s.rim[0] + lane;
  const bool                has_points = i >= box.lo[0] && i < box.hi[0];
  const int                 high = box.size(1), rows = high * box.size(2);
  const PetscInt            p[3] = {min(max(i, box.lo[0]), box.hi[0] - 1), s.way[1] > 0 ? box.lo[1] : box.hi[1] - 1,
                         s.way[2] > 0 ? box.lo[2] : box.hi[2] - 1}; // in the first row
  // from a row to the next one, within a plane and to the next plane
  const auto steps = [&](ptrdiff_t y, ptrdiff_t z, ptrdiff_t to_next[2]) {
    to_next[0] = s.way[1] * y, to_next[1] = s.way[2] * z - (high - 1) * s.way[1] * y;
  };
  ptrdiff_t of_rows[2], of_values[2], of_tile[2];
  steps(s.level.grown.size(0), (ptrdiff_t)s.level.grown.size(0) * s.level.grown.size(1), of_rows);
  steps(s.level.patch.size[0], (ptrdiff_t)s.level.patch.size[0] * s.level.patch.size[1], of_values);
  steps(s.pitch(0), s.pitch(0) * s.pitch(1), of_tile);

  wait_for_kernel_before();
  let_next_kernel_begin();
  RowInArrays<T>               from(s, p);
  RowInRegisters<couplings, T> next;
  next.load(from, s);
  load_tile(s, box, i, tile);
  __syncwarp();
  T *at = tile + s.place((int)(p[0] - box.lo[0]), (int)(p[1] - box.lo[1]), (int)(p[2] - box.lo[2])),
    *out = s.out + s.level.patch.index(p[0], p[1], p[2]);
#pragma unroll 2
  for (int r = 0, j = 0; r < rows; r++) {
    const RowInRegisters<couplings, T> row = next;
    const int                          plane_ends = ++j == high ? 1 : 0;
    if (plane_ends) j = 0;
    if (r + 1 < rows) {
      from.first += of_rows[plane_ends], from.b += of_values[plane_ends];
      next.load(from, s);
    }
    T change, factor;
    s.find_changes(row, 1, at, &change, &factor, std::make_integer_sequence<int, couplings>());
    if (!has_points) change = factor = T(0);
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int from_lane = lane + backward * distance;
      const T   its_change = shuffled(change, from_lane), its_factor = shuffled(factor, from_lane);
      if (from_lane >= 0 && from_lane < 32) {
        change += factor * its_change;
        factor *= its_factor;
      }
    }
    __syncwarp(); // all lanes have read their neighbours' values
    if (has_points) *out = *at += change;
    at += of_tile[plane_ends], out += of_values[plane_ends];
    __syncwarp();
  }
}

} // namespace kernel
#endif

// The n-th step of a level, or with opposite directions, in tiles of at most so many points along each axis.
template <class T>
DirectedSweep<T> directed_sweep(const VariableLevel<T> &level, int n, bool opposite, const PetscInt extent[3],
                                const Field<T> &u, const T *b, T *out) {
  // by a bit for each axis: opposite directions follow each other, and four steps take all of the first two axes
  constexpr int    order[8] = {0, 7, 1, 6, 4, 3, 5, 2};
  DirectedSweep<T> s = {};

  s.level = level, s.u = u, s.b = b, s.out = out;
  for (int a = 0; a < 3; a++) {
    const PetscInt size = level.patch.size[a];
    s.way[a] = (order[n % 8] >> a & 1) != opposite ? -1 : 1;
    s.tile[a] = (int)PetscMax(PetscMin(extent[a], size), 1);
    s.tiles[a] = (int)((size + s.tile[a] - 1) / s.tile[a]);
    s.rim[a] = level.patch.N[a] > 1 ? 1 : 0;
  }
  s.before = -1;
  level.neighbours.each([&](const PetscInt *d) {
    if (d[0] == -s.way[0] && !d[1] && !d[2]) s.before = s.couplings;
    s.step[s.couplings++] = s.place((int)d[0], (int)d[1], (int)d[2]) - s.place(0, 0, 0);
  });
  return s;
}

template <int couplings, class T> PetscErrorCode run_with(PetscMemType memory, const DirectedSweep<T> &s) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    if (s.count() > 0)
      PetscCall(launch_in_chain(kernel::sweep_tiles<couplings, T>, s.count(), 32, s.points_of_tile() * sizeof(T), s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)memory;
  sweep_on_host<couplings>(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}
// Of a star or a box in one to three dimensions.
template <class T> PetscErrorCode run_directed_sweep(PetscMemType memory, const DirectedSweep<T> &s) {
  PetscFunctionBegin;
  PetscCall(s.couplings == 2   ? run_with<2>(memory, s)
            : s.couplings == 4 ? run_with<4>(memory, s)
            : s.couplings == 6 ? run_with<6>(memory, s)
            : s.couplings == 8 ? run_with<8>(memory, s)
                               : run_with<most_couplings>(memory, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Its tiles: on a GPU many small ones; on the host as large ones as the cache allows, of whole rows.
inline void extent_of_tiles(PetscMemType memory, const Patch &patch, PetscInt extent[3]) {
  const bool     in_3d = patch.N[1] > 1 && patch.N[2] > 1;
  const PetscInt on_gpu[3] = {columns_of_tile, in_3d ? 4 : 8, in_3d ? 2 : 8}, points = 1 << 17;
  const auto     at_most = [&](int a, PetscInt n) { return PetscMax(PetscMin(patch.size[a], n), (PetscInt)1); };

  if (PetscMemTypeDevice(memory)) {
    std::copy_n(on_gpu, 3, extent);
    return;
  }
  extent[0] = at_most(0, points);
  const PetscInt rows = points / extent[0];
  extent[2] = at_most(2, (PetscInt)PetscSqrtReal((PetscReal)rows)); // as many planes as rows in each
  extent[1] = at_most(1, rows / extent[2]);
  extent[2] = at_most(2, rows / extent[1]);
}

} // namespace shellac
