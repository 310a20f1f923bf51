/*
  f(x_i) = Σ_j g(x_i, y_j) c_j: 50 random sources in the unit cube, targets on its sides z = 0, y = 0 and x = 0 of
  400 × 400 points each, with the potential 1/(4πr), the acoustic Green's function e^{ikr}/(4πr) and the Gaussian
  e^{-r²/(2σ²)}.

      mpiexec -n 2 ./kernel_sum -mat_kernelsum_kernel helmholtz

  Times each sum beside a plain double loop, compares with that loop in long double, and draws the three sides.

  Source: T. Betcke, GPU accelerated evaluation of particle sums, 2020.
*/

#include "picture.hpp"

#include <petscksp.h>
#include <petsctime.h>
#include <shellac.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

static const char help[] =
    "Sums kernel functions over random particles, on three sides of the unit cube, and draws the sums.\n"
    "  -sources 50                    number of sources\n"
    "  -points 400                    targets along each axis of a side\n"
    "  -sigma 0.1                     σ of the Gaussian [length]\n"
    "  -wavenumber 40                 k of the acoustic function [1/length]\n"
    "  -mat_kernelsum_kernel, -mat_kernelsum_precision   one of them only; others are for all, but a formula is an error\n"
    "  -picture waves.pdf             .png, .svg, .pdf; .vts, .vtr (a file for each side, for ParaView); none\n"
    "  -vec_type cuda                 runs on the GPU\n\n";

static const char *const side_names[3] = {"z = 0", "y = 0", "x = 0"}, *const file_names[3] = {"z0", "y0", "x0"};

struct Problem {
  PetscInt            n = 400, sources = 50;        // targets along each axis of a side, sources
  PetscReal           sigma = 0.1, wavenumber = 40; // [length], [1/length]
  std::vector<double> y, c;                         // coordinates y[3 j + axis] and weights of all sources
  Vec                 positions;                    // coordinates of the sources
  DM                  sides[3];                     // grids of targets
  std::vector<double> x[3];                         // coordinates of this rank's targets
  PetscReal           origin[3] = {0, 0, 0}, h[3];  // the first target, and the spacing
};

static PetscErrorCode CreateProblem(Problem *p) {
  unsigned long long state = 1; // of a linear congruential generator (D. Knuth, MMIX)
  PetscInt           first, last;
  PetscScalar       *values;
  VecType            type;

  PetscFunctionBeginUser;
  const auto random = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / (double)(1ull << 53);
  };
  for (PetscInt j = 0; j < 3 * p->sources; j++) p->y.push_back(random());
  for (PetscInt j = 0; j < p->sources; j++) p->c.push_back(random());
  PetscCall(VecCreate(PETSC_COMM_WORLD, &p->positions));
  PetscCall(VecSetBlockSize(p->positions, 3));
  PetscCall(VecSetSizes(p->positions, PETSC_DECIDE, 3 * p->sources));
  PetscCall(VecSetFromOptions(p->positions));
  PetscCall(VecGetType(p->positions, &type));
  PetscCall(VecGetOwnershipRange(p->positions, &first, &last));
  PetscCall(VecGetArrayWrite(p->positions, &values));
  for (PetscInt i = first; i < last; i++) values[i - first] = p->y[i];
  PetscCall(VecRestoreArrayWrite(p->positions, &values));

  for (PetscReal &h : p->h) h = (PetscReal)1 / PetscMax(p->n - 1, 1);
  for (int side = 0; side < 3; side++) {
    const PetscInt     N[3] = {side == 2 ? 1 : p->n, side == 1 ? 1 : p->n, side == 0 ? 1 : p->n};
    const PetscScalar *coordinates;
    Vec                targets;
    PetscInt           size;
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                           N[0], N[1], N[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 0, nullptr, nullptr, nullptr,
                           &p->sides[side]));
    PetscCall(DMSetVecType(p->sides[side], type));
    PetscCall(DMSetUp(p->sides[side]));
    PetscCall(GridSetCoordinates(p->sides[side], p->origin, p->h));
    PetscCall(DMGetCoordinates(p->sides[side], &targets));
    PetscCall(VecGetLocalSize(targets, &size));
    PetscCall(VecGetArrayRead(targets, &coordinates));
    for (PetscInt i = 0; i < size; i++) p->x[side].push_back(PetscRealPart(coordinates[i]));
    PetscCall(VecRestoreArrayRead(targets, &coordinates));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One sum: an operator for each side, the weights, the results.
struct Sum {
  Mat      A[3] = {nullptr, nullptr, nullptr};
  Vec      c = nullptr, f[3] = {nullptr, nullptr, nullptr};
  PetscInt parts = 1; // 2 for complex values in a real PETSc: (re, im)
};

static PetscErrorCode SumCreate(const Problem &p, const char *kernel, MatKernelSumPrecision precision, Sum *sum) {
  PetscInt     first, last;
  PetscScalar *weights;
  VecType      type;
  Vec          targets;

  PetscFunctionBeginUser;
  PetscCall(VecGetType(p.positions, &type));
  for (int side = 0; side < 3; side++) {
    Mat &A = sum->A[side]; // destroyed by SumDestroy(), also if it cannot be set up
    PetscCall(DMGetCoordinates(p.sides[side], &targets));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetType(A, MATKERNELSUM));
    PetscCall(MatKernelSumSetPoints(A, targets, p.positions));
    PetscCall(MatKernelSumSetKernel(A, kernel));
    if (kernel[0] == 'g') PetscCall(MatKernelSumSetSigma(A, p.sigma));
    if (kernel[0] == 'h') PetscCall(MatKernelSumSetWavenumber(A, p.wavenumber));
    PetscCall(MatKernelSumSetPrecision(A, precision));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatSetVecType(A, type)); // coordinates of a DMDA are on the host
    PetscCall(MatSetUp(A));
    PetscCall(MatCreateVecs(A, side ? nullptr : &sum->c, &sum->f[side]));
  }
  PetscCall(VecGetBlockSize(sum->c, &sum->parts));
  PetscCall(VecGetOwnershipRange(sum->c, &first, &last));
  PetscCall(VecGetArrayWrite(sum->c, &weights));
  for (PetscInt i = first; i < last; i++) weights[i - first] = i % sum->parts ? 0 : p.c[i / sum->parts];
  PetscCall(VecRestoreArrayWrite(sum->c, &weights));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumDestroy(Sum *sum) {
  PetscFunctionBeginUser;
  for (Mat &A : sum->A) PetscCall(MatDestroy(&A));
  for (Vec &f : sum->f) PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&sum->c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// As SumCreate(), but without a message where no fast sum keeps -mat_kernelsum_rtol in this precision: *missed.
static PetscErrorCode SumTryToCreate(const Problem &p, const char *kernel, MatKernelSumPrecision precision, Sum *sum,
                                     PetscBool *missed) {
  char      type[16] = "";
  PetscBool fast;

  PetscFunctionBeginUser;
  *missed = PETSC_FALSE;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-mat_kernelsum_type", type, sizeof(type), nullptr));
  PetscCall(PetscStrcmp(type, "fast", &fast));
  if (fast) {
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
    const PetscErrorCode code = SumCreate(p, kernel, precision, sum);
    PetscCall(PetscPopErrorHandler());
    if (!code) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(SumDestroy(sum));
    *missed = code == PETSC_ERR_NOT_CONVERGED ? PETSC_TRUE : PETSC_FALSE;
    if (*missed) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SumCreate(p, kernel, precision, sum)); // another error, with its message
  PetscFunctionReturn(PETSC_SUCCESS);
}


// Seconds of one evaluation on the slowest rank; the norms wait for a GPU.
static PetscErrorCode SumTime(const Sum &sum, PetscLogDouble *seconds) {
  const int      repeats = 10;
  PetscLogDouble begin = 0, end;
  PetscReal      norm;

  PetscFunctionBeginUser;
  for (int r = 0; r <= repeats; r++) { // the first one allocates
    for (int side = 0; side < 3; side++) PetscCall(MatMult(sum.A[side], sum.c, sum.f[side]));
    if (r > 0 && r < repeats) continue;
    for (Vec f : sum.f) PetscCall(VecNorm(f, NORM_1, &norm));
    if (r == 0) PetscCall(PetscTime(&begin));
  }
  PetscCall(PetscTime(&end));
  *seconds = (end - begin) / repeats;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The largest error, divided by the largest value.
static PetscErrorCode SumError(const Sum &sum, const std::vector<std::complex<long double>> exact[3], double *error) {
  double off[2] = {0, 0};

  PetscFunctionBeginUser;
  for (int side = 0; side < 3; side++) {
    const PetscScalar *f;
    PetscCall(VecGetArrayRead(sum.f[side], &f));
    for (size_t i = 0; i < exact[side].size(); i++) {
      const std::complex<long double> value =
          sum.parts == 2 ? std::complex<long double>(PetscRealPart(f[2 * i]), PetscRealPart(f[2 * i + 1]))
                         : std::complex<long double>(PetscRealPart(f[i]), PetscImaginaryPart(f[i]));
      off[0] = std::max(off[0], (double)std::abs(value - exact[side][i]));
      off[1] = std::max(off[1], (double)std::abs(exact[side][i]));
    }
    PetscCall(VecRestoreArrayRead(sum.f[side], &f));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, off, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  *error = off[1] > 0 ? off[0] / off[1] : off[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Three panels with the real part on each side, in the same colours; or VTK files.
static PetscErrorCode SumDraw(const Problem &p, const Sum &sum, const char *kernel, const std::string &file,
                              std::vector<picture::Panel> *panels) {
  std::vector<double>         values;
  std::vector<picture::Panel> row(3);

  static const char *const in_words[][2] = {
      {"gaussian", "Gaussian"}, {"laplace", "Potential"}, {"helmholtz", "Acoustic waves"}};
  const char              *words = kernel;

  PetscFunctionBeginUser;
  for (const auto &name : in_words)
    if (!std::strcmp(name[0], kernel)) words = name[1];
  for (int side = 0; side < 3; side++) {
    Vec re;
    PetscCall(DMCreateGlobalVector(p.sides[side], &re));
    PetscCall(PetscObjectSetName((PetscObject)re, kernel));
    if (sum.parts == 2)
      PetscCall(VecStrideGather(sum.f[side], 0, re, INSERT_VALUES));
    else
      PetscCall(VecCopy(sum.f[side], re));
    if (picture::is_vtk(file)) {
      const std::string name = file.substr(0, file.size() - 4) + "-" + kernel + "-" + file_names[side];
      PetscCall(PictureWrite(p.sides[side], re, {}, 1, "", name + file.substr(file.size() - 4)));
    } else {
      PetscCall(PictureSetField(p.sides[side], re, p.origin, p.h, &row[side]));
      values.insert(values.end(), row[side].field.values.begin(), row[side].field.values.end());
    }
    PetscCall(VecDestroy(&re));
    row[side].title = std::string(words) + " at " + side_names[side];
    row[side].x_name = side == 2 ? "y" : "x";
    row[side].y_name = side == 0 ? "y" : "z";
    row[side].x = row[side].y = {0, 1};
    row[side].width = row[side].height = 420;
    row[side].bar = side == 2;
    row[side].value_name = side == 2 ? "f" : "";
  }
  // a source near a side does not hide the rest
  for (picture::Panel &panel : row) panel.values = picture::inner_range(values, 0.002);
  panels->insert(panels->end(), row.begin(), row.end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The plain double loop over the targets with coordinates x[3 i + axis].
template <class Real>
static std::vector<std::complex<Real>> PlainLoop(const Problem &p, const char *kernel, const std::vector<double> &x) {
  const Real                      pi = std::acos(Real(-1));
  std::vector<std::complex<Real>> f(x.size() / 3);
  for (size_t i = 0; i < f.size(); i++) {
    std::complex<Real> sum = 0;
    for (PetscInt j = 0; j < p.sources; j++) {
      Real r2 = 0;
      for (int a = 0; a < 3; a++)
        r2 += ((Real)x[3 * i + a] - (Real)p.y[3 * j + a]) * ((Real)x[3 * i + a] - (Real)p.y[3 * j + a]);
      const Real r = std::sqrt(r2), c = (Real)p.c[j];
      if (kernel[0] == 'g')
        sum += std::exp(-r2 / (2 * (Real)p.sigma * (Real)p.sigma)) * c;
      else if (kernel[0] == 'l')
        sum += 1 / (4 * pi * r) * c;
      else
        sum +=
            std::complex<Real>(std::cos((Real)p.wavenumber * r), std::sin((Real)p.wavenumber * r)) / (4 * pi * r) * c;
    }
    f[i] = sum;
  }
  return f;
}

// All of three choices, or the one that an option names.
static PetscErrorCode GetChoice(const char *option, const char *const names[3], PetscBool chosen[3]) {
  char      name[64];
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, option, name, sizeof(name), &set));
  for (int c = 0; c < 3; c++) {
    chosen[c] = PETSC_TRUE;
    if (set) PetscCall(PetscStrcmp(name, names[c], &chosen[c]));
  }
  PetscCheck(chosen[0] || chosen[1] || chosen[2], PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "%s %s: this example has a plain loop beside %s, %s and %s only; use one of them, or leave the option out",
             option, name, names[0], names[1], names[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  static const char *const    kernels[] = {"laplace", "helmholtz", "gaussian"};
  static const char *const    precisions[] = {"double", "mixed", "single"};
  const MatKernelSumPrecision values[] = {MAT_KERNELSUM_DOUBLE, MAT_KERNELSUM_MIXED, MAT_KERNELSUM_SINGLE};
  Problem                     p;
  PetscBool                   set, with_kernel[3], with_precision[3];
  PetscMPIInt                 ranks;
  VecType                     type;
  bool                        any_missed = false; // a sum that is not possible
  std::string                 file = "kernel_sum";
  std::vector<picture::Panel> panels;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(ShellacInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Kernel sum example", nullptr);
  PetscCall(PetscOptionsInt("-sources", "Number of sources", nullptr, p.sources, &p.sources, nullptr));
  PetscCall(PetscOptionsInt("-points", "Targets along each axis of a side", nullptr, p.n, &p.n, nullptr));
  PetscCall(PetscOptionsReal("-sigma", "Width of the Gaussian", nullptr, p.sigma, &p.sigma, nullptr));
  PetscCall(PetscOptionsReal("-wavenumber", "Wavenumber", nullptr, p.wavenumber, &p.wavenumber, nullptr));
  PetscOptionsEnd();
  PetscCheck(p.sources >= 1 && p.n >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-sources %" PetscInt_FMT " and -points %" PetscInt_FMT " are not possible; use 1 or more of each",
             p.sources, p.n);
  PetscCall(GetChoice("-mat_kernelsum_kernel", kernels, with_kernel));
  PetscCall(GetChoice("-mat_kernelsum_precision", precisions, with_precision));
  for (int k : {1, 2}) { // the plain loops need these values, too
    const std::string key = k == 1 ? "-wavenumber" : "-sigma", other = "-mat_kernelsum_" + key.substr(1);
    PetscCall(PetscOptionsHasName(nullptr, nullptr, other.c_str(), &set));
    PetscCheck(!set, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s is not for this example; give %s", other.c_str(),
               key.c_str());
    PetscCall(PetscOptionsHasName(nullptr, nullptr, key.c_str(), &set));
    PetscCheck(!set || with_kernel[k], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "%s has no effect: it is for the kernel function %s", key.c_str(), kernels[k]);
  }
  char formula[256] = "";
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-mat_kernelsum_formula", formula, sizeof(formula), &set));
  PetscCheck(!set, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-mat_kernelsum_formula %s: this example has a plain loop beside %s, %s and %s only; leave the option out, "
             "or use the example rbf, which takes formulas",
             formula, kernels[0], kernels[1], kernels[2]);
  for (int k = 0; k < 3; k++)
    if (with_kernel[k]) file += std::string("-") + kernels[k];
  PetscCall(PictureGetFile(file + "-" + std::to_string(p.sources),
                           {"-points", "-sigma", "-wavenumber", "-mat_kernelsum_precision", "-mat_kernelsum_self",
                            "-mat_kernelsum_type", "-mat_kernelsum_rtol"},
                           &file));
  PetscCall(CreateProblem(&p));
  PetscCall(VecGetType(p.positions, &type));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "%" PetscInt_FMT " sources, %" PetscInt_FMT " targets on three sides; %d MPI rank%s, %s vectors of type "
      "%s\n\n%-10s %-9s %12s %12s %12s %8s %12s\n",
      p.sources, 3 * p.n * p.n, ranks, ranks > 1 ? "s" : "", PetscDefined(USE_COMPLEX) ? "complex" : "real", type,
      "kernel", "precision", "ms", "pairs/s", "plain ms", "ratio", "error"));
  for (int k = 0; k < 3; k++) {
    bool                                   drawn = false;
    std::vector<std::complex<long double>> exact[3];
    PetscLogDouble                         begin, end, plain_time;
    if (!with_kernel[k]) continue;
    PetscCall(PetscTime(&begin));
    for (const auto &x : p.x) PlainLoop<double>(p, kernels[k], x);
    PetscCall(PetscTime(&end));
    plain_time = end - begin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &plain_time, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    for (int side = 0; side < 3; side++) exact[side] = PlainLoop<long double>(p, kernels[k], p.x[side]);
    for (int precision = 0; precision < 3; precision++) {
      Sum            sum;
      PetscLogDouble time;
      PetscBool      missed;
      double         error = 0;
      if (!with_precision[precision]) continue;
      PetscCall(SumTryToCreate(p, kernels[k], values[precision], &sum, &missed));
      any_missed = any_missed || missed;
      if (missed) {
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s %-9s %12s\n", kernels[k], precisions[precision], "-"));
        continue;
      }
      PetscCall(SumTime(sum, &time));
      PetscCall(SumError(sum, exact, &error));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s %-9s %12.4f %12.4g %12.3f %8.2f %12.2g\n", kernels[k],
                            precisions[precision], 1e3 * time, 3. * p.n * p.n * p.sources / time, 1e3 * plain_time,
                            plain_time / time, error));
      if (!drawn && !file.empty()) PetscCall(SumDraw(p, sum, kernels[k], file, &panels)); // in the highest precision
      drawn = true;
      PetscCall(SumDestroy(&sum));
    }
  }
  if (any_missed)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n-: no fast sum keeps the tolerance in this precision; use a larger "
                                            "-mat_kernelsum_rtol, -mat_kernelsum_precision double, or "
                                            "-mat_kernelsum_type auto\n"));
  if (!picture::is_vtk(file) && !panels.empty())
    PetscCall(PictureWrite(p.sides[0], nullptr, panels, 3,
                           "Sums over " + std::to_string(p.sources) + " sources on sides of the unit cube", file));
  for (DM &side : p.sides) PetscCall(DMDestroy(&side));
  PetscCall(VecDestroy(&p.positions));
  PetscCall(PetscFinalize());
  return 0;
}
