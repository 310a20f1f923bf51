#include "direct/box.hpp"

#include <algorithm>

#include "capture/mat.hpp"

namespace shellac {

namespace {

// Of a row: entry e couples it to the point at the steps (e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1).
constexpr int entries = 27, middle = 13;

using Coefficients = CapturedCoefficients<PetscScalar>;

// How the function continues beyond an end: with this factor, about a point `twice` half spacings beyond the last one.
struct EndOfBox {
  PetscReal factor = 0; // zero: rows have nothing beyond it
  int       twice = 2;
};

struct RowOfBox {
  PetscScalar entry[entries];
  PetscScalar others; // not zero: entries of other points
};

SHELLAC_HD RowOfBox read_row(const Coefficients &of, const Patch &patch, const PetscInt p[3]) {
  const size_t       at = patch.index(p[0], p[1], p[2]);
  const PetscScalar *rows = of.rows(patch, p, at);
  RowOfBox           row = {};

  for (int s = 0; s < of.count; s++) {
    const PetscInt   *step = of.slot[s].step;
    const PetscScalar value = of.value(rows, s, at);
    bool              is_near = true;
    for (int a = 0; a < 3; a++) is_near = is_near && step[a] >= -1 && step[a] <= 1;
    if (is_near)
      row.entry[middle + step[0] + 3 * step[1] + 9 * step[2]] += value;
    else if (value != (PetscScalar)0)
      row.others = 1;
  }
  for (int a = 0, stride = 1; a < 3; a++, stride *= 3) {
    if (!patch.periodic[a] || patch.N[a] != 2) continue;
    for (int e = 0; e < entries; e++) { // steps to both sides are to one point
      PetscScalar *const to = row.entry + e;
      if (e / stride % 3 == 0) to[0] = to[2 * stride] = (to[0] + to[2 * stride]) / (PetscReal)2;
    }
  }
  return row;
}

struct ReadRow {
  Coefficients of;
  Patch        patch;
  PetscInt     p[3];
  RowOfBox    *out;

  SHELLAC_HD void operator()(PetscInt, PetscInt, PetscInt) const { *out = read_row(of, patch, p); }
};

// What rows should be.
struct ExpectedRows {
  PetscInt    N[3];
  PetscScalar entry[entries];
  EndOfBox    end[3][2];
  bool        periodic[3], fixed[3], halved;
  PetscReal   tiny; // how much an entry may be off

  SHELLAC_HD bool is_fixed(int a, PetscInt i) const { return fixed[a] && (i == 0 || i == N[a] - 1); }
  SHELLAC_HD bool agrees(const RowOfBox &row, const PetscInt g[3]) const {
    PetscScalar expected[entries] = {};
    bool        to_fixed[entries] = {}; // such an entry may be zero
    PetscReal   weight = 1;
    if (row.others != (PetscScalar)0) return false;
    for (int a = 0; a < 3; a++)
      if (is_fixed(a, g[a])) { // an identity row, which is solved by itself
        bool alone = row.entry[middle] != (PetscScalar)0;
        for (int e = 0; e < entries; e++) alone = alone && (e == middle || row.entry[e] == (PetscScalar)0);
        return alone;
      }
    for (int a = 0; a < 3 && halved; a++)
      for (int side = 0; side < 2; side++)
        if (N[a] > 1 && g[a] == (side ? N[a] - 1 : 0) && end[a][side].twice == 0) weight /= 2;
    for (int e = 0; e < entries; e++) {
      int         step[3] = {e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1}, to = middle;
      PetscScalar at = weight;
      bool        beside_fixed = false;
      for (int a = 0, stride = 1; a < 3; a++, stride *= 3) {
        if (step[a] && N[a] == 1) at = 0;
        const PetscInt i = g[a] + step[a];
        const int      side = step[a] > 0;
        if (is_fixed(a, i)) beside_fixed = true;
        if (!periodic[a] && (i < 0 || i >= N[a])) {
          at *= end[a][side].factor;
          step[a] = end[a][side].twice == 0 ? -step[a] : 0;
        }
        to += step[a] * stride;
      }
      expected[to] += at * entry[e];
      to_fixed[to] = to_fixed[to] || beside_fixed;
    }
    for (int e = 0; e < entries; e++)
      if (!(PetscAbsScalar(row.entry[e] - expected[e]) <= tiny) && !(to_fixed[e] && row.entry[e] == (PetscScalar)0))
        return false;
    return true;
  }
};

struct CompareRows {
  Coefficients of;
  Patch        patch;
  ExpectedRows expected;
  int         *off; // set where a row is another

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k}, g[3] = {i + patch.start[0], j + patch.start[1], k + patch.start[2]};
    if (!*(volatile int *)off && !expected.agrees(read_row(of, patch, p), g)) *off = 1;
  }
};

// Whether rows of this rank are others. few_kinds: as those near the ends, or in the middle.
PetscErrorCode compare_rows(PetscMemType memory, CompareRows compare, bool few_kinds, AxesMemory *room, int *off) {
  std::vector<int> found;

  PetscFunctionBegin;
  PetscCall(room->off.Grow(1, memory));
  PetscCall(room->off.Zero(memory));
  compare.off = room->off.at(memory);
  PetscCall(for_each_kind_of_row(memory, compare.patch, few_kinds, compare));
  PetscCall(room->off.GetHost(memory, &found));
  *off = found[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr int rows_read = 7; // in the middle, and at the middle of each end
constexpr int scalars_of_row = sizeof(RowOfBox) / sizeof(PetscScalar);

// The point of the n-th of them along an axis.
PetscInt place_of(int n, int axis, PetscInt N) {
  return n && (n - 1) / 2 == axis ? ((n - 1) % 2 ? N - 1 : 0) : N / 2;
}

PetscErrorCode read_rows(PetscMemType memory, const Grid &grid, const Coefficients &of, const Patch &patch,
                         RowOfBox rows[rows_read]) {
  Scratch<RowOfBox>     room;
  std::vector<RowOfBox> found;

  PetscFunctionBegin;
  PetscCall(room.Grow(rows_read, memory));
  PetscCall(room.Zero(memory));
  for (int n = 0; n < rows_read; n++) {
    ReadRow read = {of, patch, {}, room.at(memory) + n};
    bool    ours = true;
    for (int a = 0; a < 3; a++) {
      read.p[a] = place_of(n, a, grid.N[a]) - grid.start[a];
      ours = ours && read.p[a] >= 0 && read.p[a] < grid.size[a];
    }
    if (ours) PetscCall(for_each_of_box(memory, {{0, 0, 0}, {1, 1, 1}}, read));
  }
  PetscCall(room.GetHost(memory, &found));
  std::copy(found.begin(), found.begin() + rows_read, rows);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, rows, rows_read * scalars_of_row, MPIU_SCALAR, MPIU_SUM, grid.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of the row in the middle: the entries by sets of axes along which the other point is a step away, and whether they are
// the same on both sides of each.
bool read_middle(const RowOfBox &row, PetscReal tiny, PetscScalar value[8], PetscScalar entry[entries]) {
  int  count[8] = {};
  bool same = true;

  std::fill(value, value + 8, 0);
  const auto axes_of = [](int e) { return (e % 3 != 1) + 2 * (e / 3 % 3 != 1) + 4 * (e / 9 != 1); };
  for (int e = 0; e < entries; e++) value[axes_of(e)] += row.entry[e], count[axes_of(e)]++;
  for (int axes = 0; axes < 8; axes++) value[axes] /= count[axes];
  for (int e = 0; e < entries; e++) same = same && PetscAbsScalar(row.entry[e] - value[axes_of(e)]) <= tiny;
  for (int e = 0; e < entries; e++) entry[e] = same ? value[axes_of(e)] : row.entry[e];
  return same;
}

// The ends that one row at an end of an axis has, the rest of it far from others; *halved: its last points' rows are half.
bool find_end(ExpectedRows *expected, const RowOfBox &row, int axis, int side, const PetscInt at[3], bool *halved) {
  for (bool half : {false, true})
    for (const EndOfBox &end : {EndOfBox{0, 2}, {-1, 1}, {1, 1}, {1, 0}}) {
      if (half && end.twice) continue;
      expected->end[axis][side] = end;
      expected->halved = half;
      if (!expected->agrees(row, at)) continue;
      *halved = half;
      return true;
    }
  return false;
}

Axis axis_of(const ExpectedRows &expected, int a) {
  const PetscInt N = expected.N[a];
  Axis           axis;

  axis.mass.assign(N, 1);
  axis.edge.assign(N + 1, N > 1 ? 1 : 0);
  axis.periodic = expected.periodic[a];
  axis.fixed = expected.fixed[a];
  for (int side = 0; side < 2 && N > 1 && !axis.periodic && !axis.fixed; side++) {
    const EndOfBox &end = expected.end[a][side];
    if (end.factor != 0) axis.edge[side ? N : 0] = end.factor < 0 ? 2 : 0;
    if (end.twice == 0) axis.mass[side ? N - 1 : 0] = 0.5;
  }
  return axis;
}

} // namespace

PetscErrorCode MatStencilGetProducts(Mat P, StencilMat *context, AxesMemory *room, ProductsOfAxes *found, bool *is_box,
                                     std::string *why) {
  const Grid                       &grid = context->grid;
  const auto                       &op = static_cast<const CapturedStencil &>(*context->op);
  const bool                        constant = op.storage() == Storage::constant;
  const PetscMemType                memory = constant || !SHELLAC_CUDA ? PETSC_MEMTYPE_HOST : op.home();
  std::unique_ptr<PreparedOperator> prepared;
  Arrays                            arrays(memory);
  RowOfBox                          rows[rows_read];
  ExpectedRows                      expected = {};
  PetscReal                         size = 0, sizes = 0;
  PetscScalar                       value[8];
  bool                              wholly = true; // periodic
  bool         any_halved = false, any_whole = false, few = false, one_end = false, strange = false;
  int          off = 0;
  PetscBool    constants = PETSC_FALSE;
  MatNullSpace space;

  PetscFunctionBegin;
  why->clear();
  *is_box = false;
  if (grid.dof > 1) {
    *why = "has " + std::to_string(grid.dof) + " unknowns a point";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetNullSpace(P, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &constants, NULL, NULL));
  PetscCall(context->Prepare(context->op.get(), &arrays, &prepared));
  const Coefficients &of = static_cast<PreparedCapture &>(*prepared).coefficients();
  PetscCall(read_rows(memory, grid, of, op.patch(), rows));
  for (const PetscScalar &entry : rows[0].entry)
    size = PetscMax(size, PetscAbsScalar(entry)), sizes += PetscAbsScalar(entry);
  expected.tiny = agreement * size;
  const bool same = read_middle(rows[0], expected.tiny, value, expected.entry);
  for (int axes : {3, 5, 6, 7}) *is_box = *is_box || value[axes] != (PetscScalar)0;
  for (int a = 0; a < 3; a++) {
    const PetscInt N = grid.N[a];
    bool           alone[2] = {}; // identity rows
    expected.N[a] = N;
    expected.periodic[a] = grid.boundary[a] == DM_BOUNDARY_PERIODIC && N > 1;
    wholly = wholly && (N == 1 || expected.periodic[a]);
    if (expected.periodic[a] || N == 1) continue;
    for (int side = 0; side < 2; side++) {
      const RowOfBox &row = rows[1 + 2 * a + side];
      alone[side] = true;
      for (int e = 0; e < entries; e++) alone[side] = alone[side] && (e == middle || row.entry[e] == (PetscScalar)0);
    }
    expected.fixed[a] = alone[0] && alone[1];
    one_end = one_end || alone[0] != alone[1];
    few = few || N < (expected.fixed[a] ? 5 : 3);
  }
  for (int a = 0; a < 3 && !few; a++)
    for (int side = 0; side < 2 && !expected.periodic[a] && !expected.fixed[a] && grid.N[a] > 1; side++) {
      PetscInt at[3];
      bool     halved = false;
      for (int b = 0; b < 3; b++) at[b] = place_of(1 + 2 * a + side, b, grid.N[b]);
      strange = !find_end(&expected, rows[1 + 2 * a + side], a, side, at, &halved) || strange;
      const bool last = expected.end[a][side].twice == 0;
      any_halved = any_halved || (last && halved), any_whole = any_whole || (last && !halved);
    }
  expected.halved = any_halved;
  if (!(size - size == 0 && size > 0) || rows[0].others != (PetscScalar)0)
    *why = "has coefficients that are not finite, or couples points that are no neighbours";
  else if (few)
    *why = "is a box on an axis of few points";
  else if (!same && !wholly)
    *why = "is a box with other entries on one side of an axis than on the other";
  else if (one_end)
    *why = "is a box with identity rows at one end of an axis alone";
  else if (strange || (any_halved && any_whole))
    *why = "is a box whose rows at the ends of an axis are those of no sine or cosine transform";
  if (why->empty()) {
    const CompareRows compare = {of, op.patch(), expected, nullptr};
    PetscCall(compare_rows(memory, compare, constant && grid.width <= 1, room, &off));
  }
  PetscCall(arrays.Restore());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &off, 1, MPI_INT, MPI_MAX, grid.comm));
  if (off) *why = "is a box whose rows differ from point to point, or at the ends of the domain";
  if (!why->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  found->halved = any_halved;
  found->skew = !same;
  for (int a = 0; a < 3; a++) found->axes[a] = axis_of(expected, a);
  // 2 cos is 2 - L: an entry towards both sides of an axis adds twice itself, and subtracts itself times L
  for (int set = 0; set < 8; set++) {
    PetscScalar sum = 0;
    for (int axes = 0; axes < 8; axes++) {
      if ((axes & set) != set) continue;
      PetscReal factor = 1;
      for (int a = 0; a < 3; a++)
        if (axes >> a & 1) factor *= set >> a & 1 ? -1 : 2;
      sum += factor * value[axes];
    }
    found->terms[set] =
        PetscAbsScalar(sum) <= (constants && !set ? rounding : cancellation) * sizes ? (PetscScalar)0 : sum;
  }
  PetscScalar rest = found->terms[0];
  for (int e = 0; e < entries && !same; e++) rest -= found->entry[e] = expected.entry[e];
  if (!same) found->entry[middle] += rest; // constants are a null vector exactly, or not at all
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
