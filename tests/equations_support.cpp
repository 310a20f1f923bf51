#include "equations.hpp"

#include <cstdlib>

#include "catch.hpp"

#include <fstream>
#include <sstream>

namespace tests {

bool equations_work(bool with_complex) {
  setenv("SHELLAC_CACHE", SHELLAC_TEST_EQUATION_CACHE, 0);
#if defined(PETSC_USE_COMPLEX)
  return with_complex;
#else
  (void)with_complex;
  return true;
#endif
}

void set_equation(DM da, const std::string &text) {
  OK(DMDASetEquation(da, text.c_str()));
}

const char *const gallery[11] = {"advection_diffusion.h", "allen_cahn.h", "biharmonic.h",   "bratu.h",
                                 "diffusion.h",           "elasticity.h", "gray_scott.h",   "nine_point.h",
                                 "p_laplace.h",           "poisson.h",    "shallow_water.h"};

std::string gallery_path(const std::string &file) {
  const char *folder = getenv("SHELLAC_EQUATIONS"); // on a host without the sources
  return std::string(folder ? folder : SHELLAC_TEST_EQUATIONS) + "/" + file;
}

std::string gallery_content(const std::string &file) {
  std::ifstream      stream(gallery_path(file));
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

shellac::EquationText gallery_text(const std::string &file) {
  shellac::EquationText text;
  REQUIRE(shellac::read_equation(file, gallery_content(file), &text) == "");
  return text;
}

Grid gallery_grid(const std::string &file, PetscInt N, VecType type) {
  const shellac::EquationText text = gallery_text(file);
  Lattice                     l;
  l.dim = text.dim;
  l.width = std::max(text.width, 1);
  l.dof = (PetscInt)text.unknowns.size();
  l.shape = text.box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;
  for (int a = 0; a < 3; a++) {
    l.N[a] = a < l.dim ? N : 1;
    l.ends[a] = text.periodic[a] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  }
  Grid da;
  OK(make_grid(l, nullptr, &da));
  if (type) OK(DMSetVecType(da, type));
  OK(DMDASetEquationFromFile(da, gallery_path(file).c_str()));
  return da;
}

PetscErrorCode solve(DM da, Vec *u, PetscInt *its, PetscInt *ksp_its) {
  Owned<SNES, SNESDestroy> snes;
  Vector                   start = make_vector(da);
  Vec                      solution;

  PetscFunctionBeginUser;
  PetscCall(DMDAEquationComputeInitial(da, start));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, da));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESSolve(snes, NULL, start));
  SNESConvergedReason reason;
  PetscCall(SNESGetConvergedReason(snes, &reason));
  CHECK(reason > 0);
  PetscCall(SNESGetIterationNumber(snes, its));
  if (ksp_its) PetscCall(SNESGetLinearSolveIterations(snes, ksp_its));
  PetscCall(SNESGetSolution(snes, &solution));
  PetscCall(VecDuplicate(solution, u));
  PetscCall(VecCopy(solution, *u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Owned<TS, TSDestroy> stepper(DM da, const char *type, PetscReal dt, PetscReal end) {
  Owned<TS, TSDestroy> ts;
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(TSSetDM(ts, da));
  OK(TSSetType(ts, type));
  OK(TSSetTimeStep(ts, dt));
  OK(TSSetMaxTime(ts, end));
  OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  OK(TSSetFromOptions(ts));
  return ts;
}

Vector steps(DM da, const char *type, PetscReal dt, PetscReal end) {
  Vector u = make_vector(da);
  OK(DMDAEquationComputeInitial(da, u));
  OK(TSSolve(stepper(da, type, dt, end), u));
  return u;
}

Matrix matrix(DM da, MatType type) {
  Matrix J;
  OK(DMSetMatType(da, type));
  OK(DMCreateMatrix(da, &J));
  return J;
}

Matrix jacobian(DM da, Vec u, MatType type, MatType beside) {
  Matrix    J = matrix(da, type), other;
  PetscBool rate;
  if (beside) other = matrix(da, beside);
  const Mat P = beside ? (Mat)other : (Mat)J;
  OK(DMDAEquationIsRate(da, &rate));
  if (rate) {
    Owned<TS, TSDestroy> ts;
    OK(TSCreate(PETSC_COMM_WORLD, &ts));
    OK(TSSetDM(ts, da));
    OK(TSSetRHSJacobian(ts, J, P, NULL, NULL));
    OK(TSComputeRHSJacobian(ts, 0.3, u, J, P));
  } else {
    Owned<SNES, SNESDestroy> snes;
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetDM(snes, da));
    OK(SNESSetJacobian(snes, J, P, NULL, NULL));
    OK(SNESComputeJacobian(snes, u, J, P));
  }
  return J;
}

PetscReal difference_of_transposes(Mat A, Mat B, Vec v) {
  Vector    x = copy_of(v), y = copy_of(v);
  PetscReal worst = 0;
  for (const auto product : {MatMultTranspose, MatMultHermitianTranspose}) {
    OK(product(A, v, x));
    OK(product(B, v, y));
    worst = std::max(worst, difference(x, y));
  }
  return worst;
}

PetscErrorCode compute_values(DM da, PetscReal time, Vec u, Vec f) {
  Owned<SNES, SNESDestroy> snes;
  Owned<TS, TSDestroy>     ts;
  PetscBool                rate;

  PetscFunctionBegin;
  PetscCall(DMDAEquationIsRate(da, &rate));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  if (rate) {
    PetscCall(TSSetDM(ts, da));
    PetscCall(TSComputeRHSFunction(ts, time, u, f));
  } else {
    PetscCall(SNESSetDM(snes, da));
    PetscCall(SNESComputeFunction(snes, u, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal difference_of_texts(DM da, const std::string &head, const TextPairs &pairs) {
  std::string by_helpers = head, by_hand = head;
  Matrix      A, B;
  for (const auto &pair : pairs) {
    by_helpers += std::string("\n  + ") + pair[0];
    by_hand += std::string("\n  + (") + pair[1] + ")";
  }
  set_equation(da, by_helpers);
  OK(DMDACreateEquationMat(da, &A));
  set_equation(da, by_hand);
  OK(DMDACreateEquationMat(da, &B));
  return difference(A, B);
}

PetscReal jacobian_difference(DM da, const std::vector<MatType> &types) {
  Owned<SNES, SNESDestroy> snes;
  Owned<TS, TSDestroy>     ts;
  PetscBool                rate;
  Vector u = random_vector(da, 1), v = random_vector(da, 2), plus = copy_of(u), minus = copy_of(u), f = make_vector(da),
         g = make_vector(da), product = make_vector(da);
  const PetscReal step = 1e-5;
  PetscReal       worst = 0;
  OK(DMDAEquationIsRate(da, &rate));
  OK(SNESCreate(PETSC_COMM_WORLD, &snes));
  OK(TSCreate(PETSC_COMM_WORLD, &ts));
  OK(rate ? TSSetDM(ts, da) : SNESSetDM(snes, da));
  const auto compute = [&](Vec from, Vec to) {
    OK(rate ? TSComputeRHSFunction(ts, 0.3, from, to) : SNESComputeFunction(snes, from, to));
  };
  OK(VecShift(u, 2)); // positive
  OK(VecWAXPY(plus, step, v, u));
  OK(VecWAXPY(minus, -step, v, u));
  compute(plus, f);
  compute(minus, g);
  OK(VecAXPY(f, -1, g));
  OK(VecScale(f, 1 / (2 * step)));
  for (const MatType type : types) {
    Matrix J = jacobian(da, u, type);
    OK(MatMult(J, v, product));
    worst = std::max(worst, difference(product, f));
  }
  return worst;
}

} // namespace tests
