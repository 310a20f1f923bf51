// Equations as text with complex numbers, where PETSc has them.

#include "catch.hpp"
#include "equations.hpp"
#include "gpu.hpp"

#include <cmath>

using namespace tests;

static Grid grid_of(const char *text, PetscInt N, VecType type = NULL) {
  Lattice l;
  Grid    da;
  l.dim = 2, l.N[0] = N, l.N[1] = N;
  OK(make_grid(l, nullptr, &da));
  if (type) OK(DMSetVecType(da, type));
  set_equation(da, text);
  return da;
}

#if defined(PETSC_USE_COMPLEX)

static PetscReal error_of(DM da) {
  Vector    u, e = make_vector(da);
  PetscInt  its;
  PetscReal error;
  OK(solve(da, &u, &its));
  OK(DMDAEquationComputeExact(da, 0, e));
  OK(VecAXPY(e, -1, u));
  OK(VecNorm(e, NORM_INFINITY, &error));
  return error;
}

TEST_CASE("linear equations with complex numbers are of second order", "[equations]") {
  if (!equations_work(true)) return;
  Options options("-snes_rtol 1e-11 -ksp_rtol 1e-11 -pc_type redundant");
  for (const char *file : {"poisson.h", "nine_point.h", "biharmonic.h", "elasticity.h", "helmholtz.h"})
    for (const char *stretched : {"", "-equation_stretch_x geometric,2 -equation_stretch_y tanh,1"}) {
      if (*stretched && file == std::string("nine_point.h")) continue; // of equal spacings
      Options         stretch(stretched);
      const PetscInt  N = 23;
      const PetscReal coarse = error_of(gallery_grid(file, N)), fine = error_of(gallery_grid(file, 2 * N + 1));
      INFO(file << " " << stretched << ": " << coarse << " " << fine);
      CHECK(std::fabs(std::log2(coarse / fine) - 2) < 0.1);
    }
}

TEST_CASE("Helmholtz's operator with a complex coefficient is the assembled one", "[equations]") {
  if (!equations_work(true)) return;
  for (const char *type : {MATAIJ, MATSTENCILSHELL}) {
    Problem p = problem(2, 7, 5);
    p.sigma = PetscCMPLX(-9, 4);
    Grid   da = make_grid(p), with_field = make_grid(p);
    Matrix A, B, reference = make_reference(p, da);
    Vector k = make_vector(with_field);
    INFO(type);
    OK(DMSetMatType(da, type));
    set_equation(da, "residual = -laplacian(u) + (-9 + 4 * I) * u");
    OK(DMDACreateEquationMat(da, &A));
    CHECK(difference(A, reference) < exact);
    OK(DMSetMatType(with_field, type)); // the same by a field that the program sets
    set_equation(with_field, "field(sigma)\nresidual = -d(1, u) + sigma * u");
    OK(VecSet(k, p.sigma));
    OK(DMDAEquationSetField(with_field, "sigma", k));
    OK(DMDACreateEquationMat(with_field, &B));
    CHECK(difference(B, reference) < exact);
  }
}

TEST_CASE("Jacobians with complex numbers are derivatives", "[equations]") {
  if (!equations_work(true)) return;
  for (const char *text : {"residual = -d(1 + I * x, u) + u * u * u + I * exp(u) + dx(u)",
                           "field(k) = 1 + I * y\nresidual = -d(k, u) + sin(u) * cosh(u) / (2 + u) + pow(u, 2)",
                           "residual = sqrt(2 + u) + log(2 + u) + tanh(u) + tan(u / 9) + pow(2 + u, I) - laplacian(u)",
                           "neumann(left) = I\nidentity(right) = 2 + I\nresidual = -laplacian(u) + u * u"}) {
    Grid da = grid_of(text, 8);
    INFO(text);
    CHECK(jacobian_difference(da) < 1e-6);
  }
}

// Against the C++ library's.
TEST_CASE("functions of complex numbers", "[equations]") {
  if (!equations_work(true)) return;
  const PetscScalar i(0, 1);
  const struct {
    const char *name;
    PetscScalar (*value)(PetscScalar);
  } functions[] = {{"exp(u)", [](PetscScalar u) { return std::exp(u); }},
                   {"log(u)", [](PetscScalar u) { return std::log(u); }},
                   {"sqrt(u)", [](PetscScalar u) { return std::sqrt(u); }},
                   {"sin(u)", [](PetscScalar u) { return std::sin(u); }},
                   {"cos(u)", [](PetscScalar u) { return std::cos(u); }},
                   {"tan(u)", [](PetscScalar u) { return std::tan(u); }},
                   {"sinh(u)", [](PetscScalar u) { return std::sinh(u); }},
                   {"cosh(u)", [](PetscScalar u) { return std::cosh(u); }},
                   {"tanh(u)", [](PetscScalar u) { return std::tanh(u); }},
                   {"pow(u, 3)", [](PetscScalar u) { return u * u * u; }},
                   {"1 / u", [](PetscScalar u) { return PetscScalar(1) / u; }},
                   {"2 * pow(u, 0.5) - I", [](PetscScalar u) { return 2. * std::sqrt(u) - PetscScalar(0, 1); }}};
  for (const auto &f : functions) {
    Grid                     da = grid_of((std::string("residual = ") + f.name).c_str(), 3);
    Vector                   u = make_vector(da), g = make_vector(da), expected = make_vector(da);
    Owned<SNES, SNESDestroy> snes;
    INFO(f.name);
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    for (const PetscScalar value : {1.5 + 0.5 * i, -0.3 + 0.7 * i, -2. - 0.2 * i, 0.1 - 1.9 * i}) {
      OK(VecSet(u, value));
      OK(SNESComputeFunction(snes, u, g));
      OK(VecSet(expected, f.value(value)));
      CHECK(difference(g, expected) < 1e-14);
    }
  }
}

// The residual at a state that is the same at all points.
static Vector residual_of(const std::string &text, PetscScalar state) {
  Grid                     da = grid_of(text.c_str(), 3);
  Vector                   u = make_vector(da), f = make_vector(da);
  Owned<SNES, SNESDestroy> snes;
  OK(VecSet(u, state));
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, da));
  OK(SNESComputeFunction(snes, u, f));
  return f;
}

TEST_CASE("functions of large and small complex numbers, and powers of zero", "[equations]") {
  if (!equations_work(true)) return;
  const PetscScalar i(0, 1);
  const struct {
    const char *text;
    PetscScalar state, expected;
  } rows[] = {{"tanh(u)", 400, 1},
              {"tanh(u)", -400. + i, -1},
              {"tanh(u)", 1e4 * i, std::tanh(1e4 * i)},
              {"tan(u)", 400. * i, i},
              {"tan(u)", -1000. * i, -i},
              {"1e160 / u", 1e160, 1},
              {"1e160 / u", 1e160 * i, -i},
              {"1e-160 / u", 1e-160 * (1. + i), 0.5 - 0.5 * i},
              {"1 / (u * u) * 1e180", 1e90, 1},
              {"pow(u, 2)", 0, 0},
              {"pow(u, 0.5 + I)", 0, 0},
              {"pow(u, 0)", 0, 1}};
  for (const auto &row : rows) {
    INFO(row.text << " at " << row.state);
    Vector f = residual_of(std::string("residual = ") + row.text, row.state), expected = copy_of(f);
    OK(VecSet(expected, row.expected));
    OK(VecAXPY(expected, -1, f));
    PetscReal error;
    OK(VecNorm(expected, NORM_INFINITY, &error));
    CHECK(error < 1e-14);
  }
}

TEST_CASE("parts of a complex field", "[equations]") {
  if (!equations_work(true)) return;
  const PetscScalar i(0, 1);
  const struct {
    const char *text;
    PetscScalar expected;
  } rows[] = {{"real(k)", 3},
              {"imag(k)", -4},
              {"conj(k)", 3. + 4. * i},
              {"abs(k)", 5},
              {"real(k(0))", 3},
              {"abs(3 - 4 * I)", 5},
              {"conj(k) * u", 2. * (3. + 4. * i)},
              {"max(real(k), 4)", 4},
              {"upwind_x(abs(k), k)", 0}};
  for (const auto &row : rows) {
    INFO(row.text);
    Vector f = residual_of(std::string("field(k) = 3 - 4 * I\nresidual = 0 * u + ") + row.text, 2),
           expected = copy_of(f);
    OK(VecSet(expected, row.expected));
    CHECK(difference(f, expected) < 1e-14);
  }
}

TEST_CASE("what is not finite is told with both parts of complex numbers", "[equations]") {
  if (!equations_work(true)) return;
  Grid   da = grid_of("field(k) = 2 - I\nresidual = k * pow(u - 3 - 4 * I, -1)", 3); // zero to a negative power
  Vector u = make_vector(da), f = make_vector(da);
  Owned<SNES, SNESDestroy> snes;
  OK(VecSet(u, PetscScalar(3, 4)));
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, da));
  EXPECT_ERROR(PETSC_ERR_FP, ({"u = 3+4*I", "k = 2-1*I"}), [&] { return SNESComputeFunction(snes, u, f); });
}

TEST_CASE("multigrid and Krylov methods solve Helmholtz's equation without entries, too", "[equations]") {
  if (!equations_work(true)) return;
  Vector u[2];
  for (int without = 0; without < 2; without++) {
    Options  options("-ksp_rtol 1e-10 -ksp_max_it 2000 -pc_type jacobi -ksp_type gmres -ksp_gmres_restart 200");
    Grid     da = gallery_grid("helmholtz.h", 21);
    PetscInt its;
    OK(DMSetMatType(da, without ? MATEQUATION : MATSTENCILSHELL));
    OK(solve(da, &u[without], &its));
  }
  CHECK(difference(u[1], u[0]) < 1e-7);
}

TEST_CASE("complex Jacobians without entries have both transposes", "[equations]") {
  if (!equations_work(true)) return;
  Lattice l;
  Grid    da;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, "residual = -laplacian(u) + (2 + 3 * I) * u(1, 0) * u + I * dx(u)");
  Vector u = random_vector(da, 1), v = random_vector(da, 2);
  Matrix A = jacobian(da, u, MATEQUATION), B = jacobian(da, u, MATAIJ);
  CHECK(difference_of_transposes(A, B, v) <= 1e-12);
}

TEST_CASE("what complex numbers cannot do is one error", "[equations]") {
  if (!equations_work(true)) return;
  Lattice l;
  Grid    da;
  OK(make_grid(l, nullptr, &da));
  for (const char *text : {"residual = max(u, 0)", "residual = u > 0 ? u + 0 : 0 * u", "residual = upwind_x(u, u)"}) {
    INFO(text);
    EXPECT_ERROR(PETSC_ERR_USER, ({"no order", "real"}), [&] { return DMDASetEquation(da, text); });
  }
}

#if defined(PETSC_HAVE_CUDA)
TEST_CASE("complex texts give the same on the GPU as on the host", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work(true))) return;
  const char *const text =
      "field(k) = 1 + I * x\nneumann(left) = I\nresidual = -d(k, u) + I * u * u + exp(u) / 3 - dy(u)";
  for (PetscInt N : {7, 40}) {
    Grid   host = grid_of(text, N, VECSTANDARD), device = grid_of(text, N, VECCUDA);
    Vector f[2];
    Matrix J[2];
    Grid  *grids[] = {&host, &device};
    for (int k = 0; k < 2; k++) {
      Vector                   u = random_vector(*grids[k], 1);
      Owned<SNES, SNESDestroy> snes;
      f[k] = make_vector(*grids[k]);
      OK(SNESCreate(PETSC_COMM_WORLD, &snes));
      OK(SNESSetDM(snes, *grids[k]));
      OK(SNESComputeFunction(snes, u, f[k]));
      OK(DMSetMatType(*grids[k], MATSTENCILSHELL));
      OK(DMCreateMatrix(*grids[k], &J[k]));
      OK(SNESSetJacobian(snes, J[k], J[k], NULL, NULL));
      OK(SNESComputeJacobian(snes, u, J[k], J[k]));
    }
    const auto a = natural_values(host, f[0]), b = natural_values(device, f[1]);
    PetscReal  worst = 0, largest = 0;
    for (size_t n = 0; n < a.size(); n++) {
      worst = std::max(worst, PetscAbsScalar(a[n] - b[n]));
      largest = std::max(largest, PetscAbsScalar(a[n]));
    }
    CHECK(worst < 1e-11 * largest);
    CHECK(difference(J[1], J[0]) < 1e-11);
  }
}
#endif

#else

TEST_CASE("the imaginary unit needs complex numbers", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  Grid    da;
  OK(make_grid(l, nullptr, &da));
  EXPECT_ERROR(PETSC_ERR_USER, ({"imaginary unit", "complex"}),
               [&] { return DMDASetEquation(da, "residual = -laplacian(u) + I * u"); });
  (void)grid_of("residual = u", 5);
}

#endif
