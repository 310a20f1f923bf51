#include "equations/stepping.hpp"

namespace shellac {

// What a TS has that is followed.
struct Followed {
  Vec       tolerances = NULL; // absolute ones, where some are not the TS's
  PetscReal tolerance = 0;     // the TS's, when they were made
  PetscInt  version = 0;       // of the equation, before the last step
};

static PetscErrorCode destroy_followed(void *argument) {
  Followed *followed = context_to_destroy<Followed>(argument);

  PetscFunctionBegin;
  PetscCall(VecDestroy(&followed->tolerances));
  delete followed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What is given has no error, and may jump: it does not count when steps are chosen.
static PetscErrorCode set_tolerances(TS ts, EquationOnGrid &equation, Followed *followed) {
  PetscReal tolerance;
  Vec       present, made;
  TSAdapt   adapt;
  PetscBool is_fixed;

  PetscFunctionBegin;
  if (!equation.Imposes()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(PetscObjectTypeCompare((PetscObject)adapt, TSADAPTNONE, &is_fixed));
  PetscCall(TSGetTolerances(ts, &tolerance, &present, NULL, NULL));
  const bool ours = present && present == followed->tolerances;
  if (is_fixed || (ours && tolerance == followed->tolerance)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMCreateGlobalVector(equation.da(), &made));
  PetscCall(present && !ours ? VecCopy(present, made) : VecSet(made, tolerance));
  PetscCall(equation.SetAtGiven(made, 1e300));
  PetscCall(TSSetTolerances(ts, tolerance, made, PETSC_DECIDE, NULL));
  PetscCall(VecDestroy(&followed->tolerances));
  followed->tolerances = made, followed->tolerance = tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Null where the TS has another DM now.
static PetscErrorCode find_equation(TS ts, EquationOnGrid **equation) {
  DM da;

  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &da));
  PetscCall(DMFindEquation(da, equation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of the types whose last stage is the step. After other hooks PETSc would begin the orders of a multistep type anew.
static PetscErrorCode after_stage(TS ts, PetscReal time, PetscInt stage, Vec *states) {
  EquationOnGrid *equation;

  PetscFunctionBegin;
  PetscCall(find_equation(ts, &equation));
  if (equation) PetscCall(equation->Impose(time, states[stage]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode after_step(TS ts) {
  EquationOnGrid *equation;
  PetscReal       time;
  Vec             u;

  PetscFunctionBegin;
  PetscCall(find_equation(ts, &equation));
  PetscCall(TSGetTime(ts, &time));
  PetscCall(TSGetSolution(ts, &u));
  if (equation) PetscCall(equation->Impose(time, u, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The TS's derivative of the rate by parameters, where u is given that of what is given; null: the TS has none.
static PetscErrorCode find_given_by_parameters(TS ts, EquationOnGrid &equation, PetscReal time, Vec u, Mat *P) {
  PetscFunctionBegin;
  PetscCall(TSGetRHSJacobianP(ts, P, NULL, NULL));
  if (*P) PetscCall(equation.WithGiven([&] { return TSComputeRHSJacobianP(ts, time, u, *P); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What is given depends on parameters and on no state before: where TSAdjointSolve() has a gradient by it, that is one by
// the parameters, and then zero. Gradients at other points do not depend on it.
static PetscErrorCode adjoint_monitor(TS ts, PetscInt, PetscReal time, Vec u, PetscInt n, Vec *gradients,
                                      Vec *by_parameters, void *) {
  EquationOnGrid *equation;
  WorkVector      given;
  PetscReal       norm;
  Vec             more;
  Mat             P = NULL;
  TS              integrals;

  PetscFunctionBegin;
  PetscCall(find_equation(ts, &equation));
  if (!equation) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetQuadratureTS(ts, NULL, &integrals));
  PetscCall(given.Get(equation->da()));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(VecCopy(gradients[c], given));
    PetscCall(equation->SetAtGiven(gradients[c], 0));
    PetscCall(equation->SetAtGiven(given, 0, false));
    PetscCall(VecNorm(given, NORM_INFINITY, &norm));
    if (norm == 0 || !by_parameters) continue;
    if (!P) PetscCall(find_given_by_parameters(ts, *equation, time, u, &P));
    if (!P) continue;
    PetscCall(VecDuplicate(by_parameters[c], &more));
    PetscCall(MatMultTranspose(P, given, more));
    PetscCall(VecNorm(more, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(by_parameters[c], 1, more));
    PetscCall(VecDestroy(&more));
    PetscCheck(norm == 0 || !integrals, equation->grid().comm, PETSC_ERR_SUP,
               "the objective has an integral in time, and reads a side of the form identity that depends on a "
               "parameter: its gradient is not known; let it read no point of such a side, or use dirichlet");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode set_sensitivities(TS ts, EquationOnGrid &equation, PetscReal time, Vec u) {
  Mat        sensitivities, P;
  PetscInt   n;
  Vec        column, of_given;
  WorkVector given;

  PetscFunctionBegin;
  PetscCall(TSForwardGetSensitivities(ts, &n, &sensitivities));
  if (!sensitivities) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(find_given_by_parameters(ts, equation, time, u, &P));
  PetscCall(given.Get(equation.da()));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(MatDenseGetColumnVec(sensitivities, c, &column));
    PetscCall(equation.SetAtGiven(column, 0));
    if (P) {
      PetscCall(MatDenseGetColumnVecRead(P, c, &of_given));
      PetscCall(VecCopy(of_given, given));
      PetscCall(MatDenseRestoreColumnVecRead(P, c, &of_given));
      PetscCall(equation.SetAtGiven(given, 0, false));
      PetscCall(VecAXPY(column, 1, given));
    }
    PetscCall(MatDenseRestoreColumnVec(sensitivities, c, &column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_last_try(TS ts, EquationOnGrid &equation, bool *refused);

// A monitor: it also sees the state that is interpolated at the end.
static PetscErrorCode monitor(TS ts, PetscInt step, PetscReal time, Vec u, void *argument) {
  Followed         *followed = static_cast<Followed *>(argument);
  EquationOnGrid   *equation;
  PetscInt          locks;
  TSConvergedReason reason;
  VecType           type;
  PetscBool         is_rk;
  bool              refused;

  PetscFunctionBegin;
  PetscCall(find_equation(ts, &equation));
  if (!equation) PetscFunctionReturn(PETSC_SUCCESS);
  if (step == 0) equation->attempt.refused = 0; // of a solve before
  PetscCall(check_last_try(ts, *equation, &refused));
  PetscCall(set_tolerances(ts, *equation, followed));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSRK, &is_rk));
  if (is_rk && equation->equation().version != followed->version) PetscCall(TSRestartStep(ts)); // it keeps a rate
  followed->version = equation->equation().version;
  if (equation->Imposes()) {
    PetscCall(VecLockGet(u, &locks));
    for (PetscInt n = 0; n < locks; n++) PetscCall(VecLockReadPop(u));
    PetscCall(equation->Impose(time, u));
    for (PetscInt n = 0; n < locks; n++) PetscCall(VecLockReadPush(u));
    PetscCall(set_sensitivities(ts, *equation, time, u));
  }
  PetscCall(TSGetConvergedReason(ts, &reason));
  PetscCall(VecGetType(u, &type));
  const bool on_gpu = std::string(type).find("cuda") != std::string::npos; // where a norm waits for all kernels
  if (step == 0 || (on_gpu && step % 16 && reason == TS_CONVERGED_ITERATING)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(
      equation->CheckFinite(time, u, u, PETSC_MAX_REAL,
                            "take smaller steps, by -ts_dt or adaptive ones, or an implicit type, as -ts_type bdf; or "
                            "there is no solution any more"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FollowSteps(TS ts, EquationOnGrid &equation) {
  static const char composed[] = "ShellacFollowedTimeStepper";
  Followed         *followed;
  PetscBool         by_stages, is_theta, endpoint;

  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)ts, composed, &followed));
  if (followed) PetscFunctionReturn(PETSC_SUCCESS);
  followed = new Followed;
  PetscCall(compose_context((PetscObject)ts, composed, followed, destroy_followed));
  PetscCall(TSMonitorSet(ts, monitor, followed, NULL));
  if (!equation.Imposes()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSAdjointMonitorSet(ts, adjoint_monitor, NULL, NULL));
  PetscCall(set_tolerances(ts, equation, followed));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ts, &by_stages, TSBEULER, TSTHETA, TSCN, TSBDF, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSTHETA, &is_theta));
  if (is_theta) PetscCall(TSThetaGetEndpoint(ts, &endpoint)); // else its stage is in the middle
  if (is_theta) by_stages = endpoint;
  PetscCall(by_stages ? TSSetPostStage(ts, after_stage) : TSSetPostEvaluate(ts, after_step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a step's error may be at each value of the state that it begins with.
static PetscErrorCode get_tolerances(TS ts, Vec state, Vec tolerances) {
  PetscReal absolute, relative;
  Vec       absolutes, relatives;

  PetscFunctionBegin;
  PetscCall(TSGetTolerances(ts, &absolute, &absolutes, &relative, &relatives));
  PetscCall(VecCopy(state, tolerances));
  PetscCall(VecAbs(tolerances));
  PetscCall(relatives ? VecPointwiseMult(tolerances, tolerances, relatives) : VecScale(tolerances, relative));
  PetscCall(absolutes ? VecAXPY(tolerances, 1, absolutes) : VecShift(tolerances, absolute));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc 3.18 subtracts the rates of a rejected step from the state, and loses digits if rates are large.
static PetscErrorCode check_kept_state(TS ts, EquationOnGrid &equation) {
  const std::vector<PetscScalar> &before = equation.attempt.state;
  const EquationText             &text = equation.equation().text;
  WorkVector                      tolerances;
  Vec                             state;
  const PetscScalar              *value, *tolerance;
  PetscMPIInt                     lost = 0;
  char                            problem[256];

  PetscFunctionBegin;
  PetscCall(TSGetSolution(ts, &state));
  PetscCall(tolerances.Get(equation.da()));
  PetscCall(get_tolerances(ts, state, tolerances));
  PetscCall(VecGetArrayRead(state, &value));
  PetscCall(VecGetArrayRead(tolerances, &tolerance));
  for (size_t i = 0; i < before.size(); i++)
    if (!(PetscAbsScalar(value[i] - before[i]) <= 0.1 * PetscRealPart(tolerance[i]))) lost = 1;
  PetscCall(VecRestoreArrayRead(tolerances, &tolerance));
  PetscCall(VecRestoreArrayRead(state, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_INT, MPI_MAX, equation.grid().comm));
  PetscCall(PetscSNPrintf(problem, sizeof(problem),
                          "rates in a step from t = %g were so large that the state lost digits when the step was "
                          "rejected; begin with smaller steps, by -ts_dt or -ts_adapt_dt_max",
                          (double)equation.attempt.begin));
  PetscCheck(!lost, equation.grid().comm, PETSC_ERR_FP, "%s",
             text.error_at(text.unknowns[0].row().line, problem).c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// *refused: rates of the present try have been replaced. It is an error if the TS has taken such a try.
static PetscErrorCode check_last_try(TS ts, EquationOnGrid &equation, bool *refused) {
  EquationOnGrid::Attempt &attempt = equation.attempt;
  const EquationText      &text = equation.equation().text;
  PetscReal                time, dt;
  char                     problem[256];

  PetscFunctionBegin;
  PetscCall(TSGetTime(ts, &time));
  PetscCall(TSGetTimeStep(ts, &dt));
  *refused = attempt.refused != 0 && time == attempt.begin && dt == attempt.refused;
  if (attempt.refused == 0 || *refused) PetscFunctionReturn(PETSC_SUCCESS);
  const bool taken = time == attempt.begin + attempt.refused;
  attempt.refused = 0;
  PetscCall(
      PetscSNPrintf(problem, sizeof(problem),
                    "the step from t = %g to %g has a stage where the rate is not finite, and was accepted; leave "
                    "out -ts_adapt_always_accept, or give a smaller -ts_adapt_dt_min, -ts_rtol and -ts_atol",
                    (double)attempt.begin, (double)time));
  PetscCheck(!taken, equation.grid().comm, PETSC_ERR_FP, "%s",
             text.error_at(text.unknowns[0].row().line, problem).c_str());
  if (time == attempt.begin) PetscCall(check_kept_state(ts, equation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rates whose error no tolerance accepts, and which can be subtracted from the state again: of a million tolerances in a
// step. They grow from stage to stage, so that they do not cancel in the error.
static PetscErrorCode replace_rates(TS ts, EquationOnGrid &equation, PetscReal dt, Vec f) {
  EquationOnGrid::Attempt &attempt = equation.attempt;
  PetscReal                size;
  Vec                      state;
  WorkVector               bound;
  const PetscScalar       *value;
  PetscInt                 n;

  PetscFunctionBegin;
  PetscCall(TSGetSolution(ts, &state));
  if (attempt.factor == 1) {
    PetscCall(VecGetLocalSize(state, &n));
    PetscCall(VecGetArrayRead(state, &value));
    attempt.state.assign(value, value + n);
    PetscCall(VecRestoreArrayRead(state, &value));
  }
  PetscCall(get_tolerances(ts, state, f));
  PetscCall(VecScale(f, 1e6));
  PetscCall(VecNorm(state, NORM_INFINITY, &size));
  PetscCall(bound.Get(equation.da()));
  PetscCall(VecSet(bound, 1e9 * (1 + size))); // tolerances may be infinite
  PetscCall(VecPointwiseMin(f, f, bound));
  PetscCall(VecScale(f, attempt.factor / dt));
  attempt.factor *= 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RejectOrAccept(TS ts, EquationOnGrid &equation, PetscReal time, Vec u, Vec f) {
  const PetscReal          bound = 1e100; // of numbers whose squares PETSc sums
  EquationOnGrid::Attempt &attempt = equation.attempt;
  TSAdapt                  adapt;
  PetscBool                is_rk, is_fixed;
  bool                     refused;
  PetscReal                norm, of_state, begin, dt;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSRK, &is_rk));
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)adapt, &is_fixed, TSADAPTNONE, ""));
  if (!is_rk || is_fixed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_last_try(ts, equation, &refused));
  PetscCall(TSGetTime(ts, &begin));
  PetscCall(TSGetTimeStep(ts, &dt));
  if (dt > 0 && begin + dt == begin) {
    PetscCall(VecNorm(u, NORM_INFINITY, &of_state));
    PetscCall(equation.CheckFinite(time, u, u, 0.99 * of_state,
                                   "steps have become so small that the time does not advance; "
                                   "there is no solution any more"));
  }
  PetscCall(add_sizes(f, &norm));
  if (norm <= bound && !refused) PetscFunctionReturn(PETSC_SUCCESS);
  if (!(time > begin) || time > begin + 2 * dt) PetscFunctionReturn(PETSC_SUCCESS); // no stage of a step
  if (!refused) {
    PetscCall(VecNorm(u, NORM_INFINITY, &of_state));
    if (attempt.begin != begin) attempt.begin = begin, attempt.dt = dt;
    if (!(of_state <= bound) || dt < 1e-6 * attempt.dt)
      PetscCall(equation.CheckFinite(time, u, f, bound,
                                     "smaller steps give the same; there is no solution any more, or the formula has "
                                     "no value there"));
    attempt.refused = dt, attempt.factor = 1;
  }
  PetscCall(replace_rates(ts, equation, dt, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode refuse_type(TS ts, PetscInt, PetscReal, Vec, void *) {
  EquationOnGrid *equation;
  PetscErrorCode (*of_program)(TS, PetscReal, Vec, Vec, Vec, Vec, void *) = NULL;
  DM     da;
  TSType type;

  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &da));
  PetscCall(DMFindEquation(da, &equation));
  PetscCall(DMTSGetI2Function(da, &of_program, NULL));
  PetscCall(TSGetType(ts, &type));
  PetscCheck(
      !equation || of_program, PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
      "-ts_type %s has no steps for the rate of an equation as text: it needs second derivatives in time, or parts "
      "of the rate, that a text does not state; use rk, bdf, cn, rosw, or arkimex with "
      "-ts_arkimex_fully_implicit",
      type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const unfit_types[] = {TSALPHA2, TSMIMEX, TSDISCGRAD, TSIRK};
static PetscErrorCode (*create_of_petsc[4])(TS);
template <int n> static PetscErrorCode create_unfit(TS ts) { // a monitor is what a TS calls first
  PetscFunctionBegin;
  PetscCall((*create_of_petsc[n])(ts));
  PetscCall(TSMonitorSet(ts, refuse_type, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode TSRefuseUnfitTypes() {
  static PetscErrorCode (*const create[])(TS) = {create_unfit<0>, create_unfit<1>, create_unfit<2>, create_unfit<3>};

  PetscFunctionBegin;
  if (create_of_petsc[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSInitializePackage());
  for (int n = 0; n < 4; n++) {
    PetscCall(PetscFunctionListFind(TSList, unfit_types[n], &create_of_petsc[n]));
    if (create_of_petsc[n]) PetscCall(TSRegister(unfit_types[n], create[n]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On coarser grids: other types of TS have the state of a stage on their own grid alone, or no Jacobian of the rate.
PetscErrorCode TSCheckCoarseSteps(TS ts) {
  PetscBool is_arkimex, has_steps;
  TSType    type;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSARKIMEX, &is_arkimex));
  // dirk: of PETSc 3.19
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ts, &has_steps, TSBEULER, TSTHETA, TSCN, TSBDF, "dirk", ""));
  if (is_arkimex) PetscCall(TSARKIMEXGetFullyImplicit(ts, &has_steps));
  PetscCall(TSGetType(ts, &type));
  PetscCheck(has_steps, PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
             "-ts_type %s has no implicit step on coarser grids; use beuler, theta, cn, bdf, or arkimex with "
             "-ts_arkimex_fully_implicit; or -pc_type mg with -pc_mg_galerkin; or another -pc_type and -snes_type",
             type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the SNES of a TS will ask for coarser grids. Some types of TS then compute there before they call anything of
// ours, or take a Mat of zeros.
PetscErrorCode SNESCoarsens(SNES snes, bool *does) {
  PetscBool        is_fas, is_mg, has_operators;
  PetscInt         levels;
  KSP              ksp, coarse;
  PC               pc;
  PCMGGalerkinType galerkin;

  PetscFunctionBegin;
  *does = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)snes, SNESFAS, &is_fas));
  if (is_fas) {
    PetscCall(SNESFASGetLevels(snes, &levels));
    *does = levels > 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCMG, &is_mg));
  if (!is_mg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGGetLevels(pc, &levels));
  PetscCall(PCMGGetGalerkin(pc, &galerkin));
  if (levels < 2 || galerkin == PC_MG_GALERKIN_BOTH || galerkin == PC_MG_GALERKIN_PMAT)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGGetCoarseSolve(pc, &coarse));
  PetscCall(KSPGetOperatorsSet(coarse, &has_operators, NULL)); // by the program
  *does = !has_operators;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
