#pragma once
// What poisson.cpp (the problem and its solution) and poisson_compare.cpp (the assembled matrix, times, the table) share.

#include <petscdmda.h>
#include <petscksp.h>
#include <shellac.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

// The problem, and the nodes of its grid.
struct Problem {
  DM                     da;
  char                   equation[128];
  PetscInt               dim;
  PetscInt               N[3];       // nodes along each axis
  MatLaplaceBoundaryType boundary;   // what holds at the ends of the axes
  PetscReal              lengths[3]; // of the domain, whose lower corner is the origin [length]
  PetscReal              first[3];   // coordinates of the first node [length]
  PetscReal              h[3];       // spacing of the nodes [length]
  PetscScalar            sigma;      // σ of -Δu + σu [1/length²]
  PetscBool              singular;   // constants solve the homogeneous problem

  bool on_boundary(const PetscInt p[3]) const {
    bool on = false;
    for (PetscInt a = 0; a < dim; a++) on = on || p[a] == 0 || p[a] == N[a] - 1;
    return on;
  }
};

// What is known of one way to solve it; times in seconds.
struct Run {
  const char        *name;
  Mat                A;
  Vec                u;
  PetscLogDouble     bytes, matmult_time, solve_time;
  PetscInt           iterations;
  KSPConvergedReason reason;
};

// Calls f(p, local index) for each node of this rank.
template <class Function> PetscErrorCode ForEachNode(DM da, Function f) {
  PetscInt start[3], size[3], at = 0, p[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  for (p[2] = start[2]; p[2] < start[2] + size[2]; p[2]++)
    for (p[1] = start[1]; p[1] < start[1] + size[1]; p[1]++)
      for (p[0] = start[0]; p[0] < start[0] + size[0]; p[0]++) PetscCall(f(p, at++));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- poisson_compare.cpp

// The same matrix assembled by MatSetValuesStencil(), of the AIJ type that computes where the DM's vectors are.
PetscErrorCode AssembleAIJ(const Problem &problem, Mat *B);

// Bytes that each stores, over all ranks, and the time of one product.
PetscErrorCode MeasureMatrixFree(const Problem &problem, Vec x, Run *run);
PetscErrorCode MeasureAIJ(Vec x, Run *run);

// Waits for the device, if v is on one.
PetscErrorCode Synchronize(Vec v);

PetscErrorCode PrintTable(const Problem &problem, const Run &free, const Run &assembled);

// One line: how stencilmg solves the same equations, beside the solution that the table tells of.
PetscErrorCode PrintMultigrid(const Run &multigrid, const Run &assembled);
