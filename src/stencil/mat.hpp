#pragma once
// The shell Mat over any StencilOperator: what PETSc asks of a matrix, answered without one.
// A type brings its operator and the operations that change it: see ../capture/mat.cpp and ../formulas/mat.cpp.

#include <memory>

#include "device/arrays.hpp"
#include "grid/halo.hpp"
#include "options/option.hpp"
#include "shellac.h"
#include "stencil/operator.hpp"

namespace shellac {

// Consecutive rows that MatGetRow() has read.
struct RowBlock {
  PetscInt                 first = 0, last = 0; // global rows; none after a change of the operator
  std::vector<size_t>      begin;               // of each row
  std::vector<PetscInt>    column;
  std::vector<PetscScalar> value;
};

// The context of the shell.
struct StencilMat {
  virtual ~StencilMat() = default;

  // What a type adds: its set-up, which makes grid, halo and op; the operator's transpose; the operator with its
  // coefficients in the memory of an operation's arrays; and the end of what it holds.
  virtual PetscErrorCode set_up(Mat A) = 0;
  virtual PetscErrorCode make_transpose(std::unique_ptr<StencilOperator> *transpose) = 0;
  virtual PetscErrorCode Prepare(StencilOperator *op, Arrays *arrays, std::unique_ptr<PreparedOperator> *prepared) = 0;
  virtual PetscErrorCode destroy() = 0;
  virtual PetscErrorCode bind_operator() = 0; // to the host or not, as the setting says
  // Brings the operator up to date with what it was made of, and counts it in `refreshes`; an error where that takes other
  // ranks' calls, too, and this call is not collective. The matrix' state stays: otherwise PCApply() would set the PC up in
  // the middle of a solve. So PCs and factors of ours keep a MatVersion.
  virtual PetscErrorCode refresh(Mat, bool) { return PETSC_SUCCESS; }
  // Discards what was made of the operator; to be called after each change of it.
  virtual PetscErrorCode invalidate();

  // settings
  HaloWay halo_way = HaloWay::automatic;
  bool    bound_to_host = false; // by MatBindToCPU()

  // made by MatSetUp()
  Grid                                   grid;
  Halo                                   halo;
  std::unique_ptr<StencilOperator>       op;        // null before
  std::unique_ptr<StencilOperator>       transpose; // made when asked for; null where the operator is symmetric
  bool                                   symmetric = true;
  bool                                   divides = false; // no diagonal entry plus divides_shift is zero
  PetscReal                              divides_shift = 0;
  PetscInt                               refreshes = 0; // so many: see refresh()
  Mat                                    aij = NULL;    // an assembled copy, for whoever needs entries; null before
  bool                                   aij_is_old = false; // it has other values
  std::vector<std::unique_ptr<RowBlock>> row_blocks; // the last one is read next; others are in use since MatGetRow()
  PetscInt                               rows_taken = 0; // by MatGetRow(), and not restored
  PetscErrorCode (*load)(Mat, PetscViewer) = NULL;       // the type's
  PetscErrorCode (*dmda_view)(Mat, PetscViewer) = NULL;  // what DMCreateMatrix() put in place of our view
  std::vector<PetscScalar> inverse_blocks;               // of MatInvertBlockDiagonal(); empty before
};

// Makes a Mat without a type a shell over the context, which it owns from then on, also in case of error; with all
// operations but those that change the operator. The type sets those, and then calls
// MatSetStencilType().
PetscErrorCode MatCreateStencilShell(Mat A, StencilMat *context);
PetscErrorCode MatSetStencilType(Mat A, MatType type, PetscErrorCode (*view)(Mat, PetscViewer));
PetscErrorCode MatGetStencil(Mat A, StencilMat **context); // set up or not
// Sets it up. collective: all ranks call it.
PetscErrorCode MatGetReadyStencil(Mat A, StencilMat **context, bool collective = true);
// The same of a Mat whose context is known to be of that type.
template <class Type> PetscErrorCode MatGetStencil(Mat A, Type **context) {
  StencilMat          *base = NULL;
  const PetscErrorCode error = MatGetStencil(A, &base);
  *context = static_cast<Type *>(base);
  return error;
}
template <class Type> PetscErrorCode MatGetReadyStencil(Mat A, Type **context, bool collective = true) {
  StencilMat          *base = NULL;
  const PetscErrorCode error = MatGetReadyStencil(A, &base, collective);
  *context = static_cast<Type *>(base);
  return error;
}

// Which matrix of ours something was made of, and in which state.
enum class MatChange { none, refreshed, other }; // refreshed: in the same state; other: in another, or another matrix
struct MatVersion {
  PetscErrorCode Read(Mat A);
  PetscErrorCode Compare(Mat A, MatChange *change) const; // brings the matrix up to date first; all ranks call it

  PetscObjectId    id = 0;
  PetscObjectState state = -1;
  PetscInt         refreshes = 0; // StencilMat::refreshes
};

// A Mat's sizes, local numbering, its vectors' type and whether it is bound to the host follow its DMDA's. *on_device:
// vectors are expected on a GPU. Errors: a Mat without a DMDA, sizes that are not the DMDA's; collectively.
PetscErrorCode MatStencilSetUpLayout(Mat A, StencilMat *context, PetscBool *on_device);
// DMCreateMatrix() replaces a distributed matrix' view by one that shows nothing of it under ::ascii_info, and MatLoad()
// by one that makes another matrix: puts ours back. To be called by operations that may be the first after it.
PetscErrorCode MatStencilRestoreView(Mat A, StencilMat *context);
// The common parts of a type's view. Begin: *info is whether the viewer asks for ::ascii_info; otherwise the entries have
// been viewed, in the order of the grid where DMCreateMatrix() arranged that. End: vectors, halos and bytes; those that
// this rank stores for the operator are given.
PetscErrorCode MatStencilViewBegin(Mat A, StencilMat *context, PetscViewer viewer, bool *info);
PetscErrorCode MatStencilViewEnd(Mat A, StencilMat *context, PetscLogDouble stored, PetscViewer viewer);
PetscErrorCode MatStencilSetHaloFromOptions(Mat A, const Option &option, OptionItems PetscOptionsObject);
// The operator or its transpose.
PetscErrorCode MatStencilGetOperator(StencilMat *context, bool transposed, StencilOperator **op);
// An error for vectors of another layout than the Mat's; b may be null. It comes before all that is collective: PETSc
// compares local sizes, and has returned on the ranks where those differ.
PetscErrorCode MatStencilCheckLayouts(Mat A, Vec x, Vec b, Vec y);
// y = A x, b + A x or b - A x, transposed or not. b may be y and, for a product, null.
PetscErrorCode MatStencilApply(Mat A, bool transposed, Form form, Vec x, Vec b, Vec y);
// y = A u, b + A u or b - A u, with the exchange of u's halo.
PetscErrorCode MatStencilApplyPrepared(const PreparedOperator &op, const Patch &patch, Halo *halo, PetscMemType memory,
                                       Form form, const PetscScalar *u, const PetscScalar *b, PetscScalar *y);
// Exchanges halos: *field is u with them.
PetscErrorCode MatStencilExchange(StencilMat *context, const PetscScalar *u, PetscMemType memory,
                                  Field<PetscScalar> *field);

// sweeps.cpp: a sweep in the order of colours, the default of MATOP_SOR
PetscErrorCode MatStencilRelax(Mat A, Vec b, PetscReal omega, MatSORType sweeps, PetscReal shift, PetscInt its,
                               PetscInt lits, Vec x);
// Returns an error for types of sweep that are not supported, and for diagonals with a zero.
PetscErrorCode MatStencilCheckSweep(Mat A, StencilMat *context, MatSORType sweeps, PetscReal shift, Vec b, Vec x);
// x = (L + D/omega)⁻¹ A (U + D/omega)⁻¹ b, for the sweeps of A's own MATOP_SOR.
PetscErrorCode MatStencilEisenstat(Mat A, Vec b, PetscReal omega, PetscReal shift, Vec x);

// entries.cpp
PetscErrorCode MatStencilGetRows(Mat A, RowProperty property, Vec v, bool on_host = false); // wherever v is
PetscErrorCode MatStencilNorm(Mat A, NormType type, PetscReal *norm);
PetscErrorCode MatStencilSetEntryOperations(Mat A);

// Calls f(i) for the rank's points in the order of its rows, by their indices in the whole grid.
template <class Function> void for_each_owned(const Grid &grid, const Function &f) {
  const PetscInt *lo = grid.start, *size = grid.size;
  PetscInt        i[3];
  for (i[2] = lo[2]; i[2] < lo[2] + size[2]; i[2]++)
    for (i[1] = lo[1]; i[1] < lo[1] + size[1]; i[1]++)
      for (i[0] = lo[0]; i[0] < lo[0] + size[0]; i[0]++) f((const PetscInt *)i);
}

// An assembled copy; borrowed. It is kept, and a change of the operator changes its values in place, so that what was made
// of its nonzero pattern stays valid; it is another matrix only where the pattern has no place for the new entries.
PetscErrorCode MatStencilGetAssembled(Mat A, Mat *aij);
// A new matrix of that type with A's sizes.
PetscErrorCode MatStencilCreateOfSizes(Mat A, MatType type, Mat *B);
// A new matrix of that type with A's entries.
PetscErrorCode MatStencilAssemble(Mat A, MatType type, Mat *B);
// Gives A's entries to B, an assembled matrix of any nonzero pattern, and no others.
PetscErrorCode MatStencilCopyEntries(Mat A, Mat B);
// What a copy shares with A, which may be known only since: null spaces, symmetry.
PetscErrorCode MatStencilTakeProperties(Mat A, Mat copy);
// Before PETSc takes parts of `whole`, which is A or its copy, for preconditioners: they may not inherit the type's
// symmetry.
PetscErrorCode MatStencilKeepSymmetryFromParts(Mat A, Mat whole);
// products.cpp: MatProductSetFromOptions() of products with such a matrix.
PetscErrorCode MatStencilSetProduct(Mat D);
// Sets the operations that use it: conversion, orderings, diagonal block, submatrices, column norms.
PetscErrorCode MatStencilSetAssembledOperations(Mat A);
// Lets PCPBJACOBI work on the GPU (PETSc 3.23 on).
PetscErrorCode MatStencilSetBlockDiagonalOperation(Mat A);
// factors.cpp: lets MatGetFactor() factor matrices of this type through it.
PetscErrorCode MatStencilRegisterSolvers(MatType type);

extern PetscLogEvent halo_begin_event, halo_end_event;

} // namespace shellac
