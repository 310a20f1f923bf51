#pragma once
// Makes a hierarchy. This header has all of the class, which each source compiles in one precision.

#include "multigrid/hierarchy/apply.hpp"
#include "multigrid/hierarchy/create.hpp"
#include "multigrid/hierarchy/passes.hpp"
#include "multigrid/hierarchy/smoothing_steps.hpp"
#include "multigrid/hierarchy/update.hpp"
#include "multigrid/hierarchy/variable_levels.hpp"

namespace shellac {

// In place of *multigrid, whose arrays it may take; where that fails, there is none.
template <class Part>
PetscErrorCode make_hierarchy_of(const MultigridInput &of, std::unique_ptr<Multigrid> *multigrid, bool *failed) {
  auto                       made = std::make_unique<Hierarchy<Part>>();
  std::unique_ptr<Multigrid> old = std::move(*multigrid);
  auto                      *alike = dynamic_cast<Hierarchy<Part> *>(old.get());

  PetscFunctionBegin;
  if (old && !alike) PetscCall(old->Destroy());
  const PetscErrorCode code = made->Create(of, alike, failed);
  if (alike) PetscCall(alike->Destroy());
  if (code) PetscCall(made->Destroy());
  PetscCall(code);
  *multigrid = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
PetscErrorCode make_hierarchy(const MultigridInput &of, std::unique_ptr<Multigrid> *multigrid, bool *failed) {
  return of.rows ? make_hierarchy_of<VariableLevel<T>>(of, multigrid, failed)
                 : make_hierarchy_of<SeparableLevel<T>>(of, multigrid, failed);
}

} // namespace shellac
