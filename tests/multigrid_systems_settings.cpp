// stencilmg where a point has several unknowns: settings, numbers of ranks, singular matrices, changed ones.

#include "systems.hpp"

using namespace tests;

namespace {

// One step of the preconditioner on a random vector, in natural order.
std::vector<PetscScalar> one_application(DM da, Mat A) {
  Preconditioner pc = make_pc(A);
  Vector         b = random_vector(da, 4), x = apply(pc, b);
  return natural_values(da, x);
}

// The same grid on each rank alone.
Grid alone(const Lattice &l) {
  Grid da = make_grid_alone(l);
  OK(DMSetMatType(da, MATSTENCILSHELL));
  return da;
}

} // namespace

TEST_CASE("a cycle over a system does not depend on the number of ranks", "[multigrid]") {
  int number = 0;
  for (const Equations *of : {&reacting, &elastic_2d, &turning, &elastic_3d})
    for (const Point &N : {Point{40, 37, 1}, Point{9, 8, 1}, Point{150, 140, 1}, Point{12, 11, 10}, Point{5, 60, 1}}) {
      if ((N[2] > 1) != (of == &elastic_3d) || (N[0] == 150 && of != &turning)) continue;
      for (bool around : {false, true}) {
        const Lattice l = lattice_for(*of, N, std::vector<DMBoundaryType>(3, around ? periodic : open_end));
        const Fill    plain = fill_of(*of, l, !around),
                   fill = [=](const PetscInt *p, const PetscInt *arm, PetscScalar *v) {
                     plain(p, arm, v);
                     for (PetscInt r = 0; r < l.dof && !arm[0] && !arm[1] && !arm[2]; r++) v[r * l.dof + r] += 0.01;
                   };
        Grid   da, own = alone(l);
        Matrix A, own_A;
        if (!try_make_grid(l, &da) || !in_turn(number++)) continue;
        INFO(of->name << ", " << describe(l));
        A = captured(l, fill, &da);
        OK(DMCreateMatrix(own, &own_A));
        set_rows(own, own_A, fill, Way::stencil, INSERT_VALUES);
        assemble(own_A);
        const auto here = one_application(da, A), there = one_application(own, own_A);
        PetscReal  off = 0, size = 0;
        for (size_t n = 0; n < here.size(); n++) {
          off = PetscMax(off, PetscAbsScalar(here[n] - there[n]));
          size = PetscMax(size, PetscAbsScalar(there[n]));
        }
        CHECK(everywhere(off <= 1e-9 * size));
      }
    }
}

TEST_CASE("systems obey the settings of cycles", "[multigrid]") {
  const Lattice l = lattice_for(turning, {65, 65, 1});
  Grid          da;
  Matrix        A = captured(l, fill_of(turning, l, true), &da);
  Vector        b = random_vector(da, 4), x = make_vector(da);
  const auto    iterations = [&](const std::string &options) {
    PetscInt n;
    INFO(options);
    CHECK(solve(A, b, x, "-test_ksp_rtol 1e-8 " + options, &n) > 0);
    return n;
  };
  const PetscInt v = iterations("-test_ksp_type gmres");
  CHECK(iterations("-test_ksp_type gmres -test_pc_stencilmg_cycle_type w") <= v);
  CHECK(iterations("-test_ksp_type gmres -test_pc_stencilmg_cycle_type f") <= v);
  CHECK(iterations("-test_ksp_type gmres -test_pc_stencilmg_type full") <= v);
  CHECK(iterations("-test_ksp_type gmres -test_pc_stencilmg_smooths 1") > v);
  CHECK(iterations("-test_ksp_type gmres -test_pc_stencilmg_smooths 4") <= v);
  CHECK(iterations("-test_ksp_type gmres -test_pc_stencilmg_multiplicative_cycles 2") < v);
  CHECK(iterations("-test_ksp_type richardson -test_ksp_norm_type unpreconditioned") <= 2 * v);
  CHECK(iterations("-test_ksp_type richardson -test_pc_stencilmg_type full") <= 2 * v);
  CHECK(iterations("-test_ksp_type bcgs") <= v);

  const auto view_of = [&](const std::string &options) {
    Preconditioner pc = make_pc(A, options);
    return printed([&]() { OK(PCView(pc, PETSC_VIEWER_STDOUT_WORLD)); });
  };
  const std::string all = view_of(""), three = view_of("-test_pc_stencilmg_levels 3 -test_pc_stencilmg_smooths 2");
  INFO(all << three);
  CHECK(all.find("level 0: 65 x 65, 2 unknowns a point") != std::string::npos);
  for (const std::string &level :
       {all.substr(all.find("level 3: 7 x 7")), three.substr(three.find("level 2: 15 x 15"))})
    CHECK(level.find(", solved by its inverse") < level.find('\n'));
  CHECK(all.find("damped point-block Jacobi (") != std::string::npos);
  const std::string monitor = printed([&]() { iterations("-test_ksp_type gmres -test_pc_stencilmg_monitor"); });
  CHECK(monitor.find("cycle 1: residual ") != std::string::npos);
}

TEST_CASE("singular systems are solved where that can be", "[multigrid]") {
  const auto no_reaction = [](PetscReal, const PetscInt *, const PetscInt arm[3], int dim, PetscScalar *block) {
    for (int r = 0; r < 2; r++)
      for (int c = 0; c < 2; c++) block[2 * r + c] = (r == c ? 2 : 1) * laplacian(arm, dim);
  };
  const Equations diffusing = {"cross diffusion", 2, DMDA_STENCIL_STAR, no_reaction};
  for (const Point &N : {Point{32, 24, 1}, Point{31, 33, 1}, Point{200, 1, 1}, Point{3, 3, 1}}) {
    const Lattice      l = lattice_for(diffusing, N, {periodic, periodic});
    Grid               da;
    Matrix             A;
    PetscInt           iterations;
    KSPConvergedReason reason;
    INFO(describe(l));
    Grid trial;
    if (!try_make_grid(l, &trial)) continue;
    A = captured(l, fill_of(diffusing, l, false), &da);
    Vector x = random_vector(da, 3), b = make_vector(da);
    OK(MatMult(A, x, b));
    OK(VecSet(x, 0));
    reason = solve(A, b, x, "-test_ksp_type gmres -test_ksp_rtol 1e-8", &iterations);
    CHECK(reason > 0);
    CHECK(iterations <= 9);
    CHECK(relative_residual(A, b, x) <= 1e-6);
  }
}

TEST_CASE("a system that is assembled again gets a new hierarchy", "[multigrid]") {
  const Lattice l = lattice_for(reacting, {40, 30, 1});
  Grid          da, other_da;
  Matrix        first = captured(l, random_fill(l, Form::arrays, 1), &da),
         second = captured(l, fill_of(reacting, l, false), &other_da);
  Preconditioner pc = make_pc(first), fresh = make_pc(second);
  Vector         b = random_vector(da, 2), x = apply(pc, b), y;
  OK(MatCopy(second, first, DIFFERENT_NONZERO_PATTERN));
  OK(PCSetOperators(pc, first, first));
  OK(PCSetUp(pc));
  x = apply(pc, b), y = apply(fresh, b);
  CHECK(difference(x, y) <= exact);
}

TEST_CASE("a hierarchy outlives the program's reference to its matrix", "[multigrid]") {
  const Lattice l = lattice_for(reacting, {40, 30, 1});
  Grid          da, other_da;
  Matrix        first = captured(l, fill_of(reacting, l, false), &da),
         second = captured(l, fill_of(reacting, l, false), &other_da);
  Preconditioner pc = make_pc(first);
  Vector         b = random_vector(da, 2), x = apply(pc, b), y;
  OK(PCSetReusePreconditioner(pc, PETSC_TRUE));
  OK(PCSetOperators(pc, second, second));
  OK(PCSetUp(pc));
  first = Matrix();
  y = apply(pc, b);
  CHECK(difference(y, x) == 0);
}
