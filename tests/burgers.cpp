// Burgers' equation: schemes against textbook formulas and exact solutions, fused steps against steps one by one, ranks
// against one rank, implicit methods, errors.

#include "catch.hpp"
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <petscts.h>

using namespace tests;

#if defined(PETSC_USE_COMPLEX)

TEST_CASE("Burgers' equation needs real scalars", "[burgers]") {
  Grid da;
  TS   ts;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, 16, 1, 1, NULL, &da));
  OK(DMSetUp(da));
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, da));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"complex", "real"}), [&] { return TSSetBurgers(ts); });
  OK(TSDestroy(&ts));
}

#else

using Stepper = Owned<TS, TSDestroy>;
using Values = std::vector<PetscReal>;
static const PetscReal pi = std::acos((PetscReal)-1);

// ---- a problem and its run -----------------------------------------------------------------------------------------

struct Run {
  Grid    da;
  Stepper ts;
  Vector  u;

  // In 1-D; in 2-D where M > 0. The length of the domain is 2π a side unless an option says otherwise.
  Run(MPI_Comm comm, PetscInt N, bool periodic, const std::string &text, PetscInt M = 0, VecType type = NULL) {
    const DMBoundaryType ends = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    if (M)
      OK(DMDACreate2d(comm, ends, ends, DMDA_STENCIL_STAR, N, M, PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, &da));
    else
      OK(DMDACreate1d(comm, ends, N, 1, 1, NULL, &da));
    if (type) {
      OK(DMSetVecType(da, type));
    } else {
      OK(DMSetFromOptions(da));
    }
    OK(DMSetUp(da));
    OK(TSCreate(comm, &ts));
    OK(TSSetDM(ts, da));
    OK(TSSetProblemType(ts, TS_NONLINEAR));
    OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
    const PetscReal two_pi[2] = {2 * pi, 2 * pi};
    Options         set(text);
    PetscBool       given;
    OK(PetscOptionsHasName(NULL, NULL, "-burgers_lengths", &given));
    OK(TSSetBurgers(ts));
    if (!given) OK(TSBurgersSetLengths(ts, M ? 2 : 1, two_pi));
    OK(TSSetFromOptions(ts));
    OK(DMCreateGlobalVector(da, &u));
  }
  void start(const std::function<PetscReal(PetscInt)> &f) {
    set_values(da, u, [&](const PetscInt p[3]) { return f(p[0]); });
  }
  void step(PetscInt steps, PetscReal dt) {
    OK(TSSetTime(ts, 0));
    OK(TSSetStepNumber(ts, 0));
    OK(TSSetTimeStep(ts, dt));
    OK(TSSetMaxSteps(ts, steps));
    OK(TSSetMaxTime(ts, 1e30));
    OK(TSSolve(ts, u));
  }
  void until(PetscReal time, PetscReal dt) {
    OK(TSSetTime(ts, 0));
    OK(TSSetStepNumber(ts, 0));
    OK(TSSetTimeStep(ts, dt));
    OK(TSSetMaxSteps(ts, 100000000));
    OK(TSSetMaxTime(ts, time));
    OK(TSSolve(ts, u));
  }
  // The whole state on every rank, in natural order.
  Values all() const { return all_of(u); }
  Values all_of(Vec v) const { return natural_values(da, v); }
  Values rate() const {
    Vector r;
    OK(VecDuplicate(u, &r));
    OK(TSComputeRHSFunction(ts, 0, u, r));
    return all_of(r);
  }
};

static PetscReal largest_difference(const Values &x, const Values &y) {
  PetscReal largest = x.size() == y.size() ? 0 : 1e30;
  for (size_t i = 0; i < std::min(x.size(), y.size()); i++) {
    const PetscReal d = std::fabs(x[i] - y[i]);
    largest = d <= largest ? largest : d; // keeps a NaN
  }
  return largest;
}
static PetscReal mean_difference(const Values &x, const Values &y) {
  PetscReal sum = 0;
  for (size_t i = 0; i < x.size(); i++) sum += std::fabs(x[i] - y[i]) / x.size();
  return sum;
}
static PetscReal variation(const Values &u, bool periodic) {
  PetscReal sum = periodic ? std::fabs(u.front() - u.back()) : 0;
  for (size_t i = 1; i < u.size(); i++) sum += std::fabs(u[i] - u[i - 1]);
  return sum;
}
static PetscReal total(const Values &u) {
  PetscReal sum = 0;
  for (PetscReal value : u) sum += value;
  return sum;
}

static const char *const fluxes[] = {"central", "lax_friedrichs", "rusanov", "godunov", "engquist_osher"};
static const char *const reconstructions[] = {"constant", "minmod", "vanleer", "weno5"};
static const int         radii[] = {1, 2, 2, 3};
static const char *const boundaries[] = {"periodic", "outflow", "inflow", "frozen"};

// Several ranks try a part of the cases, each number of ranks another one: all boundaries and reconstructions with some
// sizes and fluxes. Making and freeing buffers of ranks that share a GPU takes long: there still fewer.
static bool is_left_out(int turn) {
  static const bool cuda = makes_cuda_vectors(Run(PETSC_COMM_WORLD, 16, true, "").da);
  if (rank_count() == 1) return false;
  return cuda ? turn % 11 : (turn / 16 + rank_count()) % 3;
}

static bool fits(PetscInt N, int radius) { // a grid that can be distributed
  return N / rank_count() >= radius && (N > radius || radius == 1);
}
static std::string options_of(const char *flux, const char *reconstruction, const char *boundary) {
  return std::string("-burgers_flux ") + flux + " -burgers_reconstruct " + reconstruction + " -burgers_bc " + boundary +
         (strcmp(boundary, "inflow") ? " " : " -burgers_inflow 0.3,-0.4 ");
}
static PetscReal wavy(PetscInt i, PetscInt N) { // smooth parts, jumps, both signs, a sonic point
  const PetscReal x = (PetscReal)i / N;
  return std::sin(2 * pi * x) + (x > 0.3 && x < 0.45 ? -0.7 : 0) + 0.2 * std::cos(14 * pi * x);
}

// ---- textbook formulas, one cell after the other -------------------------------------------------------------------

namespace textbook {

static PetscReal f(PetscReal u) {
  return u * u / 2;
}

static PetscReal flux(const std::string &name, PetscReal a, PetscReal b, PetscReal speed) {
  if (name == "central") return (f(a) + f(b)) / 2;
  if (name == "lax_friedrichs") return (f(a) + f(b)) / 2 - speed / 2 * (b - a);
  if (name == "rusanov") return (f(a) + f(b)) / 2 - std::max(std::fabs(a), std::fabs(b)) / 2 * (b - a);
  if (name == "godunov") { // the least f between a and b where a < b, else the largest
    if (a > b) return std::max(f(a), f(b));
    return a > 0 ? f(a) : b < 0 ? f(b) : 0;
  }
  return f(std::max(a, (PetscReal)0)) + f(std::min(b, (PetscReal)0));
}

static PetscReal minmod(PetscReal a, PetscReal b) {
  if (a * b <= 0) return 0;
  return std::fabs(a) < std::fabs(b) ? a : b;
}

// The upper face's value by Jiang and Shu; u[2] is the cell.
static PetscReal weno(const PetscReal u[5]) {
  const PetscReal q[3] = {(2 * u[0] - 7 * u[1] + 11 * u[2]) / 6, (-u[1] + 5 * u[2] + 2 * u[3]) / 6,
                          (2 * u[2] + 5 * u[3] - u[4]) / 6};
  const auto      square = [](PetscReal x) { return x * x; };
  const PetscReal beta[3] = {
      PetscReal(13) / 12 * square(u[0] - 2 * u[1] + u[2]) + square(u[0] - 4 * u[1] + 3 * u[2]) / 4,
      PetscReal(13) / 12 * square(u[1] - 2 * u[2] + u[3]) + square(u[1] - u[3]) / 4,
      PetscReal(13) / 12 * square(u[2] - 2 * u[3] + u[4]) + square(3 * u[2] - 4 * u[3] + u[4]) / 4};
  const PetscReal ideal[3] = {0.1, 0.6, 0.3};
  PetscReal       sum = 0, value = 0;
  for (int k = 0; k < 3; k++) {
    const PetscReal weight = ideal[k] / square(1e-6 + beta[k]);
    sum += weight;
    value += weight * q[k];
  }
  return value / sum;
}

static PetscReal edge(const std::string &name, const PetscReal *cell, int towards) { // 1: upper, -1: lower
  if (name == "constant") return cell[0];
  const PetscReal below = cell[0] - cell[-1], above = cell[1] - cell[0];
  if (name == "minmod") return cell[0] + towards * minmod(below, above) / 2;
  if (name == "vanleer") return cell[0] + (below * above > 0 ? towards * below * above / (below + above) : 0);
  PetscReal u[5];
  for (int k = 0; k < 5; k++) u[k] = cell[towards * (k - 2)];
  return weno(u);
}

static Values rate(const Values &u, PetscReal h, const std::string &name, const std::string &reconstruction,
                   const std::string &boundary, PetscReal nu) {
  const int n = (int)u.size(), ghosts = 4;
  Values    w(n + 2 * ghosts), result(n), flux_below(n + 1);
  PetscReal speed = 0;
  for (PetscReal value : u) speed = std::max(speed, std::fabs(value));
  if (boundary == "inflow") speed = std::max(speed, (PetscReal)0.4);
  for (int i = -ghosts; i < n + ghosts; i++) {
    const int around = ((i % n) + n) % n;
    w[i + ghosts] = i >= 0 && i < n          ? u[i]
                    : boundary == "periodic" ? u[around]
                    : boundary == "inflow"   ? (i < 0 ? 0.3 : -0.4)
                                             : (i < 0 ? u[0] : u[n - 1]);
  }
  for (int i = 0; i <= n; i++) {
    const PetscReal *cell = &w[i + ghosts];
    flux_below[i] = flux(name, edge(reconstruction, cell - 1, 1), edge(reconstruction, cell, -1), speed) -
                    nu * (cell[0] - cell[-1]) / h;
  }
  for (int i = 0; i < n; i++) result[i] = -(flux_below[i + 1] - flux_below[i]) / h;
  if (boundary == "frozen") result[0] = result[n - 1] = 0;
  return result;
}

// Twice the flux q w through a face, of a quantity w that the cell's speed q carries.
static PetscReal carried(const std::string &name, PetscReal q, PetscReal a, PetscReal b, PetscReal speed) {
  if (name == "central") return q * (a + b) / 2;
  if (name == "lax_friedrichs") return q * (a + b) / 2 - speed / 2 * (b - a);
  if (name == "rusanov") return q * (a + b) / 2 - std::fabs(q) / 2 * (b - a);
  return q > 0 ? q * a : q * b;
}

// In 2-D, on Nx x Ny cells of sides h; all values of cell after cell.
static Values rate_2d(const Values &w, int Nx, int Ny, const PetscReal h[2], const std::string &name,
                      const std::string &reconstruction, const std::string &boundary, PetscReal nu) {
  const PetscReal inflow[2][2] = {{0.3, -0.4}, {0.2, 0.1}};
  Values          result(w.size(), 0);
  PetscReal       speed = 0;
  for (PetscReal value : w) speed = std::max(speed, std::fabs(value));
  const auto value = [&](int c, int i, int j) {
    const bool low = i < 0 || j < 0;
    if (i < 0 || j < 0 || i >= Nx || j >= Ny) {
      if (boundary == "inflow") return inflow[c][low ? 0 : 1];
      if (boundary == "periodic")
        i = (i + 2 * Nx) % Nx, j = (j + 2 * Ny) % Ny;
      else
        i = std::min(std::max(i, 0), Nx - 1), j = std::min(std::max(j, 0), Ny - 1);
    }
    return w[2 * (i + (size_t)Nx * j) + c];
  };
  for (int j = 0; j < Ny; j++)
    for (int i = 0; i < Nx; i++)
      for (int axis = 0; axis < 2; axis++)
        for (int c = 0; c < 2; c++) {
          PetscReal line[9], face[2]; // the cell is line[4]
          for (int o = 0; o < 9; o++) line[o] = axis ? value(c, i, j + o - 4) : value(c, i + o - 4, j);
          for (int e = 0; e < 2; e++) {
            const PetscReal *above = line + 4 + e, *below = above - 1;
            const PetscReal  a = edge(reconstruction, below, 1), b = edge(reconstruction, above, -1);
            face[e] = c == axis ? flux(name, a, b, speed) : carried(name, value(axis, i, j), a, b, speed);
            face[e] -= nu * (*above - *below) / h[axis];
          }
          if (boundary == "frozen" && (i == 0 || j == 0 || i == Nx - 1 || j == Ny - 1)) continue;
          result[2 * (i + (size_t)Nx * j) + c] -= (face[1] - face[0]) / h[axis];
        }
  return result;
}

} // namespace textbook

TEST_CASE("in 2-D, du/dt is that of the textbooks' formulas", "[burgers]") {
  int turn = 0;
  for (const auto &size :
       {std::array<PetscInt, 2>{14, 13}, std::array<PetscInt, 2>{2101, 12}, std::array<PetscInt, 2>{4, 300}})
    for (const char *flux : fluxes)
      for (int r = 0; r < 4; r++)
        for (const char *boundary : boundaries) {
          turn++;
          if (size[0] > 14 && turn % 3) continue;
          const bool large = size[0] >= 3 * 4 && size[1] >= 3 * 4; // each rank has a reach of cells
          if (rank_count() > 1 && !large) continue;
          if (is_left_out(turn)) continue;
          const PetscReal nu = turn % 2 ? 0 : 0.05, h[2] = {2 * pi / size[0], 2 * pi / size[1]};
          Run             run(PETSC_COMM_WORLD, size[0], !strcmp(boundary, "periodic"),
                              std::string("-burgers_flux ") + flux + " -burgers_reconstruct " + reconstructions[r] +
                                  " -burgers_bc " + boundary +
                                  (strcmp(boundary, "inflow") ? "" : " -burgers_inflow 0.3,-0.4,0.2,0.1") +
                                  (nu > 0 ? " -burgers_viscosity 0.05" : "") + " -burgers_check_interval " + (turn % 3 ? "0" : "1"),
                              size[1]);
          OK(VecDestroy(&run.u));
          run.u = random_vector(run.da, 5);
          OK(TSSetTimeStep(run.ts, 1e-6));
          const Values expected =
              textbook::rate_2d(run.all(), (int)size[0], (int)size[1], h, flux, reconstructions[r], boundary, nu);
          PetscReal most = 0;
          for (PetscReal value : expected) most = std::max(most, std::fabs(value));
          INFO(flux << ' ' << reconstructions[r] << ' ' << boundary << ", " << size[0] << " x " << size[1]);
          CHECK(largest_difference(run.rate(), expected) <= 1e-12 * (1 + most));
        }
}

TEST_CASE("du/dt is that of the textbooks' formulas", "[burgers]") {
  int turn = 0;
  for (PetscInt N : {5, 7, 16, 61, 1103, 2500})
    for (const char *flux : fluxes)
      for (int r = 0; r < 4; r++)
        for (const char *boundary : boundaries) {
          if (!fits(N, radii[r]) || is_left_out(turn++)) continue;
          const PetscReal nu = N % 2 ? 0 : 0.05;
          Run             run(PETSC_COMM_WORLD, N, !strcmp(boundary, "periodic"),
                              options_of(flux, reconstructions[r], boundary) + (nu > 0 ? "-burgers_viscosity 0.05" : "") +
                                  " -burgers_check_interval 0");
          run.start([&](PetscInt i) { return wavy(i, N); });
          const Values expected = textbook::rate(run.all(), 2 * pi / N, flux, reconstructions[r], boundary, nu);
          PetscReal    size = 0;
          for (PetscReal value : expected) size = std::max(size, std::fabs(value));
          INFO(flux << ' ' << reconstructions[r] << ' ' << boundary << ", " << N << " cells");
          CHECK(largest_difference(run.rate(), expected) <= 1e-12 * (1 + size));
        }
}

// ---- the doubled central difference ------------------------------------------------------------------------------------------------

static Values doubled_by_a_loop(int steps) {
  const int       n = 2048;
  const PetscReal h = 2 * pi / n, dt = 0.1 * h;
  Values          u(n), f(n), out(n);
  for (int i = 0; i < n; i++) u[i] = std::sin(i * h);
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < n; i++) f[i] = u[i] * u[i] / 2;
    for (int i = 1; i < n - 1; i++) out[i] = -(f[i + 1] - f[i - 1]) / h;
    out[0] = out[n - 1] = 0;
    for (int i = 0; i < n; i++) {
      const volatile PetscReal product = dt * out[i]; // rounded
      u[i] = u[i] + product;
    }
  }
  return u;
}

TEST_CASE("the doubled central difference with frozen ends is its loop, to the last bit", "[burgers]") {
  const PetscReal   h = 2 * pi / 2048;
  const Values      expected = doubled_by_a_loop(1400);
  const std::string text = "-burgers_flux central_doubled -burgers_bc frozen -burgers_check_interval 0 ";
  for (const char *type : {"-ts_type euler", "-ts_type burgersfused", "-ts_type burgersfused -burgers_fused_steps 300",
                           "-ts_type burgersfused -burgers_fused_steps 1"}) {
    Run run(PETSC_COMM_WORLD, 2048, false, text + type);
    run.start([&](PetscInt i) { return std::sin(i * h); });
    run.step(1400, 0.1 * h);
    INFO(type);
    // a device's VecAYPX() may round otherwise, and these differences grow
    if (makes_cuda_vectors(run.da) && !strcmp(type, "-ts_type euler")) continue;
    CHECK(largest_difference(run.all(), expected) == 0);
  }
  CHECK(std::isfinite(total(expected)));
}

TEST_CASE("the former names of the doubled central difference and of frozen ends still work, with a warning",
          "[burgers]") {
  const std::string quiet = "-burgers_check_interval 0 -ts_type burgersfused ";
  Values            state[2];
  const std::string text = printed([&] {
    for (int former = 0; former < 2; former++) {
      Run run(PETSC_COMM_WORLD, 64, false,
              quiet + (former ? "-burgers_flux seed -burgers_bc seed"
                              : "-burgers_flux central_doubled -burgers_bc frozen"));
      run.start([](PetscInt i) { return std::sin(2 * pi * i / 64); });
      run.step(20, 0.01);
      state[former] = run.all();
    }
  });
  CHECK(largest_difference(state[0], state[1]) == 0);
  INFO(text);
  for (const char *words : {"value seed of the option -burgers_flux is deprecated", "-burgers_flux central_doubled",
                            "value seed of the option -burgers_bc is deprecated", "-burgers_bc frozen"})
    CHECK(text.find(words) != std::string::npos);
}

// ---- exact solutions -----------------------------------------------------------------------------------------------

// u = sin(x - u t): by Newton's method from the branch of the characteristics that start on x's side of π.
static PetscReal sine_at(PetscReal x, PetscReal t) {
  // where the characteristic starts, x0 + t sin x0 = x; after the shock, the outermost of several roots
  PetscReal low = x <= pi ? 0 : t > 1 ? 2 * pi - std::acos(-1 / t) : pi;
  PetscReal high = x > pi ? 2 * pi : t > 1 ? std::acos(-1 / t) : pi;
  PetscReal x0 = 0.5 * (low + high);
  for (int k = 0; k < 200; k++) {
    const PetscReal g = x0 + t * std::sin(x0) - x, slope = 1 + t * std::cos(x0);
    if (g > 0)
      high = x0;
    else
      low = x0;
    PetscReal next = x0 - g / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::fabs(next - x0) < 1e-16) break;
    x0 = next;
  }
  return std::sin(x0);
}

static PetscReal average(const std::function<PetscReal(PetscReal)> &f, PetscReal from, PetscReal to) {
  static const PetscReal x[5] = {0, 0.5384693101056831, -0.5384693101056831, 0.9061798459386640, -0.9061798459386640},
                         w[5] = {0.5688888888888889, 0.4786286704993665, 0.4786286704993665, 0.2369268850561891,
                                 0.2369268850561891};
  PetscReal sum = 0;
  for (int k = 0; k < 5; k++) sum += w[k] / 2 * f((from + to) / 2 + (to - from) / 2 * x[k]);
  return sum;
}
static Values averages(PetscInt N, PetscReal length, const std::function<PetscReal(PetscReal)> &f) {
  Values u(N);
  for (PetscInt i = 0; i < N; i++) u[i] = average(f, i * length / N, (i + 1) * length / N);
  return u;
}

// ---- steps one by one, fused, on any ranks -------------------------------------------------------------------------

TEST_CASE("fused steps are the steps one by one, and one rank's, bit for bit", "[burgers]") {
  const char *schemes[] = {"euler", "ssprk2", "ssprk3"};
  int         turn = 0;
  for (PetscInt N : {1, 2, 3, 5, 7, 13, 64, 509, 2053, 20011})
    for (const char *flux : {"lax_friedrichs", "rusanov", "godunov", "engquist_osher"})
      for (int r = 0; r < 4; r++)
        for (const char *boundary : boundaries) {
          turn++;
          if (!fits(N, radii[r]) || is_left_out(turn) || (N > 2000 && turn % 3) || (N > 5000 && turn % 4)) continue;
          const char     *scheme = schemes[turn % 3];
          const bool      periodic = !strcmp(boundary, "periodic");
          const PetscInt  steps = 37;
          const PetscReal h = 2 * pi / N, dt = 0.2 * h / 1.9;
          const auto      initial = [&](PetscInt i) { return wavy(i, N); };
          std::string     text = options_of(flux, reconstructions[r], boundary) +
                             "-ts_type burgersfused -burgers_fused_scheme " + scheme +
                             (turn % 5 == 0 ? " -burgers_viscosity " + std::to_string(0.3 * h) : "");
          INFO(text << ", " << N << " cells");
          Run single(PETSC_COMM_SELF, N, periodic, text + " -burgers_fused_steps 1");
          single.start(initial);
          single.step(steps, dt);
          const Values expected = single.all();
          for (const char *block : {"1", "7", "64"}) {
            Run run(PETSC_COMM_WORLD, N, periodic, text + " -burgers_fused_steps " + block);
            run.start(initial);
            run.step(steps, dt);
            INFO("blocks of " << block);
            CHECK(everywhere(largest_difference(run.all(), expected) == 0));
            PetscInt  count;
            PetscReal time;
            OK(TSGetStepNumber(run.ts, &count));
            OK(TSGetTime(run.ts, &time));
            CHECK(count == steps);
            CHECK(std::fabs(time - steps * dt) <= 1e-12 * time);
          }
          if (!strcmp(scheme, "euler")) {
            Run run(PETSC_COMM_WORLD, N, periodic, text + " -ts_type euler");
            run.start(initial);
            run.step(steps, dt);
            CHECK(everywhere(largest_difference(run.all(), expected) <= (makes_cuda_vectors(run.da) ? 1e-13 : 0)));
          }
        }
}

TEST_CASE("many fused steps of a long row are the steps one by one", "[burgers]") {
  const PetscInt  N = 9001; // several tiles in the middle
  const PetscReal h = 2 * pi / N;
  for (const char *flux : fluxes)
    for (const char *scheme : {"euler", "ssprk2", "ssprk3"})
      for (PetscReal nu : {0., 0.2 * h}) {
        if (nu > 0 && !strcmp(scheme, "ssprk2")) continue;
        Values state[2];
        for (int fused = 0; fused < 2; fused++) {
          Run run(PETSC_COMM_WORLD, N, true,
                  std::string("-burgers_flux ") + flux + " -burgers_viscosity " + std::to_string(nu) +
                      " -ts_type burgersfused -burgers_fused_scheme " + scheme + " -burgers_fused_steps " +
                      (fused ? "30" : "1"));
          run.start([&](PetscInt i) { return wavy(i, N); });
          run.step(23, 0.2 * h);
          state[fused] = run.all();
        }
        INFO(flux << ' ' << scheme << ", viscosity " << nu);
        CHECK(largest_difference(state[0], state[1]) == 0);
      }
}

TEST_CASE("on the host and on a GPU, the same", "[burgers]") {
  Run probe(PETSC_COMM_WORLD, 16, true, "");
  if (!makes_cuda_vectors(probe.da)) return;
  for (const char *flux : fluxes)
    for (int r = 0; r < 4; r++)
      for (const char *type : {"burgersfused", "rk -ts_adapt_type none"}) {
        const std::string text = options_of(flux, reconstructions[r], "outflow") + "-ts_type " + type;
        Run host(PETSC_COMM_WORLD, 3001, false, text, 0, VECSTANDARD), device(PETSC_COMM_WORLD, 3001, false, text);
        for (Run *run : {&host, &device}) {
          run->start([](PetscInt i) { return wavy(i, 3001); });
          run->step(50, 0.2 * 2 * pi / 3001 / 1.9);
        }
        INFO(text);
        // central differences make small differences grow
        CHECK(largest_difference(host.all(), device.all()) <= (strcmp(flux, "central") ? 1e-12 : 1e-9));
      }
}

TEST_CASE("fused steps honour the final time, the last step, a time span and monitors", "[burgers]") {
  struct Log {
    std::vector<PetscInt> steps;
    Values                times;
  };
  const PetscInt  N = 64 * rank_count();
  const auto      initial = [&](PetscInt i) { return wavy(i, N); };
  const PetscReal dt = 0.3 * 2 * pi / N / 1.9, end = 50.37 * dt;
  const auto      monitor = [](TS, PetscInt step, PetscReal time, Vec, void *context) -> PetscErrorCode {
    ((Log *)context)->steps.push_back(step);
    ((Log *)context)->times.push_back(time);
    return PETSC_SUCCESS;
  };
  Log plain_log, fused_log, span_log;
  Run plain(PETSC_COMM_WORLD, N, true, "-ts_type euler"),
      fused(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 20");
  OK(TSMonitorSet(plain.ts, monitor, &plain_log, NULL));
  OK(TSMonitorSet(fused.ts, monitor, &fused_log, NULL));
  for (Run *run : {&plain, &fused}) {
    run->start(initial);
    run->until(end, dt);
  }
  CHECK(largest_difference(plain.all(), fused.all()) <= (makes_cuda_vectors(plain.da) ? 1e-13 : 0));
  CHECK(plain_log.steps.back() == fused_log.steps.back());
  CHECK(plain_log.times.back() == fused_log.times.back());
  CHECK(fused_log.times.back() == end);
  CHECK(fused_log.steps.size() < 12);
  CHECK(fused_log.steps[1] == 20);

  Run       span(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 20");
  PetscReal times[3] = {0, 11.5 * dt, 30.2 * dt};
  OK(TSSetTimeSpan(span.ts, 3, times));
  OK(TSMonitorSet(span.ts, monitor, &span_log, NULL));
  span.start(initial);
  span.until(times[2], dt);
  CHECK(std::count_if(span_log.times.begin(), span_log.times.end(),
                      [&](PetscReal t) { return std::fabs(t - times[1]) <= 1e-12; }) == 1);
  CHECK(std::fabs(span_log.times.back() - times[2]) <= 1e-12);
}

TEST_CASE("fused steps go on with any time step that is set anew", "[burgers]") {
  const PetscInt  N = 40 * rank_count();
  const PetscReal dt = 0.1 * 2 * pi / N / 1.9;
  Values          state[2];
  for (int fused = 0; fused < 2; fused++) {
    Run run(PETSC_COMM_WORLD, N, true, fused ? "-ts_type burgersfused -burgers_fused_steps 8" : "-ts_type euler");
    run.start([&](PetscInt i) { return wavy(i, N); });
    PetscReal time = 0;
    PetscInt  number = 0;
    // larger, smaller, a new start with a larger one at the same number, one step, and larger again
    const struct {
      PetscReal factor;
      PetscInt  steps;
      bool      anew;
    } parts[] = {{1, 11, true}, {3, 10, false}, {0.5, 9, false}, {2, 1, true}, {4, 1, true}, {5, 10, false}};
    for (const auto &part : parts) {
      if (part.anew) {
        time = 0, number = 0;
        OK(TSSetTime(run.ts, 0));
        OK(TSSetStepNumber(run.ts, 0));
      }
      OK(TSSetTimeStep(run.ts, part.factor * dt));
      OK(TSSetMaxTime(run.ts, 1e30));
      OK(TSSetMaxSteps(run.ts, number + part.steps));
      OK(TSSolve(run.ts, run.u));
      time += part.steps * part.factor * dt;
      number += part.steps;
      PetscReal at;
      PetscInt  count;
      OK(TSGetTime(run.ts, &at));
      OK(TSGetStepNumber(run.ts, &count));
      INFO((fused ? "fused, " : "one by one, ") << part.steps << " steps of " << part.factor << " dt");
      CHECK(std::fabs(at - time) <= 1e-12 * time);
      CHECK(count == number);
    }
    state[fused] = run.all();
  }
  Run probe(PETSC_COMM_WORLD, N, true, "");
  CHECK(largest_difference(state[0], state[1]) <= (makes_cuda_vectors(probe.da) ? 1e-13 : 0));
}

#if PETSC_VERSION_GE(3, 26, 0)
TEST_CASE("fused steps end with those of one solve", "[burgers]") {
  const PetscInt  N = 40 * rank_count();
  const PetscReal dt = 0.1 * 2 * pi / N;
  Run             run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 8");
  run.start([&](PetscInt i) { return wavy(i, N); });
  OK(TSSetTimeStep(run.ts, dt));
  OK(TSSetRunSteps(run.ts, 13));
  for (PetscInt solve = 1; solve <= 2; solve++) {
    PetscInt count;
    OK(TSSolve(run.ts, run.u));
    OK(TSGetStepNumber(run.ts, &count));
    CHECK(count == 13 * solve);
  }
}
#endif

#if PETSC_VERSION_GE(3, 22, 0)
TEST_CASE("fused steps go on from an event, and with another time step after it", "[burgers]") {
  const PetscInt  N = 64 * rank_count();
  const PetscReal dt = 0.1 * 2 * pi / N;
  for (PetscBool terminate : {PETSC_FALSE, PETSC_TRUE}) {
    Run              run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 50");
    PetscInt         direction = 0, count;
    static PetscReal target;
    PetscReal        time;
    target = 31.4 * dt;
    OK(TSSetEventHandler(
        run.ts, 1, &direction, &terminate,
        [](TS, PetscReal t, Vec, PetscReal values[], void *) -> PetscErrorCode {
          values[0] = t - target;
          return PETSC_SUCCESS;
        },
        NULL, NULL));
    run.start([&](PetscInt i) { return std::sin(2 * pi * (i + 0.5) / N); });
    run.step(100, dt);
    OK(TSGetTime(run.ts, &time));
    OK(TSGetStepNumber(run.ts, &count));
    INFO("terminates: " << terminate << ", time " << time / dt << " dt, " << count << " steps");
    if (terminate) {
      CHECK(std::fabs(time - target) <= 1e-4);
      // on with three times the time step: 20 steps of that
      OK(TSSetTimeStep(run.ts, 3 * dt));
      OK(TSSetMaxSteps(run.ts, count + 20));
      OK(TSSolve(run.ts, run.u));
      PetscReal end;
      OK(TSGetTime(run.ts, &end));
      CHECK(std::fabs(end - (time + 60 * dt)) <= 1e-10);
    } else {
      // the block of 50 up to the event and on from it in parts, of which a few are short, then steps of dt
      CHECK(count == 100);
      CHECK(time > 90 * dt);
      CHECK(time <= 100.001 * dt);
      // first order in time, whatever the parts: near the exact solution before the shock
      const Values expected = averages(N, 2 * pi, [&](PetscReal x) { return sine_at(x, time); });
      CHECK(mean_difference(run.all(), expected) < 0.15 / rank_count());
    }
  }
}

TEST_CASE("fused steps locate an event", "[burgers]") {
  const PetscInt N = 64 * rank_count();
  Run       run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_fused_steps 50 -burgers_check_interval 1");
  PetscInt  direction = 0;
  PetscBool terminate = PETSC_TRUE;
  const PetscReal  dt = 0.3 * 2 * pi / N;
  static PetscReal target;
  target = 31.4 * dt;
  OK(TSSetEventHandler(
      run.ts, 1, &direction, &terminate,
      [](TS, PetscReal time, Vec, PetscReal values[], void *) -> PetscErrorCode {
        values[0] = time - target;
        return PETSC_SUCCESS;
      },
      NULL, NULL));
  run.start([&](PetscInt i) { return std::sin(2 * pi * (i + 0.5) / N); });
  run.step(200, dt);
  PetscReal time;
  OK(TSGetTime(run.ts, &time));
  CHECK(std::fabs(time - target) <= 1e-4);
}
#endif

// ---- convergence ----------------------------------------------------------------------------------------------------

static PetscReal sine_error(PetscInt N, PetscReal time, const std::string &text, PetscReal courant) {
  Run          run(PETSC_COMM_WORLD, N, true, text);
  const Values start = averages(N, 2 * pi, [](PetscReal x) { return std::sin(x); });
  run.start([&](PetscInt i) { return start[i]; });
  run.until(time, courant * 2 * pi / N);
  return mean_difference(run.all(), averages(N, 2 * pi, [&](PetscReal x) { return sine_at(x, time); }));
}

TEST_CASE("orders of convergence for smooth data", "[burgers]") {
  const struct {
    const char *text;
    double      order, courant;
    PetscInt    N;
  } cases[] = {
      {"-burgers_flux godunov -ts_type euler", 1, 0.5, 128},
      {"-burgers_flux rusanov -ts_type burgersfused", 1, 0.5, 128},
      {"-burgers_flux engquist_osher -ts_type burgersfused", 1, 0.5, 128},
      {"-burgers_flux lax_friedrichs -ts_type burgersfused", 1, 0.5, 128},
      {"-burgers_flux godunov -burgers_reconstruct minmod -ts_type ssp -ts_ssp_type rks2 -ts_ssp_nstages 2 "
       "-ts_ssp_num_stages 2",
       2, 0.4, 256},
      {"-burgers_flux godunov -burgers_reconstruct minmod -ts_type burgersfused -burgers_fused_scheme ssprk2", 2, 0.4,
       256},
      {"-burgers_flux rusanov -burgers_reconstruct vanleer -ts_type burgersfused -burgers_fused_scheme ssprk2", 2, 0.4,
       256},
      {"-burgers_flux godunov -burgers_reconstruct weno5 -ts_type rk -ts_rk_type 5dp -ts_adapt_type none", 5, 0.2, 128},
      {"-burgers_flux lax_friedrichs -burgers_reconstruct weno5 -ts_type rk -ts_rk_type 5dp -ts_adapt_type none", 5,
       0.2, 128},
  };
  for (const auto &c : cases) {
    const PetscReal coarse = sine_error(c.N, 0.5, c.text, c.courant),
                    fine = sine_error(2 * c.N, 0.5, c.text, c.courant);
    INFO(c.text << ": errors " << coarse << ", " << fine << ", order " << std::log2(coarse / fine));
    CHECK(std::log2(coarse / fine) > c.order - (c.order == 1 ? 0.1 : c.order == 2 ? 0.25 : 0.4));
  }
}

TEST_CASE("order 1 of the integral error with a shock", "[burgers]") {
  for (const char *text :
       {"-burgers_flux godunov -ts_type burgersfused", "-burgers_flux engquist_osher -ts_type burgersfused",
        "-burgers_flux rusanov -burgers_reconstruct minmod -ts_type burgersfused -burgers_fused_scheme ssprk2",
        "-burgers_flux godunov -burgers_reconstruct weno5 -ts_type burgersfused -burgers_fused_scheme ssprk3"}) {
    const PetscReal coarse = sine_error(200, 2, text, 0.4), fine = sine_error(400, 2, text, 0.4);
    INFO(text << ": errors " << coarse << ", " << fine);
    CHECK(std::log2(coarse / fine) > 0.8);
    CHECK(fine < 0.02);
  }
}

TEST_CASE("viscous: the solution of Cole and Hopf", "[burgers]") {
  const PetscReal nu = 0.2, time = 0.8;
  const auto      exact_at = [&](PetscReal x, PetscReal t) { // φ = 2 + e^{-νt} cos x, u = -2ν φ_x/φ
    const PetscReal decay = std::exp(-nu * t);
    return 2 * nu * decay * std::sin(x) / (2 + decay * std::cos(x));
  };
  for (const char *text : {"-burgers_reconstruct minmod -ts_type burgersfused -burgers_fused_scheme ssprk2",
                           "-burgers_reconstruct weno5 -ts_type rk -ts_rtol 1e-8 -ts_atol 1e-8",
                           "-burgers_flux central -ts_type cn -ksp_rtol 1e-10 -snes_rtol 1e-10"}) {
    PetscReal error[2];
    for (int level = 0; level < 2; level++) {
      const PetscInt N = 48 << level;
      Run            run(PETSC_COMM_WORLD, N, true, std::string(text) + " -burgers_viscosity 0.2");
      const Values   start = averages(N, 2 * pi, [&](PetscReal x) { return exact_at(x, 0); });
      run.start([&](PetscInt i) { return start[i]; });
      const PetscReal h = 2 * pi / N;
      run.until(time, strstr(text, "cn") ? 0.2 * h : 0.4 * h * h / nu);
      error[level] = mean_difference(run.all(), averages(N, 2 * pi, [&](PetscReal x) { return exact_at(x, time); }));
    }
    INFO(text << ": errors " << error[0] << ", " << error[1]);
    CHECK(std::log2(error[0] / error[1]) > 1.75);
    CHECK(error[1] < 1e-3);
  }
}

TEST_CASE("Riemann problems: the shock's speed and the rarefaction through u = 0", "[burgers]") {
  const struct { PetscReal left, right; } problems[] = {{1, 0}, {0.5, -1}, {-1, 1}, {-0.2, 0.9}, {0.3, 1}, {-1, -0.4}};
  const PetscInt  N = 400;
  const PetscReal length = 2 * pi, time = 1.5;
  for (const auto &problem : problems)
    for (const char *flux : {"lax_friedrichs", "rusanov", "godunov", "engquist_osher"})
      for (int r = 0; r < 4; r++) {
        const PetscReal l = problem.left, right = problem.right;
        const auto      solution = [&](PetscReal x) {
          const PetscReal s = (x - length / 2) / time;
          if (l > right) return s < (l + right) / 2 ? l : right;
          return s < l ? l : s > right ? right : s;
        };
        Run run(PETSC_COMM_WORLD, N, false,
                options_of(flux, reconstructions[r], "outflow") + "-ts_type burgersfused -burgers_fused_scheme " +
                    (r ? "ssprk3" : "euler"));
        run.start([&](PetscInt i) { return i < N / 2 ? l : right; });
        run.until(time, 0.4 * length / N);
        INFO(flux << ' ' << reconstructions[r] << ' ' << l << ' ' << right);
        CHECK(mean_difference(run.all(), averages(N, length, solution)) < (r ? 0.006 : 0.03));
      }
}

TEST_CASE("nothing is lost, and no variation is made", "[burgers]") {
  for (PetscInt N : {127, 512})
    for (const char *flux : {"lax_friedrichs", "rusanov", "godunov", "engquist_osher"})
      for (int r = 0; r < 4; r++)
        for (bool periodic : {true, false}) {
          Run run(PETSC_COMM_WORLD, N, periodic,
                  options_of(flux, reconstructions[r], periodic ? "periodic" : "outflow") +
                      "-ts_type burgersfused -burgers_fused_scheme ssprk2 -burgers_fused_steps 10");
          run.start([&](PetscInt i) { return wavy(i, N); });
          PetscReal       before = variation(run.all(), periodic);
          const PetscReal sum = total(run.all());
          INFO(flux << ' ' << reconstructions[r] << " periodic " << periodic);
          PetscReal bound;
          OK(TSBurgersGetTimeStepBound(run.ts, run.u, &bound));
          for (int block = 0; block < 12; block++) {
            run.step(10, bound);
            const Values u = run.all();
            if (periodic) CHECK(std::fabs(total(u) - sum) <= 1e-12 * N);
            if (r < 3) {
              CHECK(variation(u, periodic) <= before * (1 + 1e-13));
              before = variation(u, periodic);
            }
          }
        }
}

// ---- the Jacobian and implicit methods -----------------------------------------------------------------------------

TEST_CASE("the Jacobian is the derivative, as a product and assembled", "[burgers]") {
  int turn = 0;
  for (PetscInt M : {0, 7})
    for (const char *flux : fluxes)
      for (int r = 0; r < 4; r++)
        for (const char *boundary : boundaries) {
          const PetscInt N = M ? 12 * rank_count() : 41;
          if (M && rank_count() > 2 && r == 3) continue; // may be too few cells along one of the axes
          if (M && !fits(M, radii[r] * (rank_count() > 2 ? 2 : 1))) continue;
          if (!fits(N, radii[r]) || is_left_out(turn++)) continue;
          Run run(PETSC_COMM_WORLD, N, !strcmp(boundary, "periodic"),
                  std::string("-burgers_check_interval 0 -burgers_viscosity 0.1 -burgers_flux ") + flux +
                      (strcmp(flux, "lax_friedrichs") ? "" : " -burgers_speed 2") + " -burgers_reconstruct " +
                      reconstructions[r] + " -burgers_bc " + boundary,
                  M);
          INFO(flux << ' ' << reconstructions[r] << ' ' << boundary << (M ? ", 2-D" : ", 1-D"));
          OK(VecDestroy(&run.u));
          run.u = random_vector(run.da, 1); // no kink within the difference
          Vector v = random_vector(run.da, 2), plus = copy_of(run.u), minus = copy_of(run.u), up, down, y, z;
          OK(VecDuplicate(v, &up));
          OK(VecDuplicate(v, &down));
          OK(VecDuplicate(v, &y));
          OK(VecDuplicate(v, &z));
          const PetscReal eps = 1e-6;
          OK(VecAXPY(plus, eps, v));
          OK(VecAXPY(minus, -eps, v));
          OK(TSComputeRHSFunction(run.ts, 0, plus, up));
          OK(TSComputeRHSFunction(run.ts, 0, minus, down));
          OK(VecAXPY(up, -1, down));
          OK(VecScale(up, 1 / (2 * eps)));
          Mat J;
          OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
          OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
          OK(MatMult(J, v, y));
          CHECK(difference(y, up) < 2e-6);
          OK(MatScale(J, -1));
          OK(MatShift(J, 3));
          OK(MatMult(J, v, y));
          Matrix aij;
          OK(MatConvert(J, MATAIJ, MAT_INITIAL_MATRIX, &aij));
          Vector v_host, z_host;
          OK(MatCreateVecs(aij, &v_host, &z_host));
          OK(VecCopy(v, v_host));
          OK(MatMult(aij, v_host, z_host));
          OK(VecCopy(z_host, z));
          CHECK(difference(y, z) <= 100 * exact);
          OK(MatGetDiagonal(J, y));
          OK(MatGetDiagonal(aij, z_host));
          OK(VecCopy(z_host, z));
          CHECK(difference(y, z) <= 100 * exact);
        }
}

TEST_CASE("any type of TS steps it", "[burgers]") {
  const PetscInt  N = 60 * rank_count();
  const auto      initial = [&](PetscInt i) { return std::sin(2 * pi * (i + 0.5) / N); };
  const PetscReal h = 2 * pi / N;
  Run reference(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.05 -ts_type rk -ts_rtol 1e-9 -ts_atol 1e-9");
  reference.start(initial);
  reference.until(0.6, 0.05 * h);
  for (const char *type :
       {"euler -ts_adapt_type cfl", "ssp", "rk", "beuler", "cn", "bdf", "rosw", "arkimex -ts_arkimex_fully_implicit",
        "arkimex", "beuler -pc_type jacobi", "beuler -burgers_jacobian aij", "cn -burgers_jacobian shell_aij",
        "burgersfused -ts_adapt_type cfl -burgers_fused_steps 5"}) {
    Run run(PETSC_COMM_WORLD, N, true, std::string("-burgers_viscosity 0.05 -ts_type ") + type);
    run.start(initial);
    run.until(0.6, 0.1 * h);
    INFO(type);
    CHECK(mean_difference(run.all(), reference.all()) < 0.02);
  }
}

TEST_CASE("implicit steps beyond the explicit bound", "[burgers]") {
  const PetscInt N = 100 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.01 -ts_type beuler -snes_monitor_cancel");
  PetscReal      bound;
  run.start([&](PetscInt i) { return 0.5 + std::sin(2 * pi * (i + 0.5) / N); });
  OK(TSBurgersGetTimeStepBound(run.ts, run.u, &bound));
  const PetscReal sum = total(run.all());
  run.step(10, 4 * bound);
  CHECK(std::fabs(total(run.all()) - sum) < 1e-4 * N);
  CHECK(variation(run.all(), true) < 4);
}

// ---- two dimensions ------------------------------------------------------------------------------------------------

TEST_CASE("in 2-D, data along one axis move as in 1-D", "[burgers]") {
  for (int axis = 0; axis < 2; axis++)
    for (int r = 0; r < 4; r++)
      for (const char *boundary : {"periodic", "outflow"}) {
        const PetscInt    N = 61, other = 12;
        const std::string text = std::string("-burgers_flux rusanov -burgers_reconstruct ") + reconstructions[r] +
                                 " -burgers_bc " + boundary +
                                 " -burgers_viscosity 0.01 -ts_type burgersfused "
                                 "-burgers_fused_scheme ssprk3";
        Run line(PETSC_COMM_SELF, N, !strcmp(boundary, "periodic"), text);
        Run plane(PETSC_COMM_WORLD, axis ? other : N, !strcmp(boundary, "periodic"), text, axis ? N : other);
        line.start([&](PetscInt i) { return wavy(i, N); });
        PetscScalar ***u;
        PetscInt       x, y, m, n;
        OK(VecSet(plane.u, 0));
        OK(DMDAGetCorners(plane.da, &x, &y, NULL, &m, &n, NULL));
        OK(DMDAVecGetArrayDOF(plane.da, plane.u, &u));
        for (PetscInt j = y; j < y + n; j++)
          for (PetscInt i = x; i < x + m; i++) u[j][i][axis] = wavy(axis ? j : i, N);
        OK(DMDAVecRestoreArrayDOF(plane.da, plane.u, &u));
        const PetscReal dt = 0.2 * 2 * pi / N / 2;
        line.step(20, dt);
        plane.step(20, dt);
        const Values   along = line.all(), all = plane.all();
        PetscReal      worst = 0;
        const PetscInt width = axis ? other : N;
        for (size_t k = 0; k < all.size(); k++) {
          const PetscInt  i = (PetscInt)(k / 2) % width, j = (PetscInt)(k / 2) / width;
          const PetscReal expected = (int)(k % 2) == axis ? along[axis ? j : i] : 0;
          worst = std::max(worst, std::fabs(all[k] - expected));
        }
        INFO(text << " axis " << axis);
        CHECK(worst <= 1e-13);
      }
}

TEST_CASE("in 2-D, the viscous solution of Cole and Hopf", "[burgers]") {
  const PetscReal nu = 0.2, time = 0.5;
  // φ = 4 + e^{-νt} (cos x + cos y) + e^{-2νt} cos x cos y, (u, v) = -2ν ∇φ/φ
  const auto exact_at = [&](PetscReal x, PetscReal y, PetscReal t, int c) {
    const PetscReal d = std::exp(-nu * t);
    if (c) std::swap(x, y);
    const PetscReal phi = 4 + d * (std::cos(x) + std::cos(y)) + d * d * std::cos(x) * std::cos(y);
    return 2 * nu * (d * std::sin(x) + d * d * std::sin(x) * std::cos(y)) / phi;
  };
  PetscReal error[2];
  for (int level = 0; level < 2; level++) {
    const PetscInt  N = 24 << level;
    const PetscReal h = 2 * pi / N;
    Run             run(PETSC_COMM_WORLD, N, true,
                        "-burgers_reconstruct minmod -burgers_viscosity 0.2 -ts_type rk -ts_rtol 1e-7 -ts_atol 1e-7", N);
    PetscScalar  ***u;
    PetscInt        x, y, m, n;
    OK(DMDAGetCorners(run.da, &x, &y, NULL, &m, &n, NULL));
    OK(DMDAVecGetArrayDOF(run.da, run.u, &u));
    for (PetscInt j = y; j < y + n; j++)
      for (PetscInt i = x; i < x + m; i++)
        for (int c = 0; c < 2; c++) u[j][i][c] = exact_at((i + 0.5) * h, (j + 0.5) * h, 0, c);
    OK(DMDAVecRestoreArrayDOF(run.da, run.u, &u));
    run.until(time, 0.1 * h * h / nu);
    const Values all = run.all();
    error[level] = 0;
    for (size_t k = 0; k < all.size(); k++) {
      const PetscInt i = (PetscInt)(k / 2) % N, j = (PetscInt)(k / 2) / N;
      error[level] += std::fabs(all[k] - exact_at((i + 0.5) * h, (j + 0.5) * h, time, (int)(k % 2))) / all.size();
    }
  }
  INFO("errors " << error[0] << ", " << error[1]);
  CHECK(std::log2(error[0] / error[1]) > 1.6);
  CHECK(error[1] < 1e-3);
}

// ---- errors --------------------------------------------------------------------------------------------------------

static PetscErrorCode solve(Run &run, PetscInt steps, PetscReal dt) {
  PetscFunctionBeginUser;
  PetscCall(TSSetTime(run.ts, 0));
  PetscCall(TSSetStepNumber(run.ts, 0));
  PetscCall(TSSetTimeStep(run.ts, dt));
  PetscCall(TSSetMaxSteps(run.ts, steps));
  PetscCall(TSSetMaxTime(run.ts, 1e30));
  PetscCall(TSSolve(run.ts, run.u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("settings of Burgers' equation that are not allowed", "[burgers]") {
  const PetscInt N = 16 * rank_count();
  const struct {
    const char              *options;
    PetscErrorCode           code;
    std::vector<std::string> words;
  } mistakes[] = {
      {"-burgers_flux upwind", PETSC_ERR_USER, {"upwind", "burgers_flux"}},
      {"-burgers_reconstruct weno7", PETSC_ERR_USER, {"weno7", "burgers_reconstruct"}},
      {"-burgers_bc wall", PETSC_ERR_USER, {"wall", "burgers_bc"}},
      {"-burgers_bc outflow", PETSC_ERR_ARG_INCOMP, {"outflow", "PERIODIC", "DM_BOUNDARY_NONE"}},
      {"-burgers_viscosity -1", PETSC_ERR_ARG_OUTOFRANGE, {"viscosity", "-1", "below 0"}},
      {"-burgers_lengths 0", PETSC_ERR_ARG_OUTOFRANGE, {"length x", "0", "positive"}},
      {"-burgers_lengths 1,2", PETSC_ERR_ARG_SIZ, {"2 side lengths", "1"}},
      {"-burgers_inflow 1", PETSC_ERR_ARG_SIZ, {"burgers_inflow", "1", "2"}},
      {"-burgers_check_interval -3", PETSC_ERR_ARG_OUTOFRANGE, {"burgers_check_interval", "-3"}},
      {"-burgers_fused_steps 0", PETSC_ERR_ARG_OUTOFRANGE, {"burgers_fused_steps", "0"}},
      {"-burgers_fused_scheme rk4", PETSC_ERR_USER, {"rk4", "burgers_fused_scheme"}},
      {"-burgers_speed -1", PETSC_ERR_ARG_OUTOFRANGE, {"burgers_speed", "-1"}},
      {"-burgers_flux central_doubled -burgers_reconstruct weno5",
       PETSC_ERR_ARG_INCOMP,
       {"central_doubled", "weno5", "constant"}},
      {"-burgers_flux central_doubled -burgers_viscosity 1",
       PETSC_ERR_ARG_INCOMP,
       {"central_doubled", "viscosity", "use central"}},
  };
  for (const auto &mistake : mistakes) {
    INFO(mistake.options);
    Grid    da;
    Stepper ts;
    OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, N, 1, 1, NULL, &da));
    OK(DMSetUp(da));
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, da));
    Options set(mistake.options);
    EXPECT_ERROR(mistake.code, (mistake.words), [&] { return TSSetBurgers(ts); });
  }
}

TEST_CASE("grids that Burgers' equation does not serve", "[burgers]") {
  const auto attempt = [](DM da, const std::string &text) {
    Stepper ts;
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, da));
    Options set(text);
    return TSSetBurgers(ts);
  };
  if (rank_count() <= 3) {
    Grid three;
    OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, 3, 1, 1, NULL, &three));
    OK(DMSetUp(three));
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"weno5", "3", "cells"}),
                 [&] { return attempt(three, "-burgers_reconstruct weno5"); });
  }
  Grid two, volume, plane;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, 32, 2, 1, NULL, &two));
  OK(DMSetUp(two));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"dof = 2", "dof = 1"}), [&] { return attempt(two, ""); });
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, 8, 8, PETSC_DECIDE,
                  PETSC_DECIDE, 1, 1, NULL, NULL, &plane));
  OK(DMSetUp(plane));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"dof = 1", "dof = 2"}), [&] { return attempt(plane, ""); });
  OK(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 8, 8, 8,
                  PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 3, 1, NULL, NULL, NULL, &volume));
  OK(DMSetUp(volume));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"3 dimensions"}), [&] { return attempt(volume, ""); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), [] { return TSSetBurgers(NULL); });
  Stepper bare;
  OK(TSCreate(PETSC_COMM_WORLD, &bare));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"DMDA", "TSSetDM"}), [&] { return TSSetBurgers(bare); });
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"TSSetBurgers"}), [&] { return TSBurgersSetViscosity(bare, 1); });
}

TEST_CASE("a time step beyond the bound is named", "[burgers]") {
  const PetscInt N = 50 * rank_count();
  for (const char *type :
       {"euler", "ssp -ts_ssp_type rks2 -ts_ssp_nstages 5", "rk -ts_adapt_type none", "burgersfused"}) {
    const PetscReal bounds = strstr(type, "rks2") ? 4 : 1; // stages less one
    Run             run(PETSC_COMM_WORLD, N, true, std::string("-ts_type ") + type);
    run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
    Vector    before = copy_of(run.u);
    PetscReal bound;
    OK(TSBurgersGetTimeStepBound(run.ts, run.u, &bound));
    INFO(type);
    // also of a type that takes several steps of forward Euler in one: the step as it is, not a part of it
    char given[32], most[32];
    std::snprintf(given, sizeof(given), "time step %g", (double)(1.1 * bound * bounds));
    std::snprintf(most, sizeof(most), "-ts_dt %g", (double)(bound * bounds));
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"step 0", "bound", given, most, "-ts_adapt_type cfl"}),
                 [&] { return solve(run, 10, 1.1 * bound * bounds); });
    CHECK(difference(run.u, before) == 0);
    if (!strncmp(type, "burgers", 7) || !strncmp(type, "euler", 5)) { // all is well afterwards
      Run again(PETSC_COMM_WORLD, N, true, std::string("-ts_type ") + type);
      OK(VecCopy(before, again.u));
      OK(solve(again, 10, bound));
    }
  }
}

TEST_CASE("a state that is not finite is named, and the last good one is kept", "[burgers]") {
  const PetscInt N = 50 * rank_count(), bad = N - 7;
  for (const char *type : {"euler", "ssp", "rk -ts_adapt_type none", "burgersfused"}) {
    Run run(PETSC_COMM_WORLD, N, true, std::string("-ts_type ") + type);
    run.start([&](PetscInt i) { return i == bad ? NAN : 0.5; });
    INFO(type);
    EXPECT_ERROR(PETSC_ERR_FP, ({"state is not finite", "step 0", "cell " + std::to_string(bad)}),
                 [&] { return solve(run, 10, 0.1 * 2 * pi / N); });
  }
  for (const char *type : {"beuler", "bdf", "arkimex", "rosw"}) {
    Run run(PETSC_COMM_WORLD, N, true, std::string("-ts_type ") + type);
    run.start([&](PetscInt i) { return i == bad ? NAN : 0.5; });
    INFO(type);
    EXPECT_ERROR(PETSC_ERR_FP, ({"state is not finite", "step 0", "cell " + std::to_string(bad)}),
                 [&] { return solve(run, 10, 0.1 * 2 * pi / N); });
  }
}

// Central differences make the state grow; the bound holds at first.
TEST_CASE("a block ends where its time step passes the bound, as one step after the other does", "[burgers]") {
  const PetscInt N = 50 * rank_count();
  PetscInt       count[2];
  Values         state[2];
  for (int fused = 0; fused < 2; fused++) {
    Run             run(PETSC_COMM_WORLD, N, true,
                        std::string("-burgers_flux central -ts_type ") +
                            (fused ? "burgersfused -burgers_fused_steps 100000" : "euler"));
    const PetscReal h = 2 * pi / N;
    run.start([&](PetscInt i) { return i == N / 2 ? 1e-3 : 0; });
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"step", "bound", "-ts_dt"}), [&] { return solve(run, 100000, 100 * h); });
    OK(TSGetStepNumber(run.ts, &count[fused]));
    state[fused] = run.all();
    // |u| has just passed h/dt, by less than twice
    PetscReal largest = 0;
    for (PetscReal value : state[fused]) largest = std::max(largest, std::fabs(value));
    CHECK(largest > 1. / 100);
    CHECK(largest < 2. / 100);
    PetscReal time;
    OK(TSGetTime(run.ts, &time));
    CHECK(std::fabs(time - count[fused] * 100 * h) <= 1e-9 * time);
  }
  Run probe(PETSC_COMM_WORLD, N, true, "");
  if (!makes_cuda_vectors(probe.da)) {
    CHECK(count[0] == count[1]);
    CHECK(largest_difference(state[0], state[1]) == 0);
  }
}

TEST_CASE("the first step of a block that is not finite is named, and the state before it is kept", "[burgers]") {
  const PetscInt N = 50 * rank_count();
  // without the check of Δt: it is left out between the multiples of the interval, and by the adapter
  Run run(PETSC_COMM_WORLD, N, true,
          "-burgers_flux central -ts_type burgersfused -burgers_fused_steps 100000 -burgers_check_interval 0 "
          "-ts_adapt_type cfl");
  run.start([&](PetscInt i) { return i == N / 2 ? 1e-3 : 0; });
  EXPECT_ERROR(PETSC_ERR_FP, ({"not finite", "step", "cell"}), [&] { return solve(run, 100000, 100 * 2 * pi / N); });
  PetscInt count;
  OK(TSGetStepNumber(run.ts, &count));
  CHECK(count > 10);
  CHECK(count < 99999);
  CHECK(std::isfinite(total(run.all())));
}

TEST_CASE("the interval of the checks", "[burgers]") {
  const PetscInt  N = 30 * rank_count();
  const PetscReal h = 2 * pi / N;
  const auto      sine = [&](PetscInt i) { return std::sin(2 * pi * i / N); };
  const auto      on = [](Run &run, PetscInt from, PetscInt to, PetscReal dt) -> PetscErrorCode {
    PetscFunctionBeginUser;
    PetscCall(TSSetStepNumber(run.ts, from));
    PetscCall(TSSetMaxSteps(run.ts, to));
    PetscCall(TSSetMaxTime(run.ts, 1e30));
    PetscCall(TSSetTimeStep(run.ts, dt));
    PetscCall(TSSolve(run.ts, run.u));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (const char *type : {"euler", "burgersfused -burgers_fused_steps 4"}) {
    INFO(type);
    Run run(PETSC_COMM_WORLD, N, true, std::string("-burgers_check_interval 7 -ts_type ") + type);
    run.start(sine);
    OK(on(run, 1, 7, 1.5 * h)); // steps 1 to 6: none is a multiple
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"bound"}), [&] { return on(run, 5, 9, 1.5 * h); });
    // the adapter has its bound, checks or none: 1/Σ(|u|/h), and TSAdapt's factor 0.9
    Run cfl(PETSC_COMM_WORLD, N, true, std::string("-burgers_check_interval 0 -ts_adapt_type cfl -ts_type ") + type);
    cfl.start(sine);
    OK(on(cfl, 0, 13, 0.01 * h));
    PetscReal dt, largest = 0;
    for (PetscReal value : cfl.all()) largest = std::max(largest, std::fabs(value));
    OK(TSGetTimeStep(cfl.ts, &dt));
    CHECK(dt * largest / h <= 0.9 * (1 + 1e-12));
    CHECK(dt * largest / h > 0.8);
  }
}

TEST_CASE("the speed of the Lax-Friedrichs flux is that of each solve's first state, or given", "[burgers]") {
  const PetscInt  N = 40 * rank_count();
  const PetscReal h = 2 * pi / N;
  for (const char *type : {"euler", "burgersfused -burgers_fused_steps 6", "beuler"}) {
    INFO(type);
    const std::string text = std::string("-burgers_flux lax_friedrichs -ts_type ") + type;
    for (PetscReal factor : {0.25, 4.}) { // slower, and faster than before
      const auto later = [&](PetscInt i) { return factor * wavy(i, N); };
      Run        reused(PETSC_COMM_WORLD, N, true, text), fresh(PETSC_COMM_WORLD, N, true, text);
      reused.start([&](PetscInt i) { return wavy(i, N); });
      reused.step(10, 0.1 * h);
      for (Run *run : {&reused, &fresh}) {
        run->start(later);
        run->step(10, 0.1 * h / factor);
      }
      CHECK(largest_difference(reused.all(), fresh.all()) == 0);
    }
    Run slow(PETSC_COMM_WORLD, N, true, text + " -burgers_speed 0.5");
    slow.start([&](PetscInt i) { return wavy(i, N); });
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"step 0", "speed", "0.5", "-burgers_speed", "rusanov"}),
                 [&] { return solve(slow, 10, 0.1 * h); });
  }
  // du/dt at the state u = c is linear; with the speed |c| the flux is upwind
  Run    run(PETSC_COMM_WORLD, N, true, "-burgers_flux lax_friedrichs");
  Mat    J;
  Vector v = make_vector(run.da), y = make_vector(run.da);
  run.start([](PetscInt) { return 0.5; });
  set_values(run.da, v, [](const PetscInt p[3]) { return random_value(p[0], 3); });
  OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
  OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J)); // before any du/dt
  OK(MatMult(J, v, y));
  const Values in = run.all_of(v), out = run.all_of(y);
  PetscReal    worst = 0;
  for (PetscInt i = 0; i < N; i++) worst = std::max(worst, std::fabs(out[i] + 0.5 / h * (in[i] - in[(i + N - 1) % N])));
  CHECK(worst <= 1e-12 / h);
}

TEST_CASE("du/dt of a TS that takes fused steps", "[burgers]") {
  const PetscInt N = 40 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -burgers_flux rusanov");
  for (int solved = 0; solved < 2; solved++) {
    run.start([&](PetscInt i) { return wavy(i, N); });
    const Values expected = textbook::rate(run.all(), 2 * pi / N, "rusanov", "constant", "periodic", 0);
    CHECK(largest_difference(run.rate(), expected) <= 1e-11);
    run.step(10, 0.1 * 2 * pi / N / 1.9);
  }
}

TEST_CASE("error control works after the adapter cfl", "[burgers]") {
  const PetscInt N = 40 * rank_count();
  PetscInt       rejected[2];
  for (int after = 0; after < 2; after++) {
    Run run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.05 -ts_type euler -ts_adapt_type cfl");
    run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
    if (after) run.step(3, 1e-3);
    TSAdapt adapt;
    OK(TSSetType(run.ts, TSRK));
    OK(TSGetAdapt(run.ts, &adapt));
    OK(TSAdaptSetType(adapt, TSADAPTBASIC));
    OK(TSSetTolerances(run.ts, 1e-9, NULL, 1e-9, NULL));
    run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
    run.step(5, 0.05);
    OK(TSGetStepRejections(run.ts, &rejected[after]));
  }
  CHECK(rejected[0] > 0);
  CHECK(rejected[1] == rejected[0]);
}

TEST_CASE("TSSetFromOptions() reads the options of Burgers' equation", "[burgers]") {
  const PetscInt N = 40 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "");
  run.start([&](PetscInt i) { return wavy(i, N); });
  OK(TSBurgersSetViscosity(run.ts, 3));
  {
    Options set("-burgers_viscosity 0.1 -burgers_flux central -burgers_reconstruct minmod -burgers_jacobian aij "
                "-burgers_check_interval 0");
    OK(TSSetFromOptions(run.ts));
  }
  const Values expected = textbook::rate(run.all(), 2 * pi / N, "central", "minmod", "periodic", 0.1);
  PetscReal    size = 0;
  for (PetscReal value : expected) size = std::max(size, std::fabs(value));
  CHECK(largest_difference(run.rate(), expected) <= 1e-12 * size);
  Mat       J;
  PetscBool aij;
  OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
  OK(PetscObjectTypeCompareAny((PetscObject)J, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  CHECK(aij);
  const std::string text = printed([&] { OK(TSBurgersView(run.ts, NULL)); });
  for (const char *word : {"central", "minmod", "periodic", "0.1", "checks: none"}) {
    INFO(text);
    CHECK(text.find(word) != std::string::npos);
  }
  for (const char *mistake : {"-burgers_inflow 1,0", "-burgers_speed 2"}) {
    Options set(mistake);
    INFO(mistake);
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({std::string(mistake, strchr(mistake, ' ')), "leave"}),
                 [&] { return TSSetFromOptions(run.ts); });
  }
  OK(TSSetFromOptions(run.ts));
}

TEST_CASE("the Jacobian outlives its TS", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  Matrix         kept;
  Vector         v, y, before;
  {
    Run run(PETSC_COMM_WORLD, N, true, "-burgers_viscosity 0.1");
    Mat J;
    run.start([&](PetscInt i) { return wavy(i, N); });
    v = random_vector(run.da, 1);
    y = make_vector(run.da);
    before = make_vector(run.da);
    OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
    OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
    OK(MatMult(J, v, before));
    OK(PetscObjectReference((PetscObject)J));
    *&kept = J;
  }
  OK(MatMult(kept, v, y));
  CHECK(difference(y, before) == 0);
}

TEST_CASE("what needs the entries of the Jacobian names the option that gives them", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  for (const char *pc : {"lu", "ilu", "sor", "mg", "asm", "stencilmg"}) {
    if (rank_count() > 1 && !strcmp(pc, "mg")) continue; // for its coarsest level the default there is redundant
    Run run(PETSC_COMM_WORLD, N, true, "-ts_type beuler");
    run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
    INFO(pc);
    Options set(std::string("-pc_type ") + pc);
    EXPECT_ERROR((PetscErrorCode)0, ({"Jacobian", "-burgers_jacobian shell_aij"}), [&] {
      PetscFunctionBeginUser;
      PetscCall(TSSetFromOptions(run.ts));
      PetscCall(solve(run, 2, 1e-2));
      PetscFunctionReturn((PetscErrorCode)0);
    });
  }
}

TEST_CASE("fused steps refuse error control, and other equations", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused -ts_adapt_type basic");
  run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
  EXPECT_ERROR(PETSC_ERR_SUP, ({"burgersfused", "basic", "cfl"}), [&] { return solve(run, 10, 1e-3); });
}

TEST_CASE("several TS on one DMDA keep their own equations", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "");
  run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
  Vector  before = make_vector(run.da), after = make_vector(run.da);
  Stepper other;
  OK(TSSetTimeStep(run.ts, 1e-4)); // which the bound allows
  OK(TSComputeRHSFunction(run.ts, 0, run.u, before));
  OK(TSCreate(PETSC_COMM_WORLD, &other));
  OK(TSSetDM(other, run.da));
  OK(TSSetBurgers(other));
  OK(TSBurgersSetViscosity(other, 0.5));
  OK(TSComputeRHSFunction(run.ts, 0, run.u, after));
  CHECK(difference(after, before) == 0);
  OK(TSDestroy(&other));
  OK(TSComputeRHSFunction(run.ts, 0, run.u, after));
  CHECK(difference(after, before) == 0);
}

TEST_CASE("a Jacobian of other settings is refused", "[burgers]") {
  const PetscInt N = 30 * rank_count();
  Run            run(PETSC_COMM_WORLD, N, true, "");
  Mat            J; // the TS'
  Vector         v = make_vector(run.da), y = make_vector(run.da);
  run.start([&](PetscInt i) { return std::sin(2 * pi * i / N); });
  OK(VecSet(v, 1));
  OK(TSGetRHSJacobian(run.ts, &J, NULL, NULL, NULL));
  OK(TSComputeRHSJacobian(run.ts, 0, run.u, J, J));
  OK(MatMult(J, v, y));
  OK(TSBurgersSetViscosity(run.ts, 0.1));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"Jacobian", "TSComputeRHSJacobian"}), [&] { return MatMult(J, v, y); });
}

TEST_CASE("steps that the methods cannot take are refused", "[burgers]") {
  const PetscInt N = 20 * rank_count();
  const auto     sine = [&](PetscInt i) { return std::sin(2 * pi * i / N); };
  for (const char *type : {"rk", "burgersfused", "beuler"}) {
    Run    run(PETSC_COMM_WORLD, N, true, std::string("-ts_adapt_type none -ts_type ") + type);
    Vector larger;
    INFO(type);
    OK(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, N + 1, &larger));
    OK(VecSet(larger, 0));
    OK(TSSetTimeStep(run.ts, 1e-3));
    OK(TSSetMaxSteps(run.ts, 2));
    EXPECT_ERROR((PetscErrorCode)0, ({"values", "DMCreateGlobalVector"}), [&] { return TSSolve(run.ts, larger); });
  }
  Run cfl(PETSC_COMM_WORLD, N, true, "-ts_type rk -ts_adapt_type cfl");
  cfl.start(sine);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"cfl", "rk", "ssp"}), [&] { return solve(cfl, 10, 1e-3); });
  Run between(PETSC_COMM_WORLD, N, true, "-ts_type burgersfused");
  between.start(sine);
  OK(TSSetExactFinalTime(between.ts, TS_EXACTFINALTIME_INTERPOLATE));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"interpolate", "matchstep"}), [&] {
    PetscFunctionBeginUser;
    PetscCall(TSSetTimeStep(between.ts, 1e-3));
    PetscCall(TSSetMaxSteps(between.ts, 10));
    PetscCall(TSSolve(between.ts, between.u));
    PetscFunctionReturn((PetscErrorCode)0);
  });
}

#endif
