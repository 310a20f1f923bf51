#pragma once
// Products of many dense matrices of one size, by BLAS or cuBLAS.

#include "device/memory.hpp"

#include <petscblaslapack.h> // after petscsys.h, which it needs

namespace shellac {

// Matrices of the same size, one after the other, or parts of them: column by column, `lead` scalars apart.
template <class T> struct BatchOf {
  T     *values = nullptr;
  size_t lead = 1, stride = 1; // stride: from one matrix to the next

  BatchOf part(size_t row, size_t column) const { return {values + row + column * lead, lead, stride}; }
};
using Batch = BatchOf<PetscScalar>;

// A type that a template does not deduce from an argument.
template <class T> struct PlainOf { using type = T; };
template <class T> using Plain = typename PlainOf<T>::type;

// c = op(a) op(b) alpha + beta c with m × k and k × n matrices, `count` of each; op: 'N', or 'C' for the conjugate
// transpose. T: PETSc's scalars, or those of single precision.
template <class T>
PetscErrorCode MultiplyBatch(PetscMemType memory, char op_a, char op_b, PetscInt m, PetscInt n, PetscInt k,
                             Plain<T> alpha, const BatchOf<T> &a, const BatchOf<T> &b, Plain<T> beta,
                             const BatchOf<T> &c, PetscInt count);

} // namespace shellac
