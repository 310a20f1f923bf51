#pragma once
// Redistributed points: each rank gets the points of one region, an equal share. Trees of them are compact, whatever
// the order of the points in the vectors.

#include <memory>

#include <petscsf.h>

#include "device/launch.hpp"
#include "device/scratch.hpp"
#include "sums/bisection.hpp"
#include "sums/fast_sum.hpp"
#include "sums/tree_lists.hpp"

namespace shellac {

// Numbers of points in an order, or back: `reals` of each.
template <bool back> struct Reorder {
  int              reals;
  const PetscInt  *order;
  const PetscReal *from;
  PetscReal       *to;

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    const size_t in_order = (size_t)i * reals, point = (size_t)order[i] * reals;
    for (int p = 0; p < reals; p++) to[(back ? point : in_order) + p] = from[(back ? in_order : point) + p];
  }
};

// Where points are in an order, which stays the same.
class PlacesInOrder {
public:
  PetscErrorCode Find(PetscMemType memory, Mirror<PetscInt> *order, const std::vector<PetscInt> &chosen,
                      std::vector<PetscInt> *places);

private:
  Scratch<PetscInt> of_; // each point; made when first asked for
};

// Copies numbers for each point between the ranks that have it in vectors and in regions: from GPU to GPU on one host, and
// by messages otherwise.
class PointExchange {
public:
  PetscErrorCode Create(MPI_Comm comm, DealtPoints *dealt); // regions have the points in the order in which they came
  PetscErrorCode ToRegion(PetscMemType memory, int reals, const PetscReal *points, PetscReal *region);
  PetscErrorCode FromRegion(PetscMemType memory, int reals, const PetscReal *region, PetscReal *points);
  // Of some points here: those that are in this rank's region, and for each the rank and which of the points there it is.
  PetscErrorCode Find(PetscMemType memory, const std::vector<PetscInt> &points, std::vector<PetscInt> *there,
                      std::vector<PetscSFNode> *from);
  PetscInt       received() const { return starts_[1].back(); } // points of the region
  ~PointExchange() { peers_.Disconnect(true); }                 // each exchange ends when all have read

private:
  MPI_Comm                 comm_ = MPI_COMM_NULL;
  Mirror<PetscInt>         order_;                 // this rank's points as they are sent
  std::vector<PetscMPIInt> counts_[2], starts_[2]; // points sent to each rank, and received; begins of these
  std::vector<PetscMPIInt> there_[2]; // where those to this rank begin among what a rank sends, and receives
  PlacesInOrder            places_;
  Scratch<PetscReal>       packed_;
  std::vector<PetscReal>   messages_[2];
  Peers                    peers_;
  size_t                   peers_bytes_ = 0; // for which they have been connected, or have been found not to be

  PetscErrorCode ConnectGPUs(PetscMemType memory, int reals, bool *are);
  PetscErrorCode Travel(PetscMemType memory, bool back, int reals, const PetscReal *from, PetscReal *to);
};

struct Region {
  PointCloud                    *cloud = NULL; // this rank's points; the given ones on one rank
  std::shared_ptr<PointExchange> from;         // null: the region has the vectors' points

  PetscErrorCode Create(MPI_Comm comm, PetscMemType memory, PointCloud *points);
  // Some of the points, in the order of a sample: which of the region's they are, and where they come from.
  PetscErrorCode Choose(MPI_Comm comm, PetscMemType memory, const PointSample &sample, std::vector<PetscInt> *chosen,
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
  PlacesInOrder                  places;    // in the tree
  std::vector<Cluster>           used;      // of the nodes, those that sums of an order have
  int                            order = 0; // of the interpolation; 0: none yet

  PetscErrorCode Build(MPI_Comm comm, PetscMemType memory, PointCloud *cloud);
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
