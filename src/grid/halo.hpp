#pragma once
// The halo exchange: receives the neighbours' values that a star or box stencil needs in packed buffers.
// The owned array is never copied; the host path sends straight out of it.

#include "grid/grid.hpp"

namespace shellac {

class DeviceHalo;

enum class HaloWay { automatic, ipc, nccl, mpi, host }; // between GPUs: see device_halo.hpp

struct HaloLink { // to a neighbouring patch, or to another rank that needs parts of ours
  Direction        to = {{0, 0, 0}};
  PetscMPIInt      neighbour = -1;           // rank
  PetscMPIInt      count = 0;                // values that go there
  PetscMPIInt      arriving = 0;             // and that come; of a halo as many
  std::vector<Box> ours;                     // points of the array that go, by indices on its patch
  MPI_Datatype     part = MPI_DATATYPE_NULL; // of a halo: them, as a part of the owned array
  char            *buffer = nullptr;         // of a halo: the neighbour's, on the host [count values]
};

// The opposite link: around a periodic axis, values sent from our lower end arrive at our own upper end.
inline size_t link_back(const std::vector<HaloLink> &links, size_t l) {
  size_t back = 0;
  while (links[back].to.index() != 26 - links[l].to.index()) back++;
  return back;
}

// Two ranks may be neighbours in several directions; their messages match by order. Links are stored, and messages sent,
// in the order of their directions. The neighbour sends in the opposite directions, so receives are posted in reverse
// order.
inline size_t receive_order(const std::vector<HaloLink> &links, size_t l) {
  return links.size() - 1 - l;
}

class Halo {
public:
  // Collective on the grid's communicator.
  // box: also with the neighbours across edges and corners, which a star does not need.
  // device: whether this rank expects vectors on a GPU; only then can its halo go from device to device.
  // value_bytes: of a value; 4, 8 or 16.
  PetscErrorCode Create(const Grid &grid, const Patch &patch, bool box, PetscBool device, HaloWay way,
                        size_t value_bytes = sizeof(PetscScalar));
  PetscErrorCode Destroy(); // not collective: each rank may destroy objects in its own order

  // Posts the exchange of u, which is in `memory` and must not change before End(). One exchange at a time. The u of
  // another rank may be in another memory.
  PetscErrorCode Begin(const void *u, PetscMemType memory);
  // In place of it, where kernels can exchange: those that get field() before End() do, and exchanged() is whether any has.
  bool           can_begin_in_kernel(PetscMemType memory) const;
  PetscErrorCode BeginInKernel(const void *u);
  bool           exchanged() const;
  // While kernels can run.
  bool travels_by_message(PetscMemType memory) const;
  // After it (on a device: in PETSc's stream), field() has the neighbours' values.
  PetscErrorCode                            End();
  template <class T = PetscScalar> Field<T> field() const {
    Field<T> typed;
    typed.u = reinterpret_cast<const T *>(field_.u);
    for (int d = 0; d < Direction::count; d++) typed.halo[d] = reinterpret_cast<const T *>(field_.halo[d]);
    typed.exchange = field_.exchange;
    return typed;
  }
  // field() with the neighbours' values on the host. After an exchange on a device, only this rank copies them.
  PetscErrorCode FieldOnHost(Field<PetscScalar> *field);
  const char    *transport() const; // how halos between GPUs travel; null without CUDA
  PetscLogDouble bytes() const;     // of the halo

private:
  MPI_Comm                 comm_ = MPI_COMM_NULL;
  PetscMPIInt              tag_ = 0;
  PetscMemType             memory_ = PETSC_MEMTYPE_HOST; // of the exchange in flight
  std::vector<HaloLink>    links_;
  std::vector<MPI_Request> requests_; // receives, then sends
  MPI_Datatype             value_ = MPI_DATATYPE_NULL;
  size_t                   value_bytes_ = 0;
  Field<char>              field_ = {};   // of any type
  bool                     open_ = false; // between Begin() and End()
  DeviceHalo              *device_ = nullptr;
};

} // namespace shellac
