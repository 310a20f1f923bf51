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
static PetscErrorCode make_grid(const Problem &p, const DMBoundaryType ends[3], PetscInt width, const PetscInt ranks[3],
                                const PetscInt *const ranges[3], DM *da) {
  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, p.dim));
  PetscCall(DMDASetSizes(*da, p.N[0], p.N[1], p.N[2]));
  PetscCall(DMDASetNumProcs(*da, ranks[0], p.dim > 1 ? ranks[1] : PETSC_DECIDE, p.dim > 2 ? ranks[2] : PETSC_DECIDE));
  PetscCall(DMDASetBoundaryType(*da, ends[0], ends[1], ends[2]));
  PetscCall(DMDASetDof(*da, 1));
  PetscCall(DMDASetStencilType(*da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, width));
  if (ranges)
    PetscCall(DMDASetOwnershipRanges(*da, ranges[0], p.dim > 1 ? ranges[1] : NULL, p.dim > 2 ? ranges[2] : NULL));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same grid without mirrors, on the ranks of `like` if that is given.
static PetscErrorCode make_grid_without_mirrors(const Problem &p, DM like, DM *da) {
  DMBoundaryType  ends[3];
  PetscInt        ranks[3] = {p.ranks[0], p.ranks[1], p.ranks[2]};
  const PetscInt *ranges[3];

  PetscFunctionBeginUser;
  for (int a = 0; a < 3; a++) ends[a] = p.is(a, DM_BOUNDARY_MIRROR) ? DM_BOUNDARY_NONE : p.ends[a];
  if (like) {
    PetscCall(
        DMDAGetInfo(like, NULL, NULL, NULL, NULL, &ranks[0], &ranks[1], &ranks[2], NULL, NULL, NULL, NULL, NULL, NULL));
    PetscCall(DMDAGetOwnershipRanges(like, &ranges[0], &ranges[1], &ranges[2]));
  }
  PetscCall(make_grid(p, ends, 1, ranks, like ? ranges : NULL, da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_grid(const Problem &p, DM *da) {
  Grid            plain;
  PetscInt        ranks[3], width = 1;
  const PetscInt *ranges[3];

  PetscFunctionBeginUser;
  PetscCall(make_grid_without_mirrors(p, NULL, &plain));
  PetscCall(
      DMDAGetInfo(plain, NULL, NULL, NULL, NULL, &ranks[0], &ranks[1], &ranks[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(plain, &ranges[0], &ranges[1], &ranges[2]));
  // a DMDA has no ghosts of mirrors on ranks a point wide; some versions of PETSc say so on those ranks only, and hang
  for (int a = 0; a < p.dim; a++)
    for (PetscInt r = 0; r < ranks[a]; r++)
      if (p.is(a, DM_BOUNDARY_MIRROR) && ranges[a][r] < 2) width = 0;
  PetscCall(make_grid(p, p.ends, width, ranks, ranges, da));
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

// Calls f(p) on the owned points in the order of the local array.
template <class Function> static void for_each_owned(DM da, const Function &f) {
  PetscInt start[3], size[3], p[3];
  OK(DMDAGetCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  for (p[2] = start[2]; p[2] < start[2] + size[2]; p[2]++)
    for (p[1] = start[1]; p[1] < start[1] + size[1]; p[1]++)
      for (p[0] = start[0]; p[0] < start[0] + size[0]; p[0]++) f((const PetscInt *)p);
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

static bool makes_cuda_vectors(DM da) {
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

void set_values(DM da, Vec v, const std::function<PetscScalar(const PetscInt p[3])> &f) {
  PetscScalar *values;
  size_t       n = 0;
  OK(VecGetArrayWrite(v, &values));
  for_each_owned(da, [&](const PetscInt p[3]) { values[n++] = f(p); });
  OK(VecRestoreArrayWrite(v, &values));
}

Vector random_vector(DM da, int seed) {
  Vector   v = make_vector(da);
  PetscInt N[2];
  OK(DMDAGetInfo(da, NULL, &N[0], &N[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  set_values(da, v, [&](const PetscInt p[3]) {
    return random_value((size_t)p[0] + (size_t)N[0] * ((size_t)p[1] + (size_t)N[1] * (size_t)p[2]), seed);
  });
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
  Vector    d = copy_of(x);
  PetscReal off, size;
  OK(VecAXPY(d, -1, reference));
  OK(VecNorm(d, NORM_INFINITY, &off));
  OK(VecNorm(reference, NORM_INFINITY, &size));
  if (PetscIsInfOrNanReal(off)) return PETSC_MAX_REAL;
  return size > 0 ? off / size : off;
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
  if (!everywhere(code == expected))
    problem << "code " << (int)code << " here, not " << (int)expected << " on every rank; message: " << message;
  for (const std::string &word : words)
    if (!everywhere(message.find(word) != std::string::npos))
      problem << "'" << word << "' is not in the message on every rank: " << message;
  return problem.str();
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
  int length = (int)text.size();
  MPI_Bcast(&length, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(&text[0], length, MPI_CHAR, 0, PETSC_COMM_WORLD);
  return text;
}

} // namespace tests
