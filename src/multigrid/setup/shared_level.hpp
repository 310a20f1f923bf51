#pragma once
// Levels that are not distributed: on each host one rank has all of their points and works for the other ranks there. A rank
// with a GPU works for itself.

#include <vector>

#include "grid/grid.hpp"
#include "multigrid/couplings.hpp"

namespace shellac {

class SharedLevel {
public:
  // Collective, as all but Destroy(). alone: this rank works for itself. workers [ranks]: who works for each of them
  static PetscErrorCode FindWorkers(MPI_Comm comm, bool alone, std::vector<PetscMPIInt> *workers);
  // parts: the ranks' points of the level; read: of a rank that does not work, the points whose values come back to it,
  // which may be around a periodic axis.
  PetscErrorCode Create(const Grid &parts, const std::vector<PetscMPIInt> &workers, const Box &read);
  PetscErrorCode Destroy();

  // Between arrays [points][dof] in that memory; a GPU's go through its host. From the ranks' parts to all points, on each
  // rank that works; and from there to what the others read. x: of all points, or of those.
  template <class V> PetscErrorCode Gather(PetscMemType memory, PetscInt dof, const V *part, V *all) {
    return GatherBytes(memory, (size_t)dof * sizeof(V), part, all);
  }
  template <class V> PetscErrorCode Scatter(PetscMemType memory, PetscInt dof, V *x) {
    return ScatterBytes(memory, (size_t)dof * sizeof(V), x);
  }

private:
  struct Part {
    PetscMPIInt rank, worker;
    Box         own, read;
    size_t      first,
        of_host; // place of the first point, where parts follow each other by workers; a worker's: points of all
  };
  bool           works() const { return worker_ == rank_; }
  PetscErrorCode GatherBytes(PetscMemType memory, size_t bytes, const void *part, void *all);
  PetscErrorCode ScatterBytes(PetscMemType memory, size_t bytes, void *x);
  PetscErrorCode Wait();

  MPI_Comm                 comm_ = MPI_COMM_NULL;
  PetscMPIInt              tag_ = 0, rank_ = 0, worker_ = 0;
  Box                      all_ = {};
  std::vector<Part>        parts_;
  std::vector<char>        room_, of_gpu_;
  std::vector<MPI_Request> requests_;
};

// The coarse patch becomes what interpolation takes at the fine one's points, and at so many beyond them.
void take_read_points(const GridCoarsening &of, PetscInt beyond, Patch *coarse);

// For the view: which ranks have a level.
std::string place_of(bool whole, const std::vector<PetscMPIInt> &workers);

} // namespace shellac
