// Solutions approach the exact one with the second power of the spacing, for every boundary form.

#include "catch.hpp"
#include "support.hpp"

using namespace tests;

// u = Π g(x_a), with g'' = -λ g, fits the axis: it is zero, free of flux or periodic where the operator says so.
static PetscReal factor(const Problem &p, int axis, PetscReal x, PetscReal *lambda) {
  const PetscReal k = PETSC_PI / p.lengths[axis];
  if (p.is(axis, DM_BOUNDARY_PERIODIC)) return *lambda = 4 * k * k, PetscCosReal(2 * k * x + PetscReal(0.4));
  if (p.is(axis, DM_BOUNDARY_MIRROR)) return *lambda = k * k, PetscCosReal(k * x);
  if (p.boundary == MAT_LAPLACE_ELIMINATED) return *lambda = k * k, PetscSinReal(k * x);
  if (p.boundary == MAT_LAPLACE_NEUMANN) return *lambda = k * k, PetscCosReal(k * x);
  return *lambda = 4, PetscSinReal(2 * x + PetscReal(0.3)); // boundary values that are not zero
}

static PetscReal error_of_solution(const Problem &p) {
  Grid   da = make_grid(p);
  Matrix A = make_operator(p, da);
  Vector u = make_vector(da), f = make_vector(da), x = make_vector(da);
  set_values(da, u, [&](const PetscInt at[3]) {
    PetscReal value = 1, lambda;
    for (int a = 0; a < p.dim; a++) value *= factor(p, a, p.coordinate(a, at[a]), &lambda);
    return (PetscScalar)value;
  });
  set_values(da, f, [&](const PetscInt at[3]) {
    PetscReal value = 1, sum = 0, lambda;
    for (int a = 0; a < p.dim; a++) {
      value *= factor(p, a, p.coordinate(a, at[a]), &lambda);
      sum += lambda;
    }
    return (p.identity_row(at) ? PetscScalar(1) : sum + p.sigma) * value;
  });

  Solver             ksp;
  PC                 pc;
  KSPConvergedReason reason;
  PetscReal          error;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, p.symmetric() ? KSPCG : KSPBCGS));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCJACOBI));
  OK(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, 5000));
  OK(KSPSolve(ksp, f, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  REQUIRE(reason > 0);
  OK(VecAXPY(x, -1, u));
  OK(VecNorm(x, NORM_INFINITY, &error));
  return error;
}

static void refine(const Problem &coarse, int times, Problem *p) {
  *p = coarse;
  for (int a = 0; a < p->dim; a++) {
    const bool natural = p->is(a, DM_BOUNDARY_PERIODIC) || p->is(a, DM_BOUNDARY_MIRROR);
    const int  off = p->is(a, DM_BOUNDARY_MIRROR)                    ? 1
                     : natural || p->boundary == MAT_LAPLACE_NEUMANN ? 0
                     : p->boundary == MAT_LAPLACE_IDENTITY           ? 1
                                                                     : -1;
    p->N[a] = (coarse.N[a] << times) + off; // coarse.N: intervals
  }
}

static void check_order(int dim, PetscInt intervals, int refinements) {
  const PetscInt N[3] = {intervals, dim > 1 ? intervals : 1, dim > 2 ? intervals : 1};
  int            turn = 0;
  for_each_problem(dim, N, [&](Problem coarse, DM) {
    if (dim == 3 && !in_turn(turn++)) return;
    coarse.sigma = 2;
    PetscReal before = 0;
    for (int times = 0; times <= refinements; times++) {
      Problem p;
      refine(coarse, times, &p);
      INFO(describe(p));
      const PetscReal error = error_of_solution(p);
      if (times) {
        const PetscReal order = PetscLog2Real(before / error);
        CHECK(order > 1.9);
        CHECK(order < 2.1);
      }
      before = error;
    }
  });
}

TEST_CASE("solutions are of second order in 1-D", "[convergence]") {
  check_order(1, 32, 3);
}

TEST_CASE("solutions are of second order in 2-D", "[convergence]") {
  check_order(2, 16, 2);
}

TEST_CASE("solutions are of second order in 3-D", "[convergence]") {
  check_order(3, 12, 1);
}
