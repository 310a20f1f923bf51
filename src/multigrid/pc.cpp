// The preconditioner stencilmg: a shell that reads the operator's axes and runs cycles.

#include <algorithm>
#include <limits>

#include "device/arrays.hpp"
#include <shellac/multigrid.h>

#include "capture/mat.hpp"
#include "multigrid/axes_of.hpp"
#include "multigrid/stencilmg.hpp"
#include "multigrid/types.hpp"

namespace shellac {

PetscLogEvent multigrid_setup_event, multigrid_apply_event, multigrid_down_event, multigrid_up_event,
    multigrid_coarse_event;

static constexpr const char *context_name = "Shellac_stencilmg";

PetscErrorCode get_context(PC pc, StencilMG **mg) {
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)pc, context_name, (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "no context of stencilmg");
  PetscCall(PetscContainerGetPointer(container, (void **)mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode destroy_vectors(StencilMG *mg) {
  PetscFunctionBegin;
  PetscCall(VecDestroy(&mg->fixed));
  for (Vec &v : mg->work) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(StencilMG *mg) {
  PetscFunctionBegin;
  if (mg->multigrid) PetscCall(mg->multigrid->Destroy());
  mg->multigrid.reset();
  mg->rows.reset();
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

// Says what to use in place of a matrix of another type.
PetscErrorCode refuse_type(PC pc, Mat P, MatType type) {
  const char  *prefix, *dm_prefix = NULL, *own = NULL;
  DM           dm;
  PetscOptions options;
  PetscBool    fell_back;
  char         remedy[256];
  PetscErrorCode (*get_own)(Mat, const char **) = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)P, "ShellacMultigridRemedy_C", &get_own));
  if (get_own) PetscCall((*get_own)(P, &own));
  PetscCall(PCGetDM(pc, &dm));
  if (dm) PetscCall(PetscObjectGetOptionsPrefix((PetscObject)dm, &dm_prefix)); // PCTELESCOPE's grids have one
  PetscCall(MatGetOptionsPrefix(P, &prefix));
  PetscCall(PetscObjectGetOptions((PetscObject)P, &options));
  PetscCall(PetscOptionsHasName(options, prefix, "-mat_stencil_fallback", &fell_back));
  const bool assembled = strstr(type, "aij") != NULL;
  if (own)
    PetscCall(PetscStrncpy(remedy, own, sizeof(remedy)));
  else if (fell_back && assembled)
    PetscCall(
        PetscSNPrintf(remedy, sizeof(remedy),
                      "entries outside the DMDA's stencil made -mat_stencil_fallback take it in place of stencil; "
                      "create the DMDA with the stencil that is assembled"));
  else
    PetscCall(PetscSNPrintf(remedy, sizeof(remedy),
                            "use -%sdm_mat_type stencil (-mat_type stencil where the program chooses the DM's)",
                            dm_prefix ? dm_prefix : ""));
  PetscCheck(
      false, PetscObjectComm((PetscObject)P), PETSC_ERR_ARG_WRONG,
      "-pc_type stencilmg needs an operator whose coefficients on a DMDA it can read, as of stencil, laplace or a "
      "registered formula; this matrix is of type %s: %s%s",
      type, remedy, assembled ? ", or -pc_type gamg" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The largest weight m of a row over the smallest.
PetscReal range_of_weights(const Axis axes[3]) {
  PetscReal range = 1;
  for (int a = 0; a < 3; a++) {
    const auto ends = std::minmax_element(axes[a].mass.begin(), axes[a].mass.end());
    range *= *ends.second / *ends.first;
  }
  return range;
}

// Rows of equal weights, none of which takes values of fixed points.
bool is_symmetric(const Axis axes[3]) {
  bool is = PetscAbsReal(range_of_weights(axes) - 1) <= rounding;
  for (int a = 0; a < 3; a++)
    if (axes[a].fixed) is = is && axes[a].edge[1] == 0 && axes[a].edge[axes[a].N() - 1] == 0;
  return is;
}

// The inverse diagonal of identity rows, and zero elsewhere.
struct SetFixed {
  Patch              patch;
  bool               ends[3]; // all points at the ends of these axes are fixed, or
  const PetscScalar *fixed;   // null, or the values over a box
  Box                box;
  PetscScalar       *values; // diagonal entries, where `fixed` is null

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = patch.index(i, j, k);
    bool           is = false;
    for (int a = 0; a < 3; a++)
      is = is || (ends[a] && (patch.at_domain_end(p, a, LOWER) || patch.at_domain_end(p, a, UPPER)));
    if (fixed)
      values[at] = fixed[box.index(p)];
    else
      values[at] = is ? (PetscScalar)1 / values[at] : (PetscScalar)0;
  }
};

// rows: null for a sum over axes
PetscErrorCode set_fixed(StencilMG *mg, Mat P, const Grid &grid, const Axis axes[3], OperatorRows *rows) {
  Arrays   arrays(rows ? rows->memory : PETSC_MEMTYPE_HOST), anywhere;
  SetFixed set = {};
  bool     any = rows && rows->has_fixed;

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    set.patch.N[a] = grid.N[a];
    set.patch.start[a] = grid.start[a];
    set.patch.size[a] = grid.size[a];
    set.ends[a] = !rows && axes[a].fixed;
    any = any || set.ends[a];
  }
  if (!any) {
    PetscCall(VecDestroy(&mg->fixed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!mg->fixed) PetscCall(MatCreateVecs(P, NULL, &mg->fixed));
  Arrays &of = rows ? arrays : anywhere;
  if (rows) {
    PetscCall(of.Write(mg->fixed, &set.values));
    PetscCall(rows->fixed.Get(of.memory(), &set.fixed));
    set.box = rows->box;
  } else {
    PetscCall(MatGetDiagonal(P, mg->fixed));
    PetscCall(of.ReadWrite(mg->fixed, &set.values));
  }
  PetscCall(for_each_of_box(of.memory(), set.patch.all(), set));
  PetscCall(of.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(PC pc) {
  StencilMG   *mg;
  StencilMat  *context;
  Mat          A, P;
  MatType      type;
  PetscBool    device;
  bool         ours;
  VecType      vec_type;
  Axis         axes[3];
  PetscScalar  sigma;
  std::string  why;
  bool         not_finite = false;
  PetscMPIInt  ranks;
  MPI_Comm     comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(multigrid_setup_event, pc, 0, 0, 0));
  PetscCall(get_context(pc, &mg));
  mg->stale = true; // until all is made
  PetscCall(PCGetOperators(pc, &A, &P));
  PetscCall(MatGetType(P, &type));
  PetscCall(MatIsCaptured(P, &ours));
  if (!ours) PetscCall(refuse_type(pc, P, type));
  PetscCall(MatGetReadyStencil(P, &context));
  PetscCall(MatGetVecType(P, &vec_type));
  PetscCall(PetscStrendswith(vec_type, VECCUDA, &device));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscObjectId id;
  PetscCall(PetscObjectGetId((PetscObject)P, &id));
  if (id != mg->matrix || mg->on_device != device) PetscCall(destroy_vectors(mg));
  mg->matrix = id;
  mg->on_device = device;
  std::unique_ptr<StencilOperator> star;
  PetscCall(try_method(P, "ShellacEquivalentStar_C", NULL, &star));
  PetscCall(
      MatStencilGetAxes(context, star ? star.get() : context->op.get(), &mg->axes_memory, axes, &sigma, &why));
  mg->corrects = mg->single || star;
  // the last level's modes lose as many digits as the root of the range of the rows' weights has
  const PetscReal precision = mg->single ? std::numeric_limits<float>::epsilon() : PETSC_MACHINE_EPSILON;
  if (why.empty() && !(precision * PetscSqrtReal(range_of_weights(axes)) <= PetscReal(1e-3)))
    why = "has rows with weights of a wide range";
  const bool variable = !why.empty();
  if (!variable)
    mg->rows.reset();
  else if (!mg->rows)
    mg->rows = std::make_unique<OperatorRows>();
  OperatorRows *rows = mg->rows.get();
  if (variable) {
    if (mg->multigrid) mg->multigrid->LendMemory(&rows->couplings);
    const auto &op = static_cast<CapturedStencil &>(*context->op);
    PetscCall(MatStencilGetCouplings(context, ranks == 1 && SHELLAC_CUDA ? op.home() : PETSC_MEMTYPE_HOST,
                                     mg->single ? 1e24 : 1e60, rows, &why, &not_finite));
  }
  PetscCheck(!not_finite, comm, PETSC_ERR_FP, "-pc_type stencilmg: this matrix of type %s %s", type, why.c_str());
  PetscCheck(why.empty(), comm, PETSC_ERR_SUP,
             "-pc_type stencilmg serves symmetric operators that couple neighbouring points, with one unknown a point; "
             "this matrix of type %s %s",
             type, why.c_str());
  mg->symmetric = variable ? rows->symmetric : is_symmetric(axes);
  PetscCall(set_fixed(mg, P, context->grid, axes, rows));
  PetscCall(CreateMultigrid(context->grid, variable ? rows->axes : axes, sigma, rows, mg->options, mg->single, device,
                            context->halo_way, &mg->multigrid));
  PetscCall(PCSetFailedReason(pc, mg->multigrid->failed() ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_NOERROR));
  if (variable && PetscMemTypeHost(rows->memory)) mg->rows.reset(); // memory is cheap to get there
  mg->flops = 0;
  for (const LevelInfo &level : mg->multigrid->levels())
    mg->flops +=
        (PetscLogDouble)level.N[0] * level.N[1] * level.N[2] * (2 * level.steps + 1) * (4 * context->grid.dim + 4);
  mg->flops /= ranks;
  mg->stale = false;
  PetscCall(PetscLogEventEnd(multigrid_setup_event, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The context, with a hierarchy as the options ask for it; also after a set-up that has failed, which PETSc does not repeat.
PetscErrorCode get_ready(PC pc, StencilMG **mg) {
  PetscFunctionBegin;
  PetscCall(get_context(pc, mg));
  if (!(*mg)->is_current()) PetscCall(set_up(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_work(PC pc, StencilMG *mg, int n, Vec *v) {
  Mat A, P;
  PetscFunctionBegin;
  if (!mg->work[n]) {
    PetscCall(PCGetOperators(pc, &A, &P));
    PetscCall(MatCreateVecs(P, NULL, &mg->work[n]));
  }
  *v = mg->work[n];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One cycle on arrays: x from b, or improved.
PetscErrorCode cycle(StencilMG *mg, Vec b, Vec x, bool from_x, PetscReal stop, PetscReal limit, PetscReal *norm) {
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
  PetscCall(mg->multigrid->Apply(arrays.memory(), pb, px, from_x, !from_x && mg->full, stop, limit, norm));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(log_flops(arrays.memory(), mg->flops));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode monitor(PC pc, StencilMG *mg, PetscInt n, Vec b, Vec x) {
  Mat                    A, P;
  Vec                    r;
  PetscReal              norm, norm_b;
  MPI_Comm               comm = PetscObjectComm((PetscObject)pc);
  std::vector<PetscReal> coarse;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, &A, &P));
  PetscCall(get_work(pc, mg, 1, &r));
  PetscCall(MatResidual(P, b, x, r));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &norm_b));
  PetscCall(mg->multigrid->LevelNorms(&coarse));
  PetscCall(PetscPrintf(comm,
                        "  stencilmg application %" PetscInt_FMT ", cycle %" PetscInt_FMT
                        ": residual %.6e, relative %.3e; right-hand sides of the coarse levels",
                        mg->applications, n, (double)norm, norm_b > 0 ? (double)(norm / norm_b) : 0.));
  for (PetscReal value : coarse) PetscCall(PetscPrintf(comm, " %.2e", (double)value));
  PetscCall(PetscPrintf(comm, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// x = an approximation of A^-1 b, or a better one.
PetscErrorCode improve(PC pc, StencilMG *mg, Vec b, Vec x, bool from_x) {
  Mat A, P;
  Vec r, y;

  PetscFunctionBegin;
  if (!mg->fixed && !(from_x && mg->corrects)) {
    PetscCall(cycle(mg, b, x, from_x, 0, 0, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Identity rows are solved exactly, the rest by a cycle for the residual; likewise where the hierarchy only makes
  // corrections.
  PetscCall(PCGetOperators(pc, &A, &P));
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
  PetscCall(cycle(mg, r, y, false, 0, 0, NULL));
  PetscCall(VecAXPY(x, 1, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply(PC pc, Vec b, Vec x) {
  StencilMG *mg;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &mg));
  if (mg->multigrid->failed()) { // as PETSc's factorisations do: no method takes this for a solution
    PetscCall(VecSet(x, std::numeric_limits<PetscReal>::infinity()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(multigrid_apply_event, pc, b, x, 0));
  mg->applications++;
  for (PetscInt n = 0; n < mg->cycles; n++) {
    PetscCall(improve(pc, mg, b, x, n > 0));
    if (mg->monitor) PetscCall(monitor(pc, mg, n + 1, b, x));
  }
  PetscCall(PetscLogEventEnd(multigrid_apply_event, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The transpose of a cycle over a symmetric operator is itself, but for the F-cycle and full multigrid.
PetscErrorCode apply_transpose(PC pc, Vec b, Vec x) {
  StencilMG *mg;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &mg));
  PetscCheck(
      mg->symmetric, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "stencilmg has a transpose only over symmetric operators (with boundary forms: eliminated, neumann and robin, no "
      "mirrored axis), which this one is not; use a method without it, such as gmres or bcgs");
  PetscCheck(!mg->full && mg->options.cycle != Cycle::F, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "stencilmg has a transpose only of V- and W-cycles; use -pc_stencilmg_type multiplicative and "
             "-pc_stencilmg_cycle_type v or w, or a method without it, such as gmres or bcgs");
  PetscCall(apply(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_richardson(PC pc, Vec b, Vec x, Vec r, PetscReal rtol, PetscReal abstol, PetscReal dtol,
                                PetscInt its, PetscBool from_zero, PetscInt *done,
                                PCRichardsonConvergedReason *reason) {
  StencilMG *mg;
  Mat        A, P;
  PetscReal  norm = 0, first = 0;
  PetscInt   n = 0;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &mg));
  PetscCall(PCGetOperators(pc, &A, &P));
  PetscCall(PetscLogEventBegin(multigrid_apply_event, pc, b, x, 0));
  mg->applications++;
  // the residual's norm comes out of the first pass of the cycle that follows, where that can be
  const bool     tests = rtol > 0 || abstol > 0;
  const bool     inside = A == P && !mg->fixed && !mg->corrects && mg->multigrid->gives_norm();
  constexpr auto none = (PCRichardsonConvergedReason)0;
  const auto     limit = [&]() { return dtol > 0 && first > 0 ? dtol * first : PETSC_MAX_REAL; };
  *reason = none;
  if (mg->multigrid->failed()) { // PETSc has no such reason for PCs, and takes it over as the solver's
    *reason = (PCRichardsonConvergedReason)KSP_DIVERGED_PC_FAILED;
    *done = 0;
    PetscCall(PetscLogEventEnd(multigrid_apply_event, pc, b, x, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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
      PetscCall(cycle(mg, b, x, true, PetscMax(abstol, rtol * first), limit(), tests ? &norm : NULL));
      if (tests) judge();
      if (*reason != none) break; // the cycle has ended before it changed x
    } else if (zero || A == P) {
      PetscCall(improve(pc, mg, b, x, !zero));
    } else {
      Vec y;
      PetscCall(get_work(pc, mg, 2, &y));
      if (!tests) PetscCall(MatResidual(A, b, x, r));
      for (PetscInt c = 0; c < mg->cycles; c++) PetscCall(improve(pc, mg, r, y, c > 0));
      PetscCall(VecAXPY(x, 1, y));
    }
    for (PetscInt c = 1; c < mg->cycles && (A == P || zero); c++) PetscCall(improve(pc, mg, b, x, true));
    n++;
    if (mg->monitor) PetscCall(monitor(pc, mg, n, b, x));
  }
  if (*reason == none) *reason = PCRICHARDSON_CONVERGED_ITS;
  *done = n;
  PetscCall(PetscLogEventEnd(multigrid_apply_event, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  StencilMG *mg;
  PetscBool  ascii;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &mg));
  if (mg->multigrid && !mg->is_current()) PetscCall(set_up(pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%s%s-cycle, %" PetscInt_FMT " for each application, arithmetic in %s precision\n",
                                   mg->full ? "full multigrid, " : "",
                                   mg->options.cycle == Cycle::V   ? "V"
                                   : mg->options.cycle == Cycle::W ? "W"
                                                                   : "F",
                                   mg->cycles, PCStencilMGPrecisions[mg->single ? 1 : 0]));
  if (!mg->multigrid) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "levels: not set up yet\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto     levels = mg->multigrid->levels();
  PetscLogDouble bytes = 0;
  for (const LevelInfo &level : levels) bytes += level.bytes;
  PetscCall(PetscViewerASCIIPrintf(viewer, "%d levels, %.3g MB on the first rank besides the vectors\n",
                                   (int)levels.size(), bytes / 1e6));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (levels[0].weighted)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "rows have weights of their own, the matrix is not symmetric: for gmres or richardson, not for cg\n"));
  for (size_t l = 0; l < levels.size(); l++) {
    const LevelInfo &level = levels[l];
    char             weights[128] = "", one[32];
    for (PetscInt s = 0; s < level.steps; s++) {
      PetscCall(PetscSNPrintf(one, sizeof(one), "%s%.4g", s ? ", " : "", (double)level.weights[s]));
      PetscCall(PetscStrlcat(weights, one, sizeof(weights)));
    }
    if (l + 1 < levels.size())
      PetscCall(PetscViewerASCIIPrintf(
          viewer,
          "level %d: %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
          ", %s%s%s, Chebyshev-weighted Jacobi (%s)\n",
          (int)l, level.N[0], level.N[1], level.N[2], level.variable ? "variable coefficients, " : "",
          level.passes, level.whole ? "" : ", distributed", weights));
    else
      PetscCall(PetscViewerASCIIPrintf(
          viewer, "level %d: %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", solved by its %s\n", (int)l,
          level.N[0], level.N[1], level.N[2], level.variable ? "inverse" : "axes' modes"));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCCreate_StencilMG(PC pc) {
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PetscObjectQuery((PetscObject)pc, context_name, (PetscObject *)&container));
  if (!container) { // a PC that becomes another type and this again keeps it
    auto *mg = new StencilMG;
    PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)pc), &container));
    PetscCall(PetscContainerSetPointer(container, mg));
    PetscCall(PetscContainerSetCtxDestroy(container, destructor(destroy_context)));
    PetscCall(PetscObjectCompose((PetscObject)pc, context_name, (PetscObject)container));
    PetscCall(PetscObjectAddOptionsHandler((PetscObject)pc, set_from_options, NULL, mg));
    PetscCall(PetscContainerDestroy(&container));
  }
  PetscCall(PCShellSetName(pc, "geometric multigrid, matrix-free"));
  PetscCall(PCShellSetSetUp(pc, set_up));
  PetscCall(PCShellSetApply(pc, apply));
  PetscCall(PCShellSetApplyTranspose(pc, apply_transpose));
  PetscCall(PCShellSetApplyRichardson(pc, apply_richardson));
  PetscCall(PCShellSetView(pc, view));
  PetscCall(PCShellSetDestroy(pc, destroy));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCSTENCILMG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
