// A captured matrix beside the same AIJ.

#include "support.hpp"

#include <sstream>
#include <stdexcept>

namespace tests {

Twins::Twins(const Lattice &l, VecType vec_type) : lattice(l) {
  if (!try_make_grid(l, &da) || !try_make_grid(l, &aij_da))
    throw std::runtime_error("a grid that cannot be distributed: " + describe(l));
  if (vec_type) OK(DMSetVecType(da, vec_type));
  // PETSc 3.26's AIJ with inodes changes the CUDA vector that MatMultAdd() adds
  OK(DMSetVecType(aij_da, VECSTANDARD));
  OK(DMSetMatType(da, captured_type));
  OK(DMSetMatType(aij_da, MATAIJ));
  renew();
}

void Twins::renew() {
  OK(MatDestroy(&A));
  OK(MatDestroy(&aij));
  OK(DMCreateMatrix(da, &A));
  OK(DMCreateMatrix(aij_da, &aij));
  both([](DM, Mat M) { OK(MatSetOption(M, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE)); });
}

void Twins::both(const std::function<void(DM, Mat)> &work) {
  work(aij_da, aij);
  work(da, A);
}

PetscReal Twins::product_difference() {
  return difference_of([](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMult(M, x, y)); });
}

PetscReal Twins::difference_of(const std::function<void(DM, Mat, Vec, Vec, Vec)> &work) {
  both([&](DM dm, Mat M) {
    Vectors &of = M == A ? vectors_ : aij_vectors_;
    if (!of.x) {
      of.x = random_vector(dm, 11);
      of.b = random_vector(dm, 12);
      of.start = random_vector(dm, 13);
      of.y = make_vector(dm);
    }
    OK(VecCopy(of.start, of.y));
    work(dm, M, of.x, of.b, of.y);
  });
  return difference(vectors_.y, aij_vectors_.y);
}

// Collects the names of what differs by more than it may.
struct Differences {
  std::ostringstream list;

  void add(const char *name, PetscReal tolerance, const std::function<PetscReal()> &f) {
    PetscReal off;
    try {
      off = f();
    } catch (const std::exception &error) {
      list << name << ": " << error.what() << "\n";
      return;
    }
    MPI_Allreduce(MPI_IN_PLACE, &off, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
    if (!(off <= tolerance)) list << name << " differs by " << (double)off << "\n";
  }
};

// Zero if the rows have the same columns, in ascending order; then the largest difference of entries.
static PetscReal row_difference(Mat A, Mat B) {
  PetscInt  first, last;
  PetscReal off = 0;
  OK(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; row++) {
    PetscInt           count, reference_count;
    const PetscInt    *columns, *reference_columns;
    const PetscScalar *values, *reference_values;
    PetscReal          size = 0;
    OK(MatGetRow(B, row, &reference_count, &reference_columns, &reference_values));
    OK(MatGetRow(A, row, &count, &columns, &values));
    bool same = count == reference_count;
    for (PetscInt e = 0; e < reference_count; e++) size = PetscMax(size, PetscAbsScalar(reference_values[e]));
    for (PetscInt e = 0; same && e < count; e++) {
      same = columns[e] == reference_columns[e];
      off = PetscMax(off, PetscAbsScalar(values[e] - reference_values[e]) / (size > 0 ? size : 1));
    }
    if (!same) off = PETSC_MAX_REAL;
    OK(MatRestoreRow(A, row, &count, &columns, &values));
    OK(MatRestoreRow(B, row, &reference_count, &reference_columns, &reference_values));
  }
  return off;
}

std::string Twins::operator_problem() {
  Differences d;
  const struct {
    const char                                       *name;
    std::function<void(DM, Mat, Vec x, Vec b, Vec y)> work;
  } products[] = {
    {"MatMult", [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMult(M, x, y)); }},
    {"MatMultAdd", [](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatMultAdd(M, x, b, y)); }},
    {"MatMultAdd onto its argument", [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultAdd(M, x, y, y)); }},
    {"MatMultTranspose", [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultTranspose(M, x, y)); }},
    {"MatMultTransposeAdd", [](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatMultTransposeAdd(M, x, b, y)); }},
    {"MatMultTransposeAdd onto its argument",
     [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultTransposeAdd(M, x, y, y)); }},
    {"MatMultHermitianTranspose", [](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultHermitianTranspose(M, x, y)); }},
    {"MatMultHermitianTransposeAdd",
     [](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatMultHermitianTransposeAdd(M, x, b, y)); }},
    {"MatResidual", [](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatResidual(M, b, x, y)); }},
    {"MatGetDiagonal", [](DM, Mat M, Vec, Vec, Vec y) { OK(MatGetDiagonal(M, y)); }},
    {"MatGetRowMaxAbs", [](DM, Mat M, Vec, Vec, Vec y) { OK(MatGetRowMaxAbs(M, y, NULL)); }},
#if PETSC_VERSION_GE(3, 22, 0)
    {"MatGetRowSumAbs", [](DM, Mat M, Vec, Vec, Vec y) { OK(MatGetRowSumAbs(M, y)); }},
#endif
  };
  for (const auto &product : products) d.add(product.name, 2 * exact, [&] { return difference_of(product.work); });
  const struct {
    const char *name;
    NormType    type;
  } norms[] = {{"1-norm", NORM_1}, {"infinity norm", NORM_INFINITY}, {"Frobenius norm", NORM_FROBENIUS}};
  for (const auto &norm : norms)
    d.add(norm.name, 1000 * exact, [&] { // sums of many squares, in another order
      PetscReal ours, reference;
      OK(MatNorm(A, norm.type, &ours));
      OK(MatNorm(aij, norm.type, &reference));
      return difference(ours, reference);
    });
  d.add("MatGetRow", exact, [&] { return row_difference(A, aij); });
  d.add("MatGetInfo: nonzeros", 0, [&] { return PetscAbsReal(nonzeros(A) - nonzeros(aij)); });
  d.add("MatConvert", exact, [&] {
    Matrix converted;
    OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &converted));
    return row_difference(converted, aij);
  });
  return d.list.str();
}

// The rows of one component, or of every other point.
static void make_rows(Mat M, PetscInt stride, PetscInt component, IS *rows) {
  PetscInt first, last;
  OK(MatGetOwnershipRange(M, &first, &last));
  const PetscInt start = first + ((component - first) % stride + stride) % stride;
  OK(ISCreateStride(PETSC_COMM_WORLD, start < last ? (last - start + stride - 1) / stride : 0, start, stride, rows));
}

using Rows = Owned<IS, ISDestroy>;

std::string Twins::parts_problem() {
  Differences d;
  // what `make` makes of both
  const auto compare = [&](const char *name, const std::function<void(Mat, Mat *)> &make) {
    d.add(name, 2 * exact, [&] {
      Matrix ours, reference;
      make(aij, &reference);
      make(A, &ours);
      return difference(ours, reference);
    });
  };
  compare("MatTranspose", [](Mat M, Mat *T) { OK(MatTranspose(M, MAT_INITIAL_MATRIX, T)); });
  compare("MatDuplicate with values", [](Mat M, Mat *T) { OK(MatDuplicate(M, MAT_COPY_VALUES, T)); });
  compare("MatDuplicate without values, then MatCopy", [](Mat M, Mat *T) {
    OK(MatDuplicate(M, MAT_DO_NOT_COPY_VALUES, T));
    OK(MatCopy(M, *T, SAME_NONZERO_PATTERN));
  });
  compare("MatDuplicate without values, then MatShift", [](Mat M, Mat *T) {
    OK(MatDuplicate(M, MAT_DO_NOT_COPY_VALUES, T));
    OK(MatShift(*T, 3));
  });
  compare("MatConvert twice", [](Mat M, Mat *T) {
    OK(MatConvert(M, MATAIJ, MAT_INITIAL_MATRIX, T));
    OK(MatScale(*T, 2));
    OK(MatConvert(M, MATAIJ, MAT_REUSE_MATRIX, T));
  });
  for (PetscInt stride : {lattice.dof, (PetscInt)2})
    for (PetscInt part : {(PetscInt)0, stride - 1})
      compare("MatCreateSubMatrix", [&](Mat M, Mat *T) {
        Rows rows, columns;
        make_rows(M, stride, 0, &rows);
        make_rows(M, stride, part, &columns);
        OK(MatCreateSubMatrix(M, rows, columns, MAT_INITIAL_MATRIX, T));
        OK(MatScale(*T, 2));
        OK(MatCreateSubMatrix(M, rows, columns, MAT_REUSE_MATRIX, T));
      });
  d.add("MatGetDiagonalBlock", 2 * exact, [&] {
    Mat ours, reference;
    OK(MatGetDiagonalBlock(A, &ours));
    OK(MatGetDiagonalBlock(aij, &reference));
    return difference(ours, reference);
  });
  d.add("MatCreateSubMatrices", 2 * exact, [&] {
    // each rank wants other rows, its neighbours' among them
    PetscInt              N, first, last;
    std::vector<PetscInt> wanted;
    Rows                  rows;
    Mat                  *ours, *reference;
    OK(MatGetSize(A, &N, NULL));
    OK(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt row = 0; row < N; row++)
      if (row + 4 >= first && row < last + 3 && row % 5 != 3) wanted.push_back(row);
    OK(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)wanted.size(), wanted.data(), PETSC_COPY_VALUES, &rows));
    const IS is = rows;
    OK(MatCreateSubMatrices(aij, 1, &is, &is, MAT_INITIAL_MATRIX, &reference));
    OK(MatCreateSubMatrices(A, 1, &is, &is, MAT_INITIAL_MATRIX, &ours));
    OK(MatScale(ours[0], 2));
    OK(MatCreateSubMatrices(A, 1, &is, &is, MAT_REUSE_MATRIX, &ours));
    const PetscReal off = difference(ours[0], reference[0]);
    OK(MatDestroySubMatrices(1, &ours));
    OK(MatDestroySubMatrices(1, &reference));
    return off;
  });
  if (lattice.dof <= 7)
    d.add("MatInvertBlockDiagonal", 100 * exact, [&] {
      const PetscScalar *ours, *reference;
      PetscInt           m;
      PetscReal          off = 0, size = 0;
      OK(MatInvertBlockDiagonal(aij, &reference));
      OK(MatInvertBlockDiagonal(A, &ours));
      OK(MatGetLocalSize(A, &m, NULL));
      for (PetscInt e = 0; e < m * lattice.dof; e++) {
        off = PetscMax(off, PetscAbsScalar(ours[e] - reference[e]));
        size = PetscMax(size, PetscAbsScalar(reference[e]));
      }
      return size > 0 ? off / size : off;
    });
  return d.list.str();
}

} // namespace tests
