// The pair sums of every kernel function in single precision.

#include "sums/formula.hpp"
#include "sums/kernels/list.hpp"
#include "sums/pairs.hpp"

namespace shellac {

template <> PetscErrorCode SumPairs<float>(const PairSum &sum) {
  PetscFunctionBegin;
  if (sum.formula)
    PetscCall(SumFormula<float>(sum));
  else
    PetscCall(sum_listed<float>(KernelFunctions<float>(), sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
