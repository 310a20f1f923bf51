#pragma once
// What the tests of boundary forms share: a domain with a form for each side, its rows by hand, and an exact solution.

#include "catch.hpp"
#include "support.hpp"

#include <cmath>

namespace tests {

namespace boundaries {

constexpr MatLaplaceBoundaryType all_forms[] = {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN,
                                                MAT_LAPLACE_ROBIN};
constexpr PetscReal              alpha = 1.5; // of Robin conditions [1/length]

struct Domain {
  int                    dim = 1;
  PetscInt               N[3] = {1, 1, 1};
  bool                   periodic[3] = {false, false, false};
  MatLaplaceBoundaryType forms[3][2] = {};
  PetscReal              lengths[3] = {1, 1, 1};
  PetscScalar            sigma = 2;
  MatLaplaceShapeType    shape = MAT_LAPLACE_STAR;

  static PetscReal distance(MatLaplaceBoundaryType form) { // of the boundary from the last point, in spacings
    const PetscReal of_form[] = {1, 0, 0.5, 0.5};
    return of_form[(int)form];
  }
  PetscReal h(int a) const {
    return lengths[a] / (periodic[a] ? N[a] : N[a] - 1 + distance(forms[a][0]) + distance(forms[a][1]));
  }
  PetscReal x(int a, PetscInt i) const {
    return periodic[a] ? (PetscReal)i * h(a) : ((PetscReal)i + distance(forms[a][0])) * h(a);
  }
  bool identity(const PetscInt i[3]) const {
    bool is = false;
    for (int a = 0; a < dim; a++)
      is = is || (!periodic[a] && ((i[a] == 0 && forms[a][0] == MAT_LAPLACE_IDENTITY) ||
                                   (i[a] == N[a] - 1 && forms[a][1] == MAT_LAPLACE_IDENTITY)));
    return is;
  }
  bool has(MatLaplaceBoundaryType form) const {
    bool any = false;
    for (int a = 0; a < dim; a++) any = any || (!periodic[a] && (forms[a][0] == form || forms[a][1] == form));
    return any;
  }
};

inline std::string describe(const Domain &d) {
  std::string text = d.shape == MAT_LAPLACE_BOX ? "box" : "star";
  for (int a = 0; a < d.dim; a++)
    text += (a ? ", " : " ") + std::to_string(d.N[a]) + " points, " +
            (d.periodic[a] ? std::string("periodic")
                           : std::string(MatLaplaceBoundaryTypes[d.forms[a][0]]) + " to " +
                                 MatLaplaceBoundaryTypes[d.forms[a][1]]);
  return text + ", on " + std::to_string(rank_count()) + " ranks";
}

inline bool make(const Domain &d, Grid &da, Matrix &A) {
  Problem p = problem(d.dim, d.N[0], d.N[1], d.N[2]);
  for (int a = 0; a < 3; a++) p.ends[a] = d.periodic[a] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  if (!try_make_grid(p, &da)) return false;
  std::vector<MatLaplaceBoundaryType> forms;
  for (int a = 0; a < d.dim; a++) forms.insert(forms.end(), {d.forms[a][0], d.forms[a][1]});
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, MATHELMHOLTZ));
  OK(MatHelmholtzSetShift(A, d.sigma));
  OK(MatLaplaceSetBoundaries(A, (PetscInt)forms.size(), forms.data()));
  if (d.has(MAT_LAPLACE_ROBIN)) OK(MatLaplaceSetRobin(A, 1, &alpha));
  OK(MatLaplaceSetShape(A, d.shape));
  OK(MatLaplaceSetLengths(A, d.dim, d.lengths));
  OK(MatSetUp(A));
  return true;
}

// The star's rows as a textbook has them, in an AIJ.
inline Matrix assemble_by_hand(const Domain &d, DM da) {
  Matrix   B;
  PetscInt start[3], size[3];
  OK(DMSetMatType(da, MATAIJ));
  OK(DMCreateMatrix(da, &B));
  OK(DMDAGetCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  for (PetscInt k = start[2]; k < start[2] + size[2]; k++)
    for (PetscInt j = start[1]; j < start[1] + size[1]; j++)
      for (PetscInt i = start[0]; i < start[0] + size[0]; i++) {
        const PetscInt at[3] = {i, j, k};
        MatStencil     row = {};
        PetscScalar    center = d.sigma;
        row.i = i, row.j = j, row.k = k;
        if (d.identity(at)) {
          const PetscScalar one = 1;
          OK(MatSetValuesStencil(B, 1, &row, 1, &row, &one, ADD_VALUES));
          continue;
        }
        for (int a = 0; a < d.dim; a++) {
          const PetscReal   h = d.h(a), c = 1 / (h * h), r = alpha * h / 2;
          const PetscScalar arm = -c;
          for (int side = 0; side < 2; side++) {
            const bool end = !d.periodic[a] && at[a] == (side ? d.N[a] - 1 : 0);
            MatStencil column = row;
            (a == 0 ? column.i : a == 1 ? column.j : column.k) += side ? 1 : -1;
            if (!end) OK(MatSetValuesStencil(B, 1, &row, 1, &column, &arm, ADD_VALUES));
            center += end && d.forms[a][side] == MAT_LAPLACE_NEUMANN ? 0
                      : end && d.forms[a][side] == MAT_LAPLACE_ROBIN ? c - c * (1 - r) / (1 + r)
                                                                     : c;
          }
        }
        OK(MatSetValuesStencil(B, 1, &row, 1, &row, &center, ADD_VALUES));
      }
  OK(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  return B;
}

// u and its first and second derivatives along an axis: u = Π g(x_a), g = eˣ or, along a periodic axis, a wave.
inline PetscReal factor(const Domain &d, int a, PetscReal x, int derivative) {
  const PetscReal k = 2 * PETSC_PI / d.lengths[a],
                  wave[] = {PetscCosReal(k * x + 1), -k * PetscSinReal(k * x + 1), -k * k * PetscCosReal(k * x + 1)};
  if (d.periodic[a]) return wave[derivative];
  const PetscReal m = a == 1 ? -2 : 1;
  return PetscPowRealInt(m, derivative) * PetscExpReal(m * x);
}
inline PetscReal derivative(const Domain &d, const PetscReal x[], int axis, int order) {
  PetscReal value = 1;
  for (int a = 0; a < d.dim; a++) value *= factor(d, a, x[a], a == axis ? order : 0);
  return value;
}

inline PetscErrorCode source(PetscInt dim, const PetscReal x[], PetscScalar *value, void *ctx) {
  const Domain &d = *static_cast<Domain *>(ctx);
  *value = d.sigma * derivative(d, x, -1, 0);
  for (int a = 0; a < dim; a++) *value -= derivative(d, x, a, 2);
  return PETSC_SUCCESS;
}
inline PetscErrorCode data(PetscInt, const PetscReal x[], PetscInt axis, PetscBool upper, PetscScalar *value,
                           void *ctx) {
  const Domain   &d = *static_cast<Domain *>(ctx);
  const PetscReal u = derivative(d, x, -1, 0), outward = (upper ? 1 : -1) * derivative(d, x, (int)axis, 1);
  const auto      form = d.forms[axis][upper ? 1 : 0];
  *value = form == MAT_LAPLACE_NEUMANN ? outward : form == MAT_LAPLACE_ROBIN ? outward + alpha * u : u;
  return PETSC_SUCCESS;
}

inline PetscErrorCode no_data(PetscInt, const PetscReal[], PetscInt, PetscBool, PetscScalar *, void *) {
  return PETSC_ERR_LIB;
}

// The largest error of the solution.
inline PetscReal error_of_solution(Domain d) {
  Grid   da;
  Matrix A;
  Solver ksp;
  PC     pc;
  REQUIRE(make(d, da, A));
  Vector             b = make_vector(da), u = make_vector(da), x = make_vector(da);
  KSPConvergedReason reason;
  PetscReal          error;
  OK(MatLaplaceSetRightHandSide(A, source, data, &d, b));
  set_values(da, u, [&](const PetscInt at[3]) {
    PetscReal point[3];
    for (int a = 0; a < 3; a++) point[a] = d.x(a, at[a]);
    return (PetscScalar)derivative(d, point, -1, 0);
  });
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, KSPGMRES));
  OK(KSPGMRESSetRestart(ksp, 300));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCJACOBI));
  OK(KSPSetTolerances(ksp, 1e-13, PETSC_DEFAULT, PETSC_DEFAULT, 3000));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  OK(VecAXPY(x, -1, u));
  OK(VecNorm(x, NORM_INFINITY, &error));
  return error;
}

inline PetscReal order(Domain coarse, Domain fine) {
  const PetscReal errors[2] = {error_of_solution(coarse), error_of_solution(fine)};
  return std::log(errors[0] / errors[1]) / std::log(coarse.h(0) / fine.h(0));
}

} // namespace boundaries

} // namespace tests
