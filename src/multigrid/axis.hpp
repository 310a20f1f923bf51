#pragma once
// One axis of a level, seen alone: a chain of points with masses m, joined by edges k. The level's operator is a sum
// over its axes,
//   (A u)_i = Σ_axes (k_i (u_i - u_{i-1}) + k_{i+1} (u_i - u_{i+1})) / m_i + σ u_i ,
// which holds all boundary forms, spacings and stretchings: what differs is in m and k near the ends. The next coarser
// chain keeps every second point. Its edges and the interpolation are those of linear finite elements (two edges in
// series; values in between by the weights of their edges), and its masses are the lumped ones, so that a chain of any
// length has a next one, with an odd point or cell at most at its ends.

#include <vector>

#include "device/launch.hpp"

namespace shellac {

// Of rows that are read, relative to the diagonal entry.
// cancellation: what rounding leaves where entries cancel. A sum of 27 entries has 26 roundings of up to twice the diagonal
// entry, 26 epsilon; the entries, sums of products themselves, have a few more.
// agreement: what rounding makes of equal rows. A coefficient of an axis has 4 roundings, the diagonal entry of a sum
// of them 7, the shift as many, and the program's own sum 6: less than 16 epsilon. Cycles over such rows are cycles for
// the matrix. rounding: couplings that differ by less make no other hierarchy, but residuals have to be the matrix's
// own.
constexpr PetscReal cancellation = 64 * PETSC_MACHINE_EPSILON, agreement = 16 * PETSC_MACHINE_EPSILON, rounding = 1e-10;

struct Axis {
  std::vector<PetscReal> mass; // m [N]
  std::vector<PetscReal> edge; // k [N + 1]: edge i couples the points i - 1 and i; the first and the last couple
                               // the ends of the domain, where u is zero or, of a periodic axis, each other
  bool periodic = false;       // the axis is periodic
  bool fixed = false;          // the first and the last point are nodes with given values: zero in corrections
  bool balanced = false;       // coarse points lie as far from one end as from the other, or nearly

  PetscInt  N() const { return (PetscInt)mass.size(); }
  bool      is_fixed(PetscInt i) const { return fixed && (i == 0 || i == N() - 1); }
  PetscReal coupling() const { return edge[N() / 2] / mass[N() / 2]; } // 1/h² far from the ends, times any factor
  PetscReal strength() const { return PetscAbsReal(coupling()); }
  // A lower bound of the axis' eigenvalues' sizes: 1 over the resistance of all edges in series, from an end of the
  // domain on, times the sum of the masses. Zero where nothing holds the values.
  PetscReal lowest() const;
  bool      has_rows_of(const Axis &other) const {
         return mass == other.mass && edge == other.edge && periodic == other.periodic && fixed == other.fixed;
  }
  bool couples() const { // at least two points
    for (PetscInt i = periodic ? 0 : 1; i < N(); i++)
      if (edge[i] != 0) return true;
    return false;
  }
};

// An operator.
struct SumOverAxes {
  Axis        axes[3];
  PetscScalar sigma;

  bool is(const Axis other[3], PetscScalar its_sigma) const {
    bool same = sigma == its_sigma;
    for (int a = 0; a < 3; a++) same = same && axes[a].has_rows_of(other[a]) && axes[a].balanced == other[a].balanced;
    return same;
  }
};

// How points lie between those of the next coarser axis: the fine point i at, or after, the coarse point below(i).
struct CoarsePlaces {
  bool     coarsens = false;  // otherwise the axis stays as it is
  PetscInt offset = 0;        // the coarse point J is the fine point 2J + offset
  bool     ties_ends = false; // the last point of an odd periodic axis has the value of the first

  SHELLAC_HD PetscInt below(PetscInt i) const { return coarsens ? (i - offset - ((i - offset) & 1)) / 2 : i; }
};

// From an axis to the next coarser one.
struct Coarsening : CoarsePlaces {
  std::vector<PetscReal> prolong[2];     // weights of the coarse points below(i) and below(i) + 1 in the fine one [N]
  std::vector<PetscReal> restriction[2]; // weights of the fine point i in those two [N]
};

// An axis of equal edges, for rows that are known point by point. fixed: rows at both ends couple nothing; free_end: no
// edge leads beyond that end.
Axis axis_beside_rows(PetscInt N, bool periodic, bool fixed, PetscReal edge, const bool free_end[2]);

// Whether an axis has a next coarser one.
bool can_coarsen(const Axis &axis);
// coarsens: or whether the axis is to stay
Axis coarsen(const Axis &axis, bool coarsens, Coarsening *coarsening);

// Keeps the points from lo to before hi, and the coarse ones likewise; on a periodic axis, numbers go on beyond its ends.
// Beyond the points that are kept, u is zero.
void cut(PetscInt lo, PetscInt hi, PetscInt coarse_lo, PetscInt coarse_hi, Axis *axis, Coarsening *coarsening);

// Modes of an axis whose points are all alike, with zero beside the first and the last.
struct SineModes {
  PetscInt  N = 0; // none: the axis has others
  PetscReal coupling = 0;

  SHELLAC_HD static PetscReal vector(PetscInt N, PetscInt mode, PetscInt point) { // of length 1
    const PetscInt turn = (mode + 1) * (point + 1) % (2 * (N + 1));
    return PetscSqrtReal(PetscReal(2) / (N + 1)) * PetscSinReal(PETSC_PI * turn / (N + 1));
  }
  PetscReal value(PetscInt mode) const {
    const PetscReal sine = PetscSinReal(PETSC_PI * (mode + 1) / (2 * (N + 1)));
    return 4 * coupling * sine * sine;
  }
};
SineModes sine_modes(const Axis &axis);

// The axis' operator as M^-1 K = V Λ V^-1, without fixed points: their rows and columns are zero.
struct Modes {
  std::vector<PetscReal> values;  // Λ [N]
  std::vector<PetscReal> vectors; // V [N][N], its columns one after the other
  std::vector<PetscReal> inverse; // V^-1, likewise
  std::vector<bool>      in;      // the mode exists; there are as many as points that are not fixed
};
PetscErrorCode get_modes(const Axis &axis, Modes *modes);
// Whether that takes divide and conquer, which has no relative accuracy: where rows have many sizes, small eigenvalues lose
// digits that the solution needs. Around a periodic axis the matrix is not tridiagonal.
bool decomposes_fast(const Axis &axis);

// What kernels need to know of an axis at one point.
template <class R> struct AxisPoint {
  R lower, upper; // k/m of the edges before and after it
  R in;           // 1, or 0 for a fixed node and beyond the domain
  R prolong[2];   // see Coarsening
  R restriction[2];
  R unused; // 64 bytes in double precision
};

// [reach + N + reach] of an axis, with `reach` points beyond both ends.
constexpr PetscInt                           axis_reach = 10;
template <class R> std::vector<AxisPoint<R>> axis_points(const Axis &axis, const Coarsening &coarsening) {
  const PetscInt            N = axis.N();
  std::vector<AxisPoint<R>> all(N + 2 * axis_reach);

  for (PetscInt n = 0; n < (PetscInt)all.size(); n++) {
    AxisPoint<R> &at = all[n];
    PetscInt      i = n - axis_reach;
    at = AxisPoint<R>{};
    if (axis.periodic) i = (i % N + N) % N;
    if (i < 0 || i >= N) continue;
    at.lower = (R)(axis.edge[i] / axis.mass[i]);
    at.upper = (R)(axis.edge[i + 1] / axis.mass[i]);
    at.in = axis.is_fixed(i) ? 0 : 1;
    for (int c = 0; c < 2; c++) {
      at.prolong[c] = (R)coarsening.prolong[c][i];
      at.restriction[c] = (R)coarsening.restriction[c][i];
    }
    // on an odd periodic axis the first point follows the last as a kept one follows a kept one: it gives it nothing
    if (!coarsening.coarsens || N % 2 == 0 || !axis.periodic) continue;
    if (n - axis_reach >= N) at.restriction[0] = 0;
    if (coarsening.ties_ends && n - axis_reach == -1) at.restriction[1] = at.restriction[0];
  }
  return all;
}

} // namespace shellac
