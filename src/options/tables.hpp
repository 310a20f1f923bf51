#pragma once
// The tables of options of all parts, and the types that they belong to: what `shellac_options` prints.

#include "burgers/options.hpp"
#include "capture/options.hpp"
#include "direct/options.hpp"
#include "equations/options.hpp"
#include "grid/options.hpp"
#include "multigrid/options.hpp"
#include "options/option.hpp"
#include "formulas/options.hpp"
#include "stencil/options.hpp"
#include "sums/options.hpp"

namespace shellac {

struct Table {
  const Option *rows;
  size_t        size;
};

template <size_t n> constexpr Table table_of(const Option (&rows)[n]) {
  return {rows, n};
}

constexpr Table tables[] = {table_of(laplace_options),   table_of(helmholtz_options),
                            table_of(diffusion_options), table_of(advection_diffusion_options),
                            table_of(stencil_options),   table_of(assembled_pc_options),
                            table_of(multigrid_options), table_of(direct_options),
                            table_of(sums_options),      table_of(sums_pc_options),
                            table_of(burgers_options),   table_of(equation_options),
                            table_of(halo_options)};

// A type with options of its own. An option belongs to the topic with the longest prefix of its key.
struct Topic {
  const char *prefix;  // "-mat_laplace_"
  const char *name;    // the docstring that lists them: "MATLAPLACE"
  const char *title;   // of the section on the page
  const char *summary; // a line below it
};

constexpr Topic topics[] = {
    {"-mat_laplace_", "MATLAPLACE", "Mat type laplace", "−Δu on the grid of a `DMDA`."},
    {"-mat_helmholtz_", "MATHELMHOLTZ", "Mat type helmholtz", "−Δu + σu on the grid of a `DMDA`."},
    {"-mat_diffusion_", "MATDIFFUSION", "Mat type diffusion", "−∇·(k∇u) + σu on the grid of a `DMDA`."},
    {"-mat_advection_diffusion_", "MATADVECTIONDIFFUSION", "Mat type advection_diffusion",
     "−∇·(k∇u) + w·∇u + σu on the grid of a `DMDA`."},
    {"-mat_stencil_", "MATSTENCILSHELL", "Mat type stencil",
     "What the application assembles on a `DMDA`: [Any application, matrix-free](../capture/README.md)."},
    {"-assembled_", "PCASSEMBLED", "PC type assembled",
     "Preconditioners for assembled matrices: [Solvers](../capture/README.md#solvers)."},
    {"-pc_stencilmg_", "PCSTENCILMG", "PC type stencilmg", "Geometric multigrid: [Multigrid](../multigrid/README.md)."},
    {"-pc_stencilfft_", "PCSTENCILFFT", "PC type stencilfft",
     "Exact solves by fast transforms: [Direct solves](../direct/README.md). `-pc_type stencil` takes these options "
     "and those of `stencilmg`."},
    {"-mat_kernelsum_", "MATKERNELSUM", "Mat type kernelsum", "Sums over particles: [Sums](../sums/README.md)."},
    {"-pc_kernelsum_", "PCKERNELSUM", "PC type kernelsum",
     "Solves with sums over particles: [Sums](../sums/README.md#solves)."},
    {"-burgers_", "TSSetBurgers", "Burgers' equation",
     "For a TS with `TSSetBurgers()`: [Burgers' equation](../burgers/README.md)."},
    {"-burgers_fused_", "TSBURGERSFUSED", "TS type burgersfused", "Many explicit steps in one pass over memory."},
    {"-equation", "DMDASetEquationFromOptions", "Equations as text",
     "For a `DMDA` with `DMDASetEquation()`: [Equations](../equations/README.md)."},
    {"-shellac_", "ShellacSetHaloTimeout", "The library", "For all types; without a prefix."},
};

} // namespace shellac
