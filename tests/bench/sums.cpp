// Times kernel sums beside what bounds them: the GPU's rates of arithmetic, or a plain double loop on the host. Where the
// vectors are decides what is timed: -vec_type cuda for a GPU.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <petscksp.h>

#include "timing.hpp"

static const char help[] = "Times Shellac's kernel sums beside their bounds.\n"
                           "  -seconds 0.3   time spent on each figure\n"
                           "  -large 1000000 points of the large sums\n"
                           "  -direct, -columns, -few, -host, -fast   which parts (default: all)\n"
                           "  -vec_type cuda on the GPU\n\n";

// Random points in the unit cube, as coordinates.
static PetscErrorCode create_points(PetscInt n, unsigned seed, Vec *x) {
  PetscRandom random;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_WORLD, x));
  PetscCall(VecSetBlockSize(*x, 3));
  PetscCall(VecSetSizes(*x, PETSC_DECIDE, 3 * n));
  PetscCall(VecSetFromOptions(*x));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetType(random, PETSCRAND48));
  PetscCall(PetscRandomSetSeed(random, seed));
  PetscCall(PetscRandomSeed(random));
  PetscCall(VecSetRandom(*x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Case {
  const char *kernel, *precision;
  double      bound, goal; // pairs/s on one H200: what its units allow, what is aimed at; 0: none
};

static PetscErrorCode create_sum(Vec targets, Vec sources, const char *kernel, const char *precision, const char *type,
                                 PetscReal rtol, Mat *A) {
  const PetscReal k = 10;

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_kernelsum_precision", precision));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_kernelsum_type", type));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetType(*A, MATKERNELSUM));
  if (kernel) PetscCall(MatKernelSumSetKernel(*A, kernel)); // else by an option
  PetscCall(MatKernelSumSetSigma(*A, 0.1));
  PetscCall(MatKernelSumSetWavenumber(*A, k));
  PetscCall(MatKernelSumSetMethod(*A, MAT_KERNELSUM_DIRECT, rtol));
  PetscCall(MatKernelSumSetPoints(*A, targets, sources));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The time of a product with random values c. [s]
static PetscErrorCode time_product(Mat A, PetscReal seconds, Vec *c, Vec *y, PetscReal *time) {
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, c, y));
  PetscCall(VecSetRandom(*c, NULL));
  PetscCall(time_of(
      seconds, [&] { return MatMult(A, *c, *y); }, time));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode destroy(Mat *A, Vec *c, Vec *y) {
  PetscFunctionBegin;
  PetscCall(VecDestroy(c));
  PetscCall(VecDestroy(y));
  PetscCall(MatDestroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The relative difference to the sums in double precision, in the 2-norm, at every (M/1000)-th target.
static PetscErrorCode error_at_sample(Vec targets, Vec sources, const char *kernel, Vec c, Vec y, PetscReal *error) {
  const PetscInt     samples = 1000;
  PetscInt           M, n, first, parts, taken = 0;
  Vec                some, f;
  Mat                A;
  const PetscScalar *x, *values, *reference;
  PetscScalar       *s;
  PetscReal          sums[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(VecGetSize(targets, &M));
  PetscCall(VecGetLocalSize(targets, &n));
  PetscCall(VecGetOwnershipRange(targets, &first, NULL));
  PetscCall(VecGetBlockSize(y, &parts));
  const PetscInt        stride = std::max<PetscInt>(1, M / 3 / samples);
  std::vector<PetscInt> chosen;
  for (PetscInt i = 0; i < n / 3; i += stride) chosen.push_back(i);
  PetscCall(VecCreate(PETSC_COMM_WORLD, &some));
  PetscCall(VecSetBlockSize(some, 3));
  PetscCall(VecSetSizes(some, 3 * (PetscInt)chosen.size(), PETSC_DETERMINE));
  PetscCall(VecSetFromOptions(some));
  PetscCall(VecGetArrayRead(targets, &x));
  PetscCall(VecGetArrayWrite(some, &s));
  for (PetscInt i : chosen)
    for (int a = 0; a < 3; a++) s[taken++] = x[3 * i + a];
  PetscCall(VecRestoreArrayWrite(some, &s));
  PetscCall(VecRestoreArrayRead(targets, &x));
  PetscCall(create_sum(some, sources, kernel, "double", "direct", 1e-6, &A));
  PetscCall(MatCreateVecs(A, NULL, &f));
  PetscCall(MatMult(A, c, f));
  PetscCall(VecGetArrayRead(y, &values));
  PetscCall(VecGetArrayRead(f, &reference));
  for (size_t i = 0; i < chosen.size(); i++)
    for (PetscInt p = 0; p < parts; p++) {
      const PetscScalar a = values[chosen[i] * parts + p], b = reference[i * parts + p];
      sums[0] += PetscRealPart((a - b) * PetscConj(a - b));
      sums[1] += PetscRealPart(b * PetscConj(b));
    }
  PetscCall(VecRestoreArrayRead(f, &reference));
  PetscCall(VecRestoreArrayRead(y, &values));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *error = PetscSqrtReal(sums[0] / sums[1]);
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&some));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On one H200, 132 processors at 1.98 GHz: 33.5e12 instructions/s in single precision, 16.7e12 in double, 4.18e12
// results/s of the special-function units.
static const Case cases[] = {{"gaussian", "single", 4.18e12, 3.5e12},  {"laplace", "single", 4.18e12, 3.5e12},
                             {"helmholtz", "single", 1.39e12, 1.1e12}, {"gaussian", "mixed", 4.18e12, 0},
                             {"laplace", "mixed", 4.18e12, 0},         {"gaussian", "double", 0.84e12, 0.65e12},
                             {"laplace", "double", 1.39e12, 1.05e12},  {"helmholtz", "double", 0, 0},
                             {"yukawa", "single", 2.09e12, 0},         {"multiquadric", "single", 4.18e12, 0},
                             {"thin_plate", "single", 4.18e12, 0}};

static PetscErrorCode bench_direct(PetscInt large, bool on_gpu, PetscReal seconds) {
  Vec       targets, sources, c, y;
  Mat       A;
  PetscReal time, error;

  PetscFunctionBegin;
  const PetscInt M = on_gpu ? large / 15 : large / 500, N = on_gpu ? large : large / 100;
  PetscCall(create_points(M, 1, &targets));
  PetscCall(create_points(N, 2, &sources));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\n%" PetscInt_FMT " targets, %" PetscInt_FMT
                        " sources, direct\n%-22s %-9s %10s %12s %9s %9s %9s\n",
                        M, N, "kernel", "precision", "ms", "pairs/s", "of bound", "of goal", "error"));
  for (const Case &k : cases) {
    PetscCall(create_sum(targets, sources, k.kernel, k.precision, "direct", 1e-6, &A));
    PetscCall(time_product(A, seconds, &c, &y, &time));
    PetscCall(error_at_sample(targets, sources, k.kernel, c, y, &error));
    const double rate = (double)M * N / time;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-22s %-9s %10.3f %12.4g %9.3f %9.3f %9.2g\n", k.kernel, k.precision,
                          (double)(1e3 * time), rate, on_gpu && k.bound > 0 ? rate / k.bound : 0.,
                          on_gpu && k.goal > 0 ? rate / k.goal : 0., (double)error));
    PetscCall(destroy(&A, &c, &y));
  }
  PetscCall(VecDestroy(&targets));
  PetscCall(VecDestroy(&sources));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bench_columns(bool on_gpu, PetscReal seconds) {
  const PetscInt M = on_gpu ? 65536 : 2000, columns = 16;
  Vec            x, c, y;
  Mat            A, B, C;
  PetscReal      one, many;
  PetscInt       n;

  PetscFunctionBegin;
  PetscCall(create_points(M, 1, &x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\n16 right-hand sides at once, %" PetscInt_FMT " points; goal: 6 times one at a time\n", M));
  for (const char *precision : {"double", "single"})
    for (const char *kernel : {"gaussian", "laplace", "helmholtz", "yukawa", "multiquadric", "inverse_multiquadric",
                               "thin_plate", "logarithm"}) {
      PetscCall(create_sum(x, x, kernel, precision, "direct", 1e-6, &A));
      PetscCall(time_product(A, seconds, &c, &y, &one));
      PetscCall(MatGetLocalSize(A, NULL, &n));
#if defined(PETSC_HAVE_CUDA)
      if (on_gpu)
        PetscCall(MatCreateDenseCUDA(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, columns, NULL, &B));
      else
#endif
        PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, columns, NULL, &B));
      PetscCall(MatSetRandom(B, NULL));
      PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
      PetscCall(time_of(
          seconds, [&] { return MatMatMult(A, B, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C); }, &many));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-20s %-7s one %8.3f ms, sixteen %8.3f ms: %5.2f times\n", kernel,
                            precision, (double)(1e3 * one), (double)(1e3 * many), (double)(columns * one / many)));
      PetscCall(MatDestroy(&B));
      PetscCall(MatDestroy(&C));
      PetscCall(destroy(&A, &c, &y));
    }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// 50 sources, targets on three planes of 400 x 400 points.
static PetscErrorCode bench_few(PetscReal seconds) {
  Vec       targets, sources, c, y;
  Mat       A;
  PetscReal time;

  PetscFunctionBegin;
  PetscCall(create_points(480000, 1, &targets));
  PetscCall(create_points(50, 2, &sources));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD,
                  "\n480000 targets, 50 sources; goals on an H200: 12 us in single, 45 us in double precision\n"));
  for (const char *precision : {"single", "double"})
    for (const char *kernel : {"gaussian", "laplace", "helmholtz"}) {
      PetscCall(create_sum(targets, sources, kernel, precision, "direct", 1e-6, &A));
      for (bool transposed : {false, true}) {
        PetscCall(MatCreateVecs(A, transposed ? &y : &c, transposed ? &c : &y));
        PetscCall(VecSetRandom(c, NULL));
        PetscCall(time_of(
            seconds, [&] { return transposed ? MatMultTranspose(A, c, y) : MatMult(A, c, y); }, &time));
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s %-7s %s %9.2f us %10.4g pairs/s\n", kernel, precision,
                              transposed ? "transposed" : "          ", (double)(1e6 * time), 480000. * 50 / time));
        PetscCall(VecDestroy(&c));
        PetscCall(VecDestroy(&y));
      }
      PetscCall(MatDestroy(&A));
    }
  PetscCall(VecDestroy(&targets));
  PetscCall(VecDestroy(&sources));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a C programmer writes first.
template <class Function>
static void plain_loop(const std::vector<double> &x, const std::vector<double> &y, const std::vector<double> &c,
                       std::vector<double> &f, const Function &g) {
  for (size_t i = 0; i < f.size(); i++) {
    double sum = 0;
    for (size_t j = 0; j < c.size(); j++) {
      const double dx = x[3 * i] - y[3 * j], dy = x[3 * i + 1] - y[3 * j + 1], dz = x[3 * i + 2] - y[3 * j + 2];
      sum += g(dx * dx + dy * dy + dz * dz) * c[j];
    }
    f[i] = sum;
  }
}

// Functions as a text beside the same ones of the table.
static PetscErrorCode bench_formulas(PetscReal seconds) {
  const PetscInt N = 8000;
  const struct {
    const char *kernel, *formula;
  } functions[] = {{"gaussian", "exp(-r*r/(2*sigma*sigma))"},
                   {"laplace", "1/(4*pi*r)"},
                   {"yukawa", "exp(-k*r)/(4*pi*r)"}};
  Vec x, c, y;

  PetscFunctionBegin;
  PetscCall(create_points(N, 1, &x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\nfunctions as a text on the host, %" PetscInt_FMT " points\n", N));
  for (const auto &function : functions) {
    PetscReal time[2];
    for (int text = 0; text < 2; text++) {
      Mat A;
      if (text) PetscCall(PetscOptionsSetValue(NULL, "-mat_kernelsum_formula", function.formula));
      PetscCall(create_sum(x, x, text ? NULL : function.kernel, "double", "direct", 1e-6, &A));
      PetscCall(PetscOptionsClearValue(NULL, "-mat_kernelsum_formula"));
      PetscCall(time_product(A, seconds, &c, &y, &time[text]));
      PetscCall(destroy(&A, &c, &y));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s table %8.2f ms, text %8.2f ms: %5.2f times\n", function.kernel,
                          (double)(1e3 * time[0]), (double)(1e3 * time[1]), (double)(time[1] / time[0])));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bench_host(PetscReal seconds) {
  const PetscInt      M = 2000, N = 10000;
  Vec                 targets, sources, c, y;
  Mat                 A;
  PetscReal           plain, ours;
  const PetscScalar  *array;
  std::vector<double> p[3], f(M);

  PetscFunctionBegin;
  PetscCall(create_points(M, 1, &targets));
  PetscCall(create_points(N, 2, &sources));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\nbeside a plain double loop on the host (-O3), %" PetscInt_FMT " x %" PetscInt_FMT
                        "; goal: 8 times as fast\n",
                        M, N));
  for (int v = 0; v < 2; v++) {
    PetscInt n;
    PetscCall(VecGetLocalSize(v ? sources : targets, &n));
    PetscCall(VecGetArrayRead(v ? sources : targets, &array));
    for (PetscInt i = 0; i < n; i++) p[v].push_back((double)PetscRealPart(array[i]));
    PetscCall(VecRestoreArrayRead(v ? sources : targets, &array));
  }
  p[2].assign(p[1].size() / 3, 0.5);
  f.resize(p[0].size() / 3);
  for (const char *kernel : {"gaussian", "laplace"})
    for (const char *precision : {"double", "single"}) {
      PetscBool gaussian;
      PetscCall(PetscStrcmp(kernel, "gaussian", &gaussian));
      const auto loop = [&]() -> PetscErrorCode {
        if (gaussian)
          plain_loop(p[0], p[1], p[2], f, [](double r2) { return std::exp(-r2 / (2 * 0.1 * 0.1)); });
        else
          plain_loop(p[0], p[1], p[2], f, [](double r2) { return 1 / (4 * M_PI * std::sqrt(r2)); });
        return PETSC_SUCCESS;
      };
      PetscCall(time_of(seconds, loop, &plain));
      PetscCall(create_sum(targets, sources, kernel, precision, "direct", 1e-6, &A));
      PetscCall(MatCreateVecs(A, &c, &y));
      PetscCall(VecSet(c, 0.5));
      PetscCall(time_of(
          seconds, [&] { return MatMult(A, c, y); }, &ours));
      PetscMPIInt ranks;
      PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
      plain *= ranks; // each rank's loop has its share of the sources alone
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s %-7s plain %8.2f ms, ours %8.2f ms: %5.2f times\n", kernel,
                            precision, (double)(1e3 * plain), (double)(1e3 * ours), (double)(plain / ours)));
      PetscCall(destroy(&A, &c, &y));
    }
  PetscCall(VecDestroy(&targets));
  PetscCall(VecDestroy(&sources));
  PetscCall(bench_formulas(seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bench_fast(PetscInt large, PetscReal seconds) {
  Vec            x, moved, c, y;
  Mat            A;
  PetscReal      time, error;
  PetscLogDouble times[6]; // before and after the set-up, the first product, other points with a product

  PetscFunctionBegin;
  PetscCall(create_points(large, 1, &x));
  PetscCall(create_points(large, 3, &moved));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "\nfast sums, %" PetscInt_FMT
      " targets, as many sources; goals on an H200 at 1e-6: set-up and first product 30 ms (Gaussian), 80 ms "
      "(1/r); moved: MatKernelSumSetPoints() and a product\n%-12s %8s %10s %10s %10s %10s %10s\n",
      large, "kernel", "rtol", "set-up ms", "first ms", "next ms", "error", "moved ms"));
  for (const char *kernel : {"gaussian", "laplace", "helmholtz"})
    for (const char *rtol : {"1e-3", "1e-6", "1e-9"}) {
      PetscCall(PetscOptionsSetValue(NULL, "-mat_kernelsum_rtol", rtol));
      PetscCall(PetscTime(&times[0]));
      PetscCall(create_sum(x, x, kernel, "double", "fast", 1e-6, &A));
      PetscCall(synchronize());
      PetscCall(PetscTime(&times[1]));
      PetscCall(MatCreateVecs(A, &c, &y));
      PetscCall(VecSet(c, 1));
      PetscCall(synchronize());
      PetscCall(PetscTime(&times[2]));
      PetscCall(MatMult(A, c, y));
      PetscCall(synchronize());
      PetscCall(PetscTime(&times[3]));
      PetscCall(VecDestroy(&c));
      PetscCall(VecDestroy(&y));
      PetscCall(time_product(A, seconds, &c, &y, &time));
      PetscCall(PetscOptionsClearValue(NULL, "-mat_kernelsum_rtol")); // direct sums have no use for it
      PetscCall(error_at_sample(x, x, kernel, c, y, &error));
      PetscCall(MatViewFromOptions(A, NULL, "-mat_view"));
      PetscCall(synchronize());
      PetscCall(PetscTime(&times[4]));
      PetscCall(MatKernelSumSetPoints(A, moved, moved));
      PetscCall(MatMult(A, c, y));
      PetscCall(synchronize());
      PetscCall(PetscTime(&times[5]));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %8s %10.2f %10.2f %10.3f %10.2g %10.2f\n", kernel, rtol,
                            1e3 * (times[1] - times[0]), 1e3 * (times[3] - times[2]), (double)(1e3 * time),
                            (double)error, 1e3 * (times[5] - times[4])));
      PetscCall(destroy(&A, &c, &y));
    }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&moved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscReal seconds = 0.3;
  PetscInt  large = 1000000;
  PetscBool some = PETSC_FALSE, wanted[5] = {PETSC_FALSE}, on_gpu;
  Vec       v;
  VecType   type;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-large", &large, NULL));
  const char *parts[] = {"-direct", "-columns", "-few", "-host", "-fast"};
  for (int p = 0; p < 5; p++) {
    PetscCall(PetscOptionsGetBool(NULL, NULL, parts[p], &wanted[p], NULL));
    some = some || wanted[p] ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscCall(create_points(1, 1, &v));
  PetscCall(VecGetType(v, &type));
  PetscCall(PetscStrendswith(type, "cuda", &on_gpu));
  PetscCall(VecDestroy(&v));
  if (!some || wanted[0]) PetscCall(bench_direct(large, on_gpu, seconds));
  if (!some || wanted[1]) PetscCall(bench_columns(on_gpu, seconds));
  if (!some || wanted[2]) PetscCall(bench_few(seconds));
  if ((!some && !on_gpu) || wanted[3]) PetscCall(bench_host(seconds));
  if (!some || wanted[4]) PetscCall(bench_fast(on_gpu ? large : large / 20, seconds));
  PetscCall(PetscFinalize());
  return 0;
}
