#pragma once
// Files that are made once and kept in a folder, under a hash of their input.

#include <functional>
#include <string>

#include "device/petsc.hpp"

namespace shellac {

// The file that belongs to the first rank's `content`, on which alone it depends; extension: of its name. If it is not in the
// cache folder, the first rank calls make(folder, path), which returns an error or an empty string. *path: that of this rank;
// ranks that do not see the first rank's file get a copy. Collective. Errors, on all ranks: that of make(); a folder that cannot be
// written. given: the folder; empty: from the environment.
PetscErrorCode GetCachedFile(MPI_Comm comm, const char given[], const std::string &content, const char extension[],
                             const std::function<std::string(const std::string &folder, const std::string &path)> &make,
                             std::string *path);

// For those that make files:
bool        make_folder(const std::string &path);  // and those above it; whether it can be written
std::string unwritable(const std::string &folder); // the message about one that cannot
std::string part_of_file(const std::string &path); // a name for a file that becomes `path` when it is whole

} // namespace shellac
