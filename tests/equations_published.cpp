// Texts of the gallery against published solutions, which they state by `exact`, and numbers.

#include "catch.hpp"
#include "equations.hpp"

#include <cmath>
#include <filesystem>

using namespace tests;

TEST_CASE("every text of the gallery is read", "[equations]") {
  if (!equations_work()) return;
  int count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(gallery_path(""))) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() != ".h") continue;
    count++;
    if (file != "helmholtz.h") CHECK(!gallery_text(file).unknowns.empty()); // it needs complex numbers
  }
  CHECK(count == 21);
}

TEST_CASE("waves and fronts move as published, with errors of second order", "[equations]") {
  if (!equations_work()) return;
  const struct {
    const char *file, *type;
    PetscInt    N;
    PetscReal   dt[2], end, most;
  } cases[] = {{"korteweg_de_vries.h", TSCN, 250, {0.02, 0.01}, 0.5, 0.015},
               {"fisher.h", TSRK, 79, {0.05, 0.0125}, 1, 2e-3},
               {"sine_gordon.h", TSRK, 119, {0.05, 0.025}, 2, 0.02}};
  Options options("-ts_adapt_type none -ksp_rtol 1e-10 -snes_rtol 1e-9 -pc_type redundant");
  for (const auto &c : cases) {
    PetscReal error[2];
    for (int fine = 0; fine < 2; fine++) {
      Grid   da = gallery_grid(c.file, fine ? 2 * c.N + c.N % 2 : c.N);
      Vector u = make_vector(da), exact = make_vector(da);
      OK(DMDAEquationComputeInitial(da, u));
      OK(DMDAEquationComputeExact(da, c.end, exact));
      OK(TSSolve(stepper(da, c.type, c.dt[fine], c.end), u));
      OK(VecAXPY(u, -1, exact));
      OK(VecNorm(u, NORM_INFINITY, &error[fine]));
    }
    INFO(c.file << ": " << error[0] << ", " << error[1]);
    CHECK(error[0] < c.most);
    CHECK(error[1] < error[0] / 3.4);
  }
}

TEST_CASE("rolls of convection have the amplitude of the theory near their onset", "[equations]") {
  if (!equations_work()) return;
  Options   options("-ts_adapt_type none -ksp_rtol 1e-10 -snes_rtol 1e-9 -pc_type redundant");
  Grid      da = gallery_grid("swift_hohenberg.h", 128);
  Vector    u = make_vector(da);
  PetscReal most;
  OK(DMDAEquationComputeInitial(da, u));
  OK(TSSolve(stepper(da, TSBEULER, 4, 200), u));
  OK(VecNorm(u, NORM_INFINITY, &most));
  CHECK(std::fabs(most - 2 * std::sqrt(0.1 / 3)) < 0.002);
}

TEST_CASE("the price of an option is that of Black and Scholes' formula", "[equations]") {
  if (!equations_work()) return;
  Options options("-ts_adapt_type none -ksp_rtol 1e-10 -pc_type redundant");
  Grid    da = gallery_grid("black_scholes.h", 401);
  Vector  u = make_vector(da);
  OK(DMDAEquationComputeInitial(da, u));
  OK(TSSolve(stepper(da, TSCN, 0.02, 1), u));
  const auto normal = [](PetscReal d) { return std::erfc(-d / std::sqrt(2.)) / 2; };
  const auto values = natural_values(da, u);
  for (PetscInt share : {80, 100, 120}) {
    const PetscReal d = (std::log((PetscReal)share / 100) + 0.07) / 0.2, strike = 100 * std::exp(-0.05);
    CHECK(std::fabs(PetscRealPart(values[(size_t)share]) - ((PetscReal)share * normal(d) - strike * normal(d - 0.2))) <
          0.005);
  }
}

TEST_CASE("two phases separate, and their amounts stay", "[equations]") {
  if (!equations_work()) return;
  Options options("-ts_adapt_type none -ksp_rtol 1e-12 -snes_rtol 1e-11 -pc_type redundant");
  Grid    da = gallery_grid("cahn_hilliard.h", 20);
  Vector  u = make_vector(da);
  OK(DMDAEquationSetParameter(da, "eps", 0.05)); // wide layers, for this grid
  const auto amount = [&](PetscReal *most) {
    const auto  values = natural_values(da, u);
    PetscScalar sum = 0;
    for (size_t i = 0; i < values.size(); i += 2) sum += values[i], *most = std::fmax(*most, PetscAbsScalar(values[i]));
    return sum;
  };
  PetscReal at_first = 0, at_last = 0;
  OK(DMDAEquationComputeInitial(da, u));
  const PetscScalar before = amount(&at_first);
  OK(TSSolve(stepper(da, TSBEULER, 2e-3, 0.2), u));
  CHECK(PetscAbsScalar(amount(&at_last) - before) < 1e-7);
  CHECK(at_first < 0.21);
  CHECK(at_last > 0.8);
  CHECK(at_last < 1.1);
}
