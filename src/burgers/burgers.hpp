#pragma once
// Burgers' equation as a TS sees it: what TSSetBurgers() hangs on the TS.

#include <petscts.h>

#include "burgers/operations.hpp"
#include "device/arrays.hpp"
#include "grid/halo.hpp"
#include "shellac.h"

namespace shellac {

struct Burgers {
  // settings
  TSBurgersFlux           flux = TS_BURGERS_GODUNOV;
  TSBurgersReconstruction reconstruction = TS_BURGERS_CONSTANT;
  TSBurgersBoundary       boundary = TS_BURGERS_PERIODIC;
  PetscReal               viscosity = 0;             // ν [length²/time]
  PetscReal               inflow[2][2] = {};         // [component][end]
  PetscReal               lengths[2] = {0, 0};       // of the domain; zero: from the coordinates, else 1 [length]
  PetscReal               speed = 0;                 // bound of |u| for Lax-Friedrichs; zero: of the first state
  PetscInt                check_interval = 1;        // steps from check to check; zero: never
  TSBurgersScheme         scheme = TS_BURGERS_EULER; // of burgersfused
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

  // fused steps
  Vec       update = NULL; // borrowed: TS wants its next state there
  bool      due = false;   // it waits for that state
  bool      has_wide = false;
  Halo      wide; // of several steps
  PetscInt  wide_width = 0;
  int       pass = 0; // most steps of a pass over memory; zero: stage by stage
  PetscReal step = 0; // Δt of the last block; zero: none yet
  Vec       work[2] = {NULL, NULL};

  // the Jacobian
  Mat jacobian = NULL;

  MPI_Comm comm() const { return grid.comm; }
};

// An error for a vector that is not one of the TS' DM.
PetscErrorCode BurgersCheckVector(const Burgers *burgers, Vec u);
PetscErrorCode TSGetBurgers(TS ts, Burgers **burgers);  // an error where there is none
PetscErrorCode TSFindBurgers(TS ts, Burgers **burgers); // null where there is none
PetscErrorCode BurgersSetUp(TS ts, Burgers *burgers);   // collective
PetscErrorCode BurgersForget(Burgers *burgers);         // what was set up, after a change of the settings

// The cells of a 1-D grid with what is beyond them, from a field of a halo of that width.
Line<PetscReal>  burgers_line(const Burgers &burgers, const Field<PetscScalar> &field, PetscInt width);
Field<PetscReal> real_field(const Field<PetscScalar> &field);

// rate = du/dt of the state u [arrays in `memory`]; *extremes, where not null, become those of the rank's cells.
PetscErrorCode BurgersRates(Burgers *burgers, PetscMemType memory, const PetscScalar *u, Extremes *extremes,
                            PetscScalar *rate);
// Of an array.
PetscErrorCode BurgersExtremes(Burgers *burgers, PetscMemType memory, const PetscScalar *u, Extremes *extremes);
// Checks, collectively: errors for values that are not finite and, where check_step, for a Δt beyond the bound.
// at_step: its number; last: what became of the last good state, for the message.
PetscErrorCode BurgersCheck(TS ts, Burgers *burgers, const Extremes &extremes, Vec u, Vec rate, PetscInt at_step,
                            PetscReal time, PetscReal dt, bool check_step, const char *last);
PetscErrorCode BurgersSetWaveSpeed(Burgers *burgers, PetscMemType memory, const PetscScalar *u); // once, where needed
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
