// Settings of kernel sums: options, setters in any order, mistakes.

#include "catch.hpp"
#include "sums.hpp"

#include <cmath>

using namespace tests;
using namespace tests::sums;

// Creates a sum, multiplies by it once, and destroys it.
static std::function<PetscErrorCode()> create_and_use(Vec targets, Vec sources) {
  return [=]() -> PetscErrorCode {
    Mat A = NULL;
    Vec c = NULL, y = NULL;
    PetscFunctionBegin;
    PetscErrorCode code = MatCreateKernelSum(PETSC_COMM_WORLD, targets, sources, &A);
    if (!code) code = MatCreateVecs(A, &c, &y);
    if (!code) code = VecSet(c, 1);
    if (!code) code = MatMult(A, c, y);
    PetscCall(VecDestroy(&c));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(code);
  };
}

TEST_CASE("coincident points are an error that names them, if asked for", "[sums]") {
  Cloud   targets = random_cloud(40, 2, 1), sources = random_cloud(31, 2, 2, Spread::last);
  Options set("-mat_kernelsum_kernel laplace -mat_kernelsum_self error");
  Matrix  none = make_sum(targets, sources);
  for (int a = 0; a < 2; a++) targets.x[23 * 2 + a] = sources.x[17 * 2 + a];
  Vector x = targets.coordinates(), y = sources.coordinates();
  OK(MatMult(none, right_vector(none), left_vector(none)));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"target 23", "source 17", "same point", "-mat_kernelsum_self zero"}),
               create_and_use(x, y));
  Cloud same = random_cloud(20000, 2, 1); // and quickly so
  std::fill(same.x.begin(), same.x.end(), PetscReal(0.5));
  Vector z = same.coordinates();
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"target 0", "source 0", "same point"}), create_and_use(z, z));
  Options limit("-mat_kernelsum_self limit");
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"laplace", "limit", "zero"}), create_and_use(x, y));
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
  Options     set("-mat_kernelsum_monitor");
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
  Cloud  targets = random_cloud(20, 3, 1), sources = random_cloud(10, 3, 2), plane = random_cloud(10, 2, 2);
  Vector x = targets.coordinates(), y = sources.coordinates(), flat = plane.coordinates();
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
      {"-mat_kernelsum_rtol 1e-3", PETSC_ERR_ARG_INCOMP, {"rtol 0.001", "no effect", "-mat_kernelsum_type fast"}},
      {"-mat_kernelsum_wavenumber 3", PETSC_ERR_ARG_INCOMP, {"wavenumber 3", "no effect", "gaussian", "yukawa"}},
      {"-mat_kernelsum_kernel helmholtz",
       PETSC_ERR_ARG_WRONGSTATE,
       {"helmholtz", "-mat_kernelsum_wavenumber", "laplace"}},
      {"-mat_kernelsum_kernel yukawa", PETSC_ERR_ARG_WRONGSTATE, {"yukawa", "-mat_kernelsum_wavenumber", "laplace"}},
  };
  for (const auto &mistake : mistakes) {
    INFO(mistake.options);
    Options set(mistake.options);
    EXPECT_ERROR(mistake.code, (mistake.words), create_and_use(x, y));
  }
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"3 coordinates", "the sources 2", "same space"}), create_and_use(x, flat));
  Vector four = Cloud{targets}.vector(4, [](PetscInt i) { return (PetscScalar)i; });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"targets", "block size 4", "VecSetBlockSize"}), create_and_use(four, y));
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), create_and_use(x, NULL));
  for (PetscReal bad : {(PetscReal)NAN, (PetscReal)INFINITY}) {
    Cloud broken = sources;
    broken.x[3 * 6 + 1] = bad;
    Vector z = broken.coordinates();
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"coordinate y", "source point 6", "finite"}), create_and_use(x, z));
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"coordinate y", "target point 6", "finite"}), create_and_use(z, y));
  }

  Matrix A = make_sum(targets, sources), empty;
  Vector c = right_vector(A), f = left_vector(A), before = left_vector(A), wrong = left_vector(A);
  set_random(c, 1);
  OK(MatMult(A, c, before));
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"20", "10"}), [&] { return MatMult(A, wrong, f); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"sigma is nan"}), [&] { return MatKernelSumSetSigma(A, NAN); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"wavenumber is inf"}),
               [&] { return MatKernelSumSetWavenumber(A, INFINITY); });
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

TEST_CASE("options that a kernel function has no use for are errors that name those that have", "[sums][errors]") {
  const Cloud targets = random_cloud(9, 3, 1), sources = random_cloud(8, 3, 2);
  Vector      x = targets.coordinates(), y = sources.coordinates();
  for (const Function &f : functions) {
    INFO(f.name);
    if (!f.sigma) {
      Options set = options(f, "-mat_kernelsum_sigma 0.4");
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"sigma 0.4", "no effect", f.name, "inverse_multiquadric"}),
                   create_and_use(x, y));
    }
    if (!f.wavenumber) {
      Options set = options(f, "-mat_kernelsum_wavenumber 4");
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"wavenumber 4", "no effect", f.name, "helmholtz, yukawa"}),
                   create_and_use(x, y));
    }
  }
  // an option that meets a function that the program chooses later; and one given to a Mat in use
  Options sigma_option("-mat_kernelsum_sigma 0.4");
  Matrix  A = make_sum(targets, sources);
  Vector  c = right_vector(A), f = left_vector(A), before = left_vector(A);
  OK(VecSet(c, 1));
  OK(MatKernelSumSetKernel(A, "laplace"));
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"sigma 0.4", "no effect", "laplace"}), [&] { return MatMult(A, c, f); });
  OK(MatKernelSumSetKernel(A, "multiquadric"));
  OK(MatMult(A, c, before));
  OK(MatKernelSumSetKernel(A, "laplace")); // the option has had its effect
  OK(MatMult(A, c, f));
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"sigma 0.4", "no effect"}), [&] { return MatSetFromOptions(A); });
  OK(MatMult(A, c, before));
  CHECK(difference_of_arrays(before, f) == 0);
}

TEST_CASE("setters take effect whenever they are called", "[sums]") {
  const Cloud targets = random_cloud(40, 3, 1, Spread::skewed), sources = random_cloud(50, 3, 2),
              other = random_cloud(30, 3, 5), more = random_cloud(60, 3, 6, Spread::last);
  Vector x = other.coordinates(), y = more.coordinates();
  for (const Function &f : functions)
    for (bool used : {false, true}) { // right after MatCreateKernelSum(), after products
      Matrix A = make_sum(targets, sources), G;
      INFO(f.name << (used ? " after a product" : ""));
      if (used) {
        Vector one = right_vector(A), product = left_vector(A);
        OK(VecSet(one, 1));
        OK(MatMult(A, one, product));
      }
      if (f.sigma) OK(MatKernelSumSetSigma(A, 0.2));
      if (f.wavenumber) OK(MatKernelSumSetWavenumber(A, 7));
      OK(MatKernelSumSetKernel(A, f.name));
      OK(MatKernelSumSetSelf(A, MAT_KERNELSUM_SELF_ZERO));
      OK(MatKernelSumSetPrecision(A, MAT_KERNELSUM_DOUBLE));
      const auto check = [&](const Cloud &to, const Cloud &from, PetscReal within) {
        const auto c = random_weights(f, from.N, 3);
        Vector     u = weight_vector(f, from, c), v = left_vector(A);
        OK(MatMult(A, u, v));
        CHECK(error_of_sum(f, v, to.N, from.N, c, [&](PetscInt i, PetscInt j) { return entry(f, to, i, from, j); }) <=
              within);
      };
      check(targets, sources, tolerance(50));
      OK(MatKernelSumSetPoints(A, x, y)); // other numbers of points
      check(other, more, tolerance(60));
      OK(MatKernelSumSetMethod(A, MAT_KERNELSUM_FAST, 1e-5));
      check(other, more, PetscReal(1e-4));
      OK(MatKernelSumSetMethod(A, MAT_KERNELSUM_DIRECT, PETSC_DEFAULT));
      OK(MatKernelSumSetPoints(A, y, y)); // equal points: g(x, x) counts for nothing
      const auto c = random_weights(f, more.N, 3);
      Vector     u = weight_vector(f, more, c), v = left_vector(A);
      OK(MatMult(A, u, v));
      CHECK(error_of_sum(f, v, more.N, more.N, c, [&](PetscInt i, PetscInt j) {
              return entry(f, more, i, more, j, -1, false);
            }) <= tolerance(60));
      OK(MatKernelSumCreateGradient(A, &G));
      if (f.sigma) OK(MatKernelSumSetSigma(G, 0.2));
      Vector z = left_vector(G);
      OK(MatMult(G, u, z));
      CHECK(error_of_sum(f, z, more.N * 3, more.N, c, [&](PetscInt i, PetscInt j) {
              return entry(f, more, i / 3, more, j, (int)(i % 3));
            }) <= tolerance(60));
    }
}

TEST_CASE("a change that fails leaves a kernel sum as it was", "[sums][errors]") {
  const Cloud targets = random_cloud(20, 3, 1), sources = random_cloud(30, 3, 2), few = random_cloud(5, 3, 3);
  Matrix      A = make_sum(targets, sources), B = make_square_sum(few);
  Vector      c = right_vector(A), f = left_vector(A), before = left_vector(A), x = few.coordinates();
  set_random(c, 1);
  OK(MatMult(A, c, before));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"-mat_kernelsum_wavenumber"}),
               [&] { return MatKernelSumSetKernel(A, "helmholtz"); }); // whose vectors would be longer
  Options set("-mat_kernelsum_precision single -mat_kernelsum_kernel laplace -mat_kernelsum_self limit");
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"limit"}), [&] { return MatSetFromOptions(A); });
  OK(MatMult(A, c, f));
  CHECK(difference_of_arrays(f, before) == 0);
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("gaussian") != std::string::npos);
  OK(MatMult(B, right_vector(B), left_vector(B)));
  OK(MatDiagonalScale(A, before, NULL));
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"scaled"}), [&] { return MatKernelSumSetPoints(A, x, x); });
  OK(MatMult(A, c, f));
  OK(VecPointwiseMult(before, before, before));
  CHECK(difference_of_arrays(f, before) <= exact);
}

TEST_CASE("settings that differ between ranks are errors on all of them that change nothing", "[sums][errors]") {
  if (rank_count() < 2) return;
  const Cloud cloud = random_cloud(60, 2, 1), other = random_cloud(60, 2, 2);
  Vector      x = cloud.coordinates(), y = other.coordinates();
  int         rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const bool first = rank == 0;
  for (const char *type : {"direct", "fast"}) {
    Options set(std::string("-mat_kernelsum_type ") + type);
    Matrix  A = make_square_sum(cloud);
    Solver  ksp;
    PC      pc;
    Vector  c = right_vector(A), f = left_vector(A), before = left_vector(A);
    set_random(c, 1);
    OK(MatMult(A, c, before));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCKERNELSUM));
    const auto refused = [&](const std::vector<std::string> &words, const std::function<PetscErrorCode()> &call) {
      std::vector<std::string> all = words;
      all.push_back("differs between the ranks: on rank 0");
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, (all), call);
    };
    refused({"MatKernelSumSetSigma() with 0.3", "MatKernelSumSetSigma() with 0.1"},
            [&] { return MatKernelSumSetSigma(A, first ? 0.3 : 0.1); });
    refused({"MatKernelSumSetWavenumber() with 2"}, [&] { return MatKernelSumSetWavenumber(A, first ? 2 : 3); });
    refused({"laplace", "logarithm"}, [&] { return MatKernelSumSetKernel(A, first ? "laplace" : "logarithm"); });
    refused({"exp(-r)", "1/(1+r)"}, [&] { return MatKernelSumSetFormula(A, first ? "exp(-r)" : "1/(1+r)"); });
    refused({"MatKernelSumSetPrecision()"},
            [&] { return MatKernelSumSetPrecision(A, first ? MAT_KERNELSUM_DOUBLE : MAT_KERNELSUM_MIXED); });
    refused({"MatKernelSumSetSelf()"},
            [&] { return MatKernelSumSetSelf(A, first ? MAT_KERNELSUM_SELF_ZERO : MAT_KERNELSUM_SELF_AUTO); });
    refused({"MatKernelSumSetMethod()"},
            [&] { return MatKernelSumSetMethod(A, first ? MAT_KERNELSUM_DIRECT : MAT_KERNELSUM_FAST, 1e-6); });
    refused({"0.001", "1e-09"}, [&] { return MatKernelSumSetMethod(A, MAT_KERNELSUM_FAST, first ? 1e-3 : 1e-9); });
    refused({"as sources"}, [&] { return MatKernelSumSetPoints(A, x, first ? x : y); });
    refused({"MatKernelSumSetSigma()", "MatKernelSumSetKernel()"}, // other calls
            [&] { return first ? MatKernelSumSetSigma(A, 0.3) : MatKernelSumSetKernel(A, "laplace"); });
    refused({"PCKernelSumSetBoxSize() with 20"}, [&] { return PCKernelSumSetBoxSize(pc, first ? 20 : 30); });
    refused({"PCKernelSumSetVariant()"},
            [&] { return PCKernelSumSetVariant(pc, first ? PC_KERNELSUM_SYMMETRIC : PC_KERNELSUM_RESTRICTED); });
    for (const char *option : {"-mat_kernelsum_sigma 0.3", "-mat_kernelsum_rtol 1e-3", "-mat_kernelsum_kernel nonsense",
                               "-pc_kernelsum_box 30"}) { // on one rank
      Options here(first ? option : "");
      refused({option}, [&] { return option[1] == 'm' ? MatSetFromOptions(A) : PCSetFromOptions(pc); });
    }
    OK(MatMult(A, c, f));
    CHECK(difference_of_arrays(f, before) == 0);
  }
}

TEST_CASE("points of another dimension are an error", "[sums][errors]") {
  const Cloud cloud = random_cloud(20, 2, 1);
  Matrix      A = make_square_sum(cloud);
  Vector      flat = cloud.vector(1, [](PetscInt i) { return (PetscScalar)i; });
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"2-D", "block size 1", "VecSetBlockSize(x, 2)"}),
               [&] { return MatKernelSumSetPoints(A, flat, flat); });
  PetscInt M;
  OK(MatGetSize(A, &M, NULL));
  CHECK(M == 20);
  if (!complex_petsc) return;
  Vector z =
      cloud.vector(2, [](PetscInt i) { return i == 7 ? PetscScalar(std::sqrt(PetscScalar(-1))) : PetscScalar(0.5); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"coordinate y", "point 3", "real"}),
               [&] { return MatKernelSumSetPoints(A, z, z); });
}

TEST_CASE("PETSc is told of symmetry only where scalings keep it", "[sums]") {
  const Cloud cloud = random_cloud(20, 2, 1), other = random_cloud(20, 2, 2);
  Matrix      A = make_square_sum(cloud), B = make_square_sum(cloud), C = make_square_sum(cloud);
  Vector      left = left_vector(A), x = cloud.coordinates(), y = other.coordinates();
  set_random(left, 1);
  const auto known = [](Mat M) { // symmetric
    PetscBool set, is;
    OK(MatIsSymmetricKnown(M, &set, &is));
    return set && is;
  };
  for (Mat M : {(Mat)A, (Mat)B, (Mat)C}) {
    Vector c = right_vector(M), f = left_vector(M);
    OK(VecSet(c, 1));
    OK(MatMult(M, c, f)); // sets it up
    CHECK(known(M));
  }
  OK(MatDiagonalScale(A, left, NULL));
  OK(MatKernelSumSetSigma(A, 0.3));
  CHECK(!known(A));
  OK(MatDiagonalScale(B, left, left));
  OK(MatKernelSumSetSigma(B, 0.3));
  CHECK(known(B));
  OK(MatKernelSumSetPoints(C, x, y));
  CHECK(!known(C));
}

TEST_CASE("the list of kernel functions has their formulas", "[sums]") {
  const char *const *names, *const *formulas;
  OK(MatKernelSumGetKernels(&names, &formulas));
  for (const Function &f : functions) {
    INFO(f.name);
    REQUIRE(*names);
    CHECK(std::string(*names++) == f.name);
    const std::string formula = std::string(" ") + *formulas++ + " ";
    CHECK((formula.find("sigma") != std::string::npos) == f.sigma);
    CHECK((formula.find(" k ") != std::string::npos || formula.find("-k ") != std::string::npos) == f.wavenumber);
  }
  CHECK(!*names);
  CHECK(!*formulas);
}

TEST_CASE("a preconditioner follows a kernel sum whose function changes", "[sums]") {
  const Cloud cloud = random_cloud(40, 2, 1);
  Options     set("-mat_kernelsum_kernel inverse_multiquadric -mat_kernelsum_sigma 0.1");
  Matrix      A = make_square_sum(cloud);
  Solver      ksp;
  PC          pc;
  Vector      b = right_vector(A), x = right_vector(A), d = right_vector(A);
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCJACOBI));
  OK(VecSet(b, 1));
  for (PetscReal sigma : {0.1, 0.01}) { // the diagonal is 1/sigma
    OK(MatKernelSumSetSigma(A, sigma));
    OK(KSPSetUp(ksp));
    OK(PCApply(pc, b, x));
    OK(VecSet(d, sigma));
    CHECK(difference_of_arrays(x, d) <= exact);
  }
}

TEST_CASE("null outputs of kernel sums are errors", "[sums][errors]") {
  const Cloud cloud = random_cloud(6, 2, 1);
  Matrix      A = make_square_sum(cloud);
  Vector      x = cloud.coordinates();
  Grid        da;
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"MatCreateKernelSum", "null"}),
               [&] { return MatCreateKernelSum(PETSC_COMM_WORLD, x, x, NULL); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"MatKernelSumCreateGradient", "null"}),
               [&] { return MatKernelSumCreateGradient(A, NULL); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"name", "null"}), [&] { return MatKernelSumSetKernel(A, NULL); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [&] { return MatKernelSumSetPoints(A, NULL, x); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [&] { return MatKernelSumSetSigma(NULL, 1); });
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, NULL, &da));
  OK(DMSetUp(da));
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"MatCreateKernelSumDM", "null"}),
               [&] { return MatCreateKernelSumDM(da, da, NULL); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [&] {
    Mat B = NULL;
    return MatCreateKernelSumDM(da, NULL, &B);
  });
}

TEST_CASE("gradients are direct, also of fast sums; to ask them for a fast method is an error", "[sums][settings]") {
  const Cloud targets = random_cloud(30, 3, 1), sources = random_cloud(20, 3, 2);
  Matrix      direct = make_sum(targets, sources), fast = make_sum(targets, sources), G[2];
  OK(MatKernelSumSetMethod(fast, MAT_KERNELSUM_FAST, 1e-2));
  OK(MatKernelSumCreateGradient(direct, &G[0]));
  OK(MatKernelSumCreateGradient(fast, &G[1]));
  Vector c = right_vector(G[0]), y = left_vector(G[0]), z = left_vector(G[1]);
  set_random(c, 1);
  OK(MatMult(G[0], c, y));
  OK(MatMult(G[1], c, z));
  CHECK(difference_of_arrays(y, z) == 0);
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"-mat_kernelsum_type fast has no effect", "gradients", "auto"}),
               [&] { return MatKernelSumSetMethod(G[1], MAT_KERNELSUM_FAST, 1e-2); });
  OK(MatMult(G[1], c, z));
  CHECK(difference_of_arrays(y, z) == 0);
}
