// Entries of a matrix on a DMDA as coordinate lists.

#include "coo.hpp"

#include "catch.hpp"

#include <algorithm>

namespace tests {

// False where the point is not in the domain.
static bool point_at(const Lattice &l, const PetscInt p[3], const Point &arm, PetscInt q[3]) {
  for (int a = 0; a < 3; a++) {
    q[a] = p[a] + arm[a];
    if (l.ends[a] == DM_BOUNDARY_PERIODIC) q[a] = ((q[a] % l.N[a]) + l.N[a]) % l.N[a];
    if (l.ends[a] == DM_BOUNDARY_MIRROR) q[a] = q[a] < 0 ? -q[a] : q[a] >= l.N[a] ? 2 * (l.N[a] - 1) - q[a] : q[a];
    if (q[a] < 0 || q[a] >= l.N[a]) return false;
  }
  return true;
}

static PetscScalar rounded(PetscScalar value) {
  const auto to_grid = [](PetscReal x) { return PetscFloorReal(x * 1024) / 1024; };
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(to_grid(PetscRealPart(value)), to_grid(PetscImaginaryPart(value)));
#else
  return to_grid(value);
#endif
}

Entries list_entries(DM da, const Fill &fill, Listing listing) {
  const Lattice            l = lattice_of(da);
  const bool               scattered = listing == Listing::scattered;
  std::vector<PetscScalar> block((size_t)(l.dof * l.dof));
  Entries                  list;
  AO                       ao;
  int                      rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const auto add_row = [&](const PetscInt p[3]) {
    for (const Point &arm : l.arms()) {
      PetscInt q[3];
      if (!point_at(l, p, arm, q)) continue;
      fill(p, arm.data(), block.data());
      for (PetscInt r = 0; r < l.dof; r++)
        for (PetscInt c = 0; c < l.dof; c++) {
          list.rows.push_back((PetscInt)l.natural(p) * l.dof + r);
          list.columns.push_back((PetscInt)l.natural(q) * l.dof + c);
          list.values.push_back(rounded(block[(size_t)(r * l.dof + c)]));
        }
    }
    if (!scattered) return;
    list.rows.push_back(l.natural(p) % 2 ? -1 : 0);
    list.columns.push_back(l.natural(p) % 2 ? 0 : -1);
    list.values.push_back(1000);
  };
  if (!scattered)
    for_each_owned(da, add_row);
  else {
    PetscInt p[3];
    for (int half = 0; half < 2; half++)
      for (p[2] = 0; p[2] < l.N[2]; p[2]++)
        for (p[1] = 0; p[1] < l.N[1]; p[1]++)
          for (p[0] = 0; p[0] < l.N[0]; p[0]++)
            if (((int)l.natural(p) + half) % rank_count() == rank) add_row(p);
    for (PetscScalar &value : list.values) value *= 0.5;
  }
  OK(DMDAGetAO(da, &ao));
  OK(AOApplicationToPetsc(ao, (PetscInt)list.rows.size(), list.rows.data()));
  OK(AOApplicationToPetsc(ao, (PetscInt)list.columns.size(), list.columns.data()));
  return list;
}

Entries local_entries(DM da) {
  const Lattice l = lattice_of(da);
  Entries       list;
  PetscInt      start[3], size[3], p[3] = {0, 0, 0};
  OK(DMDAGetGhostCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  for (p[1] = start[1]; p[1] < start[1] + size[1]; p[1]++)
    for (p[0] = start[0]; p[0] < start[0] + size[0]; p[0]++)
      for (const Point &arm : l.arms()) {
        const PetscInt q[2] = {p[0] + arm[0], p[1] + arm[1]};
        if (q[0] < start[0] || q[0] >= start[0] + size[0] || q[1] < start[1] || q[1] >= start[1] + size[1]) continue;
        const PetscInt row = (p[1] - start[1]) * size[0] + p[0] - start[0];
        const PetscInt column = (q[1] - start[1]) * size[0] + q[0] - start[0];
        for (PetscInt r = 0; r < l.dof; r++)
          for (PetscInt c = 0; c < l.dof; c++) {
            list.rows.push_back(row * l.dof + r);
            list.columns.push_back(list.columns.size() % 7 ? column * l.dof + c : -1);
            list.values.push_back(random_value(list.rows.size(), 3));
          }
      }
  return list;
}

void preallocate(Mat A, const Entries &entries) {
  std::vector<PetscInt> rows = entries.rows, columns = entries.columns; // which an AIJ changes
  OK(MatSetPreallocationCOO(A, entries.count(), rows.data(), columns.data()));
}

void set_one_by_one(Mat A, const Entries &entries, InsertMode mode) {
  if (mode == INSERT_VALUES) OK(MatZeroEntries(A));
  for (size_t n = 0; n < entries.rows.size(); n++)
    OK(MatSetValue(A, entries.rows[n], entries.columns[n], entries.values[n], ADD_VALUES));
  assemble(A);
}

Vector device_copy(const std::vector<PetscScalar> &values) {
  Vector       copy;
  PetscScalar *array;
  OK(VecCreate(PETSC_COMM_SELF, &copy));
  OK(VecSetSizes(copy, (PetscInt)values.size(), PETSC_DETERMINE));
  OK(VecSetType(copy, VECSEQCUDA));
  OK(VecGetArrayWrite(copy, &array));
  std::copy(values.begin(), values.end(), array);
  OK(VecRestoreArrayWrite(copy, &array));
  return copy;
}

void set_coo_values(Mat A, const Entries &entries, InsertMode mode, bool on_device) {
  const PetscScalar *array;
  PetscMemType       memory;
  if (!on_device) {
    OK(MatSetValuesCOO(A, entries.values.data(), mode));
    return;
  }
  Vector copy = device_copy(entries.values);
  OK(VecGetArrayReadAndMemType(copy, &array, &memory));
  CHECK((entries.values.empty() || PetscMemTypeDevice(memory)));
  OK(MatSetValuesCOO(A, array, mode));
  OK(VecRestoreArrayReadAndMemType(copy, &array));
}

} // namespace tests
