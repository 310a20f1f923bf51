// Solid points, of the types whose formula with a mask is Diffusion.

#include "formulas/diffusion.hpp"
#include "options/agreement.hpp"
#include "stencil/types.hpp"

namespace shellac {

void Diffusion::set_mask(const FormulaSettings &settings) {
  mask = settings.mask;
  terms.mask.field = mask.get();
  terms.masked = mask != nullptr;
  terms.walls_have_values = settings.wall == MAT_DIFFUSION_WALL_VALUE;
}

bool FormulaMat::is_fixed(const PetscInt i[3], PetscScalar (*data)[2]) const {
  PetscScalar center, beside[3][2];
  if (!mask) return false;
  const auto &terms = static_cast<const Diffusion &>(*formula).terms;
  if (terms.fixed(i)) return true;
  if (data) terms.row(i, &center, beside, data);
  return false;
}

PetscErrorCode FormulaMat::load_fields() {
  auto loaded = std::make_shared<LoadedField>();

  PetscFunctionBegin;
  if (!mask) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(loaded->Check(grid, 1, mask->vec(), "mask"));
  mask = loaded;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormulaMat::read_fields() {
  const char *const names[] = {"the mask"};

  PetscFunctionBegin;
  if (!mask || mask->is_read()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(mask->Read(grid, ends, 1, false, 1));
  PetscCall(mask->CheckValues(
      grid, [](PetscScalar value, const PetscInt[]) { return !PetscIsInfOrNanScalar(value); }, names,
      "it must be 0 at points of the fluid and any other finite number at solid ones"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_mask(Mat A, Vec mask) {
  FormulaMat *context;
  PetscBool   given = mask ? PETSC_TRUE : PETSC_FALSE;
  auto        field = std::make_shared<LoadedField>();

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatDiffusionSetMask()", 1, &given));
  if (mask) PetscCall(field->Hold(mask));
  PetscCall(MatFormulaChangeSetting(A, context, &context->mask, mask ? HeldField(field) : HeldField()));
  context->mask_formula = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_wall(Mat A, MatDiffusionWallType wall) {
  FormulaMat *context;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  SHELLAC_CHECK_ALL(wall == MAT_DIFFUSION_WALL_NOFLUX || wall == MAT_DIFFUSION_WALL_VALUE,
                    PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
                    "wall %d is unknown; use noflux or value", (int)wall);
  PetscCall(CheckCallAgrees(PetscObjectComm((PetscObject)A), "MatDiffusionSetWall()", 1, &wall));
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->wall, wall));
}

PetscErrorCode MatObstaclesCompose(Mat A) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetMask_C", set_mask));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatDiffusionSetWall_C", set_wall));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// After set-up at once; before, the grid is not known.
PetscErrorCode MatObstaclesSetFormula(Mat A, const char option[], const char text[]) {
  FormulaMat *context;
  DM          dm;
  PetscInt    dim = 3;
  Node        tree;

  PetscFunctionBegin;
  PetscCall(MatGetStencil(A, &context));
  PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMGetDimension(dm, &dim));
  std::vector<std::string> axes = {"x", "y", "z"};
  axes.resize((size_t)dim);
  std::string    problem = parse_expression(text, &tree).message;
  NumberFunction formula = problem.empty() ? function_of(tree, axes, &problem) : nullptr;
  SHELLAC_CHECK_ALL(problem.empty(), PetscObjectComm((PetscObject)A), PETSC_ERR_USER, "%s %s: %s", option, text,
                    problem.c_str());
  context->mask_formula = formula;
  if (!context->op) PetscFunctionReturn(PETSC_SUCCESS);
  HeldField made;
  PetscCall(MatObstaclesMakeMask(A, *context, &made));
  PetscFunctionReturn(MatFormulaChangeSetting(A, context, &context->mask, made));
}

PetscErrorCode MatObstaclesMakeMask(Mat A, const FormulaMat &context, HeldField *mask) {
  auto         field = std::make_shared<LoadedField>();
  DM           dm;
  Vec          values;
  PetscScalar *value;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(DMCreateGlobalVector(dm, &values));
  PetscCall(VecGetArrayWrite(values, &value));
  const Patch patch = context.grid.owned_patch();
  for_each_on_host(patch.all(), [&](PetscInt i, PetscInt j, PetscInt k) {
    const PetscInt p[3] = {patch.start[0] + i, patch.start[1] + j, patch.start[2] + k};
    double         x[3];
    for (int a = 0; a < 3; a++) x[a] = (double)context.coordinate(a, p[a]);
    value[patch.index(i, j, k)] = context.mask_formula(x);
  });
  PetscCall(VecRestoreArrayWrite(values, &value));
  PetscCall(field->Hold(values));
  PetscCall(VecDestroy(&values));
  *mask = field;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatObstaclesView(const FormulaMat &context, PetscViewer viewer) {
  PetscFunctionBegin;
  if (context.mask)
    PetscCall(PetscViewerASCIIPrintf(viewer, "solid where the mask is not zero, %s at its faces\n",
                                     context.wall == MAT_DIFFUSION_WALL_VALUE ? "given values" : "no flux"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac

using namespace shellac;

const char *const MatDiffusionWallTypes[] = {"noflux", "value", "MatDiffusionWallType", "MAT_DIFFUSION_WALL_", NULL};

PetscErrorCode MatDiffusionSetMask(Mat A, Vec mask) {
  return try_method(A, "MatDiffusionSetMask_C", NULL, mask);
}

PetscErrorCode MatDiffusionSetWall(Mat A, MatDiffusionWallType wall) {
  return try_method(A, "MatDiffusionSetWall_C", NULL, wall);
}
