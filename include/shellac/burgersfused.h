#ifndef SHELLAC_BURGERSFUSED_H
#define SHELLAC_BURGERSFUSED_H

/* Many explicit steps of Burgers' equation in one step of a TS. */

#include <petscts.h>

/*E
   TSBurgersScheme - the explicit method of `TSBURGERSFUSED`

   Values:
+  `TS_BURGERS_EULER`  - forward Euler
.  `TS_BURGERS_SSPRK2` - strong-stability-preserving Runge-Kutta of order 2 with 2 stages
-  `TS_BURGERS_SSPRK3` - strong-stability-preserving Runge-Kutta of order 3 with 3 stages

   Level: beginner

.seealso: `TSBURGERSFUSED`, `TSBurgersSetFused()`
E*/
typedef enum { TS_BURGERS_EULER, TS_BURGERS_SSPRK2, TS_BURGERS_SSPRK3 } TSBurgersScheme;
PETSC_EXTERN const char *const TSBurgersSchemes[];

/*MC
   TSBURGERSFUSED - "burgersfused": takes many explicit steps of Burgers' equation in one step of the TS, several of
   them in one pass over memory. For a TS with `TSSetBurgers()`.

   Options Database Keys:
+  -burgers_fused_scheme <euler|ssprk2|ssprk3> - explicit method of -ts_type burgersfused; default ssprk3 with weno5,
                                                 else euler
-  -burgers_fused_steps <integer, at least 1>  - largest number of steps in one step of the TS; default 256

   Notes:
   The steps within one step of the TS are a block. Each of them has the Δt of the TS (-ts_dt). `TSGetStepNumber()`,
   -ts_max_steps and the time count all of them. Monitors, events and -ts_adapt_type cfl get the states at the ends
   of blocks. A block ends at the final time, at times of `TSSetTimeSpan()`, at the last step, and earlier if the TS
   would choose another Δt.

   The result equals that of the same steps taken one by one, bit for bit, on any number of ranks. With the scheme
   euler it also equals that of -ts_type euler if PETSc's `VecAYPX()` rounds the product before the sum.

   Tiles of cells are kept in registers (GPU) or in the L1 cache (CPU), with a halo wide enough for several steps. A
   grid of up to 4000 cells on one GPU takes all steps of a block in one launch. In 2-D, and if a rank has fewer
   cells than a step reads, stages are computed one by one.

   A block with a step to be checked (see -burgers_check_interval in `TSSetBurgers()`) is checked at both ends, for
   the CFL bound and for values that are not finite. If the end fails, the steps of the block are repeated one by one
   to find the first that fails, and the TS keeps the state before that step.

   The functions of `TSSetPreStage()` and `TSSetPostStage()` are called. An event is located by shorter blocks, which
   requires a PETSc whose `TSEULER` can roll back (3.22 and newer). While an event is located, a step of the TS that is
   longer than Δt is divided into equal steps of at most Δt. A Δt that a program sets between solves or in a monitor is
   used from the next step on.

   Errors:
   As `TSSetBurgers()`; `PETSC_ERR_SUP` for an adapter other than none and cfl; `PETSC_ERR_ORDER` without `TSSetBurgers()`.

   Level: intermediate

   Source:
   C.-W. Shu and S. Osher, Efficient implementation of essentially non-oscillatory shock-capturing schemes, 1988.

.seealso: `TSSetBurgers()`, `TSBurgersSetFused()`
M*/
#define TSBURGERSFUSED "burgersfused"

/*@
   TSBurgersSetFused - sets the method of `TSBURGERSFUSED` and the length of its blocks

   Logically Collective

   Input Parameters:
+  ts     - a TS with `TSSetBurgers()`
.  scheme - one of `TSBurgersScheme`
-  steps  - the largest number of steps in a block, >= 1

   Options Database Keys:
+  -burgers_fused_scheme <euler|ssprk2|ssprk3> - explicit method of -ts_type burgersfused; default ssprk3 with weno5,
                                                 else euler
-  -burgers_fused_steps <integer, at least 1>  - largest number of steps in one step of the TS; default 256

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE`; nothing is changed then.

.seealso: `TSBURGERSFUSED`, `TSSetBurgers()`
@*/
PETSC_EXTERN PetscErrorCode TSBurgersSetFused(TS ts, TSBurgersScheme scheme, PetscInt steps);

#endif
