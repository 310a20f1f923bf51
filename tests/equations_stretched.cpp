// Equations as text on stretched grids: order, Jacobians, coarser and finer grids, what the DM's coordinates may be.

#include "catch.hpp"
#include "equations.hpp"

#include <cmath>

using namespace tests;

static Lattice lattice(int dim, PetscInt N, PetscInt width = 1, DMDAStencilType shape = DMDA_STENCIL_STAR) {
  Lattice l;
  l.dim = dim, l.width = width, l.shape = shape;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N : 1;
  return l;
}

struct Measured {
  PetscReal error, h;
};
// The largest error of the solution, and the mean spacing.
static Measured error_of(DM da) {
  Vector    u, e = make_vector(da);
  PetscInt  its;
  PetscReal h[3];
  Measured  m;
  OK(solve(da, &u, &its));
  OK(DMDAEquationComputeExact(da, 0, e));
  OK(VecAXPY(e, -1, u));
  OK(VecNorm(e, NORM_INFINITY, &m.error));
  OK(DMDAEquationGetSpacing(da, NULL, h));
  m.h = h[0];
  return m;
}
static PetscReal order(const Measured &coarse, const Measured &fine) {
  return std::log(coarse.error / fine.error) / std::log(coarse.h / fine.h);
}

struct StretchedCase {
  int         dim;
  PetscInt    N, width;
  bool        box, periodic;
  const char *text;
};
static const StretchedCase cases[] = {
    {1, 32, 1, false, false,
     "stretch(x, geometric, 5)\nrobin(right, 2)\nresidual = -laplacian(u) + dx(u) + u\nexact = exp(x) + sin(3 * x)"},
    {1, 32, 1, false, true, "stretch(x, tanh, 1)\nresidual = u - laplacian(u)\nexact = sin(2 * pi * x)"},
    {2, 20, 1, true, false,
     "stretch(x, tanh, 1.5)\nstretch(y, geometric, 0.3)\nidentity(sides)\nfield(k) = 1 + x * y\n"
     "residual = -d(k, u) - dxy(u) / 4 + dy(u)\nexact = sin(2 * x) * cos(3 * y) + x"},
    {2, 20, 1, false, false,
     "stretch(x, tanh, 1.5)\nstretch(y, geometric, 3)\nneumann(top)\nneumann(right)\nfield(k) = 1 + x * y\n"
     "residual = -d(k, u)\nexact = sin(2 * x) * cos(3 * y) + x"},
    {2, 20, 1, false, false, // by hand, with what a face lies between
     "stretch(x, tanh, 1)\nflux(i) = (u(i + 1) - u(i)) / step_x(i)\n"
     "residual = -(flux(0) - flux(-1)) / hx - dyy(u)\nexact = exp(x) * cos(3 * y)"},
    {2, 24, 2, true, false,
     "stretch(x, tanh, 1)\nstretch(y, tanh, 1)\nresidual = bilaplacian(u)\nexact = sin(pi * x) * sin(2 * pi * y)"},
    {3, 10, 1, false, false,
     "stretch(x, tanh, 1)\nstretch(y, geometric, 2)\nstretch(z, geometric, 0.5)\nneumann(front)\n"
     "residual = -laplacian(u) - exp(u) / 10\nexact = sin(2 * x) * cos(y) * exp(z)"},
};
static Grid grid_of(const StretchedCase &c, PetscInt N, VecType type = NULL) {
  Lattice l = lattice(c.dim, N, c.width, c.box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR);
  Grid    da;
  if (c.periodic) l.ends[0] = DM_BOUNDARY_PERIODIC;
  OK(make_grid(l, nullptr, &da));
  if (type) OK(DMSetVecType(da, type));
  set_equation(da, c.text);
  return da;
}

TEST_CASE("solutions on stretched grids are of second order in 1-D to 3-D", "[equations]") {
  if (!equations_work()) return;
  Options options("-snes_rtol 1e-11 -ksp_rtol 1e-11 -pc_type redundant -snes_max_it 30");
  for (const StretchedCase &c : cases) {
    const Measured coarse = error_of(grid_of(c, c.N)), fine = error_of(grid_of(c, 2 * c.N));
    INFO(c.text << ": " << coarse.error << " " << fine.error);
    CHECK(std::fabs(order(coarse, fine) - 2) < 0.1);
  }
  Options        stretch("-equation_stretch_x geometric,3 -equation_stretch_y tanh,1");
  const Measured coarse = error_of(gallery_grid("p_laplace.h", 16)), fine = error_of(gallery_grid("p_laplace.h", 32));
  INFO("p_laplace.h: " << coarse.error << " " << fine.error);
  CHECK(std::fabs(order(coarse, fine) - 2) < 0.1);
}

// Coordinates f(s) for s from 0 to 1 along each axis, at N points `before` spacings from the lower end and as many from the
// upper one; askew: the first coordinate depends on the second index, too.
static void set_coordinates(DM da, PetscReal before, PetscReal (*f)(PetscReal), bool askew = false) {
  const Lattice l = lattice_of(da);
  Vec           coordinates;
  PetscScalar  *x;
  PetscInt      n;
  const auto    end = [&](int a, bool upper) {
    const PetscReal intervals = (PetscReal)(l.N[a] - 1) + 2 * before;
    return (before + (upper ? (PetscReal)(l.N[a] - 1) : 0)) / intervals;
  };
  OK(DMDASetUniformCoordinates(da, end(0, false), end(0, true), end(1, false), end(1, true), end(2, false),
                               end(2, true)));
  OK(DMGetCoordinates(da, &coordinates));
  OK(VecGetLocalSize(coordinates, &n));
  OK(VecGetArray(coordinates, &x));
  for (PetscInt i = 0; i < n; i++) x[i] = f(PetscRealPart(x[i]));
  for (PetscInt i = 0; askew && i + 1 < n; i += l.dim) x[i] += 0.1 * x[i + 1];
  OK(VecRestoreArray(coordinates, &x));
}
static PetscReal curved(PetscReal s) {
  return std::exp(s) + s * s / 4;
}

TEST_CASE("the DM's coordinates stretch a grid, with the ends where the spacings go on to", "[equations]") {
  if (!equations_work()) return;
  Options           options("-ksp_rtol 1e-11 -pc_type redundant");
  const char *const text = "(sides)\nresidual = u - laplacian(u)\nexact = cos(x) * sin(y)";
  const struct {
    const char *form;
    PetscReal   before;
  } forms[] = {{"identity", 0}, {"neumann", 0.5}, {"eliminated", 1}};
  for (const auto &form : forms) {
    Measured m[2];
    for (int refined = 0; refined < 2; refined++) {
      Grid da;
      OK(make_grid(lattice(2, refined ? 40 : 20), nullptr, &da));
      set_coordinates(da, form.before, curved);
      set_equation(da, form.form + std::string(text));
      m[refined] = error_of(da);
    }
    INFO(form.form << ": " << m[0].error << " " << m[1].error);
    CHECK(std::fabs(order(m[0], m[1]) - 2) < 0.1);
  }
}

TEST_CASE("helpers on a stretched grid are the differences by hand", "[equations]") {
  if (!equations_work()) return;
  Grid da;
  OK(make_grid(lattice(2, 9, 1, DMDA_STENCIL_BOX), nullptr, &da));
  const TextPairs pairs = {
      {"dx(u)",
       "((u(1) - u) / step_x(0) * step_x(-1) + (u - u(-1)) / step_x(-1) * step_x(0)) / (step_x(0) + step_x(-1))"},
      {"dyy(u)", "2 * ((u(0, 1) - u) / step_y(0) - (u - u(0, -1)) / step_y(-1)) / (step_y(0) + step_y(-1))"},
      {"d(k, u)", "(2 * k * k(1) / (k + k(1)) * (u(1) - u) / step_x(0)"
                  "- 2 * k * k(-1) / (k + k(-1)) * (u - u(-1)) / step_x(-1)) / hx"
                  "+ (2 * k * k(0, 1) / (k + k(0, 1)) * (u(0, 1) - u) / step_y(0)"
                  "- 2 * k * k(0, -1) / (k + k(0, -1)) * (u - u(0, -1)) / step_y(-1)) / hy"},
      {"upwind_x(1 - 2 * y, u)",
       "y < 0.5 ? (1 - 2 * y) * (u - u(-1)) / step_x(-1) : (1 - 2 * y) * (u(1) - u) / step_x(0)"},
  };
  CHECK(difference_of_texts(
            da,
            "stretch(x, geometric, 4)\nstretch(y, tanh, 2)\nidentity(sides)\nfield(k) = 1 + x + y * y\nresidual = u",
            pairs) < 1e-13);
}

TEST_CASE("Jacobians on stretched grids are the derivatives of their residuals", "[equations]") {
  if (!equations_work()) return;
  for (const StretchedCase &c : cases) {
    Grid da = grid_of(c, 8);
    INFO(c.text);
    CHECK(jacobian_difference(da) < 1e-6);
  }
  Options stretch("-equation_stretch_x geometric,3 -equation_stretch_y tanh,1");
  for (const char *file : {"bratu.h", "p_laplace.h", "advection_diffusion.h", "elasticity.h"}) {
    Grid da = gallery_grid(file, 9);
    INFO(file);
    CHECK(jacobian_difference(da) < 1e-6);
  }
}

TEST_CASE("coarser and finer grids of a stretched one have their own spacings", "[equations]") {
  if (!equations_work()) return;
  Options  tight("-snes_rtol 1e-10 -ksp_rtol 1e-10");
  PetscInt its, ksp_its;
  {
    Options stretch("-equation_stretch_x geometric,3 -equation_stretch_y tanh,1");
    Options mg("-pc_type mg -pc_mg_levels 3 -snes_grid_sequence 2");
    Grid    coarse = gallery_grid("bratu.h", 9), fine = gallery_grid("bratu.h", 33);
    Vector  u, v;
    OK(solve(coarse, &v, &its, &ksp_its));
    CHECK(ksp_its <= 12 * its); // multigrid's convergence
    {
      Options direct("-pc_type redundant -snes_grid_sequence 0");
      OK(solve(fine, &u, &its));
    }
    CHECK(difference(v, u) < 1e-8);
  }
  // with coordinates, which PETSc coarsens and refines
  Options mg("-pc_type mg -pc_mg_levels 3");
  Grid    da;
  Vector  u;
  OK(make_grid(lattice(2, 33), nullptr, &da));
  set_coordinates(da, 0, curved);
  set_equation(da, "identity(sides) = 0\nresidual = -laplacian(u) - 1");
  OK(solve(da, &u, &its, &ksp_its));
  CHECK(ksp_its <= 14 * its); // its smoother is a rank's own
}

TEST_CASE("coordinates that are no product of axes are an error", "[equations]") {
  if (!equations_work()) return;
  Grid da;
  OK(make_grid(lattice(2, 9), nullptr, &da));
  set_coordinates(da, 0, curved, true);
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"product of axes", "ascend"}),
               [&] { return DMDASetEquation(da, "residual = -laplacian(u)"); });
}
