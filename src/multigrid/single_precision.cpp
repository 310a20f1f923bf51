// What preconditioners in single precision cannot serve: methods that would report residuals of another x, and numbers
// beyond its range.

#include <shellac/krylov.h>

#include "device/pc_matrices.hpp"

#include "multigrid/stencilmg.hpp"

namespace shellac {

// Methods that follow the residual of the x they have, also with a preconditioner that is not linear.
static constexpr const char *flexible[] = {KSPRICHARDSON, KSPCHEBYSHEV, KSPCG,         KSPFUSEDCG, KSPNASH,
                                           KSPSTCG,       KSPGLTR,      KSPFCG,        KSPPIPEFCG, KSPGCR,
                                           KSPPIPEGCR,    KSPFGMRES,    KSPPIPEFGMRES, KSPFBCGS,   KSPFBCGSR,
                                           KSPQMRCGS,     KSPPREONLY,   KSPNONE,       KSPSTENCIL};

// Such a preconditioner is linear to its rounding only. Other methods take them for linear: they would report
// residuals that their solutions do not have. In the preconditioned norm, from the left, these are right down to some units
// of single precision, relative to the residual at the start.
static PetscErrorCode check_method(const char *option, KSP ksp, Mat A, Vec b, Vec x) {
  constexpr PetscReal least = 1e-6; // a relative tolerance
  const char         *prefix;
  KSPType             type;
  KSPNormType         norm;
  PCSide              side;
  PetscReal           rtol, start = 1; // residual of the initial guess, in units of b
  PetscBool           serves, any, guess, estimates = PETSC_FALSE; // eigenvalues, for KSPCHEBYSHEV

  PetscFunctionBegin;
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(KSPGetNormType(ksp, &norm));
  PetscCall(KSPGetPCSide(ksp, &side));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(KSPGetInitialGuessNonzero(ksp, &guess));
  if (prefix) PetscCall(PetscStrendswith(prefix, "esteig_", &estimates));
  any = norm == KSP_NORM_NONE || estimates ? PETSC_TRUE : PETSC_FALSE;
  for (const char *name : flexible)
    if (!any) PetscCall(PetscStrcmp(type, name, &any));
  if (any) PetscFunctionReturn(PETSC_SUCCESS);
  serves = norm == KSP_NORM_PRECONDITIONED && side == PC_LEFT && rtol >= least ? PETSC_TRUE : PETSC_FALSE;
  if (serves && guess) {
    Vec       r;
    PetscReal of_b, of_r;
    PetscCall(VecDuplicate(b, &r));
    PetscCall(MatResidual(A, b, x, r));
    PetscCall(VecNorm(b, NORM_2, &of_b));
    PetscCall(VecNorm(r, NORM_2, &of_r));
    PetscCall(VecDestroy(&r));
    if (of_r > of_b && of_b > 0) start = of_r / of_b;
    serves = rtol >= least * start ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscCheck(
      serves, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
      "%s single: rounding makes such a preconditioner not linear, so -ksp_type %s with "
      "-ksp_pc_side %s, -ksp_rtol %g and an initial residual of %g |b| would report a residual that its solution "
      "does not have; use -ksp_type fgmres, cg, fbcgs or richardson, -ksp_pc_side left with -ksp_rtol %g or more, "
      "or %s double",
      option, type, PCSides[side], (double)rtol, (double)start, (double)(least * start), option);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of b below the range it would give zero, and a KSP that tests it would say that zero is the solution.
static PetscErrorCode check_range(const char *option, KSP ksp, Mat P, Vec b, PetscReal *largest_entry) {
  constexpr PetscReal least = 1e-36, most = 1e36;
  PetscReal           largest, rtol;

  PetscFunctionBegin;
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(VecNorm(b, NORM_INFINITY, &largest));
  if (*largest_entry == 0) {
    Vec diagonal;
    PetscCall(VecDuplicate(b, &diagonal));
    PetscCall(MatGetDiagonal(P, diagonal));
    PetscCall(VecNorm(diagonal, NORM_INFINITY, largest_entry));
    PetscCall(VecDestroy(&diagonal));
  }
  const PetscReal entry = *largest_entry, of_x = largest / entry;
  const PetscReal smallest = PetscMin(entry, PetscMax(rtol, PETSC_MACHINE_EPSILON) * PetscMin(largest, of_x));
  const bool      beyond = smallest < least || PetscMax(entry, PetscMax(largest, of_x)) > most; // false: not a number
  PetscCheck(!beyond || largest == 0 || entry == 0 || PetscIsInfOrNanReal(of_x), PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_ARG_OUTOFRANGE,
             "%s single: with a right-hand side of up to %g, a matrix with a diagonal of up to %g and "
             "-ksp_rtol %g, numbers are beyond its range, %g to %g; scale them, or use %s double",
             option, (double)largest, (double)entry, (double)rtol, (double)least, (double)most, option);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_single(PC pc, const char *option, KSP ksp, Vec b, Vec x, PetscReal *largest_entry) {
  Mat A, P;

  PetscFunctionBegin;
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(check_method(option, ksp, A, b, x));
  PetscCall(check_range(option, ksp, P, b, largest_entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
