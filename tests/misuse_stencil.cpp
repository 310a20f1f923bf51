// Mistakes with stencil: options, assembly, operations.

#include "catch.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static PetscErrorCode product(Vec *y) {
  PetscFunctionBeginUser;
  Problem p = problem(2, 9, 8);
  Grid    da = make_grid(p);
  Matrix  A;
  Vector  x = random_vector(da, 1);
  PetscCall(DMSetMatType(da, MATSTENCILSHELL));
  PetscCall(DMCreateMatrix(da, &A));
  assemble(p, da, A);
  PetscCall(MatCreateVecs(A, NULL, y));
  PetscCall(MatMult(A, x, *y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("options of stencil", "[misuse]") {
  check_mistakes(product, {
                              {"-mat_stencil_compress zip", PETSC_ERR_USER, "zip|mat_stencil_compress"},
                              {"-mat_stencil_compress 9", PETSC_ERR_USER, "9|mat_stencil_compress"},
                              {"-mat_stencil_compress_tolerance -1", PETSC_ERR_ARG_OUTOFRANGE, "tolerance|-1"},
                              {"-mat_stencil_compress_tolerance 1", PETSC_ERR_ARG_OUTOFRANGE, "tolerance|1"},
                              {"-mat_stencil_compress_tolerance 2", PETSC_ERR_ARG_OUTOFRANGE, "tolerance|2"},
                              {"-mat_stencil_compress_tolerance nan", PETSC_ERR_ARG_OUTOFRANGE, "nan|[0, 1)"},
                              {"-mat_stencil_compress_tolerance inf", PETSC_ERR_ARG_OUTOFRANGE, "inf|[0, 1)"},
                              {"-mat_stencil_compress_tolerance tight", PETSC_ERR_ARG_OUTOFRANGE,
                               "mat_stencil_compress_tolerance|tight|give: "},
                              {"-mat_stencil_compress arrays -mat_stencil_compress_tolerance 1e-3",
                               PETSC_ERR_ARG_INCOMP, "tolerance 0.001 has no effect|arrays|automatic"},
                              {"-mat_stencil_verify maybe", PETSC_ERR_ARG_WRONG, "mat_stencil_verify|maybe|give: true"},
                              {"-mat_stencil_verify 2", PETSC_ERR_ARG_WRONG, "mat_stencil_verify|2|give: true"},
                              {"-mat_stencil_fallback dense", PETSC_ERR_USER, "dense|mat_stencil_fallback"},
                              {"-mat_stencil_fallback 2", PETSC_ERR_USER, "2|mat_stencil_fallback"},
                              {"-mat_stencil_halo usb", PETSC_ERR_USER, "usb|mat_stencil_halo"},
                          });
}

namespace {
// A matrix on a grid, of width 1, and calls on duplicates of it: an assembly that fails is never finished.
struct Assembly {
  Problem p = problem(2, 9, 8), q = problem(2, 10, 7);
  Grid    da = make_grid(p), other_da = make_grid(q);
  Matrix  A, other, aij = make_reference(p, da), dense;

  Assembly() {
    OK(DMSetMatType(da, MATSTENCILSHELL));
    OK(DMCreateMatrix(da, &A));
    assemble(p, da, A);
    OK(DMSetMatType(other_da, MATSTENCILSHELL));
    OK(DMCreateMatrix(other_da, &other));
    assemble(q, other_da, other);
    OK(MatConvert(aij, MATDENSE, MAT_INITIAL_MATRIX, &dense));
    PetscInt row;
    OK(MatGetOwnershipRange(dense, &row, NULL));
    OK(MatSetValue(dense, row, (row + 36) % 72, 1, INSERT_VALUES)); // outside the stencil
    tests::assemble(dense);
  }
  PetscErrorCode with(const std::function<PetscErrorCode(Mat B)> &set) const {
    PetscFunctionBeginUser;
    Matrix B;
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(set(B));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // row: of the rank's first one, or a row beyond the last
  PetscErrorCode set(PetscInt row, PetscInt column, InsertMode mode) const {
    return with([&](Mat B) {
      const PetscScalar one = 1;
      return MatSetValues(B, 1, &row, 1, &column, &one, mode);
    });
  }
  PetscErrorCode set_local(PetscInt row, PetscInt column) const {
    return with([&](Mat B) {
      const PetscScalar one = 1;
      return MatSetValuesLocal(B, 1, &row, 1, &column, &one, INSERT_VALUES);
    });
  }
  PetscErrorCode couple(PetscInt dx, PetscInt dy) const { // the rank's first point with that one
    MatStencil row = {}, column = {};
    PetscInt   x, y;
    OK(DMDAGetCorners(da, &x, &y, NULL, NULL, NULL, NULL));
    row.i = x, row.j = y, column.i = x + dx, column.j = y + dy;
    return with([&](Mat B) {
      const PetscScalar one = 1;
      return MatSetValuesStencil(B, 1, &row, 1, &column, &one, INSERT_VALUES);
    });
  }
  PetscErrorCode product(Vec *y) const {
    PetscFunctionBeginUser;
    Vector x = random_vector(da, 1);
    PetscCall(MatCreateVecs(A, NULL, y));
    PetscCall(MatMult(A, x, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

TEST_CASE("assembly and operations of stencil", "[misuse]") {
  const auto  same = SAME_NONZERO_PATTERN;
  Assembly    a;
  Mat         A = a.A, made = NULL;
  PetscReal   norm;
  PetscScalar sigma;
  PetscInt    first;
  Vector      ones;
  OK(MatCreateVecs(A, &ones, NULL));
  OK(VecSet(ones, 1));
  OK(MatGetOwnershipRange(A, &first, NULL));
  check_mistakes(
      [&](Vec *y) { return a.product(y); },
      {
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "outside|stencil|-mat_stencil_fallback aij",
               a.set(first, (first + 36) % 72, INSERT_VALUES)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "outside|stencil|-mat_stencil_fallback aij",
               a.set(first, (first + 36) % 72, ADD_VALUES)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "outside|stencil|-mat_stencil_fallback aij",
               a.set(first, on_last((first + 30) % 72, first), INSERT_VALUES)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "outside|stencil|-mat_stencil_fallback aij", a.couple(on_last(2, 0), 0)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "column 5000|72 columns", a.set(first, 5000, INSERT_VALUES)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "row 5000|72 rows", a.set(5000, first, INSERT_VALUES)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "local column 5000|DMDA", a.set_local(0, 5000)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "local row 5000|DMDA", a.set_local(5000, 0)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "outside|stencil|-mat_stencil_fallback aij", a.couple(1, 1)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "outside|stencil|-mat_stencil_fallback aij", a.couple(2, 0)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "outside|stencil|-mat_stencil_fallback aij", a.couple(0, 2)),
          CALL(PETSC_ERR_ARG_SIZ, "72 x 72|70 x 70", MatAXPY(A, 1, a.other, same)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "outside|star stencil|-mat_stencil_fallback aij",
               MatAXPY(A, 1, a.dense, same)),
          CALL(PETSC_ERR_ARG_SIZ, "global dim|72|70", MatCopy(A, a.other, same)),
          CALL(PETSC_ERR_SUP, "2-norm|frobenius", MatNorm(A, NORM_2, &norm)),
          CALL(PETSC_ERR_SUP, "2-norm|frobenius", MatNorm(A, on_last(NORM_2, NORM_1), &norm)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "INSERT_VALUES or ADD_VALUES",
               MatDiagonalSet(A, ones, on_last(MAX_VALUES, ADD_VALUES))),
          CALL(PETSC_ERR_SUP, "helmholtz", MatHelmholtzGetShift(A, &sigma)),
          CALL(PETSC_ERR_ARG_WRONGSTATE, "local rows|1000", MatGetRow(A, 1000, NULL, NULL, NULL)),
          CALL(PETSC_ERR_ARG_UNKNOWN_TYPE, "no_such_type", MatConvert(A, "no_such_type", MAT_INITIAL_MATRIX, &made)),
          CALL(PETSC_ERR_ARG_SIZ, "72x72|70x70", MatMatMult(A, a.other, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made)),
          CALL(PETSC_ERR_SUP, "stencil|-pc_type lu|MatConvert(", MatLUFactor(A, NULL, NULL, NULL)),
      });
}

TEST_CASE("vectors that do not fit the zeroed rows of stencil", "[misuse]") {
  Assembly       a;
  Mat            A = a.A;
  Vector         x = random_vector(a.da, 1), b = random_vector(a.da, 2), few;
  const PetscInt rows[] = {0, 50}, n = on_last(2, 0);
  OK(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 3, &few));
  OK(VecSet(few, 1));
  check_mistakes([&](Vec *y) { return a.product(y); },
                 {
                     CALL(PETSC_ERR_ARG_SIZ, "3 values|72|MatCreateVecs", MatZeroRows(A, n, rows, 1, few, b)),
                     CALL(PETSC_ERR_ARG_SIZ, "3 values|72|MatCreateVecs", MatZeroRows(A, n, rows, 1, x, few)),
                     CALL(PETSC_ERR_ARG_SIZ, "3 values|72|MatCreateVecs", MatZeroRowsColumns(A, n, rows, 1, few, b)),
                     CALL(PETSC_ERR_ARG_SIZ, "3 values|72|MatCreateVecs", MatZeroRowsColumns(A, n, rows, 1, x, few)),
                 });
}

TEST_CASE("settings of stencil", "[misuse]") {
  Assembly   a;
  Mat        A = a.A;
  const auto halo = [](int value) { return (MatHaloType)value; };
  const auto compression = [](int value) { return (MatStencilShellCompressionType)value; };
  const auto fallback = [](int value) { return (MatStencilShellFallbackType)value; };
  const auto out = PETSC_ERR_ARG_OUTOFRANGE, null = PETSC_ERR_ARG_NULL;
  check_mistakes([&](Vec *y) { return a.product(y); },
                 {
                     CALL(out, "5|automatic, ipc, nccl, mpi or host", MatSetHaloType(A, halo(5))),
                     CALL(out, "-1|automatic, ipc, nccl, mpi or host", MatSetHaloType(A, halo(-1))),
                     CALL(PETSC_ERR_ORDER, "MatSetUp", MatSetHaloType(A, MAT_HALO_HOST)),
                     CALL(null, "null", MatSetHaloType(NULL, MAT_HALO_HOST)),
                     CALL(out, "4|automatic", MatStencilShellSetCompression(A, compression(4))),
                     CALL(out, "-1|automatic", MatStencilShellSetCompression(A, compression(-1))),
                     CALL(null, "null", MatStencilShellSetCompression(NULL, MAT_STENCILSHELL_ARRAYS)),
                     CALL(out, "tolerance|-0.5", MatStencilShellSetTolerance(A, -0.5)),
                     CALL(out, "tolerance|1", MatStencilShellSetTolerance(A, 1)),
                     CALL(out, "tolerance|nan", MatStencilShellSetTolerance(A, NAN)),
                     CALL(null, "null", MatStencilShellSetTolerance(NULL, 0)),
                     CALL(out, "2|error|aij", MatStencilShellSetFallback(A, fallback(2))),
                     CALL(out, "-1|error|aij", MatStencilShellSetFallback(A, fallback(-1))),
                     CALL(null, "null", MatStencilShellSetFallback(NULL, MAT_STENCILSHELL_FALLBACK_AIJ)),
                     CALL(null, "null", MatStencilShellSetKeepArrays(NULL, PETSC_TRUE)),
                     CALL(null, "null", MatStencilShellSetVerify(NULL, PETSC_TRUE)),
                     CALL(out, "5|automatic, ipc, nccl, mpi or host", MatSetHaloType(A, halo(on_last(5, 0)))),
                     CALL(out, "4|automatic", MatStencilShellSetCompression(A, compression(on_last(4, 0)))),
                     CALL(out, "tolerance|nan", MatStencilShellSetTolerance(A, on_last<PetscReal>(NAN, 0))),
                     CALL(out, "2|error|aij", MatStencilShellSetFallback(A, fallback(on_last(2, 0)))),
                 });
  if (rank_count() == 1) return;
  const auto incompatible = PETSC_ERR_ARG_INCOMP;
  check_mistakes(
      [&](Vec *y) { return a.product(y); },
      {
          CALL(incompatible, "MatStencilShellSetCompression() with 0|SetCompression() with 3|give all ranks the same",
               MatStencilShellSetCompression(A, compression(on_last(3, 0)))),
          CALL(incompatible, "MatStencilShellSetTolerance() with 0|MatStencilShellSetTolerance() with 0.5",
               MatStencilShellSetTolerance(A, on_last<PetscReal>(0.5, 0))),
          CALL(incompatible, "MatStencilShellSetFallback() with 0|MatStencilShellSetFallback() with 1",
               MatStencilShellSetFallback(A, fallback(on_last(1, 0)))),
          CALL(incompatible, "MatStencilShellSetKeepArrays() with 0|MatStencilShellSetKeepArrays() with 1",
               MatStencilShellSetKeepArrays(A, on_last(PETSC_TRUE, PETSC_FALSE))),
          CALL(incompatible, "MatStencilShellSetVerify() with 0|MatStencilShellSetVerify() with 1",
               MatStencilShellSetVerify(A, on_last(PETSC_TRUE, PETSC_FALSE))),
      });
}
