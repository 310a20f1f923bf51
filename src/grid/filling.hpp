#pragma once
// Fills a box of each rank's array with the values of all ranks, from GPU to GPU.

#include "grid/halo.hpp"

namespace shellac {

Box common(const Box &one, const Box &other); // empty where they have no point in common
Box without_place(const Box &box);            // of the same size, from zero on
Box moved(Box box, const PetscInt by[3], int times = 1);

// Boxes are of indices on the whole grid; on a periodic axis they may go on beyond its ends.
struct FillingBoxes {
  PetscInt         period[3] = {0, 0, 0}; // points of periodic axes, else 0
  std::vector<Box> own;                   // of each rank: the values that it gives
  std::vector<Box> wanted;                // by each rank
  Box              from, to;              // of this rank: the arrays that it gives from, and that it fills
};

namespace point {
// From an array over a box to an array over another.
template <class From, class To> struct Paste {
  Box             from_box, to_box;
  PetscInt        shift[3]; // from where values go to where they are
  const From     *from;
  To             *to;
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt there[3] = {i, j, k}, here[3] = {i + shift[0], j + shift[1], k + shift[2]};
    to[to_box.index(there)] = (To)from[from_box.index(here)];
  }
};
} // namespace point

// Copies the points of a box from an array over one box to an array over another, on the GPU.
PetscErrorCode CopyBox(const Box &box, const PetscScalar *from, const Box &from_box, PetscScalar *to,
                       const Box &to_box);

class Filling {
public:
  // Collective; on ranks with GPUs.
  PetscErrorCode Create(MPI_Comm comm, const FillingBoxes &boxes, HaloWay way,
                        size_t value_bytes = sizeof(PetscScalar));
  PetscErrorCode Destroy(bool sound); // see DeviceHalo
  // Arrays on the GPU, which may be the same; in PETSc's stream. with_own: the rank's own points, too
  PetscErrorCode Run(const void *from, void *to, bool with_own = true) {
    return RunOver(from, from_, to, to_, with_own);
  }
  // The same of arrays over larger boxes.
  PetscErrorCode RunOver(const void *from, const Box &from_box, void *to, const Box &to_box, bool with_own = true);
  PetscErrorCode CheckLate() const;                 // an error where values did not come in time
  bool           direct() const { return direct_; } // into the others' memory; a CUDA graph can hold it

private:
  MPI_Comm              comm_ = MPI_COMM_NULL;
  PetscMPIInt           tag_ = 0;
  std::vector<HaloLink> links_;
  DeviceHalo           *device_ = nullptr;
  Box                   from_ = {}, to_ = {}; // of the arrays
  bool                  direct_ = false;
};

} // namespace shellac
