// Views in each state of an operator: they show the present rows, and leave the operator as it is.

#include "catch.hpp"
#include "support.hpp"

using namespace tests;

namespace {

struct Views {
  Mat         A;
  std::string state;

  // All views; the words are looked for in ::ascii_info.
  void check(const std::vector<std::string> &words) const {
    INFO(state);
    const std::string info = view(A, PETSC_VIEWER_ASCII_INFO), detail = view(A, PETSC_VIEWER_ASCII_INFO_DETAIL),
                      entries = view(A, PETSC_VIEWER_DEFAULT);
    INFO(info);
    for (const std::string &word : words) {
      INFO(word);
      CHECK(info.find(word) != std::string::npos);
      CHECK(detail.find(word) != std::string::npos);
    }
    CHECK(entries.find("row 0:") != std::string::npos);
    PetscViewer viewer;
    char        text[256] = "";
    OK(PetscViewerStringOpen(PETSC_COMM_WORLD, text, sizeof(text), &viewer));
    OK(MatView(A, viewer));
    OK(PetscViewerDestroy(&viewer));
  }
};

Problem unit_spacing() { // 4 at the point, -1 along both axes
  Problem p = problem(2, 8, 7);
  p.lengths[0] = 9, p.lengths[1] = 8;
  return p;
}

void multiply(Mat A, DM da) {
  Vector x = random_vector(da, 1), y = make_vector(da);
  OK(MatMult(A, x, y));
}

} // namespace

TEST_CASE("views of a formula show its rows after each change", "[views]") {
  for (bool identity : {false, true})
    for (bool by_dm : {false, true}) {
      INFO((identity ? "identity" : "eliminated") << (by_dm ? ", by DMCreateMatrix()" : ""));
      Options       set(identity ? "-mat_laplace_lengths 7,6 -mat_laplace_boundary identity"
                                 : "-mat_laplace_lengths 9,8 -mat_laplace_boundary eliminated");
      const Problem p = unit_spacing();
      Grid          da = make_grid(p);
      Matrix        A, copy, transposed;
      Vector        d = make_vector(da);
      OK(VecSet(d, 3));
      OK(DMSetMatType(da, MATLAPLACE));
      if (by_dm)
        OK(DMCreateMatrix(da, &A));
      else {
        OK(MatCreate(PETSC_COMM_WORLD, &A));
        OK(MatSetDM(A, da));
        OK(MatSetType(A, MATLAPLACE));
        OK(MatSetFromOptions(A));
      }
      OK(MatSetUp(A));
      multiply(A, da); // puts our view back in place of the DMDA's
      Views{A, "set up"}.check({"row of a point inside: 4 at the point, -1 along x, -1 along y"});
      OK(MatShift(A, 2));
      Views{A, "shifted"}.check({"6 at the point, -1 along x, -1 along y"});
      OK(MatScale(A, 2));
      Views{A, "scaled"}.check({"12 at the point, -2 along x, -2 along y"});
      OK(MatDiagonalSet(A, d, ADD_VALUES));
      Views{A, "with a diagonal"}.check({"to 15 at the point"});
      multiply(A, da);
      Views{A, "after a product with it"}.check({"to 15 at the point"});
      OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
      Views{copy, "duplicate"}.check({"to 15 at the point"});
      OK(MatAXPY(A, 2, copy, SAME_NONZERO_PATTERN));
      multiply(A, da);
      Views{A, "sum"}.check({"to 45 at the point"});
      OK(MatTranspose(A, MAT_INITIAL_MATRIX, &transposed));
      multiply(transposed, da);
      Views{transposed, "transpose"}.check({"to 45 at the point", identity ? "transposed" : "-Laplace(u)"});
      OK(MatCopy(copy, A, SAME_NONZERO_PATTERN));
      Views{A, "copy"}.check({"to 15 at the point"});
      OK(MatDiagonalSet(A, d, INSERT_VALUES));
      Views{A, "with a diagonal that replaces its own"}.check({"3 to 3 at the point"});
      OK(DMDestroy(&da));
      OK(VecDestroy(&d));
      Views{A, "without the caller's DM"}.check({"3 to 3 at the point"});
    }
}

TEST_CASE("views of a captured matrix after each change", "[views][capture]") {
  Lattice l;
  l.N[0] = 9, l.N[1] = 8;
  for (PetscInt dof : {1, 2})
    for (bool by_dm : {false, true})
      for (Form form : forms_of_storage) {
        l.dof = dof;
        INFO(describe(l) << name_of(form) << (by_dm ? ", by DMCreateMatrix()" : ""));
        Grid   da;
        Matrix A, copy, transposed;
        REQUIRE(try_make_grid(l, &da));
        OK(DMSetMatType(da, captured_type));
        if (by_dm)
          OK(DMCreateMatrix(da, &A));
        else {
          OK(MatCreate(PETSC_COMM_WORLD, &A));
          OK(MatSetDM(A, da));
          OK(MatSetType(A, captured_type));
          OK(MatSetUp(A));
        }
        assemble(A);
        Views{A, "zero"}.check({"captured star stencil of 5 points"});
        set_rows(da, A, random_fill(l, form, 1), Way::stencil, INSERT_VALUES);
        assemble(A);
        const std::string stored = std::string("form ") + name_of(form);
        Views{A, "assembled"}.check({stored});
        OK(MatShift(A, 2));
        OK(MatScale(A, 3));
        Views{A, "shifted and scaled"}.check({stored});
        Vector d = make_vector(da);
        OK(VecSet(d, 2));
        OK(MatDiagonalSet(A, d, ADD_VALUES));
        multiply(A, da);
        Views{A, "with a diagonal"}.check({stored});
        OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
        Views{copy, "duplicate"}.check({stored});
        OK(MatAXPY(copy, 2, A, SAME_NONZERO_PATTERN));
        Views{copy, "sum"}.check({stored});
        OK(MatTranspose(A, MAT_INITIAL_MATRIX, &transposed));
        Views{transposed, "transpose"}.check({"captured star stencil of 5 points"});
        const PetscInt row = 0;
        OK(MatZeroRows(A, 1, &row, 1, NULL, NULL));
        Views{A, "with a zeroed row"}.check({"captured star stencil of 5 points"});
        OK(DMDestroy(&da));
        Views{A, "without the caller's DM"}.check({"captured star stencil of 5 points"});
      }
}

TEST_CASE("-mat_view shows an operator when it is created", "[views]") {
  const Options set("-mat_view ::ascii_info");
  Grid          da = make_grid(problem(2, 8, 7));
  Matrix        A, B;
  CHECK(printed([&] { OK(MatCreateLaplace(da, &A)); }).find("-Laplace(u), star of 5 points") != std::string::npos);
  CHECK(printed([&] { OK(MatCreateHelmholtz(da, 2, &B)); }).find("sigma = 2") != std::string::npos);
}
