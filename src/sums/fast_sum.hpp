#pragma once
// Sums in less than all pairs' time, to a tolerance.

#include <memory>

#include "sums/kernel_sum.hpp"

namespace shellac {

class FastSum {
public:
  virtual ~FastSum() = default;
  // The layout's sum, of one column of Mat values on all ranks, collectively.
  virtual PetscErrorCode Apply(const KernelSumMat &context, bool transposed, const Layout &layout) = 0;
  virtual PetscErrorCode View(PetscViewer viewer) const = 0;
  virtual PetscErrorCode Destroy() = 0;
};

} // namespace shellac
