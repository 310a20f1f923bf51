// Krylov methods and preconditioners on the operators, beside the same on the assembled matrix.

#include "catch.hpp"

#include "solve.hpp"

using namespace tests;

static PetscErrorCode ignore(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType,
                             const char *, void *) {
  return code;
}

// Ours must solve wherever the assembled matrix does, and in as many iterations where the method is the same.
static void check_solver(const Problem &p, DM da, Mat A, Mat B, const std::string &options, bool same_method) {
  INFO(describe(p));
  INFO(options);
  Options            set(options + " -test_ksp_rtol 1e-11");
  Vector             b = random_vector(da, 1), x = make_vector(da), reference = make_vector(da);
  PetscInt           ours, theirs;
  KSPConvergedReason reason;

  OK(PetscPushErrorHandler(ignore, NULL));
  const PetscErrorCode code = solve(B, b, reference, &theirs, &reason);
  OK(PetscPopErrorHandler());
  if (!everywhere(!code)) return; // not in this PETSc, or not on so many ranks
  REQUIRE(reason > 0);
  OK(solve(A, b, x, &ours, &reason));
  CHECK(reason > 0);
  CHECK(difference(x, reference) <= 1e-8);
  if (same_method) CHECK(ours == theirs);
}

static std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN}) {
    Problem p = problem(2, 17, 14);
    p.boundary = form;
    p.sigma = 2;
    all.push_back(p);
  }
  all.push_back(all[0]);
  all.back().ends[0] = DM_BOUNDARY_PERIODIC;
  all.push_back(all[0]);
  all.back().ends[1] = DM_BOUNDARY_MIRROR;
  all.push_back(problem(1, 40));
  all.push_back(problem(3, 6, 7, 8));
  return all;
}

TEST_CASE("every preconditioner of the assembled matrix works", "[solvers]") {
  for (const Problem &p : problems()) {
    Grid   da = make_grid(p);
    Matrix A = make_operator(p, da), B = make_reference(p, da);
    for (const char *options : {
           "-test_ksp_type gmres -test_pc_type jacobi", "-test_ksp_type gmres -test_pc_type none",
               "-test_ksp_type gmres -test_pc_type jacobi -test_pc_jacobi_type rowmax",
#if PETSC_VERSION_GE(3, 22, 0)
               "-test_ksp_type gmres -test_pc_type jacobi -test_pc_jacobi_type rowl1",
#endif
               "-test_ksp_type preonly -test_pc_type lu", "-test_ksp_type gmres -test_pc_type ilu",
               "-test_ksp_type gmres -test_pc_type bjacobi",
               "-test_ksp_type gmres -test_pc_type bjacobi -test_sub_pc_type lu",
               "-test_ksp_type gmres -test_pc_type asm", "-test_ksp_type gmres -test_pc_type redundant"
         })
      check_solver(p, da, A, B, options, true);
    // rounding changes how many steps this one takes
    check_solver(p, da, A, B, "-test_ksp_type bcgs -test_pc_type jacobi", false);
    check_solver(p, da, A, B, "-test_ksp_type gmres -test_pc_type sor", false);
    if (!p.symmetric() || PetscDefined(USE_COMPLEX)) continue; // a complex random right-hand side suits CG as well
    for (const char *options :
         {"-test_ksp_type cg -test_pc_type jacobi", "-test_ksp_type preonly -test_pc_type cholesky",
          "-test_ksp_type cg -test_pc_type icc", "-test_ksp_type cg -test_pc_type none",
          "-test_ksp_type cg -test_pc_type bjacobi -test_sub_pc_type icc"})
      check_solver(p, da, A, B, options, true);
    check_solver(p, da, A, B, "-test_ksp_type cg -test_pc_type sor -test_pc_sor_symmetric", false);
    check_solver(p, da, A, B, "-test_ksp_type cg -test_pc_type sor -test_pc_sor_local_symmetric", false);
  }
}

TEST_CASE("other packages' factorisations work", "[solvers]") {
  Problem p = problem(2, 9, 8);
  Grid    da = make_grid(p);
  Matrix  A = make_operator(p, da), B = make_reference(p, da);
  for (const char *options :
       {"lu -test_pc_factor_mat_solver_type mumps", "cholesky -test_pc_factor_mat_solver_type mumps",
        "lu -test_pc_factor_mat_solver_type superlu_dist", "lu -test_pc_factor_mat_solver_type umfpack"})
    check_solver(p, da, A, B, std::string("-test_ksp_type preonly -test_pc_type ") + options, true);
}

TEST_CASE("singular problems are solved up to a constant", "[solvers]") {
  for (DMBoundaryType ends : {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC}) {
    Problem p = problem(2, 16, 12);
    p.boundary = MAT_LAPLACE_NEUMANN;
    p.ends[0] = ends;
    INFO(describe(p));
    Options            set("-test_ksp_type cg -test_pc_type jacobi -test_ksp_rtol 1e-10");
    Grid               da = make_grid(p);
    Matrix             A = make_operator(p, da);
    Vector             u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
    PetscScalar        mean;
    PetscInt           n, iterations;
    KSPConvergedReason reason;
    OK(VecGetSize(u, &n));
    OK(VecSum(u, &mean));
    OK(VecShift(u, -mean / (PetscReal)n));
    OK(MatMult(A, u, b));
    OK(solve(A, b, x, &iterations, &reason));
    CHECK(reason > 0);
    CHECK(difference(x, u) <= 1e-7);
  }
}

// ---- PETSc's multigrid, on a hierarchy of DMDAs

namespace {
struct Assembly {
  Problem problem;
  bool    assembles;
};
} // namespace

static PetscErrorCode compute_operators(KSP ksp, Mat, Mat B, void *context) {
  const Assembly *assembly = static_cast<const Assembly *>(context);
  DM              da;

  PetscFunctionBeginUser;
  if (!assembly->assembles) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetDM(ksp, &da));
  Problem p = assembly->problem;
  PetscCall(DMDAGetInfo(da, NULL, &p.N[0], &p.N[1], &p.N[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  assemble(p, da, B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode compute_rhs(KSP ksp, Vec b, void *) {
  DM da;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  Vector values = random_vector(da, 1);
  PetscCall(VecCopy(values, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static Vector solve_with_multigrid(const Problem &p, MatType type, bool assembles, const std::string &options,
                                   PetscInt *iterations) {
  Options            set(options + " -test_ksp_type gmres -test_pc_type mg -test_pc_mg_levels 3 -test_ksp_rtol 1e-10" +
                         " -mat_helmholtz_boundary " + MatLaplaceBoundaryTypes[p.boundary] + " -mat_helmholtz_shift 2");
  Grid               da = make_grid(p);
  Solver             ksp;
  KSPConvergedReason reason;
  Assembly           assembly{p, assembles};
  Vec                x;

  OK(DMSetMatType(da, type));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOptionsPrefix(ksp, "test_"));
  OK(KSPSetDM(ksp, da));
  OK(KSPSetComputeOperators(ksp, compute_operators, &assembly));
  OK(KSPSetComputeRHS(ksp, compute_rhs, NULL));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSolve(ksp, NULL, NULL));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  OK(KSPGetIterationNumber(ksp, iterations));
  OK(KSPGetSolution(ksp, &x));
  return copy_of(x);
}

TEST_CASE("PETSc's multigrid works, also where the program assembles nothing", "[solvers]") {
  // not with identity rows: their residual is out of scale with the others', for assembled matrices as well
  for (bool periodic : {false, true}) {
    Problem p = problem(2, periodic ? 32 : 33, periodic ? 32 : 33);
    p.ends[0] = p.ends[1] = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    p.sigma = 2;
    INFO(describe(p));
    const bool cuda = [&] {
      VecType   type;
      PetscBool is;
      Grid      da = make_grid(p);
      OK(DMGetVecType(da, &type));
      OK(PetscStrendswith(type, "cuda", &is));
      return (bool)is;
    }();
    PetscInt          ours, theirs;
    const std::string jacobi = "-test_mg_levels_pc_type jacobi", sor = "-test_mg_levels_pc_type sor";
    Vector            reference = solve_with_multigrid(p, cuda ? MATAIJCUSPARSE : MATAIJ, true, jacobi, &theirs);
    for (bool assembles : {true, false}) {
      Vector x = solve_with_multigrid(p, MATHELMHOLTZ, assembles, jacobi, &ours);
      CHECK(difference(x, reference) <= 1e-7);
      CHECK(ours == theirs);
    }
    Vector x = solve_with_multigrid(p, MATHELMHOLTZ, false, sor, &ours);
    CHECK(difference(x, reference) <= 1e-7);
    CHECK(ours <= theirs);
  }
}
