// The Jacobian of du/dt for implicit methods: a shell Mat whose product is a derivative of the scheme's own
// formulas, and an AIJ of the same derivatives.

#include "burgers/burgers.hpp"

#include "burgers/jacobian_rows.hpp"
#include "burgers/types.hpp"

namespace shellac {

namespace {

constexpr const char *jacobian_type = "burgersjacobian";

struct Jacobian { // shift + scale J(state)
  std::shared_ptr<Burgers> burgers;
  unsigned                 generation = 0; // of the set-up that the halos are for; zero: none
  Vec                      state = NULL;
  Halo                     of_state, of_vector;
  PetscReal                shift = 0, scale = 1;
  Mat                      entries = NULL; // of J(state), for the transpose; null until it is asked for
};

PetscErrorCode get_jacobian(Mat J, Jacobian **context) {
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(J, (void *)context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode drop_halos(Jacobian *context) {
  PetscFunctionBegin;
  PetscCall(MatDestroy(&context->entries));
  if (context->generation) {
    PetscCall(context->of_state.Destroy());
    PetscCall(context->of_vector.Destroy());
  }
  context->generation = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy_jacobian(void *argument) {
  Jacobian *context = context_to_destroy<Jacobian>(argument);

  PetscFunctionBegin;
  PetscCall(drop_halos(context));
  PetscCall(VecDestroy(&context->state));
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Makes halos for the present settings, and exchanges that of the state.
PetscErrorCode load_state(Jacobian *context) {
  Burgers           *burgers = context->burgers.get();
  Arrays             arrays;
  const PetscScalar *array = NULL;

  PetscFunctionBegin;
  if (context->generation != burgers->generation) {
    PetscCall(drop_halos(context));
    for (Halo *halo : {&context->of_state, &context->of_vector})
      PetscCall(
          halo->Create(burgers->links, burgers->patch.patch, false, burgers->on_device, burgers->settings.halo_way));
    context->generation = burgers->generation;
  }
  PetscCall(MatDestroy(&context->entries));
  PetscCall(arrays.Read(context->state, &array));
  PetscCall(BurgersSetWaveSpeed(burgers, arrays.memory(), array));
  PetscCall(context->of_state.Begin(array, arrays.memory()));
  PetscCall(context->of_state.End());
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The Jacobian follows a change of the settings, at the same state.
PetscErrorCode update_state(Mat J, Jacobian *context) {
  PetscFunctionBegin;
  PetscCheck(context->state, PetscObjectComm((PetscObject)J), PETSC_ERR_ORDER,
             "the Jacobian of Burgers' equation has no state yet; TSComputeRHSJacobian() gives it one");
  if (context->burgers->ready && context->generation == context->burgers->generation)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BurgersSetUpAgain(context->burgers.get()));
  PetscCall(GridCheckVector(context->burgers->grid, context->state, "state"));
  PetscCall(load_state(context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mult(Mat J, Vec v, Vec y) {
  Jacobian          *context;
  Arrays             arrays;
  const PetscScalar *pu = NULL, *pv = NULL;
  PetscScalar       *py = NULL;

  PetscFunctionBegin;
  PetscCall(get_jacobian(J, &context));
  if (context->scale == 0) { // of a method that takes the whole right-hand side explicitly
    PetscCall(VecCopy(v, y));
    PetscCall(VecScale(y, context->shift));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(update_state(J, context));
  Burgers *burgers = context->burgers.get();
  PetscCall(GridCheckVector(burgers->grid, v, "operand"));
  PetscCall(GridCheckVector(burgers->grid, y, "result"));
  PetscCall(arrays.Read(context->state, &pu));
  PetscCall(arrays.Read(v, &pv));
  PetscCall(arrays.Write(y, &py));
  // kernels of the state's halo have run: its values stay until the next exchange
  PetscCall(context->of_vector.Begin(pv, arrays.memory()));
  PetscCall(context->of_vector.End());
  Field<PetscScalar> state = context->of_state.field();
  if (PetscMemTypeHost(arrays.memory())) PetscCall(context->of_state.FieldOnHost(&state)); // v or y may be there alone
  Field<PetscReal> u = real_field(state);
  u.u = (const PetscReal *)pu;
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(burgers->operations->jacobian(arrays.memory(), burgers->patch, u, real_field(context->of_vector.field()),
                                          context->shift, context->scale, (PetscReal *)py));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = Jᵀ v, by entries.
PetscErrorCode mult_transpose(Mat J, Vec v, Vec y) {
  Jacobian *context;
  MatType   type;

  PetscFunctionBegin;
  PetscCall(get_jacobian(J, &context));
  if (context->scale == 0) {
    PetscCall(mult(J, v, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(update_state(J, context));
  Burgers *burgers = context->burgers.get();
  PetscCall(GridCheckVector(burgers->grid, v, "operand"));
  PetscCall(GridCheckVector(burgers->grid, y, "result"));
  if (!context->entries) {
    PetscCall(BurgersChooseAIJ(burgers->dm, &type));
    PetscCall(BurgersCreateAIJ(burgers, type, &context->entries));
    PetscCall(BurgersAssembleJacobian(burgers, context->state, 0, 1, context->entries));
  }
  PetscCall(MatMultTranspose(context->entries, v, y));
  PetscCall(VecAXPBY(y, context->shift, context->scale, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode scale(Mat J, PetscScalar a) {
  Jacobian *context;

  PetscFunctionBegin;
  PetscCall(get_jacobian(J, &context));
  context->shift *= PetscRealPart(a);
  context->scale *= PetscRealPart(a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode shift(Mat J, PetscScalar a) {
  Jacobian *context;

  PetscFunctionBegin;
  PetscCall(get_jacobian(J, &context));
  context->shift += PetscRealPart(a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode zero_entries(Mat J) {
  return scale(J, 0);
}

using SharedBurgers = std::shared_ptr<Burgers>;
PetscErrorCode create_shell(const SharedBurgers &burgers, PetscInt n, PetscInt block, VecType type, Mat *J); // below

// A Jacobian of that equation, without a state.
PetscErrorCode take_equation(const SharedBurgers &burgers, Jacobian *to) {
  PetscFunctionBegin;
  PetscCall(drop_halos(to));
  PetscCall(VecDestroy(&to->state));
  to->burgers = burgers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Makes `to` a copy of `from` with its own state, whose halo the next product exchanges.
PetscErrorCode take_values(const Jacobian &from, Jacobian *to) {
  PetscFunctionBegin;
  PetscCall(take_equation(from.burgers, to));
  to->shift = from.shift;
  to->scale = from.scale;
  if (from.state) {
    PetscCall(VecDuplicate(from.state, &to->state));
    PetscCall(VecCopy(from.state, to->state));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode duplicate(Mat J, MatDuplicateOption option, Mat *B) {
  Jacobian *from, *to;
  PetscInt  n, block;
  VecType   type;
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(get_jacobian(J, &from));
  PetscCall(MatGetLocalSize(J, &n, NULL));
  PetscCall(MatGetBlockSize(J, &block));
  PetscCall(MatGetVecType(J, &type));
  PetscCall(create_shell(from->burgers, n, block, type, B));
  PetscCall(MatBoundToCPU(J, &bound));
  PetscCall(MatBindToCPU(*B, bound));
  PetscCall(get_jacobian(*B, &to));
  if (option == MAT_COPY_VALUES)
    PetscCall(take_values(*from, to));
  else
    to->scale = 0; // as an AIJ's duplicate is zero
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode copy(Mat J, Mat B, MatStructure) {
  Jacobian *from, *to;
  MatType   type;
  PetscBool same;

  PetscFunctionBegin;
  if (J == B) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetType(B, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)J, type, &same));
  if (!same) {
    PetscCall(MatConvert(J, type, MAT_REUSE_MATRIX, &B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(get_jacobian(J, &from));
  PetscCall(get_jacobian(B, &to));
  const Grid &grid = from->burgers->grid, &other = to->burgers->grid;
  SHELLAC_CHECK_ALL(grid.is_distributed_as(other) && grid.dof == other.dof, PetscObjectComm((PetscObject)J),
                    PETSC_ERR_ARG_INCOMP,
                    "the Jacobians are of grids that are distributed in different ways; copy to a MatDuplicate()");
  PetscCall(take_values(*from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_diagonal(Mat J, Vec d) {
  Jacobian    *context;
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(get_jacobian(J, &context));
  if (context->scale == 0) {
    PetscCall(VecSet(d, context->shift));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(update_state(J, context));
  PetscCall(GridCheckVector(context->burgers->grid, d, "diagonal"));
  PetscCall(VecGetArrayWrite(d, &array));
  PetscCall(
      BurgersForEachRow(context->burgers.get(), context->state,
                        [&](const PetscInt p[3], PetscInt c, const std::vector<JacobianEntry> &row) -> PetscErrorCode {
                          PetscReal value = context->shift;
                          for (const JacobianEntry &entry : row)
                            if (entry.p[0] == p[0] && entry.p[1] == p[1] && entry.c == c)
                              value += context->scale * entry.value[c];
                          *array++ = value;
                          return PETSC_SUCCESS;
                        }));
  PetscInt n;
  PetscCall(VecGetLocalSize(d, &n));
  array -= n;
  PetscCall(VecRestoreArrayWrite(d, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// For what needs a matrix's entries.
PetscErrorCode refuse(Mat J, const char *what) {
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)J), PETSC_ERR_SUP,
          "the Jacobian of Burgers' equation is matrix-free (-burgers_jacobian shell) and has no %s; use "
          "-burgers_jacobian shell_aij or aij, or -pc_type jacobi or none",
          what);
}
PetscErrorCode refuse_relaxation(Mat J, Vec, PetscReal, MatSORType, PetscReal, PetscInt, PetscInt, Vec) {
  return refuse(J, "relaxation (sor, eisenstat, and the smoothers of mg)");
}
PetscErrorCode refuse_factor(Mat J, MatFactorType, Mat *) {
  return refuse(J, "factors");
}
PetscErrorCode refuse_submatrices(Mat J, PetscInt, const IS[], const IS[], MatReuse, Mat *[]) {
  return refuse(J, "submatrices");
}
PetscErrorCode refuse_overlap(Mat J, PetscInt, IS[], PetscInt) {
  return refuse(J, "overlapping parts");
}
PetscErrorCode refuse_coloring(Mat J, ISColoring, MatFDColoring) {
  return refuse(J, "entries to find by differences");
}
PetscErrorCode refuse_row(Mat J, PetscInt, PetscInt *, PetscInt **, PetscScalar **) {
  return refuse(J, "rows to look up");
}

#if PETSC_VERSION_GE(3, 26, 0) // an older one may have no name for this operation
PetscErrorCode refuse_graph(Mat J, PetscBool, PetscBool, PetscReal, PetscInt, PetscInt[], Mat *) {
  return refuse(J, "graph (gamg)");
}
#endif

// Nothing is stored.
PetscErrorCode get_info(Mat J, MatInfoType, MatInfo *info) {
  PetscInt size;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(J, &size));
  *info = {};
  info->block_size = size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode convert(Mat J, MatType type, MatReuse reuse, Mat *B) {
  Jacobian *context;
  Mat       made;

  PetscFunctionBegin;
  if (!BurgersIsAIJ(type)) PetscCall(refuse(J, "conversion but to the types aij"));
  PetscCall(get_jacobian(J, &context));
  if (context->scale != 0) PetscCall(update_state(J, context));
  PetscCall(BurgersCreateAIJ(context->burgers.get(), type, &made));
  if (context->scale != 0)
    PetscCall(BurgersAssembleJacobian(context->burgers.get(), context->state, context->shift, context->scale, made));
  else {
    PetscCall(assemble(made));
    PetscCall(MatShift(made, context->shift));
  }
  if (reuse == MAT_INITIAL_MATRIX)
    *B = made;
  else if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(made, *B, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&made));
  } else
    PetscCall(MatHeaderReplace(J, &made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multigrid_remedy(Mat, const char **remedy) {
  *remedy =
      "the Jacobian is matrix-free; use -pc_type jacobi or none, or -burgers_jacobian shell_aij with -pc_type lu, "
      "gamg, ...";
  return PETSC_SUCCESS;
}

// A Jacobian without a state. n: the rank's rows.
PetscErrorCode create_shell(const SharedBurgers &burgers, PetscInt n, PetscInt block, VecType type, Mat *J) {
  Jacobian *context = new Jacobian;

  PetscFunctionBegin;
  context->burgers = burgers;
  PetscCall(MatCreateShell(burgers->comm(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, context, J));
  PetscCall(MatShellSetContextDestroy(*J, destructor(destroy_jacobian)));
  PetscCall(MatShellSetManageScalingShifts(*J)); // they are folded into the kernel
  PetscCall(MatSetVecType(*J, type));
  PetscCall(MatBindToCPU(*J, PETSC_FALSE));
  PetscCall(MatSetBlockSize(*J, block));
  PetscCall(set_operation(*J, MATOP_MULT, mult));
  PetscCall(set_operation(*J, MATOP_MULT_TRANSPOSE, mult_transpose));
  PetscCall(set_operation(*J, MATOP_SCALE, scale));
  PetscCall(set_operation(*J, MATOP_SHIFT, shift));
  PetscCall(set_operation(*J, MATOP_ZERO_ENTRIES, zero_entries));
  PetscCall(set_operation(*J, MATOP_GET_DIAGONAL, get_diagonal));
  PetscCall(set_operation(*J, MATOP_CONVERT, convert));
  PetscCall(set_operation(*J, MATOP_DUPLICATE, duplicate));
  PetscCall(MatSetOperation(*J, MATOP_COPY, reinterpret_cast<OperationFn *>(copy))); // past the shell's, which shares
  PetscCall(set_operation(*J, MATOP_SOR, refuse_relaxation));
  PetscCall(set_operation(*J, MATOP_GETINFO, get_info));
  PetscCall(set_operation(*J, MATOP_GET_ROW, refuse_row));
  PetscCall(set_operation(*J, MATOP_CREATE_SUBMATRICES, refuse_submatrices));
  PetscCall(set_operation(*J, MATOP_INCREASE_OVERLAP, refuse_overlap));
  PetscCall(set_operation(*J, MATOP_FDCOLORING_CREATE, refuse_coloring));
#if PETSC_VERSION_GE(3, 26, 0)
  PetscCall(set_operation(*J, MATOP_CREATE_GRAPH, refuse_graph));
#endif
  PetscCall(PetscObjectComposeFunction((PetscObject)*J, "ShellacMultigridRemedy_C", multigrid_remedy));
  PetscCall(PetscObjectChangeTypeName((PetscObject)*J, jacobian_type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// A package of its own: PETSc takes the factors of its own package as the default preconditioner.
PetscErrorCode BurgersRegisterSolvers() {
  PetscFunctionBegin;
  for (MatFactorType kind : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC})
    PetscCall(MatSolverTypeRegister("shellac", jacobian_type, kind, refuse_factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The right-hand side does not depend on time.
static PetscErrorCode compute_jacobian(TS ts, PetscReal, Vec u, Mat A, Mat P, void *) {
  Burgers  *burgers;
  PetscBool ours;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  PetscCall(BurgersSetUp(ts, burgers));
  PetscCall(GridCheckVector(burgers->grid, u, "state"));
  for (Mat J : {A, P}) {
    PetscCall(PetscObjectTypeCompare((PetscObject)J, jacobian_type, &ours));
    if (!ours) {
      Arrays             arrays;
      const PetscScalar *array = NULL;
      PetscCall(arrays.Read(u, &array));
      PetscCall(BurgersSetWaveSpeed(burgers, arrays.memory(), array));
      PetscCall(arrays.Restore());
      PetscCall(BurgersAssembleJacobian(burgers, u, 0, 1, J));
    } else {
      Jacobian *context;
      PetscCall(get_jacobian(J, &context));
      if (context->burgers.get() != burgers)
        PetscCall(take_equation(burgers->shared_from_this(), context)); // a copy of another's
      if (!context->state) PetscCall(VecDuplicate(u, &context->state));
      PetscCall(VecCopy(u, context->state));
      PetscCall(load_state(context));
      context->shift = 0;
      context->scale = 1;
      PetscCall(assemble(J));
    }
    if (A == P) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersSetMatrices(TS ts, Burgers *burgers) {
  Mat                         J = NULL, P = NULL;
  const TSBurgersJacobianType type = burgers->settings.jacobian;
  const Patch                &patch = burgers->patch.patch;
  VecType                     vec_type;
  SNES                        snes;

  PetscFunctionBegin;
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESGetJacobian(snes, &J, NULL, NULL, NULL)); // TSGetRHSJacobian() would make one after TSReset()
  if (burgers->has_matrices && J) PetscFunctionReturn(PETSC_SUCCESS);
  J = NULL;
  if (type != TS_BURGERS_JACOBIAN_AIJ) {
    PetscCall(DMGetVecType(burgers->dm, &vec_type));
    PetscCall(create_shell(burgers->shared_from_this(), (PetscInt)patch.all().points() * patch.dof, patch.dof, vec_type,
                           &J));
  }
  if (type != TS_BURGERS_JACOBIAN_SHELL) {
    MatType aij;
    PetscCall(BurgersChooseAIJ(burgers->dm, &aij));
    PetscCall(BurgersCreateAIJ(burgers, aij, &P));
  }
  PetscCall(TSSetRHSJacobian(ts, J ? J : P, P ? P : J, compute_jacobian, NULL));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&P));
  burgers->has_matrices = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
