#include "equations/linearity.hpp"

#include "equations/at_neighbours.hpp"

#include <algorithm>
#include <map>

namespace shellac {

namespace {

// How a value depends on the unknowns: not at all, with a value that may be known; as a linear function and a
// constant; or otherwise.
struct Dependence {
  enum Kind { constant, affine, nonlinear } kind = constant;
  bool   known = false;
  double value = 0;

  Dependence(Kind kind = constant) : kind(kind) {}
  static Dependence number(double value) {
    Dependence d;
    d.known = true, d.value = value;
    return d;
  }
  bool is(double other) const { return known && value == other; }
};

Dependence larger(const Dependence &a, const Dependence &b) {
  return std::max(a.kind, b.kind);
}
// A function that is not linear, of these arguments.
Dependence function_of(const std::vector<Dependence> &arguments) {
  Dependence::Kind kind = Dependence::constant;
  for (const Dependence &a : arguments)
    kind = std::max(kind, a.kind == Dependence::affine ? Dependence::nonlinear : a.kind);
  return kind;
}
Dependence product(const Dependence &a, const Dependence &b) {
  if (a.is(0) || b.is(0)) return Dependence::number(0);
  if (a.known && b.known) return Dependence::number(a.value * b.value);
  if (a.kind == Dependence::constant || b.kind == Dependence::constant) return larger(a, b);
  return function_of({a, b});
}
Dependence quotient(const Dependence &a, const Dependence &b) {
  if (a.is(0)) return a;
  if (a.known && b.known) return Dependence::number(a.value / b.value);
  return b.kind == Dependence::constant ? larger(a, b) : function_of({a, b});
}
Dependence sum(const Dependence &a, const Dependence &b, double sign) {
  return a.known && b.known ? Dependence::number(a.value + sign * b.value) : larger(a, b);
}
Dependence power(const Dependence &a, const Dependence &b) {
  if (b.is(0)) return Dependence::number(1);
  return b.is(1) ? a : function_of({a, b});
}

using Names = std::map<std::string, Dependence>;

// Reads the rows of a text.
class Rows {
public:
  Rows(const EquationText &text, const std::vector<double> &parameters, const std::vector<bool> &known) {
    for (const std::string &name : words_of_grid)
      if (!arguments_of_helper(name)) names_[name] = Dependence();
    names_["pi"] = names_["I"] = Dependence();
    for (size_t p = 0; p < parameters.size(); p++)
      names_[text.parameters[p].name] = known[p] ? Dependence::number(parameters[p]) : Dependence();
    for (const auto &f : text.fields) names_[f.name] = Dependence();
    for (const auto &u : text.unknowns) names_[u.name] = Dependence::affine;
    for (const auto &d : text.definitions) {
      if (d.arguments.empty())
        names_[d.name] = read(d.value.tree);
      else
        functions_[d.name] = &d;
    }
  }
  Dependence read(const Node &tree) { return read(tree, Names()); }

private:
  // arguments: of the function that has the node
  Dependence read(const Node &node, const Names &arguments);
  Dependence value_of(const Node &node, const Names &arguments);
  Dependence call(const EquationText::Definition &function, const std::vector<Dependence> &arguments) {
    Names names;
    for (size_t a = 0; a < function.arguments.size(); a++)
      names[function.arguments[a]] = a < arguments.size() ? arguments[a] : Dependence();
    return read(function.value.tree, names);
  }

  Names                                                   names_;     // of values
  std::map<std::string, const EquationText::Definition *> functions_; // of arguments
  int                                                     calls_ = 0; // of these, so far
};

Dependence Rows::read(const Node &node, const Names &arguments) {
  std::vector<Dependence> parts;
  double                  value = 0;
  switch (node.kind) {
  case Node::number:
    return read_decimal(node.text, &value) ? Dependence::number(value) : Dependence();
  case Node::name:
  case Node::call:
    return value_of(node, arguments);
  default:
    for (const Node &part : node.parts) parts.push_back(read(part, arguments));
  }
  if (node.kind == Node::choice)
    return parts[0].kind == Dependence::constant ? larger(parts[1], parts[2]) : function_of({parts[0]});
  const bool is_sum = node.kind == Node::sum, is_product = node.kind == Node::product;
  if (node.kind == Node::sign && node.operators[0] != "!")
    return node.operators[0] == "-" ? product(Dependence::number(-1), parts[0]) : parts[0];
  if (!is_sum && !is_product) return function_of(parts);
  Dependence all = parts[0];
  for (size_t p = 1; p < parts.size(); p++) {
    const char operation = node.operators[p - 1][0];
    all = is_sum             ? sum(all, parts[p], operation == '+' ? 1 : -1)
          : operation == '*' ? product(all, parts[p])
                             : quotient(all, parts[p]);
  }
  return all;
}

Dependence Rows::value_of(const Node &node, const Names &arguments_around) {
  const std::string      &name = node.text;
  std::vector<Dependence> arguments;
  for (const Node &part : node.parts) arguments.push_back(read(part, arguments_around));
  const auto   function = functions_.find(name);
  const Names &names = arguments_around.count(name) ? arguments_around : names_;
  const auto   value = names.find(name);
  if (value != names.end()) { // its arguments are steps
    const bool steps_known = function_of(arguments).kind == Dependence::constant;
    return node.kind == Node::name ? value->second
           : steps_known           ? Dependence(value->second.kind)
                                   : function_of(arguments);
  }
  if (function != functions_.end()) {
    if (++calls_ > 10000) return Dependence::nonlinear;
    return call(*function->second, arguments);
  }
  const size_t of_helper = arguments_of_helper(name);
  if (of_helper == 1 && !arguments.empty()) return Dependence(arguments[0].kind);
  if (of_helper > 2 && arguments.size() == of_helper) { // the flux, speeds, what is carried
    const std::vector<Dependence> speeds(arguments.begin() + 1, arguments.end() - 1);
    return function_of(speeds).kind == Dependence::constant && !is_limited_flux(name)
               ? larger(arguments.front(), arguments.back())
               : function_of(arguments);
  }
  if (of_helper == 2 && arguments.size() == 2)
    return arguments[0].kind == Dependence::constant ? Dependence(arguments[1].kind) : function_of(arguments);
  if (arguments.size() == 2 && name == "pow") return power(arguments[0], arguments[1]);
  return function_of(arguments);
}

} // namespace

bool is_linear(const EquationText &text, const std::vector<double> &parameters, const std::vector<bool> &known) {
  Rows       rows(text, parameters, known);
  Dependence all;
  for (const auto &u : text.unknowns) {
    all = larger(all, rows.read(u.row().tree));
    for (const auto &axis : u.ends)
      for (const auto &end : axis)
        if (end.of_state || end.of_velocity) all = larger(all, rows.read(end.value.tree));
  }
  return all.kind != Dependence::nonlinear;
}

} // namespace shellac
