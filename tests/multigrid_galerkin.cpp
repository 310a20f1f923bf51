// Coarse axes of stencilmg, and masses of rows, beside dense algebra.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid/axis.hpp"
#include "multigrid/setup/masses.hpp"
#include "two_levels.hpp"

using namespace tests;

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
                if (50 + 50 * PetscRealPart(random_value(PetscMin(one, other) * 10007 + PetscMax(one, other), 5)) <
                    walls)
                  continue;
                list.at[n].coupling[rows.grown.index(p)] = PetscExpReal(-PetscRealPart(random_value(one, 6)));
              }
            });
            OK(rows.MakeMass(PETSC_MEMTYPE_HOST));
            shellac::CouplingArrays arrays = in_memory(memory, &rows);
            OK(shellac::fill_ghosts(memory, patch, nullptr, arrays.grown, arrays.values, arrays.slots()));
            OK(shellac::get_masses(memory, patch, arrays, &room));
            PetscReal                off = 0;
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
                const PetscReal   expected = PetscExpReal(PetscRealPart(random_value(number_of(p), 6)) -
                                                          PetscRealPart(random_value(number_of(q), 6)));
                off = PetscMax(off, PetscAbsScalar(ratio - expected) / expected);
              }
            });
            CHECK(off <= 100 * exact);
            PetscInt first[3] = {0, 0, 0};
            CHECK(PetscAbsScalar(mass[rows.grown.index(first)] - PetscScalar(1)) == 0);
          }
}
