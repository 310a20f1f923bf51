#pragma once
// What a PC of type stencilmg holds, for its set-up and application and for its options.

#include <memory>
#include <string>

#include "device/pc_method.hpp"
#include "multigrid/multigrid.hpp"
#include "multigrid/setup/read_axes.hpp"
#include "multigrid/setup/read_couplings.hpp"

namespace shellac {

struct StencilMG {
  // settings
  MultigridOptions options;
  PetscInt         cycles = 1; // of an application
  bool             single = false;
  PetscBool        monitor = PETSC_FALSE;

  // made by set-up
  std::unique_ptr<Multigrid>    multigrid;
  std::unique_ptr<OperatorRows> rows; // of variable coefficients on a GPU: memory for the next set-up; null elsewhere
  std::unique_ptr<SumOverAxes>  sum;  // that the levels are of; null where they have variable coefficients
  std::unique_ptr<SumRead>      read; // by PC stencil, for the set-up that follows; null: it reads the matrix
  AxesMemory                    axes_memory;
  MatVersion                    made_of;
  PetscBool                     on_device = PETSC_FALSE; // the vectors
  Vec                           fixed = NULL; // 1/diagonal of identity rows, zero elsewhere; null where there are none
  Vec                           work[3] = {NULL, NULL, NULL};
  Vec            masses = NULL;        // see Multigrid::GetMasses(); null where they are ones, or nobody has asked
  bool           has_masses = false;   // somebody has
  std::string    failure;              // what the last set-up found, after "this matrix"; empty: it serves
  bool           served = false;       // a set-up has
  PetscReal      growth = 0;           // of residuals in a cycle; zero: not measured
  bool           mixed_signs = false;  // couplings of a star, not symmetric: of both signs
  bool           near = false;         // the rows couple points two steps apart, and the levels' do not: see AddFar
  PetscInt       changes_followed = 0; // of the operator, by the levels that there are: see Multigrid::Update()
  bool           corrects = false;     // the hierarchy's operator is only near the matrix, whose residuals count
  bool           stale = false;        // settings have changed since, or a set-up has failed
  bool           tests = true;         // the KSP of the last solve compares norms with tolerances
  PetscReal      largest_entry = 0;    // of the diagonal, in size; zero: nobody has asked
  PetscInt       applications = 0;
  PetscInt64     number = 0;    // of the last set-up, of all that there were
  PetscLogDouble flops[3] = {}; // of a cycle from zero, one from a guess, and full multigrid

  std::unique_ptr<SuitedMethod> method; // of the set-up with the number below; null: nobody has asked
  PetscInt64                    method_of = 0;

  // The hierarchy is there, and as the settings ask; or it is known that there can be none.
  bool is_current() const { return !stale && (multigrid || !failure.empty()); }
};

PetscErrorCode get_context(PC pc, StencilMG **mg);
// An application's cycle, after a set-up; row: see Multigrid::Apply().
PetscErrorCode improve(PC pc, StencilMG *mg, Vec b, Vec x, bool from_x, InRow row = {});
PetscErrorCode set_up_stencilmg(PC pc);
PetscErrorCode use_stencilmg(PC pc);    // a shell gets its operations
PetscErrorCode forget_stencilmg(PC pc); // frees what set-up has made
// An error where single precision, which this option asks for, cannot solve. *largest_entry: of the diagonal, in size; zero:
// nobody has asked
PetscErrorCode check_single(PC pc, const char *option, KSP ksp, Vec b, Vec x, PetscReal *largest_entry);
PetscErrorCode prepare_stencilmg(PC pc, KSP ksp, Vec b, Vec x);  // before a solve
PetscErrorCode suit_stencilmg(PC pc, SuitedMethod *method);      // what goes with the last set-up
PetscReal      range_of_weights(const Axis axes[3]);             // the largest weight m of a row over the smallest
PetscErrorCode fail_application(Vec x);                          // after a set-up that has failed
PetscErrorCode view_findings(StencilMG *mg, PetscViewer viewer); // of the last set-up
PetscErrorCode destroy_vectors(StencilMG *mg);
PetscErrorCode set_from_options(PetscObject object, OptionItems PetscOptionsObject, void *context);

} // namespace shellac
