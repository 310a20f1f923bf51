// Finite-difference Jacobians by colouring, as MatFDColoring asks for them: A. R. Curtis, M. J. D. Powell, J. K. Reid,
// On the estimation of sparse Jacobian matrices, 1974. Coefficients are set where the function's values are.

#include "capture/mat.hpp"

namespace shellac {

// ---- kernels -------------------------------------------------------------------------------------------------------

// The step h of the difference quotient in a column: ε sqrt(1 + ||x||), the same for all, or ε x, with |x| no less than
// umin.
template <class T> struct Step {
  T         same; // zero: ε x
  PetscReal epsilon, umin;

  SHELLAC_HD T operator()(T x) const {
    if (same != T(0)) return same;
    if (PetscAbsScalar(x) < umin) x = PetscRealPart(x) >= 0 ? umin : -umin;
    return epsilon * x;
  }
};

// The columns of one colour that rows of this rank meet.
template <class T> struct ColumnsOfColour {
  Patch           patch;
  Box             points;  // of the DMDA's local vectors, by their indices on the patch
  const PetscInt *columns; // values of those points
  bool            local;   // the function takes local vectors
  Step<T>         step;
  Field<T>        x;

  SHELLAC_HD void find(PetscInt n, PetscInt q[3], PetscInt *c) const {
    points.point(columns[n] / patch.dof, q);
    *c = columns[n] % patch.dof;
  }
  SHELLAC_HD T h(const PetscInt q[3], PetscInt c) const {
    return step(step.same != T(0) ? T(0) : x.value(patch, q, c));
  }
};

// Adds the steps to the vector that the function takes.
template <class T> struct AddSteps {
  ColumnsOfColour<T> columns;
  T                 *moved;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const {
    PetscInt q[3], c;
    columns.find(n, q, &c);
    if (columns.local)
      moved[columns.columns[n]] += columns.h(q, c);
    else if (columns.patch.contains(q))
      moved[columns.patch.index(q[0], q[1], q[2]) * columns.patch.dof + c] += columns.h(q, c);
  }
};

// Sets the entries of the columns by the differences of the function's values.
template <class T> struct SetColumns {
  ColumnsOfColour<T>  columns;
  OpenCoefficients<T> a;
  const T            *before, *after; // [points][dof]

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const {
    const PetscInt dof = a.patch.dof;
    PetscInt       q[3], c;
    columns.find(n, q, &c);
    const T inverse = T(1) / columns.h(q, c);
    for (int arm = 0; arm < a.arms; arm++) {
      const PetscInt *step = a.slots[a.slot(arm, 0, 0)].step, p[3] = {q[0] - step[0], q[1] - step[1], q[2] - step[2]};
      if (!a.patch.contains(p)) continue;
      const size_t at = a.patch.index(p[0], p[1], p[2]);
      for (PetscInt r = 0; r < dof; r++)
        a.values[a.slot(arm, r, c)][at] = (after[at * dof + r] - before[at * dof + r]) * inverse;
    }
  }
};

// ---- the colouring -------------------------------------------------------------------------------------------------

// Columns that are on the domain, as values of the DMDA's local vectors.
struct Coloring {
  Mirror<PetscInt>    columns;       // colour by colour
  std::vector<size_t> first;         // [colours + 1], in columns
  bool                local = false; // the function takes local vectors (MatFDColoringUseDM())
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

static Box ghosted_points(const CapturedMat &context) {
  Box box;
  for (int a = 0; a < 3; a++) {
    box.lo[a] = context.ghost_start[a] - context.grid.start[a];
    box.hi[a] = box.lo[a] + context.ghost_size[a];
  }
  return box;
}

// The colours of the values of the DMDA's local vectors; -1 where there is no column, or none that is met.
static PetscErrorCode get_local_colours(CapturedMat *context, const ISColoringValue given[], bool local,
                                        std::vector<PetscInt> *colours) {
  const Patch    patch = context->owned_patch();
  const Box      points = ghosted_points(*context);
  const PetscInt dof = patch.dof;

  PetscFunctionBegin;
  colours->assign((size_t)(points.points() * dof), -1);
  const auto at = [&](const PetscInt q[3], PetscInt c) -> PetscInt & {
    return (*colours)[points.index(q) * (size_t)dof + (size_t)c];
  };
  if (local) {
    for_each_on_host(points, [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt q[3] = {i, j, k};
      for (PetscInt c = 0; c < dof && patch.in_domain(q); c++)
        at(q, c) = (PetscInt)given[points.index(q) * (size_t)dof + (size_t)c];
    });
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<PetscScalar> own(given, given + patch.all().points() * dof); // as values that can be exchanged
  PetscCall(context->halo.Begin(own.data(), PETSC_MEMTYPE_HOST));
  PetscCall(context->halo.End());
  const Field<PetscScalar> field = context->halo.field();
  for (int d = 0; d < Direction::count; d++) {
    const Direction to = Direction::at(d);
    const bool      mine = d == Direction{{0, 0, 0}}.index();
    if (mine || field.halo[d])
      for_each_on_host(mine ? patch.all() : patch.beyond_patch(to), [&](PetscInt i, PetscInt j, PetscInt k) {
        const PetscInt q[3] = {i, j, k};
        for (PetscInt c = 0; c < dof; c++) at(q, c) = (PetscInt)PetscRealPart(field.value(patch, q, c));
      });
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fdcoloring_apply(Mat A, MatFDColoring fd, Vec x, void *application);
static PetscErrorCode fdcoloring_set_up(Mat A, ISColoring given, MatFDColoring fd) {
  CapturedMat           *context;
  const ISColoringValue *colours;
  std::vector<PetscInt>  local_colours;
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
  PetscCall(get_local_colours(context, colours, coloring->local, &local_colours));
  auto &columns = coloring->columns.change(); // sorted by colour, by counting
  auto &first = coloring->first;
  first.assign((size_t)count + 2, 0);
  for (PetscInt colour : local_colours)
    if (colour >= 0) first[(size_t)colour + 2]++;
  for (size_t k = 2; k < first.size(); k++) first[k] += first[k - 1];
  columns.resize(first.back());
  for (size_t v = 0; v < local_colours.size(); v++)
    if (local_colours[v] >= 0) columns[first[(size_t)local_colours[v] + 1]++] = (PetscInt)v;
  first.pop_back();
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)A), &container));
  PetscCall(PetscContainerSetPointer(container, coloring.release()));
  PetscCall(PetscContainerSetCtxDestroy(container, destructor(free_coloring)));
  PetscCall(PetscObjectCompose((PetscObject)fd, "ShellacColoring", (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  // MatFDColoringUseDM() has put an AIJ's function here
  PetscCall(set_operation(A, MATOP_FD_COLORING_APPLY, fdcoloring_apply));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the Jacobian --------------------------------------------------------------------------------------------------

// Options of MatFDColoring: -mat_fd_type wp, a step for all columns, or ds, a step for each.
static PetscErrorCode get_step(MatFDColoring fd, Vec x, Step<PetscScalar> *step) {
  PetscReal   norm;
  PetscBool   ds = PETSC_FALSE;
  char        type[3] = "wp";
  const char *prefix;

  PetscFunctionBegin;
  *step = {0, PETSC_SQRT_MACHINE_EPSILON, 100 * PETSC_SQRT_MACHINE_EPSILON};
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)fd, &prefix));
  PetscCall(PetscOptionsGetReal(NULL, prefix, "-mat_fd_coloring_err", &step->epsilon, NULL));
  PetscCall(PetscOptionsGetReal(NULL, prefix, "-mat_fd_coloring_umin", &step->umin, NULL));
  PetscCall(PetscOptionsGetString(NULL, prefix, "-mat_fd_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, "ds", &ds));
  if (ds) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(x, NORM_2, &norm));
  step->same = step->epsilon * PetscSqrtReal(1 + norm);
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

// The vectors of the DMDA, which it keeps for the next time: where the function is evaluated, and its values there and a
// step away.
struct ColoringVectors {
  DM   dm = NULL;
  bool local = false;
  Vec  x = NULL, at = NULL, moved = NULL, before = NULL, after = NULL;

  PetscErrorCode Get(DM of, bool are_local, Vec given) {
    PetscFunctionBegin;
    dm = of;
    local = are_local;
    for (Vec *v : {&x, &before, &after}) PetscCall(DMGetGlobalVector(dm, v));
    for (Vec *v : {&at, &moved}) PetscCall(local ? DMGetLocalVector(dm, v) : DMGetGlobalVector(dm, v));
    PetscCall(VecCopy(given, x));
    if (local) {
      PetscCall(VecZeroEntries(at)); // which has points that no exchange sets
      PetscCall(DMGlobalToLocalBegin(dm, x, INSERT_VALUES, at));
      PetscCall(DMGlobalToLocalEnd(dm, x, INSERT_VALUES, at));
    } else
      PetscCall(VecCopy(x, at));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Restore() {
    PetscFunctionBegin;
    for (Vec *v : {&moved, &at}) PetscCall(local ? DMRestoreLocalVector(dm, v) : DMRestoreGlobalVector(dm, v));
    for (Vec *v : {&after, &before, &x}) PetscCall(DMRestoreGlobalVector(dm, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// The differences of all colours, from the function's values to the coefficients.
template <class Evaluate>
static PetscErrorCode set_columns(CapturedMat *context, Coloring *coloring, const Step<PetscScalar> &step,
                                  const ColoringVectors &v, const Evaluate &evaluate) {
  CapturedStencil             &op = context->captured();
  const PetscMemType           memory = op.memory();
  Arrays                       base(memory);
  ColumnsOfColour<PetscScalar> columns = {op.patch(), ghosted_points(*context), NULL, coloring->local, step, {}};
  SetColumns<PetscScalar>      set;
  AddSteps<PetscScalar>        add;
  const PetscInt              *all;
  const PetscScalar           *x;

  PetscFunctionBegin;
  PetscCall(op.GetOpen(&set.a));
  PetscCall(coloring->columns.Get(memory, &all));
  if (step.same == PetscScalar(0)) { // the steps depend on x
    PetscCall(base.Read(v.x, &x));
    PetscCall(MatStencilExchange(context, x, memory));
    columns.x = context->halo.field();
  }
  for (size_t k = 0; k + 1 < coloring->first.size(); k++) {
    Arrays moved(memory), values(memory);
    Boxes  of_colour;
    of_colour.add({{0, 0, 0}, {(PetscInt)(coloring->first[k + 1] - coloring->first[k]), 1, 1}});
    columns.columns = all + coloring->first[k];
    PetscCall(VecCopy(v.at, v.moved));
    PetscCall(moved.ReadWrite(v.moved, &add.moved));
    add.columns = columns;
    PetscCall(for_each(memory, of_colour, add));
    PetscCall(moved.Restore());
    PetscCall(evaluate(v.moved, v.after));
    PetscCall(values.Read(v.before, &set.before));
    PetscCall(values.Read(v.after, &set.after));
    set.columns = columns;
    PetscCall(for_each(memory, of_colour, set));
    PetscCall(values.Restore());
  }
  PetscCall(base.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fdcoloring_apply(Mat A, MatFDColoring fd, Vec x, void *application) {
  CapturedMat      *context;
  Coloring         *coloring;
  ColoringVectors   v;
  Step<PetscScalar> step;
  PetscContainer    container;
  OperationFn      *function = NULL;
  void             *function_context;
  DM                dm;

  PetscFunctionBegin;
  PetscCall(MatGetCaptured(A, &context));
  PetscCall(PetscObjectQuery((PetscObject)fd, "ShellacColoring", (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER, "call MatFDColoringSetUp() first");
  PetscCall(PetscContainerGetPointer(container, (void **)&coloring));
  PetscCall(get_function(MatFDColoringGetFunction, fd, &function, &function_context));
  const auto evaluate = [&](Vec at, Vec values) {
    return reinterpret_cast<PetscErrorCode (*)(void *, Vec, Vec, void *)>(function)(application, at, values,
                                                                                    function_context);
  };
  PetscCall(MatGetDM(A, &dm));
  PetscCall(v.Get(dm, coloring->local, x));
  PetscCall(get_step(fd, v.x, &step));
  PetscCall(evaluate(v.at, v.before));
  PetscCall(MatCapturedOpenBeside(context, {v.x, v.at, v.before}));
  PetscCall(context->captured().NeedAll());
  PetscCall(set_columns(context, coloring, step, v, evaluate));
  PetscCall(v.Restore());
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
