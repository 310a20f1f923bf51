#include "multigrid/axes_of.hpp"

#include <cmath>

#include "capture/mat.hpp"

namespace shellac {

// The arms of one row, and what else it has.
struct ArmsOfRow {
  PetscScalar center = 0, arm[3][2] = {{0, 0}, {0, 0}, {0, 0}};
  bool        only_arms = true;
};

static ArmsOfRow arms_of(const PreparedOperator &op, const PetscInt p[3], std::vector<Entry> *entries) {
  ArmsOfRow row;
  op.row(p, 0, entries);
  for (const Entry &entry : *entries) {
    int axis = -1, steps = 0;
    for (int a = 0; a < 3; a++) {
      const PetscInt step = entry.point[a] - p[a];
      steps += (int)PetscAbsInt(step);
      if (step) axis = a;
    }
    if (steps == 0)
      row.center += entry.value;
    else if (steps == 1)
      row.arm[axis][entry.point[axis] > p[axis] ? UPPER : LOWER] += entry.value;
    else if (entry.value != (PetscScalar)0)
      row.only_arms = false;
  }
  return row;
}

// Along one axis, through a point far from the ends of the others.
struct RowsAlong {
  std::vector<PetscScalar> center, lower, upper; // [N]
};

// Rows so near to an end of an axis of N points, and that in the middle, may differ from others where coefficients are
// constant.
static bool is_special(PetscInt i, PetscInt N) {
  return i < 3 || i >= N - 3 || i == N / 2;
}

// few_kinds: rows that are not special are like the one in the middle.
static PetscErrorCode get_lines(const Grid &grid, const PreparedOperator &op, bool few_kinds, RowsAlong lines[3]) {
  std::vector<Entry> entries;
  PetscMPIInt        count;

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    RowsAlong &line = lines[a];
    PetscInt   p[3];
    bool       ours = true;
    for (auto *values : {&line.center, &line.lower, &line.upper}) values->assign(grid.N[a], 0);
    for (int c = 0; c < 3; c++) {
      p[c] = grid.N[c] / 2 - grid.start[c];
      ours = ours && (c == a || (p[c] >= 0 && p[c] < grid.size[c]));
    }
    ArmsOfRow row;
    bool      inner = false; // the row is of the inner kind
    for (p[a] = 0; ours && p[a] < grid.size[a]; p[a]++) {
      const PetscInt i = grid.start[a] + p[a];
      if (!inner || !few_kinds || is_special(i, grid.N[a])) row = arms_of(op, p, &entries);
      inner = !is_special(i, grid.N[a]) || i == grid.N[a] / 2;
      line.center[i] = row.center;
      line.lower[i] = row.arm[a][LOWER];
      line.upper[i] = row.arm[a][UPPER];
    }
    PetscCall(PetscMPIIntCast(grid.N[a], &count));
    for (auto *values : {&line.center, &line.lower, &line.upper})
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values->data(), count, MPIU_SCALAR, MPIU_SUM, grid.comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bool real_and_alike(PetscScalar a, PetscScalar b, PetscReal size) {
  return PetscAbsScalar(a - b) <= rounding * size && PetscAbsReal(PetscImaginaryPart(a)) <= rounding * size;
}

PetscErrorCode MatStencilGetAxes(StencilMat *context, StencilOperator *of, Axis axes[3], PetscScalar *sigma,
                                 std::string *why) {
  const Grid                       &grid = context->grid;
  std::unique_ptr<PreparedOperator> prepared;
  RowsAlong                         lines[3];
  Arrays                            arrays;
  int                               off = 0, sign = 0; // rows that the axes do not give; of the edges

  PetscFunctionBegin;
  why->clear();
  if (grid.dof > 1) {
    *why = "has " + std::to_string(grid.dof) + " unknowns a point";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(context->Prepare(of, &arrays, &prepared));
  const PreparedOperator &op = *prepared;
  const bool few_kinds = static_cast<CapturedStencil *>(of)->storage() == Storage::constant && grid.width <= 1;
  PetscCall(get_lines(grid, op, few_kinds, lines));
  *sigma = lines[0].center[grid.N[0] / 2];
  for (int a = 0; a < 3; a++) {
    const RowsAlong &line = lines[a];
    Axis            &axis = axes[a];
    const PetscInt   N = grid.N[a];
    const auto no_arms = [&](PetscInt i) { return line.lower[i] == (PetscScalar)0 && line.upper[i] == (PetscScalar)0; };

    axis = Axis();
    axis.periodic = grid.boundary[a] == DM_BOUNDARY_PERIODIC && N > 1;
    axis.fixed = !axis.periodic && a < grid.dim && N > 1 && no_arms(0) && no_arms(N - 1);
    if (axis.fixed && N > 3 && no_arms(N / 2)) axis.fixed = false; // no coupling at all
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
    *sigma += line.lower[N / 2] + line.upper[N / 2];
    if (axis.periodic) {
      axis.edge[N] = -PetscRealPart(line.upper[N - 1]) * axis.mass[N - 1];
      axis.edge[0] = -PetscRealPart(line.lower[0]) * axis.mass[0];
      if (PetscAbsReal(axis.edge[N] - axis.edge[0]) > rounding * PetscAbsReal(axis.edge[0]))
        *why = "is not symmetric, with any weights";
    } else if (!axis.fixed) { // to the ends of the domain goes what the row has on its diagonal alone
      const PetscInt    middle = N / 2;
      const auto        rest = [&](PetscInt i) { return line.center[i] + line.lower[i] + line.upper[i]; };
      const PetscScalar first = rest(0) - rest(middle), last = rest(N - 1) - rest(middle);
      const auto        significant = [&](PetscScalar value, PetscInt i) {
        return PetscAbsScalar(value) > cancellation * PetscAbsScalar(line.center[i]);
      };
      axis.edge[0] = significant(first, 0) ? PetscRealPart(first) * axis.mass[0] : 0;
      axis.edge[N] = significant(last, N - 1) ? PetscRealPart(last) * axis.mass[N - 1] : 0;
    }
    for (PetscReal edge : axis.edge) {
      const int its_sign = edge > 0 ? 1 : edge < 0 ? -1 : 0;
      if (its_sign * sign < 0) *why = "couples points with opposite signs";
      if (its_sign) sign = its_sign;
    }
  }
  if (PetscAbsScalar(*sigma) <= cancellation * PetscAbsScalar(lines[0].center[grid.N[0] / 2])) *sigma = 0;

  // does every row say so? One that does not is enough
  if (!why->empty()) off = 1;
  std::vector<PetscInt> tried[3];
  for (int a = 0; a < 3; a++)
    for (PetscInt i = 0; i < grid.size[a]; i++) {
      const PetscInt g = grid.start[a] + i, N = grid.N[a];
      if (!few_kinds || is_special(g, N)) tried[a].push_back(i);
    }
  std::vector<Entry> entries;
  for (PetscInt k : tried[2])
    for (PetscInt j : tried[1])
      for (PetscInt i : tried[0]) {
        if (off) break;
        const PetscInt  p[3] = {i, j, k};
        const ArmsOfRow row = arms_of(op, p, &entries);
        PetscScalar     center = *sigma;
        const PetscReal size = PetscAbsScalar(row.center);
        bool            fixed = false, alike = row.only_arms && std::isfinite(size); // all is small beside an infinity
        for (int a = 0; a < 3; a++) {
          const PetscInt g = grid.start[a] + p[a];
          fixed = fixed || axes[a].is_fixed(g);
          center += (axes[a].edge[g] + axes[a].edge[g + 1]) / axes[a].mass[g];
        }
        for (int a = 0; a < 3; a++) {
          const PetscInt  g = grid.start[a] + p[a];
          const PetscReal k_lower = axes[a].periodic || g > 0 ? axes[a].edge[g] / axes[a].mass[g] : 0,
                          k_upper = axes[a].periodic || g < grid.N[a] - 1 ? axes[a].edge[g + 1] / axes[a].mass[g] : 0;
          alike = alike && real_and_alike(row.arm[a][LOWER], fixed ? 0 : -k_lower, size) &&
                  real_and_alike(row.arm[a][UPPER], fixed ? 0 : -k_upper, size);
        }
        if (!fixed)
          alike = alike && PetscAbsScalar(row.center - center) <= rounding * size;
        else
          alike = alike && row.center != (PetscScalar)0;
        if (!alike) off = 1;
      }
  PetscCall(arrays.Restore());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &off, 1, MPI_INT, MPI_MAX, grid.comm));
  if (off && why->empty()) *why = "has coefficients that are not one sum over the axes";
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
