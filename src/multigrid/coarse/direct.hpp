#pragma once
// The exact solution of a level that is a sum over its axes, by diagonalising each of them: Lynch, Rice and Thomas,
// "Direct solution of partial difference equations by tensor product methods" (1964). With an axis' operator
// M^-1 K = V Λ V^-1, the level's inverse is (V ⊗ V ⊗ V) (Λ ⊕ Λ ⊕ Λ + σ)^-1 (V ⊗ V ⊗ V)^-1.

#include <limits>

#include "device/chain.hpp"
#include "device/scratch.hpp"
#include "multigrid/coarse/mode_planes.hpp"
#include "multigrid/coarse/mode_quarters.hpp"

namespace shellac {

constexpr int most_solved = 4096;     // points of a level that this can solve,
constexpr int most_solved_axis = 256; // and of each of its axes

struct HostTeam {
  template <class Function> void along(int n, const Function &f) const {
    for (int i = 0; i < n; i++) f(i);
  }
};
#if SHELLAC_CUDA
struct BlockTeam {
  static constexpr int                                      threads = 256;
  template <class Function> __device__ __forceinline__ void along(int n, const Function &f) const {
    for (int i = threadIdx.x; i < n; i += threads) f(i);
    __syncthreads();
  }
};
#endif

// out[q][i] = scale[q][i] Σ_k matrix[k][i] in[k][q] for four i and one q: the slowest axis goes, and comes back as the
// fastest, so that after all axes their order is the old one.
template <class T> struct ModeTransform {
  using R = typename RealOf<T>::type;
  int             n, rest; // points of the axis, and of the others
  const Quad<R>  *matrix;
  const T        *in, *scale; // scale: null for none
  T              *out;
  SHELLAC_HD int  count() const { return rest * AxesFactors<T>::quads(n); }
  SHELLAC_HD void operator()(int unit) const {
    const int q = unit % rest, group = unit / rest, stride = AxesFactors<T>::quads(n);
    T         sum[4] = {0, 0, 0, 0};
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
    for (int k = 0; k < n; k++) {
      const T       value = in[k * rest + q];
      const Quad<R> entries = matrix[k * stride + group];
      for (int c = 0; c < 4; c++) sum[c] += entries.v[c] * value;
    }
    for (int c = 0; c < 4; c++) {
      const int at = q * n + group * 4 + c;
      if (group * 4 + c < n) out[at] = scale ? scale[at] * sum[c] : sum[c];
    }
  }
};

// work: two arrays of the points; b may be the first
template <class Team, class T>
SHELLAC_HD void solve_by_axes(Team team, const AxesFactors<T> &factors, const T *b, T *x, T *work) {
  const int   points = factors.points();
  const T    *in = b;
  const auto *matrix = factors.matrices;
#if defined(__CUDA_ARCH__)
#pragma unroll 1 // little code: a single block waits for every new instruction
#endif
  for (int pass = 0; pass < 6; pass++) { // into modes, and back
    const int              a = 2 - pass % 3, n = factors.n[a];
    const bool             last = pass == 5;
    T                     *out = last ? x : in == work ? work + points : work;
    const ModeTransform<T> transform = {n, points / n, matrix, in, pass == 2 ? factors.scale : nullptr, out};
    matrix += n * AxesFactors<T>::quads(n);
    if (n == 1 && pass != 2 && !last) continue; // a matrix of one entry
    team.along(transform.count(), transform);
    in = out;
  }
}

#if SHELLAC_CUDA
// to[0..n) = from[0..n), several values of a thread under way together.
template <class V> __device__ __forceinline__ void copy_close(V *to, const V *from, int n) {
  constexpr int together = 4;
  for (int first = threadIdx.x; first < n; first += together * BlockTeam::threads) {
    V values[together];
#pragma unroll
    for (int c = 0; c < together; c++)
      if (first + c * BlockTeam::threads < n) values[c] = from[first + c * BlockTeam::threads];
#pragma unroll
    for (int c = 0; c < together; c++)
      if (first + c * BlockTeam::threads < n) to[first + c * BlockTeam::threads] = values[c];
  }
}
// close: there is shared memory for all that is read, too. far: work arrays; null: in shared memory
template <class T>
__global__ __launch_bounds__(BlockTeam::threads) void solve_axes(const __grid_constant__ AxesFactors<T> factors,
                                                                 const T *b, T *x, bool close, T *far) {
  extern __shared__ double2 shared_memory[];
  using R = typename RealOf<T>::type;
  const int      points = factors.points();
  AxesFactors<T> near = factors;
  T             *work = far ? far : reinterpret_cast<T *>(shared_memory);
  if (close) {
    Quad<R> *matrices = reinterpret_cast<Quad<R> *>(shared_memory);
    T       *scale = reinterpret_cast<T *>(matrices + factors.matrix_quads);
    copy_close(matrices, factors.matrices, factors.matrix_quads);
    copy_close(scale, factors.scale, points);
    near.matrices = matrices;
    near.scale = scale;
    work = scale + points;
  }
  wait_for_kernel_before();
  let_next_kernel_begin();
  copy_close(work, b, points);
  __syncthreads();
  solve_by_axes(BlockTeam(), near, work, x, work);
}
#endif

// The inverses of a level's eigenvalues, which are the sums of its axes'.
template <class T> struct InvertEigenvalues {
  int              n[3];
  const PetscReal *values; // of the axes, one after the other; infinite where there is no mode
  PetscScalar      sigma;
  PetscReal        zero, of_null; // an eigenvalue of this size is the null space's, and has that inverse
  T               *inverses;

  SHELLAC_HD PetscScalar value(PetscInt i, PetscInt j, PetscInt k) const {
    return values[i] + values[n[0] + j] + values[n[0] + n[1] + k] + sigma;
  }
  SHELLAC_HD PetscInt place(PetscInt i, PetscInt j, PetscInt k) const { return i + n[0] * (j + n[1] * k); }
  SHELLAC_HD void     operator()(PetscInt i, PetscInt j, PetscInt k) const {
        const PetscInt    at = place(i, j, k);
        const PetscScalar of = value(i, j, k);
        const PetscReal   size = PetscAbsScalar(of);
        inverses[at] = !(size <= PETSC_MAX_REAL) ? T(0) : size <= zero ? T(of_null) : T((PetscScalar)1 / of);
  }
};

template <class T> class DirectSolve {
  using R = typename RealOf<T>::type;

public:
  // The axes may have any null space. old: one that is not to be used any more, whose modes serve where its axes are the
  // same; may be null. quarters: a GPU solves it so, see mode_quarters.hpp. *failed: sigma makes an eigenvalue zero, or all
  // are.
  PetscErrorCode Create(const Axis axes[3], PetscScalar sigma, DirectSolve *old, bool quarters, bool *failed);
  PetscErrorCode Prepare(PetscMemType memory); // the caller waits for the stream: Apply() reads early what it makes
  PetscErrorCode Apply(PetscMemType memory, const T *b, T *x);
  void           TakeMemory(DirectSolve *from) {
              matrices_.take_memory(&from->matrices_);
              values_.take_memory(&from->values_);
              scale_.take_memory(&from->scale_);
              quarter_matrices_.take_memory(&from->quarter_matrices_);
              work_.take(&from->work_);
  }
  bool in_planes(PetscMemType memory) const { return PetscMemTypeDevice(memory) && is_solved_in_planes<T>(factors_.n); }
  bool in_quarters(PetscMemType memory) const { return PetscMemTypeDevice(memory) && quarters_; }
  size_t bytes() const { return matrices_.bytes() + scale_.bytes() + quarter_matrices_.bytes(); }

private:
  PetscErrorCode MakeModes();
  PetscErrorCode PrepareQuarters(PetscMemType memory);
  void           FindZeros(bool *failed);

  size_t               work_bytes() const { return 2 * factors_.points() * sizeof(T); }
  size_t               close_bytes() const { return work_bytes() + matrices_.bytes() + scale_.bytes(); }
  AxesFactors<T>       factors_ = {};
  Axis                 axes_[3];
  bool                 quarters_ = false;
  QuarterFactors       quarter_factors_ = {};
  Mirror<double>       quarter_matrices_; // of each axis, or of two of the same length
  Mirror<Quad<R>>      matrices_;         // in quarters: the host's
  Mirror<PetscReal>    values_;           // the axes' eigenvalues, as in invert_
  InvertEigenvalues<T> invert_ = {};
  Mirror<T>            scale_; // made by Prepare()
  Scratch<T>           work_;  // the host's, or a GPU's with little shared memory
};

template <class T>
PetscErrorCode DirectSolve<T>::Create(const Axis axes[3], PetscScalar sigma, DirectSolve *old, bool quarters,
                                      bool *failed) {
  bool same = old && old->quarters_ == quarters;

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    factors_.n[a] = invert_.n[a] = (int)axes[a].N();
    same = same && axes[a].has_rows_of(old->axes_[a]);
  }
  if (same) {
    matrices_.swap(&old->matrices_);
    values_.swap(&old->values_);
    quarter_matrices_.swap(&old->quarter_matrices_);
    std::swap(axes_, old->axes_);
  } else {
    for (int a = 0; a < 3; a++) axes_[a] = axes[a];
    if (quarters)
      for (int a = 0; a < 3; a++) {
        const SineModes modes = a < 2 ? sine_modes(axes[a]) : SineModes();
        for (PetscInt m = 0; m < axes[a].N(); m++) values_.change().push_back(modes.value(m));
      }
    else
      PetscCall(MakeModes());
  }
  quarters_ = quarters;
  factors_.matrix_quads = (int)matrices_.size();
  invert_.sigma = sigma;
  FindZeros(failed);
  scale_.change().clear();
  work_.resize(2 * (size_t)factors_.points());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode DirectSolve<T>::MakeModes() {
  Modes                 modes[3];
  const Axis           *axes = axes_;
  const bool            has_values = values_.size();
  std::vector<Quad<R>> &matrices = matrices_.change();

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    int same = 0; // the first axis like this one
    while (same < a && !axes[same].has_rows_of(axes[a])) same++;
    if (same < a)
      modes[a] = modes[same];
    else
      PetscCall(get_modes(axes[a], &modes[a]));
    for (size_t m = 0; m < modes[a].values.size() && !has_values; m++)
      values_.change().push_back(modes[a].in[m] ? modes[a].values[m] : std::numeric_limits<PetscReal>::infinity());
  }
  for (bool back : {false, true})
    for (int a = 2; a >= 0; a--) {
      const auto &matrix = back ? modes[a].vectors : modes[a].inverse;
      const int   N = factors_.n[a];
      for (int k = 0; k < N; k++)
        for (int group = 0; group < AxesFactors<T>::quads(N); group++) {
          Quad<R> entries = {};
          for (int i = 4 * group; i < PetscMin(N, 4 * group + 4); i++)
            entries.v[i - 4 * group] = (R)matrix[i + (size_t)k * N];
          matrices.push_back(entries);
        }
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Finds which eigenvalues are zero. The null space gets the inverse of the least of the others: a singular preconditioner
// would not show what a right-hand side has beyond the operator's range.
template <class T> void DirectSolve<T>::FindZeros(bool *failed) {
  InvertEigenvalues<T> host = invert_;
  const int           *n = factors_.n;
  PetscReal            largest = PetscAbsScalar(invert_.sigma), least = PETSC_MAX_REAL, low = 0, high = 0;
  int                  zeros = 0;

  host.values = values_.host().data();
  for (int a = 0, first = 0; a < 3; first += n[a++]) {
    PetscReal lowest = PETSC_MAX_REAL, highest = -PETSC_MAX_REAL, most = 0;
    for (int i = first; i < first + n[a]; i++) {
      const PetscReal value = host.values[i];
      if (!(PetscAbsReal(value) <= PETSC_MAX_REAL)) continue;
      lowest = PetscMin(lowest, value), highest = PetscMax(highest, value), most = PetscMax(most, PetscAbsReal(value));
    }
    low += lowest, high += highest, largest += most;
  }
  low += PetscRealPart(invert_.sigma), high += PetscRealPart(invert_.sigma);
  const PetscReal zero = 8 * PETSC_MACHINE_EPSILON * largest;
  if (!(low > zero || high < -zero)) // else all are of one sign
    for (int k = 0; k < n[2]; k++)
      for (int j = 0; j < n[1]; j++)
        for (int i = 0; i < n[0]; i++) {
          const PetscReal size = PetscAbsScalar(host.value(i, j, k));
          zeros += size <= zero;
          if (size > zero && size < least) least = size;
        }
  *failed = zeros && (invert_.sigma != (PetscScalar)0 || (zeros > 1 && least == PETSC_MAX_REAL));
  invert_.zero = zeros ? zero : 0;
  invert_.of_null = 1 / least;
}

template <class T> PetscErrorCode DirectSolve<T>::PrepareQuarters(PetscMemType memory) {
  constexpr int size = MakeQuarterMatrices::size;
  const int    *n = factors_.n;
  const double *matrices;

  PetscFunctionBegin;
  if (!quarter_matrices_.size()) {
    double *made;
    PetscCall(quarter_matrices_.Make(memory, (size_t)size * (n[0] == n[1] ? 1 : 2), &made));
    for (int a = 0; a < (n[0] == n[1] ? 1 : 2); a++)
      PetscCall(for_each_of_box(memory, MakeQuarterMatrices::all(), MakeQuarterMatrices{n[a], made + a * size}));
  }
  PetscCall(quarter_matrices_.Get(memory, &matrices));
  PetscCall(values_.Get(memory, &quarter_factors_.values[0]));
  quarter_factors_.values[1] = quarter_factors_.values[0] + n[0];
  for (int a = 0; a < 2; a++) {
    quarter_factors_.n[a] = n[a];
    quarter_factors_.matrices[a] = matrices + (n[0] == n[1] ? 0 : a * size);
  }
  quarter_factors_.sigma = (double)PetscRealPart(invert_.sigma);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode DirectSolve<T>::Prepare(PetscMemType memory) {
  PetscFunctionBegin;
  if (in_quarters(memory)) {
    PetscCall(PrepareQuarters(memory));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!matrices_.size()) PetscCall(MakeModes());
  factors_.matrix_quads = (int)matrices_.size();
  PetscCall(matrices_.Get(memory, &factors_.matrices));
  if (!scale_.size()) {
    PetscCall(values_.Get(memory, &invert_.values));
    PetscCall(scale_.Make(memory, (size_t)factors_.points(), &invert_.inverses));
    PetscCall(for_each_of_box(memory, {{0, 0, 0}, {factors_.n[0], factors_.n[1], factors_.n[2]}}, invert_));
  }
  PetscCall(scale_.Get(memory, &factors_.scale));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const size_t most = most_shared_memory();
    if (in_planes(memory)) PetscFunctionReturn(PETSC_SUCCESS);
    if (work_bytes() > most) PetscCall(work_.Prepare(memory));
    PetscCallCUDA(cudaFuncSetAttribute(solve_axes<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(work_.Prepare(memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode DirectSolve<T>::Apply(PetscMemType memory, const T *b, T *x) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if constexpr (std::is_floating_point<T>::value)
    if (in_quarters(memory)) {
      PetscCall(solve_in_quarters(quarter_factors_, b, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
  PetscCall(matrices_.Get(memory, &factors_.matrices));
  PetscCall(scale_.Get(memory, &factors_.scale));
#if SHELLAC_CUDA
  if constexpr (std::is_floating_point<T>::value)
    if (in_planes(memory)) {
      PetscCall(solve_in_planes(factors_, b, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  if (PetscMemTypeDevice(memory)) {
    const size_t most = most_shared_memory();
    const bool   close = close_bytes() <= most, far = work_bytes() > most;
    const size_t bytes = close ? close_bytes() : far ? 0 : work_bytes();
    PetscCall(launch_in_chain(solve_axes<T>, 1, BlockTeam::threads, bytes, factors_, b, x, close,
                              far ? work_.at(memory) : (T *)nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  solve_by_axes(HostTeam(), factors_, b, x, work_.at(memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
