#ifndef SHELLAC_FORMULA_H
#define SHELLAC_FORMULA_H

/* Mats of a type that an application registers with shellac/stencil.hpp: the parameters, fields and time of its formula. */

#include <petscdmda.h>
#include <petscmat.h>

/*@C
   MatCreateFormula - creates a Mat of a registered formula on the grid of a `DMDA`, set up from the options database

   Collective

   Input Parameters:
+  da   - a 1-D, 2-D or 3-D `DMDA` with the formula's number of unknowns at a point
-  type - the name that the formula was registered with

   Output Parameter:
.  A - the operator

   Level: intermediate

   Note:
   Parameters, fields and the time may be set later; boundary forms and lengths not: see `MatCreateLaplace()`.

   Errors:
   `PETSC_ERR_ARG_NULL` where da, type or A is null, `PETSC_ERR_ARG_UNKNOWN_TYPE` for another type; as
   `MatCreateLaplace()` for the grid, and as `MatFormulaSetField()` for the rows.

.seealso: `MatFormulaSetParameter()`, `MatFormulaSetField()`, `DMCreateMatrix()`
@*/
PETSC_EXTERN PetscErrorCode MatCreateFormula(DM da, MatType type, Mat *A);

/*@C
   MatFormulaSetParameter - sets a parameter of a registered formula, before or after `MatSetUp()`

   Logically Collective

   Input Parameters:
+  A     - the operator
.  name  - the parameter's name
-  value - its value; finite

   Options Database Key:
.  -mat_<type>_<name> <any scalar> - the parameter

   Level: intermediate

   Notes:
   After `MatSetUp()`, the coefficients are computed again, as by an assembly: earlier changes such as `MatScale()` and
   `MatShift()` are lost. A transposed operator stays transposed, and a conjugated one (`MatConjugate()`) conjugated.

   Other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an unknown name or a value that is not finite; as `MatFormulaSetField()` for the rows.
   Nothing is changed then.

.seealso: `MatFormulaGetParameter()`, `MatFormulaSetField()`, `MatFormulaSetTime()`
@*/
PETSC_EXTERN PetscErrorCode MatFormulaSetParameter(Mat A, const char name[], PetscScalar value);

/*@C
   MatFormulaGetParameter - gets a parameter of a registered formula

   Not Collective

   Input Parameters:
+  A    - the operator
-  name - the parameter's name

   Output Parameter:
.  value - its value

   Level: intermediate

   Errors:
   `PETSC_ERR_SUP` for another type, `PETSC_ERR_ARG_OUTOFRANGE` for an unknown name.

.seealso: `MatFormulaSetParameter()`
@*/
PETSC_EXTERN PetscErrorCode MatFormulaGetParameter(Mat A, const char name[], PetscScalar *value);

/*@C
   MatFormulaSetField - sets a field of a registered formula: values on the grid

   Collective

   Input Parameters:
+  A     - the operator
.  name  - the field's name
-  field - a global vector of the `DMDA`, or of one with the same points and another number of values at a point
           (`DMDACreateCompatibleDMDA()`)

   Level: intermediate

   Notes:
   The operator keeps a reference to the vector. After a change of its values, on any rank, the next collective operation of
   the matrix, such as `MatMult()`, computes the coefficients again. `PCSTENCILMG`, `PCLU` and `PCILU` follow in the
   next `KSPSolve()`. For other preconditioners, call `MatAssemblyBegin()` and `MatAssemblyEnd()` after the change. After
   a `MatScale()`, `MatZeroRows()` or the like, a change is an error until this function is called again: see
   `MatFormulaSetParameter()`.

   Set all fields before the operator is used.

   Other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an unknown name, `PETSC_ERR_ARG_NULL` for a null vector, `PETSC_ERR_ARG_SIZ` for one with
   another distribution. `PETSC_ERR_USER` if the formula adds an entry or reads a field outside its shape, or
   gives a coefficient that is not finite. Nothing is changed then.

.seealso: `MatFormulaSetParameter()`, `MatFormulaSetTime()`
@*/
PETSC_EXTERN PetscErrorCode MatFormulaSetField(Mat A, const char name[], Vec field);

/*@
   MatFormulaSetTime - sets the time that a registered formula sees

   Logically Collective

   Input Parameters:
+  A    - the operator
-  time - the time; finite; 0 without this call

   Level: intermediate

   Note:
   The coefficients are computed again, see `MatFormulaSetParameter()`. Other types ignore the call.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for a time that is not finite; as `MatFormulaSetField()` for the rows. Nothing is changed then.

.seealso: `MatFormulaSetParameter()`, `MatFormulaSetField()`
@*/
PETSC_EXTERN PetscErrorCode MatFormulaSetTime(Mat A, PetscReal time);

#endif
