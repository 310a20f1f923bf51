// The rows and the order of diffusion and advection_diffusion, against rows assembled by hand and exact solutions.

#include "diffusion.hpp"

using namespace tests;

namespace {

// u = Π e^(c x), c = 1 and −1/2 and 1
PetscReal u(const Medium &m, const PetscReal x[], int axis = -1, int order = 0) {
  PetscReal value = 1;
  for (int a = 0; a < m.dim; a++) {
    const PetscReal c = a == 1 ? -0.5 : 1;
    value *= PetscExpReal(c * x[a]) * (a == axis ? PetscPowRealInt(c, order) : 1);
  }
  return value;
}
PetscErrorCode source(PetscInt dim, const PetscReal x[], PetscScalar *value, void *ctx) {
  const Medium &m = *static_cast<Medium *>(ctx);
  PetscReal     at[3] = {0, 0, 0};
  for (PetscInt a = 0; a < dim; a++) at[a] = x[a];
  *value = m.sigma * u(m, at);
  for (int a = 0; a < dim; a++) {
    const PetscReal d = 1e-4; // ∂k/∂x_a, to 1e-8 and better
    PetscReal       lower[3] = {at[0], at[1], at[2]}, upper[3] = {at[0], at[1], at[2]};
    lower[a] -= d, upper[a] += d;
    *value -= m.k(at) * u(m, at, a, 2) + (m.k(upper) - m.k(lower)) / (2 * d) * u(m, at, a, 1);
    if (m.advection) *value += m.w(at, a) * u(m, at, a, 1);
  }
  return PETSC_SUCCESS;
}
PetscErrorCode data(PetscInt dim, const PetscReal x[], PetscInt axis, PetscBool upper, PetscScalar *value, void *ctx) {
  const Medium &m = *static_cast<Medium *>(ctx);
  PetscReal     at[3] = {0, 0, 0};
  for (PetscInt a = 0; a < dim; a++) at[a] = x[a];
  const PetscReal outward = (upper ? 1 : -1) * u(m, at, (int)axis, 1);
  const auto      form = m.forms[axis][upper ? 1 : 0];
  *value = form == MAT_LAPLACE_NEUMANN ? outward : form == MAT_LAPLACE_ROBIN ? outward + alpha * u(m, at) : u(m, at);
  return PETSC_SUCCESS;
}

PetscReal error_of_solution(Medium m) {
  Grid   da;
  Matrix A;
  REQUIRE(make(m, da, A));
  Vector    b = make_vector(da), x = make_vector(da), exact_u = make_vector(da);
  PetscReal error;
  OK(MatLaplaceSetRightHandSide(A, source, data, &m, b));
  (void)solve(A, b, x, PCJACOBI, KSPGMRES, NULL);
  set_values(da, exact_u, [&](const PetscInt i[3]) {
    PetscReal point[3];
    m.place(i, point);
    return (PetscScalar)u(m, point);
  });
  OK(VecAXPY(x, -1, exact_u));
  OK(VecNorm(x, NORM_INFINITY, &error));
  return error;
}

PetscReal order(const Medium &coarse, const Medium &fine) {
  return std::log(error_of_solution(coarse) / error_of_solution(fine)) / std::log(coarse.h(0) / fine.h(0));
}

// Lines, planes and boxes with all pairs of boundary forms along x.
std::vector<Medium> media() {
  std::vector<Medium> all;
  for (MatLaplaceBoundaryType lower : all_forms)
    for (MatLaplaceBoundaryType upper : all_forms)
      for (MatDiffusionMeanType mean : {MAT_DIFFUSION_HARMONIC, MAT_DIFFUSION_ARITHMETIC}) {
        Medium line;
        line.mean = mean;
        line.N[0] = 7;
        line.k = [](const PetscReal x[]) { return rough(x, 1); };
        line.w = [](const PetscReal x[], int axis) { return 20 * (rough(x, 2 + axis) - 1); };
        line.forms[0][0] = lower, line.forms[0][1] = upper;
        all.push_back(line);
        Medium plane = line;
        plane.dim = 2;
        plane.N[1] = 6;
        plane.lengths[1] = 2;
        plane.forms[1][0] = upper, plane.forms[1][1] = MAT_LAPLACE_NEUMANN;
        all.push_back(plane);
        Medium space = plane;
        space.dim = 3;
        space.N[2] = 5;
        if (lower == MAT_LAPLACE_NEUMANN) space.ends[2] = DM_BOUNDARY_PERIODIC;
        if (lower == MAT_LAPLACE_ROBIN) space.ends[1] = DM_BOUNDARY_MIRROR;
        space.forms[2][0] = MAT_LAPLACE_ROBIN, space.forms[2][1] = lower;
        all.push_back(space);
        space.on_faces = true;
        all.push_back(space);
        Medium ring = plane;
        ring.N[0] = lower == MAT_LAPLACE_ELIMINATED ? 2 : 5;
        ring.ends[0] = DM_BOUNDARY_PERIODIC;
        all.push_back(ring);
        ring.on_faces = true;
        all.push_back(ring);
      }
  return all;
}

} // namespace

TEST_CASE("diffusion has the rows of a textbook with both means and any boundary forms", "[diffusion]") {
  int number = 0;
  for (const Medium &m : media()) {
    Grid   da;
    Matrix A;
    if (!in_turn(number++)) continue;
    INFO(describe(m));
    if (!make(m, da, A)) continue;
    check_operator(A, assemble_by_hand(m, da), da);
  }
}

TEST_CASE("diffusion has the rows of a textbook on long rows of points", "[diffusion]") {
  for (int dim : {2, 3})
    for (bool on_faces : {false, true})
      for (MatDiffusionMeanType mean : {MAT_DIFFUSION_HARMONIC, MAT_DIFFUSION_ARITHMETIC}) {
        Grid   da;
        Matrix A;
        Medium m;
        m.dim = dim;
        m.N[0] = 1031, m.N[1] = 5, m.N[2] = dim == 3 ? 4 : 1;
        m.on_faces = on_faces;
        m.mean = mean;
        m.k = [](const PetscReal x[]) { return rough(x, 1); };
        INFO(describe(m));
        REQUIRE(make(m, da, A));
        check_operator(A, assemble_by_hand(m, da), da);
      }
}

TEST_CASE("advection_diffusion has the rows of a textbook with both schemes", "[diffusion]") {
  int number = 0;
  for (Medium m : media()) {
    Grid   da;
    Matrix A;
    if (!in_turn(number++)) continue;
    m.advection = true;
    m.scheme = number % 2 ? MAT_ADVECTION_DIFFUSION_CENTRAL : MAT_ADVECTION_DIFFUSION_UPWIND;
    INFO(describe(m));
    if (!make(m, da, A)) continue;
    check_operator(A, assemble_by_hand(m, da), da);
  }
}

TEST_CASE("constants are the same as fields of one value", "[diffusion]") {
  for (bool advection : {false, true}) {
    const PetscReal along[] = {3, -2};
    Medium          m;
    m.dim = 2;
    m.N[0] = 8, m.N[1] = 7;
    m.advection = advection;
    m.forms[0][1] = MAT_LAPLACE_NEUMANN, m.forms[1][0] = MAT_LAPLACE_ROBIN;
    m.k = [](const PetscReal[]) { return 2.5; };
    m.w = [&](const PetscReal[], int axis) { return along[axis]; };
    for (auto scheme : {MAT_ADVECTION_DIFFUSION_CENTRAL, MAT_ADVECTION_DIFFUSION_UPWIND}) {
      Grid   da;
      Matrix A;
      m.scheme = scheme;
      INFO(describe(m));
      REQUIRE(make(m, da, A, false));
      OK(MatDiffusionSetConstant(A, 2.5));
      OK(MatAdvectionDiffusionSetConstantVelocity(A, 2, along));
      check_operator(A, assemble_by_hand(m, da), da);
      OK(MatDiffusionSetCoefficient(A, coefficient(m, da)));
      check_operator(A, assemble_by_hand(m, da), da);
    }
  }
}

TEST_CASE("solutions of diffusion are of second order, of upwind advection of first", "[diffusion]") {
  int turn = 0;
  for (MatLaplaceBoundaryType lower : all_forms)
    for (MatLaplaceBoundaryType upper : all_forms)
      for (int kind = 0; kind < 3; kind++) { // diffusion, central, upwind
        if (!in_turn(turn++ + (int)upper)) continue;
        Medium coarse;
        coarse.forms[0][0] = lower, coarse.forms[0][1] = upper;
        coarse.N[0] = 40;
        coarse.mean = kind == 1 ? MAT_DIFFUSION_ARITHMETIC : MAT_DIFFUSION_HARMONIC;
        coarse.advection = kind > 0;
        coarse.scheme = kind == 2 ? MAT_ADVECTION_DIFFUSION_UPWIND : MAT_ADVECTION_DIFFUSION_CENTRAL;
        coarse.w = [](const PetscReal x[], int axis) { return axis ? 3 : 5 * (1 + x[0]); };
        coarse.k = [](const PetscReal x[]) { return PetscExpReal(0.7 * x[0] + 0.2 * x[1] - 0.3 * x[2]); };
        Medium fine = coarse;
        fine.N[0] = 80;
        INFO(describe(coarse));
        CHECK(std::abs(order(coarse, fine) - (kind == 2 ? 1 : 2)) < 0.3);
        if (!(lower == MAT_LAPLACE_ELIMINATED && upper == MAT_LAPLACE_IDENTITY)) continue;
        for (int dim : {2, 3}) {
          coarse.dim = fine.dim = dim;
          for (int a = 0; a < dim; a++) coarse.N[a] = dim == 2 ? 16 : 8, fine.N[a] = dim == 2 ? 32 : 17;
          INFO(describe(coarse));
          const PetscReal found = order(coarse, fine);
          INFO("order " << found);
          CHECK(found > (kind == 2 ? 0.7 : 1.85));
        }
      }
}
