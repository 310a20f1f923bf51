#include "burgers/rows.hpp"

#include <cstdint>

#include "device/stream.hpp"

namespace shellac {

namespace {

template <class Reconstruction>
SHELLAC_WIDEST __attribute__((flatten)) void edges_along(const PetscReal *u, PetscInt n, PetscReal *lower,
                                                         PetscReal *upper) {
#pragma GCC                                  ivdep
  for (PetscInt i = -1; i <= n; i++) {
                                     const Edges<PetscReal> e = Reconstruction::edges(u + i - Reconstruction::radius);
                                     lower[i] = e.lower;
                                     upper[i] = e.upper;
  }
}

template <class Reconstruction>
SHELLAC_WIDEST __attribute__((flatten)) void edges_across(const PetscReal *const *rows, PetscInt n, PetscReal *lower,
                                                          PetscReal *upper) {
  constexpr int    count = 2 * Reconstruction::radius + 1;
  const PetscReal *row[count];
  for (int k = 0; k < count; k++) row[k] = rows[k];
#pragma GCC ivdep
  for (PetscInt i = 0; i < n; i++) {
    PetscReal u[count];
    SHELLAC_UNROLL_ALL
    for (int k = 0; k < count; k++) u[k] = row[k][i];
    const Edges<PetscReal> e = Reconstruction::edges(u);
    lower[i] = e.lower;
    upper[i] = e.upper;
  }
}

template <class Real> SHELLAC_WIDEST void take_apart_loop(const Real *both, PetscInt n, Real *u, Real *v) {
#pragma GCC                               ivdep
  for (PetscInt i = 0; i < n; i++) {
                                  u[i] = both[2 * i];
                                  v[i] = both[2 * i + 1];
  }
}

template <class Real> SHELLAC_WIDEST void put_together_loop(const Real *u, const Real *v, PetscInt n, Real *both) {
#pragma GCC                               ivdep
  for (PetscInt i = 0; i < n; i++) {
                                  both[2 * i] = u[i];
                                  both[2 * i + 1] = v[i];
  }
}

template <class Real>
SHELLAC_WIDEST __attribute__((flatten)) void advance_loop(bool first, Real a, Real b, PetscInt n, const Real *u0,
                                                          Real dt, const Real *rate, Real *u) {
  if (first) {
#pragma GCC ivdep
    for (PetscInt i = 0; i < n; i++) u[i] = advance(true, a, b, u[i], u[i], dt, rate[i]);
  } else {
#pragma GCC ivdep
    for (PetscInt i = 0; i < n; i++) u[i] = advance(false, a, b, u0[i], u[i], dt, rate[i]);
  }
}

template <class Real> SHELLAC_WIDEST unsigned long long largest_loop(const Real *x, PetscInt n) {
  std::int64_t largest = 0;
  for (PetscInt i = 0; i < n; i++) {
    const std::int64_t bits = (std::int64_t)magnitude_bits((double)x[i]);
    largest = largest > bits ? largest : bits;
  }
  return (unsigned long long)largest;
}

template <class Real> SHELLAC_WIDEST void into_lanes_loop(const Real *from, PetscInt n, PetscInt length, Real *to) {
  const PetscInt full = n - (lane_count - 1) * length; // the last lane has fewer cells
  for (PetscInt i = 0; i < length; i++)
    for (int w = 0; w < lane_count; w++)
      to[i * lane_count + w] = from[w * length + (w == lane_count - 1 && i >= full ? full - 1 : i)];
}

} // namespace

template <class Reconstruction>
void RowEdges<Reconstruction>::along(const PetscReal *u, PetscInt n, PetscReal *lower, PetscReal *upper) {
  edges_along<Reconstruction>(u, n, lower, upper);
}
template <class Reconstruction>
void RowEdges<Reconstruction>::across(const PetscReal *const *rows, PetscInt n, PetscReal *lower, PetscReal *upper) {
  edges_across<Reconstruction>(rows, n, lower, upper);
}
template struct RowEdges<Minmod<PetscReal>>;
template struct RowEdges<VanLeer<PetscReal>>;
template struct RowEdges<Weno5<PetscReal>>;

void take_apart(const PetscReal *both, PetscInt n, PetscReal *u, PetscReal *v) {
  take_apart_loop(both, n, u, v);
}
void put_together(const PetscReal *u, const PetscReal *v, PetscInt n, PetscReal *both) {
  put_together_loop(u, v, n, both);
}
void advance_row(const Stages &stages, int s, PetscInt n, const PetscReal *u0, PetscReal dt, const PetscReal *rate,
                 PetscReal *u) {
  advance_loop(s == 0, stages.a[s], stages.b[s], n, u0, dt, rate, u);
}
unsigned long long largest_bits(const PetscReal *x, PetscInt n) {
  return largest_loop(x, n);
}
void into_lanes(const PetscReal *from, PetscInt n, PetscInt length, PetscReal *to) {
  into_lanes_loop(from, n, length, to);
}

} // namespace shellac
