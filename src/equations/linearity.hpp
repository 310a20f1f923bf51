#pragma once
// Determines from its text whether an equation is linear in its unknowns.

#include <vector>

#include "equations/text.hpp"

namespace shellac {

// Of the rows of a text, with these values of its parameters; known: whether each has one. A term is linear where it is
// by its form: what compares, chooses or rounds by a state is not, whichever states it is tried at. Definitions that
// call others more than 10000 times are not read to their end, and are not linear.
bool is_linear(const EquationText &text, const std::vector<double> &parameters, const std::vector<bool> &known);

} // namespace shellac
