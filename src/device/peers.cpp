#include "device/peers.hpp"

#include <array>
#include <cstring>
#include <map>

#include "device/memory.hpp"

namespace shellac {

#if SHELLAC_CUDA

Exports &exports() {
  static Exports all;
  return all;
}

cudaError_t map_memory(int gpu, const cudaIpcMemHandle_t &handle, void **memory) {
  using Key = std::pair<int, std::array<char, sizeof(handle)>>;
  static std::map<Key, void *> mapped;
  Key                          key{gpu, {}};
  memcpy(key.second.data(), &handle, sizeof(handle));
  const auto known = mapped.find(key);
  *memory = known == mapped.end() ? nullptr : known->second;
  if (*memory) return cudaSuccess;
  const cudaError_t error = cudaIpcOpenMemHandle(memory, handle, cudaIpcMemLazyEnablePeerAccess);
  if (!error) mapped[key] = *memory;
  return error;
}

cudaError_t name_of_gpu(int gpu, cudaUUID_t *name) {
  static std::map<int, cudaUUID_t> known;
  cudaDeviceProp                   properties;
  if (!known.count(gpu)) {
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, gpu)) return error;
    known[gpu] = properties.uuid;
  }
  *name = known[gpu];
  return cudaSuccess;
}

PetscErrorCode Peers::Connect(MPI_Comm comm, size_t bytes, bool may_share) {
  struct Card {
    char               host[MPI_MAX_PROCESSOR_NAME];
    cudaUUID_t         gpu;
    cudaIpcMemHandle_t memory;
    int                offers;
  } mine = {};
  PetscMPIInt    rank, ranks, length;
  int            gpu = 0;
  void          *memory = nullptr;

  PetscFunctionBegin;
  Disconnect(true);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks > most) PetscFunctionReturn(PETSC_SUCCESS);
  if (!cudaGetDevice(&gpu) && !name_of_gpu(gpu, &mine.gpu)) { // otherwise this rank offers nothing
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    if (exports().Take(gpu, bytes, DeviceMallocForPeers, &memory)) memory = nullptr;
    PetscCall(PetscPopErrorHandler());
    mine.offers = memory && !cudaMemset(memory, 0, bytes) && !cudaDeviceSynchronize() && // zero before others write
                  !cudaIpcGetMemHandle(&mine.memory, memory);
  }
  PetscCallMPI(MPI_Get_processor_name(mine.host, &length));
  std::vector<Card> all((size_t)ranks);
  PetscCallMPI(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, comm));
  int good = 1;
  for (const Card &one : all) {
    good = good && one.offers && !strcmp(one.host, mine.host);
    for (const Card &other : all)
      good = good && (may_share || &one == &other || memcmp(&one.gpu, &other.gpu, sizeof(one.gpu)) != 0);
  }
  std::vector<char *> mapped((size_t)ranks);
  for (PetscMPIInt r = 0; r < ranks && good; r++) {
    void *its = memory;
    if (r != rank) good = map_memory(gpu, all[(size_t)r].memory, &its) == cudaSuccess;
    mapped[(size_t)r] = (char *)its;
  }
  (void)cudaGetLastError();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, comm));
  PetscCall(PetscInfo(NULL, "The GPUs of %d ranks %s each other's memory\n", (int)ranks, good ? "use" : "do not use"));
  rank_ = rank;
  if (good)
    memory_ = mapped;
  else if (memory)
    exports().Return(memory);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Peers::Disconnect(bool sound) {
  if (connected() && sound) exports().Return(of(rank_));
  memory_.clear();
}

#else

PetscErrorCode Peers::Connect(MPI_Comm, size_t, bool) {
  return PETSC_SUCCESS;
}

void Peers::Disconnect(bool) {}

#endif

} // namespace shellac
