#pragma once
// The Mat of type kernelsum: y = A c, (A c)_i = Σ_j g(x_i, y_j) c_j, or the gradients at the targets.

#include <functional>
#include <string>
#include <vector>

#include "shellac.h"
#include "sums/cloud.hpp"
#include "sums/formula.hpp"
#include "sums/types.hpp"

namespace shellac {

class FastSum; // fast_sum.hpp

// What a user sets.
struct KernelSumSettings {
  int                            function = 0; // index in kernel_functions()
  std::shared_ptr<KernelFormula> formula;      // instead, where it is not null
  FunctionInfo                   formula_info; // of it, with the parameters
  Parameters                     parameters = {1, 0, 1};
  bool                           has_wavenumber = false; // set by the user: there is no default
  MatKernelSumPrecision          precision = MAT_KERNELSUM_DOUBLE;
  MatKernelSumSelf               self = MAT_KERNELSUM_SELF_AUTO;
  MatKernelSumMethod             method = MAT_KERNELSUM_DIRECT;
  PetscReal                      rtol = 1e-6;

  PointCloud *targets = NULL, *sources = NULL;
  std::string vec_type = VECSTANDARD; // of the coordinates

  // given as options, and not used by any set-up yet: an error where the next one has no use for them
  bool new_sigma = false, new_wavenumber = false, new_rtol = false;
};

// The context of the shell. A Mat scaled, shifted and so on is diag(left) scale A diag(right) + shift + diag(diagonal).
struct KernelSumMat : KernelSumSettings {
  PetscBool monitor = PETSC_FALSE;
  bool      gradient = false;
  bool      lazy = false; // MatSetUp() sets the sizes alone; the first use does the rest

  // made by the set-up
  bool      sized = false, ready = false;
  bool      symmetric = false;     // what PETSc has been told
  PetscReal center[3] = {0, 0, 0}; // of the box of all points; the extent is with the parameters
  FastSum  *fast = NULL;           // null: direct sums

  PetscScalar scale = 1, shift = 0;
  Vec         left = NULL, right = NULL, diagonal = NULL;
  bool        diagonal_given = false; // as a whole, by MatDiagonalSet(): the settings do not change it
  Vec         work[2] = {NULL, NULL}; // like a right and a left vector; null until needed

  // of the last product
  PetscLogDouble terms = 0, seconds = 0; // that were added up on this rank: pairs, or what a fast method has instead
  void          *begin_event = NULL, *end_event = NULL;
  PetscInt64     products = 0;

  KernelSumSettings  &settings() { return *this; }
  const FunctionInfo &info() const { return formula ? formula_info : kernel_functions()[function]; }
  bool                interleaved() const { return info().complex && !PetscDefined(USE_COMPLEX); }
  PetscMemType        memory() const { // where it is set up
    return vec_type.find("cuda") == std::string::npos ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_CUDA;
  }
  int  scalars_a_value() const { return interleaved() ? 2 : 1; }
  int  scalars_a_target() const { return scalars_a_value() * (gradient ? targets->dim : 1); }
  bool limit_is_own() const { // whether g(x, x) is what the function gives there
    return !info().singular && self != MAT_KERNELSUM_SELF_ZERO;
  }
};

inline bool is_gaussian(const KernelSumMat &context) {
  return std::string(context.info().name) == "gaussian";
}

PetscErrorCode MatGetKernelSum(Mat A, KernelSumMat **context);         // set up, by this call where it was not
PetscErrorCode MatGetKernelSumSettings(Mat A, KernelSumMat **context); // as it is

// Set-up in two steps: sizes and types, which the user's vectors follow, and all that is computed from the points.
PetscErrorCode MatKernelSumSetUp(Mat A); // MATOP_SETUP
PetscErrorCode MatKernelSumSetSizes(Mat A);
PetscErrorCode MatKernelSumPrepare(Mat A);
PetscErrorCode MatKernelSumCheck(Mat A); // whether the settings go together
// An error for a vector of another layout than that of the rows or the columns; it may be null. Every rank knows the
// whole layout, so ranks agree without communication, also if PETSc's check of local sizes has returned with an error
// on some.
PetscErrorCode MatKernelSumCheckLayout(Mat A, Vec v, bool of_columns);
PetscErrorCode MatKernelSumSetSymmetry(Mat A); // what PETSc is told of it

// Makes *v, null or not, a vector of the kind of `like` with the values it had: products may be on the host, then on a
// GPU.
PetscErrorCode VecMatchKind(Vec like, Vec *v);

// Coordinates of the particles of a DMSWARM or the nodes of another DM, as a new vector.
PetscErrorCode DMGetPointCoordinates(DM dm, Vec *coordinates);

// The entries of a pair of points without scalings, block[row * columns + column]; x = target - source.
void KernelSumBlock(const KernelSumMat &context, const PetscReal x[3], PetscScalar *block);
// All values of a distributed vector; `fallback` where it is null.
PetscErrorCode GatherValues(Vec v, PetscInt N, PetscScalar fallback, std::vector<PetscScalar> *values);

// out = A in, of `columns` vectors `in` + c lda_in; without scalings. Transposed: of Aᵀ; conjugate: of the complex
// conjugate function.
PetscErrorCode KernelSumApply(MPI_Comm comm, KernelSumMat *context, bool transposed, bool conjugate,
                              PetscMemType memory, PetscInt columns, const PetscScalar *in, PetscInt64 lda_in,
                              PetscScalar *out, PetscInt64 lda_out);

// Operations of the type, by topic. Entries: conversion, norms, the diagonal, products with dense matrices.
PetscErrorCode MatKernelSumSetSettings(Mat A);
PetscErrorCode MatKernelSumSetProducts(Mat A);
PetscErrorCode MatKernelSumSetScalings(Mat A);
PetscErrorCode MatKernelSumSetView(Mat A);
PetscErrorCode MatKernelSumSetEntryOperations(Mat A);
// What MATSHELL would do to a product of its own, or not at all: an error that names a remedy.
PetscErrorCode MatKernelSumRefuse(MPI_Comm comm, const char *operation);

// ---- pieces of KernelSumApply() --------------------------------------------------------------------------------------

// Prints how far a product is.
struct Monitor {
  MPI_Comm       comm;
  PetscLogDouble begun;    // [s]
  int            blocks;   // of sources, that take about as long each
  double         done = 0; // blocks
};

// The pair sum of a Mat in its raw layout: `passes` sums, the p-th of which begins p real numbers further on.
struct Layout {
  PairSum    sum;
  int        passes = 1;
  int        columns = 1; // columns of raw data that sources bring, each `reals` for a point and `lda` apart
  int        reals = 1;
  PetscInt64 lda = 0;        // [real numbers]
  bool       narrow = false; // pairs in single precision
  Monitor   *monitor = NULL; // null: silent
};
Layout KernelSumLayout(const KernelSumMat &context, bool transposed, bool conjugate, PetscInt columns,
                       const PetscScalar *in, PetscInt64 lda_in, PetscScalar *out, PetscInt64 lda_out);
// Sums all pairs, or those of the lists, of the layout's targets and sources.
PetscErrorCode KernelSumPairs(const Layout &layout);
// Reports that some blocks, or parts of one, have been summed. A null monitor prints nothing.
PetscErrorCode MonitorAdvance(Monitor *monitor, PetscMemType memory, double blocks);
// Calls visit(layout, owner, step) with the sources of every rank in turn, beginning with this rank's, `own`, with the
// layout's values. Sources are passed around in a ring. From the second step on, the layout adds to its results.
using Visit = std::function<PetscErrorCode(const Layout &layout, PetscMPIInt owner, int step)>;
PetscErrorCode VisitInRing(MPI_Comm comm, PointCloud *own, Layout layout, const Visit &visit);

} // namespace shellac
