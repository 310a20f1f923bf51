// TSBurgersView().

#include "burgers/burgers.hpp"

using namespace shellac;

PetscErrorCode TSBurgersView(TS ts, PetscViewer viewer) {
  Burgers  *burgers;
  PetscBool ascii, fused;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCall(BurgersSetUp(ts, burgers));
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(burgers->comm(), &viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  const BurgersPatch &patch = burgers->patch;
  PetscCall(PetscViewerASCIIPrintf(viewer, "Burgers' equation in %d-D: flux %s, reconstruction %s\n", patch.dim,
                                   burgers->operations->flux, burgers->operations->reconstruction));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  for (int a = 0; a < patch.dim; a++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "axis %c: %" PetscInt_FMT " cells, width %g\n", "xy"[a],
                                     burgers -> grid.N[a], (double)patch.at[a].h));
  char inflow[128] = "";
  if (burgers->settings.boundary == TS_BURGERS_INFLOW) {
    const auto &v = burgers->settings.inflow;
    if (patch.dim == 1)
      PetscCall(PetscSNPrintf(inflow, sizeof(inflow), ", u = %g and %g", (double)v[0][0], (double)v[0][1]));
    else
      PetscCall(PetscSNPrintf(inflow, sizeof(inflow), ", u = %g and %g, v = %g and %g", (double)v[0][0],
                              (double)v[0][1], (double)v[1][0], (double)v[1][1]));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "ends: %s%s\n", TSBurgersBoundaries[burgers->settings.boundary], inflow));
  PetscCall(PetscViewerASCIIPrintf(viewer, "viscosity: %g\n", (double)burgers->settings.viscosity));
  if (burgers->is_lax_friedrichs()) {
    if (burgers->settings.speed > 0)
      PetscCall(PetscViewerASCIIPrintf(viewer, "speed of the flux: %g\n", (double)burgers->settings.speed));
    else
      PetscCall(PetscViewerASCIIPrintf(viewer, "speed of the flux: that of the first state\n"));
  }
  if (burgers->settings.check_interval == 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "checks: each step\n"));
  else if (burgers->settings.check_interval)
    PetscCall(PetscViewerASCIIPrintf(viewer, "checks: steps whose number is a multiple of %" PetscInt_FMT "\n",
                                     burgers->settings.check_interval));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "checks: none\n"));
  PetscCall(TSIsBurgersFused(ts, &fused));
  if (fused)
    PetscCall(PetscViewerASCIIPrintf(viewer, "fused steps: %s, at most %" PetscInt_FMT " in a block\n",
                                     TSBurgersSchemes[burgers->settings.scheme()], burgers->settings.fused_steps));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
