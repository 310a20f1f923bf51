// Burgers' equation on a TS: its settings, its set-up, du/dt and the checks of each step.

#include "burgers/burgers.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "burgers/host.hpp"
#include "burgers/types.hpp"

const char *const TSBurgersFluxes[] = {"central",         "lax_friedrichs", "rusanov",     "godunov", "engquist_osher",
                                       "central_doubled", "TSBurgersFlux",  "TS_BURGERS_", NULL};
const char *const TSBurgersReconstructions[] = {"constant",    "minmod", "vanleer", "weno5", "TSBurgersReconstruction",
                                                "TS_BURGERS_", NULL};
const char *const TSBurgersBoundaries[] = {"periodic",          "outflow",     "inflow", "frozen",
                                           "TSBurgersBoundary", "TS_BURGERS_", NULL};
const char *const TSBurgersSchemes[] = {"euler", "ssprk2", "ssprk3", "TSBurgersScheme", "TS_BURGERS_", NULL};

namespace shellac {

PetscLogEvent burgers_rates_event, burgers_steps_event;

PetscErrorCode BurgersRegisterEvents(PetscClassId classid) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("BurgersRates", classid, &burgers_rates_event));
  PetscCall(PetscLogEventRegister("BurgersSteps", classid, &burgers_steps_event));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- what hangs on a TS --------------------------------------------------------------------------------------------

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

// What belongs to one run of a TS, before the next.
static void forget_run(Burgers *burgers) {
  burgers->wave_speed = 0;
  burgers->checked_step = -1;
  burgers->last = FusedBlock();
}

PetscErrorCode BurgersForget(Burgers *burgers) {
  PetscFunctionBegin;
  if (burgers->ready) PetscCall(burgers->halo.Destroy());
  if (burgers->has_wide) PetscCall(burgers->wide.Destroy());
  for (Vec &v : burgers->work) PetscCall(VecDestroy(&v));
  burgers->ready = burgers->has_wide = false;
  burgers->operations.reset();
  burgers->in_solve = false;
  forget_run(burgers);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy_burgers(void *argument) {
  Burgers *burgers = context_to_destroy<Burgers>(argument);

  PetscFunctionBegin;
  PetscCall(BurgersForget(burgers));
#if SHELLAC_CUDA
  if (burgers->device_extremes) PetscCallCUDA(cudaFree(burgers->device_extremes));
#endif
  delete burgers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- set-up --------------------------------------------------------------------------------------------------------

static std::unique_ptr<BurgersOperations> make_scheme(TSBurgersFlux flux, TSBurgersReconstruction reconstruction) {
  const auto r = (Reconstruction)reconstruction;
  switch (flux) {
  case TS_BURGERS_CENTRAL:
    return make_central(r);
  case TS_BURGERS_LAX_FRIEDRICHS:
    return make_lax_friedrichs(r);
  case TS_BURGERS_RUSANOV:
    return make_rusanov(r);
  case TS_BURGERS_GODUNOV:
    return make_godunov(r);
  case TS_BURGERS_ENGQUIST_OSHER:
    return make_engquist_osher(r);
  case TS_BURGERS_CENTRAL_DOUBLED:
    return make_central_doubled(r);
  }
  return nullptr;
}

PetscErrorCode BurgersSetUp(TS ts, Burgers *burgers) {
  DM        dm;
  Vec       probe;
  PetscReal h[3] = {1, 1, 1};
  VecType   type;

  PetscFunctionBegin;
  if (burgers->ready) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(GridCreate(dm, &burgers->grid));
  const Grid &grid = burgers->grid;
  MPI_Comm    comm = grid.comm;
  const bool  periodic = burgers->boundary == TS_BURGERS_PERIODIC, frozen = burgers->boundary == TS_BURGERS_FROZEN;
  PetscCheck(grid.dim <= 2, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Burgers' equation is there in 1-D (one unknown) and 2-D (two); the DMDA has %d dimensions", grid.dim);
  PetscCheck(grid.dof == grid.dim, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "the %d-D DMDA has dof = %" PetscInt_FMT
             "; Burgers' equation has one component for each dimension: dof = %d",
             grid.dim, grid.dof, grid.dim);
  burgers->operations = make_scheme(burgers->flux, burgers->reconstruction);
  PetscCheck(
      burgers->operations, comm, PETSC_ERR_ARG_INCOMP,
      "-burgers_flux central_doubled has no reconstruction %s; use -burgers_reconstruct constant, or another flux",
      TSBurgersReconstructions[burgers->reconstruction]);
  PetscCheck(burgers->flux != TS_BURGERS_CENTRAL_DOUBLED || grid.dim == 1, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_flux central_doubled is there in 1-D only; use central");
  PetscCheck(burgers->flux != TS_BURGERS_CENTRAL_DOUBLED || burgers->viscosity == 0, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_flux central_doubled has no viscosity; it is %g: use central", (double)burgers->viscosity);
  if (burgers->flux == TS_BURGERS_LAX_FRIEDRICHS && burgers->speed > 0 && burgers->boundary == TS_BURGERS_INFLOW)
    for (int c = 0; c < grid.dim; c++)
      for (PetscReal value : burgers->inflow[c])
        PetscCheck(PetscAbsReal(value) <= burgers->speed, comm, PETSC_ERR_ARG_INCOMP,
                   "-burgers_speed is %g, and the inflow has speed %g; give the largest |u| of all times, or 0",
                   (double)burgers->speed, (double)PetscAbsReal(value));
  const PetscInt radius = burgers->operations->radius;

  BurgersPatch &patch = burgers->patch;
  patch = {};
  patch.dim = grid.dim;
  PetscCall(GridGetSpacingFromCoordinates(grid, dm, h));
  Vec coordinates;
  PetscCall(DMGetCoordinates(dm, &coordinates));
  for (int a = 0; a < 3; a++) {
    patch.patch.N[a] = grid.N[a];
    patch.patch.start[a] = grid.start[a];
    patch.patch.size[a] = grid.size[a];
    patch.patch.beyond[a] = Beyond::zero;
    for (int e = 0; e < 2; e++) {
      Direction to = {{0, 0, 0}};
      to.d[a] = e ? 1 : -1;
      patch.patch.neighbour[a][e] = grid.neighbour(to) >= 0;
    }
  }
  patch.patch.width = radius;
  patch.patch.dof = grid.dof;
  for (int a = 0; a < grid.dim; a++) {
    const bool axis_periodic = grid.boundary[a] == DM_BOUNDARY_PERIODIC;
    PetscCheck(
        periodic == axis_periodic, comm, PETSC_ERR_ARG_INCOMP, "-burgers_bc %s, and axis %c of the DMDA is %s; %s",
        TSBurgersBoundaries[burgers->boundary], "xy"[a], DMBoundaryTypes[grid.boundary[a]],
        periodic ? "make it with DM_BOUNDARY_PERIODIC" : "make it with DM_BOUNDARY_NONE, or use -burgers_bc periodic");
    PetscCheck(grid.boundary[a] != DM_BOUNDARY_MIRROR, comm, PETSC_ERR_SUP,
               "axis %c of the DMDA is mirrored, which Burgers' equation does not serve; use none or periodic",
               "xy"[a]);
    // a reconstruction wants that many cells to be its own neighbours' neighbours no more than once
    PetscCheck(grid.N[a] > radius || radius == 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-burgers_reconstruct %s reaches %" PetscInt_FMT " cells to both sides, and axis %c has %" PetscInt_FMT
               "; give at least %" PetscInt_FMT ", or use a reconstruction that reaches less far",
               burgers->operations->reconstruction, radius, "xy"[a], grid.N[a], radius + 1);
    for (PetscMPIInt r = 0; r < grid.ranks[a]; r++) {
      const PetscInt cells = grid.first[a][r + 1] - grid.first[a][r];
      PetscCheck(grid.ranks[a] == 1 || cells >= radius, comm, PETSC_ERR_ARG_OUTOFRANGE,
                 "-burgers_reconstruct %s reaches %" PetscInt_FMT
                 " cells to both sides, and a rank has only %" PetscInt_FMT
                 " along axis %c; use fewer ranks or more cells",
                 burgers->operations->reconstruction, radius, cells, "xy"[a]);
    }
    if (burgers->lengths[a] > 0)
      h[a] = burgers->lengths[a] / (PetscReal)grid.N[a];
    else if (!coordinates || grid.N[a] < 2)
      h[a] = 1 / (PetscReal)grid.N[a];
    patch.at[a] = {h[a], 1 / (2 * h[a]), 2 * burgers->viscosity / h[a], burgers->speed};
    PetscCheck(std::isfinite(patch.at[a].inv_2h) && std::isfinite(patch.at[a].nu2_h) && h[a] > 0, comm,
               PETSC_ERR_ARG_OUTOFRANGE, "the cells' width along axis %c is %g, the viscosity %g; use larger cells",
               "xy"[a], (double)h[a], (double)burgers -> viscosity);
    for (int e = 0; e < 2; e++) {
      const bool domain_end = !periodic && (e ? grid.start[a] + grid.size[a] == grid.N[a] : grid.start[a] == 0);
      patch.end[a][e] = !domain_end ? (periodic && grid.ranks[a] == 1 ? End::wrap : End::halo)
                        : burgers->boundary == TS_BURGERS_INFLOW ? End::value
                                                                 : End::copy;
      patch.frozen[a][e] = domain_end && frozen;
      for (int c = 0; c < 2; c++) patch.beyond[c][a][e] = burgers->inflow[c][e];
    }
  }
  PetscCall(DMGetVecType(dm, &type));
  PetscCall(DMGetGlobalVector(dm, &probe));
  {
    Arrays             arrays;
    const PetscScalar *array;
    PetscCall(arrays.Read(probe, &array));
    burgers->on_device = PetscMemTypeHost(arrays.memory()) ? PETSC_FALSE : PETSC_TRUE;
    PetscCall(arrays.Restore());
  }
  PetscCall(DMRestoreGlobalVector(dm, &probe));
  // an axis that one rank has to itself wraps around without a halo
  burgers->links = grid;
  for (int a = 0; a < 3; a++)
    if (grid.ranks[a] == 1) burgers->links.boundary[a] = DM_BOUNDARY_NONE;
  PetscCall(burgers->halo.Create(burgers->links, patch.patch, false, burgers->on_device, burgers->halo_way));
  burgers->ready = true;
  burgers->generation++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

Line<PetscReal> burgers_line(const Burgers &burgers, const Field<PetscScalar> &field, PetscInt width) {
  Line<PetscReal> line = {};
  line.u = (const PetscReal *)field.u;
  line.n = burgers.patch.patch.size[0];
  line.width = width;
  for (int e = 0; e < 2; e++) {
    line.halo[e] = (const PetscReal *)field.halo[Direction::face(0, e)];
    line.end[e] = burgers.patch.end[0][e];
    line.frozen[e] = burgers.patch.frozen[0][e];
    line.beyond[e] = burgers.patch.beyond[0][0][e];
  }
  return line;
}

Field<PetscReal> real_field(const Field<PetscScalar> &field) {
  Field<PetscReal> real = {};
  real.u = (const PetscReal *)field.u;
  for (int d = 0; d < Direction::count; d++) real.halo[d] = (const PetscReal *)field.halo[d];
  return real;
}

// ---- du/dt ---------------------------------------------------------------------------------------------------------

#if SHELLAC_CUDA
__global__ void find_extremes(const PetscReal *u, size_t n, Extremes *extremes) {
  unsigned long long largest = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const unsigned long long bits = magnitude_bits((double)u[i]);
    largest = bits > largest ? bits : largest;
  }
  for (int step = 16; step; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, largest, step);
    largest = other > largest ? other : largest;
  }
  if (threadIdx.x % 32 == 0) atomicMax(&extremes[blockIdx.x % extremes_places].state, largest);
}

static PetscErrorCode begin_extremes(Burgers *burgers, cudaStream_t stream) {
  PetscFunctionBegin;
  if (!burgers->device_extremes)
    PetscCallCUDA(cudaMalloc((void **)&burgers->device_extremes, extremes_places * sizeof(Extremes)));
  PetscCallCUDA(cudaMemsetAsync(burgers->device_extremes, 0, extremes_places * sizeof(Extremes), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode end_extremes(Burgers *burgers, cudaStream_t stream, Extremes *extremes) {
  PetscFunctionBegin;
  Extremes places[extremes_places];
  PetscCallCUDA(cudaMemcpyAsync(places, burgers->device_extremes, sizeof(places), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(PetscLogGpuToCpu(sizeof(places)));
  *extremes = {0, 0};
  for (const Extremes &place : places) {
    extremes->state = PetscMax(extremes->state, place.state);
    extremes->rate = PetscMax(extremes->rate, place.rate);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static size_t values_of(const Burgers &burgers) {
  return (size_t)burgers.patch.patch.all().points() * burgers.patch.patch.dof;
}

PetscErrorCode BurgersExtremes(Burgers *burgers, PetscMemType memory, const PetscScalar *u, Extremes *extremes) {
  const size_t n = values_of(*burgers);

  PetscFunctionBegin;
  *extremes = {0, 0};
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    PetscCall(begin_extremes(burgers, stream));
    const size_t blocks = PetscMin((n + 255) / 256, (size_t)8192);
    if (n) find_extremes<<<(unsigned)blocks, 256, 0, stream>>>((const PetscReal *)u, n, burgers->device_extremes);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(end_extremes(burgers, stream, extremes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  extremes->state = largest_bits((const PetscReal *)u, (PetscInt)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersRates(Burgers *burgers, PetscMemType memory, const PetscScalar *u, Extremes *extremes,
                            PetscScalar *rate) {
  Extremes *where = extremes;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(burgers_rates_event, 0, 0, 0, 0));
  PetscCall(burgers->halo.Begin(u, memory));
  PetscCall(burgers->halo.End());
  PetscCall(PetscLogGpuTimeBegin());
  const Field<PetscScalar> field = burgers->halo.field();
  if (extremes) *extremes = {0, 0};
#if SHELLAC_CUDA
  const bool   in_kernel = extremes && PetscMemTypeDevice(memory) && burgers->grid.dim == 1;
  cudaStream_t stream = NULL;
  if (in_kernel) {
    PetscCall(current_stream(&stream));
    PetscCall(begin_extremes(burgers, stream));
    where = burgers->device_extremes;
  }
#endif
  if (burgers->grid.dim == 1)
    PetscCall(burgers->operations->rates(memory, burgers->patch.at[0],
                                         burgers_line(*burgers, field, burgers->operations->radius), where,
                                         (PetscReal *)rate));
  else
    PetscCall(burgers->operations->rates_2d(memory, burgers->patch, real_field(field), extremes, (PetscReal *)rate));
  PetscCall(PetscLogGpuTimeEnd());
#if SHELLAC_CUDA
  if (in_kernel) PetscCall(end_extremes(burgers, stream, extremes));
#endif
  if (extremes && burgers->grid.dim == 2 && !PetscMemTypeHost(memory)) {
    Extremes of_rate;
    PetscCall(BurgersExtremes(burgers, memory, u, extremes));
    PetscCall(BurgersExtremes(burgers, memory, rate, &of_rate));
    extremes->rate = of_rate.state;
  }
  PetscCall(log_flops(memory, 10.0 * values_of(*burgers)));
  PetscCall(PetscLogEventEnd(burgers_rates_event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- checks --------------------------------------------------------------------------------------------------------

PetscReal number_of(unsigned long long bits) {
  double x;
  memcpy(&x, &bits, sizeof(x));
  return (PetscReal)x;
}

PetscReal burgers_bound(const Burgers &burgers, PetscReal speed) {
  PetscReal rate = 0;
  if (burgers.boundary == TS_BURGERS_INFLOW)
    for (int c = 0; c < burgers.grid.dim; c++)
      for (int e = 0; e < 2; e++) speed = PetscMax(speed, PetscAbsReal(burgers.inflow[c][e]));
  if (burgers.flux == TS_BURGERS_LAX_FRIEDRICHS)
    speed = PetscMax(speed, burgers.speed > 0 ? burgers.speed : burgers.wave_speed);
  for (int a = 0; a < burgers.grid.dim; a++) {
    const PetscReal h = burgers.patch.at[a].h;
    rate += speed / (h * burgers.operations->cfl) + 2 * burgers.viscosity / (h * h);
  }
  return rate > 0 ? 1 / rate : PETSC_MAX_REAL;
}

// During a solve the speed of its first state, so that steps do not depend on how they are taken; otherwise that of the
// fastest state there was.
PetscErrorCode BurgersSetWaveSpeed(Burgers *burgers, PetscMemType memory, const PetscScalar *u) {
  Extremes extremes;

  PetscFunctionBegin;
  if (burgers->flux != TS_BURGERS_LAX_FRIEDRICHS || burgers->speed > 0 ||
      (burgers->in_solve && burgers->wave_speed > 0))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BurgersExtremes(burgers, memory, u, &extremes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &extremes.state, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, burgers->comm()));
  if (extremes.state >= infinite_bits) PetscFunctionReturn(PETSC_SUCCESS); // the check names the place
  burgers->wave_speed = PetscMax(burgers->wave_speed, number_of(extremes.state));
  if (burgers->boundary == TS_BURGERS_INFLOW)
    for (const auto &component : burgers->inflow)
      for (PetscReal value : component) burgers->wave_speed = PetscMax(burgers->wave_speed, PetscAbsReal(value));
  for (auto &at : burgers->patch.at) at.speed = burgers->wave_speed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first value of v that is not finite, on all ranks: its place in the natural order, and the value.
static PetscErrorCode find_not_finite(const Burgers &burgers, Vec v, PetscInt64 *first, PetscInt cell[2],
                                      int *component) {
  const PetscScalar *array;
  const Grid        &grid = burgers.grid;

  PetscFunctionBegin;
  *first = std::numeric_limits<PetscInt64>::max();
  PetscCall(VecGetArrayRead(v, &array));
  const PetscInt64 dof = grid.dof;
  for (PetscInt j = 0; j < grid.size[1]; j++)
    for (PetscInt i = 0; i < grid.size[0]; i++)
      for (PetscInt c = 0; c < dof; c++) {
        const PetscInt64 natural = ((grid.start[1] + j) * (PetscInt64)grid.N[0] + grid.start[0] + i) * dof + c;
        if (!std::isfinite(PetscRealPart(array[((PetscInt64)j * grid.size[0] + i) * dof + c])))
          *first = PetscMin(*first, natural);
      }
  PetscCall(VecRestoreArrayRead(v, &array));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, first, 1, MPIU_INT64, MPI_MIN, grid.comm));
  *component = (int)(*first % dof);
  cell[0] = (PetscInt)(*first / dof % grid.N[0]);
  cell[1] = (PetscInt)(*first / dof / grid.N[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of the Lax-Friedrichs flux; zero where it has none.
static PetscReal allowed_speed(const Burgers &burgers) {
  if (burgers.flux != TS_BURGERS_LAX_FRIEDRICHS) return 0;
  return burgers.speed > 0 ? burgers.speed : burgers.wave_speed;
}
static bool is_slow_enough(const Burgers &burgers, PetscReal speed) {
  const PetscReal allowed = allowed_speed(burgers);
  // high orders overshoot, more than a little where steps are not stable; who gives a speed knows better
  return allowed == 0 || speed <= allowed * (burgers.speed > 0 ? PetscReal(1.01) : PetscReal(1.25));
}
static bool is_short_enough(const Burgers &burgers, const StepChecks &checks, PetscReal speed) {
  // the last step to a final time may be longer by a hundredth
  return !checks.length || checks.dt <= checks.bounds * burgers_bound(burgers, speed) * PetscReal(1.0101);
}

bool burgers_allows(const Burgers &burgers, const StepChecks &checks, unsigned long long state) {
  const PetscReal speed = number_of(state);
  return state < infinite_bits && is_slow_enough(burgers, speed) && is_short_enough(burgers, checks, speed);
}

// The error for values that are not finite.
static PetscErrorCode name_not_finite(const Burgers &burgers, const StepChecks &checks, bool in_state, Vec v) {
  PetscInt64 first;
  PetscInt   cell[2] = {0, 0};
  int        component = 0;
  char       place[64] = "";

  PetscFunctionBegin;
  PetscCall(find_not_finite(burgers, v, &first, cell, &component));
  if (burgers.grid.dim == 1)
    PetscCall(PetscSNPrintf(place, sizeof(place), "cell %" PetscInt_FMT, cell[0]));
  else
    PetscCall(PetscSNPrintf(place, sizeof(place), "%s at cell (%" PetscInt_FMT ", %" PetscInt_FMT ")",
                            component ? "v" : "u", cell[0], cell[1]));
  SETERRQ(burgers.comm(), PETSC_ERR_FP,
          "%s is not finite (NaN or infinity) in step %" PetscInt_FMT
          ", time %g, %s; %s; check the state, or use a smaller "
          "-ts_dt",
          in_state ? "the state" : "du/dt", checks.step, (double)checks.time, place, checks.kept);
}

PetscErrorCode BurgersCheck(TS ts, Burgers *burgers, const StepChecks &checks, const Extremes &here, Vec u, Vec rate) {
  unsigned long long bits[2] = {here.state, here.rate};
  MPI_Comm           comm = burgers->comm();

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bits, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm));
  if (bits[1] >= infinite_bits || !burgers_allows(*burgers, checks, bits[0])) burgers->in_solve = false;
  if (bits[0] >= infinite_bits) PetscCall(name_not_finite(*burgers, checks, true, u));
  if (bits[1] >= infinite_bits) PetscCall(name_not_finite(*burgers, checks, false, rate));
  const PetscReal speed = number_of(bits[0]), bound = burgers_bound(*burgers, speed);
  PetscCheck(is_slow_enough(*burgers, speed), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "in step %" PetscInt_FMT ", time %g, the state has speed %g, beyond the %g that -burgers_flux "
             "lax_friedrichs has from %s; use -burgers_speed %g or more, or the flux rusanov",
             checks.step, (double)checks.time, (double)speed, (double)allowed_speed(*burgers),
             burgers->speed > 0 ? "-burgers_speed" : "the first state", (double)speed);
  PetscCall(TSSetCFLTimeLocal(ts, bound));
  if (!is_short_enough(*burgers, checks, speed)) {
    const PetscReal most = checks.bounds * bound;
    TSType          type;
    PetscCall(TSGetType(ts, &type));
    SETERRQ(
        comm, PETSC_ERR_ARG_OUTOFRANGE,
        "step %" PetscInt_FMT ", time %g: the time step %g is beyond the bound %g of -ts_type %s (the fastest wave "
        "has speed %g, cells are %g wide, Courant number %g, viscosity %g, and the type may take %g steps of forward "
        "Euler in one); %s; use -ts_dt %g or less, -ts_adapt_type cfl or an implicit -ts_type; "
        "-burgers_check_interval 0 lets it pass",
        checks.step, (double)checks.time, (double)checks.dt, (double)most, type, (double)speed,
        (double)burgers->patch.at[0].h, (double)burgers->operations->cfl, (double)burgers->viscosity,
        (double)checks.bounds, checks.kept, (double)most);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersGetAdapt(TS ts, Burgers *burgers, PetscBool *none, PetscBool *cfl) {
  TSAdapt     adapt;
  TSAdaptType type;

  PetscFunctionBegin;
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptGetType(adapt, &type));
  PetscCall(PetscStrcmp(type, TSADAPTNONE, none));
  if (!type) *none = PETSC_TRUE;
  PetscCall(PetscStrcmp(type, TSADAPTCFL, cfl));
  if (*cfl && !burgers->always_accept) { // that adapter has no other way
    PetscCall(TSAdaptSetAlwaysAccept(adapt, PETSC_TRUE));
    burgers->always_accept = true;
  } else if (!*cfl && burgers->always_accept) {
    PetscBool    always = PETSC_FALSE;
    PetscOptions options;
    const char  *prefix;
    PetscCall(TSGetOptionsPrefix(ts, &prefix));
    PetscCall(PetscObjectGetOptions((PetscObject)ts, &options));
    PetscCall(PetscOptionsGetBool(options, prefix, "-ts_adapt_always_accept", &always, NULL));
    PetscCall(TSAdaptSetAlwaysAccept(adapt, always));
    burgers->always_accept = false;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What to check when TS asks for du/dt: of an explicit type the state it asks for, of another one the state at the start
// of the step, because it tries states that it may discard.
static PetscErrorCode get_checks(TS ts, Burgers *burgers, StepChecks *checks, PetscBool *is_explicit) {
  PetscBool ssp, none, cfl, rk;

  PetscFunctionBegin;
  *checks = StepChecks();
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ts, is_explicit, TSEULER, TSRK, TSSSP, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSSSP, &ssp));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSRK, &rk));
  PetscCall(BurgersGetAdapt(ts, burgers, &none, &cfl));
  PetscCheck(
      !rk || !cfl, PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
      "-ts_adapt_type cfl does not serve -ts_type rk, of which PETSc knows no Courant number; use -ts_type ssp or "
      "-ts_adapt_type basic");
  if (ssp) { // D. I. Ketcheson, 2008: the coefficients of methods with s stages
    TSSSPType scheme;
    PetscInt  stages;
    PetscBool rk2, rk3;
    PetscCall(TSSSPGetType(ts, &scheme));
    PetscCall(TSSSPGetNumStages(ts, &stages));
    PetscCall(PetscStrcmp(scheme, TSSSPRKS2, &rk2));
    PetscCall(PetscStrcmp(scheme, TSSSPRKS3, &rk3));
    checks->bounds = rk2 ? stages - 1 : rk3 ? stages - PetscSqrtReal((PetscReal)stages) : 6;
  }
  PetscCall(TSGetStepNumber(ts, &checks->step));
  PetscCall(TSGetTime(ts, &checks->time));
  PetscCall(TSGetTimeStep(ts, &checks->dt));
  const bool due = burgers->check_interval > 0 && checks->step % burgers->check_interval == 0;
  checks->state = due || cfl; // whose bound is that of the last step checked
  checks->length = due && *is_explicit && (none || cfl);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersCheckVector(const Burgers *burgers, Vec u) {
  const Grid &grid = burgers->grid;
  PetscInt    size, local;

  PetscFunctionBegin;
  const PetscInt all = grid.N[0] * grid.N[1] * grid.N[2] * grid.dof,
                 own = grid.size[0] * grid.size[1] * grid.size[2] * grid.dof;
  PetscCall(VecGetSize(u, &size));
  PetscCall(VecGetLocalSize(u, &local));
  PetscCheck(size == all, grid.comm, PETSC_ERR_ARG_SIZ,
             "the state has %" PetscInt_FMT " values, the DMDA of Burgers' equation %" PetscInt_FMT
             "; make it with DMCreateGlobalVector()",
             size, all);
  PetscCheck(local == own, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "the state has %" PetscInt_FMT " values on this rank, the DMDA of Burgers' equation %" PetscInt_FMT
             "; make it with DMCreateGlobalVector()",
             local, own);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An option that would have no effect.
static PetscErrorCode check_use_of_options(TS ts, const Burgers *burgers) {
  MPI_Comm comm = PetscObjectComm((PetscObject)ts);

  PetscFunctionBegin;
  PetscCheck(!burgers->inflow_given || burgers->boundary == TS_BURGERS_INFLOW, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_inflow is given, and -burgers_bc is %s; use -burgers_bc inflow, or leave -burgers_inflow out",
             TSBurgersBoundaries[burgers->boundary]);
  PetscCheck(!burgers->speed_given || burgers->flux == TS_BURGERS_LAX_FRIEDRICHS, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_speed is given, and -burgers_flux is %s; use -burgers_flux lax_friedrichs, or leave "
             "-burgers_speed out",
             TSBurgersFluxes[burgers->flux]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The state that a step of an implicit method starts from, once for each step.
static PetscErrorCode check_start(TS ts, Burgers *burgers, const StepChecks &checks) {
  Vec                start;
  Arrays             arrays;
  const PetscScalar *array = NULL;
  Extremes           extremes;

  PetscFunctionBegin;
  PetscCall(TSGetSolution(ts, &start));
  if (!checks.state || !start || (burgers->checked_step == checks.step && burgers->checked_time == checks.time))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BurgersCheckVector(burgers, start));
  PetscCall(arrays.Read(start, &array));
  PetscCall(BurgersExtremes(burgers, arrays.memory(), array, &extremes));
  PetscCall(arrays.Restore());
  PetscCall(BurgersCheck(ts, burgers, checks, extremes, start, NULL));
  burgers->checked_step = checks.step;
  burgers->checked_time = checks.time;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode rhs_function(TS ts, PetscReal, Vec u, Vec rate, void *) {
  Burgers           *burgers;
  Arrays             arrays;
  const PetscScalar *pu = NULL;
  PetscScalar       *pr = NULL;
  PetscBool          fused, is_explicit = PETSC_FALSE;
  StepChecks         checks;
  Extremes           extremes;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers)); // a DM that several TS share has one context for all of them
  const bool in_stage = burgers->in_stage;
  burgers->in_stage = false;
  PetscCall(BurgersCheckVector(burgers, u));
  if (!burgers->ready) PetscCall(check_use_of_options(ts, burgers));
  PetscCall(BurgersSetUp(ts, burgers));
  PetscCall(TSIsBurgersFused(ts, &fused));
  if (fused && in_stage) {
    PetscCall(BurgersFusedBegin(ts, burgers, rate));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!fused) PetscCall(get_checks(ts, burgers, &checks, &is_explicit));
  const bool check = is_explicit && checks.state;
  PetscCall(arrays.Read(u, &pu));
  PetscCall(arrays.Write(rate, &pr));
  PetscCall(BurgersSetWaveSpeed(burgers, arrays.memory(), pu));
  PetscCall(BurgersRates(burgers, arrays.memory(), pu, check ? &extremes : NULL, pr));
  PetscCall(arrays.Restore());
  if (check) PetscCall(BurgersCheck(ts, burgers, checks, extremes, u, rate));
  if (!fused && !is_explicit) PetscCall(check_start(ts, burgers, checks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- what a solve prints, begins and ends with ---------------------------------------------------------------------

// Whether -ts_view prints on the screen, where what is printed before it stays.
static PetscErrorCode views_on_screen(TS ts, PetscBool *views) {
  PetscOptions options;
  const char  *prefix;
  char         value[256] = "";
  PetscBool    ascii;

  PetscFunctionBegin;
  PetscCall(TSGetOptionsPrefix(ts, &prefix));
  PetscCall(PetscObjectGetOptions((PetscObject)ts, &options));
  PetscCall(PetscOptionsGetString(options, prefix, "-ts_view", value, sizeof(value), views));
  PetscCall(PetscStrcmp(value, "ascii", &ascii));
  if (!ascii) PetscCall(PetscStrncmp(value, "ascii::", 7, &ascii));
  if (!ascii) PetscCall(PetscStrncmp(value, "::", 2, &ascii));
  *views = *views && (ascii || !value[0]) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// TS tells its monitors alone where a solve begins and ends.
// Whether TSSolve() shows a step again, or an earlier one, because it has rolled back.
static PetscErrorCode has_rolled_back(TS ts, const Burgers *burgers, PetscInt step, PetscBool *rolled_back) {
  PetscFunctionBegin;
#if PETSC_VERSION_GE(3, 22, 0)
  (void)burgers, (void)step;
  PetscCall(TSGetStepRollBack(ts, rolled_back));
#else
  (void)ts;
  *rolled_back = step <= burgers->watched && step > burgers->start_step ? PETSC_TRUE : PETSC_FALSE;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode watch(TS ts, PetscInt step, PetscReal time, Vec u, void *) {
  Burgers           *burgers;
  TSConvergedReason  reason;
  PetscBool          views;
  Arrays             arrays;
  const PetscScalar *array = NULL;

  PetscFunctionBegin;
  PetscCall(TSFindBurgers(ts, &burgers));
  if (!burgers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetConvergedReason(ts, &reason));
  if (reason == TS_CONVERGED_ITERATING) {
    const bool later = step > burgers->watched || (step == burgers->watched && time > burgers->watched_time);
    PetscBool  back;
    PetscCall(has_rolled_back(ts, burgers, step, &back));
    burgers->watched = back ? -1 : step; // after going back, any step is a later one
    burgers->watched_time = time;
    if (burgers->in_solve && (later || back)) PetscFunctionReturn(PETSC_SUCCESS);
    // a solve begins; the last one may have ended with an error
    forget_run(burgers);
    burgers->due = false;
    burgers->start_step = step;
    PetscCall(BurgersCheckVector(burgers, u));
    PetscCall(BurgersSetUp(ts, burgers));
    PetscCall(arrays.Read(u, &array));
    PetscCall(BurgersSetWaveSpeed(burgers, arrays.memory(), array));
    PetscCall(arrays.Restore());
    burgers->in_solve = true;
  } else {
    forget_run(burgers);
    if (burgers->in_solve) {
      PetscCall(views_on_screen(ts, &views));
      if (views) PetscCall(TSBurgersView(ts, PETSC_VIEWER_STDOUT_(burgers->comm())));
    }
    burgers->in_solve = false;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the equation and its settings ---------------------------------------------------------------------------------

// Forward Euler is not stable with reconstructions of high order.
static TSBurgersScheme default_scheme(TSBurgersReconstruction reconstruction) {
  return reconstruction == TS_BURGERS_WENO5 ? TS_BURGERS_SSPRK3 : TS_BURGERS_EULER;
}

// A value of an option that has another name now.
static PetscErrorCode rename_value(TS ts, const char *key, const char *old_value, const char *value) {
  PetscOptions options;
  const char  *prefix;
  char         given[64] = "", full[128];
  PetscBool    set, is_old, quiet = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetOptions((PetscObject)ts, &options));
  PetscCall(TSGetOptionsPrefix(ts, &prefix));
  PetscCall(PetscOptionsGetString(options, prefix, key, given, sizeof(given), &set));
  PetscCall(PetscStrcasecmp(given, old_value, &is_old));
  if (!set || !is_old) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(full, sizeof(full), "-%s%s", prefix ? prefix : "", key + 1));
  PetscCall(PetscOptionsSetValue(options, full, value));
  PetscCall(PetscOptionsGetBool(options, NULL, "-options_suppress_deprecated_warnings", &quiet, NULL));
  if (!quiet)
    PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ts),
                          "** PETSc DEPRECATION WARNING ** : the value %s of the option %s is deprecated. Use %s %s "
                          "instead. (Silence this warning with -options_suppress_deprecated_warnings)\n",
                          old_value, full, full, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode read_options(OptionItems PetscOptionsObject, TS ts, Burgers *burgers, PetscInt *jacobian) {
  PetscReal   values[5] = {0, 0, 0, 0, 0};
  PetscInt    n, way = (PetscInt)burgers->halo_way, dim;
  PetscBool   set;
  DM          dm;
  MPI_Comm    comm = PetscObjectComm((PetscObject)ts);
  const char *jacobians[] = {"shell", "aij", "shell_aij"};

  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(rename_value(ts, "-burgers_flux", "seed", "central_doubled"));
  PetscCall(rename_value(ts, "-burgers_bc", "seed", "frozen"));
  PetscOptionsHeadBegin(PetscOptionsObject, "Burgers' equation");
  PetscCall(PetscOptionsEnum("-burgers_flux", "numerical flux", "TSBurgersSetFlux", TSBurgersFluxes,
                             (PetscEnum)burgers->flux, (PetscEnum *)&burgers->flux, NULL));
  PetscCall(PetscOptionsEnum("-burgers_reconstruct", "values at the faces of cells", "TSBurgersSetReconstruction",
                             TSBurgersReconstructions, (PetscEnum)burgers->reconstruction,
                             (PetscEnum *)&burgers->reconstruction, NULL));
  PetscCall(PetscOptionsEnum("-burgers_bc", "what holds at the ends of the domain", "TSBurgersSetBoundary",
                             TSBurgersBoundaries, (PetscEnum)burgers->boundary, (PetscEnum *)&burgers->boundary, NULL));
  n = 5;
  PetscCall(PetscOptionsRealArray("-burgers_inflow", "states at the lower and the upper end: u,u or u,u,v,v",
                                  "TSBurgersSetInflow", values, &n, &set));
  burgers->inflow_given = set;
  if (set) {
    PetscCheck(n == 2 * dim, comm, PETSC_ERR_ARG_SIZ,
               "-burgers_inflow has %" PetscInt_FMT " values; give %" PetscInt_FMT ": %s", n, 2 * dim,
               dim == 1 ? "u at the lower and the upper end" : "u at the lower and the upper ends, then v");
    PetscCall(TSBurgersSetInflow(ts, n, values));
  }
  values[0] = burgers->viscosity;
  PetscCall(
      PetscOptionsReal("-burgers_viscosity", "ν [length²/time]", "TSBurgersSetViscosity", values[0], values, &set));
  if (set) PetscCall(TSBurgersSetViscosity(ts, values[0]));
  n = 5;
  PetscCall(
      PetscOptionsRealArray("-burgers_lengths", "side lengths of the domain", "TSBurgersSetLengths", values, &n, &set));
  if (set) PetscCall(TSBurgersSetLengths(ts, n, values));
  PetscCall(PetscOptionsReal("-burgers_speed", "bound of |u| for lax_friedrichs; 0: that of the first state",
                             "TSSetBurgers", burgers->speed, &burgers->speed, &set));
  burgers->speed_given = set && burgers->speed > 0;
  PetscCheck(burgers->speed >= 0 && std::isfinite(burgers->speed), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-burgers_speed is %g; it must be finite, and not below 0", (double)burgers->speed);
  PetscCall(PetscOptionsInt("-burgers_check_interval", "steps from check to check of the state and of Δt; 0: no errors",
                            "TSSetBurgers", burgers->check_interval, &burgers->check_interval, NULL));
  PetscCheck(burgers->check_interval >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-burgers_check_interval is %" PetscInt_FMT "; it must be 0 (never) or more", burgers->check_interval);
  if (!burgers->scheme_given) burgers->scheme = default_scheme(burgers->reconstruction);
  PetscCall(PetscOptionsEnum("-burgers_fused_scheme", "time steps of -ts_type burgersfused", "TSBurgersSetFused",
                             TSBurgersSchemes, (PetscEnum)burgers->scheme, (PetscEnum *)&burgers->scheme, &set));
  const bool scheme_given = burgers->scheme_given || set;
  n = burgers->block;
  PetscCall(PetscOptionsInt("-burgers_fused_steps", "most of them from monitor to monitor", "TSBurgersSetFused", n, &n,
                            NULL));
  PetscCall(TSBurgersSetFused(ts, burgers->scheme, n));
  burgers->scheme_given = scheme_given;
  PetscCall(PetscOptionsEList("-burgers_halo", "how halos travel between GPUs", "TSSetBurgers", halo_ways, 3,
                              halo_ways[way], &way, &set));
  burgers->halo_way = (HaloWay)way;
  *jacobian = PetscMax(burgers->jacobian, 0);
  PetscCall(PetscOptionsEList("-burgers_jacobian",
                              "matrices of implicit methods: of the operator, and of the preconditioner",
                              "TSSetBurgers", jacobians, 3, jacobians[*jacobian], jacobian, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The matrices for implicit methods.
static PetscErrorCode set_jacobian(TS ts, Burgers *burgers, PetscInt kind) {
  Mat J = NULL, P = NULL;

  PetscFunctionBegin;
  if (kind != 1) PetscCall(BurgersCreateJacobian(ts, burgers, &J));
  if (kind) PetscCall(BurgersCreateAIJ(ts, burgers, &P));
  PetscCall(TSSetRHSJacobian(ts, J ? J : P, P ? P : J, BurgersComputeJacobian, NULL));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&P));
  burgers->jacobian = kind;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Part of TSSetFromOptions().
static PetscErrorCode set_from_options(PetscObject object, OptionItems PetscOptionsObject, void *) {
  TS       ts = (TS)object;
  Burgers *burgers;
  PetscInt jacobian;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCall(BurgersForget(burgers));
  PetscCall(read_options(PetscOptionsObject, ts, burgers, &jacobian));
  PetscCall(check_use_of_options(ts, burgers));
  PetscCall(BurgersSetUp(ts, burgers));
  Mat has;
  PetscCall(TSGetRHSJacobian(ts, &has, NULL, NULL, NULL));
  if (jacobian != burgers->jacobian || !has) PetscCall(set_jacobian(ts, burgers, jacobian)); // TSReset() drops it
  PetscCall(TSMonitorSet(ts, watch, NULL, NULL)); // which -ts_monitor_cancel takes away
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

PetscErrorCode TSSetBurgers(TS ts) {
  Burgers       *burgers;
  PetscContainer container;
  Grid           grid;
  DM             dm;
  DMType         dm_type;
  PetscBool      is_da;
  PetscInt       jacobian = 0;
  const char    *prefix;

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
  PetscCall(GridCreate(dm, &grid));
  PetscCall(TSFindBurgers(ts, &burgers));
  if (!burgers) {
    burgers = new Burgers;
    PetscCall(PetscContainerCreate(comm, &container));
    PetscCall(PetscContainerSetPointer(container, burgers));
    PetscCall(PetscContainerSetCtxDestroy(container, destructor(destroy_burgers)));
    PetscCall(PetscObjectCompose((PetscObject)ts, container_name, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
    PetscCall(PetscObjectAddOptionsHandler((PetscObject)ts, set_from_options, NULL, NULL));
    burgers->boundary = grid.boundary[0] == DM_BOUNDARY_PERIODIC ? TS_BURGERS_PERIODIC : TS_BURGERS_OUTFLOW;
  } else {
    PetscCall(BurgersForget(burgers));
  }
  PetscCall(TSGetOptionsPrefix(ts, &prefix));
  PetscOptionsBegin(comm, prefix, "Burgers' equation", "TSSetBurgers");
  PetscCall(read_options(PetscOptionsObject, ts, burgers, &jacobian));
  PetscOptionsEnd();
  PetscCall(BurgersSetUp(ts, burgers));
  PetscCall(TSSetEquationType(ts, TS_EQ_ODE_EXPLICIT));
  PetscCall(TSSetRHSFunction(ts, NULL, rhs_function, NULL));
  PetscCall(set_jacobian(ts, burgers, jacobian));
  PetscCall(TSMonitorSet(ts, watch, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  if (burgers->boundary == TS_BURGERS_INFLOW) {
    const auto &v = burgers->inflow;
    if (patch.dim == 1)
      PetscCall(PetscSNPrintf(inflow, sizeof(inflow), ", u = %g and %g", (double)v[0][0], (double)v[0][1]));
    else
      PetscCall(PetscSNPrintf(inflow, sizeof(inflow), ", u = %g and %g, v = %g and %g", (double)v[0][0],
                              (double)v[0][1], (double)v[1][0], (double)v[1][1]));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "ends: %s%s\n", TSBurgersBoundaries[burgers->boundary], inflow));
  PetscCall(PetscViewerASCIIPrintf(viewer, "viscosity: %g\n", (double)burgers->viscosity));
  if (burgers->flux == TS_BURGERS_LAX_FRIEDRICHS) {
    if (burgers->speed > 0)
      PetscCall(PetscViewerASCIIPrintf(viewer, "speed of the flux: %g\n", (double)burgers->speed));
    else
      PetscCall(PetscViewerASCIIPrintf(viewer, "speed of the flux: that of the first state\n"));
  }
  if (burgers->check_interval == 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "checks: each step\n"));
  else if (burgers->check_interval)
    PetscCall(PetscViewerASCIIPrintf(viewer, "checks: steps whose number is a multiple of %" PetscInt_FMT "\n",
                                     burgers->check_interval));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "checks: none\n"));
  PetscCall(TSIsBurgersFused(ts, &fused));
  if (fused)
    PetscCall(PetscViewerASCIIPrintf(viewer, "fused steps: %s, at most %" PetscInt_FMT " in a block\n",
                                     TSBurgersSchemes[burgers->scheme], burgers->block));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A change of the settings, after which the set-up is done anew.
static PetscErrorCode change(TS ts, Burgers **burgers) {
  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, burgers));
  PetscCall(BurgersForget(*burgers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetFlux(TS ts, TSBurgersFlux flux) {
  Burgers *burgers;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCheck(flux >= TS_BURGERS_CENTRAL && flux <= TS_BURGERS_CENTRAL_DOUBLED, PetscObjectComm((PetscObject)ts),
             PETSC_ERR_ARG_OUTOFRANGE,
             "the flux %d is unknown; use central, lax_friedrichs, rusanov, godunov, engquist_osher or central_doubled",
             (int)flux);
  PetscCall(change(ts, &burgers));
  burgers->flux = flux;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetReconstruction(TS ts, TSBurgersReconstruction reconstruction) {
  Burgers *burgers;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCheck(reconstruction >= TS_BURGERS_CONSTANT && reconstruction <= TS_BURGERS_WENO5,
             PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "the reconstruction %d is unknown; use constant, minmod, vanleer or weno5", (int)reconstruction);
  PetscCall(change(ts, &burgers));
  burgers->reconstruction = reconstruction;
  if (!burgers->scheme_given) burgers->scheme = default_scheme(reconstruction);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetBoundary(TS ts, TSBurgersBoundary boundary) {
  Burgers *burgers;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCheck(boundary >= TS_BURGERS_PERIODIC && boundary <= TS_BURGERS_FROZEN, PetscObjectComm((PetscObject)ts),
             PETSC_ERR_ARG_OUTOFRANGE, "the boundary condition %d is unknown; use periodic, outflow, inflow or frozen",
             (int)boundary);
  PetscCall(change(ts, &burgers));
  burgers->boundary = boundary;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetInflow(TS ts, PetscInt n, const PetscReal values[]) {
  Burgers *burgers;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  DM       dm;
  PetscInt dim;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCheck(n == 2 * dim, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_SIZ,
             "%" PetscInt_FMT " inflow values in %" PetscInt_FMT "-D; give %" PetscInt_FMT ", 2 for each component", n,
             dim, 2 * dim);
  for (PetscInt i = 0; i < n; i++)
    PetscCheck(std::isfinite(values[i]), PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
               "inflow value %" PetscInt_FMT " is %g; it must be finite", i, (double)values[i]);
  PetscCall(change(ts, &burgers));
  for (PetscInt i = 0; i < n; i++) burgers->inflow[i / 2][i % 2] = values[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetViscosity(TS ts, PetscReal nu) {
  Burgers *burgers;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCheck(nu >= 0 && std::isfinite(nu), PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "the viscosity is %g; it must be finite, and not below 0", (double)nu);
  PetscCall(change(ts, &burgers));
  burgers->viscosity = nu;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetLengths(TS ts, PetscInt n, const PetscReal lengths[]) {
  Burgers *burgers;
  DM       dm;
  PetscInt dim;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCheck(n == dim, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_SIZ,
             "%" PetscInt_FMT " side lengths for a domain in %" PetscInt_FMT "-D; give %" PetscInt_FMT, n, dim, dim);
  for (PetscInt a = 0; a < n; a++)
    PetscCheck(lengths[a] > 0 && std::isfinite(lengths[a]), PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
               "length %c is %g; it must be finite and positive", "xyz"[a], (double)lengths[a]);
  PetscCall(change(ts, &burgers));
  for (PetscInt a = 0; a < n; a++) burgers->lengths[a] = lengths[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersSetFused(TS ts, TSBurgersScheme scheme, PetscInt steps) {
  Burgers *burgers;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCheck(scheme >= TS_BURGERS_EULER && scheme <= TS_BURGERS_SSPRK3, PetscObjectComm((PetscObject)ts),
             PETSC_ERR_ARG_OUTOFRANGE, "the scheme %d is unknown; use euler, ssprk2 or ssprk3", (int)scheme);
  PetscCheck(steps >= 1, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "-burgers_fused_steps is %" PetscInt_FMT "; give 1 or more", steps);
  PetscCall(change(ts, &burgers));
  burgers->scheme = scheme;
  burgers->scheme_given = true;
  burgers->block = steps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSBurgersGetTimeStepBound(TS ts, Vec u, PetscReal *bound) {
  Burgers           *burgers;
  Arrays             arrays;
  const PetscScalar *array = NULL;
  Extremes           extremes;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCall(BurgersSetUp(ts, burgers));
  PetscCall(arrays.Read(u, &array));
  PetscCall(BurgersExtremes(burgers, arrays.memory(), array, &extremes));
  PetscCall(arrays.Restore());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &extremes.state, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, burgers->comm()));
  PetscCheck(extremes.state < infinite_bits, burgers->comm(), PETSC_ERR_FP,
             "the state has values that are not finite (NaN or infinity), and there is no time step for it");
  *bound = burgers_bound(*burgers, number_of(extremes.state));
  PetscFunctionReturn(PETSC_SUCCESS);
}
