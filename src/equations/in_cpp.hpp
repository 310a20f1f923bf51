#pragma once
// What a compiler gets of an expression. It is written from the tree, so that nothing else of a user's text passes;
// numbers are real.

#include <string>

#include "equations/text.hpp"

namespace shellac {

// What the names of an expression are. text: null for a formula, all names of which are the compiler's own; within: the
// definition that it belongs to, whose arguments it may have, or null.
struct NamesOf {
  const EquationText             *text = nullptr;
  const EquationText::Definition *within = nullptr;

  int                             argument(const std::string &name) const; // its number; -1: there is none
  const EquationText::Definition *definition(const std::string &name) const;
  // It is read at neighbours: an unknown, a field, another name for one, or an argument that may be one.
  bool is_grid_function(const std::string &name) const;
  bool is_own(const std::string &name) const; // the text declares it
};

// How large a part may be that is a whole number, as a step to a neighbour is; negative: it is another number, or too
// large. An argument that is a step counts as `of_step`.
constexpr double most_steps = 1e6, of_step = 1e3;
double           largest_whole(const NamesOf &names, const Node &node);
// Whether an argument of a call is a step to a neighbour.
bool takes_step(const NamesOf &names, const Node &call, size_t argument);

// The expression in C++; whole: as a whole number, which it is. Its first line is that of the expression, and each part
// is on its line. The type R_ is that of real numbers there. Names of the text begin with t_: they are never words or
// names of C++.
std::string in_cpp(const NamesOf &names, const Node &tree, bool whole = false);
std::string name_in_cpp(const std::string &name);

} // namespace shellac
