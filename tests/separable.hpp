#pragma once
// Operators that are sums over the axes, with all ends: rows for tests of direct solves.

#include "multigrid.hpp"

namespace tests::separable {

// Where an axis ends: at zero, a spacing or half of it beyond the last point; without flux, half a spacing beyond it or in
// it; with a Robin condition; or with identity rows.
enum End { zero, half_zero, half_free, free_end, robin, identity };
inline const char *const names[] = {"zero", "half zero", "half free", "free", "robin", "identity"};

struct AxisRows {
  PetscInt  N = 1;
  bool      periodic = false, stretched = false;
  End       end[2] = {zero, zero};
  PetscReal k = 1, ratio = 1; // of the spacings of one cell and the one before

  bool      fixed(PetscInt i) const { return !periodic && end[0] == identity && (i == 0 || i == N - 1); }
  PetscReal h(PetscInt face) const {
    if (ratio != 1) return PetscPowReal(ratio, (PetscReal)face);
    return stretched ? 1 + PetscReal(0.7) * PetscSinReal((PetscReal)(periodic ? face % N : face)) : 1;
  }
  // the entry towards i + step; of step 0, this axis' part of the diagonal
  PetscReal entry(PetscInt i, PetscInt step) const {
    const PetscReal width = (h(i) + h(i + 1)) / 2;
    const bool      at[2] = {!periodic && i == 0, !periodic && i == N - 1};
    PetscReal       of[2], sum = 0;
    for (int side = 0; side < 2; side++) of[side] = k / (width * h(i + side));
    for (int side = 0; side < 2; side++) {
      if (!at[side] || end[side] == zero || end[side] == identity) continue;
      if (end[side] == free_end && N > 1)
        of[1 - side] *= 2, of[side] = 0;
      else if (end[side] == half_zero)
        of[side] *= 2;
      else
        of[side] *= end[side] == robin ? PetscReal(0.37) : 0;
    }
    if (step && periodic && N == 2) return -(of[0] + of[1]); // both are of one point
    if (step) return at[step > 0] ? 0 : -of[step > 0];
    for (PetscReal one : of) sum += one;
    return sum;
  }
  bool singular() const {
    bool is = true;
    for (End one : end) is = is && (periodic || one == half_free || one == free_end);
    return is;
  }
  std::string text() const {
    return std::to_string(N) + (periodic ? " periodic" : std::string(" ") + names[end[0]] + " to " + names[end[1]]) +
           (stretched ? ", stretched" : "") + "; ";
  }
};

struct Case {
  AxisRows    axis[3];
  int         dim = 1;
  PetscScalar sigma = 0;

  bool singular() const {
    bool is = sigma == (PetscScalar)0;
    for (int a = 0; a < dim; a++) is = is && axis[a].singular();
    return is;
  }
  Fill fill() const {
    return [*this](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      bool is_fixed = false, center = true;
      *block = sigma;
      for (int a = 0; a < dim; a++) is_fixed = is_fixed || axis[a].fixed(p[a]), center = center && !arm[a];
      for (int a = 0; a < dim; a++) {
        if (center)
          *block += axis[a].entry(p[a], 0);
        else if (arm[a])
          *block = axis[a].entry(p[a], arm[a]);
      }
      if (is_fixed) *block = center ? 2 : 0;
    };
  }
  Lattice lattice() const {
    Lattice l;
    l.dim = dim;
    for (int a = 0; a < 3; a++) {
      l.N[a] = a < dim ? axis[a].N : 1;
      l.ends[a] = axis[a].periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    }
    return l;
  }
  std::string text() const {
    std::string text;
    for (int a = 0; a < dim; a++) text += axis[a].text();
    return text + "sigma " + std::to_string(PetscRealPart(sigma)) + ", on " + std::to_string(rank_count()) + " ranks";
  }
};

// All pairs of ends, and periodic; number 0 to 26.
inline AxisRows rows(int number, PetscInt N, PetscReal k) {
  AxisRows axis;
  axis.N = N;
  axis.k = k;
  axis.periodic = number == 25;
  if (number < 25) axis.end[0] = (End)(number / 5), axis.end[1] = (End)(number % 5);
  if (number == 26) axis.end[0] = axis.end[1] = identity;
  if (axis.periodic && N < 2) axis.N = 2;
  return axis;
}

} // namespace tests::separable
