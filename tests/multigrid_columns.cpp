// Passes over columns of three-dimensional levels beside the same passes point by point, on the host and, where there is one, on a GPU.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid/columns.hpp"

using namespace tests;
using shellac::column::Does;

using Values = std::vector<PetscScalar>;

// A chain with masses and edges of any size, and the next coarser one.
struct Chain {
  shellac::Axis                                  axis, coarse;
  shellac::Coarsening                            coarsening;
  shellac::Mirror<shellac::AxisPoint<PetscReal>> points;

  Chain(PetscInt N, bool wants_coarse, bool fixed, int seed) {
    for (PetscInt i = 0; i < N; i++) axis.mass.push_back(1.2 + PetscRealPart(random_value((size_t)i, seed)));
    for (PetscInt i = 0; i <= N; i++) axis.edge.push_back(1.5 + PetscRealPart(random_value((size_t)i, seed + 1)));
    axis.fixed = fixed;
    coarse = shellac::coarsen(axis, wants_coarse && shellac::can_coarsen(axis), &coarsening);
    points.change() = shellac::axis_points<PetscReal>(axis, coarsening);
  }
};

static Values random_values(PetscInt64 n, int seed) {
  Values values;
  for (size_t i = 0; i < (size_t)n; i++) values.push_back(random_value(i, seed));
  return values;
}

static const PetscScalar *in(PetscMemType memory, shellac::Mirror<PetscScalar> &values) {
  const PetscScalar *array;
  OK(values.Get(memory, &array));
  return array;
}

// Runs a functor on a box; what it wrote.
template <class Make>
static Values written(PetscMemType memory, const shellac::Box &box, PetscInt64 n, const Make &make) {
  shellac::Mirror<PetscScalar> out;
  PetscScalar                 *array;
  OK(out.MakeZero(memory, (size_t)n, &array));
  OK(shellac::for_each_of_box(memory, box, make(array)));
  const PetscScalar *all = in(PETSC_MEMTYPE_HOST, out);
  return Values(all, all + n);
}

static void check_equal(const char *what, const Values &by_columns, const Values &by_points) {
  INFO(what);
  PetscReal most = 0, size = 0;
  for (size_t i = 0; i < by_points.size(); i++) {
    most = PetscMax(most, PetscAbsScalar(by_columns[i] - by_points[i]));
    size = PetscMax(size, PetscAbsScalar(by_points[i]));
  }
  CHECK(size > 0.1);
  CHECK(most <= 1e-13 * size);
}

static void compare(PetscMemType memory, const PetscInt N[3], int coarsens, bool fixed) {
  Chain                           chain[3] = {{N[0], (coarsens & 1) != 0, fixed && N[0] > 2, 1},
                                              {N[1], (coarsens & 2) != 0, false, 3},
                                              {N[2], (coarsens & 4) != 0, fixed && N[2] > 2, 5}};
  shellac::LevelPart<PetscScalar> level = {};
  shellac::Patch                  coarse = {};
  level.sigma = 0.3;
  level.omega[0] = 0.7;
  for (int a = 0; a < 3; a++) {
    const shellac::AxisPoint<PetscReal> *points;
    OK(chain[a].points.Get(memory, &points));
    level.axis[a] = points + shellac::axis_reach;
    level.coarsens[a] = chain[a].coarsening.coarsens;
    level.offset[a] = chain[a].coarsening.offset;
    level.patch.N[a] = level.patch.size[a] = N[a];
    coarse.N[a] = coarse.size[a] = chain[a].coarse.N();
  }
  level.patch.width = coarse.width = 4;
  REQUIRE(shellac::column::fits(level.patch));

  const PetscInt64             fine = level.patch.all().points(), few = coarse.all().points();
  shellac::Mirror<PetscScalar> u_values, b_values, e_values;
  shellac::Field<PetscScalar>  u = {}, e = {}, none = {};
  u_values.change() = random_values(fine, 7);
  b_values.change() = random_values(fine, 8);
  e_values.change() = random_values(few, 9);
  u.u = in(memory, u_values);
  e.u = in(memory, e_values);
  const PetscScalar *b = in(memory, b_values);
  using T = PetscScalar;
  const auto points = [&](const auto &make) { return written(memory, level.patch.all(), fine, make); };
  const auto columns = [&](const auto &make) {
    return written(memory, shellac::column::threads(level.patch), fine, make);
  };
  check_equal("smoothing", columns([&](T *out) {
                return shellac::column::Step<Does::smooth, T, T, T>{level, level.omega[0], u.u, b, out};
              }),
              points([&](T *out) {
                return shellac::point::Smooth<T, T, T>{level, 0, u, b, out};
              }));
  check_equal("smoothing from zero", columns([&](T *out) {
                return shellac::column::Step<Does::smooth_zero, T, T, T>{level, level.omega[0], nullptr, b, out};
              }),
              points([&](T *out) {
                return shellac::point::Smooth<T, T, T>{level, 0, none, b, out};
              }));
  check_equal("residual", columns([&](T *out) {
                return shellac::column::Step<Does::residual, T, T, T>{level, 0, u.u, b, out};
              }),
              points([&](T *out) {
                return shellac::point::Residual<T, T>{level, u, b, out};
              }));
  check_equal("correction", columns([&](T *out) {
                return shellac::column::Correct<T>{level, coarse, e.u, u.u, out};
              }),
              points([&](T *out) {
                return shellac::point::Correct<T>{level, coarse, e, u.u, out};
              }));
  check_equal("restriction",
              written(memory, shellac::column::threads(coarse), few,
                      [&](T *out) {
                        return shellac::column::Restrict<T>{level, coarse, u.u, out};
                      }),
              written(memory, coarse.all(), few, [&](T *out) {
                return shellac::point::Restrict<T>{level, coarse, u, out};
              }));
}

TEST_CASE("passes over columns are those over points", "[multigrid]") {
  const PetscInt sizes[][3] = {{7, 5, 9}, {24, 20, 18}, {33, 9, 31}, {2, 6, 17}, {40, 3, 8}, {5, 12, 2}};
  for (const PetscMemType memory : {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_DEVICE}) {
    if (PetscMemTypeDevice(memory) && no_gpu(false)) continue;
    for (const auto &N : sizes)
      for (int coarsens = 1; coarsens < 8; coarsens++)
        for (const bool fixed : {false, true}) {
          INFO((PetscMemTypeDevice(memory) ? "GPU, " : "host, ")
               << N[0] << " x " << N[1] << " x " << N[2] << ", coarsened axes " << coarsens
               << (fixed ? ", fixed ends" : ""));
          compare(memory, N, coarsens, fixed);
        }
  }
}
