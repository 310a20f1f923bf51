#pragma once
// Redistributed points: each rank gets the points of one region, an equal share. Trees of them are compact, whatever
// the order of the points in the vectors.

#include <memory>

#include <petscsf.h>

#include "device/scratch.hpp"
#include "sums/cluster_tree.hpp"
#include "sums/fast_sum.hpp"
#include "sums/tree_lists.hpp"

namespace shellac {

struct Region {
  PointCloud *cloud = NULL; // this rank's points; the given ones on one rank
  PetscSF     from = NULL; // roots: the points in the order of the vectors; leaves: those of the region. Null: the same

  PetscErrorCode Create(MPI_Comm comm, PointCloud *points);
  // Some of the points, in the order of a sample: which of the region's they are, and where they come from.
  PetscErrorCode Choose(MPI_Comm comm, const PointSample &sample, std::vector<PetscInt> *chosen,
                        PetscSF *of_chosen) const;
  PetscErrorCode Destroy();
};

// A star forest whose roots are the points of a cloud, its leaves those with some numbers.
PetscErrorCode PointSFCreate(MPI_Comm comm, const PointCloud &points, const std::vector<PetscInt> &numbers,
                             PetscSF *sf);

// Copies `reals` numbers for each point to the region, or back.
PetscErrorCode ToRegion(PetscSF sf, PetscMemType memory, int reals, const PetscReal *points, PetscReal *region);
PetscErrorCode FromRegion(PetscSF sf, PetscMemType memory, int reals, const PetscReal *region, PetscReal *points);
// Adds one scalar for each of the region's points.
PetscErrorCode AddFromRegion(PetscSF sf, PetscMemType memory, const PetscScalar *region, PetscScalar *points);

// Points in the order of a tree: their numbers, three arrays of coordinates.
struct OrderedPoints {
  Mirror<PetscInt>  order;
  Mirror<PetscReal> x;
};

// The points of one side of a sum and their tree.
struct SideOfSum {
  Region                         region;
  std::vector<Cluster>           nodes; // of the tree
  std::shared_ptr<OrderedPoints> points;

  PetscErrorCode Build(MPI_Comm comm, PetscMemType memory, PointCloud *cloud);
  // Places in the tree of some of the region's points.
  PetscErrorCode Find(PetscMemType memory, const std::vector<PetscInt> &chosen, std::vector<PetscInt> *places);

private:
  Scratch<PetscInt> place_of_; // each point; made when first asked for
};

// Those of both sides, which do not depend on the order of the interpolation. Equal points have one.
struct TreesOfPoints {
  SideOfSum    targets, sources;
  PairRoom     room;                        // for lists of any order
  PetscMemType memory = PETSC_MEMTYPE_HOST; // where they are built
  bool         built = false;

  PetscErrorCode Build(MPI_Comm comm, const KernelSumMat &context); // once
  PetscErrorCode Destroy();
};

} // namespace shellac
