#pragma once
// A hierarchy of levels and the cycles over it, for operators that are sums over their axes (see axis.hpp) and for those
// that have coefficients at each point (see couplings.hpp).

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "device/scalars.hpp"
#include "grid/halo.hpp"
#include "multigrid/axis.hpp"
#include "multigrid/cycle.hpp"
#include "multigrid/types.hpp"

namespace shellac {

struct StencilMat;
struct Couplings;
struct OperatorRows;
struct SetupFindings;

constexpr int most_unknowns = 8; // of a point

enum class Smoother { automatic, chebyshev, red_black }; // of constant coefficients in three dimensions

struct MultigridOptions {
  Cycle    cycle = Cycle::automatic;
  PetscInt levels = 0;  // at most; 0: as many as there are
  PetscInt smooths = 0; // smoothing steps on the way down, and up; 0: automatic
  Smoother smoother = Smoother::automatic;
  bool     full = false; // full multigrid is wanted
  bool     fused = true; // where there is a fused form
  bool     graph = true; // a cycle on GPUs is a CUDA graph on each rank
  PetscInt whole = 0;    // on GPUs, each rank has all of levels of so many points at most; 0: automatic

  // The latter: a visit of one takes a GPU less time than exchanges between GPUs would. direct: no value goes through a host
  PetscInt64 most_whole(bool direct) const { return whole ? whole : (PetscInt64)1 << (direct ? 20 : 16); }
};

// One level, for the view.
struct LevelInfo {
  PetscInt       N[3];
  PetscInt       steps;
  PetscReal      weights[8];
  bool           red_black;    // a step changes one colour
  bool           weighted;     // rows have weights of their own: not symmetric
  bool           nonsymmetric; // with any weights of the rows
  std::string    place;        // which of several ranks have it
  const char    *passes;       // how it is walked
  bool           variable;     // has coefficients at each point
  int            unknowns = 1; // of a point
  PetscReal      ratio = -1;   // the last level is solved by smoothing alone: see relaxations(); negative: it is not
  PetscLogDouble bytes;        // on this rank
};

// The operations on one level of a rank, for logs.
struct LevelFlops {
  PetscLogDouble residual = 0, from_zero = 0, step = 0; // the first step from zero, and others
  PetscLogDouble transfer = 0;                          // to the next level, or from it
  PetscLogDouble solve = 0;                             // beside the steps of a last level that has some
  int            steps = 0;
};

// See Multigrid::Apply().
struct InRow {
  bool again = false, more = false;
};

// What takes the place of a window's arrays: of the vectors at own points, and of the next level. Null: nothing does.
struct OutsideArrays {
  const PetscScalar *b = nullptr;
  PetscScalar       *x = nullptr, *coarse_b = nullptr, *coarse_x = nullptr;
  Patch              coarse = {}; // of the next level's arrays
};

class Multigrid {
public:
  virtual ~Multigrid() = default;
  virtual PetscErrorCode Destroy() = 0;
  // After a change of the operator: where it has become a multiple of what it was with another diagonal, and weights of
  // interpolation are still right, the levels follow it. fixed: 1/diagonal of identity rows is written there, zero
  // elsewhere; null where there are none. *equal: to rounding; otherwise only nearly, so that residuals have to be the
  // matrix's own. *failed: the last level cannot be solved. Not *done: the hierarchy can only be destroyed, or make
  // room for another. Collective.
  virtual PetscErrorCode Update(StencilMat *, PetscMemType, Vec, bool *done, bool *, bool *) {
    *done = false;
    return PETSC_SUCCESS;
  }
  // x = a cycle for b: from zero, from x or, for `full`, by full multigrid. norm: of b - A x before it, over all ranks;
  // null: not wanted; only from x, and where gives_norm(). It goes on only with stop < norm <= limit; x is as it was else.
  // row: whether the application before had the same b and x and left x so, and whether another one follows, until whose
  // end nobody reads x. Arrays in `memory`, work in PETSc's stream.
  virtual PetscErrorCode Apply(PetscMemType memory, const PetscScalar *b, PetscScalar *x, bool from_x, bool full,
                               PetscReal stop, PetscReal limit, PetscReal *norm, InRow row) = 0;
  // x = the transpose of a cycle from zero, or of full multigrid, times b. Of rows that weights make symmetric (see
  // GetMasses()) it is that of M A M⁻¹, M the weights.
  PetscErrorCode ApplyTranspose(PetscMemType memory, const PetscScalar *b, PetscScalar *x, bool full) {
    PetscFunctionBegin;
    transposed_ = true;
    const PetscErrorCode code = Apply(memory, b, x, false, full, 0, 0, NULL, {});
    transposed_ = false;
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // The weights, at the points of the vectors, of variable coefficients; *any: this rank has such beside ones.
  virtual PetscErrorCode GetMasses(PetscScalar *, int *any) {
    *any = 0;
    return PETSC_SUCCESS;
  }
  virtual std::vector<LevelInfo>  levels() const = 0;
  virtual std::vector<LevelFlops> flops() const = 0;
  virtual bool                    gives_norm(PetscMemType) { return false; } // of the vectors
  virtual bool                    may_amplify() const = 0; // residuals, as with shifts that make a level indefinite

  // For a hierarchy of which this one has some levels, of one rank: see spread.hpp. Arrays on the GPU.
  // Open: the vectors of verbs that follow. CopyIn, CopyOut: to arrays of the hierarchy, where it does not have the vectors'
  // numbers; and x back. SetOutside: of a window, what takes the place of its arrays, where its passes can do that.
  // BeginCycle: the first pass of a cycle from x, which finds the norm. Visit: all levels from here on, by cycles of that
  // type. GetCoarse, SetCoarse: the second level's right-hand side and solution, which are arrays of the hierarchy where
  // they have the vectors' numbers, otherwise copies in `room`.
  virtual PetscErrorCode Open(const PetscScalar *, PetscScalar *, bool, bool) { return PETSC_ERR_SUP; }
  virtual PetscErrorCode CopyIn(bool) { return PETSC_ERR_SUP; }
  virtual PetscErrorCode CopyOut() { return PETSC_ERR_SUP; }
  virtual bool           takes_outside() const { return false; }
  virtual void           SetOutside(const OutsideArrays &) {}
  virtual PetscErrorCode BeginCycle(PetscReal *) { return PETSC_ERR_SUP; }
  virtual PetscErrorCode Visit(const PetscScalar *, PetscScalar *, bool, bool, bool, Cycle) { return PETSC_ERR_SUP; }
  virtual PetscErrorCode GetCoarse(PetscScalar *, const PetscScalar **) { return PETSC_ERR_SUP; }
  virtual PetscErrorCode SetCoarse(PetscScalar *, const std::function<PetscErrorCode(PetscScalar *)> &) {
    return PETSC_ERR_SUP;
  }
  // CompareWith: compares the operator's rows, whose first is `offset` points after the finest level's, with that level's.
  // Where they are a times these, with another diagonal: *alike, and *diagonal, the change at own points. FollowChange: the
  // rows of all levels but a window's second one, from the change at the finest level's points, as Update(). Collective over
  // all ranks.
  virtual PetscErrorCode CompareWith(StencilMat *, Vec, const PetscInt[3], PetscScalar *, PetscScalar **, bool *alike,
                                     bool *) {
    *alike = false;
    return PETSC_SUCCESS;
  }
  virtual PetscErrorCode FollowChange(PetscScalar, PetscScalar *, bool *, bool *) { return PETSC_ERR_SUP; }

  // Gives up the memory of the finest level's rows, for new ones; it can only be destroyed then, or make room for another.
  virtual void LendMemory(Couplings *) {}
  Cycle        cycle() const { return options_.cycle; } // never automatic

  // for run_cycle()
  PetscErrorCode down(int l, Guess guess) {
    return stage(multigrid_down_event, l, [&]() { return Down(l, guess); });
  }
  PetscErrorCode up(int l) {
    return stage(multigrid_up_event, l, [&]() { return Up(l); });
  }
  PetscErrorCode restrict_b(int l) {
    return stage(multigrid_down_event, l, [&]() { return RestrictB(l); });
  }
  PetscErrorCode restrict_residual(int l) {
    return stage(multigrid_down_event, l, [&]() { return RestrictResidualOf(l); });
  }
  PetscErrorCode correct(int l) {
    return stage(multigrid_up_event, l, [&]() { return AddCorrection(l); });
  }
  PetscErrorCode solve(Guess guess, Cycle cycle, bool full) {
    return stage(multigrid_coarse_event, last(), [&]() { return Solve(guess, cycle, full); });
  }
  virtual bool last_is_one() const { return true; }

protected:
  virtual int            last() const = 0;
  virtual bool           works(int) const { return true; } // this rank has points of a level; else another works for it
  virtual PetscErrorCode Down(int l, Guess guess) = 0;
  virtual PetscErrorCode Up(int l) = 0;
  virtual PetscErrorCode RestrictB(int l) = 0;
  virtual PetscErrorCode RestrictResidualOf(int l) = 0;
  virtual PetscErrorCode AddCorrection(int l) = 0;
  virtual PetscErrorCode Solve(Guess guess, Cycle cycle, bool full) = 0;

  template <class Function> PetscErrorCode stage(PetscLogEvent event, int l, const Function &f) {
    return works(l) ? logged(silent_ || DeviceRecords() ? -1 : event, f) : PETSC_SUCCESS;
  }
  PetscErrorCode Run(bool from_x, bool full) {
    PetscFunctionBegin;
    const Cycle by = visits_ == Cycle::automatic ? cycle() : visits_;
    if (full)
      PetscCall(transposed_ ? run_full_transposed(*this, 0, last(), by) : run_full(*this, 0, last(), by));
    else
      PetscCall(run_cycle(*this, 0, last(), by, from_x ? Guess::given : Guess::zero, transposed_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // *field: u with what neighbouring ranks have of a level, unless it is whole.
  template <class Level, class V> PetscErrorCode Exchange(const Level &at, Halo &halo, const V *u, Field<V> *field) {
    PetscFunctionBegin;
    *field = {};
    field->u = u;
    if (at.whole || !u) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(halo.Begin(u, memory_));
    PetscCall(halo.End());
    *field = halo.field<V>();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  MultigridOptions options_;
  // of the application under way
  PetscMemType       memory_ = PETSC_MEMTYPE_HOST;
  const PetscScalar *b_ = nullptr;
  PetscScalar       *x_ = nullptr;
  bool               transposed_ = false;
  Cycle              visits_ = Cycle::automatic; // of Visit(): the type of its cycles
  bool               silent_ = false;            // no events: other hierarchies have them
};

// A rank's points of a level, and those of the next level among them, by indices on the whole grids.
struct LevelWindow {
  Box of[2];
  Box own; // that are this rank's alone
};

// sigma: see axis.hpp; rows: null where the axes have it all; otherwise they are the rows' grid alone, and the rows go into
// the hierarchy. below: there are finer levels elsewhere; window: only these points of the axes, and no third level.
struct MultigridInput {
  const Grid             &grid;
  const Axis             *axes;
  PetscScalar             sigma;
  OperatorRows           *rows;
  const MultigridOptions &options;
  PetscBool               device;
  HaloWay                 way;
  bool                    below = false;
  const LevelWindow      *window = nullptr;
  int                     dim = 0; // of the finest level; 0: this is one
};

// Collective. single: the arrays of the levels and the arithmetic are in single precision. *multigrid: where it is one of
// levels of the same sizes, its arrays are used again; it is destroyed. *failed: the last level cannot be solved.
// Errors: a last level too large for its direct solve, naming the option.
PetscErrorCode CreateMultigrid(const MultigridInput &of, bool single, std::unique_ptr<Multigrid> *multigrid,
                               bool *failed);
// *serves: on several ranks' GPUs, see spread.hpp; otherwise *multigrid is as it was.
PetscErrorCode CreateSpreadMultigrid(const MultigridInput &of, bool single, std::unique_ptr<Multigrid> *multigrid,
                                     bool *serves, bool *failed);
PetscErrorCode CreateSingleMultigrid(const MultigridInput &of, std::unique_ptr<Multigrid> *multigrid, bool *failed);

// The same for a matrix with several unknowns a point, whose rows are the finest level's, also after they have changed,
// unless each of several GPUs has all of them.
PetscErrorCode CreateSystemMultigrid(Mat matrix, const MultigridOptions &options, PetscBool device,
                                     std::unique_ptr<Multigrid> *multigrid, SetupFindings *found, bool *failed);

} // namespace shellac
