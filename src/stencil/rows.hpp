#pragma once
// Reads the rows of an operator, with the columns of the whole matrix.

#include <vector>

#include "stencil/mat.hpp"

namespace shellac {

// Columns ascend, without repetition. Valid until the reader reads the next row.
struct GlobalRow {
  PetscInt           n; // entries
  const PetscInt    *column;
  const PetscScalar *value;
};

// Rows of an operator (or its transpose) are read between Begin() and End(), on the host.
class RowReader {
public:
  // with_values: else columns alone are of interest, and values are any.
  PetscErrorCode Begin(StencilMat *context, StencilOperator *op, bool with_values = true);
  PetscErrorCode End();

  GlobalRow Get(const PetscInt p[3], PetscInt c) { // of the c-th value at a point
    end_ = context_->op->patch().index(p[0], p[1], p[2]) + 1;
    Read(p, 1);
    return Row(0, c);
  }
  // Calls f(row) for the rows of points next to each other along the first axis, in the order of the rows. Where no arm
  // leaves the patch along that axis, columns are found once for many points: they ascend with the point.
  template <class Function> void ForLine(const PetscInt p[3], PetscInt points, const Function &f) {
    end_ = context_->op->patch().index(p[0], p[1], p[2]) + (size_t)points;
    ForPoints(p, points, f);
  }
  template <class Function> void ForAll(const Function &f) { // of this rank
    const PetscInt *size = context_->grid.size;
    PetscInt        p[3] = {0, 0, 0};
    end_ = (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
    for (p[2] = 0; p[2] < size[2]; p[2]++)
      for (p[1] = 0; p[1] < size[1]; p[1]++) ForPoints(p, size[0], f);
  }
  size_t slots() const { return slots_; } // entries of a point's rows, at most

private:
  template <class Function> void ForPoints(const PetscInt p[3], PetscInt points, const Function &f) {
    const PetscInt dof = context_->grid.dof, inner_end = context_->grid.size[0] - reach_, end = p[0] + points;
    for (PetscInt i = p[0], n; i < end; i += n) {
      const PetscInt from[3] = {i, p[1], p[2]};
      n = i >= reach_ && i < inner_end ? PetscMin(PetscMin(end, inner_end) - i, most_) : 1;
      Read(from, n);
      for (PetscInt m = 0; m < n; m++) {
        for (PetscInt c = 0; c < dof; c++) f(Row(m, c));
        for (PetscInt &column : columns_) column += dof;
      }
    }
  }
  void Read(const PetscInt p[3], PetscInt points); // up to most_
  // Of those that were read; columns are the first point's.
  GlobalRow Row(PetscInt point, PetscInt c) {
    const PetscScalar *values = values_.data() + at_ * slots_ + (size_t)(point * context_->grid.dof + c) * length_;
    return as_stored_ ? GlobalRow{(PetscInt)columns_.size(), columns_.data(), values} : Select(c, values);
  }
  GlobalRow Select(PetscInt c, const PetscScalar *values);

  StencilMat                       *context_ = nullptr;
  std::unique_ptr<PreparedOperator> op_; // null but between the two
  Arrays                            arrays_;
  PetscInt                          reach_ = 0, most_ = 1;   // of the arms along the first axis; points read at once
  size_t                            length_ = 0, slots_ = 0; // of a row as the operator stores it; of a point's rows
  size_t                            end_ = 0; // of the points that are to be read, in the order of the patch
  size_t first_ = 0, count_ = 0, at_ = 0;     // points whose values are there, and the one that Row() counts from
  bool   with_values_ = true;
  bool   as_stored_ = false;                                    // rows have all arms, in their order
  std::vector<std::pair<PetscInt, int>> ends_;                  // of the arms in the domain: column and arm
  std::vector<PetscInt>                 columns_, row_columns_; // of a point; of a row, where that has fewer
  std::vector<PetscScalar>              values_, row_values_;
};

} // namespace shellac
