// The settings of stencilmg: options, and functions in C that set the same.

#include <shellac/direct.h>
#include <shellac/multigrid.h>

#include "multigrid/options.hpp"
#include "multigrid/stencilmg.hpp"
#include "options/agreement.hpp"

const char *const PCStencilMGTypes[] = {"multiplicative", "full", "PCStencilMGType", "PC_STENCILMG_", NULL};
const char *const PCStencilMGCycleTypes[] = {"automatic",           "v", "w", "f", "PCStencilMGCycleType",
                                             "PC_STENCILMG_CYCLE_", NULL};
const char *const PCStencilMGSmoothers[] = {
    "automatic", "chebyshev", "red_black", "PCStencilMGSmoother", "PC_STENCILMG_SMOOTHER_", NULL};
const char *const PCStencilMGPrecisions[] = {"double", "single", "PCStencilMGPrecision", "PC_STENCILMG_", NULL};

namespace shellac {
namespace {

// What may be set to one of a few numbers; a change of most settings asks for another hierarchy.
struct Setting {
  const Option &option;
  PetscInt      least, most;
  bool          rebuilds;
};
constexpr Setting setting(const char *key, PetscInt least, PetscInt most, bool rebuilds) {
  return {find_option(multigrid_options, key), least, most, rebuilds};
}
constexpr Setting type_setting = setting("-pc_stencilmg_type", 0, 1, true);
constexpr Setting cycle_setting = setting("-pc_stencilmg_cycle_type", 0, 3, true);
constexpr Setting cycles_setting = setting("-pc_stencilmg_multiplicative_cycles", 1, PETSC_MAX_INT, false);
constexpr Setting smooths_setting = setting("-pc_stencilmg_smooths", 0, 4, true);
constexpr Setting smoother_setting = setting("-pc_stencilmg_smoother", 0, 2, true);
constexpr Setting levels_setting = setting("-pc_stencilmg_levels", 0, PETSC_MAX_INT, true);
constexpr Setting precision_setting = setting("-pc_stencilmg_precision", 0, 1, true);
constexpr Setting fused_setting = setting("-pc_stencilmg_fused", 0, 1, true);
constexpr Setting graph_setting = setting("-pc_stencilmg_graph", 0, 1, true);
constexpr Setting whole_setting = setting("-pc_stencilmg_whole_points", 0, PETSC_MAX_INT, true);

template <class T> PetscErrorCode set(PetscObject pc, StencilMG *mg, const Setting &of, PetscInt value, T *to) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(value >= of.least && value <= of.most, PetscObjectComm(pc), PETSC_ERR_ARG_OUTOFRANGE,
                    "%s, %s(): %" PetscInt_FMT " was given; allowed: %s", of.option.key, of.option.setter, value,
                    of.option.values);
  PetscCall(CheckCallAgrees(PetscObjectComm(pc), std::string(of.option.setter) + "()", 1, &value));
  if (of.rebuilds && *to != (T)value) mg->stale = true;
  *to = (T)value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// For the functions in C; a PC of another type ignores them. member(mg): where the value is.
template <class Member> PetscErrorCode set_from_c(PC pc, const Setting &of, PetscInt value, const Member &member) {
  PetscBool  ours;
  StencilMG *mg;

  PetscFunctionBegin;
  PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the preconditioner is null; create it first");
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &ours, PCSTENCILMG, PCSTENCIL, ""));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_context(pc, &mg));
  PetscCall(set((PetscObject)pc, mg, of, value, member(mg)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode set_from_options(PetscObject object, OptionItems PetscOptionsObject, void *context) {
  StencilMG *mg = (StencilMG *)context;
  PetscBool  is_ours;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny(object, &is_ours, PCSTENCILMG, PCSTENCIL, ""));
  if (!is_ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckOptionsAgree(PetscOptionsObject, "-pc_stencilmg_"));
  PetscOptionsHeadBegin(PetscOptionsObject, "Stencil multigrid options");
  const auto read = [&](const Setting &of, const char *const names[], auto *to) { // names: null for numbers and flags
    PetscInt  value = (PetscInt)*to;
    PetscBool flag = value ? PETSC_TRUE : PETSC_FALSE;
    PetscFunctionBegin;
    if (names)
      PetscCall(read_option(PetscOptionsObject, of.option, names, &value));
    else if constexpr (std::is_same<decltype(to), bool *>::value) {
      PetscCall(read_option(PetscOptionsObject, of.option, &flag));
      value = flag ? 1 : 0;
    } else
      PetscCall(read_option(PetscOptionsObject, of.option, &value));
    PetscCall(set(object, mg, of, value, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(read(type_setting, PCStencilMGTypes, &mg->options.full));
  PetscCall(read(cycle_setting, PCStencilMGCycleTypes, &mg->options.cycle));
  PetscCall(read(cycles_setting, nullptr, &mg->cycles));
  PetscCall(read(smooths_setting, nullptr, &mg->options.smooths));
  PetscCall(read(smoother_setting, PCStencilMGSmoothers, &mg->options.smoother));
  PetscCall(read(levels_setting, nullptr, &mg->options.levels));
  PetscCall(read(precision_setting, PCStencilMGPrecisions, &mg->single));
  PetscCall(read(fused_setting, nullptr, &mg->options.fused));
  PetscCall(read(graph_setting, nullptr, &mg->options.graph));
  PetscCall(read(whole_setting, nullptr, &mg->options.whole));
  PetscCall(read_option(PetscOptionsObject, find_option(multigrid_options, "-pc_stencilmg_monitor"), &mg->monitor));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

PetscErrorCode PCStencilMGSetType(PC pc, PCStencilMGType type) {
  return set_from_c(pc, type_setting, (int)type, [](StencilMG *mg) { return &mg->options.full; });
}
PetscErrorCode PCStencilMGSetCycleType(PC pc, PCStencilMGCycleType type) {
  return set_from_c(pc, cycle_setting, (int)type, [](StencilMG *mg) { return &mg->options.cycle; });
}
PetscErrorCode PCStencilMGSetCycles(PC pc, PetscInt cycles) {
  return set_from_c(pc, cycles_setting, cycles, [](StencilMG *mg) { return &mg->cycles; });
}
PetscErrorCode PCStencilMGSetSmooths(PC pc, PetscInt steps) {
  return set_from_c(pc, smooths_setting, steps, [](StencilMG *mg) { return &mg->options.smooths; });
}
PetscErrorCode PCStencilMGSetSmoother(PC pc, PCStencilMGSmoother smoother) {
  return set_from_c(pc, smoother_setting, (int)smoother, [](StencilMG *mg) { return &mg->options.smoother; });
}
PetscErrorCode PCStencilMGSetLevels(PC pc, PetscInt levels) {
  return set_from_c(pc, levels_setting, levels, [](StencilMG *mg) { return &mg->options.levels; });
}
PetscErrorCode PCStencilMGSetPrecision(PC pc, PCStencilMGPrecision precision) {
  return set_from_c(pc, precision_setting, (int)precision, [](StencilMG *mg) { return &mg->single; });
}
PetscErrorCode PCStencilMGSetFused(PC pc, PetscBool fused) {
  return set_from_c(pc, fused_setting, fused, [](StencilMG *mg) { return &mg->options.fused; });
}
PetscErrorCode PCStencilMGSetGraph(PC pc, PetscBool graph) {
  return set_from_c(pc, graph_setting, graph, [](StencilMG *mg) { return &mg->options.graph; });
}
PetscErrorCode PCStencilMGSetWholePoints(PC pc, PetscInt points) {
  return set_from_c(pc, whole_setting, points, [](StencilMG *mg) { return &mg->options.whole; });
}
