/*
  The conductivity of the ground from pumping tests: water is injected into one well at a time, and the pressure u is
  measured in all wells, with noise. -∇·(eᵐ∇u) = q, u = 0 around the square. The logarithm m of the conductivity minimizes
  the squares of the misfits, over their variance, and a penalty on its gradient.

  The equation and the penalty are texts. The gradient needs one solve with the same matrix for each test, and the
  derivative of the equation by the field m.

      mpiexec -n 2 ./wells
      ./wells -da_grid_x 128 -da_grid_y 128 -noise 0.05 -penalty 16
*/

#include "picture.hpp"
#include "scattered.hpp"

#include <cmath>

#include <petscksp.h>
#include <petsctao.h>
#include <shellac.h>

static const char help[] = "Recovers the conductivity of the ground from pumping tests in wells.\n"
                           "  -da_grid_x 96, -da_grid_y 96      points of the grid\n"
                           "  -wells 8                          along each axis; each fourth one is pumped\n"
                           "  -noise 0.01                       of the mean pressure\n"
                           "  -penalty 4                        on the gradient of the logarithm\n"
                           "  -tao_type bqnls, -tao_monitor     the minimizer's\n"
                           "  -picture u.pdf                    .png, .svg, .pdf; .vts, .vtr (for ParaView); none\n\n";

static const char ground[] = "field(m)\n"
                             "residual = -d(exp(m), u)\n";
static const char roughness[] = "neumann(sides)\n"
                                "residual = -laplacian(u)\n";

struct Tests {
  DM               da, da_of_penalty;
  Mat              A = NULL, by_m, penalty; // of the present m
  KSP              ksp;
  Vec              u, lambda, b;
  PetscReal        weight = 4, variance = 1;
  std::vector<Vec> sources, measured, seen; // of each test; ones where it is measured: in the wells that are not pumped

  // The pressure of a test.
  PetscErrorCode Solve(size_t test) { return KSPSolve(ksp, sources[test], u); }
  PetscErrorCode SetConductivity(Vec m) {
    PetscFunctionBeginUser;
    PetscCall(MatDestroy(&A));
    PetscCall(DMDAEquationSetField(da, "m", m));
    PetscCall(DMDACreateEquationMat(da, &A));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

static PetscErrorCode Misfit(Tao, Vec m, PetscReal *value, Vec gradient, void *context) {
  Tests      &tests = *static_cast<Tests *>(context);
  PetscScalar square;

  PetscFunctionBeginUser;
  PetscCall(MatMult(tests.penalty, m, gradient));
  PetscCall(VecScale(gradient, tests.weight));
  PetscCall(VecTDot(m, gradient, &square));
  *value = PetscRealPart(square) / 2;
  PetscCall(tests.SetConductivity(m));
  for (size_t t = 0; t < tests.sources.size(); t++) {
    PetscCall(tests.Solve(t));
    PetscCall(VecWAXPY(tests.b, -1, tests.measured[t], tests.u));
    PetscCall(VecPointwiseMult(tests.b, tests.b, tests.seen[t]));
    PetscCall(VecTDot(tests.b, tests.b, &square));
    *value += PetscRealPart(square) / (2 * tests.variance);
    PetscCall(VecScale(tests.b, -1 / tests.variance));
    PetscCall(KSPSolve(tests.ksp, tests.b, tests.lambda)); // the matrix is symmetric
    PetscCall(DMDAEquationComputeJacobianP(tests.da, 0, tests.u, tests.by_m));
    PetscCall(MatMultTransposeAdd(tests.by_m, tests.lambda, gradient, gradient));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A sandy channel that winds, and a lens of clay.
static PetscReal Truth(PetscReal x, PetscReal y) {
  const PetscReal middle = 0.5 + 0.22 * std::sin(6 * x), across = (y - middle) / 0.09,
                  lens = PetscSqr((x - 0.68) / 0.16) + PetscSqr((y - 0.8) / 0.09);
  return 2 * std::exp(-PetscSqr(across) / 2) - 2 * std::exp(-lens / 2);
}

int main(int argc, char **argv) {
  Tests          tests;
  Tao            tao;
  PC             pc;
  Vec            truth, m, low, high, at_wells;
  PetscInt       wells = 8, N[3], lo[3], size[3], iterations, seed = 1;
  PetscReal      noise = 0.01, first[3], h[3], value, error, of_truth, mean = 0;
  PetscScalar  **ones, **values, sum;
  std::string    file;
  picture::Panel panels[3];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PictureGetFile("wells", {"-da_grid_x", "-da_grid_y", "-wells", "-noise", "-penalty"}, &file));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-wells", &wells, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-noise", &noise, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-penalty", &tests.weight, NULL));
  PetscCheck(wells > 0 && noise > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-wells is %" PetscInt_FMT " and -noise %g; give one well or more, and some noise", wells, (double)noise);
  const PetscInt sizes[] = {96, 96};
  PetscCall(DMDACreateFromEquation(PETSC_COMM_WORLD, ground, 2, sizes, &tests.da));
  PetscCall(DMDACreateFromEquation(PETSC_COMM_WORLD, roughness, 2, sizes, &tests.da_of_penalty));
  for (DM da : {tests.da, tests.da_of_penalty}) PetscCall(DMSetMatType(da, MATSTENCILSHELL));
  PetscCall(DMDACreateEquationMat(tests.da_of_penalty, &tests.penalty));
  PetscCall(DMDACreateEquationJacobianP(tests.da, "m", &tests.by_m));
  PetscCall(DMDAEquationGetSpacing(tests.da, first, h));
  PetscCall(DMDAGetInfo(tests.da, NULL, &N[0], &N[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(tests.da, &lo[0], &lo[1], NULL, &size[0], &size[1], NULL));
  tests.weight *= h[0] * h[1];

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &tests.ksp));
  PetscCall(KSPSetType(tests.ksp, KSPCG));
  PetscCall(KSPGetPC(tests.ksp, &pc));
  PetscCall(PCSetType(pc, PCSTENCILMG));
  PetscCall(KSPSetTolerances(tests.ksp, PetscReal(1e-9), PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetErrorIfNotConverged(tests.ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(tests.ksp));

  for (Vec *v : {&truth, &m, &at_wells, &tests.u, &tests.lambda, &tests.b})
    PetscCall(DMCreateGlobalVector(tests.da, v));
  const auto well = [&](PetscInt n, int axis) { return (2 * n + 1) * N[axis] / (2 * wells); }; // its point
  const auto is_here = [&](PetscInt i, PetscInt j) {
    return i >= lo[0] && i < lo[0] + size[0] && j >= lo[1] && j < lo[1] + size[1];
  };
  PetscCall(DMDAVecGetArray(tests.da, truth, &values));
  for (PetscInt j = lo[1]; j < lo[1] + size[1]; j++)
    for (PetscInt i = lo[0]; i < lo[0] + size[0]; i++) values[j][i] = Truth(first[0] + i * h[0], first[1] + j * h[1]);
  PetscCall(DMDAVecRestoreArray(tests.da, truth, &values));
  PetscCall(DMDAVecGetArray(tests.da, at_wells, &ones));
  for (PetscInt w = 0; w < wells * wells; w++) {
    const PetscInt i = well(w % wells, 0), j = well(w / wells, 1);
    Vec            source;
    if (is_here(i, j)) ones[j][i] = 1;
    panels[1].points.x.push_back(first[0] + i * h[0]);
    panels[1].points.y.push_back(first[1] + j * h[1]);
    if ((w % wells + 2 * (w / wells)) % 4) continue;
    PetscCall(DMCreateGlobalVector(tests.da, &source));
    PetscCall(DMDAVecGetArray(tests.da, source, &values));
    if (is_here(i, j)) values[j][i] = 1 / (h[0] * h[1]);
    PetscCall(DMDAVecRestoreArray(tests.da, source, &values));
    tests.sources.push_back(source);
  }
  PetscCall(DMDAVecRestoreArray(tests.da, at_wells, &ones));

  // the measurements; the noise is the same on any number of ranks
  PetscCall(tests.SetConductivity(truth));
  for (size_t t = 0; t < tests.sources.size(); t++) {
    PetscCall(tests.Solve(t));
    PetscCall(VecDuplicate(tests.u, &tests.measured.emplace_back()));
    PetscCall(VecDuplicate(tests.u, &tests.seen.emplace_back()));
    PetscCall(VecWAXPY(tests.seen[t], -h[0] * h[1], tests.sources[t], at_wells));
    PetscCall(VecPointwiseMult(tests.measured[t], tests.u, tests.seen[t]));
    PetscCall(VecSum(tests.measured[t], &sum));
    mean += PetscRealPart(sum) / (wells * wells * (PetscReal)tests.sources.size());
  }
  Random random{(unsigned long long)seed};
  tests.variance = PetscSqr(noise * mean);
  for (Vec data : tests.measured) {
    PetscCall(DMDAVecGetArray(tests.da, data, &values));
    for (PetscInt w = 0; w < wells * wells; w++) {
      const PetscInt  i = well(w % wells, 0), j = well(w / wells, 1);
      const PetscReal change = noise * mean * random.normal();
      if (is_here(i, j)) values[j][i] += change;
    }
    PetscCall(DMDAVecRestoreArray(tests.da, data, &values));
  }

  PetscCall(TaoCreate(PETSC_COMM_WORLD, &tao));
  PetscCall(TaoSetType(tao, TAOBQNLS));
  PetscCall(VecDuplicate(m, &low));
  PetscCall(VecDuplicate(m, &high));
  PetscCall(VecSet(low, -4));
  PetscCall(VecSet(high, 4));
  PetscCall(TaoSetVariableBounds(tao, low, high));
  PetscCall(TaoSetSolution(tao, m));
  PetscCall(TaoSetObjectiveAndGradient(tao, NULL, Misfit, &tests));
  PetscCall(TaoSetTolerances(tao, 0, 0, PetscReal(1e-3)));
  PetscCall(TaoSetMaximumIterations(tao, 200));
  PetscCall(TaoSetFromOptions(tao));
  PetscCall(TaoSolve(tao));
  PetscCall(TaoGetSolutionStatus(tao, &iterations, &value, NULL, NULL, NULL, NULL));
  PetscCall(VecWAXPY(tests.b, -1, truth, m));
  PetscCall(VecNorm(tests.b, NORM_2, &error));
  PetscCall(VecNorm(truth, NORM_2, &of_truth));
  const PetscReal count = wells * wells * (PetscReal)tests.sources.size();
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%zu tests, %" PetscInt_FMT " wells: %" PetscInt_FMT
                        " iterations; misfits and penalty %.3f times half the number of measurements; error of the "
                        "logarithm %.3f of its size\n",
                        tests.sources.size(), wells * wells, iterations, (double)(2 * value / count),
                        (double)(error / of_truth)));

  const char *titles[] = {"true logarithm of the conductivity", "recovered from the wells", "pressure of one test"};
  PetscCall(tests.Solve(tests.sources.size() / 2));
  for (int p = 0; p < 3; p++) {
    PetscCall(PictureSetField(tests.da, p == 0 ? truth : p == 1 ? m : (Vec)tests.u, first, h, &panels[p]));
    panels[p].title = titles[p];
    panels[p].points = panels[1].points;
    if (p < 2) panels[p].values = {-2.2, 2.2};
  }
  panels[2].contours = 12;
  PetscCall(PictureWrite(tests.da, m, {panels[0], panels[1], panels[2]}, 3, "The ground from pumping tests", file));
  PetscCall(TaoDestroy(&tao));
  PetscCall(KSPDestroy(&tests.ksp));
  for (std::vector<Vec> *all : {&tests.sources, &tests.measured, &tests.seen})
    for (Vec &v : *all) PetscCall(VecDestroy(&v));
  for (Vec *v : {&truth, &m, &low, &high, &at_wells, &tests.u, &tests.lambda, &tests.b}) PetscCall(VecDestroy(v));
  for (Mat *A : {&tests.A, &tests.by_m, &tests.penalty}) PetscCall(MatDestroy(A));
  for (DM *da : {&tests.da_of_penalty, &tests.da}) PetscCall(DMDestroy(da));
  PetscCall(PetscFinalize());
  return 0;
}
