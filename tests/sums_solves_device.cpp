// The preconditioner of kernel sums on a GPU: beside that on the host, and without copies of vectors.

#include "catch.hpp"
#include "gpu.hpp"
#include "sums_solves.hpp"

using namespace tests;
using namespace tests::sums;

namespace {

// The same sum with its points on the host.
Matrix sum_on_host(const Cloud &cloud) {
  Vector x = on_host(cloud.coordinates());
  Matrix A;
  OK(VecSetBlockSize(x, cloud.dim));
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, x, x, &A));
  OK(MatSetFromOptions(A));
  return A;
}

void scale_and_shift(Mat A) {
  Vector left = left_vector(A), d = left_vector(A);
  set_random(left, 5);
  set_random(d, 6);
  OK(VecAbs(left));
  OK(VecAbs(d));
  OK(VecShift(left, 1));
  OK(MatShift(A, 3));
  OK(MatDiagonalScale(A, left, left));
  OK(MatDiagonalSet(A, d, ADD_VALUES));
}

} // namespace

TEST_CASE("the preconditioner of kernel sums on a GPU is that on the host", "[sums][solves][device]") {
  if (skips(no_gpu(false) || !vectors_are_on_a_gpu())) return;
  const struct {
    const char *options, *variant;
    int         dim;
    bool        scaled;
  } cases[] = {
      {"-mat_kernelsum_sigma 0.03", "symmetric", 2, true},
      {"-mat_kernelsum_sigma 0.05 -pc_kernelsum_box 40 -pc_kernelsum_overlap 150", "symmetric", 2, true},
      {"-mat_kernelsum_kernel inverse_multiquadric -mat_kernelsum_sigma 0.1", "symmetric", 3, false},
      {"-mat_kernelsum_kernel multiquadric -mat_kernelsum_sigma 0.05", "symmetric", 2, false},
      {"-mat_kernelsum_formula exp(-r/sigma) -mat_kernelsum_sigma 0.05", "symmetric", 2, true},
      {"-mat_kernelsum_sigma 0.03 -pc_kernelsum_variant restricted", "restricted", 2, true},
      {"-mat_kernelsum_kernel laplace -pc_kernelsum_variant restricted -pc_kernelsum_coarse 50", "restricted", 3, true},
      {"-mat_kernelsum_kernel thin_plate -pc_kernelsum_coarse 50", "restricted", 2, true},
      {"-mat_kernelsum_kernel helmholtz -mat_kernelsum_wavenumber 7 -pc_kernelsum_coarse 50", "restricted", 3, true},
  };
  for (const auto &of : cases) {
    const Cloud cloud = lattice(of.dim == 2 ? 40 : 12, of.dim, PetscReal(0.4));
    Options     set(of.options);
    Matrix      A = make_square_sum(cloud), B = sum_on_host(cloud);
    if (of.scaled) {
      scale_and_shift(A);
      scale_and_shift(B);
    }
    Vector r = left_vector(A), z = right_vector(A), host_r = left_vector(B), host_z = right_vector(B),
           mixed = on_host(z);
    Solve solver(A), on_the_host(B);
    set_random(r, 1);
    set_random(host_r, 1);
    INFO(of.options);
    OK(PCSetUp(solver.pc()));
    OK(PCSetUp(on_the_host.pc()));
    CHECK(variant_of(solver) == of.variant);
    OK(PCApply(solver.pc(), r, z));
    OK(PCApply(on_the_host.pc(), host_r, host_z));
    CHECK(difference_of_arrays(z, host_z) <= 1e-8);
    OK(PCApply(solver.pc(), host_r, mixed)); // made on the GPU, applied on the host
    CHECK(difference_of_arrays(mixed, host_z) <= 1e-8);
    OK(PCApply(on_the_host.pc(), r, z)); // and the other way round
    CHECK(difference_of_arrays(z, host_z) <= 1e-8);
    const int its = solver.solve(r, z), its_on_host = on_the_host.solve(host_r, host_z);
    CHECK(its > 0);
    CHECK(std::abs(its - its_on_host) <= 1);
  }
}

TEST_CASE("solves with the preconditioner of kernel sums on CUDA vectors copy no vector", "[sums][solves][device]") {
  if (skips(no_gpu(false) || !vectors_are_on_a_gpu() || rank_count() > 1)) return;
#if defined(PETSC_HAVE_CUDA)
  OK(PetscLogDefaultBegin());
  for (const char *options : {"-ksp_type cg -ksp_pc_side left -mat_kernelsum_sigma 0.01 -mat_kernelsum_type fast",
                              "-pc_kernelsum_variant restricted -mat_kernelsum_kernel inverse_multiquadric "
                              "-mat_kernelsum_sigma 0.01 -pc_kernelsum_coarse 100"}) {
    const Cloud cloud = lattice(100, 2, PetscReal(0.4));
    Options     set(options);
    Matrix      A = make_square_sum(cloud);
    OK(MatShift(A, PetscReal(1e-6)));
    Vector f = left_vector(A), c = right_vector(A), z = right_vector(A);
    set_random(f, 1);
    Solve solver(A);
    INFO(options);
    PetscReal norm;
    OK(VecNorm(f, NORM_2, &norm)); // f is on the GPU from here on
    CHECK(solver.solve(f, c) > 0);
    CHECK(bytes_copied([&] { CHECK(solver.solve(f, c) > 0); }) < 0.1 * sizeof(PetscScalar) * (double)cloud.N);
    OK(PCApply(solver.pc(), f, z));
    CHECK(bytes_copied([&] { OK(PCApply(solver.pc(), f, z)); }) == 0);
  }
#endif
}
