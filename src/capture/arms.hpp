#pragma once
// The arms of a DMDA's stencil: the steps from a point to those that its row may couple to.

#include <type_traits>

#include "grid/grid.hpp"

namespace shellac {

class Arms {
public:
  // Those of the DMDA's star or box. Around a periodic axis of few points several steps may lead to one point: of these
  // only the shortest is an arm.
  explicit Arms(const Grid &grid);

  int             count() const { return (int)steps_.size(); }
  const PetscInt *step(int arm) const { return steps_[arm].d; }
  int             center() const { return center_; }
  // The arm that leads as far as this step between points of the whole grid; -1 for none.
  int find(const PetscInt step[3]) const;
  int opposite(int arm) const {
    const PetscInt *d = step(arm), back[3] = {-d[0], -d[1], -d[2]};
    return find(back);
  }
  PetscInt width() const { return width_; }
  bool     box() const { return box_; }
  int      dim() const { return dim_; }
  // The arms are all of the star's or box', so that find() has nothing to reduce within the stencil.
  bool complete() const { return complete_; }

private:
  struct Step {
    PetscInt d[3];
  };
  size_t place(const PetscInt d[3]) const {
    size_t at = 0;
    for (int a = 2; a >= 0; a--) at = at * (size_t)(2 * reach_[a] + 1) + (size_t)(d[a] + reach_[a]);
    return at;
  }
  void reduce(PetscInt d[3]) const;

  int               dim_, center_ = 0;
  PetscInt          width_, reach_[3], N_[3]; // reach: longest step along each axis
  bool              periodic_[3], box_, complete_;
  std::vector<Step> steps_; // along the first axis first
  std::vector<int>  arm_at_;
};

// The arms of a whole star or box of width 1, in the order of Arms.
template <int dim, bool box> struct WholeStencil {
  static constexpr int count = box ? (dim == 1 ? 3 : dim == 2 ? 9 : 27) : 2 * dim + 1;
  // The step of an arm along an axis.
  SHELLAC_HD static constexpr int step(int arm, int axis) {
    if (box) return axis >= dim ? 0 : (axis == 0 ? arm % 3 : axis == 1 ? arm / 3 % 3 : arm / 9) - 1;
    if (arm == dim) return 0;
    const int along = arm < dim ? dim - 1 - arm : arm - dim - 1;
    return along != axis ? 0 : arm < dim ? -1 : 1;
  }
};

// Calls f(std::integral_constant<int, dim>), so that the dimension is known when f is compiled.
template <class Function> auto with_dim(int dim, const Function &f) {
  if (dim == 1) return f(std::integral_constant<int, 1>{});
  if (dim == 2) return f(std::integral_constant<int, 2>{});
  return f(std::integral_constant<int, 3>{});
}

} // namespace shellac
