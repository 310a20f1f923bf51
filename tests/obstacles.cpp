// Solid points of diffusion and advection_diffusion: rows against those assembled by hand, data of walls, multigrid.

#include "diffusion.hpp"
#include "multigrid.hpp"

using namespace tests;

namespace {

std::function<bool(const PetscInt i[3])> random_points(const Medium &m, PetscReal fraction, int seed) {
  const PetscInt N[] = {m.N[0], m.N[1]};
  return [=](const PetscInt i[3]) {
    return PetscRealPart(random_value((size_t)(i[0] + N[0] * (i[1] + N[1] * i[2])), seed)) < 2 * fraction - 1;
  };
}

// Any size, ends, k, mean, walls and share of the solid.
Medium random_medium(int seed, bool advection) {
  size_t     drawn = 0;
  const auto draw = [&](PetscInt n) {
    return PetscMin((PetscInt)((PetscRealPart(random_value(drawn++, seed)) + 1) / 2 * (PetscReal)n), n - 1);
  };
  Medium m;
  m.dim = 1 + (int)draw(3);
  for (int a = 0; a < m.dim; a++) {
    m.N[a] = a == m.dim - 1 && draw(4) == 0 ? 2 : 2 + draw(m.dim == 3 ? 6 : 12);
    m.lengths[a] = 0.5 + 0.25 * (PetscReal)draw(5);
    for (MatLaplaceBoundaryType &form : m.forms[a]) form = all_forms[draw(4)];
    const DMBoundaryType ends[] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR};
    m.ends[a] = ends[draw(4)];
  }
  m.sigma = draw(2) ? 0 : 2;
  m.wall = draw(2) ? MAT_DIFFUSION_WALL_VALUE : MAT_DIFFUSION_WALL_NOFLUX;
  m.mean = draw(2) ? MAT_DIFFUSION_ARITHMETIC : MAT_DIFFUSION_HARMONIC;
  m.on_faces = draw(3) == 0;
  m.k = [](const PetscReal x[]) { return rough(x, 1); };
  m.advection = advection;
  m.scheme = draw(2) ? MAT_ADVECTION_DIFFUSION_CENTRAL : MAT_ADVECTION_DIFFUSION_UPWIND;
  m.w = [](const PetscReal x[], int axis) { return 20 * (rough(x, 2 + axis) - 1); };
  const PetscReal share[] = {0.1, 0.4, 0.7, 1};
  m.solid = random_points(m, share[draw(4)], seed);
  return m;
}

// u = 1 + 2x − 3y + z/2 in the fluid, which all discretised conditions but those of mirrored and periodic axes keep exactly
constexpr PetscReal slope[] = {2, -3, 0.5};
PetscReal           linear(const PetscReal x[], int dim) {
            PetscReal value = 1;
            for (int a = 0; a < dim; a++) value += slope[a] * x[a];
  return value;
}
PetscErrorCode source(PetscInt dim, const PetscReal x[], PetscScalar *value, void *ctx) {
  const Medium &m = *static_cast<Medium *>(ctx);
  *value = m.sigma * linear(x, (int)dim);
  for (int a = 0; a < m.dim && m.advection; a++) *value += m.w(x, a) * slope[a];
  return PETSC_SUCCESS;
}
PetscErrorCode data(PetscInt dim, const PetscReal x[], PetscInt axis, PetscBool upper, PetscScalar *value, void *ctx) {
  const Medium   &m = *static_cast<Medium *>(ctx);
  const PetscReal outward = (upper ? 1 : -1) * slope[axis], end = m.x((int)axis, upper ? m.N[axis] - 1 : 0);
  const auto      form = m.forms[axis][upper ? 1 : 0];
  const bool      inside = upper ? x[axis] < end : x[axis] > end; // at a wall
  const bool      derivative = inside ? m.wall == MAT_DIFFUSION_WALL_NOFLUX : form == MAT_LAPLACE_NEUMANN;
  *value = derivative                             ? outward
           : !inside && form == MAT_LAPLACE_ROBIN ? outward + alpha * linear(x, (int)dim)
                                                  : linear(x, (int)dim);
  return PETSC_SUCCESS;
}

// A square or a cube, u = 0 around it.
Medium box(int dim, PetscInt N) {
  Medium m;
  m.dim = dim;
  for (int a = 0; a < dim; a++) m.N[a] = N;
  m.sigma = 0;
  return m;
}
// There and back again, with walls between its stretches.
std::function<bool(const PetscInt i[3])> channel(const Medium &m, PetscInt width, PetscInt period, PetscInt shift) {
  const PetscInt N = m.N[0];
  return [=](const PetscInt i[3]) {
    const PetscInt stretch = (i[1] + shift) / period;
    return (i[1] + shift) % period >= width && (stretch % 2 ? i[0] >= width : i[0] < N - width);
  };
}
std::function<bool(const PetscInt i[3])> ball(const Medium &m, PetscReal radius) {
  return [=](const PetscInt i[3]) {
    PetscReal square = 0;
    for (int a = 0; a < m.dim; a++) square += PetscSqr(m.x(a, i[a]) - 0.5);
    return square < PetscSqr(radius);
  };
}

} // namespace

TEST_CASE("solid points have the rows of a textbook", "[obstacles]") {
  for (bool advection : {false, true})
    for (int seed = 1; seed <= 150; seed++) {
      Grid         da;
      Matrix       A;
      const Medium m = random_medium(seed, advection);
      if (!in_turn(seed)) continue;
      INFO(describe(m) << ", seed " << seed << ", " << MatDiffusionWallTypes[m.wall]);
      if (!make(m, da, A)) continue;
      check_operator(A, assemble_by_hand(m, da), da);
    }
}

TEST_CASE("solid points on axes of one point", "[obstacles]") {
  for (MatLaplaceBoundaryType lower : all_forms)
    for (MatLaplaceBoundaryType upper : all_forms) {
      Grid   da;
      Matrix A;
      Medium m;
      m.dim = 2;
      m.N[0] = 6;
      m.forms[1][0] = lower, m.forms[1][1] = upper;
      m.sigma = 0;
      m.solid = [](const PetscInt i[3]) { return i[0] == 2 || i[0] == 4; };
      INFO(describe(m));
      if (!make(m, da, A, false)) continue;
      check_operator(A, assemble_by_hand(m, da), da);
    }
}

TEST_CASE("walls take data like the sides of the domain", "[obstacles]") {
  for (bool advection : {false, true})
    for (int seed = 1; seed <= 100; seed++) {
      Grid   da;
      Matrix A;
      Medium m = random_medium(seed, advection);
      if (!in_turn(seed)) continue;
      for (int a = 0; a < m.dim; a++) m.ends[a] = DM_BOUNDARY_NONE;
      if (m.solid) m.k = [](const PetscReal[]) { return 1.5; };
      INFO(describe(m) << ", seed " << seed << ", " << MatDiffusionWallTypes[m.wall]);
      if (!make(m, da, A)) continue;
      Vector    u = make_vector(da), b = make_vector(da), Au = make_vector(da);
      PetscReal size, error;
      set_values(da, u, [&](const PetscInt i[3]) {
        PetscReal x[3];
        m.place(i, x);
        return is_fixed(m, i) ? PetscScalar(0) : PetscScalar(linear(x, m.dim));
      });
      OK(MatLaplaceSetRightHandSide(A, source, data, &m, b));
      OK(MatMult(A, u, Au));
      OK(VecAXPY(Au, -1, b));
      OK(VecNorm(Au, NORM_INFINITY, &error));
      OK(MatNorm(A, NORM_INFINITY, &size));
      CHECK(error <= 100 * exact * size);
    }
}

TEST_CASE("with a constant k rows beside walls are stored once", "[obstacles]") {
  Grid    da;
  Matrix  A;
  Medium  m = box(2, 65);
  MatInfo info;
  m.solid = random_points(m, 0.3, 5);
  REQUIRE(make(m, da, A, false));
  check_operator(A, assemble_by_hand(m, da), da);
  OK(MatDestroy(&A));
  REQUIRE(make(m, da, A, false));
  OK(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  CHECK(info.memory < 8 * 65 * 65); // one number a point
}

TEST_CASE("an operator follows its mask, and works as before without one", "[obstacles]") {
  Grid   da;
  Matrix A, twin, target;
  Medium m = box(2, 12);
  m.k = [](const PetscReal x[]) { return rough(x, 1); };
  REQUIRE(make(m, da, A));
  Matrix before = assemble_by_hand(m, da);
  check_operator(A, before, da);
  m.solid = random_points(m, 0.3, 1);
  Vector values = mask(m, da), other;
  OK(MatDiffusionSetMask(A, values));
  check_operator(A, assemble_by_hand(m, da), da);
  OK(MatDuplicate(A, MAT_COPY_VALUES, &twin));
  OK(VecDuplicate(values, &other));
  m.solid = random_points(m, 0.5, 2);
  Matrix now = assemble_by_hand(m, da);
  OK(VecCopy(mask(m, da), values)); // the state of the vector is raised
  check_operator(A, now, da);
  check_operator(twin, now, da);
  OK(MatDiffusionSetWall(A, MAT_DIFFUSION_WALL_VALUE));
  m.wall = MAT_DIFFUSION_WALL_VALUE;
  check_operator(A, assemble_by_hand(m, da), da);
  check_operator(twin, now, da);
  OK(MatDiffusionSetMask(A, NULL));
  check_operator(A, before, da);
  OK(MatCopy(twin, A, SAME_NONZERO_PATTERN));
  check_operator(A, now, da);
}

TEST_CASE("a mask that is wrong is one error, and changes nothing", "[obstacles]") {
  Grid     da;
  Matrix   A;
  PetscInt first, last;
  Medium   m = box(2, 7);
  m.k = [](const PetscReal x[]) { return rough(x, 1); };
  m.solid = random_points(m, 0.3, 1);
  REQUIRE(make(m, da, A));
  Matrix B = assemble_by_hand(m, da);
  Vector wrong = mask(m, da), k = coefficient(m, da);
  OK(VecGetOwnershipRange(wrong, &first, &last));
  if (last == 49) OK(VecSetValue(wrong, 48, NAN, INSERT_VALUES));
  OK(VecAssemblyBegin(wrong));
  OK(VecAssemblyEnd(wrong));
  CHECK(error_problem(PETSC_ERR_ARG_OUTOFRANGE, {"mask is nan", "fluid", "solid"},
                      [&] { return MatDiffusionSetMask(A, wrong); }) == "");
  Vector shorter;
  OK(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 5, &shorter));
  CHECK(error_problem(PETSC_ERR_ARG_SIZ, {"mask"}, [&] { return MatDiffusionSetMask(A, shorter); }) == "");
  CHECK(error_problem(PETSC_ERR_ARG_OUTOFRANGE, {"wall 7", "noflux"},
                      [&] { return MatDiffusionSetWall(A, (MatDiffusionWallType)7); }) == "");
  check_operator(A, B, da);
  m.solid = nullptr; // k is still no number at points that were solid
  CHECK(error_problem(PETSC_ERR_ARG_OUTOFRANGE, {"coefficient k is nan"},
                      [&] { return MatDiffusionSetMask(A, NULL); }) == "");
  check_operator(A, B, da);
}

TEST_CASE("grids that are solid but for one point, or altogether, are solved", "[obstacles]") {
  for (int dim = 1; dim <= 3; dim++)
    for (auto wall : {MAT_DIFFUSION_WALL_NOFLUX, MAT_DIFFUSION_WALL_VALUE})
      for (bool all : {false, true}) {
        Grid     da;
        Matrix   A;
        Medium   m = box(dim, 9);
        PetscInt iterations;
        m.wall = wall;
        m.solid = [=](const PetscInt i[3]) {
          return all || i[0] != 4 || (dim > 1 && i[1] != 4) || (dim > 2 && i[2] != 4);
        };
        INFO(describe(m) << ", " << MatDiffusionWallTypes[wall] << (all ? ", all solid" : ""));
        REQUIRE(make(m, da, A));
        Matrix B = assemble_by_hand(m, da);
        check_operator(A, B, da);
        Vector b = random_vector(da, 1), x = make_vector(da);
        CHECK(solve(A, b, x, "-test_ksp_type cg -test_ksp_rtol 1e-10", &iterations) > 0);
        CHECK(relative_residual(B, b, x) <= 1e-9);
        CHECK(iterations <= 2);
      }
}

TEST_CASE("multigrid solves flows around obstacles", "[obstacles]") {
  struct Case {
    const char          *name;
    int                  dim;
    PetscInt             N, most;
    MatDiffusionWallType wall;
  };
  const Case cases[] = {
      {"disc", 2, 257, 8, MAT_DIFFUSION_WALL_NOFLUX},  {"disc", 2, 64, 10, MAT_DIFFUSION_WALL_VALUE},
      {"rocks", 2, 60, 14, MAT_DIFFUSION_WALL_NOFLUX}, {"rocks", 2, 60, 10, MAT_DIFFUSION_WALL_VALUE},
      {"ball", 3, 17, 12, MAT_DIFFUSION_WALL_NOFLUX},  {"rocks", 3, 15, 14, MAT_DIFFUSION_WALL_NOFLUX},
      {"thin", 2, 40, 20, MAT_DIFFUSION_WALL_NOFLUX},  {"channel", 2, 40, 14, MAT_DIFFUSION_WALL_NOFLUX}};
  int number = 0;
  for (const Case &c : cases) {
    if (!in_turn(number++)) continue;
    Grid              da;
    Matrix            A;
    Medium            m = box(c.dim, c.N);
    PetscInt          iterations;
    const std::string name = c.name;
    m.wall = c.wall;
    m.k = [](const PetscReal x[]) { return PetscExpReal(x[0] - x[1]); };
    m.solid = name == "rocks" ? random_points(m, 0.3, 4) : ball(m, 0.2);
    if (name == "thin") m.N[1] = 2;
    if (name == "channel") // of one cell's width, there and back again
      m.solid = [=](const PetscInt i[3]) { return i[1] % 2 && i[0] != (i[1] % 4 == 1 ? c.N - 1 : 0); };
    INFO(describe(m) << ", " << name << ", " << MatDiffusionWallTypes[m.wall]);
    REQUIRE(make(m, da, A));
    Matrix B = assemble_by_hand(m, da);
    Vector u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
    OK(MatMult(B, u, b)); // closed pockets are singular
    CHECK(solve(A, b, x, "-test_ksp_type cg -test_ksp_rtol 1e-8", &iterations) > 0);
    CHECK(relative_residual(B, b, x) <= 1e-6);
    CHECK(iterations <= c.most);
  }
}

TEST_CASE("multigrid solves flows around random obstacles of any size", "[obstacles]") {
  for (int seed = 1; seed <= 60; seed++) {
    Grid     da;
    Matrix   A;
    Medium   m = random_medium(seed, false);
    PetscInt iterations;
    if (m.dim == 1) continue; // elimination solves it
    m.wall = seed % 8 ? MAT_DIFFUSION_WALL_NOFLUX : MAT_DIFFUSION_WALL_VALUE;
    for (int a = 0; a < m.dim; a++) m.N[a] = m.dim == 3 ? 3 * m.N[a] : 6 * m.N[a] + a;
    m.k = [](const PetscReal x[]) { return 1 + 0.5 * std::sin(5 * x[0]); };
    const PetscInt width = 1 + seed % 3, period = width + 1 + seed % 2, shift = seed % 5; // in cells, of channels
    switch (seed % 4) {
    case 0:
      m.solid = channel(m, width, period, shift);
      break;
    case 1: // stairs
      m.solid = [=](const PetscInt i[3]) { return (i[0] + i[1] + i[2] + shift) % (2 * period) >= 2 * width; };
      break;
    default:
      m.solid = random_points(m, seed % 4 == 2 ? 0.2 : 0.45, seed);
    }
    if (!in_turn(seed)) continue;
    INFO(describe(m) << ", seed " << seed << ", " << MatDiffusionWallTypes[m.wall]);
    if (!make(m, da, A)) continue;
    Matrix B = assemble_by_hand(m, da);
    Vector u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
    OK(MatMult(B, u, b)); // closed pockets are singular
    for (const char *way : {"", " -test_pc_stencilmg_precision single", " -test_pc_stencilmg_cycle_type w"}) {
      CHECK(solve(A, b, x, std::string("-test_ksp_type cg -test_ksp_rtol 1e-8") + way, &iterations) > 0);
      CHECK(relative_residual(B, b, x) <= 1e-6);
      CHECK(iterations <= 20);
    }
  }
}

// Whose walls no coarse grid has between its points.
TEST_CASE("narrow channels are solved by any method, and their levels follow a change", "[obstacles]") {
  for (bool alone : {false, true}) { // algebraic multigrid, without a grid's
    Grid     da;
    Matrix   A;
    Medium   m = box(2, 66);
    PetscInt iterations;
    m.solid = alone ? random_points(m, 0.3, 3) : channel(m, 2, 3, 1);
    INFO(describe(m) << (alone ? ", random points" : ", a channel"));
    REQUIRE(make(m, da, A));
    Vector u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
    Solver ksp;
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOptionsPrefix(ksp, "test_"));
    const auto solve_again = [&] { // with the levels of before
      Options set("-test_ksp_type cg -test_ksp_rtol 1e-8 -test_pc_type stencilmg");
      OK(KSPSetOperators(ksp, A, A));
      OK(KSPSetFromOptions(ksp));
      OK(KSPSolve(ksp, b, x));
      OK(KSPGetIterationNumber(ksp, &iterations));
      CHECK(iterations <= 12);
      CHECK(relative_residual(A, b, x) <= 1e-6);
    };
    for (PetscReal sigma : {0., 30.}) {
      OK(MatShift(A, sigma));
      m.sigma = sigma;
      OK(MatMult(A, u, b));
      CHECK(asymmetry(make_pc(A), da) <= 1e-10);
      for (const char *way :
           {"cg", "cg -test_pc_stencilmg_type full", "richardson -test_ksp_max_it 60",
            "cg -test_pc_stencilmg_multiplicative_cycles 2", "bicg", "gmres -test_pc_stencilmg_levels 9"}) {
        INFO(way << ", shift " << sigma);
        CHECK(solve(A, b, x, std::string("-test_ksp_rtol 1e-8 -test_ksp_max_it 400 -test_ksp_type ") + way,
                    &iterations) > 0);
        CHECK(relative_residual(A, b, x) <= 1e-6);
        CHECK(iterations <= (strstr(way, "levels") ? 400 : 60));
      }
      solve_again();
      const std::string text = printed([&] { OK(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD)); });
      CHECK(text.find("algebraic multigrid") != std::string::npos);
      CHECK((text.find("levels updated") != std::string::npos) == (sigma != 0 && !alone));
    }
    for (bool anew : {false, true}) { // a negative definite matrix is served, too
      OK(MatScale(A, anew ? 3 : -2));
      OK(MatMult(A, u, b));
      if (anew) OK(KSPReset(ksp));
      solve_again();
    }
  }
}

TEST_CASE("pockets that walls close are solved if there is a solution, and otherwise not", "[obstacles]") {
  for (bool all : {false, true}) // the fluid as a whole, by ends without a flux
    for (int dim : {2, 3}) {
      Grid         da;
      Matrix       A;
      Medium       m = box(dim, dim == 2 ? 33 : 13);
      PetscInt     iterations;
      MatNullSpace attached, fluid;
      for (int a = 0; a < dim && all; a++) m.forms[a][0] = m.forms[a][1] = MAT_LAPLACE_NEUMANN;
      m.solid = [=](const PetscInt i[3]) {
        PetscInt most = 0;
        for (int a = 0; a < dim; a++) most = PetscMax(most, PetscAbs(i[a] - 6));
        return all ? most <= 2 : most == 4;
      };
      INFO(describe(m));
      REQUIRE(make(m, da, A));
      OK(MatGetNullSpace(A, &attached));
      CHECK(attached == NULL);
      Matrix B = assemble_by_hand(m, da);
      Vector u = random_vector(da, 1), b = make_vector(da), x = make_vector(da), fluid_points = make_vector(da);
      set_values(da, fluid_points, [&](const PetscInt i[3]) { return PetscScalar(m.is_solid(i) ? 0 : 1); });
      OK(MatMult(B, u, b));
      CHECK(solve(A, b, x, "-test_ksp_type cg -test_ksp_rtol 1e-8", &iterations) > 0);
      CHECK(relative_residual(B, b, x) <= 1e-6);
      OK(VecPointwiseMult(u, u, fluid_points));
      const auto reason = solve(A, u, x, "-test_ksp_type cg -test_ksp_rtol 1e-8 -test_ksp_max_it 100", &iterations);
      CHECK((reason < 0 || relative_residual(B, u, x) <= 1e-6));
      if (!all) continue;
      Vec one = fluid_points;
      OK(VecNormalize(one, NULL));
      OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &one, &fluid));
      OK(MatSetNullSpace(A, fluid));
      OK(MatNullSpaceDestroy(&fluid));
      CHECK(solve(A, u, x, "-test_ksp_type cg -test_ksp_rtol 1e-8", &iterations) > 0);
      CHECK(iterations <= 12);
    }
}

TEST_CASE("laplace and helmholtz have the rows of diffusion with k = 1 around solid points", "[obstacles]") {
  for (bool shifted : {false, true})
    for (int seed = 1; seed <= 60; seed++) {
      Medium m = random_medium(seed, false);
      Grid   da;
      Matrix A;
      if (!in_turn(seed) || (m.dim == 1 && m.N[0] < 4)) continue; // PETSc's MatIsSymmetric() reads beyond empty rows
      m.sigma = shifted ? 2 : 0, m.on_faces = false, m.k = [](const PetscReal[]) { return 1; };
      INFO(describe(m) << ", seed " << seed << ", " << MatDiffusionWallTypes[m.wall]);
      if (!begin(m, shifted ? MATHELMHOLTZ : MATLAPLACE, da, A)) continue;
      const bool late = seed % 2;
      if (late) OK(MatSetUp(A));
      OK(MatDiffusionSetMask(A, mask(m, da)));
      OK(MatDiffusionSetWall(A, m.wall));
      OK(MatSetUp(A));
      if (shifted) OK(MatHelmholtzSetShift(A, m.sigma));
      check_operator(A, assemble_by_hand(m, da), da);
      OK(MatDiffusionSetMask(A, NULL));
      m.solid = nullptr;
      check_operator(A, assemble_by_hand(m, da), da);
    }
}

TEST_CASE("laplace takes data of walls and is solved by multigrid around solid points", "[obstacles]") {
  for (MatDiffusionWallType wall : {MAT_DIFFUSION_WALL_NOFLUX, MAT_DIFFUSION_WALL_VALUE}) {
    Grid     da;
    Matrix   A;
    Medium   m = box(2, 33);
    PetscInt iterations;
    m.wall = wall, m.solid = ball(m, 0.3);
    INFO(MatDiffusionWallTypes[wall]);
    REQUIRE(begin(m, MATLAPLACE, da, A));
    OK(MatDiffusionSetMask(A, mask(m, da)));
    OK(MatDiffusionSetWall(A, wall));
    OK(MatSetUp(A));
    Vector u = make_vector(da), f = make_vector(da), b = make_vector(da), x = make_vector(da);
    set_values(da, u, [&](const PetscInt i[3]) {
      PetscReal at[3];
      m.place(i, at);
      return PetscScalar(m.is_solid(i) ? 0 : linear(at, 2));
    });
    OK(VecSet(f, 0));
    OK(MatLaplaceSetRightHandSide(A, source, data, &m, b));
    CHECK(solve(A, b, x, "-test_ksp_type cg -test_ksp_rtol 1e-12", &iterations) > 0);
    CHECK(iterations <= 20);
    CHECK(difference(x, u) <= 1e-9);
    CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("solid where") != std::string::npos);
  }
}

TEST_CASE("an option's formula says which points are solid", "[obstacles]") {
  Medium m = box(2, 9);
  m.lengths[0] = 2, m.N[1] = 7;
  m.solid = [=](const PetscInt i[3]) {
    const PetscReal x = m.x(0, i[0]), y = m.x(1, i[1]);
    return (x > 1.1 && !(y < 0.3)) || std::abs(x - 0.5) + PetscMax(y, 0.2) < 0.4 * std::sqrt(2.);
  };
  const std::string formula = "(x>1.1&&!(y<0.3))||abs(x-0.5)+max(y,pi/pi*0.2)<0.4*2^0.5?-3:0";
  for (const std::string type : {MATLAPLACE, MATHELMHOLTZ, MATDIFFUSION, MATADVECTIONDIFFUSION})
    for (bool late : {false, true}) {
      Grid   da;
      Matrix A;
      INFO(type << late);
      REQUIRE(begin(m, type.c_str(), da, A));
      if (late) OK(MatSetUp(A));
      {
        Options options("-mat_" + type + "_mask " + formula + " -mat_" + type + "_wall value");
        OK(MatSetFromOptions(A));
      }
      OK(MatSetUp(A));
      m.wall = MAT_DIFFUSION_WALL_VALUE;
      check_operator(A, assemble_by_hand(m, da), da);
    }
}

TEST_CASE("masks by formula and of boxes that cannot be", "[misuse]") {
  Grid   da;
  Matrix A;
  Medium m = box(2, 9);
  REQUIRE(begin(m, MATLAPLACE, da, A));
  for (const auto &c : std::vector<std::array<std::string, 2>>{{"q<1", "q is not known"},
                                                               {"z<1", "z is not known"},
                                                               {"max(x)", "max takes 2 arguments"},
                                                               {"(x<1", "-mat_laplace_mask"}}) {
    Options options("-mat_laplace_mask " + c[0]);
    EXPECT_ERROR(PETSC_ERR_USER, ({"-mat_laplace_mask " + c[0], c[1]}), [&] { return MatSetFromOptions(A); });
  }
  OK(MatLaplaceSetShape(A, MAT_LAPLACE_BOX));
  OK(MatDiffusionSetMask(A, mask(m, da)));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"mask", "box", "star"}), [&] { return MatSetUp(A); });
}
