#pragma once
// The arrays of the vectors in one operation, which must all be in one kind of memory.

#include <vector>

#include "device/petsc.hpp"

namespace shellac {

class Arrays {
public:
  PetscErrorCode Read(Vec v, const PetscScalar **array) { return Get(v, READ, (PetscScalar **)array); }
  // A vector of ours: on the host if the others are, whatever its type.
  PetscErrorCode ReadBeside(Vec v, const PetscScalar **array) {
    return Get(v, PetscMemTypeHost(memory_) ? READ_HOST : READ, (PetscScalar **)array);
  }
  PetscErrorCode Write(Vec v, PetscScalar **array) { return Get(v, WRITE, array); }
  PetscErrorCode ReadWrite(Vec v, PetscScalar **array) { return Get(v, READ_WRITE, array); }
  PetscErrorCode Restore() { // in reverse order
    PetscFunctionBegin;
    while (!items_.empty()) {
      Item item = items_.back();
      items_.pop_back();
      if (item.access == READ)
        PetscCall(VecRestoreArrayReadAndMemType(item.vec, (const PetscScalar **)&item.array));
      else if (item.access == READ_HOST)
        PetscCall(VecRestoreArrayRead(item.vec, (const PetscScalar **)&item.array));
      else if (item.access == WRITE)
        PetscCall(VecRestoreArrayWriteAndMemType(item.vec, &item.array));
      else
        PetscCall(VecRestoreArrayAndMemType(item.vec, &item.array));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Of the first array; the host's where there is none.
  PetscMemType memory() const { return memory_; }

private:
  enum Access { READ, READ_HOST, WRITE, READ_WRITE };
  struct Item {
    Vec          vec;
    Access       access;
    PetscScalar *array;
  };

  PetscErrorCode Get(Vec v, Access access, PetscScalar **array) {
    PetscMemType memory = PETSC_MEMTYPE_HOST;
    PetscScalar *a;

    PetscFunctionBegin;
    if (access == READ)
      PetscCall(VecGetArrayReadAndMemType(v, (const PetscScalar **)&a, &memory));
    else if (access == READ_HOST)
      PetscCall(VecGetArrayRead(v, (const PetscScalar **)&a));
    else if (access == WRITE)
      PetscCall(VecGetArrayWriteAndMemType(v, &a, &memory));
    else
      PetscCall(VecGetArrayAndMemType(v, &a, &memory));
    if (items_.empty() && access != READ_HOST) memory_ = memory;
    items_.push_back({v, access, a});
    if (PetscMemTypeHost(memory) != PetscMemTypeHost(memory_)) {
      VecType first, other;
      PetscCall(VecGetType(items_[0].vec, &first));
      PetscCall(VecGetType(v, &other));
      PetscCall(Restore());
      SETERRQ(PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_INCOMP,
              "one vector's array is on the %s (type %s), another's on the %s (type %s); make all of them with "
              "MatCreateVecs() or DMCreateGlobalVector(), and bind all or none with VecBindToCPU()",
              PetscMemTypeHost(memory_) ? "host" : "GPU", first, PetscMemTypeHost(memory) ? "host" : "GPU", other);
    }
    *array = a;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<Item> items_;
  PetscMemType      memory_ = PETSC_MEMTYPE_HOST;
};

// Flops of work on arrays in that memory.
inline PetscErrorCode log_flops(PetscMemType memory, PetscLogDouble flops) {
  PetscFunctionBegin;
  if (PetscMemTypeHost(memory))
    PetscCall(PetscLogFlops(flops));
  else
    PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
