// stencilmg for advection and diffusion: -νΔu + w·∇u, by upwind and central differences.

#include "catch.hpp"

#include "media.hpp"

using namespace tests;

namespace {

void turn_around(const PetscReal x[3], PetscReal w[3]) {
  w[0] = PetscSinReal(PETSC_PI * x[0]) * PetscCosReal(PETSC_PI * x[1]);
  w[1] = -PetscCosReal(PETSC_PI * x[0]) * PetscSinReal(PETSC_PI * x[1]);
  w[2] = 0;
}
Wind constant(PetscReal x, PetscReal y, PetscReal z) {
  return [=](const PetscReal *, PetscReal w[3]) { w[0] = x, w[1] = y, w[2] = z; };
}

// GMRES' iterations to 1e-8, with a check of the residual.
PetscInt iterations_to_solve(Mat A, Vec b, const std::string &options = "") {
  Vector   x;
  PetscInt iterations = 0;
  OK(VecDuplicate(b, &x));
  CHECK(solve(A, b, x, "-test_ksp_type gmres -test_ksp_pc_side right -test_ksp_rtol 1e-8 " + options, &iterations) > 0);
  CHECK(relative_residual(A, b, x) <= 2e-8);
  return iterations;
}
PetscInt iterations_to_solve(DM da, Mat A, const std::string &options = "") {
  return iterations_to_solve(A, random_vector(da, 4), options);
}

} // namespace

TEST_CASE("convection against the wind takes few iterations at every Péclet number", "[multigrid]") {
  const struct {
    const char *name;
    Wind        wind;
    Point       N;
    PetscInt    most; // iterations
  } cases[] = {
      {"along x", constant(1, 0, 0), {65, 64, 1}, 6},
      {"oblique", constant(-1, 0.3, 0), {65, 71, 1}, 6},
      {"rotating", rotate, {65, 64, 1}, 7},
      {"rotating, on parts of the grid", rotate, {193, 171, 1}, 12},
      {"an eddy", turn_around, {64, 65, 1}, 13},
      {"meandering", meander, {97, 127, 1}, 7},
      {"on a line", constant(1, 0, 0), {300, 1, 1}, 6},
      {"in space", constant(1, 0.6, -0.2), {17, 16, 19}, 7},
      {"in space, the other way along y", constant(1, -0.7, 0.8), {19, 18, 21}, 7},
      {"in space, the other way along x and z", constant(-1, 0.7, -0.8), {19, 18, 21}, 7},
      {"rotating in space", rotate, {24, 23, 17}, 7},
      {"on a narrow grid", constant(-1, 0.5, 0), {130, 3, 1}, 6},
      {"meandering in space", meander, {20, 19, 18}, 7},
  };
  int number = 0;
  for (const auto &one : cases)
    for (PetscReal nu : {1., 1e-2, 1e-4, 1e-8}) {
      if (!in_turn(number++)) continue;
      INFO(one.name << ", ν = " << nu);
      const Lattice l = lattice(one.N);
      Grid          da;
      if (!try_make_grid(l, &da)) continue;
      Matrix A = captured(da, convection_fill(l, nu, one.wind, true));
      CHECK(iterations_to_solve(da, A) <= one.most);
    }
}

TEST_CASE("central differences are solved up to a cell Péclet number of 2", "[multigrid]") {
  for (const Wind &wind : {constant(1, 0.5, 0.2), Wind(rotate), Wind(meander)})
    for (const Point &N : {Point{65, 66, 1}, Point{16, 17, 18}}) {
      const Lattice l = lattice(N);
      Grid          da;
      INFO(N[0] << " x " << N[1] << " x " << N[2]);
      if (!try_make_grid(l, &da)) continue;
      Matrix A = captured(da, convection_fill(l, PetscReal(0.75) / (N[0] + 1), wind, false)); // |w| is up to 1.5
      CHECK(iterations_to_solve(da, A) <= 10);
    }
}

// -νΔu + div(w u) by upwind fluxes, of which none leaves the domain: columns add up to zero, and rows do not.
static Fill conserving_fill(const Lattice &l, PetscReal nu, const Wind &wind) {
  const PetscReal h = PetscReal(1) / l.N[0];
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const bool center = !arm[0] && !arm[1] && !arm[2];
    *block = 0;
    for (int a = 0; a < l.dim; a++)
      for (int way = -1; way <= 1; way += 2) {
        if (!center && arm[a] != way) continue;
        if (l.ends[a] != DM_BOUNDARY_PERIODIC && (p[a] + way < 0 || p[a] + way >= l.N[a])) continue;
        PetscReal x[3], w[3];
        for (int b = 0; b < 3; b++) x[b] = (p[b] + PetscReal(0.5)) * h;
        x[a] += way * h / 2;
        if (l.ends[a] == DM_BOUNDARY_PERIODIC) x[a] -= l.N[a] * h * PetscFloorReal(x[a] / (l.N[a] * h) + 1e-9);
        wind(x, w);
        const PetscReal out = way * w[a] * h;
        *block += center ? nu + PetscMax(out, 0) : -nu + PetscMin(out, 0);
      }
  };
}

TEST_CASE("conservative convection, whose matrix is singular, is solved where there is a solution", "[multigrid]") {
  const Lattice plane = lattice({33, 32, 1}), around = lattice({32, 31, 1}, {DM_BOUNDARY_PERIODIC}),
                thin = lattice({3, 41, 1}), space = lattice({16, 15, 14});
  for (const Lattice &l : {plane, around, thin, space}) {
    INFO(describe(l));
    Grid da;
    if (!try_make_grid(l, &da)) continue;
    Matrix    A = captured(da, conserving_fill(l, 1e-2, meander));
    Vector    u = random_vector(da, 3), b = make_vector(da), one = make_vector(da);
    PetscReal of_columns;
    OK(VecSet(one, 1));
    OK(MatMultTranspose(A, one, b));
    OK(VecNorm(b, NORM_INFINITY, &of_columns));
    CHECK(of_columns <= 1e-12); // they add up to zero
    OK(MatMult(A, u, b));
    CHECK(iterations_to_solve(A, b) <= 12);
  }
}

TEST_CASE("around periodic axes, with a box, in single precision, by each cycle, convection is solved too",
          "[multigrid]") {
  const Lattice around = lattice({64, 33, 1}, {DM_BOUNDARY_PERIODIC}), box = lattice({40, 41, 1}, {}, DMDA_STENCIL_BOX);
  for (const Lattice &l : {around, box}) {
    Grid da;
    REQUIRE(try_make_grid(l, &da));
    Matrix A = captured(da, convection_fill(l, 1e-3, constant(1, -0.7, 0), true));
    for (const char *options :
         {"", "-test_ksp_type fgmres -test_pc_stencilmg_precision single", "-test_pc_stencilmg_cycle_type v",
          "-test_pc_stencilmg_cycle_type w", "-test_pc_stencilmg_fused 0", "-test_pc_stencilmg_type full",
          "-test_pc_stencilmg_smooths 2"}) {
      INFO(options << ", " << (l.shape == DMDA_STENCIL_BOX ? "box" : "periodic"));
      CHECK(iterations_to_solve(da, A, options) <= 7);
    }
  }
}

TEST_CASE("rows of random couplings, one way stronger than the other, are solved", "[multigrid]") {
  const Lattice l = lattice({40, 30, 1});
  Grid          da;
  REQUIRE(try_make_grid(l, &da));
  Matrix A = captured(da, random_fill(l, Form::arrays, 1));
  CHECK(iterations_to_solve(da, A) <= 4);
}

TEST_CASE("the view says that a matrix is not symmetric, and which cycle serves it", "[multigrid][view]") {
  const Lattice l = lattice({40, 30, 1});
  Grid          da;
  REQUIRE(try_make_grid(l, &da));
  for (bool one_way : {true, false}) {
    Matrix            A = captured(da, convection_fill(l, 1, one_way ? Wind(rotate) : constant(0, 0, 0), true));
    Preconditioner    pc = make_pc(A);
    const std::string view = printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
    CHECK((view.find("F-cycle") != std::string::npos) == one_way);
    CHECK((view.find("the matrix is not symmetric") != std::string::npos) == one_way);
    CHECK((view.find("Gauss-Seidel in alternating directions") != std::string::npos) == one_way);
  }
}

TEST_CASE("a constant wind is served by weights of the rows, or where they differ much by transfers", "[multigrid]") {
  const Lattice l = lattice({65, 64, 1});
  Grid          da;
  REQUIRE(try_make_grid(l, &da));
  for (PetscReal size : {1., 10., 50., 300., 3000.})
    for (PetscReal other : {-0.7, 0.7}) {
      INFO("wind " << size << ", " << size * other);
      Matrix         A = captured(da, convection_fill(l, 1, constant(size, size * other, 0), true));
      Preconditioner pc = make_pc(A);
      const bool     weighted =
          printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); }).find("V-cycle") != std::string::npos;
      CHECK(weighted == (size < 40));
      CHECK(iterations_to_solve(da, A) <= 9);
    }
}
