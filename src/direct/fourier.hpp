#pragma once
// Sine, cosine and periodic transforms along an axis, by complex transforms of the function's continuation beyond its ends.
// Their kernels are real: two real lines are transformed as one complex one.

#include "device/mirror.hpp"
#include "device/scratch.hpp"
#include "direct/axis_modes.hpp"
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
  bool           periodic, half, odd[2];
  PetscInt       last;  // the place about which values continue beyond the upper end, in half spacings
  PetscInt       first; // see FourierAxis
  const Complex *turns; // [length]: e^{-i pi m / length}; of half frequencies alone
  const Complex *phase; // [n]: from coefficients of the complex transform to modes

  // Forward: the m-th value of the continuation.
  template <class Pair> SHELLAC_HD Complex continued(const Pair &x, PetscInt m) const {
    Complex z = {0, 0};
    if (m < n)
      z = x.get(m);
    else if (const PetscInt j = last - m; j >= 0 && j < n)
      z = odd[1] ? x.get(j).scaled(-1) : x.get(j);
    return half ? z.times(turns[m]) : z;
  }
  // The k-th mode, from coefficients f [length].
  template <class Array> SHELLAC_HD Complex mode(const Array &f, PetscInt k) const {
    if (!periodic) return f[k + first].times(phase[k]);
    const Complex a = f[k], b = f[k ? n - k : 0]; // Hartley's transform
    return {(a.re + b.re - a.im + b.im) / 2, (a.im + b.im + a.re - b.re) / 2};
  }
  // Back: the m-th coefficient, from modes.
  template <class Pair> SHELLAC_HD Complex coefficient(const Pair &modes, PetscInt m) const {
    if (periodic) {
      const Complex a = modes.get(m), b = modes.get(m ? n - m : 0);
      return {(a.re + b.re + a.im - b.im) / 2, (a.im + b.im - a.re + b.re) / 2};
    }
    const PetscInt mirrored = (half ? length - 1 : length) - m - first;
    if (m - first >= 0 && m - first < n) return modes.get(m - first).times_conjugate(phase[m - first]);
    if (mirrored >= 0 && mirrored < n) return modes.get(mirrored).times(phase[mirrored]);
    return {0, 0};
  }
  // The j-th value, from the continuation z.
  template <class Array> SHELLAC_HD Complex value(const Array &z, PetscInt j) const {
    return half ? z[j].times_conjugate(turns[j]) : z[j];
  }
};

// The transforms along one axis, with arithmetic in R; without normalisation.
template <class R> class FourierTransform {
public:
  using Complex = ComplexOf<R>;
  static bool        exists(PetscMemType memory); // the library is there
  static const char *libraries();                 // "FFTW, cuFFT"
  PetscErrorCode     Create(const FourierAxis &axis);
  PetscErrorCode     Destroy();
  // Values of PETSc's precision or of R's. to: may be the same array; work: for the continuations.
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
  [[maybe_unused]] int   gpu_plans_[2] = {0, 0};         // of cuFFT; the second one: of SplitSines' third transform
};

// The transform of a grid along its first axes, which are periodic, on a GPU, by cuFFT's own for whole grids.
template <class R> class PeriodicGrid {
public:
  // axes: how many are transformed; n: points
  PetscErrorCode  Forward(const PetscInt n[3], int axes, const void *values, Scratch<ComplexOf<R>> *work);
  PetscErrorCode  Back(Scratch<ComplexOf<R>> *work, void *values);
  static PetscInt modes(PetscInt n) { return lines_in_pair == 2 ? n / 2 + 1 : n; } // along the first axis
  Box             modes() const { return {{0, 0, 0}, {modes(n_[0]), n_[1], n_[2]}}; }
  ~PeriodicGrid() { (void)!Destroy(); }

private:
  PetscErrorCode Destroy();

  PetscInt n_[3] = {0, 0, 0};
  bool     planned_ = false;

  [[maybe_unused]] int plans_[2] = {0, 0}; // of cuFFT: forward and back
};

} // namespace shellac
