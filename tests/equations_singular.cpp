// Equations that constants solve without their source.

#include "catch.hpp"
#include "equations.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static Grid grid_with(const std::string &text, PetscInt N, DMBoundaryType end = DM_BOUNDARY_NONE, PetscInt dof = 1) {
  Lattice l;
  Grid    da;
  l.N[0] = N, l.N[1] = N + 2, l.dof = dof;
  l.ends[0] = l.ends[1] = end;
  l.shape = DMDA_STENCIL_BOX;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}

struct Spaces {
  MatNullSpace right, left;
};
static Spaces spaces_of(Mat A) {
  Spaces spaces;
  OK(MatGetNullSpace(A, &spaces.right));
  OK(MatGetTransposeNullSpace(A, &spaces.left));
  return spaces;
}
// |A w| / |A| of what is in the spaces
static void check_spaces(Mat A, Mat transpose) {
  PetscBool    is;
  const Spaces spaces = spaces_of(A);
  REQUIRE(spaces.right);
  OK(MatNullSpaceTest(spaces.right, A, &is));
  CHECK(is);
  REQUIRE(spaces.left);
  OK(MatNullSpaceTest(spaces.left, transpose, &is));
  CHECK(is);
}

static const char neumann[] = "\nneumann(sides)";

TEST_CASE("null spaces of singular equations are found", "[equations]") {
  if (!equations_work(true)) return;
  const struct {
    const char *text;
    bool        periodic;
    PetscInt    dof, left;
  } cases[] = {
      {"residual = -laplacian(u) - cos(pi*x)", false, 1, true},
      {"residual = -laplacian(u) - sin(2*pi*x)", true, 1, true},
      {"field(k) = 1 + x\nresidual = -d(k, u)", false, 1, true},
      {"stretch(x, geometric, 5)\nstretch(y, tanh, 1)\nresidual = -laplacian(u)", false, 1, true},
      {"residual = -laplacian(u) + (1 + x) * dx(u)", true, 1, false},
      {"unknowns(u, v)\nresidual(u) = -laplacian(u) - laplacian(v)\nresidual(v) = v - dx(v)", false, 2, true},
      {"unknowns(u, p)\nresidual(u) = -laplacian(u) + dx(p) + u\nresidual(p) = dx(u)", true, 2, true},
      {"residual = -(u(1,0) + u(-1,0) - 2*u)/(hx*hx) - (u(0,1) + u(0,-1) - 2*u)/(hy*hy)", true, 1, true},
  };
  for (const auto &c : cases)
    for (const char *type : {MATAIJ, MATSTENCILSHELL, MATEQUATION}) {
      INFO(c.text << ", " << type);
      Grid   da = grid_with(c.text + std::string(c.periodic ? "" : neumann), 8,
                          c.periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE, c.dof);
      Vector u = random_vector(da, 1);
      Matrix A = jacobian(da, u, type), T;
      OK(MatCreateTranspose(A, &T));
      if (c.left)
        check_spaces(A, T);
      else {
        CHECK(spaces_of(A).right);
        CHECK(!spaces_of(A).left);
      }
    }
}

TEST_CASE("equations that are not singular have no null space", "[equations]") {
  if (!equations_work(true)) return;
  for (const char *text :
       {"neumann(sides)\nresidual = -laplacian(u) + 1e-8 * u", "residual = -laplacian(u)",
        "neumann(sides)\neliminated(left) = 0\nresidual = -laplacian(u)",
        "neumann(sides)\nrobin(top, 1e-6) = 0\nresidual = -laplacian(u)",
        "neumann(sides)\nresidual = -laplacian(u) + max(x - 0.9, 0) * u", "neumann(sides)\nresidual = -d(u, u)"}) {
    INFO(text);
    Grid   da = grid_with(text, 12);
    Vector u = random_vector(da, 1);
    Matrix A = jacobian(da, u, MATAIJ);
    CHECK(!spaces_of(A).right);
    CHECK(!spaces_of(A).left);
  }
}

TEST_CASE("a null space follows the parameters, and leaves the program's own", "[equations]") {
  if (!equations_work(true)) return;
  Grid   da = grid_with("neumann(sides)\nparameter(sigma, 0)\nresidual = -laplacian(u) + sigma * u", 8);
  Vector u = make_vector(da);
  Owned<SNES, SNESDestroy> snes;
  Matrix                   A = matrix(da, MATSTENCILSHELL);
  OK(VecSet(u, 0));
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, da));
  OK(SNESComputeJacobian(snes, u, A, A));
  CHECK(spaces_of(A).right);
  OK(DMDAEquationSetParameter(da, "sigma", 1));
  OK(SNESComputeJacobian(snes, u, A, A));
  CHECK(!spaces_of(A).right);
  CHECK(!spaces_of(A).left);
  OK(DMDAEquationSetParameter(da, "sigma", 0));
  MatNullSpace own;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &own));
  OK(MatSetNullSpace(A, own));
  OK(SNESComputeJacobian(snes, u, A, A));
  CHECK(spaces_of(A).right == own);
  CHECK(spaces_of(A).left);
  OK(MatNullSpaceDestroy(&own));
}

// The error but for a constant.
static PetscReal error_of(const std::string &text, PetscInt N, DMBoundaryType end, const char *type) {
  Grid      da = grid_with(text, N, end);
  Vector    u, e = make_vector(da);
  PetscInt  its;
  PetscReal error;
  OK(DMSetMatType(da, type));
  OK(solve(da, &u, &its));
  OK(DMDAEquationComputeExact(da, 0, e));
  OK(VecAXPY(e, -1, u));
  MatNullSpace constants;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  OK(MatNullSpaceRemove(constants, e));
  OK(MatNullSpaceDestroy(&constants));
  OK(VecNorm(e, NORM_INFINITY, &error));
  return error;
}

TEST_CASE("singular equations are solved to second order, up to a constant", "[equations]") {
  if (!equations_work()) return;
  const struct {
    const char    *text;
    DMBoundaryType end;
    const char    *type, *options;
  } cases[] = {
      {"exact = exp(x) * (1 + y)\nresidual = -laplacian(u)", DM_BOUNDARY_NONE, MATAIJ, ""},
      {"exact = exp(x) * (1 + y)\nresidual = -laplacian(u)", DM_BOUNDARY_NONE, MATEQUATION, "-ksp_type cg"},
      {"exact = exp(x) * (1 + y)\nresidual = -laplacian(u)", DM_BOUNDARY_NONE, MATSTENCILSHELL, "-pc_type stencilmg"},
      {"exact = exp(sin(2*pi*x)) * cos(2*pi*y)\nresidual = -laplacian(u)", DM_BOUNDARY_PERIODIC, MATSTENCILSHELL,
       "-pc_type jacobi"},
      {"exact = exp(x) * (1 + y)\nfield(k) = 1 + x\nresidual = -d(k, u)", DM_BOUNDARY_NONE, MATAIJ, "-pc_type jacobi"},
      {"stretch(x, geometric, 3)\nexact = exp(x) * (1 + y)\nresidual = -laplacian(u)", DM_BOUNDARY_NONE,
       MATSTENCILSHELL, "-pc_type jacobi -ksp_type gmres -ksp_gmres_restart 100"},
      {"exact = exp(x) * (1 + y)\nflux(i) = sqrt(1 + pow((u(i+1) - u(i))/hx, 2)) * (u(i+1) - u(i))/hx\n"
       "residual = -(flux(0) - flux(-1))/hx - dyy(u)",
       DM_BOUNDARY_NONE, MATSTENCILSHELL, "-pc_type jacobi -ksp_type gmres -ksp_gmres_restart 100"},
  };
  int number = 0;
  for (const auto &c : cases) {
    if (!in_turn(number++)) continue;
    INFO(c.text << " " << c.type << " " << c.options);
    Options           set(std::string("-ksp_rtol 1e-9 -snes_rtol 1e-9 -ksp_max_it 2000 ") + c.options);
    const std::string text = c.text + std::string(c.end == DM_BOUNDARY_NONE ? neumann : "");
    const PetscReal   coarse = error_of(text, 12, c.end, c.type), fine = error_of(text, 24, c.end, c.type);
    CHECK(coarse < 0.1);
    CHECK(std::fabs(std::log(coarse / fine) / std::log(2.) - 2) < 0.25);
  }
  // by a KSP, whose solution has no constant part
  Grid                   da = grid_with("neumann(sides)\nresidual = -laplacian(u) - x + 0.5", 16);
  Owned<KSP, KSPDestroy> ksp;
  KSPConvergedReason     reason;
  Vector                 x = make_vector(da);
  PetscScalar            sum;
  PetscReal              norm;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetDM(ksp, da));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSolve(ksp, NULL, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  OK(VecSum(x, &sum));
  OK(VecNorm(x, NORM_1, &norm));
  CHECK(norm > 0);
  CHECK(PetscAbsScalar(sum) < 1e-10 * norm);
}

TEST_CASE("an equation without a solution says so", "[equations]") {
  if (!equations_work()) return;
  Grid     da = grid_with("neumann(sides)\n\nresidual = -laplacian(u) - 1", 8);
  Vector   u;
  PetscInt its;
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"equation:3", "there is no solution", "100 %", "subtract their mean"}),
               [&] { return solve(da, &u, &its); });
}
