#pragma once
// Transfers between levels of several unknowns a point: weights of the coarse points around each fine one, for each unknown
// by itself; prolongation P and restriction, its transpose.

#include "grid/halo.hpp"
#include "multigrid/setup/coarse_runs.hpp"
#include "multigrid/systems/rows.hpp"

namespace shellac {

// Of a fine level's points. Plain data.
struct SystemTransfers {
  GridCoarsening     coarsening;
  Box                grown; // the box that the weights are on
  int                dof;
  const PetscScalar *weights; // [dof][corners][points of grown]

  SHELLAC_HD size_t place(int corner, int unknown) const {
    return (size_t)(corner + coarsening.corners() * unknown) * (size_t)grown.points();
  }
};

// The c-th value at p, which may be beyond the patch, or around a periodic axis that it has wholly.
SHELLAC_HD PetscScalar value_of(const Patch &patch, const Field<PetscScalar> &field, const PetscInt p[3], int c) {
  PetscInt q[3];
  for (int a = 0; a < 3; a++) {
    const PetscInt N = patch.N[a];
    q[a] = patch.periodic[a] && patch.size[a] == N ? (p[a] % N + N) % N : p[a];
  }
  return field.value(patch, q, c);
}

// Weights of linear interpolation, by the axes' alone. A row that couples nothing is solved by smoothing: it gives and
// takes nothing.
struct SetLinearWeights {
  GridCoarsening     coarsening;
  Box                grown;
  int                dof;
  const PetscScalar *alone;    // see SystemRows
  const PetscReal   *along[3]; // [2][N]: of the coarse points at or before, and after
  PetscScalar       *weights;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t points = (size_t)grown.points();
    for (int i = 0; i < n; i++) {
      const PetscInt q[3] = {p[0] + i, p[1], p[2]};
      const size_t   at = grown.index(q);
      PetscInt       c[3], between[3];
      for (int a = 0; a < 3; a++) between[a] = coarsening.between(a, q[a]);
      for (c[2] = 0; c[2] <= between[2]; c[2]++)
        for (c[1] = 0; c[1] <= between[1]; c[1]++)
          for (c[0] = 0; c[0] <= between[0]; c[0]++) {
            PetscReal weight = 1;
            PetscInt  kept[3];
            for (int a = 0; a < 3; a++) {
              weight *= along[a][c[a] * coarsening.patch.N[a] + coarsening.patch.start[a] + q[a]];
              kept[a] = q[a] + (between[a] ? 2 * c[a] - 1 : 0);
            }
            const size_t there = grown.index(kept);
            PetscScalar *w = weights + (size_t)coarsening.corner(c) * points + at;
            for (int r = 0; r < dof; r++, w += coarsening.corners() * points)
              *w = weight * ((PetscScalar)1 - alone[r * points + at]) * ((PetscScalar)1 - alone[r * points + there]);
          }
    }
  }
};

// x = P e, or x += P e
struct Prolong {
  SystemTransfers    of;
  Patch              coarse;
  Field<PetscScalar> e;
  bool               add;
  PetscScalar       *x;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const GridCoarsening &c = of.coarsening;
    const int             dof = of.dof;
    for (int i = 0; i < n; i++) {
      const PetscInt q[3] = {p[0] + i, p[1], p[2]};
      const size_t   at = of.grown.index(q);
      PetscScalar   *to = x + c.patch.index(q[0], q[1], q[2]) * dof, sum[most_unknowns] = {};
      PetscInt       first[3], corner[3], between[3];
      for (int a = 0; a < 3; a++) {
        first[a] = c.below(a, q[a]) - coarse.start[a];
        between[a] = c.between(a, q[a]);
      }
      for (corner[2] = 0; corner[2] <= between[2]; corner[2]++)
        for (corner[1] = 0; corner[1] <= between[1]; corner[1]++)
          for (corner[0] = 0; corner[0] <= between[0]; corner[0]++) {
            const PetscInt     J[3] = {first[0] + corner[0], first[1] + corner[1], first[2] + corner[2]};
            const PetscScalar *w = of.weights + of.place(c.corner(corner), 0) + at;
            const bool         inside = coarse.contains(J);
            const PetscScalar *there = inside ? e.u + coarse.index(J[0], J[1], J[2]) * dof : nullptr;
            for (int r = 0; r < dof; r++) {
              const PetscScalar weight = w[of.place(0, r)];
              if (inside)
                sum[r] += weight * there[r];
              else if (weight != (PetscScalar)0)
                sum[r] += weight * value_of(coarse, e, J, r);
            }
          }
      for (int r = 0; r < dof; r++) to[r] = (add ? to[r] : PetscScalar(0)) + sum[r];
    }
  }
};

// b = R r
struct Restrict {
  SystemTransfers    of;
  Patch              coarse;
  Field<PetscScalar> r;
  PetscScalar       *b;

  template <int stride, int most>
  SHELLAC_RUN void run(const Around *const around[3], const PetscInt here[3], int n) const {
    const Patch &fine = of.coarsening.patch;
    const int    dof = of.dof;
    PetscScalar  sum[most * most_unknowns];
    int          s[3];

    fill_run(sum, n * dof, PetscScalar(0));
    for (s[2] = around[2]->lo; s[2] <= around[2]->hi; s[2]++)
      for (s[1] = around[1]->lo; s[1] <= around[1]->hi; s[1]++)
        for (s[0] = around[0]->lo; s[0] <= around[0]->hi; s[0]++) {
          PetscInt p[3], corner[3];
          if (!find_corner(AnyPoint{around, nullptr, nullptr}, s, p, corner)) continue;
          const PetscInt     last[3] = {p[0] + (n - 1) * stride, p[1], p[2]};
          const bool         inside = fine.contains(p) && fine.contains(last);
          const PetscScalar *w = of.weights + of.place(of.coarsening.corner(corner), 0) + of.grown.index(p);
          const PetscScalar *from = inside ? r.u + fine.index(p[0], p[1], p[2]) * dof : nullptr;
          for (int c = 0; c < dof; c++, w += of.place(0, 1)) {
            if (inside) {
              SHELLAC_COLUMNS
              for (int i = 0; i < n; i++) sum[i * dof + c] += w[i * stride] * from[(size_t)i * stride * dof + c];
              continue;
            }
            for (int i = 0; i < n; i++) {
              const PetscInt q[3] = {p[0] + i * stride, p[1], p[2]};
              if (w[i * stride] != (PetscScalar)0) sum[i * dof + c] += w[i * stride] * value_of(fine, r, q, c);
            }
          }
        }
    PetscScalar *to = b + coarse.index(here[0], here[1], here[2]) * dof;
    for (int i = 0; i < n * dof; i++) to[i] = sum[i];
  }
};

// Adds the coarse couplings of a pair of unknowns to entries.
struct AddPair {
  CouplingArrays from;
  bool           local;         // all of a row goes to the point itself
  PetscScalar   *to[26], *here; // [points of from]: entries for the neighbours, and for the point itself

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const size_t at = from.grown.index(p);
    for (int i = 0; i < n; i++) here[at + i] += from.slot(SHIFT)[at + i];
    for (int slot = FIRST_COUPLING; slot < from.slots() && !local; slot++) {
      const PetscScalar *c = from.slot(slot) + at;
      PetscScalar       *entry = to[slot - FIRST_COUPLING] + at;
      for (int i = 0; i < n; i++) here[at + i] += c[i], entry[i] -= c[i];
    }
  }
};

} // namespace shellac
