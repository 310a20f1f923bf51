// Mistakes with equations: texts, grids, options, calls. After each, the DM has the equation that it had.

#include "catch.hpp"
#include "equations.hpp"
#include "misuse.hpp"

#include <cmath>
#include <cstdlib>

using namespace tests;

// A grid with a good equation, whose residual at some state is the result.
struct Bratu {
  Grid   da;
  Vector u;

  Bratu() {
    Lattice l;
    OK(make_grid(l, nullptr, &da));
    set_equation(da, "parameter(lambda, 6)\nfield(k) = 1 + x\nresidual = -d(k, u) - lambda * exp(u)");
    u = random_vector(da, 1);
  }
  PetscErrorCode residual(Vec *y) const {
    PetscFunctionBeginUser;
    Owned<SNES, SNESDestroy> snes;
    PetscCall(VecDuplicate(u, y));
    PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
    PetscCall(SNESSetDM(snes, da));
    PetscCall(SNESComputeFunction(snes, u, *y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode set(const char *text) const { return DMDASetEquation(da, text); }
  // the residual of another equation at the state u - 1, on a grid of its own
  PetscErrorCode residual_of(const char *text) const {
    PetscFunctionBeginUser;
    Lattice                  l;
    Grid                     other;
    Owned<SNES, SNESDestroy> snes;
    Vector                   v, y;
    PetscCall(make_grid(l, nullptr, &other));
    PetscCall(DMDASetEquation(other, text));
    PetscCall(DMCreateGlobalVector(other, &v));
    PetscCall(VecDuplicate(v, &y));
    PetscCall(VecSet(v, -1));
    PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
    PetscCall(SNESSetDM(snes, other));
    PetscCall(SNESComputeFunction(snes, v, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// An environment variable, while it lives.
struct Variable {
  const char *name;
  std::string before;
  Variable(const char *name, const char *value) : name(name), before(getenv(name) ? getenv(name) : "") {
    setenv(name, value, 1);
  }
  ~Variable() {
    if (before.empty())
      unsetenv(name);
    else
      setenv(name, before.c_str(), 1);
  }
};

TEST_CASE("texts that cannot be read, with their line", "[misuse]") {
  if (!equations_work()) return;
  Bratu      b;
  const auto user = PETSC_ERR_USER;
  check_mistakes(
      [&](Vec *y) { return b.residual(y); },
      {
          CALL(user, "neither|residual = ", b.set("parameter(a, 1)")),
          CALL(user, "equation:2|not closed|residual = -(u", b.set("parameter(a, 1)\nresidual = -(u(1) - u\n")),
          CALL(user, "equation:1|closes nothing", b.set("residual = u)")),
          CALL(user, "equation:2: the name u|unknown|unknowns|parameter(u, 6)",
               b.set("// a name\nparameter(u, 6)\nresidual = u")),
          CALL(user, "equation:2: a comment|/*|not closed|residual = u /* - 1",
               b.set("k = 1\nresidual = u /* - 1\n + k\n")),
          CALL(user, "equation:1|no number|six", b.set("parameter(lambda, six)\nresidual = u")),
          CALL(user, "equation:2|taken|lambda", b.set("parameter(lambda, 1)\nfield(lambda)\nresidual = u")),
          CALL(user, "equation:1|taken|laplacian", b.set("parameter(laplacian, 1)\nresidual = u")),
          CALL(user, "equation:2|true is an operator's word|another",
               b.set("// a name\nparameter(true, 1)\nresidual = u - true")),
          CALL(user, "equation:1|and is an operator's word", b.set("f(and) = u(and)\nresidual = f(1)")),
          CALL(user, "equation:1|two arguments|i", b.set("f(i, i) = u(i)\nresidual = f(1, 1)")),
          CALL(user, "equation:1|Cache|-equation_cache", b.set("parameter(Cache, 1)\nresidual = Cache * u")),
          CALL(user, "equation:1|stretch_x|-equation_stretch_x",
               b.set("parameter(stretch_x, 1)\nresidual = stretch_x * u")),
          CALL(user, "equation:2|twice|line 1", b.set("residual = u\nresidual = u")),
          CALL(user, "residual|rate|state", b.set("residual = u\nrate = u")),
          CALL(user, "equation:2|no unknown w|u, v", b.set("unknowns(u, v)\nresidual(w) = u")),
          CALL(user, "residual of v|missing", b.set("unknowns(u, v)\nresidual(u) = u")),
          CALL(user, "equation:1|no side|west|left", b.set("neumann(west) = 0\nresidual = u")),
          CALL(user, "equation:1|robin(left, alpha)", b.set("robin(left) = 0\nresidual = u")),
          CALL(user, "equation:1|solve|no statement", b.set("solve(u)\nresidual = u")),
          CALL(user, "equation:1|includes", b.set("#include <cmath>\nresidual = u")),
          CALL(user, "equation:1|domain(0, 1", b.set("domain(1, 0)\nresidual = u")),
          CALL(user, "equation:1|stretch(x, geometric, 10)", b.set("stretch(left, tanh, 1)\nresidual = u")),
          CALL(user, "equation:1|geometric|tanh", b.set("stretch(x, tan, 1)\nresidual = u")),
          CALL(user, "equation:1|strength 0", b.set("stretch(x, geometric, 0)\nresidual = u")),
          CALL(user, "equation:1|axis|w", b.set("periodic(w)\nresidual = u")),
          CALL(user, "equation:1|nothing", b.set("residual =")),
          CALL(user, "equation:2:16|number, a name|before *|u * * 2", b.set("parameter(a, 1)\nresidual = u * * 2")),
          CALL(user, "equation:2|'2*a' is no number|may change|a definition follows it, as b = 2*a",
               b.set("parameter(a, 1)\nparameter(b, 2*a)\nresidual = u - b*a")),
          CALL(user, "equation:1|'2*x' is no number", b.set("domain(0, 2*x)\nresidual = u")),
          CALL(user, "equation:2|unknown|bool|residual = u ? x", b.set("parameter(a, 1)\nresidual = u ? x : a")),
          CALL(user, "equation:1|one kind|residual = u > 0 ? u : 0", b.set("residual = u > 0 ? u : 0")),
          CALL(user, "equation:2|a(1, 0)", b.set("parameter(a, 1)\nresidual = u - a(1, 0)")),
          CALL(user, "equation:3|velocity|not declared|state parameter(velocity)",
               b.set("// an unknown name\n\nresidual = velocity * dx(u)")),
      });
}

TEST_CASE("statements of an equation that would say nothing", "[misuse]") {
  if (!equations_work()) return;
  Bratu      b;
  const auto user = PETSC_ERR_USER;
  check_mistakes(
      [&](Vec *y) { return b.residual(y); },
      {
          CALL(user, "equation:1|dirichlte|did you mean dirichlet?", b.set("dirichlte(left) = 1\nresidual = u")),
          CALL(user, "equation:1|Neumann|did you mean neumann?", b.set("Neumann(left) = 1\nresidual = u")),
          CALL(user, "equation:1|nuemann|did you mean neumann?", b.set("nuemann(left, u) = 1\nresidual = u")),
          CALL(user, "equation:1|flux|no condition|dirichlet, eliminated, identity, neumann and robin",
               b.set("flux(top) = 1\nresidual = u")),
          CALL(user, "equation:1|nothing uses inital|did you mean initial?", b.set("inital = x\nresidual = u")),
          CALL(user, "equation:2|nothing uses exat|did you mean exact?", b.set("residual = u\nexat = x")),
          CALL(user, "equation:1|strech|did you mean stretch?", b.set("strech(x, tanh, 2)\nresidual = u")),
          CALL(user, "equation:1|nothing uses residul|did you mean residual?", b.set("residul = u - 1")),
          CALL(user, "equation:2|nothing uses slope|remove it", b.set("a = 1\nslope = a + 1\nresidual = a * u")),
          CALL(user, "equation:2|left|stated twice|line 1",
               b.set("neumann(left) = 1\nidentity(left) = 2\nresidual = u")),
          CALL(user, "equation:3|left|stated twice|line 1",
               b.set("neumann(left, u) = 1\nneumann(sides) = 2\nneumann(left) = 2\nresidual = u")),
          CALL(user, "equation:2|sides|stated twice|line 1", b.set("neumann(sides)\nidentity(sides)\nresidual = u")),
      });
}

TEST_CASE("expressions of an equation that mean something else, or nothing", "[misuse]") {
  if (!equations_work()) return;
  Bratu      b;
  const auto user = PETSC_ERR_USER;
  check_mistakes(
      [&](Vec *y) { return b.residual(y); },
      {
          CALL(user, "equation:1|steps|integers|u(0.7)", b.set("residual = u(0.7)")),
          CALL(user, "equation:2|integers|k(0, 0.5)", b.set("field(k) = 1\nresidual = u * k(0, 0.5)")),
          CALL(user, "equation:2|integers|u(s)", b.set("parameter(s, 1)\nresidual = u(s) - u")),
          CALL(user, "equation:1|integers|step_x(0.5)", b.set("residual = u * step_x(0.5)")),
          CALL(user, "equation:1|equals sign|one side", b.set("residual = -laplacian(u) = 1")),
          CALL(user, "equation:2|equals sign|one side", b.set("residual = (u\n  = 1)")),
          CALL(user, "equation:1|comparison|one side", b.set("residual = -laplacian(u) == 1")),
          CALL(user, "equation:1|comparison|du/dt", b.set("rate = u == 1")),
          CALL(user, "equation:1|comma|1.5", b.set("k = 1,5\nresidual = k * u")),
          CALL(user, "equation:2|ends with +|missing|- 1 +", b.set("residual = u\n  - 1 +\n")),
          CALL(user, "equation:1:18|before *|u * * 2", b.set("residual =   u * * 2")), // the column of the line
          CALL(user, "equation:2:5|before *", b.set("residual = u -\n    * 2")),
          CALL(user, "equation:2|x > 0 ? u + 1", b.set("parameter(a, 1)\nresidual = x > 0 ? u + 1")),
          CALL(user, "equation:1|laplace|not declared|did you mean laplacian?", b.set("residual = -laplace(u) - 1")),
          CALL(user,
               "equation:2|q is not declared; state parameter(q), field(q) or q = ", b.set("residual = u\n  - q")),
          CALL(user, "equation:1|b is defined in line 2|before", b.set("a = b + 1\nb = 2\nresidual = u - a")),
          CALL(user, "equation:1|value of u on an end|depend on u|neumann(left) = -2*(u - 20)",
               b.set("dirichlet(left) = u\nresidual = u")),
          CALL(user, "equation:1|boundary's datum|u without steps", b.set("neumann(left) = u(1)\nresidual = u")),
          CALL(user, "equation:1|boundary's datum|dx|the unknown itself", b.set("neumann(left) = dx(u)\nresidual = u")),
          CALL(user, "equation:2|boundary's datum|cannot have k",
               b.set("field(k) = 1\nneumann(left) = k*u\nresidual = k*u")),
          CALL(user, "equation:2|boundary's datum|f, which reads neighbours",
               b.set("f(v) = v(1) - v(-1)\nneumann(left) = f(u)\nresidual = f(u)")),
          CALL(user, "equation:2|initial state|unknown u", b.set("residual = u\ninitial = u")),
          CALL(user, "equation:2|exact solution|s|state", b.set("s = u * u\nexact = s\nresidual = s")),
          CALL(user, "equation:1|field|hx", b.set("field(k) = hx\nresidual = k * u")),
          CALL(user, "equation:1|robin|x|parameters", b.set("robin(left, x) = 1\nresidual = u")),
      });
}

// Sides that a text does not name have the condition on `sides`, wherever that stands.
TEST_CASE("a condition on all sides, and on one", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  Grid    one, other;
  OK(make_grid(l, nullptr, &one));
  OK(make_grid(l, nullptr, &other));
  set_equation(one, "identity(left) = 2\nneumann(sides) = y\nresidual = u - laplacian(u)");
  set_equation(other, "neumann(sides) = y\nidentity(left) = 2\nresidual = u - laplacian(u)");
  Vector     u = random_vector(one, 1), f = make_vector(one), g = make_vector(one);
  const auto residual = [&](DM da, Vec y) {
    Owned<SNES, SNESDestroy> snes;
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    OK(SNESComputeFunction(snes, u, y));
  };
  residual(one, f);
  residual(other, g);
  CHECK(difference(f, g) == 0);
  set_equation(other, "neumann(sides) = y\nresidual = u - laplacian(u)");
  residual(other, g);
  CHECK(difference(f, g) > 1e-3);
}

// A step of TS from u = start; of_last: at the last rank's first point.
static PetscErrorCode rate_of(const char *text, PetscReal start, PetscReal of_last) {
  PetscFunctionBeginUser;
  Lattice              l;
  Grid                 da;
  Owned<TS, TSDestroy> ts;
  Vector               u;
  PetscScalar         *array;
  PetscCall(make_grid(l, nullptr, &da));
  PetscCall(DMDASetEquation(da, text));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecSet(u, start));
  PetscCall(VecGetArray(u, &array));
  array[0] = on_last(of_last, start);
  PetscCall(VecRestoreArray(u, &array));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(TSSetType(ts, TSRK));
  PetscCall(TSSetTimeStep(ts, 1e-3));
  PetscCall(TSSetMaxSteps(ts, 1));
  PetscCall(TSSolve(ts, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An equation on a grid of one dimension.
static PetscErrorCode residual_in_1d(const char *text) {
  PetscFunctionBeginUser;
  Lattice l;
  Grid    da;
  l.dim = 1, l.N[1] = 1;
  PetscCall(make_grid(l, nullptr, &da));
  PetscCall(DMDASetEquation(da, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// And on one of two dimensions with one point along y.
static PetscErrorCode residual_in_2d_of_one_row(const char *text) {
  PetscFunctionBeginUser;
  Lattice l;
  Grid    da;
  l.N[1] = 1;
  PetscCall(make_grid(l, nullptr, &da));
  PetscCall(DMDASetEquation(da, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST_CASE("equations that a grid does not fit, and wrong calls", "[misuse]") {
  if (!equations_work()) return;
  Bratu      b;
  Problem    p = problem(2, 4, 4);
  Vector     other = random_vector(make_grid(p), 1);
  Grid       bare = make_grid(p);
  Vector     nan = copy_of(b.u);
  Mat        A = NULL;
  PetscBool  flag;
  PetscReal  value;
  const auto out = PETSC_ERR_ARG_OUTOFRANGE, null = PETSC_ERR_ARG_NULL, size = PETSC_ERR_ARG_SIZ,
             state = PETSC_ERR_ARG_WRONGSTATE;
  OK(VecSet(nan, NAN));
  check_mistakes(
      [&](Vec *y) { return b.residual(y); },
      {
          CALL(out,
               "equation:1: u(2, 0) is beyond the DMDA's star stencil of width 1|grid(2, star, 2)|residual = u(2) - u",
               b.set("residual = u(2) - u")),
          CALL(out, "equation:2: u(1, 1) is|star stencil of width 1|grid(2, box, 1)|+ u(1, 1) - u",
               b.set("residual = u\n  + u(1, 1) - u")),
          CALL(out, "equation:1: u(0, -2) is|grid(2, star, 2)|wide(d) = u(0, d)",
               b.set("wide(d) = u(0, d)\nresidual = wide(-2) - u")),
          CALL(out, "equation:2: k(3, 0) is|grid(2, star, 3)|k(3, 0) * u",
               b.set("field(k) = 1\nresidual = k(3, 0) * u + u(1)")),
          CALL(out, "equation:1: dxy(u) reads u(|grid(2, box, 1)|dxy(u)", b.set("residual = u - dxy(u)")),
          CALL(out, "equation:1: bilaplacian(u) reads u(|grid(2, box, 2)|bilaplacian(u)",
               b.set("residual = bilaplacian(u)")),
          CALL(out, "equation:1: u(0, 0, 1) is|a grid of 2 dimensions; a step along z needs 3|residual = u(0, 0, 1)",
               b.set("residual = u(0, 0, 1)")),
          CALL(out, "equation:1|the grid has 2 dimensions; dz needs 3", b.set("residual = dz(u)")),
          CALL(out, "equation:3|the grid has 2 dimensions; dzz needs 3",
               b.set("stretch(x, tanh, 1)\nresidual = u\n  + dzz(u)")),
          CALL(out, "equation:1|2 dimensions; hz needs 3", b.set("residual = u * hz")),
          CALL(out, "equation:1|2 dimensions; z needs 3", b.set("k = 1 + z\nresidual = u * k")),
          CALL(out, "equation:1|2 dimensions; the side front needs 3", b.set("neumann(front) = 1\nresidual = u")),
          CALL(out, "equation:1|2 dimensions; stretch(z, ...) needs 3", b.set("stretch(z, tanh, 1)\nresidual = u")),
          CALL(out, "equation:1|2 dimensions; periodic(z) needs 3", b.set("periodic(z)\nresidual = u")),
          CALL(out, "equation:1|1 dimension; dy needs 2", residual_in_1d("residual = dy(u)")),
          CALL(out, "equation:1|1 dimension; upwind_y needs 2", residual_in_1d("residual = upwind_y(1, u)")),
          CALL(out, "equation:2: step_x(3) is|star stencil of width 1|grid(2, star, 4)|u * step_x(3)",
               b.set("stretch(y, tanh, 1)\nresidual = u * step_x(3)")),
          CALL(out, "equation:2: step_y(1) is|star|width 1|grid(2, star, 2)",
               b.set("stretch(x, tanh, 1)\nresidual = u * step_y(1)")),
          CALL(out, "equation:2: step_y(-2) is|star|width 1|grid(2, star, 2)",
               b.set("stretch(x, tanh, 1)\nresidual = u / step_y(-2)")),
          CALL(out, "equation:1|box|width 2|star|DMDA_STENCIL_BOX|grid(2, box, 2)",
               b.set("grid(2, box, 2)\nresidual = u")),
          CALL(size, "equation:1|2 unknowns|1 at a point|dof 2|unknowns(u, v)",
               b.set("unknowns(u, v)\nresidual(u) = v\nresidual(v) = u")),
          CALL(size, "equation:1|3 dimensions|2|grid(3)", b.set("grid(3)\nresidual = u")),
          CALL(size, "equation:2|6 numbers|2 dimensions needs 4|domain(0, 1, 0, 1, 0, 1)",
               b.set("parameter(a, 1)\ndomain(0, 1, 0, 1, 0, 1)\nresidual = a * u")),
          CALL(PETSC_ERR_ARG_WRONG, "periodic|x|DM_BOUNDARY_PERIODIC", b.set("periodic(x)\nresidual = u")),
          CALL(size, "one point along y|both ends|identity",
               residual_in_2d_of_one_row("identity(sides) = 0\nresidual = u")),
          CALL(state, "rate|residual|own", b.set("rate = u")),
          CALL(PETSC_ERR_ORDER, "equation:1|lambda|no value|-equation_lambda",
               b.residual_of("parameter(lambda)\nresidual = u - lambda")),
          CALL(PETSC_ERR_ORDER, "equation:1|field k|no values|DMDAEquationSetField",
               b.residual_of("field(k)\nresidual = k * u")),
          CALL(PETSC_ERR_FP, "equation:2|nan|(0, 0, 0)|u = -1", b.residual_of("// negative\nresidual = log(u)")),
          CALL(PETSC_ERR_FP, "equation:2|nan|k = -1", b.residual_of("field(k) = -1\nresidual = sqrt(k) * u")),
          CALL(state, "exact solution|formula", b.set("field(k)\nexact = x\nresidual = k * u")),
          CALL(null, "null", b.set(NULL)),
          CALL(null, "null", DMDASetEquation(NULL, "residual = u")),
          CALL(PETSC_ERR_FILE_OPEN, "missing.h|cannot be read", DMDASetEquationFromFile(b.da, "missing.h")),
          CALL(state, "-equation", DMDASetEquationFromOptions(b.da)),
          CALL(out, "sigma|lambda", DMDAEquationSetParameter(b.da, "sigma", 1)),
          CALL(out, "lamda|did you mean lambda?", DMDAEquationSetParameter(b.da, "lamda", 1)),
          CALL(out, "field k|not finite", DMDAEquationSetField(b.da, "k", nan)),
          CALL(PETSC_ERR_FP, "equation:1|rate of u is nan|(0, 0, 0)|u = -1", rate_of("rate = log(u)", -1, -1)),
          CALL(PETSC_ERR_FP,
               "equation:2|state of u is nan|initial state|initial = ", rate_of("rate = u\ninitial = 0", NAN, NAN)),
          CALL(PETSC_ERR_FP, "state of u is nan", rate_of("rate = laplacian(u)", 1, NAN)), // neighbours' rates, too
          CALL(out, "nan|finite", DMDAEquationSetParameter(b.da, "lambda", NAN)),
          CALL(out, "nan|finite", DMDAEquationSetParameter(b.da, "lambda", on_last<PetscReal>(NAN, 6))),
          CALL(out, "sigma|lambda", DMDAEquationGetParameter(b.da, "sigma", &value)),
          CALL(out, "c|k", DMDAEquationSetField(b.da, "c", b.u)),
          CALL(null, "null", DMDAEquationSetField(b.da, "k", NULL)),
          CALL(size, "field of the equation|DMCreateGlobalVector", DMDAEquationSetField(b.da, "k", other)),
          CALL(out, "inf|finite", DMDAEquationSetTime(b.da, INFINITY)),
          CALL(state, "not linear|SNES", DMDACreateEquationMat(b.da, &A)),
          CALL(state, "no exact|exact = ", DMDAEquationComputeExact(b.da, 0, b.u)),
          CALL(size, "vector|DMCreateGlobalVector", DMDAEquationComputeInitial(b.da, other)),
          CALL(state, "DMDASetEquation", DMDAEquationGetLinear(bare, &flag)),
          CALL(state, "DMDASetEquation", DMDAEquationGetTime(bare, NULL)),
          CALL(null, "null", DMDAEquationGetTime(b.da, NULL)),
          CALL(state, "DMDASetEquation", DMDAEquationGetNames(bare, NULL, NULL)),
      });
}

// Exactly one error on all ranks; none waits for another.
TEST_CASE("arguments of equations that are wrong or other on one rank alone", "[misuse]") {
  if (!equations_work() || rank_count() == 1) return;
  Bratu             b;
  const auto        null = PETSC_ERR_ARG_NULL, other = PETSC_ERR_ARG_INCOMP, out = PETSC_ERR_ARG_OUTOFRANGE;
  DM                made = NULL;
  Mat               A = NULL;
  static const char text[] = "residual = -laplacian(u) - 1";
  static const PetscInt few[] = {5}, many[] = {9}, none[] = {0};
  check_mistakes(
      [&](Vec *y) { return b.residual(y); },
      {
          CALL(null, "text is null|on rank", b.set(on_last<const char *>(NULL, text))),
          CALL(other, "text differs|give all ranks the same", b.set(on_last("residual = u - 1", "residual = u - 2"))),
          CALL(null, "file is null|on rank", DMDASetEquationFromFile(b.da, on_last<const char *>(NULL, "missing.h"))),
          CALL(null, "file is null|on rank",
               DMDACreateFromEquationFile(PETSC_COMM_WORLD, on_last<const char *>(NULL, "missing.h"), &made)),
          CALL(null, "DMDA is null|on rank",
               DMDACreateFromEquationFile(PETSC_COMM_WORLD, "missing.h", on_last<DM *>(NULL, &made))),
          CALL(null, "text is null|on rank",
               DMDACreateFromEquation(PETSC_COMM_WORLD, on_last<const char *>(NULL, text), 0, NULL, &made)),
          CALL(other, "sizes differs|the same",
               DMDACreateFromEquation(PETSC_COMM_WORLD, text, 1, on_last(few, many), &made)),
          CALL(out, "0 points are given along axis 0|1 or more",
               DMDACreateFromEquation(PETSC_COMM_WORLD, text, 1, on_last(none, many), &made)),
          CALL(out, "4 sizes are given|1 to 3 axes",
               DMDACreateFromEquation(PETSC_COMM_WORLD, text, on_last<PetscInt>(4, 1), many, &made)),
          CALL(other, "the parameter lambda is 5 on one rank and 7 on another|the same",
               DMDAEquationSetParameter(b.da, "lambda", on_last<PetscReal>(5, 7))),
          CALL(out, "no parameter 'sigma'|on rank", DMDAEquationSetParameter(b.da, on_last("sigma", "lambda"), 6)),
          CALL(out, "no parameter ''", DMDAEquationSetParameter(b.da, on_last<const char *>(NULL, "lambda"), 6)),
          CALL(null, "field k is null|on rank", DMDAEquationSetField(b.da, "k", on_last<Vec>(NULL, b.u))),
          CALL(out, "no field 'c'|on rank", DMDAEquationSetField(b.da, on_last("c", "k"), b.u)),
          CALL(other, "the time is 1 on one rank and 2 on another",
               DMDAEquationSetTime(b.da, on_last<PetscReal>(1, 2))),
          CALL(null, "vector is null|on rank", DMDAEquationComputeInitial(b.da, on_last<Vec>(NULL, b.u))),
          CALL(null, "vector is null|on rank", DMDAEquationComputeExact(b.da, 0, on_last<Vec>(NULL, b.u))),
          CALL(null, "matrix is null|on rank", DMDACreateEquationMat(b.da, on_last<Mat *>(NULL, &A))),
      });
  const auto work = [&](Vec *y) { return b.residual(y); };
  const auto again = [&] { return b.set("parameter(lambda, 6)\nresidual = u - lambda"); };
  const struct {
    const char *of_last, *of_others, *words;
  } options[] = {
      {"-equation_lambda 5", "-equation_lambda 7", "on rank 0 -equation_lambda 7|-equation_lambda 5|the same"},
      {"-equation_lambda 5", "", "on rank 0 none|-equation_lambda 5|the same"},
      {"-equation_lambda five", "-equation_lambda 5", "-equation_lambda five|the same"},
      {"-equation_domain 0,1,0", "-equation_domain 0,1,0,1", "-equation_domain 0,1,0,1|-equation_domain 0,1,0;"},
      {"-equation_stretch_x tanh,2", "-equation_stretch_x tanh,1", "-equation_stretch_x tanh,1|tanh,2"},
  };
  for (const auto &o : options) {
    Options set(on_last(o.of_last, o.of_others));
    check_mistakes(work, {CALL(other, o.words, again())});
  }
}

TEST_CASE("options of equations, a compiler that is missing and a cache that cannot be written", "[misuse]") {
  if (!equations_work()) return;
  Bratu             b;
  const auto        work = [&](Vec *y) { return b.residual(y); };
  const auto        again = [&] { return b.set("parameter(lambda, 6)\nresidual = u - lambda"); };
  static const char fresh[] = "residual = u - 12345.25 * x"; // in no cache
  const auto        out = PETSC_ERR_ARG_OUTOFRANGE;
  {
    Options domain("-equation_domain 0,1,0");
    check_mistakes(work, {CALL(out, "-equation_domain|3|lower", again())});
  }
  {
    Options domain("-equation_domain 0,1");
    check_mistakes(work, {CALL(PETSC_ERR_ARG_SIZ, "-equation_domain|2 numbers|2 dimensions|4", again())});
  }
  {
    Options domain("-equation_domain 0,1,0,1,0,2");
    check_mistakes(
        work, {CALL(PETSC_ERR_ARG_SIZ, "-equation_domain 0,1,0,1,0,2|6 numbers|3 dimensions|has 2|first 4", again())});
  }
  {
    Options stretch("-equation_stretch_z tanh,2");
    check_mistakes(work, {CALL(out, "-equation_stretch_z tanh,2|3 dimensions|has 2|remove it", again())});
    check_mistakes(work, {CALL(out, "-equation_stretch_z tanh,2|3 dimensions|has 1", residual_in_1d("residual = u"))});
  }
  {
    Options parameter("-equation_lambda nan");
    check_mistakes(work, {CALL(out, "nan", again())}); // an error of PETSc's from 3.26 on
  }
  {
    Options parameter("-equation_lamda 3");
    check_mistakes(work, {CALL(PETSC_ERR_USER, "-equation_lamda|did you mean -equation_lambda?|prefix", again())});
  }
  {
    Options parameter("-equation_k 3");
    check_mistakes(work, {CALL(PETSC_ERR_FILE_OPEN, "-equation_k 3|cannot be read|binary",
                               b.set("parameter(lambda, 6)\nfield(k) = 1\nresidual = k*u - lambda"))});
  }
  {
    Options parameter("-equation_k 3");
    check_mistakes(work, {CALL(PETSC_ERR_USER, "two parameters or fields|-equation_k|rename",
                               b.set("parameter(K, 6)\nparameter(k, 1)\nresidual = k*u - K"))});
  }
  {
    Options parameter("-Equation_lamda 3"); // PETSc ignores case
    check_mistakes(work, {CALL(PETSC_ERR_USER, "-Equation_lamda|did you mean -equation_lambda?|prefix", again())});
  }
  {
    PetscReal lambda;
    Options   parameter("-EQUATION_Lambda 5");
    OK(again());
    OK(DMDAEquationGetParameter(b.da, "lambda", &lambda));
    CHECK(lambda == 5);
    OK(b.set("parameter(lambda, 6)\nfield(k) = 1 + x\nresidual = -d(k, u) - lambda * exp(u)"));
  }
  {
    Options parameter("-own_equation_lamda 3");
    OK(DMSetOptionsPrefix(b.da, "Own_"));
    check_mistakes(work, {CALL(PETSC_ERR_USER, "-equation_lamda|did you mean -equation_lambda?|prefix", again())});
    OK(DMSetOptionsPrefix(b.da, NULL));
  }
  {
    Options parameter("-other_equation_lamda 3"); // of another prefix
    OK(again());
    OK(b.set("parameter(lambda, 6)\nfield(k) = 1 + x\nresidual = -d(k, u) - lambda * exp(u)"));
  }
  {
    Options cache("-equation_cache /proc/nowhere");
    check_mistakes(work, {CALL(PETSC_ERR_USER, "/proc/nowhere|-equation_cache|SHELLAC_CACHE", b.set(fresh))});
  }
  {
    Variable compiler("SHELLAC_CXX", "no-such-compiler");
    check_mistakes(work, {CALL(PETSC_ERR_USER, "no-such-compiler|SHELLAC_CXX", b.set(fresh))});
  }
  {
    Variable compiler("SHELLAC_CXX", "false");
    check_mistakes(work, {CALL(PETSC_ERR_USER, "false|fails|SHELLAC_CXX", b.set(fresh))});
  }
}
