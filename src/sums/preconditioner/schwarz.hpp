#pragma once
// The preconditioner of kernel sums: solves on overlapping boxes of neighbouring points, then on a sample of all points.
//
//   z = Σ_b C_bᵀ (C_b A_b⁻¹) R_b r,   then   z += R_cᵀ A_c⁻¹ R_c (r - A z)
//
// with the matrix A_b of the points of box b and those around it, of which the result is kept at the box's own points
// alone (C_b): restricted additive Schwarz. c are the coarse points, a sample of all.
//
// The symmetric variant is a sparse Cholesky factor of the inverse: boxes in an order from coarse to fine, each with the
// points around it among the boxes before,
//
//   z = Σ_b G_bᴴ G_b r,   G_b the last rows of L_b⁻¹, those of the box, A_b = L_b L_bᴴ.
//
// Matrices of multiquadrics and other functions that grow are definite for coefficients whose sum is zero: of a constant
// minus the function, for all. The factor is of those then. A constant is a matrix of rank one, and costs a Krylov method
// one iteration more.
//
// Sources: C. Micchelli, Interpolation of scattered data: distance matrices and conditionally positive definite functions,
// 1986; X.-C. Cai, M. Sarkis, A restricted additive Schwarz preconditioner for general sparse linear systems, 1999;
// R. Beatson, W. Light, S. Billings, Fast solution of the radial basis function interpolation equations: domain
// decomposition methods, 2000; R. Yokota, L. Barba, M. Knepley, PetRBF, 2010; F. Schäfer, M. Katzfuss, H. Owhadi, Sparse Cholesky
// factorization by Kullback-Leibler minimization, 2021, eq. 2.

#include <shellac/kernelsumpc.h>

#include "sums/kernel_sum.hpp"
#include "sums/preconditioner/neighbours.hpp"

#include <petscblaslapack.h> // after petscsys.h, which it needs

namespace shellac {

// The matrix with its scalings, entry by entry, of some of its points.
class SumEntries {
public:
  // Fetches the points with these numbers, ascending, and what scales them, from the ranks that have them.
  PetscErrorCode Create(Mat A, const std::vector<PetscInt> &numbers);
  // The rows and columns of some of them, `scalars` for each, column by column.
  void dense(const std::vector<PetscInt> &numbers, std::vector<PetscScalar> *block) const;
  // u uᴴ: what `level` times a kernel function of ones adds to that block.
  void constant(const std::vector<PetscInt> &numbers, double level, std::vector<PetscScalar> *u) const;

  int                   scalars = 1; // for each point
  std::vector<PetscInt> numbers;
  PointCloud            targets, sources;

private:
  const KernelSumMat      *context_ = NULL;
  std::vector<PetscScalar> left_, right_, diagonal_;
};

// A dense matrix in factors, or rows of its inverse.
struct DenseFactors {
  PetscBLASInt              n = 0;
  std::vector<PetscScalar>  values;
  std::vector<PetscBLASInt> pivots;
  double                    norm = 0; // the largest sum of a column

  PetscErrorCode Factor(std::vector<PetscScalar> *matrix, bool *singular); // takes the matrix
  PetscErrorCode Solve(bool transposed, PetscInt columns, PetscScalar *b) const;
};

// The first k rows of the inverse of a matrix, or the last k rows of that of its Cholesky factor, row by row; an estimate
// of the condition number, infinite where the matrix is singular; whether it is symmetric and positive definite. With a
// vector u: of u uᴴ + sign times the matrix.
PetscErrorCode FirstRowsOfInverse(std::vector<PetscScalar> *matrix, PetscBLASInt k, std::vector<PetscScalar> *rows,
                                  double *condition);
PetscErrorCode LastRowsOfCholesky(std::vector<PetscScalar> *matrix, double sign, const std::vector<PetscScalar> &u,
                                  PetscBLASInt k, std::vector<PetscScalar> *rows, double *condition, bool *definite);

// What a kernel function is like near its middle, unless it is singular.
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
  bool           is_for_definite() const { return symmetric_ && !raised_; } // the matrix is definite as it is

private:
  struct Block {
    PetscBLASInt rows, columns;
    size_t       values; // where its part of inverse_ begins: column i is row i of the inverse
    size_t       at;     // and that of where_: the columns' places in near_
  };
  MPI_Comm                 comm_ = MPI_COMM_NULL;
  Mat                      A_ = NULL; // a reference: the PC's own may be another one's by the time of an application
  std::vector<Block>       blocks_;
  std::vector<PetscScalar> inverse_, input_;
  std::vector<PetscInt>    where_;
  Vec                      near_ = NULL, cores_ = NULL; // this rank's, on the host; cores_: results
  VecScatter               to_near_ = NULL, to_cores_ = NULL;
  bool                     symmetric_ = false, raised_ = false;
  PetscInt                 boxes_ = 0, overlap_[2] = {0, 0}, coarse_count_ = 0; // overlap_: the least, the most
  PetscInt                 points_ = 0, held_ = 0; // all; the most that a rank has in and around its boxes
  PointCloud               coarse_;                // all coarse points, as targets
  std::vector<PetscInt>    coarse_own_;            // of this rank: number of a coarse point, local number of the point
  std::vector<PetscScalar> coarse_left_, coarse_diagonal_, residual_;
  DenseFactors             coarse_factors_;
  PetscReal                condition_ = 0; // the largest estimate for a box: a lower bound

  // Not definite, on all ranks: the symmetric variant does not exist, and there are no boxes.
  PetscErrorCode SetUpBoxes(const BoxTree &tree, const SchwarzSettings &settings, bool *definite);
  PetscErrorCode SetUpCoarse(const BoxTree &tree, PetscInt count);
  PetscErrorCode ApplyCoarse(Vec r, Vec z);
  PetscErrorCode ApplySymmetric(Vec r, Vec z);
};

} // namespace shellac
