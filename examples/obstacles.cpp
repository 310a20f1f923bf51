/*
  Diffusion through a porous medium: the pores are a fluid of diffusivity 1, the grains are solid. The unit cell
  repeats in all directions. A mean gradient of 1 along x drives u = x + v: -Δv = 0 in the fluid, ∂v/∂n = -n_x at the
  walls. The mean flux is the effective diffusivity, compared with Rayleigh's series for arrays of discs or spheres
  (1892), or with Weissberg's bound for random ones that may overlap (1963).

      mpiexec -n 2 ./obstacles
      ./obstacles -dim 3 -n 64 -medium array
      ./obstacles -dm_vec_type cuda
*/

#include "picture.hpp"
#include "scattered.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <petscksp.h>
#include <shellac.h>

static const char help[] =
    "Computes the effective diffusivity of a porous medium.\n"
    "  -dim 2                            or 3\n"
    "  -n 256                            cells along each axis\n"
    "  -medium random                    grains that may overlap; array: one in the middle\n"
    "  -solid 0.4                        the solid's part of the volume, in the mean of random media\n"
    "  -radius 0.04, -seed 1             of random grains\n"
    "  -ksp_type cg -pc_type stencilmg   the solver's defaults\n"
    "  -dm_vec_type cuda                 runs on the GPU\n"
    "  -picture u.pdf                    .png, .svg, .pdf; .vts, .vtr (for ParaView); none\n\n";

struct Medium {
  PetscInt                              dim = 2, n = 256;
  PetscReal                             radius = 0.04;
  std::vector<std::array<PetscReal, 3>> centers;

  PetscReal h() const { return PetscReal(1) / n; }
  bool      is_solid(const PetscInt i[3]) const { // the cell of a point, which repeats
    for (const auto &center : centers) {
           PetscReal square = 0;
           for (PetscInt a = 0; a < dim; a++) {
             const PetscReal distance = (i[a] + PetscReal(0.5)) * h() - center[a];
             square += PetscSqr(distance - std::round(distance));
      }
           if (square < radius * radius) return true;
    }
         return false;
  }
};

// Calls f(point, its place in local vectors) for the points that this rank has, in the order of global vectors.
template <class Function> static PetscErrorCode ForEachPoint(DM da, const Function &f) {
  PetscInt lo[3], size[3], ghost[3], width[3], i[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &lo[0], &lo[1], &lo[2], &size[0], &size[1], &size[2]));
  PetscCall(DMDAGetGhostCorners(da, &ghost[0], &ghost[1], &ghost[2], &width[0], &width[1], &width[2]));
  for (i[2] = lo[2]; i[2] < lo[2] + size[2]; i[2]++)
    for (i[1] = lo[1]; i[1] < lo[1] + size[1]; i[1]++)
      for (i[0] = lo[0]; i[0] < lo[0] + size[0]; i[0]++)
        f(i, i[0] - ghost[0] + (ptrdiff_t)width[0] * (i[1] - ghost[1] + (ptrdiff_t)width[1] * (i[2] - ghost[2])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ∂v/∂n; upper: the wall is above the fluid along the axis.
static PetscErrorCode DataOfWalls(PetscInt, const PetscReal[], PetscInt axis, PetscBool upper, PetscScalar *g, void *) {
  *g = axis ? 0 : upper ? -1 : 1;
  return PETSC_SUCCESS;
}

// The size of the flux in the cells of the fluid: the means of both faces.
static PetscErrorCode ComputeFlux(DM da, const Medium &medium, Vec v, Vec flux) {
  Vec                local;
  const PetscScalar *values;
  PetscScalar       *sizes;
  PetscInt           width[2], point = 0;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetGhostCorners(da, NULL, NULL, NULL, &width[0], &width[1], NULL));
  PetscCall(DMGetLocalVector(da, &local));
  PetscCall(DMGlobalToLocal(da, v, INSERT_VALUES, local));
  PetscCall(VecGetArrayRead(local, &values));
  PetscCall(VecGetArrayWrite(flux, &sizes));
  PetscCall(ForEachPoint(da, [&](const PetscInt i[3], ptrdiff_t at) {
    const ptrdiff_t stride[] = {1, width[0], (ptrdiff_t)width[0] * width[1]};
    PetscReal       square = 0;
    for (PetscInt a = 0; a < medium.dim; a++) {
      PetscReal mean = 0;
      for (int step = -1; step <= 1; step += 2) {
        PetscInt q[3] = {i[0], i[1], i[2]};
        q[a] += step;
        const PetscReal difference = PetscRealPart(values[at + step * stride[a]] - values[at]);
        if (!medium.is_solid(q)) mean += (step * difference / medium.h() + (a == 0)) / 2;
      }
      square += mean * mean;
    }
    sizes[point++] = medium.is_solid(i) ? std::numeric_limits<PetscReal>::infinity() : PetscSqrtReal(square);
  }));
  PetscCall(VecRestoreArrayWrite(flux, &sizes));
  PetscCall(VecRestoreArrayRead(local, &values));
  PetscCall(DMRestoreLocalVector(da, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  DM             da;
  Mat            A;
  KSP            ksp;
  PC             pc;
  Vec            mask, v, b;
  Medium         medium;
  PetscInt       iterations, seed = 1, kind = 0;
  PetscReal      solid = 0.4, counts[2] = {0, 0}; // of solid points, of faces across x between two points of the fluid
  PetscScalar   *values, work;
  std::string    file;
  picture::Panel panel;
  const char    *kinds[] = {"random", "array"};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PictureGetFile("obstacles", {"-dim", "-n", "-medium", "-solid", "-radius", "-seed"}, &file));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &medium.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &medium.n, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-medium", kinds, 2, &kind, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-solid", &solid, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-radius", &medium.radius, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  const PetscInt dim = medium.dim, n = medium.n;
  PetscCheck((dim == 2 || dim == 3) && n > 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dim is %" PetscInt_FMT " and -n %" PetscInt_FMT "; give 2 or 3, and 3 cells or more", dim, n);
  PetscCheck(solid >= 0 && solid < 1 && medium.radius > 0 && medium.radius <= PetscReal(0.5), PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE, "-solid is %g and -radius %g; give 0 <= solid < 1, 0 < radius <= 0.5",
             (double)solid, (double)medium.radius);

  // the grains
  const auto volume = [&](PetscReal r) { return dim == 2 ? PETSC_PI * r * r : 4 * PETSC_PI / 3 * r * r * r; };
  if (kind == 1) {
    medium.radius = PetscPowReal(solid / volume(1), PetscReal(1) / dim);
    medium.centers.push_back({0.5, 0.5, 0.5});
  }
  Random random{(unsigned long long)seed};
  for (int grain = 0; kind == 0 && grain < std::lround(-PetscLogReal(1 - solid) / volume(medium.radius)); grain++) {
    medium.centers.push_back({});
    for (PetscReal &x : medium.centers.back()) x = random.next();
  }

  // -Δ in the fluid
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
  PetscCall(DMSetDimension(da, dim));
  PetscCall(DMDASetSizes(da, n, n, dim > 2 ? n : 1));
  PetscCall(DMDASetBoundaryType(da, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC));
  PetscCall(DMDASetDof(da, 1));
  PetscCall(DMDASetStencilWidth(da, 1));
  PetscCall(DMDASetStencilType(da, DMDA_STENCIL_STAR));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &mask));
  PetscCall(VecGetArrayWrite(mask, &values));
  PetscInt point = 0;
  PetscCall(ForEachPoint(da, [&](const PetscInt i[3], ptrdiff_t) {
    const PetscInt east[] = {i[0] + 1, i[1], i[2]};
    const bool     is_solid = medium.is_solid(i);
    values[point++] = is_solid;
    counts[0] += is_solid;
    counts[1] += !is_solid && !medium.is_solid(east);
  }));
  PetscCall(VecRestoreArrayWrite(mask, &values));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(ShellacInitializePackage());
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetDM(A, da));
  PetscCall(MatSetType(A, MATDIFFUSION));
  PetscCall(MatDiffusionSetMask(A, mask));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));

  // v is determined but for a constant in each pore that is connected, and there is a solution: nothing flows into a pore
  PetscCall(MatCreateVecs(A, &v, &b));
  PetscCall(MatLaplaceAddBoundary(A, DataOfWalls, NULL, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSTENCILMG));
  PetscCall(KSPSetTolerances(ksp, PetscReal(1e-8), PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, v));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));

  // the mean flux along x: 1 on each open face, and the differences of v, which add up to -h²b·v
  PetscCall(VecTDot(b, v, &work));
  const PetscReal cells = PetscPowReal(n, dim), c = counts[0] / cells, fluid = 1 - c;
  const PetscReal mean = counts[1] / cells - PetscRealPart(work) / cells;
  const PetscReal array = dim == 2 ? 1 - 2 * c / (1 + c - 0.305827 * PetscPowReal(c, 4) - 0.013362 * PetscPowReal(c, 8))
                                   : 1 - 3 * c / (2 + c - 0.9785 * PetscPowReal(c, PetscReal(10) / 3));
  const PetscReal bound = fluid / (1 - PetscLogReal(fluid) / (dim - 1));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s %s, %" PetscInt_FMT "%s cells, %.4f of them solid: %" PetscInt_FMT
                        " iterations; effective diffusivity %.5f, %s %.5f\n",
                        kind ? "array of" : "random", dim == 2 ? "discs" : "spheres", n, dim == 2 ? "²" : "³",
                        (double)c, iterations, (double)mean, kind ? "by Rayleigh" : "Weissberg's bound",
                        (double)(kind ? array : bound)));

  const PetscReal first[3] = {medium.h() / 2, medium.h() / 2, medium.h() / 2},
                  spacing[3] = {medium.h(), medium.h(), medium.h()};
  PetscCall(ComputeFlux(da, medium, v, b));
  PetscCall(GridSetCoordinates(da, first, spacing));
  PetscCall(PictureSetField(da, b, first, spacing, &panel));
  panel.values = picture::inner_range(panel.field.values, 0.005);
  panel.value_name = "|flux|";
  PetscCall(PictureWrite(da, b, {panel}, 1, "Diffusion around obstacles", file));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  for (Vec *vector : {&mask, &v, &b}) PetscCall(VecDestroy(vector));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
