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
    constexpr int  reach = Scheme::radius;
    const PetscInt p[2] = {i, j}, here[3] = {i, j, 0}, *const n = patch.patch.size;
    [[maybe_unused]] const bool inner =
        i >= reach && i + reach < n[0] && (dim == 1 || (j >= reach && j + reach < n[1]));
    Dual<Real>     r[dim];
    point_rates<Scheme>(
        patch, p,
        [&](int c, int axis, PetscInt offset) {
          PetscInt q[3];
#ifndef __CUDA_ARCH__ // on a GPU the threads of a warp would take both ways
          const PetscInt64 at = patch.patch.index(i, j, 0) + offset * (axis ? (PetscInt64)n[0] : 1);
          if (inner) return Dual<Real>(u.u[at * dim + c], v.u[at * dim + c]);
#endif
          if (!find_cell(patch, p, axis, offset, q)) return Dual<Real>(patch.beyond[c][axis][offset < 0 ? 0 : 1]);
          return Dual<Real>(u.value(patch.patch, q, c), v.value(patch.patch, q, c));
        },
        r);
    for (int c = 0; c < dim; c++)
      y[patch.patch.index(i, j, 0) * dim + c] = shift * v.value(patch.patch, here, c) + scale * r[c].d;
  }
};

// The row of J of component c at the cell p: one derivative after another, with respect to each component of each cell on
// the arms.
template <class Scheme, int dim>
void point_row(const BurgersPatch &patch, const Field<PetscReal> &u, const PetscInt p[2], PetscInt c,
               std::vector<JacobianEntry> *row) {
  constexpr int r = Scheme::radius;
  int           cells = 0, cell_at[dim][2 * r + 1]; // [axis][offset + r]: several places may share a cell
  PetscReal     state[dim][dim][2 * r + 1];         // [axis][component][offset + r]
  PetscInt      q[3];
  row->clear();
  for (int a = 0; a < dim; a++)
    for (PetscInt o = -r; o <= r; o++) {
      const bool found = find_cell(patch, p, a, o, q);
      int       &cell = cell_at[a][o + r];
      for (int k = 0; k < dim; k++)
        state[a][k][o + r] = found ? u.value(patch.patch, q, k) : patch.beyond[k][a][o < 0 ? 0 : 1];
      cell = -1;
      if (!found) continue;
      for (int k = 0; k < cells; k++) {
        const JacobianEntry &entry = (*row)[(size_t)k * dim];
        if (entry.p[0] == q[0] && entry.p[1] == q[1]) cell = k;
      }
      if (cell >= 0) continue;
      cell = cells++;
      for (PetscInt component = 0; component < dim; component++) row->push_back({{q[0], q[1]}, component, 0});
    }
  for (size_t e = 0; e < row->size(); e++) {
    JacobianEntry  &entry = (*row)[e];
    Dual<PetscReal> rate[dim];
    point_rates<Scheme>(
        patch, p,
        [&](int component, int axis, PetscInt offset) {
          const bool along = cell_at[axis][offset + r] == (int)e / dim && component == entry.c;
          return Dual<PetscReal>(state[axis][component][offset + r], along);
        },
        rate);
    entry.value = rate[c].d;
  }
}

} // namespace shellac
