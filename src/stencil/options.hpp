#pragma once
// The options of the types laplace and helmholtz.

#include "options/option.hpp"

namespace shellac {

constexpr Option laplace_options[] = {
    {"-mat_laplace_boundary", "eliminated|identity|neumann", "eliminated",
     "Boundary form of the axes that are not periodic or mirrored", "MatLaplaceSetBoundary"},
    {"-mat_laplace_lengths", "one real for each axis, > 0", "from the DM's coordinates, else 1",
     "Side lengths of the domain [length]", "MatLaplaceSetLengths"},
    {"-mat_laplace_halo", "automatic|ipc|host", "automatic", "How halos travel between GPUs", "MatSetHaloType"}};

constexpr Option helmholtz_options[] = {
    {"-mat_helmholtz_shift", "any scalar", "0", "σ of -Δu + σu [1/length²]", "MatHelmholtzSetShift"},
    {"-mat_helmholtz_omega", "any scalar", "0", "Sets σ = ω²; not together with -mat_helmholtz_shift",
     "MatHelmholtzSetShift"},
    {"-mat_helmholtz_boundary", "eliminated|identity|neumann", "eliminated",
     "Boundary form of the axes that are not periodic or mirrored", "MatLaplaceSetBoundary"},
    {"-mat_helmholtz_lengths", "one real for each axis, > 0", "from the DM's coordinates, else 1",
     "Side lengths of the domain [length]", "MatLaplaceSetLengths"},
    {"-mat_helmholtz_halo", "automatic|ipc|host", "automatic", "How halos travel between GPUs", "MatSetHaloType"}};

} // namespace shellac
