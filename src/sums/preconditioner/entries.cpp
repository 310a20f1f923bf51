// Entries of a kernel sum with its scalings, and dense matrices of them.

#include <cmath>

#include "sums/preconditioner/schwarz.hpp"
#include "sums/regions.hpp"

namespace shellac {

// The values of a vector at some points, `scalars` for each; `fallback` where it is null.
static PetscErrorCode fetch_values(PetscSF sf, Vec v, int scalars, PetscScalar fallback,
                                   std::vector<PetscScalar> *values) {
  constexpr int      reals = sizeof(PetscScalar) / sizeof(PetscReal);
  PetscInt           n;
  const PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(sf, NULL, &n, NULL, NULL));
  values->assign((size_t)n * scalars, fallback);
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(v, &array));
  PetscCall(ToRegion(sf, PETSC_MEMTYPE_HOST, reals * scalars, (const PetscReal *)array, (PetscReal *)values->data()));
  PetscCall(VecRestoreArrayRead(v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SumEntries::Create(Mat A, const std::vector<PetscInt> &some) {
  KernelSumMat *context;
  PetscSF       sf;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSum(A, &context));
  context_ = context;
  scalars = context->scalars_a_value();
  numbers = some;
  PetscCall(PointSFCreate(PetscObjectComm((PetscObject)A), *context->sources, numbers, &sf));
  for (int side = 0; side < 2; side++) {
    const PointCloud &from = *(side ? context->sources : context->targets);
    PointCloud       &to = side ? sources : targets;
    to.dim = from.dim;
    to.n = (PetscInt)numbers.size();
    Points points;
    PetscCall(PointCloudGetPoints(&from, PETSC_MEMTYPE_HOST, &points));
    to.x.change().resize((size_t)3 * to.n);
    for (int a = 0; a < 3; a++)
      PetscCall(ToRegion(sf, PETSC_MEMTYPE_HOST, 1, points.x[a], to.x.change().data() + (size_t)a * to.n));
  }
  PetscCall(fetch_values(sf, context->left, scalars, 1, &left_));
  PetscCall(fetch_values(sf, context->right, scalars, 1, &right_));
  PetscCall(fetch_values(sf, context->diagonal, scalars, 0, &diagonal_));
  for (PetscScalar &d : diagonal_) d += context->shift;
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void SumEntries::dense(const std::vector<PetscInt> &which, std::vector<PetscScalar> *block) const {
  const PetscInt        m = (PetscInt)which.size();
  const size_t          s = scalars, rows = m * s;
  std::vector<PetscInt> points; // their places here
  std::vector<double>   x[3], r2(m), g(m);
  block->resize(rows * rows);
  for (PetscInt number : which)
    points.push_back((PetscInt)(std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin()));
  for (int a = 0; a < 3; a++)
    for (PetscInt point : points) x[a].push_back(targets.on_host().x[a][point]);
  for (PetscInt j = 0; j < m; j++) {
    PetscReal    y[3];
    PetscScalar *column = block->data() + j * s * rows;
    for (int a = 0; a < 3; a++) y[a] = sources.on_host().x[a][points[j]];
    if (context_->info().values) {
      const double at[3] = {(double)y[0], (double)y[1], (double)y[2]};
      for (PetscInt i = 0; i < m; i++) {
        const double dx = x[0][i] - at[0], dy = x[1][i] - at[1], dz = x[2][i] - at[2];
        r2[i] = dx * dx + dy * dy + dz * dz;
      }
      context_->info().values(context_->parameters, m, r2.data(), g.data());
      for (PetscInt i = 0; i < m; i++) column[i] = r2[i] > 0 || context_->limit_is_own() ? (PetscReal)g[i] : 0;
    } else {
      PetscScalar pair[4];
      for (PetscInt i = 0; i < m; i++) {
        const PetscReal d[3] = {(PetscReal)x[0][i] - y[0], (PetscReal)x[1][i] - y[1], (PetscReal)x[2][i] - y[2]};
        KernelSumBlock(*context_, d, pair);
        for (size_t q = 0; q < s; q++)
          for (size_t p = 0; p < s; p++) column[q * rows + i * s + p] = pair[p * s + q];
      }
    }
    for (size_t q = 0; q < s; q++) {
      const PetscScalar scale = context_->scale * right_[points[j] * s + q];
      for (PetscInt i = 0; i < m; i++)
        for (size_t p = 0; p < s; p++) column[q * rows + i * s + p] *= scale * left_[points[i] * s + p];
      column[q * rows + j * s + q] += diagonal_[points[j] * s + q];
    }
  }
}

void SumEntries::constant(const std::vector<PetscInt> &which, double level, std::vector<PetscScalar> *u) const {
  const PetscReal size = std::sqrt(level * (double)PetscAbsScalar(context_->scale));
  u->clear();
  for (PetscInt number : which) {
    const size_t point = std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin();
    for (int p = 0; p < scalars; p++) u->push_back(size * left_[point * scalars + p]);
  }
}

PetscErrorCode DenseFactors::Factor(std::vector<PetscScalar> *matrix, bool *singular) {
  PetscBLASInt info = 0, lda;

  PetscFunctionBegin;
  values.swap(*matrix);
  PetscCall(PetscBLASIntCast((PetscInt)std::lround(std::sqrt((double)values.size())), &n));
  pivots.resize(n);
  lda = std::max<PetscBLASInt>(1, n);
  norm = 0;
  bool finite = true;
  for (PetscBLASInt j = 0; j < n; j++) {
    double sum = 0;
    for (PetscBLASInt i = 0; i < n; i++) sum += (double)PetscAbsScalar(values[(size_t)j * n + i]);
    norm = std::max(norm, sum);
    finite = finite && sum < INFINITY;
  }
  if (n && finite) PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&n, &n, values.data(), &lda, pivots.data(), &info));
  *singular = info != 0 || !finite;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseFactors::Solve(bool transposed, PetscInt columns, PetscScalar *b) const {
  PetscBLASInt info = 0, lda = std::max<PetscBLASInt>(1, n), count;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(columns, &count));
  if (n && count)
    PetscCallBLAS("LAPACKgetrs",
                  LAPACKgetrs_(transposed ? "T" : "N", &n, &count, values.data(), &lda, pivots.data(), b, &lda, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's getrs returned %d", (int)info);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FirstRowsOfInverse(std::vector<PetscScalar> *matrix, PetscBLASInt k, std::vector<PetscScalar> *rows,
                                  double *condition) {
  DenseFactors factors;
  bool         singular;

  PetscFunctionBegin;
  PetscCall(factors.Factor(matrix, &singular));
  const PetscBLASInt m = factors.n;
  rows->assign((size_t)m * k, 0);
  for (PetscBLASInt i = 0; i < k; i++) (*rows)[(size_t)i * m + i] = 1;
  if (!singular) PetscCall(factors.Solve(true, k, rows->data()));
  double largest = 0; // sum of a row of the inverse
  for (PetscBLASInt i = 0; i < k; i++) {
    double sum = 0;
    for (PetscBLASInt j = 0; j < m; j++) sum += (double)PetscAbsScalar((*rows)[(size_t)i * m + j]);
    if (!(sum < INFINITY)) singular = true;
    largest = std::max(largest, sum);
  }
  *condition = singular ? INFINITY : largest * factors.norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LastRowsOfCholesky(std::vector<PetscScalar> *matrix, double sign, const std::vector<PetscScalar> &u,
                                  PetscBLASInt k, std::vector<PetscScalar> *rows, double *condition, bool *definite) {
  const PetscScalar one = 1;
  double            norm = 0, asymmetry = 0, largest = 0; // of the matrix; a diagonal entry of its inverse
  PetscBLASInt      m, info = 0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast((PetscInt)std::lround(std::sqrt((double)matrix->size())), &m));
  std::vector<PetscScalar> &a = *matrix;
  for (PetscBLASInt j = 0; j < m; j++) {
    double sum = 0;
    for (PetscBLASInt i = 0; i < m; i++) {
      sum += (double)PetscAbsScalar(a[(size_t)j * m + i]);
      asymmetry = std::max(asymmetry, (double)PetscAbsScalar(a[(size_t)j * m + i] - PetscConj(a[(size_t)i * m + j])));
    }
    norm = std::max(norm, sum);
  }
  rows->assign((size_t)m * k, 0);
  *definite = norm < INFINITY && asymmetry <= 1e-10 * norm;
  *condition = INFINITY;
  if (!*definite) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscBLASInt j = 0; !u.empty() && j < m; j++)
    for (PetscBLASInt i = 0; i < m; i++) {
      PetscScalar &entry = a[(size_t)j * m + i];
      entry = u[i] * PetscConj(u[j]) + (PetscReal)sign * entry;
    }
  PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("L", &m, a.data(), &m, &info));
  *definite = info == 0;
  if (!*definite) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscBLASInt i = 0; i < k; i++) (*rows)[(size_t)i * m + m - k + i] = 1;
  PetscCallBLAS("BLAStrsm", BLAStrsm_("L", "L", "C", "N", &m, &k, &one, a.data(), &m, rows->data(), &m));
  std::vector<double> of_inverse(k, 0);
  for (PetscBLASInt i = 0; i < k; i++)
    for (PetscBLASInt j = 0; j < k; j++) {
      const double l = (double)PetscAbsScalar((*rows)[(size_t)i * m + m - k + j]);
      of_inverse[j] += l * l;
    }
  for (double d : of_inverse) largest = std::max(largest, d);
  *condition = norm * largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
