#pragma once
// The exact solution of the last level: of a sum over its axes by their modes, of another matrix by its inverse; on a
// line by elimination.

#include "multigrid/coarse/algebraic.hpp"
#include "multigrid/coarse/dense.hpp"
#include "multigrid/coarse/direct.hpp"
#include "multigrid/coarse/line.hpp"
#include "multigrid/level.hpp"

namespace shellac {

template <class Level>
using CoarseSolve =
    std::conditional_t<Level::variable, DenseSolve<typename Level::Scalar>, DirectSolve<typename Level::Scalar>>;

} // namespace shellac
