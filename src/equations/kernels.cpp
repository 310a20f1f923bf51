#include "equations/kernels.hpp"

#include <cstring>

namespace shellac {

PetscErrorCode EquationKernels::Create(MPI_Comm comm, const std::string &source, const std::string &name,
                                       const char cache[], int dim, const std::vector<const char *> &names) {
  std::string problem;

  PetscFunctionBegin;
  dim_ = dim;
  PetscCall(library_.Create(comm, source, name, cache, names, &problem));
  if (!problem.empty()) PetscCall(PetscInfo(NULL, "Equations run on the host: %s\n", problem.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationKernels::Values(const equation::Place &place, const PlaceTables &tables,
                                       const std::vector<equation::Region> &regions, equation::Scalar *out) const {
  PetscFunctionBegin;
  PetscCall(Launch(0, place, tables, regions, equation::steps_along_last, 1, &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationKernels::Entries(const equation::Place &place, const PlaceTables &tables,
                                        const std::vector<equation::Region> &regions, equation::Scalar *const *out,
                                        size_t slots) const {
  PetscFunctionBegin;
  PetscCall(Launch(1, place, tables, regions, 1, slots, &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationKernels::Points(size_t k, const equation::Place &place, const PlaceTables &tables,
                                       const std::vector<equation::Region> &regions, equation::Scalar *out) const {
  PetscFunctionBegin;
  PetscCall(Launch(k, place, tables, regions, 1, 1, &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SHELLAC_GPU_LIBRARY

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

PetscErrorCode EquationKernels::Launch(size_t kernel, const equation::Place &place, const PlaceTables &tables,
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
      cudaLaunchKernel(library_.kernel(kernel), dim3(blocks),
                       dim3((unsigned)equation::threads_along(dim_, 0), (unsigned)equation::threads_along(dim_, 1)),
                       arguments, 0, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

PetscErrorCode EquationKernels::Launch(size_t, const equation::Place &, const PlaceTables &,
                                       const std::vector<equation::Region> &, int, size_t, const void *) const {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

#endif

} // namespace shellac
