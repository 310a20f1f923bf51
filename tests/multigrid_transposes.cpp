// The transposes of stencilmg's cycles: adjoint to the cycles, and solutions with the transposed matrix.

#include "catch.hpp"

#include "media.hpp"
#include "systems.hpp"

using namespace tests;

namespace {

void expect_adjoint(Mat A, DM da, const std::vector<std::string> &all, PetscReal bound = 1e-12) {
  for (const std::string &options : all) {
    INFO(options);
    CHECK(mismatch(make_pc(A, options + small_last_level), da) <= bound);
  }
}

const std::vector<std::string> cycles = {"",
                                         "-test_pc_stencilmg_cycle_type v -test_pc_stencilmg_multiplicative_cycles 2",
                                         "-test_pc_stencilmg_cycle_type w -test_pc_stencilmg_smooths 1",
                                         "-test_pc_stencilmg_cycle_type f -test_pc_stencilmg_fused 0",
                                         "-test_pc_stencilmg_type full",
                                         "-test_pc_stencilmg_type full -test_pc_stencilmg_multiplicative_cycles 3"};

// Solutions with the transpose beside those of an exact solver of the assembled matrix.
void expect_solutions(const Lattice &l, const Fill &fill, const std::string &options) {
  INFO(describe(l) << options);
  Twins twins(l);
  twins.both([&](DM da, Mat A) {
    set_rows(da, A, fill, Way::stencil, INSERT_VALUES);
    assemble(A);
  });
  Vector             b = random_vector(twins.da, 3), x = make_vector(twins.da), r = make_vector(twins.da);
  KSPConvergedReason reason;
  PetscReal          left, size;
  PetscInt           iterations;
  Options            set("-test_pc_type stencilmg -test_ksp_rtol 1e-9 -test_ksp_max_it 60 " + options);
  Solver             ksp = make_solver(twins.A);
  OK(KSPSolveTranspose(ksp, b, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  OK(KSPGetIterationNumber(ksp, &iterations));
  CHECK(iterations <= 20);
  OK(MatMultTranspose(twins.aij, x, r)); // which is another code's
  OK(VecAYPX(r, -1, b));
  OK(VecNorm(r, NORM_2, &left));
  OK(VecNorm(b, NORM_2, &size));
  CHECK(left <= 1e-7 * size);
}

} // namespace

TEST_CASE("transposed cycles are adjoint to cycles, of formulas with each boundary", "[multigrid]") {
  for (MatLaplaceBoundaryType boundary : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
    for (const Point &N : {Point{70, 1, 1}, Point{41, 50, 1}, Point{17, 21, 18}}) {
      Problem of = problem(N[2] > 1 ? 3 : N[1] > 1 ? 2 : 1, N[0], N[1], N[2]);
      of.boundary = boundary;
      if (boundary == MAT_LAPLACE_NEUMANN) of.sigma = 2;
      Grid da;
      if (!try_make_grid(of, &da)) continue;
      INFO(describe(of));
      Matrix A = make_operator(of, da);
      expect_adjoint(A, da, cycles);
      if (N[2] > 1) expect_adjoint(A, da, {"-test_pc_stencilmg_smoother red_black -test_pc_stencilmg_cycle_type v"});
      expect_adjoint(A, da,
                     {"-test_pc_stencilmg_precision single",
                      "-test_pc_stencilmg_precision single -test_pc_stencilmg_type full",
                      "-test_pc_stencilmg_precision single -test_pc_stencilmg_type full -test_pc_stencilmg_fused 0"},
                     1e-5);
    }
}

TEST_CASE("transposed cycles are adjoint to cycles, of variable coefficients, weighted rows and rows of the identity",
          "[multigrid]") {
  const Lattice small = lattice({9, 8, 1}), plane = lattice({50, 44, 1}), space = lattice({14, 15, 16}),
                around = lattice({31, 32, 1}, {periodic}), line = lattice({170, 1, 1}),
                ring = lattice({171, 1, 1}, {periodic});
  for (const Lattice &l : {small, plane, space, around, line, ring}) {
    INFO(describe(l));
    const Fill coefficients = diffusion_fill(l, Form::arrays),
               weighted = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
                 coefficients(p, arm, block);
                 *block *= 1 + p[0] % 3;
               };
    for (const char *what : {"as they are", "weighted", "rows", "columns"}) {
      INFO(what);
      Grid     da;
      PetscInt begin, end;
      REQUIRE(try_make_grid(l, &da));
      Matrix A = captured(da, what == std::string("weighted") ? weighted : coefficients);
      OK(MatGetOwnershipRange(A, &begin, &end));
      const PetscInt rows[3] = {begin, (begin + end) / 2, end - 1};
      if (what == std::string("rows")) OK(MatZeroRows(A, 3, rows, 3, NULL, NULL));
      if (what == std::string("columns")) OK(MatZeroRowsColumns(A, 3, rows, 3, NULL, NULL));
      expect_adjoint(A, da, cycles);
    }
  }
}

TEST_CASE("transposed cycles are adjoint to cycles, of convection", "[multigrid]") {
  const Lattice line = lattice({300, 1, 1}), plane = lattice({50, 44, 1}), space = lattice({14, 15, 16}),
                around = lattice({31, 32, 1}, {periodic}), box = lattice({40, 41, 1}, {}, DMDA_STENCIL_BOX);
  for (const Lattice &l : {line, plane, space, around, box}) {
    INFO(describe(l));
    Grid da;
    REQUIRE(try_make_grid(l, &da));
    Matrix A = captured(da, convection_fill(l, 1e-2, meander, true));
    expect_adjoint(A, da, cycles);
    expect_adjoint(A, da,
                   {"-test_pc_stencilmg_precision single", "-test_pc_stencilmg_precision single "
                                                           "-test_pc_stencilmg_type full"},
                   1e-5);
    Preconditioner pc = make_pc(A); // with transposed rows of before an update
    CHECK(mismatch(pc, da) <= 1e-12);
    OK(MatShift(A, 0.01));
    OK(MatScale(A, 2));
    OK(PCSetUp(pc));
    CHECK(mismatch(pc, da) <= 1e-12);
  }
}

TEST_CASE("transposed cycles are adjoint to cycles, of several unknowns", "[multigrid]") {
  const struct {
    const Equations *of;
    Point            N;
  } cases[] = {{&turning, {30, 29, 1}}, {&elastic_2d, {30, 29, 1}}, {&reacting, {40, 1, 1}}, {&elastic_3d, {9, 8, 7}}};
  for (const auto &one : cases)
    for (bool nodes : {false, true}) {
      const Lattice l = lattice_for(*one.of, one.N, {nodes ? open_end : periodic});
      Grid          da;
      INFO(one.of->name << " " << describe(l));
      if (!try_make_grid(l, &da)) continue;
      Matrix A = captured(da, fill_of(*one.of, l, nodes));
      expect_adjoint(A, da, cycles);
      Preconditioner pc = make_pc(A);
      CHECK(mismatch(pc, da) <= 1e-12);
      OK(MatShift(A, 0.01));
      OK(PCSetUp(pc));
      CHECK(mismatch(pc, da) <= 1e-12);
    }
}

TEST_CASE("transposed cycles are adjoint to cycles, over levels that ranks share", "[multigrid]") {
  if (rank_count() == 1) return;
  const Lattice plane = lattice({190, 181, 1}), box = lattice({181, 190, 1}, {periodic}, DMDA_STENCIL_BOX),
                of_two = lattice_for(turning, {120, 90, 1});
  const std::vector<std::string> few = {"", "-test_pc_stencilmg_type full"};
  Grid                           da[3];
  REQUIRE(try_make_grid(plane, &da[0]));
  REQUIRE(try_make_grid(box, &da[1]));
  REQUIRE(try_make_grid(of_two, &da[2]));
  expect_adjoint(captured(da[0], convection_fill(plane, 1e-2, meander, true)), da[0], few);
  expect_adjoint(captured(da[1], diffusion_fill(box, Form::arrays)), da[1], few);
  expect_adjoint(captured(da[2], fill_of(turning, of_two, true)), da[2], few);
}

TEST_CASE("systems with the transpose are solved as fast as those without", "[multigrid]") {
  const Lattice plane = lattice({33, 40, 1}), space = lattice({14, 15, 16});
  for (const char *options : {"-test_ksp_type gmres", "-test_ksp_type bicg", "-test_ksp_type richardson"}) {
    for (const Lattice &l : {plane, space}) expect_solutions(l, convection_fill(l, 1e-2, meander, true), options);
    const Lattice of_two = lattice_for(turning, {33, 32, 1});
    expect_solutions(of_two, fill_of(turning, of_two, false), options);
  }
}
