// What stencilmg does where no coarser level is needed: rows that their diagonals dominate, and lines of points.
// Counts of operations.

#include "catch.hpp"

#include "media.hpp"
#include "systems.hpp"

using namespace tests;

namespace {

std::string view_of(PC pc) {
  return printed([&] { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
}
bool has(const std::string &text, const std::string &word) {
  return text.find(word) != std::string::npos;
}

// A matrix with so much more on its diagonal.
Fill shifted(const Fill &fill, PetscInt dof, PetscReal shift) {
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    fill(p, arm, block);
    for (PetscInt r = 0; r < dof && !arm[0] && !arm[1] && !arm[2]; r++) block[r * dof + r] += shift;
  };
}

// Iterations to a residual of 1e-9 by an AIJ's product, which they must reach; transposed or not.
PetscInt iterations_of(const Lattice &l, const Fill &fill, const std::string &options, bool transposed = false) {
  Twins twins(l);
  twins.both([&](DM da, Mat A) {
    set_rows(da, A, fill, Way::stencil, INSERT_VALUES);
    assemble(A);
  });
  Vector             b = random_vector(twins.da, 3), x = make_vector(twins.da), r = make_vector(twins.da);
  KSPConvergedReason reason;
  PetscReal          left, size;
  PetscInt           iterations;
  Options            set("-test_pc_type stencilmg -test_ksp_rtol 1e-10 -test_ksp_max_it 60 " + options);
  Solver             ksp = make_solver(twins.A);
  OK(transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  OK(KSPGetIterationNumber(ksp, &iterations));
  OK(transposed ? MatMultTranspose(twins.aij, x, r) : MatMult(twins.aij, x, r));
  OK(VecAYPX(r, -1, b));
  OK(VecNorm(r, NORM_2, &left));
  OK(VecNorm(b, NORM_2, &size));
  CHECK(left <= 1e-8 * size);
  return iterations;
}

} // namespace

TEST_CASE("rows that their diagonals dominate need no coarser level", "[multigrid]") {
  const Lattice plane = lattice({61, 60, 1}), space = lattice({15, 16, 17}), around = lattice({51, 40, 1}, {periodic}),
                of_two = lattice_for(turning, {41, 40, 1}), of_three = lattice_for(reacting, {40, 41, 1}, {periodic}),
                elastic = lattice_for(elastic_3d, {8, 9, 10});
  const auto weighted = [](const Fill &fill) {
    return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      fill(p, arm, block);
      *block *= 1 + p[0] % 3;
    };
  };
  const struct {
    const char *name;
    Lattice     l;
    Fill        fill;
    PetscReal   shift; // from which on there is one level
  } cases[] = {{"constant", plane, diffusion_fill(plane, Form::constant), 8},
               {"constant in space", space, diffusion_fill(space, Form::constant), 12},
               {"variable", plane, diffusion_fill(plane, Form::arrays), 30},
               {"variable in space", space, diffusion_fill(space, Form::arrays), 50},
               {"weighted", around, weighted(shifted(diffusion_fill(around, Form::arrays), 1, 30)), 0},
               {"convection", around, convection_fill(around, 1e-1, meander, true), 12},
               {"two unknowns", of_two, fill_of(turning, of_two, true), 20},
               {"three unknowns", of_three, fill_of(reacting, of_three, false), 20},
               {"elasticity", elastic, fill_of(elastic_3d, elastic, true), 120}};
  for (const auto &of : cases) {
    INFO(of.name << " " << describe(of.l));
    const Fill     fill = shifted(of.fill, of.l.dof, of.shift);
    Grid           da;
    Matrix         A = captured(of.l, fill, &da);
    Preconditioner pc = make_pc(A, small_last_level);
    const auto     view = view_of(pc);
    CHECK(has(view, "coarser levels are not needed"));
    CHECK(!has(view, "level 1"));
    CHECK(mismatch(pc, da) <= 1e-12);
    CHECK(iterations_of(of.l, fill, "-test_ksp_type gmres") <= 20);
    CHECK(iterations_of(of.l, fill, "-test_ksp_type gmres", true) <= 20);
    CHECK(iterations_of(of.l, fill, "-test_ksp_type richardson") <= 40);
    CHECK(iterations_of(of.l, fill, "-test_ksp_type richardson -test_pc_stencilmg_multiplicative_cycles 2") <= 20);
    CHECK(iterations_of(of.l, fill, "-test_ksp_type richardson -test_pc_stencilmg_fused 0") <= 40);
    if (of.l.dof == 1)
      CHECK(iterations_of(of.l, fill, "-test_ksp_type fgmres -test_pc_stencilmg_precision single") <= 20);
    // other coefficients on the same grid, and back
    OK(MatShift(A, -of.shift));
    OK(PCSetUp(pc));
    if (of.shift > 0) CHECK(has(view_of(pc), "level 1"));
    CHECK(mismatch(pc, da) <= 1e-12);
    OK(MatShift(A, of.shift));
    OK(PCSetUp(pc));
    CHECK(mismatch(pc, da) <= 1e-12);
  }
}

TEST_CASE("a cycle reduces the residual tenfold however much diagonals dominate", "[multigrid]") {
  const Lattice plane = lattice({61, 60, 1}), space = lattice({15, 16, 17}), of_two = lattice_for(turning, {41, 40, 1});
  const struct {
    const char *name;
    Lattice     l;
    Fill        fill;
    PetscReal   largest; // entry of the diagonal
    bool        any;     // also where there are coarser levels
  } cases[] = {{"constant", plane, diffusion_fill(plane, Form::constant), 4, true},
               {"constant in space", space, diffusion_fill(space, Form::constant), 6, true},
               {"variable", plane, diffusion_fill(plane, Form::arrays), 10, true},
               {"variable in space", space, diffusion_fill(space, Form::arrays), 15, true},
               {"convection", plane, convection_fill(plane, 1e-1, meander, true), 4, false},
               {"two unknowns", of_two, fill_of(turning, of_two, true), 5, false}};
  int number = 0;
  for (const auto &of : cases) {
    if (sanitized && !in_turn(number++)) continue;
    int alone = 0, all = 0;
    for (PetscReal part : {0.02, 0.1, 0.15, 0.3, 0.4, 0.5, 0.7, 0.9, 1.2, 1.5, 2., 3., 5., 10.}) {
      INFO(of.name << ", shift " << part * of.largest);
      Grid           da;
      Matrix         A = captured(of.l, shifted(of.fill, of.l.dof, part * of.largest), &da);
      Preconditioner pc = make_pc(A, small_last_level);
      const bool     one = !has(view_of(pc), "level 1");
      alone += one, all++;
      if (one || of.any) CHECK(worst_reduction(A, pc, da, 6) <= 0.1);
    }
    CHECK((alone > 0 && alone < all)); // both kinds are among them
  }
}

TEST_CASE("full multigrid over rows that their diagonals dominate leaves a hundredth", "[multigrid]") {
  const Lattice l = lattice({61, 60, 1});
  const Fill    fill = shifted(diffusion_fill(l, Form::arrays), 1, 60);
  CHECK(iterations_of(l, fill, "-test_ksp_type richardson -test_pc_stencilmg_type full") <= 6);
}

TEST_CASE("on one rank's host a line of points is solved by elimination", "[multigrid]") {
  const Lattice line = lattice({400, 1, 1}), ring = lattice({401, 1, 1}, {periodic}), column = lattice({1, 300, 1}),
                box = lattice({350, 1, 1}, {}, DMDA_STENCIL_BOX);
  const auto insulated = [](const Lattice &l) { // weighted and singular
    return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      const auto edge = [&](PetscInt i) -> PetscReal {
        const bool none = l.ends[0] != DM_BOUNDARY_PERIODIC && (i == 0 || i == l.N[0]);
        return none ? 0 : 1 + (PetscReal)(i % l.N[0] % 7);
      };
      const PetscReal weight = 1 + p[0] % 3, lower = edge(p[0]), upper = edge(p[0] + 1);
      *block = weight * (arm[0] == 0 ? lower + upper : arm[0] < 0 ? -lower : -upper);
    };
  };
  const auto indefinite = [](const PetscInt *, const PetscInt arm[3], PetscScalar *block) {
    *block = arm[0] || arm[1] ? -1 : 1.7;
  };
  const struct {
    const char *name;
    Lattice     l;
    Fill        fill;
  } cases[] = {{"diffusion", line, diffusion_fill(line, Form::arrays)},
               {"constant", line, diffusion_fill(line, Form::constant)},
               {"around", ring, shifted(diffusion_fill(ring, Form::arrays), 1, 1e-3)},
               {"constant around", ring, shifted(diffusion_fill(ring, Form::constant), 1, 1e-3)},
               {"along y", column, diffusion_fill(column, Form::arrays)},
               {"in a box", box, diffusion_fill(box, Form::arrays)},
               {"convection", line, convection_fill(line, 1e-4, meander, true)},
               {"convection around", ring, shifted(convection_fill(ring, 1e-4, meander, true), 1, 1e-3)},
               {"central differences", line, convection_fill(line, 1e-3, meander, false)},
               {"random", ring, random_fill(ring, Form::arrays, 5)},
               {"negative", line,
                [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
                  diffusion_fill(line, Form::arrays)(p, arm, block);
                  *block = -*block;
                }},
               {"indefinite", line, indefinite}};
  for (const auto &of : cases) {
    INFO(of.name << " " << describe(of.l));
    Grid da;
    if (!try_make_grid(of.l, &da)) continue;
    const PetscInt most = rank_count() > 1 || makes_cuda_vectors(da) ? 60 : 2;
    if (of.name == std::string("indefinite") && most > 2) continue;
    CHECK(iterations_of(of.l, of.fill, "-test_ksp_type gmres") <= most);
    CHECK(iterations_of(of.l, of.fill, "-test_ksp_type gmres", true) <= most);
    Matrix         A = captured(da, of.fill);
    Preconditioner pc = make_pc(A, "-test_pc_stencilmg_multiplicative_cycles 2");
    CHECK(mismatch(pc, da) <= 1e-12);
    if (of.name == std::string("indefinite")) continue;
    pc = make_pc(A, "-test_pc_stencilmg_levels 3"); // which asks for levels
    CHECK(!has(view_of(pc), "LU factors"));
    CHECK(mismatch(pc, da) <= 1e-12);
  }
  for (const Lattice &l : {line, ring}) { // with constants in the null space
    INFO(describe(l));
    Grid           da;
    Matrix         A = captured(l, insulated(l), &da);
    Preconditioner pc = make_pc(A);
    Vector         u = random_vector(da, 1), b = make_vector(da), x = make_vector(da), r = make_vector(da);
    CHECK(mismatch(pc, da) <= 1e-12);
    OK(MatMult(A, u, b));
    OK(PCApply(pc, b, x));
    OK(MatResidual(A, b, x, r));
    if (rank_count() == 1 && !makes_cuda_vectors(da)) CHECK(difference(r, b) >= 1 - 1e-9); // nothing is left of b
  }
}

TEST_CASE("cycles log as many operations as PCMG's on the same levels do", "[multigrid]") {
  const auto counted = [](DM da, Mat A, const std::string &options) {
    Options              set(options);
    Owned<PC, PCDestroy> pc;
    Vector               b = random_vector(da, 1), x = make_vector(da);
    PetscLogDouble       before, after;
    OK(PCCreate(PETSC_COMM_WORLD, &pc));
    OK(PCSetOptionsPrefix(pc, "test_"));
    OK(PCSetDM(pc, da));
    OK(PCSetOperators(pc, A, A));
    OK(PCSetFromOptions(pc));
    OK(PCSetUp(pc));
    OK(PCApply(pc, b, x));
    OK(PetscGetFlops(&before));
    OK(PCApply(pc, b, x));
    OK(PetscGetFlops(&after));
    after -= before;
    MPI_Allreduce(MPI_IN_PLACE, &after, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
    return after;
  };
  const Lattice plane = lattice({129, 129, 1}), box = lattice({129, 129, 1}, {}, DMDA_STENCIL_BOX),
                space = lattice({33, 33, 33}), of_two = lattice_for(turning, {129, 129, 1});
  const struct {
    const char *name;
    Lattice     l;
    Fill        fill;
    const char *smoother;
    int         levels;
  } cases[] = {
      {"constant", plane, diffusion_fill(plane, Form::constant), "jacobi -test_mg_levels_ksp_max_it 3", 3},
      {"variable", plane, diffusion_fill(plane, Form::arrays), "jacobi -test_mg_levels_ksp_max_it 3", 5},
      {"variable in space", space, diffusion_fill(space, Form::arrays), "jacobi -test_mg_levels_ksp_max_it 4", 4},
      {"a box", box, random_fill(box, Form::arrays, 3), "jacobi -test_mg_levels_ksp_max_it 3", 5},
      {"two unknowns", of_two, fill_of(turning, of_two, false), "pbjacobi -test_mg_levels_ksp_max_it 3", 5}};
  if (rank_count() > 1) return; // on several ranks, all of them compute the small levels
  for (const auto &of : cases)
    for (const char *cycle : {"v", "w", "full"}) {
      INFO(of.name << ", " << cycle);
      const bool full = cycle == std::string("full");
      const Fill fill = of.name == std::string("a box") ? diffusion_fill(of.l, Form::arrays) : of.fill;
      Grid       da, aij_da;
      Matrix     A = captured(of.l, fill, &da), aij;
      REQUIRE(try_make_grid(of.l, &aij_da));
      OK(DMCreateMatrix(aij_da, &aij));
      set_rows(aij_da, aij, fill, Way::stencil, INSERT_VALUES);
      assemble(aij);
      const auto ours = counted(da, A,
                                std::string("-test_pc_type stencilmg -test_pc_stencilmg_cycle_type ") +
                                    (full ? "v" : cycle) + (full ? " -test_pc_stencilmg_type full" : "") +
                                    " -test_pc_stencilmg_smoother chebyshev" + small_last_level),
                 theirs = counted(
                     aij_da, aij,
                     std::string("-test_pc_type mg -test_pc_mg_galerkin both -test_mg_levels_ksp_type richardson "
                                 "-test_mg_levels_ksp_norm_type none -test_mg_coarse_pc_type lu "
                                 "-test_mg_levels_pc_type ") +
                         of.smoother + " -test_pc_mg_levels " + std::to_string(of.levels) +
                         (full ? " -test_pc_mg_type full" : std::string(" -test_pc_mg_cycle_type ") + cycle));
      INFO(ours << " and " << theirs);
      CHECK(ours <= 1.6 * theirs);
      CHECK(theirs <= 1.6 * ours);
    }
}
