#pragma once
// Products of many dense matrices of one size, by BLAS or cuBLAS.

#include "device/memory.hpp"

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

} // namespace shellac
