#pragma once
// Fields that formulas read: a program's vector, with the values of the neighbours' points that rows need.

#include <functional>
#include <memory>
#include <string>

#include "formulas/boundary.hpp"

namespace shellac {

// A vector, and its values as they were when they were read, on the host: at this rank's points and at those around them.
// Beyond the end of an axis stands the value at the end; beyond a mirrored one, the mirrored value.
class LoadedField {
public:
  LoadedField() = default;
  LoadedField(const LoadedField &) = delete;
  LoadedField &operator=(const LoadedField &) = delete;
  ~LoadedField() { (void)!VecDestroy(&vec_); }

  PetscErrorCode Hold(Vec v); // the vector has not been looked at yet
  // Errors, on all ranks: a vector that is not distributed as the grid's points are, with so many values each; name: for
  // the errors. Takes the vector's state.
  PetscErrorCode Check(const Grid &grid, PetscInt components, Vec v, const char *name);
  // Reads the values after that; width: of what is around the points, along several axes at once for a box. Collective.
  PetscErrorCode Read(const Grid &grid, const Ends ends[3], PetscInt width, bool box, PetscInt components) const;
  // An error on all ranks that names the first value that is not good; names: of each component.
  PetscErrorCode CheckValues(const Grid &grid, const std::function<bool(PetscScalar, const PetscInt i[3])> &good,
                             const char *const names[], const char *remedy) const;
  bool           is_read() const { return array_; }
  // The c-th value at a point of the whole grid.
  SHELLAC_HD PetscScalar at(const PetscInt i[3], PetscInt c = 0) const {
    size_t place = 0;
    for (int a = 2; a >= 0; a--) place = place * (size_t)size_[a] + (size_t)(i[a] - start_[a]);
    return array_[place * (size_t)components_ + (size_t)c];
  }
  const PetscScalar *data() const { return array_; } // [points, along the first axis first][components]
  PetscInt           components() const { return components_; }
  bool               stale() const; // the vector has changed since, as this rank sees it
  Vec                vec() const { return vec_; }

private:
  Vec                              vec_ = NULL;
  PetscObjectState                 state_ = -1;
  mutable PetscInt                 components_ = 0, start_[3], size_[3]; // with the points around
  mutable std::vector<PetscScalar> values_;
  mutable const PetscScalar       *array_ = nullptr; // theirs
};

std::string number(PetscScalar value); // "2", "2+3i"

using HeldField = std::shared_ptr<const LoadedField>;

} // namespace shellac
