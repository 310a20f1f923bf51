#pragma once
// What all tests share: grids, matrices assembled without the library, vectors, differences, expected errors.
// Tests run on all ranks, and assert only numbers that are the same on all: one rank's failure would hang the others.

#include <array>
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

// ---- matrices that a program assembles on any DMDA, captured and as AIJ

constexpr const char *captured_type = MATSTENCILSHELL;

using Point = std::array<PetscInt, 3>;
using Points = std::vector<Point>;

struct Lattice {
  int             dim = 2;
  PetscInt        N[3] = {5, 5, 1};
  DMBoundaryType  ends[3] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};
  DMDAStencilType shape = DMDA_STENCIL_STAR;
  PetscInt        width = 1, dof = 1;
  PetscInt        ranks[3] = {PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE};

  size_t natural(const PetscInt p[3]) const;   // the index of a point, p may be off the end of a periodic axis
  bool   has_ghost(const PetscInt p[3]) const; // whether the DMDA has a place for this point
  Points arms() const;                         // the offsets of the stencil, the point itself among them
};
std::string describe(const Lattice &lattice);
bool        try_make_grid(const Lattice &lattice, DM *da); // false where PETSc cannot distribute it
// ranges: the points of the ranks along each axis; null for PETSc's choice
PetscErrorCode make_grid(const Lattice &lattice, const PetscInt *const ranges[3], DM *da, MPI_Comm = PETSC_COMM_WORLD);
Grid           make_grid_alone(const Lattice &lattice); // on each rank, all of it
Lattice              lattice_of(DM da);
std::vector<Lattice> lattices(); // small ones of all kinds, that can be distributed over the ranks there are
// With -test_part 2,8, for checkers that make a test slow: every eighth, from the third on; all without it.
std::vector<Lattice> part_of(const std::vector<Lattice> &all);

// How the coefficients change from point to point; the names of -mat_stencil_compress for what can hold them.
enum class Form { constant, indexed, arrays };
extern const Form forms_of_storage[3];
const char       *name_of(Form form);

// The dof x dof block, by rows, that couples the point p to p + arm.
using Fill = std::function<void(const PetscInt p[3], const PetscInt arm[3], PetscScalar *block)>;
Fill random_fill(const Lattice &lattice, Form form, int seed); // diagonally dominant; not symmetric, and complex
Fill uniform_fill(const Lattice &lattice, int seed);           // the same at all points
Fill diffusion_fill(const Lattice &lattice, Form form);        // real, symmetric where no axis is mirrored, positive

// The calls by which a program sets values: Stencil takes points, Local ghosted indices, Global the rows themselves.
enum class Way { stencil, blocked_stencil, local, blocked_local, global, blocked_global };
extern const Way ways[6];
const char      *name_of(Way way);

// Sets one row of blocks for each owned point, or for those where `where` holds; all blocks of the row, or the diagonal
// one. Does not assemble.
using Where = std::function<bool(const PetscInt p[3])>;
void set_rows(DM da, Mat A, const Fill &fill, Way way, InsertMode mode, const Where &where = nullptr,
              bool diagonal_only = false);
// Some points: at the ends of the domain, of one of two materials, or any, so that the form can still hold the rows.
Where some_points(const Lattice &lattice, Form form);
// As finite elements do: each pair of points adds to the rows of both, which may be another rank's.
void add_pairs(DM da, Mat A, const Fill &fill, Way way);
void assemble(Mat A);

// Calls f for every lattice and form of coefficients, with the options that ask for this form of storage, or for none.
void for_each_capture(const std::function<void(const Lattice &lattice, Form form, const std::string &text)> &f);

// The same matrix twice: captured, and as AIJ on a DMDA of its own. Work is done on both, and compared.
struct Twins {
  Lattice lattice;
  Grid    da, aij_da;
  Matrix  A, aij;

  explicit Twins(const Lattice &lattice, VecType vec_type = NULL); // of the captured one; the other's are on the host
  void renew();                                                    // both matrices, on the same grids
  void both(const std::function<void(DM, Mat)> &work);

  // What gives another result on A than on the AIJ: a list of names with differences, on all ranks; empty if nothing.
  std::string operator_problem(); // products, diagonals, norms, rows
  std::string parts_problem();    // matrices that are made of it

  // The largest relative difference of the vectors that work leaves in y; x and b are random.
  PetscReal difference_of(const std::function<void(DM, Mat, Vec x, Vec b, Vec y)> &work);
  PetscReal product_difference(); // of MatMult() with a random x, which sees every entry

private:
  struct Vectors {
    Vector x, b, start, y;
  } vectors_, aij_vectors_;
};

// ---- vectors and differences

bool makes_cuda_vectors(DM da);

// A number in [-1, 1] (complex: in that square) that depends on the point alone, not on the ranks.
PetscScalar random_value(size_t natural_index, int seed);
Vector      make_vector(DM da);
Vector      random_vector(DM da, int seed);
Vector      copy_of(Vec v);
void set_values(DM da, Vec v, const std::function<PetscScalar(const PetscInt p[3])> &f); // all values of a point alike

// All values in the order of the whole grid, on all ranks.
std::vector<PetscScalar> natural_values(DM da, Vec v);

// Calls f on the owned points in the order of the local array.
void for_each_owned(DM da, const std::function<void(const PetscInt p[3])> &f);

extern const PetscReal exact; // 1e-14 for double: what two correct programs may differ by

// Relative, in the infinity norm.
PetscReal difference(Vec x, Vec reference);
PetscReal difference(Mat A, Mat reference); // of the entries
PetscReal difference(PetscReal x, PetscReal reference);
bool      everywhere(bool here); // true on all ranks

PetscReal nonzeros(Mat A);
int       rank_count();
#if defined(__SANITIZE_ADDRESS__) // each of many combinations takes long, and all go the same ways
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
// Spreads many combinations over the numbers of ranks: one rank does all, 2, 3 and 4 ranks a third each.
bool in_turn(int combination);

// ---- options and errors

// Sets options while it lives: Options o{"-pc_type jacobi -ksp_rtol 1e-8"}. They go into a copy of the database, because
// PETSc replaces an old name by a new one when it meets it.
class Options {
public:
  explicit Options(const std::string &text);
  ~Options();
  Options(const Options &) = delete;

private:
  PetscOptions options_;
};

// What a call that must fail with this code (zero: with any) said, the same on every rank; words that its message
// lacks, or what else is wrong; empty if all is well.
std::string error_problem(PetscErrorCode expected, const std::vector<std::string> &words,
                          const std::function<PetscErrorCode()> &call);
#define EXPECT_ERROR(code, words, ...)                                                                                 \
  CHECK(tests::error_problem(code, std::vector<std::string> words, __VA_ARGS__) == "")

std::string temporary_file();                        // the name of a new one, the same on every rank
void        remove_file(const std::string &name);     // and what PETSc writes beside it
std::string view(Mat A, PetscViewerFormat format);      // what MatView() prints, on every rank
std::string printed(const std::function<void()> &work); // what the first rank prints on standard output, on every rank

} // namespace tests
