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

// out[q][i] = scale[q][i] Σ_k matrix[k][i] in[k][q] for four i and one q: the slowest axis goes, and comes back as the
// fastest, so that after all axes their order is the old one.
template <class T> struct ModeTransform {
  using R = typename RealOf<T>::type;
  int            n, rest; // points of the axis, and of the others
  const Quad<R> *matrix;
  const T       *in, *scale; // scale: null for none
  T             *out;
  // with the group of four i
  SHELLAC_HD void operator()(PetscInt q, PetscInt group, PetscInt) const {
    const int stride = AxesFactors<T>::quads(n);
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
  bool in_planes(PetscMemType memory) const {
    return SHELLAC_CUDA && PetscMemTypeDevice(memory) && is_solved_in_planes<T>(factors_.n);
  }
  bool   in_quarters(PetscMemType memory) const { return SHELLAC_CUDA && PetscMemTypeDevice(memory) && quarters_; }
  size_t bytes() const { return matrices_.bytes() + scale_.bytes() + quarter_matrices_.bytes(); }

private:
  PetscErrorCode MakeModes();
  PetscErrorCode PrepareQuarters(PetscMemType memory);
  void           FindZeros(bool *failed);

  AxesFactors<T>       factors_ = {};
  Axis                 axes_[3];
  bool                 quarters_ = false;
  QuarterFactors       quarter_factors_ = {};
  Mirror<double>       quarter_matrices_; // of each axis, or of two of the same length
  Mirror<Quad<R>>      matrices_;         // in quarters: the host's
  Mirror<PetscReal>    values_;           // the axes' eigenvalues, as in invert_
  InvertEigenvalues<T> invert_ = {};
  Mirror<T>            scale_; // made by Prepare()
  Scratch<T>           work_;  // two arrays of the points
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
  if (in_planes(memory)) PetscFunctionReturn(PETSC_SUCCESS);
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
#endif
  T *const work = work_.at(memory), *const other = work + factors_.points(); // b may be x
  const auto *matrix = factors_.matrices;
  for (int pass = 0; pass < 6; pass++) { // into modes, and back
    const int  a = 2 - pass % 3, n = factors_.n[a], rest = factors_.points() / n, quads = AxesFactors<T>::quads(n);
    const bool last = pass == 5;
    if (n > 1 || pass == 2 || last) { // else a matrix of one entry
      T *out = last ? x : b == work ? other : work;
      PetscCall(for_each_in_chain(memory, {{0, 0, 0}, {rest, quads, 1}},
                                  ModeTransform<T>{n, rest, matrix, b, pass == 2 ? factors_.scale : nullptr, out}));
      b = out;
    }
    matrix += n * quads;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
