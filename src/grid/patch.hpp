#pragma once
// A patch: one rank's part of a grid; and a grid function on it.

#include "device/launch.hpp"

namespace shellac {

enum Side { LOWER = 0, UPPER = 1 };

// A step to a neighbouring patch: -1, 0 or 1 along each axis; there are 27, numbered along the first axis first.
struct Direction {
  int d[3];

  static constexpr int        count = 27;
  SHELLAC_HD int              index() const { return 13 + d[0] + 3 * d[1] + 9 * d[2]; }
  SHELLAC_HD static Direction at(int index) { return {{index % 3 - 1, index / 3 % 3 - 1, index / 9 - 1}}; }
  // The face of an axis.
  SHELLAC_HD static constexpr int face(int axis, int end) {
    return 13 + (end == LOWER ? -1 : 1) * (axis == 0 ? 1 : axis == 1 ? 3 : 9);
  }
};

// One rank's part of a structured grid of 1 to 3 dimensions; axes beyond the dimension have one point.
// A point is given by its indices p on the patch; p may be outside by up to the width of the halo.
struct Patch {
  PetscInt N[3];            // points of the whole grid along each axis
  PetscInt start[3];        // of the first point of the patch, on the whole grid
  PetscInt size[3];         // points of the patch
  bool     periodic[3];
  bool     neighbour[3][2]; // [axis][end]: the next point there belongs to a neighbouring patch, or is around the axis
  PetscInt width = 1;       // of the halo [points]
  PetscInt dof = 1;         // values at a point

  SHELLAC_HD size_t index(PetscInt i, PetscInt j, PetscInt k) const {
    return (size_t)i + (size_t)size[0] * ((size_t)j + (size_t)size[1] * (size_t)k);
  }
  SHELLAC_HD size_t stride(int axis) const {
    return axis == 0 ? 1 : axis == 1 ? (size_t)size[0] : (size_t)size[0] * (size_t)size[1];
  }
  SHELLAC_HD bool at_domain_end(const PetscInt p[3], int axis, Side end) const {
    return start[axis] + p[axis] == (end == LOWER ? 0 : N[axis] - 1);
  }
  // Whether the point is in the domain (beyond the end of a periodic axis it is); and whether it is in the patch.
  SHELLAC_HD bool in_domain(const PetscInt p[3]) const {
    bool inside = true;
    for (int a = 0; a < 3; a++)
      inside = inside && (periodic[a] || (start[a] + p[a] >= 0 && start[a] + p[a] < N[a]));
    return inside;
  }
  SHELLAC_HD bool contains(const PetscInt p[3]) const {
    return p[0] >= 0 && p[0] < size[0] && p[1] >= 0 && p[1] < size[1] && p[2] >= 0 && p[2] < size[2];
  }
  // The points beyond the patch in that direction, a halo's width deep.
  SHELLAC_HD Box beyond_patch(const Direction &to) const {
    Box box;
    for (int a = 0; a < 3; a++) {
      box.lo[a] = to.d[a] < 0 ? -width : to.d[a] > 0 ? size[a] : 0;
      box.hi[a] = to.d[a] < 0 ? 0 : to.d[a] > 0 ? size[a] + width : size[a];
    }
    return box;
  }
  // The patch's own points that its neighbour in that direction needs.
  Box shared_with(const Direction &to) const {
    Box box = beyond_patch(to);
    for (int a = 0; a < 3; a++) box.lo[a] -= to.d[a] * width, box.hi[a] -= to.d[a] * width;
    return box;
  }
  SHELLAC_HD Box all() const { return {{0, 0, 0}, {size[0], size[1], size[2]}}; }
  // The points whose stencils need no halo.
  Box interior() const {
    Box box = all();
    for (int a = 0; a < 3; a++) {
      if (neighbour[a][LOWER]) box.lo[a] = PetscMin(width, size[a]);
      if (neighbour[a][UPPER]) box.hi[a] = PetscMax(size[a] - width, box.lo[a]);
    }
    return box;
  }
  Boxes border() const { return difference(all(), interior()); }
};

struct HaloInKernel;

// A grid function on a patch: the owned values and the packed halo, both in the memory where the loop runs.
template <class T> struct Field {
  const T *u;                      // [size[2]][size[1]][size[0]][dof]
  const T *halo[Direction::count]; // [direction], each as u over beyond_patch(); null without a neighbour, or if not needed
  HaloInKernel *exchange = nullptr; // that kernels which compute with it have to do: HaloInKernel::take()

  // The c-th value at p, which may be in the halo; zero where there is none.
  SHELLAC_HD T value(const Patch &patch, const PetscInt p[3], PetscInt c) const {
    Direction to;
    for (int a = 0; a < 3; a++) to.d[a] = p[a] < 0 ? -1 : p[a] >= patch.size[a] ? 1 : 0;
    const int direction = to.index();
    if (direction == 13) return u[patch.index(p[0], p[1], p[2]) * patch.dof + c];
    if (!halo[direction]) return 0;
    const Box box = patch.beyond_patch(to);
    return halo[direction][box.index(p) * patch.dof + c];
  }
  // The line along the first axis at the indices j and k, which may be in the halo; null where there is none.
  const T *line(const Patch &patch, PetscInt j, PetscInt k) const {
    const Direction to = {{0, j < 0 ? -1 : j >= patch.size[1], k < 0 ? -1 : k >= patch.size[2]}};
    const T *const values = to.index() == 13 ? u : halo[to.index()];
    const PetscInt  q[3] = {0, j, k};
    return values ? values + patch.beyond_patch(to).index(q) * patch.dof : nullptr;
  }
};

} // namespace shellac
