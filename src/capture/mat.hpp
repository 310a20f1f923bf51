#pragma once
// The type stencil: a shell Mat that captures what an application assembles on a DMDA.

#include "capture/captured.hpp"
#include "capture/places.hpp"
#include "capture/sweeps_on_host.hpp"
#include "stencil/mat.hpp"

namespace shellac {

// An entry by its global row and column.
struct GlobalEntry {
  PetscInt    row, column;
  PetscScalar value;
  InsertMode  mode;
};

// What a change does to an operator: it becomes aA + sI, it gets another diagonal, or other rows.
enum class Alteration { scaled, diagonal, rows };

struct CooMap;

struct CapturedSettings {
  Compression                 compression;
  MatStencilShellFallbackType fallback = MAT_STENCILSHELL_FALLBACK_ERROR; // where an entry is outside the stencil
  PetscBool                   keep_arrays = PETSC_TRUE;                   // of compressed rows, for the next assembly
  PetscBool                   row_oriented = PETSC_TRUE;                  // MAT_ROW_ORIENTED
  PetscBool                   ignore_off_process = PETSC_FALSE;           // MAT_IGNORE_OFF_PROC_ENTRIES
  PetscBool                   drop_outside = PETSC_FALSE;                 // MAT_NEW_NONZERO_LOCATIONS is false
};

struct CapturedMat : StencilMat, CapturedSettings {
  PetscErrorCode   set_up(Mat A) override;
  PetscErrorCode   make_transpose(std::unique_ptr<StencilOperator> *transpose) override;
  PetscErrorCode   Prepare(StencilOperator *op, Arrays *arrays, std::unique_ptr<PreparedOperator> *prepared) override;
  PetscErrorCode   destroy() override;
  PetscErrorCode   bind_operator() override;
  PetscErrorCode   invalidate() override;
  CapturedStencil &captured() const { return static_cast<CapturedStencil &>(*op); }

  // For types of this kind that know more of their operator.
  virtual PetscErrorCode check_readable() const { return PETSC_SUCCESS; } // an error where it is between two states
  virtual PetscErrorCode check_can_add(Mat, Mat) const { return PETSC_SUCCESS; } // entries of a matrix of another kind
  virtual PetscErrorCode count_entries(PetscLogDouble *count); // of this rank's rows, for MatGetInfo()
  virtual PetscErrorCode check_copy(const CapturedMat &) const { return PETSC_SUCCESS; } // it can become this one
  virtual PetscErrorCode begin_change() { return PETSC_SUCCESS; } // before a change of all entries
  // after a change, of its kind
  virtual PetscErrorCode changed(Mat A);
  virtual PetscErrorCode altered(Mat A, Alteration, PetscScalar, PetscScalar) { return changed(A); } // a and s
  virtual PetscErrorCode added(Mat A, PetscScalar, const CapturedMat &) { return changed(A); } // it has become A + aX
  virtual PetscErrorCode copied(Mat A) { return changed(A); } // by MatCopy(), from another
  virtual PetscErrorCode transposed(Mat A) { return changed(A); }
  virtual PetscErrorCode conjugated(Mat A) { return changed(A); }
  // what a duplicate takes over before its set-up, with the coefficients, and without them
  virtual void           take_settings(const CapturedMat &from);
  virtual PetscErrorCode take_state(Mat, const CapturedMat &) { return PETSC_SUCCESS; }
  virtual PetscErrorCode take_pattern(Mat, const CapturedMat &) { return PETSC_SUCCESS; } // it is zero

protected:
  // Arms, halo and a zero operator, on the grid; depth: see CapturedStencil.
  PetscErrorCode make_operator(Mat A, PetscBool on_device, PetscInt depth);

public:
  // One entry, at a point of the patch.
  PetscErrorCode put(int slot, size_t at, PetscScalar value, InsertMode mode) {
    PetscFunctionBeginHot;
    if (!values[slot]) {
      if (value == (PetscScalar)0) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(captured().Need(slot));
    }
    PetscScalar &entry = values[slot][at];
    entry = mode == ADD_VALUES ? entry + value : value;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscBool verify = PETSC_FALSE; // a setting: an AIJ is assembled as well, and compared

  // made by MatSetUp()
  std::shared_ptr<const Arms> arms;
  PetscInt                    ghost_start[3], ghost_size[3]; // of the DMDA's local vectors
  ISLocalToGlobalMapping      local_map = NULL;              // the DMDA's
  const PetscInt             *local_points = nullptr;        // its global points; negative where there is none
  NumberedRows                local_rows;                    // of the DMDA's local vectors
  Places                      places;

  HostSweeps sweeps; // of MatSOR()

  // between MatSetValues() and MatAssemblyEnd()
  PetscScalar *const      *values = nullptr;    // of the open operator
  std::vector<PetscInt>    of_blocks[2];        // the rows and columns of a call for blocks
  std::vector<GlobalEntry> off_process;         // for other ranks
  std::vector<GlobalEntry> outside;             // of owned rows, beyond the stencil
  bool                     rows_vary = false;   // see MatCapturedOpenSlots()
  bool                     set_once = false;    // arrays of the first assembly are hardly needed for another
  bool                     assembled = false;   // from arrays, at least once
  Mat                      reference = NULL;    // -mat_stencil_verify
  PetscReal                reference_error = 0; // relative: of differences of a function that another processor rounds
  std::shared_ptr<CooMap>  coo;                 // of MatSetPreallocationCOO(); null before
};

// sor.cpp: MATOP_SOR, on host vectors in the order of an AIJ's rows
PetscErrorCode MatCapturedRelax(Mat A, Vec b, PetscReal omega, MatSORType sweeps, PetscReal shift, PetscInt its,
                                PetscInt lits, Vec x);
// Sets the operations of each source file.
PetscErrorCode MatCapturedSetOptionOperations(Mat A);
PetscErrorCode MatCapturedSetAssemblyOperations(Mat A);
PetscErrorCode MatCapturedSetCooOperations(Mat A);
PetscErrorCode MatCapturedSetSlotOperations(Mat A);
PetscErrorCode MatCapturedSetZeroRowsOperations(Mat A);
PetscErrorCode MatCapturedSetLoadOperations(Mat A);
PetscErrorCode MatCapturedSetAlgebraOperations(Mat A);
PetscErrorCode MatCapturedSetDiagonalOperations(Mat A);
PetscErrorCode MatCapturedSetTransposeOperations(Mat A);
// The transpose of rows, where these are; halo: of their values.
PetscErrorCode transpose_captured(CapturedStencil &A, Halo *halo, Compression wish,
                                  std::unique_ptr<CapturedStencil> *made);
PetscErrorCode MatCapturedSetColoringOperations(Mat A);

PetscErrorCode MatIsCaptured(Mat A, bool *is); // whether its coefficients are captured or a formula's
// Opens the operator for changes of its values, which are in this memory if they can be there; and closes it again,
// compressed as the options say or, where what has changed it cannot be held so, in another form.
PetscErrorCode MatCapturedOpen(CapturedMat *context, PetscMemType memory = PETSC_MEMTYPE_HOST);
// Opens it where all of these vectors are, of which some may be null.
PetscErrorCode MatCapturedOpenBeside(CapturedMat *context, std::initializer_list<Vec> vectors);
// as_arrays: in arrays, where they have been before, so that nothing is sought or made.
PetscErrorCode MatCapturedClose(CapturedMat *context, bool as_arrays);
// -mat_stencil_verify: makes an AIJ with the present entries, and all others of the stencil; and compares it after an
// assembly of both. Collective.
PetscErrorCode MatCapturedMakeReference(Mat A, CapturedMat *context);
PetscErrorCode MatCapturedVerify(Mat A, CapturedMat *context);
// -mat_stencil_fallback: A becomes an AIJ with all that was captured, and the entries outside the stencil.
PetscErrorCode MatCapturedFallBack(Mat A, CapturedMat *context);
// Whether points, their distribution and the stencil are the same.
inline bool has_same_stencil(const Grid &a, const Grid &b) {
  return a.dim == b.dim && a.dof == b.dof && a.width == b.width && a.box == b.box && a.is_distributed_as(b);
}
// An error for matrices of different grids, boundaries or stencils.
PetscErrorCode MatCapturedCheckAlike(const CapturedMat &a, const CapturedMat &b);
// Calls f(row, n, columns, values) for this rank's rows of any matrix.
template <class Function> PetscErrorCode for_each_row(Mat A, const Function &f) {
  PetscInt first, last, n;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; row++) {
    const PetscInt    *columns;
    const PetscScalar *values;
    PetscCall(MatGetRow(A, row, &n, &columns, &values));
    PetscCall(f(row, n, columns, values));
    PetscCall(MatRestoreRow(A, row, &n, &columns, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
// A matrix of the same type, grid and settings; zero.
PetscErrorCode MatCapturedCreateLike(Mat A, Mat *B);
PetscErrorCode MatCapturedSetOption(Mat A, MatOption option, PetscBool flag);
PetscErrorCode MatCapturedZero(Mat A);                                // MatZeroEntries()
PetscErrorCode MatCapturedForgetEntries(Mat A, CapturedMat *context); // all but the operator's
// Drops values that were set, but not assembled.
PetscErrorCode MatCapturedDiscardValues(CapturedMat *context);
PetscErrorCode MatCapturedForgetCoo(CapturedMat *context); // what MatSetPreallocationCOO() has made
// An error on all ranks where one has an entry outside the stencil, unless the matrix may then become an AIJ; *any:
// whether there is one. first: this rank's; null for none. Collective.
PetscErrorCode MatCapturedCheckOutside(const CapturedMat &context, const GlobalEntry *first, bool *any);

} // namespace shellac
