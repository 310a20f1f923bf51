#pragma once
// The axes of an equation's grid: positions of the points, of the ends, and of points beyond them.

#include <vector>

#include "equations/stretching.hpp"
#include "formulas/boundary.hpp"
#include "grid/axes.hpp"

namespace shellac {

class EquationAxis {
public:
  EquationAxis() = default;
  // Over the domain from lower to upper.
  EquationAxis(const Ends &ends, PetscReal lower, PetscReal upper, const Stretching &stretching);
  // With points at these coordinates, two or more. Of stretched ones, the spacings go on beyond the last point as they
  // begin: the end of an `eliminated` or `neumann` side is there.
  EquationAxis(const Ends &ends, const std::vector<PetscReal> &x, bool uniform);

  bool      stretched() const { return !x_.empty(); }
  PetscReal h() const { return h_; } // the spacing, or the mean of all
  PetscReal end(int side) const { return end_[side]; }
  // The coordinate of a point. Beyond an end, where a condition reflects the values, it is the image of the point inside;
  // beyond a periodic axis, as far away as the period says.
  PetscReal at(PetscInt i) const;
  // The spacing h of Ends::fold() for a point m steps beyond an end: 2m - 1 of them lie between it and its image.
  PetscReal image_spacing(int side, PetscInt m) const;
  // The lengths of the points' cells: these end in the middle between points, and where the domain does.
  std::vector<double> cells() const;
  // The tables equation::AxisTable.
  std::vector<double> tables(PetscInt width) const;

private:
  PetscInt depth(int side, PetscInt m) const { return m - (PetscInt)(2 * distance_[side]); } // of the image

  std::vector<PetscReal> x_; // of a stretched axis
  PetscInt               N_ = 1;
  bool                   periodic_ = true;
  PetscReal              origin_ = 0, h_ = 1, end_[2] = {0, 1};
  PetscReal              distance_[2] = {0, 0}; // from an end to its last point [spacings]
};

} // namespace shellac
