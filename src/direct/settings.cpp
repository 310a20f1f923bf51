// The settings of stencilfft: options, and functions in C that set the same.

#include <shellac/direct.h>

#include "direct/options.hpp"
#include "direct/stencilfft.hpp"
#include "options/agreement.hpp"

const char *const PCStencilFFTPrecisions[] = {"double", "single", "PCStencilFFTPrecision", "PC_STENCILFFT_", NULL};

namespace shellac {

constexpr Option approximate_option = find_option(direct_options, "-pc_stencilfft_approximate"),
                 precision_option = find_option(direct_options, "-pc_stencilfft_precision");

static PetscErrorCode set(PC pc, StencilFFT *fft, PetscBool value, PetscBool *to) {
  PetscBool chooses;

  PetscFunctionBegin;
  if (*to == value) PetscFunctionReturn(PETSC_SUCCESS);
  fft->stale = true;
  *to = value;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSTENCIL, &chooses));
  if (chooses) PetscCall(choose_at_next_use(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_fft_from_options(PetscObject object, OptionItems PetscOptionsObject, void *context) {
  StencilFFT *fft = (StencilFFT *)context;
  PetscBool   is_ours, approximate = fft->approximate, single = fft->single;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny(object, &is_ours, PCSTENCILFFT, PCSTENCIL, ""));
  if (!is_ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckOptionsAgree(PetscOptionsObject, "-pc_stencilfft_"));
  PetscOptionsHeadBegin(PetscOptionsObject, "Options of exact inverses by transforms");
  PetscCall(read_option(PetscOptionsObject, approximate_option, &approximate));
  PetscCall(read_option(PetscOptionsObject, precision_option, PCStencilFFTPrecisions, &single));
  PetscOptionsHeadEnd();
  PetscCall(set((PC)object, fft, approximate, &fft->approximate));
  PetscCall(set((PC)object, fft, single, &fft->single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// For the functions in C; a PC of another type ignores them.
static PetscErrorCode set_from_c(PC pc, const Option &option, PetscInt value, PetscBool StencilFFT::*member) {
  PetscBool   ours;
  StencilFFT *fft;

  PetscFunctionBegin;
  PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the preconditioner is null; create it first");
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &ours, PCSTENCILFFT, PCSTENCIL, ""));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  SHELLAC_CHECK_ALL(value == 0 || value == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
                    "%s, %s(): %" PetscInt_FMT " was given; allowed: %s", option.key, option.setter, value,
                    option.values);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)pc), std::string(option.setter) + "()", 1, &value));
  PetscCall(get_context(pc, &fft));
  PetscCall(set(pc, fft, value ? PETSC_TRUE : PETSC_FALSE, &(fft->*member)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

PetscErrorCode PCStencilFFTSetApproximate(PC pc, PetscBool approximate) {
  return set_from_c(pc, approximate_option, approximate ? 1 : 0, &StencilFFT::approximate);
}
PetscErrorCode PCStencilFFTSetPrecision(PC pc, PCStencilFFTPrecision precision) {
  return set_from_c(pc, precision_option, (PetscInt)precision, &StencilFFT::single);
}
