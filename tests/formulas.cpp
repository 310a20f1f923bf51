// Formulas that an application registers (shellac/stencil.hpp): a nine-point, a biharmonic, a diffusion and a two-unknown
// operator beside matrices that are assembled by hand.

#include "catch.hpp"
#include "support.hpp"

#include <cmath>

#include <shellac/stencil.hpp>

using namespace tests;

namespace {

// ---- the formulas

struct NinePoint final : shellac::Formula {
  shellac::Parameter mix{this, "mix", "weight of the rotated star", 0.25};
  shellac::Shape     shape() const override { return {1, true}; }
  bool               constant() const override { return true; }
  bool               symmetric() const override { return true; }
  void               row(const shellac::Point &p, shellac::Row &u) const override {
    const PetscReal cx = 1 / (p.h[0] * p.h[0]), cy = 1 / (p.h[1] * p.h[1]);
    for (PetscInt s = -1; s <= 1; s += 2) {
                    u(s, 0) += -cx;
                    u(0, s) += -cy;
                    for (PetscInt t = -1; t <= 1; t += 2) u(s, t) += -mix() * (cx + cy);
    }
                  u(0) += 2 * (cx + cy) + PetscReal(4) * mix() * (cx + cy);
  }
};

// Δ², of 13 points.
struct Biharmonic final : shellac::Formula {
  shellac::Shape shape() const override { return {2, true}; }
  bool           constant() const override { return true; }
  bool           symmetric() const override { return true; }
  void           row(const shellac::Point &p, shellac::Row &u) const override {
    const PetscReal second[3] = {1, -2, 1}, h2[2] = {p.h[0] * p.h[0], p.h[1] * p.h[1]};
    for (int a = 0; a < 2; a++) // the second difference of the second difference
      for (int b = 0; b < 2; b++)
        for (int s = -1; s <= 1; s++)
          for (int t = -1; t <= 1; t++)
            u((a == 0 ? s : 0) + (b == 0 ? t : 0), (a == 1 ? s : 0) + (b == 1 ? t : 0)) +=
                second[s + 1] * second[t + 1] / (h2[a] * h2[b]);
  }
};

// −∇·(k∇u) + κ(1 + t)u, with means of a field k.
struct Diffusion final : shellac::Formula {
  shellac::Parameter kappa{this, "kappa", "reaction [1/length²]", 0};
  shellac::GridField k{this, "k", "diffusion coefficient"};
  shellac::Shape     shape() const override { return {1, false}; }
  bool               symmetric() const override { return true; }
  void               row(const shellac::Point &p, shellac::Row &u) const override {
    u(0) += kappa() * (1 + p.time);
    for (int a = 0; a < p.dim; a++)
      for (PetscInt s = -1; s <= 1; s += 2) {
                      const PetscInt    d[3] = {a == 0 ? s : 0, a == 1 ? s : 0, a == 2 ? s : 0};
                      const PetscScalar c = (k(p) + k(p, d[0], d[1], d[2])) / (2 * p.h[a] * p.h[a]);
                      u(0) += c;
                      u(d[0], d[1], d[2]) -= c;
      }
  }
};

// Two unknowns, coupled at points and along x; depends on the place.
struct Pair final : shellac::Formula {
  PetscInt       dof() const override { return 2; }
  shellac::Shape shape() const override { return {1, false}; }
  void           row(const shellac::Point &p, shellac::Row &u) const override {
    for (PetscInt r = 0; r < 2; r++) {
                u.entry(r, r, 0) += 5 + r + p.x[0] * p.x[1];
                u.entry(r, 1 - r, 0) += PetscReal(0.5) - r;
                for (PetscInt s = -1; s <= 1; s += 2) {
                  u.entry(r, r, s) += -1 - PetscReal(0.1) * s;
                  u.entry(r, r, 0, s) += -1;
      }
    }
    u.entry(0, 1, 1) += PetscReal(0.25) + p.x[1];
  }
};

// Mistakes, by a parameter.
struct Wrong final : shellac::Formula {
  shellac::Parameter what{this, "what", "the mistake", 0};
  shellac::GridField k{this, "k"};
  shellac::Shape     shape() const override { return {1, false}; }
  void               row(const shellac::Point &p, shellac::Row &u) const override {
    const int  mistake = (int)what.real();
    const bool here = p.i[0] == 2 && p.i[1] == 1;
    u(0) += 1;
    if (mistake == 1 && here) u(1, 1) += 1;
    if (mistake == 2 && here) u(0) += std::sqrt((PetscReal)-1);
    if (mistake == 3 && here) u(0) += k(p, 2);
    if (mistake == 4 && here) throw std::runtime_error("no such material");
  }
};
struct BadName final : shellac::Formula {
  shellac::Parameter halo{this, "halo", "", 0};
  shellac::Shape     shape() const override { return {1, false}; }
  void               row(const shellac::Point &, shellac::Row &) const override {}
};

void register_all() {
  OK(shellac::MatRegisterFormula<NinePoint>("test_ninepoint"));
  OK(shellac::MatRegisterFormula<Biharmonic>("test_biharmonic"));
  OK(shellac::MatRegisterFormula<Diffusion>("test_diffusion"));
  OK(shellac::MatRegisterFormula<Pair>("test_pair"));
  OK(shellac::MatRegisterFormula<Wrong>("test_wrong"));
}

// ---- the same by hand

enum class End { eliminated, neumann, periodic };
const char *const options_of_end[] = {"eliminated", "neumann", "eliminated"};

struct Case {
  std::string type;
  int         dim = 2;
  PetscInt    N[3] = {9, 8, 1};
  End         end = End::eliminated;

  PetscInt  dof() const { return type == "test_pair" ? 2 : 1; }
  PetscInt  width() const { return type == "test_biharmonic" ? 2 : 1; }
  PetscReal h(int a) const { return 1 / (PetscReal)(end == End::eliminated ? N[a] + 1 : N[a]); }
  PetscReal x(int a, PetscInt i) const {
    return ((PetscReal)i + (end == End::eliminated ? 1 : end == End::neumann ? PetscReal(0.5) : 0)) * h(a);
  }
  Grid grid(MatType mat_type) const {
    Grid                 da;
    const DMBoundaryType b = end == End::periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    OK(DMCreate(PETSC_COMM_WORLD, &da));
    OK(DMSetType(da, DMDA));
    OK(DMSetDimension(da, dim));
    OK(DMDASetSizes(da, N[0], N[1], N[2]));
    OK(DMDASetBoundaryType(da, b, dim > 1 ? b : DM_BOUNDARY_NONE, dim > 2 ? b : DM_BOUNDARY_NONE));
    OK(DMDASetDof(da, dof()));
    OK(DMDASetStencilType(da, DMDA_STENCIL_BOX));
    OK(DMDASetStencilWidth(da, width()));
    OK(DMSetMatType(da, mat_type));
    OK(DMSetUp(da));
    return da;
  }
  std::string text() const {
    return type + ", " + std::to_string(dim) + "-D, ends " +
           (end == End::periodic ? "periodic" : options_of_end[(int)end]) + ", " + std::to_string(rank_count()) +
           " ranks";
  }
};

PetscScalar k_at(const PetscInt i[3]) {
  return 2 + random_value((size_t)(i[0] + 20 * i[1] + 400 * i[2]), 5);
}

struct HandEntry {
  PetscInt    d[3], r, c;
  PetscScalar value;
};

// The entries of one row, with the clamped field of the diffusion's ends.
std::vector<HandEntry> hand_row(const Case &c, const PetscInt i[3], PetscScalar kappa) {
  std::vector<HandEntry> row;
  const PetscReal        X = 1 / (c.h(0) * c.h(0)), Y = c.dim > 1 ? 1 / (c.h(1) * c.h(1)) : 0;
  const auto             add = [&](PetscInt dx, PetscInt dy, PetscScalar v) { row.push_back({{dx, dy, 0}, 0, 0, v}); };
  if (c.type == "test_ninepoint") {
    const PetscScalar m = PetscReal(0.25) * (X + Y);
    add(0, 0, 2 * X + 2 * Y + PetscReal(4) * m);
    add(-1, 0, -X), add(1, 0, -X), add(0, -1, -Y), add(0, 1, -Y);
    add(-1, -1, -m), add(1, -1, -m), add(-1, 1, -m), add(1, 1, -m);
  } else if (c.type == "test_biharmonic") {
    add(0, 0, 6 * X * X + 6 * Y * Y + 8 * X * Y);
    for (PetscInt s = -1; s <= 1; s += 2) {
      add(s, 0, -4 * X * X - 4 * X * Y), add(0, s, -4 * Y * Y - 4 * X * Y);
      add(2 * s, 0, X * X), add(0, 2 * s, Y * Y);
      add(s, s, 2 * X * Y), add(s, -s, 2 * X * Y);
    }
  } else if (c.type == "test_diffusion") {
    add(0, 0, kappa);
    for (int a = 0; a < c.dim; a++)
      for (PetscInt s = -1; s <= 1; s += 2) {
        PetscInt q[3] = {i[0], i[1], i[2]}, d[3] = {0, 0, 0};
        d[a] = s;
        q[a] += s;
        if (c.end == End::periodic)
          q[a] = (q[a] + c.N[a]) % c.N[a];
        else if (q[a] < 0 || q[a] >= c.N[a])
          q[a] = i[a];
        const PetscScalar v = (k_at(i) + k_at(q)) / (2 * c.h(a) * c.h(a));
        row.push_back({{0, 0, 0}, 0, 0, v});
        row.push_back({{d[0], d[1], d[2]}, 0, 0, -v});
      }
  } else {
    const PetscReal x = c.x(0, i[0]), y = c.x(1, i[1]);
    row = {{{0, 0, 0}, 0, 0, 5 + x * y},
           {{0, 0, 0}, 1, 1, 6 + x * y},
           {{0, 0, 0}, 0, 1, 0.5},
           {{0, 0, 0}, 1, 0, -0.5},
           {{1, 0, 0}, 0, 1, 0.25 + y}};
    for (PetscInt r = 0; r < 2; r++) {
      row.push_back({{-1, 0, 0}, r, r, -0.9}), row.push_back({{1, 0, 0}, r, r, -1.1});
      row.push_back({{0, -1, 0}, r, r, -1}), row.push_back({{0, 1, 0}, r, r, -1});
    }
  }
  return row;
}

// Where a neighbour beyond the ends is: u₋₁ = 0 and u₋₂ = −u₀ of zero values at node −1; u₋₁ = u₀ and u₋₂ = u₁ of no flux.
PetscInt hand_fold(const Case &c, int a, PetscInt i, PetscReal *factor) {
  const PetscInt N = c.N[a], beyond = i < 0 ? -i : i >= N ? i - N + 1 : 0;
  if (beyond == 0 || c.end == End::periodic) return i;
  const bool lower = i < 0;
  if (c.end == End::neumann) return lower ? beyond - 1 : N - beyond;
  *factor *= beyond == 1 ? 0 : -1;
  return lower ? beyond - 2 : N - beyond + 1;
}

Matrix by_hand(const Case &c, DM da, PetscScalar kappa = 0) {
  Matrix B;
  OK(DMCreateMatrix(da, &B));
  for_each_owned(da, [&](const PetscInt i[3]) {
    for (const HandEntry &e : hand_row(c, i, kappa)) {
      PetscReal  factor = 1;
      MatStencil row = {}, column = {};
      row.i = i[0], row.j = i[1], row.k = i[2], row.c = e.r;
      column.i = hand_fold(c, 0, i[0] + e.d[0], &factor);
      column.j = c.dim > 1 ? hand_fold(c, 1, i[1] + e.d[1], &factor) : 0;
      column.k = c.dim > 2 ? hand_fold(c, 2, i[2] + e.d[2], &factor) : 0;
      column.c = e.c;
      const PetscScalar value = factor * e.value;
      if (factor != 0) OK(MatSetValuesStencil(B, 1, &row, 1, &column, &value, ADD_VALUES));
    }
  });
  assemble(B);
  return B;
}

void set_k(DM da, Mat A) {
  Vector k = make_vector(da);
  set_values(da, k, [](const PetscInt i[3]) { return k_at(i); });
  OK(MatFormulaSetField(A, "k", k));
}

Matrix make(const Case &c, DM da) {
  Matrix  A;
  Options o("-mat_" + c.type + "_boundary " + options_of_end[(int)c.end]);
  OK(DMCreateMatrix(da, &A));
  if (c.type == "test_diffusion") set_k(da, A);
  return A;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char *type : {"test_ninepoint", "test_biharmonic", "test_diffusion", "test_pair"})
    for (End end : {End::eliminated, End::neumann, End::periodic}) all.push_back({type, 2, {9, 8, 1}, end});
  all.push_back({"test_diffusion", 3, {5, 4, 6}, End::neumann});
  all.push_back({"test_diffusion", 1, {12, 1, 1}, End::periodic});
  return all;
}

} // namespace

TEST_CASE("A registered formula is the matrix that is assembled by hand") {
  register_all();
  int combination = 0;
  for (const Case &c : cases()) {
    if (!in_turn(combination++)) continue;
    INFO(c.text());
    Grid       da = c.grid(c.type.c_str()), aij_da = c.grid(MATAIJ);
    Matrix     A = make(c, da), B = by_hand(c, aij_da), A_aij, At, copy;
    Vector     x = random_vector(da, 1), b = random_vector(da, 2), y = make_vector(da), z = make_vector(da);
    const auto same = [&] { return difference(y, z) < 100 * exact; };
    OK(MatMult(A, x, y));
    OK(MatMult(B, x, z));
    CHECK(same());
    OK(MatMultAdd(A, x, b, y));
    OK(MatMultAdd(B, x, b, z));
    CHECK(same());
    OK(MatMultTranspose(A, x, y));
    OK(MatMultTranspose(B, x, z));
    CHECK(same());
    OK(MatGetDiagonal(A, y));
    OK(MatGetDiagonal(B, z));
    CHECK(same());
    OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &A_aij));
    CHECK(difference(A_aij, B) < 100 * exact);
    OK(MatTranspose(A, MAT_INITIAL_MATRIX, &At));
    OK(MatMult(At, x, y));
    OK(MatMultTranspose(B, x, z));
    CHECK(same());
    OK(MatDuplicate(A, MAT_COPY_VALUES, &copy));
    OK(MatMult(copy, x, y));
    OK(MatMult(B, x, z));
    CHECK(same());
    for (NormType type : {NORM_1, NORM_INFINITY, NORM_FROBENIUS}) {
      PetscReal ours, theirs;
      OK(MatNorm(A, type, &ours));
      OK(MatNorm(B, type, &theirs));
      CHECK(difference(ours, theirs) < 100 * exact);
    }
    PetscBool known, symmetric, is;
    OK(MatIsSymmetricKnown(A, &known, &symmetric));
    OK(MatIsSymmetric(B, 1e-10, &is));
    CHECK(everywhere(known ? symmetric && is : !is));
    const std::string text = view(A, PETSC_VIEWER_ASCII_INFO);
    CHECK(text.find("formula " + c.type) != std::string::npos);
    MatNullSpace nullspace;
    OK(MatGetNullSpace(A, &nullspace));
    const bool constants = c.end != End::eliminated && c.type != "test_pair";
    CHECK(everywhere((nullspace != NULL) == constants));
    if (nullspace) {
      PetscBool in;
      OK(MatNullSpaceTest(nullspace, B, &in));
      CHECK(in);
    }
  }
}

TEST_CASE("Krylov solvers of registered formulas with jacobi, sor, lu, multigrid and submatrices") {
  register_all();
  const auto solve = [](const Case &c, const std::string &options) {
    INFO(c.text() + ": " + options);
    Options o("-ksp_rtol 1e-10 -ksp_max_it 2000 " + options);
    Grid    da = c.grid(c.type.c_str()), aij_da = c.grid(MATAIJ);
    Matrix  A = make(c, da), B = by_hand(c, aij_da);
    Vector  u = random_vector(da, 3), b = make_vector(da), x = make_vector(da), r = make_vector(da);
    Solver  ksp;
    OK(MatMult(B, u, b));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetFromOptions(ksp));
    OK(KSPSolve(ksp, b, x));
    OK(MatMult(B, x, r));
    CHECK(difference(r, b) < 1e-7);
    PetscInt iterations;
    OK(KSPGetIterationNumber(ksp, &iterations));
    return iterations;
  };
  for (const char *type : {"test_ninepoint", "test_biharmonic", "test_diffusion"}) {
    solve({type}, "-ksp_type cg -pc_type jacobi");
    solve({type}, "-ksp_type cg -pc_type sor");
    solve({type}, "-ksp_type preonly -pc_type redundant -redundant_pc_type lu");
  }
  solve({"test_pair"}, "-ksp_type gmres -pc_type pbjacobi");
  solve({"test_pair"}, "-ksp_type gmres -pc_type sor");
  solve({"test_pair"}, "-ksp_type fgmres -pc_type fieldsplit -pc_fieldsplit_block_size 2 -pc_fieldsplit_type additive "
                       "-fieldsplit_0_pc_type jacobi -fieldsplit_1_pc_type jacobi");
  const Case nine = {"test_ninepoint", 2, {33, 31, 1}}, diffusion = {"test_diffusion", 2, {33, 31, 1}};
  CHECK(solve(nine, "-ksp_type cg -pc_type stencilmg") < 16);
  CHECK(solve(diffusion, "-ksp_type cg -pc_type stencilmg") < 30);
}

TEST_CASE("MatSOR of registered formulas: the solution is its fixed point, and colours do not see the ranks") {
  register_all();
  for (const Case &c : cases()) {
    if (c.end != End::eliminated) continue;
    INFO(c.text());
    Grid      da = c.grid(c.type.c_str());
    Matrix    A = make(c, da);
    Vector    u = random_vector(da, 3), b = make_vector(da), x = copy_of(u);
    PetscReal norm, after;
    OK(MatMult(A, u, b));
    OK(MatSOR(A, b, 1.2, SOR_SYMMETRIC_SWEEP, 0, 2, 1, x));
    CHECK(difference(x, u) < 1000 * exact);
    OK(VecZeroEntries(x));
    OK(MatSOR(A, b, 1, SOR_SYMMETRIC_SWEEP, 0, 20, 1, x));
    OK(VecNorm(u, NORM_2, &norm));
    OK(VecAXPY(x, -1, u));
    OK(VecNorm(x, NORM_2, &after));
    CHECK(after < 0.9 * norm);
  }
}

TEST_CASE("Parameters, fields and the time of a registered formula: options and setters") {
  register_all();
  const Case c = {"test_diffusion"};
  Grid       da = c.grid(c.type.c_str()), aij_da = c.grid(MATAIJ);
  Matrix     A, B;
  Vector     x = random_vector(da, 1), y = make_vector(da), z = make_vector(da);
  const auto check = [&](PetscScalar kappa) {
    B = by_hand(c, aij_da, kappa);
    OK(MatMult(A, x, y));
    OK(MatMult(B, x, z));
    CHECK(difference(y, z) < 100 * exact);
  };
  {
    Options o("-mat_test_diffusion_kappa 3");
    OK(MatCreateFormula(da, c.type.c_str(), &A));
  }
  CHECK(view(A, PETSC_VIEWER_ASCII_INFO).find("field k, not set") != std::string::npos);
  EXPECT_ERROR(PETSC_ERR_ORDER, {"field k", "MatFormulaSetField"}, [&] { return MatMult(A, x, y); });
  set_k(da, A);
  check(3);
  Solver ksp; // that sets up again
  PC     pc;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, KSPPREONLY));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCJACOBI));
  OK(KSPSolve(ksp, x, y));
  OK(MatFormulaSetParameter(A, "kappa", 4));
  OK(KSPSolve(ksp, x, y));
  OK(MatGetDiagonal(A, z));
  OK(VecPointwiseMult(z, y, z));
  CHECK(difference(z, x) < 10 * exact);
  check(4);
  OK(MatFormulaSetTime(A, 0.5));
  check(6);
  OK(MatScale(A, 2)); // is not of the formula
  OK(MatShift(A, 1));
  OK(MatFormulaSetTime(A, 0));
  check(4);
  PetscScalar kappa;
  OK(MatFormulaGetParameter(A, "kappa", &kappa));
  CHECK(everywhere(kappa == PetscScalar(4)));
  OK(MatFormulaSetParameter(A, "kappa", 0));
  check(0);
  { // before MatSetUp(), and a field of another DMDA
    Grid   one;
    Vector k;
    OK(DMDACreateCompatibleDMDA(da, 1, &one));
    k = make_vector(one);
    set_values(one, k, [](const PetscInt i[3]) { return k_at(i); });
    Matrix fresh;
    OK(MatCreate(PETSC_COMM_WORLD, &fresh));
    OK(MatSetDM(fresh, da));
    OK(MatSetType(fresh, c.type.c_str()));
    OK(MatFormulaSetField(fresh, "k", k));
    OK(MatFormulaSetParameter(fresh, "kappa", 2));
    OK(MatSetUp(fresh));
    A = std::move(fresh);
    check(2);
  }
  Matrix other; // types without a formula
  OK(DMCreateMatrix(aij_da, &other));
  OK(MatFormulaSetParameter(other, "kappa", 1));
  OK(MatFormulaSetTime(other, 1));
  EXPECT_ERROR(PETSC_ERR_SUP, {"registered formula"}, [&] { return MatFormulaGetParameter(other, "kappa", &kappa); });
}

TEST_CASE("Mistakes in registered formulas are one clear error") {
  register_all();
  const Case c = {"test_wrong"};
  Grid       da = c.grid(c.type.c_str());
  Matrix     A = make(c, da);
  Vector     k = make_vector(da), x = random_vector(da, 1), y = make_vector(da);
  PetscReal  norm;
  OK(VecSet(k, 1));
  OK(MatFormulaSetField(A, "k", k));
  const auto set = [&](PetscScalar what) { return [&, what] { return MatFormulaSetParameter(A, "what", what); }; };
  EXPECT_ERROR(PETSC_ERR_USER, {"(2, 1, 0)", "step (1, 1, 0)", "outside its shape"}, set(1));
  EXPECT_ERROR(PETSC_ERR_USER, {"(2, 1, 0)", "nan", "step (0, 0, 0)"}, set(2));
  EXPECT_ERROR(PETSC_ERR_USER, {"field k", "step (2, 0, 0)"}, set(3));
  EXPECT_ERROR(PETSC_ERR_USER, {"exception", "no such material"}, set(4));
  OK(MatMult(A, x, y)); // as before
  OK(VecAXPY(y, -1, x));
  OK(VecNorm(y, NORM_INFINITY, &norm));
  CHECK(norm == 0);
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"no parameter alhpa", "what"},
               [&] { return MatFormulaSetParameter(A, "alhpa", 1); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"finite"}, [&] { return MatFormulaSetParameter(A, "what", HUGE_VAL); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, {"name is null"}, [&] { return MatFormulaSetParameter(A, NULL, 1); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"no field q", "k"}, [&] { return MatFormulaSetField(A, "q", k); });
  EXPECT_ERROR(PETSC_ERR_ARG_NULL, {"field k is null"}, [&] { return MatFormulaSetField(A, "k", NULL); });
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"time", "finite"}, [&] { return MatFormulaSetTime(A, HUGE_VAL); });
  Vector wrong;
  OK(VecCreateMPI(PETSC_COMM_WORLD, rank_count() == 1 ? 5 : PETSC_DECIDE, rank_count() == 1 ? 5 : 71, &wrong));
  EXPECT_ERROR(PETSC_ERR_ARG_SIZ, {"field k", "DMCreateGlobalVector"},
               [&] { return MatFormulaSetField(A, "k", wrong); });
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, {"laplace", "another Mat type"},
               [] { return shellac::MatRegisterFormula<BadName>("laplace"); });
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, {"parameter halo"},
               [] { return shellac::MatRegisterFormula<BadName>("test_bad"); });
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, {"letters"}, [] { return shellac::MatRegisterFormula<BadName>("test bad"); });
  EXPECT_ERROR(PETSC_ERR_ARG_WRONG, {"registered as test_wrong"},
               [] { return shellac::MatRegisterFormula<Wrong>("test_other"); });
  const Case pair = {"test_pair"};
  Grid       one = c.grid("test_pair"); // with one unknown
  Matrix     B;
  EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {"dof = 2"}, [&] { return DMCreateMatrix(one, &B); });
}
