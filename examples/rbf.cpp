/*
  Interpolates scattered data with radial basis functions: s(x) = Σ_j c_j φ(|x - x_j|) with s(x_i) = f_i at N random
  points of the unit square, φ(r) = 1/sqrt(r² + σ²) or another kernel function. The matrix is a kernel sum and never
  assembled; (A + λI) c = f is solved by GMRES with the preconditioner kernelsum, which factors the matrices of boxes of
  neighbouring points.

      mpiexec -n 2 ./rbf -n 4000
      mpiexec -n 2 ./rbf -n 4000 -mat_kernelsum_kernel gaussian -mat_kernelsum_sigma 0.016 -compare

  Test function: R. Franke, Scattered data interpolation, 1982.
*/

#include "picture.hpp"
#include "scattered.hpp"

#include <petscksp.h>
#include <petsctime.h>
#include <shellac.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

static const char help[] =
    "Interpolates scattered data with radial basis functions and GMRES.\n"
    "  -n 2000           number of points\n"
    "  -ridge 1e-8       λ, added to the diagonal\n"
    "  -compare          solves without a preconditioner, too: it may take long, or fail\n"
    "  -mat_kernelsum_sigma <2/sqrt(n)>   σ [length]; other -mat_kernelsum and -pc options hold too\n"
    "  -picture rbf.pdf  .png, .svg, .pdf; .vts, .vtr (the interpolant, for ParaView); none\n\n";

constexpr PetscInt most_drawn = 3000; // points: more hide the interpolant

// By GMRES with this preconditioner, or what -pc_type says. An error where it does not converge, unless it may fail.
static PetscErrorCode Solve(Mat A, PCType type, bool may_fail, Vec f, Vec c) {
  KSP                ksp;
  PC                 pc;
  PetscInt           iterations;
  PetscReal          norm, residual, rtol;
  KSPNormType        norm_type;
  KSPConvergedReason reason;
  PetscLogDouble     begin, end;
  Vec                r;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&begin));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPGMRESSetRestart(ksp, 100));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT)); // the norm that is tested is the residual's own
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, f, c));
  PetscCall(VecDuplicate(f, &r));
  PetscCall(MatMult(A, c, r));
  PetscCall(VecAYPX(r, -1, f));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(f, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PCGetType(pc, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-14s %6" PetscInt_FMT " %10.3g %12.2g   %s\n", type, iterations,
                        end - begin, (double)(residual / norm), KSPConvergedReasons[reason]));
  PetscCall(KSPGetTolerances(ksp, &rtol, nullptr, nullptr, nullptr));
  PetscCall(KSPGetNormType(ksp, &norm_type));
  if (reason > 0 && norm_type == KSP_NORM_UNPRECONDITIONED && residual > 10 * rtol * norm)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "  the residual is above the tolerance %g that the method has reached: rounding, in an "
                          "ill-conditioned matrix;\n  -ksp_view prints the condition number. Take a smaller "
                          "-mat_kernelsum_sigma or a larger -ridge\n",
                          (double)rtol));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscCheck(reason > 0 || may_fail, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "no solution: %s after %" PetscInt_FMT
             " iterations; take a larger -ridge, a smaller -mat_kernelsum_sigma, or "
             "more points around a box, -pc_kernelsum_overlap",
             KSPConvergedReasons[reason], iterations);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt            n = 2000, first, last;
  PetscReal           ridge = 1e-8, sigma, error, size;
  std::string         file;
  std::vector<double> points;
  Vec                 x, f, c, s, reference, nodes;
  Mat                 A, E;
  DM                  da;
  VecType             type;
  PetscScalar        *values;
  PetscBool           compare = PETSC_FALSE;
  Random              random;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(ShellacInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Interpolation example", nullptr);
  PetscCall(PetscOptionsInt("-n", "Number of points", nullptr, n, &n, nullptr));
  PetscCall(PetscOptionsBool("-compare", "Solve without a preconditioner too", nullptr, compare, &compare, nullptr));
  PetscCall(PetscOptionsReal("-ridge", "Added to the diagonal", nullptr, ridge, &ridge, nullptr));
  sigma = 2 / PetscSqrtReal((PetscReal)PetscMax(n, 1));
  PetscCall(PetscOptionsReal("-mat_kernelsum_sigma", "Length of the function", nullptr, sigma, &sigma, nullptr));
  PetscOptionsEnd();
  PetscCheck(n >= 1 && ridge >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT " and -ridge %g are not possible; use 1 or more, and 0 or more", n, (double)ridge);
  const char *const usual = "inverse_multiquadric";
  char              kernel[64] = "inverse_multiquadric";
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-mat_kernelsum_kernel", kernel, sizeof(kernel), nullptr));

  // the function as it is, and whether it has a length
  char      text[4096];
  PetscBool by_formula;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-mat_kernelsum_formula", text, sizeof(text), &by_formula));
  const std::string function = by_formula ? text : kernel;
  const bool        has_sigma = function.find(by_formula ? "sigma" : "multiquadric") != std::string::npos ||
                         function == "gaussian";
  char length[32] = "";
  if (has_sigma) PetscCall(PetscSNPrintf(length, sizeof(length), ", sigma %.4g", (double)sigma));

  PetscCall(PictureGetFile("rbf-" + (kernel == std::string(usual) ? "" : std::string(kernel) + "-") + std::to_string(n),
                           {"-mat_kernelsum_formula", "-mat_kernelsum_sigma", "-mat_kernelsum_wavenumber",
                            "-mat_kernelsum_precision", "-mat_kernelsum_self", "-mat_kernelsum_type",
                            "-mat_kernelsum_rtol", "-ridge"},
                           &file));

  for (PetscInt i = 0; i < 2 * n; i++) points.push_back(random.next());
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetBlockSize(x, 2));
  PetscCall(VecSetSizes(x, PETSC_DECIDE, 2 * n));
  PetscCall(VecSetFromOptions(x));
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(VecGetArrayWrite(x, &values));
  for (PetscInt i = first; i < last; i++) values[i - first] = points[i];
  PetscCall(VecRestoreArrayWrite(x, &values));

  const auto create = [&](Vec targets, Mat *M) -> PetscErrorCode {
    PetscFunctionBeginUser;
    PetscCall(MatCreate(PETSC_COMM_WORLD, M));
    PetscCall(MatSetType(*M, MATKERNELSUM));
    PetscCall(MatKernelSumSetPoints(*M, targets, x));
    PetscCall(MatKernelSumSetKernel(*M, usual));
    PetscCall(MatKernelSumSetSigma(*M, sigma));
    PetscCall(MatKernelSumSetMethod(*M, MAT_KERNELSUM_AUTO, 1e-10)); // direct sums of few points
    PetscCall(MatSetFromOptions(*M));
    PetscCall(MatSetUp(*M));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(create(x, &A));
  PetscCall(MatShift(A, ridge));
  PetscCall(MatCreateVecs(A, &c, &f));
  PetscCall(VecGetArrayWrite(f, &values));
  for (PetscInt i = first / 2; i < last / 2; i++) values[i - first / 2] = Franke(points[2 * i], points[2 * i + 1]);
  PetscCall(VecRestoreArrayWrite(f, &values));

  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " points, kernel %s%s, ridge %g\n%-14s %6s %10s %12s\n", n,
                        function.c_str(), length, (double)ridge, "preconditioner", "its", "s", "|f - Ac|/|f|"));
  PetscCall(Solve(A, PCKERNELSUM, false, f, c));
  if (compare) {
    Vec other;
    PetscCall(VecDuplicate(c, &other));
    PetscCall(Solve(A, PCNONE, true, f, other));
    PetscCall(VecDestroy(&other));
  }

  // the interpolant on a grid, another sum with the same sources
  const PetscInt  N = 201;
  const PetscReal h[2] = {(PetscReal)1 / (N - 1), (PetscReal)1 / (N - 1)}, corner[2] = {0, 0};
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, N, N, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, nullptr, nullptr, &da));
  PetscCall(VecGetType(x, &type)); // the grid's vectors are where the points' are
  PetscCall(DMSetVecType(da, type));
  PetscCall(DMSetUp(da));
  PetscCall(GridSetCoordinates(da, corner, h));
  PetscCall(DMGetCoordinates(da, &nodes));
  PetscCall(create(nodes, &E));
  PetscCall(MatSetVecType(E, type)); // coordinates of a DMDA are on the host
  PetscCall(MatCreateVecs(E, nullptr, &s));
  PetscCall(VecDuplicate(s, &reference));
  PetscCall(MatMult(E, c, s));
  PetscInt start[2], extent[2], at = 0;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], nullptr, &extent[0], &extent[1], nullptr));
  PetscCall(VecGetArrayWrite(reference, &values));
  for (PetscInt j = start[1]; j < start[1] + extent[1]; j++)
    for (PetscInt i = start[0]; i < start[0] + extent[0]; i++) values[at++] = Franke(i * h[0], j * h[1]);
  PetscCall(VecRestoreArrayWrite(reference, &values));
  PetscCall(VecNorm(reference, NORM_2, &size));
  PetscCall(VecAXPY(reference, -1, s));
  PetscCall(VecNorm(reference, NORM_2, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\nerror of the interpolant on %" PetscInt_FMT " x %" PetscInt_FMT " points: %.2g\n", N, N,
                        (double)(error / size)));
  picture::Panel panels[2];
  const PetscInt step = (n + most_drawn - 1) / most_drawn; // the points are random, in any order
  PetscCall(PetscObjectSetName((PetscObject)s, "s"));
  PetscCall(PictureSetField(da, s, corner, h, &panels[0]));
  PetscCall(PictureSetField(da, reference, corner, h, &panels[1]));
  for (picture::Panel &panel : panels) panel.x = panel.y = {0, 1};
  panels[0].contours = 10;
  panels[0].title = step > 1 ? "interpolant and some data points" : "interpolant and data points",
  panels[0].value_name = "s";
  panels[1].title = "error", panels[1].value_name = "f − s";
  panels[1].values = picture::inner_range(panels[1].field.values, 0.01); // the corners have the largest errors
  for (PetscInt i = 0; i < n; i += step) {
    panels[0].points.x.push_back(points[2 * i]);
    panels[0].points.y.push_back(points[2 * i + 1]);
  }
  PetscCall(PictureWrite(da, s, {panels[0], panels[1]}, 2, "Radial basis functions on " + std::to_string(n) + " points",
                         file));
  for (Vec *v : {&x, &f, &c, &s, &reference}) PetscCall(VecDestroy(v));
  for (Mat *M : {&A, &E}) PetscCall(MatDestroy(M));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
