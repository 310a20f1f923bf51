// What users of stencilmg are told: errors, remedies, settings, the view.

#include "catch.hpp"

#include "multigrid.hpp"

using namespace tests;

static std::string view(PC pc) {
  return printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
}

TEST_CASE("functions in C set what options set", "[multigrid]") {
  const struct {
    const char                       *options;
    std::function<PetscErrorCode(PC)> set;
  } cases[] = {
      {"-test_pc_stencilmg_type full", [](PC pc) { return PCStencilMGSetType(pc, PC_STENCILMG_FULL); }},
      {"-test_pc_stencilmg_cycle_type w", [](PC pc) { return PCStencilMGSetCycleType(pc, PC_STENCILMG_CYCLE_W); }},
      {"-test_pc_stencilmg_cycle_type f", [](PC pc) { return PCStencilMGSetCycleType(pc, PC_STENCILMG_CYCLE_F); }},
      {"-test_pc_stencilmg_multiplicative_cycles 3", [](PC pc) { return PCStencilMGSetCycles(pc, 3); }},
      {"-test_pc_stencilmg_smooths 1", [](PC pc) { return PCStencilMGSetSmooths(pc, 1); }},
      {"-test_pc_stencilmg_smoother red_black",
       [](PC pc) { return PCStencilMGSetSmoother(pc, PC_STENCILMG_SMOOTHER_RED_BLACK); }},
      {"-test_pc_stencilmg_levels 2", [](PC pc) { return PCStencilMGSetLevels(pc, 2); }},
      {"-test_pc_stencilmg_precision single", [](PC pc) { return PCStencilMGSetPrecision(pc, PC_STENCILMG_SINGLE); }},
      {"-test_pc_stencilmg_fused 0", [](PC pc) { return PCStencilMGSetFused(pc, PETSC_FALSE); }},
      {"-test_pc_stencilmg_graph 0", [](PC pc) { return PCStencilMGSetGraph(pc, PETSC_FALSE); }},
      {"-test_pc_stencilmg_whole_points 99", [](PC pc) { return PCStencilMGSetWholePoints(pc, 99); }}};
  for (const Problem &p : {problem(2, 70, 90), problem(3, 22, 17, 20)}) {
    INFO(describe(p));
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da);
    Vector b = random_vector(da, 3);
    for (const auto &of : cases) {
      INFO(of.options);
      Preconditioner by_option = make_pc(A, of.options), by_function = make_pc(A);
      OK(of.set(by_function)); // after set-up
      Vector x = apply(by_option, b), y = apply(by_function, b);
      CHECK(difference(y, x) == 0);
      CHECK(view(by_function) == view(by_option));
    }
  }
  const Problem  p = problem(2, 70, 90);
  Grid           da = make_grid(p);
  Matrix         A = make_operator(p, da);
  Preconditioner pc = make_pc(A), other;
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"PCStencilMGSetSmooths", "5", "0 to 4"}),
               [&]() { return PCStencilMGSetSmooths(pc, 5); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"PCStencilMGSetCycles", "0", "1 or more"}),
               [&]() { return PCStencilMGSetCycles(pc, 0); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"PCStencilMGSetLevels", "-1"}),
               [&]() { return PCStencilMGSetLevels(pc, -1); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"PCStencilMGSetCycleType", "7", "automatic|v|w|f"}),
               [&]() { return PCStencilMGSetCycleType(pc, (PCStencilMGCycleType)7); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, ({"null"}), []() { return PCStencilMGSetFused(NULL, PETSC_TRUE); });
  OK(PCCreate(PETSC_COMM_WORLD, &other));
  OK(PCSetType(other, PCJACOBI));
  OK(PCStencilMGSetSmooths(other, 2)); // of another type: nothing
}

TEST_CASE("a preconditioner works again after a set-up that has failed", "[multigrid]") {
  const Problem  p = problem(2, 150, 65); // more than a GPU solves at once
  Grid           da = make_grid(p);
  Matrix         A = make_operator(p, da);
  Preconditioner pc = make_pc(A);
  Vector         b = random_vector(da, 3), x = apply(pc, b), y = make_vector(da), other = random_vector(da, 3);
  OK(PCStencilMGSetLevels(pc, 1));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"-pc_stencilmg_levels"}), [&]() { return PCApply(pc, other, y); });
  OK(PCStencilMGSetLevels(pc, 0));
  Vector again = apply(pc, b);
  CHECK(difference(again, x) == 0);
}

TEST_CASE("multigrid shows what it does", "[multigrid]") {
  Problem           p = problem(2, 70, 90);
  Grid              da = make_grid(p);
  Matrix            A = make_operator(p, da);
  Vector            b = random_vector(da, 8);
  Preconditioner    pc = make_pc(A, "-test_pc_stencilmg_monitor -test_pc_stencilmg_multiplicative_cycles 2 "
                                       "-test_pc_stencilmg_levels 3");
  const std::string text = view(pc);
  for (const char *word : {"stencilmg", "70 x 90", "35 x 45", "V-cycle", "double", "solved by its axes' modes", "MB"})
    CHECK(text.find(word) != std::string::npos);
  const std::string monitored = printed([&]() { apply(pc, b); });
  for (const char *word : {"cycle 1", "cycle 2", "residual"}) CHECK(monitored.find(word) != std::string::npos);
}

TEST_CASE("the smoother is red-black in 3-D where cycles need not be symmetric, or where that is asked for",
          "[multigrid]") {
  const struct {
    const char *options;
    const char *smoother[2]; // of 16 and of 17 points along the first axis, which is periodic
  } cases[] = {{"", {"Chebyshev", "Chebyshev"}},
               {"-test_pc_stencilmg_type full", {"red-black", "Chebyshev"}},
               {"-test_pc_stencilmg_cycle_type f", {"red-black", "Chebyshev"}},
               {"-test_pc_stencilmg_type full -test_pc_stencilmg_smoother chebyshev", {"Chebyshev", "Chebyshev"}},
               {"-test_pc_stencilmg_smoother red_black", {"red-black", "Chebyshev"}}};
  for (int odd = 0; odd < 2; odd++) {
    Problem p = problem(3, 16 + odd, 14, 12);
    p.ends[0] = DM_BOUNDARY_PERIODIC;
    p.sigma = 1;
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da);
    for (const auto &of : cases) {
      INFO(describe(p));
      INFO(of.options);
      // a GPU would solve so small a level exactly
      const std::string options = std::string(of.options) + " -test_pc_stencilmg_levels 2",
                        text = view(make_pc(A, options)), first = text.substr(text.find("level 0"));
      const bool  chosen = std::string(of.options).find("smoother") == std::string::npos;
      const char *expected =
          chosen && makes_cuda_vectors(da) ? "Chebyshev" : of.smoother[odd]; // as an axis is periodic
      CHECK(first.substr(0, first.find("level 1")).find(expected) != std::string::npos);
    }
  }
}
