#pragma once
// One fused pass over a level of a grid of one or two dimensions: guess, smoothing steps, residual and restriction.
//
//   u_0 = guess + P e,  u_s = u_{s-1} + ω_s D^-1 (b - A u_{s-1}),  out = u_n,  b_coarse = R (b - A u_n)
//
// The array of every grid function is read or written once, but for the points by which parts of the level that are worked
// on apart overlap: those that the steps use up. This is for GPUs: with constant coefficients hierarchy/run_pass.hpp takes
// gpu/march.hpp, gpu/tiles.hpp or gpu/warp_tiles.hpp; with variable ones, gpu/variable_march.hpp has the pass. The host's
// are in host/planes.hpp, per-point forms of the same steps in smooth.hpp, residual.hpp, restrict.hpp and prolong.hpp, and
// tests compare them.

#include "multigrid/level.hpp"

namespace shellac {

#if SHELLAC_CUDA
// Of a walk along an axis the last values, the newest first.
template <class T, int count> struct LastValues {
  T                               values[count] = {};
  __device__ __forceinline__ void add(const T &value) {
#pragma unroll
    for (int n = count - 1; n > 0; n--) values[n] = values[n - 1];
    values[0] = value;
  }
  __device__ __forceinline__ const T &operator[](int age) const {
    return values[age];
  }
};
#endif

// What a pass does.
template <bool given_, bool corrected_, bool restricts_, bool coarsens_x_, bool coarsens_y_, int steps_>
struct PassKind {
  static constexpr bool given = given_;         // from a guess
  static constexpr bool corrected = corrected_; // to which a coarse correction is added
  static constexpr bool restricts = restricts_;
  static constexpr bool coarsens_x = coarsens_x_, coarsens_y = coarsens_y_;
  static constexpr int  steps = steps_;
  // A first step from zero takes no neighbours: its values are there at once.
  static constexpr bool starts = given || corrected;
  static constexpr int  last = starts ? steps : steps > 0 ? steps - 1 : 0; // steps that take neighbours
  // Points around a part that its results depend on.
  static constexpr int ghost = last + (restricts ? 2 : 0);
  // The same along a row, where kept points shall stay at odd places: even, and with what interpolation needs.
  static constexpr int ghost_columns = (ghost + (corrected ? 1 : 0) + 1) / 2 * 2;
};

// Of a window: the vectors' arrays, which have this rank's own points. There they take the place of the level's arrays.
template <class T> struct OwnArrays {
  const T *b = nullptr;   // null: no part in the pass
  T       *out = nullptr; // likewise; points that are not own have no result then
  Box      points;        // of the patch

  SHELLAC_HD bool has(PetscInt i, PetscInt j) const {
    return i >= points.lo[0] && i < points.hi[0] && j >= points.lo[1] && j < points.hi[1];
  }
  SHELLAC_HD size_t index(PetscInt i, PetscInt j) const {
    return (size_t)(i - points.lo[0]) + (size_t)points.size(0) * (size_t)(j - points.lo[1]);
  }
};

template <class Level> struct Pass {
  using T = typename Level::Scalar;
  Level        level;
  Field<T>     b, guess, e;
  T           *out;      // null: not wanted
  T           *b_coarse; // on the points of coarse_b
  Patch        coarse_b, coarse_e;
  OwnArrays<T> own;
  double      *norms; // [parts]: sums of |b - A u_0|²; null: not wanted
};
template <class T> using SeparablePass = Pass<SeparableLevel<T>>;
template <class T> using VariablePass = Pass<VariableLevel<T>>;

} // namespace shellac
