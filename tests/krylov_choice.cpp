// The KSP type stencil, which takes the method that goes with the preconditioner.

#include <limits>

#include "catch.hpp"
#include "separable.hpp"

using namespace tests;
using namespace tests::separable;

namespace {

constexpr char options_of_stencil[] = "-test_ksp_type stencil -test_pc_type stencil -test_ksp_rtol 1e-9 ";

struct Run {
  std::string        text; // the view
  PetscInt           iterations = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  Vector             x;

  bool has(const char *what) const { return everywhere(text.find(what) != std::string::npos); }
};

Run run(KSP ksp, Vec b, bool transposed = false) {
  Run of;
  OK(VecDuplicate(b, &of.x));
  OK(transposed ? KSPSolveTranspose(ksp, b, of.x) : KSPSolve(ksp, b, of.x));
  OK(KSPGetIterationNumber(ksp, &of.iterations));
  OK(KSPGetConvergedReason(ksp, &of.reason));
  of.text = printed([&]() { OK(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD)); });
  return of;
}

Case separable_case() {
  Case c;
  c.dim = 2;
  c.axis[0] = rows(2, 24, 1), c.axis[1] = rows(0, 21, 3);
  return c;
}

// Symmetric, positive definite.
Fill variable_fill() {
  return [](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const auto at = [](PetscInt i, PetscInt j) { return 1 + PetscReal((3 * i + 5 * j + 100) % 7) / 7; }; // of faces
    const PetscReal k[4] = {at(p[0], 2 * p[1]), at(p[0] + 1, 2 * p[1]), at(p[0], 2 * p[1] - 1), at(p[0], 2 * p[1] + 1)};
    *block = arm[0] ? -k[arm[0] > 0] : arm[1] ? -k[2 + (arm[1] > 0)] : k[0] + k[1] + k[2] + k[3] + PetscReal(0.1);
  };
}

// Upwind differences of a wind that turns.
Fill wind_fill() {
  return [](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const PetscReal w[2] = {PetscReal(p[1] - 10) / 5, PetscReal(12 - p[0]) / 5};
    PetscReal       sum = 0;
    *block = 0;
    for (int a = 0; a < 2; a++)
      for (int step : {-1, 1}) {
        const PetscReal k = 1 + PetscMax(-step * w[a], 0);
        sum += k;
        if (arm[a] == step) *block = -k;
      }
    if (!arm[0] && !arm[1]) *block = sum;
  };
}

void fill(DM da, Mat A, const Fill &rows) {
  OK(MatZeroEntries(A));
  set_rows(da, A, rows, Way::stencil, INSERT_VALUES);
  assemble(A);
}

const char *const of_symmetric =
    PetscDefined(USE_COMPLEX) ? "method fgmres" : "method fusedcg"; // variable coefficients

} // namespace

TEST_CASE("the KSP stencil takes the method that goes with the preconditioner", "[krylov_choice]") {
  Case c = separable_case();
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  Matrix            A = captured(da, c.fill());
  Vector            u = random_vector(da, 1), b = make_vector(da);
  Solver            ksp = make_solver(A, options_of_stencil);
  const std::string before = printed([&]() { OK(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD)); });
  CHECK(everywhere(before.find("the first solve chooses") != std::string::npos));
  const auto takes = [&](const Fill &rows, const char *method, const char *pc, PetscInt most) {
    fill(da, A, rows);
    Matrix aij = assembled(da, rows);
    for (bool transposed : {false, true}) {
      OK(transposed ? MatMultTranspose(aij, u, b) : MatMult(aij, u, b));
      const Run of = run(ksp, b, transposed);
      INFO(of.text << of.iterations << " iterations");
      CHECK(of.has("type: stencil\n"));
      CHECK(of.has(method));
      CHECK(of.has(pc));
      CHECK(of.has("UNPRECONDITIONED"));
      CHECK(of.reason == KSP_CONVERGED_RTOL);
      CHECK(of.iterations <= most);
      Vector    r = copy_of(b);
      PetscReal size, norm;
      OK(transposed ? MatMultTranspose(aij, of.x, r) : MatMult(aij, of.x, r));
      OK(VecAXPY(r, -1, b));
      OK(VecNorm(r, NORM_2, &norm));
      OK(VecNorm(b, NORM_2, &size));
      CHECK(norm <= 1.01e-9 * size);
    }
  };
  for (int turn = 0; turn < 2; turn++) { // the same KSP goes to each from each
    takes(c.fill(), "method richardson: the preconditioner is the inverse", "stencilfft", 2);
    takes(variable_fill(), of_symmetric, "stencilmg", 15);
    takes(wind_fill(), "method fgmres: the matrix is not symmetric", "stencilmg", 20);
    takes(variable_fill(), of_symmetric, "stencilmg", 15);
    OK(KSPReset(ksp));
    OK(KSPSetOperators(ksp, A, A));
  }
  OK(KSPSetType(ksp, KSPGMRES));
  OK(KSPSetType(ksp, KSPSTENCIL));
  takes(c.fill(), "method richardson", "stencilfft", 2);
}

TEST_CASE("the KSP stencil says what the preconditioner tells", "[krylov_choice]") {
  Case c = separable_case();
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  Matrix     A = captured(da, c.fill()), aij = assembled(da, c.fill()), V = captured(da, variable_fill());
  Vector     b = random_vector(da, 1);
  const auto view_with = [&](Mat P, const std::string &options) {
    Options   set(options_of_stencil + options);
    Solver    ksp = make_solver(P);
    const Run of = run(ksp, b);
    CHECK(of.reason > 0);
    CHECK(relative_residual(P, b, of.x) <= 1.01e-9);
    return of.text;
  };
  const auto contains = [&](const std::string &text, const char *what) {
    INFO(text);
    CHECK(everywhere(text.find(what) != std::string::npos));
  };
  contains(view_with(A, "-test_pc_type stencilfft"), "method richardson");
  contains(view_with(A, "-test_pc_type stencilmg"), "method fusedcg: the matrix is symmetric and definite");
  contains(view_with(A, "-test_pc_type stencilmg -test_pc_stencilmg_type full"), "full multigrid is not symmetric");
  contains(view_with(A, "-test_pc_type stencilmg -test_pc_stencilmg_precision single"), "method fusedcg");
  contains(view_with(aij, "-test_pc_type jacobi"), "method fgmres: the preconditioner is not of stencil");
  contains(view_with(V, "-test_pc_type stencilfft -test_pc_stencilfft_approximate -test_ksp_gmres_restart 7"),
           "restart=7");
  OK(MatScale(A, -1));
  contains(view_with(A, "-test_pc_type stencilmg"), "the matrix is not positive");
  c.axis[0] = rows(18, 24, 1); // without flux in the last point: rows have weights of their own
  Matrix weighted = captured(da, c.fill());
  contains(view_with(weighted, "-test_pc_type stencilmg"), "method fgmres: the matrix is not symmetric");
  c.axis[0] = rows(26, 24, 1);
  Matrix identity = captured(da, c.fill());
  contains(view_with(identity, "-test_pc_type stencilmg"), "identity rows");
  contains(view_with(identity, ""), "method richardson");

  OK(MatScale(A, -1));
  Solver ksp = make_solver(A, options_of_stencil); // of another matrix than the preconditioner
  OK(KSPSetOperators(ksp, V, A));
  const Run of = run(ksp, b);
  contains(of.text, "may be of another matrix");
  CHECK(relative_residual(V, b, of.x) <= 1.01e-9);
}

TEST_CASE("the KSP stencil does not claim what is not so", "[krylov_choice]") {
  Case c = separable_case();
  c.axis[0] = rows(25, 24, 1), c.axis[1] = rows(12, 21, 1); // singular
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  Matrix    A = captured(da, c.fill());
  Vector    b = random_vector(da, 1), u = make_vector(da);
  Solver    ksp = make_solver(A, options_of_stencil);
  const Run without = run(ksp, b); // there is no solution
  CHECK(without.reason == KSP_DIVERGED_BREAKDOWN);
  CHECK(without.iterations <= 3);
  OK(MatMult(A, b, u));
  const Run with = run(ksp, u);
  CHECK(with.reason == KSP_CONVERGED_RTOL);
  CHECK(relative_residual(A, u, with.x) <= 1e-9);
  MatNullSpace constants;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  OK(MatSetNullSpace(A, constants));
  OK(MatSetTransposeNullSpace(A, constants));
  const Run projected = run(ksp, b);
  CHECK(projected.reason == KSP_CONVERGED_RTOL);
  OK(MatNullSpaceDestroy(&constants));
  OK(KSPSetTolerances(ksp, 1e-30, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT)); // below rounding
  CHECK(run(ksp, b).reason == KSP_DIVERGED_BREAKDOWN);
  OK(KSPSetTolerances(ksp, 1e-30, PETSC_DEFAULT, PETSC_DEFAULT, 1));
  CHECK(run(ksp, b).reason == KSP_DIVERGED_ITS);
  Matrix zero; // A b is zero, and the space of FGMRES grows no more
  OK(MatCreateConstantDiagonal(PETSC_COMM_WORLD, 3, 3, PETSC_DETERMINE, PETSC_DETERMINE, 0, &zero));
  Vector one;
  OK(MatCreateVecs(zero, NULL, &one));
  OK(VecSet(one, 1));
  Solver singular = make_solver(zero, "-test_ksp_type stencil -test_pc_type none");
  CHECK(run(singular, one).reason < 0);
}

TEST_CASE("elimination serves definite operators alone", "[krylov_choice]") {
  Case c;
  c.dim = 2;
  c.axis[0] = rows(0, 17, 1), c.axis[1] = rows(25, 6, PetscReal(0.1));
  c.axis[0].stretched = true; // the weakest couplings are in the middle, and its largest eigenvalue is 18
  for (PetscReal sigma : {-4, -10, -60}) {
    c.sigma = sigma;
    Grid da;
    REQUIRE(try_make_grid(c.lattice(), &da));
    Matrix    A = captured(da, c.fill());
    const Run of = run(make_solver(A, options_of_stencil), random_vector(da, 1));
    INFO(of.text);
    CHECK(of.reason == KSP_CONVERGED_RTOL);
    CHECK(of.has("tridiagonal") == (sigma == -60));
  }
}

TEST_CASE("transforms follow a set-up of multigrid that has failed", "[krylov_choice]") {
  Case c = separable_case();
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  Matrix A = captured(da, c.fill());
  Vector b = random_vector(da, 1);
  Solver ksp = make_solver(A, options_of_stencil);
  OK(MatShift(A, std::numeric_limits<PetscReal>::quiet_NaN()));
  CHECK(run(ksp, b).reason == KSP_DIVERGED_PC_FAILED);
  fill(da, A, c.fill());
  OK(KSPSetOperators(ksp, A, A)); // without it PETSc goes on with what has failed
  CHECK(run(ksp, b).reason == KSP_CONVERGED_RTOL);
}

TEST_CASE("the KSP stencil starts from a guess, without norms, and with monitors", "[krylov_choice]") {
  Case c = separable_case();
  c.sigma = -2; // indefinite
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  Matrix A = captured(da, c.fill());
  Vector b = random_vector(da, 1), x = random_vector(da, 2);
  Solver ksp = make_solver(A, options_of_stencil);
  int    calls = 0;
  OK(KSPMonitorSet(
      ksp,
      [](KSP, PetscInt, PetscReal, void *calls) -> PetscErrorCode {
        ++*(int *)calls;
        return PETSC_SUCCESS;
      },
      &calls, NULL));
  OK(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  OK(KSPSolve(ksp, b, x));
  CHECK(relative_residual(A, b, x) <= 1e-9);
  CHECK(calls == 2);
  OK(KSPSolve(ksp, b, x)); // it is the solution already
  PetscInt its;
  OK(KSPGetIterationNumber(ksp, &its));
  CHECK(its == 0);
  Solver    other = make_solver(A, options_of_stencil + std::string("-test_ksp_norm_type none"));
  const Run of = run(other, b);
  CHECK(of.reason == KSP_CONVERGED_ITS);
  CHECK(of.iterations == 1);
  CHECK(relative_residual(A, b, of.x) <= 1e-9);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencil", "norm"}), [&]() {
    Solver wrong;
    PetscFunctionBeginUser;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &wrong));
    PetscCall(KSPSetOperators(wrong, A, A));
    PetscCall(KSPSetType(wrong, KSPSTENCIL));
    PetscCall(KSPSetNormType(wrong, KSP_NORM_NATURAL));
    PetscCall(KSPSetUp(wrong));
    PetscFunctionReturn((PetscErrorCode)0);
  });
}

// Single precision's inverse of one matrix, for others that are nearly singular.
TEST_CASE("the KSP stencil converges by its solution's residual", "[krylov_choice]") {
  Case c;
  c.dim = 2;
  c.axis[0] = rows(12, 24, 1), c.axis[1] = rows(12, 21, 1);
  c.sigma = PetscReal(1e-9);
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  for (const PetscReal shift : {0., 1e-10, 1e-7, 1e-5}) {
    Matrix A = captured(da, c.fill()), aij = assembled(da, c.fill());
    Solver ksp = make_solver(A, "-test_ksp_type stencil -test_pc_type stencilfft -test_pc_stencilfft_precision single "
                                "-test_ksp_rtol 1e-12 -test_ksp_max_it 200");
    Vector b = random_vector(da, 1);
    run(ksp, b);
    OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    OK(MatShift(A, shift));
    OK(MatShift(aij, shift));
    const Run of = run(ksp, b);
    INFO("shift " << shift << ", " << of.iterations << " iterations, " << (int)of.reason << of.text);
    CHECK((of.reason < 0 || relative_residual(aij, b, of.x) <= 2e-12));
  }
}
