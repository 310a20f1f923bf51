#include "multigrid/systems/point_block_jacobi.hpp"

#include <petscblaslapack.h>

#include <complex>

#include "multigrid/step.hpp"

namespace shellac {

namespace {

template <int dof, bool transposed> struct StepOfBlocks {
  const PetscScalar   *blocks, *r;
  const unsigned char *alone;
  PetscReal            omega;
  bool                 from_zero;
  PetscScalar         *x;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    for (int i = 0; i < n; i++) {
      const size_t       at = (size_t)(p[0] + i);
      const PetscScalar *block = blocks + at * dof * dof, *of = r + at * dof;
      PetscScalar       *to = x + at * dof, sum[dof] = {};
      const unsigned     exact = alone[at];
      const auto         scale = [&](int k) { return exact >> k & 1 ? PetscReal(1) : omega; };
      for (int c = 0; c < dof; c++)
        for (int k = 0; k < dof; k++)
          sum[k] += transposed ? block[k * dof + c] * (scale(c) * of[c]) : block[c * dof + k] * of[c];
      for (int k = 0; k < dof; k++) {
        const PetscReal of_sum = transposed ? 1 : scale(k);
        to[k] = from_zero ? of_sum * sum[k] : jacobi_step(to[k], of_sum, sum[k]);
      }
    }
  }
};

template <int dof>
PetscErrorCode step_of(PetscMemType memory, size_t n, const PetscScalar *blocks, const unsigned char *alone,
                       PetscReal omega, bool transposed, bool from_zero, const PetscScalar *r, PetscScalar *x) {
  const Box points = {{0, 0, 0}, {(PetscInt)n, 1, 1}};
  return transposed ? for_each_run(memory, points, StepOfBlocks<dof, true>{blocks, r, alone, omega, from_zero, x})
                    : for_each_run(memory, points, StepOfBlocks<dof, false>{blocks, r, alone, omega, from_zero, x});
}

} // namespace

PetscErrorCode Smoothing::Step(PetscMemType memory, size_t n, int step, bool transposed, bool from_zero,
                               const PetscScalar *r, PetscScalar *x) {
  constexpr PetscErrorCode (*of[])(PetscMemType, size_t, const PetscScalar *, const unsigned char *, PetscReal, bool,
                                   bool, const PetscScalar *, PetscScalar *) = {
      step_of<1>, step_of<2>, step_of<3>, step_of<4>, step_of<5>, step_of<6>, step_of<7>, step_of<8>};
  const PetscScalar   *inverse;
  const unsigned char *exact;

  PetscFunctionBegin;
  PetscCall(blocks.Get(memory, &inverse));
  PetscCall(alone.Get(memory, &exact));
  const PetscReal weight = step < 0 ? 1 : omega[transposed ? steps - 1 - step : step];
  PetscCall(of[dof - 1](memory, n, inverse, exact, weight, transposed, from_zero, r, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal perron_root(int n, const PetscReal *A, PetscReal *vector) {
  constexpr PetscReal least = 1e-6;
  PetscReal           root = 0;

  std::fill_n(vector, n, PetscReal(1));
  for (int step = 0; step < 100; step++) { // of A + I, whose powers converge
    PetscReal next[most_unknowns], largest = 0;
    for (int i = 0; i < n; i++) {
      next[i] = vector[i];
      for (int j = 0; j < n; j++) next[i] += A[i * n + j] * vector[j];
      largest = PetscMax(largest, next[i]);
    }
    root = largest - 1;
    for (int i = 0; i < n; i++) vector[i] = PetscMax(next[i] / largest, least);
  }
  return root;
}

void choose_damping(const std::vector<PetscReal> &re, const std::vector<PetscReal> &im, PetscReal bound,
                    PetscReal share, int steps, PetscReal *omega) {
  using Complex = std::complex<PetscReal>;
  constexpr PetscReal  margin = 1.05; // Arnoldi's method does not quite reach the largest
  constexpr int        intervals = 24, samples = 40;
  PetscReal            high = 0, best = PETSC_MAX_REAL;
  std::vector<Complex> ritz, damped;

  for (size_t n = 0; n < re.size(); n++) {
    const Complex   value = margin * Complex(re[n], im[n]);
    const PetscReal size = std::abs(value);
    ritz.push_back(size > bound ? value * (bound / size) : value);
    high = PetscMax(high, std::abs(ritz.back()));
  }
  if (!(high > 0)) high = 2;
  const PetscReal low = share * high;
  for (int n = 0; n <= samples; n++) damped.emplace_back(low + (high - low) * n / samples, 0);
  for (const Complex &value : ritz)
    if (std::abs(value) >= low) damped.push_back(value);
  for (int n = 0; n <= intervals; n++) {
    PetscReal tried[max_smoothing_steps], worst = 0;
    set_chebyshev_weights(low + (high - low) * n / intervals, high, steps, tried);
    for (const Complex &eigenvalue : damped) {
      Complex left = 1;
      for (int s = 0; s < steps; s++) left *= PetscReal(1) - tried[s] * eigenvalue;
      worst = PetscMax(worst, std::abs(left));
    }
    if (worst >= best) continue;
    best = worst;
    std::copy_n(tried, steps, omega);
  }
}

PetscErrorCode eigenvalues_of_hessenberg(int size, std::vector<PetscScalar> *H, std::vector<PetscReal> *re,
                                         std::vector<PetscReal> *im) {
  PetscBLASInt             n = size, one = 1, work_size = 8 * n + 8, info;
  std::vector<PetscScalar> work(work_size);

  PetscFunctionBegin;
  re->assign(n, 0);
  im->assign(n, 0);
#if defined(PETSC_USE_COMPLEX)
  std::vector<PetscScalar> values(n);
  std::vector<PetscReal>   rwork(2 * n);
  PetscCallBLAS("LAPACKgeev", LAPACKgeev_("N", "N", &n, H->data(), &n, values.data(), NULL, &one, NULL, &one,
                                          work.data(), &work_size, rwork.data(), &info));
  for (int i = 0; i < n; i++) (*re)[i] = PetscRealPart(values[i]), (*im)[i] = PetscImaginaryPart(values[i]);
#else
  PetscCallBLAS("LAPACKgeev", LAPACKgeev_("N", "N", &n, H->data(), &n, re->data(), im->data(), NULL, &one, NULL, &one,
                                          work.data(), &work_size, &info));
#endif
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's geev failed with %d", (int)info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
