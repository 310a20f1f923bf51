// What the tests of kernel sums share: the functions once more, in long double, and clouds of points.

#include "catch.hpp"
#include "sums.hpp"

#include <cmath>

namespace tests::sums {

static const Real pi = std::acos(Real(-1));

const Function functions[8] = {{Kernel::gaussian, "gaussian", false, true, false},
                               {Kernel::laplace, "laplace", true, false, false},
                               {Kernel::helmholtz, "helmholtz", true, false, true},
                               {Kernel::yukawa, "yukawa", true, false, true},
                               {Kernel::multiquadric, "multiquadric", false, true, false},
                               {Kernel::inverse_multiquadric, "inverse_multiquadric", false, true, false},
                               {Kernel::thin_plate, "thin_plate", false, false, false},
                               {Kernel::logarithm, "logarithm", true, false, false}};

static const Real sigma = Real((PetscReal)0.2), wavenumber = 7;

bool is(const Function &f, const char *name) {
  return std::string(f.name) == name;
}
// g and (1/r) dg/dr at a distance r > 0.
static void evaluate(const Function &f, Real r, Number *g, Number *slope) {
  const Number i(0, 1);
  switch (f.kernel) {
  case Kernel::gaussian:
    *g = std::exp(-r * r / (2 * sigma * sigma)), *slope = -*g / (sigma * sigma);
    return;
  case Kernel::laplace:
    *g = 1 / (4 * pi * r), *slope = -*g / (r * r);
    return;
  case Kernel::helmholtz:
    *g = std::exp(i * wavenumber * r) / (4 * pi * r), *slope = *g * (i * wavenumber - 1 / r) / r;
    return;
  case Kernel::yukawa:
    *g = std::exp(-wavenumber * r) / (4 * pi * r), *slope = -*g * (wavenumber + 1 / r) / r;
    return;
  case Kernel::multiquadric:
    *g = std::sqrt(r * r + sigma * sigma), *slope = Real(1) / *g;
    return;
  case Kernel::inverse_multiquadric:
    *g = 1 / std::sqrt(r * r + sigma * sigma), *slope = -*g * *g * *g;
    return;
  case Kernel::thin_plate:
    *g = r * r * std::log(r), *slope = 2 * std::log(r) + 1;
    return;
  case Kernel::logarithm:
    *g = -std::log(r) / (2 * pi), *slope = -1 / (2 * pi * r * r);
  }
}
static Number limit(const Function &f) {
  switch (f.kernel) {
  case Kernel::gaussian:
    return 1;
  case Kernel::multiquadric:
    return sigma;
  case Kernel::inverse_multiquadric:
    return 1 / sigma;
  default:
    return 0;
  }
}
// Whether values are pairs of real numbers.
bool interleaved(const Function &f) {
  return f.kernel == Kernel::helmholtz && !complex_petsc;
}
std::string option_text(const Function &f) {
  return std::string("-mat_kernelsum_kernel ") + f.name + (f.sigma ? " -mat_kernelsum_sigma 0.2" : "") +
         (f.wavenumber ? " -mat_kernelsum_wavenumber 7" : "");
}
Options options(const Function &f, const std::string &more) {
  return Options(option_text(f) + " " + more);
}

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

Vector Cloud::vector(int block, const std::function<PetscScalar(PetscInt)> &value) const {
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
Vector Cloud::coordinates() const {
  return vector(dim, [&](PetscInt i) { return (PetscScalar)x[i]; });
}
Cloud random_cloud(PetscInt N, int dim, int seed, Spread spread, PetscReal at, PetscReal size) {
  Cloud c;
  c.N = N, c.dim = dim, c.spread = spread;
  for (PetscInt i = 0; i < N * dim; i++)
    c.x.push_back(at + size * (PetscRealPart(random_value((size_t)i, seed)) + 1) / 2);
  return c;
}
static Real difference_of(const Cloud &a, PetscInt i, const Cloud &b, PetscInt j, int axis) {
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
Vector weight_vector(const Function &f, const Cloud &cloud, const std::vector<Number> &w, int components) {
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
Number entry(const Function &f, const Cloud &targets, PetscInt i, const Cloud &sources, PetscInt j, int component,
             bool with_limit) {
  Real   r2 = 0;
  Number g = 0, slope = 0;
  for (int a = 0; a < targets.dim; a++) {
    const Real d = difference_of(targets, i, sources, j, a);
    r2 += d * d;
  }
  if (r2 == 0) return component < 0 && with_limit ? limit(f) : 0;
  evaluate(f, std::sqrt(r2), &g, &slope);
  return component < 0 ? g : slope * difference_of(targets, i, sources, j, component);
}

// Each rank sums for its own rows.
PetscReal error_of_sum(const Function &f, Vec y, PetscInt rows, PetscInt columns, const std::vector<Number> &c,
                       const std::function<Number(PetscInt, PetscInt)> &entries) {
  const int          parts = interleaved(f) ? 2 : 1;
  PetscInt           first, last, all;
  const PetscScalar *array;
  Number             sum = 0;
  Real               off = 0, largest = 0;
  OK(VecGetSize(y, &all));
  REQUIRE(all == rows * parts);
  OK(VecGetOwnershipRange(y, &first, &last));
  OK(VecGetArrayRead(y, &array));
  for (PetscInt row = first; row < last; row++) {
    if (row == first || row % parts == 0) {
      Real size = 0;
      sum = 0;
      for (PetscInt j = 0; j < columns; j++) {
        const Number term = entries(row / parts, j) * c[j];
        sum += term;
        size += std::abs(term);
      }
      largest = std::max(largest, size);
    }
    const PetscScalar value = array[row - first];
    Real              d;
#if defined(PETSC_USE_COMPLEX)
    d = std::abs(sum - Number(PetscRealPart(value), PetscImaginaryPart(value)));
#else
    d = std::abs((row % parts ? sum.imag() : sum.real()) - (Real)value);
#endif
    off = std::isnan((double)d) ? INFINITY : std::max(off, d);
  }
  OK(VecRestoreArrayRead(y, &array));
  double both[2] = {(double)off, (double)largest};
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return (PetscReal)(both[1] > 0 ? both[0] / both[1] : both[0]);
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
PetscReal difference_of_columns(Mat A, Mat B, PetscInt columns) {
  Matrix   C, of_A, of_B;
  PetscInt n;
  OK(MatGetLocalSize(A, NULL, &n));
  OK(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, columns, NULL, &C));
  OK(MatSetRandom(C, NULL));
  OK(MatMatMult(A, C, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &of_A));
  OK(MatMatMult(B, C, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &of_B));
  return difference(of_A, of_B);
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

// Relative, in the 2-norm, of the products with two random vectors: that of one alone may be small by chance.
PetscReal difference_of_products(Mat A, Mat B, bool transposed) {
  PetscReal sums[2] = {0, 0};
  for (int seed = 20; seed < 22; seed++) {
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

bool vectors_are_on_a_gpu() { // with -vec_type cuda
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

} // namespace tests::sums
