#pragma once
// A level's operator by the coefficients at its points, for operators that are no sum over the axes:
//   (A u)_p = s_p u_p + Σ_d c_{p,d} (u_p - u_{p+d}) ,
// d over the arms of a star or over all neighbours in a box. With differences, what a row sums up to is not lost in
// rounding. m_p c_{p,d} = m_{p+d} c_{p+d,-d}: symmetric, but for masses m.

#include <vector>

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
  int count() const {
    int n = 0;
    each([&](const PetscInt *) { n++; });
    return n;
  }
};

// The coefficients of a row, each an array over the points.
enum RowSlot {
  SHIFT = 0,
  INVERSE_DIAGONAL = 1,
  FIRST_COUPLING = 2
}; // the inverse is zero where there is nothing to do

// On the host; over a rank's points and some beyond them, which belong to its neighbours or are images on a periodic axis.
struct Couplings {
  Box                      grown;
  Neighbours               neighbours;
  std::vector<PetscScalar> values; // [slots][points of grown]
  std::vector<PetscScalar> mass;   // likewise; empty where it is one

  size_t             points() const { return (size_t)grown.points(); }
  int                slots() const { return FIRST_COUPLING + neighbours.count(); }
  PetscScalar       *slot(int n) { return values.data() + (size_t)n * points(); }
  const PetscScalar *slot(int n) const { return values.data() + (size_t)n * points(); }
  void               resize() { values.assign((size_t)slots() * points(), 0); }
  void               invert_diagonals();
};

// How a level's points lie between those of the next one.
struct GridCoarsening {
  Patch      patch;
  Coarsening axis[3];
  PetscInt   coarse_N[3];

  // Of the point i of the patch, which may be beyond it: the coarse point at or before it on the whole grid, going on
  // around a periodic axis; and whether it lies between that and the next.
  PetscInt below(int a, PetscInt i) const {
    PetscInt g = patch.start[a] + i, turns = 0;
    if (patch.periodic[a])
      while (g < 0 || g >= patch.N[a]) turns += g < 0 ? -1 : 1, g += g < 0 ? patch.N[a] : -patch.N[a];
    return axis[a].below(g) + turns * coarse_N[a];
  }
  bool between(int a, PetscInt i) const {
    PetscInt g = patch.start[a] + i;
    if (patch.periodic[a]) g = (g % patch.N[a] + patch.N[a]) % patch.N[a];
    return axis[a].coarsens && ((g - axis[a].offset) & 1);
  }
  int corners() const { return (1 + axis[0].coarsens) * (1 + axis[1].coarsens) * (1 + axis[2].coarsens); }
  // The place of a corner c, zero or one along each axis, among a point's weights.
  int corner(const PetscInt c[3]) const {
    return (int)(c[0] + (1 + axis[0].coarsens) * (c[1] + (1 + axis[1].coarsens) * c[2]));
  }
};

// Weights of the coarse points around each of the patch's points that lies between coarse ones along `axes_between`
// axes: [corners][points of grown]. They need those with fewer, at the points beyond the patch too.
void interpolate(const Couplings &fine, const GridCoarsening &coarsening, int axes_between,
                 std::vector<PetscScalar> *weights);

// The coarse operator, interpolation's transpose times the fine one times interpolation, on the points of a patch.
void coarsen(const Couplings &fine, const GridCoarsening &coarsening, const std::vector<PetscScalar> &weights,
             const Patch &coarse_patch, Couplings *coarse);

} // namespace shellac
