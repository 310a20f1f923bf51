#include "burgers/host.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace shellac {

using Real = PetscReal;

namespace {

constexpr PetscInt rates_chunk = 256; // of one pass: loads, stores and arithmetic are all under way
// Columns of a block in 2-D: many, because rows are contiguous in memory, but few enough for the L2 cache.
constexpr PetscInt plane_columns = 2048;
constexpr int      most_radius = 3;

template <class Reconstruction, class T>
SHELLAC_WIDEST __attribute__((flatten)) void edges_of_rows(const T *const *rows, PetscInt n, T *lower, T *upper) {
  constexpr int count = 2 * Reconstruction::radius + 1;
  const T      *row[count];
  for (int k = 0; k < count; k++) row[k] = rows[k];
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) {
    T u[count];
    SHELLAC_UNROLL_ALL
    for (int k = 0; k < count; k++) u[k] = row[k][i];
    const Edges<T> e = Reconstruction::edges(u);
    lower[i] = e.lower;
    upper[i] = e.upper;
  }
}
template <class Reconstruction> HostScheme with_edges() {
  HostScheme scheme;
  scheme.edge_radius = Reconstruction::radius;
  scheme.rates.edges = edges_of_rows<Reconstruction, Real>;
  scheme.derivatives.edges = edges_of_rows<Reconstruction, Dual<Real>>;
  return scheme;
}

// The edges of n cells along a row, whose first one is u[0].
template <class T>
void edges_along(const RowScheme<T> &scheme, int radius, const T *u, PetscInt n, T *lower, T *upper) {
  const T *rows[2 * most_radius + 1];
  for (int k = 0; k <= 2 * radius; k++) rows[k] = u + k - radius;
  scheme.edges(rows, n, lower, upper);
}

// rate[0..n) from u[-radius .. n + radius), n <= host_chunk plus halos.
template <class T>
void row_rates(const RowScheme<T> &scheme, int edge_radius, const Coefficients<Real> &at, const T *u, PetscInt n,
               T *rate) {
  T        lower[most_cells + 2], upper[most_cells + 2]; // of cell i - 1
  const T *below = u - 1, *above = u;
  if (scheme.edges) {
    edges_along(scheme, edge_radius, u - 1, n + 2, lower, upper);
    below = upper, above = lower + 1;
  }
  scheme.line(at, below, above, u, n, rate);
}

// Raises extremes to those of n cells. Rates of small states are finite: no product in a scheme leaves the range of a
// double.
void raise_extremes(const Real *u, const Real *rate, PetscInt n, Extremes *extremes) {
  const unsigned long long state = largest_bits(u, n);
  extremes->state = std::max(extremes->state, state);
  if (sizeof(Real) < 8 || state > magnitude_bits(1e15))
    extremes->rate = std::max(extremes->rate, largest_bits(rate, n));
}

// Stage s of a step of Δt: u[0..n) from u, its rates, and the state u0 at the start of the step.
SHELLAC_WIDEST __attribute__((flatten)) void advance_row(const Stages &stages, int s, PetscInt n, const Real *u0,
                                                         Real dt, const Real *rate, Real *u) {
  const Real a = stages.a[s], b = stages.b[s];
  if (s == 0) {
    SHELLAC_COLUMNS
    for (PetscInt i = 0; i < n; i++) u[i] = advance(true, a, b, u[i], u[i], dt, rate[i]);
  } else {
    SHELLAC_COLUMNS
    for (PetscInt i = 0; i < n; i++) u[i] = advance(false, a, b, u0[i], u[i], dt, rate[i]);
  }
}

// n rates from the first one on become the next state.
SHELLAC_WIDEST void advance_values(const Stage &stage, size_t first, size_t n, const Real *u, Real *rates) {
  const Stage here = stage;
  SHELLAC_COLUMNS
  for (size_t k = first; k < first + n; k++) rates[k] = advance(here, k, u[k], rates[k]);
}

// A value, or one with its derivative, which v has.
template <class T> inline T value_at(const Real *u, const Real *v, PetscInt n) {
  if constexpr (std::is_same_v<T, Real>)
    return u[n];
  else
    return {u[n], v[n]};
}

// Interleaved components: apart, and together again.
template <class T> SHELLAC_WIDEST void take_apart(const Real *both, const Real *v, PetscInt n, T *x, T *y) {
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) {
    x[i] = value_at<T>(both, v, 2 * i);
    y[i] = value_at<T>(both, v, 2 * i + 1);
  }
}
SHELLAC_WIDEST void put_together(const Real *x, const Real *y, PetscInt n, Real *both) {
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) {
    both[2 * i] = x[i];
    both[2 * i + 1] = y[i];
  }
}

// The components `offset` steps from p along an axis; v: the derivatives. Whether they are a cell's, and not given ones.
template <class T>
bool values_near(const BurgersPatch &patch, const Field<Real> &u, const Field<Real> &v, const PetscInt p[2], int axis,
                 PetscInt offset, PetscInt q[3], T *const to[2]) {
  const bool found = find_cell(patch, p, axis, offset, q);
  for (int c = 0; c < patch.dim; c++) {
    *to[c] = found ? u.value(patch.patch, q, c) : patch.beyond[c][axis][offset < 0 ? 0 : 1];
    if constexpr (!std::is_same_v<T, Real>) to[c]->d = found ? v.value(patch.patch, q, c) : 0;
  }
  return found;
}

// to[c][0..n) = component c of the cells from (first, j) on; of a row of the patch with r more on both sides.
template <class T>
void load_plane_row(const BurgersPatch &patch, const Field<Real> &u, const Field<Real> &v, int r, PetscInt first,
                    PetscInt j, PetscInt n, T *const to[2]) {
  const PetscInt origin[2] = {0, 0};
  PetscInt       q[3];
  if (find_cell(patch, origin, 1, j, q))
    take_apart(u.line(patch.patch, q[1], 0) + 2 * (size_t)first, v.line(patch.patch, q[1], 0) + 2 * (size_t)first, n,
               to[0], to[1]);
  else
    for (int c = 0; c < 2; c++) std::fill_n(to[c], n, T(patch.beyond[c][1][j < 0 ? 0 : 1]));
  if (j < 0 || j >= patch.patch.size[1]) return;
  for (int e = 0; e < 2; e++)
    for (int g = 1; g <= r; g++) {
      const PetscInt p[2] = {e ? first + n - 1 : first, j}, at = e ? n - 1 + g : -g;
      T *const       beside[2] = {to[0] + at, to[1] + at};
      values_near(patch, u, v, p, 0, e ? g : -g, q, beside);
    }
}

// The rates in 2-D. A block of columns is processed row by row, and the last few rows remain in the cache. The components
// are stored separately, so that every loop is vectorised. finish(first, n, state, rate) takes n cells from the first one
// on, [component] each.
template <class T, class Finish>
void for_each_plane_row(const HostScheme &host, const RowScheme<T> &scheme, const BurgersPatch &patch,
                        const Field<Real> &u, const Field<Real> &v, const Finish &finish) {
  constexpr int stride = (int)plane_columns + 2 * most_radius + 2 + 72; // rows lie apart in the sets of the first cache
  constexpr int most_kept = 5;
  const int     er = host.edge_radius, r = host.radius(), kept = std::max(er, 2) + er + 1;
  const PetscInt nx = patch.patch.size[0], ny = patch.patch.size[1];
  // rows are named by their number modulo how many are kept
  std::vector<T> memory(2 * (kept + 2 + 3 * 2) * stride + 2 * plane_columns);
  T             *free = memory.data() + r;
  const auto     take = [&] {
    T *taken = free;
    free += stride;
    return taken;
  };
  T *values[most_kept][2], *x[2][2], *y[3][2][2]; // [row][component]; [component][lower, upper]; both
  for (int k = 0; k < kept; k++)
    for (T *&row : values[k]) row = take();
  for (auto &component : x)
    for (T *&edge : component) edge = take();
  for (auto &row : y)
    for (auto &component : row)
      for (T *&edge : component) edge = take();
  T *const   out[2] = {free - r, free - r + plane_columns};
  const auto row_of = [&](PetscInt j) { return values[(j + 4 * kept) % kept]; };

  for (PetscInt first = 0; first < nx; first += plane_columns) {
    const PetscInt n = PetscMin(plane_columns, nx - first);
    for (PetscInt j = -r; j < er - 1; j++) load_plane_row<T>(patch, u, v, r, first, j, n, row_of(j));
    for (PetscInt m = -1; m <= ny; m++) { // the edges of row m, then the rates of the row before
      load_plane_row<T>(patch, u, v, r, first, m + er, n, row_of(m + er));
      if (er > 0)
        for (int c = 0; c < 2; c++) {
          const T *rows[2 * most_radius + 1];
          for (int k = 0; k <= 2 * er; k++) rows[k] = row_of(m + k - er)[c];
          scheme.edges(rows, n, y[(m + 3) % 3][c][0], y[(m + 3) % 3][c][1]);
        }
      const PetscInt j = m - 1;
      if (j < 0) continue;
      PlaneRows<T> rows;
      for (int c = 0; c < 2; c++) {
        for (int o = 0; o < 3; o++) rows.u[c][o] = row_of(j + o - 1)[c];
        if (er > 0) edges_along(scheme, er, rows.u[c][1] - 1, n + 2, x[c][0] - 1, x[c][1] - 1);
        for (int s = 0; s < 2; s++) {
          rows.x[c][s] = er > 0 ? x[c][s] : rows.u[c][1];
          for (int o = 0; o < 3; o++) rows.y[c][o][s] = er > 0 ? y[(j + o - 1 + 3) % 3][c][s] : rows.u[c][o];
        }
      }
      scheme.plane(patch.at, rows, n, out[0], out[1]);
      for (int c = 0; c < 2; c++) {
        if ((patch.frozen[1][0] && j == 0) || (patch.frozen[1][1] && j == ny - 1)) std::fill_n(out[c], n, T(0));
        if (patch.frozen[0][0] && first == 0) out[c][0] = T(0);
        if (patch.frozen[0][1] && first + n == nx) out[c][n - 1] = T(0);
      }
      const T *const state[2] = {rows.u[0][1], rows.u[1][1]};
      finish((size_t)j * nx + first, n, state, out);
    }
  }
}

} // namespace

HostScheme with_edges_of(Reconstruction reconstruction) {
  if (reconstruction == Reconstruction::minmod) return with_edges<Minmod<Real>>();
  if (reconstruction == Reconstruction::vanleer) return with_edges<VanLeer<Real>>();
  if (reconstruction == Reconstruction::weno5) return with_edges<Weno5<Real>>();
  return {};
}

SHELLAC_WIDEST unsigned long long largest_bits(const Real *x, PetscInt n) {
  std::int64_t largest = 0;
  for (PetscInt i = 0; i < n; i++) {
    const std::int64_t bits = (std::int64_t)magnitude_bits((double)x[i]);
    largest = largest > bits ? largest : bits;
  }
  return (unsigned long long)largest;
}

SHELLAC_WIDEST void into_lanes(const Real *from, PetscInt n, PetscInt length, Real *to) {
  const PetscInt full = n - (lane_count - 1) * length; // the last lane has fewer cells
  for (PetscInt i = 0; i < length; i++)
    for (int w = 0; w < lane_count; w++)
      to[i * lane_count + w] = from[w * length + (w == lane_count - 1 && i >= full ? full - 1 : i)];
}

void rates_on_host(const HostScheme &scheme, const Coefficients<Real> &at, const Line<Real> &line, Extremes *extremes,
                   Real *rate) {
  const int  r = scheme.radius();
  const bool past = beyond_cache((size_t)line.n * sizeof(Real));
  Real       buffer[rates_chunk], window[rates_chunk + 2 * most_radius];
  for (PetscInt from = 0; from < line.n; from += rates_chunk) {
    const PetscInt n = PetscMin(rates_chunk, line.n - from);
    const Real    *u = line.u + from;
    Real          *out = past ? buffer : rate + from;
    if (from < r || from + n + r > line.n) {
      for (PetscInt i = 0; i < n + 2 * r; i++) window[i] = line(from + i - r);
      u = window + r;
    }
    if (past && from + n + 2048 < line.n) // nearer than prefetch() does: chunks are short
      for (PetscInt i = 0; i < n; i += 64 / sizeof(Real)) __builtin_prefetch(u + 4096 / sizeof(Real) + i, 0, 2);
    row_rates(scheme.rates, scheme.edge_radius, at, u, n, out);
    if (from == 0 && line.frozen[0]) out[0] = 0;
    if (from + n == line.n && line.frozen[1]) out[n - 1] = 0;
    if (extremes) raise_extremes(u, out, n, extremes);
    if (past) stream_copy(rate + from, (const Real *)buffer, n);
  }
  if (past) stream_fence();
}

void rates_2d_on_host(const HostScheme &scheme, const BurgersPatch &patch, const Field<Real> &u, const Stage &stage,
                      Extremes *extremes, Real *to) {
  for_each_plane_row(scheme, scheme.rates, patch, u, u,
                     [&](size_t first, PetscInt n, const Real *const state[2], Real *const rate[2]) {
                       for (int c = 0; c < 2; c++)
                         if (extremes) raise_extremes(state[c], rate[c], n, extremes);
                       put_together(rate[0], rate[1], n, to + 2 * first);
                       if (stage.u0) advance_values(stage, 2 * first, 2 * (size_t)n, u.u, to);
                     });
}

void steps_on_host(const HostScheme &scheme, const Coefficients<Real> &at, const Line<Real> &line, const Stages &stages,
                   Real dt, int steps, Real *result) {
  const PetscInt    chunk = (scheme.lanes ? 2 : 1) * host_chunk, most = chunk + 2 * 64;
  const int         r = scheme.radius();
  const PetscInt    halo = (PetscInt)steps * stages.count * r;
  std::vector<Real> memory(3 * (most + 2 * r));
  Real             *u = memory.data() + r, *u0 = u + most + 2 * r, *rate = u0 + most + 2 * r;
  Real             *lanes = (Real *)(((uintptr_t)memory.data() + 63) / 64 * 64);

  for (PetscInt from = 0; from < line.n; from += chunk) {
    const PetscInt n = PetscMin(chunk, line.n - from);
    PetscInt       lo = from - halo, hi = from + n + halo; // u[0] is the cell lo
    const bool     ends[2] = {line.at_domain_end(0) && lo <= 0, line.at_domain_end(1) && hi >= line.n};
    if (ends[0]) lo = 0;
    if (ends[1]) hi = line.n;
    const bool inner = lo >= 0 && hi <= line.n;
    if (scheme.lanes && inner && !ends[0] && !ends[1] && hi - lo >= least_in_lanes) {
      scheme.lanes(at, stages, dt, steps, hi - lo, halo, line.u + lo, lanes, result + lo);
      continue;
    }
    if (inner)
      memcpy(u, line.u + lo, (hi - lo) * sizeof(Real));
    else
      for (PetscInt i = lo; i < hi; i++) u[i - lo] = line(i);
    PetscInt begin = 0, end = hi - lo; // what is right of u
    for (int step = 0; step < steps; step++) {
      if (stages.count > 1) memcpy(u0 + begin, u + begin, (end - begin) * sizeof(Real));
      for (int s = 0; s < stages.count; s++) {
        for (int g = 0; g < r; g++) {
          if (ends[0]) u[-1 - g] = line.end[0] == End::copy ? u[0] : line.beyond[0];
          if (ends[1]) u[hi - lo + g] = line.end[1] == End::copy ? u[hi - lo - 1] : line.beyond[1];
        }
        if (!ends[0]) begin += r;
        if (!ends[1]) end -= r;
        row_rates(scheme.rates, scheme.edge_radius, at, (const Real *)u + begin, end - begin, rate + begin);
        if (ends[0] && line.frozen[0]) rate[0] = 0;
        if (ends[1] && line.frozen[1]) rate[hi - lo - 1] = 0;
        advance_row(stages, s, end - begin, u0 + begin, dt, rate + begin, u + begin);
      }
    }
    memcpy(result + from, u + from - lo, n * sizeof(Real));
  }
}

void jacobian_on_host(const HostScheme &scheme, const BurgersPatch &patch, const Field<Real> &u, const Field<Real> &v,
                      Real shift, Real scale, Real *y) {
  if (patch.dim == 2) {
    for_each_plane_row(scheme, scheme.derivatives, patch, u, v,
                       [&](size_t first, PetscInt n, const Dual<Real> *const state[2], Dual<Real> *const rate[2]) {
                         for (PetscInt i = 0; i < n; i++)
                           for (int c = 0; c < 2; c++)
                             y[2 * (first + i) + c] = shift * state[c][i].d + scale * rate[c][i].d;
                       });
    return;
  }
  const int        r = scheme.radius();
  const PetscInt   cells = patch.patch.size[0];
  const Line<Real> state = burgers_line(patch, u, r);
  Line<Real>       along = burgers_line(patch, v, r);
  Dual<Real>       window[rates_chunk + 2 * most_radius], rate[rates_chunk];
  along.beyond[0] = along.beyond[1] = 0;
  for (PetscInt from = 0; from < cells; from += rates_chunk) {
    const PetscInt n = PetscMin(rates_chunk, cells - from);
    for (PetscInt i = -r; i < n + r; i++) window[r + i] = {state(from + i), along(from + i)};
    row_rates(scheme.derivatives, scheme.edge_radius, patch.at[0], window + r, n, rate);
    if (from == 0 && state.frozen[0]) rate[0] = 0;
    if (from + n == cells && state.frozen[1]) rate[n - 1] = 0;
    for (PetscInt i = 0; i < n; i++) y[from + i] = shift * window[r + i].d + scale * rate[i].d;
  }
}

// One derivative after another, with respect to each component of each cell on the arms.
void jacobian_rows_on_host(const HostScheme &scheme, const BurgersPatch &patch, const Field<Real> &field,
                           const PetscInt p[2], std::vector<JacobianEntry> *entries) {
  constexpr int                width = 2 * most_radius + 1;
  const RowScheme<Dual<Real>> &derivatives = scheme.derivatives;
  const int                    r = scheme.radius(), er = scheme.edge_radius, dim = patch.dim;
  int                          cells = 0, cell_at[2][width]; // [axis][offset + r]: several places may share a cell
  PetscInt                     q[3];
  Dual<Real>                   u[2][2][width]; // [axis][component][offset + r]
  entries->clear();
  for (int a = 0; a < dim; a++)
    for (PetscInt o = -r; o <= r; o++) {
      int              &cell = cell_at[a][o + r];
      Dual<Real> *const to[2] = {&u[a][0][o + r], &u[a][1][o + r]};
      cell = -1;
      if (!values_near(patch, field, field, p, a, o, q, to)) continue;
      for (int k = 0; k < cells; k++) {
        const JacobianEntry &entry = (*entries)[(size_t)k * dim];
        if (entry.p[0] == q[0] && entry.p[1] == q[1]) cell = k;
      }
      if (cell >= 0) continue;
      cell = cells++;
      for (PetscInt component = 0; component < dim; component++) entries->push_back({{q[0], q[1]}, component, {}});
    }
  if (is_frozen<2>(patch, p)) return;
  for (size_t e = 0; e < entries->size(); e++) {
    JacobianEntry &entry = (*entries)[e];
    Dual<Real>     rate[2], x[2][2][3], y[2][2][3]; // [component][lower, upper][place]
    for (int a = 0; a < dim; a++)
      for (int k = 0; k < dim; k++)
        for (int o = 0; o <= 2 * r; o++) u[a][k][o].d = cell_at[a][o] == (int)e / dim && k == entry.c;
    if (dim == 1)
      row_rates(derivatives, er, patch.at[0], u[0][0] + r, 1, rate);
    else {
      PlaneRows<Dual<Real>> rows;
      for (int k = 0; k < 2; k++) {
        const Dual<Real> *along = u[0][k] + r, *across = u[1][k] + r;
        if (er > 0) edges_along(derivatives, er, along - 1, 3, x[k][0], x[k][1]);
        if (er > 0) edges_along(derivatives, er, across - 1, 3, y[k][0], y[k][1]);
        for (int o = 0; o < 3; o++) rows.u[k][o] = o == 1 ? along : across + o - 1;
        for (int s = 0; s < 2; s++) {
          rows.x[k][s] = er > 0 ? x[k][s] + 1 : along;
          for (int o = 0; o < 3; o++) rows.y[k][o][s] = er > 0 ? y[k][s] + o : across + o - 1;
        }
      }
      derivatives.plane(patch.at, rows, 1, rate, rate + 1);
    }
    for (int k = 0; k < dim; k++) entry.value[k] = rate[k].d;
  }
}

} // namespace shellac
