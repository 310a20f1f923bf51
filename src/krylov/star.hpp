#pragma once
// An iteration of conjugate gradients in two passes on the ranks' GPUs, where all rows of the matrix are those of one star
// in 1-D or 2-D: the product is computed twice in place of being stored. Vectors are read once and written once in each
// pass. Values beyond a patch are read where they are, in a neighbour's memory: its pass before has ended when the sums of
// this one's came. In 3-D, where this was measured to gain 7 %, passes.hpp serves.

#include "capture/coefficients.hpp"
#include "krylov/passes.hpp"

namespace shellac {
namespace cg {

// The points of a neighbouring patch beside this one's: the point n along the side has the index first + n step there.
struct Neighbour {
  PetscMPIInt rank = -1; // none
  size_t      first = 0, step = 0;
  size_t      points = 0; // of the patch
};

// Of a matrix: the star, what rows at the ends of the domain have more on their diagonal, and the points of each axis.
struct WholeStar {
  ConstantStar<PetscScalar> star;
  StarDiagonal<PetscScalar> at_ends;
  PetscInt                  size[3];
  Neighbour                 beside[2][2]; // [axis][end]
};

// What a pass reads: two vectors, or one.
struct Inputs {
  const PetscScalar *one, *other;
};

// A pass over a star's points has input(of), the value of the vector that the star is applied to, of what `of` reads of each
// input; load(at); and store(at, values, value, product, sums) of the vector's value and the product there.

// p = D r + ratio p, into another array, and p·Ap.
struct DirectionOfStar {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 5;
  static constexpr int  at_once = 3;            // blocks of a multiprocessor
  static constexpr bool lets_next_begin = true; // UpdateOfStar, which waits first
  struct Values {};
  Inputs       inputs;       // r and the p before
  Inputs       beside[2][2]; // of the neighbours
  Diagonal     D;            // an array only where no neighbour is another rank
  PetscScalar *p;
  bool         hermitian;
  PetscScalar  ratio = 0;

  SHELLAC_HD void                              begin(const Scalars &scalars) { ratio = scalars.ratio; }
  template <class Read> SHELLAC_HD PetscScalar input(const Inputs &from, size_t at, const Read &read) const {
    const PetscScalar z = D.value(at) * read(&from.one[at]);
    return ratio == PetscScalar(0) ? z : z + ratio * read(&from.other[at]);
  }
  SHELLAC_HD Values load(size_t) const { return {}; }
  SHELLAC_HD void   store(size_t at, Values, PetscScalar value, PetscScalar product, Sums *sums) const {
      p[at] = value;
      sums->add_product(value, product, hermitian);
  }
  SHELLAC_HD static void finish(Scalars *scalars, const Sums &sums) { scalars->take_curvature(sums); }
};

// As Update, with w = A p computed here.
struct UpdateOfStar {
  static constexpr bool has_sums = true;
  static constexpr int  flops = Update::flops;
  static constexpr int  at_once = 4;
  static constexpr bool lets_next_begin = false; // whatever comes after it
  using Values = Update::Values;
  Inputs inputs;       // p
  Inputs beside[2][2]; // of the neighbours
  Update update;

  SHELLAC_HD void                              begin(const Scalars &scalars) { update.begin(scalars); }
  template <class Read> SHELLAC_HD PetscScalar input(const Inputs &from, size_t at, const Read &read) const {
    return read(&from.one[at]);
  }
  SHELLAC_HD Values load(size_t at) const { return {update.x[at], 0, update.r[at], 0, update.D.value(at)}; }
  SHELLAC_HD void   store(size_t at, Values values, PetscScalar value, PetscScalar product, Sums *sums) const {
      values.p = value;
      values.w = product;
      update.store(at, values, sums);
  }
  SHELLAC_HD void finish(Scalars *scalars, const Sums &sums) const { update.finish(scalars, sums); }
};

#if SHELLAC_CUDA
namespace kernel {

constexpr int rows_of_star = sizeof(PetscScalar) > 8 ? 2 : 4; // that a thread computes

// A thread has some points of a column, a block 256 columns. All loads are under way before the first value is stored: the
// compiler cannot know what they are apart from. meets: the patch has a neighbour, perhaps itself
template <class Pass, bool meets>
__global__ void __launch_bounds__(threads_of_pass, meets ? 3 : Pass::at_once)
    walk_star(WholeStar a, Pass pass, Record *record, double *partial, unsigned *arrived,
              const __grid_constant__ Completion completion) {
  using T = PetscScalar;
  constexpr int  rows = rows_of_star;
  const int      lane = threadIdx.x % 32;
  const PetscInt nx = a.size[0], ny = a.size[1];
  const unsigned tiles_x = (unsigned)(nx + threads_of_pass - 1) / threads_of_pass,
                 tiles = tiles_x * (unsigned)((ny + rows - 1) / rows);

  wait_for_kernel_before();
  if (Pass::lets_next_begin) let_next_kernel_begin();
  if (record->scalars.stop != Scalars::none) return;
  pass.begin(record->scalars);
  const auto here_at = [&](size_t at) { return pass.input(pass.inputs, at, [](const T *from) { return *from; }); };
  const auto beyond = [&](int axis, Side end, PetscInt n) { // of the neighbour there; 0 without one
    const Neighbour &its = a.beside[axis][end];
    if (!meets || its.rank < 0) return T(0);
    return pass.input(pass.beside[axis][end], its.first + (size_t)n * its.step,
                      [](const T *from) { return value_of_other(from); });
  };
  Sums mine;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const PetscInt ahead = (PetscInt)(tile % tiles_x * threads_of_pass + threadIdx.x), i = PetscMin(ahead, nx - 1),
                   j = (PetscInt)(tile / tiles_x) * rows;
    const auto at = [&](PetscInt m) {
      return (size_t)i + (size_t)nx * (size_t)PetscMin(PetscMax(m, (PetscInt)0), ny - 1);
    };
    const bool            before = i > 0, after = i + 1 < nx; // there is a point in the patch
    const bool            reads_aside = (lane == 0 && before) || (lane == 31 && after);
    typename Pass::Values values[rows];
    T                     along[rows + 2], aside[rows]; // of the lane's neighbour that is not in the warp
#pragma unroll
    for (int s = 0; s < rows + 2; s++) along[s] = here_at(at(j + s - 1)); // beyond the ends: the last one again
#pragma unroll
    for (int s = 0; s < rows; s++) {
      const size_t to = at(j + s);
      aside[s] = reads_aside ? here_at(lane ? to + 1 : to - 1) : T(0);
      if (meets && (lane ? !after : !before))
        aside[s] = lane ? beyond(0, UPPER, PetscMin(j + s, ny - 1)) : beyond(0, LOWER, PetscMin(j + s, ny - 1));
      values[s] = pass.load(to);
    }
    if constexpr (meets) {
      if (j == 0) along[0] = beyond(1, LOWER, i);
      if (j + rows >= ny) {
        const T last = beyond(1, UPPER, i);
#pragma unroll
        for (int s = 1; s < rows + 2; s++)
          if (j + s - 1 == ny) along[s] = last;
      }
    }
    T center = a.star.center;
    if (!before) center += a.at_ends.at_end[0][LOWER];
    if (!after) center += a.at_ends.at_end[0][UPPER];
#pragma unroll
    for (int s = 0; s < rows; s++) {
      const PetscInt m = j + s;
      const T        here = along[s + 1], west = shuffled(here, lane + 31), east = shuffled(here, lane + 1);
      if (m >= ny || ahead >= nx) continue;
      T end = lane == 31 ? aside[s] : after ? east : T(0);
      if (meets && !after) end = lane ? aside[s] : beyond(0, UPPER, m);
      const T         beside[2][2] = {{lane > 0 ? west : aside[s], end},
                                      {meets || m > 0 ? along[s] : T(0), meets || m + 1 < ny ? along[s + 2] : T(0)}};
      ConstantStar<T> its = a.star;
      its.center =
          center + (m == 0 ? a.at_ends.at_end[1][LOWER] : T(0)) + (m == ny - 1 ? a.at_ends.at_end[1][UPPER] : T(0));
      pass.store(at(m), values[s], here, its.template operator()<2>(here, beside), &mine);
    }
  }
  complete<meets>(mine, pass, record, partial, arrived, completion);
}

} // namespace kernel

template <class Pass> PetscErrorCode run_star(Runner *runner, const WholeStar &a, const Pass &pass) {
  const PetscInt64 tiles = (PetscInt64)((a.size[0] + kernel::threads_of_pass - 1) / kernel::threads_of_pass) *
                           ((a.size[1] + kernel::rows_of_star - 1) / kernel::rows_of_star);
  const auto run = [&](auto meets) {
    const auto walk = kernel::walk_star<Pass, decltype(meets)::value>;
    static int at_once = 0; // blocks that the GPU runs together
    PetscFunctionBegin;
    if (!at_once) {
      PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, walk, kernel::threads_of_pass, 0));
      at_once = PetscMax(at_once, 1) * multiprocessors();
    }
    PetscCall(runner->Launch(walk, PetscMin(tiles, (PetscInt64)at_once), a, pass));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  bool meets = runner->meets();
  for (const auto &sides : a.beside)
    for (const Neighbour &side : sides) meets = meets || side.rank >= 0;
  return meets ? run(std::true_type()) : run(std::false_type());
}
#else
template <class Pass> PetscErrorCode run_star(Runner *, const WholeStar &, const Pass &) {
  return PETSC_ERR_PLIB; // is not called
}
#endif

} // namespace cg
} // namespace shellac
