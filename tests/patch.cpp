// Index arithmetic by itself, without matrices: patches, grids, and memory that processes share.

#include "catch.hpp"
#include "support.hpp"

#include <cstdlib>
#include <set>

#include "device/exports.hpp"
#include "grid/grid.hpp"

using namespace tests;
using shellac::Box;
using shellac::Direction;
using shellac::Patch;

static Patch make_patch(PetscInt nx, PetscInt ny, PetscInt nz) {
  Patch          patch = {};
  const PetscInt size[3] = {nx, ny, nz};
  for (int a = 0; a < 3; a++) {
    patch.N[a] = size[a] + 4;
    patch.start[a] = 2;
    patch.size[a] = size[a];
    patch.neighbour[a][0] = patch.neighbour[a][1] = true;
  }
  return patch;
}

TEST_CASE("the 27 directions have numbers of their own, and opposite ones add up", "[patch]") {
  for (int n = 0; n < Direction::count; n++) {
    const Direction to = Direction::at(n), back = {{-to.d[0], -to.d[1], -to.d[2]}};
    CHECK(to.index() == n);
    CHECK(back.index() == Direction::count - 1 - n);
  }
  CHECK(Direction::face(0, shellac::LOWER) == Direction{{-1, 0, 0}}.index());
  CHECK(Direction::face(1, shellac::UPPER) == Direction{{0, 1, 0}}.index());
  CHECK(Direction::face(2, shellac::LOWER) == Direction{{0, 0, -1}}.index());
}

TEST_CASE("a box numbers its points along the first axis first", "[patch]") {
  const Box  box = {{-1, 2, 3}, {3, 5, 5}};
  PetscInt64 n = 0;
  CHECK(box.points() == 4 * 3 * 2);
  for (PetscInt k = 3; k < 5; k++)
    for (PetscInt j = 2; j < 5; j++)
      for (PetscInt i = -1; i < 3; i++, n++) {
        const PetscInt p[3] = {i, j, k};
        PetscInt       q[3];
        box.point(n, q);
        CHECK(box.index(p) == (size_t)n);
        CHECK((q[0] == i && q[1] == j && q[2] == k));
      }
  const Box empty = {{0, 4, 0}, {3, 2, 1}};
  CHECK(empty.points() == 0);
}

// Each point of `all` is in exactly one of the inner box and the boxes around it.
TEST_CASE("the interior and the border of a patch are a partition of it", "[patch]") {
  for (PetscInt width : {0, 1, 2, 5})
    for (PetscInt nx : {1, 2, 7})
      for (PetscInt ny : {1, 3}) {
        Patch patch = make_patch(nx, ny, 4);
        patch.width = width;
        patch.neighbour[1][0] = false;
        const Box             all = patch.all(), interior = patch.interior();
        const shellac::Boxes  border = patch.border();
        std::multiset<size_t> points;
        PetscInt              p[3];
        for (PetscInt64 n = 0; n < interior.points(); n++) {
          interior.point(n, p);
          points.insert(all.index(p));
          for (int a = 0; a < 3; a++) {
            CHECK((p[a] >= width || !patch.neighbour[a][0]));
            CHECK((p[a] + width < patch.size[a] || !patch.neighbour[a][1]));
          }
        }
        for (PetscInt64 n = 0; n < border.points(); n++) {
          CHECK(border.point(n, p));
          points.insert(all.index(p));
        }
        CHECK(!border.point(border.points(), p));
        CHECK((PetscInt64)points.size() == all.points());
        CHECK((PetscInt64)std::set<size_t>(points.begin(), points.end()).size() == all.points());
      }
}

TEST_CASE("what a neighbour needs lies inside the patch, and is as large as what lies beyond", "[patch]") {
  for (PetscInt width : {1, 2, 3}) {
    Patch patch = make_patch(5, 4, 3);
    patch.width = width;
    for (int n = 0; n < Direction::count; n++) {
      const Direction to = Direction::at(n);
      const Box       beyond = patch.beyond_patch(to), shared = patch.shared_with(to);
      CHECK(beyond.points() == shared.points());
      for (int a = 0; a < 3; a++) {
        CHECK(shared.lo[a] >= 0);
        CHECK(shared.hi[a] <= patch.size[a]);
        CHECK((to.d[a] == 0 || beyond.hi[a] <= 0 || beyond.lo[a] >= patch.size[a]));
      }
    }
  }
}

// Against PETSc's own ordering, by way of DMDAGetAO(): natural numbers to rows.
TEST_CASE("a grid's rows and points are the DMDA's", "[patch]") {
  for (int dim = 1; dim <= 3; dim++) {
    Problem p = problem(dim, 9, dim > 1 ? 7 : 1, dim > 2 ? 5 : 1);
    Grid    da = make_grid(p);
    AO      ao;
    OK(DMDAGetAO(da, &ao));
    shellac::Grid grid;
    OK(shellac::GridCreate(da, &grid));
    bool     same = true;
    PetscInt q[3], c;
    for (PetscInt k = 0; k < p.N[2]; k++)
      for (PetscInt j = 0; j < p.N[1]; j++)
        for (PetscInt i = 0; i < p.N[0]; i++) {
          const PetscInt at[3] = {i, j, k};
          PetscInt       row = i + p.N[0] * (j + p.N[1] * k);
          OK(AOApplicationToPetsc(ao, 1, &row));
          same = same && grid.global_row(at) == row;
          const PetscMPIInt owner = grid.find_row(row, q, &c);
          same = same && c == 0 && q[0] == i && q[1] == j && q[2] == k;
          same = same && grid.offset[owner] <= row && row < grid.offset[owner + 1];
        }
    CHECK(everywhere(same));
  }
}

TEST_CASE("a neighbour's neighbour in the opposite direction is the rank itself", "[patch]") {
  for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC}) {
    Problem p = problem(2, 9, 8);
    p.ends[0] = ends;
    Grid          da = make_grid(p);
    shellac::Grid grid;
    OK(shellac::GridCreate(da, &grid));
    bool right = true;
    for (int n = 0; n < Direction::count; n++) {
      const Direction to = Direction::at(n), back = Direction::at(Direction::count - 1 - n);
      const int       other = grid.neighbour(to);
      if (other < 0) {
        right = right && (ends == DM_BOUNDARY_NONE || to.d[1] != 0 || to.d[2] != 0);
        continue;
      }
      shellac::Grid there = grid;
      there.place[0] = other % grid.ranks[0];
      there.place[1] = other / grid.ranks[0] % grid.ranks[1];
      there.place[2] = other / grid.ranks[0] / grid.ranks[1];
      right = right && there.neighbour(back) == grid.rank_at(grid.place);
    }
    CHECK(everywhere(right));
  }
}

// ---- memory that processes share

static std::vector<void *> allocated; // so far

static PetscErrorCode allocate(size_t bytes, void **memory) {
  allocated.push_back(malloc(bytes));
  *memory = allocated.back();
  return PETSC_SUCCESS;
}

static PetscErrorCode fail(size_t, void **) {
  return PETSC_ERR_MEM;
}

TEST_CASE("memory that was shared is used again, and never freed", "[patch]") {
  shellac::Exports exports;
  void            *a, *b, *c, *d;
  OK(exports.Take(0, 5000, allocate, &a));
  OK(exports.Take(0, 5000, allocate, &b));
  CHECK(a != b);
  const size_t bytes = exports.bytes();
  exports.Return(a);
  OK(exports.Take(0, 6000, allocate, &c)); // as large, when rounded up
  CHECK(c == a);
  exports.Return(b);
  OK(exports.Take(1, 5000, allocate, &d)); // another GPU's is no use
  CHECK(d != b);
  OK(exports.Take(0, 100000, allocate, &d)); // nor is a smaller one
  CHECK(allocated.size() == 4);
  // any number of objects that come and go, in any order, need as much as live at a time
  for (int turn = 0; turn < 50; turn++) {
    void *first = nullptr, *second = nullptr;
    OK(exports.Take(0, 5000, allocate, &first));
    OK(exports.Take(0, 100000, allocate, &second));
    exports.Return(turn % 2 ? first : second);
    exports.Return(turn % 2 ? second : first);
  }
  CHECK(allocated.size() == 5);
  CHECK(exports.bytes() > bytes);
  // what cannot be allocated changes nothing
  OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  CHECK(exports.Take(0, 1 << 20, fail, &d) == PETSC_ERR_MEM);
  OK(PetscPopErrorHandler());
  OK(exports.Take(0, 5000, fail, &d));
  CHECK(d == b);
  for (void *memory : allocated) free(memory);
  allocated.clear();
}
