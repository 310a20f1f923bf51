// -mat_stencil_verify: an AIJ is assembled beside the captured matrix, and compared, in every way of assembly.

#include "captures.hpp"
#include "catch.hpp"
#include "coo.hpp"

#include <algorithm>

using namespace tests;

static int lines_printed(const std::function<void()> &work) {
  const std::string text = printed(work);
  CHECK(text.find("-mat_stencil_verify") != std::string::npos);
  return (int)std::count(text.begin(), text.end(), '\n');
}

TEST_CASE("-mat_stencil_verify says at each assembly that the AIJ is the same", "[capture][verify]") {
  for (bool verify : {true, false}) {
    Options set(verify ? "-mat_stencil_verify" : "-mat_stencil_verify 0");
    Twins   t(plane());
    for (int seed : {1, 2, 3}) {
      const std::string text = printed([&] { fill_and_assemble(t.da, t.A, random_fill(plane(), Form::arrays, seed)); });
      CHECK(std::count(text.begin(), text.end(), '\n') == (verify ? 1 : 0));
    }
  }
}

TEST_CASE("a verification follows what changes a matrix between assemblies", "[capture][verify]") {
  Options       set("-mat_stencil_verify");
  const Lattice l = plane(2);
  CHECK(lines_printed([&] {
          Twins t(l);
          t.both([&](DM da, Mat M) {
            fill_and_assemble(da, M, random_fill(l, Form::arrays, 1));
            OK(MatScale(M, 2)); // as a time integrator does
            assemble(M);
            OK(MatShift(M, 3));
            set_rows(da, M, random_fill(l, Form::arrays, 2), Way::stencil, ADD_VALUES);
            assemble(M);
          });
          CHECK(t.operator_problem() == "");
        }) == 3);
}

namespace {
// Each is done on both matrices; the captured one is compared as often as it is assembled.
struct Assembly {
  std::string                  name;
  int                          comparisons;
  std::function<void(DM, Mat)> work;
};
} // namespace

static void set_in_lists(DM da, Mat M, const Fill &fill, Listing listing) {
  const Entries list = list_entries(da, fill, listing);
  preallocate(M, list);
  for (InsertMode mode : {INSERT_VALUES, ADD_VALUES, INSERT_VALUES}) {
    set_coo_values(M, list, mode, makes_cuda_vectors(da));
    OK(MatScale(M, 2));
  }
}

static void set_in_local_lists(DM da, Mat M) {
  Entries list = local_entries(da);
  OK(MatSetPreallocationCOOLocal(M, list.count(), list.rows.data(), list.columns.data()));
  for (InsertMode mode : {INSERT_VALUES, ADD_VALUES}) set_coo_values(M, list, mode, makes_cuda_vectors(da));
}

static void shift_slots(Mat M, PetscInt dof) {
  MatType        type;
  const PetscInt center[] = {0, 0, 0};
  OK(MatGetType(M, &type));
  if (std::string(type) != captured_type) {
    OK(MatShift(M, 3));
    return;
  }
  for (PetscInt c = 0; c < dof; c++) {
    Vec v;
    OK(MatStencilShellGetSlot(M, center, c, c, &v));
    OK(VecShift(v, 3));
    OK(MatStencilShellRestoreSlot(M, center, c, c, &v));
  }
  assemble(M);
}

static void set_by_differences(DM da, Mat M, Mat B) {
  ISColoring    coloring;
  MatFDColoring fd;
  Vector        x = random_vector(da, 3);
  OK(DMCreateColoring(da, IS_COLORING_GLOBAL, &coloring));
  OK(MatFDColoringCreate(M, coloring, &fd));
  OK(set_function(MatFDColoringSetFunction, fd, cubic_residual, B));
  OK(MatFDColoringSetUp(M, coloring, fd));
  OK(MatFDColoringApply(M, fd, x, NULL));
  OK(MatFDColoringDestroy(&fd));
  OK(ISColoringDestroy(&coloring));
}

static std::vector<Assembly> assemblies(const Twins &t, const Twins &linear) {
  const Lattice        &l = t.lattice;
  const Fill            fill = random_fill(l, Form::arrays, 1), other = random_fill(l, Form::arrays, 2);
  std::vector<Assembly> all;
  const auto            add_to = [=](DM da, Mat M) {
    set_rows(da, M, other, Way::stencil, ADD_VALUES);
    assemble(M);
  };
  for (Way way : ways)
    all.push_back({name_of(way), 1, [=](DM da, Mat M) {
                     set_rows(da, M, fill, way, INSERT_VALUES);
                     assemble(M);
                   }});
  for (Way way : ways) // each entry more than once, in rows of other ranks, too
    all.push_back({std::string("pairs, ") + name_of(way), 1, [=](DM da, Mat M) {
                     OK(MatZeroEntries(M));
                     add_pairs(da, M, fill, way);
                     assemble(M);
                   }});
  for (Listing listing : {Listing::rows, Listing::scattered})
    all.push_back({"MatSetPreallocationCOO", 3, [=](DM da, Mat M) { set_in_lists(da, M, fill, listing); }});
  all.push_back({"MatSetPreallocationCOOLocal", 2, set_in_local_lists});
  all.push_back({"MatStencilShellGetSlot", 3, [=](DM da, Mat M) {
                   fill_and_assemble(da, M, fill);
                   shift_slots(M, l.dof);
                   add_to(da, M);
                 }});
  all.push_back({"MatFDColoringApply", 2, [=, &t, &linear](DM da, Mat M) {
                   set_by_differences(da, M, M == t.A ? linear.A : linear.aij);
                   add_to(da, M);
                 }});
  return all;
}

static std::vector<Lattice> verified_lattices() {
  const DMBoundaryType none = DM_BOUNDARY_NONE, around = DM_BOUNDARY_PERIODIC, mirror = DM_BOUNDARY_MIRROR;
  std::vector<Lattice> all = {{1, {15, 1, 1}, {around, none, none}, DMDA_STENCIL_STAR, 2, 2},
                              {2, {10, 9, 1}, {around, mirror, none}, DMDA_STENCIL_STAR, 2, 1},
                              {3, {4, 4, 6}, {none, mirror, around}, DMDA_STENCIL_STAR, 1, 2},
                              {3, {6, 6, 6}, {none, none, none}, DMDA_STENCIL_STAR, 2, 1}};
  for (PetscInt dof : {1, 2, 3, 4})
    for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX}) {
      all.push_back(plane(dof));
      all.back().shape = shape;
    }
  return all;
}

TEST_CASE("-mat_stencil_verify compares what is assembled in any way", "[capture][coo][slots][coloring][verify]") {
  for (const Lattice &l : verified_lattices()) {
    Twins linear(l);
    fill_and_assemble(linear, random_fill(l, Form::arrays, 5));
    Options set("-mat_stencil_verify");
    Twins   t(l);
    for (const Assembly &assembly : assemblies(t, linear)) {
      INFO(describe(l) << "; " << assembly.name);
      t.renew(); // an AIJ has the entries of its list alone
      CHECK(lines_printed([&] { t.both(assembly.work); }) == assembly.comparisons);
      const bool by_differences = assembly.name == "MatFDColoringApply";
      CHECK(t.product_difference() <= (by_differences ? 1e-6 : 2 * exact));
    }
  }
}
