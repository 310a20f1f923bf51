// The context of Burgers' equation: found on its TS, created, reset, destroyed.

#include "burgers/burgers.hpp"

#include <utility>

namespace shellac {

static constexpr const char *composed_name = "ShellacBurgers";

PetscErrorCode TSFindBurgers(TS ts, Burgers **burgers) {
  std::shared_ptr<Burgers> *composed;

  PetscFunctionBegin;
  PetscCheck(ts, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the TS is null; create it first");
  PetscCall(query_context((PetscObject)ts, composed_name, &composed));
  *burgers = composed ? composed->get() : NULL;
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

Burgers::~Burgers() {
  (void)!BurgersReset(this);
  (void)!DMDestroy(&dm);
  DeviceFree(device_extremes);
  PinnedFree(host_extremes);
}

PetscErrorCode BurgersCompose(TS ts, const std::shared_ptr<Burgers> &burgers) {
  PetscFunctionBegin;
  PetscCall(compose_context((PetscObject)ts, composed_name, new std::shared_ptr<Burgers>(burgers)));
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
