#pragma once
// The arrays of the vectors in one operation, all in one kind of memory.
//
// If one vector is on a GPU and another on the host, all are read on the host, and PETSc copies them. This is not an error,
// because an error on one rank would leave others waiting in their exchange: -vec_bind_below binds vectors by the number
// of points that a rank owns, so perhaps on some ranks only.

#include <vector>

#include "device/petsc.hpp"

namespace shellac {

class Arrays {
public:
  Arrays() = default;
  // With the host's memory, all arrays are on the host, wherever the vectors are. With the GPU's, ReadBeside() without other
  // vectors is on the GPU.
  explicit Arrays(PetscMemType memory) : memory_(memory), all_on_host_(PetscMemTypeHost(memory)) {}
  // *array is set again if a later vector moves all to the host: copies of it, and memory(), are valid after the last one.
  PetscErrorCode Read(Vec v, const PetscScalar **array) { return Get(v, READ, const_cast<PetscScalar **>(array)); }
  PetscErrorCode Write(Vec v, PetscScalar **array) { return Get(v, WRITE, array); }
  PetscErrorCode ReadWrite(Vec v, PetscScalar **array) { return Get(v, READ_WRITE, array); }
  // A vector of Shellac, after all others: on the host if those are, whatever its type.
  PetscErrorCode ReadBeside(Vec v, const PetscScalar **array) {
    PetscMemType memory;

    PetscFunctionBegin;
    items_.push_back({v, READ, NULL, NULL, PetscMemTypeHost(memory_)});
    PetscCall(Open(&items_.back(), &memory));
    *array = items_.back().array;
    if (PetscMemTypeHost(memory) != PetscMemTypeHost(memory_)) {
      PetscCall(Restore());
      SETERRQ(PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_INCOMP,
              "the operator's own arrays are on the host, the vectors on the GPU; bind all or none to the host with "
              "VecBindToCPU() and MatBindToCPU()");
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore() { // in reverse order
    PetscFunctionBegin;
    while (!items_.empty()) {
      Item item = items_.back();
      items_.pop_back();
      PetscCall(Close(&item));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool Writes(Vec v) const { // one of the arrays is the vector's, to be written
    bool writes = false;
    for (const Item &item : items_) writes = writes || (item.vec == v && item.access != READ);
    return writes;
  }
  // The memory of the arrays; the host if there are none.
  PetscMemType memory() const { return memory_; }

private:
  enum Access { READ, WRITE, READ_WRITE };
  struct Item {
    Vec           vec;
    Access        access;
    PetscScalar  *array;
    PetscScalar **given; // the caller's pointer to it, or null
    bool          on_host;
  };

  static PetscErrorCode Open(Item *item, PetscMemType *memory) {
    const PetscScalar **read = const_cast<const PetscScalar **>(&item->array);

    PetscFunctionBegin;
    *memory = PETSC_MEMTYPE_HOST;
    const bool writes = item->access == WRITE;
    if (item->access == READ)
      PetscCall(item->on_host ? VecGetArrayRead(item->vec, read) : VecGetArrayReadAndMemType(item->vec, read, memory));
    else if (item->on_host)
      PetscCall((writes ? VecGetArrayWrite : VecGetArray)(item->vec, &item->array));
    else
      PetscCall((writes ? VecGetArrayWriteAndMemType : VecGetArrayAndMemType)(item->vec, &item->array, memory));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode Close(Item *item) {
    const PetscScalar **read = const_cast<const PetscScalar **>(&item->array);

    PetscFunctionBegin;
    const bool writes = item->access == WRITE;
    if (item->access == READ)
      PetscCall((item->on_host ? VecRestoreArrayRead : VecRestoreArrayReadAndMemType)(item->vec, read));
    else if (item->on_host)
      PetscCall((writes ? VecRestoreArrayWrite : VecRestoreArray)(item->vec, &item->array));
    else
      PetscCall((writes ? VecRestoreArrayWriteAndMemType : VecRestoreArrayAndMemType)(item->vec, &item->array));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode Get(Vec v, Access access, PetscScalar **array) {
    PetscMemType memory;

    PetscFunctionBegin;
    items_.push_back({v, access, NULL, array, all_on_host_});
    PetscCall(Open(&items_.back(), &memory));
    *array = items_.back().array;
    if (items_.size() == 1) memory_ = memory;
    if (PetscMemTypeHost(memory) != PetscMemTypeHost(memory_)) PetscCall(MoveToHost());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode MoveToHost() {
    PetscMemType memory;

    PetscFunctionBegin;
    PetscCall(PetscInfo(NULL, "Vectors on the GPU and on the host in one operation: all are copied to the host\n"));
    for (size_t n = items_.size(); n-- > 0;) PetscCall(Close(&items_[n]));
    for (Item &item : items_) {
      item.on_host = true;
      PetscCall(Open(&item, &memory));
      if (item.given) *item.given = item.array;
    }
    all_on_host_ = true;
    memory_ = PETSC_MEMTYPE_HOST;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<Item> items_;
  PetscMemType      memory_ = PETSC_MEMTYPE_HOST;
  bool              all_on_host_ = false;
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
