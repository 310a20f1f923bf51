// Coefficients that a program writes slot by slot, beside the AIJ that it assembles.

#include "captures.hpp"
#include "catch.hpp"
#include "misuse.hpp"

using namespace tests;

// Every other slot, or all; a slot's coefficients are those of the fill, times a factor, or what they were times it.
static void write_slots(DM da, Mat A, const Fill &fill, bool all) {
  const Lattice            l = lattice_of(da);
  std::vector<PetscScalar> block((size_t)(l.dof * l.dof));
  int                      number = 0;
  for (const Point &arm : l.arms())
    for (PetscInt r = 0; r < l.dof; r++)
      for (PetscInt c = 0; c < l.dof; c++) {
        Vec          v;
        PetscScalar *values;
        size_t       n = 0;
        if (number++ % 2 && !all) continue;
        OK(MatStencilShellGetSlot(A, arm.data(), r, c, &v));
        OK(VecGetArray(v, &values));
        for_each_owned(da, [&](const PetscInt p[3]) {
          fill(p, arm.data(), block.data());
          values[n++] = block[(size_t)(r * l.dof + c)];
        });
        OK(VecRestoreArray(v, &values));
        OK(MatStencilShellRestoreSlot(A, arm.data(), r, c, &v));
        CHECK(v == NULL);
      }
}

TEST_CASE("coefficients written slot by slot are those of the assembled matrix", "[capture][slots]") {
  int combination = 0;
  for (const Lattice &lattice : lattices())
    for (Form form : forms_of_storage) {
      bool folds = false; // several offsets lead to one point
      for (int a = 0; a < lattice.dim; a++)
        folds = folds || lattice.ends[a] == DM_BOUNDARY_MIRROR ||
                (lattice.ends[a] == DM_BOUNDARY_PERIODIC && lattice.N[a] <= 2 * lattice.width);
      for (int a = 0; a < lattice.dim; a++) folds = folds || lattice.N[a] <= lattice.width;
      if (folds || !in_turn(combination++)) continue;
      INFO(describe(lattice) << "; " << name_of(form));
      Twins t(lattice);
      for (int seed : {1, 2}) { // by the same entries; then every other slot keeps what it has
        const Fill fill = random_fill(lattice, seed == 1 ? form : Form::arrays, seed);
        set_rows(t.aij_da, t.aij, fill, Way::stencil, INSERT_VALUES);
        assemble(t.aij);
        if (seed == 2) {
          set_rows(t.da, t.A, fill, Way::stencil, INSERT_VALUES);
          assemble(t.A);
        }
        write_slots(t.da, t.A, fill, seed == 1);
        assemble(t.A);
        CHECK(t.operator_problem() == "");
      }
    }
}

TEST_CASE("slots are written by operations of a Vec, after other changes", "[capture][slots]") {
  Options        set("-mat_stencil_verify"); // what is written directly is taken for right, what follows is compared
  Twins          t(plane(2));
  const PetscInt center[] = {0, 0}, right[] = {1, 0};
  const Fill     fill = random_fill(plane(2), Form::arrays, 1);
  (void)printed([&] {
    t.both([&](DM da, Mat M) {
      set_rows(da, M, fill, Way::stencil, INSERT_VALUES);
      assemble(M);
      OK(MatScale(M, 2));
    });
  });
  Vec v, w;
  OK(MatStencilShellGetSlot(t.A, center, 0, 1, &v));
  OK(MatStencilShellGetSlot(t.A, right, 1, 1, &w));
  OK(VecScale(v, 3));
  OK(VecZeroEntries(w));
  OK(MatStencilShellRestoreSlot(t.A, center, 0, 1, &v));
  OK(MatStencilShellRestoreSlot(t.A, right, 1, 1, &w));
  assemble(t.A);
  set_rows(
      t.aij_da, t.aij,
      [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
        fill(p, arm, block);
        for (int e = 0; e < 4; e++) block[e] *= 2;
        if (!arm[0] && !arm[1]) block[1] *= 3;
        if (arm[0] == 1) block[3] = 0;
      },
      Way::stencil, INSERT_VALUES);
  assemble(t.aij);
  CHECK(t.operator_problem() == "");
  (void)printed([&] {
    t.both([&](DM da, Mat M) {
      set_rows(da, M, fill, Way::stencil, ADD_VALUES);
      assemble(M);
    });
  });
  CHECK(t.product_difference() <= 2 * exact);
}

TEST_CASE("mistakes with slots", "[capture][slots][errors]") {
  Twins          t(plane(2));
  const PetscInt center[] = {0, 0}, corner[] = {1, 1}, far[] = {2, 0};
  Vec            v = NULL, other = NULL;
  t.both([&](DM da, Mat M) {
    set_rows(da, M, random_fill(plane(2), Form::arrays, 1), Way::stencil, INSERT_VALUES);
    assemble(M);
  });
  const auto get = [&](const PetscInt *offset, PetscInt r, PetscInt c, Vec *to) {
    return [=, &t] { return MatStencilShellGetSlot(t.A, offset, r, c, to); };
  };
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"(1, 1, 0)", "star", "width 1"}), get(corner, 0, 0, &v));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"(2, 0, 0)", "width 1"}), get(far, 0, 0, &v));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"row 2", "0 to 1"}), get(center, on_last<PetscInt>(2, 0), 0, &v));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"column -1", "0 to 1"}), get(center, 0, -1, &v));
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"offset", "NULL"}), get(NULL, 0, 0, &v));
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"Vec", "NULL"}), get(center, 0, 0, NULL));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"aij", "stencil"}),
               [&] { return MatStencilShellGetSlot(t.aij, center, 0, 0, &v); });
  OK(MatStencilShellGetSlot(t.A, center, 0, 0, &v));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"MatStencilShellRestoreSlot"}), get(center, 0, 0, &other));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"MatStencilShellRestoreSlot"}), [&] { return MatZeroEntries(t.A); });
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"MatStencilShellGetSlot"}),
               [&] { return MatStencilShellRestoreSlot(t.A, center, 1, 0, &v); });
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"MatAssemblyBegin"}), [&] {
    PetscFunctionBeginUser;
    Vector x = random_vector(t.da, 1), y = make_vector(t.da);
    PetscCall(MatMult(t.A, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
  OK(MatStencilShellRestoreSlot(t.A, center, 0, 0, &v));
  assemble(t.A);
  CHECK(t.product_difference() <= 2 * exact); // as before
}
