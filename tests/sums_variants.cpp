// The variants of the preconditioner of kernel sums, which one a matrix gets, and how many points around a box.

#include "catch.hpp"
#include "sums_solves.hpp"

using namespace tests;
using namespace tests::sums;

TEST_CASE(
    "positive definite matrices get the symmetric variant: symmetric, the inverse where one box has all points, few "
    "iterations",
    "[sums][solves]") {
  const struct {
    const char *kernel;
    PetscReal   nugget;
    int         dim;
  } cases[] = {{"gaussian", PetscReal(1e-6), 2}, {"gaussian", PetscReal(1e-6), 3}, {"inverse_multiquadric", 0, 2}};
  for (const auto &of : cases) {
    const PetscInt along = of.dim == 2 ? 30 : fewer > 1 ? 8 : 10;
    Cloud          cloud = lattice(along, of.dim, PetscReal(0.5));
    cloud.spread = Spread::skewed;
    Options set(std::string("-mat_kernelsum_kernel ") + of.kernel);
    Matrix  A = make_square_sum(cloud);
    OK(MatKernelSumSetSigma(A, (PetscReal)1 / along));
    OK(MatShift(A, of.nugget));
    Vector f = left_vector(A), c = right_vector(A), z = right_vector(A), y = right_vector(A);
    Solve  solver(A);
    set_random(f, 1);
    set_random(c, 2);
    OK(KSPSetType(solver.ksp, KSPCG));
    OK(KSPSetPCSide(solver.ksp, PC_LEFT));
    OK(KSPSetNormType(solver.ksp, KSP_NORM_UNPRECONDITIONED));
    OK(PCSetUp(solver.pc()));
    CHECK(variant_of(solver) == "symmetric"); // before a solve tells the method: it sets up once
    const int its = solver.solve(f, z);
    INFO(of.kernel << " in " << of.dim << "-D, " << cloud.N << " points: " << its << " iterations");
    CHECK(its > 0);
    CHECK(its <= 16);
    OK(PCApply(solver.pc(), f, z));
    OK(PCApply(solver.pc(), c, y));
    PetscScalar one, other;
    OK(VecDot(z, c, &one));
    OK(VecDot(f, y, &other));
    CHECK(PetscAbsScalar(one - other) <= 1e-9 * PetscAbsScalar(one));
    OK(KSPSetType(solver.ksp, KSPGMRES));
    OK(KSPSetPCSide(solver.ksp, PC_RIGHT));
    const int of_gmres = solver.solve(f, z);
    CHECK(of_gmres > 0);
    CHECK(of_gmres <= its);
    CHECK(variant_of(solver) == "symmetric");
    OK(PCKernelSumSetCoarsePoints(solver.pc(), 20));
    OK(PCSetUp(solver.pc()));
    OK(PCApply(solver.pc(), f, z));
    CHECK(variant_of(solver) == "restricted");
  }
  const Cloud few = lattice(9, 2, PetscReal(0.2));
  Options     set("-mat_kernelsum_sigma 0.1 -pc_kernelsum_variant symmetric -pc_kernelsum_box 100");
  Matrix      A = make_square_sum(few);
  Vector      c = right_vector(A), y = left_vector(A), z = right_vector(A);
  Solve       solver(A);
  set_random(c, 4);
  OK(MatMult(A, c, y));
  OK(PCSetUp(solver.pc()));
  OK(PCApply(solver.pc(), y, z));
  CHECK(difference_of_arrays(z, c) <= 1e-8);
}

TEST_CASE("other matrices get the restricted variant, those with one indefinite box on any rank as well",
          "[sums][solves]") {
  const Cloud cloud = lattice(12, 2, PetscReal(0.3));
  Options     set("-pc_kernelsum_box 12 -pc_kernelsum_overlap 30");
  for (const char *kernel : {"thin_plate", "inverse_multiquadric"}) {
    Matrix A = make_square_sum(cloud);
    Vector f = left_vector(A), c = right_vector(A);
    OK(MatKernelSumSetKernel(A, kernel));
    if (kernel == std::string("inverse_multiquadric")) OK(MatKernelSumSetSigma(A, PetscReal(0.1)));
    if (kernel == std::string("inverse_multiquadric")) { // one point alone makes it indefinite
      Vector d = cloud.vector(1, [&](PetscInt i) { return i == cloud.N - 1 ? PetscScalar(-100) : PetscScalar(0); });
      OK(MatDiagonalSet(A, d, ADD_VALUES));
    }
    set_random(f, 1);
    Solve solver(A);
    INFO(kernel);
    CHECK(solver.solve(f, c) > 0);
    CHECK(variant_of(solver) == "restricted");
    for (const char *method : {KSPCG, KSPFUSEDCG, KSPMINRES})
      for (bool chosen : {false, true}) {
        INFO(method << (chosen ? ", restricted" : ""));
        Solve symmetric(A);
        OK(KSPSetType(symmetric.ksp, method));
        OK(KSPSetPCSide(symmetric.ksp, PC_LEFT));
        if (chosen) OK(PCKernelSumSetVariant(symmetric.pc(), PC_KERNELSUM_RESTRICTED));
        EXPECT_ERROR(
            chosen ? PETSC_ERR_ARG_INCOMP : PETSC_ERR_MAT_CH_ZRPVT,
            ({chosen ? "restricted is not symmetric" : "not symmetric and positive definite", "-ksp_type gmres"}),
            [&] { return KSPSolve(symmetric.ksp, f, c); });
      }
  }
}

TEST_CASE("multiquadrics and others that a constant makes definite get the symmetric variant", "[sums][solves]") {
  const PetscInt    along = fewer > 1 ? 20 : 36;
  const Cloud       cloud = lattice(along, 2, PetscReal(0.4));
  const char *const functions[] = {"sqrt(r*r+sigma*sigma)", "(-sqrt(r*r+sigma*sigma))", "r"};
  for (const char *function : functions) {
    Options set(std::string("-mat_kernelsum_formula ") + function);
    Matrix  A = make_square_sum(cloud);
    Vector  f = left_vector(A), c = right_vector(A),
           left = cloud.vector(1, [](PetscInt i) { return 2 + PetscSinReal((PetscReal)i); });
    if (function != functions[2]) OK(MatKernelSumSetSigma(A, (PetscReal)2 / along));
    OK(MatDiagonalScale(A, left, left));
    OK(MatScale(A, -3));
    set_random(f, 1);
    Solve solver(A);
    INFO(function);
    for (const char *method : {KSPGMRES, KSPMINRES}) {
      OK(KSPSetType(solver.ksp, method));
      OK(KSPSetPCSide(solver.ksp, method == std::string(KSPGMRES) ? PC_RIGHT : PC_LEFT));
      const int its = solver.solve(f, c);
      INFO(method << ": " << its << " iterations");
      CHECK(its > 0);
      CHECK(its <= 30);
      CHECK(variant_of(solver) == "symmetric");
    }
    for (const char *method : {KSPCG, KSPFUSEDCG}) {
      Solve definite(A);
      OK(KSPSetType(definite.ksp, method));
      OK(KSPSetPCSide(definite.ksp, PC_LEFT));
      EXPECT_ERROR(PETSC_ERR_MAT_CH_ZRPVT, ({"-ksp_type", method, "indefinite", "minres or gmres"}),
                   [&] { return KSPSolve(definite.ksp, f, c); });
    }
  }
}

TEST_CASE("the symmetric variant has a transpose: of Hermitian matrices, the complex conjugate", "[sums][solves]") {
  const PetscScalar i = PetscDefined(USE_COMPLEX) ? PetscSqrtScalar(PetscScalar(-1)) : PetscScalar(1);
  for (const char *boxes : {"-pc_kernelsum_box 100", "-pc_kernelsum_box 16 -pc_kernelsum_overlap 30"}) {
    const Cloud cloud = lattice(9, 2, PetscReal(0.2));
    Options     set(std::string("-mat_kernelsum_sigma 0.1 ") + boxes);
    Matrix      A = make_square_sum(cloud);
    Vector      left = cloud.vector(1, [&](PetscInt k) { return 2 + i * PetscSinReal((PetscReal)k); });
    Vector right = left_vector(A), c = right_vector(A), y = left_vector(A), z = right_vector(A), t = left_vector(A);
    OK(VecCopy(left, right));
    OK(VecConjugate(right));
    OK(MatDiagonalScale(A, left, right));
    set_random(c, 1);
    OK(MatMult(A, c, y));
    Solve solver(A);
    OK(PCSetUp(solver.pc()));
    REQUIRE(variant_of(solver) == "symmetric");
    OK(PCApply(solver.pc(), y, z));
    if (boxes == std::string("-pc_kernelsum_box 100")) CHECK(difference_of_arrays(z, c) <= 1e-8);
    PetscScalar dots[2]; // c · M y = Mᵀ c · y
    OK(VecTDot(z, c, &dots[0]));
    OK(PCApplyTranspose(solver.pc(), c, t));
    OK(VecTDot(y, t, &dots[1]));
    CHECK(PetscAbsScalar(dots[0] - dots[1]) <= 1e-8 * PetscAbsScalar(dots[0]));
    CHECK(solver.solve(y, z) > 0);
    CHECK(difference_of_arrays(z, c) <= 1e-4);
    OK(PCKernelSumSetVariant(solver.pc(), PC_KERNELSUM_RESTRICTED));
    OK(PCSetUp(solver.pc()));
    EXPECT_ERROR(PETSC_ERR_SUP, ({"restricted variant has no transpose", "symmetric"}),
                 [&] { return PCApplyTranspose(solver.pc(), c, t); });
  }
}

TEST_CASE("a preconditioner that is kept for another matrix does not need the one that it was made of",
          "[sums][solves]") {
  const Cloud cloud = lattice(12, 2, PetscReal(0.3));
  Options     set(
          "-mat_kernelsum_kernel multiquadric -pc_kernelsum_box 16 -pc_kernelsum_overlap 30 -pc_kernelsum_coarse 16");
  Matrix first = make_square_sum(cloud), other = make_square_sum(cloud);
  OK(MatKernelSumSetSigma(first, PetscReal(0.1)));
  OK(MatKernelSumSetSigma(other, PetscReal(0.11)));
  Vector f = left_vector(first), c = right_vector(first), z[2] = {right_vector(first), right_vector(first)};
  set_random(f, 1);
  Solve solver(first);
  CHECK(solver.solve(f, c) > 0);
  OK(PCApply(solver.pc(), f, z[0]));
  OK(PCSetReusePreconditioner(solver.pc(), PETSC_TRUE));
  OK(KSPSetOperators(solver.ksp, other, other));
  first = Matrix();
  CHECK(solver.solve(f, c) > 0);
  OK(PCApply(solver.pc(), f, z[1]));
  CHECK(difference_of_arrays(z[1], z[0]) <= 1e-12);
}

TEST_CASE("a preconditioner that is kept refuses vectors of other points", "[sums][solves]") {
  for (PCKernelSumVariant variant : {PC_KERNELSUM_RESTRICTED, PC_KERNELSUM_SYMMETRIC})
    for (PetscInt along : {8, 13}) { // fewer, more
      Options set("-mat_kernelsum_kernel inverse_multiquadric -mat_kernelsum_sigma 0.1");
      Matrix  A = make_square_sum(lattice(11, 2, PetscReal(0.3)));
      Solve   solver(A);
      OK(PCKernelSumSetVariant(solver.pc(), variant));
      OK(PCSetUp(solver.pc()));
      OK(PCSetReusePreconditioner(solver.pc(), PETSC_TRUE));
      Vector others = lattice(along, 2, PetscReal(0.3)).coordinates();
      OK(MatKernelSumSetPoints(A, others, others));
      Vector f = left_vector(A), c = right_vector(A);
      OK(VecSet(f, 1));
      EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"121", std::to_string(along * along), "PCSetReusePreconditioner"}),
                   [&] { return PCApply(solver.pc(), f, c); });
      OK(PCSetReusePreconditioner(solver.pc(), PETSC_FALSE));
      OK(PCApply(solver.pc(), f, c));
    }
}

TEST_CASE("a formula gets as many points around a box as the same function of the table", "[sums][solves]") {
  const PetscInt along = fewer > 1 ? 20 : 26;
  const Cloud    cloud = lattice(along, 2, PetscReal(0.5));
  const auto     around = [&](Mat A, PetscReal sigma) {
    Solve solver(A);
    OK(MatKernelSumSetSigma(A, sigma));
    OK(MatShift(A, PetscReal(1e-6)));
    OK(PCSetUp(solver.pc()));
    const std::string text = printed([&] { OK(PCView(solver.pc(), PETSC_VIEWER_STDOUT_WORLD)); });
    const size_t      from = text.find("each solved with the "), to = text.find(" points around it");
    return text.substr(from, to - from);
  };
  const char *const same[][2] = {{"gaussian", "exp(-r*r/(2*sigma*sigma))"},
                                 {"inverse_multiquadric", "1/sqrt(r*r + sigma*sigma)"}};
  for (const auto &of : same)
    for (PetscReal spacings : {1, 3}) {
      Matrix A = make_square_sum(cloud), B = make_square_sum(cloud);
      OK(MatKernelSumSetKernel(A, of[0]));
      OK(MatKernelSumSetFormula(B, of[1]));
      const std::string wanted = around(A, spacings / along), got = around(B, spacings / along);
      INFO(of[1]);
      CHECK(got == wanted);
    }
}

TEST_CASE("wide Gaussians and dense clusters get more points around a box", "[sums][solves]") {
  const PetscInt along = fewer > 1 ? 20 : 36;
  const auto     iterations = [&](const Cloud &cloud, PetscReal spacings, std::string *text) {
    Options set("-ksp_type cg -ksp_pc_side left -ksp_norm_type unpreconditioned");
    Matrix  A = make_square_sum(cloud);
    OK(MatKernelSumSetSigma(A, spacings / along));
    OK(MatShift(A, PetscReal(1e-6)));
    Vector f = left_vector(A), c = right_vector(A);
    set_random(f, 1);
    Solve     solver(A);
    const int its = solver.solve(f, c);
    *text = printed([&] { OK(PCView(solver.pc(), PETSC_VIEWER_STDOUT_WORLD)); });
    return its;
  };
  const auto most_around = [](const std::string &text) {
    const std::string before = "each solved with the ";
    const size_t      from = text.find(before) + before.size(), to = text.find(" points around it");
    const std::string range = text.substr(from, to - from); // "230", or "230 to 400"
    const size_t      last = range.find(" to ");
    return std::stoi(last == std::string::npos ? range : range.substr(last + 4));
  };
  std::string text;
  Cloud       cloud = lattice(along, 2, PetscReal(0.5));
  int         most[3];
  for (int of : {0, 1, 2}) { // uniform, wide, and half of the points in a quarter of the side
    for (PetscInt i = 0; of == 2 && i < 2 * cloud.N; i += 4)
      for (int a = 0; a < 2; a++) cloud.x[(size_t)(i + a)] *= PetscReal(0.25);
    const int its = iterations(cloud, of == 1 ? 2 : 1, &text);
    INFO(text << its << " iterations");
    CHECK(its > 0);
    CHECK(its <= 25);
    most[of] = most_around(text);
  }
  CHECK(most[1] > 1.5 * most[0]);
  CHECK(most[2] > 1.5 * most[0]);
}
