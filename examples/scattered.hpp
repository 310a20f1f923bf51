#pragma once
// Scattered data for examples: a test function and random numbers.

#include <cmath>

// On the unit square (R. Franke, Scattered data interpolation: tests of some methods, 1982).
inline double Franke(double x, double y) {
  return 0.75 * std::exp(-(std::pow(9 * x - 2, 2) + std::pow(9 * y - 2, 2)) / 4) +
         0.75 * std::exp(-std::pow(9 * x + 1, 2) / 49 - (9 * y + 1) / 10) +
         0.5 * std::exp(-(std::pow(9 * x - 7, 2) + std::pow(9 * y - 3, 2)) / 4) -
         0.2 * std::exp(-std::pow(9 * x - 4, 2) - std::pow(9 * y - 7, 2));
}

// Numbers in [0, 1) that are the same on all ranks: a linear congruential generator (D. Knuth, MMIX).
struct Random {
  unsigned long long state = 1;

  double next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / (double)(1ull << 53);
  }
  double normal() { return std::sqrt(-2 * std::log(1 - next())) * std::cos(2 * std::acos(-1.) * next()); }
};
