#pragma once
// The C++ source of an equation's functions.

#include <string>

#include "equations/text.hpp"

namespace shellac {

// What of a grid is known when an equation is compiled.
struct EquationShape {
  int  dim = 2, width = 1;
  bool box = false;
  bool stretched = false; // its spacings are not the same along each axis
};

// The source: interface.hpp, numbers.hpp, prelude.hpp, helpers.hpp, on_host.hpp, and the text's expressions behind #line, so that a
// compiler quotes the user's lines. It defines `shellac_compiled`, a shellac::equation::Functions.
// It is compiled in parts.
constexpr int equation_source_parts = 3;
std::string   equation_source(const EquationText &text, const EquationShape &shape);
// The same with on_gpu.hpp, for NVRTC. It defines the kernels shellac_values and shellac_entries.
std::string equation_kernels(const EquationText &text, const EquationShape &shape);

// Sources of the Jacobian's action, which are compiled where it is used: an ActionFunctions; the kernels shellac_products and
// shellac_diagonals.
std::string equation_action_source(const EquationText &text, const EquationShape &shape);
std::string equation_action_kernels(const EquationText &text, const EquationShape &shape);

} // namespace shellac
