// The context of Burgers' equation: found on its TS, created, reset, destroyed.

#include "burgers/burgers.hpp"

#include <utility>

namespace shellac {

static constexpr const char *container_name = "ShellacBurgers";

PetscErrorCode BurgersGetContainer(TS ts, PetscContainer *container) {
  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)ts, container_name, (PetscObject *)container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSFindBurgers(TS ts, Burgers **burgers) {
  PetscContainer container;

  PetscFunctionBegin;
  *burgers = NULL;
  PetscCheck(ts, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the TS is null; create it first");
  PetscCall(BurgersGetContainer(ts, &container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)burgers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSGetBurgers(TS ts, Burgers **burgers) {
  PetscFunctionBegin;
  PetscCall(TSFindBurgers(ts, burgers));
  PetscCheck(*burgers, PetscObjectComm((PetscObject)ts), PETSC_ERR_ORDER,
             "the TS does not know Burgers' equation; call TSSetBurgers() first");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersReset(Burgers *burgers) {
  FusedSteps &fused = burgers->fused;

  PetscFunctionBegin;
  if (burgers->ready) PetscCall(burgers->halo.Destroy());
  if (fused.halo_width) PetscCall(fused.halo.Destroy());
  for (Vec &v : fused.work) PetscCall(VecDestroy(&v));
  burgers->operations.reset();
  burgers->ready = false;
  fused.halo_width = 0;
  fused.last = FusedBlock();
  burgers->solve = BurgersSolve();
  burgers->speed_of_last = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(void *argument) {
  Burgers *burgers = context_to_destroy<Burgers>(argument);

  PetscFunctionBegin;
  PetscCall(BurgersReset(burgers));
  PetscCall(DMDestroy(&burgers->dm));
#if SHELLAC_CUDA
  if (burgers->device_extremes) PetscCallCUDA(cudaFree(burgers->device_extremes));
#endif
  delete burgers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersCreate(TS ts, PetscContainer *container, Burgers **burgers) {
  PetscFunctionBegin;
  *burgers = new Burgers;
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)ts), container));
  PetscCall(PetscContainerSetPointer(*container, *burgers));
  PetscCall(PetscContainerSetCtxDestroy(*container, destructor(destroy)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersCompose(TS ts, PetscContainer container) {
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)ts, container_name, (PetscObject)container));
  PetscCall(PetscObjectAddOptionsHandler((PetscObject)ts, BurgersSetFromOptions, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersReplaceSettings(TS ts, Burgers *burgers, const BurgersSettings &settings) {
  const BurgersSettings before = burgers->settings;
  DM                    dm = burgers->dm;

  PetscFunctionBegin;
  PetscCall(BurgersReset(burgers));
  burgers->settings = settings;
  burgers->dm = NULL;
  const PetscErrorCode code = BurgersSetUp(ts, burgers);
  if (code) {
    burgers->settings = before;
    std::swap(burgers->dm, dm);
  } else if (burgers->dm != dm)
    burgers->has_matrices = false;
  PetscCall(DMDestroy(&dm));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
