// Derivatives of equations by parameters and fields: against difference quotients, exact ones, and gradients of solutions.

#include "catch.hpp"
#include "equations.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static Grid grid_with(const std::string &text, Lattice l = {}) {
  Grid da;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}
static Lattice lattice(PetscInt dim, PetscInt N, PetscInt dof = 1, PetscInt width = 1,
                       DMBoundaryType ends = DM_BOUNDARY_NONE, DMDAStencilType shape = DMDA_STENCIL_STAR) {
  Lattice l;
  l.dim = dim, l.dof = dof, l.width = width, l.shape = shape;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N + a : 1, l.ends[a] = a < dim ? ends : DM_BOUNDARY_NONE;
  return l;
}
static Grid field_grid(DM da) {
  Grid of_field;
  OK(DMDACreateCompatibleDMDA(da, 1, &of_field));
  return of_field;
}
static Vector positive(DM da, int seed) { // from 1 to 3
  Vector u = random_vector(da, seed);
  OK(VecShift(u, 2));
  return u;
}
static Matrix by_data(DM da, const char *name, PetscReal time, Vec u) {
  Matrix P;
  OK(DMDACreateEquationJacobianP(da, name, &P));
  OK(DMDAEquationComputeJacobianP(da, time, u, P));
  return P;
}

// The same as compute_values(), also with algebraic unknowns.
static void values_of(DM da, PetscReal time, Vec u, Vec f) {
  Owned<TS, TSDestroy> ts;
  PetscErrorCode (*implicit)(TS, PetscReal, Vec, Vec, Vec, void *) = NULL;
  OK(DMTSGetIFunction(da, &implicit, NULL));
  if (!implicit) {
    OK(compute_values(da, time, u, f));
    return;
  }
  Vector at_rest = make_vector(da);
  OK(VecSet(at_rest, 0));
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, da));
  OK(TSComputeIFunction(ts, time, u, at_rest, f, PETSC_FALSE));
  OK(VecScale(f, -1));
}

// Compares the derivatives by all parameters with difference quotients of the values.
static void check_parameters(DM da, PetscReal time = 0.3) {
  const char *const *names;
  const PetscReal    step = 1e-5;
  PetscReal          value;
  Vector             u = positive(da, 1), plus = make_vector(da), minus = make_vector(da), found = make_vector(da);
  Vec                column;
  OK(DMDAEquationGetNames(da, &names, NULL));
  OK(DMDAEquationSetTime(da, time));
  Matrix all = by_data(da, NULL, time, u);
  for (PetscInt p = 0; names[p]; p++) {
    INFO(names[p]);
    OK(DMDAEquationGetParameter(da, names[p], &value));
    OK(DMDAEquationSetParameter(da, names[p], value + step));
    values_of(da, time, u, plus);
    OK(DMDAEquationSetParameter(da, names[p], value - step));
    values_of(da, time, u, minus);
    OK(DMDAEquationSetParameter(da, names[p], value));
    OK(VecAXPY(plus, -1, minus));
    OK(VecScale(plus, 1 / (2 * step)));
    PetscReal size, norm;
    OK(VecNorm(plus, NORM_INFINITY, &size));
    CHECK(size > 1e-3); // the text depends on it
    for (const bool alone : {false, true}) {
      Matrix one;
      if (alone) one = by_data(da, names[p], time, u);
      const Mat P = alone ? (Mat)one : (Mat)all;
      OK(MatDenseGetColumnVecRead(P, alone ? 0 : p, &column));
      OK(VecCopy(column, found));
      OK(MatDenseRestoreColumnVecRead(P, alone ? 0 : p, &column));
      OK(VecAXPY(found, -1, plus));
      OK(VecNorm(found, NORM_INFINITY, &norm));
      CHECK(norm < 1e-7 * size);
    }
  }
}

TEST_CASE("derivatives by parameters are those of difference quotients", "[equations]") {
  if (!equations_work()) return;
  struct Case {
    const char *text;
    Lattice     l;
  };
  const std::vector<Case> cases = {
      {"parameter(a, 2)\nparameter(b, 0.7)\nparameter(c, 1.3)\nflow(i) = a*u(i)^2\n"
       "rate = d(a, u) + b*dx(u) + u^b + atan2(b, u) + max(a, 1)*exp(-c*u) + floor(a + 0.5)*c + (u > a ? b*u : 0*u)\n"
       "  + laplacian(c*u^2) + upwind_x(b, u) + flow(1) - flow(-1) + min(b, u) + pow(a, c)",
       lattice(2, 7)},
      {"parameter(a, 2)\nparameter(b, 0.7)\ndirichlet(left) = sin(a*y + t)\nneumann(right) = b*y^2\n"
       "robin(bottom, a*b) = exp(b)\nrobin(top, 1/b) = x\nrate = laplacian(u)",
       lattice(2, 7)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nidentity(left) = a*exp(b*y)\nneumann(right) = -b*(u^2 - a)\n"
       "robin(top, b) = -a*u\nrate = laplacian(u) + u*dx(u)",
       lattice(2, 7)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nfield(k) = 1 + a*x^2 + exp(b*y*t)\nfield(m) = b + x\n"
       "rate = d(k, u) + dx(k*m) + laplacian(m)*b + k(1)*u",
       lattice(2, 7)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nfield(k) = 1 + x^a + (a && b ? a*y : 0)\nidentity(left)\ndirichlet(top) = "
       "x^a\n"
       "rate = d(k, u) + (!a ? 1 : b)*u^2 + (a ? u + 0 : 0*u)*b",
       lattice(2, 7)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nneumann(sides) = b*z\nrate = laplacian(a*u^2) + d(b*u, u)", lattice(3, 5)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nstretch(x, geometric, 3)\nstretch(y, tanh, 2)\nrobin(sides, b) = a\n"
       "rate = b*laplacian(u) + minmod_x(a*u^2, b*u, u) + rusanov_y(u^b, a, u)",
       lattice(2, 8, 1, 2)},
      {"parameter(a, 2)\nparameter(b, 0.7)\ndirichlet(left) = a\nidentity(top) = b*x\n"
       "rate = a*laplacian(b*u^2, 4) - hll_minmod_x(a*u^2, u - b, u + a, u) - hll_y(u^a, -a, b, u)",
       lattice(2, 8, 1, 2)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nunknowns(u, v)\nrobin(left, a, v) = b\nneumann(sides)\nm = a*v - "
       "b*laplacian(v)\n"
       "rate(u) = laplacian(m) + a*u*v\nrate(v) = b*bilaplacian(v) - v + a",
       lattice(2, 8, 2, 2, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nrate = a*laplacian(u) + b*dxy(u)",
       lattice(2, 7, 1, 1, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_BOX)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nrobin(left, a) = b\nneumann(right) = a\nm = mean(b*(u - integral(a*u))^2)\n"
       "rate = laplacian(u) + m*u + integral(a*x)",
       lattice(1, 12)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nidentity(left) = a*b*y\nresidual = -laplacian(u) + a*x*b + exp(u)",
       lattice(2, 7)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nunknowns(u, v)\nrobin(sides, b) = a\nrate(u) = laplacian(v)*a\n"
       "residual(v) = v - u^b",
       lattice(2, 7, 2)},
      {"parameter(a, 2)\nparameter(b, 0.7)\nunknowns(u, v)\nsolid = abs(x - 0.5) < 0.2\ndirichlet(solid, u) = a*y^b\n"
       "neumann(solid, v) = a*t\nneumann(sides)\nrate(u) = d(v^b, u)\nrate(v) = laplacian(a*v*u) + mean(a*x)",
       lattice(2, 7, 2)},
  };
  for (const Case &c : cases) {
    INFO(c.text);
    Grid da = grid_with(c.text, c.l);
    check_parameters(da);
  }
}

// The derivative by a field times v: against the values' difference quotient; and products with the transpose.
static void check_field(DM da, const char *name, PetscReal time = 0.3) {
  Grid            of_field = field_grid(da);
  const PetscReal step = 1e-5;
  Vector          u = positive(da, 1), w = random_vector(da, 2), plus = make_vector(da), minus = make_vector(da),
         product = make_vector(da), k = positive(of_field, 3), v = random_vector(of_field, 4),
         moved = make_vector(of_field), back = make_vector(of_field);
  PetscScalar left, right;
  PetscReal   size;
  OK(DMDAEquationSetTime(da, time));
  for (int side = 0; side < 2; side++) {
    OK(VecWAXPY(moved, side ? -step : step, v, k));
    OK(DMDAEquationSetField(da, name, moved));
    OK(compute_values(da, time, u, side ? minus : plus));
  }
  OK(DMDAEquationSetField(da, name, k));
  OK(VecAXPY(plus, -1, minus));
  OK(VecScale(plus, 1 / (2 * step)));
  OK(VecNorm(plus, NORM_INFINITY, &size));
  CHECK(size > 1e-3);
  Matrix K = by_data(da, name, time, u);
  OK(MatMult(K, v, product));
  CHECK(difference(product, plus) < 1e-7);
  OK(MatMultTranspose(K, w, back));
  OK(VecTDot(product, w, &left));
  OK(VecTDot(v, back, &right));
  CHECK(PetscAbsScalar(left - right) < 1e-12 * PetscAbsScalar(left) + 1e-12 * size);
  OK(MatScale(K, -2)); // which a new state drops
  OK(DMDAEquationComputeJacobianP(da, time, u, K));
  OK(MatMult(K, v, plus));
  CHECK(difference(plus, product) == 0);
}

TEST_CASE("derivatives by fields are those of difference quotients, and have transposes", "[equations]") {
  if (!equations_work()) return;
  struct Case {
    const char *text;
    Lattice     l;
  };
  const std::vector<Case> cases = {
      {"field(k)\nrobin(left, 2) = 1\nneumann(top) = -u\nrate = d(k, u) + k*k(1)*u(0, -1) + laplacian(k) + dx(k)*u",
       lattice(2, 7)},
      {"field(k)\nstretch(x, geometric, 2)\nneumann(sides)\nrate = d(exp(k), u) + upwind_y(k, u)", lattice(2, 7)},
      {"field(k) = 2\nidentity(left) = 1\nresidual = -d(u, u) - k*x + u", lattice(3, 5)},
      {"field(m) = x\nfield(k)\nunknowns(u, v)\nneumann(sides)\nrate(u) = laplacian(k*v)\nrate(v) = bilaplacian(k) + "
       "m*k*u*v",
       lattice(2, 8, 2, 2, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX)},
      {"field(k)\nsolid = abs(x - 0.5) < 0.2\nneumann(solid) = 1\nrate = d(k, u) + k*k(1)*u(0, -1) + laplacian(k*u)",
       lattice(2, 7)},
      {"field(k)\nrate = d(k, u) + dxy(k*u)", lattice(2, 6, 1, 1, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_BOX)},
      {"field(k)\nrate = d(k, u) + dx(k)", lattice(1, 2, 1, 2, DM_BOUNDARY_PERIODIC)},
      {"field(k)\nneumann(sides)\nrate = u*mean(k^2*u) + k*x*integral(u) + d(k, u)", lattice(2, 7)},
      {"unknowns(u, v)\nfield(k)\nstretch(x, geometric, 2)\nm = mean(k)\nspread = integral((k - "
       "m)^2*u)\nidentity(left) = 1\n"
       "residual(u) = v*spread + m^2\nresidual(v) = u - mean(k(1)*spread*x - m)*dx(v) + k",
       lattice(2, 7, 2)},
  };
  for (const Case &c : cases) {
    INFO(c.text);
    PetscMPIInt ranks;
    OK((PetscErrorCode)MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    if (c.l.N[0] < 4 && ranks > 1) continue; // too few points
    Grid da = grid_with(c.text, c.l);
    check_field(da, "k");
  }
}

TEST_CASE("derivatives by data are exact where the text is linear in them", "[equations]") {
  if (!equations_work()) return;
  Grid   da = grid_with("parameter(a, 3)\nfield(k)\nrate = a*u + k*u^2 + a*k(1, 0)", lattice(2, 6));
  Grid   of_field = field_grid(da);
  Vector u = random_vector(da, 1), k = random_vector(of_field, 2), v = random_vector(of_field, 3), y = make_vector(da),
         exact = make_vector(da);
  OK(DMDAEquationSetField(da, "k", k));
  Matrix K = by_data(da, "k", 0, u);
  OK(MatMult(K, v, y));
  const auto at_u = natural_values(da, u), of_v = natural_values(of_field, v), found = natural_values(da, y);
  for (size_t i = 0; i < at_u.size(); i++) {
    const size_t next = i % 6 == 5 ? i : i + 1;
    CHECK(PetscAbsScalar(found[i] - (at_u[i] * at_u[i] * of_v[i] + 3. * of_v[next])) < 1e-14);
  }
}

// J = |u|² / 2 of the solution of a nonlinear equation, by its adjoint.
TEST_CASE("gradients of steady solutions by parameters and fields", "[equations]") {
  if (!equations_work()) return;
  Options options("-snes_rtol 1e-13 -snes_atol 1e-14 -ksp_rtol 1e-13 -ksp_atol 1e-16 -ksp_type bcgs -pc_type jacobi");
  Grid    da = grid_with("parameter(a, 2)\nparameter(h, 0.5)\nfield(k)\nrobin(left, h) = h*a\nneumann(top) = -h*u^2\n"
                            "residual = -d(k, u) + a*u^3 - 5 - a*x",
                         lattice(2, 8));
  Grid    of_field = field_grid(da);
  Vector  k = positive(of_field, 3), v = random_vector(of_field, 4), moved = make_vector(of_field),
         slopes = make_vector(of_field);
  Vector     u = make_vector(da), other = make_vector(da);
  const auto half_square = [&](Vec of) {
    Owned<SNES, SNESDestroy> snes;
    PetscReal                norm;
    OK(VecSet(of, 1));
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    OK(SNESSetFromOptions(snes));
    OK(SNESSolve(snes, NULL, of));
    OK(VecNorm(of, NORM_2, &norm));
    return norm * norm / 2;
  };
  OK(DMDAEquationSetField(da, "k", k));
  half_square(u);
  Matrix J = jacobian(da, u, MATAIJ), P = by_data(da, NULL, 0, u), K = by_data(da, "k", 0, u);
  Vector lambda = make_vector(da), by_parameters;
  Solver ksp;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, J, J));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSetType(ksp, KSPGMRES));
  OK(KSPSolveTranspose(ksp, u, lambda));
  OK(MatCreateVecs(P, &by_parameters, NULL));
  OK(MatMultTranspose(P, lambda, by_parameters));
  OK(MatMultTranspose(K, lambda, slopes));
  PetscScalar along;
  OK(VecDot(slopes, v, &along));
  const PetscReal step = 1e-5;
  PetscReal       side[2], value;
  for (int s = 0; s < 2; s++) {
    OK(VecWAXPY(moved, s ? step : -step, v, k));
    OK(DMDAEquationSetField(da, "k", moved));
    side[s] = half_square(other);
  }
  CHECK(PetscAbsReal(-PetscRealPart(along) * 2 * step / (side[1] - side[0]) - 1) < 1e-6);
  OK(DMDAEquationSetField(da, "k", k));
  PetscInt begin, end;
  OK(VecGetOwnershipRange(by_parameters, &begin, &end));
  for (PetscInt p = 0; p < 2; p++) {
    const char *name = p ? "h" : "a";
    INFO(name);
    OK(DMDAEquationGetParameter(da, name, &value));
    for (int s = 0; s < 2; s++) {
      OK(DMDAEquationSetParameter(da, name, value + (s ? step : -step)));
      side[s] = half_square(other);
    }
    OK(DMDAEquationSetParameter(da, name, value));
    if (p < begin || p >= end) continue;
    PetscScalar gradient;
    OK(VecGetValues(by_parameters, 1, &p, &gradient));
    CHECK(PetscAbsReal(-PetscRealPart(gradient) * 2 * step / (side[1] - side[0]) - 1) < 1e-6);
  }
}

static PetscErrorCode rate_by_data(TS ts, PetscReal time, Vec u, Mat P, void *) {
  DM da;

  PetscFunctionBeginUser;
  PetscCall(TSGetDM(ts, &da));
  PetscCall(DMDAEquationComputeJacobianP(da, time, u, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("gradients of steps in time by parameters and by a field: TSAdjointSolve()", "[equations]") {
  if (!equations_work()) return;
  for (const char *type : {TSRK, TSCN, TSBEULER})
    for (const bool by_field : {false, true}) {
      INFO(type << (by_field ? ", by a field" : ", by a parameter"));
      Options options(
          "-ts_adapt_type none -snes_rtol 1e-13 -ksp_rtol 1e-13 -pc_type jacobi -ts_trajectory_type memory");
      Grid   da = grid_with("parameter(a, 2)\nfield(k)\nidentity(left) = a*y*t\nneumann(top) = a\n"
                              "rate = 0.02*d(k, u) + a*u - u^2",
                            lattice(2, 6));
      Grid   of_field = field_grid(da);
      Vector k = positive(of_field, 3), v = random_vector(of_field, 4), moved = make_vector(of_field),
             w = random_vector(da, 2);
      const auto end_state = [&](TS ts) {
        Vector u = positive(da, 1);
        OK(DMDAEquationSetTime(da, 0));
        OK(TSSolve(ts, u));
        return u;
      };
      OK(DMDAEquationSetField(da, "k", k));
      Matrix P, J = matrix(da, MATAIJ);
      OK(DMDACreateEquationJacobianP(da, by_field ? "k" : "a", &P));
      auto ts = stepper(da, type, 0.05, 0.2);
      OK(TSSetRHSJacobian(ts, J, J, NULL, NULL));
      OK(TSSetRHSJacobianP(ts, P, rate_by_data, NULL));
      OK(TSSetSaveTrajectory(ts));
      Vector u = end_state(ts), lambda = copy_of(w), mu;
      OK(MatCreateVecs(P, &mu, NULL));
      OK(VecSet(mu, 0));
      Vec lambdas = lambda, mus = mu;
      OK(TSSetCostGradients(ts, 1, &lambdas, &mus));
      OK(TSAdjointSolve(ts));
      PetscScalar slope, value[2];
      if (by_field)
        OK(VecTDot(mu, v, &slope));
      else
        OK(VecSum(mu, &slope));
      const PetscReal step = 1e-5;
      for (int s = 0; s < 2; s++) {
        OK(VecWAXPY(moved, s ? step : -step, v, k));
        if (by_field)
          OK(DMDAEquationSetField(da, "k", moved));
        else
          OK(DMDAEquationSetParameter(da, "a", 2 + (s ? step : -step)));
        Vector     last = end_state(stepper(da, type, 0.05, 0.2));
        const auto values = natural_values(da, last), weights = natural_values(da, w);
        value[s] = 0;
        for (size_t i = 0; i < values.size(); i++) value[s] += values[i] * weights[i];
      }
      CHECK(PetscAbsScalar(slope * 2. * step / (value[1] - value[0]) - 1.) < 1e-6);
    }
}

static Matrix column_like(Vec v) { // of zeros
  PetscInt n;
  Matrix   column;
  OK(VecGetLocalSize(v, &n));
  OK(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 1, NULL, &column));
  OK(MatZeroEntries(column));
  return column;
}

TEST_CASE("sensitivities of steps in time by parameters: TSForwardSetSensitivities()", "[equations]") {
  if (!equations_work()) return;
  for (const char *type : {TSRK, TSCN, TSBEULER}) {
    INFO(type);
    // PETSc's rk takes a step's derivatives at the next step's times
    const std::string given = std::string(type) == TSRK ? "" : "*sin(a*t)";
    Options    options("-ts_adapt_type none -snes_rtol 1e-13 -ksp_rtol 1e-13 -pc_type jacobi");
    Grid              da = grid_with("parameter(a, 2)\nidentity(left) = a*y" + given +
                                         "\nneumann(top) = a\nneumann(right) = -u_t/a\n"
                                                      "rate2 = 0.1*a*laplacian(u) - u_t",
                                     lattice(2, 6, 2));
    const auto end_state = [&](TS ts) {
      Vector u = positive(da, 1);
      OK(DMDAEquationSetTime(da, 0));
      OK(TSSolve(ts, u));
      return u;
    };
    Matrix P = by_data(da, "a", 0, positive(da, 1)), S = column_like(make_vector(da)), J = matrix(da, MATAIJ);
    auto ts = stepper(da, type, 0.05, 0.2);
    OK(TSSetRHSJacobian(ts, J, J, NULL, NULL));
    OK(TSSetRHSJacobianP(ts, P, rate_by_data, NULL));
    OK(TSForwardSetSensitivities(ts, 1, S));
    end_state(ts);
    const PetscReal step = 1e-5;
    OK(DMDAEquationSetParameter(da, "a", 2 + step));
    Vector difference = end_state(stepper(da, type, 0.05, 0.2));
    OK(DMDAEquationSetParameter(da, "a", 2 - step));
    OK(VecAXPBY(difference, -1 / (2 * step), 1 / (2 * step), end_state(stepper(da, type, 0.05, 0.2))));
    Vec       column;
    PetscReal size, error;
    OK(VecNorm(difference, NORM_INFINITY, &size));
    OK(MatDenseGetColumnVecRead(S, 0, &column));
    OK(VecAXPY(difference, -1, column));
    OK(MatDenseRestoreColumnVecRead(S, 0, &column));
    OK(VecNorm(difference, NORM_INFINITY, &error));
    CHECK(error <= 1e-7 * size);
  }
}

// The integral of the sum of all values: its integrand, and the derivative of that.
static PetscErrorCode sum_of_values(TS, PetscReal, Vec u, Vec sum, void *) {
  PetscScalar value;

  PetscFunctionBeginUser;
  PetscCall(VecSum(u, &value));
  PetscCall(VecSet(sum, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode sum_by_values(TS, PetscReal, Vec, Mat by_values, Mat, void *) {
  Vec column;

  PetscFunctionBeginUser;
  PetscCall(MatDenseGetColumnVecWrite(by_values, 0, &column));
  PetscCall(VecSet(column, 1));
  PetscCall(MatDenseRestoreColumnVecWrite(by_values, 0, &column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("integrals in time that read a side given by a parameter have no gradient", "[equations]") {
  if (!equations_work()) return;
  for (const bool by_parameter : {false, true}) {
    Options  options("-ts_adapt_type none -ts_trajectory_type memory");
    Grid     da = grid_with(std::string("parameter(a, 2)\nidentity(left) = ") + (by_parameter ? "a" : "1") +
                                "\nneumann(top)\nrate = laplacian(u) + a*u",
                            lattice(2, 6));
    Vector   u = positive(da, 1), lambda = make_vector(da), mu;
    Matrix   P = by_data(da, "a", 0, u), J = matrix(da, MATAIJ), by_values = column_like(u);
    TS       integral;
    auto ts = stepper(da, TSRK, 0.005, 0.02);
    OK(TSSetRHSJacobian(ts, J, J, NULL, NULL));
    OK(TSSetRHSJacobianP(ts, P, rate_by_data, NULL));
    OK(TSSetSaveTrajectory(ts));
    OK(TSCreateQuadratureTS(ts, PETSC_FALSE, &integral));
    OK(TSSetRHSFunction(integral, NULL, sum_of_values, NULL));
    OK(TSSetRHSJacobian(integral, by_values, by_values, sum_by_values, NULL));
    OK(MatCreateVecs(P, &mu, NULL));
    Matrix by_parameters = column_like(mu);
    OK(TSSetRHSJacobianP(
        integral, by_parameters, [](TS, PetscReal, Vec, Mat none, void *) { return MatZeroEntries(none); }, NULL));
    OK(DMDAEquationSetTime(da, 0));
    OK(TSSolve(ts, u));
    OK(VecSet(mu, 0));
    OK(VecSet(lambda, 0));
    Vec lambdas = lambda, mus = mu;
    OK(TSSetCostGradients(ts, 1, &lambdas, &mus));
    if (by_parameter)
      EXPECT_ERROR(PETSC_ERR_SUP, {"integral in time", "identity"}, [&] { return TSAdjointSolve(ts); });
    else
      OK(TSAdjointSolve(ts));
  }
}

TEST_CASE("derivatives by data that there are not are refused", "[equations]") {
  if (!equations_work()) return;
  Grid da = grid_with("parameter(a, 2)\nfield(k) = x\nrate = laplacian(u) + u^a + mean(u)*k"),
       none = grid_with("rate = u");
  Vector     u = random_vector(da, 1), y = make_vector(da);
  Matrix     P, wrong;
  const auto create = [&](DM on, const char *name) {
    return [=, &P] { return DMDACreateEquationJacobianP(on, name, &P); };
  };
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"no parameter 'q'", "no field 'q'"}), create(da, "q"));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"no parameters", "parameter(name, value)"}), create(none, NULL));
  OK(create(da, NULL)());
  EXPECT_ERROR(PETSC_ERR_FP, ({"by the parameter a is not finite"}),
               [&] { return VecSet(u, -1) ? PETSC_ERR_LIB : DMDAEquationComputeJacobianP(da, 0, u, P); });
  wrong = matrix(da, MATAIJ);
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"is not one of the equation's derivatives", "1 parameters"}),
               [&] { return DMDAEquationComputeJacobianP(da, 0, u, wrong); });
  Grid exact = grid_with("parameter(a, 2)\nfield(k) = x\nexact = a*x\nresidual = -laplacian(u) - k");
  EXPECT_ERROR(PETSC_ERR_SUP, ({"exact solution"}), create(exact, NULL));
  Grid of_field = grid_with("field(k) = x\nrate = k*u");
  OK(create(of_field, "k")());
  Vector before = random_vector(of_field, 2), after = make_vector(of_field);
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"no state yet"}), [&] { return MatMult(P, before, after); });
  EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"another DMDA"}), [&] { return DMDAEquationComputeJacobianP(none, 0, u, P); });
  OK(DMDAEquationComputeJacobianP(of_field, 0, after, P));
  OK(DMDASetEquation(of_field, "field(k) = x\nexact = x\nrate = k*u")); // the Mat is of the text that it finds
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"exact solution"}), [&] { return MatMultTranspose(P, before, after); });
  EXPECT_ERROR(PETSC_ERR_SUP, ({"exact solution"}),
               [&] { return DMDAEquationComputeJacobianP(of_field, 0, before, P); });
}

TEST_CASE("derivatives by data need real numbers", "[equations]") {
#if defined(PETSC_USE_COMPLEX)
  if (!equations_work(true)) return;
  Grid   da = grid_with("parameter(a, 2)\nrate = a*u");
  Matrix P;
  EXPECT_ERROR(PETSC_ERR_SUP, ({"real numbers"}), [&] { return DMDACreateEquationJacobianP(da, NULL, &P); });
#endif
}
