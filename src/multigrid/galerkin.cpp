// Coarse operators of variable coefficients, from interpolation that follows them: Alcouffe, Brandt, Dendy and Painter,
// "The multi-grid method for the diffusion equation with strongly discontinuous coefficients" (1981), and Dendy,
// "Black box multigrid" (1982), written once for stars and boxes of any dimension.

#include "multigrid/couplings.hpp"

namespace shellac {

namespace {

// The neighbours as a table, for loops over points.
struct Table {
  struct Arm {
    PetscInt           d[3];
    PetscInt64         step; // in an array over the grown points
    const PetscScalar *coupling;
  };
  std::vector<Arm> arms;

  explicit Table(const Couplings &of) {
    of.neighbours.each([&](const PetscInt *d) {
      const PetscInt64 row = of.grown.size(0), plane = row * of.grown.size(1);
      arms.push_back(
          {{d[0], d[1], d[2]}, d[0] + d[1] * row + d[2] * plane, of.slot(FIRST_COUPLING + (int)arms.size())});
    });
  }
};

// Place of a step of -1, 0 or 1 along each axis among 27.
int place(PetscInt x, PetscInt y, PetscInt z) {
  return (int)(13 + x + 3 * y + 9 * z);
}

} // namespace

void Couplings::invert_diagonals() {
  PetscScalar *inverse = slot(INVERSE_DIAGONAL);
  for (size_t at = 0; at < points(); at++) inverse[at] = slot(SHIFT)[at];
  for (int n = FIRST_COUPLING; n < slots(); n++)
    for (size_t at = 0; at < points(); at++) inverse[at] += slot(n)[at];
  for (size_t at = 0; at < points(); at++)
    if (inverse[at] != (PetscScalar)0) inverse[at] = (PetscScalar)1 / inverse[at];
}

// A point between coarse ones along some axes takes the value at which its row, summed up along the other axes, is
// zero.
void interpolate(const Couplings &fine, const GridCoarsening &coarsening, int axes_between,
                 std::vector<PetscScalar> *weights) {
  const Table  table(fine);
  const size_t points = fine.points();
  PetscScalar *w = weights->data();

  for_each_on_host(coarsening.patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    bool           between[3];
    int            count = 0;
    for (int a = 0; a < 3; a++) count += between[a] = coarsening.between(a, p[a]);
    const size_t at = fine.grown.index(p);
    if (count != axes_between || fine.slot(INVERSE_DIAGONAL)[at] == (PetscScalar)0) return;
    if (count == 0) {
      bool inside = true;
      for (int a = 0; a < 3; a++) {
        const PetscInt J = coarsening.below(a, p[a]);
        inside = inside && (coarsening.patch.periodic[a] || (J >= 0 && J < coarsening.coarse_N[a]));
      }
      if (inside) w[at] = 1;
      return;
    }
    PetscScalar towards[27] = {}, side[3][2] = {}, sum = 0; // its row, summed up
    for (const Table::Arm &arm : table.arms) {
      const PetscScalar c = arm.coupling[at];
      const PetscInt    d[3] = {between[0] ? arm.d[0] : 0, between[1] ? arm.d[1] : 0, between[2] ? arm.d[2] : 0};
      if (c == (PetscScalar)0 || !(d[0] || d[1] || d[2])) continue;
      towards[place(d[0], d[1], d[2])] += c;
      for (int a = 0; a < 3; a++)
        if (d[a]) side[a][d[a] > 0] += c;
      sum += c;
    }
    // What the row has besides differences pulls the value to zero. Beside an end of the domain along another axis it
    // does that to the coarse points, too, and is left out; unless it is so much that the coarse points will differ.
    bool at_end = false;
    for (int a = 0; a < 3; a++)
      at_end = at_end || (between[a] && (side[a][0] == (PetscScalar)0 || side[a][1] == (PetscScalar)0));
    const PetscScalar shift = fine.slot(SHIFT)[at];
    if (at_end || PetscAbsScalar(shift) > 2 * PetscAbsScalar(sum)) sum += shift;
    if (sum == (PetscScalar)0) return;
    for (int z = -between[2]; z <= between[2]; z++)
      for (int y = -between[1]; y <= between[1]; y++)
        for (int x = -between[0]; x <= between[0]; x++) {
          const PetscScalar c = towards[place(x, y, z)];
          if (c == (PetscScalar)0) continue;
          const PetscInt d[3] = {x, y, z}, q[3] = {i + x, j + y, k + z};
          const size_t   there = fine.grown.index(q);
          PetscInt       to[3], from[3], last[3];
          for (int a = 0; a < 3; a++) last[a] = between[a] && !d[a];
          for (from[2] = 0; from[2] <= last[2]; from[2]++)
            for (from[1] = 0; from[1] <= last[1]; from[1]++)
              for (from[0] = 0; from[0] <= last[0]; from[0]++) {
                for (int a = 0; a < 3; a++) to[a] = d[a] ? d[a] > 0 : from[a];
                w[coarsening.corner(to) * points + at] += c / sum * w[coarsening.corner(from) * points + there];
              }
        }
  });
}

void coarsen(const Couplings &fine, const GridCoarsening &coarsening, const std::vector<PetscScalar> &weights,
             const Patch &coarse_patch, Couplings *coarse) {
  const Table              table(fine);
  const size_t             points = fine.points();
  const PetscScalar       *w = weights.data(), *s = fine.slot(SHIFT);
  const int                corners = coarsening.corners();
  std::vector<PetscScalar> total(points, 0); // of a point's weights
  std::vector<PetscInt>    below[3];
  std::vector<char>        between[3];

  for (int c = 0; c < corners; c++)
    for (size_t at = 0; at < points; at++) total[at] += w[c * points + at];
  for (int a = 0; a < 3; a++)
    for (PetscInt i = fine.grown.lo[a]; i < fine.grown.hi[a]; i++) {
      below[a].push_back(coarsening.below(a, i));
      between[a].push_back(coarsening.between(a, i));
    }
  coarse->grown = coarse_patch.all();
  coarse->mass.clear();
  coarse->neighbours.star = false;
  for (int a = 0; a < 3; a++) coarse->neighbours.present[a] = coarse_patch.N[a] > 1;
  coarse->resize();
  for_each_on_host(coarse_patch.all(), [&](PetscInt I0, PetscInt I1, PetscInt I2) {
    const PetscInt I[3] = {I0 + coarse_patch.start[0], I1 + coarse_patch.start[1], I2 + coarse_patch.start[2]};
    PetscInt       lo[3], hi[3], p[3];
    PetscScalar    row[27] = {}, shift = 0;
    for (int a = 0; a < 3; a++) {
      const Coarsening &axis = coarsening.axis[a];
      const PetscInt    kept = (axis.coarsens ? 2 * I[a] + axis.offset : I[a]) - coarsening.patch.start[a];
      lo[a] = kept - (axis.coarsens ? axis.ties_ends && I[a] == 0 ? 2 : 1 : 0);
      hi[a] = kept + (axis.coarsens ? 1 : 0);
    }
    // adds the value times the weights of the coarse points around the point
    const auto add = [&](PetscScalar value, size_t at, const PetscInt q[3]) {
      PetscInt first[3], last[3], c[3];
      for (int a = 0; a < 3; a++) {
        const PetscInt n = q[a] - fine.grown.lo[a];
        first[a] = below[a][n] - I[a];
        last[a] = between[a][n];
      }
      for (c[2] = 0; c[2] <= last[2]; c[2]++)
        for (c[1] = 0; c[1] <= last[1]; c[1]++)
          for (c[0] = 0; c[0] <= last[0]; c[0]++) {
            const PetscScalar weight = w[coarsening.corner(c) * points + at];
            if (weight != (PetscScalar)0)
              row[place(first[0] + c[0], first[1] + c[1], first[2] + c[2])] += value * weight;
          }
    };
    for (p[2] = lo[2]; p[2] <= hi[2]; p[2]++)
      for (p[1] = lo[1]; p[1] <= hi[1]; p[1]++)
        for (p[0] = lo[0]; p[0] <= hi[0]; p[0]++) {
          PetscInt c[3];
          bool     near = true;
          for (int a = 0; a < 3; a++) {
            const PetscInt n = p[a] - fine.grown.lo[a];
            c[a] = I[a] - below[a][n];
            near = near && c[a] >= 0 && c[a] <= between[a][n];
          }
          if (!near) continue;
          const size_t at = fine.grown.index(p);
          PetscScalar  weight = w[coarsening.corner(c) * points + at], diagonal = s[at];
          if (!fine.mass.empty()) weight *= fine.mass[at];
          if (weight == (PetscScalar)0) continue;
          shift += weight * s[at] * total[at];
          for (const Table::Arm &arm : table.arms) {
            const PetscScalar coupling = arm.coupling[at];
            if (coupling == (PetscScalar)0) continue;
            const PetscInt q[3] = {p[0] + arm.d[0], p[1] + arm.d[1], p[2] + arm.d[2]};
            const size_t   there = at + arm.step;
            diagonal += coupling;
            shift += weight * coupling * (total[at] - total[there]);
            add(-weight * coupling, there, q);
          }
          add(weight * diagonal, at, p);
        }
    const PetscInt here[3] = {I0, I1, I2};
    const size_t   at = coarse->grown.index(here);
    int            slot = FIRST_COUPLING;
    // around an axis of one point, neighbours are the point itself
    for (int a = 0; a < 3; a++)
      for (int n = 0; n < 27 && coarse_patch.N[a] == 1; n++) {
        const auto d = Direction::at(n);
        if (!d.d[a]) continue;
        Direction to = d;
        to.d[a] = 0;
        row[to.index()] += row[n];
        row[n] = 0;
      }
    coarse->neighbours.each([&](const PetscInt *d) { coarse->slot(slot++)[at] = -row[place(d[0], d[1], d[2])]; });
    if (PetscAbsScalar(shift) <= cancellation * PetscAbsScalar(row[13])) shift = 0;
    coarse->slot(SHIFT)[at] = shift;
  });
  coarse->invert_diagonals();
}

} // namespace shellac
