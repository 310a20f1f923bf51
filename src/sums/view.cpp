// MatView(): the entries, or with ::ascii_info the function, the error and the rate.

#include "sums/fast_sum.hpp"
#include "sums/kernel_sum.hpp"

namespace shellac {

constexpr PetscLogDouble most_printed = 1e6; // entries: 15 MB of text

static PetscErrorCode view(Mat A, PetscViewer viewer) {
  KernelSumMat     *context;
  PetscBool         ascii;
  PetscLogDouble    sums[2];
  MPI_Comm          comm = PetscObjectComm((PetscObject)A);
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &context));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  const PetscLogDouble rows = (PetscLogDouble)context->targets->N * context->scalars_a_target();
  const PetscLogDouble entries = rows * context->sources->N * context->scalars_a_value();
  const bool           describes = format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL;
  if (ascii && !describes && entries > most_printed) {
    PetscCall(
        PetscViewerASCIIPrintf(viewer,
                               "a sum of %.0f entries, which are too many to print; use -mat_view ::ascii_info, a "
                               "binary viewer, or MatConvert() to dense\n",
                               entries));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!ascii || !describes) { // the entries
    Mat dense;
    PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &dense));
    PetscCall(MatView(dense, viewer));
    PetscCall(MatDestroy(&dense));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const FunctionInfo &info = context->info();
  PetscLogDouble      bytes = 3. * sizeof(PetscReal) *
                         (context->targets->n + (context->sources == context->targets ? 0. : context->sources->n));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s of sums over particles, kernel %s: %s\n",
                                   context->gradient ? "gradients" : "values", info.name, info.formula));
  if (info.uses_sigma) PetscCall(PetscViewerASCIIPrintf(viewer, "sigma = %g\n", context->parameters.sigma));
  if (info.uses_wavenumber) PetscCall(PetscViewerASCIIPrintf(viewer, "k = %g\n", context->parameters.wavenumber));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "%" PetscInt_FMT " targets, %" PetscInt_FMT " sources in %d-D%s; g(x, x): %s\n", context->targets->N,
      context->sources->N, context->targets->dim, context->interleaved() ? "; complex values as (re, im)" : "",
      context->limit_is_own() ? "its limit" : "zero"));
  if (context->scale != PetscScalar(1) || context->shift != PetscScalar(0)) {
    const bool real = PetscImaginaryPart(context->scale) == 0 && PetscImaginaryPart(context->shift) == 0;
    PetscCall(PetscViewerASCIIPrintf(viewer, "scaled by %g, shifted by %g%s\n", (double)PetscRealPart(context->scale),
                                     (double)PetscRealPart(context->shift), real ? "" : ": the real parts"));
  }
  if (context->left || context->right || context->diagonal)
    PetscCall(PetscViewerASCIIPrintf(viewer, "with vectors of MatDiagonalSet() or MatDiagonalScale()\n"));
  if (context->fast)
    PetscCall(context->fast->View(viewer));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "direct sums of all pairs in %s precision\n",
                                     MatKernelSumPrecisions[context->precision]));
  if (context->vec_type.find("cuda") != std::string::npos)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "products run where their vectors are; MatCreateVecs() makes vectors of type %s\n",
                                     context->vec_type.c_str()));
  if (context->products) {
    PetscLogDouble seconds = context->seconds;
#if SHELLAC_CUDA
    if (seconds < 0) {
      float milliseconds;
      PetscCallCUDA(cudaEventSynchronize((cudaEvent_t)context->end_event));
      PetscCallCUDA(
          cudaEventElapsedTime(&milliseconds, (cudaEvent_t)context->begin_event, (cudaEvent_t)context->end_event));
      seconds = 1e-3 * milliseconds;
    }
#endif
    sums[0] = context->terms;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sums[0], 1, MPI_DOUBLE, MPI_SUM, comm));
    PetscCallMPI(MPI_Allreduce(&seconds, &sums[1], 1, MPI_DOUBLE, MPI_MAX, comm));
    const char *terms = context->fast ? "terms" : "pairs";
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt64_FMT " product%s; the last: %.6g %s in %.4g s, %.4g %s/s\n",
                                     context->products, context->products == 1 ? "" : "s", sums[0], terms, sums[1],
                                     sums[1] > 0 ? sums[0] / sums[1] : 0., terms));
  }
  if (context->fast) bytes += context->fast->Bytes();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "bytes stored: %.0f; a dense matrix takes %.0f\n", bytes,
                                   entries * sizeof(PetscScalar)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatKernelSumSetView(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_VIEW, view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
