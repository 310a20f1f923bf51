// Prints the tables of iterations of src/multigrid/README.md: stencilmg beside PETSc's own multigrid, for equations as text
// and for diffusion around obstacles.

#include <cmath>
#include <string>
#include <vector>

#include <petscdmda.h>
#include <petscksp.h>

#include "device/petsc.hpp"
#include "shellac.h"

static const char help[] =
    "Prints iterations of stencilmg, and of GAMG or PCMG, to a relative residual of 1e-8.\n"
    "  -largest 1100000                                    unknowns of the largest grid; beyond it cells are blank\n"
    "  -coefficients, -obstacles, -convection, -systems   which tables (default: all)\n\n";

static PetscInt largest = 1100000;

struct Equation {
  std::string name, text;
  PetscInt    dof = 1;
  bool        box = false;
};

struct Way { // of solving
  MatType     type;
  const char *options;
};
static const Way cg = {MATSTENCILSHELL,
                       "-ksp_type cg -ksp_norm_type unpreconditioned -pc_type stencilmg -ksp_max_it 1000"},
                 cg_gamg = {MATAIJ, "-ksp_type cg -ksp_norm_type unpreconditioned -pc_type gamg -ksp_max_it 1000"},
                 gmres = {MATSTENCILSHELL, "-ksp_type gmres -ksp_pc_side right -pc_type stencilmg"},
                 gmres_gamg = {MATAIJ, "-ksp_type gmres -ksp_pc_side right -pc_type gamg"};

static PetscErrorCode blank() {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " |"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A grid of n points a side.
static PetscErrorCode make_grid(PetscInt dim, PetscInt n, PetscInt dof, bool box, DM *da) {
  PetscFunctionBegin;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, dim));
  PetscCall(DMDASetSizes(*da, n, n, dim > 2 ? n : 1));
  PetscCall(DMDASetDof(*da, dof));
  PetscCall(DMDASetStencilType(*da, box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, 1));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One cell of a table: the iterations with what the options say, for a matrix, or for the equation of a grid.
static PetscErrorCode print_iterations(DM da, Mat A, Vec b, Vec x, const char *way) {
  KSP                ksp;
  PetscOptions       options;
  PetscInt           iterations, most;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, way));
  PetscCall(PetscOptionsPush(options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(A ? KSPSetOperators(ksp, A, A) : KSPSetDM(ksp, da));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetTolerances(ksp, NULL, NULL, NULL, &most));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, reason > 0 ? " %d |" : " none in %d |", (int)(reason > 0 ? iterations : most)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solve(const Equation &equation, PetscInt dim, PetscInt n, const Way &way) {
  DM da;

  PetscFunctionBegin;
  if (equation.dof * n * n * (dim > 2 ? n : 1) > largest) {
    PetscCall(blank());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(make_grid(dim, n, equation.dof, equation.box, &da));
  PetscCall(DMSetMatType(da, way.type));
  PetscCall(DMDASetEquation(da, equation.text.c_str()));
  PetscCall(print_iterations(da, NULL, NULL, NULL, way.options));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode head(const char *row, PetscInt columns) {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s\n|", row));
  for (PetscInt c = 0; c < columns; c++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " --- |"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// -div(a grad u) = 1, with a mean of a at neighbouring points; a: a text with X, Y, Z for the coordinates.
static Equation diffusion(const char *name, std::string a, PetscInt dim, bool harmonic) {
  // points lie a little beside lines where a jumps, on which rounding would decide
  const std::string coordinates[] = {"(x + (i + 1e-5) * hx)", "(y + (j + 1e-5) * hy)",
                                     dim > 2 ? "(z + (k + 1e-5) * hz)" : "0."};
  const std::string arms[] = {"1, 0, 0", "-1, 0, 0", "0, 1, 0", "0, -1, 0", "0, 0, 1", "0, 0, -1"};
  for (int axis = 0; axis < 3; axis++)
    for (size_t at = 0; (at = a.find("XYZ"[axis], at)) != std::string::npos;) a.replace(at, 1, coordinates[axis]);
  for (size_t at = 0; dim < 3 && (at = a.find("hz", at)) != std::string::npos;) a.replace(at, 2, "1");
  std::string text = "a(i, j, k) = " + a + "\nbetween(a, b) = " + (harmonic ? "2 * a * b / (a + b)" : "(a + b) / 2") +
                     "\nresidual = -1";
  for (PetscInt arm = 0; arm < 2 * dim; arm++)
    text += " - between(a(0, 0, 0), a(" + arms[arm] + ")) * (u(" + arms[arm] + ") - u) / (hx * hx)";
  return {name, text};
}

static PetscErrorCode coefficients() {
#define EVEN(m) "(" m ") - 2 * floor((" m ") / 2) < 0.5"
// arguments and values that rounding does not change: a row and its neighbour's must have the same coefficient
#define RANDOM   "(43758.5453 * sin(127 * floor(X / hx + 0.01) + 311 * floor(Y / hy + 0.01) + 74 * floor(Z / hz + 0.01)))"
#define CHECKERS EVEN("floor(22 * X) + floor(22 * Y) + floor(22 * Z)") " ? 1 : 1000"
  static const struct {
    const char *name, *a;
    bool        in_3d = true, harmonic = false;
  } rows[] = {
      {"exp(2 sin 2πx sin 3y)", "exp(2 * sin(2 * pi * X) * sin(3 * Y))"},
      {"blocks of 1 and 1000, aligned to no grid",
       EVEN("floor(3.3 * X + 0.1) + floor(2.7 * Y + 0.2) + floor(3.1 * Z + 0.3)") " ? 1 : 1000"},
      {"checkerboard of 22 × 22 squares (22³ cubes), 1 and 1000", CHECKERS},
      {"the same, harmonic means", CHECKERS, true, true},
      {"1000 along an oblique line of a cell's width", "abs(X + 0.3 * Y - 0.6) < hx ? 1000 : 1", false},
      {"0.001 along it", "abs(X + 0.3 * Y - 0.6) < hx ? 0.001 : 1", false},
      {"0.001 to 1000, random at each point", "pow(10, 0.06 * floor(100 * (" RANDOM " - floor" RANDOM ")) - 3)"}};

  PetscFunctionBegin;
  PetscCall(head("| a | 65² | 257² | 1025² | 33³ | 65³ | GAMG, 1025² | 65³ |", 8));
  for (const auto &row : rows) {
    const Equation plane = diffusion(row.name, row.a, 2, row.harmonic),
                   space = diffusion(row.name, row.a, 3, row.harmonic);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s |", row.name));
    for (PetscInt n : {65, 257, 1025}) PetscCall(solve(plane, 2, n, cg));
    for (PetscInt n : {33, 65}) PetscCall(row.in_3d ? solve(space, 3, n, cg) : blank());
    PetscCall(solve(plane, 2, 1025, cg_gamg));
    PetscCall(row.in_3d ? solve(space, 3, 65, cg_gamg) : blank());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Points of the unit square or cube, of a grid of n points a side, that are solid.
typedef bool Solid(PetscInt dim, const PetscReal x[], PetscInt n);
static bool  in_ball(PetscInt dim, const PetscReal x[], const PetscReal center[], PetscReal radius) {
   PetscReal square = 0;
   for (PetscInt a = 0; a < dim; a++) square += PetscSqr(x[a] - center[a]);
  return square < radius * radius;
}
static bool one_ball(PetscInt dim, const PetscReal x[], PetscInt) {
  const PetscReal center[] = {0.5, 0.5, 0.5};
  return in_ball(dim, x, center, 0.2);
}
// Random ones, that may overlap: three tenths of the volume.
static bool balls(PetscInt dim, const PetscReal x[], PetscInt) {
  bool is = false;
  for (int n = 0; n < (dim > 2 ? 85 : 45) && !is; n++) {
    PetscReal center[3];
    for (int a = 0; a < 3; a++) { // the sequence R_3 of M. Roberts, 2018, stirred
      const PetscReal steps[] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703},
                      at = n * steps[a] + 0.37 * PetscSinReal(12.9898 * n + 4 * a);
      center[a] = at - PetscFloorReal(at);
    }
    is = in_ball(dim, x, center, dim > 2 ? 0.1 : 0.05);
  }
  return is;
}
static bool channel(PetscInt, const PetscReal x[], PetscInt) { // there and back again, sixteen times
  const PetscReal y = 17 * x[1] - PetscFloorReal(17 * x[1]);
  const bool      back = (int)(17 * x[1]) % 2;
  return y < 0.2 && x[1] > 0.05 && (back ? x[0] > 1. / 17 : x[0] < 16. / 17);
}

// The same of so many cells' width, with walls of one, as many times as there is room.
template <int width> static bool narrow(PetscInt, const PetscReal x[], PetscInt n) {
  const PetscInt i[] = {(PetscInt)std::round(x[0] * (n + 1)) - 1, (PetscInt)std::round(x[1] * (n + 1)) - 1},
                 row = (i[1] + 1) / (width + 1);
  return (i[1] + 1) % (width + 1) == width && (row % 2 ? i[0] >= width : i[0] < n - width);
}
// Pores of a few cells' width: where random waves of eight to sixteen cells' length are less than a bound.
template <int bound> static bool porous(PetscInt dim, const PetscReal x[], PetscInt n) {
  constexpr int waves = 20;
  PetscReal     sum = 0;
  for (int w = 0; w < waves; w++) {
    PetscReal d[3], square = 0, phase = 9.7 * w;
    for (int a = 0; a < dim; a++) d[a] = PetscSinReal(12.9898 * w + 78.233 * a + 1), square += d[a] * d[a];
    for (int a = 0; a < dim; a++)
      phase += 2 * PETSC_PI / (8 + 8. * w / waves) * d[a] / PetscSqrtReal(square) * x[a] * (n + 1);
    sum += PetscSinReal(phase);
  }
  return sum > bound / 100. * PetscSqrtReal(waves / 2.);
}
// Each point by itself: three tenths of them.
static bool points(PetscInt dim, const PetscReal x[], PetscInt n) {
  PetscReal at = 0;
  for (int a = 0; a < dim; a++) {
    const PetscReal factors[] = {12.9898, 78.233, 37.719};
    at += factors[a] * std::round(x[a] * (n + 1));
  }
  at = 43758.5453 * PetscSinReal(at);
  return at - PetscFloorReal(at) < 0.3;
}

// -Δu = f around obstacles, u = 0 around all; f of a smooth u, since closed pores without a flux have no solution for any f.
static PetscErrorCode solve(Solid *solid, MatDiffusionWallType wall, PetscInt dim, PetscInt n, bool gamg) {
  DM           da;
  Mat          A;
  Vec          mask, b, x;
  PetscScalar *of_mask, *of_u;
  PetscInt     lo[3], size[3], i[3], at = 0;

  PetscFunctionBegin;
  if (n * n * (dim > 2 ? n : 1) > largest) {
    PetscCall(blank());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(make_grid(dim, n, 1, false, &da));
  PetscCall(DMCreateGlobalVector(da, &mask));
  PetscCall(VecDuplicate(mask, &b));
  PetscCall(VecDuplicate(mask, &x));
  PetscCall(DMDAGetCorners(da, &lo[0], &lo[1], &lo[2], &size[0], &size[1], &size[2]));
  PetscCall(VecGetArrayWrite(mask, &of_mask));
  PetscCall(VecGetArrayWrite(x, &of_u));
  for (i[2] = lo[2]; i[2] < lo[2] + size[2]; i[2]++)
    for (i[1] = lo[1]; i[1] < lo[1] + size[1]; i[1]++)
      for (i[0] = lo[0]; i[0] < lo[0] + size[0]; i[0]++, at++) {
        PetscReal place[3];
        for (int a = 0; a < 3; a++) place[a] = PetscReal(i[a] + 1) / (n + 1);
        const bool is_solid = solid(dim, place, n);
        of_mask[at] = is_solid;
        of_u[at] = 1;
        for (int a = 0; a < dim; a++) of_u[at] *= is_solid ? 0 : PetscSinReal(PETSC_PI * place[a]);
      }
  PetscCall(VecRestoreArrayWrite(x, &of_u));
  PetscCall(VecRestoreArrayWrite(mask, &of_mask));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetDM(A, da));
  PetscCall(MatSetType(A, MATDIFFUSION));
  PetscCall(MatDiffusionSetMask(A, mask));
  PetscCall(MatDiffusionSetWall(A, wall));
  PetscCall(MatSetUp(A));
  PetscCall(MatMult(A, x, b));
  if (gamg) PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(print_iterations(da, A, b, x, gamg ? cg_gamg.options : cg.options));
  PetscCall(MatDestroy(&A));
  for (Vec *v : {&mask, &b, &x}) PetscCall(VecDestroy(v));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode obstacles() {
  static const struct {
    const char          *name;
    Solid               *solid;
    MatDiffusionWallType wall;
    bool                 in_3d = true;
  } rows[] = {{"a disc (ball), no flux", one_ball, MAT_DIFFUSION_WALL_NOFLUX},
              {"the same, u = 0", one_ball, MAT_DIFFUSION_WALL_VALUE},
              {"random discs (balls), no flux", balls, MAT_DIFFUSION_WALL_NOFLUX},
              {"the same, u = 0", balls, MAT_DIFFUSION_WALL_VALUE},
              {"a channel there and back again, 16 times, no flux", channel, MAT_DIFFUSION_WALL_NOFLUX, false},
              {"one of a cell's width, as often as it fits", narrow<1>, MAT_DIFFUSION_WALL_NOFLUX, false},
              {"of two cells' width", narrow<2>, MAT_DIFFUSION_WALL_NOFLUX, false},
              {"of three cells' width", narrow<3>, MAT_DIFFUSION_WALL_NOFLUX, false},
              {"pores, 0.9 of the volume, no flux", porous<128>, MAT_DIFFUSION_WALL_NOFLUX},
              {"0.6 of it", porous<25>, MAT_DIFFUSION_WALL_NOFLUX},
              {"0.3 of it", porous<-52>, MAT_DIFFUSION_WALL_NOFLUX},
              {"random points, 0.3 of all, no flux", points, MAT_DIFFUSION_WALL_NOFLUX}};

  PetscFunctionBegin;
  PetscCall(head("| obstacles | 129² | 257² | 512² | 1025² | 48³ | 96³ | GAMG, 1025² | 96³ |", 9));
  for (const auto &row : rows) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s |", row.name));
    for (PetscInt n : {129, 257, 512, 1025}) PetscCall(solve(row.solid, row.wall, 2, n, false));
    for (PetscInt n : {48, 96}) PetscCall(row.in_3d ? solve(row.solid, row.wall, 3, n, false) : blank());
    PetscCall(solve(row.solid, row.wall, 2, 1025, true));
    PetscCall(row.in_3d ? solve(row.solid, row.wall, 3, 96, true) : blank());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode convection() {
  static const struct {
    const char *name, *x, *y, *z; // the wind
    PetscInt    n = 257;          // points a side
  } rows[] = {{"(1, 0), 257²", "1", "0", NULL},
              {"(1, 0.3), 257²", "1", "0.3", NULL},
              {"(1 + sin(7y)/2, cos 5x), 257²", "1 + sin(7 * y) / 2", "cos(5 * x)", NULL},
              {"(y - ½, ½ - x), 257²", "y - 0.5", "0.5 - x", NULL},
              {"(sin πx cos πy, -cos πx sin πy), an eddy, 257²", "sin(pi * x) * cos(pi * y)",
               "-cos(pi * x) * sin(pi * y)", NULL},
              {"(y - ½, ½ - x), 1025²", "y - 0.5", "0.5 - x", NULL, 1025},
              {"the eddy, 1025²", "sin(pi * x) * cos(pi * y)", "-cos(pi * x) * sin(pi * y)", NULL, 1025},
              {"(1 + sin(7y)/2, cos 5x, sin(3x + y)), 65³", "1 + sin(7 * y) / 2", "cos(5 * x)", "sin(3 * x + y)", 65},
              {"(y - ½, ½ - x, 0.3x), 65³", "y - 0.5", "0.5 - x", "0.3 * x", 65}};

  PetscFunctionBegin;
  PetscCall(head("| wind | ν = 1 | 10⁻² | 10⁻³ | 10⁻⁴ | 10⁻⁸ | GAMG, ν = 1 | 10⁻² | 10⁻³ |", 9));
  for (const auto &row : rows) {
    const PetscInt dim = row.z ? 3 : 2, n = row.n;
    const auto     equation = [&](const char *nu) {
      return Equation{row.name, std::string("nu = ") + nu + "\nresidual = -1 - nu * laplacian(u) + upwind_x(" + row.x +
                                    ", u) + upwind_y(" + row.y + ", u)" +
                                    (row.z ? std::string(" + upwind_z(") + row.z + ", u)" : "")};
    };
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s |", row.name));
    for (const char *nu : {"1", "1e-2", "1e-3", "1e-4", "1e-8"}) PetscCall(solve(equation(nu), dim, n, gmres));
    for (const char *nu : {"1", "1e-2", "1e-3"}) PetscCall(n > 257 ? blank() : solve(equation(nu), dim, n, gmres_gamg));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Unknowns are given at the ends, which are points, so that PCMG's coarse points are fine ones.
static PetscErrorCode systems() {
#define GIVEN  "identity(sides) = 0\n"
#define DXZ(u) "(" u "(1, 0, 1) - " u "(1, 0, -1) - " u "(-1, 0, 1) + " u "(-1, 0, -1)) / (4 * hx * hz)"
#define DYZ(u) "(" u "(0, 1, 1) - " u "(0, 1, -1) - " u "(0, -1, 1) + " u "(0, -1, -1)) / (4 * hy * hz)"
  const struct {
    const char *name;
    Equation    plane, space; // space: none where it has no text
  } rows[] = {
      {"reaction and diffusion, 3 unknowns",
       {"",
        "unknowns(u, v, w)\n" GIVEN "residual(u) = -1 - laplacian(u) + 5 * u - 3 * v + w\n"
        "residual(v) = -1 - 0.1 * laplacian(v) - 2 * u + 4 * v\nresidual(w) = -1 - 2 * laplacian(w) + u + v + 30 * w",
        3},
       {"",
        "unknowns(u, v, w)\n" GIVEN "residual(u) = -1 - laplacian(u) + 5 * u - 3 * v + w\n"
        "residual(v) = -1 - 0.1 * laplacian(v) - 2 * u + 4 * v\nresidual(w) = -1 - 2 * laplacian(w) + u + v + 30 * w",
        3}},
      {"linear elasticity, λ = 2μ, 2 and 3 unknowns",
       {"",
        "unknowns(u, v)\n" GIVEN "residual(u) = -1 - laplacian(u) - 3 * (dxx(u) + dxy(v))\n"
        "residual(v) = -1 - laplacian(v) - 3 * (dxy(u) + dyy(v))",
        2, true},
       {"",
        "unknowns(u, v, w)\n" GIVEN "residual(u) = -1 - laplacian(u) - 3 * (dxx(u) + dxy(v) + " DXZ(
            "w") ")\n"
                 "residual(v) = -1 - laplacian(v) - 3 * (dxy(u) + dyy(v) + " DYZ(
                     "w") ")\n"
                          "residual(w) = -1 - laplacian(w) - 3 * (" DXZ("u") " + " DYZ("v") " + dzz(w))",
        3, true}},
      {"stream function and vorticity in a wind",
       {"",
        "unknowns(psi, w)\n" GIVEN "residual(psi) = -1 - laplacian(psi) - w\n"
        "residual(w) = -1 - laplacian(w) + upwind_x(40 * (y - 0.5), w) + upwind_y(40 * (0.5 - x), w)",
        2},
       {}},
  };
  const Way pcmg = {
      MATAIJ, "-ksp_type fgmres -pc_type mg -pc_mg_levels 4 -mg_levels_ksp_type chebyshev -mg_levels_ksp_max_it 3 "
              "-mg_levels_pc_type pbjacobi -mg_coarse_pc_type redundant"};

  PetscFunctionBegin;
  PetscCall(head("| equations | 33² | 65² | 129² | 17³ | PCMG, 65² |", 6));
  for (const auto &row : rows) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s |", row.name));
    for (PetscInt n : {33, 65, 129}) PetscCall(solve(row.plane, 2, n, gmres));
    PetscCall(row.space.text.empty() ? blank() : solve(row.space, 3, 17, gmres));
    PetscCall(solve(row.plane, 2, 65, pcmg));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  static const struct {
    const char *option;
    PetscErrorCode (*print)();
  } tables[] = {
      {"-coefficients", coefficients}, {"-obstacles", obstacles}, {"-convection", convection}, {"-systems", systems}};
  PetscBool some = PETSC_FALSE, wanted[4];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-largest", &largest, NULL));
  for (int t = 0; t < 4; t++) {
    PetscCall(PetscOptionsHasName(NULL, NULL, tables[t].option, &wanted[t]));
    some = some || wanted[t] ? PETSC_TRUE : PETSC_FALSE;
  }
  for (int t = 0; t < 4; t++)
    if (!some || wanted[t]) PetscCall((*tables[t].print)());
  PetscCall(PetscFinalize());
  return 0;
}
