#pragma once
// The rows of the Jacobian of Burgers' equation, on the host.

#include <functional>
#include <vector>

#include "burgers/burgers.hpp"

namespace shellac {

// Calls f(p, c, rows of J at p) for each row: of the value c at the rank's point p, whose entries are value[c]. Collective.
using UseRow = std::function<PetscErrorCode(const PetscInt p[3], PetscInt c, const std::vector<JacobianEntry> &rows)>;
PetscErrorCode BurgersForEachRow(Burgers *burgers, Vec state, const UseRow &f);

// P = shift + scale J(state), for an AIJ.
PetscErrorCode BurgersAssembleJacobian(Burgers *burgers, Vec state, PetscReal shift, PetscReal scale, Mat P);
bool           BurgersIsAIJ(MatType type);
// The type of DMSetMatType(), if it is a kind of AIJ; for plain AIJ, the kind that suits the vectors.
PetscErrorCode BurgersChooseAIJ(DM dm, MatType *type);
// An empty one, for BurgersAssembleJacobian().
PetscErrorCode BurgersCreateAIJ(Burgers *burgers, MatType type, Mat *P);

} // namespace shellac
