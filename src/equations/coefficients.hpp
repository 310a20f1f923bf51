#pragma once
// The coefficients of d(k, u) that are formulas: they are evaluated at the neighbours, as fields are.

#include <set>
#include <string>
#include <vector>

#include "equations/text.hpp"

namespace shellac {

struct CoefficientFormula {
  std::string name; // of its structure in C++
  Expression  formula;
};
// Those in an expression that depend on the point and are no unknown and no field, without those within others. within: the
// definition that has the expression, or null.
std::vector<CoefficientFormula> coefficient_formulas(const EquationText &text, const Expression &e,
                                                     const EquationText::Definition *within);
// A part of the expression, with the structures at their places.
Node with_coefficients(const EquationText &text, const Expression &e, const EquationText::Definition *within,
                       const Node &part);

// The names in an expression, and those in the definitions of which it is made.
std::set<std::string> names_needed(const EquationText &text, const Node &tree);

// The user's mistake in a coefficient, or empty: a definition whose argument has no values at neighbours there.
std::string check_coefficients(const EquationText &text);

} // namespace shellac
