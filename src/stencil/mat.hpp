#pragma once
// The shell Mat over any StencilOperator: what PETSc asks of a matrix, answered without one.
// A new type is a formula like helmholtz.hpp, a StencilMat like the one in helmholtz.cpp and a line in register.cpp.

#include "grid/halo.hpp"
#include "shellac.h"
#include "stencil/operator.hpp"

namespace shellac {

// The context of the shell.
struct StencilMat {
  virtual ~StencilMat() = default;

  // What a type adds: its operator on a grid with these 1/h², its own options, its equation, and how to be like another.
  virtual std::unique_ptr<StencilOperator> make(int dim, const Patch &patch, const PetscReal inv_h2[3]) const = 0;
  virtual PetscErrorCode                   set_from_options(Mat A, OptionItems PetscOptionsObject) = 0;
  virtual PetscErrorCode                   view_equation(PetscViewer viewer) const = 0;
  virtual void                             take_settings(const StencilMat &from) {
                                boundary = from.boundary;
                                lengths_given = from.lengths_given;
                                halo_way = from.halo_way;
                                for (int a = 0; a < 3; a++) lengths[a] = from.lengths[a];
  }

  // settings
  MatLaplaceBoundaryType boundary = MAT_LAPLACE_ELIMINATED;
  PetscReal              lengths[3] = {1, 1, 1}; // of the domain [length]
  PetscInt               lengths_given = 0;      // how many of them were set; 0: from the coordinates, or 1

  HaloWay halo_way = HaloWay::automatic;

  // made by MatSetUp()
  Grid                             grid;
  PetscReal                        h[3] = {0, 0, 0}; // spacing [length]
  std::unique_ptr<StencilOperator> op;               // null before
  PetscScalar                      scale = 1;        // all MatScale()s
  Vec                              diagonal = NULL;  // what MatDiagonalSet() added to op's; null for nothing
  Halo                             halo;
  bool                             divides = false; // no diagonal entry plus divides_shift is zero
  PetscReal                        divides_shift = 0;
  bool                             symmetric = true;
  MatNullSpace                     nullspace = NULL;    // the one we attached, borrowed; null for none
  bool                             zeroed = false;      // MatZeroEntries() came, and no MatSetValues() since
  Mat                              aij = NULL;          // an assembled copy, for whoever needs entries; null before
  PetscErrorCode (*dmda_view)(Mat, PetscViewer) = NULL; // what DMCreateMatrix() laid over our view
};

// Makes a Mat without a type a shell of type `type` over the context, which it owns from then on, also in case of
// error.
PetscErrorCode MatCreateStencilShell(Mat A, MatType type, StencilMat *context);
PetscErrorCode MatGetStencil(Mat A, StencilMat **context);
PetscErrorCode MatStencilChanged(Mat A); // to be called after each change of the operator

// One row with global columns, ascending and without repetition, the diagonal vector included (d: its local array, or
// null).
struct Row {
  int         count = 0;
  PetscInt    column[7];
  PetscScalar value[7];
};
Row stencil_row(const StencilMat &context, const PetscInt p[3], bool transposed, const PetscScalar *d);

// An assembled copy, kept until the operator changes; borrowed.
PetscErrorCode MatStencilGetAssembled(Mat A, Mat *aij);
// Sets the operations that go through it: conversion, orderings, diagonal block, submatrices.
PetscErrorCode MatStencilSetAssembledOperations(Mat A);
// Lets MatGetFactor() factor matrices of this type through it.
PetscErrorCode MatStencilRegisterSolvers(MatType type);

extern PetscLogEvent halo_begin_event, halo_end_event;

} // namespace shellac
