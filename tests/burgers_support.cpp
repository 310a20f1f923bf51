#include "burgers_support.hpp"

#if !defined(PETSC_USE_COMPLEX)
namespace tests {

PetscErrorCode solve(Run &run, PetscInt steps, PetscReal dt) {
  PetscFunctionBeginUser;
  PetscCall(TSSetTime(run.ts, 0));
  PetscCall(TSSetStepNumber(run.ts, 0));
  PetscCall(TSSetTimeStep(run.ts, dt));
  PetscCall(TSSetMaxSteps(run.ts, steps));
  PetscCall(TSSetMaxTime(run.ts, 1e30));
  PetscCall(TSSolve(run.ts, run.u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal largest_difference(const Values &x, const Values &y) {
  PetscReal largest = x.size() == y.size() ? 0 : 1e30;
  for (size_t i = 0; i < std::min(x.size(), y.size()); i++) {
    const PetscReal d = std::fabs(x[i] - y[i]);
    largest = d <= largest ? largest : d; // keeps a NaN
  }
  return largest;
}

PetscReal mean_difference(const Values &x, const Values &y) {
  PetscReal sum = 0;
  for (size_t i = 0; i < x.size(); i++) sum += std::fabs(x[i] - y[i]) / x.size();
  return sum;
}

PetscReal variation(const Values &u, bool periodic) {
  PetscReal sum = periodic ? std::fabs(u.front() - u.back()) : 0;
  for (size_t i = 1; i < u.size(); i++) sum += std::fabs(u[i] - u[i - 1]);
  return sum;
}

PetscReal total(const Values &u) {
  PetscReal sum = 0;
  for (PetscReal value : u) sum += value;
  return sum;
}

bool is_left_out(int turn) {
  static const bool cuda = makes_cuda_vectors(Run(PETSC_COMM_WORLD, 16, true, "").da);
  if (rank_count() == 1) return false;
  return cuda ? turn % 11 : (turn / 16 + rank_count()) % 3;
}

bool fits(PetscInt N, int radius) {
  return N / rank_count() >= radius && (N > radius || radius == 1);
}

std::string options_of(const char *flux, const char *reconstruction, const char *boundary) {
  return std::string("-burgers_flux ") + flux + " -burgers_reconstruct " + reconstruction + " -burgers_bc " + boundary +
         (strcmp(boundary, "inflow") ? " " : " -burgers_inflow 0.3,-0.4 ");
}

PetscReal wavy(PetscInt i, PetscInt N) {
  const PetscReal x = (PetscReal)i / N;
  return std::sin(2 * pi * x) + (x > 0.3 && x < 0.45 ? -0.7 : 0) + 0.2 * std::cos(14 * pi * x);
}

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

Values rate(const Values &u, PetscReal h, const std::string &name, const std::string &reconstruction,
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
Values rate_2d(const Values &w, int Nx, int Ny, const PetscReal h[2], const std::string &name,
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

// u = sin(x - u t): by Newton's method from the branch of the characteristics that start on x's side of π.
PetscReal sine_at(PetscReal x, PetscReal t) {
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

Values averages(PetscInt N, PetscReal length, const std::function<PetscReal(PetscReal)> &f) {
  Values u(N);
  for (PetscInt i = 0; i < N; i++) u[i] = average(f, i * length / N, (i + 1) * length / N);
  return u;
}

} // namespace tests
#endif
