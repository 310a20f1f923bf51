// The KSP type fusedcg, beside PETSc's cg on the assembled matrix.

#include "catch.hpp"

#include <shellac/multigrid.h>

#include "history.hpp"

using namespace tests;

namespace {

std::vector<Problem> problems() {
  std::vector<Problem> all = {problem(1, 50), problem(2, 33, 27), problem(3, 9, 10, 8), problem(2, 150, 1)};
  all[1].sigma = 3;
  all.push_back(problem(2, 24, 24));
  all.back().ends[0] = DM_BOUNDARY_PERIODIC;
  all.push_back(problem(2, 1, 1));
  all.push_back(problem(2, 98, 20)); // patches beside each other along x, on three ranks of a warp and one point more
  all.back().ranks[0] = rank_count(), all.back().ranks[1] = 1;
  all.push_back(problem(2, 300, 40));  // on a GPU more than a block's columns
  all.push_back(problem(2, 2, 39000)); // more rows than the blocks of a GPU take at once
  all.back().sigma = 1e9;
  all.push_back(problem(2, 34, 39));
  all.back().ends[0] = all.back().ends[1] = DM_BOUNDARY_PERIODIC;
  all.back().sigma = 10;
  all.push_back(problem(3, 32, 30, 28)); // on a GPU its products are recorded, with an exchange around each axis
  for (auto &ends : all.back().ends) ends = DM_BOUNDARY_PERIODIC;
  all.back().sigma = 1;
  return all;
}

const char *const ours = "-test_ksp_type fusedcg ", *const theirs = "-test_ksp_type cg ";

} // namespace

TEST_CASE("fusedcg iterates as cg does", "[krylov]") {
  for (const Problem &p : problems()) {
    Grid da;
    if (!try_make_grid(p, &da)) continue;
    INFO(describe(p));
    Matrix A = make_operator(p, da), B = make_reference(p, da);
    Vector b = random_vector(da, 3);
    for (const char *pc : {"none", "jacobi", "jacobi -test_pc_jacobi_type rowmax", "stencilmg", "bjacobi"})
      for (const char *norm : {"preconditioned", "unpreconditioned", "natural"}) {
        const bool same_matrix = !strcmp(pc, "stencilmg") || !strcmp(pc, "bjacobi"); // factors may differ
        if (!strcmp(pc, "bjacobi") && p.dim != 3) continue;
        const std::string options =
            std::string("-test_ksp_rtol 1e-9 -test_pc_type ") + pc + " -test_ksp_norm_type " + norm;
        INFO(options);
        check_same(run(A, b, ours + options), run(same_matrix ? A : B, b, theirs + options), 1e-5);
      }
    for (bool from_x : {false, true})
      check_same(run(A, b, std::string(ours) + "-test_ksp_rtol 1e-9 -test_pc_type jacobi", from_x),
                 run(B, b, std::string(theirs) + "-test_ksp_rtol 1e-9 -test_pc_type jacobi", from_x), 1e-5);
  }
}

TEST_CASE("fusedcg solves with coefficients that vary, and with other Mats", "[krylov]") {
  for (int dim : {2, 3}) {
    Lattice lattice;
    lattice.dim = dim;
    lattice.N[0] = 23, lattice.N[1] = 18, lattice.N[2] = dim > 2 ? 11 : 1;
    DM made;
    if (!try_make_grid(lattice, &made)) continue;
    OK(DMDestroy(&made));
    Twins twins(lattice);
    twins.both([&](DM da, Mat A) {
      set_rows(da, A, diffusion_fill(lattice, Form::arrays), Way::stencil, INSERT_VALUES);
      assemble(A);
    });
    Vector b = random_vector(twins.da, 5), c = random_vector(twins.aij_da, 5);
    for (const char *pc : {"jacobi", "none", "sor -test_pc_sor_local_symmetric", "stencilmg"}) {
      INFO(pc);
      const std::string options = std::string(ours) + "-test_ksp_rtol 1e-10 -test_pc_type " + pc;
      const History     h = run(twins.A, b, options);
      CHECK(h.reason > 0);
      CHECK(relative_residual(twins.A, b, h.x) <= 1e-8);
      if (strcmp(pc, "stencilmg"))
        check_same(run(twins.aij, c, options),
                   run(twins.aij, c, std::string(theirs) + "-test_ksp_rtol 1e-10 -test_pc_type " + pc), 1e-7);
    }
  }
}

TEST_CASE("fusedcg stops where its tests say so", "[krylov]") {
  Problem p = problem(2, 40, 37);
  Grid    da = make_grid(p);
  Matrix  A = make_operator(p, da), B = make_reference(p, da);
  Vector  b = random_vector(da, 1);
  for (const char *options :
       {"-test_ksp_max_it 1", "-test_ksp_max_it 5", "-test_ksp_max_it 8", "-test_ksp_max_it 9", "-test_ksp_rtol 0.5",
        "-test_ksp_rtol 1e-3 -test_ksp_max_it 200", "-test_ksp_atol 1e10",
        "-test_ksp_norm_type none -test_ksp_max_it 21", "-test_ksp_rtol 1e-3 -test_ksp_norm_type natural",
        "-test_ksp_rtol 0 -test_ksp_atol 1e-3", "-test_ksp_divtol 1e-5", "-test_ksp_rtol 1e-30 -test_ksp_max_it 37",
        "-test_ksp_converged_maxits -test_ksp_rtol 1e-30 -test_ksp_max_it 12"}) {
    INFO(options);
    const History h = run(A, b, std::string(ours) + "-test_pc_type jacobi " + options),
                  k = run(B, b, std::string(theirs) + "-test_pc_type jacobi " + options);
    CHECK(h.reason == k.reason);
    CHECK(h.iterations == k.iterations);
    CHECK(h.norms.size() == k.norms.size());
    CHECK(difference(h.x, k.x) <= 1e-8);
  }
}

TEST_CASE("a monitor and a test of the user's see each iteration of fusedcg", "[krylov]") {
  struct Seen {
    PetscReal first, last;
    PetscInt  calls;
  } seen = {0, 0, 0};
  Problem    p = problem(2, 31, 29);
  Grid       da = make_grid(p);
  Matrix     A = make_operator(p, da);
  Vector     b = random_vector(da, 1), x = make_vector(da);
  Solver     ksp = make_solver(A, std::string(ours) + "-test_pc_type jacobi -test_ksp_norm_type unpreconditioned");
  const auto monitor = [](KSP ksp, PetscInt, PetscReal norm, void *context) -> PetscErrorCode {
    Seen     *seen = (Seen *)context;
    Vec       x, b;
    Mat       A;
    PetscReal of_x;
    PetscFunctionBeginUser;
    PetscCall(KSPBuildSolution(ksp, NULL, &x));
    PetscCall(KSPGetRhs(ksp, &b));
    PetscCall(KSPGetOperators(ksp, &A, NULL));
    Vector r;
    PetscCall(VecDuplicate(b, &r));
    PetscCall(MatResidual(A, b, x, r));
    PetscCall(VecNorm(r, NORM_2, &of_x));
    seen->last = PetscMax(seen->last, PetscAbsReal(of_x - norm) / (seen->calls ? seen->first : norm));
    if (!seen->calls) seen->first = norm;
    seen->calls++;
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  OK(KSPMonitorSet(ksp, monitor, &seen, NULL));
  OK(KSPSolve(ksp, b, x));
  PetscInt its;
  OK(KSPGetIterationNumber(ksp, &its));
  CHECK(seen.calls == its + 1);
  CHECK(seen.last <= 1e-10); // x is that of the iteration

  Solver     other = make_solver(A, std::string(ours) + "-test_pc_type none");
  const auto converged = [](KSP, PetscInt n, PetscReal, KSPConvergedReason *reason, void *) -> PetscErrorCode {
    *reason = n == 11 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
    return PETSC_SUCCESS;
  };
  OK(KSPSetConvergenceTest(other, converged, NULL, NULL));
  OK(KSPSolve(other, b, x));
  OK(KSPGetIterationNumber(other, &its));
  CHECK(its == 11);
  const History k = run(A, b, std::string(theirs) + "-test_pc_type none -test_ksp_max_it 11");
  CHECK(difference(x, k.x) <= 1e-10);
}

TEST_CASE("fusedcg tells what it cannot solve", "[krylov]") {
  Problem p = problem(2, 21, 20);
  p.sigma = -400; // between eigenvalues
  Grid   da = make_grid(p);
  Matrix A = make_operator(p, da), B = make_reference(p, da);
  Vector b = random_vector(da, 1);
  for (const char *pc : {"none", "jacobi"}) {
    const History h = run(A, b, std::string(ours) + "-test_pc_type " + pc),
                  k = run(B, b, std::string(theirs) + "-test_pc_type " + pc);
    CHECK(h.reason == k.reason);
    CHECK(h.reason == KSP_DIVERGED_INDEFINITE_MAT);
    CHECK(h.iterations == k.iterations);
  }
  OK(VecSet(b, PETSC_INFINITY));
  CHECK(run(A, b, std::string(ours) + "-test_pc_type jacobi").reason == KSP_DIVERGED_NANORINF);
  Matrix infinite;
  OK(MatDuplicate(B, MAT_COPY_VALUES, &infinite));
  OK(MatScale(infinite, PETSC_INFINITY));
  for (Mat M : {(Mat)B, (Mat)infinite}) { // b or A is infinite
    if (M == infinite) b = random_vector(da, 1);
    for (const char *options : {"-test_pc_type none", "-test_pc_type none -test_ksp_norm_type unpreconditioned"}) {
      const History h = run(M, b, std::string(ours) + options), k = run(M, b, std::string(theirs) + options);
      INFO(options);
      CHECK(h.reason == KSP_DIVERGED_NANORINF);
      CHECK(h.iterations == k.iterations);
      CHECK((h.last - h.last == 0) == (k.last - k.last == 0));
    }
  }
  OK(VecZeroEntries(b));
  const History zero = run(A, b, std::string(ours) + "-test_pc_type jacobi");
  CHECK(zero.reason == run(B, b, std::string(theirs) + "-test_pc_type jacobi").reason);
  PetscReal norm;
  OK(VecNorm(zero.x, NORM_INFINITY, &norm));
  CHECK(norm == 0);

  Solver ksp = make_solver(A, ours);
  OK(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"fusedcg", "-test_ksp_type cg"}), [&] { return KSPSetUp(ksp); });
}

TEST_CASE("fusedcg solves anew when matrix, preconditioner or vectors change", "[krylov]") {
  Problem p = problem(2, 30, 26);
  for (const char *pc : {"jacobi", "stencilmg"}) {
    INFO(pc);
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da);
    Vector b = random_vector(da, 1), x = make_vector(da);
    Solver ksp = make_solver(A, std::string(ours) + "-test_ksp_rtol 1e-10 -test_pc_type " + pc);
    for (int change = 0; change < 7; change++) {
      INFO(change);
      if (change == 1) OK(MatShift(A, 500));
      if (change == 2) OK(MatScale(A, 3));
      if (change == 3) b = random_vector(da, 7);
      if (change == 4) { // no constant diagonal any more
        Vector d = make_vector(da);
        set_values(da, d, [](const PetscInt q[3]) { return PetscScalar(1 + q[0] % 3); });
        OK(MatDiagonalScale(A, d, d));
      }
      if (change == 5) x = make_vector(da);
      if (change == 6) { // more steps
        PC of_ksp;
        OK(KSPGetPC(ksp, &of_ksp));
        if (!strcmp(pc, "stencilmg")) OK(PCStencilMGSetSmooths(of_ksp, 2));
      }
      OK(KSPSetOperators(ksp, A, A));
      OK(KSPSolve(ksp, b, x));
      CHECK(relative_residual(A, b, x) <= 1e-8);
      PetscInt its;
      OK(KSPGetIterationNumber(ksp, &its));
      History as_new = run(A, b,
                           std::string(theirs) + "-test_ksp_rtol 1e-10 -test_pc_type " + pc +
                               (change == 6 && !strcmp(pc, "stencilmg") ? " -test_pc_stencilmg_smooths 2" : ""));
      CHECK(std::abs((double)(its - as_new.iterations)) <= 1 + 0.02 * (double)its);
    }
  }
}

TEST_CASE("fusedcg solves consistent systems of singular matrices", "[krylov]") {
  Problem p = problem(2, 30, 26);
  p.boundary = MAT_LAPLACE_NEUMANN;
  Grid         da = make_grid(p);
  Matrix       B = make_reference(p, da);
  Vector       b = random_vector(da, 1);
  MatNullSpace constants;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  OK(MatSetNullSpace(B, constants));
  OK(MatNullSpaceRemove(constants, b));
  for (const char *pc : {"none", "jacobi"}) {
    const std::string options = std::string("-test_ksp_rtol 1e-9 -test_pc_type ") + pc;
    check_same(run(B, b, ours + options), run(B, b, theirs + options), 1e-5);
  }
  // that of the operator, whatever the preconditioner is made of
  Matrix plain = make_reference(p, da);
  Vector x[2] = {make_vector(da), make_vector(da)};
  for (int n = 0; n < 2; n++) {
    Solver ksp = make_solver(B, std::string(n ? theirs : ours) + "-test_ksp_rtol 1e-9 -test_pc_type jacobi");
    OK(KSPSetOperators(ksp, B, plain));
    OK(KSPSolve(ksp, b, x[n]));
  }
  CHECK(difference(x[0], x[1]) <= 1e-5);
  // the null space of the transpose is that of its solves alone, also where nothing else tells of one
  OK(MatSetNullSpace(B, NULL));
  OK(MatSetTransposeNullSpace(B, constants));
  Vector d = make_vector(da);
  set_values(da, d, [](const PetscInt q[3]) { return PetscScalar(1 + q[0] % 3); });
  OK(MatDiagonalSet(B, d, ADD_VALUES));
  for (const char *pc : {"none", "jacobi"}) {
    const std::string options = std::string("-test_ksp_rtol 1e-9 -test_ksp_max_it 30 -test_pc_type ") + pc;
    check_same(run(B, b, ours + options, false, true), run(B, b, theirs + options, false, true), 1e-5);
    check_same(run(B, b, ours + options), run(B, b, theirs + options), 1e-5);
  }
  OK(MatNullSpaceDestroy(&constants));
}
