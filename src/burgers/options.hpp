#pragma once
// The options of TSSetBurgers() and of the TS type burgersfused.

#include "options/option.hpp"

// The option that sets the time step of a TS.
#if PETSC_VERSION_LT(3, 25, 0)
#define BURGERS_TIME_STEP "-ts_dt"
#else
#define BURGERS_TIME_STEP "-ts_time_step"
#endif

namespace shellac {

constexpr Option burgers_options[] = {
    {"-burgers_flux", "central|lax_friedrichs|rusanov|godunov|engquist_osher|central_doubled", "godunov",
     "numerical flux", "TSBurgersSetFlux"},
    {"-burgers_reconstruct", "constant|minmod|vanleer|weno5", "constant", "values at the faces of cells",
     "TSBurgersSetReconstruction"},
    {"-burgers_bc", "periodic|outflow|inflow|frozen", "periodic of a periodic DMDA, else outflow",
     "boundary condition; frozen: the end cells do not change", "TSBurgersSetBoundary"},
    {"-burgers_inflow", "u,u; in 2-D u,u,v,v", "0,0", "states beyond the lower and the upper ends, for inflow",
     "TSBurgersSetInflow"},
    {"-burgers_viscosity", "number, at least 0", "0", "ν [length²/time]", "TSBurgersSetViscosity"},
    {"-burgers_lengths", "Lx; in 2-D Lx,Ly", "from the DM's coordinates, else 1", "side lengths of the domain",
     "TSBurgersSetLengths"},
    {"-burgers_speed", "number, at least 0", "0",
     "bound of |u| at all times, for lax_friedrichs; 0: that of the state at the start of a solve",
     "TSBurgersSetSpeed"},
    {"-burgers_check_interval", "integer, at least 0", "1",
     "checks the steps whose number is a multiple of it; 0: none", "TSBurgersSetCheckInterval"},
    {"-burgers_jacobian", "shell|aij|shell_aij", "shell",
     "for implicit types: matrix-free, assembled, or a matrix-free operator with an assembled matrix for the "
     "preconditioner",
     "TSBurgersSetJacobianType"},
    {"-burgers_halo", "automatic|ipc|nccl|mpi|host", "automatic", "how halos are exchanged between GPUs",
     "TSBurgersSetHaloType"},
    {"-burgers_fused_scheme", "euler|ssprk2|ssprk3", "ssprk3 with weno5, else euler",
     "explicit method of -ts_type burgersfused", "TSBurgersSetFused"},
    {"-burgers_fused_steps", "integer, at least 1", "256", "largest number of steps in one step of the TS",
     "TSBurgersSetFused"},
};

} // namespace shellac
