#pragma once
// The options of the types of this folder.

#include "options/option.hpp"

namespace shellac {

constexpr Option laplace_options[] = {
    {"-mat_laplace_boundary", "eliminated|identity|neumann|robin, or one for each side", "eliminated",
     "Boundary form of the axes that are not periodic or mirrored; sides are x lower, x upper, y lower ...",
     "MatLaplaceSetBoundaries"},
    {"-mat_laplace_robin", "one real, or one for each side", "none",
     "α of the Robin condition ∂u/∂n + αu = g [1/length]", "MatLaplaceSetRobin"},
    {"-mat_laplace_shape", "star|box", "star", "Stencil: of second order, or a box of 9 or 27 points of fourth order",
     "MatLaplaceSetShape"},
    {"-mat_laplace_lengths", "one real for each axis, > 0", "from the DM's coordinates, else 1",
     "Side lengths of the domain, one for each axis [length]", "MatLaplaceSetLengths"},
    {"-mat_laplace_halo", "automatic|ipc|host", "automatic", "How halos are exchanged between GPUs", "MatSetHaloType"}};

constexpr Option helmholtz_options[] = {
    {"-mat_helmholtz_shift", "any scalar", "0", "σ of -Δu + σu [1/length²]", "MatHelmholtzSetShift"},
    {"-mat_helmholtz_omega", "any scalar", "0", "Sets σ = +ω²; waves have -mat_helmholtz_shift -k²; give one of the two",
     "MatHelmholtzSetShift"},
    {"-mat_helmholtz_boundary", "eliminated|identity|neumann|robin, or one for each side", "eliminated",
     "Boundary form of the axes that are not periodic or mirrored; sides are x lower, x upper, y lower ...",
     "MatLaplaceSetBoundaries"},
    {"-mat_helmholtz_robin", "one real, or one for each side", "none",
     "α of the Robin condition ∂u/∂n + αu = g [1/length]", "MatLaplaceSetRobin"},
    {"-mat_helmholtz_shape", "star|box", "star", "Stencil: of second order, or a box of 9 or 27 points of fourth order",
     "MatLaplaceSetShape"},
    {"-mat_helmholtz_lengths", "one real for each axis, > 0", "from the DM's coordinates, else 1",
     "Side lengths of the domain, one for each axis [length]", "MatLaplaceSetLengths"},
    {"-mat_helmholtz_halo", "automatic|ipc|host", "automatic", "How halos are exchanged between GPUs",
     "MatSetHaloType"}};

constexpr Option diffusion_options[] = {
    {"-mat_diffusion_coefficient", "scalar, >= 0", "1",
     "A constant k of -∇·(k∇u) + σu, in place of a field that was given before; a setter that is called later takes "
     "precedence",
     "MatDiffusionSetConstant"},
    {"-mat_diffusion_mean", "harmonic|arithmetic", "harmonic",
     "Mean of the k of two points, for the face between them; without effect if k is given on faces",
     "MatDiffusionSetMean"},
    {"-mat_diffusion_shift", "any scalar", "0", "σ of -∇·(k∇u) + σu [k/length²]", "MatDiffusionSetShift"},
    {"-mat_diffusion_boundary", "eliminated|identity|neumann|robin, or one for each side", "eliminated",
     "Boundary form of the axes that are not periodic or mirrored; sides are x lower, x upper, y lower ...",
     "MatLaplaceSetBoundaries"},
    {"-mat_diffusion_robin", "one real, or one for each side", "none",
     "α of the Robin condition ∂u/∂n + αu = g [1/length]", "MatLaplaceSetRobin"},
    {"-mat_diffusion_lengths", "one real for each axis, > 0", "from the DM's coordinates, else 1",
     "Side lengths of the domain, one for each axis [length]", "MatLaplaceSetLengths"},
    {"-mat_diffusion_halo", "automatic|ipc|host", "automatic", "How halos are exchanged between GPUs",
     "MatSetHaloType"}};

constexpr Option advection_diffusion_options[] = {
    {"-mat_advection_diffusion_velocity", "one real for each axis", "0",
     "A constant velocity w, in place of a field that was given before; a setter that is called later takes precedence",
     "MatAdvectionDiffusionSetConstantVelocity"},
    {"-mat_advection_diffusion_scheme", "central|upwind", "central", "Differences of w·∇u: of second or first order",
     "MatAdvectionDiffusionSetScheme"},
    {"-mat_advection_diffusion_coefficient", "scalar, >= 0", "1",
     "A constant k of -∇·(k∇u) + w·∇u + σu, in place of a field that was given before; a setter that is called later "
     "takes precedence",
     "MatDiffusionSetConstant"},
    {"-mat_advection_diffusion_mean", "harmonic|arithmetic", "harmonic",
     "Mean of the k of two points, for the face between them; without effect if k is given on faces",
     "MatDiffusionSetMean"},
    {"-mat_advection_diffusion_shift", "any scalar", "0", "σ of -∇·(k∇u) + w·∇u + σu [k/length²]",
     "MatDiffusionSetShift"},
    {"-mat_advection_diffusion_boundary", "eliminated|identity|neumann|robin, or one for each side", "eliminated",
     "Boundary form of the axes that are not periodic or mirrored; sides are x lower, x upper, y lower ...",
     "MatLaplaceSetBoundaries"},
    {"-mat_advection_diffusion_robin", "one real, or one for each side", "none",
     "α of the Robin condition ∂u/∂n + αu = g [1/length]", "MatLaplaceSetRobin"},
    {"-mat_advection_diffusion_lengths", "one real for each axis, > 0", "from the DM's coordinates, else 1",
     "Side lengths of the domain, one for each axis [length]", "MatLaplaceSetLengths"},
    {"-mat_advection_diffusion_halo", "automatic|ipc|host", "automatic", "How halos are exchanged between GPUs",
     "MatSetHaloType"}};

} // namespace shellac
