// Grids, operators and the matrices that they are compared with.

#include "support.hpp"

#include <sstream>

namespace tests {

PetscReal Problem::spacing(int axis) const {
  const PetscInt n = N[axis];
  if (is(axis, DM_BOUNDARY_PERIODIC)) return lengths[axis] / n;
  if (is(axis, DM_BOUNDARY_MIRROR)) return lengths[axis] / (n - 1);
  if (boundary == MAT_LAPLACE_ELIMINATED) return lengths[axis] / (n + 1);
  if (boundary == MAT_LAPLACE_IDENTITY) return lengths[axis] / (n > 1 ? n - 1 : 1);
  return lengths[axis] / n;
}

PetscReal Problem::coordinate(int axis, PetscInt i) const {
  const PetscReal h = spacing(axis);
  if (!is(axis, DM_BOUNDARY_PERIODIC) && !is(axis, DM_BOUNDARY_MIRROR)) {
    if (boundary == MAT_LAPLACE_ELIMINATED) return (i + 1) * h;
    if (boundary == MAT_LAPLACE_NEUMANN) return (i + PetscReal(0.5)) * h;
  }
  return i * h;
}

static bool has_wall(const Problem &problem) {
  bool wall = false;
  for (int a = 0; a < problem.dim; a++)
    wall = wall || problem.is(a, DM_BOUNDARY_NONE) || problem.is(a, DM_BOUNDARY_GHOSTED);
  return wall;
}

bool Problem::symmetric() const {
  for (int a = 0; a < dim; a++) // all rows are the identity's
    if (boundary == MAT_LAPLACE_IDENTITY && N[a] <= 2 && !is(a, DM_BOUNDARY_MIRROR) && !is(a, DM_BOUNDARY_PERIODIC))
      return true;
  for (int a = 0; a < dim; a++)
    if (is(a, DM_BOUNDARY_MIRROR) && N[a] > 2) return false;
  return boundary != MAT_LAPLACE_IDENTITY || !has_wall(*this);
}

bool Problem::singular() const {
  return sigma == (PetscScalar)0 && (boundary == MAT_LAPLACE_NEUMANN || !has_wall(*this));
}

bool Problem::identity_row(const PetscInt p[3]) const {
  if (boundary != MAT_LAPLACE_IDENTITY) return false;
  for (int a = 0; a < dim; a++)
    if ((is(a, DM_BOUNDARY_NONE) || is(a, DM_BOUNDARY_GHOSTED)) && (p[a] == 0 || p[a] == N[a] - 1)) return true;
  return false;
}

std::string describe(const Problem &problem) {
  std::ostringstream text;
  text << MatLaplaceBoundaryTypes[problem.boundary];
  for (int a = 0; a < problem.dim; a++)
    text << (a ? " x " : ", ") << problem.N[a] << " "
         << (problem.is(a, DM_BOUNDARY_PERIODIC) ? "periodic"
             : problem.is(a, DM_BOUNDARY_MIRROR) ? "mirrored"
                                                 : "bounded");
  text << ", sigma " << (double)PetscRealPart(problem.sigma) << ", on " << rank_count() << " ranks";
  return text.str();
}

Problem problem(int dim, PetscInt Nx, PetscInt Ny, PetscInt Nz) {
  Problem p;
  p.dim = dim;
  p.N[0] = Nx, p.N[1] = Ny, p.N[2] = Nz;
  return p;
}

void for_each_problem(int dim, const PetscInt N[3], const std::function<void(const Problem &, DM)> &f) {
  const DMBoundaryType kinds[] = {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR};
  int                  combinations = 1, number = 0;
  for (int a = 0; a < dim; a++) combinations *= 3;
  for (int c = 0; c < combinations; c++) {
    Problem p = problem(dim, N[0], dim > 1 ? N[1] : 1, dim > 2 ? N[2] : 1);
    bool    legal = true;
    for (int a = 0, rest = c; a < dim; a++, rest /= 3) {
      p.ends[a] = kinds[rest % 3];
      p.lengths[a] = 1 + PetscReal(0.25) * a; // unequal spacings
      legal = legal && !(p.is(a, DM_BOUNDARY_MIRROR) && N[a] == 1);
    }
    if (!legal) continue;
    Grid da;
    if (!try_make_grid(p, &da)) continue;
    for (MatLaplaceBoundaryType boundary : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN}) {
      if (boundary && !has_wall(p)) continue; // no end for it to hold at
      if (sanitized && dim == 3 && number++ % 3) continue;
      p.boundary = boundary;
      f(p, da);
    }
  }
}

PetscErrorCode make_grid(const Lattice &l, const PetscInt *const ranges[3], DM *da, MPI_Comm comm) {
  PetscFunctionBeginUser;
  PetscCall(DMDACreate(comm, da));
  PetscCall(DMSetDimension(*da, l.dim));
  PetscCall(DMDASetSizes(*da, l.N[0], l.N[1], l.N[2]));
  PetscCall(
      DMDASetNumProcs(*da, l.ranks[0], l.dim > 1 ? l.ranks[1] : PETSC_DECIDE, l.dim > 2 ? l.ranks[2] : PETSC_DECIDE));
  PetscCall(DMDASetBoundaryType(*da, l.ends[0], l.ends[1], l.ends[2]));
  PetscCall(DMDASetDof(*da, l.dof));
  PetscCall(DMDASetStencilType(*da, l.shape));
  PetscCall(DMDASetStencilWidth(*da, l.width));
  if (ranges)
    PetscCall(DMDASetOwnershipRanges(*da, ranges[0], l.dim > 1 ? ranges[1] : NULL, l.dim > 2 ? ranges[2] : NULL));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same grid without mirrors, on the ranks of `like` if that is given.
static PetscErrorCode make_grid_without_mirrors(const Problem &p, DM like, DM *da) {
  Lattice         l;
  const PetscInt *ranges[3];

  PetscFunctionBeginUser;
  l.dim = p.dim;
  for (int a = 0; a < 3; a++) {
    l.N[a] = p.N[a];
    l.ends[a] = p.is(a, DM_BOUNDARY_MIRROR) ? DM_BOUNDARY_NONE : p.ends[a];
    l.ranks[a] = p.ranks[a];
  }
  if (like) {
    PetscCall(DMDAGetInfo(like, NULL, NULL, NULL, NULL, &l.ranks[0], &l.ranks[1], &l.ranks[2], NULL, NULL, NULL, NULL,
                          NULL, NULL));
    PetscCall(DMDAGetOwnershipRanges(like, &ranges[0], &ranges[1], &ranges[2]));
  }
  PetscCall(make_grid(l, like ? ranges : NULL, da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_grid(const Problem &p, DM *da) {
  Grid            plain;
  Lattice         l;
  const PetscInt *ranges[3];

  PetscFunctionBeginUser;
  PetscCall(make_grid_without_mirrors(p, NULL, &plain));
  l = lattice_of(plain);
  PetscCall(DMDAGetOwnershipRanges(plain, &ranges[0], &ranges[1], &ranges[2]));
  // a DMDA has no ghosts of mirrors on ranks a point wide; some versions of PETSc say so on those ranks only, and hang
  for (int a = 0; a < p.dim; a++)
    for (PetscInt r = 0; r < l.ranks[a]; r++)
      if (p.is(a, DM_BOUNDARY_MIRROR) && ranges[a][r] < 2) l.width = 0;
  for (int a = 0; a < 3; a++) l.ends[a] = p.ends[a];
  PetscCall(make_grid(l, ranges, da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool try_make_grid(const Problem &p, DM *da) {
  OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  const PetscErrorCode code = make_grid(p, da);
  OK(PetscPopErrorHandler());
  return everywhere(!code);
}

Grid make_grid(const Problem &p) {
  Grid da;
  OK(make_grid(p, &da));
  return da;
}

Matrix make_operator(const Problem &p, DM da) {
  Matrix A;
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, p.sigma == (PetscScalar)0 ? MATLAPLACE : MATHELMHOLTZ));
  OK(MatLaplaceSetBoundary(A, p.boundary));
  OK(MatLaplaceSetLengths(A, p.dim, p.lengths));
  OK(MatHelmholtzSetShift(A, p.sigma));
  OK(MatSetUp(A));
  return A;
}

ReferenceRow reference_row(const Problem &p, const PetscInt at[3]) {
  ReferenceRow row;
  const auto   add = [&](int axis, PetscInt index, PetscScalar value) {
    for (int a = 0; a < 3; a++) row.point[row.count][a] = a == axis ? index : at[a];
    row.value[row.count++] = value;
  };
  add(-1, 0, 0);
  if (p.identity_row(at)) {
    row.value[0] = 1;
    return row;
  }
  row.value[0] = p.sigma;
  for (int a = 0; a < p.dim; a++) {
    const PetscReal h = p.spacing(a), c = 1 / (h * h);
    const PetscInt  i = at[a], n = p.N[a];
    if (p.is(a, DM_BOUNDARY_PERIODIC)) {
      if (n == 1) continue;
      row.value[0] += 2 * c;
      if (n == 2)
        add(a, 1 - i, -2 * c);
      else
        add(a, i - 1, -c), add(a, i + 1, -c);
    } else if (p.is(a, DM_BOUNDARY_MIRROR)) {
      row.value[0] += 2 * c;
      if (i == 0)
        add(a, 1, -2 * c);
      else if (i == n - 1)
        add(a, n - 2, -2 * c);
      else
        add(a, i - 1, -c), add(a, i + 1, -c);
    } else {
      if (p.boundary != MAT_LAPLACE_NEUMANN) row.value[0] += 2 * c;
      for (PetscInt j : {i - 1, i + 1}) {
        if (j < 0 || j >= n) continue;
        if (p.boundary == MAT_LAPLACE_NEUMANN) row.value[0] += c;
        add(a, j, -c);
      }
    }
  }
  return row;
}

void for_each_owned(DM da, const std::function<void(const PetscInt p[3])> &f) {
  PetscInt start[3], size[3], p[3];
  OK(DMDAGetCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  for (p[2] = start[2]; p[2] < start[2] + size[2]; p[2]++)
    for (p[1] = start[1]; p[1] < start[1] + size[1]; p[1]++)
      for (p[0] = start[0]; p[0] < start[0] + size[0]; p[0]++) f(p);
}

void assemble(const Problem &problem, DM da, Mat A) {
  for_each_owned(da, [&](const PetscInt p[3]) {
    const ReferenceRow row = reference_row(problem, p);
    MatStencil         at = {p[2], p[1], p[0], 0}, columns[7];
    for (int e = 0; e < row.count; e++) columns[e] = {row.point[e][2], row.point[e][1], row.point[e][0], 0};
    OK(MatSetValuesStencil(A, 1, &at, row.count, columns, row.value, INSERT_VALUES));
  });
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

bool makes_cuda_vectors(DM da) {
  VecType   type;
  PetscBool cuda;
  OK(DMGetVecType(da, &type));
  OK(PetscStrendswith(type, "cuda", &cuda));
  return cuda;
}

Matrix make_reference(const Problem &p, DM on) {
  Matrix                 B;
  Grid                   da;
  ISLocalToGlobalMapping map;
  PetscInt               size[3], start[3], owned[3];

  OK(make_grid_without_mirrors(p, on, &da)); // has the ghosts that assembly needs
  // As DMCreateMatrix() does it, but for its preallocation, which fails on grids a point wide.
  OK(DMDAGetCorners(da, NULL, NULL, NULL, &owned[0], &owned[1], &owned[2]));
  OK(DMDAGetGhostCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  const PetscInt rows = owned[0] * owned[1] * owned[2];
  OK(MatCreate(PETSC_COMM_WORLD, &B));
  OK(MatSetSizes(B, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE));
  OK(MatSetType(B, MATAIJ)); // computes on the host, also with CUDA vectors
  if (makes_cuda_vectors(on)) OK(MatSetVecType(B, VECCUDA));
  OK(MatSeqAIJSetPreallocation(B, 7, NULL));
  OK(MatMPIAIJSetPreallocation(B, 7, NULL, 7, NULL));
  OK(DMGetLocalToGlobalMapping(da, &map));
  OK(MatSetLocalToGlobalMapping(B, map, map));
  OK(MatSetStencil(B, p.dim, size, start, 1));
  assemble(p, da, B);
  return B;
}

} // namespace tests
