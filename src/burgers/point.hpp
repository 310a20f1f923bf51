#pragma once
// The rates at one cell of a grid in 1-D or 2-D, from values that are looked up one by one: for the Jacobian,
// where they are dual numbers.
//
// In 2-D the component along an axis obeys the 1-D equation there, and carries the other one:
//   u_t + (u²/2)_x + v u_y = ν Δu,   v_t + u v_x + (v²/2)_y = ν Δv.

#include "burgers/operations.hpp"

namespace shellac {

// Finds the cell `offset` steps from p along an axis, which may be in the halo: false if its value is a given one.
SHELLAC_HD bool find_cell(const BurgersPatch &patch, const PetscInt p[2], int axis, PetscInt offset, PetscInt q[3]) {
  const PetscInt n = patch.patch.size[axis];
  q[0] = p[0], q[1] = p[1], q[2] = 0;
  q[axis] += offset;
  if (q[axis] >= 0 && q[axis] < n) return true;
  const int e = q[axis] < 0 ? 0 : 1;
  const End end = patch.end[axis][e];
  if (end == End::value) return false;
  if (end == End::wrap) q[axis] = (q[axis] % n + n) % n;
  if (end == End::copy) q[axis] = e ? n - 1 : 0;
  return true;
}

template <int dim> SHELLAC_HD bool is_frozen(const BurgersPatch &patch, const PetscInt p[2]) {
  bool frozen = false;
  for (int a = 0; a < dim; a++)
    frozen = frozen || (patch.frozen[a][0] && p[a] == 0) || (patch.frozen[a][1] && p[a] == patch.patch.size[a] - 1);
  return frozen;
}

// load(c, axis, offset): component c at that many steps from the cell along that axis.
template <class Scheme, int dim, class T, class Load>
SHELLAC_HD void point_rates(const BurgersPatch &patch, const PetscInt p[2], const Load &load, T (&rate)[dim]) {
  constexpr int r = Scheme::radius, width = 2 * r + 1;
  for (int c = 0; c < dim; c++) rate[c] = T(0);
  if (is_frozen<dim>(patch, p)) return;
  for (int a = 0; a < dim; a++) {
    const Scheme scheme(patch.at[a]);
    if constexpr (!Scheme::has_faces) {
      T u[width], along[1] = {T(0)};
      for (int o = 0; o < width; o++) u[o] = load(a, a, o - r);
      strip_rates<1>(scheme, u, along);
      rate[a] = rate[a] + along[0];
    } else {
      const T q = load(a, a, 0);
      for (int c = 0; c < dim; c++) {
        T        u[width];
        Edges<T> e[3];
        for (int o = 0; o < width; o++) u[o] = load(c, a, o - r);
        for (int o = 0; o < 3; o++) e[o] = scheme.edges(u + o);
        const T near[3] = {u[r - 1], u[r], u[r + 1]};
        rate[c] = rate[c] + (c == a ? rate_along(scheme, e, near) : rate_across(scheme, q, e, near));
      }
    }
  }
}

template <class Scheme, int dim> struct PointJacobian {
  using Real = typename Scheme::Real;
  BurgersPatch patch;
  Field<Real>  u, v;
  Real         shift, scale;
  Real        *y;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt) const {
    const PetscInt p[2] = {i, j}, here[3] = {i, j, 0};
    Dual<Real>     r[dim];
    point_rates<Scheme>(
        patch, p,
        [&](int c, int axis, PetscInt offset) {
          PetscInt q[3];
          if (!find_cell(patch, p, axis, offset, q)) return Dual<Real>(patch.beyond[c][axis][offset < 0 ? 0 : 1]);
          return Dual<Real>(u.value(patch.patch, q, c), v.value(patch.patch, q, c));
        },
        r);
    for (int c = 0; c < dim; c++)
      y[patch.patch.index(i, j, 0) * dim + c] = shift * v.value(patch.patch, here, c) + scale * r[c].d;
  }
};

// On the host: the values on the arms of a cell, the derivative of its rates along a direction, and a row of the Jacobian.

constexpr int longest_arm = 3;

struct Cross {
  PetscReal value[2][2][2 * longest_arm + 1]; // [axis][component][offset + radius]
};
template <class Scheme, int dim>
void differentiate_point(const BurgersPatch &patch, const PetscInt p[2], const Cross &u, const Cross &v,
                         PetscReal derivative[2]) {
  Dual<PetscReal> rate[dim];
  point_rates<Scheme>(
      patch, p,
      [&](int c, int axis, PetscInt offset) {
        const PetscInt at = offset + Scheme::radius;
        return Dual<PetscReal>(u.value[axis][c][at], v.value[axis][c][at]);
      },
      rate);
  for (int c = 0; c < dim; c++) derivative[c] = rate[c].d;
}
using DifferentiatePoint = void(const BurgersPatch &, const PetscInt[2], const Cross &, const Cross &, PetscReal[2]);

// y = shift v + scale J(u) v.
void jacobian_on_host(const BurgersPatch &patch, int radius, DifferentiatePoint *differentiate,
                      const Field<PetscReal> &u, const Field<PetscReal> &v, PetscReal shift, PetscReal scale,
                      PetscReal *y);
// The row of component c: one derivative after another, with respect to each component of each cell on the arms.
void jacobian_row_on_host(const BurgersPatch &patch, int radius, DifferentiatePoint *differentiate,
                          const Field<PetscReal> &u, const PetscInt p[2], PetscInt c, std::vector<JacobianEntry> *row);

} // namespace shellac
