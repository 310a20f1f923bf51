#pragma once
// The options of stencilmg.

#include "options/option.hpp"

namespace shellac {

constexpr Option multigrid_options[] = {
    {"-pc_stencilmg_type", "multiplicative|full", "multiplicative",
     "cycles from zero, or full multigrid: one cycle on each level, from the coarsest on", "PCStencilMGSetType"},
    {"-pc_stencilmg_cycle_type", "automatic|v|w|f", "automatic",
     "how a cycle visits the levels; automatic: v, or f for one unknown a point and rows that no "
     "scaling makes symmetric",
     "PCStencilMGSetCycleType"},
    {"-pc_stencilmg_multiplicative_cycles", "integer, 1 or more", "1", "cycles in one application",
     "PCStencilMGSetCycles"},
    {"-pc_stencilmg_smooths", "integer, 0 to 4", "0",
     "smoothing steps before the coarse grid, and after it; 0: 3; in 3-D 2 with red_black, and 4 with "
     "variable coefficients or several unknowns",
     "PCStencilMGSetSmooths"},
    {"-pc_stencilmg_smoother", "automatic|chebyshev|red_black", "automatic",
     "in 3-D with constant coefficients: Jacobi steps with Chebyshev's weights, or red-black "
     "over-relaxation; automatic: red_black in full multigrid and F-cycles, on a GPU if no axis is periodic; otherwise "
     "chebyshev",
     "PCStencilMGSetSmoother"},
    {"-pc_stencilmg_levels", "integer, 0 or more", "0",
     "largest number of levels; 0: until the last one can be solved directly", "PCStencilMGSetLevels"},
    {"-pc_stencilmg_precision", "double|single", "double",
     "precision of the arithmetic in a cycle; single is for one unknown a point", "PCStencilMGSetPrecision"},
    {"-pc_stencilmg_fused", "true|false", "true",
     "does smoothing, residual and transfer in one pass over the grid, where possible", "PCStencilMGSetFused"},
    {"-pc_stencilmg_graph", "true|false", "true",
     "runs a cycle on GPUs as one CUDA graph on each rank, for one unknown a point", "PCStencilMGSetGraph"},
    {"-pc_stencilmg_whole_points", "integer, 0 or more", "0",
     "on several GPUs: each has all of a level of so many points at most; 0: "
     "1048576 between GPUs that write into each other's memory, otherwise 65536",
     "PCStencilMGSetWholePoints"},
    {"-pc_stencilmg_monitor", "true|false", "false", "prints residuals after each cycle", "PCSTENCILMG"},
};

} // namespace shellac
