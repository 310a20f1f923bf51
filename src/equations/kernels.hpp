#pragma once
// The kernels of an equation: compiled by NVRTC, loaded, launched.

#include <string>
#include <vector>

#include "equations/gpu_library.hpp"
#include "equations/interface.hpp"

namespace shellac {

// How many entries a Place's tables have.
struct PlaceTables {
  size_t fields, parameters, given_scale, folds, identity;
};

class EquationKernels {
public:
  // Compiles a source with the kernels `names` for the ranks' GPUs; name: in messages. Collective.
  PetscErrorCode Create(MPI_Comm comm, const std::string &source, const std::string &name, const char cache[], int dim,
                        const std::vector<const char *> &names);
  bool           present() const { return library_.present(); } // else -info says why not

  // As equation::Functions' values and entries, of which they are the first and the second kernel, in PETSc's stream. place:
  // of the host, with arrays of the GPU; its tables are copied.
  PetscErrorCode Values(const equation::Place &place, const PlaceTables &tables,
                        const std::vector<equation::Region> &regions, equation::Scalar *out) const;
  PetscErrorCode Entries(const equation::Place &place, const PlaceTables &tables,
                         const std::vector<equation::Region> &regions, equation::Scalar *const *out,
                         size_t slots) const;
  // The k-th kernel, a thread a point.
  PetscErrorCode Points(size_t k, const equation::Place &place, const PlaceTables &tables,
                        const std::vector<equation::Region> &regions, equation::Scalar *out) const;

private:
  // steps: points that a thread computes inside; slots: threads at each point at an end
  PetscErrorCode Launch(size_t kernel, const equation::Place &place, const PlaceTables &tables,
                        const std::vector<equation::Region> &regions, int steps, size_t slots, const void *out) const;

  GpuLibrary library_;
  int        dim_ = 0;
};

} // namespace shellac
