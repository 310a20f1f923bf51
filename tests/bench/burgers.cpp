// Times Burgers' equation beside the copy that bounds a pass over memory: the right-hand side, fused steps through
// TS, and 1400 steps of the doubled central difference.

#include "timing.hpp"

#include <cstdio>
#include <petscts.h>
#include <string>

static const char help[] = "Times Burgers' equation beside a copy.\n"
                           "  -sizes 1000000,134217728   cells\n"
                           "  -seconds 0.3               time spent on each figure\n"
                           "  -rates true                the right-hand sides; false: steps only\n"
                           "  -dm_vec_type cuda          on the GPU\n\n";

struct Problem {
  DM  da;
  TS  ts;
  Vec u, start;
};

// In 1-D; in 2-D, on n cells of a square, where plane.
static PetscErrorCode create(PetscInt n, TSBurgersFlux flux, TSBurgersReconstruction reconstruction, const char *type,
                             TSBurgersScheme scheme, PetscInt block, Problem *p, bool plane = false) {
  PetscScalar *array;
  PetscInt     first, size;

  PetscFunctionBegin;
  const PetscInt side = (PetscInt)PetscSqrtReal((PetscReal)n);
  if (plane)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, side, side,
                           PETSC_DECIDE, PETSC_DECIDE, 2, 3, NULL, NULL, &p->da));
  else
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, n, 1, 3, NULL, &p->da));
  PetscCall(DMSetFromOptions(p->da));
  PetscCall(DMSetUp(p->da));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &p->ts));
  PetscCall(TSSetDM(p->ts, p->da));
  PetscCall(TSSetBurgers(p->ts));
  PetscCall(TSBurgersSetFlux(p->ts, flux));
  PetscCall(TSBurgersSetReconstruction(p->ts, reconstruction));
  PetscCall(TSBurgersSetFused(p->ts, scheme, block));
  PetscCall(TSSetType(p->ts, type));
  PetscCall(TSSetFromOptions(p->ts));
  PetscCall(TSSetExactFinalTime(p->ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(DMCreateGlobalVector(p->da, &p->u));
  PetscCall(VecGetOwnershipRange(p->u, &first, NULL));
  PetscCall(VecGetLocalSize(p->u, &size));
  PetscCall(VecGetArrayWrite(p->u, &array));
  for (PetscInt i = 0; i < size; i++) array[i] = (PetscReal)((first + i) % 1000) / 1000 - 0.5; // both signs, jumps
  PetscCall(VecRestoreArrayWrite(p->u, &array));
  PetscCall(TSSetSolution(p->ts, p->u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(Problem *p) {
  PetscFunctionBegin;
  PetscCall(VecDestroy(&p->u));
  PetscCall(TSDestroy(&p->ts));
  PetscCall(DMDestroy(&p->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode run(Problem *p, PetscInt steps, PetscReal dt) {
  PetscFunctionBegin;
  PetscCall(TSSetTime(p->ts, 0));
  PetscCall(TSSetStepNumber(p->ts, 0));
  PetscCall(TSSetTimeStep(p->ts, dt));
  PetscCall(TSSetMaxSteps(p->ts, steps));
  PetscCall(TSSetMaxTime(p->ts, 1e30));
  PetscCall(TSSolve(p->ts, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode print(const char *name, PetscInt n, PetscReal cells, PetscReal seconds, PetscReal bound) {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-34s %11" PetscInt_FMT " %12.2f %12.3f %8.3f\n", name, n,
                        (double)(1e6 * seconds), (double)(1e-9 * cells / seconds), (double)(bound / seconds)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt  sizes[16] = {1000000, 1 << 24}, count = 16;
  PetscReal seconds = 0.3;
  PetscBool given, rates = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &count, &given));
  if (!given) count = 2;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-rates", &rates, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "of bound: the time of a copy, for each step or right-hand side, over that of the step\n"
                        "%-34s %11s %12s %12s %8s\n",
                        "", "cells", "us", "G cells/s", "of bound"));
  for (PetscInt s = 0; s < count; s++) {
    const PetscInt  n = sizes[s];
    const PetscReal dt = 0.4 / (PetscReal)n;
    PetscReal       t = 0, t_copy = 0;
    Problem         p;
    Vec             rate;

    const struct {
      const char             *name;
      TSBurgersFlux           flux;
      TSBurgersReconstruction reconstruction;
    } schemes[] = {{"godunov", TS_BURGERS_GODUNOV, TS_BURGERS_CONSTANT},
                   {"rusanov", TS_BURGERS_RUSANOV, TS_BURGERS_CONSTANT},
                   {"engquist_osher", TS_BURGERS_ENGQUIST_OSHER, TS_BURGERS_CONSTANT},
                   {"godunov minmod", TS_BURGERS_GODUNOV, TS_BURGERS_MINMOD},
                   {"godunov vanleer", TS_BURGERS_GODUNOV, TS_BURGERS_VANLEER},
                   {"godunov weno5", TS_BURGERS_GODUNOV, TS_BURGERS_WENO5}};
    bool copied = false;
    for (const auto &scheme : schemes) {
      PetscCall(create(n, scheme.flux, scheme.reconstruction, TSEULER, TS_BURGERS_EULER, 1, &p));
      PetscCall(VecDuplicate(p.u, &rate));
      if (!copied) {
        copied = true;
        PetscCall(time_of(
            seconds, [&] { return copy(p.u, rate); }, &t_copy));
        PetscCall(print("copy", n, n, t_copy, t_copy));
      }
      if (rates) {
        PetscCall(TSSetTimeStep(p.ts, dt));
        PetscCall(time_of(
            seconds, [&] { return TSComputeRHSFunction(p.ts, 0, p.u, rate); }, &t));
        PetscCall(print((std::string("du/dt ") + scheme.name).c_str(), n, n, t, t_copy));
      }
      PetscCall(VecDestroy(&rate));
      PetscCall(destroy(&p));
      if (!rates) break;
    }
    for (const auto &scheme : schemes) { // two values a cell: as many values as in 1-D
      if (!rates || n > 40000000) break;
      if (scheme.flux != TS_BURGERS_GODUNOV || scheme.reconstruction == TS_BURGERS_VANLEER) continue;
      PetscCall(create(n / 2, scheme.flux, scheme.reconstruction, TSEULER, TS_BURGERS_EULER, 1, &p, true));
      PetscCall(VecDuplicate(p.u, &rate));
      PetscCall(TSSetTimeStep(p.ts, 0.1 / PetscSqrtReal((PetscReal)n)));
      PetscCall(time_of(
          seconds, [&] { return TSComputeRHSFunction(p.ts, 0, p.u, rate); }, &t));
      PetscCall(print((std::string("2-D du/dt ") + scheme.name).c_str(), n / 2, n / 2, t, t_copy));
      PetscCall(VecDestroy(&rate));
      PetscCall(destroy(&p));
      const bool     three = scheme.reconstruction == TS_BURGERS_WENO5; // stages
      const PetscInt steps = 16;
      PetscCall(create(n / 2, scheme.flux, scheme.reconstruction, TSBURGERSFUSED,
                       three ? TS_BURGERS_SSPRK3 : TS_BURGERS_EULER, steps, &p, true));
      PetscCall(time_of(
          seconds, [&] { return run(&p, steps, 0.01 / PetscSqrtReal((PetscReal)n)); }, &t));
      PetscCall(print((std::string("2-D fused step, a stage, ") + scheme.name).c_str(), n / 2, n / 2,
                      t / (steps * (three ? 3 : 1)), t_copy));
      PetscCall(destroy(&p));
    }

    const struct {
      const char             *name, *type;
      TSBurgersFlux           flux;
      TSBurgersReconstruction reconstruction;
      TSBurgersScheme         scheme;
      PetscInt                block, steps;
    } runs[] = {
        {"euler, godunov", TSEULER, TS_BURGERS_GODUNOV, TS_BURGERS_CONSTANT, TS_BURGERS_EULER, 1, 32},
        {"fused euler, godunov", TSBURGERSFUSED, TS_BURGERS_GODUNOV, TS_BURGERS_CONSTANT, TS_BURGERS_EULER, 1024, 1024},
        {"fused euler, rusanov", TSBURGERSFUSED, TS_BURGERS_RUSANOV, TS_BURGERS_CONSTANT, TS_BURGERS_EULER, 1024, 1024},
        {"fused euler, engquist_osher", TSBURGERSFUSED, TS_BURGERS_ENGQUIST_OSHER, TS_BURGERS_CONSTANT,
         TS_BURGERS_EULER, 1024, 1024},
        {"fused ssprk2, godunov minmod", TSBURGERSFUSED, TS_BURGERS_GODUNOV, TS_BURGERS_MINMOD, TS_BURGERS_SSPRK2, 256,
         256},
        {"fused ssprk2, godunov vanleer", TSBURGERSFUSED, TS_BURGERS_GODUNOV, TS_BURGERS_VANLEER, TS_BURGERS_SSPRK2,
         256, 256},
        {"ssprk3 by stages, godunov weno5", TSBURGERSFUSED, TS_BURGERS_GODUNOV, TS_BURGERS_WENO5, TS_BURGERS_SSPRK3, 1,
         16},
        {"fused ssprk3, godunov weno5", TSBURGERSFUSED, TS_BURGERS_GODUNOV, TS_BURGERS_WENO5, TS_BURGERS_SSPRK3, 64,
         64},
    };
    for (const auto &r : runs) {
      PetscInt steps = n > 100000000 || !strcmp(r.type, TSEULER) ? r.steps : 4 * r.steps;
      PetscCall(create(n, r.flux, r.reconstruction, r.type, r.scheme, r.block, &p));
      PetscMemType       memory;
      const PetscScalar *array;
      PetscCall(VecGetArrayReadAndMemType(p.u, &array, &memory));
      PetscCall(VecRestoreArrayReadAndMemType(p.u, &array));
      if (PetscMemTypeHost(memory)) steps = std::max<PetscInt>(2, r.steps / 8);
      PetscCall(time_of(
          seconds / 10, [&] { return run(&p, steps, dt); }, &t));
      PetscCall(print(r.name, n, n, t / steps, t_copy));
      PetscCall(destroy(&p));
    }
  }

  const struct {
    const char *name, *type;
    PetscInt    block;
  } short_runs[] = {{"doubled, 1400 steps, euler", TSEULER, 1},
                    {"doubled, 1400 steps, a launch each", TSBURGERSFUSED, 1},
                    {"doubled, 1400 steps, fused by 300", TSBURGERSFUSED, 300},
                    {"doubled, 1400 steps, fused", TSBURGERSFUSED, 1400}};
  for (const auto &r : short_runs) {
    Problem   p;
    PetscReal t = 0;
    PetscCall(create(2048, TS_BURGERS_CENTRAL_DOUBLED, TS_BURGERS_CONSTANT, r.type, TS_BURGERS_EULER, r.block, &p));
    PetscCall(VecDuplicate(p.u, &p.start));
    PetscCall(VecCopy(p.u, p.start));
    PetscCall(time_of(
        seconds,
        [&]() -> PetscErrorCode {
          PetscFunctionBegin;
          PetscCall(VecCopy(p.start, p.u));
          PetscCall(run(&p, 1400, 0.02 / 2048)); // short, so that the unstable scheme stays tame
          PetscFunctionReturn(PETSC_SUCCESS);
        },
        &t));
    PetscCall(print(r.name, 2048, 2048. * 1400, t, 0));
    PetscCall(VecDestroy(&p.start));
    PetscCall(destroy(&p));
  }
  PetscCall(PetscFinalize());
  return 0;
}
