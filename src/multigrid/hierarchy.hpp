#pragma once
// The hierarchy of levels with arithmetic in T, and how a cycle runs over it.

#include "device/mirror.hpp"
#include "multigrid/multigrid.hpp"
#include "multigrid/small.hpp"
#include "multigrid/strips.hpp"

namespace shellac {

constexpr PetscInt   solved_points = 64;           // the last level has no more, if it can
constexpr PetscInt   most_solved = 1024;           // nor can it have more than these
constexpr PetscInt64 gathered_points = 16384;      // levels of so many points are whole on each rank
constexpr size_t     most_small_bytes = 200 << 10; // of the arrays of the levels that one block of threads visits
constexpr PetscReal  weak_coupling = 0.6;          // an axis with less of the strongest's 1/h² is not coarsened

// An uninitialised array where the kernels run.
template <class T> class Scratch {
public:
  ~Scratch() {
#if SHELLAC_CUDA
    if (device_) (void)cudaFree(device_);
#endif
  }
  Scratch() = default;
  Scratch(const Scratch &) = delete;
  void resize(size_t n) {
    n_ = n;
  }
  PetscErrorCode Prepare(PetscMemType memory) {
    PetscFunctionBegin;
#if SHELLAC_CUDA
    if (PetscMemTypeDevice(memory)) {
      if (!device_ && n_) PetscCallCUDA(cudaMalloc((void **)&device_, n_ * sizeof(T)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
    (void)memory;
    host_.resize(n_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  T *at(PetscMemType memory) {
    return PetscMemTypeDevice(memory) ? device_ : host_.data();
  }
  size_t size() const {
    return n_;
  }

private:
  size_t         n_ = 0;
  std::vector<T> host_;
  T             *device_ = nullptr;
};

namespace point {
template <class From, class To> struct CopyPart { // of a whole grid, or to it
  Patch           part;
  Patch           whole;
  const From     *from;
  To             *to;
  bool            out; // from the whole
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const size_t at = part.index(i, j, k),
                 there = whole.index(i + part.start[0] - whole.start[0], j + part.start[1] - whole.start[1],
                                     k + part.start[2] - whole.start[2]);
    to[out ? at : there] = (To)from[out ? there : at];
  }
};
} // namespace point

#if SHELLAC_CUDA
template <class T>
__global__ __launch_bounds__(1024) void visit_small_levels(const __grid_constant__ SmallLevels<T> small, Cycle cycle,
                                                           Guess guess, int visits) {
  extern __shared__ double2 shared_memory[];
  visit_small(BlockTeam(), small, reinterpret_cast<char *>(shared_memory), cycle, guess, visits);
}
#endif

template <class T> class Hierarchy final : public Multigrid {
  using R = typename RealOf<T>::type;
  using S = PetscScalar;

  struct Level {
    Grid                 grid; // of this rank's part
    Patch                patch;
    Axis                 axes[3];
    Coarsening           to_next[3];
    PetscScalar          sigma = 0;
    LevelPart<T>         part = {};
    Mirror<AxisPoint<R>> points[3];
    bool                 whole = false; // on each rank; otherwise distributed
    bool                 fused = false;
    Grid                 parts; // whole: the parts that the ranks make of it
    Halo                 halo_b, halo_u;
    Scratch<T>           b, x, t, s, b_part;
  };

public:
  PetscErrorCode Create(const Grid &grid, const Axis axes[3], PetscScalar sigma, const MultigridOptions &options,
                        PetscBool device, HaloWay way);
  PetscErrorCode Destroy() override;
  PetscErrorCode Apply(PetscMemType memory, const S *b, S *x, bool from_x, bool full, PetscReal stop, PetscReal limit,
                       PetscReal *norm) override;
  PetscErrorCode LevelNorms(std::vector<PetscReal> *norms) override;
  std::vector<LevelInfo> levels() const override;
  bool                   failed() const override { return inverse_failed_; }
  bool gives_norm() const override { return first_small_ > 0 && level(0).fused && !level(0).b.size(); }

  // for run_cycle()
  void down(int l, Guess guess) {
    if (!(l == 0 && begun_)) note(Down(l, guess));
    if (l == 0) begun_ = false;
  }
  void up(int l) { note(Up(l)); }
  void restrict_b(int l) { note(RestrictB(l)); }
  void solve(Cycle cycle, Guess guess, int visits) { note(VisitSmall(cycle, guess, visits)); }
  void solve_full() { note(VisitSmall(options_.cycle, Guess::zero, 0)); }

private:
  void note(PetscErrorCode code) {
    if (code && !failed_) failed_ = code;
  }
  Level       &level(int l) { return *levels_[l]; }
  const Level &level(int l) const { return *levels_[l]; }

  static void    fold_single_points(Axis axes[3], PetscScalar *sigma);
  static void    choose_weights(const Level &level, int steps, R *omega);
  Patch          make_patch(const Grid &grid, const Axis axes[3], PetscInt width) const;
  PetscErrorCode Invert();
  PetscErrorCode Prepare(PetscMemType memory);
  PetscErrorCode PartAt(int l, LevelPart<T> *part);
  PetscErrorCode Exchange(Level &level, Halo &halo, const T *u, Field<T> *field);
  PetscErrorCode Gather(Level &level, const T *part, T *whole);
  PetscErrorCode Down(int l, Guess guess);
  PetscErrorCode Up(int l);
  PetscErrorCode RestrictB(int l);
  PetscErrorCode ReadNorm(PetscReal *norm);
  PetscErrorCode VisitSmall(Cycle cycle, Guess guess, int visits);
  template <bool given, bool corrected, bool restricts, int steps, class B, class Out>
  PetscErrorCode                           Fused(int l, const B *b, const T *guess, Out *out);
  template <class B> PetscErrorCode        Smooth(int l, const B *b, const T *from, T *to);
  template <class B> PetscErrorCode        RestrictResidual(int l, const B *b, const T *u);
  PetscErrorCode                           AfterRestriction(int l);
  template <class Function> PetscErrorCode over(const Patch &patch, const Function &f) {
    Boxes all;
    all.add(patch.all());
    return for_each(memory_, all, f);
  }
  // Whether the next level is put together from the ranks' parts of it.
  bool  gathers(int l) const { return level(l + 1).whole && !level(l).whole; }
  T    *target(int l) { return (gathers(l) ? level(l + 1).b_part : level(l + 1).b).at(memory_); }
  Patch target_patch(int l) const { return gathers(l) ? part_patch(level(l + 1)) : level(l + 1).patch; }
  Patch part_patch(const Level &of) const { return make_patch(of.parts, of.axes, 0); }

  void Run(bool from_x, bool full);
#if SHELLAC_CUDA
  struct Graph {
    const S        *b, *x;
    bool            from_x, full, begun;
    cudaGraphExec_t exec;
  };
  static constexpr size_t most_graphs = 64; // pairs of arrays
  PetscErrorCode          RunGraph(bool from_x, bool full, bool *done);
  std::vector<Graph>      graphs_;
  cudaStream_t            recorder_ = nullptr;
#endif

  MultigridOptions                    options_;
  std::vector<std::unique_ptr<Level>> levels_;
  int                                 first_small_ = 0;
  bool                                parts_ = false;    // there are several ranks
  bool                                singular_ = false; // constants are the operator's null space
  bool                                inverse_failed_ = false;
  Grid                                grid_; // of the vectors
  Mirror<T>                           inverse_;
  Mirror<LevelPart<T>>                small_[2]; // for host and device
  size_t                              small_bytes_ = 0;
  Scratch<char>                       small_memory_; // the host's
  Scratch<double>                     norms_;
  bool                                prepared_[2] = {false, false};

  // of the application under way
  PetscMemType   memory_ = PETSC_MEMTYPE_HOST;
  const S       *b_ = nullptr;
  S             *x_ = nullptr;
  double        *norm_ = nullptr;
  bool           begun_ = false; // the first pass has been done
  PetscErrorCode failed_ = PETSC_SUCCESS;
};

// ---- set-up

template <class T> void Hierarchy<T>::fold_single_points(Axis axes[3], PetscScalar *sigma) {
  for (int a = 0; a < 3; a++) {
    if (axes[a].N() > 1) continue;
    if (!axes[a].around) *sigma += (axes[a].edge[0] + axes[a].edge[1]) / axes[a].mass[0];
    axes[a].edge.assign(2, 0);
  }
}

// The roots of the Chebyshev polynomial that is least on the eigenvalues of D^-1 A that the coarse grid does not see;
// those of a uniform grid, in closed form (Trottenberg, Oosterlee, Schüller 2001, section 2.1 and 5.1).
template <class T> void Hierarchy<T>::choose_weights(const Level &level, int steps, R *omega) {
  PetscReal sum = 0, most = 0, least = PETSC_MAX_REAL, sign = 1; // most: of a point's couplings
  for (int a = 0; a < 3; a++) {
    const Axis &axis = level.axes[a];
    if (axis.N() - (axis.fixed ? 2 : 0) <= 1) continue;
    sum += axis.strength();
    PetscReal most_here = 0;
    for (PetscInt i = 0; i < axis.N(); i++)
      if (!axis.is_fixed(i))
        most_here = PetscMax(most_here, PetscAbsReal((axis.edge[i] + axis.edge[i + 1]) / axis.mass[i]));
    most += most_here;
    if (axis.coupling() < 0) sign = -1;
    if (level.to_next[a].halves) least = PetscMin(least, axis.strength());
  }
  PetscReal sigma = sign * PetscRealPart(level.sigma);
  if (!(2 * sum + sigma > PetscReal(0.1) * sum)) sigma = 0; // not positive definite
  if (sum + sigma == 0 || least == PETSC_MAX_REAL) least = sum = 1;
  if (steps > 2) least *= PetscReal(0.7); // some way into what the coarse grid sees: 0.08 a cycle instead of 0.09
  if (most == 0) most = 2 * sum;
  const PetscReal high = (2 * most + sigma) / (most + sigma), low = (2 * least + sigma) / (2 * sum + sigma);
  for (int s = 0; s < steps; s++)
    omega[s] = (R)(1 / ((high + low) / 2 + (high - low) / 2 * PetscCosReal(PETSC_PI * (2 * s + 1) / (2 * steps))));
}

template <class T> Patch Hierarchy<T>::make_patch(const Grid &grid, const Axis axes[3], PetscInt width) const {
  Patch patch;
  for (int a = 0; a < 3; a++) {
    patch.N[a] = grid.N[a];
    patch.start[a] = grid.start[a];
    patch.size[a] = grid.size[a];
    patch.beyond[a] = axes[a].around ? Beyond::around : Beyond::zero;
    patch.identity[a] = false;
    for (int e = 0; e < 2; e++)
      patch.neighbour[a][e] = grid.ranks[a] > 1 && grid.neighbour(Direction::at(Direction::face(a, e))) >= 0;
  }
  patch.width = width;
  return patch;
}

// The longest run of points around the middle that are alike, kept ones and others.
template <class T>
static void find_typical(const Axis axes[3], const Coarsening to_next[3], const Grid &grid, LevelPart<T> *part) {
  using R = typename RealOf<T>::type;
  for (int a = 0; a < 3; a++) {
    const PetscInt N = axes[a].N(), middle = N / 2;
    const auto     all = axis_points<R>(axes[a], to_next[a], 0, N);
    const auto     alike = [&](PetscInt i) {
      return !memcmp(&all[axis_reach + i], &part->typical[a][i & 1], sizeof(AxisPoint<R>));
    };
    PetscInt lo = middle, hi = middle;
    if (N >= 8) {
      for (int c = 0; c < 2; c++) part->typical[a][(middle + c) & 1] = all[axis_reach + middle + c];
      while (lo > 0 && alike(lo - 1)) lo--;
      while (hi < N && alike(hi)) hi++;
    }
    part->regular_lo[a] = lo - grid.start[a];
    part->regular_hi[a] = hi - grid.start[a];
  }
}

// The grid with these axes on one rank.
static inline Grid whole_grid(Grid grid) {
  for (int a = 0; a < 3; a++) {
    grid.ranks[a] = 1;
    grid.place[a] = 0;
    grid.start[a] = 0;
    grid.size[a] = grid.N[a];
    grid.first[a] = {0, grid.N[a]};
    grid.boundary[a] = DM_BOUNDARY_NONE;
  }
  return grid;
}

// The coarse points go with the fine ones that they are.
static inline Grid coarse_grid(Grid grid, const Axis coarse[3], const Coarsening coarsening[3]) {
  for (int a = 0; a < 3; a++) {
    grid.N[a] = coarse[a].N();
    for (PetscInt &first : grid.first[a])
      if (coarsening[a].halves) first = PetscMin(PetscMax((first - coarsening[a].offset + 1) / 2, 0), grid.N[a]);
    grid.first[a].back() = grid.N[a];
    grid.first[a].front() = 0;
    grid.start[a] = grid.first[a][grid.place[a]];
    grid.size[a] = grid.first[a][grid.place[a] + 1] - grid.start[a];
  }
  return grid;
}

template <class T>
PetscErrorCode Hierarchy<T>::Create(const Grid &grid, const Axis axes[3], PetscScalar sigma,
                                    const MultigridOptions &options, PetscBool device, HaloWay way) {
  PetscMPIInt ranks;
  PetscInt    dim = 0;
  Grid        parts = grid;
  Axis        present[3] = {axes[0], axes[1], axes[2]};
  bool        whole;

  PetscFunctionBegin;
  options_ = options;
  grid_ = grid;
  PetscCallMPI(MPI_Comm_size(grid.comm, &ranks));
  parts_ = ranks > 1;
  whole = ranks == 1;
  for (int a = 0; a < 3; a++) {
    if (grid.N[a] > 1) dim = a + 1;
    if (parts.ranks[a] == 1) parts.boundary[a] = DM_BOUNDARY_NONE; // what is beyond is on this rank
  }
  singular_ = sigma == (PetscScalar)0;
  for (int a = 0; a < 3; a++)
    singular_ =
        singular_ && !axes[a].fixed && (axes[a].around || (axes[a].edge.front() == 0 && axes[a].edge.back() == 0));
  const int steps = options.smooths ? (int)options.smooths : dim == 3 ? 4 : 3;

  while (true) {
    levels_.push_back(std::make_unique<Level>());
    Level     &at = *levels_.back();
    PetscInt64 points = 1;
    PetscReal  strongest = 0;
    bool       odd_around = false, more = false;

    fold_single_points(present, &sigma);
    at.sigma = sigma;
    for (int a = 0; a < 3; a++) {
      at.axes[a] = present[a];
      points *= present[a].N();
      odd_around = odd_around || (present[a].around && present[a].N() % 2 && present[a].N() > 1);
      if (can_coarsen(present[a])) strongest = PetscMax(strongest, present[a].strength());
    }
    at.fused = options.fused && dim <= 2 && (steps == 2 || steps == 3) && !odd_around;
    const PetscInt width = at.fused ? steps + 2 : 4; // what a pass needs, or one of the finer level
    bool           thin = false;
    for (int a = 0; a < 3; a++)
      for (PetscMPIInt r = 0; parts.ranks[a] > 1 && r < parts.ranks[a]; r++)
        thin = thin || parts.first[a][r + 1] - parts.first[a][r] < width;
    // once whole, always whole
    whole = whole || thin || points <= gathered_points;
    at.whole = whole;
    at.parts = parts;
    at.grid = whole ? whole_grid(parts) : parts;
    at.patch = make_patch(at.grid, present, width);
    more = points > solved_points && strongest > 0;
    if (options.levels && (PetscInt)levels_.size() >= options.levels) more = false;
    // the last level must be whole
    if (!more && !whole) {
      whole = at.whole = true;
      at.grid = whole_grid(parts);
      at.patch = make_patch(at.grid, present, width);
    }
    for (int a = 0; a < 3; a++) {
      const bool halves = more && can_coarsen(present[a]) && present[a].strength() >= weak_coupling * strongest;
      present[a] = coarsen(present[a], halves, &at.to_next[a]);
      at.points[a].change() = axis_points<R>(at.axes[a], at.to_next[a], at.grid.start[a], at.grid.size[a]);
      at.part.halves[a] = halves;
      at.part.offset[a] = at.to_next[a].offset;
      at.part.joins[a] = at.to_next[a].joins;
    }
    find_typical(at.axes, at.to_next, at.grid, &at.part);
    at.part.patch = at.patch;
    at.part.sigma = (T)sigma;
    at.part.steps = steps;
    choose_weights(at, steps, at.part.omega);
    PetscCheck(at.whole || (std::is_same<T, S>::value), grid.comm, PETSC_ERR_SUP,
               "-pc_stencilmg_precision single is there on one rank only, or for grids of %" PetscInt64_FMT
               " points or fewer; leave it out on several",
               gathered_points);
    if (!at.whole) {
      PetscCall(at.halo_b.Create(at.grid, at.patch, true, device, way));
      PetscCall(at.halo_u.Create(at.grid, at.patch, true, device, way));
    }
    if (!more) {
      PetscCheck(points <= most_solved || strongest > 0, grid.comm, PETSC_ERR_ARG_WRONG,
                 "the matrix couples no points: there is nothing for multigrid to do; use -pc_type jacobi");
      PetscCheck(points <= most_solved, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                 "the last of %d levels has %" PetscInt64_FMT " points, too many to solve directly; raise "
                 "-pc_stencilmg_levels, or leave it out for as many levels as there are",
                 (int)levels_.size(), points);
      break;
    }
    PetscCheck((int)levels_.size() < max_levels, grid.comm, PETSC_ERR_PLIB, "more than %d levels", max_levels);
    parts = coarse_grid(parts, present, at.to_next);
  }

  // arrays
  const int                 last = (int)levels_.size() - 1;
  std::vector<LevelPart<T>> all;
  for (int l = 0; l <= last; l++) all.push_back(level(l).part);
  first_small_ = last;
  while (first_small_ > 0 && level(first_small_ - 1).whole &&
         last - first_small_ + 2 <= SmallSteps<HostTeam, T>::most &&
         small_bytes_of(&all[first_small_ - 1], last - first_small_ + 2) <= most_small_bytes)
    first_small_--;
  small_bytes_ = small_bytes_of(&all[first_small_], last - first_small_ + 1);
  small_memory_.resize(small_bytes_);
  for (int l = 0; l <= first_small_; l++) {
    Level       &at = level(l);
    const size_t n = (size_t)at.patch.all().points();
    const bool   copies = l == 0 && (first_small_ == 0 || (at.whole && parts_)); // of the vectors
    if (l || copies) at.b.resize(n), at.x.resize(n);
    if (at.whole && parts_ && (l == 0 || !level(l - 1).whole)) at.b_part.resize((size_t)part_patch(at).all().points());
    if (l == first_small_) continue;
    at.t.resize(n);
    if (!at.fused) at.s.resize(n);
    if (!at.fused && !at.x.size()) at.x.resize(std::is_same<T, S>::value ? 0 : n);
  }
  PetscCall(Invert());
  PetscCall(Prepare(device && SHELLAC_CUDA ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The last level's matrix, by the operator's own formula; where it is singular, plus a multiple of the projection on
// constants, so that its inverse gives the solution without them.
template <class T> PetscErrorCode Hierarchy<T>::Invert() {
  Level                            &at = *levels_.back();
  const Patch                       patch = at.patch;
  const PetscInt                    n = (PetscInt)patch.all().points();
  LevelPart<S>                      part = {};
  std::vector<AxisPoint<PetscReal>> points[3];
  std::vector<S>                    unit(n, 0);
  std::vector<PetscReal>            mass(n);
  std::vector<bool>                 in(n);
  PetscReal                         all_mass = 0, size = 0;
  Mat                               A, I, X;
  S                                *entries;

  PetscFunctionBegin;
  part.patch = patch;
  part.sigma = at.sigma;
  for (int a = 0; a < 3; a++) {
    points[a] = axis_points<PetscReal>(at.axes[a], at.to_next[a], 0, patch.size[a]);
    part.axis[a] = points[a].data() + axis_reach;
  }
  for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   row = patch.index(i, j, k);
    in[row] = part.axis[0][i].in * part.axis[1][j].in * part.axis[2][k].in != 0;
    mass[row] = at.axes[0].mass[i] * at.axes[1].mass[j] * at.axes[2].mass[k];
    all_mass += mass[row];
    size = PetscMax(size, PetscAbsScalar(part.diagonal(p)));
  });
  if (size == 0) size = 1;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, NULL, &A));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, NULL, &I));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, NULL, &X));
  PetscCall(MatDenseGetArray(A, &entries));
  for (PetscInt c = 0; c < n; c++) {
    Field<S> field = {};
    field.u = unit.data();
    unit[c] = 1;
    for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt p[3] = {i, j, k};
      const size_t   row = patch.index(i, j, k);
      S              value = point::product(part, field, p);
      if (singular_) value += size * mass[c] / all_mass;
      if (!in[row] || !in[c]) value = row == (size_t)c ? 1 : 0;
      entries[row + (size_t)c * n] = value;
    });
    unit[c] = 0;
  }
  PetscCall(MatDenseRestoreArray(A, &entries));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatZeroEntries(I));
  PetscCall(MatShift(I, 1));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL)); // of a zero pivot, which dense factors do not tell
  inverse_failed_ = MatLUFactor(A, NULL, NULL, NULL) != PETSC_SUCCESS;
  PetscCall(PetscPopErrorHandler());
  if (!inverse_failed_) PetscCall(MatMatSolve(A, I, X));
  PetscCall(MatDenseGetArray(X, &entries));
  std::vector<T> &inverse = inverse_.change();
  inverse.resize((size_t)n * n);
  for (PetscInt c = 0; c < n; c++)
    for (PetscInt r = 0; r < n; r++) inverse[r + (size_t)c * n] = in[r] && in[c] ? (T)entries[r + (size_t)c * n] : T(0);
  PetscCall(MatDenseRestoreArray(X, &entries));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&I));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// All that is allocated for vectors in this memory.
template <class T> PetscErrorCode Hierarchy<T>::Prepare(PetscMemType memory) {
  PetscFunctionBegin;
  if (prepared_[PetscMemTypeDevice(memory) ? 1 : 0]) PetscFunctionReturn(PETSC_SUCCESS);
  memory_ = memory;
  for (int l = 0; l < (int)levels_.size(); l++) {
    Level &at = level(l);
    for (Scratch<T> *array : {&at.b, &at.x, &at.t, &at.s, &at.b_part}) PetscCall(array->Prepare(memory));
    for (int a = 0; a < 3; a++) {
      const AxisPoint<R> *points;
      PetscCall(at.points[a].Get(memory, &points));
    }
  }
  const PetscInt64 warps = warp_count<PassKind<true, false, true, true, true, 3>>(level(0).part);
  norms_.resize((size_t)warps + 1);
  PetscCall(norms_.Prepare(memory));
  const T *inverse;
  PetscCall(inverse_.Get(memory, &inverse));
  Mirror<LevelPart<T>> &small = small_[PetscMemTypeDevice(memory) ? 1 : 0];
  const LevelPart<T>   *parts;
  small.change().resize(levels_.size() - first_small_);
  for (int l = first_small_; l < (int)levels_.size(); l++) PetscCall(PartAt(l, &small.change()[l - first_small_]));
  PetscCall(small.Get(memory, &parts));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    PetscCallCUDA(
        cudaFuncSetAttribute(visit_small_levels<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)small_bytes_));
    prepared_[1] = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(small_memory_.Prepare(memory));
  prepared_[0] = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Hierarchy<T>::Destroy() {
  PetscFunctionBegin;
  for (auto &at : levels_) {
    if (at->whole) continue;
    PetscCall(at->halo_b.Destroy());
    PetscCall(at->halo_u.Destroy());
  }
  levels_.clear();
#if SHELLAC_CUDA
  for (const Graph &graph : graphs_) PetscCallCUDA(cudaGraphExecDestroy(graph.exec));
  graphs_.clear();
  if (recorder_) PetscCallCUDA(cudaStreamDestroy(recorder_));
  recorder_ = nullptr;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> std::vector<LevelInfo> Hierarchy<T>::levels() const {
  std::vector<LevelInfo> all;
  for (int l = 0; l < (int)levels_.size(); l++) {
    const Level &at = level(l);
    LevelInfo    info = {};
    for (int a = 0; a < 3; a++) info.N[a] = at.axes[a].N();
    info.steps = at.part.steps;
    for (int s = 0; s < at.part.steps; s++) info.weights[s] = at.part.omega[s];
    info.fused = at.fused;
    info.whole = at.whole;
    for (const Scratch<T> *array : {&at.b, &at.x, &at.t, &at.s, &at.b_part})
      info.bytes += (PetscLogDouble)array->size() * sizeof(T);
    for (int a = 0; a < 3; a++) info.bytes += at.points[a].bytes();
    if (l == (int)levels_.size() - 1) info.bytes += inverse_.bytes();
    all.push_back(info);
  }
  return all;
}

// ---- parts of a cycle

template <class T> PetscErrorCode Hierarchy<T>::PartAt(int l, LevelPart<T> *part) {
  Level &at = level(l);

  PetscFunctionBegin;
  *part = at.part;
  for (int a = 0; a < 3; a++) {
    PetscCall(at.points[a].Get(memory_, &part->axis[a]));
    part->axis[a] += axis_reach;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Hierarchy<T>::Exchange(Level &at, Halo &halo, const T *u, Field<T> *field) {
  PetscFunctionBegin;
  *field = {};
  field->u = u;
  if constexpr (std::is_same<T, S>::value) {
    if (!at.whole && u) {
      PetscCall(halo.Begin(u, memory_));
      PetscCall(halo.End());
      *field = halo.field();
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A whole grid function on each rank, from the ranks' parts of it.
template <class T> PetscErrorCode Hierarchy<T>::Gather(Level &at, const T *part, T *whole) {
  const Grid              &parts = at.parts;
  const PetscMPIInt        ranks = parts.ranks[0] * parts.ranks[1] * parts.ranks[2];
  std::vector<PetscMPIInt> count(ranks), begin(ranks + 1, 0);
  const size_t             n = (size_t)at.patch.all().points();
  std::vector<T>           mine, all(n), ordered;
  MPI_Datatype             type;

  PetscFunctionBegin;
  const Patch own = part_patch(at);
  const auto  box = [&](PetscMPIInt r) {
    const PetscMPIInt place[3] = {r % parts.ranks[0], r / parts.ranks[0] % parts.ranks[1],
                                  r / parts.ranks[0] / parts.ranks[1]};
    Box               of;
    for (int a = 0; a < 3; a++) of.lo[a] = parts.first[a][place[a]], of.hi[a] = parts.first[a][place[a] + 1];
    return of;
  };
  for (PetscMPIInt r = 0; r < ranks; r++) {
    PetscCall(PetscMPIIntCast((PetscInt)box(r).points(), &count[r]));
    begin[r + 1] = begin[r] + count[r];
  }
  const T *send = part;
#if SHELLAC_CUDA
  cudaStream_t stream;
  if (PetscMemTypeDevice(memory_)) {
    mine.resize((size_t)own.all().points());
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaMemcpyAsync(mine.data(), part, mine.size() * sizeof(T), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)(mine.size() * sizeof(T))));
    send = mine.data();
  }
#endif
  PetscCallMPI(MPI_Type_contiguous((int)sizeof(T), MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  PetscCallMPI(MPI_Allgatherv(send, (PetscMPIInt)own.all().points(), type, all.data(), count.data(), begin.data(), type,
                              parts.comm));
  PetscCallMPI(MPI_Type_free(&type));
  ordered.resize(n);
  for (PetscMPIInt r = 0; r < ranks; r++) {
    size_t from = begin[r];
    for_each_on_host(box(r),
                     [&](PetscInt i, PetscInt j, PetscInt k) { ordered[at.patch.index(i, j, k)] = all[from++]; });
  }
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory_)) {
    PetscCallCUDA(cudaMemcpyAsync(whole, ordered.data(), n * sizeof(T), cudaMemcpyHostToDevice, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)(n * sizeof(T))));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  std::copy(ordered.begin(), ordered.end(), whole);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Hierarchy<T>::AfterRestriction(int l) {
  PetscFunctionBegin;
  if (gathers(l)) PetscCall(Gather(level(l + 1), level(l + 1).b_part.at(memory_), level(l + 1).b.at(memory_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
template <bool given, bool corrected, bool restricts, int steps, class B, class Out>
PetscErrorCode Hierarchy<T>::Fused(int l, const B *b, const T *guess, Out *out) {
  Level          &at = level(l), &next = level(l + 1);
  Pass<T, B, Out> pass = {};

  PetscFunctionBegin;
  PetscCall(PartAt(l, &pass.level));
  if constexpr (std::is_same<B, T>::value && std::is_same<T, S>::value) {
    if (restricts || at.whole)
      PetscCall(Exchange(at, at.halo_b, b, &pass.b));
    else
      pass.b = at.halo_b.field(); // of the pass before
  } else
    pass.b.u = b;
  if (given) PetscCall(Exchange(at, at.halo_u, guess, &pass.guess));
  if (corrected) {
    PetscCall(Exchange(next, next.halo_u, next.x.at(memory_), &pass.e));
    pass.coarse_e = next.patch;
  }
  pass.out = out;
  if (restricts) {
    pass.b_coarse = target(l);
    pass.coarse_b = target_patch(l);
  }
  const bool norm = given && restricts && norm_ && l == 0;
  pass.norms = norm ? norms_.at(memory_) : nullptr;
  double *sum = norm ? norm_ : nullptr;
  if (at.part.halves[0] && at.part.halves[1])
    PetscCall((run_pass<PassKind<given, corrected, restricts, true, true, steps>>(memory_, pass, sum)));
  else if (at.part.halves[0])
    PetscCall((run_pass<PassKind<given, corrected, restricts, true, false, steps>>(memory_, pass, sum)));
  else
    PetscCall((run_pass<PassKind<given, corrected, restricts, false, true, steps>>(memory_, pass, sum)));
  if (restricts) PetscCall(AfterRestriction(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Smoothing steps from `from` (null: zero), the last of which writes `to`.
template <class T> template <class B> PetscErrorCode Hierarchy<T>::Smooth(int l, const B *b, const T *from, T *to) {
  Level       &at = level(l);
  LevelPart<T> part;

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
  for (int n = 0; n < part.steps; n++) {
    T       *out = (part.steps - n) % 2 ? to : at.s.at(memory_);
    Field<T> field;
    PetscCall(Exchange(at, at.halo_u, from, &field));
    PetscCall(over(at.patch, point::Smooth<T, B, T>{part, n, field, b, out}));
    from = out;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of u, or of b alone where u is null.
template <class T> template <class B> PetscErrorCode Hierarchy<T>::RestrictResidual(int l, const B *b, const T *u) {
  Level       &at = level(l);
  LevelPart<T> part;
  Field<T>     field;

  PetscFunctionBegin;
  PetscCall(PartAt(l, &part));
  PetscCall(Exchange(at, at.halo_u, u, &field));
  PetscCall(over(at.patch, point::Residual<T, B>{part, field, b, at.s.at(memory_)}));
  PetscCall(Exchange(at, at.halo_u, at.s.at(memory_), &field));
  PetscCall(over(target_patch(l), point::Restrict<T>{part, target_patch(l), field, target(l)}));
  PetscCall(AfterRestriction(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Hierarchy<T>::Down(int l, Guess guess) {
  Level &at = level(l);

  PetscFunctionBegin;
  const auto with = [&](auto *b, T *x) {
    PetscFunctionBegin;
    T *t = at.t.at(memory_);
    if (at.fused) {
      const auto pass = [&](auto steps_of) {
        constexpr int steps = decltype(steps_of)::value;
        PetscFunctionBegin;
        if (guess == Guess::zero) PetscCall((Fused<false, false, true, steps>(l, b, nullptr, t)));
        if (guess == Guess::given) PetscCall((Fused<true, false, true, steps>(l, b, x, t)));
        if (guess == Guess::interpolated) PetscCall((Fused<false, true, true, steps>(l, b, nullptr, t)));
        PetscFunctionReturn(PETSC_SUCCESS);
      };
      if (at.part.steps == 2)
        PetscCall(pass(std::integral_constant<int, 2>()));
      else
        PetscCall(pass(std::integral_constant<int, 3>()));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (guess == Guess::interpolated) {
      LevelPart<T> part;
      Field<T>     e;
      Level       &next = level(l + 1);
      PetscCall(PartAt(l, &part));
      PetscCall(Exchange(next, next.halo_u, next.x.at(memory_), &e));
      PetscCall(over(at.patch, point::Correct<T>{part, next.patch, e, nullptr, x}));
    }
    PetscCall(Smooth(l, b, guess == Guess::zero ? nullptr : x, t));
    PetscCall(RestrictResidual(l, b, t));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (l > 0 || at.b.size())
    PetscCall(with((const T *)at.b.at(memory_), at.x.at(memory_)));
  else if constexpr (std::is_same<T, S>::value)
    PetscCall(with(b_, x_));
  else
    PetscCall(with(b_, at.x.at(memory_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Hierarchy<T>::Up(int l) {
  Level &at = level(l), &next = level(l + 1);

  PetscFunctionBegin;
  const auto with = [&](auto *b, auto *x) {
    PetscFunctionBegin;
    T *t = at.t.at(memory_);
    if (at.fused) {
      if (at.part.steps == 2)
        PetscCall((Fused<true, true, false, 2>(l, b, t, x)));
      else
        PetscCall((Fused<true, true, false, 3>(l, b, t, x)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    LevelPart<T> part;
    Field<T>     e;
    PetscCall(PartAt(l, &part));
    PetscCall(Exchange(next, next.halo_u, next.x.at(memory_), &e));
    PetscCall(over(at.patch, point::Correct<T>{part, next.patch, e, t, t}));
    if constexpr (std::is_same<typename std::remove_pointer<decltype(x)>::type, T>::value)
      PetscCall(Smooth(l, b, t, x));
    else {
      PetscCall(Smooth(l, b, t, at.x.at(memory_)));
      PetscCall(over(at.patch, point::CopyPart<T, S>{at.patch, at.patch, at.x.at(memory_), x, true}));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (l > 0 || at.b.size())
    PetscCall(with((const T *)at.b.at(memory_), at.x.at(memory_)));
  else
    PetscCall(with(b_, x_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Hierarchy<T>::RestrictB(int l) {
  Level &at = level(l);

  PetscFunctionBegin;
  const auto with = [&](auto *b) {
    PetscFunctionBegin;
    if (at.fused)
      PetscCall((Fused<false, false, true, 0>(l, b, nullptr, (T *)nullptr)));
    else
      PetscCall(RestrictResidual(l, b, nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (l > 0 || at.b.size())
    PetscCall(with((const T *)at.b.at(memory_)));
  else
    PetscCall(with(b_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Hierarchy<T>::VisitSmall(Cycle cycle, Guess guess, int visits) {
  Level         &at = level(first_small_);
  SmallLevels<T> small = {};

  PetscFunctionBegin;
  small.levels = (int)levels_.size() - first_small_;
  PetscCall(inverse_.Get(memory_, &small.inverse));
  small.b = at.b.at(memory_);
  small.x = at.x.at(memory_);
  PetscCall(small_[PetscMemTypeDevice(memory_) ? 1 : 0].Get(memory_, &small.part));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory_)) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    visit_small_levels<T><<<1, dim3(32, 32), small_bytes_, stream>>>(small, cycle, guess, visits);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  visit_small(HostTeam(), small, small_memory_.at(memory_), cycle, guess, visits);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
PetscErrorCode Hierarchy<T>::Apply(PetscMemType memory, const S *b, S *x, bool from_x, bool full, PetscReal stop,
                                   PetscReal limit, PetscReal *norm) {
  Level &top = level(0);

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  PetscCall(Prepare(memory));
  memory_ = memory;
  b_ = b;
  x_ = x;
  failed_ = PETSC_SUCCESS;
  begun_ = false;
  norm_ = norm ? norms_.at(memory) + norms_.size() - 1 : nullptr;
  const Patch own = part_patch(top);
  if (top.b.size()) { // the level has arrays of its own
    const auto in = [&](const S *from, T *to) {
      PetscFunctionBegin;
      if (!parts_) {
        PetscCall(over(own, point::CopyPart<S, T>{own, top.patch, from, to, false}));
      } else {
        T *part = top.b_part.at(memory);
        PetscCall(over(own, point::CopyPart<S, T>{own, own, from, part, false}));
        PetscCall(Gather(top, part, to));
      }
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscCall(in(b, top.b.at(memory)));
    if (from_x) PetscCall(in(x, top.x.at(memory)));
  }
  if (norm) {
    PetscCall(Down(0, Guess::given));
    PetscCall(ReadNorm(norm));
    norm_ = nullptr;
    if (!(*norm > stop && *norm <= limit)) PetscFunctionReturn(PETSC_SUCCESS);
    begun_ = true;
  }
  bool done = false;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory) && options_.graph && !parts_) PetscCall(RunGraph(from_x, full, &done));
#endif
  if (!done) Run(from_x, full);
  PetscCall(failed_);
  if (top.b.size()) PetscCall(over(own, point::CopyPart<T, S>{own, top.patch, top.x.at(memory), x, true}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> void Hierarchy<T>::Run(bool from_x, bool full) {
  if (full)
    run_full(*this, 0, first_small_, options_.cycle);
  else
    run_cycle(*this, 0, first_small_, options_.cycle, from_x ? Guess::given : Guess::zero);
}

#if SHELLAC_CUDA
// The same as one graph, recorded when these arrays come for the first time.
template <class T> PetscErrorCode Hierarchy<T>::RunGraph(bool from_x, bool full, bool *done) {
  cudaStream_t stream;

  PetscFunctionBegin;
  Graph wanted = {b_, x_, from_x, full, begun_, nullptr};
  for (const Graph &graph : graphs_)
    if (graph.b == b_ && graph.x == x_ && graph.from_x == from_x && graph.full == full && graph.begun == begun_)
      wanted.exec = graph.exec;
  if (!wanted.exec) {
    cudaGraph_t graph;
    *done = false;
    if (graphs_.size() == most_graphs) { // the oldest goes
      PetscCallCUDA(cudaGraphExecDestroy(graphs_.front().exec));
      graphs_.erase(graphs_.begin());
    }
    if (!recorder_) PetscCallCUDA(cudaStreamCreateWithFlags(&recorder_, cudaStreamNonBlocking));
    PetscCallCUDA(cudaStreamBeginCapture(recorder_, cudaStreamCaptureModeThreadLocal));
    recording_stream = recorder_;
    Run(from_x, full);
    recording_stream = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(recorder_, &graph);
    if (failed_ && ended == cudaSuccess && graph) (void)cudaGraphDestroy(graph);
    PetscCall(failed_);
    PetscCallCUDA(ended);
    PetscCallCUDA(cudaGraphInstantiate(&wanted.exec, graph, 0));
    PetscCallCUDA(cudaGraphDestroy(graph));
    graphs_.push_back(wanted);
  }
  begun_ = false;
  PetscCall(current_stream(&stream));
  PetscCallCUDA(cudaGraphLaunch(wanted.exec, stream));
  *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

template <class T> PetscErrorCode Hierarchy<T>::ReadNorm(PetscReal *norm) {
  double sum = 0;

  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory_)) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaMemcpyAsync(&sum, norm_, sizeof(sum), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
  } else
#endif
    sum = *norm_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid_.comm));
  *norm = PetscSqrtReal((PetscReal)sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Hierarchy<T>::LevelNorms(std::vector<PetscReal> *norms) {
  PetscFunctionBegin;
  norms->clear();
  for (int l = 1; l <= first_small_; l++) {
    Level         &at = level(l);
    std::vector<T> values((size_t)at.patch.all().points());
    double         sum = 0;
    const T       *b = at.b.at(memory_);
#if SHELLAC_CUDA
    if (PetscMemTypeDevice(memory_)) {
      cudaStream_t stream;
      PetscCall(current_stream(&stream));
      PetscCallCUDA(cudaMemcpyAsync(values.data(), b, values.size() * sizeof(T), cudaMemcpyDeviceToHost, stream));
      PetscCallCUDA(cudaStreamSynchronize(stream));
      b = values.data();
    }
#endif
    for (size_t n = 0; n < values.size(); n++) sum += squared(b[n]);
    if (!at.whole) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid_.comm));
    norms->push_back(PetscSqrtReal((PetscReal)sum));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
