// Finite-difference Jacobians by colouring, as MatFDColoring asks for them: A. R. Curtis, M. J. D. Powell, J. K. Reid,
// On the estimation of sparse Jacobian matrices, 1974.

#include "capture/mat.hpp"

namespace shellac {

struct Coloring {
  std::vector<ISColoringValue> colour; // of each value that this rank owns, or of the DMDA's local vector
  PetscInt                     colours = 0;
  bool                         local = false; // the latter: the function takes local vectors (MatFDColoringUseDM())
};

static PetscErrorCode free_coloring(void *argument) {
  delete context_to_destroy<Coloring>(argument);
  return PETSC_SUCCESS;
}

// MatFDColoring's own fields are private to PETSc's matrices: what we need of the colouring is composed with it.
static PetscErrorCode fdcoloring_create(Mat A, ISColoring, MatFDColoring) {
  CapturedMat *context;
  return MatGetCaptured(A, &context);
}

static PetscErrorCode fdcoloring_apply(Mat A, MatFDColoring fd, Vec x, void *application);
static PetscErrorCode fdcoloring_set_up(Mat A, ISColoring given, MatFDColoring fd) {
  CapturedMat           *context;
  const ISColoringValue *colours;
  PetscInt               n;
  ISColoringType         type;
  PetscContainer         container;
  auto                   coloring = std::make_unique<Coloring>();

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCall(ISColoringGetType(given, &type));
  PetscCall(ISColoringGetColors(given, &n, &coloring->colours, &colours));
  coloring->local = type == IS_COLORING_LOCAL;
  const PetscInt *size = coloring->local ? context->ghost_size : context->grid.size;
  const PetscInt  needed = context->grid.dof * size[0] * size[1] * size[2];
  PetscCheck(n == needed, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "the colouring is of %" PetscInt_FMT " columns, the DMDA has %" PetscInt_FMT
             " here; make it with DMCreateColoring()",
             n, needed);
  coloring->colour.assign(colours, colours + n);
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)A), &container));
  PetscCall(PetscContainerSetPointer(container, coloring.release()));
  PetscCall(PetscContainerSetCtxDestroy(container, destructor(free_coloring)));
  PetscCall(PetscObjectCompose((PetscObject)fd, "ShellacColoring", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  // MatFDColoringUseDM() has put an AIJ's function here
  PetscCall(set_operation(A, MATOP_FD_COLORING_APPLY, fdcoloring_apply));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The steps h of a difference quotient, one for each value of `at`: h = ε sqrt(1 + ||x||) for wp, h = ε x, with |x| no less than
// umin, for ds (options of MatFDColoring).
static PetscErrorCode get_steps(MatFDColoring fd, Vec x, Vec at, std::vector<PetscScalar> *h) {
  const PetscScalar *values;
  PetscReal          epsilon = PETSC_SQRT_MACHINE_EPSILON, umin = 100 * PETSC_SQRT_MACHINE_EPSILON, norm;
  PetscInt           n;
  PetscBool          set, ds = PETSC_FALSE;
  char               type[3] = "wp";
  const char        *prefix;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)fd, &prefix));
  PetscCall(PetscOptionsGetReal(NULL, prefix, "-mat_fd_coloring_err", &epsilon, NULL));
  PetscCall(PetscOptionsGetReal(NULL, prefix, "-mat_fd_coloring_umin", &umin, NULL));
  PetscCall(PetscOptionsGetString(NULL, prefix, "-mat_fd_type", type, sizeof(type), &set));
  PetscCall(PetscStrcmp(type, "ds", &ds));
  PetscCall(VecGetLocalSize(at, &n));
  if (ds) {
    PetscCall(VecGetArrayRead(at, &values));
    for (PetscInt i = 0; i < n; i++) {
      PetscScalar size = values[i];
      if (PetscAbsScalar(size) < umin) size = PetscRealPart(size) >= 0 ? umin : -umin;
      h->push_back(epsilon * size);
    }
    PetscCall(VecRestoreArrayRead(at, &values));
  } else {
    PetscCall(VecNorm(x, NORM_2, &norm));
    h->assign(n, epsilon * PetscSqrtReal(1 + norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// MatFDColoringGetFunction(), whose function's type differs from release to release.
template <class Function>
static PetscErrorCode get_function(PetscErrorCode (*get)(MatFDColoring, Function **, void **), MatFDColoring fd,
                                   OperationFn **function, void **context) {
  Function *given = NULL;

  PetscFunctionBegin;
  PetscCall((*get)(fd, &given, context));
  *function = reinterpret_cast<OperationFn *>(given);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fdcoloring_apply(Mat A, MatFDColoring fd, Vec x, void *application) {
  CapturedMat             *context;
  Coloring                *coloring;
  PetscContainer           container;
  OperationFn             *function = NULL;
  void                    *function_context;
  Vec                      moved, F, change;
  std::vector<PetscScalar> h, inverse;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCall(PetscObjectQuery((PetscObject)fd, "ShellacColoring", (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER, "call MatFDColoringSetUp() first");
  PetscCall(PetscContainerGetPointer(container, (void **)&coloring));
  PetscCall(get_function(MatFDColoringGetFunction, fd, &function, &function_context));
  const auto  evaluate = reinterpret_cast<PetscErrorCode (*)(void *, Vec, Vec, void *)>(function);
  const Grid &grid = context->grid;
  Vec         at = x; // where the function is evaluated
  DM          dm;
  PetscCall(MatGetDM(A, &dm));
  if (coloring->local) {
    PetscCall(DMCreateLocalVector(dm, &at));
    PetscCall(DMGlobalToLocalBegin(dm, x, INSERT_VALUES, at));
    PetscCall(DMGlobalToLocalEnd(dm, x, INSERT_VALUES, at));
  }
  PetscCall(get_steps(fd, x, at, &h));
  PetscCall(VecDuplicate(at, &moved));
  PetscCall(MatCreateVecs(A, NULL, &F));
  PetscCall(VecDuplicate(F, &change));
  PetscCall((*evaluate)(application, at, F, function_context));
  PetscCall(MatCapturedOpen(context));
  const CapturedStencil &op = context->captured();
  for (PetscInt k = 0; k < coloring->colours; k++) {
    PetscScalar       *values;
    const PetscScalar *difference;
    Field<PetscScalar> field = {};
    inverse.assign(h.size(), 0); // 1/h at the columns of this colour
    PetscCall(VecCopy(at, moved));
    PetscCall(VecGetArray(moved, &values));
    for (size_t i = 0; i < h.size(); i++)
      if (coloring->colour[i] == (ISColoringValue)k) values[i] += h[i], inverse[i] = PetscScalar(1) / h[i];
    PetscCall(VecRestoreArray(moved, &values));
    PetscCall((*evaluate)(application, moved, change, function_context));
    PetscCall(VecAXPY(change, -1, F));
    if (!coloring->local) {
      PetscCall(context->halo.Begin(inverse.data(), PETSC_MEMTYPE_HOST));
      PetscCall(context->halo.End());
      field = context->halo.field();
    }
    const auto of_column = [&](const PetscInt q[3], PetscInt c) {
      if (!coloring->local) return field.value(op.patch(), q, c);
      PetscInt place = 0;
      for (int a = 2; a >= 0; a--)
        place = place * context->ghost_size[a] + q[a] + grid.start[a] - context->ghost_start[a];
      return inverse[place * grid.dof + c];
    };
    PetscCall(VecGetArrayRead(change, &difference));
    size_t row = 0;
    for_each_owned(grid, [&](const PetscInt p[3], PetscInt r) {
      for (int arm = 0; arm < op.arms().count(); arm++) {
        const PetscInt *step = op.arms().step(arm), q[3] = {p[0] + step[0], p[1] + step[1], p[2] + step[2]};
        if (!op.in_domain(p, arm)) continue;
        for (PetscInt c = 0; c < grid.dof; c++) {
          const PetscScalar of = of_column(q, c);
          if (of != (PetscScalar)0) context->put(p, r, arm, c, difference[row] * of, INSERT_VALUES);
        }
      }
      row++;
    });
    PetscCall(VecRestoreArrayRead(change, &difference));
  }
  PetscCall(VecDestroy(&moved));
  PetscCall(VecDestroy(&F));
  PetscCall(VecDestroy(&change));
  if (coloring->local) PetscCall(VecDestroy(&at));
  // nothing is assembled beside that could be compared
  PetscCall(MatDestroy(&context->reference));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCapturedMakeReference(A, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetColoringOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_FDCOLORING_CREATE, fdcoloring_create));
  PetscCall(set_operation(A, MATOP_FDCOLORING_SETUP, fdcoloring_set_up));
  PetscCall(set_operation(A, MATOP_FD_COLORING_APPLY, fdcoloring_apply));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
