#pragma once
// The rates in 2-D on the host. A block of columns is processed row by row, and the last few rows remain in the cache. The
// components are stored separately, so that every loop is vectorised.

#include "burgers/host.hpp"
#include "burgers/point.hpp"

namespace shellac {

// Columns of a block: many, because rows are contiguous in memory, but few enough for the L2 cache.
constexpr PetscInt plane_columns = 2048;

// The first value of row j, which may be in the halo; null if the row consists of given values.
template <class Real> const Real *plane_row(const BurgersPatch &patch, const Field<Real> &field, PetscInt j) {
  const Patch   &p = patch.patch;
  const PetscInt n = p.size[1];
  if (j < 0 || j >= n) {
    const int e = j < 0 ? 0 : 1;
    const End end = patch.end[1][e];
    if (end == End::value) return nullptr;
    if (end == End::halo) return field.halo[Direction::face(1, e)] + (size_t)(e ? j - n : j + p.width) * p.size[0] * 2;
    j = end == End::copy ? (e ? n - 1 : 0) : (j % n + n) % n;
  }
  return field.u + (size_t)j * p.size[0] * 2;
}

// u[c][0..n) = component c of the cells from (first, j) on; of a row of the patch with r more on both sides.
template <int r, class Real>
void load_plane_row(const BurgersPatch &patch, const Field<Real> &field, PetscInt first, PetscInt j, PetscInt n,
                    Real *const u[2]) {
  const Real *row = plane_row(patch, field, j);
  if (row)
    take_apart(row + 2 * (size_t)first, n, u[0], u[1]);
  else
    for (int c = 0; c < 2; c++) std::fill_n(u[c], n, patch.beyond[c][1][j < 0 ? 0 : 1]);
  if (j < 0 || j >= patch.patch.size[1]) return;
  for (int e = 0; e < 2; e++)
    for (int g = 1; g <= r; g++) {
      const PetscInt p[2] = {e ? first + n - 1 : first, j}, offset = e ? g : -g;
      PetscInt       q[3];
      const bool     found = find_cell(patch, p, 0, offset, q);
      for (int c = 0; c < 2; c++)
        u[c][e ? n - 1 + g : -g] = found ? field.value(patch.patch, q, c) : patch.beyond[c][0][e];
    }
}

// The data of the rates of a row of cells.
template <class Real> struct PlaneRows {
  const Real *u[2][3];    // [component][row below, here, above]
  const Real *x[2][2];    // [component][lower, upper]: edges along the row, from the cell before it
  const Real *y[2][3][2]; // [component][row][lower, upper]: edges across it
};

template <bool viscous, class Faces, class Real>
SHELLAC_WIDEST __attribute__((flatten)) void row_rates(Faces along, Faces across, const PlaneRows<Real> &rows,
                                                       PetscInt n, Real *u_rate, Real *v_rate) {
  const PlaneRows<Real> in = rows;
  if (!viscous) along.at.nu2_h = across.at.nu2_h = 0; // so that the compiler leaves the terms out

#pragma GCC ivdep
  for (PetscInt i = 0; i < n; i++) {
    Edges<Real> x[2][3], y[2][3];
    Real        ux[2][3], uy[2][3];
    SHELLAC_UNROLL_ALL
    for (int c = 0; c < 2; c++) {
      SHELLAC_UNROLL_ALL
      for (int o = 0; o < 3; o++) {
        x[c][o] = {in.x[c][0][i + o - 1], in.x[c][1][i + o - 1]};
        y[c][o] = {in.y[c][o][0][i], in.y[c][o][1][i]};
        ux[c][o] = in.u[c][1][i + o - 1];
        uy[c][o] = in.u[c][o][i];
      }
    }
    u_rate[i] = rate_along(along, x[0], ux[0]) + rate_across(across, uy[1][1], y[0], uy[0]);
    v_rate[i] = rate_across(along, ux[0][1], x[1], ux[1]) + rate_along(across, y[1], uy[1]);
  }
}

// n rates from the first one on become the next state.
template <class Real>
SHELLAC_WIDEST void advance_values(const Stage &stage, size_t first, size_t n, const Real *u, Real *rates) {
  const Stage here = stage;
#pragma GCC ivdep
  for (size_t k = first; k < first + n; k++) rates[k] = advance(here, k, u[k], rates[k]);
}

// Raises extremes, where not null, as rates_on_host() does.
template <class Scheme, class Real>
void rates_2d_on_host(const BurgersPatch &patch, const Field<Real> &field, const Stage &stage, Extremes *extremes,
                      Real *to) {
  constexpr int  r = Scheme::radius, er = Scheme::edge_radius, kept = std::max(er, 2) + er + 1;
  constexpr int  stride = (int)plane_columns + 2 * r + 2 + 72; // rows lie apart in the sets of the first cache
  const PetscInt nx = patch.patch.size[0], ny = patch.patch.size[1];
  const bool     viscous = patch.at[0].nu2_h != 0 || patch.at[1].nu2_h != 0;
  const typename Scheme::Faces along(patch.at[0]), across(patch.at[1]);
  // rows are named by their number modulo how many are kept
  std::vector<Real> memory(2 * (kept + 2 + 3 * 2) * stride + 2 * plane_columns);
  Real             *free = memory.data() + r;
  const auto        take = [&] {
    Real *taken = free;
    free += stride;
    return taken;
  };
  Real *values[kept][2], *x[2][2], *y[3][2][2]; // [row][component]; [component][lower, upper]; both
  for (auto &row : values)
    for (Real *&u : row) u = take();
  for (auto &component : x)
    for (Real *&edge : component) edge = take();
  for (auto &row : y)
    for (auto &component : row)
      for (Real *&edge : component) edge = take();
  Real      *out[2] = {free - r, free - r + plane_columns};
  const auto row_of = [&](PetscInt j) { return values[(j + 4 * kept) % kept]; };

  for (PetscInt first = 0; first < nx; first += plane_columns) {
    const PetscInt n = PetscMin(plane_columns, nx - first);
    for (PetscInt j = -r; j < er - 1; j++) load_plane_row<r>(patch, field, first, j, n, row_of(j));
    for (PetscInt m = -1; m <= ny; m++) { // the edges of row m, then the rates of the row before
      load_plane_row<r>(patch, field, first, m + er, n, row_of(m + er));
      if constexpr (er > 0)
        for (int c = 0; c < 2; c++) {
          const Real *rows[2 * er + 1];
          for (int k = 0; k <= 2 * er; k++) rows[k] = row_of(m + k - er)[c];
          RowEdges<typename Scheme::Edge>::across(rows, n, y[(m + 3) % 3][c][0], y[(m + 3) % 3][c][1]);
        }
      const PetscInt j = m - 1;
      if (j < 0) continue;
      PlaneRows<Real> rows;
      for (int c = 0; c < 2; c++) {
        for (int o = 0; o < 3; o++) rows.u[c][o] = row_of(j + o - 1)[c];
        if constexpr (er > 0) RowEdges<typename Scheme::Edge>::along(rows.u[c][1], n, x[c][0], x[c][1]);
        for (int s = 0; s < 2; s++) {
          rows.x[c][s] = er > 0 ? x[c][s] : rows.u[c][1];
          for (int o = 0; o < 3; o++) rows.y[c][o][s] = er > 0 ? y[(j + o - 1 + 3) % 3][c][s] : rows.u[c][o];
        }
      }
      if (viscous)
        row_rates<true>(along, across, rows, n, out[0], out[1]);
      else
        row_rates<false>(along, across, rows, n, out[0], out[1]);
      for (int c = 0; c < 2; c++) {
        if ((patch.frozen[1][0] && j == 0) || (patch.frozen[1][1] && j == ny - 1)) std::fill_n(out[c], n, Real(0));
        if (patch.frozen[0][0] && first == 0) out[c][0] = 0;
        if (patch.frozen[0][1] && first + n == nx) out[c][n - 1] = 0;
        if (extremes) raise_extremes(rows.u[c][1], (const Real *)out[c], n, extremes);
      }
      const size_t row = 2 * ((size_t)j * nx + first);
      put_together((const Real *)out[0], (const Real *)out[1], n, to + row);
      if (stage.u0) advance_values(stage, row, 2 * (size_t)n, field.u, to);
    }
  }
}

} // namespace shellac
