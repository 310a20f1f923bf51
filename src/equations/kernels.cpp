#include "equations/kernels.hpp"

#include "device/chain.hpp"

#include <cstdint>
#include <cstring>

namespace shellac {

PetscErrorCode EquationKernels::Create(MPI_Comm comm, const std::vector<GpuLibrary::Source> &sources,
                                       const std::string &name, const char cache[], const EquationShape &shape) {
  std::string problem;

  PetscFunctionBegin;
  dim_ = shape.dim, at_once_ = shape.at_once, columns_ = shape.columns, whole_rows_ = shape.whole_rows;
  PetscCall(library_.Create(comm, sources, name, cache, &problem));
  if (!problem.empty()) PetscCall(PetscInfo(NULL, "Equations run on the host: %s\n", problem.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first region, the inner one, extended by the points at the ends of the first axis; and the other regions.
static std::vector<equation::Region> with_whole_rows(const std::vector<equation::Region> &regions) {
  std::vector<equation::Region> joined;
  for (const equation::Region &region : regions) {
    equation::Region *inside = joined.empty() || joined[0].ends ? nullptr : &joined[0];
    bool              beside = inside;
    for (int a = 1; a < 3; a++)
      beside = beside && region.start[a] == inside->start[a] && region.end[a] == inside->end[a];
    if (beside) {
      inside->start[0] = PetscMin(inside->start[0], region.start[0]);
      inside->end[0] = PetscMax(inside->end[0], region.end[0]);
    } else
      joined.push_back(region);
  }
  return joined;
}

PetscErrorCode EquationKernels::Vectors(size_t k, const equation::Place &place, const PlaceTables &tables,
                                        const std::vector<equation::Region> &regions, equation::Scalar *out) const {
  using equation::bytes_of_load;
  uintptr_t  arrays = (uintptr_t)place.u | (uintptr_t)place.direction | (uintptr_t)out;
  const bool wide = columns_ == 2 || equation::whole_loads((int)(tables.given_scale * sizeof(PetscScalar)));

  PetscFunctionBegin;
  for (size_t f = 0; f < tables.fields && columns_ == 2; f++) arrays |= (uintptr_t)place.fields[f];
  PetscCall(Launch(k, place, tables, whole_rows_ ? with_whole_rows(regions) : regions,
                   wide && arrays % bytes_of_load ? 0 : at_once_, columns_, 1, &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationKernels::Entries(size_t k, const equation::Place &place, const PlaceTables &tables,
                                        const std::vector<equation::Region> &regions, equation::Scalar *const *out,
                                        size_t slots) const {
  PetscFunctionBegin;
  PetscCall(Launch(k, place, tables, regions, 1, 1, slots, &out));
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
  append(place.integrals, tables.integrals * sizeof(PetscScalar), sizeof(PetscScalar));
  append(place.given_scale, tables.given_scale * sizeof(double), 0);
  append(place.folds, tables.folds * sizeof(equation::Fold), 0);
  append(place.identity, tables.identity, 0);
  return bytes;
}

// The blocks of threads over a region inside; their number.
static unsigned set_inside(const equation::Region &region, int dim, int at_once, int columns, equation::Work *work) {
  unsigned blocks = 1;

  work->inside = region;
  work->first = region.start[0] / 16 * 16;
  for (int a = 0; a < dim; a++) {
    const long long points = equation::threads_along(dim, a) * (a == dim - 1 ? at_once
                                                                : a == 0     ? columns
                                                                             : 1),
                    first = a ? region.start[a] : work->first;
    work->blocks[a] = (unsigned)((region.end[a] - first + points - 1) / points);
    work->inverse[a] = 0xffffffffu / work->blocks[a];
    blocks *= work->blocks[a];
  }
  return blocks;
}

PetscErrorCode EquationKernels::Launch(size_t kernel, const equation::Place &place, const PlaceTables &tables,
                                       const std::vector<equation::Region> &regions, int at_once, int columns,
                                       size_t slots, const void *out) const {
  constexpr long long threads = equation::threads_of_block, most_blocks = 1 << 20;
  auto                argument = packed(place, tables);
  equation::Work      work = {};
  unsigned            blocks_inside = 0;
  long long           points_at_ends = 0;
  cudaStream_t        stream;

  PetscFunctionBegin;
  for (const equation::Region &region : regions) {
    if (region.ends || !at_once || region.end[dim_ - 1] - region.start[dim_ - 1] < at_once) {
      work.at_ends[work.regions_at_ends++] = region;
      points_at_ends += region.points();
    } else
      blocks_inside = set_inside(region, dim_, at_once, columns, &work);
  }
  // Blocks at ends wait for memory many times, and are launched first. One on each multiprocessor, for each slot, leaves
  // room for those inside.
  work.blocks_at_ends =
      (unsigned)PetscMin((points_at_ends + threads - 1) / threads, blocks_inside ? multiprocessors() : most_blocks);
  PetscCheck(
      (points_at_ends + threads * most_blocks) >> 32 == 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "%lld points of a GPU are computed one by one, at ends of the domain say; fewer than 2^32 are possible. Use "
      "more GPUs",
      points_at_ends);
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
                                       const std::vector<equation::Region> &, int, int, size_t, const void *) const {
  return check_backend(PETSC_MEMTYPE_CUDA);
}

#endif

} // namespace shellac
