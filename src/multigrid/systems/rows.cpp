#include "multigrid/systems/rows.hpp"

#include <algorithm>

namespace shellac {

namespace {

// Copies the couplings within one step, and finds rows that couple nothing.
struct ReadSystem {
  Patch                             patch;
  CapturedCoefficients<PetscScalar> from;
  int                               dof, arms, arm[27]; // of the neighbours, and of the point itself; -1 for none
  bool                              pair[most_unknowns * most_unknowns];
  CouplingArrays                    rows; // of the first pair
  NeighbourList                     neighbours;
  PetscScalar                      *alone;
  unsigned char                    *bits;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, SystemFindings *found) const {
    const size_t at = patch.index(p[0], p[1], p[2]), to = rows.grown.index(p), points = rows.points();
    PetscScalar  entry[most], diagonal[most], sum[most];
    PetscReal    along[3][most];
    bool         couples[most];

    for (int r = 0, pairs = 0; r < dof; r++) {
      for (int i = 0; i < n; i++) couples[i] = false;
      fill_run(diagonal, n, PetscScalar(0));
      fill_run(sum, n, PetscScalar(0));
      for (int a = 0; a < 3; a++) fill_run(along[a], n, PetscReal(0));
      for (int c = 0; c < dof; c++) {
        if (!pair[r * dof + c]) continue;
        PetscScalar *of_pair = rows.values + (size_t)(pairs++ * rows.slots()) * points + to,
                    *shift = of_pair + SHIFT * points;
        for (int k = 0; k <= neighbours.count; k++) {
          const bool here = k == neighbours.count;
          if (arm[k] < 0) continue;
          for (int i = 0; i < n; i++) {
            const PetscInt q[3] = {p[0] + i, p[1], p[2]};
            entry[i] = from.entry(from.rows(patch, q, at + i), slot_number(arms, dof, arm[k], r, c), at + i);
          }
          for (int i = 0; i < n; i++) {
            shift[i] += entry[i];
            if (!here) of_pair[(FIRST_COUPLING + k) * points + i] = -entry[i];
            if (entry[i] - entry[i] != (PetscScalar)0) found->find(SystemFindings::not_finite);
            if (here && r == c)
              diagonal[i] = entry[i];
            else
              couples[i] |= entry[i] != (PetscScalar)0;
          }
          if (r != c) continue;
          for (int i = 0; i < n; i++) sum[i] += entry[i];
          for (int a = 0; a < 3 && !here; a++)
            for (int i = 0; i < n && neighbours.at[k].d[a]; i++) along[a][i] -= PetscRealPart(entry[i]) / 2;
        }
      }
      for (int s = from.first[r]; s < from.first[r + 1]; s++) { // others
        bool near = true;
        for (int a = 0; a < 3; a++) near = near && from.slot[s].step[a] >= -1 && from.slot[s].step[a] <= 1;
        for (int i = 0; i < n && !near; i++) {
          const PetscInt q[3] = {p[0] + i, p[1], p[2]};
          if (from.value(from.rows(patch, q, at + i), s, at + i) != (PetscScalar)0) found->find(SystemFindings::far);
        }
      }
      for (int i = 0; i < n; i++) {
        const PetscInt  q[3] = {p[0] + i, p[1], p[2]};
        const PetscReal size = PetscAbsScalar(diagonal[i]);
        const bool      is_alone = !couples[i] && size != 0;
        alone[(size_t)r * points + to + i] = is_alone;
        bits[at + i] |= (unsigned char)(is_alone << r);
        if (couples[i]) survey(q, size, sum[i], along[0][i], along[1][i], along[2][i], found);
      }
    }
  }

private:
  SHELLAC_RUN void survey(const PetscInt p[3], PetscReal size, PetscScalar sum, PetscReal x, PetscReal y, PetscReal z,
                          SystemFindings *found) const {
    const PetscReal along[3] = {x, y, z};
    bool            inside = true;
    for (int a = 0; a < 3; a++)
      for (int e = 0; e < 2; e++) {
        if (patch.N[a] == 1 || !patch.at_domain_end(p, a, (Side)e)) continue;
        found->flags.couples[a][e] = 1;
        inside = false;
      }
    if (size == 0 || (x == 0 && y == 0 && z == 0)) return; // couples other unknowns alone
    for (int a = 0; a < 3; a++) {
      if (inside) found->sums.coupling[a] += PetscAbsReal(along[a]) / size;
      for (int e = 0; e < 3; e++) {
        if (e == 2 ? !inside : !patch.at_domain_end(p, a, (Side)e)) continue;
        found->sums.shift[a][e] += PetscAbsScalar(sum) / size;
        found->sums.of_shift[a][e] += 1;
      }
    }
    if (inside) found->sums.rows += 1;
  }
};

} // namespace

int SystemRows::arrays() const {
  return (int)std::count(pairs.any, pairs.any + pairs.dof * pairs.dof, true) * slots();
}

CouplingArrays SystemRows::of_pair(int r, int c) const {
  CouplingArrays rows = *this;
  rows.values += (size_t)(std::count(pairs.any, pairs.any + r * pairs.dof + c, true) * slots()) * points();
  if (pairs.local(r, c)) rows.neighbours = {};
  return rows;
}

PetscErrorCode get_pairs(const CapturedStencil &op, MPI_Comm comm, Pairs *pairs) {
  const int dof = (int)op.patch().dof;
  int       any[most_unknowns * most_unknowns] = {}; // 1: at the point itself, 2: apart

  PetscFunctionBegin;
  for (int s = 0; s < op.slots(); s++) {
    int &of_pair = any[s / dof / op.arms().count() * dof + s % dof];
    if (op.uses(s)) of_pair = PetscMax(of_pair, s / dof % op.arms().count() == op.arms().center() ? 1 : 2);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any, dof * dof, MPI_INT, MPI_MAX, comm));
  pairs->dof = dof;
  for (int n = 0; n < dof * dof; n++) {
    pairs->any[n] = any[n] > 0;
    pairs->apart[n] = any[n] > 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_rows(CapturedStencil &op, PetscMemType memory, const Patch &patch, Halo *halo, const Box &grown,
                         const Pairs &pairs, SystemRows *rows, Mirror<unsigned char> *bits, SystemFindings *findings) {
  Arrays                           arrays(memory);
  std::unique_ptr<PreparedCapture> prepared;
  SystemFindings                   found;

  PetscFunctionBegin;
  rows->grown = grown;
  rows->pairs = pairs;
  rows->neighbours.star = !op.arms().box();
  for (int a = 0; a < 3; a++) rows->neighbours.present[a] = patch.N[a] > 1;
  PetscCall(rows->memory_of_values.MakeZero(memory, rows->arrays() * rows->points(), &rows->values));
  PetscCall(rows->memory_of_alone.MakeZero(memory, pairs.dof * rows->points(), &rows->alone));
  PetscCall(op.Prepare(&arrays, &prepared));
  ReadSystem read = {op.patch(),  prepared->coefficients(),
                     pairs.dof,   op.arms().count(),
                     {},          {},
                     *rows,       NeighbourList(*rows),
                     rows->alone, nullptr};
  PetscCall(bits->Edit(memory, &read.bits));
  std::copy_n(pairs.any, pairs.dof * pairs.dof, read.pair);
  read.arm[read.neighbours.count] = op.arms().center();
  for (int k = 0; k < read.neighbours.count; k++) {
    const PetscInt *d = read.neighbours.at[k].d;
    read.arm[k] = -1; // but for a step of this stencil, and not one that leads to the same point as another
    for (int arm = 0; arm < op.arms().count(); arm++)
      if (std::equal(d, d + 3, op.arms().step(arm))) read.arm[k] = arm;
  }
  PetscCall(get_sum_of_runs(memory, patch.all(), read, &found));
  PetscCall(arrays.Restore());
  if (findings) *findings = found;
  PetscCall(fill_ghosts(memory, patch, halo, grown, rows->values, rows->arrays()));
  PetscCall(fill_ghosts(memory, patch, halo, grown, rows->alone, pairs.dof));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
