// Kernel sums on a GPU: against those on the host.

#include <cmath>
#include <cstring>

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

// Points of a unit cube at `at`. In 1-D and 2-D differences are exact in single precision, which close pairs of
// singular functions want. The last six may be close to one another, in the middle, where single precision is fine.
static Cloud cloud_with_close_points(PetscInt N, int dim, PetscReal at, bool close) {
  Cloud cloud = random_cloud(N, dim, 1);
  for (PetscReal &x : cloud.x) x = at + (dim < 3 ? std::floor(65536 * x) / 65536 : x);
  for (int a = 0; a < dim; a++) {
    cloud.x[a] = at, cloud.x[dim + a] = at + 1;
    for (int k = 0; k < 6 && close; k++) cloud.x[(cloud.N - 1 - k) * dim + a] = at + 0.5 + 1e-8 * (k * k + a);
  }
  return cloud;
}
static Cloud last_points(const Cloud &all, PetscInt N) {
  Cloud cloud = all;
  cloud.N = N;
  cloud.x.assign(all.x.end() - N * all.dim, all.x.end());
  return cloud;
}
static Matrix same_sum_on_host(const Cloud &targets, const Cloud &sources) {
  Vector x = on_host(targets.coordinates()), y = on_host(sources.coordinates());
  Matrix A;
  OK(VecSetBlockSize(x, targets.dim));
  OK(VecSetBlockSize(y, sources.dim));
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, x, y, &A));
  return A;
}
struct Place {
  int       dim;
  PetscReal at;
  bool      close;
};
static const Place places[] = {{1, 0, false}, {2, 0, true}, {3, 0, false}, {3, 1e6, false}, {3, 1e6, true}};

// So many on one rank are summed by tensor cores.
TEST_CASE("sums of many points with coincident and close ones, far from the origin, on a GPU", "[sums][device]") {
  if (skips(no_gpu(false) || !vectors_are_on_a_gpu() || rank_count() > 1)) return;
  for (const Place &p : places) {
    const Cloud targets = cloud_with_close_points(33001, p.dim, p.at, p.close);
    for (const PetscInt count : {777, 50, 13}) { // many; few: whole tiles, and half of one
      const Cloud sources = last_points(targets, count);
      for (const Function &f : functions) {
        Options set = options(f);
        Matrix  A = make_sum(targets, sources), B = same_sum_on_host(targets, sources);
        OK(MatKernelSumSetPrecision(A, MAT_KERNELSUM_SINGLE));
        Vector c = right_vector(A), y = left_vector(A);
        INFO(f.name << " of " << count << " sources, " << p.dim << "-D at " << p.at
                    << (p.close ? " with close points" : ""));
        set_random(c, 1);
        OK(VecShift(c, 2));
        Vector host_c = on_host(c), z = left_vector(B);
        for (int turn = 0; turn < 3; turn++) OK(MatMult(A, c, y)); // one beside the end of the other
        OK(MatMult(B, host_c, z));
        CHECK(difference_of_arrays(y, z) <= PetscReal(5e-6));
        OK(VecScale(c, -3)); // before a product that begins early
        OK(MatMult(A, c, y));
        OK(VecScale(y, PetscReal(-1) / 3));
        CHECK(difference_of_arrays(y, z) <= PetscReal(5e-6));
      }
    }
  }
}

TEST_CASE("seventeen columns at once on a GPU", "[sums][device]") {
  if (skips(no_gpu(false) || !vectors_are_on_a_gpu())) return;
#if defined(PETSC_HAVE_CUDA)
  for (const Place &p : places) {
    const Cloud targets = cloud_with_close_points(1001, p.dim, p.at, p.close), sources = last_points(targets, 777);
    for (const Function &f : functions)
      for (const char *how :
           {"-mat_kernelsum_precision double", "-mat_kernelsum_precision single", "-mat_kernelsum_self zero"}) {
        if (f.singular && strstr(how, "self")) continue;
        Options  set = options(f, how);
        Matrix   A = make_sum(targets, sources), B = same_sum_on_host(targets, sources), C, D;
        PetscInt n;
        OK(MatKernelSumSetPrecision(B, MAT_KERNELSUM_DOUBLE));
        OK(MatGetLocalSize(A, NULL, &n));
        OK(MatCreateDenseCUDA(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 17, NULL, &C));
        OK(MatSetRandom(C, NULL));
        OK(MatMatMult(A, C, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
        for (PetscInt j = 0; j < 17; j++) {
          Vec c, y;
          OK(MatDenseGetColumnVecRead(C, j, &c));
          OK(MatDenseGetColumnVecRead(D, j, &y));
          Vector host_c = on_host(c), z = left_vector(B);
          INFO(f.name << " " << how << " " << p.dim << "-D at " << p.at << ", column " << j);
          OK(MatMult(B, host_c, z));
          CHECK(difference_of_arrays(y, z) <= (strstr(how, "single") ? PetscReal(5e-6) : 10 * exact));
          OK(MatDenseRestoreColumnVecRead(D, j, &y));
          OK(MatDenseRestoreColumnVecRead(C, j, &c));
        }
      }
  }
#endif
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
