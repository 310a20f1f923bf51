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
  l.shape = end == DM_BOUNDARY_MIRROR ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX; // PETSc has no mirrors of boxes
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
// There are both spaces, and the Mat and its transpose make them zero.
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
    const char    *text;
    DMBoundaryType end;
    PetscInt       dof;
    bool           left; // the null space of the transpose is found
  } cases[] = {
      {"residual = -laplacian(u) - cos(pi*x)", DM_BOUNDARY_NONE, 1, true},
      {"residual = -laplacian(u) - sin(2*pi*x)", DM_BOUNDARY_PERIODIC, 1, true},
      {"field(k) = 1 + x\nresidual = -d(k, u)", DM_BOUNDARY_NONE, 1, true},
      {"stretch(x, geometric, 5)\nstretch(y, tanh, 1)\nresidual = -laplacian(u)", DM_BOUNDARY_NONE, 1, true},
      {"residual = -laplacian(u) + (1 + x) * dx(u)", DM_BOUNDARY_PERIODIC, 1, false},
      {"unknowns(u, v)\nresidual(u) = -laplacian(u) - laplacian(v)\nresidual(v) = v - dx(v)", DM_BOUNDARY_NONE, 2,
       true},
      {"unknowns(u, p)\nresidual(u) = -laplacian(u) + dx(p) + u\nresidual(p) = dx(u)", DM_BOUNDARY_PERIODIC, 2, true},
      {"residual = -(u(1,0) + u(-1,0) - 2*u)/(hx*hx) - (u(0,1) + u(0,-1) - 2*u)/(hy*hy)", DM_BOUNDARY_PERIODIC, 1,
       true},
      {"residual = (2*u - u(1,0) - u(-1,0))/(hx*hx) + (2*u - u(0,1) - u(0,-1))/(hy*hy)", DM_BOUNDARY_NONE, 1, true},
      {"residual = -laplacian(u)", DM_BOUNDARY_MIRROR, 1, true},
  };
  for (const auto &c : cases)
    for (const char *type : {MATAIJ, MATSTENCILSHELL, MATEQUATION}) {
      INFO(c.text << ", " << type);
      Grid   da = grid_with(c.text + std::string(c.end == DM_BOUNDARY_NONE ? neumann : ""), 8, c.end, c.dof);
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
        "neumann(sides)\nresidual = -laplacian(u) + max(x - 0.9, 0) * u", "neumann(sides)\nresidual = -d(u, u)",
        // a limit: constants leave a rounding error
        "neumann(sides)\nresidual = -u(1,0)/(hx*hx) - u(-1,0)/(hx*hx) - u(0,1)/(hy*hy) - u(0,-1)/(hy*hy) "
        "+ 2*u/(hx*hx) + 2*u/(hy*hy)"}) {
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

TEST_CASE("a null space at some states alone is not used at others", "[equations]") {
  if (!equations_work()) return;
  for (const char *text : {"residual = -laplacian(u) + max(u - 2, 0)", "residual = -laplacian(u) + min(u + 20, 0)"}) {
    INFO(text);
    Grid   da = grid_with(text + std::string(neumann), 8);
    Vector u = random_vector(da, 1);
    Matrix A = jacobian(da, u, MATAIJ);
    CHECK(!spaces_of(A).right);
    CHECK(!spaces_of(A).left);
  }
  Grid                     da = grid_with("neumann(sides)\nresidual = -laplacian(u) + max(u - 20000, 0)", 8);
  Vector                   u = make_vector(da);
  Owned<SNES, SNESDestroy> snes;
  Matrix                   A = matrix(da, MATAIJ);
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, da));
  OK(VecSet(u, 1));
  OK(SNESComputeJacobian(snes, u, A, A));
  CHECK(spaces_of(A).right);
  CHECK(spaces_of(A).left);
  OK(VecSet(u, 30000));
  OK(SNESComputeJacobian(snes, u, A, A));
  CHECK(!spaces_of(A).right);
  CHECK(!spaces_of(A).left);
}

// The mean of max(u - 2, 0) is 0.05: the solution has a mean of about 2.
TEST_CASE("an equation that is singular at some states alone keeps its sources", "[equations]") {
  if (!equations_work()) return;
  Grid   da = grid_with("neumann(sides)\ninitial = 3\nresidual = -laplacian(u) + max(u - 2, 0) - 0.05 - cos(pi*x)", 12);
  Vector u;
  PetscInt    its, n;
  PetscScalar sum;
  OK(solve(da, &u, &its));
  OK(VecSum(u, &sum));
  OK(VecGetSize(u, &n));
  CHECK(std::fabs(PetscRealPart(sum) / (PetscReal)n - 2.035) < 0.005);
}

TEST_CASE("null spaces of the type equation follow fields", "[equations]") {
  if (!equations_work(true)) return;
  Grid                     da = grid_with("neumann(sides)\nfield(k)\nresidual = -laplacian(u) + k * u", 8);
  Vector                   u = make_vector(da), k = make_vector(da);
  Owned<SNES, SNESDestroy> snes;
  Matrix                   A = matrix(da, MATEQUATION);
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, da));
  OK(VecSet(u, 0));
  for (int singular = 1; singular >= 0; singular--) {
    OK(VecSet(k, 1 - singular));
    OK(DMDAEquationSetField(da, "k", k));
    OK(SNESComputeJacobian(snes, u, A, A));
    CHECK((bool)spaces_of(A).right == (bool)singular);
    CHECK((bool)spaces_of(A).left == (bool)singular);
  }
}

TEST_CASE("a coarse grid's first Jacobian of the type equation has its null spaces", "[equations]") {
  if (!equations_work(true)) return;
  Grid fine = grid_with("neumann(sides)\nresidual = -laplacian(u)", 17), da;
  OK(DMCoarsen(fine, PETSC_COMM_WORLD, &da));
  Vector u = make_vector(da);
  OK(VecSet(u, 0));
  Matrix A = jacobian(da, u, MATEQUATION);
  CHECK(spaces_of(A).right);
  CHECK(spaces_of(A).left);
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

static Grid line_with(const std::string &text, PetscInt N, PetscInt dof) {
  Lattice l;
  Grid    da;
  l.dim = 1, l.N[0] = N, l.N[1] = l.N[2] = 1, l.dof = dof;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}

TEST_CASE("a term that is small beside the differences is a source", "[equations]") {
  if (!equations_work()) return;
  Grid     da = line_with("unknowns(u, v)\ndomain(0, 1e-3)\nneumann(sides)\ninitial(v) = 1\n"
                              "residual(u) = -laplacian(u) + v - 1\nresidual(v) = v*v*v - 1",
                          1000, 2);
  Vector   u;
  PetscInt its;
  OK(solve(da, &u, &its));
  CHECK(its == 0);
  Matrix A = jacobian(da, u, MATAIJ);
  CHECK(spaces_of(A).right);
  CHECK(!spaces_of(A).left);
}

TEST_CASE("a rounding error of the data is no source", "[equations]") {
  if (!equations_work()) return;
  Grid     da = grid_with("neumann(sides)\nneumann(right) = cos(pi/2)\nresidual = -laplacian(u)", 8);
  Vector   u;
  PetscInt its;
  OK(solve(da, &u, &its));
}
