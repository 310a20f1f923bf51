#pragma once
// Many dense matrices of one size: a Cholesky factor in blocks, rows of inverses.

#include <vector>

#include "device/batch.hpp"
#include "device/scratch.hpp"

namespace shellac {

// Factors and inverts matrices of order n in this memory.
class DenseBatch {
public:
  PetscInt     n = 0, count = 0;
  PetscMemType memory = PETSC_MEMTYPE_HOST;

  // Of one matrix, made of whole blocks.
  static size_t bytes_of(PetscInt n);
  // Room for the matrices, which are to be written before they are factored.
  PetscErrorCode Create(PetscMemType memory, PetscInt n, PetscInt count);
  Batch          matrices() { return {matrices_.at(memory), (size_t)n, (size_t)n * n}; }

  // The last k columns of L⁻ᴴ, where the matrices are L Lᴴ, or those of A⁻ᵀ: n × k each, in the room that it gives.
  PetscErrorCode OfCholesky(PetscInt k, Batch *columns);
  PetscErrorCode OfInverse(PetscInt k, Batch *columns);
  PetscErrorCode GetMatrices(std::vector<PetscScalar> *values) { return matrices_.GetHost(memory, values); }
  // Which matrices turned out not to be positive definite, or to be singular; not 0.
  PetscErrorCode GetFailed(std::vector<int> *failed) { return failed_.GetHost(memory, failed); }

private:
  Scratch<PetscScalar>   matrices_, columns_, diagonal_, panel_;
  Scratch<int>           failed_, pivots_;
  Scratch<PetscScalar *> pointers_;

  PetscErrorCode Factor();
};

} // namespace shellac
