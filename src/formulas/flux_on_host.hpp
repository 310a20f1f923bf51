#pragma once
// The product of −∇·(k∇u) + σu on the host, by fluxes: reads k in place of the coefficients.

#include "capture/apply.hpp"
#include "formulas/fluxes.hpp"

namespace shellac {

// The fluxes through the faces between points next to each other along an axis, at n points along the first axis.
template <class Face, class T>
SHELLAC_WIDE void find_fluxes(const T *k_below, const T *k_above, const T *u_below, const T *u_above, PetscInt n,
                              T *flux) {
#pragma GCC       ivdep
  for (PetscInt i = 0; i < n; i++) flux[i] = Face::of(k_below[i], k_above[i]) * (u_above[i] - u_below[i]);
}

// out[i] = A u, b + A u or b - A u at points next to each other along the first axis. flux: [axis][side]. out may be b.
template <int dim, Form form, class T>
SHELLAC_WIDE void sum_fluxes(const Flux<T> &of, const T *const (*flux)[2], const T *u, const T *b, PetscInt n, T *out) {
  const T  sigma = of.sigma, cx = of.c[0], cy = of.c[1], cz = of.c[2];
  const T *west = flux[0][LOWER], *east = flux[0][UPPER], *south = flux[1][LOWER], *north = flux[1][UPPER];
  const T *below = nullptr, *above = nullptr;
  if constexpr (dim > 2) below = flux[2][LOWER], above = flux[2][UPPER];
#pragma GCC ivdep
  for (PetscInt i = 0; i < n; i++) {
    T value = sigma * u[i] - cx * (east[i] - west[i]) - cy * (north[i] - south[i]);
    if constexpr (dim > 2) value -= cz * (above[i] - below[i]);
    out[i] = form == Form::product ? value : form == Form::sum ? b[i] + value : b[i] - value;
  }
}

template <class Face, class T> class FluxProductOnHost final : public InteriorProduct {
public:
  FluxProductOnHost(int dim, const Flux<T> &flux) : dim_(dim), flux_(flux) {}

  PetscLogDouble flops() const override { return flops_by_fluxes<Face>(dim_); }
  PetscErrorCode interior(const captured::Apply<T> &point, const T *const *arrays, const Box &box,
                          const Box &inner) const override {
    PetscFunctionBegin;
    with_form(point.form, [&](auto known) {
      constexpr Form form = decltype(known)::value;
      if (dim_ == 2)
        apply<form>(captured::ApplyWhole<T, 2, false, true, false>(point, arrays), box, inner);
      else
        apply<form>(captured::ApplyWhole<T, 3, false, true, false>(point, arrays), box, inner);
    });
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  template <Form form, int dim>
  void apply(const captured::ApplyWhole<T, dim, false, true, false> &point, const Box &box, const Box &inner) const {
    constexpr PetscInt chunk = 256; // points whose fluxes stay in the first cache
    const Patch       &patch = point.row.patch;
    const bool         past = beyond_cache((size_t)box.points() * sizeof(T));
    std::vector<T>     south((size_t)PetscMax(inner.hi[0] - inner.lo[0], 0)), north(south.size());
    T                  along_x[chunk + 1], below[chunk], above[chunk], buffer[chunk];
    const auto         find = [&](int axis, size_t at, PetscInt n, T *flux) { // below the points at `at`
      const size_t before = at - (size_t)patch.stride(axis);
      const T     *k = flux_.k[Face::on_faces ? axis : 0], *u = point.field.u;
      find_fluxes<Face>(k + before, k + at, u + before, u + at, n, flux);
    };

    for (PetscInt k = box.lo[2]; k < box.hi[2]; k++)
      for (PetscInt j = box.lo[1]; j < box.hi[1]; j++) {
        const bool here =
            inner.points() > 0 && j >= inner.lo[1] && j < inner.hi[1] && k >= inner.lo[2] && k < inner.hi[2];
        const PetscInt lo = here ? inner.lo[0] : box.hi[0], hi = here ? inner.hi[0] : box.hi[0];
        for (PetscInt i = box.lo[0]; i < lo; i++) point(i, j, k);
        if (here && j == inner.lo[1]) find(1, patch.index(lo, j, k), hi - lo, south.data());
        for (PetscInt from = lo, n; from < hi; from += n) {
          const size_t at = patch.index(from, j, k), up = at + (size_t)patch.stride(dim - 1);
          T           *north_here = north.data() + (from - lo);
          const T     *flux[3][2] = {{along_x, along_x + 1}, {south.data() + (from - lo), north_here}, {below, above}};
          n = PetscMin(past ? ends_with_line(point.y + at, (int)chunk) : chunk, hi - from);
          if (past) {
            prefetch(point.field.u + up, n);
            for (int a = 0; a < (Face::on_faces ? dim : 1); a++) prefetch(flux_.k[a] + up, n);
          }
          find(0, at, n + 1, along_x);
          find(1, at + (size_t)patch.stride(1), n, north_here);
          if constexpr (dim > 2) {
            find(2, at, n, below);
            find(2, up, n, above);
          }
          sum_fluxes<dim, form>(flux_, flux, point.field.u + at, point.b ? point.b + at : nullptr, n,
                                past ? buffer : point.y + at);
          if (past) stream_copy(point.y + at, buffer, n);
        }
        if (here) std::swap(south, north);
        for (PetscInt i = hi; i < box.hi[0]; i++) point(i, j, k);
      }
    if (past) stream_fence();
  }

  int     dim_;
  Flux<T> flux_;
};

} // namespace shellac
