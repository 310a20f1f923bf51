#pragma once
// What the tests of solves with kernel sums share.

#include "misuse.hpp"
#include "sums.hpp"

namespace tests::sums {

struct Solve { // GMRES with the options of the database
  KSP ksp = NULL;

  explicit Solve(Mat A, MPI_Comm comm = PETSC_COMM_WORLD) {
    PC pc;
    OK(KSPCreate(comm, &ksp));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetType(ksp, KSPGMRES));
    OK(KSPGMRESSetRestart(ksp, 100));
    OK(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCKERNELSUM));
    OK(KSPSetPCSide(ksp, PC_RIGHT)); // the norm is that of the true residual
    OK(KSPSetFromOptions(ksp));
  }
  ~Solve() { KSPDestroy(&ksp); }
  PC pc() const {
    PC pc;
    OK(KSPGetPC(ksp, &pc));
    return pc;
  }
  int solve(Vec f, Vec c) const { // iterations, or -1
    PetscInt           its;
    KSPConvergedReason reason;
    OK(KSPSolve(ksp, f, c));
    OK(KSPGetIterationNumber(ksp, &its));
    OK(KSPGetConvergedReason(ksp, &reason));
    return reason > 0 ? (int)its : -1;
  }
};

inline std::string variant_of(const Solve &solver) {
  const std::string text = printed([&] { OK(PCView(solver.pc(), PETSC_VIEWER_STDOUT_WORLD)); });
  for (const char *name : {"symmetric", "restricted"})
    if (text.find(std::string(name) + " variant") != std::string::npos) return name;
  return text;
}

// Points of a square or cubic lattice, each moved by `random` spacings at most.
inline Cloud lattice(PetscInt along, int dim, PetscReal random) {
  PetscInt N = 1;
  for (int a = 0; a < dim; a++) N *= along;
  Cloud cloud = random_cloud(N, dim, 5, Spread::even, -random / along, 2 * random / along);
  for (PetscInt i = 0; i < N; i++)
    for (PetscInt a = 0, rest = i; a < dim; a++, rest /= along)
      cloud.x[(size_t)(i * dim + a)] += (PetscReal)(rest % along) / along;
  return cloud;
}

} // namespace tests::sums
