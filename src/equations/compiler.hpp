#pragma once
// Sources compiled at run time by the host's compiler, and kept in a folder.

#include <string>
#include <vector>

#include "device/petsc.hpp"
#include "equations/interface.hpp"

namespace shellac {

// The functions that a source defines as `shellac_equation`. The first rank compiles it, unless the cache has the result;
// they stay loaded. Collective. Errors, on all ranks: a compiler that is missing or fails (with its first message), a
// cache folder that cannot be written. file, lines: the user's text, whose line the first message is about.
PetscErrorCode CompileEquation(MPI_Comm comm, const std::string &source, const std::string &file,
                               const std::vector<std::string> &lines, const char cache[],
                               const equation::Functions **functions);

} // namespace shellac
