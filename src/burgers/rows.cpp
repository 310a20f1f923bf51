#include "burgers/rows.hpp"

#include <cstdint>

#include "device/stream.hpp"

namespace shellac {

namespace {

template <class Reconstruction>
SHELLAC_WIDEST __attribute__((flatten)) void edges_along(const PetscReal *u, PetscInt n, PetscReal *lower,
                                                         PetscReal *upper) {
  SHELLAC_COLUMNS
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
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) {
    PetscReal u[count];
    SHELLAC_UNROLL_ALL
    for (int k = 0; k < count; k++) u[k] = row[k][i];
    const Edges<PetscReal> e = Reconstruction::edges(u);
    lower[i] = e.lower;
    upper[i] = e.upper;
  }
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

SHELLAC_WIDEST void take_apart(const PetscReal *both, PetscInt n, PetscReal *u, PetscReal *v) {
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) {
    u[i] = both[2 * i];
    v[i] = both[2 * i + 1];
  }
}

SHELLAC_WIDEST void put_together(const PetscReal *u, const PetscReal *v, PetscInt n, PetscReal *both) {
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) {
    both[2 * i] = u[i];
    both[2 * i + 1] = v[i];
  }
}

SHELLAC_WIDEST __attribute__((flatten)) void advance_row(const Stages &stages, int s, PetscInt n, const PetscReal *u0,
                                                         PetscReal dt, const PetscReal *rate, PetscReal *u) {
  const PetscReal a = stages.a[s], b = stages.b[s];
  if (s == 0) {
    SHELLAC_COLUMNS
    for (PetscInt i = 0; i < n; i++) u[i] = advance(true, a, b, u[i], u[i], dt, rate[i]);
  } else {
    SHELLAC_COLUMNS
    for (PetscInt i = 0; i < n; i++) u[i] = advance(false, a, b, u0[i], u[i], dt, rate[i]);
  }
}

SHELLAC_WIDEST unsigned long long largest_bits(const PetscReal *x, PetscInt n) {
  std::int64_t largest = 0;
  for (PetscInt i = 0; i < n; i++) {
    const std::int64_t bits = (std::int64_t)magnitude_bits((double)x[i]);
    largest = largest > bits ? largest : bits;
  }
  return (unsigned long long)largest;
}

SHELLAC_WIDEST void into_lanes(const PetscReal *from, PetscInt n, PetscInt length, PetscReal *to) {
  const PetscInt full = n - (lane_count - 1) * length; // the last lane has fewer cells
  for (PetscInt i = 0; i < length; i++)
    for (int w = 0; w < lane_count; w++)
      to[i * lane_count + w] = from[w * length + (w == lane_count - 1 && i >= full ? full - 1 : i)];
}

} // namespace shellac
