// Assembly by MatSetPreallocationCOO() and MatSetValuesCOO(): the captured matrix and the AIJ get the same entries.

#include "captures.hpp"
#include "catch.hpp"
#include "coo.hpp"
#include "misuse.hpp"

#include <algorithm>

using namespace tests;

static const InsertMode modes[] = {INSERT_VALUES, INSERT_VALUES, ADD_VALUES, INSERT_VALUES};

static Form after(Form form) {
  return forms_of_storage[((int)form + 2) % 3]; // constant, arrays, indexed, constant
}

TEST_CASE("entries of a COO list are captured as AIJ holds them, again and again", "[capture][coo]") {
  int combination = 0;
  for (const Lattice &lattice : lattices())
    for (Form first : forms_of_storage)
      for (Listing listing : {Listing::rows, Listing::scattered}) {
        if (!in_turn(combination++)) continue;
        INFO(describe(lattice) << "; " << name_of(first) << (listing == Listing::rows ? "" : ", scattered"));
        Twins  t(lattice);
        Matrix plain;
        OK(DMCreateMatrix(t.aij_da, &plain));
        t.both([&](DM da, Mat M) { preallocate(M, list_entries(da, random_fill(lattice, first, 1), listing)); });
        Form form = first;
        int  seed = 1;
        for (InsertMode mode : modes) {
          INFO("values " << seed);
          const Fill fill = random_fill(lattice, form, seed++);
          t.both([&](DM da, Mat M) { OK(MatSetValuesCOO(M, list_entries(da, fill, listing).values.data(), mode)); });
          set_one_by_one(plain, list_entries(t.aij_da, fill, listing), mode);
          CHECK(t.product_difference() <= 2 * exact);
          CHECK(difference(t.aij, plain) <= exact);
          form = after(form);
        }
        CHECK(t.operator_problem() == "");
      }
}

TEST_CASE("COO lists of local indices are captured as AIJ holds them", "[capture][coo]") {
  for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_MIRROR, DM_BOUNDARY_GHOSTED}) {
    Lattice l = plane(2);
    l.ends[0] = ends;
    Twins t(l);
    INFO(describe(l));
    for (InsertMode mode : {INSERT_VALUES, ADD_VALUES}) {
      t.both([&](DM da, Mat M) {
        Entries list = local_entries(da);
        if (mode == INSERT_VALUES)
          OK(MatSetPreallocationCOOLocal(M, list.count(), list.rows.data(), list.columns.data()));
        OK(MatSetValuesCOO(M, list.values.data(), mode));
      });
      CHECK(t.product_difference() <= 2 * exact);
    }
  }
}

// What a program does between two calls is kept by ADD_VALUES and replaced by INSERT_VALUES; a new list discards all.
TEST_CASE("COO lists and other changes follow each other", "[capture][coo]") {
  const Lattice l = plane(2);
  Twins         t(l);
  const auto    set = [&](int seed, InsertMode mode) {
    t.both([&](DM da, Mat M) {
      OK(MatSetValuesCOO(M, list_entries(da, random_fill(l, Form::arrays, seed), Listing::rows).values.data(), mode));
    });
    CHECK(t.product_difference() <= 2 * exact);
  };
  t.both([&](DM da, Mat M) {
    set_rows(da, M, random_fill(l, Form::constant, 9), Way::stencil, INSERT_VALUES);
    assemble(M);
    preallocate(M, list_entries(da, random_fill(l, Form::arrays, 1), Listing::rows));
  });
  set(1, ADD_VALUES);
  t.both([](DM, Mat M) {
    OK(MatScale(M, 3));
    OK(MatShift(M, 1));
  });
  set(2, ADD_VALUES);
  t.both([](DM, Mat M) { OK(MatZeroEntries(M)); });
  set(3, ADD_VALUES);
  set(4, INSERT_VALUES);
  OK(MatSetValuesCOO(t.A, NULL, INSERT_VALUES)); // zeros, as PETSc's manual says; its AIJ crashes
  PetscReal norm;
  OK(MatNorm(t.A, NORM_INFINITY, &norm));
  CHECK(norm == 0);
  t.both([&](DM da, Mat M) { // another list, of the diagonal blocks
    Entries all = list_entries(da, random_fill(l, Form::arrays, 5), Listing::rows), some;
    for (size_t n = 0; n < all.rows.size(); n++)
      if (all.rows[n] / l.dof == all.columns[n] / l.dof) {
        some.rows.push_back(all.rows[n]);
        some.columns.push_back(all.columns[n]);
        some.values.push_back(all.values[n]);
      }
    preallocate(M, some);
    OK(MatSetValuesCOO(M, some.values.data(), ADD_VALUES));
  });
  CHECK(t.product_difference() <= 2 * exact);

  Matrix copy; // has the list, too
  OK(MatDuplicate(t.A, MAT_DO_NOT_COPY_VALUES, &copy));
  std::vector<PetscScalar> ones((size_t)(l.dof * l.dof * l.N[0] * l.N[1]), 1); // as many as any rank has, and more
  OK(MatSetValuesCOO(copy, ones.data(), INSERT_VALUES));
  OK(MatSetValuesCOO(t.A, ones.data(), INSERT_VALUES));
  CHECK(difference(copy, t.A) == 0);
}

TEST_CASE("coefficients in arrays stay where they are when they are assembled again", "[capture][coo]") {
  const Lattice                    l = plane(2);
  const PetscInt                   center[] = {0, 0};
  Options                          set("-mat_stencil_compress arrays");
  Twins                            t(l);
  std::vector<const PetscScalar *> places;
  t.both([&](DM da, Mat M) { preallocate(M, list_entries(da, random_fill(l, Form::arrays, 1), Listing::rows)); });
  for (int seed : {1, 2, 3}) {
    Vec                v;
    const PetscScalar *array;
    t.both([&](DM da, Mat M) {
      const Entries list = list_entries(da, random_fill(l, Form::arrays, seed), Listing::rows);
      OK(MatSetValuesCOO(M, list.values.data(), INSERT_VALUES));
    });
    OK(MatStencilShellGetSlot(t.A, center, 0, 0, &v));
    OK(VecGetArrayRead(v, &array));
    places.push_back(array);
    OK(VecRestoreArrayRead(v, &array));
    OK(MatStencilShellRestoreSlot(t.A, center, 0, 0, &v));
    assemble(t.A);
    CHECK(t.product_difference() <= 2 * exact);
  }
  CHECK(everywhere(places[1] == places[0] && places[2] == places[0]));
}

TEST_CASE("assemblies after the first allocate no coefficients", "[capture][coo][slots]") {
  Lattice        l = plane(2);
  const PetscInt center[] = {0, 0};
  l.N[0] = 19, l.N[1] = 18; // more points on each rank than may be indexed
  for (Form form : forms_of_storage) {
    Twins         t(l);
    const Entries list = list_entries(t.da, random_fill(l, form, 1), Listing::rows);
    Entries       with_zeros = list; // in slots of their own
    const auto    set_by_list = [&](const Entries &entries) {
      OK(MatSetValuesCOO(t.A, entries.values.data(), ADD_VALUES));
    };
    const struct {
      const char           *name;
      std::function<void()> begin, work;
    } ways[] = {{"MatSetValuesStencil", [] {}, [&] { fill_and_assemble(t.da, t.A, random_fill(l, form, 2)); }},
                {"MatZeroEntries and MatSetValuesStencil", [] {},
                 [&] {
                   OK(MatZeroEntries(t.A));
                   fill_and_assemble(t.da, t.A, random_fill(l, form, 3));
                 }},
                {"MatSetValuesCOO", [&] { preallocate(t.A, list); }, [&] { set_by_list(list); }},
                {"MatSetValuesCOO, zeros in some slots", [&] { preallocate(t.A, with_zeros); },
                 [&] { set_by_list(with_zeros); }},
                {"MatStencilShellGetSlot", [] {},
                 [&] {
                   Vec v;
                   OK(MatStencilShellGetSlot(t.A, center, 0, 1, &v));
                   OK(VecShift(v, 1));
                   OK(MatStencilShellRestoreSlot(t.A, center, 0, 1, &v));
                   assemble(t.A);
                 }}};
    for (size_t e = 0; e < with_zeros.values.size(); e++)
      if (with_zeros.rows[e] % 2 != with_zeros.columns[e] % 2) with_zeros.values[e] = 0;
    for (const auto &way : ways) {
      INFO(name_of(form) << ", " << way.name);
      t.renew();
      way.begin();
      way.work();
      for (int time = 0; time < 2; time++) {
        const PetscObjectId first = next_object();
        way.work();
        CHECK(everywhere(next_object() == first + 1));
      }
    }
  }
}

// Blocks of 2 x 2 of several kinds.
static Fill materials(int period, int seed, int kinds) {
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    for (int e = 0; e < 4; e++)
      block[e] = (PetscReal)((e + 2 * arm[0] + 5 * arm[1] + 20) * seed + 64 * ((p[0] / period + p[1]) % kinds));
  };
}

TEST_CASE("COO lists that are compressed leave no arrays, unless their rows change", "[capture][coo]") {
  const Lattice l = plane(2, 24, 25);
  for (int kinds : {1, 2}) {
    INFO(kinds << " kinds of rows");
    Twins t(l);
    t.both([&](DM da, Mat M) { preallocate(M, list_entries(da, materials(2, 1, kinds), Listing::rows)); });
    const auto set = [&](const Fill &fill) { // whether it made objects
      const Entries       list = list_entries(t.da, fill, Listing::rows);
      const PetscObjectId first = next_object();
      OK(MatSetValuesCOO(t.A, list.values.data(), INSERT_VALUES));
      const bool none = everywhere(next_object() == first + 1);
      OK(MatSetValuesCOO(t.aij, list_entries(t.aij_da, fill, Listing::rows).values.data(), INSERT_VALUES));
      CHECK(t.operator_problem() == "");
      CHECK(view(t.A, PETSC_VIEWER_ASCII_INFO).find(kinds == 1 ? "form constant" : "form indexed") != std::string::npos);
      return !none;
    };
    const auto arrays = [&] {
      return view(t.A, PETSC_VIEWER_ASCII_INFO).find("stay for the next assembly") != std::string::npos;
    };
    (void)set(materials(2, 1, kinds));
    CHECK_FALSE(arrays());
    CHECK_FALSE(set(materials(2, 3, kinds)));
    CHECK_FALSE(arrays());
    if (kinds == 1) continue;
    (void)set(materials(3, 1, kinds)); // equal in other places
    CHECK(arrays());
    CHECK_FALSE(set(materials(4, 1, kinds)));
    CHECK(arrays());
    CHECK_FALSE(set(materials(4, 3, kinds))); // in the same
    CHECK_FALSE(arrays());
  }
}

// The rows that a list compresses may be equal in the same places the next time, in fewer, in others or in none.
TEST_CASE("COO lists are compressed anew each time", "[capture][coo]") {
  const Lattice l = plane(2);
  const struct {
    const char *form;
    Fill        fill;
  } steps[] = {{"indexed", materials(2, 1, 2)},
               {"indexed", materials(2, 3, 2)},
               {"constant", materials(2, 5, 1)},
               {"constant", materials(2, 7, 1)},
               {"indexed", materials(2, 1, 2)},
               {"indexed", materials(3, 1, 2)},
               {"indexed", materials(3, 2, 3)},
               {"indexed", materials(3, 3, 2)},
               {"arrays", random_fill(l, Form::arrays, 1)},
               {"arrays", random_fill(l, Form::arrays, 2)},
               {"indexed", materials(2, 1, 2)}};
  Lattice large = l; // so that there may be enough kinds of rows for arrays
  large.N[0] = 24, large.N[1] = 25;
  for (Listing listing : {Listing::rows, Listing::scattered}) {
    Twins t(large);
    t.both([&](DM da, Mat M) { preallocate(M, list_entries(da, random_fill(large, Form::arrays, 1), listing)); });
    for (const auto &step : steps) {
      t.both([&](DM da, Mat M) {
        OK(MatSetValuesCOO(M, list_entries(da, step.fill, listing).values.data(), INSERT_VALUES));
      });
      CHECK(t.product_difference() <= 2 * exact);
      CHECK(view(t.A, PETSC_VIEWER_ASCII_INFO).find(std::string("form ") + step.form) != std::string::npos);
    }
    CHECK(t.operator_problem() == "");
  }
}

TEST_CASE("rows of other ranks are left out where the program says so, and entries outside the stencil",
          "[capture][coo]") {
  const Lattice l = plane();
  for (MatOption option : {MAT_IGNORE_OFF_PROC_ENTRIES, MAT_NEW_NONZERO_LOCATIONS}) {
    Twins t(l);
    t.both([&](DM da, Mat M) {
      Entries list = list_entries(da, random_fill(l, Form::arrays, 1), Listing::scattered);
      if (option == MAT_IGNORE_OFF_PROC_ENTRIES)
        OK(MatSetOption(M, option, PETSC_TRUE));
      else if (M == t.A) { // the AIJ does not get it at all
        OK(MatSetOption(M, option, PETSC_FALSE));
        list.rows.push_back(0), list.columns.push_back(l.N[0] * l.N[1] - 1), list.values.push_back(7);
      }
      preallocate(M, list);
      OK(MatSetValuesCOO(M, list.values.data(), INSERT_VALUES));
    });
    CHECK(t.product_difference() <= 2 * exact);
  }
}

TEST_CASE("with -mat_stencil_fallback aij, a COO list with other entries makes an AIJ", "[capture][coo]") {
  Options set("-mat_stencil_fallback aij");
  Twins   t(plane());
  (void)printed([&] {
    t.both([&](DM da, Mat M) {
      Entries list = list_entries(da, random_fill(plane(), Form::arrays, 1), Listing::rows);
      list.rows.push_back(0), list.columns.push_back(40), list.values.push_back(7);
      const Entries before = list;
      preallocate(M, list);
      OK(MatSetValuesCOO(M, list.values.data(), INSERT_VALUES));
    });
  });
  MatType type;
  OK(MatGetType(t.A, &type));
  CHECK(std::string(type).find("aij") != std::string::npos);
  CHECK(t.product_difference() <= exact);
}

TEST_CASE("mistakes with COO lists are one error on all ranks, and change nothing", "[capture][coo][errors]") {
  Lattice        l = plane();
  Twins          t(l);
  Entries        list = list_entries(t.da, random_fill(l, Form::arrays, 1), Listing::rows);
  const PetscInt all = l.N[0] * l.N[1];
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"MatSetValuesCOO", "MatSetPreallocationCOO"}),
               [&] { return MatSetValuesCOO(t.A, list.values.data(), INSERT_VALUES); });
  t.both([&](DM, Mat M) {
    preallocate(M, list);
    OK(MatSetValuesCOO(M, list.values.data(), INSERT_VALUES));
  });
  const auto with = [&](PetscInt row, PetscInt column) { // on the last rank
    Entries wrong = list;
    if (on_last(true, false)) wrong.rows.back() = row, wrong.columns.back() = column;
    return MatSetPreallocationCOO(t.A, wrong.count(), wrong.rows.data(), wrong.columns.data());
  };
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"row 0,", "column " + std::to_string(all - 1), "fallback"}),
               [&] { return with(0, all - 1); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"row " + std::to_string(all), "column 0", std::to_string(all - 1)}),
               [&] { return with(all, 0); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"row 0", "column " + std::to_string(all)}), [&] { return with(0, all); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"-1 entries"}), [&] {
    return MatSetPreallocationCOO(t.A, on_last<PetscCount>(-1, 0), list.rows.data(), list.columns.data());
  });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({}), [&] { // PETSc's own with checks, of one rank
    return MatSetPreallocationCOO(t.A, list.count(), NULL, NULL);
  });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"Local", "row 99999"}), [&] {
    PetscInt row[] = {on_last<PetscInt>(99999, 0)}, column[] = {0};
    return MatSetPreallocationCOOLocal(t.A, 1, row, column);
  });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"INSERT_VALUES", "ADD_VALUES"}),
               [&] { return MatSetValuesCOO(t.A, list.values.data(), on_last(MAX_VALUES, INSERT_VALUES)); });
  CHECK(t.product_difference() <= 2 * exact); // as before
  t.both([&](DM, Mat M) { OK(MatSetValuesCOO(M, list.values.data(), ADD_VALUES)); });
  CHECK(t.product_difference() <= 2 * exact);

  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"DMDA", "MatSetDM"}), [&] {
    PetscFunctionBeginUser;
    Matrix A;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, 4, 4, PETSC_DECIDE, PETSC_DECIDE));
    PetscCall(MatSetType(A, MATSTENCILSHELL));
    PetscCall(MatSetPreallocationCOO(A, 0, NULL, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}
