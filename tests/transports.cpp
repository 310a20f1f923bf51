// Messages between GPUs, where CUDA IPC does not serve: products and solves are the host's.

#include "catch.hpp"

#include "captures.hpp"
#include "gpu.hpp"
#include "solve.hpp"

using namespace tests;

#if defined(PETSC_HAVE_CUDA)

// Null, by an error of all ranks, where GPUs cannot exchange so: they share one, or have no such library.
static Matrix created(DM da) {
  Matrix A;
  OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  const PetscErrorCode code = DMCreateMatrix(da, &A); // sets it up
  OK(PetscPopErrorHandler());
  if (code) CHECK(code == PETSC_ERR_ARG_INCOMP);
  return A;
}

static void check_alike(DM host, Vec x, DM device, Vec y, PetscReal tolerance) {
  CHECK(difference_beside_largest(natural_values(device, y), natural_values(host, x)) <= tolerance);
}

TEST_CASE("GPUs that exchange messages give the host's values", "[transports][device]") {
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  Problem problems[] = {problem(1, 50), problem(2, 33, 27), problem(2, 40, 34), problem(3, 16, 18, 20),
                        problem(2, 300, 280)};
  for (int a = 0; a < 2; a++) problems[2].ends[a] = problems[3].ends[a] = DM_BOUNDARY_PERIODIC;
  problems[2].sigma = problems[3].sigma = 2;
  for (const MatHaloType halo : {MAT_HALO_NCCL, MAT_HALO_MPI, MAT_HALO_HOST})
    for (const Problem &p : problems) {
      const std::string way = MatHaloTypes[halo];
      INFO(way << ": " << describe(p));
      Grid host = make_grid(p), device = make_grid(p);
      OK(DMSetVecType(host, VECSTANDARD));
      OK(DMSetVecType(device, VECCUDA));
      Matrix  A = make_operator(p, host);
      Options set("-mat_laplace_halo " + way + " -mat_helmholtz_halo " + way + " -mat_helmholtz_shift 2");
      OK(DMSetMatType(device, p.sigma == PetscScalar(0) ? MATLAPLACE : MATHELMHOLTZ));
      Matrix B = created(device);
      if (!B) continue;
      Vector b = random_vector(host, 1), c = random_vector(device, 1), x = make_vector(host), y = make_vector(device);
      for (int n = 0; n < 3; n++) {
        OK(MatMult(A, b, x));
        OK(MatMult(B, c, y));
        check_alike(host, x, device, y, exact);
        OK(VecBindToCPU(c, n % 2 ? PETSC_FALSE : PETSC_TRUE));
      }
      const auto by = view(B, PETSC_VIEWER_ASCII_INFO);
      CHECK(by.find(halo == MAT_HALO_NCCL  ? "NCCL"
                    : halo == MAT_HALO_MPI ? "GPU-aware"
                                           : "pinned") != std::string::npos);
      OK(VecBindToCPU(c, PETSC_FALSE));
      OK(VecZeroEntries(x));
      OK(VecZeroEntries(y));
      for (const char *options : {"-test_ksp_type fusedcg -test_pc_type jacobi -test_ksp_rtol 1e-10",
                                  "-test_ksp_type fusedcg -test_pc_type stencilmg -test_ksp_rtol 1e-10"}) {
        Solver             one = make_solver(A, options), other = make_solver(B, options);
        KSPConvergedReason reason;
        OK(KSPSolve(one, b, x));
        OK(KSPSolve(other, c, y));
        OK(KSPGetConvergedReason(other, &reason));
        CHECK(reason > 0);
        check_alike(host, x, device, y, 1e-7);
      }
    }
}

#endif
