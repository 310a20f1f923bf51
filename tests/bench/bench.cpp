// Times the operators beside what bounds them: the copy of a vector, and the assembled matrix. Every figure is a ratio
// within one run. Where the vectors are decides what is timed: -dm_vec_type cuda for a GPU.

#include "capture/rows_on_gpu.hpp"
#include "timing.hpp"

static const char help[] =
    "Times Shellac's operators beside a copy and the assembled matrix.\n"
    "  -dims 2             dimensions of the grids, 1 to 3\n"
    "  -sizes 2048,8192    points a side\n"
    "  -aij_max 4096       largest of them for which the AIJ is assembled too\n"
    "  -seconds 0.5        time spent on each figure\n"
    "  -k points           diffusion with a coefficient k at the points, or on the faces, in place of -Δ\n"
    "  -transfer_table     the table of N = 500 ... 900 with transfers (CUDA builds)\n"
    "  -dm_vec_type cuda   on the GPU\n\n";

// The operator, and how many values a point move in a product.
static PetscErrorCode make_operator(DM da, const char *k, Mat *A, PetscReal *moves) {
  PetscBool on_faces, on_points;
  PetscInt  dim;
  Vec       values[3] = {NULL, NULL, NULL};

  PetscFunctionBegin;
  *moves = 2;
  if (!k[0]) {
    PetscCall(MatCreateLaplace(da, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscStrcmp(k, "faces", &on_faces));
  PetscCall(PetscStrcmp(k, "points", &on_points));
  PetscCheck(on_faces || on_points, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-k %s: give points or faces", k);
  PetscCall(DMGetDimension(da, &dim));
  for (PetscInt a = 0; a < (on_faces ? dim : 1); a++) {
    PetscCall(DMCreateGlobalVector(da, &values[a]));
    PetscCall(VecSetRandom(values[a], NULL));
    PetscCall(VecShift(values[a], 1));
    *moves += 1;
  }
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetDM(*A, da));
  PetscCall(MatSetType(*A, MATDIFFUSION));
  if (on_faces)
    PetscCall(MatDiffusionSetFaceCoefficients(*A, dim, values));
  else
    PetscCall(MatDiffusionSetCoefficient(*A, values[0]));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  for (Vec v : values) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bench_products(PetscInt dim, PetscInt n, PetscInt aij_max, const char *k, PetscReal seconds) {
  DM        da;
  Mat       A, B;
  Vec       x, y, z;
  PetscReal t_copy, t_vec_copy, t_mult, t_residual, t_sor, t_aij = 0, t_aij_sor = 0, moves;
  const PetscInt  ny = dim > 1 ? n : 1, nz = dim > 2 ? n : 1;
  const PetscReal points = (PetscReal)n * ny * nz;

  PetscFunctionBegin;
  if (dim == 1) PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, n, 1, 1, NULL, &da));
  else if (dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n,
                           n, n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(make_operator(da, k, &A, &moves));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(z, NULL));
  PetscCall(time_of(seconds, [&] { return copy(x, y); }, &t_copy));
  PetscCall(time_of(seconds, [&] { return VecCopy(x, y); }, &t_vec_copy));
  PetscCall(time_of(seconds, [&] { return MatMult(A, x, y); }, &t_mult));
  PetscCall(time_of(seconds, [&] { return MatResidual(A, z, x, y); }, &t_residual));
  PetscCall(time_of(seconds, [&] { return MatSOR(A, z, 1, SOR_LOCAL_FORWARD_SWEEP, 0, 1, 1, y); }, &t_sor));
  if (n <= aij_max) {
    PetscBool cuda;
    VecType   type;
    PetscCall(DMGetVecType(da, &type));
    PetscCall(PetscStrendswith(type, "cuda", &cuda));
    PetscCall(MatConvert(A, cuda ? MATAIJCUSPARSE : MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(time_of(seconds, [&] { return MatMult(B, x, y); }, &t_aij));
    if (!cuda) // whose sweeps are on the host
      PetscCall(time_of(seconds, [&] { return MatSOR(B, z, 1, SOR_LOCAL_FORWARD_SWEEP, 0, 1, 1, y); }, &t_aij_sor));
    PetscCall(MatDestroy(&B));
  }
  const PetscReal traffic = 2 * points * sizeof(PetscScalar), coefficients = k[0] ? 2 * dim + 1 : 0; // that a sweep reads
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d-D %7" PetscInt_FMT " %10.1f %9.0f %10.1f %7.3f %7.3f %7.3f %7.3f ",
                        (int)dim, n, (double)(1e6 * t_copy), (double)(1e-9 * traffic / t_copy), (double)(1e6 * t_mult),
                        (double)(moves / 2 * t_copy / t_mult), (double)(moves / 2 * t_vec_copy / t_mult),
                        (double)((moves + 1) / 2 * t_copy / t_residual),
                        (double)((2 + coefficients / 2) * t_copy / t_sor)));
  if (t_aij > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%10.1f %7.3f %7.2f", (double)(1e6 * t_aij), (double)(t_copy / t_aij),
                          (double)(t_aij / t_mult)));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%10s %7s %7s", "-", "-", "-"));
  if (t_aij_sor > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %7.2f\n", (double)(t_aij_sor / t_sor)));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %7s\n", "-"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SHELLAC_CUDA
// The five points where some are beyond the grid.
template <class T> struct AtEnd {
  shellac::Patch           patch;
  shellac::ConstantStar<T> star;
  shellac::Field<T>        field;
  T                       *y;

  __host__ __device__ void operator()(PetscInt i, PetscInt j, PetscInt) const {
    const T *const        u = field.u;
    const size_t at = patch.index(i, j, 0), row = patch.size[0];
    const T      beside[2][2] = {{i > 0 ? u[at - 1] : T(0), i + 1 < patch.size[0] ? u[at + 1] : T(0)},
                                 {j > 0 ? u[at - row] : T(0), j + 1 < patch.size[1] ? u[at + row] : T(0)}};
    y[at] = star.template operator()<2>(u[at], beside);
  }
};

// One product from host memory to host memory, as a program does that keeps its arrays there.
template <class T>
static PetscErrorCode product_with_transfers(PetscInt N, bool pinned, PetscReal seconds, PetscReal *total,
                                             PetscReal *kernel) {
  using namespace shellac;
  const size_t   points = (size_t)N * N, bytes = points * sizeof(T);
  T             *u, *y, *device_u, *device_y;
  cudaStream_t   stream;
  Patch          patch = {};
  ConstantStar<T> star = {};

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  const T inv_h2 = (T)(N + 1) * (N + 1);
  for (int a = 0; a < 3; a++) patch.N[a] = patch.size[a] = a < 2 ? N : 1;
  star.center = 4 * inv_h2;
  for (int a = 0; a < 2; a++) star.arm[a][LOWER] = star.arm[a][UPPER] = -inv_h2;
  if (pinned) {
    PetscCallCUDA(cudaMallocHost((void **)&u, bytes));
    PetscCallCUDA(cudaMallocHost((void **)&y, bytes));
  } else {
    PetscCall(PetscMalloc1(points, &u));
    PetscCall(PetscMalloc1(points, &y));
  }
  for (size_t i = 0; i < points; i++) u[i] = (T)((i * 7919) % 1000) / 1000, y[i] = 0;
  PetscCallCUDA(cudaMalloc((void **)&device_u, bytes));
  PetscCallCUDA(cudaMalloc((void **)&device_y, bytes));
  const Box all = patch.all(), inner = {{1, 1, 0}, {N - 1, N - 1, 1}};
  const auto launch = [&]() -> PetscErrorCode {
    return launch_rows(patch, StarRow<T>{{}, star, {}}, AtEnd<T>{patch, star, {device_u, {}, nullptr}, device_y},
                       (const T *)device_u, Form::product, (const T *)nullptr, all, inner, device_y);
  };
  PetscCall(time_of(seconds, launch, kernel));
  PetscCall(time_of(
    seconds,
    [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCallCUDA(cudaMemcpyAsync(device_u, u, bytes, cudaMemcpyHostToDevice, stream));
      PetscCall(launch());
      PetscCallCUDA(cudaMemcpyAsync(y, device_y, bytes, cudaMemcpyDeviceToHost, stream));
      PetscCallCUDA(cudaStreamSynchronize(stream));
      PetscFunctionReturn(PETSC_SUCCESS);
    },
    total));
  PetscCallCUDA(cudaFree(device_u));
  PetscCallCUDA(cudaFree(device_y));
  if (pinned) {
    PetscCallCUDA(cudaFreeHost(u));
    PetscCallCUDA(cudaFreeHost(y));
  } else {
    PetscCall(PetscFree(u));
    PetscCall(PetscFree(y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode transfer_table(PetscReal seconds) {
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\nOne product with its transfers to and from the GPU, milliseconds (the kernel alone in brackets)\n"
                        "    N   fp32 pageable     fp32 pinned   fp64 pageable     fp64 pinned\n"));
  for (PetscInt N = 500; N < 1000; N += 100) {
    PetscReal total, kernel;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%5" PetscInt_FMT, N));
    for (bool pinned : {false, true}) {
      PetscCall(product_with_transfers<float>(N, pinned, seconds, &total, &kernel));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %6.3f (%.4f)", (double)(1e3 * total), (double)(1e3 * kernel)));
    }
    for (bool pinned : {false, true}) {
      PetscCall(product_with_transfers<double>(N, pinned, seconds, &total, &kernel));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %6.3f (%.4f)", (double)(1e3 * total), (double)(1e3 * kernel)));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

int main(int argc, char **argv) {
  PetscInt    sizes[16] = {512, 2048, 2049}, count = 16, aij_max = 4096, dims[3] = {2}, dim_count = 3;
  PetscReal   seconds   = 0.5;
  PetscBool   set, transfers = PETSC_FALSE;
  char        k[16] = "";
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &count, &set));
  if (!set) count = 3;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-dims", dims, &dim_count, &set));
  if (!set) dim_count = 1;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-aij_max", &aij_max, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-k", k, sizeof(k), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-transfer_table", &transfers, NULL));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "%d rank%s; times in microseconds; ratios: copy/x is the time of a copy of as many bytes as x\n"
      "must move over the time of x (residual: of 1.5 copies where A stores nothing, a red-black sweep: of 2\n"
      "and of the coefficients that are stored)\n"
      "     points       copy    GB/s   MatMult copy/ VecCopy/ residual   sweep        AIJ  copy/   AIJ/   AIJ's "
      "sweep/\n"
      "     a side                               MatMult MatMult                           AIJ    MatMult sweep\n",
      ranks, ranks > 1 ? "s" : ""));
  for (PetscInt d = 0; d < dim_count; d++)
    for (PetscInt s = 0; s < count; s++) PetscCall(bench_products(dims[d], sizes[s], aij_max, k, seconds));
  if (transfers) {
#if SHELLAC_CUDA
    PetscCall(transfer_table(seconds));
#else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "-transfer_table times transfers to a GPU: this build has no CUDA\n"));
#endif
  }
  PetscCall(PetscFinalize());
  return 0;
}
