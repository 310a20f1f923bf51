#pragma once
// The halo exchange between GPUs, without GPU-aware MPI.
//
// Ranks of one host write directly into each other's halo buffers (CUDA IPC, over NVLink if available). A kernel packs
// into the neighbour's memory, raises a flag there and waits for the neighbours' flags. It may be the kernel that computes
// with the halo: see halo_in_kernel.hpp. Of a filling a second kernel waits, and puts the values in their places. The host
// never waits. Exchanges are counted on the GPU, so a CUDA graph can hold those of fillings. Other neighbours send messages:
// by a GPU-aware MPI where PETSc has one, by NCCL where the ranks are on several hosts and it is found, otherwise by MPI
// through pinned host buffers. So do ranks that share a GPU, because they would wait for their turn on it. Each pair chooses
// its way once, at creation, and uses it for all vectors: in one exchange, the vector of one rank may be on the host and
// that of its neighbour on a GPU.
//
// After a time limit, a waiting kernel gives up, sets its halo to NaN and tells the host, whose next exchange is an
// error. Objects may be destroyed in any order: see device/exports.hpp.

#include "grid/halo.hpp"

namespace shellac {

class DeviceHalo {
public:
  // Collective; device: see Halo::Create. Without CUDA in the build, *halo is null.
  static PetscErrorCode Create(const std::vector<HaloLink> &links, const Patch &patch, MPI_Comm comm, PetscMPIInt tag,
                               size_t value_bytes, PetscBool device, HaloWay way, DeviceHalo **halo);
  virtual ~DeviceHalo() = default;
  // Not collective. sound: no exchange is under way that this rank has not begun.
  virtual PetscErrorCode Destroy(bool sound) = 0;

  // An exchange of u on the GPU, over all links.
  virtual PetscErrorCode Begin(const void *u) = 0;
  virtual PetscErrorCode End(Field<char> *field) = 0;
  virtual bool           travels_by_message() const = 0; // some of it, while kernels can run
  // In place of Begin(), between GPUs: the kernel to which field->exchange is given exchanges its u, otherwise End() does. A
  // CUDA graph must not hold it.
  virtual bool           between_gpus() const = 0; // all that leaves this one
  virtual PetscErrorCode BeginInKernel(const void *u, Field<char> *field) = 0;
  virtual bool           exchanged() const = 0; // by a kernel
  // An exchange of u on the host, over the links that end in the neighbour's GPU; the caller serves the others.
  virtual bool           ends_on_gpu(size_t link) const = 0;
  virtual PetscErrorCode BeginOnHost(const void *u) = 0;
  virtual PetscErrorCode EndOnHost(Field<char> *field) = 0;

  // What a filling puts where: values of the rank's own array or of what came over a link.
  struct Filled {
    Box      there;
    PetscInt shift[3]; // from where values go to where they are, on the grid
    int      link;     // -1: own
    size_t   offset;   // in the link's values
  };
  // from: the box of the halo's patch, on the grid
  virtual PetscErrorCode PlanFilling(const std::vector<Filled> &parts, const Box &from) = 0;
  // An exchange that ends with them: a kernel sends, one receives, where all links go from GPU to GPU. The arrays are over
  // boxes that contain those of the parts.
  virtual PetscErrorCode Fill(const void *from, const Box &from_box, void *to, const Box &to_box, bool with_own) = 0;
  virtual PetscErrorCode CheckLate() const = 0; // an error where a halo did not come in time

  virtual const char *transport() const = 0;
};

extern PetscReal halo_timeout; // [s]; zero: none

} // namespace shellac
