#pragma once
#include <type_traits>

#include "sums/kernels/laplace_potential.hpp"
#include "sums/loops_on_host.hpp"

namespace shellac {
namespace host {

// Loops over 1/r that use the processor's approximation of 1/sqrt(x), which compilers take for no loop of doubles: with
// AVX-512, where they take half the time of the others.
void use_approximations(FunctionLoops<double> *loops);

// The innermost loops of a function, the best for this processor.
template <class Function, class T> FunctionLoops<T> best_loops_of() {
  FunctionLoops<T> loops = loops_of<Function, T>();
  if constexpr (std::is_same_v<Function, LaplacePotential<double>>) use_approximations(&loops);
  return loops;
}

} // namespace host
} // namespace shellac
