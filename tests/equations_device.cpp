// Equations as text on a GPU: what the host computes, and no copies.

#include "catch.hpp"
#include "equations.hpp"
#include "equations/nvrtc.hpp"
#include "equations/source.hpp"
#include "gpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace tests;

// To compile takes half a second to three of them each.
static const char *const compiled_stretched[] = {"diffusion.h"}, *const compiled_action[] = {"elasticity.h"};

static shellac::EquationShape shape_of(const shellac::EquationText &text, bool action, bool stretched) {
  shellac::EquationShape shape;
  shape.dim = text.dim ? text.dim : 2, shape.width = std::max(text.width, 1), shape.box = text.box;
  shape.stretched = stretched;
  return shape_on_gpu(shape, text, action, has_columns(shape, text) ? 2 : 1);
}

// By NVRTC, on one rank.
static bool compiles_for_gpu() {
  const bool does = shellac::nvrtc_present() && rank_count() == 1;
  if (!does) cases_skipped++;
  return does;
}

// Needs no GPU.
TEST_CASE("every text of the gallery compiles for a GPU", "[equations]") {
  if (!compiles_for_gpu()) return;
  (void)equations_work(); // with the tests' cache: what has not changed is not compiled again
  const auto compile = [](const char *file, bool action, bool stretched) {
    const shellac::EquationText  text = gallery_text(file);
    const shellac::EquationShape shape = shape_of(text, action, stretched);
    std::vector<std::string>     sources, binaries;
    std::string                  problem;
    PetscLogDouble               begin, end;
    OK(PetscTime(&begin));
    for (const char *kernel : {action ? "products" : "values", action ? "diagonals" : "entries"})
      sources.push_back(shellac::equation_kernel(text, shape, kernel));
    OK(shellac::CompileKernels(PETSC_COMM_WORLD, sources, file, 90, "", &binaries, &problem));
    OK(PetscTime(&end));
    INFO(file << ", " << end - begin << " s");
    CHECK(problem == "");
    CHECK(binaries.size() == 2);
    CHECK(end - begin < 60); // on a busy machine; minutes where the compiler sees derivatives in loops
  };
  for (const char *file : gallery) compile(file, false, false);
  for (const char *file : compiled_action) compile(file, true, false);
  for (const char *file : compiled_stretched) compile(file, false, true);
#if defined(PETSC_USE_COMPLEX)
  compile("helmholtz.h", false, false);
  compile("helmholtz.h", true, false);
#endif
  // for a GPU that NVRTC does not know, of an architecture after 9.0
  std::string binary;
  CHECK(shellac::nvrtc_compile("extern \"C\" __global__ void nothing() {}", "nothing", 95, &binary) == "");
  CHECK(binary.find(".target sm_90") != std::string::npos);
  CHECK(shellac::nvrtc_compile("nonsense", "wrong", 90, &binary).find("wrong(1)") != std::string::npos);
}

TEST_CASE("kernels that are compiled at the same time are kept in one file, and have one message", "[equations]") {
  if (!compiles_for_gpu()) return;
  (void)equations_work();
  const std::string        good = "extern \"C\" __global__ void nothing() {}", wrong = "nonsense";
  std::vector<std::string> made, read;
  std::string              problem;
  for (auto *binaries : {&made, &read})
    OK(shellac::CompileKernels(PETSC_COMM_WORLD, {good, good + "\n", good}, "nothing", 90, "", binaries, &problem));
  CHECK(problem == "");
  REQUIRE(made.size() == 3);
  for (const std::string &binary : made) CHECK(binary.substr(1, 3) == "ELF");
  CHECK(made == read);
  OK(shellac::CompileKernels(PETSC_COMM_WORLD, {good, wrong, wrong}, "wrong", 90, "", &made, &problem));
  CHECK(made.empty());
  CHECK(problem.find("wrong(1)") != std::string::npos);
  CHECK(problem.find("wrong(1)") == problem.rfind("wrong(1)"));
}

// Bytes of a thread's memory that a text's kernel takes, from what NVRTC writes for a GPU that it does not know.
static int bytes_in_memory(const std::string &content, const char *kernel = "values", bool of_data = false) {
  shellac::EquationText text;
  std::string           assembly;
  int                   bytes = 0;
  REQUIRE(shellac::read_equation("text", content, &text) == "");
  auto shape = shape_of(text, !strcmp(kernel, "products"), false);
  shape.of_data = of_data;
  const std::string source = shellac::equation_kernel(text, shape, kernel);
  CHECK(shellac::nvrtc_compile(source, "text", 95, &assembly) == "");
  for (size_t at = 0; (at = assembly.find("__local_depot", at)) != std::string::npos; at++) {
    const size_t size = assembly.find_first_not_of("0123456789", at + 13);
    if (assembly[size] == '[') bytes += std::atoi(assembly.c_str() + size + 1);
  }
  return bytes;
}

TEST_CASE("steps that the compiler does not know put no window of values into memory", "[equations]") {
  if (!compiles_for_gpu()) return;
  CHECK(bytes_in_memory("residual = u(1) - u(-1)") == 0);
  CHECK(bytes_in_memory("one = 1\nf(i) = u(i + one) - u\nresidual = f(0) - f(-1)") == 0);
  // a neighbour near ends, and where it is
  CHECK(bytes_in_memory("residual = u(x < 0.5 ? 1 : -1) - u") <= 128);
  CHECK(bytes_in_memory("f(i) = u(i) - u\nresidual = f(x < 0.5 ? 1 : -1)") <= 128);
}

static const char with_integrals[] = "identity(left) = y\nneumann(bottom) = x\nw = mean(u)\n"
                                     "residual = -laplacian(u) + integral(u*dx(u)*(u - w)^2)*w - u*integral(x)";

TEST_CASE("fluxes by weno5, and rates of second order in time, compile for a GPU", "[equations]") {
  if (!compiles_for_gpu()) return;
  for (const std::string kernel : {"values", "entries", "products"}) {
    const int most = kernel == "entries" ? 2048 : 128; // their many derivatives are in memory
    CHECK(bytes_in_memory("grid(2, star, 3)\nrate = -weno5_x(u^2/2, u, u) - hll_weno5_y(u, u, 1, u)", kernel.c_str()) <=
          most);
    CHECK(bytes_in_memory("dirichlet(sides) = t*x\nrate2 = laplacian(u) - u_t", kernel.c_str()) <= 128);
    CHECK(bytes_in_memory("neumann(sides) = -u_t/2\nrate2 = laplacian(u)", kernel.c_str()) <= most);
  }
}

TEST_CASE("a text with integrals compiles for a GPU", "[equations]") {
  if (!compiles_for_gpu()) return;
  for (const char *kernel : {"values", "entries", "products", "diagonals", "integrands"})
    CHECK(bytes_in_memory(with_integrals, kernel) <= 128);
}

static const char with_data[] =
    "parameter(a, 2)\nparameter(b, 0.7)\nfield(k) = 1 + x^a\nfield(m)\nunknowns(u, v)\nrobin(left, a) = b*y\n"
    "neumann(right, u) = -b*(u^2 - a)\nneumann(right, v)\nneumann(bottom) = a\ndirichlet(top) = b*x^a + t\n"
    "rate(u) = d(k, u) + b*v^a + laplacian(a*u*m) + floor(a)*dx(k*m)\nrate(v) = max(a, u)*d(m, v) + upwind_x(b, "
    "u)*m(1)";

#if !defined(PETSC_USE_COMPLEX)
TEST_CASE("derivatives by data compile for a GPU", "[equations]") {
  if (!compiles_for_gpu()) return;
  const std::string given = "identity(left) = a*y*t\nneumann(top) = a\nrate = d(k, u) + a*u*mean(k*u)",
                    solid = "solid = k > 1.5\ndirichlet(solid) = a*t\nresidual = a*u - d(k, u)";
  for (const std::string &text : {std::string(with_data), "parameter(a, 2)\nfield(k)\n" + given,
                                  "grid(3, box, 2)\nparameter(a, 2)\nfield(k)\n" + solid})
    for (const char *kernel : {"products", "transposed", "integrands"})
      if (kernel[0] != 'i' || text.find("mean") < text.size()) CHECK(bytes_in_memory(text, kernel, true) <= 2048);
}
#endif

static const char with_solid_cells[] =
    "field(k) = 1 + x + y*z\nsolid = abs(x - 0.4) < 0.2 && y + z < 0.9 || k > 1.7\ndirichlet(solid) = x + z\n"
    "identity(left) = y\nneumann(bottom) = x\nresidual = -d(k, u) + u*u + upwind_x(u, u)";

TEST_CASE("a text with solid cells compiles for a GPU", "[equations]") {
  if (!compiles_for_gpu()) return;
  for (const char *kernel : {"values", "entries", "products", "diagonals"})
    CHECK(bytes_in_memory(std::string("grid(3)\n") + with_solid_cells, kernel) <= 128);
}

static const char many_unknowns[] = "grid(3, box, 2)\nunknowns(u1, u2, u3, u4, u5)\n"
                                    "residual(u1) = -laplacian(u1) + u2(2, -1, 1)\n"
                                    "residual(u2) = -laplacian(u2) + u3 * u1\n"
                                    "residual(u3) = -laplacian(u3) + u4(-2, 2, -2)\n"
                                    "residual(u4) = -laplacian(u4) + u5\nresidual(u5) = -laplacian(u5) + u1";

TEST_CASE("many unknowns on a wide stencil compile soon and stay out of memory", "[equations]") {
  if (!compiles_for_gpu()) return;
  PetscLogDouble begin, end;
  OK(PetscTime(&begin));
  CHECK(bytes_in_memory(many_unknowns) <= 128);
  CHECK(bytes_in_memory(many_unknowns, "entries") <= 256); // of 3125 entries
  OK(PetscTime(&end));
  CHECK(end - begin < 30); // two on a machine that does nothing else
}

#if defined(PETSC_HAVE_CUDA)

// Those of which the stretched forms are tested, too: all helpers, fields, several unknowns, periodic axes.
static const char *const stretched_gallery[] = {"advection_diffusion.h", "bratu.h",     "diffusion.h",
                                                "elasticity.h",          "p_laplace.h", "shallow_water.h"};

// The residual or the rate, at a time, for the equation of a grid.
class Evaluation {
public:
  explicit Evaluation(DM da) {
    OK(DMDAEquationIsRate(da, &rate_));
    OK(SNESCreate(PETSC_COMM_WORLD, &snes_));
    OK(TSCreate(PETSC_COMM_WORLD, &ts_));
    if (rate_)
      OK(TSSetDM(ts_, da));
    else
      OK(SNESSetDM(snes_, da));
  }
  void values(Vec u, Vec f) {
    if (rate_)
      OK(TSComputeRHSFunction(ts_, 0.3, u, f));
    else
      OK(SNESComputeFunction(snes_, u, f));
  }

private:
  PetscBool                rate_;
  Owned<SNES, SNESDestroy> snes_;
  Owned<TS, TSDestroy>     ts_;
};

static PetscReal difference_of_values(DM da, Vec v, DM reference_da, Vec reference) {
  return difference_beside_largest(natural_values(da, v), natural_values(reference_da, reference));
}

// Of the same equation, on grids of vectors on the host and on the GPU. stored: entries, too
static void check_same(DM host, DM device, bool stored = true) {
  Vector     u = random_vector(host, 1), f = make_vector(host), v = random_vector(device, 1), g = make_vector(device);
  Evaluation on_host(host), on_device(device);
  OK(VecShift(u, 2)); // positive
  OK(VecShift(v, 2));
  on_host.values(u, f);
  on_device.values(v, g);
  CHECK(difference_of_values(device, g, host, f) < 1e-11);
  for (const char *type : {MATSTENCILSHELL, MATAIJ}) {
    if (!stored) break;
    Matrix    A = jacobian(host, u, type), B = jacobian(device, v, type);
    PetscReal size;
    INFO(type);
    OK(MatNorm(A, NORM_FROBENIUS, &size));
    CHECK(size > 0);
    CHECK(difference(B, A) < 1e-11);
  }
  Matrix A = jacobian(host, u, MATEQUATION), B = jacobian(device, v, MATEQUATION);
  Vector x = random_vector(host, 3), y = random_vector(device, 3);
  OK(MatMult(A, x, f));
  OK(MatMult(B, y, g));
  CHECK(difference_of_values(device, g, host, f) < 1e-11);
  OK(MatGetDiagonal(A, f));
  OK(MatGetDiagonal(B, g));
  CHECK(difference_of_values(device, g, host, f) < 1e-11);
}

TEST_CASE("texts give the same values and entries on the GPU as on the host", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work())) return;
  const auto compare = [](const char *file) {
    for (PetscInt N : {7, 40}) {
      INFO(file << ", " << N << " points along each axis");
      check_same(gallery_grid(file, N, VECSTANDARD), gallery_grid(file, N, VECCUDA));
    }
  };
  for (const char *file : gallery) compare(file);
  Options stretch("-equation_stretch_x geometric,3 -equation_stretch_y tanh,1");
  for (const char *file : stretched_gallery) compare(file);
}

// Compares a text in 3-D on the host with the same on the GPU.
static void check_rows(const char *text, PetscInt N, DMDAStencilType shape, PetscInt width, bool periodic,
                       bool stored = true) {
  Lattice l;
  Grid    grids[2];
  INFO(text << "\n" << N << " points in a row");
  l.dim = 3, l.N[0] = N, l.N[1] = 9, l.N[2] = 11, l.shape = shape, l.width = width;
  if (periodic) l.ends[0] = DM_BOUNDARY_PERIODIC;
  for (int n = 0; n < 2; n++) {
    OK(make_grid(l, nullptr, &grids[n]));
    OK(DMSetVecType(grids[n], n ? VECCUDA : VECSTANDARD));
    OK(DMDASetEquation(grids[n], text));
  }
  check_same(grids[0], grids[1], stored);
}

TEST_CASE("integrals are the same on the GPU as on the host", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work())) return;
  for (const PetscInt N : {9, 66}) check_rows(with_integrals, N, DMDA_STENCIL_STAR, 1, false, false);
  const std::string stretched = std::string("stretch(x, geometric, 3)\n") + with_integrals;
  check_rows(stretched.c_str(), 34, DMDA_STENCIL_BOX, 2, false, false);
}

TEST_CASE("solid cells are the same on the GPU as on the host", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work())) return;
  for (const PetscInt N : {9, 66}) check_rows(with_solid_cells, N, DMDA_STENCIL_STAR, 1, false);
  check_rows("solid = abs(x - 0.4) < 0.2 && z < 0.6\nneumann(sides)\nresidual = u - laplacian(u^2) + mean(u)", 34,
             DMDA_STENCIL_BOX, 2, true, false);
  for (const PetscInt N : {7, 40})
    check_same(gallery_grid("double_slit.h", N), gallery_grid("double_slit.h", N, VECCUDA));
}

// On even rows of one rank a thread computes two columns.
TEST_CASE("a text in 3-D is the same on the GPU as on the host for even and odd rows", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work())) return;
  for (const PetscInt N : {9, 22, 66})
    check_rows("field(k) = 1 + x + y*z\nidentity(left) = y\neliminated(right) = z + 1\n"
               "neumann(bottom) = x\nrobin(top, 3) = 1\nresidual = -d(k, u) + u * u",
               N, DMDA_STENCIL_STAR, 1, false);
}

// The rules at their ends are factors of values.
TEST_CASE("whole rows of a text in 3-D are the same on the GPU as on the host", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work())) return;
  for (const PetscInt N : {9, 66})
    check_rows("robin(left, 2)\nneumann(bottom) = x\nidentity(back) = y\nresidual = -laplacian(u) + u * u", N,
               DMDA_STENCIL_STAR, 1, false);
  check_rows("neumann(right)\nresidual = -laplacian(u) + dxy(u) + u(1, 1, 1) * u(-1, -1, -1)", 34, DMDA_STENCIL_BOX, 1,
             false);
  check_rows("periodic(x)\nresidual = u * u(1, -1, 1) - u(-1, 1, -1)", 34, DMDA_STENCIL_BOX, 1, true);
  check_rows("neumann(left)\nresidual = -laplacian(u) + u * u(2, 0, 0) - u(-2, 0, 0)", 22, DMDA_STENCIL_STAR, 2, false);
  // what asks where the ends are
  check_rows("robin(left, 2)\nresidual = -d(1 + u*u, u) + hll_x(u^2, u - 1, u + 1, u)", 66, DMDA_STENCIL_STAR, 1,
             false);
  check_rows("residual = -laplacian(u, 4) + hll_vanleer_y(u^2, u, 2*u, u)", 22, DMDA_STENCIL_STAR, 2, false);
  check_rows("neumann(sides)\nresidual = -laplacian(u) + weno5_x(u^2, 2*u, u)", 22, DMDA_STENCIL_STAR, 3, false);
}

// A captured Mat looks for slots that are zero at each assembly.
TEST_CASE("slots of a Jacobian on a GPU that are zero at one state are not so at another", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work())) return;
  Lattice                  l;
  Grid                     grid;
  Owned<SNES, SNESDestroy> snes;
  l.N[0] = l.N[1] = 20, l.shape = DMDA_STENCIL_BOX;
  OK(make_grid(l, nullptr, &grid));
  OK(DMSetVecType(grid, VECCUDA));
  OK(DMSetMatType(grid, MATSTENCILSHELL));
  OK(DMDASetEquation(grid, "residual = 3 * u + u * u(1, 1) + u * u(0, -1)"));
  Vector u = make_vector(grid);
  Matrix J;
  OK(DMCreateMatrix(grid, &J));
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, grid));
  OK(VecSet(u, 0));
  for (const PetscReal state : {0., 1., 0.}) {
    Vector    x = make_vector(grid), y = make_vector(grid);
    PetscReal norm;
    OK(VecSet(u, state));
    OK(SNESComputeJacobian(snes, u, J, J));
    OK(VecSet(x, 1));
    OK(MatMult(J, x, y));
    OK(VecNorm(y, NORM_INFINITY, &norm)); // of a row without ends
    CHECK(PetscAbsReal(norm - 3 - 4 * state) < 1e-12);
  }
}

TEST_CASE("a text with a field is the same on a grid of many blocks on the GPU as on the host", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work() || rank_count() > 1)) return;
  Lattice l;
  Grid    grids[2];
  Vector  values[2];
  l.N[0] = 1301, l.N[1] = 1203;
  for (int n = 0; n < 2; n++) {
    OK(make_grid(l, nullptr, &grids[n]));
    OK(DMSetVecType(grids[n], n ? VECCUDA : VECSTANDARD));
    OK(DMDASetEquation(grids[n], "field(k) = 1 + x + y*y\nresidual = -d(k, u)"));
    Vector u = random_vector(grids[n], 1);
    values[n] = make_vector(grids[n]);
    Evaluation(grids[n]).values(u, values[n]);
  }
  CHECK(difference_of_values(grids[1], values[1], grids[0], values[0]) < 1e-11);
}

// Its kernels have no window, and compute entries in a loop.
TEST_CASE("a text of many unknowns on a wide stencil is the same on the GPU as on the host", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work())) return;
  Lattice l;
  Grid    grids[2];
  l.dim = 3, l.width = 2, l.dof = 5, l.shape = DMDA_STENCIL_BOX;
  for (PetscInt &N : l.N) N = 9;
  for (int n = 0; n < 2; n++) {
    OK(make_grid(l, nullptr, &grids[n]));
    OK(DMSetVecType(grids[n], n ? VECCUDA : VECSTANDARD));
    OK(DMDASetEquation(grids[n], many_unknowns));
  }
  check_same(grids[0], grids[1]);
}

TEST_CASE("texts take vectors on the GPU whose arrays are not aligned", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work() || rank_count() > 1)) return;
  for (const char *file : {"gray_scott.h", "allen_cahn.h"}) { // of two unknowns; of two columns
    INFO(file);
    Grid       da = gallery_grid(file, 20, VECCUDA);
    Vector     u = random_vector(da, 1), f = make_vector(da), g = make_vector(da);
    Evaluation evaluation(da);
    evaluation.values(u, f);
    at_offset(u, 1, [&](Vec v) { evaluation.values(v, g); });
    CHECK(difference_of_values(da, g, da, f) < 1e-11);
    OK(VecSet(g, 0));
    at_offset(g, 1, [&](Vec h) { evaluation.values(u, h); });
    CHECK(difference_of_values(da, g, da, f) < 1e-11);
  }
}

static PetscErrorCode solve_in_time(DM da, Vec u, PetscInt steps, PetscReal step) {
  Owned<TS, TSDestroy> ts;

  PetscFunctionBeginUser;
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(TSSetTimeStep(ts, step));
  PetscCall(TSSetMaxSteps(ts, steps));
  PetscCall(TSSetMaxTime(ts, 1e9));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("texts are solved on the GPU as on the host", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work())) return;
  {
    Options  options("-dm_mat_type stencil -pc_type jacobi -snes_rtol 1e-11 -ksp_rtol 1e-10 -ksp_max_it 2000");
    Grid     host = gallery_grid("bratu.h", 33, VECSTANDARD), device = gallery_grid("bratu.h", 33, VECCUDA);
    Vector   u, v;
    PetscInt its, device_its;
    OK(solve(host, &u, &its));
    OK(solve(device, &v, &device_its));
    CHECK(its == device_its);
    CHECK(difference_of_values(device, v, host, u) < 1e-9);
  }
  for (const char *type :
       {"rk -ts_adapt_type none", "cn -pc_type jacobi -dm_mat_type stencil -snes_rtol 1e-10 -ksp_rtol 1e-10"})
    for (const char *file : {"gray_scott.h", "allen_cahn.h"}) {
      INFO(file << ", " << type);
      Options options(std::string("-ts_type ") + type);
      Grid    host = gallery_grid(file, 20, VECSTANDARD), device = gallery_grid(file, 20, VECCUDA);
      Vector  u = make_vector(host), v = make_vector(device);
      OK(DMDAEquationComputeInitial(host, u));
      OK(DMDAEquationComputeInitial(device, v));
      OK(solve_in_time(host, u, 5, 1e-3));
      OK(solve_in_time(device, v, 5, 1e-3));
      CHECK(difference_of_values(device, v, host, u) < 1e-9);
    }
}

// The second solve of each, for the first one brings tables to the GPU.
TEST_CASE("Newton's and explicit steps on the GPU copy no vector", "[equations][device]") {
  if (skips(no_gpu(false) || !equations_work() || rank_count() > 1)) return;
  OK(PetscLogDefaultBegin());
  const PetscInt  N = 257;
  const PetscReal little = (PetscReal)(N * N * (PetscInt)sizeof(PetscScalar)) / 2;
  {
    // PETSc's Jacobi looks for zeros in the diagonal on the host, unless it is told not to
    Options options("-dm_mat_type stencil -pc_type jacobi -pc_jacobi_fixdiagonal 0 -ksp_rtol 0.1 -ksp_max_it 30 "
                    "-snes_max_linear_solve_fail 9 -snes_max_it 3 -snes_linesearch_type basic");
    Grid    da = gallery_grid("bratu.h", N, VECCUDA);
    Vector  start = make_vector(da), u = make_vector(da);
    Owned<SNES, SNESDestroy> snes;
    OK(DMDAEquationComputeInitial(da, start));
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    OK(SNESSetFromOptions(snes));
    OK(VecCopy(start, u));
    OK(SNESSolve(snes, NULL, u));
    OK(VecCopy(start, u));
    CHECK(bytes_copied([&] { OK(SNESSolve(snes, NULL, u)); }) <= little);
  }
  {
    Options options("-ts_type rk -ts_adapt_type none");
    Grid    da = gallery_grid("gray_scott.h", N, VECCUDA);
    Vector  u = make_vector(da);
    OK(DMDAEquationComputeInitial(da, u));
    OK(solve_in_time(da, u, 3, 0.1));
    CHECK(bytes_copied([&] { OK(solve_in_time(da, u, 3, 0.1)); }) <= little);
  }
}

#endif
