// Finite-difference Jacobians by colouring, as MatFDColoring asks for them: A. R. Curtis, M. J. D. Powell, J. K. Reid,
// On the estimation of sparse Jacobian matrices, 1974.

#include "capture/mat.hpp"

namespace shellac {

// Of the values that this rank owns, or of the DMDA's local vector.
struct Coloring {
  std::vector<PetscInt> columns;       // colour by colour
  std::vector<size_t>   first;         // [colours + 1], in columns
  bool                  local = false; // the function takes local vectors (MatFDColoringUseDM())
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
  PetscInt               n, count;
  ISColoringType         type;
  PetscContainer         container;
  auto                   coloring = std::make_unique<Coloring>();

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCall(ISColoringGetType(given, &type));
  PetscCall(ISColoringGetColors(given, &n, &count, &colours));
  coloring->local = type == IS_COLORING_LOCAL;
  const PetscInt *size = coloring->local ? context->ghost_size : context->grid.size;
  const PetscInt  needed = context->grid.dof * size[0] * size[1] * size[2];
  PetscCheck(n == needed, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "the colouring is of %" PetscInt_FMT " columns, the DMDA has %" PetscInt_FMT
             " here; make it with DMCreateColoring()",
             n, needed);
  coloring->first.assign((size_t)count + 1, 0);
  coloring->columns.resize((size_t)n);
  for (PetscInt i = 0; i < n; i++) coloring->first[(size_t)colours[i] + 1]++;
  for (PetscInt k = 0; k < count; k++) coloring->first[k + 1] += coloring->first[k];
  std::vector<size_t> next = coloring->first;
  for (PetscInt i = 0; i < n; i++) coloring->columns[next[colours[i]]++] = i;
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
  PetscCall(context->captured().NeedAll());
  const CapturedStencil &op = context->captured();
  for (size_t k = 0; k + 1 < coloring->first.size(); k++) {
    const std::vector<PetscInt> &columns = coloring->columns;
    const size_t                 begin = coloring->first[k], end = coloring->first[k + 1];
    PetscScalar                 *values;
    const PetscScalar           *difference;
    PetscCall(VecCopy(at, moved));
    PetscCall(VecGetArray(moved, &values));
    for (size_t n = begin; n < end; n++) values[columns[n]] += h[columns[n]];
    PetscCall(VecRestoreArray(moved, &values));
    PetscCall((*evaluate)(application, moved, change, function_context));
    PetscCall(VecAXPY(change, -1, F));
    PetscCall(VecGetArrayRead(change, &difference));
    // the entries of one column, that of the c-th value at q
    const auto set_column = [&](const PetscInt q[3], PetscInt c, PetscScalar inverse) {
      for (int arm = 0; arm < op.arms().count(); arm++) {
        const PetscInt *step = op.arms().step(arm), p[3] = {q[0] - step[0], q[1] - step[1], q[2] - step[2]};
        bool            owned = true;
        for (int a = 0; a < 3; a++) owned = owned && p[a] >= 0 && p[a] < grid.size[a];
        if (!owned || !op.in_domain(p, arm)) continue;
        const size_t row = op.patch().index(p[0], p[1], p[2]);
        for (PetscInt r = 0; r < grid.dof; r++)
          context->values[op.slot(arm, r, c)][row] = difference[row * grid.dof + r] * inverse;
      }
    };
    for (size_t n = begin; n < end; n++) {
      PetscInt point = columns[n] / grid.dof, q[3];
      for (int a = 0; a < 3; a++) {
        const PetscInt size = coloring->local ? context->ghost_size[a] : grid.size[a];
        q[a] = point % size + (coloring->local ? context->ghost_start[a] - grid.start[a] : 0);
        point /= size;
      }
      set_column(q, columns[n] % grid.dof, PetscScalar(1) / h[columns[n]]);
    }
    if (!coloring->local) { // the columns of neighbours
      inverse.assign(h.size(), 0);
      for (size_t n = begin; n < end; n++) inverse[columns[n]] = PetscScalar(1) / h[columns[n]];
      PetscCall(context->halo.Begin(inverse.data(), PETSC_MEMTYPE_HOST));
      PetscCall(context->halo.End());
      const Field<PetscScalar> field = context->halo.field();
      for (int d = 0; d < Direction::count; d++)
        if (field.halo[d])
          for_each_on_host(op.patch().beyond_patch(Direction::at(d)), [&](PetscInt i, PetscInt j, PetscInt l) {
            const PetscInt q[3] = {i, j, l};
            for (PetscInt c = 0; c < grid.dof; c++) {
              const PetscScalar of = field.value(op.patch(), q, c);
              if (of != (PetscScalar)0) set_column(q, c, of);
            }
          });
    }
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
