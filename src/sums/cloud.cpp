#include "sums/cloud.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "device/runs.hpp"

namespace shellac {

namespace {

struct SplitCoordinates {
  const PetscScalar *from;
  int                dim;
  PetscReal         *x;
  size_t             n;

  SHELLAC_HD void operator()(PetscInt i, PetscInt axis, PetscInt) const {
    const PetscScalar value = axis < dim ? from[(size_t)i * dim + axis] : (PetscScalar)0;
    // an imaginary part is found with what is not finite
    x[axis * n + i] = PetscImaginaryPart(value) == 0 ? PetscRealPart(value) : (PetscReal)NAN;
  }
};
struct Shift {
  PetscReal *x;
  size_t     n;
  PetscReal  by[3];

  SHELLAC_HD void operator()(PetscInt i, PetscInt axis, PetscInt) const { x[axis * n + i] -= by[axis]; }
};
struct GatherPoint {
  Points          points;
  const PetscInt *chosen;
  PetscReal      *x;
  size_t          n;

  SHELLAC_HD void operator()(PetscInt i, PetscInt axis, PetscInt) const { x[axis * n + i] = points.x[axis][chosen[i]]; }
};

// What is known of coordinates when all have been looked at.
struct Ends {
  PetscReal  most[6] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL, -PETSC_MAX_REAL,
                        -PETSC_MAX_REAL, -PETSC_MAX_REAL, -PETSC_MAX_REAL}; // of -x, x
  PetscInt64 bad = none;                                                    // 3 i + a of the first that is no number

  static constexpr PetscInt64 none = 0x7fffffffffffffff;

  SHELLAC_HD void add(const Ends &other) {
    for (int e = 0; e < 6; e++) most[e] = PetscMax(most[e], other.most[e]);
    bad = PetscMin(bad, other.bad);
  }
};
struct FindEnds {
  Points points;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n, Ends *ends) const {
    for (int a = 0; a < 3; a++)
      for (PetscInt i = p[0]; i < p[0] + n; i++) {
        const PetscReal x = points.x[a][i];
        ends->most[a] = PetscMax(ends->most[a], -x);
        ends->most[3 + a] = PetscMax(ends->most[3 + a], x);
        if (x - x != 0) ends->bad = PetscMin(ends->bad, 3 * (PetscInt64)i + a); // infinite, or no number
      }
  }
};

PetscErrorCode create_cloud(MPI_Comm comm, int dim, PetscInt n, PointCloud **cloud) {
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PointCloud *c = new PointCloud;
  *cloud = c;
  c->dim = dim;
  c->n = n;
  c->counts.resize(size);
  PetscCallMPI(MPI_Allgather(&n, 1, MPIU_INT, c->counts.data(), 1, MPIU_INT, comm));
  for (int r = 0; r < size; r++) {
    if (r < rank) c->first += c->counts[r];
    c->N += c->counts[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sets the ends of the points' box. bad: see Ends.
PetscErrorCode set_ends(PointCloud *cloud, PetscMemType memory, PetscInt64 *bad) {
  Scratch<Ends> work;
  Mirror<Ends>  sum;
  Ends         *to;
  const Ends   *ends;
  Points        points;
  const Box     all = {{0, 0, 0}, {cloud->n, 1, 1}};

  PetscFunctionBegin;
  PetscCall(PointCloudGetPoints(cloud, memory, &points));
  PetscCall(sum.Make(memory, 1, &to));
  PetscCall(sum_runs(memory, all, FindEnds{points}, &work, to));
  PetscCall(sum.Get(PETSC_MEMTYPE_HOST, &ends));
  for (int e = 0; e < 6; e++) cloud->ends[e] = ends->most[e];
  *bad = ends->bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PointCloudCreate(MPI_Comm comm, const char *what, int dim, PetscInt n, PetscMemType memory,
                                const PetscScalar *coordinates, PointCloud **cloud) {
  PetscReal *x;
  PetscInt64 bad; // the first coordinate that is no number

  PetscFunctionBegin;
  PetscCall(create_cloud(comm, dim, n, cloud));
  (*cloud)->memory = memory;
  PetscCall((*cloud)->x.Make(memory, (size_t)3 * n, &x));
  PetscCall(for_each(memory, line_of((size_t)n, 3), SplitCoordinates{coordinates, dim, x, (size_t)n}));
  PetscCall(set_ends(*cloud, memory, &bad));
  if (bad != Ends::none) bad += 3 * (PetscInt64)(*cloud)->first;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT64, MPI_MIN, comm));
  if (bad != Ends::none) {
    PetscCall(PointCloudDestroy(cloud));
    SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE,
            "coordinate %c of %s point %" PetscInt64_FMT " is not a finite real number; check the coordinates",
            "xyz"[bad % 3], what, bad / 3);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudCreateFilled(MPI_Comm comm, int dim, PetscInt n, PetscMemType memory,
                                      const std::function<PetscErrorCode(PetscReal *x)> &fill, PointCloud **cloud) {
  PetscReal *x;
  PetscInt64 bad;

  PetscFunctionBegin;
  PetscCall(create_cloud(comm, dim, n, cloud));
  (*cloud)->memory = memory;
  PetscCall((*cloud)->x.Make(memory, (size_t)3 * n, &x));
  PetscCall(fill(x));
  PetscCall(set_ends(*cloud, memory, &bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudCreateChosen(MPI_Comm comm, const PointCloud &all, PetscMemType memory,
                                      const std::vector<PetscInt> &chosen, PointCloud **cloud) {
  Mirror<PetscInt> some;
  const PetscInt  *which;
  Points           points;

  PetscFunctionBegin;
  some.change() = chosen;
  PetscCall(some.Get(memory, &which));
  PetscCall(PointCloudGetPoints(&all, memory, &points));
  const auto gather = [&](PetscReal *x) { return GatherPoints(memory, points, chosen.size(), which, x); };
  PetscCall(PointCloudCreateFilled(comm, all.dim, (PetscInt)chosen.size(), memory, gather, cloud));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudDestroy(PointCloud **cloud) {
  PetscFunctionBegin;
  if (*cloud && --(*cloud)->references == 0) delete *cloud;
  *cloud = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudGetPoints(const PointCloud *cloud, PetscMemType memory, Points *points) {
  const PetscReal *x;

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  PetscCall(cloud->x.Get(memory, &x));
  *points = cloud->points(x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GatherPoints(PetscMemType memory, const Points &points, size_t n, const PetscInt *chosen, PetscReal *x) {
  PetscFunctionBegin;
  PetscCall(for_each(memory, line_of(n, 3), GatherPoint{points, chosen, x, n}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudsGetBox(MPI_Comm comm, const PointCloud *a, const PointCloud *b, PetscReal lower[3],
                                 PetscReal upper[3]) {
  PetscReal ends[6]; // -lower, upper

  PetscFunctionBegin;
  for (int e = 0; e < 6; e++) ends[e] = -PETSC_MAX_REAL;
  for (const PointCloud *cloud : {a, a == b ? nullptr : b})
    for (int e = 0; cloud && e < 6; e++) ends[e] = PetscMax(ends[e], cloud->ends[e]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 6, MPIU_REAL, MPIU_MAX, comm));
  for (int d = 0; d < 3; d++) {
    const bool empty = ends[3 + d] < -ends[d];
    lower[d] = empty ? 0 : -ends[d];
    upper[d] = empty ? 0 : ends[3 + d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudsCenter(MPI_Comm comm, PointCloud *a, PointCloud *b) {
  PetscReal lower[3], upper[3], origin[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(PointCloudsGetBox(comm, a, b, lower, upper));
  for (int d = 0; d < 3; d++)
    if ((lower[d] > 0 && upper[d] <= 2 * lower[d]) || (upper[d] < 0 && lower[d] >= 2 * upper[d]))
      origin[d] = lower[d] + (upper[d] - lower[d]) / 2;
  for (PointCloud *cloud : {a, a == b ? nullptr : b}) {
    Shift shift = {nullptr, cloud ? (size_t)cloud->n : 0, {origin[0], origin[1], origin[2]}};
    if (!cloud || (origin[0] == 0 && origin[1] == 0 && origin[2] == 0)) continue;
    PetscCall(cloud->x.Edit(cloud->memory, &shift.x));
    PetscCall(for_each(cloud->memory, line_of(shift.n, 3), shift));
    for (int d = 0; d < 3; d++) {
      cloud->origin[d] = origin[d];
      if (!cloud->n) continue; // its box has no ends
      cloud->ends[d] += origin[d];
      cloud->ends[3 + d] -= origin[d];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudGather(MPI_Comm comm, const PointCloud *cloud, std::vector<PetscReal> *x) {
  std::vector<PetscMPIInt> counts, starts;
  PetscMPIInt              own;
  PetscInt                 sum = 0;
  Points                   points;

  PetscFunctionBegin;
  PetscCall(PointCloudGetPoints(cloud, PETSC_MEMTYPE_HOST, &points));
  for (PetscInt n : cloud->counts) {
    PetscMPIInt count, start;
    PetscCall(PetscMPIIntCast(n, &count));
    PetscCall(PetscMPIIntCast(sum, &start));
    counts.push_back(count);
    starts.push_back(start);
    sum += n;
  }
  PetscCall(PetscMPIIntCast(cloud->n, &own));
  x->resize((size_t)3 * cloud->N);
  for (int a = 0; a < 3; a++)
    PetscCallMPI(MPI_Allgatherv(points.x[a], own, MPIU_REAL, x->data() + (size_t)a * cloud->N, counts.data(),
                                starts.data(), MPIU_REAL, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudsFindCoincident(MPI_Comm comm, const PointCloud *targets, const PointCloud *sources,
                                         PetscInt *target, PetscInt *source, PetscReal place[3]) {
  std::vector<PetscReal> x;
  std::vector<PetscInt>  order(targets->n);
  PetscInt               found[2] = {PETSC_MAX_INT, PETSC_MAX_INT};
  Points                 points;
  const auto             of_target = [&](PetscInt i) {
    return std::array<PetscReal, 3>{points.x[0][i], points.x[1][i], points.x[2][i]};
  };

  PetscFunctionBegin;
  PetscCall(PointCloudGetPoints(targets, PETSC_MEMTYPE_HOST, &points));
  PetscCall(PointCloudGather(comm, sources, &x));
  std::iota(order.begin(), order.end(), (PetscInt)0);
  std::sort(order.begin(), order.end(), [&](PetscInt a, PetscInt b) {
    const auto x_a = of_target(a), x_b = of_target(b);
    return x_a < x_b || (x_a == x_b && a < b);
  });
  for (PetscInt j = 0; j < sources->N; j++) {
    const std::array<PetscReal, 3> at = {x[j], x[(size_t)sources->N + j], x[2 * (size_t)sources->N + j]};
    const auto                     match =
        std::lower_bound(order.begin(), order.end(), at, [&](PetscInt i, const auto &y) { return of_target(i) < y; });
    if (match != order.end() && of_target(*match) == at &&
        targets->first + *match < found[0]) // the first at this place
      found[0] = targets->first + *match, found[1] = j;
  }
  PetscInt first = found[0];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, comm));
  *target = first == PETSC_MAX_INT ? -1 : first;
  *source = found[0] == first ? found[1] : PETSC_MAX_INT;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, source, 1, MPIU_INT, MPI_MIN, comm));
  if (*target >= 0)
    for (int a = 0; a < 3; a++) place[a] = sources->origin[a] + x[(size_t)a * sources->N + *source];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
