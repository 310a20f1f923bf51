#pragma once
// Variable coefficients for the tests of stencilmg.

#include "multigrid.hpp"

namespace tests {

// -div(a grad u) + sigma u, times h² along each axis, by the harmonic mean of a at neighbouring points.
enum class Medium { smooth, blocks, checkerboard, inclusion, crack, random, sharp_blocks };
struct MediumCase {
  Medium      medium;
  const char *name;
  PetscInt    most; // steps of CG to 1e-11: more where points of high conductivity stand alone, which no grid resolves
};
constexpr MediumCase media[] = {
    {Medium::smooth, "smooth", 9},        {Medium::blocks, "blocks", 14}, {Medium::checkerboard, "checkerboard", 40},
    {Medium::inclusion, "inclusion", 14}, {Medium::crack, "crack", 14},   {Medium::random, "random", 100}};

inline PetscReal conductivity(Medium medium, const Lattice &l, const PetscInt p[3]) {
  PetscReal x[3];
  PetscInt  cells[2] = {0, 0};
  for (int a = 0; a < 3; a++) {
    x[a] = l.N[a] > 1 ? (p[a] + PetscReal(0.5)) / l.N[a] : PetscReal(0.3);
    cells[0] += (PetscInt)(PetscReal(3.3) * x[a] + PetscReal(0.1) * (a + 1)); // aligned to no coarse grid
    cells[1] += (PetscInt)(PetscReal(5.3) * x[a]);
  }
  const PetscReal distance = PetscAbsReal(x[0] + PetscReal(0.3) * x[1] - PetscReal(0.6)) * l.N[0];
  switch (medium) {
  case Medium::smooth:
    return PetscExpReal(2 * PetscSinReal(2 * PETSC_PI * x[0]) * PetscSinReal(3 * x[1]) * PetscCosReal(2 * x[2]));
  case Medium::blocks:
    return cells[0] % 2 ? 1000 : 1;
  case Medium::checkerboard:
    return cells[1] % 2 ? 1000 : 1;
  case Medium::inclusion:
    return distance < 1 ? 1000 : 1;
  case Medium::crack:
    return distance < 1 ? PetscReal(1e-3) : 1;
  case Medium::sharp_blocks:
    return cells[0] % 2 ? 1e6 : 1;
  default:
    return PetscPowReal(10, 3 * PetscRealPart(random_value(l.natural(p), 79)));
  }
}

inline Fill medium_fill(const Lattice &l, Medium medium, MatLaplaceBoundaryType boundary, PetscScalar sigma) {
  const auto ends = [=](const PetscInt p[3]) {
    bool is = false;
    for (int a = 0; a < l.dim; a++)
      is = is || (l.ends[a] == DM_BOUNDARY_NONE && l.N[a] > 2 && (p[a] == 0 || p[a] == l.N[a] - 1));
    return is;
  };
  const auto k = std::make_shared<std::vector<PetscReal>>((size_t)(l.N[0] * l.N[1] * l.N[2])); // once a point
  PetscInt   r[3];
  for (r[2] = 0; r[2] < l.N[2]; r[2]++)
    for (r[1] = 0; r[1] < l.N[1]; r[1]++)
      for (r[0] = 0; r[0] < l.N[0]; r[0]++) (*k)[l.natural(r)] = conductivity(medium, l, r);
  const auto edge = [=](const PetscInt p[3], const PetscInt arm[3]) -> PetscReal {
    PetscInt q[3], length2 = 0;
    for (int a = 0; a < 3; a++) {
      q[a] = p[a] + arm[a];
      length2 += arm[a] * arm[a];
      const bool outside = q[a] < 0 || q[a] >= l.N[a];
      if (!outside) continue;
      if (l.ends[a] == DM_BOUNDARY_PERIODIC)
        q[a] = (q[a] + l.N[a]) % l.N[a];
      else if (l.ends[a] == DM_BOUNDARY_MIRROR)
        q[a] = p[a] - arm[a];
      else if (boundary == MAT_LAPLACE_NEUMANN)
        return 0;
      else
        q[a] = p[a];
    }
    const PetscReal one = (*k)[l.natural(p)], other = (*k)[l.natural(q)];
    return 2 * one * other / (one + other) / (PetscReal)length2;
  };
  const Points arms = l.arms();
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const bool diagonal = !arm[0] && !arm[1] && !arm[2];
    if (boundary == MAT_LAPLACE_IDENTITY && ends(p)) {
      *block = diagonal ? 2 : 0;
      return;
    }
    *block = diagonal ? sigma : PetscScalar(-edge(p, arm));
    for (const Point &other : arms)
      if (diagonal && (other[0] || other[1] || other[2])) *block += edge(p, other.data());
  };
}

// Each row times a weight of its point.
inline Fill scaled_fill(const Lattice &l, const Fill &fill) {
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    fill(p, arm, block);
    *block *= PetscExpReal(PetscSinReal(1 + 0.7 * l.natural(p)));
  };
}

// A velocity at each point.
using Wind = std::function<void(const PetscReal x[3], PetscReal w[3])>;

inline void rotate(const PetscReal x[3], PetscReal w[3]) {
  w[0] = x[1] - 0.5, w[1] = 0.5 - x[0], w[2] = 0.3 * x[0];
}
inline void meander(const PetscReal x[3], PetscReal w[3]) {
  w[0] = 1 + 0.5 * PetscSinReal(7 * x[1]), w[1] = PetscCosReal(5 * x[0]), w[2] = PetscSinReal(3 * x[0] + x[1]);
}

// h² (-νΔu + w·∇u), by upwind or central differences; u = 0 beyond the ends.
inline Fill convection_fill(const Lattice &l, PetscReal nu, const Wind &wind, bool upwind) {
  const PetscReal h = PetscReal(1) / (l.N[0] + 1);
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    PetscReal x[3], w[3];
    for (int a = 0; a < 3; a++) x[a] = (p[a] + 1) * h;
    wind(x, w);
    *block = 0;
    for (int a = 0; a < l.dim; a++) {
      const PetscReal along = w[a] * h, size = upwind ? PetscAbsReal(along) : 0;
      if (arm[a] && PetscAbsInt(arm[0]) + PetscAbsInt(arm[1]) + PetscAbsInt(arm[2]) == 1)
        *block = -nu + (arm[a] * along - size) / 2;
      if (!arm[0] && !arm[1] && !arm[2]) *block += 2 * nu + size;
    }
  };
}

} // namespace tests
