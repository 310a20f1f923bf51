#pragma once
// A level that no coarser grid represents, as that of pores of a cell's width, by PETSc's algebraic multigrid.

#include <petscpc.h>

#include "device/arrays.hpp"
#include "grid/filling.hpp"
#include "multigrid/couplings.hpp"
#include "multigrid/setup/ghost_points.hpp"

namespace shellac {

class AlgebraicSolve {
public:
  // From the rows of the ranks' points of a level, on the host. comm: of these ranks; device: where the vectors are.
  PetscErrorCode Create(MPI_Comm comm, const CouplingArrays &rows, const Patch &patch, Halo *halo, PetscBool device,
                        int cycles);
  PetscErrorCode Destroy();
  bool           serves() const { return pc_ != nullptr; }
  double         flops() const { return flops_; } // about, of this rank

  template <class T> PetscErrorCode Apply(PetscMemType memory, const T *b, bool from_x, T *x) {
    const PetscScalar *from;
    Arrays             of_x(memory);
    PetscFunctionBegin;
    if (DeviceRecords()) PetscFunctionReturn(PETSC_ERR_SUP); // PETSc's kernels would run now, and not with the graph
    PetscCall(Set(memory, b, b_));
    PetscCall(VecScale(b_, sign_));
    if (from_x) PetscCall(Set(memory, x, x_));
    PetscCall(Cycle(from_x));
    PetscCall(of_x.Read(x_, &from));
    const point::Paste<PetscScalar, T> paste = {all_, all_, {0, 0, 0}, from, x};
    PetscCall(for_each_of_box(of_x.memory(), all_, paste));
    PetscCall(of_x.Restore());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // The rows become a times these, with more on the diagonal. *serves: they do for the new ones.
  template <class T> PetscErrorCode Follow(PetscScalar a, PetscMemType memory, const T *diagonal, bool *serves) {
    PetscFunctionBegin;
    *serves = *serves && !pinned_;
    if (!*serves) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Set(memory, diagonal, b_));
    PetscCall(Renew(a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  template <class T> PetscErrorCode Set(PetscMemType memory, const T *from, Vec v) {
    PetscScalar *to;
    Arrays       of_v(memory);
    PetscFunctionBegin;
    PetscCall(of_v.Write(v, &to));
    const point::Paste<T, PetscScalar> paste = {all_, all_, {0, 0, 0}, from, to};
    PetscCall(for_each_of_box(of_v.memory(), all_, paste));
    PetscCall(of_v.Restore());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Cycle(bool from_x);
  PetscErrorCode Renew(PetscScalar a);

  PC     pc_ = nullptr;
  Mat    A_ = nullptr; // sign_ times the rows: its diagonal is positive, as eigenvalues' estimates want it
  Vec    b_ = nullptr, x_ = nullptr, r_ = nullptr, e_ = nullptr;
  Box    all_ = {};
  int    cycles_ = 1, pinned_ = 0; // pinned: some rank holds the values of a part that nothing else holds
  double flops_ = 0;

  PetscReal sign_ = 1;
};

} // namespace shellac
