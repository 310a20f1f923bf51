#pragma once
// Passes on the host over a level. It is walked plane by plane (row by row in two dimensions). Step s works s planes
// behind the plane that is being read, and only the last planes of each step are held, in the cache. Of a level that is
// distributed, a rank walks over its own points and some of its neighbours', whose steps it computes, too, as far as
// its own depend on them. Where an axis is periodic across the planes, and in few other cases, there is a walk for each
// step instead.

#include "multigrid/host/plane_rows.hpp"

namespace shellac {

// What a walk does.
template <class Level> struct PlanePass {
  using T = typename Level::Scalar;
  Level    level;      // its patch is what is walked over
  bool     halves;     // each pair of couplings, which are equal, is read in one of its rows
  Patch    own;        // the rank's points, of guess, b and results: that patch, or a part of it
  int      begin, end; // smoothing steps
  Field<T> guess, e;   // where it starts, and the coarse correction that is added; null: zero
  Field<T> b, r;       // r: what is restricted, and nothing else is done; null: the residual
  T       *out;        // null: not wanted
  T       *residual;   // b - A u after the steps; null: not wanted
  T       *b_coarse;   // the residual's restriction, on the points of coarse_b; null: not wanted
  Patch    coarse_b, coarse_e;
};

// Points beyond a rank's that its results depend on, from a guess to the restricted residual.
constexpr PetscInt points_beyond(int steps) {
  return steps + 2;
}
// Extends a rank's part of a level by so many points of each neighbour.
template <class Level> void extend(PetscInt points, Level *level) {
  Patch &patch = level->patch;
  for (int a = 0; a < 3; a++) {
    const PetscInt before = patch.neighbour[a][LOWER] ? points : 0, after = patch.neighbour[a][UPPER] ? points : 0;
    patch.periodic[a] = patch.periodic[a] && patch.size[a] == patch.N[a];
    patch.start[a] -= before;
    patch.size[a] += before + after;
    for (bool &neighbour : patch.neighbour[a]) neighbour = false;
    if constexpr (Level::variable) {
      level->grown.lo[a] += before, level->grown.hi[a] += before;
    } else {
      level->axis[a] -= before;
      level->regular_lo[a] += before, level->regular_hi[a] += before;
    }
  }
}

// A patch as it is walked: the axis of its rows in a plane, and that of its planes.
struct Layers {
  int      across, slow;
  PetscInt nx, rows, planes;

  explicit Layers(const Patch &patch) : Layers(patch, patch.N[2] > 1 ? 2 : 1) {}
  Layers(const Patch &patch, int axis_of_planes)
      : across(3 - axis_of_planes), slow(axis_of_planes), nx(patch.size[0]), rows(patch.size[across]),
        planes(patch.size[slow]) {}
  void to_axes(PetscInt i, PetscInt m, PetscInt k, PetscInt p[3]) const { p[0] = i, p[across] = m, p[slow] = k; }
  // of a point, in the patch's arrays and in those of the points of a box
  size_t index(const Patch &patch, PetscInt i, PetscInt m, PetscInt k) const {
    return (size_t)i + (size_t)m * patch.stride(across) + (size_t)k * patch.stride(slow);
  }
  size_t index(const Box &box, PetscInt i, PetscInt m, PetscInt k) const {
    PetscInt p[3];
    to_axes(i, m, k, p);
    return box.index(p);
  }
};

// Reads a plane of a field and what is beyond its ends. from: the patch's point that is the first of the plane, which may be
// beyond it
template <class T>
void load_plane(const Patch &patch, const Layers &of, const Field<T> &field, const PetscInt from[3], Plane<T> *plane) {
  for (PetscInt m = -1; m <= of.rows; m++) {
    PetscInt p[3];
    of.to_axes(from[0] - 1, from[of.across] + m, from[of.slow], p);
    copy_row(patch, field, p, of.nx + 2, plane->row(m) - 1);
  }
}

// Fills what is beyond the ends of a plane of a patch without neighbouring patches.
template <class T> void close_plane(const Patch &patch, const Layers &of, Plane<T> *plane) {
  for (PetscInt m = 0; m < of.rows; m++) {
    T *row = plane->row(m);
    row[-1] = patch.periodic[0] ? row[of.nx - 1] : T(0);
    row[of.nx] = patch.periodic[0] ? row[0] : T(0);
  }
  const bool periodic = patch.periodic[of.across];
  for (const PetscInt m : {(PetscInt)-1, of.rows}) {
    T       *row = plane->row(m);
    const T *from = plane->row(m < 0 ? of.rows - 1 : 0);
    if (periodic)
      std::copy(from - 1, from + of.nx + 1, row - 1);
    else
      std::fill(row - 1, row + of.nx + 1, T(0));
  }
}

// The last three planes of a grid function; zero beyond the domain.
template <class T> class PlaneRing {
public:
  void resize(PetscInt nx, PetscInt rows) {
    for (Plane<T> &plane : planes_) plane.resize(nx, rows);
    zero_.resize(nx, rows);
  }
  Plane<T> &put(PetscInt k) { // in place of the oldest
    number_[slot(k)] = k;
    return planes_[slot(k)];
  }
  const Plane<T> &at(PetscInt k) const { return number_[slot(k)] == k ? planes_[slot(k)] : zero_; }
  bool            has(PetscInt k) const { return number_[slot(k)] == k; }

private:
  static constexpr PetscInt nothing = -100;
  static int                slot(PetscInt k) { return (int)((k + 3) % 3); }
  Plane<T>                  planes_[3], zero_;
  PetscInt                  number_[3] = {nothing, nothing, nothing};
};

} // namespace shellac
