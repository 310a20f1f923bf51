// The points of a DM as a vector of coordinates.

#include <petscdmswarm.h>

#include "sums/kernel_sum.hpp"

namespace shellac {

// Coordinates of a DM's points as a vector of our own.
PetscErrorCode DMGetPointCoordinates(DM dm, Vec *coordinates) {
  PetscBool swarm;
  VecType   type;
  MPI_Comm  comm = PetscObjectComm((PetscObject)dm);

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMSWARM, &swarm));
  if (!swarm) {
    Vec given;
    PetscCall(DMGetCoordinates(dm, &given));
    PetscCheck(given, comm, PETSC_ERR_ARG_WRONGSTATE,
               "the DM has no coordinates; set them, for instance with DMDASetUniformCoordinates()");
    // the coordinates are on the host, the vectors where the DM's are
    PetscInt           n, block;
    const PetscScalar *from;
    PetscScalar       *to;
    PetscCall(VecGetLocalSize(given, &n));
    PetscCall(VecGetBlockSize(given, &block));
    PetscCall(DMGetVecType(dm, &type));
    PetscCall(VecCreate(comm, coordinates));
    PetscCall(VecSetSizes(*coordinates, n, PETSC_DETERMINE));
    PetscCall(VecSetBlockSize(*coordinates, block));
    PetscCall(VecSetType(*coordinates, type));
    PetscCall(VecGetArrayRead(given, &from));
    PetscCall(VecGetArrayWrite(*coordinates, &to));
    PetscCall(PetscArraycpy(to, from, n));
    PetscCall(VecRestoreArrayWrite(*coordinates, &to));
    PetscCall(VecRestoreArrayRead(given, &from));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt      n, block;
  PetscDataType data_type;
  void         *data;
  PetscScalar  *to;
  PetscCall(DMSwarmGetLocalSize(dm, &n));
  PetscCall(DMSwarmGetField(dm, DMSwarmPICField_coor, &block, &data_type, &data));
  PetscCheck(data_type == PETSC_REAL, comm, PETSC_ERR_ARG_WRONG, "the swarm's coordinates are not of type PETSC_REAL");
  PetscCall(DMGetVecType(dm, &type));
  PetscCall(VecCreate(comm, coordinates));
  PetscCall(VecSetSizes(*coordinates, n * block, PETSC_DETERMINE));
  PetscCall(VecSetBlockSize(*coordinates, block));
  PetscCall(VecSetType(*coordinates, type));
  PetscCall(VecGetArrayWrite(*coordinates, &to));
  for (PetscInt i = 0; i < n * block; i++) to[i] = ((const PetscReal *)data)[i];
  PetscCall(VecRestoreArrayWrite(*coordinates, &to));
  PetscCall(DMSwarmRestoreField(dm, DMSwarmPICField_coor, &block, &data_type, &data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
