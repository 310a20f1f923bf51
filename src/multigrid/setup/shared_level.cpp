#include "multigrid/setup/shared_level.hpp"

#include <climits>
#include <cstring>

#include "device/memory.hpp"
#include "multigrid/setup/ghost_points.hpp"

namespace shellac {

PetscErrorCode SharedLevel::FindWorkers(MPI_Comm comm, bool alone, std::vector<PetscMPIInt> *workers) {
  MPI_Comm    host;
  PetscMPIInt rank, ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host));
  PetscMPIInt worker = alone ? ranks : rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worker, 1, MPI_INT, MPI_MIN, host));
  PetscCallMPI(MPI_Comm_free(&host));
  if (alone) worker = rank;
  workers->resize((size_t)ranks);
  PetscCallMPI(MPI_Allgather(&worker, 1, MPI_INT, workers->data(), 1, MPI_INT, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void take_read_points(const GridCoarsening &of, PetscInt beyond, Patch *coarse) {
  for (int a = 0; a < 3; a++) {
    const PetscInt N = coarse->N[a];
    PetscInt       lo = of.below(a, -beyond), hi = of.below(a, of.patch.size[a] - 1 + beyond) + 2;
    if (coarse->periodic[a] && hi - lo >= N) lo = 0, hi = N;
    if (!coarse->periodic[a]) lo = PetscMax(lo, 0), hi = PetscMax(PetscMin(hi, N), lo);
    coarse->start[a] = lo, coarse->size[a] = hi - lo;
    coarse->periodic[a] = coarse->periodic[a] && hi - lo == N;
  }
}

std::string place_of(bool whole, const std::vector<PetscMPIInt> &workers) {
  int count = 0;
  for (size_t rank = 0; rank < workers.size(); rank++) count += workers[rank] == (PetscMPIInt)rank;
  if (workers.empty()) return "";
  if (!whole) return ", distributed";
  return ", on " + std::to_string(count) + " of " + std::to_string(workers.size()) + " ranks";
}

PetscErrorCode SharedLevel::Create(const Grid &parts, const std::vector<PetscMPIInt> &workers, const Box &read) {
  const PetscMPIInt ranks = (PetscMPIInt)workers.size();
  std::vector<Box>  reads(workers.size());
  size_t            first = 0;

  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate(parts.comm, &comm_, &tag_));
  PetscCallMPI(MPI_Comm_rank(comm_, &rank_));
  worker_ = workers[(size_t)rank_];
  all_ = box_of(parts);
  static_assert(sizeof(Box) == 6 * sizeof(PetscInt), "a box is sent as six integers");
  PetscCallMPI(MPI_Allgather(&read, 6, MPIU_INT, reads.data(), 6, MPIU_INT, comm_));
  for (PetscMPIInt worker = 0; worker < ranks; worker++) {
    const size_t of_worker = parts_.size(); // it is the first of those for which it works
    for (PetscMPIInt rank = worker; rank < ranks; rank++) {
      if (workers[(size_t)rank] != worker) continue;
      const Box own = part_of(parts, rank);
      parts_.push_back({rank, worker, own, reads[(size_t)rank], first, 0});
      parts_[of_worker].of_host += (size_t)own.points();
      first += (size_t)own.points();
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SharedLevel::Destroy() {
  PetscFunctionBegin;
  if (comm_ != MPI_COMM_NULL) PetscCall(PetscCommDestroy(&comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SharedLevel::Wait() {
  PetscFunctionBegin;
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests_.size(), requests_.data(), MPI_STATUSES_IGNORE));
  requests_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SharedLevel::GatherBytes(PetscMemType memory, size_t bytes, const void *part, void *all) {
  const bool on_gpu = PetscMemTypeDevice(memory);

  PetscFunctionBegin;
  PetscCheck(
      all_.points() <= INT_MAX / (PetscInt64)bytes, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
      "a level of which one rank has all points is too large for a message; use fewer ranks, or ranks that have more "
      "points along each axis");
  room_.resize((size_t)all_.points() * bytes);
  const auto place = [&](const Part &of) { return room_.data() + of.first * bytes; };
  const auto send = [&](const char *from, size_t n, PetscMPIInt to) {
    return MPI_Isend(from, (PetscMPIInt)n, MPI_BYTE, to, tag_, comm_, &requests_.emplace_back());
  };
  const auto receive = [&](char *to, size_t n, PetscMPIInt from) {
    return MPI_Irecv(to, (PetscMPIInt)n, MPI_BYTE, from, tag_, comm_, &requests_.emplace_back());
  };
  const Part *here = nullptr; // of the rank that works on this host
  for (const Part &of : parts_) {
    if (of.worker != worker_) continue;
    if (!here) here = &of;
    const size_t own = (size_t)of.own.points() * bytes;
    if (of.rank == rank_) {
      PetscCall(on_gpu ? DeviceCopyToHost(place(of), part, own) : PetscMemcpy(place(of), part, own));
      if (!works()) PetscCallMPI(send(place(of), own, worker_));
    } else if (works())
      PetscCallMPI(receive(place(of), own, of.rank));
  }
  PetscCall(Wait());
  if (!works()) PetscFunctionReturn(PETSC_SUCCESS);
  for (const Part &of : parts_) // from host to host, the parts of each in one message
    if (of.rank == of.worker && of.rank != rank_) {
      PetscCallMPI(receive(place(of), of.of_host * bytes, of.rank));
      PetscCallMPI(send(place(*here), here->of_host * bytes, of.rank));
    }
  PetscCall(Wait());
  if (on_gpu) of_gpu_.resize(room_.size());
  char *const to = on_gpu ? of_gpu_.data() : (char *)all;
  for (const Part &of : parts_)
    for_each_row(of.own, [&](const PetscInt p[3], PetscInt n) {
      std::memcpy(to + all_.index(p) * bytes, place(of) + of.own.index(p) * bytes, (size_t)n * bytes);
    });
  if (on_gpu) PetscCall(DeviceCopyFromHost(all, to, room_.size()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SharedLevel::ScatterBytes(PetscMemType memory, size_t bytes, void *x) {
  const bool  on_gpu = PetscMemTypeDevice(memory);
  const char *from = (const char *)x;
  size_t      points = 0; // that go to others, or come

  PetscFunctionBegin;
  const auto there = [&](const Part &of) {
    return works() ? of.worker == rank_ && of.rank != rank_ : of.rank == rank_;
  };
  for (const Part &of : parts_) points += there(of) ? (size_t)of.read.points() : 0;
  if (!points) PetscFunctionReturn(PETSC_SUCCESS);
  room_.resize(points * bytes);
  if (!works()) {
    PetscCallMPI(MPI_Recv(room_.data(), (PetscMPIInt)room_.size(), MPI_BYTE, worker_, tag_, comm_, MPI_STATUS_IGNORE));
    PetscCall(on_gpu ? DeviceCopyFromHost(x, room_.data(), room_.size()) : PetscMemcpy(x, room_.data(), room_.size()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (on_gpu) {
    of_gpu_.resize((size_t)all_.points() * bytes);
    PetscCall(DeviceCopyToHost(of_gpu_.data(), x, of_gpu_.size()));
    from = of_gpu_.data();
  }
  char *to = room_.data();
  for (const Part &of : parts_) {
    const size_t n = (size_t)of.read.points() * bytes;
    if (!there(of) || !n) continue;
    for_each_row(of.read, [&](const PetscInt p[3], PetscInt count) {
      const bool     inside = p[0] >= 0 && p[0] + count <= all_.hi[0];
      const PetscInt step = inside ? count : 1; // values that follow each other
      for (PetscInt i = 0; i < count; i += step) {
        PetscInt q[3] = {p[0] + i, p[1], p[2]};
        for (int a = 0; a < 3; a++) q[a] = (q[a] % all_.hi[a] + all_.hi[a]) % all_.hi[a];
        std::memcpy(to + (of.read.index(p) + (size_t)i) * bytes, from + all_.index(q) * bytes, (size_t)step * bytes);
      }
    });
    PetscCallMPI(MPI_Isend(to, (PetscMPIInt)n, MPI_BYTE, of.rank, tag_, comm_, &requests_.emplace_back()));
    to += n;
  }
  PetscCall(Wait());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
