// du/dt of a state, and the largest values of vectors.

#include "burgers/burgers.hpp"

#include "burgers/types.hpp"

namespace shellac {

PetscLogEvent burgers_rates_event, burgers_steps_event;

PetscErrorCode BurgersRegisterEvents(PetscClassId classid) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("BurgersRates", classid, &burgers_rates_event));
  PetscCall(PetscLogEventRegister("BurgersSteps", classid, &burgers_steps_event));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Line<PetscReal> burgers_line(const BurgersPatch &patch, const Field<PetscReal> &field, PetscInt width) {
  Line<PetscReal> line = {};
  line.u = field.u;
  line.n = patch.patch.size[0];
  line.width = width;
  for (int e = 0; e < 2; e++) {
    line.halo[e] = field.halo[Direction::face(0, e)];
    line.end[e] = patch.end[0][e];
    line.frozen[e] = patch.frozen[0][e];
    line.beyond[e] = patch.beyond[0][0][e];
  }
  return line;
}

Field<PetscReal> real_field(const Field<PetscScalar> &field) {
  Field<PetscReal> real = {};
  real.u = (const PetscReal *)field.u;
  for (int d = 0; d < Direction::count; d++) real.halo[d] = (const PetscReal *)field.halo[d];
  return real;
}

#if SHELLAC_CUDA
__global__ void find_extremes(const PetscReal *u, size_t n, Extremes *extremes) {
  unsigned long long largest = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    const unsigned long long bits = magnitude_bits((double)u[i]);
    largest = bits > largest ? bits : largest;
  }
  for (int step = 16; step; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, largest, step);
    largest = other > largest ? other : largest;
  }
  if (threadIdx.x % 32 == 0) atomicMax(&extremes[blockIdx.x % extremes_places].state, largest);
}

static PetscErrorCode begin_extremes(Burgers *burgers) {
  constexpr size_t bytes = extremes_places * sizeof(Extremes);
  PetscFunctionBegin;
  if (!burgers->device_extremes) PetscCall(DeviceMalloc(bytes, (void **)&burgers->device_extremes));
  if (!burgers->host_extremes) PetscCall(PinnedMalloc(bytes, (void **)&burgers->host_extremes));
  PetscCall(DeviceZero(burgers->device_extremes, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode end_extremes(Burgers *burgers, Extremes *extremes) {
  const Extremes *const places = burgers->host_extremes;
  PetscFunctionBegin;
  PetscCall(DeviceCopyToHost(burgers->host_extremes, burgers->device_extremes, extremes_places * sizeof(Extremes)));
  *extremes = {0, 0};
  for (unsigned n = 0; n < extremes_places; n++) {
    extremes->state = PetscMax(extremes->state, places[n].state);
    extremes->rate = PetscMax(extremes->rate, places[n].rate);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static size_t values_of(const Burgers &burgers) {
  return (size_t)burgers.patch.patch.all().points() * burgers.patch.patch.dof;
}

PetscErrorCode BurgersExtremes(Burgers *burgers, PetscMemType memory, const PetscScalar *u, Extremes *extremes) {
  const size_t n = values_of(*burgers);

  PetscFunctionBegin;
  *extremes = {0, 0};
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    PetscCall(begin_extremes(burgers));
    const size_t blocks = PetscMin((n + 255) / 256, (size_t)8192);
    if (n) find_extremes<<<(unsigned)blocks, 256, 0, stream>>>((const PetscReal *)u, n, burgers->device_extremes);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(end_extremes(burgers, extremes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  extremes->state = largest_bits((const PetscReal *)u, (PetscInt)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BurgersRates(Burgers *burgers, PetscMemType memory, const PetscScalar *u, const Stage &stage,
                            Extremes *extremes, PetscScalar *to) {
  Extremes *where = extremes;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(burgers_rates_event, 0, 0, 0, 0));
  PetscCall(burgers->halo.Begin(u, memory));
  PetscCall(burgers->halo.End());
  PetscCall(PetscLogGpuTimeBegin());
  const Field<PetscReal> field = real_field(burgers->halo.field());
  if (extremes) *extremes = {0, 0};
#if SHELLAC_CUDA
  const bool in_kernel = extremes && PetscMemTypeDevice(memory);
  if (in_kernel) {
    PetscCall(begin_extremes(burgers));
    where = burgers->device_extremes;
  }
#endif
  if (burgers->grid.dim == 1)
    PetscCall(burgers->operations->rates(memory, burgers->patch.at[0],
                                         burgers_line(burgers->patch, field, burgers->operations->radius), where,
                                         (PetscReal *)to));
  else
    PetscCall(burgers->operations->rates_2d(memory, burgers->patch, field, stage, where, (PetscReal *)to));
  PetscCall(PetscLogGpuTimeEnd());
#if SHELLAC_CUDA
  if (in_kernel) PetscCall(end_extremes(burgers, extremes));
#endif
  PetscCall(log_flops(memory, 10.0 * values_of(*burgers)));
  PetscCall(PetscLogEventEnd(burgers_rates_event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
