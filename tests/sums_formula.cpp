// Kernel functions that are given as a text: against the library's own.

#include "catch.hpp"
#include "equations.hpp"
#include "gpu.hpp"
#include "equations/nvrtc.hpp"
#include "sums/formula.hpp"
#include "misuse.hpp"
#include "sums.hpp"

#include <cmath>
#include <cstdlib>

using namespace tests;
using namespace tests::sums;

// A text, and the function of the library that it is.
static const struct {
  const char *text, *kernel;
} formulas[] = {{"exp(-r*r/(2*sigma*sigma))", "gaussian"},
                {"1/(4*pi*r)", "laplace"},
                {"exp(-k*r)/(4*pi*r)", "yukawa"},
                {"sqrt(pow(r, 2) + pow(sigma, 2))", "multiquadric"},
                {"1/sqrt(r*r + sigma*sigma)", "inverse_multiquadric"},
                {"r*r*log(r)", "thin_plate"}, // no number at r = 0, where the library's has its limit 0
                {"-log(r)/(2*pi)", "logarithm"}};

static const Function &function_of(const char *kernel) {
  for (const Function &f : functions)
    if (is(f, kernel)) return f;
  return functions[0];
}
static std::string without_kernel(const Function &f) {
  return std::string(f.sigma ? "-mat_kernelsum_sigma 0.2" : "") + (f.wavenumber ? " -mat_kernelsum_wavenumber 7" : "");
}
static bool compiler_is_there() { // and the cache of the tests
  (void)equations_work();
  return std::system(NULL) != 0;
}

TEST_CASE("formulas are the functions that they say", "[sums][formula]") {
  if (!compiler_is_there()) return;
  for (const auto &formula : formulas) {
    const Function &f = function_of(formula.kernel);
    Cloud           targets = random_cloud(137, 3, 1, Spread::skewed), sources = random_cloud(253, 3, 2);
    for (int a = 0; a < 3; a++) targets.x[5 * 3 + a] = sources.x[7 * 3 + a]; // at one place
    for (const char *precision : {"double", "single", "mixed"}) {
      const PetscReal within = precision[0] == 'd' ? 10 * exact : PetscReal(2e-5);
      Options         in(std::string("-mat_kernelsum_precision ") + precision);
      Matrix          A, B;
      {
        Options set = options(f);
        B = make_sum(targets, sources);
      }
      {
        Options set(without_kernel(f));
        OK(PetscOptionsSetValue(NULL, "-mat_kernelsum_formula", formula.text)); // which may have blanks
        A = make_sum(targets, sources);
        OK(PetscOptionsClearValue(NULL, "-mat_kernelsum_formula"));
      }
      INFO(formula.text << " in " << precision << " precision");
      CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find(formula.text) != std::string::npos);
      CHECK(difference_of_products(A, B, false) <= within);
      CHECK(difference_of_products(A, B, true) <= within);
      Matrix G, H;
      OK(MatKernelSumCreateGradient(A, &G));
      OK(MatKernelSumCreateGradient(B, &H));
      CHECK(difference_of_products(G, H, false) <= 10 * within);
      CHECK(difference_of_products(G, H, true) <= 10 * within);
      CHECK(difference_of_columns(A, B, 7) <= within);
      if (precision[0] != 'd') continue;
      Matrix entries, same;
      OK(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &entries));
      OK(MatConvert(B, MATDENSE, MAT_INITIAL_MATRIX, &same));
      CHECK(difference(entries, same) <= 10 * exact);
    }
  }
}

// Two points at each of many distances: values against the C library's functions in long double.
TEST_CASE("functions in formulas are accurate where they underflow and near zero", "[sums][formula]") {
  if (!compiler_is_there()) return;
  using Exact = std::function<long double(long double)>;
  const struct {
    const char *text;
    double      ulps; // units in the last place of the value
    Exact       value;
  } cases[] = {
      {"exp(-r)", 4, [](long double r) { return std::exp(-r); }},
      {"exp(-700 - r)", 4, [](long double r) { return std::exp(-700 - r); }},
      {"tanh(r)", 4, [](long double r) { return std::tanh(r); }},
      {"-tanh(-r)", 4, [](long double r) { return std::tanh(r); }},
      {"pow(r, 12)", 8, [](long double r) { return std::pow(r, 12.L); }},
      {"pow(r, -6)", 8, [](long double r) { return std::pow(r, -6.L); }},
      {"pow(r, 3)", 4, [](long double r) { return r * r * r; }},
      {"pow(r, 20)", 4, [](long double r) { return std::pow(r, 20.L); }},
      {"pow(max(1 - r/4, 0), 3)", 8, [](long double r) { return std::pow(std::max(1 - r / 4, 0.L), 3.L); }},
      {"pow(max(1 - r/4, 0), 2.5)", 4, [](long double r) { return std::pow(std::max(1 - r / 4, 0.L), 2.5L); }},
  };
  const PetscReal tiny = PetscReal(4e-308); // what is below counts as zero
  Cloud           targets = random_cloud(64, 1, 1), origin = random_cloud(1, 1, 2);
  origin.x[0] = 0;
  for (PetscInt i = 0; i < targets.N; i++) targets.x[(size_t)i] = (PetscReal)std::exp2(0.25 * (double)i - 6); // to 844
  if (sizeof(PetscReal) < sizeof(double)) return;
  for (const auto &one : cases) {
    INFO(one.text);
    OK(PetscOptionsSetValue(NULL, "-mat_kernelsum_formula", one.text));
    Matrix A = make_sum(targets, origin);
    OK(PetscOptionsClearValue(NULL, "-mat_kernelsum_formula"));
    Vector    c = right_vector(A), y = left_vector(A);
    PetscInt  begin, end;
    PetscReal worst = 0, all;
    OK(VecSet(c, 1));
    OK(MatMult(A, c, y));
    OK(VecGetOwnershipRange(y, &begin, &end));
    Vector             here = on_host(y);
    const PetscScalar *values;
    OK(VecGetArrayRead(here, &values));
    for (PetscInt i = begin; i < end; i++) {
      const long double g = one.value((long double)targets.x[(size_t)i]);
      const long double error = std::abs((long double)PetscRealPart(values[i - begin]) - g);
      if (error > tiny) worst = std::max(worst, (PetscReal)(error / std::abs(g) / (long double)PETSC_MACHINE_EPSILON));
    }
    OK(VecRestoreArrayRead(here, &values));
    MPI_Allreduce(&worst, &all, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
    CHECK(all <= one.ulps);
  }
}

// Needs no GPU.
TEST_CASE("formulas compile for a GPU", "[sums][formula]") {
  if (!shellac::nvrtc_present() || rank_count() > 1) {
    cases_skipped++;
    return;
  }
  (void)compiler_is_there();
  const auto compile = [](const char *text, bool narrow) {
    const std::string source = narrow ? shellac::formula_kernels<float>(text) : shellac::formula_kernels<double>(text);
    std::vector<std::string> binaries;
    std::string              problem;
    INFO(text);
    OK(shellac::CompileKernels(PETSC_COMM_WORLD, {source}, "formula", 90, "", &binaries, &problem));
    CHECK(problem == "");
    CHECK(binaries.size() == 1);
  };
  compile("r < sigma ? pow(1 - r/sigma, 4)*(4*r/sigma + 1) : exp(-r/sigma)", false); // two seconds and more
  compile("cos(k*r)/r", true);
}

TEST_CASE("coincident points of a formula", "[sums][formula]") {
  if (!compiler_is_there()) return;
  const Cloud cloud = random_cloud(40, 2, 1);
  // value at r = 0; whether it is finite there
  const struct {
    const char *text;
    double      value;
    bool        finite;
  } cases[] = {
      {"2*exp(-r)", 2, true}, {"1/r", 0, false}, {"log(r)", 0, false}, {"r*log(r)", 0, false}, {"sin(r)/r", 0, false}};
  for (const auto &c : cases) {
    Matrix A = make_square_sum(cloud);
    INFO(c.text);
    OK(MatKernelSumSetFormula(A, c.text));
    Vector    d = left_vector(A), one = right_vector(A), y = left_vector(A);
    PetscReal least, most, norm;
    OK(MatGetDiagonal(A, d));
    OK(VecMin(on_host(d), NULL, &least));
    OK(VecMax(on_host(d), NULL, &most));
    CHECK(least == PetscReal(c.value));
    CHECK(most == PetscReal(c.value));
    set_random(one, 3);
    OK(MatMult(A, one, y));
    OK(VecNorm(y, NORM_2, &norm));
    CHECK(std::isfinite((double)norm));
    if (!c.finite)
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"limit", "no finite limit"}),
                   [&] { return MatKernelSumSetSelf(A, MAT_KERNELSUM_SELF_LIMIT); });
    OK(MatKernelSumSetSelf(A, MAT_KERNELSUM_SELF_ZERO));
    OK(MatGetDiagonal(A, d));
    OK(VecNorm(d, NORM_2, &norm));
    CHECK(norm == 0);
  }
}

// A value at r = 0 that is finite in double precision, but not in single.
TEST_CASE("coincident points of a formula in each precision", "[sums][formula]") {
  if (!compiler_is_there()) return;
  const Cloud cloud = random_cloud(150, 3, 1);
  for (const char *text : {"r*log(r + 1e-50)", "1/sqrt(r*r + 1e-50)"})
    for (const char *precision : {"double", "single", "mixed"}) {
      Options set(std::string("-mat_kernelsum_precision ") + precision);
      Matrix  A = make_square_sum(cloud), dense;
      INFO(text << " in " << precision << " precision");
      OK(MatKernelSumSetFormula(A, text));
      OK(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &dense));
      CHECK(difference_of_products(A, dense, false) <= (precision[0] == 'd' ? 10 * exact : PetscReal(2e-5)));
      CHECK(difference_of_columns(A, dense, 3) <= (precision[0] == 'd' ? 10 * exact : PetscReal(2e-5)));
    }
}

// Without a GPU, or without a compiler for it, all ranks have the same error, and the host's sums go on.
TEST_CASE("kernels of a formula are made by all ranks together", "[sums][formula]") {
  if (!compiler_is_there()) return;
  std::shared_ptr<shellac::KernelFormula> formula;
  OK(shellac::KernelFormula::Create(PETSC_COMM_WORLD, "exp(-r)", &formula));
  if (no_gpu(false) || !shellac::nvrtc_present()) {
    EXPECT_ERROR(PETSC_ERR_SUP, ({"no kernels of the formula exp(-r)", "vectors on the host"}),
                 [&] { return formula->NeedKernels<double>(PETSC_COMM_WORLD); });
    EXPECT_ERROR(PETSC_ERR_SUP, ({"no kernels of the formula exp(-r)"}), // the second time, too
                 [&] { return formula->NeedKernels<double>(PETSC_COMM_WORLD); });
  } else {
    OK(formula->NeedKernels<double>(PETSC_COMM_WORLD));
    CHECK(formula->kernels<double>().library.present());
  }
  OK(formula->NeedKernels(PETSC_COMM_WORLD, PETSC_MEMTYPE_HOST, false));
}

TEST_CASE("a long formula as an option", "[sums][formula]") {
  if (!compiler_is_there()) return;
  Matrix      A = make_square_sum(random_cloud(30, 3, 1));
  std::string text = "exp(-r) + 0.";
  while (text.size() < 3000) text += '0'; // many terms would take a compiler long
  OK(PetscOptionsSetValue(NULL, "-mat_kernelsum_formula", text.c_str()));
  OK(MatSetFromOptions(A));
  OK(PetscOptionsClearValue(NULL, "-mat_kernelsum_formula"));
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find(text) != std::string::npos);
}

TEST_CASE("divisions of whole numbers in a formula", "[sums][formula]") {
  if (!compiler_is_there()) return;
  Matrix    A = make_square_sum(random_cloud(20, 3, 1));
  Vector    d = left_vector(A);
  PetscReal value;
  OK(MatKernelSumSetFormula(A, "1/3 + 1/(2*3) + 7/(2) + (r < 1)/2 + 100000*100000/1e10 + exp(-r)"));
  OK(MatGetDiagonal(A, d));
  OK(VecMax(d, NULL, &value));
  CHECK(std::fabs(value - 6.5) <= 10 * exact);
}

TEST_CASE("a formula changes, and its parameters", "[sums][formula]") {
  if (!compiler_is_there()) return;
  const Cloud cloud = random_cloud(90, 3, 1);
  Matrix      A = make_square_sum(cloud), B = make_square_sum(cloud), copy;
  OK(MatKernelSumSetFormula(A, "exp(-r*r/(2*sigma*sigma))"));
  OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
  CHECK(difference_of_products(A, B, false) <= 10 * exact);
  CHECK(difference_of_products(copy, B, false) <= 10 * exact);
  for (Mat M : {(Mat)A, (Mat)B}) OK(MatKernelSumSetSigma(M, 0.3));
  CHECK(difference_of_products(A, B, false) <= 10 * exact);
  OK(MatKernelSumSetFormula(A, "1/(4*pi*r)"));
  OK(MatKernelSumSetKernel(B, "laplace"));
  CHECK(difference_of_products(A, B, false) <= 10 * exact);
  OK(MatKernelSumSetKernel(A, "multiquadric")); // no formula any more
  OK(MatKernelSumSetKernel(B, "multiquadric"));
  CHECK(difference_of_products(A, B, false) == 0);
  // a value at r = 0 that becomes finite with a parameter
  OK(MatKernelSumSetWavenumber(A, 0));
  OK(MatKernelSumSetFormula(A, "1/(r + k)"));
  Vector    d = left_vector(A);
  PetscReal norm;
  OK(MatGetDiagonal(A, d));
  OK(VecNorm(d, NORM_INFINITY, &norm));
  CHECK(norm == 0);
  OK(MatKernelSumSetWavenumber(A, 4));
  OK(MatGetDiagonal(A, d));
  OK(VecNorm(d, NORM_INFINITY, &norm));
  CHECK(norm == PetscReal(0.25));
}

TEST_CASE("fast sums of a formula", "[sums][fast][formula]") {
  if (!compiler_is_there()) return;
  for (const char *text : {"exp(-r/sigma)", "exp(-r*r/(2*sigma*sigma))", "1/(4*pi*r)", "cos(k*r)/sqrt(r*r + 0.01)"}) {
    const PetscInt points = no_gpu(false) ? 3000 / fewer : 20000; // clusters are larger on a GPU
    const Cloud    cloud = random_cloud(points, 3, 1, Spread::skewed);
    Matrix         direct = make_square_sum(cloud), fast = make_square_sum(cloud);
    INFO(text);
    for (Mat M : {(Mat)direct, (Mat)fast}) {
      OK(MatKernelSumSetFormula(M, text));
      OK(MatKernelSumSetSigma(M, 0.1));
      OK(MatKernelSumSetWavenumber(M, 9));
    }
    OK(MatKernelSumSetMethod(fast, MAT_KERNELSUM_FAST, 1e-6));
    CHECK(view(fast, PETSC_VIEWER_ASCII_INFO).find("trees of order") != std::string::npos);
    CHECK(difference_of_products(fast, direct, false) <= 2e-6);
    CHECK(difference_of_products(fast, direct, true) <= 2e-6);
  }
}

TEST_CASE("a solve with a formula", "[sums][formula]") {
  if (!compiler_is_there()) return;
  const Cloud cloud = random_cloud(400, 2, 1);
  Matrix      A = make_square_sum(cloud);
  KSP         ksp;
  PC          pc;
  PetscInt    its;
  OK(MatKernelSumSetFormula(A, "exp(-r/sigma)"));
  OK(MatKernelSumSetSigma(A, 0.1));
  Vector x = right_vector(A), b = left_vector(A), u = right_vector(A);
  set_random(x, 1);
  OK(MatMult(A, x, b));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, KSPGMRES));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCKERNELSUM));
  OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  OK(KSPSolve(ksp, b, u));
  OK(KSPGetIterationNumber(ksp, &its));
  CHECK(its < 40);
  CHECK(difference_of_arrays(u, x) <= 1e-7);
  OK(KSPDestroy(&ksp));
}

TEST_CASE("mistakes in a formula", "[misuse][formula]") {
  if (!compiler_is_there()) return;
  const Cloud cloud = random_cloud(30, 3, 1);
  Matrix      A = make_square_sum(cloud);
  Vector      x = right_vector(A), y = left_vector(A), before = left_vector(A);
  OK(VecSet(x, 1));
  OK(MatMult(A, x, before));
  const struct {
    const char              *text;
    std::vector<std::string> words;
  } mistakes[] = {{"", {"empty", "exp(-r/sigma)"}},
                  {"exp(-r/sigm)", {"unknown name, sigm", "did you mean sigma?", "exp(-r/sigm)"}},
                  {"exp(-a*r)", {"unknown name, a", "sigma", "exp(-a*r)"}},
                  {"exp(-r**2)", {"** is no power", "write r^2"}},
                  {"exp(-r", {"bracket", "not closed", "exp(-r"}},
                  {"r)*(2", {"bracket", "not opened"}},
                  {"r +", {"ends with +", "r +"}},
                  {"pow(r)", {"pow without its two arguments", "pow(r)"}},
                  {"k(r)", {"k, which is no function", "k*(...)"}},
                  {"2r", {"2r: write 2*r"}},
                  {"(&r)[5]", {"& is no operator"}},
                  {"::exit(1)", {"before :"}},
                  {"r = 1", {"equals sign", "r = 1"}},
                  {"1/r; exit(1)", {"one expression"}}};
  for (const auto &m : mistakes) {
    INFO(m.text);
    EXPECT_ERROR(PETSC_ERR_USER, (m.words), [&] { return MatKernelSumSetFormula(A, m.text); });
    OK(MatMult(A, x, y));
    CHECK(difference_of_arrays(y, before) == 0);
  }
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [&] { return MatKernelSumSetFormula(A, NULL); });
  // no finite value where points are apart
  for (const char *text : {"1./0", "exp(r*1e5)", "log(r - 10)", "r > 0 ? sqrt(-r) : 0"}) {
    INFO(text);
    EXPECT_ERROR(PETSC_ERR_FP, ({text, "no finite value at r = ", "only at r = 0"}),
                 [&] { return MatKernelSumSetFormula(A, text); });
    OK(MatMult(A, x, y));
    CHECK(difference_of_arrays(y, before) == 0);
  }
  OK(MatKernelSumSetFormula(A, "1/pow(r, 16)"));
  OK(MatKernelSumSetFormula(A, "1e50/(1e50 + r)"));
  EXPECT_ERROR(PETSC_ERR_FP, ({"in single precision", "-mat_kernelsum_precision double"}),
               [&] { return MatKernelSumSetPrecision(A, MAT_KERNELSUM_SINGLE); });
  // parameters that a formula does not have, or needs
  OK(MatKernelSumSetFormula(A, "exp(-r)"));
  {
    Options sigma("-mat_kernelsum_sigma 2");
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"no effect", "exp(-r)"}), [&] { return MatSetFromOptions(A); });
  }
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"-mat_kernelsum_wavenumber", "exp(-k*r)"}),
               [&] { return MatKernelSumSetFormula(A, "exp(-k*r)"); });
  {
    Options minus("-mat_kernelsum_formula -log(r)/(2*pi)");
    EXPECT_ERROR(PETSC_ERR_USER, ({"-mat_kernelsum_formula has no text", "begins with -", "brackets"}),
                 [&] { return MatSetFromOptions(A); });
    OK(PetscOptionsClearValue(NULL, "-log(r)/(2*pi)"));
  }
  Options two("-mat_kernelsum_kernel laplace -mat_kernelsum_formula 1/r");
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"laplace", "1/r", "leave one out"}), [&] { return MatSetFromOptions(A); });
}
