// Objects are destroyed in any order, on each rank in its own, as garbage collectors do: nothing hangs, and what remains
// or is made afterwards works.

#include "catch.hpp"
#include "equations.hpp"

#include <algorithm>

using namespace tests;

static PetscErrorCode destroy(Mat *A) {
  return MatDestroy(A);
}
static PetscErrorCode destroy(KSP *ksp) {
  return KSPDestroy(ksp);
}
static PetscErrorCode destroy(SNES *snes) {
  return SNESDestroy(snes);
}
[[maybe_unused]] static PetscErrorCode destroy(TS *ts) {
  return TSDestroy(ts);
}
static PetscErrorCode destroy(DM *dm) {
  return DMDestroy(dm);
}
static PetscErrorCode destroy(Vec *v) {
  return VecDestroy(v);
}

// Objects, each with a way to end.
class Heap {
public:
  // The object belongs to the heap from now on.
  template <class Object> void add(Object object) {
    ends_.push_back([object]() mutable { return destroy(&object); });
  }
  size_t size() const { return ends_.size(); }
  // In an order that depends on the rank and the number of the order.
  void destroy_all(int order) {
    int rank;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    if (order == 1 && rank % 2) std::reverse(ends_.begin(), ends_.end());
    if (order > 1)
      for (size_t n = ends_.size(); n > 1; n--) {
        const PetscReal r = PetscRealPart(random_value(n, 17 * order + rank)); // in [-1, 1]
        std::swap(ends_[n - 1], ends_[std::min(n - 1, (size_t)((r + 1) / 2 * n))]);
      }
    for (auto &end : ends_) OK(end());
    ends_.clear();
  }

private:
  std::vector<std::function<PetscErrorCode()>> ends_;
};

static void add_solver(Heap *heap, Mat A, const std::string &options) {
  Options set(options);
  KSP     ksp;
  Vec     x, b;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetFromOptions(ksp));
  OK(MatCreateVecs(A, &x, &b));
  OK(VecSet(b, 1));
  OK(KSPSolve(ksp, b, x));
  heap->add(ksp);
  heap->add(x);
  heap->add(b);
}

#if !defined(PETSC_USE_COMPLEX)
static void add_burgers(Heap *heap, TSType type) {
  DM  da;
  TS  ts;
  Vec u;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, 40, 1, 1, NULL, &da));
  OK(DMSetFromOptions(da));
  OK(DMSetUp(da));
  OK(DMCreateGlobalVector(da, &u));
  OK(VecSet(u, 1));
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, da));
  OK(TSSetProblemType(ts, TS_NONLINEAR));
  OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  OK(TSSetBurgers(ts));
  OK(TSSetType(ts, type));
  OK(TSSetTimeStep(ts, 1e-3));
  OK(TSSetMaxSteps(ts, 3));
  OK(TSSolve(ts, u));
  heap->add(ts);
  heap->add(u);
  heap->add(da);
}
#endif

[[maybe_unused]] static void add_equation(Heap *heap) {
  DM   da;
  SNES snes;
  Vec  u;
  OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 12, 1, 1, NULL, &da));
  OK(DMSetUp(da));
  OK(DMSetMatType(da, MATSTENCILSHELL));
  set_equation(da, "field(k) = 1 + x\nresidual = -d(k, u) - exp(u)");
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(SNESSetDM(snes, da));
  OK(DMCreateGlobalVector(da, &u));
  Options set("-pc_type stencilmg");
  OK(SNESSetFromOptions(snes));
  OK(SNESSolve(snes, NULL, u));
  heap->add(snes);
  heap->add(u);
  heap->add(da);
}

// Operators of all types, used once, with what they make: copies, transposes, solvers, time steppers.
static void fill(Heap *heap, VecType vec_type) {
  for (int dim = 1; dim <= 2; dim++) {
    Problem p = problem(dim, 12, dim > 1 ? 10 : 1);
    DM      da, coarse;
    Mat     A, B, copy, transpose;
    Vec     x, y;
    OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p.N[0], dim > 1 ? 10 : 8,
                    PETSC_DECIDE, PETSC_DECIDE, dim, 1, NULL, NULL, &da));
    if (vec_type) OK(DMSetVecType(da, vec_type));
    OK(DMSetFromOptions(da));
    OK(DMSetUp(da));
    OK(DMSetMatType(da, MATSTENCILSHELL));
    OK(DMCreateMatrix(da, &B));
    const Lattice lattice = lattice_of(da);
    set_rows(da, B, random_fill(lattice, Form::arrays, 3), Way::stencil, INSERT_VALUES);
    assemble(B);
    OK(MatCreateVecs(B, &x, &y));
    OK(VecSet(x, 1));
    OK(MatMult(B, x, y));
    OK(MatMultTranspose(B, y, x));
    OK(MatDuplicate(B, MAT_COPY_VALUES, &copy));
    OK(MatTranspose(B, MAT_INITIAL_MATRIX, &transpose));
    OK(DMClone(da, &coarse));
    add_solver(heap, B, "-ksp_type gmres -pc_type jacobi -ksp_max_it 3");
    if (dim == 1) {
      OK(MatCreateLaplace(da, &A));
      add_solver(heap, A, "-ksp_type cg -pc_type stencilmg");
      heap->add(A);
      OK(MatCreateHelmholtz(da, 3, &A));
      add_solver(heap, A, "-ksp_type richardson -pc_type stencilmg -ksp_max_it 2");
      heap->add(A);
      DM  pairs;
      Vec field, velocity;
      OK(DMDACreateCompatibleDMDA(da, 2, &pairs));
      OK(DMCreateGlobalVector(da, &field));
      OK(DMCreateGlobalVector(pairs, &velocity));
      OK(VecSet(field, 2));
      OK(VecSet(velocity, 3));
      OK(MatCreateDiffusion(da, field, &A));
      add_solver(heap, A, "-ksp_type cg -pc_type stencilmg");
      heap->add(A);
      OK(MatCreateAdvectionDiffusion(da, 1, velocity, &A));
      add_solver(heap, A, "-ksp_type gmres -pc_type stencilmg -ksp_max_it 3");
      heap->add(A);
      heap->add(field);
      heap->add(velocity);
      heap->add(pairs);
    } else {
      OK(MatShift(copy, 100));
      add_solver(heap, copy, "-ksp_type gmres -pc_type stencilmg -ksp_max_it 2");
    }
    heap->add(B);
    heap->add(copy);
    heap->add(transpose);
    heap->add(coarse);
    heap->add(da);
    heap->add(x);
    heap->add(y);
  }
  Vec points, c, f;
  Mat sum;
  OK(VecCreate(PETSC_COMM_WORLD, &points));
  OK(VecSetSizes(points, PETSC_DECIDE, 3 * 20));
  OK(VecSetBlockSize(points, 3));
  OK(VecSetFromOptions(points));
  PetscInt start, end;
  OK(VecGetOwnershipRange(points, &start, &end));
  for (PetscInt n = start; n < end; n++) OK(VecSetValue(points, n, PetscRealPart(random_value(n, 5)), INSERT_VALUES));
  OK(VecAssemblyBegin(points));
  OK(VecAssemblyEnd(points));
  OK(MatCreateKernelSum(PETSC_COMM_WORLD, points, points, &sum));
  OK(MatCreateVecs(sum, &c, &f));
  OK(VecSet(c, 1));
  OK(MatMult(sum, c, f));
  add_solver(heap, sum, "-ksp_type gmres -pc_type kernelsum -ksp_max_it 2");
  heap->add(sum);
  heap->add(points);
  heap->add(c);
  heap->add(f);
#if !defined(PETSC_USE_COMPLEX)
  for (TSType type : {TSBURGERSFUSED, TSRK, TSBEULER}) add_burgers(heap, type);
  if (equations_work()) add_equation(heap);
#endif
}

TEST_CASE("objects end in any order, on each rank in its own", "[lifetimes]") {
  // on a GPU: -- -lifetimes_vec_type cuda, with two ranks on two GPUs
  char      name[64];
  PetscBool given;
  OK(PetscOptionsGetString(NULL, NULL, "-lifetimes_vec_type", name, sizeof(name), &given));
  Problem p = problem(2, 15, 11);
  Grid    da = make_grid(p);
  Matrix  A = make_operator(p, da);
  Vector  x = random_vector(da, 1), before = make_vector(da), after = make_vector(da);
  OK(MatMult(A, x, before));
  for (int order = 0; order < 4; order++) {
    Heap first, second;
    fill(&first, given ? name : NULL);
    if (order == 3) fill(&second, given ? name : NULL); // two generations, intertwined
    CHECK(first.size() > 20);
    first.destroy_all(order);
    OK(MatMult(A, x, after)); // what remains works
    CHECK(difference(after, before) == 0);
    Matrix new_one = make_operator(p, da); // and so does what is made now
    OK(MatMult(new_one, x, after));
    CHECK(difference(after, before) == 0);
    if (order == 3) second.destroy_all(order + 1);
  }
}

TEST_CASE("a matrix outlives its grid and its solvers, and they it", "[lifetimes]") {
  Problem p = problem(2, 15, 11);
  Matrix  A;
  Vector  x, y;
  {
    Grid da = make_grid(p);
    A = make_operator(p, da);
    x = random_vector(da, 1);
    y = make_vector(da);
    OK(MatMult(A, x, y));
  }
  Vector again = copy_of(y);
  OK(MatMult(A, x, again));
  CHECK(difference(again, y) == 0);
  Solver ksp;
  {
    Options set("-ksp_type cg -pc_type stencilmg -ksp_rtol 1e-10");
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetFromOptions(ksp));
  }
  OK(KSPSolve(ksp, y, again));
  CHECK(difference(again, x) <= 1e-7);
  OK(MatDestroy(&A)); // the solver's own reference keeps it
  OK(VecSet(again, 0));
  OK(KSPSolve(ksp, y, again));
  CHECK(difference(again, x) <= 1e-7);
}
