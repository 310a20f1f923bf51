// Times captured stencils beside a copy and the same matrix assembled: how long assembly takes, what is stored, and the
// product and a symmetric sweep of MatSOR(), in each form that rows are kept in. With -assembly: how long it takes row by
// row, by lists, and by differences.

#include "timing.hpp"

static const char help[] = "Times Mats of type stencil beside a copy and the assembled matrix.\n"
                           "  -dims 2             dimensions of the grids, 2 or 3\n"
                           "  -sizes 2048,4097    points a side\n"
                           "  -boxes              box stencils besides stars\n"
                           "  -dofs 1             values at a point\n"
                           "  -aij_max 4097       largest size for which the AIJ is assembled too\n"
                           "  -assembly           times rows, COO lists and differences by colouring instead\n"
                           "  -seconds 0.5        time spent on each figure\n"
                           "  -dm_vec_type cuda   on the GPU\n\n";

enum Medium { UNIFORM, TWO_MATERIALS, VARIABLE };
static const char *const forms[] = {"constant", "indexed", "arrays"};

// The conductivity between points that are the sum of the indices apart.
static PetscReal conductivity(Medium medium, PetscInt i, PetscInt j, PetscInt k) {
  if (medium == UNIFORM) return 1;
  if (medium == TWO_MATERIALS) return ((i / 7) * 5 + (j / 11) * 3 + k / 5) % 3 ? 1 : 10;
  return 1 + PetscReal(0.5) * PetscSinReal(PetscReal(0.01) * i + PetscReal(0.02) * j + PetscReal(0.03) * k);
}

// Calls f(row, n, columns, values) for the rows of the blocks of this rank.
template <class Function> static PetscErrorCode for_each_row(DM da, Medium medium, const Function &f) {
  PetscInt        dim, N[3], lo[3], size[3], dof;
  DMDAStencilType type;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, &dim, &N[0], &N[1], &N[2], NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, &type));
  PetscCall(DMDAGetCorners(da, &lo[0], &lo[1], &lo[2], &size[0], &size[1], &size[2]));
  for (PetscInt k = lo[2]; k < lo[2] + size[2]; k++)
    for (PetscInt j = lo[1]; j < lo[1] + size[1]; j++)
      for (PetscInt i = lo[0]; i < lo[0] + size[0]; i++) {
        MatStencil  row = {k, j, i, 0}, columns[27];
        PetscScalar values[27], sum = 0;
        PetscInt    n = 0;
        for (PetscInt dk = dim > 2 ? -1 : 0; dk <= (dim > 2 ? 1 : 0); dk++)
          for (PetscInt dj = -1; dj <= 1; dj++)
            for (PetscInt di = -1; di <= 1; di++) {
              const int axes = (di != 0) + (dj != 0) + (dk != 0);
              if (axes == 0 || (type == DMDA_STENCIL_STAR && axes > 1)) continue;
              if (i + di < 0 || i + di >= N[0] || j + dj < 0 || j + dj >= N[1] || k + dk < 0 || k + dk >= N[2])
                continue;
              columns[n] = {k + dk, j + dj, i + di, 0};
              values[n] = -conductivity(medium, 2 * i + di, 2 * j + dj, 2 * k + dk) / axes;
              sum -= values[n++];
            }
        columns[n] = row;
        values[n++] = sum + PetscScalar(0.5);
        for (PetscInt r = 0; r < dof; r++) // components are coupled weakly
          for (PetscInt c = 0; c < dof; c++) {
            PetscScalar coupled[27];
            row.c = r;
            for (PetscInt m = 0; m < n; m++) {
              columns[m].c = c;
              coupled[m] = values[m] * (r == c ? 1 : PetscReal(0.1) / dof);
            }
            PetscCall(f(row, n, columns, coupled));
          }
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode assemble(DM da, Medium medium, Mat A) {
  PetscFunctionBegin;
  PetscCall(
      for_each_row(da, medium, [A](const MatStencil &row, PetscInt n, MatStencil columns[], PetscScalar values[]) {
        return MatSetValuesStencil(A, 1, &row, n, columns, values, INSERT_VALUES);
      }));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A matrix of that type, and the seconds of its first and second assembly with the first product after it, which
// brings the coefficients to where they are used.
static PetscErrorCode make(DM da, MatType type, Medium medium, Vec x, Vec y, Mat *A, PetscLogDouble seconds[2]) {
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(DMSetMatType(da, type));
  PetscCall(PetscTime(&begin));
  PetscCall(DMCreateMatrix(da, A));
  for (int turn = 0; turn < 2; turn++) {
    if (turn) PetscCall(PetscTime(&begin));
    PetscCall(assemble(da, medium, *A));
    PetscCall(MatMult(*A, x, y));
    PetscCall(synchronize());
    PetscCall(PetscTime(&end));
    seconds[turn] = end - begin;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode sweep(Mat A, Vec b, Vec x) {
  return MatSOR(A, b, 1, (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 0, 1, 1, x);
}

// ---- ways to assemble -----------------------------------------------------------------------------------------------

struct Seconds {
  PetscReal first, again;
};

// MatSetValuesStencil() of rows that are known beforehand, one by one, and the end of assembly. y = A x.
static PetscErrorCode time_rows(DM da, MatType type, Medium medium, PetscReal seconds, Vec x, Vec y, Seconds *t) {
  std::vector<MatStencil>  rows, columns;
  std::vector<PetscInt>    lengths;
  std::vector<PetscScalar> values;
  PetscLogDouble           begin, end;
  Mat                      A;

  PetscFunctionBegin;
  PetscCall(for_each_row(da, medium, [&](const MatStencil &row, PetscInt n, MatStencil to[], PetscScalar of_row[]) {
    rows.push_back(row);
    lengths.push_back(n);
    columns.insert(columns.end(), to, to + n);
    values.insert(values.end(), of_row, of_row + n);
    return PETSC_SUCCESS;
  }));
  const auto set = [&] {
    size_t first = 0;
    PetscFunctionBegin;
    for (size_t r = 0; r < rows.size(); first += (size_t)lengths[r++])
      PetscCall(MatSetValuesStencil(A, 1, &rows[r], lengths[r], &columns[first], &values[first], INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(DMSetMatType(da, type));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(PetscTime(&begin));
  PetscCall(set());
  PetscCall(PetscTime(&end));
  t->first = end - begin;
  PetscCall(time_of(seconds, set, &t->again));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The entries of all rows, as local indices; and their values where the DMDA's vectors are.
static PetscErrorCode list_entries(DM da, Medium medium, std::vector<PetscInt> *rows, std::vector<PetscInt> *columns,
                                   Vec *values) {
  std::vector<PetscScalar> list;
  PetscScalar             *array;
  PetscInt                 start[3], size[3], dof;
  VecType                  type;

  PetscFunctionBegin;
  PetscCall(DMDAGetGhostCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  PetscCall(DMDAGetDof(da, &dof));
  const auto local = [&](const MatStencil &at) {
    return ((at.i - start[0]) + size[0] * (at.j - start[1] + size[1] * (at.k - start[2]))) * dof + at.c;
  };
  PetscCall(for_each_row(da, medium, [&](const MatStencil &row, PetscInt n, MatStencil to[], PetscScalar of_row[]) {
    for (PetscInt e = 0; e < n; e++) {
      rows->push_back(local(row));
      columns->push_back(local(to[e]));
      list.push_back(of_row[e]);
    }
    return PETSC_SUCCESS;
  }));
  PetscCall(DMGetVecType(da, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, values));
  PetscCall(VecSetSizes(*values, (PetscInt)list.size(), PETSC_DETERMINE));
  PetscCall(VecSetType(*values, type));
  PetscCall(VecGetArrayWrite(*values, &array));
  std::copy(list.begin(), list.end(), array);
  PetscCall(VecRestoreArrayWrite(*values, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// MatSetValuesCOO(), the first time with its preallocation; y = A x.
static PetscErrorCode time_coo(DM da, MatType type, Medium medium, PetscReal seconds, Vec x, Vec y, Seconds *t) {
  std::vector<PetscInt> rows, columns;
  const PetscScalar    *array;
  PetscMemType          memory;
  PetscLogDouble        begin, end;
  Mat                   A;
  Vec                   values;

  PetscFunctionBegin;
  PetscCall(list_entries(da, medium, &rows, &columns, &values));
  PetscCall(DMSetMatType(da, type));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(VecGetArrayReadAndMemType(values, &array, &memory));
  PetscCall(synchronize());
  PetscCall(PetscTime(&begin));
  PetscCall(MatSetPreallocationCOOLocal(A, (PetscCount)rows.size(), rows.data(), columns.data()));
  PetscCall(MatSetValuesCOO(A, array, INSERT_VALUES));
  PetscCall(synchronize());
  PetscCall(PetscTime(&end));
  t->first = end - begin;
  PetscCall(time_of(
      seconds, [&] { return MatSetValuesCOO(A, array, INSERT_VALUES); }, &t->again));
  PetscCall(VecRestoreArrayReadAndMemType(values, &array));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&values));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// f = B u + u³: a user's function, by operations that run where the vectors are.
static PetscErrorCode residual(void *, Vec u, Vec f, void *context) {
  const Mat B = (Mat)context;
  DM        da;
  Vec       cube;

  PetscFunctionBegin;
  PetscCall(MatGetDM(B, &da));
  PetscCall(DMGetGlobalVector(da, &cube));
  PetscCall(MatMult(B, u, f));
  PetscCall(VecPointwiseMult(cube, u, u));
  PetscCall(VecPointwiseMult(cube, cube, u));
  PetscCall(VecAXPY(f, 1, cube));
  PetscCall(DMRestoreGlobalVector(da, &cube));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whose function's type differs from release to release.
template <class Function>
static PetscErrorCode set_function(PetscErrorCode (*set)(MatFDColoring, Function *, void *), MatFDColoring fd, Mat B) {
  return (*set)(fd, reinterpret_cast<Function *>(reinterpret_cast<void (*)()>(residual)), B);
}

// The Jacobian of the residual with B, without the calls of the residual. y = A x.
static PetscErrorCode time_coloring(DM da, MatType type, Medium medium, PetscReal seconds, Vec x, Vec y, Seconds *t) {
  ISColoring     coloring;
  MatFDColoring  fd;
  PetscLogDouble begin, end;
  PetscReal      t_residual;
  PetscInt       colours;
  Mat            A, B;

  PetscFunctionBegin;
  PetscCall(DMSetMatType(da, MATSTENCILSHELL));
  PetscCall(DMCreateMatrix(da, &B));
  PetscCall(assemble(da, medium, B));
  PetscCall(time_of(
      seconds, [&] { return residual(NULL, x, y, B); }, &t_residual));
  PetscCall(DMSetMatType(da, type));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(synchronize());
  PetscCall(PetscTime(&begin));
  PetscCall(DMCreateColoring(da, IS_COLORING_GLOBAL, &coloring));
  PetscCall(ISColoringGetColors(coloring, NULL, &colours, NULL));
  PetscCall(MatFDColoringCreate(A, coloring, &fd));
  PetscCall(set_function(MatFDColoringSetFunction, fd, B));
  PetscCall(MatFDColoringSetUp(A, coloring, fd));
  PetscCall(MatFDColoringApply(A, fd, x, NULL));
  PetscCall(synchronize());
  PetscCall(PetscTime(&end));
  PetscCall(time_of(
      seconds, [&] { return MatFDColoringApply(A, fd, x, NULL); }, &t->again));
  t->first = end - begin - (colours + 1) * t_residual;
  t->again -= (colours + 1) * t_residual;
  PetscCall(MatMult(A, x, y));
  PetscCall(MatFDColoringDestroy(&fd));
  PetscCall(ISColoringDestroy(&coloring));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode relative_difference(Vec y, Vec z, PetscReal *off) {
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_INFINITY, off));
  *off /= norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bench_assembly(DM da, const char *name, Medium medium, bool aij, PetscReal seconds) {
  const struct {
    const char *name;
    PetscErrorCode (*time)(DM, MatType, Medium, PetscReal, Vec, Vec, Seconds *);
  } ways[] = {{"row by row", time_rows}, {"COO", time_coo}, {"differences", time_coloring}};
  PetscBool cuda;
  VecType   type;
  Vec       x, y, z;

  PetscFunctionBegin;
  PetscCall(DMGetVecType(da, &type));
  PetscCall(PetscStrendswith(type, "cuda", &cuda));
  for (Vec *v : {&x, &y, &z}) PetscCall(DMCreateGlobalVector(da, v));
  PetscCall(VecSetRandom(x, NULL));
  for (const auto &way : ways) {
    Seconds   t, t_aij;
    PetscReal off;
    PetscCall(way.time(da, MATSTENCILSHELL, medium, seconds, x, y, &t));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s  %-12s %9.2f %9.2f", name, way.name, (double)(1e3 * t.first),
                          (double)(1e3 * t.again)));
    if (aij) {
      PetscCall(way.time(da, cuda ? MATAIJCUSPARSE : MATAIJ, medium, seconds, x, z, &t_aij));
      PetscCall(relative_difference(y, z, &off));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %9.2f %9.2f %9.2f %12.1e", (double)(1e3 * t_aij.first),
                            (double)(1e3 * t_aij.again), (double)(t.again / t_aij.again), (double)off));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  for (Vec *v : {&x, &y, &z}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- products and sweeps --------------------------------------------------------------------------------------------

static PetscErrorCode bench(PetscInt dim, PetscInt n, PetscInt dof, bool box, Medium medium, PetscInt aij_max,
                            bool assembly, PetscReal seconds) {
  DM                    da;
  char                  name[64];
  Mat                   A, B;
  Vec                   x, y, z;
  PetscReal             t_copy, t_mult, t_sor, t_aij = 0, t_sor_aij = 0, off = 0;
  PetscLogDouble        t_assembly[2], t_assembly_aij[2] = {0, 0};
  MatInfo               info;
  PetscBool             cuda;
  VecType               type;
  const DMDAStencilType stencil = box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;
  const DMBoundaryType  none = DM_BOUNDARY_NONE;

  PetscFunctionBegin;
  if (dim == 2)
    PetscCall(
        DMDACreate2d(PETSC_COMM_WORLD, none, none, stencil, n, n, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, &da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, none, none, none, stencil, n, n, n, PETSC_DECIDE, PETSC_DECIDE,
                           PETSC_DECIDE, dof, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%" PetscInt_FMT "-D %-4s %6" PetscInt_FMT " %3" PetscInt_FMT " %-8s",
                          dim, box ? "box" : "star", n, dof, forms[medium]));
  if (assembly) {
    PetscCall(bench_assembly(da, name, medium, n <= aij_max, seconds));
    PetscCall(DMDestroy(&da));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMGetVecType(da, &type));
  PetscCall(PetscStrendswith(type, "cuda", &cuda));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(time_of(
      seconds, [&] { return copy(x, y); }, &t_copy));
  PetscCall(make(da, MATSTENCILSHELL, medium, x, y, &A, t_assembly));
  PetscCall(time_of(
      seconds, [&] { return MatMult(A, x, y); }, &t_mult));
  PetscCall(time_of(
      seconds, [&] { return sweep(A, x, z); }, &t_sor));
  PetscCall(MatStencilShellSetKeepArrays(A, PETSC_FALSE)); // what a product needs is told
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  if (n <= aij_max) {
    PetscCall(make(da, cuda ? MATAIJCUSPARSE : MATAIJ, medium, x, z, &B, t_assembly_aij));
    if (!cuda)
      PetscCall(time_of(
          seconds, [&] { return sweep(B, x, z); }, &t_sor_aij)); // AIJCUSPARSE sweeps on the host
    PetscCall(time_of(
        seconds, [&] { return MatMult(B, x, z); }, &t_aij));
    PetscCall(relative_difference(y, z, &off));
    PetscCall(MatDestroy(&B));
  }
  const PetscReal points = std::pow((PetscReal)n, dim) * dof, arms = info.nz_used / points;
  const PetscReal bytes = (medium == VARIABLE        ? std::ceil(arms) * sizeof(PetscScalar)
                           : medium == TWO_MATERIALS ? 1
                                                     : 0) +
                          2 * sizeof(PetscScalar); // of a value, that the product must move
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %9.1f %9.1f %7.3f %9.1f %9.3f %8.3f %8.3f", name, (double)(1e6 * t_copy),
                        (double)(1e6 * t_mult), (double)(bytes / (2 * sizeof(PetscScalar)) * t_copy / t_mult),
                        (double)(1e6 * t_sor), info.memory / 1e6, t_assembly[0], t_assembly[1]));
  if (t_aij > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %9.1f %7.2f %7.2f %8.3f %8.3f %9.1e\n", (double)(1e6 * t_aij),
                          (double)(t_aij / t_mult), (double)(t_sor_aij / t_sor), t_assembly_aij[0], t_assembly_aij[1],
                          (double)off));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt sizes[16] = {512, 2048}, count = 16, aij_max = 4097, dims[3] = {2}, dim_count = 3, dofs[8] = {1},
           dof_count = 8;
  PetscReal seconds = 0.5;
  PetscBool set, boxes = PETSC_FALSE, assembly = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &count, &set));
  if (!set) count = 2;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-dims", dims, &dim_count, &set));
  if (!set) dim_count = 1;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-dofs", dofs, &dof_count, &set));
  if (!set) dof_count = 1;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-aij_max", &aij_max, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-boxes", &boxes, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-assembly", &assembly, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD, "%s",
      assembly
          ? "milliseconds of assembly, first and again: MatSetValuesStencil() row by row; MatSetValuesCOO() of values "
            "where the vectors are, first with its list;\n"
            "a Jacobian by differences without the calls of the function, first with its colouring\n"
            "         points                                              AIJ:                again, of     relative\n"
            "         a side dof form      way              first     again     first     again       AIJ   "
            "difference\n"
          : "products and symmetric sweeps (MatSOR from zero) in microseconds; of bound: the time of a copy of as many "
            "bytes "
            "as the\n"
            "product must move, over its time; assembly in seconds: with creation and first product, and once more\n"
            "         points                                          of           megabytes      assembly           "
            "AIJ    "
            "AIJ/    "
            "AIJ/     AIJ assembly   relative\n"
            "         a side dof form          copy   MatMult   bound    MatSOR    stored    first    again    MatMult "
            "MatMult  MatSOR "
            "   first    again difference\n"));
  for (PetscInt d = 0; d < dim_count; d++)
    for (PetscInt s = 0; s < count; s++)
      for (PetscInt c = 0; c < dof_count; c++)
        for (int box = 0; box <= (boxes ? 1 : 0); box++)
          for (Medium medium : {UNIFORM, TWO_MATERIALS, VARIABLE})
            PetscCall(bench(dims[d], sizes[s], dofs[c], box, medium, aij_max, assembly, seconds));
  PetscCall(PetscFinalize());
  return 0;
}
