/*
  Solves -Δu = 1 on the unit square, u = 0 on its boundary, twice: with a matrix-free operator and with the same matrix
  assembled. Second-order central differences on N points a side.

      mpiexec -n 2 ./poisson -n 1000

  The matrix-free operator comes from DMCreateMatrix() and is what -dm_mat_type says. The assembled one is put together
  below with MatSetValuesStencil(), from the equation and not from Shellac.
*/

#include <petscdevice.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>
#include <shellac.h>

#include <algorithm>
#include <cstdio>

#include "picture.hpp"

static const char help[] =
    "Solves -Δu = 1 on the unit interval, square or cube, u = 0 on its boundary, with a matrix-free operator and with\n"
    "an assembled AIJ matrix, and compares the two. Writes a picture of u.\n"
    "  -dm_mat_type helmholtz -mat_helmholtz_shift 4  solves -Δu + 4u = 1 instead\n"
    "  -mat_laplace_boundary eliminated               other boundary forms: identity (this program's default), "
    "neumann;\n"
    "                                                 with neumann, the right-hand side is x + y + z less its mean\n"
    "  -pc_type stencilmg                             multigrid; beside -pc_type gamg on the assembled matrix\n"
    "  -da_grid_x 300 -da_grid_y 200                  points along each axis\n"
    "  -dm_vec_type cuda                              runs on the GPU\n"
    "  -u_view vtk:u.vts                              writes u for ParaView; any PETSc viewer\n"
    "  -ksp_monitor                                   shows how far the solvers are\n"
    "  -ksp_type cg -pc_type jacobi -ksp_rtol 1e-6    the solver's defaults; both matrices get the same options\n\n";

// The problem, and the nodes of its grid.
struct Problem {
  DM                     da;
  char                   equation[128];
  PetscInt               dim;
  PetscInt               N[3];       // nodes along each axis
  MatLaplaceBoundaryType boundary;   // what holds at the ends of the axes
  PetscReal              lengths[3]; // of the domain, whose lower corner is the origin [length]
  PetscReal              first[3];   // coordinates of the first node [length]
  PetscReal              h[3];       // spacing of the nodes [length]
  PetscScalar            sigma;      // σ of -Δu + σu [1/length²]
  PetscBool              singular;   // constants solve the homogeneous problem

  bool on_boundary(const PetscInt p[3]) const {
    bool on = false;
    for (PetscInt a = 0; a < dim; a++) on = on || p[a] == 0 || p[a] == N[a] - 1;
    return on;
  }
};

// What is known of one way to solve it; times in seconds.
struct Run {
  const char        *name;
  Mat                A;
  Vec                u;
  PetscLogDouble     bytes, matmult_time, solve_time;
  PetscInt           iterations;
  KSPConvergedReason reason;
};

// Calls f(p, local index) for each node of this rank.
template <class Function> static PetscErrorCode ForEachNode(DM da, Function f) {
  PetscInt start[3], size[3], at = 0, p[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  for (p[2] = start[2]; p[2] < start[2] + size[2]; p[2]++)
    for (p[1] = start[1]; p[1] < start[1] + size[1]; p[1]++)
      for (p[0] = start[0]; p[0] < start[0] + size[0]; p[0]++) PetscCall(f(p, at++));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the problem ---------------------------------------------------------------------------------------------------

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
             "%s %s is unknown; use eliminated, identity or neumann", key, name);
  PetscCall(PetscOptionsSetValue(nullptr, key, name));
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
  PetscCall(PetscSNPrintf(problem->equation, sizeof(problem->equation), "-Δu%s = %s, %s points", sigma, f, points));
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

// The assembled matrix, of the AIJ type that computes where the DM's vectors are.
static PetscErrorCode AssembleAIJ(const Problem &problem, Mat *B) {
  const struct {
    const char *vec_type, *mat_type;
  } devices[] = {{"cuda", MATAIJCUSPARSE}, {"hip", "aijhipsparse"}, {"kokkos", "aijkokkos"}};
  VecType      vec_type;
  const char  *mat_type = MATAIJ;
  MatType      own;
  char         type[64];
  MatNullSpace constants;
  PetscScalar  inv_h2[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(DMGetVecType(problem.da, &vec_type));
  for (const auto &device : devices) {
    char *found;
    PetscCall(PetscStrstr(vec_type, device.vec_type, &found));
    if (found) mat_type = device.mat_type;
  }
  for (PetscInt a = 0; a < problem.dim; a++) inv_h2[a] = 1 / (problem.h[a] * problem.h[a]);

  PetscCall(DMGetMatType(problem.da, &own));
  PetscCall(PetscStrncpy(type, own, sizeof(type)));
  PetscCall(DMSetMatType(problem.da, mat_type));
  PetscCall(DMSetMatrixPreallocateOnly(problem.da, PETSC_TRUE)); // keeps no zeros in identity rows
  PetscCall(DMCreateMatrix(problem.da, B));
  PetscCall(DMSetMatType(problem.da, type));

  PetscCall(ForEachNode(problem.da, [&](const PetscInt p[3], PetscInt) {
    const MatStencil row = {p[2], p[1], p[0], 0};
    MatStencil       columns[7] = {row};
    PetscScalar      values[7] = {problem.sigma};
    PetscInt         count = 1;

    PetscFunctionBegin;
    if (problem.boundary == MAT_LAPLACE_IDENTITY && problem.on_boundary(p)) {
      values[0] = 1;
    } else {
      for (PetscInt a = 0; a < problem.dim; a++)
        for (PetscInt step = -1; step <= 1; step += 2) {
          const PetscInt there = p[a] + step;
          const bool     inside = there >= 0 && there < problem.N[a];
          if (inside || problem.boundary != MAT_LAPLACE_NEUMANN) values[0] += inv_h2[a];
          if (!inside) continue;
          columns[count] = row;
          (a == 0 ? columns[count].i : a == 1 ? columns[count].j : columns[count].k) = there;
          values[count++] = -inv_h2[a];
        }
    }
    PetscCall(MatSetValuesStencil(*B, 1, &row, count, columns, values, INSERT_VALUES));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  if (problem.singular) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constants));
    PetscCall(MatSetNullSpace(*B, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- measuring -----------------------------------------------------------------------------------------------------

// Waits for the device, if v is on one.
static PetscErrorCode Synchronize(Vec v) {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA) || defined(PETSC_HAVE_HIP) || defined(PETSC_HAVE_SYCL)
  const PetscScalar *values;
  PetscMemType       memory;
  PetscCall(VecGetArrayReadAndMemType(v, &values, &memory));
  PetscCall(VecRestoreArrayReadAndMemType(v, &values));
  if (!PetscMemTypeHost(memory)) {
    PetscDeviceContext context;
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
#else
  (void)v;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Time of `repeats` products: the slowest rank's.
static PetscErrorCode TimeBatch(Mat A, Vec x, Vec y, PetscInt repeats, PetscLogDouble *seconds) {
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(Synchronize(y));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  for (PetscInt k = 0; k < repeats; k++) PetscCall(MatMult(A, x, y));
  PetscCall(Synchronize(y));
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Time of one y = A x: the median of seven batches of 20 ms or more.
static PetscErrorCode TimeMatMult(Mat A, Vec x, Vec y, PetscLogDouble *seconds) {
  PetscLogDouble batches[7];
  PetscInt       repeats;

  PetscFunctionBegin;
  PetscCall(TimeBatch(A, x, y, 2, &batches[0])); // the first products allocate and copy
  PetscCall(TimeBatch(A, x, y, 3, &batches[0]));
  repeats = (PetscInt)PetscMax(3, PetscMin(1000, 0.06 / batches[0]));
  for (PetscLogDouble &batch : batches) PetscCall(TimeBatch(A, x, y, repeats, &batch));
  std::sort(batches, batches + 7);
  *seconds = batches[3] / repeats;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a matrix-free operator of the package stores, over all ranks: its halos and its coefficients. (A preconditioner
// that needs entries, such as ILU, makes an assembled copy besides.)
static PetscErrorCode GetMatrixFreeBytes(const Problem &problem, PetscLogDouble *bytes) {
  PetscInt start[3], size[3], ghosted[3], points = 0;

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(problem.da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  PetscCall(DMDAGetGhostCorners(problem.da, nullptr, nullptr, nullptr, &ghosted[0], &ghosted[1], &ghosted[2]));
  for (int a = 0; a < 3; a++) points += (ghosted[a] - size[a]) * size[(a + 1) % 3] * size[(a + 2) % 3];
  *bytes = points * sizeof(PetscScalar) + problem.dim * sizeof(PetscReal) + sizeof(problem.sigma);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What an AIJ matrix stores, over all ranks: its nonzeros, their columns and where each row begins.
static PetscErrorCode GetAssembledBytes(Mat B, PetscLogDouble *bytes) {
  MatInfo  info;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(B, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(B, &rows, nullptr));
  *bytes = info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + (PetscLogDouble)rows * sizeof(PetscInt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Problem &problem, Vec f, Run *run) {
  KSP            ksp;
  PC             pc;
  PetscLogDouble begin, end;
  PetscBool      monitored;
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
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  // Multigrid without a matrix is compared with PETSc's own on the assembled one
  PetscBool is_ours, is_aij;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSTENCILMG, &is_ours));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)run->A, &is_aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (is_ours && is_aij) {
    PetscCall(PCSetType(pc, PCGAMG));
    PetscBool once;
    PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &once));
    if (once) { // of GAMG, that would be no solution
      PetscCall(KSPSetType(ksp, definite ? KSPCG : KSPGMRES));
      PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "solving with %s by -pc_type gamg: stencilmg needs no matrix, and takes none\n\n",
                          run->name));
  }
  PetscCall(VecDuplicate(f, &run->u));
  PetscCall(VecSet(run->u, 0));
  PetscCall(Synchronize(run->u));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSolve(ksp, f, run->u));
  PetscCall(Synchronize(run->u));
  PetscCall(PetscTime(&end));
  run->solve_time = end - begin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &run->solve_time, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(KSPGetIterationNumber(ksp, &run->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &run->reason));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// |Ax - Bx| / |Bx| for a random x, and |A - B| / |B|, in the infinity norm.
static PetscErrorCode CompareOperators(Mat A, Mat B, PetscReal *of_product, PetscReal *of_entries) {
  Vec       x, Ax, Bx;
  Mat       difference;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(B, &x, &Ax));
  PetscCall(VecDuplicate(Ax, &Bx));
  PetscCall(VecSetRandom(x, nullptr));
  PetscCall(MatMult(A, x, Ax));
  PetscCall(MatMult(B, x, Bx));
  PetscCall(VecNorm(Bx, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(Ax, -1, Bx));
  PetscCall(VecNorm(Ax, NORM_INFINITY, of_product));
  if (norm > 0) *of_product /= norm;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&Ax));
  PetscCall(VecDestroy(&Bx));

  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &difference));
  PetscCall(MatAXPY(difference, -1, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(difference, NORM_INFINITY, of_entries));
  PetscCall(MatNorm(B, NORM_INFINITY, &norm));
  if (norm > 0) *of_entries /= norm;
  PetscCall(MatDestroy(&difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// u at the centre of the domain, from the nodes about it.
static PetscErrorCode GetCentre(const Problem &problem, Vec u, PetscReal *value) {
  const PetscScalar *values;

  PetscFunctionBegin;
  *value = 0;
  PetscCall(VecGetArrayRead(u, &values));
  PetscCall(ForEachNode(problem.da, [&](const PetscInt p[3], PetscInt at) {
    PetscReal weight = 1; // one node in the middle of an axis, or the mean of two
    for (PetscInt a = 0; a < problem.dim; a++) {
      const PetscInt N = problem.N[a];
      weight *= p[a] != (N - 1) / 2 && p[a] != N / 2 ? 0 : N % 2 ? 1 : 0.5;
    }
    if (weight > 0) *value += weight * PetscRealPart(values[at]);
    return PETSC_SUCCESS;
  }));
  PetscCall(VecRestoreArrayRead(u, &values));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, value, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the table -----------------------------------------------------------------------------------------------------

static PetscErrorCode PrintRow(const char name[], const char format[], PetscLogDouble free, PetscLogDouble assembled) {
  char columns[3][32] = {"", "", ""};

  PetscFunctionBegin;
  std::snprintf(columns[0], sizeof(columns[0]), format, free);
  std::snprintf(columns[1], sizeof(columns[1]), format, assembled);
  if (free > 0) std::snprintf(columns[2], sizeof(columns[2]), "%.4g", assembled / free);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-28s %16s %16s %16s\n", name, columns[0], columns[1], columns[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintTable(const Problem &problem, const Run &free, const Run &assembled) {
  const PetscReal centre[] = {0.125, 0.0736713532815, 0.0562128298294}; // of the unit domains, by their Fourier series
  PetscReal       of_product, of_entries, of_solutions, u_centre, u_max;
  MatInfo         info;
  Vec             difference;
  VecType         vec_type;
  PetscMPIInt     ranks;
  PetscInt        unknowns;
  char            ratio[64];
  bool            known = problem.boundary != MAT_LAPLACE_NEUMANN && problem.sigma == (PetscScalar)0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(VecGetSize(free.u, &unknowns));
  PetscCall(VecGetType(free.u, &vec_type));
  PetscCall(MatGetInfo(assembled.A, MAT_GLOBAL_SUM, &info));
  PetscCall(CompareOperators(free.A, assembled.A, &of_product, &of_entries));
  PetscCall(VecDuplicate(free.u, &difference));
  PetscCall(VecWAXPY(difference, -1, assembled.u, free.u));
  PetscCall(VecNorm(difference, NORM_INFINITY, &of_solutions));
  PetscCall(VecNorm(assembled.u, NORM_INFINITY, &u_max));
  PetscCall(VecDestroy(&difference));
  PetscCall(GetCentre(problem, free.u, &u_centre));
  for (PetscInt a = 0; a < problem.dim; a++) known = known && problem.lengths[a] == 1;

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s; boundary %s; %d MPI rank%s, %s vectors of type %s\n", problem.equation,
                        MatLaplaceBoundaryTypes[problem.boundary], (int)ranks, ranks > 1 ? "s" : "",
                        PetscDefined(USE_COMPLEX) ? "complex" : "real", vec_type));
  PetscCall(PetscSNPrintf(ratio, sizeof(ratio), "%s / %s", assembled.name, free.name));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%-28s %16s %16s %16s\n", "", free.name, assembled.name, ratio));
  PetscCall(PrintRow("unknowns", "%.0f", unknowns, unknowns));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-28s %16s %16.0f\n", "nonzeros", "none", info.nz_used));
  PetscCall(PrintRow("bytes stored", "%.0f", free.bytes, assembled.bytes));
  PetscCall(PrintRow("MatMult [ms]", "%.4g", 1e3 * free.matmult_time, 1e3 * assembled.matmult_time));
  PetscCall(PrintRow("KSP iterations", "%.0f", free.iterations, assembled.iterations));
  PetscCall(PrintRow("KSPSolve [s]", "%.4g", free.solve_time, assembled.solve_time));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-28s %16s %16s\n", "ended because", KSPConvergedReasons[free.reason],
                        KSPConvergedReasons[assembled.reason]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%-44s %.3g\n", "largest difference of u", (double)of_solutions));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-44s %.3g\n", "  of the largest |u|",
                        (double)(u_max > 0 ? of_solutions / u_max : of_solutions)));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "%-44s %.3g\n", "|Ax - Bx| / |Bx|, infinity norm, random x", (double)of_product));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-44s %.3g\n", "|A - B| / |B|, infinity norm", (double)of_entries));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-44s %.10g\n", "u at the centre", (double)u_centre));
  if (known)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-44s %.3g\n", "  its error",
                          (double)PetscAbsReal(u_centre - centre[problem.dim - 1])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- main ----------------------------------------------------------------------------------------------------------

// An error now, rather than after the solve, where the picture's file cannot be written.
static PetscErrorCode CheckWritable(const char file[]) {
  PetscMPIInt rank, writable = 1;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    std::FILE *present = std::fopen(file, "rb"), *opened = std::fopen(file, "ab");
    writable = opened && std::fclose(opened) == 0;
    if (present)
      std::fclose(present);
    else if (opened)
      std::remove(file);
  }
  PetscCallMPI(MPI_Bcast(&writable, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(writable, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN,
             "cannot write -picture %s; give a file that can be written, or none", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  Problem   problem = {};
  Run       free = {}, assembled = {};
  Vec       f, y;
  PetscInt  dim = 2, n;
  PetscBool viewed, drawn, none;
  char      picture[PETSC_MAX_PATH_LEN] = "poisson.png";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(ShellacInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Poisson example", nullptr);
  PetscCall(PetscOptionsInt("-dim", "Dimensions of the grid: 1, 2 or 3", nullptr, dim, &dim, nullptr));
  n = dim == 3 ? 100 : 1000;
  PetscCall(PetscOptionsInt("-n", "Points a side", nullptr, n, &n, nullptr));
  PetscCall(PetscOptionsString("-picture", "File of the picture of u in 2-D or 3-D (PNG), or none", nullptr, picture,
                               picture, sizeof(picture), nullptr));
  PetscOptionsEnd();
  PetscCheck(dim >= 1 && dim <= 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dim %" PetscInt_FMT " is not possible; use 1, 2 or 3", dim);
  PetscCheck(n >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT " is not possible; use 1 point a side or more", n);
  PetscCall(PetscStrcmp(picture, "none", &none));
  drawn = !none && dim > 1 ? PETSC_TRUE : PETSC_FALSE; // a heat map needs two axes
  if (drawn) PetscCall(CheckWritable(picture));

  PetscCall(CreateProblem(dim, n, &problem, &free.A));
  PetscCall(AssembleAIJ(problem, &assembled.A));
  PetscCall(DMGetMatType(problem.da, &free.name));
  assembled.name = "aij";
  PetscCall(DMCreateGlobalVector(problem.da, &f));
  PetscCall(VecDuplicate(f, &y));
  PetscCall(GetMatrixFreeBytes(problem, &free.bytes));
  PetscCall(GetAssembledBytes(assembled.A, &assembled.bytes));
  PetscCall(VecSet(f, 1));
  PetscCall(TimeMatMult(free.A, f, y, &free.matmult_time));
  PetscCall(TimeMatMult(assembled.A, f, y, &assembled.matmult_time));
  PetscCall(VecDestroy(&y));

  PetscCall(SetRightHandSide(problem, f));
  PetscCall(Solve(problem, f, &free));
  PetscCall(Solve(problem, f, &assembled));
  PetscCall(PrintTable(problem, free, assembled));

  PetscCall(PetscObjectSetName((PetscObject)free.u, "u"));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-u_view", &viewed));
  if (viewed) { // coordinates are for the viewer: the operator does not need them
    PetscReal last[3] = {0, 0, 0};
    for (PetscInt a = 0; a < dim; a++) last[a] = problem.first[a] + (problem.N[a] - 1) * problem.h[a];
    PetscCall(DMDASetUniformCoordinates(problem.da, problem.first[0], last[0], problem.first[1], last[1],
                                        problem.first[2], last[2]));
    PetscCall(VecViewFromOptions(free.u, nullptr, "-u_view"));
  }
  if (drawn) {
    PetscCall(
        WriteFieldPicture(problem.da, free.u, problem.first, problem.h, problem.lengths, problem.equation, picture));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\nwrote %s\n", picture));
  }

  for (Run *run : {&free, &assembled}) {
    PetscCall(VecDestroy(&run->u));
    PetscCall(MatDestroy(&run->A));
  }
  PetscCall(VecDestroy(&f));
  PetscCall(DMDestroy(&problem.da));
  PetscCall(PetscFinalize());
  return 0;
}
