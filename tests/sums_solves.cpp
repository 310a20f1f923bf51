// Solves with kernel sums, and their preconditioner: against dense matrices.

#include "catch.hpp"
#include "sums_solves.hpp"

#include "sums/bisection.hpp"

using namespace tests;
using namespace tests::sums;

namespace {

// What a point does to itself makes matrices of singular functions definite.
PetscReal self_value(const Function &f) {
  return f.singular ? 3 : f.kernel == Kernel::thin_plate ? 1 : 0;
}

} // namespace

TEST_CASE("one box with all points is the inverse of any square kernel sum, scaled and shifted", "[sums][solves]") {
  int number = 0;
  for (const Function &f : functions) {
    if (!in_turn(number++)) continue;
    for (Spread spread : {Spread::even, Spread::skewed}) {
      Cloud cloud = lattice(5, 2, PetscReal(0.2));
      cloud.spread = spread;
      Options set = options(f, " -pc_kernelsum_coarse 0");
      Matrix  A = make_square_sum(cloud);
      Vector  left = left_vector(A), right = right_vector(A), c = right_vector(A), y = left_vector(A),
             z = right_vector(A);
      OK(MatShift(A, self_value(f)));
      OK(MatScale(A, 3));
      set_random(left, 1);
      set_random(right, 2);
      OK(VecShift(left, 3));
      OK(VecShift(right, -3));
      OK(MatDiagonalScale(A, left, right));
      OK(MatDiagonalSet(A, left, ADD_VALUES));
      Solve solver(A);
      set_random(c, 4);
      OK(MatMult(A, c, y));
      OK(PCSetUp(solver.pc()));
      OK(PCApply(solver.pc(), y, z));
      INFO(f.name);
      CHECK(difference_of_arrays(z, c) <= 1e-8);
    }
  }
}

// The matrix is well conditioned; a coarse point with a close partner would spoil it.
TEST_CASE("pairs of close points do not spoil the coarse space", "[sums][solves]") {
  for (PetscReal gap : {PetscReal(1e-4), PetscReal(1e-9), PetscReal(1e-12)})
    for (bool all : {true, false}) { // pairs, or one in ten
      Options set("-mat_kernelsum_kernel laplace -ksp_rtol 1e-9");
      Cloud   cloud = random_cloud(600, 2, 4);
      for (PetscInt i = 0; i + 1 < cloud.N; i += all ? 2 : 20)
        for (int a = 0; a < 2; a++) cloud.x[(size_t)(2 * (i + 1) + a)] = cloud.x[(size_t)(2 * i + a)] + gap;
      Matrix A = make_square_sum(cloud);
      OK(MatShift(A, PetscSqrtReal((PetscReal)cloud.N) / 2));
      Vector b = right_vector(A), u = right_vector(A), r = right_vector(A);
      set_random(b, 1);
      INFO("gap " << gap << (all ? "" : ", few"));
      Solve solver(A);
      CHECK(solver.solve(b, u) > 0);
      CHECK(solver.solve(b, u) <= 25);
      PetscReal norms[2];
      OK(MatMult(A, u, r));
      OK(VecAXPY(r, -1, b));
      OK(VecNorm(r, NORM_2, &norms[0]));
      OK(VecNorm(b, NORM_2, &norms[1]));
      CHECK(norms[0] <= 1e-6 * norms[1]);
    }
}

TEST_CASE("GMRES with overlapping boxes solves as a dense matrix does", "[sums][solves]") {
  int number = 0;
  for (const Function &f : functions)
    for (int dim = 1; dim <= 3; dim++) {
      if (!in_turn(number++)) continue;
      if (f.kernel == Kernel::gaussian && dim == 1) continue; // its sigma is wide for so many points along a line
      const Cloud cloud = lattice(dim == 1 ? 50 : dim == 2 ? 9 : 5, dim, PetscReal(0.2));
      Options     set = options(f, " -pc_kernelsum_box 20 -pc_kernelsum_overlap 40 -pc_kernelsum_coarse 10");
      Matrix      A = make_square_sum(cloud);
      if (f.sigma)
        OK(MatKernelSumSetSigma(A, dim == 1 ? PetscReal(0.02) : dim == 2 ? PetscReal(0.1) : PetscReal(0.15)));
      OK(MatShift(A, self_value(f)));
      Matrix dense = dense_of(A);
      Vector c = right_vector(A), y = left_vector(A), z = right_vector(A);
      set_random(c, 3);
      OK(MatMult(dense, c, y));
      Solve solver(A);
      INFO(f.name << " in " << dim << "-D");
      const int its = solver.solve(y, z);
      CHECK(its > 0);
      CHECK(its <= 30);
      Vector r = left_vector(A);
      OK(MatMult(dense, z, r));
      OK(VecAXPY(r, -1, y));
      PetscReal norms[2];
      OK(VecNorm(r, NORM_2, &norms[0]));
      OK(VecNorm(y, NORM_2, &norms[1]));
      CHECK(norms[0] <= 2e-8 * norms[1]);
    }
}

TEST_CASE("iterations do not grow with the number of points", "[sums][solves]") {
  if (rank_count() > 1) return; // boxes are the same on any ranks
  const struct {
    const char *kernel;
    PetscReal   nugget, moved; // moved: from a lattice's points, in spacings
    PetscInt    most;          // points along each side
  } cases[] = {{"gaussian", 1e-6, PetscReal(0.2), 100},
               {"multiquadric -pc_kernelsum_variant restricted", 0, PetscReal(0.4), 64}};
  for (const auto &of : cases) {
    int few = 0;
    for (PetscInt along : {(PetscInt)32, fewer > 1 ? (PetscInt)48 : of.most}) {
      const Cloud cloud = lattice(along, 2, of.moved);
      Options     set(std::string("-pc_kernelsum_box 64 -pc_kernelsum_overlap 160 -mat_kernelsum_type fast "
                                      "-mat_kernelsum_rtol 1e-8 -mat_kernelsum_kernel ") +
                      of.kernel);
      Matrix      A = make_square_sum(cloud);
      OK(MatKernelSumSetSigma(A, (PetscReal)1 / along));
      if (of.nugget > 0) OK(MatShift(A, of.nugget));
      Vector f = left_vector(A), c = right_vector(A);
      set_random(f, 1);
      const int its = Solve(A).solve(f, c);
      INFO(of.kernel << ", " << cloud.N << " points: " << its << " iterations, " << few << " with few points");
      CHECK(its > 0);
      CHECK(its <= 25);
      if (along == 32)
        few = its;
      else
        CHECK(its <= few + 6);
    }
  }
}

TEST_CASE("boxes do not depend on how the points are distributed", "[sums][solves]") {
  PetscReal norms[3];
  int       n = 0;
  for (Spread spread : {Spread::even, Spread::last, Spread::skewed}) {
    Cloud cloud = lattice(7, 3, PetscReal(0.3));
    cloud.spread = spread;
    Options set("-mat_kernelsum_kernel inverse_multiquadric -mat_kernelsum_sigma 0.2 -pc_kernelsum_box 30 "
                "-pc_kernelsum_overlap 50 -pc_kernelsum_coarse 20");
    Matrix  A = make_square_sum(cloud);
    Solve   solver(A);
    Vector  r = cloud.vector(1, [](PetscInt i) { return PetscSinReal((PetscReal)i); }), z = right_vector(A);
    OK(PCSetUp(solver.pc()));
    OK(PCApply(solver.pc(), r, z));
    OK(VecNorm(z, NORM_2, &norms[n++]));
  }
  CHECK(PetscAbsReal(norms[1] - norms[0]) <= 1e-9 * norms[0]);
  CHECK(PetscAbsReal(norms[2] - norms[0]) <= 1e-9 * norms[0]);
}

TEST_CASE("boxes, iterations and solutions are those of one rank", "[sums][solves]") {
  const char *const cases[] = {"-ksp_type cg -ksp_pc_side left -ksp_norm_type unpreconditioned",
                               "-pc_kernelsum_coarse 20"};
  for (int dim : {2, 3})
    for (const char *options : cases)
      for (Spread spread : {Spread::even, Spread::last, Spread::skewed}) {
        Cloud cloud = lattice(dim == 2 ? 24 : 8, dim, PetscReal(0.4));
        cloud.spread = spread;
        Options set(
            std::string("-mat_kernelsum_kernel inverse_multiquadric -mat_kernelsum_sigma 0.1 -pc_kernelsum_box 12 "
                        "-pc_kernelsum_overlap 30 ") +
            options);
        const auto value = [](PetscInt i) { return (PetscScalar)PetscSinReal((PetscReal)i); };
        Matrix     A = make_square_sum(cloud), alone;
        Vector     f = cloud.vector(1, value), c = right_vector(A), all, x, g, c_alone;
        Solve      solver(A);
        const int  its = solver.solve(f, c);
        CHECK(its > 0);

        OK(VecCreateSeq(PETSC_COMM_SELF, cloud.N * dim, &x));
        OK(VecSetBlockSize(x, dim));
        PetscScalar *array;
        OK(VecGetArray(x, &array));
        std::copy(cloud.x.begin(), cloud.x.end(), array);
        OK(VecRestoreArray(x, &array));
        OK(MatCreateKernelSum(PETSC_COMM_SELF, x, x, &alone));
        OK(MatSetFromOptions(alone));
        OK(MatCreateVecs(alone, &c_alone, &g));
        OK(VecGetArray(g, &array));
        for (PetscInt i = 0; i < cloud.N; i++) array[i] = value(i);
        OK(VecRestoreArray(g, &array));
        Solve solver_alone(alone, PETSC_COMM_SELF);
        INFO(dim << "-D, " << options);
        const int its_alone = solver_alone.solve(g, c_alone);
        CHECK(everywhere(its_alone == its));
        VecScatter scatter;
        Vector     on_ranks = on_host(c);
        OK(VecScatterCreateToAll(on_ranks, &scatter, &all));
        OK(VecScatterBegin(scatter, on_ranks, all, INSERT_VALUES, SCATTER_FORWARD));
        OK(VecScatterEnd(scatter, on_ranks, all, INSERT_VALUES, SCATTER_FORWARD));
        OK(VecScatterDestroy(&scatter));
        PetscReal norms[2] = {}; // of this rank's copy
        OK(VecNorm(c_alone, NORM_2, &norms[0]));
        OK(VecAXPY(all, -1, c_alone));
        OK(VecNorm(all, NORM_2, &norms[1]));
        CHECK(everywhere(norms[1] <= 1e-9 * norms[0]));
      }
}

TEST_CASE("a rank holds its share of the points and those around its boxes", "[sums][solves]") {
  const PetscInt along = fewer > 1 ? 48 : 96, N = along * along;
  Options        set("-mat_kernelsum_kernel inverse_multiquadric -mat_kernelsum_sigma 0.01 -pc_kernelsum_box 16 "
                            "-pc_kernelsum_overlap 16");
  Matrix         A = make_square_sum(lattice(along, 2, PetscReal(0.4)));
  for (PCKernelSumVariant variant : {PC_KERNELSUM_RESTRICTED, PC_KERNELSUM_SYMMETRIC}) {
    Solve solver(A);
    OK(PCKernelSumSetVariant(solver.pc(), variant));
    if (variant == PC_KERNELSUM_RESTRICTED) OK(PCKernelSumSetCoarsePoints(solver.pc(), 20));
    OK(PCSetUp(solver.pc()));
    const std::string text = printed([&] { OK(PCView(solver.pc(), PETSC_VIEWER_STDOUT_WORLD)); });
    const size_t      at = text.find("a rank has ");
    INFO(text);
    REQUIRE(at != std::string::npos);
    const double held = std::stod(text.substr(at + 11));
    CHECK(held >= (double)N / rank_count());
    if (rank_count() > 1) CHECK(held <= 1.125 * (double)N / rank_count() + 20. * along);
  }
}

TEST_CASE("points are dealt out in equal shares of one order", "[sums][solves]") {
  Cloud cloud = random_cloud(997, 3, 3, Spread::skewed);
  for (PetscInt i = 0; i < cloud.N; i++) { // many have a coordinate, or all, in common
    for (int a = 0; a < 3; a++) {
      PetscReal &x = cloud.x[(size_t)(i * 3 + a)];
      x = i % 3 ? PetscFloorReal(4 * x) / 4 : x - PetscReal(0.5);
    }
    if (i % 5 == 0) cloud.x[(size_t)(i * 3)] = i % 2 ? PetscReal(0) : -PetscReal(0);
  }
  const auto middle = [](const shellac::Cluster &part) {
    return part.end - part.begin > 10 ? shellac::ClusterTree::middle_of(part) : part.begin;
  };
  const PetscMemType memory = tests::sums::vectors_are_on_a_gpu() ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  const auto         deal = [&](MPI_Comm comm, PetscInt first, PetscInt n, shellac::DealtPoints *dealt) {
    std::vector<PetscScalar> x(cloud.x.begin() + 3 * first, cloud.x.begin() + 3 * (first + n));
    shellac::PointCloud     *points;
    OK(shellac::PointCloudCreate(comm, "test", 3, n, PETSC_MEMTYPE_HOST, x.data(), &points));
    OK(shellac::DealPoints(comm, memory, *points, middle, dealt));
    OK(shellac::PointCloudDestroy(&points));
  };
  shellac::DealtPoints all, own;
  PetscInt             n = local_size(cloud.N, cloud.spread), end = 0;
  OK(MPI_Scan(&n, &end, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  deal(PETSC_COMM_SELF, 0, cloud.N, &all);
  deal(PETSC_COMM_WORLD, end - n, n, &own);
  bool same = own.parts.size() == all.parts.size();
  for (size_t p = 0; same && p < all.parts.size(); p++) {
    const auto &a = all.parts[p], &b = own.parts[p];
    same = a.begin == b.begin && a.end == b.end && a.child == b.child && std::equal(a.lower, a.lower + 3, b.lower) &&
           std::equal(a.upper, a.upper + 3, b.upper);
  }
  const bool there = std::equal(own.numbers.begin(), own.numbers.end(), all.numbers.begin() + own.first);
  bool       inside = true;
  for (const auto &part : all.parts)
    for (PetscInt t = part.begin; t < part.end; t++)
      for (int a = 0; a < 3; a++) {
        const PetscReal x = all.x[(size_t)(3 * t + a)];
        inside = inside && x >= part.lower[a] && x <= part.upper[a] && x == cloud.x[(size_t)(3 * all.numbers[t] + a)];
      }
  const PetscReal share = (PetscReal)cloud.N / rank_count();
  const bool      equal = PetscAbsReal((PetscReal)own.numbers.size() - share) <= 10;
  CHECK(everywhere(same));
  CHECK(everywhere(there));
  CHECK(everywhere(inside));
  CHECK(everywhere(equal));
}

TEST_CASE("settings of the preconditioner take effect, and its view says what it does", "[sums][solves]") {
  const Cloud cloud = lattice(12, 2, PetscReal(0.3));
  Options     set("-mat_kernelsum_kernel inverse_multiquadric -mat_kernelsum_sigma 0.1");
  Matrix      A = make_square_sum(cloud);
  Solve       solver(A);
  Vector      f = left_vector(A), c = right_vector(A);
  set_random(f, 1);
  OK(PCKernelSumSetBoxSize(solver.pc(), 16));
  OK(PCKernelSumSetOverlap(solver.pc(), 10));
  OK(PCKernelSumSetCoarsePoints(solver.pc(), 0));
  OK(PCKernelSumSetOverlap(solver.pc(), 0));
  OK(PCSetUp(solver.pc()));
  OK(PCApply(solver.pc(), f, c)); // boxes alone
  OK(PCKernelSumSetOverlap(solver.pc(), 10));
  const int poor = solver.solve(f, c);
  OK(PCKernelSumSetOverlap(solver.pc(), 50));
  OK(PCKernelSumSetCoarsePoints(solver.pc(), 16));
  const int good = solver.solve(f, c);
  CHECK(good > 0);
  CHECK((poor < 0 || good < poor));
  const std::string text = printed([&] { OK(PCView(solver.pc(), PETSC_VIEWER_STDOUT_WORLD)); });
  INFO(text);
  for (const char *word :
       {"type: kernelsum", "16 boxes", "50 points around", "16 coarse points", "where the vectors are"})
    CHECK(text.find(word) != std::string::npos);
  OK(PCKernelSumSetOverlap(solver.pc(), PETSC_DECIDE));
  OK(PCKernelSumSetBoxSize(solver.pc(), 1000)); // all points: exact
  CHECK(solver.solve(f, c) <= 2);
}

TEST_CASE("mistakes with the preconditioner of kernel sums", "[sums][solves][misuse]") {
  const Cloud cloud = lattice(8, 2, 0);
  const auto  work = [&](Vec *y) {
    PetscFunctionBeginUser;
    Matrix A = make_square_sum(cloud);
    Vector f;
    KSP    ksp;
    PC     pc;
    PetscCall(MatKernelSumSetSigma(A, PetscReal(0.125)));
    PetscCall(MatCreateVecs(A, y, &f));
    PetscCall(VecSet(f, 1));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCKERNELSUM));
    PetscErrorCode code = KSPSetFromOptions(ksp);
    if (!code) code = KSPSolve(ksp, f, *y);
    PetscCall(KSPDestroy(&ksp));
    PetscFunctionReturn(code);
  };
  Matrix square = make_square_sum(cloud), other = make_sum(cloud, random_cloud(30, 2, 1)), gradient, dense, wide, twice;
  OK(MatKernelSumCreateGradient(square, &gradient));
  OK(MatConvert(square, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  OK(MatDuplicate(square, MAT_COPY_VALUES, &wide));
  OK(MatKernelSumSetSigma(wide, 3));
  Cloud same = cloud;
  same.x[4] = same.x[0], same.x[5] = same.x[1];
  Vector points = same.coordinates();
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, points, points, &twice));
  Matrix thin_plate = make_square_sum(cloud), helmholtz = make_square_sum(cloud);
  OK(MatKernelSumSetKernel(thin_plate, "thin_plate"));
  OK(MatKernelSumSetKernel(helmholtz, "helmholtz"));
  OK(MatKernelSumSetWavenumber(helmholtz, 1));
  OK(MatKernelSumSetSigma(twice, PetscReal(0.125)));
  const auto set_up = [](Mat A) {
    PC pc;
    PetscFunctionBeginUser;
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCKERNELSUM));
    PetscCall(PCSetOperators(pc, A, A));
    const PetscErrorCode code = PCSetUp(pc);
    PetscCall(PCDestroy(&pc));
    PetscFunctionReturn(code);
  };
  const auto set_up_symmetric = [&](Mat A) {
    Options symmetric("-pc_kernelsum_variant symmetric");
    PC      pc;
    PetscFunctionBeginUser;
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCKERNELSUM));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetOperators(pc, A, A));
    const PetscErrorCode code = PCSetUp(pc);
    PetscCall(PCDestroy(&pc));
    PetscFunctionReturn(code);
  };
  Solve solver(square);
  check_mistakes(
      work,
      {
          {"-pc_kernelsum_box 0", PETSC_ERR_ARG_OUTOFRANGE, "0 points|1 or more|-pc_kernelsum_box"},
          {"-pc_kernelsum_overlap -3", PETSC_ERR_ARG_OUTOFRANGE, "-3 points|0 or more|-pc_kernelsum_overlap"},
          {"-pc_kernelsum_coarse -3", PETSC_ERR_ARG_OUTOFRANGE, "-3 points|0 or more|-pc_kernelsum_coarse"},
          {"-pc_kernelsum_coarse few", PETSC_ERR_ARG_OUTOFRANGE, "pc_kernelsum_coarse|few|give: integer, 0 or more"},
          {"-pc_kernelsum_variant both", PETSC_ERR_USER, "both|pc_kernelsum_variant|give: "},
          {"-pc_kernelsum_variant symmetric -pc_kernelsum_coarse 20", PETSC_ERR_ARG_INCOMP,
           "-pc_kernelsum_coarse 20 has no effect|symmetric|restricted"},
          CALL(PETSC_ERR_MAT_CH_ZRPVT, "thin_plate|positive definite|-ksp_type gmres", set_up_symmetric(thin_plate)),
          CALL(PETSC_ERR_SUP, "helmholtz|complex|restricted", set_up_symmetric(helmholtz)),
          {"-ksp_type cg -mat_kernelsum_kernel multiquadric", PETSC_ERR_MAT_CH_ZRPVT, "multiquadric|indefinite|minres"},
          {"-ksp_type cg -pc_kernelsum_coarse 20", PETSC_ERR_ARG_INCOMP, "-pc_kernelsum_coarse 20 has no effect|CG"},
          CALL(PETSC_ERR_ARG_WRONG, "needs a matrix of type kernelsum|KSPSetOperators", set_up(dense)),
          CALL(PETSC_ERR_SUP, "square", set_up(other)),
          CALL(PETSC_ERR_SUP, "gradients", set_up(gradient)),
          CALL(PETSC_ERR_MAT_LU_ZRPVT, "condition number|gaussian|-mat_kernelsum_sigma|MatShift", set_up(wide)),
          CALL(PETSC_ERR_MAT_LU_ZRPVT, "condition number|at one place|MatShift", set_up(twice)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "0 points|1 or more", PCKernelSumSetBoxSize(solver.pc(), 0)),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "-7 points|0 or more",
               PCKernelSumSetOverlap(solver.pc(), on_last<PetscInt>(-7, 20))),
          CALL(PETSC_ERR_ARG_OUTOFRANGE, "variant 3|auto, restricted or symmetric",
               PCKernelSumSetVariant(solver.pc(), (PCKernelSumVariant)on_last(3, 0))),
          CALL(PETSC_ERR_ARG_NULL, "null", PCKernelSumSetCoarsePoints(NULL, 0)),
      });
}
