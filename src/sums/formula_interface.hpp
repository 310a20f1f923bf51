#pragma once
// What the library and a kernel function by a formula share, which is compiled at run time.

#include "sums/loops_on_host.hpp"

namespace shellac {

// A formula's parameters. A kernel of a GPU has them as its function.
template <class T> struct FormulaNumbers {
  T sigma, k; // [length], [1/length]
  T unit;     // of r [length]

  explicit FormulaNumbers(const Parameters &p)
      : sigma((T)p.sigma), k((T)(p.wavenumber < 0 ? -p.wavenumber : p.wavenumber)), unit((T)free_unit<T>(p)) {}
};

#if !defined(__CUDACC_RTC__)
struct FormulaFunctions {
  host::FunctionLoops<double> in_double; // their function: FormulaNumbers
  host::FunctionLoops<float>  in_single;
  Complex<double> (*value)(const Parameters &, double r2);           // as in FunctionInfo
  Complex<double> (*value_in_single)(const Parameters &, double r2); // computed in single precision
  Complex<double> (*slope)(const Parameters &, double r2);
};
#endif

} // namespace shellac
