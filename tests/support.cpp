#include "support.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace tests {

const PetscReal exact = 45 * PETSC_MACHINE_EPSILON;

void require(PetscErrorCode code, const char *call, const char *file, int line) {
  if (!code) return;
  std::ostringstream text;
  text << file << ":" << line << ": error " << (int)code << " of " << call;
  throw std::runtime_error(text.str());
}

PetscErrorCode print_error(MPI_Comm, int line, const char *function, const char *file, PetscErrorCode code,
                           PetscErrorType type, const char *message, void *) {
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0 && type == PETSC_ERROR_INITIAL) fprintf(stderr, "error %d: %s\n", (int)code, message ? message : "");
  if (rank == 0) fprintf(stderr, "  %s() at %s:%d\n", function, file, line);
  return code;
}

// ---- problems

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
  for (int a = 0; a < dim; a++)
    if (is(a, DM_BOUNDARY_MIRROR)) return false;
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
  int                  combinations = 1;
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
      p.boundary = boundary;
      f(p, da);
    }
  }
}

// ranges: the widths of the ranks along each axis; null for PETSc's choice
static PetscErrorCode make_grid(const Lattice &l, const PetscInt *const ranges[3], DM *da) {
  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
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

static PetscErrorCode be_silent(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType,
                                const char *, void *) {
  return code;
}

bool try_make_grid(const Problem &p, DM *da) {
  OK(PetscPushErrorHandler(be_silent, NULL));
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

// ---- matrices that a program assembles on any DMDA

size_t Lattice::natural(const PetscInt p[3]) const {
  size_t index = 0;
  for (int a = 2; a >= 0; a--) index = index * (size_t)N[a] + (size_t)(((p[a] % N[a]) + N[a]) % N[a]);
  return index;
}

bool Lattice::has_ghost(const PetscInt p[3]) const {
  for (int a = 0; a < dim; a++)
    if (ends[a] == DM_BOUNDARY_NONE && (p[a] < 0 || p[a] >= N[a])) return false;
  return true;
}

Points Lattice::arms() const {
  Points         all;
  const PetscInt wy = dim > 1 ? width : 0, wz = dim > 2 ? width : 0;
  for (PetscInt k = -wz; k <= wz; k++)
    for (PetscInt j = -wy; j <= wy; j++)
      for (PetscInt i = -width; i <= width; i++)
        if (shape == DMDA_STENCIL_BOX || !!i + !!j + !!k < 2) all.push_back({i, j, k});
  return all;
}

std::string describe(const Lattice &l) {
  std::ostringstream text;
  for (int a = 0; a < l.dim; a++) text << (a ? " x " : "") << l.N[a] << " " << DMBoundaryTypes[l.ends[a]];
  text << ", " << (l.shape == DMDA_STENCIL_BOX ? "box" : "star") << " of width " << l.width << ", dof " << l.dof
       << ", on " << rank_count() << " ranks";
  return text.str();
}

bool try_make_grid(const Lattice &l, DM *da) {
  Grid            plain;
  Lattice         bare = l, placed = l;
  const PetscInt *ranges[3];

  // PETSc's error for ranks that are too narrow is of those ranks only; a grid without ghosts tells in advance
  bare.width = 0;
  for (int a = 0; a < 3; a++) bare.ends[a] = DM_BOUNDARY_NONE;
  OK(PetscPushErrorHandler(be_silent, NULL));
  PetscErrorCode code = make_grid(bare, NULL, &plain);
  OK(PetscPopErrorHandler());
  if (!everywhere(!code)) return false;
  const Lattice made = lattice_of(plain);
  OK(DMDAGetOwnershipRanges(plain, &ranges[0], &ranges[1], &ranges[2]));
  for (int a = 0; a < l.dim; a++) {
    placed.ranks[a] = made.ranks[a];
    for (PetscInt r = 0; r < made.ranks[a]; r++) {
      if (ranges[a][r] < l.width && (made.ranks[a] > 1 || l.ends[a] == DM_BOUNDARY_PERIODIC)) return false;
      if (ranges[a][r] <= l.width && l.ends[a] == DM_BOUNDARY_MIRROR) return false;
    }
  }
  OK(make_grid(placed, ranges, da));
  return true;
}

Lattice lattice_of(DM da) {
  Lattice  l;
  PetscInt dim;
  OK(DMDAGetInfo(da, &dim, &l.N[0], &l.N[1], &l.N[2], &l.ranks[0], &l.ranks[1], &l.ranks[2], &l.dof, &l.width,
                 &l.ends[0], &l.ends[1], &l.ends[2], &l.shape));
  l.dim = (int)dim;
  return l;
}

std::vector<Lattice> lattices() {
  const DMBoundaryType none = DM_BOUNDARY_NONE, ghosted = DM_BOUNDARY_GHOSTED, mirror = DM_BOUNDARY_MIRROR,
                       around = DM_BOUNDARY_PERIODIC;
  const DMDAStencilType      star = DMDA_STENCIL_STAR, box = DMDA_STENCIL_BOX;
  const std::vector<Lattice> all = {
      {1, {9, 1, 1}, {none, none, none}, star, 1, 1},       {1, {1, 1, 1}, {none, none, none}, star, 1, 2},
      {1, {13, 1, 1}, {ghosted, none, none}, star, 3, 1},   {1, {11, 1, 1}, {around, none, none}, box, 2, 2},
      {1, {2, 1, 1}, {around, none, none}, star, 1, 1},     {1, {4, 1, 1}, {around, none, none}, star, 2, 1},
      {1, {10, 1, 1}, {mirror, none, none}, star, 1, 3},    {1, {6, 1, 1}, {none, none, none}, star, 0, 3},
      {2, {7, 5, 1}, {none, none, none}, star, 1, 1},       {2, {7, 6, 1}, {none, none, none}, box, 1, 1},
      {2, {6, 5, 1}, {none, none, none}, star, 1, 3},       {2, {11, 9, 1}, {around, none, none}, star, 2, 1},
      {2, {5, 7, 1}, {ghosted, around, none}, box, 1, 2},   {2, {9, 5, 1}, {mirror, around, none}, star, 1, 1},
      {2, {9, 6, 1}, {mirror, ghosted, none}, star, 1, 2},  {2, {8, 10, 1}, {none, mirror, none}, star, 2, 1},
      {2, {1, 8, 1}, {none, none, none}, box, 1, 1},        {2, {8, 1, 1}, {none, around, none}, star, 1, 1},
      {2, {2, 6, 1}, {around, ghosted, none}, star, 1, 2},  {2, {3, 4, 1}, {around, around, none}, box, 1, 1},
      {2, {9, 8, 1}, {around, around, none}, box, 2, 1},    {2, {8, 9, 1}, {none, ghosted, none}, box, 2, 2},
      {2, {5, 4, 1}, {none, none, none}, star, 0, 2},       {2, {4, 5, 1}, {none, none, none}, star, 1, 6},
      {3, {5, 4, 3}, {none, none, none}, star, 1, 1},       {3, {3, 5, 4}, {ghosted, none, around}, star, 1, 2},
      {3, {4, 3, 5}, {around, none, ghosted}, box, 1, 1},   {3, {4, 4, 5}, {mirror, around, none}, star, 1, 1},
      {3, {5, 6, 4}, {none, none, none}, star, 2, 1},       {3, {1, 4, 5}, {none, none, none}, box, 1, 2},
      {3, {2, 2, 5}, {around, around, around}, star, 1, 1},
  };
  std::vector<Lattice> possible;
  for (const Lattice &lattice : all) {
    Grid da;
    if (try_make_grid(lattice, &da)) possible.push_back(lattice);
  }
  return possible;
}

const Form forms_of_storage[3] = {Form::constant, Form::indexed, Form::arrays};

const char *name_of(Form form) {
  static const char *const names[] = {"constant", "indexed", "arrays"};
  return names[(int)form];
}

const Way ways[6] = {Way::stencil,       Way::blocked_stencil, Way::local,
                     Way::blocked_local, Way::global,          Way::blocked_global};

const char *name_of(Way way) {
  static const char *const names[] = {"MatSetValuesStencil", "MatSetValuesBlockedStencil",
                                      "MatSetValuesLocal",   "MatSetValuesBlockedLocal",
                                      "MatSetValues",        "MatSetValuesBlocked"};
  return names[(int)way];
}

// One of two materials, at random.
static bool second_material(const Lattice &l, const PetscInt p[3]) {
  return PetscRealPart(random_value(l.natural(p), 77)) > 0;
}

// What tells points apart that may have other coefficients.
static size_t key_of(const Lattice &l, Form form, const PetscInt p[3]) {
  size_t key = 0;
  if (form == Form::arrays) return l.natural(p);
  if (form == Form::indexed) return second_material(l, p);
  for (int a = 0; a < l.dim; a++) { // the distance to the ends
    if (l.ends[a] == DM_BOUNDARY_PERIODIC) continue;
    const PetscInt far = l.width + 1;
    key = key * (size_t)(far + 1) + (size_t)PetscMin(p[a], far);
    key = key * (size_t)(far + 1) + (size_t)PetscMin(l.N[a] - 1 - p[a], far);
  }
  return key;
}

static int number_of(const Lattice &l, const PetscInt arm[3]) {
  int number = 0;
  for (int a = 2; a >= 0; a--) number = number * (int)(2 * l.width + 1) + (int)(arm[a] + l.width);
  return number;
}

static void random_block(const Lattice &l, size_t arms, size_t key, const PetscInt arm[3], int seed,
                         PetscScalar *block) {
  const int  first = (seed * 150 + number_of(l, arm)) * (int)(l.dof * l.dof);
  const bool diagonal = !arm[0] && !arm[1] && !arm[2];
  for (PetscInt e = 0; e < l.dof * l.dof; e++) {
    block[e] = random_value(key, first + (int)e);
    if (diagonal && e % (l.dof + 1) == 0) block[e] += (PetscReal)(2 * arms * (size_t)l.dof);
  }
}

Fill random_fill(const Lattice &l, Form form, int seed) {
  const size_t arms = l.arms().size();
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    random_block(l, arms, key_of(l, form, p), arm, seed, block);
  };
}

Fill uniform_fill(const Lattice &l, int seed) {
  const size_t arms = l.arms().size();
  return [=](const PetscInt *, const PetscInt arm[3], PetscScalar *block) {
    random_block(l, arms, 0, arm, seed, block);
    const auto to_grid = [](PetscReal x) { return PetscFloorReal(x * 1024) / 1024; }; // sums are exact in any order
    for (PetscInt e = 0; e < l.dof * l.dof; e++)
#if defined(PETSC_USE_COMPLEX)
      block[e] = PetscCMPLX(to_grid(PetscRealPart(block[e])), to_grid(PetscImaginaryPart(block[e])));
#else
      block[e] = to_grid(block[e]);
#endif
  };
}

Fill diffusion_fill(const Lattice &l, Form form) {
  const auto medium = [=](const PetscInt p[3]) {
    return form == Form::arrays ? 2 + PetscRealPart(random_value(l.natural(p), 78)) : PetscReal(1);
  };
  const auto edge = [=](const PetscInt p[3], const PetscInt arm[3]) {
    PetscInt  q[3];
    PetscReal length2 = 0;
    bool      inside = true;
    for (int a = 0; a < 3; a++) {
      q[a] = p[a] + arm[a];
      length2 += (PetscReal)(arm[a] * arm[a]);
      inside = inside && (l.ends[a] == DM_BOUNDARY_PERIODIC || (q[a] >= 0 && q[a] < l.N[a]));
    }
    return (medium(p) + medium(inside ? q : p)) / (2 * length2);
  };
  const Points arms = l.arms();
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    PetscReal value = 0;
    if (arm[0] || arm[1] || arm[2]) {
      value = -edge(p, arm);
    } else {
      for (const Point &other : arms)
        if (other[0] || other[1] || other[2]) value += edge(p, other.data());
      value += form == Form::constant ? PetscReal(0.1) : second_material(l, p) ? PetscReal(0.5) : PetscReal(0.05);
    }
    for (PetscInt r = 0; r < l.dof; r++)
      for (PetscInt c = 0; c < l.dof; c++) block[r * l.dof + c] = r == c ? value : value / (2 * (PetscReal)l.dof);
  };
}

// values: (rows x dof) x (columns x dof), by rows
static void set_blocks(DM da, Mat A, Way way, const Points &rows, const Points &columns, const PetscScalar *values,
                       InsertMode mode) {
  const Lattice  l = lattice_of(da);
  const bool     blocked = way == Way::blocked_stencil || way == Way::blocked_local || way == Way::blocked_global;
  const bool     stencil = way == Way::stencil || way == Way::blocked_stencil;
  const PetscInt components = blocked ? 1 : l.dof;
  PetscInt       start[3], size[3];
  OK(DMDAGetGhostCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));

  if (stencil) {
    const auto points = [&](const Points &from) {
      std::vector<MatStencil> to;
      for (const Point &p : from)
        for (PetscInt c = 0; c < components; c++) {
          MatStencil s = {};
          s.i = p[0], s.j = p[1], s.k = p[2], s.c = c;
          to.push_back(s);
        }
      return to;
    };
    const std::vector<MatStencil> i = points(rows), j = points(columns);
    if (blocked)
      OK(MatSetValuesBlockedStencil(A, (PetscInt)i.size(), i.data(), (PetscInt)j.size(), j.data(), values, mode));
    else
      OK(MatSetValuesStencil(A, (PetscInt)i.size(), i.data(), (PetscInt)j.size(), j.data(), values, mode));
    return;
  }
  ISLocalToGlobalMapping map;
  OK(DMGetLocalToGlobalMapping(da, &map));
  const auto indices = [&](const Points &from) {
    std::vector<PetscInt> to;
    for (const Point &p : from) {
      const bool     there = l.has_ghost(p.data());
      const PetscInt place = ((p[2] - start[2]) * size[1] + p[1] - start[1]) * size[0] + p[0] - start[0];
      for (PetscInt c = 0; c < components; c++) to.push_back(there ? place * components + c : -1);
    }
    if (way == Way::global) OK(ISLocalToGlobalMappingApply(map, (PetscInt)to.size(), to.data(), to.data()));
    if (way == Way::blocked_global)
      OK(ISLocalToGlobalMappingApplyBlock(map, (PetscInt)to.size(), to.data(), to.data()));
    return to;
  };
  const std::vector<PetscInt> i = indices(rows), j = indices(columns);
  const PetscInt              m = (PetscInt)i.size(), n = (PetscInt)j.size();
  if (way == Way::local) OK(MatSetValuesLocal(A, m, i.data(), n, j.data(), values, mode));
  if (way == Way::blocked_local) OK(MatSetValuesBlockedLocal(A, m, i.data(), n, j.data(), values, mode));
  if (way == Way::global) OK(MatSetValues(A, m, i.data(), n, j.data(), values, mode));
  if (way == Way::blocked_global) OK(MatSetValuesBlocked(A, m, i.data(), n, j.data(), values, mode));
}

Where some_points(const Lattice &l, Form form) {
  return [=](const PetscInt p[3]) {
    if (form == Form::arrays) return PetscRealPart(random_value(l.natural(p), 79)) > PetscReal(0.4);
    if (form == Form::indexed) return second_material(l, p);
    for (int a = 0; a < l.dim; a++)
      if (l.ends[a] != DM_BOUNDARY_PERIODIC && (p[a] == 0 || p[a] == l.N[a] - 1)) return true;
    return false;
  };
}

void set_rows(DM da, Mat A, const Fill &fill, Way way, InsertMode mode, const Where &where, bool diagonal_only) {
  const Lattice            l = lattice_of(da);
  const Points             arms = diagonal_only ? Points{{0, 0, 0}} : l.arms();
  std::vector<PetscScalar> block((size_t)(l.dof * l.dof)), values;
  for_each_owned(da, [&](const PetscInt p[3]) {
    if (where && !where(p)) return;
    Points columns;
    for (const Point &arm : arms) {
      const Point q = {p[0] + arm[0], p[1] + arm[1], p[2] + arm[2]};
      // PETSc maps points before the first to a negative index, which is ignored, and cannot tell those after the last
      bool after = false;
      for (int a = 0; a < 3; a++) after = after || (l.ends[a] == DM_BOUNDARY_NONE && q[a] >= l.N[a]);
      if (!after) columns.push_back(q);
    }
    const size_t width = columns.size() * (size_t)l.dof;
    values.assign((size_t)l.dof * width, 0);
    for (size_t n = 0; n < columns.size(); n++) {
      const PetscInt arm[3] = {columns[n][0] - p[0], columns[n][1] - p[1], columns[n][2] - p[2]};
      fill(p, arm, block.data());
      for (PetscInt r = 0; r < l.dof; r++)
        for (PetscInt c = 0; c < l.dof; c++)
          values[(size_t)r * width + n * (size_t)l.dof + (size_t)c] = block[(size_t)(r * l.dof + c)];
    }
    set_blocks(da, A, way, {{p[0], p[1], p[2]}}, columns, values.data(), mode);
  });
}

void add_pairs(DM da, Mat A, const Fill &fill, Way way) {
  const Lattice            l = lattice_of(da);
  const size_t             dof = (size_t)l.dof;
  std::vector<PetscScalar> block(dof * dof), values(4 * dof * dof);
  for_each_owned(da, [&](const PetscInt p[3]) {
    for (const Point &arm : l.arms()) {
      if (number_of(l, arm.data()) < number_of(l, Point{0, 0, 0}.data())) continue; // each pair once
      const Point from = {p[0], p[1], p[2]}, to = {p[0] + arm[0], p[1] + arm[1], p[2] + arm[2]};
      if (!l.has_ghost(to.data())) continue;
      fill(p, arm.data(), block.data());
      if (from == to) {
        set_blocks(da, A, way, {from}, {from}, block.data(), ADD_VALUES);
        continue;
      }
      for (size_t half = 0; half < 2; half++) // the diagonal blocks have the opposite sign
        for (size_t r = 0; r < dof; r++)
          for (size_t c = 0; c < dof; c++) {
            values[(half * dof + r) * 2 * dof + half * dof + c] = -block[r * dof + c];
            values[(half * dof + r) * 2 * dof + (1 - half) * dof + c] = block[r * dof + c];
          }
      set_blocks(da, A, way, {from, to}, {from, to}, values.data(), ADD_VALUES);
    }
  });
}

void assemble(Mat A) {
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

void for_each_capture(const std::function<void(const Lattice &, Form, const std::string &)> &f) {
#if defined(__SANITIZE_ADDRESS__)
  const int every = 2; // slow
#else
  const int every = 1;
#endif
  int number = 0;
  for (const Lattice &lattice : lattices())
    for (Form form : forms_of_storage)
      for (const std::string &choice : {std::string(name_of(form)), std::string("automatic")}) {
        number++;
        if ((number / 2) % every || !in_turn(number)) continue;
        Options set("-mat_stencil_compress " + choice);
        f(lattice, form, describe(lattice) + "; " + name_of(form) + " coefficients, -mat_stencil_compress " + choice);
      }
}

Twins::Twins(const Lattice &l, VecType vec_type) : lattice(l) {
  if (!try_make_grid(l, &da) || !try_make_grid(l, &aij_da))
    throw std::runtime_error("a grid that cannot be distributed: " + describe(l));
  if (vec_type) OK(DMSetVecType(da, vec_type));
  // PETSc 3.26's AIJ with inodes changes the CUDA vector that MatMultAdd() adds
  OK(DMSetVecType(aij_da, VECSTANDARD));
  OK(DMSetMatType(da, captured_type));
  OK(DMSetMatType(aij_da, MATAIJ));
  renew();
}

void Twins::renew() {
  OK(MatDestroy(&A));
  OK(MatDestroy(&aij));
  OK(DMCreateMatrix(da, &A));
  OK(DMCreateMatrix(aij_da, &aij));
  both([](DM, Mat M) { OK(MatSetOption(M, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE)); });
}

void Twins::both(const std::function<void(DM, Mat)> &work) {
  work(aij_da, aij);
  work(da, A);
}

PetscReal Twins::product_difference() {
  return difference_of([](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMult(M, x, y)); });
}

PetscReal Twins::difference_of(const std::function<void(DM, Mat, Vec, Vec, Vec)> &work) {
  both([&](DM dm, Mat M) {
    Vectors &of = M == A ? vectors_ : aij_vectors_;
    if (!of.x) {
      of.x = random_vector(dm, 11);
      of.b = random_vector(dm, 12);
      of.start = random_vector(dm, 13);
      of.y = make_vector(dm);
    }
    OK(VecCopy(of.start, of.y));
    work(dm, M, of.x, of.b, of.y);
  });
  return difference(vectors_.y, aij_vectors_.y);
}

// Collects the names of what differs by more than it may.
struct Differences {
  std::ostringstream list;

  void add(const char *name, PetscReal tolerance, const std::function<PetscReal()> &f) {
    PetscReal off;
    try {
      off = f();
    } catch (const std::exception &error) {
      list << name << ": " << error.what() << "\n";
      return;
    }
    MPI_Allreduce(MPI_IN_PLACE, &off, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
    if (!(off <= tolerance)) list << name << " differs by " << (double)off << "\n";
  }
};

// Zero if the rows have the same columns, in ascending order; then the largest difference of entries.
static PetscReal row_difference(Mat A, Mat B) {
  PetscInt  first, last;
  PetscReal off = 0;
  OK(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; row++) {
    PetscInt           count, reference_count;
    const PetscInt    *columns, *reference_columns;
    const PetscScalar *values, *reference_values;
    PetscReal          size = 0;
    OK(MatGetRow(B, row, &reference_count, &reference_columns, &reference_values));
    OK(MatGetRow(A, row, &count, &columns, &values));
    bool same = count == reference_count;
    for (PetscInt e = 0; e < reference_count; e++) size = PetscMax(size, PetscAbsScalar(reference_values[e]));
    for (PetscInt e = 0; same && e < count; e++) {
      same = columns[e] == reference_columns[e];
      off = PetscMax(off, PetscAbsScalar(values[e] - reference_values[e]) / (size > 0 ? size : 1));
    }
    if (!same) off = PETSC_MAX_REAL;
    OK(MatRestoreRow(A, row, &count, &columns, &values));
    OK(MatRestoreRow(B, row, &reference_count, &reference_columns, &reference_values));
  }
  return off;
}

std::string Twins::operator_problem() {
  Differences d;
  const struct {
    const char                                       *name;
    std::function<void(DM, Mat, Vec x, Vec b, Vec y)> work;
  } products[] = {
    {"MatMult", [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMult(M, x, y)); }},
    {"MatMultAdd", [](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatMultAdd(M, x, b, y)); }},
    {"MatMultAdd onto its argument", [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultAdd(M, x, y, y)); }},
    {"MatMultTranspose", [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultTranspose(M, x, y)); }},
    {"MatMultTransposeAdd", [](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatMultTransposeAdd(M, x, b, y)); }},
    {"MatMultTransposeAdd onto its argument",
     [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultTransposeAdd(M, x, y, y)); }},
    {"MatMultHermitianTranspose", [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultHermitianTranspose(M, x, y)); }},
    {"MatMultHermitianTransposeAdd",
     [](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatMultHermitianTransposeAdd(M, x, b, y)); }},
    {"MatResidual", [](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatResidual(M, b, x, y)); }},
    {"MatGetDiagonal", [](DM, Mat M, Vec, Vec, Vec y) { OK(MatGetDiagonal(M, y)); }},
    {"MatGetRowMaxAbs", [](DM, Mat M, Vec, Vec, Vec y) { OK(MatGetRowMaxAbs(M, y, NULL)); }},
#if PETSC_VERSION_GE(3, 22, 0)
    {"MatGetRowSumAbs", [](DM, Mat M, Vec, Vec, Vec y) { OK(MatGetRowSumAbs(M, y)); }},
#endif
  };
  for (const auto &product : products) d.add(product.name, 2 * exact, [&] { return difference_of(product.work); });
  const struct {
    const char *name;
    NormType    type;
  } norms[] = {{"1-norm", NORM_1}, {"infinity norm", NORM_INFINITY}, {"Frobenius norm", NORM_FROBENIUS}};
  for (const auto &norm : norms)
    d.add(norm.name, 1000 * exact, [&] { // sums of many squares, in another order
      PetscReal ours, reference;
      OK(MatNorm(A, norm.type, &ours));
      OK(MatNorm(aij, norm.type, &reference));
      return difference(ours, reference);
    });
  d.add("MatGetRow", exact, [&] { return row_difference(A, aij); });
  d.add("MatGetInfo: nonzeros", 0, [&] { return PetscAbsReal(nonzeros(A) - nonzeros(aij)); });
  d.add("MatConvert", exact, [&] {
    Matrix converted;
    OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &converted));
    return row_difference(converted, aij);
  });
  return d.list.str();
}

// The rows of one component, or of every other point.
static void make_rows(Mat M, PetscInt stride, PetscInt component, IS *rows) {
  PetscInt first, last;
  OK(MatGetOwnershipRange(M, &first, &last));
  const PetscInt start = first + ((component - first) % stride + stride) % stride;
  OK(ISCreateStride(PETSC_COMM_WORLD, start < last ? (last - start + stride - 1) / stride : 0, start, stride, rows));
}

using Rows = Owned<IS, ISDestroy>;

std::string Twins::parts_problem() {
  Differences d;
  // what `make` makes of both
  const auto compare = [&](const char *name, const std::function<void(Mat, Mat *)> &make) {
    d.add(name, 2 * exact, [&] {
      Matrix ours, reference;
      make(aij, &reference);
      make(A, &ours);
      return difference(ours, reference);
    });
  };
  compare("MatTranspose", [](Mat M, Mat *T) { OK(MatTranspose(M, MAT_INITIAL_MATRIX, T)); });
  compare("MatDuplicate with values", [](Mat M, Mat *T) { OK(MatDuplicate(M, MAT_COPY_VALUES, T)); });
  compare("MatDuplicate without values, then MatCopy", [](Mat M, Mat *T) {
    OK(MatDuplicate(M, MAT_DO_NOT_COPY_VALUES, T));
    OK(MatCopy(M, *T, SAME_NONZERO_PATTERN));
  });
  compare("MatDuplicate without values, then MatShift", [](Mat M, Mat *T) {
    OK(MatDuplicate(M, MAT_DO_NOT_COPY_VALUES, T));
    OK(MatShift(*T, 3));
  });
  compare("MatConvert twice", [](Mat M, Mat *T) {
    OK(MatConvert(M, MATAIJ, MAT_INITIAL_MATRIX, T));
    OK(MatScale(*T, 2));
    OK(MatConvert(M, MATAIJ, MAT_REUSE_MATRIX, T));
  });
  for (PetscInt stride : {lattice.dof, (PetscInt)2})
    for (PetscInt part : {(PetscInt)0, stride - 1})
      compare("MatCreateSubMatrix", [&](Mat M, Mat *T) {
        Rows rows, columns;
        make_rows(M, stride, 0, &rows);
        make_rows(M, stride, part, &columns);
        OK(MatCreateSubMatrix(M, rows, columns, MAT_INITIAL_MATRIX, T));
        OK(MatScale(*T, 2));
        OK(MatCreateSubMatrix(M, rows, columns, MAT_REUSE_MATRIX, T));
      });
  d.add("MatGetDiagonalBlock", 2 * exact, [&] {
    Mat ours, reference;
    OK(MatGetDiagonalBlock(A, &ours));
    OK(MatGetDiagonalBlock(aij, &reference));
    return difference(ours, reference);
  });
  d.add("MatCreateSubMatrices", 2 * exact, [&] {
    // each rank wants other rows, its neighbours' among them
    PetscInt              N, first, last;
    std::vector<PetscInt> wanted;
    Rows                  rows;
    Mat                  *ours, *reference;
    OK(MatGetSize(A, &N, NULL));
    OK(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt row = 0; row < N; row++)
      if (row + 4 >= first && row < last + 3 && row % 5 != 3) wanted.push_back(row);
    OK(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)wanted.size(), wanted.data(), PETSC_COPY_VALUES, &rows));
    const IS is = rows;
    OK(MatCreateSubMatrices(aij, 1, &is, &is, MAT_INITIAL_MATRIX, &reference));
    OK(MatCreateSubMatrices(A, 1, &is, &is, MAT_INITIAL_MATRIX, &ours));
    OK(MatScale(ours[0], 2));
    OK(MatCreateSubMatrices(A, 1, &is, &is, MAT_REUSE_MATRIX, &ours));
    const PetscReal off = difference(ours[0], reference[0]);
    OK(MatDestroySubMatrices(1, &ours));
    OK(MatDestroySubMatrices(1, &reference));
    return off;
  });
  if (lattice.dof <= 7)
    d.add("MatInvertBlockDiagonal", 100 * exact, [&] {
      const PetscScalar *ours, *reference;
      PetscInt           m;
      PetscReal          off = 0, size = 0;
      OK(MatInvertBlockDiagonal(aij, &reference));
      OK(MatInvertBlockDiagonal(A, &ours));
      OK(MatGetLocalSize(A, &m, NULL));
      for (PetscInt e = 0; e < m * lattice.dof; e++) {
        off = PetscMax(off, PetscAbsScalar(ours[e] - reference[e]));
        size = PetscMax(size, PetscAbsScalar(reference[e]));
      }
      return size > 0 ? off / size : off;
    });
  return d.list.str();
}

// ---- vectors and differences

PetscScalar random_value(size_t natural_index, int seed) {
  // splitmix64 (Steele, Lea and Flood, 2014)
  const auto next = [](unsigned long long &state) {
    unsigned long long z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (PetscReal)((z ^ (z >> 31)) >> 11) / (PetscReal)(1ull << 52) - 1;
  };
  unsigned long long state = (unsigned long long)natural_index * 1000003ull + (unsigned long long)seed;
  const PetscReal    real = next(state);
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(real, next(state));
#else
  return real;
#endif
}

Vector make_vector(DM da) {
  Vector v;
  OK(DMCreateGlobalVector(da, &v));
  return v;
}

std::vector<PetscScalar> natural_values(DM da, Vec v) {
  Vector             natural, all;
  VecScatter         scatter;
  const PetscScalar *values;
  PetscInt           n;
  OK(DMDACreateNaturalVector(da, &natural));
  OK(DMDAGlobalToNaturalBegin(da, v, INSERT_VALUES, natural));
  OK(DMDAGlobalToNaturalEnd(da, v, INSERT_VALUES, natural));
  OK(VecScatterCreateToAll(natural, &scatter, &all));
  OK(VecScatterBegin(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  OK(VecScatterEnd(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  OK(VecGetLocalSize(all, &n));
  OK(VecGetArrayRead(all, &values));
  std::vector<PetscScalar> copy(values, values + n);
  OK(VecRestoreArrayRead(all, &values));
  OK(VecScatterDestroy(&scatter));
  return copy;
}

void set_values(DM da, Vec v, const std::function<PetscScalar(const PetscInt p[3])> &f) {
  PetscScalar *values;
  PetscInt     dof;
  size_t       n = 0;
  OK(DMDAGetInfo(da, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  OK(VecGetArrayWrite(v, &values));
  for_each_owned(da, [&](const PetscInt p[3]) {
    for (PetscInt c = 0; c < dof; c++) values[n++] = f(p);
  });
  OK(VecRestoreArrayWrite(v, &values));
}

Vector random_vector(DM da, int seed) {
  Vector       v = make_vector(da);
  PetscScalar *values;
  PetscInt     N[2], dof;
  size_t       n = 0;
  OK(DMDAGetInfo(da, NULL, &N[0], &N[1], NULL, NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  OK(VecGetArrayWrite(v, &values));
  for_each_owned(da, [&](const PetscInt p[3]) {
    const size_t point = (size_t)p[0] + (size_t)N[0] * ((size_t)p[1] + (size_t)N[1] * (size_t)p[2]);
    for (PetscInt c = 0; c < dof; c++) values[n++] = random_value(point * dof + c, seed);
  });
  OK(VecRestoreArrayWrite(v, &values));
  return v;
}

Vector copy_of(Vec v) {
  Vector w;
  OK(VecDuplicate(v, &w));
  OK(VecCopy(v, w));
  return w;
}

PetscReal difference(PetscReal x, PetscReal reference) {
  const PetscReal off = PetscAbsReal(x - reference), size = PetscAbsReal(reference);
  return size > 0 ? off / size : off;
}

PetscReal difference(Vec x, Vec reference) {
  const PetscScalar *values, *reference_values; // on the host: the vectors may be of different types
  PetscReal          largest[3] = {0, 0, 0};    // difference, reference, whether there are others than numbers
  PetscInt           n;
  OK(VecGetLocalSize(reference, &n));
  OK(VecGetArrayRead(x, &values));
  OK(VecGetArrayRead(reference, &reference_values));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal off = PetscAbsScalar(values[i] - reference_values[i]);
    if (PetscIsInfOrNanReal(off)) largest[2] = 1;
    largest[0] = PetscMax(largest[0], off);
    largest[1] = PetscMax(largest[1], PetscAbsScalar(reference_values[i]));
  }
  OK(VecRestoreArrayRead(reference, &reference_values));
  OK(VecRestoreArrayRead(x, &values));
  MPI_Allreduce(MPI_IN_PLACE, largest, 3, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)reference));
  if (largest[2] > 0) return PETSC_MAX_REAL;
  return largest[1] > 0 ? largest[0] / largest[1] : largest[0];
}

PetscReal difference(Mat A, Mat reference) {
  Matrix    converted, d;
  MatType   type;
  PetscReal off, size;
  OK(MatGetType(reference, &type));
  OK(MatConvert(A, type, MAT_INITIAL_MATRIX, &converted));
  OK(MatDuplicate(reference, MAT_COPY_VALUES, &d));
  OK(MatAXPY(d, -1, converted, DIFFERENT_NONZERO_PATTERN));
  OK(MatNorm(d, NORM_INFINITY, &off));
  OK(MatNorm(reference, NORM_INFINITY, &size));
  return size > 0 ? off / size : off;
}

bool everywhere(bool here) {
  int all = here;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  return all;
}

PetscReal nonzeros(Mat A) {
  MatInfo info;
  OK(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  return (PetscReal)info.nz_used;
}

int rank_count() {
  int ranks;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  return ranks;
}
bool in_turn(int combination) {
  return rank_count() == 1 || combination % 3 == (rank_count() + 1) % 3;
}

// ---- options and errors

Options::Options(const std::string &text) {
  std::istringstream       stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  for (size_t w = 0; w < words.size(); w++) {
    const bool has_value = w + 1 < words.size() && !(words[w + 1][0] == '-' && isalpha(words[w + 1][1]));
    keys_.push_back(words[w]);
    OK(PetscOptionsSetValue(NULL, words[w].c_str(), has_value ? words[w + 1].c_str() : NULL));
    w += has_value;
  }
}

Options::~Options() {
  for (const std::string &key : keys_) (void)!PetscOptionsClearValue(NULL, key.c_str());
}

static PetscErrorCode record(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type,
                             const char *message, void *context) {
  if (type == PETSC_ERROR_INITIAL && message) *static_cast<std::string *>(context) += message;
  return code;
}

std::string error_problem(PetscErrorCode expected, const std::vector<std::string> &words,
                          const std::function<PetscErrorCode()> &call) {
  std::string        message;
  std::ostringstream problem;
  OK(PetscPushErrorHandler(record, &message));
  const PetscErrorCode code = call();
  OK(PetscPopErrorHandler());
  if (!everywhere(expected ? code == expected : code != PETSC_SUCCESS))
    problem << "code " << (int)code << " here, not " << (int)expected << " on every rank; message: " << message;
  for (const std::string &word : words)
    if (!everywhere(message.find(word) != std::string::npos))
      problem << "'" << word << "' is not in the message on every rank: " << message;
  return problem.str();
}

// the first rank's text
static std::string same_everywhere(std::string text) {
  int length = (int)text.size();
  MPI_Bcast(&length, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  text.resize((size_t)length);
  MPI_Bcast(&text[0], length, MPI_CHAR, 0, PETSC_COMM_WORLD);
  return text;
}

std::string view(Mat A, PetscViewerFormat format) {
  char        name[PETSC_MAX_PATH_LEN] = "";
  int         rank;
  PetscViewer viewer;
  std::string text;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0) {
    PetscErrorCode code = PetscGetTmp(PETSC_COMM_SELF, name, sizeof(name));
    OK(code);
    OK(PetscStrlcat(name, "/shellac-view-XXXXXX", sizeof(name)));
    const int file = mkstemp(name);
    if (file >= 0) close(file);
  }
  MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, PETSC_COMM_WORLD);
  OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name, &viewer));
  OK(PetscViewerPushFormat(viewer, format));
  OK(MatView(A, viewer));
  OK(PetscViewerPopFormat(viewer));
  OK(PetscViewerDestroy(&viewer));
  if (rank == 0) {
    FILE *file = fopen(name, "r");
    int   c;
    while (file && (c = fgetc(file)) != EOF) text += (char)c;
    if (file) fclose(file);
    remove(name);
  }
  return same_everywhere(text);
}

std::string printed(const std::function<void()> &work) {
  std::string text;
  int         rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  FILE *file = rank == 0 ? tmpfile() : NULL;
  int   saved = -1, c;
  if (file) {
    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
  }
  const auto restore = [&] {
    if (!file) return;
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    while ((c = fgetc(file)) != EOF) text += (char)c;
    fclose(file);
  };
  try {
    work();
  } catch (...) {
    restore();
    throw;
  }
  restore();
  return same_everywhere(text);
}

} // namespace tests
