#pragma once
// The C++ source of an equation's functions.

#include <string>

#include "equations/text.hpp"

namespace shellac {

// The properties of a grid that are known when an equation is compiled.
struct EquationShape {
  int  dim = 2, width = 1;
  bool box = false;
  bool may_leave = true;        // a value or the place may decide that a neighbour beyond the stencil is read
  bool stretched = false;       // its spacings are not the same along each axis
  bool holds_constants = false; // a steady equation's ends do not give any value of some unknown
  // Points along the last axis that a GPU's thread computes, from loads that they share, and columns of these along the
  // first axis.
  int  at_once = 1, columns = 1;
  bool whole_rows = false; // it computes points at the ends of the first axis with the others
  bool of_data = false;    // derivatives by parameters and fields
};
// Steps as numbers; false if one is a formula.
bool read_steps(const std::vector<Node> &arguments, int steps[3]);
// Whether a compiler can know all steps to neighbours that the rows take: no choice decides one.
bool steps_are_known(const EquationText &text);
// Whether a value or the place may decide that a text's rows read a neighbour beyond that stencil.
bool may_leave_stencil(const EquationText &text, int width, bool box);
// Whether two columns are better, on grids whose rows have an even number of points.
bool has_columns(const EquationShape &shape, const EquationText &text);
// The shape with the best number of points for that many columns; along_vector: a vector is read, too.
EquationShape shape_on_gpu(EquationShape shape, const EquationText &text, bool along_vector, int columns);

// What compilers call the text, in their messages.
constexpr char compiled_text[] = "text";

// The source: interface.hpp, numbers.hpp, prelude.hpp, near_ends.hpp, rows.hpp, helpers.hpp, on_host.hpp, and the
// expressions behind #line, so that a compiler quotes the user's lines. It defines `shellac_compiled`.
enum class FunctionsOf {
  values, // a shellac::equation::Functions; it is compiled in parts
  action, // of the Jacobian: an ActionFunctions, which is compiled where it is used
  data    // the derivatives by parameters and fields: a SensitivityFunctions
};
std::string equation_source(const EquationText &text, const EquationShape &shape, FunctionsOf of);
// The same with on_gpu.hpp, for NVRTC: of one of the kernels values, entries, products, diagonals, transposed. It defines
// shellac_ and that name.
std::string equation_kernel(const EquationText &text, const EquationShape &shape, const std::string &kernel);

} // namespace shellac
