// Equations as text: the gallery of examples/equations and small texts, for KSP, SNES and TS.

#include "capture/mat.hpp"
#include "catch.hpp"
#include "equations.hpp"

#include <cmath>

using namespace tests;

// The equation of a linear operator, and its right-hand side, against matrices that are assembled without the library.
TEST_CASE("the operator of Poisson's equation is the assembled one in 1-D to 3-D", "[equations][optimised]") {
  if (!equations_work()) return;
  for (int dim = 1; dim <= 3; dim++)
    for (MatLaplaceBoundaryType boundary : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_NEUMANN})
      for (bool periodic : {false, true})
        for (const char *type : {MATAIJ, MATSTENCILSHELL}) {
          Problem p = problem(dim, 7, dim > 1 ? 5 : 1, dim > 2 ? 6 : 1);
          p.boundary = boundary;
          if (periodic) p.ends[0] = DM_BOUNDARY_PERIODIC;
          if (!in_turn(dim + 3 * periodic + 7 * (int)boundary)) continue;
          Grid   da = make_grid(p);
          Matrix A, reference = make_reference(p, da);
          OK(DMSetMatType(da, type));
          set_equation(da, std::string(MatLaplaceBoundaryTypes[boundary]) + "(sides) = 0\nresidual = -laplacian(u)");
          OK(DMDACreateEquationMat(da, &A));
          INFO(describe(p) << " " << type);
          CHECK(difference(A, reference) < exact);
        }
}

TEST_CASE("a text gives the same by every helper and by hand", "[equations][optimised]") {
  if (!equations_work()) return;
  Lattice l;
  l.N[0] = 9, l.N[1] = 8;
  l.shape = DMDA_STENCIL_BOX;
  Grid da;
  OK(make_grid(l, nullptr, &da));
  const TextPairs pairs = {
      {"dx(u) + dy(u)", "(u(1) - u(-1)) / (2 * hx) + (u(0, 1) - u(0, -1)) / (2 * hy)"},
      {"d(k, u)",
       "(2 * k * k(1) / (k + k(1)) * (u(1) - u) - 2 * k * k(-1) / (k + k(-1)) * (u - u(-1))) / (hx * hx)"
       "+ (2 * k * k(0, 1) / (k + k(0, 1)) * (u(0, 1) - u) - 2 * k * k(0, -1) / (k + k(0, -1)) * (u - u(0, -1)))"
       "/ (hy * hy)"},
      {"upwind_x(1 - 2 * y, u)", "y < 0.5 ? (1 - 2 * y) * (u - u(-1)) / hx : (1 - 2 * y) * (u(1) - u) / hx"},
      {"dxy(u) + dxx(u)", "((u(1, 1) - u(-1, 1)) / (2 * hx) - (u(1, -1) - u(-1, -1)) / (2 * hx)) / (2 * hy)"
                          " + (u(1) + u(-1) - 2 * u()) / hx / hx"},
  };
  CHECK(difference_of_texts(da, "identity(sides)\nfield(k) = 1 + x + y * y\nresidual = u", pairs) < 1e-13);
}

// Bratu's equation as snes/ex5 has it: grid with boundary points, its initial guess; rows scaled otherwise, which Newton's
// method does not see.
static PetscErrorCode ex5_function(DMDALocalInfo *info, void *in, void *out, void *) {
  PetscScalar   **u = static_cast<PetscScalar **>(in), **f = static_cast<PetscScalar **>(out);
  const PetscReal hx = 1. / (info->mx - 1), hy = 1. / (info->my - 1);
  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++)
      f[j][i] = i == 0 || j == 0 || i == info->mx - 1 || j == info->my - 1
                    ? u[j][i]
                    : (2 * u[j][i] - u[j][i - 1] - u[j][i + 1]) * hy / hx +
                          (2 * u[j][i] - u[j - 1][i] - u[j + 1][i]) * hx / hy - hx * hy * 6. * PetscExpScalar(u[j][i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("Bratu's equation has the iterations and the solution of an independent program", "[equations][optimised]") {
  if (!equations_work()) return;
  Options  options("-snes_rtol 1e-12 -ksp_rtol 1e-12 -ksp_max_it 1000");
  Grid     da = gallery_grid("bratu.h", 23), plain;
  Vector   u;
  PetscInt its, plain_its;
  OK(solve(da, &u, &its));
  OK(DMClone(da, &plain));
  OK(DMDASNESSetFunctionLocal(plain, INSERT_VALUES, ex5_function, NULL));
  Vector v = make_vector(plain), start;
  OK(DMDAEquationComputeInitial(da, v));
  Owned<SNES, SNESDestroy> snes;
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, plain));
  OK(SNESSetFromOptions(snes)); // its Jacobian by finite differences
  OK(SNESSolve(snes, NULL, v));
  OK(SNESGetIterationNumber(snes, &plain_its));
  CHECK(its == plain_its);
  CHECK(difference(u, v) < 1e-9);
}

TEST_CASE("grid sequencing, PCMG and FAS inherit an equation", "[equations]") {
  if (!equations_work()) return;
  Options  tight("-snes_rtol 1e-10 -ksp_rtol 1e-10");
  Grid     fine = gallery_grid("bratu.h", 33), coarse = gallery_grid("bratu.h", 9);
  Vector   u, v;
  PetscInt its;
  OK(solve(fine, &u, &its));
  {
    Options  sequencing("-snes_grid_sequence 2 -pc_type mg -pc_mg_levels 3");
    PetscInt ksp_its;
    OK(solve(coarse, &v, &its, &ksp_its));
    CHECK(difference(v, u) < 1e-8);
    CHECK(its <= 3);
    CHECK(ksp_its <= 12 * its); // multigrid's convergence
  }
  {
    Options fas("-snes_type fas -fas_levels_snes_type ngs -fas_levels_snes_max_it 3 -snes_fas_levels 3");
    Vector  w;
    OK(solve(fine, &w, &its));
    CHECK(difference(w, u) < 1e-7);
    CHECK(its <= 9);
  }
}

// The solution of the manufactured problem, of second order.
TEST_CASE("solutions of the gallery are of second order", "[equations]") {
  if (!equations_work()) return;
  Options options("-snes_rtol 1e-11 -ksp_rtol 1e-11 -pc_type redundant -snes_max_it 30");
  const struct {
    const char *file;
    PetscInt    N;
  } cases[] = {{"poisson.h", 15},    {"p_laplace.h", 15}, {"nine_point.h", 15}, {"advection_diffusion.h", 16},
               {"biharmonic.h", 15}, {"elasticity.h", 15}};
  int number = 0;
  for (const auto &c : cases) {
    if (!in_turn(number++)) continue;
    PetscReal error[2], h[2];
    for (int refined = 0; refined < 2; refined++) {
      Grid     da = gallery_grid(c.file, refined ? 2 * c.N + (c.N % 2) : c.N);
      Vector   u, e = make_vector(da);
      PetscInt its;
      OK(solve(da, &u, &its));
      OK(DMDAEquationComputeExact(da, 0, e));
      OK(VecAXPY(e, -1, u));
      OK(VecNorm(e, NORM_INFINITY, &error[refined]));
      h[refined] = 1. / (PetscReal)((refined ? 2 * c.N + (c.N % 2) : c.N) + c.N % 2);
    }
    INFO(c.file << ": " << error[0] << " " << error[1]);
    CHECK(std::fabs(std::log(error[0] / error[1]) / std::log(h[0] / h[1]) - 2) < 0.1);
  }
}

// Of sin(3x) exp(y) cos(z) exp(-t), whose derivatives are multiples of itself.
TEST_CASE("a manufactured source is what the differential equation makes of the exact solution", "[equations]") {
  if (!equations_work()) return;
  const struct {
    int         dim;
    PetscInt    width;
    const char *equation, *exact;
    int         source; // so many times the solution, to be added
  } cases[] = {
      {2, 1, "residual = -laplacian(u)", "sin(3*x) * exp(y)", -8},
      {2, 2, "residual = bilaplacian(u)", "sin(3*x) * exp(y)", -64},
      {3, 1, "rate = laplacian(u)", "sin(3*x) * exp(y) * cos(z) * exp(-t)", 8},
  };
  for (const auto &c : cases) {
    Lattice l;
    Vector  f[2];
    l.dim = c.dim, l.width = c.width, l.shape = DMDA_STENCIL_BOX;
    for (int a = 0; a < c.dim; a++) l.N[a] = 9 + a;
    INFO(c.equation);
    for (int by_hand = 0; by_hand < 2; by_hand++) {
      const std::string g = c.exact;
      Grid              da;
      OK(make_grid(l, nullptr, &da));
      set_equation(da, by_hand ? "eliminated(sides) = " + g + "\n" + c.equation + " + " + std::to_string(c.source) +
                                     " * " + g
                               : std::string(c.equation) + "\nexact = " + g);
      Vector u = random_vector(da, 1);
      f[by_hand] = make_vector(da);
      OK(compute_values(da, 0.3, u, f[by_hand]));
    }
    PetscReal error;
    OK(VecAXPY(f[0], -1, f[1]));
    OK(VecNorm(f[0], NORM_INFINITY, &error));
    CHECK(error < 1e-9 * std::abs(c.source));
  }
}

TEST_CASE("a Jacobian is the derivative of its residual or rate", "[equations]") {
  if (!equations_work()) return;
  int number = 0;
  for (const char *file : gallery) {
    if (!in_turn(number++)) continue;
    Grid da = gallery_grid(file, 9);
    INFO(file);
    CHECK(jacobian_difference(da) < 1e-6);
  }
}

// Solutions in time: with small steps, the error is that of the differences in space.
static PetscReal error_in_time(const std::string &file, PetscInt N, const char *type, PetscReal time, PetscInt steps) {
  Grid                 da = gallery_grid(file, N);
  Vector               u = make_vector(da), e = make_vector(da);
  Owned<TS, TSDestroy> ts;
  PetscReal            error;
  OK(DMDAEquationComputeInitial(da, u));
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, da));
  OK(TSSetType(ts, type));
  OK(TSSetMaxTime(ts, time));
  OK(TSSetTimeStep(ts, time / (PetscReal)steps));
  OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  OK(TSSetFromOptions(ts));
  OK(TSSolve(ts, u));
  OK(DMDAEquationComputeExact(da, time, e));
  OK(VecAXPY(e, -1, u));
  OK(VecNorm(e, NORM_INFINITY, &error));
  return error;
}

TEST_CASE("equations in time are of second order, explicitly and implicitly", "[equations]") {
  if (!equations_work()) return;
  Options         options("-ts_adapt_type none -ksp_rtol 1e-8");
  const PetscReal coarse = error_in_time("allen_cahn.h", 7, TSRK, 0.1, 3),
                  fine = error_in_time("allen_cahn.h", 14, TSRK, 0.1, 6),
                  implicit = error_in_time("allen_cahn.h", 7, TSCN, 0.1, 6);
  CHECK(std::fabs(std::log2(coarse / fine) - 2) < 0.1);
  CHECK(std::fabs(implicit / coarse - 1) < 0.05);
  CHECK(std::fabs(std::log2(error_in_time("shallow_water.h", 14, TSRK, 0.1, 7) /
                            error_in_time("shallow_water.h", 28, TSRK, 0.1, 14)) -
                  2) < 0.1);
}

// Gray and Scott's rates by a plain loop over the whole grid.
TEST_CASE("the rates of Gray and Scott's equations are those of a plain loop", "[equations][optimised]") {
  if (!equations_work()) return;
  const PetscInt           N = 12;
  Grid                     da = gallery_grid("gray_scott.h", N);
  Vector                   w = random_vector(da, 1), rate = make_vector(da);
  Owned<TS, TSDestroy>     ts;
  std::vector<PetscScalar> value = natural_values(da, w), found;
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, da));
  OK(TSComputeRHSFunction(ts, 0, w, rate));
  found = natural_values(da, rate);
  const PetscReal Du = 8e-5, Dv = 4e-5, F = 0.024, k = 0.06, h = 2.5 / N;
  PetscReal       worst = 0;
  for (PetscInt j = 0; j < N; j++)
    for (PetscInt i = 0; i < N; i++) {
      const auto at = [&](PetscInt di, PetscInt dj, int c) {
        return PetscRealPart(value[(size_t)(2 * ((i + di + N) % N + N * ((j + dj + N) % N)) + c)]);
      };
      const auto laplacian = [&](int c) {
        return (at(1, 0, c) + at(-1, 0, c) + at(0, 1, c) + at(0, -1, c) - 4 * at(0, 0, c)) / (h * h);
      };
      const PetscReal u = at(0, 0, 0), v = at(0, 0, 1),
                      expected[2] = {Du * laplacian(0) - u * v * v + F * (1 - u),
                                     Dv * laplacian(1) + u * v * v - (F + k) * v};
      for (int c = 0; c < 2; c++)
        worst = PetscMax(worst, PetscAbsReal(PetscRealPart(found[(size_t)(2 * (i + N * j) + c)]) - expected[c]));
    }
  CHECK(worst < 1e-14);
}

TEST_CASE("jumping coefficients: the operator of the type diffusion", "[equations][optimised]") {
  if (!equations_work()) return;
  Grid   da = gallery_grid("diffusion.h", 15), plain;
  Matrix A, reference;
  Vector k, b;
  OK(DMDACreateEquationMat(da, &A));
  Lattice l = lattice_of(da);
  OK(make_grid(l, nullptr, &plain));
  k = make_vector(plain);
  const PetscReal hx = 1. / 16, hy = 1. / 15;
  set_values(plain, k, [&](const PetscInt p[3]) {
    const PetscReal x = (PetscReal)(p[0] + 1) * hx, y = ((PetscReal)p[1] + 0.5) * hy;
    return PetscAbsReal(x - 0.5) < 0.25 && PetscAbsReal(y - 0.5) < 0.25 ? 1000. : 1.;
  });
  Options options("-mat_diffusion_boundary eliminated,eliminated,neumann,neumann");
  OK(MatCreateDiffusion(plain, k, &reference));
  CHECK(difference(reference, A) < 1e-13);
  // the same, from a field that the program sets
  Matrix B;
  set_equation(plain, "field(k)\nneumann(top) = 0\nneumann(bottom) = 0\nresidual = -d(k, u)");
  OK(DMDAEquationSetField(plain, "k", k));
  OK(DMDACreateEquationMat(plain, &B));
  CHECK(difference(reference, B) < 1e-13);
  // smooth, with faces at the ends
  set_values(plain, k, [&](const PetscInt p[3]) { return PetscExpReal((PetscReal)p[0] * hx - (PetscReal)p[1] * hy); });
  Matrix C;
  OK(DMDAEquationSetField(plain, "k", k));
  OK(DMDACreateEquationMat(plain, &C));
  CHECK(difference(reference, C) < 1e-13);
}

TEST_CASE("a linear equation is assembled once, and again after a new parameter", "[equations]") {
  if (!equations_work()) return;
  Lattice                  l;
  Grid                     da;
  Matrix                   J;
  Owned<SNES, SNESDestroy> snes;
  PetscBool                linear;
  PetscReal                norm[3];
  OK(make_grid(l, nullptr, &da));
  set_equation(da, "parameter(sigma, 1)\nresidual = -laplacian(u) + sigma * u - 1");
  OK(DMDAEquationGetLinear(da, &linear));
  CHECK(linear);
  Vector u = random_vector(da, 1);
  OK(DMCreateMatrix(da, &J));
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, da));
  OK(SNESSetJacobian(snes, J, J, NULL, NULL));
  OK(SNESComputeJacobian(snes, u, J, J));
  OK(MatNorm(J, NORM_INFINITY, &norm[0]));
  OK(MatScale(J, 2)); // a change from outside is seen
  OK(SNESComputeJacobian(snes, u, J, J));
  OK(MatNorm(J, NORM_INFINITY, &norm[1]));
  OK(DMDAEquationSetParameter(da, "sigma", 11));
  OK(SNESComputeJacobian(snes, u, J, J));
  OK(MatNorm(J, NORM_INFINITY, &norm[2]));
  CHECK(norm[1] == norm[0]);
  CHECK(difference(norm[2], norm[0] + 10) < exact);
  // a term that is not linear is found where it vanishes at the time 0, with a field of ones or with a parameter
  for (const char *term : {"(u > 0 ? 1 : 2) * u", "t * u * u", "(k - 1) * u * u", "exp(u)"}) {
    INFO(term);
    set_equation(da, "field(k)\nresidual = -laplacian(u) + " + std::string(term));
    OK(DMDAEquationGetLinear(da, &linear));
    CHECK(!linear);
  }
  set_equation(da, "parameter(sigma)\nresidual = -laplacian(u) + sigma * u * u");
  for (PetscReal sigma : {1, 0}) {
    OK(DMDAEquationSetParameter(da, "sigma", sigma));
    OK(DMDAEquationGetLinear(da, &linear));
    CHECK(linear == (sigma == 0 ? PETSC_TRUE : PETSC_FALSE));
  }
}

TEST_CASE("entries that a Mat had are replaced, in each form of storage", "[equations]") {
  if (!equations_work()) return;
  for (const char *file : {"bratu.h", "poisson.h", "elasticity.h"}) {
    Grid                     da = gallery_grid(file, 9);
    Vector                   u = random_vector(da, 1), v = random_vector(da, 2);
    Owned<SNES, SNESDestroy> snes;
    Matrix                   J[2];
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    for (int captured = 0; captured < 2; captured++) {
      OK(DMSetMatType(da, captured ? MATSTENCILSHELL : MATAIJ));
      OK(DMCreateMatrix(da, &J[captured]));
      OK(SNESSetJacobian(snes, J[captured], J[captured], NULL, NULL));
      OK(SNESComputeJacobian(snes, v, J[captured], J[captured]));
      OK(MatDiagonalScale(J[captured], v, v)); // entries of all kinds
      OK(MatShift(J[captured], 3));
      OK(SNESComputeJacobian(snes, u, J[captured], J[captured]));
    }
    const bool varies = std::string(file) == "bratu.h"; // its rows are not looked at for equal ones
    CHECK(view(J[1], PETSC_VIEWER_ASCII_INFO).find(varies ? "form arrays" : "form constant") != std::string::npos);
    INFO(file);
    CHECK(difference(J[1], J[0]) < exact);
  }
}

TEST_CASE("a linear equation, which is assembled once, leaves no arrays for zeros", "[equations]") {
  if (!equations_work()) return;
  Options               options("-mat_stencil_compress arrays");
  Lattice               l;
  Grid                  da;
  Matrix                A;
  shellac::CapturedMat *context;
  int                   arrays = 0;
  l.dim = 2, l.N[0] = 9, l.N[1] = 8;
  l.shape = DMDA_STENCIL_BOX;
  OK(make_grid(l, nullptr, &da));
  OK(DMSetMatType(da, MATSTENCILSHELL));
  set_equation(da, "residual = -laplacian(u)");
  OK(DMDACreateEquationMat(da, &A));
  OK(shellac::MatGetReadyStencil(A, &context));
  for (int s = 0; s < context->captured().slots(); s++) arrays += context->captured().array(s) != NULL;
  CHECK(arrays == 5);
}

TEST_CASE("a field by a formula of the time is that of the time", "[equations]") {
  if (!equations_work()) return;
  for (const char *text :
       {"field(k) = 1 + t\nrate = k + 0 * u", "half = t / 2\nfield(k) = 1 + 2 * half\nrate = k + 0 * u"}) {
    Lattice              l;
    Grid                 da;
    Owned<TS, TSDestroy> ts;
    INFO(text);
    OK(make_grid(l, nullptr, &da));
    set_equation(da, text);
    Vector u = random_vector(da, 1), f = make_vector(da), expected = make_vector(da);
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, da));
    for (const PetscReal t : {0.25, 2., 0.}) {
      OK(TSComputeRHSFunction(ts, t, u, f));
      OK(VecSet(expected, 1 + t));
      CHECK(difference(f, expected) < exact);
    }
  }
}

TEST_CASE("the names of an equation's parameters and fields are in the order of the text", "[equations]") {
  if (!equations_work()) return;
  Lattice            l;
  Grid               da;
  const char *const *parameters, *const *fields;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, "parameter(b, 1)\nfield(k)\nparameter(a)\nresidual = -d(k, u) + a + b");
  OK(DMDAEquationGetNames(da, &parameters, &fields));
  CHECK((parameters[0] == std::string("b") && parameters[1] == std::string("a") && !parameters[2]));
  CHECK((fields[0] == std::string("k") && !fields[1]));
  OK(DMDAEquationGetNames(da, NULL, NULL));
}

TEST_CASE("KSP solves a linear equation as SNES does, transposed too; one rank as all", "[equations]") {
  if (!equations_work()) return;
  Options     options("-ksp_rtol 1e-12 -ksp_max_it 2000 -pc_type jacobi");
  Grid        da = gallery_grid("advection_diffusion.h", 13), own = gallery_grid("advection_diffusion.h", 13);
  Vector      u, v = make_vector(da), w = make_vector(da), x = random_vector(da, 1), y = random_vector(da, 2);
  Solver      ksp;
  Matrix      A;
  PetscInt    its;
  PetscScalar left, right;
  OK(solve(da, &u, &its));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetDM(ksp, own));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSolve(ksp, NULL, v));
  CHECK(difference(v, u) < 1e-9);
  OK(DMSetMatType(da, MATSTENCILSHELL));
  OK(DMDACreateEquationMat(da, &A));
  OK(MatMult(A, x, v));
  OK(MatMultTranspose(A, y, w));
  OK(VecDot(v, y, &left));
  OK(VecDot(x, w, &right));
  CHECK(PetscAbsScalar(left - right) < 1e-12 * PetscAbsScalar(left));
  // found on one rank
  PetscReal norm;
  OK(VecNorm(u, NORM_2, &norm));
  CHECK(std::fabs(norm / 9.2340532512 - 1) < 1e-6);
}

TEST_CASE("the names of the compiled functions are free", "[equations]") {
  if (!equations_work()) return;
  Lattice  l;
  Grid     da;
  PetscInt its;
  Vec      u;
  l.dim = 2, l.N[0] = 9, l.N[1] = 8;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, "parameter(c, 2)\nparameter(r, 3)\nparameter(R, 4)\nparameter(axes, 5)\nfield(place) = 1 + c\n"
                   "point(i, j) = place(i, j)\nneumann(sides) = c * 0\n"
                   "residual = u - c * r * R * axes * point(0, 0)");
  OK(solve(da, &u, &its));
  PetscReal most;
  OK(VecMax(u, NULL, &most));
  CHECK(PetscAbsReal(most - 360) <= 1e-6);
  OK(VecDestroy(&u));
}

// Many points, which the host computes several at a time.
TEST_CASE("functions of a text are those of C, to a few units in the last place", "[equations][optimised]") {
  if (!equations_work()) return;
  const struct {
    const char *name;
    double (*value)(double);
  } functions[] = {
      {"exp(u)", [](double u) { return std::exp(u); }},           {"log(u)", [](double u) { return std::log(u); }},
      {"sin(u)", [](double u) { return std::sin(u); }},           {"cos(u)", [](double u) { return std::cos(u); }},
      {"pow(u, 2.5)", [](double u) { return std::pow(u, 2.5); }}, {"tanh(u)", [](double u) { return std::tanh(u); }}};
  for (const auto &f : functions) {
    Lattice                  l;
    Grid                     da;
    Owned<SNES, SNESDestroy> snes;
    l.dim = 2, l.N[0] = 101, l.N[1] = 5;
    OK(make_grid(l, nullptr, &da));
    set_equation(da, std::string("residual = ") + f.name);
    Vector u = random_vector(da, 1), g = make_vector(da);
    OK(VecShift(u, 2)); // positive
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    OK(SNESComputeFunction(snes, u, g));
    const auto from = natural_values(da, u), to = natural_values(da, g);
    double     worst = 0;
    for (size_t i = 0; i < from.size(); i++) {
      const double expected = f.value(PetscRealPart(from[i]));
      worst = std::max(worst, std::fabs(PetscRealPart(to[i]) - expected) / std::max(std::fabs(expected), 0.1));
    }
    INFO(f.name);
    CHECK(worst < 2e-15);
  }
}
