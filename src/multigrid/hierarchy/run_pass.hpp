#pragma once
// Runs a fused pass on a GPU.

#include "multigrid/gpu/march.hpp"
#include "multigrid/gpu/sum_norms.hpp"
#include "multigrid/gpu/tiles.hpp"
#include "multigrid/gpu/warp_tiles.hpp"

#if SHELLAC_CUDA
namespace shellac {

// What march() does of a level, with values that are in one array, and the rest.
template <class Kind, class T>
void plan_pass(const SeparableLevel<T> &level, const Box &in_one, MarchPlan *inner, TilePlan *rest) {
  *inner = MarchPlan();
  if constexpr (Kind::coarsens_x && Kind::coarsens_y)
    *inner = plan_march<Kind>(level, in_one, (PetscInt64)multiprocessors() * march_warps * march_blocks);
  *rest = plan_tiles<Kind>(
      difference(level.patch.all(), Box{{inner->x0, inner->y0, 0}, {inner->x1, inner->y1, inner->warps() ? 1 : 0}}));
}

// Sums that a pass of a level makes towards a norm.
template <class T> PetscInt64 norm_count(const SeparableLevel<T> &level) {
  PetscInt64 most = 0;
  const auto count = [&](auto kind) {
    using Kind = decltype(kind);
    MarchPlan inner;
    TilePlan  rest;
    if (with_warp_tile<Kind>(
            level, [&](auto tile) { most = PetscMax(most, (PetscInt64)plan_warp_tiles<decltype(tile)>(level).tiles); }))
      return;
    for (const Box &in_one : {level.patch.all(), level.counted}) {
      plan_pass<Kind>(level, in_one, &inner, &rest);
      most = PetscMax(most, inner.warps() + rest.tiles());
    }
  };
  count(PassKind<true, false, true, true, true, 2>());
  count(PassKind<true, false, true, true, true, 3>());
  return most;
}

template <class Tile, class T> PetscErrorCode run_warp_tiles(const SeparablePass<T> &pass, PetscInt64 *sums) {
  constexpr auto     kernel = pass_in_registers<Tile, T>;
  constexpr size_t   bytes = Tile::template bytes<T>();
  const WarpTilePlan plan = plan_warp_tiles<Tile>(pass.level);

  PetscFunctionBegin;
  PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  PetscCall(launch_in_chain(kernel, plan.tiles, Tile::threads, bytes, pass, plan));
  *sums = plan.tiles;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// norm: sum of |b - A u_0|² over the rank's points, on the GPU; null: not wanted
template <class Kind, class T> PetscErrorCode run_pass(const SeparablePass<T> &pass, double *norm) {
  MarchPlan      inner;
  TilePlan       rest;
  PetscInt64     sums = 0;
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  if (with_warp_tile<Kind>(pass.level, [&](auto tile) { code = run_warp_tiles<decltype(tile)>(pass, &sums); })) {
    PetscCall(code);
    if (norm) PetscCall(sum_norms(pass.norms, sums, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  plan_pass<Kind>(pass.level, pass.own.b ? pass.own.points : pass.level.patch.all(), &inner, &rest);
  // the rest first, small, and the inner part beside it: march() waits for it at its own end
  PetscCheck(!inner.warps() || rest.tiles(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "a pass without ends of the level");
  if (rest.tiles()) {
    constexpr auto   kernel = pass_tiles<Kind, T>;
    const size_t     bytes = TileShape<Kind>::template bytes<T>();
    SeparablePass<T> of_rest = pass;
    rest.before_march = inner.warps() > 0;
    if (pass.norms) of_rest.norms += inner.warps();
    PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    PetscCall(launch_in_chain(kernel, rest.tiles(), tile_threads, bytes, of_rest, rest));
  }
  if constexpr (Kind::coarsens_x && Kind::coarsens_y)
    if (inner.warps())
      PetscCall(launch_in_chain(march<Kind, T>, (inner.warps() + march_warps - 1) / march_warps, 32 * march_warps, 0,
                                pass, inner));
  if (norm) PetscCall(sum_norms(pass.norms, inner.warps() + rest.tiles(), norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
#endif
