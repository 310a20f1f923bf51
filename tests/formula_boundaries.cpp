// −Δu + σu registered as an application's formula (shellac/stencil.hpp), once computed for each point and once by place,
// beside helmholtz and matrices that are assembled by hand: all boundary forms, their data, multigrid, distributions.

#include "catch.hpp"
#include "support.hpp"

#include <cmath>

#include <shellac/stencil.hpp>

using namespace tests;

namespace {

template <bool same_rows> struct Own : shellac::Formula {
  shellac::Parameter sigma{this, "sigma", "σ [1/length²]", 0};
  shellac::Shape     shape() const override { return {1}; }
  bool               constant() const override { return same_rows; }
  bool               symmetric() const override { return true; }
  void               row(const shellac::Point &p, shellac::Row &u) const override {
    u(0) += sigma();
    for (int a = 0; a < p.dim; a++)
      for (int s = -1; s <= 1; s++) u((a == 0) * s, (a == 1) * s, (a == 2) * s) += (s ? -1 : 2) / (p.h[a] * p.h[a]);
  }
};

// Two points away, in one direction.
struct Far final : shellac::Formula {
  shellac::Shape shape() const override { return {2, false}; }
  void           row(const shellac::Point &p, shellac::Row &u) const override {
    u(0) += 2;
    u(2) += -1 - p.x[0];
  }
};

// −u'' on a stretched grid, whose coordinates are a field.
struct Stretched final : shellac::Formula {
  shellac::GridField X{this, "x", "coordinates"};
  shellac::Shape     shape() const override { return {1}; }
  void               row(const shellac::Point &p, shellac::Row &u) const override {
    const bool        first = p.i[0] == 0, last = p.i[0] == p.N[0] - 1;
    const PetscScalar below = first ? X(p, 1) - X(p) : X(p) - X(p, -1), above = last ? below : X(p, 1) - X(p);
    u(-1) -= PetscReal(2) / (below * (below + above));
    u(0) += PetscReal(2) / (below * above);
    u(1) -= PetscReal(2) / (above * (below + above));
  }
};

const char *const types[] = {"test_own", "test_own_constant"};

void register_all() {
  OK(shellac::MatRegisterFormula<Own<false>>(types[0]));
  OK(shellac::MatRegisterFormula<Own<true>>(types[1]));
  OK(shellac::MatRegisterFormula<Far>("test_far"));
  OK(shellac::MatRegisterFormula<Stretched>("test_stretched"));
}

Matrix make(DM da, MatType type, PetscScalar sigma, const std::function<void(Mat)> &set) {
  Matrix A;
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, type));
  if (type == std::string(MATHELMHOLTZ))
    OK(MatHelmholtzSetShift(A, sigma));
  else
    OK(MatFormulaSetParameter(A, "sigma", sigma));
  set(A);
  OK(MatSetUp(A));
  return A;
}

PetscErrorCode source(PetscInt dim, const PetscReal x[], PetscScalar *f, void *) {
  *f = 1 + x[0] + (dim > 1 ? std::sin(x[1]) : 0);
  return PETSC_SUCCESS;
}

PetscErrorCode data(PetscInt dim, const PetscReal x[], PetscInt axis, PetscBool upper, PetscScalar *g, void *) {
  *g = std::cos(x[0]) + (dim > 1 ? x[1] : 0) + (PetscReal)axis + (upper ? PetscReal(0.5) : 0);
  return PETSC_SUCCESS;
}

} // namespace

TEST_CASE("A registered −Δu + σu has the boundary forms of helmholtz") {
  register_all();
  const PetscInt N[3] = {5, 4, 3};
  int            combination = 0;
  for (int dim = 1; dim <= 3; dim++)
    for_each_problem(dim, N, [&](const Problem &p, DM da) {
      if (!in_turn(combination++)) return;
      INFO(describe(p));
      Problem with_sigma = p;
      with_sigma.sigma = 1.5;
      Matrix reference = make_reference(with_sigma, da);
      for (const char *type : types) {
        INFO(type);
        Matrix A = make(da, type, 1.5, [&](Mat made) {
          OK(MatLaplaceSetBoundary(made, p.boundary));
          OK(MatLaplaceSetLengths(made, dim, p.lengths));
        });
        CHECK(difference(A, reference) <= 10 * exact);
        Vector x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
        for (bool transposed : {false, true}) {
          OK((transposed ? MatMultTranspose : MatMult)(A, x, y));
          OK((transposed ? MatMultTranspose : MatMult)(reference, x, z));
          CHECK(difference(y, z) <= 10 * exact);
        }
        PetscBool known, symmetric;
        OK(MatIsSymmetricKnown(A, &known, &symmetric));
        CHECK(everywhere(known ? symmetric && p.symmetric() : !p.symmetric()));
        // singular as the Laplace operator is, since a parameter changed
        OK(MatFormulaSetParameter(A, "sigma", 0));
        MatNullSpace nullspace;
        OK(MatGetNullSpace(A, &nullspace));
        CHECK(everywhere((nullspace != NULL) == p.singular()));
      }
    });
}

TEST_CASE("A registered formula takes a form for each side, and its data") {
  register_all();
  const MatLaplaceBoundaryType forms[] = {MAT_LAPLACE_ROBIN, MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY,
                                          MAT_LAPLACE_NEUMANN};
  const PetscReal              alpha = 2;
  Grid                         da = make_grid(problem(2, 7, 6));
  const auto                   set = [&](Mat A) {
    OK(MatLaplaceSetBoundaries(A, 4, forms));
    OK(MatLaplaceSetRobin(A, 1, &alpha));
  };
  Matrix reference = make(da, MATHELMHOLTZ, 3, set), aij;
  Vector b = make_vector(da), c = make_vector(da);
  OK(MatLaplaceSetRightHandSide(reference, source, data, NULL, c));
  OK(MatConvert(reference, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  for (const char *type : types) {
    INFO(type);
    Matrix A = make(da, type, 3, set);
    CHECK(difference(A, aij) <= exact);
    OK(MatLaplaceSetRightHandSide(A, source, data, NULL, b));
    CHECK(difference(b, c) <= exact);
  }
}

TEST_CASE("A registered formula on PETSc's hierarchy of grids") {
  register_all();
  for (const char *type : types) {
    INFO(type);
    Options  o("-pc_type mg -pc_mg_levels 3 -mg_levels_pc_type sor -ksp_rtol 1e-10");
    Grid     da = make_grid(problem(2, 33, 33));
    Solver   ksp;
    Vec      b, x;
    Mat      A;
    PetscInt iterations;
    OK(DMSetMatType(da, type));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetType(ksp, KSPCG));
    OK(KSPSetDM(ksp, da));
    OK(KSPSetComputeRHS(
        ksp, [](KSP, Vec v, void *) { return VecSet(v, 1); }, NULL));
    OK(KSPSetComputeOperators(
        ksp, [](KSP, Mat J, Mat, void *) { return MatFormulaSetParameter(J, "sigma", 2); }, NULL));
    OK(KSPSetFromOptions(ksp));
    OK(KSPSolve(ksp, NULL, NULL));
    OK(KSPGetIterationNumber(ksp, &iterations));
    OK(KSPGetRhs(ksp, &b));
    OK(KSPGetSolution(ksp, &x));
    OK(KSPGetOperators(ksp, &A, NULL));
    Vector y = make_vector(da);
    OK(MatMult(A, x, y));
    CHECK(difference(y, b) < 1e-6);
    CHECK(iterations < 20);
  }
}

TEST_CASE("A formula reaches beyond the DMDA's stencil, and says where ranks are too narrow for that") {
  register_all();
  Problem p = problem(1, 4 * rank_count());
  p.ends[0] = DM_BOUNDARY_PERIODIC;
  Grid   da = make_grid(p), narrow;
  Matrix A;
  Vector x = make_vector(da), y = make_vector(da), z = make_vector(da);
  OK(DMSetMatType(da, "test_far"));
  OK(DMCreateMatrix(da, &A));
  const PetscInt N = p.N[0];
  set_values(da, x, [](const PetscInt i[3]) { return (PetscScalar)(i[0] * i[0]); });
  set_values(da, z, [&](const PetscInt i[3]) {
    const PetscInt  j = (i[0] + 2) % N;
    const PetscReal at = (PetscReal)i[0] / N;
    return PetscScalar(2 * i[0] * i[0]) - (1 + at) * (PetscReal)(j * j);
  });
  OK(MatMult(A, x, y));
  CHECK(difference(y, z) <= 10 * exact);
  Problem q = problem(1, rank_count() == 1 ? 1 : rank_count() + 1);
  if (rank_count() == 1) return;
  narrow = make_grid(q);
  OK(DMSetMatType(narrow, "test_far"));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"test_far", "2 points", "axis x", "fewer ranks"}, [&] {
    Matrix B;
    return DMCreateMatrix(narrow, &B);
  });
}

TEST_CASE("A formula on a stretched grid, with the coordinates as a field") {
  register_all();
  Grid   da = make_grid(problem(1, 16));
  Matrix A;
  Vec    x;
  OK(DMDASetUniformCoordinates(da, 0, 1, 0, 0, 0, 0));
  OK(DMGetCoordinates(da, &x));
  OK(VecPow(x, 2)); // stretched
  Vector y = make_vector(da), u = copy_of(x), ends = make_vector(da);
  OK(VecPow(u, 2));
  OK(DMSetMatType(da, "test_stretched"));
  Options o("-mat_test_stretched_lengths 1");
  OK(DMCreateMatrix(da, &A));
  OK(MatFormulaSetField(A, "x", x));
  OK(MatMult(A, u, y));
  // of x² it is −2, exactly, but for the ends, which take no part
  set_values(da, ends, [](const PetscInt i[3]) { return PetscScalar(i[0] == 0 || i[0] == 15 ? 0 : 1); });
  OK(VecShift(y, 2));
  OK(VecPointwiseMult(y, y, ends));
  PetscReal norm;
  OK(VecNorm(y, NORM_INFINITY, &norm));
  CHECK(norm < 1e5 * exact);
}
