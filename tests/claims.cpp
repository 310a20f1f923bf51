// What solvers say about their residuals, compared with residuals of matrices that are assembled without the library.

#include "catch.hpp"

#include <sstream>

#include "media.hpp"
#include "systems.hpp"

using namespace tests;

namespace {

// An operator, and the same as AIJ.
struct Pair {
  std::string name;
  bool        symmetric;
  Grid        da;
  Matrix      A, aij;
};

Pair captured_pair(const char *name, bool symmetric, const Lattice &l, const Fill &fill, bool constants = false) {
  Pair pair = {name, symmetric, {}, {}, {}};
  REQUIRE(try_make_grid(l, &pair.da));
  pair.A = captured(pair.da, fill);
  OK(DMSetMatType(pair.da, MATAIJ));
  OK(DMCreateMatrix(pair.da, &pair.aij));
  set_rows(pair.da, pair.aij, fill, Way::stencil, INSERT_VALUES);
  assemble(pair.aij);
  if (constants) {
    MatNullSpace space;
    OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
    OK(MatSetNullSpace(pair.A, space));
    OK(MatNullSpaceDestroy(&space));
  }
  return pair;
}

Pair formula_pair(const Problem &p) {
  Pair pair = {describe(p), p.symmetric(), make_grid(p), {}, {}};
  pair.A = make_operator(p, pair.da);
  pair.aij = make_reference(p, pair.da);
  return pair;
}

// -Δ, times h², and a reaction that varies from point to point by up to `most`.
Fill nearly_constant(const Lattice &l, PetscReal most) {
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const bool here = !arm[0] && !arm[1] && !arm[2];
    *block = laplacian(arm, l.dim) + (here ? most * (1 + PetscRealPart(random_value(l.natural(p), 5))) / 2 : 0);
  };
}

std::vector<Pair> pairs() {
  std::vector<Pair> all;
  const Lattice     plane = lattice({33, 28, 1}), box = lattice({24, 25, 1}, {}, DMDA_STENCIL_BOX),
                space = lattice({12, 11, 10}), line = lattice({300, 1, 1});
  const auto medium = [&](const Lattice &l, Medium of, MatLaplaceBoundaryType form, PetscScalar sigma) {
    return medium_fill(l, of, form, sigma);
  };
  all.push_back(captured_pair("constant", true, plane, nearly_constant(plane, 0)));
  all.push_back(captured_pair("constant in 3-D", true, space, nearly_constant(space, 0)));
  all.push_back(captured_pair("nearly constant", true, line, nearly_constant(line, 1.9e-10)));
  all.push_back(captured_pair("smooth", true, box, medium(box, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0)));
  all.push_back(captured_pair("blocks", true, plane, medium(plane, Medium::blocks, MAT_LAPLACE_ELIMINATED, 1e-3)));
  all.push_back(captured_pair("blocks in 3-D", false, space, medium(space, Medium::blocks, MAT_LAPLACE_IDENTITY, 0)));
  all.push_back(captured_pair("insulated", true, plane, medium(plane, Medium::smooth, MAT_LAPLACE_NEUMANN, 0), true));
  all.push_back(captured_pair("convection", false, plane, convection_fill(plane, 1e-3, meander, true)));
  all.push_back(
      captured_pair("a negative shift", true, plane, medium(plane, Medium::smooth, MAT_LAPLACE_ELIMINATED, -0.01)));
  for (const Equations &of : {turning, elastic_2d, reacting}) {
    const Lattice l = lattice_for(of, {17, 15, 1});
    all.push_back(captured_pair(of.name, false, l, fill_of(of, l, false)));
  }
  Problem p = problem(2, 31, 30);
  for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN}) {
    p.boundary = form;
    p.sigma = form == MAT_LAPLACE_IDENTITY ? 10 : 0;
    all.push_back(formula_pair(p));
  }
  return all;
}

// The residual's norm relative to the right-hand side's, as the solver measures them.
PetscReal true_residual(KSP ksp, Mat aij, Vec b, Vec x) {
  Vector      r, of_r, of_b;
  PC          pc;
  KSPNormType type;
  PetscBool   cycles;
  PetscReal   size_r, size_b;
  PetscScalar product_r, product_b;

  OK(KSPGetPC(ksp, &pc));
  OK(KSPGetNormType(ksp, &type));
  OK(PetscObjectTypeCompare((PetscObject)ksp, KSPRICHARDSON, &cycles));
  if (cycles) OK(PetscObjectTypeCompare((PetscObject)pc, PCSTENCILMG, &cycles));
  if (cycles) type = KSP_NORM_UNPRECONDITIONED; // as PCMG has it
  for (Vec *v : {&r, &of_r, &of_b}) OK(VecDuplicate(b, v));
  OK(MatMult(aij, x, r));
  OK(VecAYPX(r, -1, b));
  OK(VecNorm(r, NORM_2, &size_r));
  OK(VecNorm(b, NORM_2, &size_b));
  if (type == KSP_NORM_UNPRECONDITIONED) return size_r / size_b;
  OK(PCApply(pc, r, of_r));
  OK(PCApply(pc, b, of_b));
  OK(VecDot(of_r, r, &product_r));
  OK(VecDot(of_b, b, &product_b));
  if (type == KSP_NORM_NATURAL) return PetscSqrtReal(PetscAbsScalar(product_r) / PetscAbsScalar(product_b));
  OK(VecNorm(of_r, NORM_2, &size_r));
  OK(VecNorm(of_b, NORM_2, &size_b));
  return size_r / size_b;
}

// A right-hand side that a singular operator can have.
Vector image(const Pair &of, int seed) {
  Vector b = random_vector(of.da, seed), x = random_vector(of.da, seed + 1);
  OK(MatMult(of.aij, x, b));
  return b;
}

constexpr PetscReal rtol = 1e-8, most_off = 100; // most: what is true, relative to what is claimed

const std::string multigrid = "-test_pc_type stencilmg ", single = "-test_pc_stencilmg_precision single";

} // namespace

TEST_CASE("solvers that claim convergence have converged", "[claims]") {
  const std::string  methods[] = {"cg",
                                  "cg -test_ksp_norm_type unpreconditioned",
                                  "cg -test_ksp_norm_type natural",
                                  "gmres",
                                  "gmres -test_ksp_pc_side right",
                                  "fgmres",
                                  "bcgs",
                                  "bcgs -test_ksp_pc_side right",
                                  "richardson",
                                  "richardson -test_ksp_norm_type unpreconditioned",
                                  "chebyshev"};
  const std::string  preconditioners[] = {multigrid,
                                          multigrid + "-test_pc_stencilmg_cycle_type w",
                                          multigrid + "-test_pc_stencilmg_cycle_type f",
                                          multigrid + "-test_pc_stencilmg_type full",
                                          multigrid + "-test_pc_stencilmg_smooths 1",
                                          multigrid + "-test_pc_stencilmg_multiplicative_cycles 2",
                                          multigrid + "-test_pc_stencilmg_levels 2",
                                          multigrid + single,
                                          "-test_pc_type jacobi",
                                          "-test_pc_type sor",
                                          "-test_pc_type bjacobi"};
  std::ostringstream wrong;
  int                number = 0, converged = 0, solved = 0;
  std::vector<Pair>  all = pairs();

  for (Pair &of : all) {
    PetscInt dof;
    Vector   b = image(of, 3), x = make_vector(of.da);
    OK(MatGetBlockSize(of.aij, &dof));
    for (const std::string &method : methods)
      for (const std::string &preconditioner : preconditioners) {
        const bool is_single = preconditioner == multigrid + single,
                   linear = method[0] == 'g' || method[0] == 'b'; // the method takes the preconditioner for linear
        if (!of.symmetric && method[0] == 'c') continue;
        if (is_single && (dof > 1 || linear)) continue;
        if (!in_turn(number++)) continue;
        Solver ksp =
            make_solver(of.A, preconditioner + " -test_ksp_max_it 60 -test_ksp_rtol 1e-8 -test_ksp_type " + method);
        KSPConvergedReason reason;
        OK(KSPSolve(ksp, b, x));
        OK(KSPGetConvergedReason(ksp, &reason));
        solved++;
        if (reason != KSP_CONVERGED_RTOL && reason != KSP_CONVERGED_ATOL) continue; // PCSOR's iterations claim nothing
        converged++;
        const PetscReal residual = true_residual(ksp, of.aij, b, x);
        if (!(residual <= most_off * rtol))
          wrong << of.name << ", " << method << ", " << preconditioner << ": " << (double)residual << "\n";
      }
  }
  INFO(wrong.str());
  CHECK(wrong.str().empty());
  INFO(converged << " of " << solved);
  CHECK(converged >= 0.6 * solved);
}

TEST_CASE("coefficients that are nearly constant do not make another residual", "[claims]") {
  for (const Lattice &l : {lattice({129, 120, 1}), lattice({1000, 1, 1})})
    for (const char *type : {"multiplicative", "full"}) {
      Pair   of = captured_pair("nearly constant", true, l, nearly_constant(l, 1e-10));
      Vector b = make_vector(of.da), x = make_vector(of.da);
      OK(VecSet(b, 1));
      Solver             ksp = make_solver(of.A, multigrid + "-test_pc_stencilmg_type " + type +
                                                     " -test_ksp_type richardson -test_ksp_rtol 1e-10 "
                                                                 "-test_ksp_norm_type unpreconditioned");
      KSPConvergedReason reason;
      PetscInt           iterations;
      INFO(describe(l) << ", " << type);
      OK(KSPSolve(ksp, b, x));
      OK(KSPGetConvergedReason(ksp, &reason));
      OK(KSPGetIterationNumber(ksp, &iterations));
      CHECK(reason == KSP_CONVERGED_RTOL);
      CHECK(iterations <= 14);
      CHECK(true_residual(ksp, of.aij, b, x) <= 2e-10);
    }
}

TEST_CASE("a reaction that is all that holds the values is not left out, however small", "[claims]") {
  const Lattice l = lattice({40, 30, 1});
  const Fill    insulated = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) { // of unit edges
    const bool here = !arm[0] && !arm[1] && !arm[2];
    PetscReal  edges = 0;
    for (int a = 0; a < 2; a++) edges += (p[a] > 0) + (p[a] < l.N[a] - 1);
    const bool outside = p[0] + arm[0] < 0 || p[0] + arm[0] >= l.N[0] || p[1] + arm[1] < 0 || p[1] + arm[1] >= l.N[1];
    *block = here ? edges + (p[0] < l.N[0] / 3 ? 2e-11 : 0) : outside ? 0 : -1;
  };
  Pair   of = captured_pair("a small reaction", true, l, insulated);
  Vector b = make_vector(of.da), x = make_vector(of.da);
  OK(VecSet(b, 1));
  for (const char *method : {"gmres", "cg", "richardson -test_ksp_norm_type unpreconditioned", "fgmres"}) {
    Solver ksp = make_solver(of.A, multigrid + "-test_ksp_max_it 40 -test_ksp_rtol 1e-4 -test_ksp_type " + method);
    KSPConvergedReason reason;
    INFO(method);
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetConvergedReason(ksp, &reason));
    CHECK(reason > 0);
    CHECK(true_residual(ksp, of.aij, b, x) <= 1e-3);
  }
}

TEST_CASE("levels that follow a matrix whose couplings are nearly the same correct for it", "[claims]") {
  const Lattice l = lattice({129, 120, 1});
  const Fill    fill = medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 1e-3);
  const auto    nearly = [=](PetscReal most) -> Fill { // edges differ by up to this factor
    return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      const bool here = !arm[0] && !arm[1];
      fill(p, arm, block);
      for (const Point &to : l.arms()) {
        PetscInt q[3] = {p[0] + to[0], p[1] + to[1], 0};
        if ((!to[0] && !to[1]) || (!here && (to[0] != arm[0] || to[1] != arm[1]))) continue;
        if (q[0] < 0 || q[0] >= l.N[0] || q[1] < 0 || q[1] >= l.N[1]) continue;
        PetscScalar     edge;
        const PetscReal by = most * PetscRealPart(random_value(l.natural(p), 5) + random_value(l.natural(q), 5)) / 2;
        fill(p, to.data(), &edge);
        *block += (here ? -1 : 1) * edge * by;
      }
    };
  };
  Pair   of = captured_pair("smooth", true, l, fill);
  Vector b = make_vector(of.da), x = make_vector(of.da);
  OK(VecSet(b, 1));
  Solver ksp = make_solver(of.A, multigrid + "-test_ksp_type richardson -test_ksp_rtol 1e-11 "
                                             "-test_ksp_norm_type unpreconditioned");
  for (PetscReal most : {0., 9e-11}) {
    for (Mat M : {(Mat)of.A, (Mat)of.aij}) {
      OK(MatZeroEntries(M));
      set_rows(of.da, M, nearly(most), Way::stencil, INSERT_VALUES);
      assemble(M);
    }
    KSPConvergedReason reason;
    INFO("edges differ by " << most);
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetConvergedReason(ksp, &reason));
    CHECK(reason == KSP_CONVERGED_RTOL);
    CHECK(true_residual(ksp, of.aij, b, x) <= 2e-11);
  }
}

TEST_CASE("methods that take a preconditioner for linear are told that cycles in single precision are not",
          "[claims]") {
  const Lattice l = lattice({65, 60, 1});
  Pair          of = captured_pair("constant", true, l, nearly_constant(l, 0));
  Vector        b = random_vector(of.da, 3), x = make_vector(of.da);
  const auto    solver = [&](const std::string &method) {
    return make_solver(of.A, multigrid + single + " -test_ksp_max_it 40 -test_ksp_type " + method);
  };
  for (const char *method : {"gmres -test_ksp_pc_side right", "bcgs -test_ksp_pc_side right",
                             "cgs -test_ksp_pc_side right", "gmres -test_ksp_rtol 1e-9", "bcgs -test_ksp_rtol 1e-9",
                             "minres -test_ksp_rtol 1e-9", "tfqmr -test_ksp_rtol 1e-9"}) {
    Solver ksp = solver(method);
    INFO(method);
    EXPECT_ERROR(PETSC_ERR_SUP,
                 ({"-pc_stencilmg_precision single", "-ksp_type", "fgmres", "-pc_stencilmg_precision double"}),
                 [&]() { return KSPSolve(ksp, b, x); });
  }
  for (const char *method : {"gmres", "bcgs", "minres", "cg -test_ksp_rtol 1e-10", "fusedcg -test_ksp_rtol 1e-10",
                             "fcg -test_ksp_rtol 1e-10", "fgmres -test_ksp_rtol 1e-10", "gcr -test_ksp_rtol 1e-10",
                             "fbcgs -test_ksp_rtol 1e-10", "qmrcgs -test_ksp_rtol 1e-10",
                             "richardson -test_ksp_rtol 1e-10", "chebyshev -test_ksp_rtol 1e-10"}) {
    Solver             ksp = solver(method);
    KSPConvergedReason reason;
    PetscReal          tolerance;
    INFO(method);
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetConvergedReason(ksp, &reason));
    OK(KSPGetTolerances(ksp, &tolerance, NULL, NULL, NULL));
    CHECK(reason > 0);
    CHECK(true_residual(ksp, of.aij, b, x) <= 10 * tolerance);
  }
}

TEST_CASE("single precision refuses a bad guess for methods that drift, and numbers beyond its range", "[claims]") {
  const Lattice l = lattice({33, 30, 1});
  Pair          of = captured_pair("constant", true, l, nearly_constant(l, 0));
  Vector        b = random_vector(of.da, 3), x = make_vector(of.da);
  const auto    solver = [&](const std::string &options) {
    return make_solver(of.A, multigrid + single + " -test_ksp_rtol 1e-5 -test_ksp_type " + options);
  };
  for (const char *method : {"bcgs", "gmres"}) {
    INFO(method);
    Solver ksp = solver(method + std::string(" -test_ksp_initial_guess_nonzero"));
    OK(VecSet(x, 1e5));
    EXPECT_ERROR(PETSC_ERR_SUP, ({"initial residual", "-ksp_type", "fgmres", "-pc_stencilmg_precision double"}),
                 [&]() { return KSPSolve(ksp, b, x); });
    OK(VecSet(x, 0));
    OK(KSPSolve(ksp, b, x));
    OK(KSPSolve(ksp, b, x)); // from a good guess
    CHECK(true_residual(ksp, of.aij, b, x) <= 1e-4);
  }
  for (const char *method : {"gmres", "cg", "richardson"})
    for (const PetscReal factor : {1e-50, 1e-34, 1e50}) {
      INFO(method << ", " << factor);
      Solver ksp = solver(method);
      Vector of_size = random_vector(of.da, 3);
      OK(VecScale(of_size, factor));
      EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"-pc_stencilmg_precision", "right-hand side", "range", "double"}),
                   [&]() { return KSPSolve(ksp, of_size, x); });
    }
  for (const PetscReal factor : {0., 1e-20, 1e20}) {
    INFO(factor);
    Solver ksp = solver("cg");
    Vector of_size = random_vector(of.da, 3);
    OK(VecScale(of_size, factor));
    OK(KSPSolve(ksp, of_size, x));
    if (factor > 0) CHECK(true_residual(ksp, of.aij, of_size, x) <= 1e-4);
  }
}

TEST_CASE("Richardson's method says whether it has come to its tolerance", "[claims]") {
  const Lattice l = lattice({65, 60, 1});
  Pair          of = captured_pair("constant", true, l, nearly_constant(l, 0));
  Vector        b = random_vector(of.da, 3), x = make_vector(of.da);
  struct {
    const char        *options;
    KSPConvergedReason reason;
    PetscInt           cycles;
  } const cases[] = {
      {" -test_ksp_max_it 2 -test_ksp_rtol 1e-8", KSP_DIVERGED_ITS, 2},
      {" -test_ksp_max_it 2 -test_ksp_rtol 1e-8 -test_pc_stencilmg_precision single", KSP_DIVERGED_ITS, 2},
      {" -test_ksp_max_it 3 -test_ksp_rtol 0.5", KSP_CONVERGED_RTOL, 1},
      {" -test_ksp_max_it 3 -test_ksp_rtol 0.5 -test_ksp_norm_type none", KSP_CONVERGED_ITS, 3}};
  for (const auto &one : cases) {
    Solver ksp = make_solver(of.A, multigrid + small_last_level + " -test_ksp_type richardson" + one.options);
    KSPConvergedReason reason;
    PetscInt           cycles;
    INFO(one.options);
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetConvergedReason(ksp, &reason));
    OK(KSPGetIterationNumber(ksp, &cycles));
    CHECK(reason == one.reason);
    CHECK(cycles == one.cycles);
  }
}
