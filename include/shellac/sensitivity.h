#ifndef SHELLAC_SENSITIVITY_H
#define SHELLAC_SENSITIVITY_H

/* Derivatives of equations as text by their parameters and fields, for TAO and TSAdjointSolve(). */

#include <petscdm.h>
#include <petscmat.h>

/*@C
   DMDACreateEquationJacobianP - creates a Mat for the derivative of an equation's residual or rate by parameters or a field

   Collective

   Input Parameters:
+  da   - a `DMDA` with an equation
-  name - a parameter or a field; NULL: all parameters

   Output Parameter:
.  P - for parameters a dense Mat with a column for each, in the order of `DMDAEquationGetNames()`; for a field a `MATSHELL`
       with a column for each of its values, which has products, also with the transpose, and no entries

   Level: intermediate

   Notes:
   `DMDAEquationComputeJacobianP()` gives it its values. With it, `TSSetRHSJacobianP()` and `TSAdjointSolve()` have gradients
   by parameters or by a field. The dense Mat is on a GPU where the vectors of the `DMDA` are.

   The gradient of f(u), where u solves F(u, p) = 0, is -P^T l, where l solves J^T l = df/du (`KSPSolveTranspose()`).

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an unknown name, or without parameters; `PETSC_ERR_SUP` for a text with an exact solution
   and with complex numbers; `PETSC_ERR_ARG_WRONGSTATE` without an equation.

.seealso: `DMDAEquationComputeJacobianP()`, `DMDASetEquation()`, `DMDAEquationSetParameter()`, `DMDAEquationSetField()`
@*/
PETSC_EXTERN PetscErrorCode DMDACreateEquationJacobianP(DM da, const char name[], Mat *P);

/*@
   DMDAEquationComputeJacobianP - computes the derivative of an equation's residual or rate by parameters or a field

   Collective

   Input Parameters:
+  da   - a `DMDA` with an equation
.  time - the time
-  u    - the state; it is copied for a field

   Output Parameter:
.  P - the derivative at this state: a Mat of `DMDACreateEquationJacobianP()`, or a dense one with a column for each
       parameter

   Level: intermediate

   Notes:
   Derivatives are exact, by dual numbers: also by parameters in conditions, in fields by formula and in integrals. At a
   kink, as of |p|, they are those of one side. On sides of the form identity, rows of a rate are zero, and the factor of a
   residual's row is taken as constant.

   For unknowns with a residual beside others with a rate, an implicit `TS` takes -P: `TSSetIJacobianP()` with `MatScale()`.

   The Mat of a field has the state and time of this call, and parameters and fields as they are at each product. Rows of a
   singular residual are those of the text, without their mean.

   They are compiled at the first call, and computed where the vectors are.

   Errors:
   `PETSC_ERR_FP` for a derivative that is not finite, `PETSC_ERR_ARG_INCOMP` for another Mat, `PETSC_ERR_ORDER` for a
   parameter or a field without values; as `DMDACreateEquationJacobianP()`.

.seealso: `DMDACreateEquationJacobianP()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationComputeJacobianP(DM da, PetscReal time, Vec u, Mat P);

#endif
