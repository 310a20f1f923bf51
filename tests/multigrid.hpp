#pragma once
// What the tests of stencilmg share: preconditioners, cycles and their reduction, grids and coefficients.

#include <functional>
#include <memory>

#include "solve.hpp"

namespace tests {

// One GPU would solve small grids without a cycle, if the number of levels were its choice.
constexpr char small_last_level[] = " -test_pc_stencilmg_levels 30";

using Preconditioner = Owned<PC, PCDestroy>;

inline Preconditioner make_pc(Mat A, const std::string &options = "", PCType type = PCSTENCILMG) {
  Options        set(options);
  Preconditioner pc;
  OK(PCCreate(PetscObjectComm((PetscObject)A), &pc));
  OK(PCSetOptionsPrefix(pc, "test_"));
  OK(PCSetOperators(pc, A, A));
  OK(PCSetType(pc, type));
  OK(PCSetFromOptions(pc));
  OK(PCSetUp(pc));
  return pc;
}

// For EXPECT_ERROR(): sets up a preconditioner of a type, without options.
inline std::function<PetscErrorCode()> set_up_of(Mat A, PCType type) {
  return [=]() {
    Preconditioner pc;
    PetscFunctionBeginUser;
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetType(pc, type));
    PetscCall(PCSetUp(pc));
    PetscFunctionReturn((PetscErrorCode)0);
  };
}

inline Vector apply(PC pc, Vec b) {
  Vector x;
  OK(VecDuplicate(b, &x));
  OK(PCApply(pc, b, x));
  return x;
}

// |x·By - y·Bx| for two random vectors, relative to |x| |By|.
inline PetscReal asymmetry(PC pc, DM da) {
  Vector      x = random_vector(da, 1), y = random_vector(da, 2), Bx = apply(pc, x), By = apply(pc, y);
  PetscScalar xBy, yBx;
  PetscReal   size_x, size_y;
  OK(VecTDot(x, By, &xBy));
  OK(VecTDot(y, Bx, &yBx));
  OK(VecNorm(x, NORM_2, &size_x));
  OK(VecNorm(By, NORM_2, &size_y));
  return PetscAbsScalar(xBy - yBx) / (size_x * size_y);
}

// |y·Bx - x·Bᵀy| for random vectors, relative to the sizes of the factors.
inline PetscReal mismatch(PC pc, DM da) {
  Vector      x = random_vector(da, 1), y = random_vector(da, 2), Bx = make_vector(da), By = make_vector(da);
  PetscScalar yBx, xBy;
  PetscReal   size[4];
  OK(PCApply(pc, x, Bx));
  OK(PCApplyTranspose(pc, y, By));
  OK(VecTDot(y, Bx, &yBx));
  OK(VecTDot(x, By, &xBy));
  OK(VecNorm(x, NORM_2, &size[0]));
  OK(VecNorm(y, NORM_2, &size[1]));
  OK(VecNorm(Bx, NORM_2, &size[2]));
  OK(VecNorm(By, NORM_2, &size[3]));
  return PetscAbsScalar(yBx - xBy) / PetscMax(size[0] * size[3], size[1] * size[2]);
}

// The largest factor by which a cycle reduced the residual, after the first; measured until rounding.
inline PetscReal worst_reduction(Mat A, PC pc, DM da, int cycles) {
  Vector       b = make_vector(da), x = random_vector(da, 1), r = make_vector(da), z = make_vector(da);
  PetscReal    before, after, first, worst = 0;
  MatNullSpace nullspace;

  OK(MatGetNullSpace(A, &nullspace));
  OK(MatMult(A, x, b));
  OK(VecSet(x, 0));
  OK(VecNorm(b, NORM_2, &first));
  before = first;
  for (int n = 0; n < cycles && before > 1e-9 * first; n++) {
    OK(MatResidual(A, b, x, r));
    OK(PCApply(pc, r, z));
    OK(VecAXPY(x, 1, z));
    if (nullspace) OK(MatNullSpaceRemove(nullspace, x));
    OK(MatResidual(A, b, x, r));
    OK(VecNorm(r, NORM_2, &after));
    worst = PetscMax(worst, after / before);
    before = after;
  }
  return worst;
}
// Solves with stencilmg.
inline KSPConvergedReason solve(Mat A, Vec b, Vec x, const std::string &options, PetscInt *iterations) {
  Options            set(options + " -test_pc_type stencilmg");
  KSPConvergedReason reason;
  OK(solve(A, b, x, iterations, &reason));
  return reason;
}

// A matrix with these rows: captured, or as AIJ, by which solutions are judged.
inline Matrix matrix_of(DM da, const Fill &fill, MatType type) {
  Matrix A;
  OK(DMSetMatType(da, type));
  OK(DMCreateMatrix(da, &A));
  set_rows(da, A, fill, Way::stencil, INSERT_VALUES);
  assemble(A);
  return A;
}
inline Matrix captured(DM da, const Fill &fill) {
  return matrix_of(da, fill, MATSTENCILSHELL);
}
inline Matrix assembled(DM da, const Fill &fill) {
  return matrix_of(da, fill, MATAIJ);
}

inline Lattice lattice(const Point &N, const std::vector<DMBoundaryType> &ends = {},
                       DMDAStencilType shape = DMDA_STENCIL_STAR) {
  Lattice l;
  l.dim = N[2] > 1 ? 3 : N[1] > 1 ? 2 : 1;
  for (int a = 0; a < 3; a++) l.N[a] = N[(size_t)a];
  for (size_t a = 0; a < ends.size() && (int)a < l.dim; a++) l.ends[a] = ends[a];
  l.shape = shape;
  return l;
}

} // namespace tests
