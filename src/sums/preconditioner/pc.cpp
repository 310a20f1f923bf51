// The PC type kernelsum: a shell over the Schwarz method, its options and setters.

#include <petscksp.h>
#include <shellac/kernelsum.h>
#include <shellac/kernelsumpc.h>
#include <shellac/krylov.h>

#include "device/pc_matrices.hpp"
#include "options/agreement.hpp"
#include "sums/options.hpp"
#include "sums/preconditioner/schwarz.hpp"
#include "sums/types.hpp"

namespace shellac {
namespace {

constexpr const char *context_name = "Shellac_kernelsum_pc";

struct KernelSumPC {
  SchwarzSettings settings, made; // as they are, as they were when the method was set up
  Schwarz         method;
  bool            ready = false;
};

PetscErrorCode get_context(PC pc, KernelSumPC **context) {
  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)pc, context_name, context));
  PetscCheck(*context, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "no context of kernelsum");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy_context(void *argument) {
  KernelSumPC *context = context_to_destroy<KernelSumPC>(argument);

  PetscFunctionBegin;
  PetscCall(context->method.Reset());
  delete context;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(PC pc) {
  KernelSumPC *context;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &context));
  PetscCall(context->method.Reset());
  context->ready = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_matrix(PC pc, Mat P) {
  KernelSumMat *sum;
  PetscBool     ours;
  PetscInt      m, n, M, N;
  PetscMPIInt   misfit;
  MatType       type;
  MPI_Comm      comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCall(MatGetType(P, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)P, MATKERNELSUM, &ours));
  PetscCheck(
      ours, comm, PETSC_ERR_ARG_WRONG,
      "-pc_type kernelsum needs a matrix of type kernelsum, with the points that its boxes are made of; this one "
      "is of type %s. Give the kernelsum as the second matrix of KSPSetOperators(), or use -pc_type jacobi or "
      "none",
      type);
  PetscCall(MatGetKernelSum(P, &sum));
  PetscCall(MatGetLocalSize(P, &m, &n));
  PetscCall(MatGetSize(P, &M, &N));
  misfit = m != n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &misfit, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(!misfit && !sum->gradient, comm, PETSC_ERR_SUP,
             "-pc_type kernelsum needs a square matrix of values, with as many targets as sources on every rank; this "
             "one is %" PetscInt_FMT " x %" PetscInt_FMT "%s. Use -pc_type none",
             M, N, sum->gradient ? " and of gradients" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up_as(PC pc, KernelSumPC *context, const SchwarzSettings &settings) {
  Mat A, P;

  PetscFunctionBegin;
  context->ready = false;
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(check_matrix(pc, P));
  PetscCall(context->method.SetUp(P, settings));
  context->made = context->settings;
  context->ready = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(PC pc) {
  KernelSumPC *context;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &context));
  PetscCall(set_up_as(pc, context, context->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The context, set up as the settings are now.
PetscErrorCode get_ready(PC pc, KernelSumPC **context) {
  PetscFunctionBegin;
  PetscCall(get_context(pc, context));
  if (!(*context)->ready || !((*context)->made == (*context)->settings))
    PetscCall(set_up_as(pc, *context, (*context)->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply(PC pc, Vec r, Vec z) {
  KernelSumPC *context;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &context));
  PetscCall(context->method.Apply(r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_transpose(PC pc, Vec r, Vec z) {
  KernelSumPC *context;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &context));
  PetscCall(context->method.ApplyTranspose(r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The method is known only at the beginning of a solve, after the set-up. If it needs the symmetric variant and auto
// has found none, an attempt to set up that variant gives the error.
PetscErrorCode pre_solve(PC pc, KSP ksp, Vec, Vec) {
  KernelSumPC *context;
  PetscBool    needs_symmetric, needs_definite;
  PetscReal    rtol;
  KSPType      type;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &context));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  if (rtol < context->method.rounding())
    PetscCall(PetscInfo(
        pc,
        "the tolerance %g may be out of reach: by the condition number, rounding may leave a relative "
        "residual of up to about %.1g, whatever the method reports; take a smaller sigma or a larger nugget\n",
        (double)rtol, (double)context->method.rounding()));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &needs_definite, KSPCG, KSPFUSEDCG, KSPFCG, KSPPIPECG,
                                      KSPPIPECGRR, KSPPIPELCG, KSPPIPEPRCG, KSPPIPECG2, KSPGROPPCG, KSPPIPEFCG, KSPNASH,
                                      KSPSTCG, KSPGLTR, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &needs_symmetric, KSPMINRES, KSPSYMMLQ, KSPCR, KSPPIPECR, ""));
  PetscCall(KSPGetType(ksp, &type));
  if ((needs_symmetric || needs_definite) && !context->method.is_symmetric()) {
    PetscCheck(context->settings.variant == PC_KERNELSUM_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
               "-pc_kernelsum_variant restricted is not symmetric, as -ksp_type %s needs it; use -ksp_type gmres, or "
               "-pc_kernelsum_variant symmetric where the matrix is positive definite",
               type);
    SchwarzSettings symmetric = context->settings;
    symmetric.variant = PC_KERNELSUM_SYMMETRIC;
    PetscCall(set_up_as(pc, context, symmetric));
  }
  if (needs_definite && context->method.is_symmetric() && !context->method.is_for_definite()) {
    Mat           A, P;
    KernelSumMat *sum;
    PetscCall(get_matrices(pc, &A, &P));
    PetscCall(MatGetKernelSum(P, &sum));
    SETERRQ(
        PetscObjectComm((PetscObject)pc), PETSC_ERR_MAT_CH_ZRPVT,
        "-ksp_type %s needs a positive definite matrix, and that of the kernel %s is indefinite: it is definite for "
        "coefficients whose sum is zero only; use -ksp_type minres or gmres",
        type, sum->info().name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_variant(PetscObject pc, KernelSumPC *context, PCKernelSumVariant variant) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(variant >= PC_KERNELSUM_AUTO && variant <= PC_KERNELSUM_SYMMETRIC, PetscObjectComm(pc),
                    PETSC_ERR_ARG_OUTOFRANGE,
                    "-pc_kernelsum_variant: variant %d is unknown; use auto, restricted or symmetric", (int)variant);
  PetscCall(CheckCallAgrees(PetscObjectComm(pc), "PCKernelSumSetVariant()", 1, &variant));
  context->settings.variant = variant;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  KernelSumPC *context;
  PetscBool    ascii;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &context));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "boxes of up to %" PetscInt_FMT " points\n",
                                   (context->ready ? context->made : context->settings).box));
  if (context->ready)
    PetscCall(context->method.View(viewer));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "not set up yet\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- settings ----------------------------------------------------------------------------------------------------------

struct Setting {
  const Option &option;
  PetscInt      least;
  PetscInt SchwarzSettings::*member;
};
constexpr Setting box_setting = {find_option(sums_pc_options, "-pc_kernelsum_box"), 1, &SchwarzSettings::box};
constexpr Setting overlap_setting = {find_option(sums_pc_options, "-pc_kernelsum_overlap"), 0,
                                     &SchwarzSettings::overlap};
constexpr Setting coarse_setting = {find_option(sums_pc_options, "-pc_kernelsum_coarse"), 0, &SchwarzSettings::coarse};

PetscErrorCode set(PetscObject pc, KernelSumPC *context, const Setting &setting, PetscInt value) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(value >= setting.least || (setting.least == 0 && value == PETSC_DECIDE), PetscObjectComm(pc),
                    PETSC_ERR_ARG_OUTOFRANGE, "%s, %s(): %" PetscInt_FMT " points were given; allowed: %s",
                    setting.option.key, setting.option.setter, value, setting.option.values);
  PetscCall(CheckCallAgrees(PetscObjectComm(pc), std::string(setting.option.setter) + "()", 1, &value));
  context->settings.*setting.member = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_from_c(PC pc, const Setting &setting, PetscInt value) {
  KernelSumPC *context;
  PetscBool    ours;

  PetscFunctionBegin;
  PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the preconditioner is null; create it first");
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCKERNELSUM, &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_context(pc, &context));
  PetscCall(set((PetscObject)pc, context, setting, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_from_options(PetscObject object, OptionItems PetscOptionsObject, void *argument) {
  KernelSumPC *context = (KernelSumPC *)argument;
  PetscBool    ours, given;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(object, PCKERNELSUM, &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckOptionsAgree(PetscOptionsObject, "-pc_kernelsum_"));
  PetscOptionsHeadBegin(PetscOptionsObject, "Kernel sum preconditioner options");
  for (const Setting &setting : {box_setting, overlap_setting, coarse_setting}) {
    PetscInt value = context->settings.*setting.member;
    PetscCall(read_option(PetscOptionsObject, setting.option, &value, &given));
    if (given) PetscCall(set(object, context, setting, value));
  }
  PCKernelSumVariant variant = context->settings.variant;
  PetscCall(read_option(PetscOptionsObject, find_option(sums_pc_options, "-pc_kernelsum_variant"), PCKernelSumVariants,
                        &variant, &given));
  if (given) PetscCall(set_variant(object, context, variant));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PCCreate_KernelSum(PC pc) {
  KernelSumPC *context;

  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(query_context((PetscObject)pc, context_name, &context));
  if (!context) { // a PC that becomes another type and this again keeps it
    context = new KernelSumPC;
    PetscCall(compose_context((PetscObject)pc, context_name, context, destroy_context));
    PetscCall(PetscObjectAddOptionsHandler((PetscObject)pc, set_from_options, NULL, context));
  }
  PetscCall(PCShellSetName(pc, "Schwarz method over boxes of neighbouring points"));
  PetscCall(PCShellSetSetUp(pc, set_up));
  PetscCall(PCShellSetApply(pc, apply));
  PetscCall(PCShellSetApplyTranspose(pc, apply_transpose));
  PetscCall(PCShellSetPreSolve(pc, pre_solve));
  PetscCall(PCShellSetView(pc, view));
  PetscCall(PCShellSetDestroy(pc, destroy));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCKERNELSUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

const char *const PCKernelSumVariants[] = {"auto",          "restricted", "symmetric", "PCKernelSumVariant",
                                           "PC_KERNELSUM_", NULL};

PetscErrorCode PCKernelSumSetVariant(PC pc, PCKernelSumVariant variant) {
  PetscBool             ours;
  shellac::KernelSumPC *context;

  PetscFunctionBegin;
  PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the preconditioner is null; create it first");
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCKERNELSUM, &ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(shellac::get_context(pc, &context));
  PetscCall(shellac::set_variant((PetscObject)pc, context, variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode PCKernelSumSetBoxSize(PC pc, PetscInt points) {
  return shellac::set_from_c(pc, shellac::box_setting, points);
}
PetscErrorCode PCKernelSumSetOverlap(PC pc, PetscInt points) {
  return shellac::set_from_c(pc, shellac::overlap_setting, points);
}
PetscErrorCode PCKernelSumSetCoarsePoints(PC pc, PetscInt points) {
  return shellac::set_from_c(pc, shellac::coarse_setting, points);
}
