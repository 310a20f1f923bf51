// Ways to assemble: each history of calls leaves the captured matrix and the AIJ with the same entries.

#include "captures.hpp"
#include "catch.hpp"

#include <algorithm>

using namespace tests;

namespace {

// One assembly in the life of a matrix.
using Step = std::function<void(const Lattice &, Form, DM, Mat)>;
struct History {
  std::string       name;
  std::vector<Step> steps;
};

} // namespace

static Step insert(int seed, Way way = Way::stencil) {
  return [=](const Lattice &l, Form form, DM da, Mat M) {
    set_rows(da, M, random_fill(l, form, seed), way, INSERT_VALUES);
    assemble(M);
  };
}
static Step add(int seed, Way way = Way::stencil) {
  return [=](const Lattice &l, Form form, DM da, Mat M) {
    set_rows(da, M, random_fill(l, form, seed), way, ADD_VALUES);
    assemble(M);
  };
}
static Step zero_then(const Step &step) {
  return [=](const Lattice &l, Form form, DM da, Mat M) {
    OK(MatZeroEntries(M));
    step(l, form, da, M);
  };
}
// neighbours share in a row: a form can hold that if they are alike
static Step pairs(int seed, Way way) {
  return [=](const Lattice &l, Form form, DM da, Mat M) {
    add_pairs(da, M, form == Form::arrays ? random_fill(l, form, seed) : uniform_fill(l, seed), way);
    assemble(M);
  };
}

// Entry by entry, of rows that are mostly other ranks'.
static Step foreign_rows(int seed, InsertMode mode) {
  return [=](const Lattice &l, Form form, DM da, Mat M) {
    AO       ao;
    int      rank;
    PetscInt p[3];
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    OK(DMDAGetAO(da, &ao));
    const Fill               fill = random_fill(l, form, seed);
    std::vector<PetscScalar> block((size_t)(l.dof * l.dof));
    for (p[2] = 0; p[2] < l.N[2]; p[2]++)
      for (p[1] = 0; p[1] < l.N[1]; p[1]++)
        for (p[0] = 0; p[0] < l.N[0]; p[0]++) {
          if ((int)(l.natural(p) % (size_t)rank_count()) != rank) continue;
          std::vector<size_t> seen; // around short axes two arms end at one entry; which one is inserted last is open
          for (const Point &arm : l.arms()) {
            PetscInt q[3], at[2];
            bool     inside = true;
            for (int a = 0; a < 3; a++) {
              q[a] = p[a] + arm[a];
              inside = inside && (l.ends[a] == DM_BOUNDARY_PERIODIC || (q[a] >= 0 && q[a] < l.N[a]));
            }
            const bool again = inside && std::count(seen.begin(), seen.end(), l.natural(q)) > 0;
            if (!inside || (again && mode == INSERT_VALUES)) continue;
            seen.push_back(l.natural(q));
            fill(p, arm.data(), block.data());
            for (PetscInt r = 0; r < l.dof; r++)
              for (PetscInt c = 0; c < l.dof; c++) {
                at[0] = (PetscInt)l.natural(p) * l.dof + r;
                at[1] = (PetscInt)l.natural(q) * l.dof + c;
                OK(AOApplicationToPetsc(ao, 2, at));
                OK(MatSetValue(M, at[0], at[1], block[(size_t)(r * l.dof + c)], mode));
              }
          }
        }
    assemble(M);
  };
}

static std::vector<History> histories() {
  std::vector<History> all;
  for (Way way : ways) {
    all.push_back({std::string(name_of(way)) + ", inserted, and again", {insert(1, way), insert(2, way)}});
    all.push_back({std::string(name_of(way)) + ", added, and again", {add(1, way), add(2, way)}});
    all.push_back({std::string(name_of(way)) + ", pairs of points, and again",
                   {pairs(1, way), pairs(2, way), zero_then(pairs(1, way))}});
  }
  all.push_back({"other ranks' rows", {foreign_rows(1, INSERT_VALUES), foreign_rows(2, ADD_VALUES), insert(3)}});
  all.push_back({"nothing", {[](const Lattice &, Form, DM, Mat M) { assemble(M); }, insert(1)}});
  all.push_back({"the same values again", {insert(1), zero_then(insert(1)), insert(1), zero_then(insert(1))}});
  all.push_back({"other values after zeros", {insert(1), zero_then(add(2)), zero_then(insert(3)), add(4)}});
  all.push_back({"some rows only",
                 {[](const Lattice &l, Form form, DM da, Mat M) {
                    set_rows(da, M, random_fill(l, form, 1), Way::stencil, INSERT_VALUES, some_points(l, form));
                    assemble(M);
                  },
                  zero_then(insert(2)),
                  [](const Lattice &l, Form form, DM da, Mat M) {
                    set_rows(da, M, random_fill(l, form, 3), Way::local, INSERT_VALUES, some_points(l, form));
                    assemble(M);
                  }}});
  all.push_back({"the diagonal only",
                 {insert(1),
                  [](const Lattice &l, Form form, DM da, Mat M) {
                    set_rows(da, M, random_fill(l, form, 2), Way::stencil, INSERT_VALUES, nullptr, true);
                    assemble(M);
                  },
                  [](const Lattice &l, Form form, DM da, Mat M) {
                    set_rows(da, M, random_fill(l, form, 3), Way::blocked_local, ADD_VALUES, some_points(l, form),
                             true);
                    assemble(M);
                  }}});
  all.push_back({"the last value inserted holds", {[](const Lattice &l, Form form, DM da, Mat M) {
                   set_rows(da, M, random_fill(l, form, 1), Way::stencil, INSERT_VALUES);
                   set_rows(da, M, random_fill(l, form, 2), Way::blocked_local, INSERT_VALUES, some_points(l, form));
                   assemble(M);
                 }}});
  all.push_back({"added to what was inserted, and the other way round",
                 {[](const Lattice &l, Form form, DM da, Mat M) {
                    const auto flush = [&] {
                      OK(MatAssemblyBegin(M, MAT_FLUSH_ASSEMBLY));
                      OK(MatAssemblyEnd(M, MAT_FLUSH_ASSEMBLY));
                    };
                    set_rows(da, M, random_fill(l, form, 1), Way::stencil, INSERT_VALUES);
                    flush();
                    set_rows(da, M, random_fill(l, form, 2), Way::local, ADD_VALUES);
                    flush();
                    set_rows(da, M, random_fill(l, form, 3), Way::global, INSERT_VALUES, some_points(l, form));
                    flush();
                    set_rows(da, M, random_fill(l, form, 4), Way::stencil, ADD_VALUES, some_points(l, form), true);
                    assemble(M);
                  },
                  insert(1)}});
  all.push_back({"values by columns",
                 {[](const Lattice &l, Form form, DM da, Mat M) {
                    OK(MatSetOption(M, MAT_ROW_ORIENTED, PETSC_FALSE));
                    insert(1)(l, form, da, M);
                  },
                  add(2, Way::blocked_local), insert(3, Way::global), add(4, Way::blocked_stencil),
                  [](const Lattice &l, Form form, DM da, Mat M) {
                    OK(MatSetOption(M, MAT_ROW_ORIENTED, PETSC_TRUE));
                    insert(1)(l, form, da, M);
                  }}});
  all.push_back({"zeroed in the middle of an assembly", {[](const Lattice &l, Form form, DM da, Mat M) {
                   set_rows(da, M, random_fill(l, form, 1), Way::stencil, INSERT_VALUES);
                   assemble(M);
                   OK(MatScale(M, 7));
                   OK(MatShift(M, 7));
                   OK(MatZeroEntries(M));
                   OK(MatZeroEntries(M));
                   set_rows(da, M, random_fill(l, form, 2), Way::stencil, ADD_VALUES);
                   set_rows(da, M, random_fill(l, form, 3), Way::local, ADD_VALUES);
                   assemble(M);
                   assemble(M); // twice: as programs do that assemble in parts
                 }}});
  return all;
}

// One rank goes through all lattices and forms: with the form's own storage and the automatic one by turns.
static bool one_of_two(int number) {
  return rank_count() > 1 || (number / 2 + number) % 2 == 0;
}

TEST_CASE("each way to assemble captures what AIJ holds", "[capture]") {
  const std::vector<History> all = histories();
  int                        combination = 0;
  for_each_capture([&](const Lattice &lattice, Form form, const std::string &text) {
    if (!one_of_two(combination++)) return;
    INFO(text);
    Twins t(lattice);
    int   turn = combination;
    for (const History &history : all) {
      if (!in_turn(turn++)) continue;
      INFO(history.name);
      int number = 0;
      t.renew();
      for (const Step &step : history.steps) {
        INFO("assembly " << ++number);
        t.both([&](DM da, Mat M) { step(lattice, form, da, M); });
        CHECK(t.product_difference() <= 2 * exact);
      }
      CHECK(t.operator_problem() == "");
    }
  });
}

// ---- boundary conditions

namespace {

enum class RowCall { global, local, stencil };
struct Zeroing {
  const char *name;
  RowCall     call;
  bool        columns;
};

const Zeroing zeroings[] = {
    {"MatZeroRows", RowCall::global, false},         {"MatZeroRowsColumns", RowCall::global, true},
    {"MatZeroRowsLocal", RowCall::local, false},     {"MatZeroRowsColumnsLocal", RowCall::local, true},
    {"MatZeroRowsStencil", RowCall::stencil, false}, {"MatZeroRowsColumnsStencil", RowCall::stencil, true},
};

} // namespace

// The rows of these points, all components or the first; the local form names ghosts as well, which others own.
static void zero(const Zeroing &zeroing, DM da, Mat M, const Where &where, bool first_only, PetscScalar diagonal, Vec x,
                 Vec b) {
  const Lattice           l = lattice_of(da);
  ISLocalToGlobalMapping  map;
  std::vector<PetscInt>   rows;
  std::vector<MatStencil> points;
  PetscInt                start[3], size[3], ghost_start[3], ghost_size[3], p[3];
  OK(DMGetLocalToGlobalMapping(da, &map));
  OK(DMDAGetCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  OK(DMDAGetGhostCorners(da, &ghost_start[0], &ghost_start[1], &ghost_start[2], &ghost_size[0], &ghost_size[1],
                         &ghost_size[2]));
  PetscInt place = 0;
  for (p[2] = ghost_start[2]; p[2] < ghost_start[2] + ghost_size[2]; p[2]++)
    for (p[1] = ghost_start[1]; p[1] < ghost_start[1] + ghost_size[1]; p[1]++)
      for (p[0] = ghost_start[0]; p[0] < ghost_start[0] + ghost_size[0]; p[0]++, place++) {
        bool owned = true, inside = true;
        for (int a = 0; a < 3; a++) {
          owned = owned && p[a] >= start[a] && p[a] < start[a] + size[a];
          inside = inside && p[a] >= 0 && p[a] < l.N[a];
        }
        if (!inside || !(owned || zeroing.call == RowCall::local) || !where(p)) continue;
        for (PetscInt c = 0; c < (first_only ? 1 : l.dof); c++) {
          MatStencil point = {};
          point.i = p[0], point.j = p[1], point.k = p[2], point.c = c;
          points.push_back(point);
          rows.push_back(place * l.dof + c);
        }
      }
  const PetscInt n = (PetscInt)rows.size();
  if (zeroing.call == RowCall::global) {
    OK(ISLocalToGlobalMappingApply(map, n, rows.data(), rows.data()));
    OK((zeroing.columns ? MatZeroRowsColumns : MatZeroRows)(M, n, rows.data(), diagonal, x, b));
  } else if (zeroing.call == RowCall::local) {
    OK((zeroing.columns ? MatZeroRowsColumnsLocal : MatZeroRowsLocal)(M, n, rows.data(), diagonal, x, b));
  } else {
    OK((zeroing.columns ? MatZeroRowsColumnsStencil : MatZeroRowsStencil)(M, n, points.data(), diagonal, x, b));
  }
}

TEST_CASE("a transpose replaces values that were set before it", "[capture]") {
  for (const Lattice &l : lattices()) {
    INFO(describe(l));
    const Fill  fill = random_fill(l, Form::arrays, 1);
    Twins       t(l);
    Matrix      transposes[2];
    PetscInt    rows;
    PetscScalar one = 1;
    OK(MatGetSize(t.A, &rows, NULL));
    t.both([&](DM da, Mat M) {
      set_rows(da, M, fill, Way::stencil, INSERT_VALUES);
      assemble(M);
    });
    OK(MatTranspose(t.A, MAT_INITIAL_MATRIX, &transposes[0]));
    t.both([](DM, Mat M) { OK(MatScale(M, 2)); });
    OK(MatTranspose(t.aij, MAT_INITIAL_MATRIX, &transposes[1]));
    Mat reused = transposes[0];
    // of another rank's row, most often, and outside the stencil
    for (PetscInt row : {(PetscInt)0, rows - 1})
      for (PetscInt column : {rows / 2, rows - 1 - row})
        OK(MatSetValues(reused, 1, &row, 1, &column, &one, INSERT_VALUES));
    OK(MatTranspose(t.A, MAT_REUSE_MATRIX, &reused));
    CHECK(difference(reused, transposes[1]) <= exact);
  }
}

TEST_CASE("rows and columns are zeroed as in AIJ, with their right-hand sides", "[capture]") {
  int combination = 0, number = 0;
  for_each_capture([&](const Lattice &lattice, Form form, const std::string &text) {
    if (!one_of_two(combination++)) return;
    INFO(text);
    Twins t(lattice);
    for (const Zeroing &zeroing : zeroings)
      for (bool first_only : {false, true}) {
        if ((first_only && lattice.dof == 1) || !in_turn(number++ + combination)) continue;
        INFO(zeroing.name << (first_only ? ", of the first component" : ""));
        t.renew();
        const Where where = some_points(lattice, form);
        t.both([&](DM da, Mat M) { insert(1)(lattice, form, da, M); });
        CHECK(t.difference_of([&](DM da, Mat M, Vec x, Vec, Vec y) {
          zero(zeroing, da, M, where, first_only, 2.5, x, y);
        }) <= 2 * exact);
        CHECK(t.operator_problem() == "");
        if (zeroing.call == RowCall::local) CHECK(t.parts_problem() == "");
        t.both([&](DM da, Mat M) { add(2)(lattice, form, da, M); });
        CHECK(t.product_difference() <= 2 * exact);
        t.both([&](DM da, Mat M) {
          OK(MatScale(M, 3));
          zero(zeroing, da, M, where, first_only, 1, NULL, NULL);
          OK(MatShift(M, 1));
        });
        CHECK(t.product_difference() <= 2 * exact);
        t.both([&](DM da, Mat M) { // no rows at all
          zero(
              zeroing, da, M, [](const PetscInt *) { return false; }, first_only, 1, NULL, NULL);
        });
        CHECK(t.product_difference() <= 2 * exact);
        t.both([&](DM da, Mat M) { zero_then(insert(3))(lattice, form, da, M); });
        CHECK(t.operator_problem() == "");
      }
  });
}

// ---- what cannot be captured

static PetscInt row_of(DM da, PetscInt i, PetscInt j) {
  const PetscInt p[3] = {i, j, 0};
  PetscInt       row = (PetscInt)lattice_of(da).natural(p);
  AO             ao;
  OK(DMDAGetAO(da, &ao));
  OK(AOApplicationToPetsc(ao, 1, &row));
  return row;
}

static PetscErrorCode assemble_checked(Mat A) {
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("an entry outside the stencil is one error on all ranks", "[capture][errors]") {
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const struct {
    PetscInt row[2], column[2];
  } outside[] = {{{1, 1}, {2, 2}}, {{0, 0}, {8, 0}}, {{4, 4}, {4, 6}}, {{8, 7}, {0, 0}}};
  for (const auto &entry : outside)
    for (int from : {0, rank_count() - 1}) {
      Grid   da;
      Matrix A;
      REQUIRE(try_make_grid(plane(), &da));
      OK(DMSetMatType(da, captured_type));
      OK(DMCreateMatrix(da, &A));
      const PetscInt row = row_of(da, entry.row[0], entry.row[1]);
      const PetscInt column = row_of(da, entry.column[0], entry.column[1]);
      INFO("row " << row << ", column " << column << ", set by rank " << from);
      set_rows(da, A, random_fill(plane(), Form::arrays, 1), Way::stencil, ADD_VALUES);
      const auto point = [](const PetscInt i[2]) {
        return "(" + std::to_string(i[0]) + ", " + std::to_string(i[1]) + ")";
      };
      const std::string points = point(entry.row) + " and " + point(entry.column);
      EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE,
                   ({std::to_string(row), std::to_string(column), points, "mat_stencil_fallback"}), [&] {
                     PetscFunctionBeginUser;
                     if (rank == from) PetscCall(MatSetValue(A, row, column, 3, ADD_VALUES));
                     PetscCall(assemble_checked(A));
                     PetscFunctionReturn(PETSC_SUCCESS);
                   });
    }
}

TEST_CASE("with -mat_stencil_fallback aij, a matrix that cannot be captured turns into an AIJ", "[capture][fallback]") {
  Options set("-mat_stencil_fallback aij");
  int     rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  for (InsertMode mode : {INSERT_VALUES, ADD_VALUES})
    for (int from : {0, rank_count() - 1})
      for (bool assembled_before : {false, true}) {
        INFO("mode " << mode << ", set by rank " << from << (assembled_before ? ", after an assembly" : ""));
        Twins t(plane());
        t.both([&](DM, Mat M) {
          OK(MatSetOption(M, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
          OK(MatSetOption(M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
        });
        if (assembled_before) t.both([&](DM da, Mat M) { insert(1)(plane(), Form::arrays, da, M); });
        const std::string text = printed([&] {
          t.both([&](DM da, Mat M) {
            set_rows(da, M, random_fill(plane(), Form::arrays, 2), Way::stencil, mode);
            const PetscInt row = row_of(da, 1, 1), column = row_of(da, 6, 5);
            if (rank == from) OK(MatSetValue(M, row, column, 3, mode));
            assemble(M);
          });
        });
        MatType           type;
        OK(MatGetType(t.A, &type));
        CHECK(std::string(type).find("aij") != std::string::npos);
        CHECK(text.find("-mat_stencil_fallback aij") != std::string::npos);
        CHECK(std::count(text.begin(), text.end(), '\n') == 1);
        CHECK(t.product_difference() <= exact); // it is PETSc's now
        t.both([&](DM da, Mat M) { zero_then(insert(3))(plane(), Form::arrays, da, M); });
        CHECK(t.product_difference() <= exact);
      }
}

TEST_CASE("a copy replaces values that were set but not assembled", "[capture]") {
  const Lattice l = plane(2);
  for (Form form : forms_of_storage) {
    INFO(name_of(form));
    Twins t(l), other(l);
    t.both([&](DM da, Mat M) { insert(1)(l, form, da, M); });
    set_rows(other.da, other.A, random_fill(l, Form::arrays, 2), Way::stencil, INSERT_VALUES);
    OK(MatAssemblyBegin(other.A, MAT_FLUSH_ASSEMBLY));
    OK(MatAssemblyEnd(other.A, MAT_FLUSH_ASSEMBLY));
    OK(MatCopy(t.A, other.A, SAME_NONZERO_PATTERN));
    OK(MatDestroy(&other.aij));
    OK(MatDuplicate(t.aij, MAT_COPY_VALUES, &other.aij));
    assemble(other.A);
    CHECK(other.operator_problem() == "");
  }
}

TEST_CASE("a duplicate takes values by columns as its source does", "[capture]") {
  const Lattice l = plane(2);
  Twins         t(l), copies(l);
  t.both([&](DM da, Mat M) {
    OK(MatSetOption(M, MAT_ROW_ORIENTED, PETSC_FALSE));
    insert(1)(l, Form::arrays, da, M);
  });
  OK(MatDestroy(&copies.A));
  OK(MatDestroy(&copies.aij));
  OK(MatDuplicate(t.A, MAT_COPY_VALUES, &copies.A));
  OK(MatDuplicate(t.aij, MAT_COPY_VALUES, &copies.aij));
  copies.both([&](DM da, Mat M) { insert(2)(l, Form::arrays, da, M); });
  CHECK(copies.operator_problem() == "");
}

TEST_CASE("a numbering that the program sets is followed", "[capture]") {
  const Lattice l = plane(2);
  Twins         t(l);
  t.both([&](DM, Mat M) {
    ISLocalToGlobalMapping map;
    PetscInt               first, last;
    std::vector<PetscInt>  backward;
    OK(MatGetOwnershipRange(M, &first, &last));
    for (PetscInt row = last - 1; row >= first; row--) backward.push_back(row);
    OK(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, 1, (PetscInt)backward.size(), backward.data(), PETSC_COPY_VALUES,
                                    &map));
    OK(MatSetLocalToGlobalMapping(M, map, map));
    OK(ISLocalToGlobalMappingDestroy(&map));
    for (PetscInt i = 0; i < last - first; i++) OK(MatSetValueLocal(M, i, i, (PetscScalar)(i + 1), INSERT_VALUES));
    assemble(M);
  });
  CHECK(t.operator_problem() == "");
}

TEST_CASE("coefficients in arrays are assembled anew and changed where they are", "[capture]") {
  Lattice l = plane(2);
  l.N[0] = 19, l.N[1] = 18; // more points on each rank than may be indexed
  Twins      t(l), other(l);
  Vector     left = random_vector(t.da, 1), right = random_vector(t.da, 2);
  const auto view_of = [&] { return view(t.A, PETSC_VIEWER_ASCII_INFO); };
  t.both([&](DM da, Mat M) { insert(1)(l, Form::arrays, da, M); });
  other.both([&](DM da, Mat M) { insert(2)(l, Form::arrays, da, M); });
  const std::string before = view_of();
  const struct {
    const char                       *name;
    std::function<void(DM, Mat, Mat)> work; // on a matrix; with another
  } changes[] = {
      {"values inserted", [&](DM da, Mat M, Mat) { insert(3)(l, Form::arrays, da, M); }},
      {"values after zeros", [&](DM da, Mat M, Mat) { zero_then(add(4))(l, Form::arrays, da, M); }},
      {"MatScale", [](DM, Mat M, Mat) { OK(MatScale(M, 2)); }},
      {"MatShift", [](DM, Mat M, Mat) { OK(MatShift(M, 3)); }},
      {"MatAXPY", [](DM, Mat M, Mat X) { OK(MatAXPY(M, -1, X, SAME_NONZERO_PATTERN)); }},
      {"MatDiagonalSet", [&](DM, Mat M, Mat) { OK(MatDiagonalSet(M, left, ADD_VALUES)); }},
      {"MatDiagonalScale", [&](DM, Mat M, Mat) { OK(MatDiagonalScale(M, left, right)); }},
  };
  for (const auto &change : changes) {
    INFO(change.name);
    change.work(t.aij_da, t.aij, other.aij);
    const PetscObjectId first = next_object();
    change.work(t.da, t.A, other.A);
    CHECK(everywhere(next_object() == first + 1));
    CHECK(t.product_difference() <= 2 * exact);
  }
  CHECK(view_of() == before); // the form, its slots and their bytes
}
