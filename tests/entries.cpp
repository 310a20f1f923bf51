// Single entries, extrema of rows, norms of columns, point blocks and transposes beside an AIJ that is assembled without
// the library.

#include "catch.hpp"
#include "support.hpp"

using namespace tests;

static void check_extrema(Mat A, Mat B, DM da) {
  const struct {
    const char *name;
    PetscErrorCode (*get)(Mat, Vec, PetscInt[]);
    bool absolute;
  } extrema[] = {{"max", MatGetRowMax, false}, {"min", MatGetRowMin, false}, {"min abs", MatGetRowMinAbs, true}};
  PetscInt first, last;
  OK(MatGetOwnershipRange(B, &first, &last));
  for (const auto &extremum : extrema) {
    INFO(extremum.name);
    Vector                y = make_vector(da), z = make_vector(da);
    std::vector<PetscInt> columns((size_t)(last - first) + 1);
    OK((*extremum.get)(A, y, NULL));
    OK((*extremum.get)(B, z, NULL));
    if (extremum.absolute) OK(VecAbs(z)); // PETSc forgets it where a row has no zeros
    CHECK(difference(y, z) <= exact);
    OK((*extremum.get)(A, y, columns.data())); // whatever column of several: its entry has that value
    const PetscScalar *values;
    bool               right = true;
    OK(VecGetArrayRead(y, &values));
    for (PetscInt row = first; row < last; row++) {
      PetscScalar entry;
      OK(MatGetValues(B, 1, &row, 1, &columns[row - first], &entry));
      if (extremum.absolute) entry = PetscAbsScalar(entry);
      right = right && PetscAbsScalar(entry - values[row - first]) <= exact * PetscAbsScalar(entry);
    }
    OK(VecRestoreArrayRead(y, &values));
    CHECK(everywhere(right));
  }
}

static void check_values(Mat A, Mat B) {
  PetscInt  first, last, N;
  PetscReal off = 0, largest = 0;
  OK(MatGetOwnershipRange(B, &first, &last));
  OK(MatGetSize(B, NULL, &N));
  std::vector<PetscInt> columns;
  for (PetscInt c = 0; c < N; c++) columns.push_back(c);
  columns.push_back(-1);
  std::vector<PetscScalar> ours(2 * columns.size(), 7), theirs(2 * columns.size(), 7);
  for (PetscInt row = first; row + 1 < last; row++) {
    const PetscInt rows[2] = {row + 1, row};
    OK(MatGetValues(A, 2, rows, (PetscInt)columns.size(), columns.data(), ours.data()));
    OK(MatGetValues(B, 2, rows, (PetscInt)columns.size(), columns.data(), theirs.data()));
    for (size_t e = 0; e < ours.size(); e++) {
      off = PetscMax(off, PetscAbsScalar(ours[e] - theirs[e]));
      largest = PetscMax(largest, PetscAbsScalar(theirs[e]));
    }
  }
  CHECK(everywhere(off <= exact * largest));
}

static void check_columns(Mat A, Mat B) {
  PetscInt N;
  OK(MatGetSize(B, NULL, &N));
  for (NormType type : {NORM_1, NORM_2, NORM_INFINITY}) {
    std::vector<PetscReal> ours(N), theirs(N);
    PetscReal              off = 0;
    OK(MatGetColumnNorms(A, type, ours.data()));
    OK(MatGetColumnNorms(B, type, theirs.data()));
    for (PetscInt c = 0; c < N; c++) off = PetscMax(off, difference(ours[c], theirs[c]));
    CHECK(everywhere(off <= exact));
  }
}

static void check_inverse_blocks(Mat A, Mat B, PetscInt dof) {
  const PetscScalar *ours, *theirs;
  PetscInt           m;
  PetscReal          off = 0, size = 0;
  OK(MatGetLocalSize(B, &m, NULL));
  OK(MatInvertBlockDiagonal(A, &ours));
  OK(MatInvertBlockDiagonal(B, &theirs));
  for (PetscInt e = 0; e < m * dof; e++) {
    off = PetscMax(off, PetscAbsScalar(ours[e] - theirs[e]));
    size = PetscMax(size, PetscAbsScalar(theirs[e]));
  }
  CHECK(everywhere(off <= 10 * exact * size));
}

static void check_operations(Mat A, Mat B, DM da) {
  Vector b = random_vector(da, 5), x = make_vector(da), y = make_vector(da), z = make_vector(da);
  OK(MatMult(A, b, y));
  OK(MatMult(B, b, z));
  CHECK(difference(y, z) <= exact);
  OK(MatMultTranspose(A, b, y));
  OK(MatMultTranspose(B, b, z));
  CHECK(difference(y, z) <= exact);
  OK(MatGetRowMaxAbs(A, y, NULL));
  OK(MatGetRowMaxAbs(B, z, NULL));
  CHECK(difference(y, z) <= exact);
  for (NormType type : {NORM_1, NORM_INFINITY}) {
    PetscReal ours, theirs;
    OK(MatNorm(A, type, &ours));
    OK(MatNorm(B, type, &theirs));
    CHECK(difference(ours, theirs) <= exact);
  }
  CHECK(difference(A, B) <= exact);
}

TEST_CASE("entries, extrema, columns and blocks of operators are those of an AIJ", "[entries]") {
  for (int dim = 1; dim <= 3; dim++)
    for (PetscInt n : {2, 4}) {
      const PetscInt N[3] = {5, dim > 1 ? n : 1, dim > 2 ? 3 : 1};
      for_each_problem(dim, N, [&](Problem p, DM da) {
        p.sigma = 1.5;
        INFO(describe(p));
        Matrix A = make_operator(p, da), B = make_reference(p, da);
        check_extrema(A, B, da);
        check_values(A, B);
        check_columns(A, B);
        check_inverse_blocks(A, B, 1);
        for (MatInfoType type : {MAT_LOCAL, MAT_GLOBAL_SUM, MAT_GLOBAL_MAX}) {
          Matrix  aij;
          MatInfo ours, reference;
          OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
          OK(MatGetInfo(A, type, &ours));
          OK(MatGetInfo(aij, type, &reference));
          CHECK(everywhere(ours.nz_used == reference.nz_used));
        }
        Vector d = random_vector(da, 4);
        OK(MatDiagonalSet(A, d, ADD_VALUES));
        OK(MatDiagonalSet(B, d, ADD_VALUES));
        check_extrema(A, B, da);
        check_values(A, B);
      });
    }
}

TEST_CASE("a transposed operator is the AIJ's transpose, and stays an operator", "[entries][algebra]") {
  for (int dim = 1; dim <= 3; dim++) {
    const PetscInt N[3] = {6, dim > 1 ? 5 : 1, dim > 2 ? 4 : 1};
    for_each_problem(dim, N, [&](Problem p, DM da) {
      INFO(describe(p));
      Matrix  A = make_operator(p, da), B = make_reference(p, da), At, Bt;
      MatType type;
      OK(MatTranspose(A, MAT_INITIAL_MATRIX, &At));
      OK(MatTranspose(B, MAT_INITIAL_MATRIX, &Bt));
      OK(MatGetType(At, &type));
      CHECK(std::string(type) == (p.sigma == (PetscScalar)0 ? MATLAPLACE : MATHELMHOLTZ));
      check_operations(At, Bt, da);
      MatNullSpace null, left;
      OK(MatGetNullSpace(At, &null));
      OK(MatGetTransposeNullSpace(At, &left));
      CHECK(!!null == p.singular());
      CHECK(!!left == p.singular());
      PetscBool is_null = PETSC_TRUE;
      if (null) OK(MatNullSpaceTest(null, At, &is_null));
      CHECK(is_null);

      OK(MatShift(At, 1.25));
      OK(MatShift(Bt, 1.25));
      check_operations(At, Bt, da);
      Vector    b = random_vector(da, 5), x = make_vector(da), r = make_vector(da), r0 = make_vector(da);
      PetscReal after, before;
      OK(VecSet(x, 0)); // a sweep with its rows: the residual is zero on the last colour
      OK(MatSOR(At, b, 1, (MatSORType)(SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 40, 1, x));
      OK(MatResidual(Bt, b, x, r));
      OK(VecNorm(r, NORM_2, &after));
      OK(VecNorm(b, NORM_2, &before));
      CHECK(after < before);
      OK(MatScale(A, 2));
      OK(MatScale(B, 2));
      OK(MatTranspose(A, MAT_REUSE_MATRIX, &At));
      OK(MatTranspose(B, MAT_REUSE_MATRIX, &Bt));
      check_operations(At, Bt, da);
      OK(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
      check_operations(A, Bt, da);
      OK(MatAXPY(A, 3, At, SAME_NONZERO_PATTERN));
      OK(MatScale(Bt, 4));
      check_operations(A, Bt, da);
    });
  }
}

TEST_CASE("entries, extrema and columns of captured matrices are those of an AIJ", "[entries][capture]") {
  int combination = 0;
  for (const Lattice &l : lattices())
    for (Form form : forms_of_storage) {
      if (!in_turn(combination++)) continue;
      INFO(describe(l) << ", " << name_of(form));
      Twins t(l);
      t.both([&](DM da, Mat M) {
        set_rows(da, M, random_fill(l, form, 1), Way::stencil, INSERT_VALUES);
        assemble(M);
      });
      check_extrema(t.A, t.aij, t.da);
      check_values(t.A, t.aij);
      check_columns(t.A, t.aij);
    }
}

TEST_CASE("operators without coupling between unlike rows are symmetric", "[entries][symmetry]") {
  const auto check = [](const Problem &p, bool expected) {
    INFO(describe(p));
    Grid da;
    if (!try_make_grid(p, &da)) return;
    Matrix    A = make_operator(p, da), B = make_reference(p, da), aij;
    PetscBool ours, reference;
    OK(MatIsSymmetric(B, exact, &reference));
    CHECK(reference == (expected ? PETSC_TRUE : PETSC_FALSE)); // the oracle
    OK(MatIsSymmetric(A, 0, &ours));
    CHECK(ours == reference);
    OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
    OK(MatIsSymmetric(aij, 0, &ours));
    CHECK(ours == reference);
  };
  for (PetscInt n : {1, 2, 3, 5})
    for (PetscInt m : {2, 5}) {
      Problem p = problem(2, m, n);
      p.boundary = MAT_LAPLACE_IDENTITY;
      p.sigma = 2;
      check(p, n <= 2 || m <= 2); // all rows are the identity's
      p.ends[1] = DM_BOUNDARY_PERIODIC;
      check(p, m <= 2);
      if (n < 2) continue;
      p.ends[1] = DM_BOUNDARY_MIRROR;
      check(p, m <= 2);
      p.boundary = MAT_LAPLACE_ELIMINATED;
      check(p, n == 2); // both ends are mirrors of each other
    }
}

TEST_CASE("a matrix is Hermitian where its entries are", "[entries][symmetry]") {
  const auto check = [](Mat A, Mat B) {
    Matrix    transposed;
    PetscBool ours;
    OK(MatHermitianTranspose(B, MAT_INITIAL_MATRIX, &transposed));
    OK(MatIsHermitian(A, 1e-12, &ours));
    CHECK((bool)ours == (difference(transposed, B) <= exact));
  };
  int combination = 0;
  for (const Lattice &lattice : lattices()) {
    if (!in_turn(combination++)) continue;
    INFO(describe(lattice));
    Twins t(lattice);
    for (const bool random : {false, true}) {
      t.both([&](DM da, Mat M) {
        set_rows(da, M, random ? random_fill(lattice, Form::arrays, 1) : diffusion_fill(lattice, Form::arrays),
                 Way::stencil, INSERT_VALUES);
        assemble(M);
      });
      check(t.A, t.aij);
#if defined(PETSC_USE_COMPLEX)
      t.both([](DM, Mat M) { OK(MatScale(M, PETSC_i)); }); // symmetric, but not Hermitian
      check(t.A, t.aij);
#endif
    }
  }
  for (const PetscScalar sigma : {PetscScalar(3), PetscSqrtScalar((PetscScalar)-1)}) {
    if (!PetscDefined(USE_COMPLEX) && sigma != PetscScalar(3)) continue;
    Problem p = problem(2, 7, 6);
    p.sigma = sigma;
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da), B = make_reference(p, da);
    check(A, B);
  }
}

TEST_CASE("the inverse of a zero diagonal is infinite, as AIJ's", "[entries]") {
  Grid               da = make_grid(problem(2, 9, 8));
  const PetscScalar *inverse;
  for (const char *type : {MATSTENCILSHELL, MATHELMHOLTZ}) {
    Matrix   A;
    PetscInt first, last;
    OK(DMSetMatType(da, type));
    OK(DMCreateMatrix(da, &A));
    Vector d = make_vector(da);
    set_values(da, d, [](const PetscInt p[3]) { return PetscScalar(p[0] == 4 ? 0 : 2); });
    OK(MatDiagonalSet(A, d, INSERT_VALUES));
    OK(MatGetOwnershipRange(A, &first, &last));
    std::vector<PetscScalar> ours;
    OK(MatInvertBlockDiagonal(A, &inverse));
    ours.assign(inverse, inverse + (last - first));
    bool       same = true;
    const auto d_of = natural_values(da, d);
    for (PetscScalar value : ours) same = same && (PetscIsInfOrNanScalar(value) || value == PetscScalar(0.5));
    PetscInt infinite = 0, zeros = 0;
    for (PetscScalar value : ours) infinite += PetscIsInfOrNanScalar(value) ? 1 : 0;
    for (PetscScalar value : d_of) zeros += value == PetscScalar(0) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &infinite, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
    CHECK(everywhere(same));
    CHECK(infinite == zeros);
  }
}
