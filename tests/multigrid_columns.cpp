// Passes over columns of three-dimensional levels beside the same passes point by point, on the host and, where there is one, on a GPU.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid/columns.hpp"
#include "multigrid/residuals.hpp"
#include "multigrid/sweeps.hpp"

using namespace tests;
using shellac::column::Does;

using Values = std::vector<PetscScalar>;

enum class Spacing { any, uniform }; // all masses and edges differ; or only those at the ends do

// A chain, and the next coarser one.
struct Chain {
  shellac::Axis                                  axis, coarse;
  shellac::Coarsening                            coarsening;
  shellac::Mirror<shellac::AxisPoint<PetscReal>> points;

  Chain(Spacing spacing, PetscInt N, bool wants_coarse, bool fixed, int seed) {
    const auto random = [&](PetscInt i, int kind) {
      const bool inside = spacing == Spacing::uniform && i > 1 && i < N - 1;
      return PetscRealPart(random_value(inside ? 0 : (size_t)i, seed + kind));
    };
    for (PetscInt i = 0; i < N; i++) axis.mass.push_back(1.2 + random(i, 0));
    for (PetscInt i = 0; i <= N; i++) axis.edge.push_back(1.5 + random(i, 1));
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

// least: how large results are at least; small ones would prove nothing.
static void check_equal(const char *what, PetscReal least, const Values &by_columns, const Values &by_points) {
  INFO(what);
  PetscReal most = 0, size = 0;
  for (size_t i = 0; i < by_points.size(); i++) {
    most = PetscMax(most, PetscAbsScalar(by_columns[i] - by_points[i]));
    size = PetscMax(size, PetscAbsScalar(by_points[i]));
  }
  CHECK(size > least);
  CHECK(most <= 1e-13 * size);
}

static void compare(PetscMemType memory, Spacing spacing, const PetscInt N[3], int coarsens, bool fixed) {
  Chain                           chain[3] = {{spacing, N[0], (coarsens & 1) != 0, fixed && N[0] > 2, 1},
                                              {spacing, N[1], (coarsens & 2) != 0, false, 3},
                                              {spacing, N[2], (coarsens & 4) != 0, fixed && N[2] > 2, 5}};
  shellac::LevelPart<PetscScalar> level = {};
  shellac::Patch                  coarse = {};
  const PetscReal                 least = spacing == Spacing::any ? 0.1 : 0.01;
  level.sigma = 0.3;
  level.omega[0] = 0.7;
  for (int a = 0; a < 3; a++) {
    const shellac::AxisPoint<PetscReal> *points;
    OK(chain[a].points.Get(memory, &points));
    level.axis[a] = points + shellac::axis_reach;
    level.coarsens[a] = chain[a].coarsening.coarsens;
    level.offset[a] = chain[a].coarsening.offset;
    level.patch.N[a] = level.patch.size[a] = N[a];
    shellac::find_typical(a, chain[a].points.host(), 0, &level);
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
  check_equal("smoothing", least, columns([&](T *out) {
                return shellac::column::Step<Does::smooth, T, T, T>{level, level.omega[0], u.u, b, out};
              }),
              points([&](T *out) {
                return shellac::point::Smooth<T, T, T>{level, 0, u, b, out};
              }));
  check_equal("smoothing from zero", least, columns([&](T *out) {
                return shellac::column::Step<Does::smooth_zero, T, T, T>{level, level.omega[0], nullptr, b, out};
              }),
              points([&](T *out) {
                return shellac::point::Smooth<T, T, T>{level, 0, none, b, out};
              }));
  check_equal("residual", least, columns([&](T *out) {
                return shellac::column::Step<Does::residual, T, T, T>{level, 0, u.u, b, out};
              }),
              points([&](T *out) {
                return shellac::point::Residual<T, T>{level, u, b, out};
              }));
  check_equal("correction", least, columns([&](T *out) {
                return shellac::column::Correct<T>{level, coarse, e.u, u.u, out};
              }),
              points([&](T *out) {
                return shellac::point::Correct<T>{level, coarse, e, u.u, out};
              }));
  check_equal("restriction", least,
              written(memory, shellac::column::threads(coarse), few,
                      [&](T *out) {
                        return shellac::column::Restrict<T>{level, coarse, u.u, out};
                      }),
              written(memory, coarse.all(), few, [&](T *out) {
                return shellac::point::Restrict<T>{level, coarse, u, out};
              }));
#if SHELLAC_CUDA
  if (PetscMemTypeHost(memory)) return;
  const auto on_gpu = [&](PetscInt64 n, const auto &pass) {
    shellac::Mirror<PetscScalar> out;
    T                           *array;
    OK(out.MakeZero(memory, (size_t)n, &array));
    OK(pass(array));
    const T *all = in(PETSC_MEMTYPE_HOST, out);
    return Values(all, all + n);
  };
  if (coarsens == 7) {
    shellac::Mirror<PetscScalar> r_values;
    shellac::Field<PetscScalar>  r = {};
    r_values.change() = points([&](T *out) { return shellac::point::Residual<T, T>{level, u, b, out}; });
    r.u = in(memory, r_values);
    REQUIRE(shellac::restricts_residual_at_once(level));
    check_equal("residual and restriction", 0.01,
                on_gpu(few, [&](T *out) { return shellac::restrict_residual(level, coarse, u.u, b, out); }),
                written(memory, coarse.all(), few, [&](T *out) {
                  return shellac::point::Restrict<T>{level, coarse, r, out};
                }));
  }
  level.red_black = true;
  level.omega[0] = 1.3;
  level.omega[1] = 0.8;
  for (level.first_colour = 0; level.first_colour < 2; level.first_colour++)
    for (const shellac::Field<PetscScalar> &from : {u, none}) {
      INFO("first colour " << level.first_colour << (from.u ? "" : ", from zero"));
      shellac::Mirror<PetscScalar> half_values;
      shellac::Field<PetscScalar>  half = {};
      half_values.change() = points([&](T *out) { return shellac::point::Smooth<T, T, T>{level, 0, from, b, out}; });
      half.u = in(memory, half_values);
      check_equal("red-black step", 0.01,
                  on_gpu(fine, [&](T *out) { return shellac::run_sweep(level, 0, from.u, b, out); }),
                  points([&](T *out) {
                    return shellac::point::Smooth<T, T, T>{level, 1, half, b, out};
                  }));
    }
#endif
}

TEST_CASE("passes over columns are those over points", "[multigrid]") {
  const PetscInt sizes[][3] = {{7, 5, 9}, {24, 20, 18}, {33, 9, 31}, {2, 6, 17}, {40, 3, 8}, {5, 12, 2}, {127, 18, 21}};
  for (const PetscMemType memory : {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_DEVICE}) {
    if (PetscMemTypeDevice(memory) && no_gpu(false)) continue;
    for (const auto &N : sizes)
      for (int coarsens = 1; coarsens < 8; coarsens++)
        for (const bool fixed : {false, true})
          for (const Spacing spacing : {Spacing::any, Spacing::uniform}) {
            INFO((PetscMemTypeDevice(memory) ? "GPU, " : "host, ")
                 << N[0] << " x " << N[1] << " x " << N[2] << ", coarsened axes " << coarsens
                 << (fixed ? ", fixed ends" : "") << (spacing == Spacing::uniform ? ", uniform" : ""));
            compare(memory, spacing, N, coarsens, fixed);
          }
  }
}
