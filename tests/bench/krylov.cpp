// The time of Krylov methods: PETSc's cg beside fusedcg, or others, as bcgs beside fusedbcgs.

#include <string>
#include <vector>

#include "timing.hpp"

static const char help[] =
    "Prints the time of an iteration of cg and of fusedcg for -Δu, and that of a whole solve to a "
    "relative residual of 1e-8.\n"
    "  -types cg,fusedcg         methods\n"
    "  -sizes 255,1023           points of an axis\n"
    "  -dim 2                    axes\n"
    "  -pc jacobi,stencilmg      preconditioners\n"
    "  -iterations 200           at most; with jacobi and none exactly so many\n"
    "  -seconds 0.2              time for each figure\n\n";

using Names = std::vector<std::string>;

static PetscErrorCode measure(DM da, Mat A, Vec b, Vec x, const char *pc, const Names &types, PetscInt iterations,
                              PetscReal seconds) {
  const bool    whole = !strcmp(pc, "stencilmg");
  PetscReal     copy_time;
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(time_of(
      seconds, [&] { return copy(b, x); }, &copy_time));
  for (const std::string &type : types) {
    KSP       ksp;
    PC        preconditioner;
    PetscInt  its;
    PetscReal time;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetType(ksp, type.c_str()));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPGetPC(ksp, &preconditioner));
    PetscCall(PCSetType(preconditioner, pc));
    PetscCall(KSPSetTolerances(ksp, whole ? 1e-8 : 1e-300, PETSC_DEFAULT, PETSC_DEFAULT, iterations));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(time_of(
        seconds, [&] { return KSPSolve(ksp, b, x); }, &time));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%5" PetscInt_FMT "  %-10s %-8s %5" PetscInt_FMT " %12.1f %12.3f %8.1f\n",
                          info.mx, pc, type.c_str(), its, (double)(1e6 * time / (double)its), (double)(1e3 * time),
                          (double)(time / (double)its / copy_time)));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of an option, which may not be there.
static PetscErrorCode get_names(const char *option, Names *names) {
  char     *given[8];
  PetscInt  count = 8;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, option, given, &count, &set));
  if (set) names->assign(given, given + count);
  for (PetscInt n = 0; set && n < count; n++) PetscCall(PetscFree(given[n]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscInt  sizes[16] = {255, 1023}, count = 16, dim = 2, iterations = 200;
  Names     pc = {"jacobi", "stencilmg"}, types = {"cg", "fusedcg"};
  PetscReal seconds = 0.2;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ShellacInitializePackage());
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &count, &set));
  if (!set) count = 2;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &iterations, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCall(get_names("-pc", &pc));
  PetscCall(get_names("-types", &types));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "    N  pc         ksp        its  us/iteration     ms/solve copies/iteration\n"));
  for (PetscInt s = 0; s < count; s++) {
    const PetscInt N = sizes[s];
    DM             da;
    Mat            A;
    Vec            b, x;
    PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
    PetscCall(DMSetDimension(da, dim));
    PetscCall(DMDASetSizes(da, N, dim > 1 ? N : 1, dim > 2 ? N : 1));
    PetscCall(DMDASetStencilType(da, DMDA_STENCIL_STAR));
    PetscCall(DMDASetStencilWidth(da, 1));
    PetscCall(DMDASetDof(da, 1));
    PetscCall(DMSetFromOptions(da));
    PetscCall(DMSetUp(da));
    PetscCall(MatCreateLaplace(da, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSetRandom(b, NULL));
    for (const std::string &name : pc) PetscCall(measure(da, A, b, x, name.c_str(), types, iterations, seconds));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscFinalize());
  return 0;
}
