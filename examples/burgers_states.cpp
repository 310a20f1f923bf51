// The states that burgers.cpp starts from, and the series of states that it writes.

#include "burgers.hpp"
#include "picture.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

// ---- first states ------------------------------------------------------------------------------------------------------

PetscErrorCode SetInitialState(DM da, const std::string &name, Vec u) {
  const PetscReal two_pi = 2 * std::acos((PetscReal)-1);
  PetscInt        start[2], size[2], N, M, dim;
  PetscScalar    *array;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, &dim, &N, &M, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], nullptr, &size[0], &size[1], nullptr));
  if (dim == 1) start[1] = 0, size[1] = 1;
  const bool sine = name == "sine", step = name == "step", rarefaction = name == "rarefaction";
  PetscCheck(sine || step || rarefaction || name == "nwave", PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-initial %s is unknown; use sine, step, rarefaction or nwave, or give -initial_file", name.c_str());
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

// On one rank; the error, or nothing.
static std::string ParseNumbers(std::ifstream &in, std::vector<double> *numbers) {
  std::string line;
  for (long number = 1; std::getline(in, line); number++) {
    const std::string where = "line " + std::to_string(number);
    line = line.substr(0, line.find_first_of("#%"));
    for (const char *at = line.c_str() + std::strspn(line.c_str(), " \t\r,"); *at; at += std::strspn(at, " \t\r,")) {
      char             *end;
      const double      value = std::strtod(at, &end);
      const std::string word(at, std::strcspn(at, " \t\r,"));
      if (end != at + word.size()) return where + ": '" + word.substr(0, 40) + "' is no number";
      if (!std::isfinite(value)) return where + ": " + word + " is not finite";
      numbers->push_back(value);
      at = end;
    }
  }
  return numbers->empty() ? "it has no numbers" : "";
}

PetscErrorCode ReadNumbers(const std::string &file, Vec *numbers) {
  char                message[256] = "", binary = 0;
  std::vector<double> values;
  PetscMPIInt         rank;
  PetscScalar        *array;
  PetscReal           sum;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    std::ifstream in(file);
    binary = in.peek() == 0; // PETSc's mark of a Vec begins so
    const std::string problem = !in ? "it cannot be read" : binary ? "" : ParseNumbers(in, &values);
    std::snprintf(message, sizeof(message), "%s", problem.c_str());
  }
  PetscCallMPI(MPI_Bcast(message, sizeof(message), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Bcast(&binary, 1, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_FILE_READ,
             "-initial_file %s: %s; it must be a text file of numbers or a Vec in PETSc's binary format", file.c_str(),
             message);
  PetscCall(VecCreate(PETSC_COMM_WORLD, numbers));
  PetscCall(VecSetType(*numbers, VECSTANDARD));
  if (binary) {
    PetscViewer viewer;
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(*numbers, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  } else {
    PetscCall(VecSetSizes(*numbers, (PetscInt)values.size(), PETSC_DETERMINE));
    PetscCall(VecGetArrayWrite(*numbers, &array));
    for (size_t i = 0; i < values.size(); i++) array[i] = (PetscReal)values[i];
    PetscCall(VecRestoreArrayWrite(*numbers, &array));
  }
  PetscCall(VecNorm(*numbers, NORM_1, &sum));
  PetscCheck(std::isfinite(sum), PETSC_COMM_WORLD, PETSC_ERR_FP, "-initial_file %s has a value that is not finite",
             file.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetStateFromNumbers(DM da, const std::string &file, Vec numbers, Vec u) {
  PetscInt   count, size, first, last;
  IS         owned;
  Vec        natural;
  VecScatter scatter;

  PetscFunctionBegin;
  PetscCall(VecGetSize(numbers, &count));
  PetscCall(VecGetSize(u, &size));
  PetscCheck(count == size, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "-initial_file %s has %" PetscInt_FMT " numbers, but the grid needs %" PetscInt_FMT
             "; without -n and -da_grid_x, the file sets the number of cells",
             file.c_str(), count, size);
  PetscCall(DMDACreateNaturalVector(da, &natural));
  PetscCall(VecGetOwnershipRange(natural, &first, &last));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, last - first, first, 1, &owned));
  PetscCall(VecScatterCreate(numbers, owned, natural, owned, &scatter));
  PetscCall(VecScatterBegin(scatter, numbers, natural, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, numbers, natural, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(DMDANaturalToGlobalBegin(da, natural, INSERT_VALUES, u));
  PetscCall(DMDANaturalToGlobalEnd(da, natural, INSERT_VALUES, u));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&owned));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- series of states ----------------------------------------------------------------------------------------------

#if defined(PETSC_HAVE_HDF5) // from petscviewerhdf5.h, which needs hdf5.h: not on the path of Debian's PETSc
PETSC_EXTERN PetscErrorCode PetscViewerHDF5Open(MPI_Comm, const char[], PetscFileMode, PetscViewer *);
PETSC_EXTERN PetscErrorCode PetscViewerHDF5PushTimestepping(PetscViewer);
PETSC_EXTERN PetscErrorCode PetscViewerHDF5SetTimestep(PetscViewer, PetscInt);
#endif

static std::string stem(const std::string &file) {
  return file.substr(0, file.rfind('.'));
}
static std::string ending(const std::string &file) {
  return file.rfind('.') == std::string::npos ? "" : file.substr(file.rfind('.'));
}

PetscErrorCode SeriesCreate(const std::string &file, PetscInt count, PetscReal end, Series *series) {
  PetscFunctionBegin;
  PetscCheck(ending(file) == ".vts" || ending(file) == ".vtr" || ending(file) == ".h5", PETSC_COMM_WORLD,
             PETSC_ERR_ARG_WRONG, "-series %s: the name must end in .vts, .vtr (VTK, for ParaView) or .h5 (HDF5)",
             file.c_str());
  PetscCheck(count > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-series_intervals %" PetscInt_FMT " is not possible; use 1 or more", count);
  PetscCall(CheckWritable("-series", file));
  series->file = file;
  series->count = count;
  series->end = end;
  if (ending(file) == ".h5") {
#if defined(PETSC_HAVE_HDF5)
    PetscCall(PetscViewerHDF5Open(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_WRITE, &series->hdf5));
    PetscCall(PetscViewerHDF5PushTimestepping(series->hdf5));
#else
    SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP, "-series %s: this PETSc was configured without HDF5; use %s.vts",
            file.c_str(), stem(file).c_str());
#endif
  } else {
    PetscCheck(!PetscDefined(USE_COMPLEX), PETSC_COMM_WORLD, PETSC_ERR_SUP,
               "-series %s: PETSc writes VTK files of real numbers only; use %s.h5", file.c_str(), stem(file).c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SeriesMonitor(TS, PetscInt step, PetscReal time, Vec u, void *context) {
  Series *series = (Series *)context;

  PetscFunctionBegin;
  // after equal intervals, as far as the steps of the run allow it
  const PetscReal next = series->end * (PetscReal)series->written / (PetscReal)series->count;
  if (step < 0 || (time < next * (1 - 1e-9) && time < series->end)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectSetName((PetscObject)u, "u"));
  if (series->hdf5) {
#if defined(PETSC_HAVE_HDF5)
    Vec         times; // one number: PETSc's viewer makes the axis of time steps
    PetscMPIInt rank;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, rank ? 0 : 1, 1, &times));
    PetscCall(PetscObjectSetName((PetscObject)times, "time"));
    PetscCall(VecSet(times, time));
    PetscCall(PetscViewerHDF5SetTimestep(series->hdf5, series->written));
    PetscCall(VecView(u, series->hdf5));
    PetscCall(VecView(times, series->hdf5));
    PetscCall(VecDestroy(&times));
#endif
  } else {
    PetscViewer viewer;
    char        number[16], entry[PETSC_MAX_PATH_LEN];
    std::snprintf(number, sizeof(number), "-%04d", (int)series->written);
    const std::string name = stem(series->file) + number + ending(series->file);
    PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name.c_str(), FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(u, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    std::snprintf(entry, sizeof(entry), "    <DataSet timestep=\"%.15g\" file=\"%s\"/>\n", (double)time,
                  name.substr(name.rfind('/') + 1).c_str());
    series->entries += entry;
  }
  series->written++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SeriesDestroy(Series *series) {
  const std::string pvd = stem(series->file) + ".pvd";

  PetscFunctionBegin;
  if (series->file.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (series->hdf5) {
    PetscCall(PetscViewerDestroy(&series->hdf5));
  } else {
    std::FILE *out;
    PetscCall(PetscFOpen(PETSC_COMM_WORLD, pvd.c_str(), "w", &out));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, out,
                           "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n"));
    // not by PetscFPrintf(), which has a limit for one text
    if (out) std::fputs(series->entries.c_str(), out);
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, out, "  </Collection>\n</VTKFile>\n"));
    PetscCall(PetscFClose(PETSC_COMM_WORLD, out));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "wrote %s with %" PetscInt_FMT " states\n",
                        series->hdf5 || ending(series->file) == ".h5" ? series->file.c_str() : pvd.c_str(),
                        series->written));
  PetscFunctionReturn(PETSC_SUCCESS);
}
