#pragma once
// The halo exchange: brings the neighbours' values that a star stencil needs into packed buffers.
// The owned array is never copied; the host path sends straight out of it.

#include "grid/grid.hpp"

namespace shellac {

class DeviceHalo;

enum class HaloWay { automatic, ipc, host }; // between GPUs: see device_halo.hpp
constexpr const char *halo_ways[] = {"automatic", "ipc", "host"};

struct HaloFace { // one end of one axis where the patch has a neighbour
  int          axis;
  Side         end;
  PetscMPIInt  neighbour; // rank
  PetscMPIInt  count;     // points in the face
  MPI_Datatype strip;     // our points at this end, as a part of the owned array
  PetscScalar *buffer;    // the neighbour's points, on the host [count]
};

// The face whose buffer the f-th message from its neighbour fills: the two ends of an axis in reverse order, because
// what leaves the neighbour's lower end arrives at our upper one.
inline size_t opposite_face(const std::vector<HaloFace> &faces, size_t f) {
  if (f + 1 < faces.size() && faces[f + 1].axis == faces[f].axis) return f + 1;
  if (f > 0 && faces[f - 1].axis == faces[f].axis) return f - 1;
  return f;
}

class Halo {
public:
  // Collective on the grid's communicator.
  // device: whether this rank expects vectors on a GPU; only then can its halo go from device to device.
  PetscErrorCode Create(const Grid &grid, const Patch &patch, PetscBool device, HaloWay way);
  PetscErrorCode Destroy(); // collective

  // Posts the exchange of u, which lives in `memory` and must not change before End(). One exchange at a time.
  PetscErrorCode Begin(const PetscScalar *u, PetscMemType memory);
  // After it (on a device: in PETSc's stream), field() has the neighbours' values.
  PetscErrorCode     End();
  Field<PetscScalar> field() const { return field_; }
  const char        *transport() const; // how halos between GPUs travel; null without CUDA

private:
  MPI_Comm                 comm_ = MPI_COMM_NULL;
  PetscMPIInt              tag_ = 0;
  PetscMemType             memory_ = PETSC_MEMTYPE_HOST; // of the exchange in flight
  std::vector<HaloFace>    faces_;
  std::vector<MPI_Request> requests_; // receives, then sends
  Field<PetscScalar>       field_ = {};
  DeviceHalo              *device_ = nullptr;
};

} // namespace shellac
