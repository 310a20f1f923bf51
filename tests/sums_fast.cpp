// Fast kernel sums: against direct ones.

#include "catch.hpp"
#include "sums.hpp"

#include "sums/fast_sum.hpp"

#include <cmath>

using namespace tests;
using namespace tests::sums;

TEST_CASE("fast sums keep their tolerance", "[sums][fast]") {
  const struct {
    int         dim; // a plane's clusters need so few interpolation points that high orders are worth while
    const char *rtol;
  } cases[] = {{3, "1e-4"}, {2, "1e-9"}};
  int number = 0;
  for (const Function &f : functions) {
    if (!in_turn(number++)) continue;
    for (const auto &of : cases) {
      const Cloud sources = random_cloud(2400, of.dim, 2, Spread::even, 0, PetscReal(0.5));
      Cloud       targets = random_cloud(1000, of.dim, 1, Spread::skewed, 0, PetscReal(0.5));
      for (PetscInt i = 0; i < targets.N; i++) // some are far away on either side, so that the first rank has such ones
        if (i % 3) targets.x[(size_t)(i * of.dim)] += PetscReal(i % 3 == 1 ? 1.5 : -1.5);
      const PetscReal tolerance = (PetscReal)std::stod(of.rtol);
      Options         set = options(f);
      Matrix          direct = make_sum(targets, sources);
      Options         fast(std::string("-mat_kernelsum_type fast -mat_kernelsum_rtol ") + of.rtol);
      Matrix          A = make_sum(targets, sources);
      INFO(f.name << " in " << of.dim << "-D, " << of.rtol);
      CHECK(difference_of_products(A, direct, false) <= tolerance);
      CHECK(difference_of_products(A, direct, true) <= tolerance);
      if (f.kernel != Kernel::gaussian && rank_count() <= 3) { // on more, a rank has too few points
        const std::string text = view(A, PETSC_VIEWER_ASCII_INFO);
        CHECK(text.find("far ones") != std::string::npos);
        CHECK(text.find(", 0 far ones") == std::string::npos);
      }
      if (!f.sigma) continue;
      OK(MatKernelSumSetSigma(A, 0.3)); // another function, measured anew
      OK(MatKernelSumSetSigma(direct, 0.3));
      CHECK(difference_of_products(A, direct, false) <= tolerance);
    }
  }
}

// The set-up measures a mean: no single target may be much worse. Against a double loop in long double.
TEST_CASE("each target of a fast sum is right", "[sums][fast]") {
  int number = 0;
  for (const Function &f : functions) {
    if (!in_turn(number++)) continue;
    const PetscInt N = 3000 / fewer;
    Cloud          sources = random_cloud(N, 2, 2), targets = random_cloud(300, 2, 1);
    for (PetscInt i = 0; i < N; i++) // denser towards a corner
      for (int a = 0; a < 2; a++) sources.x[2 * i + a] *= sources.x[2 * i + a];
    for (PetscInt i = 0; i < 100; i++) // some targets are as close to a source as its neighbours
      for (int a = 0; a < 2; a++) targets.x[2 * i + a] = sources.x[2 * (7 * i) + a] + PetscReal(1e-3);
    const auto      c = random_weights(f, N, 3);
    Options         set = options(f, " -mat_kernelsum_type fast -mat_kernelsum_rtol 1e-6");
    Matrix          A = make_sum(targets, sources), B;
    Vector          u = weight_vector(f, sources, c), v = left_vector(A);
    Real            squares = 0, worst = 0;
    const PetscReal rtol = 1e-6;
    OK(MatMult(A, u, v));
    std::vector<Number> expected;
    for (PetscInt i = 0; i < targets.N; i++) {
      Number sum = 0;
      for (PetscInt j = 0; j < N; j++) sum += entry(f, targets, i, sources, j) * c[(size_t)j];
      squares += std::norm(sum);
      expected.push_back(sum);
    }
    Vector exact_sums = weight_vector(f, targets, expected), difference = left_vector(A);
    OK(VecCopy(v, difference));
    OK(VecAXPY(difference, -1, exact_sums));
    PetscReal most;
    OK(VecNorm(difference, NORM_INFINITY, &most));
    worst = most;
    INFO(f.name << ": the largest error is " << (double)(worst / std::sqrt(squares / targets.N))
                << " root mean squares");
    CHECK(worst <= 10 * rtol * std::sqrt(squares / (Real)targets.N));
  }
}

TEST_CASE("fast sums are as accurate far from the origin", "[sums][fast]") {
  for (PetscReal at : {PetscReal(1e6), PetscReal(-1e8)})
    for (int dim = 1; dim <= 2; dim++) {
      const PetscReal fine = PetscReal(1. / 1024 / 1024 / 16); // coordinates that are exact at both places
      const bool      single = sizeof(PetscReal) < sizeof(double);
      Cloud           near = random_cloud(1500, dim, 1), far;
      for (PetscReal &x : near.x) x = std::floor(x / fine) * fine;
      far = near;
      for (PetscReal &x : far.x) x += at;
      Options set(std::string("-mat_kernelsum_kernel logarithm -mat_kernelsum_type fast -mat_kernelsum_rtol ") +
                  (single ? "1e-4" : "1e-10"));
      INFO(dim << "-D at " << at);
      Matrix A = make_square_sum(near), B = make_square_sum(far);
      Vector c = right_vector(A), y = left_vector(A), z = left_vector(A);
      set_random(c, 1);
      OK(MatMult(A, c, y));
      OK(MatMult(B, c, z));
      if (!single) CHECK(difference_of_arrays(z, y) <= 1e-12);
      OK(MatKernelSumSetMethod(A, MAT_KERNELSUM_DIRECT, PETSC_DEFAULT));
      OK(MatMult(A, c, y));
      if (!single) CHECK(difference_of_arrays(z, y) <= 1e-8);
    }
}

// exp(-r/sigma) and others beside the Gaussian: pairs beyond their reach are not computed, whatever the function is called.
TEST_CASE("fast sums of any narrow function leave out what is beyond its reach", "[sums][fast]") {
  const Cloud cloud = random_cloud(vectors_are_on_a_gpu() ? 12000 : 6000, 2, 1); // its clusters fill a block of threads
  const auto  pairs_of = [&](const char *options) {
    Options                set(std::string("-mat_kernelsum_type fast ") + options);
    Matrix                 A = make_square_sum(cloud), direct;
    shellac::KernelSumMat *context;
    OK(shellac::MatGetKernelSum(A, &context));
    PetscReal terms = (PetscReal)context->fast->Terms(false), all = 0;
    MPI_Allreduce(&terms, &all, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD);
    OK(MatDuplicate(A, MAT_COPY_VALUES, &direct));
    OK(MatKernelSumSetMethod(direct, MAT_KERNELSUM_DIRECT, PETSC_DEFAULT));
    CHECK(difference_of_products(A, direct, false) <= 2e-6);
    return all / (PetscReal)cloud.N / (PetscReal)cloud.N;
  };
  for (const char *options :
       {"-mat_kernelsum_kernel yukawa -mat_kernelsum_wavenumber 300",
        "-mat_kernelsum_formula exp(-r/sigma) -mat_kernelsum_sigma 0.003",
        "-mat_kernelsum_formula (1+r/sigma)*exp(-r/sigma) -mat_kernelsum_sigma 0.003",
        "-mat_kernelsum_formula exp(-r*r/(2*sigma*sigma)) -mat_kernelsum_sigma 0.01",
        "-mat_kernelsum_formula pow(max(1-r/sigma,0),4)*(4*r/sigma+1) -mat_kernelsum_sigma 0.05"}) {
    INFO(options);
    const PetscReal part = pairs_of(options); // of all pairs
    CHECK(part <= (vectors_are_on_a_gpu() ? 0.25 : 0.15));
  }
}

TEST_CASE("fast sums of narrow Gaussians, of clusters, planes and few points", "[sums][fast]") {
  int number = 0;
  for (const char *sigma : {"0.01", "0.05", "1", "30"})
    for (int dim = 1; dim <= 3; dim++) {
      if (!in_turn(number++)) continue;
      Options set(std::string("-mat_kernelsum_sigma ") + sigma);
      Cloud   cloud = random_cloud(2500 / fewer, dim, 1, Spread::skewed);
      for (PetscInt i = 0; i < 700 / fewer * dim; i++) cloud.x[i] = 5 + PetscReal(1e-3) * cloud.x[i]; // a dense cluster
      INFO("sigma " << sigma << " in " << dim << "-D");
      Matrix  direct = make_square_sum(cloud);
      Options fast("-mat_kernelsum_type fast -mat_kernelsum_rtol 1e-7");
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
  Options     set("-mat_kernelsum_type fast");
  Matrix      A = make_square_sum(cloud);
  OK(MatKernelSumSetSigma(A, 0.3));
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("Fourier series of") != std::string::npos);
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("error measured") != std::string::npos);
  Options kernel("-mat_kernelsum_kernel laplace");
  Matrix  B = make_square_sum(cloud);
  CHECK(view(B, PETSC_VIEWER_ASCII_INFO).find("trees of order") != std::string::npos);
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
  Matrix  D = make_square_sum(cloud);
  EXPECT_ERROR(PETSC_ERR_NOT_CONVERGED, ({"error", "1e-10", "direct", "double"}), [&] { return MatMult(D, c, y); });
  if (!vectors_are_on_a_gpu()) // more modes than points, and fewer
    for (const bool narrow : {true, false}) {
      Options gaussian(
          std::string("-mat_kernelsum_kernel gaussian -mat_kernelsum_type auto -mat_kernelsum_precision double "
                      "-mat_kernelsum_sigma ") +
          (narrow ? "0.03" : "0.15"));
      Matrix E = make_square_sum(random_cloud(2000, 2, 1));
      CHECK(view(E, PETSC_VIEWER_ASCII_INFO).find(narrow ? "direct sums" : "Fourier series") != std::string::npos);
    }
}

TEST_CASE("the first order that a fast sum tries keeps its tolerance", "[sums][fast]") {
  const Cloud cloud = random_cloud(8000, 3, 1);
  for (const char *kernel : {"laplace", "thin_plate"})
    for (const char *rtol : {"1e-3", "1e-6", "1e-9"}) {
      Options set(std::string("-mat_kernelsum_type fast -mat_kernelsum_kernel ") + kernel);
      Options to(std::string("-mat_kernelsum_rtol ") + rtol);
      Matrix  A = make_square_sum(cloud);
      INFO(kernel << " " << rtol);
      CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("orders tried: 1;") != std::string::npos);
    }
}

TEST_CASE("the function of a fast sum may change while it is scaled and shifted", "[sums][fast]") {
  const Cloud cloud = random_cloud(1500 / fewer, 3, 1);
  for (int f : {0, 5, 3}) { // gaussian, inverse_multiquadric, yukawa
    Options set = options(functions[f]);
    Matrix  direct = make_square_sum(cloud);
    Options fast("-mat_kernelsum_type fast");
    Matrix  A = make_square_sum(cloud);
    Vector  d = right_vector(A);
    INFO(functions[f].name);
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
  const std::string text = view(A, PETSC_VIEWER_ASCII_INFO);
  CHECK(text.find("near pairs in double precision") != std::string::npos);
  CHECK(text.find("single") == std::string::npos); // the tolerance needs double precision everywhere

  Options single("-mat_kernelsum_precision single");
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, x, x, &B));
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
  constexpr PetscInt nx = 8, ny = 16,
                     nz = 32; // the first of each 512th of the points is on one face, far from all sources
  Cloud targets, sources = random_cloud(2000 / fewer, 3, 1);
  targets.N = nx * ny * nz;
  for (PetscInt i = 0; i < targets.N; i++) {
    targets.x.push_back((PetscReal)(i % nx) / (nx - 1));
    targets.x.push_back((PetscReal)(i / nx % ny) / (ny - 1));
    targets.x.push_back((PetscReal)(i / nx / ny) / (nz - 1));
  }
  for (PetscInt j = 0; j < sources.N; j++) sources.x[3 * j] = PetscReal(0.5) + PetscReal(0.5) * sources.x[3 * j];
  Options set("-mat_kernelsum_sigma 0.15");
  Matrix  direct = make_sum(targets, sources);
  Options fast("-mat_kernelsum_type fast -mat_kernelsum_rtol 1e-2");
  Matrix  A = make_sum(targets, sources);
  CHECK(difference_of_products(A, direct, false) <= 2e-2);
  CHECK(difference_of_products(A, direct, true) <= 2e-2);
  // relative to that face's sums, which vanish, no series has a small error
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("Fourier series of") != std::string::npos);
}

TEST_CASE("fast sums in tight clusters and of many points at one place", "[sums][fast]") {
  Cloud cloud = random_cloud(6000 / fewer, 3, 1);
  for (PetscInt i = 0; i < cloud.N; i++) // two clusters of 1e-4 of the extent, and one place
    for (int a = 0; a < 3; a++) {
      PetscReal &x = cloud.x[3 * i + a];
      x = i % 3 == 0 ? PetscReal(1e-4) * x : i % 3 == 1 ? 1 + PetscReal(1e-4) * x : PetscReal(0.5);
    }
  for (const char *kernel : {"laplace", "logarithm"}) {
    Options set(std::string("-mat_kernelsum_kernel ") + kernel);
    Matrix  direct = make_square_sum(cloud);
    Options fast("-mat_kernelsum_type fast -mat_kernelsum_rtol 1e-6");
    Matrix  A = make_square_sum(cloud);
    INFO(kernel);
    CHECK(difference_of_products(A, direct, false) <= 2e-6);
  }
}

// Terms that all ranks add up in a product.
static double terms_of(Mat A) {
  Vector c = right_vector(A), y = left_vector(A);
  set_random(c, 1);
  OK(MatMult(A, c, y));
  const std::string text = view(A, PETSC_VIEWER_ASCII_INFO), before = "the last: ";
  REQUIRE(text.find(before) != std::string::npos);
  return std::stod(text.substr(text.find(before) + before.size()));
}

TEST_CASE("fast sums are of two trees, of compact regions on the ranks", "[sums][fast]") {
  const PetscInt N = 8000 / fewer;
  Cloud          cloud = random_cloud(N, 2, 1), other = random_cloud(N / 2, 2, 2, Spread::skewed);
  Options        set("-mat_kernelsum_kernel laplace -mat_kernelsum_type fast");
  Matrix         A = make_square_sum(cloud), B = make_sum(other, cloud);
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("trees of order") != std::string::npos);
  // points in random order, as many terms as on one rank: a rank's trees would be as wide as all points otherwise
  CHECK(terms_of(A) < (vectors_are_on_a_gpu() ? 2900. : 1850.) * (double)N);
  Options direct("-mat_kernelsum_type direct");
  Matrix  D = make_square_sum(cloud), E = make_sum(other, cloud);
  CHECK(difference_of_products(A, D, false) <= 1e-6);
  CHECK(difference_of_products(B, E, false) <= 1e-6);
  CHECK(difference_of_products(B, E, true) <= 1e-6);
}

TEST_CASE("fast sums keep tolerances from 1e-3 to 1e-10 on uniform, clustered, planar and coincident points",
          "[sums][fast]") {
  const PetscInt N = 2400 / fewer;
  int            number = 0;
  for (int shape = 0; shape < 4; shape++) {
    Cloud cloud = random_cloud(N, 3, 1);
    for (PetscInt i = 0; i < N; i++)
      for (int a = 0; a < 3; a++) {
        PetscReal &x = cloud.x[3 * i + a];
        if (shape == 1) x = (PetscReal)(i >> a & 1) + PetscReal(0.05) * x;
        if (shape == 2 && a == 2) x = PetscReal(0.25);
        if (shape == 3) x = PetscRealPart(random_value((size_t)(i / 4 * 3 + a), 5)); // four at each place
      }
    for (const char *kernel : {"laplace", "inverse_multiquadric -mat_kernelsum_sigma 0.05"})
      for (const char *rtol : {"1e-3", "1e-6", "1e-10"}) {
        if (!in_turn(number++)) continue;
        Options set(std::string("-mat_kernelsum_kernel ") + kernel);
        Matrix  direct = make_square_sum(cloud);
        Options fast(std::string("-mat_kernelsum_type fast -mat_kernelsum_rtol ") + rtol);
        Matrix  A = make_square_sum(cloud);
        INFO(kernel << ", shape " << shape << ", " << rtol);
        CHECK(difference_of_products(A, direct, false) <= std::stod(rtol)); // of other vectors than the measured
        if (fewer == 1 && rank_count() == 1 &&
            (shape == 1 || shape == 2)) // else 1e-10 has no clusters of so many points
          CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find(", 0 far ones") == std::string::npos);
      }
  }
}
