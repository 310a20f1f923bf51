// What a user sets by options and sees in views; programs that assemble.

#include "catch.hpp"
#include "support.hpp"

using namespace tests;

static Matrix create(DM da, MatType type, const char *prefix = NULL) {
  Matrix A;
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetOptionsPrefix(A, prefix));
  OK(MatSetType(A, type));
  OK(MatSetFromOptions(A));
  OK(MatSetUp(A));
  return A;
}

static double stored_bytes(const std::string &view) {
  const std::string before = "bytes stored: ";
  const size_t      at = view.find(before);
  return at == std::string::npos ? PETSC_INFINITY : std::stod(view.substr(at + before.size()));
}

TEST_CASE("functions that create an operator do so whatever -mat_type says", "[options]") {
  Grid    da = make_grid(problem(2, 6, 5));
  Options set("-mat_type aij");
  Matrix  A, B;
  MatType type;
  OK(MatCreateLaplace(da, &A));
  OK(MatGetType(A, &type));
  CHECK(std::string(type) == MATLAPLACE);
  OK(MatCreateHelmholtz(da, 1, &B));
  OK(MatGetType(B, &type));
  CHECK(std::string(type) == MATHELMHOLTZ);
}

TEST_CASE("options set the boundary form, the lengths and the shift", "[options]") {
  Problem p = problem(2, 8, 7);
  p.lengths[0] = PetscReal(2.5);
  p.lengths[1] = PetscReal(0.5);
  Grid da = make_grid(p);
  for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN}) {
    const std::string name = MatLaplaceBoundaryTypes[form];
    INFO(name);
    p.boundary = form;
    p.sigma = 0;
    Matrix laplace = make_reference(p, da);
    {
      Options set("-mat_laplace_boundary " + name + " -mat_laplace_lengths 2.5,0.5");
      Matrix  A = create(da, MATLAPLACE), B;
      CHECK(difference(A, laplace) <= exact);
      OK(MatCreateLaplace(da, &B));
      CHECK(difference(B, laplace) <= exact);
    }
    p.sigma = 9;
    Matrix helmholtz = make_reference(p, da);
    {
      Options set("-a_mat_helmholtz_boundary " + name + " -a_mat_helmholtz_lengths 2.5,0.5 -a_mat_helmholtz_shift 9");
      Matrix  A = create(da, MATHELMHOLTZ, "a_");
      CHECK(difference(A, helmholtz) <= exact);
    }
    {
      Options set("-mat_helmholtz_boundary " + name + " -mat_helmholtz_lengths 2.5,0.5 -mat_helmholtz_omega 3");
      Matrix  A, B;
      OK(MatCreateHelmholtz(da, 100, &A)); // options go before arguments
      CHECK(difference(A, helmholtz) <= exact);
      OK(DMSetMatType(da, MATHELMHOLTZ));
      OK(DMCreateMatrix(da, &B));
      CHECK(difference(B, helmholtz) <= exact);
    }
  }
}

TEST_CASE("another type ignores the calls that only ours know", "[options]") {
  Grid        da = make_grid(problem(2, 4, 5));
  Matrix      A, laplace;
  PetscScalar sigma;
  PetscReal   lengths[2] = {1, 2};
  OK(DMSetMatType(da, MATAIJ));
  OK(DMCreateMatrix(da, &A));
  OK(MatHelmholtzSetShift(A, 3));
  OK(MatLaplaceSetBoundary(A, MAT_LAPLACE_NEUMANN));
  OK(MatLaplaceSetLengths(A, 2, lengths));
  OK(MatCreateLaplace(da, &laplace));
  OK(MatHelmholtzSetShift(laplace, 3));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"helmholtz"}), [&] { return MatHelmholtzGetShift(laplace, &sigma); });
}

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("views tell the formula, the spacing and the bytes", "[options]") {
  for (bool by_dm : {false, true})
    for (int dim = 1; dim <= 3; dim++) {
      Problem p = problem(dim, 4, dim > 1 ? 9 : 1, dim > 2 ? 5 : 1);
      p.boundary = MAT_LAPLACE_IDENTITY;
      p.sigma = PetscReal(2.5);
      if (dim == 3) p.ends[2] = DM_BOUNDARY_PERIODIC;
      INFO(describe(p) << (by_dm ? ", by DMCreateMatrix()" : ""));
      Options set("-mat_helmholtz_boundary identity -mat_helmholtz_shift 2.5");
      Grid    da = make_grid(p);
      Matrix  A;
      if (by_dm) {
        OK(DMSetMatType(da, MATHELMHOLTZ));
        OK(DMCreateMatrix(da, &A));
        OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      } else
        A = create(da, MATHELMHOLTZ);
      const std::string text = view(A, PETSC_VIEWER_ASCII_INFO);
      INFO(text);
      CHECK(contains(text, "type: helmholtz"));
      CHECK(contains(text, "-Laplace(u) + sigma u, sigma = 2.5"));
      CHECK(contains(text, "4 points, spacing 0.333333, identity"));
      if (dim > 1) CHECK(contains(text, "9 points, spacing 0.125, identity"));
      if (dim > 2) CHECK(contains(text, "5 points, spacing 0.2, periodic"));
      CHECK(stored_bytes(text) < 1e4); // whatever the grid is

      Matrix            aij;
      std::stringstream nonzero_count;
      OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
      nonzero_count << "an AIJ of its " << (long long)nonzeros(aij) << " nonzeros";
      CHECK(contains(text, nonzero_count.str()));
    }
}

TEST_CASE("views without a format show the entries", "[options]") {
  Problem p = problem(2, 3, 4);
  for (bool by_dm : {false, true}) {
    INFO(describe(p) << (by_dm ? ", by DMCreateMatrix()" : ""));
    Grid   da = make_grid(p);
    Matrix A;
    OK(DMSetMatType(da, MATLAPLACE));
    if (by_dm)
      OK(DMCreateMatrix(da, &A));
    else
      OK(MatCreateLaplace(da, &A));
    const std::string text = view(A, PETSC_VIEWER_DEFAULT);
    INFO(text);
    CHECK(contains(text, "row 0:"));
    CHECK(contains(text, "(0, 82.)"));
    CHECK(contains(text, "(1, -16.)"));
  }
}

TEST_CASE("a solver's view tells of the operator", "[options]") {
  Grid   da = make_grid(problem(2, 8, 8));
  Matrix A;
  OK(MatCreateLaplace(da, &A));
  Vector x = make_vector(da), y = make_vector(da);
  OK(VecSet(x, 1));
  OK(MatMult(A, x, y));
  const std::string text = view(A, PETSC_VIEWER_ASCII_INFO_DETAIL);
  CHECK(contains(text, "star of 5 points"));
}

TEST_CASE("a program that assembles the same operator passes, and another gets an error", "[options]") {
  for (int dim = 1; dim <= 3; dim++) {
    const PetscInt N[3] = {5, 4, 6};
    for_each_problem(dim, N, [&](Problem p, DM da) {
      p.sigma = 2;
      INFO(describe(p));
      Matrix   A;
      PetscInt start[3], width;
      OK(DMDAGetStencilWidth(da, &width));
      if (!width) return; // a program cannot assemble beyond its rank there

      MatType before;
      char    type[64] = MATAIJ;
      Options set(std::string("-mat_helmholtz_shift 2 -mat_helmholtz_lengths ") +
                  (dim == 1   ? "1"
                   : dim == 2 ? "1,1.25"
                              : "1,1.25,1.5") +
                  " -mat_helmholtz_boundary " + MatLaplaceBoundaryTypes[p.boundary]);
      OK(DMGetMatType(da, &before));
      if (before) OK(PetscStrncpy(type, before, sizeof(type)));
      OK(DMSetMatType(da, MATHELMHOLTZ));
      OK(DMCreateMatrix(da, &A));
      OK(DMSetMatType(da, type));
      assemble(p, da, A);
      Matrix B = make_reference(p, da);
      CHECK(difference(A, B) <= exact);

      OK(DMDAGetCorners(da, &start[0], &start[1], &start[2], NULL, NULL, NULL));
      const ReferenceRow row = reference_row(p, start);
      MatStencil         at = {start[2], start[1], start[0], 0};
      const PetscScalar  same = row.value[0], other = same * PetscReal(1.001);
      OK(MatSetValuesStencil(A, 1, &at, 1, &at, &same, INSERT_VALUES));
      // one rank's values are all ranks' error, at the end
      OK(MatSetValuesStencil(A, 1, &at, 1, &at, &other, INSERT_VALUES));
      OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"row", "column", "helmholtz", "aij"}),
                   [&] { return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY); });
      OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY)); // PETSc keeps the mode of values until an assembly succeeds
      OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      OK(MatSetValuesStencil(A, 1, &at, 1, &at, &same, ADD_VALUES));
      OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      EXPECT_ERROR(PETSC_ERR_SUP, ({"ADD_VALUES", "aij"}), [&] { return MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY); });
      OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      CHECK(difference(A, B) <= exact);
    });
  }
}

TEST_CASE("a program that zeroes the entries before it assembles passes", "[options]") {
  Problem p = problem(2, 5, 6);
  Grid    da = make_grid(p);
  Matrix  A, B = make_reference(p, da);
  OK(DMSetMatType(da, MATLAPLACE));
  OK(DMCreateMatrix(da, &A));
  OK(MatZeroEntries(A));
  assemble(p, da, A);
  CHECK(difference(A, B) <= exact);
}
