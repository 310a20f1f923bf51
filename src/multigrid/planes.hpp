#pragma once
// Passes on the host over a level that strips do not serve: of three dimensions, or with variable coefficients. The level
// is walked plane by plane (row by row in two dimensions). Step s works s planes behind the plane that is being read, and
// only the last planes of each step are held, in the cache. Neighbouring ranks' values are good for one step: a level
// that is distributed, or periodic across its planes, takes a walk for each step.

#include "multigrid/pass.hpp"
#include "multigrid/plane_rows.hpp"

namespace shellac {

// What a walk does. b, and the result, are of T or, where T is not PETSc's scalar, of that.
template <class T> struct PlanePass {
  using S = PetscScalar;
  LevelPart<T> level;
  bool         given, corrected; // starts from a guess; from that, or zero, with the coarse correction added
  int          begin, end;       // smoothing steps
  Field<T>     guess, e;
  const T     *b;
  const S     *b_of_vectors; // in place of b, where that is null
  T           *out;          // the last step's result; null: not wanted
  S           *out_of_vectors;
  T           *residual; // b - A u after the steps; null: not wanted
  T           *b_coarse; // the residual's restriction, on the points of coarse_b; null: not wanted
  Patch        coarse_b, coarse_e;
};

// A patch as it is walked: the axis of its rows in a plane, and that of its planes.
struct Layers {
  int      across, slow;
  PetscInt nx, rows, planes;

  explicit Layers(const Patch &patch) : Layers(patch, patch.N[2] > 1 ? 2 : 1) {}
  Layers(const Patch &patch, int axis_of_planes)
      : across(3 - axis_of_planes), slow(axis_of_planes), nx(patch.size[0]), rows(patch.size[across]),
        planes(patch.size[slow]) {}
  // of a point, in the patch's arrays and in those of the points of a box
  size_t index(const Patch &patch, PetscInt i, PetscInt m, PetscInt k) const {
    return (size_t)i + (size_t)m * patch.stride(across) + (size_t)k * patch.stride(slow);
  }
  size_t index(const Box &box, PetscInt i, PetscInt m, PetscInt k) const {
    PetscInt p[3];
    p[0] = i, p[across] = m, p[slow] = k;
    return box.index(p);
  }
};

// Reads a plane of a field and what is beyond its ends; the plane itself may be beyond the patch.
template <class T>
void load_plane(const Patch &patch, const Layers &of, const Field<T> &field, PetscInt k, Plane<T> *plane) {
  const auto inside = [&](int a, PetscInt *p) { // or around a periodic axis
    if (*p >= 0 && *p < patch.size[a]) return true;
    if (!patch.periodic[a] || patch.size[a] != patch.N[a]) return false;
    *p = (*p % patch.N[a] + patch.N[a]) % patch.N[a];
    return true;
  };
  const auto shared = [&](int a, PetscInt p) { // with a neighbouring rank
    return p < 0 ? patch.neighbour[a][LOWER] : p >= patch.size[a] && patch.neighbour[a][UPPER];
  };
  for (PetscInt m = -1; m <= of.rows; m++) {
    T         *row = plane->row(m);
    PetscInt   at_m = m, at_k = k;
    const bool in_across = inside(of.across, &at_m), in_slow = inside(of.slow, &at_k), here = in_across && in_slow;
    const bool there = here || shared(of.across, at_m) || shared(of.slow, at_k);
    const auto value = [&](PetscInt i) {
      PetscInt p[3];
      p[0] = i, p[of.across] = m, p[of.slow] = k;
      return value_at(patch, field, p);
    };
    if (!here && !there) {
      std::fill(row - 1, row + of.nx + 1, T(0));
      continue;
    }
    if (here)
      std::copy_n(field.u + of.index(patch, 0, at_m, at_k), of.nx, row);
    else
      for (PetscInt i = 0; i < of.nx; i++) row[i] = value(i);
    row[-1] = value(-1);
    row[of.nx] = value(of.nx);
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
