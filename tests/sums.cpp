// Sums of kernel functions over particles: against a double loop in long double, whatever the function, the dimension,
// the numbers of points and their distribution.

#include "catch.hpp"
#include "support.hpp"

#include <cmath>
#include <complex>
#include <petscdmswarm.h>

using namespace tests;

namespace {

using Real = long double;
using Number = std::complex<Real>;

constexpr bool complex_petsc = PetscDefined(USE_COMPLEX);

const Real pi = std::acos(Real(-1));

struct Function {
  const char *name;
  bool        singular;
};
const Function functions[] = {{"gaussian", false},   {"laplace", true},       {"helmholtz", true},
                              {"yukawa", true},      {"multiquadric", false}, {"inverse_multiquadric", false},
                              {"thin_plate", false}, {"logarithm", true}};
const Real     sigma = Real((PetscReal)0.2), wavenumber = 7;

bool is(const Function &f, const char *name) {
  return std::string(f.name) == name;
}
// g and (1/r) dg/dr at a distance r > 0.
void evaluate(const Function &f, Real r, Number *g, Number *slope) {
  const Number i(0, 1);
  if (is(f, "gaussian")) *g = std::exp(-r * r / (2 * sigma * sigma)), *slope = -*g / (sigma * sigma);
  if (is(f, "laplace")) *g = 1 / (4 * pi * r), *slope = -*g / (r * r);
  if (is(f, "helmholtz")) *g = std::exp(i * wavenumber * r) / (4 * pi * r), *slope = *g * (i * wavenumber - 1 / r) / r;
  if (is(f, "yukawa")) *g = std::exp(-wavenumber * r) / (4 * pi * r), *slope = -*g * (wavenumber + 1 / r) / r;
  if (is(f, "multiquadric")) *g = std::sqrt(r * r + sigma * sigma), *slope = Real(1) / *g;
  if (is(f, "inverse_multiquadric")) *g = 1 / std::sqrt(r * r + sigma * sigma), *slope = -*g * *g * *g;
  if (is(f, "thin_plate")) *g = r * r * std::log(r), *slope = 2 * std::log(r) + 1;
  if (is(f, "logarithm")) *g = -std::log(r) / (2 * pi), *slope = -1 / (2 * pi * r * r);
}
Number limit(const Function &f) {
  if (is(f, "gaussian")) return 1;
  if (is(f, "multiquadric")) return sigma;
  if (is(f, "inverse_multiquadric")) return 1 / sigma;
  return 0;
}
// Whether values are pairs of real numbers.
bool interleaved(const Function &f) {
  return is(f, "helmholtz") && !complex_petsc;
}
Options options(const Function &f, const std::string &more = "") {
  return Options(std::string("-mat_kernelsum_kernel ") + f.name +
                 " -mat_kernelsum_sigma 0.2 -mat_kernelsum_wavenumber 7 " + more);
}

enum class Spread { even, last, skewed }; // over the ranks

PetscInt local_size(PetscInt N, Spread spread) {
  int rank, ranks = rank_count();
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (spread == Spread::last) return rank == ranks - 1 ? N : 0;
  if (spread == Spread::skewed) { // half on the first rank, half of the rest on the second, ...
    PetscInt rest = N;
    for (int r = 0; r < rank; r++) rest -= (rest + 1) / 2;
    return rank == ranks - 1 ? rest : (rest + 1) / 2;
  }
  return N / ranks + (rank < N % ranks);
}

// A cloud of N points, the same on any number of ranks.
struct Cloud {
  PetscInt               N = 0;
  int                    dim = 3;
  std::vector<PetscReal> x; // coordinate a of point i is x[i dim + a]
  Spread                 spread = Spread::even;

  Vector vector(int block, const std::function<PetscScalar(PetscInt)> &value) const { // value(i block + component)
    Vector       v;
    PetscScalar *array;
    PetscInt     first;
    OK(VecCreate(PETSC_COMM_WORLD, &v));
    OK(VecSetSizes(v, local_size(N, spread) * block, PETSC_DETERMINE));
    OK(VecSetBlockSize(v, block));
    OK(VecSetFromOptions(v));
    OK(VecGetOwnershipRange(v, &first, NULL));
    OK(VecGetArrayWrite(v, &array));
    for (PetscInt i = 0; i < local_size(N, spread) * block; i++) array[i] = value(first + i);
    OK(VecRestoreArrayWrite(v, &array));
    return v;
  }
  Vector coordinates() const {
    return vector(dim, [&](PetscInt i) { return (PetscScalar)x[i]; });
  }
};
Cloud random_cloud(PetscInt N, int dim, int seed, Spread spread = Spread::even, PetscReal at = 0, PetscReal size = 1) {
  Cloud c;
  c.N = N, c.dim = dim, c.spread = spread;
  for (PetscInt i = 0; i < N * dim; i++)
    c.x.push_back(at + size * (PetscRealPart(random_value((size_t)i, seed)) + 1) / 2);
  return c;
}
Real difference_of(const Cloud &a, PetscInt i, const Cloud &b, PetscInt j, int axis) {
  return axis < a.dim ? (Real)a.x[i * a.dim + axis] - (Real)b.x[j * b.dim + axis] : 0;
}

// Values at points: complex numbers that the vector holds as its PETSc can.
std::vector<Number> random_weights(const Function &f, PetscInt N, int seed) {
  std::vector<Number> w;
  for (PetscInt i = 0; i < N; i++) {
    const Real re = PetscRealPart(random_value((size_t)i, seed)), im = PetscRealPart(random_value((size_t)i, seed + 1));
    w.push_back({re, complex_petsc || interleaved(f) ? im : 0});
  }
  return w;
}
Vector weight_vector(const Function &f, const Cloud &cloud, const std::vector<Number> &w, int components = 1) {
  const int parts = interleaved(f) ? 2 : 1;
  return cloud.vector(parts * components, [&](PetscInt i) -> PetscScalar {
    const Number z = w[i / parts];
#if defined(PETSC_USE_COMPLEX)
    return PetscCMPLX((PetscReal)z.real(), (PetscReal)z.imag());
#else
    return (PetscReal)(i % parts ? z.imag() : z.real());
#endif
  });
}

// Entry of the matrix, in the order of rows: value, or component of the gradient; 0 at coincident points, or the limit.
Number entry(const Function &f, const Cloud &targets, PetscInt i, const Cloud &sources, PetscInt j, int component = -1,
             bool with_limit = true) {
  Real   r2 = 0;
  Number g = 0, slope = 0;
  for (int a = 0; a < targets.dim; a++) r2 += std::pow(difference_of(targets, i, sources, j, a), 2);
  if (r2 == 0) return component < 0 && with_limit ? limit(f) : 0;
  evaluate(f, std::sqrt(r2), &g, &slope);
  return component < 0 ? g : slope * difference_of(targets, i, sources, j, component);
}

// The largest error of y over the largest Σ |g c|, which bounds what rounding can do.
// entries(i, j): of the row i; rows and columns as the vectors y and c have them.
PetscReal error_of(const Function &f, Vec y, const std::vector<Number> &expected, const std::vector<Real> &sizes) {
  const int          parts = interleaved(f) ? 2 : 1;
  PetscInt           first, n;
  const PetscScalar *array;
  Real               off = 0, size = 0;
  OK(VecGetOwnershipRange(y, &first, NULL));
  OK(VecGetLocalSize(y, &n));
  OK(VecGetArrayRead(y, &array));
  for (PetscInt i = 0; i < n; i++) {
    const Number z = expected[(first + i) / parts];
    Real         d;
#if defined(PETSC_USE_COMPLEX)
    d = std::abs(z - Number(PetscRealPart(array[i]), PetscImaginaryPart(array[i])));
#else
    d = std::abs(((first + i) % parts ? z.imag() : z.real()) - (Real)array[i]);
#endif
    off = std::isnan((double)d) ? INFINITY : std::max(off, d);
  }
  OK(VecRestoreArrayRead(y, &array));
  for (Real s : sizes) size = std::max(size, s);
  double largest = (double)off;
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return size > 0 ? (PetscReal)(largest / size) : (PetscReal)largest;
}
PetscReal error_of_sum(const Function &f, Vec y, PetscInt rows, PetscInt columns, const std::vector<Number> &c,
                       const std::function<Number(PetscInt, PetscInt)> &entries) {
  std::vector<Number> sums(rows);
  std::vector<Real>   sizes(rows);
  for (PetscInt i = 0; i < rows; i++)
    for (PetscInt j = 0; j < columns; j++) {
      const Number term = entries(i, j) * c[j];
      sums[i] += term;
      sizes[i] += std::abs(term);
    }
  return error_of(f, y, sums, sizes);
}
PetscReal tolerance(PetscInt terms) {
  return 4 * PETSC_MACHINE_EPSILON * PetscSqrtReal((PetscReal)std::max<PetscInt>(terms, 1));
}

Matrix make_sum(const Cloud &targets, const Cloud &sources) {
  Matrix A;
  Vector x = targets.coordinates(), y = sources.coordinates();
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, x, y, &A));
  return A;
}
Matrix make_square_sum(const Cloud &cloud) {
  Matrix A;
  Vector x = cloud.coordinates();
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, x, x, &A));
  return A;
}
Matrix dense_of(Mat A) { // by unit vectors, on the host
  Matrix D;
  OK(MatComputeOperator(A, MATDENSE, &D));
  return D;
}
Vector right_vector(Mat A) {
  Vector v;
  OK(MatCreateVecs(A, &v, NULL));
  return v;
}
Vector left_vector(Mat A) {
  Vector v;
  OK(MatCreateVecs(A, NULL, &v));
  return v;
}
void set_random(Vec v, int seed) {
  PetscInt     first, n;
  PetscScalar *array;
  OK(VecGetOwnershipRange(v, &first, NULL));
  OK(VecGetLocalSize(v, &n));
  OK(VecGetArrayWrite(v, &array));
  for (PetscInt i = 0; i < n; i++) array[i] = random_value((size_t)(first + i), seed);
  OK(VecRestoreArrayWrite(v, &array));
}
// The infinity norm of x - y over that of y; vectors of any types.
PetscReal difference_of_arrays(Vec x, Vec y) {
  const PetscScalar *a, *b;
  PetscInt           n;
  PetscReal          largest[2] = {0, 0};
  OK(VecGetLocalSize(y, &n));
  OK(VecGetArrayRead(x, &a));
  OK(VecGetArrayRead(y, &b));
  for (PetscInt i = 0; i < n; i++) {
    largest[0] = std::max(largest[0], PetscIsInfOrNanScalar(a[i]) ? PETSC_MAX_REAL : PetscAbsScalar(a[i] - b[i]));
    largest[1] = std::max(largest[1], PetscAbsScalar(b[i]));
  }
  OK(VecRestoreArrayRead(y, &b));
  OK(VecRestoreArrayRead(x, &a));
  MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  return largest[1] > 0 ? largest[0] / largest[1] : largest[0];
}
Vector on_host(Vec v) {
  Vector             w;
  PetscInt           n;
  const PetscScalar *from;
  PetscScalar       *to;
  OK(VecGetLocalSize(v, &n));
  OK(VecCreateMPI(PETSC_COMM_WORLD, n, PETSC_DETERMINE, &w));
  OK(VecGetArrayRead(v, &from));
  OK(VecGetArrayWrite(w, &to));
  for (PetscInt i = 0; i < n; i++) to[i] = from[i];
  OK(VecRestoreArrayWrite(w, &to));
  OK(VecRestoreArrayRead(v, &from));
  return w;
}

} // namespace

TEST_CASE("sums equal a double loop, for every function, dimension, size and distribution", "[sums]") {
  const struct {
    PetscInt M, N;
    Spread   targets, sources;
  } sizes[] = {{1, 1, Spread::even, Spread::last},    {0, 5, Spread::even, Spread::even},
               {5, 0, Spread::last, Spread::even},    {0, 0, Spread::even, Spread::even},
               {13, 1, Spread::skewed, Spread::even}, {7, 131, Spread::last, Spread::skewed},
               {257, 389, Spread::even, Spread::even}};
  for (const Function &f : functions)
    for (int dim = 1; dim <= 3; dim++)
      for (const auto &size : sizes) {
        const Cloud targets = random_cloud(size.M, dim, 1, size.targets),
                    sources = random_cloud(size.N, dim, 2, size.sources);
        Options    set = options(f);
        Matrix     A = make_sum(targets, sources);
        const auto c = random_weights(f, size.N, 3), b = random_weights(f, size.M, 5);
        Vector     x = weight_vector(f, sources, c), u = weight_vector(f, targets, b);
        Vector     y = left_vector(A), v = right_vector(A);
        const auto g = [&](PetscInt i, PetscInt j) { return entry(f, targets, i, sources, j); };
        INFO(f.name << " in " << dim << "-D, " << size.M << " x " << size.N << " on " << rank_count() << " ranks");
        OK(MatMult(A, x, y));
        CHECK(error_of_sum(f, y, size.M, size.N, c, g) <= tolerance(size.N));
        OK(MatMultTranspose(A, u, v)); // of interleaved values: the Hermitian transpose
        CHECK(error_of_sum(f, v, size.N, size.M, b, [&](PetscInt j, PetscInt i) {
                return interleaved(f) ? std::conj(g(i, j)) : g(i, j);
              }) <= tolerance(size.M));
        OK(MatMultHermitianTranspose(A, u, v));
        CHECK(error_of_sum(f, v, size.N, size.M, b, [&](PetscInt j, PetscInt i) { return std::conj(g(i, j)); }) <=
              tolerance(size.M));
        // y = A x - A x, in place and not
        Vector minus = copy_of(y), zero = left_vector(A);
        OK(MatMult(A, x, minus));
        PetscReal scale, rest;
        OK(VecNorm(minus, NORM_INFINITY, &scale));
        OK(VecScale(minus, -1));
        OK(MatMultAdd(A, x, minus, zero));
        OK(VecNorm(zero, NORM_INFINITY, &rest));
        CHECK(rest <= tolerance(size.N) * scale);
        OK(MatMultAdd(A, x, minus, minus));
        OK(VecNorm(minus, NORM_INFINITY, &rest));
        CHECK(rest <= tolerance(size.N) * scale);
      }
}

TEST_CASE("transposed products are those of the assembled operator", "[sums]") {
  for (const Function &f : functions) {
    const Cloud targets = random_cloud(29, 3, 1, Spread::skewed), sources = random_cloud(41, 3, 2);
    Options     set = options(f);
    Matrix      A = make_sum(targets, sources), D = dense_of(A);
    Vector      u = left_vector(A), v = right_vector(A), w = right_vector(A), b = right_vector(A);
    INFO(f.name);
    set_random(u, 4);
    set_random(b, 5);
    OK(MatMultTranspose(A, u, v));
    OK(MatMultTranspose(D, u, w));
    CHECK(difference_of_arrays(v, w) <= exact);
    OK(MatMultHermitianTranspose(A, u, v));
    OK(MatMultHermitianTranspose(D, u, w));
    CHECK(difference_of_arrays(v, w) <= exact);
    OK(MatMultTransposeAdd(A, u, b, v));
    OK(MatMultTransposeAdd(D, u, b, w));
    CHECK(difference_of_arrays(v, w) <= exact);
    OK(MatMultHermitianTransposeAdd(A, u, b, v));
    OK(VecCopy(b, w));
    Vector h = right_vector(A);
    OK(MatMultHermitianTranspose(D, u, h));
    OK(VecAXPY(w, 1, h));
    CHECK(difference_of_arrays(v, w) <= exact);
  }
}

TEST_CASE("coincident points count as -mat_kernelsum_self says", "[sums]") {
  for (const Function &f : functions)
    for (PetscInt N : {1, 150}) {
      Cloud cloud = random_cloud(N, 3, 1, Spread::skewed);
      for (PetscInt i = 0; i + 1 < N; i += 7) // some points twice
        for (int a = 0; a < 3; a++) cloud.x[(i + 1) * 3 + a] = cloud.x[i * 3 + a];
      for (const char *self : {"automatic", "zero", "limit"}) {
        if (f.singular && self[0] == 'l') continue;
        Options    set = options(f, std::string("-mat_kernelsum_self ") + self);
        Matrix     A = make_square_sum(cloud);
        const auto c = random_weights(f, N, 3);
        Vector     x = weight_vector(f, cloud, c), y = left_vector(A);
        INFO(f.name << " " << self << " " << N);
        OK(MatMult(A, x, y));
        const PetscReal error = error_of_sum(
            f, y, N, N, c, [&](PetscInt i, PetscInt j) { return entry(f, cloud, i, cloud, j, -1, self[0] != 'z'); });
        CHECK(error <= tolerance(N));
        for (const char *precision : {"single", "mixed"}) {
          Options with(std::string("-mat_kernelsum_precision ") + precision);
          OK(MatSetFromOptions(A));
          OK(MatMult(A, x, y));
          CHECK(error_of_sum(f, y, N, N, c, [&](PetscInt i, PetscInt j) {
                  return entry(f, cloud, i, cloud, j, -1, self[0] != 'z');
                }) <= 1e-5);
        }
      }
    }
}

TEST_CASE("coincident points are an error that names them, if asked for", "[sums]") {
  Cloud   targets = random_cloud(40, 2, 1), sources = random_cloud(31, 2, 2, Spread::last);
  Options set("-mat_kernelsum_kernel laplace -mat_kernelsum_self error");
  Matrix  none = make_sum(targets, sources);
  for (int a = 0; a < 2; a++) targets.x[23 * 2 + a] = sources.x[17 * 2 + a];
  Matrix A;
  Vector x = targets.coordinates(), y = sources.coordinates();
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"target 23", "source 17", "same point", "-mat_kernelsum_self zero"}),
               [&] { return MatCreateKernelSum(PETSC_COMM_WORLD, x, y, &A); });
  Cloud same = random_cloud(20000, 2, 1); // and quickly so
  std::fill(same.x.begin(), same.x.end(), PetscReal(0.5));
  Vector z = same.coordinates();
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"target 0", "source 0", "same point"}),
               [&] { return MatCreateKernelSum(PETSC_COMM_WORLD, z, z, &A); });
  Options limit("-mat_kernelsum_self limit");
  Matrix  B;
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"laplace", "limit", "zero"}),
               [&] { return MatCreateKernelSum(PETSC_COMM_WORLD, x, y, &B); });
}

TEST_CASE("the acoustic function without waves is Laplace's", "[sums]") {
  const Cloud    targets = random_cloud(50, 3, 1), sources = random_cloud(60, 3, 2);
  const Function acoustic = functions[2], laplace = functions[1];
  const auto     c = random_weights(laplace, 60, 3);
  Vector         x = weight_vector(acoustic, sources, c), z = weight_vector(laplace, sources, c);
  Options        set("-mat_kernelsum_kernel helmholtz");
  Matrix         A = make_sum(targets, sources);
  Vector         y = left_vector(A);
  OK(MatMult(A, x, y));
  CHECK(error_of_sum(acoustic, y, 50, 60, c,
                     [&](PetscInt i, PetscInt j) { return entry(laplace, targets, i, sources, j); }) <= tolerance(60));
}

TEST_CASE("clusters far from the origin and from each other", "[sums]") {
  for (const Function &f : functions) {
    if (is(f, "helmholtz")) continue; // the phase k r is known to k r eps
    Cloud targets = random_cloud(60, 3, 1, Spread::even, 1000, PetscReal(1e-3)), sources = random_cloud(70, 3, 2);
    for (PetscInt i = 0; i < 35 * 3; i++) sources.x[i] = 1000 + PetscReal(1e-3) * sources.x[i];
    Options    set = options(f);
    Matrix     A = make_sum(targets, sources);
    const auto c = random_weights(f, 70, 3);
    Vector     x = weight_vector(f, sources, c), y = left_vector(A);
    INFO(f.name);
    OK(MatMult(A, x, y));
    CHECK(error_of_sum(f, y, 60, 70, c, [&](PetscInt i, PetscInt j) { return entry(f, targets, i, sources, j); }) <=
          tolerance(70));
  }
}

TEST_CASE("single precision is as accurate as stated", "[sums]") {
  const Cloud targets = random_cloud(300, 3, 1), sources = random_cloud(2000, 3, 2);
  int         number = 0;
  for (const Function &f : functions)
    for (const char *precision : {"single", "mixed"}) {
      if (!in_turn(number++)) continue;
      Options    set = options(f, std::string("-mat_kernelsum_precision ") + precision);
      Matrix     A = make_sum(targets, sources);
      const auto c = random_weights(f, 2000, 3);
      Vector     x = weight_vector(f, sources, c), y = left_vector(A);
      INFO(f.name << " " << precision);
      OK(MatMult(A, x, y));
      const PetscReal error =
          error_of_sum(f, y, 300, 2000, c, [&](PetscInt i, PetscInt j) { return entry(f, targets, i, sources, j); });
      CHECK(error <= 1e-6);
      CHECK(error > 0);
    }
}

TEST_CASE("single precision of functions without a length knows no scale", "[sums]") {
  for (const Function &f : functions) {
    if (is(f, "gaussian") || is(f, "inverse_multiquadric")) continue; // nothing, or constant, far from their length
    for (double size : {1e-25, 1e25}) {
      if (is(f, "multiquadric") && size < 1) continue;
      if (is(f, "yukawa") && size > 1) continue; // vanishes
      const PetscReal s = (PetscReal)size;
      const Cloud     targets = random_cloud(50, 3, 1, Spread::even, 0, s),
                  sources = random_cloud(200, 3, 2, Spread::even, 0, s);
      if (is(f, "helmholtz") && size > 1) continue; // no precision holds the phase
      for (const char *precision : {"single", "mixed"}) {
        Options    set = options(f, std::string("-mat_kernelsum_precision ") + precision);
        Matrix     A = make_sum(targets, sources), G;
        const auto c = random_weights(f, 200, 3);
        Vector     x = weight_vector(f, sources, c), y = left_vector(A);
        INFO(f.name << " " << precision << " " << size);
        OK(MatMult(A, x, y));
        CHECK(error_of_sum(f, y, 50, 200, c,
                           [&](PetscInt i, PetscInt j) { return entry(f, targets, i, sources, j); }) <= 2e-6);
        if (is(f, "thin_plate") || is(f, "multiquadric")) continue; // their gradients have cancelled digits
        OK(MatKernelSumCreateGradient(A, &G));
        Vector z = left_vector(G);
        OK(MatMult(G, x, z));
        CHECK(error_of_sum(f, z, 150, 200, c, [&](PetscInt i, PetscInt j) {
                return entry(f, targets, i / 3, sources, j, (int)(i % 3));
              }) <= 2e-6);
      }
    }
  }
}

TEST_CASE("single precision beyond all phase stays on the circle", "[sums]") {
  const Cloud targets = random_cloud(10, 3, 1), sources = random_cloud(40, 3, 2);
  Options     set("-mat_kernelsum_kernel helmholtz -mat_kernelsum_wavenumber 1e9 -mat_kernelsum_precision single");
  Options     laplace("-mat_kernelsum_wavenumber 1e9");
  Matrix      A = make_sum(targets, sources);
  Vector      c = right_vector(A), y = left_vector(A);
  PetscReal   wave, bound;
  OK(VecSet(c, 1));
  OK(MatMult(A, c, y));
  OK(VecNorm(y, NORM_INFINITY, &wave));
  OK(MatKernelSumSetWavenumber(A, 0));
  OK(MatMult(A, c, y));
  OK(VecNorm(y, NORM_INFINITY, &bound));
  CHECK(wave <= 2 * bound);
}

TEST_CASE("gradients", "[sums]") {
  for (const Function &f : functions)
    for (int dim = 1; dim <= 3; dim++) {
      Cloud targets = random_cloud(37, dim, 1, Spread::skewed), sources = random_cloud(53, dim, 2);
      for (int a = 0; a < dim; a++) targets.x[5 * dim + a] = sources.x[7 * dim + a]; // counts for nothing
      Options    set = options(f);
      Matrix     A = make_sum(targets, sources), G;
      const auto c = random_weights(f, 53, 3);
      Vector     x = weight_vector(f, sources, c);
      INFO(f.name << " in " << dim << "-D");
      OK(MatKernelSumCreateGradient(A, &G));
      Vector y = left_vector(G);
      OK(MatMult(G, x, y));
      CHECK(error_of_sum(f, y, 37 * dim, 53, c, [&](PetscInt i, PetscInt j) {
              return entry(f, targets, i / dim, sources, j, (int)(i % dim));
            }) <= tolerance(53));
      for (const char *precision : {"single", "mixed"}) {
        Options with(std::string("-mat_kernelsum_precision ") + precision);
        OK(MatSetFromOptions(G));
        OK(MatMult(G, x, y));
        if (dim == 3 || !f.singular) // on a line points are close
          CHECK(error_of_sum(f, y, 37 * dim, 53, c, [&](PetscInt i, PetscInt j) {
                  return entry(f, targets, i / dim, sources, j, (int)(i % dim));
                }) <= 1e-5);
      }
      OK(MatKernelSumSetPrecision(G, MAT_KERNELSUM_DOUBLE));
      Matrix D = dense_of(G), E;
      Vector u = left_vector(G), v = right_vector(G), w = right_vector(G);
      set_random(u, 4);
      OK(MatMultTranspose(G, u, v));
      OK(MatMultTranspose(D, u, w));
      CHECK(difference_of_arrays(v, w) <= exact);
      OK(MatMultHermitianTranspose(G, u, v));
      OK(MatMultHermitianTranspose(D, u, w));
      CHECK(difference_of_arrays(v, w) <= exact);
      OK(MatConvert(G, MATDENSE, MAT_INITIAL_MATRIX, &E));
      CHECK(difference(E, D) <= exact);
    }
}

TEST_CASE("many right-hand sides at once are one after the other", "[sums]") {
  for (const Function &f : functions)
    for (PetscInt columns : {1, 2, 19, 22}) {
      const Cloud targets = random_cloud(31, 3, 1), sources = random_cloud(47, 3, 2, Spread::skewed);
      Options     set = options(f);
      Matrix      A = make_sum(targets, sources), B, C;
      PetscInt    m, n;
      INFO(f.name << " " << columns);
      OK(MatGetLocalSize(A, &m, &n));
      for (bool transposed : {false, true}) {
        Matrix B, C;
        OK(MatCreateDense(PETSC_COMM_WORLD, transposed ? m : n, PETSC_DECIDE, PETSC_DETERMINE, columns, NULL, &B));
        OK(MatSetRandom(B, NULL));
        if (transposed)
          OK(MatTransposeMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
        else
          OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
        Vector x = transposed ? left_vector(A) : right_vector(A), y = transposed ? right_vector(A) : left_vector(A);
        for (PetscInt c = 0; c < columns; c += 3) {
          OK(MatGetColumnVector(B, x, c));
          if (transposed)
            OK(MatMultTranspose(A, x, y));
          else
            OK(MatMult(A, x, y));
          Vector z = copy_of(y);
          OK(MatGetColumnVector(C, z, c));
          CHECK(difference_of_arrays(z, y) <= exact);
        }
      }
    }
}

TEST_CASE("entries, norms and the vector space of sums", "[sums]") {
  for (const Function &f : functions) {
    const Cloud cloud = random_cloud(45, 2, 1, Spread::skewed);
    Options     set = options(f);
    Matrix      A = make_square_sum(cloud), B;
    Vector      l = left_vector(A), r = right_vector(A), d = right_vector(A);
    INFO(f.name);
    set_random(l, 6);
    set_random(r, 7);
    set_random(d, 8);
    const auto check = [&](Mat sum, Mat dense) {
      Matrix    D = dense_of(sum), E;
      PetscReal norm, reference;
      CHECK(difference(D, dense) <= exact);
      OK(MatConvert(sum, MATDENSE, MAT_INITIAL_MATRIX, &E));
      CHECK(difference(E, dense) <= exact);
      for (NormType type : {NORM_1, NORM_INFINITY, NORM_FROBENIUS}) {
        OK(MatNorm(sum, type, &norm));
        OK(MatNorm(dense, type, &reference));
        CHECK(difference(norm, reference) <= exact);
      }
      Vector of_sum = right_vector(A), of_dense = right_vector(A);
      OK(MatGetDiagonal(sum, of_sum));
      OK(MatGetDiagonal(dense, of_dense));
      CHECK(difference_of_arrays(of_sum, of_dense) <= exact);
      Vector x = right_vector(A), y = left_vector(A), z = left_vector(A);
      set_random(x, 9);
      OK(MatMultTranspose(sum, x, y));
      OK(MatMultTranspose(dense, x, z));
      CHECK(difference_of_arrays(y, z) <= exact);
      OK(MatMultHermitianTranspose(sum, x, y));
      OK(MatMultHermitianTranspose(dense, x, z));
      CHECK(difference_of_arrays(y, z) <= exact);
      Matrix   many, of_many, reference_of_many;
      PetscInt n;
      OK(MatGetLocalSize(sum, NULL, &n));
      OK(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &many));
      OK(MatSetRandom(many, NULL));
      OK(MatMatMult(sum, many, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &of_many));
      OK(MatMatMult(dense, many, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &reference_of_many));
      CHECK(difference(of_many, reference_of_many) <= 10 * exact);
    };
    Matrix D = dense_of(A);
    check(A, D);
    OK(MatScale(A, 3));
    OK(MatScale(D, 3));
    OK(MatShift(A, 2));
    OK(MatShift(D, 2));
    check(A, D);
    OK(MatDiagonalScale(A, l, r));
    OK(MatDiagonalScale(D, l, r));
    OK(MatShift(A, 1));
    OK(MatShift(D, 1));
    check(A, D);
    OK(MatDiagonalSet(A, d, ADD_VALUES));
    OK(MatDiagonalSet(D, d, ADD_VALUES));
    OK(MatScale(A, -2));
    OK(MatScale(D, -2));
    check(A, D);
    OK(MatDuplicate(A, MAT_COPY_VALUES, &B));
    OK(MatDiagonalSet(A, d, INSERT_VALUES)); // of A alone
    check(B, D);
    OK(MatDiagonalSet(D, d, INSERT_VALUES));
    check(A, D);
  }
}

TEST_CASE("sums in composed matrices and solvers", "[sums]") {
  const Cloud cloud = random_cloud(80, 2, 1);
  Options     set("-mat_kernelsum_kernel inverse_multiquadric -mat_kernelsum_sigma 0.1");
  Matrix      A = make_square_sum(cloud), S, N;
  Vector      x = right_vector(A), y = left_vector(A), z = left_vector(A);
  set_random(x, 1);
  OK(MatMult(A, x, z));
  Mat parts[] = {A, A};
  OK(MatCreateComposite(PETSC_COMM_WORLD, 2, parts, &S));
  OK(MatMult(S, x, y));
  OK(VecScale(z, 2));
  CHECK(difference_of_arrays(y, z) <= exact);

  Mat block[] = {A, A, A, A};
  OK(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, block, &N));
  Vector    nested = right_vector(N), product = left_vector(N);
  PetscReal norm, reference;
  OK(VecSet(nested, 1));
  OK(MatMult(N, nested, product));
  OK(VecSet(x, 2));
  OK(MatMult(A, x, y));
  OK(VecNorm(product, NORM_INFINITY, &norm));
  OK(VecNorm(y, NORM_INFINITY, &reference));
  CHECK(difference(norm, reference) <= exact);

  Solver             ksp; // positive definite, with a ridge
  KSPConvergedReason reason;
  PetscInt           iterations;
  OK(MatShift(A, 0.1));
  set_random(x, 2);
  OK(MatMult(A, x, y));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, KSPCG));
  PC pc;
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCJACOBI));
  OK(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  OK(KSPSolve(ksp, y, z));
  OK(KSPGetConvergedReason(ksp, &reason));
  OK(KSPGetIterationNumber(ksp, &iterations));
  CHECK(reason > 0);
  CHECK(difference_of_arrays(z, x) <= 1e-8);
}

TEST_CASE("points of a DMDA and of a swarm", "[sums]") {
  const Function &gaussian = functions[0];
  Options         set = options(gaussian);
  Grid            da, swarm;
  Matrix          A, B;
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 7, PETSC_DECIDE,
                  PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  OK(DMSetFromOptions(da));
  OK(DMSetUp(da));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"no coordinates", "DMDASetUniformCoordinates"}),
               [&] { return MatCreateKernelSumDM(da, da, &B); });
  OK(DMDASetUniformCoordinates(da, 0, 1, 0, 2, 0, 0));

  const PetscInt N = 20;
  Cloud          particles = random_cloud(N, 2, 3);
  OK(DMCreate(PETSC_COMM_WORLD, &swarm));
  OK(DMSetType(swarm, DMSWARM));
  OK(DMSetDimension(swarm, 2));
  OK(DMSwarmSetType(swarm, DMSWARM_PIC));
  OK(DMSwarmSetCellDM(swarm, da));
  OK(DMSwarmFinalizeFieldRegister(swarm));
  const PetscInt n = local_size(N, Spread::even);
  OK(DMSwarmSetLocalSizes(swarm, n, 4));
  Vector             x = particles.coordinates();
  const PetscScalar *from;
  PetscReal         *to;
  OK(VecGetArrayRead(x, &from));
  OK(DMSwarmGetField(swarm, DMSwarmPICField_coor, NULL, NULL, (void **)&to));
  for (PetscInt i = 0; i < 2 * n; i++) to[i] = PetscRealPart(from[i]);
  OK(DMSwarmRestoreField(swarm, DMSwarmPICField_coor, NULL, NULL, (void **)&to));
  OK(VecRestoreArrayRead(x, &from));

  OK(MatCreateKernelSumDM(da, swarm, &A));
  Vec    nodes;
  Matrix C;
  OK(DMGetCoordinates(da, &nodes));
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, nodes, x, &C));
  Vector c = right_vector(A), y = left_vector(A), d = right_vector(C), z = left_vector(C);
  set_random(c, 1);
  set_random(d, 1);
  OK(MatMult(A, c, y));
  OK(MatMult(C, d, z));
  CHECK(difference_of_arrays(y, z) <= exact);
  PetscInt M, K;
  OK(MatGetSize(A, &M, &K));
  CHECK(M == 63);
  CHECK(K == N);
}

TEST_CASE("the view tells the sum, its size and its rate", "[sums]") {
  const Cloud targets = random_cloud(50, 3, 1), sources = random_cloud(40, 3, 2);
  Options     set = options(functions[0]);
  Matrix      A = make_sum(targets, sources);
  Vector      x = right_vector(A), y = left_vector(A);
  OK(VecSet(x, 1));
  OK(MatMult(A, x, y));
  const std::string text = view(A, PETSC_VIEWER_ASCII_INFO);
  for (const char *word : {"gaussian", "sigma = 0.2", "50 targets, 40 sources in 3-D", "precision double", "direct",
                           "1 product;", "2000 pairs", "dense matrix takes"})
    CHECK(text.find(word) != std::string::npos);
  MatType type;
  OK(MatGetType(A, &type));
  CHECK(std::string(type) == MATKERNELSUM);
  OK(MatMult(A, x, y));
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("2 products; the last: 2000 pairs") != std::string::npos);
}

TEST_CASE("the options of a kernel sum are in the help", "[sums]") {
  Matrix A;
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetOptionsPrefix(A, "helped_")); // help is printed once for each prefix
  OK(MatSetType(A, MATKERNELSUM));
  Options           asked("-help");
  const std::string help = printed([&] { OK(MatSetFromOptions(A)); });
  INFO(help);
  for (const char *word : {"_kernel", "_sigma", "_wavenumber", "_precision", "_self", "_type", "_rtol", "_monitor"})
    CHECK(help.find(std::string("-helped_mat_kernelsum") + word) != std::string::npos);
}

TEST_CASE("a monitor tells the progress of direct and of fast sums", "[sums][fast]") {
  const Cloud cloud = random_cloud(500, 3, 1);
  Options     set("-mat_kernelsum_monitor -mat_kernelsum_rtol 1e-3");
  for (const char *type : {"direct", "fast"})
    for (const char *kernel : {"gaussian", "laplace"}) {
      Options           with(std::string("-mat_kernelsum_type ") + type + " -mat_kernelsum_kernel " + kernel);
      Matrix            A = make_square_sum(cloud);
      Vector            x = right_vector(A), y = left_vector(A);
      const std::string text = printed([&] { OK(MatMult(A, x, y)); });
      INFO(type << " " << kernel << ":\n" << text);
      CHECK(text.find("kernelsum:") != std::string::npos);
      CHECK(text.find("100.0 %") != std::string::npos);
      CHECK(text.find("100.0 %") == text.rfind("100.0 %"));
    }
}

TEST_CASE("functions that create a kernel sum do so whatever -mat_type says", "[sums]") {
  const Cloud cloud = random_cloud(20, 3, 1);
  Options     set("-mat_type aij -mat_kernelsum_kernel laplace");
  Matrix      A = make_square_sum(cloud);
  MatType     type;
  OK(MatGetType(A, &type));
  CHECK(std::string(type) == MATKERNELSUM);
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("laplace") != std::string::npos);
}

TEST_CASE("mistakes in kernel sums are errors on every rank that change nothing", "[sums][errors]") {
  Cloud      targets = random_cloud(20, 3, 1), sources = random_cloud(10, 3, 2), plane = random_cloud(10, 2, 2);
  Vector     x = targets.coordinates(), y = sources.coordinates(), flat = plane.coordinates();
  const auto create = [&](Vec t, Vec s) {
    return [=] {
      Mat            A = NULL;
      PetscErrorCode code = MatCreateKernelSum(PETSC_COMM_WORLD, t, s, &A);
      PetscErrorCode destroyed = MatDestroy(&A);
      return code ? code : destroyed;
    };
  };
  const struct {
    const char              *options;
    PetscErrorCode           code;
    std::vector<std::string> words;
  } mistakes[] = {
      {"-mat_kernelsum_sigma 0", PETSC_ERR_ARG_OUTOFRANGE, {"sigma is 0", "positive"}},
      {"-mat_kernelsum_sigma -1", PETSC_ERR_ARG_OUTOFRANGE, {"sigma is -1", "positive"}},
      {"-mat_kernelsum_sigma inf", PETSC_ERR_ARG_OUTOFRANGE, {"inf"}}, // PETSc's own message, from 3.22 on
      {"-mat_kernelsum_wavenumber -2", PETSC_ERR_ARG_OUTOFRANGE, {"wavenumber is -2", "zero or positive"}},
      {"-mat_kernelsum_kernel bessel", PETSC_ERR_USER, {"bessel", "mat_kernelsum_kernel"}},
      {"-mat_kernelsum_precision half", PETSC_ERR_USER, {"half", "mat_kernelsum_precision"}},
      {"-mat_kernelsum_self none", PETSC_ERR_USER, {"none", "mat_kernelsum_self"}},
      {"-mat_kernelsum_type fastest", PETSC_ERR_USER, {"fastest", "mat_kernelsum_type"}},
      {"-mat_kernelsum_rtol 0", PETSC_ERR_ARG_OUTOFRANGE, {"tolerance is 0", "1e-12"}},
  };
  for (const auto &mistake : mistakes) {
    INFO(mistake.options);
    Options set(mistake.options);
    EXPECT_ERROR(mistake.code, (mistake.words), create(x, y));
  }
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"3 coordinates", "the sources 2", "same space"}), create(x, flat));
  Vector four = Cloud{targets}.vector(4, [](PetscInt i) { return (PetscScalar)i; });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"targets", "block size 4", "VecSetBlockSize"}), create(four, y));
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), create(x, NULL));
  for (PetscReal bad : {(PetscReal)NAN, (PetscReal)INFINITY}) {
    Cloud broken = sources;
    broken.x[3 * 6 + 1] = bad;
    Vector z = broken.coordinates();
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"coordinate y", "source point 6", "finite"}), create(x, z));
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"coordinate y", "target point 6", "finite"}), create(z, y));
  }

  Matrix A = make_sum(targets, sources), empty;
  Vector c = right_vector(A), f = left_vector(A), before = left_vector(A), wrong = left_vector(A);
  set_random(c, 1);
  OK(MatMult(A, c, before));
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"20", "10"}), [&] { return MatMult(A, wrong, f); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"sigma is nan"}), [&] { return MatKernelSumSetSigma(A, NAN); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"wavenumber is inf"}),
               [&] { return MatKernelSumSetWavenumber(A, INFINITY); });
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"kernel function", "MatSetUp"}), [&] { return MatKernelSumSetKernel(A, "laplace"); });
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"points", "MatSetUp"}), [&] { return MatKernelSumSetPoints(A, x, y); });
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"g(x, x)", "MatSetUp"}),
               [&] { return MatKernelSumSetSelf(A, MAT_KERNELSUM_SELF_ZERO); });
  EXPECT_ERROR(PETSC_ERR_SUP, ({"MatShift", "square"}), [&] { return MatShift(A, 1); });
  EXPECT_ERROR(PETSC_ERR_SUP, ({"diagonal", "as many targets as sources"}), [&] {
    Vector d = left_vector(A);
    return MatGetDiagonal(A, d);
  });
  OK(MatMult(A, c, f));
  CHECK(difference_of_arrays(f, before) == 0);

  OK(MatCreate(PETSC_COMM_WORLD, &empty));
  OK(MatSetType(empty, MATKERNELSUM));
  EXPECT_ERROR(PETSC_ERR_ARG_UNKNOWN_TYPE, ({"bessel", "gaussian", "thin_plate"}),
               [&] { return MatKernelSumSetKernel(empty, "bessel"); });
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"points", "MatKernelSumSetPoints"}), [&] { return MatSetUp(empty); });
}

// Loops that nothing optimises take long: fewer points under the sanitizers.
#if defined(__SANITIZE_ADDRESS__)
constexpr PetscInt fewer = 5;
#else
constexpr PetscInt fewer = 1;
#endif

// Relative, in the 2-norm, of the products with several random vectors: that of one alone may be small by chance.
static PetscReal difference_of_products(Mat A, Mat B, bool transposed) {
  PetscReal sums[2] = {0, 0};
  for (int seed = 20; seed < 24; seed++) {
    Vector    c = transposed ? left_vector(A) : right_vector(A), y = transposed ? right_vector(A) : left_vector(A);
    Vector    z = copy_of(y);
    PetscReal off, size;
    set_random(c, seed);
    OK(transposed ? MatMultTranspose(A, c, y) : MatMult(A, c, y));
    OK(transposed ? MatMultTranspose(B, c, z) : MatMult(B, c, z));
    OK(VecAXPY(y, -1, z));
    OK(VecNorm(y, NORM_2, &off));
    OK(VecNorm(z, NORM_2, &size));
    sums[0] += off * off;
    sums[1] += size * size;
  }
  return PetscSqrtReal(sums[1] > 0 ? sums[0] / sums[1] : sums[0]);
}

TEST_CASE("fast sums keep their tolerance", "[sums][fast]") {
  int number = 0;
  for (const Function &f : functions)
    for (const char *rtol : {"1e-4", "1e-9"}) {
      if (!in_turn(number++)) continue;
      const Cloud targets = random_cloud(3000 / fewer, 3, 1, Spread::skewed),
                  sources = random_cloud(4000 / fewer, 3, 2);
      Options set = options(f, std::string("-mat_kernelsum_rtol ") + rtol);
      Matrix  direct = make_sum(targets, sources);
      Options fast("-mat_kernelsum_type fast");
      Matrix  A = make_sum(targets, sources);
      INFO(f.name << " " << rtol);
      CHECK(difference_of_products(A, direct, false) <= 2 * std::stod(rtol));
      CHECK(difference_of_products(A, direct, true) <= 2 * std::stod(rtol));
      OK(MatKernelSumSetSigma(A, 0.3)); // another function, measured anew
      OK(MatKernelSumSetSigma(direct, 0.3));
      CHECK(difference_of_products(A, direct, false) <= 2 * std::stod(rtol));
    }
}

TEST_CASE("fast sums of narrow Gaussians, of clusters, planes and few points", "[sums][fast]") {
  int number = 0;
  for (const char *sigma : {"0.01", "0.05", "1", "30"})
    for (int dim = 1; dim <= 3; dim++) {
      if (!in_turn(number++)) continue;
      Options set(std::string("-mat_kernelsum_rtol 1e-7 -mat_kernelsum_sigma ") + sigma);
      Cloud   cloud = random_cloud(2500 / fewer, dim, 1, Spread::skewed);
      for (PetscInt i = 0; i < 700 / fewer * dim; i++) cloud.x[i] = 5 + PetscReal(1e-3) * cloud.x[i]; // a dense cluster
      INFO("sigma " << sigma << " in " << dim << "-D");
      Matrix  direct = make_square_sum(cloud);
      Options fast("-mat_kernelsum_type fast");
      Matrix  A = make_square_sum(cloud);
      CHECK(difference_of_products(A, direct, false) <= 2e-7);
      CHECK(difference_of_products(A, direct, true) <= 2e-7);
    }
  for (PetscInt N : {0, 1, 2, 257})
    for (const char *kernel : {"gaussian", "laplace"}) {
      Options     set(std::string("-mat_kernelsum_kernel ") + kernel);
      const Cloud cloud = random_cloud(N, 3, 1, Spread::last), other = random_cloud(N / 2, 3, 2);
      Matrix      direct = make_sum(cloud, other);
      Options     fast("-mat_kernelsum_type fast");
      Matrix      A = make_sum(cloud, other);
      INFO(kernel << " " << N);
      CHECK(difference_of_products(A, direct, false) <= 2e-6);
    }
}

TEST_CASE("a fast sum says what it is and what its error was; auto takes direct sums of few points", "[sums][fast]") {
  const Cloud cloud = random_cloud(2000 / fewer, 3, 1);
  Options     set("-mat_kernelsum_type fast -mat_kernelsum_sigma 0.3");
  Matrix      A = make_square_sum(cloud);
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("Fourier series of") != std::string::npos);
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("error measured") != std::string::npos);
  Options kernel("-mat_kernelsum_kernel laplace");
  Matrix  B = make_square_sum(cloud);
  CHECK(view(B, PETSC_VIEWER_ASCII_INFO).find("treecode of order") != std::string::npos);
  Vector         c = right_vector(B), y = left_vector(B);
  PetscLogDouble bytes = 0;
  OK(VecSet(c, 1));
  OK(MatMult(B, c, y));
  const std::string text = view(B, PETSC_VIEWER_ASCII_INFO);
  CHECK(text.find("terms/s") != std::string::npos);
  bytes = std::stod(text.substr(text.find("bytes stored: ") + 14));
  CHECK(bytes > 2 * 3 * sizeof(PetscReal) * cloud.N); // more than the points: the tree
  Options automatic("-mat_kernelsum_type auto");
  Matrix  C = make_square_sum(cloud);
  CHECK(view(C, PETSC_VIEWER_ASCII_INFO).find("direct sums") != std::string::npos);
  Options tight("-mat_kernelsum_type fast -mat_kernelsum_precision single -mat_kernelsum_rtol 1e-10");
  Vector  x = cloud.coordinates();
  Matrix  D;
  EXPECT_ERROR(PETSC_ERR_NOT_CONVERGED, ({"error", "1e-10", "direct", "double"}),
               [&] { return MatCreateKernelSum(PETSC_COMM_WORLD, x, x, &D); });
}

TEST_CASE("the function of a fast sum may change while it is scaled and shifted", "[sums][fast]") {
  const Cloud cloud = random_cloud(1500 / fewer, 3, 1);
  for (const char *kernel : {"gaussian", "inverse_multiquadric", "yukawa"}) {
    Options set(std::string("-mat_kernelsum_sigma 0.2 -mat_kernelsum_kernel ") + kernel);
    Matrix  direct = make_square_sum(cloud);
    Options fast("-mat_kernelsum_type fast");
    Matrix  A = make_square_sum(cloud);
    Vector  d = right_vector(A);
    INFO(kernel);
    set_random(d, 3);
    for (Mat M : {(Mat)A, (Mat)direct}) {
      OK(MatShift(M, 10));
      OK(MatScale(M, 3));
      OK(MatDiagonalScale(M, d, d));
      OK(MatKernelSumSetSigma(M, 0.3));
      OK(MatKernelSumSetWavenumber(M, 2));
    }
    CHECK(difference_of_products(A, direct, false) <= 2e-6);
    CHECK(difference_of_products(A, direct, true) <= 2e-6);
  }
}

TEST_CASE("a fast sum that cannot keep its tolerance is an error that changes nothing", "[sums][fast][errors]") {
  const Cloud cloud = random_cloud(2000 / fewer, 3, 1);
  Options     set("-mat_kernelsum_type fast -mat_kernelsum_kernel laplace -mat_kernelsum_rtol 1e-10");
  Matrix      A = make_square_sum(cloud), B;
  Vector      c = right_vector(A), before = left_vector(A), y = left_vector(A), x = cloud.coordinates();
  set_random(c, 1);
  OK(MatMult(A, c, before));
  EXPECT_ERROR(PETSC_ERR_NOT_CONVERGED, ({"1e-10"}), [&] { return MatKernelSumSetPrecision(A, MAT_KERNELSUM_SINGLE); });
  OK(MatMult(A, c, y));
  CHECK(difference_of_arrays(y, before) == 0);
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("precision double") != std::string::npos);

  Options single("-mat_kernelsum_precision single");
  EXPECT_ERROR(PETSC_ERR_NOT_CONVERGED, ({"1e-10"}), [&] { return MatCreateKernelSum(PETSC_COMM_WORLD, x, x, &B); });
  EXPECT_ERROR(PETSC_ERR_NOT_CONVERGED, ({"1e-10"}), [&] { return MatMult(B, c, y); }); // it is not set up
  OK(MatKernelSumSetPrecision(B, MAT_KERNELSUM_DOUBLE));
  OK(MatMult(B, c, y));
  CHECK(difference_of_arrays(y, before) == 0);
}

TEST_CASE("fast sums far from the sources, where all terms are small", "[sums][fast]") {
  const Cloud sources = random_cloud(2000 / fewer, 3, 1),
              targets = random_cloud(1000 / fewer, 3, 2, Spread::skewed, PetscReal(2));
  for (const char *kernel : {"gaussian", "inverse_multiquadric"}) {
    Options set(std::string("-mat_kernelsum_sigma 0.1 -mat_kernelsum_kernel ") + kernel);
    Matrix  direct = make_sum(targets, sources);
    for (const char *type : {"fast", "auto"}) {
      Options with(std::string("-mat_kernelsum_type ") + type);
      Matrix  A = make_sum(targets, sources);
      INFO(kernel << " " << type);
      CHECK(difference_of_products(A, direct, false) <= 2e-6);
      if (type[0] == 'a') CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("direct sums") != std::string::npos);
    }
  }
}

TEST_CASE("the error of a fast sum is that of all targets, whatever their order", "[sums][fast]") {
  if (!in_turn(0)) return;
  constexpr PetscInt n = fewer > 1 ? 16 : 32; // a grid, of which every 64th point is on one face, far from all sources
  Cloud              targets, sources = random_cloud(2000 / fewer, 3, 1);
  targets.N = n * n * n;
  for (PetscInt i = 0; i < targets.N; i++)
    for (PetscInt index : {i % n, i / n % n, i / n / n}) targets.x.push_back((PetscReal)index / (n - 1));
  for (PetscInt j = 0; j < sources.N; j++) sources.x[3 * j] = PetscReal(0.5) + PetscReal(0.5) * sources.x[3 * j];
  Options set("-mat_kernelsum_sigma 0.05 -mat_kernelsum_rtol 1e-2");
  Matrix  direct = make_sum(targets, sources);
  Options fast("-mat_kernelsum_type fast");
  Matrix  A = make_sum(targets, sources);
  CHECK(difference_of_products(A, direct, false) <= 2e-2);
  CHECK(difference_of_products(A, direct, true) <= 2e-2);
}

TEST_CASE("fast sums in tight clusters and of many points at one place", "[sums][fast]") {
  Cloud cloud = random_cloud(6000 / fewer, 3, 1);
  for (PetscInt i = 0; i < cloud.N; i++) // two clusters of 1e-4 of the extent, and one place
    for (int a = 0; a < 3; a++) {
      PetscReal &x = cloud.x[3 * i + a];
      x = i % 3 == 0 ? PetscReal(1e-4) * x : i % 3 == 1 ? 1 + PetscReal(1e-4) * x : PetscReal(0.5);
    }
  for (const char *kernel : {"laplace", "logarithm"}) {
    Options set(std::string("-mat_kernelsum_rtol 1e-6 -mat_kernelsum_kernel ") + kernel);
    Matrix  direct = make_square_sum(cloud);
    Options fast("-mat_kernelsum_type fast");
    Matrix  A = make_square_sum(cloud);
    INFO(kernel);
    CHECK(difference_of_products(A, direct, false) <= 2e-6);
  }
}

TEST_CASE("the same sums twice are the same bits", "[sums]") {
  for (const char *precision : {"double", "single"}) {
    const Cloud targets = random_cloud(333, 3, 1), sources = random_cloud(777, 3, 2);
    Options     set(std::string("-mat_kernelsum_kernel laplace -mat_kernelsum_precision ") + precision);
    Matrix      A = make_sum(targets, sources);
    Vector      c = right_vector(A), y = left_vector(A), z = left_vector(A);
    set_random(c, 1);
    OK(MatMult(A, c, y));
    OK(MatMult(A, c, z));
    CHECK(difference_of_arrays(y, z) == 0);
  }
}

static bool vectors_are_on_a_gpu() { // with -vec_type cuda
  Vector    v;
  VecType   type;
  PetscBool cuda;
  OK(VecCreate(PETSC_COMM_WORLD, &v));
  OK(VecSetSizes(v, 1, PETSC_DETERMINE));
  OK(VecSetFromOptions(v));
  OK(VecGetType(v, &type));
  OK(PetscStrendswith(type, "cuda", &cuda));
  return cuda;
}

TEST_CASE("products on the host, then on a GPU, then on the host", "[sums][device]") {
  if (!vectors_are_on_a_gpu()) return;
  const Cloud cloud = random_cloud(300, 3, 1);
  Matrix      A = make_square_sum(cloud);
  Vector      c = right_vector(A), y = left_vector(A), b = left_vector(A);
  set_random(c, 1);
  set_random(b, 2);
  Vector host_c = on_host(c), host_y = on_host(y), host_b = on_host(b), reference = on_host(y);
  OK(MatShift(A, 2));
  OK(MatDiagonalScale(A, host_b, c));
  OK(MatDiagonalSet(A, b, ADD_VALUES));
  OK(MatMultAdd(A, host_c, host_b, reference));
  for (int turn = 0; turn < 2; turn++) {
    OK(MatMultAdd(A, c, b, y));
    CHECK(difference_of_arrays(y, reference) <= 10 * exact);
    OK(MatMultAdd(A, host_c, host_b, host_y));
    CHECK(difference_of_arrays(host_y, reference) <= 10 * exact);
    OK(MatGetDiagonal(A, y));
    OK(MatGetDiagonal(A, host_y));
    CHECK(difference_of_arrays(y, host_y) <= exact);
    OK(MatMultAdd(A, host_c, host_b, host_y));
  }
}

TEST_CASE("CUDA vectors give the host's sums", "[sums][device]") {
  if (!vectors_are_on_a_gpu()) return;
  // many targets, few sources; few targets, many sources; both
  const PetscInt sizes[][2] = {{70000, 50}, {50, 70000}, {5000, 3001}, {1, 1}, {129, 128}};
  for (const Function &f : functions)
    for (const auto &size : sizes) {
      const Cloud targets = random_cloud(size[0], 3, 1), sources = random_cloud(size[1], 3, 2);
      Options     set = options(f);
      Matrix      A = make_sum(targets, sources), B;
      Vector      s = targets.coordinates(), t = sources.coordinates(), host_s = on_host(s), host_t = on_host(t);
      OK(VecSetBlockSize(host_s, 3));
      OK(VecSetBlockSize(host_t, 3));
      OK(MatCreateKernelSum(PETSC_COMM_WORLD, host_s, host_t, &B));
      for (const char *precision : {"double", "single", "mixed"}) {
        Options with(std::string("-mat_kernelsum_precision ") + precision);
        OK(MatSetFromOptions(A));
        OK(MatSetFromOptions(B));
        const PetscReal within = precision[0] == 'd' ? 10 * exact : 5e-6;
        Vector          c = right_vector(A), y = left_vector(A), d = right_vector(B), z = left_vector(B);
        INFO(f.name << " " << precision << " " << size[0] << " x " << size[1]);
        set_random(c, 1);
        set_random(d, 1);
        OK(VecShift(c, 2));
        OK(VecShift(d, 2));
        OK(MatMult(A, c, y));
        OK(MatMult(B, d, z));
        CHECK(difference_of_arrays(y, z) <= within);
        OK(MatMultTranspose(A, y, c));
        OK(MatMultTranspose(B, z, d));
        CHECK(difference_of_arrays(c, d) <= 2 * within);
      }
    }
}
