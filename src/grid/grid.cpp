#include "grid/axes.hpp"

#include <algorithm>

namespace shellac {

bool Grid::is_distributed_as(const Grid &other) const {
  return std::equal(first, first + 3, other.first);
}

Patch Grid::owned_patch() const {
  Patch patch;
  for (int a = 0; a < 3; a++) {
    patch.N[a] = N[a];
    patch.start[a] = start[a];
    patch.size[a] = size[a];
    patch.periodic[a] = boundary[a] == DM_BOUNDARY_PERIODIC;
    for (int e = 0; e < 2; e++) patch.neighbour[a][e] = a < dim && neighbour(Direction::at(Direction::face(a, e))) >= 0;
  }
  patch.width = width;
  patch.dof = dof;
  return patch;
}

PetscMPIInt Grid::neighbour(const Direction &to) const {
  PetscMPIInt at[3];
  for (int a = 0; a < 3; a++) {
    at[a] = place[a] + to.d[a];
    if (at[a] >= 0 && at[a] < ranks[a]) continue;
    if (!periodic(a)) return -1;
    at[a] = at[a] < 0 ? ranks[a] - 1 : 0;
  }
  return rank_at(at);
}

PetscInt Grid::global_row(const PetscInt p[3]) const {
  PetscMPIInt at[3];
  PetscInt    row = 0;
  for (int a = 2; a >= 0; a--) {
    if (p[a] >= start[a] && p[a] < start[a] + size[a]) { // this rank's, as most are
      at[a] = place[a];
      row = row * size[a] + p[a] - start[a];
      continue;
    }
    at[a] = (PetscMPIInt)(std::upper_bound(first[a].begin(), first[a].end(), p[a]) - first[a].begin()) - 1;
    row = row * (first[a][at[a] + 1] - first[a][at[a]]) + p[a] - first[a][at[a]];
  }
  return offset[rank_at(at)] + row * dof;
}

PetscMPIInt Grid::find_row(PetscInt row, PetscInt p[3], PetscInt *c) const {
  const PetscMPIInt rank = (PetscMPIInt)(std::upper_bound(offset.begin(), offset.end(), row) - offset.begin()) - 1;
  const PetscMPIInt at[3] = {rank % ranks[0], rank / ranks[0] % ranks[1], rank / ranks[0] / ranks[1]};
  PetscInt          point = (row - offset[rank]) / dof;
  *c = (row - offset[rank]) % dof;
  for (int a = 0; a < 3; a++) {
    const PetscInt points = first[a][at[a] + 1] - first[a][at[a]];
    p[a] = first[a][at[a]] + point % points;
    point /= points;
  }
  return rank;
}

PetscErrorCode GridCreate(DM dm, Grid *grid) {
  PetscBool       is_da;
  PetscInt        dim, ranks[3], corner[3], size[3];
  const PetscInt *widths[3];
  DMDAStencilType stencil;
  DMType          type;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
  PetscCall(DMGetType(dm, &type));
  PetscCheck(is_da, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG,
             "the operator needs the grid of a DMDA; its DM is of type %s; set a DMDA with MatSetDM()", type);
  PetscCall(PetscObjectGetComm((PetscObject)dm, &grid->comm));
  PetscCall(DMDAGetInfo(dm, &dim, &grid->N[0], &grid->N[1], &grid->N[2], &ranks[0], &ranks[1], &ranks[2], &grid->dof,
                        &grid->width, &grid->boundary[0], &grid->boundary[1], &grid->boundary[2], &stencil));
  grid->box = stencil == DMDA_STENCIL_BOX;
  PetscCall(DMDAGetCorners(dm, &corner[0], &corner[1], &corner[2], &size[0], &size[1], &size[2]));
  PetscCall(DMDAGetOwnershipRanges(dm, &widths[0], &widths[1], &widths[2]));
  PetscCheck(widths[0], grid->comm, PETSC_ERR_ARG_WRONGSTATE,
             "the DMDA has not been set up; call DMSetUp() before making an operator on it");
  grid->dim = (int)dim;
  for (int a = 0; a < 3; a++) {
    if (a >= grid->dim) grid->boundary[a] = DM_BOUNDARY_NONE, grid->N[a] = 1;
    PetscCheck(grid->boundary[a] != DM_BOUNDARY_TWIST, grid->comm, PETSC_ERR_SUP,
               "the DMDA's boundary along axis %c is DM_BOUNDARY_TWIST, which the operator does not serve; use none, "
               "ghosted, mirror or periodic",
               "xyz"[a]);
    grid->ranks[a] = a < grid->dim ? (PetscMPIInt)ranks[a] : 1;
    grid->start[a] = a < grid->dim ? corner[a] : 0;
    grid->size[a] = a < grid->dim ? size[a] : 1;
    grid->first[a].assign(1, 0);
    for (PetscMPIInt r = 0; r < grid->ranks[a]; r++)
      grid->first[a].push_back(grid->first[a].back() + (a < grid->dim ? widths[a][r] : 1));
    grid->place[a] = (PetscMPIInt)(std::upper_bound(grid->first[a].begin(), grid->first[a].end(), grid->start[a]) -
                                   grid->first[a].begin()) -
                     1;
  }
  grid->offset.assign(1, 0);
  for (PetscMPIInt z = 0; z < grid->ranks[2]; z++)
    for (PetscMPIInt y = 0; y < grid->ranks[1]; y++)
      for (PetscMPIInt x = 0; x < grid->ranks[0]; x++)
        grid->offset.push_back(grid->offset.back() + grid->dof * (grid->first[0][x + 1] - grid->first[0][x]) *
                                                         (grid->first[1][y + 1] - grid->first[1][y]) *
                                                         (grid->first[2][z + 1] - grid->first[2][z]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridCheckVector(const Grid &grid, Vec v, const char *name, PetscInt values) {
  const PetscInt *first; // value of each rank
  PetscMPIInt     ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &ranks));
  PetscCall(VecGetOwnershipRanges(v, &first));
  const size_t counts = (size_t)ranks + 1;
  const bool   of_dmda = !values || values == grid.dof;
  if (of_dmda && counts == grid.offset.size() && std::equal(grid.offset.begin(), grid.offset.end(), first))
    PetscFunctionReturn(PETSC_SUCCESS);
  bool same = !of_dmda && counts == grid.offset.size();
  for (size_t r = 0; same && r < counts; r++) same = first[r] == grid.offset[r] / grid.dof * values;
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  const std::string with = of_dmda ? "" : " with dof = " + std::to_string(values),
                    maker = of_dmda ? "DMCreateGlobalVector() or MatCreateVecs()"
                                    : "DMCreateGlobalVector() of a DMDA that DMDACreateCompatibleDMDA() makes" + with;
  PetscCheck(false, grid.comm, PETSC_ERR_ARG_SIZ,
             "the %s, of %" PetscInt_FMT " values, is not one of the DMDA's vectors%s, which have %" PetscInt_FMT
             ", in the DMDA's distribution over the ranks; make it with %s",
             name, first[ranks], with.c_str(), of_dmda ? grid.offset.back() : grid.offset.back() / grid.dof * values,
             maker.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string text_of(const PetscInt i[], int n) {
  std::string text = "(" + std::to_string(i[0]);
  for (int a = 1; a < n; a++) text += ", " + std::to_string(i[a]);
  return text + ")";
}

// product: the coordinates are one of ascending axes.
static PetscErrorCode read_axes(const Grid &grid, Vec coordinates, GridAxis axes[3], bool *product) {
  const PetscScalar *array;
  bool               aligned = true; // no coordinate deviates from its axis', or is NaN

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(coordinates, &array));
  const size_t points = (size_t)grid.size[0] * grid.size[1] * grid.size[2];
  const auto   index = [&](size_t p, int a) { // along an axis
    const size_t nx = (size_t)grid.size[0], ny = (size_t)grid.size[1], at[3] = {p % nx, p / nx % ny, p / nx / ny};
    return (size_t)grid.start[a] + at[a];
  };
  *product = true;
  for (int a = 0; a < 3; a++) {
    std::vector<PetscReal> &x = axes[a].x;
    axes[a].uniform = true;
    x.clear();
    if (a >= grid.dim) continue;
    x.assign((size_t)grid.N[a], PETSC_MAX_REAL);
    for (size_t p = 0; p < points; p++) {
      PetscReal &to = x[index(p, a)];
      to = PetscMin(to, PetscRealPart(array[p * (size_t)grid.dim + (size_t)a]));
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, x.data(), (PetscMPIInt)grid.N[a], MPIU_REAL, MPIU_MIN, grid.comm));
    if (grid.N[a] < 2) continue;
    const PetscReal h = (x.back() - x[0]) / (PetscReal)(grid.N[a] - 1);
    // the coordinates' own rounding, far from the origin or in single precision
    const PetscReal rounding = 8 * PETSC_MACHINE_EPSILON * PetscMax(PetscAbsReal(x[0]), PetscAbsReal(x.back()));
    PetscReal       least = h; // spacing
    for (size_t i = 0; i < x.size(); i++) {
      if (!(PetscAbsReal(x[i] - (x[0] + h * (PetscReal)i)) <= 1e-6 * h + rounding)) axes[a].uniform = false;
      if (i && !(x[i] - x[i - 1] >= least)) least = x[i] - x[i - 1];
    }
    if (!(least > 0)) *product = false;
    for (size_t p = 0; p < points; p++) {
      const PetscReal off = PetscAbsReal(PetscRealPart(array[p * (size_t)grid.dim + (size_t)a]) - x[index(p, a)]) /
                            (1e-6 * least + rounding);
      aligned = aligned && off <= 1;
    }
  }
  PetscCall(VecRestoreArrayRead(coordinates, &array));
  PetscInt wrong = !*product || !aligned;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_MAX, grid.comm));
  *product = !wrong;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridGetAxesFromCoordinates(const Grid &grid, DM dm, GridAxis axes[3]) {
  Vec  coordinates;
  bool product;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinates(dm, &coordinates));
  PetscCheck(coordinates, grid.comm, PETSC_ERR_ARG_WRONGSTATE,
             "the DM has no coordinates; call DMDASetUniformCoordinates() or DMSetCoordinates()");
  PetscCall(read_axes(grid, coordinates, axes, &product));
  PetscCheck(product, grid.comm, PETSC_ERR_ARG_WRONG,
             "the DM's coordinates are not the product of axes: the x of a point must depend on its first index alone "
             "and ascend with it, and so on; set such coordinates, or state the equation in those of a uniform grid");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridGetSpacingFromCoordinates(const Grid &grid, DM dm, PetscReal h[3], PetscReal origin[3]) {
  Vec      coordinates;
  GridAxis axes[3];
  bool     uniform;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinates(dm, &coordinates));
  if (!coordinates) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(read_axes(grid, coordinates, axes, &uniform));
  for (int a = 0; a < grid.dim; a++) {
    if (!PetscIsNanReal(axes[a].x[0]))
      origin[a] = axes[a].x[0]; // DMDASetUniformCoordinates() gives NaN to a single point
    if (grid.N[a] < 2) continue;
    uniform = uniform && axes[a].uniform;
    h[a] = (axes[a].x.back() - axes[a].x[0]) / (PetscReal)(grid.N[a] - 1);
  }
  PetscCheck(uniform, grid.comm, PETSC_ERR_ARG_WRONG,
             "the DM's coordinates are not a uniform grid, ascending along each axis; use "
             "DMDASetUniformCoordinates(), or assemble a matrix for a stretched grid");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
