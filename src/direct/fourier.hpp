#pragma once
// Sine, cosine and periodic transforms along an axis, by complex transforms of the function's continuation beyond its ends.
// Their kernels are real: two real lines are transformed as one complex one.

#include "device/mirror.hpp"
#include "device/scratch.hpp"
#include "direct/axis_modes.hpp"
#include "direct/gpu_plan.hpp"
#include "direct/lines.hpp"

namespace shellac {

// Coefficients of a complex transform.
template <class R> struct Coefficients {
  const ComplexOf<R> *first;
  size_t              stride;

  SHELLAC_HD ComplexOf<R> operator[](PetscInt m) const { return first[(size_t)m * stride]; }
};

// What a transform of a line of values into modes, or back, computes before and after the complex one.
template <class R> struct FourierSteps {
  using Complex = ComplexOf<R>;
  PetscInt       n, length;
  bool           periodic, half, odd[2], is_short;
  bool           complex; // see FourierAxis
  PetscInt       last;  // the place about which values continue beyond the upper end, in half spacings
  PetscInt       first; // see FourierAxis
  const Complex *turns; // [length]: e^{-i pi m / length}; of half frequencies alone
  const Complex *phase; // [n]: from coefficients of the complex transform to modes

  // Forward: the m-th value of the continuation.
  template <class Pair> SHELLAC_HD Complex continued(const Pair &x, PetscInt m) const {
    Complex z = {0, 0};
    if (is_short) { // J. Makhoul (1980): the even places, then the odd ones from the end
      const PetscInt j = 2 * m < n ? 2 * m : 2 * (n - m) - 1;
      return x.get(j).scaled(sign(j));
    }
    if (m < n)
      z = x.get(m);
    else if (const PetscInt j = last - m; j >= 0 && j < n)
      z = odd[1] ? x.get(j).scaled(-1) : x.get(j);
    return half ? z.times(turns[m]) : z;
  }
  // The k-th mode, from coefficients f [length].
  template <class Array> SHELLAC_HD Complex mode(const Array &f, PetscInt k) const {
    if (complex) return f[k];
    if (is_short) {
      const PetscInt m = mirrored(k);
      return m ? f[m].times(phase[m]).plus(f[n - m].times_conjugate(phase[m])).scaled((R)0.5) : f[0];
    }
    if (!periodic) return f[k + first].times(phase[k]);
    const Complex a = f[k], b = f[k ? n - k : 0]; // Hartley's transform
    return {(a.re + b.re - a.im + b.im) / 2, (a.im + b.im + a.re - b.re) / 2};
  }
  // Back: the m-th coefficient, from modes.
  template <class Pair> SHELLAC_HD Complex coefficient(const Pair &modes, PetscInt m) const {
    if (complex) return modes.get(m);
    if (periodic) {
      const Complex a = modes.get(m), b = modes.get(m ? n - m : 0);
      return {(a.re + b.re + a.im - b.im) / 2, (a.im + b.im - a.re + b.re) / 2};
    }
    if (is_short) {
      const Complex a = modes.get(mirrored(m)), b = m ? modes.get(mirrored(n - m)) : Complex{0, 0};
      return Complex{a.re + b.im, a.im - b.re}.times_conjugate(phase[m]); // a - i b
    }
    const PetscInt other = (half ? length - 1 : length) - m - first;
    if (m - first >= 0 && m - first < n) return modes.get(m - first).times_conjugate(phase[m - first]);
    if (other >= 0 && other < n) return modes.get(other).times(phase[other]);
    return {0, 0};
  }
  // The j-th value, from the continuation z.
  template <class Array> SHELLAC_HD Complex value(const Array &z, PetscInt j) const {
    if (is_short) return z[j % 2 ? n - (j + 1) / 2 : j / 2].scaled(sign(j));
    return half ? z[j].times_conjugate(turns[j]) : z[j];
  }
  // Of short ones: sines are cosines of values whose signs alternate, with the modes in the opposite order.
  SHELLAC_HD R        sign(PetscInt j) const { return odd[0] && j % 2 ? (R)-1 : (R)1; }
  SHELLAC_HD PetscInt mirrored(PetscInt k) const { return odd[0] ? n - 1 - k : k; }
};

// The transforms along one axis, with arithmetic in T; without normalisation.
template <class T> class FourierTransform {
public:
  using R = typename RealOf<T>::type;
  using Complex = ComplexOf<R>;
  static bool        exists(PetscMemType memory); // the library is there
  static const char *libraries();                 // "FFTW, cuFFT"
  PetscErrorCode     Create(const FourierAxis &axis);
  PetscErrorCode     Destroy();
  // Values of PETSc's scalars or of T. to: may be the same array; work: for the continuations.
  template <class From, class To>
  PetscErrorCode Apply(PetscMemType memory, bool back, const Lines &lines, const From *from, To *to,
                       Scratch<Complex> *work);
  size_t         bytes() const { return tables_.bytes(); }
  ~FourierTransform() { (void)!Destroy(); }

private:
  template <class From, class To>
  PetscErrorCode OnHost(bool back, const Lines &lines, const From *from, To *to, Scratch<Complex> *work);
  template <class From, class To>
  PetscErrorCode OnGPU(bool back, const Lines &lines, const From *from, To *to, Scratch<Complex> *work);
  PetscErrorCode Plan(const Lines &lines);

  FourierSteps<R> steps_ = {};
  Mirror<Complex> tables_;
  Complex        *planned_ = nullptr;         // the array of FFTW's plans
  bool            is_split_ = false;          // SplitSines, on a GPU
  Lines           planned_lines_ = {0, 0, 0}; // of cuFFT's; none: no plan

  [[maybe_unused]] void *plans_[2] = {nullptr, nullptr}; // of FFTW: forward and back
#if SHELLAC_CUDA
  GPUPlan gpu_plans_[2]; // the second one: of SplitSines' third transform
#endif
};

// The transform of a grid along its first axes, which are periodic, on a GPU, by cuFFT's own for whole grids.
template <class T> class PeriodicGrid {
public:
  using R = typename RealOf<T>::type;
  // axes: how many are transformed; n: points
  PetscErrorCode  Forward(const PetscInt n[3], int axes, const void *values, Scratch<ComplexOf<R>> *work);
  PetscErrorCode  Back(Scratch<ComplexOf<R>> *work, void *values);
  static PetscInt modes(PetscInt n) { return lines_in_pair<T> == 2 ? n / 2 + 1 : n; } // along the first axis
  Box             modes() const { return {{0, 0, 0}, {modes(n_[0]), n_[1], n_[2]}}; }

private:
  PetscInt n_[3] = {0, 0, 0};
#if SHELLAC_CUDA
  GPUPlan plans_[2]; // forward and back
#endif
};

} // namespace shellac
