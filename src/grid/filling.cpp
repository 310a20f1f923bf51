#include "grid/filling.hpp"

#include <climits>

#include "grid/device_halo.hpp"

namespace shellac {

Box common(const Box &one, const Box &other) {
  Box box;
  for (int a = 0; a < 3; a++) {
    box.lo[a] = PetscMax(one.lo[a], other.lo[a]);
    box.hi[a] = PetscMax(PetscMin(one.hi[a], other.hi[a]), box.lo[a]);
  }
  return box;
}

Box without_place(const Box &box) {
  return {{0, 0, 0}, {box.size(0), box.size(1), box.size(2)}};
}

Box moved(Box box, const PetscInt by[3], int times) {
  for (int a = 0; a < 3; a++) box.lo[a] += times * by[a], box.hi[a] += times * by[a];
  return box;
}

namespace {

// An array over a box; its points are those of a patch that begins there.
Patch patch_over(const Box &box) {
  Patch patch = {};
  for (int a = 0; a < 3; a++) patch.N[a] = patch.size[a] = box.size(a);
  return patch;
}

// What a rank gives of its own to one that wants a box: where it is wanted, and where it is.
struct Part {
  Box there, here;
};
std::vector<Part> parts_of(const PetscInt period[3], const Box &own, const Box &wanted) {
  std::vector<Part> parts;
  for (int index = 0; index < Direction::count; index++) {
    const Direction to = Direction::at(index);
    PetscInt        by[3];
    bool            is = true;
    for (int a = 0; a < 3; a++) by[a] = to.d[a] * period[a], is = is && (to.d[a] == 0 || period[a]);
    const Box there = common(moved(own, by, 1), wanted);
    if (is && there.points()) parts.push_back({there, moved(there, by, -1)});
  }
  return parts;
}

} // namespace

using Paste = point::Paste<PetscScalar, PetscScalar>;

PetscErrorCode CopyBox(const Box &box, const PetscScalar *from, const Box &from_box, PetscScalar *to,
                       const Box &to_box) {
  return for_each_of_box(PETSC_MEMTYPE_DEVICE, box, Paste{from_box, to_box, {0, 0, 0}, from, to});
}

PetscErrorCode Filling::Create(MPI_Comm comm, const FillingBoxes &boxes, HaloWay way, size_t value_bytes) {
  const PetscMPIInt ranks = (PetscMPIInt)boxes.own.size();
  PetscMPIInt       rank;
  PetscInt64        most = 0;
  const PetscInt    start[3] = {boxes.from.lo[0], boxes.from.lo[1], boxes.from.lo[2]};

  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate(comm, &comm_, &tag_));
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  std::vector<DeviceHalo::Filled> filled;
  for (const Part &part : parts_of(boxes.period, boxes.own[rank], boxes.wanted[rank])) {
    filled.push_back({part.there, {0, 0, 0}, -1, 0});
    for (int a = 0; a < 3; a++) filled.back().shift[a] = part.here.lo[a] - part.there.lo[a];
  }
  for (PetscMPIInt other = 0; other < ranks; other++) {
    HaloLink   link;
    PetscInt64 sent = 0, came = 0;
    if (other == rank) continue;
    link.neighbour = other;
    for (const Part &part : parts_of(boxes.period, boxes.own[rank], boxes.wanted[other])) {
      link.ours.push_back(moved(part.here, start, -1));
      sent += part.here.points();
    }
    for (const Part &part : parts_of(boxes.period, boxes.own[other], boxes.wanted[rank])) {
      filled.push_back({part.there, {0, 0, 0}, (int)links_.size(), (size_t)came});
      came += part.there.points();
    }
    if (!sent && !came) continue;
    most = PetscMax(most, PetscMax(sent, came));
    link.count = (PetscMPIInt)sent;
    link.arriving = (PetscMPIInt)came;
    links_.push_back(link);
  }
  const auto check = [&](PetscInt64 limit) {
    PetscFunctionBegin;
    SHELLAC_CHECK_ALL(most <= limit, comm_, PETSC_ERR_ARG_OUTOFRANGE,
                      "%" PetscInt64_FMT " values are too many for a message; use more ranks, or fewer "
                      "-pc_stencilmg_whole_points",
                      most);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(check(INT_MAX));
  PetscCall(DeviceHalo::Create(links_, patch_over(boxes.from), comm_, tag_, value_bytes, PETSC_TRUE, way, &device_));
  int by_message = device_->travels_by_message();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &by_message, 1, MPI_INT, MPI_MAX, comm_));
  direct_ = !by_message;
  if (!direct_) PetscCall(check(INT_MAX / (PetscInt64)value_bytes));
  from_ = boxes.from, to_ = boxes.to;
  PetscCall(device_->PlanFilling(filled, boxes.from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Filling::Destroy(bool sound) {
  PetscFunctionBegin;
  if (device_) PetscCall(device_->Destroy(sound));
  delete device_;
  device_ = nullptr;
  if (comm_ != MPI_COMM_NULL) PetscCall(PetscCommDestroy(&comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Filling::RunOver(const void *from, const Box &from_box, void *to, const Box &to_box, bool with_own) {
  return device_->Fill(from, from_box, to, to_box, with_own);
}

PetscErrorCode Filling::CheckLate() const {
  return device_ ? device_->CheckLate() : PETSC_SUCCESS;
}

} // namespace shellac
