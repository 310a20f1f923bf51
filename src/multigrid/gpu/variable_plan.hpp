#pragma once
// What passes on a GPU over levels with variable coefficients (variable_march.hpp, variable_columns.hpp) read besides
// the coefficients, and how those in 2-D divide a level and shared memory.

#include "device/chain.hpp"
#include "multigrid/pass.hpp"
#include "multigrid/step.hpp"

namespace shellac {

// level.weights_along_x has two weights of interpolation of each point between coarse columns, at the place before it
// and at its own, without the gaps of level.weights. In a kept row they are those of the coarse points before and after
// it; in another row, those of the two coarse points after it, below and above. A row begins one place before the
// patch.
SHELLAC_HD size_t place_along_x(const Patch &patch, PetscInt i, PetscInt j) {
  return (size_t)(i + 1) + (size_t)(patch.size[0] + 1) * (size_t)j;
}
template <class T> struct SetWeightsAlongX {
  VariableLevel<T> level;
  T               *weights_along_x;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt) const {
    const bool     between_x = level.between(0, i), between_y = level.between(1, j);
    const PetscInt p[3] = {between_x ? i : i + 1, j, 0},
                   c[3] = {between_x ? 1 : (PetscInt)between_y, between_x ? (PetscInt)between_y : 0, 0};
    weights_along_x[place_along_x(level.patch, i, j)] = level.weight(level.weights, p, c);
  }
};

// Whether places in a level's arrays are of type PetscInt, in which such passes compute them; 64 bits take several
// instructions more. Arrays of `grown` are the largest.
inline bool has_indices_for_rows(const Box &grown) {
  return grown.points() <= PETSC_MAX_INT;
}

#if SHELLAC_CUDA
// Strips side by side, in tiles one below the other.
struct RowsPlan {
  PetscInt strips = 0, tiles = 0, rows = 0; // rows: of a tile

  SHELLAC_HD PetscInt64 blocks() const { return (PetscInt64)strips * tiles; }
};

// Kind: a PassKind; which axes are coarsened is read from the level.
template <class Kind, bool star, class T> struct RowsShape {
  static constexpr bool wide = sizeof(T) > 8;               // numbers
  static constexpr int  blocks = wide ? 2 : star ? 4 : 3;   // of a multiprocessor
  static constexpr int  columns = wide && !star ? 96 : 128; // of a strip, with those that overlap
  static constexpr int  width = columns + 2;                // of rows that are read one column beyond their ends
  static constexpr int  ahead = 3;                          // rows that are being copied
  // Points around a part that its results depend on: from zero, the first step needs the couplings beside its points.
  static constexpr int reach = Kind::ghost + (Kind::starts && !Kind::corrected ? 0 : 1), written = columns - 2 * reach;
  static constexpr int behind = Kind::last + (Kind::restricts ? 1 : 0); // rows: the last use of b
  static constexpr int arms = star ? 2 : 4;                             // couplings of a point that are read
  static constexpr int lines = behind; // iterates whose neighbours are read, one a row behind
  // rows in shared memory; of the coarse correction a power of 2, as many as rows ahead and the two in use, or more
  static constexpr int depth = ahead + 1, e_depth = 8;
  // values of T in shared memory
  static constexpr int of_rows = depth * (arms + 1) * width, of_guess = Kind::given ? depth * columns : 0,
                       of_prolong = Kind::corrected ? depth * 3 * width : 0,
                       of_e = Kind::corrected ? e_depth * width : 0,
                       of_restriction = Kind::restricts ? depth * 3 * width : 0, of_lines = lines * depth * width,
                       of_residuals = Kind::restricts ? depth * width : 0;
  static constexpr size_t bytes =
      (size_t)(of_rows + of_guess + of_prolong + of_e + of_restriction + of_lines + of_residuals + depth * columns) *
      sizeof(T);
};

// Whether a block can have the shared memory that such passes with arrays of T need.
template <class T> bool has_memory_for_rows() {
  size_t     most = 0;
  const auto add = [&](auto kind) {
    most = PetscMax(most, (RowsShape<decltype(kind), true, T>::bytes));
    most = PetscMax(most, (RowsShape<decltype(kind), false, T>::bytes));
  };
  add(PassKind<true, false, true, true, true, 3>());
  add(PassKind<false, true, true, true, true, 3>());
  add(PassKind<true, true, false, true, true, 3>());
  return most <= most_shared_memory();
}

// at_once: blocks that the GPU runs at the same time
template <class Shape> RowsPlan plan_rows(const Patch &patch, PetscInt64 at_once) {
  constexpr PetscInt latency = 2 * Shape::reach + Shape::ahead + 4; // in rows, of a tile
  const PetscInt     height = patch.size[1];
  RowsPlan           plan;
  PetscInt64         least = PETSC_MAX_INT;

  plan.strips = (patch.size[0] + Shape::written - 1) / Shape::written;
  for (PetscInt64 rounds = 1; rounds * (latency + 1) < least; rounds++) { // with as many tiles as they take
    const PetscInt64 tiles = PetscMin(rounds * at_once / plan.strips, height),
                     rows = tiles ? (height + tiles - 1) / tiles : 0, time = rounds * (rows + latency);
    if (tiles && time < least) least = time, plan.rows = (PetscInt)rows;
    if (tiles == height) break;
  }
  plan.tiles = (height + plan.rows - 1) / plan.rows;
  return plan;
}
#else
template <class T> bool has_memory_for_rows() {
  return false;
}
#endif

} // namespace shellac
