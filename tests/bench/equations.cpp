// Times equations as text: residuals, Jacobians and rates beside a copy of the bytes that must move, and whole solves.

#include <cstdlib>
#include <string>

#include <petscts.h>

#include "timing.hpp"

static const char help[] =
    "Times equations as text beside a copy, and whole solves.\n"
    "  -sizes 4097           points a side, of residuals and Jacobians\n"
    "  -size_3d 256          points along an axis in 3-D\n"
    "  -newton_size 2049     of Bratu's equation by Newton's method\n"
    "  -time_size 1024,2048  of Gray and Scott's equations\n"
    "  -steps 1000           explicit steps of these\n"
    "  -folder PATH          with the texts; default $SHELLAC_EQUATIONS, else examples/equations\n"
    "  -seconds 0.3          time spent on each figure\n"
    "  -dm_vec_type cuda     on the GPU\n\n";

static const char minus_laplacian[] = "residual = -laplacian(u)", of_field[] = "field(k) = 1 + x\nresidual = -d(k, u)",
                  nine_points[] = "residual = (20 * u - 4 * (u(1, 0) + u(-1, 0) + u(0, 1) + u(0, -1))\n"
                                  "            - u(1, 1) - u(-1, 1) - u(1, -1) - u(-1, -1)) / (6 * hx * hx)",
                  points_27[] = "s(k) = u(1, 1, k) + u(-1, 1, k) + u(1, -1, k) + u(-1, -1, k)\n"
                                "       + 2 * (u(1, 0, k) + u(-1, 0, k) + u(0, 1, k) + u(0, -1, k)) + 4 * u(0, 0, k)\n"
                                "residual = s(-1) + 2 * s(0) + s(1)";

static char folder[PETSC_MAX_PATH_LEN] = SHELLAC_EQUATIONS; // with the texts

// A grid with the text, or with the text of the gallery's file.
static PetscErrorCode make_grid(PetscInt dim, PetscInt N, PetscInt dof, DMDAStencilType shape, PetscInt width,
                                bool periodic, const std::string &equation, DM *da, PetscLogDouble *seconds = nullptr) {
  const DMBoundaryType ends = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  PetscLogDouble       begin, end;

  PetscFunctionBegin;
  const bool is_file = equation.find(".h") != std::string::npos;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, dim));
  PetscCall(DMDASetSizes(*da, N, dim > 1 ? N : 1, dim > 2 ? N : 1));
  PetscCall(DMDASetBoundaryType(*da, ends, ends, ends));
  PetscCall(DMDASetDof(*da, dof));
  PetscCall(DMDASetStencilType(*da, shape));
  PetscCall(DMDASetStencilWidth(*da, width));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscCall(PetscTime(&begin));
  if (is_file)
    PetscCall(DMDASetEquationFromFile(*da, (std::string(folder) + "/" + equation).c_str()));
  else if (!equation.empty())
    PetscCall(DMDASetEquation(*da, equation.c_str()));
  PetscCall(PetscTime(&end));
  if (seconds) *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode random_state(DM da, Vec *u, Vec *f) {
  PetscFunctionBegin;
  PetscCall(DMCreateGlobalVector(da, u));
  PetscCall(VecDuplicate(*u, f));
  PetscCall(VecSetRandom(*u, NULL));
  PetscCall(VecShift(*u, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode print(const char *what, PetscInt N, PetscReal seconds, PetscReal copy_seconds, PetscReal bytes) {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-34s %6" PetscInt_FMT " %10.1f", what, N, (double)(1e6 * seconds)));
  if (bytes > 0) // of a point, beside the 16 of a copy
    PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, " %7.0f %7.3f", (double)bytes, (double)(copy_seconds * bytes / 16 / seconds)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The residual of an equation, and its Jacobian into arrays if bytes_of_entries is not 0; bytes: of a point.
static PetscErrorCode time_residual(const char *name, const char *equation, PetscInt dim, PetscInt N,
                                    DMDAStencilType shape, PetscInt width, PetscReal seconds, PetscReal bytes,
                                    PetscReal bytes_of_entries) {
  DM        da;
  SNES      snes;
  Mat       J;
  Vec       u, f, v;
  PetscReal t_copy, t;

  PetscFunctionBegin;
  PetscCall(make_grid(dim, N, 1, shape, width, false, equation, &da));
  PetscCall(random_state(da, &u, &f));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, da));
  PetscCall(time_of(
      seconds, [&] { return copy(u, f); }, &t_copy));
  PetscCall(print("copy", N, t_copy, t_copy, 16));
  PetscCall(time_of(
      seconds, [&] { return SNESComputeFunction(snes, u, f); }, &t));
  PetscCall(print(name, N, t, t_copy, bytes));
  if (bytes_of_entries > 0) {
    PetscCall(DMSetMatType(da, MATSTENCILSHELL));
    PetscCall(DMCreateMatrix(da, &J));
    PetscCall(SNESSetJacobian(snes, J, J, NULL, NULL));
    PetscCall(time_of(
        seconds, [&] { return SNESComputeJacobian(snes, u, J, J); }, &t));
    PetscCall(print("  its Jacobian", N, t, t_copy, bytes_of_entries));
    PetscCall(time_of(
        seconds,
        [&] {
          PetscFunctionBegin;
          PetscCall(SNESComputeFunction(snes, u, f));
          PetscCall(SNESComputeJacobian(snes, u, J, J));
          PetscFunctionReturn(PETSC_SUCCESS);
        },
        &t));
    PetscCall(print("  both", N, t, t_copy, 0));
    PetscCall(MatDestroy(&J));
    PetscCall(DMSetMatType(da, MATEQUATION));
    PetscCall(DMCreateMatrix(da, &J));
    PetscCall(SNESComputeJacobian(snes, u, J, J));
    PetscCall(VecDuplicate(u, &v));
    PetscCall(VecSetRandom(v, NULL));
    PetscCall(time_of(
        seconds, [&] { return MatMult(J, v, f); }, &t));
    PetscCall(print("  product, the type equation", N, t, t_copy, 24));
    PetscCall(VecDestroy(&v));
    PetscCall(MatDestroy(&J));
  }
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&f));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Products with the operator of the text -Δu, and with the type laplace.
static PetscErrorCode time_products(PetscInt N, PetscReal seconds) {
  DM        da;
  Mat       A, B;
  Vec       x, y;
  PetscReal t_copy, t_text, t_own;

  PetscFunctionBegin;
  PetscCall(make_grid(2, N, 1, DMDA_STENCIL_STAR, 1, false, minus_laplacian, &da));
  PetscCall(DMSetMatType(da, MATSTENCILSHELL));
  PetscCall(random_state(da, &x, &y));
  PetscCall(DMDACreateEquationMat(da, &A));
  PetscCall(MatCreateLaplace(da, &B));
  PetscCall(time_of(
      seconds, [&] { return copy(x, y); }, &t_copy));
  PetscCall(time_of(
      seconds, [&] { return MatMult(A, x, y); }, &t_text));
  PetscCall(time_of(
      seconds, [&] { return MatMult(B, x, y); }, &t_own));
  PetscCall(print("product, the text -laplacian(u)", N, t_text, t_copy, 16));
  PetscCall(print("product, the type laplace", N, t_own, t_copy, 16));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whole solves of Bratu's equation, by the options of SNES, KSP and PC.
static PetscErrorCode time_newton(PetscInt N) {
  DM                  da;
  SNES                snes;
  Vec                 u, start;
  PetscLogDouble      begin, end, set;
  SNESConvergedReason reason;
  PetscInt            its, ksp_its;

  PetscFunctionBegin;
  PetscCall(make_grid(2, N, 1, DMDA_STENCIL_STAR, 1, false, "bratu.h", &da, &set));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecDuplicate(u, &start));
  PetscCall(DMDAEquationComputeInitial(da, start));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, da));
  PetscCall(SNESSetFromOptions(snes));
  for (int turn = 0; turn < 3; turn++) {
    PetscCall(VecCopy(start, u));
    PetscCall(synchronize());
    PetscCall(PetscTime(&begin));
    PetscCall(SNESSolve(snes, NULL, u));
    PetscCall(synchronize());
    PetscCall(PetscTime(&end));
    PetscCall(SNESGetConvergedReason(snes, &reason));
    PetscCall(SNESGetIterationNumber(snes, &its));
    PetscCall(SNESGetLinearSolveIterations(snes, &ksp_its));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "Bratu %" PetscInt_FMT "², equation set in %.3f s, SNESSolve %d: %.2f ms, %" PetscInt_FMT
                          " steps, %" PetscInt_FMT " linear, %s\n",
                          N, set, turn + 1, 1e3 * (end - begin), its, ksp_its, SNESConvergedReasons[reason]));
  }
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&start));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode time_steps(PetscInt N, PetscInt steps, PetscReal seconds) {
  DM             da;
  TS             ts;
  Vec            u, f;
  PetscReal      t_copy, t;
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(make_grid(2, N, 2, DMDA_STENCIL_STAR, 1, true, "gray_scott.h", &da));
  PetscCall(random_state(da, &u, &f));
  PetscCall(DMDAEquationComputeInitial(da, u));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(TSSetType(ts, TSEULER));
  PetscCall(time_of(
      seconds, [&] { return copy(u, f); }, &t_copy));
  PetscCall(print("copy, two values a point", N, t_copy, t_copy, 16));
  PetscCall(time_of(
      seconds, [&] { return TSComputeRHSFunction(ts, 0, u, f); }, &t));
  PetscCall(print("rate of Gray and Scott", N, t, t_copy, 16));
  PetscCall(TSSetTimeStep(ts, 1e-3));
  PetscCall(TSSetMaxTime(ts, 1e9));
  PetscCall(TSSetMaxSteps(ts, steps));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(synchronize());
  PetscCall(PetscTime(&begin));
  PetscCall(TSSolve(ts, u));
  PetscCall(synchronize());
  PetscCall(PetscTime(&end));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "Gray and Scott %" PetscInt_FMT "², %" PetscInt_FMT " steps: %.3f s, %.1f us a step\n", N,
                        steps, end - begin, 1e6 * (end - begin) / (double)steps));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&f));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  constexpr DMDAStencilType star = DMDA_STENCIL_STAR, box = DMDA_STENCIL_BOX;
  PetscReal                 seconds = 0.3;
  PetscInt                  sizes[16] = {4097}, count = 16, in_time[16] = {1024, 2048}, in_time_count = 16;
  PetscInt                  newton = 2049, steps = 1000, in_space = 256;
  PetscBool                 set;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &count, &set));
  if (!set) count = 1;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-size_3d", &in_space, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-newton_size", &newton, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-time_size", in_time, &in_time_count, &set));
  if (!set) in_time_count = 2;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  if (getenv("SHELLAC_EQUATIONS")) PetscCall(PetscStrncpy(folder, getenv("SHELLAC_EQUATIONS"), sizeof(folder)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-folder", folder, sizeof(folder), NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-34s %6s %10s %7s %7s\n", "", "points", "us", "bytes", "of copy"));
  for (PetscInt n = 0; n < count; n++) {
    const PetscInt N = sizes[n];
    PetscCall(time_residual("Bratu's residual", "bratu.h", 2, N, star, 1, seconds, 16, 48));
    PetscCall(time_residual("-laplacian(u)", minus_laplacian, 2, N, star, 1, seconds, 16, 0));
    PetscCall(time_residual("nine points", nine_points, 2, N, box, 1, seconds, 16, 0));
    PetscCall(time_residual("-d(k, u), k a field", of_field, 2, N, star, 1, seconds, 24, 0));
    PetscCall(time_residual("bilaplacian(u)", "residual = bilaplacian(u)", 2, N, box, 2, seconds, 16, 0));
    PetscCall(time_products(N, seconds));
  }
  PetscCall(time_residual("-laplacian(u) in 3-D", minus_laplacian, 3, in_space, star, 1, seconds, 16, 0));
  PetscCall(time_residual("-d(k, u) in 3-D", of_field, 3, in_space, star, 1, seconds, 24, 0));
  PetscCall(time_residual("-laplacian(u) - exp(u) in 3-D", "residual = -laplacian(u) - exp(u)", 3, in_space, star, 1,
                          seconds, 16, 64));
  PetscCall(time_residual("27 points", points_27, 3, in_space, box, 1, seconds, 16, 0));
  if (newton > 0) PetscCall(time_newton(newton));
  for (PetscInt n = 0; n < in_time_count; n++)
    if (in_time[n] > 0) PetscCall(time_steps(in_time[n], steps, seconds));
  PetscCall(PetscFinalize());
}
