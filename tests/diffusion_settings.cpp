// Fields, settings and solvers of diffusion and advection_diffusion.

#include <cfenv>

#include "diffusion.hpp"

using namespace tests;

TEST_CASE("rows follow their fields and their settings", "[diffusion_settings]") {
  Medium m;
  m.dim = 2;
  m.N[0] = 8, m.N[1] = 7;
  m.advection = true;
  m.k = [](const PetscReal x[]) { return rough(x, 1); };
  m.w = [](const PetscReal x[], int axis) { return rough(x, 2 + axis); };
  Grid   da;
  Matrix A, copy;
  REQUIRE(make(m, da, A));
  Vector k = coefficient(m, da), w = velocity(m, da);
  OK(MatDiffusionSetCoefficient(A, k));
  OK(MatAdvectionDiffusionSetVelocity(A, w));
  OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
  const auto old_k = m.k;
  m.k = [&](const PetscReal x[]) { return 2 * old_k(x) + x[0]; };
  OK(VecCopy(coefficient(m, da), k));
  check_operator(A, assemble_by_hand(m, da), da);
  check_operator(copy, assemble_by_hand(m, da), da);
  const auto old_w = m.w;
  m.w = [&](const PetscReal x[], int axis) { return -old_w(x, axis); };
  OK(VecScale(w, -1));
  check_operator(A, assemble_by_hand(m, da), da);
  m.sigma = -1;
  OK(MatDiffusionSetShift(A, m.sigma));
  m.mean = MAT_DIFFUSION_ARITHMETIC;
  OK(MatDiffusionSetMean(A, m.mean));
  m.scheme = MAT_ADVECTION_DIFFUSION_UPWIND;
  OK(MatAdvectionDiffusionSetScheme(A, m.scheme));
  check_operator(A, assemble_by_hand(m, da), da);
  OK(MatScale(A, 2)); // a setter fills the rows anew
  OK(VecScale(k, 3));
  EXPECT_ERROR(PETSC_ERR_ORDER, {"MatScale"}, [&] {
    Vector x = random_vector(da, 1), y = make_vector(da);
    return MatMult(A, x, y);
  });
  const auto present = m.k;
  m.k = [&](const PetscReal x[]) { return 3 * present(x); };
  OK(MatDiffusionSetCoefficient(A, k));
  check_operator(A, assemble_by_hand(m, da), da);
}

TEST_CASE("products are as before after a k that is refused", "[diffusion_settings]") {
  Medium m;
  m.dim = 2;
  m.N[0] = 9, m.N[1] = 16;
  m.k = [](const PetscReal x[]) { return 1e-200 * rough(x, 1); }; // whose products of several underflow
  Grid   da;
  Matrix A;
  REQUIRE(make(m, da, A));
  Vector   x = random_vector(da, 3), y = make_vector(da), z = make_vector(da), wrong = make_vector(da);
  PetscInt last;
  OK(MatMult(A, x, y));
  OK(VecSet(wrong, 1));
  OK(VecGetSize(wrong, &last));
  OK(VecSetValue(wrong, last - 1, -1, INSERT_VALUES)); // of the last rank
  OK(VecAssemblyBegin(wrong));
  OK(VecAssemblyEnd(wrong));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"-1"}, [&] { return MatDiffusionSetCoefficient(A, wrong); });
  OK(MatMult(A, x, z));
  CHECK(difference(y, z) == 0);
}

TEST_CASE("products and rows agree where k jumps by many orders of magnitude", "[diffusion_settings]") {
  for (int dim : {2, 3})
    for (PetscReal low : {1e-60, 1e-70, 1e-80}) {
      Medium m;
      m.dim = dim;
      for (int a = 0; a < dim; a++) m.N[a] = 7;
      m.k = [&](const PetscReal x[]) { // low at the middle
        bool middle = true;
        for (int a = 0; a < dim; a++) middle = middle && std::abs(x[a] - 0.5) < 0.01;
        return middle ? low : 1e70;
      };
      Grid   da;
      Matrix A, aij;
      INFO(describe(m) << " k " << low);
      REQUIRE(make(m, da, A));
      Vector    x = random_vector(da, 3), y = make_vector(da), z = make_vector(da);
      PetscReal sizes[2];
      OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
      OK(MatMult(A, x, y));
      OK(MatMult(aij, x, z));
      OK(VecPointwiseDivide(y, y, z)); // also where the rows are small
      OK(VecShift(y, -1));
      OK(VecNorm(y, NORM_INFINITY, &sizes[0]));
      CHECK(sizes[0] < 1e-9);
    }
}

// By the flags that -fp_trap makes signals of.
TEST_CASE("coefficients that are allowed divide by no zero, nor do those that are refused", "[diffusion_settings]") {
  const auto k_of = [](int which, const PetscInt i[3]) {
    const PetscInt n = i[0] + i[1] + i[2];
    const int      values[][3] = {{0, 0, 0}, {1, 0, 1}, {0, 0, 3}, {1, -1, 1}, {-1, 1, 0}};
    return PetscScalar(values[which][n % 3]);
  };
  for (int dim = 1; dim <= 3; dim++)
    for (bool on_faces : {false, true})
      for (MatDiffusionMeanType mean : {MAT_DIFFUSION_ARITHMETIC, MAT_DIFFUSION_HARMONIC})
        for (int which = 0; which < 5; which++) {
          Medium m;
          m.dim = dim, m.mean = mean, m.on_faces = on_faces;
          for (int a = 0; a < dim; a++) m.N[a] = 7 - a;
          for (int a = 0; a < dim; a++) m.forms[a][0] = m.forms[a][1] = all_forms[a];
          INFO(describe(m) << ", values " << which);
          Grid   da;
          Matrix A;
          REQUIRE(make(m, da, A));
          Vector                 k = make_vector(da), y = make_vector(da);
          const std::vector<Vec> faces((size_t)dim, (Vec)k);
          set_values(da, k, [&](const PetscInt i[3]) { return k_of(which, i); });
          Vector     x = random_vector(da, 1);
          const bool refused = mean == MAT_DIFFUSION_HARMONIC && !on_faces;
          (void)std::feclearexcept(FE_ALL_EXCEPT);
          const auto set = [&] {
            return on_faces ? MatDiffusionSetFaceCoefficients(A, dim, faces.data()) : MatDiffusionSetCoefficient(A, k);
          };
          if (refused)
            EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"coefficient k"}, set);
          else
            OK(set());
          OK(MatMult(A, x, y));
          CHECK(everywhere(!std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW)));
        }
}

TEST_CASE("what is taken from an assembled copy follows the fields", "[diffusion_settings]") {
  Medium m;
  m.N[0] = 8 * rank_count();
  m.k = [](const PetscReal[]) { return 1; };
  Grid      da;
  Matrix    A;
  PetscReal norms[2];
  IS        own;
  PetscInt  first, last;
  REQUIRE(make(m, da, A));
  Vector k = coefficient(m, da);
  OK(MatDiffusionSetCoefficient(A, k));
  OK(MatGetOwnershipRange(A, &first, &last));
  OK(ISCreateStride(PETSC_COMM_WORLD, last - first, first, 1, &own));
  for (PetscReal &norm : norms) {
    Matrix now;
    OK(MatCreateSubMatrix(A, own, own, MAT_INITIAL_MATRIX, &now));
    OK(MatNorm(now, NORM_FROBENIUS, &norm));
    OK(VecScale(k, 10));
  }
  CHECK(norms[1] > 2 * norms[0]);
  OK(ISDestroy(&own));
}

TEST_CASE("a factorization takes entries that it did not know", "[diffusion_settings]") {
  if (rank_count() > 1) return; // PETSc's LU is of one rank
  Medium m;
  m.N[0] = 8;
  m.k = [](const PetscReal[]) { return 1; };
  Grid           da;
  Matrix         A;
  const PetscInt row = 3;
  KSP            ksp;
  PC             pc;
  PetscReal      norm;
  REQUIRE(make(m, da, A));
  Vector k = coefficient(m, da), b = random_vector(da, 1), x = make_vector(da), r = make_vector(da);
  OK(MatDiffusionSetCoefficient(A, k));
  OK(MatZeroRows(A, 1, &row, 1, NULL, NULL));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCLU));
  const auto check_solution = [&] {
    OK(KSPSolve(ksp, b, x));
    OK(MatMult(A, x, r));
    OK(VecAXPY(r, -1, b));
    OK(VecNorm(r, NORM_INFINITY, &norm));
    CHECK(norm <= 1e-12);
  };
  check_solution();
  OK(MatScale(A, 2)); // the same entries
  check_solution();
  OK(MatDiffusionSetCoefficient(A, k)); // the row is back
  check_solution();
  OK(MatZeroRows(A, 1, &row, 1, NULL, NULL)); // fewer entries
  check_solution();
  OK(KSPDestroy(&ksp));
}

TEST_CASE("a field that one rank changes is a change on all", "[diffusion_settings]") {
  Medium m;
  Grid   da;
  Matrix A;
  m.N[0] = 9;
  m.k = [](const PetscReal x[]) { return rough(x, 1); };
  REQUIRE(make(m, da, A));
  Vector       k = coefficient(m, da);
  PetscScalar *values;
  PetscInt     first, size;
  OK(MatDiffusionSetCoefficient(A, k));
  OK(DMDAGetCorners(da, &first, NULL, NULL, &size, NULL, NULL));
  if (first == 0) { // not a collective call
    OK(VecGetArray(k, &values));
    for (PetscInt i = 0; i < size; i++) values[i] *= 3;
    OK(VecRestoreArray(k, &values));
  }
  const PetscReal part = m.x(0, size); // of the first rank
  PetscReal       from = first == 0 ? part : 0;
  MPI_Allreduce(MPI_IN_PLACE, &from, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  const auto old_k = m.k;
  m.k = [&](const PetscReal x[]) { return (x[0] < from - 1e-6 ? 3 : 1) * old_k(x); };
  check_operator(A, assemble_by_hand(m, da), da);
}

TEST_CASE("a change of k makes no new halos and changes no number of entries", "[diffusion_settings]") {
  const PetscInt axes = 2, N[] = {9, 8};
  Grid           da = make_grid(problem(axes, N[0], N[1]));
  Vector         x = random_vector(da, 1), y = make_vector(da), k[axes];
  Vec            faces[axes];
  for (PetscInt a = 0; a < axes; a++) {
    k[a] = random_vector(da, 2 + (int)a);
    OK(VecAbs(k[a]));
    OK(VecShift(k[a], 1));
    faces[a] = k[a];
  }
  const auto next_tag = [&] { // a halo has one of its own
    PetscMPIInt tag;
    OK(PetscCommGetNewTag(PetscObjectComm((PetscObject)(Vec)x), &tag));
    return tag;
  };
  for (bool on_faces : {false, true}) {
    INFO((on_faces ? "k on faces" : "k at points"));
    Matrix A;
    OK(DMSetMatType(da, MATDIFFUSION));
    OK(DMCreateMatrix(da, &A));
    OK(on_faces ? MatDiffusionSetFaceCoefficients(A, axes, faces) : MatDiffusionSetCoefficient(A, k[0]));
    OK(MatMult(A, x, y));
    const PetscReal   entries = (PetscReal)(5 * N[0] * N[1] - 2 * (N[0] + N[1]));
    const PetscMPIInt tag = next_tag();
    CHECK(nonzeros(A) == entries);
    for (PetscInt a = 0; a < axes; a++) OK(VecSet(k[a], 2)); // rows that are compressed
    OK(MatMult(A, x, y));
    CHECK(next_tag() == tag - 1);
    CHECK(nonzeros(A) == entries);
  }
}

TEST_CASE("a field of other points is an error", "[diffusion_settings]") {
  const PetscInt ranks = rank_count();
  Problem        p = problem(2, 2 * ranks, 2 * ranks), q = p;
  p.ranks[0] = q.ranks[1] = ranks;
  p.ranks[1] = q.ranks[0] = 1;
  Grid   da = make_grid(p), other = make_grid(q);
  Matrix A;
  Vector k = make_vector(other), copy;
  OK(VecSet(k, 1));
  if (ranks == 1) {
    OK(MatCreateDiffusion(da, k, &A));
    return;
  }
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, {"coefficient k", "distributed", "DMCreateGlobalVector"},
               [&] { return MatCreateDiffusion(da, k, &A); });
  OK(VecCreateMPI(PETSC_COMM_WORLD, 4 * ranks, PETSC_DECIDE, &copy)); // of no DMDA: its order is the caller's affair
  OK(VecCopy(k, copy));
  OK(MatCreateDiffusion(da, copy, &A));
}

TEST_CASE("solvers see a new coefficient after MatAssemblyEnd()", "[diffusion_settings]") {
  Medium m;
  m.N[0] = 9;
  Grid   da;
  Matrix A;
  Solver ksp;
  PC     pc;
  REQUIRE(make(m, da, A));
  Vector    k = coefficient(m, da), b = random_vector(da, 1), x = make_vector(da), r = make_vector(da);
  PetscReal norm;
  OK(MatDiffusionSetCoefficient(A, k));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCREDUNDANT));
  OK(KSPSolve(ksp, b, x));
  OK(VecScale(k, 5));
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  OK(KSPSolve(ksp, b, x));
  OK(MatMult(A, x, r));
  CHECK(difference(r, b) < 1e-10);
  OK(VecNorm(x, NORM_2, &norm));
  CHECK(norm > 0);
}

TEST_CASE("a program that assembles the same diffusion runs unchanged", "[diffusion_settings]") {
  for (bool advection : {false, true}) {
    Medium m;
    m.dim = 2;
    m.N[0] = 8, m.N[1] = 7;
    m.advection = advection;
    m.k = [](const PetscReal x[]) { return rough(x, 1); };
    m.w = [](const PetscReal x[], int axis) { return rough(x, 2 + axis); };
    Grid   da;
    Matrix A;
    REQUIRE(make(m, da, A));
    Matrix   B = assemble_by_hand(m, da);
    PetscInt first, last;
    OK(MatGetOwnershipRange(B, &first, &last));
    for (PetscInt row = first; row < last; row++) {
      PetscInt           n;
      const PetscInt    *columns;
      const PetscScalar *values;
      OK(MatGetRow(B, row, &n, &columns, &values));
      OK(MatSetValues(A, 1, &row, n, columns, values, INSERT_VALUES));
      OK(MatRestoreRow(B, row, &n, &columns, &values));
    }
    assemble(A);
    check_operator(A, B, da);
    EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, {"assembles"}, [&] {
      const PetscScalar wrong = -100;
      PetscFunctionBeginUser;
      PetscCall(MatSetValues(A, 1, &first, 1, &first, &wrong, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
}

TEST_CASE("solvers work with diffusion and advection_diffusion", "[diffusion_settings]") {
  for (int dim : {2, 3}) {
    Medium m;
    m.dim = dim;
    m.sigma = 0;
    for (int a = 0; a < dim; a++) m.N[a] = dim == 2 ? 63 : 15;
    m.k = [](const PetscReal x[]) { return x[0] > 0.3 && x[0] < 0.6 && x[1] > 0.4 ? 1000 : 1; };
    Grid     da;
    Matrix   A;
    PetscInt iterations;
    REQUIRE(make(m, da, A));
    Vector b = random_vector(da, 1), x = make_vector(da), r = make_vector(da);
    (void)solve(A, b, x, PCSTENCILMG, KSPCG, &iterations);
    INFO(dim << "-D: " << iterations << " iterations");
    CHECK(iterations <= 15);
    OK(MatMult(A, x, r));
    CHECK(difference(r, b) < 1e-6);
    for (const char *pc : {PCJACOBI, PCSOR, PCREDUNDANT}) {
      INFO(pc);
      Vector y = make_vector(da);
      (void)solve(A, b, y, pc, KSPGMRES, NULL);
      CHECK(difference(y, x) < 1e-4);
    }
  }
  Medium m;
  m.dim = 2;
  m.N[0] = m.N[1] = 15;
  m.advection = true;
  m.scheme = MAT_ADVECTION_DIFFUSION_UPWIND;
  m.w = [](const PetscReal[], int axis) { return axis ? -30 : 40; };
  Grid   da;
  Matrix A;
  REQUIRE(make(m, da, A));
  Vector b = random_vector(da, 1), x = make_vector(da), r = make_vector(da);
  for (const char *pc : {PCJACOBI, PCSOR, PCBJACOBI, PCREDUNDANT}) {
    INFO(pc);
    (void)solve(A, b, x, pc, KSPGMRES, NULL);
    OK(MatMult(A, x, r));
    CHECK(difference(r, b) < 1e-8);
  }
}

TEST_CASE("constants are the null space of diffusion and advection without sinks", "[diffusion_settings]") {
  for (bool advection : {false, true}) {
    Medium m;
    m.dim = 2;
    m.N[0] = 8, m.N[1] = 7;
    m.sigma = 0;
    m.advection = advection;
    for (int side = 0; side < 2; side++) m.forms[0][side] = m.forms[1][side] = MAT_LAPLACE_NEUMANN;
    m.k = [](const PetscReal x[]) { return rough(x, 1); };
    m.w = [](const PetscReal x[], int axis) { return rough(x, 2 + axis); };
    Grid         da;
    Matrix       A;
    MatNullSpace constants, left;
    PetscBool    is = PETSC_FALSE;
    REQUIRE(make(m, da, A));
    OK(MatGetNullSpace(A, &constants));
    OK(MatGetTransposeNullSpace(A, &left));
    REQUIRE(constants);
    OK(MatNullSpaceTest(constants, A, &is));
    CHECK(is);
    CHECK((left != NULL) == !advection);
  }
}

TEST_CASE("mistakes with fields are told on all ranks and change nothing", "[diffusion_settings]") {
  Medium m;
  m.dim = 2;
  m.N[0] = 8, m.N[1] = 7;
  m.advection = true;
  m.k = [](const PetscReal x[]) { return rough(x, 1); };
  Grid   da, other;
  Matrix A, laplace, made;
  REQUIRE(make(m, da, A));
  Problem p = problem(2, 9, 8);
  other = make_grid(p);
  Vector k = coefficient(m, da), wrong = make_vector(other), bad = coefficient(m, da);
  set_values(da, bad, [&](const PetscInt i[3]) { return i[0] == 2 && i[1] == 3 ? PetscScalar(-4) : PetscScalar(1); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, {"null"}, [&] { return MatDiffusionSetCoefficient(A, NULL); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, {"null"}, [&] { return MatAdvectionDiffusionSetVelocity(A, NULL); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, {"null"}, [&] { return MatCreateDiffusion(da, NULL, &made); });
  const Vec one_axis[] = {k};
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, {"1 axes", "2 dimensions"},
               [&] { return MatDiffusionSetFaceCoefficients(A, 1, one_axis); });
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, {"coefficient k", "72"}, [&] { return MatDiffusionSetCoefficient(A, wrong); });
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, {"velocity w", "56", "DMDACreateCompatibleDMDA", "dof = 2"},
               [&] { return MatAdvectionDiffusionSetVelocity(A, k); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"-4", "(2, 3)", "MatDiffusionSetMean"},
               [&] { return MatDiffusionSetCoefficient(A, bad); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"-4", "(2, 3)"}, [&] { return MatCreateDiffusion(da, bad, &made); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"-1"}, [&] { return MatDiffusionSetConstant(A, -1); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"mean 7"}, [&] { return MatDiffusionSetMean(A, (MatDiffusionMeanType)7); });
  const PetscReal w[] = {1, 2, 3};
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, {"3", "2"}, [&] { return MatAdvectionDiffusionSetConstantVelocity(A, 3, w); });
  check_operator(A, assemble_by_hand(m, da), da);
  OK(MatDiffusionSetMean(A, MAT_DIFFUSION_ARITHMETIC));
  OK(MatDiffusionSetCoefficient(A, bad));
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"-4"}, [&] { return MatDiffusionSetMean(A, MAT_DIFFUSION_HARMONIC); });
  set_values(da, bad, [&](const PetscInt i[3]) { return i[0] == 7 ? PetscScalar(NAN) : PetscScalar(1); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"nan", "(7, "}, [&] { return MatDiffusionSetCoefficient(A, bad); });
  OK(MatCreateLaplace(da, &laplace));
  OK(MatDiffusionSetCoefficient(laplace, k)); // other types ignore the setters
  OK(MatCreateDiffusion(da, k, &made));
}

TEST_CASE("a constant of the options and a field: the later one holds", "[diffusion_settings]") {
  Options options{"-mat_diffusion_coefficient 3"};
  Medium  m, constant;
  m.N[0] = constant.N[0] = 9;
  m.k = [](const PetscReal x[]) { return rough(x, 1); };
  constant.k = [](const PetscReal[]) { return 3; };
  Grid   da;
  Matrix A;
  REQUIRE(make(m, da, A)); // with the field
  Matrix with_field = assemble_by_hand(m, da), with_constant = assemble_by_hand(constant, da);
  OK(MatSetFromOptions(A));
  check_operator(A, with_constant, da);
  OK(MatDiffusionSetCoefficient(A, coefficient(m, da)));
  check_operator(A, with_field, da);
}

TEST_CASE("options of diffusion are those of its setters", "[diffusion_settings]") {
  Options options{"-mat_advection_diffusion_velocity 3,-2 -mat_advection_diffusion_scheme upwind "
                  "-mat_advection_diffusion_coefficient 0.5 -mat_advection_diffusion_shift 4 "
                  "-mat_advection_diffusion_boundary neumann -mat_advection_diffusion_lengths 1,2"};
  Medium  m;
  m.dim = 2;
  m.N[0] = 8, m.N[1] = 7;
  m.lengths[1] = 2;
  m.advection = true;
  m.sigma = 4;
  m.scheme = MAT_ADVECTION_DIFFUSION_UPWIND;
  for (int side = 0; side < 2; side++) m.forms[0][side] = m.forms[1][side] = MAT_LAPLACE_NEUMANN;
  m.k = [](const PetscReal[]) { return 0.5; };
  m.w = [](const PetscReal[], int axis) { return axis ? -2 : 3; };
  Grid   da = make_grid(problem(2, 8, 7));
  Matrix A;
  OK(ShellacInitializePackage());
  OK(DMSetMatType(da, MATADVECTIONDIFFUSION));
  OK(DMCreateMatrix(da, &A));
  OK(MatSetFromOptions(A));
  check_operator(A, assemble_by_hand(m, da), da);
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("upwind") != std::string::npos);
}
