// Solvers on captured matrices, beside the same on AIJ: as many iterations, the same solutions.

#include "captures.hpp"
#include "catch.hpp"
#include "solve.hpp"

#include <petscsnes.h>

using namespace tests;

static PetscErrorCode be_silent(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType,
                                const char *, void *) {
  return code;
}

// False where PETSc cannot do it with AIJ: not in this version, or not on so many ranks.
static bool works(const std::function<void()> &work) {
  bool done = true;
  OK(PetscPushErrorHandler(be_silent, NULL));
  try {
    work();
  } catch (const std::exception &) {
    done = false;
  }
  OK(PetscPopErrorHandler());
  return everywhere(done);
}

static Lattice lattice(int dim, const std::vector<PetscInt> &N, DMDAStencilType shape = DMDA_STENCIL_STAR,
                       PetscInt width = 1, PetscInt dof = 1, const std::vector<DMBoundaryType> &ends = {}) {
  Lattice l;
  l.dim = dim;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? N[(size_t)a] : 1;
  for (size_t a = 0; a < ends.size(); a++) l.ends[a] = ends[a];
  l.shape = shape, l.width = width, l.dof = dof;
  return l;
}

// ---- preconditioners

// Matrices are solved with twice, before and after a change, with the same KSP.
static PetscInt solve_twice(Mat A, Vec b, Vec x, const std::function<void()> &change) {
  PetscInt           first, second;
  KSPConvergedReason reason;
  Solver             ksp = make_solver(A);
  OK(VecSet(x, 0));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetIterationNumber(ksp, &first));
  change();
  OK(VecSet(x, 0));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetIterationNumber(ksp, &second));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  return 1000 * first + second;
}

static void check_solvers(const Lattice &l, Form form, bool symmetric, const std::vector<std::string> &methods) {
  int        number = (int)form;
  const auto fill = [&](int seed) { return symmetric ? diffusion_fill(l, form) : random_fill(l, form, seed); };
  for (const std::string &method : methods) {
    if (!in_turn(number++)) continue;
    INFO(describe(l) << "; " << name_of(form) << "; " << method);
    Options  set(method + " -test_ksp_rtol 1e-11 -test_ksp_max_it 500");
    Twins    t(l);
    Vector   x[2];
    PetscInt iterations[2] = {0, 0};
    fill_and_assemble(t, fill(1));
    const auto solve = [&](int n) {
      const DM da = n ? t.da : t.aij_da;
      Mat      M = n ? t.A : t.aij;
      Vector   b = random_vector(da, 1);
      x[n] = make_vector(da);
      iterations[n] = solve_twice(M, b, x[n], [&] {
        set_rows(da, M, fill(2), Way::stencil, ADD_VALUES);
        assemble(M);
      });
    };
    if (!works([&] { solve(0); })) continue;
    solve(1);
    CHECK(difference(x[1], x[0]) <= 1e-8);
    // on CUDA vectors sweeps are in another order
    if (!makes_cuda_vectors(t.da) || method.find("sor") == std::string::npos) CHECK(iterations[1] == iterations[0]);
  }
}

static const std::vector<std::string> general_methods = {
    "-test_ksp_type gmres -test_pc_type none",
    "-test_ksp_type gmres -test_pc_type jacobi",
    "-test_ksp_type gmres -test_pc_type jacobi -test_pc_jacobi_type rowmax",
    "-test_ksp_type gmres -test_pc_type pbjacobi",
    "-test_ksp_type gmres -test_pc_type sor",
    "-test_ksp_type gmres -test_pc_type bjacobi",
    "-test_ksp_type gmres -test_pc_type bjacobi -test_sub_pc_type lu",
    "-test_ksp_type gmres -test_pc_type asm",
    "-test_ksp_type gmres -test_pc_type asm -test_pc_asm_overlap 2 -test_sub_pc_type lu",
    "-test_ksp_type gmres -test_pc_type redundant",
    "-test_ksp_type gmres -test_pc_type telescope -test_telescope_ksp_type gmres -test_telescope_pc_type jacobi",
    "-test_ksp_type gmres -test_pc_type ilu",
    "-test_ksp_type gmres -test_pc_type ilu -test_pc_factor_levels 1",
    "-test_ksp_type preonly -test_pc_type lu",
    "-test_ksp_type preonly -test_pc_type lu -test_pc_factor_mat_solver_type mumps",
    "-test_ksp_type bicg -test_pc_type jacobi",
};
static const std::vector<std::string> symmetric_methods = {
    "-test_ksp_type cg -test_pc_type jacobi",
    "-test_ksp_type cg -test_pc_type icc",
    "-test_ksp_type cg -test_pc_type bjacobi -test_sub_pc_type icc",
    "-test_ksp_type cg -test_pc_type sor -test_pc_sor_local_symmetric",
    "-test_ksp_type preonly -test_pc_type cholesky",
};

TEST_CASE("preconditioners of a captured matrix take as many iterations as AIJ's", "[capture]") {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC;
  for (const Lattice &l :
       {lattice(1, {40}), lattice(2, {14, 13}), lattice(2, {12, 11}, DMDA_STENCIL_BOX, 1, 2),
        lattice(2, {13, 12}, DMDA_STENCIL_STAR, 2, 1, {none, around}), lattice(3, {7, 8, 9}, DMDA_STENCIL_STAR, 1, 1),
        lattice(3, {6, 7, 6}, DMDA_STENCIL_BOX, 1, 1)})
    for (Form form : forms_of_storage) {
      check_solvers(l, form, false, general_methods);
      check_solvers(l, form, true, symmetric_methods);
    }
}

// On one rank PETSc cuts rows into strips, unless a matrix has a diagonal block of its own.
TEST_CASE("Schwarz methods on one rank have AIJ's subdomains", "[capture]") {
  if (rank_count() > 1) return;
  std::vector<std::string> methods;
  for (const char *blocks : {"1", "3", "4"})
    for (const char *overlap : {"0", "2"}) {
      const std::string ksp = "-test_ksp_type gmres ";
      methods.push_back(ksp + "-test_pc_type asm -test_pc_asm_blocks " + blocks + " -test_pc_asm_overlap " + overlap);
      methods.push_back(ksp + "-test_pc_type gasm -test_pc_gasm_total_subdomains " + blocks +
                        " -test_pc_gasm_overlap " + overlap);
      methods.push_back(ksp + "-test_pc_type bjacobi -test_pc_bjacobi_blocks " + blocks);
    }
  for (const Lattice &l : {lattice(1, {41}), lattice(2, {14, 13}), lattice(2, {9, 11}, DMDA_STENCIL_BOX, 1, 2),
                           lattice(3, {5, 6, 7}, DMDA_STENCIL_STAR, 1, 1)})
    check_solvers(l, Form::arrays, false, methods);
}

TEST_CASE("Schwarz methods on one rank take as many iterations with a formula as with AIJ", "[capture]") {
  if (rank_count() > 1) return;
  const Problem p = problem(2, 14, 13);
  Grid          da = make_grid(p);
  Matrix        A = make_operator(p, da), aij = make_reference(p, da);
  Vector        b = random_vector(da, 1);
  for (const char *method :
       {"-test_pc_type asm -test_pc_asm_blocks 4", "-test_pc_type gasm -test_pc_gasm_total_subdomains 4",
        "-test_pc_type bjacobi -test_pc_bjacobi_blocks 4"}) {
    INFO(method);
    Options  set(std::string(method) + " -test_ksp_rtol 1e-10");
    PetscInt iterations[2];
    for (int n = 0; n < 2; n++) {
      const Mat M = n ? (Mat)A : (Mat)aij;
      Vector    x = make_vector(da);
      Solver    ksp = make_solver(M);
      OK(KSPSolve(ksp, b, x));
      OK(KSPGetIterationNumber(ksp, &iterations[n]));
      CHECK(relative_residual(aij, b, x) <= 1e-6);
    }
    CHECK(iterations[1] == iterations[0]);
  }
}

// Which PC a Schwarz method or block Jacobi has for its first block of this rank.
static std::string type_for_blocks(KSP ksp) {
  PC       pc, of_block;
  PetscInt n = 0;
  KSP     *blocks = NULL;
  PCType   name, type;
  OK(KSPGetPC(ksp, &pc));
  OK(PCGetType(pc, &name));
  const auto get = std::string(name) == PCASM    ? PCASMGetSubKSP
                   : std::string(name) == PCGASM ? PCGASMGetSubKSP
                                                 : PCBJacobiGetSubKSP;
  OK((*get)(pc, &n, NULL, &blocks));
  OK(KSPGetPC(blocks[0], &of_block));
  OK(PCGetType(of_block, &type));
  return type;
}

// PETSc's ICC, which it takes for the blocks of a matrix that is known to be symmetric, may search for its shift for ever
// when rows have been changed.
TEST_CASE("blocks of a formula's matrix get a method that serves when rows are zeroed", "[capture]") {
  const Problem  p = problem(2, 14, 13);
  const PetscInt rows[] = {30, 70, 71, 120};
  PetscMPIInt    rank;
  OK(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  // with more subdomains than ranks PETSc's PCGASM is singular for an AIJ, too, unless there is one rank
  const std::string subdomains = rank_count() > 1 ? "" : " -test_pc_gasm_total_subdomains 4";
  // Debian's SCOTCH, by which PETSc with 64-bit integers divides a rank's rows, has others
  const std::string blocks = PetscDefined(USE_64BIT_INDICES) ? "" : " -test_pc_asm_blocks 4";
  for (const std::string &method : {"-test_pc_type asm" + blocks, "-test_pc_type gasm" + subdomains,
                                    std::string("-test_pc_type bjacobi -test_pc_bjacobi_blocks 4"),
                                    std::string("-test_pc_type assembled -test_assembled_pc_type asm"),
                                    std::string("-test_pc_type assembled -test_assembled_pc_type bjacobi")}) {
    INFO(method);
    Options set(method + " -test_ksp_type gmres -test_ksp_rtol 1e-10");
    Grid    da = make_grid(p);
    Matrix  A = make_operator(p, da), aij = make_reference(p, da);
    Vector  b = random_vector(da, 1), x = make_vector(da);
    Solver  ksp = make_solver(A);
    for (int changes = 0; changes < 2; changes++) {
      OK(KSPSetUp(ksp));
      if (method.find("assembled") == std::string::npos) REQUIRE(type_for_blocks(ksp) == PCILU);
      OK(KSPSolve(ksp, b, x));
      CHECK(relative_residual(aij, b, x) <= 1e-6);
      const PetscInt n = rank ? 0 : 4;
      OK(MatZeroRows(A, n, rows, 1, NULL, NULL));
      OK(MatZeroRows(aij, n, rows, 1, NULL, NULL));
    }
  }
}

TEST_CASE("fields of a captured matrix are split as AIJ's", "[capture]") {
  for (PetscInt dof : {2, 3})
    for (Form form : forms_of_storage) {
      std::vector<std::string> methods;
      for (const char *type : {"additive", "multiplicative", "symmetric_multiplicative"})
        methods.push_back(std::string("-test_ksp_type gmres -test_pc_type fieldsplit -test_pc_fieldsplit_type ") +
                          type);
      if (dof == 2)
        methods.push_back("-test_ksp_type gmres -test_pc_type fieldsplit -test_pc_fieldsplit_type schur"
                          " -test_fieldsplit_1_pc_type none");
      else
        methods.push_back("-test_ksp_type gmres -test_pc_type fieldsplit -test_pc_fieldsplit_0_fields 0,2"
                          " -test_pc_fieldsplit_1_fields 1");
      check_solvers(lattice(2, {11, 9}, DMDA_STENCIL_STAR, 1, dof), form, false, methods);
    }
}

// ---- relaxation

static const struct Sweep {
  const char *name;
  int         type;
  PetscReal   omega, shift;
  PetscInt    its, lits;
} sweeps[] = {
    {"forward", SOR_FORWARD_SWEEP, 1, 0, 1, 1},
    {"backward", SOR_BACKWARD_SWEEP, 1, 0, 1, 1},
    {"symmetric", SOR_SYMMETRIC_SWEEP, 1, 0, 1, 1},
    {"symmetric, overrelaxed", SOR_SYMMETRIC_SWEEP, 1.3, 0, 2, 1},
    {"local forward", SOR_LOCAL_FORWARD_SWEEP, 1, 0, 1, 1},
    {"local backward", SOR_LOCAL_BACKWARD_SWEEP, 1, 0, 1, 1},
    {"local symmetric", SOR_LOCAL_SYMMETRIC_SWEEP, 1, 0, 1, 1},
    {"local forward from zero", SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS, 1, 0, 1, 1},
    {"local backward from zero", SOR_LOCAL_BACKWARD_SWEEP | SOR_ZERO_INITIAL_GUESS, 1, 0, 1, 1},
    {"local symmetric from zero, three times", SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, 1, 0, 3, 1},
    {"local symmetric from zero, two local sweeps", SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, 1, 0, 2, 2},
    {"local forward, underrelaxed, two by two", SOR_LOCAL_FORWARD_SWEEP, 0.7, 0, 2, 2},
    {"local backward from zero, overrelaxed", SOR_LOCAL_BACKWARD_SWEEP | SOR_ZERO_INITIAL_GUESS, 1.4, 0, 1, 2},
    {"local symmetric, overrelaxed, three local sweeps", SOR_LOCAL_SYMMETRIC_SWEEP, 1.2, 0, 1, 3},
    {"local symmetric, shifted", SOR_LOCAL_SYMMETRIC_SWEEP, 1, 4, 1, 1},
    {"local forward from zero, shifted", SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS, 1, 4, 2, 1},
};

// AIJ takes neighbouring rows of the same columns as one block: no rank is so narrow that other rows have them than
// those of one point.
static std::vector<Lattice> wide_lattices() {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC, mirror = DM_BOUNDARY_MIRROR;
  std::vector<Lattice> all = {
      lattice(1, {24}),
      lattice(1, {25}, DMDA_STENCIL_STAR, 2, 2, {around}),
      lattice(2, {13, 11}),
      lattice(2, {12, 13}, DMDA_STENCIL_BOX),
      lattice(2, {13, 11}, DMDA_STENCIL_STAR, 1, 2),
      lattice(2, {11, 12}, DMDA_STENCIL_BOX, 1, 3),
      lattice(2, {12, 12}, DMDA_STENCIL_STAR, 1, 5, {around, none}),
      lattice(2, {14, 11}, DMDA_STENCIL_STAR, 2, 1, {around, mirror}),
      lattice(2, {16, 12}, DMDA_STENCIL_BOX, 2, 1),
      lattice(3, {9, 8, 7}),
      lattice(3, {9, 8, 7}, DMDA_STENCIL_BOX, 1, 4), // 3 points or more on a rank: fewer would share inodes
      lattice(3, {8, 9, 8}, DMDA_STENCIL_STAR, 1, 1, {around, around, none}),
  };
  std::vector<Lattice> possible;
  for (const Lattice &l : all) {
    Grid da;
    if (try_make_grid(l, &da)) possible.push_back(l);
  }
  return possible;
}

TEST_CASE("sweeps on host vectors are AIJ's", "[capture]") {
  int number = 0;
  for (const Lattice &l : wide_lattices()) {
    number++; // another form on each grid
    for (Form form : forms_of_storage) {
      if (!in_turn(number++)) continue;
      Twins t(l);
      if (makes_cuda_vectors(t.da)) return;
      const auto check = [&](const char *when) {
        for (const Sweep &sweep : sweeps) {
          INFO(describe(l) << "; " << name_of(form) << ", " << when << "; " << sweep.name);
          const auto relax = [&](Mat M, Vec b, Vec y) {
            // on one rank all sweeps are local, and AIJ's blocks know the first number only
            const PetscInt lits = rank_count() > 1 ? sweep.lits : 1;
            OK(MatSOR(M, b, sweep.omega, (MatSORType)sweep.type, sweep.shift, sweep.its * sweep.lits / lits, lits, y));
          };
          if (!works([&] {
                Vector b = random_vector(t.aij_da, 1), y = random_vector(t.aij_da, 2);
                relax(t.aij, b, y);
              }))
            continue;
          CHECK(t.difference_of([&](DM, Mat M, Vec, Vec b, Vec y) { relax(M, b, y); }) <= 10 * exact);
        }
      };
      fill_and_assemble(t, random_fill(l, form, 1));
      check("assembled");
      fill_and_assemble(t, random_fill(l, form, 2));
      check("assembled again");
      t.both([](DM, Mat M) {
        OK(MatScale(M, 2));
        OK(MatShift(M, 3));
      });
      check("scaled and shifted");
    }
  }
}

// ---- multigrid on a hierarchy of DMDAs

static PetscErrorCode compute_operators(KSP ksp, Mat, Mat B, void *context) {
  DM da;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  set_rows(da, B, diffusion_fill(lattice_of(da), *static_cast<const Form *>(context)), Way::stencil, INSERT_VALUES);
  assemble(B);
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

static Vector solve_with_multigrid(const Lattice &l, Form form, MatType type, PetscInt *iterations) {
  Grid               da;
  Solver             ksp;
  KSPConvergedReason reason;
  Vec                x;
  REQUIRE(try_make_grid(l, &da));
  OK(DMSetMatType(da, type));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOptionsPrefix(ksp, "test_"));
  OK(KSPSetDM(ksp, da));
  OK(KSPSetComputeOperators(ksp, compute_operators, &form));
  OK(KSPSetComputeRHS(ksp, compute_rhs, NULL));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSolve(ksp, NULL, NULL));
  OK(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0);
  OK(KSPGetIterationNumber(ksp, iterations));
  OK(KSPGetSolution(ksp, &x));
  return copy_of(x);
}

TEST_CASE("PETSc's multigrid on captured matrices takes as many iterations as on AIJ", "[capture]") {
  const DMBoundaryType around = DM_BOUNDARY_PERIODIC;
  int                  number = 0;
  for (const Lattice &l :
       {lattice(1, {65}), lattice(2, {33, 33}), lattice(2, {32, 32}, DMDA_STENCIL_BOX, 1, 2, {around, around}),
        lattice(3, {17, 17, 17}), lattice(3, {17, 9, 17}, DMDA_STENCIL_BOX)})
    for (Form form : forms_of_storage)
      for (const char *options : {"", "-test_mg_levels_pc_type jacobi", "-test_pc_mg_galerkin pmat",
                                  "-test_pc_mg_galerkin both -test_mg_levels_pc_type jacobi"}) {
        if (!in_turn(number++)) continue;
        INFO(describe(l) << "; " << name_of(form) << "; " << options);
        Options  set(std::string(options) + " -test_ksp_type gmres -test_pc_type mg -test_pc_mg_levels 3" +
                     " -test_ksp_rtol 1e-8");
        PetscInt ours, theirs;
        Vector   reference = solve_with_multigrid(l, form, MATAIJ, &theirs);
        Vector   x = solve_with_multigrid(l, form, captured_type, &ours);
        CHECK(difference(x, reference) <= 1e-6);
        Grid da;
        REQUIRE(try_make_grid(l, &da));
        const bool jacobi = std::string(options).find("jacobi") != std::string::npos;
        // sweeps have an order of their own on a GPU, and elsewhere may be rounded to an iteration more or less
        if (jacobi)
          CHECK(ours == theirs);
        else if (!makes_cuda_vectors(da))
          CHECK(PetscAbsInt(ours - theirs) <= 1);
      }
}

TEST_CASE("the Galerkin product with the DMDA's interpolation equals AIJ's", "[capture]") {
  int number = 0;
  for (const Lattice &l : {lattice(1, {33}), lattice(2, {17, 9}), lattice(2, {9, 9}, DMDA_STENCIL_BOX, 1, 3),
                           lattice(3, {9, 9, 9}), lattice(3, {9, 9, 9}, DMDA_STENCIL_BOX, 1, 2)}) {
    number++; // another form on each grid
    for (Form form : forms_of_storage) {
      if (!in_turn(number++)) continue;
      INFO(describe(l) << "; " << name_of(form));
      Twins  t(l);
      Matrix product[2], P[2];
      int    n = 0;
      fill_and_assemble(t, random_fill(l, form, 1));
      t.both([&](DM da, Mat M) {
        Grid coarse;
        OK(DMCoarsen(da, PETSC_COMM_WORLD, &coarse));
        OK(DMCreateInterpolation(coarse, da, &P[n], NULL));
        OK(MatPtAP(M, P[n], MAT_INITIAL_MATRIX, 2, &product[n]));
        n++;
      });
      CHECK(difference(product[1], product[0]) <= 10 * exact);
      fill_and_assemble(t, random_fill(l, form, 2));
      n = 0;
      t.both([&](DM, Mat M) {
        OK(MatPtAP(M, P[n], MAT_REUSE_MATRIX, 2, &product[n]));
        n++;
      });
      CHECK(difference(product[1], product[0]) <= 10 * exact);
    }
  }
}
