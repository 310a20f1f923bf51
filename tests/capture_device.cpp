// Captured matrices on a GPU beside AIJ on the host.

#include "captures.hpp"
#include "catch.hpp"
#include "coo.hpp"
#include "gpu.hpp"
#include "misuse.hpp"

#include <algorithm>

using namespace tests;

#if defined(PETSC_HAVE_CUDA)

TEST_CASE("every operation of a captured matrix on CUDA vectors equals AIJ's on the host", "[capture][device]") {
  if (no_gpu()) return;
  for_each_capture([](const Lattice &lattice, Form form, const std::string &text) {
    INFO(text);
    Twins t(lattice, VECCUDA);
    fill_and_assemble(t, random_fill(lattice, form, 1));
    CHECK(t.operator_problem() == "");
    CHECK(t.parts_problem() == "");
    t.both([](DM da, Mat M) {
      Vector l = random_vector(da, 5), r = random_vector(da, 6);
      OK(MatScale(M, -1.5));
      OK(MatShift(M, 0.5));
      OK(MatDiagonalScale(M, l, r));
      OK(MatDiagonalSet(M, l, ADD_VALUES));
    });
    CHECK(t.operator_problem() == "");
    for (bool columns : {false, true}) {
      CHECK(t.difference_of([&](DM, Mat M, Vec x, Vec, Vec y) {
        PetscInt first, last;
        OK(MatGetOwnershipRange(M, &first, &last));
        const PetscInt rows[] = {first, last - 1};
        OK((columns ? MatZeroRowsColumns : MatZeroRows)(M, first < last ? 2 : 0, rows, 2.5, x, y));
      }) <= 2 * exact);
      CHECK(t.operator_problem() == "");
    }
    Twins other(lattice, VECCUDA); // compressed, if t's is not
    fill_and_assemble(other, random_fill(lattice, Form::constant, 3));
    t.both([&](DM, Mat M) { OK(MatAXPY(M, 0.5, M == t.A ? other.A : other.aij, SAME_NONZERO_PATTERN)); });
    other.both([&](DM, Mat M) { OK(MatAXPY(M, 0.5, M == other.A ? t.A : t.aij, SAME_NONZERO_PATTERN)); });
    CHECK(t.operator_problem() == "");
    CHECK(other.operator_problem() == "");
    fill_and_assemble(t, random_fill(lattice, form, 2));
    CHECK(t.operator_problem() == "");

    VecType   type; // work vectors of solvers are where the grid's are
    PetscBool cuda;
    Vector    work;
    OK(MatCreateVecs(t.A, &work, NULL));
    OK(VecGetType(work, &type));
    OK(PetscStrendswith(type, "cuda", &cuda));
    CHECK(cuda);
  });
}

TEST_CASE("values of COO lists on the GPU and on the host are captured as AIJ holds them", "[capture][coo][device]") {
  if (no_gpu()) return;
  for_each_capture([](const Lattice &lattice, Form form, const std::string &text) {
    for (Listing listing : {Listing::rows, Listing::scattered}) {
      INFO(text << (listing == Listing::rows ? "" : ", scattered"));
      Twins t(lattice, VECCUDA);
      t.both([&](DM da, Mat M) { preallocate(M, list_entries(da, random_fill(lattice, form, 1), listing)); });
      const struct {
        InsertMode mode;
        bool       on_device;
      } calls[] = {{INSERT_VALUES, true}, {INSERT_VALUES, true},  {ADD_VALUES, true},
                   {ADD_VALUES, false},   {INSERT_VALUES, false}, {INSERT_VALUES, true}};
      int seed = 1;
      for (const auto &call : calls) {
        INFO("values " << seed << (call.on_device ? " on the GPU" : " on the host"));
        const Fill fill = random_fill(lattice, form, seed++);
        set_coo_values(t.A, list_entries(t.da, fill, listing), call.mode, call.on_device);
        OK(MatSetValuesCOO(t.aij, list_entries(t.aij_da, fill, listing).values.data(), call.mode));
        CHECK(t.product_difference() <= 2 * exact);
      }
      CHECK(t.operator_problem() == "");
      Twins host(lattice); // its vectors are on the host, the array is not
      host.both([&](DM da, Mat M) { preallocate(M, list_entries(da, random_fill(lattice, form, 1), listing)); });
      const Fill fill = random_fill(lattice, form, 7);
      set_coo_values(host.A, list_entries(host.da, fill, listing), INSERT_VALUES, true);
      OK(MatSetValuesCOO(host.aij, list_entries(host.aij_da, fill, listing).values.data(), INSERT_VALUES));
      CHECK(host.product_difference() <= 2 * exact);
    }
  });
}

// The bytes of indices in a vector on the GPU.
static Vector indices_on_device(const std::vector<PetscInt> &list) {
  std::vector<PetscScalar> bytes(list.size() * sizeof(PetscInt) / sizeof(PetscScalar) + 1);
  std::copy(list.begin(), list.end(), reinterpret_cast<PetscInt *>(bytes.data()));
  return device_copy(bytes);
}

TEST_CASE("COO lists may be on the GPU", "[capture][coo][device]") {
  if (no_gpu()) return;
  const Lattice l = plane(2);
  Twins         t(l, VECCUDA);
  Entries       list = list_entries(t.da, random_fill(l, Form::arrays, 1), Listing::scattered);
  const auto    preallocate_from_device = [&] {
    PetscScalar *arrays[2];
    Vector       rows = indices_on_device(list.rows), columns = indices_on_device(list.columns);
    PetscFunctionBeginUser;
    PetscCall(VecGetArrayAndMemType(rows, &arrays[0], NULL));
    PetscCall(VecGetArrayAndMemType(columns, &arrays[1], NULL));
    PetscCall(MatSetPreallocationCOO(t.A, list.count(), (PetscInt *)arrays[0], (PetscInt *)arrays[1]));
    PetscCall(VecRestoreArrayAndMemType(columns, &arrays[1]));
    PetscCall(VecRestoreArrayAndMemType(rows, &arrays[0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  OK(preallocate_from_device());
  preallocate(t.aij, list);
  set_coo_values(t.A, list, INSERT_VALUES, true);
  OK(MatSetValuesCOO(t.aij, list.values.data(), INSERT_VALUES));
  CHECK(t.product_difference() <= 2 * exact);
  const PetscInt far = l.N[0] * l.N[1] * l.dof - 1;
  if (on_last(true, false)) list.rows.back() = 0, list.columns.back() = far;
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, ({"row 0,", "column " + std::to_string(far), "fallback"}),
               preallocate_from_device);
  CHECK(t.product_difference() <= 2 * exact); // as before
}

TEST_CASE("coefficients are written slot by slot on the GPU", "[capture][slots][device]") {
  if (no_gpu()) return;
  Lattice l;
  l.N[0] = 37, l.N[1] = 23;
  Twins t(l, VECCUDA);
  for (bool constant : {false, true}) { // the second time over the arrays of the first
    OK(MatZeroEntries(t.A));
    for (const Point &arm : l.arms()) {
      Vec                v;
      const PetscScalar *array;
      PetscMemType       memory;
      PetscScalar       *values;
      OK(MatStencilShellGetSlot(t.A, arm.data(), 0, 0, &v));
      if (constant)
        OK(VecSet(v, (PetscScalar)(arm[0] + 2 * arm[1] + 5)));
      else {
        size_t n = 0;
        OK(VecGetArrayWrite(v, &values));
        for_each_owned(
            t.da, [&](const PetscInt p[3]) { values[n++] = random_value(l.natural(p), (int)(arm[0] + 2 * arm[1])); });
        OK(VecRestoreArrayWrite(v, &values));
        OK(VecScale(v, 2)); // by a kernel
      }
      OK(VecGetArrayReadAndMemType(v, &array, &memory));
      CHECK(PetscMemTypeDevice(memory));
      OK(VecRestoreArrayReadAndMemType(v, &array));
      OK(MatStencilShellRestoreSlot(t.A, arm.data(), 0, 0, &v));
    }
    assemble(t.A);
    set_rows(
        t.aij_da, t.aij,
        [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
          block[0] = constant ? PetscScalar(arm[0] + 2 * arm[1] + 5)
                              : 2. * random_value(l.natural(p), (int)(arm[0] + 2 * arm[1]));
        },
        Way::stencil, INSERT_VALUES);
    assemble(t.aij);
    CHECK(t.operator_problem() == "");
  }
}

// Blocks of threads that end within a row, and grids of more than one block along each axis.
TEST_CASE("products on large grids on CUDA vectors equal AIJ's on the host", "[capture][device]") {
  if (no_gpu()) return;
  const DMBoundaryType       none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC, mirror = DM_BOUNDARY_MIRROR;
  const DMDAStencilType      star = DMDA_STENCIL_STAR, box = DMDA_STENCIL_BOX;
  const std::vector<Lattice> large = {
      {1, {100003, 1, 1}, {none, none, none}, star, 1, 1}, {1, {30011, 1, 1}, {around, none, none}, star, 2, 3},
      {2, {601, 145, 1}, {none, none, none}, star, 1, 1},  {2, {601, 145, 1}, {around, mirror, none}, star, 1, 1},
      {2, {257, 131, 1}, {none, around, none}, box, 1, 2}, {2, {257, 131, 1}, {none, none, none}, star, 2, 1},
      {3, {131, 35, 19}, {none, none, none}, star, 1, 1},  {3, {131, 35, 19}, {around, none, around}, box, 1, 1},
      {3, {131, 35, 19}, {none, none, none}, box, 1, 1},   {3, {130, 35, 19}, {none, none, none}, box, 1, 1},
      {3, {67, 35, 19}, {none, mirror, none}, star, 1, 4},
  };
  for (const Lattice &lattice : part_of(large))
    for (Form form : forms_of_storage) {
      INFO(describe(lattice) << "; " << name_of(form));
      Options set(std::string("-mat_stencil_compress ") + name_of(form));
      Grid    possible;
      if (!try_make_grid(lattice, &possible)) continue;
      Twins t(lattice, VECCUDA);
      fill_and_assemble(t, random_fill(lattice, form, 1));
      CHECK(t.operator_problem() == "");
    }
}

TEST_CASE("constant boxes with other diagonals at faces, edges and corners multiply on CUDA vectors as AIJ",
          "[capture][device]") {
  if (no_gpu()) return;
  const DMBoundaryType       none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;
  const std::vector<Lattice> large = {{3, {131, 35, 19}, {none, none, none}, DMDA_STENCIL_BOX, 1, 1},
                                      {3, {130, 20, 35}, {none, none, none}, DMDA_STENCIL_BOX, 1, 1},
                                      {3, {66, 35, 19}, {none, around, none}, DMDA_STENCIL_BOX, 1, 1},
                                      {3, {66, 20, 19}, {around, none, none}, DMDA_STENCIL_BOX, 1, 1},
                                      {3, {4, 3, 3}, {none, none, none}, DMDA_STENCIL_BOX, 1, 1}};
  for (const Lattice &lattice : large)
    for (bool equal_sides : {false, true}) {
      INFO(describe(lattice) << (equal_sides ? "; equal sides" : ""));
      Options set("-mat_stencil_compress constant");
      Grid    possible;
      if (!try_make_grid(lattice, &possible)) continue;
      Twins      t(lattice, VECCUDA);
      const Fill uniform = uniform_fill(lattice, 1);
      fill_and_assemble(t, [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
        const bool is_diagonal = !arm[0] && !arm[1] && !arm[2];
        uniform(p, arm, block);
        if (equal_sides) block[0] = is_diagonal ? 40 : -1 - PetscReal(arm[1]) / 4;
        for (int a = 0; a < 3 && is_diagonal; a++) // not sums of what each end adds
          if (lattice.ends[a] == none && (p[a] == 0 || p[a] == lattice.N[a] - 1))
            block[0] = 1.5 * block[0] + 1 + a + (p[a] ? 0 : 0.25);
      });
      CHECK(t.operator_problem() == "");
    }
}

TEST_CASE("sweeps on CUDA vectors converge and leave the solution as it is", "[capture][device]") {
  if (no_gpu()) return;
  for (const Lattice &lattice : lattices())
    for (Form form : forms_of_storage) {
      bool folded = false; // arms that lead to one point: their sum may outweigh the diagonal
      for (int a = 0; a < lattice.dim; a++)
        folded = folded || lattice.ends[a] == DM_BOUNDARY_MIRROR ||
                 (lattice.ends[a] == DM_BOUNDARY_PERIODIC && lattice.N[a] == 1);
      if (folded) continue;
      for (int type : {SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP}) {
        INFO(describe(lattice) << "; " << name_of(form) << "; sweep " << type);
        Twins t(lattice, VECCUDA);
        fill_and_assemble(t, random_fill(lattice, form, 1));
        Vector u = random_vector(t.da, 1), b = make_vector(t.da), x = random_vector(t.da, 2);
        OK(MatMult(t.A, u, b));
        Vector same = copy_of(u);
        OK(MatSOR(t.A, b, 1, (MatSORType)type, 0, 1, 1, same));
        CHECK(difference(same, u) <= 10 * exact);
        OK(MatSOR(t.A, b, 1, (MatSORType)type, 0, 60, 1, x));
        CHECK(difference(x, u) <= 1e-6);
        OK(MatSOR(t.A, b, PetscReal(0.9), (MatSORType)(type | SOR_ZERO_INITIAL_GUESS), 0, 60, 1, x));
        CHECK(difference(x, u) <= 1e-6);
      }
    }
}

// Copies of vectors between the host and the GPU, in the event `name` so far.
static PetscReal copies_in(const char *name) {
  PetscLogEvent      event;
  PetscEventPerfInfo info;
  OK(PetscLogEventGetId(name, &event));
  OK(PetscLogEventGetPerfInfo(0, event, &info));
  return (PetscReal)(info.CpuToGpuCount + info.GpuToCpuCount);
}

static void check_no_copies(KSP ksp, Vec b, Vec x) {
  OK(KSPSolve(ksp, b, x));
  const PetscReal before = copies_in("KSPSolve");
  OK(VecSet(x, 0));
  OK(KSPSolve(ksp, b, x));
  CHECK(copies_in("KSPSolve") == before);
}

TEST_CASE("solves with a captured matrix on CUDA vectors copy none of them", "[capture][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return; // ranks that share a GPU exchange halos through the host
  OK(PetscLogDefaultBegin());
  Lattice l;
  l.N[0] = 61, l.N[1] = 40;
  for (Form form : forms_of_storage)
    for (PCType type : {PCJACOBI, PCSOR}) {
      INFO(name_of(form) << "; " << type);
      Twins t(l, VECCUDA);
      fill_and_assemble(t, diffusion_fill(l, form));
      Vector b = make_vector(t.da), x = make_vector(t.da);
      Solver ksp;
      PC     pc;
      OK(VecSet(b, 1));
      OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
      OK(KSPSetType(ksp, KSPCG));
      OK(KSPGetPC(ksp, &pc));
      OK(PCSetType(pc, type));
      OK(KSPSetOperators(ksp, t.A, t.A));
      check_no_copies(ksp, b, x);
    }
}

#endif

#if defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 23, 0)
// PCPBJACOBI asks for the blocks' inverses once a set-up, and applies them on the GPU.
TEST_CASE("point-block Jacobi on CUDA vectors copies no vector", "[capture][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return; // ranks that share a GPU exchange halos through the host
  OK(PetscLogDefaultBegin());
  for (PetscInt dof : {1, 3, 4}) {
    Lattice lattice;
    lattice.N[0] = 23, lattice.N[1] = 17;
    lattice.dof = dof;
    Twins t(lattice, VECCUDA);
    fill_and_assemble(t, random_fill(lattice, Form::arrays, 1));
    const auto solve = [](DM, Mat M, Vec, Vec b, Vec x) {
      Solver ksp;
      PC     pc;
      OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
      OK(KSPSetType(ksp, KSPGMRES));
      OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
      OK(KSPGetPC(ksp, &pc));
      OK(PCSetType(pc, PCPBJACOBI));
      OK(KSPSetOperators(ksp, M, M));
      OK(KSPSolve(ksp, b, x));
      MatType type;
      OK(MatGetType(M, &type));
      if (std::string(type) != MATSTENCILSHELL) return;
      Vector other = copy_of(x); // GMRES copies its scalars to the GPU, Richardson's method has none
      OK(KSPSetType(ksp, KSPRICHARDSON));
      OK(KSPSetNormType(ksp, KSP_NORM_NONE));
      OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 10));
      check_no_copies(ksp, b, other);
    };
    CHECK(t.difference_of(solve) <= 1e-8);
  }
}
#endif
