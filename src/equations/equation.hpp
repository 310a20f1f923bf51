#pragma once
// A compiled equation, and its data for one grid.

#include <memory>
#include <string>
#include <vector>

#include <petscsnes.h>
#include <petscts.h>

#include "device/arrays.hpp"
#include "device/launch.hpp"
#include "device/mirror.hpp"
#include "device/scratch.hpp"
#include "equations/axes.hpp"
#include "equations/compiler.hpp"
#include "equations/kernels.hpp"
#include "equations/source.hpp"
#include "equations/text.hpp"
#include "formulas/boundary.hpp"
#include "grid/grid.hpp"

namespace shellac {

// The compiled functions read and write arrays of double, or of pairs of them.
#if defined(PETSC_USE_REAL_DOUBLE)
constexpr bool scalars_serve_equations = true;
#else
constexpr bool scalars_serve_equations = false;
#endif
inline equation::Scalar *compiled_array(PetscScalar *array) {
  return reinterpret_cast<equation::Scalar *>(array);
}
inline const equation::Scalar *compiled_array(const PetscScalar *array) {
  return reinterpret_cast<const equation::Scalar *>(array);
}

// Of Equation::kernels, in the order of their names.
enum EquationKernel : size_t { values_kernel, entries_kernel, products_kernel };

// Kernels that are made when they are first needed.
struct LazyKernels {
  std::vector<std::string> names; // as equation_kernel() has them
  bool                     along_vector = false, of_data = false;
  struct Made {
    EquationKernels kernels{};
    bool            tried = false;
  } made[2]{}; // of threads with one column of points, and with two
  equation::VectorFunction integrands = nullptr; // on the host; null: those of Functions
};

// What all grids of a hierarchy share.
struct Equation {
  EquationText                     text;
  EquationShape                    shape;
  std::string                      cache;       // -equation_cache
  std::string                      initial;     // -equation_initial
  std::vector<std::string>         field_files; // of each field, as -equation_k; empty: none is given
  const equation::Functions       *functions = nullptr;
  LazyKernels                      kernels{{"values", "entries"}}; // and "products", where Functions have them
  LazyKernels                      value_kernels{{"values"}};      // where entries are not needed
  LazyKernels                      action_kernels{{"products", "diagonals"}, true};
  LazyKernels                      impose_kernels{{"imposed"}};
  const equation::ActionFunctions      *action = nullptr; // compiled when it is first needed, as the next ones
  const equation::SensitivityFunctions *sensitivities = nullptr;
  LazyKernels                           sensitivity_kernels{{"products"}, false, true}; // and "transposed", by fields
  PetscMPIInt               ranks = 0; // of the grid that the equation was set on, which make the kernels together
  std::vector<PetscReal>    parameters;
  std::vector<bool>         known;           // [parameters]: it has a value
  std::vector<const char *> parameter_names; // with a null pointer at the end, as below
  std::vector<const char *> field_names;
  std::vector<PetscReal>    domain; // lower and upper end of each axis [length]; empty: the DM's coordinates
  PetscReal                 ends[3][2] = {{0, 1}, {0, 1}, {0, 1}}; // of axes that are placed without coordinates
  PetscReal                 time = 0;                              // for KSP and SNES
  bool                      linear = false;                        // the entries do not depend on the unknowns
  PetscReal                 cell = 0;    // volume of a cell of the grid that the equation was set on [length^dim]
  PetscInt                  version = 1; // of parameters, fields and time: what follows from them is made anew

  size_t unknowns() const { return text.unknowns.size(); }
};

// Its `functions`, `action` or `sensitivities`, unless they are there; ahead: see CompileSource(). Collective.
PetscErrorCode CompileFunctions(MPI_Comm comm, Equation &equation, FunctionsOf of, bool ahead = false);
// Why there are no derivatives by parameters and fields, or an empty string.
std::string problem_of_sensitivities(const EquationText &text);

// The TS whose functions a DMDA's SNES calls.
struct TimeStepper {
  TS ts = NULL; // not referenced; null where it is destroyed
  DM da = NULL; // the DMDA, likewise
};

struct PointSum { // of sum_runs()
  PetscScalar     value = 0;
  SHELLAC_HD void add(const PointSum &other) { value += other.value; }
};
// Lengths of the cells of a rank's points along each axis.
struct CellLengths {
  const double        *of[3];
  SHELLAC_HD PetscReal volume(PetscInt i, PetscInt j, PetscInt k) const { return of[0][i] * of[1][j] * of[2][k]; }
};

// PetscCheck() in the next class' functions, with a line of the text.
#define SHELLAC_CHECK_LINE(condition, code, line, message)                                                             \
  PetscCheck(condition, grid_.comm, code, "%s", equation_->text.error_at(line, message).c_str())

// An equation on the grid of a DMDA.
class EquationOnGrid {
public:
  // Errors: a grid that the equation does not fit. fields: not set yet.
  PetscErrorCode Create(DM da, std::shared_ptr<Equation> equation);
  PetscErrorCode Destroy();

  Equation                        &equation() { return *equation_; }
  const Grid                      &grid() const { return grid_; }
  DM                               da() const { return da_; }
  const std::shared_ptr<Equation> &shared() const { return equation_; }
  std::shared_ptr<TimeStepper>    &stepper() { return stepper_; } // a coarser grid has the one of the finer
  // Factors of the rows of an implicit step on a coarser grid than the TS's: restriction sums residuals, as for a steady
  // equation; and the rows of points where u is given are scaled to the size of the others. They are of the time of the last
  // evaluation. Collective.
  void SetStep(PetscReal row_scale, PetscReal time_step) { step_.row_scale = row_scale, step_.time_step = time_step; }
  bool HasStep() const { return step_.time_step != 0; } // it is such a grid
  PetscErrorCode GetStepScale(Vec *scale);
  // One for unknowns with rates, zero for algebraic ones; null: all have rates.
  PetscErrorCode GetRates(Vec *rates);

  // A TS's tries of a step whose rates are not finite.
  struct Attempt {
    PetscReal                begin = PETSC_MAX_REAL, dt = 0; // of the step; of the first try [time]
    PetscReal                refused = 0; // dt of the last try, if rates were replaced to have it rejected; else 0
    PetscReal                factor = 1;  // of the next rate that is replaced in it
    std::vector<PetscScalar> state;       // that the tries begin with, of the rank
  } attempt;

  // Coordinates of the first point, and spacings; of a stretched axis their mean. [axis]
  const double       *origin() const { return place_.origin; }
  const double       *spacing() const { return place_.h; }
  const EquationAxis &axis(int a) const { return axes_[a]; }
  PetscReal cell() const { return place_.h[0] * place_.h[1] * place_.h[2]; } // its volume, or the mean [length^dim]
  PetscErrorCode SetCoordinates();                                           // of the DM. Collective

  // The residual or the rate at a time, with the source of the exact solution, computed where u and f are. u: global;
  // collective.
  // alone: for steps that take no entries, whose kernel need not be made
  PetscErrorCode Evaluate(PetscReal time, Vec u, Vec f, bool alone = false);
  // Of a rate: u becomes what sides of the form identity give at that time. Values there have no effect on the rate.
  // again: also if the data have not changed. Collective.
  PetscErrorCode Impose(PetscReal time, Vec u, bool again = true);
  bool           Imposes() const;                                               // on any side
  PetscErrorCode SetAtGiven(Vec v, PetscScalar value, bool given = true) const; // v there, or everywhere else
  // f() while derivatives of a rate by parameters are, on these sides, of what they give, in place of zero.
  template <class Function> PetscErrorCode WithGiven(const Function &f) {
    place_.gives = 1;
    const PetscErrorCode code = f();
    place_.gives = 0;
    return code;
  }
  // An error where a state after some steps, or the first one, or its rate f, is not finite or exceeds a bound; remedy: what
  // the user can do, of the first one what to change. Collective.
  PetscErrorCode CheckFinite(PetscReal time, Vec u, Vec f, PetscReal bound, const std::string &remedy,
                             bool first = false);
  // Of a steady equation that constants solve without its source: the Mat gets its null spaces, and f becomes a
  // residual or a right-hand side for which there is a solution; both are those at u. first: of a solve; an error where
  // there is none by far. Collective.
  PetscErrorCode AttachNullSpaces(Vec u, Mat A);
  PetscErrorCode MakeConsistent(Vec u, Vec f, bool first);
  bool           IsSingular() const { return null_spaces_[0]; } // at the last of these states
  // A solve begins: its first values and entries are checked, which must be finite.
  void BeginSolve() { checked_ = entries_checked_ = imposed_ = 0; }
  // The entries of its derivative; A is assembled. Skipped where A has them already. Entries lack the derivatives of
  // integrals: that is an error, unless A is for a preconditioner alone.
  PetscErrorCode Assemble(PetscReal time, Vec u, Mat A, bool preconditions = false);
  // Jacobian's action without entries: *state, null or not, is a copy of u; y is the derivative there times v, or its
  // diagonal where v is null, computed where the vectors are. Collective.
  PetscErrorCode CopyState(Vec u, Vec *state);
  PetscErrorCode Act(PetscReal time, Vec state, Vec v, Vec y);
  PetscErrorCode AssembleAt(PetscReal time, Vec state, Mat A); // the entries at such a copy
  // Derivatives of the values by data, computed where the vectors are: y is that by a parameter at u; at a copy of the state
  // that by a field, times v, or transposed, times v. Collective.
  PetscErrorCode ByParameter(PetscReal time, Vec u, size_t p, Vec y);
  PetscErrorCode ByField(PetscReal time, Vec state, size_t f, Vec v, Vec y);
  PetscErrorCode ByFieldTransposed(PetscReal time, Vec state, size_t f, Vec v, Vec y);
  PetscErrorCode GetInitial(PetscReal time, Vec u);
  PetscErrorCode GetExact(PetscReal time, Vec u);

  // Evaluates the functions at random states: it is an error if they read a neighbour beyond the stencil. And finds
  // whether the equation is linear with its parameters: by its text, and by its entries at these states. Collective.
  PetscErrorCode Try(bool *linear);

  PetscErrorCode SetField(size_t f, Vec values);
  PetscErrorCode LoadField(size_t f, const std::string &file);
  // Fields that the program has set, of a finer (by injection) or a coarser grid (by interpolation).
  PetscErrorCode TakeFields(EquationOnGrid &from, bool finer);
  PetscErrorCode CheckComplete(); // an error for a parameter or a field without values, or other coordinates than at first

private:
  PetscErrorCode BeginSensitivities(PetscReal time);
  PetscErrorCode Along(PetscReal time, Vec state, const std::vector<Vec> &fields, Vec y);
  PetscErrorCode SetEnds();
  bool           HasEnds() const; // on some axis; not in periods or mirrors alone
  PetscErrorCode SetAxes();
  PetscErrorCode CheckAxes();
  PetscErrorCode SetTables(PetscMemType memory); // of a stretched grid, for what is computed there
  PetscErrorCode Update();                       // after a change of parameters, fields or the time place_.time
  PetscErrorCode SetFieldsByFormula();
  PetscErrorCode ZeroInSolid(PetscScalar *values) const; // [points][unknowns]
  // The entries of a few points of a region at a random state of this size; the number of these points. A neighbour beyond
  // the stencil that was read is then in place_.arm.
  int Sample(equation::Region region, unsigned seed, double size, std::vector<PetscScalar> *entries);
  // An array like the ghosted vector of n unknowns, with random numbers where a region's points read it and nothing else.
  std::unique_ptr<PetscScalar[]> NumbersNear(const equation::Region &region, int n, unsigned seed, double size) const;
  PetscErrorCode                 SetGivenScale();
  // Of a steady equation's rows, on a coarser or finer grid: restriction by the transpose of interpolation sums residuals.
  PetscReal      RowScale() const;
  PetscErrorCode UpdateSource(); // at place_.time
  PetscErrorCode SolveAlgebraic(PetscReal time, Vec u);
  PetscErrorCode GetState(equation::VectorFunction function, PetscReal time, Vec u); // null: zero
  // Reads u and the fields; local: u with ghost points, where there are several ranks.
  PetscErrorCode Read(Vec u, LazyKernels &kernels, WorkVector *local, Arrays *arrays);
  // Makes the kernels, where u is of a type for GPUs and they have not been tried. Collective.
  PetscErrorCode   NeedKernels(Vec u, LazyKernels &kernels);
  EquationKernels &KernelsOf(LazyKernels &kernels) const { return kernels.made[columns_ - 1].kernels; } // for this grid
  PetscErrorCode   ReadFields(Arrays *arrays);
  PlaceTables      Tables() const;
  // u becomes its copy in `local` with ghost points, where there are several ranks; an earlier copy is taken again.
  PetscErrorCode   GetGhosts(WorkVector *local, Vec *u);
  // For what Read() has read; with the integrals, and their derivatives along a direction. Collective.
  PetscErrorCode   SetPlace(PetscMemType memory, LazyKernels &kernels, const PetscScalar *direction = nullptr);
  PetscErrorCode   Integrate(PetscMemType memory, LazyKernels &kernels);
  PetscErrorCode   GetCells(PetscMemType memory, CellLengths *cells);
  PetscErrorCode   AddByIntegrals(const PetscScalar *v, PetscScalar *sums); // of ByFieldTransposed()
  // A function at a state with ghost points, for a direction v or none, by one of these kernels, or on the host; without a
  // state what is given on ends. fields: directions of these, with ghost points; null: none. Computed where the vectors are.
  // Collective.
  PetscErrorCode   Compute(PetscReal time, Vec state, Vec v, Vec out, LazyKernels &kernels, size_t kernel,
                           equation::VectorFunction on_host, const std::vector<Vec> &fields = {});
  PetscErrorCode   ComputeEntries(PetscMemType memory, PetscScalar *const *slots);
  std::string      ArmProblem(const int arm[5]) const;
  PetscErrorCode   CheckArms() const;
  PetscErrorCode   CheckSource(const std::vector<PetscScalar> &source) const; // an error where it is not finite
  PetscErrorCode   CheckKinks() const;
  PetscErrorCode   CheckEntries(Vec u, const PetscScalar *const *slots);
  std::string      PlaceOf(size_t point) const;
  PetscErrorCode   FieldsAt(size_t point, std::string *text) const;
  PetscErrorCode   Add(const std::vector<PetscScalar> &entries, Mat A) const;
  void             MakeRegions();
  bool             Gives(int axis, int side) const; // a rate's unknown, by the form identity
  bool             IsGiven(size_t i) const;         // an owned value, by that form
  PetscErrorCode   SetGiven();
  equation::Region AllPoints() const; // of this rank, with those at ends
  bool             EndsHoldConstants() const;
  bool             CellsDiffer() const; // in volume, also those of mirrored ends, which are halves
  // v: volumes of cells, or one, at that unknown; zero at others, and in solid cells
  PetscErrorCode SetCells(size_t unknown, bool by_volume, Vec v);
  // The sum of a row over all cells, and that of absolute values.
  PetscErrorCode SumRow(size_t row, Vec f, PetscScalar *sum, PetscReal *size);
  // Leaves the unknowns whose constants the Jacobian at u makes zero, and the rows whose sums it leaves as they are.
  PetscErrorCode KeepSingular(Vec u, std::vector<size_t> *unknowns, std::vector<size_t> *rows);
  PetscErrorCode MakeNullSpaces();
  PetscErrorCode CheckBalance(Vec u, Vec f); // an error where the sums of the rows are no rounding errors
  PetscErrorCode JacobianProduct(Vec u, Vec v, Vec y);
  PetscErrorCode UpdateNullSpaces(Vec u);                                              // for the Jacobian there
  int            slots() const { return (int)(arms_.size() * equation_->unknowns()); } // of a row
  size_t         owned() const { return (size_t)grid_.size[0] * grid_.size[1] * grid_.size[2]; }

  struct Arm {
    PetscInt d[3];
  };
  // What step_scale_ follows from: the ratio of the cells, the step [time], the equation's version, the time of its fields.
  struct Step {
    PetscReal row_scale = 1, time_step = 0, time = 0;
    PetscInt  version = 0;
    bool      operator==(const Step &other) const {
           return row_scale == other.row_scale && time_step == other.time_step && time == other.time &&
                  version == other.version;
    }
  };

  std::shared_ptr<Equation>        equation_;
  std::shared_ptr<TimeStepper>     stepper_ = std::make_shared<TimeStepper>();
  Vec                                    step_scale_ = NULL, rates_ = NULL;
  Step                             step_, scaled_;                 // the present one; that of step_scale_
  MatNullSpace                     null_spaces_[2] = {NULL, NULL}; // of the Jacobian, of its transpose
  std::vector<size_t>              null_unknowns_, null_rows_;     // which they are of
  PetscInt64                       id_ = 0;                        // of no other one of this process
  DM                               da_ = NULL;                     // not referenced: the DM has this object
  Grid                             grid_;
  Ends                             ends_[8][3]; // [unknown][axis]
  EquationAxis                     axes_[3];
  CoordinatesVersion               coordinates_;
  Mirror<double>                   tables_; // [axis][equation::AxisTable], where axes are stretched
  Mirror<double>                         cell_lengths_;
  Scratch<PetscScalar>                   integrands_; // of Integrate(), as the next ones
  Scratch<PointSum>                      partial_sums_, sums_;
  std::vector<PetscScalar>               integrals_; // place_.integrals
  equation::Place                  place_ = {};
  std::vector<equation::Fold>            folds_;            // place_.folds
  Mirror<equation::Fold>                 fold_changes_;     // place_.fold_changes
  Mirror<const PetscScalar *>            field_directions_; // place_.field_directions
  std::vector<unsigned char>       identity_;
  std::vector<double>              given_scale_;
  int                              own_arm_[5] = {0, 0, 0, 0, 0}; // place_.arm, on the host and on a GPU
  std::unique_ptr<int, void (*)(void *)> pinned_arm_{nullptr, PinnedFree};
  std::vector<equation::Region>    regions_;
  std::vector<Arm>                 arms_;
  DM                               field_da_ = NULL;       // of one value at a point
  bool                             ghosts_ = false;        // several ranks: the arrays that are read have ghost points
  int                              columns_ = 1;           // EquationShape::columns of this grid's kernels
  std::vector<Vec>                 fields_, local_fields_; // the same ones without ghost points
  std::vector<bool>                field_set_;
  const PetscScalar               *u_ = nullptr; // what Read() has read
  std::vector<const PetscScalar *> field_arrays_;
  std::vector<equation::Region>    given_regions_; // points where a rate's unknowns are given, of all ranks
  bool                             given_of_time_ = false;
  Mirror<PetscScalar>              source_; // [points][unknowns]: what is added to the values
  PetscReal                        source_time_ = 0, fields_time_ = 0;
  PetscInt version_ = 0, source_version_ = 0, null_version_ = 0, checked_ = 0, entries_checked_ = 0,
           imposed_ = 0; // of the equation, when they were made
};

// The number of a parameter or a field; *problem: why there is none, or empty.
size_t find_parameter(const Equation &equation, const char name[], std::string *problem);
size_t find_field(const Equation &equation, const char name[], std::string *problem);

// An error for an option -equation_NAME that is no parameter, field or setting. Collective.
PetscErrorCode CheckOptionNames(DM da, const Equation &equation);

PetscErrorCode DMFindEquation(DM da, EquationOnGrid **on_grid); // null where the DM has none
// The equation of a DM. Errors: it has none.
PetscErrorCode DMGetEquation(DM da, EquationOnGrid **on_grid);
PetscErrorCode EquationCheckLinear(EquationOnGrid &equation); // an error where it is not linear
// Sets the functions of its equation on a DMDA. For a rate: a TS that was set up before no longer finds its own. Collective.
PetscErrorCode SetSolverFunctions(DM da, const EquationText &text);

// Where A is of type equation: A becomes the derivative at u. *set: whether it is of that type.
PetscErrorCode MatEquationTrySetState(Mat A, PetscReal time, Vec u, PetscBool *set);

// If B, the Mat of a KSP's preconditioner, is of type equation: PETSc's default preconditioner, which is chosen before
// the Mat is known, is replaced by Jacobi; another one that needs entries is an error.
PetscErrorCode KSPAvoidEntries(KSP ksp, Mat B);

// The factors of a singular Mat B have a pivot that is zero, or a rounding error: preconditioners that factor it shift
// it, unless options or the program say how.
PetscErrorCode KSPShiftFactors(KSP ksp, Mat B);

// "2 dimensions"
std::string dimensions(int dim);

// The sum of the values' sizes, of complex ones that of their parts': faster on a host than PETSc's norm, whose additions
// wait for each other. Collective.
PetscErrorCode add_sizes(Vec v, PetscReal *size);

} // namespace shellac
