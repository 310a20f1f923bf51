// A field changes and nothing is assembled: the solves that follow are of the present operator.

#include "diffusion.hpp"
#include "solve.hpp"

PETSC_EXTERN PetscErrorCode PetscObjectStateGet(PetscObject,
                                                PetscObjectState *); // PETSc has it in private headers only

using namespace tests;

namespace {

struct Changing {
  Medium m;
  Grid   da;
  Matrix A;
  Vector k, w, b, x;

  bool begin(bool advection) {
    m.dim = 2;
    m.N[0] = 17, m.N[1] = 14;
    m.advection = advection;
    m.scheme = MAT_ADVECTION_DIFFUSION_UPWIND;
    m.sigma = advection ? 1 : 0;
    m.k = [](const PetscReal x[]) { return rough(x, 1); };
    m.w = [](const PetscReal x[], int axis) { return 30 * (axis == 0 ? 0.5 - x[1] : x[0] - 0.5); };
    if (!make(m, da, A)) return false;
    k = coefficient(m, da), b = random_vector(da, 5), x = make_vector(da);
    OK(MatDiffusionSetCoefficient(A, k));
    if (!advection) return true;
    w = velocity(m, da);
    OK(MatAdvectionDiffusionSetVelocity(A, w));
    return true;
  }
  // The fields get other values, in another way in each round: k is not only scaled.
  void change(int round) {
    m.k = [round](const PetscReal x[]) { return rough(x, 7 + round) * std::pow(7, round + 1); };
    OK(VecCopy(coefficient(m, da), k));
    if (!m.advection) return;
    m.w = [round](const PetscReal x[], int axis) { return 400 * (round + 1) * (axis == 0 ? x[1] - 0.5 : 0.5 - x[0]); };
    OK(VecCopy(velocity(m, da), w));
  }
  // |b - A x| / |b|, where A is assembled by hand.
  PetscReal residual() const { return relative_residual(assemble_by_hand(m, da), b, x); }
};

bool factors_here() { // a direct solver for this number of ranks
  PetscBool mumps = PETSC_FALSE;
  OK(PetscHasExternalPackage("mumps", &mumps));
  return rank_count() == 1 || mumps;
}

} // namespace

TEST_CASE("a solve after a change of a field is of the present operator", "[field_changes]") {
  int number = 0;
  for (bool advection : {false, true})
    for (const char *method :
         {"-test_ksp_type gmres -test_pc_type none", "-test_ksp_type gmres -test_pc_type jacobi",
          "-test_ksp_type gmres -test_pc_type sor", "-test_ksp_type gmres -test_pc_type bjacobi",
          "-test_ksp_type gmres -test_pc_type stencilmg", "-test_ksp_type fgmres -test_pc_type stencilmg",
          "-test_ksp_type bcgs -test_pc_type stencilmg", "-test_ksp_type richardson -test_pc_type stencilmg",
          "-test_ksp_type gmres -test_pc_type lu", "-test_ksp_type preonly -test_pc_type lu"})
      for (bool nonzero : {false, true}) {
        if (strstr(method, "lu") && !factors_here()) continue;
        if (strstr(method, "preonly") && nonzero) continue;
        if (!in_turn(number++)) continue;
        Changing c;
        INFO(method << (advection ? " advection" : "") << (nonzero ? " from a guess" : ""));
        Options options(std::string(method) +
                        " -test_ksp_rtol 1e-10 -test_ksp_max_it 2000 -test_ksp_gmres_restart 300" +
                        (nonzero ? " -test_ksp_initial_guess_nonzero" : ""));
        REQUIRE(c.begin(advection));
        Solver ksp = make_solver(c.A);
        for (int round = 0; round < 3; round++) {
          if (round) c.change(round - 1);
          if (round == 2)
            OK(MatMult(c.A, c.b, make_vector(c.da))); // the first use of the new values is not the solve's
          OK(KSPSolve(ksp, c.b, c.x));
          KSPConvergedReason reason;
          OK(KSPGetConvergedReason(ksp, &reason));
          INFO("round " << round);
          CHECK(reason > 0);
          CHECK(c.residual() < 1e-7);
        }
      }
}

TEST_CASE("stencilmg follows a field without an assembly as it does with one", "[field_changes]") {
  for (bool advection : {false, true}) {
    Options  options("-test_ksp_type gmres -test_pc_type stencilmg -test_ksp_rtol 1e-10");
    Changing c[2];
    Solver   ksp[2];
    for (int n = 0; n < 2; n++) {
      REQUIRE(c[n].begin(advection));
      ksp[n] = make_solver(c[n].A);
    }
    for (int round = 0; round < 3; round++) {
      PetscInt iterations[2];
      for (int n = 0; n < 2; n++) {
        if (round) c[n].change(round);
        if (n == 1) OK(MatAssemblyBegin(c[n].A, MAT_FINAL_ASSEMBLY));
        if (n == 1) OK(MatAssemblyEnd(c[n].A, MAT_FINAL_ASSEMBLY));
        OK(KSPSolve(ksp[n], c[n].b, c[n].x));
        OK(KSPGetIterationNumber(ksp[n], &iterations[n]));
      }
      CHECK(iterations[0] == iterations[1]);
      CHECK(difference(c[0].x, c[1].x) == 0);
    }
  }
}

TEST_CASE("a preconditioner that is to be reused does not follow a field", "[field_changes]") {
  for (const char *pc : {"stencilmg", "lu"}) {
    if (!strcmp(pc, "lu") && !factors_here()) continue;
    Options  options(std::string("-test_ksp_type gmres -test_ksp_rtol 1e-10 -test_pc_type ") + pc);
    Changing c;
    INFO(pc);
    REQUIRE(c.begin(true));
    Solver   ksp = make_solver(c.A);
    PetscInt iterations[3];
    for (int round = 0; round < 3; round++) {
      if (round == 1) {
        c.change(0);
        OK(MatAssemblyBegin(c.A, MAT_FINAL_ASSEMBLY));
        OK(MatAssemblyEnd(c.A, MAT_FINAL_ASSEMBLY));
      }
      OK(KSPSetReusePreconditioner(ksp, round == 1 ? PETSC_TRUE : PETSC_FALSE));
      OK(KSPSolve(ksp, c.b, c.x));
      OK(KSPGetIterationNumber(ksp, &iterations[round]));
      CHECK(c.residual() < 1e-7);
    }
    CHECK(iterations[1] > iterations[2]);
  }
}

TEST_CASE("a product does not change the state of the matrix", "[field_changes]") {
  Changing         c;
  PetscObjectState before, after;
  REQUIRE(c.begin(false));
  OK(PetscObjectStateGet((PetscObject)(Mat)c.A, &before));
  c.change(0);
  OK(MatMult(c.A, c.b, c.x));
  OK(PetscObjectStateGet((PetscObject)(Mat)c.A, &after));
  CHECK(before == after);
  OK(MatDiffusionSetCoefficient(c.A, c.k)); // a setter does
  OK(PetscObjectStateGet((PetscObject)(Mat)c.A, &after));
  CHECK(before < after);
}

TEST_CASE("symmetry that was found before a change of a field is forgotten", "[field_changes]") {
  Changing  c;
  PetscBool symmetric;
  REQUIRE(c.begin(true));
  OK(VecSet(c.w, 0));
  OK(MatIsSymmetric(c.A, 0, &symmetric));
  CHECK(symmetric);
  c.change(0);
  OK(MatMult(c.A, c.b, c.x));
  OK(MatIsSymmetric(c.A, 0, &symmetric));
  CHECK(!symmetric);
}

TEST_CASE("a factor that a change of a field makes singular gives no solution", "[field_changes]") {
  if (rank_count() > 1) return; // PETSc's own factors
  Options  options("-test_ksp_type preonly -test_pc_type lu");
  Changing c;
  REQUIRE(c.begin(false));
  OK(MatDiffusionSetMean(c.A, MAT_DIFFUSION_ARITHMETIC)); // which allows k = 0
  Solver ksp = make_solver(c.A);
  OK(KSPSolve(ksp, c.b, c.x));
  OK(VecSet(c.k, 0));
  OK(KSPSolve(ksp, c.b, c.x));
  PetscReal norm;
  OK(VecNorm(c.x, NORM_2, &norm));
  CHECK(PetscIsInfOrNanReal(norm));
}

TEST_CASE("richardson with a hierarchy that is to be reused solves with the present operator", "[field_changes]") {
  Options  options("-test_ksp_type richardson -test_pc_type stencilmg -test_ksp_rtol 1e-7 -test_ksp_max_it 100");
  Changing c;
  KSPConvergedReason reason;
  Matrix             aij;
  Vector             r;
  PetscReal          norms[2];
  REQUIRE(c.begin(false));
  OK(MatDiffusionSetConstant(c.A, 1)); // cycles then compute the residual's norm
  Solver ksp = make_solver(c.A);
  OK(KSPSolve(ksp, c.b, c.x));
  OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  OK(MatScale(c.A, 0.5));
  OK(KSPSolve(ksp, c.b, c.x));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  r = make_vector(c.da);
  OK(MatConvert(c.A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  OK(MatResidual(aij, c.b, c.x, r));
  OK(VecNorm(r, NORM_2, &norms[0]));
  OK(VecNorm(c.b, NORM_2, &norms[1]));
  CHECK(norms[0] < 1e-6 * norms[1]);
}
