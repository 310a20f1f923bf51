// The KSP type fusedbcgs, beside PETSc's bcgs on the assembled matrix.

#include "history.hpp"

using namespace tests;

namespace {

const std::string ours = "-test_ksp_type fusedbcgs ", theirs = "-test_ksp_type bcgs ";

// -Δ + c·∇ by differences, whose matrix is not normal and in complex PETSc not Hermitian. varies: from point to point
Twins convection(int dim, bool varies, DMBoundaryType along_x = DM_BOUNDARY_NONE) {
  const PetscScalar i = PetscDefined(USE_COMPLEX) ? PetscSqrtScalar(PetscScalar(-1)) : PetscScalar(0);
  Lattice           l;
  l.dim = dim;
  l.N[0] = dim == 1 ? 60 : 23, l.N[1] = dim > 1 ? 18 : 1, l.N[2] = dim > 2 ? 9 : 1;
  l.ends[0] = along_x;
  Twins twins(l);
  twins.both([&](DM da, Mat A) {
    const Fill fill = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      const PetscReal size = varies ? 1 + (PetscReal)0.1 * (PetscReal)(p[0] % 5 + p[1] % 3) : 1;
      const PetscInt  to = arm[0] + arm[1] + arm[2];
      *block = size * (to ? -1 + (PetscReal)0.4 * (PetscReal)to + (PetscReal)0.2 * i : 2 * dim + (PetscReal)0.1 - i);
    };
    set_rows(da, A, fill, Way::stencil, INSERT_VALUES);
    assemble(A);
  });
  return twins;
}

// The same rows on each rank: values of n x n, by rows.
Matrix blocks(int n, const std::vector<PetscScalar> &values) {
  Matrix   A;
  PetscInt begin;
  OK(MatCreateAIJ(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, n, NULL, 0, NULL, &A));
  OK(MatGetOwnershipRange(A, &begin, NULL));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) OK(MatSetValue(A, begin + i, begin + j, values[(size_t)(n * i + j)], INSERT_VALUES));
  assemble(A);
  return A;
}

Vector repeated(Mat A, const std::vector<PetscScalar> &values) {
  Vector   b;
  PetscInt begin;
  OK(MatCreateVecs(A, NULL, &b));
  OK(VecGetOwnershipRange(b, &begin, NULL));
  for (size_t i = 0; i < values.size(); i++) OK(VecSetValue(b, begin + (PetscInt)i, values[i], INSERT_VALUES));
  OK(VecAssemblyBegin(b));
  OK(VecAssemblyEnd(b));
  return b;
}

} // namespace

TEST_CASE("fusedbcgs iterates as bcgs does", "[krylov]") {
  for (int dim : {1, 2, 3})
    for (bool varies : {false, true}) {
      Twins  twins = convection(dim, varies, dim == 2 && varies ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE);
      Vector b = random_vector(twins.da, 5), c = random_vector(twins.aij_da, 5);
      for (const char *pc : {"none", "jacobi", "jacobi -test_pc_jacobi_type rowmax", "bjacobi", "stencilmg"})
        for (const char *side : {"left", "right"})
          for (bool from_x : {false, true}) {
            const std::string options =
                std::string("-test_ksp_rtol 1e-7 -test_ksp_pc_side ") + side + " -test_pc_type " + pc;
            INFO(dim << (varies ? "-D, varying " : "-D ") << options << (from_x ? " from x" : ""));
            if (strcmp(pc, "stencilmg")) {
              const Mat M = strcmp(pc, "bjacobi") ? (Mat)twins.A : (Mat)twins.aij;
              check_same(run(M, M == twins.A ? b : c, ours + options, from_x),
                         run(twins.aij, c, theirs + options, from_x), 1e-5, 1e-6);
            } else if (dim == 2)
              check_same(run(twins.A, b, ours + options, from_x), run(twins.A, b, theirs + options, from_x), 1e-5,
                         1e-6);
          }
    }
}

TEST_CASE("fusedbcgs solves with the transpose, and finds a known solution", "[krylov]") {
  Twins  twins = convection(2, true);
  Vector known = random_vector(twins.da, 3), b, c = random_vector(twins.aij_da, 5);
  OK(VecDuplicate(known, &b));
  for (bool transposed : {false, true}) {
    OK(transposed ? MatMultTranspose(twins.A, known, b) : MatMult(twins.A, known, b));
    for (const char *pc : {"none", "jacobi", "jacobi -test_ksp_pc_side right", "ilu"}) {
      if (!strcmp(pc, "ilu") && rank_count() > 1) continue;
      const std::string options = std::string("-test_ksp_rtol 1e-11 -test_pc_type ") + pc;
      INFO(options << (transposed ? ", transposed" : ""));
      if (strcmp(pc, "ilu")) CHECK(difference(run(twins.A, b, ours + options, false, transposed).x, known) <= 1e-8);
      check_same(run(twins.aij, c, ours + options, true, transposed),
                 run(twins.aij, c, theirs + options, true, transposed), 1e-8, 1e-6);
    }
  }
}

TEST_CASE("fusedbcgs stops where its tests say so", "[krylov]") {
  Twins  twins = convection(2, false);
  Vector b = random_vector(twins.da, 1), c = random_vector(twins.aij_da, 1);
  for (const char *options :
       {"-test_ksp_max_it 0", "-test_ksp_max_it 1", "-test_ksp_max_it 5", "-test_ksp_max_it 8", "-test_ksp_rtol 0.5",
        "-test_ksp_rtol 1e-3 -test_ksp_max_it 200", "-test_ksp_atol 1e10",
        "-test_ksp_norm_type none -test_ksp_max_it 9", "-test_ksp_rtol 1e-3 -test_ksp_pc_side right",
        "-test_ksp_rtol 0 -test_ksp_atol 1e-3", "-test_ksp_divtol 1e-5", "-test_ksp_rtol 1e-30 -test_ksp_max_it 7",
        "-test_ksp_norm_type none -test_ksp_max_it 4 -test_ksp_pc_side right",
        "-test_ksp_converged_maxits -test_ksp_rtol 1e-30 -test_ksp_max_it 6"})
    for (bool from_x : {false, true}) {
      INFO(options);
      const History h = run(twins.A, b, ours + "-test_pc_type jacobi " + options, from_x),
                    k = run(twins.aij, c, theirs + "-test_pc_type jacobi " + options, from_x);
      CHECK(h.reason == k.reason);
      CHECK(h.iterations == k.iterations);
      CHECK(h.norms.size() == k.norms.size());
      CHECK(difference(h.x, k.x) <= 1e-8);
    }
}

TEST_CASE("a monitor sees each iteration of fusedbcgs and its x", "[krylov]") {
  struct Seen {
    PetscReal largest;
    PetscInt  calls;
  };
  Twins      twins = convection(2, true);
  Vector     b = random_vector(twins.da, 1), x = make_vector(twins.da);
  const auto monitor = [](KSP ksp, PetscInt, PetscReal norm, void *context) -> PetscErrorCode {
    Seen     *seen = (Seen *)context;
    Vec       x, b, r;
    Mat       A;
    PetscReal of_x;
    PetscFunctionBeginUser;
    PetscCall(KSPBuildSolution(ksp, NULL, &x));
    PetscCall(KSPGetRhs(ksp, &b));
    PetscCall(KSPGetOperators(ksp, &A, NULL));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(MatResidual(A, b, x, r));
    PetscCall(VecNorm(r, NORM_2, &of_x));
    PetscCall(VecDestroy(&r));
    seen->largest = PetscMax(seen->largest, PetscAbsReal(of_x - norm));
    seen->calls++;
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (const char *options : {"-test_pc_type none", "-test_pc_type jacobi -test_ksp_pc_side right",
                              "-test_pc_type stencilmg -test_ksp_pc_side right"})
    for (bool from_x : {false, true}) {
      INFO(options);
      Seen     seen = {0, 0};
      PetscInt its;
      Solver   ksp = make_solver(twins.A, ours + options);
      OK(KSPMonitorSet(ksp, monitor, &seen, NULL));
      OK(KSPSetInitialGuessNonzero(ksp, from_x ? PETSC_TRUE : PETSC_FALSE));
      for (PetscReal start : {0.5, 0.0}) { // and without a guess after a solve with one
        OK(VecSet(x, start));
        if (start == 0) OK(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
        seen.calls = 0;
        OK(KSPSolve(ksp, b, x));
        OK(KSPGetIterationNumber(ksp, &its));
        CHECK(seen.calls == its + 1);
        CHECK(seen.largest <= 1e-8);
        CHECK(relative_residual(twins.A, b, x) <= 1e-4);
        Vec built;
        OK(KSPBuildSolution(ksp, NULL, &built));
        CHECK(difference(built, x) == 0);
      }
    }
}

TEST_CASE("fusedbcgs breaks down where bcgs does", "[krylov]") {
  const struct {
    int                      n;
    std::vector<PetscScalar> A, b;
    KSPConvergedReason       reason;
  } cases[] = {
      {2, {0, 1, -1, 0}, {1, 1}, KSP_DIVERGED_BREAKDOWN},                         // v · shadow = 0
      {2, {1, 1, 0, 0}, {1, 1}, KSP_DIVERGED_BREAKDOWN},                          // K s = 0, but not s
      {2, {2, 0, 0, 2}, {1, 3}, KSP_CONVERGED_RTOL},                              // s = 0
      {3, {1, 0, 2, 1, 1, 0, 0, 1, 1}, {1, 0, 0}, KSP_DIVERGED_BREAKDOWN},        // r · shadow = 0
      {2, {1, -1, 1, 0}, {1, 0}, KSP_DIVERGED_NANORINF},                          // omega = 0
      {2, {1, PETSC_INFINITY, 0, 1}, {1, 1}, KSP_DIVERGED_NANORINF},              // of the matrix
      {2, {1, 0, 0, 1}, {PETSC_INFINITY, 1}, KSP_DIVERGED_NANORINF},              // of b
      {2, {2, 1, 0, 1}, {0, 0}, KSP_CONVERGED_ATOL},                              // b = 0
      {3, {1e300, 0, 0, 0, 2, 0, 1, 0, 1}, {1e10, 1, 1}, KSP_DIVERGED_NANORINF}}; // beyond the range of numbers
  for (const auto &its : cases) {
    Matrix A = blocks(its.n, its.A);
    Vector b = repeated(A, its.b);
    for (const char *options : {"-test_pc_type none", "-test_pc_type none -test_ksp_max_it 2",
                                "-test_pc_type none -test_ksp_pc_side right -test_ksp_norm_type unpreconditioned"}) {
      INFO(&its - cases << " " << options);
      const History h = run(A, b, ours + options), k = run(A, b, theirs + options);
      CHECK(h.reason == its.reason);
      CHECK(h.reason == k.reason);
      CHECK(h.iterations == k.iterations);
      CHECK(h.norms.size() == k.norms.size());
      CHECK((h.last - h.last == 0) == (k.last - k.last == 0));
      if (its.reason != KSP_DIVERGED_NANORINF) CHECK(difference(h.x, k.x) <= 1e-14);
    }
  }
  Matrix A = blocks(2, cases[0].A);
  Vector b = repeated(A, cases[0].b), x = repeated(A, cases[0].b);
  Solver ksp = make_solver(A, ours + "-test_pc_type none -test_ksp_error_if_not_converged");
  EXPECT_ERROR(PETSC_ERR_NOT_CONVERGED, ({"Breakdown", "orthogonal"}), [&] { return KSPSolve(ksp, b, x); });
}

TEST_CASE("fusedbcgs solves anew when matrix, preconditioner or vectors change", "[krylov]") {
  Twins twins = convection(2, false);
  for (const char *pc : {"jacobi", "stencilmg", "jacobi -test_ksp_pc_side right"}) {
    Vector b = random_vector(twins.da, 1), x = make_vector(twins.da);
    Solver ksp = make_solver(twins.A, ours + "-test_ksp_rtol 1e-10 -test_pc_type " + pc);
    for (int change = 0; change < 5; change++) {
      INFO(pc << ", change " << change);
      if (change == 1) OK(MatShift(twins.A, 5));
      if (change == 2) OK(MatScale(twins.A, 3));
      if (change == 3) b = random_vector(twins.da, 7), x = make_vector(twins.da);
      if (change == 4) OK(KSPReset(ksp));
      OK(KSPSetOperators(ksp, twins.A, twins.A));
      OK(KSPSolve(ksp, b, x));
      CHECK(relative_residual(twins.A, b, x) <= 1e-8);
    }
  }
}

TEST_CASE("fusedbcgs solves consistent systems of singular matrices", "[krylov]") {
  Problem p = problem(2, 12, 10);
  p.boundary = MAT_LAPLACE_NEUMANN;
  Grid         da = make_grid(p);
  Matrix       B = make_reference(p, da);
  Vector       b = random_vector(da, 1);
  MatNullSpace constants;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  OK(MatNullSpaceRemove(constants, b));
  OK(MatSetNullSpace(B, constants));
  OK(MatSetTransposeNullSpace(B, constants));
  for (const char *pc : {"none", "jacobi", "jacobi -test_ksp_pc_side right"})
    for (bool transposed : {false, true}) {
      const std::string options = std::string("-test_ksp_rtol 1e-6 -test_pc_type ") + pc;
      INFO(options);
      check_alike(run(B, b, ours + options, false, transposed), run(B, b, theirs + options, false, transposed), 1e-4,
                  1e-6);
    }
  OK(MatNullSpaceDestroy(&constants));
}

TEST_CASE("fusedbcgs tells that it computes no eigenvalues", "[krylov]") {
  Matrix A = blocks(2, {2, 0, 0, 1});
  Solver ksp = make_solver(A, ours);
  OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"fusedbcgs", "-test_ksp_type gmres"}), [&] { return KSPSetUp(ksp); });
}
