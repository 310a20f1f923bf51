#include "multigrid/setup/read_axes.hpp"

#include <algorithm>

#include "capture/mat.hpp"

namespace shellac {

namespace {

using Coefficients = CapturedCoefficients<PetscScalar>;

// The arms of one row, and whether it has nothing else.
struct ArmsOfRow {
  PetscScalar center = 0, arm[3][2] = {{0, 0}, {0, 0}, {0, 0}};
  bool        only_arms = true;

  SHELLAC_HD ArmsOfRow() {}
  SHELLAC_HD ArmsOfRow(const Coefficients &of, const Patch &patch, const PetscInt p[3]) {
    const size_t       at = patch.index(p[0], p[1], p[2]);
    const PetscScalar *rows = of.rows(patch, p, at);
    for (int s = 0; s < of.count; s++) {
      const PetscInt   *step = of.slot[s].step;
      const PetscScalar value = of.value(rows, s, at);
      int               steps = 0;
      for (int a = 0; a < 3; a++) steps += (int)(step[a] < 0 ? -step[a] : step[a]);
      if (steps == 0) center += value;
      if (steps > 1 && value != (PetscScalar)0) only_arms = false;
      for (int a = 0; a < 3; a++)
        if (steps == 1 && step[a]) arm[a][step[a] > 0 ? UPPER : LOWER] += value;
    }
    for (int a = 0; a < 3; a++) { // both arms may be of one point
      if (!patch.periodic[a] || patch.N[a] != 2) continue;
      arm[a][LOWER] = arm[a][UPPER] = (arm[a][LOWER] + arm[a][UPPER]) / (PetscReal)2;
    }
  }
};

// Along one axis, through a point far from the ends of the others.
struct RowsAlong {
  std::vector<PetscScalar> center, lower, upper; // [N]
};

// The rows of a rank's part of that line.
struct ReadLine {
  Coefficients of;
  Patch        patch;
  int          axis;
  PetscInt     p[3];
  PetscScalar *out; // [3][points of the part]: centers, lower and upper arms

  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const {
    const PetscInt  q[3] = {axis == 0 ? i : p[0], axis == 1 ? i : p[1], axis == 2 ? i : p[2]}, n = patch.size[axis];
    const ArmsOfRow row(of, patch, q);
    out[i] = row.center;
    out[n + i] = row.arm[axis][LOWER];
    out[2 * n + i] = row.arm[axis][UPPER];
  }
};

// few_kinds: rows that are not special are like the one in the middle; the coefficients are on the host.
PetscErrorCode get_lines(PetscMemType memory, const Grid &grid, const Coefficients &of, const Patch &patch,
                         bool few_kinds, AxesMemory *room, RowsAlong lines[3]) {
  ReadLine                 read[3];
  bool                     ours[3];
  std::vector<PetscScalar> found;
  size_t                   begin[4] = {0, 0, 0, 0};
  PetscMPIInt              count;

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    read[a] = {of, patch, a, {0, 0, 0}, nullptr};
    ours[a] = true;
    for (int c = 0; c < 3; c++) {
      if (c == a) continue;
      read[a].p[c] = grid.N[c] / 2 - grid.start[c];
      ours[a] = ours[a] && read[a].p[c] >= 0 && read[a].p[c] < grid.size[c];
    }
    begin[a + 1] = begin[a] + 3 * (size_t)grid.size[a];
  }
  PetscCall(room->lines.Grow(begin[3], memory));
  for (int a = 0; a < 3; a++) {
    read[a].out = room->lines.at(memory) + begin[a];
    if (!ours[a]) continue;
    if (!few_kinds) {
      PetscCall(for_each_of_box(memory, {{0, 0, 0}, {grid.size[a], 1, 1}}, read[a]));
      continue;
    }
    PetscInt inner = -1; // a row that is not special
    for (PetscInt i = 0; i < grid.size[a]; i++) {
      const PetscInt g = grid.start[a] + i, N = grid.N[a];
      if (inner < 0 || is_special(g, N))
        read[a](i, 0, 0);
      else
        for (int n = 0; n < 3; n++) read[a].out[n * grid.size[a] + i] = read[a].out[n * grid.size[a] + inner];
      if (!is_special(g, N) || g == N / 2) inner = i;
    }
  }
  PetscCall(room->lines.GetHost(memory, &found));
  for (int a = 0; a < 3; a++) {
    RowsAlong                &line = lines[a];
    std::vector<PetscScalar> *parts[3] = {&line.center, &line.lower, &line.upper};
    PetscCall(PetscMPIIntCast(grid.N[a], &count));
    for (int n = 0; n < 3; n++) {
      const auto here = found.begin() + (ptrdiff_t)(begin[a] + n * (size_t)grid.size[a]);
      parts[n]->assign(grid.N[a], 0);
      if (ours[a]) std::copy(here, here + grid.size[a], parts[n]->begin() + grid.start[a]);
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, parts[n]->data(), count, MPIU_SCALAR, MPIU_SUM, grid.comm));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum Off { not_near, not_equal, offs }; // what rows are to those of the sum over the axes

// Whether rows are those of the sum over the axes. Near ones make the same hierarchy: what their sums differ by is
// small beside the lowest eigenvalue, or is rounding.
struct CompareRows {
  struct OneAxis {
    const PetscReal *mass, *edge; // on the whole grid
    bool             periodic, fixed;
  };
  Coefficients of;
  Patch        patch;
  OneAxis      axis[3];
  PetscScalar  sigma;
  PetscReal    slack; // a change of the diagonal by this hardly matters to the inverse
  int         *off;   // [offs], set where one is not; where one is not near, the others do not matter

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    if (((volatile int *)off)[not_near]) return;
    const ArmsOfRow row(of, patch, p);
    PetscScalar     center = sigma, sum = 0; // of the differences
    PetscReal       most = 0, arms = 0;
    for (int a = 0; a < 3; a++) arms += PetscAbsScalar(row.arm[a][LOWER]) + PetscAbsScalar(row.arm[a][UPPER]);
    const PetscReal size = PetscMax(PetscAbsScalar(row.center), arms); // sigma may cancel the diagonal entry
    bool            fixed = false;
    const auto      compare = [&](PetscScalar value, PetscScalar expected) {
      sum += value - expected;
      most = PetscMax(most, PetscAbsScalar(value - expected));
    };
    for (int a = 0; a < 3; a++) {
      const PetscInt g = patch.start[a] + p[a];
      fixed = fixed || (axis[a].fixed && (g == 0 || g == patch.N[a] - 1));
      center += (axis[a].edge[g] + axis[a].edge[g + 1]) / axis[a].mass[g];
    }
    for (int a = 0; a < 3; a++) {
      const PetscInt  g = patch.start[a] + p[a];
      const OneAxis  &of_axis = axis[a];
      const PetscReal k_lower = of_axis.periodic || g > 0 ? of_axis.edge[g] / of_axis.mass[g] : 0,
                      k_upper = of_axis.periodic || g < patch.N[a] - 1 ? of_axis.edge[g + 1] / of_axis.mass[g] : 0;
      compare(row.arm[a][LOWER], fixed ? 0 : -k_lower);
      compare(row.arm[a][UPPER], fixed ? 0 : -k_upper);
    }
    compare(row.center, fixed ? row.center : center);
    const bool has_size = size - size == 0 && (size > 0 || !fixed); // all is small beside an infinity
    if (!(row.only_arms && has_size && most <= rounding * size &&
          PetscAbsScalar(sum) <= PetscMax(cancellation * size, slack)))
      off[not_near] = 1;
    if (!(most <= agreement * size)) off[not_equal] = 1;
  }
};

// off: of this rank's rows
PetscErrorCode compare_rows(PetscMemType memory, const Coefficients &of, const Patch &patch, const Axis axes[3],
                            PetscScalar sigma, PetscReal slack, bool few_kinds, AxesMemory *room, int off[offs]) {
  CompareRows             compare = {of, patch, {}, sigma, slack, nullptr};
  std::vector<PetscReal> &all = room->axes.change();
  std::vector<int>        found;
  const PetscReal        *values;

  PetscFunctionBegin;
  all.clear();
  for (int a = 0; a < 3; a++) {
    all.insert(all.end(), axes[a].mass.begin(), axes[a].mass.end());
    all.insert(all.end(), axes[a].edge.begin(), axes[a].edge.end());
  }
  PetscCall(room->axes.Get(memory, &values));
  for (int a = 0; a < 3; a++) {
    compare.axis[a] = {values, values + axes[a].mass.size(), axes[a].periodic, axes[a].fixed};
    values += axes[a].mass.size() + axes[a].edge.size();
  }
  PetscCall(room->off.Grow(offs, memory));
  PetscCall(room->off.Zero(memory));
  compare.off = room->off.at(memory);
  PetscCall(for_each_kind_of_row(memory, patch, few_kinds, compare));
  PetscCall(room->off.GetHost(memory, &found));
  for (int n = 0; n < offs; n++) off[n] = found[n];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatStencilGetAxes(StencilMat *context, StencilOperator *of, bool constants, AxesMemory *room,
                                 Axis axes[3], PetscScalar *sigma, bool *equal, std::string *why) {
  const Grid                       &grid = context->grid;
  const auto                       &op = static_cast<const CapturedStencil &>(*of);
  const bool                        constant = op.storage() == Storage::constant;
  const bool                        few_kinds = constant && grid.width <= 1;
  const PetscMemType                memory = constant || !SHELLAC_CUDA ? PETSC_MEMTYPE_HOST : op.home();
  const PetscReal                   significant = constants ? rounding : cancellation; // of a sum of entries
  std::unique_ptr<PreparedOperator> prepared;
  RowsAlong                         lines[3];
  Arrays                            arrays(memory);
  int                               off[offs] = {}, sign = 0; // rows that the axes do not give; of the edges
  int                               read_along = 0;           // the axis that gives sigma
  PetscScalar                       beyond_middle[3];         // what the row in the middle of an axis has beyond sigma
  PetscReal                         least = PETSC_MAX_REAL;
  bool                              fixed_at_one_end = false, ends_differ = false;

  PetscFunctionBegin;
  why->clear();
  *equal = false;
  if (grid.dof > 1) {
    *why = "has " + std::to_string(grid.dof) + " unknowns a point";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(context->Prepare(of, &arrays, &prepared));
  const Coefficients &rows = static_cast<PreparedCapture &>(*prepared).coefficients();
  PetscCall(get_lines(memory, grid, rows, op.patch(), few_kinds, room, lines));
  *sigma = 0;
  for (int a = 0; a < 3; a++) {
    const RowsAlong &line = lines[a];
    Axis            &axis = axes[a];
    const PetscInt   N = grid.N[a];
    PetscInt         inner = N / 2; // the row far from the ends that has the smallest rounding errors
    const auto       size = [&](PetscInt i) { return PetscAbsScalar(line.center[i]); };
    const auto       rest = [&](PetscInt i) { return line.center[i] + line.lower[i] + line.upper[i]; };
    const auto no_arms = [&](PetscInt i) { return line.lower[i] == (PetscScalar)0 && line.upper[i] == (PetscScalar)0; };

    axis = Axis();
    axis.periodic = grid.boundary[a] == DM_BOUNDARY_PERIODIC && N > 1;
    axis.fixed = !axis.periodic && a < grid.dim && N > 1 && no_arms(0) && no_arms(N - 1);
    if (axis.fixed && N > 3 && no_arms(N / 2)) axis.fixed = false; // no coupling at all
    fixed_at_one_end = fixed_at_one_end || (!axis.periodic && N > 2 && no_arms(0) != no_arms(N - 1));
    axis.mass.assign(N, 1);
    axis.edge.assign(N + 1, 0);
    // A row's entries towards i + 1 and from there back are -k/m of the same edge: one gives k, the other the next m.
    for (PetscInt i = axis.fixed ? 1 : 0; i + 1 < N; i++) {
      const PetscReal up = -PetscRealPart(line.upper[i]), down = -PetscRealPart(line.lower[i + 1]);
      axis.edge[i + 1] = up * axis.mass[i];
      if (axis.is_fixed(i + 1)) continue;
      if (up * down > 0)
        axis.mass[i + 1] = axis.mass[i] * up / down;
      else if (up * down < 0)
        *why = "couples points with opposite signs";
      else if (up != down)
        *why = "couples points one way only";
    }
    if (axis.fixed && N > 2) axis.edge[1] = -PetscRealPart(line.lower[1]);
    for (PetscInt i = 2; i < N - 2; i++)
      if (size(i) < size(inner)) inner = i;
    // of two points, at ends both, that to which the other one's diagonal adds with the sign of an edge
    if (N == 2 && !axis.periodic && !axis.fixed && axis.edge[1] * PetscRealPart(rest(0) - rest(1)) < 0) inner = 0;
    beyond_middle[a] = inner == N / 2 || N != 2 ? (PetscScalar)0 : rest(1) - rest(0);
    if (size(inner) < least) { // all rows of an axis have sigma and the other axes' entries in common
      least = size(inner);
      read_along = a;
      *sigma = rest(inner);
      for (int b = 0; b < 3; b++)
        if (b != a) *sigma += lines[b].lower[grid.N[b] / 2] + lines[b].upper[grid.N[b] / 2];
    }
    if (axis.periodic) {
      axis.edge[N] = -PetscRealPart(line.upper[N - 1]) * axis.mass[N - 1];
      axis.edge[0] = -PetscRealPart(line.lower[0]) * axis.mass[0];
      if (PetscAbsReal(axis.edge[N] - axis.edge[0]) > rounding * PetscAbsReal(axis.edge[0]))
        *why = "is not symmetric, with any weights";
      else if (axis.edge[N] != axis.edge[0]) { // roundings of all masses: each of them gets its part
        const PetscReal drift = (axis.edge[N] / axis.edge[0] - 1) / (PetscReal)N;
        for (PetscInt i = 0; i < N; i++) {
          axis.mass[i] *= 1 - drift * (PetscReal)i;
          axis.edge[i + 1] *= 1 - drift * (PetscReal)i;
        }
        axis.edge[0] = axis.edge[N];
      }
    } else if (!axis.fixed) { // to the ends of the domain goes what the row has on its diagonal alone
      const auto beyond = [&](PetscInt i) {
        const PetscScalar value = rest(i) - rest(inner);
        const bool        is = PetscAbsScalar(value) > significant * PetscMax(size(i), size(inner));
        return is ? PetscRealPart(value) * axis.mass[i] : 0;
      };
      axis.edge[0] = beyond(0);
      axis.edge[N] = beyond(N - 1);
    }
    for (PetscInt i = 1; i < N + 2; i++) { // those of the ends last
      const PetscReal edge = axis.edge[i % (N + 1)];
      const int       its_sign = edge > 0 ? 1 : edge < 0 ? -1 : 0;
      if (its_sign * sign < 0 && (i < N || axis.periodic))
        *why = "couples points with opposite signs";
      else if (its_sign * sign < 0)
        ends_differ = true;
      if (its_sign && !sign) sign = its_sign;
    }
  }
  if ((ends_differ || !why->empty()) && fixed_at_one_end) *why = "has identity rows at one end of an axis alone";
  for (int b = 0; b < 3; b++)
    if (b != read_along) *sigma -= beyond_middle[b];
  if (PetscAbsScalar(*sigma) <= significant * least) *sigma = 0;

  // does every row say so? One that does not is enough
  off[not_near] = !why->empty();
  if (!off[not_near]) {
    const PetscReal lowest =
        axes[0].lowest() + axes[1].lowest() + axes[2].lowest() + (sign < 0 ? -1 : 1) * PetscRealPart(*sigma);
    PetscCall(compare_rows(memory, rows, op.patch(), axes, *sigma, lowest / 100, few_kinds, room, off));
  }
  PetscCall(arrays.Restore());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, off, offs, MPI_INT, MPI_MAX, grid.comm));
  if (off[not_near] && why->empty()) *why = "has coefficients that are not one sum over the axes";
  if (ends_differ && why->empty()) *why = "has an end whose coefficient has the sign opposite to the others";
  *equal = why->empty() && !off[not_equal];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_sum(Mat P, StencilMat *context, StencilOperator *of, AxesMemory *room, SumRead *read) {
  PetscBool    constants = PETSC_FALSE;
  MatNullSpace space;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(P, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &constants, NULL, NULL));
  PetscCall(
      MatStencilGetAxes(context, of, constants, room, read->sum.axes, &read->sum.sigma, &read->equal, &read->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
