// stencilmg where a matrix is singular, indefinite, or not to be served for a while: it solves, or says that it does not.

#include "catch.hpp"

#include <cmath>

#include "multigrid.hpp"

using namespace tests;

using Solid = std::function<bool(const PetscInt p[3])>;

static bool is_outside(const Lattice &l, const PetscInt p[3]) {
  bool is = false;
  for (int a = 0; a < l.dim; a++) is = is || p[a] < 0 || p[a] >= l.N[a];
  return is;
}

// -Δp in a fluid: no flux into obstacles, whose rows are the identity; p = 0 around the grid.
static Fill flow_fill(const Lattice &l, const Solid &solid) {
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const PetscInt q[3] = {p[0] + arm[0], p[1] + arm[1], p[2] + arm[2]};
    const bool     center = !arm[0] && !arm[1] && !arm[2];
    if (solid(p)) {
      *block = center;
      return;
    }
    *block = center || solid(q) ? 0 : -1;
    for (int a = 0; a < l.dim && center; a++)
      for (int step = -1; step <= 1; step += 2) {
        PetscInt to[3] = {p[0], p[1], p[2]};
        to[a] += step;
        if (is_outside(l, to) || !solid(to)) *block += 1;
      }
  };
}

// A cube of fluid in a shell of solid.
static Solid pocket(int dim, PetscInt first, PetscInt length) {
  return [=](const PetscInt p[3]) {
    bool inside = true, in_shell = true;
    for (int a = 0; a < dim; a++) {
      inside = inside && p[a] >= first && p[a] < first + length;
      in_shell = in_shell && p[a] >= first - 1 && p[a] <= first + length;
    }
    return in_shell && !inside;
  };
}

// Obstacles anywhere, so that there are pockets of all sizes and shapes; those of one cell are solid.
static Solid rocks(const Lattice &l, int seed) {
  const auto rock = [=](const PetscInt p[3]) {
    return !is_outside(l, p) && PetscRealPart(random_value(l.natural(p), seed)) < -0.3;
  };
  return [=](const PetscInt p[3]) {
    bool walled = true;
    for (int a = 0; a < l.dim; a++)
      for (int step = -1; step <= 1; step += 2) {
        PetscInt to[3] = {p[0], p[1], p[2]};
        to[a] += step;
        walled = walled && rock(to);
      }
    return !is_outside(l, p) && (walled || rock(p));
  };
}

// A method either solves or says that it does not.
static void check_honesty(Mat A, Mat aij, Vec b, const char *method, bool solvable) {
  Vector   x;
  PetscInt iterations;
  INFO(method);
  OK(VecDuplicate(b, &x));
  const auto reason =
      solve(A, b, x, std::string("-test_ksp_rtol 1e-8 -test_ksp_max_it 200 -test_ksp_type ") + method, &iterations);
  if (solvable) CHECK(reason > 0);
  if (reason > 0) CHECK(relative_residual(aij, b, x) <= 1e-6);
}

TEST_CASE("closed pockets of fluid are solved, wherever they lie to the coarse grids", "[multigrid]") {
  const Lattice square = lattice({17, 17, 1}), plane = lattice({33, 31, 1}), space = lattice({13, 12, 13});
  for (const Lattice &l : {square, plane, space})
    for (PetscInt first = 3; first < 6; first++)
      for (PetscInt length = 2; length < 6; length++) {
        INFO(describe(l) << ", a pocket of " << length << " from " << first);
        Grid da;
        REQUIRE(try_make_grid(l, &da));
        const Fill fill = flow_fill(l, pocket(l.dim, first, length));
        Matrix     A = captured(da, fill), aij = assembled(da, fill);
        Vector     u = random_vector(da, 3), b = make_vector(da);
        OK(MatMult(aij, u, b));
        check_honesty(A, aij, b, "cg", true);
      }
}

TEST_CASE("pockets of any shape are solved, and no method claims to solve what has no solution", "[multigrid]") {
  const Lattice plane = lattice({40, 37, 1}), space = lattice({12, 13, 11});
  for (const Lattice &l : {plane, space})
    for (int seed = 1; seed < 5; seed++) {
      INFO(describe(l) << ", rocks " << seed);
      Grid da;
      REQUIRE(try_make_grid(l, &da));
      const Fill fill = flow_fill(l, rocks(l, seed));
      Matrix     A = captured(da, fill), aij = assembled(da, fill);
      Vector     u = random_vector(da, 3), b = make_vector(da);
      OK(MatMult(aij, u, b));
      for (const char *method : {"cg", "gmres", "bcgs"}) {
        check_honesty(A, aij, b, method, method[0] == 'c');
        check_honesty(A, aij, u, method, false);
      }
    }
}

TEST_CASE("pockets are solved where a point has several unknowns", "[multigrid]") {
  Lattice l = lattice({40, 37, 1});
  l.dof = 2;
  for (int seed = 1; seed < 4; seed++)
    for (const PetscReal rate : {0., 0.1}) { // of a reaction between the unknowns
      INFO(describe(l) << ", rocks " << seed << ", rate " << rate);
      Grid da;
      REQUIRE(try_make_grid(l, &da));
      const Solid solid = rocks(l, seed);
      const Fill  flow = flow_fill(l, solid);
      const Fill  fill = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
        flow(p, arm, block);
        block[1] = block[2] = arm[0] || arm[1] || solid(p) ? 0 : -rate;
        block[3] = block[0] -= block[1];
      };
      Matrix A = captured(da, fill), aij = assembled(da, fill);
      Vector u = random_vector(da, 3), b = make_vector(da);
      OK(MatMult(aij, u, b));
      for (const char *method : {"gmres", "bcgs"}) check_honesty(A, aij, b, method, method[0] == 'g');
      check_honesty(A, aij, u, "gmres", false); // bcgs' recurrence loses the residual where there is no solution
    }
}

TEST_CASE("pockets that a shift opens and closes are solved each time", "[multigrid]") {
  const Lattice l = lattice({33, 31, 1});
  Grid          da;
  REQUIRE(try_make_grid(l, &da));
  const Fill fill = flow_fill(l, rocks(l, 2));
  Matrix     A = captured(da, fill), aij = assembled(da, fill);
  Vector     u = random_vector(da, 3), b = make_vector(da), x = make_vector(da);
  Options    set("-test_pc_type stencilmg -test_ksp_type cg -test_ksp_rtol 1e-8");
  Solver     ksp = make_solver(A);
  for (PetscScalar shift : {0., 1e-2, -1e-2, 1e-2}) {
    KSPConvergedReason reason;
    PetscInt           iterations;
    INFO("shift by " << PetscRealPart(shift));
    OK(MatShift(A, shift));
    OK(MatShift(aij, shift));
    OK(MatMult(aij, u, b));
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetConvergedReason(ksp, &reason));
    OK(KSPGetIterationNumber(ksp, &iterations));
    CHECK(reason > 0);
    CHECK(iterations <= 40);
    CHECK(relative_residual(aij, b, x) <= 1e-6);
  }
}

TEST_CASE("an operator that falls into parts is solved where there is a solution", "[multigrid]") {
  const Lattice line = lattice({61, 1, 1}), plane = lattice({32, 20, 1}), walled = lattice({40, 24, 1});
  const auto    along_x = [](const Lattice &l, PetscInt wall) { // with free ends, and no flux through a wall
    return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      const bool to[2] = {p[0] > 0 && p[0] != wall, p[0] < l.N[0] - 1 && p[0] + 1 != wall};
      *block = arm[1] ? 0 : arm[0] < 0 ? -to[0] : arm[0] > 0 ? -to[1] : to[0] + to[1];
      if (l.N[0] < 40 || l.dim < 2) return; // along y as well
      const bool up[2] = {p[1] > 0, p[1] < l.N[1] - 1};
      if (arm[1]) *block = -(int)up[arm[1] > 0];
      if (!arm[0] && !arm[1]) *block += up[0] + up[1];
    };
  };
  for (const Lattice &l : {line, plane, walled})
    for (PetscInt wall : {0, 13, 20}) {
      INFO(describe(l) << ", a wall before " << wall);
      Grid da;
      REQUIRE(try_make_grid(l, &da));
      Matrix A = captured(da, along_x(l, wall)), aij = assembled(da, along_x(l, wall));
      Vector u = random_vector(da, 3), b = make_vector(da);
      OK(MatMult(aij, u, b));
      for (const char *method : {"cg", "gmres"}) {
        check_honesty(A, aij, b, method, true);
        check_honesty(A, aij, u, method, false);
      }
    }
}

// -(k u')' with no flux at the ends, by a row's usual sum of edges; k grows and shrinks by `ratio` over the grid.
static Fill stretched_fill(const Lattice &l, PetscReal ratio, PetscReal power) {
  const auto k = [=](int a, PetscInt edge) {
    const PetscReal s = PetscReal(edge) / l.N[a];
    return PetscPowReal(ratio, power * s + (1 - power) * 4 * s * (1 - s)) / 3;
  };
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    *block = 0;
    for (int a = 0; a < l.dim; a++) {
      const PetscReal lower = p[a] > 0 ? k(a, p[a]) : 0, upper = p[a] < l.N[a] - 1 ? k(a, p[a] + 1) : 0;
      const bool      along = arm[a], none = !arm[0] && !arm[1] && !arm[2];
      if (none) *block += lower + upper;
      if (along) *block -= arm[a] < 0 ? lower : upper;
    }
  };
}

TEST_CASE("insulated ends are found on grids of any stretching", "[multigrid]") {
  int number = 0;
  for (int dim = 1; dim <= 3; dim++)
    for (const PetscReal ratio : {1e4, 1e7, 1e10})
      for (const PetscReal power : {0., 0.5, 1.})
        for (PetscInt N = 19; N <= (dim == 1 ? 97 : 25); N += 3) {
          const Lattice l = lattice({N, dim > 1 ? 9 : 1, dim > 2 ? 8 : 1});
          if (!in_turn(number++)) continue;
          INFO(describe(l) << ", ratio " << ratio << ", power " << power);
          Grid         da;
          MatNullSpace constants;
          if (!try_make_grid(l, &da)) continue;
          const Fill fill = stretched_fill(l, ratio, power);
          Matrix     A = captured(da, fill), aij = assembled(da, fill);
          Vector     u = random_vector(da, 3), b = make_vector(da);
          OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
          OK(MatSetNullSpace(A, constants));
          OK(MatNullSpaceDestroy(&constants));
          OK(MatMult(aij, u, b));
          PCFailedReason reason;
          Preconditioner pc = make_pc(A);
          OK(PCGetFailedReason(pc, &reason));
          CHECK(reason == PC_NOERROR);
          // the strong axis changes from point to point in more dimensions, which takes many iterations
          check_honesty(A, aij, b, "cg", dim == 1 || ratio < 1e5);
        }
}

// -Δu - s u with u = 0 around the grid, s in units of the least eigenvalue.
static Fill indefinite_fill(const Lattice &l, PetscReal s) {
  const PetscReal sine = PetscSinReal(PETSC_PI / (2 * (l.N[0] + 1)));
  return [=](const PetscInt *, const PetscInt arm[3], PetscScalar *block) {
    *block = arm[0] || arm[1] || arm[2] ? -1 : 2 * l.dim - s * l.dim * 4 * sine * sine;
  };
}

TEST_CASE("indefinite matrices are solved, or no method claims that", "[multigrid]") {
  const Lattice line = lattice({300, 1, 1}), plane = lattice({65, 65, 1});
  int           number = 0;
  for (const Lattice &l : {line, plane})
    for (const PetscReal s : {1.5, 3., 10., 100., 300.})
      for (const char *cycle : {"v", "w", "f", "w -test_pc_stencilmg_type full"}) {
        if (!in_turn(number++)) continue;
        INFO(describe(l) << ", shift " << s << ", " << cycle);
        Grid da;
        REQUIRE(try_make_grid(l, &da));
        const Fill fill = indefinite_fill(l, s);
        Matrix     A = captured(da, fill), aij = assembled(da, fill);
        Vector     u = random_vector(da, 3), b = make_vector(da), x = make_vector(da);
        OK(MatMult(aij, u, b));
        for (const char *method : {"gmres", "bcgs"}) {
          PetscInt   iterations;
          const auto reason = solve(A, b, x,
                                    std::string("-test_ksp_rtol 1e-8 -test_ksp_max_it 40 -test_ksp_type ") + method +
                                        " -test_pc_stencilmg_cycle_type " + cycle + small_last_level,
                                    &iterations);
          if (reason > 0) CHECK(relative_residual(aij, b, x) <= 1e-4);
          if (s <= 10 && cycle[0] == 'v') CHECK(reason > 0);
          if (s <= 3) CHECK(reason > 0);
        }
      }
}

TEST_CASE("a cycle that multiplies residuals is a failed preconditioner, and the view says so", "[multigrid][view]") {
  const Lattice l = lattice({129, 129, 1});
  for (const bool variable : {false, true}) {
    Grid da;
    REQUIRE(try_make_grid(l, &da));
    const Fill     fill = indefinite_fill(l, 300);
    Matrix         A = captured(da, [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      fill(p, arm, block);
      if (variable && !arm[0] && !arm[1]) *block += 1e-4 * p[0] * p[1] / 16384;
    });
    PCFailedReason reason;
    Preconditioner pc = make_pc(A, std::string("-test_pc_stencilmg_cycle_type w") + small_last_level);
    const auto     view = [&]() { return printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); }); };
    OK(PCGetFailedReason(pc, &reason));
    CHECK(reason != PC_NOERROR);
    CHECK(view().find("multiplies residuals") != std::string::npos);
    CHECK(view().find("-pc_stencilmg_cycle_type v") != std::string::npos);
    OK(MatShift(A, 2)); // and a good one after it
    OK(PCSetUp(pc));
    OK(PCGetFailedReason(pc, &reason));
    CHECK(reason == PC_NOERROR);
    CHECK(view().find("residuals") == std::string::npos);
  }
}

TEST_CASE("a preconditioner without a matrix is an error, whatever is called", "[multigrid][errors]") {
  const Problem p = problem(1, 33);
  Grid          da = make_grid(p);
  Matrix        A = make_operator(p, da), untyped;
  Vector        b = random_vector(da, 1), x = make_vector(da);
  OK(MatCreate(PETSC_COMM_WORLD, &untyped));
  for (const char *type : {PCSTENCILMG, PCKERNELSUM}) {
    const auto with_solver = [&](const std::function<PetscErrorCode(KSP, PC)> &work) {
      return [&, work]() {
        Solver ksp;
        PC     pc;
        PetscFunctionBeginUser;
        PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
        PetscCall(KSPSetType(ksp, KSPRICHARDSON));
        PetscCall(KSPGetPC(ksp, &pc));
        PetscCall(PCSetType(pc, type));
        PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
        PetscCall(PCSetFromOptions(pc));
        PetscCall(work(ksp, pc));
        PetscFunctionReturn((PetscErrorCode)0);
      };
    };
    INFO(type);
    const auto               wrong = PETSC_ERR_ARG_WRONGSTATE;
    std::vector<std::string> problems;
    printed([&]() { // with the views
      problems.push_back(error_problem(wrong, {}, with_solver([&](KSP ksp, PC) { return KSPSolve(ksp, b, x); })));
      problems.push_back(error_problem((PetscErrorCode)0, {}, with_solver([&](KSP, PC pc) { return PCSetUp(pc); })));
      problems.push_back(error_problem(wrong, {type, "KSPSetOperators"}, with_solver([&](KSP ksp, PC) {
                                         PetscFunctionBeginUser;
                                         PetscCall(KSPSetOperators(ksp, untyped, untyped));
                                         PetscCall(KSPSolve(ksp, b, x));
                                         PetscFunctionReturn((PetscErrorCode)0);
                                       })));
    });
    for (const std::string &problem : problems) CHECK(problem == "");
  }
  for (const bool of_solver : {false, true}) { // a reset forgets the matrix
    Solver   ksp;
    PC       pc;
    Options  set("-test_pc_type stencilmg");
    PetscInt iterations;
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "test_"));
    OK(KSPSetFromOptions(ksp));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetIterationNumber(ksp, &iterations));
    OK(KSPGetPC(ksp, &pc));
    if (of_solver)
      OK(KSPReset(ksp));
    else
      OK(PCReset(pc));
    printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
    EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({}), [&]() { return KSPSolve(ksp, b, x); });
    PetscInt again;
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetIterationNumber(ksp, &again));
    CHECK(again == iterations);
  }
}

TEST_CASE("infinite entries are a failed preconditioner, and a good matrix after them is solved", "[multigrid]") {
  for (const PetscInt dof : {1, 2})
    for (const PetscReal bad : {(PetscReal)INFINITY, (PetscReal)NAN}) {
      Lattice l = lattice({19, 17, 1});
      l.dof = dof;
      INFO(dof << " unknowns, " << bad);
      Grid         da;
      Matrix       A;
      Solver       ksp;
      Options      set("-test_pc_type stencilmg -test_ksp_type gmres");
      const Fill   good = diffusion_fill(l, Form::arrays);
      const double values[] = {(double)bad, 0, (double)bad, (double)bad, 0};
      REQUIRE(try_make_grid(l, &da));
      OK(DMSetMatType(da, MATSTENCILSHELL));
      OK(DMCreateMatrix(da, &A));
      OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
      OK(KSPSetOptionsPrefix(ksp, "test_"));
      OK(KSPSetFromOptions(ksp));
      Vector b = random_vector(da, 12), x = make_vector(da);
      for (const double value : values) { // also at the first set-up
        KSPConvergedReason reason;
        set_rows(
            da, A,
            [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
              good(p, arm, block);
              if (value != 0 && p[0] == 7 && p[1] == 16 && !arm[0] && !arm[1]) block[0] = value;
            },
            Way::stencil, INSERT_VALUES);
        assemble(A);
        OK(KSPSetOperators(ksp, A, A));
        OK(KSPSolve(ksp, b, x));
        OK(KSPGetConvergedReason(ksp, &reason));
        if (value == 0)
          CHECK(reason > 0);
        else
          CHECK(reason == KSP_DIVERGED_PC_FAILED);
      }
    }
}

TEST_CASE("values that are refused at first are a failed preconditioner once others were served", "[multigrid]") {
  for (const PetscInt dof : {1, 2}) {
    Lattice l = lattice({19, 17, 1});
    l.dof = dof;
    INFO(dof << " unknowns");
    Grid       da;
    Matrix     A;
    Solver     ksp;
    Options    set("-test_pc_type stencilmg -test_ksp_type gmres");
    const Fill good = diffusion_fill(l, Form::arrays);
    const auto fill = [&](bool zero) {
      set_rows(
          da, A,
          [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
            good(p, arm, block);
            for (int e = 0; e < dof * dof && zero && p[0] == 7 && p[1] == 16 && !arm[0] && !arm[1]; e++) block[e] = 0;
          },
          Way::stencil, INSERT_VALUES);
      assemble(A);
    };
    REQUIRE(try_make_grid(l, &da));
    OK(DMSetMatType(da, MATSTENCILSHELL));
    OK(DMCreateMatrix(da, &A));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "test_"));
    OK(KSPSetFromOptions(ksp));
    Vector b = random_vector(da, 12), x = make_vector(da);
    OK(KSPSetOperators(ksp, A, A));
    fill(true);
    EXPECT_ERROR(PETSC_ERR_SUP, ({"stencilmg"}), [&]() { return KSPSolve(ksp, b, x); });
    for (const bool zero : {false, true, false}) {
      KSPConvergedReason reason;
      fill(zero);
      OK(KSPSetOperators(ksp, A, A));
      OK(KSPSolve(ksp, b, x));
      OK(KSPGetConvergedReason(ksp, &reason));
      if (zero)
        CHECK(reason == KSP_DIVERGED_PC_FAILED);
      else
        CHECK(reason > 0);
    }
  }
}

TEST_CASE("a submatrix, as solvers with bounds take it, is refused with what serves instead", "[multigrid][errors]") {
  const Lattice l = lattice({19, 17, 1});
  Grid          da;
  Matrix        A, part;
  IS            some;
  PetscInt      begin, end;
  REQUIRE(try_make_grid(l, &da));
  A = captured(da, diffusion_fill(l, Form::arrays));
  OK(MatGetOwnershipRange(A, &begin, &end));
  OK(ISCreateStride(PETSC_COMM_WORLD, (end - begin) / 2, begin, 2, &some));
  OK(MatCreateSubMatrix(A, some, some, MAT_INITIAL_MATRIX, &part));
  OK(ISDestroy(&some));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"submatrix", "-snes_type vinewtonssls"}), set_up_of(part, PCSTENCILMG));
}

TEST_CASE("a block of a rank or a subdomain is refused with what serves instead", "[multigrid][errors]") {
  const Lattice l = lattice({19, 17, 1});
  Grid          da;
  PetscMPIInt   ranks;
  REQUIRE(try_make_grid(l, &da));
  Matrix A = captured(da, diffusion_fill(l, Form::arrays));
  Vector b = random_vector(da, 1), x = make_vector(da);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  for (std::string type : {std::string("asm"), "bjacobi -test_pc_bjacobi_blocks " + std::to_string(2 * ranks),
                           std::string(ranks > 1 ? "bjacobi" : "asm")}) {
    INFO(type);
    type = "-test_pc_type " + type + " -test_ksp_type gmres";
    EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"stencilmg", "block", "-test_sub_pc_type ilu"}), [&]() {
      Options set(type + " -test_sub_pc_type stencilmg");
      Solver  ksp = make_solver(A);
      return KSPSolve(ksp, b, x);
    });
    Options            set(type + " -test_sub_pc_type ilu"); // the remedy
    PetscInt           iterations;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    OK(solve(A, b, x, &iterations, &reason));
    CHECK(reason > 0);
  }
}
