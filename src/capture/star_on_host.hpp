#pragma once
// A star of width 1 whose coefficients are constant, times a grid function on the host, along rows of points.

#include "capture/apply.hpp"

namespace shellac {

// out[i] = A u, b + A u or b - A u at points next to each other along the first axis whose rows are alike. side: the
// neighbouring rows along the other axes. out may be b.
template <int dim, Form form, class T>
SHELLAC_WIDE void star_row(const T *coefficients, const T *u, const T *const (*side)[2], const T *b, PetscInt n,
                           T *out) {
  const T *c = coefficients + dim; // in the order of WholeStencil: c[±(axis + 1)]
  const T  center = c[0], west = c[-1], east = c[1];
  const T *south = nullptr, *north = nullptr, *below = nullptr, *above = nullptr;
  T        to_south = 0, to_north = 0, to_below = 0, to_above = 0;
  if constexpr (dim > 1) south = side[1][0], north = side[1][1], to_south = c[-2], to_north = c[2];
  if constexpr (dim > 2) below = side[2][0], above = side[2][1], to_below = c[-3], to_above = c[3];
#pragma GCC ivdep
  for (PetscInt i = 0; i < n; i++) {
    T value = center * u[i] + west * u[i - 1] + east * u[i + 1];
    if constexpr (dim > 1) value += to_south * south[i] + to_north * north[i];
    if constexpr (dim > 2) value += to_below * below[i] + to_above * above[i];
    out[i] = form == Form::product ? value : form == Form::sum ? b[i] + value : b[i] - value;
  }
}

// The points of a box that needs no halo.
template <int dim, class T>
void apply_star_on_host(const CapturedRow<T> &row, const Field<T> &field, Form form, const T *b, const Box &box, T *y) {
  constexpr PetscInt                               chunk = 256; // points whose result stays in the first cache
  const Patch                                     &patch = row.patch;
  const CapturedCoefficients<T>                   &a = row.a;
  const bool                                       past = beyond_cache((size_t)box.points() * sizeof(T));
  std::vector<T>                                   zeros(dim > 1 ? patch.size[0] : 0);
  T                                                buffer[chunk];
  const captured::ApplyWhole<T, dim, false, false> point({row, field, form, b, y}, nullptr);
  PetscInt lo = PetscMax(box.lo[0], 1), hi = PetscMin(box.hi[0], patch.size[0] - 1); // where rows are alike
  lo = PetscMax(lo, a.depth[0] - patch.start[0]);
  hi = PetscMin(hi, patch.N[0] - a.depth[0] - patch.start[0]);
  if (lo >= hi) lo = hi = box.hi[0];

  for (PetscInt k = box.lo[2]; k < box.hi[2]; k++) {
    for (PetscInt j = box.lo[1]; j < box.hi[1]; j++) {
      const PetscInt p[3] = {lo, j, k};
      const size_t   begin = patch.index(0, j, k);
      const T       *side[3][2];
      for (int axis = 1; axis < dim; axis++) { // what leaves the patch leaves the domain
        const T *here = field.u + begin;
        side[axis][LOWER] = p[axis] > 0 ? here - patch.stride(axis) : zeros.data();
        side[axis][UPPER] = p[axis] + 1 < patch.size[axis] ? here + patch.stride(axis) : zeros.data();
      }
      for_each_on_host({{box.lo[0], j, k}, {lo, j + 1, k + 1}}, point);
      const T *coefficients = lo < hi ? a.rows(patch, p, begin + lo) : nullptr;
      for (PetscInt from = lo, n; from < hi; from += n) {
        const size_t at = begin + from;
        const T     *ahead[3][2] = {};
        for (int axis = 1; axis < dim; axis++)
          ahead[axis][LOWER] = side[axis][LOWER] + from, ahead[axis][UPPER] = side[axis][UPPER] + from;
        n = PetscMin(past ? ends_with_line(y + at, chunk) : chunk, hi - from);
        if (past) prefetch(dim > 1 ? ahead[dim - 1][UPPER] : field.u + at, n);
        with_form(form, [&](auto known) {
          star_row<dim, decltype(known)::value>(coefficients, field.u + at, ahead, b ? b + at : nullptr, n,
                                                past ? buffer : y + at);
        });
        if (past) stream_copy(y + at, buffer, n);
      }
      for_each_on_host({{hi, j, k}, {box.hi[0], j + 1, k + 1}}, point);
    }
  }
  if (past) stream_fence();
}

template <class T>
void apply_star_on_host(int dim, const CapturedRow<T> &row, const Field<T> &field, Form form, const T *b,
                        const Box &box, T *y) {
  with_dim(dim, [&](auto d) { apply_star_on_host<decltype(d)::value>(row, field, form, b, box, y); });
}

} // namespace shellac
