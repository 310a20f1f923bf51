#pragma once
// Fields that formulas read: a program's vector, with the values of the neighbours' points that rows need.

#include <functional>
#include <memory>
#include <string>

#include "formulas/boundary.hpp"

namespace shellac {

// Values of a vector at this rank's points and at those around them, on the host. Beyond the end of an axis stands the
// value at the end; beyond a mirrored one, the mirrored value.
class GridValues {
public:
  // Of a vector of the grid's layout with so many values a point; patch: this rank's; width: of what is around it, along
  // several axes at once for a box. Collective.
  PetscErrorCode Read(const Grid &grid, const Patch &patch, const Ends ends[3], PetscInt width, bool box,
                      PetscInt components, Vec v);
  // The c-th value at a point of the whole grid.
  SHELLAC_HD PetscScalar at(const PetscInt i[3], PetscInt c = 0) const {
    size_t place = 0;
    for (int a = 2; a >= 0; a--) place = place * (size_t)size_[a] + (size_t)(i[a] - start_[a]);
    return array_[place * (size_t)components_ + (size_t)c];
  }
  const PetscScalar *data() const { return values_.data(); } // [points, along the first axis first][components]
  PetscInt           components() const { return components_; }

private:
  PetscInt                 components_ = 0, start_[3], size_[3]; // with the points around
  std::vector<PetscScalar> values_;
  const PetscScalar       *array_ = nullptr; // theirs
};

// A vector, and its values as they were when they were read, with those around the rank's points.
class LoadedField {
public:
  LoadedField() = default;
  LoadedField(const LoadedField &) = delete;
  LoadedField &operator=(const LoadedField &) = delete;
  ~LoadedField() { (void)!VecDestroy(&vec_); }

  // Arguments as of GridValues::Read(), components: 0 for as many as the vector has; name: for errors.
  // Errors, on all ranks: a vector that is not distributed as the grid's points are.
  PetscErrorCode Load(const Grid &grid, const Patch &patch, const Ends ends[3], PetscInt width, bool box,
                      PetscInt components, Vec v, const char *name);
  PetscErrorCode Hold(Vec v); // the vector has not been looked at yet
  // Load() in two steps: its errors, and the state of the vector; then its values. Both are collective.
  PetscErrorCode Check(const Grid &grid, PetscInt components, Vec v, const char *name);
  PetscErrorCode Read(const Grid &grid, const Patch &patch, const Ends ends[3], PetscInt width, bool box,
                      PetscInt components) const;
  // An error on all ranks that names the first value that is not good; names: of each component.
  PetscErrorCode CheckValues(const Grid &grid, const std::function<bool(PetscScalar)> &good, const char *const names[],
                             const char *remedy) const;
  bool           is_read() const { return is_read_; }
  SHELLAC_HD PetscScalar at(const PetscInt i[3], PetscInt c = 0) const { return values_.at(i, c); }
  bool                   stale() const; // the vector has changed since, as this rank sees it
  Vec                    vec() const { return vec_; }

  const GridValues &values() const { return values_; }

private:
  Vec                vec_ = NULL;
  PetscObjectState   state_ = -1;
  mutable GridValues values_;
  mutable bool       is_read_ = false;
};

std::string number(PetscScalar value); // "2", "2+3i"

using HeldField = std::shared_ptr<const LoadedField>;

} // namespace shellac
