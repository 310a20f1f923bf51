#pragma once
// Hierarchy's cycles over all levels: from vectors to vectors, as one CUDA graph where that can be.

#include "multigrid/hierarchy.hpp"

namespace shellac {

// Where the verbs that follow work, and on what.
template <class Part> PetscErrorCode Hierarchy<Part>::SetVectors(PetscMemType memory, const S *b, S *x) {
  PetscFunctionBegin;
  PetscCall(Prepare(memory));
  memory_ = memory;
  b_ = b;
  x_ = x;
  begun_ = false;
  norm_ = nullptr;
  for (int l = 0; transposed_ && nonsymmetric_ && l < last() + relaxes(); l++) PetscCall(SetTransposedRows(l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of an application.
template <class Part> PetscErrorCode Hierarchy<Part>::Begin(PetscMemType memory, const S *b, S *x, bool from_x) {
  PetscFunctionBegin;
  PetscCall(check_backend(memory));
  PetscCall(SetVectors(memory, b, x));
  PetscCall(CopyIn(from_x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::CopyIn(bool of_x) {
  Level      &top = level(0);
  const Patch own = own_patch();
  const auto  in = [&](const S *from, T *to) {
    PetscFunctionBegin;
    if (parts_ && top.whole) {
      T *part = top.b_part.at(memory_);
      PetscCall(Copy(own, from, own, part, own));
      PetscCall(top.shared.Gather(memory_, 1, part, to));
    } else
      PetscCall(Copy(own, from, own, to, own));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  if (!top.b.size()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(in(b_, top.b.at(memory_)));
  if (of_x) PetscCall(in(x_, top.x.at(memory_)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::CopyOut() {
  Level      &top = level(0);
  const Patch own = own_patch();

  PetscFunctionBegin;
  if (gathers(-1)) PetscCall(top.shared.Scatter(memory_, 1, top.x.at(memory_)));
  if (top.b.size()) PetscCall(Copy(own, top.x.at(memory_), top.patch, x_, own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part>
PetscErrorCode Hierarchy<Part>::Apply(PetscMemType memory, const S *b, S *x, bool from_x, bool full, PetscReal stop,
                                      PetscReal limit, PetscReal *norm, InRow) {
  PetscFunctionBegin;
  PetscCall(Begin(memory, b, x, from_x));
  if (norm) {
    PetscCall(BeginCycle(norm));
    if (!(*norm > stop && *norm <= limit)) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Finish(from_x, full));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::BeginCycle(PetscReal *norm) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  norm_ = norms_.at(memory_) + norms_.size() - 1;
  PetscCall(stage(multigrid_down_event, 0, [&]() { return Down(0, Guess::given); }));
  PetscCall(ReadNorm(norm));
  norm_ = nullptr;
  begun_ = true;
#else
  (void)norm;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part>
PetscErrorCode Hierarchy<Part>::Visit(const S *b, S *x, bool from_x, bool full, bool transposed, Cycle cycle) {
  const bool begun = begun_;

  PetscFunctionBegin;
  PetscCall(Open(b, x, full, transposed));
  PetscCall(Begin(memory_, b, x, from_x));
  begun_ = begun;
  visits_ = cycle;
  const PetscErrorCode code = Finish(from_x, full);
  visits_ = Cycle::automatic;
  transposed_ = begun_ = false;
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::Open(const S *b, S *x, bool full, bool transposed) {
  PetscFunctionBegin;
  full_ = full;
  transposed_ = transposed;
  PetscCall(SetVectors(PETSC_MEMTYPE_DEVICE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::GetCoarse(S *room, const S **b) {
  const Patch &patch = level(1).patch;
  const T     *from = level(1).b.at(memory_);

  PetscFunctionBegin;
  *b = room;
  if constexpr (std::is_same<T, S>::value)
    *b = from;
  else
    PetscCall(Copy(patch, from, patch, room, patch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part>
PetscErrorCode Hierarchy<Part>::SetCoarse(S *room, const std::function<PetscErrorCode(S *)> &set) {
  const Patch &patch = level(1).patch;
  T           *to = level(1).x.at(memory_);

  PetscFunctionBegin;
  if constexpr (std::is_same<T, S>::value)
    PetscCall(set(to));
  else {
    PetscCall(set(room));
    PetscCall(Copy(patch, room, patch, to, patch));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Part> PetscErrorCode Hierarchy<Part>::Finish(bool from_x, bool full) {
  bool done = false;

  PetscFunctionBegin;
  full_ = full;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory_) && options_.graph && !parts_ && !algebraic_.serves() && !DeviceRecords()) {
    const bool begun = begun_;
    PetscCall(graphs_.Run(
        {b_, x_, from_x, full, begun, transposed_, visits_}, [&] { return Run(from_x, full); }, &done));
    begun_ = begun && !done;
    options_.graph = done; // what cannot be recorded can be run
  }
#endif
  if (!done) PetscCall(Run(from_x, full));
  PetscCall(CopyOut());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The masses of the finest level's rows, as its passes have them.
template <class Part> PetscErrorCode Hierarchy<Part>::GetMasses(S *m, int *any) {
  PetscFunctionBegin;
  *any = 0;
  if constexpr (variable) {
    Level      &top = level(0);
    const Patch own = part_patch(top);
    const T    *of_rows;
    PetscCall(top.mass.Get(PETSC_MEMTYPE_HOST, &of_rows)); // null where they are ones
    for_each_on_host(own.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
      const PetscInt p[3] = {i, j, k};
      PetscInt       q[3];
      for (int a = 0; a < 3; a++) q[a] = p[a] + own.start[a] - top.patch.start[a];
      const S mass = of_rows ? (S)of_rows[top.part.grown.index(q)] : S(1);
      if (mass != (S)1) *any = 1;
      m[own.index(i, j, k)] = mass;
    });
  } else
    (void)m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if SHELLAC_CUDA
template <class Part> PetscErrorCode Hierarchy<Part>::ReadNorm(PetscReal *norm) {
  double       sum = 0;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(current_stream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(&sum, norm_, sizeof(sum), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid_.comm));
  *norm = PetscSqrtReal((PetscReal)sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace shellac
