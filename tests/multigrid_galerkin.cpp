// Coarse axes and coarse operators of stencilmg, beside dense algebra.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid.hpp"
#include "multigrid/axis.hpp"
#include "multigrid/beyond.hpp"
#include "multigrid/couplings.hpp"
#include "multigrid/masses.hpp"

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

// The rows of one rank's grid as a dense matrix: of `rows`, on the host, with a patch that has nothing beyond it but images.
static Dense dense_of(const shellac::CouplingArrays &rows, const shellac::Patch &patch) {
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

static shellac::Patch patch_of(const PetscInt N[3], const bool periodic[3]) {
  shellac::Patch patch = {};
  for (int a = 0; a < 3; a++) {
    patch.N[a] = patch.size[a] = N[a];
    patch.periodic[a] = periodic[a] && N[a] > 1;
  }
  return patch;
}

// Arrays of some kind of memory; those of the host are copies.
static shellac::CouplingArrays in_memory(PetscMemType memory, shellac::Couplings *rows) {
  shellac::CouplingArrays arrays = *rows;
  const PetscScalar      *values;
  OK(rows->memory_of_values.Get(memory, &values));
  arrays.values = const_cast<PetscScalar *>(values);
  if (!rows->mass) return arrays;
  OK(rows->memory_of_mass.Get(memory, &values));
  arrays.mass = const_cast<PetscScalar *>(values);
  return arrays;
}

TEST_CASE("a coarse operator is the Galerkin product of dense matrices", "[multigrid]") {
  // and rows longer than what is worked on at once; with a first axis that is coarsened or stays, periodic or not; stars and
  // boxes, and rows with weights; on the host, and on a GPU
  const Point sizes[] = {{9, 7, 1}, {8, 6, 1}, {15, 1, 1}, {5, 7, 5}, {140, 3, 1}, {6, 5, 8}};
  int         number = 0;
  for (const Point &N : sizes)
    for (bool stays : {false, true})
      for (bool star : {true, false})
        for (bool around : {false, true})
          for (bool weighted : {false, true})
            for (PetscMemType memory : {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_CUDA}) {
              if (stays && N[1] == 1) continue;
              if (PetscMemTypeCUDA(memory) && no_gpu(false)) continue;
              if (!in_turn(number++ / 2)) continue;
              INFO(N[0] << " x " << N[1] << " x " << N[2] << (stays ? ", the first axis stays" : "")
                        << (star ? ", star" : ", box") << (around ? ", periodic" : "") << (weighted ? ", weighted" : "")
                        << (PetscMemTypeCUDA(memory) ? ", on a GPU" : ""));
              shellac::GridCoarsening coarsening;
              PetscInt                coarse_N[3];
              shellac::Couplings      fine, coarse;
              const bool              periodic[3] = {around && N[0] % 2 == 0, around && N[1] % 2 == 0, false};
              const shellac::Patch    patch = coarsening.patch = patch_of(N.data(), periodic);
              fine.grown = patch.all();
              fine.neighbours.star = star;
              for (int a = 0; a < 3; a++) {
                const bool along = N[(size_t)a] > 1, coarsens = along && !(stays && a == 0);
                fine.neighbours.present[a] = along;
                coarsening.axis[a].coarsens = coarsens;
                coarsening.axis[a].offset = coarsens && !patch.periodic[a] ? 1 : 0;
                coarse_N[a] = coarsening.coarse_N[a] = coarsens ? N[(size_t)a] / 2 : N[(size_t)a];
                fine.grown.lo[a] -= shellac::level_reach(patch, a);
                fine.grown.hi[a] += shellac::level_reach(patch, a);
              }
              OK(fine.MakeZero(PETSC_MEMTYPE_HOST));
              // symmetric couplings by a formula of the edge's middle, with weights times them; to the ends of the domain as well
              const auto mass = [&](const PetscInt p[3]) { return weighted ? 1.5 + PetscSinReal(p[0] + 2 * p[1] + p[2]) : 1.; };
              const auto middle = [&](int a, PetscInt p, PetscInt d) {
                const PetscInt twice = 2 * p + d;
                return patch.periodic[a] ? (twice + 2 * patch.N[a]) % (2 * patch.N[a]) : twice;
              };
              shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
                const PetscInt p[3] = {i, j, k};
                const size_t   at = fine.grown.index(p);
                int            slot = shellac::FIRST_COUPLING;
                fine.slot(shellac::SHIFT)[at] = (0.1 + 0.05 * i) / mass(p);
                fine.neighbours.each([&](const PetscInt *d) {
                  fine.slot(slot++)[at] =
                      (2 + PetscSinReal(middle(0, i, d[0]) + 3 * middle(1, j, d[1]) + 5 * middle(2, k, d[2]))) / mass(p);
                });
              });
              if (weighted) {
                OK(fine.MakeMass(PETSC_MEMTYPE_HOST));
                std::fill_n(fine.mass, fine.points(), PetscScalar(1));
                shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
                  const PetscInt p[3] = {i, j, k};
                  fine.mass[fine.grown.index(p)] = mass(p);
                });
                OK(shellac::fill_beyond(PETSC_MEMTYPE_HOST, patch, nullptr, fine.grown, fine.mass));
              }
              const shellac::CouplingArrays rows = in_memory(memory, &fine);
              OK(shellac::fill_beyond(memory, patch, nullptr, rows.grown, rows.values, rows.slots()));
              OK(shellac::invert_diagonals(memory, rows));
              const int                     corners = coarsening.corners();
              shellac::Mirror<PetscScalar>  made, room;
              PetscScalar                  *weights, *total;
              OK(made.MakeZero(memory, (size_t)corners * rows.points(), &weights));
              OK(room.Make(memory, rows.points(), &total));
              for (int axes = 0; axes <= 3; axes++) {
                OK(shellac::interpolate(memory, rows, coarsening, axes, weights));
                OK(shellac::fill_beyond(memory, patch, nullptr, rows.grown, weights, corners));
              }
              bool coarse_periodic[3];
              for (int a = 0; a < 3; a++) coarse_periodic[a] = patch.periodic[a];
              const shellac::Patch coarse_patch = patch_of(coarse_N, coarse_periodic);
              coarse.grown = coarse_patch.all();
              coarse.neighbours.star = false;
              for (int a = 0; a < 3; a++) coarse.neighbours.present[a] = coarse_N[a] > 1;
              OK(coarse.MakeZero(memory));
              OK(shellac::coarsen(memory, rows, coarsening, weights, coarse_patch, coarse, total));

              const PetscScalar            *w;
              const shellac::CouplingArrays coarse_rows = in_memory(PETSC_MEMTYPE_HOST, &coarse);
              OK(made.Get(PETSC_MEMTYPE_HOST, &w));
              Dense P((size_t)patch.all().points(), std::vector<PetscReal>((size_t)coarse_patch.all().points(), 0));
              Dense A = dense_of(fine, patch);
              shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
                const PetscInt p[3] = {i, j, k};
                PetscInt       c[3], J[3];
                for (PetscReal &entry : A[patch.index(i, j, k)]) entry *= mass(p);
                for (c[2] = 0; c[2] <= coarsening.axis[2].coarsens; c[2]++)
                  for (c[1] = 0; c[1] <= coarsening.axis[1].coarsens; c[1]++)
                    for (c[0] = 0; c[0] <= coarsening.axis[0].coarsens; c[0]++) {
                      bool inside = true;
                      for (int a = 0; a < 3; a++) {
                        J[a] = coarsening.below(a, p[a]) + c[a];
                        if (coarse_patch.periodic[a]) J[a] = (J[a] + coarse_N[a]) % coarse_N[a];
                        inside = inside && J[a] >= 0 && J[a] < coarse_N[a];
                      }
                      const PetscReal one = PetscRealPart(w[coarsening.corner(c) * fine.points() + fine.grown.index(p)]);
                      if (inside) P[patch.index(i, j, k)][coarse_patch.index(J[0], J[1], J[2])] += one;
                    }
              });
              CHECK(largest_difference(dense_of(coarse_rows, coarse_patch), product(transpose(P), product(A, P))) <= 1e-12);
              PetscReal least = PETSC_MAX_REAL; // all points are interpolated
              for (const auto &row : P) least = PetscMin(least, *std::max_element(row.begin(), row.end()));
              CHECK(least > 0);
            }
}

TEST_CASE("masses make rows symmetric, through labyrinths too", "[multigrid]") {
  const bool not_periodic[3] = {false, false, false}, periodic[3] = {true, true, true};
  int        number = 0;
  for (const Point &N : {Point{40, 30, 1}, Point{9, 8, 7}, Point{200, 1, 1}})
    for (bool star : {true, false})
      for (bool around : {false, true})
        for (int walls : {0, 30, 50}) // of 100 pairs of points are not coupled
          for (PetscMemType memory : {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_CUDA}) {
            if (PetscMemTypeCUDA(memory) && no_gpu(false)) continue;
            if (!in_turn(number++ / 2)) continue;
            INFO(N[0] << " x " << N[1] << " x " << N[2] << (star ? ", star" : ", box") << (around ? ", periodic" : "")
                      << ", walls " << walls << (PetscMemTypeCUDA(memory) ? ", on a GPU" : ""));
            const shellac::Patch patch = patch_of(N.data(), around ? periodic : not_periodic);
            shellac::Couplings   rows;
            shellac::MassMemory  room;
            rows.grown = patch.all();
            rows.neighbours.star = star;
            for (int a = 0; a < 3; a++) {
              rows.neighbours.present[a] = N[(size_t)a] > 1;
              rows.grown.lo[a] -= shellac::level_reach(patch, a);
              rows.grown.hi[a] += shellac::level_reach(patch, a);
            }
            OK(rows.MakeZero(PETSC_MEMTYPE_HOST));
            const shellac::NeighbourList list(rows);
            const auto                   number_of = [&](const PetscInt p[3]) {
              PetscInt q[3];
              for (int a = 0; a < 3; a++) q[a] = (p[a] + patch.N[a]) % patch.N[a];
              return patch.index(q[0], q[1], q[2]);
            };
            shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
              const PetscInt p[3] = {i, j, k};
              for (int n = 0; n < list.count; n++) {
                const PetscInt *d = list.at[n].d, q[3] = {i + d[0], j + d[1], k + d[2]};
                if (!patch.in_domain(q)) continue;
                const size_t one = number_of(p), other = number_of(q);
                if (50 + 50 * PetscRealPart(random_value(PetscMin(one, other) * 10007 + PetscMax(one, other), 5)) < walls)
                  continue;
                list.at[n].coupling[rows.grown.index(p)] = PetscExpReal(-PetscRealPart(random_value(one, 6)));
              }
            });
            OK(rows.MakeMass(PETSC_MEMTYPE_HOST));
            shellac::CouplingArrays arrays = in_memory(memory, &rows);
            OK(shellac::fill_beyond(memory, patch, nullptr, arrays.grown, arrays.values, arrays.slots()));
            OK(shellac::get_masses(memory, patch, arrays, &room));
            PetscReal off = 0;
            std::vector<PetscScalar> mass(rows.points());
            if (PetscMemTypeHost(memory))
              std::copy_n(arrays.mass, rows.points(), mass.begin());
            else
              OK(shellac::DeviceCopyToHost(mass.data(), arrays.mass, rows.points() * sizeof(PetscScalar)));
            shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
              const PetscInt p[3] = {i, j, k};
              const size_t   at = rows.grown.index(p);
              for (int n = 0; n < list.count; n++) {
                const PetscInt *d = list.at[n].d, q[3] = {i + d[0], j + d[1], k + d[2]};
                if (!patch.in_domain(q) || list.at[n].coupling[at] == PetscScalar(0)) continue;
                const PetscScalar ratio = mass[at] / mass[at + list.at[n].step];
                const PetscReal   expected =
                    PetscExpReal(PetscRealPart(random_value(number_of(p), 6)) - PetscRealPart(random_value(number_of(q), 6)));
                off = PetscMax(off, PetscAbsScalar(ratio - expected) / expected);
              }
            });
            CHECK(off <= 100 * exact);
            PetscInt first[3] = {0, 0, 0};
            CHECK(PetscAbsScalar(mass[rows.grown.index(first)] - PetscScalar(1)) == 0);
          }
}
