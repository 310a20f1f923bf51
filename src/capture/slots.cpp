// Coefficients that a program writes itself, slot by slot.

#include "capture/slots.hpp"

#include "capture/mat.hpp"

namespace shellac {

// Zero coefficients where the arm leaves the domain.
template <class T> struct Clear {
  Patch patch;
  T    *coefficients; // [points]

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const { coefficients[patch.index(i, j, k)] = T(0); }
};

PetscErrorCode CapturedStencil::CheckNoneLent(MPI_Comm comm) const {
  PetscFunctionBegin;
  PetscCheck(lent_.empty(), comm, PETSC_ERR_ORDER,
             "coefficients are in use by the program since MatStencilShellGetSlot(); call MatStencilShellRestoreSlot() "
             "before");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::Lend(int slot, Vec *coefficients) {
  PetscFunctionBegin;
  PetscCall(Need(slot));
  PetscCall(RestoreArray(slot));
  lent_.insert(slot);
  *coefficients = arrays_[slot];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CapturedStencil::TakeBack(int slot) {
  const PetscInt *step = arms_->step(slot / (int)patch_.dof % arms_->count());
  Box             inside = patch_.all();

  PetscFunctionBegin;
  lent_.erase(slot);
  PetscCall(GetArray(slot));
  for (int a = 0; a < 3; a++) {
    if (patch_.periodic[a]) continue;
    inside.lo[a] = PetscMax(inside.lo[a], -step[a] - patch_.start[a]);
    inside.hi[a] = PetscMin(inside.hi[a], patch_.N[a] - step[a] - patch_.start[a]);
  }
  PetscCall(for_each(memory_, difference(patch_.all(), inside), Clear<T>{patch_, values_[slot]}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The matrix of a call, and the slot that its arguments name.
static PetscErrorCode find_slot(Mat A, const PetscInt offset[], PetscInt r, PetscInt c, Vec *v, CapturedMat **context,
                                int *slot) {
  PetscInt step[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, context));
  const Grid &grid = (*context)->grid;
  SHELLAC_CHECK_ALL(offset && v, grid.comm, PETSC_ERR_ARG_NULL, "the %s is NULL", offset ? "Vec" : "offset");
  SHELLAC_CHECK_ALL(r >= 0 && r < grid.dof && c >= 0 && c < grid.dof, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "row %" PetscInt_FMT " and column %" PetscInt_FMT
                    " of the block at a point: both must be from 0 to %" PetscInt_FMT,
                    r, c, grid.dof - 1);
  bool within = true;
  for (int a = 0; a < grid.dim; a++) {
    step[a] = offset[a];
    within = within && PetscAbs(step[a]) <= grid.width;
  }
  const int arm = within ? (*context)->arms->find(step) : -1;
  SHELLAC_CHECK_ALL(arm >= 0, grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "the offset (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT
                    ") is outside the DMDA's %s stencil of width %" PetscInt_FMT "; make the DMDA with a larger one",
                    step[0], step[1], step[2], grid.box ? "box" : "star", grid.width);
  *slot = (*context)->captured().slot(arm, r, c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// -mat_stencil_verify: the same coefficients in the AIJ, one by one.
static PetscErrorCode set_in_reference(CapturedMat *context, int slot, PetscInt r, PetscInt c, Vec coefficients) {
  const Grid            &grid = context->grid;
  const CapturedStencil &op = context->captured();
  const int              arm = slot / (int)grid.dof % context->arms->count();
  const PetscScalar     *values;
  PetscErrorCode         error = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(assemble(context->reference)); // it may have been added to
  PetscCall(VecGetArrayRead(coefficients, &values));
  for_each_on_host(op.patch().all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    PetscInt       from[3], to[3];
    if (error || !op.in_domain(p, arm)) return;
    for (int a = 0; a < 3; a++) {
      from[a] = grid.start[a] + p[a];
      to[a] = (from[a] + context->arms->step(arm)[a] + grid.N[a]) % grid.N[a];
    }
    error = MatSetValue(context->reference, grid.global_row(from) + r, grid.global_row(to) + c,
                        values[op.patch().index(i, j, k)], INSERT_VALUES);
  });
  PetscCall(error);
  PetscCall(VecRestoreArrayRead(coefficients, &values));
  PetscCall(assemble(context->reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_slot(Mat A, const PetscInt *offset, PetscInt r, PetscInt c, Vec *v) {
  CapturedMat *context;
  int          slot;

  PetscFunctionBegin;
  PetscCall(find_slot(A, offset, r, c, v, &context, &slot));
  CapturedStencil &op = context->captured();
  PetscCheck(!op.lent(slot), context->grid.comm, PETSC_ERR_ORDER,
             "the slot has been got before; call MatStencilShellRestoreSlot()");
  PetscCall(MatCapturedOpen(context, op.home()));
  PetscCall(op.Lend(slot, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_slot(Mat A, const PetscInt *offset, PetscInt r, PetscInt c, Vec *v) {
  CapturedMat *context;
  int          slot;

  PetscFunctionBegin;
  PetscCall(find_slot(A, offset, r, c, v, &context, &slot));
  CapturedStencil &op = context->captured();
  SHELLAC_CHECK_ALL(op.lent(slot) && op.array(slot) == *v, context->grid.comm, PETSC_ERR_ARG_WRONG,
                    "the Vec is not that of MatStencilShellGetSlot() with this offset, row and column");
  if (context->reference) PetscCall(set_in_reference(context, slot, r, c, *v));
  PetscCall(op.TakeBack(slot));
  *v = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetSlotOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStencilShellGetSlot_C", get_slot));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStencilShellRestoreSlot_C", restore_slot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedOpenSlots(Mat A, const Grid &grid, bool vary, PetscMemType *memory,
                                    PetscScalar *const **slots) {
  CapturedMat                  *context;
  OpenCoefficients<PetscScalar> open;
  void (*lends)() = NULL;

  PetscFunctionBegin;
  *slots = nullptr;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatStencilShellGetSlot_C", &lends));
  if (!lends) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetReadyStencil(A, &context));
  if (context->verify || !context->arms->complete() || !has_same_stencil(context->grid, grid))
    PetscFunctionReturn(PETSC_SUCCESS);
  CapturedStencil &op = context->captured();
  PetscCall(MatCapturedForgetEntries(A, context));
  if (!op.open() && op.storage() != Storage::arrays) PetscCall(op.Zero()); // what is stored is not needed
  PetscCall(MatCapturedOpen(context, *memory));
  PetscCall(op.NeedAllToSet(vary));
  context->rows_vary = vary;
  context->set_once = !vary;
  PetscCall(op.GetOpen(&open));
  *memory = op.memory();
  *slots = open.values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode call(Mat A, const char *method, const PetscInt *offset, PetscInt r, PetscInt c, Vec *v) {
  PetscBool found = PETSC_FALSE;
  MatType   type;

  PetscFunctionBegin;
  PetscCall(try_method(A, method, &found, offset, r, c, v));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetType(A, &type));
  SETERRQ(
      PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
      "a Mat of type %s has no slots of coefficients; use -dm_mat_type stencil, and, if -mat_stencil_fallback aij made "
      "it an AIJ, a DMDA with the stencil that is assembled",
      type ? type : "(not set)");
}

} // namespace shellac

PetscErrorCode MatStencilShellGetSlot(Mat A, const PetscInt offset[], PetscInt r, PetscInt c, Vec *coefficients) {
  return shellac::call(A, "MatStencilShellGetSlot_C", offset, r, c, coefficients);
}

PetscErrorCode MatStencilShellRestoreSlot(Mat A, const PetscInt offset[], PetscInt r, PetscInt c, Vec *coefficients) {
  return shellac::call(A, "MatStencilShellRestoreSlot_C", offset, r, c, coefficients);
}
