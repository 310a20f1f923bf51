#pragma once
// The rows of an operator with several unknowns a point, as set-up reads them: copies over a box that holds a rank's
// points and some beyond them.

#include "capture/captured.hpp"
#include "multigrid/setup/findings.hpp"
#include "multigrid/setup/ghost_points.hpp"
#include "multigrid/couplings.hpp"
#include "multigrid/multigrid.hpp"

namespace shellac {

// Which unknowns rows couple: pair(r, c) is whether row r has entries for unknown c, at any point; local(r, c): at the
// point itself alone, as of a reaction. Coarse rows have such entries there alone, too: what the Galerkin product has
// beside them is lumped.
struct Pairs {
  int  dof = 0;
  bool any[most_unknowns * most_unknowns] = {}, apart[most_unknowns * most_unknowns] = {};

  bool local(int r, int c) const { return r != c && !apart[r * dof + c]; }
  bool pair(int r, int c) const { return any[r * dof + c]; }
};

// The rows of each pair as couplings, with what they sum up to as shifts and without inverse diagonals.
struct SystemRows : CouplingArrays { // values: [pairs][slots][points]
  Pairs        pairs;
  PetscScalar *alone = nullptr; // [dof][points]: 1 for a row that couples nothing, 0 for others

  int            arrays() const; // of all pairs
  CouplingArrays of_pair(int r, int c) const;

  Mirror<PetscScalar> memory_of_values, memory_of_alone;
};

// What was found in the rows of a level.
struct SystemFlags {
  int problem;
  int couples[3][2]; // the ends where a row couples anything
};
struct SystemSums {
  PetscReal coupling[3];    // of unknowns with themselves, along each axis, relative to diagonals
  PetscReal rows;           // whose couplings those are
  PetscReal shift[3][3];    // what rows sum up to, likewise: at the ends of an axis, and elsewhere
  PetscReal of_shift[3][3]; // how many
};
struct SystemFindings : Findings<SystemFlags, SystemSums> {
  enum Problem { none, far, not_finite };
};

// Reads the rows of an operator: patch has the same points, with one value each and a halo of values beyond it.
// bits, zero before: of each point's rows that couple nothing. findings: null where nobody wants them.
PetscErrorCode read_rows(CapturedStencil &op, PetscMemType memory, const Patch &patch, Halo *halo, const Box &grown,
                         const Pairs &pairs, SystemRows *rows, Mirror<unsigned char> *bits, SystemFindings *findings);

// The pairs that any rank's rows have.
PetscErrorCode get_pairs(const CapturedStencil &op, MPI_Comm comm, Pairs *pairs);

} // namespace shellac
