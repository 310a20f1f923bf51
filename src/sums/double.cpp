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

template <class Function> SHELLAC_WIDEST void values_of(const Parameters &p, PetscInt n, const double *r2, double *g) {
  const Function f(p);
  const double   factor = Function::factor(p);
  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) g[i] = factor * f.value(r2[i]);
}

template <class Function> static FunctionInfo describe() {
  constexpr bool complex = Scalar<typename Function::Value>::parts == 2;
  FunctionInfo   info = {
        Function::name(),
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
  if constexpr (!complex) info.values = values_of<Function>;
  return info;
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
    PetscCallCUDA(cudaFree(workspace)); // waits for who uses it
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
  if (workspace) PetscCallCUDA(cudaFree(workspace));
  workspace = NULL, workspace_bytes = 0;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
