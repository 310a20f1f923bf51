#pragma once
// The exact solution of a level that is a sum over its axes, by diagonalising each of them: Lynch, Rice and Thomas,
// "Direct solution of partial difference equations by tensor product methods" (1964). With an axis' operator
// M^-1 K = V Λ V^-1, the level's inverse is (V ⊗ V ⊗ V) (Λ ⊕ Λ ⊕ Λ + σ)^-1 (V ⊗ V ⊗ V)^-1.

#include "device/chain.hpp"
#include "device/scratch.hpp"
#include "multigrid/points.hpp"

namespace shellac {

constexpr int most_solved = 4096;     // points of a level that this can solve,
constexpr int most_solved_axis = 256; // and of each of its axes

// Plain data, to be given to a kernel.
template <class R> struct alignas(16) Quad { // values that are read at once
  R v[4];
};
template <class T> struct AxesFactors {
  using R = typename RealOf<T>::type;
  int            n[3];
  const Quad<R> *matrices; // those of inverse modes, then those of modes, each for the last axis first: [n][quads(n)]
  const T       *scale;    // of each mode [n[2]][n[1]][n[0]]
  int            matrix_quads;

  SHELLAC_HD static int quads(int n) { return (n + 3) / 4; }
  SHELLAC_HD int        points() const { return n[0] * n[1] * n[2]; }
};

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

template <class T> class DirectSolve {
  using R = typename RealOf<T>::type;

public:
  // singular: constants are the null space; the solution is the one without them.
  PetscErrorCode Create(const Axis axes[3], PetscScalar sigma, bool singular);
  PetscErrorCode Prepare(PetscMemType memory);
  PetscErrorCode Apply(PetscMemType memory, const T *b, T *x);
  void           TakeMemory(DirectSolve *from) {
              matrices_.take_memory(&from->matrices_);
              scale_.take_memory(&from->scale_);
              work_.take(&from->work_);
  }
  bool   failed() const { return failed_; } // there is another zero eigenvalue
  size_t bytes() const { return matrices_.bytes() + scale_.bytes(); }

private:
  size_t          work_bytes() const { return 2 * scale_.host().size() * sizeof(T); }
  size_t          close_bytes() const { return work_bytes() + matrices_.bytes() + scale_.bytes(); }
  AxesFactors<T>  factors_ = {};
  Mirror<Quad<R>> matrices_;
  Mirror<T>       scale_;
  Scratch<T>      work_; // the host's, or a GPU's with little shared memory
  bool            failed_ = false;
};

template <class T> PetscErrorCode DirectSolve<T>::Create(const Axis axes[3], PetscScalar sigma, bool singular) {
  Modes                 modes[3];
  std::vector<Quad<R>> &matrices = matrices_.change();
  std::vector<T>       &scale = scale_.change();
  PetscReal             largest = PetscAbsScalar(sigma), least = PETSC_MAX_REAL;
  size_t                zero = 0, n = 0;

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    PetscReal most = 0;
    int       same = 0; // the first axis like this one
    while (same < a && (axes[same].mass != axes[a].mass || axes[same].edge != axes[a].edge ||
                        axes[same].periodic != axes[a].periodic || axes[same].fixed != axes[a].fixed))
      same++;
    if (same < a)
      modes[a] = modes[same];
    else
      PetscCall(get_modes(axes[a], &modes[a]));
    factors_.n[a] = (int)axes[a].N();
    for (PetscReal value : modes[a].values) most = PetscMax(most, PetscAbsReal(value));
    largest += most;
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
  factors_.matrix_quads = (int)matrices.size();
  scale.resize(factors_.points());
  int zeros = 0; // eigenvalues
  for (int k = 0; k < factors_.n[2]; k++)
    for (int j = 0; j < factors_.n[1]; j++)
      for (int i = 0; i < factors_.n[0]; i++, n++) {
        const PetscScalar value = modes[0].values[i] + modes[1].values[j] + modes[2].values[k] + sigma;
        const PetscReal   size = PetscAbsScalar(value);
        scale[n] = 0;
        if (!modes[0].in[i] || !modes[1].in[j] || !modes[2].in[k]) continue;
        if (size < least) least = size, zero = n;
        zeros += size <= 8 * PETSC_MACHINE_EPSILON * largest;
        if (size > 0) scale[n] = T((PetscScalar)1 / value);
      }
  if (singular && zeros) scale[zero] = 0;
  failed_ = zeros > (singular ? 1 : 0);
  work_.resize(2 * scale.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode DirectSolve<T>::Prepare(PetscMemType memory) {
  PetscFunctionBegin;
  PetscCall(matrices_.Get(memory, &factors_.matrices));
  PetscCall(scale_.Get(memory, &factors_.scale));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    const size_t most = most_shared_memory();
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
  PetscCall(matrices_.Get(memory, &factors_.matrices));
  PetscCall(scale_.Get(memory, &factors_.scale));
#if SHELLAC_CUDA
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
