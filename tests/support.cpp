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
  if (sanitized) return combination % 9 == rank_count();
  return rank_count() == 1 || combination % 3 == (rank_count() + 1) % 3;
}

// ---- options and errors

Options::Options(const std::string &text) {
  char *before;
  OK(PetscOptionsGetAll(NULL, &before));
  OK(PetscOptionsCreate(&options_));
  OK(PetscOptionsInsertString(options_, before));
  OK(PetscOptionsInsertString(options_, text.c_str()));
  OK(PetscFree(before));
  OK(PetscOptionsPush(options_));
}

Options::~Options() {
  (void)!PetscOptionsPop();
  (void)!PetscOptionsDestroy(&options_);
}

struct Messages {
  std::string text;
  int         count = 0;
};

static PetscErrorCode record(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type,
                             const char *message, void *context) {
  Messages &messages = *static_cast<Messages *>(context);
  if (type == PETSC_ERROR_INITIAL) {
    messages.count++;
    if (message) messages.text += message;
  }
  return code;
}

std::string error_problem(PetscErrorCode expected, const std::vector<std::string> &words,
                          const std::function<PetscErrorCode()> &call) {
  Messages           messages;
  std::ostringstream problem;
  OK(PetscPushErrorHandler(record, &messages));
  const PetscErrorCode code = call();
  OK(PetscPopErrorHandler());
  const std::string &text = messages.text;
  if (!everywhere(expected ? code == expected : code != PETSC_SUCCESS))
    problem << "code " << (int)code << " here, not " << (int)expected << " on every rank; message: " << text;
  if (!everywhere(messages.count == 1)) problem << messages.count << " messages here, not one on every rank: " << text;
  for (const std::string &word : words)
    if (!everywhere(text.find(word) != std::string::npos))
      problem << "'" << word << "' is not in the message on every rank: " << text;
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

std::string temporary_file() {
  char name[PETSC_MAX_PATH_LEN] = "";
  int  rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0) {
    PetscErrorCode code = PetscGetTmp(PETSC_COMM_SELF, name, sizeof(name));
    OK(code);
    OK(PetscStrlcat(name, "/shellac-test-XXXXXX", sizeof(name)));
    const int file = mkstemp(name);
    if (file >= 0) close(file);
  }
  MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, PETSC_COMM_WORLD);
  return name;
}

void remove_file(const std::string &name) {
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank > 0) return;
  remove(name.c_str());
  remove((name + ".info").c_str()); // PETSc's, beside a binary file
}

std::string view(Mat A, PetscViewerFormat format) {
  const std::string path = temporary_file();
  const char *const name = path.c_str();
  int               rank;
  PetscViewer       viewer;
  std::string       text;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
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
    remove_file(path);
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
