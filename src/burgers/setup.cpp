// From settings to a grid with its halo and the operations of a scheme.

#include "burgers/burgers.hpp"

#include <cmath>

namespace shellac {

static MakeOperations *const makers[] = {
#define SHELLAC_MAKER(flux) make_##flux,
    SHELLAC_BURGERS_FLUXES(SHELLAC_MAKER)
#undef SHELLAC_MAKER
};

static PetscErrorCode check_grid(const Grid &grid) {
  PetscFunctionBegin;
  PetscCheck(grid.dim <= 2, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Burgers' equation is there in 1-D (one unknown) and 2-D (two); the DMDA has %d dimensions", grid.dim);
  PetscCheck(grid.dof == grid.dim, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "the %d-D DMDA has dof = %" PetscInt_FMT
             "; Burgers' equation has one component for each dimension: dof = %d",
             grid.dim, grid.dof, grid.dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Checks for settings that contradict each other; operations are null for a reconstruction that the flux does not support.
static PetscErrorCode check_scheme(const BurgersSettings &settings, const Grid &grid,
                                   const BurgersOperations *operations) {
  MPI_Comm comm = grid.comm;

  PetscFunctionBegin;
  PetscCheck(operations, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_flux %s has no reconstruction %s; use -burgers_reconstruct constant, or another flux",
             TSBurgersFluxes[settings.flux], TSBurgersReconstructions[settings.reconstruction]);
  PetscCheck(settings.flux != TS_BURGERS_CENTRAL_DOUBLED || grid.dim == 1, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_flux central_doubled is there in 1-D only; use central");
  PetscCheck(settings.flux != TS_BURGERS_CENTRAL_DOUBLED || settings.viscosity == 0, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_flux central_doubled has no viscosity; it is %g: use central", (double)settings.viscosity);
  if (settings.flux == TS_BURGERS_LAX_FRIEDRICHS && settings.speed > 0 && settings.boundary == TS_BURGERS_INFLOW)
    for (int c = 0; c < grid.dim; c++)
      for (PetscReal value : settings.inflow[c])
        PetscCheck(PetscAbsReal(value) <= settings.speed, comm, PETSC_ERR_ARG_INCOMP,
                   "-burgers_speed is %g, and the inflow has speed %g; give the largest |u| of all times, or 0",
                   (double)settings.speed, (double)PetscAbsReal(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The boundary condition and the number of cells along an axis.
static PetscErrorCode check_axis(const BurgersSettings &settings, const Grid &grid, int a,
                                 const BurgersOperations &operations) {
  MPI_Comm       comm = grid.comm;
  const PetscInt radius = operations.radius;
  const bool     periodic = settings.boundary == TS_BURGERS_PERIODIC;

  PetscFunctionBegin;
  PetscCheck(periodic == (grid.boundary[a] == DM_BOUNDARY_PERIODIC), comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_bc %s, and axis %c of the DMDA is %s; %s", TSBurgersBoundaries[settings.boundary], "xy"[a],
             DMBoundaryTypes[grid.boundary[a]],
             periodic ? "make it with DM_BOUNDARY_PERIODIC"
                      : "make it with DM_BOUNDARY_NONE, or use -burgers_bc periodic");
  PetscCheck(grid.boundary[a] != DM_BOUNDARY_MIRROR, comm, PETSC_ERR_SUP,
             "axis %c of the DMDA is mirrored, which Burgers' equation does not serve; use none or periodic", "xy"[a]);
  // no cell may be another's neighbour on both sides
  PetscCheck(grid.N[a] > radius || radius == 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-burgers_reconstruct %s reaches %" PetscInt_FMT " cells to both sides, and axis %c has %" PetscInt_FMT
             "; give at least %" PetscInt_FMT ", or use a reconstruction that reaches less far",
             operations.reconstruction, radius, "xy"[a], grid.N[a], radius + 1);
  for (PetscMPIInt r = 0; r < grid.ranks[a]; r++) {
    const PetscInt cells = grid.first[a][r + 1] - grid.first[a][r];
    PetscCheck(grid.ranks[a] == 1 || cells >= radius, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-burgers_reconstruct %s reaches %" PetscInt_FMT
               " cells to both sides, and a rank has only %" PetscInt_FMT
               " along axis %c; use fewer ranks or more cells",
               operations.reconstruction, radius, cells, "xy"[a]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The cells of this rank along the axes of the grid.
static Patch make_patch(const Grid &grid, PetscInt width) {
  Patch patch = {};
  for (int a = 0; a < 3; a++) {
    patch.N[a] = grid.N[a];
    patch.start[a] = grid.start[a];
    patch.size[a] = grid.size[a];
    for (int e = 0; e < 2; e++) {
      Direction to = {{0, 0, 0}};
      to.d[a] = e ? 1 : -1;
      patch.neighbour[a][e] = grid.neighbour(to) >= 0;
    }
  }
  patch.width = width;
  patch.dof = grid.dof;
  return patch;
}

// Whether the DM's vectors are on a GPU.
static PetscErrorCode find_memory(DM dm, PetscBool *on_device) {
  Vec                probe;
  Arrays             arrays;
  const PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(dm, &probe));
  PetscCall(arrays.Read(probe, &array));
  *on_device = PetscMemTypeHost(arrays.memory()) ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(arrays.Restore());
  PetscCall(DMRestoreGlobalVector(dm, &probe));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersSetUp(TS ts, Burgers *burgers) {
  DM dm;

  PetscFunctionBegin;
  if (burgers->ready && burgers->solve.running) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetDM(ts, &dm));
  PetscCheck(!burgers->dm || burgers->dm == dm, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONGSTATE,
             "the TS has got another DM since TSSetBurgers(); call TSSetBurgers() again after TSSetDM()");
  if (!burgers->dm) PetscCall(PetscObjectReference((PetscObject)dm));
  burgers->dm = dm;
  PetscCall(BurgersSetUpAgain(burgers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the set-up is still valid. It is not checked during a solve; otherwise a change on one rank counts for all.
static PetscErrorCode is_current(const Burgers &burgers, bool *current) {
  Vec                coordinates;
  CoordinatesVersion now;

  PetscFunctionBegin;
  *current = burgers.ready;
  if (!burgers.ready || burgers.solve.running) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinates(burgers.dm, &coordinates));
  PetscCall(now.Read(coordinates));
  PetscMPIInt changed = !(now == burgers.coordinates);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, burgers.comm()));
  *current = !changed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersSetUpAgain(Burgers *burgers) {
  const BurgersSettings &settings = burgers->settings;
  PetscReal              h[3] = {1, 1, 1}, origin[3];
  Vec                    coordinates;
  bool                   current;

  PetscFunctionBegin;
  PetscCall(is_current(*burgers, &current));
  if (current) PetscFunctionReturn(PETSC_SUCCESS);
  if (burgers->ready) PetscCall(BurgersReset(burgers));
  PetscCall(GridCreate(burgers->dm, &burgers->grid));
  const Grid &grid = burgers->grid;
  PetscCall(check_grid(grid));
  burgers->operations = makers[settings.flux]((Reconstruction)settings.reconstruction);
  PetscCall(check_scheme(settings, grid, burgers->operations.get()));
  PetscCall(GridGetSpacingFromCoordinates(grid, burgers->dm, h, origin));
  PetscCall(DMGetCoordinates(burgers->dm, &coordinates));
  PetscCall(burgers->coordinates.Read(coordinates));

  BurgersPatch &patch = burgers->patch;
  const bool    periodic = settings.boundary == TS_BURGERS_PERIODIC;
  patch = {};
  patch.dim = grid.dim;
  patch.patch = make_patch(grid, burgers->operations->radius);
  for (int a = 0; a < grid.dim; a++) {
    PetscCall(check_axis(settings, grid, a, *burgers->operations));
    if (settings.lengths[a] > 0)
      h[a] = settings.lengths[a] / (PetscReal)grid.N[a];
    else if (!coordinates || grid.N[a] < 2)
      h[a] = 1 / (PetscReal)grid.N[a];
    patch.at[a] = {h[a], 1 / (2 * h[a]), 2 * settings.viscosity / h[a], settings.speed};
    PetscCheck(std::isfinite(patch.at[a].inv_2h) && std::isfinite(patch.at[a].nu2_h) && h[a] > 0, grid.comm,
               PETSC_ERR_ARG_OUTOFRANGE, "the cells' width along axis %c is %g, the viscosity %g; use larger cells",
               "xy"[a], (double)h[a], (double)settings.viscosity);
    for (int e = 0; e < 2; e++) {
      const bool domain_end = !periodic && (e ? grid.start[a] + grid.size[a] == grid.N[a] : grid.start[a] == 0);
      patch.end[a][e] = !domain_end ? (periodic && grid.ranks[a] == 1 ? End::wrap : End::halo)
                        : settings.boundary == TS_BURGERS_INFLOW ? End::value
                                                                 : End::copy;
      patch.frozen[a][e] = domain_end && settings.boundary == TS_BURGERS_FROZEN;
      for (int c = 0; c < 2; c++) patch.beyond[c][a][e] = settings.inflow[c][e];
    }
  }
  PetscCall(find_memory(burgers->dm, &burgers->on_device));
  // an axis that one rank has to itself wraps around without a halo
  burgers->links = grid;
  for (int a = 0; a < 3; a++)
    if (grid.ranks[a] == 1) burgers->links.boundary[a] = DM_BOUNDARY_NONE;
  PetscCall(burgers->halo.Create(burgers->links, patch.patch, false, burgers->on_device, settings.halo_way));
  burgers->ready = true;
  burgers->generation++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
