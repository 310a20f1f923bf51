// Kernel sums as matrices: gradients, many right-hand sides, entries, composition, solvers, views.

#include "catch.hpp"
#include "sums.hpp"

#include <petscdmswarm.h>

using namespace tests;
using namespace tests::sums;

TEST_CASE("gradients", "[sums]") {
  for (const Function &f : functions)
    for (int dim = 1; dim <= 3; dim++) {
      Cloud targets = random_cloud(37, dim, 1, Spread::skewed), sources = random_cloud(53, dim, 2);
      for (int a = 0; a < dim; a++) targets.x[5 * dim + a] = sources.x[7 * dim + a]; // counts for nothing
      Options    set = options(f);
      Matrix     A = make_sum(targets, sources), G;
      const auto c = random_weights(f, 53, 3);
      Vector     x = weight_vector(f, sources, c);
      INFO(f.name << " in " << dim << "-D");
      OK(MatKernelSumCreateGradient(A, &G));
      Vector y = left_vector(G);
      OK(MatMult(G, x, y));
      CHECK(error_of_sum(f, y, 37 * dim, 53, c, [&](PetscInt i, PetscInt j) {
              return entry(f, targets, i / dim, sources, j, (int)(i % dim));
            }) <= tolerance(53));
      for (const char *precision : {"single", "mixed"}) {
        Options with(std::string("-mat_kernelsum_precision ") + precision);
        OK(MatSetFromOptions(G));
        OK(MatMult(G, x, y));
        if (dim == 3 || !f.singular) // on a line points are close
          CHECK(error_of_sum(f, y, 37 * dim, 53, c, [&](PetscInt i, PetscInt j) {
                  return entry(f, targets, i / dim, sources, j, (int)(i % dim));
                }) <= 1e-5);
      }
      OK(MatKernelSumSetPrecision(G, MAT_KERNELSUM_DOUBLE));
      Matrix D = dense_of(G), E;
      Vector u = left_vector(G), v = right_vector(G), w = right_vector(G);
      set_random(u, 4);
      OK(MatMultTranspose(G, u, v));
      OK(MatMultTranspose(D, u, w));
      CHECK(difference_of_arrays(v, w) <= exact);
      OK(MatMultHermitianTranspose(G, u, v));
      OK(MatMultHermitianTranspose(D, u, w));
      CHECK(difference_of_arrays(v, w) <= exact);
      OK(MatConvert(G, MATDENSE, MAT_INITIAL_MATRIX, &E));
      CHECK(difference(E, D) <= exact);
    }
}

TEST_CASE("rows and values of a kernel sum are those of the matrix", "[sums]") {
  const Cloud sources = random_cloud(11, 2, 2), targets = random_cloud(7, 2, 1);
  for (const Function &f : functions)
    for (bool gradient : {false, true}) {
      Options set = options(f);
      Matrix  sum = gradient ? make_sum(targets, sources) : make_square_sum(sources), G;
      if (gradient) OK(MatKernelSumCreateGradient(sum, &G));
      const Mat A = gradient ? G : sum;
      Vector    left = left_vector(A), right = right_vector(A);
      set_random(left, 1);
      set_random(right, 2);
      OK(MatScale(A, 3));
      OK(MatDiagonalScale(A, left, right));
      if (!gradient) OK(MatShift(A, 2));
      if (!gradient) OK(MatDiagonalSet(A, left, ADD_VALUES));
      PetscInt           begin, end, n, M, N;
      const PetscInt    *columns;
      const PetscScalar *values;
      INFO(f.name << (gradient ? ", gradients" : ""));
      OK(MatGetOwnershipRange(A, &begin, &end));
      OK(MatGetSize(A, &M, &N));
      if (rank_count() > 1) { // a call of one rank, which does not have the others' points
        EXPECT_ERROR(PETSC_ERR_SUP, ({"kernelsum", "several ranks", "MatConvert()"}),
                     [&] { return MatGetRow(A, begin, &n, &columns, &values); });
        continue;
      }
      Matrix dense = dense_of(A);
      for (PetscInt i = 0; i < M; i++) {
        PetscReal   worst = 0;
        PetscScalar same[2] = {-7, -7}, expected;
        OK(MatGetRow(A, i, &n, &columns, &values));
        CHECK(n == N);
        for (PetscInt j = 0; j < n; j++) {
          OK(MatGetValues(dense, 1, &i, 1, &columns[j], &expected));
          worst = std::max(worst, PetscAbsScalar(values[j] - expected) / (1 + PetscAbsScalar(expected)));
        }
        CHECK(worst <= exact);
        const PetscInt rows[2] = {-1, i}, column = N - 1; // negative: ignored
        OK(MatGetValues(A, 2, rows, 1, &column, same));
        CHECK(same[0] == PetscScalar(-7));
        CHECK(same[1] == values[N - 1]);
        OK(MatRestoreRow(A, i, &n, &columns, &values));
      }
    }
}

TEST_CASE("many right-hand sides at once are one after the other", "[sums]") {
  for (const Function &f : functions)
    for (PetscInt columns : {1, 2, 19, 22}) {
      const Cloud targets = random_cloud(31, 3, 1), sources = random_cloud(47, 3, 2, Spread::skewed);
      Options     set = options(f);
      Matrix      A = make_sum(targets, sources), B, C;
      PetscInt    m, n;
      INFO(f.name << " " << columns);
      OK(MatGetLocalSize(A, &m, &n));
      for (bool transposed : {false, true}) {
        Matrix B, C;
        OK(MatCreateDense(PETSC_COMM_WORLD, transposed ? m : n, PETSC_DECIDE, PETSC_DETERMINE, columns, NULL, &B));
        OK(MatSetRandom(B, NULL));
        if (transposed)
          OK(MatTransposeMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
        else
          OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
        Vector x = transposed ? left_vector(A) : right_vector(A), y = transposed ? right_vector(A) : left_vector(A);
        for (PetscInt c = 0; c < columns; c += 3) {
          OK(MatGetColumnVector(B, x, c));
          if (transposed)
            OK(MatMultTranspose(A, x, y));
          else
            OK(MatMult(A, x, y));
          Vector z = copy_of(y);
          OK(MatGetColumnVector(C, z, c));
          CHECK(difference_of_arrays(z, y) <= exact);
        }
      }
    }
}

TEST_CASE("dense matrices of another size or distribution are no factors of a sum", "[sums]") {
  Options    set = options(functions[0]);
  Matrix     A = make_square_sum(random_cloud(40, 3, 1, Spread::last)), C;
  const auto dense = [&](bool even, PetscInt columns) {
    PetscInt n, N;
    Matrix   B;
    OK(MatGetLocalSize(A, NULL, &n));
    OK(MatGetSize(A, NULL, &N));
    OK(MatCreateDense(PETSC_COMM_WORLD, even ? PETSC_DECIDE : n, PETSC_DECIDE, N, columns, NULL, &B));
    OK(MatSetRandom(B, NULL));
    return B;
  };
  Matrix B = dense(false, 3);
  OK(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  for (bool transposed : {false, true})
    if (rank_count() > 1)
      EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"distributed otherwise"}), [&] {
        Matrix even = dense(true, 3), D;
        return transposed ? MatTransposeMatMult(A, even, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D)
                          : MatMatMult(A, even, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D);
      });
  Matrix wide = dense(false, 30);
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"30 columns"}),
               [&] { return MatMatMult(A, wide, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C); });
}

TEST_CASE("a shifted sum stays square", "[sums]") {
  Options set = options(functions[0]);
  Matrix  A = make_square_sum(random_cloud(40, 3, 1));
  Vector  targets = random_cloud(12, 3, 1).coordinates(), sources = random_cloud(20, 3, 2).coordinates();
  OK(MatShift(A, 2));
  Vector x = right_vector(A), y = left_vector(A), before = left_vector(A);
  OK(VecSetRandom(x, NULL));
  OK(MatMult(A, x, before));
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, ({"MatShift()"}), [&] { return MatKernelSumSetPoints(A, targets, sources); });
  OK(MatMult(A, x, y));
  CHECK(difference(y, before) == 0);
}

TEST_CASE("entries, norms and the vector space of sums", "[sums]") {
  for (const Function &f : functions) {
    const Cloud cloud = random_cloud(45, 2, 1, Spread::skewed);
    Options     set = options(f);
    Matrix      A = make_square_sum(cloud), B;
    Vector      l = left_vector(A), r = right_vector(A), d = right_vector(A);
    INFO(f.name);
    set_random(l, 6);
    set_random(r, 7);
    set_random(d, 8);
    const auto check = [&](Mat sum, Mat dense) {
      Matrix    D = dense_of(sum), E;
      PetscReal norm, reference;
      CHECK(difference(D, dense) <= exact);
      OK(MatConvert(sum, MATDENSE, MAT_INITIAL_MATRIX, &E));
      CHECK(difference(E, dense) <= exact);
      for (NormType type : {NORM_1, NORM_INFINITY, NORM_FROBENIUS}) {
        OK(MatNorm(sum, type, &norm));
        OK(MatNorm(dense, type, &reference));
        CHECK(difference(norm, reference) <= exact);
      }
      Vector of_sum = right_vector(A), of_dense = right_vector(A);
      OK(MatGetDiagonal(sum, of_sum));
      OK(MatGetDiagonal(dense, of_dense));
      CHECK(difference_of_arrays(of_sum, of_dense) <= exact);
      Vector x = right_vector(A), y = left_vector(A), z = left_vector(A);
      set_random(x, 9);
      OK(MatMultTranspose(sum, x, y));
      OK(MatMultTranspose(dense, x, z));
      CHECK(difference_of_arrays(y, z) <= exact);
      OK(MatMultHermitianTranspose(sum, x, y));
      OK(MatMultHermitianTranspose(dense, x, z));
      CHECK(difference_of_arrays(y, z) <= exact);
      CHECK(difference_of_columns(sum, dense, 3) <= 10 * exact);
    };
    Matrix D = dense_of(A);
    check(A, D);
    OK(MatScale(A, 3));
    OK(MatScale(D, 3));
    OK(MatShift(A, 2));
    OK(MatShift(D, 2));
    check(A, D);
    OK(MatDiagonalScale(A, l, r));
    OK(MatDiagonalScale(D, l, r));
    OK(MatShift(A, 1));
    OK(MatShift(D, 1));
    check(A, D);
    OK(MatDiagonalSet(A, d, ADD_VALUES));
    OK(MatDiagonalSet(D, d, ADD_VALUES));
    OK(MatScale(A, -2));
    OK(MatScale(D, -2));
    check(A, D);
    OK(MatDuplicate(A, MAT_COPY_VALUES, &B));
    OK(MatDiagonalSet(A, d, INSERT_VALUES)); // of A alone
    check(B, D);
    OK(MatDiagonalSet(D, d, INSERT_VALUES));
    check(A, D);
  }
}

TEST_CASE("sums in composed matrices and solvers", "[sums]") {
  const Cloud cloud = random_cloud(80, 2, 1);
  Options     set("-mat_kernelsum_kernel inverse_multiquadric -mat_kernelsum_sigma 0.1");
  Matrix      A = make_square_sum(cloud), S, N;
  Vector      x = right_vector(A), y = left_vector(A), z = left_vector(A);
  set_random(x, 1);
  OK(MatMult(A, x, z));
  Mat parts[] = {A, A};
  OK(MatCreateComposite(PETSC_COMM_WORLD, 2, parts, &S));
  OK(MatMult(S, x, y));
  OK(VecScale(z, 2));
  CHECK(difference_of_arrays(y, z) <= exact);

  Mat block[] = {A, A, A, A};
  OK(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, block, &N));
  Vector    nested = right_vector(N), product = left_vector(N);
  PetscReal norm, reference;
  OK(VecSet(nested, 1));
  OK(MatMult(N, nested, product));
  OK(VecSet(x, 2));
  OK(MatMult(A, x, y));
  OK(VecNorm(product, NORM_INFINITY, &norm));
  OK(VecNorm(y, NORM_INFINITY, &reference));
  CHECK(difference(norm, reference) <= exact);

  Solver             ksp; // positive definite, with a ridge
  KSPConvergedReason reason;
  PetscInt           iterations;
  OK(MatShift(A, 0.1));
  set_random(x, 2);
  OK(MatMult(A, x, y));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, KSPCG));
  PC pc;
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCJACOBI));
  OK(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  OK(KSPSolve(ksp, y, z));
  OK(KSPGetConvergedReason(ksp, &reason));
  OK(KSPGetIterationNumber(ksp, &iterations));
  CHECK(reason > 0);
  CHECK(difference_of_arrays(z, x) <= 1e-8);
}

TEST_CASE("points of a DMDA and of a swarm", "[sums]") {
  const Function &gaussian = functions[0];
  Options         set = options(gaussian);
  Grid            da, swarm;
  Matrix          A, B;
  OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 9, 7, PETSC_DECIDE,
                  PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  OK(DMSetFromOptions(da));
  OK(DMSetUp(da));
  EXPECT_ERROR(PETSC_ERR_ARG_WRONGSTATE, ({"no coordinates", "DMDASetUniformCoordinates"}),
               [&] { return MatCreateKernelSumDM(da, da, &B); });
  OK(DMDASetUniformCoordinates(da, 0, 1, 0, 2, 0, 0));

  const PetscInt N = 20;
  Cloud          particles = random_cloud(N, 2, 3);
  OK(DMCreate(PETSC_COMM_WORLD, &swarm));
  OK(DMSetType(swarm, DMSWARM));
  OK(DMSetDimension(swarm, 2));
  OK(DMSwarmSetType(swarm, DMSWARM_PIC));
  OK(DMSwarmSetCellDM(swarm, da));
  OK(DMSwarmFinalizeFieldRegister(swarm));
  const PetscInt n = local_size(N, Spread::even);
  OK(DMSwarmSetLocalSizes(swarm, n, 4));
  Vector             x = particles.coordinates();
  const PetscScalar *from;
  PetscReal         *to;
  OK(VecGetArrayRead(x, &from));
  OK(DMSwarmGetField(swarm, DMSwarmPICField_coor, NULL, NULL, (void **)&to));
  for (PetscInt i = 0; i < 2 * n; i++) to[i] = PetscRealPart(from[i]);
  OK(DMSwarmRestoreField(swarm, DMSwarmPICField_coor, NULL, NULL, (void **)&to));
  OK(VecRestoreArrayRead(x, &from));

  OK(MatCreateKernelSumDM(da, swarm, &A));
  Vec    nodes;
  Matrix C;
  OK(DMGetCoordinates(da, &nodes));
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, nodes, x, &C));
  Vector c = right_vector(A), y = left_vector(A), d = right_vector(C), z = left_vector(C);
  set_random(c, 1);
  set_random(d, 1);
  OK(MatMult(A, c, y));
  OK(MatMult(C, d, z));
  CHECK(difference_of_arrays(y, z) <= exact);
  PetscInt M, K;
  OK(MatGetSize(A, &M, &K));
  CHECK(M == 63);
  CHECK(K == N);
}

TEST_CASE("the view tells the sum, its size and its rate", "[sums]") {
  const Cloud targets = random_cloud(50, 3, 1), sources = random_cloud(40, 3, 2);
  Options     set = options(functions[0]);
  Matrix      A = make_sum(targets, sources);
  Vector      x = right_vector(A), y = left_vector(A);
  OK(VecSet(x, 1));
  OK(MatMult(A, x, y));
  const std::string text = view(A, PETSC_VIEWER_ASCII_INFO);
  for (const char *word :
       {"gaussian", "sigma = 0.2", "50 targets, 40 sources in 3-D", "direct sums of all pairs in double precision",
        "1 product;", "2000 pairs", "dense matrix takes"})
    CHECK(text.find(word) != std::string::npos);
  MatType type;
  OK(MatGetType(A, &type));
  CHECK(std::string(type) == MATKERNELSUM);
  OK(MatMult(A, x, y));
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("2 products; the last: 2000 pairs") != std::string::npos);
}

TEST_CASE("the entries of a large sum are counted, not printed", "[sums]") {
  const Cloud       small = random_cloud(30, 2, 1), large = random_cloud(1100, 2, 2);
  Options           set = options(functions[0]);
  Matrix            A = make_square_sum(small), B = make_square_sum(large);
  const std::string entries = view(A, PETSC_VIEWER_DEFAULT), count = view(B, PETSC_VIEWER_DEFAULT);
  CHECK(entries.size() > 900);
  CHECK(count.size() < 500);
  CHECK(count.find("::ascii_info") != std::string::npos);
  CHECK(view(B, PETSC_VIEWER_ASCII_INFO).find("1100 targets") != std::string::npos);
}
