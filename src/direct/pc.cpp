// The preconditioner stencilfft: a shell that solves in modes.

#include "device/arrays.hpp"
#include "device/pc_matrices.hpp"
#include "device/pc_method.hpp"
#include <shellac/direct.h>

#include "capture/mat.hpp"
#include "direct/mean.hpp"
#include "direct/stencilfft.hpp"
#include "direct/types.hpp"
#include "multigrid/stencilmg.hpp"

namespace shellac {

PetscLogEvent direct_setup_event, direct_apply_event, direct_move_event, direct_transform_event, direct_modes_event;

static constexpr const char *context_name = "Shellac_stencilfft";

PetscErrorCode get_context(PC pc, StencilFFT **context) {
  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)pc, context_name, context));
  PetscCheck(*context, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "no context of stencilfft");
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode reset(StencilFFT *fft) {
  PetscFunctionBegin;
  fft->largest_entry = 0;
  fft->solve.reset();
  PetscCall(VecDestroy(&fft->fixed));
  PetscCall(VecDestroy(&fft->masses));
  PetscCall(VecDestroy(&fft->divided));
  for (Vec &v : fft->work) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy_context(void *argument) {
  StencilFFT *fft = context_to_destroy<StencilFFT>(argument);
  PetscFunctionBegin;
  PetscCall(reset(fft));
  delete fft;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(PC pc) {
  StencilFFT *fft;
  PetscFunctionBegin;
  PetscCall(get_context(pc, &fft));
  PetscCall(reset(fft));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_ready(PC pc, StencilFFT **fft) {
  PetscFunctionBegin;
  PetscCall(get_context(pc, fft));
  if (!(*fft)->solve || (*fft)->stale) PetscCall(set_up_stencilfft(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The masses of rows.
PetscErrorCode get_masses(StencilFFT *fft, Vec like) {
  Arrays       arrays;
  PetscScalar *masses;

  PetscFunctionBegin;
  if (fft->masses) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(like, &fft->masses));
  PetscCall(arrays.Write(fft->masses, &masses));
  PetscCall(fft->solve->GetMasses(arrays.memory(), masses));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(StencilFFT *fft, Vec b, Vec x, bool transposed = false) {
  Arrays             arrays;
  const PetscScalar *pb = NULL;
  PetscScalar       *px = NULL;

  PetscFunctionBegin;
  if (fft->halved) {
    PetscCall(get_masses(fft, b));
    if (!fft->divided) PetscCall(VecDuplicate(b, &fft->divided));
    PetscCall(VecPointwiseDivide(fft->divided, b, fft->masses));
    b = fft->divided;
  }
  PetscCall(arrays.Read(b, &pb));
  PetscCall(arrays.Write(x, &px));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(fft->solve->Apply(arrays.memory(), pb, px, transposed));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(log_flops(arrays.memory(), fft->solve->flops()));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_work(PC pc, StencilFFT *fft, Mat *P) {
  Mat A;

  PetscFunctionBegin;
  PetscCall(get_matrices(pc, &A, P));
  for (Vec &v : fft->work)
    if (!v) PetscCall(MatCreateVecs(*P, NULL, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply(PC pc, Vec b, Vec x) {
  StencilFFT *fft;
  Mat         P;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &fft));
  PetscCall(PetscLogEventBegin(direct_apply_event, pc, b, x, 0));
  if (!fft->fixed) {
    PetscCall(solve(fft, b, x));
  } else { // identity rows first, the rest for the residual
    PetscCall(get_work(pc, fft, &P));
    PetscCall(VecPointwiseMult(x, b, fft->fixed));
    PetscCall(MatResidual(P, b, x, fft->work[0]));
    PetscCall(solve(fft, fft->work[0], fft->work[1]));
    PetscCall(VecAXPY(x, 1, fft->work[1]));
  }
  PetscCall(PetscLogEventEnd(direct_apply_event, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// With weights M the matrix is M^-1 K + sigma, K symmetric: the inverse of its transpose is M A^-1 M^-1.
PetscErrorCode apply_transpose(PC pc, Vec b, Vec x) {
  StencilFFT *fft;
  Mat         P;

  PetscFunctionBegin;
  PetscCall(get_ready(pc, &fft));
  PetscCall(get_work(pc, fft, &P));
  PetscCall(PetscLogEventBegin(direct_apply_event, pc, b, x, 0));
  PetscCall(get_masses(fft, b));
  if (fft->halved || fft->solve->is_skew()) { // it is M times that, and symmetric
    PetscCall(solve(fft, b, x, fft->solve->is_skew()));
  } else {
    PetscCall(VecPointwiseDivide(fft->work[0], b, fft->masses));
    PetscCall(solve(fft, fft->work[0], x));
    PetscCall(VecPointwiseMult(x, x, fft->masses));
  }
  if (fft->fixed) { // points with identity rows last
    PetscCall(MatMultTranspose(P, x, fft->work[0]));
    PetscCall(VecAYPX(fft->work[0], -1, b));
    PetscCall(VecPointwiseMult(fft->work[1], fft->work[0], fft->fixed));
    PetscCall(VecAXPY(x, 1, fft->work[1]));
  }
  PetscCall(PetscLogEventEnd(direct_apply_event, pc, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  StencilFFT       *fft;
  PetscBool         ascii;
  const char *const names[] = {"x", "y", "z"};

  PetscFunctionBegin;
  PetscCall(get_context(pc, &fft));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!fft->solve) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "not set up yet\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const SeparableSolve &of = *fft->solve;
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "inverse of %s in %s precision; %d moves between ranks%s, %.3g MB on the first rank\n",
      fft->approximates ? "the sum over the axes with mean coefficients" : "the matrix",
      PCStencilFFTPrecisions[fft->single], of.moves(), of.moves_ends() ? ", and 2 of the ends of lines" : "",
      (double)of.bytes() / 1e6));
  if (of.is_skew())
    PetscCall(PetscViewerASCIIPrintf(viewer, "its rows are alike, and all axes periodic\n"));
  else if (!of.is_sum())
    PetscCall(PetscViewerASCIIPrintf(viewer, "its rows are alike, and the same on both sides of each axis\n"));
  if (fft->fixed) PetscCall(PetscViewerASCIIPrintf(viewer, "identity rows are solved first\n"));
  if (of.singular())
    PetscCall(PetscViewerASCIIPrintf(viewer, "the matrix is singular: its null space is projected out\n"));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  for (int a = 0; a < 3; a++)
    if (a == 0 || of.axis(a).n > 1)
      PetscCall(PetscViewerASCIIPrintf(viewer, "%s: %s\n", names[a], of.axis(a).text().c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "Fourier transforms: %s\n", of.libraries()));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode suit(PC pc, SuitedMethod *method) {
  StencilFFT *fft;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &fft));
  if (!fft->approximates) method->type = KSPRICHARDSON;
  method->why = fft->approximates ? "the preconditioner has mean coefficients, and the matrix need not be symmetric"
                                  : "the preconditioner is the inverse";
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

namespace {

// The operator as a sum over axes, or of products of axes.
PetscErrorCode read_products(Mat P, StencilMat *context, StencilFFT *fft, ProductsOfAxes *products, std::string *why) {
  std::string why_not_products;
  bool        is_box;

  PetscFunctionBegin;
  fft->read = std::make_unique<SumRead>();
  SumRead &read = *fft->read;
  PetscCall(read_sum(P, context, context->op.get(), &fft->axes_memory, &read));
  if (read.why.empty()) {
    *products = sum_as_products(read.sum.axes, read.sum.sigma);
    if (!read.equal) *why = "has coefficients that are only nearly one sum over the axes";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatStencilGetProducts(P, context, &fft->axes_memory, products, &is_box, &why_not_products));
  if (!why_not_products.empty()) *why = is_box ? why_not_products : read.why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode try_stencilfft(PC pc, bool if_fast, std::string *why) {
  StencilFFT    *fft;
  StencilMat    *context;
  Mat            A, P;
  MatType        type;
  PCType         pc_type;
  MatNullSpace   space;
  VecType        vec_type;
  ProductsOfAxes products;
  PetscBool      device;
  bool           ours;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(direct_setup_event, pc, 0, 0, 0));
  PetscCall(get_context(pc, &fft));
  PetscCall(reset(fft)); // nothing is left of a set-up that fails
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(MatGetType(P, &type));
  PetscCall(MatIsCaptured(P, &ours));
  if (!ours) PetscCall(refuse_type(pc, P, type));
  PetscCall(MatGetReadyStencil(P, &context));
  PetscCall(fft->made_of.Read(P));
  PetscCall(MatGetVecType(P, &vec_type));
  PetscCall(PetscStrendswith(vec_type, VECCUDA, &device));
  std::unique_ptr<SeparableSolve> solve;
  const auto                      create = [&]() {
    PetscFunctionBegin;
    solve = SeparableSolve::Make(fft->single, products.skew);
    if (why->empty()) PetscCall(solve->Create(context->grid, products, device, if_fast, context->halo_way, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  why->clear();
  PetscCall(read_products(P, context, fft, &products, why));
  PetscCall(create());
  fft->approximates = !why->empty() && fft->approximate;
  if (fft->approximates) {
    Axis        axes[3];
    PetscScalar sigma;
    PetscReal   regular = 0;
    why->clear();
    PetscCall(MatStencilGetMeanAxes(context, axes, &sigma, &regular, why));
    products = sum_as_products(axes, sigma);
    PetscCall(create());
    if (why->empty() && solve->singular()) { // no part of b may be lost: the matrix need not be singular
      products.terms[0] += regular;
      PetscCall(create());
    }
  }
  if (!why->empty()) {
    PetscCall(PetscLogEventEnd(direct_setup_event, pc, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetNullSpace(P, &space));
  PetscCall(PCGetType(pc, &pc_type));
  PetscCheck(
      !solve->singular() || products.terms[0] == (PetscScalar)0 || space, PetscObjectComm((PetscObject)pc),
      PETSC_ERR_MAT_LU_ZRPVT,
      "-pc_type %s: this matrix of type %s is singular, the shift cancels an eigenvalue; change the shift, or attach "
      "the null space by MatSetNullSpace()",
      pc_type, type);
  PetscCall(get_fixed(P, context->grid, products.axes, NULL, &fft->fixed));
  fft->read.reset();
  fft->halved = products.halved;
  fft->solve = std::move(solve);
  fft->stale = false;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR)); // a set-up of stencilmg may have failed before
  PetscCall(PetscLogEventEnd(direct_setup_event, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up_stencilfft(PC pc) {
  StencilFFT *fft;
  StencilMat *context;
  Mat         A, P;
  MatType     type;
  std::string why;

  PetscFunctionBegin;
  PetscCall(try_stencilfft(pc, false, &why));
  PetscCall(get_context(pc, &fft));
  PetscCall(get_matrices(pc, &A, &P));
  PetscCall(MatGetType(P, &type));
  PetscCall(MatGetReadyStencil(P, &context));
  const PetscInt dof = context->grid.dof;
  PetscCheck(
      why.empty(), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "-pc_type stencilfft inverts operators on a DMDA that are a sum over the axes, with coefficients that vary "
      "along their own axis only, and boxes with equal rows; this matrix of type %s %s; use -pc_type stencilmg%s",
      type, why.c_str(),
      fft->approximate || dof > 1 ? ""
                                  : ", or -pc_stencilfft_approximate for the inverse of one with mean coefficients");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode prepare_stencilfft(PC pc, KSP ksp, Vec b, Vec x) {
  StencilFFT *fft;
  KSPType     type;
  KSPNormType norm;
  PetscBool   once, applies;

  PetscFunctionBegin;
  PetscCall(get_context(pc, &fft));
  if (fft->solve && !fft->stale) PetscCall(set_up_if_changed(pc, fft->made_of));
  if (!fft->single) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_single(pc, "-pc_stencilfft_precision", ksp, b, x, &fft->largest_entry));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(KSPGetNormType(ksp, &norm));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &once, KSPPREONLY, KSPNONE, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPSTENCIL, &applies)); // the inverse once, where it tests no norm
  once = once || (applies && norm == KSP_NORM_NONE) ? PETSC_TRUE : PETSC_FALSE;
  PetscCheck(
      !once || fft->approximate, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "-pc_stencilfft_precision single: one application is right to about 1e-7 only, and -ksp_type %s%s would call it "
      "the solution; use -ksp_type stencil, richardson or cg with a norm, or -pc_stencilfft_precision double; with "
      "-pc_stencilfft_approximate it is taken for a preconditioner",
      type, applies ? " -ksp_norm_type none" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode use_stencilfft(PC pc) {
  StencilFFT *fft;

  PetscFunctionBegin;
  PetscCall(query_context((PetscObject)pc, context_name, &fft));
  if (!fft) { // a PC that becomes another type and this again keeps it
    fft = new StencilFFT;
    PetscCall(compose_context((PetscObject)pc, context_name, fft, destroy_context));
    PetscCall(PetscObjectAddOptionsHandler((PetscObject)pc, set_fft_from_options, NULL, fft));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, suited_method_name, suit));
  PetscCall(PCShellSetName(pc, "inverse by transforms, matrix-free"));
  PetscCall(PCShellSetSetUp(pc, set_up_stencilfft));
  PetscCall(PCShellSetApply(pc, apply));
  PetscCall(PCShellSetApplyTranspose(pc, apply_transpose));
  PetscCall(PCShellSetPreSolve(pc, prepare_stencilfft));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCPreSolveChangeRHS_C", NULL)); // it leaves b as it is
  PetscCall(PCShellSetView(pc, view));
  PetscCall(PCShellSetDestroy(pc, destroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_StencilFFT(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(use_stencilfft(pc));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCSTENCILFFT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
