#pragma once
// The rows of −∇·(k∇u) + w·∇u + σu, for host and device.

#include "capture/coefficients.hpp"
#include "formulas/boundary.hpp"

namespace shellac {

// k at half a spacing (halves = 1) or a spacing (2) beyond the last of two places where it is known. A smooth k is
// extrapolated: with s = (a - b)/(a + b), the factor differs from that of linear extrapolation by O(h²). If k jumps, s is
// near 1 or -1, and the result is about the last k. The result is between 0.6 a and 1.4 a, or 0.2 a and 1.8 a.
template <class T> SHELLAC_HD T extrapolate_by_slope(T a, T s, PetscReal halves) {
  return PetscAbsScalar(s) < 1 ? a * (PetscReal(1) + halves * s * (PetscReal(1) - s * s)) : a;
}
template <class T> SHELLAC_HD T extrapolate_coefficient(T a, T b, PetscReal halves) {
  const T jump = a - b, sum = a + b; // which may be zero: k = 0, or of both signs
  return PetscAbsScalar(jump) < PetscAbsScalar(sum) ? extrapolate_by_slope(a, jump / sum, halves) : a;
}

// Means of two k. The same number, bit by bit, for (a, b) and (b, a): the operator is symmetric. A harmonic mean is that of
// positive k; of others, which are refused later, it is any number, without a division by zero.
template <class T> SHELLAC_HD T harmonic_mean(T a, T b) {
  const bool ascending = PetscAbsScalar(a) <= PetscAbsScalar(b);
  const T    small = ascending ? a : b, large = ascending ? b : a, sum = small + large;
  return PetscReal(2) * small * (large / (sum == T(0) ? T(1) : sum)); // no product of both, which might overflow
}
template <class T> SHELLAC_HD T arithmetic_mean(T a, T b) {
  return a / PetscReal(2) + b / PetscReal(2);
}

// Values has the values of a field at points of the whole grid and beside them: value.at(ends, i, component). k: of each
// axis or of all; w: of its components.
template <class Values> struct DiffusionTerms {
  int                  dim = 1;
  Ends                 ends[3];
  PetscScalar          sigma = 0; // [1/length² of k]
  PetscScalar          constant = 1;
  bool                 is_field = false, on_faces = false, conjugated = false; // of k
  MatDiffusionMeanType mean_type = MAT_DIFFUSION_HARMONIC;
  Values               k[3];
  bool                 flows = false, w_is_field = false, upwind = false;
  PetscReal            constant_w[3] = {0, 0, 0}; // [1/length of k]
  Values               w;
  bool                 masked = false, walls_have_values = false;
  Values               mask; // zero at points of the fluid

  SHELLAC_HD bool coupled(int axis) const { return axis < dim && ends[axis].couples(); }

  // The entries of a row that is not fixed, as if there were no ends: of the point, and of its neighbours [axis][end].
  // data: what the datum of a wall is multiplied by in the row, for all axes and ends.
  SHELLAC_HD void row(const PetscInt i[3], PetscScalar *center, PetscScalar beside[3][2],
                      PetscScalar (*data)[2] = nullptr) const {
    *center = sigma;
    for (int a = 0; a < 3; a++) {
      const PetscReal h = ends[a].h;
      const bool      has_wall[2] = {wall(i, a, -1), wall(i, a, 1)};
      for (int e = 0; e < 2; e++) {
        const PetscScalar flux = coupled(a) ? -face(i, a, e == LOWER ? -1 : 1) / (h * h) : PetscScalar(0);
        const bool insulated = has_wall[e] && !walls_have_values; // taken away again, it would leave a rounding error
        if (data) data[a][e] = insulated ? h * flux : PetscScalar(0);
        beside[a][e] = insulated ? PetscScalar(0) : flux;
        *center -= beside[a][e];
      }
      if (flows && coupled(a)) add_flow(PetscRealPart(w_at(i, a)) / h, center, beside[a]);
      for (int e = 0; e < 2; e++) {
        if (!has_wall[e]) continue;
        if (data) data[a][e] += (walls_have_values ? PetscReal(2) : h) * beside[a][e];
        *center += (walls_have_values ? PetscReal(-1) : PetscReal(1)) * beside[a][e];
        beside[a][e] = 0;
      }
    }
  }
  SHELLAC_HD bool solid(const PetscInt i[3]) const { return masked && mask.at(ends, i) != PetscScalar(0); }
  // The row is the identity's: of a solid point, and of one whose row would be zero, since no face lets anything through.
  SHELLAC_HD bool fixed(const PetscInt i[3]) const {
    if (!masked || solid(i)) return masked;
    bool open = walls_have_values || sigma != PetscScalar(0);
    for (int a = 0; a < dim; a++) open = open || ends[a].identity(i[a]); // a given value
    for (int a = 0; a < dim && !open; a++)
      for (int step = -1; step <= 1; step += 2) {
        PetscInt  inside;
        PetscReal factor, given;
        ends[a].fold(i[a] + step, &inside, &factor, &given);
        open = open || (coupled(a) && !wall(i, a, step) && (factor != 1 || inside != i[a]));
      }
    return !open;
  }
  // Along an axis; of a field that may have other values than real ones.
  SHELLAC_HD PetscScalar w_at(const PetscInt i[3], int axis) const {
    return w_is_field ? w.at(ends, i, axis) : PetscScalar(constant_w[axis]);
  }
  // k on the face to the next point or, with step = -1, to the previous one.
  SHELLAC_HD PetscScalar face(const PetscInt i[3], int axis, int step) const {
    if (!is_field) return constant;
    PetscScalar value;
    if (on_faces)
      value = on_face(i, axis, step);
    else {
      PetscInt next[3] = {i[0], i[1], i[2]};
      next[axis] += step;
      const bool leaves = beyond(next, axis);
      if (leaves) next[axis] = ends[axis].N > 1 ? i[axis] - step : i[axis];
      const PetscScalar here = k[0].at(ends, i), other = solid(next) ? here : k[0].at(ends, next);
      value = leaves ? extrapolate_coefficient(here, other, 1) : mean(here, other);
    }
    return conjugated ? PetscConj(value) : value;
  }

private:
  // Between a point of the fluid and the next one, or with step = -1 the previous one, half a spacing away: u = g there, or
  // ∂u/∂n = g.
  SHELLAC_HD bool wall(const PetscInt i[3], int axis, int step) const {
    PetscInt next[3] = {i[0], i[1], i[2]};
    next[axis] += step;
    return masked && coupled(axis) && !beyond(next, axis) && solid(next);
  }
  // Central differences of second order, or differences to the side that the velocity comes from, of first order (Courant,
  // Isaacson and Rees 1952).
  SHELLAC_HD void add_flow(PetscReal w_over_h, PetscScalar *center, PetscScalar beside[2]) const {
    const PetscReal lower = upwind ? PetscMax(w_over_h, 0) : w_over_h / 2,
                    upper = upwind ? PetscMin(w_over_h, 0) : w_over_h / 2;
    *center += lower - upper;
    beside[LOWER] -= lower;
    beside[UPPER] += upper;
  }
  SHELLAC_HD bool beyond(const PetscInt i[3], int axis) const { // an end that no condition of the DMDA goes on from
    return !ends[axis].periodic && !ends[axis].mirror && (i[axis] < 0 || i[axis] >= ends[axis].N);
  }
  SHELLAC_HD PetscScalar on_face(const PetscInt i[3], int axis, int step) const {
    const PetscInt N = ends[axis].N;
    PetscInt       at[3] = {i[0], i[1], i[2]};
    if (step > 0) at[axis]++;
    if (ends[axis].mirror && at[axis] == 0) at[axis] = 1; // the faces beside the mirror are alike
    if (ends[axis].mirror && at[axis] == N) at[axis] = N - 1;
    if (!beyond(at, axis)) return k[axis].at(ends, at);
    PetscInt last[3] = {at[0], at[1], at[2]}, before[3] = {at[0], at[1], at[2]};
    last[axis] = N - 1;
    before[axis] = PetscMax(N - 2, 0);
    return extrapolate_coefficient(k[axis].at(ends, last), k[axis].at(ends, before), 2);
  }
  SHELLAC_HD PetscScalar mean(PetscScalar a, PetscScalar b) const {
    return mean_type == MAT_DIFFUSION_ARITHMETIC ? arithmetic_mean(a, b) : harmonic_mean(a, b);
  }
};

// A field of the grid in the kernels' memory, with its halo if rows need it. Beyond an end it has the value at the end;
// beyond a mirrored end, the mirrored value.
struct FieldBesideHalo {
  Patch              patch;
  Field<PetscScalar> values;

  SHELLAC_HD PetscScalar at(const Ends ends[3], const PetscInt i[3], PetscInt component = 0) const {
    PetscInt p[3];
    for (int a = 0; a < 3; a++) {
      const PetscInt N = ends[a].N;
      p[a] = i[a];
      if (!ends[a].periodic || N == 1) p[a] = PetscMin(PetscMax(ends[a].within(i[a]), (PetscInt)0), N - 1);
      p[a] -= patch.start[a];
    }
    return values.value(patch, p, component);
  }
};

// The state of a filled row; a rank needs the largest of its rows.
enum { ROW_NORMAL = 0, ROW_NOT_NORMAL = 1, ROW_WRONG = 2 }; // the latter: values that are not allowed, or not finite

template <class T> struct FillDiffusion {
  OpenCoefficients<T>             to;
  DiffusionTerms<FieldBesideHalo> terms;
  int                             arm[3][2]; // [axis][end]
  bool                            positive;  // k must be
  PetscReal                       least;     // of normal values of k; 1/least: most
  T                              *state;     // [points]: see above
  T                              *sum;       // [points]: of a row's entries, relative to their sizes

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt g[3] = {to.patch.start[0] + i, to.patch.start[1] + j, to.patch.start[2] + k};
    const size_t   at = to.patch.index(i, j, k);
    T              center, beside[3][2], total;
    PetscReal      size = 0;
    bool           identity = terms.fixed(g), right = true, normal = true;
    const bool     solid = terms.solid(g); // without k and w at the point
    if (terms.masked) {
      const PetscReal absolute = PetscAbsScalar(terms.mask.at(terms.ends, g));
      right = absolute - absolute == 0;
    }
    for (int a = 0; a < 3; a++) identity = identity || terms.ends[a].identity(g[a]);
    for (int n = 0; terms.is_field && n < (terms.on_faces ? terms.dim : 1); n++) {
      const T         here = terms.k[n].at(terms.ends, g);
      const PetscReal absolute = PetscAbsScalar(here);
      right =
          right && ((solid && !terms.on_faces) || (absolute - absolute == 0 && (!positive || PetscRealPart(here) > 0)));
      normal = normal && (terms.on_faces || (least < absolute && absolute < 1 / least));
    }
    for (int a = 0; terms.w_is_field && a < terms.dim; a++) {
      const T         here = terms.w_at(g, a);
      const PetscReal absolute = PetscAbsScalar(here);
      right = right && (solid || (absolute - absolute == 0 && PetscImaginaryPart(here) == 0));
    }
    for (int s = 0; s < to.count(); s++) to.values[s][at] = 0;
    T &diagonal = to.values[to.slot(to.center, 0, 0)][at];
    sum[at] = 0;
    if (identity)
      diagonal = 1;
    else {
      terms.row(g, &center, beside);
      diagonal = total = center;
      size = PetscAbsScalar(center);
      for (int a = 0; a < terms.dim; a++)
        for (int e = 0; e < 2; e++) {
          PetscInt  inside;
          PetscReal factor, given;
          total += beside[a][e];
          size += PetscAbsScalar(beside[a][e]);
          if (!terms.coupled(a)) continue;
          terms.ends[a].fold(g[a] + (e == LOWER ? -1 : 1), &inside, &factor, &given);
          const int to_end = terms.ends[a].periodic ? e : inside < g[a] ? LOWER : UPPER;
          if (factor != 0) (inside == g[a] ? diagonal : to.values[arm[a][to_end]][at]) += factor * beside[a][e];
        }
      right = right && size - size == 0;
      if (size > 0) sum[at] = PetscAbsScalar(total) / size;
    }
    state[at] = PetscReal(!right ? ROW_WRONG : !normal ? ROW_NOT_NORMAL : ROW_NORMAL);
  }
};

} // namespace shellac
