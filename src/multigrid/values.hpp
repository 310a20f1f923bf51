#pragma once
// Values of a grid function at points that may be beyond a rank's patch.

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

} // namespace shellac
