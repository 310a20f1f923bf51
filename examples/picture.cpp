#include "picture.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace picture {

static bool ends_with(const std::string &file, const std::vector<std::string> &endings) {
  for (const std::string &ending : endings)
    if (file.size() > ending.size() && !file.compare(file.size() - ending.size(), ending.size(), ending)) return true;
  return false;
}

// A text as the name of a file. Where signs of it, a path's or a formula's, cannot be in one, or it is too long, a number
// tells texts apart that look alike then (G. Fowler, L. Noll, K.-P. Vo: FNV-1a).
static std::string file_name(const std::string &text) {
  const auto  is_odd = [](unsigned char c) { return !std::isalnum(c) && !std::strchr(".,+-_", c); };
  std::string name = text.substr(0, 100);
  std::replace_if(name.begin(), name.end(), is_odd, '_');
  if (name == text) return name;
  unsigned hash = 2166136261u;
  for (unsigned char c : text) hash = (hash ^ c) * 16777619u;
  char number[16];
  std::snprintf(number, sizeof(number), "-%08x", hash);
  return name + number;
}

bool is_vtk(const std::string &file) {
  return ends_with(file, {".vts", ".vtr"});
}

} // namespace picture

using namespace picture;

PetscErrorCode CheckWritable(const char option[], const std::string &file) {
  PetscMPIInt rank, writable = 1;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) { // an existing file stays as it is
    std::FILE *present = std::fopen(file.c_str(), "rb"), *opened = std::fopen(file.c_str(), "ab");
    writable = opened && std::fclose(opened) == 0;
    if (present)
      std::fclose(present);
    else if (opened)
      std::remove(file.c_str());
  }
  PetscCallMPI(MPI_Bcast(&writable, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(writable, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN,
             "cannot write %s %s; give a file in a folder that exists and can be written", option, file.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PictureGetFile(const std::string &name, const std::vector<std::string> &options, std::string *file) {
  char      given[PETSC_MAX_PATH_LEN];
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-picture", given, sizeof(given), &set));
  *file = set ? given : name;
  for (size_t k = 0; k < options.size() && !set; k++) {
    char      value[PETSC_MAX_PATH_LEN];
    PetscBool has;
    PetscCall(PetscOptionsGetString(nullptr, nullptr, options[k].c_str(), value, sizeof(value), &has));
    if (has) *file += "-" + options[k].substr(options[k].find_last_of("-_") + 1) + value;
  }
  if (!set) *file = file_name(*file) + ".png";
  if (*file == "none") file->clear();
  if (file->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(is_vtk(*file) || ends_with(*file, {".png", ".svg", ".pdf"}), PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "-picture %s: the name must end in .png, .svg or .pdf, or, for the values alone, in .vts or .vtr (VTK)",
             file->c_str());
#if !defined(PICTURE_CAIRO)
  if (!is_vtk(*file)) {
    const std::string vtk = file->substr(0, file->size() - 4) + ".vts";
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s needs Cairo (Debian: libcairo2-dev) when the examples are built; %s\n",
                          file->c_str(), PetscDefined(USE_COMPLEX) ? "no picture" : ("writes " + vtk).c_str()));
    *file = PetscDefined(USE_COMPLEX) ? "" : vtk;
    if (file->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCheck(!PetscDefined(USE_COMPLEX) || !is_vtk(*file), PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "-picture %s: PETSc writes VTK files of real numbers only; use .png, .svg or .pdf", file->c_str());
  PetscCall(CheckWritable("-picture", *file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridSetCoordinates(DM da, const PetscReal first[], const PetscReal h[]) {
  DM           nodes;
  Vec          x;
  PetscScalar *values;
  PetscInt     dim, start[3], size[3], index[3], at = 0;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(da, &dim));
  PetscCall(DMGetCoordinateDM(da, &nodes));
  PetscCall(DMCreateGlobalVector(nodes, &x));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  PetscCall(VecGetArrayWrite(x, &values));
  for (index[2] = start[2]; index[2] < start[2] + size[2]; index[2]++)
    for (index[1] = start[1]; index[1] < start[1] + size[1]; index[1]++)
      for (index[0] = start[0]; index[0] < start[0] + size[0]; index[0]++)
        for (PetscInt a = 0; a < dim; a++) values[at++] = first[a] + index[a] * h[a];
  PetscCall(VecRestoreArrayWrite(x, &values));
  PetscCall(DMSetCoordinates(da, x));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PictureSetField(DM da, Vec u, const PetscReal first[], const PetscReal h[], Panel *panel,
                               PetscInt component) {
  PetscInt           dim, dof, N[3], start[3], size[3], axes[2] = {0, 1}, group[2], cells[2], index[3], at = component;
  const PetscScalar *values;
  PetscMPIInt        rank;
  MPI_Comm           comm;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectGetComm((PetscObject)da, &comm));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(DMDAGetInfo(da, &dim, &N[0], &N[1], &N[2], nullptr, nullptr, nullptr, &dof, nullptr, nullptr, nullptr,
                        nullptr, nullptr));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  if (dim == 3 && N[0] == 1) axes[0] = 1;
  if (dim == 3 && (N[0] == 1 || N[1] == 1)) axes[1] = 2;
  const PetscInt other = 3 - axes[0] - axes[1], most = dim == 1 ? 4096 : 800;
  for (int a = 0; a < 2; a++) {
    group[a] = (N[axes[a]] + most - 1) / most; // nodes to a cell of the picture, whose value is their mean
    cells[a] = (N[axes[a]] + group[a] - 1) / group[a];
  }

  // sums, then counts
  std::vector<double> sums((size_t)2 * cells[0] * cells[1], 0);
  const size_t        count = sums.size() / 2;
  PetscCall(VecGetArrayRead(u, &values));
  for (index[2] = start[2]; index[2] < start[2] + size[2]; index[2]++)
    for (index[1] = start[1]; index[1] < start[1] + size[1]; index[1]++)
      for (index[0] = start[0]; index[0] < start[0] + size[0]; index[0]++, at += dof) {
        if (index[other] != N[other] / 2) continue;
        const size_t to = index[axes[0]] / group[0] + (size_t)cells[0] * (index[axes[1]] / group[1]);
        sums[to] += PetscRealPart(values[at]);
        sums[count + to] += 1;
      }
  PetscCall(VecRestoreArrayRead(u, &values));
  PetscCallMPI(MPI_Reduce(rank ? sums.data() : MPI_IN_PLACE, rank ? nullptr : sums.data(), (PetscMPIInt)sums.size(),
                          MPI_DOUBLE, MPI_SUM, 0, comm));
  for (size_t k = 0; k < count; k++) sums[k] /= sums[count + k];
  sums.resize(count);

  Range edges[2];
  for (int a = 0; a < 2 && a < dim; a++) {
    const double step = h[axes[a]], low = first[axes[a]] - step / 2;
    edges[a] = {low, low + step * (double)(cells[a] * group[a])};
  }
  if (dim == 1) {
    Curve curve;
    for (PetscInt i = 0; i < cells[0]; i++) curve.x.push_back(edges[0].low + (i + 0.5) * group[0] * h[0]);
    curve.y = std::move(sums);
    panel->curves.push_back(std::move(curve));
  } else {
    panel->field = {(int)cells[0], (int)cells[1], std::move(sums), edges[0], edges[1]};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PictureWrite(DM da, Vec u, const std::vector<Panel> &panels, int columns, const std::string &title,
                            const std::string &file) {
  PetscMPIInt rank, written = 1;
  MPI_Comm    comm;

  PetscFunctionBeginUser;
  if (file.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetComm((PetscObject)da, &comm));
  if (is_vtk(file)) {
    PetscViewer viewer;
    Vec         copy; // that knows its grid
    const char *name;
    PetscCall(DMCreateGlobalVector(da, &copy));
    PetscCall(PetscObjectGetName((PetscObject)u, &name));
    PetscCall(PetscObjectSetName((PetscObject)copy, name));
    PetscCall(VecCopy(u, copy));
    PetscCall(PetscViewerVTKOpen(comm, file.c_str(), FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(copy, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(VecDestroy(&copy));
  } else {
    PetscCallMPI(MPI_Comm_rank(comm, &rank));
    if (rank == 0) written = draw(panels, columns, title, file);
    PetscCallMPI(MPI_Bcast(&written, 1, MPI_INT, 0, comm));
    PetscCheck(written, comm, PETSC_ERR_FILE_WRITE, "cannot write the picture %s", file.c_str());
  }
  PetscCall(PetscPrintf(comm, "wrote %s\n", file.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
