/*
  f(x_i) = Σ_j g(x_i, y_j) c_j: 50 random sources in the unit cube, targets on the planes z = 0, y = 0 and x = 0 of
  400 x 400 points each, with the potential 1/(4πr), the acoustic Green's function e^{ikr}/(4πr) and the Gaussian
  e^{-r²/(2σ²)}.

      mpiexec -n 2 ./kernel_sum

  Times each sum beside a plain double loop, compares with that loop in long double, and writes the three planes as
  pictures and for ParaView.

  Source: T. Betcke, GPU accelerated evaluation of particle sums, 2020.
*/

#include <petscdevice.h>
#include <petscksp.h>
#include <petsctime.h>
#include <shellac.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <string>
#include <vector>

#include "picture.hpp"

static const char help[] =
    "Sums kernel functions over random particles, on three planes of the unit cube. Writes pictures and a VTK file.\n"
    "  -sources 50                    number of sources\n"
    "  -points 400                    targets a side of each plane\n"
    "  -sigma 0.1                     σ of the Gaussian [length]\n"
    "  -wavenumber 40                 k of the acoustic function [1/length]\n"
    "  -mat_kernelsum_kernel, -mat_kernelsum_precision   one of them only; other -mat_kernelsum options are for all\n"
    "  -picture kernel_sum            the pictures are kernel_sum_gaussian.png and so on; none for no files\n"
    "  -vec_type cuda                 runs on the GPU\n\n";

struct Problem {
  PetscInt            n, sources; // targets a side of a plane, sources
  PetscReal           sigma, wavenumber;
  std::vector<double> y, c;               // coordinates y[3 j + axis] and weights of all sources
  Vec                 targets, positions; // coordinates of the targets, of the sources
};

// Coordinates of the i-th target: plane by plane, the first axis fastest.
static void GetTarget(PetscInt n, PetscInt i, double x[3]) {
  static const int axes[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  const PetscInt   plane = i / (n * n), at = i % (n * n);
  x[0] = x[1] = x[2] = 0;
  x[axes[plane][0]] = (double)(at % n) / PetscMax(n - 1, 1);
  x[axes[plane][1]] = (double)(at / n) / PetscMax(n - 1, 1);
}

static PetscErrorCode CreateProblem(Problem *p) {
  unsigned long long state = 1; // of a linear congruential generator (D. Knuth, MMIX)
  PetscInt           first, last;
  PetscScalar       *x;

  PetscFunctionBeginUser;
  const auto random = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / (double)(1ull << 53);
  };
  for (PetscInt j = 0; j < 3 * p->sources; j++) p->y.push_back(random());
  for (PetscInt j = 0; j < p->sources; j++) p->c.push_back(random());
  for (int side = 0; side < 2; side++) {
    Vec *v = side ? &p->positions : &p->targets;
    PetscCall(VecCreate(PETSC_COMM_WORLD, v));
    PetscCall(VecSetBlockSize(*v, 3));
    PetscCall(VecSetSizes(*v, PETSC_DECIDE, 3 * (side ? p->sources : 3 * p->n * p->n)));
    PetscCall(VecSetFromOptions(*v));
    PetscCall(VecGetOwnershipRange(*v, &first, &last));
    PetscCall(VecGetArrayWrite(*v, &x));
    for (PetscInt i = first; i < last; i++) {
      double target[3];
      if (!side) GetTarget(p->n, i / 3, target);
      x[i - first] = side ? p->y[i] : target[i % 3];
    }
    PetscCall(VecRestoreArrayWrite(*v, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The plain double loop over the targets [first, last).
template <class Real>
static void PlainLoop(const Problem &p, const char *kernel, PetscInt first, PetscInt last, std::complex<Real> *f) {
  const Real pi = std::acos(Real(-1));
  for (PetscInt i = first; i < last; i++) {
    double             x[3];
    std::complex<Real> sum = 0;
    GetTarget(p.n, i, x);
    for (PetscInt j = 0; j < p.sources; j++) {
      Real r2 = 0;
      for (int a = 0; a < 3; a++) r2 += ((Real)x[a] - (Real)p.y[3 * j + a]) * ((Real)x[a] - (Real)p.y[3 * j + a]);
      const Real r = std::sqrt(r2), c = (Real)p.c[j];
      if (kernel[0] == 'g')
        sum += std::exp(-r2 / (2 * (Real)p.sigma * (Real)p.sigma)) * c;
      else if (kernel[0] == 'l')
        sum += 1 / (4 * pi * r) * c;
      else
        sum +=
            std::complex<Real>(std::cos((Real)p.wavenumber * r), std::sin((Real)p.wavenumber * r)) / (4 * pi * r) * c;
    }
    f[i - first] = sum;
  }
}

// Three planes beside each other, with one colour bar.
static PetscErrorCode WritePicture(const Problem &p, const std::vector<double> &f, const char *title,
                                   const char *file) {
  static const char *const names[3][2] = {{"x", "y"}, {"x", "z"}, {"y", "z"}};
  const int                side = 400, gap = 70, top = 60;
  double                   low = INFINITY, high = -INFINITY;
  std::vector<double>      sorted = f;

  PetscFunctionBeginUser;
  // the colours span all values but the outermost thousandth, so that a source near a plane does not drown the rest
  std::sort(sorted.begin(), sorted.end());
  low = sorted[sorted.size() / 1000];
  high = sorted[sorted.size() - 1 - sorted.size() / 1000];
  if (!(high > low)) high = low + 1;
  const int   bar = gap + 3 * (side + gap), bar_labels = bar + 34;
  std::string labels[5];
  int         width = 0;
  for (int t = 0; t <= 4; t++) {
    labels[t] = picture::label(low + (high - low) * t / 4);
    width = std::max(width, picture::Canvas::text_width(labels[t]));
  }
  picture::Canvas canvas(bar_labels + width + 20, top + side + 70);
  canvas.text(gap, 20, title);
  for (int plane = 0; plane < 3; plane++) {
    const int left = gap + plane * (side + gap);
    for (int v = 0; v < side; v++)
      for (int u = 0; u < side; u++) {
        const size_t i = (size_t)u * p.n / side, j = (size_t)v * p.n / side;
        canvas.set(left + u, top + side - 1 - v,
                   picture::color_of(f[(size_t)plane * p.n * p.n + j * p.n + i], low, high));
      }
    canvas.frame(left, top, side, side);
    canvas.text(left + side / 2, top + side + 12, names[plane][0]);
    canvas.text(left - 24, top + side / 2, names[plane][1]);
    canvas.text(left - 4, top + side + 12, "0");
    canvas.text(left + side - 8, top + side + 12, "1");
  }
  for (int v = 0; v < side; v++)
    canvas.fill(bar, top + side - 1 - v, 24, 1, (picture::Color)(v * picture::levels / side));
  canvas.frame(bar, top, 24, side);
  for (int t = 0; t <= 4; t++) canvas.text(bar_labels, top + side - 8 - t * (side - 14) / 4, labels[t]);
  PetscCheck(canvas.write_png(file), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "cannot write the picture %s", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PutFloat(std::FILE *out, double value) { // big-endian, as the format wants
  const float   single = (float)value;
  unsigned char bytes[4], turned[4];
  std::memcpy(bytes, &single, 4);
  for (int b = 0; b < 4; b++) turned[b] = bytes[3 - b];
  std::fwrite(turned, 1, 4, out);
}

// A legacy VTK file: three planes of points, a scalar for each function that was summed.
static PetscErrorCode WriteVTK(const Problem &p, const char *const names[], const std::vector<double> fields[],
                               const char *file) {
  std::FILE   *out = std::fopen(file, "wb");
  const size_t points = (size_t)3 * p.n * p.n;

  PetscFunctionBeginUser;
  PetscCheck(out, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "cannot write %s", file);
  std::fprintf(out,
               "# vtk DataFile Version 3.0\nsums over particles on three planes\nBINARY\nDATASET UNSTRUCTURED_GRID\n");
  std::fprintf(out, "POINTS %zu float\n", points);
  for (size_t i = 0; i < points; i++) {
    double x[3];
    GetTarget(p.n, (PetscInt)i, x);
    for (double coordinate : x) PutFloat(out, coordinate);
  }
  const size_t cells = (size_t)3 * (p.n - 1) * (p.n - 1);
  const auto   put = [&](std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) std::fputc((int)(number >> shift & 255), out);
  };
  std::fprintf(out, "\nCELLS %zu %zu\n", cells, 5 * cells);
  for (PetscInt plane = 0; plane < 3; plane++)
    for (PetscInt j = 0; j + 1 < p.n; j++)
      for (PetscInt i = 0; i + 1 < p.n; i++) {
        const std::uint32_t at = (std::uint32_t)((plane * p.n + j) * p.n + i), row = (std::uint32_t)p.n;
        for (std::uint32_t number : {4u, at, at + 1, at + row + 1, at + row}) put(number);
      }
  std::fprintf(out, "\nCELL_TYPES %zu\n", cells);
  for (size_t c = 0; c < cells; c++) put(9); // quadrilaterals
  std::fprintf(out, "\nPOINT_DATA %zu\n", points);
  for (int f = 0; f < 3; f++) {
    if (fields[f].empty()) continue;
    std::fprintf(out, "SCALARS %s float 1\nLOOKUP_TABLE default\n", names[f]);
    for (double value : fields[f]) PutFloat(out, value);
    std::fprintf(out, "\n");
  }
  PetscCheck(std::fclose(out) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "cannot write %s", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Real parts of all values on rank 0.
static PetscErrorCode Gather(Vec f, PetscInt n, std::vector<double> *values) {
  VecScatter         scatter;
  Vec                all;
  const PetscScalar *array;
  PetscInt           local;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToZero(f, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, f, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, f, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(all, &local));
  PetscCall(VecGetArrayRead(all, &array));
  const PetscInt parts = PetscMax(1, local / n);
  for (PetscInt i = 0; i < local; i += parts) values->push_back((double)PetscRealPart(array[i]));
  PetscCall(VecRestoreArrayRead(all, &array));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Seconds of one product of the slowest rank, the last value fetched so that a GPU has finished.
static PetscErrorCode TimeProduct(Mat A, Vec c, Vec f, PetscLogDouble *seconds) {
  const int      repeats = 10;
  PetscLogDouble begin = 0, end;
  PetscReal      norm;

  PetscFunctionBeginUser;
  for (int r = 0; r <= repeats; r++) {
    PetscCall(MatMult(A, c, f));
    if (r > 0 && r < repeats) continue;
    PetscCall(VecNorm(f, NORM_1, &norm));
    if (r == 0) PetscCall(PetscTime(&begin));
  }
  PetscCall(PetscTime(&end));
  *seconds = (end - begin) / repeats;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  static const char *const kernels[] = {"laplace", "helmholtz", "gaussian"};
  static const char *const precisions[] = {"double", "mixed", "single"};
  Problem                  p = {};
  char                     picture[PETSC_MAX_PATH_LEN - 32] = "kernel_sum";
  PetscBool                none, set, with_kernel[3], with_precision[3];
  PetscMPIInt              rank, ranks;
  PetscInt                 first, last;
  VecType                  type;
  std::vector<double>      fields[3];
  std::string              written;

  PetscFunctionBeginUser;
  p.n = 400, p.sources = 50, p.sigma = 0.1, p.wavenumber = 40;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(ShellacInitializePackage());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Kernel sum example", nullptr);
  PetscCall(PetscOptionsInt("-sources", "Number of sources", nullptr, p.sources, &p.sources, nullptr));
  PetscCall(PetscOptionsInt("-points", "Targets a side of each plane", nullptr, p.n, &p.n, nullptr));
  PetscCall(PetscOptionsReal("-sigma", "Length of the Gaussian", nullptr, p.sigma, &p.sigma, &set));
  PetscCall(PetscOptionsReal("-wavenumber", "Wavenumber", nullptr, p.wavenumber, &p.wavenumber, &set));
  PetscCall(PetscOptionsString("-picture", "Head of the names of the files, or none", nullptr, picture, picture,
                               sizeof(picture), nullptr));
  PetscOptionsEnd();
  PetscCheck(p.sources >= 0 && p.n >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-sources %" PetscInt_FMT " and -points %" PetscInt_FMT " are not possible; use 0 or more, and 1 or more",
             p.sources, p.n);
  PetscCall(GetChoice("-mat_kernelsum_kernel", kernels, with_kernel));
  PetscCall(GetChoice("-mat_kernelsum_precision", precisions, with_precision));
  PetscCall(PetscStrcmp(picture, "none", &none));
  PetscCall(CreateProblem(&p));
  PetscCall(VecGetType(p.targets, &type));
  PetscCall(VecGetOwnershipRange(p.targets, &first, &last));
  first /= 3, last /= 3;
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "%" PetscInt_FMT " sources, %" PetscInt_FMT " targets on three planes; %d MPI rank%s, %s vectors of type "
      "%s\n\n%-10s %-9s %12s %12s %12s %8s %12s\n",
      p.sources, 3 * p.n * p.n, ranks, ranks > 1 ? "s" : "", PetscDefined(USE_COMPLEX) ? "complex" : "real", type,
      "kernel", "precision", "ms", "pairs/s", "plain ms", "ratio", "error"));
  for (int k = 0; k < 3; k++) {
    if (!with_kernel[k]) continue;
    bool                                   gathered = false;
    std::vector<std::complex<double>>      plain(last - first);
    std::vector<std::complex<long double>> exact(last - first);
    PetscLogDouble                         begin, end, plain_time;
    PetscCall(PetscTime(&begin));
    PlainLoop(p, kernels[k], first, last, plain.data());
    PetscCall(PetscTime(&end));
    plain_time = end - begin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &plain_time, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    PlainLoop(p, kernels[k], first, last, exact.data());
    for (int precision = 0; precision < 3; precision++) {
      if (!with_precision[precision]) continue;
      Mat                A;
      Vec                c, f;
      PetscScalar       *weights;
      const PetscScalar *values;
      PetscInt           from, to, parts;
      PetscLogDouble     time;
      double             off[2] = {0, 0}; // largest error, largest value
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscCall(MatSetType(A, MATKERNELSUM));
      PetscCall(MatKernelSumSetPoints(A, p.targets, p.positions));
      PetscCall(MatKernelSumSetKernel(A, kernels[k]));
      PetscCall(MatKernelSumSetSigma(A, p.sigma));
      PetscCall(MatKernelSumSetWavenumber(A, p.wavenumber));
      PetscCall(MatKernelSumSetPrecision(A, (MatKernelSumPrecision)(precision ? 3 - precision : 0)));
      PetscCall(MatSetFromOptions(A));
      PetscCall(MatSetUp(A));
      PetscCall(MatCreateVecs(A, &c, &f));
      PetscCall(VecGetBlockSize(c, &parts)); // 2 for complex values in a real PETSc: (re, im)
      PetscCall(VecGetOwnershipRange(c, &from, &to));
      PetscCall(VecGetArrayWrite(c, &weights));
      for (PetscInt i = from; i < to; i++) weights[i - from] = i % parts ? 0 : p.c[i / parts];
      PetscCall(VecRestoreArrayWrite(c, &weights));
      PetscCall(TimeProduct(A, c, f, &time));
      PetscCall(VecGetArrayRead(f, &values));
      for (PetscInt i = 0; i < last - first; i++) {
        const std::complex<double> value =
            parts == 2 ? std::complex<double>(PetscRealPart(values[2 * i]), PetscRealPart(values[2 * i + 1]))
                       : std::complex<double>(PetscRealPart(values[i]), PetscImaginaryPart(values[i]));
        off[0] = std::max(off[0], (double)std::abs(std::complex<long double>(value) - exact[i]));
        off[1] = std::max(off[1], (double)std::abs(exact[i]));
      }
      PetscCall(VecRestoreArrayRead(f, &values));
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, off, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s %-9s %12.4f %12.4g %12.3f %8.2f %12.2g\n", kernels[k],
                            precisions[precision], 1e3 * time, 3. * p.n * p.n * p.sources / time, 1e3 * plain_time,
                            plain_time / time, off[1] > 0 ? off[0] / off[1] : off[0]));
      if (!gathered) PetscCall(Gather(f, 3 * p.n * p.n, &fields[k])); // in the highest precision
      gathered = true;
      PetscCall(VecDestroy(&c));
      PetscCall(VecDestroy(&f));
      PetscCall(MatDestroy(&A));
    }
    if (!none && rank == 0) {
      const std::string file = std::string(picture) + "_" + kernels[k] + ".png";
      PetscCall(WritePicture(p, fields[k], kernels[k], file.c_str()));
      written += file + ", ";
    }
  }
  if (!none) {
    const std::string file = std::string(picture) + ".vtk";
    if (rank == 0) PetscCall(WriteVTK(p, kernels, fields, file.c_str()));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\nwrote %s%s\n", written.c_str(), file.c_str()));
  }
  PetscCall(VecDestroy(&p.targets));
  PetscCall(VecDestroy(&p.positions));
  PetscCall(PetscFinalize());
  return 0;
}
