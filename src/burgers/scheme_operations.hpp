#pragma once
// The operations of one scheme: chooses the loop for each memory. Included by the source of each flux.

#include "burgers/device.hpp"
#include "burgers/host.hpp"

namespace shellac {

template <class Scheme> class SchemeOperations final : public BurgersOperations {
public:
  using Real = PetscReal;
  SchemeOperations(const char *flux_name, const char *reconstruction_name, PetscReal cfl_number, const HostScheme &rows)
      : on_host(rows) {
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
      const auto rates = paired ? kernel::rates<cells, true, Scheme, Real> : kernel::rates<cells, false, Scheme, Real>;
      PetscCall(launch_kernel(rates, (unsigned)blocks, 256, 0, Scheme(at), u, extremes, rate));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
    rates_on_host(on_host, at, u, extremes, rate);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode rates_2d(PetscMemType memory, const BurgersPatch &patch, const Field<Real> &u, const Stage &stage,
                          Extremes *extremes, Real *to) const override {
    PetscFunctionBegin;
    PetscCall(check_backend(memory));
#if SHELLAC_CUDA
    if constexpr (Scheme::has_faces) // others are for 1-D
      if (PetscMemTypeDevice(memory)) {
        const PetscInt nx = patch.patch.size[0], ny = patch.patch.size[1];
        const int      columns = 8 * kernel::columns_of_warp(Scheme::radius);
        const bool     paired = ((size_t)u.u | (size_t)to) % (2 * sizeof(Real)) == 0;
        const unsigned blocks = (unsigned)((nx + columns - 1) / columns);
        // short parts: what runs at the same time is close in memory; a grid has no more blocks that way
        const PetscInt rows = PetscMax(16, (ny + 65534) / 65535);
        const dim3 grid(blocks, (unsigned)((ny + rows - 1) / rows));
        const auto rates = paired ? kernel::plane_rates<true, Scheme, Real> : kernel::plane_rates<false, Scheme, Real>;
        PetscCall(launch_kernel(rates, grid, 256, 0, patch, u, stage, (int)rows, extremes, to));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
#endif
    rates_2d_on_host(on_host, patch, u, stage, extremes, to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode jacobian(PetscMemType memory, const BurgersPatch &patch, const Field<Real> &u, const Field<Real> &v,
                          Real shift, Real scale, Real *y) const override {
    PetscFunctionBegin;
    PetscCall(check_backend(memory));
#if SHELLAC_CUDA
    if (PetscMemTypeDevice(memory)) {
      const auto jacobian = [&](const auto &f) {
        Boxes all;
        all.add(patch.patch.all());
        return launch_kernel(shellac::kernel::for_each<std::decay_t<decltype(f)>>,
                             (unsigned)((all.points() + 255) / 256), 256, 0, all, f);
      };
      PetscCall(patch.dim == 1 ? jacobian(kernel::PointJacobian<Scheme, 1>{patch, u, v, shift, scale, y})
                               : jacobian(kernel::PointJacobian<Scheme, 2>{patch, u, v, shift, scale, y}));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
    jacobian_on_host(on_host, patch, u, v, shift, scale, y);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  void jacobian_rows(const BurgersPatch &patch, const Field<Real> &u, const PetscInt p[2],
                     std::vector<JacobianEntry> *rows) const override {
    jacobian_rows_on_host(on_host, patch, u, p, rows);
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
      const auto    steps =
          stages.count > 1 ? kernel::steps<cells, true, Scheme, Real> : kernel::steps<cells, false, Scheme, Real>;
      PetscCall(launch_kernel(steps, (unsigned)blocks, 32 * warps, 0, Scheme(at), u, stages, dt, count, halo, out));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#endif
    steps_on_host(on_host, at, u, stages, dt, count, out);
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
    const auto steps = stages.count > 1 ? kernel::resident<true, Scheme, Real> : kernel::resident<false, Scheme, Real>;
    PetscCallCUDA(cudaFuncSetAttribute(steps, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    PetscCall(launch_kernel(steps, 1, 32 * kernel::resident_warps, bytes, Scheme(at), u, stages, dt, count, out));
#else
    (void)at, (void)u, (void)stages, (void)dt, (void)count, (void)out;
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  HostScheme on_host;
};

template <class Flux, class Edge> std::unique_ptr<BurgersOperations> make_operations(Reconstruction reconstruction) {
  using Scheme = Conservative<PetscReal, Flux, Edge>;
  return std::make_unique<SchemeOperations<Scheme>>(Flux::name, Edge::name, Edge::cfl,
                                                    make_host_scheme<typename Scheme::Faces>(reconstruction));
}

template <template <class> class Flux> std::unique_ptr<BurgersOperations> make_schemes(Reconstruction reconstruction) {
  switch (reconstruction) {
  case Reconstruction::constant:
    return make_operations<Flux<PetscReal>, Constant<PetscReal>>(reconstruction);
  case Reconstruction::minmod:
    return make_operations<Flux<PetscReal>, Minmod<PetscReal>>(reconstruction);
  case Reconstruction::vanleer:
    return make_operations<Flux<PetscReal>, VanLeer<PetscReal>>(reconstruction);
  case Reconstruction::weno5:
    return make_operations<Flux<PetscReal>, Weno5<PetscReal>>(reconstruction);
  }
  return nullptr;
}

} // namespace shellac
