#include "equations/coefficients.hpp"

#include <algorithm>

#include "equations/in_cpp.hpp"

namespace shellac {

static bool is_call_of(const Node &node, const std::string &name) {
  return node.kind == Node::call && node.text == name;
}

// Whether a value may differ from point to point.
static bool varies(const NamesOf &names, const Node &tree) {
  static const char *const of_point[] = {"x", "y", "z", "hx", "hy", "hz", "step_x", "step_y", "step_z"};
  bool                     does = false;
  for (const std::string &name : names_in(tree)) {
    if (names.argument(name) >= 0) continue;
    const auto *d = names.definition(name);
    does = does || std::find(std::begin(of_point), std::end(of_point), name) != std::end(of_point) ||
           names.is_grid_function(name) || (d && (d->of_state || d->of_place));
  }
  return does;
}
// What has values at neighbours itself is none.
static bool is_formula(const NamesOf &names, const Node &k) {
  return varies(names, k) && !(k.kind == Node::name && names.is_grid_function(k.text));
}
static bool has_formula(const NamesOf &names, const Node &call) {
  return is_call_of(call, "d") && call.parts.size() == 2 && is_formula(names, call.parts[0]);
}
static std::string name_of(const Expression &e, const Node &k) {
  return "Coefficient_" + std::to_string(e.line) + "_" + std::to_string(k.begin);
}

static void find(const NamesOf &names, const Expression &e, const Node &part, std::vector<CoefficientFormula> *found) {
  const bool has = has_formula(names, part);
  if (has) found->push_back({name_of(e, part.parts[0]), {e.text, e.line, e.column, part.parts[0]}});
  for (size_t p = has; p < part.parts.size(); p++) find(names, e, part.parts[p], found);
}

std::vector<CoefficientFormula> coefficient_formulas(const EquationText &text, const Expression &e,
                                                     const EquationText::Definition *within) {
  std::vector<CoefficientFormula> found;
  find({&text, within}, e, e.tree, &found);
  return found;
}

Node with_coefficients(const EquationText &text, const Expression &e, const EquationText::Definition *within,
                       const Node &part) {
  Node       made = part;
  const bool has = has_formula({&text, within}, part);
  for (size_t p = 0; p < made.parts.size(); p++) made.parts[p] = with_coefficients(text, e, within, part.parts[p]);
  if (!has) return made;
  Node &k = made.parts[0];
  k = Node();
  k.kind = Node::name, k.line = part.parts[0].line;
  k.text = "equation::at_neighbours<equation::" + name_of(e, part.parts[0]) + ">(point_)";
  return made;
}

std::set<std::string> names_needed(const EquationText &text, const Node &tree) {
  std::set<std::string> needed;
  const auto            add = [&](const Node &by) {
    for (const std::string &name : names_in(by)) needed.insert(name);
  };
  add(tree);
  for (size_t d = text.definitions.size(); d-- > 0;) // which use none but earlier ones
    if (needed.count(text.definitions[d].name)) add(text.definitions[d].value.tree);
  return needed;
}

std::string check_coefficients(const EquationText &text) {
  std::string error;
  const auto  words = [](const Expression &e, const Node &part) {
    return e.text.substr(part.begin, part.end - part.begin);
  };
  // calls of a definition whose argument a is a coefficient
  const auto check = [&](const EquationText::Definition &of, size_t a, const Expression &e, const NamesOf &names) {
    for_each_node(e.tree, [&](const Node &call) {
      if (!error.empty() || !is_call_of(call, of.name) || a >= call.parts.size() || !is_formula(names, call.parts[a]))
        return;
      const std::string k = words(e, call.parts[a]);
      error = text.error_at(e.line + call.parts[a].line,
                            of.name + " takes its argument " + of.arguments[a] + " as the coefficient of d(" +
                                of.arguments[a] + ", ...), but " + k +
                                " is a formula, which has no values at neighbours there; state it as "
                                "field(k) = " +
                                k + ", or write d(" + k + ", ...) without " + of.name);
    });
  };
  for (const auto &d : text.definitions)
    for_each_node(d.value.tree, [&](const Node &call) {
      if (!is_call_of(call, "d") || call.parts.size() != 2) return;
      const Node &k = call.parts[0];
      const auto  names = names_in(k);
      for (size_t a = 0; a < d.arguments.size(); a++) {
        if (k.kind == Node::name && k.text == d.arguments[a]) {
          for (const auto &other : text.definitions) check(d, a, other.value, {&text, &other});
          for (const auto &u : text.unknowns) check(d, a, text.has_rate ? u.rate : u.residual, {&text});
        } else if (error.empty() && std::find(names.begin(), names.end(), d.arguments[a]) != names.end())
          error = text.error_at(d.value.line + k.line,
                                "the coefficient " + words(d.value, k) + " has the argument " + d.arguments[a] +
                                    " of " + d.name +
                                    ", which has no values at neighbours there; write d(...) without this "
                                    "definition, or its differences by hand");
      }
    });
  return error;
}

} // namespace shellac
