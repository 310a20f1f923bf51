// Jacobians by differences, coloured by the DMDA: captured as AIJ holds them.

#include "captures.hpp"
#include "catch.hpp"
#include "gpu.hpp"

#include <petscsnes.h>

using namespace tests;

static Lattice lattice(int dim, const std::vector<PetscInt> &N, DMDAStencilType shape = DMDA_STENCIL_STAR,
                       PetscInt dof = 1, const std::vector<DMBoundaryType> &ends = {}, PetscInt width = 1) {
  Lattice l;
  l.dim = dim;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N[(size_t)a] : 1;
  for (size_t a = 0; a < ends.size(); a++) l.ends[a] = ends[a];
  l.shape = shape, l.dof = dof, l.width = width;
  return l;
}

static std::vector<Lattice> coloured_lattices() {
  const DMBoundaryType  none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC, mirror = DM_BOUNDARY_MIRROR;
  const DMDAStencilType star = DMDA_STENCIL_STAR, box = DMDA_STENCIL_BOX;
  return {lattice(1, {20}),
          lattice(2, {9, 8}),
          lattice(2, {9, 8}, box),
          lattice(2, {8, 7}, star, 3),
          lattice(2, {9, 7}, box, 3, {around, none}),
          lattice(2, {8, 9}, star, 1, {mirror, none}),
          lattice(2, {10, 9}, box, 2, {around, none}, 2),
          lattice(3, {6, 5, 6}),
          lattice(3, {6, 5, 6}, star, 2, {none, mirror, around}),
          lattice(3, {6, 5, 6}, box, 3)};
}

// Each component reacts with the next one and is coupled to the neighbours of the stencil. Takes a local vector.
static PetscErrorCode local_residual(void *context, Vec local, Vec f, void *) {
  const DM           da = *(DM *)context;
  const PetscScalar *u;
  PetscScalar       *r;
  PetscInt           start[3], size[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetGhostCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  PetscCall(VecGetArrayRead(local, &u));
  PetscCall(VecGetArrayWrite(f, &r));
  const Lattice l = lattice_of(da);
  const auto    arms = l.arms();
  PetscInt      row = 0;
  for_each_owned(da, [&](const PetscInt p[3]) {
    const auto at = [&](const PetscInt q[3], PetscInt c) {
      return u[(((q[2] - start[2]) * size[1] + q[1] - start[1]) * size[0] + q[0] - start[0]) * l.dof + c];
    };
    for (PetscInt c = 0; c < l.dof; c++, row++) {
      r[row] = 0;
      for (const Point &arm : arms) {
        const PetscInt q[3] = {p[0] + arm[0], p[1] + arm[1], p[2] + arm[2]};
        bool           inside = true;
        for (int a = 0; a < l.dim; a++)
          inside = inside && (l.ends[a] == DM_BOUNDARY_PERIODIC || (q[a] >= 0 && q[a] < l.N[a]));
        if (inside) r[row] += (PetscReal)(1 + arm[0] + 2 * arm[1] + 3 * arm[2]) * at(q, (c + 1) % l.dof) * at(p, c);
      }
      r[row] += (PetscReal)(4 * arms.size()) * at(p, c) + at(p, c) * at(p, c) * at(p, c) - (PetscReal)(1 + c);
    }
  });
  PetscCall(VecRestoreArrayWrite(f, &r));
  PetscCall(VecRestoreArrayRead(local, &u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode global_residual(void *context, Vec x, Vec f, void *) {
  const DM da = *(DM *)context;
  Vec      local;

  PetscFunctionBeginUser;
  PetscCall(DMGetLocalVector(da, &local));
  PetscCall(DMGlobalToLocal(da, x, INSERT_VALUES, local));
  PetscCall(local_residual(context, local, f, NULL));
  PetscCall(DMRestoreLocalVector(da, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode residual(SNES snes, Vec x, Vec f, void *) {
  DM da;

  PetscFunctionBeginUser;
  PetscCall(SNESGetDM(snes, &da));
  PetscCall(global_residual(&da, x, f, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A colouring of M's columns with a function of global vectors or, where PETSc colours local vectors, of those: on several
// ranks.
static void make_coloring(DM da, Mat M, ISColoringType type, MatFDColoring *fd) {
  ISColoring coloring;
  OK(DMCreateColoring(da, type, &coloring));
  OK(ISColoringGetType(coloring, &type));
  OK(MatFDColoringCreate(M, coloring, fd));
  OK(set_function(MatFDColoringSetFunction, *fd, type == IS_COLORING_LOCAL ? local_residual : global_residual, NULL));
  OK(PetscObjectSetOptionsPrefix((PetscObject)*fd, "test_"));
  OK(MatFDColoringSetFromOptions(*fd));
  if (type == IS_COLORING_LOCAL) OK(MatFDColoringUseDM(M, *fd));
  OK(MatFDColoringSetUp(M, coloring, *fd));
  OK(ISColoringDestroy(&coloring));
}

static bool has_both_ends_of_a_period(DM da) {
  const Lattice l = lattice_of(da);
  bool          has = false;
  for (int a = 0; a < 3; a++) has = has || (l.ranks[a] == 1 && l.ends[a] == DM_BOUNDARY_PERIODIC);
  return has;
}

// With steps for all columns and for each, by functions of global and of local vectors (with which PETSc's AIJ crashes where
// each column has a step); the second time over the first.
static void compare_with_aij(VecType vec_type) {
  for (const Lattice &l : coloured_lattices())
    for (ISColoringType type : {IS_COLORING_GLOBAL, IS_COLORING_LOCAL})
      for (const char *step : {"wp", "ds"}) {
        INFO(describe(l) << (type == IS_COLORING_LOCAL ? ", local, " : ", ") << step);
        Options set(std::string("-test_mat_fd_type ") + step);
        Twins   t(l, vec_type);
        if (type == IS_COLORING_LOCAL && has_both_ends_of_a_period(t.da)) continue; // which PETSc refuses
        MatFDColoring fd[2];
        int           n = 0;
        t.both([&](DM da, Mat M) { make_coloring(da, M, M == t.A ? type : IS_COLORING_GLOBAL, &fd[n++]); });
        for (int seed : {3, 4}) {
          n = 0;
          t.both([&](DM da, Mat M) {
            Vector x = random_vector(da, seed);
            OK(MatFDColoringApply(M, fd[n++], x, &da));
          });
          CHECK(difference(t.A, t.aij) <= 1e-6);
        }
        for (MatFDColoring &each : fd) OK(MatFDColoringDestroy(&each));
      }
}

TEST_CASE("columns of each colour are set as in AIJ", "[capture][coloring]") {
  compare_with_aij(VECSTANDARD);
}

TEST_CASE("-mat_stencil_verify finds the same differences", "[capture][coloring][verify]") {
  Options           set("-mat_stencil_verify");
  const std::string text = printed([] { compare_with_aij(VECSTANDARD); });
  CHECK(text.find("-mat_stencil_verify: relative differences") != std::string::npos);
}

// As -snes_fd_color_use_mat asks for it.
TEST_CASE("a colouring that PETSc makes from the matrix fills it as AIJ", "[capture][coloring]") {
  for (const Lattice &l : coloured_lattices()) {
    INFO(describe(l));
    Twins t(l, VECSTANDARD);
    t.both([&](DM da, Mat M) {
      Vector        x = random_vector(da, 3);
      MatColoring   maker;
      ISColoring    coloring;
      MatFDColoring fd;
      OK(MatColoringCreate(M, &maker));
      OK(MatColoringSetType(maker, MATCOLORINGSL));
      OK(MatColoringApply(maker, &coloring));
      OK(MatFDColoringCreate(M, coloring, &fd));
      OK(set_function(MatFDColoringSetFunction, fd, global_residual, NULL));
      OK(MatFDColoringSetUp(M, coloring, fd));
      OK(MatFDColoringApply(M, fd, x, &da));
      OK(MatFDColoringDestroy(&fd));
      OK(ISColoringDestroy(&coloring));
      OK(MatColoringDestroy(&maker));
    });
    CHECK(difference(t.A, t.aij) <= 1e-6);
  }
}

#if defined(PETSC_HAVE_CUDA)
TEST_CASE("columns of each colour are set on CUDA vectors as in AIJ on the host", "[capture][coloring][device]") {
  if (!no_gpu()) compare_with_aij(VECCUDA);
}
#endif

TEST_CASE("coloured difference quotients fill a captured matrix as they fill AIJ", "[capture]") {
  for (const Lattice &l : coloured_lattices()) {
    INFO(describe(l));
    Twins    t(l);
    Vector   solution[2];
    PetscInt iterations[2];
    int      n = 0;
    t.both([&](DM da, Mat M) {
      SNES                snes;
      SNESConvergedReason reason;
      Vector              x = random_vector(da, 3), f = make_vector(da);
      OK(SNESCreate(PETSC_COMM_WORLD, &snes));
      OK(SNESSetOptionsPrefix(snes, "test_"));
      OK(SNESSetDM(snes, da));
      OK(SNESSetFunction(snes, f, residual, NULL));
      OK(SNESSetJacobian(snes, M, M, SNESComputeJacobianDefaultColor, NULL));
      OK(SNESSetSolution(snes, x));
      OK(SNESSetUp(snes));
      OK(SNESComputeFunction(snes, x, f));
      for (int again = 0; again < 2; again++) OK(SNESComputeJacobian(snes, x, M, M));
      solution[n] = make_vector(da);
      if (n) CHECK(difference(t.A, t.aij) <= 1e-6);
      Matrix copy;
      OK(MatDuplicate(M, MAT_COPY_VALUES, &copy));
      OK(SNESDestroy(&snes));

      // and to the end of a Newton method
      Options set("-test_snes_rtol 1e-10 -test_ksp_rtol 1e-10 -test_pc_type jacobi");
      OK(SNESCreate(PETSC_COMM_WORLD, &snes));
      OK(SNESSetOptionsPrefix(snes, "test_"));
      OK(SNESSetDM(snes, da));
      OK(SNESSetFunction(snes, NULL, residual, NULL));
      OK(SNESSetJacobian(snes, copy, copy, SNESComputeJacobianDefaultColor, NULL));
      OK(SNESSetFromOptions(snes));
      OK(VecSet(solution[n], 0));
      OK(SNESSolve(snes, NULL, solution[n]));
      OK(SNESGetConvergedReason(snes, &reason));
      CHECK(reason > 0);
      OK(SNESGetIterationNumber(snes, &iterations[n]));
      OK(SNESDestroy(&snes));
      n++;
    });
    CHECK(iterations[1] == iterations[0]);
    CHECK(difference(solution[1], solution[0]) <= 1e-7);
  }
}

// DMDASNESSetFunctionLocal() without a Jacobian: PETSc takes colours, and counts on a reference to the DMDA that these keep.
TEST_CASE("coloured Jacobians of a DMDA leave its references as AIJ's do", "[capture][coloring]") {
  const auto function = [](DMDALocalInfo *info, void *values, void *result, void *) -> PetscErrorCode {
    const PetscScalar *u = static_cast<const PetscScalar *>(values);
    PetscScalar       *f = static_cast<PetscScalar *>(result);
    const PetscReal    h = 1 / (PetscReal)(info->mx - 1);
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++)
      f[i] = i == 0 || i == info->mx - 1 ? u[i] : (PetscReal(2) * u[i] - u[i - 1] - u[i + 1]) / h - h;
    return PETSC_SUCCESS;
  };
  for (PetscInt finer_grids : {0, 2})
    for (bool vector_of_dm : {false, true}) {
      PetscInt    left[2];
      PetscScalar sums[2];
      for (int n = 0; n < 2; n++) {
        DM   da;
        SNES snes;
        Vec  u, solution;
        OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 9, 1, 1, NULL, &da));
        OK(DMSetMatType(da, n ? captured_type : MATAIJ));
        OK(DMSetUp(da));
        OK(SNESCreate(PETSC_COMM_WORLD, &snes));
        OK(SNESSetDM(snes, da));
        OK(DMDASNESSetFunctionLocal(da, INSERT_VALUES,
                                    (PetscErrorCode(*)(DMDALocalInfo *, void *, void *, void *))function, NULL));
        OK(SNESSetGridSequence(snes, finer_grids));
        if (vector_of_dm)
          OK(DMGetGlobalVector(da, &u));
        else
          OK(DMCreateGlobalVector(da, &u));
        OK(VecSet(u, 0));
        OK(SNESSolve(snes, NULL, u));
        if (!finer_grids) OK(SNESSolve(snes, NULL, u));
        OK(SNESGetSolution(snes, &solution));
        OK(VecSum(solution, &sums[n]));
        if (vector_of_dm)
          OK(DMRestoreGlobalVector(da, &u));
        else
          OK(VecDestroy(&u));
        OK(SNESDestroy(&snes));
        OK(PetscObjectGetReference((PetscObject)da, &left[n]));
        OK(DMDestroy(&da));
      }
      CHECK(left[1] == left[0]);
      CHECK(PetscAbsScalar(sums[1] - sums[0]) <= 1e-6 * PetscAbsScalar(sums[0]));
    }
}

TEST_CASE("a colouring of a narrower stencil is an error on all ranks", "[capture][coloring][errors]") {
  for (int dim = 1; dim <= 2; dim++) // in 3-D the colours of a star are those of a box
    for (PetscInt dof : {1, 2}) {
      const std::vector<PetscInt> N = {18, 9};
      Lattice                     narrow = lattice(dim, N, DMDA_STENCIL_STAR, dof);
      Lattice                     wide = lattice(dim, N, dim == 1 ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX, dof);
      if (dim == 1) wide.width = 2;
      Grid          from, da;
      Matrix        A;
      ISColoring    colours;
      MatFDColoring fd;
      if (!try_make_grid(narrow, &from) || !try_make_grid(wide, &da)) continue;
      OK(DMSetMatType(da, captured_type));
      OK(DMCreateMatrix(da, &A));
      OK(DMCreateColoring(from, IS_COLORING_GLOBAL, &colours));
      OK(MatFDColoringCreate(A, colours, &fd));
      EXPECT_ERROR(PETSC_ERR_ARG_INCOMP, ({"colour", "DMCreateColoring()"}),
                   [&] { return MatFDColoringSetUp(A, colours, fd); });
      OK(MatFDColoringDestroy(&fd));
      OK(ISColoringDestroy(&colours));
    }
}
