// The settings of a kernel sum: setters and options. All may change at any time.

#include <array>
#include <utility>

#include "device/arrays.hpp"
#include "options/agreement.hpp"
#include "sums/kernel_sum.hpp"
#include "sums/options.hpp"

namespace shellac {

// Whether sums are the same, whatever options have been given.
static bool same_sums(const KernelSumSettings &a, const KernelSumSettings &b) {
  return a.function == b.function && a.formula == b.formula && a.parameters.sigma == b.parameters.sigma &&
         a.parameters.wavenumber == b.parameters.wavenumber && a.has_wavenumber == b.has_wavenumber &&
         a.precision == b.precision && a.self == b.self && a.method == b.method && a.rtol == b.rtol &&
         a.targets == b.targets && a.sources == b.sources;
}

// Applies modify() to the settings. If the Mat has been used, everything that depends on them is computed again; if
// that fails, nothing is changed. modify() may put other points into the settings, which this function then owns.
template <class Modify> static PetscErrorCode change(Mat A, const Modify &modify) {
  KernelSumMat  *context;
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  Vec given = NULL; // the diagonal
  if (context->diagonal_given) {
    PetscCall(MatCreateVecs(A, NULL, &given));
    PetscCall(MatGetDiagonal(A, given));
  }
  KernelSumSettings old = *context;
  const PetscReal   center[3] = {context->center[0], context->center[1], context->center[2]};
  modify(&context->settings());
  if (context->formula)
    context->formula_info = context->formula->info(context->parameters, context->precision != MAT_KERNELSUM_DOUBLE);
  const bool same = same_sums(old, *context), resized = context->sized && !same;
  if (resized) code = MatKernelSumSetSizes(A);
  if (!code && context->ready) code = same ? MatKernelSumCheck(A) : MatKernelSumPrepare(A);
  if (code) {
    std::swap(context->settings(), old); // the new ones are in `old` now
    for (int a = 0; a < 3; a++) context->center[a] = center[a];
    if (resized) PetscCall(MatKernelSumSetSizes(A));
  }
  if (old.targets != context->targets) PetscCall(PointCloudDestroy(&old.targets));
  if (old.sources != context->sources) PetscCall(PointCloudDestroy(&old.sources));
  if (!code && !same && given) code = MatDiagonalSet(A, given, INSERT_VALUES);
  PetscCall(VecDestroy(&given));
  PetscCall(code);
  if (!same && context->ready) { // tells preconditioners that the matrix has changed
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatKernelSumSetSymmetry(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An error on all ranks where they do not make the same call. It follows the check of the arguments' own values in every
// setter: whatever comes later may depend on the arguments, and wait for other ranks.
static PetscErrorCode agree(Mat A, const std::string &call) {
  PetscFunctionBegin;
  PetscCall(CheckAgreement(PetscObjectComm((PetscObject)A), "a setting of the kernelsum", call,
                           "give all ranks the same, as a value that is computed from all ranks' points"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_points(Mat A, Vec targets, Vec sources) {
  KernelSumMat *context;
  PetscInt      dims[2];
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);
  PointCloud   *clouds[2] = {NULL, NULL};
  VecType       type;

  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(targets && sources, comm, PETSC_ERR_ARG_NULL, "the coordinates of targets or sources are null");
  PetscCall(VecGetBlockSize(targets, &dims[0]));
  PetscCall(VecGetBlockSize(sources, &dims[1]));
  PetscCall(agree(A, "MatKernelSumSetPoints() with targets of block size " + std::to_string(dims[0]) +
                         (sources == targets ? " as sources" : " and sources of " + std::to_string(dims[1]))));
  for (int side = 0; side < 2; side++)
    PetscCheck(dims[side] >= 1 && dims[side] <= 3, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "the coordinates of the %s have block size %" PetscInt_FMT
               ", which is the dimension; it must be 1, 2 or 3: see VecSetBlockSize()",
               side ? "sources" : "targets", dims[side]);
  PetscCheck(dims[0] == dims[1], comm, PETSC_ERR_ARG_INCOMP,
             "the targets have %" PetscInt_FMT " coordinates each, the sources %" PetscInt_FMT
             "; both must be points of the same space",
             dims[0], dims[1]);
  PetscCall(MatGetKernelSumSettings(A, &context));
  PetscCheck(!context->targets || context->targets->dim == dims[0], comm, PETSC_ERR_ARG_INCOMP,
             "the points of the kernelsum are in %d-D, and vectors of block size %" PetscInt_FMT
             " have points in %" PetscInt_FMT "-D; call VecSetBlockSize(x, %d), or make another Mat",
             context->targets->dim, dims[0], dims[0], context->targets->dim);
  for (int side = 0; side < 2; side++) {
    const Vec          v = side ? sources : targets;
    const PetscScalar *x;
    PetscInt           n;
    Arrays             arrays;
    if (side == 1 && sources == targets) {
      clouds[1] = clouds[0];
      clouds[1]->references++;
      break;
    }
    PetscCall(VecGetLocalSize(v, &n));
    PetscCall(arrays.Read(v, &x));
    const PetscErrorCode code = PointCloudCreate(comm, side ? "source" : "target", (int)dims[0], n / dims[0],
                                                 arrays.memory(), x, &clouds[side]);
    PetscCall(arrays.Restore());
    if (code && side) PetscCall(PointCloudDestroy(&clouds[0]));
    PetscCall(code);
  }
  PetscCall(PointCloudsCenter(comm, clouds[0], clouds[1]));
  PetscCall(VecGetType(targets, &type));
  PetscCall(change(A, [&](KernelSumSettings *now) {
    now->targets = clouds[0];
    now->sources = clouds[1];
    now->vec_type = type;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_kernel(Mat A, const char *name) {
  std::string names;
  int         function = -1;
  PetscBool   same = PETSC_FALSE;

  PetscFunctionBegin;
  for (size_t f = 0; f < kernel_functions().size(); f++) {
    if (name) PetscCall(PetscStrcmp(name, kernel_functions()[f].name, &same));
    if (same) function = (int)f;
    names += std::string(f ? ", " : "") + kernel_functions()[f].name;
  }
  SHELLAC_CHECK_ALL(
      function >= 0, PetscObjectComm((PetscObject)A), name ? PETSC_ERR_ARG_UNKNOWN_TYPE : PETSC_ERR_ARG_NULL,
      "the name of the kernel function is %s, which is unknown; use one of %s", name ? name : "null", names.c_str());
  PetscCall(agree(A, std::string("MatKernelSumSetKernel() with ") + name));
  PetscCall(change(A, [&](KernelSumSettings *now) { now->function = function, now->formula.reset(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The formula of a text: the Mat's, if it is the same.
static PetscErrorCode get_formula(Mat A, const char *text, std::shared_ptr<KernelFormula> *formula) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  *formula = context->formula;
  if (!*formula || (*formula)->text() != text)
    PetscCall(KernelFormula::Create(PetscObjectComm((PetscObject)A), text, formula));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_formula(Mat A, const char *text) {
  std::shared_ptr<KernelFormula> formula;

  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(text, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_NULL, "the text of the formula is null");
  PetscCall(agree(A, std::string("MatKernelSumSetFormula() with ") + text));
  PetscCall(get_formula(A, text, &formula));
  PetscCall(change(A, [&](KernelSumSettings *now) { now->formula = formula; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- values that are possible --------------------------------------------------------------------------------------------

static PetscErrorCode check_sigma(Mat A, PetscReal sigma) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(sigma > 0 && !PetscIsInfOrNanReal(sigma), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "sigma is %g; a length must be positive and finite (-mat_kernelsum_sigma)", (double)sigma);
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode check_wavenumber(Mat A, PetscReal k) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(k >= 0 && !PetscIsInfOrNanReal(k), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "the wavenumber is %g; it must be zero or positive, and finite (-mat_kernelsum_wavenumber)",
                    (double)k);
  PetscFunctionReturn(PETSC_SUCCESS);
}
static std::string mistake_in_rtol(PetscReal rtol) {
  if (rtol >= 1e-12 && rtol < 1) return "";
  return "the tolerance is " + text_of(rtol) + "; it must be at least 1e-12 and less than 1 (-mat_kernelsum_rtol)";
}
static void assign_wavenumber(KernelSumSettings *now, PetscReal k) {
  now->parameters.wavenumber = (double)k;
  now->has_wavenumber = true;
}

// ---- setters -----------------------------------------------------------------------------------------------------------

static PetscErrorCode set_sigma(Mat A, PetscReal sigma) {
  PetscFunctionBegin;
  PetscCall(check_sigma(A, sigma));
  PetscCall(agree(A, "MatKernelSumSetSigma() with " + text_of(sigma)));
  PetscCall(change(A, [&](KernelSumSettings *now) { now->parameters.sigma = (double)sigma; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_wavenumber(Mat A, PetscReal k) {
  PetscFunctionBegin;
  PetscCall(check_wavenumber(A, k));
  PetscCall(agree(A, "MatKernelSumSetWavenumber() with " + text_of(k)));
  PetscCall(change(A, [&](KernelSumSettings *now) { assign_wavenumber(now, k); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_precision(Mat A, MatKernelSumPrecision precision) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(precision >= MAT_KERNELSUM_DOUBLE && precision <= MAT_KERNELSUM_MIXED,
                    PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "precision %d is unknown; use double, single or mixed", (int)precision);
  PetscCall(agree(A, "MatKernelSumSetPrecision() with " + std::to_string((int)precision)));
  PetscCall(change(A, [&](KernelSumSettings *now) { now->precision = precision; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_self(Mat A, MatKernelSumSelf self) {
  PetscFunctionBegin;
  SHELLAC_CHECK_ALL(self >= MAT_KERNELSUM_SELF_AUTO && self <= MAT_KERNELSUM_SELF_ERROR,
                    PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "self %d is unknown; use automatic, zero, limit or error", (int)self);
  PetscCall(agree(A, "MatKernelSumSetSelf() with " + std::to_string((int)self)));
  PetscCall(change(A, [&](KernelSumSettings *now) { now->self = self; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_method(Mat A, MatKernelSumMethod method, PetscReal rtol) {
  KernelSumMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  const PetscReal   kept = rtol == (PetscReal)PETSC_DEFAULT ? context->rtol : rtol;
  const bool        known = method >= MAT_KERNELSUM_DIRECT && method <= MAT_KERNELSUM_AUTO;
  const std::string mistake =
      known ? mistake_in_rtol(kept) : "type " + std::to_string((int)method) + " is unknown; use direct, fast or auto";
  SHELLAC_CHECK_ALL(mistake.empty(), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "%s", mistake.c_str());
  PetscCall(agree(A, "MatKernelSumSetMethod() with " + std::to_string((int)method) + " and " + text_of(kept)));
  PetscCall(change(A, [&](KernelSumSettings *now) {
    now->method = method;
    now->rtol = kept;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- options -----------------------------------------------------------------------------------------------------------

static PetscErrorCode set_from_options(Mat A, OptionItems PetscOptionsObject) {
  KernelSumMat             *context;
  std::vector<const char *> names;
  const auto               &table = sums_options;
  PetscBool                 set, named;

  PetscFunctionBegin;
  PetscCall(MatGetKernelSumSettings(A, &context));
  for (const FunctionInfo &info : kernel_functions()) names.push_back(info.name);
  KernelSumSettings read = *context;
  PetscReal         sigma = (PetscReal)read.parameters.sigma, k = (PetscReal)read.parameters.wavenumber;
  PetscInt          function = read.function;
  PetscCall(CheckOptionsAgree(PetscOptionsObject, "-mat_kernelsum_"));
  PetscOptionsHeadBegin(PetscOptionsObject, "Kernel sum options");
  const Option &kernel = find_option(table, "-mat_kernelsum_kernel");
  PetscCall(PetscOptionsEList(kernel.key, kernel.meaning, kernel.setter, names.data(), (PetscInt)names.size(),
                              names[function], &function, &named));
  read.function = (int)function;
  if (named) read.formula.reset();
  std::string text = read.formula ? read.formula->text() : "";
  PetscCall(read_option(PetscOptionsObject, (PetscObject)A, find_option(table, "-mat_kernelsum_formula"), &text, &set));
  PetscCheck(!set || !named, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "-mat_kernelsum_kernel %s and -mat_kernelsum_formula \"%s\" are two functions; leave one out",
             names[function], text.c_str());
  if (set) PetscCall(get_formula(A, text.c_str(), &read.formula));
  PetscCall(read_option(PetscOptionsObject, find_option(table, "-mat_kernelsum_sigma"), &sigma, &set));
  if (set) {
    PetscCall(check_sigma(A, sigma));
    read.parameters.sigma = (double)sigma;
    read.new_sigma = true;
  }
  PetscCall(read_option(PetscOptionsObject, find_option(table, "-mat_kernelsum_wavenumber"), &k, &set));
  if (set) {
    PetscCall(check_wavenumber(A, k));
    assign_wavenumber(&read, k);
    read.new_wavenumber = true;
  }
  PetscCall(read_option(PetscOptionsObject, find_option(table, "-mat_kernelsum_precision"), MatKernelSumPrecisions,
                        &read.precision));
  PetscCall(read_option(PetscOptionsObject, find_option(table, "-mat_kernelsum_self"), MatKernelSumSelves, &read.self));
  PetscCall(
      read_option(PetscOptionsObject, find_option(table, "-mat_kernelsum_type"), MatKernelSumMethods, &read.method));
  PetscCall(read_option(PetscOptionsObject, find_option(table, "-mat_kernelsum_rtol"), &read.rtol, &set));
  if (set) {
    PetscCheck(mistake_in_rtol(read.rtol).empty(), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "%s",
               mistake_in_rtol(read.rtol).c_str());
    read.new_rtol = true;
  }
  PetscCall(read_option(PetscOptionsObject, find_option(table, "-mat_kernelsum_monitor"), &context->monitor));
  PetscOptionsHeadEnd();
  PetscCall(change(A, [&](KernelSumSettings *now) { *now = read; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode multigrid_remedy(Mat, const char **remedy) {
  *remedy = "use -pc_type kernelsum";
  return PETSC_SUCCESS;
}

PetscErrorCode MatKernelSumSetSettings(Mat A) {
  PetscObject object = (PetscObject)A;

  PetscFunctionBegin;
  PetscCall(set_operation(A, MATOP_SET_FROM_OPTIONS, set_from_options));
  PetscCall(set_operation(A, MATOP_SETUP, MatKernelSumSetUp));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetPoints_C", set_points));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetKernel_C", set_kernel));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetFormula_C", set_formula));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetSigma_C", set_sigma));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetWavenumber_C", set_wavenumber));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetPrecision_C", set_precision));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetSelf_C", set_self));
  PetscCall(PetscObjectComposeFunction(object, "MatKernelSumSetMethod_C", set_method));
  PetscCall(PetscObjectComposeFunction(object, "ShellacMultigridRemedy_C", multigrid_remedy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

PetscErrorCode MatKernelSumGetKernels(const char *const **names, const char *const **formulas) {
  static const auto lists = [] {
    std::array<std::vector<const char *>, 2> made;
    for (const shellac::FunctionInfo &info : shellac::kernel_functions()) {
      made[0].push_back(info.name);
      made[1].push_back(info.formula);
    }
    for (auto &list : made) list.push_back(NULL);
    return made;
  }();

  PetscFunctionBegin;
  if (names) *names = lists[0].data();
  if (formulas) *formulas = lists[1].data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *const MatKernelSumPrecisions[] = {"double",         "single", "mixed", "MatKernelSumPrecision",
                                              "MAT_KERNELSUM_", NULL};
const char *const MatKernelSumSelves[] = {"automatic",           "zero", "limit", "error", "MatKernelSumSelf",
                                          "MAT_KERNELSUM_SELF_", NULL};
const char *const MatKernelSumMethods[] = {"direct", "fast", "auto", "MatKernelSumMethod", "MAT_KERNELSUM_", NULL};

PetscErrorCode MatKernelSumSetPoints(Mat A, Vec targets, Vec sources) {
  return shellac::try_method(A, "MatKernelSumSetPoints_C", NULL, targets, sources);
}
PetscErrorCode MatKernelSumSetKernel(Mat A, const char name[]) {
  return shellac::try_method(A, "MatKernelSumSetKernel_C", NULL, name);
}
PetscErrorCode MatKernelSumSetFormula(Mat A, const char text[]) {
  return shellac::try_method(A, "MatKernelSumSetFormula_C", NULL, text);
}
PetscErrorCode MatKernelSumSetSigma(Mat A, PetscReal sigma) {
  return shellac::try_method(A, "MatKernelSumSetSigma_C", NULL, sigma);
}
PetscErrorCode MatKernelSumSetWavenumber(Mat A, PetscReal k) {
  return shellac::try_method(A, "MatKernelSumSetWavenumber_C", NULL, k);
}
PetscErrorCode MatKernelSumSetPrecision(Mat A, MatKernelSumPrecision precision) {
  return shellac::try_method(A, "MatKernelSumSetPrecision_C", NULL, precision);
}
PetscErrorCode MatKernelSumSetSelf(Mat A, MatKernelSumSelf self) {
  return shellac::try_method(A, "MatKernelSumSetSelf_C", NULL, self);
}
PetscErrorCode MatKernelSumSetMethod(Mat A, MatKernelSumMethod method, PetscReal rtol) {
  return shellac::try_method(A, "MatKernelSumSetMethod_C", NULL, method, rtol);
}
