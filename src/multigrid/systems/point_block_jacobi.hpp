#pragma once
// Smoothing by weighted point-block Jacobi: x += ω D⁻¹ r, D the blocks of a point's unknowns on the diagonal.

#include "device/mirror.hpp"
#include "device/runs.hpp"
#include "multigrid/multigrid.hpp"
#include "multigrid/smoothing_weights.hpp"

namespace shellac {

struct Smoothing {
  int                   dof = 1, steps = 0;
  PetscReal             omega[max_smoothing_steps] = {};
  PetscReal             bound = 0;                 // on the eigenvalues of D⁻¹A
  PetscReal             scale[most_unknowns] = {}; // of the unknowns, so that D⁻¹A is nearer to normal
  Mirror<PetscScalar>   blocks;                    // [points][dof][dof], inverse, by columns
  Mirror<unsigned char> alone; // [points]: bits of rows that couple nothing, whose solution is exact

  // x += ω D⁻¹ r or, from_zero, x = ω D⁻¹ r; at n points. step: negative: ω = 1; transposed: steps come in the opposite
  // order.
  PetscErrorCode Step(PetscMemType memory, size_t n, int step, bool transposed, bool from_zero, const PetscScalar *r,
                      PetscScalar *x);
};

// Weights that damp best what a coarse grid does not see: the eigenvalues of D⁻¹A from low to the largest, and those of
// `ritz` that are larger than low, which may be complex. Chebyshev's weights for an interval that is as long as these
// allow (Trottenberg, Oosterlee, Schüller 2001, section 2.1); a short one gives equal weights of damped Jacobi.
// bound: on the eigenvalues; values beyond it are artefacts. share: of low in the largest eigenvalue
void choose_damping(const std::vector<PetscReal> &ritz_re, const std::vector<PetscReal> &ritz_im, PetscReal bound,
                    PetscReal share, int steps, PetscReal *omega);

// The largest eigenvalue of a matrix without negative entries, by rows, and its eigenvector, whose largest entry is one
// and whose others are 1e-6 or more.
PetscReal perron_root(int n, const PetscReal *A, PetscReal *vector);

PetscErrorCode eigenvalues_of_hessenberg(int n, std::vector<PetscScalar> *H, std::vector<PetscReal> *re,
                                         std::vector<PetscReal> *im);
// Approximates eigenvalues of D⁻¹A by Arnoldi's method from the vector v[0]. product: w = D⁻¹A v.
template <class Product>
PetscErrorCode get_ritz_values(const std::vector<Vec> &v, const Product &product, std::vector<PetscReal> *re,
                               std::vector<PetscReal> *im) {
  const int                most = (int)v.size() - 1;
  std::vector<PetscScalar> H((size_t)most * most, 0), h(most);
  PetscReal                norm;
  int                      n = 0;

  PetscFunctionBegin;
  PetscCall(VecNormalize(v[0], NULL));
  while (n < most) {
    PetscCall(product(v[n], v[n + 1]));
    PetscCall(VecMDot(v[n + 1], n + 1, v.data(), h.data())); // few vectors: once is enough
    for (int i = 0; i <= n; i++) H[i + (size_t)n * most] = h[i], h[i] = -h[i];
    PetscCall(VecMAXPY(v[n + 1], n + 1, h.data(), const_cast<Vec *>(v.data())));
    PetscCall(VecNormalize(v[n + 1], &norm));
    n++;
    if (n == most || !(norm > 1e-10)) break; // all of the space
    H[n + (size_t)(n - 1) * most] = norm;
  }
  std::vector<PetscScalar> square((size_t)n * n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) square[i + (size_t)j * n] = H[i + (size_t)j * most];
  PetscCall(eigenvalues_of_hessenberg(n, &square, re, im));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
