/*
  What poisson.cpp compares with: the same matrix assembled, from the equation and not from Shellac; times, bytes, errors.
*/

#include "poisson.hpp"

#include <petscdevice.h>
#include <petsctime.h>

#include <algorithm>
#include <cstdio>

PetscErrorCode AssembleAIJ(const Problem &problem, Mat *B) {
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

// ---- measuring

PetscErrorCode Synchronize(Vec v) {
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

PetscErrorCode MeasureMatrixFree(const Problem &problem, Vec x, Run *run) {
  Vec y;

  PetscFunctionBegin;
  PetscCall(GetMatrixFreeBytes(problem, &run->bytes));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(TimeMatMult(run->A, x, y, &run->matmult_time));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MeasureAIJ(Vec x, Run *run) {
  Vec y;

  PetscFunctionBegin;
  PetscCall(GetAssembledBytes(run->A, &run->bytes));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(TimeMatMult(run->A, x, y, &run->matmult_time));
  PetscCall(VecDestroy(&y));
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

// ---- the table

static PetscErrorCode PrintRow(const char name[], const char format[], PetscLogDouble free, PetscLogDouble assembled) {
  char columns[3][32] = {"", "", ""};

  PetscFunctionBegin;
  std::snprintf(columns[0], sizeof(columns[0]), format, free);
  std::snprintf(columns[1], sizeof(columns[1]), format, assembled);
  if (free > 0) std::snprintf(columns[2], sizeof(columns[2]), "%.4g", assembled / free);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-28s %16s %16s %16s\n", name, columns[0], columns[1], columns[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrintTable(const Problem &problem, const Run &free, const Run &assembled) {
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

PetscErrorCode PrintMultigrid(const Run &multigrid, const Run &assembled) {
  Vec       difference;
  PetscReal largest;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(multigrid.u, &difference));
  PetscCall(VecWAXPY(difference, -1, assembled.u, multigrid.u));
  PetscCall(VecNorm(difference, NORM_INFINITY, &largest));
  PetscCall(VecDestroy(&difference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\n%s with -pc_type stencilmg: %" PetscInt_FMT
                        " iterations, %.3g s with its set-up: %.3g times as fast as %s above;\n"
                        "  ended because %s, largest difference of u %.2g\n",
                        multigrid.name, multigrid.iterations, multigrid.solve_time,
                        assembled.solve_time / multigrid.solve_time, assembled.name,
                        KSPConvergedReasons[multigrid.reason], (double)largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}
