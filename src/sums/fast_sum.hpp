#pragma once
// Sums in less than all pairs' time, to a tolerance.

#include "sums/kernel_sum.hpp"

namespace shellac {

class FastSum {
public:
  virtual ~FastSum() = default;
  // The layout's sum of values, of one column on all ranks, collectively; its targets and values are in the Mat's order,
  // or the targets in that of a sample.
  virtual PetscErrorCode Apply(MPI_Comm comm, bool transposed, const Layout &layout) = 0;
  virtual PetscErrorCode View(PetscViewer viewer) const = 0;
  virtual PetscErrorCode Destroy() = 0;
  virtual PetscLogDouble Terms(bool transposed) const = 0; // that this rank adds up for a column
  virtual PetscLogDouble Bytes() const = 0;                // that this rank stores

  double error = -1; // measured, relative, in the 2-norm; negative: not yet
  int    tried = 0;  // orders measured to find this one
};
PetscErrorCode FastSumDestroy(FastSum **fast);

constexpr int max_tree_order = 32; // enough for double precision

// Some of this rank's points.
struct PointSample {
  std::vector<PetscInt> chosen;
  PointCloud           *points = NULL; // those
};

// The distance beyond which a kernel function adds less than about `epsilon` to sums: infinite where it does not decay
// within the points. It is known by values of the function, whatever that is. [length]
double KernelReach(const KernelSumMat &context, double epsilon);

// Interpolation in the clusters of two trees: `order` points along each axis; a function below about `epsilon` counts as
// zero. In single precision: nothing (0), far pairs (1), all (2), beside what the Mat says. With samples of the targets of
// A and of its transpose, it computes the sums at those alone.
struct TreeSettings {
  int    order, narrow;
  double epsilon;
};
struct TreesOfPoints; // regions.hpp
PetscErrorCode TreeSumCreate(MPI_Comm comm, const KernelSumMat &context, TreesOfPoints *trees,
                             const TreeSettings &settings, const PointSample *const samples[2], FastSum **fast);

// The Fourier series of the Gaussian, to a relative truncation of `epsilon`, of these sources of A and of its transpose.
PetscErrorCode FourierSumCreate(MPI_Comm comm, const KernelSumMat &context, PointCloud *const sources[2],
                                double epsilon, FastSum **fast);
// The modes that it takes: half of them, since the sums are real. Infinite where they are too many along an axis.
double FourierSumModes(const KernelSumMat &context, const PetscReal lower[3], const PetscReal upper[3], double epsilon);

// Makes the fast method for the Mat's settings, with the order that the measured error requires; the Mat is not
// changed. Null for direct sums: if they are requested, or if the type is auto and they are faster or no other method
// meets the tolerance.
PetscErrorCode MatKernelSumCreateFast(Mat A, FastSum **fast);

} // namespace shellac
