#ifndef SHELLAC_EQUATION_H
#define SHELLAC_EQUATION_H

/* Equations as text, compiled at run time, for KSP, SNES and TS on a DMDA. */

#include <petscdmda.h>
#include <petscmat.h>

/*@C
   DMDASetEquation - sets an equation as text on a `DMDA`: KSP, SNES and TS on it get operator, residual, Jacobian and rate

   Collective

   Input Parameters:
+  da   - a 1-D, 2-D or 3-D `DMDA`, set up, with the equation's number of unknowns at a point
-  text - the equation, see the manual's page on equations

   Options Database Keys:
+  -equation_cache <a folder's path>                      - where compiled equations are kept; default $SHELLAC_CACHE,
                                                            else ~/.cache/shellac/equations
.  -equation_compile_ahead <true|false>                   - compile what any Mat type needs, for machines without a
                                                            compiler, and print where it is kept; default false
.  -equation_domain <two reals for each axis>             - lower and upper end of each axis [length]; default from the
                                                            text, the DM's coordinates, else 0,1
.  -equation_stretch_x <geometric,ratio or tanh,strength> - how points are placed along x; default from the text, else
                                                            uniform
.  -equation_stretch_y <geometric,ratio or tanh,strength> - how points are placed along y; default from the text, else
                                                            uniform
-  -equation_stretch_z <geometric,ratio or tanh,strength> - how points are placed along z; default from the text, else
                                                            uniform

   Level: beginner

   Notes:
   The text has one statement on each line:
.vb
     parameter(lambda, 6)
     residual = -laplacian(u) - lambda * exp(u)
.ve
   It is compiled once, by the C++ compiler that built Shellac or by the one that the environment variable SHELLAC_CXX
   names; the result is kept in a cache folder. Options in SHELLAC_CXXFLAGS come after Shellac's own. For vectors on a GPU
   it is also compiled by NVRTC of the CUDA Toolkit; without NVRTC, functions run on the host.

   A `KSP` gets the operator and the right-hand side of a linear equation, a `SNES` the residual and the Jacobian, a `TS`
   the rate and its Jacobian. DMs that are made from this one by coarsening and refining inherit the equation and share its
   parameters and time, so grid sequencing, `PCMG` and `SNESFAS` work.

   A second call replaces the equation.

   Errors:
   `PETSC_ERR_USER` for a text that cannot be read or compiled, with its line, `PETSC_ERR_ARG_OUTOFRANGE` for a neighbour
   beyond the `DMDA`'s stencil, `PETSC_ERR_ARG_SIZ` for another number of unknowns or dimensions, `PETSC_ERR_ARG_INCOMP`
   for a text or options that differ between the ranks, `PETSC_ERR_SUP` with a PETSc that is not in double precision.
   Nothing is changed on the `DMDA` then.

.seealso: `DMDASetEquationFromFile()`, `DMDAEquationSetParameter()`, `DMDAEquationSetField()`, `DMDACreateEquationMat()`
@*/
PETSC_EXTERN PetscErrorCode DMDASetEquation(DM da, const char text[]);

/*MC
   MATEQUATION - "equation": the Jacobian of an equation as its action on vectors, by dual numbers; no entries are stored

   Level: intermediate

   Notes:
   With -dm_mat_type equation, or `DMSetMatType()`, the Jacobians of `SNES`, `KSP` and `TS` on a `DMDA` with an equation have
   this type. It has products and a diagonal. Krylov methods work, and -pc_type jacobi (the default on such a `DMDA`), and
   smoothers made of these; preconditioners that need entries do not. Each assembly copies the state. Parameters and fields
   are those at the time of a product. `MatMultTranspose()` stores the entries in a `MATSTENCILSHELL`, once for each state.

   Products are computed where the vectors are; on a GPU by kernels that NVRTC compiles, like residuals. The Mat keeps
   copies of the diagonals that scale it or are added to it.

.seealso: `DMDASetEquation()`, `MATSTENCILSHELL`
M*/
#define MATEQUATION "equation"

/*@C
   DMDASetEquationFromFile - sets the equation in a file on a `DMDA`

   Collective

   Input Parameters:
+  da   - as for `DMDASetEquation()`
-  file - the path of the text; the first rank reads it

   Level: beginner

   Errors:
   `PETSC_ERR_FILE_OPEN` for a file that cannot be read; as `DMDASetEquation()`.

.seealso: `DMDASetEquation()`, `DMDASetEquationFromOptions()`
@*/
PETSC_EXTERN PetscErrorCode DMDASetEquationFromFile(DM da, const char file[]);

/*@
   DMDASetEquationFromOptions - sets the equation in the file that -equation names on a `DMDA`

   Collective

   Input Parameter:
.  da - as for `DMDASetEquation()`

   Options Database Keys:
+  -equation <a file's path>                              - the text of the equation; default none
.  -equation_cache <a folder's path>                      - where compiled equations are kept; default $SHELLAC_CACHE,
                                                            else ~/.cache/shellac/equations
.  -equation_compile_ahead <true|false>                   - compile what any Mat type needs, for machines without a
                                                            compiler, and print where it is kept; default false
.  -equation_domain <two reals for each axis>             - lower and upper end of each axis [length]; default from the
                                                            text, the DM's coordinates, else 0,1
.  -equation_initial <a file's path>                      - the initial state: PETSc's binary, or .h5, .npy, .vti, .vtr,
                                                            .vts; default from the text, else zero
.  -equation_stretch_x <geometric,ratio or tanh,strength> - how points are placed along x; default from the text, else
                                                            uniform
.  -equation_stretch_y <geometric,ratio or tanh,strength> - how points are placed along y; default from the text, else
                                                            uniform
-  -equation_stretch_z <geometric,ratio or tanh,strength> - how points are placed along z; default from the text, else
                                                            uniform

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` without the option; as `DMDASetEquationFromFile()`.

.seealso: `DMDASetEquation()`, `DMDASetEquationFromFile()`
@*/
PETSC_EXTERN PetscErrorCode DMDASetEquationFromOptions(DM da);

/*@C
   DMDACreateFromEquation - creates the `DMDA` that an equation needs, with the equation

   Collective

   Input Parameters:
+  comm  - the communicator
.  text  - as for `DMDASetEquation()`
.  dim   - number of axes; 0: as `DMDACreateFromEquationFile()`
-  sizes - points along each axis [dim], which -da_grid_x, -da_grid_y and -da_grid_z override; NULL with dim 0

   Output Parameter:
.  da - the `DMDA`, set up, with coordinates

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_SIZ` for another number of axes than the text's statement grid has; as `DMDASetEquation()`.

.seealso: `DMDASetEquation()`, `DMDACreateFromEquationFile()`
@*/
PETSC_EXTERN PetscErrorCode DMDACreateFromEquation(MPI_Comm comm, const char text[], PetscInt dim,
                                                   const PetscInt sizes[], DM *da);

/*@C
   DMDACreateFromEquationFile - creates the `DMDA` that the equation in a file needs, with the equation

   Collective

   Input Parameters:
+  comm - the communicator
-  file - the path of the text; the first rank reads it

   Output Parameter:
.  da - the `DMDA`, set up, with coordinates

   Level: beginner

   Note:
   The text's statements grid, unknowns and periodic determine dimension, stencil, unknowns and periodic axes; without them
   the `DMDA` has two dimensions, a star of width 1 and one unknown. It has 65 points along each axis, 33 in three
   dimensions; -da_grid_x, -da_grid_y and -da_grid_z change this.

   Errors:
   As `DMDASetEquationFromFile()`.

.seealso: `DMDASetEquationFromFile()`, `DMDACreateFromEquation()`
@*/
PETSC_EXTERN PetscErrorCode DMDACreateFromEquationFile(MPI_Comm comm, const char file[], DM *da);

/*@C
   DMDAEquationSetParameter - sets a parameter of the equation of a `DMDA`, and of all DMs that inherit it

   Collective

   Input Parameters:
+  da    - a `DMDA` with an equation
.  name  - the parameter's name
-  value - its value; finite

   Options Database Key:
.  -equation_<name> <real> - the parameter

   Level: beginner

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an unknown name or a value that is not finite, `PETSC_ERR_ARG_WRONGSTATE` without an
   equation. Nothing is changed then.

.seealso: `DMDASetEquation()`, `DMDAEquationGetParameter()`, `DMDAEquationGetNames()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationSetParameter(DM da, const char name[], PetscReal value);

/*@C
   DMDAEquationGetParameter - gets a parameter of the equation of a `DMDA`

   Not Collective

   Input Parameters:
+  da   - a `DMDA` with an equation
-  name - the parameter's name

   Output Parameter:
.  value - its value

   Level: beginner

   Errors:
   As `DMDAEquationSetParameter()`.

.seealso: `DMDAEquationSetParameter()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationGetParameter(DM da, const char name[], PetscReal *value);

/*@C
   DMDAEquationGetNames - gets the names of the parameters and of the fields of the equation of a `DMDA`

   Not Collective

   Input Parameter:
.  da - a `DMDA` with an equation

   Output Parameters:
+  parameters - the names in the order of the text, with a null pointer behind the last; or NULL
-  fields     - likewise; or NULL

   Level: intermediate

   Note:
   The names belong to the equation; do not free them.

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` without an equation.

.seealso: `DMDASetEquation()`, `DMDAEquationSetParameter()`, `DMDAEquationSetField()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationGetNames(DM da, const char *const **parameters, const char *const **fields);

/*@C
   DMDAEquationSetField - sets a field of the equation of a `DMDA`: a value at each point

   Collective

   Input Parameters:
+  da     - a `DMDA` with an equation
.  name   - the field's name
-  values - a global vector with one value at each point: of the `DMDA`, or with several unknowns of one with the same
            points (`DMDACreateCompatibleDMDA()`)

   Level: beginner

   Notes:
   The values are copied: after a change of the vector, call this again. Beyond an end, a field has its value at the end.
   The option -equation_<name> <file> reads a field from a file of PETSc's binary, HDF5, VTK (.vti, .vtr, .vts) or NumPy.

   Coarser DMs get the values of the points that both grids have, finer ones interpolate.

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for an unknown name, `PETSC_ERR_ARG_NULL` for a null vector, `PETSC_ERR_ARG_SIZ` for one with
   another distribution, `PETSC_ERR_ARG_WRONGSTATE` if the text has an exact solution. Nothing is changed then.

.seealso: `DMDASetEquation()`, `DMDAEquationSetParameter()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationSetField(DM da, const char name[], Vec values);

/*@
   DMDAEquationSetTime - sets the time t in the equation of a `DMDA`, for KSP and SNES; a TS passes its own

   Logically Collective

   Input Parameters:
+  da   - a `DMDA` with an equation
-  time - the time; finite; 0 without this call

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_OUTOFRANGE` for a time that is not finite, `PETSC_ERR_ARG_WRONGSTATE` without an equation.

.seealso: `DMDASetEquation()`, `DMDAEquationGetTime()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationSetTime(DM da, PetscReal time);

/*@
   DMDAEquationGetTime - gets the time t in the equation of a `DMDA`, for KSP and SNES

   Not Collective

   Input Parameter:
.  da - a `DMDA` with an equation

   Output Parameter:
.  time - the time

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` without an equation, `PETSC_ERR_ARG_NULL` for a null pointer.

.seealso: `DMDAEquationSetTime()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationGetTime(DM da, PetscReal *time);

/*@
   DMDAEquationGetLinear - gets whether the equation of a `DMDA` is linear

   Not Collective

   Input Parameter:
.  da - a `DMDA` with an equation

   Output Parameter:
.  linear - whether the text is linear in the unknowns, with the present parameters

   Level: intermediate

   Notes:
   A comparison of unknowns, max(u, 0) or |u| is never linear. A factor that is zero by the present parameters removes a
   term, but a field that is zero at all points does not. If definitions call others very often, the values at all points
   are tested instead, at several random states.

   The operator of a linear equation is assembled once, and again at the next solve after a change of a parameter, a field
   or the time.

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` without an equation, `PETSC_ERR_ARG_NULL` for a null pointer.

.seealso: `DMDASetEquation()`, `DMDACreateEquationMat()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationGetLinear(DM da, PetscBool *linear);

/*@
   DMDAEquationIsRate - gets whether the equation of a `DMDA` is a rate, for TS, or a residual, for KSP and SNES

   Not Collective

   Input Parameter:
.  da - a `DMDA` with an equation

   Output Parameter:
.  rate - whether it is a rate, of at least one unknown

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` without an equation, `PETSC_ERR_ARG_NULL` for a null pointer.

.seealso: `DMDASetEquation()`, `DMDAEquationHasExact()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationIsRate(DM da, PetscBool *rate);

/*@
   DMDAEquationHasExact - gets whether the text of the equation of a `DMDA` states an exact solution

   Not Collective

   Input Parameter:
.  da - a `DMDA` with an equation

   Output Parameter:
.  exact - whether it does

   Level: intermediate

   Errors:
   As `DMDAEquationIsRate()`.

.seealso: `DMDASetEquation()`, `DMDAEquationComputeExact()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationHasExact(DM da, PetscBool *exact);

/*@
   DMDAEquationGetSpacing - gets the first point and the spacing of the grid in the equation of a `DMDA`

   Not Collective

   Input Parameter:
.  da - a `DMDA` with an equation

   Output Parameters:
+  first - coordinates of the grid's first point [length], 3 numbers; or NULL
-  h     - spacing along each axis, for a stretched axis the mean [length], 3 numbers; or NULL

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` without an equation.

.seealso: `DMDASetEquation()`, `DMDAEquationGetCoordinates()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationGetSpacing(DM da, PetscReal first[], PetscReal h[]);

/*@
   DMDAEquationGetCoordinates - gets the coordinates of the grid's points in the equation of a `DMDA`

   Not Collective

   Input Parameter:
.  da - a `DMDA` with an equation

   Output Parameters:
+  x - coordinates of the points of the whole grid along the first axis [length], one for each; or NULL
.  y - likewise along the second axis
-  z - likewise along the third axis

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` without an equation.

.seealso: `DMDASetEquation()`, `DMDAEquationGetSpacing()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationGetCoordinates(DM da, PetscReal x[], PetscReal y[], PetscReal z[]);

/*@
   DMDAEquationComputeInitial - computes the initial state in the text of an equation; zero if there is none

   Collective

   Input Parameter:
.  da - a `DMDA` with an equation

   Output Parameter:
.  u - a global vector of the `DMDA`

   Options Database Key:
.  -equation_initial <a file's path> - the initial state: PETSc's binary, or .h5, .npy, .vti, .vtr, .vts; default from
                                       the text, else zero

   Level: beginner

   Note:
   Unknowns with a residual beside others with a rate get the values that make their residuals zero, by a `SNES` with the
   options prefix initial_.

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` without an equation, `PETSC_ERR_ORDER` for a parameter or a field without values,
   `PETSC_ERR_ARG_SIZ` for a vector with another distribution, `PETSC_ERR_NOT_CONVERGED` where these values are not found.

.seealso: `DMDASetEquation()`, `DMDAEquationComputeExact()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationComputeInitial(DM da, Vec u);

/*@
   DMDAEquationComputeExact - computes the exact solution in the text of an equation

   Collective

   Input Parameters:
+  da   - a `DMDA` with an equation
-  time - the time

   Output Parameter:
.  u - a global vector of the `DMDA`

   Level: beginner

   Note:
   If a text has an exact solution, the equation gets the source term that belongs to it: the text's function is applied to
   the exact solution and extrapolated to zero spacing. Boundary data that the text does not give are those of the exact
   solution.

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` if the text has none; as `DMDAEquationComputeInitial()`.

.seealso: `DMDASetEquation()`, `DMDAEquationComputeInitial()`
@*/
PETSC_EXTERN PetscErrorCode DMDAEquationComputeExact(DM da, PetscReal time, Vec u);

/*@
   DMDACreateEquationMat - creates the operator of a linear equation, of the DM's Mat type

   Collective

   Input Parameter:
.  da - a `DMDA` with a linear equation

   Output Parameter:
.  A - the operator, assembled

   Level: intermediate

   Errors:
   `PETSC_ERR_ARG_WRONGSTATE` for an equation that is not linear, or without one; `PETSC_ERR_ORDER` for a parameter or a
   field without values.

.seealso: `DMDASetEquation()`, `DMDAEquationGetLinear()`, `DMSetMatType()`, `MATSTENCILSHELL`
@*/
PETSC_EXTERN PetscErrorCode DMDACreateEquationMat(DM da, Mat *A);

#endif
