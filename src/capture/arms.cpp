#include "capture/arms.hpp"

namespace shellac {

Arms::Arms(const Grid &grid) : dim_(grid.dim), width_(grid.width), box_(grid.box) {
  PetscInt d[3];
  size_t   all = 0, places = 1;
  for (int a = 0; a < 3; a++) {
    N_[a] = grid.N[a];
    periodic_[a] = grid.boundary[a] == DM_BOUNDARY_PERIODIC;
    reach_[a] = a < dim_ ? width_ : 0;
    places *= (size_t)(2 * reach_[a] + 1);
  }
  arm_at_.assign(places, -1);
  for (d[2] = -reach_[2]; d[2] <= reach_[2]; d[2]++)
    for (d[1] = -reach_[1]; d[1] <= reach_[1]; d[1]++)
      for (d[0] = -reach_[0]; d[0] <= reach_[0]; d[0]++) {
        const int axes = (d[0] != 0) + (d[1] != 0) + (d[2] != 0);
        PetscInt  shortest[3] = {d[0], d[1], d[2]};
        bool      arm = box_ || axes <= 1;
        if (arm) all++;
        reduce(shortest);
        for (int a = 0; a < 3; a++) arm = arm && shortest[a] == d[a] && d[a] < N_[a] && -d[a] < N_[a];
        if (!arm) continue;
        if (axes == 0) center_ = (int)steps_.size();
        arm_at_[place(d)] = (int)steps_.size();
        steps_.push_back({{d[0], d[1], d[2]}});
      }
  complete_ = steps_.size() == all;
}

void Arms::reduce(PetscInt d[3]) const {
  for (int a = 0; a < dim_; a++) {
    if (!periodic_[a]) continue;
    d[a] = (d[a] % N_[a] + N_[a]) % N_[a];
    if (2 * d[a] > N_[a]) d[a] -= N_[a];
  }
}

int Arms::find(const PetscInt step[3]) const {
  PetscInt d[3] = {step[0], step[1], step[2]};
  reduce(d);
  for (int a = 0; a < 3; a++)
    if (d[a] < -reach_[a] || d[a] > reach_[a]) return -1;
  return arm_at_[place(d)];
}

} // namespace shellac
