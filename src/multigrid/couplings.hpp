#pragma once
// A level's operator by the coefficients at its points, for operators that are no sum over the axes:
//   (A u)_p = s_p u_p + Σ_d c_{p,d} (u_p - u_{p+d}) ,
// d over the arms of a star or over all neighbours in a box. With differences, what a row sums up to is not lost in
// rounding. m_p c_{p,d} = m_{p+d} c_{p+d,-d}: symmetric, but for masses m.

#include "device/mirror.hpp"
#include "device/runs.hpp"
#include "grid/patch.hpp"
#include "multigrid/axis.hpp"

namespace shellac {

// Which points a row couples, in the order of its coefficients. Plain data, to be given to a kernel.
struct Neighbours {
  bool present[3]; // the axis has more than one point
  bool star;

#if defined(__CUDACC__)
#pragma nv_exec_check_disable // functions of the host, too
#endif
  template <class Function> SHELLAC_HD void each(const Function &f) const { // f(step)
    if (star) {
      for (int a = 0; a < 3; a++)
        for (int way = -1; present[a] && way <= 1; way += 2) {
          PetscInt d[3] = {0, 0, 0};
          d[a] = way;
          f((const PetscInt *)d);
        }
      return;
    }
    const PetscInt reach[3] = {present[0], present[1], present[2]};
    PetscInt       d[3];
    for (d[2] = -reach[2]; d[2] <= reach[2]; d[2]++)
      for (d[1] = -reach[1]; d[1] <= reach[1]; d[1]++)
        for (d[0] = -reach[0]; d[0] <= reach[0]; d[0]++)
          if (d[0] || d[1] || d[2]) f((const PetscInt *)d);
  }
  SHELLAC_HD int count() const {
    const int axes = present[0] + present[1] + present[2];
    return star || axes < 2 ? 2 * axes : axes == 2 ? 8 : 26;
  }
};

// The coefficients of a row, each an array over the points.
enum RowSlot {
  SHIFT = 0,
  INVERSE_DIAGONAL = 1,
  FIRST_COUPLING = 2
}; // the inverse is zero where there is nothing to do

// Values after the last array: loops on the host take whole vectors of a row.
constexpr size_t room_after_rows = 16;

// The arrays, over a rank's points and some beyond them, which belong to its neighbours or are images on a periodic
// axis. Plain data, on the host or on a GPU.
struct CouplingArrays {
  Box          grown = {};
  Neighbours   neighbours = {};
  PetscScalar *values = nullptr; // [slots][points of grown]
  PetscScalar *mass = nullptr;   // likewise; null where it is one

  SHELLAC_HD size_t       points() const { return (size_t)grown.points(); }
  SHELLAC_HD int          slots() const { return FIRST_COUPLING + neighbours.count(); }
  SHELLAC_HD PetscScalar *slot(int n) const { return values + (size_t)n * points(); }
};

// The same with their memory.
struct Couplings : CouplingArrays {
  Mirror<PetscScalar> memory_of_values, memory_of_mass;

  PetscErrorCode MakeZero(PetscMemType memory) { // without masses
    PetscFunctionBegin;
    DropMass();
    PetscCall(memory_of_values.MakeZero(memory, (size_t)slots() * points() + room_after_rows, &values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode MakeMass(PetscMemType memory) { // uninitialised
    PetscFunctionBegin;
    PetscCall(memory_of_mass.Make(memory, points(), &mass));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void DropMass() {
    mass = nullptr;
    memory_of_mass.change().clear();
  }
  void swap(Couplings *other) {
    std::swap(grown, other->grown);
    std::swap(neighbours, other->neighbours);
    std::swap(values, other->values);
    memory_of_values.swap(&other->memory_of_values);
    std::swap(mass, other->mass);
    memory_of_mass.swap(&other->memory_of_mass);
  }
};

// Place of a step of -1, 0 or 1 along each axis among 27.
SHELLAC_HD int step_place(PetscInt x, PetscInt y, PetscInt z) {
  return (int)(13 + x + 3 * y + 9 * z);
}

// A neighbour of any point: its direction, its place in an array counted from the point's, which neighbour the point is
// to it, and the coupling with it, an array.
struct Neighbour {
  PetscInt     d[3];
  PetscInt64   step;
  int          back;
  PetscScalar *coupling;
};
struct NeighbourList {
  Neighbour at[26];
  int       count = 0, arm_at[27]; // by step_place(), less than zero where there is none

  explicit NeighbourList(const CouplingArrays &of) {
    const PetscInt64 row = of.grown.size(0), plane = row * of.grown.size(1);
    for (int &arm : arm_at) arm = -1;
    of.neighbours.each([&](const PetscInt *d) {
      arm_at[step_place(d[0], d[1], d[2])] = count;
      at[count] = {{d[0], d[1], d[2]}, d[0] + d[1] * row + d[2] * plane, 0, of.slot(FIRST_COUPLING + count)};
      count++;
    });
    for (int n = 0; n < count; n++) at[n].back = count - 1 - n;
    if (of.neighbours.star) // in pairs
      for (int n = 0; n < count; n++) at[n].back = n ^ 1;
  }
};

SHELLAC_RUN void invert_run(const PetscScalar *diagonal, PetscScalar *inverse, int n) {
  for (int i = 0; i < n; i++)
    inverse[i] = diagonal[i] != (PetscScalar)0 ? (PetscScalar)1 / diagonal[i] : (PetscScalar)0;
}

// What sum_runs() gives, on the host, which waits for it.
template <class Sum, class Function>
PetscErrorCode get_sum_of_runs(PetscMemType memory, const Box &box, const Function &f, Sum *sum) {
  Scratch<Sum>     parts, all;
  std::vector<Sum> found;

  PetscFunctionBegin;
  PetscCall(all.Grow(1, memory));
  PetscCall(sum_runs(memory, box, f, &parts, all.at(memory)));
  PetscCall(all.GetHost(memory, &found));
  *sum = found[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// How a level's points lie between those of the next one. Plain data.
struct GridCoarsening {
  Patch        patch;
  CoarsePlaces axis[3];
  PetscInt     coarse_N[3];

  // Of the point i of the patch, which may be beyond it: the coarse point at or before it on the whole grid, going on
  // around a periodic axis; and whether it lies between that and the next.
  SHELLAC_HD PetscInt below(int a, PetscInt i) const {
    PetscInt g = patch.start[a] + i, turns = 0;
    if (patch.periodic[a])
      while (g < 0 || g >= patch.N[a]) turns += g < 0 ? -1 : 1, g += g < 0 ? patch.N[a] : -patch.N[a];
    return axis[a].below(g) + turns * coarse_N[a];
  }
  SHELLAC_HD bool between(int a, PetscInt i) const {
    PetscInt g = patch.start[a] + i;
    if (patch.periodic[a]) g = (g % patch.N[a] + patch.N[a]) % patch.N[a];
    return axis[a].coarsens && ((g - axis[a].offset) & 1);
  }
  SHELLAC_HD int corners() const { return (1 + axis[0].coarsens) * (1 + axis[1].coarsens) * (1 + axis[2].coarsens); }
  // How many coarse points a fine one lies between, on average.
  double weights_of_a_point() const {
    double n = 1;
    for (int a = 0; a < 3; a++) n *= axis[a].coarsens ? 1.5 : 1;
    return n;
  }
  // The place of a corner c, zero or one along each axis, among a point's weights.
  SHELLAC_HD int corner(const PetscInt c[3]) const {
    return (int)(c[0] + (1 + axis[0].coarsens) * (c[1] + (1 + axis[1].coarsens) * c[2]));
  }
};

inline GridCoarsening coarsening_between(const Patch &fine, const Coarsening to_next[3], const Patch &coarse) {
  return {fine, {to_next[0], to_next[1], to_next[2]}, {coarse.N[0], coarse.N[1], coarse.N[2]}};
}

// How far beyond a patch that has the whole axis a level's arrays reach along it.
inline PetscInt level_reach(const Patch &patch, int a) {
  return patch.N[a] == 1 ? 0 : patch.periodic[a] && patch.N[a] % 2 ? 3 : 2;
}

// INVERSE_DIAGONAL from the rest of the rows.
PetscErrorCode invert_diagonals(PetscMemType memory, const CouplingArrays &rows);

// Weights of the coarse points around each of the patch's points that lies between coarse ones along `axes_between`
// axes: [corners][points of grown], zero before. They need those with fewer, at the points beyond the patch too.
PetscErrorCode interpolate(PetscMemType memory, const CouplingArrays &fine, const GridCoarsening &coarsening,
                           int axes_between, PetscScalar *weights);

// Among obstacles: weights for such points that got none, from coarse points that are solid. marks [points of grown], zero
// beyond the domain, are made at the patch's points, and needed beyond it.
PetscErrorCode mark_gaps(PetscMemType memory, const CouplingArrays &fine, const GridCoarsening &coarsening,
                         int axes_between, PetscScalar *weights, PetscScalar *marks);
PetscErrorCode fill_gaps(PetscMemType memory, const CouplingArrays &fine, const GridCoarsening &coarsening,
                         const PetscScalar *marks, PetscScalar *weights);

struct CoarsenRoom {
  Scratch<PetscScalar> total, of_rows;
};
// The coarse operator, restriction times the fine one times interpolation, on the points of a patch: of all rows of
// *coarse, whose arrays are on that patch or more. restriction: by its transpose's weights.
PetscErrorCode coarsen(PetscMemType memory, const CouplingArrays &fine, const GridCoarsening &coarsening,
                       const PetscScalar *weights, const PetscScalar *restriction, const Patch &coarse_patch,
                       const CouplingArrays &coarse, CoarsenRoom *room);

// From the rows of a patch's points and of those next to them: the transposed ones, or half the sum of both, at the patch's
// points. They have no masses, and *derived has the same arrays. But for all_of_transpose, couplings of the wrong sign
// are left out.
enum class DerivedRows { transpose, symmetric_part, all_of_transpose };
PetscErrorCode derive_rows(PetscMemType memory, const Patch &patch, const CouplingArrays &rows, DerivedRows which,
                           const CouplingArrays &derived);

} // namespace shellac
