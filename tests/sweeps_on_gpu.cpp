// MatSOR() of stars on a GPU beside plain red-black sweeps on the whole grid, which each rank does for itself.

#include "captures.hpp"
#include "catch.hpp"
#include "gpu.hpp"

using namespace tests;

#if defined(PETSC_HAVE_CUDA)

// A row of the matrix: the diagonal, then the other entries.
struct Row {
  std::vector<size_t> point;
  Values              value;
};

static Row row_of(const Lattice &l, const Fill &fill, const PetscInt p[3]) {
  const PetscInt center[3] = {0, 0, 0};
  Row            row{{l.natural(p)}, {0}};
  fill(p, center, &row.value[0]);
  for (const Point &arm : l.arms()) {
    PetscInt q[3], outside = 0;
    for (int a = 0; a < 3; a++) {
      q[a] = p[a] + arm[a];
      if (q[a] < 0 || q[a] >= l.N[a]) outside++;
    }
    if (outside || arm == Point{0, 0, 0}) continue;
    row.point.push_back(l.natural(q));
    row.value.push_back(0);
    fill(p, arm.data(), &row.value.back());
  }
  return row;
}

static std::vector<Row> all_rows(const Lattice &l, const Fill &fill) {
  std::vector<Row> rows;
  PetscInt         p[3];
  for (p[2] = 0; p[2] < l.N[2]; p[2]++)
    for (p[1] = 0; p[1] < l.N[1]; p[1]++)
      for (p[0] = 0; p[0] < l.N[0]; p[0]++) rows.push_back(row_of(l, fill, p));
  return rows;
}

static void relax(const Lattice &l, const std::vector<Row> &rows, PetscInt colour, const Sweeps &sweeps,
                  const Values &b, Values *x) {
  for (size_t n = 0; n < rows.size(); n++) {
    const PetscInt across = (PetscInt)n / l.N[0], parity = (PetscInt)n % l.N[0] + across % l.N[1] + across / l.N[1];
    if (parity % 2 != colour) continue;
    PetscScalar rest = b[n] - sweeps.shift * (*x)[n];
    for (size_t e = 0; e < rows[n].point.size(); e++) rest -= rows[n].value[e] * (*x)[rows[n].point[e]];
    (*x)[n] += sweeps.omega * rest / (rows[n].value[0] + sweeps.shift);
  }
}

static Vector to_vector(const Lattice &l, DM da, const Values &values) {
  Vector v = make_vector(da);
  set_values(da, v, [&](const PetscInt p[3]) { return values[l.natural(p)]; });
  return v;
}

// Grids of one tile and of several along each axis, with and without rows of an even length; tiny ones.
static std::vector<Lattice> swept_lattices() {
  std::vector<Lattice> all;
  for (const std::vector<PetscInt> &N : std::vector<std::vector<PetscInt>>{{130, 75},
                                                                           {131, 74},
                                                                           {64, 9},
                                                                           {65, 40},
                                                                           {66, 33},
                                                                           {70, 300},
                                                                           {5, 3},
                                                                           {6, 6},
                                                                           {1, 30},
                                                                           {200, 1},
                                                                           {67, 20, 37},
                                                                           {175, 34, 6},
                                                                           {130, 13, 12},
                                                                           {66, 33, 9},
                                                                           {8, 9, 70},
                                                                           {5, 6, 7},
                                                                           {4, 3, 5},
                                                                           {70, 1, 9}}) {
    Lattice l;
    Grid    da;
    l.dim = (int)N.size();
    for (size_t a = 0; a < N.size(); a++) l.N[a] = N[a];
    if (try_make_grid(l, &da)) all.push_back(l);
  }
  return all;
}

TEST_CASE("sweeps of stars on a GPU are plain red-black sweeps", "[capture][device]") {
  if (no_gpu()) return;
  for (const Lattice &l : swept_lattices())
    for (Form form : {Form::constant, Form::indexed}) {
      INFO(describe(l) << "; " << name_of(form));
      Grid da;
      REQUIRE(try_make_grid(l, &da));
      OK(DMSetVecType(da, VECCUDA));
      OK(DMSetMatType(da, captured_type));
      Options    options(std::string("-mat_stencil_compress ") + name_of(form));
      Matrix     A;
      const Fill fill = random_fill(l, form, 1);
      OK(DMCreateMatrix(da, &A));
      fill_and_assemble(da, A, fill);
      const std::vector<Row> rows = all_rows(l, fill);
      Values                 b(rows.size()), start(rows.size());
      for (size_t n = 0; n < rows.size(); n++) b[n] = random_value(n, 1), start[n] = random_value(n, 2);
      Vector rhs = to_vector(l, da, b);
      for (const Sweeps &sweeps : all_sweeps) {
        INFO(sweeps.name);
        Vector ours = to_vector(l, da, start);
        Values x = start;
        if (sweeps.from_zero()) x.assign(x.size(), 0);
        for (PetscInt s = 0; s < sweeps.its * sweeps.lits; s++) {
          if (sweeps.forward())
            for (PetscInt colour : {0, 1}) relax(l, rows, colour, sweeps, b, &x);
          if (sweeps.backward())
            for (PetscInt colour : {1, 0}) relax(l, rows, colour, sweeps, b, &x);
        }
        OK(MatSOR(A, rhs, sweeps.omega, (MatSORType)sweeps.type, sweeps.shift, sweeps.its, sweeps.lits, ours));
        Vector plain = to_vector(l, da, x);
        CHECK(difference(ours, plain) <= 10 * exact);
      }
    }
}

// The result of a sweep that starts from random values, which stand `offset` values behind a 16-byte boundary.
static Vector swept_at(const Grid &da, Mat A, Vec b, PetscInt offset) {
  Vector result = random_vector(da, 2);
  at_offset(result, offset, [&](Vec x) { OK(MatSOR(A, b, 1, SOR_SYMMETRIC_SWEEP, 0, 1, 1, x)); });
  return result;
}

TEST_CASE("sweeps on a GPU take vectors whose arrays are not aligned", "[capture][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  for (const Lattice &l : swept_lattices()) {
    Grid da;
    REQUIRE(try_make_grid(l, &da));
    OK(DMSetVecType(da, VECCUDA));
    OK(DMSetMatType(da, captured_type));
    Matrix A;
    OK(DMCreateMatrix(da, &A));
    fill_and_assemble(da, A, random_fill(l, Form::constant, 1));
    Vector b = random_vector(da, 1);
    CHECK(difference(swept_at(da, A, b, 1), swept_at(da, A, b, 0)) <= exact);
  }
}

#endif
