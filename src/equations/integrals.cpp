// Integrals over the domain, and the cells of the grid's points by which they are sums.

#include "equations/equation.hpp"

#include "device/runs.hpp"

namespace shellac {

namespace {

// Adds one of the numbers of each point, times the volume of its cell.
struct AddCells {
  const PetscScalar *values; // [points][numbers]
  PetscInt           numbers, size[3];
  CellLengths        cells;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, PointSum *sum) const {
    const size_t first = (size_t)p[0] + (size_t)size[0] * ((size_t)p[1] + (size_t)size[1] * (size_t)p[2]);
    for (int i = 0; i < n; i++)
      sum->value += values[(first + (size_t)i) * (size_t)numbers] * cells.volume(p[0] + i, p[1], p[2]);
  }
};

} // namespace

PetscErrorCode EquationOnGrid::GetCells(PetscMemType memory, CellLengths *cells) {
  const double *lengths;

  PetscFunctionBegin;
  if (!cell_lengths_.size())
    for (const EquationAxis &axis : axes_) {
      const std::vector<double> of_axis = axis.cells();
      cell_lengths_.change().insert(cell_lengths_.host().end(), of_axis.begin(), of_axis.end());
    }
  PetscCall(cell_lengths_.Get(memory, &lengths));
  for (int a = 0; a < 3; lengths += grid_.N[a++]) cells->of[a] = lengths + grid_.start[a];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EquationOnGrid::Integrate(PetscMemType memory, LazyKernels &lazy) {
  const size_t n = (size_t)equation_->functions->integral_numbers, points = owned();
  // those of which others are made are right after each pass
  const size_t          passes = equation_->text.nests_integrals ? n / 2 : n ? 1 : 0;
  std::vector<PointSum> sums;
  AddCells              add = {nullptr, (PetscInt)n, {grid_.size[0], grid_.size[1], grid_.size[2]}, {}};

  PetscFunctionBegin;
  integrals_.assign(n, 0);
  place_.integrals = compiled_array(integrals_.data());
  for (size_t pass = 0; pass < passes && u_; pass++) {
    PetscCall(GetCells(memory, &add.cells));
    PetscCall(integrands_.Grow(n * points, memory));
    PetscCall(sums_.Grow(n, memory));
    equation::Scalar *values = compiled_array(integrands_.at(memory));
    if (PetscMemTypeDevice(memory))
      PetscCall(KernelsOf(lazy).Vectors(lazy.names.size() - 1, place_, Tables(), regions_, values));
    else
      for (const equation::Region &region : regions_)
        (lazy.integrands ? lazy.integrands : equation_->functions->integrands)(&place_, &region, values);
    for (size_t i = 0; i < n; i++) {
      add.values = integrands_.at(memory) + i;
      PetscCall(sum_runs(memory, {{0, 0, 0}, {add.size[0], add.size[1], add.size[2]}}, add, &partial_sums_,
                         sums_.at(memory) + i));
    }
    PetscCall(sums_.GetHost(memory, &sums));
    for (size_t i = 0; i < n; i++) integrals_[i] = sums[i].value;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, integrals_.data(), (PetscMPIInt)n, MPIU_SCALAR, MPIU_SUM, grid_.comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
