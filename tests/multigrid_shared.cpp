// Levels of stencilmg that are not distributed: on one rank of a host, which works for the others there.

#include "catch.hpp"

#include "media.hpp"
#include "multigrid/setup/shared_level.hpp"
#include "systems.hpp"

using namespace tests;

static PetscReal sum_over_ranks(PetscReal value) {
  OK((PetscErrorCode)MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  return value;
}

// Its cycle for the same b on any ranks; *flops: of all its ranks.
static std::vector<PetscScalar> cycle_of(PC pc, DM da, bool transposed, PetscReal *flops) {
  Vector         b = make_vector(da), x = make_vector(da);
  PetscLogDouble before, after;
  set_values(da, b, [&](const PetscInt i[3]) { return std::sin((PetscReal)(1 + i[0] + 7 * i[1] * i[1] + 3 * i[2])); });
  OK(PetscGetFlops(&before));
  OK(transposed ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x));
  OK(PetscGetFlops(&after));
  *flops = (PetscReal)(after - before);
  return natural_values(da, x);
}

TEST_CASE("levels that are not distributed are on one rank of a host, which has all their work", "[multigrid][view]") {
  std::vector<PetscMPIInt> workers;
  OK(shellac::SharedLevel::FindWorkers(PETSC_COMM_WORLD, false, &workers));
  PetscReal hosts = 0;
  for (size_t r = 0; r < workers.size(); r++) hosts += workers[r] == (PetscMPIInt)r;
  enum class Rows { constant, varying, convection, system };
  struct Case {
    Point                       N;
    std::vector<DMBoundaryType> ends;
    Rows                        rows;
  };
  for (const Case &of : std::vector<Case>{{{40, 31, 1}, {open_end, open_end}, Rows::constant},
                                          {{40, 31, 1}, {periodic, open_end}, Rows::varying},
                                          {{150, 131, 1}, {open_end, periodic}, Rows::constant},
                                          {{150, 131, 1}, {periodic, open_end}, Rows::varying},
                                          {{33, 30, 29}, {open_end, periodic, open_end}, Rows::varying},
                                          {{40, 31, 1}, {open_end, open_end}, Rows::convection},
                                          {{40, 36, 1}, {open_end, periodic}, Rows::system}}) {
    Lattice l = lattice(of.N, of.ends, DMDA_STENCIL_STAR);
    if (of.rows == Rows::system) l.dof = reacting.dof;
    Grid da, alone = make_grid_alone(l);
    if (!try_make_grid(l, &da)) continue;
    if (makes_cuda_vectors(da)) return; // each GPU has such levels
    const Fill   fill = of.rows == Rows::system ? fill_of(reacting, l, false)
                        : of.rows == Rows::convection
                            ? convection_fill(l, 0.01, rotate, true)
                            : diffusion_fill(l, of.rows == Rows::constant ? Form::constant : Form::arrays);
    const Matrix A = captured(da, fill), B = captured(alone, fill);
    for (const char *options : {"", "-test_pc_stencilmg_type full", "-test_pc_stencilmg_cycle_type w"}) {
      INFO(describe(l) << ", rows " << (int)of.rows << ' ' << options);
      Preconditioner pc = make_pc(A, options), one = make_pc(B, options);
      for (bool transposed : {false, true}) {
        PetscReal  of_all, of_one;
        const auto x = cycle_of(pc, da, transposed, &of_all), y = cycle_of(one, alone, transposed, &of_one);
        PetscReal  off = 0, size = 0;
        for (size_t i = 0; i < x.size(); i++) {
          off = PetscMax(off, PetscAbsScalar(x[i] - y[i]));
          size = PetscMax(size, PetscAbsScalar(y[i]));
        }
        CHECK(off <= (l.dof > 1 ? 1e-6 : 1e-10) * size); // of systems, weights are of eigenvalues that rounding changes
        of_all = sum_over_ranks(of_all);
        CHECK(of_all >= 0.99 * of_one);
        CHECK(of_all <= (hosts + 0.01) * of_one);
      }
      const std::string view = printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
      CHECK((view.find(shellac::place_of(true, workers)) != std::string::npos) == (rank_count() > 1));
    }
  }
}

TEST_CASE("a level's values go to the ranks that work for others, and back", "[multigrid]") {
  const PetscMPIInt ranks = rank_count();
  for (const auto &N : {Point{17, 12, 1}, Point{6, 7, 8}})
    for (PetscMPIInt of_host = 1; of_host <= ranks; of_host++) { // so many ranks have a worker
      Problem p = problem(N[2] > 1 ? 3 : 2, N[0], N[1], N[2]);
      p.ends[1] = DM_BOUNDARY_PERIODIC;
      Grid          da;
      shellac::Grid grid;
      if (!try_make_grid(p, &da)) continue;
      OK(shellac::GridCreate(da, &grid));
      std::vector<PetscMPIInt> workers;
      for (PetscMPIInt r = 0; r < ranks; r++) workers.push_back(r / of_host * of_host);
      const PetscMPIInt rank = grid.rank_at(grid.place);
      const bool        works = workers[(size_t)rank] == rank;
      const auto        own = shellac::part_of(grid, rank), all = shellac::box_of(grid);
      shellac::Box      read = own;
      for (int a = 0; a < 3; a++) read.lo[a] -= a == 1 ? 9 : 0, read.hi[a] += a == 1 ? 2 : 0;
      const auto value = [&](PetscInt i, PetscInt j, PetscInt k) {
        return (float)(i + 100 * ((j + 2 * N[1]) % N[1]) + 10000 * k);
      };
      const auto values = [&](const shellac::Box &box) {
        std::vector<float> of;
        shellac::for_each_on_host(box, [&](PetscInt i, PetscInt j, PetscInt k) {
          of.push_back(value(i, j, k));
          of.push_back(-value(i, j, k));
        });
        return of;
      };
      shellac::SharedLevel level;
      OK(level.Create(grid, workers, read));
      for (int turn = 0; turn < 2; turn++) {
        const auto         part = values(own), whole = values(all);
        std::vector<float> x(works ? whole.size() : (size_t)read.points() * 2);
        OK(level.Gather(PETSC_MEMTYPE_HOST, 2, part.data(), works ? x.data() : nullptr));
        PetscReal wrong = works && x != whole;
        OK(level.Scatter(PETSC_MEMTYPE_HOST, 2, x.data()));
        wrong += x != (works ? whole : values(read));
        INFO(describe(p) << ", " << of_host << " ranks of a host");
        CHECK(sum_over_ranks(wrong) == 0);
      }
      OK(level.Destroy());
    }
}
