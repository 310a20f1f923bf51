#pragma once
// Fields and states from files.

#include <string>
#include <vector>

#include <petscdm.h>

namespace shellac {

// The values of a vector of a DMDA from the file that an option names; names: of the values at a point, by which arrays
// of a file are found. Collective.
PetscErrorCode load_vector(DM da, const std::string &option, const std::string &file,
                           const std::vector<std::string> &names, Vec v);

} // namespace shellac
