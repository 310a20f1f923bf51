// The functions of a compiled equation on the host, after helpers.hpp: loops over regions, and manufactured solutions.

namespace shellac {
namespace equation {

// ---- loops ---------------------------------------------------------------------------------------------------------

#if defined(__clang__)
#define SHELLAC_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define SHELLAC_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SHELLAC_INDEPENDENT
#endif

// f(i, j, k, where values are read, place written) for all points of a region
template <class Function> inline void for_each_point(const Place &q, const Region &region, const Function &f) {
  for (Index k = region.start[2]; k < region.end[2]; k++)
    for (Index j = region.start[1]; j < region.end[1]; j++) {
      const Index from = place_read(q, 0, j, k), to = place_written(q, 0, j, k), last = region.end[0];
      SHELLAC_INDEPENDENT
      for (Index i = region.start[0]; i < last; i++) f(i, j, k, FromArrays{q, from + i}, to + i);
    }
}

// Near ends of the domain, a table of the neighbours: all entries of a point share it.
class TableNearEnds : public NearEnds {
public:
  SHELLAC_OUT_OF_LINE TableNearEnds(const Place &place, Index i, Index j, Index k) : NearEnds(place, i, j, k) {
    constexpr int    y = dim > 1 ? width : 0, z = dim > 2 ? width : 0;
    const FromArrays from = arrays();
    for (int dz = -z; dz <= z; dz++)
      for (int dy = -y; dy <= y; dy++)
        for (int dx = -width; dx <= width; dx++) {
          if (!in_stencil(dx, dy, dz)) continue;
          const int n = arm_of(dx, dy, dz);
          if (is_within(dx, dy, dz)) {
            for (int c = 0; c < unknowns; c++) neighbours_[c][n] = within(from, dx, dy, dz);
            if (field_count) fields_at_[n] = from.index(dx, dy, dz);
          } else {
            for (int c = 0; c < unknowns; c++) neighbours_[c][n] = beyond(from, c, dx, dy, dz);
            if (field_count) fields_at_[n] = field_at(dx, dy, dz);
          }
        }
  }
  const Neighbour &neighbour(int c, int dx, int dy, int dz) const { return neighbours_[c][arm_of(dx, dy, dz)]; }
  Scalar field(int f, int dx, int dy, int dz) const { return place_.fields[f][fields_at_[arm_of(dx, dy, dz)]]; }

private:
  Neighbour neighbours_[unknowns][arm_count];
  Index     fields_at_[field_count ? arm_count : 1];
};

// The same at ends of the domain.
template <class Function> inline void for_each_point_at_ends(const Place &q, const Region &region, const Function &f) {
  for_each_point(q, region, [&](Index i, Index j, Index k, const FromArrays &, Index to) {
    f(i, j, k, TableNearEnds(q, i, j, k), to);
  });
}
template <bool ends, class Function> inline void for_points(const Place &q, const Region &region, const Function &f) {
  if constexpr (ends)
    for_each_point_at_ends(q, region, f);
  else
    for_each_point(q, region, f);
}

// A loop whose body must be inlined completely: otherwise it is not vectorised.
#define SHELLAC_WHOLE __attribute__((flatten))

template <class Row, bool ends> SHELLAC_WHOLE void values_in(const Place &q, const Region &region, Scalar *out) {
  for_points<ends>(q, region, [&](Index i, Index j, Index k, const auto &from, Index to) {
    values_at<Row>(q, i, j, k, from, to, out + to * unknowns);
  });
}
template <class Row> void all_values(const Place *place, const Region *region, Scalar *out) {
  const Place q = *place; // its own copy: what is written does not change it
  region->ends ? values_in<Row, true>(q, *region, out) : values_in<Row, false>(q, *region, out);
}

// Entries of some slots of a row in one pass, which share the row's value and derivatives. With more slots a compiler keeps the
// derivatives in memory and does not vectorise; Clang does so for more than one slot.
#if defined(__clang__)
constexpr int most_slots_of_pass = 1, most_passes = 20;
#else
constexpr int most_slots_of_pass = 9, most_passes = 6;
#endif
constexpr int  passes_of_row = (slots_of_row - 1) / most_slots_of_pass + 1;
constexpr bool few_passes = unknowns * passes_of_row <= most_passes; // a compiler takes long over many
template <class Row, int r, int pass>
SHELLAC_WHOLE void entries_of_pass(const Place &q, const Region &region, Scalar *const *out) {
  constexpr int first = slots_of_row * pass / passes_of_row, count = slots_of_row * (pass + 1) / passes_of_row - first;
  Scalar       *to_slots[count];
  SHELLAC_EACH for (int n = 0; n < count; n++) to_slots[n] = out[r * slots_of_row + first + n];
  for_each_point(q, region, [&](Index i, Index j, Index k, const FromArrays &from, Index to) {
    Scalar entries[count];
    entries_of<Row, r>(q, Seeds<first, count>(), i, j, k, from, entries);
    SHELLAC_EACH for (int n = 0; n < count; n++) to_slots[n][to] = entries[n];
  });
}
template <class Row, int r = 0> void entries_by_loops(const Place &q, const Region &region, Scalar *const *out) {
  for (int first = 0; first < slots_of_row; first += slots_of_loop)
    for_each_point(q, region, [&](Index i, Index j, Index k, const FromArrays &from, Index to) {
      some_entries<Row, r>(q, first, i, j, k, from, to, out);
    });
  if constexpr (r + 1 < unknowns) entries_by_loops<Row, r + 1>(q, region, out);
}
// A part of the passes inside: those after the first `pass` ones, in steps of entry_parts.
constexpr int                       entry_parts = 2;
template <class Row, int pass> void part_of_entries(const Place *place, const Region *region, Scalar *const *out) {
  if constexpr (few_passes && pass < unknowns * passes_of_row) {
    const Place q = *place;
    entries_of_pass<Row, pass / passes_of_row, pass % passes_of_row>(q, *region, out);
    part_of_entries<Row, pass + entry_parts>(place, region, out);
  }
}

// What other parts of the source have.
#define SHELLAC_OF_A_PART extern "C" __attribute__((visibility("hidden")))
SHELLAC_OF_A_PART void    values_part(const Place *, const Region *, Scalar *);
SHELLAC_OF_A_PART void    entries_part_0(const Place *, const Region *, Scalar *const *);
SHELLAC_OF_A_PART void    entries_part_1(const Place *, const Region *, Scalar *const *);
template <class Row> void all_entries(const Place *place, const Region *region, Scalar *const *out) {
  if (region->ends) {
    for_each_point_at_ends(*place, *region, [&](Index i, Index j, Index k, const TableNearEnds &near, Index to) {
      entries_by_loop<Row>(*place, i, j, k, near, to, out);
    });
  } else if constexpr (few_passes) {
    entries_part_0(place, region, out);
    entries_part_1(place, region, out);
  } else
    entries_by_loops<Row>(*place, *region, out);
}

template <class Row, bool ends> SHELLAC_WHOLE void products_in(const Place &q, const Region &region, Scalar *out) {
  for_points<ends>(q, region, [&](Index i, Index j, Index k, const auto &from, Index to) {
    products_at<Row>(q, i, j, k, from, out + to * unknowns);
  });
}
template <class Row> void all_products(const Place *place, const Region *region, Scalar *out) {
  const Place q = *place;
  region->ends ? products_in<Row, true>(q, *region, out) : products_in<Row, false>(q, *region, out);
}
template <class Row, bool ends> void diagonals_in(const Place &q, const Region &region, Scalar *out) {
  for_points<ends>(q, region, [&](Index i, Index j, Index k, const auto &from, Index to) {
    diagonal_at<Row>(q, i, j, k, from, out + to * unknowns);
  });
}
template <class Row> void all_diagonals(const Place *place, const Region *region, Scalar *out) {
  const Place q = *place;
  region->ends ? diagonals_in<Row, true>(q, *region, out) : diagonals_in<Row, false>(q, *region, out);
}

// ---- functions of the coordinates alone ----------------------------------------------------------------------------

// Points beside each other along the first axis. Functions of coordinates are computed in vectors, at a few more of them than are needed.
constexpr int points_of_line = 64, points_of_vectors = 8;
template <class R> struct Line {
  int count;
  R   x[points_of_line], y, z;

  Line(const Place &q, Index i, Index j, Index k, int count)
      : count((count - 1) / points_of_vectors * points_of_vectors + points_of_vectors), y(coordinate<R>(q, 1, j)),
        z(coordinate<R>(q, 2, k)) {
    for (int n = 0; n < this->count; n++) x[n] = coordinate<R>(q, 0, i + (n < count ? n : 0));
  }
};
template <class Row, int c, class R>
__attribute__((noinline, flatten)) void values_on_line(const Place &q, const Line<R> &line, R dx, R dy, R dz, R t,
                                                       ScalarOf<R> *out) {
  const int count = line.count;
  const R   y = line.y + dy, z = line.z + dz;
  for (int m = 0; m < count; m += points_of_vectors)
    SHELLAC_INDEPENDENT for (int n = m; n < m + points_of_vectors; n++) out[n] =
        Row::template at<c, R>(q, line.x[n] + dx, y, z, t);
}

// f(i, j, k, number of points, place written of the first one) for all lines of a region
template <class Function> inline void for_each_line(const Place &q, const Region &region, const Function &f) {
  for (Index k = region.start[2]; k < region.end[2]; k++)
    for (Index j = region.start[1]; j < region.end[1]; j++)
      for (Index i = region.start[0]; i < region.end[0]; i += points_of_line) {
        const Index left = region.end[0] - i;
        f(i, j, k, (int)(left < points_of_line ? left : points_of_line), place_written(q, i, j, k));
      }
}

template <class Row, int c = 0>
inline void coordinates_at(const Place &q, const Line<Real> &line, int count, Scalar *out) {
  Scalar values[points_of_line];
  values_on_line<Row, c, Real>(q, line, 0, 0, 0, q.time, values);
  for (int n = 0; n < count; n++) out[n * unknowns + c] = values[n];
  if constexpr (c + 1 < unknowns) coordinates_at<Row, c + 1>(q, line, count, out);
}
template <class Row> void all_coordinates(const Place *q, const Region *region, Scalar *out) {
  for_each_line(*q, *region, [&](Index i, Index j, Index k, int count, Index to) {
    coordinates_at<Row>(*q, Line<Real>(*q, i, j, k, count), count, out + to * unknowns);
  });
}

// ---- manufactured solutions ------------------------------------------------------------------------------------------

// The exact solution, and the fields, around the points of a line of a grid of any spacing, which is uniform. They are computed where
// they are first read.
template <class R, class Exact, class Fields> class ExactLine {
public:
  using Value = ScalarOf<R>;

  const Place &place;

  ExactLine(const Place &q, Index i, Index j, Index k, int count) : place(q), line_(q, i, j, k, count) {}

  R    x(int axis, int n) const { return axis == 0 ? line_.x[n] : axis == 1 ? line_.y : line_.z; }
  R    h(int axis) const { return h_[axis]; }
  void set_spacing(R part) { // of the domain
    for (int a = 0; a < axes; a++) h_[a] = a < dim ? part * (place.end[a][1] - place.end[a][0]) : 1;
    for (auto &arms : made_)
      for (bool &made : arms) made = false;
  }
  template <int c> SHELLAC_OUT_OF_LINE Value unknown(int n, int dx, int dy, int dz) {
    return value<Exact, c>(c, n, dx, dy, dz);
  }
  template <int f> SHELLAC_OUT_OF_LINE Value field(int n, int dx, int dy, int dz) {
    return value<Fields, f>(unknowns + f, n, dx, dy, dz);
  }
  template <int c> void at_time(R t, Value *out) const { values_on_line<Exact, c, R>(place, line_, 0, 0, 0, t, out); }

private:
  template <class Row, int c> Value value(int row, int n, int dx, int dy, int dz) {
    // beyond the stencil reads what a value decides
    const bool near = in_stencil(dx, dy, dz);
    const int  arm = near ? arm_of(dx, dy, dz) : arm_count;
    if (!near || !made_[row][arm])
      values_on_line<Row, c, R>(place, line_, dx * h_[0], dy * h_[1], dz * h_[2], (R)place.time, values_[row][arm]);
    made_[row][arm] = true;
    return values_[row][arm][n];
  }

  Line<R> line_;
  R       h_[axes];
  bool    made_[unknowns + field_count][arm_count + 1];
  Value   values_[unknowns + field_count][arm_count + 1][points_of_line];
};

// A point of such a line.
template <class R, class Exact, class Fields> struct ExactPoint {
  using Real = R;
  using Scalar = ScalarOf<R>;
  using Number = equation::Number<Scalar, 0>;

  const Place                 &place;
  ExactLine<R, Exact, Fields> &line;
  int                          n;

  Real                    x(int axis) const { return line.x(axis, n); }
  Real                    h(int axis) const { return line.h(axis); }
  Real                    step(int axis, int) const { return h(axis); }
  Real                    inverse_h(int axis, int = 0) const { return 1 / h(axis); }
  Real                    inverse_step(int axis, int) const { return 1 / h(axis); }
  Real                    t() const { return place.time; }
  bool                    leaves(int, int) const { return false; }
  template <int c> Number unknown(int dx, int dy, int dz) const {
    return Number(line.template unknown<c>(n, dx, dy, dz));
  }
  template <int f> Scalar field(int dx, int dy, int dz) const { return line.template field<f>(n, dx, dy, dz); }
};

using Wide = long double; // for differences of an exact solution

// The equation's value at the exact solution in the limit of small spacings, by sixth-order extrapolation from three spacings
// (Richardson 1911). The source of a rate is the exact solution's derivative in time, minus the rate.
constexpr int spacings = 3;
template <class R> struct RowsOfLine { ScalarOf<R> at[unknowns][spacings][points_of_line]; };
template <class Row, int r = 0, class R, class Exact, class Fields>
SHELLAC_WHOLE void rows_of_line(ExactLine<R, Exact, Fields> &line, int count, int spacing, RowsOfLine<R> *rows) {
  for (int n = 0; n < count; n++)
    rows->at[r][spacing][n] = Row::template at<r>(ExactPoint<R, Exact, Fields>{line.place, line, n}).v;
  if constexpr (r + 1 < unknowns) rows_of_line<Row, r + 1>(line, count, spacing, rows);
}
template <class Row, int r = 0, class R, class Exact, class Fields>
inline void sources_of_line(const ExactLine<R, Exact, Fields> &line, int count, const RowsOfLine<R> &rows,
                            Scalar *out) {
  const auto &value = rows.at[r];
  const R     dt = R(1e-4L), t = line.place.time;
  ScalarOf<R> u[4][points_of_line]; // two steps of time back, to two ahead
  SHELLAC_EACH for (int s = 0; s < 4 && Row::is_rate; s++)
      line.template at_time<r>(t + (s < 2 ? s - 2 : s - 1) * dt, u[s]);
  for (int n = 0; n < count; n++) {
    const auto a = (4 * value[1][n] - value[0][n]) / 3, b = (4 * value[2][n] - value[1][n]) / 3,
               limit = (16 * b - a) / 15;
    if constexpr (Row::is_rate)
      out[n * unknowns + r] = Scalar((8 * (u[2][n] - u[1][n]) - (u[3][n] - u[0][n])) / (12 * dt) - limit);
    else
      out[n * unknowns + r] = Scalar(limit);
  }
  if constexpr (r + 1 < unknowns) sources_of_line<Row, r + 1>(line, count, rows, out);
}
template <class R, class Row, class Exact, class Fields>
SHELLAC_OUT_OF_LINE void sources_on_line(const Place &q, Index i, Index j, Index k, int count, Scalar *out) {
  ExactLine<R, Exact, Fields> line(q, i, j, k, count);
  RowsOfLine<R>               rows;
  for (int n = 0; n < spacings; n++) {
    line.set_spacing((R)q.step / (1 << n));
    rows_of_line<Row>(line, count, n, &rows);
  }
  sources_of_line<Row>(line, count, rows, out);
}

template <int r = 0> inline void clear_given(const Place &q, Index i, Index j, Index k, Scalar *out) {
  int axis, side;
  if (is_given(q, r, i, j, k, &axis, &side)) out[r] = 0;
  if constexpr (r + 1 < unknowns) clear_given<r + 1>(q, i, j, k, out);
}
template <class Row, class Exact, class Fields>
void all_sources(const Place *q, const Region *region, bool wide, Scalar *out) {
  for_each_line(*q, *region, [&](Index i, Index j, Index k, int count, Index to) {
    Scalar *const sources = out + to * unknowns;
    if (wide)
      sources_on_line<Wide, Row, Exact, Fields>(*q, i, j, k, count, sources);
    else
      sources_on_line<Real, Row, Exact, Fields>(*q, i, j, k, count, sources);
    for (int n = 0; n < count && region->ends; n++) clear_given(*q, i + n, j, k, sources + n * unknowns);
  });
}

// Whether sources need numbers wider than double, which take a hundred times as long: with double the error exceeds 1e-10 of the
// largest source, at some test points of the whole grid. The result is the same on every rank.
template <class Row, class Exact, class Fields> bool sources_are_wide(const Place *q) {
  constexpr int points = 8;
  Real          size = 0, error = 0;
  for (int p = 0; p < points; p++) {
    Scalar exact[unknowns], near[unknowns];
    Index  at[axes];
    for (int a = 0; a < axes; a++) at[a] = q->N[a] * (2 * (p * (2 * a + 1) % points) + 1) / (2 * points);
    sources_on_line<Wide, Row, Exact, Fields>(*q, at[0], at[1], at[2], 1, exact);
    sources_on_line<Real, Row, Exact, Fields>(*q, at[0], at[1], at[2], 1, near);
    for (int r = 0; r < unknowns; r++) {
      size = equation::max(size, equation::fabs(exact[r]));
      error = equation::max(error, equation::fabs(near[r] - exact[r]));
    }
  }
  return !(error <= Real(1e-10) * size);
}

} // namespace equation
} // namespace shellac
