#pragma once
// Lists of entries for MatSetPreallocationCOO() and MatSetValuesCOO().

#include "support.hpp"

namespace tests {

enum class Listing {
  rows,     // of the owned points, each entry once
  scattered // of any points, each entry twice, with some to be ignored between them
};

struct Entries {
  std::vector<PetscInt>    rows, columns;
  std::vector<PetscScalar> values;

  PetscCount count() const { return (PetscCount)rows.size(); }
};

// Sums of the values are exact in any order.
Entries list_entries(DM da, const Fill &fill, Listing listing);
// By local indices: of all rows of local points, the ghosts' among them.
Entries local_entries(DM da);
void    preallocate(Mat A, const Entries &entries);
void    set_one_by_one(Mat A, const Entries &entries, InsertMode mode); // and assemble

Vector device_copy(const std::vector<PetscScalar> &values);
// MatSetValuesCOO() with an array on the GPU, or on the host.
void set_coo_values(Mat A, const Entries &entries, InsertMode mode, bool on_device);

} // namespace tests
