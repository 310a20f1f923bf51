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

// A loop of which all is to be compiled together: else it does without vectors.
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

// Entries of some slots of a row in a pass, which share the row's value and derivatives. Of more slots a compiler keeps the
// derivatives in memory, and does without vectors: Clang does of more than one.
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

// A function of the coordinates alone.
template <class Row, int r = 0> inline void coordinates_at(const Place &q, Index i, Index j, Index k, Scalar *out) {
  out[r] = Row::template at<r, Real>(q, coordinate<Real>(q, 0, i), coordinate<Real>(q, 1, j), coordinate<Real>(q, 2, k),
                                     q.time);
  if constexpr (r + 1 < unknowns) coordinates_at<Row, r + 1>(q, i, j, k, out);
}
template <class Row> void all_coordinates(const Place *q, const Region *region, Scalar *out) {
  for_each_point(*q, *region, [&](Index i, Index j, Index k, const FromArrays &, Index to) {
    coordinates_at<Row>(*q, i, j, k, out + to * unknowns);
  });
}

// ---- manufactured solutions ------------------------------------------------------------------------------------------

// A point of a grid of any spacing, which is uniform, where the unknowns have the values of the exact solution.
template <class Exact, class Fields> struct ExactPoint {
  using Real = long double;
  using Scalar = ScalarOf<Real>;
  using Number = equation::Number<Scalar, 0>;

  const Place &place;
  Real         x_[axes], h_[axes];

  Real                                        x(int axis) const { return x_[axis]; }
  Real                                        h(int axis) const { return h_[axis]; }
  Real                                        step(int axis, int) const { return h_[axis]; }
  Real                                        inverse_h(int axis, int = 0) const { return 1 / h_[axis]; }
  Real                                        inverse_step(int axis, int) const { return 1 / h_[axis]; }
  Real                                        t() const { return place.time; }
  bool                                        leaves(int, int) const { return false; }
  template <int c> SHELLAC_OUT_OF_LINE Number unknown(int dx, int dy, int dz) const {
    return Number(Exact::template at<c, Real>(place, x_[0] + dx * h_[0], x_[1] + dy * h_[1], x_[2] + dz * h_[2],
                                              (Real)place.time));
  }
  template <int f> Scalar field(int dx, int dy, int dz) const {
    return Fields::template at<f, Real>(place, x_[0] + dx * h_[0], x_[1] + dy * h_[1], x_[2] + dz * h_[2],
                                        (Real)place.time);
  }
};

// What the equation makes of the exact solution in the limit of small spacings: by extrapolation (Richardson 1911) from
// three of them, of sixth order. A rate's source is the exact solution's derivative in time, less the rate.
template <class Row, class Exact, class Fields, int r>
inline Scalar source_of(const Place &q, Index i, Index j, Index k) {
  ScalarOf<long double> value[3];
  for (int n = 0; n < 3; n++) {
    ExactPoint<Exact, Fields> point{q, {}, {}};
    const Index               p[axes] = {i, j, k};
    for (int a = 0; a < axes; a++) {
      point.x_[a] = coordinate<long double>(q, a, p[a]);
      point.h_[a] = (long double)q.step * (q.end[a][1] - q.end[a][0]) / (1 << n);
      if (a >= dim) point.h_[a] = 1;
    }
    value[n] = Row::template at<r>(point).v;
  }
  const auto a = (4 * value[1] - value[0]) / 3, b = (4 * value[2] - value[1]) / 3, limit = (16 * b - a) / 15;
  if constexpr (!Row::is_rate) return Scalar(limit);
  const auto u = [&](long double t) {
    return Exact::template at<r, long double>(q, coordinate<long double>(q, 0, i), coordinate<long double>(q, 1, j),
                                              coordinate<long double>(q, 2, k), t);
  };
  const long double t = q.time, dt = 1e-4L;
  return Scalar((8 * (u(t + dt) - u(t - dt)) - (u(t + 2 * dt) - u(t - 2 * dt))) / (12 * dt) - limit);
}
template <class Row, class Exact, class Fields, int r = 0>
inline void sources_of(const Place &q, Index i, Index j, Index k, Scalar *out) {
  int axis, side;
  out[r] = is_given(q, r, i, j, k, &axis, &side) ? 0 : source_of<Row, Exact, Fields, r>(q, i, j, k);
  if constexpr (r + 1 < unknowns) sources_of<Row, Exact, Fields, r + 1>(q, i, j, k, out);
}
template <class Row, class Exact, class Fields> void all_sources(const Place *q, const Region *region, Scalar *out) {
  for (Index k = region->start[2]; k < region->end[2]; k++)
    for (Index j = region->start[1]; j < region->end[1]; j++)
      for (Index i = region->start[0]; i < region->end[0]; i++)
        sources_of<Row, Exact, Fields>(*q, i, j, k, out + place_written(*q, i, j, k) * unknowns);
}

} // namespace equation
} // namespace shellac
