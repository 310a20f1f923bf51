// Set-up of stencilmg: reads the operator, as a sum over axes or by its rows, and makes the levels.

#include <algorithm>
#include <limits>

#include "device/arrays.hpp"
#include "device/pc_matrices.hpp"

#include "capture/mat.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/stencilmg.hpp"
#include "multigrid/types.hpp"

namespace shellac {

PetscErrorCode destroy_vectors(StencilMG *mg) {
  PetscFunctionBegin;
  PetscCall(VecDestroy(&mg->fixed));
  PetscCall(VecDestroy(&mg->masses));
  for (Vec &v : mg->work) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Says what to use in place of a matrix of another type.
PetscErrorCode refuse_type(PC pc, Mat P, MatType type) {
  const char  *prefix, *dm_prefix = NULL, *own = NULL, *pc_prefix;
  DM           dm;
  PetscOptions options;
  PetscBool    fell_back, of_block = PETSC_FALSE;
  PCType       pc_type;
  PetscErrorCode (*get_own)(Mat, const char **) = NULL;

  PetscFunctionBegin;
  PetscCall(PCGetType(pc, &pc_type));
  PetscCall(PetscObjectQueryFunction((PetscObject)P, "ShellacMultigridRemedy_C", &get_own));
  if (get_own) PetscCall((*get_own)(P, &own));
  PetscCall(PCGetDM(pc, &dm));
  if (dm) PetscCall(PetscObjectGetOptionsPrefix((PetscObject)dm, &dm_prefix)); // PCTELESCOPE's grids have one
  PetscCall(MatGetOptionsPrefix(P, &prefix));
  PetscCall(PetscObjectGetOptions((PetscObject)P, &options));
  PetscCall(PetscOptionsHasName(options, prefix, "-mat_stencil_fallback", &fell_back));
  PetscCall(PCGetOptionsPrefix(pc, &pc_prefix));
  if (pc_prefix) PetscCall(PetscStrendswith(pc_prefix, "sub_", &of_block));
  const bool        assembled = strstr(type, "aij") && !strstr(type, "baij") && !of_block; // as GAMG takes
  const std::string remedy =
      own ? own
      : of_block
          ? std::string(
                "it is a block of the matrix, as bjacobi and asm take, and has no grid; use another type for the "
                "blocks, as -") +
                pc_prefix + "pc_type ilu, or this one for the whole matrix"
      : fell_back && assembled
          ? "entries outside the DMDA's stencil made -mat_stencil_fallback take it in place of stencil; "
            "create the DMDA with the stencil that is assembled"
          : std::string("use -") + (dm_prefix ? dm_prefix : "") +
                "dm_mat_type stencil (-mat_type stencil where the program chooses the DM's)";
  PetscCheck(false, PetscObjectComm((PetscObject)P), PETSC_ERR_ARG_WRONG,
             "-pc_type %s needs an operator whose coefficients on a DMDA it can read, as of stencil, laplace or a "
             "registered formula; this matrix is of type %s: %s%s",
             pc_type, type, remedy.c_str(), assembled && !own ? ", or -pc_type gamg" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up_if_changed(PC pc, const MatVersion &made_of) {
  Mat       A, P;
  PetscBool reused;
  MatChange change;

  PetscFunctionBegin;
  PetscCall(PCGetReusePreconditioner(pc, &reused));
  if (reused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(made_of.Compare(P, &change));
  if (change == MatChange::none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(assemble(P));
  PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal range_of_weights(const Axis axes[3]) {
  PetscReal range = 1;
  for (int a = 0; a < 3; a++) {
    const auto ends = std::minmax_element(axes[a].mass.begin(), axes[a].mass.end());
    range *= *ends.second / *ends.first;
  }
  return range;
}

namespace {

// The inverse diagonal of identity rows, and zero elsewhere.
struct SetFixed {
  Patch              patch;
  bool               ends[3]; // all points at the ends of these axes are fixed, or
  const PetscScalar *fixed;   // null, or not zero at those in a box
  Box                box;
  PetscScalar       *values; // diagonal entries

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = patch.index(i, j, k);
    bool           is = fixed && fixed[box.index(p)] != (PetscScalar)0;
    for (int a = 0; a < 3; a++)
      is = is || (ends[a] && (patch.at_domain_end(p, a, LOWER) || patch.at_domain_end(p, a, UPPER)));
    values[at] = is ? (PetscScalar)1 / values[at] : (PetscScalar)0;
  }
};

} // namespace

PetscErrorCode get_fixed(Mat P, const Grid &grid, const Axis axes[3], OperatorRows *rows, Vec *fixed) {
  Arrays   of = rows ? Arrays(rows->memory) : Arrays();
  SetFixed set = {};
  bool     any = rows && rows->has_fixed;

  PetscFunctionBegin;
  set.patch = grid.owned_patch();
  for (int a = 0; a < 3; a++) {
    set.ends[a] = !rows && axes[a].fixed;
    any = any || set.ends[a];
  }
  if (!any) {
    PetscCall(VecDestroy(fixed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!*fixed) PetscCall(MatCreateVecs(P, NULL, fixed));
  PetscCall(MatGetDiagonal(P, *fixed));
  PetscCall(of.ReadWrite(*fixed, &set.values));
  if (rows) PetscCall(rows->fixed.Get(of.memory(), &set.fixed));
  if (rows) set.box = rows->box;
  PetscCall(for_each_of_box(of.memory(), set.patch.all(), set));
  PetscCall(of.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// What a set-up has found becomes an error or, where a solver may go on with other values, a failure: PETSc's methods then
// end with KSP_DIVERGED_PC_FAILED, and SNES and TS may reject the step.
PetscErrorCode refuse(const SetupFindings &found, StencilMG *mg, MPI_Comm comm, const char *served, MatType type) {
  PetscFunctionBegin;
  if (found.refusal.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const bool passes = found.cause == SetupFindings::not_finite || (found.cause == SetupFindings::values && mg->served);
  PetscCheck(passes, comm, PETSC_ERR_SUP, "-pc_type stencilmg serves %s; this matrix of type %s %s", served, type,
             found.refusal.c_str());
  mg->failure = found.refusal;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void note_last_level(StencilMG *mg, bool failed) {
  if (failed) mg->failure = "has a last level that cannot be solved: it is zero, or a shift makes it singular";
}

// current: the hierarchy is there for this matrix, with coefficients of before. *follows: it serves those of now.
PetscErrorCode follow(StencilMG *mg, StencilMat *context, PetscMemType memory, bool current, bool *follows) {
  bool failed = false;

  PetscFunctionBegin;
  *follows = false;
  bool equal = true;
  if (current) PetscCall(mg->multigrid->Update(context, memory, mg->fixed, follows, &equal, &failed));
  mg->corrects = mg->corrects || !equal;
  note_last_level(mg, failed && *follows);
  mg->changes_followed = *follows ? mg->changes_followed + 1 : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// current: as above
PetscErrorCode set_up_scalar(StencilMG *mg, Mat P, StencilMat *context, PetscBool device, MatType type, bool current) {
  MPI_Comm    comm = context->grid.comm;
  SumRead     read;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  const auto        &op = static_cast<CapturedStencil &>(*context->op);
  const PetscMemType memory = SHELLAC_CUDA && (ranks == 1 || device) ? op.home() : PETSC_MEMTYPE_HOST;
  bool               follows, failed = false, made = false;
  PetscCall(follow(mg, context, memory, current, &follows));
  if (follows) PetscFunctionReturn(PETSC_SUCCESS);
  std::unique_ptr<StencilOperator> star;
  PetscCall(try_method(P, "ShellacEquivalentStar_C", NULL, &star));
  if (mg->read && !star)
    read = std::move(*mg->read);
  else
    PetscCall(read_sum(P, context, star ? star.get() : context->op.get(), &mg->axes_memory, &read));
  const Axis *const axes = read.sum.axes;
  const PetscScalar sigma = read.sum.sigma;
  std::string      &why = read.why;
  // the last level's modes lose as many digits as the root of the range of the rows' weights has
  const PetscReal precision = mg->single ? std::numeric_limits<float>::epsilon() : PETSC_MACHINE_EPSILON;
  if (why.empty() && !(precision * PetscSqrtReal(range_of_weights(axes)) <= PetscReal(1e-3)))
    why = "has rows with weights of a wide range";
  const bool variable = !why.empty();
  mg->corrects = mg->single || star || !(variable || read.equal);
  if (!variable)
    mg->rows.reset();
  else if (!mg->rows)
    mg->rows = std::make_unique<OperatorRows>();
  OperatorRows        *rows = mg->rows.get();
  const MultigridInput input = {context->grid,    variable ? rows->axes : axes, sigma, rows, mg->options, device,
                                context->halo_way};
  for (PetscMemType there = memory; variable && !made; there = PETSC_MEMTYPE_HOST) {
    SetupFindings found;
    if (mg->multigrid) mg->multigrid->LendMemory(&rows->couplings);
    PetscCall(MatStencilGetCouplings(context, there, rows, &found));
    PetscCall(refuse(found, mg, comm, "operators that couple neighbouring points", type));
    if (!mg->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    mg->corrects = mg->corrects || rows->near;
    if (ranks == 1 || PetscMemTypeHost(rows->memory)) break;
    PetscCall(CreateSpreadMultigrid(input, mg->single, &mg->multigrid, &made, &failed)); // others read them on the host
  }
  mg->mixed_signs = variable && rows->mixed_signs;
  mg->near = variable && rows->near;
  PetscCall(get_fixed(P, context->grid, axes, rows, &mg->fixed));
  if (variable || !current || !mg->sum || !mg->sum->is(axes, sigma)) { // else it is as before
    mg->sum.reset();
    if (!made) PetscCall(CreateMultigrid(input, mg->single, &mg->multigrid, &failed));
    note_last_level(mg, failed);
    if (!variable) mg->sum = std::make_unique<SumOverAxes>(read.sum);
  }
  if (variable && PetscMemTypeHost(rows->memory)) mg->rows.reset(); // memory is cheap to get there
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up_system(StencilMG *mg, Mat P, StencilMat *context, PetscBool device, MatType type, bool current) {
  MPI_Comm      comm = context->grid.comm;
  SetupFindings found;

  PetscFunctionBegin;
  PetscCheck(!mg->single, comm, PETSC_ERR_SUP,
             "stencilmg computes in double precision where a point has several unknowns; this one has %" PetscInt_FMT
             ": use -pc_stencilmg_precision double",
             context->grid.dof);
  PetscCheck(context->grid.dof <= most_unknowns, comm, PETSC_ERR_SUP,
             "-pc_type stencilmg serves %d unknowns a point at most; this matrix of type %s has %" PetscInt_FMT
                 SHELLAC_ILU_OR_AIJ,
             most_unknowns, type, context->grid.dof);
  bool follows, failed = false;
  PetscCall(follow(mg, context, PETSC_MEMTYPE_HOST, current, &follows));
  if (follows) PetscFunctionReturn(PETSC_SUCCESS);
  mg->rows.reset();
  mg->sum.reset();
  PetscCall(VecDestroy(&mg->fixed));
  mg->corrects = mg->mixed_signs = mg->near = false;
  PetscCall(CreateSystemMultigrid(P, mg->options, device, &mg->multigrid, &found, &failed));
  PetscCall(refuse(found, mg, comm,
                   "operators that couple neighbouring points, with an invertible block for each point on the diagonal",
                   type));
  note_last_level(mg, failed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// By how much one of the first three cycles multiplies a residual. Where a shift lies below minus the least
// eigenvalue of a level, a cycle multiplies some parts, and W-, F- and full cycles do so once for each visit. A method that
// takes its norms after the preconditioner sees these parts alone, and may stop at a true residual of so many tolerances.
PetscErrorCode measure_growth(PC pc, StencilMG *mg) {
  constexpr PetscReal most = 1000;
  Mat                 A, P;
  Vec                 r, x, Ax;
  PetscReal           before, after;

  PetscFunctionBegin;
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(MatCreateVecs(P, &x, &r));
  PetscCall(VecDuplicate(r, &Ax));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(P, x, r)); // there is a solution where the matrix is singular, too
  PetscCall(VecNorm(r, NORM_2, &before));
  for (int n = 0; n < 3; n++) {
    PetscCall(improve(pc, mg, r, x, false));
    PetscCall(MatMult(P, x, Ax));
    PetscCall(VecAXPY(r, -1, Ax));
    PetscCall(VecNorm(r, NORM_2, &after));
    if (!(after <= mg->growth * before)) mg->growth = after / before;
    before = after;
  }
  for (Vec *v : {&r, &x, &Ax}) PetscCall(VecDestroy(v));
  if (!(mg->growth <= most)) {
    const bool single_visits = !mg->options.full && mg->multigrid->cycle() == Cycle::V;
    char       text[512];
    PetscCall(
        PetscSNPrintf(text, sizeof(text), "is indefinite, and a cycle multiplies residuals by up to about %.2g%s%s",
                      (double)mg->growth,
                      single_visits ? ""
                                    : "; use -pc_stencilmg_type multiplicative with -pc_stencilmg_cycle_type v and "
                                      "-ksp_type gmres, or",
                      single_visits ? SHELLAC_ILU_OR_AIJ : &SHELLAC_ILU_OR_AIJ[1]));
    mg->failure = text;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Visits the levels as cycles do.
struct CountFlops {
  std::vector<LevelFlops> levels;
  PetscLogDouble          sum;

  PetscErrorCode add(PetscLogDouble flops) {
    sum += flops;
    return PETSC_SUCCESS;
  }
  PetscLogDouble smooth(int l, Guess guess) const {
    const LevelFlops &at = levels[(size_t)l];
    if (at.steps == 0) return 0;
    const PetscLogDouble guessed = guess == Guess::interpolated ? at.transfer : 0;
    return guessed + (guess == Guess::zero ? at.from_zero + (at.steps - 1) * at.step : at.steps * at.step);
  }
  PetscErrorCode down(int l, Guess guess) {
    return add(smooth(l, guess) + levels[(size_t)l].residual + levels[(size_t)l].transfer);
  }
  PetscErrorCode up(int l) { return add(levels[(size_t)l].transfer + smooth(l, Guess::given)); }
  PetscErrorCode restrict_b(int l) { return add(levels[(size_t)l].transfer); }
  PetscErrorCode solve(Guess guess, Cycle, bool) {
    return add(levels.back().solve + smooth((int)levels.size() - 1, guess));
  }
  bool last_is_one() const { return true; }
};

} // namespace

// As PETSc's factorisations do: no method takes this for a solution.
PetscErrorCode fail_application(Vec x) {
  return VecSet(x, std::numeric_limits<PetscReal>::infinity());
}

PetscErrorCode view_findings(StencilMG *mg, PetscViewer viewer) {
  PetscFunctionBegin;
  if (mg->growth > 0)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "shifts have the sign opposite to couplings: a cycle multiplies residuals by up to about %.2g\n",
        (double)mg->growth));
  if (!mg->failure.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "the last set-up has failed: this matrix %s\n", mg->failure.c_str()));
  else if (!mg->multigrid)
    PetscCall(PetscViewerASCIIPrintf(viewer, "levels: not set up yet\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up_stencilmg(PC pc) {
  StencilMG  *mg;
  StencilMat *context;
  Mat         A, P;
  MatType     type;
  PetscBool   device;
  bool        ours;
  VecType     vec_type;
  PetscMPIInt ranks;
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(multigrid_setup_event, pc, 0, 0, 0));
  PetscCall(get_context(pc, &mg));
  bool current = mg->is_current() && mg->failure.empty();
  mg->stale = true; // until all is made
  mg->has_masses = false;
  mg->failure.clear();
  mg->growth = 0;
  mg->largest_entry = 0;
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(MatGetType(P, &type));
  PetscCall(MatIsCaptured(P, &ours));
  if (!ours) PetscCall(refuse_type(pc, P, type));
  PetscCall(MatGetReadyStencil(P, &context));
  PetscCall(MatGetVecType(P, &vec_type));
  PetscCall(PetscStrendswith(vec_type, VECCUDA, &device));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  MatVersion version;
  PetscCall(version.Read(P));
  if (version.id != mg->made_of.id || mg->on_device != device) {
    PetscCall(destroy_vectors(mg));
    current = false;
  }
  mg->made_of = version;
  mg->on_device = device;
  if (context->grid.dof > 1)
    PetscCall(set_up_system(mg, P, context, device, type, current));
  else
    PetscCall(set_up_scalar(mg, P, context, device, type, current));
  mg->stale = false;
  mg->read.reset();
  static PetscInt64 set_ups = 0;
  mg->number = ++set_ups;
  mg->served = mg->served || mg->failure.empty();
  if (mg->failure.empty()) {
    CountFlops count = {mg->multigrid->flops(), 0};
    const int  last = (int)count.levels.size() - 1;
    for (int n = 0; n < 3; n++) {
      count.sum = 0;
      if (n == 2)
        PetscCall(run_full(count, 0, last, mg->multigrid->cycle()));
      else
        PetscCall(run_cycle(count, 0, last, mg->multigrid->cycle(), n ? Guess::given : Guess::zero));
      mg->flops[n] = count.sum;
    }
    if (mg->multigrid->may_amplify()) PetscCall(measure_growth(pc, mg));
  }
  if (!mg->failure.empty()) PetscCall(PetscInfo(pc, "The set-up has failed: this matrix %s\n", mg->failure.c_str()));
  PetscCall(PCSetFailedReason(pc, mg->failure.empty() ? PC_NOERROR : PC_FACTOR_OTHER));
  PetscCall(PetscLogEventEnd(multigrid_setup_event, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Looks at the method; and at the matrix: a field may have changed, and the program has not assembled the matrix since, so
// that KSPSolve()'s PCSetUp() did not see it.
PetscErrorCode prepare_stencilmg(PC pc, KSP ksp, Vec b, Vec x) {
  StencilMG  *mg;
  KSPNormType norm;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &mg));
  PetscCall(KSPGetNormType(ksp, &norm));
  mg->tests = norm != KSP_NORM_NONE;
  if (mg->single) PetscCall(check_single(pc, "-pc_stencilmg_precision", ksp, b, x, &mg->largest_entry));
  if (mg->is_current()) PetscCall(set_up_if_changed(pc, mg->made_of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
