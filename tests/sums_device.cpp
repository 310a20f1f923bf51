// Kernel sums on a GPU: against those on the host.

#include "catch.hpp"
#include "gpu.hpp"
#include "sums.hpp"

using namespace tests;
using namespace tests::sums;

TEST_CASE("products on the host, then on a GPU, then on the host", "[sums][device]") {
  if (skips(no_gpu(false) || !vectors_are_on_a_gpu())) return;
  const Cloud cloud = random_cloud(300, 3, 1);
  Matrix      A = make_square_sum(cloud);
  Vector      c = right_vector(A), y = left_vector(A), b = left_vector(A);
  set_random(c, 1);
  set_random(b, 2);
  Vector host_c = on_host(c), host_y = on_host(y), host_b = on_host(b), reference = on_host(y);
  OK(MatShift(A, 2));
  OK(MatDiagonalScale(A, host_b, c));
  OK(MatDiagonalSet(A, b, ADD_VALUES));
  OK(MatMultAdd(A, host_c, host_b, reference));
  for (int turn = 0; turn < 2; turn++) {
    OK(MatMultAdd(A, c, b, y));
    CHECK(difference_of_arrays(y, reference) <= 10 * exact);
    OK(MatMultAdd(A, host_c, host_b, host_y));
    CHECK(difference_of_arrays(host_y, reference) <= 10 * exact);
    OK(MatGetDiagonal(A, y));
    OK(MatGetDiagonal(A, host_y));
    CHECK(difference_of_arrays(y, host_y) <= exact);
    OK(MatMultAdd(A, host_c, host_b, host_y));
  }
}

TEST_CASE("CUDA vectors give the host's sums", "[sums][device]") {
  if (skips(no_gpu(false) || !vectors_are_on_a_gpu())) return;
  // many targets, few sources; few targets, many sources; both
  const PetscInt sizes[][2] = {{70000, 50}, {50, 70000}, {5000, 3001}, {1, 1}, {129, 128}};
  for (const Function &f : functions)
    for (const auto &size : sizes) {
      const Cloud targets = random_cloud(size[0], 3, 1), sources = random_cloud(size[1], 3, 2);
      Options     set = options(f);
      Matrix      A = make_sum(targets, sources), B;
      Vector      s = targets.coordinates(), t = sources.coordinates(), host_s = on_host(s), host_t = on_host(t);
      OK(VecSetBlockSize(host_s, 3));
      OK(VecSetBlockSize(host_t, 3));
      OK(MatCreateKernelSum(PETSC_COMM_WORLD, host_s, host_t, &B));
      for (const char *precision : {"double", "single", "mixed"}) {
        Options with(std::string("-mat_kernelsum_precision ") + precision);
        OK(MatSetFromOptions(A));
        OK(MatSetFromOptions(B));
        const PetscReal within = precision[0] == 'd' ? 10 * exact : 5e-6;
        Vector          c = right_vector(A), y = left_vector(A), d = right_vector(B), z = left_vector(B);
        INFO(f.name << " " << precision << " " << size[0] << " x " << size[1]);
        set_random(c, 1);
        set_random(d, 1);
        OK(VecShift(c, 2));
        OK(VecShift(d, 2));
        OK(MatMult(A, c, y));
        OK(MatMult(B, d, z));
        CHECK(difference_of_arrays(y, z) <= within);
        OK(MatMultTranspose(A, y, c));
        OK(MatMultTranspose(B, z, d));
        CHECK(difference_of_arrays(c, d) <= 2 * within);
      }
    }
}

TEST_CASE("fast sums of points on the host with CUDA vectors", "[sums][device]") {
  if (no_gpu()) return;
#if defined(PETSC_HAVE_CUDA)
  const Cloud cloud = random_cloud(20000, 3, 1);
  Vector      points = on_host(cloud.coordinates());
  Matrix      A;
  OK(VecSetBlockSize(points, 3));
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, points, points, &A));
  OK(MatKernelSumSetKernel(A, "laplace"));
  for (const PetscReal rtol : {1e-4, 1e-9}) {
    OK(MatKernelSumSetMethod(A, MAT_KERNELSUM_FAST, rtol));
    Vector host_c = right_vector(A), host_y = left_vector(A), c = right_vector(A), y = left_vector(A);
    set_random(host_c, 1);
    OK(VecSetType(c, VECCUDA));
    OK(VecSetType(y, VECCUDA));
    OK(VecCopy(host_c, c));
    INFO("tolerance " << rtol);
    CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("trees of order") != std::string::npos);
    OK(MatMult(A, host_c, host_y));
    OK(MatMult(A, c, y));
    CHECK(difference_of_arrays(y, host_y) <= (rtol < 1e-6 ? PetscReal(1e-10) : PetscReal(1e-5)));
    OK(MatMultTranspose(A, host_c, host_y));
    OK(MatMultTranspose(A, c, y));
    CHECK(difference_of_arrays(y, host_y) <= (rtol < 1e-6 ? PetscReal(1e-10) : PetscReal(1e-5)));
  }
#endif
}

TEST_CASE("points on a GPU stay there: set-up and product of a series copy samples alone", "[sums][device]") {
  if (skips(no_gpu(false) || !vectors_are_on_a_gpu())) return;
#if defined(PETSC_HAVE_CUDA)
  const Cloud cloud = random_cloud(200000, 3, 1);
  Vector      x = cloud.coordinates();
  Matrix      A;
  const auto  sum = [&] {
    OK(MatCreateKernelSum(PETSC_COMM_WORLD, x, x, &A));
    OK(MatKernelSumSetSigma(A, 0.3));
    OK(MatKernelSumSetMethod(A, MAT_KERNELSUM_FAST, 1e-6));
    Vector c = right_vector(A), y = left_vector(A);
    OK(VecSet(c, 1));
    OK(MatMult(A, c, y));
  };
  PetscReal norm;
  OK(VecNorm(x, NORM_2, &norm)); // x is on the GPU from here on
  OK(PetscLogDefaultBegin());
  CHECK(bytes_copied(sum) < 0.5 * sizeof(PetscReal) * (double)cloud.N);
#endif
}
