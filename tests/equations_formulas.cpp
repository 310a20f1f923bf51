// Differences of formulas, powers, functions and constants of a text: against plain numbers and differences by hand.

#include "catch.hpp"
#include "equations.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static Grid grid_of(PetscInt dim, PetscInt N, DMDAStencilType shape = DMDA_STENCIL_BOX, PetscInt width = 2,
                    DMBoundaryType ends = DM_BOUNDARY_NONE) {
  Lattice l;
  Grid    da;
  l.dim = dim, l.shape = shape, l.width = width;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N + a : 1, l.ends[a] = ends;
  OK(make_grid(l, nullptr, &da));
  return da;
}
// The difference of the residuals of two texts at a random state, and that of the Jacobian to a difference quotient.
static PetscReal difference_of(DM da, const std::string &one, const std::string &other) {
  set_equation(da, one);
  Vector u = random_vector(da, 3), f = make_vector(da), g = make_vector(da);
  OK(compute_values(da, 0, u, f));
  const PetscReal of_jacobian = jacobian_difference(da);
  set_equation(da, other);
  OK(compute_values(da, 0, u, g));
  CHECK(of_jacobian < 1e-6);
  return difference(f, g);
}

TEST_CASE("differences of formulas are those of their values at neighbours", "[equations]") {
  if (!equations_work()) return;
  // definitions and a term, by formulas and by hand; each list is one text
  struct Pair {
    const char *definitions, *term, *definitions_by_hand, *by_hand;
  };
  const std::vector<Pair> lists[] = {
      {{"", "laplacian(laplacian(u))", "", "bilaplacian(u)"}, // of fourth order
       {"mu = u^3 - u - 0.01*laplacian(u)\n", "laplacian(mu)", "", "laplacian(u^3 - u) - 0.01*bilaplacian(u)"}},
      {{"", "laplacian(u*u)", "m(i, j) = u(i, j)*u(i, j)\n",
        "(m(1, 0) - 2*m(0, 0) + m(-1, 0))/(hx*hx) + (m(0, 1) - 2*m(0, 0) + m(0, -1))/(hy*hy)"},
       {"", "dx(u^2/2) + dy(x*u)", "", "(u(1)*u(1) - u(-1)*u(-1))/(4*hx) + x*(u(0, 1) - u(0, -1))/(2*hy)"},
       {"", "dx(dy(u)) + 0*dxy(u*u)", "", "dxy(u)"},
       {"", "laplacian(2*u + x*x) - u", "", "2*laplacian(u) + 2 - u"},
       {"", "dx(3*x) + dyy(7)", "", "3"},
       {"", "upwind_x(u, u^2)", "", "max(u, 0)*(u*u - u(-1)*u(-1))/hx + min(u, 0)*(u(1)*u(1) - u*u)/hx"},
       // definitions with arguments
       {"lap(v) = dxx(v) + dyy(v)\n", "lap(u) + lap(u*u)", "", "laplacian(u + u^2)"},
       {"f(v) = v(1) - v(-1)\nnu = u^2 + x\n", "f(nu)", "", "u(1)*u(1) - u(-1)*u(-1) + 2*hx"},
       {"square(v) = v*v\n", "dx(square(u))", "", "dx(u*u)"},
       {"flux(k, v) = d(1 + k, v) + k\n", "flux(u*u, u + 1)", "", "d(1 + u^2, u) + u^2"},
       {"there(v, i) = v(i, 0) + dx(v*v(i))\nof(w) = there(2*w, 1)\n", "of(u)", "",
        "2*u(1) + 4*(u(1)*u(2) - u(-1)*u)/(2*hx)"}}};
  Grid da = grid_of(2, 7);
  for (const auto &list : lists) {
    const std::string head = "parameter(c, 1)\nidentity(left) = c\nneumann(top) = 0.1\n"; // and eliminated ends
    std::string       one = head, other = head, row = "residual = 0", by_hand = row;
    for (const Pair &pair : list) {
      one += pair.definitions, other += pair.definitions_by_hand;
      row += std::string("\n  + ") + pair.term, by_hand += std::string("\n  + ") + pair.by_hand;
    }
    INFO(row);
    CHECK(difference_of(da, one + row, other + by_hand) < 1e-11);
  }
  // on a stretched grid, and around a period
  const std::string stretched = "stretch(x, geometric, 4)\nstretch(y, tanh, 2)\n";
  CHECK(difference_of(da, stretched + "residual = laplacian(laplacian(u)) + dx(u + u)",
                      stretched + "residual = bilaplacian(u) + 2*dx(u)") < 1e-11);
  Grid around = grid_of(1, 13, DMDA_STENCIL_STAR, 2, DM_BOUNDARY_PERIODIC);
  CHECK(difference_of(around, "residual = dxx(dxx(u)) + d(1 + u^2, u^3)",
                      "s(i) = u(i)^3\nk(i) = 1 + u(i)^2\nf(i) = 2*k(0)*k(i)/(k(0) + k(i))*(s(i) - s(0))/hx^2\n"
                      "residual = bilaplacian(u) + f(1) + f(-1)") < 1e-11);
}

TEST_CASE("a formula is linear if it is so in the unknowns, and its reach is that of the text", "[equations]") {
  if (!equations_work()) return;
  Grid      da = grid_of(1, 9, DMDA_STENCIL_STAR, 1);
  PetscBool linear;
  set_equation(da, "field(k) = 1 + x\nresidual = dxx(2*u + sin(x)) + dx(k*u)");
  OK(DMDAEquationGetLinear(da, &linear));
  CHECK(linear);
  set_equation(da, "residual = dxx(u*u)");
  OK(DMDAEquationGetLinear(da, &linear));
  CHECK(!linear);
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"equation:2", "stencil of width 1", "grid(1, star, 2)"}),
               [&] { return DMDASetEquation(da, "mu = u^3 - dxx(u)\nresidual = dxx(mu)"); });
  Grid star = grid_of(2, 9, DMDA_STENCIL_STAR, 2);
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"equation:1", "grid(2, box, 2)"}),
               [&] { return DMDASetEquation(star, "residual = laplacian(laplacian(u))"); });
}

// (1 + x)² is the product of a field and the solution; the field is continued beyond the ends.
TEST_CASE("a formula with a field is as smooth beyond an end as the field", "[equations]") {
  if (!equations_work(true)) return;
  Options options("-ksp_rtol 1e-13");
  Grid    da = grid_of(1, 11, DMDA_STENCIL_STAR, 1);
  Vector  u;
  set_equation(da, "field(k) = 1 + x\ndirichlet(left) = 1\ndirichlet(right) = 2\nresidual = laplacian(k*u) - 2");
  PetscInt its;
  OK(solve(da, &u, &its));
  const auto values = natural_values(da, u);
  for (size_t i = 0; i < values.size(); i++) CHECK(PetscAbsScalar(values[i] - (1 + (PetscReal)(i + 1) / 12)) < 1e-11);
}

// So are the derivatives of a field itself.
TEST_CASE("the derivatives of a field are those of a formula of it", "[equations]") {
  if (!equations_work()) return;
  for (const char *stretch : {"", "stretch(x, geometric, 4)\n"}) {
    const std::string fields = std::string(stretch) + "field(k) = sin(3*x + y)\nneumann(left)\n";
    const auto        with = [&](const char *k) {
      std::string text = fields + "lap(v) = dxx(v) + dyy(v)\nresidual = u*dx(K) + laplacian(K) + dxy(K) + lap(K) + "
                                         "upwind_y(2, K) + d(2, K) + bilaplacian(K)";
      for (size_t at; (at = text.find('K')) != std::string::npos;) text.replace(at, 1, k);
      return text;
    };
    CHECK(difference_of(grid_of(2, 9), with("k"), with("1*k")) < 1e-9);
  }
}

// Cahn and Hilliard's equation: a manufactured solution, and the mass between insulated ends.
TEST_CASE("the Laplacian of a chemical potential", "[equations]") {
  if (!equations_work(true)) return;
  const std::string text = "parameter(eps, 0.1)\nneumann(sides)\nmu = u^3 - u - eps^2*laplacian(u)\n";
  PetscReal         errors[2];
  for (int level = 0; level < 2; level++) {
    Grid da = grid_of(1, level ? 40 : 20, DMDA_STENCIL_STAR, 2);
    set_equation(da, text + "exact = cos(pi*x)/2\ninitial = cos(pi*x)/2\nresidual = u - 0.1*laplacian(mu)");
    Vector   u, exact = make_vector(da);
    PetscInt its;
    Options  options("-ksp_rtol 1e-12 -snes_rtol 1e-11");
    OK(solve(da, &u, &its));
    OK(DMDAEquationComputeExact(da, 0, exact));
    OK(VecAXPY(exact, -1, u));
    OK(VecNorm(exact, NORM_INFINITY, &errors[level]));
  }
  CHECK(errors[1] < 0.3 * errors[0]);
  CHECK(errors[1] < 3e-3);
  Grid da = grid_of(2, 9);
  set_equation(da, text + "rate = laplacian(mu)");
  Vector      u = random_vector(da, 1), f = make_vector(da);
  PetscScalar sum;
  PetscReal   size;
  OK(compute_values(da, 0, u, f));
  OK(VecSum(f, &sum));
  OK(VecNorm(f, NORM_1, &size));
  CHECK(PetscAbsScalar(sum) < 1e-13 * size);
  CHECK(jacobian_difference(da) < 1e-6);
}

TEST_CASE("powers, functions and constants", "[equations]") {
  if (!equations_work()) return;
  Grid   da = grid_of(1, 9, DMDA_STENCIL_STAR, 1);
  Vector u = make_vector(da), f = make_vector(da);
  OK(VecSet(u, 3));
  const struct {
    const char *expression;
    PetscReal   value;
  } cases[] = {{"-u^2", -9},
               {"2^3^2/u", 512 / 3.},
               {"u^-1 + 2*u^2", 1 / 3. + 18},
               {"(u - 5)^3", -8},
               {"u^(1/2)", std::sqrt(3.)},
               {"sign(-u) + 2*sign(0) + sign(u)*10", 9},
               {"heaviside(u) + heaviside(-u) + heaviside(0)", 1.5},
               {"erf(u/2)", std::erf(1.5)},
               {"atan2(u, -1)", std::atan2(3., -1.)},
               {"width + 2*half", 3 * 3.14159265358979323846}};
  std::string text = "half = pi/2\nparameter(width, 4*half)\nparameter(other, sqrt(2)^2)\ndomain(-half, 2*pi)\n"
                     "residual = 0*half + 0*width*other";
  PetscReal   sum = 0, weight = 1;
  for (const auto &c : cases) { // with weights, so that no mistake makes up for another one
    text += "\n  + " + std::to_string(weight) + "*(" + c.expression + ")";
    sum += weight * c.value, weight += 1;
  }
  set_equation(da, text);
  OK(compute_values(da, 0, u, f));
  for (const PetscScalar value : natural_values(da, f)) CHECK(PetscAbsScalar(value - sum) < 1e-12);
  PetscReal first[3], h[3], width;
  OK(DMDAEquationGetSpacing(da, first, h));
  CHECK(std::fabs(h[0] - 2.5 * M_PI / 10) < 1e-14);
  CHECK(std::fabs(first[0] + M_PI / 2 - h[0]) < 1e-14);
  OK(DMDAEquationGetParameter(da, "width", &width));
  CHECK(std::fabs(width - 2 * M_PI) < 1e-14);
  set_equation(da, "residual = erf(u) + atan2(u(1), 1 + u^2) + atan2(-1, u) + sign(u - 1)*u + heaviside(u)*u^3");
  CHECK(jacobian_difference(da) < 1e-6);
  // derivatives in a manufactured source: of erf(2 x) and of the angle
  Grid plane = grid_of(2, 17, DMDA_STENCIL_STAR, 1);
  for (const char *text : {"exact = erf(2*x)\nresidual = -laplacian(u) - 16/sqrt(pi)*2*x*exp(-4*x^2)",
                           "exact = atan2(y + 1, x - 0.5)\nresidual = -laplacian(u)"}) {
    INFO(text);
    set_equation(plane, text);
    Vector    zero = make_vector(plane), g = make_vector(plane), exact = make_vector(plane);
    PetscReal largest;
    OK(DMDAEquationComputeExact(plane, 0, exact));
    OK(compute_values(plane, 0, exact, g)); // the source is zero: what is left is the differences' error
    OK(VecNorm(g, NORM_INFINITY, &largest));
    CHECK(largest < 0.2);
  }
}

TEST_CASE("fluxes of conservation laws: by hand, conserved, at the speed of a shock", "[equations]") {
  if (!equations_work()) return;
  const std::string system = "parameter(g, 9.81)\ndirichlet(sides) = 1\nneumann(top)\nstretch(y, tanh, 1)\n";
  Grid              da = grid_of(2, 7, DMDA_STENCIL_STAR, 1);
  CHECK(difference_of(
            da,
            system +
                "s = abs(u) + sqrt(g)\nrate = rusanov_x(u^2/2, u, u) - rusanov_y(u*x, s, u^2) + rusanov_x(3*u, 2, u)",
            system + "a(i, j) = u(i, j)^2/2\nb(i, j) = u(i, j)*x\ne(i, j) = abs(u(i, j)) + sqrt(g)\n"
                     "f(i) = a(i - 1, 0) + a(i, 0) - max(abs(u(i - 1)), abs(u(i)))*(u(i) - u(i - 1))\n"
                     "k(j) = b(0, j - 1) + b(0, j) - max(e(0, j - 1), e(0, j))*(u(0, j)^2 - u(0, j - 1)^2)\n"
                     "rate = (f(1) - f(0))/(2*hx) - (k(1) - k(0))/(2*hy) + 3*dx(u) - dxx(u)*hx") < 1e-11);
  // a shock from 1 to 0 moves by half of that: from 0.25 to 0.5 in a time of 0.5
  Grid line = grid_of(1, 64, DMDA_STENCIL_STAR, 1);
  set_equation(line, "neumann(sides)\ninitial = x < 0.25\nrate = -rusanov_x(u^2/2, u, u)");
  Vector u = make_vector(line);
  OK(DMDAEquationComputeInitial(line, u));
  OK(TSSolve(stepper(line, TSSSP, 1. / 256, 0.5), u));
  const auto values = natural_values(line, u);
  for (size_t i = 0; i < values.size(); i++)
    if (i < 26 || i > 36) CHECK(PetscAbsScalar(values[i] - (i < 32 ? 1. : 0.)) < 0.01);
  PetscScalar mass;
  OK(VecSum(u, &mass));
  CHECK(PetscAbsScalar(mass / 64. - 0.5) < 1e-6);
}

TEST_CASE("limited fluxes of conservation laws: by hand, of second order", "[equations]") {
  if (!equations_work()) return;
  const std::string head = "parameter(g, 9.81)\ndirichlet(sides) = 1\nneumann(top)\nstretch(y, tanh, 1)\n"
                           "s(i, j) = abs(u(i, j)) + sqrt(g)\n";
  // halves at a point d, at the speed of the face e; limited differences; the flux on the face e
  const std::string by_hand =
      "fast(e) = max(abs(u(e - 1)), abs(u(e)))\na(d, e) = u(d)^2/2 + fast(e)*u(d)\nb(d, e) = u(d)^2/2 - fast(e)*u(d)\n"
      "least(p, q) = p*q <= 0 ? 0*p : abs(p) < abs(q) ? p + 0 : q + 0\n"
      "face(e) = a(e - 1, e) + least(a(e - 1, e) - a(e - 2, e), a(e, e) - a(e - 1, e))/2\n"
      "  + b(e, e) - least(b(e, e) - b(e - 1, e), b(e + 1, e) - b(e, e))/2\n"
      "quick(e) = max(s(0, e - 1), s(0, e))\nk(d, e) = u(0, d)*x + quick(e)*u(0, d)\n"
      "l(d, e) = u(0, d)*x - quick(e)*u(0, d)\nmean_of(p, q) = p*q <= 0 ? 0*p : 2*p*q/(p + q)\n"
      "up(e) = k(e - 1, e) + step_y(e - 1)/2*mean_of((k(e - 1, e) - k(e - 2, e))/step_y(e - 2), (k(e, e) - k(e - 1, "
      "e))/step_y(e - 1))\n"
      "  + l(e, e) - step_y(e - 1)/2*mean_of((l(e, e) - l(e - 1, e))/step_y(e - 1), (l(e + 1, e) - l(e, "
      "e))/step_y(e))\n"
      "rate = (face(1) - face(0))/(2*hx) - (up(1) - up(0))/(2*hy)";
  CHECK(difference_of(grid_of(2, 9, DMDA_STENCIL_STAR, 2),
                      head + "rate = minmod_x(u^2/2, u, u) - vanleer_y(u*x, s(0, 0), u)", head + by_hand) < 1e-11);
  // fields continue beyond ends, also alone; slopes of all sizes
  Grid line = grid_of(1, 9, DMDA_STENCIL_STAR, 2);
  for (const std::string name : {"rusanov", "minmod", "vanleer"}) {
    const std::string fields = "neumann(sides)\nfield(k) = 1 + x^2\nfield(s) = x\nrate = " + name + "_x(";
    CHECK(difference_of(line, fields + "k, s, k) + u", fields + "1*k, 1*s, 1*k) + u") < 1e-12);
    set_equation(line, "domain(0, 18)\nneumann(sides)\ninitial = exp(-x^2 - 20*x)\nrate = -" + name + "_x(u, 1, u)");
    Vector u = make_vector(line);
    OK(DMDAEquationComputeInitial(line, u));
    Matrix    J = jacobian(line, u, MATAIJ);
    PetscReal norm;
    OK(MatNorm(J, NORM_FROBENIUS, &norm));
    CHECK(std::isfinite(norm));
  }
  // a wave goes once around
  for (const std::string name : {"minmod", "vanleer"}) {
    PetscReal error[2];
    for (int fine = 0; fine < 2; fine++) {
      const PetscInt N = fine ? 128 : 64;
      Grid           ring = grid_of(1, N, DMDA_STENCIL_STAR, 2, DM_BOUNDARY_PERIODIC);
      set_equation(ring, "initial = sin(2*pi*x)\nrate = -" + name + "_x(u, 1, u)");
      Vector u = make_vector(ring), exact = make_vector(ring);
      OK(DMDAEquationComputeInitial(ring, exact));
      OK(VecCopy(exact, u));
      OK(TSSolve(stepper(ring, TSSSP, 0.4 / (PetscReal)N, 1), u));
      OK(VecAXPY(u, -1, exact));
      OK(VecNorm(u, NORM_1, &error[fine]));
      error[fine] /= (PetscReal)N;
    }
    INFO(name << ": " << error[0] << ", " << error[1]);
    CHECK(error[0] < 0.03);
    CHECK(error[1] < error[0] / 3.2); // order 1.68 at least; at extrema slopes are zero
  }
}

// The density of Sod's shock tube at (x - 1/2) / t; E. F. Toro, Riemann Solvers, table 4.2: p* = 0.30313, u* = 0.92745.
static PetscReal sods_density(PetscReal s) {
  const PetscReal gamma = 1.4, c = std::sqrt(gamma), u = 0.92745, p = 0.30313, head = -c,
                  tail = u - c * std::pow(p, 1 / 7.),
                  shock = std::sqrt(gamma * 0.1 / 0.125) * std::sqrt(6 / 7. * p / 0.1 + 1 / 7.);
  if (s < head) return 1;
  if (s < tail) return std::pow(5 / 6. - s / (6 * c), 5);
  return s < u ? 0.42632 : s < shock ? 0.26557 : 0.125;
}

TEST_CASE("the gas of Sod's shock tube has the exact solution's waves", "[equations]") {
  if (!equations_work()) return;
  const auto error_of = [&](PetscInt N, const std::string &flux) {
    std::string text = gallery_content("sod.h");
    const bool  two = flux.compare(0, 4, "hll_") == 0;
    for (const auto &replaced :
         {std::array<std::string, 2>{"minmod_x", flux}, {", s, ", two ? ", v - c, v + c, " : ", s, "}})
      for (size_t at = 0; (at = text.find(replaced[0], at)) != std::string::npos; at += replaced[1].size())
        text.replace(at, replaced[0].size(), replaced[1]);
    if (two) text.replace(text.find("s = abs(v) + "), 13, "c = ");
    Grid da;
    OK(DMDACreateFromEquation(PETSC_COMM_WORLD, text.c_str(), 1, &N, &da));
    Vector u = make_vector(da);
    OK(DMDAEquationComputeInitial(da, u));
    OK(TSSolve(stepper(da, TSSSP, 0.3 / (PetscReal)N, 0.2), u));
    const auto values = natural_values(da, u);
    PetscReal  error = 0;
    for (PetscInt i = 0; i < N; i++) {
      const PetscReal r = PetscRealPart(values[(size_t)(3 * i)]);
      CHECK(r < 1 + 1e-6);
      CHECK(r > 0.125 - 1e-6);
      error += PetscAbsReal(r - sods_density((((PetscReal)i + 0.5) / (PetscReal)N - 0.5) / 0.2)) / (PetscReal)N;
    }
    return error;
  };
  const PetscReal first = error_of(100, "rusanov_x"), coarse = error_of(100, "minmod_x"),
                  fine = error_of(200, "minmod_x");
  INFO(first << ' ' << coarse << ' ' << fine);
  CHECK(coarse < 0.015);
  CHECK(coarse < first / 1.8);
  CHECK(fine < coarse / 1.5);
  // waves of two speeds: less is smeared
  const PetscReal hll = error_of(100, "hll_x"), hll_minmod = error_of(100, "hll_minmod_x"),
                  hll_vanleer = error_of(100, "hll_vanleer_x"), vanleer = error_of(100, "vanleer_x");
  INFO(hll << ' ' << hll_minmod << ' ' << hll_vanleer << ' ' << vanleer);
  CHECK(hll < 0.85 * first);
  CHECK(hll_minmod < coarse);
  CHECK(hll_vanleer < 1.02 * vanleer);
}

static bool is_linear(DM da, const std::string &text) {
  PetscBool linear;
  set_equation(da, text);
  OK(DMDAEquationGetLinear(da, &linear));
  return linear;
}

TEST_CASE("fluxes of two wave speeds: by hand, in any order, of one side where all waves go there", "[equations]") {
  if (!equations_work()) return;
  const std::string head = "parameter(g, 9.81)\ndirichlet(sides) = 1\nneumann(top)\nstretch(y, tanh, 1)\n";
  Grid              da = grid_of(2, 9, DMDA_STENCIL_STAR, 2);
  const std::string by_hand =
      "p(i) = u(i) - sqrt(g)\nq(i) = 2*u(i) + 1\nlow(i) = min(min(p(i - 1), p(i)), min(q(i - 1), q(i)))\n"
      "high(i) = max(max(p(i - 1), p(i)), max(q(i - 1), q(i)))\nf(i) = u(i)^2/2\n"
      "face(i) = low(i) >= 0 ? f(i - 1) + 0*high(i) : high(i) <= 0 ? f(i) + 0*low(i)\n"
      "  : (high(i)*f(i - 1) - low(i)*f(i) + low(i)*high(i)*(u(i) - u(i - 1)))/(high(i) - low(i))\n";
  const std::string rate = "rate = (face(1) - face(0))/hx + u";
  CHECK(difference_of(da, head + "rate = hll_x(u^2/2, u - sqrt(g), 2*u + 1, u) + u", head + by_hand + rate) < 1e-11);
  for (const std::string name : {"hll_y", "hll_minmod_y", "hll_vanleer_x"})
    CHECK(difference_of(da, head + "rate = " + name + "(u^2, u - 1, u + g, u)",
                        head + "rate = " + name + "(u^2, u + g, u - 1, u)") < 1e-12);
  // speeds of two signs that differ in size only
  for (const std::string name : {"minmod", "vanleer"})
    CHECK(difference_of(da, head + "rate = hll_" + name + "_y(u^2, -3, 3, u)",
                        head + "rate = " + name + "_y(u^2, 3, u)") < 1e-12);
  CHECK(difference_of(da, head + "rate = hll_x(u^2, 1, 3, u) - hll_y(u, -1, -2, u)",
                      head + "rate = (u^2 - u(-1)^2)/hx - (u(0, 1) - u)/hy") < 1e-11);
  CHECK(difference_of(da, head + "rate = hll_x(u^2, 0, 0, u)", head + "rate = (u(1)^2 - u(-1)^2)/(2*hx)") < 1e-11);
  CHECK(!is_linear(da, head + "rate = hll_x(u, u, 3, u)"));
  CHECK(is_linear(da, head + "rate = hll_x(3*u, -1, g, u)"));
  CHECK(!is_linear(da, head + "rate = hll_minmod_x(3*u, -1, g, u)"));
}

TEST_CASE("fluxes of two wave speeds: gases at rest side by side, and water over a dry bed", "[equations]") {
  if (!equations_work()) return;
  const PetscInt N = 200;
  for (const std::string flux : {"hll_x", "hll_minmod_x", "hll_vanleer_x"}) {
    INFO(flux);
    const std::string gases = "grid(1, star, 2)\nunknowns(r, m, e)\nneumann(sides)\nv = m/r\np = 0.4*(e - m*v/2)\n"
                              "c = sqrt(1.4*p/r)\nrate(r) = -" +
                              flux + "(m, v - c, v + c, r)\nrate(m) = -" + flux +
                              "(m*v + p, v - c, v + c, m)\nrate(e) = -" + flux +
                              "(v*(e + p), v - c, v + c, e)\ninitial(r) = x < 0.5 ? 1 : 0.1\ninitial(e) = 2.5\n";
    Grid tube;
    OK(DMDACreateFromEquation(PETSC_COMM_WORLD, gases.c_str(), 1, &N, &tube));
    Vector u = make_vector(tube);
    OK(DMDAEquationComputeInitial(tube, u));
    OK(TSSolve(stepper(tube, TSSSP, 0.2 / (PetscReal)N, 0.1), u));
    const auto gas = natural_values(tube, u);
    for (size_t i = 0; i < gas.size(); i += 3) { // pressure and velocity stay
      CHECK(PetscAbsScalar(gas[i + 1]) < 1e-12);
      CHECK(PetscAbsScalar(gas[i + 2] - 2.5) < 1e-12);
    }
    // a dam breaks (A. Ritter, 1892): the depth is (2 - s)²/9 at s = (x - 1/2)/t between -1 and 2
    const std::string water = "grid(1, star, 2)\nunknowns(h, q)\nneumann(sides)\ndepth = max(h, 0)\n"
                              "v = 2*depth*q/(depth^2 + max(depth^2, 1e-12))\nc = sqrt(depth + 1e-14)\n"
                              "rate(h) = -" +
                              flux + "(q, v - c, v + 2*c, h)\nrate(q) = -" + flux +
                              "(q*v + depth^2/2, v - c, v + 2*c, q)\ninitial(h) = x < 0.5 ? 1 : 0\n";
    Grid channel;
    OK(DMDACreateFromEquation(PETSC_COMM_WORLD, water.c_str(), 1, &N, &channel));
    Vector w = make_vector(channel);
    OK(DMDAEquationComputeInitial(channel, w));
    OK(TSSolve(stepper(channel, TSSSP, 0.15 / (PetscReal)N, 0.2), w));
    const auto values = natural_values(channel, w);
    PetscReal  error = 0, least = 1;
    for (PetscInt i = 0; i < N; i++) {
      const PetscReal s = (((PetscReal)i + 0.5) / (PetscReal)N - 0.5) / 0.2, h = PetscRealPart(values[(size_t)(2 * i)]);
      error += PetscAbsReal(h - (s < -1 ? 1 : s > 2 ? 0 : (2 - s) * (2 - s) / 9)) / (PetscReal)N;
      least = std::min(least, h);
    }
    INFO("error " << error << ", least depth " << least);
    CHECK(error < (flux == "hll_x" ? 0.012 : 0.004));
    CHECK(least > -1e-12);
  }
}

TEST_CASE("second differences of fourth order: by hand, and the order of solutions", "[equations]") {
  if (!equations_work()) return;
  const std::string ends = "identity(left) = 1\nidentity(right)\ndirichlet(bottom) = x\nneumann(top)\nfield(k) = x^3\n",
                    by_hand = "second(i) = (-w(i - 2) + 16*w(i - 1) - 30*w(i) + 16*w(i + 1) - w(i + 2))/(12*hx^2)\n";
  Grid da = grid_of(2, 9, DMDA_STENCIL_STAR, 2);
  CHECK(difference_of(da, ends + "residual = dxx(u, 4) + laplacian(u, 2) + dxx(u^2*k, 4)",
                      ends + "v = u^2*k\nw(i) = u(i) + u(i)^2*k(i)\n" + by_hand +
                          "near = x < 1.5*hx || x > 1 - 1.5*hx\nresidual = (near ? dxx(u) + dxx(v) : second(0)) + "
                          "laplacian(u)") < 1e-10);
  Grid ring = grid_of(2, 7, DMDA_STENCIL_STAR, 2, DM_BOUNDARY_PERIODIC);
  CHECK(difference_of(ring, "w = u^2\nresidual = laplacian(w, 4)", "residual = dxx(u^2, 4) + dyy(u*u, 4)") < 1e-11);
  CHECK(is_linear(ring, "parameter(a, 2)\nresidual = a*laplacian(u, 4)"));
  // constants solve it: the null space is found
  Vector       u = random_vector(ring, 1);
  Matrix       J = jacobian(ring, u, MATAIJ);
  MatNullSpace constants;
  OK(MatGetNullSpace(J, &constants));
  CHECK(constants);
  Options options("-ksp_type preonly -pc_type redundant -snes_rtol 1e-13");
  for (const char *sides : {"dirichlet(sides)", "identity(sides)"}) {
    PetscReal error[2];
    for (int fine = 0; fine < 2; fine++) {
      Grid     along = grid_of(1, (fine ? 96 : 48) + (sides[0] == 'i' ? 1 : -1), DMDA_STENCIL_STAR, 2);
      Vector   exact = make_vector(along);
      Vec      solution;
      PetscInt its;
      set_equation(along, std::string(sides) + "\nexact = exp(2*x)*cos(3*x)\nresidual = -laplacian(u, 4) + u^3");
      OK(DMDAEquationComputeExact(along, 0, exact));
      OK(solve(along, &solution, &its));
      OK(VecAXPY(solution, -1, exact));
      OK(VecNorm(solution, NORM_INFINITY, &error[fine]));
      OK(VecDestroy(&solution));
    }
    INFO(sides << ": " << error[0] << ", " << error[1]);
    CHECK(error[0] < 4e-5);
    CHECK(error[1] < error[0] / 12);
  }
}

TEST_CASE("differences of an order, or at ends, that there are not are refused", "[equations]") {
  if (!equations_work()) return;
  Grid       da = grid_of(2, 9, DMDA_STENCIL_STAR, 2), narrow = grid_of(2, 9, DMDA_STENCIL_STAR, 1);
  const auto set = [](DM on, const char *text) { return [=] { return DMDASetEquation(on, text); }; };
  EXPECT_ERROR(PETSC_ERR_USER, ({"equation:1", "order of laplacian is 2 or 4"}), set(da, "residual = laplacian(u, 3)"));
  EXPECT_ERROR(PETSC_ERR_USER, ({"order of dxx is 2 or 4"}), set(da, "parameter(n, 4)\nresidual = dxx(u, n)"));
  EXPECT_ERROR(PETSC_ERR_USER, ({"dx takes 1 argument"}), set(da, "residual = dx(u, 4)"));
  EXPECT_ERROR(PETSC_ERR_USER, ({"laplacian takes 1 argument"}), set(da, "residual = laplacian(u, 4, 4)"));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"laplacian(u, 4) reads", "width 2"}),
               set(narrow, "residual = laplacian(u, 4)"));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"equation:2", "fourth order", "along y", "neumann", "second order"}),
               set(da, "neumann(top)\nresidual = laplacian(u, 4)"));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"fourth order", "along x", "stretched"}),
               set(da, "stretch(x, tanh, 2)\nresidual = dxx(u, 4)"));
  OK(DMDASetEquation(da, "stretch(x, tanh, 2)\nneumann(left)\nresidual = dyy(u, 4)"));
  Grid mirrored = grid_of(1, 9, DMDA_STENCIL_STAR, 2, DM_BOUNDARY_MIRROR);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"fourth order", "mirrored"}), set(mirrored, "residual = laplacian(u, 4)"));
}
