#pragma once
// What the tests of kernel sums share: the kernel functions in long double, written without the library's, clouds of
// points, and products beside a double loop.

#include <complex>

#include "support.hpp"

namespace tests::sums {

using Real = long double;
using Number = std::complex<Real>;

constexpr bool complex_petsc = PetscDefined(USE_COMPLEX);

enum class Kernel { gaussian, laplace, helmholtz, yukawa, multiquadric, inverse_multiquadric, thin_plate, logarithm };
struct Function {
  Kernel      kernel;
  const char *name;
  bool        singular, sigma, wavenumber; // the last two: whether it has that parameter
};
extern const Function functions[8];

bool        is(const Function &f, const char *name);
bool        interleaved(const Function &f); // whether values are pairs of real numbers
std::string option_text(const Function &f); // the function, with sigma 0.2 or the wavenumber 7 where it has them
Options     options(const Function &f, const std::string &more = "");

enum class Spread { even, last, skewed }; // over the ranks
PetscInt local_size(PetscInt N, Spread spread);

// A cloud of N points, the same on any number of ranks.
struct Cloud {
  PetscInt               N = 0;
  int                    dim = 3;
  std::vector<PetscReal> x; // coordinate a of point i is x[i dim + a]
  Spread                 spread = Spread::even;

  Vector vector(int block, const std::function<PetscScalar(PetscInt)> &value) const; // value(i block + component)
  Vector coordinates() const;
};
Cloud random_cloud(PetscInt N, int dim, int seed, Spread spread = Spread::even, PetscReal at = 0, PetscReal size = 1);

// Values at points: complex numbers that the vector holds as its PETSc can.
std::vector<Number> random_weights(const Function &f, PetscInt N, int seed);
Vector weight_vector(const Function &f, const Cloud &cloud, const std::vector<Number> &w, int components = 1);

// Entry of the matrix, in the order of rows: value, or component of the gradient; 0 at coincident points, or the limit.
Number entry(const Function &f, const Cloud &targets, PetscInt i, const Cloud &sources, PetscInt j, int component = -1,
             bool with_limit = true);

// The largest error of y over the largest Σ |g c|, which bounds what rounding can do; entries(i, j) in the order of the
// vectors y and c.
PetscReal error_of_sum(const Function &f, Vec y, PetscInt rows, PetscInt columns, const std::vector<Number> &c,
                       const std::function<Number(PetscInt, PetscInt)> &entries);
PetscReal tolerance(PetscInt terms);

Matrix make_sum(const Cloud &targets, const Cloud &sources);
Matrix make_square_sum(const Cloud &cloud);
Matrix dense_of(Mat A); // by unit vectors, on the host
Vector right_vector(Mat A);
Vector left_vector(Mat A);
void   set_random(Vec v, int seed);

PetscReal difference_of_arrays(Vec x, Vec y); // of vectors of any types, in the infinity norm over that of y
// Relative, in the 2-norm, of the products with two random vectors: that of one alone may be small by chance.
PetscReal difference_of_products(Mat A, Mat B, bool transposed);

// Relative, of the products with a dense matrix of random columns.
PetscReal difference_of_columns(Mat A, Mat B, PetscInt columns);

Vector on_host(Vec v);
bool   vectors_are_on_a_gpu(); // with -vec_type cuda

// Loops that nothing optimises take long: fewer points under the sanitizers.
constexpr PetscInt fewer = sanitized ? 5 : 1;

} // namespace tests::sums
