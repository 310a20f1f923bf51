// Wrong options and calls of Burgers' equation.

#include "catch.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

#if !defined(PETSC_USE_COMPLEX)

using Stepper = Owned<TS, TSDestroy>;

// A few steps in 1-D or 2-D.
static Work steps_of(TSType type, int dim, DMBoundaryType ends) {
  return [=](Vec *y) {
    PetscFunctionBeginUser;
    Grid    da;
    Stepper ts;
    if (dim == 1)
      PetscCall(DMDACreate1d(PETSC_COMM_WORLD, ends, 40, 1, 1, NULL, &da));
    else
      PetscCall(DMDACreate2d(PETSC_COMM_WORLD, ends, ends, DMDA_STENCIL_STAR, 20, 16, PETSC_DECIDE, PETSC_DECIDE, 2, 1,
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

TEST_CASE("wrong options of Burgers' equation on a line", "[misuse]") {
  check_options(
      steps_of(TSEULER, 1, DM_BOUNDARY_PERIODIC),
      {
          {"-burgers_flux upwind", PETSC_ERR_USER, {"upwind", "burgers_flux"}},
          {"-burgers_flux 12", PETSC_ERR_USER, {"12", "burgers_flux"}},
          {"-burgers_reconstruct weno7", PETSC_ERR_USER, {"weno7", "burgers_reconstruct"}},
          {"-burgers_reconstruct linear", PETSC_ERR_USER, {"linear", "burgers_reconstruct"}},
          {"-burgers_bc wall", PETSC_ERR_USER, {"wall", "burgers_bc"}},
          {"-burgers_bc outflow", PETSC_ERR_ARG_INCOMP, {"outflow", "make it with DM_BOUNDARY_NONE, or use"}},
          {"-burgers_bc frozen", PETSC_ERR_ARG_INCOMP, {"frozen", "make it with DM_BOUNDARY_NONE, or use"}},
          {"-burgers_bc inflow -burgers_inflow 1,1",
           PETSC_ERR_ARG_INCOMP,
           {"inflow", "make it with DM_BOUNDARY_NONE, or use"}},
          {"-burgers_inflow 1", PETSC_ERR_ARG_SIZ, {"1", "give"}},
          {"-burgers_inflow 1,2,3", PETSC_ERR_ARG_SIZ, {"2", "3", "give"}},
          {"-burgers_inflow 1,2", PETSC_ERR_ARG_INCOMP, {"use -burgers_bc inflow, or leave -burgers_inflow"}},
          {"-burgers_inflow a,b", 0, {"a"}},
          {"-burgers_viscosity -1", PETSC_ERR_ARG_OUTOFRANGE, {"-1", "it must be finite, and not"}},
          {"-burgers_viscosity nan", PETSC_ERR_ARG_OUTOFRANGE, {"nan", "it must be finite, and not"}},
          {"-burgers_viscosity inf", PETSC_ERR_ARG_OUTOFRANGE, {"inf", "it must be finite, and not"}},
          {"-burgers_viscosity honey", 0, {"honey"}},
          {"-burgers_lengths 0", PETSC_ERR_ARG_OUTOFRANGE, {"0", "it must be finite and positive"}},
          {"-burgers_lengths -2", PETSC_ERR_ARG_OUTOFRANGE, {"-2", "it must be finite and positive"}},
          {"-burgers_lengths nan", PETSC_ERR_ARG_OUTOFRANGE, {"nan", "it must be finite and positive"}},
          {"-burgers_lengths 1,2", PETSC_ERR_ARG_SIZ, {"1", "2", "give"}},
          {"-burgers_lengths long", 0, {"long"}},
          {"-burgers_lengths 1e-320", PETSC_ERR_ARG_OUTOFRANGE, {"use larger cells"}},
          {"-burgers_speed -1", PETSC_ERR_ARG_OUTOFRANGE, {"-1", "it must be finite, and not"}},
          {"-burgers_speed nan", PETSC_ERR_ARG_OUTOFRANGE, {"nan", "it must be finite, and not"}},
          {"-burgers_speed 1", PETSC_ERR_ARG_INCOMP, {"use -burgers_flux lax_friedrichs, or leave -burgers_speed"}},
          {"-burgers_flux lax_friedrichs -burgers_speed .1",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"lax_friedrichs", ".1", "use -burgers_speed"}},
          {"-burgers_check_interval -3", PETSC_ERR_ARG_OUTOFRANGE, {"-3", "it must be"}},
          {"-burgers_check_interval often", 0, {"often"}},
          {"-burgers_halo magic", PETSC_ERR_USER, {"magic", "burgers_halo"}},
          {"-burgers_jacobian dense", PETSC_ERR_USER, {"dense", "burgers_jacobian"}},

          {"-burgers_flux central_doubled -burgers_reconstruct minmod",
           PETSC_ERR_ARG_INCOMP,
           {"central_doubled", "minmod", "use -burgers_reconstruct constant, or another flux"}},
          {"-burgers_flux central_doubled -burgers_viscosity 1",
           PETSC_ERR_ARG_INCOMP,
           {"central_doubled", "1", "it is"}},
          {"-ts_dt 10", PETSC_ERR_ARG_OUTOFRANGE, {"10", "-burgers_check_interval"}},
          {"-ts_dt -1e-3", 0, {}},
          {"-ts_type rk -ts_adapt_type cfl", PETSC_ERR_SUP, {"rk", "cfl", "use -ts_type ssp or -ts_adapt_type basic"}},
      });
}

TEST_CASE("wrong options of burgersfused", "[misuse]") {
  check_options(steps_of(TSBURGERSFUSED, 1, DM_BOUNDARY_PERIODIC),
                {
                    {"-burgers_fused_steps 0", PETSC_ERR_ARG_OUTOFRANGE, {"0", "give"}},
                    {"-burgers_fused_steps -4", PETSC_ERR_ARG_OUTOFRANGE, {"-4", "give"}},
                    {"-burgers_fused_steps all", 0, {"all"}},
                    {"-burgers_fused_scheme rk4", PETSC_ERR_USER, {"rk4", "burgers_fused_scheme"}},
                    {"-burgers_fused_scheme 3", PETSC_ERR_USER, {"3", "burgers_fused_scheme"}},
                    {"-ts_adapt_type basic", PETSC_ERR_SUP, {"basic", "use none or cfl"}},
                    {"-ts_adapt_type dsp", PETSC_ERR_SUP, {"dsp", "use none or cfl"}},
                    {"-ts_exact_final_time interpolate",
                     PETSC_ERR_SUP,
                     {"interpolate", "use -ts_exact_final_time matchstep or stepover"}},
                    {"-ts_dt 10", PETSC_ERR_ARG_OUTOFRANGE, {"10", "-burgers_check_interval"}},
                    {"-ts_dt -1e-3", 0, {}},

                });
}

TEST_CASE("wrong options of Burgers' equation on a plane", "[misuse]") {
  check_options(steps_of(TSEULER, 2, DM_BOUNDARY_NONE),
                {
                    {"-burgers_flux central_doubled", PETSC_ERR_ARG_INCOMP, {"central_doubled", "use central"}},
                    {"-burgers_bc periodic", PETSC_ERR_ARG_INCOMP, {"periodic", "make it with DM_BOUNDARY_PERIODIC"}},
                    {"-burgers_bc inflow -burgers_inflow 1,1", PETSC_ERR_ARG_SIZ, {"give 4"}},
                    {"-burgers_bc inflow -burgers_inflow 1,1,1", PETSC_ERR_ARG_SIZ, {"inflow", "give"}},
                    {"-burgers_bc inflow -burgers_inflow 1,nan,0,0",
                     PETSC_ERR_ARG_OUTOFRANGE,
                     {"inflow", "1", "nan", "it must be finite"}},
                    {"-burgers_bc inflow -burgers_inflow 2,0,0,0 -burgers_flux lax_friedrichs -burgers_speed 1",
                     PETSC_ERR_ARG_INCOMP,
                     {"inflow", "2", "0", "1", "give the largest |u| of all"}},
                    {"-burgers_lengths 1", PETSC_ERR_ARG_SIZ, {"1", "give"}},
                    {"-burgers_lengths 1,0", PETSC_ERR_ARG_OUTOFRANGE, {"0", "it must be finite and positive"}},
                    {"-burgers_lengths 1,2,3", PETSC_ERR_ARG_SIZ, {"2", "3", "give"}},
                });
}

TEST_CASE("wrong calls of Burgers' equation", "[misuse]") {
  Grid            da, plane, other;
  Stepper         ts, bare, without_grid;
  const PetscReal one[4] = {1, 1, 1, 1}, bad[2] = {-1, 1}, nan[2] = {NAN, 1};
  const auto      start = [](TS *made, DM dm) {
    OK(TSCreate(PETSC_COMM_WORLD, made));
    if (dm) OK(TSSetDM(*made, dm));
  };
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 40, 1, 1, NULL, &da));
  OK(DMSetUp(da));
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 41, 1, 1, NULL, &other));
  OK(DMSetUp(other));
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 8, PETSC_DECIDE,
                  PETSC_DECIDE, 1, 1, NULL, NULL, &plane));
  OK(DMSetUp(plane));
  start(&ts, da);
  start(&bare, da);
  start(&without_grid, NULL);
  OK(TSSetBurgers(ts));
  check_calls(
      steps_of(TSEULER, 1, DM_BOUNDARY_NONE),
      {
          {"TSSetBurgers(NULL)", PETSC_ERR_ARG_NULL, {"create it first"}, [&] { return TSSetBurgers(NULL); }},
          {"TSSetBurgers() without a DM",
           PETSC_ERR_ARG_WRONG,
           {"set a DMDA with TSSetDM"},
           [&] { return TSSetBurgers(without_grid); }},
          {"TSSetBurgers() with one unknown on a plane",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"Burgers' equation has one component for"},
           [&] {
             Stepper wrong;
             start(&wrong, plane);
             return TSSetBurgers(wrong);
           }},
          {"TSBurgersSetFlux() before TSSetBurgers()",
           PETSC_ERR_ORDER,
           {"call TSSetBurgers"},
           [&] { return TSBurgersSetFlux(bare, TS_BURGERS_GODUNOV); }},
          {"TSBurgersSetReconstruction() before",
           PETSC_ERR_ORDER,
           {"call TSSetBurgers"},
           [&] { return TSBurgersSetReconstruction(bare, TS_BURGERS_MINMOD); }},
          {"TSBurgersSetBoundary() before",
           PETSC_ERR_ORDER,
           {"call TSSetBurgers"},
           [&] { return TSBurgersSetBoundary(bare, TS_BURGERS_OUTFLOW); }},
          {"TSBurgersSetInflow() before",
           PETSC_ERR_ORDER,
           {"call TSSetBurgers"},
           [&] { return TSBurgersSetInflow(bare, 2, one); }},
          {"TSBurgersSetViscosity() before",
           PETSC_ERR_ORDER,
           {"call TSSetBurgers"},
           [&] { return TSBurgersSetViscosity(bare, 1); }},
          {"TSBurgersSetLengths() before",
           PETSC_ERR_ORDER,
           {"call TSSetBurgers"},
           [&] { return TSBurgersSetLengths(bare, 1, one); }},
          {"TSBurgersSetFused() before",
           PETSC_ERR_ORDER,
           {"call TSSetBurgers"},
           [&] { return TSBurgersSetFused(bare, TS_BURGERS_EULER, 4); }},
          {"TSBurgersView() before",
           PETSC_ERR_ORDER,
           {"call TSSetBurgers"},
           [&] { return TSBurgersView(bare, PETSC_VIEWER_STDOUT_WORLD); }},
          {"TSBurgersSetFlux(NULL)",
           PETSC_ERR_ARG_NULL,
           {"create it first"},
           [&] { return TSBurgersSetFlux(NULL, TS_BURGERS_GODUNOV); }},
          {"TSBurgersSetFlux(ts, 99)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use central, lax_friedrichs, rusanov, godunov, engquist_osher"},
           [&] { return TSBurgersSetFlux(ts, (TSBurgersFlux)99); }},
          {"TSBurgersSetFlux(ts, -1)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use central, lax_friedrichs, rusanov, godunov, engquist_osher"},
           [&] { return TSBurgersSetFlux(ts, (TSBurgersFlux)-1); }},
          {"TSBurgersSetReconstruction(ts, 99)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use constant, minmod, vanleer or weno"},
           [&] { return TSBurgersSetReconstruction(ts, (TSBurgersReconstruction)99); }},
          {"TSBurgersSetBoundary(ts, 99)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use periodic, outflow, inflow or frozen"},
           [&] { return TSBurgersSetBoundary(ts, (TSBurgersBoundary)99); }},

          {"TSBurgersSetInflow(ts, 1)", PETSC_ERR_ARG_SIZ, {"give"}, [&] { return TSBurgersSetInflow(ts, 1, one); }},
          {"TSBurgersSetInflow(ts, 4) on a line",
           PETSC_ERR_ARG_SIZ,
           {"give"},
           [&] { return TSBurgersSetInflow(ts, 4, one); }},

          {"TSBurgersSetInflow() of NaN",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be finite"},
           [&] { return TSBurgersSetInflow(ts, 2, nan); }},
          {"TSBurgersSetViscosity(ts, -1)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be finite, and not"},
           [&] { return TSBurgersSetViscosity(ts, -1); }},
          {"TSBurgersSetViscosity(ts, NAN)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be finite, and not"},
           [&] { return TSBurgersSetViscosity(ts, NAN); }},
          {"TSBurgersSetLengths(ts, 0)", PETSC_ERR_ARG_SIZ, {"give"}, [&] { return TSBurgersSetLengths(ts, 0, one); }},
          {"TSBurgersSetLengths(ts, 2) on a line",
           PETSC_ERR_ARG_SIZ,
           {"give"},
           [&] { return TSBurgersSetLengths(ts, 2, one); }},

          {"TSBurgersSetLengths() of -1",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"it must be finite and positive"},
           [&] { return TSBurgersSetLengths(ts, 1, bad); }},
          {"TSBurgersSetFused(ts, EULER, 0)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"give"},
           [&] { return TSBurgersSetFused(ts, TS_BURGERS_EULER, 0); }},
          {"TSBurgersSetFused(ts, 99, 4)",
           PETSC_ERR_ARG_OUTOFRANGE,
           {"use euler, ssprk"},
           [&] { return TSBurgersSetFused(ts, (TSBurgersScheme)99, 4); }},

      });
}

#endif
