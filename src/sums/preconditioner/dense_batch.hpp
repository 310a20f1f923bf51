#pragma once
// Many dense matrices of one size: products by BLAS or cuBLAS, a Cholesky factor in blocks, rows of inverses.

#include <vector>

#include "device/scratch.hpp"

#include <petscblaslapack.h> // after petscsys.h, which it needs

namespace shellac {

// Matrices of the same size, one after the other, or parts of them: column by column, `lead` scalars apart.
struct Batch {
  PetscScalar *values = nullptr;
  size_t       lead = 1, stride = 1; // stride: from one matrix to the next

  Batch part(size_t row, size_t column) const { return {values + row + column * lead, lead, stride}; }
};

// c = op(a) op(b) alpha + beta c with m × k and k × n matrices, `count` of each; op: 'N', or 'C' for the conjugate
// transpose.
PetscErrorCode MultiplyBatch(PetscMemType memory, char op_a, char op_b, PetscInt m, PetscInt n, PetscInt k,
                             PetscScalar alpha, const Batch &a, const Batch &b, PetscScalar beta, const Batch &c,
                             PetscInt count);

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
