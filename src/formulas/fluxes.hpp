#pragma once
// What kernels of −∇·(k∇u) + σu compute fluxes from: k at points or on faces, its means, the ends of the first axis.

#include <type_traits>

#include "formulas/diffusion_terms.hpp"

namespace shellac {

// 1/x for numbers whose reciprocals are normal: faster on a GPU than the division, which provides for all others.
SHELLAC_HD double reciprocal(double x) {
#ifdef __CUDA_ARCH__
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  const double e = fma(-x, r, 1.); // of 2^-20, so that the cube is nothing
  return fma(r, fma(e, e, e), r);
#else
  return 1 / x;
#endif
}
template <class T> SHELLAC_HD T reciprocal(T x) {
  return PetscReal(1) / x;
}

// An end of an axis whose points are computed as inner ones are, with values beyond it that give the same row.
template <class T> struct FluxEnd {
  PetscInt at = -1; // the last point; -1: the end is not one of these
  bool     mirror = false;
  T        own = 0, inner = 0; // u beyond the end: so many times u at the last point, and at the one before

  FluxEnd() = default;
  FluxEnd(const Patch &patch, const Ends &ends, int axis, Side side, bool on_faces) {
    constexpr PetscInt least = 4; // points: each has one end at most, and points before it
    PetscInt           inside;
    PetscReal          factor, given;
    if (patch.neighbour[axis][side] || patch.size[axis] < least || ends.identity(side == LOWER ? 0 : ends.N - 1))
      return;
    if (on_faces && ends.mirror) return;       // whose face before the first point is not the stored one
    if (!std::is_same_v<T, PetscReal>) return; // complex: 2 k less that of the face may be zero, see HarmonicMean
    at = side == LOWER ? 0 : patch.size[axis] - 1;
    mirror = ends.mirror;
    ends.fold(side == LOWER ? -1 : ends.N, &inside, &factor, &given);
    (inside == (side == LOWER ? 0 : ends.N - 1) ? own : inner) = factor;
  }
  SHELLAC_HD T u(T last, T before) const { return own * last + inner * before; }
  // The k of the face at the end, where k stands at points, from those at the last ones.
  SHELLAC_HD T face(T last, T before, T between) const {
    return mirror ? between : extrapolate_by_slope(last, (last - before) * reciprocal(last + before), 1);
  }
};

template <class T> struct Flux {
  const T   *k[3]; // [points of the rank]: all the same or, on faces, for each axis
  T          c[3]; // 1/h² of each axis
  T          sigma;
  FluxEnd<T> end[3][2];
};

// of(): the k of a face, from those that stand at the points below and above it. The means are those of DiffusionTerms, in
// another order of operations. beyond(): the k beyond an end with which the face there has the k that rows have. at_end():
// the k of the face at an end.
struct HarmonicMean {
  static constexpr bool                  on_faces = false;
  template <class T> static SHELLAC_HD T beyond(const FluxEnd<T> &end, T last, T before) {
    const T face = extrapolate_coefficient(last, before, 1);
    return end.mirror ? before : last * (face / (PetscReal(2) * last - face));
  }
  template <class T> static SHELLAC_HD T at_end(const FluxEnd<T> &end, Side, T last, T before) {
    return end.face(last, before, of(before, last));
  }
  template <class T> static SHELLAC_HD T of(T below, T above) {
    return PetscReal(2) * below * (above * reciprocal(below + above));
  }
};
struct ArithmeticMean {
  static constexpr bool                  on_faces = false;
  template <class T> static SHELLAC_HD T beyond(const FluxEnd<T> &end, T last, T before) {
    return end.mirror ? before : PetscReal(2) * extrapolate_coefficient(last, before, 1) - last;
  }
  template <class T> static SHELLAC_HD T at_end(const FluxEnd<T> &end, Side, T last, T before) {
    return end.face(last, before, of(before, last));
  }
  template <class T> static SHELLAC_HD T of(T below, T above) { return (below + above) * PetscReal(0.5); }
};
struct OnFaces {
  static constexpr bool                  on_faces = true;
  template <class T> static SHELLAC_HD T beyond(const FluxEnd<T> &, T last, T before) {
    return extrapolate_coefficient(last, before, 2); // beyond the upper end; what is read before the lower is not used
  }
  template <class T> static SHELLAC_HD T at_end(const FluxEnd<T> &, Side side, T last, T before) {
    return side == LOWER ? last : extrapolate_coefficient(last, before, 2);
  }
  template <class T> static SHELLAC_HD T of(T, T above) { return above; }
};

} // namespace shellac
