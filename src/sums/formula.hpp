#pragma once
// A kernel function that the user gives as a text.

#include <memory>
#include <string>

#include "equations/gpu_library.hpp"
#include "sums/formula_interface.hpp"
#include "sums/pair_sum.hpp"

namespace shellac {

class KernelFormula {
public:
  // Reads and compiles a text for the host. Errors, on all ranks, with the text: an unknown name, what does not compile.
  static PetscErrorCode Create(MPI_Comm comm, const std::string &text, std::shared_ptr<KernelFormula> *formula);

  const std::string      &text() const { return text_; }
  const FormulaFunctions &functions() const { return *functions_; }
  // Whether its value at r = 0 is not finite with these parameters, computed in precision T.
  template <class T> bool singular(const Parameters &parameters) const;
  FunctionInfo            info(const Parameters &parameters, bool narrow) const; // narrow: in single precision

  // Compiles and loads its kernels in precision T for the ranks' GPUs, the first time; an error on all ranks where that is
  // not possible. Collective.
  template <class T> PetscErrorCode NeedKernels(MPI_Comm comm);
  // The same where values are on a GPU on any rank. Collective.
  PetscErrorCode NeedKernels(MPI_Comm comm, PetscMemType memory, bool narrow);

  struct Kernels {
    GpuLibrary       library;
    bool             tried = false;
    std::string      problem;  // why there are none; empty if there are
    std::vector<int> resident; // blocks that a GPU holds at a time, for each kernel; 0 before they are counted
  };
  template <class T> Kernels &kernels() { return kernels_[sizeof(T) == sizeof(double)]; }

private:
  std::string             text_;
  const FormulaFunctions *functions_ = nullptr;
  bool                    uses_sigma_ = false, uses_wavenumber_ = false;
  Kernels                 kernels_[2]; // in single precision, in double
};

// The source of its kernels in precision T.
template <class T> std::string formula_kernels(const std::string &text);

// The sum of sum.formula in precision T.
template <class T> PetscErrorCode SumFormula(const PairSum &sum);
// The values of values.formula.
PetscErrorCode FormulaValues(const ManyValues &values);

} // namespace shellac
