// The settings of formulas: options and setters.

#include "formulas/mat.hpp"

#include "formulas/options.hpp"
#include "options/agreement.hpp"

namespace shellac {

// Values for all sides, or one for each.
static PetscErrorCode check_sides(MPI_Comm comm, const char *what, PetscInt n, const void *values) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(values, comm, PETSC_ERR_ARG_NULL, "the array of %s is null; give %" PetscInt_FMT, what, n);
  SHELLAC_CHECK_ALL(n == 1 || n == 2 || n == 4 || n == 6, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%" PetscInt_FMT
                    " %s are given; give one for all sides, or one for each: 2, 4 or 6 of a grid of 1, 2 or 3 "
                    "dimensions",
                    n, what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_boundaries(Mat A, PetscInt n, const MatLaplaceBoundaryType forms[]) {
  FormulaMat *context;
  PetscInt    wrong = 0;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscCall(check_sides(comm, "boundary forms", n, forms));
  PetscInt known = 0; // MatLaplaceBoundaryTypes are the names, that of the type, a prefix
  while (MatLaplaceBoundaryTypes[known]) known++;
  while (wrong < n && forms[wrong] >= 0 && (PetscInt)forms[wrong] < known - 2) wrong++;
  SHELLAC_CHECK_ALL(wrong == n, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "boundary form %d is unknown; use eliminated, identity, neumann or robin", (int)forms[wrong]);
  PetscInt   differs = 0; // the first side with another form
  const auto present = [&](PetscInt side) { return of_side(context->forms_given, context->forms, side); };
  while (differs < 6 && of_side(n, forms, differs) == present(differs)) differs++;
  SHELLAC_CHECK_ALL(!context->op || differs == 6, comm, PETSC_ERR_ORDER,
                    "the boundary form is %s since MatSetUp(), and %s comes too late; set it before",
                    MatLaplaceBoundaryTypes[present(differs)], MatLaplaceBoundaryTypes[of_side(n, forms, differs)]);
  if (context->op) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckCallAgrees(comm, "MatLaplaceSetBoundaries()", n, forms));
  for (PetscInt s = 0; s < n; s++) context->forms[s] = forms[s];
  context->forms_given = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_boundary(Mat A, MatLaplaceBoundaryType form) {
  return set_boundaries(A, 1, &form);
}

static PetscErrorCode set_robin(Mat A, PetscInt n, const PetscReal alpha[]) {
  FormulaMat *context;
  PetscInt    wrong = 0;
  bool        same = true;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscCall(check_sides(comm, "Robin coefficients", n, alpha));
  while (wrong < n && !PetscIsInfOrNanReal(alpha[wrong])) wrong++;
  SHELLAC_CHECK_ALL(wrong == n, comm, PETSC_ERR_ARG_OUTOFRANGE, "a Robin coefficient is %g; it must be finite",
                    (double)alpha[wrong]);
  for (PetscInt s = 0; s < n; s++) same = same && alpha[s] == context->robin[s];
  SHELLAC_CHECK_ALL(!context->op || (same && n == context->robin_given), comm, PETSC_ERR_ORDER,
                    "the Robin coefficients are fixed since MatSetUp(); set them before");
  PetscCall(CheckCallAgrees(comm, "MatLaplaceSetRobin()", n, alpha));
  for (PetscInt s = 0; s < n; s++) context->robin[s] = alpha[s];
  context->robin_given = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_lengths(Mat A, PetscInt n, const PetscReal lengths[]) {
  FormulaMat *context;
  MatType     type;
  PetscInt    wrong = 0;
  bool        same = true;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(MatGetType(A, &type));
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  SHELLAC_CHECK_ALL(lengths, comm, PETSC_ERR_ARG_NULL,
                    "the array of side lengths is null; give %" PetscInt_FMT " lengths", n);
  SHELLAC_CHECK_ALL(n >= 1 && n <= 3, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "%" PetscInt_FMT
                    " side lengths are given (-mat_%s_lengths, MatLaplaceSetLengths()); give one for each axis",
                    n, type);
  while (wrong < n && lengths[wrong] > 0 && !PetscIsInfOrNanReal(lengths[wrong])) wrong++;
  SHELLAC_CHECK_ALL(wrong == n, comm, PETSC_ERR_ARG_OUTOFRANGE,
                    "side length %c is %g (-mat_%s_lengths, MatLaplaceSetLengths()); it must be positive and finite",
                    "xyz"[wrong], (double)lengths[wrong], type);
  for (PetscInt a = 0; a < n; a++) same = same && lengths[a] == context->lengths[a];
  SHELLAC_CHECK_ALL(!context->op || (same && n == context->lengths_given), comm, PETSC_ERR_ORDER,
                    "the side lengths are fixed since MatSetUp(); set them before");
  PetscCall(CheckCallAgrees(comm, "MatLaplaceSetLengths()", n, lengths));
  for (PetscInt a = 0; a < n; a++) context->lengths[a] = lengths[a];
  context->lengths_given = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- options -------------------------------------------------------------------------------------------------------

// An option that all formulas have: its key begins with -mat_<type>_, the rest is as for laplace.
struct CommonOption : Option {
  std::string own_key;
  CommonOption(MatType type, const Option &of_laplace)
      : Option(of_laplace),
        own_key(std::string("-mat_") + type + "_" + (of_laplace.key + sizeof("-mat_laplace_") - 1)) {
    key = own_key.c_str();
  }
  CommonOption(const CommonOption &) = delete;
};

static PetscErrorCode set_boundaries_from_text(Mat A, const Option &option, const char *text) {
  MatLaplaceBoundaryType forms[7];
  PetscInt               n = 0;
  int                    words;
  char                 **word;

  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscCall(PetscStrToArray(text, ',', &words, &word));
  for (int w = 0; w < words; w++) {
    PetscEnum value;
    PetscBool found;
    PetscCall(PetscEnumFind(MatLaplaceBoundaryTypes, word[w], &value, &found));
    SHELLAC_CHECK_ALL(
        found, comm, PETSC_ERR_USER,
        "%s %s: the boundary form %s is unknown; use eliminated, identity, neumann or robin, one for all sides or "
        "one for each, as eliminated,neumann,robin,robin in 2-D",
        option.key, text, word[w]);
    if (n < 7) forms[n++] = (MatLaplaceBoundaryType)value;
  }
  PetscCall(PetscStrToArrayDestroy(words, word));
  PetscCall(MatLaplaceSetBoundaries(A, n, forms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) {
  FormulaMat *context;
  PetscReal   numbers[7]; // one more than there may be, to see that it is too many
  PetscInt    n;
  PetscBool   set;
  MatType     type;
  char        text[256] = "";

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(MatGetType(A, &type));
  const CommonOption boundary(type, find_option(laplace_options, "-mat_laplace_boundary")),
      robin(type, find_option(laplace_options, "-mat_laplace_robin")),
      lengths(type, find_option(laplace_options, "-mat_laplace_lengths")),
      halo(type, find_option(laplace_options, "-mat_laplace_halo"));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s operator options", type));
  PetscCall(CheckOptionsAgree(PetscOptionsObject, std::string("-mat_") + type + "_"));
  PetscOptionsHeadBegin(PetscOptionsObject, text);
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s", MatLaplaceBoundaryTypes[context->forms[0]]));
  for (PetscInt s = 1; s < context->forms_given; s++) {
    PetscCall(PetscStrlcat(text, ",", sizeof(text)));
    PetscCall(PetscStrlcat(text, MatLaplaceBoundaryTypes[context->forms[s]], sizeof(text)));
  }
  PetscCall(PetscOptionsString(boundary.key, boundary.meaning, boundary.setter, text, text, sizeof(text), &set));
  if (set) PetscCall(set_boundaries_from_text(A, boundary, text));
  n = 7;
  for (int side = 0; side < 6; side++) numbers[side] = context->robin[side];
  PetscCall(read_option(PetscOptionsObject, robin, numbers, &n, &set));
  if (set) PetscCall(MatLaplaceSetRobin(A, n, numbers));
  n = 4;
  for (int a = 0; a < 3; a++) numbers[a] = context->lengths[a];
  PetscCall(read_option(PetscOptionsObject, lengths, numbers, &n, &set));
  if (set) PetscCall(MatLaplaceSetLengths(A, n, numbers));
  PetscCall(MatStencilSetHaloFromOptions(A, halo, PetscOptionsObject));
  PetscErrorCode (*takes_mask)(Mat, Vec) = NULL;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatDiffusionSetMask_C", &takes_mask));
  if (takes_mask) {
    const CommonOption mask(type, find_option(laplace_options, "-mat_laplace_mask")),
        wall(type, find_option(laplace_options, "-mat_laplace_wall"));
    MatDiffusionWallType present = context->wall;
    char                 of_mask[1024] = "";
    PetscCall(PetscOptionsString(mask.key, mask.meaning, mask.setter, of_mask, of_mask, sizeof(of_mask), &set));
    if (set) PetscCall(MatObstaclesSetFormula(A, mask.key, of_mask));
    PetscCall(read_option(PetscOptionsObject, wall, MatDiffusionWallTypes, &present, &set));
    if (set) PetscCall(MatDiffusionSetWall(A, present));
  }
  PetscCall(context->set_from_options(A, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFormulaSetSettingOperations(Mat A) {
  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_SET_FROM_OPTIONS, set_from_options));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetBoundary_C", set_boundary));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetBoundaries_C", set_boundaries));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetRobin_C", set_robin));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatLaplaceSetLengths_C", set_lengths));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

const char *const MatLaplaceBoundaryTypes[] = {"eliminated",   "identity", "neumann", "robin", "MatLaplaceBoundaryType",
                                               "MAT_LAPLACE_", NULL};

PetscErrorCode MatLaplaceSetBoundary(Mat A, MatLaplaceBoundaryType boundary) {
  return shellac::try_method(A, "MatLaplaceSetBoundary_C", NULL, boundary);
}

PetscErrorCode MatLaplaceSetBoundaries(Mat A, PetscInt n, const MatLaplaceBoundaryType forms[]) {
  return shellac::try_method(A, "MatLaplaceSetBoundaries_C", NULL, n, forms);
}

PetscErrorCode MatLaplaceSetRobin(Mat A, PetscInt n, const PetscReal alpha[]) {
  return shellac::try_method(A, "MatLaplaceSetRobin_C", NULL, n, alpha);
}

PetscErrorCode MatLaplaceSetLengths(Mat A, PetscInt dim, const PetscReal lengths[]) {
  return shellac::try_method(A, "MatLaplaceSetLengths_C", NULL, dim, lengths);
}
