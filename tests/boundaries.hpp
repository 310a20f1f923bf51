#pragma once
// What the tests of boundary forms share: the rows of a domain by hand, and an exact solution.

#include "domain.hpp"

namespace tests {

namespace boundaries {

inline std::string describe(const Domain &d) {
  return (d.shape == MAT_LAPLACE_BOX ? "box" : "star") + d.text();
}

inline bool make(const Domain &d, Grid &da, Matrix &A) {
  if (!begin(d, MATHELMHOLTZ, da, A)) return false;
  OK(MatHelmholtzSetShift(A, d.sigma));
  OK(MatLaplaceSetShape(A, d.shape));
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
            const bool end = !d.periodic(a) && at[a] == (side ? d.N[a] - 1 : 0);
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
  if (d.periodic(a)) return wave[derivative];
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
    d.place(at, point);
    return (PetscScalar)derivative(d, point, -1, 0);
  });
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, KSPGMRES));
  OK(KSPGMRESSetRestart(ksp, 300));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCSOR)); // half of the iterations that jacobi takes
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
