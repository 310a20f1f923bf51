#pragma once
// A domain with a boundary form for each side: where its points and its boundary are, by hand.

#include "catch.hpp"
#include "support.hpp"

#include <cmath>

namespace tests {

constexpr MatLaplaceBoundaryType all_forms[] = {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN,
                                                MAT_LAPLACE_ROBIN};
constexpr PetscReal              alpha = 1.5; // of Robin conditions [1/length]

struct Domain {
  int                    dim = 1;
  PetscInt               N[3] = {1, 1, 1};
  DMBoundaryType         ends[3] = {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE};
  MatLaplaceBoundaryType forms[3][2] = {};
  PetscReal              lengths[3] = {1, 1, 1};
  PetscScalar            sigma = 2;
  MatLaplaceShapeType    shape = MAT_LAPLACE_STAR;

  bool             open(int a) const { return ends[a] == DM_BOUNDARY_NONE; }
  bool             periodic(int a) const { return ends[a] == DM_BOUNDARY_PERIODIC; }
  static PetscReal distance(MatLaplaceBoundaryType form) { // of the boundary from the last point, in spacings
    const PetscReal of_form[] = {1, 0, 0.5, 0.5};
    return of_form[(int)form];
  }
  PetscReal h(int a) const {
    return lengths[a] / (periodic(a) ? N[a]
                         : !open(a)  ? N[a] - 1
                                     : N[a] - 1 + distance(forms[a][0]) + distance(forms[a][1]));
  }
  PetscReal x(int a, PetscInt i) const { return ((PetscReal)i + (open(a) ? distance(forms[a][0]) : 0)) * h(a); }
  void      place(const PetscInt i[3], PetscReal point[3]) const {
         for (int a = 0; a < 3; a++) point[a] = a < dim ? x(a, i[a]) : 0;
  }
  bool identity(const PetscInt i[3]) const {
    bool is = false;
    for (int a = 0; a < dim; a++)
      is = is || (open(a) && ((i[a] == 0 && forms[a][0] == MAT_LAPLACE_IDENTITY) ||
                              (i[a] == N[a] - 1 && forms[a][1] == MAT_LAPLACE_IDENTITY)));
    return is;
  }
  bool has(MatLaplaceBoundaryType form) const {
    bool any = false;
    for (int a = 0; a < dim; a++) any = any || (open(a) && (forms[a][0] == form || forms[a][1] == form));
    return any;
  }
  std::string text() const {
    std::string all;
    for (int a = 0; a < dim; a++)
      all +=
          ", " + std::to_string(N[a]) + " points " +
          (open(a) ? std::string(MatLaplaceBoundaryTypes[forms[a][0]]) + " to " + MatLaplaceBoundaryTypes[forms[a][1]]
                   : std::string(DMBoundaryTypes[ends[a]]));
    return all + ", on " + std::to_string(rank_count()) + " ranks";
  }
};

// A Mat of that type on the domain, not set up; false where PETSc cannot distribute the grid.
inline bool begin(const Domain &d, MatType type, Grid &da, Matrix &A) {
  Problem p = problem(d.dim, d.N[0], d.N[1], d.N[2]);
  for (int a = 0; a < 3; a++) p.ends[a] = d.ends[a];
  if (!try_make_grid(p, &da)) return false;
  std::vector<MatLaplaceBoundaryType> forms;
  for (int a = 0; a < d.dim; a++) forms.insert(forms.end(), {d.forms[a][0], d.forms[a][1]});
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, type));
  OK(MatLaplaceSetBoundaries(A, (PetscInt)forms.size(), forms.data()));
  if (d.has(MAT_LAPLACE_ROBIN)) OK(MatLaplaceSetRobin(A, 1, &alpha));
  OK(MatLaplaceSetLengths(A, d.dim, d.lengths));
  return true;
}

} // namespace tests
