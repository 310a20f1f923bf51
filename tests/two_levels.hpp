#pragma once
// Two levels of variable coefficients as dense matrices.

#include <algorithm>

#include "multigrid.hpp"
#include "multigrid/setup/ghost_points.hpp"
#include "multigrid/couplings.hpp"

namespace tests {

using Dense = std::vector<std::vector<PetscReal>>; // [row][column]

inline Dense product(const Dense &A, const Dense &B) {
  Dense C(A.size(), std::vector<PetscReal>(B[0].size(), 0));
  for (size_t i = 0; i < A.size(); i++)
    for (size_t k = 0; k < B.size(); k++)
      for (size_t j = 0; j < B[0].size(); j++) C[i][j] += A[i][k] * B[k][j];
  return C;
}

inline Dense transpose(const Dense &A) {
  Dense B(A[0].size(), std::vector<PetscReal>(A.size()));
  for (size_t i = 0; i < A.size(); i++)
    for (size_t j = 0; j < A[0].size(); j++) B[j][i] = A[i][j];
  return B;
}

inline PetscReal largest_difference(const Dense &A, const Dense &B) {
  PetscReal most = 0;
  for (size_t i = 0; i < A.size(); i++)
    for (size_t j = 0; j < A[0].size(); j++) most = PetscMax(most, PetscAbsReal(A[i][j] - B[i][j]));
  return most;
}

// The rows of one rank's grid as a dense matrix: of `rows`, on the host, with a patch that has nothing beyond it but images.
inline Dense dense_of(const shellac::CouplingArrays &rows, const shellac::Patch &patch) {
  const size_t n = (size_t)patch.all().points();
  Dense        A(n, std::vector<PetscReal>(n, 0));
  shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   row = patch.index(i, j, k), at = rows.grown.index(p);
    int            slot = shellac::FIRST_COUPLING;
    A[row][row] += PetscRealPart(rows.slot(shellac::SHIFT)[at]);
    rows.neighbours.each([&](const PetscInt *d) {
      const PetscReal c = PetscRealPart(rows.slot(slot++)[at]);
      PetscInt        q[3] = {i + d[0], j + d[1], k + d[2]};
      bool            inside = true;
      for (int a = 0; a < 3; a++) {
        if (patch.periodic[a]) q[a] = (q[a] + patch.N[a]) % patch.N[a];
        inside = inside && q[a] >= 0 && q[a] < patch.N[a];
      }
      A[row][row] += c;
      if (inside) A[row][patch.index(q[0], q[1], q[2])] -= c;
    });
  });
  return A;
}

inline shellac::Patch patch_of(const PetscInt N[3], const bool periodic[3]) {
  shellac::Patch patch = {};
  for (int a = 0; a < 3; a++) {
    patch.N[a] = patch.size[a] = N[a];
    patch.periodic[a] = periodic[a] && N[a] > 1;
  }
  return patch;
}

// The arrays in some memory, which has a copy where they were made in another.
inline shellac::CouplingArrays in_memory(PetscMemType memory, shellac::Couplings *rows) {
  shellac::CouplingArrays arrays = *rows;
  const PetscScalar      *values;
  OK(rows->memory_of_values.Get(memory, &values));
  arrays.values = const_cast<PetscScalar *>(values);
  if (!rows->mass) return arrays;
  OK(rows->memory_of_mass.Get(memory, &values));
  arrays.mass = const_cast<PetscScalar *>(values);
  return arrays;
}

enum class Rows { symmetric, weighted, nonsymmetric }; // weighted: symmetric with masses that differ

// Random-looking rows of a grid and, by the library, transfers that follow them; in this memory.
struct TwoLevels {
  PetscMemType                 memory;
  shellac::GridCoarsening      coarsening;
  shellac::Patch               patch, coarse_patch; // of the whole grids
  shellac::Couplings           fine;
  shellac::Mirror<PetscScalar> weights, of_restriction;
  Dense                        A, P, R;
  std::vector<PetscReal>       mass; // M A is symmetric

  TwoLevels(PetscMemType memory, const Point &N, bool stays, bool star, bool around, Rows kind);
  shellac::CouplingArrays       rows() { return in_memory(memory, &fine); } // there
  shellac::CouplingArrays       derived(shellac::DerivedRows which, shellac::Couplings *room);
  shellac::Mirror<PetscScalar> &restriction() { return of_restriction.size() ? of_restriction : weights; }

private:
  Dense interpolate(const shellac::CouplingArrays &rows, shellac::Mirror<PetscScalar> *weights) const;
};

// stays: the first axis is not coarsened. around: axes of an even number of points are periodic
inline TwoLevels::TwoLevels(PetscMemType where, const Point &N, bool stays, bool star, bool around, Rows kind)
    : memory(where) {
  const bool weighted = kind == Rows::weighted, one_way = kind == Rows::nonsymmetric;
  const bool periodic[3] = {around && N[0] % 2 == 0, around && N[1] % 2 == 0, around && N[2] % 2 == 0};
  PetscInt   coarse_N[3];
  bool       coarse_periodic[3];

  patch = coarsening.patch = patch_of(N.data(), periodic);
  fine.grown = patch.all();
  fine.neighbours.star = star;
  for (int a = 0; a < 3; a++) {
    const bool along = N[(size_t)a] > 1, coarsens = along && !(stays && a == 0);
    fine.neighbours.present[a] = along;
    coarsening.axis[a].coarsens = coarsens;
    coarsening.axis[a].offset = coarsens && !patch.periodic[a] ? 1 : 0;
    coarse_N[a] = coarsening.coarse_N[a] = coarsens ? N[(size_t)a] / 2 : N[(size_t)a];
    coarse_periodic[a] = patch.periodic[a];
    fine.grown.lo[a] -= shellac::level_reach(patch, a);
    fine.grown.hi[a] += shellac::level_reach(patch, a);
  }
  coarse_patch = patch_of(coarse_N, coarse_periodic);

  // symmetric couplings by a formula of the edge's middle, over the rows' masses; those with the ends of the domain are
  // shifts
  const auto of_point = [&](const PetscInt p[3]) { return weighted ? 1.5 + PetscSinReal(p[0] + 2 * p[1] + p[2]) : 1.; };
  const auto middle = [&](int a, PetscInt p, PetscInt d) {
    const PetscInt twice = 2 * p + d;
    return patch.periodic[a] ? (twice + 2 * patch.N[a]) % (2 * patch.N[a]) : twice;
  };
  OK(fine.MakeZero(PETSC_MEMTYPE_HOST));
  if (weighted) {
    OK(fine.MakeMass(PETSC_MEMTYPE_HOST));
    std::fill_n(fine.mass, fine.points(), PetscScalar(1));
  }
  shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   at = fine.grown.index(p);
    int            slot = shellac::FIRST_COUPLING;
    mass.push_back(of_point(p));
    if (weighted) fine.mass[at] = mass.back();
    fine.slot(shellac::SHIFT)[at] += one_way ? 40 : (0.1 + 0.05 * i) / mass.back();
    fine.neighbours.each([&](const PetscInt *d) {
      const PetscInt  q[3] = {i + d[0], j + d[1], k + d[2]};
      const PetscReal phase =
          middle(0, i, d[0]) + 3 * middle(1, j, d[1]) + 5 * middle(2, k, d[2]) + (one_way ? 7 * i + slot : 0);
      const int to = patch.in_domain(q) ? slot : shellac::SHIFT;
      fine.slot(to)[at] += ((one_way ? 0.3 : 2) + PetscSinReal(phase)) / mass.back(); // one_way: of both signs
      slot++;
    });
  });
  A = dense_of(fine, patch);
  if (weighted) OK(shellac::fill_ghosts(PETSC_MEMTYPE_HOST, patch, nullptr, fine.grown, fine.mass));

  OK(shellac::fill_ghosts(memory, patch, nullptr, fine.grown, rows().values, fine.slots()));
  OK(shellac::invert_diagonals(memory, rows()));
  if (one_way) {
    shellac::Couplings room;
    P = interpolate(derived(shellac::DerivedRows::symmetric_part, &room), &weights);
    R = transpose(interpolate(derived(shellac::DerivedRows::transpose, &room), &of_restriction));
    return;
  }
  P = interpolate(rows(), &weights);
  R = transpose(P);
  for (Dense::value_type &row : R)
    for (size_t i = 0; i < row.size(); i++) row[i] *= mass[i];
}

inline shellac::CouplingArrays TwoLevels::derived(shellac::DerivedRows which, shellac::Couplings *room) {
  room->grown = fine.grown;
  room->neighbours = fine.neighbours;
  OK(room->MakeZero(memory));
  OK(shellac::derive_rows(memory, patch, rows(), which, *room));
  return *room;
}

inline Dense TwoLevels::interpolate(const shellac::CouplingArrays &of, shellac::Mirror<PetscScalar> *to) const {
  PetscScalar *w;
  Dense        dense((size_t)patch.all().points(), std::vector<PetscReal>((size_t)coarse_patch.all().points(), 0));

  OK(to->MakeZero(memory, (size_t)coarsening.corners() * of.points(), &w));
  for (int axes = 0; axes <= 3; axes++) {
    OK(shellac::interpolate(memory, of, coarsening, axes, w));
    OK(shellac::fill_ghosts(memory, patch, nullptr, of.grown, w, coarsening.corners()));
  }
  std::vector<PetscScalar> values((size_t)coarsening.corners() * of.points());
  if (PetscMemTypeHost(memory))
    std::copy_n(w, values.size(), values.begin());
  else
    OK(shellac::DeviceCopyToHost(values.data(), w, values.size() * sizeof(PetscScalar)));
  shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    PetscInt       c[3], J[3];
    for (c[2] = 0; c[2] <= coarsening.axis[2].coarsens; c[2]++)
      for (c[1] = 0; c[1] <= coarsening.axis[1].coarsens; c[1]++)
        for (c[0] = 0; c[0] <= coarsening.axis[0].coarsens; c[0]++) {
          bool inside = true;
          for (int a = 0; a < 3; a++) {
            J[a] = coarsening.below(a, p[a]) + c[a];
            if (coarse_patch.periodic[a]) J[a] = (J[a] + coarse_patch.N[a]) % coarse_patch.N[a];
            inside = inside && J[a] >= 0 && J[a] < coarse_patch.N[a];
          }
          const PetscReal one = PetscRealPart(values[coarsening.corner(c) * of.points() + of.grown.index(p)]);
          if (inside) dense[patch.index(i, j, k)][coarse_patch.index(J[0], J[1], J[2])] += one;
        }
  });
  return dense;
}

// Calls f(levels, text) for small grids of all kinds, on the host and, where there is one, on a GPU.
template <class Function> void for_each_two_levels(bool gpu, const Function &f) {
  // and rows longer than what is worked on at once
  const Point sizes[] = {{9, 7, 1}, {8, 6, 1}, {15, 1, 1}, {5, 7, 5}, {140, 3, 1}, {6, 5, 8}};
  int         number = 0;
  for (const Point &N : sizes)
    for (bool stays : {false, true})
      for (bool star : {true, false})
        for (bool around : {false, true})
          for (Rows kind : {Rows::symmetric, Rows::weighted, Rows::nonsymmetric}) {
            if (stays && N[1] == 1) continue;
            if (!in_turn(number++)) continue;
            for (PetscMemType memory : {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_CUDA}) {
              if (PetscMemTypeCUDA(memory) && !gpu) continue;
              TwoLevels levels(memory, N, stays, star, around, kind);
              f(levels, std::to_string(N[0]) + " x " + std::to_string(N[1]) + " x " + std::to_string(N[2]) +
                            (stays ? ", the first axis stays" : "") + (star ? ", star" : ", box") +
                            (around ? ", periodic" : "") + (kind == Rows::weighted ? ", weighted" : "") +
                            (kind == Rows::nonsymmetric ? ", nonsymmetric" : "") +
                            (PetscMemTypeCUDA(memory) ? ", on a GPU" : ""));
            }
          }
}

} // namespace tests
