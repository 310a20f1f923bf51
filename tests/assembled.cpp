// What takes the entries of a captured matrix: conversions, rows, products, preconditioners; beside the same on AIJ.

#include "captures.hpp"
#include "catch.hpp"
#include "diffusion.hpp"

#include <petscsnes.h>

using namespace tests;

static PetscObjectState pattern_of(Mat M) {
  PetscObjectState state;
  OK(MatGetNonzeroState(M, &state));
  return state;
}

static Lattice block(PetscInt dof, DMDAStencilType shape = DMDA_STENCIL_STAR) {
  Lattice l;
  l.dim = 3, l.dof = dof, l.shape = shape;
  l.N[0] = 7, l.N[1] = 6, l.N[2] = 5;
  return l;
}

// ---- copies

TEST_CASE("a copy of a captured matrix keeps its pattern when values change", "[assembled]") {
  int number = 0;
  for (const Lattice &l : lattices())
    for (Form form : forms_of_storage) {
      if (!in_turn(number++)) continue;
      INFO(describe(l) << "; " << name_of(form));
      Twins  t(l);
      Matrix copy, copied;
      fill_and_assemble(t, random_fill(l, form, 1));
      OK(MatConvert(t.A, MATAIJ, MAT_INITIAL_MATRIX, &copy));
      OK(MatDuplicate(t.aij, MAT_DO_NOT_COPY_VALUES, &copied));
      CHECK(difference(copy, t.aij) <= exact);
      CHECK(nonzeros(copy) == nonzeros(t.aij));
      const Mat              before = copy;
      const PetscObjectState patterns[] = {pattern_of(copy), pattern_of(copied)};
      fill_and_assemble(t, random_fill(l, form, 2));
      OK(MatConvert(t.A, MATAIJ, MAT_REUSE_MATRIX, &copy));
      OK(MatCopy(t.A, copied, DIFFERENT_NONZERO_PATTERN));
      CHECK((copy == before && pattern_of(copy) == patterns[0] && pattern_of(copied) == patterns[1]));
      CHECK(difference(copy, t.aij) <= exact);
      CHECK(difference(copied, t.aij) <= exact);
    }
}

TEST_CASE("a converted matrix of any type takes new values", "[assembled]") {
  for (const Lattice &l : {plane(1, 9, 8), block(2), block(1, DMDA_STENCIL_BOX)})
    for (MatType type : {MATAIJ, MATBAIJ, MATSELL, MATDENSE}) {
      INFO(describe(l) << "; " << type);
      Twins  t(l);
      Matrix converted;
      fill_and_assemble(t, random_fill(l, Form::arrays, 1));
      OK(MatConvert(t.A, type, MAT_INITIAL_MATRIX, &converted));
      const auto agrees = [&] {
        Vector u = random_vector(t.da, 2), y = make_vector(t.da), reference = make_vector(t.da);
        OK(MatMult(converted, u, y));
        OK(MatMult(t.aij, u, reference));
        return difference(y, reference) <= 10 * exact;
      };
      CHECK(agrees());
      const Mat before = converted;
      fill_and_assemble(t, random_fill(l, Form::arrays, 2));
      OK(MatConvert(t.A, type, MAT_REUSE_MATRIX, &converted));
      CHECK(converted == before);
      CHECK(agrees());
    }
}

TEST_CASE("rows of a captured matrix may be in use together, in any order", "[assembled]") {
  for (const Lattice &l : {plane(1, 9, 8), block(2)}) {
    INFO(describe(l));
    Twins t(l);
    fill_and_assemble(t, random_fill(l, Form::arrays, 1));
    PetscInt first, last;
    bool     same = true;
    OK(MatGetOwnershipRange(t.A, &first, &last));
    const auto compare = [&](PetscInt row, PetscInt other) {
      PetscInt           n[2], m;
      const PetscInt    *columns[2], *reference;
      const PetscScalar *values[2], *of_reference;
      OK(MatGetRow(t.A, row, &n[0], &columns[0], &values[0]));
      if (rank_count() == 1) OK(MatGetRow(t.A, other, &n[1], &columns[1], &values[1]));
      OK(MatGetRow(t.aij, row, &m, &reference, &of_reference));
      same = same && m == n[0] && std::equal(reference, reference + m, columns[0]) &&
             std::equal(of_reference, of_reference + m, values[0]);
      OK(MatRestoreRow(t.aij, row, &m, &reference, &of_reference));
      if (rank_count() == 1) OK(MatRestoreRow(t.A, other, &n[1], &columns[1], &values[1]));
      OK(MatRestoreRow(t.A, row, &n[0], &columns[0], &values[0]));
    };
    for (PetscInt row = first; row < last; row++) compare(row, last - 1 - (row - first));
    for (PetscInt row = last; row-- > first;) compare(row, first);
    t.both([](DM, Mat M) { OK(MatScale(M, 2)); });
    for (PetscInt row = first; row < last; row++) compare(row, row);
    CHECK(everywhere(same));
  }
}

// Whether its vectors are there.
static bool on_gpus(Mat A) {
  VecType   type;
  PetscBool cuda;
  OK(MatGetVecType(A, &type));
  OK(PetscStrendswith(type, VECCUDA, &cuda));
  return cuda;
}

TEST_CASE("a product with a captured matrix is computed again without its symbolic step", "[assembled]") {
  for (const Lattice &l : {plane(1, 17, 9), block(2, DMDA_STENCIL_BOX)}) {
    INFO(describe(l));
    Twins  t(l);
    Matrix P[2], product[2], square[2];
    int    n = 0;
    fill_and_assemble(t, random_fill(l, Form::arrays, 1));
    t.both([&](DM, Mat M) {
      OK(MatDuplicate(t.aij, MAT_COPY_VALUES, &P[n])); // any matrix serves
      OK(MatPtAP(M, P[n], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &product[n]));
      OK(MatMatMult(M, M, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &square[n]));
      n++;
    });
    const auto compare = [&] {
      CHECK(difference(product[0], product[1]) <= 10 * exact);
      CHECK(difference(square[0], square[1]) <= 10 * exact);
    };
    compare();
    const PetscObjectState pattern = pattern_of(product[0]) + pattern_of(square[0]);
    fill_and_assemble(t, random_fill(l, Form::arrays, 2));
    n = 0;
    t.both([&](DM, Mat M) {
      OK(MatPtAP(M, P[n], MAT_REUSE_MATRIX, PETSC_DEFAULT, &product[n]));
      OK(MatMatMult(M, M, MAT_REUSE_MATRIX, PETSC_DEFAULT, &square[n]));
      n++;
    });
    compare();
    t.both([](DM, Mat M) { OK(MatScale(M, 3)); });
    OK(MatProductNumeric(product[0])); // without a call that replaces the factors
    OK(MatProductNumeric(square[0]));
    OK(MatPtAP(t.aij, P[1], MAT_REUSE_MATRIX, PETSC_DEFAULT, &product[1])); // cuSPARSE's have another one of PETSc's
    OK(MatMatMult(t.aij, t.aij, MAT_REUSE_MATRIX, PETSC_DEFAULT, &square[1]));
    compare();
    if (!on_gpus(t.A)) CHECK(pattern_of(product[0]) + pattern_of(square[0]) == pattern); // there each begins anew
  }
}

// ---- preconditioners

static PetscErrorCode be_silent(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType,
                                const char *, void *) {
  return code;
}

struct Outcome {
  bool                  solved = false; // otherwise PETSc has no such preconditioner for so many ranks
  bool                  converged = true;
  bool                  on_gpus = false;
  std::vector<PetscInt> iterations;
  Vector                x;
};

// Solves three times, with other values each time, and the same KSP.
static Outcome solve(const Lattice &l, DM da, Mat M) {
  Outcome outcome;
  Vector  b = random_vector(da, 1);
  Solver  ksp;
  outcome.x = make_vector(da);
  outcome.on_gpus = on_gpus(M);
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOptionsPrefix(ksp, "test_"));
  OK(KSPSetDM(ksp, da)); // for the levels of mg
#if PETSC_VERSION_LT(3, 25, 0)
  OK(KSPSetDMActive(ksp, PETSC_FALSE));
#else
  OK(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#endif
  OK(KSPSetOperators(ksp, M, M));
  OK(KSPSetFromOptions(ksp));
  for (int step = 0; step < 3; step++) {
    PetscInt           its;
    KSPConvergedReason reason;
    OK(MatZeroEntries(M));
    fill_and_assemble(da, M, diffusion_fill(l, step == 1 ? Form::indexed : Form::arrays));
    OK(MatShift(M, 1 + step));
    if (KSPSolve(ksp, b, outcome.x)) return outcome;
    OK(KSPGetIterationNumber(ksp, &its));
    OK(KSPGetConvergedReason(ksp, &reason));
    outcome.converged = outcome.converged && reason > 0;
    outcome.iterations.push_back(its);
  }
  outcome.solved = true;
  return outcome;
}

TEST_CASE("every preconditioner does for a captured matrix what it does for AIJ", "[assembled]") {
  // @: of an AIJ nothing, of ours "assembled -test_assembled_pc_type "
  const std::string several = std::to_string(2 * rank_count());
  const struct {
    std::string options;
    PetscInt    dof = 0; // 0: any
  } preconditioners[] = {
      {"bjacobi"},
      {"bjacobi -test_sub_pc_type icc"},
      {"bjacobi -test_pc_bjacobi_blocks 1"},
      {"bjacobi -test_pc_bjacobi_blocks " + several},
      {"ilu"},
      {"icc"},
      {"lu"},
      {"cholesky"},
      {"asm"},
      {"asm -test_pc_asm_overlap 2"},
      {"gasm"},
      {"redundant"},
      {"mg -test_pc_mg_levels 2 -test_pc_mg_galerkin"},
      {"mg -test_pc_mg_levels 2 -test_pc_mg_galerkin -test_mg_levels_pc_type bjacobi"},
      {"fieldsplit", 2},
      {"fieldsplit -test_pc_fieldsplit_type schur -test_fieldsplit_1_pc_type none", 2},
      {"@gamg"},
      {"@ml"},
      {"@hypre"},
      {"@cp"},
      {"@bjacobi"},
      {"@lu"},
  };
  int number = 0;
  for (const Lattice &l : {plane(1, 17, 13), plane(2, 9, 13), block(1, DMDA_STENCIL_BOX)})
    for (const auto &preconditioner : preconditioners) {
      if ((preconditioner.dof && preconditioner.dof != l.dof) || !in_turn(number++)) continue;
      INFO(describe(l) << "; " << preconditioner.options);
      const auto run = [&](MatType type) {
        const bool  ours = std::string(type) == captured_type, at = preconditioner.options[0] == '@';
        const char *inner = ours ? "assembled -test_assembled_pc_type " : "";
        std::string text = at ? inner + preconditioner.options.substr(1) : preconditioner.options;
        Options     set("-test_ksp_type gmres -test_ksp_rtol 1e-10 -test_ksp_max_it 60 -test_pc_type " + text);
        Grid        da;
        Matrix      M;
        REQUIRE(try_make_grid(l, &da));
        OK(DMSetMatType(da, type));
        OK(DMCreateMatrix(da, &M));
        return solve(l, da, M);
      };
      OK(PetscPushErrorHandler(be_silent, NULL));
      Outcome reference;
      try {
        reference = run(MATAIJ);
      } catch (const std::exception &) {
      }
      OK(PetscPopErrorHandler());
      if (!everywhere(reference.solved)) continue;
      const Outcome ours = run(captured_type);
      REQUIRE(ours.solved);
      const bool by_colours = ours.on_gpus && preconditioner.options.find("galerkin") != std::string::npos;
      if (by_colours) // sweeps of a captured matrix, in an order that no AIJ has
        for (size_t n = 0; n < ours.iterations.size(); n++)
          CHECK(PetscAbsInt(ours.iterations[n] - reference.iterations[n]) <= 3);
      else
        CHECK(ours.iterations == reference.iterations);
      CHECK(ours.converged == reference.converged);
      if (reference.converged) CHECK(difference(ours.x, reference.x) <= 1e-8);
    }
}

TEST_CASE("subdomains that are the whole grid get its new values", "[assembled]") {
  const Lattice l = plane(1, 9, 8);
  for (const char *of_type :
       {"-test_pc_type asm -test_pc_asm_overlap 20", "-test_pc_type gasm -test_pc_gasm_overlap 20"}) {
    INFO(of_type);
    Options set(std::string(of_type) + " -test_ksp_type preonly -test_sub_pc_type lu");
    Twins   t(l);
    Solver  ksp;
    fill_and_assemble(t, random_fill(l, Form::arrays, 1));
    Vector b = random_vector(t.da, 1), x = make_vector(t.da), Ax = make_vector(t.da);
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "test_"));
    OK(KSPSetFromOptions(ksp));
    for (int solve = 0; solve < 3; solve++) {
      OK(KSPSetOperators(ksp, t.A, t.A));
      OK(KSPSolve(ksp, b, x));
      OK(MatMult(t.aij, x, Ax));
      CHECK(difference(Ax, b) <= 1e-10);
      for (Mat M : {(Mat)t.A, (Mat)t.aij}) OK(MatScale(M, 3));
    }
  }
}

TEST_CASE("preconditioners of parts take entries that they did not know", "[assembled]") {
  const std::string blocks = std::to_string(2 * rank_count());
  Medium            m;
  m.dim = 2;
  m.N[0] = 12, m.N[1] = 7;
  m.k = [](const PetscReal[]) { return 1; };
  for (const std::string &of_type :
       {std::string("asm"), std::string("gasm"), "bjacobi -test_pc_bjacobi_blocks " + blocks, std::string("redundant"),
        std::string("fieldsplit -test_pc_fieldsplit_block_size 2")}) {
    INFO(of_type);
    Options  set("-test_ksp_type gmres -test_ksp_rtol 1e-11 -test_pc_type " + of_type);
    Grid     da;
    Matrix   A;
    Solver   ksp;
    PetscInt first, last;
    REQUIRE(make(m, da, A));
    Vector k = coefficient(m, da), b = random_vector(da, 1), x = make_vector(da), Ax = make_vector(da);
    OK(MatDiffusionSetCoefficient(A, k));
    OK(MatGetOwnershipRange(A, &first, &last));
    std::vector<PetscInt> rows;
    for (PetscInt row = first; row < last; row += 2) rows.push_back(row);
    OK(MatZeroRowsColumns(A, (PetscInt)rows.size(), rows.data(), 1, NULL, NULL));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "test_"));
    OK(KSPSetFromOptions(ksp));
    for (int solve = 0; solve < 2; solve++) {
      OK(KSPSetOperators(ksp, A, A));
      OK(KSPSolve(ksp, b, x));
      OK(MatMult(A, x, Ax));
      CHECK(difference(Ax, b) <= 1e-8);
      OK(MatDiffusionSetCoefficient(A, k)); // all rows are back
    }
  }
}

TEST_CASE("columns are zeroed whatever the given values of other rows are", "[assembled]") {
  const Lattice l = plane(1, 9, 8);
  Twins         t(l);
  PetscInt      first;
  PetscScalar  *array;
  fill_and_assemble(t, random_fill(l, Form::arrays, 1));
  OK(MatGetOwnershipRange(t.A, &first, NULL));
  Vector x = make_vector(t.da), b[2] = {random_vector(t.da, 1), random_vector(t.da, 1)};
  OK(VecSet(x, NAN));
  OK(VecGetArray(x, &array));
  array[0] = 3;
  OK(VecRestoreArray(x, &array));
  for (int n = 0; n < 2; n++) OK(MatZeroRowsColumns(n ? t.aij : t.A, 1, &first, 2, x, b[n]));
  CHECK(difference(b[0], b[1]) <= exact);
}

TEST_CASE("the preconditioner of an assembled copy says what it is, and what it is for", "[assembled]") {
  const Lattice l = plane(2);
  Twins         t(l);
  Solver        ksp;
  PC            pc, inner;
  PetscBool     sor;
  fill_and_assemble(t, diffusion_fill(l, Form::arrays));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, t.A, t.A));
  OK(KSPGetPC(ksp, &pc));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"assembled", "PCSetType"}), [&] { return PCAssembledGetPC(pc, &inner); });
  OK(PCSetType(pc, PCASSEMBLED));
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [&] { return PCAssembledGetPC(pc, NULL); });
  OK(PCAssembledGetPC(pc, &inner));
  OK(PCSetType(inner, PCSOR));
  OK(KSPSetUp(ksp));
  OK(PetscObjectTypeCompare((PetscObject)inner, PCSOR, &sor));
  CHECK(sor);
  const std::string text = printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
  for (const char *words : {"type: assembled", "assembled copy", "type: sor", "aij"}) {
    INFO(words << " in " << text);
    CHECK((rank_count() > 1 || text.find(words) != std::string::npos));
  }
  OK(KSPSetOperators(ksp, t.aij, t.aij));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"-pc_type assembled", "aij"}), [&] { return KSPSetUp(ksp); });
}

// ---- variational inequalities, which solve with submatrices

// The residual of −Δu + u³ = −20 over an obstacle.
static PetscErrorCode residual(SNES snes, Vec u, Vec f, void *A) {
  Vector cube;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &cube));
  PetscCall(MatMult((Mat)A, u, f));
  PetscCall(VecPointwiseMult(cube, u, u));
  PetscCall(VecPointwiseMult(cube, cube, u));
  PetscCall(VecAXPY(f, 1, cube));
  PetscCall(VecShift(f, 20));
  (void)snes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode jacobian(SNES snes, Vec u, Mat, Mat J, void *) {
  Lattice l;
  DM      da;
  Vector  slope;

  PetscFunctionBeginUser;
  PetscCall(SNESGetDM(snes, &da));
  l = lattice_of(da);
  PetscCall(MatZeroEntries(J));
  fill_and_assemble(da, J, diffusion_fill(l, Form::arrays));
  PetscCall(VecDuplicate(u, &slope));
  PetscCall(VecPointwiseMult(slope, u, u));
  PetscCall(VecScale(slope, 3));
  PetscCall(MatDiagonalSet(J, slope, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("an obstacle problem takes as many steps with captured matrices as with AIJ", "[assembled]") {
  if (PetscDefined(USE_COMPLEX)) return;
  const Lattice l = plane(1, 13, 11);
  for (const char *type : {SNESVINEWTONRSLS, SNESVINEWTONSSLS}) {
    INFO(type);
    PetscInt steps[2], iterations[2];
    Vector   solution[2];
    for (int ours : {0, 1}) {
      Grid                     da;
      Matrix                   A, J;
      Owned<SNES, SNESDestroy> snes;
      Vector                   lower, upper;
      SNESConvergedReason      reason;
      REQUIRE(try_make_grid(l, &da));
      OK(DMSetMatType(da, ours ? captured_type : MATAIJ));
      OK(DMCreateMatrix(da, &A));
      OK(DMCreateMatrix(da, &J));
      fill_and_assemble(da, A, diffusion_fill(l, Form::arrays));
      solution[ours] = make_vector(da), lower = make_vector(da), upper = make_vector(da);
      OK(VecSet(lower, -0.5));
      OK(VecSet(upper, 100));
      OK(SNESCreate(PETSC_COMM_WORLD, &snes));
      OK(SNESSetDM(snes, da));
      OK(SNESSetType(snes, type));
      OK(SNESSetFunction(snes, NULL, residual, A));
      OK(SNESSetJacobian(snes, J, J, jacobian, NULL));
      OK(SNESVISetVariableBounds(snes, lower, upper));
      OK(SNESSolve(snes, NULL, solution[ours]));
      OK(SNESGetConvergedReason(snes, &reason));
      CHECK(reason > 0);
      OK(SNESGetIterationNumber(snes, &steps[ours]));
      OK(SNESGetLinearSolveIterations(snes, &iterations[ours]));
    }
    CHECK((steps[1] == steps[0] && iterations[1] == iterations[0]));
    CHECK(difference(solution[1], solution[0]) <= 1e-8);
  }
}
