#pragma once
// The options of equations as text.

#include "options/option.hpp"

namespace shellac {

constexpr Option equation_options[] = {
    {"-equation", "a file's path", "none", "The text of the equation", "DMDASetEquationFromOptions"},
    {"-equation_cache", "a folder's path", "$SHELLAC_CACHE, else ~/.cache/shellac/equations",
     "Where compiled equations are kept", "DMDASetEquation"},
    {"-equation_compile_ahead", "true|false", "false",
     "Compile what any Mat type needs, for machines without a compiler, and print where it is kept", "DMDASetEquation"},
    {"-equation_domain", "two reals for each axis", "from the text, the DM's coordinates, else 0,1",
     "Lower and upper end of each axis [length]", "DMDASetEquation"},
    {"-equation_initial", "a file's path", "from the text, else zero",
     "The initial state: PETSc's binary, or .h5, .npy, .vti, .vtr, .vts", "DMDAEquationComputeInitial"},
    {"-equation_stretch_x", "geometric,ratio or tanh,strength", "from the text, else uniform",
     "How points are placed along x", "DMDASetEquation"},
    {"-equation_stretch_y", "geometric,ratio or tanh,strength", "from the text, else uniform",
     "How points are placed along y", "DMDASetEquation"},
    {"-equation_stretch_z", "geometric,ratio or tanh,strength", "from the text, else uniform",
     "How points are placed along z", "DMDASetEquation"}};

} // namespace shellac
