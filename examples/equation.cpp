/*
  Solves the equation that a text states, with nothing to compile:

      mpiexec -n 2 ./equation -equation bratu.h -da_grid_x 129 -da_grid_y 129 -snes_monitor

  A residual is solved by a SNES, which is one linear solve for a linear equation, a rate by a TS; both take all of
  PETSc's options. Where the text has an exact solution, the program prints the error and, over refined grids, its order.
*/

#include "picture.hpp"

#include <petscsnes.h>
#include <petscts.h>
#include <shellac.h>

#include <cmath>

static const char help[] =
    "Solves the equation that a text states. Draws its unknowns.\n"
    "  -equation bratu.h                 the text\n"
    "  -equation_lambda 5                a parameter of it, here lambda\n"
    "  -equation_k k.petsc               a field of it, here k, from a file that PETSc wrote, as by -u_view,\n"
    "                                    or .h5, .vti, .vtr, .vts, .npy\n"
    "  -equation_initial u.petsc         the initial state, likewise\n"
    "  -equation_compile_ahead           only compiles the text, for machines without a compiler\n"
    "  -da_grid_x 300 -da_grid_y 200     points along each axis\n"
    "  -equation_stretch_y tanh,2        crowds points at both ends of y; pictures but .vts draw them evenly\n"
    "  -refinements 3                    solves on so many finer grids too, and prints the order of the error\n"
    "  -picture u.pdf                    .png, .svg, .pdf; .vts, .vtr (for ParaView); none\n"
    "  -ts_max_time 10 -ts_type rk       of an equation in time; its defaults are 1 and rk\n"
    "  -ts_monitor_solution_vtk u-%03d.vts   writes each step\n"
    "  -u_view binary:u.petsc            writes u by any PETSc viewer\n\n";

struct Solution {
  DM           da; // of the grid that the solver ends on
  Vec          u;
  PetscReal    time;
  MatNullSpace free; // what may be added to u, or null
};

// The residual of a solution must be small beside that of zero: where one linear solve is all, nothing else looks at it.
static PetscErrorCode CheckResidual(SNES snes) {
  DM        da;
  KSP       ksp;
  Vec       u, zero, f;
  PetscReal norm, first, rtol;

  PetscFunctionBeginUser;
  PetscCall(SNESGetDM(snes, &da));
  PetscCall(SNESGetSolution(snes, &u));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPGetTolerances(ksp, &rtol, nullptr, nullptr, nullptr));
  PetscCall(DMGetGlobalVector(da, &zero));
  PetscCall(DMGetGlobalVector(da, &f));
  PetscCall(VecSet(zero, 0));
  PetscCall(SNESComputeFunction(snes, zero, f));
  PetscCall(VecNorm(f, NORM_2, &first));
  PetscCall(SNESComputeFunction(snes, u, f));
  PetscCall(VecNorm(f, NORM_2, &norm));
  PetscCheck(
      norm <= PetscMax(1e-3, 1e3 * rtol) * first || first == 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
      "the solution has a residual of %g, that of zero is %g: the linear solver stopped too early, or the equation is "
      "not linear, or has no solution or many; try -ksp_rtol 1e-12, another -pc_type, "
      "-snes_type newtonls, or a small term in the text, as + 1e-8 * u",
      (double)norm, (double)first);
  PetscCall(DMRestoreGlobalVector(da, &f));
  PetscCall(DMRestoreGlobalVector(da, &zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// refines: for errors whose order is printed.
static PetscErrorCode SolveSteady(DM da, bool refines, Solution *solution) {
  SNES                snes;
  SNESConvergedReason reason;
  PetscInt            its, ksp_its;
  PetscBool           linear;
  Vec                 u;
  Mat                 J;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(DMDAEquationComputeInitial(da, u));
  PetscCall(DMDAEquationGetLinear(da, &linear));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, da));
  if (linear || refines) { // to more than PETSc's five digits
    KSP ksp;
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPSetTolerances(ksp, refines ? 1e-10 : 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  }
  if (linear) // one solve
    PetscCall(SNESSetType(snes, SNESKSPONLY));
  else if (refines) // else the solver's error would spoil the order
    PetscCall(SNESSetTolerances(snes, PETSC_DEFAULT, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESSolve(snes, nullptr, u));
  PetscCall(SNESGetConvergedReason(snes, &reason));
  PetscCall(SNESGetIterationNumber(snes, &its));
  PetscCall(SNESGetLinearSolveIterations(snes, &ksp_its));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "the solver does not converge: %s after %" PetscInt_FMT " nonlinear and %" PetscInt_FMT
             " linear iterations; try another -pc_type, -snes_type or initial state",
             SNESConvergedReasons[reason], its, ksp_its);
  if (linear) PetscCall(CheckResidual(snes));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s equation: %" PetscInt_FMT " nonlinear, %" PetscInt_FMT " linear iterations, %s\n",
                        linear ? "linear" : "nonlinear", its, ksp_its, SNESConvergedReasons[reason]));
  PetscCall(SNESGetDM(snes, &solution->da));
  PetscCall(SNESGetSolution(snes, &solution->u));
  PetscCall(PetscObjectReference((PetscObject)solution->da));
  PetscCall(PetscObjectReference((PetscObject)solution->u));
  PetscCall(SNESGetJacobian(snes, &J, nullptr, nullptr, nullptr));
  if (J)
    PetscCall(PetscObjectReference((PetscObject)J));
  else { // the solver, as -snes_type ngs, has none
    PetscCall(DMCreateMatrix(solution->da, &J));
    PetscCall(SNESComputeJacobian(snes, solution->u, J, J));
  }
  PetscCall(MatGetNullSpace(J, &solution->free));
  if (solution->free) PetscCall(PetscObjectReference((PetscObject)solution->free));
  PetscCall(MatDestroy(&J));
  solution->time = 0;
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveInTime(DM da, Solution *solution) {
  TS          ts;
  PetscInt    steps;
  TSIFunction implicit = nullptr; // of algebraic unknowns beside those with rates

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(da, &solution->u));
  PetscCall(DMDAEquationComputeInitial(da, solution->u));
  PetscCall(PetscObjectSetName((PetscObject)solution->u, "u"));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(DMTSGetIFunction(da, &implicit, nullptr));
  PetscCall(TSSetType(ts, implicit ? TSBDF : TSRK));
  PetscCall(TSSetMaxTime(ts, 1));
  PetscCall(TSSetTimeStep(ts, 1e-3));
  PetscCall(TSSetMaxSteps(ts, 1000000));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, solution->u));
  PetscCall(TSGetSolveTime(ts, &solution->time));
  PetscCall(TSGetStepNumber(ts, &steps));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " steps to t = %g\n", steps, (double)solution->time));
  PetscCall(TSDestroy(&ts));
  PetscCall(PetscObjectReference((PetscObject)da));
  solution->da = da;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The largest error, and its order from a grid of another spacing; nothing where the text has no exact solution.
static PetscErrorCode PrintError(const Solution &solution, PetscReal *last_error, PetscReal *last_h) {
  Vec       e;
  PetscReal error, h[3];
  PetscInt  N[3];
  PetscBool exact;

  PetscFunctionBeginUser;
  PetscCall(DMDAEquationHasExact(solution.da, &exact));
  if (!exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(solution.u, &e));
  PetscCall(DMDAEquationComputeExact(solution.da, solution.time, e));
  PetscCall(VecAXPY(e, -1, solution.u));
  if (solution.free) PetscCall(MatNullSpaceRemove(solution.free, e));
  PetscCall(VecNorm(e, NORM_INFINITY, &error));
  PetscCall(VecDestroy(&e));
  PetscCall(DMDAEquationGetSpacing(solution.da, nullptr, h));
  PetscCall(DMDAGetInfo(solution.da, nullptr, &N[0], &N[1], &N[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr, nullptr));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points: error %.4g", N[0], N[1],
                        N[2], (double)error));
  if (*last_error > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", order %.2f",
                          std::log((double)(*last_error / error)) / std::log((double)(*last_h / h[0]))));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  *last_error = error, *last_h = h[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Draw(const Solution &solution, const std::string &title, const std::string &file) {
  std::vector<picture::Panel> panels;
  PetscInt                    dof, dim;
  PetscReal                   first[3], h[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(solution.da, &dim, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &dof, nullptr, nullptr,
                        nullptr, nullptr, nullptr));
  PetscCall(DMDAEquationGetSpacing(solution.da, first, h));
  for (PetscInt c = 0; c < dof; c++) {
    const char    *name;
    picture::Panel panel;
    PetscCall(DMDAGetFieldName(solution.da, c, &name));
    panel.title = name;
    PetscCall(PictureSetField(solution.da, solution.u, first, h, &panel, c));
    panels.push_back(panel);
  }
  PetscCall(PictureWrite(solution.da, solution.u, panels, dof > 2 ? 2 : (int)dof, title, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// bratu-x65-lambda5.png, say: the text's name, and what the options say of the grid, the parameters and the time.
static PetscErrorCode GetPictureName(DM da, const std::string &name, std::string *picture) {
  std::vector<std::string> options = {"-da_grid_x",          "-da_grid_y",          "-da_grid_z",
                                      "-equation_domain",    "-equation_stretch_x", "-equation_stretch_y",
                                      "-equation_stretch_z", "-refinements",        "-ts_max_time"};
  const char *const       *parameters;

  PetscFunctionBeginUser;
  PetscCall(DMDAEquationGetNames(da, &parameters, nullptr));
  for (; *parameters; parameters++) options.push_back(std::string("-equation_") + *parameters);
  PetscCall(PictureGetFile(name, options, picture));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  DM          da;
  Solution    solution = {};
  PetscInt    refinements = 0;
  PetscReal   error = 0, h = 0;
  PetscBool   set, in_time, ahead = PETSC_FALSE;
  std::string picture;
  char        file[PETSC_MAX_PATH_LEN];

  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-equation", file, sizeof(file), &set));
  PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONGSTATE,
             "there is no equation; give -equation <file>, for instance -equation examples/equations/bratu.h");
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-refinements", &refinements, nullptr));
  PetscCheck(refinements >= 0 && refinements <= 20, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-refinements %" PetscInt_FMT " is not possible; use 0 to 20", refinements);
  std::string name = file; // of the picture and its title: the text's file without folder and ending
  name = name.substr(name.find_last_of('/') == std::string::npos ? 0 : name.find_last_of('/') + 1);
  name = name.substr(0, name.find_last_of('.'));
  PetscCall(DMDACreateFromEquationFile(PETSC_COMM_WORLD, file, &da));
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-equation_compile_ahead", &ahead, nullptr));
  if (ahead) {
    PetscCall(DMDestroy(&da));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(GetPictureName(da, name, &picture));
  PetscCall(DMDAEquationIsRate(da, &in_time));
  for (PetscInt r = 0; r <= refinements; r++) {
    PetscCall(in_time ? SolveInTime(da, &solution) : SolveSteady(da, refinements > 0, &solution));
    PetscCall(PrintError(solution, &error, &h));
    if (r == refinements) break;
    DM finer;
    PetscCall(DMRefine(solution.da, PETSC_COMM_WORLD, &finer));
    PetscCall(DMDestroy(&solution.da));
    PetscCall(VecDestroy(&solution.u));
    PetscCall(MatNullSpaceDestroy(&solution.free));
    PetscCall(DMDestroy(&da));
    da = finer;
  }
  PetscCall(PetscObjectSetName((PetscObject)solution.u, "u"));
  PetscCall(VecViewFromOptions(solution.u, nullptr, "-u_view"));
  PetscCall(Draw(solution, name, picture));
  PetscCall(DMDestroy(&solution.da));
  PetscCall(VecDestroy(&solution.u));
  PetscCall(MatNullSpaceDestroy(&solution.free));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
