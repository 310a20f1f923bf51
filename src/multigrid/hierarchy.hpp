#pragma once
// The hierarchy of levels with arithmetic in T, and how a cycle runs over it.

#include "device/mirror.hpp"
#include "grid/filling.hpp"
#include "multigrid/coarse_solve.hpp"
#include "multigrid/gpu/columns.hpp"
#include "multigrid/gpu/restrict_residual.hpp"
#include "multigrid/gpu/sweep_pairs.hpp"
#include "multigrid/gpu/variable_columns.hpp"
#include "multigrid/gpu/variable_planes.hpp"
#include "multigrid/graphs.hpp"
#include "multigrid/hierarchy/run_pass.hpp"
#include "multigrid/host/plane_walk.hpp"
#include "multigrid/multigrid.hpp"
#include "multigrid/setup/coarse_grids.hpp"
#include "multigrid/setup/read_couplings.hpp"
#include "multigrid/setup/shared_level.hpp"

namespace shellac {

constexpr PetscInt solved_axis = 36;      // points: the last level is as small along each axis, if it can,
constexpr PetscInt solved_points = 1296;  // and altogether
constexpr PetscInt inverted_points = 144; // as many have the last level of variable coefficients

// Part: SeparableLevel or VariableLevel
template <class Part> class Hierarchy final : public Multigrid {
  using T = typename Part::Scalar;
  using R = typename RealOf<T>::type;
  using S = PetscScalar;
  static constexpr bool variable = Part::variable;

  struct Level {
    Grid        grid; // of this rank's part
    Patch       patch;
    Axis        axes[3];
    Coarsening  to_next[3];
    PetscScalar sigma = 0;
    Part        part = {};
    size_t      points_at[3] = {0, 0, 0};                          // separable: in points_
    Mirror<T>   rows, weights, restriction, mass, weights_along_x; // variable, see VariableLevel
    Mirror<T>   transposed_rows;                                   // see SetTransposedRows()
    bool        whole = false;                                     // on those ranks that work; otherwise distributed
    bool        fused = false;                                     // a pass on a GPU does all steps: see pass.hpp
    bool        odd_ends = false;    // an axis is coarsened around an odd number of points: transfers by points
    bool        one_walk = false;    // all of a pass in one walk
    bool        equal_pairs = false; // both couplings of each pair are equal, and there are no masses
    bool        halves = false;      // so passes on the host read one of each
    PetscReal   ratio = -1;          // the last level is solved by steps alone: see relaxations(); negative: it is not
    Grid        parts;               // whole: the parts that the ranks make of it
    SharedLevel shared;              // the first that is whole, of several ranks
    PetscReal   shrunk = 1;          // see update::Updated: since the level was made
    PetscReal   grown = 1;           // likewise
    Halo        halo_b, halo_u;
    Scratch<T>  b, x, t, s, b_part;

    // Whether a pass of planes holds no values between its steps in arrays.
    bool holds_no_step() const { return !variable && one_walk && ratio < 0; }
  };

public:
  PetscErrorCode Create(const MultigridInput &of, Hierarchy *from, bool *failed);
  PetscErrorCode Destroy() override;
  PetscErrorCode Update(StencilMat *context, PetscMemType memory, Vec fixed, bool *done, bool *equal,
                        bool *failed) override;
  PetscErrorCode Apply(PetscMemType memory, const S *b, S *x, bool from_x, bool full, PetscReal stop, PetscReal limit,
                       PetscReal *norm, InRow row) override;
  PetscErrorCode GetMasses(S *m, int *any) override;
  PetscErrorCode Visit(const S *b, S *x, bool from_x, bool full, bool transposed, Cycle cycle) override;
  PetscErrorCode Open(const S *b, S *x, bool full, bool transposed) override;
  bool           takes_outside() const override {
    return window_ && !variable && std::is_same<T, S>::value && takes_fused(level(0)) && !(full_ && transposed_);
  }
  void           SetOutside(const OutsideArrays &arrays) override { outside_ = arrays; }
  PetscErrorCode CopyIn(bool of_x) override;
  PetscErrorCode CopyOut() override;
  PetscErrorCode BeginCycle(PetscReal *norm) override;
  PetscErrorCode GetCoarse(S *room, const S **b) override;
  PetscErrorCode SetCoarse(S *room, const std::function<PetscErrorCode(S *)> &set) override;
  PetscErrorCode CompareWith(StencilMat *context, Vec fixed, const PetscInt offset[3], S *a, S **diagonal, bool *alike,
                             bool *equal) override;
  PetscErrorCode          FollowChange(S a, S *diagonal, bool *serves, bool *failed) override;
  std::vector<LevelInfo>  levels() const override;
  std::vector<LevelFlops> flops() const override;
  void                    LendMemory(Couplings *to) override;
  bool                    may_amplify() const override { return opposite_; }
  bool                    gives_norm(PetscMemType memory) override {
    const PetscMemType of_last = memory_;
    memory_ = memory;
    const bool gives =
        last() > 0 && !level(0).b.size() && (takes_fused(level(0)) || (turns() && restricts_residual_at_once(0)));
    memory_ = of_last;
    return gives;
  }

private:
  bool         relaxes() const { return level(last()).ratio >= 0; }
  Level       &level(int l) { return *levels_[l]; }
  const Level &level(int l) const { return *levels_[l]; }
  int          last() const override { return (int)levels_.size() - 1; }

  static void    choose_weights(const Axis axes[3], PetscScalar of_shift, const Coarsening to_next[3], int steps,
                                R *omega);
  GridCoarsening coarsening_of(int l) const {
    return coarsening_between(level(l).patch, level(l).to_next, level(l + 1).patch);
  }
  void           ReadOnly(int l);
  Box            grown(const Level &at) const;
  PetscErrorCode SetRows(OperatorRows *of, bool *failed);
  PetscErrorCode SetLastRows(Couplings *own, bool *failed);
  bool           HasLine(const Axis axes[3], PetscScalar sigma, OperatorRows *rows);
  PetscErrorCode Grow(int l, Halo &halo, const Couplings &own, Couplings *grown);
  PetscErrorCode Keep(PetscMemType memory, Level &at, Couplings *rows, Mirror<S> *weights, Mirror<S> *restriction);
  void           set_omega(Level &level, PetscReal high);
  PetscErrorCode Interpolate(int l, Halo &halo, const CouplingArrays &rows, S *weights, Scratch<S> *gaps);
  PetscErrorCode Loses(const CouplingArrays &rows, const Patch &patch, const S *weights, int corners, MPI_Comm comm,
                       bool *loses);
  PetscErrorCode DropBelow(int l);
  template <class V> PetscErrorCode BringToOthers(const Box &grown, Mirror<V> *arrays, int count);
  void           TakeMemory(Hierarchy *from);
  PetscErrorCode Prepare(PetscMemType memory);
  PetscErrorCode PartAt(int l, Part *part);
  PetscErrorCode PrepareRows(int l);
  PetscErrorCode Down(int l, Guess guess) override;
  PetscErrorCode Up(int l) override;
  PetscErrorCode RestrictB(int l) override;
#if SHELLAC_CUDA
  PetscErrorCode                                                                  ReadNorm(PetscReal *norm);
  template <bool given, bool corrected, bool restricts, int steps> PetscErrorCode Fused(int l, const T *guess, T *out);
#endif
  template <class Function> PetscErrorCode WalkPlanes(int l, const Function &set);
  enum class Way { down, up, alone };
  PetscErrorCode Walk(int l, Way way, const T *guess, bool corrected, int steps, T *out);
  PetscErrorCode Correct(int l, const T *u, T *out);
  PetscErrorCode Smooth(int l, T *from, bool corrected, bool upward, T *to, T *room);
  PetscErrorCode SmoothOnce(int l, const Part &part, int n, int steps, const Field<T> &from, T *out);
  PetscErrorCode SmoothInPairs(int l, const Part &part, T *from, bool corrected, int steps, T *to);
  template <variable_column::Does does>
  PetscErrorCode StepOverRows(int l, const Part &part, int step, const T *u, T *out);
  PetscErrorCode Restrict(int l, const T *r);
  PetscErrorCode ResidualOfColumns(int l, const Part &part, const T *u, T *r);
  PetscErrorCode RestrictResidual(int l, const T *u);
  PetscErrorCode Solve(Guess guess, Cycle, bool) override;
  PetscErrorCode Relax(bool from_x, T *x);
  PetscErrorCode RestrictResidualOf(int l) override { // of run_full_transposed(), which no pass does at once
    return RestrictResidual(l, x_at(l));
  }
  PetscErrorCode AddCorrection(int l) override {
    return Correct(l, x_at(l), x_at(l));
  }
  PetscErrorCode SetTransposedRows(int l);
  PetscErrorCode SetVectors(PetscMemType memory, const S *b, S *x);
  PetscErrorCode Begin(PetscMemType memory, const S *b, S *x, bool from_x);
  PetscErrorCode Finish(bool from_x, bool full);
  // A level's b and x; of the finest level the vectors' arrays, where it has none.
  const T *b_at(int l) {
    if constexpr (std::is_same<T, S>::value)
      if (l == 0 && !level(0).b.size()) return b_;
    return level(l).b.at(memory_);
  }
  T *x_at(int l) {
    if constexpr (std::is_same<T, S>::value)
      if (l == 0 && !level(0).b.size()) return x_;
    return level(l).x.at(memory_);
  }
  // After a restriction.
  PetscErrorCode GatherB(int l) {
    Level &next = level(l + 1);
    return gathers(l) ? next.shared.Gather(memory_, 1, next.b_part.at(memory_), next.b.at(memory_)) : PETSC_SUCCESS;
  }
  // The next level's solution, with what other ranks have of it.
  PetscErrorCode GetCorrection(int l, Field<T> *e) {
    Level   &next = level(l + 1);
    T *const x = next.x.at(memory_);
    PetscFunctionBegin;
    if (gathers(l)) PetscCall(next.shared.Scatter(memory_, 1, x));
    PetscCall(Exchange(next, next.halo_u, x, e));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class Function> PetscErrorCode over(const Patch &patch, const Function &f) {
    return for_each_in_chain(memory_, patch.all(), f);
  }
  // Between arrays over a grid's points and over a part of them.
  template <class From, class To>
  PetscErrorCode Copy(const Patch &part, const From *from, const Patch &from_patch, To *to, const Patch &to_patch) {
    return for_each_in_chain(memory_, on_grid(part),
                             point::Paste<From, To>{on_grid(from_patch), on_grid(to_patch), {0, 0, 0}, from, to});
  }
  // make(points): the functor of gpu/columns.hpp with so many points of a thread
  template <class Make> PetscErrorCode over_columns(const Patch &patch, const Make &make) {
    const auto run = [&](auto points) {
      return for_each_in_chain(memory_, column::threads(patch, decltype(points)::value), make(points));
    };
    if (column::fills_gpu(patch, column::many)) return run(std::integral_constant<PetscInt, column::many>());
    return run(std::integral_constant<PetscInt, column::few>());
  }
  template <column::Does does>
  PetscErrorCode StepOverColumns(const Part &part, typename RealOf<T>::type omega, const T *u, const T *b, T *out) {
    const bool *periodic = part.patch.periodic;
    const auto  run = [&](auto wraps) {
      return over_columns(part.patch, [&](auto points) {
        return column::Step<does, decltype(points)::value, decltype(wraps)::value, T>{part, omega, u, b, out};
      });
    };
    return periodic[0] || periodic[1] || periodic[2] ? run(std::true_type()) : run(std::false_type());
  }
  // Whether two steps take one pass.
  bool takes_row_planes(const Level &at) const {
    if constexpr (variable)
      return std::is_floating_point<T>::value && takes_row_columns(at) && at.equal_pairs && at.part.neighbours.star &&
             at.patch.all().points() >= points_in_planes && at.patch.N[2] >= least_planes &&
             has_memory_for_row_planes();
    return false;
  }
  // Steps of the next pass, from the guess zero or another, where so many are left.
  int steps_of_pass(const Level &at, bool zero, int left) const {
    const int in_planes = zero ? RowPlanes<true>::steps : RowPlanes<false>::steps;
    return takes_row_planes(at) && left >= in_planes ? in_planes : 1;
  }
  // Whether all steps with constant coefficients are one pass on a GPU.
  bool takes_fused(const Level &at) const {
    return at.fused && PetscMemTypeDevice(memory_);
  }
  // Whether passes go plane by plane: see host/planes.hpp.
  bool walks() const {
    return options_.fused && !PetscMemTypeDevice(memory_);
  }
  // Whether they go column by column.
  bool takes_columns(const Level &at) const {
    return SHELLAC_CUDA && !variable && PetscMemTypeDevice(memory_) && column::fits(at.patch) && !at.odd_ends;
  }
  // Whether some axis of what is on this rank is periodic.
  static bool goes_around(const Level &at) {
    const bool *periodic = at.patch.periodic;
    return periodic[0] || periodic[1] || periodic[2];
  }
  // Whether red-black steps take passes of one or two, of both colours.
  bool takes_pairs(const Level &at) const {
#if SHELLAC_CUDA
    if constexpr (!variable)
      return at.part.red_black && options_.fused && takes_columns(at) && !goes_around(at) && can_sweep_pairs<T>();
#endif
    (void)at;
    return false;
  }
#if SHELLAC_CUDA
  // f(steps), those of a fused pass
  template <class Function> static PetscErrorCode with_steps(const Level &at, const Function &f) {
    return at.part.steps == 2 ? f(std::integral_constant<int, 2>()) : f(std::integral_constant<int, 3>());
  }
#endif
  // Whether a residual and its restriction take one pass; on small levels two short ones are faster.
  bool restricts_residual_at_once(int l) const {
    return options_.fused && takes_columns(level(l)) && !goes_around(level(l)) && coarsens_all(level(l).part) &&
           column::fills_gpu(level(l).patch, 4);
  }
  // Whether the cycles after full multigrid take all steps on the finest level after the coarse grid (transposed:
  // before it): the cycle before ended with such steps. The first pass of a cycle then computes the residual and its
  // norm.
  bool turns() const {
    return options_.full && last() > 0 && !parts_ && !below_ && std::is_same<T, S>::value && takes_pairs(level(0));
  }
  // Whether a cycle is, where the operator is.
  bool is_symmetric() const {
    return !options_.full && options_.cycle != Cycle::F;
  }
  static void reverse_colours(Part *part) {
    if constexpr (!variable) {
      if (!part->red_black) return;
      part->first_colour = 1;
      std::reverse(part->omega, part->omega + part->steps);
    }
  }
  // For steps on the way up: colours in the opposite order, where that makes cycles symmetric; directions go on.
  void begin_upward(Part *part) const {
    if (is_symmetric()) reverse_colours(part);
    if constexpr (variable) part->steps_before = part->steps;
  }
  // Whether all of a pass is one walk over rows with variable coefficients.
  bool takes_rows(const Level &at) const {
    if constexpr (variable)
      return !nonsymmetric_ && is_whole_on_gpu(at) && (at.part.steps == 2 || at.part.steps == 3) &&
             at.patch.N[2] == 1 && has_memory_for_rows<T>();
    return false;
  }
  // Whether passes over rows with variable coefficients go column by column.
  bool takes_row_columns(const Level &at) const {
    const PetscInt *N = at.patch.N;
    return is_whole_on_gpu(at) && N[2] > 1 && PetscMax(N[1], N[2]) < 65536;
  }
  // What both need.
  bool is_whole_on_gpu(const Level &at) const {
    if constexpr (variable)
      return SHELLAC_CUDA && at.whole && options_.fused && PetscMemTypeDevice(memory_) && !at.odd_ends &&
             at.patch.N[0] > 1 && at.patch.N[1] > 1 && has_indices_for_rows(at.part.grown);
    return false;
  }
  // Whether the next level is put together from the ranks' parts of it: the first that is whole.
  bool gathers(int l) const {
    return level(l + 1).whole && parts_ && (l < 0 || !level(l).whole);
  }
  bool works(int l) const override {
    return works_ || !level(l).whole;
  }
  T *target(int l) {
    if constexpr (std::is_same<T, S>::value)
      if (outside_.coarse_b) return outside_.coarse_b;
    return (gathers(l) ? level(l + 1).b_part : level(l + 1).b).at(memory_);
  }
  Patch target_patch(int l) const {
    if (outside_.coarse_b) return outside_.coarse;
    return gathers(l) ? part_patch(level(l + 1)) : level(l + 1).patch;
  }
  Patch part_patch(const Level &of) const {
    return patch_of(of.parts, of.axes, 0);
  }
  Patch own_patch() const { // of the vectors
    return parts_ && level(0).whole ? part_patch(level(0)) : level(0).patch;
  }

#if SHELLAC_CUDA
  CycleGraphs graphs_;
#endif

  std::vector<std::unique_ptr<Level>> levels_;
  bool                                parts_ = false;        // there are several ranks
  std::vector<PetscMPIInt>            workers_;              // of several ranks: see SharedLevel
  bool                                works_ = true;         // this rank has whole levels,
  bool                                shares_ = false;       // and some rank has none
  bool                                below_ = false;        // finer levels are in other hierarchies
  bool                                window_ = false;       // and coarser ones than the next: it has two levels
  bool                                singular_ = false;     // constants are the operator's null space
  bool                                opposite_ = false;     // there are shifts of the sign opposite to couplings
  Grid                                grid_;                 // of the vectors
  MPI_Comm                            rows_comm_ = MPI_COMM_NULL; // of the ranks that have variable levels together
  Mirror<AxisPoint<R>>                points_;               // of all axes of all levels: one copy to the GPU
  bool                                nonsymmetric_ = false; // with any masses: restriction has weights of its own
  CoarseSolve<Part>                   solver_;               // of the last level, unless it is relaxed or has
  LineSolve<T>                        line_;                 // this one
  bool                                has_line_ = false;
  AlgebraicSolve                      algebraic_;            // or this one
  PetscBool                           device_ = PETSC_FALSE; // the vectors' memory
  Mirror<S>                           last_rows_;   // which it was made of: memory for the next set-up
  std::vector<S>                      last_values_; // a copy of them on the host, where T is S: Update() changes it
  Scratch<double>                     norms_;
  bool                                prepared_[2] = {false, false};

  // of the application under way
  OutsideArrays outside_;
  double       *norm_ = nullptr;
  bool          begun_ = false; // the first pass has been done
  bool          full_ = false;
  bool          turned_ = false; // see turns()
};

} // namespace shellac
