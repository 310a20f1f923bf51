// Products of kernel sums: against a double loop in long double, whatever the function, the dimension, the numbers of
// points, their distribution and the precision.

#include "catch.hpp"
#include "sums.hpp"

using namespace tests;
using namespace tests::sums;

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

TEST_CASE("the acoustic function of long waves is Laplace's", "[sums]") {
  const Cloud    targets = random_cloud(50, 3, 1), sources = random_cloud(60, 3, 2);
  const Function acoustic = functions[2], laplace = functions[1];
  const auto     c = random_weights(laplace, 60, 3);
  Vector         x = weight_vector(acoustic, sources, c), z = weight_vector(laplace, sources, c);
  Options        set("-mat_kernelsum_kernel helmholtz -mat_kernelsum_wavenumber 1e-30");
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
  OK(MatKernelSumSetWavenumber(A, 1e-30));
  OK(MatMult(A, c, y));
  OK(VecNorm(y, NORM_INFINITY, &bound));
  CHECK(wave <= 2 * bound);
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
