// Rows at points: their values and entries, products with them. After prelude.hpp; for any compiler.

namespace shellac {
namespace equation {

template <class Row, int r, class From>
inline Scalar value_of(const Place &q, Index i, Index j, Index k, const From &from) {
  const bool solid = in_solid(from);
  if constexpr (From::at_ends) {
    int axis, side;
    if (!solid && is_given(q, r, i, j, k, &axis, &side)) {
      if constexpr (Row::is_rate(r))
        return coefficient(given_at(q, r, axis, side, i, j, k, Series<2>(q.time, 1)), 1);
      else
        return q.given_scale[r] * (from.unknown(r, 0, 0, 0) - given_datum(q, r, axis, side, i, j, k));
    }
  }
  const GridPoint<NoSeed, From> point(q, NoSeed(), i, j, k, from);
  const Scalar                  value = Row::template at<r>(point).v;
  return !solid ? value : Row::is_rate(r) ? Scalar(0) : from.unknown(r, 0, 0, 0);
}

// The sources at a point, and then the values of all rows. to: its place in the arrays written
template <int r = 0> inline void sources_at(const Place &q, Index to, Scalar *sources) {
  sources[r] = has_exact && q.source ? q.source[to * unknowns + r] : 0;
  if constexpr (r + 1 < unknowns) sources_at<r + 1>(q, to, sources);
}

// What is computed at a point, by at(); numbers: how many. What is computed often is worth a GPU's window of values, which
// takes a while to compile; its places must be known to the compiler.
template <bool vector, bool often, int n = unknowns> struct Computed {
  static constexpr bool along_vector = vector, is_often = often;
  static constexpr int  numbers = n;
};
template <class Row> struct Values : Computed<false, true> {
  template <int r = 0, class From>
  static void at(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *sources, Scalar *out) {
    const Scalar value = value_of<Row, r>(q, i, j, k, from);
    // the others are read before this one is written, so that what they share is computed once
    if constexpr (r + 1 < unknowns) at<r + 1>(q, i, j, k, from, sources, out);
    out[r] = q.row_scale * (has_exact ? value + sources[r] : value);
  }
};

// What a text's rows are: of its unknowns, or of its integrals.
template <int n, bool unknowns_> struct Rows {
  static constexpr int  count = n;
  static constexpr bool of_unknowns = unknowns_;
};
// Entries of a row, in the seeds' directions.
template <class Row, int r, class SeedType, class From>
inline void entries_of(const Place &q, const SeedType &seed, Index i, Index j, Index k, const From &from,
                       Scalar *entries) {
  using Point = GridPoint<SeedType, From>;
  const Point            point(q, seed, i, j, k, from);
  typename Point::Number row, in_place;
  int                    axis, side;
  const bool             solid = in_solid(from);
  if constexpr (solid_field >= 0 && !of_data && Row::of_unknowns)
    in_place = point.seeded(Real(0), Row::is_rate(r) ? 0 : 1, point.along(r, 0, 0, 0), r, own_arm, true);
  if (From::at_ends && Row::of_unknowns && !solid && is_given(q, Row::of_unknowns ? r : 0, i, j, k, &axis, &side)) {
    if constexpr (!of_data)
      row = point.seeded(Real(0), Row::is_rate(r) ? 0 : q.given_scale[r], point.along(r, 0, 0, 0), r, own_arm, true);
    else if constexpr (SeedType::along_data)
      if (!Row::is_rate(r) || q.gives)
        row = (Row::is_rate(r) ? 1 : -q.given_scale[r]) * given_datum(q, r, axis, side, i, j, k);
  } else
    row = Row::template at<r>(point);
  SHELLAC_EACH for (int n = 0; n < SeedType::directions; n++) entries[n] =
      q.row_scale * (solid ? in_place.derivative(n) : row.derivative(n));
}

// Entries of some slots known to the program, from the first one on: they are compiled once for all of them. `to`: the
// place of the point in each slot's array
#if defined(__CUDACC_RTC__)
constexpr int slots_of_loop = 8;
#else
constexpr int slots_of_loop = slots_of_row < 3 ? slots_of_row : 3;
#endif
template <class Row, int r, class From>
inline void some_entries(const Place &q, int first, Index i, Index j, Index k, const From &from, Index to,
                         Scalar *const *out) {
  Scalar entries[slots_of_loop];
  entries_of<Row, r>(q, AnySeeds<slots_of_loop>(first), i, j, k, from, entries);
  SHELLAC_EACH for (int n = 0; n < slots_of_loop; n++) if (first + n < slots_of_row)
      out[r * slots_of_row + first + n][to] = entries[n];
}
// All entries of a point.
template <class Row, int r = 0, class From>
inline void entries_by_loop(const Place &q, Index i, Index j, Index k, const From &from, Index to, Scalar *const *out) {
  SHELLAC_ROLLED for (int first = 0; first < slots_of_row; first += slots_of_loop)
      some_entries<Row, r>(q, first, i, j, k, from, to, out);
  if constexpr (r + 1 < unknowns) entries_by_loop<Row, r + 1>(q, i, j, k, from, to, out);
}

// The Jacobian's rows at a point times the vector place.direction, or the rows' derivatives along data; the diagonal.
template <class Row> struct Products : Computed<!of_data, !of_data> {
  template <int r = 0, class From>
  static void at(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *, Scalar *out) {
    entries_of<Row, r>(q, Along(), i, j, k, from, out + r);
    if constexpr (r + 1 < unknowns) at<r + 1>(q, i, j, k, from, nullptr, out);
  }
};
template <class Row> struct Diagonals : Computed<false, false> {
  template <int r = 0, class From>
  static void at(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *, Scalar *out) {
    entries_of<Row, r>(q, OwnSeed<r>(), i, j, k, from, out + r);
    if constexpr (r + 1 < unknowns) at<r + 1>(q, i, j, k, from, nullptr, out);
  }
};
// The rows' derivatives by the values of a field, times the numbers place.direction of the point, are added to the places of
// these values in `out`, on a GPU.
#if defined(__CUDACC_RTC__)
template <class Row> struct Transposed : Computed<false, false, 0> {
  template <int r = 0, class From>
  static void at(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *, Scalar *out) {
    constexpr int y = dim > 1 ? width : 0, z = dim > 2 ? width : 0, count = arm_count < 9 ? arm_count : 9;
    const Scalar  factor = q.direction[place_written(q, i, j, k) * unknowns + r];
    Scalar        entries[count];
    SHELLAC_ROLLED for (int first = 0; first < arm_count; first += count) {
      entries_of<Row, r>(q, FieldSeeds<count>(first), i, j, k, from, entries);
      SHELLAC_EACH for (int dz = -z; dz <= z; dz++) SHELLAC_EACH for (int dy = -y; dy <= y; dy++)
          SHELLAC_EACH for (int dx = -width; dx <= width; dx++) {
        const int arm = in_stencil(dx, dy, dz) ? arm_of(dx, dy, dz) - first : -1;
        if (arm >= 0 && arm < count) atomicAdd(out + from.field_at(dx, dy, dz), factor * entries[arm]);
      }
    }
    if constexpr (r + 1 < unknowns) at<r + 1>(q, i, j, k, from, nullptr, out);
  }
};
#endif
// What integrals are of, and the derivatives of these.
template <class Row> struct Integrands : Computed<false, false, integral_numbers> {
  template <int n = 0, class From>
  static void at(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *, Scalar *out) {
    constexpr int count = integral_numbers / 2;
    const bool    solid = in_solid(from);
    if (of_data || q.direction) {
      const auto f = Row::template integrand<n>(GridPoint<Along, From>(q, {}, i, j, k, from));
      out[n] = solid ? Scalar(0) : f.v, out[count + n] = solid ? Scalar(0) : f.derivative(0);
    } else
      out[n] = solid ? Scalar(0) : Row::template integrand<n>(GridPoint<NoSeed, From>(q, {}, i, j, k, from)).v,
      out[count + n] = 0;
    if constexpr (n + 1 < count) at<n + 1>(q, i, j, k, from, nullptr, out);
  }
};

// A function of coordinates at one place.
template <class Function, int c, class R>
SHELLAC_OUT_OF_LINE ScalarOf<R> value_at_place(const Place &q, R x, R y, R z, R t) {
  return Function::template at<c, R>(q, x, y, z, t);
}

// The exact solution's datum on an end: its value, or du/dn + alpha u.
template <class Exact, int c, class R>
ScalarOf<R> exact_datum(const Place &q, int axis, int side, bool normal, R alpha, R x, R y, R z, R t) {
  if constexpr (!is_series<R>)
    if (normal) {
      using S = Series<2>;
      const auto   u = value_at_place<Exact, c, S>(q, S(x, axis == 0), S(y, axis == 1), S(z, axis == 2), t);
      const Scalar slope = coefficient(u, 1);
      return (side ? slope : -slope) + alpha * coefficient(u, 0);
    }
  return value_at_place<Exact, c, R>(q, x, y, z, t);
}

} // namespace equation
} // namespace shellac
