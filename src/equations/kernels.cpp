#include "equations/kernels.hpp"

#include <cstring>

#include "equations/nvrtc.hpp"

namespace shellac {

PetscErrorCode EquationKernels::Values(const equation::Place &place, const PlaceTables &tables,
                                       const std::vector<equation::Region> &regions, double *out) const {
  PetscFunctionBegin;
  PetscCall(Launch(Kernel::values, place, tables, regions, equation::steps_along_last, 1, &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationKernels::Entries(const equation::Place &place, const PlaceTables &tables,
                                        const std::vector<equation::Region> &regions, double *const *out,
                                        size_t slots) const {
  PetscFunctionBegin;
  PetscCall(Launch(Kernel::entries, place, tables, regions, 1, slots, &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SHELLAC_CUDA && CUDART_VERSION >= 12080

// A kernel's argument: a Place with its tables by value.
static std::vector<unsigned long long> packed(const equation::Place &place, const PlaceTables &tables) {
  std::vector<unsigned long long> bytes;
  const auto                      append = [&](const void *from, size_t n, size_t none) { // none: bytes of padding
    const size_t at = bytes.size();
    bytes.resize(at + (n + none + 7) / 8);
    if (n) memcpy(bytes.data() + at, from, n);
  };
  append(static_cast<const equation::PlaceNumbers *>(&place), sizeof(equation::PlaceNumbers), 0);
  append(place.fields, tables.fields * sizeof(void *), sizeof(void *));
  append(place.parameters, tables.parameters * sizeof(double), sizeof(double));
  append(place.given_scale, tables.given_scale * sizeof(double), 0);
  append(place.folds, tables.folds * sizeof(equation::Fold), 0);
  append(place.identity, tables.identity, 0);
  return bytes;
}

PetscErrorCode EquationKernels::Create(MPI_Comm comm, const std::string &source, const std::string &name,
                                       const char cache[], int dim) {
  int         device, major = 0, minor = 0, extremes[2];
  std::string binary;

  PetscFunctionBegin;
  dim_ = dim;
  if (cudaGetDevice(&device) == cudaSuccess) {
    (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  }
  extremes[0] = 10 * major + minor, extremes[1] = -extremes[0];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_INT, MPI_MIN, comm));
  if (extremes[0] != -extremes[1])
    PetscCall(PetscInfo(NULL, "Equations run on the host: the ranks' GPUs are of different architectures\n"));
  else
    PetscCall(CompileKernels(comm, source, name, extremes[0], cache, &binary));
  if (!binary.empty()) PetscCall(Load(binary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationKernels::Load(const std::string &binary) {
  static const char *const names[count] = {"shellac_values", "shellac_entries"};
  cudaLibrary_t            library;

  PetscFunctionBegin;
  cudaError_t error = cudaLibraryLoadData(&library, binary.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess) library_ = library;
  for (int k = 0; k < count && error == cudaSuccess; k++) {
    cudaKernel_t kernel;
    error = cudaLibraryGetKernel(&kernel, library, names[k]);
    kernels_[k] = (void *)kernel;
  }
  if (error != cudaSuccess) { // by a driver that is older than NVRTC
    (void)cudaGetLastError();
    PetscCall(PetscInfo(NULL, "Equations run on the host: the driver does not load their kernels: %s\n",
                        cudaGetErrorString(error)));
    if (library_) (void)cudaLibraryUnload(library);
    library_ = nullptr;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

EquationKernels::~EquationKernels() {
  if (library_) (void)cudaLibraryUnload((cudaLibrary_t)library_);
}

PetscErrorCode EquationKernels::Launch(Kernel kernel, const equation::Place &place, const PlaceTables &tables,
                                       const std::vector<equation::Region> &regions, int steps, size_t slots,
                                       const void *out) const {
  constexpr long long threads = equation::threads_of_block;
  auto                argument = packed(place, tables);
  equation::Work      work = {};
  unsigned            blocks_inside = 0;
  long long           points_at_ends = 0;
  cudaStream_t        stream;

  PetscFunctionBegin;
  for (const equation::Region &region : regions) {
    const bool few = dim_ > 1 && region.end[dim_ - 1] - region.start[dim_ - 1] < steps;
    if (region.ends || few) {
      work.at_ends[work.regions_at_ends++] = region;
      points_at_ends += region.points();
      continue;
    }
    const equation::Blocks blocks(region, dim_, steps);
    work.inside = region;
    blocks_inside = blocks.count[0] * blocks.count[1] * blocks.count[2];
  }
  work.blocks_at_ends = (unsigned)((points_at_ends + threads - 1) / threads);
  const unsigned blocks = work.blocks_at_ends * (unsigned)slots + blocks_inside;
  void          *arguments[] = {argument.data(), &work, const_cast<void *>(out)};
  if (!blocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(current_stream(&stream));
  PetscCallCUDA(
      cudaLaunchKernel(kernels_[kernel], dim3(blocks),
                       dim3((unsigned)equation::threads_along(dim_, 0), (unsigned)equation::threads_along(dim_, 1)),
                       arguments, 0, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

PetscErrorCode EquationKernels::Create(MPI_Comm, const std::string &, const std::string &, const char[], int dim) {
  PetscFunctionBegin;
  dim_ = dim;
  PetscCall(PetscInfo(NULL, "Equations run on the host: Shellac was built without CUDA 12.8 or later\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationKernels::Load(const std::string &) {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

EquationKernels::~EquationKernels() = default;

PetscErrorCode EquationKernels::Launch(Kernel, const equation::Place &, const PlaceTables &,
                                       const std::vector<equation::Region> &, int, size_t, const void *) const {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

#endif

} // namespace shellac
