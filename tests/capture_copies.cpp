// Operations on captured coefficients that are on a GPU: none of them goes to the host, or comes from it.

#include "captures.hpp"
#include "catch.hpp"
#include "coo.hpp"
#include "gpu.hpp"

using namespace tests;

#if defined(PETSC_HAVE_CUDA)

static Lattice large_plane(PetscInt dof) {
  return plane(dof, 121, 90);
}

// Less than a vector: the rows near the ends of the domain, one of each kind, lists of slots, and an index of a byte or two
// at each point.
static PetscReal little(const Lattice &l) {
  return (PetscReal)(l.N[0] * l.N[1] * l.dof * (PetscInt)sizeof(PetscScalar)) / 2;
}

// The second call of each, for the first one brings vectors and tables to the GPU.
TEST_CASE("operations on coefficients on the GPU copy none of them", "[capture][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return; // ranks that share a GPU exchange halos through the host
  OK(PetscLogDefaultBegin());
  for (PetscInt dof : {1, 3})
    for (Form form : forms_of_storage) {
      const Lattice l = large_plane(dof);
      Twins         t(l, VECCUDA), other(l, VECCUDA);
      Matrix        copy;
      Vector        d = random_vector(t.da, 5), x = random_vector(t.da, 6), b = random_vector(t.da, 7);
      PetscInt      rows[] = {3, 4, 1000};
      PetscReal     norm;
      fill_and_assemble(t.da, t.A, random_fill(l, form, 1));
      fill_and_assemble(other.da, other.A, random_fill(l, Form::constant, 2));
      OK(MatDuplicate(other.A, MAT_COPY_VALUES, &copy));
      const struct {
        const char                   *name;
        std::function<void(Mat, Mat)> work; // on the matrix, and on another
      } calls[] = {
          {"MatScale", [](Mat M, Mat) { OK(MatScale(M, 1.5)); }},
          {"MatShift", [](Mat M, Mat) { OK(MatShift(M, 0.5)); }},
          {"MatGetDiagonal", [&](Mat M, Mat) { OK(MatGetDiagonal(M, b)); }},
          {"MatNorm, infinity", [&](Mat M, Mat) { OK(MatNorm(M, NORM_INFINITY, &norm)); }},
          {"MatNorm, 1", [&](Mat M, Mat) { OK(MatNorm(M, NORM_1, &norm)); }},
          {"MatNorm, frobenius", [&](Mat M, Mat) { OK(MatNorm(M, NORM_FROBENIUS, &norm)); }},
          {"MatTranspose",
           [](Mat M, Mat) {
             Matrix transpose;
             OK(MatTranspose(M, MAT_INITIAL_MATRIX, &transpose));
           }},
          {"MatDiagonalSet", [&](Mat M, Mat) { OK(MatDiagonalSet(M, d, ADD_VALUES)); }},
          {"MatDiagonalScale", [&](Mat M, Mat) { OK(MatDiagonalScale(M, d, d)); }},
          {"MatAXPY", [](Mat M, Mat N) { OK(MatAXPY(M, 0.5, N, SAME_NONZERO_PATTERN)); }},
          {"MatAXPY onto another form",
           [&](Mat M, Mat N) {
             OK(MatCopy(N, copy, SAME_NONZERO_PATTERN));
             OK(MatAXPY(copy, 0.5, M, SAME_NONZERO_PATTERN));
           }},
          {"MatZeroRows", [&](Mat M, Mat) { OK(MatZeroRows(M, 3, rows, 2, x, b)); }},
          {"MatZeroRowsColumns", [&](Mat M, Mat) { OK(MatZeroRowsColumns(M, 3, rows, 2, x, b)); }},
      };
      for (const auto &call : calls) {
        INFO(call.name << ", " << name_of(form) << ", dof " << dof);
        call.work(t.A, other.A);
        CHECK(bytes_copied([&] { call.work(t.A, other.A); }) <= little(l));
      }
    }
}

// Sets the entries' values three times; the form is found again at the last: rows of known kinds in one wait, arrays in
// three, which also look for slots of zeros and for few kinds.
static void check_waits(const Lattice &l, const Entries &list, const char *form, InsertMode mode) {
  Twins              t(l, VECCUDA);
  Vector             v = device_copy(list.values);
  const PetscScalar *array;
  PetscMemType       memory;
  preallocate(t.A, list);
  OK(VecGetArrayReadAndMemType(v, &array, &memory));
  OK(MatSetValuesCOO(t.A, array, INSERT_VALUES));
  OK(MatSetValuesCOO(t.A, array, mode));
  const std::string before = view(t.A, PETSC_VIEWER_ASCII_INFO);
  CHECK(before.find(std::string("form ") + form) != std::string::npos);
  const Copied again = copied([&] { OK(MatSetValuesCOO(t.A, array, mode)); });
  CHECK(again.bytes <= little(l));
  CHECK(again.times_to_host <= (std::string(form) == "arrays" ? 3 : 1));
  CHECK(view(t.A, PETSC_VIEWER_ASCII_INFO) == before);
  OK(VecRestoreArrayReadAndMemType(v, &array));
}

TEST_CASE("assembly on the GPU copies no coefficients, and hardly waits", "[capture][coo][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  OK(PetscLogDefaultBegin());
  for (PetscInt dof : {1, 3})
    for (InsertMode mode : {INSERT_VALUES, ADD_VALUES}) {
      const Lattice l = large_plane(dof);
      Twins         t(l, VECCUDA);
      for (Form form : forms_of_storage) {
        INFO(name_of(form) << ", dof " << dof << (mode == ADD_VALUES ? ", added" : ""));
        check_waits(l, list_entries(t.da, random_fill(l, form, 1), Listing::rows), name_of(form), mode);
      }
      INFO("many kinds of rows, of which a sample has few, dof " << dof << (mode == ADD_VALUES ? ", added" : ""));
      Entries list = list_entries(t.da, random_fill(l, Form::constant, 1), Listing::rows);
      for (size_t k = 0; k < list.values.size() / 5; k++) list.values[k] *= 1 + 1e-3 * (double)k;
      check_waits(l, list, name_of(Form::arrays), mode);
    }
}

TEST_CASE("differences by colouring on the GPU copy no vector", "[capture][coloring][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  OK(PetscLogDefaultBegin());
  for (PetscInt dof : {1, 3})
    for (const char *step : {"wp", "ds"}) {
      INFO("dof " << dof << ", " << step);
      Options       set(std::string("-mat_fd_type ") + step);
      const Lattice l = large_plane(dof);
      Twins         t(l, VECCUDA);
      Matrix        J, expected;
      ISColoring    coloring;
      MatFDColoring fd;
      Vector        x = random_vector(t.da, 3), d = make_vector(t.da);
      fill_and_assemble(t.da, t.A, random_fill(l, Form::arrays, 1));
      OK(DMCreateMatrix(t.da, &J));
      OK(DMCreateColoring(t.da, IS_COLORING_GLOBAL, &coloring));
      OK(MatFDColoringCreate(J, coloring, &fd));
      OK(set_function(MatFDColoringSetFunction, fd, cubic_residual, (Mat)t.A));
      OK(MatFDColoringSetFromOptions(fd));
      OK(MatFDColoringSetUp(J, coloring, fd));
      OK(VecScale(x, 2)); // on the GPU, as the vectors of a solver are
      OK(MatFDColoringApply(J, fd, x, NULL));
      CHECK(bytes_copied([&] { OK(MatFDColoringApply(J, fd, x, NULL)); }) <= little(l));
      OK(VecPointwiseMult(d, x, x));
      OK(VecScale(d, 3));
      OK(MatDuplicate(t.A, MAT_COPY_VALUES, &expected));
      OK(MatDiagonalSet(expected, d, ADD_VALUES));
      CHECK(difference(J, expected) <= 1e-3); // short steps from small values cancel more
      OK(MatFDColoringDestroy(&fd));
      OK(ISColoringDestroy(&coloring));
    }
}

TEST_CASE("a matrix that is bound to the host changes and transposes there", "[capture][device]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  OK(PetscLogDefaultBegin());
  for (PetscInt dof : {1, 3})
    for (Form form : forms_of_storage) {
      INFO(name_of(form) << ", dof " << dof);
      const Lattice l = large_plane(dof);
      Twins         t(l, VECCUDA), other(l, VECCUDA);
      fill_and_assemble(t, random_fill(l, form, 1));
      fill_and_assemble(other, random_fill(l, Form::constant, 2));
      for (Mat M : {(Mat)t.A, (Mat)other.A}) OK(MatBindToCPU(M, PETSC_TRUE));
      CHECK(bytes_copied([&] {
              const PetscScalar *ignored;
              Matrix             transpose;
              t.both([&](DM, Mat M) {
                OK(MatScale(M, 2));
                OK(MatAXPY(M, 0.5, M == t.A ? other.A : other.aij, SAME_NONZERO_PATTERN));
              });
              OK(MatInvertBlockDiagonal(t.A, &ignored));
              OK(MatTranspose(t.A, MAT_INITIAL_MATRIX, &transpose));
            }) <= little(l));
      for (PetscBool bound : {PETSC_TRUE, PETSC_FALSE}) { // the vectors of products choose
        OK(MatBindToCPU(t.A, bound));
        CHECK(t.operator_problem() == "");
      }
    }
}

#endif
