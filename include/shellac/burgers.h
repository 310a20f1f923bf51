#ifndef SHELLAC_BURGERS_H
#define SHELLAC_BURGERS_H

/* Burgers' equation for a TS. */

#include <petscts.h>
#include <shellac/burgersfused.h>
#include <shellac/mat.h>

/*E
   TSBurgersFlux - the numerical flux through the faces of cells, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_CENTRAL`        - the mean of the fluxes of both states; unstable with explicit steps
.  `TS_BURGERS_LAX_FRIEDRICHS` - dissipation by the fastest wave in the whole domain
.  `TS_BURGERS_RUSANOV`        - dissipation by the faster of the two states
.  `TS_BURGERS_GODUNOV`        - the flux of the exact solution of the Riemann problem
.  `TS_BURGERS_ENGQUIST_OSHER` - the upwind flux of the positive and of the negative speeds
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
PETSC_EXTERN const char *const TSBurgersFluxes[];

#if defined(__GNUC__)
#define TS_BURGERS_SEED                                                                                                \
  _Pragma("GCC warning \"TS_BURGERS_SEED is deprecated: use TS_BURGERS_CENTRAL_DOUBLED\"") TS_BURGERS_CENTRAL_DOUBLED
#else
#define TS_BURGERS_SEED TS_BURGERS_CENTRAL_DOUBLED
#endif

/*E
   TSBurgersReconstruction - how the values at a cell's faces are computed from averages, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_CONSTANT` - the average of the cell: order 1
.  `TS_BURGERS_MINMOD`   - linear, with the smaller of the slopes to both neighbours: order 2
.  `TS_BURGERS_VANLEER`  - linear, with the harmonic mean of both slopes: order 2
-  `TS_BURGERS_WENO5`    - weighted essentially non-oscillatory: order 5; with viscosity 2, the order of its differences

   Level: beginner

.seealso: `TSSetBurgers()`, `TSBurgersSetReconstruction()`
E*/
typedef enum { TS_BURGERS_CONSTANT, TS_BURGERS_MINMOD, TS_BURGERS_VANLEER, TS_BURGERS_WENO5 } TSBurgersReconstruction;
PETSC_EXTERN const char *const TSBurgersReconstructions[];

/*E
   TSBurgersBoundary - the boundary condition, see `TSSetBurgers()`

   Values:
+  `TS_BURGERS_PERIODIC` - periodic; for a periodic `DMDA`
.  `TS_BURGERS_OUTFLOW`  - the value beyond an end is that of the end cell
.  `TS_BURGERS_INFLOW`   - the values beyond the ends are given, see `TSBurgersSetInflow()`
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
.  `TS_BURGERS_JACOBIAN_AIJ`       - assembled: the AIJ type of `DMSetMatType()`; for CUDA vectors `MATAIJCUSPARSE`
-  `TS_BURGERS_JACOBIAN_SHELL_AIJ` - a matrix-free operator with an assembled matrix for the preconditioner

   Level: intermediate

.seealso: `TSSetBurgers()`, `TSBurgersSetJacobianType()`
E*/
typedef enum {
  TS_BURGERS_JACOBIAN_SHELL,
  TS_BURGERS_JACOBIAN_AIJ,
  TS_BURGERS_JACOBIAN_SHELL_AIJ
} TSBurgersJacobianType;
PETSC_EXTERN const char *const TSBurgersJacobianTypes[];

/*@
   TSSetBurgers - sets Burgers' equation u_t + (u²/2)_x = ν u_xx as the equation of a TS, in 1-D or as a system in 2-D

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
.  -burgers_jacobian <shell|aij|shell_aij> - for implicit types: matrix-free, assembled, or a matrix-free operator with
      an assembled matrix for the preconditioner; default shell
-  -burgers_halo <automatic|ipc|nccl|mpi|host> - how halos are exchanged between GPUs; default automatic

   Level: beginner

   Notes:
   Finite volumes: unknowns are averages over N cells of width h = L/N on each axis. In 2-D, u_t + (u²/2)_x + v u_y =
   ν Δu and v_t + u v_x + (v²/2)_y = ν Δv; each component is conservative along its own axis and is transported along
   the other one by the same numerical flux with the cell's speed.

   The function sets the right-hand side for explicit types and its Jacobian for implicit ones (`TSBEULER`, `TSCN`,
   `TSBDF`, ...). The matrix-free Jacobian has products, a diagonal (-pc_type jacobi), scaling, shifts, copies, and
   `MatConvert()` to `MATAIJ`. At kinks of limiters and fluxes it is a one-sided derivative.

   Each step is checked, or those that -burgers_check_interval selects. A check is one reduction over the ranks. A value
   that is not finite is an error that names the step and the place. Explicit types (`TSEULER`, `TSRK`, `TSSSP`,
   `TSBURGERSFUSED`) are checked in each stage, other types at the state that a step starts from, all at the last state.
   With lax_friedrichs, a speed above -burgers_speed is an error; without -burgers_speed, a speed more than a quarter
   above that of the first state. `TSSetProblemType()` with `TS_LINEAR` is an error for implicit types.

   For an explicit type without error control (-ts_adapt_type none or cfl), a Δt beyond 1/Σ(|u|/(C h) + 2ν/h²) is an
   error. C, the Courant number, is 1 for constant and weno5, and 1/2 for minmod and vanleer, which then do not
   increase the total variation. For `TSSSP` the bound is multiplied by the coefficient of its method. The bound is
   passed to `TSSetCFLTimeLocal()`. With -ts_adapt_type cfl it is computed in each step, whatever the interval; a
   value that is not finite is then an error in each step, too.

   The bound is necessary, not sufficient: forward Euler is unstable with central at any Δt, and with weno5 at any
   fixed Courant number. Use -ts_type ssp, rk, or -burgers_fused_scheme ssprk3 with reconstructions of high order.

   The right-hand side is computed where the vectors are. Results are bitwise independent of the number of ranks.

   The options are read here and in `TSSetFromOptions()`, which therefore overrides setters called in between. An option
   without effect is an error. In `TSSetFromOptions()` these are -burgers_inflow with another boundary condition and
   -burgers_speed with another flux. When a solve begins they are -burgers_jacobian with an explicit type, and
   -burgers_fused_scheme or -burgers_fused_steps with another type than `TSBURGERSFUSED`.

   A program may call setters before it knows the type or the flux: `TSBurgersSetSpeed()`, `TSBurgersSetJacobianType()` and
   `TSBurgersSetFused()` have no effect if their setting is not used. `TSBurgersSetInflow()` requires a choice of the
   boundary condition, by `TSBurgersSetBoundary()` or -burgers_bc; otherwise there is an error when a solve begins.
   Settings that fail change nothing.

   The function may be called again, and must be called again after `TSSetDM()`. Changed coordinates of the DM are used
   from the next solve on. The function adds a monitor to the TS, which marks the beginning and the end of a solve;
   after `TSMonitorCancel()`, call `TSSetFromOptions()` or this function again.

   The matrix-free Jacobian has no entries. -pc_type lu, ilu, sor, mg, gamg and others that need entries give an
   error that names the remedy: -burgers_jacobian shell_aij or aij. Products with its transpose, as of `TSAdjointSolve()`,
   store the entries of each state. The Jacobian may outlive the TS.

   Several TS may solve on one `DMDA` in turn. In gradients of `TSAdjointSolve()`, the speed that lax_friedrichs has from
   the first state counts as a constant.

   Errors:
   `PETSC_ERR_ARG_WRONG` for another DM; `PETSC_ERR_ARG_OUTOFRANGE` for another dof or dimension, too few cells for
   the reconstruction, ν < 0; `PETSC_ERR_ARG_INCOMP` for a boundary condition that does not match the `DMDA`;
   `PETSC_ERR_SUP` in a PETSc for complex scalars; at a step, `PETSC_ERR_FP` and `PETSC_ERR_ARG_OUTOFRANGE` of the
   checks; `PETSC_ERR_ARG_INCOMP` for an option without effect, `PETSC_ERR_ARG_WRONGSTATE` for another DM; on every rank.

   Source:
   R. J. LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002; G.-S. Jiang and C.-W. Shu, 1996 (weno5).

.seealso: `TSBURGERSFUSED`, `TSBurgersView()`, `TSBurgersSetFlux()`, `TSBurgersSetReconstruction()`,
          `TSBurgersGetTimeStepBound()`
@*/
PETSC_EXTERN PetscErrorCode TSSetBurgers(TS ts);

/*@
   TSBurgersView - prints the equation of a TS: flux, reconstruction, boundary condition, viscosity, checks and fused
   steps

   Collective

   Input Parameters:
+  ts     - a TS with `TSSetBurgers()`
-  viewer - a viewer of type ascii (others print nothing), or NULL for the standard output

   Level: intermediate

   Note:
   If -ts_view prints to the standard output, it prints this output first.

   Errors:
   `PETSC_ERR_ORDER` before `TSSetBurgers()`; the errors of settings that contradict each other, see there.

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
   TSBurgersSetReconstruction - sets how the values at the faces are computed from the averages of cells

   Logically Collective

   Input Parameters:
+  ts             - a TS with `TSSetBurgers()`
-  reconstruction - one of `TSBurgersReconstruction`

   Options Database Key:
.  -burgers_reconstruct <constant|minmod|vanleer|weno5> - values at the faces of cells; default constant

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` before `TSSetBurgers()`; at the next step for too few
   cells.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetReconstruction(TS ts, TSBurgersReconstruction reconstruction);

/*@
   TSBurgersSetBoundary - sets the boundary condition

   Logically Collective

   Input Parameters:
+  ts       - a TS with `TSSetBurgers()`
-  boundary - one of `TSBurgersBoundary`; `TS_BURGERS_PERIODIC` is for periodic `DMDA`s, the others are for those that
              are not

   Options Database Key:
.  -burgers_bc <periodic|outflow|inflow|frozen> - boundary condition; frozen: the end cells do not change; default
                                                  periodic of a periodic DMDA, else outflow

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value, `PETSC_ERR_ORDER` before `TSSetBurgers()`; at the next step if the DMDA
   differs.

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
   `PETSC_ERR_ARG_OUTOFRANGE` for another value; nothing is changed then. At a step, for a larger speed.

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
.  -burgers_jacobian <shell|aij|shell_aij> - for implicit types: matrix-free, assembled, or a matrix-free operator with
                                             an assembled matrix for the preconditioner; default shell

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another value; the errors of settings that contradict each other, see
   `TSSetBurgers()`.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetJacobianType(TS ts, TSBurgersJacobianType type);

/*@
   TSBurgersSetHaloType - sets how halos of the state are exchanged between GPUs

   Logically Collective

   Input Parameters:
+  ts   - a TS with `TSSetBurgers()`
-  type - a `MatHaloType`; default `MAT_HALO_AUTOMATIC`

   Options Database Key:
.  -burgers_halo <automatic|ipc|nccl|mpi|host> - how halos are exchanged between GPUs; default automatic

   Level: advanced

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for another type; nothing is changed then.

.seealso: `TSSetBurgers()`, `MatHaloType`, `MatSetHaloType()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetHaloType(TS ts, MatHaloType type);

/*@
   TSBurgersGetTimeStepBound - gets the largest Δt of a forward Euler step from a state

   Collective

   Input Parameters:
+  ts - a TS with `TSSetBurgers()`
-  u  - the state

   Output Parameter:
.  bound - Δt [time], see `TSSetBurgers()`; `PETSC_MAX_REAL` if u and ν are zero. It holds at all later times if the
           scheme does not increase the largest |u|

   Level: intermediate

   Errors:
   `PETSC_ERR_FP` for a state that is not finite.

.seealso: `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersGetTimeStepBound(TS ts, Vec u, PetscReal *bound);

#endif
