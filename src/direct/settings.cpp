// The settings of stencilfft: options, and functions in C that set the same.

#include <shellac/direct.h>

#include "direct/options.hpp"
#include "direct/stencilfft.hpp"
#include "options/agreement.hpp"

namespace shellac {

static PetscErrorCode set_approximate(PC pc, StencilFFT *fft, PetscBool approximate) {
  PetscBool chooses;

  PetscFunctionBegin;
  if (fft->approximate == approximate) PetscFunctionReturn(PETSC_SUCCESS);
  fft->stale = true;
  fft->approximate = approximate;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSTENCIL, &chooses));
  if (chooses) PetscCall(choose_at_next_use(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_fft_from_options(PetscObject object, OptionItems PetscOptionsObject, void *context) {
  StencilFFT *fft = (StencilFFT *)context;
  PetscBool   is_ours, approximate = fft->approximate;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny(object, &is_ours, PCSTENCILFFT, PCSTENCIL, ""));
  if (!is_ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckOptionsAgree(PetscOptionsObject, "-pc_stencilfft_"));
  PetscOptionsHeadBegin(PetscOptionsObject, "Options of exact inverses by transforms");
  PetscCall(read_option(PetscOptionsObject, find_option(direct_options, "-pc_stencilfft_approximate"), &approximate));
  PetscOptionsHeadEnd();
  PetscCall(set_approximate((PC)object, fft, approximate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

PetscErrorCode PCStencilFFTSetApproximate(PC pc, PetscBool approximate) {
  PetscBool      ours;
  StencilFFT    *fft;
  const PetscInt value = approximate ? 1 : 0;

  PetscFunctionBegin;
  PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the preconditioner is null; create it first");
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &ours, PCSTENCILFFT, PCSTENCIL, ""));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)pc), "PCStencilFFTSetApproximate()", 1, &value));
  PetscCall(get_context(pc, &fft));
  PetscCall(set_approximate(pc, fft, approximate ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
