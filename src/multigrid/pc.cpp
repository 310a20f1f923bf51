// The preconditioner stencilmg: a shell that runs cycles.

#include <string>

#include "device/arrays.hpp"
#include "device/pc_matrices.hpp"
#include <shellac/multigrid.h>

#include "multigrid/stencilmg.hpp"
#include "multigrid/types.hpp"

namespace shellac {

PetscLogEvent multigrid_setup_event, multigrid_apply_event, multigrid_down_event, multigrid_up_event,
    multigrid_coarse_event;

static constexpr const char *context_name = "Shellac_stencilmg";

PetscErrorCode get_context(PC pc, StencilMG **mg) {
  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)pc, context_name, mg));
  PetscCheck(*mg, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "no context of stencilmg");
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode reset(StencilMG *mg) {
  PetscFunctionBegin;
  if (mg->multigrid) PetscCall(mg->multigrid->Destroy());
  mg->multigrid.reset();
  mg->rows.reset();
  mg->sum.reset();
  PetscCall(destroy_vectors(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy_context(void *argument) {
  StencilMG *mg = context_to_destroy<StencilMG>(argument);
  PetscFunctionBegin;
  PetscCall(reset(mg));
  delete mg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(PC pc) {
  StencilMG *mg;
  PetscFunctionBegin;
  PetscCall(get_context(pc, &mg));
  PetscCall(reset(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The context, with a hierarchy as the options ask for it; also after a set-up that has failed, which PETSc does not repeat.
PetscErrorCode get_ready(PC pc, StencilMG **mg) {
  PetscFunctionBegin;
  PetscCall(get_context(pc, mg));
  if (!(*mg)->is_current()) PetscCall(set_up_stencilmg(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_work(PC pc, StencilMG *mg, int n, Vec *v) {
  Mat A, P;
  PetscFunctionBegin;
  if (!mg->work[n]) {
    PetscCall(get_matrices(pc, &A, &P));
    PetscCall(MatCreateVecs(P, NULL, &mg->work[n]));
  }
  *v = mg->work[n];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where a cycle on these vectors runs.
PetscErrorCode memory_of(Vec b, Vec x, PetscMemType *memory) {
  Arrays             arrays;
  const PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(arrays.Read(b, &array));
  PetscCall(arrays.Read(x, &array));
  *memory = arrays.memory();
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One cycle on arrays: x from b, or improved.
PetscErrorCode cycle(StencilMG *mg, Vec b, Vec x, bool from_x, PetscReal stop, PetscReal limit, PetscReal *norm,
                     InRow row) {
  Arrays             arrays;
  const PetscScalar *pb = NULL;
  PetscScalar       *px = NULL;

  PetscFunctionBegin;
  PetscCall(arrays.Read(b, &pb));
  if (from_x)
    PetscCall(arrays.ReadWrite(x, &px));
  else
    PetscCall(arrays.Write(x, &px));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(mg->multigrid->Apply(arrays.memory(), pb, px, from_x, !from_x && mg->options.full, stop, limit, norm, row));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(log_flops(arrays.memory(), mg->flops[from_x ? 1 : mg->options.full ? 2 : 0]));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode monitor(PC pc, StencilMG *mg, PetscInt n, Vec b, Vec x) {
  Mat       A, P;
  Vec       r;
  PetscReal norm, norm_b;

  PetscFunctionBegin;
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(get_work(pc, mg, 1, &r));
  PetscCall(MatResidual(P, b, x, r));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &norm_b));
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)pc),
                        "  stencilmg application %" PetscInt_FMT ", cycle %" PetscInt_FMT
                        ": residual %.6e, relative %.3e\n",
                        mg->applications, n, (double)norm, norm_b > 0 ? (double)(norm / norm_b) : 0.));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// x = an approximation of A^-1 b, or a better one.
PetscErrorCode improve(PC pc, StencilMG *mg, Vec b, Vec x, bool from_x, InRow row) {
  Mat A, P;
  Vec r, y;

  PetscFunctionBegin;
  if (!mg->fixed && !(from_x && mg->corrects)) {
    PetscCall(cycle(mg, b, x, from_x, 0, 0, NULL, mg->corrects ? InRow{} : row)); // others read x for its residual
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Identity rows are solved exactly, the rest by a cycle for the residual; likewise where the hierarchy only makes
  // corrections.
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(get_work(pc, mg, 0, &y));
  PetscCall(get_work(pc, mg, 1, &r));
  if (!from_x) {
    PetscCall(VecPointwiseMult(x, b, mg->fixed));
  } else if (mg->fixed) {
    PetscCall(MatResidual(P, b, x, r));
    PetscCall(VecPointwiseMult(y, r, mg->fixed));
    PetscCall(VecAXPY(x, 1, y));
  }
  PetscCall(MatResidual(P, b, x, r));
  PetscCall(cycle(mg, r, y, false, 0, 0, NULL, {}));
  PetscCall(VecAXPY(x, 1, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode apply(PC pc, Vec b, Vec x) {
  StencilMG *mg;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &mg));
  if (!mg->failure.empty()) PetscFunctionReturn(fail_application(x));
  PetscCall(PetscLogEventBegin(multigrid_apply_event, pc, b, x, 0));
  mg->applications++;
  for (PetscInt n = 0; n < mg->cycles; n++) {
    PetscCall(improve(pc, mg, b, x, n > 0, {n > 0, n + 1 < mg->cycles && !mg->monitor}));
    if (mg->monitor) PetscCall(monitor(pc, mg, n + 1, b, x));
  }
  PetscCall(PetscLogEventEnd(multigrid_apply_event, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of the rows; none where they are ones.
PetscErrorCode find_masses(PC pc, StencilMG *mg) {
  Mat          A, P;
  StencilMat  *context;
  PetscScalar *m;
  int          any = 0;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&mg->masses));
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(MatGetReadyStencil(P, &context));
  PetscCall(MatCreateVecs(P, NULL, &mg->masses));
  PetscCall(VecGetArrayWrite(mg->masses, &m));
  const Grid &grid = context->grid;
  if (!mg->sum)
    PetscCall(mg->multigrid->GetMasses(m, &any));
  else
    for_each_on_host(grid.owned_patch().all(), [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt p[3] = {i, j, k};
      PetscReal      mass = 1;
      for (int a = 0; a < 3; a++) mass *= mg->sum->axes[a].mass[(size_t)(grid.start[a] + p[a])];
      any = any || mass != 1;
      m[grid.owned_patch().index(i, j, k)] = mass;
    });
  PetscCall(VecRestoreArrayWrite(mg->masses, &m));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, grid.comm));
  if (!any) PetscCall(VecDestroy(&mg->masses));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = the transpose of a cycle, or of full multigrid, times b. The hierarchy has it between the masses of symmetric
// operators.
PetscErrorCode transposed_cycle(PC pc, StencilMG *mg, bool full, Vec b, Vec y) {
  Arrays             arrays;
  const PetscScalar *pb = NULL;
  PetscScalar       *py = NULL;
  Vec                scaled = b;

  PetscFunctionBegin;
  if (!mg->has_masses) {
    PetscCall(find_masses(pc, mg));
    mg->has_masses = true;
  }
  if (mg->masses) {
    PetscCall(get_work(pc, mg, 2, &scaled));
    PetscCall(VecPointwiseDivide(scaled, b, mg->masses));
  }
  PetscCall(arrays.Read(scaled, &pb));
  PetscCall(arrays.Write(y, &py));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(mg->multigrid->ApplyTranspose(arrays.memory(), pb, py, full));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(log_flops(arrays.memory(), mg->flops[full ? 2 : 0]));
  PetscCall(arrays.Restore());
  if (mg->masses) PetscCall(VecPointwiseMult(y, y, mg->masses));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The transpose of what apply() does: all of it in the opposite order.
PetscErrorCode apply_transpose(PC pc, Vec b, Vec x) {
  StencilMG *mg;
  Mat        A, P;
  Vec        y, r;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &mg));
  if (!mg->failure.empty()) PetscFunctionReturn(fail_application(x));
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(get_work(pc, mg, 0, &y));
  PetscCall(get_work(pc, mg, 1, &r));
  const auto residual = [&]() {
    PetscCall(MatMultTranspose(P, x, r));
    return VecAYPX(r, -1, b);
  };
  PetscCall(PetscLogEventBegin(multigrid_apply_event, pc, b, x, 0));
  mg->applications++;
  for (PetscInt n = 0; n < mg->cycles; n++) {
    const bool full = mg->options.full && (n + 1 == mg->cycles || mg->fixed || mg->corrects);
    if (n > 0) PetscCall(residual());
    PetscCall(transposed_cycle(pc, mg, full, n > 0 ? r : b, n > 0 ? y : x));
    if (n > 0) PetscCall(VecAXPY(x, 1, y));
    if (!mg->fixed) continue;
    PetscCall(residual()); // identity rows are solved exactly, after the rest
    PetscCall(VecPointwiseMult(y, r, mg->fixed));
    PetscCall(VecAXPY(x, 1, y));
  }
  PetscCall(PetscLogEventEnd(multigrid_apply_event, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_richardson(PC pc, Vec b, Vec x, Vec r, PetscReal rtol, PetscReal abstol, PetscReal dtol,
                                PetscInt its, PetscBool from_zero, PetscInt *done,
                                PCRichardsonConvergedReason *reason) {
  StencilMG *mg;
  Mat        A, P;
  PetscReal  norm = 0, first = 0;
  PetscInt   n = 0;
  MatChange  change; // with PCSetReusePreconditioner() the matrix may be any other one

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &mg));
  if (!mg->failure.empty()) { // PETSc has no such reason for PCs, and takes it over as the solver's
    *reason = (PCRichardsonConvergedReason)KSP_DIVERGED_PC_FAILED;
    *done = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(mg->made_of.Compare(P, &change));
  const bool current = change == MatChange::none && A == P; // cycles from x are steps for A x = b
  PetscCall(PetscLogEventBegin(multigrid_apply_event, pc, b, x, 0));
  mg->applications++;
  // the residual's norm comes out of the first pass of the cycle that follows, where that can be
  const bool   tests = mg->tests && (rtol > 0 || abstol > 0);
  PetscMemType memory = PETSC_MEMTYPE_HOST;
  PetscCall(memory_of(b, x, &memory));
  const bool     inside = current && !mg->fixed && !mg->corrects && mg->multigrid->gives_norm(memory);
  constexpr auto none = (PCRichardsonConvergedReason)0;
  const auto     limit = [&]() { return dtol > 0 && first > 0 ? dtol * first : PETSC_MAX_REAL; };
  *reason = none;
  if (tests) PetscCall(VecNorm(b, NORM_2, &first)); // as KSPConvergedDefault() has it
  const auto judge = [&]() {
    if (first == 0) first = norm;
    if (PetscIsInfOrNanReal(norm))
      *reason = PCRICHARDSON_DIVERGED_DTOL;
    else if (norm <= abstol)
      *reason = PCRICHARDSON_CONVERGED_ATOL;
    else if (norm <= rtol * first)
      *reason = PCRICHARDSON_CONVERGED_RTOL;
    else if (norm > limit())
      *reason = PCRICHARDSON_DIVERGED_DTOL;
  };
  // cycles in a row for the same b and x, which others read at the end: only then is x written
  const auto in_row = [&](PetscInt c) {
    const bool follows = c + 1 < mg->cycles || (n + 1 < its && (inside || !tests));
    return InRow{n > 0 || c > 0, follows && current && !mg->monitor};
  };
  while (true) {
    const bool zero = n == 0 && from_zero;
    if (zero) {
      norm = first;
    } else if (tests && !inside) {
      PetscCall(MatResidual(A, b, x, r));
      PetscCall(VecNorm(r, NORM_2, &norm));
    }
    if (tests && (zero || !inside)) judge();
    if (*reason != none || n == its) break;
    if (!zero && inside) {
      PetscCall(cycle(mg, b, x, true, PetscMax(abstol, rtol * first), limit(), tests ? &norm : NULL, in_row(0)));
      if (tests) judge();
      if (*reason != none) break; // the cycle has ended before it changed x
    } else if (zero || current) {
      PetscCall(improve(pc, mg, b, x, !zero, in_row(0)));
    } else {
      Vec y;
      PetscCall(get_work(pc, mg, 2, &y));
      if (!tests) PetscCall(MatResidual(A, b, x, r));
      for (PetscInt c = 0; c < mg->cycles; c++) PetscCall(improve(pc, mg, r, y, c > 0));
      PetscCall(VecAXPY(x, 1, y));
    }
    for (PetscInt c = 1; c < mg->cycles && (current || zero); c++) PetscCall(improve(pc, mg, b, x, true, in_row(c)));
    n++;
    if (mg->monitor) PetscCall(monitor(pc, mg, n, b, x));
  }
  // what PETSc has as the solver's reason, and not for PCs, it takes over; there is no way to give it the norm
  if (*reason == none) *reason = tests ? (PCRichardsonConvergedReason)KSP_DIVERGED_ITS : PCRICHARDSON_CONVERGED_ITS;
  *done = n;
  PetscCall(PetscLogEventEnd(multigrid_apply_event, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// "65 x 65", of a level of a hierarchy in so many dimensions.
std::string points_of(const LevelInfo &level, int dim) {
  std::string text = std::to_string(level.N[0]);
  for (int a = 1; a < dim; a++) text += " x " + std::to_string(level.N[a]);
  return text;
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  StencilMG *mg;
  PetscBool  ascii, set;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &mg));
  PetscCall(PCGetOperatorsSet(pc, NULL, &set)); // not after PCReset()
  if (set && mg->multigrid && !mg->is_current()) PetscCall(set_up_stencilmg(pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  const char *const names[] = {"V- or F-cycle", "V-cycle", "W-cycle", "F-cycle"};
  const Cycle       type = mg->multigrid ? mg->multigrid->cycle() : mg->options.cycle;
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s%s, %" PetscInt_FMT " for each application, arithmetic in %s precision\n",
                                   mg->options.full ? "full multigrid, " : "", names[(int)type], mg->cycles,
                                   PCStencilMGPrecisions[mg->single ? 1 : 0]));
  PetscCall(view_findings(mg, viewer));
  if (!mg->multigrid || !mg->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const auto     levels = mg->multigrid->levels();
  const int      dim = levels[0].N[2] > 1 ? 3 : levels[0].N[1] > 1 ? 2 : 1;
  PetscLogDouble bytes = 0;
  for (const LevelInfo &level : levels) bytes += level.bytes;
  PetscCall(PetscViewerASCIIPrintf(viewer, "%d levels, %.3g MB on the first rank besides the vectors\n",
                                   (int)levels.size(), bytes / 1e6));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (levels[0].weighted)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "rows have weights of their own, the matrix is not symmetric: for gmres or richardson, not for cg\n"));
  if (levels[0].nonsymmetric)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "the matrix is not symmetric, restriction follows its columns: for gmres or bcgs, not for cg\n"));
  if (mg->near)
    PetscCall(PetscViewerASCIIPrintf(
        viewer,
        "couplings reach two points far: levels are of the neighbours' couplings with the same second moments\n"));
  if (mg->mixed_signs)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "couplings have both signs, which no coarse grid follows: convergence may be slow, or fail; use upwind "
                "differences, a finer grid, or -pc_type bjacobi\n"));
  if (mg->changes_followed)
    PetscCall(PetscViewerASCIIPrintf(viewer, "levels updated since they were built: %" PetscInt_FMT " times\n",
                                     mg->changes_followed));
  for (size_t l = 0; l < levels.size(); l++) {
    const LevelInfo &level = levels[l];
    char             weights[128] = "", one[32];
    const bool       sweeps = level.nonsymmetric && level.unknowns == 1;
    if (sweeps) PetscCall(PetscSNPrintf(weights, sizeof(weights), "%" PetscInt_FMT " steps", level.steps));
    for (PetscInt s = 0; s < level.steps && !sweeps; s++) {
      PetscCall(PetscSNPrintf(one, sizeof(one), "%s%.4g", s ? ", " : "", (double)level.weights[s]));
      PetscCall(PetscStrlcat(weights, one, sizeof(weights)));
    }
    if (level.ratio >= 0)
      PetscCall(
          PetscViewerASCIIPrintf(viewer,
                                 "level %d: %s%s, %d steps of %s alone: beside the diagonal, rows have at most %.2g of "
                                 "it, so that coarser levels are not needed\n",
                                 (int)l, points_of(level, dim).c_str(), level.place.c_str(), (int)level.steps,
                                 level.unknowns > 1 ? "point-block Jacobi"
                                 : sweeps           ? "Gauss-Seidel"
                                                    : "Jacobi",
                                 (double)level.ratio));
    else if (l + 1 < levels.size() && level.unknowns > 1)
      PetscCall(PetscViewerASCIIPrintf(
          viewer, "level %d: %s, %d unknowns a point%s, damped point-block Jacobi (%s), %.3g MB\n", (int)l,
          points_of(level, dim).c_str(), level.unknowns, level.place.c_str(), weights, level.bytes / 1e6));
    else if (l + 1 < levels.size())
      PetscCall(PetscViewerASCIIPrintf(viewer, "level %d: %s, %s%s%s, %s (%s)\n", (int)l, points_of(level, dim).c_str(),
                                       level.variable ? "variable coefficients, " : "", level.passes,
                                       level.place.c_str(),
                                       level.red_black ? "red-black relaxation"
                                       : sweeps        ? "Gauss-Seidel in alternating directions"
                                                       : "Chebyshev-weighted Jacobi",
                                       weights));
    else
      PetscCall(PetscViewerASCIIPrintf(viewer, "level %d: %s%s, solved by %s\n", (int)l, points_of(level, dim).c_str(),
                                       level.place.c_str(), level.unknowns > 1 ? "its inverse" : level.passes));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// The number of the set-up of which an application queues kernels on one GPU, and does nothing else; 0 where it does more.
static PetscErrorCode get_cycles(PC pc, PetscInt64 *number) {
  StencilMG *mg;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &mg));
  const bool alone = mg->is_current() && mg->failure.empty() && mg->options.graph && !mg->fixed && !mg->monitor;
  *number = alone && mg->cycles == 1 ? mg->number : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode forget_stencilmg(PC pc) {
  return destroy(pc);
}

PetscErrorCode use_stencilmg(PC pc) {
  StencilMG *mg;

  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)pc, context_name, &mg));
  if (!mg) { // a PC that becomes another type and this again keeps it
    mg = new StencilMG;
    PetscCall(compose_context((PetscObject)pc, context_name, mg, destroy_context));
    PetscCall(PetscObjectAddOptionsHandler((PetscObject)pc, set_from_options, NULL, mg));
  }
  PetscCall(PCShellSetName(pc, "geometric multigrid, matrix-free"));
  PetscCall(PCShellSetSetUp(pc, set_up_stencilmg));
  PetscCall(PCShellSetApply(pc, apply));
  PetscCall(PCShellSetApplyTranspose(pc, apply_transpose));
  PetscCall(PCShellSetApplyRichardson(pc, apply_richardson));
  PetscCall(PCShellSetPreSolve(pc, prepare_stencilmg));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCPreSolveChangeRHS_C", NULL)); // it leaves b as it is
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "ShellacCycles_C", get_cycles));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, suited_method_name, suit_stencilmg));
  PetscCall(PCShellSetView(pc, view));
  PetscCall(PCShellSetDestroy(pc, destroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_StencilMG(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(use_stencilmg(pc));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCSTENCILMG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
