/*
  The porous medium equation u_t = Δ(u²) on a square: gas that spreads in a porous rock, with a front that moves. Each time
  step solves (I - Δt ∇·k∇) u_next = u with k = 2u, so that each needs another matrix, which is assembled where the vectors
  are: a kernel makes its values from u, MatSetValuesCOO() takes them. Compared with Barenblatt's solution (1952).

      mpiexec -n 2 ./porous -da_grid_x 257 -da_grid_y 257
      ./porous -dm_vec_type cuda                            on the GPU: u, values and matrix stay there
      ./porous -dm_vec_type cuda -dm_mat_type aijcusparse   the same with PETSc's assembled matrix
*/

#include "picture.hpp"

#include <petscksp.h>
#include <petsctime.h>
#include <shellac.h>

#if defined(PETSC_HAVE_CUDA) && defined(__CUDACC__)
#include <petscdevice_cuda.h>
#define HOST_AND_DEVICE __host__ __device__
#else
#define HOST_AND_DEVICE
#endif

static const char help[] =
    "Solves the porous medium equation; its matrix is assembled anew at each step, where the vectors are.\n"
    "  -da_grid_x 129 -da_grid_y 129  points along each axis\n"
    "  -steps 60                      time steps from t = 1 to t = 4\n"
    "  -dm_mat_type stencil           the matrix: stencil, aij, aijcusparse, ...\n"
    "  -dm_vec_type cuda              runs on the GPU\n"
    "  -ksp_type cg -pc_type jacobi   the solver's defaults\n"
    "  -picture u.pdf                 .png, .svg, .pdf; .vts, .vtr (for ParaView); none\n\n";

static const PetscReal half_width = 4, first_time = 1, last_time = 4; // of the square, of the run

// The five values of a row: the point itself, then its neighbours. Those beyond the square are zero, and are not listed.
struct Values {
  PetscInt           start[2], size[2]; // of the points that this rank has
  PetscInt           ghost_start[2], ghost_width, N[2];
  PetscReal          ratio; // Δt/h²
  const PetscScalar *u;     // with those of neighbouring ranks
  PetscScalar       *values;

  HOST_AND_DEVICE void operator()(PetscInt n) const {
    const PetscInt p[2] = {start[0] + n % size[0], start[1] + n / size[0]};
    PetscScalar   *row = values + 5 * (size_t)n;
    row[0] = 1;
    for (int arm = 1; arm < 5; arm++) {
      const PetscInt q[2] = {p[0] + (arm == 1 ? -1 : arm == 2 ? 1 : 0), p[1] + (arm == 3 ? -1 : arm == 4 ? 1 : 0)};
      row[arm] = 0;
      if (q[0] < 0 || q[0] >= N[0] || q[1] < 0 || q[1] >= N[1]) continue;
      row[arm] = -ratio * (at(p) + at(q)); // k = 2u between the two points
      row[0] -= row[arm];
    }
  }
  HOST_AND_DEVICE PetscScalar at(const PetscInt p[2]) const {
    return u[(p[0] - ghost_start[0]) + (size_t)ghost_width * (p[1] - ghost_start[1])];
  }
};

#if defined(PETSC_HAVE_CUDA) && defined(__CUDACC__)
static __global__ void compute(PetscInt rows, Values values) {
  const PetscInt n = (PetscInt)(blockIdx.x * blockDim.x + threadIdx.x);
  if (n < rows) values(n);
}
#endif

// The values of all rows, in the memory of their arrays.
static PetscErrorCode ComputeValues(const Values &values, PetscMemType memory) {
  const PetscInt rows = values.size[0] * values.size[1];

  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA) && defined(__CUDACC__)
  if (PetscMemTypeDevice(memory)) {
    cudaStream_t stream;
    PetscCall(PetscGetCurrentCUDAStream(&stream));
    if (rows) compute<<<(unsigned)(rows + 255) / 256, 256, 0, stream>>>(rows, values);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)memory;
  for (PetscInt n = 0; n < rows; n++) values(n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The rows and columns of the values, as indices of local vectors: once.
static PetscErrorCode Preallocate(Mat A, const Values &v) {
  std::vector<PetscInt> rows, columns;

  PetscFunctionBeginUser;
  for (PetscInt n = 0; n < v.size[0] * v.size[1]; n++)
    for (int arm = 0; arm < 5; arm++) {
      const PetscInt p[2] = {v.start[0] + n % v.size[0], v.start[1] + n / v.size[0]};
      const PetscInt q[2] = {p[0] + (arm == 1 ? -1 : arm == 2 ? 1 : 0), p[1] + (arm == 3 ? -1 : arm == 4 ? 1 : 0)};
      const bool     inside = q[0] >= 0 && q[0] < v.N[0] && q[1] >= 0 && q[1] < v.N[1];
      rows.push_back((p[0] - v.ghost_start[0]) + v.ghost_width * (p[1] - v.ghost_start[1]));
      columns.push_back(inside ? (q[0] - v.ghost_start[0]) + v.ghost_width * (q[1] - v.ghost_start[1]) : -1);
    }
  PetscCall(MatSetPreallocationCOOLocal(A, (PetscCount)rows.size(), rows.data(), columns.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A = I - Δt ∇·k∇ of the present u.
static PetscErrorCode Assemble(DM da, Vec u, Vec value_array, Values *values, Mat A) {
  Vec          local;
  PetscMemType memory;

  PetscFunctionBeginUser;
  PetscCall(DMGetLocalVector(da, &local));
  PetscCall(DMGlobalToLocal(da, u, INSERT_VALUES, local));
  PetscCall(VecGetArrayReadAndMemType(local, &values->u, &memory));
  PetscCall(VecGetArrayWriteAndMemType(value_array, &values->values, &memory));
  PetscCall(ComputeValues(*values, memory));
  PetscCall(MatSetValuesCOO(A, values->values, INSERT_VALUES)); // and assembles
  PetscCall(VecRestoreArrayWriteAndMemType(value_array, &values->values));
  PetscCall(VecRestoreArrayReadAndMemType(local, &values->u));
  PetscCall(DMRestoreLocalVector(da, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetBarenblatt(DM da, PetscReal h, PetscReal t, Vec u) {
  PetscScalar **values;
  PetscInt      lo[2], size[2];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &lo[0], &lo[1], NULL, &size[0], &size[1], NULL));
  PetscCall(DMDAVecGetArrayWrite(da, u, &values));
  for (PetscInt j = lo[1]; j < lo[1] + size[1]; j++)
    for (PetscInt i = lo[0]; i < lo[0] + size[0]; i++) {
      const PetscReal x = i * h - half_width, y = j * h - half_width, root = PetscSqrtReal(t);
      values[j][i] = PetscMax(PetscReal(0.5) - (x * x + y * y) / (16 * root), 0) / root;
    }
  PetscCall(DMDAVecRestoreArrayWrite(da, u, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  DM             da;
  Mat            A;
  KSP            ksp;
  PC             pc;
  Vec            u, exact, value_array;
  VecType        vec_type;
  MatType        mat_type;
  Values         values;
  PetscInt       steps = 60, iterations = 0, points[3], rows;
  PetscReal      h, norm, error;
  PetscScalar    mass[2];
  PetscLogDouble begin, end, assembly = 0;
  std::string    file;
  picture::Panel panel;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PictureGetFile("porous", {"-da_grid_x", "-da_grid_y", "-steps"}, &file));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCheck(steps > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-steps is %" PetscInt_FMT "; give 1 or more",
             steps);
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 129, 129,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetMatType(da, MATSTENCILSHELL));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDAGetInfo(da, NULL, &points[0], &points[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCheck(points[0] == points[1] && points[0] > 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "the grid has %" PetscInt_FMT " x %" PetscInt_FMT " points; give as many along each axis, 3 or more",
             points[0], points[1]);
  h = 2 * half_width / (points[0] - 1);
  PetscCall(DMDAGetCorners(da, &values.start[0], &values.start[1], NULL, &values.size[0], &values.size[1], NULL));
  PetscCall(
      DMDAGetGhostCorners(da, &values.ghost_start[0], &values.ghost_start[1], NULL, &values.ghost_width, NULL, NULL));
  for (int a = 0; a < 2; a++) values.N[a] = points[a];
  values.ratio = (last_time - first_time) / steps / (h * h);

  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecDuplicate(u, &exact));
  PetscCall(VecGetLocalSize(u, &rows));
  PetscCall(DMGetVecType(da, &vec_type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &value_array));
  PetscCall(VecSetSizes(value_array, 5 * rows, PETSC_DETERMINE));
  PetscCall(VecSetType(value_array, vec_type));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(Preallocate(A, values));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, PetscReal(1e-8), PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));

  PetscCall(SetBarenblatt(da, h, first_time, u));
  PetscCall(VecSum(u, &mass[0]));
  for (PetscInt step = 0; step < steps; step++) {
    PetscInt its;
    PetscCall(PetscTime(&begin));
    PetscCall(Assemble(da, u, value_array, &values, A));
    PetscCall(PetscTime(&end));
    if (step) assembly += end - begin; // the first is also the set-up
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(VecCopy(u, exact)); // the right-hand side
    PetscCall(KSPSolve(ksp, exact, u));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    iterations += its;
  }
  PetscCall(VecSum(u, &mass[1]));
  PetscCall(SetBarenblatt(da, h, last_time, exact));
  PetscCall(VecNorm(exact, NORM_1, &norm));
  PetscCall(VecAXPY(exact, -1, u));
  PetscCall(VecNorm(exact, NORM_1, &error));
  PetscCall(MatGetType(A, &mat_type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s, %" PetscInt_FMT " x %" PetscInt_FMT " points, %" PetscInt_FMT " steps, %" PetscInt_FMT
                        " iterations: relative error %.4f, mass changed by %.1e; assembly %.3f ms a step\n",
                        mat_type, points[0], points[1], steps, iterations, (double)(error / norm),
                        (double)PetscRealPart(mass[1] / mass[0] - PetscScalar(1)),
                        steps > 1 ? 1e3 * assembly / (double)(steps - 1) : 0.));

  const PetscReal first[3] = {-half_width, -half_width, 0}, spacing[3] = {h, h, 1};
  panel.title = "the front at t = 4";
  PetscCall(GridSetCoordinates(da, first, spacing));
  PetscCall(PictureSetField(da, u, first, spacing, &panel));
  panel.value_name = "u";
  PetscCall(PictureWrite(da, u, {panel}, 1, "A porous medium: u_t = Δ(u²)", file));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  for (Vec *v : {&u, &exact, &value_array}) PetscCall(VecDestroy(v));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
