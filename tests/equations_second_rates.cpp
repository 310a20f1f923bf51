// Equations of second order in time, by the statement rate2: against exact waves, and systems of first order.

#include "catch.hpp"
#include "equations.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static Grid grid_with(const std::string &text, PetscInt dim, PetscInt dof, PetscInt N) {
  Lattice l;
  Grid    da;
  l.dim = dim, l.dof = dof;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N : 1;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}

TEST_CASE("standing, travelling and damped waves, with errors of second order", "[equations]") {
  if (!equations_work(true)) return;
  const struct {
    const char *text;
    PetscInt    dim, N;
    const char *type, *mat;
  } cases[] = {
      {"dirichlet(sides) = 0\nexact = sin(pi*x)*cos(pi*t)\nrate2 = laplacian(u)", 1, 19, TSRK, MATAIJ},
      {"neumann(sides)\nexact = cos(pi*x)*cos(pi*y)*sin(sqrt(2)*pi*t)\nrate2 = laplacian(u)", 2, 10, TSRK, MATAIJ},
      {"parameter(c, 2)\nf(s) = sin(3*s) + exp(-s^2)\nexact = f(x - c*t)\nidentity(left) = f(-c*t)\nneumann(right)\n"
       "rate2 = c^2*laplacian(u)",
       1, 20, TSCN, MATSTENCILSHELL},
      {"parameter(c, 2)\nf(s) = sin(3*s) + exp(-s^2)\nexact = f(x - c*t)\nidentity(left) = f(-c*t)\n"
       "neumann(right) = -u_t/c\nrate2 = c^2*laplacian(u)",
       1, 40, TSCN, MATAIJ},
      {"parameter(c, 2)\nparameter(gamma, 0.8)\nw = sqrt(2*pi^2*c^2 - gamma^2/4)\ndirichlet(sides) = 0\n"
       "exact = exp(-gamma*t/2)*cos(w*t)*sin(pi*x)*sin(pi*y)\nrate2 = c^2*laplacian(u) - gamma*u_t",
       2, 9, TSCN, MATEQUATION},
  };
  for (const auto &c : cases) {
    Options   options("-ts_adapt_type none -ksp_rtol 1e-11 -snes_rtol 1e-10 -pc_type jacobi -dm_mat_type " +
                      std::string(c.mat));
    PetscReal error[2];
    for (int fine = 0; fine < 2; fine++) {
      Grid   da = grid_with(c.text, c.dim, 2, fine ? 2 * c.N : c.N);
      Vector exact = make_vector(da), u = steps(da, c.type, fine ? 0.01 : 0.02, 0.3);
      OK(DMDAEquationComputeExact(da, 0.3, exact));
      OK(VecAXPY(u, -1, exact));
      OK(VecNorm(u, NORM_INFINITY, &error[fine]));
    }
    INFO(c.text << ": " << error[0] << ", " << error[1]);
    CHECK(error[0] < 0.15);
    CHECK(error[1] < error[0] / 3.3);
  }
}

// What is left of pulses that have left: the reflection of the absorbing sides.
TEST_CASE("waves leave through absorbing sides", "[equations]") {
  if (!equations_work(true)) return;
  const char *texts[] = {"neumann(sides) = -u_t/c\ninitial = exp(-150*(x - 0.5)^2)\nrate2 = c^2*laplacian(u)",
                         "out = -u_t/c\nneumann(right) = out\nidentity(left) = 0\nstretch(x, geometric, 2)\n"
                         "f(s) = exp(-150*(s - 0.5)^2)\ninitial = f(x)\ninitial(u_t) = 300*c*(x - 0.5)*f(x)\n"
                         "rate2 = c^2*laplacian(u)"};
  Options     options("-ts_adapt_type none -ts_rk_type 4");
  for (const std::string text : texts) {
    PetscReal left[2];
    for (int fine = 0; fine < 2; fine++) {
      Grid   da = grid_with("parameter(c, 2)\n" + text, 1, 2, fine ? 160 : 80);
      Vector u = steps(da, TSRK, 1e-3, 0.5);
      left[fine] = 0;
      const auto values = natural_values(da, u);
      for (size_t n = 0; n < values.size(); n += 2) left[fine] = PetscMax(left[fine], PetscAbsScalar(values[n]));
    }
    INFO(text << ": " << left[0] << ", " << left[1]);
    CHECK(left[0] < 0.03);
    CHECK(left[1] < left[0] / 3.5);
  }
}

// Also into corners, from two points away, and with other rules on other sides.
TEST_CASE("the Jacobian has the derivatives of absorbing sides", "[equations]") {
  if (!equations_work(true)) return;
  const std::string sides = "parameter(c, 2)\nneumann(right) = -u_t/c - x*u_t^3\nrobin(top, 1.5) = y - u_t/c\n"
                            "neumann(left) = u^2\nneumann(bottom) = -sin(u_t)\n";
  for (const std::string row : {"rate2 = u*laplacian(u) - u_t", "grid(2, box, 2)\nrate2 = dxx(u)*dxy(u) + dyy(u*u)"}) {
    INFO(row);
    Lattice    l;
    Grid       da;
    const bool wide = row[0] == 'g';
    l.dim = 2, l.dof = 2, l.N[0] = 6, l.N[1] = 5, l.N[2] = 1, l.width = wide ? 2 : 1;
    if (wide) l.shape = DMDA_STENCIL_BOX;
    if (!try_make_grid(l, &da)) continue;
    set_equation(da, sides + row);
    CHECK(jacobian_difference(da) <= 1e-6);
  }
}

// Of a standing wave that no exact solution feeds: u and u_t, the frequency that of the differences.
TEST_CASE("initial states of an equation of second order in time", "[equations]") {
  if (!equations_work(true)) return;
  const PetscReal w = 2 * 10 * std::sin(PETSC_PI / 20);
  for (const bool moves : {false, true}) {
    Grid da =
        grid_with(std::string(moves ? "initial(u_t)" : "initial") + " = sin(pi*x)\nrate2 = laplacian(u)", 1, 2, 9);
    Options    options("-ts_adapt_type none -ts_rk_type 4");
    Vector     u = steps(da, TSRK, 1e-3, 0.4);
    const auto values = natural_values(da, u);
    for (size_t n = 0; n < 9; n++) {
      const PetscReal shape = std::sin(PETSC_PI * (PetscReal)(n + 1) / 10), s = std::sin(w * 0.4),
                      c = std::cos(w * 0.4);
      CHECK(PetscAbsScalar(values[2 * n] - shape * (moves ? s / w : c)) < 1e-9);
      CHECK(PetscAbsScalar(values[2 * n + 1] - shape * (moves ? c : -w * s)) < 1e-8);
    }
  }
}

// The same equations as systems of first order: the same steps.
TEST_CASE("equations of second order in time are systems of first order", "[equations]") {
  if (!equations_work(true)) return;
  const struct {
    const char *by_rate2, *by_hand;
    PetscInt    dof;
    const char *type;
  } cases[] = {
      // damped by differences, which read the velocity on the sides
      {"dirichlet(left) = sin(3*t)*y\nneumann(right) = t^2\nrobin(top, 2) = exp(-t)\n"
       "rate2 = laplacian(u) + 0.1*laplacian(u_t)",
       "unknowns(u, v)\ndirichlet(left, u) = sin(3*t)*y\nneumann(right, u) = t^2\nrobin(top, 2, u) = exp(-t)\n"
       "dirichlet(left, v) = 3*cos(3*t)*y\nneumann(right, v) = 2*t\nrobin(top, 2, v) = -exp(-t)\n"
       "rate(u) = v\nrate(v) = laplacian(u) + 0.1*laplacian(v)",
       2, TSCN},
      {"g(s) = s*sin(3*t)\nidentity(sides) = g(x + y)\nrate2 = laplacian(u) + 0.1*laplacian(u_t)",
       "unknowns(u, v)\nidentity(sides) = (x + y)*sin(3*t)\nidentity(left, v) = y*3*cos(3*t)\n"
       "identity(right, v) = (1 + y)*3*cos(3*t)\nidentity(bottom, v) = x*3*cos(3*t)\n"
       "identity(top, v) = (x + 1)*3*cos(3*t)\nrate(u) = v\nrate(v) = laplacian(u) + 0.1*laplacian(v)",
       2, TSRK},
      // one of two unknowns is of second order, in another order
      {"unknowns(T, u)\nneumann(sides) = 1\ninitial(T) = x\ninitial(u_t) = y\nrate2(u) = laplacian(u) - dx(T)\n"
       "rate(T) = laplacian(T) - dx(u_t)",
       "unknowns(T, u, v)\nneumann(sides, T) = 1\nneumann(sides, u) = 1\nneumann(sides, v)\ninitial(T) = x\ninitial(v) "
       "= y\nrate(u) = v\n"
       "rate(v) = laplacian(u) - dx(T)\nrate(T) = laplacian(T) - dx(v)",
       3, TSRK},
      // beside an algebraic unknown; u_t has conditions of its own
      {"unknowns(u, p)\nneumann(sides, u_t) = 1\nneumann(sides, u) = t + u^2\nneumann(sides, p) = 0\n"
       "initial(u) = x\nrate2(u) = laplacian(u) + laplacian(u_t) - p\nresidual(p) = p - 2*u",
       "unknowns(u, p, v)\nneumann(sides, v) = 1\nneumann(sides, u) = t + u^2\nneumann(sides, p) = 0\n"
       "initial(u) = x\nrate(u) = v\nrate(v) = laplacian(u) + laplacian(v) - p\nresidual(p) = p - 2*u",
       3, TSBDF},
  };
  Options options("-ts_adapt_type none -ksp_rtol 1e-12 -snes_rtol 1e-11 -pc_type jacobi");
  for (const auto &c : cases) {
    INFO(c.by_rate2);
    const std::string by_hand = c.by_hand;
    Grid              one = grid_with(c.by_rate2, 2, c.dof, 7), two = grid_with(by_hand, 2, c.dof, 7);
    Vector            u = steps(one, c.type, 1e-3, 0.02), v = steps(two, c.type, 1e-3, 0.02);
    CHECK(difference(u, v) < 1e-12);
  }
}

// u_t of an exact solution against a quotient of differences.
TEST_CASE("derivatives in time of formulas", "[equations]") {
  if (!equations_work(true)) return;
  const char *formulas[] = {"exp(-t*x) - log(1 + t)*sqrt(2 + t)",
                            "sin(t)/cos(t/2) + tan(t)*x*t - -t",
                            "asin(t/2) + acos(t/3)*atan(t) - atan2(t, 1 + x*t)",
                            "sinh(t) + cosh(2*t) - tanh(t)*erf(t - x)",
                            "abs(t - 3)*fabs(t) + floor(t + 0.5) + sign(t) + heaviside(t)*t",
                            "min(t, 2*t - 5) + max(t^2, 0.1)*(t > 0.5 && x < 2 ? t^3 : 1/t)",
                            "t^2 + t^-3 + (1 + t)^0.5 + (1 + x)^t + (1 + t)^(x*t) + pow(2, t)/t/(1 + x)",
                            "a = 2*t\nb(s, r) = s*t + r^2*a\nexact = b(x, t*a) - b(a, x) + (t > 1 ? 1 : 2)"};
  for (const std::string of : formulas) {
    INFO(of);
    Grid   da = grid_with((of[0] == 'a' && of[1] == ' ' ? of : "exact = " + of) + "\nrate2 = -u", 1, 2, 3);
    Vector u = make_vector(da), before = make_vector(da), after = make_vector(da);
    OK(DMDAEquationComputeExact(da, 0.7, u));
    OK(DMDAEquationComputeExact(da, 0.7 - 1e-5, before));
    OK(DMDAEquationComputeExact(da, 0.7 + 1e-5, after));
    OK(VecAXPY(after, -1, before));
    const auto values = natural_values(da, u), changes = natural_values(da, after);
    for (size_t n = 0; n < values.size(); n += 2)
      CHECK(PetscAbsScalar(values[n + 1] - changes[n] / 2e-5) < 1e-8 * (1 + PetscAbsScalar(values[n + 1])));
  }
}

TEST_CASE("mistakes with equations of second order in time", "[misuse]") {
  if (!equations_work()) return;
  Grid       da = grid_with("rate2 = laplacian(u)", 2, 2, 5);
  const auto set = [&](const char *text) { return DMDASetEquation(da, text); };
  const struct {
    const char              *text;
    std::vector<std::string> words;
  } cases[] = {
      {"rate2 = laplacian(u)\nrate2(u) = -u", {"equation:2", "rate2 is stated twice", "line 1"}},
      {"rate = u\nrate2 = laplacian(u)", {"equation:1", "a rate and a rate2 of u"}},
      {"residual = u\nrate2 = laplacian(u)", {"a residual and a rate of u"}},
      {"rate2 = laplacian(u)\nrate(u_t) = 1", {"equation:2", "stated twice"}},
      {"rate2 = laplacian(u)\nrate2(u_t) = 1", {"equation:2", "u_t is a derivative in time itself"}},
      {"rate2 = laplacian(v)", {"equation:1", "the name v is not declared"}},
      {"rate2(v) = laplacian(u)", {"equation:1", "there is no unknown v"}},
      {"rate2 = u == 1", {"equation:1", "comparison"}},
      {"rate2", {"equation:1", "state it as rate2 = ..."}},
      {"parameter(u_t, 1)\nrate2 = laplacian(u)", {"equation:2", "the name u_t, which is taken"}},
      {"unknowns(u, v)\nrate(v) = 0\nrate2 = laplacian(u)", {"equation:3", "state it for each, as rate2(u)"}},
      {"unknowns(u, v)\nrate2(u) = laplacian(u)", {"the rate of v is missing"}},
      {"rate = u_t", {"equation:1", "the name u_t is not declared"}},
      {"rate2 = laplacian(u_t)\nneumann(left) = -u^2",
       {"equation:2", "no flux of u_t follows", "neumann(left, u_t) = 0"}},
      {"rate2 = laplacian(u_t)\nneumann(left) = -u_t", {"equation:2", "depends on u_t", "no flux of u_t follows"}},
      {"rate2 = laplacian(u)\nneumann(left) = -u_t*u", {"equation:2", "on u or on u_t, not on both", "robin(left"}},
      {"rate2 = laplacian(u)\nneumann(left) = -u_t(1)", {"equation:2", "write u_t without steps"}},
      {"rate2 = laplacian(u)\ndirichlet(left) = u_t", {"equation:2", "cannot depend on u_t"}},
      {"unknowns(u, v)\nrate2(u) = laplacian(u)\nrate(v) = u\nneumann(left, v) = u_t",
       {"equation:4", "a boundary's datum cannot have u_t"}},
      {"a = t*t\nb = a*a\nc = b*b\nd1 = c*c\ne = d1*d1\nf = e*e\ng = f*f\nh = g*g\ni = h*h\nj = i*i\nk = j*j\n"
       "l = k*k\nm = l*l\nn = m*m\nexact = n*n\nrate2 = -u",
       {"equation:15", "too long"}},
  };
  for (const auto &c : cases) {
    INFO(c.text);
    EXPECT_ERROR(PETSC_ERR_USER, (c.words), [&] { return set(c.text); });
  }
  Grid one;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, NULL, &one));
  OK(DMSetUp(one));
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"equation:1", "2 unknowns", "u_t, which rate2 adds"}),
               [&] { return DMDASetEquation(one, "rate2 = dxx(u)"); });
}
