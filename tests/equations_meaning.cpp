// Equations as text: what their statements mean, against exact values and plain loops.

#include "catch.hpp"
#include "equations.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static Grid line_with(const std::string &text, PetscInt N, DMBoundaryType ends = DM_BOUNDARY_NONE, PetscInt width = 1) {
  Lattice l;
  Grid    da;
  l.dim = 1, l.N[0] = N, l.N[1] = l.N[2] = 1, l.ends[0] = ends, l.width = width;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}
// Two walls, of which one is switched.
static const char walls[] =
    "parameter(w, 20)\nidentity(left) = sin(w*t) + (t > 0.043 ? 1 : 0)\nidentity(right) = 2\nrate = dxx(u)";
static PetscReal left_wall(PetscReal t) {
  return std::sin(20 * t) + (t > 0.043 ? 1 : 0);
}
static PetscErrorCode watch(TS, PetscInt step, PetscReal t, Vec u, void *worst) {
  DM da;
  PetscFunctionBeginUser;
  PetscCall(VecGetDM(u, &da));
  const auto value = natural_values(da, u);
  if (step) *(PetscReal *)worst = PetscMax(*(PetscReal *)worst, PetscAbsScalar(value[0] - left_wall(t)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("identity sides of a rate have their data after each step of each type of TS, from any state",
          "[equations]") {
  if (!equations_work()) return;
  const PetscInt  N = 5;
  const PetscReal dt = 0.01, h = 0.25;
  Options         options("-ksp_rtol 1e-13 -snes_rtol 1e-13 -ksp_atol 1e-30 -ts_arkimex_fully_implicit");
  for (const char *type : {TSEULER, TSRK, TSSSP, TSBEULER, TSCN, TSTHETA, TSBDF, TSROSW, TSARKIMEX}) {
    INFO(type);
    const bool               is_euler = type == std::string(TSEULER), is_implicit_euler = type == std::string(TSBEULER);
    std::vector<PetscScalar> values[2];
    PetscReal                worst = 0;
    Grid                     da = line_with(walls, N);
    for (int start = 0; start < 2; start++) { // the values on the walls differ
      Vector u = make_vector(da);
      set_values(da, u, [&](const PetscInt p[3]) { return p[0] % (N - 1) ? 1. + (PetscReal)p[0] : 7. * start; });
      auto ts = stepper(da, type, dt, 0.1);
      OK(TSMonitorSet(ts, watch, &worst, NULL));
      OK(TSSolve(ts, u));
      values[start] = natural_values(da, u);
      PetscReal end;
      OK(TSGetTime(ts, &end));
      CHECK(values[start][0] == left_wall(end));
      CHECK(values[start][N - 1] == 2.);
    }
    CHECK(worst < 1e-15);
    for (PetscInt i = 0; i < N; i++) CHECK(PetscAbsScalar(values[1][(size_t)i] - values[0][(size_t)i]) < 1e-12);
    if (!is_euler && !is_implicit_euler) continue;
    PetscReal u[N] = {0, 2, 3, 4, 2}, t = 0;
    for (int step = 0; step < 10; step++) {
      PetscReal next[N];
      u[0] = left_wall(is_euler ? t : t + dt), u[N - 1] = 2;
      std::copy(u, u + N, next);
      for (int sweep = 0; sweep < (is_euler ? 1 : 400); sweep++) { // Gauss and Seidel's, or one explicit step
        const PetscReal *at = is_euler ? u : next, r = dt / (h * h);
        for (PetscInt i = 1; i + 1 < N; i++)
          next[i] = is_euler ? u[i] + r * (at[i - 1] - 2 * u[i] + at[i + 1])
                             : (u[i] + r * (at[i - 1] + at[i + 1])) / (1 + 2 * r);
      }
      std::copy(next, next + N, u);
      t += dt;
    }
    for (PetscInt i = 1; i + 1 < N; i++) CHECK(PetscAbsScalar(values[0][(size_t)i] - u[i]) < 1e-10);
  }
  // the rate there is the derivative of the data, at any time and frequency; a new parameter counts
  Grid   da = line_with(walls, N);
  Vector u = make_vector(da), f = make_vector(da);
  for (const PetscReal w : {20., 6e4}) {
    OK(DMDAEquationSetParameter(da, "w", w));
    OK(compute_values(da, 1000, u, f));
    CHECK(PetscAbsScalar(natural_values(da, f)[0] - w * std::cos(w * 1000)) < 1e-13 * w);
  }
  OK(DMDAEquationComputeInitial(da, u));
  CHECK(natural_values(da, u)[N - 1] == 2.);
}

TEST_CASE("steps that are too large end in an error with time and place, or are tried again", "[equations]") {
  if (!equations_work()) return;
  Grid da = line_with(walls, 5), root = line_with("// a root\nneumann(sides)\nrate = -u*sqrt(u)", 5);
  for (const char *type : {TSEULER, TSSSP}) {
    Vector u = make_vector(da);
    EXPECT_ERROR(PETSC_ERR_FP, ({"equation:4", "the state of u is", "at t = ", "-ts_dt"}),
                 [&] { return TSSolve(stepper(da, type, 1, 1000), u); });
  }
  Vector u = make_vector(root);
  OK(VecSet(u, 1));
  OK(TSSolve(stepper(root, TSRK, 5, 1), u)); // whose first stages are negative
  for (const PetscScalar value : natural_values(root, u)) CHECK(PetscAbsScalar(value - 4. / 9) < 1e-3);
}

// PETSc 3.18 takes the rates of a rejected step from the state again, which leaves nothing of it beside large ones.
TEST_CASE("a step that is tried again begins with the same state, and none without a rate is accepted", "[equations]") {
  if (!equations_work()) return;
  const char *text = "// a root\nneumann(sides)\nrate = -30*sqrt(u)"; // u is (1 - 15 t)²
  for (const char *scheme : {"3bs", "5f", "5dp", "5bs", "6vr", "8vr"}) {
    INFO(scheme);
    Options options("-ts_rtol 1e-8 -ts_atol 1e-8 -ts_rk_type " + std::string(scheme));
    Grid    da = line_with(text, 5);
    Vector  u = make_vector(da);
    OK(VecSet(u, 1));
    OK(TSSolve(stepper(da, TSRK, 0.1, 0.06), u));
    for (const PetscScalar value : natural_values(da, u)) CHECK(PetscAbsScalar(value - 0.01) < 1e-6);
  }
  for (const char *accepts : {"-ts_adapt_always_accept", "-ts_adapt_dt_min 0.05", "-ts_rtol 1e10 -ts_atol 1e10"}) {
    INFO(accepts);
    Options options(accepts);
    Grid    da = line_with(text, 5);
    Vector  u = make_vector(da);
    OK(VecSet(u, 1));
    EXPECT_ERROR(PETSC_ERR_FP, ({"equation:3", "not finite", "was accepted", "-ts_adapt_dt_min"}),
                 [&] { return TSSolve(stepper(da, TSRK, 0.1, 0.3), u); });
  }
}

// Some methods keep the last rate of a step for the next one.
TEST_CASE("a parameter that a program sets after a step holds from the next one on", "[equations]") {
  if (!equations_work()) return;
  for (const char *options : {"-ts_type rk", "-ts_type rk -ts_rk_type 5dp", "-ts_type rk -ts_rk_type 4",
                              "-ts_type arkimex", "-ts_type rosw", "-ts_type cn", "-ts_type ssp"}) {
    INFO(options);
    Options set("-ts_adapt_type none -snes_rtol 1e-14 -ksp_rtol 1e-14 " + std::string(options));
    Grid    da = line_with("parameter(k, 1)\nneumann(sides)\nrate = k - 0*u", 5);
    Vector  u = make_vector(da);
    auto    ts = stepper(da, TSRK, 0.1, 0.3);
    OK(TSSetPostStep(ts, [](TS ts) {
      DM       dm;
      PetscInt step;
      PetscFunctionBeginUser;
      PetscCall(TSGetDM(ts, &dm));
      PetscCall(TSGetStepNumber(ts, &step));
      PetscCall(DMDAEquationSetParameter(dm, "k", step == 1 ? 3 : 10));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    OK(TSSolve(ts, u));
    for (const PetscScalar value : natural_values(da, u)) CHECK(PetscAbsScalar(value - 1.4) < 1e-12);
  }
}

TEST_CASE("coefficients of fluxes: formulas, and zeros side by side", "[equations]") {
  if (!equations_work()) return;
  const PetscInt N = 9;
  Grid           da = line_with("identity(sides) = 0\nfield(k) = x < 0.4 ? 0 : 1 + x\nm = k*(1 + x)\n"
                                          "residual = -d(m*(1 + u*u), u) + u",
                                N);
  Vector         u = random_vector(da, 1), f = make_vector(da);
  OK(compute_values(da, 0, u, f));
  const auto value = natural_values(da, u), found = natural_values(da, f);
  const auto at = [&](PetscInt i) { return PetscRealPart(value[(size_t)i]); };
  const auto k = [&](PetscInt i) {
    const PetscReal x = (PetscReal)i / (N - 1);
    return (x < 0.4 ? 0 : 1 + x) * (1 + x) * (1 + at(i) * at(i));
  };
  const auto flux = [&](PetscInt i) {
    return k(i) + k(i + 1) == 0 ? 0 : 2 * k(i) * k(i + 1) / (k(i) + k(i + 1)) * (at(i + 1) - at(i)) * (N - 1);
  };
  for (PetscInt i = 1; i + 1 < N; i++)
    CHECK(PetscAbsScalar(found[(size_t)i] - (at(i) - (flux(i) - flux(i - 1)) * (N - 1))) < 1e-11);
  CHECK(jacobian_difference(da) < 1e-6);
}

// With neumann data, a coefficient and a time derivative, of a function that changes within a hundredth of the domain.
TEST_CASE("a manufactured source is exact for steep and fast functions", "[equations][optimised]") {
  if (!equations_work()) return;
  static const char tanh_text[] = "th = tanh((x - 0.5)/0.01)\n";
  const std::string exact = std::string(tanh_text) + "neumann(right)\nexact = th*sin(1e3*t)\nrate = d(1 + x, u)",
                    by_hand = std::string(tanh_text) +
                              "s = (1/pow(cosh((x - 0.5)/0.01), 2))/0.01\neliminated(left) = th*sin(1e3*t)\n"
                              "neumann(right) = s*sin(1e3*t)\n"
                              "rate = d(1 + x, u) + 1e3*th*cos(1e3*t) - sin(1e3*t)*(s - (1 + x)*2*th*s/0.01)";
  Grid      da = line_with(exact, 41), other = line_with(by_hand, 41);
  Vector    u = random_vector(da, 1), f = make_vector(da), g = make_vector(da);
  PetscReal error, size;
  OK(compute_values(da, 1e3 + 0.3, u, f));
  OK(compute_values(other, 1e3 + 0.3, u, g));
  OK(VecNorm(g, NORM_INFINITY, &size));
  OK(VecAXPY(f, -1, g));
  OK(VecNorm(f, NORM_INFINITY, &error));
  CHECK(error < 1e-11 * size);
}

// At a kink between points, the source at the points belongs to another solution: abs(x - 0.3) would get that of a line.
TEST_CASE("kinks of an exact solution are refused, but at interfaces and for first derivatives", "[equations]") {
  if (!equations_work() || PetscDefined(USE_COMPLEX)) return;
  const auto values = [](const std::string &text, PetscInt dim = 1) {
    Lattice l;
    Grid    da;
    PetscFunctionBeginUser;
    l.dim = dim, l.N[0] = l.N[1] = 17, l.N[2] = 1;
    if (dim == 1) l.N[1] = 1;
    PetscCall(make_grid(l, nullptr, &da));
    PetscCall(DMDASetEquation(da, ("// kinks\nexact = " + text).c_str()));
    Vector u = make_vector(da), f = make_vector(da);
    PetscCall(compute_values(da, 0, u, f));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const std::string laplace = "\nresidual = -laplacian(u)", kink = "abs(x - 0.3)";
  for (const std::string &refused :
       {kink, std::string("2 + max(0.3, x)"), std::string("x < 0.3 ? 1 : 10*x*(1 - x)"),
        std::string("exp(-min(x, 0.6 - x))"), std::string("bent\nbent = sin(fabs(0.3 - x))")}) {
    INFO(refused);
    const size_t line = refused.find('\n');
    EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"equation:", "exact solution of u has a kink or a jump at x = 0.3", "state a"}),
                 [&] {
                   return line == std::string::npos
                              ? values(refused + laplace)
                              : values(refused.substr(0, line) + laplace + refused.substr(line));
                 });
  }
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"equation:2", "has a kink"}),
               [&] { return values("fabs(x*x + y*y - 0.3)" + laplace, 2); });
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"equation:2", "at x = 0.5"}), // which is a point
               [&] { return values("abs(x - 0.5)" + laplace); });
  EXPECT_ERROR(PETSC_ERR_FP, ({"equation:2", "exact solution of u is nan at the point (0, 0, 0)"}),
               [&] { return values("pow(x - 0.4, 0.5)" + laplace); });
  EXPECT_ERROR(PETSC_ERR_FP, ({"equation:2", "has a source of u that is nan at the point (8, 0, 0)"}),
               [&] { return values("pow((x - 0.5)*(x - 0.5), 0.75)" + laplace); });
  OK(values("pow(max(x - 0.3, 0), 3)" + laplace));
  OK(values("x < 0.3 ? x*x : 0.6*x - 0.09" + laplace)); // whose second derivative jumps
  OK(values(kink + "\nfield(k) = x < 0.3 ? 1 : 2\nresidual = -d(k, u)"));
  OK(values(kink + "\nresidual = dx(u) + u"));
}

TEST_CASE("what is made of an undefined value is undefined", "[equations]") {
  if (!equations_work()) return;
  Grid da = line_with("residual = u + (u > 1.5 ? sqrt(u) : u > 0.5 ? max(sqrt(u - 2), 0) : u > -0.5 ? min(0, log(u - 2)) "
                      ": upwind_x(sqrt(u - 2), u))",
                      5);
  const auto compute_at = [&](PetscReal value) {
    Vector u = make_vector(da), f = make_vector(da); // an error leaves them locked
    OK(VecSet(u, value));
    return compute_values(da, 0, u, f);
  };
  OK(compute_at(3));
  for (const char *value : {"1", "0", "-1"})
    EXPECT_ERROR(PETSC_ERR_FP, ({"residual of u is", "nan", std::string("u = ") + value}),
                 [&] { return compute_at(std::atof(value)); });
}

TEST_CASE("types of TS that have no steps for a rate are refused", "[equations]") {
  if (!equations_work()) return;
  const std::string text = "unknowns(u, v)\nrate(u) = v\nrate(v) = laplacian(u)";
  Lattice           l;
  Grid              pair;
  l.dim = 1, l.N[0] = 17, l.N[1] = l.N[2] = 1, l.dof = 2;
  OK(make_grid(l, nullptr, &pair));
  set_equation(pair, text);
  Grid first = line_with("rate = laplacian(u)", 17);
  for (DM da : {(DM)first, (DM)pair})
    for (const char *type : {TSALPHA2, TSMIMEX, TSDISCGRAD}) {
      INFO(type);
      Vector u = make_vector(da);
      EXPECT_ERROR(PETSC_ERR_SUP, ({std::string("-ts_type ") + type, "bdf"}),
                   [&] { return TSSolve(stepper(da, type, 1e-3, 1e-2), u); });
    }
}

// Signs of differences whose coefficients cancel but for rounding errors; powers of a base and an exponent that both vary.
TEST_CASE("a manufactured source sees no rounding errors of differences", "[equations][optimised]") {
  if (!equations_work() || PetscDefined(USE_COMPLEX)) return;
  const struct {
    std::string exact, residual, source;
    PetscInt    width;
  } cases[] = {
      {"1.1 + sin(5*x)",
       "abs((3*u - 4*u(-1) + u(-2))/(2*hx)) + (3*u - 4*u(-1) + u(-2) > 0 ? 100 : 200) + "
       "abs((16*u(1) + 16*u(-1) - 30*u - u(2) - u(-2))/(12*hx*hx))",
       "abs(5*cos(5*x)) + (cos(5*x) > 0 ? 100 : 200) + abs(25*sin(5*x))", 2},
      {"pow(1 + x, x)", "dxx(u)", "pow(1 + x, x)*(pow(log(1 + x) + x/(1 + x), 2) + 1/(1 + x) + 1/pow(1 + x, 2))", 1}};
  for (const auto &c : cases) {
    Grid da = line_with("exact = " + c.exact + "\nresidual = " + c.residual, 33, DM_BOUNDARY_NONE, c.width),
         other = line_with("eliminated(sides) = " + c.exact + "\nresidual = " + c.residual + " - (" + c.source + ")",
                           33, DM_BOUNDARY_NONE, c.width);
    Vector    u = random_vector(da, 1), f = make_vector(da), g = make_vector(da);
    PetscReal error, size;
    OK(compute_values(da, 0, u, f));
    OK(compute_values(other, 0, u, g));
    OK(VecNorm(g, NORM_INFINITY, &size));
    OK(VecAXPY(f, -1, g));
    OK(VecNorm(f, NORM_INFINITY, &error));
    CHECK(error < 1e-11 * size);
  }
}

TEST_CASE("the default solver solves a singular equation in 1-D", "[equations]") {
  if (!equations_work()) return;
  for (const PetscInt N : {12, 64}) {
    Grid     da = line_with("neumann(sides)\nresidual = -dxx(u) - 4*pi*pi*cos(2*pi*x)", N);
    Vector   u;
    PetscInt its;
    OK(solve(da, &u, &its));
    const auto value = natural_values(da, u);
    for (PetscInt i = 0; i < N; i++)
      CHECK(PetscAbsScalar(value[(size_t)i] - std::cos(2 * PETSC_PI * ((PetscReal)i + 0.5) / N)) < 4. / (N * N));
  }
}

TEST_CASE("conditions without an end, and neighbours that some points read beyond the stencil, are errors",
          "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  Grid    da;
  l.dim = 1, l.N[0] = 41, l.N[1] = l.N[2] = 1, l.ends[0] = DM_BOUNDARY_PERIODIC;
  OK(make_grid(l, nullptr, &da));
  for (const char *condition : {"neumann(left) = 1", "identity(right)", "neumann(sides) = 1"}) {
    INFO(condition);
    EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"equation:2", "has no effect", "periodic"}), [&] {
      return DMDASetEquation(da, ("periodic(x)\n" + std::string(condition) + "\nresidual = u - dxx(u)").c_str());
    });
  }
  Grid   line = line_with("residual = u - dxx(u) + (x > 0.6 && x < 0.65 ? u(3) : 0*u)", 41);
  Vector u = make_vector(line), f = make_vector(line);
  OK(VecSet(u, 1));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"equation:1", "u(3)", "beyond the DMDA's"}),
               [&] { return compute_values(line, 0, u, f); });
}
