// stencilmg with variable coefficients on a GPU, beside the host.

#include "catch.hpp"

#include "gpu.hpp"
#include "media.hpp"

using namespace tests;

#if defined(PETSC_HAVE_CUDA)

static void fill_in(DM da, Mat A, const Fill &fill) {
  set_rows(da, A, fill, Way::stencil, ADD_VALUES);
  assemble(A);
}

static Vector applied(PC pc, DM da) {
  return apply(pc, random_vector(da, 3));
}

static Fill uniform_laplacian(int dim = 2) {
  return [=](const PetscInt *, const PetscInt arm[3], PetscScalar *block) {
    *block = arm[0] || arm[1] || arm[2] ? -1 : 2 * dim;
  };
}

// Of the smoother, on each level.
static std::string printed_weights(PC pc) {
  const std::string text = printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); }), word = "Jacobi (";
  std::string       all;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    all += text.substr(at, text.find(')', at) - at);
  return all;
}

TEST_CASE("set-up on a GPU makes the levels that set-up on the host makes", "[multigrid][device]") {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC, mirror = DM_BOUNDARY_MIRROR;
  const char *const    options[] = {"", "-test_pc_stencilmg_precision single", "-test_pc_stencilmg_levels 3"};
  int                  number = 0;
  if (no_gpu()) return;
  for (const Point &N :
       {Point{65, 64, 1}, Point{101, 37, 1}, Point{2, 40, 1}, Point{3, 41, 1}, Point{1, 50, 1}, Point{127, 1, 1},
        Point{600, 1, 1}, Point{17, 18, 17}, Point{14, 9, 25}, Point{12, 1, 11}, Point{13, 11, 7}, Point{23, 2, 19}})
    for (const auto &ends : {std::vector<DMBoundaryType>{none, none, none},
                             {none, around, none},
                             {around, none, around},
                             {around, around, around},
                             {mirror, none, mirror}})
      for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX})
        for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN}) {
          const Lattice     l = lattice(N, ends, shape);
          const bool        is_line = (N[0] > 1) + (N[1] > 1) + (N[2] > 1) == 1;
          const std::string line = is_line ? small_last_level : ""; // the host would solve it by elimination
          const std::string option = line + " " + options[number % 3];
          const bool        scaled = number++ % 4 == 1;
          Grid              da;
          if (ends[0] == mirror && (shape == DMDA_STENCIL_BOX || l.dim == 3)) continue; // PETSc has no such grids
          if (!in_turn(number) || !try_make_grid(l, &da)) continue;
          INFO(describe(l) << ", boundary form " << (int)form << (scaled ? ", rows scaled " : " ") << option);
          Twins      on_gpu(l, VECCUDA), on_host(l, VECSTANDARD);
          const Fill blocks = medium_fill(l, Medium::blocks, form, 0.1),
                     smooth = medium_fill(l, Medium::smooth, form, 0.2);
          const auto fill_both = [&](const Fill &fill) {
            for (Twins *t : {&on_gpu, &on_host}) fill_in(t->da, t->A, scaled ? scaled_fill(l, fill) : fill);
          };
          const PetscReal most = option.find("single") != std::string::npos ? 1e-4 : 1e4 * exact;
          fill_both(blocks);
          Preconditioner of_gpu = make_pc(on_gpu.A, option), of_host = make_pc(on_host.A, option);
          CHECK(difference(applied(of_gpu, on_gpu.da), applied(of_host, on_host.da)) <= most);
          CHECK(printed_weights(of_gpu) == printed_weights(of_host));
          for (Twins *t : {&on_gpu, &on_host}) OK(MatZeroEntries(t->A)); // again, in the same memory
          fill_both(smooth);
          OK(PCSetUp(of_gpu));
          OK(PCSetUp(of_host));
          CHECK(difference(applied(of_gpu, on_gpu.da), applied(of_host, on_host.da)) <= most);
        }
}

TEST_CASE("convection on a GPU takes the host's steps, where its tiles are whole grids", "[multigrid][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  const DMBoundaryType none = DM_BOUNDARY_NONE;
  for (const DMBoundaryType first : {none, DM_BOUNDARY_PERIODIC})
    for (const Point &N : {Point{30, 8, 1}, Point{17, 7, 1}, Point{28, 3, 1}, Point{30, 4, 2}, Point{15, 4, 2}}) {
      const Lattice l = lattice(N, {first, none, none});
      INFO(describe(l));
      for (PetscReal nu : {1e-2, 1e-6}) {
        Twins on_gpu(l, VECCUDA), on_host(l, VECSTANDARD);
        for (Twins *t : {&on_gpu, &on_host}) fill_in(t->da, t->A, convection_fill(l, nu, meander, true));
        Preconditioner of_gpu = make_pc(on_gpu.A, small_last_level), of_host = make_pc(on_host.A, small_last_level);
        CHECK(difference(applied(of_gpu, on_gpu.da), applied(of_host, on_host.da)) <= 1e4 * exact);
      }
    }
}

TEST_CASE("a new set-up on a GPU copies no coefficients", "[multigrid][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  OK(PetscLogDefaultBegin());
  const Lattice l = lattice({400, 300, 1});
  for (bool scaled : {false, true}) {
    INFO("scaled " << scaled);
    Twins          t(l, VECCUDA);
    const Fill     fill = medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0.1);
    Preconditioner pc;
    for (int turn = 0; turn < 3; turn++) {
      Vector x = random_vector(t.da, 1), y = make_vector(t.da);
      if (!turn) fill_in(t.da, t.A, scaled ? scaled_fill(l, fill) : fill);
      OK(MatScale(t.A, 2));
      OK(MatMult(t.A, x, y)); // coefficients go to the GPU
      if (!turn) pc = make_pc(t.A);
      CHECK(bytes_copied([&]() { OK(PCSetUp(pc)); }) <= 500000); // those in arrays have 4.8 MB
      CHECK(difference(apply(pc, y), x) <= 0.5);
    }
  }
}

TEST_CASE("the levels of constant coefficients that are assembled again, the same, are kept", "[multigrid][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  OK(PetscLogDefaultBegin());
  const Lattice l = lattice({400, 300, 1});
  Twins         t(l, VECCUDA);
  const Fill    fill = uniform_laplacian();
  fill_in(t.da, t.A, fill);
  Preconditioner pc = make_pc(t.A);
  const Vector   before = applied(pc, t.da);
  OK(MatZeroEntries(t.A));
  fill_in(t.da, t.A, fill);
  CHECK(bytes_copied([&]() { OK(PCSetUp(pc)); }) <= 100);
  CHECK(difference(applied(pc, t.da), before) == 0);
  OK(MatShift(t.A, 1)); // others are not
  OK(PCSetUp(pc));
  CHECK(difference(applied(pc, t.da), before) >= 0.01);
}

TEST_CASE("levels in 3-D tell that they are walked column by column on one GPU", "[multigrid][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  const DMBoundaryType none = DM_BOUNDARY_NONE;
  for (const DMBoundaryType first : {none, DM_BOUNDARY_PERIODIC}) {
    Twins t(lattice({24, 20, 18}, {first, none, none}), VECCUDA);
    fill_in(t.da, t.A, uniform_laplacian(3));
    const auto view_of = [&](const char *options) {
      Preconditioner pc = make_pc(t.A, options);
      return printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
    };
    const std::string text = view_of("-test_pc_stencilmg_levels 30");
    CHECK(text.find("column by column") != std::string::npos);
#if !defined(PETSC_USE_COMPLEX)
    CHECK(view_of("").find("level 0: 24 x 20 x 18, solved by its axes' modes, plane by plane") != std::string::npos);
#endif
  }
}

TEST_CASE("a zero on the diagonal is found on a GPU, and the next matrix is solved", "[multigrid][device]") {
  if (no_gpu()) return;
  const Lattice l = lattice({60, 45, 1});
  Twins         t(l, VECCUDA);
  const Fill    good = medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0);
  fill_in(t.da, t.A, good);
  Preconditioner pc = make_pc(t.A);
  const Vector   before = applied(pc, t.da);
  OK(MatZeroEntries(t.A));
  fill_in(t.da, t.A, [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    good(p, arm, block);
    if (p[0] == 7 && p[1] == 5 && !arm[0] && !arm[1]) *block = 0;
  });
  PCFailedReason reason;
  OK(PCSetUp(pc)); // a solver may go on with another matrix
  OK(PCGetFailedReason(pc, &reason));
  CHECK(reason != PC_NOERROR);
  OK(MatZeroEntries(t.A));
  fill_in(t.da, t.A, good);
  OK(PCSetUp(pc));
  CHECK(difference(applied(pc, t.da), before) <= exact);
}

#endif
