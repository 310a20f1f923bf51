// Products on a GPU, on grids of several blocks of threads, beside those of the host.

#include <algorithm>
#include <limits>

#include "catch.hpp"
#include "gpu.hpp"
#include "support.hpp"

using namespace tests;

namespace {

// The same matrix on host vectors and on CUDA vectors.
struct Pair {
  Grid   da[2]; // host, CUDA
  Matrix A[2];

  Pair(const Lattice &lattice, const std::function<void(DM, Mat *)> &make) {
    for (int n = 0; n < 2; n++) {
      REQUIRE(try_make_grid(lattice, &da[n]));
      OK(DMSetVecType(da[n], n ? VECCUDA : VECSTANDARD));
      make(da[n], &A[n]);
    }
  }
  // The largest relative difference of what work leaves in its last vector.
  PetscReal difference_of(const std::function<void(Mat, Vec x, Vec y)> &work) {
    std::vector<PetscScalar> values[2];
    PetscReal                most = 0, size = 0;
    for (int n = 0; n < 2; n++) {
      Vector x = random_vector(da[n], 1), y = random_vector(da[n], 2);
      work(A[n], x, y);
      values[n] = natural_values(da[n], y);
    }
    for (size_t i = 0; i < values[0].size(); i++) {
      most = std::max(most, PetscAbsScalar(values[0][i] - values[1][i]));
      size = std::max(size, PetscAbsScalar(values[0][i]));
    }
    return most / size;
  }
  void check() {
    CHECK(difference_of([](Mat M, Vec x, Vec y) { OK(MatMult(M, x, y)); }) <= exact);
    CHECK(difference_of([](Mat M, Vec x, Vec y) { OK(MatMultAdd(M, x, y, y)); }) <= exact);
    CHECK(difference_of([](Mat M, Vec x, Vec y) { OK(MatResidual(M, y, x, y)); }) <= exact);
    CHECK(difference_of([](Mat M, Vec x, Vec y) { OK(MatMultTranspose(M, x, y)); }) <= exact);
  }
};

// Even and odd rows; sizes that blocks of threads and the points that a thread computes do not divide.
std::vector<Lattice> large_grids() {
  std::vector<Lattice> all;
  Lattice              ring;
  ring.dim = 3;
  ring.N[0] = 70, ring.N[1] = 19, ring.N[2] = 18;
  ring.ends[0] = ring.ends[2] = DM_BOUNDARY_PERIODIC;
  all.push_back(ring);
  ring.ends[0] = DM_BOUNDARY_NONE, ring.ends[1] = DM_BOUNDARY_MIRROR;
  all.push_back(ring);
  for (int odd = 0; odd < 2; odd++) {
    Lattice plane, space;
    plane.N[0] = 300 + odd, plane.N[1] = 47 + odd;
    space.dim = 3;
    space.N[0] = 134 + odd, space.N[1] = 21 + odd, space.N[2] = 42 + odd;
    all.push_back(plane);
    all.push_back(space);
    space.N[1] = 4 + odd, space.N[2] = 5 - odd; // a row or a plane left
    all.push_back(space);
  }
  return all;
}

void make_laplace(DM da, MatLaplaceShapeType shape, MatLaplaceBoundaryType form, Mat *A) {
  OK(MatCreate(PETSC_COMM_WORLD, A));
  OK(MatSetDM(*A, da));
  OK(MatSetType(*A, MATLAPLACE));
  OK(MatLaplaceSetShape(*A, shape));
  OK(MatLaplaceSetBoundary(*A, form));
  OK(MatSetUp(*A));
}

// kind: harmonic or arithmetic means, or k on faces; set: more settings. Returns k, or k of the first axis.
Vector make_diffusion(
    DM da, int dim, int kind, bool k_on_host, Mat *A, const std::function<void(Mat)> &set = [](Mat) {}) {
  Vector k[3];
  for (int a = 0; a < dim; a++) {
    k[a] = make_vector(da);
    if (k_on_host) OK(VecBindToCPU(k[a], PETSC_TRUE));
    set_values(da, k[a], [&](const PetscInt p[3]) {
      return PetscScalar(1 + 0.5 * std::sin(0.7 * p[0]) * std::cos(0.4 * p[1] + 0.9 * p[2]) + 0.1 * a);
    });
  }
  const Vec axes[] = {k[0], k[1], k[2]};
  OK(MatCreate(PETSC_COMM_WORLD, A));
  OK(MatSetDM(*A, da));
  OK(MatSetType(*A, MATDIFFUSION));
  OK(MatDiffusionSetShift(*A, 2));
  OK(MatDiffusionSetMean(*A, kind == 0 ? MAT_DIFFUSION_HARMONIC : MAT_DIFFUSION_ARITHMETIC));
  if (kind < 2)
    OK(MatDiffusionSetCoefficient(*A, k[0]));
  else
    OK(MatDiffusionSetFaceCoefficients(*A, dim, axes));
  set(*A);
  OK(MatSetUp(*A));
  return std::move(k[0]);
}

} // namespace

TEST_CASE("boxes give the host's products on a GPU", "[device_products]") {
  if (no_gpu()) return;
  for (const Lattice &lattice : large_grids())
    for (MatLaplaceShapeType shape : {MAT_LAPLACE_STAR, MAT_LAPLACE_BOX})
      for (MatLaplaceBoundaryType form : {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_IDENTITY, MAT_LAPLACE_NEUMANN}) {
        INFO(describe(lattice) << ", shape " << shape << ", boundary " << form);
        Pair pair(lattice, [&](DM da, Mat *A) { make_laplace(da, shape, form, A); });
        pair.check();
      }
}

TEST_CASE("stars with other rows at each end of a 3-D grid give the host's products on a GPU", "[device_products]") {
  if (no_gpu()) return;
  const PetscInt               sizes[][3] = {{70, 9, 11}, {66, 3, 18}, {132, 21, 3}};
  const MatLaplaceBoundaryType mixed[6] = {MAT_LAPLACE_NEUMANN,    MAT_LAPLACE_ROBIN, MAT_LAPLACE_ROBIN,
                                           MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_ROBIN, MAT_LAPLACE_NEUMANN};
  const PetscReal              alpha[6] = {3, 5, 7, 11, 13, 17};
  for (const auto &size : sizes)
    for (bool all_robin : {false, true}) {
      Lattice lattice;
      lattice.dim = 3;
      std::copy_n(size, 3, lattice.N);
      INFO(describe(lattice) << ", all Robin " << all_robin);
      Pair pair(lattice, [&](DM da, Mat *A) {
        MatLaplaceBoundaryType sides[6];
        for (int n = 0; n < 6; n++) sides[n] = all_robin ? MAT_LAPLACE_ROBIN : mixed[n];
        OK(MatCreate(PETSC_COMM_WORLD, A));
        OK(MatSetDM(*A, da));
        OK(MatSetType(*A, MATLAPLACE));
        OK(MatLaplaceSetBoundaries(*A, 6, sides));
        OK(MatLaplaceSetRobin(*A, 6, alpha));
        OK(MatSetUp(*A));
      });
      pair.check();
    }
}

TEST_CASE("diffusion gives the host's products on a GPU", "[device_products]") {
  if (no_gpu()) return;
  for (const Lattice &lattice : large_grids())
    for (int kind = 0; kind < 3; kind++)
      for (bool k_on_host : {false, true}) { // then products read coefficients
        INFO(describe(lattice) << ", kind " << kind << ", k on host " << k_on_host);
        std::vector<Vector> fields;
        Pair                pair(lattice,
                                 [&](DM da, Mat *A) {
                                   fields.push_back(make_diffusion(da, lattice.dim, kind, k_on_host, A));
                                 });
        pair.check();
        for (Vec k : fields) OK(VecScale(k, 2)); // as the operators find out
        pair.check();
        for (int n = 0; n < 2; n++) { // the operator is no longer the one of k
          OK(MatScale(pair.A[n], 3));
          OK(MatShift(pair.A[n], 100));
        }
        pair.check();
      }
}

TEST_CASE("diffusion gives the host's products at any ends", "[device_products]") {
  if (no_gpu()) return;
  const MatLaplaceBoundaryType forms[4][2] = {{MAT_LAPLACE_NEUMANN, MAT_LAPLACE_ROBIN},
                                              {MAT_LAPLACE_ROBIN, MAT_LAPLACE_IDENTITY},
                                              {MAT_LAPLACE_IDENTITY, MAT_LAPLACE_ELIMINATED},
                                              {MAT_LAPLACE_ELIMINATED, MAT_LAPLACE_NEUMANN}};
  for (int dim = 2; dim <= 3; dim++)
    for (PetscInt N : {4, 67, 70})
      for (int kind = 0; kind < 3; kind++)
        for (int f = 0; f < 4 + dim; f++) { // other ends of each axis, then a mirror on one
          Lattice lattice;
          lattice.dim = dim;
          lattice.N[0] = N, lattice.N[1] = 17, lattice.N[2] = dim == 3 ? 11 : 1;
          if (f >= 4) lattice.ends[f - 4] = DM_BOUNDARY_MIRROR;
          INFO(describe(lattice) << ", kind " << kind << ", ends " << f);
          Pair pair(lattice, [&](DM da, Mat *A) {
            make_diffusion(da, dim, kind, false, A, [&](Mat M) {
              MatLaplaceBoundaryType sides[6];
              const PetscReal        alpha[6] = {3, 5, 7, 11, 13, 17};
              bool                   is_robin = false;
              if (f >= 4) return;
              for (int n = 0; n < 2 * dim; n++) {
                sides[n] = forms[(f + n / 2) % 4][n % 2];
                is_robin = is_robin || sides[n] == MAT_LAPLACE_ROBIN;
              }
              OK(MatLaplaceSetBoundaries(M, 2 * dim, sides));
              if (is_robin) OK(MatLaplaceSetRobin(M, 2 * dim, alpha));
            });
          });
          pair.check();
        }
}

TEST_CASE("planes of millions of points, which have kernels of their own, give the host's products",
          "[device_products]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  Lattice lattice;
  lattice.N[0] = 2111, lattice.N[1] = 1601; // more than few_points()
  const auto check = [](Pair &pair) {
    CHECK(pair.difference_of([](Mat M, Vec x, Vec y) { OK(MatMult(M, x, y)); }) <= exact);
    CHECK(pair.difference_of([](Mat M, Vec x, Vec y) { OK(MatResidual(M, y, x, y)); }) <= exact);
  };
  for (MatLaplaceShapeType shape : {MAT_LAPLACE_STAR, MAT_LAPLACE_BOX}) {
    INFO("shape " << shape);
    Pair pair(lattice, [&](DM da, Mat *A) { make_laplace(da, shape, MAT_LAPLACE_NEUMANN, A); });
    check(pair);
  }
  for (int kind = 0; kind < 3; kind++) {
    INFO("kind " << kind);
    Pair pair(lattice, [&](DM da, Mat *A) { (void)make_diffusion(da, 2, kind, false, A); });
    check(pair);
  }
}

TEST_CASE("stars in 3-D give the host's products, whether or not all blocks run at once", "[device_products]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  const PetscInt sizes[][3] = {{67, 60, 62}, {67, 3800, 7}, {70, 3800, 7}}; // see short_march()
  for (const auto &size : sizes) {
    Lattice lattice;
    lattice.dim = 3;
    std::copy_n(size, 3, lattice.N);
    INFO(describe(lattice));
    Pair pair(lattice, [&](DM da, Mat *A) { make_laplace(da, MAT_LAPLACE_STAR, MAT_LAPLACE_NEUMANN, A); });
    pair.check();
  }
}

TEST_CASE("diffusion on large 3-D grids with odd rows, which has a kernel of its own, gives the host's products",
          "[device_products]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  for (int n = 0; n < 4; n++) {
    const int kind = n % 2;
    Lattice   lattice;
    lattice.dim = 3;
    lattice.N[0] = kind ? 255 : 161, lattice.N[1] = kind ? 130 : 229, lattice.N[2] = 270; // see launch_lines()
    if (n == 2) lattice.ends[0] = DM_BOUNDARY_MIRROR;
    if (n == 3) lattice.ends[0] = DM_BOUNDARY_PERIODIC; // points in each row are computed by another kernel
    INFO(describe(lattice) << ", kind " << kind);
    Pair pair(lattice, [&](DM da, Mat *A) { (void)make_diffusion(da, 3, kind, false, A); });
    CHECK(pair.difference_of([](Mat M, Vec x, Vec y) { OK(MatMult(M, x, y)); }) <= exact);
    CHECK(pair.difference_of([](Mat M, Vec x, Vec y) { OK(MatResidual(M, y, x, y)); }) <= exact);
  }
}

TEST_CASE("what needs the coefficients of diffusion alone leaves k where it is", "[device_products]") {
  if (no_gpu()) return;
  Lattice          lattice;
  PetscOffloadMask mask;
  PetscReal        norm;
  lattice.N[0] = 300, lattice.N[1] = 40;
  Vector k;
  Pair   pair(lattice, [&](DM da, Mat *A) {
    Vector field = make_vector(da);
    // rows that no compression holds
    set_values(da, field, [&](const PetscInt p[3]) { return PetscScalar(2) + random_value(lattice.natural(p), 3); });
    OK(MatCreateDiffusion(da, field, A));
    k = std::move(field);
  });
  Vector b = random_vector(pair.da[1], 1), x = random_vector(pair.da[1], 2);
  OK(MatNorm(pair.A[1], NORM_INFINITY, &norm));
  OK(MatSOR(pair.A[1], b, 1, SOR_LOCAL_SYMMETRIC_SWEEP, 0, 1, 1, x));
  OK(VecGetOffloadMask(k, &mask));
  CHECK(mask == PETSC_OFFLOAD_CPU);
  OK(MatMult(pair.A[1], b, x));
  OK(VecGetOffloadMask(k, &mask));
  CHECK(mask == PETSC_OFFLOAD_BOTH);
}

#if defined(PETSC_HAVE_CUDA)
TEST_CASE("rows of diffusion and advection are filled on the GPU where the fields are", "[device_products]") {
  if (skips(no_gpu(false) || rank_count() > 1)) return;
  OK(PetscLogDefaultBegin());
  Lattice plane, space;
  plane.N[0] = 300, plane.N[1] = 40;
  space.dim = 3;
  space.N[0] = 40, space.N[1] = 20, space.N[2] = 15;
  space.ends[1] = DM_BOUNDARY_PERIODIC;
  const struct {
    const char                     *name;
    int                             k; // fields: 1 at the points, 2 on the faces of the axes
    bool                            flows;
    Lattice                         lattice;
    MatAdvectionDiffusionSchemeType scheme = MAT_ADVECTION_DIFFUSION_CENTRAL;
  } kinds[] = {{"k at points", 1, false, plane},
               {"k on faces", 2, false, plane},
               {"w", 0, true, plane},
               {"w in space, upwind", 0, true, space, MAT_ADVECTION_DIFFUSION_UPWIND},
               {"k at points and w, upwind", 1, true, plane, MAT_ADVECTION_DIFFUSION_UPWIND},
               {"k on faces and w", 2, true, plane}};
  for (const auto &kind : kinds) {
    const Lattice &lattice = kind.lattice;
    INFO(kind.name);
    std::vector<Vector> fields;
    Pair                pair(lattice, [&](DM da, Mat *A) {
      Vec axes[2];
      fields.clear();
      OK(MatCreate(PETSC_COMM_WORLD, A));
      OK(MatSetDM(*A, da));
      OK(MatSetType(*A, kind.flows ? MATADVECTIONDIFFUSION : MATDIFFUSION));
      for (int a = 0; a < kind.k; a++) {
        fields.push_back(make_vector(da));
        axes[a] = fields.back();
        set_values(da, axes[a],
                                  [&](const PetscInt p[3]) { return PetscScalar(2) + random_value(lattice.natural(p), 3); });
      }
      if (kind.k)
        OK(kind.k > 1 ? MatDiffusionSetFaceCoefficients(*A, 2, axes) : MatDiffusionSetCoefficient(*A, axes[0]));
      if (kind.flows) {
        Grid    vectors;
        VecType type;
        OK(DMDACreateCompatibleDMDA(da, lattice.dim, &vectors));
        OK(DMGetVecType(da, &type));
        OK(DMSetVecType(vectors, type));
        Vector w = random_vector(vectors, 5);
        OK(VecRealPart(w));
        OK(MatAdvectionDiffusionSetVelocity(*A, w));
        OK(MatAdvectionDiffusionSetScheme(*A, kind.scheme));
        fields.push_back(std::move(w));
      }
      OK(MatSetUp(*A));
    });
    Vector              x = random_vector(pair.da[1], 1), y = make_vector(pair.da[1]);
    const auto          change = [&] {
      for (Vec field : fields) OK(VecScale(field, 2));
      OK(MatMult(pair.A[1], x, y));
    };
    change(); // brings the fields and x to the GPU
    const PetscReal few = 12000 * (PetscReal)sizeof(PetscScalar) / 2;
    CHECK(bytes_copied(change) <= few);
    CHECK(bytes_copied([&] { CHECK(nonzeros(pair.A[1]) == nonzeros(pair.A[0])); }) <= few);
    for (Vec field : fields) OK(VecScale(field, 0.25)); // both are as before
    pair.check();
    Vector before = make_vector(pair.da[1]), good;
    OK(MatMult(pair.A[1], x, before));
    OK(VecDuplicate(fields.back(), &good));
    OK(VecCopy(fields.back(), good));
    OK(VecScale(fields.back(), std::numeric_limits<PetscReal>::infinity()));
    EXPECT_ERROR(PETSC_ERR_ARG_OUTOFRANGE, {kind.flows ? "velocity" : "coefficient k", "must be finite"},
                 [&] { return MatMult(pair.A[1], x, y); });
    OK(VecCopy(good, fields.back()));
    OK(MatMult(pair.A[1], x, y));
    CHECK(difference(y, before) == 0);
  }
}
#endif

TEST_CASE("a product of diffusion may overwrite k, and k may be of any size", "[device_products]") {
  if (no_gpu()) return;
  Lattice lattice;
  lattice.N[0] = 300, lattice.N[1] = 40;
  constexpr PetscReal least = std::numeric_limits<PetscReal>::min(), most_real = std::numeric_limits<PetscReal>::max();
  for (PetscReal size : {PetscReal(1), 2 * least / PETSC_MACHINE_EPSILON, most_real / 100}) {
    std::vector<Vector> fields;
    Pair                pair(lattice, [&](DM da, Mat *A) {
      const PetscReal lengths[] = {PetscSqrtReal(size), PetscSqrtReal(size)}; // so that k/h² is of any size, and finite
      Vector          k = make_vector(da);
      set_values(da, k, [&](const PetscInt p[3]) { return size * (2 + PetscReal(p[0] % 3)) / 4; });
      OK(MatCreate(PETSC_COMM_WORLD, A));
      OK(MatSetDM(*A, da));
      OK(MatSetType(*A, MATDIFFUSION));
      OK(MatLaplaceSetLengths(*A, 2, lengths));
      OK(MatDiffusionSetCoefficient(*A, k));
      OK(MatSetUp(*A));
      fields.push_back(std::move(k));
    });
    INFO("k of size " << size);
    CHECK(pair.difference_of([](Mat M, Vec x, Vec y) { OK(MatMult(M, x, y)); }) <= exact);
    if (size > 1) continue; // products overflow as k
    std::vector<PetscScalar> over[2];
    for (int n = 0; n < 2; n++) {
      Vector x = random_vector(pair.da[n], 1);
      OK(MatMult(pair.A[n], x, fields[(size_t)n]));
      over[n] = natural_values(pair.da[n], fields[(size_t)n]);
    }
    PetscReal most = 0, largest = 0;
    for (size_t i = 0; i < over[0].size(); i++) {
      most = std::max(most, PetscAbsScalar(over[0][i] - over[1][i]));
      largest = std::max(largest, PetscAbsScalar(over[0][i]));
    }
    CHECK(most <= exact * largest);
  }
}

TEST_CASE("captured rows give the host's products on a GPU", "[device_products]") {
  if (no_gpu()) return;
  for (Lattice lattice : large_grids())
    for (DMDAStencilType shape : {DMDA_STENCIL_STAR, DMDA_STENCIL_BOX})
      for (Form form : forms_of_storage) {
        if (shape == DMDA_STENCIL_BOX && lattice.ends[1] == DM_BOUNDARY_MIRROR) continue; // which PETSc refuses
        lattice.shape = shape;
        INFO(describe(lattice) << ", " << name_of(form));
        Pair pair(lattice, [&](DM da, Mat *A) {
          OK(DMSetMatType(da, captured_type));
          OK(DMCreateMatrix(da, A));
          set_rows(da, *A, random_fill(lattice, form, 3), Way::stencil, INSERT_VALUES);
          assemble(*A);
        });
        pair.check();
      }
}
