// Exact solves of boxes of 9 and 27 points by stencilfft, beside matrices assembled without the library.

#include <limits>

#include "boundaries.hpp"
#include "catch.hpp"
#include "multigrid.hpp"

using namespace tests;

namespace {

// How rows continue beyond an end: with this factor, about a point so many half spacings beyond the last one.
struct BoxEnd {
  const char *name;
  PetscReal   factor;
  int         twice;
  bool        periodic, identity;
};
const BoxEnd ends_of_boxes[] = {{"zero", 0, 2, false, false},      {"half zero", -1, 1, false, false},
                                {"half free", 1, 1, false, false}, {"free", 1, 0, false, false},
                                {"periodic", 0, 0, true, false},   {"identity", 0, 2, false, true}};

struct BoxCase {
  int         dim = 2;
  PetscInt    N[3] = {1, 1, 1};
  BoxEnd      end[3][2];
  PetscScalar entry[8]; // by the axes along which points differ: bit a is the axis a
  bool        halved = false;

  Lattice lattice() const {
    Lattice l;
    l.dim = dim;
    l.shape = DMDA_STENCIL_BOX;
    for (int a = 0; a < 3; a++) {
      l.N[a] = a < dim ? N[a] : 1;
      l.ends[a] = a < dim && end[a][0].periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    }
    return l;
  }
  bool fixed(int a, PetscInt i) const { return a < dim && end[a][0].identity && (i == 0 || i == N[a] - 1); }
  // Every entry of the unbounded row goes to where its point is folded.
  Fill fill() const {
    return [*this](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      PetscReal weight = 1;
      *block = 0;
      for (int a = 0; a < dim; a++)
        if (fixed(a, p[a])) {
          *block = arm[0] || arm[1] || arm[2] ? 0 : 3;
          return;
        }
      for (int a = 0; a < dim && halved; a++)
        for (int side = 0; side < 2; side++)
          if (!end[a][side].periodic && !end[a][side].identity && end[a][side].twice == 0 &&
              p[a] == (side ? N[a] - 1 : 0))
            weight /= 2;
      for (int s = 0; s < (dim == 3 ? 27 : 9); s++) {
        const PetscInt step[3] = {s % 3 - 1, s / 3 % 3 - 1, s / 9 - (dim == 3)};
        PetscScalar    value = weight * entry[(step[0] != 0) + 2 * (step[1] != 0) + 4 * (step[2] != 0)];
        bool           lands = true;
        for (int a = 0; a < dim; a++) {
          PetscInt      to = p[a] + step[a];
          const int     side = to < 0 ? 0 : 1;
          const BoxEnd &beyond = end[a][side];
          if (!beyond.periodic && (to < 0 || to >= N[a])) {
            value *= beyond.factor;
            to = side ? 2 * (N[a] - 1) + beyond.twice - to : -beyond.twice - to;
          }
          lands = lands && to - p[a] == arm[a];
        }
        if (lands) *block += value;
      }
    };
  }
  bool singular() const { // whether constants are in the null space
    PetscScalar sum = 0;
    PetscReal   size = 0;
    for (int axes = 0; axes < (1 << dim); axes++) {
      int sides = 1;
      for (int a = 0; a < dim; a++) sides *= axes >> a & 1 ? 2 : 1;
      sum += (PetscReal)sides * entry[axes];
      size += PetscAbsScalar(entry[axes]);
    }
    bool is = PetscAbsScalar(sum) <= 1e-12 * size;
    for (int a = 0; a < dim; a++)
      for (int side = 0; side < 2; side++) is = is && (end[a][side].periodic || end[a][side].factor > 0);
    return is;
  }
  std::string text() const {
    std::string text;
    for (int a = 0; a < dim; a++) text += std::to_string(N[a]) + " " + end[a][0].name + " to " + end[a][1].name + "; ";
    return text + (halved ? "halved, " : "") + "on " + std::to_string(rank_count()) + " ranks";
  }
};

void check(const BoxCase &c) {
  INFO(c.text());
  Grid da;
  if (!try_make_grid(c.lattice(), &da)) return;
  Matrix         aij = assembled(da, c.fill()), A = captured(da, c.fill());
  Vector         u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
  Preconditioner pc = make_pc(A, "", PCSTENCILFFT);
  OK(MatMult(aij, u, b));
  OK(PCApply(pc, b, x));
  CHECK(backward_error(aij, b, x) <= 100 * PETSC_MACHINE_EPSILON);
  OK(PCStencilFFTSetPrecision(pc, PC_STENCILFFT_SINGLE));
  OK(PCApply(pc, b, x));
  CHECK(backward_error(aij, b, x) <= 100 * std::numeric_limits<float>::epsilon());
  OK(PCStencilFFTSetPrecision(pc, PC_STENCILFFT_DOUBLE));
  OK(MatMultTranspose(aij, u, b));
  OK(PCApplyTranspose(pc, b, x));
  OK(MatMultTranspose(aij, x, u)); // a singular matrix has other solutions
  CHECK(difference(u, b) <= 1e-10);
}

// Products of axes' stiffness and mass: linear elements, and the compact Laplacian of fourth order.
void set_elements(BoxCase *c, PetscReal mass, PetscReal sigma) {
  const PetscReal K[2] = {2, -1}, M[2] = {1 - 2 * mass, mass};
  for (int axes = 0; axes < 8; axes++) {
    c->entry[axes] = 0;
    PetscReal all = 1;
    for (int a = 0; a < c->dim; a++) {
      PetscReal value = K[axes >> a & 1];
      for (int b = 0; b < c->dim; b++) value *= b == a ? 1 : M[axes >> b & 1];
      c->entry[axes] += value;
      all *= M[axes >> a & 1];
    }
    c->entry[axes] += sigma * all;
    if (axes >> c->dim) c->entry[axes] = 0;
  }
}

} // namespace

TEST_CASE("stencilfft inverts boxes with all ends", "[direct_boxes]") {
  int combination = 0;
  for (int dim = 2; dim <= 3; dim++)
    for (int first = 0; first < 36; first++)
      for (int kind = 0; kind < 5; kind++, combination++) {
        if (!in_turn(combination)) continue;
        BoxCase c;
        c.dim = dim;
        const PetscInt sizes[] = {7, 8, 5, 12, 6, 9};
        for (int a = 0; a < dim; a++) {
          const int number = (first * (1 + 4 * a) + 7 * a + 5 * kind) % 36;
          c.N[a] = sizes[(combination + 2 * a) % 6];
          for (int side = 0; side < 2; side++) c.end[a][side] = ends_of_boxes[side ? number / 6 : number % 6];
          for (bool BoxEnd::*both : {&BoxEnd::periodic, &BoxEnd::identity})
            if (c.end[a][0].*both != c.end[a][1].*both) c.end[a][1] = c.end[a][0];
        }
        c.halved = combination % 2;
        set_elements(&c, kind % 2 ? PetscReal(1) / 6 : PetscReal(1) / 12, kind == 2 ? 0.3 : kind == 3 ? -1.234 : 0);
        if (kind == 4)
          for (int axes = 0; axes < 1 << dim; axes++)
            c.entry[axes] =
                axes == 0 ? PetscScalar(1) : random_value((size_t)(axes + 8 * combination), 1) / PetscReal(3 << dim);
        check(c);
      }
}

TEST_CASE("stencilfft inverts boxes on longer axes", "[direct_boxes]") {
  for (int kind = 0; kind < 4; kind++) {
    BoxCase c;
    c.N[0] = 61, c.N[1] = 47;
    for (int a = 0; a < 2; a++)
      for (int side = 0; side < 2; side++) c.end[a][side] = ends_of_boxes[kind];
    c.halved = kind == 3;
    for (PetscReal sigma : {0., -0.37}) {
      set_elements(&c, PetscReal(1) / 6, sigma);
      check(c);
    }
  }
}

TEST_CASE("stencilfft projects the null space of singular boxes", "[direct_boxes]") {
  for (int dim = 2; dim <= 3; dim++)
    for (int kind : {2, 3, 4})
      for (bool halved : {false, true}) {
        BoxCase c;
        c.dim = dim;
        c.halved = halved;
        for (int a = 0; a < dim; a++) {
          c.N[a] = 8 - a;
          for (int side = 0; side < 2; side++) c.end[a][side] = ends_of_boxes[kind];
        }
        set_elements(&c, PetscReal(1) / 6, 0);
        INFO(c.text());
        REQUIRE(c.singular());
        Grid da;
        if (!try_make_grid(c.lattice(), &da)) continue;
        Matrix         aij = assembled(da, c.fill()), A = captured(da, c.fill());
        Vector         u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
        Preconditioner pc = make_pc(A, "", PCSTENCILFFT);
        PetscReal      low, high;
        OK(MatMult(aij, u, b));
        OK(PCApply(pc, b, x));
        CHECK(backward_error(aij, b, x) <= 100 * PETSC_MACHINE_EPSILON);
        OK(VecAXPY(u, -1, x));
        OK(VecRealPart(u));
        OK(VecMin(u, NULL, &low));
        OK(VecMax(u, NULL, &high));
        CHECK(high - low <= 1e-11);
      }
}

TEST_CASE("stencilfft projects null spaces of boxes that are larger than constants", "[direct_boxes]") {
  BoxCase c;
  c.N[0] = 12, c.N[1] = 8;
  for (int kind : {2, 3, 4})
    for (bool corners : {false, true}) { // alone: constants on the points of each colour; or the product of two axes
      for (int a = 0; a < 2; a++)
        for (int side = 0; side < 2; side++) c.end[a][side] = ends_of_boxes[kind];
      c.entry[0] = 4, c.entry[1] = c.entry[2] = corners ? 0 : -2, c.entry[3] = corners ? -1 : 1;
      check(c);
    }
  const PetscReal sine = PetscSinReal(PETSC_PI / 12), value = 4 * sine * sine;
  c.N[1] = 12;
  c.entry[0] = 4 - value * value, c.entry[1] = c.entry[2] = -2, c.entry[3] = 1;
  Grid da;
  if (!try_make_grid(c.lattice(), &da)) return;
  Matrix A = captured(da, c.fill());
  EXPECT_ERROR(PETSC_ERR_MAT_LU_ZRPVT, ({"cancels an eigenvalue"}), set_up_of(A, PCSTENCILFFT));
}

TEST_CASE("stencilfft inverts laplace and helmholtz of shape box, or says why not", "[direct_boxes]") {
  const PetscInt N[3] = {9, 8, 7};
  int            served = 0;
  for (int dim = 2; dim <= 3; dim++)
    for_each_problem(dim, N, [&](const Problem &p, DM) {
      Domain d;
      d.dim = dim;
      d.shape = MAT_LAPLACE_BOX;
      d.sigma = 7;
      for (int a = 0; a < dim; a++) {
        d.N[a] = N[a];
        d.ends[a] = p.ends[a] == DM_BOUNDARY_PERIODIC ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
        for (int side = 0; side < 2; side++) d.forms[a][side] = p.boundary;
      }
      Grid   da;
      Matrix A;
      if (!boundaries::make(d, da, A)) return;
      INFO(boundaries::describe(d));
      Matrix         aij;
      Vector         u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
      Preconditioner pc;
      OK(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
      OK(PCCreate(PETSC_COMM_WORLD, &pc));
      OK(PCSetOperators(pc, A, A));
      OK(PCSetType(pc, PCSTENCILFFT));
      const std::string refused = error_problem(PETSC_ERR_SUP, {"is a box"}, [&]() { return PCSetUp(pc); });
      if (refused.empty()) return;
      served++;
      OK(MatMult(aij, u, b));
      OK(PCApply(pc, b, x));
      CHECK(backward_error(aij, b, x) <= 100 * PETSC_MACHINE_EPSILON);
    });
  CHECK(served >= (sanitized ? 3 : 10));
}

TEST_CASE("stencilfft inverts rows of any entries on wholly periodic grids", "[direct_boxes]") {
  int combination = 0;
  for (int dim = 1; dim <= 3; dim++)
    for (const Point &N : {Point{8, 7, 5}, Point{6, 3, 9}, Point{13, 12, 1}})
      for (bool star : {false, true})
        for (int kind = 0; kind < 3; kind++) { // regular, of smaller diagonal entry, singular
          Lattice l = lattice({N[0], dim > 1 ? N[1] : 1, dim > 2 ? N[2] : 1});
          l.dim = dim;
          l.shape = star ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX;
          for (int a = 0; a < dim; a++) l.ends[a] = DM_BOUNDARY_PERIODIC;
          combination++;
          PetscScalar entry[27], sum = 0;
          for (int e = 0; e < 27; e++) {
            const int  steps = (e % 3 != 1) + (e / 3 % 3 != 1) + (e / 9 != 1);
            const bool is = (dim > 1 || e / 3 == 4) && (dim > 2 || e / 9 == 1) && (!star || steps < 2);
            entry[e] = is && steps ? random_value((size_t)(e + 27 * combination), 1) : 0;
            sum += entry[e];
          }
          entry[13] = kind == 0 ? PetscScalar(8) : kind == 1 ? PetscScalar(0.3) : -sum;
          const Fill fill = [=](const PetscInt[3], const PetscInt arm[3], PetscScalar *block) {
            *block = 0;
            for (int e = 0; e < 27; e++) { // several entries may be of one point
              const PetscInt step[3] = {e % 3 - 1, e / 3 % 3 - 1, e / 9 - 1};
              bool           is = true;
              for (int a = 0; a < 3; a++) is = is && step[a] == arm[a];
              if (is) *block += entry[e];
            }
          };
          Grid da;
          if (!try_make_grid(l, &da)) continue;
          INFO(dim << "-D, " << (star ? "star, " : "box, ") << kind << ", " << N[0] << ", on " << rank_count()
                   << " ranks");
          Matrix         aij = assembled(da, fill), A = captured(da, fill);
          Vector         u = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
          Preconditioner pc = make_pc(A, "", PCSTENCILFFT);
          OK(MatMult(aij, u, b));
          OK(PCApply(pc, b, x));
          CHECK(backward_error(aij, b, x) <= 100 * PETSC_MACHINE_EPSILON);
          OK(MatMultTranspose(aij, u, b));
          OK(PCApplyTranspose(pc, b, x));
          OK(MatMultTranspose(aij, x, u));
          CHECK(difference(u, b) <= 1e-10);
          OK(PCStencilFFTSetPrecision(pc, PC_STENCILFFT_SINGLE));
          OK(MatMult(aij, u, b));
          OK(PCApply(pc, b, x));
          CHECK(backward_error(aij, b, x) <= 100 * std::numeric_limits<float>::epsilon());
        }
}

TEST_CASE("stencilfft refuses boxes that it cannot invert, and says why", "[direct_boxes][errors]") {
  BoxCase c;
  c.N[0] = 20, c.N[1] = 21;
  for (int a = 0; a < 2; a++)
    for (int side = 0; side < 2; side++) c.end[a][side] = ends_of_boxes[0];
  set_elements(&c, PetscReal(1) / 12, 0);
  const Fill fill = c.fill();
  const auto refused = [&](const char                                                             *why,
                           const std::function<PetscScalar(const PetscInt[3], const PetscInt[3])> &factor) {
    Grid da;
    REQUIRE(try_make_grid(c.lattice(), &da));
    Matrix A = captured(da, [&](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
      fill(p, arm, block);
      *block *= factor(p, arm);
    });
    EXPECT_ERROR(PETSC_ERR_SUP, ({"stencilfft", why, "use -pc_type stencilmg"}), set_up_of(A, PCSTENCILFFT));
  };
  refused("one side of an axis",
          [](const PetscInt[3], const PetscInt arm[3]) { return arm[0] > 0 && arm[1] ? 1.1 : 1; });
  refused("at the ends", [](const PetscInt p[3], const PetscInt arm[3]) { // another form of end
    return p[0] == 0 && !arm[0] && !arm[1] ? 1.3 : 1;
  });
  refused("at the ends", [](const PetscInt p[3], const PetscInt arm[3]) { // in a corner of the domain alone
    return p[0] == 0 && p[1] == 20 && !arm[0] && !arm[1] ? 1.3 : 1;
  });
  refused("differ from point to point", [](const PetscInt p[3], const PetscInt arm[3]) {
    return p[0] == 4 && p[1] == 5 && !arm[0] && !arm[1] ? 1.3 : 1;
  });
  refused("identity rows at one end",
          [](const PetscInt p[3], const PetscInt arm[3]) { return p[0] == 0 && (arm[0] || arm[1]) ? 0 : 1; });
}

TEST_CASE("a box that is a preconditioner's matrix is named in the view", "[direct_boxes]") {
  BoxCase c;
  c.N[0] = 20, c.N[1] = 21;
  for (int a = 0; a < 2; a++)
    for (int side = 0; side < 2; side++) c.end[a][side] = ends_of_boxes[a ? 5 : 0];
  set_elements(&c, PetscReal(1) / 12, 0);
  Grid da;
  REQUIRE(try_make_grid(c.lattice(), &da));
  Matrix            A = captured(da, c.fill());
  Preconditioner    pc = make_pc(A, "", PCSTENCIL);
  const std::string text = printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
  INFO(text);
  CHECK(everywhere(text.find("stencilfft, an inverse") != std::string::npos));
  CHECK(everywhere(text.find("rows are alike") != std::string::npos));
  CHECK(everywhere(text.find("identity rows are solved first") != std::string::npos));
}
