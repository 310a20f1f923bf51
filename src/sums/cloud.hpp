#pragma once
// The points of one side of a sum, as this rank holds them.

#include <functional>
#include <vector>

#include "device/mirror.hpp"
#include "device/peers.hpp"
#include "sums/pair_sum.hpp"

namespace shellac {

struct PointCloud {
  int                   dim = 0;
  PetscInt              n = 0, N = 0;                // on this rank, on all
  PetscInt              first = 0;                   // points on the ranks before
  std::vector<PetscInt> counts;                      // of each rank
  PetscReal             ends[6];                     // of the box of this rank's points: -lower, upper [length]
  PetscReal             origin[3] = {0, 0, 0};       // that coordinates are relative to [length]
  PetscMemType          memory = PETSC_MEMTYPE_HOST; // where it was made
  int                   references = 1;

  // Coordinate a of point i is x[a n + i]; three arrays, zero beyond dim [length]. Copied to the GPU, or from it, when asked
  // for there: PointCloudGetPoints().
  mutable Mirror<PetscReal> x;

  Peers  peers;           // whose GPUs read these points from this one's memory
  size_t peers_bytes = 0; // for which they have been connected, or have been found not to be

  ~PointCloud() { peers.Disconnect(true); } // products end when all have read
  Points points(const PetscReal *base) const {
    Points p;
    for (int a = 0; a < 3; a++) p.x[a] = base ? base + (size_t)a * n : NULL;
    p.n = n;
    return p;
  }
  Points on_host() const { return points(x.host().data()); } // of a cloud that was made there
};

// From the coordinates of points one after the other, in this memory: coordinate a of point i is coordinates[i dim + a].
PetscErrorCode PointCloudCreate(MPI_Comm comm, const char *what, int dim, PetscInt n, PetscMemType memory,
                                const PetscScalar *coordinates, PointCloud **cloud);
// From three arrays, which fill(x) makes in this memory one after the other.
PetscErrorCode PointCloudCreateFilled(MPI_Comm comm, int dim, PetscInt n, PetscMemType memory,
                                      const std::function<PetscErrorCode(PetscReal *x)> &fill, PointCloud **cloud);
// From some points of another cloud, where those are wanted.
PetscErrorCode PointCloudCreateChosen(MPI_Comm comm, const PointCloud &all, PetscMemType memory,
                                      const std::vector<PetscInt> &chosen, PointCloud **cloud);
PetscErrorCode PointCloudDestroy(PointCloud **cloud); // drops one reference
PetscErrorCode PointCloudGetPoints(const PointCloud *cloud, PetscMemType memory, Points *points);

// The coordinates of n points that are chosen, three arrays.
PetscErrorCode GatherPoints(PetscMemType memory, const Points &points, size_t n, const PetscInt *chosen, PetscReal *x);

// Makes the coordinates of two clouds, which may be the same, relative to an origin among them, along axes where
// they are far from zero: positions of interpolation points are then rounded in the size of the box, not in its
// distance. All coordinates along such an axis are within a factor of two, so that no digit is lost, and differences
// are the same.
PetscErrorCode PointCloudsCenter(MPI_Comm comm, PointCloud *a, PointCloud *b);
// Lower and upper ends of the box of all ranks' points of both clouds.
PetscErrorCode PointCloudsGetBox(MPI_Comm comm, const PointCloud *a, const PointCloud *b, PetscReal lower[3],
                                 PetscReal upper[3]);
// All ranks' points in the order of the ranks.
PetscErrorCode PointCloudGather(MPI_Comm comm, const PointCloud *cloud, std::vector<PetscReal> *x);
// A pair of points at the same place, by their global numbers; target < 0 where there is none.
PetscErrorCode PointCloudsFindCoincident(MPI_Comm comm, const PointCloud *targets, const PointCloud *sources,
                                         PetscInt *target, PetscInt *source, PetscReal place[3]);

} // namespace shellac
