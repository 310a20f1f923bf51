#pragma once
// Burgers' equation of a TS: the context that TSSetBurgers() composes with the TS.

#include <petscts.h>

#include "burgers/operations.hpp"
#include "device/arrays.hpp"
#include "grid/axes.hpp"
#include "grid/halo.hpp"
#include "shellac.h"

namespace shellac {

// The settings of options and setters. Copies are checked before they replace the original.
struct BurgersSettings {
  TSBurgersFlux           flux = TS_BURGERS_GODUNOV;
  TSBurgersReconstruction reconstruction = TS_BURGERS_CONSTANT;
  TSBurgersBoundary       boundary = TS_BURGERS_PERIODIC;
  PetscReal               viscosity = 0;       // ν [length²/time]
  PetscReal               inflow[2][2] = {};   // [component][end]
  PetscReal               lengths[2] = {0, 0}; // of the domain; zero: from the coordinates, else 1 [length]
  PetscReal               speed = 0;           // bound of |u| for Lax-Friedrichs; zero: of the first state
  PetscInt                check_interval = 1;  // steps from check to check; zero: never
  TSBurgersJacobianType   jacobian = TS_BURGERS_JACOBIAN_SHELL;
  HaloWay                 halo_way = HaloWay::automatic;
  TSBurgersScheme         fused_scheme = TS_BURGERS_EULER; // where it is chosen, else by the reconstruction
  PetscInt                fused_steps = 256; // from one step of TS to the next

  struct { // by an option, which must have an effect
    PetscBool inflow, speed, jacobian, fused_scheme, fused_steps;
  } given = {};
  bool inflow_set = false, boundary_chosen = false; // by TSBurgersSetInflow(); by an option or TSBurgersSetBoundary()
  bool scheme_chosen = false;

  TSBurgersScheme scheme() const { // forward Euler is not stable with reconstructions of high order
    if (scheme_chosen) return fused_scheme;
    return reconstruction == TS_BURGERS_WENO5 ? TS_BURGERS_SSPRK3 : TS_BURGERS_EULER;
  }
};

// One solve of a TS, from its first step to its last, which only monitors of TS can see.
struct BurgersSolve {
  bool      running = false;
  PetscInt  first_step = 0;
  PetscInt  shown_step = 0; // the last one that the monitors saw; below zero: TS has rolled back since
  PetscReal shown_time = 0;
  PetscInt  checked_step = -1; // of an implicit type, whose state at the start has been checked
  PetscReal checked_time = 0;
  PetscReal wave_speed = 0; // of the Lax-Friedrichs flux, once it is known
};

// A block of fused steps, in the numbering of TS.
struct FusedBlock {
  bool      taken = false;
  PetscInt  first = 0, last = 0;    // numbers of its first step, and of the one that TS counts itself
  PetscReal start = 0, end = 0;     // [time]
  PetscReal dt = 0;                 // of a step
  PetscReal until = PETSC_MIN_REAL; // end of the block in which TS looks for an event, while it does
};

// The TS type burgersfused between its callbacks.
struct FusedSteps {
  enum class Phase {
    idle,
    stage,   // TS is about to ask for du/dt in order to step
    pending, // `update` waits for the state at the end of the block
  } phase = Phase::idle;
  Vec        update = NULL;  // borrowed: TS wants its next state there
  int        pass = 0;       // most steps of a pass over memory; zero: stage by stage
  PetscInt   halo_width = 0; // of `halo`; zero: there is none
  Halo       halo;           // as wide as the steps of a pass reach
  Vec        work[2] = {NULL, NULL};
  FusedBlock last;
};

struct Burgers : std::enable_shared_from_this<Burgers> { // its Jacobians may outlive the TS
  ~Burgers();

  BurgersSettings settings;
  bool            has_matrices = false; // of settings.jacobian

  // made from the settings by BurgersSetUp()
  bool                               ready = false;
  DM                                 dm = NULL;
  CoordinatesVersion                 coordinates;
  Grid                               grid;
  BurgersPatch                       patch;
  std::unique_ptr<BurgersOperations> operations;
  Grid                               links; // the grid, without the periodic axes that one rank has to itself
  PetscBool                          on_device = PETSC_FALSE; // vectors are expected on a GPU
  unsigned                           generation = 0;          // counts the set-ups
  Halo                               halo;                    // of the state

  Extremes    *device_extremes = nullptr, *host_extremes = nullptr; // [extremes_places]
  bool         always_accept = false;         // was asked of the adapter cfl
  PetscBool    accepted_before = PETSC_FALSE; // what was asked of it before that
  BurgersSolve solve;
  PetscReal    speed_of_last = 0; // the wave speed of the last solve, until the next one
  FusedSteps   fused;

  MPI_Comm comm() const { return grid.comm; }
  bool     is_lax_friedrichs() const { return settings.flux == TS_BURGERS_LAX_FRIEDRICHS; }
};

// ---- context.cpp: the lifetime of the context

PetscErrorCode TSGetBurgers(TS ts, Burgers **burgers);  // an error where there is none
PetscErrorCode TSFindBurgers(TS ts, Burgers **burgers); // null where there is none
PetscErrorCode BurgersCompose(TS ts, const std::shared_ptr<Burgers> &burgers);
PetscErrorCode BurgersReset(Burgers *burgers); // drops what was set up; collective
// Sets up with other settings, on the DM that the TS has now; on an error, those of before stay.
PetscErrorCode BurgersReplaceSettings(TS ts, Burgers *burgers, const BurgersSettings &settings);

// ---- setup.cpp; collective

// Outside a solve also: follows a change of the DM's coordinates; an error where the TS has got another DM.
PetscErrorCode BurgersSetUp(TS ts, Burgers *burgers);
PetscErrorCode BurgersSetUpAgain(Burgers *burgers); // on the DM of the last set-up

// ---- options.cpp

PetscErrorCode BurgersReadOptions(OptionItems PetscOptionsObject, TS ts, BurgersSettings *settings);
// Part of TSSetFromOptions().
PetscErrorCode BurgersSetFromOptions(PetscObject ts, OptionItems PetscOptionsObject, void *);
// Errors for options without effect under the other settings, and for a type of TS that cannot step the equation. solves:
// also for options without effect under this type, which a program may set after TSSetFromOptions().
PetscErrorCode BurgersCheckOptions(TS ts, const BurgersSettings &settings, bool solves);

// ---- settings.cpp

// Both check values, and store them.
PetscErrorCode set_inflow(MPI_Comm comm, PetscInt dim, PetscInt n, const PetscReal values[], BurgersSettings *settings);
PetscErrorCode set_lengths(MPI_Comm comm, PetscInt dim, PetscInt n, const PetscReal values[],
                           BurgersSettings *settings);
// Errors for other values that no setting may have.
PetscErrorCode BurgersCheckValues(MPI_Comm comm, const BurgersSettings &settings);

// ---- rates.cpp

Field<PetscReal> real_field(const Field<PetscScalar> &field);
// to = du/dt of the state u [arrays in `memory`], or in 2-D the state after a stage; *extremes, where not null, become those
// of the rank's cells.
PetscErrorCode BurgersRates(Burgers *burgers, PetscMemType memory, const PetscScalar *u, const Stage &stage,
                            Extremes *extremes, PetscScalar *to);
PetscErrorCode BurgersExtremes(Burgers *burgers, PetscMemType memory, const PetscScalar *u, Extremes *extremes);

// ---- checks.cpp

constexpr unsigned long long infinite_bits = 0x7ff0000000000000ull;
PetscReal                    number_of(unsigned long long bits);

// What is asked of a step.
struct StepChecks {
  bool        state = false;  // that values are finite, and that TS is told the bound of Δt
  bool        length = false; // that Δt is within the bound
  PetscReal   dt = 0;
  PetscReal   bounds = 1; // of forward Euler, that Δt may have
  PetscInt    step = 0;   // its number
  PetscReal   time = 0;
  const char *kept = "the TS keeps the state at the start of the step"; // what became of the last good state
};
// Checks, collectively, of extremes on this rank: errors for values that are not finite, for a state that is faster than
// the Lax-Friedrichs flux allows, and for a Δt beyond the bound.
PetscErrorCode BurgersCheck(TS ts, Burgers *burgers, const StepChecks &checks, const Extremes &extremes, Vec u,
                            Vec rate);
// Whether a state whose largest |u| has these bits passes them.
bool           burgers_allows(const Burgers &burgers, const StepChecks &checks, unsigned long long state);
PetscReal      burgers_bound(const Burgers &burgers, PetscReal speed); // Δt of a forward Euler step [time]
PetscErrorCode BurgersSetWaveSpeed(Burgers *burgers, PetscMemType memory, const PetscScalar *u); // where needed

// ---- stepping.cpp: what TS calls

PetscErrorCode BurgersSetCallbacks(TS ts);
PetscErrorCode BurgersSetMonitor(TS ts);
// The adapter as Burgers' equation serves it.
PetscErrorCode BurgersGetAdapt(TS ts, Burgers *burgers, PetscBool *none, PetscBool *cfl);

// ---- jacobian.cpp

PetscErrorCode BurgersSetMatrices(TS ts, Burgers *burgers); // of settings.jacobian, for implicit types

// ---- fused.cpp

PetscErrorCode TSCreate_BurgersFused(TS ts);
PetscErrorCode TSIsBurgersFused(TS ts, PetscBool *is);
PetscErrorCode BurgersFusedBegin(TS ts, Burgers *burgers, Vec update);

extern PetscLogEvent burgers_rates_event, burgers_steps_event;

} // namespace shellac
