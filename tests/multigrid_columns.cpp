// Passes over columns of three-dimensional levels beside the same passes point by point, on the host and, where there
// is one, on a GPU.

#include "catch.hpp"

#include "gpu.hpp"
#include "multigrid/gpu/columns.hpp"
#include "multigrid/coarse/direct.hpp"
#include "multigrid/gpu/restrict_residual.hpp"
#include "multigrid/gpu/sweep_pairs.hpp"
#include "multigrid/prolong.hpp"
#include "multigrid/restrict.hpp"
#include "multigrid/smooth.hpp"

using namespace tests;
using shellac::column::Does;

using Values = std::vector<PetscScalar>;

enum class Spacing { any, uniform, equal }; // all masses and edges differ; or only those at the ends do; or none does

// A chain, and the next coarser one.
struct Chain {
  shellac::Axis                                  axis, coarse;
  shellac::Coarsening                            coarsening;
  shellac::Mirror<shellac::AxisPoint<PetscReal>> points;

  Chain(Spacing spacing, PetscInt N, bool wants_coarse, bool fixed, int seed, bool periodic = false) {
    const auto random = [&](PetscInt i, int kind) {
      const bool inside = spacing == Spacing::equal || (spacing == Spacing::uniform && i > 1 && i < N - 1);
      return PetscRealPart(random_value(inside ? 0 : (size_t)i, seed + kind));
    };
    for (PetscInt i = 0; i < N; i++) axis.mass.push_back(1.2 + random(i, 0));
    for (PetscInt i = 0; i <= N; i++) axis.edge.push_back(1.5 + random(i, 1));
    axis.fixed = fixed && !periodic && N > 2;
    axis.periodic = periodic;
    if (periodic) axis.edge.back() = axis.edge.front();
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

// Returns how often it compared passes of two red-black steps.
static int compare(PetscMemType memory, Spacing spacing, const PetscInt N[3], int coarsens, bool fixed,
                   int periodic = 0) {
  const auto                           around = [&](int a) { return (periodic >> a & 1) && N[a] % 2 == 0; };
  Chain                                chain[3] = {{spacing, N[0], (coarsens & 1) != 0, fixed, 1, around(0)},
                                                   {spacing, N[1], (coarsens & 2) != 0, false, 3, around(1)},
                                                   {spacing, N[2], (coarsens & 4) != 0, fixed, 5, around(2)}};
  int                                  pairs = 0;
  shellac::SeparableLevel<PetscScalar> level = {};
  shellac::Patch                       coarse = {};
  const PetscReal                      least = spacing == Spacing::any ? 0.05 : 0.01;
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
    level.patch.periodic[a] = coarse.periodic[a] = around(a);
  }
  level.patch.width = coarse.width = 4;
  level.counted = level.patch.all(); // of a norm, but for the first planes
  for (int a = 0; a < 3; a++) level.counted.lo[a] = PetscMin(a, N[a] - 1);
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
  using Part = shellac::SeparableLevel<T>;
  const auto points = [&](const auto &make) { return written(memory, level.patch.all(), fine, make); };
  const auto with = [&](auto width_of, auto wraps) {
    constexpr PetscInt width = decltype(width_of)::value;
    INFO(width << " points a thread");
    const auto columns = [&](const auto &make) {
      return written(memory, shellac::column::threads(level.patch, width), fine, make);
    };
    check_equal("smoothing", least, columns([&](T *out) {
                  return shellac::column::Step<Does::smooth, width, decltype(wraps)::value, T>{level, level.omega[0],
                                                                                               u.u, b, out};
                }),
                points([&](T *out) {
                  return shellac::point::Smooth<Part>{level, 0, u, b, out};
                }));
    check_equal("smoothing from zero", least, columns([&](T *out) {
                  return shellac::column::Step<Does::smooth_zero, width, decltype(wraps)::value, T>{
                      level, level.omega[0], nullptr, b, out};
                }),
                points([&](T *out) {
                  return shellac::point::Smooth<Part>{level, 0, none, b, out};
                }));
    check_equal("residual", least, columns([&](T *out) {
                  return shellac::column::Step<Does::residual, width, decltype(wraps)::value, T>{level, 0, u.u, b, out};
                }),
                points([&](T *out) {
                  return shellac::point::Residual<Part>{level, u, b, out};
                }));
    check_equal("correction", least, columns([&](T *out) {
                  return shellac::column::Correct<width, T>{level, coarse, e.u, u.u, out};
                }),
                points([&](T *out) {
                  return shellac::point::Correct<Part>{level, coarse, e, u.u, out};
                }));
    check_equal("restriction", least,
                written(memory, shellac::column::threads(coarse, width), few,
                        [&](T *out) {
                          return shellac::column::Restrict<width, T>{level, coarse, u.u, out};
                        }),
                written(memory, coarse.all(), few, [&](T *out) {
                  return shellac::point::Restrict<Part>{level, coarse, u, out};
                }));
  };
  const std::integral_constant<PetscInt, shellac::column::many> many;
  const std::integral_constant<PetscInt, shellac::column::few>  few_points;
  with(many, std::true_type());
  with(few_points, std::true_type());
  if (!periodic) with(many, std::false_type()), with(few_points, std::false_type());
#if SHELLAC_CUDA
  if (PetscMemTypeHost(memory) || periodic) return pairs;
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
    r_values.change() = points([&](T *out) { return shellac::point::Residual<Part>{level, u, b, out}; });
    r.u = in(memory, r_values);
    check_equal(
        "residual and restriction", 0.01,
        on_gpu(few, [&](T *out) { return shellac::restrict_residual(level, coarse, u.u, b, out, nullptr, nullptr); }),
        written(memory, coarse.all(), few, [&](T *out) {
          return shellac::point::Restrict<Part>{level, coarse, r, out};
        }));
    const auto              parts = shellac::plan_residual<T>(coarse).count();
    double                  sum = 0, by_points = 0;
    shellac::Mirror<double> norms;
    double                 *array;
    OK(norms.MakeZero(memory, (size_t)parts + 1, &array));
    (void)on_gpu(few,
                 [&](T *out) { return shellac::restrict_residual(level, coarse, u.u, b, out, array, array + parts); });
    OK((PetscErrorCode)cudaMemcpy(&sum, array + parts, sizeof(sum), cudaMemcpyDeviceToHost));
    for (PetscInt64 n = 0; n < fine; n++) {
      const PetscInt p[3] = {(PetscInt)(n % N[0]), (PetscInt)(n / N[0] % N[1]), (PetscInt)(n / N[0] / N[1])};
      bool           in = true;
      for (int a = 0; a < 3; a++) in = in && chain[a].points.host()[(size_t)(shellac::axis_reach + p[a])].in != 0;
      if (in && level.counted.contains(p)) by_points += shellac::squared(r_values.host()[(size_t)n]);
    }
    CHECK(std::abs(sum - by_points) <= 1e-12 * by_points);
  }
  level.red_black = true;
  level.omega[0] = 1.3;
  level.omega[1] = 0.8;
  // the half-steps from `from`
  const auto half_steps = [&](const shellac::Field<PetscScalar> &from, int count) {
    shellac::Mirror<PetscScalar> values[2];
    shellac::Field<PetscScalar>  now = from;
    for (int n = 0; n < count; n++) {
      const int half = n % 2;
      values[half].change() = points([&](T *out) { return shellac::point::Smooth<Part>{level, half, now, b, out}; });
      now.u = in(memory, values[half]);
    }
    return values[(count + 1) % 2].host();
  };
  level.steps = 2;
  for (level.first_colour = 0; level.first_colour < 2; level.first_colour++)
    for (const shellac::Field<PetscScalar> &from : {u, none}) {
      INFO("first colour " << level.first_colour << (from.u ? "" : ", from zero"));
      if (!shellac::can_sweep_pairs<T>()) continue;
      for (const bool corrects : {false, true}) {
        if (corrects && coarsens != 7) continue;
        INFO((corrects ? "with a correction" : "without a correction"));
        const T                     *correction = corrects ? e.u : nullptr;
        shellac::Mirror<PetscScalar> corrected_values;
        shellac::Field<PetscScalar>  start = from;
        if (corrects) {
          corrected_values.change() = points([&](T *out) {
            return shellac::point::Correct<Part>{level, coarse, e, from.u, out};
          });
          start.u = in(memory, corrected_values);
        }
        check_equal(
            "a step in one pass", 0.01,
            on_gpu(fine,
                   [&](T *out) { return shellac::run_sweep_pairs<2>(level, coarse, 0, from.u, b, correction, out); }),
            half_steps(start, 2));
        check_equal(
            "two steps in one pass", 0.01,
            on_gpu(fine,
                   [&](T *out) { return shellac::run_sweep_pairs<4>(level, coarse, 0, from.u, b, correction, out); }),
            half_steps(start, 4));
        pairs++;
      }
    }
#endif
  return pairs;
}

TEST_CASE("passes over columns are those over points", "[multigrid]") {
  int            number = 0;
  const PetscInt sizes[][3] = {{7, 5, 9}, {24, 20, 18}, {33, 9, 31}, {2, 6, 17}, {40, 3, 8}, {5, 12, 2}, {127, 18, 21}};
  for (const PetscMemType memory : {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_DEVICE}) {
    if (PetscMemTypeDevice(memory) && no_gpu(false)) continue;
    for (const auto &N : sizes)
      for (int coarsens = 1; coarsens < 8; coarsens++)
        for (const bool fixed : {false, true})
          for (const Spacing spacing : {Spacing::any, Spacing::uniform}) {
            if (!in_turn(number++)) continue;
            const int periodic = number % 3 ? 0 : 1 + number / 3 % 7;
            INFO((PetscMemTypeDevice(memory) ? "GPU, " : "host, ")
                 << N[0] << " x " << N[1] << " x " << N[2] << ", coarsened axes " << coarsens
                 << (fixed ? ", fixed ends" : "") << (spacing == Spacing::uniform ? ", uniform" : "")
                 << ", periodic axes " << periodic);
            (void)compare(memory, spacing, N, coarsens, fixed, periodic);
          }
  }
}

#if SHELLAC_CUDA
TEST_CASE("passes of one and two red-black steps, as large levels take them, are steps over points", "[multigrid]") {
  if (no_gpu(false)) return;
  const PetscInt sizes[][3] = {{33, 20, 31}, {129, 45, 12}, {9, 65, 9}};
  for (const auto &N : sizes) {
    INFO(N[0] << " x " << N[1] << " x " << N[2]);
    const int count = shellac::can_sweep_pairs<PetscScalar>() ? 8 : 0;
    for (const Spacing spacing : {Spacing::equal, Spacing::uniform, Spacing::any})
      for (const bool fixed : {false, true}) // their rows are others
        CHECK(compare(PETSC_MEMTYPE_DEVICE, spacing, N, 7, fixed) == count);
  }
}
#endif

// The solution of a level by its axes' modes. old: one whose modes it may take; or null
template <class T>
static std::vector<T> solution(PetscMemType memory, const shellac::Axis axes[3], PetscScalar sigma,
                               shellac::DirectSolve<T> *old, const std::vector<T> &b, shellac::DirectSolve<T> *solve) {
  shellac::Mirror<T> b_values, x_values;
  const T           *from, *all;
  T                 *x;
  b_values.change() = b;
  bool failed = true;
  OK(solve->Create(axes, sigma, old, PetscMemTypeDevice(memory) && shellac::is_solved_in_quarters<T>(axes), &failed));
  if (old) solve->TakeMemory(old);
  CHECK(!failed);
  OK(solve->Prepare(memory));
  OK(b_values.Get(memory, &from));
  OK(x_values.MakeZero(memory, b.size(), &x));
  OK(solve->Apply(memory, from, x));
  OK(x_values.Get(PETSC_MEMTYPE_HOST, &all));
  return std::vector<T>(all, all + b.size());
}

template <class T> static void compare_solutions(const PetscInt N[3], bool by_sines, PetscReal most) {
  shellac::Axis  axes[3];
  std::vector<T> b;
  for (int a = 0; a < 3; a++) {
    axes[a] = Chain(Spacing::any, N[a], false, false, 2 * a).axis;
    if (!by_sines || N[a] == 1) continue;
    axes[a].mass.assign(N[a], 0.3);
    axes[a].edge.assign(N[a] + 1, 1 + a);
  }
  for (PetscInt n = 0; n < N[0] * N[1] * N[2]; n++) b.push_back((T)random_value((size_t)n, 6));
  shellac::DirectSolve<T> of_gpu, of_host;
  const auto on_gpu = solution(PETSC_MEMTYPE_DEVICE, axes, 0.3, (shellac::DirectSolve<T> *)nullptr, b, &of_gpu),
             on_host = solution(PETSC_MEMTYPE_HOST, axes, 0.3, (shellac::DirectSolve<T> *)nullptr, b, &of_host);
  double difference = 0, size = 0;
  for (size_t n = 0; n < b.size(); n++) {
    difference += shellac::squared(on_gpu[n] - on_host[n]);
    size += shellac::squared(on_host[n]);
  }
  CHECK(size > 0);
  CHECK(difference <= most * most * size);
}

TEST_CASE("a GPU solves a level by its axes' modes as the host does", "[multigrid]") {
  if (no_gpu(false)) return;
  const PetscInt sizes[][3] = {{31, 31, 1},  {32, 32, 1}, {5, 29, 1}, {20, 1, 1},   {36, 36, 1},
                               {60, 12, 1},  {7, 7, 7},   {9, 1, 14}, {31, 31, 31}, {32, 32, 32},
                               {17, 30, 20}, {2, 3, 32},  {1, 8, 25}};
  for (const auto &N : sizes) {
    INFO(N[0] << " x " << N[1] << " x " << N[2]);
    for (const bool by_sines : {false, true}) {
      compare_solutions<PetscScalar>(N, by_sines, 1e-12);
      compare_solutions<shellac::SingleOf<PetscScalar>::type>(N, by_sines, 1e-5);
    }
  }
}

TEST_CASE("the modes of uniform axes solve a level", "[multigrid]") {
  const PetscInt N[3] = {31, 6, 2};
  shellac::Axis  axes[3];
  for (int a = 0; a < 3; a++) axes[a].mass.assign(N[a], 0.3), axes[a].edge.assign(N[a] + 1, 1 + a);
  const Values                      b = random_values(N[0] * N[1] * N[2], 6);
  shellac::DirectSolve<PetscScalar> solve, *none = nullptr;
  const Values                      x = solution(PETSC_MEMTYPE_HOST, axes, 0.4, none, b, &solve);
  Values                            Ax = x;
  const PetscInt                    stride[3] = {1, N[0], N[0] * N[1]};
  for (PetscInt n = 0; n < N[0] * N[1] * N[2]; n++) {
    Ax[n] *= 0.4;
    for (int a = 0; a < 3; a++) {
      const PetscInt i = n / stride[a] % N[a];
      for (const PetscInt step : {PetscInt(-1), PetscInt(1)}) {
        const bool in = i + step >= 0 && i + step < N[a];
        Ax[n] += axes[a].edge[i] / axes[a].mass[i] * (x[n] - (in ? x[n + step * stride[a]] : PetscScalar(0)));
      }
    }
  }
  PetscReal most = 0;
  for (size_t n = 0; n < b.size(); n++) most = PetscMax(most, PetscAbsScalar(Ax[n] - b[n]));
  CHECK(most <= 100 * exact);
}

TEST_CASE("a GPU solves a level of two uniform axes in quarters as the host does", "[multigrid]") {
  if (no_gpu(false)) return;
  const PetscInt sizes[][3] = {{127, 127, 1}, {128, 128, 1}, {63, 127, 1}, {100, 33, 1}, {3, 40, 1}};
  for (const auto &N : sizes) {
    INFO(N[0] << " x " << N[1]);
    compare_solutions<PetscScalar>(N, true, 1e-12);
    compare_solutions<shellac::SingleOf<PetscScalar>::type>(N, true, 1e-5);
  }
}

TEST_CASE("a level's modes serve after a shift, and not for other axes", "[multigrid]") {
  const PetscInt N[3] = {9, 7, 8};
  for (const PetscMemType memory : {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_DEVICE}) {
    if (PetscMemTypeDevice(memory) && no_gpu(false)) continue;
    shellac::DirectSolve<PetscScalar> first, shifted, other, again, *none = nullptr;
    shellac::Axis                     axes[3];
    for (int a = 0; a < 3; a++) axes[a] = Chain(Spacing::any, N[a], false, false, 2 * a).axis;
    const Values b = random_values(N[0] * N[1] * N[2], 6), before = solution(memory, axes, 0.3, none, b, &first),
                 after = solution(memory, axes, 0.9, &first, b, &shifted);
    CHECK(after != before);
    CHECK(after == solution(memory, axes, 0.9, none, b, &again));
    axes[1].mass[2] *= 2;
    shellac::DirectSolve<PetscScalar> of_new;
    const Values                      changed = solution(memory, axes, 0.9, &shifted, b, &other);
    CHECK(changed != after);
    CHECK(changed == solution(memory, axes, 0.9, none, b, &of_new));
  }
}
