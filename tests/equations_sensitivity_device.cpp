// Derivatives of equations by parameters and fields on a GPU: what the host computes, and no copies.

#include "catch.hpp"
#include "equations.hpp"
#include "gpu.hpp"

#include <algorithm>

using namespace tests;

#if defined(PETSC_HAVE_CUDA) && !defined(PETSC_USE_COMPLEX)

// The largest difference beside the largest value of the second one.
static PetscReal worst(DM da, Vec v, DM reference_da, Vec reference) {
  return difference_beside_largest(natural_values(da, v), natural_values(reference_da, reference));
}

static const char with_data[] =
    "parameter(a, 2)\nparameter(b, 0.7)\nfield(k) = 1 + x^a\nfield(m)\nunknowns(u, v)\nrobin(left, a) = b*y\n"
    "neumann(right, u) = -b*(u^2 - a)\nneumann(right, v)\nneumann(bottom) = a\ndirichlet(top) = b*x^a + t\n"
    "rate(u) = d(k, u) + b*v^a + laplacian(a*u*m) + floor(a)*dx(k*m)\nrate(v) = max(a, u)*d(m, v) + upwind_x(b, "
    "u)*m(1)";

TEST_CASE("derivatives by data are the same on the GPU as on the host, and copy no vector", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work())) return;
  OK(PetscLogDefaultBegin());
  for (const char *text :
       {with_data,
        "parameter(a, 2)\nfield(m)\nunknowns(u, v)\nsolid = abs(x - 0.5) < 0.2\ndirichlet(solid, u) = a*y\n"
        "stretch(x, geometric, 3)\nidentity(left) = a*t\nrate(u) = d(m, u)\nrate(v) = d(v^a, v) + u*m(1)*m",
        "parameter(a, 2)\nfield(m)\nunknowns(u, v)\nneumann(sides)\nresidual(u) = u*mean(m^a*v)\n"
        "residual(v) = integral(m*v)*laplacian(m) - v^a*m"}) {
    INFO(text);
    Lattice l;
    l.N[0] = 61, l.N[1] = 50, l.dof = 2;
    Grid       grids[2];
    Matrix     P[2], K[2];
    Vector     products[2], transposed[2], by_parameters[2];
    const bool sums = std::string(text).find("mean") != std::string::npos; // whose transposes are on the host
    for (int n = 0; n < 2; n++) {
      Grid of_field;
      OK(make_grid(l, nullptr, &grids[n]));
      OK(DMSetVecType(grids[n], n ? VECCUDA : VECSTANDARD));
      OK(DMDASetEquation(grids[n], text));
      OK(DMDACreateCompatibleDMDA(grids[n], 1, &of_field));
      OK(DMSetVecType(of_field, n ? VECCUDA : VECSTANDARD));
      Vector m = random_vector(of_field, 1), u = random_vector(grids[n], 2), v = random_vector(of_field, 3),
             w = random_vector(grids[n], 4);
      OK(VecShift(m, 2));
      OK(VecShift(u, 2));
      OK(DMDAEquationSetField(grids[n], "m", m));
      OK(DMDACreateEquationJacobianP(grids[n], NULL, &P[n]));
      OK(DMDACreateEquationJacobianP(grids[n], "m", &K[n]));
      products[n] = make_vector(grids[n]), transposed[n] = make_vector(of_field);
      const auto by_field = [&] {
        OK(DMDAEquationComputeJacobianP(grids[n], 0.3, u, K[n]));
        OK(MatMult(K[n], v, products[n]));
        if (!n || !sums) OK(MatMultTranspose(K[n], w, transposed[n]));
      };
      by_field();
      const PetscReal half = (PetscReal)(l.N[0] * l.N[1] * (PetscInt)sizeof(PetscScalar)) / 2;
      if (n && rank_count() == 1) CHECK(bytes_copied(by_field) <= half);
      OK(MatMultTranspose(K[n], w, transposed[n]));
      OK(DMDAEquationComputeJacobianP(grids[n], 0.3, u, P[n]));
      Vector x;
      OK(MatCreateVecs(P[n], &x, NULL));
      OK(VecSet(x, 1.5));
      by_parameters[n] = make_vector(grids[n]);
      OK(MatMult(P[n], x, by_parameters[n]));
      if (n) {
        Grid host_field;
        OK(DMDACreateCompatibleDMDA(grids[0], 1, &host_field));
        CHECK(worst(grids[1], products[1], grids[0], products[0]) < 1e-11);
        CHECK(worst(of_field, transposed[1], host_field, transposed[0]) < 1e-11);
        CHECK(worst(grids[1], by_parameters[1], grids[0], by_parameters[0]) < 1e-11);
      }
    }
  }
}

#else

TEST_CASE("derivatives by data on a GPU", "[equations][device]") {
  (void)no_gpu();
}

#endif
