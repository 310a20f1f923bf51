#include "sums/cloud.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace shellac {

PetscErrorCode PointCloudCreate(MPI_Comm comm, const char *what, int dim, PetscInt n, const PetscScalar *coordinates,
                                PointCloud **cloud) {
  PetscMPIInt rank, size;
  PetscInt    bad[2] = {PETSC_MAX_INT, 0}; // the first point with a coordinate that is no number; the coordinate

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
  c->x.assign((size_t)3 * n, 0);
  for (PetscInt i = 0; i < n; i++)
    for (int a = 0; a < dim; a++) {
      const PetscReal x = PetscRealPart(coordinates[(size_t)i * dim + a]);
      if (PetscIsInfOrNanReal(x) && bad[0] == PETSC_MAX_INT) bad[0] = c->first + i, bad[1] = a;
      c->x[(size_t)a * n + i] = x;
    }
  PetscInt first = bad[0];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, comm));
  if (first != PETSC_MAX_INT) { // the owner tells the coordinate
    PetscInt axis = bad[0] == first ? bad[1] : 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &axis, 1, MPIU_INT, MPI_MAX, comm));
    PetscCall(PointCloudDestroy(cloud));
    SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE,
            "coordinate %c of %s point %" PetscInt_FMT " is not a finite number; check the coordinates", "xyz"[axis],
            what, first);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudDestroy(PointCloud **cloud) {
  PetscFunctionBegin;
  if (*cloud && --(*cloud)->references == 0) {
#if SHELLAC_CUDA
    if ((*cloud)->on_device) PetscCallCUDA(cudaFree((*cloud)->on_device));
#endif
    delete *cloud;
  }
  *cloud = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudGetPoints(PointCloud *cloud, PetscMemType memory, Points *points) {
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    if (!cloud->on_device && cloud->n) {
      const size_t bytes = cloud->x.size() * sizeof(PetscReal);
      PetscCall(DeviceMalloc(bytes, (void **)&cloud->on_device));
      PetscCallCUDA(cudaMemcpy(cloud->on_device, cloud->x.data(), bytes, cudaMemcpyHostToDevice));
    }
    *points = cloud->points(cloud->on_device);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  *points = cloud->points(cloud->x.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudsGetBox(MPI_Comm comm, const PointCloud *a, const PointCloud *b, PetscReal lower[3],
                                 PetscReal upper[3]) {
  PetscReal ends[6]; // -lower, upper

  PetscFunctionBegin;
  for (int e = 0; e < 6; e++) ends[e] = -PETSC_MAX_REAL;
  for (const PointCloud *cloud : {a, a == b ? nullptr : b})
    for (PetscInt i = 0; cloud && i < cloud->n; i++)
      for (int d = 0; d < 3; d++) {
        const PetscReal x = cloud->x[(size_t)d * cloud->n + i];
        ends[d] = PetscMax(ends[d], -x);
        ends[3 + d] = PetscMax(ends[3 + d], x);
      }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 6, MPIU_REAL, MPIU_MAX, comm));
  for (int d = 0; d < 3; d++) {
    const bool empty = ends[3 + d] < -ends[d];
    lower[d] = empty ? 0 : -ends[d];
    upper[d] = empty ? 0 : ends[3 + d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudGather(MPI_Comm comm, const PointCloud *cloud, std::vector<PetscReal> *x) {
  std::vector<PetscMPIInt> counts, starts;
  PetscMPIInt              own;
  PetscInt                 sum = 0;

  PetscFunctionBegin;
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
    PetscCallMPI(MPI_Allgatherv(cloud->x.data() + (size_t)a * cloud->n, own, MPIU_REAL,
                                x->data() + (size_t)a * cloud->N, counts.data(), starts.data(), MPIU_REAL, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointCloudsFindCoincident(MPI_Comm comm, const PointCloud *targets, const PointCloud *sources,
                                         PetscInt *target, PetscInt *source, PetscReal place[3]) {
  std::vector<PetscReal> x;
  std::vector<PetscInt>  order(targets->n);
  PetscInt               found[2] = {PETSC_MAX_INT, PETSC_MAX_INT};
  const auto             of_target = [&](PetscInt i) {
    const PetscReal *p = targets->x.data();
    return std::array<PetscReal, 3>{p[i], p[targets->n + i], p[2 * (size_t)targets->n + i]};
  };

  PetscFunctionBegin;
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
    for (int a = 0; a < 3; a++) place[a] = x[(size_t)a * sources->N + *source];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
