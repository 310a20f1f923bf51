#pragma once
// The points of one side of a sum, as this rank holds them.

#include <vector>

#include "sums/pair_sum.hpp"

namespace shellac {

struct PointCloud {
  int                    dim = 0;
  PetscInt               n = 0, N = 0; // on this rank, on all
  PetscInt               first = 0;    // points on the ranks before
  std::vector<PetscInt>  counts;       // of each rank
  std::vector<PetscReal> x;            // coordinate a of point i is x[a n + i]; three arrays, zero beyond dim [length]
  PetscReal             *on_device = NULL; // the same; null until it is asked for
  int                    references = 1;

  Points points(const PetscReal *base) const {
    Points p;
    for (int a = 0; a < 3; a++) p.x[a] = base ? base + (size_t)a * n : NULL;
    p.n = n;
    return p;
  }
};

// From the coordinates of points one after the other: coordinate a of point i is coordinates[i dim + a].
PetscErrorCode PointCloudCreate(MPI_Comm comm, const char *what, int dim, PetscInt n, const PetscScalar *coordinates,
                                PointCloud **cloud);
PetscErrorCode PointCloudDestroy(PointCloud **cloud); // drops one reference
PetscErrorCode PointCloudGetPoints(PointCloud *cloud, PetscMemType memory, Points *points);

// Lower and upper ends of the box of all ranks' points of both clouds.
PetscErrorCode PointCloudsGetBox(MPI_Comm comm, const PointCloud *a, const PointCloud *b, PetscReal lower[3],
                                 PetscReal upper[3]);
// All ranks' points in the order of the ranks.
PetscErrorCode PointCloudGather(MPI_Comm comm, const PointCloud *cloud, std::vector<PetscReal> *x);
// A pair of points at the same place, by their global numbers; target < 0 where there is none.
PetscErrorCode PointCloudsFindCoincident(MPI_Comm comm, const PointCloud *targets, const PointCloud *sources,
                                         PetscInt *target, PetscInt *source, PetscReal place[3]);

} // namespace shellac
