#pragma once
// Weights of rows, with which an operator is symmetric: m_p c_{p,d} = m_q c_{q,-d} for the neighbours p and q = p + d,
// so that one point's mass follows from that of any point that it is coupled with, both ways. The first point of those
// that are coupled with each other has mass one.

#include "device/scratch.hpp"
#include "grid/halo.hpp"
#include "multigrid/couplings.hpp"

namespace shellac {

// Of the trees below: the point that a point's mass is known by, and its mass over that point's.
struct MassTrees {
  PetscInt64  *parent;
  PetscScalar *ratio;
};
struct MassFindings {
  int deep, links; // a parent that is no root; two trees to be linked
};
struct MassMemory {
  Scratch<PetscInt64>   parents[2];
  Scratch<PetscScalar>  ratios[2];
  Scratch<int64_t>      links;
  Scratch<MassFindings> findings;
};

// The masses of all rows [points of grown], where one rank has the grid; those beyond the domain are one. Where they
// are zero, or not finite, the range of numbers does not hold them. By trees of points, whose paths to the roots are
// halved again and again: in parallel, for GPUs.
PetscErrorCode get_masses(PetscMemType memory, const Patch &patch, const CouplingArrays &rows, MassMemory *work);

// The same on the host, on one rank or several: from a point to its neighbours, and so on, over ranks. *overflow: of
// this rank.
PetscErrorCode get_masses_on_host(MPI_Comm comm, const Patch &patch, Halo *halo, const CouplingArrays &rows,
                                  bool *overflow);

} // namespace shellac
