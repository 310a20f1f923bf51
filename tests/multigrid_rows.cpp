// Passes of stencilmg with variable coefficients, where the vectors are, beside single steps point by point on the
// host: fused ones, and on a GPU in 3-D those column by column.

#include "catch.hpp"

#include "gpu.hpp"
#include "media.hpp"
#include "multigrid/gpu/variable_plan.hpp"

using namespace tests;

namespace {

struct Case {
  const char                 *what;
  Point                       N; // more than 250 columns: several strips on a GPU
  std::vector<DMBoundaryType> ends;
  MatLaplaceBoundaryType      form;
  bool                        has_masses, has_fixed_points;
};

const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;

const std::vector<Case> cases = {
    {"Dirichlet ends", {600, 74, 1}, {none, none}, MAT_LAPLACE_ELIMINATED, false, false},
    {"identity ends, odd numbers of points", {301, 57, 1}, {none, none}, MAT_LAPLACE_IDENTITY, false, false},
    {"identity ends, odd and even", {65, 254, 1}, {none, none}, MAT_LAPLACE_IDENTITY, false, false},
    {"masses", {300, 61, 1}, {none, none}, MAT_LAPLACE_ELIMINATED, true, false},
    {"masses and identity ends", {131, 90, 1}, {none, none}, MAT_LAPLACE_IDENTITY, true, false},
    {"fixed points", {270, 80, 1}, {none, none}, MAT_LAPLACE_ELIMINATED, false, true},
    {"free ends", {280, 45, 1}, {none, none}, MAT_LAPLACE_NEUMANN, false, false},
    {"an odd periodic axis", {43, 250, 1}, {around, none}, MAT_LAPLACE_ELIMINATED, false, false},
    {"an even periodic axis", {44, 250, 1}, {around, none}, MAT_LAPLACE_IDENTITY, false, false},
    {"periodic axes, masses", {512, 48, 1}, {around, around}, MAT_LAPLACE_ELIMINATED, true, false},
    {"a narrow grid", {2, 50, 1}, {none, none}, MAT_LAPLACE_ELIMINATED, false, false},
    {"a low grid", {310, 3, 1}, {none, none}, MAT_LAPLACE_ELIMINATED, false, false},
    {"3-D, Dirichlet ends", {35, 21, 16}, {none, none, none}, MAT_LAPLACE_ELIMINATED, false, false},
    {"3-D, identity ends, masses", {33, 18, 21}, {none, none, none}, MAT_LAPLACE_IDENTITY, true, false},
    {"3-D, fixed points", {40, 36, 9}, {none, none, none}, MAT_LAPLACE_ELIMINATED, false, true},
    {"3-D, free ends", {9, 40, 22}, {none, none, none}, MAT_LAPLACE_NEUMANN, false, false},
    {"3-D, periodic axes", {32, 9, 24}, {around, none, around}, MAT_LAPLACE_ELIMINATED, false, false},
    {"3-D, odd periodic axes", {16, 15, 17}, {none, around, around}, MAT_LAPLACE_IDENTITY, false, false},
    {"3-D, periodic axes, masses", {18, 20, 24}, {around, around, around}, MAT_LAPLACE_ELIMINATED, true, false},
};

const char *const settings[] = {"",
                                " -test_pc_stencilmg_smooths 2",
                                " -test_pc_stencilmg_cycle_type w",
                                " -test_pc_stencilmg_cycle_type w -test_pc_stencilmg_smooths 2",
                                " -test_pc_stencilmg_type full",
                                " -test_pc_stencilmg_type full -test_pc_stencilmg_smooths 2",
                                " -test_pc_stencilmg_multiplicative_cycles 2",
                                " -test_pc_stencilmg_multiplicative_cycles 2 -test_pc_stencilmg_smooths 2",
                                " -test_pc_stencilmg_precision single",
                                " -test_pc_stencilmg_precision single -test_pc_stencilmg_smooths 2"};

Fill fill_of(const Case &of, const Lattice &l) {
  const Fill inner = medium_fill(l, Medium::smooth, of.form, 0.1);
  const Fill fill = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    const auto is_fixed = [&](PetscInt i, PetscInt j) { return (i - 20) * (i - 20) + (j - 30) * (j - 30) < 40; };
    inner(p, arm, block);
    if (of.has_fixed_points && is_fixed(p[0], p[1])) *block = arm[0] || arm[1] || arm[2] ? 0 : 3;
  };
  return of.has_masses ? scaled_fill(l, fill) : fill;
}

// The same matrix where the vectors are and, served by single steps, on the host.
struct Pair {
  Grid           here, on_host;
  Matrix         A, host_A;
  Preconditioner fused, steps;

  Pair(const Lattice &l, const Fill &fill, const std::string &options) {
    REQUIRE((try_make_grid(l, &here) && try_make_grid(l, &on_host)));
    OK(DMSetVecType(on_host, VECSTANDARD));
    A = captured(here, fill);
    host_A = captured(on_host, fill);
    fused = make_pc(A, "-test_pc_stencilmg_fused 1" + options);
    steps = make_pc(host_A, "-test_pc_stencilmg_fused 0" + options);
  }
  PetscReal difference_of_cycles() const {
    return difference(apply(fused, random_vector(here, 3)), apply(steps, random_vector(on_host, 3)));
  }
  // What one application leaves of a residual, by the matrix on the host.
  PetscReal reduction() const {
    Vector b = random_vector(here, 3), x = apply(fused, b), host_b = make_vector(on_host),
           host_x = make_vector(on_host);
    OK(VecCopy(b, host_b));
    OK(VecCopy(x, host_x));
    return relative_residual(host_A, host_b, host_x);
  }
};

} // namespace

TEST_CASE("passes with variable coefficients compute what single steps on the host do", "[multigrid]") {
  int number = 0;
  for (const Case &of : cases)
    for (const char *options : settings)
      for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX}) {
        const bool is_single = strstr(options, "single");
        number++;
        const int every = no_gpu(false) ? 8 : 4; // a part of them, of both shapes
        if ((number + number / every) % every || !in_turn(number / every)) continue;
        const Lattice l = lattice(of.N, of.ends, shape);
        Grid          da;
        INFO(of.what << ", " << describe(l) << options);
        if (!try_make_grid(l, &da)) continue;
        const Pair pair(l, fill_of(of, l), options);
        CHECK(pair.difference_of_cycles() <= (is_single ? 1e-4 : 1e5 * exact));
        CHECK(pair.reduction() <= 0.3);
      }
}

TEST_CASE("passes with variable coefficients follow shifts of the matrix", "[multigrid]") {
  for (Point N : {Point{300, 70, 1}, Point{20, 18, 33}})
    for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX}) {
      const Lattice l = lattice(N, {}, shape);
      Pair          pair(l, medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0), "");
      for (PetscReal shift : {0., 0.01, 0.02, -0.03}) {
        INFO(describe(l) << ", shifted by " << shift);
        for (Mat A : {(Mat)pair.A, (Mat)pair.host_A}) OK(MatShift(A, shift));
        OK(PCSetUp(pair.fused));
        OK(PCSetUp(pair.steps));
        // levels on several GPUs are new each time
        if (no_gpu(false) || rank_count() == 1) CHECK(pair.difference_of_cycles() <= 1e5 * exact);
        CHECK(pair.reduction() <= 0.3);
      }
    }
}

TEST_CASE("a GPU takes columns in 3-D with variable coefficients", "[multigrid]") {
  const Lattice l = lattice({30, 22, 17}, {}, DMDA_STENCIL_STAR);
  for (const bool has_masses : {false, true}) {
    const Fill fill = medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0);
    const Pair pair(l, has_masses ? scaled_fill(l, fill) : fill, "");
    PetscBool  is_cuda;
    Vector     b = make_vector(pair.here);
    OK(PetscObjectTypeCompare((PetscObject)(Vec)b, VECSEQCUDA, &is_cuda));
    if (!is_cuda) return;
    const std::string text = printed([&]() { OK(PCView(pair.fused, PETSC_VIEWER_STDOUT_WORLD)); });
    CHECK(text.find("column by column") != std::string::npos);
    CHECK(text.find("point by point") == std::string::npos);
  }
}

TEST_CASE("a GPU takes fused passes in 2-D where the matrix is symmetric", "[multigrid]") {
  for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX})
    for (const char *options : {"", " -test_pc_stencilmg_smooths 2", " -test_pc_stencilmg_smooths 4"}) {
      const Lattice l = lattice({300, 70, 1}, {}, shape);
      const Pair    pair(l, medium_fill(l, Medium::smooth, MAT_LAPLACE_ELIMINATED, 0), options);
      Vector        b = make_vector(pair.here);
      PetscBool     is_cuda;
      OK(PetscObjectTypeCompare((PetscObject)(Vec)b, VECSEQCUDA, &is_cuda));
      if (!is_cuda) return; // with several ranks the first level is distributed
      INFO(describe(l) << options);
      const std::string text = printed([&]() { OK(PCView(pair.fused, PETSC_VIEWER_STDOUT_WORLD)); });
      CHECK((text.find("point by point") == std::string::npos) == !strstr(options, "4"));
    }
}

TEST_CASE("fused passes in 2-D on a GPU serve levels whose places are of type PetscInt", "[multigrid]") {
  const auto has_indices = [](PetscInt size, PetscInt beyond) {
    const shellac::Box grown = {{-beyond, -beyond, 0}, {size + beyond, size + beyond, 1}};
    return shellac::has_indices_for_rows(grown);
  };
  CHECK(has_indices(4095, 2));
  CHECK(has_indices(46300, 2)); // 46340² < 2³¹ < 46341²
  CHECK(has_indices(46338, 2) == (sizeof(PetscInt) > 4));
}
