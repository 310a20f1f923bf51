// A level as a matrix of PETSc, for its algebraic multigrid.

#include "multigrid/coarse/algebraic.hpp"

#include <numeric>

namespace shellac {

namespace {

// Parts of the fluid that couplings join, over all ranks. label [points of rows.grown]: the points' numbers become the
// least one of their part, or less than zero where anything holds the part's values.
PetscErrorCode find_parts(MPI_Comm comm, const CouplingArrays &rows, const Patch &patch, Halo *halo,
                          std::vector<PetscScalar> *label) {
  const NeighbourList    neighbours(rows);
  const size_t           n = rows.points();
  std::vector<size_t>    group(n); // towards one point of a part
  std::vector<PetscReal> least(n, PETSC_MAX_REAL);
  const auto             first = [&](size_t point) {
    while (group[point] != point) point = group[point] = group[group[point]];
    return point;
  };
  int changed = 1;

  PetscFunctionBegin;
  std::iota(group.begin(), group.end(), (size_t)0);
  for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = rows.grown.index(p);
    bool           held = rows.slot(SHIFT)[at] != (PetscScalar)0 || rows.slot(INVERSE_DIAGONAL)[at] == (PetscScalar)0;
    for (int arm = 0; arm < neighbours.count; arm++) {
      const Neighbour &to = neighbours.at[arm];
      const PetscInt   q[3] = {i + to.d[0], j + to.d[1], k + to.d[2]};
      if (to.coupling[at] == (PetscScalar)0) continue;
      held = held || !patch.in_domain(q);
      if (patch.in_domain(q)) group[first(at)] = first(at + to.step);
    }
    if (held) (*label)[at] = -1;
  });
  while (changed) {
    changed = 0;
    PetscCall(fill_ghosts(PETSC_MEMTYPE_HOST, patch, halo, rows.grown, label->data()));
    for (size_t at = 0; at < n; at++) {
      PetscReal &of_part = least[first(at)];
      if (PetscRealPart((*label)[at]) >= of_part) continue;
      of_part = PetscRealPart((*label)[at]);
      changed = 1;
    }
    for (size_t at = 0; at < n; at++) (*label)[at] = least[first(at)];
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode AlgebraicSolve::Destroy() {
  PetscFunctionBegin;
  PetscCall(PCDestroy(&pc_));
  PetscCall(MatDestroy(&A_));
  for (Vec *v : {&b_, &x_, &r_, &e_}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AlgebraicSolve::Create(MPI_Comm comm, const CouplingArrays &rows, const Patch &patch, Halo *halo,
                                      PetscBool device, int cycles) {
  const NeighbourList      neighbours(rows);
  PetscInt                 n, first = 0;
  std::vector<PetscScalar> number(rows.points(), 0), values; // numbers are real; ghosts take any values
  std::vector<PetscInt>    row, column;

  PetscFunctionBegin;
  PetscCall(Destroy());
  all_ = patch.all();
  cycles_ = cycles;
  pinned_ = 0;
  PetscCall(PetscIntCast(all_.points(), &n));
  PetscCallMPI(MPI_Exscan(&n, &first, 1, MPIU_INT, MPI_SUM, comm));
  PetscReal signs = 0;
  for_each_on_host(all_, [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = rows.grown.index(p);
    number[at] = (PetscReal)(first + (PetscInt)all_.index(p));
    signs += PetscSign(PetscRealPart(rows.slot(INVERSE_DIAGONAL)[at]));
  });
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &signs, 1, MPIU_REAL, MPIU_SUM, comm));
  sign_ = signs < 0 ? -1 : 1;
  PetscCall(fill_ghosts(PETSC_MEMTYPE_HOST, patch, halo, rows.grown, number.data()));
  std::vector<PetscScalar> label = number;
  PetscCall(find_parts(comm, rows, patch, halo, &label));
  for_each_on_host(all_, [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt    p[3] = {i, j, k};
    const size_t      at = rows.grown.index(p);
    const PetscScalar inverse = rows.slot(INVERSE_DIAGONAL)[at];
    const bool        in = inverse != (PetscScalar)0, pin = label[at] == number[at];
    const auto        add = [&](size_t to, PetscScalar value) {
      row.push_back((PetscInt)PetscRealPart(number[at]));
      column.push_back((PetscInt)PetscRealPart(number[to]));
      values.push_back(sign_ * value);
    };
    // a part that nothing holds is singular: one of its points is held
    add(at, in ? (PetscReal)(1 + pin) / inverse : (PetscScalar)sign_);
    if (pin) pinned_ = 1;
    for (int arm = 0; in && arm < neighbours.count; arm++) {
      const Neighbour &to = neighbours.at[arm];
      const PetscInt   q[3] = {i + to.d[0], j + to.d[1], k + to.d[2]};
      if (to.coupling[at] != (PetscScalar)0 && patch.in_domain(q)) add(at + to.step, -to.coupling[at]);
    }
  });
  flops_ = cycles * 20. * (double)values.size();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &pinned_, 1, MPI_INT, MPI_MAX, comm));
  PetscCall(MatCreate(comm, &A_));
  PetscCall(MatSetSizes(A_, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  // not aijcusparse: where rows are identities, GAMG's sums of its matrices fail with illegal instructions (PETSc 3.26)
  PetscCall(MatSetType(A_, MATAIJ));
  PetscCall(MatSetOptionsPrefix(A_, "pc_stencilmg_algebraic_"));
  PetscCall(MatSetFromOptions(A_));
  if (device) PetscCall(MatSetVecType(A_, VECCUDA));
  PetscCall(MatSetPreallocationCOO(A_, (PetscCount)values.size(), row.data(), column.data()));
  PetscCall(MatSetValuesCOO(A_, values.data(), INSERT_VALUES)); // equal places, as around two points, are added up
  PetscCall(MatSetOption(A_, MAT_SYMMETRIC, PETSC_TRUE));
  if (!PetscDefined(USE_COMPLEX)) PetscCall(MatSetOption(A_, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(A_, &x_, &b_));
  PetscCall(VecDuplicate(x_, &e_));
  PetscCall(VecDuplicate(b_, &r_));
  PetscCall(PCCreate(comm, &pc_));
  PetscCall(PCSetOptionsPrefix(pc_, "pc_stencilmg_algebraic_"));
  PetscCall(PCSetOperators(pc_, A_, A_));
  PetscCall(PCSetType(pc_, PCGAMG));
  PetscCall(PCGAMGSetReuseInterpolation(pc_, PETSC_TRUE));
  PetscCall(PCSetFromOptions(pc_));
  PetscCall(PCGAMGSetAggressiveLevels(pc_, 0)); // with any, twice as many iterations; options may make the type anew
  PetscCall(PCSetUp(pc_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// x from b.
PetscErrorCode AlgebraicSolve::Cycle(bool from_x) {
  PetscFunctionBegin;
  if (!from_x) PetscCall(PCApply(pc_, b_, x_));
  for (int n = from_x ? 0 : 1; n < cycles_; n++) {
    PetscCall(MatResidual(A_, b_, x_, r_));
    PetscCall(PCApply(pc_, r_, e_));
    PetscCall(VecAXPY(x_, 1, e_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AlgebraicSolve::Renew(PetscScalar a) {
  PetscFunctionBegin;
  const PetscReal turn = PetscRealPart(a) < 0 ? -1 : 1;
  sign_ *= turn;
  PetscCall(MatScale(A_, turn * a));
  PetscCall(VecScale(b_, sign_));
  PetscCall(MatDiagonalSet(A_, b_, ADD_VALUES));
  PetscCall(PCSetUp(pc_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
