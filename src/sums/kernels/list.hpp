#pragma once
// The kernel functions, one line each.

#include "sums/kernels/gaussian.hpp"
#include "sums/kernels/helmholtz_wave.hpp"
#include "sums/kernels/inverse_multiquadric.hpp"
#include "sums/kernels/laplace_potential.hpp"
#include "sums/kernels/logarithm_potential.hpp"
#include "sums/kernels/multiquadric.hpp"
#include "sums/kernels/thin_plate.hpp"
#include "sums/kernels/yukawa_potential.hpp"

namespace shellac {

template <class... Functions> struct FunctionList {};

template <class T>
using KernelFunctions = FunctionList< //
    Gaussian<T>,                      //
    LaplacePotential<T>,              //
    HelmholtzWave<T>,                 //
    YukawaPotential<T>,               //
    Multiquadric<T>,                  //
    InverseMultiquadric<T>,           //
    ThinPlate<T>,                     //
    LogarithmPotential<T>>;

} // namespace shellac
