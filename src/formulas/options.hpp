#pragma once
// The options of the types of this folder.

#include "options/option.hpp"

namespace shellac {

// What all types have.
#define SHELLAC_BOUNDARY_OPTIONS(type)                                                                                 \
  {"-mat_" type "_boundary", "eliminated|identity|neumann|robin, or one for each side", "eliminated",                  \
   "Boundary form of the axes that are not periodic or mirrored; sides are x lower, x upper, y lower ...",             \
   "MatLaplaceSetBoundaries"},                                                                                         \
  {                                                                                                                    \
    "-mat_" type "_robin", "one real, or one for each side", "none",                                                   \
        "α of the Robin condition ∂u/∂n + αu = g [1/length]", "MatLaplaceSetRobin"                                     \
  }
#define SHELLAC_DOMAIN_OPTIONS(type)                                                                                   \
  {"-mat_" type "_lengths", "one real for each axis, > 0", "from the DM's coordinates, else 1",                        \
   "Side lengths of the domain, one for each axis [length]", "MatLaplaceSetLengths"},                                  \
  {                                                                                                                    \
    "-mat_" type "_halo", "automatic|ipc|nccl|mpi|host", "automatic", "How halos are exchanged between GPUs",          \
        "MatSetHaloType"                                                                                               \
  }
#define SHELLAC_SHAPE_OPTION(type)                                                                                     \
  {                                                                                                                    \
    "-mat_" type "_shape", "star|box", "star", "Stencil: of second order, or a box of 9 or 27 points of fourth order", \
        "MatLaplaceSetShape"                                                                                           \
  }
#define SHELLAC_OBSTACLE_OPTIONS(type)                                                                                 \
  {"-mat_" type "_mask", "a formula, as x^2+y^2<0.1", "none", "Points are solid where it is not zero",                 \
   "MatDiffusionSetMask"},                                                                                             \
  {                                                                                                                    \
    "-mat_" type "_wall", "noflux|value", "noflux",                                                                    \
        "What holds at the faces of solid points: no flux through them, or given values of u", "MatDiffusionSetWall"   \
  }
// Of the terms that diffusion and advection_diffusion have both.
#define SHELLAC_DIFFUSION_OPTIONS(type, equation)                                                                      \
  {"-mat_" type "_coefficient", "scalar, >= 0", "1",                                                                   \
   "A constant k of " equation ", in place of a field that was given before; a setter that is called later takes "     \
   "precedence",                                                                                                       \
   "MatDiffusionSetConstant"},                                                                                         \
      {"-mat_" type "_mean", "harmonic|arithmetic", "harmonic",                                                        \
       "Mean of the k of two points, for the face between them; without effect if k is given on faces",                \
       "MatDiffusionSetMean"},                                                                                         \
  {                                                                                                                    \
    "-mat_" type "_shift", "any scalar", "0", "σ of " equation " [k/length²]", "MatDiffusionSetShift"                  \
  }

constexpr Option laplace_options[] = {SHELLAC_BOUNDARY_OPTIONS("laplace"), SHELLAC_SHAPE_OPTION("laplace"),
                                      SHELLAC_OBSTACLE_OPTIONS("laplace"), SHELLAC_DOMAIN_OPTIONS("laplace")};

constexpr Option helmholtz_options[] = {
    {"-mat_helmholtz_shift", "any scalar", "0", "σ of -Δu + σu [1/length²]", "MatHelmholtzSetShift"},
    {"-mat_helmholtz_omega", "any scalar", "0",
     "Sets σ = +ω²; waves have -mat_helmholtz_shift -k²; give one of the two", "MatHelmholtzSetShift"},
    SHELLAC_BOUNDARY_OPTIONS("helmholtz"),
    SHELLAC_SHAPE_OPTION("helmholtz"),
    SHELLAC_OBSTACLE_OPTIONS("helmholtz"),
    SHELLAC_DOMAIN_OPTIONS("helmholtz")};

constexpr Option diffusion_options[] = {SHELLAC_DIFFUSION_OPTIONS("diffusion", "-∇·(k∇u) + σu"),
                                        SHELLAC_OBSTACLE_OPTIONS("diffusion"), SHELLAC_BOUNDARY_OPTIONS("diffusion"),
                                        SHELLAC_DOMAIN_OPTIONS("diffusion")};

constexpr Option advection_diffusion_options[] = {
    {"-mat_advection_diffusion_velocity", "one real for each axis", "0",
     "A constant velocity w, in place of a field that was given before; a setter that is called later takes precedence",
     "MatAdvectionDiffusionSetConstantVelocity"},
    {"-mat_advection_diffusion_scheme", "central|upwind", "central", "Differences of w·∇u: of second or first order",
     "MatAdvectionDiffusionSetScheme"},
    SHELLAC_DIFFUSION_OPTIONS("advection_diffusion", "-∇·(k∇u) + w·∇u + σu"),
    SHELLAC_OBSTACLE_OPTIONS("advection_diffusion"),
    SHELLAC_BOUNDARY_OPTIONS("advection_diffusion"),
    SHELLAC_DOMAIN_OPTIONS("advection_diffusion")};

} // namespace shellac
