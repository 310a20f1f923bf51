#pragma once
// GPU memory, for code that is also compiled without CUDA, where these functions are never called or fail. They are not
// inline, so that inline functions that call them are the same for every compiler.

#include "device/petsc.hpp"

namespace shellac {

// In the order of PETSc's stream: what was queued before reads and writes the memory that is given back.
PetscErrorCode DeviceMalloc(size_t bytes, void **memory);
void           DeviceFree(void *memory); // null: nothing
PetscErrorCode DeviceMallocForPeers(size_t bytes, void **memory); // which other processes can map
// Copies from the host in PETSc's stream; `from` may change as soon as this returns.
PetscErrorCode DeviceCopyFromHost(void *to, const void *from, size_t bytes);
// Copies to the host, after all that is in PETSc's stream; the host waits for it.
PetscErrorCode DeviceCopyToHost(void *to, const void *from, size_t bytes);

PetscErrorCode DeviceZero(void *memory, size_t bytes); // in PETSc's stream
PetscErrorCode DeviceWait();                           // until all that is in PETSc's stream is done
bool           DeviceRecords();                        // what is queued becomes a CUDA graph: see recording.hpp

// Memory of the host that kernels write, too. It is given back when they have ended, and kept for the next one who asks.
PetscErrorCode PinnedMalloc(size_t bytes, void **memory);
void           PinnedFree(void *memory); // null: nothing

// An error where this build cannot reach such memory.
PetscErrorCode check_backend(PetscMemType memory);

} // namespace shellac
