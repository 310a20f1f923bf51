// Mistakes with Burgers' equation: grids, settings, states.

#include "catch.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

#if !defined(PETSC_USE_COMPLEX)

using Stepper = Owned<TS, TSDestroy>;

static Grid grid(int dim, PetscInt N, PetscInt dof, DMBoundaryType ends = DM_BOUNDARY_NONE) {
  Grid da;
  if (dim == 1)
    OK(DMDACreate1d(PETSC_COMM_WORLD, ends, N, dof, 3, NULL, &da));
  else if (dim == 2)
    OK(DMDACreate2d(PETSC_COMM_WORLD, ends, ends, DMDA_STENCIL_STAR, N, N, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL,
                    NULL, &da));
  else
    OK(DMDACreate3d(PETSC_COMM_WORLD, ends, ends, ends, DMDA_STENCIL_STAR, N, N, N, PETSC_DECIDE, PETSC_DECIDE,
                    PETSC_DECIDE, dof, 1, NULL, NULL, NULL, &da));
  OK(DMSetUp(da));
  return da;
}

static Stepper stepper(DM dm) {
  Stepper ts;
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  if (dm) OK(TSSetDM(ts, dm));
  OK(TSSetProblemType(ts, TS_NONLINEAR));
  return ts;
}

// All functions on a TS without the equation, or on none.
static std::vector<Mistake> calls_without_equation(TS ts, PetscErrorCode code, const char *words) {
  static const PetscReal one[1] = {1};
  static PetscReal       bound;
  const auto             call = [=](const char *what, const std::function<PetscErrorCode()> &function) {
    return called(code, words, what, function);
  };
  return {call("TSBurgersSetFlux", [=] { return TSBurgersSetFlux(ts, TS_BURGERS_GODUNOV); }),
          call("TSBurgersSetReconstruction", [=] { return TSBurgersSetReconstruction(ts, TS_BURGERS_MINMOD); }),
          call("TSBurgersSetBoundary", [=] { return TSBurgersSetBoundary(ts, TS_BURGERS_OUTFLOW); }),
          call("TSBurgersSetInflow", [=] { return TSBurgersSetInflow(ts, 2, one); }),
          call("TSBurgersSetViscosity", [=] { return TSBurgersSetViscosity(ts, 1); }),
          call("TSBurgersSetLengths", [=] { return TSBurgersSetLengths(ts, 1, one); }),
          call("TSBurgersSetSpeed", [=] { return TSBurgersSetSpeed(ts, 1); }),
          call("TSBurgersSetCheckInterval", [=] { return TSBurgersSetCheckInterval(ts, 1); }),
          call("TSBurgersSetJacobianType", [=] { return TSBurgersSetJacobianType(ts, TS_BURGERS_JACOBIAN_AIJ); }),
          call("TSBurgersSetHaloType", [=] { return TSBurgersSetHaloType(ts, MAT_HALO_HOST); }),
          call("TSBurgersSetFused", [=] { return TSBurgersSetFused(ts, TS_BURGERS_EULER, 4); }),
          call("TSBurgersView", [=] { return TSBurgersView(ts, PETSC_VIEWER_STDOUT_WORLD); }),
          call("TSBurgersGetTimeStepBound", [=] { return TSBurgersGetTimeStepBound(ts, NULL, &bound); })};
}

static PetscErrorCode set_burgers(DM dm) {
  Stepper ts = stepper(dm);
  return TSSetBurgers(ts);
}

TEST_CASE("grids and settings of Burgers' equation", "[misuse]") {
  const auto out = PETSC_ERR_ARG_OUTOFRANGE, null = PETSC_ERR_ARG_NULL, order = PETSC_ERR_ORDER,
             size = PETSC_ERR_ARG_SIZ;
  Grid da = grid(1, 40, 1), other = grid(1, 41, 1), plane = grid(2, 9, 1), pairs = grid(1, 40, 2),
       space = grid(3, 6, 3), shell;
  OK(DMCreate(PETSC_COMM_WORLD, &shell));
  OK(DMSetType(shell, DMREDUNDANT));
  Stepper         ts = stepper(da), bare = stepper(da);
  PetscReal       bound;
  const PetscReal one[4] = {1, 1, 1, 1}, minus[2] = {-1, 1}, nan[2] = {NAN, 1}, inf[2] = {1, INFINITY}, zero[1] = {0};
  const auto      flux = [](int value) { return (TSBurgersFlux)value; };
  const auto      reconstruction = [](int value) { return (TSBurgersReconstruction)value; };
  const auto      boundary = [](int value) { return (TSBurgersBoundary)value; };
  const auto      scheme = [](int value) { return (TSBurgersScheme)value; };
  const auto      halo = [](int value) { return (MatHaloType)value; };
  const auto      jacobian = [](int value) { return (TSBurgersJacobianType)value; };
  OK(TSSetBurgers(ts));
  OK(TSSetTimeStep(ts, 1e-3));
  OK(TSSetUp(ts));
  const auto with = [&](DM dm, PetscScalar odd) { // the bound of a state with one odd value
    Vector u;
    OK(DMCreateGlobalVector(dm, &u));
    OK(VecSet(u, 1));
    set_values(dm, u, [odd](const PetscInt p[3]) { return p[0] == 7 ? odd : 1; });
    return TSBurgersGetTimeStepBound(ts, u, &bound);
  };
  const auto bound_into = [&](PetscReal *into) {
    Vector u = random_vector(da, 1);
    return TSBurgersGetTimeStepBound(ts, u, into);
  };
  const Work rate = [&](Vec *y) {
    PetscFunctionBeginUser;
    Vector u = random_vector(da, 1);
    PetscCall(DMCreateGlobalVector(da, y));
    PetscCall(TSComputeRHSFunction(ts, 0, u, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  check_mistakes(rate, calls_without_equation(bare, order, "TSSetBurgers"));
  check_mistakes(rate, calls_without_equation(NULL, null, "null"));
  check_mistakes(rate,
                 {
                     CALL(null, "null", TSSetBurgers(NULL)),
                     CALL(PETSC_ERR_ARG_WRONG, "DMDA|TSSetDM", set_burgers(NULL)),
                     CALL(PETSC_ERR_ARG_WRONG, "DMDA|redundant", set_burgers(shell)),
                     CALL(out, "dof", set_burgers(plane)),
                     CALL(out, "dof", set_burgers(pairs)),
                     CALL(out, "3", set_burgers(space)),
                     CALL(out, "flux 99|godunov", TSBurgersSetFlux(ts, flux(99))),
                     CALL(out, "flux -1|godunov", TSBurgersSetFlux(ts, flux(-1))),
                     CALL(out, "flux 6|central_doubled", TSBurgersSetFlux(ts, flux(6))),
                     CALL(out, "reconstruction 99|weno5", TSBurgersSetReconstruction(ts, reconstruction(99))),
                     CALL(out, "reconstruction -1|weno5", TSBurgersSetReconstruction(ts, reconstruction(-1))),
                     CALL(out, "boundary condition 99|outflow", TSBurgersSetBoundary(ts, boundary(99))),
                     CALL(out, "boundary condition -1|outflow", TSBurgersSetBoundary(ts, boundary(-1))),
                     CALL(out, "type of the Jacobian 3|shell_aij", TSBurgersSetJacobianType(ts, jacobian(3))),
                     CALL(out, "type of the Jacobian -1|shell_aij", TSBurgersSetJacobianType(ts, jacobian(-1))),
                     CALL(out, "halo type 5|automatic, ipc, nccl, mpi or host", TSBurgersSetHaloType(ts, halo(5))),
                     CALL(out, "halo type -1|automatic, ipc, nccl, mpi or host", TSBurgersSetHaloType(ts, halo(-1))),
                     CALL(out, "scheme 99|ssprk3", TSBurgersSetFused(ts, scheme(99), 4)),
                     CALL(out, "scheme -1|ssprk3", TSBurgersSetFused(ts, scheme(-1), 4)),
                     CALL(out, "0|1 or more", TSBurgersSetFused(ts, TS_BURGERS_EULER, 0)),
                     CALL(out, "-9|1 or more", TSBurgersSetFused(ts, TS_BURGERS_SSPRK3, -9)),
                     CALL(size, "1 values|give 2", TSBurgersSetInflow(ts, 1, one)),
                     CALL(size, "4 values|give 2", TSBurgersSetInflow(ts, 4, one)),
                     CALL(size, "-2 values|give 2", TSBurgersSetInflow(ts, -2, one)),
                     CALL(null, "null|array of 2", TSBurgersSetInflow(ts, 2, NULL)),
                     CALL(out, "inflow value 0|nan|finite", TSBurgersSetInflow(ts, 2, nan)),
                     CALL(out, "inflow value 1|inf|finite", TSBurgersSetInflow(ts, 2, inf)),
                     CALL(out, "viscosity|-1", TSBurgersSetViscosity(ts, -1)),
                     CALL(out, "viscosity|nan", TSBurgersSetViscosity(ts, NAN)),
                     CALL(out, "viscosity|inf", TSBurgersSetViscosity(ts, INFINITY)),
                     CALL(out, "speed|-1", TSBurgersSetSpeed(ts, -1)),
                     CALL(out, "speed|inf", TSBurgersSetSpeed(ts, INFINITY)),
                     CALL(out, "check_interval|-1", TSBurgersSetCheckInterval(ts, -1)),
                     CALL(size, "0 side lengths|give 1", TSBurgersSetLengths(ts, 0, one)),
                     CALL(size, "2 side lengths|give 1", TSBurgersSetLengths(ts, 2, one)),
                     CALL(null, "null|array of 1", TSBurgersSetLengths(ts, 1, NULL)),
                     CALL(out, "length x|-1|positive", TSBurgersSetLengths(ts, 1, minus)),
                     CALL(out, "length x|0|positive", TSBurgersSetLengths(ts, 1, zero)),
                     CALL(out, "length x|nan|finite", TSBurgersSetLengths(ts, 1, nan)),
                     CALL(null, "null", TSBurgersGetTimeStepBound(ts, NULL, &bound)),
                     CALL(null, "null", bound_into(NULL)),
                     CALL(PETSC_ERR_FP, "not finite", with(da, NAN)),
                     CALL(PETSC_ERR_FP, "not finite", with(da, INFINITY)),
                     CALL(size, "state|41|40|DMCreateGlobalVector", with(other, 1)),
                     CALL(out, "flux 99|godunov", TSBurgersSetFlux(ts, flux(on_last(99, 3)))),
                     CALL(out, "viscosity|nan", TSBurgersSetViscosity(ts, on_last<PetscReal>(NAN, 0))),
                     CALL(size, "2 side lengths", TSBurgersSetLengths(ts, on_last(2, 1), one)),
                     CALL(out, "length x|0", TSBurgersSetLengths(ts, 1, on_last(&zero[0], &one[0]))),
                     CALL(out, "inflow value 1", TSBurgersSetInflow(ts, 2, on_last(&inf[0], &one[0]))),
                     CALL(out, "Jacobian 3", TSBurgersSetJacobianType(ts, jacobian(on_last(3, 0)))),
                     CALL(out, "0|1 or more", TSBurgersSetFused(ts, TS_BURGERS_EULER, on_last(0, 4))),
                 });
}

#endif
