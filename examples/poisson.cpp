/*
  Solves −Δu = 1 on the unit square, u = 0 on its boundary, by second-order central differences on N × N points: with a
  matrix-free operator, with the same matrix assembled, and with the matrix-free operator and multigrid.

      mpiexec -n 2 ./poisson -n 1000

  The operator comes from DMCreateMatrix() and is what -dm_mat_type says. The assembled matrix and the measurements are in
  poisson_compare.cpp.
*/

#include "picture.hpp"
#include "poisson.hpp"

#include <petsctime.h>

#include <cstdio>

static const char help[] =
    "Solves −Δu = 1 on the unit interval, square or cube, u = 0 on its boundary, with a matrix-free operator and with\n"
    "an assembled AIJ matrix, compares the two, and solves once more with multigrid. Draws u.\n"
    "  -dm_mat_type helmholtz -mat_helmholtz_shift 4  solves −Δu + 4u = 1 instead\n"
    "  -mat_laplace_boundary eliminated               other boundary forms: identity (this program's default), "
    "neumann;\n"
    "                                                 with neumann, the right-hand side is x + y + z less its mean\n"
    "  -ksp_type cg -pc_type jacobi -ksp_rtol 1e-6    the solver's defaults; both matrices get the same options. With "
    "a\n"
    "                                                 -pc_type, the third solution is left out\n"
    "  -da_grid_x 300 -da_grid_y 200                  points along each axis, instead of -n\n"
    "  -picture u.pdf                                 .png, .svg, .pdf; .vts, .vtr (for ParaView); none\n"
    "  -dm_vec_type cuda                              runs on the GPU\n"
    "  -u_view binary:u.petsc                         writes u by any PETSc viewer\n"
    "  -ksp_monitor                                   prints residual norms\n\n";

// Reads -mat_<type>_boundary and gives it this program's default if the user gave none: DMCreateMatrix() reads it.
static PetscErrorCode GetBoundary(MatType type, MatLaplaceBoundaryType *boundary) {
  char      key[64], name[64] = "identity";
  PetscBool found = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(key, sizeof(key), "-mat_%s_boundary", type));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, key, name, sizeof(name), nullptr));
  for (int b = MAT_LAPLACE_ELIMINATED; b <= MAT_LAPLACE_NEUMANN && !found; b++) {
    PetscCall(PetscStrcasecmp(name, MatLaplaceBoundaryTypes[b], &found));
    *boundary = (MatLaplaceBoundaryType)b;
  }
  PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "%s %s is not for this program; use eliminated, identity or neumann", key, name);
  PetscCall(PetscOptionsSetValue(nullptr, key, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The assembled matrix is that of the star.
static PetscErrorCode CheckShape(MatType type) {
  char      key[64], name[64] = "star";
  PetscBool is_star;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(key, sizeof(key), "-mat_%s_shape", type));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, key, name, sizeof(name), nullptr));
  PetscCall(PetscStrcasecmp(name, "star", &is_star));
  PetscCheck(is_star, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "%s %s is no operator that this program compares with AIJ; use star, or leave the option out", key, name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The equation and the grid, for people.
static PetscErrorCode Describe(Problem *problem) {
  const double re = (double)PetscRealPart(problem->sigma), im = (double)PetscImaginaryPart(problem->sigma);
  char         sigma[64] = "", points[64] = "", number[32];
  const char  *f = problem->dim == 1 ? "x - mean" : problem->dim == 2 ? "x + y - mean" : "x + y + z - mean";

  PetscFunctionBegin;
  if (problem->boundary != MAT_LAPLACE_NEUMANN) f = "1";
  if (im != 0)
    std::snprintf(sigma, sizeof(sigma), " + (%g + %gi)u", re, im); // PETSc's would print 4 as "4."
  else if (re != 0)
    std::snprintf(sigma, sizeof(sigma), " + %gu", re);
  for (PetscInt a = 0; a < problem->dim; a++) {
    PetscCall(PetscSNPrintf(number, sizeof(number), "%s%" PetscInt_FMT, a ? " × " : "", problem->N[a]));
    PetscCall(PetscStrlcat(points, number, sizeof(points)));
  }
  PetscCall(PetscSNPrintf(problem->equation, sizeof(problem->equation), "−Δu%s = %s, %s points", sigma, f, points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateProblem(PetscInt dim, PetscInt n, Problem *problem, Mat *A) {
  DM             da;
  MatType        type;
  PetscBool      is_laplace, is_helmholtz;
  PetscInt       given = 3;
  char           key[64];
  DMBoundaryType ends[3];

  PetscFunctionBegin;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
  PetscCall(DMSetDimension(da, dim));
  PetscCall(DMDASetSizes(da, n, dim > 1 ? n : 1, dim > 2 ? n : 1));
  PetscCall(DMDASetDof(da, 1));
  PetscCall(DMDASetStencilType(da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(da, 1));
  PetscCall(DMSetMatType(da, MATLAPLACE));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMGetMatType(da, &type));
  PetscCall(PetscStrcmp(type, MATLAPLACE, &is_laplace));
  PetscCall(PetscStrcmp(type, MATHELMHOLTZ, &is_helmholtz));
  PetscCheck(is_laplace || is_helmholtz, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-dm_mat_type %s is no operator that this program compares with AIJ; use laplace or helmholtz", type);
  PetscCall(GetBoundary(type, &problem->boundary));
  PetscCall(CheckShape(type));
  PetscCall(DMCreateMatrix(da, A));

  problem->da = da;
  problem->dim = dim;
  problem->sigma = 0;
  if (is_helmholtz) PetscCall(MatHelmholtzGetShift(*A, &problem->sigma));
  problem->singular =
      problem->boundary == MAT_LAPLACE_NEUMANN && problem->sigma == (PetscScalar)0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(DMDAGetInfo(da, nullptr, &problem->N[0], &problem->N[1], &problem->N[2], nullptr, nullptr, nullptr, nullptr,
                        nullptr, &ends[0], &ends[1], &ends[2], nullptr));
  for (PetscReal &length : problem->lengths) length = 1;
  PetscCall(PetscSNPrintf(key, sizeof(key), "-mat_%s_lengths", type));
  PetscCall(PetscOptionsGetRealArray(nullptr, nullptr, key, problem->lengths, &given, nullptr));
  for (PetscInt a = 0; a < dim; a++) {
    const PetscInt  N = problem->N[a];
    const PetscReal L = problem->lengths[a];
    PetscCheck(ends[a] == DM_BOUNDARY_NONE, PETSC_COMM_WORLD, PETSC_ERR_SUP,
               "axis %c of the grid has the boundary %s; this program solves with none only", "xyz"[a],
               DMBoundaryTypes[ends[a]]);
    switch (problem->boundary) {
    case MAT_LAPLACE_ELIMINATED: // the nodes inside
      problem->h[a] = L / (N + 1);
      problem->first[a] = problem->h[a];
      break;
    case MAT_LAPLACE_IDENTITY: // the nodes inside and those on the boundary
      problem->h[a] = L / PetscMax(N - 1, 1);
      problem->first[a] = 0;
      break;
    case MAT_LAPLACE_NEUMANN: // the centres of cells
      problem->h[a] = L / N;
      problem->first[a] = problem->h[a] / 2;
      break;
    default:
      SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP,
              "this program solves with the boundary forms eliminated, identity and neumann");
    }
  }
  PetscCall(Describe(problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// 1, or 0 in identity rows; with Neumann ends x + y + z less its mean, of which a solution exists for σ = 0 too.
static PetscErrorCode SetRightHandSide(const Problem &problem, Vec f) {
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(f, &values));
  PetscCall(ForEachNode(problem.da, [&](const PetscInt p[3], PetscInt at) {
    values[at] = problem.boundary == MAT_LAPLACE_IDENTITY && problem.on_boundary(p) ? 0 : 1;
    if (problem.boundary == MAT_LAPLACE_NEUMANN) {
      values[at] = 0;
      for (PetscInt a = 0; a < problem.dim; a++)
        values[at] += problem.first[a] + p[a] * problem.h[a] - problem.lengths[a] / 2;
    }
    return PETSC_SUCCESS;
  }));
  PetscCall(VecRestoreArrayWrite(f, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// With conjugate gradients, preconditioned by `pc_type` unless -pc_type names another.
static PetscErrorCode Solve(const Problem &problem, Vec f, PCType pc_type, Run *run) {
  KSP            ksp;
  PC             pc;
  PetscLogDouble begin, end;
  PCType         chosen;
  PetscBool      monitored, needs_grid, is_aij, once;
  const bool     definite = PetscImaginaryPart(problem.sigma) == 0 && PetscRealPart(problem.sigma) >= 0;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ksp_monitor", &monitored));
  if (monitored) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solving with %s\n", run->name));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, run->A, run->A));
  // Identity rows make the matrix unsymmetric, but CG never sees it: f and the first guess are zero there, and so are
  // then all its vectors
  PetscCall(KSPSetType(ksp, definite ? KSPCG : KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  PetscCall(KSPSetFromOptions(ksp));
  // Shellac's need an operator of its own: the assembled matrix gets PETSc's multigrid
  PetscCall(PCGetType(pc, &chosen));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &needs_grid, PCSTENCILMG, PCSTENCILFFT, PCSTENCIL, ""));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)run->A, &is_aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (needs_grid && is_aij) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s is solved with -pc_type gamg: %s takes no assembled matrix\n\n",
                          run->name, chosen));
    PetscCall(PCSetType(pc, PCGAMG));
    PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &once));
    if (once) { // GAMG alone would be no solution
      PetscCall(KSPSetType(ksp, definite ? KSPCG : KSPGMRES));
      PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    }
  }
  PetscCall(VecDuplicate(f, &run->u));
  PetscCall(PetscObjectSetName((PetscObject)run->u, "u"));
  PetscCall(Synchronize(run->u));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSolve(ksp, f, run->u)); // sets up the preconditioner, too
  PetscCall(Synchronize(run->u));
  PetscCall(PetscTime(&end));
  run->solve_time = end - begin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &run->solve_time, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(KSPGetIterationNumber(ksp, &run->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &run->reason));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Reads -dim and -n, the points along each axis; -da_grid_x and so on are PETSc's own.
static PetscErrorCode GetSizes(PetscInt *dim, PetscInt *n) {
  PetscBool set, also;

  PetscFunctionBegin;
  *dim = 2;
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Poisson example", nullptr);
  PetscCall(PetscOptionsInt("-dim", "Dimensions of the grid: 1, 2 or 3", nullptr, *dim, dim, nullptr));
  *n = *dim == 3 ? 100 : 1000;
  PetscCall(PetscOptionsInt("-n", "Points along each axis", nullptr, *n, n, &set));
  PetscOptionsEnd();
  PetscCheck(*dim >= 1 && *dim <= 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dim %" PetscInt_FMT " is not possible; use 1, 2 or 3", *dim);
  PetscCheck(*n >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT " is not possible; use 1 point along each axis or more", *n);
  for (const char *key : {"-da_grid_x", "-da_grid_y", "-da_grid_z"}) {
    PetscCall(PetscOptionsHasName(nullptr, nullptr, key, &also));
    PetscCheck(!set || !also, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "-n and %s both set the points along an axis; leave one of them out", key);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// poisson-laplace-1000x1000.png, say.
static PetscErrorCode GetPictureName(const Problem &problem, const std::string &type, std::string *file) {
  std::string name = "poisson-" + type;

  PetscFunctionBegin;
  if (problem.boundary != MAT_LAPLACE_IDENTITY) name += std::string("-") + MatLaplaceBoundaryTypes[problem.boundary];
  for (PetscInt a = 0; a < problem.dim; a++) name += (a ? "x" : "-") + std::to_string(problem.N[a]);
  std::vector<std::string> options = {"-mat_" + type + "_lengths"};
  if (type == MATHELMHOLTZ) options.insert(options.end(), {"-mat_helmholtz_shift", "-mat_helmholtz_omega"});
  PetscCall(PictureGetFile(name, options, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DrawSolution(const Problem &problem, Vec u, const std::string &file) {
  picture::Panel  panel;
  const PetscReal longest = PetscMax(problem.lengths[0], problem.lengths[1]);

  PetscFunctionBegin;
  PetscCall(PictureSetField(problem.da, u, problem.first, problem.h, &panel));
  panel.x = {0, (double)problem.lengths[0]};
  panel.value_name = "u";
  if (problem.dim == 1) {
    panel.y_name = "u";
  } else {
    panel.y = {0, (double)problem.lengths[1]};
    panel.width = panel.height = 600;
    panel.width *= PetscMax(0.2, problem.lengths[0] / longest);
    panel.height *= PetscMax(0.2, problem.lengths[1] / longest);
  }
  if (problem.dim == 3) panel.title = "plane in the middle of the z axis";
  PetscCall(PictureWrite(problem.da, u, {panel}, 1, problem.equation, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  Problem     problem = {};
  Run         free = {}, assembled = {}, multigrid = {};
  Vec         f;
  PetscInt    dim, n;
  PetscBool   chosen;
  std::string picture;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(GetSizes(&dim, &n));
  PetscCall(CreateProblem(dim, n, &problem, &free.A));
  PetscCall(MatGetType(free.A, &free.name)); // that of the DMDA changes
  PetscCall(GetPictureName(problem, free.name, &picture));

  PetscCall(AssembleAIJ(problem, &assembled.A));
  assembled.name = "aij";
  PetscCall(DMCreateGlobalVector(problem.da, &f));
  PetscCall(VecSet(f, 1));
  PetscCall(MeasureMatrixFree(problem, f, &free));
  PetscCall(MeasureAIJ(f, &assembled));

  PetscCall(SetRightHandSide(problem, f));
  PetscCall(Solve(problem, f, PCJACOBI, &free));
  PetscCall(Solve(problem, f, PCJACOBI, &assembled));
  PetscCall(PrintTable(problem, free, assembled));

  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-pc_type", &chosen));
  if (!chosen) {
    multigrid.name = free.name;
    multigrid.A = free.A;
    PetscCall(Solve(problem, f, PCSTENCILMG, &multigrid));
    PetscCall(PrintMultigrid(multigrid, assembled));
    PetscCall(VecDestroy(&multigrid.u));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(GridSetCoordinates(problem.da, problem.first, problem.h)); // for viewers: the operator does not need them
  PetscCall(VecViewFromOptions(free.u, nullptr, "-u_view"));
  PetscCall(DrawSolution(problem, free.u, picture));

  for (Run *run : {&free, &assembled}) {
    PetscCall(VecDestroy(&run->u));
    PetscCall(MatDestroy(&run->A));
  }
  PetscCall(VecDestroy(&f));
  PetscCall(DMDestroy(&problem.da));
  PetscCall(PetscFinalize());
  return 0;
}
