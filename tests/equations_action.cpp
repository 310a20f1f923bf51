// The Mat type equation: Jacobians that are applied without entries.

#include "catch.hpp"
#include "equations.hpp"
#include "gpu.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

TEST_CASE("the Jacobian without entries is the one with entries", "[equations]") {
  if (!equations_work()) return;
  for (const char *file : gallery) {
    Grid   da = gallery_grid(file, 9);
    Vector u = random_vector(da, 1), v = random_vector(da, 2), x = make_vector(da), y = make_vector(da);
    INFO(file);
    OK(VecShift(u, 2)); // positive
    Matrix A = jacobian(da, u, MATEQUATION), B = jacobian(da, u, MATAIJ), beside = jacobian(da, u, MATEQUATION, MATAIJ);
    OK(VecSet(u, 0)); // A has a copy
    OK(MatMult(B, v, y));
    for (Mat M : {(Mat)A, (Mat)beside}) {
      OK(MatMult(M, v, x));
      CHECK(difference(x, y) <= 1e-12);
    }
    OK(MatGetDiagonal(A, x));
    OK(MatGetDiagonal(B, y));
    CHECK(difference(x, y) <= 1e-12);
    CHECK(difference_of_transposes(A, B, v) <= 1e-12);
    for (Mat M : {(Mat)A, (Mat)B}) {
      OK(MatScale(M, -1));
      OK(MatShift(M, 3));
    }
    OK(MatMult(A, v, x));
    OK(MatMult(B, v, y));
    CHECK(difference(x, y) <= 1e-12);
    CHECK(difference_of_transposes(A, B, v) <= 1e-12);
    Matrix C;
    OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &C));
    EXPECT_ERROR(PETSC_ERR_ORDER, ({"no state yet", "SNESComputeJacobian"}), [&] { return MatMult(C, v, x); });
    EXPECT_ERROR(PETSC_ERR_SUP, ({"MAT_DO_NOT_COPY_VALUES"}), [&] {
      Matrix D;
      return MatDuplicate(A, MAT_COPY_VALUES, &D);
    });
  }
}

TEST_CASE("solves without entries have the iterations of those with entries", "[equations]") {
  if (!equations_work()) return;
  for (const char *file : {"bratu.h", "p_laplace.h", "nine_point.h"}) {
    Options  set("-ksp_type gmres -pc_type jacobi -ksp_rtol 1e-10 -ksp_max_it 500");
    PetscInt its[2], ksp_its[2];
    Vector   u[2];
    INFO(file);
    for (int without = 0; without < 2; without++) {
      Grid da = gallery_grid(file, 17);
      OK(DMSetMatType(da, without ? MATEQUATION : MATAIJ));
      OK(solve(da, &u[without], &its[without], &ksp_its[without]));
    }
    CHECK(its[0] == its[1]);
    CHECK(std::abs(ksp_its[0] - ksp_its[1]) <= 1);
    CHECK(difference(u[1], u[0]) <= 1e-8);
  }
  // multigrid, of which each grid has its own action
  Options mg(
      "-pc_type mg -da_refine 2 -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi -mg_coarse_pc_type jacobi "
      "-mg_coarse_ksp_type gmres -mg_coarse_ksp_rtol 1e-3");
  Grid     da = gallery_grid("bratu.h", 9);
  Vector   u;
  PetscInt its, ksp_its;
  OK(DMSetMatType(da, MATEQUATION));
  OK(solve(da, &u, &its, &ksp_its));
  CHECK(its < 8);
  CHECK(ksp_its < 80);
}

TEST_CASE("Newton's method with the action, and entries for the preconditioner alone", "[equations]") {
  if (!equations_work()) return;
  const char *const text = "residual = laplacian(u) + exp(u)";
  Lattice           l;
  l.N[0] = l.N[1] = 17;
  enum { matrix_free, without_state, with_another_state };
  PetscInt its[3];
  Vector   u[3];
  for (const int kind : {matrix_free, without_state, with_another_state}) {
    Options                  set(kind == matrix_free ? "-snes_mf_operator" : "");
    Owned<SNES, SNESDestroy> snes;
    SNESConvergedReason      reason;
    Grid                     da;
    Matrix                   A, P;
    OK(make_grid(l, nullptr, &da));
    set_equation(da, text);
    u[kind] = make_vector(da);
    OK(VecSet(u[kind], 2));
    if (kind == without_state) A = matrix(da, MATEQUATION);
    if (kind == with_another_state) A = jacobian(da, u[kind], MATEQUATION);
    P = matrix(da, MATAIJ);
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    OK(SNESSetJacobian(snes, A ? (Mat)A : (Mat)P, P, NULL, NULL));
    OK(SNESSetFromOptions(snes));
    OK(VecSet(u[kind], 0));
    OK(SNESSolve(snes, NULL, u[kind]));
    OK(SNESGetConvergedReason(snes, &reason));
    OK(SNESGetIterationNumber(snes, &its[kind]));
    CHECK(reason == SNES_CONVERGED_FNORM_RELATIVE);
    CHECK(its[kind] == 3);
    CHECK(difference(u[kind], u[matrix_free]) <= 1e-6);
  }
  // a linear solve
  Grid                   da = gallery_grid("poisson.h", 17);
  Owned<KSP, KSPDestroy> ksp;
  KSPConvergedReason     reason;
  Matrix                 A = matrix(da, MATEQUATION), P = matrix(da, MATAIJ);
  Vector                 x = make_vector(da);
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, P));
  OK(KSPSetDM(ksp, da));
  OK(KSPSolve(ksp, NULL, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
}

// Also where the vectors are on a GPU.
TEST_CASE("diagonals and products, also where arms around a periodic axis lead back to the point", "[equations]") {
  if (!equations_work()) return;
  struct Case {
    PetscInt nx, ny, width;
  };
  std::vector<VecType> types = {VECSTANDARD};
#if defined(PETSC_HAVE_CUDA)
  if (!no_gpu(false)) types.push_back(VECCUDA);
#endif
  for (const Case &c : {Case{1, 7, 1}, {6, 1, 1}, {1, 1, 1}, {1, 7, 2}, {2, 6, 2}, {6, 2, 2}, {2, 2, 2}, {7, 9, 2}})
    for (const DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX})
      for (const VecType type : types) {
        Lattice l;
        Grid    da;
        l.N[0] = c.nx, l.N[1] = c.ny, l.width = c.width, l.shape = shape, l.dof = 2;
        l.ends[0] = l.ends[1] = DM_BOUNDARY_PERIODIC;
        if (!try_make_grid(l, &da)) continue;
        INFO(describe(l) << ", " << type);
        OK(DMSetVecType(da, type));
        const std::string far = c.width == 1 ? "" : " - u * u(2, 0) + v * u(-2, 0) - 2 * u(0, 2) + u * u(0, -2)",
                          corner = shape == DMDA_STENCIL_STAR ? ""
                                   : c.width == 1             ? " + 7 * u(1, 1) * u"
                                                              : " + 7 * u(2, -2) * u + u(1, 2) * v";
        set_equation(da, "unknowns(u, v)\n"
                         "residual(u) = exp(u) * v - u * u(1, 0) - 2 * u(-1, 0) + 3 * u(0, 1) * v(0, -1)" +
                             far + corner + "\nresidual(v) = v(1, 0) * v(-1, 0) - 2 * v * v(0, -1) + u * v" + far);
        Vector u = random_vector(da, 1), v = random_vector(da, 2), x = make_vector(da), y = make_vector(da);
        OK(VecShift(u, 2));
        Matrix A = jacobian(da, u, MATEQUATION), B = jacobian(da, u, MATAIJ);
        OK(MatGetDiagonal(A, x));
        OK(MatGetDiagonal(B, y));
        CHECK(difference(x, y) <= 1e-12);
        OK(MatMult(A, v, x));
        OK(MatMult(B, v, y)); // of up to 50 entries a row, which have no passes of their own
        CHECK(difference(x, y) <= 1e-12);
        CHECK(difference_of_transposes(A, B, v) <= 1e-12);
      }
}

TEST_CASE("a transpose follows the state and the parameters", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  Grid    da, other;
  OK(make_grid(l, nullptr, &da));
  OK(make_grid(l, nullptr, &other));
  for (DM dm : {(DM)da, (DM)other})
    set_equation(dm, "parameter(a, 2)\nfield(k) = x\nresidual = a*u(1,0)*u + k*u(0,-1)*u(0,-1)");
  Owned<SNES, SNESDestroy> snes;
  Vector                   u = random_vector(da, 1), v = random_vector(da, 2);
  Matrix                   A = jacobian(da, u, MATEQUATION);
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, da));
  const auto check = [&] {
    Matrix B = jacobian(other, u, MATAIJ);
    CHECK(difference_of_transposes(A, B, v) <= 1e-12);
  };
  check();
  OK(DMDAEquationSetParameter(da, "a", 5));
  OK(DMDAEquationSetParameter(other, "a", 5));
  check();
  OK(DMDAEquationSetField(da, "k", v));
  OK(DMDAEquationSetField(other, "k", v));
  check();
  OK(VecShift(u, 1));
  OK(SNESComputeJacobian(snes, u, A, A));
  check();
  Matrix C;
  OK(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &C));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"no state yet", "SNESComputeJacobian"}), [&] { return MatMultTranspose(C, v, u); });
}

TEST_CASE("methods that take the transpose have the iterations of those with entries", "[equations]") {
  if (!equations_work(true)) return;
  const std::string text = "residual = -laplacian(u) + 3 * dx(u) + u * u * u - 1";
  for (const char *type : {KSPBICG, KSPLSQR, KSPCGNE}) {
    Options  set(std::string("-pc_type ") + (std::string(type) == KSPBICG ? "jacobi" : "none") +
                 " -ksp_rtol 1e-8 -ksp_max_it 2000 -ksp_type " + type);
    PetscInt its[2], ksp_its[2];
    Vector   u[2];
    INFO(type);
    for (int without = 0; without < 2; without++) {
      Lattice l;
      Grid    da;
      l.N[0] = l.N[1] = 9;
      OK(make_grid(l, nullptr, &da));
      set_equation(da, text);
      OK(DMSetMatType(da, without ? MATEQUATION : MATAIJ));
      OK(solve(da, &u[without], &its[without], &ksp_its[without]));
    }
    CHECK(its[0] == its[1]);
    CHECK(std::abs(ksp_its[0] - ksp_its[1]) <= 1 + ksp_its[0] / 50);
    CHECK(difference(u[1], u[0]) <= 1e-7);
  }
}

TEST_CASE("gradients of an implicit step's result without entries", "[equations]") {
  if (!equations_work()) return;
  Vector gradient[2];
  for (int without = 0; without < 2; without++) {
    Grid                 da = gallery_grid("allen_cahn.h", 9);
    Owned<TS, TSDestroy> ts;
    Vector               u = make_vector(da);
    Options set("-ts_type theta -ts_dt 1e-3 -ts_max_steps 3 -ts_adapt_type none -pc_type jacobi -ksp_rtol 1e-12 "
                "-ts_save_trajectory -ts_trajectory_type memory");
    OK(DMSetMatType(da, without ? MATEQUATION : MATAIJ));
    OK(DMDAEquationComputeInitial(da, u));
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, da));
    OK(TSSetSaveTrajectory(ts));
    OK(TSSetFromOptions(ts));
    OK(TSSolve(ts, u));
    gradient[without] = random_vector(da, 3);
    Vec of[1] = {gradient[without]};
    OK(TSSetCostGradients(ts, 1, of, NULL));
    OK(TSAdjointSolve(ts));
  }
  CHECK(difference(gradient[1], gradient[0]) <= 1e-8);
}

TEST_CASE("without -pc_type, solves without entries take Jacobi's preconditioner", "[equations]") {
  if (!equations_work()) return;
  for (const char *file : {"bratu.h", "allen_cahn.h", "poisson.h"}) {
    INFO(file);
    Grid                     da = gallery_grid(file, 9);
    Owned<SNES, SNESDestroy> snes;
    Owned<TS, TSDestroy>     ts;
    Owned<KSP, KSPDestroy>   alone;
    Vector                   u = make_vector(da);
    KSP                      ksp;
    PC                       pc;
    PCType                   type;
    const bool               rate = std::string(file) == "allen_cahn.h", linear = std::string(file) == "poisson.h";
    Options                  set("-ts_type beuler -ts_max_steps 1 -pc_jacobi_abs");
    OK(DMSetMatType(da, MATEQUATION));
    OK(DMDAEquationComputeInitial(da, u));
    if (linear) {
      OK(KSPCreate(PETSC_COMM_WORLD, &alone));
      OK(KSPSetDM(alone, da));
      OK(KSPSetFromOptions(alone));
      OK(KSPSolve(alone, NULL, u));
      ksp = alone;
    } else if (rate) {
      OK(TSCreate(PETSC_COMM_WORLD, &ts));
      OK(TSSetDM(ts, da));
      OK(TSSetFromOptions(ts));
      OK(TSSolve(ts, u));
      SNES of_steps;
      OK(TSGetSNES(ts, &of_steps));
      OK(SNESGetKSP(of_steps, &ksp));
    } else {
      OK(SNESCreate(PETSC_COMM_WORLD, &snes));
      OK(SNESSetDM(snes, da));
      OK(SNESSetFromOptions(snes));
      OK(SNESSolve(snes, NULL, u));
      OK(SNESGetKSP(snes, &ksp));
    }
    KSPConvergedReason reason;
    OK(KSPGetConvergedReason(ksp, &reason));
    CHECK(reason > 0);
    OK(KSPGetPC(ksp, &pc));
    OK(PCGetType(pc, &type));
    CHECK(std::string(type) == PCJACOBI);
    PetscBool absolute;
    OK(PCJacobiGetUseAbs(pc, &absolute));
    CHECK(absolute);
  }
}

TEST_CASE("preconditioners that want entries name one that does not", "[equations]") {
  if (!equations_work()) return;
  Grid       da = gallery_grid("bratu.h", 17);
  const Work work = [&](Vec *y) {
    PetscInt its;
    Vector   u;
    PetscFunctionBeginUser;
    PetscCall(DMSetMatType(da, MATEQUATION));
    PetscCall(solve(da, &u, &its));
    PetscCall(VecDuplicate(u, y));
    PetscCall(VecCopy(u, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  check_mistakes(work, {
                           {"-pc_type ilu", PETSC_ERR_SUP, "ilu|-pc_type jacobi|-dm_mat_type stencil"},
                           {"-pc_type lu", PETSC_ERR_SUP, "lu|-pc_type jacobi|-dm_mat_type stencil"},
                           {"-pc_type bjacobi", PETSC_ERR_SUP, "bjacobi|-pc_type jacobi"},
                           {"-pc_type asm", PETSC_ERR_SUP, "asm|-pc_type jacobi"},
                           {"-pc_type sor", PETSC_ERR_SUP, "sor|-pc_type jacobi"},
                           {"-pc_type kaczmarz", PETSC_ERR_SUP, "kaczmarz|-pc_type jacobi"},
                           {"-pc_type telescope", PETSC_ERR_SUP, "telescope|-pc_type jacobi"},
                           {"-pc_type deflation", PETSC_ERR_SUP, "deflation|-pc_type jacobi"},
                           {"-pc_type mg -pc_mg_levels 2 -pc_mg_galerkin", PETSC_ERR_SUP,
                            "-pc_mg_galerkin|-mg_levels_pc_type jacobi"},
                           {"-pc_type mg -pc_mg_levels 2", PETSC_ERR_SUP,
                            "-mg_levels_pc_type jacobi|-mg_coarse_ksp_type gmres|-mg_coarse_pc_type jacobi"},
                           {"-pc_type mg -pc_mg_levels 2 -mg_levels_pc_type jacobi", PETSC_ERR_SUP,
                            "-mg_coarse_ksp_type gmres|-mg_coarse_pc_type jacobi"},
                       });
}

// Diagonals with zeros among them, as methods for bounds take: what is added to the diagonal later must stay.
TEST_CASE("scaling, shifts, diagonals and zeroed rows of a Jacobian without entries are AIJ's", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  Grid    da;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, "residual = -0.01*laplacian(u) + u*u*u(1,0) + u*u(0,1)");
  Vector     u = random_vector(da, 1), v = random_vector(da, 2), w = random_vector(da, 3), half = random_vector(da, 4);
  PetscInt   first, last;
  const auto zero_some = [&](const PetscInt p[3]) { return p[0] % 3 ? 1. + (PetscReal)p[1] : 0.; };
  set_values(da, half, zero_some);
  OK(VecGetOwnershipRange(u, &first, &last));
  const PetscInt rows[] = {first, last - 1};
  const struct {
    const char                               *name;
    std::function<PetscErrorCode(Mat, Vec b)> change;
  } changes[] = {{"left", [&](Mat A, Vec) { return MatDiagonalScale(A, half, NULL); }},
                 {"right", [&](Mat A, Vec) { return MatDiagonalScale(A, NULL, half); }},
                 {"both", [&](Mat A, Vec) { return MatDiagonalScale(A, w, half); }},
                 {"add", [&](Mat A, Vec) { return MatDiagonalSet(A, v, ADD_VALUES); }},
                 {"insert", [&](Mat A, Vec) { return MatDiagonalSet(A, w, INSERT_VALUES); }},
                 {"shift", [&](Mat A, Vec) { return MatShift(A, 0.7); }},
                 {"scale", [&](Mat A, Vec) { return MatScale(A, -1.3); }},
                 {"rows", [&](Mat A, Vec b) { return MatZeroRows(A, 2, rows, 0.5, v, b); }},
                 {"columns", [&](Mat A, Vec b) { return MatZeroRowsColumns(A, 2, rows, 0.5, v, b); }}};
  for (const auto &one : changes)
    for (const auto &next : changes)
      for (const auto &third : {changes[3], changes[5]}) {
        INFO(one.name << ", " << next.name << ", " << third.name);
        Matrix A = jacobian(da, u, MATEQUATION), aij = jacobian(da, u, MATAIJ);
        Vector b = copy_of(w), of_aij = copy_of(w), x = make_vector(da), y = make_vector(da);
        OK(MatSetOption(aij, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
        for (const auto *change : {&one, &next, &third}) {
          OK(change->change(A, b));
          OK(change->change(aij, of_aij));
        }
        CHECK(difference(b, of_aij) < 1e-12);
        OK(MatMult(A, v, x));
        OK(MatMult(aij, v, y));
        CHECK(difference(x, y) < 1e-12);
        CHECK(difference_of_transposes(A, aij, v) < 1e-12);
        OK(MatGetDiagonal(A, x));
        OK(MatGetDiagonal(aij, y));
        CHECK(difference(x, y) < 1e-12);
      }
}

TEST_CASE("a sum of a Jacobian without entries and another Mat is AIJ's, or refused", "[equations]") {
  if (!equations_work()) return;
  Grid   da = gallery_grid("allen_cahn.h", 9);
  Vector u = random_vector(da, 1), v = random_vector(da, 2), w = random_vector(da, 3), x = make_vector(da),
         y = make_vector(da);
  PetscInt first, last;
  Matrix   A = jacobian(da, u, MATEQUATION), aij = jacobian(da, u, MATAIJ), X = jacobian(da, v, MATAIJ);
  OK(VecShift(w, 2)); // above zero
  for (Mat sum : {(Mat)A, (Mat)aij}) {
    OK(MatScale(sum, 3));
    OK(MatAXPY(sum, 0.5, X, SAME_NONZERO_PATTERN));
    OK(MatDiagonalScale(sum, w, NULL));
    OK(MatShift(sum, 0.7));
    OK(MatMult(sum, v, sum == (Mat)A ? x : y));
  }
  CHECK(difference(x, y) < 1e-12);
  OK(VecGetOwnershipRange(u, &first, &last));
  EXPECT_ERROR(PETSC_ERR_SUP, ({"MatAXPY()", "-dm_mat_type stencil"}),
               [&] { return MatZeroRows(A, 1, &first, 1, NULL, NULL); });
  Vector zeros = make_vector(da);
  EXPECT_ERROR(PETSC_ERR_SUP, ({"MatAXPY()", "-dm_mat_type stencil"}),
               [&] { return MatDiagonalScale(A, NULL, zeros); });
  OK(MatMult(A, v, x)); // which the errors left as it was
  CHECK(difference(x, y) < 1e-12);
}

// Between three steps with entries and without.
static PetscReal difference_after_steps(const char *options) {
  Options set(std::string("-ts_dt 1e-3 -ts_max_steps 3 -ts_adapt_type none -pc_type jacobi ") + options);
  Vector  u[2];
  for (int without = 0; without < 2; without++) {
    Grid                 da = gallery_grid("allen_cahn.h", 9);
    Owned<TS, TSDestroy> ts;
    OK(DMSetMatType(da, without ? MATEQUATION : MATAIJ));
    u[without] = make_vector(da);
    OK(DMDAEquationComputeInitial(da, u[without]));
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, da));
    OK(TSSetFromOptions(ts));
    OK(TSSolve(ts, u[without]));
  }
  return difference(u[1], u[0]);
}

// Whose implicit part is zero: the Mat is zeroed and then shifted.
TEST_CASE("explicit stages of a method with implicit ones need no entries", "[equations]") {
  if (!equations_work()) return;
  CHECK(difference_after_steps("-ts_type arkimex -ksp_rtol 1e-12") <= 1e-12);
  Grid   da = gallery_grid("allen_cahn.h", 9);
  Vector v = random_vector(da, 2), y = make_vector(da), z = make_vector(da);
  Matrix A = matrix(da, MATEQUATION);
  OK(MatZeroEntries(A)); // before it has a state
  OK(MatShift(A, 3));
  for (auto *product : {MatMult, MatMultTranspose}) {
    OK((*product)(A, v, y));
    OK(VecAXPY(y, -3, v));
    PetscReal norm;
    OK(VecNorm(y, NORM_INFINITY, &norm));
    CHECK(norm < 1e-14);
  }
  OK(MatGetDiagonal(A, y));
  OK(VecSet(z, 3));
  CHECK(difference(y, z) == 0);
}

TEST_CASE("implicit steps and linear solves without entries", "[equations]") {
  if (!equations_work()) return;
  CHECK(difference_after_steps("-ts_type theta -ksp_rtol 1e-10") <= 1e-8);
  Vector x[2];
  for (int without = 0; without < 2; without++) {
    Grid                   da = gallery_grid("poisson.h", 17);
    Owned<KSP, KSPDestroy> ksp;
    Options                set("-ksp_type cg -pc_type jacobi -ksp_rtol 1e-11");
    Matrix                 A;
    OK(DMSetMatType(da, without ? MATEQUATION : MATAIJ));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetDM(ksp, da));
    OK(KSPSetFromOptions(ksp));
    x[without] = make_vector(da);
    OK(KSPSolve(ksp, NULL, x[without]));
    OK(DMDACreateEquationMat(da, &A));
    Vector y = make_vector(da);
    OK(MatMult(A, x[without], y));
    if (without) CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("dual numbers") != std::string::npos);
  }
  CHECK(difference(x[1], x[0]) <= 1e-8);
}

TEST_CASE("an equation that replaces another one at the same address is assembled", "[equations]") {
  if (!equations_work()) return;
  Grid   da = gallery_grid("poisson.h", 9);
  Vector u = make_vector(da), v = random_vector(da, 2), y = make_vector(da), z = make_vector(da);
  Matrix A;
  OK(VecSet(u, 0));
  for (int factor = 1; factor <= 3; factor++) {
    Owned<SNES, SNESDestroy> snes;
    set_equation(da, "residual = -" + std::to_string(factor) + "*u");
    if (!A) OK(DMCreateMatrix(da, &A));
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    OK(SNESSetJacobian(snes, A, A, NULL, NULL));
    OK(SNESComputeJacobian(snes, u, A, A));
    OK(MatMult(A, v, y));
    OK(VecCopy(v, z));
    OK(VecScale(z, -factor));
    CHECK(difference(y, z) <= exact);
  }
}
