// Settings of captured matrices: options, setters, and what they refuse; Eisenstat's sweeps and files.

#include "captures.hpp"
#include "catch.hpp"

#include <algorithm>

using namespace tests;

static PetscErrorCode set_up(DM da, Mat *A) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  if (da) PetscCall(MatSetDM(*A, da));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, 72, 72));
  PetscCall(MatSetType(*A, captured_type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("grids and options that a captured matrix cannot serve", "[capture][errors]") {
  Grid   da, shell, twisted;
  Matrix A, B, C, D;
  REQUIRE(try_make_grid(plane(), &da));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({captured_type, "DMDA"}), [&] { return set_up(NULL, &A); });
  OK(DMCreate(PETSC_COMM_WORLD, &shell));
  OK(DMSetType(shell, DMREDUNDANT));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"DMDA", "redundant"}), [&] { return set_up(shell, &B); });

  OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  const PetscErrorCode made = [&] {
    PetscFunctionBeginUser;
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_TWIST, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 8, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, &twisted));
    PetscCall(DMSetUp(twisted));
    PetscFunctionReturn(PETSC_SUCCESS);
  }();
  OK(PetscPopErrorHandler());
  if (everywhere(!made)) {
    OK(DMSetMatType(twisted, captured_type));
    EXPECT_ERROR(PETSC_ERR_SUP, ({"DM_BOUNDARY_TWIST"}), [&] { return DMCreateMatrix(twisted, &C); });
  }

  OK(DMSetMatType(da, captured_type));
  for (const char *options : {"-mat_stencil_compress zip", "-mat_stencil_fallback zip"}) {
    INFO(options);
    Options set(options);
    EXPECT_ERROR(PETSC_ERR_USER, ({"zip", "mat_stencil_"}), [&] { return DMCreateMatrix(da, &D); });
    OK(MatDestroy(&D));
  }
  for (const char *value : {"-0.5", "nan"}) {
    INFO(value);
    OK(PetscOptionsSetValue(NULL, "-mat_stencil_compress_tolerance", value));
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({value}), [&] { return DMCreateMatrix(da, &D); });
    OK(PetscOptionsClearValue(NULL, "-mat_stencil_compress_tolerance"));
    OK(MatDestroy(&D));
  }
}

TEST_CASE("setters of a captured matrix do what its options do", "[capture]") {
  const Lattice l = plane();
  for (MatStencilShellCompressionType type :
       {MAT_STENCILSHELL_AUTOMATIC, MAT_STENCILSHELL_CONSTANT, MAT_STENCILSHELL_INDEXED, MAT_STENCILSHELL_ARRAYS}) {
    INFO(MatStencilShellCompressionTypes[type]);
    Twins t(l);
    OK(MatStencilShellSetCompression(t.A, type));
    t.both([&](DM da, Mat M) { fill_and_assemble(da, M, random_fill(l, Form::constant, 1)); });
    const std::string form = type == MAT_STENCILSHELL_AUTOMATIC ? "constant" : MatStencilShellCompressionTypes[type];
    CHECK(view(t.A, PETSC_VIEWER_ASCII_INFO).find("form " + form) != std::string::npos);
    CHECK(t.operator_problem() == "");
  }
  Twins t(l), u(l);
  OK(MatStencilShellSetTolerance(t.A, 0.5)); // then all rows are taken for equal, and one of them holds
  t.both([&](DM da, Mat M) { fill_and_assemble(da, M, random_fill(l, Form::constant, 1)); });
  set_rows(t.da, t.A, random_fill(l, Form::constant, 1), Way::stencil, INSERT_VALUES);
  PetscInt first;
  OK(MatGetOwnershipRange(t.A, &first, NULL));
  OK(MatStencilShellSetFallback(u.A, MAT_STENCILSHELL_FALLBACK_AIJ));
  const std::string text = printed([&] {
    PetscInt row = 0, column = 71; // the corners of the grid
    if (first == 0) OK(MatSetValue(u.A, row, column, 3, INSERT_VALUES));
    assemble(u.A);
  });
  CHECK(text.find("aij") != std::string::npos);

  for (bool assembled : {false, true}) {
    INFO((assembled ? "assembled before" : "new"));
    Twins             v(l);
    const std::string said = printed([&] {
      if (assembled) fill_and_assemble(v.da, v.A, random_fill(l, Form::arrays, 1));
      OK(MatStencilShellSetVerify(v.A, PETSC_TRUE));
      fill_and_assemble(v.da, v.A, random_fill(l, Form::arrays, 2));
      OK(MatStencilShellSetVerify(v.A, PETSC_FALSE));
      fill_and_assemble(v.da, v.A, random_fill(l, Form::arrays, 3));
    });
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  }
}

TEST_CASE("arrays of compressed rows stay for the next assembly, unless they are not to be kept", "[capture]") {
  const Lattice l = plane();
  Twins         t(l);
  const auto    memory = [&] {
    MatInfo info;
    OK(MatGetInfo(t.A, MAT_GLOBAL_SUM, &info));
    return info.memory;
  };
  const auto arrays = [&] {
    return view(t.A, PETSC_VIEWER_ASCII_INFO).find("stay for the next assembly") != std::string::npos;
  };
  const auto assemble_again = [&](int seed) {
    t.both([&](DM da, Mat M) { fill_and_assemble(da, M, random_fill(l, Form::constant, seed)); });
    CHECK(t.operator_problem() == "");
  };
  assemble_again(1);
  const PetscLogDouble kept = memory();
  CHECK(arrays());
  OK(MatStencilShellSetKeepArrays(t.A, PETSC_FALSE));
  const PetscLogDouble alone = memory();
  CHECK_FALSE(arrays());
  CHECK(kept - alone >= (PetscLogDouble)(l.N[0] * l.N[1]) * sizeof(PetscScalar));
  t.both([](DM, Mat M) { OK(MatScale(M, 2)); });
  CHECK(memory() == alone);
  assemble_again(2);
  CHECK(memory() == alone);
  OK(MatStencilShellSetKeepArrays(t.A, PETSC_TRUE));
  assemble_again(3);
  CHECK(memory() == kept);
}

// The parts are AIJ's: PETSc's own MatSOR() with SOR_EISENSTAT works on one rank only, and with SOR_APPLY_UPPER not for
// inodes.
TEST_CASE("Eisenstat's sweeps are a product between two triangles", "[capture]") {
  constexpr MatSORType forward = (MatSORType)(SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS),
                       backward = (MatSORType)(SOR_LOCAL_BACKWARD_SWEEP | SOR_ZERO_INITIAL_GUESS);
  for (PetscInt dof : {1, 2, 7})
    for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX})
      for (PetscReal omega : {1., 1.3}) {
        Lattice l = plane();
        l.dof = dof;
        l.shape = shape;
        INFO(describe(l) << ", omega " << omega);
        Twins t(l);
        if (makes_cuda_vectors(t.da)) return; // there sweeps are in another order
        t.both([&](DM da, Mat M) { fill_and_assemble(da, M, random_fill(l, Form::arrays, 1)); });
        Vector b = random_vector(t.aij_da, 1), x = make_vector(t.aij_da), y = make_vector(t.aij_da),
               z = make_vector(t.aij_da);
        OK(MatSOR(t.aij, b, omega, backward, 0, 1, 1, x));
        OK(MatSOR(t.A, x, omega, SOR_APPLY_UPPER, 0, 1, 1, y));
        CHECK(difference(y, b) <= 100 * exact);
        OK(MatMult(t.aij, x, y));
        OK(MatSOR(t.aij, y, omega, forward, 0, 1, 1, z));
        OK(MatSOR(t.A, b, omega, SOR_EISENSTAT, 0, 1, 1, y));
        CHECK(difference(y, z) <= 100 * exact);
      }
}

static PetscInt solve(DM da, Mat M) {
  Solver             ksp;
  Vector             b = random_vector(da, 1), x = random_vector(da, 2), r = make_vector(da);
  KSPConvergedReason reason;
  PetscInt           iterations;
  PetscReal          norm, norm_b;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, M, M));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  OK(KSPGetIterationNumber(ksp, &iterations));
  OK(MatResidual(M, b, x, r));
  OK(VecNorm(r, NORM_2, &norm));
  OK(VecNorm(b, NORM_2, &norm_b));
  CHECK(reason > 0);
  CHECK(norm <= 1e-6 * norm_b);
  return iterations;
}

TEST_CASE("PCEISENSTAT takes as many iterations as over AIJ", "[capture][solvers]") {
  Lattice l = plane();
  l.N[0] = 20, l.N[1] = 18;
  for (const char *guess : {"", " -ksp_initial_guess_nonzero"}) {
    Twins t(l);
    if (makes_cuda_vectors(t.da)) return;
    Options set(std::string("-pc_type eisenstat -ksp_type cg -ksp_rtol 1e-9") + guess);
    t.both([&](DM da, Mat M) {
      set_rows(da, M, diffusion_fill(l, Form::arrays), Way::stencil, INSERT_VALUES);
      assemble(M);
    });
    const PetscInt iterations = solve(t.da, t.A);
    if (rank_count() == 1) CHECK(iterations == solve(t.aij_da, t.aij)); // PETSc's fails on several
  }
  // by colours
  Options set("-pc_type eisenstat -ksp_type cg -ksp_rtol 1e-9");
  Problem p = problem(2, 20, 18);
  Grid    da = make_grid(p);
  Matrix  A = make_operator(p, da);
  CHECK(solve(da, A) < 60);
}

static Matrix made_by_hand(const Lattice &l, DM da, MatType type) {
  Matrix   A;
  Vector   v = make_vector(da);
  PetscInt n;
  OK(VecGetLocalSize(v, &n));
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  if (std::string(type) == captured_type) OK(MatSetDM(A, da));
  OK(MatSetSizes(A, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  OK(MatSetBlockSize(A, l.dof));
  OK(MatSetType(A, type));
  OK(MatSetUp(A));
  OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  return A;
}

TEST_CASE("a captured matrix is loaded from a file that an AIJ wrote", "[capture]") {
  Lattice l = plane();
  for (PetscInt dof : {1, 2})
    for (bool by_dm : {false, true}) {
      l.dof = dof;
      INFO(describe(l) << (by_dm ? ", by DMCreateMatrix()" : ""));
      Twins t(l);
      if (!by_dm) { // in the order of the rows
        t.A = made_by_hand(l, t.da, captured_type);
        t.aij = made_by_hand(l, t.aij_da, MATAIJ);
      }
      const Way way = by_dm ? Way::stencil : Way::global;
      set_rows(t.aij_da, t.aij, random_fill(l, Form::arrays, 1), way, INSERT_VALUES);
      assemble(t.aij);
      const std::string path = temporary_file();
      const char *const name = path.c_str();
      PetscViewer       viewer;
      OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
      OK(MatView(t.aij, viewer));
      OK(PetscViewerDestroy(&viewer));
      OK(MatZeroEntries(t.A));
      OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
      OK(MatLoad(t.A, viewer));
      OK(PetscViewerDestroy(&viewer));
      CHECK(t.product_difference() <= exact);
      MatType type;
      OK(MatGetType(t.A, &type));
      CHECK(std::string(type) == captured_type);
      remove_file(path);
    }
}
