// Exact solves by stencilfft: every combination of ends, sizes and ranks beside matrices assembled without the library.

#include <limits>

#include "catch.hpp"
#include "separable.hpp"

PETSC_EXTERN PetscErrorCode PetscObjectStateGet(PetscObject, PetscObjectState *); // some releases declare it privately

using namespace tests;
using namespace tests::separable;

namespace {

PetscReal bound(Vec x) {
  PetscInt N;
  OK(VecGetSize(x, &N));
  return 20 * PETSC_MACHINE_EPSILON * PetscLogReal((PetscReal)PetscMax(N, 3));
}

// The same in single precision.
void check_single(PC pc, Mat aij, Vec b, Vec x) {
  OK(PCStencilFFTSetPrecision(pc, PC_STENCILFFT_SINGLE));
  OK(PCApply(pc, b, x));
  CHECK(backward_error(aij, b, x) <= bound(x) / PETSC_MACHINE_EPSILON * std::numeric_limits<float>::epsilon());
}

void check(const Case &c, const Lattice &lattice) {
  INFO(c.text());
  Grid da;
  if (!try_make_grid(lattice, &da)) return;
  Matrix         aij = assembled(da, c.fill()), A = captured(da, c.fill());
  Vector         u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
  Preconditioner pc = make_pc(A, "", PCSTENCILFFT);
  OK(MatMult(aij, u, b));
  OK(PCApply(pc, b, x));
  CHECK(backward_error(aij, b, x) <= bound(x));
  const PetscReal sigma = PetscRealPart(c.sigma), condition = sigma > 0 ? PetscMax(1, 1 / sigma) : 1; // small grids
  if (sigma >= 0 && !c.singular()) CHECK(difference(x, u) <= 1000 * condition * bound(x));
  check_single(pc, aij, b, x);
}
void check(const Case &c) {
  check(c, c.lattice());
}

} // namespace

#if defined(PETSC_USE_COMPLEX)
const PetscScalar damped(-0.7, 0.4);
#else
const PetscScalar damped = -0.7;
#endif

TEST_CASE("stencilfft inverts operators on lines with all ends", "[direct]") {
  int combination = 0;
  for (int ends = 0; ends < 27; ends++)
    for (PetscInt N : {1, 2, 3, 4, 7, 8, 13})
      for (PetscScalar sigma : {PetscScalar(0), PetscScalar(1.5), damped}) {
        Case c;
        c.axis[0] = rows(ends, N, 3);
        c.sigma = sigma;
        if (in_turn(combination++)) check(c);
      }
}

TEST_CASE("stencilfft inverts operators in two and three dimensions with all ends", "[direct]") {
  const PetscInt sizes[] = {5, 8, 6, 7, 3, 1, 11, 2};
  int            combination = 0;
  for (int dim = 2; dim <= 3; dim++)
    for (int ends = 0; ends < 27; ends++)
      for (int shift = 0; shift < 6; shift++, combination++) {
        Case c;
        c.dim = dim;
        for (int a = 0; a < dim; a++) {
          c.axis[a] = rows((ends * (1 + a) + 5 * shift * a) % 27, sizes[(combination + 3 * a) % 8], 1 + 10 * a);
          c.axis[a].stretched = combination % 5 == a + 1;
        }
        c.sigma = shift % 3 == 0 ? PetscScalar(0) : shift % 3 == 1 ? PetscScalar(2.5) : 10 * damped;
        if (in_turn(combination)) check(c);
      }
}

TEST_CASE("stencilfft inverts on longer axes, of odd, even and prime numbers of points", "[direct]") {
  for (const Point &N : {Point{127, 128, 1}, Point{101, 97, 1}, Point{64, 1, 1}, Point{31, 29, 32}})
    for (int ends : {0, 12, 2, 18, 25})
      for (bool stretched : {false, true}) {
        Case c;
        c.dim = N[2] > 1 ? 3 : N[1] > 1 ? 2 : 1;
        for (int a = 0; a < c.dim; a++) c.axis[a] = rows((ends + 3 * a) % 26, N[(size_t)a], 1);
        c.axis[0].stretched = stretched;
        c.sigma = 0.25;
        check(c);
        c.sigma = 3 * damped;
        check(c);
      }
}

TEST_CASE("stencilfft keeps the digits of solutions where spacings have many sizes", "[direct]") {
  for (int dim = 2; dim <= 3; dim++) {
    Case c;
    c.dim = dim;
    for (int a = 0; a < dim; a++) c.axis[a] = rows(2, dim == 2 ? 60 : 18, 1), c.axis[a].ratio = dim == 2 ? 1.3 : 2;
    check(c); // zero at the fine end, without flux at the other
  }
}

TEST_CASE("stencilfft eliminates along lines in pieces", "[direct]") { // on a GPU of large grids, between ranks of all
  Grid any;
  int  combination = 0;
  REQUIRE(try_make_grid(Lattice{}, &any));
  const bool large = makes_cuda_vectors(any);
  for (const auto &[N, along] : {std::pair{Point{29, 31, 1}, 1}, {Point{31, 29, 1}, 0}, {Point{9, 8, 11}, 2}})
    for (int ends : {0, 12, 16, 25}) // the last ones are periodic
      for (PetscScalar sigma : {PetscScalar(0), PetscScalar(1e-9), PetscScalar(0.5)}) {
        Case c;
        c.dim = N[2] > 1 ? 3 : 2;
        for (int a = 0; a < c.dim; a++)
          c.axis[a] = rows(a == along ? ends : 25, (!large ? 1 : c.dim == 2 ? 31 : 9) * N[(size_t)a], 1);
        c.axis[along].stretched = combination++ % 3 > 0;
        c.sigma = sigma;
        Lattice lattice = c.lattice();
        for (int a = 0; a < 3; a++)
          if (a != along) lattice.ranks[a] = 1;
        check(c, lattice);
      }
}

TEST_CASE("stencilfft inverts laplace and helmholtz with all boundary forms", "[direct]") {
  const PetscInt N[3] = {6, 5, 4};
  for (int dim = 1; dim <= 3; dim++)
    for_each_problem(dim, N, [&](const Problem &of, DM da) {
      Problem p = of;
      p.sigma = 7;
      INFO(describe(p));
      Matrix A = make_operator(p, da), aij = make_reference(p, da);
      Vector u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
      OK(MatMult(aij, u, b));
      Preconditioner pc = make_pc(A, "", PCSTENCILFFT);
      OK(PCApply(pc, b, x));
      CHECK(backward_error(aij, b, x) <= bound(x));
      CHECK(difference(x, u) <= 100 * bound(x));
    });
}

TEST_CASE("a transposed application is that of the transposed inverse", "[direct]") {
  int number = 0;
  for (int first : {0, 6, 13, 23, 25, 26}) // ends, and identity rows
    for (int stretched = 0; stretched < 2; stretched++) {
      Case c;
      c.dim = 2;
      c.axis[0] = rows(first, 9, 1);
      c.axis[1] = rows(number++, 8, 2);
      c.axis[1].stretched = stretched;
      c.sigma = number % 3 ? 0 : -7;
      INFO(c.text());
      Grid da;
      if (!try_make_grid(c.lattice(), &da)) continue;
      Matrix         A = captured(da, c.fill()), aij = assembled(da, c.fill());
      Vector         u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
      Preconditioner pc = make_pc(A, "", PCSTENCILFFT);
      OK(MatMultTranspose(aij, u, b));
      OK(PCApplyTranspose(pc, b, x));
      OK(MatMultTranspose(aij, x, u)); // a singular matrix has other solutions
      CHECK(difference(u, b) <= 1e-11);
    }
}

TEST_CASE("stencilfft projects the null space of a singular matrix", "[direct]") {
  int combination = 0;
  for (int first : {12, 18, 13, 25}) // without flux, periodic
    for (int second : {12, 25})
      for (int stretched = -1; stretched < 2; stretched++, combination++) {
        Case c;
        c.dim = 2;
        c.axis[0] = rows(first, 9, 1);
        c.axis[1] = rows(second, 8, 2);
        if (stretched >= 0) c.axis[stretched].stretched = true;
        INFO(c.text());
        Grid da;
        if (!try_make_grid(c.lattice(), &da)) continue;
        Matrix         aij = assembled(da, c.fill()), A = captured(da, c.fill());
        Vector         u = random_vector(da, 1), b = make_vector(da), x = make_vector(da), y = make_vector(da);
        Preconditioner pc = make_pc(A, "", PCSTENCILFFT);
        OK(MatMult(aij, u, b));
        OK(PCApply(pc, b, x));
        CHECK(backward_error(aij, b, x) <= bound(x));
        // solutions differ by a constant; what is beyond the range makes none
        OK(VecAXPY(u, -1, x));
        PetscReal low, high;
        OK(VecMin(u, NULL, &low));
        OK(VecMax(u, NULL, &high));
        CHECK(high - low <= 1000 * bound(x));
        OK(VecSet(b, 1));
        OK(PCApply(pc, b, y));
        PetscReal size;
        OK(VecNorm(y, NORM_INFINITY, &size));
        CHECK(size <= 1000 * bound(x));
      }
}

TEST_CASE("stencilfft solves indefinite Helmholtz problems at once", "[direct]") {
  Problem p = problem(2, 60, 47);
  for (PetscReal k2 : {100., 1000., 4000.}) {
    p.sigma = -k2;
    Grid               da = make_grid(p);
    Matrix             A = make_operator(p, da), aij = make_reference(p, da);
    Vector             b = random_vector(da, 3), x = make_vector(da);
    PetscInt           its;
    KSPConvergedReason reason;
    Options            set("-test_ksp_type gmres -test_pc_type stencilfft -test_ksp_rtol 1e-10");
    OK(solve(A, b, x, &its, &reason));
    CHECK(reason > 0);
    CHECK(its <= 2);
    CHECK(backward_error(aij, b, x) <= bound(x));
  }
}

TEST_CASE("stencilfft sees each change of its matrix", "[direct]") {
  Case c;
  c.dim = 2;
  c.axis[0] = rows(2, 12, 1);
  c.axis[1] = rows(25, 9, 3);
  c.sigma = 1;
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  Matrix     A = captured(da, c.fill());
  Vector     u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
  Solver     ksp = make_solver(A, "-test_ksp_type preonly -test_pc_type stencilfft");
  const auto right = [&]() {
    OK(MatMult(A, u, b));
    OK(KSPSolve(ksp, b, x));
    return difference(x, u) <= 1000 * bound(x);
  };
  CHECK(right());
  OK(MatScale(A, 3));
  CHECK(right());
  OK(MatShift(A, 5));
  CHECK(right());
  OK(MatZeroEntries(A));
  c.axis[0] = rows(13, 12, 7);
  set_rows(da, A, c.fill(), Way::stencil, INSERT_VALUES);
  assemble(A);
  CHECK(right());

  Problem p = problem(2, 12, 9);
  Grid    grid = make_grid(p);
  A = Matrix();
  ksp = Solver();
  p.sigma = 2;
  A = make_operator(p, grid);
  ksp = make_solver(A, "-test_ksp_type preonly -test_pc_type stencilfft");
  u = random_vector(grid, 1), b = make_vector(grid), x = make_vector(grid);
  CHECK(right());
  OK(MatHelmholtzSetShift(A, -300));
  CHECK(right());
}

TEST_CASE("stencilfft refuses what it cannot invert, and says what can", "[direct][errors]") {
  const auto set_up = [](Mat A, PCType type = PCSTENCILFFT) { return set_up_of(A, type); };
  Problem    p = problem(2, 40, 30);
  Grid       da = make_grid(p);
  Matrix     aij = make_reference(p, da);
  const auto on_grid = [&](const Lattice &l, const Fill &fill) {
    Grid grid;
    REQUIRE(try_make_grid(l, &grid));
    return captured(grid, fill);
  };
  Lattice star = lattice({20, 21, 1}), two = star;
  two.dof = 2;
  Matrix variable = on_grid(star, diffusion_fill(star, Form::arrays)),
         systems = on_grid(two, diffusion_fill(two, Form::constant));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"-pc_type stencilfft", "aij", "-dm_mat_type stencil"}), set_up(aij));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencilfft", "not one sum", "use -pc_type stencilmg", "_approximate"}),
               set_up(variable));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencilfft", "2 unknowns", "use -pc_type stencilmg"}), set_up(systems));
  CHECK(set_up(variable, PCSTENCILMG)() == 0);
  Matrix blocks;
  OK(MatConvert(aij, MATBAIJ, MAT_INITIAL_MATRIX, &blocks));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({"baij", "-dm_mat_type stencil"}), set_up(blocks));
  CHECK(error_problem(PETSC_ERR_ARG_WRONG, {"gamg"}, set_up(blocks)) != ""); // it takes AIJ only
  const auto with_end = [&](PetscReal end) { // at the lower end of x, a diagonal of its own
    return on_grid(star, [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      const bool center = !arm[0] && !arm[1] && !arm[2];
      *block = center ? (p[0] ? 4 : end) : -1;
    });
  };
  CHECK(set_up(with_end(4.5))() == 0);
  Matrix low = with_end(2.5);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencilfft", "end whose coefficient", "_approximate"}), set_up(low));
  Matrix one_end = on_grid(star, [](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const bool center = !arm[0] && !arm[1] && !arm[2];
    *block = p[0] == 0 ? (center ? 1 : 0) : center ? 4 : -1;
  });
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencilfft", "identity rows at one end", "use -pc_type stencilmg"}), set_up(one_end));
  // a shift that cancels an eigenvalue of both axes' first modes
  Case c;
  c.dim = 2;
  c.axis[0] = rows(0, 12, 1);
  c.axis[1] = rows(0, 9, 1);
  const PetscReal sine[] = {PetscSinReal(PETSC_PI / 26), PetscSinReal(PETSC_PI / 20)};
  c.sigma = -4 * (sine[0] * sine[0] + sine[1] * sine[1]);
  Matrix singular = on_grid(c.lattice(), c.fill());
  EXPECT_ERROR(PETSC_ERR_MAT_LU_ZRPVT, ({"stencilfft", "singular", "MatSetNullSpace"}), set_up(singular));
  EXPECT_ERROR(PETSC_ERR_MAT_LU_ZRPVT, ({"-pc_type stencil:", "singular"}), set_up(singular, PCSTENCIL));
}

TEST_CASE("stencilfft preconditions other operators by their means", "[direct]") {
  PetscInt before = 0;
  for (PetscInt N : {20, 40, 80}) {
    Lattice            l = lattice({N, N + 1, 1});
    Grid               da;
    PetscInt           its;
    KSPConvergedReason reason;
    REQUIRE(try_make_grid(l, &da));
    Matrix  A = captured(da, [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      PetscReal  sum = 0;
      const auto a = [&](int axis, int step) { // between the points
        const PetscReal x = (p[0] + (axis == 0 ? step * 0.5 : 0)) / N, y = (p[1] + (axis == 1 ? step * 0.5 : 0)) / N;
        return 1 + PetscReal(0.5) * PetscSinReal(3 * x) * PetscCosReal(5 * y);
      };
      for (int axis = 0; axis < 2; axis++)
        for (int step : {-1, 1}) sum += a(axis, step);
      *block = arm[0] ? -a(0, (int)arm[0]) : arm[1] ? -a(1, (int)arm[1]) : sum;
    });
    Vector  b = random_vector(da, 2), x = make_vector(da);
    Options set("-test_ksp_type cg -test_pc_type stencilfft -test_pc_stencilfft_approximate -test_ksp_rtol 1e-8");
    OK(solve(A, b, x, &its, &reason));
    INFO(N << " points a side, " << its << " iterations");
    CHECK(reason > 0);
    CHECK(its <= 16);
    CHECK(relative_residual(A, b, x) <= 1e-6);
    if (before) CHECK(its <= before + 2);
    before = its;
  }
}

TEST_CASE("stencilfft preconditions regular operators whose means are singular", "[direct]") {
  for (int what = 0; what < 4; what++)
    for (PetscInt N : {2, 9}) {
      Lattice            l = lattice({N, N + 1, 1});
      Grid               da;
      PetscInt           its;
      KSPConvergedReason reason;
      REQUIRE(try_make_grid(l, &da));
      Matrix A = captured(da, [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
        const auto diagonal = (PetscReal)(3 + (p[0] + 2 * p[1]) % 5);
        *block = arm[0] || arm[1] ? 0 : diagonal;
        if (what == 3) *block = arm[0] || arm[1] ? -diagonal / 8 : diagonal; // not symmetric
        if (what == 0 || what == 3) return;
        const auto k = [&](int a, int step) { // without flux at the ends
          const PetscInt edge = p[a] + (step > 0), other = p[1 - a];
          return edge == 0 || edge == l.N[a] ? 0 : (what == 1 ? 1 : (PetscReal)(1 + (edge + 2 * other) % 3));
        };
        *block = -(arm[0] ? k(0, (int)arm[0]) : arm[1] ? k(1, (int)arm[1]) : 0);
        if (!arm[0] && !arm[1]) *block = k(0, -1) + k(0, 1) + k(1, -1) + k(1, 1);
        if (p[0] == N / 2 && p[1] == N / 2) *block = arm[0] || arm[1] ? 0 : 1; // one value is given
      });
      Vector b = random_vector(da, 2), x = make_vector(da);
      INFO(what << ", " << N << " points a side");
      for (const char *side : {"left", "right"}) {
        Options set(
            "-test_ksp_type gmres -test_pc_type stencilfft -test_pc_stencilfft_approximate -test_ksp_rtol 1e-10 "
            "-test_ksp_pc_side " +
            std::string(side));
        OK(VecSet(x, 0));
        OK(solve(A, b, x, &its, &reason));
        CHECK(reason > 0);
        CHECK(relative_residual(A, b, x) <= 1e-7);
        CHECK(its <= 25);
      }
    }
}

TEST_CASE("stencilfft preconditions sums over the axes that it cannot invert", "[direct]") {
  Lattice l = lattice({60, 61, 1});
  Grid    da;
  REQUIRE(try_make_grid(l, &da));
  Matrix A = captured(da, [](const PetscInt[3], const PetscInt arm[3], PetscScalar *block) { // weights of 1 to 2^59
    const PetscInt step = arm[0] + arm[1];
    *block = step < 0 ? -1 : step > 0 ? -2 : 6.5;
  });
  Vector b = random_vector(da, 2), x = make_vector(da);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"stencilfft", "weights of a wide range"}), set_up_of(A, PCSTENCILFFT));
  PetscInt           its;
  KSPConvergedReason reason;
  Options            set("-test_ksp_type fgmres -test_pc_type stencilfft -test_pc_stencilfft_approximate");
  OK(solve(A, b, x, &its, &reason));
  CHECK(reason > 0);
  CHECK(relative_residual(A, b, x) <= 1e-4);
}

TEST_CASE("stencilfft shows the way of each axis", "[direct]") {
  Case c;
  c.dim = 2;
  c.axis[0] = rows(12, 20, 1);
  c.axis[1] = rows(0, 21, 1);
  c.axis[1].stretched = true;
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  Matrix            A = captured(da, c.fill());
  Preconditioner    pc = make_pc(A, "", PCSTENCILFFT);
  const std::string text = printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
  INFO(text);
  const auto shows = [&](const char *what) { return everywhere(text.find(what) != std::string::npos); };
  CHECK(shows("type: stencilfft"));
  CHECK(shows("in double precision"));
  CHECK(shows("20 points: "));
  CHECK(shows("21 points: tridiagonal systems"));
}

TEST_CASE("the type stencil takes transforms where they serve, and multigrid elsewhere", "[direct]") {
  Case c;
  c.dim = 2;
  c.axis[0] = rows(12, 40, 1);
  c.axis[1] = rows(0, 33, 1);
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  Matrix     A = captured(da, c.fill());
  Vector     u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
  Solver     ksp = make_solver(A, "-test_ksp_type gmres -test_ksp_rtol 1e-11 -test_pc_type stencil "
                                      "-test_pc_stencilmg_smooths 2 -test_ksp_error_if_not_converged");
  const auto takes = [&](const Fill &fill, const char *type, PetscInt most) { // solves, too
    PC       pc;
    PetscInt its;
    OK(MatZeroEntries(A));
    set_rows(da, A, fill, Way::stencil, INSERT_VALUES);
    assemble(A);
    Matrix aij = assembled(da, fill);
    OK(MatMult(aij, u, b));
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetIterationNumber(ksp, &its));
    OK(KSPGetPC(ksp, &pc));
    const std::string text = printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
    INFO(text << its << " iterations");
    CHECK(everywhere(text.find("type: stencil\n") != std::string::npos));
    CHECK(everywhere(text.find(type) != std::string::npos));
    CHECK(its <= most);
    CHECK(relative_residual(aij, b, x) <= 1e-10);
  };
  const auto variable = [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    PetscScalar k[5] = {}; // symmetric: of faces
    const auto  at = [](PetscInt i, PetscInt j) { return PetscReal(1) + PetscReal((3 * i + 5 * j) % 7) / 7; };
    k[0] = at(p[0], 2 * p[1]), k[1] = at(p[0] + 1, 2 * p[1]), k[2] = at(p[0], 2 * p[1] + 1), k[3] = at(p[0], 2 * p[1] - 1);
    for (int n = 0; n < 4; n++) k[4] += k[n];
    *block = arm[0] ? -k[arm[0] > 0] : arm[1] ? -k[arm[1] > 0 ? 2 : 3] : k[4] + PetscScalar(0.1);
  };
  takes(c.fill(), "stencilfft", 2);
  takes(variable, "stencilmg", 25);
  const auto approximate = [&](PetscBool flag, const char *type) { // the matrix stays
    PC               pc;
    PetscObjectState before, after;
    OK(KSPGetPC(ksp, &pc));
    OK(PetscObjectStateGet((PetscObject)(Mat)A, &before));
    OK(PCStencilFFTSetApproximate(pc, flag));
    OK(KSPSolve(ksp, b, x));
    OK(PetscObjectStateGet((PetscObject)(Mat)A, &after));
    CHECK(after == before);
    const std::string text = printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
    INFO(text);
    CHECK(everywhere(text.find(type) != std::string::npos));
  };
  approximate(PETSC_TRUE, "mean coefficients");
  approximate(PETSC_FALSE, "stencilmg");
  takes(c.fill(), "stencilfft", 2);
  c.sigma = -3; // indefinite
  takes(c.fill(), "stencilfft", 2);
  c.sigma = 0;
  c.axis[1].stretched = true;
  takes(c.fill(), "tridiagonal", 2);

  Case large; // eigenvectors of one axis would take longer
  large.dim = 2;
  large.axis[0] = rows(24, 900, 1), large.axis[1] = rows(24, 901, 1); // Robin
  da = Grid();
  REQUIRE(try_make_grid(large.lattice(), &da));
  A = captured(da, large.fill());
  const std::string text = printed([&]() { OK(PCView(make_pc(A, "", PCSTENCIL), PETSC_VIEWER_STDOUT_WORLD)); });
  INFO(text);
  CHECK(everywhere(text.find("would need its eigenvectors") != std::string::npos));
}
