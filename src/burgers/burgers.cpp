// TSSetBurgers().

#include "burgers/burgers.hpp"

using namespace shellac;

PetscErrorCode TSSetBurgers(TS ts) {
  Burgers                 *burgers;
  std::shared_ptr<Burgers> made;
  BurgersSettings          settings;
  DM                       dm;
  DMType                   dm_type;
  PetscBool                is_da;
  const char              *prefix;
  PetscErrorCode           code = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCheck(ts, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the TS is null; create it first");
  MPI_Comm comm = PetscObjectComm((PetscObject)ts);
  PetscCall(ShellacInitializePackage());
#if defined(PETSC_USE_COMPLEX)
  PetscCheck(PETSC_FALSE, comm, PETSC_ERR_SUP,
             "Burgers' equation is real, and this PETSc is built for complex scalars; use one for real scalars");
#endif
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
  PetscCall(DMGetType(dm, &dm_type));
  PetscCheck(is_da, comm, PETSC_ERR_ARG_WRONG,
             "Burgers' equation needs the grid of a DMDA; the TS has a DM of type %s; set a DMDA with TSSetDM()",
             dm_type);
  PetscCall(TSFindBurgers(ts, &burgers));
  if (burgers) {
    settings = burgers->settings;
  } else {
    Grid grid;
    PetscCall(GridCreate(dm, &grid));
    settings.boundary = grid.boundary[0] == DM_BOUNDARY_PERIODIC ? TS_BURGERS_PERIODIC : TS_BURGERS_OUTFLOW;
  }
  PetscCall(TSGetOptionsPrefix(ts, &prefix));
  PetscOptionsBegin(comm, prefix, "Burgers' equation", "TSSetBurgers");
  if (!code) code = BurgersReadOptions(PetscOptionsObject, ts, &settings);
  PetscOptionsEnd();
  PetscCall(code);
  if (!burgers) burgers = (made = std::make_shared<Burgers>()).get();
  PetscCall(BurgersReplaceSettings(ts, burgers, settings));
  if (made) PetscCall(BurgersCompose(ts, made));
  PetscCall(TSSetEquationType(ts, TS_EQ_ODE_EXPLICIT));
  PetscCall(BurgersSetCallbacks(ts));
  PetscCall(BurgersSetMatrices(ts, burgers));
  PetscCall(BurgersSetMonitor(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersGetTimeStepBound(TS ts, Vec u, PetscReal *bound) {
  Burgers           *burgers;
  Arrays             arrays;
  const PetscScalar *array = NULL;
  Extremes           extremes;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  MPI_Comm comm = PetscObjectComm((PetscObject)ts);
  PetscCheck(u, comm, PETSC_ERR_ARG_NULL, "the state is null; give a vector of DMCreateGlobalVector()");
  PetscCheck(bound, comm, PETSC_ERR_ARG_NULL, "the place for the bound is null; give the address of a PetscReal");
  PetscCall(BurgersSetUp(ts, burgers));
  PetscCall(GridCheckVector(burgers->grid, u, "state"));
  PetscCall(arrays.Read(u, &array));
  PetscCall(BurgersExtremes(burgers, arrays.memory(), array, &extremes));
  PetscCall(arrays.Restore());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &extremes.state, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, burgers->comm()));
  PetscCheck(extremes.state < infinite_bits, burgers->comm(), PETSC_ERR_FP,
             "the state has values that are not finite (NaN or infinity), and there is no time step for it");
  *bound = burgers_bound(*burgers, number_of(extremes.state));
  PetscFunctionReturn(PETSC_SUCCESS);
}
