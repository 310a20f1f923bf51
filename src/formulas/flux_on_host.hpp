#pragma once
// The product of −∇·(k∇u) + σu on the host, by fluxes: reads k in place of the coefficients.

#include <memory>

#include "capture/apply.hpp"
#include "formulas/fluxes.hpp"

namespace shellac {

// The k of the faces around a point but those below it along the second and the third axis.
template <class T> struct Faces { T west, east, north, top; };

// From the k of the point and of the points there, or of the faces below these. Harmonic means are those of HarmonicMean,
// with one division for all.
template <class Face, int dim, class T> inline Faces<T> find_faces(T here, T west, T east, T north, T top) {
  if constexpr (std::is_same_v<Face, HarmonicMean>) {
    const T w = here + west, e = here + east, n = here + north, t = dim > 2 ? here + top : T(1);
    const T we = w * e, nt = n * t, inverse = 1 / (we * nt), twice = PetscReal(2) * here;
    return {west * (twice * (inverse * (e * nt))), east * (twice * (inverse * (w * nt))),
            north * (twice * (inverse * (we * t))), top * (twice * (inverse * (we * n)))};
  } else
    return {Face::of(west, here), Face::of(here, east), Face::of(here, north), Face::of(here, top)};
}

// out[i] = A u, b + A u or b - A u at n points next to each other along the first axis; out may be b. k: of each axis at the
// points or on the faces below them. above: how far the next point is along an axis. below: of the second and the third
// axis, the fluxes through the faces below the points; it gets those through the faces above them.
template <class Face, int dim, Form form, class T>
SHELLAC_WIDE void apply_fluxes(const Flux<T> &of, const T *const k[3], const T *u, const ptrdiff_t above[3], const T *b,
                               PetscInt n, T *const below[3], T *out) {
  const T  sigma = of.sigma, cx = of.c[0], cy = of.c[1], cz = of.c[2];
  const T *kx = k[0], *ky = k[1] + above[1], *kz = k[dim - 1] + above[dim - 1];
  const T *uy = u + above[1], *uz = u + above[dim - 1];
  T       *south = below[1], *bottom = below[dim - 1];
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) {
    const Faces<T> face = find_faces<Face, dim, T>(kx[i], kx[i - 1], kx[i + 1], ky[i], kz[i]);
    const T        here = u[i], north = face.north * (uy[i] - here);
    T              value =
        sigma * here - cx * (face.east * (u[i + 1] - here) - face.west * (here - u[i - 1])) - cy * (north - south[i]);
    south[i] = north;
    if constexpr (dim > 2) {
      const T top = face.top * (uz[i] - here);
      value -= cz * (top - bottom[i]);
      bottom[i] = top;
    }
    out[i] = form == Form::product ? value : form == Form::sum ? b[i] + value : b[i] - value;
  }
}

// The fluxes through the faces above n points along an axis. k: see above.
template <class Face, class T>
SHELLAC_WIDE void find_fluxes(const T *k, const T *u, ptrdiff_t above, PetscInt n, T *flux) {
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) flux[i] = Face::of(k[i], k[i + above]) * (u[i + above] - u[i]);
}

template <class Face, class T> class FluxProductOnHost final : public InteriorProduct {
public:
  FluxProductOnHost(int dim, const Flux<T> &flux) : dim_(dim), flux_(flux) {}

  PetscLogDouble flops() const override { return flops_by_fluxes<Face>(dim_); }
  PetscErrorCode apply(const captured::Apply<T> &point, const T *const *arrays, const Box &box,
                       const Box &inner) const override {
    PetscFunctionBegin;
    with_form(point.form, [&](auto known) {
      constexpr Form form = decltype(known)::value;
      if (dim_ == 2)
        apply<form>(captured::ApplyWhole<T, 2, false, true>(point, arrays), box, inner);
      else
        apply<form>(captured::ApplyWhole<T, 3, false, true>(point, arrays), box, inner);
    });
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static constexpr PetscInt chunk = 256; // points whose result stays in the first cache

  template <Form form, int dim>
  void apply(const captured::ApplyWhole<T, dim, false, true> &point, const Box &box, const Box &inner) const {
    const Patch &patch = point.row.patch;
    const bool   past = beyond_cache((size_t)box.points() * sizeof(T));
    // the fluxes through the faces below the next row of points, and below the next plane of them
    std::unique_ptr<T[]> row(new T[(size_t)inner.size(0)]),
        plane(new T[dim > 2 ? (size_t)inner.size(0) * (size_t)inner.size(1) : 0]);

    for (PetscInt k = box.lo[2]; k < box.hi[2]; k++)
      for (PetscInt j = box.lo[1]; j < box.hi[1]; j++) {
        const bool has_inner =
            inner.points() > 0 && j >= inner.lo[1] && j < inner.hi[1] && k >= inner.lo[2] && k < inner.hi[2];
        const PetscInt lo = has_inner ? inner.lo[0] : box.hi[0], hi = has_inner ? inner.hi[0] : box.hi[0];
        for (PetscInt i = box.lo[0]; i < lo; i++) point(i, j, k);
        for (PetscInt from = lo, n; from < hi; from += n) {
          const size_t at = patch.index(from, j, k), in_row = (size_t)(from - lo);
          T           *below[3] = {nullptr, row.get() + in_row, nullptr};
          if (dim > 2) below[2] = plane.get() + (size_t)inner.size(0) * (size_t)(j - inner.lo[1]) + in_row;
          n = PetscMin(past ? ends_with_line(point.y + at, (int)chunk) : chunk, hi - from);
          if (j == inner.lo[1]) find_below(1, patch, point.field.u, at, n, below[1]);
          if (dim > 2 && k == inner.lo[2]) find_below(2, patch, point.field.u, at, n, below[2]);
          apply_inner<form>(point, at, n, past, below);
        }
        for (PetscInt i = hi; i < box.hi[0]; i++) point(i, j, k);
      }
    if (past) stream_fence();
  }

  // n points from `at` on.
  template <Form form, int dim>
  void apply_inner(const captured::ApplyWhole<T, dim, false, true> &point, size_t at, PetscInt n, bool past,
                   T *const below[3]) const {
    const Patch &patch = point.row.patch;
    const T     *k[3], *u = point.field.u + at;
    ptrdiff_t    above[3];
    T            buffer[chunk];
    for (int a = 0; a < 3; a++) {
      above[a] = (ptrdiff_t)patch.stride(a);
      k[a] = flux_.k[Face::on_faces && a < dim ? a : 0] + at;
    }
    if (past) {
      prefetch(u + above[dim - 1], n);
      for (int a = 0; a < (Face::on_faces ? dim : 1); a++) prefetch(k[a] + above[dim - 1], n);
    }
    apply_fluxes<Face, dim, form>(flux_, k, u, above, point.b ? point.b + at : nullptr, n, below,
                                  past ? buffer : point.y + at);
    if (past) stream_copy(point.y + at, buffer, n);
  }
  void find_below(int axis, const Patch &patch, const T *u, size_t at, PetscInt n, T *flux) const {
    const ptrdiff_t above = (ptrdiff_t)patch.stride(axis), from = (ptrdiff_t)at - above;
    find_fluxes<Face>(flux_.k[Face::on_faces ? axis : 0] + from, u + from, above, n, flux);
  }

  int     dim_;
  Flux<T> flux_;
};

} // namespace shellac
