// Reads the options of Burgers' equation, and refuses those that would have no effect.

#include "burgers/burgers.hpp"
#include "burgers/options.hpp"
#include "options/agreement.hpp"

namespace shellac {

static constexpr const Option &option(const char *key) {
  return find_option(burgers_options, key);
}

// Replaces a deprecated value of an option.
static PetscErrorCode rename_value(TS ts, const char *key, const char *old_value, const char *value) {
  PetscOptions options;
  const char  *prefix;
  char         given[64] = "", full[128];
  PetscBool    set, is_old, quiet = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetOptions((PetscObject)ts, &options));
  PetscCall(TSGetOptionsPrefix(ts, &prefix));
  PetscCall(PetscOptionsGetString(options, prefix, key, given, sizeof(given), &set));
  PetscCall(PetscStrcasecmp(given, old_value, &is_old));
  if (!set || !is_old) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(full, sizeof(full), "-%s%s", prefix ? prefix : "", key + 1));
  PetscCall(PetscOptionsSetValue(options, full, value));
  PetscCall(PetscOptionsGetBool(options, NULL, "-options_suppress_deprecated_warnings", &quiet, NULL));
  if (!quiet)
    PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ts),
                          "** PETSc DEPRECATION WARNING ** : the value %s of the option %s is deprecated. Use %s %s "
                          "instead. (Silence this warning with -options_suppress_deprecated_warnings)\n",
                          old_value, full, full, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersReadOptions(OptionItems PetscOptionsObject, TS ts, BurgersSettings *settings) {
  constexpr PetscInt most = 5; // one more than any option may have
  PetscReal          values[most] = {0, 0, 0, 0, 0};
  PetscInt           n, dim;
  PetscBool          set;
  DM                 dm;
  TSBurgersScheme    scheme;
  MPI_Comm           comm = PetscObjectComm((PetscObject)ts);
  auto              &given = settings->given;

  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(rename_value(ts, "-burgers_flux", "seed", "central_doubled"));
  PetscCall(rename_value(ts, "-burgers_bc", "seed", "frozen"));
  PetscCall(CheckOptionsAgree(PetscOptionsObject, "-burgers_"));
  PetscOptionsHeadBegin(PetscOptionsObject, "Burgers' equation");
  PetscCall(read_option(PetscOptionsObject, option("-burgers_flux"), TSBurgersFluxes, &settings->flux));
  PetscCall(read_option(PetscOptionsObject, option("-burgers_reconstruct"), TSBurgersReconstructions,
                        &settings->reconstruction));
  PetscCall(read_option(PetscOptionsObject, option("-burgers_bc"), TSBurgersBoundaries, &settings->boundary, &set));
  if (set) settings->boundary_chosen = true;
  n = most;
  PetscCall(read_option(PetscOptionsObject, option("-burgers_inflow"), values, &n, &given.inflow));
  if (given.inflow) PetscCall(set_inflow(comm, dim, n, values, settings));
  PetscCall(read_option(PetscOptionsObject, option("-burgers_viscosity"), &settings->viscosity));
  n = most;
  PetscCall(read_option(PetscOptionsObject, option("-burgers_lengths"), values, &n, &set));
  if (set) PetscCall(set_lengths(comm, dim, n, values, settings));
  PetscCall(read_option(PetscOptionsObject, option("-burgers_speed"), &settings->speed, &given.speed));
  PetscCall(read_option(PetscOptionsObject, option("-burgers_check_interval"), &settings->check_interval));
  scheme = settings->scheme();
  PetscCall(
      read_option(PetscOptionsObject, option("-burgers_fused_scheme"), TSBurgersSchemes, &scheme, &given.fused_scheme));
  if (given.fused_scheme) settings->fused_scheme = scheme, settings->scheme_chosen = true;
  PetscCall(
      read_option(PetscOptionsObject, option("-burgers_fused_steps"), &settings->fused_steps, &given.fused_steps));
  PetscCall(read_option(PetscOptionsObject, option("-burgers_halo"), MatHaloTypes, &settings->halo_way));
  PetscCall(read_option(PetscOptionsObject, option("-burgers_jacobian"), TSBurgersJacobianTypes, &settings->jacobian,
                        &given.jacobian));
  PetscOptionsHeadEnd();
  PetscCall(BurgersCheckValues(comm, *settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersCheckOptions(TS ts, const BurgersSettings &settings, bool solves) {
  MPI_Comm      comm = PetscObjectComm((PetscObject)ts);
  PetscBool     other, irk, fused, is_explicit;
  TSType        type;
  TSProblemType problem;

  PetscFunctionBegin;
  PetscCheck(!settings.given.inflow || settings.boundary == TS_BURGERS_INFLOW, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_inflow is given, and -burgers_bc is %s; use -burgers_bc inflow, or leave -burgers_inflow out",
             TSBurgersBoundaries[settings.boundary]);
  PetscCheck(!settings.given.speed || settings.flux == TS_BURGERS_LAX_FRIEDRICHS, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_speed is given, and -burgers_flux is %s; use -burgers_flux lax_friedrichs, or leave "
             "-burgers_speed out",
             TSBurgersFluxes[settings.flux]);
  PetscCheck(!solves || !settings.inflow_set || settings.boundary_chosen, comm, PETSC_ERR_ORDER,
             "TSBurgersSetInflow() was called, and no boundary condition was chosen, so that the ends are %s; call "
             "TSBurgersSetBoundary(ts, TS_BURGERS_INFLOW)",
             TSBurgersBoundaries[settings.boundary]);
  PetscCall(TSGetType(ts, &type));
  if (!type) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ts, &other, TSMIMEX, TSDISCGRAD, TSALPHA2, TSBASICSYMPLECTIC, ""));
  PetscCheck(!other, comm, PETSC_ERR_SUP,
             "-ts_type %s is for equations of another form than Burgers' u_t = G(u); use an explicit type (euler, rk, "
             "ssp, burgersfused) or an implicit one (beuler, cn, bdf, rosw, arkimex)",
             type);
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSIRK, &irk));
  PetscCheck(!irk || settings.jacobian == TS_BURGERS_JACOBIAN_AIJ, comm, PETSC_ERR_SUP,
             "-ts_type irk needs the entries of the Jacobian; use -ts_type bdf, or on one rank -burgers_jacobian aij "
             "-pc_type pbjacobi");
  if (!solves) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSIsBurgersFused(ts, &fused));
  PetscCheck(fused || !(settings.given.fused_scheme || settings.given.fused_steps), comm, PETSC_ERR_ARG_INCOMP,
             "%s is given, and -ts_type is %s; use -ts_type burgersfused, or leave %s out",
             settings.given.fused_scheme ? "-burgers_fused_scheme" : "-burgers_fused_steps", type,
             settings.given.fused_scheme ? "-burgers_fused_scheme" : "-burgers_fused_steps");
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ts, &is_explicit, TSEULER, TSRK, TSSSP, TSBURGERSFUSED, ""));
  PetscCall(TSGetProblemType(ts, &problem));
  PetscCheck(is_explicit || problem != TS_LINEAR, comm, PETSC_ERR_ARG_INCOMP,
             "Burgers' equation is not linear, and with TS_LINEAR -ts_type %s takes one step of Newton's method; call "
             "TSSetProblemType(ts, TS_NONLINEAR) before TSSetType()",
             type);
  PetscCheck(!is_explicit || !settings.given.jacobian, comm, PETSC_ERR_ARG_INCOMP,
             "-burgers_jacobian is given, and the explicit -ts_type %s has no Jacobian; use an implicit type (beuler, "
             "cn, bdf, ...), or leave -burgers_jacobian out",
             type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersSetFromOptions(PetscObject object, OptionItems PetscOptionsObject, void *) {
  TS       ts = (TS)object;
  Burgers *burgers;

  PetscFunctionBegin;
  PetscCall(TSGetBurgers(ts, &burgers));
  BurgersSettings settings = burgers->settings;
  PetscCall(BurgersReadOptions(PetscOptionsObject, ts, &settings));
  PetscCall(BurgersCheckOptions(ts, settings, false));
  if (settings.jacobian != burgers->settings.jacobian) burgers->has_matrices = false;
  PetscCall(BurgersReplaceSettings(ts, burgers, settings));
  PetscCall(BurgersSetMatrices(ts, burgers));
  PetscCall(BurgersSetMonitor(ts)); // which -ts_monitor_cancel takes away
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
