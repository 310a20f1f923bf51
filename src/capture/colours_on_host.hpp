#pragma once
// Sweeps of captured coefficients over the points of colours on the host, along rows of points; one value a point.

#include <vector>

#include "capture/apply.hpp"

namespace shellac {

// x += omega (b - (A + shift) x) / diagonal at each step-th of n points next to each other along the first axis. sum: A x.
// The diagonal: of each point, or one_for_all.
template <bool one_for_all, class T>
SHELLAC_WIDE void relax_points(PetscInt first, PetscInt step, PetscInt n, PetscReal omega, T shift, const T *diagonal,
                               const T *b, const T *sum, T *x) {
  for (PetscInt i = first; i < n; i += step)
    x[i] += omega * (b[i] - shift * x[i] - sum[i]) / (diagonal[one_for_all ? 0 : i] + shift);
}

// The points of one colour. inner: those whose stencil stays on the patch and, if coefficients are constant, whose rows are
// alike.
template <class T> class ColourOnHost {
public:
  ColourOnHost(const captured::RelaxColour<T> &points, const Box &inner) : points_(points), inner_(inner) {}
  static bool serves(const CapturedRow<T> &row) {
    return row.patch.dof == 1 && row.a.storage != Storage::indexed && row.a.diagonal[0] >= 0;
  }

  // What is updated: all points of the colour, the inner ones, or the others.
  enum class Part { all, inner, outer };

  void plane(int axis, PetscInt at, Part part) { // the points with this index along the axis
    const PetscInt *size = points_.relax.row.patch.size;
    const PetscInt  p[3] = {0, axis == 1 ? at : 0, axis == 2 ? at : 0};
    for (PetscInt k = p[2]; k < (axis == 2 ? at + 1 : size[2]); k++)
      for (PetscInt j = p[1]; j < (axis == 1 ? at + 1 : size[1]); j++) line(j, k, part);
  }
  void all(Part part) {
    for (PetscInt k = 0; k < points_.relax.row.patch.size[2]; k++) plane(2, k, part);
  }

private:
  static constexpr PetscInt chunk = 256; // points whose sums stay in the first cache

  void line(PetscInt j, PetscInt k, Part part) {
    const Patch &patch = points_.relax.row.patch;
    const bool   has_inner =
        inner_.points() > 0 && j >= inner_.lo[1] && j < inner_.hi[1] && k >= inner_.lo[2] && k < inner_.hi[2];
    const PetscInt lo = has_inner ? inner_.lo[0] : patch.size[0], hi = has_inner ? inner_.hi[0] : patch.size[0];
    const PetscInt step = points_.parity ? 2 : points_.period, first = points_.first(j, k);
    const auto next = [&](PetscInt i) { return first + (i - first + step - 1) / step * step; }; // from i >= first on
    const auto outer = [&](PetscInt i) {
      const PetscInt p[3] = {i, j, k};
      points_.relax.at_point(p);
    };
    if (first < 0) return;
    if (part != Part::inner)
      for (PetscInt i = first; i < lo; i += step) outer(i);
    if (part != Part::outer)
      for (PetscInt from = lo; from < hi; from += chunk)
        inner(from, j, k, next(PetscMax(from, first)) - from, step, PetscMin(chunk, hi - from));
    if (part != Part::inner)
      for (PetscInt i = next(PetscMax(hi, first)); i < patch.size[0]; i += step) outer(i);
  }

  void inner(PetscInt from, PetscInt j, PetscInt k, PetscInt first, PetscInt step, PetscInt n) {
    const captured::Relax<T>      &relax = points_.relax;
    const CapturedCoefficients<T> &a = relax.row.a;
    const PetscInt                 p[3] = {from, j, k};
    const size_t                   at = relax.row.patch.index(from, j, k);
    const T                       *rows = a.rows(relax.row.patch, p, at);
    const bool                     in_arrays = a.storage == Storage::arrays;
    T                              sum[chunk];
    coefficient_.resize((size_t)a.count);
    u_.resize((size_t)a.count);
    for (int s = 0; s < a.count; s++) {
      coefficient_[(size_t)s] = in_arrays ? a.array[s] + at : rows + s;
      u_[(size_t)s] = relax.x + at + a.offset[s];
    }
    const T *diagonal = coefficient_[(size_t)a.diagonal[0]];
    if (in_arrays) {
      add_all_slots<false>(a.count, coefficient_.data(), u_.data(), n, false, sum);
      relax_points<false>(first, step, n, relax.omega, relax.shift, diagonal, relax.b + at, sum, relax.x + at);
    } else {
      add_all_slots<true>(a.count, coefficient_.data(), u_.data(), n, false, sum);
      relax_points<true>(first, step, n, relax.omega, relax.shift, diagonal, relax.b + at, sum, relax.x + at);
    }
  }

  captured::RelaxColour<T> points_;
  Box                      inner_;
  std::vector<const T *>   coefficient_, u_;
};

// All points of one colour, then the inner ones of another, in one pass over memory: the second follows at a distance of
// `reach` planes, which the first does not read or write any more.
template <class T>
void relax_two_on_host(ColourOnHost<T> &one, ColourOnHost<T> &two, int dim, const PetscInt size[3], PetscInt reach) {
  using Part = typename ColourOnHost<T>::Part;
  const int      axis = dim == 3 ? 2 : 1;
  const PetscInt n = size[axis];
  for (PetscInt at = 0; at < n + reach; at++) {
    if (at < n) one.plane(axis, at, Part::all);
    if (at >= reach) two.plane(axis, at - reach, Part::inner);
  }
}

} // namespace shellac
