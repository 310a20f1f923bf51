// What stencilmg does at a point with variable coefficients, beside dense algebra: smoothing, residual, restriction,
// prolongation and the coarse operator; on the host and, where there is one, on a GPU.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid/directed_sweep.hpp"
#include "multigrid/prolong.hpp"
#include "multigrid/restrict.hpp"
#include "multigrid/setup/coarse_in_steps.hpp"
#include "multigrid/setup/row_changes.hpp"
#include "multigrid/smooth.hpp"
#include "two_levels.hpp"

using namespace tests;
using shellac::Box;

using Values = std::vector<PetscReal>;

static Values product(const Dense &A, const Values &x) {
  Values y(A.size(), 0);
  for (size_t i = 0; i < A.size(); i++)
    for (size_t j = 0; j < x.size(); j++) y[i] += A[i][j] * x[j];
  return y;
}

static Values random_values(size_t n, int seed) {
  Values values;
  for (size_t i = 0; i < n; i++) values.push_back(PetscRealPart(random_value(i, seed)));
  return values;
}

static PetscReal difference(const Values &a, const Values &b) {
  PetscReal most = 0;
  for (size_t i = 0; i < a.size(); i++) most = PetscMax(most, PetscAbsReal(a[i] - b[i]));
  return most;
}

// An array in some memory.
struct Array {
  PetscMemType                 memory;
  shellac::Mirror<PetscScalar> values;
  Array(PetscMemType where, const Values &from) : memory(where) { values.change().assign(from.begin(), from.end()); }
  const PetscScalar *read() {
    const PetscScalar *array;
    OK(values.Get(memory, &array));
    return array;
  }
  PetscScalar *write() {
    PetscScalar *array;
    OK(values.Make(memory, values.size(), &array));
    return array;
  }
  Values on_host() {
    const PetscScalar *array;
    Values             all;
    OK(values.Get(PETSC_MEMTYPE_HOST, &array));
    for (size_t n = 0; n < values.size(); n++) all.push_back(PetscRealPart(array[n]));
    return all;
  }
};

// The Galerkin product as GPUs compute it where the compiler knows the points, on the host. total: of weights
template <int dim, bool star>
static void check_regular(TwoLevels &levels, const PetscScalar *weights, const PetscScalar *restriction,
                          const PetscScalar *total, const shellac::Couplings &coarse, const Dense &galerkin) {
  using Point = shellac::RegularPoint<dim, star>;
  const shellac::CouplingArrays fine = levels.rows();
  shellac::GridCoarsening       odd = levels.coarsening;
  if (!Point::serves(levels.coarsening, fine.neighbours, coarse.neighbours)) return;
  odd.patch.periodic[0] = true, odd.patch.N[0] = 9; // two neighbouring points are both coarse
  CHECK(!Point::serves(odd, fine.neighbours, coarse.neighbours));
  shellac::Couplings same;
  same.grown = coarse.grown;
  same.neighbours = coarse.neighbours;
  OK(same.MakeZero(PETSC_MEMTYPE_HOST));
  const shellac::Product of(fine, levels.coarsening, weights, restriction, levels.coarse_patch, same, total);
  if (dim == 3 && !star) {
    shellac::Scratch<PetscScalar> room;
    OK(shellac::coarsen_in_steps(PETSC_MEMTYPE_HOST, of, levels.coarsening, levels.coarse_patch, &room, 0));
  } else
    shellac::for_each_on_host(levels.coarse_patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt p[3] = {i, j, k};
      shellac::set_coarse_run<1, 1>(of, Point(levels.coarsening, levels.coarse_patch, p), same.grown.index(p), 1);
    });
  CHECK(largest_difference(dense_of(same, levels.coarse_patch), galerkin) <= 1e-12);
}

TEST_CASE("a coarse operator is the Galerkin product of dense matrices", "[multigrid]") {
  for_each_two_levels(!no_gpu(false), [](TwoLevels &levels, const std::string &text) {
    INFO(text);
    shellac::Couplings   coarse;
    shellac::CoarsenRoom room;
    const PetscScalar   *weights, *restriction;
    coarse.grown = levels.coarse_patch.all();
    coarse.neighbours.star = false;
    for (int a = 0; a < 3; a++) coarse.neighbours.present[a] = levels.coarse_patch.N[a] > 1;
    OK(coarse.MakeZero(levels.memory));
    OK(levels.weights.Get(levels.memory, &weights));
    OK(levels.restriction().Get(levels.memory, &restriction));
    OK(shellac::coarsen(levels.memory, levels.rows(), levels.coarsening, weights, restriction, levels.coarse_patch,
                        coarse, &room));
    const Dense galerkin = product(levels.R, product(levels.A, levels.P));
    CHECK(largest_difference(dense_of(in_memory(PETSC_MEMTYPE_HOST, &coarse), levels.coarse_patch), galerkin) <= 1e-12);
    if (PetscMemTypeHost(levels.memory)) {
      const PetscScalar *total = room.total.at(PETSC_MEMTYPE_HOST);
      check_regular<2, true>(levels, weights, restriction, total, coarse, galerkin);
      check_regular<2, false>(levels, weights, restriction, total, coarse, galerkin);
      check_regular<3, true>(levels, weights, restriction, total, coarse, galerkin);
      check_regular<3, false>(levels, weights, restriction, total, coarse, galerkin);
    }
    if (levels.of_restriction.size()) return; // rows may have no coupling that interpolation follows
    PetscReal least = PETSC_MAX_REAL;         // all points are interpolated
    for (const auto &row : levels.P) least = PetscMin(least, *std::max_element(row.begin(), row.end()));
    CHECK(least > 0);
  });
}

TEST_CASE("smoothing, residual and transfers are products with dense matrices", "[multigrid]") {
  for_each_two_levels(!no_gpu(false), [](TwoLevels &levels, const std::string &text) {
    INFO(text);
    const PetscMemType            memory = levels.memory;
    const shellac::CouplingArrays rows = levels.rows();
    using Part = shellac::VariableLevel<PetscScalar>;
    Part                        part = {};
    shellac::Field<PetscScalar> field = {};
    part.patch = levels.patch;
    part.patch.width = 4;
    part.omega[0] = 0.7;
    part.rows = rows.values;
    part.mass = rows.mass;
    part.grown = rows.grown;
    part.neighbours = rows.neighbours;
    OK(levels.weights.Get(memory, &part.weights));
    OK(levels.restriction().Get(memory, &part.restriction));
    for (int a = 0; a < 3; a++) {
      part.coarsens[a] = levels.coarsening.axis[a].coarsens;
      part.offset[a] = levels.coarsening.axis[a].offset;
    }
    shellac::Patch coarse = levels.coarse_patch;
    coarse.width = 4;
    const size_t n = levels.A.size(), coarse_n = levels.P[0].size();
    const Values u = random_values(n, 1), b = random_values(n, 2), e = random_values(coarse_n, 3);
    Array        u_there(memory, u), b_there(memory, b), e_there(memory, e), out(memory, u), coarse_out(memory, e);
    const Values Au = product(levels.A, u);
    Values       residual, smoothed, corrected = product(levels.P, e);
    for (size_t i = 0; i < n; i++) {
      residual.push_back(b[i] - Au[i]);
      smoothed.push_back(u[i] + 0.7 * residual[i] / levels.A[i][i]);
      corrected[i] += u[i];
    }
    field.u = u_there.read();
    const auto all = levels.patch.all();
    OK(shellac::for_each_of_box(memory, all, shellac::point::Residual<Part>{part, field, b_there.read(), out.write()}));
    CHECK(difference(out.on_host(), residual) <= 1e-12);
    OK(shellac::for_each_of_box(memory, all,
                                shellac::point::Smooth<Part>{part, 0, field, b_there.read(), out.write()}));
    CHECK(difference(out.on_host(), smoothed) <= 1e-12);
    OK(shellac::for_each_of_box(memory, coarse.all(),
                                shellac::point::Restrict<Part>{part, coarse, field, coarse_out.write()}));
    CHECK(difference(coarse_out.on_host(), product(levels.R, u)) <= 1e-12);
    shellac::Field<PetscScalar> of_e = {};
    of_e.u = e_there.read();
    OK(shellac::for_each_of_box(memory, all,
                                shellac::point::Correct<Part>{part, coarse, of_e, u_there.read(), out.write()}));
    CHECK(difference(out.on_host(), corrected) <= 1e-12);
  });
}

// Gauss-Seidel's method in tiles of `extent`, point by point along `way`; outside of its tile, and around an axis, a
// point's row takes u.
static Values swept(const TwoLevels &levels, const PetscInt way[3], const PetscInt extent[3], const Values &u,
                    const Values &b) {
  const Box  all = levels.patch.all();
  Values     x = u;
  const auto takes_new = [&](const PetscInt p[3], const PetscInt q[3]) {
    bool same = true;
    for (int a = 0; a < 3; a++) same = same && p[a] / extent[a] == q[a] / extent[a] && PetscAbsInt(p[a] - q[a]) <= 1;
    return same;
  };
  shellac::for_each_on_host(all, [&](PetscInt i, PetscInt j, PetscInt k) {
    PetscInt p[3] = {i, j, k}, q[3];
    for (int a = 0; a < 3; a++)
      if (way[a] < 0) p[a] = all.hi[a] - 1 - p[a];
    const size_t at = all.index(p);
    PetscReal    r = b[at];
    for (size_t n = 0; n < x.size(); n++) {
      if (levels.A[at][n] == 0) continue;
      all.point((PetscInt64)n, q);
      r -= levels.A[at][n] * (takes_new(p, q) ? x[n] : u[n]);
    }
    x[at] += r / levels.A[at][at];
  });
  return x;
}

TEST_CASE("a directed sweep is Gauss-Seidel's method in tiles, in eight directions one after the other",
          "[multigrid]") {
  for_each_two_levels(!no_gpu(false), [](TwoLevels &levels, const std::string &text) {
    using Part = shellac::VariableLevel<PetscScalar>;
    const PetscMemType            memory = levels.memory;
    const shellac::CouplingArrays rows = levels.rows();
    const PetscInt small[3] = {5, 4, 3}, whole[3] = {levels.patch.size[0], levels.patch.size[1], levels.patch.size[2]},
                   ways[8][3] = {{1, 1, 1},  {-1, -1, -1}, {-1, 1, 1},  {1, -1, -1},
                                 {1, 1, -1}, {-1, -1, 1},  {-1, 1, -1}, {1, -1, 1}};
    Part part = {};
    part.patch = levels.patch;
    part.patch.width = 4;
    part.rows = rows.values;
    part.grown = rows.grown;
    part.neighbours = rows.neighbours;
    const size_t n = levels.A.size();
    const Values u = random_values(n, 1), b = random_values(n, 2), zero(n, 0);
    Array        u_there(memory, u), b_there(memory, b), out(memory, u);
    for (const PetscInt *extent : {small, whole}) {
      if (PetscMemTypeDevice(memory) && extent[0] > shellac::columns_of_tile) continue;
      for (int step = 0; step < 8; step++)
        for (bool from_zero : {false, true}) {
          INFO(text << ", step " << step << " in tiles of " << extent[0] << " columns");
          shellac::Field<PetscScalar> field = {};
          if (!from_zero) field.u = u_there.read();
          OK(shellac::run_directed_sweep(
              memory, shellac::directed_sweep(part, step, false, extent, field, b_there.read(), out.write())));
          const Values wanted = swept(levels, ways[step], extent, from_zero ? zero : u, b);
          CHECK(difference(out.on_host(), wanted) <= 1e-12);
        }
    }
  });
}

// Rows without their positive entries off the diagonal, and without row sums that are negative: what transfers follow.
static Dense followed(const Dense &A) {
  Dense B = A;
  for (size_t i = 0; i < A.size(); i++) {
    PetscReal sum = 0, off = 0;
    for (size_t j = 0; j < A.size(); j++) {
      sum += A[i][j];
      if (j != i) off += B[i][j] = PetscMin(A[i][j], 0);
    }
    B[i][i] = PetscMax(sum, 0) - off;
  }
  return B;
}

TEST_CASE("rows are transposed, and their symmetric part taken, without couplings of the wrong sign", "[multigrid]") {
  for_each_two_levels(!no_gpu(false), [](TwoLevels &levels, const std::string &text) {
    if (!levels.of_restriction.size()) return; // symmetric ones
    INFO(text);
    const Dense       &A = levels.A;
    Dense              half = transpose(A);
    shellac::Couplings room;
    const auto         derived = [&](shellac::DerivedRows which) {
      levels.derived(which, &room);
      return dense_of(in_memory(PETSC_MEMTYPE_HOST, &room), levels.patch);
    };
    CHECK(largest_difference(half, followed(half)) > 0.01);
    CHECK(largest_difference(derived(shellac::DerivedRows::transpose), followed(half)) <= 1e-12);
    for (size_t i = 0; i < A.size(); i++)
      for (size_t j = 0; j < A.size(); j++) half[i][j] = (half[i][j] + A[i][j]) / 2;
    CHECK(largest_difference(derived(shellac::DerivedRows::symmetric_part), followed(half)) <= 1e-12);
  });
}

// The arrays in this memory, for a function that changes them there.
static shellac::CouplingArrays to_change(PetscMemType memory, shellac::Couplings *rows) {
  shellac::CouplingArrays arrays = *rows;
  OK(rows->memory_of_values.Edit(memory, &arrays.values));
  return arrays;
}

// The rows of a level in the same memory, with shifts that leave some of them far from diagonally dominant.
static void make_small_shifts(TwoLevels &levels, shellac::Couplings *room) {
  const shellac::CouplingArrays from = in_memory(PETSC_MEMTYPE_HOST, &levels.fine);
  room->grown = from.grown;
  room->neighbours = from.neighbours;
  OK(room->MakeZero(PETSC_MEMTYPE_HOST));
  std::copy_n(from.values, from.slots() * from.points(), room->values);
  for (size_t at = 0; at < from.points(); at++) {
    PetscReal sum = 0, size = 0;
    for (int slot = shellac::FIRST_COUPLING; slot < from.slots(); slot++) {
      sum += PetscRealPart(from.slot(slot)[at]);
      size += PetscAbsScalar(from.slot(slot)[at]);
    }
    room->slot(shellac::SHIFT)[at] = 0.2 + 0.3 * size + PetscMax(-sum, 0); // diagonal entries are positive
  }
  OK(shellac::invert_diagonals(levels.memory, to_change(levels.memory, room)));
}

// Products of diagonal entries and what a level has as their inverses.
static Values times_inverses(const Dense &A, const shellac::CouplingArrays &rows, const shellac::Patch &patch) {
  Values   all;
  PetscInt p[3];
  for (size_t i = 0; i < A.size(); i++) {
    patch.all().point((PetscInt64)i, p);
    all.push_back(A[i][i] * PetscRealPart(rows.slot(shellac::INVERSE_DIAGONAL)[rows.grown.index(p)]));
  }
  return all;
}

// The number of the point one step away, or more than there are.
static size_t neighbour_of(const shellac::Patch &patch, size_t point, const PetscInt *step, int way) {
  PetscInt q[3];
  patch.all().point((PetscInt64)point, q);
  for (int a = 0; a < 3; a++) {
    q[a] += way * step[a];
    if (patch.periodic[a]) q[a] = (q[a] + patch.N[a]) % patch.N[a];
  }
  return patch.all().contains(q) ? patch.all().index(q) : SIZE_MAX;
}

TEST_CASE("a tenth of a wrong-signed coupling becomes diffusion, and rows that are not dominant are damped",
          "[multigrid]") {
  for_each_two_levels(!no_gpu(false), [](TwoLevels &levels, const std::string &text) {
    INFO(text);
    shellac::Couplings room;
    make_small_shifts(levels, &room);
    const shellac::Patch &patch = levels.patch;
    const auto            on_host = [&]() { return in_memory(PETSC_MEMTYPE_HOST, &room); };
    const Dense           before = dense_of(on_host(), patch);
    Dense                 wanted = before;
    Values                of_damped;
    int                   changed = 0, damped = 0;
    const size_t          n = before.size();
    for (size_t i = 0; i < n; i++) {
      room.neighbours.each([&](const PetscInt *d) {
        const size_t to = neighbour_of(patch, i, d, 1), opposite = neighbour_of(patch, i, d, -1);
        if (to >= n || opposite >= n || to > opposite) return; // each pair once
        // of entries: couplings have the other sign
        const PetscReal most = PetscMax(before[i][to], before[i][opposite]);
        if (most <= 0) return;
        changed++;
        wanted[i][to] -= most / 10, wanted[i][opposite] -= most / 10;
        wanted[i][i] += most / 5;
      });
      PetscReal size = 0;
      for (size_t j = 0; j < n; j++) size += PetscAbsReal(wanted[i][j]);
      const PetscReal bound = size / wanted[i][i];
      if (bound > 2) damped++;
      of_damped.push_back(bound > 2 ? 2 / bound : 1);
    }
    const shellac::CouplingArrays rows = to_change(levels.memory, &room);
    OK(shellac::for_each_run(levels.memory, patch.all(),
                             shellac::point::AddDiffusion{rows, shellac::NeighbourList(rows)}));
    const Dense after = dense_of(on_host(), patch);
    CHECK(largest_difference(after, wanted) <= 1e-12);
    CHECK(difference(times_inverses(after, on_host(), patch), Values(n, 1)) <= 1e-12);
    const bool nonsymmetric = levels.of_restriction.size() > 0;
    CHECK((changed > 0) == nonsymmetric);
    CHECK((damped > 0) == nonsymmetric);
    OK(shellac::for_each_run(levels.memory, patch.all(), shellac::point::DampRows{to_change(levels.memory, &room)}));
    CHECK(difference(times_inverses(after, on_host(), patch), of_damped) <= 1e-12);
  });
}
