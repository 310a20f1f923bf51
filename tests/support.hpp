#pragma once
// What all tests share: grids, matrices assembled without the library, vectors, differences, expected errors.
// Tests run on all ranks, and assert only numbers that are the same on all: one rank's failure would hang the others.

#include <functional>
#include <string>
#include <vector>

#include <petscdmda.h>
#include <petscksp.h>
#include <shellac.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

// A call that must succeed.
#define OK(...) tests::require((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

namespace tests {

void require(PetscErrorCode code, const char *call, const char *file, int line);

// PETSc's own handler ends other ranks than the first; this one prints, so that a failed test is followed by the next.
PetscErrorCode print_error(MPI_Comm, int line, const char *function, const char *file, PetscErrorCode code,
                           PetscErrorType type, const char *message, void *);

// A PETSc object that its scope destroys.
template <class Object, PetscErrorCode (*destroy)(Object *)> class Owned {
public:
  Owned() = default;
  Owned(Owned &&other) : object_(other.object_) { other.object_ = NULL; }
  Owned &operator=(Owned &&other) {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { (void)!(*destroy)(&object_); }
          operator Object() const { return object_; }
  Object *operator&() { return &object_; }

private:
  Object object_ = NULL;
};
using Grid = Owned<DM, DMDestroy>;
using Matrix = Owned<Mat, MatDestroy>;
using Vector = Owned<Vec, VecDestroy>;
using Solver = Owned<KSP, KSPDestroy>;

// ---- problems

struct Problem {
  int                    dim = 2;
  PetscInt               N[3] = {5, 5, 1};
  DMBoundaryType         ends[3] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};
  MatLaplaceBoundaryType boundary = MAT_LAPLACE_ELIMINATED;
  PetscScalar            sigma = 0;              // [1/length²]; zero: a Mat of type laplace
  PetscReal              lengths[3] = {1, 1, 1}; // [length]
  PetscInt               ranks[3] = {PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE};

  bool      is(int axis, DMBoundaryType type) const { return ends[axis] == type; }
  PetscReal spacing(int axis) const;
  PetscReal coordinate(int axis, PetscInt i) const; // of the point i
  bool      symmetric() const;
  bool      singular() const;
  bool      identity_row(const PetscInt p[3]) const;
};
std::string describe(const Problem &problem);
Problem     problem(int dim, PetscInt Nx, PetscInt Ny = 1, PetscInt Nz = 1);

// Calls f with every boundary form on every kind of axis, for a grid of this size that can be distributed.
void for_each_problem(int dim, const PetscInt N[3], const std::function<void(const Problem &, DM)> &f);

// False where PETSc cannot distribute the grid over so many ranks. Grids have a stencil width of 1, or of 0 where a
// mirrored axis has ranks that are one point wide.
bool try_make_grid(const Problem &problem, DM *da);
Grid make_grid(const Problem &problem);

Matrix make_operator(const Problem &problem, DM da);   // Shellac's
Matrix make_reference(const Problem &problem, DM da);  // an AIJ, assembled without the library
void   assemble(const Problem &problem, DM da, Mat A); // with MatSetValuesStencil()

// A row of the reference: columns as indices on the whole grid, those of periodic axes may be one step off it.
struct ReferenceRow {
  int         count = 0;
  PetscInt    point[7][3];
  PetscScalar value[7];
};
ReferenceRow reference_row(const Problem &problem, const PetscInt p[3]);

// ---- vectors and differences

// A number in [-1, 1] (complex: in that square) that depends on the point alone, not on the ranks.
PetscScalar random_value(size_t natural_index, int seed);
Vector      make_vector(DM da);
Vector      random_vector(DM da, int seed);
Vector      copy_of(Vec v);
void        set_values(DM da, Vec v, const std::function<PetscScalar(const PetscInt p[3])> &f);

extern const PetscReal exact; // 1e-14 for double: what two correct programs may differ by

// Relative, in the infinity norm.
PetscReal difference(Vec x, Vec reference);
PetscReal difference(Mat A, Mat reference); // of the entries
PetscReal difference(PetscReal x, PetscReal reference);
bool      everywhere(bool here); // true on all ranks

PetscReal nonzeros(Mat A);
int       rank_count();

// ---- options and errors

// Sets options while it lives: Options o{"-pc_type jacobi -ksp_rtol 1e-8"}.
class Options {
public:
  explicit Options(const std::string &text);
  ~Options();
  Options(const Options &) = delete;

private:
  std::vector<std::string> keys_;
};

// What a call that must fail with this code said, the same on every rank; words that its message lacks, or what else
// is wrong; empty if all is well.
std::string error_problem(PetscErrorCode expected, const std::vector<std::string> &words,
                          const std::function<PetscErrorCode()> &call);
#define EXPECT_ERROR(code, words, ...)                                                                                 \
  CHECK(tests::error_problem(code, std::vector<std::string> words, __VA_ARGS__) == "")

std::string view(Mat A, PetscViewerFormat format); // what MatView() prints, on every rank

} // namespace tests
