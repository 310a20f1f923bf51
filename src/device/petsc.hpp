#pragma once
// PETSc's public headers, and the few names that changed between 3.18 and 3.26.

#include <petscksp.h>
#include <petscdmda.h>

// Whether nvcc compiles this source. Sources use it for kernels and calls of CUDA, never for members of a class, whose
// layout must be the same for every compiler.
#if defined(PETSC_HAVE_CUDA) && defined(__CUDACC__)
#define SHELLAC_CUDA 1
PETSC_EXTERN PetscBool use_gpu_aware_mpi; // as the option says; not in the public headers
// As in petscdevice_cuda.h, which brings all libraries of CUDA: half of many a source's time to compile
#if PETSC_VERSION_LT(3, 20, 0)
PETSC_EXTERN cudaStream_t PetscDefaultCudaStream;
#else
PETSC_EXTERN PetscErrorCode PetscGetCurrentCUDAStream(cudaStream_t *);
#endif
#define PetscCallCUDA(...)                                                                                             \
  do {                                                                                                                 \
    const cudaError_t shellac_error = __VA_ARGS__;                                                                     \
    PetscCheck(shellac_error == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA error %d (%s): %s",                 \
               (int)shellac_error, cudaGetErrorName(shellac_error), cudaGetErrorString(shellac_error));                \
  } while (0)
#else
#define SHELLAC_CUDA 0
#endif

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

// In PETSc's manual and library, but not in its public headers.
PETSC_EXTERN PetscErrorCode PetscObjectStateGet(PetscObject, PetscObjectState *);
PETSC_EXTERN PetscErrorCode PetscObjectStateSet(PetscObject, PetscObjectState);

namespace shellac {

#if PETSC_VERSION_LT(3, 24, 0)
using OperationFn = void();
#else
using OperationFn = PetscErrorCodeFn;
#endif

#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems *;
using ContextDestroyFn = PetscErrorCode(void *);
#define PetscContainerSetCtxDestroy PetscContainerSetUserDestroy
#else
using OptionItems = PetscOptionItems;
using ContextDestroyFn = PetscCtxDestroyFn; // is given the address of the context's pointer
#endif
template <class Context> Context *context_to_destroy(void *argument) {
  return static_cast<Context *>(PETSC_VERSION_LT(3, 23, 0) ? argument : *static_cast<void **>(argument));
}
// A destructor of contexts, as this PETSc declares it; to be written with a void* and context_to_destroy().
inline ContextDestroyFn *destructor(PetscErrorCode (*destroy)(void *)) {
  return reinterpret_cast<ContextDestroyFn *>(destroy);
}

template <class Context> PetscErrorCode delete_context(void *argument) {
  delete context_to_destroy<Context>(argument);
  return PETSC_SUCCESS;
}
// Gives an object a context under a name, which it destroys at its end, or when it gets another one.
template <class Context>
PetscErrorCode compose_context(PetscObject object, const char *name, Context *context,
                               PetscErrorCode (*destroy)(void *) = delete_context<Context>) {
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PetscObjectComm(object), &container));
  PetscCall(PetscContainerSetPointer(container, context));
  PetscCall(PetscContainerSetCtxDestroy(container, destructor(destroy)));
  PetscCall(PetscObjectCompose(object, name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// Null where it has none.
template <class Context> PetscErrorCode query_context(PetscObject object, const char *name, Context **context) {
  PetscContainer container;

  PetscFunctionBegin;
  *context = nullptr;
  PetscCall(PetscObjectQuery(object, name, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Function> PetscErrorCode set_operation(Mat A, MatOperation operation, Function *function) {
  PetscFunctionBegin;
  PetscCall(MatShellSetOperation(A, operation, reinterpret_cast<OperationFn *>(function)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode assemble(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Reads only the options of the type of a new A. MatSetFromOptions() would also read -mat_type, which is meant for other
// matrices of the program.
inline PetscErrorCode set_from_options_of_type(Mat A) {
  OperationFn *operation = NULL;

  PetscFunctionBegin;
  PetscCall(MatGetOperation(A, MATOP_SET_FROM_OPTIONS, &operation));
  if (!operation) PetscFunctionReturn(PETSC_SUCCESS);
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), NULL, "Matrix options", "Mat");
  PetscCall(reinterpret_cast<PetscErrorCode (*)(Mat, OptionItems)>(operation)(A, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// If some ranks have an error, all ranks get the text of the first one.
inline PetscErrorCode share_error(MPI_Comm comm, char (&text)[512]) {
  PetscMPIInt rank, ranks, first;
  char        here[512];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  first = text[0] ? rank : ranks;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == ranks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(here, text, sizeof(here)));
  PetscCallMPI(MPI_Bcast(here, sizeof(here), MPI_CHAR, first, comm));
  if (first)
    PetscCall(PetscSNPrintf(text, sizeof(text), "on rank %d: %s", (int)first, here));
  else
    PetscCall(PetscStrncpy(text, here, sizeof(text)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PetscCheck() for the arguments of a collective call: an error on one rank is an error on all, so that none waits.
#define SHELLAC_CHECK_ALL(condition, comm, code, ...)                                                                  \
  do {                                                                                                                 \
    char shellac_text[512] = "";                                                                                       \
    if (!(condition)) PetscCall(PetscSNPrintf(shellac_text, sizeof(shellac_text), __VA_ARGS__));                       \
    PetscCall(shellac::share_error(comm, shellac_text));                                                               \
    PetscCheck(!shellac_text[0], comm, code, "%s", shellac_text);                                                      \
  } while (0)

// Creates a Mat or a DM in steps. After an error in one of them *object is null, and what was made is destroyed.
template <class Object, class Make> PetscErrorCode create_whole(Object *object, const Make &make) {
  Object made = NULL;

  PetscFunctionBegin;
  *object = NULL;
  const PetscErrorCode error = make(&made);
  if (error) (void)!PetscObjectDestroy((PetscObject *)&made);
  PetscCall(error);
  *object = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A work vector of a DM, restored at the end of the scope, also after an error.
class WorkVector {
public:
  WorkVector() = default;
  WorkVector(const WorkVector &) = delete;
  WorkVector &operator=(const WorkVector &) = delete;
  ~WorkVector() {
    if (v_) (void)!(local_ ? DMRestoreLocalVector(dm_, &v_) : DMRestoreGlobalVector(dm_, &v_));
  }
  PetscErrorCode Get(DM dm, bool local = false) {
    PetscFunctionBegin;
    dm_ = dm;
    local_ = local;
    PetscCall(local ? DMGetLocalVector(dm, &v_) : DMGetGlobalVector(dm, &v_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  operator Vec() const { return v_; }

private:
  DM   dm_ = NULL;
  bool local_ = false;
  Vec  v_ = NULL;
};

// Calls the method `name` of A, where its type has one.
template <class... Args> PetscErrorCode try_method(Mat A, const char *name, PetscBool *found, Args... args) {
  PetscErrorCode (*method)(Mat, Args...) = NULL;

  PetscFunctionBegin;
  PetscCheck(A, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the matrix is null; create it first");
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &method));
  if (method) PetscCall((*method)(A, args...));
  if (found) *found = method ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SHELLAC_CUDA
// While a CUDA graph is recorded, work goes to this stream: PETSc's own may be the legacy one, which cannot be captured.
inline cudaStream_t recording_stream = nullptr;
inline cudaStream_t latest_stream = nullptr; // PETSc's, when it was last asked for

inline PetscErrorCode current_stream(cudaStream_t *stream) {
  PetscFunctionBegin;
  if (recording_stream) {
    *stream = recording_stream;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if PETSC_VERSION_LT(3, 20, 0)
  *stream = PetscDefaultCudaStream;
#else
  PetscCall(PetscGetCurrentCUDAStream(stream));
#endif
  if (*stream != latest_stream) { // memory is taken and given back in one order: see DeviceMalloc()
    PetscCallCUDA(cudaDeviceSynchronize());
    latest_stream = *stream;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace shellac
