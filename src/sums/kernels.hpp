#pragma once
// The kernel functions, one line each.

#include "sums/gaussian.hpp"
#include "sums/helmholtz.hpp"
#include "sums/laplace.hpp"
#include "sums/logarithm.hpp"
#include "sums/multiquadric.hpp"
#include "sums/yukawa.hpp"

namespace shellac {

template <class... Functions> struct FunctionList {};

template <class T>
using KernelFunctions = FunctionList< //
    Gaussian<T>,                      //
    Laplace<T>,                       //
    Acoustic<T>,                      //
    Yukawa<T>,                        //
    Multiquadric<T>,                  //
    InverseMultiquadric<T>,           //
    ThinPlate<T>,                     //
    Logarithm<T>>;

} // namespace shellac
