#pragma once
// Memory that other processes write into.
//
// A process must not free memory that another process has mapped, and without a message it cannot know when the other one
// has finished. But each rank may destroy objects in its own order, as garbage collectors do. So exported memory is never
// freed: it is used again for the next object, and the driver frees it when the process ends. For the same reason a mapping
// of another process' memory remains valid and is opened once.

#include <cstddef>
#include <vector>

#include "device/petsc.hpp"

namespace shellac {

class Exports {
public:
  using Allocate = PetscErrorCode (*)(size_t bytes, void **memory);

  // Memory of at least so many bytes on that GPU: returned before, or new. Its contents are arbitrary.
  PetscErrorCode Take(int gpu, size_t bytes, Allocate allocate, void **memory) {
    Piece *best = nullptr;

    PetscFunctionBegin;
    size_t grain = 4096; // few sizes, so that pieces of one object serve another
    while (4 * grain < bytes) grain *= 2;
    const size_t size = (bytes + grain - 1) / grain * grain;
    for (Piece &piece : pieces_)
      if (!piece.used && piece.gpu == gpu && piece.size == size) best = &piece;
    if (!best) {
      Piece piece = {NULL, size, gpu, false};
      PetscCall((*allocate)(size, &piece.memory));
      pieces_.push_back(piece);
      best = &pieces_.back();
    }
    best->used = true;
    *memory = best->memory;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Call it when no other process writes into the memory any more.
  void Return(void *memory) {
    for (Piece &piece : pieces_)
      if (piece.memory == memory) piece.used = false;
  }
  size_t bytes() const { // allocated
    size_t sum = 0;
    for (const Piece &piece : pieces_) sum += piece.size;
    return sum;
  }

private:
  struct Piece {
    void  *memory;
    size_t size; // [bytes]
    int    gpu;
    bool   used;
  };
  std::vector<Piece> pieces_;
};

} // namespace shellac
