#pragma once
// What the tests of Burgers' equation share: a problem and its run, textbook formulas, exact solutions.

#include "catch.hpp"
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <petscts.h>

#if !defined(PETSC_USE_COMPLEX)
namespace tests {

using Stepper = Owned<TS, TSDestroy>;
using Values = std::vector<PetscReal>;
inline const PetscReal pi = std::acos((PetscReal)-1);

struct Run {
  Grid    da;
  Stepper ts;
  Vector  u;

  // In 1-D; in 2-D where M > 0. The length of the domain is 2π a side unless an option says otherwise.
  Run(MPI_Comm comm, PetscInt N, bool periodic, const std::string &text, PetscInt M = 0, VecType type = NULL) {
    const DMBoundaryType ends = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    if (M)
      OK(DMDACreate2d(comm, ends, ends, DMDA_STENCIL_STAR, N, M, PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, &da));
    else
      OK(DMDACreate1d(comm, ends, N, 1, 1, NULL, &da));
    if (type) {
      OK(DMSetVecType(da, type));
    } else {
      OK(DMSetFromOptions(da));
    }
    OK(DMSetUp(da));
    OK(TSCreate(comm, &ts));
    OK(TSSetDM(ts, da));
    OK(TSSetProblemType(ts, TS_NONLINEAR));
    OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
    const PetscReal two_pi[2] = {2 * pi, 2 * pi};
    Options         set(text);
    PetscBool       given;
    OK(PetscOptionsHasName(NULL, NULL, "-burgers_lengths", &given));
    OK(TSSetBurgers(ts));
    if (!given) OK(TSBurgersSetLengths(ts, M ? 2 : 1, two_pi));
    OK(TSSetFromOptions(ts));
    OK(DMCreateGlobalVector(da, &u));
  }
  void start(const std::function<PetscReal(PetscInt)> &f) {
    set_values(da, u, [&](const PetscInt p[3]) { return f(p[0]); });
  }
  void step(PetscInt steps, PetscReal dt) {
    OK(TSSetTime(ts, 0));
    OK(TSSetStepNumber(ts, 0));
    OK(TSSetTimeStep(ts, dt));
    OK(TSSetMaxSteps(ts, steps));
    OK(TSSetMaxTime(ts, 1e30));
    OK(TSSolve(ts, u));
  }
  void until(PetscReal time, PetscReal dt) {
    OK(TSSetTime(ts, 0));
    OK(TSSetStepNumber(ts, 0));
    OK(TSSetTimeStep(ts, dt));
    OK(TSSetMaxSteps(ts, 100000000));
    OK(TSSetMaxTime(ts, time));
    OK(TSSolve(ts, u));
  }
  // The whole state on every rank, in natural order.
  Values all() const { return all_of(u); }
  Values all_of(Vec v) const { return natural_values(da, v); }
  Values rate() const {
    Vector r;
    OK(VecDuplicate(u, &r));
    OK(TSComputeRHSFunction(ts, 0, u, r));
    return all_of(r);
  }
};

// TSSolve() of so many steps, whose error is returned.
PetscErrorCode solve(Run &run, PetscInt steps, PetscReal dt);

PetscReal largest_difference(const Values &x, const Values &y);
PetscReal mean_difference(const Values &x, const Values &y);
PetscReal variation(const Values &u, bool periodic);
PetscReal total(const Values &u);

constexpr const char *const fluxes[] = {"central", "lax_friedrichs", "rusanov", "godunov", "engquist_osher"};
constexpr const char *const reconstructions[] = {"constant", "minmod", "vanleer", "weno5"};
constexpr int               radii[] = {1, 2, 2, 3};
constexpr const char *const boundaries[] = {"periodic", "outflow", "inflow", "frozen"};

// Several ranks try a part of the cases, each number of ranks another one: all boundaries and reconstructions with some
// sizes and fluxes. Making and freeing buffers of ranks that share a GPU takes long: there still fewer.
bool        is_left_out(int turn);
bool        fits(PetscInt N, int radius); // a grid that can be distributed
std::string options_of(const char *flux, const char *reconstruction, const char *boundary);
PetscReal   wavy(PetscInt i, PetscInt N); // smooth parts, jumps, both signs, a sonic point

// du/dt by textbook formulas, one cell after the other; in 2-D on Nx x Ny cells of sides h, all values cell by cell.
namespace textbook {
Values rate(const Values &u, PetscReal h, const std::string &name, const std::string &reconstruction,
            const std::string &boundary, PetscReal nu);
Values rate_2d(const Values &w, int Nx, int Ny, const PetscReal h[2], const std::string &name,
               const std::string &reconstruction, const std::string &boundary, PetscReal nu);
} // namespace textbook

PetscReal sine_at(PetscReal x, PetscReal t); // the solution that starts from sin x
Values    averages(PetscInt N, PetscReal length, const std::function<PetscReal(PetscReal)> &f); // over N cells

} // namespace tests
#endif
