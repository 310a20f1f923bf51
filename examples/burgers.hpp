#pragma once
// What burgers.cpp needs to start from a state and to write states: burgers_states.cpp.

#include <petscdmda.h>
#include <petscts.h>

#include <string>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

// sine, step, rarefaction or nwave, by its averages over the cells (in 2-D by values at their centres).
PetscErrorCode SetInitialState(DM da, const std::string &name, Vec u);

// The numbers of a file in their order: a Vec that VecView() wrote to a binary viewer, or text with numbers between blanks,
// commas or line ends and comments from # or % on. All are finite.
PetscErrorCode ReadNumbers(const std::string &file, Vec *numbers);

// Numbers in the natural order of the cells (in 2-D u and v of a cell, x first) become the state u.
PetscErrorCode SetStateFromNumbers(DM da, const std::string &file, Vec numbers, Vec u);

// A series of states over time, for -series: name.vts or name.vtr gives files name-0000.vts, name-0001.vts and so on, and
// name.pvd with their times for ParaView; name.h5 gives one HDF5 file with the datasets u and time.
struct Series {
  std::string file;
  PetscReal   end;   // of the run [time]
  PetscInt    count; // of intervals between states
  PetscInt    written = 0;
  PetscViewer hdf5 = nullptr;
  std::string entries; // of name.pvd
};
PetscErrorCode SeriesCreate(const std::string &file, PetscInt count, PetscReal end, Series *series);
PetscErrorCode SeriesMonitor(TS ts, PetscInt step, PetscReal time, Vec u, void *series);
PetscErrorCode SeriesDestroy(Series *series);
