// Red-black sweeps beside a plain implementation on the whole grid, which each rank does for itself.

#include "catch.hpp"
#include "support.hpp"

using namespace tests;

using Values = std::vector<PetscScalar>; // on the whole grid

static size_t place(const Problem &p, const PetscInt at[3]) {
  size_t n = 0;
  for (int a = 2; a >= 0; a--) n = n * (size_t)p.N[a] + (size_t)((at[a] + p.N[a]) % p.N[a]);
  return n;
}

template <class Function> static void for_each_point(const Problem &p, const Function &f) {
  PetscInt at[3];
  for (at[2] = 0; at[2] < p.N[2]; at[2]++)
    for (at[1] = 0; at[1] < p.N[1]; at[1]++)
      for (at[0] = 0; at[0] < p.N[0]; at[0]++) f((const PetscInt *)at);
}

// Points of one colour are all relaxed from the values before, also where an odd periodic axis makes two neighbours.
static void relax(const Problem &p, int colour, PetscReal omega, PetscScalar shift, const Values &d, const Values &b,
                  Values *x) {
  Values next = *x;
  for_each_point(p, [&](const PetscInt at[3]) {
    if ((at[0] + at[1] + at[2]) % 2 != colour) return;
    const size_t       n = place(p, at);
    const ReferenceRow row = reference_row(p, at);
    PetscScalar        Ax = (d[n] + shift) * (*x)[n];
    for (int e = 0; e < row.count; e++) Ax += row.value[e] * (*x)[place(p, row.point[e])];
    next[n] += omega * (b[n] - Ax) / (row.value[0] + d[n] + shift);
  });
  *x = next;
}

static Values random_values(const Problem &p, int seed) {
  Values values((size_t)p.N[0] * (size_t)p.N[1] * (size_t)p.N[2]);
  for (size_t n = 0; n < values.size(); n++) values[n] = random_value(n, seed);
  return values;
}

static Vector to_vector(const Problem &p, DM da, const Values &values) {
  Vector v = make_vector(da);
  set_values(da, v, [&](const PetscInt at[3]) { return values[place(p, at)]; });
  return v;
}

struct Sweep {
  const char *name;
  int         type;
  PetscReal   omega, shift;
  PetscInt    its, lits;
};

static const Sweep sweeps[] = {
    {"forward", SOR_FORWARD_SWEEP, 1, 0, 1, 1},
    {"backward", SOR_BACKWARD_SWEEP, 1, 0, 1, 1},
    {"symmetric", SOR_SYMMETRIC_SWEEP, 1, 0, 1, 1},
    {"local forward", SOR_LOCAL_FORWARD_SWEEP, 1.3, 0, 1, 1},
    {"local symmetric, twice, overrelaxed", SOR_LOCAL_SYMMETRIC_SWEEP, 1.3, 0, 2, 1},
    {"local backward, two local sweeps", SOR_LOCAL_BACKWARD_SWEEP, 0.9, 0, 1, 2},
    {"forward, shifted", SOR_FORWARD_SWEEP, 1, 20, 2, 1},
    {"forward from zero", SOR_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS, 1, 0, 1, 1},
    {"backward from zero, twice", SOR_BACKWARD_SWEEP | SOR_ZERO_INITIAL_GUESS, 0.9, 0, 2, 1},
    {"symmetric from zero", SOR_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS, 1.3, 0, 1, 1},
};

static void check_sweeps(const Problem &p, DM da, bool with_diagonal) {
  INFO(describe(p) << (with_diagonal ? ", with a diagonal" : ""));
  Matrix A = make_operator(p, da);
  Values b = random_values(p, 1), d(b.size(), 0);
  if (with_diagonal) {
    for (size_t n = 0; n < d.size(); n++) d[n] = PetscAbsScalar(random_value(n, 7)) * 100;
    Vector added = to_vector(p, da, d);
    OK(MatDiagonalSet(A, added, ADD_VALUES));
  }
  Vector rhs = to_vector(p, da, b);
  for (const Sweep &sweep : sweeps) {
    INFO(sweep.name);
    Values x = random_values(p, 2);
    Vector ours = to_vector(p, da, x);
    if (sweep.type & SOR_ZERO_INITIAL_GUESS) x.assign(x.size(), 0);
    for (PetscInt s = 0; s < sweep.its * sweep.lits; s++) {
      if (sweep.type & (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP))
        for (int colour : {0, 1}) relax(p, colour, sweep.omega, sweep.shift, d, b, &x);
      if (sweep.type & (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP))
        for (int colour : {1, 0}) relax(p, colour, sweep.omega, sweep.shift, d, b, &x);
    }
    OK(MatSOR(A, rhs, sweep.omega, (MatSORType)sweep.type, sweep.shift, sweep.its, sweep.lits, ours));
    Vector plain = to_vector(p, da, x);
    CHECK(difference(ours, plain) <= 10 * exact);
  }
}

TEST_CASE("red-black sweeps are those of a plain implementation on any number of ranks", "[relaxation]") {
  for (const std::vector<PetscInt> &size :
       std::vector<std::vector<PetscInt>>{{9}, {8}, {7, 6}, {5, 9}, {2, 5}, {1, 8}, {5, 4, 3}, {2, 3, 4}}) {
    const int      dim = (int)size.size();
    const PetscInt N[3] = {size[0], dim > 1 ? size[1] : 1, dim > 2 ? size[2] : 1};
    for_each_problem(dim, N, [&](Problem p, DM da) {
      p.sigma = 1;
      check_sweeps(p, da, false);
      check_sweeps(p, da, true);
    });
  }
}

TEST_CASE("sweeps reduce the residual", "[relaxation]") {
  for (int dim = 1; dim <= 3; dim++) {
    const PetscInt N[3] = {8, 7, 6};
    for_each_problem(dim, N, [&](Problem p, DM da) {
      p.sigma = 10;
      INFO(describe(p));
      Matrix    A = make_operator(p, da);
      Vector    b = random_vector(da, 1), x = make_vector(da), r = make_vector(da);
      PetscReal before, after;
      OK(VecSet(x, 0));
      OK(VecNorm(b, NORM_2, &before));
      OK(MatSOR(A, b, 1, SOR_SYMMETRIC_SWEEP, 0, 20, 1, x));
      OK(MatResidual(A, b, x, r));
      OK(VecNorm(r, NORM_2, &after));
      CHECK(after < before / 2);
    });
  }
}
