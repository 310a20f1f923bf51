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

// The object `shellac_compiled` of a source. The first rank compiles the source, unless the result is in the cache; it
// remains loaded. Collective. Errors, on all ranks: a compiler that is missing or fails (with its first message and the
// user's line), a cache folder that cannot be written. parts: of the source, which are compiled at the same time, with
// the macro SHELLAC_PART = 0, 1, ...; with several parts, part 0 is optimised less. ahead: for other machines; prints where
// the result is, which must be kept
PetscErrorCode CompileSource(MPI_Comm comm, const std::string &source, const SourceText &text, const char cache[],
                             const void **compiled, int parts = 1, bool ahead = false);

} // namespace shellac
