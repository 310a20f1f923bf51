// What has been captured: every operation beside the AIJ that the same calls assemble, and the forms of storage.

#include "catch.hpp"
#include "support.hpp"

#include <limits>

using namespace tests;

TEST_CASE("every operation of a captured matrix equals AIJ's in each form of storage", "[capture]") {
  for_each_capture([](const Lattice &lattice, Form form, const std::string &text) {
    INFO(text);
    Twins t(lattice);
    t.both([&](DM da, Mat M) {
      set_rows(da, M, random_fill(lattice, form, 1), Way::stencil, INSERT_VALUES);
      assemble(M);
    });
    CHECK(t.operator_problem() == "");
    CHECK(t.parts_problem() == "");
  });
}

TEST_CASE("scales, shifts, diagonals and sums of captured matrices, one after the other", "[capture]") {
  int number = 0;
  for (const Lattice &lattice : lattices())
    for (Form form : forms_of_storage) {
      if (!in_turn(number++ + (int)lattice.N[0])) continue;
      INFO(describe(lattice) << "; " << name_of(form));
      Twins      t(lattice), other(lattice);
      const auto fill = [&](Twins &twins, int seed) {
        twins.both([&](DM da, Mat M) {
          OK(MatZeroEntries(M));
          set_rows(da, M, random_fill(lattice, form, seed), Way::stencil, INSERT_VALUES);
          assemble(M);
        });
      };
      fill(t, 1);
      fill(other, 2);
      const auto same_kind = [&](Mat M) -> Mat { return M == t.A ? other.A : other.aij; };
      struct Step {
        const char                  *name;
        std::function<void(DM, Mat)> work;
      };
      const auto diagonal = [](InsertMode mode) {
        return [=](DM da, Mat M) {
          Vector d = random_vector(da, 4);
          OK(MatDiagonalSet(M, d, mode));
        };
      };
      const auto set = [&](InsertMode mode) {
        return [&lattice, form, mode](DM da, Mat M) {
          set_rows(da, M, random_fill(lattice, form, 3), Way::local, mode);
          assemble(M);
        };
      };
      const Step steps[] = {
          {"MatScale", [](DM, Mat M) { OK(MatScale(M, -1.5)); }},
          {"MatShift", [](DM, Mat M) { OK(MatShift(M, 0.75)); }},
          {"MatAXPY", [&](DM, Mat M) { OK(MatAXPY(M, 0.25, same_kind(M), SAME_NONZERO_PATTERN)); }},
          {"MatAYPX", [&](DM, Mat M) { OK(MatAYPX(M, -2, same_kind(M), SAME_NONZERO_PATTERN)); }},
          {"MatAXPY of an AIJ", [&](DM, Mat M) { OK(MatAXPY(M, 2, other.aij, SAME_NONZERO_PATTERN)); }},
          {"MatAXPY of a dense matrix", // which stores zeros outside the stencil
           [&](DM, Mat M) {
             Matrix dense;
             OK(MatConvert(other.aij, MATDENSE, MAT_INITIAL_MATRIX, &dense));
             OK(MatAXPY(M, -0.5, M == t.A ? (Mat)dense : other.aij, SAME_NONZERO_PATTERN));
           }},
          {"MatAXPY of itself", [&](DM, Mat M) { OK(MatAXPY(M, 0.5, M, SAME_NONZERO_PATTERN)); }},
          {"MatDiagonalSet, added", diagonal(ADD_VALUES)},
          {"MatDiagonalScale",
           [](DM da, Mat M) {
             Vector l = random_vector(da, 5), r = random_vector(da, 6);
             OK(MatDiagonalScale(M, l, r));
             OK(MatDiagonalScale(M, r, NULL));
             OK(MatDiagonalScale(M, NULL, l));
           }},
          {"MatScale after diagonals", [](DM, Mat M) { OK(MatScale(M, 3)); }},
          {"MatDiagonalSet, inserted", diagonal(INSERT_VALUES)},
          {"values added to these", set(ADD_VALUES)},
          {"MatShift of values added", [](DM, Mat M) { OK(MatShift(M, -5)); }},
          {"values inserted", set(INSERT_VALUES)},
          {"MatScale by zero", [](DM, Mat M) { OK(MatScale(M, 0)); }},
          {"MatCopy", [&](DM, Mat M) { OK(MatCopy(same_kind(M), M, SAME_NONZERO_PATTERN)); }},
          {"MatShift before MatZeroEntries", [](DM, Mat M) { OK(MatShift(M, 2)); }},
          {"MatZeroEntries", [](DM, Mat M) { OK(MatZeroEntries(M)); }},
          {"MatCopy of an AIJ", [&](DM, Mat M) { OK(MatCopy(other.aij, M, SAME_NONZERO_PATTERN)); }},
      };
      for (const Step &step : steps) {
        INFO(step.name);
        t.both(step.work);
        CHECK(t.operator_problem() == "");
      }
      CHECK(t.parts_problem() == "");

      Matrix sum;
      OK(MatDuplicate(t.aij, MAT_COPY_VALUES, &sum));
      OK(MatAXPY(sum, -1, t.A, SAME_NONZERO_PATTERN));
      PetscReal left, size;
      OK(MatNorm(sum, NORM_INFINITY, &left));
      OK(MatNorm(t.aij, NORM_INFINITY, &size));
      CHECK(left <= exact * size);
      CHECK(other.operator_problem() == ""); // what was added has not changed
    }
}

TEST_CASE("duplicates of a captured matrix are assembled on their own", "[capture]") {
  for (const Lattice &lattice : lattices()) {
    INFO(describe(lattice));
    Twins t(lattice);
    t.both([&](DM da, Mat M) {
      set_rows(da, M, random_fill(lattice, Form::indexed, 1), Way::stencil, INSERT_VALUES);
      assemble(M);
      OK(MatShift(M, 2));
    });
    Twins copies(lattice);
    for (MatDuplicateOption option : {MAT_COPY_VALUES, MAT_DO_NOT_COPY_VALUES}) {
      INFO("MatDuplicateOption " << option);
      OK(MatDestroy(&copies.A));
      OK(MatDestroy(&copies.aij));
      OK(MatDuplicate(t.A, option, &copies.A));
      OK(MatDuplicate(t.aij, option, &copies.aij));
      CHECK(copies.operator_problem() == "");
      copies.both([&](DM da, Mat M) {
        set_rows(da, M, random_fill(lattice, Form::arrays, 2), Way::stencil, ADD_VALUES);
        assemble(M);
      });
      CHECK(copies.operator_problem() == "");
      CHECK(t.operator_problem() == "");
    }
  }
}

TEST_CASE("a captured matrix turns into an AIJ in place, and into other formats", "[capture]") {
  for (const Lattice &lattice : lattices()) {
    INFO(describe(lattice));
    Twins t(lattice);
    t.both([&](DM da, Mat M) {
      set_rows(da, M, random_fill(lattice, Form::arrays, 1), Way::stencil, INSERT_VALUES);
      assemble(M);
    });
    for (MatType type : {MATDENSE, MATBAIJ}) {
      Matrix converted;
      OK(MatConvert(t.A, type, MAT_INITIAL_MATRIX, &converted));
      CHECK(difference(converted, t.aij) <= exact);
    }
    OK(MatConvert(t.A, MATAIJ, MAT_INPLACE_MATRIX, &t.A));
    CHECK(t.operator_problem() == "");
  }
}

// ---- forms of storage

static Lattice plane(PetscInt Nx, PetscInt Ny) {
  Lattice l;
  l.N[0] = Nx, l.N[1] = Ny;
  return l;
}

// -div(k grad u) of five points; k on an edge is the harmonic mean of k at its points; identity rows at the ends
static Fill heat_fill(const Lattice &l, const std::function<PetscReal(const PetscInt p[3])> &k) {
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const auto end = [&](const PetscInt q[3]) {
      return q[0] <= 0 || q[1] <= 0 || q[0] >= l.N[0] - 1 || q[1] >= l.N[1] - 1;
    };
    const auto edge = [&](PetscInt i, PetscInt j) {
      const PetscInt q[3] = {p[0] + i, p[1] + j, 0};
      return 2 / (1 / k(p) + 1 / k(q));
    };
    if (end(p))
      block[0] = arm[0] || arm[1] ? 0 : 1;
    else if (arm[0] || arm[1])
      block[0] = -edge(arm[0], arm[1]);
    else
      block[0] = edge(-1, 0) + edge(1, 0) + edge(0, -1) + edge(0, 1);
  };
}

static const struct Medium {
  const char                                *form;
  std::function<PetscReal(const PetscInt *)> k;
} media[] = {
    {"constant", [](const PetscInt *) { return PetscReal(1); }},
    {"indexed",
     [](const PetscInt *p) {
       return PetscRealPart(random_value((size_t)(p[0] + 40 * p[1]), 5)) > 0 ? PetscReal(1) : PetscReal(1000);
     }},
    {"arrays",
     [](const PetscInt *p) {
       return 1 + PetscExpReal(PetscReal(0.05) * (PetscReal)p[0]) * (PetscReal)(1 + p[1]) / 10;
     }},
};

static Twins make_heat(const Lattice &l, const Medium &medium) {
  Twins t(l);
  t.both([&](DM da, Mat M) {
    set_rows(da, M, heat_fill(l, medium.k), Way::stencil, INSERT_VALUES);
    assemble(M);
  });
  return t;
}

static PetscReal bytes_stored(Mat A) {
  const std::string text = view(A, PETSC_VIEWER_ASCII_INFO), name = "bytes stored: ";
  const size_t      at = text.find(name);
  return at == std::string::npos ? -1 : (PetscReal)std::stod(text.substr(at + name.size()));
}

TEST_CASE("the form of storage is the smallest that holds the rows", "[capture][forms]") {
  const Lattice l = plane(40, 37);
  PetscReal     before = 0;
  for (const Medium &medium : media) {
    INFO(medium.form);
    Twins             t = make_heat(l, medium);
    const std::string text = view(t.A, PETSC_VIEWER_ASCII_INFO);
    INFO(text);
    for (const Medium &other : media)
      CHECK((text.find("form " + std::string(other.form)) != std::string::npos) ==
            (other.form == std::string(medium.form)));
    if (medium.form != std::string("arrays")) CHECK(text.find("classes") != std::string::npos);
    CHECK(text.find("AIJ") != std::string::npos);
    CHECK(bytes_stored(t.A) > before);
    before = bytes_stored(t.A);
    CHECK(t.operator_problem() == "");
  }
  Twins t = make_heat(l, media[0]);
  CHECK(bytes_stored(t.A) > 0);
  CHECK(bytes_stored(t.A) < 10000);
}

TEST_CASE("more kinds of rows than a byte can number", "[capture][forms]") {
  Lattice l = plane(120, 100);
  l.ends[0] = l.ends[1] = DM_BOUNDARY_PERIODIC;
  Twins t(l);
  t.both([&](DM da, Mat M) {
    const auto fill = [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      block[0] = random_value(l.natural(p) * 7919 % 300, (int)(arm[0] + 3 * arm[1]));
    };
    set_rows(da, M, fill, Way::stencil, INSERT_VALUES);
    assemble(M);
  });
  CHECK(view(t.A, PETSC_VIEWER_ASCII_INFO).find("indexed") != std::string::npos);
  CHECK(t.operator_problem() == "");
}

// On a GPU: several blocks along each axis; indices of one byte and of two, which have kernels of their own.
TEST_CASE("stars of few and of many kinds of rows in 3-D", "[capture][forms]") {
  Options set("-mat_stencil_compress indexed");
  for (int kinds : {2, 12, 30}) { // far from the ends; with those there up to 27 times as many
    Lattice l;
    l.dim = 3;
    l.N[0] = 67, l.N[1] = 35, l.N[2] = 11;
    INFO(kinds << " kinds");
    Twins t(l);
    t.both([&](DM da, Mat M) {
      const auto fill = [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
        block[0] = random_value(l.natural(p) * 7919 % (size_t)kinds, (int)(arm[0] + 3 * arm[1] + 9 * arm[2]));
      };
      set_rows(da, M, fill, Way::stencil, INSERT_VALUES);
      assemble(M);
    });
    CHECK(t.difference_of([](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMult(M, x, y)); }) <= exact);
    CHECK(t.difference_of([](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultAdd(M, x, y, y)); }) <= exact);
    CHECK(t.difference_of([](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatResidual(M, b, x, y)); }) <= exact);
  }
}

static void check_refused(const Lattice &l, const char *form, const Fill &fill) {
  INFO(describe(l) << " as " << form);
  Options set(std::string("-mat_stencil_compress ") + form);
  Grid    da;
  Matrix  A;
  REQUIRE(try_make_grid(l, &da));
  OK(DMSetMatType(da, captured_type));
  OK(DMCreateMatrix(da, &A));
  set_rows(da, A, fill, Way::stencil, INSERT_VALUES);
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({form, "row", "mat_stencil_compress"}), [&] {
    PetscFunctionBeginUser;
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

TEST_CASE("every form that can hold the rows may be asked for, and gives the same operator", "[capture][forms]") {
  const Lattice l = plane(40, 37);
  for (int held = 0; held < 3; held++)
    for (int asked = held; asked < 3; asked++) {
      INFO(media[held].form << " held as " << media[asked].form);
      Options set(std::string("-mat_stencil_compress ") + media[asked].form);
      Twins   t = make_heat(l, media[held]);
      CHECK(view(t.A, PETSC_VIEWER_ASCII_INFO).find(media[asked].form) != std::string::npos);
      CHECK(t.operator_problem() == "");
    }
}

TEST_CASE("a form that cannot hold the rows is an error", "[capture][forms]") {
  const Lattice l = plane(40, 37);
  check_refused(l, "constant", heat_fill(l, media[1].k));
  check_refused(l, "constant", heat_fill(l, media[2].k));
  Lattice longer; // more kinds of rows on each rank than an index of two bytes can tell apart
  longer.dim = 1;
  longer.N[0] = 70000 * rank_count(), longer.N[1] = 1;
  check_refused(longer, "indexed", random_fill(longer, Form::arrays, 1));
}

TEST_CASE("the form follows the coefficients from one assembly to the next", "[capture][forms]") {
  const Lattice l = plane(40, 37);
  Twins         t(l);
  for (int number : {0, 2, 1, 0, 1, 2, 0}) {
    INFO(media[number].form);
    t.both([&](DM da, Mat M) {
      OK(MatZeroEntries(M));
      set_rows(da, M, heat_fill(l, media[number].k), Way::stencil, INSERT_VALUES);
      assemble(M);
    });
    CHECK(view(t.A, PETSC_VIEWER_ASCII_INFO).find(media[number].form) != std::string::npos);
    CHECK(t.operator_problem() == "");
  }
}

TEST_CASE("a tolerance joins rows that are nearly equal", "[capture][forms]") {
  const Lattice l = plane(40, 37);
  const Medium  noisy = {"constant", [](const PetscInt *p) {
                          return 1 + PetscReal(1e-9) * PetscRealPart(random_value((size_t)(p[0] + 40 * p[1]), 6));
                        }};
  {
    Twins t = make_heat(l, noisy);
    CHECK(view(t.A, PETSC_VIEWER_ASCII_INFO).find("constant") == std::string::npos);
    CHECK(t.operator_problem() == "");
  }
  Options set("-mat_stencil_compress_tolerance 1e-7");
  Twins   t = make_heat(l, noisy);
  CHECK(view(t.A, PETSC_VIEWER_ASCII_INFO).find("constant") != std::string::npos);
  const PetscReal off = difference(t.A, t.aij);
  CHECK(off > 0);
  CHECK(off <= 1e-7);
}

TEST_CASE("products of several unknowns where the halo of a rank meets many points", "[capture]") {
  for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX}) {
    Lattice l;
    l.dim = 3, l.dof = 2, l.shape = shape;
    l.N[0] = 17, l.N[1] = 18, l.N[2] = 6; // of a rank, a layer has more points than a run of the loop
    for (DMBoundaryType &end : l.ends) end = DM_BOUNDARY_PERIODIC;
    l.ranks[0] = l.ranks[1] = 1;
    INFO(describe(l));
    Twins t(l);
    t.both([&](DM da, Mat M) {
      set_rows(da, M, random_fill(l, Form::arrays, 1), Way::blocked_stencil, INSERT_VALUES);
      assemble(M);
    });
    CHECK(t.difference_of([](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMult(M, x, y)); }) <= exact);
    CHECK(t.difference_of([](DM, Mat M, Vec x, Vec b, Vec y) { OK(MatMultAdd(M, x, b, y)); }) <= exact);
    CHECK(t.difference_of([](DM, Mat M, Vec x, Vec, Vec y) { OK(MatMultTranspose(M, x, y)); }) <= exact);
  }
}

TEST_CASE("products take a captured matrix as any factor", "[capture]") {
  if (rank_count() > 1) return; // MPIAIJ makes AB and PᵀAP; these are the same code
  Lattice l = plane(8, 7);
  l.dof = 2;
  Twins t(l);
  t.both([&](DM da, Mat M) {
    set_rows(da, M, random_fill(l, Form::arrays, 1), Way::stencil, INSERT_VALUES);
    assemble(M);
  });
  const struct { bool first, second; } captured[] = {{true, false}, {false, true}, {true, true}};
  for (const auto &which : captured) {
    Matrix ours, reference;
    OK(MatMatMult(which.first ? t.A : t.aij, which.second ? t.A : t.aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &ours));
    OK(MatMatMult(t.aij, t.aij, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &reference));
    CHECK(difference(ours, reference) <= exact);
  }
}

// A product reads values across the ends of lines, where coefficients are zero.
TEST_CASE("what is not finite at a point stays in the rows that couple to it", "[capture]") {
  for (PetscInt dof : {1, 3})
    for (PetscInt n : {1, 2, 5, 9}) {
      Lattice l;
      l.dim = 3, l.dof = dof, l.N[0] = n, l.N[1] = 6, l.N[2] = 5;
      Grid possible;
      if (!try_make_grid(l, &possible)) continue;
      INFO(describe(l));
      Twins t(l);
      t.both([&](DM da, Mat M) {
        set_rows(da, M, random_fill(l, Form::arrays, 1), Way::stencil, INSERT_VALUES);
        assemble(M);
      });
      for (PetscInt at : {(PetscInt)0, n - 1}) {
        Vector product[2];
        int    m = 0;
        t.both([&](DM da, Mat M) {
          Vector x = make_vector(da);
          set_values(da, x, [&](const PetscInt p[3]) {
            return p[0] == at && p[1] == 3 && p[2] == 2 ? PetscScalar(std::numeric_limits<PetscReal>::infinity())
                                                        : PetscScalar(1);
          });
          product[m] = make_vector(da);
          OK(MatMult(M, x, product[m]));
          m++;
        });
        const std::vector<PetscScalar> y = natural_values(t.da, product[0]), z = natural_values(t.da, product[1]);
        bool                           same = true;
        for (size_t i = 0; i < y.size(); i++)
          same = same && (PetscIsInfOrNanScalar(z[i]) ? (bool)PetscIsInfOrNanScalar(y[i])
                                                      : PetscAbsScalar(y[i] - z[i]) <= 100 * exact);
        CHECK(same);
      }
    }
}
