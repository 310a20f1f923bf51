#pragma once
// Formulas whose values at neighbours are needed, as of laplacian(u*u) and d(1 + u, u): they are evaluated there, as fields
// are.

#include <functional>
#include <set>
#include <string>

#include "equations/in_cpp.hpp"

namespace shellac {

bool is_coordinate(const std::string &name); // or the time
// How many arguments laplacian, d and the like take; 0: the name is another one. The last one is read at neighbours, or all
// of three.
size_t arguments_of_helper(const std::string &name);
bool   has_order(const Node &call);                         // as laplacian(u, 4)
int    order_of(const Node &call);                          // 2 or 4; 0: one that there is not
bool   is_weno(const std::string &name);                    // weno5_x and the like
bool   is_limited_flux(const std::string &name);            // minmod_x, hll_vanleer_x and the like
bool   varies(const NamesOf &names, const Node &tree);      // a value may differ from point to point
bool   is_integral(const NamesOf &names, const Node &node); // or a mean, of what is evaluated at all points

// Whether rows may read an unknown at neighbours.
bool reads_neighbours(const EquationText &text, const std::string &name);

// Finds which arguments of a definition are read at neighbours, and whether its calls are replaced by what it stands for.
void find_grid_arguments(const EquationText &text, EquationText::Definition *d);

// An expression for a compiler: calls of definitions are replaced by what these stand for where one of their arguments is a
// formula that is read at neighbours or in an integral; such formulas become functions of the point, which
// name(formula, call) names in C++. within: the definition that has the expression, or null.
Node with_formulas(const EquationText &text, const Node &tree, const EquationText::Definition *within,
                   const std::function<std::string(const Node &, const Node &)> &name);

// The names in an expression, and those in the definitions of which it is made.
std::set<std::string> names_needed(const EquationText &text, const Node &tree);

} // namespace shellac
