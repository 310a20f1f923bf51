#pragma once
// What the tests of equations share: the gallery's grids, solves.

#include "equations/text.hpp"
#include "support.hpp"

#include <array>

#include <petscsnes.h>
#include <petscts.h>

namespace tests {

bool equations_work(
    bool with_complex = false); // PETSc's scalars are real, or may be complex; and with the tests' cache

// DMDASetEquation(), which must succeed.
void set_equation(DM da, const std::string &text);

// A file in examples/equations; and what it says.
extern const char *const gallery[11];
std::string              gallery_path(const std::string &file);
std::string              gallery_content(const std::string &file);
shellac::EquationText    gallery_text(const std::string &file);
// A grid with its equation, which says of what kind the grid is. N: points along each axis; type: of vectors.
Grid gallery_grid(const std::string &file, PetscInt N, VecType type = NULL);

// Solves by a SNES, as the options say; *u: on the grid that the SNES ends on.
PetscErrorCode solve(DM da, Vec *u, PetscInt *its, PetscInt *ksp_its = nullptr);

// The residual, or the rate at a time.
PetscErrorCode compute_values(DM da, PetscReal time, Vec u, Vec f);

// A TS of a type, from time 0 to the end, with the options.
Owned<TS, TSDestroy> stepper(DM da, const char *type, PetscReal dt, PetscReal end);

// The state at the end, from the text's initial one.
Vector steps(DM da, const char *type, PetscReal dt, PetscReal end);

// A new matrix of a type.
Matrix matrix(DM da, MatType type);
// The Jacobian of an equation at a state u, of a Mat type; beside: that of the Mat for the preconditioner, another one.
Matrix jacobian(DM da, Vec u, MatType type, MatType beside = nullptr);

// Of products with the transposes of A and B, the Hermitian ones too.
PetscReal difference_of_transposes(Mat A, Mat B, Vec v);

// The difference of the operators of two linear texts: the head and the sum of the first, or of the second, of each pair.
using TextPairs = std::vector<std::array<const char *, 2>>;
PetscReal difference_of_texts(DM da, const std::string &head, const TextPairs &pairs);

// |J v - (F(u + εv) - F(u - εv)) / 2ε| / |J v| at random u and v, for captured and assembled matrices.
PetscReal jacobian_difference(DM da, const std::vector<MatType> &types = {MATAIJ, MATSTENCILSHELL, MATEQUATION});

} // namespace tests
