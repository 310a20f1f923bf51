// Wrong use of stencilmg.

#include "catch.hpp"
#include "misuse.hpp"

#include <cmath>

using namespace tests;

static PetscErrorCode solve(Mat A, const char *options, Vec *y) {
  PetscFunctionBeginUser;
  Options set(options);
  Solver  ksp;
  Vector  b;
  PetscCall(MatCreateVecs(A, y, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, *y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("what stencilmg does not serve", "[misuse]") {
  constexpr const char *mg = "-pc_type stencilmg -ksp_max_it 3";
  Problem               p = problem(2, 17, 15);
  Grid                  da = make_grid(p);
  Matrix                A = make_operator(p, da), aij = make_reference(p, da), dense, sell;
  OK(MatConvert(aij, MATDENSE, MAT_INITIAL_MATRIX, &dense));
  OK(MatConvert(aij, MATSELL, MAT_INITIAL_MATRIX, &sell));
  const auto captured = [](const Lattice &lattice, const Fill &fill) {
    Grid   grid;
    Matrix M;
    OK(make_grid(lattice, NULL, &grid));
    OK(DMSetMatType(grid, MATSTENCILSHELL));
    OK(DMCreateMatrix(grid, &M));
    set_rows(grid, M, fill, Way::stencil, INSERT_VALUES);
    assemble(M);
    return M;
  };
  Lattice of_two, of_box, of_width, plain;
  for (Lattice *l : {&of_two, &of_box, &of_width, &plain}) l->N[0] = 17, l->N[1] = 15;
  of_two.dof = 2, of_box.shape = DMDA_STENCIL_BOX, of_width.width = 2;
  Matrix pairs = captured(of_two, random_fill(of_two, Form::arrays, 1)),
         box = captured(of_box, random_fill(of_box, Form::arrays, 2)),
         far = captured(of_width, random_fill(of_width, Form::arrays, 3)),
         skew = captured(plain, random_fill(plain, Form::arrays, 4)),
         not_a_number = captured(plain, [](const PetscInt p[3], const PetscInt arm[3], PetscScalar *v) {
           *v = arm[0] || arm[1] ? -1 : p[0] == 3 && p[1] == 2 ? NAN : 4;
         });
  const auto attempt = [&](Mat M, const char *options) {
    return [M, options] {
      Vector               x;
      const PetscErrorCode code = solve(M, options, &x);
      return code;
    };
  };
  check_calls([&](Vec *x) { return solve(A, mg, x); },
              {
                  {"an AIJ", PETSC_ERR_ARG_WRONG, {"use -dm_mat_type stencil"}, attempt(aij, mg)},
                  {"a dense matrix", PETSC_ERR_ARG_WRONG, {"use -dm_mat_type stencil"}, attempt(dense, mg)},
                  {"a SELL", PETSC_ERR_ARG_WRONG, {"use -dm_mat_type stencil"}, attempt(sell, mg)},
                  {"two unknowns a point", PETSC_ERR_SUP, {"use -pc_type bjacobi"}, attempt(pairs, mg)},
                  {"a box that is not symmetric", PETSC_ERR_SUP, {"use -pc_type bjacobi"}, attempt(box, mg)},
                  {"a stencil of width 2", PETSC_ERR_SUP, {"use -pc_type bjacobi"}, attempt(far, mg)},
                  {"a matrix that is not symmetric", PETSC_ERR_SUP, {"use -pc_type bjacobi"}, attempt(skew, mg)},

                  {"a coefficient that is NaN", PETSC_ERR_FP, {"not a number"}, attempt(not_a_number, mg)},
                  {"too many levels",
                   PETSC_ERR_ARG_OUTOFRANGE,
                   {"give"},
                   attempt(A, "-pc_type stencilmg -pc_stencilmg_levels -7")},
                  {"gamg on stencil", 0, {}, attempt(skew, "-pc_type gamg -ksp_max_it 2")},
                  {"a type that there is not", 0, {}, attempt(A, "-pc_type no_such_type")},

                  {"a solver package that there is not",
                   92,
                   {"must ./configure with --download-nobodys"},
                   attempt(A, "-pc_type lu -pc_factor_mat_solver_type nobodys")},

              });
}
