#pragma once
// Systems of equations on a grid, for tests of stencilmg where a point has several unknowns.

#include "catch.hpp"
#include "multigrid.hpp"

namespace tests {

inline Matrix captured(const Lattice &l, const Fill &fill, DM *da) {
  REQUIRE(try_make_grid(l, da));
  return captured(*da, fill);
}

// ---- systems of equations

// Rows of h² L, h the spacing along the first axis; unknowns at the ends of the domain are given where nodes, and zero
// one spacing beyond them elsewhere.
struct Equations {
  const char     *name;
  PetscInt        dof;
  DMDAStencilType shape;
  // h² L at a point: the block of the arm, h at hand
  std::function<void(PetscReal h, const PetscInt p[3], const PetscInt arm[3], int dim, PetscScalar *block)> block;
};

inline PetscReal laplacian(const PetscInt arm[3], int dim) { // −h²Δ
  const int steps = (arm[0] != 0) + (arm[1] != 0) + (arm[2] != 0);
  return steps == 0 ? 2 * dim : steps == 1 ? -1 : 0;
}

inline void reaction_diffusion(PetscReal h, const PetscInt *, const PetscInt arm[3], int dim, PetscScalar *block) {
  const bool      here = !arm[0] && !arm[1] && !arm[2];
  const PetscReal k[3][3] = {{5, -3, 1}, {-2, 4, 0}, {1, 1, 30}}, D[] = {1, 0.1, 2};
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      block[3 * r + c] = (r == c ? D[r] * laplacian(arm, dim) : 0) + (here ? h * h * k[r][c] : 0);
}

// Displacements of an elastic body: −μΔu − (λ + μ)∇(∇·u), λ = 2μ
inline void elasticity(PetscReal, const PetscInt *, const PetscInt arm[3], int dim, PetscScalar *block) {
  const int steps = (arm[0] != 0) + (arm[1] != 0) + (arm[2] != 0);
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) {
      PetscReal value = r == c ? laplacian(arm, dim) : 0; // μ = 1
      if (r == c && (steps == 0 || (steps == 1 && arm[r]))) value += 3 * (steps ? -1 : 2);
      if (r != c && steps == 2 && arm[r] && arm[c]) value -= 3 * (PetscReal)(arm[r] * arm[c]) / 4;
      block[dim * r + c] = value;
    }
}

// Vorticity and stream function with a wind, as in a driven cavity: −Δψ = ω, −Δω + w·∇ω = 0 with upwind differences.
inline void vorticity(PetscReal h, const PetscInt p[3], const PetscInt arm[3], int dim, PetscScalar *block) {
  const bool      here = !arm[0] && !arm[1] && !arm[2];
  const PetscReal x = h * (PetscReal)p[0], y = h * (PetscReal)p[1];
  const PetscReal w[3] = {40 * (PetscReal)(y - 0.5), -40 * (PetscReal)(x - 0.5), 10};
  PetscReal       upwind = 0;
  for (int a = 0; a < dim; a++) {
    if (here) upwind += h * PetscAbsReal(w[a]);
    if (arm[a] && (w[a] > 0) == (arm[a] < 0)) upwind -= h * PetscAbsReal(w[a]);
  }
  block[0] = laplacian(arm, dim);
  block[1] = here ? -h * h : 0;
  block[2] = 0;
  block[3] = laplacian(arm, dim) + upwind;
}

// Two unknowns on a grid whose points are four times as far apart along the second axis.
inline void stretched(PetscReal h, const PetscInt *, const PetscInt arm[3], int, PetscScalar *block) {
  const bool      here = !arm[0] && !arm[1] && !arm[2];
  const PetscReal value = here ? 2 * (1 + PetscReal(1) / 16) : arm[0] ? -1 : -PetscReal(1) / 16;
  block[0] = block[3] = value;
  block[1] = here ? h * h : 0;
  block[2] = -block[1];
}

const Equations reacting = {"reaction and diffusion", 3, DMDA_STENCIL_STAR, reaction_diffusion};
const Equations elastic_2d = {"elasticity", 2, DMDA_STENCIL_BOX, elasticity},
                elastic_3d = {"elasticity in 3-D", 3, DMDA_STENCIL_BOX, elasticity};
const Equations far_apart = {"a stretched grid", 2, DMDA_STENCIL_STAR, stretched};
const Equations turning = {"vorticity in a wind", 2, DMDA_STENCIL_STAR, vorticity};

inline Lattice lattice_for(const Equations &of, const Point &N, const std::vector<DMBoundaryType> &ends = {}) {
  Lattice l = lattice(N, ends, of.shape);
  l.dof = of.dof;
  return l;
}

// nodes: rows of points at open ends are the identity's.
inline Fill fill_of(const Equations &of, const Lattice &l, bool nodes) {
  const PetscReal h = 1 / (PetscReal)(nodes ? l.N[0] - 1 : l.N[0] + 1);
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    bool end = false;
    for (int a = 0; a < l.dim; a++)
      end = end || (nodes && l.ends[a] == DM_BOUNDARY_NONE && (p[a] == 0 || p[a] == l.N[a] - 1));
    of.block(h, p, arm, l.dim, block);
    for (PetscInt r = 0; r < l.dof && end; r++)
      for (PetscInt c = 0; c < l.dof; c++) block[r * l.dof + c] = !arm[0] && !arm[1] && !arm[2] && r == c;
  };
}

constexpr DMBoundaryType open_end = DM_BOUNDARY_NONE, periodic = DM_BOUNDARY_PERIODIC;

} // namespace tests
