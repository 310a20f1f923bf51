// Equations as text: which ones are linear.

#include "catch.hpp"
#include "equations.hpp"
#include "equations/linearity.hpp"

using namespace tests;

// By the text of a residual, and one parameter p.
static bool linear_residual(const std::string &residual, double p = 3, const std::string &head = "") {
  shellac::EquationText text;
  REQUIRE(shellac::read_equation("equation", head + "parameter(p)\nfield(k)\nresidual = " + residual + " + 0 * k * p",
                                 &text) == "");
  return is_linear(text, {p}, {p == p});
}

TEST_CASE("the text says whether an equation is linear", "[equations]") {
  for (const char *linear : {"-laplacian(u) - 1", "k * u", "u(1, 0) * k(-1, 0) / hx - x * t", "exp(k) * u + sin(x)",
                             "x < 0.5 ? u + 0 : 2 * u", "pow(k, 2) * dx(u) + (p - 1.5e-1) * u()",
                             "d(k, u) + upwind_x(1 - y, u) - bilaplacian(u)", "u / (k + fabs(x))", "+max(k, 0) * u",
                             "(p - 3) * exp(u)", "u * pow(u, p - 3)", "0. * u * u", "pow(u, 1)",
                             "(k > p && x != 1) * u", "u(x < 0.5 ? 1 : -1)", "-(u - 3) / p"}) {
    INFO(linear);
    CHECK(linear_residual(linear));
  }
  for (const char *nonlinear : {"u * u",
                                "1 / u",
                                "exp(u)",
                                "k * u * u * u",
                                "max(u - 50, 0)",
                                "min(0, u)",
                                "fabs(u)",
                                "abs(k * u)",
                                "pow(u, p)",
                                "pow(2, u)",
                                "u > 50 ? u + 1 : u + 0",
                                "(u < 50) * k",
                                "d(u, u)",
                                "d(u, k)",
                                "upwind_y(u, u)",
                                "upwind_x(u - 50, k)",
                                "u(u > 0 ? 1 : -1)",
                                "dx(u) * u",
                                "tanh(u - 50)",
                                "k * (!(u == 0) ? 1. : 2.)",
                                "(x < 1 || u > 2) * k"}) {
    INFO(nonlinear);
    CHECK(!linear_residual(nonlinear));
  }
  const std::string head =
      "flux(i) = (u(i + 1) - u(i)) / step_x(i)\ntwice(v) = v + v\nsquare(v) = v * v\nw = twice(u) - 1\n";
  CHECK(linear_residual("flux(0) - flux(-1) + w + square(x)", 3, head));
  CHECK(!linear_residual("flux(0) + w + square(twice(u))", 3, head));
  CHECK(!linear_residual("flux(0) + square(w)", 3, head));
  CHECK(!linear_residual("p * u * u", NAN)); // without a value
  // the gallery, with its parameters; the p-Laplacian is the Laplacian for p = 2
  const auto of_file = [](const std::string &file, std::vector<double> parameters = {}) {
    const auto text = gallery_text(file);
    for (size_t p = parameters.size(); p < text.parameters.size(); p++) parameters.push_back(text.parameters[p].value);
    return is_linear(text, parameters, std::vector<bool>(parameters.size(), true));
  };
  for (const char *file :
       {"advection_diffusion.h", "biharmonic.h", "diffusion.h", "elasticity.h", "nine_point.h", "poisson.h"}) {
    INFO(file);
    CHECK(of_file(file));
  }
  for (const char *file : {"allen_cahn.h", "bratu.h", "gray_scott.h", "p_laplace.h", "shallow_water.h"}) {
    INFO(file);
    CHECK(!of_file(file));
  }
  CHECK(of_file("p_laplace.h", {2}));
  CHECK(linear_residual("p * u * u", 0));
}

// Far from the first points, or from usual states.
TEST_CASE("what is not linear somewhere is not linear, on any ranks", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  Grid    da;
  l.N[0] = l.N[1] = 33;
  OK(make_grid(l, nullptr, &da));
  const struct {
    const char *text;
    bool        linear;
  } cases[] = {{"max(u - 50, 0) * 100", false},
               {"(fabs(x - 0.5) < 0.15 && fabs(y - 0.5) < 0.15 ? 500. : 0.) * u * u * u", false},
               {"(x < 0.5 || y < 0.5 ? 500. : 0.) * u", true},
               {"(a - b) * u * u", false},
               {"(a - b) * u", true}};
  for (const auto &c : cases) {
    PetscBool linear;
    INFO(c.text);
    set_equation(da, std::string("field(a) = 1\nfield(b) = 1\nresidual = -laplacian(u) - 1000 + ") + c.text);
    OK(DMDAEquationGetLinear(da, &linear));
    CHECK((linear == PETSC_TRUE) == c.linear);
  }
}

TEST_CASE("a parameter whose value the equation cannot have keeps the one it had", "[equations]") {
  if (!equations_work()) return;
  Grid da = make_grid(problem(1, 12));
  set_equation(da, "parameter(length, 2)\nrobin(left, 1/length)\nresidual = -laplacian(u) - 1");
  Vector   u, again;
  PetscInt its;
  OK(solve(da, &u, &its));
  EXPECT_ERROR(PETSC_ERR_FP, ({"alpha", "left", "not finite"}),
               [&] { return DMDAEquationSetParameter(da, "length", 0); });
  PetscReal value;
  OK(DMDAEquationGetParameter(da, "length", &value));
  CHECK(value == 2);
  OK(solve(da, &again, &its));
  CHECK(difference(again, u) == 0);
}
