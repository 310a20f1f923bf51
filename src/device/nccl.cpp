#include "device/nccl.hpp"

#include <dlfcn.h>
#include <functional>
#include <string>

#include "device/peers.hpp"

namespace shellac {

#if SHELLAC_CUDA

namespace {

// The functions of nccl.h that are used, by the binary interface of all releases from 2.7 on; 0 is success.
struct Library {
  struct Id {
    char of[128];
  };
  enum { chars = 0, doubles = 8, sum = 0 };

  void *const at = open();
  bool        present = at;
  int (*get_id)(Id *) = find<int(Id *)>("ncclGetUniqueId");
  int (*connect)(void **, int ranks, Id, int rank) = find<int(void **, int, Id, int)>("ncclCommInitRank");
  int (*disconnect)(void *) = find<int(void *)>("ncclCommDestroy");
  int (*begin)() = find<int()>("ncclGroupStart");
  int (*end)() = find<int()>("ncclGroupEnd");
  int (*send)(const void *, size_t, int type, int rank, void *,
              cudaStream_t) = find<int(const void *, size_t, int, int, void *, cudaStream_t)>("ncclSend");
  int (*receive)(void *, size_t, int type, int rank, void *,
                 cudaStream_t) = find<int(void *, size_t, int, int, void *, cudaStream_t)>("ncclRecv");
  int (*add_up)(const void *, void *, size_t, int type, int operation, void *, cudaStream_t) =
      find<int(const void *, void *, size_t, int, int, void *, cudaStream_t)>("ncclAllReduce");
  const char *(*text_of)(int) = find<const char *(int)>("ncclGetErrorString");

  static void *open() {
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    return library ? library : dlopen("libnccl.so", RTLD_NOW | RTLD_LOCAL);
  }
  template <class Function> Function *find(const char *name) {
    void *function = at ? dlsym(at, name) : nullptr;
    present = present && function;
    return reinterpret_cast<Function *>(function);
  }
};

const Library &library() {
  static const Library one;
  return one;
}

PetscErrorCode check(int result) {
  PetscFunctionBegin;
  PetscCheck(!result, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "NCCL: %s; the environment NCCL_DEBUG=WARN tells more, -mat_*_halo host does without NCCL",
             library().text_of(result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode Nccl::Create(MPI_Comm comm, Nccl **made) {
  struct Card {
    cudaUUID_t gpu;
    size_t     host;
    int        offers;
  } mine = {};
  char        name[MPI_MAX_PROCESSOR_NAME];
  PetscMPIInt ranks, length;
  int         gpu;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Get_processor_name(name, &length));
  mine.host = std::hash<std::string>()(std::string(name, (size_t)length));
  mine.offers = library().present && !cudaGetDevice(&gpu) && !name_of_gpu(gpu, &mine.gpu);
  std::vector<Card> all((size_t)ranks);
  PetscCallMPI(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, comm));
  *made = new Nccl;
  (*made)->possible_ = true;
  for (const Card &one : all) {
    (*made)->several_hosts_ = (*made)->several_hosts_ || one.host != all[0].host;
    (*made)->possible_ = (*made)->possible_ && one.offers;
    for (const Card &other : all)
      (*made)->possible_ = (*made)->possible_ && (&one == &other || memcmp(&one.gpu, &other.gpu, sizeof(one.gpu)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int Nccl::Delete(MPI_Comm, int, void *made, void *) {
  Nccl *one = static_cast<Nccl *>(made);
  if (one->ranks_) (void)library().disconnect(one->ranks_);
  if (one->stream_) (void)cudaStreamDestroy(one->stream_);
  delete one;
  return MPI_SUCCESS;
}

PetscErrorCode Nccl::Find(MPI_Comm comm, bool on_one_host, const Nccl **nccl) {
  static int  key = MPI_KEYVAL_INVALID;
  PetscMPIInt rank, ranks, known;
  Nccl       *made;

  PetscFunctionBegin;
  *nccl = nullptr;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (key == MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, Delete, &key, NULL));
  PetscCallMPI(MPI_Comm_get_attr(comm, key, &made, &known));
  if (!known) {
    PetscCall(Create(comm, &made));
    PetscCallMPI(MPI_Comm_set_attr(comm, key, made));
  }
  if (!made->possible_ || (!made->several_hosts_ && !on_one_host)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!made->ranks_) {
    struct {
      Library::Id id;
      int         error;
    } first = {};
    PetscCallMPI(MPI_Comm_rank(comm, &rank));
    if (rank == 0) first.error = library().get_id(&first.id);
    PetscCallMPI(MPI_Bcast(&first, sizeof(first), MPI_BYTE, 0, comm));
    int error = first.error ? first.error : library().connect(&made->ranks_, ranks, first.id, rank);
    if (!error) error = cudaStreamCreateWithFlags(&made->stream_, cudaStreamNonBlocking);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, comm));
    PetscCall(
        PetscInfo(NULL, "NCCL between %d ranks: %s\n", (int)ranks, error ? "it does not connect them" : "connected"));
    made->possible_ = !error;
    if (error) made->ranks_ = nullptr; // where it does, it waits for the others for ever
    if (error) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *nccl = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Nccl::Exchange(const std::vector<Message> &sent, const std::vector<Message> &received,
                              cudaEvent_t event) const {
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamWaitEvent(stream_, event, 0));
  PetscCall(check(library().begin()));
  for (const Message &m : sent)
    if (m.bytes) PetscCall(check(library().send(m.values, m.bytes, Library::chars, m.rank, ranks_, stream_)));
  for (const Message &m : received)
    if (m.bytes) PetscCall(check(library().receive(m.values, m.bytes, Library::chars, m.rank, ranks_, stream_)));
  PetscCall(check(library().end()));
  PetscCallCUDA(cudaEventRecord(event, stream_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Nccl::AddUp(double *values, size_t count) const {
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCall(check(library().add_up(values, values, count, Library::doubles, Library::sum, ranks_, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif

} // namespace shellac
