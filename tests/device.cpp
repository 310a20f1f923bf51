// Vectors on a GPU beside vectors on the host.

#include "catch.hpp"
#include "gpu.hpp"
#include "support.hpp"

using namespace tests;

// On the GPU and on the host: the same function, rounded in another order.
TEST_CASE("CUDA vectors give the host's results", "[device]") {
  if (no_gpu()) return;
  for (int dim = 1; dim <= 3; dim++)
    for (bool large : {false, true}) {
      const PetscInt N[3] = {large ? 601 : 9, large ? 45 : 7, large ? 37 : 6};
      for_each_problem(dim, N, [&](Problem p, DM) {
        p.sigma = 3;
        INFO(describe(p));
        Grid host = make_grid(p), device = make_grid(p);
        OK(DMSetVecType(host, VECSTANDARD));
        OK(DMSetVecType(device, VECCUDA));
        Matrix     A = make_operator(p, host), B = make_operator(p, device);
        Vector     x = random_vector(host, 1), y = make_vector(host);
        Vector     u = random_vector(device, 1), v = make_vector(device), back = make_vector(host);
        const auto check = [&](PetscReal tolerance) {
          const PetscScalar *values;
          PetscScalar       *copy;
          PetscInt           n;
          OK(VecGetLocalSize(v, &n));
          OK(VecGetArrayRead(v, &values));
          OK(VecGetArray(back, &copy));
          for (PetscInt i = 0; i < n; i++) copy[i] = values[i];
          OK(VecRestoreArray(back, &copy));
          OK(VecRestoreArrayRead(v, &values));
          CHECK(difference(back, y) <= tolerance);
        };
        OK(MatMult(A, x, y));
        OK(MatMult(B, u, v));
        check(exact);
        OK(MatMultTranspose(A, x, y));
        OK(MatMultTranspose(B, u, v));
        check(exact);
        OK(MatResidual(A, x, x, y));
        OK(MatResidual(B, u, u, v));
        check(exact);
        OK(MatGetDiagonal(A, y));
        OK(MatGetDiagonal(B, v));
        check(exact);
        OK(VecSet(y, 0));
        OK(VecSet(v, 0));
        OK(MatSOR(A, x, 1.2, SOR_SYMMETRIC_SWEEP, 0, 2, 1, y));
        OK(MatSOR(B, u, 1.2, SOR_SYMMETRIC_SWEEP, 0, 2, 1, v));
        check(10 * exact);

        VecType   type; // work vectors of solvers are where the grid's are
        PetscBool cuda;
        Vector    work;
        OK(MatCreateVecs(B, &work, NULL));
        OK(VecGetType(work, &type));
        OK(PetscStrendswith(type, "cuda", &cuda));
        CHECK(cuda);
      });
    }
}

TEST_CASE("vectors on the host and on the GPU in one product", "[device]") {
  if (no_gpu()) return;
  Problem p = problem(2, 20, 20);
  Grid    host = make_grid(p), device = make_grid(p);
  OK(DMSetVecType(host, VECSTANDARD));
  OK(DMSetVecType(device, VECCUDA));
  Matrix A = make_operator(p, device), B = make_operator(p, host);
  Vector u = random_vector(host, 1), expected = make_vector(host);
  OK(MatMult(B, u, expected));
  for (bool from_host : {false, true}) {
    Vector x = random_vector(from_host ? host : device, 1), y = make_vector(from_host ? device : host);
    OK(MatMult(A, x, y));
    CHECK(difference(y, expected) <= exact);
    OK(MatMultAdd(A, x, y, y));
    OK(VecScale(y, 0.5));
    CHECK(difference(y, expected) <= exact);
  }

  Vector z = random_vector(device, 1), w = make_vector(device); // bound to the host, CUDA vectors serve there
  OK(VecBindToCPU(z, PETSC_TRUE));
  OK(VecBindToCPU(w, PETSC_TRUE));
  OK(MatMult(A, z, w));
  CHECK(difference(w, expected) <= exact);
}

#if defined(PETSC_HAVE_DEVICE)
// Copies of vectors between the host and the GPU, in the event `name` so far.
static PetscReal copies_in(const char *name) {
  PetscLogEvent      event;
  PetscEventPerfInfo info;
  OK(PetscLogEventGetId(name, &event));
  OK(PetscLogEventGetPerfInfo(0, event, &info));
  return (PetscReal)(info.CpuToGpuCount + info.GpuToCpuCount);
}

TEST_CASE("a solve on CUDA vectors copies none of them", "[device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return; // ranks that share a GPU exchange halos through the host
  OK(PetscLogDefaultBegin());
  for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC}) {
    Problem p = problem(2, 61, 40);
    p.sigma = 3;
    p.ends[0] = ends;
    Grid da = make_grid(p);
    OK(DMSetVecType(da, VECCUDA));
    Matrix A = make_operator(p, da);
    Vector b = make_vector(da), x = make_vector(da);
    Solver ksp;
    PC     pc;
    OK(VecSet(b, 1));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetType(ksp, KSPCG));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCNONE));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSolve(ksp, b, x));
    const PetscReal before = copies_in("KSPSolve");
    OK(VecSet(x, 0));
    OK(KSPSolve(ksp, b, x));
    CHECK(copies_in("KSPSolve") == before);
  }
}
#endif

TEST_CASE("new vectors of a matrix are zeros and laid out as those of an assembled one", "[device]") {
  for (bool cuda : {false, true}) {
    if (cuda && no_gpu()) return;
    Problem p = {};
    p.dim = 2;
    p.N[0] = 13, p.N[1] = 9, p.N[2] = 1;
    Grid grid = make_grid(p);
    Mat  aij;
    OK(DMSetVecType(grid, cuda ? VECCUDA : VECSTANDARD));
    Matrix A = make_operator(p, grid);
    OK(DMSetMatType(grid, MATAIJ));
    OK(DMCreateMatrix(grid, &aij));
    Vector right, left, expected;
    OK(MatCreateVecs(A, &right, &left));
    OK(MatCreateVecs(aij, &expected, NULL));
    for (Vec v : {(Vec)right, (Vec)left}) {
      ISLocalToGlobalMapping mapping, its;
      PetscInt               lo, hi, expected_lo, expected_hi, n, expected_n;
      PetscReal              norm;
      OK(VecGetOwnershipRange(v, &lo, &hi));
      OK(VecGetOwnershipRange(expected, &expected_lo, &expected_hi));
      CHECK((lo == expected_lo && hi == expected_hi));
      OK(VecGetLocalToGlobalMapping(v, &mapping));
      OK(VecGetLocalToGlobalMapping(expected, &its));
      OK(ISLocalToGlobalMappingGetSize(mapping, &n));
      OK(ISLocalToGlobalMappingGetSize(its, &expected_n));
      CHECK(n == expected_n);
      OK(VecNorm(v, NORM_INFINITY, &norm));
      CHECK(norm == 0);
    }
    OK(MatDestroy(&aij));
  }
}
