#pragma once
// Reads an operator as a sum over its axes, from its rows.

#include <string>
#include <vector>

#include "device/launch.hpp"
#include "device/mirror.hpp"
#include "device/scratch.hpp"
#include "multigrid/axis.hpp"
#include "stencil/mat.hpp"

namespace shellac {

// Room for reading, and for reading again.
struct AxesMemory {
  Scratch<PetscScalar> lines;
  Mirror<PetscReal>    axes;
  Scratch<int>         off;
};

// Collective. constants: they are known to be a null vector, so that what rows add up to may be larger rounding errors.
// *why: what the operator is not, where it is no such sum; empty otherwise. *equal: it is the sum to rounding, so that the
// sum's residuals are its own; otherwise only near it.
PetscErrorCode MatStencilGetAxes(StencilMat *context, StencilOperator *of, bool constants, AxesMemory *room,
                                 Axis axes[3], PetscScalar *sigma, bool *equal, std::string *why);

// What MatStencilGetAxes() has found.
struct SumRead {
  SumOverAxes sum;
  bool        equal = false;
  std::string why;
};
// With the null space that P has.
PetscErrorCode read_sum(Mat P, StencilMat *context, StencilOperator *of, AxesMemory *room, SumRead *read);

// Rows so near to an end of an axis of N points, and that in the middle, may differ from others where coefficients are
// constant.
inline bool is_special(PetscInt i, PetscInt N) {
  return i < 3 || i >= N - 3 || i == N / 2;
}

// Calls f(i, j, k) on a rank's points, or, with few_kinds, on the host on those whose rows may differ alone.
template <class Function>
PetscErrorCode for_each_kind_of_row(PetscMemType memory, const Patch &patch, bool few_kinds, const Function &f) {
  std::vector<PetscInt> special[3];

  PetscFunctionBegin;
  if (!few_kinds) PetscFunctionReturn(for_each_of_box(memory, patch.all(), f));
  for (int a = 0; a < 3; a++)
    for (PetscInt i = 0; i < patch.size[a]; i++)
      if (is_special(patch.start[a] + i, patch.N[a])) special[a].push_back(i);
  for (PetscInt k : special[2])
    for (PetscInt j : special[1])
      for (PetscInt i : special[0]) f(i, j, k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct OperatorRows;

// *fixed: the inverse diagonal of identity rows, and zero elsewhere; null where there are none. rows: null for a sum over
// axes.
PetscErrorCode get_fixed(Mat P, const Grid &grid, const Axis axes[3], OperatorRows *rows, Vec *fixed);
// The error for a matrix whose coefficients cannot be read, with what to use.
PetscErrorCode refuse_type(PC pc, Mat P, MatType type);
// Before a solve: a field may have changed since the set-up for `made_of`, and the program has not assembled the matrix, so
// that KSPSolve()'s PCSetUp() did not see it.
PetscErrorCode set_up_if_changed(PC pc, const MatVersion &made_of);

} // namespace shellac
