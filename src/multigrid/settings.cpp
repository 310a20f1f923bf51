// The settings of stencilmg: options, and functions in C that set the same.

#include <shellac/multigrid.h>

#include "multigrid/options.hpp"
#include "multigrid/stencilmg.hpp"

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

template <class T> PetscErrorCode set(PetscObject pc, StencilMG *mg, const Setting &of, PetscInt value, T *to) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(value >= of.least && value <= of.most, PetscObjectComm(pc), PETSC_ERR_ARG_OUTOFRANGE,
                    "%s, %s(): %" PetscInt_FMT " was given; allowed: %s", of.option.key, of.option.setter, value,
                    of.option.values);
  if (of.rebuilds && *to != (T)value) mg->stale = true;
  *to = (T)value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// For the functions in C; *mg: null where the PC is of another type.
PetscErrorCode find(PC pc, StencilMG **mg) {
  PetscBool ours;

  PetscFunctionBegin;
  PetscCheck(pc, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the preconditioner is null; create it first");
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSTENCILMG, &ours));
  *mg = NULL;
  if (ours) PetscCall(get_context(pc, mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode set_from_c(PC pc, const Setting &of, PetscInt value, T *(*member)(StencilMG *)) {
  StencilMG *mg;

  PetscFunctionBegin;
  PetscCall(find(pc, &mg));
  if (mg) PetscCall(set((PetscObject)pc, mg, of, value, member(mg)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode set_from_options(PetscObject object, OptionItems PetscOptionsObject, void *context) {
  StencilMG *mg = (StencilMG *)context;
  PetscBool  is_ours;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(object, PCSTENCILMG, &is_ours));
  if (!is_ours) PetscFunctionReturn(PETSC_SUCCESS);
  PetscOptionsHeadBegin(PetscOptionsObject, "Stencil multigrid options");
  const auto read_enum = [&](const Setting &of, const char *const names[], auto *to) {
    PetscInt value = (PetscInt)*to;
    PetscFunctionBegin;
    PetscCall(read_option(PetscOptionsObject, of.option, names, &value));
    PetscCall(set(object, mg, of, value, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto read_number = [&](const Setting &of, PetscInt *to) {
    PetscInt value = *to;
    PetscFunctionBegin;
    PetscCall(read_option(PetscOptionsObject, of.option, &value));
    PetscCall(set(object, mg, of, value, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto read_flag = [&](const Setting &of, bool *to) {
    PetscBool value = *to ? PETSC_TRUE : PETSC_FALSE;
    PetscFunctionBegin;
    PetscCall(read_option(PetscOptionsObject, of.option, &value));
    PetscCall(set(object, mg, of, value, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(read_enum(type_setting, PCStencilMGTypes, &mg->options.full));
  PetscCall(read_enum(cycle_setting, PCStencilMGCycleTypes, &mg->options.cycle));
  PetscCall(read_number(cycles_setting, &mg->cycles));
  PetscCall(read_number(smooths_setting, &mg->options.smooths));
  PetscCall(read_enum(smoother_setting, PCStencilMGSmoothers, &mg->options.smoother));
  PetscCall(read_number(levels_setting, &mg->options.levels));
  PetscCall(read_enum(precision_setting, PCStencilMGPrecisions, &mg->single));
  PetscCall(read_flag(fused_setting, &mg->options.fused));
  PetscCall(read_flag(graph_setting, &mg->options.graph));
  PetscCall(read_option(PetscOptionsObject, find_option(multigrid_options, "-pc_stencilmg_monitor"), &mg->monitor));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

PetscErrorCode PCStencilMGSetType(PC pc, PCStencilMGType type) {
  PetscFunctionBegin;
  PetscCall(set_from_c<bool>(pc, type_setting, (int)type, [](StencilMG *mg) { return &mg->options.full; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCStencilMGSetCycleType(PC pc, PCStencilMGCycleType type) {
  PetscFunctionBegin;
  PetscCall(set_from_c<Cycle>(pc, cycle_setting, (int)type, [](StencilMG *mg) { return &mg->options.cycle; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCStencilMGSetCycles(PC pc, PetscInt cycles) {
  PetscFunctionBegin;
  PetscCall(set_from_c<PetscInt>(pc, cycles_setting, cycles, [](StencilMG *mg) { return &mg->cycles; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCStencilMGSetSmooths(PC pc, PetscInt steps) {
  PetscFunctionBegin;
  PetscCall(set_from_c<PetscInt>(pc, smooths_setting, steps, [](StencilMG *mg) { return &mg->options.smooths; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCStencilMGSetSmoother(PC pc, PCStencilMGSmoother smoother) {
  PetscFunctionBegin;
  PetscCall(
      set_from_c<Smoother>(pc, smoother_setting, (int)smoother, [](StencilMG *mg) { return &mg->options.smoother; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCStencilMGSetLevels(PC pc, PetscInt levels) {
  PetscFunctionBegin;
  PetscCall(set_from_c<PetscInt>(pc, levels_setting, levels, [](StencilMG *mg) { return &mg->options.levels; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCStencilMGSetPrecision(PC pc, PCStencilMGPrecision precision) {
  PetscFunctionBegin;
  PetscCall(set_from_c<bool>(pc, precision_setting, (int)precision, [](StencilMG *mg) { return &mg->single; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCStencilMGSetFused(PC pc, PetscBool fused) {
  PetscFunctionBegin;
  PetscCall(set_from_c<bool>(pc, fused_setting, fused, [](StencilMG *mg) { return &mg->options.fused; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCStencilMGSetGraph(PC pc, PetscBool graph) {
  PetscFunctionBegin;
  PetscCall(set_from_c<bool>(pc, graph_setting, graph, [](StencilMG *mg) { return &mg->options.graph; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
