#pragma once
// Arrays over a box that holds a patch's points and some beyond them.

#include <algorithm>

#include "grid/halo.hpp"

namespace shellac {

// Calls f(p, n) for the rows of a box: n points from p on.
template <class Function> void for_each_row(const Box &box, const Function &f) {
  PetscInt p[3] = {box.lo[0]};
  for (p[2] = box.lo[2]; p[2] < box.hi[2]; p[2]++)
    for (p[1] = box.lo[1]; p[1] < box.hi[1]; p[1]++) f((const PetscInt *)p, box.size(0));
}

// The values at some points, from one box to another.
template <class T> void copy_points(const Box &points, const Box &from_box, const T *from, const Box &to_box, T *to) {
  for_each_row(
      points, [&](const PetscInt p[3], PetscInt n) { std::copy_n(from + from_box.index(p), n, to + to_box.index(p)); });
}

// The values of some arrays [points of the box] beyond the patch: from neighbouring ranks through their halo, on the
// host alone, or from the other end of an axis. Those beyond the domain stay as they are.
PetscErrorCode fill_ghosts(PetscMemType memory, const Patch &patch, Halo *halo, const Box &box, PetscScalar *values,
                           int arrays = 1);

} // namespace shellac
