// stencilmg after changes of its matrix by a factor and on its diagonal: the levels follow them.

#include "catch.hpp"

#include "media.hpp"
#include "systems.hpp"

using namespace tests;

namespace {

Solver solver_by(Mat A, const char *method) {
  return make_solver(A, std::string("-test_pc_type stencilmg -test_ksp_rtol 1e-8 -test_ksp_max_it 40 -test_ksp_type ") +
                            method);
}

// Iterations, with a check of the residual.
PetscInt iterations_to_solve(KSP ksp, Mat A, Vec b) {
  Vector             x;
  PetscInt           iterations;
  KSPConvergedReason reason;
  OK(VecDuplicate(b, &x));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  OK(KSPGetIterationNumber(ksp, &iterations));
  if (reason > 0) CHECK(relative_residual(A, b, x) <= 1e-5);
  return iterations;
}

bool follows(KSP ksp) {
  PC pc;
  OK(KSPGetPC(ksp, &pc));
  return printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); }).find("levels updated since") != std::string::npos;
}

struct Change {
  PetscScalar factor, shift;
};

void change(Mat A, const Change &by) {
  if (by.factor != (PetscScalar)1) OK(MatScale(A, by.factor));
  if (by.shift != (PetscScalar)0) OK(MatShift(A, by.shift));
}

// After a change: the solver needs as many iterations as a new one, or one more.
PetscInt check_change(KSP ksp, Mat A, Vec b) {
  const PetscInt iterations = iterations_to_solve(ksp, A, b);
  Solver         fresh = solver_by(A, "gmres");
  const PetscInt of_fresh = iterations_to_solve(fresh, A, b);
  INFO(iterations << " iterations, of a new solver " << of_fresh);
  CHECK(iterations <= of_fresh + 1);
  CHECK(!follows(fresh));
  return iterations;
}

Fill times(const Fill &fill, PetscScalar factor, PetscScalar shift) {
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    fill(p, arm, block);
    *block *= factor;
    if (!arm[0] && !arm[1] && !arm[2]) *block += shift;
  };
}

const Lattice plane = lattice({65, 50, 1}), box = lattice({36, 35, 1}, {}, DMDA_STENCIL_BOX),
              space = lattice({17, 14, 15}), around = lattice({32, 33, 1}, {periodic}), small = lattice({30, 31, 1}),
              shared = lattice({150, 115, 1}, {periodic}),      // by the ranks, where there are several
    twice = lattice({41, 2, 33}, {DM_BOUNDARY_NONE, periodic}); // a point has the same neighbour on both sides

} // namespace

TEST_CASE("levels follow a matrix that is scaled and shifted, and serve it as new ones do", "[multigrid]") {
  int number = 0;
  for (const Lattice &l : {plane, box, space, around, small, shared, twice})
    for (Medium medium : {Medium::smooth, Medium::blocks})
      for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
        for (bool weighted : {false, true}) {
          if (!in_turn(number++)) continue;
          Grid da;
          if (!try_make_grid(l, &da)) continue;
          const Fill fill = medium_fill(l, medium, form, 1e-3);
          Matrix     A = captured(da, weighted ? scaled_fill(l, fill) : fill);
          Vector     b = random_vector(da, 4);
          Solver     ksp = solver_by(A, "gmres");
          INFO(describe(l) << ", medium " << (int)medium << ", boundary form " << (int)form
                           << (weighted ? ", weighted" : ""));
          CHECK(iterations_to_solve(ksp, A, b) <= 12);
          CHECK(!follows(ksp));
          for (const Change &by :
               {Change{1, 1e-5}, Change{3, 0.004}, Change{-1, 0}, Change{1, -0.002}, Change{1e-9, 0}}) {
            change(A, by);
            INFO("times " << PetscRealPart(by.factor) << ", plus " << PetscRealPart(by.shift));
            CHECK(check_change(ksp, A, b) <= 12);
            CHECK(follows(ksp));
          }
        }
}

TEST_CASE("shifts of any size and sign take no more iterations than a new set-up", "[multigrid]") {
  std::vector<Change> changes = {{1, 1e-5},  {1, -1e-5}, {1, 0.1},    {1, 1},      {1, 100}, {1, 1e6},
                                 {1, -9e5},  {1, -9e4},  {1, -1e4},   {1, -90},    {1, -10}, {1, -1},
                                 {1, -0.09}, {1, -0.01}, {1, -0.001}, {1, -0.001}, {-1, 0},  {1, 0.01}};
#if defined(PETSC_USE_COMPLEX)
  for (PetscScalar shift : {PetscScalar(0, 0.1), PetscScalar(-0.02, 0.02), PetscScalar(0, -0.1)})
    changes.push_back({1, shift});
  changes.push_back({PetscScalar(0, 1), 0});
  changes.push_back({1, PetscScalar(0, 100)}); // needs no coarser level from here on
#endif
  int number = 0;
  for (const Lattice &l : {lattice({97, 76, 1}), lattice({21, 18, 23})}) // with more levels
    for (Medium medium : {Medium::smooth, Medium::blocks}) {
      Grid da;
      if (!in_turn(number++) || !try_make_grid(l, &da)) continue;
      Matrix A = captured(da, medium_fill(l, medium, MAT_LAPLACE_ELIMINATED, 0));
      Vector b = random_vector(da, 4);
      Solver ksp = solver_by(A, "gmres");
      INFO(describe(l) << ", medium " << (int)medium);
      iterations_to_solve(ksp, A, b);
      for (size_t n = 0; n < changes.size(); n++) {
        INFO("change " << n);
        change(A, changes[n]);
        check_change(ksp, A, b);
        if (PetscAbsScalar(changes[n].shift) < 1e-3) CHECK(follows(ksp));
      }
    }
}

TEST_CASE("shifts that grow little by little take no more iterations than a new set-up", "[multigrid]") {
  const Lattice l = lattice({255, 255, 1});
  Grid          da;
  REQUIRE(try_make_grid(l, &da));
  PetscReal shift = 0.01;
  Matrix    A = captured(da, medium_fill(l, Medium::sharp_blocks, MAT_LAPLACE_ELIMINATED, shift));
  Vector    b = random_vector(da, 4);
  Solver    ksp = solver_by(A, "gmres");
  PC        pc;
  iterations_to_solve(ksp, A, b);
  OK(KSPGetPC(ksp, &pc));
  int followed = 0;
  for (int n = 1; n <= 28; n++) {
    OK(MatShift(A, 0.45 * shift));
    shift *= 1.45;
    INFO("shift " << shift);
    if (n % (sanitized ? 14 : 4) == 0)
      check_change(ksp, A, b);
    else
      OK(PCSetUp(pc));
    followed += follows(ksp);
  }
  CHECK(followed >= 10); // of the steps
}

TEST_CASE("levels follow a matrix that couples nothing in the middle", "[multigrid]") {
  for (const Lattice &l : {plane, space}) {
    Grid da;
    if (!try_make_grid(l, &da)) continue;
    const Fill open = medium_fill(l, Medium::smooth, MAT_LAPLACE_IDENTITY, 1e-3);
    const Fill fill = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) { // with a wall
      open(p, arm, block);
      if (p[1] == l.N[1] / 2) *block = !arm[0] && !arm[1] && !arm[2];
    };
    Matrix A = captured(da, fill);
    Vector b = random_vector(da, 4);
    Solver ksp = solver_by(A, "gmres");
    INFO(describe(l));
    iterations_to_solve(ksp, A, b);
    for (const Change &by : {Change{1, 1e-4}, Change{-3, 0}}) {
      change(A, by);
      CHECK(check_change(ksp, A, b) <= 12);
      CHECK(follows(ksp));
    }
  }
}

TEST_CASE("levels follow other diagonals and new assemblies, and are made anew for other couplings", "[multigrid]") {
  for (const Lattice &l : {plane, space}) {
    Grid da;
    if (!try_make_grid(l, &da)) continue;
    const Fill fill = medium_fill(l, Medium::blocks, MAT_LAPLACE_IDENTITY, 1e-3),
               other = medium_fill(l, Medium::smooth, MAT_LAPLACE_IDENTITY, 1e-3);
    Matrix A = captured(da, fill);
    Vector b = random_vector(da, 4), d = random_vector(da, 5);
    Solver ksp = solver_by(A, "gmres");
    INFO(describe(l));
    iterations_to_solve(ksp, A, b);
    OK(VecPointwiseMult(d, d, d));
    OK(VecScale(d, 0.01));
    OK(MatDiagonalSet(A, d, ADD_VALUES)); // as of a reaction
    check_change(ksp, A, b);
    CHECK(follows(ksp));
    set_rows(da, A, times(fill, 2, 0.01), Way::stencil, INSERT_VALUES); // as for another time step
    assemble(A);
    check_change(ksp, A, b);
    CHECK(follows(ksp));
    set_rows(da, A, times(other, 2, 0.01), Way::stencil, INSERT_VALUES);
    assemble(A);
    check_change(ksp, A, b);
    CHECK(!follows(ksp));
    set_rows(da, A, times(other, 1, 0.01), Way::stencil, INSERT_VALUES);
    assemble(A);
    PC pc;
    OK(KSPGetPC(ksp, &pc));
    OK(PCStencilMGSetSmooths(pc, 2)); // asks for other levels
    iterations_to_solve(ksp, A, b);
    CHECK(!follows(ksp));
  }
}

TEST_CASE("levels that are not symmetric follow a shift", "[multigrid]") {
  for (const Lattice &l : {plane, small}) {
    Grid da;
    REQUIRE(try_make_grid(l, &da));
    const Fill symmetric = medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0);
    const Fill fill = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) { // and a wind that turns
      symmetric(p, arm, block);
      const PetscReal wind[2] = {PetscSinReal(0.1 * p[1]), PetscCosReal(0.08 * p[0])};
      for (int a = 0; a < 2; a++) {
        if (!arm[0] && !arm[1] && !arm[2]) *block += PetscAbsReal(wind[a]);
        if (arm[a] && !arm[1 - a] && arm[a] * wind[a] < 0) *block -= PetscAbsReal(wind[a]);
      }
    };
    Matrix A = captured(da, fill);
    Vector b = random_vector(da, 4);
    Solver ksp = solver_by(A, "gmres");
    CHECK(iterations_to_solve(ksp, A, b) <= 12);
    for (PetscScalar shift : {1e-4, 1e-2}) {
      OK(MatShift(A, shift));
      CHECK(check_change(ksp, A, b) <= 12);
      CHECK(follows(ksp));
    }
  }
}

TEST_CASE("levels of a system follow a shift that is large on coarse grids alone", "[multigrid]") {
  const Lattice l = lattice_for(reacting, {193, 200, 1});
  Grid          da;
  REQUIRE(try_make_grid(l, &da));
  Matrix A = captured(da, fill_of(reacting, l, false));
  Vector b = make_vector(da);
  Solver ksp = solver_by(A, "gmres");
  OK(VecSet(b, 1));
  iterations_to_solve(ksp, A, b);
  for (int n = 0; n < (sanitized ? 2 : 4); n++) {
    OK(MatShift(A, 0.01));
    check_change(ksp, A, b);
    CHECK(follows(ksp));
  }
}

TEST_CASE("a singular matrix that is shifted, and shifted back, is solved each time", "[multigrid]") {
  Grid da;
  REQUIRE(try_make_grid(plane, &da));
  Matrix A = captured(da, medium_fill(plane, Medium::smooth, MAT_LAPLACE_NEUMANN, 0));
  Vector u = random_vector(da, 4), b = make_vector(da);
  Solver ksp = solver_by(A, "gmres");
  for (PetscScalar shift : {0., 1e-3, -1e-3}) {
    OK(MatShift(A, shift));
    OK(MatMult(A, u, b));
    INFO("shift " << PetscRealPart(shift));
    CHECK(check_change(ksp, A, b) <= 12);
    CHECK(follows(ksp) == (shift != (PetscScalar)0));
  }
}

TEST_CASE("a preconditioner that is to be used again stays as it is", "[multigrid]") {
  Grid da;
  REQUIRE(try_make_grid(plane, &da));
  Matrix A = captured(da, medium_fill(plane, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0));
  Vector b = random_vector(da, 4), before, after;
  Solver ksp = solver_by(A, "gmres");
  PC     pc;
  iterations_to_solve(ksp, A, b);
  OK(KSPGetPC(ksp, &pc));
  before = apply(pc, b);
  OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  OK(MatShift(A, 0.01));
  CHECK(iterations_to_solve(ksp, A, b) <= 20);
  after = apply(pc, b);
  CHECK(difference(after, before) == 0);
  OK(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  check_change(ksp, A, b);
  CHECK(follows(ksp));
}

TEST_CASE("the view warns of a star whose couplings have both signs", "[multigrid][view]") {
  for (PetscReal wind : {1., 4.}) { // central differences, the latter with a cell Péclet number of 4
    const Lattice l = lattice({40, 30, 1});
    Grid          da;
    REQUIRE(try_make_grid(l, &da));
    Matrix            A = captured(da, [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      const PetscReal along = wind * (p[1] < 15 ? 1 : -1);
      *block = !arm[0] && !arm[1] && !arm[2] ? 4 : arm[0] ? -1 + arm[0] * along / 2 : -1;
    });
    Preconditioner    pc = make_pc(A);
    const std::string view = printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
    for (const char *word : {"couplings have both signs", "upwind"})
      CHECK((view.find(word) != std::string::npos) == (wind > 2));
  }
}

TEST_CASE("levels of systems follow a matrix that is scaled and shifted, and serve it as new ones do", "[multigrid]") {
  int number = 0;
  for (const Equations *of : {&reacting, &elastic_2d, &turning, &elastic_3d})
    for (bool nodes : {false, true}) {
      const Lattice l = lattice_for(*of, of == &elastic_3d ? Point{13, 12, 14} : Point{41, 34, 1});
      Grid          da;
      if (!in_turn(number++) || !try_make_grid(l, &da)) continue;
      const Fill fill = fill_of(*of, l, nodes);
      Matrix     A = captured(da, fill);
      Vector     b = random_vector(da, 4), d = random_vector(da, 5);
      Solver     ksp = solver_by(A, "gmres");
      INFO(of->name << (nodes ? ", nodes" : ""));
      iterations_to_solve(ksp, A, b);
      for (const Change &by :
           {Change{1, 1e-4}, Change{3, 0.01}, Change{-1, 0}, Change{1, -1}, Change{1e-6, 0}, Change{1e6, -100}}) {
        INFO("times " << PetscRealPart(by.factor) << ", plus " << PetscRealPart(by.shift));
        change(A, by);
        check_change(ksp, A, b);
        CHECK(follows(ksp));
      }
      OK(VecAbs(d));
      OK(VecScale(d, -0.1));
      OK(MatDiagonalSet(A, d, ADD_VALUES));
      check_change(ksp, A, b);
      CHECK(follows(ksp));
      set_rows( // as it was, but for a factor
          da, A,
          [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
            fill(p, arm, block);
            for (PetscInt n = 0; n < l.dof * l.dof; n++) block[n] *= 2;
          },
          Way::stencil, INSERT_VALUES);
      assemble(A);
      check_change(ksp, A, b);
      CHECK(follows(ksp));
      change(A, {1, -0.5}); // eigenvalues go away from one
      check_change(ksp, A, b);
      CHECK(!follows(ksp));
      set_rows(
          da, A,
          [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
            fill(p, arm, block);
            if (arm[0] == 1) block[0] *= 1.01;
          },
          Way::stencil, INSERT_VALUES);
      assemble(A);
      check_change(ksp, A, b);
      CHECK(!follows(ksp));
    }
}

TEST_CASE("levels of a system are made anew where the diagonal was zero", "[multigrid]") {
  const Equations of = {"a multiplier", 2, DMDA_STENCIL_STAR,
                        [](PetscReal, const PetscInt *, const PetscInt arm[3], int dim, PetscScalar *block) {
                          const bool here = !arm[0] && !arm[1] && !arm[2];
                          block[0] = laplacian(arm, dim);
                          block[1] = here;
                          block[2] = here ? -1 : 0;
                          block[3] = 0;
                        }};
  const Lattice   l = lattice_for(of, {65, 50, 1});
  Grid            da;
  REQUIRE(try_make_grid(l, &da));
  Matrix A = captured(da, fill_of(of, l, false));
  Vector b = random_vector(da, 4);
  Solver ksp = solver_by(A, "gmres");
  iterations_to_solve(ksp, A, b);
  OK(MatShift(A, 0.1));
  check_change(ksp, A, b);
  CHECK(!follows(ksp));
}

TEST_CASE("the view counts what the levels of a system keep for changes", "[multigrid][view]") {
  const Lattice l = lattice_for(turning, {65, 50, 1});
  Grid          da;
  REQUIRE(try_make_grid(l, &da));
  Matrix            A = captured(da, fill_of(turning, l, false));
  Vector            b = make_vector(da);
  Preconditioner    pc = make_pc(A);
  const std::string view = printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
  const size_t      end = view.find(" MB", view.find("level 0:"));
  REQUIRE(end != std::string::npos);
  PetscInt unknowns; // of the first rank
  OK(VecGetLocalSize(b, &unknowns));
  OK(MPI_Bcast(&unknowns, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  // each has a residual, 4 weights of interpolation, 2 entries of a block's inverse, and 3 scalars for changes
  CHECK(std::stod(view.substr(view.rfind(' ', end - 1) + 1)) >= 0.99e-6 * 10 * sizeof(PetscScalar) * unknowns);
}
