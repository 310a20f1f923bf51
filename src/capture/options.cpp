// The settings of the type stencil: options and setters.

#include "capture/options.hpp"

#include "capture/mat.hpp"
#include "options/agreement.hpp"

namespace shellac {

static PetscErrorCode set_compression(Mat A, MatStencilShellCompressionType type) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(type >= MAT_STENCILSHELL_AUTOMATIC && type <= MAT_STENCILSHELL_ARRAYS,
                    PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "compression %d is unknown; use automatic, constant, indexed or arrays", (int)type);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatStencilShellSetCompression()", 1, &type));
  Compression &compression = context->compression;
  compression.automatic = type == MAT_STENCILSHELL_AUTOMATIC;
  compression.form = type == MAT_STENCILSHELL_CONSTANT  ? Storage::constant
                     : type == MAT_STENCILSHELL_INDEXED ? Storage::indexed
                                                        : Storage::arrays;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_tolerance(Mat A, PetscReal tolerance) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(tolerance >= 0 && tolerance < 1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "the tolerance (-mat_stencil_compress_tolerance) is %g; it must be in [0, 1)", (double)tolerance);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatStencilShellSetTolerance()", 1, &tolerance));
  context->compression.tolerance = tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_fallback(Mat A, MatStencilShellFallbackType type) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(type == MAT_STENCILSHELL_FALLBACK_ERROR || type == MAT_STENCILSHELL_FALLBACK_AIJ,
                    PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "fallback %d is unknown; use error or aij", (int)type);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatStencilShellSetFallback()", 1, &type));
  context->fallback = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_verify(Mat A, PetscBool verify) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscMPIInt open = context->op && context->captured().open();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &open, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  SHELLAC_CHECK_ALL(
      !open, PetscObjectComm((PetscObject)A), PETSC_ERR_ORDER,
      "values are set and not assembled yet; call MatStencilShellSetVerify() before MatSetValues(), or after "
      "MatAssemblyEnd()");
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatStencilShellSetVerify()", 1, &verify));
  context->verify = verify;
  if (context->op) {
    PetscCall(MatDestroy(&context->reference));
    PetscCall(MatCapturedMakeReference(A, context));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_keep_arrays(Mat A, PetscBool keep) {
  CapturedMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatStencilShellSetKeepArrays()", 1, &keep));
  context->keep_arrays = keep;
  if (!context->op || keep) PetscFunctionReturn(PETSC_SUCCESS);
  context->captured().set_keep_arrays(false);
  PetscCall(context->captured().DropIdleArrays());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) {
  CapturedMat *context;
  PetscBool    set, tolerance_set;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  const Compression             &present = context->compression;
  MatStencilShellFallbackType    fallback = context->fallback;
  PetscReal                      tolerance = present.tolerance;
  PetscBool                      verify = context->verify, keep = context->keep_arrays;
  MatStencilShellCompressionType compression = present.automatic                   ? MAT_STENCILSHELL_AUTOMATIC
                                               : present.form == Storage::constant ? MAT_STENCILSHELL_CONSTANT
                                               : present.form == Storage::indexed  ? MAT_STENCILSHELL_INDEXED
                                                                                   : MAT_STENCILSHELL_ARRAYS;
  PetscCall(CheckOptionsAgree(PetscOptionsObject, "-mat_stencil_"));
  PetscOptionsHeadBegin(PetscOptionsObject, "stencil operator options");
  PetscCall(read_option(PetscOptionsObject, find_option(stencil_options, "-mat_stencil_compress"),
                        MatStencilShellCompressionTypes, &compression, &set));
  PetscCall(read_option(PetscOptionsObject, find_option(stencil_options, "-mat_stencil_compress_tolerance"), &tolerance,
                        &tolerance_set));
  PetscCheck(
      !tolerance_set || tolerance <= 0 || compression != MAT_STENCILSHELL_ARRAYS, PetscObjectComm((PetscObject)A),
      PETSC_ERR_ARG_INCOMP,
      "-mat_stencil_compress_tolerance %g has no effect: -mat_stencil_compress arrays stores each coefficient as "
      "it is; leave the tolerance out, or use automatic, constant or indexed",
      (double)tolerance);
  if (set) PetscCall(set_compression(A, compression));
  if (tolerance_set) PetscCall(set_tolerance(A, tolerance));
  PetscCall(read_option(PetscOptionsObject, find_option(stencil_options, "-mat_stencil_keep_arrays"), &keep, &set));
  if (set) PetscCall(set_keep_arrays(A, keep));
  PetscCall(read_option(PetscOptionsObject, find_option(stencil_options, "-mat_stencil_verify"), &verify, &set));
  if (set) PetscCall(set_verify(A, verify));
  PetscCall(read_option(PetscOptionsObject, find_option(stencil_options, "-mat_stencil_fallback"),
                        MatStencilShellFallbackTypes, &fallback, &set));
  if (set) PetscCall(set_fallback(A, fallback));
  PetscCall(MatStencilSetHaloFromOptions(A, find_option(stencil_options, "-mat_stencil_halo"), PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCapturedSetOptionOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_SET_FROM_OPTIONS, set_from_options));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStencilShellSetCompression_C", set_compression));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStencilShellSetTolerance_C", set_tolerance));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStencilShellSetFallback_C", set_fallback));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStencilShellSetKeepArrays_C", set_keep_arrays));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStencilShellSetVerify_C", set_verify));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

const char *const MatStencilShellCompressionTypes[] = {
    "automatic", "constant", "indexed", "arrays", "MatStencilShellCompressionType", "MAT_STENCILSHELL_", NULL};
const char *const MatStencilShellFallbackTypes[] = {"error", "aij", "MatStencilShellFallbackType",
                                                    "MAT_STENCILSHELL_FALLBACK_", NULL};

PetscErrorCode MatStencilShellSetCompression(Mat A, MatStencilShellCompressionType type) {
  return shellac::try_method(A, "MatStencilShellSetCompression_C", NULL, type);
}

PetscErrorCode MatStencilShellSetTolerance(Mat A, PetscReal tolerance) {
  return shellac::try_method(A, "MatStencilShellSetTolerance_C", NULL, tolerance);
}

PetscErrorCode MatStencilShellSetFallback(Mat A, MatStencilShellFallbackType type) {
  return shellac::try_method(A, "MatStencilShellSetFallback_C", NULL, type);
}

PetscErrorCode MatStencilShellSetVerify(Mat A, PetscBool verify) {
  return shellac::try_method(A, "MatStencilShellSetVerify_C", NULL, verify);
}

PetscErrorCode MatStencilShellSetKeepArrays(Mat A, PetscBool keep) {
  return shellac::try_method(A, "MatStencilShellSetKeepArrays_C", NULL, keep);
}
