// Every change of a matrix gives it a new state, by which preconditioners know that they are those of another matrix.

#include "catch.hpp"
#include "support.hpp"
#include "sums.hpp"

#include <shellac/stencil.hpp>

// In PETSc's library, but not in its public headers.
PETSC_EXTERN PetscErrorCode PetscObjectStateGet(PetscObject, PetscObjectState *);

using namespace tests;

namespace {

struct Reaction final : shellac::Formula { // −u'' + k u, not symmetric by a drift in x
  shellac::Parameter drift{this, "drift", "first derivative", 0.5};
  shellac::GridField k{this, "k", "reaction"};
  shellac::Shape     shape() const override { return {1}; }
  void               row(const shellac::Point &p, shellac::Row &u) const override {
    u(0) += 4 + k(p);
    u(1) += -1 + drift();
    u(-1) += -1 - drift();
  }
};

using Change = std::function<PetscErrorCode(Mat)>;
struct NamedChange {
  std::string name;
  Change      change;
  bool        of_any = true; // an AIJ can be changed in the same way
};

PetscObjectState state_of(Mat A) {
  PetscObjectState state;
  OK(PetscObjectStateGet((PetscObject)A, &state));
  return state;
}

Lattice grid_of_test() {
  Lattice l;
  l.N[0] = 9, l.N[1] = 8;
  return l;
}

// A matrix of that type on the grid of the DMDA.
Matrix make(DM da, const std::string &type, Vec k) {
  Matrix A;
  OK(DMSetMatType(da, type.c_str()));
  OK(DMCreateMatrix(da, &A));
  if (type == captured_type) {
    set_rows(da, A, random_fill(grid_of_test(), Form::arrays, 3), Way::stencil, INSERT_VALUES);
    assemble(A);
  }
  if (type == "test_drifting_reaction") OK(MatFormulaSetField(A, "k", k));
  if (type == MATDIFFUSION || type == MATADVECTIONDIFFUSION) OK(MatDiffusionSetCoefficient(A, k));
  return A;
}

// One application of a preconditioner as PETSc's users have it: set up once, and again where the state is another. It is
// exact on one rank; on several it divides by the diagonal.
struct OneStep {
  Solver ksp;
  Vector b, x, r;

  explicit OneStep(Mat A) {
    PC pc;
    OK(MatCreateVecs(A, &x, &b));
    OK(VecDuplicate(b, &r));
    OK(VecSet(b, 1));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetType(ksp, KSPPREONLY));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, rank_count() > 1 ? PCJACOBI : PCLU));
  }
  PetscReal residual(Mat A) {
    OK(KSPSolve(ksp, b, x));
    if (rank_count() == 1)
      OK(MatMult(A, x, r));
    else {
      OK(MatGetDiagonal(A, r));
      OK(VecPointwiseMult(r, r, x));
    }
    return difference(r, b);
  }
};

PetscErrorCode set_one_value(Mat A) {
  PetscInt          first;
  const PetscScalar value = 77;
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  PetscCall(MatSetValues(A, 1, &first, 1, &first, &value, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_diagonal_by_list(Mat A) {
  PetscInt first, last;
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  std::vector<PetscInt>    rows, columns;
  std::vector<PetscScalar> values;
  for (PetscInt row = first; row < last; row++) rows.push_back(row), values.push_back(2 + row);
  columns = rows;
  PetscCall(MatSetPreallocationCOO(A, (PetscCount)rows.size(), rows.data(), columns.data()));
  PetscCall(MatSetValuesCOO(A, values.data(), INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_slot(Mat A) {
  const PetscInt here[3] = {0, 0, 0};
  Vec            diagonal;
  PetscFunctionBeginUser;
  PetscCall(MatStencilShellGetSlot(A, here, 0, 0, &diagonal));
  PetscCall(VecShift(diagonal, 5));
  PetscCall(MatStencilShellRestoreSlot(A, here, 0, 0, &diagonal));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A duplicate of the matrix that is so many times it, in a sum or in its place.
PetscErrorCode with_copy(Mat A, PetscScalar times, const std::function<PetscErrorCode(Mat)> &use) {
  Matrix X;
  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &X));
  PetscCall(MatScale(X, times));
  PetscCall(use(X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<NamedChange> changes_of_all(const std::string &type, Vec d, Vec e) {
  const PetscInt           rows[] = {1, 5};
  const MatStructure       same = SAME_NONZERO_PATTERN;
  std::vector<NamedChange> all = {
      {"scale", [](Mat A) { return MatScale(A, 3); }},
      {"shift", [](Mat A) { return MatShift(A, 2); }},
      {"axpy", [=](Mat A) { return with_copy(A, 2, [=](Mat X) { return MatAXPY(A, 2, X, same); }); }},
      {"axpy of another pattern",
       [](Mat A) { return with_copy(A, 2, [=](Mat X) { return MatAXPY(A, 2, X, DIFFERENT_NONZERO_PATTERN); }); }},
      {"aypx", [=](Mat A) { return with_copy(A, 2, [=](Mat X) { return MatAYPX(A, 2, X, same); }); }},
      {"copy", [=](Mat A) { return with_copy(A, 4, [=](Mat X) { return MatCopy(X, A, same); }); }},
      {"diagonal inserted", [=](Mat A) { return MatDiagonalSet(A, d, INSERT_VALUES); }},
      {"diagonal added", [=](Mat A) { return MatDiagonalSet(A, d, ADD_VALUES); }},
      {"rows scaled", [=](Mat A) { return MatDiagonalScale(A, d, NULL); }},
      {"columns scaled", [=](Mat A) { return MatDiagonalScale(A, NULL, e); }},
      {"rows zeroed", [=](Mat A) { return MatZeroRows(A, 2, rows, 9, NULL, NULL); }},
      {"rows and columns zeroed", [=](Mat A) { return MatZeroRowsColumns(A, 2, rows, 9, NULL, NULL); }},
  };
  const bool is_symmetric = type == MATLAPLACE || type == MATHELMHOLTZ || type == MATDIFFUSION;
  if (!is_symmetric)
    all.push_back({"transposed in place", [](Mat A) { return MatTranspose(A, MAT_INPLACE_MATRIX, &A); }});
  if (PetscDefined(USE_COMPLEX)) all.push_back({"conjugated", [](Mat A) { return MatConjugate(A); }});
  return all;
}

std::vector<NamedChange> changes_of(const std::string &type, Vec k) {
  if (type == captured_type)
    return {{"a value", set_one_value, true},
            {"a list of values", set_diagonal_by_list, false},
            {"a slot", set_slot, false},
            {"axpy of an AIJ",
             [](Mat A) {
               Matrix X;
               PetscFunctionBeginUser;
               PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &X));
               PetscCall(MatAXPY(A, 2, X, SAME_NONZERO_PATTERN));
               PetscFunctionReturn(PETSC_SUCCESS);
             },
             true}};
  if (type == MATHELMHOLTZ) return {{"σ", [](Mat A) { return MatHelmholtzSetShift(A, 30); }, false}};
  if (type == "test_drifting_reaction")
    return {{"parameter", [](Mat A) { return MatFormulaSetParameter(A, "drift", -0.25); }, false},
            {"field", [=](Mat A) { return MatFormulaSetField(A, "k", k); }, false},
            {"time", [](Mat A) { return MatFormulaSetTime(A, 1); }, false}};
  std::vector<NamedChange> all;
  if (type == MATDIFFUSION || type == MATADVECTIONDIFFUSION)
    all = {{"σ", [](Mat A) { return MatDiffusionSetShift(A, 30); }, false},
           {"constant k", [](Mat A) { return MatDiffusionSetConstant(A, 3); }, false},
           {"field k", [=](Mat A) { return MatDiffusionSetCoefficient(A, k); }, false},
           {"mean", [](Mat A) { return MatDiffusionSetMean(A, MAT_DIFFUSION_ARITHMETIC); }, false}};
  const auto flow = [](Mat A) {
    const PetscReal w[] = {1, 2};
    return MatAdvectionDiffusionSetConstantVelocity(A, 2, w);
  };
  if (type == MATADVECTIONDIFFUSION) {
    all.push_back({"constant w", flow, false});
    all.push_back(
        {"scheme", [](Mat A) { return MatAdvectionDiffusionSetScheme(A, MAT_ADVECTION_DIFFUSION_UPWIND); }, false});
  }
  return all;
}

} // namespace

TEST_CASE("each change of an operator gives it a new state, and solvers follow", "[state]") {
  OK(shellac::MatRegisterFormula<Reaction>("test_drifting_reaction"));
  Grid da;
  REQUIRE(try_make_grid(grid_of_test(), &da));
  Vector k = random_vector(da, 1), other_k = random_vector(da, 2), d = random_vector(da, 3), e = random_vector(da, 4);
  for (Vec v : {(Vec)k, (Vec)other_k, (Vec)d, (Vec)e}) {
    OK(VecRealPart(v));
    OK(VecShift(v, 3)); // in [2, 4]
  }
  for (const std::string type :
       {captured_type, MATLAPLACE, MATHELMHOLTZ, MATDIFFUSION, MATADVECTIONDIFFUSION, "test_drifting_reaction"}) {
    std::vector<NamedChange> changes = changes_of_all(type, d, e);
    for (const NamedChange &own : changes_of(type, other_k)) changes.push_back(own);
    for (const NamedChange &by : changes) {
      INFO(type << ", " << by.name);
      Matrix A = make(da, type, k), aij;
      OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
      OneStep solver(A);
      CHECK(solver.residual(A) <= 1e3 * exact);
      const PetscObjectState before = state_of(A);
      OK(by.change(A));
      CHECK(state_of(A) > before);
      CHECK(solver.residual(A) <= 1e3 * exact);
      if (!by.of_any) continue;
      Vector y = make_vector(da), z = make_vector(da);
      OK(by.change(aij));
      OK(MatMult(A, d, y));
      OK(MatMult(aij, d, z));
      CHECK(difference(y, z) <= 10 * exact);
    }
  }
}

TEST_CASE("factors of a symmetric matrix refuse rows that make it another", "[state]") {
  Grid da;
  REQUIRE(try_make_grid(grid_of_test(), &da));
  const PetscInt rows[] = {1, 5};
  if (rank_count() > 1) return; // PETSc's factors
  for (const char *type : {PCICC, PCCHOLESKY})
    for (const bool both : {true, false}) {
      INFO(type << (both ? ", columns too" : ""));
      Matrix  A = make(da, MATLAPLACE, NULL);
      OneStep solver(A);
      PC      pc;
      OK(KSPGetPC(solver.ksp, &pc));
      OK(PCSetType(pc, type));
      (void)solver.residual(A);
      OK((both ? MatZeroRowsColumns : MatZeroRows)(A, 2, rows, 9, NULL, NULL));
      if (both)
        CHECK(solver.residual(A) <= (std::string(type) == PCICC ? 1. : 1e3 * exact));
      else
        for (const char *word : {"-pc_type ilu", "KSPReset()"}) // and no solution if the first error goes unheeded
          CHECK(error_problem(PETSC_ERR_ARG_WRONGSTATE, {"factor", word},
                              [&] { return KSPSolve(solver.ksp, solver.b, solver.x); }) == "");
    }
}

TEST_CASE("changed rows leave no symmetric pattern, and orderings do not rely on one", "[state]") {
  Grid da;
  REQUIRE(try_make_grid(problem(2, 19, 17), &da));
  Vector k = make_vector(da);
  OK(VecSet(k, 2));
  for (const std::string type : {MATLAPLACE, MATHELMHOLTZ, MATDIFFUSION}) {
    INFO(type);
    const PetscInt rows[] = {20, 75, 130, 201, 260};
    Matrix         A = make(da, type, k);
    PetscBool      known, is;
    OK(MatZeroRows(A, 5, rows, 9, NULL, NULL));
    OK(MatIsStructurallySymmetricKnown(A, &known, &is));
    CHECK(!(known && is));
    OneStep solver(A);
    CHECK(solver.residual(A) <= 1e3 * exact);
  }
}

TEST_CASE("a matrix that was found symmetric is not known to be so when rows are zeroed", "[state]") {
  const Lattice  lattice = grid_of_test();
  const PetscInt rows[] = {1, 5};
  Twins          t(lattice);
  PetscBool      is, known;
  set_rows(t.da, t.A, diffusion_fill(lattice, Form::arrays), Way::stencil, INSERT_VALUES);
  assemble(t.A);
  OK(MatIsSymmetric(t.A, 0, &is));
  CHECK(is);
  OK(MatZeroRowsColumns(t.A, 2, rows, 9, NULL, NULL));
  OK(MatIsSymmetric(t.A, 0, &is));
  CHECK(is);
  OK(MatZeroRows(t.A, 1, rows + 1, 9, NULL, NULL)); // alone already
  OK(MatZeroRows(t.A, 2, std::array<PetscInt, 2>{20, 30}.data(), 9, NULL, NULL));
  OK(MatIsSymmetricKnown(t.A, &known, &is));
  CHECK(!(known && is));
  OK(MatIsSymmetric(t.A, 0, &is));
  CHECK(!is);
}

TEST_CASE("sums of operators of different types give a new state", "[state]") {
  Grid da;
  REQUIRE(try_make_grid(grid_of_test(), &da));
  Vector k = make_vector(da);
  OK(VecSet(k, 2));
  const std::string types[] = {captured_type, MATLAPLACE, MATHELMHOLTZ, MATDIFFUSION};
  for (const std::string &type : types)
    for (const std::string &added : types) {
      INFO(type << " + 3 " << added);
      Matrix A = make(da, type, k), X = make(da, added, k), sum, aij;
      OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &sum));
      OK(MatConvert(X, MATAIJ, MAT_INITIAL_MATRIX, &aij));
      OneStep solver(A);
      (void)solver.residual(A);
      const PetscObjectState before = state_of(A);
      OK(MatAXPY(A, 3, X, DIFFERENT_NONZERO_PATTERN));
      OK(MatAXPY(sum, 3, aij, DIFFERENT_NONZERO_PATTERN));
      CHECK(state_of(A) > before);
      CHECK(solver.residual(A) <= 1e3 * exact);
      CHECK(difference(A, sum) <= 10 * exact);
    }
}

TEST_CASE("each change of a kernel sum gives it a new state, and solvers follow", "[state][sums]") {
  const sums::Cloud cloud = sums::random_cloud(60, 2, 1);
  const Options     kernel("-mat_kernelsum_kernel gaussian -mat_kernelsum_sigma 0.3");
  Vector d = cloud.vector(1, [](PetscInt i) { return PetscScalar(2 + i % 3); }), points = cloud.coordinates(),
         others = sums::random_cloud(60, 2, 2).coordinates();
  const NamedChange changes[] = {
      {"scale", [](Mat A) { return MatScale(A, 3); }},
      {"shift", [](Mat A) { return MatShift(A, 3); }},
      {"diagonal inserted", [&](Mat A) { return MatDiagonalSet(A, d, INSERT_VALUES); }},
      {"diagonal added", [&](Mat A) { return MatDiagonalSet(A, d, ADD_VALUES); }},
      {"rows scaled", [&](Mat A) { return MatDiagonalScale(A, d, NULL); }},
      {"columns scaled", [&](Mat A) { return MatDiagonalScale(A, NULL, d); }},
      {"σ", [](Mat A) { return MatKernelSumSetSigma(A, 0.1); }},
      {"kernel", [](Mat A) { return MatKernelSumSetKernel(A, "multiquadric"); }},
      {"formula", [](Mat A) { return MatKernelSumSetFormula(A, "exp(-r) + 2"); }},
      {"points", [&](Mat A) { return MatKernelSumSetPoints(A, others, others); }},
      {"self", [](Mat A) { return MatKernelSumSetSelf(A, MAT_KERNELSUM_SELF_ZERO); }},
  };
  for (const NamedChange &by : changes) {
    INFO(by.name);
    Matrix A = sums::make_square_sum(cloud);
    OK(MatShift(A, 5)); // no diagonal is zero
    Solver ksp;
    PC     pc;
    Vector b, x, diagonal;
    OK(MatCreateVecs(A, &x, &b));
    OK(VecDuplicate(b, &diagonal));
    OK(VecSet(b, 1));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetType(ksp, KSPPREONLY));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCJACOBI));
    OK(KSPSolve(ksp, b, x));
    const PetscObjectState before = state_of(A);
    OK(by.change(A));
    CHECK(state_of(A) > before);
    OK(KSPSolve(ksp, b, x));
    OK(MatGetDiagonal(A, diagonal));
    OK(VecPointwiseMult(x, x, diagonal));
    CHECK(difference(x, b) <= exact);
    // a diagonal that was set as a whole stays, and what is added to it, whatever settings follow
    OK(MatDiagonalSet(A, d, INSERT_VALUES));
    OK(MatShift(A, 2));
    Matrix copy;
    OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
    for (Mat M : {(Mat)A, (Mat)copy}) {
      OK(MatKernelSumSetKernel(M, "inverse_multiquadric"));
      OK(MatKernelSumSetSigma(M, 0.2));
      OK(MatGetDiagonal(M, diagonal));
      OK(VecShift(diagonal, -2));
      CHECK(difference(diagonal, d) <= 10 * exact);
    }
  }
}
