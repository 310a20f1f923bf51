#pragma once
// The operations of one scheme: chooses the loop for each memory. Included by the source of each flux.

#include "burgers/device.hpp"
#include "burgers/host.hpp"
#include "burgers/plane.hpp"
#include "burgers/point.hpp"

namespace shellac {

template <class Scheme> class SchemeOperations final : public BurgersOperations {
public:
  using Real = PetscReal;
  SchemeOperations(const char *flux_name, const char *reconstruction_name, PetscReal cfl_number) {
    flux = flux_name;
    reconstruction = reconstruction_name;
    radius = Scheme::radius;
    cfl = cfl_number;
  }

  PetscErrorCode rates(PetscMemType memory, const Coefficients<Real> &at, const Line<Real> &u, Extremes *extremes,
                       Real *rate) const override {
    PetscFunctionBegin;
    PetscCall(check_backend(memory));
#if SHELLAC_CUDA
    if (PetscMemTypeDevice(memory)) {
      constexpr int cells = 4;
      const bool    paired = ((size_t)u.u | (size_t)rate) % (2 * sizeof(Real)) == 0;
      const size_t  blocks = ((size_t)u.n + 256 * cells - 1) / (256 * cells);
      cudaStream_t  stream;
      if (!blocks) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(current_stream(&stream));
      if (paired)
        kernel::rates<cells, true><<<(unsigned)blocks, 256, 0, stream>>>(Scheme(at), u, extremes, rate);
      else
        kernel::rates<cells, false><<<(unsigned)blocks, 256, 0, stream>>>(Scheme(at), u, extremes, rate);
      PetscCallCUDA(cudaGetLastError());
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
    rates_on_host<Scheme>(at, u, extremes, rate);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode rates_2d(PetscMemType memory, const BurgersPatch &patch, const Field<Real> &u, const Stage &stage,
                          Extremes *extremes, Real *to) const override {
    PetscFunctionBegin;
    PetscCall(check_backend(memory));
    if constexpr (Scheme::has_faces) { // others are for 1-D
#if SHELLAC_CUDA
      if (PetscMemTypeDevice(memory)) {
        const PetscInt nx = patch.patch.size[0], ny = patch.patch.size[1];
        const int      columns = 8 * kernel::columns_of_warp(Scheme::radius);
        const bool     paired = ((size_t)u.u | (size_t)to) % (2 * sizeof(Real)) == 0;
        const unsigned blocks = (unsigned)((nx + columns - 1) / columns);
        PetscInt       rows = PetscMax(PetscMin((PetscInt)((PetscInt64)ny * blocks / 1024), 64), 16);
        cudaStream_t   stream;
        if (!nx || !ny) PetscFunctionReturn(PETSC_SUCCESS);
        rows = PetscMax(rows, (ny + 65534) / 65535); // a grid has no more blocks that way
        PetscCall(current_stream(&stream));
        const dim3 grid(blocks, (unsigned)((ny + rows - 1) / rows));
        const auto launch = paired ? kernel::plane_rates<true, Scheme, Real> : kernel::plane_rates<false, Scheme, Real>;
        launch<<<grid, 256, 0, stream>>>(patch, u, stage, (int)rows, extremes, to);
        PetscCallCUDA(cudaGetLastError());
        PetscFunctionReturn(PETSC_SUCCESS);
      }
#endif
      rates_2d_on_host<Scheme>(patch, u, stage, extremes, to);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode jacobian(PetscMemType memory, const BurgersPatch &patch, const Field<Real> &u, const Field<Real> &v,
                          Real shift, Real scale, Real *y) const override {
    Boxes all;

    PetscFunctionBegin;
    all.add(patch.patch.all());
    if (patch.dim == 1)
      PetscCall(for_each(memory, all, PointJacobian<Scheme, 1>{patch, u, v, shift, scale, y}));
    else
      PetscCall(for_each(memory, all, PointJacobian<Scheme, 2>{patch, u, v, shift, scale, y}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  void jacobian_row(const BurgersPatch &patch, const Field<Real> &u, const PetscInt p[2], PetscInt c,
                    std::vector<JacobianEntry> *row) const override {
    patch.dim == 1 ? point_row<Scheme, 1>(patch, u, p, c, row) : point_row<Scheme, 2>(patch, u, p, c, row);
  }

  PetscErrorCode steps(PetscMemType memory, const Coefficients<Real> &at, const Line<Real> &u, const Stages &stages,
                       Real dt, int count, Real *out) const override {
    PetscFunctionBegin;
    PetscCall(check_backend(memory));
#if SHELLAC_CUDA
    if (PetscMemTypeDevice(memory)) {
      constexpr int cells = Scheme::radius > 1 ? 8 : 16, warps = kernel::step_warps;
      const int     halo = count * stages.count * Scheme::radius, own = 32 * cells - 2 * halo;
      const size_t  tiles = ((size_t)u.n + own - 1) / own, blocks = (tiles + warps - 1) / warps;
      cudaStream_t  stream;
      if (!blocks) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(current_stream(&stream));
      const auto launch =
          stages.count > 1 ? kernel::steps<cells, true, Scheme, Real> : kernel::steps<cells, false, Scheme, Real>;
      launch<<<(unsigned)blocks, 32 * warps, 0, stream>>>(Scheme(at), u, stages, dt, count, halo, out);
      PetscCallCUDA(cudaGetLastError());
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
    steps_on_host<Scheme>(at, u, stages, dt, count, out);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool can_be_resident(const Stages &stages, PetscInt n) const override {
#if SHELLAC_CUDA
    return n <= kernel::resident_warps * kernel::resident_own(stages.count, Scheme::radius);
#else
    return (void)stages, n < 0;
#endif
  }

  PetscErrorCode resident(const Coefficients<Real> &at, const Line<Real> &u, const Stages &stages, Real dt,
                          PetscInt count, Real *out) const override {
    PetscFunctionBegin;
#if SHELLAC_CUDA
    const size_t bytes = kernel::resident_bytes<Real>(u.n);
    const auto launch = stages.count > 1 ? kernel::resident<true, Scheme, Real> : kernel::resident<false, Scheme, Real>;
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    PetscCallCUDA(cudaFuncSetAttribute(launch, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    launch<<<1, 32 * kernel::resident_warps, bytes, stream>>>(Scheme(at), u, stages, dt, count, out);
    PetscCallCUDA(cudaGetLastError());
#else
    (void)at, (void)u, (void)stages, (void)dt, (void)count, (void)out;
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class Flux, class Reconstruction> std::unique_ptr<BurgersOperations> make_operations() {
  return std::make_unique<SchemeOperations<Conservative<PetscReal, Flux, Reconstruction>>>(
      Flux::name, Reconstruction::name, Reconstruction::cfl);
}

template <template <class> class Flux> std::unique_ptr<BurgersOperations> make_schemes(Reconstruction reconstruction) {
  switch (reconstruction) {
  case Reconstruction::constant:
    return make_operations<Flux<PetscReal>, Constant<PetscReal>>();
  case Reconstruction::minmod:
    return make_operations<Flux<PetscReal>, Minmod<PetscReal>>();
  case Reconstruction::vanleer:
    return make_operations<Flux<PetscReal>, VanLeer<PetscReal>>();
  case Reconstruction::weno5:
    return make_operations<Flux<PetscReal>, Weno5<PetscReal>>();
  }
  return nullptr;
}

} // namespace shellac
