#pragma once
// What tests of captured matrices have in common.

#include "support.hpp"

namespace tests {

inline Lattice plane(PetscInt dof = 1, PetscInt Nx = 9, PetscInt Ny = 8) {
  Lattice l;
  l.N[0] = Nx, l.N[1] = Ny;
  l.dof = dof;
  return l;
}

inline void fill_and_assemble(DM da, Mat M, const Fill &fill) {
  set_rows(da, M, fill, Way::stencil, INSERT_VALUES);
  assemble(M);
}
inline void fill_and_assemble(Twins &t, const Fill &fill) {
  t.both([&](DM da, Mat M) {
    OK(MatZeroEntries(M));
    fill_and_assemble(da, M, fill);
  });
}

// PETSc numbers the objects that it makes.
inline PetscObjectId next_object() {
  Vec           v;
  PetscObjectId id;
  OK(VecCreate(PETSC_COMM_SELF, &v));
  OK(PetscObjectGetId((PetscObject)v, &id));
  OK(VecDestroy(&v));
  return id;
}

// ---- sweeps

using Values = std::vector<PetscScalar>;

struct Sweeps { // of MatSOR()
  const char *name;
  int         type;
  PetscReal   omega, shift;
  PetscInt    its, lits;

  bool from_zero() const { return type & SOR_ZERO_INITIAL_GUESS; }
  bool forward() const { return type & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP); }
  bool backward() const { return type & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP); }
};

const Sweeps all_sweeps[] = {
    {"forward", SOR_LOCAL_FORWARD_SWEEP, 1, 0, 1, 1},
    {"backward, overrelaxed", SOR_LOCAL_BACKWARD_SWEEP, 1.3, 0, 1, 1},
    {"symmetric, twice", SOR_LOCAL_SYMMETRIC_SWEEP, 1, 0, 2, 1},
    {"symmetric, overrelaxed, twice", SOR_SYMMETRIC_SWEEP, 1.3, 0, 2, 1},
    {"symmetric, underrelaxed, three by two", SOR_SYMMETRIC_SWEEP, 0.8, 0, 3, 2},
    {"forward, shifted, two local sweeps", SOR_FORWARD_SWEEP, 1, 3, 1, 2},
    {"forward from zero", SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS, 1, 0, 1, 1},
    {"backward from zero, underrelaxed", SOR_LOCAL_BACKWARD_SWEEP | SOR_ZERO_INITIAL_GUESS, 0.7, 0, 1, 1},
    {"backward from zero, shifted, three times", SOR_LOCAL_BACKWARD_SWEEP | SOR_ZERO_INITIAL_GUESS, 1.2, 2, 3, 1},
    {"symmetric from zero", SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, 1, 0, 1, 1},
    {"symmetric from zero, overrelaxed and shifted", SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, 1.2, 2, 1, 1},
    {"symmetric from zero, overrelaxed, twice", SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, 1.4, 0, 2, 1},
    {"symmetric from zero, two by two", SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, 1, 0, 2, 2},
    {"symmetric from zero, overrelaxed, two by two", SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, 1.1, 0, 2, 2},
    {"no sweep, from zero", SOR_ZERO_INITIAL_GUESS, 1, 0, 1, 1},
};

// ---- differences by colouring

using ResidualOfFD = PetscErrorCode(void *, Vec, Vec, void *);

// Whose function's type differs from release to release.
template <class Function>
PetscErrorCode set_function(PetscErrorCode (*set)(MatFDColoring, Function *, void *), MatFDColoring fd,
                            ResidualOfFD *residual, void *context) {
  return (*set)(fd, reinterpret_cast<Function *>(reinterpret_cast<void (*)()>(residual)), context);
}

// f = B u + u³, where the vectors are. PETSc's differences bind u to the host, and a duplicate of it then has no memory
// there.
inline PetscErrorCode cubic_residual(void *, Vec u, Vec f, void *B) {
  Vector cube;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs((Mat)B, NULL, &cube));
  PetscCall(MatMult((Mat)B, u, f));
  PetscCall(VecPointwiseMult(cube, u, u));
  PetscCall(VecPointwiseMult(cube, cube, u));
  PetscCall(VecAXPY(f, 1, cube));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace tests
