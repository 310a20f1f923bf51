// The diagonal of a captured matrix, its scaling by diagonals, and the inverses of its diagonal blocks.

#include "capture/block_inverses.hpp"
#include "capture/mat.hpp"

namespace shellac {

// ---- changes -------------------------------------------------------------------------------------------------------

template <class T> struct SetDiagonal {
  OpenCoefficients<T> a;
  const T            *d; // [points][dof]
  bool                add;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt dof = a.patch.dof;
    const size_t   at = a.patch.index(i, j, k);
    for (PetscInt r = 0; r < dof; r++) {
      T &entry = a.values[a.slot(a.center, r, r)][at];
      entry = add ? entry + d[at * dof + r] : d[at * dof + r];
    }
  }
};

static PetscErrorCode diagonal_set(Mat A, Vec d, InsertMode mode) {
  CapturedMat             *context;
  SetDiagonal<PetscScalar> set;

  PetscFunctionBegin;
  PetscCall(MatStencilCheckLayouts(A, d, NULL, d));
  PetscCall(MatGetReadyStencil(A, &context));
  SHELLAC_CHECK_ALL(mode == INSERT_VALUES || mode == ADD_VALUES, context->grid.comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "MatDiagonalSet() takes INSERT_VALUES or ADD_VALUES");
  PetscCall(context->begin_change());
  CapturedStencil &op = context->captured();
  const bool       in_arrays = op.in_arrays();
  PetscCall(MatCapturedOpenBeside(context, {d}));
  Arrays arrays(op.memory());
  PetscCall(arrays.Read(d, &set.d));
  for (PetscInt r = 0; r < context->grid.dof; r++) PetscCall(op.Need(op.slot(op.arms().center(), r, r)));
  PetscCall(op.GetOpen(&set.a));
  set.add = mode == ADD_VALUES;
  PetscCall(op.ForAllPoints(set));
  PetscCall(arrays.Restore());
  PetscCall(MatCapturedClose(context, in_arrays));
  PetscCall(context->altered(A, Alteration::diagonal, 1, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> struct ScaleRows {
  OpenCoefficients<T> a;
  const T            *left;  // [points][dof]; null for ones
  Field<T>            right; // its u null for ones

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k}, dof = a.patch.dof;
    const size_t   at = a.patch.index(i, j, k);
    for (int arm = 0; arm < a.arms; arm++) {
      PetscInt q[3];
      if (!a.follow(arm, p, q)) continue;
      for (PetscInt c = 0; c < dof; c++) {
        const T of_column = right.u ? right.value(a.patch, q, c) : T(1);
        for (PetscInt r = 0; r < dof; r++) {
          T *values = a.values[a.slot(arm, r, c)];
          if (values) values[at] *= left ? left[at * dof + r] * of_column : of_column;
        }
      }
    }
  }
};

static PetscErrorCode diagonal_scale(Mat A, Vec l, Vec r) {
  CapturedMat           *context;
  ScaleRows<PetscScalar> scale;
  const PetscScalar     *right;

  PetscFunctionBegin;
  for (Vec v : {l, r})
    if (v) PetscCall(MatStencilCheckLayouts(A, v, NULL, v));
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(context->begin_change());
  CapturedStencil &op = context->captured();
  const bool       in_arrays = op.in_arrays();
  PetscCall(MatCapturedOpenBeside(context, {l, r}));
  Arrays arrays(op.memory());
  scale.left = NULL;
  scale.right = {};
  if (l) PetscCall(arrays.Read(l, &scale.left));
  if (r) {
    PetscCall(arrays.Read(r, &right));
    PetscCall(MatStencilExchange(context, right, op.memory(), &scale.right));
  }
  PetscCall(op.GetOpen(&scale.a));
  PetscCall(op.ForAllPoints(scale));
  PetscCall(arrays.Restore());
  PetscCall(MatCapturedClose(context, in_arrays));
  PetscCall(context->altered(A, Alteration::rows, 1, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the inverses of the blocks ------------------------------------------------------------------------------------

PetscErrorCode invert_diagonal_blocks(CapturedStencil &op, PetscMemType memory, PetscScalar *inverse) {
  std::unique_ptr<PreparedCapture> present;
  Scratch<PetscInt>                pivots;
  Arrays                           beside(memory);

  PetscFunctionBegin;
  PetscCall(pivots.Grow((size_t)(op.patch().all().points() * op.patch().dof), memory));
  PetscCall(op.Prepare(&beside, &present));
  const InvertBlocks<PetscScalar> invert{op.patch(), present->coefficients(), inverse, pivots.at(memory)};
  PetscCall(op.ForAllPoints(memory, invert));
  PetscCall(beside.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Inverted where the coefficients are. PETSc takes them on the host.
static PetscErrorCode invert_block_diagonal(Mat A, const PetscScalar **inverse) {
  CapturedMat         *context;
  Scratch<PetscScalar> blocks;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(context->check_readable());
  if (context->inverse_blocks.empty()) {
    CapturedStencil   &op = context->captured();
    const PetscMemType memory = op.home();
    PetscCall(blocks.Grow((size_t)(op.patch().all().points() * op.patch().dof * op.patch().dof), memory));
    PetscCall(invert_diagonal_blocks(op, memory, blocks.at(memory)));
    PetscCall(blocks.GetHost(memory, &context->inverse_blocks));
  }
  *inverse = context->inverse_blocks.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetDiagonalOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_DIAGONAL_SET, diagonal_set));
  PetscCall(set_operation(A, MATOP_DIAGONAL_SCALE, diagonal_scale));
  PetscCall(set_operation(A, MATOP_INVERT_BLOCK_DIAGONAL, invert_block_diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
