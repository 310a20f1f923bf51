#ifndef SHELLAC_BURGERS_H
#define SHELLAC_BURGERS_H

/* Burgers' equation for a TS. */

#include <petscts.h>

/*E
   TSBurgersFlux - the numerical flux through the faces of cells, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_CENTRAL`        - the mean of both states' fluxes; unstable with explicit steps
.  `TS_BURGERS_LAX_FRIEDRICHS` - with the dissipation of the fastest wave of the whole state
.  `TS_BURGERS_RUSANOV`        - with that of the faster of both states
.  `TS_BURGERS_GODUNOV`        - that of the Riemann problem's exact solution
.  `TS_BURGERS_ENGQUIST_OSHER` - upwind for each sign of the speed
-  `TS_BURGERS_CENTRAL_DOUBLED` - -(f(u_{i+1}) - f(u_{i-1}))/h, f = u²/2: twice the central difference, so that waves move at
                                 twice their speed; unstable with explicit steps; no reconstruction, no viscosity, 1-D

   Level: beginner

.seealso: `TSSetBurgers()`, `TSBurgersSetFlux()`
E*/
typedef enum {
  TS_BURGERS_CENTRAL,
  TS_BURGERS_LAX_FRIEDRICHS,
  TS_BURGERS_RUSANOV,
  TS_BURGERS_GODUNOV,
  TS_BURGERS_ENGQUIST_OSHER,
  TS_BURGERS_CENTRAL_DOUBLED
} TSBurgersFlux;
#if defined(__GNUC__)
#define TS_BURGERS_SEED                                                                                                \
  _Pragma("GCC warning \"TS_BURGERS_SEED is deprecated: use TS_BURGERS_CENTRAL_DOUBLED\"") TS_BURGERS_CENTRAL_DOUBLED
#else
#define TS_BURGERS_SEED TS_BURGERS_CENTRAL_DOUBLED
#endif
PETSC_EXTERN const char *const TSBurgersFluxes[];

/*E
   TSBurgersReconstruction - the values at the faces of a cell, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_CONSTANT` - the cell's average: order 1
.  `TS_BURGERS_MINMOD`   - a line with the smaller slope to both neighbours: order 2
.  `TS_BURGERS_VANLEER`  - with the harmonic mean of both: order 2
-  `TS_BURGERS_WENO5`    - weighted, essentially not oscillating: order 5; 2 with viscosity, whose differences have that order

   Level: beginner

.seealso: `TSSetBurgers()`, `TSBurgersSetReconstruction()`
E*/
typedef enum { TS_BURGERS_CONSTANT, TS_BURGERS_MINMOD, TS_BURGERS_VANLEER, TS_BURGERS_WENO5 } TSBurgersReconstruction;
PETSC_EXTERN const char *const TSBurgersReconstructions[];

/*E
   TSBurgersBoundary - what holds at the ends of the domain, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_PERIODIC` - the DMDA is periodic
.  `TS_BURGERS_OUTFLOW`  - beyond an end is the end's own value
.  `TS_BURGERS_INFLOW`   - beyond the ends are given values
-  `TS_BURGERS_FROZEN`   - the first and the last cell do not change

   Level: beginner

.seealso: `TSSetBurgers()`, `TSBurgersSetBoundary()`
E*/
typedef enum { TS_BURGERS_PERIODIC, TS_BURGERS_OUTFLOW, TS_BURGERS_INFLOW, TS_BURGERS_FROZEN } TSBurgersBoundary;
PETSC_EXTERN const char *const TSBurgersBoundaries[];

/*E
   TSBurgersJacobianType - the matrices of the Jacobian for implicit types, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_JACOBIAN_SHELL`     - matrix-free
.  `TS_BURGERS_JACOBIAN_AIJ`       - assembled, of type `MATAIJ`
-  `TS_BURGERS_JACOBIAN_SHELL_AIJ` - the operator matrix-free, the preconditioner's matrix assembled

   Level: intermediate

.seealso: `TSSetBurgers()`, `TSBurgersSetJacobianType()`
E*/
typedef enum {
  TS_BURGERS_JACOBIAN_SHELL,
  TS_BURGERS_JACOBIAN_AIJ,
  TS_BURGERS_JACOBIAN_SHELL_AIJ
} TSBurgersJacobianType;
PETSC_EXTERN const char *const TSBurgersJacobianTypes[];

/*E
   TSBurgersScheme - the time steps of `TSBURGERSFUSED`

   Values:
+  `TS_BURGERS_EULER`  - forward Euler
.  `TS_BURGERS_SSPRK2` - the strong-stability-preserving Runge-Kutta method of order 2 with 2 stages
-  `TS_BURGERS_SSPRK3` - that of order 3 with 3 stages

   Level: beginner

.seealso: `TSBURGERSFUSED`, `TSBurgersSetFused()`
E*/
typedef enum { TS_BURGERS_EULER, TS_BURGERS_SSPRK2, TS_BURGERS_SSPRK3 } TSBurgersScheme;
PETSC_EXTERN const char *const TSBurgersSchemes[];

/*MC
   TSBURGERSFUSED - "burgersfused": explicit steps of Burgers' equation, many between two steps of TS, several of them in one
   pass over memory. For a TS with `TSSetBurgers()`.

   Options Database Keys:
+  -burgers_fused_scheme <euler|ssprk2|ssprk3> - time steps of -ts_type burgersfused; default ssprk3 with weno5, else
                                                 euler
-  -burgers_fused_steps <integer, at least 1>  - most of them between two steps of TS; default 256

   Notes:
   Δt is that of the TS (-ts_dt), for each of the fused steps; `TSGetStepNumber()`, -ts_max_steps and the time count them all.
   Monitors, events and -ts_adapt_type cfl see the states at the ends of blocks; blocks end at the final time, at times of
   `TSSetTimeSpan()` and at the last step, and before them as TS would choose another Δt there.

   The answer is that of the same steps one by one, bit for bit, on any number of ranks: of -ts_type euler as well for the
   scheme euler, where PETSc's VecAYPX() rounds the product.

   Tiles of cells and a halo as wide as the steps reach are kept in registers (GPU) or in the first cache (CPU). A grid of up
   to 4000 cells on one GPU takes all steps of a block in one launch. In 2-D, and where a rank has fewer cells than one step
   reaches, stages are computed one by one.

   A block that has a step to be checked (see -burgers_check_interval in `TSSetBurgers()`) is checked at both ends, for the CFL
   bound and for values that are not finite. Where the end fails, the block's steps are repeated one by one to name the first that
   does, and the TS keeps the state before it.

   The type uses the TS' `TSSetPreStage()` and `TSSetPostStage()`. An event is located by shorter blocks, which needs a PETSc whose
   `TSEULER` can roll back (3.22 and newer). While an event is located, a step of TS that is longer than Δt is taken in equal
   parts of at most Δt; any other Δt that a program sets, between solves or in a monitor, is the Δt of the steps that follow.

   Errors:
   As `TSSetBurgers()`; `PETSC_ERR_SUP` for an adapter other than none and cfl; `PETSC_ERR_ORDER` without `TSSetBurgers()`.

   Level: intermediate

   Source:
   C.-W. Shu and S. Osher, Efficient implementation of essentially non-oscillatory shock-capturing schemes, 1988.

.seealso: `TSSetBurgers()`, `TSBurgersSetFused()`
M*/
#define TSBURGERSFUSED "burgersfused"

/*@
   TSSetBurgers - makes Burgers' equation u_t + (u²/2)_x = ν u_xx the equation of a TS, in 1-D or as a system in 2-D

   Collective

   Input Parameter:
.  ts - a TS with a `DMDA`: 1-D with dof = 1, or 2-D with dof = 2

   Options Database Keys:
+  -burgers_flux <central|lax_friedrichs|rusanov|godunov|engquist_osher|central_doubled> - numerical flux; default
      godunov
.  -burgers_reconstruct <constant|minmod|vanleer|weno5> - values at the faces of cells; default constant
.  -burgers_bc <periodic|outflow|inflow|frozen> - boundary condition; frozen: the end cells do not change; default
      periodic of a periodic DMDA, else outflow
.  -burgers_inflow <u,u; in 2-D u,u,v,v> - states beyond the lower and the upper ends, for inflow; default 0,0
.  -burgers_viscosity <number, at least 0> - ν [length²/time]; default 0
.  -burgers_lengths <Lx; in 2-D Lx,Ly> - side lengths of the domain; default from the DM's coordinates, else 1
.  -burgers_speed <number, at least 0> - bound of |u| at all times, for lax_friedrichs; 0: that of the state at the
      start of a solve; default 0
.  -burgers_check_interval <integer, at least 0> - checks the steps whose number is a multiple of it; 0: none; default 1
.  -burgers_jacobian <shell|aij|shell_aij> - for implicit types: matrix-free, assembled, or the operator matrix-free and
      the preconditioner's matrix assembled; default shell
-  -burgers_halo <automatic|ipc|host> - how halos travel between GPUs; default automatic

   Level: beginner

   Notes:
   Finite volumes: unknowns are averages over N cells of width h = L/N on each axis. In 2-D,
   u_t + (u²/2)_x + v u_y = ν Δu and v_t + u v_x + (v²/2)_y = ν Δv; each component's own axis is conservative, and it is carried
   along the other by the same flux with the cell's speed.

   Sets the right-hand side, which any explicit `TSType` steps, and its Jacobian for the implicit ones (`TSBEULER`, `TSCN`,
   `TSBDF`, ...). The matrix-free Jacobian has products, a diagonal (-pc_type jacobi), scaling, shifts, and MatConvert() to
   `MATAIJ`; at kinks of limiters and fluxes it is the derivative of one side.

   Each step is checked, or those that -burgers_check_interval leaves. Values that are not finite are an error that names step and
   place: of an explicit type (`TSEULER`, `TSRK`, `TSSSP`, `TSBURGERSFUSED`) in any stage, of another one in the state that a step
   starts from. With lax_friedrichs a state that is faster than -burgers_speed is an error, or faster than the first state by a
   quarter. A Δt of an explicit type without error control (-ts_adapt_type none or cfl) beyond 1/Σ(|u|/(C h) + 2ν/h²) is another.
   C, the Courant number, is 1 for constant and weno5, 1/2 for minmod and vanleer, which then do not add variation; TSSSP may take
   as much longer steps as its coefficient tells. The bound goes to `TSSetCFLTimeLocal()`; with -ts_adapt_type cfl it is computed in
   each step, whatever the interval, and values that are not finite have none and stay an error. A check is one reduction over
   the ranks.

   The bound is necessary, not sufficient: forward Euler is unstable with central at any Δt, and with weno5 at any fixed
   Courant number; take -ts_type ssp, rk, or -burgers_fused_scheme ssprk3 for reconstructions of high order.

   Where the vectors are, the right-hand side is computed. Results do not depend on the ranks, in any bit.

   The options are read here and in `TSSetFromOptions()`, which so overrides what was set in between. An option without effect is
   an error: -burgers_inflow with other ends and -burgers_speed with another flux in `TSSetFromOptions()`; -burgers_jacobian with
   an explicit type and -burgers_fused_scheme or -burgers_fused_steps with another type than `TSBURGERSFUSED` when a solve begins.
   Settings that fail leave those of before. May be called again. The DM
   must not change afterwards. The TS gets a monitor, by which the beginning and the end of a solve are known; after
   `TSMonitorCancel()` call `TSSetFromOptions()` or this again.

   The matrix-free Jacobian has no entries: -pc_type lu, ilu, sor, mg, gamg and others that want them need -burgers_jacobian shell_aij
   or aij, and say so. It may be kept longer than the TS.

   Errors:
   `PETSC_ERR_ARG_WRONG` for another DM; `PETSC_ERR_ARG_OUTOFRANGE` for another dof or dimension, too few cells for the
   reconstruction, ν < 0; `PETSC_ERR_ARG_INCOMP` for a boundary condition that the DMDA has not; `PETSC_ERR_SUP` in a PETSc for complex
   scalars; at a step, `PETSC_ERR_FP` and `PETSC_ERR_ARG_OUTOFRANGE` of the checks; `PETSC_ERR_ARG_INCOMP` for an option without effect;
   on every rank.

   Source:
   R. J. LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002; G.-S. Jiang and C.-W. Shu, 1996 (weno5).

.seealso: `TSBURGERSFUSED`, `TSBurgersView()`, `TSBurgersSetFlux()`, `TSBurgersSetReconstruction()`, `TSBurgersGetTimeStepBound()`
@*/
PETSC_EXTERN PetscErrorCode TSSetBurgers(TS ts);

/*@
   TSBurgersView - prints the equation of a TS: its flux, reconstruction, ends, viscosity, checks and fused steps

   Collective

   Input Parameters:
+  ts     - a TS with `TSSetBurgers()`
-  viewer - of type ascii, others print nothing; NULL: the standard output

   Level: intermediate

   Note:
   Where -ts_view prints on the standard output, this comes before it.

   Errors:
   `PETSC_ERR_ORDER` before `TSSetBurgers()`; those of settings that do not go together, see there.

.seealso: `TSSetBurgers()`, `TSView()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersView(TS ts, PetscViewer viewer);

/*@
   TSBurgersSetFlux - sets the numerical flux

   Logically Collective

   Input Parameters:
+  ts   - a TS with `TSSetBurgers()`
-  flux - one of `TSBurgersFlux`

   Options Database Key:
.  -burgers_flux <central|lax_friedrichs|rusanov|godunov|engquist_osher|central_doubled> - numerical flux; default
      godunov

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` before `TSSetBurgers()`.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetFlux(TS ts, TSBurgersFlux flux);

/*@
   TSBurgersSetReconstruction - sets how the values at the faces come from the cells' averages

   Logically Collective

   Input Parameters:
+  ts             - a TS with `TSSetBurgers()`
-  reconstruction - one of `TSBurgersReconstruction`

   Options Database Key:
.  -burgers_reconstruct <constant|minmod|vanleer|weno5> - values at the faces of cells; default constant

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` before `TSSetBurgers()`; at the next step for too few cells.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetReconstruction(TS ts, TSBurgersReconstruction reconstruction);

/*@
   TSBurgersSetBoundary - sets what holds at the ends of the domain

   Logically Collective

   Input Parameters:
+  ts       - a TS with `TSSetBurgers()`
-  boundary - one of `TSBurgersBoundary`; periodic for a periodic `DMDA`, and for no other

   Options Database Key:
.  -burgers_bc <periodic|outflow|inflow|frozen> - boundary condition; frozen: the end cells do not change; default
                                                  periodic of a periodic DMDA, else outflow

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` before `TSSetBurgers()`; at the next step where the DMDA differs.

.seealso: `TSSetBurgers()`, `TSBurgersSetInflow()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetBoundary(TS ts, TSBurgersBoundary boundary);

/*@
   TSBurgersSetInflow - sets the states beyond the ends of the domain, for `TS_BURGERS_INFLOW`

   Logically Collective

   Input Parameters:
+  ts     - a TS with `TSSetBurgers()`
.  n      - 2 in 1-D, 4 in 2-D
-  values - u at the lower and the upper ends, then v [length/time]

   Options Database Key:
.  -burgers_inflow <u,u; in 2-D u,u,v,v> - states beyond the lower and the upper ends, for inflow; default 0,0

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_SIZ` for another n, `PETSC_ERR_ARG_OUTOFRANGE` for values that are not finite; nothing is changed then.

.seealso: `TSSetBurgers()`, `TSBurgersSetBoundary()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetInflow(TS ts, PetscInt n, const PetscReal values[]);

/*@
   TSBurgersSetViscosity - sets ν

   Logically Collective

   Input Parameters:
+  ts - a TS with `TSSetBurgers()`
-  nu - ν [length²/time], >= 0 and finite

   Options Database Key:
.  -burgers_viscosity <number, at least 0> - ν [length²/time]; default 0

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`; nothing is changed then.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetViscosity(TS ts, PetscReal nu);

/*@
   TSBurgersSetLengths - sets the side lengths of the domain

   Logically Collective

   Input Parameters:
+  ts      - a TS with `TSSetBurgers()`
.  n       - the dimension
-  lengths - L for each axis [length], > 0 and finite; h = L/N

   Options Database Key:
.  -burgers_lengths <Lx; in 2-D Lx,Ly> - side lengths of the domain; default from the DM's coordinates, else 1

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_SIZ` for another n, `PETSC_ERR_ARG_OUTOFRANGE` for other lengths; nothing is changed then.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetLengths(TS ts, PetscInt n, const PetscReal lengths[]);

/*@
   TSBurgersSetSpeed - sets the speed of the flux `TS_BURGERS_LAX_FRIEDRICHS`

   Logically Collective

   Input Parameters:
+  ts    - a TS with `TSSetBurgers()`
-  speed - a bound of |u| at all times [length/time], >= 0 and finite; 0: that of the state at the start of each solve

   Options Database Key:
.  -burgers_speed <number, at least 0> - bound of |u| at all times, for lax_friedrichs; 0: that of the state at the
                                         start of a solve; default 0

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`; nothing is changed then. At a step, for a state that is faster.

.seealso: `TSSetBurgers()`, `TSBurgersSetFlux()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetSpeed(TS ts, PetscReal speed);

/*@
   TSBurgersSetCheckInterval - sets which steps are checked

   Logically Collective

   Input Parameters:
+  ts       - a TS with `TSSetBurgers()`
-  interval - the steps whose number is a multiple of it are checked; 0: none

   Options Database Key:
.  -burgers_check_interval <integer, at least 0> - checks the steps whose number is a multiple of it; 0: none; default 1

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` below 0; nothing is changed then.

.seealso: `TSSetBurgers()`, `TSBurgersGetTimeStepBound()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetCheckInterval(TS ts, PetscInt interval);

/*@
   TSBurgersSetJacobianType - sets the matrices of the Jacobian for implicit types

   Collective

   Input Parameters:
+  ts   - a TS with `TSSetBurgers()`
-  type - one of `TSBurgersJacobianType`

   Options Database Key:
.  -burgers_jacobian <shell|aij|shell_aij> - for implicit types: matrix-free, assembled, or the operator matrix-free and
                                             the preconditioner's matrix assembled; default shell

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value; those of settings that do not go together, see `TSSetBurgers()`.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetJacobianType(TS ts, TSBurgersJacobianType type);

/*@
   TSBurgersSetFused - sets the steps of `TSBURGERSFUSED`

   Logically Collective

   Input Parameters:
+  ts     - a TS with `TSSetBurgers()`
.  scheme - one of `TSBurgersScheme`
-  steps  - most steps from one step of TS to the next, >= 1

   Options Database Keys:
+  -burgers_fused_scheme <euler|ssprk2|ssprk3> - time steps of -ts_type burgersfused; default ssprk3 with weno5, else
                                                 euler
-  -burgers_fused_steps <integer, at least 1>  - most of them between two steps of TS; default 256

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`; nothing is changed then.

.seealso: `TSBURGERSFUSED`, `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetFused(TS ts, TSBurgersScheme scheme, PetscInt steps);

/*@
   TSBurgersGetTimeStepBound - gets the largest Δt of a forward Euler step from a state

   Collective

   Input Parameters:
+  ts - a TS with `TSSetBurgers()`
-  u  - the state

   Output Parameter:
.  bound - Δt [time], see `TSSetBurgers()`; `PETSC_MAX_REAL` where nothing moves. It holds for all later times where the scheme
           does not raise the largest |u|

   Level: intermediate

   Errors:
   `PETSC_ERR_FP` for a state that is not finite.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersGetTimeStepBound(TS ts, Vec u, PetscReal *bound);

#endif
