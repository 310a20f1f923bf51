#pragma once
// Parts of a grid, of which each rank has one, and moves of values from parts of one kind to those of another.

#include <memory>

#include "device/scratch.hpp"
#include "grid/filling.hpp"
#include "grid/grid.hpp"

namespace shellac {

using Parts = std::vector<Box>; // of all ranks, by indices on the whole grid; empty boxes have no points

// The ranks' parts of the DMDA, without what is outside `inside`.
Parts parts_of_grid(const Grid &grid, const Box &inside);
// Parts of `inside` that are whole along an axis, and along `also` if there are enough for all ranks; also: -1 for none.
Parts whole_parts(const Box &inside, PetscMPIInt ranks, int axis, int also);
bool  is_whole(const Parts &parts, const Box &inside, int axis);

// Between ranks: on the host by messages of packed values, on GPUs as halos travel.
class Move {
public:
  // Arrays have the values of `room`, of which this rank's part is a piece.
  PetscErrorCode Create(MPI_Comm comm, const Parts parts[2], const Box rooms[2], HaloWay way);
  PetscErrorCode Destroy();
  // From parts[0] to parts[1], or back; work: of this and other moves, which are not under way.
  template <class T> PetscErrorCode Run(PetscMemType memory, bool back, const T *from, T *to, Scratch<T> work[2]);
  ~Move() { (void)!Destroy(); }

private:
  template <class T> PetscErrorCode OnGPU(bool back, const T *from, T *to); // of one type, always

  MPI_Comm            comm_ = MPI_COMM_NULL;
  PetscMPIInt         tag_ = 0;
  Parts               parts_[2];
  Box                 rooms_[2];
  std::vector<Box>    shared_[2]; // [rank]: what parts_[0] here and parts_[1] there have in common, and the opposite
  std::vector<size_t> begin_[2];  // in packed values, and their number
  HaloWay             way_ = HaloWay::automatic;

  std::unique_ptr<Filling> gpu_[2]; // [back]
};

} // namespace shellac
