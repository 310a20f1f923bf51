#pragma once
// The preconditioner of kernel sums: solves on overlapping boxes of neighbouring points, then on a sample of all points.
//
//   z = Σ_b C_bᵀ (C_b A_b⁻¹) R_b r,   then   z += R_cᵀ A_c⁻¹ R_c (r - A z)
//
// with the matrix A_b of the points of box b and those around it. The result is kept only at the box's own points (C_b):
// restricted additive Schwarz. c are the coarse points, a sample of all.
//
// The symmetric variant is a sparse Cholesky factor of the inverse: boxes in an order from coarse to fine, each with the
// points around it among the boxes before,
//
//   z = Σ_b G_bᴴ G_b r,   G_b the last rows of L_b⁻¹, those of the box, A_b = L_b L_bᴴ.
//
// Matrices of multiquadrics and other functions that grow are definite only for coefficients whose sum is zero. The
// factor is then that of a constant minus the function, which is definite for all coefficients. The constant is a
// matrix of rank one, and costs a Krylov method one iteration more.
//
// Rows of inverses are stored: an application then reads each number once or twice, without the dependences of
// triangular solves. Rounding leaves a relative error of ε times the condition number of A_b in rows of A_b⁻¹, and of
// its root in rows of L_b⁻¹. It changes the preconditioner, not the solution, and costs iterations if the condition
// number is near 1/ε; above 1/ε, set-up is an error.
//
// Sources: C. Micchelli, Interpolation of scattered data: distance matrices and conditionally positive definite functions,
// 1986; X.-C. Cai, M. Sarkis, A restricted additive Schwarz preconditioner for general sparse linear systems, 1999;
// R. Beatson, W. Light, S. Billings, Fast solution of the radial basis function interpolation equations: domain
// decomposition methods, 2000; R. Yokota, L. Barba, M. Knepley, PetRBF, 2010; F. Schäfer, M. Katzfuss, H. Owhadi,
// Sparse Cholesky factorization by Kullback-Leibler minimization, 2021, eq. 2.

#include <shellac/kernelsumpc.h>

#include "sums/kernel_sum.hpp"
#include "sums/preconditioner/dense_batch.hpp"
#include "sums/preconditioner/neighbours.hpp"

#include <petscsf.h>

namespace shellac {

// The points of a box and around it, as places in the list of all points that this rank stores.
struct BlockPoints {
  size_t   at;    // where its places begin in a list of them
  PetscInt count; // points
};

// The matrix with its scalings, entry by entry, of some of its points.
class SumEntries {
public:
  // Fetches the leaves of `points`, and what scales them, from the ranks that have them, to this memory.
  PetscErrorCode Create(Mat A, PetscSF points, PetscMemType memory);
  // The rows and columns of some of them, `scalars` for each, in the last rows and columns of a matrix with ones on the
  // diagonal. places, blocks: in the memory
  PetscErrorCode Fill(const PetscInt *places, const BlockPoints *blocks, DenseBatch *matrices);
  // Of each matrix: its norm, and the largest difference from its conjugate transpose, infinite where that is not finite.
  PetscErrorCode Measure(const BlockPoints *blocks, DenseBatch *matrices, double *norms, double *asymmetries);
  // The matrix times sign, plus u uᴴ: what `level` times a kernel function of ones adds.
  PetscErrorCode Raise(const PetscInt *places, const BlockPoints *blocks, double sign, double level,
                       DenseBatch *matrices);

  int scalars = 1; // for each point

private:
  PetscErrorCode Fetch(PetscSF sf, Vec v, Mirror<PetscScalar> *values);

  const KernelSumMat *context_ = NULL;
  PetscMemType        memory_ = PETSC_MEMTYPE_HOST;
  PetscInt            n_ = 0;
  Mirror<PetscReal>   targets_, sources_;
  Mirror<PetscScalar> left_, right_, diagonal_; // empty: ones, ones, zeros
  Scratch<double>     r2_, g_, rows_;
};

// The shape of a kernel function near r = 0, unless it is singular.
struct Shape {
  double width = 0; // where it has fallen to half of its value at r = 0, or grown to twice; may be infinite [length]
  bool   grows = false; // it is larger there than at r = 0
  bool   fast = false;  // hardly anything is left at a few times the width, as of a Gaussian
};
Shape shape_of(const KernelSumMat &context);

struct SchwarzSettings {
  PetscInt           box = 100;              // points, at most
  PetscInt           overlap = PETSC_DECIDE; // points around a box
  PetscInt           coarse = PETSC_DECIDE;  // points, about
  PCKernelSumVariant variant = PC_KERNELSUM_AUTO;

  bool operator==(const SchwarzSettings &other) const {
    return box == other.box && overlap == other.overlap && coarse == other.coarse && variant == other.variant;
  }
};

class Schwarz {
public:
  PetscErrorCode SetUp(Mat A, const SchwarzSettings &settings);
  PetscErrorCode Apply(Vec r, Vec z);
  PetscErrorCode ApplyTranspose(Vec r, Vec z);
  PetscErrorCode View(PetscViewer viewer) const;
  PetscErrorCode Reset();
  bool           is_symmetric() const { return symmetric_; }
  // About the relative residual that rounding may leave, of a right-hand side that is not smooth: ε times the condition
  // number.
  PetscReal      rounding() const { return PETSC_MACHINE_EPSILON * condition_; }
  bool           is_for_definite() const { return symmetric_ && !raised_; } // the matrix is definite as it is

  // Rows of the inverse of a box, or of that of its factor: row i begins at values + i columns.
  struct Block {
    size_t   values, at;    // at: where its columns' places begin in where_
    PetscInt rows, columns; // scalars; the rows are those of the last columns
  };

private:
  static constexpr const char *too_large =
      "-pc_type kernelsum: a box of %" PetscInt_FMT
      " points with those around it is too large; take fewer by -pc_kernelsum_box and -pc_kernelsum_overlap";

  MPI_Comm             comm_ = MPI_COMM_NULL;
  PetscLayout          layout_ = NULL; // of the vectors
  Mat                  A_ = NULL; // a reference: the PC's own may be another one's by the time of an application
  Mirror<Block>        blocks_;
  Mirror<PetscScalar>  inverse_;
  Mirror<PetscInt>     where_;           // of the blocks' points among those that this rank holds
  Mirror<PetscInt>     first_, columns_; // columns_[first_[i] ..]: the places in where_ that have point i
  Scratch<PetscScalar> near_, terms_;    // values of the points that are held; what each block adds to its points
  PetscSF              to_near_ = NULL, to_cores_ = NULL; // leaves: the points that are held; those of the boxes
  int                  scalars_ = 1;
  PetscInt             most_columns_ = 0, most_rows_ = 0; // of a block
  bool                 symmetric_ = false, raised_ = false;
  PetscInt             boxes_ = 0, overlap_[2] = {0, 0}, coarse_count_ = 0; // overlap_: the least, the most
  PetscInt             points_ = 0, held_ = 0, most_held_ = 0; // all; those in and around this rank's boxes; the most
  PointCloud           coarse_;                                // all coarse points, as targets
  Mirror<PetscInt>     coarse_own_; // of this rank, in pairs: number of a coarse point, local number of the point
  Mirror<PetscScalar>  coarse_inverse_;
  Scratch<PetscScalar> coarse_sums_, coarse_residual_, coarse_solution_;
  PetscReal            condition_ = 0; // the largest estimate for a box: a lower bound

  // Not definite, on all ranks: the symmetric variant does not exist, and there are no boxes.
  PetscErrorCode SetUpBoxes(BoxTree *tree, const SchwarzSettings &settings, bool *definite);
  // The rows of the blocks' inverses. worst: the condition number; whether a matrix is not definite
  PetscErrorCode Invert(PetscMemType memory, SumEntries *entries, double sign, double level, double worst[2]);
  size_t bytes_of_product() const { return (size_t)(most_columns_ + most_rows_) * sizeof(PetscScalar); } // on a GPU
  bool   fits_in(PetscMemType memory) const;
  PetscErrorCode CheckLayout(Vec r) const; // by the whole layout, which every rank knows
  PetscErrorCode ListColumns(PetscMemType memory); // first_, columns_
  PetscErrorCode SetUpCoarse(const BoxTree &tree, PetscInt count);
  PetscErrorCode ApplyBoxes(Vec r, Vec z);
  PetscErrorCode ApplyCoarse(Vec r, Vec z);
};

} // namespace shellac
