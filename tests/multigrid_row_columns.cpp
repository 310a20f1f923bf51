// Passes over columns of levels in 3-D with variable coefficients beside the same passes point by point, on the host
// and, where there is one, on a GPU.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid/gpu/variable_planes.hpp"
#include "multigrid/prolong.hpp"
#include "multigrid/restrict.hpp"
#include "multigrid/smooth.hpp"

using namespace tests;
using shellac::Box;
using shellac::variable_column::Does;
using T = PetscScalar;
using Values = std::vector<T>;
using Part = shellac::VariableLevel<T>;

namespace {

enum class RowForm { symmetric, weighted, nonsymmetric };
const char *const names[] = {"symmetric", "with masses", "nonsymmetric"};

struct Case {
  PetscInt N[3];
  int      around, coarsens, offset; // a bit for each axis
  bool     star;
  RowForm  form;

  bool has(int bits, int a) const { return bits >> a & 1; }
};

// A level with random rows and weights of interpolation.
struct Level {
  Part               part = {};
  shellac::Patch     coarse = {};
  shellac::Mirror<T> rows, weights, restriction, mass;

  Level(const Case &of, PetscMemType memory);

private:
  // A point on the patch where that is, also around an axis.
  bool wrap(PetscInt p[3]) const {
    bool inside = true;
    for (int a = 0; a < 3; a++) {
      if (part.patch.periodic[a]) p[a] = (p[a] % part.patch.N[a] + part.patch.N[a]) % part.patch.N[a];
      inside = inside && p[a] >= 0 && p[a] < part.patch.N[a];
    }
    return inside;
  }
  size_t number(const PetscInt p[3]) const { return part.patch.index(p[0], p[1], p[2]); }
};

Level::Level(const Case &of, PetscMemType memory) {
  shellac::Patch &patch = part.patch;
  const auto      positive = [](size_t n, int seed) { return T(1.5 + PetscRealPart(random_value(n, seed))); };
  size_t          corners = 1;
  for (int a = 0; a < 3; a++) {
    patch.N[a] = patch.size[a] = of.N[a];
    patch.periodic[a] = of.has(of.around, a);
    part.coarsens[a] = of.has(of.coarsens, a);
    part.offset[a] = part.coarsens[a] && of.has(of.offset, a);
    part.neighbours.present[a] = true;
    coarse.periodic[a] = patch.periodic[a];
    coarse.N[a] = coarse.size[a] = part.coarsens[a] ? (of.N[a] + 1 - part.offset[a]) / 2 : of.N[a];
    corners *= part.coarsens[a] ? 2 : 1;
  }
  patch.width = coarse.width = 4;
  part.neighbours.star = of.star;
  part.omega[0] = 0.6, part.omega[1] = 1.3, part.omega[2] = 0.8;
  part.grown = patch.all();
  for (int a = 0; a < 3; a++) {
    part.grown.lo[a] -= shellac::level_reach(patch, a);
    part.grown.hi[a] += shellac::level_reach(patch, a);
  }
  const size_t points = (size_t)part.grown.points();
  const int    arms = part.neighbours.count();
  rows.change().resize((shellac::FIRST_COUPLING + arms) * points);
  weights.change().resize(corners * points);
  restriction.change().resize(corners * points);
  if (of.form == RowForm::weighted) mass.change().resize(points);
  shellac::for_each_on_host(part.grown, [&](PetscInt i, PetscInt j, PetscInt k) {
    PetscInt     p[3] = {i, j, k};
    const size_t at = part.grown.index(p);
    if (!wrap(p)) return;
    const size_t here = number(p);
    const T      m = of.form == RowForm::weighted ? positive(here, 90) : T(1);
    const bool   is_fixed = here % 61 == 5;
    T            sum = rows.change()[at] = (p[1] + p[2]) % 3 == 0 && !is_fixed ? T(0.2) : T(0);
    int          slot = shellac::FIRST_COUPLING;
    part.neighbours.each([&](const PetscInt *d) {
      PetscInt   q[3] = {p[0] + d[0], p[1] + d[1], p[2] + d[2]};
      const int  number_of_arm = shellac::step_place(d[0], d[1], d[2]);
      const bool is_upper = number_of_arm > 13;
      T         &coupling = rows.change()[(size_t)slot++ * points + at];
      if (!wrap(q)) return;
      const size_t there = number(q);
      if (is_fixed || there % 61 == 5) return;
      coupling = of.form == RowForm::nonsymmetric
                     ? positive(here, number_of_arm)
                     : positive(is_upper ? here : there, is_upper ? number_of_arm : 26 - number_of_arm) / m;
      sum += coupling;
    });
    if (sum != T(0))
      rows.change()[shellac::INVERSE_DIAGONAL * points + at] = T(of.form == RowForm::nonsymmetric ? 0.9 : 1) / sum;
    if (mass.size()) mass.change()[at] = m;
    PetscInt c[3];
    for (c[2] = 0; c[2] <= part.between(2, p[2]); c[2]++)
      for (c[1] = 0; c[1] <= part.between(1, p[1]); c[1]++)
        for (c[0] = 0; c[0] <= part.between(0, p[0]); c[0]++) {
          const size_t corner =
              (size_t)(c[0] + (part.coarsens[0] ? 2 : 1) * (c[1] + (part.coarsens[1] ? 2 : 1) * c[2]));
          weights.change()[corner * points + at] = random_value(here, 40 + (int)corner);
          restriction.change()[corner * points + at] = random_value(here, 50 + (int)corner);
        }
  });
  OK(rows.Get(memory, &part.rows));
  OK(weights.Get(memory, &part.weights));
  OK(restriction.Get(memory, &part.restriction));
  if (mass.size()) OK(mass.Get(memory, &part.mass));
}

// A functor's result on a box.
template <class Make> Values written(PetscMemType memory, const Box &box, PetscInt64 n, const Make &make) {
  shellac::Mirror<T> out;
  T                 *array;
  const T           *all;
  OK(out.MakeZero(memory, (size_t)n, &array));
  OK(shellac::for_each_of_box(memory, box, make(array)));
  OK(out.Get(PETSC_MEMTYPE_HOST, &all));
  return Values(all, all + n);
}

struct Vector {
  shellac::Mirror<T> values;
  shellac::Field<T>  field = {};

  Vector(PetscMemType memory, const Values &of) {
    values.change() = of;
    OK(values.Get(memory, &field.u));
  }
  static Values random(PetscInt64 n, int seed) {
    Values all;
    for (size_t i = 0; i < (size_t)n; i++) all.push_back(random_value(i, seed));
    return all;
  }
};

void check_equal(const char *what, const Values &by_columns, const Values &by_points) {
  PetscReal most = 0, size = 0;
  for (size_t i = 0; i < by_points.size(); i++) {
    most = PetscMax(most, PetscAbsScalar(by_columns[i] - by_points[i]));
    size = PetscMax(size, PetscAbsScalar(by_points[i]));
  }
  INFO(what);
  CHECK(size > 0.01);
  CHECK(most <= 1e-13 * size);
}

template <bool star, bool symmetric> void compare_steps(PetscMemType memory, const Level &level, PetscInt width) {
  const auto      &part = level.part;
  const Box        all = part.patch.all(), columns = shellac::column::threads(part.patch, width);
  const PetscInt64 fine = all.points();
  const Vector     u(memory, Vector::random(fine, 7)), b(memory, Vector::random(fine, 8));
  const T         *f = b.field.u;
  check_equal("smoothing",
              written(memory, columns, fine,
                      [&](T *out) {
                        using Step = shellac::variable_column::Step<Does::smooth, star, symmetric, T>;
                        return Step(part, part.omega[1], width, u.field.u, f, out);
                      }),
              written(memory, all, fine, [&](T *out) {
                return shellac::point::Smooth<Part>{part, 1, u.field, f, out};
              }));
  check_equal("residual",
              written(memory, columns, fine,
                      [&](T *out) {
                        using Step = shellac::variable_column::Step<Does::residual, star, symmetric, T>;
                        return Step(part, 0, width, u.field.u, f, out);
                      }),
              written(memory, all, fine, [&](T *out) {
                return shellac::point::Residual<Part>{part, u.field, f, out};
              }));
}

#if SHELLAC_CUDA && !defined(PETSC_USE_COMPLEX)
// Several steps in one pass, which only a GPU has.
template <bool from_zero> void compare_planes(const Level &level) {
  const PetscMemType memory = PETSC_MEMTYPE_DEVICE;
  const auto        &part = level.part;
  const Box          all = part.patch.all();
  const PetscInt64   fine = all.points();
  const Vector       u(memory, Vector::random(fine, 7)), b(memory, Vector::random(fine, 8));
  shellac::Mirror<T> by_planes;
  T                 *array;
  Values             by_points = from_zero ? Values() : u.values.host();
  for (int step = 0; step < shellac::RowPlanes<from_zero>::steps; step++) {
    const shellac::Field<T>  zero = {};
    const Vector             before(memory, by_points);
    const shellac::Field<T> &from = from_zero && step == 0 ? zero : before.field;
    by_points = written(memory, all, fine, [&](T *out) {
      return shellac::point::Smooth<Part>{part, step, from, b.field.u, out};
    });
  }
  OK(by_planes.MakeZero(memory, (size_t)fine, &array));
  OK((shellac::run_step_over_planes<from_zero>(part, 0, u.field.u, b.field.u, array)));
  const T *values;
  OK(by_planes.Get(PETSC_MEMTYPE_HOST, &values));
  check_equal(from_zero ? "three steps from zero by planes" : "two steps by planes", Values(values, values + fine),
              by_points);
}
#endif

void compare_transfers(PetscMemType memory, const Level &level) {
  const auto           &part = level.part;
  const shellac::Patch &coarse = level.coarse;
  const Box             all = part.patch.all(), of_coarse = coarse.all();
  const PetscInt64      fine = all.points(), few = of_coarse.points();
  const Vector          u(memory, Vector::random(fine, 7)), e(memory, Vector::random(few, 9));
  const Values          by_points = written(memory, of_coarse, few, [&](T *out) {
    return shellac::point::Restrict<Part>{part, coarse, u.field, out};
  });
  const auto            restricted = [&](auto weighted) {
    return written(memory, of_coarse, few, [&](T *out) {
      return shellac::variable_column::Restrict<decltype(weighted)::value, T>(part, coarse, u.field.u, out);
    });
  };
  check_equal("restriction", part.mass ? restricted(std::true_type()) : restricted(std::false_type()), by_points);
  for (const T *guess : {u.field.u, (const T *)nullptr})
    check_equal(
        "correction",
        written(memory, all, fine,
                [&](T *out) { return shellac::variable_column::Correct<T>(part, coarse, e.field.u, guess, out); }),
        written(memory, all, fine, [&](T *out) {
          return shellac::point::Correct<Part>{part, coarse, e.field, guess, out};
        }));
}

void compare(PetscMemType memory, const Case &of) {
  const Level level(of, memory);
  const bool  symmetric = of.form == RowForm::symmetric;
  for (PetscInt width : {shellac::variable_column::most_points, (PetscInt)2, (PetscInt)1}) {
    INFO(width << " points a thread");
    if (of.star && symmetric) compare_steps<true, true>(memory, level, width);
    if (of.star && !symmetric) compare_steps<true, false>(memory, level, width);
    if (!of.star && symmetric) compare_steps<false, true>(memory, level, width);
    if (!of.star && !symmetric) compare_steps<false, false>(memory, level, width);
  }
  compare_transfers(memory, level);
#if SHELLAC_CUDA && !defined(PETSC_USE_COMPLEX)
  if (!PetscMemTypeDevice(memory) || !of.star || !symmetric || of.N[2] < shellac::least_planes ||
      !shellac::has_memory_for_row_planes())
    return;
  compare_planes<false>(level);
  compare_planes<true>(level);
#endif
}

} // namespace

TEST_CASE("passes over columns with variable coefficients are those over points", "[multigrid]") {
  const PetscInt sizes[][3] = {{7, 5, 9}, {34, 6, 10}, {8, 12, 4}, {2, 4, 6}, {5, 9, 17}, {66, 3, 2}, {61, 50, 9}};
  for (const PetscMemType memory : {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_DEVICE}) {
    if (PetscMemTypeDevice(memory) && no_gpu(false)) continue;
    for (const auto &N : sizes)
      for (int n = 0; n < 48; n++) {
        if (!in_turn(n)) continue;
        Case of = {{N[0], N[1], N[2]}, n % 8, 7 - n * 5 % 7, n / 6 % 8, n % 2 == 0, (RowForm)(n / 2 % 3)};
        for (int a = 0; a < 3; a++)
          if (of.has(of.around, a) && N[a] % 2 && of.has(of.coarsens, a)) of.coarsens -= 1 << a;
        for (int a = 0; a < 3; a++)
          if (of.has(of.around, a) || N[a] == 2) of.offset &= ~(1 << a);
        INFO((PetscMemTypeDevice(memory) ? "GPU, " : "host, ")
             << N[0] << " x " << N[1] << " x " << N[2] << ", periodic axes " << of.around << ", coarsened axes "
             << of.coarsens << ", offsets " << of.offset << (of.star ? ", star, " : ", box, ") << names[(int)of.form]);
        compare(memory, of);
      }
  }
}
