#pragma once
// The residual of a row and a smoothing step, which all passes call: at points, over rows on the host, and on GPUs.

#include "device/scalars.hpp"

namespace shellac {

// A coupling's part of a residual.
template <class T, class K> SHELLAC_HD T flux(K coupling, T neighbour, T center) {
  return coupling * (neighbour - center);
}

// r + Σ coupling (neighbour - center) over pairs of a coupling and a neighbour's value, in their order.
template <class T> SHELLAC_HD T add_fluxes(T r, T) {
  return r;
}
template <class T, class K, class... More>
SHELLAC_HD T add_fluxes(T r, T center, K coupling, T neighbour, More... more) {
#if defined(__CUDA_ARCH__)
  r += flux(coupling, neighbour, center);
#else
  r -= coupling * (center - neighbour); // the same bits; the neighbour's load is part of the subtraction
#endif
  return add_fluxes(r, center, more...);
}

// f - A u at a point, by its row's shift and such pairs. Differences have the rounding errors of smooth functions'
// second differences.
template <class T, class... Pairs> SHELLAC_HD T residual_of(T f, T shift, T center, Pairs... pairs) {
  return add_fluxes(f - shift * center, center, pairs...);
}

// The inverse of a diagonal entry, or zero. On a GPU by Newton's method, since divisions have branches, and loads of
// the next point do not begin before them.
template <class T> SHELLAC_HD T inverse_of(T diagonal) {
  return diagonal == T(0) ? T(0) : typename RealOf<T>::type(1) / diagonal;
}
#if defined(__CUDA_ARCH__)
template <> SHELLAC_HD double inverse_of(double diagonal) {
  double inverse;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(diagonal)); // to 20 bits
  for (int n = 0; n < 2; n++) inverse = fma(inverse, fma(-diagonal, inverse, 1.), inverse);
  return diagonal == 0 ? 0 : inverse;
}
#endif

// A step of weighted Jacobi, u + ω D^-1 (f - A u); scale: ω D^-1. Those of one colour, and of point blocks, are the same.
template <class T, class Scale> SHELLAC_HD T jacobi_step(T u, Scale scale, T residual) {
  return u + scale * residual;
}

} // namespace shellac
