#pragma once
// The coefficients of a Mat of type stencil, for code that computes all of them.

#include "grid/grid.hpp"

namespace shellac {

// Opens A in *memory, or on the host if its coefficients cannot be there, and *memory is then that. *slots: [slots][points],
// their arrays, themselves in that memory, in the order of row, arm and column; their contents are arbitrary, and all are to
// be set. MatAssemblyEnd() closes it. vary: A is assembled again and again, and other rows are equal each time, if any. They
// stay in arrays then, unless the options ask for another form, and so does the memory of all slots. *slots is null, and
// nothing is done, where A is of another type or grid, or not all arms of the grid's stencil have slots of their own, or an
// AIJ is assembled beside.
PetscErrorCode MatCapturedOpenSlots(Mat A, const Grid &grid, bool vary, PetscMemType *memory,
                                    PetscScalar *const **slots);

} // namespace shellac
