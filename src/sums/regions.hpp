#pragma once
// Points dealt out anew: each rank gets those of one region, as many as the others. Trees of them are compact, whatever
// the order of the points in the vectors.

#include <memory>

#include <petscsf.h>

#include "sums/cluster_tree.hpp"
#include "sums/fast_sum.hpp"

namespace shellac {

struct Region {
  PointCloud *cloud = NULL; // this rank's points; the given ones on one rank, or where they keep their ranks
  PetscSF     from = NULL; // roots: the points in the order of the vectors; leaves: those of the region. Null: the same

  PetscErrorCode Create(MPI_Comm comm, PointCloud *points, bool deal);
  // Some of the points, in the order of a sample: which of the region's they are, and where they come from.
  PetscErrorCode Choose(MPI_Comm comm, const PointSample &sample, std::vector<PetscInt> *chosen,
                        PetscSF *of_chosen) const;
  PetscErrorCode Destroy();
};

// Coordinates of the points of a cloud that are chosen, three arrays.
std::vector<PetscReal> coordinates_of(const PointCloud &cloud, const std::vector<PetscInt> &chosen);

// A star forest whose roots are the points of a cloud, its leaves those with some numbers.
PetscErrorCode PointSFCreate(MPI_Comm comm, const PointCloud &points, const std::vector<PetscInt> &numbers,
                             PetscSF *sf);

// Copies `reals` numbers for each point to the region, or back.
PetscErrorCode ToRegion(PetscSF sf, PetscMemType memory, int reals, const PetscReal *points, PetscReal *region);
PetscErrorCode FromRegion(PetscSF sf, PetscMemType memory, int reals, const PetscReal *region, PetscReal *points);

// The points of one side of a sum and their tree.
struct Side {
  Region                                        region;
  ClusterTree                                   tree;
  std::shared_ptr<const std::vector<PetscReal>> x; // their coordinates in the tree's order, three arrays
};

// Those of both sides, which do not depend on the order of the interpolation. Equal points have one.
struct TreesOfPoints {
  Side targets, sources;
  bool built = false;

  PetscErrorCode Build(MPI_Comm comm, const KernelSumMat &context, bool dual); // once
  PetscErrorCode Destroy();
};

} // namespace shellac
