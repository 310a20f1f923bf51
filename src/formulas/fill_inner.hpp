#pragma once
// The rows of diffusion where no end is near, in runs of points. The numbers are those of FillDiffusion, bit by bit, so that
// the operator is symmetric.

#include "device/runs.hpp"
#include "formulas/diffusion_terms.hpp"

namespace shellac {

enum class OnFace { given, harmonic, arithmetic };

template <OnFace face> struct FillInner {
  FillDiffusion<PetscScalar> fill;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const auto        &terms = fill.terms;
    const Patch       &patch = fill.to.patch;
    const size_t       at = patch.index(p[0], p[1], p[2]);
    const PetscScalar *k = terms.k[0].values.u + at;
    PetscScalar       *diagonal = fill.to.values[fill.to.slot(fill.to.center, 0, 0)] + at;
    PetscScalar        center[most], entry[6][most];
    PetscReal          size[most];

    fill_run(center, n, terms.sigma);
    SHELLAC_UNROLL_ALL
    for (int m = 0; m < 6; m++) {
      const int a = m / 2, e = m % 2;
      if (a >= terms.dim) continue;
      const ptrdiff_t    stride = (ptrdiff_t)patch.stride(a);
      const PetscReal    square = terms.ends[a].h * terms.ends[a].h;
      const PetscScalar *other = face == OnFace::given ? terms.k[a].values.u + at + (e == LOWER ? 0 : stride)
                                                       : k + (e == LOWER ? -stride : stride);
      PetscScalar       *out = fill.to.values[fill.arm[a][e]] + at;
      SHELLAC_COLUMNS
      for (int i = 0; i < n; i++) {
        const PetscScalar on_face = face == OnFace::given      ? other[i]
                                    : face == OnFace::harmonic ? harmonic_mean(k[i], other[i])
                                                               : arithmetic_mean(k[i], other[i]);
        out[i] = entry[m][i] = -(terms.conjugated ? PetscConj(on_face) : on_face) / square;
        center[i] -= entry[m][i];
      }
    }
    for (int i = 0; i < n; i++) diagonal[i] = center[i], size[i] = PetscAbsScalar(center[i]);
    SHELLAC_UNROLL_ALL
    for (int m = 0; m < 6; m++) {
      if (m / 2 >= terms.dim) continue;
      for (int i = 0; i < n; i++) center[i] += entry[m][i], size[i] += PetscAbsScalar(entry[m][i]);
    }
    const PetscReal least = fill.least, largest = 1 / least;
    for (int i = 0; i < n; i++) {
      const PetscReal absolute = PetscAbsScalar(k[i]);
      const bool      right = size[i] - size[i] == 0 && (face != OnFace::harmonic || PetscRealPart(k[i]) > 0);
      const bool      normal = face == OnFace::given || (least < absolute && absolute < largest);
      fill.state[at + i] = PetscReal(!right ? ROW_WRONG : normal ? ROW_NORMAL : ROW_NOT_NORMAL);
      fill.sum[at + i] = PetscAbsScalar(center[i]) / (size[i] > 0 ? size[i] : 1);
    }
  }
};

// All rows.
inline PetscErrorCode fill_rows(PetscMemType memory, const FillDiffusion<PetscScalar> &fill) {
  const auto  &terms = fill.terms;
  const Patch &patch = fill.to.patch;
  Box          inner = patch.all();

  PetscFunctionBegin;
  for (int a = 0; a < terms.dim; a++) inner.lo[a] = 1, inner.hi[a] = patch.size[a] - 1;
  if (terms.flows || terms.masked || !terms.is_field || fill.to.count() > 2 * terms.dim + 1)
    inner = {}; // or slots are zero
  if (terms.on_faces)
    PetscCall(for_each_run(memory, inner, FillInner<OnFace::given>{fill}));
  else if (terms.mean_type == MAT_DIFFUSION_HARMONIC)
    PetscCall(for_each_run(memory, inner, FillInner<OnFace::harmonic>{fill}));
  else
    PetscCall(for_each_run(memory, inner, FillInner<OnFace::arithmetic>{fill}));
  PetscCall(for_each(memory, difference(patch.all(), inner), fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
