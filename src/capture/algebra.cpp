// What changes a captured matrix as a whole, and its copies.

#include <algorithm>

#include "capture/apply.hpp"
#include "capture/mat.hpp"

namespace shellac {

// ---- copies --------------------------------------------------------------------------------------------------------

PetscErrorCode MatCapturedCheckAlike(const CapturedMat &a, const CapturedMat &b) {
  const bool same =
      has_same_stencil(a.grid, b.grid) && std::equal(a.grid.boundary, a.grid.boundary + 3, b.grid.boundary);

  PetscFunctionBegin;
  PetscCheck(same, a.grid.comm, PETSC_ERR_ARG_INCOMP,
             "the two matrices have different grids, boundary types, distributions or stencils; make the one with "
             "MatDuplicate() of the other, or convert it with MatConvert()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode duplicate(Mat A, MatDuplicateOption option, Mat *B) {
  CapturedMat *from, *to;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &from));
  PetscCall(MatCapturedCreateLike(A, B));
  PetscCall(MatGetReadyStencil(*B, &to));
  to->coo = from->coo;
  if (option == MAT_COPY_VALUES) {
    PetscCall(from->captured().CopyTo(&to->captured()));
    PetscCall(to->take_state(*B, *from));
  } else
    PetscCall(to->take_pattern(*B, *from));
  PetscCall(to->changed(*B));
  PetscCall(assemble(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode copy(Mat A, Mat B, MatStructure) {
  CapturedMat *from, *to;
  MatType      type;
  PetscBool    same;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &from));
  PetscCall(MatGetType(B, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, type, &same));
  if (!same) {
    PetscCall(MatStencilCopyEntries(A, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetReadyStencil(B, &to));
  PetscCall(MatCapturedCheckAlike(*from, *to));
  PetscCall(to->check_copy(*from));
  PetscCall(MatCapturedDiscardValues(to));
  PetscCall(from->captured().CopyTo(&to->captured()));
  PetscCall(to->take_state(B, *from));
  PetscCall(to->copied(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the vector space of matrices ----------------------------------------------------------------------------------

template <bool shifts> static PetscErrorCode scale(Mat A, PetscScalar a) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(context->begin_change());
  PetscCall(shifts ? context->captured().Shift(a) : context->captured().Scale(a));
  PetscCall(context->altered(A, Alteration::scaled, shifts ? 1 : a, shifts ? a : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_USE_COMPLEX)
static PetscErrorCode conjugate(Mat A) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(context->captured().Conjugate());
  PetscCall(context->conjugated(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

// Half the sum with the conjugate is the real part, half the difference i times the imaginary one: both without rounding.
template <bool imaginary> static PetscErrorCode take_part(Mat A) {
  Mat conjugate;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &conjugate));
  PetscCall(MatConjugate(conjugate));
  PetscCall(MatAXPY(A, imaginary ? -1 : 1, conjugate, SAME_NONZERO_PATTERN));
#if defined(PETSC_USE_COMPLEX)
  PetscCall(MatScale(A, imaginary ? -0.5 * PETSC_i : PetscScalar(0.5)));
#else
  PetscCall(MatScale(A, 0.5));
#endif
  PetscCall(MatDestroy(&conjugate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Before anything changes: an error for entries of X outside Y's stencil, zeros apart, where Y drops none and cannot become
// an AIJ.
static PetscErrorCode check_within_stencil(CapturedMat *y, Mat X) {
  GlobalEntry entry;
  bool        outside = false, any;

  PetscFunctionBegin;
  if (y->drop_outside || y->fallback == MAT_STENCILSHELL_FALLBACK_AIJ) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(for_each_row(X, [&](PetscInt row, PetscInt n, const PetscInt *columns, const PetscScalar *values) {
    for (PetscInt e = 0; e < n && !outside; e++) {
      entry = {row, columns[e], 0, ADD_VALUES};
      outside = values[e] != PetscScalar(0) && y->places.slot(row, columns[e]) == Places::outside;
    }
    return PETSC_SUCCESS;
  }));
  PetscCall(MatCapturedCheckOutside(*y, outside ? &entry : NULL, &any));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode axpy(Mat Y, PetscScalar a, Mat X, MatStructure) {
  CapturedMat *y, *x;
  bool         captured;

  PetscFunctionBegin;
  PetscCall(MatIsCaptured(X, &captured));
  PetscCall(MatGetReadyStencil(Y, &y));
  if (captured) {
    PetscCall(MatGetReadyStencil(X, &x));
    PetscCall(MatCapturedCheckAlike(*y, *x));
    PetscCall(x->check_readable());
    PetscCall(y->begin_change());
    PetscCall(y->captured().Axpy(a, x->captured(), y->compression));
    PetscCall(y->added(Y, a, *x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(y->check_can_add(Y, X));
  PetscCall(check_within_stencil(y, X));
  PetscCall(for_each_row(X, [&](PetscInt row, PetscInt n, const PetscInt *columns, const PetscScalar *values) {
    std::vector<PetscInt>    places;
    std::vector<PetscScalar> scaled;
    for (PetscInt e = 0; e < n; e++) {
      if (values[e] == PetscScalar(0)) continue; // a dense X stores them outside the stencil, too
      places.push_back(columns[e]);
      scaled.push_back(a * values[e]);
    }
    return MatSetValues(Y, 1, &row, (PetscInt)places.size(), places.data(), scaled.data(), ADD_VALUES);
  }));
  PetscCall(assemble(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- rows ----------------------------------------------------------------------------------------------------------

PetscErrorCode CapturedMat::count_entries(PetscLogDouble *count) {
  PetscFunctionBegin;
  *count = 0;
  // an arm is within the domain on as many points of the patch as the product over its axes
  for (int arm = 0; arm < arms->count(); arm++) {
    PetscLogDouble points = 1;
    for (int a = 0; a < 3; a++) {
      const PetscInt step = arms->step(arm)[a];
      PetscInt       lo = grid.start[a], hi = grid.start[a] + grid.size[a];
      if (grid.boundary[a] != DM_BOUNDARY_PERIODIC) lo = PetscMax(lo, -step), hi = PetscMin(hi, grid.N[a] - step);
      points *= (PetscLogDouble)PetscMax(hi - lo, 0);
    }
    *count += points * (PetscLogDouble)(grid.dof * grid.dof);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_info(Mat A, MatInfoType type, MatInfo *info) {
  CapturedMat   *context;
  PetscLogDouble values[2];

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context, type != MAT_LOCAL));
  PetscCall(context->count_entries(&values[0]));
  values[1] = context->captured().bytes() + context->captured().idle_bytes();
  if (type != MAT_LOCAL)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_DOUBLE, type == MAT_GLOBAL_SUM ? MPI_SUM : MPI_MAX,
                               context->grid.comm));
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size = (PetscLogDouble)context->grid.dof;
  info->nz_allocated = info->nz_used = values[0];
  info->memory = values[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode is_symmetric(Mat A, PetscReal tolerance, PetscBool *symmetric) {
  CapturedMat *context;
  Mat          aij;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  *symmetric = context->symmetric ? PETSC_TRUE : PETSC_FALSE;
  if (*symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatStencilGetAssembled(A, &aij));
  PetscCall(MatIsSymmetric(aij, tolerance, symmetric));
  PetscMPIInt all = *symmetric; // an MPIAIJ says of its off-diagonal blocks what it finds on each rank
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, context->grid.comm));
  *symmetric = all ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// By entries: an MPIAIJ cannot tell.
static PetscErrorCode is_hermitian(Mat A, PetscReal tolerance, PetscBool *hermitian) {
  Mat       aij, difference;
  Vec       largest;
  PetscReal off;

  PetscFunctionBegin;
  PetscCall(MatStencilGetAssembled(A, &aij));
  PetscCall(MatHermitianTranspose(aij, MAT_INITIAL_MATRIX, &difference));
  PetscCall(MatAXPY(difference, -1, aij, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatCreateVecs(difference, NULL, &largest));
  PetscCall(MatGetRowMaxAbs(difference, largest, NULL));
  PetscCall(VecNorm(largest, NORM_INFINITY, &off));
  *hermitian = off <= tolerance ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(VecDestroy(&largest));
  PetscCall(MatDestroy(&difference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetAlgebraOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_IS_SYMMETRIC, is_symmetric));
  PetscCall(set_operation(A, MATOP_IS_HERMITIAN, is_hermitian));
  PetscCall(set_operation(A, MATOP_REAL_PART, take_part<false>));
  PetscCall(set_operation(A, MATOP_IMAGINARY_PART, take_part<true>));
#if defined(PETSC_USE_COMPLEX)
  PetscCall(set_operation(A, MATOP_CONJUGATE, conjugate));
#endif
  PetscCall(set_operation(A, MATOP_DUPLICATE, duplicate));
  PetscCall(
      MatSetOperation(A, MATOP_COPY, reinterpret_cast<OperationFn *>(copy))); // past the shell's, which copies its own
  PetscCall(set_operation(A, MATOP_SCALE, scale<false>));
  PetscCall(set_operation(A, MATOP_SHIFT, scale<true>));
  PetscCall(set_operation(A, MATOP_AXPY, axpy));
  PetscCall(set_operation(A, MATOP_SOR, MatCapturedRelax));
  PetscCall(set_operation(A, MATOP_GETINFO, get_info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
