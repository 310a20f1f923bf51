/*
  Burgers' equation u_t + (u²/2)_x = ν u_xx with any TS type, in 1-D, or as a system in 2-D.

      ./burgers -preset central_doubled
      mpiexec -n 2 ./burgers -initial sine -time 2

  The first command runs central differences with forward Euler, which no time step makes stable, and draws the state every
  300 steps; the second runs the same initial state through the shock with a scheme of fifth order.
*/

#include <petscdmda.h>
#include <petsctime.h>
#include <petscts.h>
#include <shellac.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "curves.hpp"

static const char help[] =
    "Advances Burgers' equation u_t + (u²/2)_x = ν u_xx; draws u over x at several times, and over x and t.\n"
    "  -initial sine        the first state: sine, step, rarefaction, nwave; or file, with -initial_file state.petsc\n"
    "                       (a Vec that VecView() wrote to a binary viewer)\n"
    "  -n 1000              cells\n"
    "  -dim 1               2: the system of u and v on n x n cells\n"
    "  -length 6.2832       side of the domain\n"
    "  -time 2              end; -ts_max_steps and -ts_dt as well\n"
    "  -picture name        writes name-curves.png and name-xt.png (2-D: name-u.png and name-v.png); none: no "
    "pictures;\n"
    "                       without it, the name tells the first state and the scheme: burgers-sine-godunov-weno5-ssp\n"
    "  -ts_type burgersfused -burgers_fused_scheme ssprk3   many steps in one pass over memory\n"
    "  -burgers_flux godunov -burgers_reconstruct weno5     the scheme, of this program's defaults\n"
    "  -burgers_bc periodic -burgers_viscosity 0\n"
    "  -dm_vec_type cuda    runs on the GPU\n"
    "  -ts_monitor -ts_monitor_solution vtk:u-%03d.vts      PETSc's own; hdf5:u.h5 where PETSc has it\n"
    "  -preset central_doubled   1400 steps of forward Euler, Δt = 0.1 h, from u = sin x on 2048 points, with twice "
    "the\n"
    "                       central difference and fixed end points: a scheme that no Δt makes stable; five "
    "pictures\n\n";

static constexpr int columns = 700; // of a picture

struct Frame {
  PetscReal           time;
  std::vector<double> u; // means of the cells of each column
};
struct Film { // of a 1-D run, on the first rank
  PetscReal          end;
  PetscInt           wanted; // frames
  std::vector<Frame> frames;
};

// The means of u over `columns` columns, or each cell's value where there are fewer; on the first rank.
static PetscErrorCode GetColumns(Vec u, std::vector<double> *means) {
  PetscInt           N, first, n;
  const PetscScalar *array;
  PetscMPIInt        rank;
  MPI_Comm           comm = PetscObjectComm((PetscObject)u);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(VecGetSize(u, &N));
  PetscCall(VecGetLocalSize(u, &n));
  PetscCall(VecGetOwnershipRange(u, &first, NULL)); // in 1-D the natural order
  const int           count = N < columns ? (int)N : columns;
  std::vector<double> sums(2 * count, 0);
  PetscCall(VecGetArrayRead(u, &array));
  for (PetscInt i = 0; i < n; i++) {
    const int at = (int)((PetscInt64)(first + i) * count / N);
    sums[at] += PetscRealPart(array[i]);
    sums[count + at] += 1;
  }
  PetscCall(VecRestoreArrayRead(u, &array));
  PetscCallMPI(MPI_Reduce(rank ? sums.data() : MPI_IN_PLACE, rank ? NULL : sums.data(), 2 * count, MPI_DOUBLE, MPI_SUM,
                          0, comm));
  means->resize(count);
  for (int c = 0; c < count; c++) (*means)[c] = sums[c] / sums[count + c];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Record(TS, PetscInt, PetscReal time, Vec u, void *context) {
  Film *film = (Film *)context;

  PetscFunctionBegin;
  const PetscReal next = film->end * (PetscReal)film->frames.size() / (PetscReal)film->wanted;
  if (time < next * (1 - 1e-9) && time < film->end) PetscFunctionReturn(PETSC_SUCCESS);
  film->frames.push_back({time, {}});
  PetscCall(GetColumns(u, &film->frames.back().u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Write(MPI_Comm comm, const picture::Canvas *canvas, const std::string &file) {
  PetscMPIInt written = 1;

  PetscFunctionBegin;
  if (canvas) written = canvas->write_png(file.c_str());
  PetscCallMPI(MPI_Bcast(&written, 1, MPI_INT, 0, comm));
  PetscCheck(written, comm, PETSC_ERR_FILE_OPEN, "cannot write the picture %s; give a -picture that can be written",
             file.c_str());
  PetscCall(PetscPrintf(comm, "wrote %s\n", file.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Options that have no effect in this run are mistakes.
static PetscErrorCode RefuseOptions(const std::vector<std::string> &keys, const char *why) {
  char      value[128] = "";
  PetscBool given;

  PetscFunctionBegin;
  for (const std::string &key : keys) {
    PetscCall(PetscOptionsGetString(NULL, NULL, key.c_str(), value, sizeof(value), &given));
    PetscCheck(!given, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s %s has no effect: %s", key.c_str(), value, why);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the preset central_doubled ------------------------------------------------------------------------------------------------

static PetscErrorCode RunCentralDoubled(const char *prefix) {
  const PetscInt  N = 2048, steps = 1400;
  const PetscReal pi = std::acos((PetscReal)-1), length[1] = {2 * pi}, h = 2 * pi / N;
  DM              da;
  TS              ts;
  Vec             u;
  PetscScalar    *array;
  PetscInt        first, n;
  PetscMPIInt     rank;
  PetscLogDouble  begin, end, seconds = 0;

  PetscFunctionBegin;
  PetscCall(
      RefuseOptions({"-burgers_flux", "-burgers_reconstruct", "-burgers_bc", "-burgers_inflow", "-burgers_viscosity",
                     "-burgers_lengths", "-burgers_speed", "-initial", "-initial_file", "-n", "-dim", "-length",
                     "-time", "-ts_dt", "-ts_time_step", "-ts_max_steps", "-ts_max_time", "-da_grid_x", "-da_refine"},
                    "-preset central_doubled sets it; leave one of them out"));
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, N, 1, 1, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(TSSetBurgers(ts));
  PetscCall(TSBurgersSetFlux(ts, TS_BURGERS_CENTRAL_DOUBLED));
  PetscCall(TSBurgersSetReconstruction(ts, TS_BURGERS_CONSTANT));
  PetscCall(TSBurgersSetBoundary(ts, TS_BURGERS_FROZEN));
  PetscCall(TSBurgersSetLengths(ts, 1, length));
  PetscCall(TSSetType(ts, TSEULER));
  PetscCall(TSSetTimeStep(ts, 0.1 * h));
  PetscCall(TSSetMaxTime(ts, PETSC_MAX_REAL / 2));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(DMDAGetCorners(da, &first, NULL, NULL, &n, NULL, NULL));
  PetscCall(VecGetArrayWrite(u, &array));
  for (PetscInt i = 0; i < n; i++) array[i] = std::sin((first + i) * h);
  PetscCall(VecRestoreArrayWrite(u, &array));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  // pictures after the steps 0, 300, 600, 900 and 1200: when 1, 301, ... have been taken
  for (PetscInt last = 1, k = 0; last <= steps; last = last == 1201 ? steps : last + 300, k++) {
    PetscCall(TSSetMaxSteps(ts, last));
    PetscCall(PetscTime(&begin));
    PetscCall(TSSolve(ts, u));
    PetscCall(PetscTime(&end));
    seconds += end - begin;
    if (last < steps) {
      std::vector<double> values;
      char                name[64], title[64];
      PetscCall(GetColumns(u, &values));
      std::snprintf(name, sizeof(name), "%s-central_doubled-%d.png", prefix, (int)(last - 1));
      std::snprintf(title, sizeof(title), "central differences, forward Euler: step %d", (int)(last - 1));
      if (strcmp(prefix, "none")) {
        if (rank == 0) {
          const picture::Canvas canvas = picture::draw_curves({{"u", values}}, 0, 2 * pi, title);
          PetscCall(Write(PETSC_COMM_WORLD, &canvas, name));
        } else {
          PetscCall(Write(PETSC_COMM_WORLD, NULL, name));
        }
      }
    } else {
      break;
    }
  }
  TSType type;
  PetscCall(TSGetType(ts, &type));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "%d steps of 0.1 h with -ts_type %s: %.3g ms\n", (int)steps, type, 1e3 * seconds));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8s %12s %24s\n", "point", "x", "u after 1400 steps"));
  for (PetscInt i = 0; i < N; i += 128) {
    PetscReal          value = -PETSC_MAX_REAL;
    const PetscScalar *read;
    PetscCall(VecGetArrayRead(u, &read));
    if (i >= first && i < first + n) value = PetscRealPart(read[i - first]);
    PetscCall(VecRestoreArrayRead(u, &read));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8d %12.8f %24.16f\n", (int)i, (double)(i * h), (double)value));
  }
  PetscCall(VecDestroy(&u));
  PetscCall(TSDestroy(&ts));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- any run -------------------------------------------------------------------------------------------------------

// The first state as averages over cells (in 2-D: values at their centres), from a formula in x/L.
static PetscErrorCode SetInitialState(DM da, const char *name, Vec u) {
  const PetscReal two_pi = 2 * std::acos((PetscReal)-1);
  PetscInt        start[2], size[2], N, M, dim;
  PetscScalar    *array;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, &dim, &N, &M, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &size[0], &size[1], NULL));
  if (dim == 1) start[1] = 0, size[1] = 1;
  const bool sine = !strcmp(name, "sine"), step = !strcmp(name, "step"), rarefaction = !strcmp(name, "rarefaction"),
             nwave = !strcmp(name, "nwave");
  PetscCheck(sine || step || rarefaction || nwave, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-initial %s is unknown; use sine, step, rarefaction, nwave or file", name);
  // ∫ u dx to x/L, so that averages are exact
  const auto integral = [&](PetscReal x) -> PetscReal {
    if (sine) return -std::cos(two_pi * x) / two_pi;
    if (step) return PetscMin(x, (PetscReal)0.5);
    if (rarefaction) return PetscAbsReal(x - (PetscReal)0.5);
    const PetscReal y = PetscMax((PetscReal)-0.25, PetscMin((PetscReal)0.25, x - (PetscReal)0.5));
    return 2 * y * y;
  };
  PetscCall(VecGetArrayWrite(u, &array));
  for (PetscInt j = 0; j < size[1]; j++)
    for (PetscInt i = 0; i < size[0]; i++) {
      const PetscReal x = (PetscReal)(start[0] + i) / N, h = 1 / (PetscReal)N, y = (start[1] + j + (PetscReal)0.5) / M;
      const PetscReal along = (integral(x + h) - integral(x)) / h;
      PetscScalar    *to = array + ((PetscInt64)j * size[0] + i) * dim;
      to[0] = along;
      if (dim == 2) {
        to[0] = along * std::cos(two_pi * y) * (PetscReal)0.5 + (PetscReal)0.5;
        to[1] = -along * std::sin(two_pi * y) * (PetscReal)0.5;
      }
    }
  PetscCall(VecRestoreArrayWrite(u, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetDefault(const char *key, const char *value) {
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, key, &given));
  if (!given) PetscCall(PetscOptionsSetValue(NULL, key, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DrawFilm(const Film &film, PetscReal length, const std::string &prefix, bool first_rank) {
  PetscFunctionBegin;
  if (!first_rank) {
    PetscCall(Write(PETSC_COMM_WORLD, NULL, prefix + "-curves.png"));
    PetscCall(Write(PETSC_COMM_WORLD, NULL, prefix + "-xt.png"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<picture::Curve> curves;
  const size_t                count = film.frames.size(), shown = std::min<size_t>(count, 6);
  for (size_t k = 0; k < shown; k++) {
    const Frame &frame = film.frames[shown > 1 ? k * (count - 1) / (shown - 1) : 0];
    curves.push_back({"t = " + picture::label(frame.time), frame.u});
  }
  const picture::Canvas lines = picture::draw_curves(curves, 0, length, "u over x");
  PetscCall(Write(PETSC_COMM_WORLD, &lines, prefix + "-curves.png"));

  const int rows = 400;
  double    low = INFINITY, high = -INFINITY;
  for (const Frame &frame : film.frames)
    for (double value : frame.u) low = std::min(low, value), high = std::max(high, value);
  if (!(low < high)) low -= 1, high = low + 2;
  std::vector<picture::Color> colors;
  size_t                      at = 0;
  for (int row = 0; row < rows; row++) {
    const PetscReal time = film.frames.back().time * row / (rows - 1);
    while (at + 1 < count && film.frames[at + 1].time <= time) at++;
    const auto &u = film.frames[at].u;
    for (int c = 0; c < columns; c++) colors.push_back(picture::color_of(u[(size_t)c * u.size() / columns], low, high));
  }
  const picture::Canvas map =
      picture::draw_heat_map(colors, {0, (double)length, columns}, {0, (double)film.frames.back().time, rows}, low,
                             high, "u over x and t", "t");
  PetscCall(Write(PETSC_COMM_WORLD, &map, prefix + "-xt.png"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// picture: the beginning of the pictures' names; empty: made of the run's settings.
static PetscErrorCode RunExample(const char *picture) {
  DM             da;
  TS             ts;
  Vec            u;
  char           initial[64] = "sine", file[PETSC_MAX_PATH_LEN] = "", bc[32] = "periodic";
  PetscInt       n = 1000, dim = 1, steps;
  PetscReal      length = 2 * std::acos((PetscReal)-1), time = 2, dt, bound;
  PetscBool      set, is_file;
  PetscMPIInt    rank;
  PetscLogDouble begin, end;
  Film           film;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-initial", initial, sizeof(initial), NULL));
  PetscCall(PetscStrcmp(initial, "file", &is_file));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-initial_file", file, sizeof(file), &set));
  PetscCheck(!is_file || set, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-initial file needs -initial_file <name>");
  if (!is_file) PetscCall(RefuseOptions({"-initial_file"}, "it is for -initial file"));
  PetscCall(RefuseOptions({"-burgers_lengths"}, "give -length, the side of the domain"));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCheck(dim == 1 || dim == 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-dim is %d; use 1 or 2", (int)dim);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-length", &length, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-time", &time, NULL));
  PetscCheck(n > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n is %d; give 1 cell or more", (int)n);
  PetscCheck(length > 0 && std::isfinite(length), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-length is %g; it must be finite, and above 0", (double)length);
  PetscCheck(time > 0 && std::isfinite(time), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-time is %g; it must be finite, and above 0", (double)time);
  // only the sine is periodic
  if (strcmp(initial, "sine") && dim == 1) PetscCall(PetscStrncpy(bc, "outflow", sizeof(bc)));
  PetscCall(SetDefault("-burgers_bc", bc));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-burgers_bc", bc, sizeof(bc), NULL));
  PetscCall(SetDefault("-burgers_reconstruct", "weno5"));
  const DMBoundaryType ends = strcmp(bc, "periodic") ? DM_BOUNDARY_NONE : DM_BOUNDARY_PERIODIC;
  if (dim == 1)
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, ends, n, 1, 1, NULL, &da));
  else
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, ends, ends, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE, PETSC_DECIDE, 2, 1,
                           NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  const PetscReal lengths[2] = {length, length};
  PetscCall(TSSetBurgers(ts));
  PetscCall(TSBurgersSetLengths(ts, dim, lengths));
  PetscCall(DMCreateGlobalVector(da, &u));
  if (is_file) {
    PetscViewer viewer;
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(u, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  } else {
    PetscCall(SetInitialState(da, initial, u));
  }
  PetscCall(TSSetType(ts, TSSSP));
  PetscCall(TSSSPSetType(ts, TSSSPRKS3));
  PetscCall(TSSSPSetNumStages(ts, 4));
  PetscCall(TSBurgersGetTimeStepBound(ts, u, &bound));
  PetscCall(TSSetTimeStep(ts, PetscMin(0.6 * bound, time)));
  PetscCall(TSSetMaxTime(ts, time));
  PetscCall(TSSetMaxSteps(ts, PETSC_MAX_INT));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetFromOptions(ts));
  PetscBool is_fused;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSBURGERSFUSED, &is_fused));
  if (!is_fused)
    PetscCall(RefuseOptions({"-burgers_fused_scheme", "-burgers_fused_steps"}, "it is for -ts_type burgersfused"));
  PetscCall(TSGetMaxTime(ts, &film.end));
  film.wanted = 400;
  const bool pictures = strcmp(picture, "none");
  char       flux[32] = "godunov", reconstruction[32] = "";
  TSType     type;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-burgers_flux", flux, sizeof(flux), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-burgers_reconstruct", reconstruction, sizeof(reconstruction), NULL));
  PetscCall(TSGetType(ts, &type));
  const std::string prefix =
      picture[0] ? picture : std::string("burgers-") + initial + "-" + flux + "-" + reconstruction + "-" + type;
  if (pictures && dim == 1) PetscCall(TSMonitorSet(ts, Record, &film, NULL));
  PetscCall(PetscTime(&begin));
  PetscCall(TSSolve(ts, u));
  PetscCall(PetscTime(&end));

  PetscReal largest, smallest;
  PetscCall(TSGetStepNumber(ts, &steps));
  PetscCall(TSGetTimeStep(ts, &dt));
  PetscCall(TSGetTime(ts, &time));
  PetscCall(VecMax(u, NULL, &largest));
  PetscCall(VecMin(u, NULL, &smallest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d steps of -ts_type %s to t = %g in %.3g s; u from %g to %g\n", (int)steps,
                        type, (double)time, end - begin, (double)smallest, (double)largest));
  if (pictures && dim == 1) PetscCall(DrawFilm(film, length, prefix, rank == 0));
  if (pictures && dim == 2) {
    DM       scalar;
    Vec      component;
    PetscInt cells[2];
    PetscCall(DMDAGetInfo(da, NULL, &cells[0], &cells[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    const PetscReal h[2] = {length / cells[0], length / cells[1]}, first[2] = {h[0] / 2, h[1] / 2};
    PetscCall(DMDACreateCompatibleDMDA(da, 1, &scalar));
    PetscCall(DMCreateGlobalVector(scalar, &component));
    for (PetscInt c = 0; c < 2; c++) {
      const std::string name = prefix + (c ? "-v.png" : "-u.png");
      PetscCall(VecStrideGather(u, c, component, INSERT_VALUES));
      PetscCall(WriteFieldPicture(scalar, component, first, h, lengths, c ? "v of the system" : "u of the system",
                                  name.c_str()));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "wrote %s\n", name.c_str()));
    }
    PetscCall(VecDestroy(&component));
    PetscCall(DMDestroy(&scalar));
  }
  PetscCall(VecDestroy(&u));
  PetscCall(TSDestroy(&ts));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscBool deprecated = PETSC_FALSE, preset, known = PETSC_TRUE;
  char      picture[PETSC_MAX_PATH_LEN] = "", name[64] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-picture", picture, sizeof(picture), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-burgers_reproduce_seed", &deprecated, NULL));
  if (deprecated)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "-burgers_reproduce_seed is deprecated: use -preset central_doubled\n"));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-preset", name, sizeof(name), &preset));
  if (preset) PetscCall(PetscStrcmp(name, "central_doubled", &known));
  PetscCheck(known, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-preset %s is unknown; use central_doubled", name);
  if (preset || deprecated)
    PetscCall(RunCentralDoubled(picture[0] ? picture : "burgers"));
  else
    PetscCall(RunExample(picture));
  PetscCall(PetscFinalize());
  return 0;
}
