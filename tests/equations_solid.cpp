// Solid cells in equations as text: against the rows of diffusion among obstacles, exact solutions, difference quotients.

#include "diffusion.hpp"
#include "equations.hpp"
#include "misuse.hpp"

using namespace tests;

static Grid grid_with(const std::string &text, PetscInt dim, PetscInt N, PetscInt dof = 1,
                      DMBoundaryType ends = DM_BOUNDARY_NONE, PetscInt width = 1) {
  Lattice l;
  Grid    da;
  l.dim = dim, l.dof = dof, l.width = width;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N + a : 1, l.ends[a] = a < dim ? ends : DM_BOUNDARY_NONE;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}
static Vector scalars(DM da, const std::function<PetscScalar(const PetscInt p[3])> &f) { // one at a point
  Grid of_field;
  OK(DMDACreateCompatibleDMDA(da, 1, &of_field));
  Vector v = make_vector(of_field);
  set_values(of_field, v, f);
  return v;
}
static bool is_random(const PetscInt p[3], int seed, PetscReal fraction = 0.3) {
  return PetscRealPart(random_value((size_t)(p[0] + 50 * (p[1] + 50 * p[2])), seed)) < 2 * fraction - 1;
}
static void set_mask(DM da, int seed) {
  OK(DMDAEquationSetField(da, "solid",
                          scalars(da, [=](const PetscInt p[3]) { return is_random(p, seed) ? -0.5 : 0.; })));
}

// The same medium as text. No side is of the form identity, whose rows have a scale here.
static Medium random_medium(int seed) {
  size_t     drawn = 0;
  const auto draw = [&](PetscInt n) {
    return PetscMin((PetscInt)((PetscRealPart(random_value(drawn++, seed)) + 1) / 2 * (PetscReal)n), n - 1);
  };
  const MatLaplaceBoundaryType forms[] = {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_NEUMANN, MAT_LAPLACE_ROBIN};
  const DMBoundaryType         ends[] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR};
  Medium                       m;
  m.dim = 1 + seed % 3;
  for (int a = 0; a < m.dim; a++) {
    m.N[a] = 4 + draw(m.dim == 3 ? 3 : 8);
    m.lengths[a] = 0.5 + 0.25 * (PetscReal)draw(5);
    for (MatLaplaceBoundaryType &form : m.forms[a]) form = forms[draw(3)];
    m.ends[a] = ends[draw(4)];
  }
  m.wall = draw(2) ? MAT_DIFFUSION_WALL_VALUE : MAT_DIFFUSION_WALL_NOFLUX;
  bool mirrored = false; // beyond such an end a text's field has no mirrored values
  for (const auto end : m.ends) mirrored = mirrored || end == DM_BOUNDARY_MIRROR;
  m.k = [=](const PetscReal x[]) { return mirrored ? 1.5 : rough(x, 1); };
  m.advection = draw(2);
  m.scheme = draw(2) ? MAT_ADVECTION_DIFFUSION_CENTRAL : MAT_ADVECTION_DIFFUSION_UPWIND;
  m.w = [](const PetscReal x[], int axis) { return 20 * (rough(x, 2 + axis) - 1); };
  const PetscReal share = 0.1 + 0.3 * (PetscReal)draw(3);
  m.solid = [=](const PetscInt i[3]) { return is_random(i, seed, share); };
  return m;
}
static std::string text_of(const Medium &m) {
  static const char *const names[] = {"eliminated", "identity", "neumann", "robin"};
  std::string              text = "domain(", row = "residual = -d(k, u) + 2*u";
  for (int a = 0; a < m.dim; a++) text += (a ? ", 0, " : "0, ") + std::to_string(m.lengths[a]);
  text += ")\nfield(solid)\nfield(k)\n";
  for (int a = 0; a < m.dim; a++) {
    const std::string axis(1, "xyz"[a]), w = "w" + axis;
    for (int side = 0; side < 2 && m.open(a); side++)
      text += std::string(names[m.forms[a][side]]) + "(" + shellac::side_names[a][side] +
              (m.forms[a][side] == MAT_LAPLACE_ROBIN ? ", 1.5)\n" : ")\n");
    if (!m.advection) continue;
    text += "field(" + w + ")\n";
    row += m.scheme == MAT_ADVECTION_DIFFUSION_UPWIND ? " + upwind_" + axis + "(" + w + ", u)"
                                                      : " + " + w + "*d" + axis + "(u)";
  }
  return text + (m.wall == MAT_DIFFUSION_WALL_VALUE ? "dirichlet(solid)\n" : "") + row;
}

TEST_CASE("equations among solid cells have the rows of diffusion", "[equations]") {
  if (!equations_work(true)) return;
  for (int seed = 1; seed <= 12; seed++) {
    const Medium      m = random_medium(seed);
    const std::string text = text_of(m);
    Grid              da;
    Matrix            A, J;
    INFO(describe(m) << ", seed " << seed << "\n" << text);
    if (!begin(m, m.advection ? MATADVECTIONDIFFUSION : MATDIFFUSION, da, A)) continue;
    set_equation(da, text);
    const auto in_fluid = [&](const PetscInt p[3], PetscReal value) { return m.is_solid(p) ? 777 : value; };
    OK(DMDAEquationSetField(da, "solid", mask(m, da)));
    OK(DMDAEquationSetField(da, "k", scalars(da, [&](const PetscInt p[3]) { return in_fluid(p, m.k_at(p)); })));
    for (int a = 0; a < m.dim && m.advection; a++)
      OK(DMDAEquationSetField(da, (std::string("w") + "xyz"[a]).c_str(),
                              scalars(da, [&](const PetscInt p[3]) { return in_fluid(p, m.w_at(p, a)); })));
    const Matrix B = assemble_by_hand(m, da);
    Vector       u = random_vector(da, 1), f = make_vector(da), g = make_vector(da);
    for (const char *type : {MATAIJ, MATSTENCILSHELL, MATEQUATION}) {
      INFO(type);
      J = jacobian(da, u, type);
      if (std::string(type) != MATEQUATION) CHECK(difference(J, B) < 1e-13);
      OK(MatMult(J, u, f));
      OK(MatMult(B, u, g));
      CHECK(difference(f, g) < 1e-13);
      OK(MatGetDiagonal(J, f));
      OK(MatGetDiagonal(B, g));
      CHECK(difference(f, g) < 1e-13);
      CHECK(difference_of_transposes(J, B, u) < 1e-13);
    }
    OK(compute_values(da, 0, u, f));
    OK(MatMult(B, u, g));
    CHECK(difference(f, g) < 1e-13);
  }
}

// Its differences are exact, so the sources, the data of sides and of walls are.
TEST_CASE("a linear solution is that of differences, with the data of walls", "[equations]") {
  if (!equations_work(true)) return;
  const char *const exact[] = {"exact = 1 + 2*x\n", "exact = 1 + 2*x - 3*y\n", "exact = 1 + 2*x - 3*y + z/2\n"};
  for (PetscInt dim = 1; dim <= 3; dim++)
    for (const std::string walls : {"", "dirichlet(solid)\n", "neumann(solid)\n"})
      for (const std::string other : {"", "identity(sides)\n", "stretch(x, geometric, 3)\nrobin(sides, 2)\n"}) {
        Grid da = grid_with(
            exact[dim - 1] + walls + other + "field(solid)\nfield(k) = 2\nresidual = -d(k, u) + u + u*dx(u)", dim, 7);
        Vector    u = make_vector(da), f = make_vector(da);
        PetscReal size;
        INFO(dim << walls << other);
        set_mask(da, 3);
        OK(DMDAEquationComputeExact(da, 0, u));
        OK(compute_values(da, 0, u, f));
        OK(VecNorm(f, NORM_INFINITY, &size));
        CHECK(size < 1e-10);
        const auto values = natural_values(da, u);
        for_each_owned(da, [&](const PetscInt p[3]) {
          const size_t at = (size_t)(p[0] + 7 * (p[1] + 8 * p[2]));
          if (is_random(p, 3)) CHECK(values[at] == PetscScalar(0));
        });
      }
}

// u'' = -1 between walls where u is g: the parabola, and h²/8 more, as the walls are between points.
TEST_CASE("a channel between walls has the parabola of differences", "[equations]") {
  if (!equations_work(true)) return;
  const std::string value = PetscDefined(USE_COMPLEX) ? "real(k)" : "k",
                    text = "parameter(a, 0.2)\nparameter(g, 3)\nneumann(sides)\nfield(k) = x - a\nsolid = " + value +
                           " < 0 || x > 0.7\ndirichlet(solid) = g\nresidual = -laplacian(u) - 1";
  for (PetscInt dim = 1; dim <= 3; dim++)
    for (const char *solver : {"-dm_mat_type aij", "-dm_mat_type stencil -pc_type stencilmg",
                               "-dm_mat_type equation -pc_type jacobi -ksp_type gmres -ksp_gmres_restart 200"}) {
      INFO(dim << " " << solver);
      Options options(solver + std::string(" -ksp_rtol 1e-13 -snes_rtol 1e-13"));
      Lattice l;
      Grid    da;
      Vector  u;
      l.dim = dim, l.N[0] = 20, l.N[1] = dim > 1 ? 5 : 1, l.N[2] = dim > 2 ? 4 : 1;
      OK(make_grid(l, nullptr, &da));
      set_equation(da, text);
      for (PetscReal a : {0.2, 0.4}) {
        PetscInt its;
        OK(DMDAEquationSetParameter(da, "a", a));
        OK(solve(da, &u, &its));
        const auto values = natural_values(da, u);
        for (size_t i = 0; i < values.size(); i++) {
          const PetscReal h = 0.05, x = ((PetscReal)(i % 20) + 0.5) * h, s = x - a, width = 0.7 - a;
          CHECK(PetscAbsScalar(values[i] - (s < 0 || s > width ? 0 : 3 + s * (width - s) / 2 + h * h / 8)) < 1e-9);
        }
      }
    }
}

TEST_CASE("a linear solver follows a mask that changes", "[equations]") {
  if (!equations_work(true)) return;
  Grid   da = grid_with("field(solid)\ndirichlet(solid) = 1 + y\nresidual = -laplacian(u) + u - x", 2, 20);
  Solver ksp;
  PC     pc;
  Vector u = make_vector(da), f = make_vector(da);
  OK(DMSetMatType(da, MATSTENCILSHELL));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetDM(ksp, da));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCSTENCILMG));
  OK(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 40));
  for (int seed = 1; seed <= 2; seed++) {
    KSPConvergedReason reason;
    PetscReal          size;
    set_mask(da, seed);
    OK(KSPSolve(ksp, NULL, u));
    OK(KSPGetConvergedReason(ksp, &reason));
    CHECK(reason > 0);
    OK(compute_values(da, 0, u, f));
    OK(VecNorm(f, NORM_INFINITY, &size));
    CHECK(size < 1e-7);
    const auto values = natural_values(da, u);
    for (PetscInt n = 0; n < 20 * 21; n++) {
      const PetscInt p[3] = {n % 20, n / 20, 0};
      CHECK((PetscAbsScalar(values[(size_t)n]) < 1e-12) == is_random(p, seed));
    }
  }
}

TEST_CASE("Jacobians among solid cells, of systems, formulas at neighbours, and rates", "[equations]") {
  if (!equations_work(true)) return;
  const std::string head = "unknowns(u, v)\nsolid = (x - 0.4)^2 + (y - 0.5)^2 < 0.05 || x > 0.7 && y < 0.3\n";
  for (const char *rows :
       {"dirichlet(solid, v) = x - t\nneumann(solid, u) = y\nresidual(u) = -laplacian(u*v) + v*dx(u)\n"
        "residual(v) = v^3 - laplacian(v^2 - u)",
        "dirichlet(solid, v)\nidentity(sides) = 2 + y\nrate(u) = d(1 + u^2, u) + upwind_x(v, u)\n"
        "rate(v) = -rusanov_y(v^2, v, v) - hll_x(u*v, v, u, v)",
        "stretch(x, geometric, 3)\nneumann(solid) = 1\nrate(u) = d(v, u)\nrate(v) = d(u, v) + mean(x)*u"}) {
    if (PetscDefined(USE_COMPLEX) && strstr(rows, "upwind_x")) continue; // velocities are real
    INFO(rows);
    Grid da = grid_with(head + rows, 2, 9, 2);
    CHECK(jacobian_difference(da) < 1e-6);
  }
  Grid da =
      grid_with("solid = abs(x - 0.5) < 0.2 && y < 0.5\nperiodic(x)\nrate = d(exp(u), u) + 3*u(0, 1)*u(0, -1) - u(1)",
                2, 8, 1, DM_BOUNDARY_PERIODIC, 2); // a wider stencil than is read
  CHECK(jacobian_difference(da) < 1e-6);
}

static PetscScalar sum_of(Vec u) {
  PetscScalar sum;
  OK(VecSum(u, &sum));
  return sum;
}

// Nothing flows through walls; solid cells keep their state.
TEST_CASE("rates among solid cells keep what there is, and leave the solid", "[equations]") {
  if (!equations_work()) return;
  const std::string text = "neumann(sides)\nsolid = (x - 0.4)^2 + (y - 0.5)^2 < 0.05\ninitial = exp(-30*(x - 0.1)^2)\n";
  const bool        implicit[] = {false, true};
  for (const char *row : {"rate = laplacian(u)", "rate = d(1 + x, u) + mean(u) - u"})
    for (const std::string type : {"aij", "stencil -pc_type stencilmg", "equation -pc_type jacobi"})
      for (const bool is_implicit : implicit) {
        if (is_implicit && row[7] == 'd' && type[0] != 'e') continue; // the Jacobian is full
        INFO(row << " " << type);
        Options options("-dm_mat_type " + type + " -ksp_rtol 1e-12 -snes_rtol 1e-12");
        Grid    da = grid_with(text + row, 2, 16);
        Vector  u = make_vector(da);
        OK(DMDAEquationComputeInitial(da, u));
        const PetscScalar before = sum_of(u);
        OK(TSSolve(is_implicit ? stepper(da, TSBEULER, 1e-2, 5e-2) : stepper(da, TSRK, 1e-4, 2e-3), u));
        CHECK(PetscAbsScalar(sum_of(u) - before) < 1e-9 * PetscAbsScalar(before));
        const auto values = natural_values(da, u);
        size_t     zeros = 0;
        for (const PetscScalar value : values) zeros += value == PetscScalar(0);
        CHECK(zeros > 30);
        CHECK(zeros < 60);
      }
}

TEST_CASE("algebraic unknowns and waves among solid cells", "[equations]") {
  if (!equations_work()) return;
  const char *const texts[] = {
      "unknowns(u, m)\nneumann(sides)\nsolid = x + y < 0.6\ninitial(u) = 0.1*sin(9*x)*sin(7*y)\nrate(u) = "
      "laplacian(m)\n"
      "residual(m) = m - (u^3 - u - 4e-4*laplacian(u))",
      "unknowns(h, q)\nneumann(sides)\nsolid = x < 0.2 || x > 0.8\ndirichlet(solid, q)\ninitial(h) = 1 + 0.1*(x < "
      "0.5)\n"
      "s = abs(q/max(h, 0.1)) + sqrt(9.81*max(h, 0.1))\nrate(h) = -rusanov_x(q, s, h)\nrate(q) = -rusanov_x(q^2/max(h, "
      "0.1) + 9.81/2*h^2, s, q)"};
  for (int waves = 0; waves < 2; waves++) {
    INFO(texts[waves]);
    Options options("-ksp_rtol 1e-12 -snes_rtol 1e-12 -initial_ksp_rtol 1e-12");
    Grid    da = grid_with(texts[waves], 2, 16, 2);
    Vector  u = make_vector(da), first = scalars(da, [](const PetscInt[]) { return 0; }), last = copy_of(first);
    OK(DMDAEquationComputeInitial(da, u));
    OK(VecStrideGather(u, 0, first, INSERT_VALUES));
    OK(TSSolve(stepper(da, waves ? TSSSP : TSBDF, 1e-3, waves ? 0.1 : 1e-2), u));
    OK(VecStrideGather(u, 0, last, INSERT_VALUES));
    CHECK(PetscAbsScalar(sum_of(last) - sum_of(first)) < 1e-8);
    CHECK(difference(last, first) > 1e-3);
  }
}

// The constants of the fluid solve the equation without its source; the mean is that of the fluid.
TEST_CASE("singular equations and integrals among solid cells", "[equations]") {
  if (!equations_work(true)) return;
  const std::string head = "neumann(sides)\nstretch(y, tanh, 1)\nfield(solid)\n";
  for (const char *solver : {"-dm_mat_type aij", "-dm_mat_type stencil -pc_type stencilmg"}) {
    Options options(solver + std::string(" -ksp_rtol 1e-12 -snes_rtol 1e-12"));
    Grid    da = grid_with(head + "residual = -laplacian(u) - (x - 0.5)", 2, 12),
         one = grid_with(head + "residual = u + mean(1)", 2, 12);
    Vector       u, f = make_vector(one), v = random_vector(one, 1);
    PetscInt     its;
    MatNullSpace space;
    PetscBool    is_null;
    const auto   mask = [](DM on) {
      OK(DMDAEquationSetField(on, "solid", scalars(on, [](const PetscInt p[3]) {
                                return p[0] >= 4 && p[0] < 8 && p[1] >= 3 && p[1] < 9 ? 1. : 0.;
                              })));
    };
    INFO(solver);
    mask(da), mask(one);
    OK(solve(da, &u, &its));
    CHECK(its <= 2);
    Matrix A = jacobian(da, u, MATAIJ);
    OK(MatGetNullSpace(A, &space));
    REQUIRE(space);
    OK(MatNullSpaceTest(space, A, &is_null));
    CHECK(is_null);
    OK(compute_values(one, 0, v, f));
    const auto values = natural_values(one, f), state = natural_values(one, v);
    for (PetscInt n = 0; n < 12 * 13; n++) {
      const PetscInt i = n % 12, j = n / 12;
      const bool     solid = i >= 4 && i < 8 && j >= 3 && j < 9;
      CHECK(PetscAbsScalar(values[(size_t)n] - state[(size_t)n] - (solid ? 0. : 1.)) < 1e-13);
    }
  }
}

// A wall before the first point of a periodic axis is at its upper end.
TEST_CASE("the datum of a wall is that of its place in the period", "[equations]") {
  if (!equations_work(true)) return;
  for (const std::string axis : {"periodic(x)\n", "periodic(x)\nstretch(x, geometric, 2)\n"}) {
    Grid da = grid_with(axis + "solid = x > 0.52\ndirichlet(solid) = x < 0.5 ? 1 : 3\nresidual = -laplacian(u)", 1, 10,
                        1, DM_BOUNDARY_PERIODIC);
    Vector    u = make_vector(da), f = make_vector(da);
    PetscReal size;
    OK(VecSet(u, 3));
    OK(compute_values(da, 0, u, f));
    for (const PetscScalar value : natural_values(da, f))
      CHECK((PetscAbsScalar(value) < 1e-9 || PetscAbsScalar(value - PetscScalar(3)) < 1e-9));
    OK(VecNorm(f, NORM_1, &size));
    CHECK(size > 3);
  }
}

TEST_CASE("solid cells at identity ends stay zero in time", "[equations]") {
  if (!equations_work()) return;
  Grid      da = grid_with("identity(sides)\nsolid = x < 0.3\nexact = 2 + x + t\nrate = laplacian(u)", 2, 9);
  Vector    u = make_vector(da), exact = make_vector(da);
  PetscReal error;
  OK(DMDAEquationComputeInitial(da, u));
  OK(TSSolve(stepper(da, TSBEULER, 1e-2, 0.1), u));
  OK(DMDAEquationComputeExact(da, 0.1, exact));
  OK(VecAXPY(u, -1, exact));
  OK(VecNorm(u, NORM_INFINITY, &error));
  CHECK(error < 1e-4);
}

TEST_CASE("waves through two slits are symmetric, and leave the wall at rest", "[equations]") {
  if (!equations_work()) return;
  const PetscInt N = 40;
  Grid           da = gallery_grid("double_slit.h", N);
  Vector         u = make_vector(da);
  OK(DMDAEquationComputeInitial(da, u));
  OK(TSSolve(stepper(da, TSRK, 5e-3, 0.5), u));
  const auto values = natural_values(da, u);
  PetscReal  behind = 0;
  for (PetscInt j = 0; j < N; j++)
    for (PetscInt i = 0; i < N; i++)
      for (PetscInt c = 0; c < 2; c++) {
        const auto      at = [&](PetscInt row) { return values[(size_t)((row * N + i) * 2 + c)]; };
        const PetscReal x = ((PetscReal)i + 1) / ((PetscReal)N + 1), y = ((PetscReal)j + 0.5) / (PetscReal)N;
        CHECK(PetscAbsScalar(at(j) - at(N - 1 - j)) < 1e-9);
        if (std::abs(x - 0.3) < 0.01 && std::abs(std::abs(y - 0.5) - 0.1) > 0.03) CHECK(at(j) == PetscScalar(0));
        if (x > 0.35 && c == 0) behind = std::max(behind, PetscAbsScalar(at(j)));
      }
  CHECK(behind > 0.05);
}

TEST_CASE("coarser and finer grids have solid cells", "[equations]") {
  if (!equations_work(true)) return;
  for (const char *solver :
       {"-snes_grid_sequence 1 -dm_mat_type stencil -pc_type stencilmg",
        "-pc_type mg -pc_mg_levels 3 -mg_coarse_pc_type redundant", "-pc_type mg -pc_mg_galerkin"}) {
    Options  options(solver + std::string(" -ksp_rtol 1e-12"));
    Lattice  l;
    Grid     da;
    Vector   u;
    PetscInt its, ksp_its;
    INFO(solver);
    l.N[0] = l.N[1] = 33;
    OK(make_grid(l, nullptr, &da));
    set_equation(da, "identity(sides) = 1\nsolid = abs(x - 0.5) < 0.2 && abs(y - 0.5) < 0.2\n"
                     "residual = -laplacian(u) - x + u^3");
    OK(solve(da, &u, &its, &ksp_its));
    CHECK(its < 8);
    CHECK(ksp_its < 60 * its);
  }
}

TEST_CASE("solid cells that cannot be meant", "[misuse]") {
  if (!equations_work()) return;
  const auto user = PETSC_ERR_USER, out = PETSC_ERR_ARG_OUTOFRANGE;
  Grid       da = grid_with("solid = x < 0.5\nresidual = u - 1", 2, 8),
       wide = grid_with("residual = u", 2, 8, 1, DM_BOUNDARY_NONE, 2);
  const auto set = [&](const char *text) { return DMDASetEquation(da, text); };
  const auto set_wide = [&](const char *text) { return DMDASetEquation(wide, text); };
  Mat        P;
  check_mistakes(
      [&](Vec *y) {
        PetscFunctionBeginUser;
        Vector u = random_vector(da, 1);
        PetscCall(VecDuplicate(u, y));
        PetscFunctionReturn(compute_values(da, 0, u, *y));
      },
      {CALL(user, "equation:1|no cells are solid|solid = x < 0.5", set("neumann(solid)\nresidual = u")),
       CALL(user, "equation:2|identity|half a spacing|dirichlet(solid)",
            set("solid = x\nidentity(solid)\nresidual = u")),
       CALL(user, "equation:2|robin|half a spacing|neumann(solid)", set("solid = x\nrobin(solid, 2)\nresidual = u")),
       CALL(user, "equation:2|cannot depend on u|flux", set("solid = x\nneumann(solid) = -u\nresidual = u")),
       CALL(user, "equation:3|stated twice|line 2", set("solid = x\nneumann(solid)\ndirichlet(solid)\nresidual = u")),
       CALL(user, "equation:2|stated twice|line 1", set("solid = x\nfield(solid)\nresidual = u")),
       CALL(user, "equation:1|solid = x < 0.5|field(solid)", set("solid(x) = 1\nresidual = u")),
       CALL(user, "equation:1|cannot depend on u|coordinates", set("solid = u > 0\nresidual = u")),
       CALL(user, "equation:1|cannot depend on hx|coordinates", set("solid = x < hx\nresidual = u")),
       CALL(user, "equation:2|k without steps", set("field(k) = x\nsolid = k(1) < 0\nresidual = u*k")),
       CALL(PETSC_ERR_FP, "equation:1|solid cells is not finite", set("solid = 1/(x - x)\nresidual = u")),
       CALL(user, "solid is not declared", set("residual = u*solid")),
       CALL(out, "equation:2|u(1, 1) is farther than the next point|remove the solid cells",
            set("solid = x < 0.5\nresidual = u - u(1, 1)")),
       CALL(out, "equation:2|u(2, 0) is farther|along the axes", set_wide("solid = x < 0.5\nresidual = u - u(2)")),
       CALL(out, "equation:2|farther than the next|unknown of its own",
            set_wide("field(solid)\nresidual = u - laplacian(u, 4)")),
       CALL(out, "equation:3|farther than the next|unknown of its own",
            set_wide("field(solid)\nm = laplacian(u)\nresidual = u - laplacian(m)")),
       CALL(out, "equation:2|farther than the next|second order",
            set_wide("field(solid)\nresidual = u - minmod_x(u^2, u, u)")),
       CALL(out, "solid or not|no derivative", DMDACreateEquationJacobianP(da, "solid", &P))});
  Grid   unset = grid_with("field(solid)\nresidual = u", 2, 8);
  Vector u = make_vector(unset);
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"equation:1", "solid has no values", "DMDAEquationSetField"}),
               [&] { return compute_values(unset, 0, u, u); });
}
