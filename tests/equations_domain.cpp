// Equations as text: where a grid without a stated domain is.

#include "catch.hpp"
#include "equations.hpp"

#include <cmath>

using namespace tests;

// The coordinates that an equation sees on a grid: least and largest x and y. initial = x + 100 * y, with x below 10.
static void check_ends(DM da, const PetscReal (&x)[2], const PetscReal (&y)[2]) {
  Vector    u = make_vector(da);
  PetscReal least, largest;
  OK(DMDAEquationComputeInitial(da, u));
  OK(VecMin(u, NULL, &least));
  OK(VecMax(u, NULL, &largest));
  CHECK(std::fabs(least - (x[0] + 100 * y[0])) < 1e-12);
  CHECK(std::fabs(largest - (x[1] + 100 * y[1])) < 1e-10);
}

TEST_CASE("a stretched axis without a domain has the ends of the DM's coordinates, as the others", "[equations]") {
  if (!equations_work()) return;
  static const char text[] = "(sides) = 0\nresidual = -laplacian(u)\ninitial = x + 100 * y";
  Lattice           l;
  l.N[0] = l.N[1] = 9;
  for (const char *stretch : {"-equation_stretch_y tanh,2", "-equation_stretch_x geometric,3"}) {
    INFO(stretch);
    Options   options(stretch);
    Grid      da, coarse, fine;
    PetscReal h[3];
    OK(make_grid(l, nullptr, &da));
    OK(DMDASetUniformCoordinates(da, 0, 2, 1, 4, 0, 0));
    set_equation(da, std::string("identity") + text);
    check_ends(da, {0, 2}, {1, 4});
    OK(DMDAEquationGetSpacing(da, NULL, h));
    CHECK((std::fabs(h[0] - 2. / 8) < 1e-14 && std::fabs(h[1] - 3. / 8) < 1e-14));
    OK(DMCoarsen(da, PETSC_COMM_WORLD, &coarse));
    check_ends(coarse, {0, 2}, {1, 4});
    OK(DMRefine(da, PETSC_COMM_WORLD, &fine));
    check_ends(fine, {0, 2}, {1, 4});

    Grid between; // the ends are a spacing beyond the points: 0 and 10 for these
    OK(make_grid(l, nullptr, &between));
    OK(DMDASetUniformCoordinates(between, 1, 9, 1, 9, 0, 0));
    set_equation(between, std::string("eliminated") + text);
    OK(DMDAEquationGetSpacing(between, NULL, h));
    CHECK((std::fabs(h[0] - 1) < 1e-14 && std::fabs(h[1] - 1) < 1e-14));

    Grid stated;
    OK(make_grid(l, nullptr, &stated));
    OK(DMDASetUniformCoordinates(stated, 0, 2, 1, 4, 0, 0));
    set_equation(stated, std::string("domain(0, 3, 0, 5)\nidentity") + text);
    check_ends(stated, {0, 3}, {0, 5});
  }
}

TEST_CASE("coordinates that change after the equation are an error, the same ones are not", "[equations]") {
  if (!equations_work()) return;
  static const char text[] = "identity(sides) = 0\nresidual = -laplacian(u)\ninitial = x + 100 * y";
  Lattice           l;
  l.N[0] = l.N[1] = 9;
  for (const bool at_first : {false, true}) {
    const PetscReal end = at_first ? 2 : 1;
    Grid            da;
    Vector          u;
    OK(make_grid(l, nullptr, &da));
    if (at_first) OK(DMDASetUniformCoordinates(da, 0, end, 0, 1, 0, 0));
    set_equation(da, text);
    check_ends(da, {0, end}, {0, 1});
    OK(DMDASetUniformCoordinates(da, 0, end, 0, 1, 0, 0)); // as for output
    check_ends(da, {0, end}, {0, 1});
    OK(DMDASetUniformCoordinates(da, 0, end, 0, 3, 0, 0));
    u = make_vector(da);
    EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"coordinates have changed", "along y is at 0.375 now", "domain"}),
                 [&] { return DMDAEquationComputeInitial(da, u); });
  }
}
