// Views in each state of an operator: they show the present rows, and leave the operator as it is.

#include "burgers_support.hpp"
#include "catch.hpp"
#include "equations.hpp"
#include "multigrid.hpp"
#include "sums.hpp"

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
      Views{A, "with a diagonal"}.check({" 15 at the point"});
      multiply(A, da);
      Views{A, "after a product with it"}.check({" 15 at the point"});
      OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
      Views{copy, "duplicate"}.check({" 15 at the point"});
      OK(MatAXPY(A, 2, copy, SAME_NONZERO_PATTERN));
      multiply(A, da);
      Views{A, "sum"}.check({" 45 at the point"});
      OK(MatTranspose(A, MAT_INITIAL_MATRIX, &transposed));
      multiply(transposed, da);
      Views{transposed, "transpose"}.check({" 45 at the point", identity ? "transposed" : "-Laplace(u)"});
      OK(MatCopy(copy, A, SAME_NONZERO_PATTERN));
      Views{A, "copy"}.check({" 15 at the point"});
      OK(MatDiagonalSet(A, d, INSERT_VALUES));
      Views{A, "with a diagonal that replaces its own"}.check({"all with 3 at the point"});
      OK(DMDestroy(&da));
      OK(VecDestroy(&d));
      Views{A, "without the caller's DM"}.check({"all with 3 at the point"});
    }
}

TEST_CASE("views of helmholtz tell what was done to the operator of the equation", "[views]") {
  Problem        p = unit_spacing();
  const PetscInt row = 0;
  p.sigma = 4;
  Grid   da = make_grid(p);
  Vector d = make_vector(da);
  Matrix A = make_operator(p, da), other, rows;
  OK(VecSet(d, 2));
  OK(MatDuplicate(A, MAT_COPY_VALUES, &other));
  Views{A, "set up"}.check({"sigma = 4", "8 at the point"});
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("changed") == std::string::npos);
  OK(MatHelmholtzSetShift(A, 9));
  Views{A, "with another shift"}.check({"sigma = 9", "13 at the point"});
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("changed") == std::string::npos);
  OK(MatShift(A, 2));
  OK(MatScale(A, 3));
  Views{A, "shifted and scaled"}.check({"sigma = 9", "changed: scaled by 3, shifted by 6", "45 at the point"});
  OK(MatAXPY(A, 1, other, SAME_NONZERO_PATTERN));
  Views{A, "sum"}.check({"changed: scaled by 3, others added by MatAXPY()", "53 at the point"});
  OK(MatDiagonalSet(A, d, INSERT_VALUES));
  OK(MatZeroEntries(A));
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("zero until it is assembled again") != std::string::npos);
  OK(MatShift(A, 5));
  Views{A, "zeroed and shifted"}.check({"changed: scaled by 0, shifted by 5", "5 at the point"});
  OK(MatDuplicate(other, MAT_COPY_VALUES, &rows));
  OK(MatZeroRows(rows, rank_count() > 1 ? 0 : 1, &row, 1, NULL, NULL));
  Views{rows, "with rows by hand"}.check({"changed: rows by MatZeroRows()"});
  OK(MatDiagonalScale(other, d, NULL));
  Views{other, "scaled row by row"}.check({"changed: rows by MatZeroRows() or MatDiagonalScale()", "all with 16"});
}

TEST_CASE("views of diffusion and advection_diffusion after each change", "[views][diffusion]") {
  Options         set("-mat_diffusion_lengths 9,8 -mat_advection_diffusion_lengths 9,8 "
                              "-mat_advection_diffusion_scheme upwind");
  Grid            da = make_grid(unit_spacing());
  Vector          k = make_vector(da);
  Matrix          A, B;
  const PetscReal w[] = {1, 2};
  OK(VecSet(k, 1));
  OK(MatCreateDiffusion(da, k, &A));
  Views{A, "k a field"}.check({"k a field, harmonic means, sigma = 0", "all with 4 at the point"});
  OK(VecSet(k, 2));
  assemble(A);
  Views{A, "another field"}.check({"all with 8 at the point"});
  OK(MatDiffusionSetConstant(A, 3));
  OK(MatDiffusionSetShift(A, 1));
  Views{A, "a constant"}.check({"k = 3, sigma = 1", "13 at the point, -3 along x, -3 along y"});
  OK(MatScale(A, 2));
  Views{A, "scaled"}.check({"k = 3, sigma = 1", "changed: scaled by 2", "26 at the point"});
  OK(DMSetMatType(da, MATADVECTIONDIFFUSION));
  OK(DMCreateMatrix(da, &B));
  OK(MatAdvectionDiffusionSetConstantVelocity(B, 2, w));
  Views{B, "a velocity"}.check(
      {"k = 1", "upwind differences of w.grad(u), w = (1, 2)", "7 at the point", "-2 along -x"});
  OK(MatTranspose(B, MAT_INPLACE_MATRIX, &B));
  Views{B, "transposed"}.check({"changed: transposed", "7 at the point"});
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

// What is printed has these words.
static void check_words(const std::string &text, const std::vector<std::string> &words) {
  INFO(text);
  for (const std::string &word : words) {
    INFO(word);
    CHECK(text.find(word) != std::string::npos);
  }
}

TEST_CASE("views of a kernel sum after each change", "[views][sums]") {
  using namespace sums;
  const Cloud few = random_cloud(12, 3, 1), more = random_cloud(15, 3, 2);
  Matrix      A = make_sum(few, more), gradient;
  Vector      x = right_vector(A), y = left_vector(A), points = more.coordinates(), d;
  const auto  check = [&](const std::vector<std::string> &words) {
    check_words(view(A, PETSC_VIEWER_ASCII_INFO), words);
    CHECK(!view(A, PETSC_VIEWER_DEFAULT).empty()); // the entries
  };
  check({"values of sums", "kernel gaussian", "sigma = 1", "12 targets, 15 sources in 3-D", "all pairs in double"});
  OK(VecSet(x, 1));
  OK(MatMult(A, x, y));
  check({"1 product; the last: 180 pairs"});
  OK(MatKernelSumSetSigma(A, 0.5));
  check({"sigma = 0.5"});
  OK(MatKernelSumSetPrecision(A, MAT_KERNELSUM_SINGLE));
  check({"all pairs in single precision"});
  OK(MatKernelSumSetPoints(A, points, points));
  check({"15 targets, 15 sources"});
  OK(MatShift(A, 2));
  OK(MatScale(A, 3));
  check({"scaled by 3", "shifted by 6"});
  OK(MatCreateVecs(A, &d, NULL));
  OK(VecSet(d, 4));
  OK(MatDiagonalSet(A, d, ADD_VALUES));
  check({"scaled by 3", "shifted by 6", "vectors of MatDiagonalSet() or MatDiagonalScale()"});
  OK(MatKernelSumSetMethod(A, MAT_KERNELSUM_FAST, 1e-3));
  check({"scaled by 3", "shifted by 6", "error measured"});
  OK(MatKernelSumCreateGradient(A, &gradient));
  check_words(view(gradient, PETSC_VIEWER_ASCII_INFO), {"gradients of sums"});
}

TEST_CASE("views of the preconditioner of kernel sums before and after its set-up", "[views][sums]") {
  Matrix         A = sums::make_square_sum(sums::random_cloud(40, 2, 1));
  Preconditioner pc;
  Vector         x = sums::right_vector(A), y = sums::left_vector(A);
  const auto     check = [&](const std::vector<std::string> &words) {
    check_words(printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); }), words);
  };
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  OK(PCSetOperators(pc, A, A));
  OK(PCSetType(pc, PCKERNELSUM));
  check({"boxes of up to", "not set up yet"});
  OK(VecSet(x, 1));
  OK(PCKernelSumSetBoxSize(pc, 10));
  OK(MatKernelSumSetSigma(A, 0.05));
  OK(PCApply(pc, x, y));
  check({"boxes of up to 10 points", "each solved with the", "condition number of a box"});
}

TEST_CASE("views of an equation's derivative", "[views][equations]") {
  if (!equations_work()) return;
  Grid   da = make_grid(problem(2, 9, 8));
  Matrix A;
  set_equation(da, "residual = -laplacian(u) - 1");
  OK(DMSetMatType(da, "equation"));
  OK(DMDACreateEquationMat(da, &A));
  check_words(view(A, PETSC_VIEWER_ASCII_INFO), {"the derivative of the residual", "no entries are stored"});
  OK(MatShift(A, 2));
  check_words(view(A, PETSC_VIEWER_ASCII_INFO), {"the derivative of the residual"});
}

TEST_CASE("views of stencilmg after each change", "[views][multigrid]") {
  const Problem  p = problem(2, 70, 90);
  Grid           da = make_grid(p);
  Matrix         A = make_operator(p, da);
  Preconditioner pc = make_pc(A, "-test_pc_stencilmg_levels 3"); // a GPU would solve the first one at once
  Vector         b = random_vector(da, 1);
  const auto     check = [&](const std::vector<std::string> &words) {
    check_words(printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); }), words);
  };
  check({"level 0: 70 x 90", "level 1: 35 x 45", "V-cycle, 1 for each application", "double precision"});
  OK(MatShift(A, 5));
  check({"level 0: 70 x 90", "level 1: 35 x 45"});
  OK(PCStencilMGSetLevels(pc, 2));
  check({"2 levels", "level 1: 35 x 45", "solved by"});
  OK(PCStencilMGSetPrecision(pc, PC_STENCILMG_SINGLE));
  OK(PCStencilMGSetCycleType(pc, PC_STENCILMG_CYCLE_W));
  OK(PCStencilMGSetType(pc, PC_STENCILMG_FULL));
  OK(PCStencilMGSetCycles(pc, 3));
  check({"full multigrid, W-cycle, 3 for each application", "single precision"});
  apply(pc, b);
  check({"2 levels"});
}

#if !defined(PETSC_USE_COMPLEX)
TEST_CASE("views of Burgers' equation after each change", "[views][burgers]") {
  Run             run(PETSC_COMM_WORLD, 40, false, "-burgers_lengths 2");
  const PetscReal inflow[2] = {1, -2};
  const auto      check = [&](const std::vector<std::string> &words) {
    check_words(printed([&] { OK(TSBurgersView(run.ts, NULL)); }), words);
  };
  check({"in 1-D: flux godunov, reconstruction constant", "axis x: 40 cells, width 0.05", "ends: outflow",
         "viscosity: 0", "checks: each step"});
  OK(TSBurgersSetReconstruction(run.ts, TS_BURGERS_WENO5));
  OK(TSBurgersSetViscosity(run.ts, 0.1));
  check({"reconstruction weno5", "viscosity: 0.1"});
  OK(TSBurgersSetFlux(run.ts, TS_BURGERS_LAX_FRIEDRICHS));
  check({"flux lax_friedrichs", "speed of the flux: that of the first state"});
  OK(TSBurgersSetSpeed(run.ts, 2.5));
  OK(TSBurgersSetCheckInterval(run.ts, 4));
  check({"speed of the flux: 2.5", "a multiple of 4"});
  OK(TSBurgersSetBoundary(run.ts, TS_BURGERS_INFLOW));
  OK(TSBurgersSetInflow(run.ts, 2, inflow));
  check({"ends: inflow, u = 1", "and -2"});
  run.start([](PetscInt) { return 0.5; });
  run.step(1, 1e-4);
  check({"ends: inflow, u = 1", "and -2"});
  OK(TSSetType(run.ts, TSBURGERSFUSED));
  check({"fused steps: ssprk3, at most 256 in a block"});
}
#endif

TEST_CASE("-mat_view shows an operator when it is created", "[views]") {
  const Options set("-mat_view ::ascii_info");
  Grid          da = make_grid(problem(2, 8, 7));
  Matrix        A, B;
  CHECK(printed([&] { OK(MatCreateLaplace(da, &A)); }).find("-Laplace(u), star of 5 points") != std::string::npos);
  CHECK(printed([&] { OK(MatCreateHelmholtz(da, 2, &B)); }).find("sigma = 2") != std::string::npos);
}
