#include "direct/moves.hpp"

#include "direct/lines.hpp"

namespace shellac {

Parts parts_of_grid(const Grid &grid, const Box &inside) {
  Parts parts = boxes_of(grid);
  for (Box &part : parts) part = common(part, inside);
  return parts;
}

Parts whole_parts(const Box &inside, PetscMPIInt ranks, int axis, int also) {
  const int   other[2] = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
  PetscMPIInt split[2] = {1, 1}; // of the other axes
  PetscInt64  least = PETSC_MAX_INT;

  for (PetscMPIInt f = 1; f <= ranks; f++) {
    const PetscMPIInt s[2] = {(PetscMPIInt)PetscMin(f, inside.size(other[0])),
                              (PetscMPIInt)PetscMin(ranks / f, inside.size(other[1]))};
    PetscInt64        most = 1; // points of a rank across the axis
    for (int c = 0; c < 2; c++) most *= (inside.size(other[c]) + s[c] - 1) / s[c];
    const bool whole = also >= 0 && s[other[0] == also ? 0 : 1] == 1 && s[0] * s[1] == ranks;
    if (most < least || whole) split[0] = s[0], split[1] = s[1], least = most;
    if (whole) break;
  }
  Parts parts((size_t)ranks, Box{{0, 0, 0}, {0, 0, 0}});
  for (PetscMPIInt r = 0; r < split[0] * split[1]; r++) {
    const PetscInt at[2] = {r % split[0], r / split[0]};
    Box           &part = parts[(size_t)r];
    part = inside;
    for (int c = 0; c < 2; c++) {
      const PetscInt n = inside.size(other[c]), each = n / split[c], more = n % split[c];
      part.lo[other[c]] = inside.lo[other[c]] + at[c] * each + PetscMin(at[c], more);
      part.hi[other[c]] = part.lo[other[c]] + each + (at[c] < more);
    }
  }
  return parts;
}

bool is_whole(const Parts &parts, const Box &inside, int axis) {
  bool whole = true;
  for (const Box &part : parts) whole = whole && (!part.points() || part.size(axis) == inside.size(axis));
  return whole;
}

PetscErrorCode Move::Create(MPI_Comm comm, const Parts parts[2], const Box rooms[2], HaloWay way) {
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(Destroy());
  comm_ = comm;
  way_ = way;
  PetscCall(PetscCommGetNewTag(comm, &tag_));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  for (int side = 0; side < 2; side++) {
    parts_[side] = parts[side];
    rooms_[side] = rooms[side];
    shared_[side].clear();
    begin_[side].assign(1, 0);
    for (const Box &other : parts[1 - side]) {
      shared_[side].push_back(common(parts[side][(size_t)rank], other));
      const bool here = (PetscMPIInt)shared_[side].size() == rank + 1; // what stays is not packed
      begin_[side].push_back(begin_[side].back() + (here ? 0 : (size_t)shared_[side].back().points()));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Move::Destroy() {
  PetscFunctionBegin;
  for (auto &way : gpu_)
    if (way) PetscCall(way->Destroy(true));
  for (auto &way : gpu_) way.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Move::OnGPU(bool back, const T *from, T *to) {
  std::unique_ptr<Filling> &way = gpu_[back];

  PetscFunctionBegin;
  if (!way) {
    const int    source = back ? 1 : 0, target = 1 - source;
    FillingBoxes boxes;
    boxes.own = parts_[source];
    boxes.wanted = parts_[target];
    boxes.from = rooms_[source];
    boxes.to = rooms_[target];
    way = std::make_unique<Filling>();
    PetscCall(way->Create(comm_, boxes, way_, sizeof(T)));
  }
  PetscCall(way->CheckLate());
  PetscCall(way->Run(from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode Move::Run(PetscMemType memory, bool back, const T *from, T *to, Scratch<T> work[2]) {
  using Copy = point::Paste<T, T>; // between arrays over boxes
  using R = typename RealOf<T>::type;
  const MPI_Datatype type = std::is_same<R, PetscReal>::value ? MPIU_REAL : MPI_FLOAT;
  const PetscInt64   parts = sizeof(T) / sizeof(R); // of a number

  const int                source = back ? 1 : 0, target = 1 - source;
  PetscMPIInt              rank, ranks, count;
  std::vector<MPI_Request> requests;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  PetscCallMPI(MPI_Comm_size(comm_, &ranks));
  if (PetscMemTypeDevice(memory) && ranks > 1) PetscFunctionReturn(OnGPU(back, from, to));
  // what is sent is packed where the values go to, as long as it is under way, if there are no others
  const size_t room = (size_t)rooms_[target].points();
  const bool   there = begin_[source].back() <= room && (size_t)parts_[target][(size_t)rank].points() == room;
  for (int w = there; w < 2 && ranks > 1; w++) PetscCall(work[w].Grow(begin_[w ? target : source].back(), memory));
  T           *sent = there ? to : work[0].at(memory), *received = work[1].at(memory);
  const auto   others = [&](const auto &f) { // the next rank first, so that not all send to one
    for (PetscMPIInt n = 1; n < ranks; n++) PetscCall(f((rank + n) % ranks));
    return (PetscErrorCode)PETSC_SUCCESS;
  };
  PetscCall(others([&](PetscMPIInt r) {
    const Box &box = shared_[target][(size_t)r];
    PetscFunctionBegin;
    if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscMPIIntCast(parts * box.points(), &count));
    requests.push_back(MPI_REQUEST_NULL);
    PetscCallMPI(MPI_Irecv(received + begin_[target][(size_t)r], count, type, r, tag_, comm_, &requests.back()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(others([&](PetscMPIInt r) {
    const Box &box = shared_[source][(size_t)r];
    PetscFunctionBegin;
    if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
    T *packed = sent + begin_[source][(size_t)r];
    PetscCall(for_each_of_box(memory, box, Copy{rooms_[source], box, {0, 0, 0}, from, packed}));
    PetscCall(PetscMPIIntCast(parts * box.points(), &count));
    requests.push_back(MPI_REQUEST_NULL);
    PetscCallMPI(MPI_Isend(packed, count, type, r, tag_, comm_, &requests.back()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
  PetscCall(for_each_of_box(memory, shared_[source][(size_t)rank],
                            Copy{rooms_[source], rooms_[target], {0, 0, 0}, from, to}));
  PetscCall(others([&](PetscMPIInt r) {
    const Box &box = shared_[target][(size_t)r];
    PetscFunctionBegin;
    if (box.points())
      PetscCall(for_each_of_box(memory, box,
                                Copy{box, rooms_[target], {0, 0, 0}, received + begin_[target][(size_t)r], to}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SHELLAC_RUN_MOVE(T) template PetscErrorCode Move::Run(PetscMemType, bool, const T *, T *, Scratch<T>[2]);
SHELLAC_RUN_MOVE(PetscScalar)
#if !defined(PETSC_USE_REAL_SINGLE)
SHELLAC_RUN_MOVE(Single)
#if !defined(PETSC_USE_COMPLEX)
SHELLAC_RUN_MOVE(ComplexOf<float>)
#endif
#endif
#if !defined(PETSC_USE_COMPLEX)
SHELLAC_RUN_MOVE(ComplexOf<PetscReal>)
#endif

} // namespace shellac
