// What ranks must agree on: vectors of other layouts are an error on all of them; vectors may live on the host on one rank
// and on a GPU on another; a rank that does not come is an error on those that wait.

#include "catch.hpp"
#include "gpu.hpp"
#include "multigrid.hpp"
#include "support.hpp"

#include <petscts.h>

using namespace tests;

// A vector of so many entries, of which the last rank has one more than its share and the first one less.
static Vector shifted_vector(Vec like) {
  PetscInt n;
  int      rank;
  Vector   v;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  OK(VecGetLocalSize(like, &n));
  if (rank == 0) n--;
  if (rank == rank_count() - 1) n++;
  OK(VecCreate(PETSC_COMM_WORLD, &v));
  OK(VecSetSizes(v, n, PETSC_DETERMINE));
  OK(VecSetFromOptions(v));
  OK(VecSet(v, 1));
  return v;
}

// The ranks between the first and the last see nothing wrong with their own part.
TEST_CASE("vectors of another layout are an error on every rank", "[agreement]") {
  if (rank_count() < 2) return;
  for (MatType type : {MATLAPLACE, MATHELMHOLTZ, MATSTENCILSHELL}) {
    INFO(type);
    Problem p = problem(2, 16, 12);
    Grid    da = make_grid(p);
    Matrix  A;
    OK(DMSetMatType(da, type));
    OK(DMCreateMatrix(da, &A));
    if (std::string(type) == MATSTENCILSHELL) assemble(p, da, A);
    Vector x = random_vector(da, 1), before = make_vector(da), after = make_vector(da);
    OK(MatMult(A, x, before));
    const std::function<PetscErrorCode(Vec, Vec)> calls[] = {
        [&](Vec wrong, Vec right) { return MatMult(A, wrong, right); },
        [&](Vec wrong, Vec right) { return MatMult(A, right, wrong); },
        [&](Vec wrong, Vec right) { return MatMultTranspose(A, wrong, right); },
        [&](Vec wrong, Vec right) { return MatMultTranspose(A, right, wrong); },
        [&](Vec wrong, Vec right) { return MatResidual(A, wrong, right, after); },
        [&](Vec wrong, Vec right) { return MatSOR(A, wrong, 1, SOR_LOCAL_FORWARD_SWEEP, 0, 1, 1, right); },
        [&](Vec wrong, Vec right) { return MatSOR(A, right, 1, SOR_LOCAL_FORWARD_SWEEP, 0, 1, 1, wrong); },
    };
    for (const auto &call : calls) {
      Vector wrong = shifted_vector(x), right = random_vector(da, 2); // an error leaves vectors locked
      EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({}), [&] { return call(wrong, right); });
    }
    OK(MatMult(A, x, after));
    CHECK(difference(after, before) == 0);
  }
}

TEST_CASE("a setting that differs between the ranks is an error on all of them, and changes nothing", "[agreement]") {
  if (rank_count() < 2) return;
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const bool      first = rank == 0;
  const PetscReal own = 1 + (PetscReal)rank, pair[2] = {1, own};
  const auto      refuses = [](const std::vector<std::function<PetscErrorCode()>> &calls) {
    for (size_t n = 0; n < calls.size(); n++) {
      INFO("call " << n);
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"Set", "give all ranks the same"}), calls[n]);
    }
  };
  const Problem p = problem(2, 16, 12);
  Grid          da = make_grid(p);
  Vector        x = random_vector(da, 1), before = make_vector(da), after = make_vector(da);
  for (MatType type : {MATHELMHOLTZ, MATADVECTIONDIFFUSION}) {
    INFO(type);
    Matrix A;
    OK(MatCreate(PETSC_COMM_WORLD, &A));
    OK(MatSetDM(A, da));
    OK(MatSetType(A, type));
    refuses({[&] { return MatLaplaceSetBoundary(A, first ? MAT_LAPLACE_NEUMANN : MAT_LAPLACE_IDENTITY); },
             [&] { return MatLaplaceSetRobin(A, 1, &own); }, [&] { return MatLaplaceSetLengths(A, 2, pair); }});
    if (std::string(type) == MATHELMHOLTZ)
      refuses({[&] { return MatLaplaceSetShape(A, first ? MAT_LAPLACE_STAR : MAT_LAPLACE_BOX); }});
    OK(MatSetUp(A));
    OK(MatMult(A, x, before));
    if (std::string(type) == MATHELMHOLTZ)
      refuses({[&] { return MatHelmholtzSetShift(A, own); }});
    else
      refuses({[&] { return MatDiffusionSetConstant(A, own); }, [&] { return MatDiffusionSetShift(A, own); },
               [&] { return MatDiffusionSetMean(A, first ? MAT_DIFFUSION_HARMONIC : MAT_DIFFUSION_ARITHMETIC); },
               [&] { return MatAdvectionDiffusionSetConstantVelocity(A, 2, pair); },
               [&] {
                 return MatAdvectionDiffusionSetScheme(A, first ? MAT_ADVECTION_DIFFUSION_CENTRAL
                                                                : MAT_ADVECTION_DIFFUSION_UPWIND);
               }});
    OK(MatMult(A, x, after));
    CHECK(difference(after, before) == 0);
  }

  Matrix         A = make_operator(p, da);
  Preconditioner pc = make_pc(A);
  OK(PCApply(pc, x, before));
  refuses({[&] { return PCStencilMGSetSmooths(pc, 1 + rank % 3); }, [&] { return PCStencilMGSetLevels(pc, 1 + rank); },
           [&] { return PCStencilMGSetCycles(pc, 1 + rank); },
           [&] { return PCStencilMGSetType(pc, first ? PC_STENCILMG_FULL : PC_STENCILMG_MULTIPLICATIVE); }});
  OK(PCApply(pc, x, after));
  CHECK(difference(after, before) == 0);

#if !defined(PETSC_USE_COMPLEX)
  Grid                 line;
  Owned<TS, TSDestroy> ts;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 8 * rank_count(), 1, 3, NULL, &line));
  OK(DMSetUp(line));
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, line));
  OK(TSSetBurgers(ts));
  Vector u = random_vector(line, 1), rate = make_vector(line), again = make_vector(line);
  OK(TSComputeRHSFunction(ts, 0, u, rate));
  refuses({[&] { return TSBurgersSetViscosity(ts, own); }, [&] { return TSBurgersSetLengths(ts, 1, &own); },
           [&] { return TSBurgersSetSpeed(ts, own); }, [&] { return TSBurgersSetInflow(ts, 2, pair); },
           [&] { return TSBurgersSetCheckInterval(ts, rank); },
           [&] { return TSBurgersSetFlux(ts, first ? TS_BURGERS_GODUNOV : TS_BURGERS_RUSANOV); },
           [&] { return TSBurgersSetReconstruction(ts, first ? TS_BURGERS_CONSTANT : TS_BURGERS_WENO5); },
           [&] { return TSBurgersSetBoundary(ts, first ? TS_BURGERS_OUTFLOW : TS_BURGERS_INFLOW); },
           [&] { return TSBurgersSetFused(ts, TS_BURGERS_EULER, 1 + rank); }});
  OK(TSComputeRHSFunction(ts, 0, u, again));
  CHECK(difference(again, rate) == 0);
#endif
}

// Each type's first option: on one rank alone, with two values, and with one that is impossible on one rank.
TEST_CASE("an option that differs between the ranks is an error on all of them", "[agreement]") {
  if (rank_count() < 2) return;
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const Problem p = problem(2, 16, 12);
  Grid          da = make_grid(p);
  const struct {
    const char *type, *option, *value, *other; // of a Mat, or of a PC
  } cases[] = {
      {MATSTENCILSHELL, "-test_mat_stencil_compress", "arrays", "constant"},
      {MATSTENCILSHELL, "-test_mat_stencil_verify", "true", "maybe"},
      {MATSTENCILSHELL, "-test_mat_stencil_halo", "host", "ipc"},
      {MATLAPLACE, "-test_mat_laplace_boundary", "identity", "neumann"},
      {MATLAPLACE, "-test_mat_laplace_lengths", "1,2", "1,two"},
      {MATHELMHOLTZ, "-test_mat_helmholtz_shift", "1", "2"},
      {MATADVECTIONDIFFUSION, "-test_mat_advection_diffusion_velocity", "1,2", "2,1"},
      {NULL, "-test_pc_stencilmg_smooths", "1", "2"},
      {NULL, "-test_pc_stencilmg_levels", "2", "two"},
      {NULL, "-test_pc_stencilmg_monitor", "true", "false"},
  };
  for (const auto &c : cases)
    for (const char *of_others : {c.other, (const char *)NULL}) {
      INFO(c.option << " " << c.value << ", on other ranks " << (of_others ? of_others : "none"));
      const char    *given = rank ? of_others : c.value;
      Matrix         A;
      Preconditioner pc;
      OK(MatCreate(PETSC_COMM_WORLD, &A));
      OK(MatSetDM(A, da));
      OK(MatSetType(A, c.type ? c.type : MATLAPLACE));
      OK(MatSetOptionsPrefix(A, "test_"));
      OK(PCCreate(PETSC_COMM_WORLD, &pc));
      OK(PCSetType(pc, PCSTENCILMG));
      OK(PCSetOptionsPrefix(pc, "test_"));
      if (given) OK(PetscOptionsSetValue(NULL, c.option, given));
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"differs between the ranks", c.value, "give all ranks the same"}),
                   [&] { return c.type ? MatSetFromOptions(A) : PCSetFromOptions(pc); });
      if (given) OK(PetscOptionsClearValue(NULL, c.option));
    }
}

TEST_CASE("a vector of another layout is no diagonal of a sum or of Burgers' Jacobian", "[agreement]") {
  if (rank_count() < 2) return;
  Matrix A;
  Vector points;
  OK(VecCreate(PETSC_COMM_WORLD, &points));
  OK(VecSetBlockSize(points, 2));
  OK(VecSetSizes(points, 2 * 7, PETSC_DETERMINE));
  OK(VecSetFromOptions(points));
  OK(VecSet(points, 1));
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, points, points, &A));
  Vector like;
  OK(MatCreateVecs(A, &like, NULL));
  Vector wrong = shifted_vector(like);
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({}), [&] { return MatGetDiagonal(A, wrong); });
#if !defined(PETSC_USE_COMPLEX)
  Grid                 line;
  Owned<TS, TSDestroy> ts;
  Mat                  J;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 8 * rank_count(), 1, 3, NULL, &line));
  OK(DMSetUp(line));
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, line));
  OK(TSSetBurgers(ts));
  Vector u = random_vector(line, 1), y = make_vector(line);
  OK(TSGetRHSJacobian(ts, &J, NULL, NULL, NULL));
  OK(TSComputeRHSJacobian(ts, 0, u, J, J));
  Vector other = shifted_vector(u), another = shifted_vector(u), third = shifted_vector(u);
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({}), [&] { return MatGetDiagonal(J, other); });
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({}), [&] { return MatMult(J, another, y); });
  Vector v = random_vector(line, 2);
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({}), [&] { return MatMult(J, v, third); });
#endif
}

#if defined(PETSC_HAVE_CUDA)

// Bound to the host on every third rank, from `which` on.
static void bind(Vec v, int which) {
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  OK(VecBindToCPU(v, which == rank % 3 ? PETSC_TRUE : PETSC_FALSE));
}

TEST_CASE("vectors may be on the host on some ranks, and on a GPU on others", "[agreement][device]") {
  if (no_gpu()) return;
  for (const char *way : {"automatic", "host"})
    for (bool captured : {false, true}) {
      INFO(way << ", captured: " << captured);
      Options set(std::string("-mat_laplace_halo ") + way + " -mat_stencil_halo " + way);
      Problem p = problem(2, 20, 17);
      p.ends[0] = DM_BOUNDARY_PERIODIC;
      Grid da = make_grid(p);
      OK(DMSetVecType(da, VECCUDA));
      Matrix A;
      OK(DMSetMatType(da, captured ? MATSTENCILSHELL : MATLAPLACE));
      OK(DMCreateMatrix(da, &A));
      if (captured) assemble(p, da, A);
      Vector x = random_vector(da, 1), b = random_vector(da, 2), expected = make_vector(da), swept = copy_of(x);
      OK(MatMult(A, x, expected));
      OK(MatSOR(A, b, 1, SOR_FORWARD_SWEEP, 0, 2, 1, swept));
      for (int which_x = 0; which_x < 4; which_x++)
        for (int which_y = 0; which_y < 4; which_y++) {
          Vector from = copy_of(x), to = make_vector(da), relaxed = copy_of(x);
          bind(from, which_x);
          bind(to, which_y);
          OK(MatMult(A, from, to));
          OK(VecBindToCPU(to, PETSC_FALSE));
          CHECK(difference(to, expected) <= exact);
          if (captured && rank_count() == 1 && which_x == 0) continue; // on host vectors it sweeps in another order
          bind(relaxed, which_x);
          OK(MatSOR(A, b, 1, SOR_FORWARD_SWEEP, 0, 2, 1, relaxed));
          OK(VecBindToCPU(relaxed, PETSC_FALSE));
          CHECK(difference(relaxed, swept) <= 10 * exact);
        }
    }
}

TEST_CASE("a GPU does not wait for ever", "[agreement][device]") {
  if (skips(no_gpu(false) || rank_count() < 2)) return;
  Problem p = problem(2, 20, 17);
  Grid    da = make_grid(p);
  OK(DMSetVecType(da, VECCUDA));
  Matrix A = make_operator(p, da);
  if (view(A, PETSC_VIEWER_ASCII_INFO).find("CUDA IPC") == std::string::npos) return; // MPI waits as it likes
  Vector    x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
  int       rank;
  PetscReal norm = 0;
  OK(MatMult(A, x, y));
  OK(ShellacSetHaloTimeout(1));
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank == 0) { // alone
    OK(MatMult(A, x, y));
    const PetscScalar *array;
    PetscInt           n;
    OK(VecGetLocalSize(y, &n));
    OK(VecGetArrayRead(y, &array));
    for (PetscInt i = 0; i < n; i++) norm += PetscAbsScalar(array[i]);
    OK(VecRestoreArrayRead(y, &array));
  }
  MPI_Bcast(&norm, 1, MPIU_REAL, 0, PETSC_COMM_WORLD);
  CHECK(PetscIsNanReal(norm)); // no result looks right
  std::string message;
  int         failed = 0;
  if (rank == 0) {
    OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    failed = MatMult(A, x, z) == PETSC_ERR_LIB;
    OK(PetscPopErrorHandler());
  }
  MPI_Bcast(&failed, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  CHECK(failed);
  OK(ShellacSetHaloTimeout(300));
  Matrix B = make_operator(p, da); // a new one works
  Vector v = random_vector(da, 1), w = make_vector(da);
  OK(MatMult(B, v, w));
  CHECK(!PetscIsNanReal(difference(w, v)));
}

#endif

TEST_CASE("a time limit that is no time is an error", "[agreement]") {
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"shellac_halo_timeout", "-1", "0 for no limit"}),
               [] { return ShellacSetHaloTimeout(-1); });
  Options set("-shellac_halo_timeout -3");
  Problem p = problem(2, 20, 17);
  Grid    da = make_grid(p);
  Matrix  A;
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"shellac_halo_timeout", "-3"}), [&] { return MatCreateLaplace(da, &A); });
}
