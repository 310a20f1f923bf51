#pragma once
// What a PC of type stencilfft holds.

#include <memory>
#include <string>

#include "direct/box.hpp"
#include "direct/solve.hpp"
#include "multigrid/setup/read_axes.hpp"

namespace shellac {

struct StencilFFT {
  PetscBool approximate = PETSC_FALSE, single = PETSC_FALSE; // settings

  // made by set-up
  std::unique_ptr<SeparableSolve> solve;
  AxesMemory                      axes_memory;
  MatVersion                      made_of;
  Vec  fixed = NULL; // 1/diagonal of identity rows, zero elsewhere; null where there are none
  Vec                             masses = NULL;  // of rows; made when they are needed first
  Vec                             divided = NULL; // by the masses
  Vec  work[2] = {NULL, NULL};
  bool                            approximates = false; // the matrix is another
  bool                            halved = false; // see ProductsOfAxes: the matrix is that of `solve` times the masses
  PetscReal                       largest_entry = 0;    // see check_single()
  bool stale = false;        // a setting has changed since
  std::unique_ptr<SumRead>        read; // what a set-up that was refused has read; null where it was not
};

PetscErrorCode get_context(PC pc, StencilFFT **context);
PetscErrorCode set_up_stencilfft(PC pc);
// The same where it serves; *why: what prevents it, then nothing is made. if_fast: only where multigrid takes longer.
PetscErrorCode try_stencilfft(PC pc, bool if_fast, std::string *why);
PetscErrorCode prepare_stencilfft(PC pc, KSP ksp, Vec b, Vec x); // before a solve
PetscErrorCode use_stencilfft(PC pc); // a shell gets its operations
PetscErrorCode choose_at_next_use(PC pc); // of type stencil
PetscErrorCode set_fft_from_options(PetscObject object, OptionItems PetscOptionsObject, void *context);

} // namespace shellac
