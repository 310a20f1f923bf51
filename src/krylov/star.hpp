#pragma once
// An iteration of conjugate gradients in two passes on the GPU of one rank, where all rows of the matrix are those of one
// star: the product is computed twice in place of being stored. Vectors are read once and written once in each pass.

#include "capture/coefficients.hpp"
#include "krylov/passes.hpp"

namespace shellac {
namespace cg {

// Of a matrix: the star, what rows at the ends of the domain have more on their diagonal, and the points of each axis.
struct WholeStar {
  ConstantStar<PetscScalar> star;
  StarDiagonal<PetscScalar> at_ends;
  PetscInt                  size[3];
};

// A pass over a star's points has input(at), the value of the vector that the star is applied to; load(at); and
// store(at, values, value, product, sums) of the vector's value and the product there.

// p = D r + ratio p, into another array, and p·Ap.
struct DirectionOfStar {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 5;
  static constexpr bool lets_next_begin = true; // UpdateOfStar, which waits first
  struct Values {};
  Diagonal           D;
  const PetscScalar *r, *before;
  PetscScalar       *p;
  bool               hermitian;
  PetscScalar        ratio = 0;

  SHELLAC_HD void        begin(const Scalars &scalars) { ratio = scalars.ratio; }
  SHELLAC_HD PetscScalar input(size_t at) const {
    const PetscScalar z = D.value(at) * r[at];
    return ratio == PetscScalar(0) ? z : z + ratio * before[at];
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
  static constexpr bool lets_next_begin = false; // whatever comes after it
  using Values = Update::Values;
  Update update;

  SHELLAC_HD void        begin(const Scalars &scalars) { update.begin(scalars); }
  SHELLAC_HD PetscScalar input(size_t at) const { return update.p[at]; }
  SHELLAC_HD Values      load(size_t at) const { return {update.x[at], 0, update.r[at], 0, update.D.value(at)}; }
  SHELLAC_HD void        store(size_t at, Values values, PetscScalar value, PetscScalar product, Sums *sums) const {
           values.p = value;
           values.w = product;
           update.store(at, values, sums);
  }
  SHELLAC_HD void finish(Scalars *scalars, const Sums &sums) const { update.finish(scalars, sums); }
};

#if SHELLAC_CUDA
namespace kernel {

// A thread has some points along the slowest axis; a block so many along the first axis or, in 3-D, 32 x 8 of a plane. All
// loads are under way before the first value is stored: the compiler cannot know what they are apart from.
template <int dim> struct StarTile {
  static constexpr int x = dim == 3 ? 32 : threads_of_pass, y = threads_of_pass / x,
                       steps = sizeof(PetscScalar) > 8 || dim == 3 ? 4 : 8;
};

template <int dim, class Pass>
__global__ void __launch_bounds__(threads_of_pass, 2)
    walk_star(WholeStar a, Pass pass, Scalars *scalars, double *partial, unsigned *arrived, bool completes) {
  using Tile = StarTile<dim>;
  using T = PetscScalar;
  constexpr int  slow = dim - 1, steps = Tile::steps;
  const PetscInt nx = a.size[0], ny = dim == 3 ? a.size[1] : 1, n = a.size[slow];
  const size_t   row = (size_t)nx, stride = dim == 3 ? row * (size_t)ny : row;
  const unsigned tiles_x = (unsigned)(nx + Tile::x - 1) / Tile::x, tiles_y = (unsigned)(ny + Tile::y - 1) / Tile::y,
                 tiles = tiles_x * tiles_y * (unsigned)((n + steps - 1) / steps);

  wait_for_kernel_before();
  if (Pass::lets_next_begin) let_next_kernel_begin();
  if (scalars->stop != Scalars::none) return;
  pass.begin(*scalars);
  Sums mine;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const PetscInt i = (PetscInt)(tile % tiles_x * Tile::x + threadIdx.x % Tile::x),
                   j = (PetscInt)(tile / tiles_x % tiles_y * Tile::y + threadIdx.x / Tile::x),
                   k = (PetscInt)(tile / tiles_x / tiles_y) * steps;
    if (i >= nx || (dim == 3 && j >= ny)) continue;
    const size_t column = (size_t)i + (dim == 3 ? row * (size_t)j : 0);
    const auto   at = [&](PetscInt m) { return column + stride * (size_t)PetscMin(PetscMax(m, (PetscInt)0), n - 1); };
    const bool   inside[2][2] = {{i > 0, i + 1 < nx}, {j > 0, j + 1 < ny}};
    typename Pass::Values values[steps];
    T                     along[steps + 2], beside[steps][dim][2];
#pragma unroll
    for (int s = 0; s < steps + 2; s++) along[s] = pass.input(at(k + s - 1)); // beyond the ends: the last one again
#pragma unroll
    for (int s = 0; s < steps; s++) {
      const size_t to = at(k + s);
      values[s] = pass.load(to);
#pragma unroll
      for (int axis = 0; axis < slow; axis++) {
        const size_t step = axis ? row : 1;
        beside[s][axis][LOWER] = pass.input(inside[axis][LOWER] ? to - step : to);
        beside[s][axis][UPPER] = pass.input(inside[axis][UPPER] ? to + step : to);
      }
    }
    T center = a.star.center;
#pragma unroll
    for (int axis = 0; axis < slow; axis++)
      for (int side = 0; side < 2; side++)
        if (!inside[axis][side]) center += a.at_ends.at_end[axis][side];
#pragma unroll
    for (int s = 0; s < steps; s++) {
      const PetscInt m = k + s;
      if (m >= n) break;
#pragma unroll
      for (int axis = 0; axis < slow; axis++)
        for (int side = 0; side < 2; side++)
          if (!inside[axis][side]) beside[s][axis][side] = 0;
      beside[s][slow][LOWER] = m > 0 ? along[s] : T(0);
      beside[s][slow][UPPER] = m + 1 < n ? along[s + 2] : T(0);
      ConstantStar<T> its = a.star;
      its.center = center + (m == 0 ? a.at_ends.at_end[slow][LOWER] : T(0)) +
                   (m == n - 1 ? a.at_ends.at_end[slow][UPPER] : T(0));
      pass.store(at(m), values[s], along[s + 1], its.template operator()<dim>(along[s + 1], beside[s]), &mine);
    }
  }
  complete(mine, pass, scalars, partial, arrived, completes);
}

} // namespace kernel

// In 1-D as in 2-D with one row.
template <class Pass> PetscErrorCode run_star(Runner *runner, const WholeStar &a, const Pass &pass) {
  PetscFunctionBegin;
  const auto run = [&](auto dim_of) {
    constexpr int dim = decltype(dim_of)::value;
    using Tile = kernel::StarTile<dim>;
    static int       at_once = 0; // blocks that the GPU runs together
    const auto       over = [](PetscInt points, int each) { return ((PetscInt64)points + each - 1) / each; };
    const PetscInt64 tiles =
        over(a.size[0], Tile::x) * (dim == 3 ? over(a.size[1], Tile::y) : 1) * over(a.size[dim - 1], Tile::steps);
    PetscFunctionBegin;
    if (!at_once) {
      PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel::walk_star<dim, Pass>,
                                                                  kernel::threads_of_pass, 0));
      at_once = PetscMax(at_once, 1) * multiprocessors();
    }
    PetscCall(launch_in_chain(
        kernel::walk_star<dim, Pass>, PetscMin(tiles, PetscMin((PetscInt64)at_once, runner->most_blocks())),
        kernel::threads_of_pass, 0, a, pass, runner->on_device(), runner->partial(), runner->arrived(), true));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (a.size[2] > 1)
    PetscCall(run(std::integral_constant<int, 3>{}));
  else
    PetscCall(run(std::integral_constant<int, 2>{}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
template <class Pass> PetscErrorCode run_star(Runner *, const WholeStar &, const Pass &) {
  return PETSC_ERR_PLIB; // is not called
}
#endif

} // namespace cg
} // namespace shellac
