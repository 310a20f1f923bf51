#pragma once
// The halo exchange between GPUs, without GPU-aware MPI.
//
// Ranks of one host write straight into each other's halo buffers (CUDA IPC, over NVLink where there is one): a kernel
// packs into the neighbour's memory and then raises a flag there, and a second kernel waits for the flags; the host
// never waits. Other neighbours get pinned host buffers and MPI; so do ranks whose GPU other ranks use
// too, which would wait for their turn on it. Each pair agrees on its way once, at creation, and keeps to it wherever
// the vectors of an exchange live: one rank's may be on the host and its neighbour's on a GPU.
//
// A kernel that waits in vain gives up after a time, sets its halo to NaN and tells the host, whose next exchange is an
// error. Objects may be destroyed in any order: see device/exports.hpp.

#include "grid/halo.hpp"

namespace shellac {

class DeviceHalo {
public:
  // Collective; device: see Halo::Create. Without CUDA in the build, *halo is null.
  static PetscErrorCode Create(const std::vector<HaloLink> &links, const Patch &patch, MPI_Comm comm, PetscMPIInt tag,
                               size_t value_bytes, PetscBool device, HaloWay way, DeviceHalo **halo);
  virtual ~DeviceHalo() = default;
  virtual PetscErrorCode Destroy() = 0; // not collective

  // An exchange of u on the GPU, over all links.
  virtual PetscErrorCode Begin(const void *u) = 0;
  virtual PetscErrorCode End(Field<char> *field) = 0;
  // An exchange of u on the host, over the links that write into the neighbour's memory; the others are the caller's.
  virtual bool           writes_to_neighbour(size_t link) const = 0;
  virtual PetscErrorCode BeginOnHost(const void *u) = 0;
  virtual PetscErrorCode EndOnHost(Field<char> *field) = 0;

  virtual const char *transport() const = 0;
};

extern PetscReal halo_timeout; // [s]; zero: none

} // namespace shellac
