// The pair sums of every kernel function in double precision, and the table of the functions.

#include "sums/formula.hpp"
#include "sums/kernels/list.hpp"
#include "sums/pairs.hpp"
#include "sums/types.hpp"

namespace shellac {

template <> PetscErrorCode SumPairs<double>(const PairSum &sum) {
  PetscFunctionBegin;
  if (sum.formula)
    PetscCall(SumFormula<double>(sum));
  else
    PetscCall(sum_listed<double>(KernelFunctions<double>(), sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Complex<double> as_complex(double x) {
  return {x, 0};
}
static Complex<double> as_complex(Complex<double> x) {
  return x;
}

// ---- many values ---------------------------------------------------------------------------------------------------

SHELLAC_INLINE void store(double value, bool keep, double *g, PetscInt i) {
  g[i] = keep ? value : 0;
}
SHELLAC_INLINE void store(Complex<double> value, bool keep, double *g, PetscInt i) {
  g[2 * (size_t)i] = keep ? value.re : 0;
  g[2 * (size_t)i + 1] = keep ? value.im : 0;
}

#if SHELLAC_CUDA
template <class Function> struct ValueAt {
  Function      f;
  double        factor;
  const double *r2;
  double       *g;
  bool          own;

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    store(factor * f.value(r2[i]), own || r2[i] > 0, g, i);
  }
};
#endif

template <class Function>
SHELLAC_WIDEST void values_on_host(const Parameters &p, bool own, PetscInt n, const double *r2, double *g) {
  const Function f(p);
  const double   factor = Function::factor(p);
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) store(factor * f.value(r2[i]), own || r2[i] > 0, g, i);
}

template <class Function> static PetscErrorCode values_of(const ManyValues &v) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(v.memory)) {
    PetscCall(for_each(
        v.memory, line_of((size_t)v.n),
        ValueAt<Function>{Function(v.parameters), Function::factor(v.parameters), v.r2, v.g, v.own_value_at_zero}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  values_on_host<Function>(v.parameters, v.own_value_at_zero, v.n, v.r2, v.g);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class... Functions> static PetscErrorCode values_listed(FunctionList<Functions...>, const ManyValues &v) {
  static PetscErrorCode (*const of_function[])(const ManyValues &) = {&values_of<Functions>...};
  return of_function[v.function](v);
}

PetscErrorCode ComputeValues(const ManyValues &values) {
  PetscFunctionBegin;
  PetscCall(check_backend(values.memory));
  if (values.formula)
    PetscCall(FormulaValues(values));
  else
    PetscCall(values_listed(KernelFunctions<double>(), values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- the table -----------------------------------------------------------------------------------------------------

template <class Function> static FunctionInfo describe() {
  constexpr bool complex = Scalar<typename Function::Value>::parts == 2;
  return {Function::name(),
          Function::formula(),
          Function::uses_sigma,
          Function::uses_wavenumber,
          Function::singular,
          complex,
          Function::flops,
          &Function::unit,
          &Function::factor,
          [](const Parameters &p, double r2) { return Function::factor(p) * as_complex(Function(p).value(r2)); },
          [](const Parameters &p, double r2) {
            const double unit = Function::unit(p);
            return (Function::factor(p) / (unit * unit)) * as_complex(Function(p).slope(r2));
          }};
}
template <class... Functions> static std::vector<FunctionInfo> describe_all(FunctionList<Functions...>) {
  return {describe<Functions>()...};
}
const std::vector<FunctionInfo> &kernel_functions() {
  static const std::vector<FunctionInfo> functions = describe_all(KernelFunctions<double>());
  return functions;
}

#if SHELLAC_CUDA
static double *workspace = NULL;
static size_t  workspace_bytes = 0;

PetscErrorCode device::GetWorkspace(size_t bytes, double **work) {
  PetscFunctionBegin;
  if (bytes > workspace_bytes) {
    DeviceFree(workspace); // after who uses it
    workspace = NULL, workspace_bytes = 0;
    PetscCall(DeviceMalloc(bytes, (void **)&workspace));
    workspace_bytes = bytes;
  }
  *work = workspace;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode SumPairsFinalize() {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  DeviceFree(workspace);
  workspace = NULL, workspace_bytes = 0;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
