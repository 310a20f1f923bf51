/*
  A Gaussian process: from noisy samples y_i = u(x_i) + ε_i of a function at N random points of the unit square, its
  mean, its variance and how likely the data are. With K_ij = s² exp(-|x_i - x_j|²/(2 ℓ²)) and A = K + noise² I,

      mean       m(x) = k(x)ᵀ A⁻¹ y,             k(x)_i = s² exp(-|x - x_i|²/(2 ℓ²))
      variance   v(x) = s² - k(x)ᵀ A⁻¹ k(x)
      log p(y) = -(yᵀ A⁻¹ y + log det A + N log 2π)/2

  A is a kernel sum and never assembled. CG solves with the preconditioner kernelsum; log det A = tr log A is estimated
  by stochastic Lanczos quadrature: random vectors z of ±1, zᵀ log(A) z by a few steps of Lanczos' method.

      mpiexec -n 2 ./gaussian_process -n 4000
      mpiexec -n 2 ./gaussian_process -n 300 -dense

  Sources: C. Rasmussen, C. Williams, Gaussian Processes for Machine Learning, 2006, eqs. 2.25, 2.26, 2.30; S. Ubaru,
  J. Chen, Y. Saad, Fast estimation of tr(f(A)) via stochastic Lanczos quadrature, 2017. The function u: R. Franke, 1982.
*/

#include "picture.hpp"
#include "scattered.hpp"

#include <petscblaslapack.h>
#include <petscksp.h>
#include <petsctime.h>
#include <shellac.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

static const char help[] =
    "Gaussian process regression: mean, variance and likelihood.\n"
    "  -n 2000           number of samples\n"
    "  -noise 0.05       standard deviation of their errors\n"
    "  -length 0.15      l, and -amplitude 0.5: s, of the process\n"
    "  -probes 16        random vectors of the log-determinant\n"
    "  -steps 60         of Lanczos' method for each\n"
    "  -places 33        points along the diagonal of the square whose variance is computed, a solve each\n"
    "  -dense            compares with dense algebra\n"
    "  -picture u.pdf    .png, .svg, .pdf; .vts, .vtr (the mean, for ParaView); none\n\n";

constexpr PetscInt most_drawn = 3000; // samples: more hide the mean

// The entries of a vector that is distributed, from all of them.
static PetscErrorCode Fill(Vec v, const std::function<double(PetscInt)> &value) {
  PetscInt     first, last;
  PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayWrite(v, &array));
  for (PetscInt i = first; i < last; i++) array[i - first] = value(i);
  PetscCall(VecRestoreArrayWrite(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// zᵀ log(A) z / zᵀz by `steps` of Lanczos' method: the first row of the eigenvectors of the tridiagonal matrix squared, as
// weights of the logarithms of its eigenvalues.
static PetscErrorCode LanczosLog(Mat A, Vec z, PetscInt steps, double *value) {
  Vec                     *v;
  std::vector<PetscReal>   alpha, beta;
  std::vector<PetscScalar> vectors, dots(steps);
  PetscReal                norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicateVecs(z, steps + 1, &v));
  PetscCall(VecCopy(z, v[0]));
  PetscCall(VecNormalize(v[0], NULL));
  for (PetscInt k = 0; k < steps; k++) {
    PetscCall(MatMult(A, v[k], v[k + 1]));
    for (int pass = 0; pass < 2; pass++) { // twice is enough: orthogonal to rounding
      PetscCall(VecMDot(v[k + 1], k + 1, v, dots.data()));
      if (pass == 0) alpha.push_back(PetscRealPart(dots[k]));
      for (PetscInt i = 0; i <= k; i++) dots[i] = -dots[i];
      PetscCall(VecMAXPY(v[k + 1], k + 1, dots.data(), v));
    }
    PetscCall(VecNormalize(v[k + 1], &norm));
    if (norm <= 1e-12 * std::fabs(alpha[0]) || k + 1 == steps) break;
    beta.push_back(norm);
  }
  PetscCall(VecDestroyVecs(steps + 1, &v));
  PetscBLASInt           n = (PetscBLASInt)alpha.size(), info;
  std::vector<PetscReal> work((size_t)2 * n);
  beta.push_back(0);
  vectors.resize((size_t)n * n);
  PetscCallBLAS("LAPACKsteqr",
                LAPACKsteqr_("I", &n, alpha.data(), beta.data(), vectors.data(), &n, work.data(), &info));
  PetscCheck(!info && alpha[0] > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_LIB,
             "no logarithm of an eigenvalue of %g (LAPACK's steqr: %d); take a larger -noise", (double)alpha[0],
             (int)info);
  *value = 0;
  for (PetscBLASInt k = 0; k < n; k++) {
    const double first = PetscRealPart(vectors[(size_t)k * n]);
    *value += first * first * std::log((double)alpha[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// log det A and its standard error.
static PetscErrorCode LogDeterminant(Mat A, PetscInt probes, PetscInt steps, Random *random, double *mean,
                                     double *error) {
  Vec      z;
  PetscInt N;
  double   sum = 0, squares = 0;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &z, NULL));
  PetscCall(VecGetSize(z, &N));
  for (PetscInt p = 0; p < probes; p++) {
    std::vector<double> signs(N);
    for (double &s : signs) s = random->next() < 0.5 ? -1 : 1;
    double value = 0;
    PetscCall(Fill(z, [&](PetscInt i) { return signs[i]; }));
    PetscCall(LanczosLog(A, z, PetscMin(steps, N), &value));
    sum += N * value;
    squares += N * value * N * value;
  }
  *mean = sum / probes;
  *error = probes > 1 ? std::sqrt(std::fmax(0, squares / probes - *mean * *mean) / (probes - 1)) : INFINITY;
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The process on the data x, and sums from the data to other points.
struct Process {
  Vec       x;
  PetscReal length, amplitude;

  PetscErrorCode Sum(Vec targets, Mat *M) const { // s² exp(-|target - x|²/(2 ℓ²))
    PetscFunctionBeginUser;
    PetscCall(MatCreate(PETSC_COMM_WORLD, M));
    PetscCall(MatSetType(*M, MATKERNELSUM));
    PetscCall(MatKernelSumSetPoints(*M, targets, x));
    PetscCall(MatKernelSumSetSigma(*M, length));
    PetscCall(MatKernelSumSetMethod(*M, MAT_KERNELSUM_AUTO, 1e-10)); // direct sums of few points
    PetscCall(MatSetFromOptions(*M));
    PetscCall(MatSetUp(*M));
    PetscCall(MatScale(*M, amplitude * amplitude));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

static PetscErrorCode CreatePoints(PetscInt n, const std::function<double(PetscInt)> &coordinate, Vec *x) {
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, x));
  PetscCall(VecSetBlockSize(*x, 2));
  PetscCall(VecSetSizes(*x, PETSC_DECIDE, 2 * n));
  PetscCall(VecSetFromOptions(*x));
  PetscCall(Fill(*x, coordinate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// All values of a distributed vector on every rank.
static PetscErrorCode Gather(Vec v, std::vector<double> *values) {
  Vec                all;
  VecScatter         scatter;
  const PetscScalar *array;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToAll(v, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(VecGetArrayRead(all, &array));
  for (PetscInt i = 0; i < n; i++) values->push_back((double)PetscRealPart(array[i]));
  PetscCall(VecRestoreArrayRead(all, &array));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// s² - k(x)ᵀ A⁻¹ k(x) at each place.
static PetscErrorCode Variances(KSP ksp, Mat to_places, PetscReal amplitude, std::vector<double> *variances) {
  Vec      unit, k, solution;
  PetscInt places;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(to_places, &k, &unit));
  PetscCall(VecDuplicate(k, &solution));
  PetscCall(VecGetSize(unit, &places));
  for (PetscInt p = 0; p < places; p++) {
    PetscScalar dot;
    PetscCall(Fill(unit, [&](PetscInt i) { return i == p ? 1. : 0.; }));
    PetscCall(MatMultTranspose(to_places, unit, k));
    PetscCall(KSPSolve(ksp, k, solution));
    PetscCall(VecDot(k, solution, &dot));
    variances->push_back((double)(amplitude * amplitude - PetscRealPart(dot)));
  }
  for (Vec *v : {&unit, &k, &solution}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// How far coefficients, log det A and variances are from those by Cholesky's factor of the dense matrix, which every rank
// computes.
static PetscErrorCode CompareWithDense(Mat A, Mat to_places, PetscReal amplitude, Vec y, Vec c, double log_det,
                                       double error, const std::vector<double> &variances) {
  Mat                 dense, rows;
  std::vector<double> k, rhs, given;
  PetscInt            N;
  double              exact = 0, off[2] = {0, 0}, size[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &N, NULL));
  std::vector<PetscScalar> factor((size_t)N * N), b(N);
  PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  PetscCall(MatConvert(to_places, MATDENSE, MAT_INITIAL_MATRIX, &rows));
  const auto gather = [&](Mat M, std::vector<double> *all) -> PetscErrorCode { // column by column
    Vec      v;
    PetscInt columns;
    PetscFunctionBeginUser;
    PetscCall(MatGetSize(M, NULL, &columns));
    PetscCall(MatCreateVecs(M, NULL, &v));
    for (PetscInt j = 0; j < columns; j++) {
      PetscCall(MatGetColumnVector(M, v, j));
      PetscCall(Gather(v, all));
    }
    PetscCall(VecDestroy(&v));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  std::vector<double> a;
  PetscCall(gather(dense, &a));
  PetscCall(gather(rows, &k)); // places fastest
  PetscCall(Gather(y, &rhs));
  PetscCall(Gather(c, &given));
  for (size_t i = 0; i < a.size(); i++) factor[i] = a[i];
  PetscBLASInt n = (PetscBLASInt)N, one = 1, info;
  PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("L", &n, factor.data(), &n, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's potrf returned %d; take a larger -noise", (int)info);
  for (PetscInt i = 0; i < N; i++) exact += 2 * std::log((double)PetscRealPart(factor[(size_t)i * N + i]));
  const PetscInt places = (PetscInt)variances.size();
  for (PetscInt p = -1; p < places; p++) {
    for (PetscInt i = 0; i < N; i++) b[i] = p < 0 ? rhs[i] : k[(size_t)i * places + p];
    PetscCallBLAS("LAPACKpotrs", LAPACKpotrs_("L", &n, &one, factor.data(), &n, b.data(), &n, &info));
    double variance = amplitude * amplitude;
    for (PetscInt i = 0; i < N; i++) {
      if (p >= 0)
        variance -= k[(size_t)i * places + p] * PetscRealPart(b[i]);
      else
        off[0] += std::pow(PetscRealPart(b[i]) - given[i], 2), size[0] += std::pow(PetscRealPart(b[i]), 2);
    }
    if (p >= 0) off[1] += std::pow(variance - variances[p], 2), size[1] += variance * variance;
  }
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "beside dense algebra: coefficients %.1e, variances %.1e, log det A = %.6g, %.1f standard errors off\n",
      std::sqrt(off[0] / size[0]), std::sqrt(off[1] / size[1]), exact, std::fabs(log_det - exact) / error));
  PetscCall(MatDestroy(&dense));
  PetscCall(MatDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt            n = 2000, probes = 16, steps = 60, places = 33, its;
  PetscReal           noise = 0.05, length = 0.15, amplitude = 0.5;
  PetscBool           compare = PETSC_FALSE;
  std::string         file;
  std::vector<double> points, samples, means, variances;
  Vec                 x, y, c, line, m, nodes, s, truth;
  Mat                 A, E, L;
  KSP                 ksp;
  PC                  pc;
  DM                  da;
  KSPConvergedReason  reason;
  PetscLogDouble      begin, solved, counted, end;
  Random              random;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(ShellacInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Gaussian process example", nullptr);
  PetscCall(PetscOptionsInt("-n", "Number of samples", nullptr, n, &n, nullptr));
  PetscCall(PetscOptionsReal("-noise", "Standard deviation of the samples", nullptr, noise, &noise, nullptr));
  PetscCall(PetscOptionsReal("-length", "Length of the process", nullptr, length, &length, nullptr));
  PetscCall(PetscOptionsReal("-amplitude", "Amplitude of the process", nullptr, amplitude, &amplitude, nullptr));
  PetscCall(PetscOptionsInt("-probes", "Random vectors", nullptr, probes, &probes, nullptr));
  PetscCall(PetscOptionsInt("-steps", "Steps of Lanczos' method", nullptr, steps, &steps, nullptr));
  PetscCall(PetscOptionsInt("-places", "Points with variances", nullptr, places, &places, nullptr));
  PetscCall(PetscOptionsBool("-dense", "Compare with dense algebra", nullptr, compare, &compare, nullptr));
  PetscOptionsEnd();
  PetscCheck(n >= 1 && noise > 0 && length > 0 && amplitude > 0 && probes >= 1 && steps >= 1 && places >= 2,
             PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT ", -noise %g, -length %g, -amplitude %g, -probes %" PetscInt_FMT
             ", -steps %" PetscInt_FMT ", -places %" PetscInt_FMT
             " are not possible; all are positive, places 2 or more",
             n, (double)noise, (double)length, (double)amplitude, probes, steps, places);
  PetscCall(PictureGetFile("gaussian_process-" + std::to_string(n),
                           {"-noise", "-length", "-amplitude", "-places", "-mat_kernelsum_kernel",
                            "-mat_kernelsum_formula", "-mat_kernelsum_sigma", "-mat_kernelsum_wavenumber"},
                           &file));

  for (PetscInt i = 0; i < 2 * n; i++) points.push_back(random.next());
  for (PetscInt i = 0; i < n; i++)
    samples.push_back(Franke(points[2 * i], points[2 * i + 1]) + noise * random.normal());
  PetscCall(CreatePoints(
      n, [&](PetscInt i) { return points[i]; }, &x));
  const Process process = {x, length, amplitude};

  // coefficients A⁻¹ y
  PetscCall(PetscTime(&begin));
  PetscCall(process.Sum(x, &A));
  PetscCall(MatShift(A, noise * noise));
  PetscCall(MatCreateVecs(A, &c, &y));
  PetscCall(Fill(y, [&](PetscInt i) { return samples[i]; }));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED)); // the norm that is tested is the residual's own
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCKERNELSUM));
  PetscCall(PCKernelSumSetVariant(pc, PC_KERNELSUM_SYMMETRIC));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, y, c));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscTime(&solved));

  // how likely the data are
  double      log_det = 0, error = 0;
  PetscScalar fit;
  PetscCall(LogDeterminant(A, probes, steps, &random, &log_det, &error));
  PetscCall(VecDot(y, c, &fit));
  PetscCall(PetscTime(&counted));

  // mean and variance along the diagonal
  const auto along = [&](PetscInt p) { return (double)p / (double)(places - 1); };
  PetscCall(CreatePoints(
      places, [&](PetscInt i) { return along(i / 2); }, &line));
  PetscCall(process.Sum(line, &L));
  PetscCall(MatCreateVecs(L, nullptr, &m));
  PetscCall(MatMult(L, c, m));
  PetscCall(Gather(m, &means));
  PetscCall(Variances(ksp, L, amplitude, &variances));
  PetscCall(PetscTime(&end));

  const double likelihood = -0.5 * ((double)PetscRealPart(fit) + log_det + (double)n * std::log(2 * std::acos(-1.)));
  PetscInt     inside = 0;
  for (PetscInt p = 0; p < places; p++)
    inside += std::fabs(means[p] - Franke(along(p), along(p))) <= 2 * std::sqrt(std::fmax(0, variances[p]));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD,
                  "%" PetscInt_FMT " samples, noise %g, length %g, amplitude %g\n"
                  "solve            %8.3g s, %" PetscInt_FMT " iterations, %s\n"
                  "log det A        %8.3g s, %.6g ± %.2g by %" PetscInt_FMT " vectors and %" PetscInt_FMT " steps\n"
                  "log p(y)                   %.6g\n"
                  "variances        %8.3g s, %" PetscInt_FMT " places; u is within 2 standard deviations at %.0f %%\n",
                  n, (double)noise, (double)length, (double)amplitude, solved - begin, its, KSPConvergedReasons[reason],
                  counted - solved, log_det, error, probes, PetscMin(steps, n), likelihood, end - counted, places,
                  100. * (double)inside / (double)places));
  if (compare) PetscCall(CompareWithDense(A, L, amplitude, y, c, log_det, error, variances));

  // the mean on a grid
  const PetscInt  N = 101;
  const PetscReal h[2] = {(PetscReal)1 / (N - 1), (PetscReal)1 / (N - 1)}, corner[2] = {0, 0};
  PetscReal       off, size;
  VecType         type;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, N, N, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, nullptr, nullptr, &da));
  PetscCall(VecGetType(x, &type)); // the grid's vectors are where the points' are
  PetscCall(DMSetVecType(da, type));
  PetscCall(DMSetUp(da));
  PetscCall(GridSetCoordinates(da, corner, h));
  PetscCall(DMGetCoordinates(da, &nodes));
  PetscCall(process.Sum(nodes, &E));
  PetscCall(MatSetVecType(E, type));
  PetscCall(MatCreateVecs(E, nullptr, &s));
  PetscCall(MatMult(E, c, s));
  PetscCall(VecDuplicate(s, &truth));
  PetscInt     start[2], extent[2], at = 0;
  PetscScalar *values;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], nullptr, &extent[0], &extent[1], nullptr));
  PetscCall(VecGetArrayWrite(truth, &values));
  for (PetscInt j = start[1]; j < start[1] + extent[1]; j++)
    for (PetscInt i = start[0]; i < start[0] + extent[0]; i++) values[at++] = Franke(i * h[0], j * h[1]);
  PetscCall(VecRestoreArrayWrite(truth, &values));
  PetscCall(VecNorm(truth, NORM_2, &size));
  PetscCall(VecAXPY(truth, -1, s));
  PetscCall(VecNorm(truth, NORM_2, &off));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error of the mean on %" PetscInt_FMT " x %" PetscInt_FMT " points: %.2g\n",
                        N, N, (double)(off / size)));

  picture::Panel panels[2];
  PetscCall(PetscObjectSetName((PetscObject)s, "mean"));
  PetscCall(PictureSetField(da, s, corner, h, &panels[0]));
  const PetscInt step = (n + most_drawn - 1) / most_drawn; // samples are in no order
  panels[0].title = step > 1 ? "mean and some samples" : "mean and samples", panels[0].value_name = "m";
  panels[0].x = panels[0].y = {0, 1};
  for (PetscInt i = 0; i < n; i += step)
    panels[0].points.x.push_back(points[2 * i]), panels[0].points.y.push_back(points[2 * i + 1]);
  panels[1].title = "along the diagonal", panels[1].x_name = "x = y", panels[1].y_name = "u";
  picture::Curve truth_along{"u", {}, {}}, mean_along{"mean", {}, {}};
  picture::Band &band = panels[1].band;
  band.name = "± 2 standard deviations";
  for (PetscInt p = 0; p < places; p++) {
    const double deviation = 2 * std::sqrt(std::fmax(0, variances[p]));
    for (std::vector<double> *at : {&truth_along.x, &mean_along.x, &band.x}) at->push_back(along(p));
    truth_along.y.push_back(Franke(along(p), along(p)));
    mean_along.y.push_back(means[p]);
    band.low.push_back(means[p] - deviation), band.high.push_back(means[p] + deviation);
  }
  panels[1].curves = {truth_along, mean_along};
  PetscCall(
      PictureWrite(da, s, {panels[0], panels[1]}, 2, "A Gaussian process on " + std::to_string(n) + " samples", file));
  for (Vec *v : {&x, &y, &c, &line, &m, &s, &truth}) PetscCall(VecDestroy(v));
  for (Mat *M : {&A, &E, &L}) PetscCall(MatDestroy(M));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
