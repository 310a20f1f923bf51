#pragma once
// Types of numbers that go with another one.

#include <type_traits>

#include "device/launch.hpp"

namespace shellac {

template <class T> struct RealOf { using type = T; };
template <template <class> class Complex, class R> struct RealOf<Complex<R>> { using type = R; };
// The scalar of single precision.
template <class T> struct SingleOf { using type = float; };
template <template <class> class Complex, class R> struct SingleOf<Complex<R>> { using type = Complex<float>; };
using Single = typename SingleOf<PetscScalar>::type;

template <class T> SHELLAC_HD double squared(T value) {
  if constexpr (std::is_floating_point<T>::value)
    return (double)value * (double)value;
  else
    return (double)value.real() * (double)value.real() + (double)value.imag() * (double)value.imag();
}

} // namespace shellac
