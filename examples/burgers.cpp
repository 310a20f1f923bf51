/*
  Burgers' equation u_t + (u²/2)_x = ν u_xx with any TS type, in 1-D, or as a system for (u, v) in 2-D.

      mpiexec -n 2 ./burgers -initial sine -time 2
      ./burgers -preset central_doubled

  The first command takes a sine wave through its shock with a scheme of fifth order. The second takes the same wave with
  twice the central difference and forward Euler, which no time step makes stable.
*/

#include "burgers.hpp"
#include "picture.hpp"

#include <petsctime.h>
#include <shellac.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

static const char help[] =
    "Advances Burgers' equation u_t + (u²/2)_x = ν u_xx. Draws u over x at several times, and over x and t.\n"
    "  -initial sine        the first state: sine, step, rarefaction or nwave\n"
    "  -initial_file u.txt  the first state from a file: text (numbers; comments from # on) or PETSc's binary format;\n"
    "                       one number for each cell, in 2-D u and v of each cell\n"
    "  -n 1000              cells along each axis; or -da_grid_x and -da_grid_y\n"
    "  -dim 1               2: the system for u and v\n"
    "  -length 6.2832       side of the domain\n"
    "  -time 2              end; -ts_max_steps and -ts_dt as well\n"
    "  -picture u.pdf       .png, .svg, .pdf; .vts, .vtr (last state, for ParaView); none. Without it the name tells\n"
    "                       the settings: burgers-sine-godunov-weno5-ssp-viscosity0.05.png\n"
    "  -series u.vts        writes a series of states with their times: u-0000.vts and so on, and u.pvd for ParaView;\n"
    "                       u.h5: one HDF5 file\n"
    "  -series_intervals 20 between the states of the series\n"
    "  -burgers_flux godunov -burgers_reconstruct weno5     the scheme; this program's defaults\n"
    "  -burgers_bc periodic -burgers_viscosity 0\n"
    "  -ts_type burgersfused -burgers_fused_scheme ssprk3   many steps in one pass over memory\n"
    "  -dm_vec_type cuda    runs on the GPU\n"
    "  -ts_monitor -ts_monitor_solution_vtk u-%03d.vts      PETSc's own: a line and a file for each step\n"
    "  -preset central_doubled   1400 steps of forward Euler, Δt = 0.1 h, from u = sin x on 2048 points, with twice "
    "the\n"
    "                       central difference and fixed end points: a scheme that no Δt makes stable\n\n";

struct Film { // states of a 1-D run, on the first rank
  PetscReal                   first, h, end;
  PetscInt                    wanted; // number of states
  std::vector<PetscReal>      times;
  std::vector<picture::Curve> states;
};

static PetscErrorCode Record(TS ts, PetscInt step, PetscReal time, Vec u, void *context) {
  Film          *film = (Film *)context;
  picture::Panel panel;
  DM             da;

  PetscFunctionBegin;
  const PetscReal next = film->end * (PetscReal)film->states.size() / (PetscReal)film->wanted;
  if (step < 0 || (time < next * (1 - 1e-9) && time < film->end)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetDM(ts, &da));
  PetscCall(PictureSetField(da, u, &film->first, &film->h, &panel));
  film->times.push_back(time);
  film->states.push_back(panel.curves[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Six states as curves beside all of them over x and t.
static std::vector<picture::Panel> DrawFilm(const Film &film, PetscReal length) {
  const size_t                count = film.states.size(), shown = std::min<size_t>(count, 6);
  std::vector<picture::Panel> panels(2);

  for (picture::Panel &panel : panels) panel.x = {0, (double)length};
  for (size_t k = 0; k < shown; k++) {
    const size_t at = shown > 1 ? k * (count - 1) / (shown - 1) : 0;
    panels[0].curves.push_back(film.states[at]);
    panels[0].curves.back().name = "t = " + picture::label(film.times[at]);
  }
  panels[0].y_name = panels[1].value_name = "u";
  panels[1].y_name = "t";
  const int columns = (int)film.states[0].y.size(), rows = 400;
  panels[1].field = {columns, rows, {}, panels[1].x, {0, (double)film.times.back()}};
  size_t at = 0;
  for (int row = 0; row < rows; row++) {
    while (at + 1 < count && film.times[at + 1] <= film.times.back() * (row + 1) / rows) at++;
    panels[1].field.values.insert(panels[1].field.values.end(), film.states[at].y.begin(), film.states[at].y.end());
  }
  return panels;
}

// An option's value in the words of a title.
static std::string InWords(const std::string &value) {
  static const std::map<std::string, std::string> words = {{"central", "central flux"},
                                                           {"lax_friedrichs", "Lax–Friedrichs flux"},
                                                           {"rusanov", "Rusanov flux"},
                                                           {"godunov", "Godunov flux"},
                                                           {"engquist_osher", "Engquist–Osher flux"},
                                                           {"central_doubled", "twice the central difference"},
                                                           {"constant", "first order"},
                                                           {"minmod", "minmod slopes"},
                                                           {"vanleer", "van Leer slopes"},
                                                           {"weno5", "WENO5"}};
  const auto                                      found = words.find(value);
  return found == words.end() ? value : found->second;
}

// Options without effect are mistakes.
static PetscErrorCode RefuseOptions(const std::vector<std::string> &keys, const char *why) {
  char      value[128] = "";
  PetscBool given;

  PetscFunctionBegin;
  for (const std::string &key : keys) {
    PetscCall(PetscOptionsGetString(nullptr, nullptr, key.c_str(), value, sizeof(value), &given));
    PetscCheck(!given, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s %s has no effect: %s", key.c_str(), value, why);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetDefault(const char *key, const char *value) {
  PetscBool given;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, key, &given));
  if (!given) PetscCall(PetscOptionsSetValue(nullptr, key, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the preset central_doubled ------------------------------------------------------------------------------------

static PetscErrorCode RunCentralDoubled() {
  const PetscInt  N = 2048, steps = 1400;
  const PetscReal length = 2 * std::acos((PetscReal)-1), h = length / N, origin = 0;
  picture::Panel  panel;
  DM              da;
  TS              ts;
  TSType          type;
  Vec             u;
  PetscScalar    *array;
  PetscInt        first, n;
  PetscLogDouble  begin, end, seconds = 0;
  std::string     file;

  PetscFunctionBegin;
  PetscCall(RefuseOptions({"-burgers_flux",
                           "-burgers_reconstruct",
                           "-burgers_bc",
                           "-burgers_inflow",
                           "-burgers_viscosity",
                           "-burgers_lengths",
                           "-burgers_speed",
                           "-initial",
                           "-initial_file",
                           "-n",
                           "-dim",
                           "-length",
                           "-time",
                           "-series",
                           "-series_intervals",
                           "-ts_dt",
                           "-ts_time_step",
                           "-ts_max_steps",
                           "-ts_max_time",
                           "-da_grid_x",
                           "-da_refine"},
                          "-preset central_doubled sets it; leave one of them out"));
  PetscCall(PictureGetFile("burgers-central_doubled", {}, &file));
  PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, N, 1, 1, nullptr, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(TSSetBurgers(ts));
  PetscCall(TSBurgersSetFlux(ts, TS_BURGERS_CENTRAL_DOUBLED));
  PetscCall(TSBurgersSetReconstruction(ts, TS_BURGERS_CONSTANT));
  PetscCall(TSBurgersSetBoundary(ts, TS_BURGERS_FROZEN));
  PetscCall(TSBurgersSetLengths(ts, 1, &length));
  PetscCall(TSSetType(ts, TSEULER));
  PetscCall(TSSetTimeStep(ts, 0.1 * h));
  PetscCall(TSSetMaxTime(ts, PETSC_MAX_REAL / 2));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(PetscObjectSetName((PetscObject)u, "u"));
  PetscCall(DMDAGetCorners(da, &first, nullptr, nullptr, &n, nullptr, nullptr));
  PetscCall(VecGetArrayWrite(u, &array));
  for (PetscInt i = 0; i < n; i++) array[i] = std::sin((first + i) * h);
  PetscCall(VecRestoreArrayWrite(u, &array));
  for (PetscInt last : {(PetscInt)1, (PetscInt)301, (PetscInt)601, (PetscInt)901, (PetscInt)1201, steps}) {
    PetscCall(TSSetMaxSteps(ts, last));
    PetscCall(PetscTime(&begin));
    PetscCall(TSSolve(ts, u));
    PetscCall(PetscTime(&end));
    seconds += end - begin;
    PetscCall(PictureSetField(da, u, &origin, &h, &panel));
    panel.curves.back().name = "step " + std::to_string(last);
  }
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
  panel.x = {0, (double)length};
  panel.y_name = "u";
  PetscCall(PictureWrite(da, u, {panel}, 1, "Burgers' equation: twice the central difference, forward Euler", file));
  PetscCall(VecDestroy(&u));
  PetscCall(TSDestroy(&ts));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- any run -------------------------------------------------------------------------------------------------------

struct Settings {
  PetscInt    n = 1000, dim = 1, intervals = 20;
  PetscReal   length = 2 * std::acos((PetscReal)-1), time = 2;
  char        initial[64] = "sine", file[PETSC_MAX_PATH_LEN] = "", series[PETSC_MAX_PATH_LEN] = "";
  std::string bc, usual_bc, flux, reconstruction;
  Vec         numbers = nullptr; // of the file
};

static PetscErrorCode GetString(const char *key, const char *value, std::string *text) {
  char buffer[64];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(buffer, value, sizeof(buffer)));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, key, buffer, sizeof(buffer), nullptr));
  *text = buffer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetSettings(Settings *s) {
  PetscBool n_set, initial_set, grid_set, series_set;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Burgers example", nullptr);
  PetscCall(PetscOptionsInt("-dim", "1, or 2 for the system", nullptr, s->dim, &s->dim, nullptr));
  PetscCall(PetscOptionsInt("-n", "Cells along each axis", nullptr, s->n, &s->n, &n_set));
  PetscCall(PetscOptionsReal("-length", "Side of the domain", nullptr, s->length, &s->length, nullptr));
  PetscCall(PetscOptionsReal("-time", "End", nullptr, s->time, &s->time, nullptr));
  PetscCall(
      PetscOptionsString("-initial", "First state", nullptr, s->initial, s->initial, sizeof(s->initial), &initial_set));
  PetscCall(PetscOptionsString("-initial_file", "First state from a file", nullptr, s->file, s->file, sizeof(s->file),
                               nullptr));
  PetscCall(PetscOptionsString("-series", "Files for a series of states", nullptr, s->series, s->series,
                               sizeof(s->series), &series_set));
  PetscCall(PetscOptionsInt("-series_intervals", "Between the states of the series", nullptr, s->intervals,
                            &s->intervals, nullptr));
  PetscOptionsEnd();
  PetscCall(RefuseOptions({"-burgers_lengths"}, "give -length, the side of the domain"));
  if (!series_set) PetscCall(RefuseOptions({"-series_intervals"}, "it is for -series"));
  if (s->file[0] && strcmp(s->initial, "file")) // -initial file -initial_file u.txt says the same twice
    PetscCall(RefuseOptions({"-initial"}, "-initial_file gives the first state"));
  PetscCheck(s->file[0] || strcmp(s->initial, "file"), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-initial file needs -initial_file <name>");
  PetscCheck(s->dim == 1 || s->dim == 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dim %" PetscInt_FMT " is not possible; use 1 or 2", s->dim);
  PetscCheck(s->n > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT " is not possible; use 1 cell or more", s->n);
  PetscCheck(s->length > 0 && std::isfinite(s->length), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-length is %g; it must be finite and above 0", (double)s->length);
  PetscCheck(s->time > 0 && std::isfinite(s->time), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-time is %g; it must be finite and above 0", (double)s->time);
  for (const char *key : {"-da_grid_x", "-da_grid_y"}) {
    PetscCall(PetscOptionsHasName(nullptr, nullptr, key, &grid_set));
    PetscCheck(!n_set || !grid_set, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "-n and %s both set the number of cells; leave one of them out", key);
  }
  if (s->file[0]) {
    PetscInt size;
    PetscCall(ReadNumbers(s->file, &s->numbers));
    PetscCall(VecGetSize(s->numbers, &size));
    if (!n_set) s->n = s->dim == 1 ? size : PetscMax(1, (PetscInt)std::lround(std::sqrt((double)size / 2)));
    PetscCall(PetscStrncpy(s->initial, "file", sizeof(s->initial)));
  }
  // only the sine is periodic
  s->usual_bc = strcmp(s->initial, "sine") && s->dim == 1 ? "outflow" : "periodic";
  PetscCall(SetDefault("-burgers_bc", s->usual_bc.c_str()));
  PetscCall(SetDefault("-burgers_reconstruct", "weno5"));
  PetscCall(GetString("-burgers_bc", "", &s->bc));
  PetscCall(GetString("-burgers_flux", "godunov", &s->flux));
  PetscCall(GetString("-burgers_reconstruct", "", &s->reconstruction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateGrid(const Settings &s, DM *da, PetscReal first[2], PetscReal h[2]) {
  const DMBoundaryType ends = s.bc == "periodic" ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  PetscInt             cells[2];

  PetscFunctionBegin;
  if (s.dim == 1)
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, ends, s.n, 1, 1, nullptr, da));
  else
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, ends, ends, DMDA_STENCIL_STAR, s.n, s.n, PETSC_DECIDE, PETSC_DECIDE, 2, 1,
                           nullptr, nullptr, da));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  if (s.dim == 2) PetscCall(DMDASetFieldName(*da, 0, "u"));
  if (s.dim == 2) PetscCall(DMDASetFieldName(*da, 1, "v"));
  PetscCall(DMDAGetInfo(*da, nullptr, &cells[0], &cells[1], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr, nullptr, nullptr));
  for (int a = 0; a < 2; a++) {
    h[a] = s.length / PetscMax(cells[a], 1);
    first[a] = h[a] / 2;
  }
  PetscCall(GridSetCoordinates(*da, first, h)); // for viewers
  PetscFunctionReturn(PETSC_SUCCESS);
}

// burgers-sine-godunov-weno5-ssp.png, say.
static PetscErrorCode GetPictureName(const Settings &s, const char type[], std::string *file) {
  std::string name = std::string("burgers-") + (s.dim == 2 ? "2d-" : "") + s.initial + "-" + s.flux + "-" +
                     s.reconstruction + "-" + type;

  PetscFunctionBegin;
  if (s.bc != s.usual_bc) name += "-" + s.bc;
  PetscCall(PictureGetFile(name,
                           {"-initial_file", "-n", "-da_grid_x", "-da_grid_y", "-length", "-time", "-burgers_viscosity",
                            "-burgers_inflow", "-burgers_speed", "-burgers_fused_scheme", "-ts_max_time",
                            "-ts_max_steps", "-ts_dt", "-ts_time_step"},
                           file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunExample() {
  Settings                    settings;
  DM                          da;
  TS                          ts;
  Vec                         u;
  PetscInt                    steps;
  PetscReal                   first[2], h[2], bound, time, largest, smallest;
  PetscBool                   is_fused;
  PetscLogDouble              begin, end;
  TSType                      type;
  Film                        film;
  Series                      series;
  std::vector<picture::Panel> panels;
  std::string                 file;
  PetscMPIInt                 rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(GetSettings(&settings));
  PetscCall(CreateGrid(settings, &da, first, h));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(PetscObjectSetName((PetscObject)u, "u"));
  if (settings.numbers) {
    PetscCall(SetStateFromNumbers(da, settings.file, settings.numbers, u));
    PetscCall(VecDestroy(&settings.numbers));
  } else {
    PetscCall(SetInitialState(da, settings.initial, u));
  }

  const PetscReal lengths[2] = {settings.length, settings.length};
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(TSSetBurgers(ts));
  PetscCall(TSBurgersSetLengths(ts, settings.dim, lengths));
  PetscCall(TSSetType(ts, TSSSP));
  PetscCall(TSSSPSetType(ts, TSSSPRKS3));
  PetscCall(TSSSPSetNumStages(ts, 4));
  PetscCall(TSBurgersGetTimeStepBound(ts, u, &bound));
  PetscCall(TSSetTimeStep(ts, PetscMin(0.6 * bound, settings.time)));
  PetscCall(TSSetMaxTime(ts, settings.time));
  PetscCall(TSSetMaxSteps(ts, PETSC_MAX_INT));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSBURGERSFUSED, &is_fused));
  if (!is_fused)
    PetscCall(RefuseOptions({"-burgers_fused_scheme", "-burgers_fused_steps"}, "it is for -ts_type burgersfused"));
  PetscCall(TSGetType(ts, &type));
  PetscCall(TSGetMaxTime(ts, &time));

  PetscCall(GetPictureName(settings, type, &file));
  film = {first[0], h[0], time, 400, {}, {}};
  if (!file.empty() && settings.dim == 1) PetscCall(TSMonitorSet(ts, Record, &film, nullptr));
  if (settings.series[0]) {
    PetscCall(SeriesCreate(settings.series, settings.intervals, time, &series));
    PetscCall(TSMonitorSet(ts, SeriesMonitor, &series, nullptr));
  }
  PetscCall(PetscTime(&begin));
  PetscCall(TSSolve(ts, u));
  PetscCall(PetscTime(&end));

  PetscCall(TSGetStepNumber(ts, &steps));
  PetscCall(TSGetTime(ts, &time));
  PetscCall(VecMax(u, nullptr, &largest));
  PetscCall(VecMin(u, nullptr, &smallest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d steps of -ts_type %s to t = %g in %.3g s; u from %g to %g\n", (int)steps,
                        type, (double)time, end - begin, (double)smallest, (double)largest));
  PetscCall(SeriesDestroy(&series));
  std::string title = "Burgers' equation, " + InWords(settings.flux) + ", " + InWords(settings.reconstruction);
  if (!file.empty() && settings.dim == 1 && rank == 0) panels = DrawFilm(film, settings.length);
  if (!file.empty() && settings.dim == 2) {
    panels.resize(2);
    for (PetscInt c = 0; c < 2; c++) {
      PetscCall(PictureSetField(da, u, first, h, &panels[c], c));
      panels[c].value_name = c ? "v" : "u";
      panels[c].x = panels[c].y = {0, (double)settings.length};
      panels[c].height = panels[c].width;
    }
    title += ", t = " + picture::label(time);
  }
  PetscCall(PictureWrite(da, u, panels, 2, title, file));
  PetscCall(VecDestroy(&u));
  PetscCall(TSDestroy(&ts));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscBool deprecated = PETSC_FALSE, preset, known = PETSC_TRUE;
  char      name[64] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-burgers_reproduce_seed", &deprecated, nullptr));
  if (deprecated)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "-burgers_reproduce_seed is deprecated: use -preset central_doubled\n"));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-preset", name, sizeof(name), &preset));
  if (preset) PetscCall(PetscStrcmp(name, "central_doubled", &known));
  PetscCheck(known, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-preset %s is unknown; use central_doubled", name);
  if (preset || deprecated)
    PetscCall(RunCentralDoubled());
  else
    PetscCall(RunExample());
  PetscCall(PetscFinalize());
  return 0;
}
