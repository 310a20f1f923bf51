// Initial and exact states.

#include "equations/equation.hpp"
#include "equations/files.hpp"

namespace shellac {

// ---- algebraic unknowns ----------------------------------------------------------------------------------------------

// Their residuals, and the difference of the others to the initial state.
struct AlgebraicRows {
  EquationOnGrid *equation;
  PetscReal       time;
  Vec             start, rates, others; // rates: one for unknowns with rates, else zero; others: the reverse
};

static PetscErrorCode algebraic_function(SNES, Vec u, Vec f, void *argument) {
  const AlgebraicRows &rows = *static_cast<AlgebraicRows *>(argument);
  WorkVector           difference;

  PetscFunctionBegin;
  PetscCall(rows.equation->Evaluate(rows.time, u, f));
  PetscCall(difference.Get(rows.equation->da()));
  PetscCall(VecWAXPY(difference, -1, rows.start, u));
  PetscCall(VecPointwiseMult(difference, difference, rows.rates));
  PetscCall(VecPointwiseMult(f, f, rows.others));
  PetscCall(VecAXPY(f, 1, difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode algebraic_jacobian(SNES snes, Vec u, Mat, Mat B, void *argument) {
  const AlgebraicRows &rows = *static_cast<AlgebraicRows *>(argument);
  KSP                  ksp;

  PetscFunctionBegin;
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPAvoidEntries(ksp, B));
  PetscCall(rows.equation->Assemble(rows.time, u, B));
  PetscCall(MatDiagonalScale(B, rows.others, NULL));
  PetscCall(MatDiagonalSet(B, rows.rates, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The values of algebraic unknowns in an initial state: steps in time from other ones have errors that do not become smaller
// with the step.
PetscErrorCode EquationOnGrid::SolveAlgebraic(PetscReal time, Vec u) {
  AlgebraicRows       rows{this, time, NULL, NULL, NULL};
  WorkVector          start, others, residual;
  SNES                snes;
  KSP                 ksp;
  Mat                 J;
  const char         *prefix;
  SNESConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(GetRates(&rows.rates));
  PetscCall(start.Get(da_));
  PetscCall(others.Get(da_));
  PetscCall(residual.Get(da_));
  rows.start = start, rows.others = others;
  PetscCall(VecCopy(u, start));
  PetscCall(VecSet(others, 1));
  PetscCall(VecAXPY(others, -1, rows.rates));
  PetscCall(DMCreateMatrix(da_, &J));
  PetscCall(SNESCreate(grid_.comm, &snes));
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)da_, &prefix));
  PetscCall(SNESSetOptionsPrefix(snes, prefix));
  PetscCall(SNESAppendOptionsPrefix(snes, "initial_"));
  PetscCall(SNESSetFunction(snes, residual, algebraic_function, &rows));
  PetscCall(SNESSetJacobian(snes, J, J, algebraic_jacobian, &rows));
  PetscCall(SNESSetTolerances(snes, PETSC_DEFAULT, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(SNESGetConvergedReason(snes, &reason));
  PetscCall(SNESDestroy(&snes));
  PetscCall(MatDestroy(&J));
  PetscCheck(
      reason > 0, grid_.comm, PETSC_ERR_NOT_CONVERGED,
      "%s: no values of the algebraic unknowns are found that make their residuals zero at the initial state (%s); "
      "state an initial state nearer to them, or another solver, as by -initial_pc_type",
      equation_->text.file.c_str(), SNESConvergedReasons[reason]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- states ----------------------------------------------------------------------------------------------------------

PetscErrorCode EquationOnGrid::GetState(equation::VectorFunction function, PetscReal time, Vec u) {
  const equation::Region all = AllPoints();
  PetscScalar           *array;

  PetscFunctionBegin;
  PetscCall(CheckComplete());
  PetscCall(Update());
  if (!function) PetscCall(VecSet(u, 0));
  if (!function) PetscFunctionReturn(PETSC_SUCCESS);
  place_.time = time;
  PetscCall(VecGetArrayWrite(u, &array));
  function(&place_, &all, compiled_array(array));
  PetscCall(ZeroInSolid(array));
  PetscCall(VecRestoreArrayWrite(u, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::GetInitial(PetscReal time, Vec u) {
  std::vector<std::string> names;

  PetscFunctionBegin;
  const bool loads = !equation_->initial.empty();
  for (const auto &unknown : equation_->text.unknowns) names.push_back(unknown.name);
  PetscCall(GetState(loads ? nullptr : equation_->functions->initial, time, u));
  if (loads) PetscCall(load_vector(da_, "-equation_initial", equation_->initial, names, u));
  PetscCall(Impose(time, u));
  if (equation_->text.is_mixed()) PetscCall(SolveAlgebraic(time, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::GetExact(PetscReal time, Vec u) {
  PetscFunctionBegin;
  PetscCheck(equation_->functions->exact, grid_.comm, PETSC_ERR_ARG_WRONGSTATE,
             "%s states no exact solution; add exact = ...", equation_->text.file.c_str());
  PetscCall(GetState(equation_->functions->exact, time, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode add_sizes(Vec v, PetscReal *size) {
  constexpr PetscInt lanes = 8;
  const PetscScalar *value;
  PetscReal          sums[lanes] = {};
  PetscMemType       memory;
  PetscInt           n, i = 0;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(v, &value, &memory));
  if (PetscMemTypeDevice(memory)) {
    PetscCall(VecRestoreArrayReadAndMemType(v, &value));
    PetscCall(VecNorm(v, NORM_1, size));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto add = [&](PetscInt lane, PetscScalar one) {
    sums[lane] += std::fabs(PetscRealPart(one)) + std::fabs(PetscImaginaryPart(one));
  };
  PetscCall(VecGetLocalSize(v, &n));
  for (; i + lanes <= n; i += lanes)
    for (PetscInt lane = 0; lane < lanes; lane++) add(lane, value[i + lane]);
  for (; i < n; i++) add(0, value[i]);
  PetscCall(VecRestoreArrayReadAndMemType(v, &value));
  *size = 0;
  for (PetscReal sum : sums) *size += sum;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, size, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)v)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
