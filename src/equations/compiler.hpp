#pragma once
// Sources compiled at run time by the host's compiler, and kept in a folder.

#include <string>
#include <vector>

#include "device/petsc.hpp"

namespace shellac {

// What a source is compiled for, in messages: "the equation", and the text that the user gave.
struct SourceText {
  std::string              what, file;
  std::vector<std::string> lines;
};

// What a source defines as `shellac_compiled`. The first rank compiles it, unless the cache has the result; it stays loaded.
// Collective. Errors, on all ranks: a compiler that is missing or fails (with its first message, and the user's line that it is
// about), a cache folder that cannot be written. parts: of the source, which are compiled at the same time, with the macro
// SHELLAC_PART = 0, 1, ...; the part 0 of several is optimised less
PetscErrorCode CompileSource(MPI_Comm comm, const std::string &source, const SourceText &text, const char cache[],
                             const void **compiled, int parts = 1);

} // namespace shellac
