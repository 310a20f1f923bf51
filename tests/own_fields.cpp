// The fields of formulas that an application registers: changes of their vectors, mistakes, conjugates.

#include "catch.hpp"
#include "support.hpp"

#include <shellac/stencil.hpp>

using namespace tests;

namespace {

// a u + k Σ (u − neighbours), refusing k = 7.
struct Weighted final : shellac::Formula {
  shellac::Parameter a{this, "a", "weight of the point", 1};
  shellac::GridField k{this, "k", "weight of the neighbours"};
  shellac::Shape     shape() const override { return {1}; }
  void               row(const shellac::Point &p, shellac::Row &u) const override {
    if (k(p) == PetscScalar(7)) throw std::runtime_error("seven");
    u(0) += a();
    for (int axis = 0; axis < p.dim; axis++)
      for (int s = -1; s <= 1; s += 2) {
                      u(0) += k(p);
                      u((axis == 0) * s, (axis == 1) * s, (axis == 2) * s) -= k(p);
      }
  }
};

// What the formula makes of the function 1, with no flux at the ends: a; of the index along x, at a point inside: a x.
Matrix make(DM da, Vec k, PetscScalar a) {
  Matrix  A;
  Options o("-mat_test_weighted_boundary neumann");
  OK(shellac::MatRegisterFormula<Weighted>("test_weighted"));
  OK(MatCreateFormula(da, "test_weighted", &A));
  OK(MatFormulaSetParameter(A, "a", a));
  OK(MatFormulaSetField(A, "k", k));
  return A;
}

PetscScalar k_at(const PetscInt i[3]) {
  return PetscReal(2) + random_value((size_t)(i[0] + 10 * i[1]), 3);
}

// The diagonal is a + 4k inside, and a + k times the number of neighbours in the grid.
void check_diagonal(Mat A, DM da, const std::function<PetscScalar(const PetscInt[3])> &expected) {
  Vector d = make_vector(da), e = make_vector(da);
  OK(MatGetDiagonal(A, d));
  set_values(da, e, expected);
  CHECK(difference(d, e) <= 10 * exact);
}

PetscReal neighbours(const PetscInt i[3]) {
  return (PetscReal)((i[0] > 0) + (i[0] < 6) + (i[1] > 0) + (i[1] < 4));
}

} // namespace

TEST_CASE("rows of a registered formula follow the vectors of its fields", "[own_fields]") {
  Grid   da = make_grid(problem(2, 7, 5));
  Vector k = make_vector(da), x = random_vector(da, 1), y = make_vector(da);
  set_values(da, k, k_at);
  Matrix     A = make(da, k, 3), copy;
  const auto times = [](PetscScalar factor, PetscScalar a) {
    return [=](const PetscInt i[3]) { return a + factor * k_at(i) * neighbours(i); };
  };
  OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
  check_diagonal(A, da, times(1, 3));
  OK(VecScale(k, 2));
  check_diagonal(A, da, times(2, 3));
  check_diagonal(copy, da, times(2, 3));
  OK(MatFormulaSetParameter(A, "a", 4));
  check_diagonal(A, da, times(2, 4));
  PetscMPIInt rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0) { // one rank changes its values
    PetscScalar *values;
    OK(VecGetArray(k, &values));
    for (PetscInt i = 0; i < 1; i++) values[i] *= 2;
    OK(VecRestoreArray(k, &values));
  }
  check_diagonal(A, da, [&](const PetscInt i[3]) { return times(i[0] == 0 && i[1] == 0 ? 4 : 2, 4)(i); });
  // what was done to the operator itself is not repeated
  OK(MatScale(A, 2));
  OK(VecScale(k, 0.5));
  EXPECT_ERROR(PETSC_ERR_ORDER, {"MatScale"}, [&] { return MatMult(A, x, y); });
  OK(MatFormulaSetField(A, "k", k));
  check_diagonal(A, da, [&](const PetscInt i[3]) { return times(i[0] == 0 && i[1] == 0 ? 2 : 1, 4)(i); });
}

TEST_CASE("a field that a registered formula refuses is refused until it changes", "[own_fields]") {
  Grid   da = make_grid(problem(2, 7, 5));
  Vector k = make_vector(da), x = random_vector(da, 1), y = make_vector(da), other;
  OK(VecSet(k, 2));
  Matrix A = make(da, k, 3);
  OK(VecSet(k, 7));
  for (int call = 0; call < 2; call++) EXPECT_ERROR(PETSC_ERR_USER, {"seven"}, [&] { return MatMult(A, x, y); });
  OK(VecSet(k, 1));
  check_diagonal(A, da, [](const PetscInt i[3]) { return PetscScalar(3 + neighbours(i)); });
  const PetscInt ranks = rank_count();
  if (ranks == 1) return;
  Problem p = problem(2, 2 * ranks, 2 * ranks), q = p;
  p.ranks[0] = q.ranks[1] = ranks;
  p.ranks[1] = q.ranks[0] = 1;
  Grid   columns = make_grid(p), rows = make_grid(q);
  Vector right = make_vector(columns), wrong = make_vector(rows);
  Matrix B = make(columns, right, 1);
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, {"field k", "distributed"}, [&] { return MatFormulaSetField(B, "k", wrong); });
  OK(MatMult(B, right, make_vector(columns)));
}

TEST_CASE("a conjugate registered formula stays so with new parameters and fields", "[own_fields]") {
  Grid   da = make_grid(problem(2, 7, 5));
  Vector k = make_vector(da);
  set_values(da, k, k_at);
  const PetscScalar a = PetscReal(2) + random_value(1, 1), b = PetscReal(3) + random_value(2, 1);
  Matrix            A = make(da, k, a), copy;
  OK(MatScale(A, b));
  OK(MatConjugate(A));
  OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
  check_diagonal(copy, da, [&](const PetscInt i[3]) { return PetscConj(b * (a + k_at(i) * neighbours(i))); });
  OK(MatFormulaSetParameter(A, "a", b));
  check_diagonal(A, da, [&](const PetscInt i[3]) { return PetscConj(b + k_at(i) * neighbours(i)); });
}
