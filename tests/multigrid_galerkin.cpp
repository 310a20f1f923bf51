// Coarse axes and coarse operators of stencilmg, beside dense algebra.

#include "catch.hpp"

#include "multigrid.hpp"
#include "multigrid/axis.hpp"
#include "multigrid/couplings.hpp"

using namespace tests;

using Dense = std::vector<std::vector<PetscReal>>; // [row][column]

static Dense product(const Dense &A, const Dense &B) {
  Dense C(A.size(), std::vector<PetscReal>(B[0].size(), 0));
  for (size_t i = 0; i < A.size(); i++)
    for (size_t k = 0; k < B.size(); k++)
      for (size_t j = 0; j < B[0].size(); j++) C[i][j] += A[i][k] * B[k][j];
  return C;
}

static Dense transpose(const Dense &A) {
  Dense B(A[0].size(), std::vector<PetscReal>(A.size()));
  for (size_t i = 0; i < A.size(); i++)
    for (size_t j = 0; j < A[0].size(); j++) B[j][i] = A[i][j];
  return B;
}

static PetscReal largest_difference(const Dense &A, const Dense &B) {
  PetscReal most = 0;
  for (size_t i = 0; i < A.size(); i++)
    for (size_t j = 0; j < A[0].size(); j++) most = PetscMax(most, PetscAbsReal(A[i][j] - B[i][j]));
  return most;
}

// A chain of points with masses and edges that are all different, periodic or with open ends.
static shellac::Axis uneven_axis(PetscInt N, bool periodic, bool free_ends) {
  shellac::Axis axis;
  axis.periodic = periodic;
  for (PetscInt i = 0; i < N; i++) axis.mass.push_back(1 + 0.3 * PetscSinReal(1 + i));
  for (PetscInt i = 0; i <= N; i++) axis.edge.push_back(2 + PetscCosReal(3 * i));
  if (periodic) axis.edge[N] = axis.edge[0];
  if (!periodic && free_ends) axis.edge[0] = axis.edge[N] = 0;
  return axis;
}

// K of the axis: M A.
static Dense stiffness(const shellac::Axis &axis) {
  const PetscInt N = axis.N();
  Dense          K((size_t)N, std::vector<PetscReal>((size_t)N, 0));
  for (PetscInt i = 0; i <= N; i++) { // the edge between i - 1 and i
    const PetscInt lower = i > 0 ? i - 1 : axis.periodic ? N - 1 : -1, upper = i < N ? i : axis.periodic ? 0 : -1;
    if (i == N && axis.periodic) continue; // is edge 0
    if (lower >= 0) K[lower][lower] += axis.edge[i];
    if (upper >= 0) K[upper][upper] += axis.edge[i];
    if (lower >= 0 && upper >= 0) K[lower][upper] -= axis.edge[i], K[upper][lower] -= axis.edge[i];
  }
  return K;
}

static Dense prolongation(const shellac::Coarsening &c, const std::vector<PetscReal> weights[2], PetscInt N,
                          PetscInt coarse_N, bool periodic) {
  Dense P((size_t)N, std::vector<PetscReal>((size_t)coarse_N, 0));
  for (PetscInt i = 0; i < N; i++)
    for (int n = 0; n < 2; n++) {
      PetscInt J = c.below(i) + n;
      if (periodic) J = (J + coarse_N) % coarse_N;
      if (J >= 0 && J < coarse_N) P[i][J] += weights[n][i];
    }
  return P;
}

TEST_CASE("a coarse axis is the Galerkin product of the fine one, with lumped masses", "[multigrid]") {
  for (PetscInt N : {6, 7, 12, 13, 33})
    for (int kind = 0; kind < 3; kind++) {
      const bool periodic = kind == 0;
      if (periodic && N % 2) continue; // an odd one has two neighbouring points that are both coarse
      INFO("N " << N << ", kind " << kind);
      const shellac::Axis fine = uneven_axis(N, periodic, kind == 1);
      REQUIRE(shellac::can_coarsen(fine));
      shellac::Coarsening c;
      const shellac::Axis coarse = shellac::coarsen(fine, true, &c);
      const Dense         P = prolongation(c, c.prolong, N, coarse.N(), periodic),
                  R = transpose(prolongation(c, c.restriction, N, coarse.N(), periodic));
      CHECK(largest_difference(stiffness(coarse), product(transpose(P), product(stiffness(fine), P))) <= 1e-13);
      for (PetscInt J = 0; J < coarse.N(); J++) {
        PetscReal lumped = 0, of_row = 0;
        for (PetscInt i = 0; i < N; i++) {
          lumped += P[i][J] * fine.mass[i];
          of_row = PetscMax(of_row, PetscAbsReal(R[J][i] * coarse.mass[J] - P[i][J] * fine.mass[i]));
        }
        CHECK(PetscAbsReal(lumped - coarse.mass[J]) <= 1e-13);
        CHECK(of_row <= 1e-13); // R = M_c^-1 P^T M
      }
    }
}

TEST_CASE("an axis that is not coarsened stays as it is", "[multigrid]") {
  const shellac::Axis fine = uneven_axis(9, false, false);
  shellac::Coarsening c;
  const shellac::Axis same = shellac::coarsen(fine, false, &c);
  CHECK(same.mass == fine.mass);
  CHECK(same.edge == fine.edge);
  for (PetscInt i = 0; i < 9; i++) CHECK((c.below(i) == i && c.prolong[0][i] == 1 && c.restriction[0][i] == 1));
}

TEST_CASE("the modes of an axis diagonalise it", "[multigrid]") {
  for (int kind = 0; kind < 3; kind++) {
    const PetscInt      N = 12;
    const shellac::Axis axis = uneven_axis(N, kind == 0, kind == 1);
    shellac::Modes      modes;
    OK(shellac::get_modes(axis, &modes));
    const Dense K = stiffness(axis);
    Dense       A = K, V = K, inverse = K;
    for (PetscInt i = 0; i < N; i++)
      for (PetscInt j = 0; j < N; j++) {
        A[i][j] = K[i][j] / axis.mass[i];
        V[i][j] = modes.vectors[i + j * N];
        inverse[i][j] = modes.inverse[i + j * N];
      }
    Dense scaled = inverse;
    for (PetscInt i = 0; i < N; i++)
      for (PetscInt j = 0; j < N; j++) scaled[i][j] *= modes.values[i];
    CHECK(largest_difference(A, product(V, scaled)) <= 1e-12);
  }
}

// The rows of one rank's grid as a dense matrix: of `rows` with a patch that has nothing beyond it.
static Dense dense_of(const shellac::Couplings &rows, const shellac::Patch &patch) {
  const size_t n = (size_t)patch.all().points();
  Dense        A(n, std::vector<PetscReal>(n, 0));
  shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    const size_t   row = patch.index(i, j, k), at = rows.grown.index(p);
    int            slot = shellac::FIRST_COUPLING;
    A[row][row] += PetscRealPart(rows.slot(shellac::SHIFT)[at]);
    rows.neighbours.each([&](const PetscInt *d) {
      const PetscReal c = PetscRealPart(rows.slot(slot++)[at]);
      const PetscInt  q[3] = {i + d[0], j + d[1], k + d[2]};
      bool            inside = true;
      for (int a = 0; a < 3; a++) inside = inside && q[a] >= 0 && q[a] < patch.N[a];
      A[row][row] += c;
      if (inside) A[row][patch.index(q[0], q[1], q[2])] -= c;
    });
  });
  return A;
}

static shellac::Patch patch_of(const PetscInt N[3]) {
  shellac::Patch patch = {};
  for (int a = 0; a < 3; a++) {
    patch.N[a] = patch.size[a] = N[a];
    patch.periodic[a] = false;
  }
  return patch;
}

TEST_CASE("a coarse operator is the Galerkin product of dense matrices", "[multigrid]") {
  // and rows longer than what is worked on at once; with a first axis that is coarsened or stays
  const Point sizes[] = {{9, 7, 1}, {8, 6, 1}, {15, 1, 1}, {5, 7, 5}, {140, 3, 1}};
  for (int n = 0; n < 10; n++) {
    const Point N = sizes[n / 2];
    const bool  stays = n % 2 && N[1] > 1;
    INFO(N[0] << " x " << N[1] << " x " << N[2] << (stays ? ", the first axis stays" : ""));
    shellac::GridCoarsening coarsening;
    PetscInt                coarse_N[3];
    shellac::Couplings      fine, coarse;
    coarsening.patch = patch_of(N.data());
    fine.grown = coarsening.patch.all();
    fine.neighbours.star = true;
    for (int a = 0; a < 3; a++) {
      const bool along = N[(size_t)a] > 1;
      fine.neighbours.present[a] = along;
      const bool coarsens = along && !(stays && a == 0);
      coarsening.axis[a].coarsens = coarsens;
      coarsening.axis[a].offset = coarsens ? 1 : 0;
      coarse_N[a] = coarsening.coarse_N[a] = coarsens ? N[(size_t)a] / 2 : N[(size_t)a];
      if (along) fine.grown.lo[a] -= 2, fine.grown.hi[a] += 2;
    }
    fine.resize();
    // symmetric couplings by a formula of the edge's middle; to the ends of the domain as well
    shellac::for_each_on_host(coarsening.patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt p[3] = {i, j, k};
      const size_t   at = fine.grown.index(p);
      int            slot = shellac::FIRST_COUPLING;
      fine.slot(shellac::SHIFT)[at] = 0.1 + 0.05 * i;
      fine.neighbours.each([&](const PetscInt *d) {
        fine.slot(slot++)[at] = 2 + PetscSinReal((2 * i + d[0]) + 3 * (2 * j + d[1]) + 5 * (2 * k + d[2]));
      });
    });
    fine.invert_diagonals();
    std::vector<PetscScalar> weights((size_t)coarsening.corners() * fine.points(), 0);
    for (int axes = 0; axes <= 3; axes++) shellac::interpolate(fine, coarsening, axes, &weights);
    const shellac::Patch coarse_patch = patch_of(coarse_N);
    shellac::coarsen(fine, coarsening, weights, coarse_patch, &coarse);

    Dense P((size_t)coarsening.patch.all().points(), std::vector<PetscReal>((size_t)coarse_patch.all().points(), 0));
    shellac::for_each_on_host(coarsening.patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt p[3] = {i, j, k};
      PetscInt       c[3], J[3];
      for (c[2] = 0; c[2] <= coarsening.axis[2].coarsens; c[2]++)
        for (c[1] = 0; c[1] <= coarsening.axis[1].coarsens; c[1]++)
          for (c[0] = 0; c[0] <= coarsening.axis[0].coarsens; c[0]++) {
            bool inside = true;
            for (int a = 0; a < 3; a++) {
              J[a] = coarsening.below(a, p[a]) + c[a];
              inside = inside && J[a] >= 0 && J[a] < coarse_N[a];
            }
            const PetscScalar w = weights[coarsening.corner(c) * fine.points() + fine.grown.index(p)];
            if (inside) P[coarsening.patch.index(i, j, k)][coarse_patch.index(J[0], J[1], J[2])] += PetscRealPart(w);
          }
    });
    const Dense expected = product(transpose(P), product(dense_of(fine, coarsening.patch), P));
    CHECK(largest_difference(dense_of(coarse, coarse_patch), expected) <= 1e-12);
  }
}
