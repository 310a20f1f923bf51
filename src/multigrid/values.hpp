#pragma once
// Values of a grid function at points that may be beyond a rank's patch.

#include <algorithm>

#include "device/launch.hpp"
#include "grid/patch.hpp"

namespace shellac {

// Rare, and long: kept out of the loops that call it.
#if SHELLAC_CUDA
#define SHELLAC_RARE __host__ __device__ __noinline__
#else
#define SHELLAC_RARE __attribute__((noinline))
#endif

// A value that no thread changes while the kernel runs: its load may begin before stores.
template <class T> SHELLAC_HD T unchanging(const T *at) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_floating_point<T>::value)
    return __ldg(at);
  else
#endif
    return *at;
}

// The value at p, which is beyond the patch, in its halo or on the other side; zero beyond the domain.
template <class T>
SHELLAC_RARE T value_beyond(const Patch &patch, const Field<T> &field, PetscInt i, PetscInt j, PetscInt k) {
  PetscInt p[3] = {i, j, k}, q[3];
  bool     inside = true;
  for (int a = 0; a < 3; a++) {
    q[a] = p[a];
    if (q[a] >= 0 && q[a] < patch.size[a]) continue;
    if (q[a] < -patch.width || q[a] >= patch.size[a] + patch.width) return 0;
    if (patch.periodic[a] && patch.size[a] == patch.N[a])
      q[a] = (q[a] % patch.N[a] + patch.N[a]) % patch.N[a];
    else
      inside = false;
  }
  return inside ? field.u[patch.index(q[0], q[1], q[2])] : field.value(patch, q, 0);
}

// The value at p, which may be beyond the patch by the width of its halo.
template <class T> SHELLAC_HD T value_at(const Patch &patch, const Field<T> &field, const PetscInt p[3]) {
  bool inside = true;
  for (int a = 0; a < 3; a++) inside = inside && p[a] >= 0 && p[a] < patch.size[a];
  return inside ? field.u[patch.index(p[0], p[1], p[2])] : value_beyond(patch, field, p[0], p[1], p[2]);
}

// A patch's points on the whole grid.
inline Box on_grid(const Patch &patch) {
  Box box = patch.all();
  for (int a = 0; a < 3; a++) box.lo[a] += patch.start[a], box.hi[a] += patch.start[a];
  return box;
}

SHELLAC_HD bool is_alone(const Patch &patch) { // without neighbouring patches
  bool none = true;
  for (int a = 0; a < 3; a++) none = none && !patch.neighbour[a][LOWER] && !patch.neighbour[a][UPPER];
  return none;
}

// The index along an axis of a patch without neighbours; negative where there is no value.
SHELLAC_HD PetscInt periodic_index(const Patch &patch, int a, PetscInt p) {
  const PetscInt N = patch.size[a];
  if (p >= 0 && p < N) return p;
  if (!patch.periodic[a] || p < -patch.width || p >= N + patch.width) return -1;
  p %= N;
  return p < 0 ? p + N : p;
}

// The value at (i, j), which may lie beyond the patch.
template <class S> SHELLAC_HD S value_near(const Patch &patch, const Field<S> &field, PetscInt i, PetscInt j) {
  if (is_alone(patch)) {
    i = periodic_index(patch, 0, i);
    j = periodic_index(patch, 1, j);
    return i >= 0 && j >= 0 ? field.u[patch.index(i, j, 0)] : S(0);
  }
  const PetscInt p[3] = {i, j, 0};
  return value_at(patch, field, p);
}

// ---- rows, on the host

// Where a field has the values of a row from a point on, which may be beyond the patch; null where it has none. *n: how many
// there are at most; fewer, if they go on elsewhere. *there: how many values follow in the same array.
template <class V>
const V *row_of(const Patch &patch, const Field<V> &field, const PetscInt from[3], PetscInt *n, size_t *there) {
  Direction to = {};
  PetscInt  p[3] = {from[0], from[1], from[2]};
  for (int a = 0; a < 3; a++) {
    const PetscInt size = patch.size[a], least = -patch.width, most = size + patch.width;
    if (a == 0) { // where the row leaves this part
      const PetscInt end = p[0] < least ? least : p[0] < 0 ? 0 : p[0] < size ? size : p[0] < most ? most : p[0] + *n;
      *n = PetscMin(*n, end - p[0]);
    }
    if (p[a] >= 0 && p[a] < size) continue;
    if (p[a] < least || p[a] >= most) return nullptr;
    if (patch.periodic[a] && size == patch.N[a]) {
      p[a] = (p[a] % size + size) % size;
      if (a == 0) *n = PetscMin(*n, size - p[0]);
    } else
      to.d[a] = p[a] < 0 ? -1 : 1;
  }
  const int direction = to.index();
  const Box box = direction == 13 ? patch.all() : patch.beyond_patch(to);
  const V  *values = direction == 13 ? field.u : field.halo[direction];
  *there = (size_t)box.points() - box.index(p);
  return values ? values + box.index(p) : nullptr;
}

// n values from a point on; zero where there are none.
template <class V, class T>
void copy_row(const Patch &patch, const Field<V> &field, const PetscInt from[3], PetscInt n, T *to) {
  PetscInt p[3] = {from[0], from[1], from[2]}, part;
  size_t   there;
  for (; n > 0; n -= part, p[0] += part, to += part) {
    part = n;
    const V *values = row_of(patch, field, p, &part, &there);
    if (!values)
      std::fill_n(to, part, T(0));
    else
      std::copy_n(values, part, to);
  }
}

} // namespace shellac
