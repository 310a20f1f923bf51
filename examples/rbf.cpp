/*
  Interpolates scattered data with radial basis functions: s(x) = Σ_j c_j φ(|x - x_j|) with s(x_i) = f_i at N random
  points of the unit square, φ(r) = 1/sqrt(r² + σ²). The matrix is a kernel sum, symmetric positive definite and never
  assembled; (A + λI) c = f is solved by conjugate gradients.

      mpiexec -n 2 ./rbf -n 4000

  Preconditioner: a sparse approximate inverse GᵀG of A + λI. Row i of the triangular G solves the interpolation
  problem on point i and those of its nearest neighbours that come before it, so that each row costs one small dense
  solve and GᵀG is positive definite, whatever the points (L. Kolotilina and A. Yeremin, Factorized sparse approximate
  inverse preconditionings, 1993; for such functions F. Schäfer, M. Katzfuss and H. Owhadi, Sparse Cholesky
  factorization by Kullback-Leibler minimization, 2021).

  Test function: R. Franke, Scattered data interpolation, 1982.
*/

#include "picture.hpp"

#include <petscksp.h>
#include <petsctime.h>
#include <shellac.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

static const char help[] = "Interpolates scattered data with radial basis functions and conjugate gradients.\n"
                           "  -n 2000           number of points\n"
                           "  -neighbours 20    points that a row of the preconditioner looks at\n"
                           "  -ridge 1e-8       λ, added to the diagonal\n"
                           "  -mat_kernelsum_sigma <2/sqrt(n)>   σ [length]; other -mat_kernelsum options hold too\n"
                           "  -picture rbf.pdf  .png, .svg, .pdf; .vts, .vtr (the interpolant, for ParaView); none\n\n";

static double Franke(double x, double y) {
  return 0.75 * std::exp(-(std::pow(9 * x - 2, 2) + std::pow(9 * y - 2, 2)) / 4) +
         0.75 * std::exp(-std::pow(9 * x + 1, 2) / 49 - (9 * y + 1) / 10) +
         0.5 * std::exp(-(std::pow(9 * x - 7, 2) + std::pow(9 * y - 3, 2)) / 4) -
         0.2 * std::exp(-std::pow(9 * x - 4, 2) - std::pow(9 * y - 7, 2));
}

// The sparse factor G of the approximate inverse, rows distributed like `layout`. x: coordinates of all points.
static PetscErrorCode CreateFactor(const std::vector<double> &x, PetscReal sigma, PetscReal ridge, PetscInt neighbours,
                                   Vec layout, Mat *G) {
  PetscInt  first, last, N;
  VecType   type;
  PetscBool cuda;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(layout, &first, &last));
  PetscCall(VecGetSize(layout, &N));
  PetscCall(VecGetType(layout, &type));
  PetscCall(PetscStrendswith(type, "cuda", &cuda));
  PetscCall(MatCreate(PETSC_COMM_WORLD, G));
  PetscCall(MatSetSizes(*G, last - first, last - first, N, N));
  PetscCall(MatSetType(*G, cuda ? MATAIJCUSPARSE : MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*G, neighbours + 1, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*G, neighbours + 1, nullptr, neighbours + 1, nullptr));
  const auto phi = [&](PetscInt i, PetscInt j) {
    return 1 / std::sqrt(std::pow(x[2 * i] - x[2 * j], 2) + std::pow(x[2 * i + 1] - x[2 * j + 1], 2) + sigma * sigma);
  };
  for (PetscInt i = first; i < last; i++) {
    std::vector<std::pair<double, PetscInt>> before; // by distance: φ decays with it
    for (PetscInt j = 0; j < i; j++) before.push_back({-phi(i, j), j});
    const PetscInt near = PetscMin(neighbours, i);
    std::partial_sort(before.begin(), before.begin() + near, before.end());
    std::vector<PetscInt> columns;
    for (PetscInt k = 0; k < near; k++) columns.push_back(before[k].second);
    columns.push_back(i);
    // φ on these points is L Lᵀ: the last row of L's inverse is that of G
    const PetscInt           m = near + 1;
    std::vector<double>      L((size_t)m * m, 0), last_row(m, 0);
    std::vector<PetscScalar> row(m);
    for (PetscInt a = 0; a < m; a++)
      for (PetscInt b = 0; b <= a; b++) {
        double entry = phi(columns[a], columns[b]) + (a == b ? ridge : 0);
        for (PetscInt k = 0; k < b; k++) entry -= L[a * m + k] * L[b * m + k];
        PetscCheck(b < a || entry > 0, PETSC_COMM_SELF, PETSC_ERR_MAT_CH_ZRPVT,
                   "the points about point %" PetscInt_FMT
                   " are too close for sigma %g: take a smaller one, or a larger -ridge",
                   i, (double)sigma);
        L[a * m + b] = a == b ? std::sqrt(entry) : entry / L[b * m + b];
      }
    for (PetscInt a = m - 1; a >= 0; a--) { // Lᵀ row = the last unit vector
      last_row[a] = a == m - 1;
      for (PetscInt k = a + 1; k < m; k++) last_row[a] -= L[k * m + a] * last_row[k];
      last_row[a] /= L[a * m + a];
      row[a] = (PetscReal)last_row[a];
    }
    PetscCall(MatSetValues(*G, 1, &i, m, columns.data(), row.data(), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*G, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*G, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// By conjugate gradients, with P for the inverse where it is given, or what -pc_type says.
static PetscErrorCode Solve(Mat A, Mat P, Vec f, Vec c) {
  KSP                ksp;
  PC                 pc;
  PetscInt           iterations;
  PetscReal          norm, residual;
  KSPConvergedReason reason;
  PetscLogDouble     begin, end;
  PCType             type;
  PetscBool          inverse;
  Vec                r;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, P ? P : A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, P ? PCMAT : PCNONE)); // P approximates the inverse itself
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PCGetType(pc, &type));
  PetscCall(PetscStrcmp(type, PCMAT, &inverse));
  PetscCall(VecSet(c, 0));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSolve(ksp, f, c));
  PetscCall(VecDuplicate(f, &r));
  PetscCall(MatMult(A, c, r));
  PetscCall(VecAYPX(r, -1, f));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(f, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-34s %6" PetscInt_FMT " %10.3g %12.2g   %s\n",
                        inverse ? "sparse approximate inverse" : type, iterations, end - begin,
                        (double)(residual / norm), KSPConvergedReasons[reason]));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt            n = 2000, neighbours = 20, first, last;
  PetscReal           ridge = 1e-8, sigma, error, size;
  std::string         file;
  std::vector<double> points;
  Vec                 x, f, c, s, reference, nodes;
  Mat                 A, G, P, E;
  DM                  da;
  VecType             type;
  PetscScalar        *values;
  unsigned long long  state = 1; // of a linear congruential generator (D. Knuth, MMIX)

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(ShellacInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Interpolation example", nullptr);
  PetscCall(PetscOptionsInt("-n", "Number of points", nullptr, n, &n, nullptr));
  PetscCall(PetscOptionsInt("-neighbours", "Points of a row of the preconditioner", nullptr, neighbours, &neighbours,
                            nullptr));
  PetscCall(PetscOptionsReal("-ridge", "Added to the diagonal", nullptr, ridge, &ridge, nullptr));
  sigma = 2 / PetscSqrtReal((PetscReal)PetscMax(n, 1));
  PetscCall(PetscOptionsReal("-mat_kernelsum_sigma", "Length of the function", nullptr, sigma, &sigma, nullptr));
  PetscOptionsEnd();
  PetscCheck(n >= 1 && neighbours >= 0 && ridge >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT ", -neighbours %" PetscInt_FMT
             " and -ridge %g are not possible; use 1 or more, 0 or more, 0 or more",
             n, neighbours, (double)ridge);
  char      kernel[64] = "inverse_multiquadric";
  PetscBool same;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-mat_kernelsum_kernel", kernel, sizeof(kernel), nullptr));
  PetscCall(PetscStrcmp(kernel, "inverse_multiquadric", &same));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_kernelsum_kernel %s: the preconditioner of this example is that of inverse_multiquadric; leave the "
             "option out",
             kernel);

  PetscCall(PictureGetFile("rbf-" + std::to_string(n) + ".png", &file));

  for (PetscInt i = 0; i < 2 * n; i++) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    points.push_back((double)(state >> 11) / (double)(1ull << 53));
  }
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
    PetscCall(MatKernelSumSetKernel(*M, "inverse_multiquadric"));
    PetscCall(MatKernelSumSetSigma(*M, sigma));
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
                        "%" PetscInt_FMT " points, phi(r) = 1/sqrt(r^2 + %.4g^2), ridge %g\n%-34s %6s %10s %12s\n", n,
                        (double)sigma, (double)ridge, "preconditioner", "its", "s", "|f - Ac|/|f|"));
  PetscCall(Solve(A, nullptr, f, c));
  PetscCall(CreateFactor(points, sigma, ridge, neighbours, f, &G));
#if defined(PETSC_USE_COMPLEX)
  PetscCall(MatCreateNormalHermitian(G, &P));
#else
  PetscCall(MatCreateNormal(G, &P));
#endif
  PetscCall(Solve(A, P, f, c));

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
  PetscCall(PetscObjectSetName((PetscObject)s, "s"));
  PetscCall(PictureSetField(da, s, corner, h, &panels[0]));
  PetscCall(PictureSetField(da, reference, corner, h, &panels[1]));
  for (picture::Panel &panel : panels) panel.x = panel.y = {0, 1};
  panels[0].title = "interpolant and data points", panels[0].value_name = "s";
  panels[1].title = "error", panels[1].value_name = "f − s";
  panels[1].values = picture::inner_range(panels[1].field.values, 0.01); // the corners have the largest errors
  for (PetscInt i = 0; i < n; i++) {
    panels[0].points.x.push_back(points[2 * i]);
    panels[0].points.y.push_back(points[2 * i + 1]);
  }
  PetscCall(PictureWrite(da, s, {panels[0], panels[1]}, 2, "Radial basis functions on " + std::to_string(n) + " points",
                         file));
  for (Vec *v : {&x, &f, &c, &s, &reference}) PetscCall(VecDestroy(v));
  for (Mat *M : {&A, &G, &P, &E}) PetscCall(MatDestroy(M));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
