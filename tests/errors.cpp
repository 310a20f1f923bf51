// A user's mistake gives one error, on every rank, that names the option, its value and the remedy; and loses nothing.

#include "catch.hpp"
#include "support.hpp"

#include <petscdmcomposite.h>
#include <petscdmstag.h>

#include <cmath>

using namespace tests;

static PetscErrorCode set_up(DM da, MatType type, Mat *A) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  if (da) PetscCall(MatSetDM(*A, da));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_2d(DMBoundaryType ends, PetscInt N, PetscInt dof, PetscInt width, DM *da) {
  PetscFunctionBeginUser;
  PetscCall(
      DMDACreate2d(PETSC_COMM_WORLD, ends, ends, DMDA_STENCIL_STAR, N, 8, 1, PETSC_DECIDE, dof, width, NULL, NULL, da));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("option values that are not allowed", "[errors]") {
  Grid da = make_grid(problem(2, 8, 8));
  const struct {
    const char              *options;
    PetscErrorCode           code;
    std::vector<std::string> words;
  } mistakes[] = {
      {"-mat_helmholtz_boundary dirichlet", PETSC_ERR_USER, {"dirichlet", "mat_helmholtz_boundary"}},
      {"-mat_helmholtz_lengths 1,0", PETSC_ERR_ARG_OUTOFRANGE, {"length y", "0", "positive"}},
      {"-mat_helmholtz_lengths -1,1", PETSC_ERR_ARG_OUTOFRANGE, {"length x", "-1", "positive"}},
      {"-mat_helmholtz_lengths 1,nan", PETSC_ERR_ARG_OUTOFRANGE, {"length y", "nan", "finite"}},
      {"-mat_helmholtz_lengths inf,1", PETSC_ERR_ARG_OUTOFRANGE, {"length x", "inf", "finite"}},
      {"-mat_helmholtz_lengths 1", PETSC_ERR_ARG_SIZ, {"1 side length", "give 2"}},
      {"-mat_helmholtz_lengths 1,1,1", PETSC_ERR_ARG_SIZ, {"3 side length", "give 2"}},
      {"-mat_helmholtz_lengths 1e-200,1", PETSC_ERR_ARG_OUTOFRANGE, {"spacing", "axis x"}},
      {"-mat_helmholtz_shift nan", PETSC_ERR_ARG_OUTOFRANGE, {"nan"}}, // PETSc's own message, from 3.22 on
      {"-mat_helmholtz_shift inf", PETSC_ERR_ARG_OUTOFRANGE, {"inf"}},
      {"-mat_helmholtz_omega 1e200", PETSC_ERR_ARG_OUTOFRANGE, {"shift", "inf", "finite"}},
      {"-mat_helmholtz_shift 1 -mat_helmholtz_omega 1",
       PETSC_ERR_ARG_INCOMP,
       {"mat_helmholtz_shift", "mat_helmholtz_omega", "one of them"}},
  };
  for (const auto &mistake : mistakes) {
    INFO(mistake.options);
    Options set(mistake.options);
    Matrix  A;
    EXPECT_ERROR(mistake.code, (mistake.words), [&] { return set_up(da, MATHELMHOLTZ, &A); });
  }
  Matrix A; // and all is well afterwards
  OK(set_up(da, MATHELMHOLTZ, &A));
}

TEST_CASE("grids that are not served", "[errors]") {
  Grid   two_unknowns, twisted, mirrored;
  Matrix A, B, C, D, E, F;
  OK(make_2d(DM_BOUNDARY_NONE, 8, 2, 1, &two_unknowns));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"dof = 2", "dof = 1"}), [&] { return MatCreateLaplace(two_unknowns, &A); });
  OK(DMSetMatType(two_unknowns, MATHELMHOLTZ));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"dof = 2", "dof = 1"}), [&] { return DMCreateMatrix(two_unknowns, &B); });

  OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  const PetscErrorCode made = make_2d(DM_BOUNDARY_TWIST, 8, 1, 1, &twisted);
  OK(PetscPopErrorHandler());
  if (everywhere(!made))
    EXPECT_ERROR(PETSC_ERR_SUP, ({"axis x", "DM_BOUNDARY_TWIST", "periodic"}),
                 [&] { return MatCreateLaplace(twisted, &C); });

  OK(make_2d(DM_BOUNDARY_MIRROR, 1, 1, 0, &mirrored));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"axis x", "1", "2 points", "DM_BOUNDARY_NONE"}),
               [&] { return MatCreateLaplace(mirrored, &D); });

  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"helmholtz", "DMDA", "MatSetDM"}),
               [&] { return set_up(NULL, MATHELMHOLTZ, &E); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"DMDA", "null"}), [&] { return MatCreateLaplace(NULL, &F); });
}

TEST_CASE("a DM that is not a DMDA", "[errors]") {
  Grid   shell;
  Matrix A;
  OK(DMCreate(PETSC_COMM_WORLD, &shell));
  OK(DMSetType(shell, DMREDUNDANT));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"DMDA", "redundant"}), [&] { return MatCreateLaplace(shell, &A); });
}

TEST_CASE("sizes that are not the grid's", "[errors]") {
  Grid   da = make_grid(problem(2, 8, 8));
  Matrix A;
  int    rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  Vector   layout = make_vector(da);
  PetscInt n;
  OK(VecGetLocalSize(layout, &n));
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetSizes(A, n + (rank == 0), n + (rank == 0), PETSC_DETERMINE, PETSC_DETERMINE)); // on one rank only
  OK(MatSetType(A, MATLAPLACE));
  OK(MatSetDM(A, da));
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"DMDA", "MatSetSizes"}), [&] { return MatSetUp(A); });
}

TEST_CASE("calls with arguments that are not allowed change nothing", "[errors]") {
  Grid      da = make_grid(problem(2, 8, 8));
  Matrix    A;
  PetscReal lengths[3] = {1, 1, 1}, bad[3] = {1, -2, 1};
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, MATHELMHOLTZ));
  OK(MatHelmholtzSetShift(A, 3));

  PetscScalar sigma;
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"shift", "nan"}), [&] { return MatHelmholtzSetShift(A, NAN); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"shift", "inf"}), [&] { return MatHelmholtzSetShift(A, INFINITY); });
  OK(MatHelmholtzGetShift(A, &sigma));
  CHECK(sigma == (PetscScalar)3);
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"length y", "-2"}), [&] { return MatLaplaceSetLengths(A, 2, bad); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"4 side lengths"}), [&] { return MatLaplaceSetLengths(A, 4, bad); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"7", "eliminated", "identity", "neumann"}),
               [&] { return MatLaplaceSetBoundary(A, (MatLaplaceBoundaryType)7); });
  OK(MatLaplaceSetLengths(A, 3, lengths));
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"3 side lengths", "give 2"}), [&] { return MatSetUp(A); });
  OK(MatLaplaceSetLengths(A, 2, lengths)); // a mistake can be put right
  OK(MatSetUp(A));

  EXPECT_ERROR(PETSC_ERR_ORDER, ({"eliminated", "neumann", "MatSetUp"}),
               [&] { return MatLaplaceSetBoundary(A, MAT_LAPLACE_NEUMANN); });
  OK(MatLaplaceSetBoundary(A, MAT_LAPLACE_ELIMINATED)); // what it is
  lengths[1] = 2;
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"lengths", "MatSetUp"}), [&] { return MatLaplaceSetLengths(A, 2, lengths); });

  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"shift", "nan"}), [&] { return MatHelmholtzSetShift(A, NAN); });
  Problem p = problem(2, 8, 8);
  p.sigma = 3;
  Matrix B = make_reference(p, da);
  CHECK(difference(A, B) <= exact);

  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [] { return MatHelmholtzSetShift(NULL, 1); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [] { return MatLaplaceSetBoundary(NULL, MAT_LAPLACE_NEUMANN); });
}

TEST_CASE("sums of operators that do not fit", "[errors]") {
  Problem p = problem(2, 8, 8), q = problem(2, 4, 16), r = p;
  q.ranks[0] = 1, q.ranks[1] = p.ranks[1] = rank_count(), p.ranks[0] = 1; // as many points on each rank
  r.ranks[0] = 1, r.ranks[1] = rank_count();
  r.boundary = MAT_LAPLACE_NEUMANN;
  Grid   da = make_grid(p), other = make_grid(q);
  Matrix A = make_operator(p, da), B = make_operator(q, other), C = make_operator(r, da);
  if (rank_count() != 3)
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"grids", "MatConvert"}),
                 [&] { return MatAXPY(A, 1, B, SAME_NONZERO_PATTERN); });
  Matrix reference = make_reference(p, da), other_ends = make_reference(r, da);
  CHECK(difference(A, reference) <= exact);
  OK(MatAXPY(A, 2, C, SAME_NONZERO_PATTERN)); // rows are data: other ends do fit
  OK(MatAXPY(reference, 2, other_ends, DIFFERENT_NONZERO_PATTERN));
  CHECK(difference(A, reference) <= exact);
}

TEST_CASE("copies between operators that do not fit", "[errors]") {
  Problem p = problem(2, 8, 8), q = p;
  q.boundary = MAT_LAPLACE_IDENTITY;
  Problem r = problem(2, 4, 16);
  for (Problem *each : {&p, &q, &r}) each->ranks[0] = 1, each->ranks[1] = rank_count();
  Grid   da = make_grid(p), other = make_grid(r);
  Matrix A = make_operator(p, da), B = make_operator(q, da), C = make_operator(r, other);
  if (rank_count() != 3)
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"grids", "MatDuplicate"}),
                 [&] { return MatCopy(A, C, SAME_NONZERO_PATTERN); });
  // half of both would be worse: the form is part of symmetry, halos and views
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"boundary form", "MatDuplicate"}),
               [&] { return MatCopy(A, B, SAME_NONZERO_PATTERN); });
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"boundary form", "MatDuplicate"}),
               [&] { return MatCopy(B, A, SAME_NONZERO_PATTERN); });
  Problem periodic = p;
  periodic.ends[0] = DM_BOUNDARY_PERIODIC;
  Grid   around = make_grid(periodic);
  Matrix D = make_operator(periodic, around);
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"boundary types", "MatDuplicate"}),
               [&] { return MatCopy(D, A, SAME_NONZERO_PATTERN); });
}

TEST_CASE("sweeps that cannot be done", "[errors]") {
  Problem p = problem(2, 8, 7);
  p.lengths[0] = 9, p.lengths[1] = 8; // h = 1: the diagonal is 4
  p.sigma = -4;
  Grid   da = make_grid(p);
  Matrix A = make_operator(p, da);
  Vector b = random_vector(da, 1), x = random_vector(da, 2), before = copy_of(x);
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"diagonal", "zero", "pc_sor_diagonal_shift"}),
               [&] { return MatSOR(A, b, 1, SOR_SYMMETRIC_SWEEP, 0, 1, 1, x); });
  CHECK(difference(x, before) == 0);
  OK(MatSOR(A, b, 1, SOR_SYMMETRIC_SWEEP, 1, 1, 1, x)); // the remedy
  EXPECT_ERROR(PETSC_ERR_SUP, ({"PCEISENSTAT", "zero guess"}),
               [&] { return MatSOR(A, b, 1, SOR_APPLY_UPPER, 1, 1, 1, x); });
}

TEST_CASE("a sweep over a zero diagonal that MatDiagonalSet() made", "[errors]") {
  Grid   da = make_grid(problem(2, 8, 7));
  Matrix A;
  OK(MatCreateLaplace(da, &A));
  Vector d = make_vector(da), b = random_vector(da, 1), x = random_vector(da, 2);
  OK(VecSet(d, 0));
  OK(MatDiagonalSet(A, d, INSERT_VALUES));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"diagonal", "zero"}),
               [&] { return MatSOR(A, b, 1, SOR_SYMMETRIC_SWEEP, 0, 1, 1, x); });
}

TEST_CASE("norms and vectors that do not fit", "[errors]") {
  Grid      da = make_grid(problem(2, 8, 8)), other = make_grid(problem(2, 9, 8));
  Matrix    A;
  PetscReal norm;
  OK(MatCreateLaplace(da, &A));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"2-norm", "infinity"}), [&] { return MatNorm(A, NORM_2, &norm); });

  Vector x = random_vector(other, 1), y = make_vector(da);
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"dim"}), [&] { return MatMult(A, x, y); });

  // as many in all, but distributed otherwise
  int ranks = rank_count(), rank;
  if (ranks == 1) return;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  Vector   z, mine = make_vector(da);
  PetscInt n;
  OK(VecGetLocalSize(mine, &n));
  OK(VecCreate(PETSC_COMM_WORLD, &z));
  OK(VecSetSizes(z, n + (rank == 0 ? -1 : rank == ranks - 1 ? 1 : 0), PETSC_DETERMINE));
  OK(VecSetType(z, VECSTANDARD));
  OK(VecSet(z, 1));
  std::string message; // PETSc itself checks, on the ranks where it is so
  OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  const bool failed = rank == 0 || rank == ranks - 1 ? MatMult(A, z, y) != PETSC_SUCCESS : true;
  OK(PetscPopErrorHandler());
  CHECK(everywhere(failed));
}

TEST_CASE("what would be done and forgotten is an error", "[errors]") {
  Problem        p = problem(2, 5, 4);
  Grid           da = make_grid(p);
  Matrix         A = make_operator(p, da);
  Vector         x = make_vector(da), b = make_vector(da);
  OK(VecSet(x, 1));
  OK(VecSet(b, 1));
  EXPECT_ERROR(PETSC_ERR_ARG_IDN, ({"another vector"}), [&] { return MatResidual(A, b, x, x); });
}

TEST_CASE("a DMDA that is not set up is an error", "[errors]") {
  Grid   da;
  Matrix A;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, NULL, &da));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"DMSetUp"}), [&] { return MatCreateLaplace(da, &A); });
}

#if !defined(PETSC_HAVE_CUDA)
// A PETSc with CUDA on a machine without a GPU cannot finish after this error: plugin/compare.cmake shows it there.
TEST_CASE("CUDA vectors of a PETSc without CUDA are an error", "[errors]") {
  Grid   da = make_grid(problem(2, 8, 8));
  Matrix A;
  Vector v;
  OK(DMSetVecType(da, "cuda"));
  EXPECT_ERROR(PETSC_ERR_ARG_UNKNOWN_TYPE, ({"cuda"}), [&] {
    PetscFunctionBeginUser;
    PetscCall(MatCreateLaplace(da, &A));
    PetscCall(MatCreateVecs(A, &v, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}
#endif

TEST_CASE("places for results and arrays that are null are errors", "[errors]") {
  Grid   da = make_grid(problem(2, 8, 8));
  Matrix A;
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null", "address"}), [&] { return MatCreateLaplace(da, NULL); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null", "address"}), [&] { return MatCreateHelmholtz(da, 1, NULL); });
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, MATHELMHOLTZ));
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"lengths", "null"}), [&] { return MatLaplaceSetLengths(A, 2, NULL); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"shift", "null"}), [&] { return MatHelmholtzGetShift(A, NULL); });
  PetscScalar sigma;
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [&] { return MatHelmholtzGetShift(NULL, &sigma); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [] { return MatSetHaloType(NULL, MAT_HALO_HOST); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [] { return MatStencilShellSetTolerance(NULL, 0); });
  OK(MatSetUp(A));
}

TEST_CASE("an operator does not take up matrices of other types, and says what does", "[errors]") {
  const Problem p = problem(2, 8, 8);
  Grid          da = make_grid(p);
  Matrix        A, aij = make_reference(p, da), captured;
  OK(MatCreateLaplace(da, &A));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"laplace", "aij", "MatConvert"}),
               [&] { return MatAXPY(A, 2, aij, SAME_NONZERO_PATTERN); });
  OK(DMSetMatType(da, MATSTENCILSHELL));
  OK(DMCreateMatrix(da, &captured));
  assemble(p, da, captured);
  OK(MatAXPY(A, 2, captured, SAME_NONZERO_PATTERN));
  OK(MatScale(A, 1. / 3));
  CHECK(difference(A, aij) <= exact);
  OK(MatAXPY(captured, 2, A, DIFFERENT_NONZERO_PATTERN)); // the other way round they fit
  OK(MatScale(aij, 3));
  CHECK(difference(captured, aij) <= exact);
  OK(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A)); // the remedy
  OK(MatAXPY(A, 1, aij, SAME_NONZERO_PATTERN));
}

TEST_CASE("PCGAMG says that it needs an assembled matrix", "[errors]") {
  const Problem p = problem(2, 8, 8);
  for (MatType type : {MATLAPLACE, MATSTENCILSHELL}) {
    INFO(type);
    Options set("-pc_type gamg");
    Grid    da = make_grid(p);
    Matrix  A;
    Solver  ksp;
    OK(DMSetMatType(da, type));
    OK(DMCreateMatrix(da, &A));
    assemble(p, da, A);
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetFromOptions(ksp));
    EXPECT_ERROR(PETSC_ERR_SUP, ({"PCGAMG", "-pc_type assembled -assembled_pc_type gamg", "-dm_mat_type aij"}),
                 [&] { return KSPSetUp(ksp); });
  }
}

TEST_CASE("setters of a halo's way and of a captured matrix", "[errors]") {
  Grid   da = make_grid(problem(2, 8, 8));
  Matrix A, captured;
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, MATLAPLACE));
  OK(MatSetHaloType(A, MAT_HALO_HOST));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"7", "automatic"}), [&] { return MatSetHaloType(A, (MatHaloType)7); });
  OK(MatSetUp(A));
  OK(MatSetHaloType(A, MAT_HALO_HOST)); // what it is
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"host", "ipc", "before"}), [&] { return MatSetHaloType(A, MAT_HALO_IPC); });
  OK(MatStencilShellSetTolerance(A, 2)); // of another type: ignored

  OK(DMSetMatType(da, MATSTENCILSHELL));
  OK(DMCreateMatrix(da, &captured));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"1.5", "[0, 1)"}),
               [&] { return MatStencilShellSetTolerance(captured, 1.5); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"9", "automatic", "arrays"}),
               [&] { return MatStencilShellSetCompression(captured, (MatStencilShellCompressionType)9); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"9", "aij"}),
               [&] { return MatStencilShellSetFallback(captured, (MatStencilShellFallbackType)9); });
  PetscInt first;
  OK(MatGetOwnershipRange(captured, &first, NULL));
  OK(MatSetValue(captured, first, first, 1, INSERT_VALUES));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"MatSetValues", "MatAssemblyEnd"}),
               [&] { return MatStencilShellSetVerify(captured, PETSC_TRUE); });
}

TEST_CASE("an operator whose entries are zeroed has no product before it is assembled", "[errors]") {
  Grid   da = make_grid(problem(2, 9, 8));
  Matrix A;
  OK(MatCreateLaplace(da, &A));
  Vector before = make_vector(da), after = make_vector(da), ones = make_vector(da), other = make_vector(da);
  OK(VecSet(ones, 1));
  OK(VecSet(other, 1)); // an error leaves vectors locked
  OK(MatMult(A, ones, before));
  OK(MatZeroEntries(A));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"MatZeroEntries()", "MatScale()"}),
               [&] { return MatMult(A, other, after); });
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"MatZeroEntries()", "MatScale()"}),
               [&] { return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY); });
  Vector again = make_vector(da);
  assemble(A);
  OK(MatMult(A, ones, again));
  CHECK(difference(again, before) == 0);
}

TEST_CASE("a row that one rank names wrongly is an error on all", "[errors]") {
  Grid   da = make_grid(problem(2, 9, 8));
  Matrix A;
  int    rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  OK(DMSetMatType(da, MATSTENCILSHELL));
  OK(DMCreateMatrix(da, &A));
  assemble(problem(2, 9, 8), da, A);
  const PetscInt wrong = 5000, none = rank == rank_count() - 1 ? 1 : 0;
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"5000", "72 rows"}),
               [&] { return MatZeroRows(A, none, &wrong, 1, NULL, NULL); });
}

TEST_CASE("a value that one rank assembles wrongly is an error of all in MatAssemblyEnd()", "[errors]") {
  Grid   da = make_grid(problem(2, 9, 8));
  Vector x = random_vector(da, 1), before = make_vector(da), after = make_vector(da);
  int    rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const bool mine = rank == rank_count() - 1;
  struct Case {
    PetscErrorCode           code;
    std::vector<std::string> words;
    PetscInt                 row; // from this rank's first on
    InsertMode               mode;
  };
  for (const Case &c : {Case{PETSC_ERR_ARG_INCOMP, {"assembles 999", "aij"}, 0, INSERT_VALUES},
                        Case{PETSC_ERR_SUP, {"ADD_VALUES", "aij"}, 0, ADD_VALUES},
                        Case{PETSC_ERR_SUP, {"only owned rows"}, 1000, INSERT_VALUES}}) {
    Matrix   A;
    PetscInt first;
    OK(MatCreateLaplace(da, &A));
    OK(MatMult(A, x, before));
    OK(MatGetOwnershipRange(A, &first, NULL));
    const PetscInt    row = first + c.row;
    const PetscScalar wrong = 999;
    if (mine) OK(MatSetValues(A, 1, &row, 1, &row, &wrong, c.mode));
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    EXPECT_ERROR(c.code, (c.words), [&] { return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY); });
    assemble(A);
    OK(MatMult(A, x, after));
    CHECK(difference(after, before) == 0);
  }
}

TEST_CASE("lists of entries are refused by formulas, before anything is assembled", "[errors]") {
  Grid        da = make_grid(problem(1, 16));
  PetscInt    first, rows[1], columns[1];
  PetscScalar value = 2;
  for (const char *type : {MATLAPLACE, MATHELMHOLTZ, MATDIFFUSION, MATADVECTIONDIFFUSION}) {
    Matrix A;
    OK(DMSetMatType(da, type));
    OK(DMCreateMatrix(da, &A));
    OK(MatGetOwnershipRange(A, &first, NULL));
    rows[0] = columns[0] = first;
    const std::vector<std::string> words = {type, "-dm_mat_type stencil", "MatSetValues()"};
    EXPECT_ERROR(PETSC_ERR_SUP, (words), [&] { return MatSetPreallocationCOO(A, 1, rows, columns); });
    rows[0] = columns[0] = 0;
    EXPECT_ERROR(PETSC_ERR_SUP, (words), [&] { return MatSetPreallocationCOOLocal(A, 1, rows, columns); });
    EXPECT_ERROR(PETSC_ERR_SUP, (words), [&] { return MatSetValuesCOO(A, &value, INSERT_VALUES); });
  }
}

TEST_CASE("-dm_mat_type that reaches other DMs than the DMDA is an error with a way out", "[errors]") {
  Grid da = make_grid(problem(1, 16));
  DM   stag, pair;
  Mat  made = NULL;
  for (const char *type : {MATSTENCILSHELL, MATLAPLACE}) {
    const std::vector<std::string> words = {type, "DMDA", "DMSetOptionsPrefix()", std::string("dm_mat_type ") + type};
    OK(DMStagCreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 16, 1, 1, DMSTAG_STENCIL_BOX, 1, NULL, &stag));
    OK(DMSetUp(stag));
    OK(DMSetMatType(stag, type));
    EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, (words), [&] { return DMCreateMatrix(stag, &made); });
    OK(MatDestroy(&made));
    // where the matrix knows its DM
    Matrix A;
    OK(MatCreate(PETSC_COMM_WORLD, &A));
    OK(MatSetType(A, type));
    OK(MatSetDM(A, stag));
    std::vector<std::string> with_type = words;
    with_type.push_back("of type stag");
    EXPECT_ERROR(PETSC_ERR_ARG_WRONG, (with_type), [&] { return MatSetUp(A); });
    OK(DMDestroy(&stag));
    OK(DMCompositeCreate(PETSC_COMM_WORLD, &pair));
    OK(DMCompositeAddDM(pair, da));
    OK(DMSetUp(pair));
    OK(DMSetMatType(pair, type));
    EXPECT_ERROR(PetscErrorCode(0), (words), [&] { return DMCreateMatrix(pair, &made); });
    OK(MatDestroy(&made));
    OK(DMDestroy(&pair));
  }
  // the way out
  Options set("-grid_dm_mat_type stencil");
  Matrix  A;
  MatType type;
  DM      grid;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 16, 1, 1, NULL, &grid));
  OK(DMSetOptionsPrefix(grid, "grid_"));
  OK(DMSetFromOptions(grid));
  OK(DMSetUp(grid));
  OK(DMCreateMatrix(grid, &A));
  OK(DMDestroy(&grid));
  OK(MatGetType(A, &type));
  CHECK(std::string(type) == MATSTENCILSHELL);
}
