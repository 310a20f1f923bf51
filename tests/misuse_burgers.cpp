// Mistakes with Burgers' equation: options, on a line and on a plane.

#include "burgers/options.hpp"
#include "catch.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

#if !defined(PETSC_USE_COMPLEX)

using Stepper = Owned<TS, TSDestroy>;

// Two steps in 1-D or 2-D.
static Work steps_of(TSType type, int dim, DMBoundaryType ends) {
  return [=](Vec *y) {
    PetscFunctionBeginUser;
    Grid    da;
    Stepper ts;
    if (dim == 1)
      PetscCall(DMDACreate1d(PETSC_COMM_WORLD, ends, 40, 1, 3, NULL, &da));
    else
      PetscCall(DMDACreate2d(PETSC_COMM_WORLD, ends, ends, DMDA_STENCIL_STAR, 20, 16, PETSC_DECIDE, PETSC_DECIDE, 2, 3,
                             NULL, NULL, &da));
    PetscCall(DMSetUp(da));
    PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
    PetscCall(TSSetDM(ts, da));
    PetscCall(TSSetProblemType(ts, TS_NONLINEAR));
    PetscCall(TSSetBurgers(ts));
    PetscCall(TSSetType(ts, type));
    PetscCall(TSSetTimeStep(ts, 1e-3));
    PetscCall(TSSetMaxSteps(ts, 2));
    PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
    PetscCall(TSSetFromOptions(ts));
    PetscCall(DMCreateGlobalVector(da, y));
    set_values(da, *y, [](const PetscInt p[3]) { return std::sin(PetscReal(0.3) * p[0]) / 2; });
    PetscCall(TSSolve(ts, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
}

TEST_CASE("options of Burgers' equation on a periodic line", "[misuse]") {
  check_mistakes(
      steps_of(TSEULER, 1, DM_BOUNDARY_PERIODIC),
      {
          {"-burgers_flux upwind", PETSC_ERR_USER, "upwind|burgers_flux"},
          {"-burgers_flux 12", PETSC_ERR_USER, "12|burgers_flux"},
          {"-burgers_flux central_doubled -burgers_reconstruct minmod", PETSC_ERR_ARG_INCOMP,
           "central_doubled|minmod|use -burgers_reconstruct constant"},
          {"-burgers_flux central_doubled -burgers_viscosity 1", PETSC_ERR_ARG_INCOMP, "central_doubled|use central"},
          {"-burgers_reconstruct weno7", PETSC_ERR_USER, "weno7|burgers_reconstruct"},
          {"-burgers_reconstruct 4", PETSC_ERR_USER, "4|burgers_reconstruct"},
          {"-burgers_bc wall", PETSC_ERR_USER, "wall|burgers_bc"},
          {"-burgers_bc outflow", PETSC_ERR_ARG_INCOMP, "outflow|periodic"},
          {"-burgers_bc frozen", PETSC_ERR_ARG_INCOMP, "frozen|periodic"},
          {"-burgers_bc inflow -burgers_inflow 1,1", PETSC_ERR_ARG_INCOMP, "inflow|periodic"},
          {"-burgers_inflow 1", PETSC_ERR_ARG_SIZ, "1 values|give 2"},
          {"-burgers_inflow 1,2,3", PETSC_ERR_ARG_SIZ, "3 values|give 2"},
          {"-burgers_inflow 1,2", PETSC_ERR_ARG_INCOMP, "-burgers_bc inflow|leave -burgers_inflow out"},
          {"-burgers_inflow 1,nan", PETSC_ERR_ARG_OUTOFRANGE, "inflow value 1|nan|finite"},
          {"-burgers_inflow a,b", PETSC_ERR_ARG_OUTOFRANGE, "burgers_inflow|a|give: u,u"},
          {"-burgers_viscosity -1", PETSC_ERR_ARG_OUTOFRANGE, "viscosity|-1"},
          {"-burgers_viscosity nan", PETSC_ERR_ARG_OUTOFRANGE, "nan|finite"},
          {"-burgers_viscosity inf", PETSC_ERR_ARG_OUTOFRANGE, "inf|finite"},
          {"-burgers_viscosity honey", PETSC_ERR_ARG_OUTOFRANGE, "burgers_viscosity|honey|give: number, at least 0"},
          {"-burgers_lengths 0", PETSC_ERR_ARG_OUTOFRANGE, "length x|0|positive"},
          {"-burgers_lengths -2", PETSC_ERR_ARG_OUTOFRANGE, "length x|-2|positive"},
          {"-burgers_lengths nan", PETSC_ERR_ARG_OUTOFRANGE, "length x|nan|finite"},
          {"-burgers_lengths inf", PETSC_ERR_ARG_OUTOFRANGE, "length x|inf|finite"},
          {"-burgers_lengths 1,2", PETSC_ERR_ARG_SIZ, "2 side lengths|give 1"},
          {"-burgers_lengths 1e-320", PETSC_ERR_ARG_OUTOFRANGE, "use larger cells"},
          {"-burgers_lengths long", PETSC_ERR_ARG_OUTOFRANGE, "burgers_lengths|long|give: Lx"},
          {"-burgers_speed -1", PETSC_ERR_ARG_OUTOFRANGE, "burgers_speed|-1"},
          {"-burgers_speed nan", PETSC_ERR_ARG_OUTOFRANGE, "nan|finite"},
          {"-burgers_speed 1", PETSC_ERR_ARG_INCOMP, "-burgers_flux lax_friedrichs|leave -burgers_speed out"},
          {"-burgers_flux lax_friedrichs -burgers_speed 0.1", PETSC_ERR_ARG_OUTOFRANGE, "0.1|-burgers_speed"},
          {"-burgers_check_interval -3", PETSC_ERR_ARG_OUTOFRANGE, "burgers_check_interval|-3"},
          {"-burgers_check_interval often", PETSC_ERR_ARG_OUTOFRANGE,
           "burgers_check_interval|often|give: integer, at least 0"},
          {"-burgers_halo magic", PETSC_ERR_USER, "magic|burgers_halo"},
          {"-burgers_jacobian dense", PETSC_ERR_USER, "dense|burgers_jacobian"},
          {"-burgers_jacobian aij", PETSC_ERR_ARG_INCOMP, "euler|implicit type|leave -burgers_jacobian out"},
          {"-burgers_fused_steps 0", PETSC_ERR_ARG_OUTOFRANGE, "burgers_fused_steps|0|1 or more"},
          {"-burgers_fused_steps 4", PETSC_ERR_ARG_INCOMP, "euler|-ts_type burgersfused"},
          {"-burgers_fused_scheme euler", PETSC_ERR_ARG_INCOMP, "euler|-ts_type burgersfused"},
          {BURGERS_TIME_STEP " 10", PETSC_ERR_ARG_OUTOFRANGE, BURGERS_TIME_STEP},
          {BURGERS_TIME_STEP " inf", PETSC_ERR_ARG_OUTOFRANGE, "inf"}, // later PETScs look themselves
          {"-ts_type mimex", PETSC_ERR_SUP, "mimex|explicit type|implicit"},
          {"-ts_type alpha2", PETSC_ERR_SUP, "alpha2|explicit type|implicit"},
          {"-ts_type irk", PETSC_ERR_SUP, "irk|-burgers_jacobian aij"},
          {"-ts_type rk -ts_adapt_type cfl", PETSC_ERR_SUP, "cfl|-ts_type ssp or -ts_adapt_type basic"},
          {"-ts_type no_such_type", PETSC_ERR_ARG_UNKNOWN_TYPE, "no_such_type"},
      });
}

TEST_CASE("options of Burgers' equation on a line with ends", "[misuse]") {
  check_mistakes(
      steps_of(TSSSP, 1, DM_BOUNDARY_NONE),
      {
          {"-burgers_bc periodic", PETSC_ERR_ARG_INCOMP, "periodic"},
          {"-burgers_bc 3", PETSC_ERR_USER, "3|burgers_bc"},
          {"-burgers_bc frozen -burgers_inflow 1,1", PETSC_ERR_ARG_INCOMP, "frozen|-burgers_bc inflow"},
          {"-burgers_bc inflow -burgers_inflow 1,1,1,1", PETSC_ERR_ARG_SIZ, "4 values|give 2"},
          {"-burgers_bc inflow -burgers_inflow inf,0", PETSC_ERR_ARG_OUTOFRANGE, "inflow value 0|inf|finite"},
          {"-burgers_bc inflow -burgers_inflow 9,0 " BURGERS_TIME_STEP " 0.1", PETSC_ERR_ARG_OUTOFRANGE,
           BURGERS_TIME_STEP},
          {"-burgers_viscosity 1e6", PETSC_ERR_ARG_OUTOFRANGE, BURGERS_TIME_STEP},
          {"-burgers_lengths 1e-9", PETSC_ERR_ARG_OUTOFRANGE, BURGERS_TIME_STEP},
          {"-burgers_jacobian shell", PETSC_ERR_ARG_INCOMP, "ssp|leave -burgers_jacobian out"},
          {"-burgers_fused_scheme ssprk3", PETSC_ERR_ARG_INCOMP, "ssp|-ts_type burgersfused"},
      });
}

TEST_CASE("options of burgersfused", "[misuse]") {
  check_mistakes(
      steps_of(TSBURGERSFUSED, 1, DM_BOUNDARY_PERIODIC),
      {
          {"-burgers_fused_steps 0", PETSC_ERR_ARG_OUTOFRANGE, "burgers_fused_steps|0|1 or more"},
          {"-burgers_fused_steps -4", PETSC_ERR_ARG_OUTOFRANGE, "burgers_fused_steps|-4|1 or more"},
          {"-burgers_fused_steps all", PETSC_ERR_ARG_OUTOFRANGE, "burgers_fused_steps|all|give: integer, at least 1"},
          {"-burgers_fused_scheme rk4", PETSC_ERR_USER, "rk4|burgers_fused_scheme"},
          {"-burgers_fused_scheme 3", PETSC_ERR_USER, "3|burgers_fused_scheme"},
          {"-ts_adapt_type basic", PETSC_ERR_SUP, "basic|use none or cfl"},
          {"-ts_adapt_type dsp", PETSC_ERR_SUP, "dsp|use none or cfl"},
          {"-ts_exact_final_time interpolate", PETSC_ERR_SUP, "interpolate|matchstep or stepover"},
          {BURGERS_TIME_STEP " 10", PETSC_ERR_ARG_OUTOFRANGE, BURGERS_TIME_STEP},
          {"-burgers_jacobian aij", PETSC_ERR_ARG_INCOMP, "burgersfused|leave -burgers_jacobian out"},
          {"-burgers_flux lax_friedrichs -burgers_speed 0.1", PETSC_ERR_ARG_OUTOFRANGE,
           "-burgers_speed|or the flux rusanov"},
      });
}

TEST_CASE("options of Burgers' equation on a plane", "[misuse]") {
  check_mistakes(
      steps_of(TSEULER, 2, DM_BOUNDARY_NONE),
      {
          {"-burgers_flux central_doubled", PETSC_ERR_ARG_INCOMP, "central_doubled|1-D only|use central"},
          {"-burgers_bc periodic", PETSC_ERR_ARG_INCOMP, "periodic"},
          {"-burgers_bc inflow -burgers_inflow 1,1", PETSC_ERR_ARG_SIZ, "2 values|give 4"},
          {"-burgers_bc inflow -burgers_inflow 1,1,1", PETSC_ERR_ARG_SIZ, "3 values|give 4"},
          {"-burgers_bc inflow -burgers_inflow 1,1,1,1,1", PETSC_ERR_ARG_SIZ, "5 values|give 4"},
          {"-burgers_bc inflow -burgers_inflow 1,0,0,inf", PETSC_ERR_ARG_OUTOFRANGE, "inflow value 3|inf|finite"},
          {"-burgers_bc inflow -burgers_inflow 2,0,0,0 -burgers_flux lax_friedrichs -burgers_speed 1",
           PETSC_ERR_ARG_INCOMP, "-burgers_speed is 1|speed 2|give the largest"},
          {"-burgers_lengths 1", PETSC_ERR_ARG_SIZ, "1 side lengths|give 2"},
          {"-burgers_lengths 1,0", PETSC_ERR_ARG_OUTOFRANGE, "length y|0|positive"},
          {"-burgers_lengths 1,2,3", PETSC_ERR_ARG_SIZ, "3 side lengths|give 2"},
          {BURGERS_TIME_STEP " 10", PETSC_ERR_ARG_OUTOFRANGE, BURGERS_TIME_STEP},
      });
}

#endif
