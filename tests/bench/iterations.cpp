// Prints the tables of iterations of src/multigrid/README.md: stencilmg beside PETSc's own multigrid, for equations as text.

#include <string>
#include <vector>

#include <petscdmda.h>
#include <petscksp.h>

#include "device/petsc.hpp"
#include "shellac.h"

static const char help[] =
    "Prints iterations of stencilmg, and of GAMG or PCMG, to a relative residual of 1e-8.\n"
    "  -largest 1100000                       unknowns of the largest grid; beyond it cells are blank\n"
    "  -coefficients, -convection, -systems   which tables (default: all)\n\n";

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

// One cell of a table: the iterations on n points a side.
static PetscErrorCode solve(const Equation &equation, PetscInt dim, PetscInt n, const Way &way) {
  DM                 da;
  KSP                ksp;
  PetscOptions       options;
  PetscInt           iterations, most;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  if (equation.dof * n * n * (dim > 2 ? n : 1) > largest) {
    PetscCall(blank());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
  PetscCall(DMSetDimension(da, dim));
  PetscCall(DMDASetSizes(da, n, n, dim > 2 ? n : 1));
  PetscCall(DMDASetDof(da, equation.dof));
  PetscCall(DMDASetStencilType(da, equation.box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(da, 1));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMSetMatType(da, way.type));
  PetscCall(DMDASetEquation(da, equation.text.c_str()));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, way.options));
  PetscCall(PetscOptionsPush(options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetTolerances(ksp, NULL, NULL, NULL, &most));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, reason > 0 ? " %d |" : " none in %d |", (int)(reason > 0 ? iterations : most)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
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
  std::string text =
      "a(i, j, k) = " + a + "\nmean(a, b) = " + (harmonic ? "2 * a * b / (a + b)" : "(a + b) / 2") + "\nresidual = -1";
  for (PetscInt arm = 0; arm < 2 * dim; arm++)
    text += " - mean(a(0, 0, 0), a(" + arms[arm] + ")) * (u(" + arms[arm] + ") - u) / (hx * hx)";
  return {name, text};
}

static PetscErrorCode coefficients() {
#define EVEN(m) "(" m ") - 2 * floor((" m ") / 2) < 0.5"
#define RANDOM                                                                                                         \
  "(43758.5453 * sin(12.9898 * floor(X / hx + 0.01) + 78.233 * floor(Y / hy + 0.01) + 37.719 * floor(Z / hz + 0.01)))"
#define CHECKERBOARD EVEN("floor(22 * X) + floor(22 * Y) + floor(22 * Z)") " ? 1 : 1000"
  static const struct {
    const char *name, *a;
    bool        in_3d = true, harmonic = false;
  } rows[] = {{"exp(2 sin 2πx sin 3y)", "exp(2 * sin(2 * pi * X) * sin(3 * Y))"},
              {"blocks of 1 and 1000, aligned to no grid",
               EVEN("floor(3.3 * X + 0.1) + floor(2.7 * Y + 0.2) + floor(3.1 * Z + 0.3)") " ? 1 : 1000"},
              {"checkerboard of 22 × 22 squares (22³ cubes), 1 and 1000", CHECKERBOARD},
              {"the same, harmonic means", CHECKERBOARD, true, true},
              {"1000 along an oblique line of a cell's width", "abs(X + 0.3 * Y - 0.6) < hx ? 1000 : 1", false},
              {"0.001 along it", "abs(X + 0.3 * Y - 0.6) < hx ? 0.001 : 1", false},
              {"0.001 to 1000, random at each point", "pow(10, 6 * (" RANDOM " - floor" RANDOM ") - 3)"}};

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
  } tables[] = {{"-coefficients", coefficients}, {"-convection", convection}, {"-systems", systems}};
  PetscBool some = PETSC_FALSE, wanted[3];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-largest", &largest, NULL));
  for (int t = 0; t < 3; t++) {
    PetscCall(PetscOptionsHasName(NULL, NULL, tables[t].option, &wanted[t]));
    some = some || wanted[t] ? PETSC_TRUE : PETSC_FALSE;
  }
  for (int t = 0; t < 3; t++)
    if (!some || wanted[t]) PetscCall((*tables[t].print)());
  PetscCall(PetscFinalize());
  return 0;
}
