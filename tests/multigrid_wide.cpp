// Stencilmg for stars of width 2: cycles for rows of width 1 that precondition them.

#include "catch.hpp"

#include "multigrid.hpp"

using namespace tests;

// -Laplacian of fourth order times sqrt(a) from both sides, and sigma; u = 0 beyond ends
static Fill fourth_order(const Lattice &l, PetscReal variation, PetscReal sigma) {
  const auto a = [=](const PetscInt p[3], const PetscInt arm[3]) {
    PetscReal value = 1;
    for (int d = 0; d < l.dim; d++) {
      const PetscReal x = 2 * PETSC_PI * (PetscReal)((p[d] + arm[d] + l.N[d]) % l.N[d]) / (PetscReal)l.N[d];
      value += variation * (d % 2 ? std::sin(x) : std::cos(x));
    }
    return value;
  };
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *entry) {
    const PetscInt  none[3] = {0, 0, 0}, far = PetscMax(PetscAbs(arm[0]), PetscMax(PetscAbs(arm[1]), PetscAbs(arm[2])));
    const PetscReal weights[] = {(PetscReal)(30 * l.dim) / 12, -PetscReal(16) / 12, PetscReal(1) / 12};
    *entry = weights[far] * std::sqrt(a(p, none) * a(p, arm)) + (far == 0 ? sigma : 0);
  };
}

static Lattice wide(const Point &N, const std::vector<DMBoundaryType> &ends = {}) {
  Lattice l = lattice(N, ends);
  l.width = 2;
  return l;
}

TEST_CASE("cycles precondition differences of fourth order", "[multigrid]") {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;
  for (const Lattice &l : {wide({300, 1, 1}), wide({64, 50, 1}), wide({129, 128, 1}, {around, none}),
                           wide({17, 24, 19}), wide({16, 20, 13}, {around, around, none})})
    for (PetscReal variation : {0., 0.3})
      for (const char *method : {"cg", "richardson"}) {
        Grid da;
        if (!try_make_grid(l, &da)) continue;
        Twins      t(l);
        Vector     b = random_vector(t.da, 3), x = make_vector(t.da);
        const Fill fill = fourth_order(l, variation, 0.01);
        INFO(describe(l) << ", a varies by " << variation << ", " << method);
        t.both([&](DM dm, Mat M) {
          set_rows(dm, M, fill, Way::stencil, ADD_VALUES);
          assemble(M);
        });
        Solver ksp = make_solver(t.A, std::string("-test_pc_type stencilmg -test_ksp_rtol 1e-8 -test_ksp_norm_type "
                                                  "unpreconditioned -test_ksp_type ") +
                                          method);
        for (int turn = 0; turn < 2; turn++) { // the second time after a change
          KSPConvergedReason reason;
          PetscInt           iterations;
          OK(KSPSolve(ksp, b, x));
          OK(KSPGetConvergedReason(ksp, &reason));
          OK(KSPGetIterationNumber(ksp, &iterations));
          CHECK(reason > 0);
          CHECK(iterations <= (*method == 'c' ? 14 : 30));
          CHECK(relative_residual(t.aij, b, x) <= 1.1e-8);
          t.both([&](DM, Mat M) { OK(MatScale(M, 3)); });
          OK(KSPSetOperators(ksp, t.A, t.A));
        }
        PC pc;
        OK(KSPGetPC(ksp, &pc));
        CHECK(printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); }).find("reach two points far") !=
              std::string::npos);
      }
}

TEST_CASE("identity rows between points that differences of fourth order couple", "[multigrid]") {
  for (const Lattice &l : {wide({61, 1, 1}), wide({40, 48, 1}), wide({13, 12, 17})})
    for (bool columns : {false, true}) { // with columns the matrix is symmetric
      Grid da;
      if (!try_make_grid(l, &da)) continue;
      Twins                 t(l);
      Vector                u = random_vector(t.da, 3), b = make_vector(t.da), x = make_vector(t.da);
      PetscInt              first, last, iterations;
      std::vector<PetscInt> rows;
      INFO(describe(l) << (columns ? ", columns too" : ""));
      OK(MatGetOwnershipRange(t.A, &first, &last));
      for (PetscInt row = first; row < last; row++)
        if (PetscRealPart(random_value((size_t)row, 4)) < -0.4) rows.push_back(row);
      t.both([&](DM dm, Mat M) {
        set_rows(dm, M, fourth_order(l, 0.3, 0), Way::stencil, ADD_VALUES);
        assemble(M);
        const PetscInt n = (PetscInt)rows.size();
        if (columns)
          OK(MatZeroRowsColumns(M, n, rows.data(), 1, NULL, NULL));
        else
          OK(MatZeroRows(M, n, rows.data(), 1, NULL, NULL));
      });
      OK(MatMult(t.aij, u, b));
      CHECK(solve(t.A, b, x, std::string("-test_ksp_rtol 1e-8 -test_ksp_type ") + (columns ? "cg" : "gmres"),
                  &iterations) > 0);
      CHECK(iterations <= 14);
      CHECK(relative_residual(t.aij, b, x) <= 1e-6);
    }
}

TEST_CASE("values that make far couplings too large end a solve, not the program", "[multigrid]") {
  const Lattice l = wide({64, 1, 1});
  Grid          da;
  REQUIRE(try_make_grid(l, &da));
  Matrix             A = captured(da, fourth_order(l, 0, 0.01));
  Vector             b = random_vector(da, 3), x = make_vector(da);
  Solver             ksp = make_solver(A, "-test_pc_type stencilmg -test_ksp_type cg");
  KSPConvergedReason reason;
  OK(KSPSolve(ksp, b, x));
  OK(MatZeroEntries(A));
  set_rows(
      da, A,
      [](const PetscInt *, const PetscInt arm[3], PetscScalar *entry) {
        const PetscReal weights[] = {6, -4, 1}; // of differences that have no second moment
        *entry = weights[PetscAbs(arm[0])];
      },
      Way::stencil, ADD_VALUES);
  assemble(A);
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason == KSP_DIVERGED_PC_FAILED);
}
