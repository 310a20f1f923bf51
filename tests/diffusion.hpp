#pragma once
// Operators with fields: what the tests of diffusion and advection_diffusion share.

#include "domain.hpp"

namespace tests {

struct Medium : Domain {
  MatDiffusionMeanType            mean = MAT_DIFFUSION_HARMONIC;
  bool                            on_faces = false; // k is given there
  bool                            advection = false;
  MatAdvectionDiffusionSchemeType scheme = MAT_ADVECTION_DIFFUSION_CENTRAL;

  std::function<PetscReal(const PetscReal x[])>           k = [](const PetscReal[]) { return 1; };
  std::function<PetscReal(const PetscReal x[], int axis)> w = [](const PetscReal[], int) { return 0; };

  std::function<bool(const PetscInt i[3])> solid; // none: no point is
  MatDiffusionWallType                     wall = MAT_DIFFUSION_WALL_NOFLUX;

  bool      is_solid(const PetscInt i[3]) const { return solid && solid(i); }
  PetscReal k_at(const PetscInt i[3]) const { // of no use in a solid
    PetscReal point[3];
    if (is_solid(i)) return std::nan("");
    place(i, point);
    return k(point);
  }
  PetscReal k_on_face(const PetscInt i[3], int axis) const { // between the point and the one before it
    PetscReal point[3];
    place(i, point);
    point[axis] -= h(axis) / 2;
    return k(point);
  }
  PetscReal w_at(const PetscInt i[3], int axis) const {
    PetscReal point[3];
    place(i, point);
    return is_solid(i) ? std::nan("") : w(point, axis); // of no use in a solid
  }
};

inline std::string describe(const Medium &m) {
  return std::string(m.on_faces ? "k on faces" : MatDiffusionMeanTypes[m.mean]) +
         (m.advection ? std::string(", ") + MatAdvectionDiffusionSchemeTypes[m.scheme] : "") + m.text();
}

// Any k and w, rough, that are the same on both sides of a periodic end.
inline PetscReal rough(const PetscReal x[], int seed) {
  return 1 + 0.9 * PetscRealPart(random_value((size_t)(1000 * x[0] + 777 * x[1] + 333 * x[2] + 0.5), seed));
}

inline Vector coefficient(const Medium &m, DM da) {
  Vector k = make_vector(da);
  set_values(da, k, [&](const PetscInt i[3]) { return (PetscScalar)m.k_at(i); });
  return k;
}

inline std::vector<Vector> face_coefficients(const Medium &m, DM da) {
  std::vector<Vector> k;
  for (int a = 0; a < m.dim; a++) {
    k.push_back(make_vector(da));
    set_values(da, k[a], [&](const PetscInt i[3]) { return (PetscScalar)m.k_on_face(i, a); });
  }
  return k;
}

inline Vector mask(const Medium &m, DM da) {
  Vector values = make_vector(da);
  set_values(da, values, [&](const PetscInt i[3]) { return PetscScalar(m.is_solid(i) ? -0.5 : 0); });
  return values;
}

// The point next to another one, which is beyond an end of the domain unless the axis goes on there.
inline bool leaves(const Medium &m, const PetscInt i[3], int a, PetscInt step, PetscInt next[3]) {
  for (int b = 0; b < 3; b++) next[b] = i[b] + (b == a ? step : 0);
  const bool beyond = next[a] < 0 || next[a] >= m.N[a];
  if (beyond && m.ends[a] == DM_BOUNDARY_PERIODIC) next[a] = (next[a] + m.N[a]) % m.N[a];
  if (beyond && m.ends[a] == DM_BOUNDARY_MIRROR) next[a] = i[a] - step;
  return beyond && m.open(a);
}

// A solid point, or one that walls and ends without a flux shut in.
inline bool is_fixed(const Medium &m, const PetscInt i[3]) {
  bool shut = m.solid && m.wall == MAT_DIFFUSION_WALL_NOFLUX && m.sigma == PetscScalar(0);
  if (m.is_solid(i)) return true;
  for (int a = 0; a < m.dim && shut; a++)
    for (int side = 0; side < 2; side++) {
      PetscInt   next[3];
      const bool beyond = leaves(m, i, a, side ? 1 : -1, next);
      shut = shut && (beyond ? m.forms[a][side] == MAT_LAPLACE_NEUMANN : m.is_solid(next));
    }
  return shut;
}

inline Vector velocity(const Medium &m, DM da) {
  Grid         vectors;
  Vector       w;
  PetscScalar *values;
  size_t       n = 0;
  OK(DMDACreateCompatibleDMDA(da, m.dim, &vectors));
  OK(DMCreateGlobalVector(vectors, &w));
  OK(VecGetArray(w, &values));
  for_each_owned(da, [&](const PetscInt i[3]) {
    for (int a = 0; a < m.dim; a++) values[n++] = m.w_at(i, a);
  });
  OK(VecRestoreArray(w, &values));
  return w;
}

inline bool make(const Medium &m, Grid &da, Matrix &A, bool fields = true) {
  if (!begin(m, m.advection ? MATADVECTIONDIFFUSION : MATDIFFUSION, da, A)) return false;
  OK(MatDiffusionSetShift(A, m.sigma));
  OK(MatDiffusionSetMean(A, m.mean));
  if (fields && m.on_faces) {
    const std::vector<Vector> k = face_coefficients(m, da);
    const std::vector<Vec>    vectors(k.begin(), k.end());
    OK(MatDiffusionSetFaceCoefficients(A, m.dim, vectors.data()));
  } else if (fields)
    OK(MatDiffusionSetCoefficient(A, coefficient(m, da)));
  if (m.solid) OK(MatDiffusionSetMask(A, mask(m, da)));
  OK(MatDiffusionSetWall(A, m.wall));
  OK(MatAdvectionDiffusionSetScheme(A, m.scheme));
  if (fields && m.advection) OK(MatAdvectionDiffusionSetVelocity(A, velocity(m, da)));
  OK(MatSetUp(A));
  return true;
}

// Calls set(row, column, value) for the entries of the owned rows, as a textbook has them. Entries of one column add up.
inline void for_each_entry(const Medium &m, DM da,
                           const std::function<void(const MatStencil &, const MatStencil &, PetscScalar)> &set) {
  for_each_owned(da, [&](const PetscInt i[3]) {
    MatStencil row = {};
    row.i = i[0], row.j = i[1], row.k = i[2];
    const bool identity = m.identity(i) || is_fixed(m, i);
    set(row, row, identity ? PetscScalar(1) : m.sigma);
    for (int a = 0; a < m.dim && !identity; a++)
      for (int side = 0; side < 2; side++) {
        const PetscInt  step = side ? 1 : -1;
        const PetscReal h = m.h(a), here = m.k_at(i);
        MatStencil      column = row;
        PetscInt        next[3];
        PetscInt       &to = a == 0 ? column.i : a == 1 ? column.j : column.k;
        const bool      beyond = leaves(m, i, a, step, next);
        if (beyond) next[a] = m.N[a] > 1 ? i[a] - step : i[a];
        const bool      is_wall = m.is_solid(next); // or, beyond an end, of no use to extrapolate from
        const PetscReal other = is_wall ? here : m.k_at(next), s = (here - other) / (here + other);
        PetscReal       face = beyond                             ? here + here * s * (1 - s * s) // extrapolated
                               : m.mean == MAT_DIFFUSION_HARMONIC ? 2 / (1 / here + 1 / other)
                                                                  : (here + other) / 2;
        if (m.on_faces) {
          PetscInt upper[3] = {i[0], i[1], i[2]}, before[3] = {i[0], i[1], i[2]}; // the face's upper point
          if (side) upper[a] = m.periodic(a) ? (i[a] + 1) % m.N[a] : i[a] + 1;
          if (m.ends[a] == DM_BOUNDARY_MIRROR && upper[a] == 0) upper[a] = 1;
          if (m.ends[a] == DM_BOUNDARY_MIRROR && upper[a] == m.N[a]) upper[a] = m.N[a] - 1;
          face = m.k_on_face(upper, a);
          if (upper[a] == m.N[a]) {
            before[a] = PetscMax(m.N[a] - 2, 0);
            const PetscReal last = m.k_on_face(i, a), one = m.k_on_face(before, a), t = (last - one) / (last + one);
            face = last + 2 * last * t * (1 - t * t);
          }
        }
        PetscReal center = face / (h * h), arm = -center;
        if (m.advection) {
          const PetscReal w = m.w_at(i, a);
          if (m.scheme == MAT_ADVECTION_DIFFUSION_CENTRAL)
            arm += (PetscReal)step * w / (2 * h);
          else if ((PetscReal)step * w < 0)
            arm -= PetscAbsReal(w) / h, center += PetscAbsReal(w) / h;
        }
        set(row, row, center);
        if (!beyond && is_wall)
          set(row, row, m.wall == MAT_DIFFUSION_WALL_VALUE ? -arm : arm);
        else if (!beyond)
          to = next[a], set(row, column, arm);
        else if (m.forms[a][side] == MAT_LAPLACE_NEUMANN)
          set(row, row, arm);
        else if (m.forms[a][side] == MAT_LAPLACE_ROBIN)
          set(row, row, arm * (1 - alpha * h / 2) / (1 + alpha * h / 2));
      }
  });
}

inline Matrix assemble_by_hand(const Medium &m, DM da) {
  Matrix B;
  AO     ao;
  OK(DMSetMatType(da, MATAIJ));
  OK(DMCreateMatrix(da, &B));
  OK(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  OK(DMDAGetAO(da, &ao));
  for_each_entry(m, da, [&](const MatStencil &row, const MatStencil &column, PetscScalar value) {
    PetscInt at[2] = {row.i + m.N[0] * (row.j + m.N[1] * row.k), column.i + m.N[0] * (column.j + m.N[1] * column.k)};
    OK(AOApplicationToPetsc(ao, 2, at));
    OK(MatSetValues(B, 1, &at[0], 1, &at[1], &value, ADD_VALUES));
  });
  OK(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  return B;
}

inline void check_operator(Mat A, Mat B, DM da) {
  Vector    x = random_vector(da, 3), y = make_vector(da), z = make_vector(da);
  PetscBool ours, theirs;
  CHECK(difference(A, B) <= 10 * exact);
  for (int transposed = 0; transposed < 2; transposed++) {
    OK(transposed ? MatMultTranspose(A, x, y) : MatMult(A, x, y));
    OK(transposed ? MatMultTranspose(B, x, z) : MatMult(B, x, z));
    CHECK(difference(y, z) <= 10 * exact);
  }
  Vector b = random_vector(da, 4);
  OK(MatMultAdd(A, x, b, y));
  OK(MatMultAdd(B, x, b, z));
  CHECK(difference(y, z) <= 10 * exact);
  OK(MatResidual(A, b, x, y));
  OK(MatResidual(B, b, x, z));
  CHECK(difference(y, z) <= 10 * exact);
  OK(MatGetDiagonal(A, y));
  OK(MatGetDiagonal(B, z));
  CHECK(difference(y, z) <= 10 * exact);
  OK(MatIsSymmetric(B, 1e-12, &theirs));
  OK(MatIsSymmetric(A, 1e-12, &ours));
  CHECK((!ours || theirs));
}

inline PetscReal solve(Mat A, Vec b, Vec x, const char *pc_type, KSPType type, PetscInt *iterations) {
  Solver             ksp;
  PC                 pc;
  KSPConvergedReason reason;
  PetscReal          norm;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, type));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, pc_type));
  if (std::string(type) == KSPGMRES) OK(KSPGMRESSetRestart(ksp, 300));
  OK(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 3000));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  if (iterations) OK(KSPGetIterationNumber(ksp, iterations));
  OK(KSPGetResidualNorm(ksp, &norm));
  return norm;
}

} // namespace tests
