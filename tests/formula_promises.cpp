// What a registered formula says of its rows: their width, constant() and symmetric().

#include "catch.hpp"
#include "support.hpp"

#include <shellac/stencil.hpp>

using namespace tests;

namespace {

// A block of couplings at the point alone.
template <bool constant_rows, int unknowns> struct Local final : shellac::Formula {
  shellac::Shape shape() const override { return {0, unknowns > 1}; }
  bool           constant() const override { return constant_rows; }
  bool           symmetric() const override { return unknowns == 1; }
  PetscInt       dof() const override { return unknowns; }
  void           row(const shellac::Point &, shellac::Row &u) const override {
    for (PetscInt r = 0; r < unknowns; r++)
      for (PetscInt c = 0; c < unknowns; c++) u.entry(r, c, 0) += 2.5 + r + 3 * c;
  }
};

// −u'' with another term that a parameter switches on, in a formula that promises what `constant_rows` and
// `symmetric_rows` say.
enum class Reads { nothing, x, index, part_of_x, last_index, drift, k_of_point, k_of_face, x_around };
template <bool constant_rows, bool symmetric_rows> struct Promise : shellac::Formula {
  shellac::Parameter reads{this, "reads", "what rows depend on, a number of Reads", 0};
  shellac::GridField k{this, "k", "any field"};
  shellac::Shape     shape() const override { return {1}; }
  bool               constant() const override { return constant_rows; }
  bool               symmetric() const override { return symmetric_rows; }
  void               row(const shellac::Point &p, shellac::Row &u) const override {
    const Reads     what = (Reads)(int)reads.real();
    const PetscReal x = p.x[0], h = p.h[0];
    const auto      of_x = [](PetscReal at) { return 1 + at * at; };
    u(0) += 3;
    for (PetscInt s = -1; s <= 1; s += 2) u(s) -= 1;
    if (what == Reads::x) u(0) += x;
    if (what == Reads::index) u(0) += (PetscReal)p.i[p.dim - 1];
    if (what == Reads::part_of_x && x > 0.4 && x < 0.6) u(0) += 1;
    if (what == Reads::last_index && p.i[0] == p.N[0] - 1) u(0) += 1;
    if (what == Reads::drift) u(1) += 1e-3;
    for (PetscInt s = -1; s <= 1; s += 2) {
                    if (what == Reads::k_of_point) u(s) -= k(p), u(0) += k(p);
      if (what == Reads::k_of_face) u(s) -= (k(p) + k(p, s)) / 2, u(0) += (k(p) + k(p, s)) / 2;
      if (what == Reads::x_around) u(s) -= of_x(x + s * h / 2);
    }
  }
};

using Free = Promise<false, false>;
struct Constant  final : Promise<true, false> {};
struct Symmetric final : Promise<false, true> {};
struct Both      final : Promise<true, true> {};
struct FreeType  final : Free {};

void register_all() {
  OK((shellac::MatRegisterFormula<Local<true, 1>>("test_local_constant")));
  OK((shellac::MatRegisterFormula<Local<false, 1>>("test_local")));
  OK((shellac::MatRegisterFormula<Local<true, 2>>("test_local_pairs_constant")));
  OK((shellac::MatRegisterFormula<Local<false, 2>>("test_local_pairs")));
  OK(shellac::MatRegisterFormula<Constant>("test_says_constant"));
  OK(shellac::MatRegisterFormula<Symmetric>("test_says_symmetric"));
  OK(shellac::MatRegisterFormula<Both>("test_says_both"));
  OK(shellac::MatRegisterFormula<FreeType>("test_says_nothing"));
}

PetscErrorCode create(DM da, const char *type, Reads what, Vec k, Mat *A) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetDM(*A, da));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatFormulaSetParameter(*A, "reads", (PetscScalar)(int)what));
  PetscCall(MatFormulaSetField(*A, "k", k));
  PetscCall(MatSetUp(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

TEST_CASE("A formula of width 0 has identity rows at the ends that have them, and no others", "[promises]") {
  register_all();
  const PetscInt sizes[][3] = {{1, 1, 1}, {2, 1, 1}, {6, 1, 1}, {1, 4, 1}, {5, 4, 1}, {4, 1, 3}, {4, 3, 3}};
  const char *types[][2] = {{"test_local", "test_local_constant"}, {"test_local_pairs", "test_local_pairs_constant"}};
  for (const auto &N : sizes)
    for (int dim = N[2] > 1 ? 3 : N[1] > 1 ? 2 : 1; dim <= 3; dim++)
      for (int unknowns = 1; unknowns <= 2; unknowns++)
        for (const char *type : types[unknowns - 1])
          for (int sides = 0; sides < 4; sides++) { // with identity rows: lower of the first axis, upper of the last
            Lattice l;
            l.dim = dim, l.dof = unknowns;
            for (int a = 0; a < 3; a++) l.N[a] = N[a];
            INFO(type << " " << describe(l) << ", sides " << sides);
            Grid da;
            if (!try_make_grid(l, &da)) continue;
            Matrix                 A, B;
            MatLaplaceBoundaryType forms[6];
            for (MatLaplaceBoundaryType &form : forms) form = MAT_LAPLACE_NEUMANN;
            if (sides & 1) forms[0] = MAT_LAPLACE_IDENTITY;
            if (sides & 2) forms[2 * dim - 1] = MAT_LAPLACE_IDENTITY;
            OK(MatCreate(PETSC_COMM_WORLD, &A));
            OK(MatSetDM(A, da));
            OK(MatSetType(A, type));
            OK(MatLaplaceSetBoundaries(A, 2 * dim, forms));
            OK(MatSetUp(A));
            OK(DMSetMatType(da, MATAIJ));
            OK(DMCreateMatrix(da, &B));
            const auto fill = [&](const PetscInt p[3], const PetscInt[3], PetscScalar *block) {
              const bool identity = ((sides & 1) && p[0] == 0) || ((sides & 2) && p[dim - 1] == l.N[dim - 1] - 1);
              for (int r = 0; r < unknowns; r++)
                for (int c = 0; c < unknowns; c++)
                  block[r * unknowns + c] = identity ? PetscScalar(r == c) : PetscScalar(2.5 + r + 3 * c);
            };
            set_rows(da, B, fill, Way::stencil, INSERT_VALUES, nullptr, true);
            assemble(B);
            CHECK(difference(A, B) <= exact);
            Vector x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
            OK(MatMult(A, x, y));
            OK(MatMult(B, x, z));
            CHECK(difference(y, z) <= exact);
            OK(MatMultTranspose(A, x, y));
            OK(MatMultTranspose(B, x, z));
            CHECK(difference(y, z) <= exact);
            for (NormType norm : {NORM_1, NORM_INFINITY, NORM_FROBENIUS}) {
              PetscReal ours, theirs;
              OK(MatNorm(A, norm, &ours));
              OK(MatNorm(B, norm, &theirs));
              CHECK(difference(ours, theirs) <= 10 * exact);
            }
            OK(MatScale(A, 3)); // keeps one row for each place
            OK(MatScale(B, 3));
            OK(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
            OK(MatTranspose(B, MAT_INPLACE_MATRIX, &B));
            CHECK(difference(A, B) <= exact);
          }
}

TEST_CASE("A formula that is not what it says is one error on all ranks, and changes nothing", "[promises]") {
  register_all();
  struct Case {
    const char *type;
    Reads       what;
    bool        broken;
    std::string word;
  };
  const Case cases[] = {
      {"test_says_constant", Reads::nothing, false, ""},
      {"test_says_constant", Reads::drift, false, ""},
      {"test_says_constant", Reads::x, true, "constant()"},
      {"test_says_constant", Reads::index, true, "constant()"},
      {"test_says_constant", Reads::part_of_x, true, "constant()"},
      {"test_says_constant", Reads::last_index, true, "constant()"},
      {"test_says_constant", Reads::k_of_point, true, "constant()"},
      {"test_says_symmetric", Reads::nothing, false, ""},
      {"test_says_symmetric", Reads::x, false, ""},
      {"test_says_symmetric", Reads::k_of_face, false, ""},
      {"test_says_symmetric", Reads::x_around, false, ""},
      {"test_says_symmetric", Reads::drift, true, "symmetric()"},
      {"test_says_symmetric", Reads::k_of_point, true, "symmetric()"},
      {"test_says_both", Reads::nothing, false, ""},
      {"test_says_both", Reads::drift, true, "symmetric()"},
      {"test_says_both", Reads::x, true, "constant()"},
      {"test_says_nothing", Reads::drift, false, ""},
      {"test_says_nothing", Reads::k_of_point, false, ""},
      {"test_says_nothing", Reads::last_index, false, ""},
  };
  for (int dim = 1; dim <= 3; dim++) {
    Grid   da = make_grid(problem(dim, 16, dim > 1 ? 9 : 1, dim > 2 ? 7 : 1));
    Vector k = random_vector(da, 1), ones = make_vector(da);
    OK(VecSet(ones, 1));
    for (const Case &c : cases) {
      if (dim > 1 && c.what == Reads::index && rank_count() > 1) continue;
      INFO(c.type << ", " << (int)c.what << " in " << dim << "-D");
      Matrix A;
      if (!c.broken) {
        OK(create(da, c.type, c.what, k, &A));
        continue;
      }
      EXPECT_ERROR(PETSC_ERR_USER, ({c.word}), [&] {
        Matrix B;
        return create(da, c.type, c.what, k, &B);
      });
      // by a later change; nothing is changed then
      OK(create(da, c.type, Reads::nothing, k, &A));
      Vector y = make_vector(da), before = make_vector(da);
      OK(MatMult(A, k, before));
      EXPECT_ERROR(PETSC_ERR_USER, ({c.word}),
                   [&] { return MatFormulaSetParameter(A, "reads", (PetscScalar)(int)c.what); });
      OK(MatMult(A, k, y));
      CHECK(difference(y, before) == 0);
    }
    // the field that breaks the promise comes later
    Matrix A;
    OK(create(da, "test_says_symmetric", Reads::k_of_point, ones, &A));
    EXPECT_ERROR(PETSC_ERR_USER, ({"symmetric()"}), [&] { return MatFormulaSetField(A, "k", k); });
  }
}

TEST_CASE("A formula that is symmetric but for the end of its period is refused", "[promises]") {
  register_all();
  if (rank_count() > 1) return; // the two points are one rank's
  Problem p = problem(1, 12);
  p.ends[0] = DM_BOUNDARY_PERIODIC;
  Grid   da = make_grid(p);
  Vector k = random_vector(da, 1);
  Matrix A, B;
  OK(create(da, "test_says_symmetric", Reads::k_of_face, k, &A));
  EXPECT_ERROR(PETSC_ERR_USER, ({"symmetric()", "(0)", "(11)"}),
               [&] { return create(da, "test_says_symmetric", Reads::x_around, k, &B); });
}

TEST_CASE("A formula cannot take the name of another type", "[promises]") {
  register_all();
  for (const char *name : {"aij", "baij", "sbaij", "dense", "seqaij", "mpiaij", "shell", "laplace", "stencil",
                           "kernelsum", "test_says_both"})
    EXPECT_ERROR(PETSC_ERR_ARG_WRONG, ({name, "another name"}),
                 [&] { return shellac::MatRegisterFormula<Free>(name); });
  OK(shellac::MatRegisterFormula<Free>("test_free"));
  Grid   da = make_grid(problem(1, 8));
  Matrix A;
  OK(MatCreate(PETSC_COMM_WORLD, &A));
  OK(MatSetDM(A, da));
  OK(MatSetType(A, "test_free"));
  OK(MatSetType(A, MATAIJ)); // is PETSc's still
  MatType   type;
  PetscBool is;
  OK(MatGetType(A, &type));
  OK(PetscStrendswith(type, "aij", &is));
  CHECK(is);
}

TEST_CASE("A formula has the unknowns of its set-up", "[promises]") {
  struct Several final : shellac::Formula {
    shellac::Parameter n{this, "n", "unknowns", 1};
    shellac::Shape     shape() const override { return {0}; }
    PetscInt           dof() const override { return (PetscInt)n.real(); }
    void               row(const shellac::Point &, shellac::Row &u) const override {
      for (PetscInt c = 0; c < dof(); c++) u.entry(c, c, 0) += 2;
    }
  };
  OK(shellac::MatRegisterFormula<Several>("test_several"));
  Grid   da = make_grid(problem(1, 20));
  Matrix A;
  OK(MatCreateFormula(da, "test_several", &A));
  EXPECT_ERROR(PETSC_ERR_ORDER, ({"test_several", "fixed since MatSetUp()"}),
               [&] { return MatFormulaSetParameter(A, "n", 7); });
  Vector x = random_vector(da, 1), y = make_vector(da);
  OK(MatMult(A, x, y));
  OK(VecScale(x, 2));
  CHECK(difference(y, x) == 0);
}

TEST_CASE("A formula on long steps in 1-D takes the memory of its arms alone", "[promises]") {
  struct Long final : shellac::Formula {
    shellac::Shape shape() const override { return {700, true}; } // 1401³ places would be 11 GB
    void           row(const shellac::Point &, shellac::Row &u) const override {
      u(0) += 2;
      u(700) -= 1;
    }
  };
  OK(shellac::MatRegisterFormula<Long>("test_long"));
  Grid   da = make_grid(problem(1, 2801));
  Matrix A;
  OK(MatCreateFormula(da, "test_long", &A));
  Vector x = make_vector(da), y = make_vector(da), z = make_vector(da);
  set_values(da, x, [](const PetscInt i[3]) { return (PetscScalar)i[0]; });
  set_values(da, z, [](const PetscInt i[3]) { // odd reflection about the first point beyond the end
    const PetscInt to = i[0] + 700, beyond = 2801;
    return PetscScalar(2 * i[0] - (to < beyond ? to : to == beyond ? 0 : -(2 * beyond - to)));
  });
  OK(MatMult(A, x, y));
  CHECK(difference(y, z) <= exact);
}
