// stencilmg where a point has several unknowns: rows of coarse levels beside dense algebra, iterations beside PCMG's,
// solutions.

#include "catch.hpp"

#include "multigrid/systems/hierarchy.hpp"
#include "systems.hpp"

using namespace tests;

namespace {

using Dense = std::vector<std::vector<PetscScalar>>; // [row][column]

Dense zeros(size_t rows, size_t columns) {
  return Dense(rows, std::vector<PetscScalar>(columns, 0));
}

Dense product(const Dense &A, const Dense &B) {
  Dense C = zeros(A.size(), B[0].size());
  for (size_t i = 0; i < A.size(); i++)
    for (size_t k = 0; k < B.size(); k++)
      if (A[i][k] != (PetscScalar)0)
        for (size_t j = 0; j < B[0].size(); j++) C[i][j] += A[i][k] * B[k][j];
  return C;
}

Dense transpose(const Dense &A) {
  Dense B = zeros(A[0].size(), A.size());
  for (size_t i = 0; i < A.size(); i++)
    for (size_t j = 0; j < A[0].size(); j++) B[j][i] = A[i][j];
  return B;
}

PetscReal largest_difference(const Dense &A, const Dense &B) {
  PetscReal most = 0;
  for (size_t i = 0; i < A.size(); i++)
    for (size_t j = 0; j < A[0].size(); j++) most = PetscMax(most, PetscAbsScalar(A[i][j] - B[i][j]));
  return most;
}

// All of the matrix that a fill describes.
Dense dense_of(const Lattice &l, const Fill &fill) {
  const size_t             dof = (size_t)l.dof, n = (size_t)(l.N[0] * l.N[1] * l.N[2]) * dof;
  Dense                    A = zeros(n, n);
  std::vector<PetscScalar> block(dof * dof);
  PetscInt                 p[3], q[3];
  for (p[2] = 0; p[2] < l.N[2]; p[2]++)
    for (p[1] = 0; p[1] < l.N[1]; p[1]++)
      for (p[0] = 0; p[0] < l.N[0]; p[0]++)
        for (const Point &arm : l.arms()) {
          for (int a = 0; a < 3; a++) q[a] = p[a] + arm[(size_t)a];
          if (!l.has_ghost(q)) continue;
          fill(p, arm.data(), block.data());
          for (size_t r = 0; r < dof; r++)
            for (size_t c = 0; c < dof; c++) A[l.natural(p) * dof + r][l.natural(q) * dof + c] += block[r * dof + c];
        }
  return A;
}

// The rows of a level that each rank has wholly.
Dense dense_of(shellac::CapturedStencil &rows, const shellac::Grid &grid) {
  const shellac::Patch                     &patch = rows.patch();
  const size_t                              dof = (size_t)patch.dof, n = (size_t)patch.all().points() * dof;
  Dense                                     A = zeros(n, n);
  shellac::Arrays                           arrays(PETSC_MEMTYPE_HOST);
  std::unique_ptr<shellac::PreparedCapture> op;
  OK(rows.Prepare(&arrays, &op));
  std::vector<PetscScalar> values((size_t)op->arms() * dof * dof);
  shellac::for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {i, j, k};
    op->values(p, 1, values.data());
    for (size_t r = 0, n = 0; r < dof; r++)
      for (int arm = 0; arm < op->arms(); arm++) {
        PetscInt q[3]; // zeros have none beyond the domain
        for (int a = 0; a < 3; a++) q[a] = (p[a] + op->step(arm)[a] + grid.N[a]) % grid.N[a];
        for (size_t c = 0; c < dof; c++, n++)
          A[patch.index(i, j, k) * dof + r][patch.index(q[0], q[1], q[2]) * dof + c] += values[n];
      }
  });
  OK(arrays.Restore());
  return A;
}

// Linear interpolation of each unknown by itself; alone: rows that couple nothing.
Dense interpolation(const Lattice &l, const shellac::Grid &coarse, const shellac::Coarsening to_next[3],
                    const std::vector<bool> &alone) {
  const size_t dof = (size_t)l.dof, n = (size_t)(l.N[0] * l.N[1] * l.N[2]) * dof;
  Dense        P = zeros(n, (size_t)(coarse.N[0] * coarse.N[1] * coarse.N[2]) * dof);
  PetscInt     p[3];
  for (p[2] = 0; p[2] < l.N[2]; p[2]++)
    for (p[1] = 0; p[1] < l.N[1]; p[1]++)
      for (p[0] = 0; p[0] < l.N[0]; p[0]++)
        for (int corner = 0; corner < 8; corner++) {
          PetscReal weight = 1;
          size_t    there = 0, kept = 0;
          for (int a = 2; a >= 0; a--) {
            const shellac::Coarsening &axis = to_next[a];
            const int                  c = corner >> a & 1;
            PetscInt                   J = axis.below(p[a]) + c;
            weight *= axis.prolong[c][(size_t)p[a]];
            if (l.ends[a] == DM_BOUNDARY_PERIODIC) J = (J + coarse.N[a]) % coarse.N[a];
            if (J < 0 || J >= coarse.N[a]) weight = 0;
            there = there * (size_t)coarse.N[a] + (size_t)J;
            kept = kept * (size_t)l.N[a] + (size_t)(axis.coarsens ? 2 * J + axis.offset : J);
          }
          if (weight == 0) continue;
          for (size_t r = 0; r < dof; r++)
            if (!alone[l.natural(p) * dof + r] && !alone[kept * dof + r])
              P[l.natural(p) * dof + r][there * dof + r] += weight;
        }
  return P;
}

// Iterations to a relative residual of 1e-8 from a random right-hand side, and the solution's error, relative.
PetscInt iterations_of(const Equations &of, const Lattice &l, bool nodes,
                       const std::string &options = "-test_ksp_type gmres") {
  Grid               da;
  Matrix             A = captured(l, fill_of(of, l, nodes), &da);
  Vector             exact_x = random_vector(da, 1), b = make_vector(da), x = make_vector(da);
  PetscInt           iterations;
  KSPConvergedReason reason;
  PetscReal          error, size;
  INFO(of.name << (nodes ? ", nodes at the ends, " : ", ") << describe(l) << " " << options);
  OK(MatMult(A, exact_x, b));
  reason = solve(A, b, x, "-test_ksp_rtol 1e-8 -test_ksp_max_it 60 " + options, &iterations);
  CHECK(reason > 0);
  OK(VecAXPY(x, -1, exact_x));
  OK(VecNorm(x, NORM_INFINITY, &error));
  OK(VecNorm(exact_x, NORM_INFINITY, &size));
  CHECK(error <= 1e-3 * size);
  return iterations;
}

struct OnLevels {
  const Equations *of;
};

PetscErrorCode compute_operators(KSP ksp, Mat, Mat P, void *context) {
  DM da;
  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  const Lattice l = lattice_of(da);
  set_rows(da, P, fill_of(*static_cast<OnLevels *>(context)->of, l, true), Way::stencil, INSERT_VALUES);
  assemble(P);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// With PCMG and the equations of each level's grid.
PetscInt iterations_of_pcmg(const Equations &of, const Lattice &l, int levels) {
  Options  o("-test_pc_type mg -test_pc_mg_levels " + std::to_string(levels) +
             " -test_mg_levels_ksp_type chebyshev -test_mg_levels_ksp_max_it 3 -test_mg_levels_pc_type pbjacobi "
              "-test_mg_coarse_pc_type redundant -test_ksp_type fgmres -test_ksp_rtol 1e-8");
  Grid     da;
  Solver   ksp;
  PetscInt iterations;
  OnLevels context = {&of};
  REQUIRE(try_make_grid(l, &da));
  OK(DMSetMatType(da, MATAIJ));
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOptionsPrefix(ksp, "test_"));
  OK(KSPSetDM(ksp, da));
  OK(KSPSetComputeOperators(ksp, compute_operators, &context));
  OK(KSPSetFromOptions(ksp));
  OK(KSPSetUp(ksp));
  Vector b = make_vector(da), x = random_vector(da, 1);
  Mat    A;
  OK(KSPGetOperators(ksp, &A, NULL));
  OK(MatMult(A, x, b));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetIterationNumber(ksp, &iterations));
  return iterations;
}

} // namespace

TEST_CASE("coarse rows of systems are the Galerkin product of each unknown's interpolation", "[multigrid]") {
  struct Case {
    Point                       N;
    std::vector<DMBoundaryType> ends;
    DMDAStencilType             shape;
    PetscInt                    dof;
    bool                        nodes;         // some rows couple nothing
    bool                        local = false; // unknowns are coupled with each other at the same point alone
  };
  for (const Case &of : std::vector<Case>{{{14, 13, 1}, {open_end, open_end}, DMDA_STENCIL_STAR, 3, true, true},
                                          {{6, 5, 7}, {open_end, periodic, open_end}, DMDA_STENCIL_BOX, 2, false, true},
                                          {{150, 1, 1}, {open_end}, DMDA_STENCIL_STAR, 2, false},
                                          {{90, 1, 1}, {periodic}, DMDA_STENCIL_STAR, 3, false},
                                          {{45, 1, 1}, {periodic}, DMDA_STENCIL_STAR, 8, true},
                                          {{13, 12, 1}, {open_end, open_end}, DMDA_STENCIL_STAR, 2, true},
                                          {{12, 11, 1}, {open_end, periodic}, DMDA_STENCIL_BOX, 3, true},
                                          {{10, 14, 1}, {periodic, periodic}, DMDA_STENCIL_STAR, 2, false},
                                          {{6, 5, 7}, {open_end, periodic, open_end}, DMDA_STENCIL_BOX, 2, true},
                                          {{6, 6, 5}, {periodic, open_end, open_end}, DMDA_STENCIL_STAR, 3, false}}) {
    Lattice l = lattice(of.N, of.ends, of.shape);
    l.dof = of.dof;
    Grid da;
    if (!try_make_grid(l, &da)) continue;
    INFO(describe(l));
    const Fill random = random_fill(l, Form::arrays, 3),
               fill = [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *v) {
                 random(p, arm, v);
                 for (PetscInt e = 0; e < of.dof * of.dof && (arm[0] || arm[1] || arm[2]); e++)
                   v[e] *= 16; // for more levels than one
                 for (PetscInt r = 0; r < of.dof && of.local && (arm[0] || arm[1] || arm[2]); r++)
                   for (PetscInt c = 0; c < of.dof; c++)
                     if (r != c) v[r * of.dof + c] = 0;
                 for (PetscInt r = 0; r < of.dof && of.nodes; r++) // of the first point, all rows; of others the first
                   for (PetscInt c = 0; c < of.dof; c++)
                     if ((p[0] == 0 && p[1] == 0 && p[2] == 0) || (r == 0 && p[0] == of.N[0] - 1))
                       v[r * of.dof + c] = !arm[0] && !arm[1] && !arm[2] && r == c ? 2 : 0;
               };
    Matrix                   A = captured(l, fill, &da);
    shellac::SystemHierarchy levels;
    shellac::SetupFindings   found;
    bool                     failed = false;
    OK(levels.Create(A, {}, makes_cuda_vectors(da) ? PETSC_TRUE : PETSC_FALSE, &found, &failed));
    CHECK(found.refusal == "");
    CHECK(!failed);
    const Dense       fine = dense_of(l, fill);
    std::vector<bool> alone;
    for (size_t i = 0; i < fine.size(); i++) {
      bool is = fine[i][i] != (PetscScalar)0;
      for (size_t j = 0; j < fine.size(); j++) is = is && (i == j || fine[i][j] == (PetscScalar)0);
      alone.push_back(is);
    }
    bool coarsens = false;
    for (int a = 0; a < l.dim; a++) coarsens = coarsens || levels.to_next(0)[a].coarsens;
    const Dense P = interpolation(l, levels.grid(1), levels.to_next(0), alone);
    Dense      by_hand = product(transpose(P), product(fine, P));
    const auto dof = (size_t)of.dof;
    for (size_t i = 0; i < by_hand.size() && of.local; i++) // lumped, and so still local
      for (size_t j = 0; j < by_hand.size(); j++) {
        const size_t to = i / dof * dof + j % dof;
        if (i % dof == j % dof || j == to) continue;
        by_hand[i][to] += by_hand[i][j];
        by_hand[i][j] = 0;
      }
    for (size_t i = 0; i < by_hand.size(); i++) {
      bool empty = true;
      for (const PetscScalar &entry : by_hand[i]) empty = empty && entry == (PetscScalar)0;
      if (empty) by_hand[i][i] = 1;
    }
    if (rank_count() == 1) CHECK(coarsens);
    const Dense coarse =
        levels.rows(1) ? dense_of(*levels.rows(1), levels.grid(1)) : by_hand; // which another rank may have
    CHECK(coarse.size() == by_hand.size());
    CHECK(largest_difference(coarse, by_hand) <= 1e-11);
    OK(levels.Destroy());
  }
}

TEST_CASE("systems take as few iterations on any grid", "[multigrid]") {
  struct Case {
    const Equations            *of;
    std::vector<Point>          sizes;
    std::vector<DMBoundaryType> ends;
    bool                        nodes;
    PetscInt                    most;
  };
  for (const Case &of :
       std::vector<Case>{{&reacting, {{1025, 1, 1}, {1000, 1, 1}}, {open_end}, true, 6},
                         {&reacting, {{33, 33, 1}, {64, 67, 1}, {129, 129, 1}}, {open_end, open_end}, false, 6},
                         {&reacting, {{33, 33, 1}, {64, 67, 1}, {129, 129, 1}}, {open_end, open_end}, true, 6},
                         {&reacting, {{64, 64, 1}, {61, 53, 1}}, {periodic, open_end}, true, 6},
                         {&reacting, {{17, 17, 17}, {22, 19, 16}}, {open_end, open_end, open_end}, true, 6},
                         {&elastic_2d, {{33, 33, 1}, {64, 67, 1}, {129, 129, 1}}, {open_end, open_end}, false, 8},
                         {&elastic_2d, {{33, 33, 1}, {64, 67, 1}, {129, 129, 1}}, {open_end, open_end}, true, 8},
                         {&elastic_3d, {{17, 17, 17}, {20, 15, 18}}, {open_end, open_end, open_end}, true, 8},
                         {&far_apart, {{129, 33, 1}, {200, 60, 1}}, {open_end, open_end}, true, 7},
                         {&turning, {{33, 33, 1}, {64, 67, 1}, {129, 129, 1}}, {open_end, open_end}, true, 6}})
    for (const Point &N : of.sizes) {
      if (!in_turn((int)N[0] + (int)of.ends.size())) continue;
      const Lattice l = lattice_for(*of.of, N, of.ends);
      INFO(of.of->name << ", " << describe(l));
      CHECK(iterations_of(*of.of, l, of.nodes) <= of.most);
    }
}

TEST_CASE("systems take at most half as many iterations again as PCMG with the equations of each level",
          "[multigrid]") {
  for (const Equations *of : {&reacting, &elastic_2d, &turning})
    for (PetscInt N : {33, 65}) {
      if (!in_turn((int)N)) continue;
      const Lattice  l = lattice_for(*of, {N, N, 1});
      const PetscInt of_pcmg = iterations_of_pcmg(*of, l, N == 33 ? 4 : 5),
                     ours = iterations_of(*of, l, true, "-test_ksp_type fgmres");
      INFO(of->name << ", " << describe(l) << ": " << ours << ", PCMG " << of_pcmg);
      CHECK(2 * ours <= 3 * of_pcmg);
    }
}
