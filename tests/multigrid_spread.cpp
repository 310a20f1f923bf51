// stencilmg on several ranks' GPUs, where a rank computes windows of large levels: the cycles that the host does.

#include "catch.hpp"

#include "gpu.hpp"
#include "media.hpp"
#include "systems.hpp"

using namespace tests;

#if defined(PETSC_HAVE_CUDA)

// A vector's cycle, the same on any ranks, and a transposed one.
static std::vector<PetscScalar> cycled(DM da, Mat A, const std::string &options) {
  Preconditioner pc = make_pc(A, options + small_last_level);
  Vector         b = make_vector(da), x;
  set_values(da, b, [&](const PetscInt i[3]) {
    return std::sin(1. + (PetscReal)(i[0] + 7 * i[1] * i[1] + 3 * i[2] * (i[0] + 1)));
  });
  x = apply(pc, b);
  Vector y = make_vector(da);
  OK(PCApplyTranspose(pc, x, y));
  auto       all = natural_values(da, x);
  const auto transposed = natural_values(da, y);
  all.insert(all.end(), transposed.begin(), transposed.end());
  return all;
}

static std::vector<PetscScalar> cycled(const Problem &p, const char *vectors, const std::string &options) {
  Grid da;
  REQUIRE(try_make_grid(p, &da));
  OK(DMSetVecType(da, vectors));
  Matrix A = make_operator(p, da);
  return cycled(da, A, options);
}

static std::vector<PetscScalar> cycled(const Lattice &l, const Fill &fill, const char *vectors,
                                       const std::string &options) {
  Twins t(l, vectors);
  set_rows(t.da, t.A, fill, Way::stencil, ADD_VALUES);
  assemble(t.A);
  return cycled(t.da, t.A, options);
}

// The same on each rank alone.
static std::vector<PetscScalar> cycled_alone(const Lattice &l, const Fill &fill, const std::string &options) {
  Grid   da = make_grid_alone(l);
  Matrix A;
  OK(DMSetVecType(da, VECCUDA));
  OK(DMSetMatType(da, captured_type));
  OK(DMCreateMatrix(da, &A));
  set_rows(da, A, fill, Way::stencil, ADD_VALUES);
  assemble(A);
  return cycled(da, A, options);
}

static void check_alike(const std::vector<PetscScalar> &some, const std::vector<PetscScalar> &others,
                        PetscReal tolerance) {
  CHECK(difference_beside_largest(some, others) <= tolerance);
}

TEST_CASE("windows of levels on several GPUs give the host's cycles", "[multigrid][device]") {
  const char *const windows = " -test_pc_stencilmg_whole_points 1100"; // 31 x 31 are solved, as the host does
  const char *const options[] = {"",
                                 "-test_pc_stencilmg_type full",
                                 "-test_pc_stencilmg_type full -test_pc_stencilmg_multiplicative_cycles 3",
                                 "-test_pc_stencilmg_cycle_type w -test_pc_stencilmg_smooths 1",
                                 "-test_pc_stencilmg_cycle_type f -test_pc_stencilmg_smooths 2",
                                 "-test_pc_stencilmg_smoother red_black",
                                 "-test_pc_stencilmg_smoother chebyshev -test_pc_stencilmg_type full",
                                 "-test_pc_stencilmg_precision single -test_pc_stencilmg_cycle_type w",
                                 "-test_pc_stencilmg_precision single -test_pc_stencilmg_multiplicative_cycles 2"};
  int               number = 0;
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Point &N : {Point{150, 161, 1}, Point{255, 255, 1}, Point{256, 250, 1}, Point{1000, 17, 1},
                         Point{62, 70, 81}, Point{63, 63, 63}, Point{12, 100, 96}, Point{9000, 1, 1}})
    for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
      for (int periodic : {0, 1, 3}) // axes
        for (std::string option : options) {
          Problem p = problem(N[2] > 1 ? 3 : N[1] > 1 ? 2 : 1, N[0], N[1], N[2]);
          p.boundary = form;
          if (form == MAT_LAPLACE_NEUMANN) p.sigma = 0.5;
          for (int a = 0; a < PetscMin(p.dim, periodic); a++) p.ends[a] = DM_BOUNDARY_PERIODIC;
          const bool single = option.find("single") != std::string::npos;
          if (single && p.dim == 1) continue; // rounding times the condition of so long a line
          if (number++ % 5 && !(N[0] == 150 && periodic < 2)) continue;
          // GPUs take red-black steps of a full cycle, when another one follows, in another order than hosts, and around
          // a periodic axis only where they are asked for
          if (p.dim == 3 && (periodic || option.find("cycles 3") != std::string::npos) &&
              option.find("smoother") == std::string::npos)
            option += " -test_pc_stencilmg_smoother chebyshev";
          INFO(describe(p) << option);
          check_alike(cycled(p, VECCUDA, option + windows), cycled(p, VECSTANDARD, option),
                      single ? 1e-4 : 1e5 * exact);
        }
}

TEST_CASE("windows of levels of variable coefficients give the host's cycles", "[multigrid][device]") {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;
  const char *const    options[] = {"", "-test_pc_stencilmg_type full", "-test_pc_stencilmg_cycle_type w",
                                    "-test_pc_stencilmg_smooths 1 -test_pc_stencilmg_levels 4",
                                    "-test_pc_stencilmg_precision single -test_pc_stencilmg_cycle_type f"};
  int                  number = 0;
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Point &N : {Point{150, 161, 1}, Point{256, 250, 1}, Point{1000, 17, 1}, Point{62, 70, 81},
                         Point{12, 100, 96}, Point{9000, 1, 1}})
    for (const auto &ends :
         {std::vector<DMBoundaryType>{none, none, none}, {none, around, none}, {around, around, around}})
      for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX})
        for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN})
          for (const char *whole : {"600", "10000000"}) {
            const Lattice     l = lattice(N, ends, shape);
            const std::string option = options[number % 5];
            const bool        single = option.find("single") != std::string::npos;
            if (number++ % 4) continue;
            INFO(describe(l) << ", boundary form " << (int)form << ' ' << option << ", whole " << whole);
            const Fill fill = medium_fill(l, number % 3 ? Medium::blocks : Medium::smooth, form, 0.1);
            check_alike(cycled(l, fill, VECCUDA, option + " -test_pc_stencilmg_whole_points " + whole),
                        cycled(l, fill, VECSTANDARD, option), single ? 1e-3 : 1e6 * exact);
          }
}

TEST_CASE("variable coefficients on several GPUs are solved again after they have changed", "[multigrid][device]") {
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Point &N : {Point{300, 211, 1}, Point{62, 70, 81}})
    for (const char *whole : {"0", "600", "20000"}) {
      const Lattice l = lattice(N);
      Twins         t(l, VECCUDA);
      Vector        b = random_vector(t.da, 1), x = make_vector(t.da);
      int           turn = 0;
      for (const Fill &fill : {medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0),
                               medium_fill(l, Medium::blocks, MAT_LAPLACE_IDENTITY, 0.1),
                               scaled_fill(l, medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0))}) {
        PetscInt iterations;
        INFO(describe(l) << ", turn " << turn++ << ", whole " << whole);
        t.both([&](DM dm, Mat M) {
          OK(MatZeroEntries(M));
          set_rows(dm, M, fill, Way::stencil, ADD_VALUES);
          assemble(M);
        });
        CHECK(solve(t.A, b, x,
                    std::string("-test_ksp_type gmres -test_ksp_rtol 1e-9 -test_pc_stencilmg_whole_points ") + whole,
                    &iterations) > 0);
        CHECK(iterations <= 20);
        CHECK(relative_residual(t.aij, b, x) <= 1e-6);
      }
    }
}

TEST_CASE("levels on several GPUs follow a matrix that is scaled and shifted", "[multigrid][device]") {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Point &N : {Point{300, 210, 1}, Point{62, 70, 81}})
    for (const auto &ends : {std::vector<DMBoundaryType>{none, none, none}, {none, around, none}})
      for (const char *whole : {"0", "600", "20000"})
        for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY}) {
          const Lattice     l = lattice(N, ends);
          const std::string options =
              std::string("-test_pc_type stencilmg -test_ksp_type gmres -test_ksp_pc_side right "
                          "-test_ksp_rtol 1e-9 "
                          "-test_pc_stencilmg_whole_points ") +
              whole;
          Twins      t(l, VECCUDA);
          Vector     b = random_vector(t.da, 1), x = make_vector(t.da);
          const Fill fill = medium_fill(l, Medium::blocks, form, 0.01);
          t.both([&](DM dm, Mat M) {
            set_rows(dm, M, fill, Way::stencil, ADD_VALUES);
            assemble(M);
          });
          const auto solved = [&](KSP ksp) {
            PetscInt iterations;
            OK(KSPSolve(ksp, b, x));
            OK(KSPGetIterationNumber(ksp, &iterations));
            CHECK(relative_residual(t.aij, b, x) <= 1e-7);
            return iterations;
          };
          Solver ksp = make_solver(t.A, options);
          INFO(describe(l) << ", boundary form " << (int)form << ", whole " << whole);
          solved(ksp);
          for (const auto &by : {std::pair<PetscReal, PetscReal>{3, 0}, {1, 0.004}, {0.5, -0.001}}) {
            PC pc;
            t.both([&](DM, Mat M) {
              OK(MatScale(M, by.first));
              OK(MatShift(M, by.second));
            });
            Solver fresh = make_solver(t.A, options);
            INFO("times " << by.first << ", plus " << by.second);
            const PetscInt iterations = solved(ksp);
            CHECK(iterations <= solved(fresh) + 1);
            OK(KSPGetPC(ksp, &pc));
            CHECK(printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); }).find("levels updated since") !=
                  std::string::npos);
          }
        }
}

TEST_CASE("levels that each of several GPUs has wholly, and others, solve for the user's matrix",
          "[multigrid][device]") {
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Point &N : {Point{300, 211, 1}, Point{62, 70, 81}})
    for (const char *whole : {"0", "600", "20000", "10000000"}) {
      Problem p = problem(N[2] > 1 ? 3 : 2, N[0], N[1], N[2]);
      Grid    da;
      REQUIRE(try_make_grid(p, &da));
      OK(DMSetVecType(da, VECCUDA));
      Matrix A = make_operator(p, da);
      Vector b = random_vector(da, 1), x = make_vector(da);
      for (const char *solver : {"-test_ksp_type cg", "-test_ksp_type richardson -test_pc_stencilmg_type full"})
        for (int turn = 0; turn < 2; turn++) { // the second time with another matrix
          PetscInt iterations;
          INFO(describe(p) << solver << whole << ", turn " << turn);
          OK(MatScale(A, 2));
          CHECK(solve(A, b, x, std::string(solver) + " -test_ksp_rtol 1e-9 -test_pc_stencilmg_whole_points " + whole,
                      &iterations) > 0);
          CHECK(iterations <= 15);
          CHECK(relative_residual(A, b, x) <= 1e-7);
        }
    }
}

namespace {

// |b - Aᵀx| / |b|
PetscReal residual_of_transpose(Mat A, Vec b, Vec x) {
  Vector    r = copy_of(b);
  PetscReal left, size;
  OK(MatMultTranspose(A, x, r));
  OK(VecAYPX(r, -1, b));
  OK(VecNorm(r, NORM_2, &left));
  OK(VecNorm(b, NORM_2, &size));
  return left / size;
}

struct Rows {
  const char *name;
  Fill        fill;
  const char *seen_as; // in the view
};
std::vector<Rows> rows_not_symmetric(const Lattice &l) {
  const char *const weighted = "rows have weights of their own", *const others = "restriction follows its columns";
  const auto strong = [](const PetscReal *, PetscReal w[3]) { w[0] = 1000, w[1] = -300, w[2] = 200; };
  const auto weak = [](const PetscReal *, PetscReal w[3]) { w[0] = 2, w[1] = -1, w[2] = 1; };
  return {{"a wind that turns", convection_fill(l, 1e-3, rotate, true), others},
          {"a strong wind", convection_fill(l, 1, strong, true), others},
          {"rows with weights", scaled_fill(l, medium_fill(l, Medium::blocks, MAT_LAPLACE_IDENTITY, 0.1)), weighted},
          {"a weak wind, with weights", scaled_fill(l, convection_fill(l, 1, weak, true)),
           l.ends[0] == periodic ? others : weighted}, // around an axis there are none
          {"a wind that meanders, with weights", scaled_fill(l, convection_fill(l, 1e-2, meander, true)), others},
          {"random rows", random_fill(l, Form::arrays, 1), others}};
}

} // namespace

TEST_CASE("rows that are not symmetric have the cycles of one GPU where each of several has all of them",
          "[multigrid][device]") {
  const char *const options[] = {"",
                                 "-test_pc_stencilmg_type full",
                                 "-test_pc_stencilmg_type full -test_pc_stencilmg_multiplicative_cycles 3",
                                 "-test_pc_stencilmg_cycle_type v",
                                 "-test_pc_stencilmg_cycle_type w -test_pc_stencilmg_smooths 1",
                                 "-test_pc_stencilmg_graph 0 -test_pc_stencilmg_multiplicative_cycles 2",
                                 "-test_pc_stencilmg_precision single -test_pc_stencilmg_cycle_type f"};
  int               number = 0;
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Point &N : {Point{90, 71, 1}, Point{130, 3, 1}, Point{22, 20, 21}, Point{300, 1, 1}})
    for (const auto &ends : {std::vector<DMBoundaryType>{open_end, open_end, open_end},
                             {periodic, open_end, periodic},
                             {open_end, periodic, open_end},
                             {DM_BOUNDARY_MIRROR, open_end, open_end}})
      for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX}) {
        if (ends[0] == DM_BOUNDARY_MIRROR && (N[2] > 1 || shape == DMDA_STENCIL_BOX)) continue; // PETSc has none
        const Lattice l = lattice(N, ends, shape);
        for (const Rows &rows : rows_not_symmetric(l)) {
          const std::string option = options[number++ % 7];
          const bool        single = option.find("single") != std::string::npos;
          INFO(describe(l) << ", " << rows.name << ' ' << option);
          check_alike(cycled(l, rows.fill, VECCUDA, option), cycled_alone(l, rows.fill, option),
                      single ? 1e-3 : 1e6 * exact);
        }
      }
}

// With the matrix and its transpose, in so many iterations at most.
static void check_solves(KSP ksp, Mat aij, Vec b, Vec x, PetscInt most) {
  PetscInt iterations;
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetIterationNumber(ksp, &iterations));
  CHECK(iterations <= most);
  CHECK(relative_residual(aij, b, x) <= 2e-9);
  OK(KSPSolveTranspose(ksp, b, x));
  OK(KSPGetIterationNumber(ksp, &iterations));
  CHECK(iterations <= most);
  CHECK(residual_of_transpose(aij, b, x) <= 1e-7);
}

TEST_CASE("rows that are not symmetric are solved on several GPUs, and again after they have changed",
          "[multigrid][device]") {
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Point &N : {Point{120, 91, 1}, Point{24, 22, 21}})
    for (const auto &ends : {std::vector<DMBoundaryType>{open_end, open_end, open_end}, {periodic, open_end, open_end}})
      for (const char *whole : {"0", "600"}) { // of the latter, each rank has its part of the finest level
        const Lattice l = lattice(N, ends);
        Twins         t(l, VECCUDA);
        Vector        b = random_vector(t.da, 1), x = make_vector(t.da);
        Options       set(std::string("-test_pc_type stencilmg -test_ksp_type gmres -test_ksp_pc_side right "
                                            "-test_ksp_rtol 1e-9 -test_pc_stencilmg_whole_points ") +
                          whole);
        Solver        ksp = make_solver(t.A);
        auto          all = rows_not_symmetric(l);
        all.insert(all.begin() + 3, {"symmetric", medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0.1), ""});
        for (const Rows &rows : all) {
          PC pc;
          t.both([&](DM dm, Mat M) {
            OK(MatZeroEntries(M));
            set_rows(dm, M, rows.fill, Way::stencil, ADD_VALUES);
            assemble(M);
          });
          OK(KSPGetPC(ksp, &pc));
          for (const auto &by : {std::pair<PetscReal, PetscReal>{1, 0}, {3, 0}, {1, 0.004}, {0.5, 0}}) {
            INFO(describe(l) << ", " << rows.name << ", whole " << whole << ", times " << by.first << ", plus "
                             << by.second);
            t.both([&](DM, Mat M) {
              OK(MatScale(M, by.first));
              OK(MatShift(M, by.second));
            });
            check_solves(ksp, t.aij, b, x, 25);
          }
          const std::string view = printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
          INFO(view);
          CHECK(view.find(rows.seen_as) != std::string::npos);
          if (*whole != '0') continue;
          CHECK(view.find("distributed") == std::string::npos);
          CHECK((view.find("levels updated since") != std::string::npos) ==
                (view.find("level 1:") != std::string::npos));
        }
      }
}

TEST_CASE("systems have the cycles of one GPU where each of several has all of them", "[multigrid][device]") {
  const char *const options[] = {"", "-test_pc_stencilmg_type full -test_pc_stencilmg_multiplicative_cycles 2",
                                 "-test_pc_stencilmg_cycle_type w -test_pc_stencilmg_smooths 1",
                                 "-test_pc_stencilmg_cycle_type f -test_pc_stencilmg_multiplicative_cycles 2"};
  int               number = 0;
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Equations *of : {&reacting, &turning, &far_apart, &elastic_2d, &elastic_3d})
    for (const Point &N : {Point{40, 33, 1}, Point{11, 12, 13}, Point{170, 1, 1}})
      for (const auto &ends : {std::vector<DMBoundaryType>{open_end, open_end, open_end},
                               {periodic, open_end, periodic},
                               {open_end, periodic, open_end},
                               {DM_BOUNDARY_MIRROR, open_end, open_end}})
        for (bool nodes : {false, true}) {
          if (ends[0] == DM_BOUNDARY_MIRROR && (N[2] > 1 || of->shape == DMDA_STENCIL_BOX)) continue;
          const bool elastic = of == &elastic_2d || of == &elastic_3d;
          if (elastic && (N[1] == 1 || (N[2] > 1) != (of->dof == 3))) continue;
          const Lattice     l = lattice_for(*of, N, ends);
          const std::string option = options[number++ % 4];
          INFO(of->name << (nodes ? ", nodes at the ends, " : ", ") << describe(l) << ' ' << option);
          check_alike(cycled(l, fill_of(*of, l, nodes), VECCUDA, option),
                      cycled_alone(l, fill_of(*of, l, nodes), option), 1e-6); // weights of steps differ by roots of rounding
        }
}

TEST_CASE("systems are solved on several GPUs, and again after they have changed", "[multigrid][device]") {
  if (skips(no_gpu(false) || rank_count() == 1)) return;
  for (const Equations *of : {&reacting, &turning})
    for (const Point &N : {Point{60, 51, 1}, Point{15, 14, 13}})
      for (const auto &ends :
           {std::vector<DMBoundaryType>{open_end, open_end, open_end}, {periodic, open_end, open_end}})
        for (const char *whole : {"0", "600"}) { // of the latter, each rank has its part of the finest level
          const Lattice l = lattice_for(*of, N, ends);
          Twins         t(l, VECCUDA);
          Vector        b = random_vector(t.da, 1), x = make_vector(t.da);
          Options       set(std::string("-test_pc_type stencilmg -test_ksp_type gmres -test_ksp_pc_side right "
                                              "-test_ksp_rtol 1e-9 -test_pc_stencilmg_whole_points ") +
                            whole);
          Solver        ksp = make_solver(t.A);
          PC            pc;
          OK(KSPGetPC(ksp, &pc));
          const auto check = [&](const char *after, bool updated) {
            INFO(of->name << ", " << describe(l) << ", whole " << whole << ", " << after);
            check_solves(ksp, t.aij, b, x, 20);
            const std::string view = printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
            INFO(view);
            CHECK((view.find("levels updated since") != std::string::npos) == updated);
            CHECK((view.find("distributed") != std::string::npos) == (*whole != '0'));
          };
          const Fill fill = fill_of(*of, l, false), other = fill_of(*of, l, true);
          t.both([&](DM dm, Mat M) {
            set_rows(dm, M, fill, Way::stencil, INSERT_VALUES);
            assemble(M);
          });
          check("at first", false);
          t.both([&](DM, Mat M) {
            OK(MatScale(M, 2));
            OK(MatShift(M, 0.01));
          });
          check("scaled and shifted", true);
          t.both([&](DM dm, Mat M) {
            OK(MatZeroEntries(M));
            set_rows(dm, M, other, Way::stencil, INSERT_VALUES);
            assemble(M);
          });
          check("with others", false);
          t.both([&](DM, Mat M) { OK(MatShift(M, 0.01)); });
          check("shifted", true);
        }
}

#endif
