#pragma once
// A kernel function that the user gives as a text.

#include <memory>
#include <string>

#include "equations/gpu_library.hpp"
#include "sums/formula_interface.hpp"
#include "sums/pair_sum.hpp"

namespace shellac {

class Formula {
public:
  // Reads and compiles a text for the host. Errors, on all ranks, with the text: an unknown name, what does not compile.
  static PetscErrorCode Create(MPI_Comm comm, const std::string &text, std::shared_ptr<Formula> *formula);

  const std::string      &text() const { return text_; }
  const FormulaFunctions &functions() const { return *functions_; }
  FunctionInfo            info(const Parameters &parameters) const; // singular with these

  // Its kernels in precision T, compiled and loaded for this rank's GPU; an error where that is not possible.
  template <class T> PetscErrorCode GetKernels(const GpuLibrary **kernels);

private:
  std::string             text_;
  const FormulaFunctions *functions_ = nullptr;
  bool                    uses_sigma_ = false, uses_wavenumber_ = false;
  GpuLibrary              kernels_[2]; // in single precision, in double
};

// The source of its kernels in precision T.
template <class T> std::string formula_kernels(const std::string &text);

// The sum of sum.formula in precision T.
template <class T> PetscErrorCode SumFormula(const PairSum &sum);

} // namespace shellac
