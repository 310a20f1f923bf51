// MatSOR() of captured matrices on the host beside a plain loop over the rows of an assembled matrix.

#include "captures.hpp"
#include "catch.hpp"

using namespace tests;

static Values all_values(Vec v) {
  VecScatter         scatter;
  Vector             all;
  PetscInt           n;
  const PetscScalar *values;
  OK(VecScatterCreateToAll(v, &scatter, &all));
  OK(VecScatterBegin(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  OK(VecScatterEnd(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  OK(VecScatterDestroy(&scatter));
  OK(VecGetSize(all, &n));
  OK(VecGetArrayRead(all, &values));
  Values copy(values, values + n);
  OK(VecRestoreArrayRead(all, &values));
  return copy;
}

// D d = d for a matrix of n rows; the largest pivot of each column.
static void solve_dense(Values D, size_t n, Values *d) {
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t r = k; r < n; r++)
      if (PetscAbsScalar(D[r * n + k]) > PetscAbsScalar(D[pivot * n + k])) pivot = r;
    for (size_t c = 0; c < n; c++) std::swap(D[k * n + c], D[pivot * n + c]);
    std::swap((*d)[k], (*d)[pivot]);
    for (size_t r = 0; r < n; r++) {
      if (r == k) continue;
      const PetscScalar factor = D[r * n + k] / D[k * n + k];
      for (size_t c = 0; c < n; c++) D[r * n + c] -= factor * D[k * n + c];
      (*d)[r] -= factor * (*d)[k];
    }
  }
  for (size_t k = 0; k < n; k++) (*d)[k] /= D[k * n + k];
}

// x += omega D⁻¹ (b - (A + shift) x), block by block; the values of other ranks are those before. With omega = 1 and no
// shift, up to five values of a point are a block.
static void relax(Mat A, PetscInt dof, const Sweeps &sweeps, bool backward, Vec b, Values *x) {
  const PetscInt     most = sweeps.omega == 1 && sweeps.shift == 0 ? 5 : 1;
  PetscInt           first, last;
  const PetscScalar *pb;
  OK(MatGetOwnershipRange(A, &first, &last));
  OK(VecGetArrayRead(b, &pb));
  std::vector<PetscInt> begins;
  for (PetscInt row = first; row < last; row++)
    if ((row - first) % dof % most == 0) begins.push_back(row);
  if (backward) std::reverse(begins.begin(), begins.end());
  for (const PetscInt lo : begins) {
    const PetscInt size = PetscMin(most, dof - (lo - first) % dof);
    Values         D((size_t)(size * size), 0), d((size_t)size);
    for (PetscInt r = 0; r < size; r++) {
      PetscInt           n;
      const PetscInt    *columns;
      const PetscScalar *values;
      d[r] = pb[lo + r - first] - sweeps.shift * (*x)[lo + r];
      D[r * size + r] = sweeps.shift;
      OK(MatGetRow(A, lo + r, &n, &columns, &values));
      for (PetscInt e = 0; e < n; e++) {
        d[r] -= values[e] * (*x)[columns[e]];
        if (columns[e] >= lo && columns[e] < lo + size) D[r * size + columns[e] - lo] += values[e];
      }
      OK(MatRestoreRow(A, lo + r, &n, &columns, &values));
    }
    solve_dense(D, (size_t)size, &d);
    for (PetscInt r = 0; r < size; r++) (*x)[lo + r] += sweeps.omega * d[r];
  }
  OK(VecRestoreArrayRead(b, &pb));
}

static void run_plainly(Mat A, PetscInt dof, const Sweeps &sweeps, Vec b, Vec x) {
  PetscInt     first, last;
  PetscScalar *px;
  OK(MatGetOwnershipRange(A, &first, &last));
  if (sweeps.from_zero()) OK(VecSet(x, 0));
  for (PetscInt it = 0; it < sweeps.its; it++) {
    Values values = all_values(x);
    for (PetscInt inner = 0; inner < sweeps.lits; inner++) {
      if (sweeps.forward()) relax(A, dof, sweeps, false, b, &values);
      if (sweeps.backward()) relax(A, dof, sweeps, true, b, &values);
    }
    OK(VecGetArray(x, &px));
    std::copy(values.begin() + first, values.begin() + last, px);
    OK(VecRestoreArray(x, &px));
  }
}

static void check(Twins &t, const char *when) {
  for (const Sweeps &sweeps : all_sweeps) {
    INFO(describe(t.lattice) << "; " << when << "; " << sweeps.name);
    CHECK(t.difference_of([&](DM, Mat M, Vec, Vec b, Vec y) {
      if (M == t.aij)
        run_plainly(M, t.lattice.dof, sweeps, b, y);
      else
        OK(MatSOR(M, b, sweeps.omega, (MatSORType)sweeps.type, sweeps.shift, sweeps.its, sweeps.lits, y));
    }) <= 10 * exact);
  }
}

// Small ones of all kinds; rows of several chunks; point blocks of several parts; ranks that are one point wide.
static std::vector<Lattice> swept_lattices() {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;
  std::vector<Lattice> all = lattices();
  const auto           add = [&](int dim, std::vector<PetscInt> N, DMDAStencilType shape, PetscInt width, PetscInt dof,
                       std::vector<DMBoundaryType> ends, std::vector<PetscInt> ranks) {
    Lattice l;
    Grid    da;
    l.dim = dim, l.shape = shape, l.width = width, l.dof = dof;
    for (size_t a = 0; a < 3; a++) {
      l.N[a] = a < N.size() ? N[a] : 1;
      if (a < ends.size()) l.ends[a] = ends[a];
      if (a < ranks.size()) l.ranks[a] = ranks[a];
    }
    if (try_make_grid(l, &da)) all.push_back(l);
  };
  const PetscInt ranks = rank_count();
  add(1, {530}, DMDA_STENCIL_STAR, 1, 1, {around}, {});
  add(1, {515}, DMDA_STENCIL_STAR, 2, 2, {none}, {});
  add(2, {259, 3}, DMDA_STENCIL_BOX, 1, 1, {around, none}, {1, ranks});
  add(2, {5, 4}, DMDA_STENCIL_BOX, 1, 7, {none, around}, {});
  add(2, {5, 7}, DMDA_STENCIL_STAR, 3, 6, {}, {});
  add(2, {ranks, 5}, DMDA_STENCIL_BOX, 1, 1, {}, {ranks, 1});
  add(2, {5, ranks}, DMDA_STENCIL_BOX, 1, 3, {none, around}, {1, ranks});
  add(3, {4, 3, ranks}, DMDA_STENCIL_BOX, 1, 2, {around, none, none}, {1, 1, ranks});
  add(3, {ranks, 3, 4}, DMDA_STENCIL_STAR, 1, 1, {none, around, none}, {ranks, 1, 1});
  return all;
}

TEST_CASE("sweeps on host vectors are those of a plain loop over the rows", "[capture]") {
  for (const Lattice &l : swept_lattices()) {
    Twins t(l);
    if (makes_cuda_vectors(t.da)) return;
    for (Form form : forms_of_storage) {
      fill_and_assemble(t, random_fill(l, form, 1));
      check(t, name_of(form));
    }
    t.both([](DM, Mat M) {
      OK(MatScale(M, 2));
      OK(MatShift(M, 3));
    });
    check(t, "scaled and shifted");
  }
}
