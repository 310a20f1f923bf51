#pragma once
// The rows of diffusion on the host where no end is near, along rows of points. The numbers are those of FillDiffusion, bit
// by bit, so that the operator is symmetric.

#include <algorithm>

#include "device/stream.hpp"
#include "formulas/diffusion_terms.hpp"

namespace shellac {

enum class OnFace { given, harmonic, arithmetic };

// The entries for the neighbours in one direction, at n points along the first axis, and what is left of the diagonal. k,
// other: at the points and at the neighbours; or other: on the faces. square: h².
template <OnFace face>
SHELLAC_WIDE void fill_entries(const PetscReal *k, const PetscReal *other, PetscReal square, PetscInt n,
                               PetscReal *entry, PetscReal *diagonal) {
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal on_face = face == OnFace::given      ? other[i]
                              : face == OnFace::harmonic ? harmonic_mean(k[i], other[i])
                                                         : arithmetic_mean(k[i], other[i]);
    entry[i] = -on_face / square;
    diagonal[i] -= entry[i];
  }
}

// The sum of a row's entries, and of their absolute values.
SHELLAC_WIDE inline void add_entries(const PetscReal *entry, PetscInt n, PetscReal *total, PetscReal *size) {
  for (PetscInt i = 0; i < n; i++) total[i] += entry[i], size[i] += PetscAbsReal(entry[i]);
}

// The state of a row, and the relative sum of its entries.
template <OnFace face>
void judge_rows(const PetscReal *k, const PetscReal *total, const PetscReal *size, PetscReal least, PetscInt n,
                PetscReal *state, PetscReal *sum) {
  const PetscReal most = 1 / least;
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal absolute = PetscAbsReal(k[i]);
    const bool      right = size[i] - size[i] == 0 && (face != OnFace::harmonic || k[i] > 0);
    const bool      normal = face == OnFace::given || (least < absolute && absolute < most);
    state[i] = PetscReal(!right ? ROW_WRONG : normal ? ROW_NORMAL : ROW_NOT_NORMAL);
    sum[i] = PetscAbsReal(total[i]) / (size[i] > 0 ? size[i] : 1);
  }
}

template <OnFace face> void fill_inner_rows(const FillDiffusion<PetscReal> &fill, const Box &inner) {
  constexpr PetscInt chunk = 256; // points whose numbers stay in the first cache
  const Patch       &patch = fill.to.patch;
  PetscReal          total[chunk], size[chunk];
  for (PetscInt k = inner.lo[2]; k < inner.hi[2]; k++)
    for (PetscInt j = inner.lo[1]; j < inner.hi[1]; j++)
      for (PetscInt from = inner.lo[0]; from < inner.hi[0]; from += chunk) {
        const PetscInt   n = PetscMin(chunk, inner.hi[0] - from);
        const size_t     at = patch.index(from, j, k);
        const PetscReal *here = fill.terms.k[0].values.u + at;
        PetscReal       *diagonal = fill.to.values[fill.to.slot(fill.to.center, 0, 0)] + at;
        const auto       for_each_arm = [&](const auto &f) { // f(axis, end, its entries)
          for (int a = 0; a < fill.terms.dim; a++)
            for (int e = 0; e < 2; e++) f(a, e, fill.to.values[fill.arm[a][e]] + at);
        };
        std::fill_n(diagonal, n, fill.terms.sigma);
        for_each_arm([&](int a, int e, PetscReal *entry) {
          const ptrdiff_t  stride = (ptrdiff_t)patch.stride(a);
          const PetscReal *other = face == OnFace::given ? fill.terms.k[a].values.u + at + (e == LOWER ? 0 : stride)
                                                         : here + (e == LOWER ? -stride : stride);
          fill_entries<face>(here, other, fill.terms.ends[a].h * fill.terms.ends[a].h, n, entry, diagonal);
        });
        for (PetscInt i = 0; i < n; i++) total[i] = diagonal[i], size[i] = PetscAbsReal(diagonal[i]);
        for_each_arm([&](int, int, PetscReal *entry) { add_entries(entry, n, total, size); });
        judge_rows<face>(here, total, size, fill.least, n, fill.state + at, fill.sum + at);
      }
}

// All rows, on the host.
inline PetscErrorCode fill_on_host(const FillDiffusion<PetscReal> &fill) {
  const Patch &patch = fill.to.patch;
  Box          inner = patch.all();

  PetscFunctionBegin;
  for (int a = 0; a < fill.terms.dim; a++) inner.lo[a] = 1, inner.hi[a] = patch.size[a] - 1;
  if (fill.to.count() > 2 * fill.terms.dim + 1) inner = {}; // there are slots that are zero
  if (fill.terms.on_faces)
    fill_inner_rows<OnFace::given>(fill, inner);
  else if (fill.terms.mean_type == MAT_DIFFUSION_HARMONIC)
    fill_inner_rows<OnFace::harmonic>(fill, inner);
  else
    fill_inner_rows<OnFace::arithmetic>(fill, inner);
  PetscCall(for_each(PETSC_MEMTYPE_HOST, difference(patch.all(), inner), fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
