#pragma once
// The kernels of an equation: compiled by NVRTC, loaded, launched.

#include <string>
#include <vector>

#include "equations/gpu_library.hpp"
#include "equations/interface.hpp"
#include "equations/source.hpp"

namespace shellac {

// How many entries a Place's tables have.
struct PlaceTables {
  size_t fields, parameters, integrals, given_scale, folds, identity;
};

class EquationKernels {
public:
  // Compiles sources of a shape for the ranks' GPUs; name: in messages. Collective.
  PetscErrorCode Create(MPI_Comm comm, const std::vector<GpuLibrary::Source> &sources, const std::string &name,
                        const char cache[], const EquationShape &shape);
  bool           present() const { return library_.present(); } // else -info says why not

  // The k-th kernel, in PETSc's stream, as equation::Functions' functions of those kinds. place: of the host, with
  // arrays of the GPU; its tables are copied.
  PetscErrorCode Vectors(size_t k, const equation::Place &place, const PlaceTables &tables,
                         const std::vector<equation::Region> &regions, equation::Scalar *out) const;
  PetscErrorCode Entries(size_t k, const equation::Place &place, const PlaceTables &tables,
                         const std::vector<equation::Region> &regions, equation::Scalar *const *out,
                         size_t slots) const;

private:
  // at_once, columns: of a thread inside; at_once 0: all points as those at ends; slots: threads at each point at an end
  PetscErrorCode Launch(size_t kernel, const equation::Place &place, const PlaceTables &tables,
                        const std::vector<equation::Region> &regions, int at_once, int columns, size_t slots,
                        const void *out) const;

  GpuLibrary library_;
  int        dim_ = 0, at_once_ = 1, columns_ = 1;
  bool       whole_rows_ = false;
};

} // namespace shellac
