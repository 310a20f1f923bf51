// MatSOR() of a captured matrix.

#include "capture/apply.hpp"
#include "capture/mat.hpp"
#include "stencil/rows.hpp"

namespace shellac {

// Ranks with few points may have their vectors bound to the host, alone: they take part in the sweeps of the others.
static PetscErrorCode agree_on_device(Vec x, PetscMPIInt *on_device) {
  PetscBool   host_type;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)x), &ranks));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &host_type, VECSEQ, VECMPI, ""));
  if (!host_type && ranks > 1)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, on_device, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// x = (U + D/omega) b for the U and D of sor(): with omega = 1 and no shift, blocks of points belong to D.
static PetscErrorCode apply_upper(Mat A, CapturedMat *context, Vec b, PetscReal omega, PetscReal shift, Vec x) {
  const PetscInt     dof = context->grid.dof, most = omega == 1 && shift == 0 ? captured::most_values : 1;
  RowReader          rows;
  const PetscScalar *pb;
  PetscScalar       *px;
  PetscInt           first, last, row;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(rows.Begin(context, context->op.get()));
  PetscCall(VecGetArrayRead(b, &pb));
  PetscCall(VecGetArrayWrite(x, &px));
  row = first;
  rows.ForAll([&](const GlobalRow &r) {
    const PetscInt c = (row - first) % dof, begin = row - c % most;
    const PetscInt end = PetscMin(begin + most, row - c + dof); // of its block
    PetscScalar    sum = 0;
    for (PetscInt e = 0; e < r.n; e++) {
      const PetscInt column = r.column[e];
      if (column < begin || column >= last) continue;
      const PetscScalar entry = r.value[e] + (column == row ? shift : 0);
      sum += (column < end ? entry / omega : entry) * pb[column - first];
    }
    px[row++ - first] = sum;
  });
  PetscCall(VecRestoreArrayWrite(x, &px));
  PetscCall(VecRestoreArrayRead(b, &pb));
  PetscCall(rows.End());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// In the order of an AIJ's rows, within the rank; point blocks as its inodes. On a GPU by colours.
PetscErrorCode MatCapturedRelax(Mat A, Vec b, PetscReal omega, MatSORType sweeps, PetscReal shift, PetscInt its,
                                PetscInt lits, Vec x) {
  CapturedMat                     *context;
  Arrays                           arrays;
  std::unique_ptr<PreparedCapture> op;
  const PetscScalar               *pb = NULL;
  PetscScalar                     *px = NULL;

  PetscFunctionBegin;
  PetscCall(MatStencilCheckLayouts(A, x, NULL, b));
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(arrays.Read(b, &pb));
  PetscCall(arrays.ReadWrite(x, &px));
  PetscMPIInt on_device = PetscMemTypeDevice(arrays.memory());
  PetscCall(arrays.Restore());
  PetscCall(agree_on_device(x, &on_device));
  if (on_device) {
    PetscCall(MatStencilRelax(A, b, omega, sweeps, shift, its, lits, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (sweeps == SOR_APPLY_UPPER) {
    PetscCall(apply_upper(A, context, b, omega, shift, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilCheckSweep(A, context, sweeps, shift, b, x));
  if (sweeps & SOR_EISENSTAT) {
    PetscCall(MatStencilEisenstat(A, b, omega, shift, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Patch       &patch = context->captured().patch();
  const SweepRequest request = {omega,
                                shift,
                                (sweeps & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP)) != 0,
                                (sweeps & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP)) != 0,
                                (sweeps & SOR_ZERO_INITIAL_GUESS) != 0,
                                its,
                                lits};
  PetscCall(arrays.Read(b, &pb));
  PetscCall(arrays.ReadWrite(x, &px));
  PetscCall(context->captured().Prepare(&arrays, &op));
  PetscCall(context->sweeps.Run(patch, op->coefficients(), &context->halo, request, pb, px));
  PetscCall(PetscLogFlops((PetscLogDouble)its * lits * (op->flops() + 4) * patch.all().points() * patch.dof));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
