#pragma once
// Files that are made once and kept in a folder, by a hash of what they are made of.

#include <functional>
#include <string>

#include "device/petsc.hpp"

namespace shellac {

// The file made of the first rank's `content`, which is all that it depends on; extension: of its name. Unless the cache
// folder has it, the first rank calls make(folder, path), whose result is what is wrong, or empty. *path: this rank's;
// ranks that do not see the first rank's file have a copy. Collective. Errors, on all ranks: make()'s; a folder that cannot be written.
// given: the folder; empty: as the environment says.
PetscErrorCode GetCachedFile(MPI_Comm comm, const char given[], const std::string &content, const char extension[],
                             const std::function<std::string(const std::string &folder, const std::string &path)> &make,
                             std::string *path);

// For those that make files:
bool        make_folder(const std::string &path);  // and those above it; whether it can be written
std::string unwritable(const std::string &folder); // the message about one that cannot
std::string part_of_file(const std::string &path); // a name for a file that becomes `path` when it is whole

} // namespace shellac
