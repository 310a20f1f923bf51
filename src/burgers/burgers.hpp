#pragma once
// Burgers' equation as a TS sees it: what TSSetBurgers() hangs on the TS.

#include <petscts.h>

#include "burgers/operations.hpp"
#include "device/arrays.hpp"
#include "grid/halo.hpp"
#include "shellac.h"

namespace shellac {

// A block of fused steps, as TS sees it.
struct FusedBlock {
  bool      taken = false;
  PetscInt  first = 0, last = 0;    // numbers of its first step, and of the one that TS counts itself
  PetscReal start = 0, end = 0;     // [time]
  PetscReal dt = 0;                 // of a step
  PetscReal until = PETSC_MIN_REAL; // end of the block in which TS looks for an event, while it does
};

struct Burgers {
  // settings
  TSBurgersFlux           flux = TS_BURGERS_GODUNOV;
  TSBurgersReconstruction reconstruction = TS_BURGERS_CONSTANT;
  TSBurgersBoundary       boundary = TS_BURGERS_PERIODIC;
  PetscReal               viscosity = 0;        // ν [length²/time]
  PetscReal               inflow[2][2] = {};    // [component][end]
  PetscReal               lengths[2] = {0, 0};  // of the domain; zero: from the coordinates, else 1 [length]
  PetscReal               speed = 0;            // bound of |u| for Lax-Friedrichs; zero: of the first state
  PetscInt                check_interval = 1;   // steps from check to check; zero: never
  PetscInt                jacobian = -1;        // -burgers_jacobian; below zero: none is set yet
  bool                    inflow_given = false; // by an option, which wants to be of use
  bool                    speed_given = false;
  TSBurgersScheme         scheme = TS_BURGERS_EULER; // of burgersfused
  bool                    scheme_given = false;      // otherwise by the reconstruction, see default_scheme()
  PetscInt                block = 256;               // its steps from one step of TS to the next
  HaloWay                 halo_way = HaloWay::automatic;

  // made from them by BurgersSetUp()
  bool                               ready = false;
  Grid                               grid;
  BurgersPatch                       patch;
  std::unique_ptr<BurgersOperations> operations;
  Grid                               links; // the grid, without the periodic axes that one rank has to itself
  PetscBool                          on_device = PETSC_FALSE; // vectors are expected on a GPU
  unsigned                           generation = 0;          // counts the set-ups
  Halo                               halo;                    // of the state
  PetscReal                          wave_speed = 0;          // of the Lax-Friedrichs flux, once it is known

  // checks
  Extremes *device_extremes = nullptr;
  bool      in_solve = false;      // TSSolve() runs
  PetscInt  watched = 0;           // the last step that its monitors were shown,
  PetscReal watched_time = 0;      // and its time
  PetscInt  start_step = 0;        // its first
  bool      always_accept = false; // was asked of the adapter cfl
  PetscInt  checked_step = -1;     // of an implicit method, whose state at the start has been checked
  PetscReal checked_time = 0;

  // fused steps
  Vec        update = NULL;    // borrowed: TS wants its next state there
  bool       in_stage = false; // TS asks for du/dt in order to step
  bool       due = false;      // update waits for that state
  bool       has_wide = false;
  Halo       wide; // of several steps
  PetscInt   wide_width = 0;
  int        pass = 0; // most steps of a pass over memory; zero: stage by stage
  FusedBlock last;
  Vec        work[2] = {NULL, NULL};

  MPI_Comm comm() const { return grid.comm; }
};

// An error for a vector that is not one of the TS' DM.
PetscErrorCode BurgersCheckVector(const Burgers *burgers, Vec u);
PetscErrorCode TSGetBurgers(TS ts, Burgers **burgers);  // an error where there is none
PetscErrorCode TSFindBurgers(TS ts, Burgers **burgers); // null where there is none
PetscErrorCode BurgersSetUp(TS ts, Burgers *burgers);   // collective
PetscErrorCode BurgersForget(Burgers *burgers);         // what was set up, after a change of the settings
PetscErrorCode BurgersGetContainer(TS              ts,
                                   PetscContainer *container); // which frees it when nobody refers to it; or null

// The cells of a 1-D grid with what is beyond them, from a field of a halo of that width.
Line<PetscReal>  burgers_line(const Burgers &burgers, const Field<PetscScalar> &field, PetscInt width);
Field<PetscReal> real_field(const Field<PetscScalar> &field);

// rate = du/dt of the state u [arrays in `memory`]; *extremes, where not null, become those of the rank's cells.
PetscErrorCode BurgersRates(Burgers *burgers, PetscMemType memory, const PetscScalar *u, Extremes *extremes,
                            PetscScalar *rate);
// Of an array.
PetscErrorCode BurgersExtremes(Burgers *burgers, PetscMemType memory, const PetscScalar *u, Extremes *extremes);
// What is asked of a step.
struct StepChecks {
  bool        state = false;  // that values are finite, and that TS is told the bound of Δt
  bool        length = false; // that Δt keeps it
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
bool burgers_allows(const Burgers &burgers, const StepChecks &checks, unsigned long long state);
// The adapter as Burgers' equation serves it.
PetscErrorCode BurgersGetAdapt(TS ts, Burgers *burgers, PetscBool *none, PetscBool *cfl);
PetscErrorCode BurgersSetWaveSpeed(Burgers *burgers, PetscMemType memory, const PetscScalar *u); // where needed
PetscReal      burgers_bound(const Burgers &burgers, PetscReal speed); // Δt of a forward Euler step [time]
constexpr unsigned long long infinite_bits = 0x7ff0000000000000ull;
PetscReal                    number_of(unsigned long long bits);

// jacobian.cpp
PetscErrorCode BurgersCreateJacobian(TS ts, Burgers *burgers, Mat *J);
PetscErrorCode BurgersComputeJacobian(TS ts, PetscReal time, Vec u, Mat A, Mat P, void *context);
PetscErrorCode BurgersCreateAIJ(TS ts, Burgers *burgers, Mat *P);

// fused.cpp
PetscErrorCode TSCreate_BurgersFused(TS ts);
PetscErrorCode TSIsBurgersFused(TS ts, PetscBool *is);
PetscErrorCode BurgersFusedBegin(TS ts, Burgers *burgers, Vec update);

extern PetscLogEvent burgers_rates_event, burgers_steps_event;

} // namespace shellac
