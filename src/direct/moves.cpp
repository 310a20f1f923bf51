#include "direct/moves.hpp"

#include <petscsf.h>

namespace shellac {

namespace {

Box intersection(const Box &a, const Box &b) {
  Box both;
  for (int c = 0; c < 3; c++) {
    both.lo[c] = PetscMax(a.lo[c], b.lo[c]);
    both.hi[c] = PetscMax(PetscMin(a.hi[c], b.hi[c]), both.lo[c]);
  }
  return both;
}

// Arrays have the values of boxes.
struct Copy {
  Box                from_room, to_room;
  const PetscScalar *from;
  PetscScalar       *to;
  SHELLAC_HD void    operator()(PetscInt i, PetscInt j, PetscInt k) const {
       const PetscInt p[3] = {i, j, k};
       to[to_room.index(p)] = from[from_room.index(p)];
  }
};

} // namespace

Parts parts_of_grid(const Grid &grid, const Box &inside) {
  Parts parts;
  for (PetscMPIInt r = 0; r < grid.ranks[0] * grid.ranks[1] * grid.ranks[2]; r++) {
    const PetscMPIInt at[3] = {r % grid.ranks[0], r / grid.ranks[0] % grid.ranks[1],
                               r / (grid.ranks[0] * grid.ranks[1])};
    Box               own;
    for (int a = 0; a < 3; a++) own.lo[a] = grid.first[a][at[a]], own.hi[a] = grid.first[a][at[a] + 1];
    parts.push_back(intersection(own, inside));
  }
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

PetscErrorCode Move::Create(MPI_Comm comm, const Parts parts[2], const Box rooms[2]) {
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(Destroy());
  comm_ = comm;
  PetscCall(PetscCommGetNewTag(comm, &tag_));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  for (int side = 0; side < 2; side++) {
    parts_[side] = parts[side];
    rooms_[side] = rooms[side];
    shared_[side].clear();
    begin_[side].assign(1, 0);
    for (const Box &other : parts[1 - side]) {
      shared_[side].push_back(intersection(parts[side][(size_t)rank], other));
      begin_[side].push_back(begin_[side].back() + (size_t)shared_[side].back().points());
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Move::Destroy() {
  PetscFunctionBegin;
  for (PetscSF &forest : forest_) PetscCall(PetscSFDestroy(&forest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Roots are the packed values of those that send, leaves those of this rank.
PetscErrorCode Move::MakeForest(bool back) {
  const int                source = back ? 1 : 0, target = 1 - source;
  std::vector<PetscInt>    places;
  std::vector<PetscSFNode> nodes;
  PetscMPIInt              rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  for (size_t r = 0; r < parts_[source].size(); r++) {
    PetscInt64 at = 0; // of this rank's values, among those that rank r sends
    for (PetscMPIInt before = 0; before < rank; before++)
      at += intersection(parts_[source][r], parts_[target][(size_t)before]).points();
    for (PetscInt64 n = 0; n < shared_[target][r].points() && (PetscMPIInt)r != rank; n++) {
      places.push_back((PetscInt)(begin_[target][r] + (size_t)n));
      nodes.push_back({(PetscInt)r, (PetscInt)(at + n)});
    }
  }
  PetscCall(PetscSFCreate(comm_, &forest_[back]));
  PetscCall(PetscSFSetGraph(forest_[back], (PetscInt)begin_[source].back(), (PetscInt)nodes.size(), places.data(),
                            PETSC_COPY_VALUES, nodes.data(), PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(forest_[back]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Move::Run(PetscMemType memory, bool back, const PetscScalar *from, PetscScalar *to,
                         Scratch<PetscScalar> work[2]) {
  const int                source = back ? 1 : 0, target = 1 - source;
  const bool               host = PetscMemTypeHost(memory);
  PetscMPIInt              rank, ranks, count;
  std::vector<MPI_Request> requests;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  PetscCallMPI(MPI_Comm_size(comm_, &ranks));
  const Box &own = shared_[source][(size_t)rank];
  if (ranks > 1) {
    for (int w = 0; w < 2; w++) PetscCall(work[w].Grow(begin_[w ? target : source].back(), memory));
    PetscScalar *sent = work[0].at(memory), *received = work[1].at(memory);
    const auto   others = [&](const auto &f) { // the next rank first, so that not all send to one
      for (PetscMPIInt n = 1; n < ranks; n++) PetscCall(f((rank + n) % ranks));
      return (PetscErrorCode)PETSC_SUCCESS;
    };
    PetscCall(others([&](PetscMPIInt r) {
      const Box &box = shared_[target][(size_t)r];
      PetscFunctionBegin;
      if (!host || !box.points()) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(PetscMPIIntCast(box.points(), &count));
      requests.push_back(MPI_REQUEST_NULL);
      PetscCallMPI(
          MPI_Irecv(received + begin_[target][(size_t)r], count, MPIU_SCALAR, r, tag_, comm_, &requests.back()));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(others([&](PetscMPIInt r) {
      const Box &box = shared_[source][(size_t)r];
      PetscFunctionBegin;
      if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
      PetscScalar *packed = sent + begin_[source][(size_t)r];
      PetscCall(for_each_of_box(memory, box, Copy{rooms_[source], box, from, packed}));
      if (!host) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(PetscMPIIntCast(box.points(), &count));
      requests.push_back(MPI_REQUEST_NULL);
      PetscCallMPI(MPI_Isend(packed, count, MPIU_SCALAR, r, tag_, comm_, &requests.back()));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    if (!host) {
      if (!forest_[back]) PetscCall(MakeForest(back));
      PetscCall(PetscSFBcastWithMemTypeBegin(forest_[back], MPIU_SCALAR, memory, sent, memory, received, MPI_REPLACE));
    }
  }
  PetscCall(for_each_of_box(memory, own, Copy{rooms_[source], rooms_[target], from, to}));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscScalar *sent = work[0].at(memory), *received = work[1].at(memory);
  if (host)
    PetscCallMPI(MPI_Waitall((PetscMPIInt)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
  else
    PetscCall(PetscSFBcastEnd(forest_[back], MPIU_SCALAR, sent, received, MPI_REPLACE));
  for (PetscMPIInt r = 0; r < ranks; r++) {
    const Box &box = shared_[target][(size_t)r];
    if (r != rank && box.points())
      PetscCall(for_each_of_box(memory, box, Copy{box, rooms_[target], received + begin_[target][(size_t)r], to}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
