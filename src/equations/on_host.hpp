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

// Near ends of the domain, a table of the neighbours: all entries of a point share it, and points beside each other along
// an end.
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
            for (int c = 0; c < unknowns; c++) neighbours_[c][n] = within(from, c, dx, dy, dz);
            if (field_count) fields_at_[n] = from.index(dx, dy, dz);
          } else {
            for (int c = 0; c < unknowns; c++) neighbours_[c][n] = beyond(from, c, dx, dy, dz);
            if (field_count) fields_at_[n] = field_at(dx, dy, dz);
          }
        }
  }
  Neighbour neighbour(int c, int dx, int dy, int dz) const {
    Neighbour n = neighbours_[c][arm_of(dx, dy, dz)];
    n.at += moved_;
    return n;
  }
  Index  field_place(int arm) const { return fields_at_[arm] + moved_; }
  Scalar field(int f, int dx, int dy, int dz) const { return place_.fields[f][field_place(arm_of(dx, dy, dz))]; }
  Scalar field_direction(int f, int dx, int dy, int dz) const {
    return place_.field_directions[f] ? place_.field_directions[f][field_place(arm_of(dx, dy, dz))] : Scalar(0);
  }

  // Goes on to the next point along an axis, which must be as far from all ends, or farther than the stencil.
  void move(int axis) {
    const FromArrays from = arrays();
    moved_ += from.index(axis == 0, axis == 1, axis == 2) - from.at;
    p_[axis]++;
  }

private:
  Index     moved_ = 0; // from where the table was made, in the arrays
  Neighbour neighbours_[unknowns][arm_count];
  Index     fields_at_[field_count ? arm_count : 1];
};

// The same at ends of the domain.
template <class Function> inline void for_each_point_at_ends(const Place &q, const Region &region, const Function &f) {
  constexpr bool shares = !data_vary && !ends_of_state; // else what is given differs from point to point
  const auto     length = [&](int a) { return region.end[a] - region.start[a]; };
  const int      xy = length(0) < length(1), along = length(xy) < length(2) ? 2 : xy;
  const int      b = along == 0 ? 1 : 0, c = along == 2 ? 1 : 2;
  constexpr int  reach = width + imposes; // of the ends of that axis, and of points where values are given
  const Index    end = region.end[along], behind = q.N[along] - reach;
  Index          p[axes];

  for (p[c] = region.start[c]; p[c] < region.end[c]; p[c]++)
    for (p[b] = region.start[b]; p[b] < region.end[b]; p[b]++)
      for (p[along] = region.start[along]; p[along] < end;) {
        TableNearEnds near(q, p[0], p[1], p[2]);
        const bool    one = !shares || p[along] < reach || p[along] >= behind;
        for (const Index last = one ? p[along] + 1 : end < behind ? end : behind; p[along] < last; p[along]++) {
          f(p[0], p[1], p[2], near, place_written(q, p[0], p[1], p[2]));
          near.move(along);
        }
      }
}
template <bool ends, class Function> inline void for_points(const Place &q, const Region &region, const Function &f) {
  if constexpr (ends)
    for_each_point_at_ends(q, region, f);
  else
    for_each_point(q, region, f);
}

// A loop whose body must be inlined completely: otherwise it is not vectorised.
#define SHELLAC_WHOLE __attribute__((flatten))

template <class Of, bool ends> SHELLAC_WHOLE void points_in(const Place &q, const Region &region, Scalar *out) {
  for_points<ends>(q, region, [&](Index i, Index j, Index k, const auto &from, Index to) {
    Scalar sources[unknowns];
    sources_at(q, to, sources);
    Of::at(q, i, j, k, from, sources, out + to * Of::numbers);
  });
}
template <class Of> void all_points(const Place *place, const Region *region, Scalar *out) {
  const Place q = *place; // its own copy: what is written does not change it
  region->ends ? points_in<Of, true>(q, *region, out) : points_in<Of, false>(q, *region, out);
}

// Entries of some slots of a row in one pass, which share the row's value and derivatives. With more slots a compiler
// keeps the derivatives in memory and does not vectorise; Clang does so for more than one slot.
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

// ---- functions of the coordinates alone ----------------------------------------------------------------------------

// Points beside each other along the first axis. Functions of coordinates are computed in vectors, at a few more of
// them than are needed.
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
__attribute__((noinline, flatten)) void values_on_line(const Place &q, const Line<R> &line, R t, ScalarOf<R> *out) {
  const int count = line.count;
  const R   y = line.y, z = line.z;
  for (int m = 0; m < count; m += points_of_vectors)
    SHELLAC_INDEPENDENT for (int n = m; n < m + points_of_vectors; n++) out[n] =
        Row::template at<c, R>(q, line.x[n], y, z, t);
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
  values_on_line<Row, c, Real>(q, line, q.time, values);
  for (int n = 0; n < count; n++) out[n * unknowns + c] = values[n];
  if constexpr (c + 1 < unknowns) coordinates_at<Row, c + 1>(q, line, count, out);
}
template <class Row> void all_coordinates(const Place *q, const Region *region, Scalar *out) {
  for_each_line(*q, *region, [&](Index i, Index j, Index k, int count, Index to) {
    coordinates_at<Row>(*q, Line<Real>(*q, i, j, k, count), count, out + to * unknowns);
  });
}

// ---- derivatives by fields -------------------------------------------------------------------------------------------

// The rows' derivatives by the values of a field, times the numbers place.direction of the points, are added to the places
// where these values are read. Inside, entries are computed for a line of points before they are added.
constexpr int arms_of_pass = arm_count < most_slots_of_pass ? arm_count : most_slots_of_pass;
template <class Row, int r>
SHELLAC_WHOLE void entries_on_line(const Place &q, int first, Index i, Index j, Index k, int count,
                                   Scalar (*entries)[points_of_line]) {
  const Index from = place_read(q, i, j, k);
  SHELLAC_INDEPENDENT for (int n = 0; n < count; n++) {
    Scalar of_point[arms_of_pass];
    entries_of<Row, r>(q, FieldSeeds<arms_of_pass>(first), i + n, j, k, FromArrays{q, from + n}, of_point);
    SHELLAC_EACH for (int m = 0; m < arms_of_pass; m++) entries[m][n] = of_point[m];
  }
}
template <class Row, int r> void add_inside(const Place &q, const Region &region, Scalar *out) {
  constexpr int y = dim > 1 ? width : 0, z = dim > 2 ? width : 0;
  for_each_line(q, region, [&](Index i, Index j, Index k, int count, Index to) {
    const FromArrays first_point{q, place_read(q, i, j, k)};
    for (int first = 0; first < arm_count; first += arms_of_pass) {
      Scalar entries[arms_of_pass][points_of_line];
      entries_on_line<Row, r>(q, first, i, j, k, count, entries);
      for (int dz = -z; dz <= z; dz++)
        for (int dy = -y; dy <= y; dy++)
          for (int dx = -width; dx <= width; dx++) {
            const int arm = in_stencil(dx, dy, dz) ? arm_of(dx, dy, dz) - first : -1;
            if (arm < 0 || arm >= arms_of_pass) continue;
            Scalar *const there = out + first_point.index(dx, dy, dz);
            for (int n = 0; n < count; n++) there[n] += q.direction[(to + n) * Row::count + r] * entries[arm][n];
          }
    }
  });
}
template <class Row, int r>
inline void add_at_end(const Place &q, Index i, Index j, Index k, const TableNearEnds &near, Index to, Scalar *out) {
  Scalar entries[arms_of_pass];
  for (int first = 0; first < arm_count; first += arms_of_pass) {
    entries_of<Row, r>(q, FieldSeeds<arms_of_pass>(first), i, j, k, near, entries);
    for (int n = 0; n < arms_of_pass && first + n < arm_count; n++)
      out[near.field_place(first + n)] += q.direction[to * Row::count + r] * entries[n];
  }
}
template <class Row, int r = 0> void all_transposed(const Place *place, const Region *region, Scalar *out) {
  if (region->ends)
    for_each_point_at_ends(*place, *region, [&](Index i, Index j, Index k, const TableNearEnds &near, Index to) {
      add_at_end<Row, r>(*place, i, j, k, near, to, out);
    });
  else
    add_inside<Row, r>(*place, *region, out);
  if constexpr (r + 1 < Row::count) all_transposed<Row, r + 1>(place, region, out);
}
// Of what integrals are of.
template <class Row> struct IntegrandRows : Rows<integral_numbers / 2, false> {
  static constexpr bool is_rate(int) { return true; }

  template <int n, class Point> static typename Point::Number at(const Point &point) {
    return Row::template integrand<n>(point);
  }
};

// ---- data of ends ----------------------------------------------------------------------------------------------------

// u becomes what is given at the points of a region. u: as what is written
inline void impose_all(const Place *q, const Region *region, Scalar *u) {
  for_each_point(*q, *region, [&](Index i, Index j, Index k, const FromArrays &from, Index to) {
    if (!in_solid(from)) impose_at(*q, i, j, k, u + to * unknowns);
  });
}

// ---- manufactured solutions ------------------------------------------------------------------------------------------

// The source that belongs to an exact solution is the limit of the text's own formula at zero spacing. So spacings are
// lengths of the domain times a small number, and values of the exact solution and of the fields are power series in
// it. Quotients of differences lose as many terms as the stencil has steps along an axis; in a box, along two axes.
constexpr int terms_of_exact = 2 * width * (box && dim > 1 ? 2 : 1) + 1;

// A point among such spacings. Each value is computed once.
template <class Exact, class Fields> class ExactPoint {
public:
  using Real = Series<terms_of_exact>;
  using Scalar = ScalarOf<Real>;
  using Number = equation::Number<Scalar, 0>;

  const Place &place;

  ExactPoint(const Place &q, Index i, Index j, Index k)
      : place(q), x_{coordinate<equation::Real>(q, 0, i), coordinate<equation::Real>(q, 1, j),
                     coordinate<equation::Real>(q, 2, k)} {}

  Real                    x(int axis, int d = 0) const { return Real(x_[axis], axis < dim ? d * length(axis) : 0); }
  Real                    h(int axis) const { return axis < dim ? Real(0, length(axis)) : Real(1); }
  Real                    step(int axis, int) const { return h(axis); }
  Real                    inverse_h(int axis, int = 0) const { return inverse(h(axis)); }
  Real                    inverse_step(int axis, int) const { return inverse_h(axis); }
  Real                    t() const { return place.time; }
  bool                    leaves(int, int) const { return false; }
  template <int c> Number unknown(int dx, int dy, int dz) const { return Number(value<Exact, c>(c, dx, dy, dz)); }
  template <int f> Scalar field(int dx, int dy, int dz) const { return value<Fields, f>(unknowns + f, dx, dy, dz); }
  template <int n> Number integral() const { return Number(Scalar(place.integrals[n])); }

private:
  equation::Real length(int axis) const { return place.end[axis][1] - place.end[axis][0]; }
  template <class Of, int c> SHELLAC_OUT_OF_LINE Scalar value(int row, int dx, int dy, int dz) const {
    const bool near = in_stencil(dx, dy, dz); // beyond it reads what a value decides
    const int  arm = near ? arm_of(dx, dy, dz) : arm_count;
    if (!near || !made_[row][arm])
      values_[row][arm] = Of::template at<c, Real>(place, x(0, dx), x(1, dy), x(2, dz), t());
    made_[row][arm] = true;
    return values_[row][arm];
  }

  equation::Real x_[axes];
  mutable bool   made_[unknowns + field_count][arm_count + 1] = {};
  mutable Scalar values_[unknowns + field_count][arm_count + 1];
};

// The source of a rate is the exact solution's derivative in time, minus the rate; that of a residual makes it zero.
template <class Row, class Exact, class Point, int r = 0>
inline void sources_of_point(const Point &point, Index i, Index j, Index k, Scalar *out) {
  const Place &q = point.place;
  int          axis, side;
  if (is_given(q, r, i, j, k, &axis, &side))
    out[r] = 0;
  else {
    const Scalar value = limit(Row::template at<r>(point).v);
    using S = Series<2>;
    if constexpr (Row::is_rate(r))
      out[r] = coefficient(value_at_place<Exact, r, S>(q, coordinate<Real>(q, 0, i), coordinate<Real>(q, 1, j),
                                                       coordinate<Real>(q, 2, k), S(q.time, 1)),
                           1) -
               value;
    else
      out[r] = -value;
  }
  if constexpr (r + 1 < unknowns) sources_of_point<Row, Exact, Point, r + 1>(point, i, j, k, out);
}
template <class Row, class Exact, class Fields> void all_sources(const Place *q, const Region *region, Scalar *out) {
  using Point = ExactPoint<Exact, Fields>;
  for_each_point(*q, *region, [&](Index i, Index j, Index k, const FromArrays &, Index to) {
    sources_of_point<Row, Exact, Point>(Point(*q, i, j, k), i, j, k, out + to * unknowns);
  });
}

} // namespace equation
} // namespace shellac
