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
struct ColumnsOfColour {
  const PetscInt *in_vector; // numbers in the vectors that the function takes; -1 where these do not have the column
  const PetscInt
      *on_patch; // as values on the patch, where all arms that lead to the column come from owned points; else
  Box  ghosted;  // -1 - n, n of the DMDA's local vectors: those have these points, by their indices on the patch
};

// Adds the steps to a vector that the function takes.
template <class T> struct AddSteps {
  ColumnsOfColour columns;
  Step<T>         step;
  T              *moved;

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const {
    const PetscInt at = columns.in_vector[n];
    if (at >= 0) moved[at] += step(moved[at]);
  }
};

// Sets the entries of the columns by the differences of the function's values.
template <class T> struct SetColumns {
  ColumnsOfColour     columns;
  Step<T>             step;
  Field<T>            x; // where the steps depend on it
  OpenCoefficients<T> a;
  const T            *before, *after; // [points][dof]

  SHELLAC_HD void operator()(PetscInt n, PetscInt, PetscInt) const {
    const PetscInt dof = a.patch.dof, value = columns.on_patch[n];
    if (value >= 0) {
      const PetscInt c = dof == 1 ? 0 : value % dof;
      const size_t   point = (size_t)(dof == 1 ? value : value / dof);
      const T        inverse = T(1) / step(step.same != T(0) ? T(0) : x.u[value]);
      for (int arm = 0; arm < a.arms; arm++) set(arm, c, point - a.distance(arm), inverse);
    } else {
      const PetscInt in_local = -1 - value, c = in_local % dof;
      PetscInt       q[3];
      columns.ghosted.point(in_local / dof, q);
      const T inverse = T(1) / step(step.same != T(0) ? T(0) : x.value(a.patch, q, c));
      for (int arm = 0; arm < a.arms; arm++) {
        const PetscInt *d = a.slots[a.slot(arm, 0, 0)].step, p[3] = {q[0] - d[0], q[1] - d[1], q[2] - d[2]};
        if (a.patch.contains(p)) set(arm, c, a.patch.index(p[0], p[1], p[2]), inverse);
      }
    }
  }
  SHELLAC_HD void set(int arm, PetscInt c, size_t at, T inverse) const {
    const PetscInt dof = a.patch.dof;
    for (PetscInt r = 0; r < dof; r++)
      a.values[a.slot(arm, r, c)][at] = (after[at * dof + r] - before[at * dof + r]) * inverse;
  }
};

// ---- the colouring -------------------------------------------------------------------------------------------------

struct Coloring {
  Mirror<PetscInt>    in_vector, on_patch; // see ColumnsOfColour, colour by colour
  std::vector<size_t> first;               // [colours + 1], in columns
  bool                local = false;       // the function takes local vectors (MatFDColoringUseDM())
};

// MatFDColoring's own fields are private to PETSc's matrices: what we need of the colouring is composed with it.
static PetscErrorCode fdcoloring_create(Mat A, ISColoring, MatFDColoring) {
  CapturedMat *context;
  return MatGetReadyStencil(A, &context);
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
  const Patch              patch = context->grid.owned_patch();
  std::vector<PetscScalar> own; // each more by one, as values that can be exchanged; 0 where there is none
  Field<PetscScalar>       field = {};

  PetscFunctionBegin;
  for (PetscInt64 n = 0; !local && n < patch.all().points() * patch.dof; n++) own.push_back((PetscReal)given[n] + 1);
  if (!local) PetscCall(MatStencilExchange(context, own.data(), PETSC_MEMTYPE_HOST, &field));
  for_each_on_host(ghosted_points(*context), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt q[3] = {i, j, k};
    for (PetscInt c = 0; c < patch.dof; c++)
      if (local)
        colours->push_back(patch.in_domain(q) ? (PetscInt)given[colours->size()] : -1);
      else
        colours->push_back((PetscInt)PetscRealPart(field.value(patch, q, c)) - 1);
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A difference belongs to one entry of a row only where the row's columns have different colours: an error where the
// colouring is of a narrower stencil.
static PetscErrorCode check_colours(const CapturedMat &context, PetscInt count, const std::vector<PetscInt> &colours) {
  const Patch           patch = context.grid.owned_patch();
  const Box             points = ghosted_points(context);
  const PetscInt        dof = patch.dof;
  std::vector<PetscInt> last((size_t)count, -1); // point whose row has met the colour
  PetscInt              wrong[3] = {-1, 0, 0};

  PetscFunctionBegin;
  for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt at = (PetscInt)patch.index(i, j, k), p[3] = {i, j, k};
    for (int arm = 0; arm < context.arms->count(); arm++) {
      if (!context.captured().in_domain(p, arm)) continue;
      const PetscInt *d = context.arms->step(arm), q[3] = {i + d[0], j + d[1], k + d[2]};
      if (!points.contains(q)) continue;
      for (PetscInt c = 0; c < dof; c++) {
        const PetscInt colour = colours[points.index(q) * (size_t)dof + (size_t)c];
        if (colour < 0) continue;
        if (last[(size_t)colour] == at && wrong[0] < 0)
          for (int a = 0; a < 3; a++) wrong[a] = patch.start[a] + p[a];
        last[(size_t)colour] = at;
      }
    }
  });
  SHELLAC_CHECK_ALL(wrong[0] < 0, context.grid.comm, PETSC_ERR_ARG_INCOMP,
                    "the colouring has the same colour for two columns of the row of the point %s: it is one of fewer "
                    "neighbours than the DMDA's stencil; make it with DMCreateColoring(), or the DMDA with a narrower "
                    "stencil",
                    text_of(wrong, context.grid.dim).c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fdcoloring_apply(Mat A, MatFDColoring fd, Vec x, void *application);
static PetscErrorCode fdcoloring_set_up(Mat A, ISColoring given, MatFDColoring fd) {
  CapturedMat           *context;
  const ISColoringValue *colours;
  std::vector<PetscInt>  local_colours;
  PetscInt               n, count;
  ISColoringType         type;
  auto                   coloring = std::make_unique<Coloring>();

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(ISColoringGetType(given, &type));
  PetscCall(ISColoringGetColors(given, &n, &count, &colours));
  coloring->local = type == IS_COLORING_LOCAL;
  const PetscInt *size = coloring->local ? context->ghost_size : context->grid.size;
  const PetscInt  needed = context->grid.dof * size[0] * size[1] * size[2];
  SHELLAC_CHECK_ALL(n == needed, context->grid.comm, PETSC_ERR_ARG_SIZ,
                    "the colouring is of %" PetscInt_FMT " columns, the DMDA has %" PetscInt_FMT
                    " here; make it with DMCreateColoring()",
                    n, needed);
  PetscCall(get_local_colours(context, colours, coloring->local, &local_colours));
  PetscCall(check_colours(*context, count, local_colours));
  auto &first = coloring->first; // columns sorted by colour, by counting
  first.assign((size_t)count + 2, 0);
  for (PetscInt colour : local_colours)
    if (colour >= 0) first[(size_t)colour + 2]++;
  for (size_t k = 2; k < first.size(); k++) first[k] += first[k - 1];
  coloring->in_vector.change().resize(first.back());
  coloring->on_patch.change().resize(first.back());
  const Patch    patch = context->grid.owned_patch();
  const PetscInt dof = patch.dof;
  size_t         value = 0; // of the local vectors
  for_each_on_host(ghosted_points(*context), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt q[3] = {i, j, k};
    bool           inner = true; // no arm comes from another rank's point, or from beyond the domain
    for (int a = 0; a < context->grid.dim; a++)
      inner = inner && q[a] >= patch.width && q[a] + patch.width < patch.size[a];
    for (PetscInt c = 0; c < dof; c++, value++) {
      const PetscInt colour = local_colours[value];
      if (colour < 0) continue;
      const size_t   n = first[(size_t)colour + 1]++;
      const PetscInt own = patch.contains(q) ? (PetscInt)(patch.index(i, j, k) * (size_t)dof) + c : -1;
      coloring->in_vector.change()[n] = coloring->local ? (PetscInt)value : own;
      coloring->on_patch.change()[n] = inner ? own : -1 - (PetscInt)value;
    }
  });
  first.pop_back();
  PetscCall(compose_context((PetscObject)fd, "ShellacColoring", coloring.release()));
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

// MatFDColoringGetFunction() and MatFDColoringSetFunction(), whose function's type differs from release to release.
template <class Function>
static PetscErrorCode get_function(PetscErrorCode (*get)(MatFDColoring, Function **, void **), MatFDColoring fd,
                                   OperationFn **function, void **context) {
  Function *given = NULL;

  PetscFunctionBegin;
  PetscCall((*get)(fd, &given, context));
  *function = reinterpret_cast<OperationFn *>(given);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Function>
static PetscErrorCode set_function(PetscErrorCode (*set)(MatFDColoring, Function *, void *), MatFDColoring fd,
                                   OperationFn *function, void *context) {
  return (*set)(fd, reinterpret_cast<Function *>(function), context);
}

static PetscErrorCode call_function(OperationFn *function, void *application, Vec at, Vec values, void *context) {
  return reinterpret_cast<PetscErrorCode (*)(void *, Vec, Vec, void *)>(function)(application, at, values, context);
}

static PetscErrorCode set_local_values(DM dm, Vec x, Vec local) {
  PetscFunctionBegin;
  PetscCall(VecZeroEntries(local)); // which has points that no exchange sets
  PetscCall(DMGlobalToLocalBegin(dm, x, INSERT_VALUES, local));
  PetscCall(DMGlobalToLocalEnd(dm, x, INSERT_VALUES, local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The vectors of the DMDA, which it keeps for the next time: where the function is evaluated, and its values there and a
// step away.
struct ColoringVectors {
  WorkVector x, at, moved, before, after;

  PetscErrorCode Get(DM dm, bool local, Vec given) {
    PetscFunctionBegin;
    for (WorkVector *v : {&x, &before, &after}) PetscCall(v->Get(dm));
    for (WorkVector *v : {&at, &moved}) PetscCall(v->Get(dm, local));
    PetscCall(VecCopy(given, x));
    PetscCall(local ? set_local_values(dm, x, at) : VecCopy(x, at));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// The differences of all colours, from the function's values to the coefficients.
template <class Evaluate>
static PetscErrorCode set_columns(CapturedMat *context, Coloring *coloring, const Step<PetscScalar> &step,
                                  const ColoringVectors &v, const Evaluate &evaluate) {
  CapturedStencil        &op = context->captured();
  const PetscMemType      memory = op.memory();
  Arrays                  base(memory);
  SetColumns<PetscScalar> set = {};
  AddSteps<PetscScalar>   add;
  const PetscInt         *in_vector, *on_patch;
  const PetscScalar      *x;

  PetscFunctionBegin;
  PetscCall(op.GetOpen(&set.a));
  PetscCall(coloring->in_vector.Get(memory, &in_vector));
  PetscCall(coloring->on_patch.Get(memory, &on_patch));
  if (step.same == PetscScalar(0)) { // the steps depend on x
    PetscCall(base.Read(v.x, &x));
    PetscCall(MatStencilExchange(context, x, memory, &set.x));
  }
  set.step = add.step = step;
  for (size_t k = 0; k + 1 < coloring->first.size(); k++) {
    const size_t first = coloring->first[k];
    Arrays       moved(memory), values(memory);
    const Boxes  of_colour = line_of(coloring->first[k + 1] - first);
    set.columns = add.columns = {in_vector + first, on_patch + first, ghosted_points(*context)};
    PetscCall(VecCopy(v.at, v.moved));
    PetscCall(moved.ReadWrite(v.moved, &add.moved));
    PetscCall(for_each(memory, of_colour, add));
    PetscCall(moved.Restore());
    PetscCall(evaluate(v.moved, v.after));
    PetscCall(values.Read(v.before, &set.before));
    PetscCall(values.Read(v.after, &set.after));
    PetscCall(for_each(memory, of_colour, set));
    PetscCall(values.Restore());
  }
  PetscCall(base.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A function of local vectors as one of global vectors.
struct OfLocalVectors {
  OperationFn *function;
  void        *context;
  DM           dm;
};

static PetscErrorCode call_with_local(void *application, Vec x, Vec values, void *argument) {
  const OfLocalVectors *of = static_cast<const OfLocalVectors *>(argument);
  WorkVector            local;

  PetscFunctionBegin;
  PetscCall(local.Get(of->dm, true));
  PetscCall(set_local_values(of->dm, x, local));
  PetscCall(call_function(of->function, application, local, values, of->context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// -mat_stencil_verify: the same by PETSc's differences, which are those of an AIJ. Of global vectors always: with local ones
// PETSc takes each rank's own norm for the step, and crashes where each column has a step.
static PetscErrorCode set_in_reference(Mat reference, DM dm, bool local, MatFDColoring as, OperationFn *function,
                                       void *function_context, Vec x, void *application) {
  OfLocalVectors of = {function, function_context, dm};
  ISColoring     colours;
  MatFDColoring  fd;
  const char    *prefix;

  PetscFunctionBegin;
  if (local) function = reinterpret_cast<OperationFn *>(call_with_local), function_context = &of;
  PetscCall(MatSetDM(reference, dm));
  PetscCall(DMCreateColoring(dm, IS_COLORING_GLOBAL, &colours));
  PetscCall(MatFDColoringCreate(reference, colours, &fd));
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)as, &prefix));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)fd, prefix));
  PetscCall(set_function(MatFDColoringSetFunction, fd, function, function_context));
  PetscCall(MatFDColoringSetFromOptions(fd));
  PetscCall(MatFDColoringSetUp(reference, colours, fd));
  PetscCall(MatZeroEntries(reference));
  PetscCall(MatFDColoringApply(reference, fd, x, application));
  PetscCall(MatFDColoringDestroy(&fd));
  PetscCall(ISColoringDestroy(&colours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc's own differences keep a copy of x in the MatFDColoring, and with it a reference to the DMDA. For a SNES whose
// Jacobian is that of colours PETSc drops one reference to the DMDA in return.
static PetscErrorCode keep_reference(MatFDColoring fd, Vec x) {
  constexpr char name[] = "ShellacVector";
  PetscObject    kept;
  Vec            copy;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)fd, name, &kept));
  if (kept) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(x, &copy));
  PetscCall(PetscObjectCompose((PetscObject)fd, name, (PetscObject)copy));
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fdcoloring_apply(Mat A, MatFDColoring fd, Vec x, void *application) {
  CapturedMat      *context;
  Coloring         *coloring;
  ColoringVectors   v;
  Step<PetscScalar> step;
  OperationFn      *function = NULL;
  void             *function_context;
  DM                dm;

  PetscFunctionBegin;
  PetscCall(MatGetReadyStencil(A, &context));
  PetscCall(query_context((PetscObject)fd, "ShellacColoring", &coloring));
  PetscCheck(coloring, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER, "call MatFDColoringSetUp() first");
  PetscCall(keep_reference(fd, x));
  PetscCall(get_function(MatFDColoringGetFunction, fd, &function, &function_context));
  const auto evaluate = [&](Vec at, Vec values) {
    return call_function(function, application, at, values, function_context);
  };
  PetscCall(MatGetDM(A, &dm));
  PetscCall(v.Get(dm, coloring->local, x));
  PetscCall(get_step(fd, v.x, &step));
  PetscCall(evaluate(v.at, v.before));
  PetscCall(MatCapturedOpenBeside(context, {v.x, v.at, v.before}));
  PetscCall(context->captured().NeedAll());
  PetscCall(set_columns(context, coloring, step, v, evaluate));
  if (context->reference) {
    PetscCall(
        set_in_reference(context->reference, dm, coloring->local, fd, function, function_context, x, application));
    // PETSc calls the function on the host
    if (PetscMemTypeDevice(context->captured().home())) context->reference_error = 100 * PETSC_SQRT_MACHINE_EPSILON;
  }
  PetscCall(assemble(A));
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
