// Entries of a kernel sum with its scalings: many dense matrices of them, where the points are.

#include <cmath>

#include "device/arrays.hpp"
#include "sums/preconditioner/schwarz.hpp"
#include "sums/regions.hpp"

namespace shellac {

namespace {

// Matrices of `side` points a row, of which a block has the last ones.
struct Places {
  const PetscInt    *places;
  const BlockPoints *blocks;
  PetscInt           side;

  SHELLAC_HD PetscInt padding(PetscInt b) const { return side - blocks[b].count; }
  SHELLAC_HD PetscInt of(PetscInt b, PetscInt i) const { return places[blocks[b].at + (size_t)(i - padding(b))]; }
  SHELLAC_HD size_t   at(PetscInt i, PetscInt j, PetscInt b) const { return ((size_t)b * side + j) * side + i; }
};

struct SquareOfDistance : Places {
  Points  targets, sources;
  double *r2;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt b) const {
    double sum = 0;
    if (i >= padding(b) && j >= padding(b)) {
      const PetscInt t = of(b, i), s = of(b, j);
      for (int a = 0; a < 3; a++) {
        const double d = (double)targets.x[a][t] - (double)sources.x[a][s];
        sum += d * d;
      }
    }
    r2[at(i, j, b)] = sum;
  }
};

struct ScaledEntry : Places {
  const double      *g = nullptr;
  const PetscScalar *left = nullptr, *right = nullptr, *diagonal = nullptr; // null: ones, ones, zeros
  PetscScalar        scale = 1, shift = 0;
  int                scalars = 1; // for each point
  bool               complex = false;
  PetscScalar       *matrices = nullptr;

  SHELLAC_HD PetscScalar value(size_t n, int p, int q) const { // of row p and column q of the pair
    if (!complex) return (PetscReal)g[n];
    const PetscReal re = (PetscReal)g[2 * n], im = (PetscReal)g[2 * n + 1];
#if defined(PETSC_USE_COMPLEX)
    (void)p, (void)q;
    return PetscCMPLX(re, im);
#else
    return p == q ? re : p ? im : -im;
#endif
  }
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt b) const {
    const bool   own = i >= padding(b) && j >= padding(b);
    const size_t rows = (size_t)side * scalars;
    for (int q = 0; q < scalars; q++)
      for (int p = 0; p < scalars; p++) {
        PetscScalar entry = i == j && p == q ? 1 : 0;
        if (own) {
          const size_t row = (size_t)of(b, i) * scalars + p, column = (size_t)of(b, j) * scalars + q;
          entry = scale * value(at(i, j, b), p, q);
          if (right) entry *= right[column];
          if (left) entry *= left[row];
          if (i == j && p == q) entry += shift + (diagonal ? diagonal[row] : (PetscScalar)0);
        }
        matrices[((size_t)b * rows + (size_t)j * scalars + q) * rows + (size_t)i * scalars + p] = entry;
      }
  }
};

struct MeasureRow {
  const BlockPoints *blocks;
  Batch              matrices;
  PetscInt           n;
  int                scalars;
  double            *rows; // norm, asymmetry of each row

  SHELLAC_HD void operator()(PetscInt i, PetscInt b, PetscInt) const {
    const PetscScalar *a = matrices.values + (size_t)b * matrices.stride;
    double             sum = 0, off = 0;
    for (PetscInt j = i < n - blocks[b].count * scalars ? n : 0; j < n; j++) {
      const PetscScalar entry = a[(size_t)j * n + i];
      const double      difference = (double)PetscAbsScalar(entry - PetscConj(a[(size_t)i * n + j]));
      sum += (double)PetscAbsScalar(entry);
      if (difference > off) off = difference;
    }
    rows[2 * ((size_t)b * n + i)] = sum;
    rows[2 * ((size_t)b * n + i) + 1] = off;
  }
};
struct LargestRow {
  const double *rows;
  PetscInt      n;
  double       *norms, *asymmetries;

  SHELLAC_HD void operator()(PetscInt b, PetscInt, PetscInt) const {
    double norm = 0, off = 0;
    for (size_t i = (size_t)b * n; i < ((size_t)b + 1) * n; i++) {
      if (!(rows[2 * i] <= norm)) norm = rows[2 * i]; // no number stays
      if (rows[2 * i + 1] > off) off = rows[2 * i + 1];
      if (norm != norm) break;
    }
    norms[b] = norm - norm == 0 ? norm : INFINITY;
    asymmetries[b] = norm - norm == 0 ? off : INFINITY;
  }
};

struct RaiseEntry : Places {
  const PetscScalar *left = nullptr;
  int                scalars = 1;
  PetscReal          sign = 1, size = 0;
  Batch              matrices = {};

  SHELLAC_HD PetscScalar u(PetscInt b, PetscInt row) const {
    return left ? size * left[(size_t)of(b, row / scalars) * scalars + row % scalars] : (PetscScalar)size;
  }
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt b) const {
    if (i < padding(b) * scalars || j < padding(b) * scalars) return;
    PetscScalar &entry = matrices.values[(size_t)b * matrices.stride + (size_t)j * matrices.lead + i];
    entry = u(b, i) * PetscConj(u(b, j)) + sign * entry;
  }
};

} // namespace

// The values of a vector at the points; none where it is null.
PetscErrorCode SumEntries::Fetch(PetscSF sf, Vec v, Mirror<PetscScalar> *values) {
  constexpr int      reals = sizeof(PetscScalar) / sizeof(PetscReal);
  Arrays             arrays(memory_);
  const PetscScalar *array;
  PetscScalar       *to;

  PetscFunctionBegin;
  values->change().clear();
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(arrays.Read(v, &array));
  PetscCall(values->Make(arrays.memory(), (size_t)n_ * scalars, &to));
  PetscCall(ToRegion(sf, arrays.memory(), reals * scalars, (const PetscReal *)array, (PetscReal *)to));
  PetscCall(arrays.Restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SumEntries::Create(Mat A, PetscSF sf, PetscMemType memory) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &context));
  context_ = context;
  memory_ = memory;
  scalars = context->scalars_a_value();
  PetscCall(PetscSFGetGraph(sf, NULL, &n_, NULL, NULL));
  for (int side = 0; side < 2; side++) {
    Points     points;
    PetscReal *x;
    PetscCall(PointCloudGetPoints(side ? context->sources : context->targets, memory, &points));
    PetscCall((side ? sources_ : targets_).Make(memory, (size_t)3 * n_, &x));
    for (int a = 0; a < 3; a++) PetscCall(ToRegion(sf, memory, 1, points.x[a], x + (size_t)a * n_));
  }
  PetscCall(Fetch(sf, context->left, &left_));
  PetscCall(Fetch(sf, context->right, &right_));
  PetscCall(Fetch(sf, context->diagonal, &diagonal_));
  if (context->formula) PetscCall(context->formula->NeedKernels(PetscObjectComm((PetscObject)A), memory, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SumEntries::Fill(const PetscInt *places, const BlockPoints *blocks, DenseBatch *m) {
  const PetscInt   side = m->n / scalars;
  const Places     of = {places, blocks, side};
  const Box        pairs = {{0, 0, 0}, {side, side, m->count}};
  const bool       complex = context_->info().complex;
  SquareOfDistance distances{of, {}, {}, nullptr};
  ScaledEntry      entry{of};
  ManyValues       values;

  PetscFunctionBegin;
  values.function = context_->function;
  values.formula = context_->formula.get();
  values.parameters = context_->parameters;
  values.own_value_at_zero = context_->limit_is_own();
  values.n = (PetscInt)pairs.points();
  values.memory = memory_;
  PetscCall(r2_.Grow((size_t)values.n, memory_));
  if (complex) PetscCall(g_.Grow((size_t)2 * values.n, memory_));
  values.r2 = distances.r2 = r2_.at(memory_);
  values.g = complex ? g_.at(memory_) : distances.r2;
  for (int side_of = 0; side_of < 2; side_of++) {
    const PetscReal *x;
    PetscCall((side_of ? sources_ : targets_).Get(memory_, &x));
    for (int a = 0; a < 3; a++) (side_of ? distances.sources : distances.targets).x[a] = x + (size_t)a * n_;
  }
  PetscCall(for_each_of_box(memory_, pairs, distances));
  PetscCall(ComputeValues(values));
  entry.g = values.g;
  PetscCall(left_.Get(memory_, &entry.left));
  PetscCall(right_.Get(memory_, &entry.right));
  PetscCall(diagonal_.Get(memory_, &entry.diagonal));
  entry.scale = context_->scale;
  entry.shift = context_->shift;
  entry.scalars = scalars;
  entry.complex = complex;
  entry.matrices = m->matrices().values;
  PetscCall(for_each_of_box(memory_, pairs, entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SumEntries::Measure(const BlockPoints *blocks, DenseBatch *m, double *norms, double *asymmetries) {
  PetscFunctionBegin;
  PetscCall(rows_.Grow(2 * (size_t)m->n * m->count, memory_));
  double *rows = rows_.at(memory_);
  PetscCall(for_each_of_box(memory_, {{0, 0, 0}, {m->n, m->count, 1}},
                            MeasureRow{blocks, m->matrices(), m->n, scalars, rows}));
  PetscCall(for_each(memory_, line_of(m->count), LargestRow{rows, m->n, norms, asymmetries}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SumEntries::Raise(const PetscInt *places, const BlockPoints *blocks, double sign, double level,
                                 DenseBatch *m) {
  RaiseEntry raise{{places, blocks, m->n / scalars}};

  PetscFunctionBegin;
  PetscCall(left_.Get(memory_, &raise.left));
  raise.scalars = scalars;
  raise.sign = (PetscReal)sign;
  raise.size = (PetscReal)std::sqrt(level * (double)PetscAbsScalar(context_->scale));
  raise.matrices = m->matrices();
  PetscCall(for_each_of_box(memory_, {{0, 0, 0}, {m->n, m->n, m->count}}, raise));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
