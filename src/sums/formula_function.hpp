// A kernel function by a formula, as it is compiled at run time: after formula_interface.hpp, the equations'
// numbers.hpp, and formula_value(r, sigma, k) with the user's text.

namespace shellac {

template <class T> struct FormulaFunction : FormulaNumbers<T> {
  // Where a sum is not finite, it is computed again without the pairs of coincident points.
  static constexpr bool singular = true;
  using Value = T;
  using FormulaNumbers<T>::FormulaNumbers;

  SHELLAC_INLINE T value(T r2) const { // r2 in units
    using Number = equation::Number<T, 0>;
    return equation::formula_value(Number(this->unit * equation::sqrt(r2)), this->sigma, this->k).v;
  }
  SHELLAC_INLINE T slope(T r2) const { // (1/r) dg/dr in units
    using Number = equation::Number<T, 1>;
    const T r = equation::sqrt(r2);
    Number  x(this->unit * r);
    x.d[0] = 1, x.depends = 1;
    return equation::formula_value(x, this->sigma, this->k).d[0] * (this->unit / r);
  }
};

#if !defined(__CUDACC_RTC__)
template <class T> Complex<double> value_of_pair(const Parameters &p, double r2) {
  return {FormulaFunction<T>(p).value((T)r2), 0};
}
inline Complex<double> slope_of_pair(const Parameters &p, double r2) {
  return {FormulaFunction<double>(p).slope(r2), 0};
}

extern "C" __attribute__((visibility("default"))) const FormulaFunctions shellac_compiled = {
    host::loops_of<FormulaFunction<double>, double>(), host::loops_of<FormulaFunction<float>, float>(),
    value_of_pair<double>, value_of_pair<float>, slope_of_pair};
#endif

} // namespace shellac
