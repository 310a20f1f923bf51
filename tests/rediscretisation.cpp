// PETSc's multigrid (PCMG) with operators that each level makes anew, of its own fields: diffusion and a registered formula
// beside matrices that are assembled by hand on each level.

#include "diffusion.hpp"

#include <shellac/stencil.hpp>

using namespace tests;

namespace {

// −Δu + ku with a field k.
struct Reaction final : shellac::Formula {
  shellac::GridField k{this, "k", "reaction [1/length²]"};
  shellac::Shape     shape() const override { return {1}; }
  bool               symmetric() const override { return true; }
  void               row(const shellac::Point &p, shellac::Row &u) const override {
    u(0) += k(p);
    for (int a = 0; a < p.dim; a++)
      for (int s = -1; s <= 1; s++) u((a == 0) * s, (a == 1) * s, (a == 2) * s) += (s ? -1 : 2) / (p.h[a] * p.h[a]);
  }
};

using Fill = std::function<void(DM, Mat)>;

PetscErrorCode compute_operators(KSP ksp, Mat, Mat P, void *fill) {
  DM       da;
  PetscInt N, M;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  (*static_cast<const Fill *>(fill))(da, P);
  PetscCall(DMDAGetInfo(da, NULL, &N, &M, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(MatScale(P, 1 / (PetscReal)((N + 1) * (M + 1)))); // by h², as PETSc's transfers between grids want it
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Solves on 33² points with three levels; returns the iterations, and the solution in natural order.
PetscInt solve(MatType type, const Fill &fill, std::vector<PetscScalar> *solution) {
  Options  o("-pc_type mg -pc_mg_levels 3 -mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.8 "
              "-mg_levels_ksp_max_it 2 -mg_levels_pc_type jacobi -mg_coarse_pc_type redundant -ksp_rtol 1e-10");
  Grid     da = make_grid(problem(2, 33, 33));
  Solver   ksp;
  PetscInt iterations;
  Vec      x;
  OK(DMSetMatType(da, type));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetType(ksp, KSPCG));
  OK(KSPSetDM(ksp, da));
  OK(KSPSetComputeRHS(
      ksp,
      [](KSP solver, Vec b, void *) {
        DM grid;
        PetscFunctionBeginUser;
        PetscCall(KSPGetDM(solver, &grid));
        set_values(grid, b, [](const PetscInt i[3]) { return random_value((size_t)(i[0] + 33 * i[1]), 7); });
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      NULL));
  OK(KSPSetComputeOperators(ksp, compute_operators, const_cast<Fill *>(&fill)));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSolve(ksp, NULL, NULL));
  OK(KSPGetIterationNumber(ksp, &iterations));
  OK(KSPGetSolution(ksp, &x));
  *solution = natural_values(da, x);
  return iterations;
}

// The medium on a level's grid.
Medium on_level(Medium m, DM da) {
  OK(DMDAGetInfo(da, NULL, &m.N[0], &m.N[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  return m;
}

void check_alike(MatType type, const Fill &ours, const Fill &by_hand) {
  std::vector<PetscScalar> x, y;
  PetscReal                largest = 0, off = 0;
  const PetscInt           iterations = solve(type, ours, &x), of_aij = solve(MATAIJ, by_hand, &y);
  CHECK(iterations == of_aij);
  CHECK(iterations < 15);
  for (size_t n = 0; n < y.size(); n++)
    largest = PetscMax(largest, PetscAbsScalar(y[n])), off = PetscMax(off, PetscAbsScalar(x[n] - y[n]));
  CHECK(off <= 1e-8 * largest);
}

} // namespace

TEST_CASE("PCMG takes as many iterations over diffusion on each level's grid as over AIJs", "[rediscretisation]") {
  Medium m;
  m.dim = 2;
  m.k = [](const PetscReal x[]) { return PetscExpReal(2 * x[0] - x[1]); };
  check_alike(
      MATDIFFUSION,
      [&](DM da, Mat A) {
        OK(MatDiffusionSetShift(A, m.sigma));
        OK(MatDiffusionSetCoefficient(A, coefficient(on_level(m, da), da)));
      },
      [&](DM da, Mat A) { OK(MatCopy(assemble_by_hand(on_level(m, da), da), A, DIFFERENT_NONZERO_PATTERN)); });
}

TEST_CASE("PCMG takes as many iterations over a registered formula as over AIJs", "[rediscretisation]") {
  OK(shellac::MatRegisterFormula<Reaction>("test_reaction"));
  Medium m; // with k = 1
  m.dim = 2;
  m.sigma = 0;
  const auto field = [&](DM da) {
    const Medium level = on_level(m, da);
    Vector       k = make_vector(da);
    set_values(da, k, [&](const PetscInt i[3]) { return PetscScalar(100 * level.x(0, i[0]) + 30 * level.x(1, i[1])); });
    return k;
  };
  check_alike(
      "test_reaction", [&](DM da, Mat A) { OK(MatFormulaSetField(A, "k", field(da))); },
      [&](DM da, Mat A) {
        Matrix B = assemble_by_hand(on_level(m, da), da);
        OK(MatDiagonalSet(B, field(da), ADD_VALUES));
        OK(MatCopy(B, A, DIFFERENT_NONZERO_PATTERN));
      });
}
