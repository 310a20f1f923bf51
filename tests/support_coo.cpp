// Entries of a matrix on a DMDA as coordinate lists.

#include "coo.hpp"

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

} // namespace tests
