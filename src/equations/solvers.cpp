// The callbacks of KSP, SNES and TS on a DMDA with an equation.

#include <petscdmshell.h>

#include "equations/stepping.hpp"
#include "shellac.h"

PETSC_EXTERN PetscErrorCode DMCopyDMTS(DM from, DM to); // of the manual, but PETSc declares it in a private header

namespace shellac {

// ---- SNES ------------------------------------------------------------------------------------------------------------

// The equation of a solver's DM, which get_dm() tells.
template <class Solver>
static PetscErrorCode get_equation(Solver solver, PetscErrorCode (*get_dm)(Solver, DM *), EquationOnGrid **equation) {
  DM da;

  PetscFunctionBegin;
  PetscCall((*get_dm)(solver, &da));
  PetscCall(DMGetEquation(da, equation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The Jacobian at a state: the entries of B; and A, which may be another Mat, without entries: ours or one of PETSc's.
static PetscErrorCode jacobian(EquationOnGrid &equation, PetscReal time, Vec u, Mat A, Mat B) {
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(equation.Assemble(time, u, B, A != B));
  PetscCall(equation.AttachNullSpaces(u, B));
  if (A == B) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(equation.AttachNullSpaces(u, A));
  PetscCall(MatEquationTrySetState(A, time, u, &set));
  if (set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode snes_function(SNES snes, Vec u, Vec f, void *) {
  EquationOnGrid *equation;
  PetscInt        evaluations; // of the function, in this solve
  PetscInt        level;       // of nesting; 0: no other solver uses the SNES

  PetscFunctionBegin;
  PetscCall(get_equation(snes, SNESGetDM, &equation));
  PetscCall(SNESGetNumberFunctionEvals(snes, &evaluations));
  PetscCall(PetscObjectGetTabLevel((PetscObject)snes, &level));
  if (evaluations == 0 && level == 0) equation->BeginSolve();
  PetscCall(equation->Evaluate(equation->equation().time, u, f));
  PetscCall(equation->MakeConsistent(u, f, evaluations == 0 && level == 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode snes_jacobian(SNES snes, Vec u, Mat A, Mat B, void *) {
  EquationOnGrid *equation;
  KSP             ksp;

  PetscFunctionBegin;
  PetscCall(get_equation(snes, SNESGetDM, &equation));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPAvoidEntries(ksp, B));
  PetscCall(jacobian(*equation, equation->equation().time, u, A, B));
  if (equation->IsSingular()) PetscCall(KSPShiftFactors(ksp, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- KSP -------------------------------------------------------------------------------------------------------------

PetscErrorCode EquationCheckLinear(EquationOnGrid &equation) {
  PetscFunctionBegin;
  PetscCheck(equation.equation().linear, equation.grid().comm, PETSC_ERR_ARG_WRONGSTATE,
             "%s is not linear: its entries depend on the unknowns; solve it by a SNES",
             equation.equation().text.file.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Calls use(equation, time, u) with the linear equation of a KSP and u = 0.
template <class Use> static PetscErrorCode use_at_zero(KSP ksp, const Use &use) {
  EquationOnGrid *equation;
  WorkVector      zero;

  PetscFunctionBegin;
  PetscCall(get_equation(ksp, KSPGetDM, &equation));
  PetscCall(EquationCheckLinear(*equation));
  PetscCall(zero.Get(equation->da()));
  PetscCall(VecSet(zero, 0));
  PetscCall(use(*equation, equation->equation().time, zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ksp_operators(KSP ksp, Mat A, Mat B, void *) {
  PetscFunctionBegin;
  PetscCall(KSPAvoidEntries(ksp, B));
  PetscCall(use_at_zero(ksp, [=](EquationOnGrid &equation, PetscReal time, Vec zero) {
    PetscFunctionBegin;
    PetscCall(jacobian(equation, time, zero, A, B));
    if (equation.IsSingular()) PetscCall(KSPShiftFactors(ksp, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc calls this in each solve, and then ksp_operators() in the first one alone, unless the operators are set again.
static PetscErrorCode ksp_right_hand_side(KSP ksp, Vec b, void *) {
  Mat       A, B;
  PetscBool has_operators;

  PetscFunctionBegin;
  PetscCall(use_at_zero(ksp, [=](EquationOnGrid &equation, PetscReal time, Vec zero) {
    PetscFunctionBegin;
    PetscCall(equation.Evaluate(time, zero, b));
    PetscCall(equation.MakeConsistent(zero, b, true));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(VecScale(b, -1));
  PetscCall(KSPGetOperatorsSet(ksp, &has_operators, NULL));
  if (!has_operators) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(ksp, &A, &B));
  PetscCall(KSPSetOperators(ksp, A, B)); // which are assembled if a parameter, a field or the time has changed
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- TS --------------------------------------------------------------------------------------------------------------

// What PETSc has as a SNES's functions.
using SnesFunction = PetscErrorCode (*)(SNES, Vec, Vec, void *);
using SnesJacobian = PetscErrorCode (*)(SNES, Vec, Mat, Mat, void *);
using TsFunction = PetscErrorCode (*)(TS, PetscReal, Vec, Vec, Vec, void *);

// PETSc's SNES gets its function from the DM. For a TS this is SNESTSFormFunction() with the TS. The first TS that is
// set up sets it, and a second TS on the same DM would find it and step with the state of the first one. So the
// functions below replace it. They know which TS is at work, and are removed when it has finished.

static PetscErrorCode step_function(SNES snes, Vec u, Vec f, void *);
static PetscErrorCode step_jacobian(SNES snes, Vec u, Mat A, Mat B, void *);
static PetscErrorCode ts_function(TS ts, PetscReal time, Vec u, Vec f, void *);
static PetscErrorCode ts_jacobian(TS ts, PetscReal time, Vec u, Mat A, Mat B, void *);
static bool           has_implicit_form(DM da);
static PetscErrorCode set_form(DM da, bool implicit);
static PetscErrorCode choose_form(TS ts, DM da);
static PetscErrorCode take_over(TS ts, EquationOnGrid &equation);
static PetscErrorCode implicit_function(TS ts, PetscReal time, Vec u, Vec rate, Vec f, void *);

static PetscErrorCode clear_snes_functions(DM da) {
  DM           empty;
  SnesFunction none;

  PetscFunctionBegin;
  PetscCall(DMShellCreate(PetscObjectComm((PetscObject)da), &empty));
  PetscCall(DMSNESGetFunction(empty, &none, NULL)); // makes what is copied
  PetscCall(DMCopyDMSNES(empty, da));
  PetscCall(DMDestroy(&empty));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// last: the TS is being destroyed. Else only the function goes, by which the set-up of another TS sees that there is room;
// TSAdjointSolve() still asks for the Jacobian.
static PetscErrorCode end_steps(TS ts, DM da, TimeStepper &stepper, bool last) {
  SnesFunction    function;
  SnesJacobian    derivative;
  void           *context;
  EquationOnGrid *equation;

  PetscFunctionBegin;
  if (stepper.ts != ts) PetscFunctionReturn(PETSC_SUCCESS);
  if (last) stepper.ts = NULL;
  if (!da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMFindEquation(da, &equation));
  if (has_implicit_form(da) && !(equation && equation->equation().text.is_mixed()))
    PetscCall(set_form(da, false)); // which a TS of another type takes
  PetscCall(DMSNESGetFunction(da, &function, NULL));
  PetscCall(DMSNESGetJacobian(da, &derivative, &context));
  const bool is_left = last && !function && derivative == step_jacobian; // by the end of the solve
  if (function != step_function && !is_left)
    PetscFunctionReturn(PETSC_SUCCESS); // what the program or another TS has set
  PetscCall(clear_snes_functions(da));
  const bool is_ours = derivative == step_jacobian; // and not, say, one of differences by colouring
  if (derivative && (!last || !is_ours)) PetscCall(DMSNESSetJacobian(da, derivative, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a TS has of the DMDA that it works on.
struct OfStepper {
  std::shared_ptr<TimeStepper> stepper;
  TS                           ts;
};

static PetscErrorCode leave(void *argument) {
  OfStepper *of = context_to_destroy<OfStepper>(argument);

  PetscFunctionBegin;
  PetscCall(end_steps(of->ts, of->stepper->da, *of->stepper, true));
  delete of;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The TS works on the equation's grid, until it is destroyed or works on another.
static PetscErrorCode attach(TS ts, EquationOnGrid &equation) {
  PetscFunctionBegin;
  equation.BeginSolve();
  if (equation.stepper()->ts == ts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(compose_context((PetscObject)ts, "ShellacTimeStepper", new OfStepper{equation.stepper(), ts}, leave));
  equation.stepper()->ts = ts; // after what was composed before has left
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode begin_steps(TS ts, EquationOnGrid &equation) {
  const DM     da = equation.da();
  SnesFunction function;

  PetscFunctionBegin;
  PetscCall(DMSNESGetFunction(da, &function, NULL));
  if (function) PetscFunctionReturn(PETSC_SUCCESS); // of the TS itself, before its first step; or of another one
  PetscCall(DMSNESSetFunction(da, step_function, NULL));
  PetscCall(DMSNESSetJacobian(da, step_jacobian, NULL));
  PetscCall(attach(ts, equation));
  PetscCall(choose_form(ts, da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A monitor, which TSSolve() calls before each step and at the end.
static PetscErrorCode follow_steps(TS ts, PetscInt, PetscReal, Vec, void *) {
  EquationOnGrid   *equation;
  TSConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(get_equation(ts, TSGetDM, &equation));
  PetscCall(TSGetConvergedReason(ts, &reason));
  PetscCall(reason == TS_CONVERGED_ITERATING ? begin_steps(ts, *equation)
                                             : end_steps(ts, equation->da(), *equation->stepper(), false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The TS that a SNES on a DMDA works for.
static PetscErrorCode get_stepper(SNES snes, TS *ts) {
  EquationOnGrid *equation;
  SNES            own = NULL;
  PetscInt        level, own_level = 0;

  PetscFunctionBegin;
  PetscCall(get_equation(snes, SNESGetDM, &equation));
  *ts = equation->stepper()->ts;
  if (*ts) PetscCall(TSGetSNES(*ts, &own));
  PetscCall(PetscObjectGetTabLevel((PetscObject)snes, &level));
  if (own) PetscCall(PetscObjectGetTabLevel((PetscObject)own, &own_level));
  // a deeper one is one that the TS's own uses: a smoother, a preconditioner
  PetscCheck(
      own && (own == snes || level > own_level), PetscObjectComm((PetscObject)snes), PETSC_ERR_ARG_WRONGSTATE,
      "another TS is at work on the DMDA, or stopped before its end; destroy that one first, or give each a DMDA "
      "of its own with DMDASetEquation()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The implicit form, for types of TS that take a rate alone as explicit; and for a coarser grid, for which PETSc passes
// a Mat of that grid. For the derivative of the rate alone, it would pass one of the TS's own grid.
static PetscErrorCode implicit_function(TS ts, PetscReal time, Vec u, Vec rate, Vec f, void *) {
  EquationOnGrid *equation;
  Vec             scale, rates;
  WorkVector      of_rates;

  PetscFunctionBegin;
  PetscCall(get_equation(ts, TSGetDM, &equation));
  if (equation->equation().text.is_mixed() && !equation->HasStep()) {
    PetscCall(take_over(ts, *equation));
    PetscCall(FollowSteps(ts, *equation));
  }
  PetscCall(equation->Evaluate(time, u, f));
  PetscCall(equation->GetRates(&rates));
  if (rates) {
    PetscCall(of_rates.Get(equation->da()));
    PetscCall(VecPointwiseMult(of_rates, rates, rate));
    rate = of_rates;
  }
  PetscCall(VecAYPX(f, -1, rate));
  if (!equation->HasStep()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(equation->GetStepScale(&scale));
  PetscCall(VecPointwiseMult(f, f, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode implicit_jacobian(TS ts, PetscReal time, Vec u, Vec, PetscReal shift, Mat A, Mat B, void *) {
  EquationOnGrid *equation;
  PetscBool       of_function; // A is made of the function's differences
  Vec             scale = NULL, rates;
  WorkVector      shifts;

  PetscFunctionBegin;
  PetscCall(get_equation(ts, TSGetDM, &equation));
  PetscCall(jacobian(*equation, time, u, A, B));
  PetscCall(equation->GetRates(&rates));
  if (rates) {
    PetscCall(shifts.Get(equation->da()));
    PetscCall(VecCopy(rates, shifts));
    PetscCall(VecScale(shifts, shift));
  }
  if (equation->HasStep()) PetscCall(equation->GetStepScale(&scale));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMFFD, &of_function));
  for (int n = 0; n < (A == B || of_function ? 1 : 2); n++) {
    PetscCall(MatScale(n ? A : B, -1));
    PetscCall(rates ? MatDiagonalSet(n ? A : B, shifts, ADD_VALUES) : MatShift(n ? A : B, shift));
    if (scale) PetscCall(MatDiagonalScale(n ? A : B, scale, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A DM gets one of these forms alone: what a TS calls is otherwise the sum of both.
static PetscErrorCode set_form(DM da, bool implicit) {
  DM form;

  PetscFunctionBegin;
  PetscCall(DMShellCreate(PetscObjectComm((PetscObject)da), &form));
  if (implicit) {
    PetscCall(DMTSSetIFunction(form, implicit_function, NULL));
    PetscCall(DMTSSetIJacobian(form, implicit_jacobian, NULL));
  } else {
    PetscCall(DMTSSetRHSFunction(form, ts_function, NULL));
    PetscCall(DMTSSetRHSJacobian(form, ts_jacobian, NULL));
  }
  PetscCall(DMCopyDMTS(form, da));
  PetscCall(DMDestroy(&form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bool has_implicit_form(DM da) {
  TsFunction present = NULL;
  return !DMTSGetIFunction(da, &present, NULL) && present == implicit_function;
}

// Rosenbrock's methods are made for stiff rates, but PETSc's take a rate alone as explicit.
static PetscErrorCode choose_form(TS ts, DM da) {
  TsFunction present;
  PetscBool  is_rosw;

  PetscFunctionBegin;
  PetscCall(DMTSGetIFunction(da, &present, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSROSW, &is_rosw));
  if (is_rosw && !present) PetscCall(set_form(da, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Before the TS is asked for the function or the Jacobian on the grid that its SNES works on now.
static PetscErrorCode prepare_grid(TS ts, SNES snes) {
  DM              own, da;
  EquationOnGrid *equation, *of_own;
  TsFunction      present;
  PetscReal       dt;

  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &own));
  PetscCall(SNESGetDM(snes, &da));
  if (da == own) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMTSGetIFunction(own, &present, NULL));
  if (present && !has_implicit_form(own))
    PetscFunctionReturn(PETSC_SUCCESS); // the program's, which PETSc calls on coarser grids too
  PetscCall(TSCheckCoarseSteps(ts));
  PetscCall(DMGetEquation(own, &of_own));
  PetscCall(DMGetEquation(da, &equation));
  PetscCall(TSGetTimeStep(ts, &dt));
  equation->SetStep(equation->cell() / of_own->cell(), dt);
  if (!has_implicit_form(da)) PetscCall(set_form(da, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode step_function(SNES snes, Vec u, Vec f, void *) {
  TS ts;

  PetscFunctionBegin;
  PetscCall(get_stepper(snes, &ts));
  PetscCall(prepare_grid(ts, snes));
  PetscCall(SNESTSFormFunction(snes, u, f, ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode step_jacobian(SNES snes, Vec u, Mat A, Mat B, void *) {
  TS  ts;
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(get_stepper(snes, &ts));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPAvoidEntries(ksp, B));
  PetscCall(prepare_grid(ts, snes));
  PetscCall(SNESTSFormJacobian(snes, u, A, B, ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Puts them in the place of those that the set-up of a TS left on its DMDA.
static PetscErrorCode take_over(TS ts, EquationOnGrid &equation) {
  const DM     da = equation.da();
  SnesFunction function;
  SnesJacobian derivative;
  TsFunction   own;
  SNES         snes;
  void        *context;
  bool         needs_coarser;

  PetscFunctionBegin;
  PetscCall(DMSNESGetFunction(da, &function, &context));
  if (function != SNESTSFormFunction || context != ts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMTSGetIFunction(da, &own, NULL)); // the program's
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESCoarsens(snes, &needs_coarser));
  if (needs_coarser && (!own || own == implicit_function)) PetscCall(TSCheckCoarseSteps(ts));
  PetscCall(DMSNESSetFunction(da, step_function, NULL));
  PetscCall(DMSNESGetJacobian(da, &derivative, NULL));
  if (derivative == SNESTSFormJacobian) PetscCall(DMSNESSetJacobian(da, step_jacobian, NULL));
  PetscCall(attach(ts, equation));
  PetscCall(choose_form(ts, da));
  PetscCall(TSMonitorSet(ts, follow_steps, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ts_function(TS ts, PetscReal time, Vec u, Vec f, void *) {
  EquationOnGrid *equation;
  PetscBool       is_explicit;

  PetscFunctionBegin;
  PetscCall(get_equation(ts, TSGetDM, &equation));
  PetscCall(take_over(ts, *equation));
  PetscCall(FollowSteps(ts, *equation));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ts, &is_explicit, TSEULER, TSRK, TSSSP, ""));
  PetscCall(equation->Evaluate(time, u, f, is_explicit));
  PetscCall(RejectOrAccept(ts, *equation, time, u, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ts_jacobian(TS ts, PetscReal time, Vec u, Mat A, Mat B, void *) {
  EquationOnGrid *equation;
  PetscInt        rows, points;

  PetscFunctionBegin;
  PetscCall(get_equation(ts, TSGetDM, &equation));
  PetscCheck(
      B, equation->grid().comm, PETSC_ERR_ARG_WRONGSTATE,
      "the TS has no Mat for the Jacobian of its rate; for adjoints of an explicit one call TSSetRHSJacobian(ts, J, J, "
      "NULL, NULL) with J of DMCreateMatrix()");
  PetscCall(MatGetSize(B, &rows, NULL));
  PetscCall(VecGetSize(u, &points));
  PetscCheck(
      rows == points, equation->grid().comm, PETSC_ERR_SUP,
      "a TS has the Jacobian of a rate on its own grid alone, but a coarser one was asked for; with -pc_type mg give "
      "-pc_mg_galerkin, with -snes_type fas smoothers and a coarse solver without Jacobian, as -fas_levels_snes_type "
      "ngs -fas_coarse_snes_type ngs -fas_coarse_snes_max_it 20");
  PetscCall(jacobian(*equation, time, u, A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- all ---------------------------------------------------------------------------------------------------------------

PetscErrorCode SetSolverFunctions(DM da, const EquationText &text) {
  PetscFunctionBegin;
  if (text.has_rate) {
    PetscCall(TSRefuseUnfitTypes());
    PetscCall(clear_snes_functions(da));
    if (text.is_mixed() || has_implicit_form(da)) PetscCall(set_form(da, text.is_mixed()));
    if (text.is_mixed()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(DMTSSetRHSFunction(da, ts_function, NULL));
    PetscCall(DMTSSetRHSJacobian(da, ts_jacobian, NULL));
  } else {
    PetscCall(DMSNESSetFunction(da, snes_function, NULL));
    PetscCall(DMSNESSetJacobian(da, snes_jacobian, NULL));
    PetscCall(DMKSPSetComputeOperators(da, ksp_operators, NULL));
    PetscCall(DMKSPSetComputeRHS(da, ksp_right_hand_side, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
