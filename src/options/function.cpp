// Functions of a few variables that a user writes, for values at many places.

#include <cmath>

#include "options/expression.hpp"

namespace shellac {

NumberFunction function_of(const Node &node, const std::vector<std::string> &variables, std::string *problem) {
  std::vector<NumberFunction> parts;
  double                      number = NAN;
  size_t                      n = 0;
  const Function             *f = node.kind == Node::call ? find_function(node.text) : nullptr;

  for (const Node &part : node.parts) parts.push_back(function_of(part, variables, problem));
  const auto        a = parts.empty() ? nullptr : parts[0], b = parts.size() < 2 ? nullptr : parts[1];
  const std::string by = node.operators.empty() ? "" : node.operators[0];
  switch (node.kind) {
  case Node::number:
    (void)read_decimal(node.text, &number);
    return [=](const double *) { return number; };
  case Node::name:
    while (n < variables.size() && variables[n] != node.text) n++;
    if (n < variables.size()) return [=](const double *x) { return x[n]; };
    if (node.text == "pi") return [](const double *) { return 3.14159265358979323846; };
    break;
  case Node::call:
    if (f && f->of_one && parts.size() == 1) return [=](const double *x) { return f->of_one(a(x)); };
    if (f && f->of_two && parts.size() == 2) return [=](const double *x) { return f->of_two(a(x), b(x)); };
    break;
  case Node::sign:
    if (by == "!") return [=](const double *x) { return a(x) == 0; };
    return by == "-" ? [=](const double *x) { return -a(x); } : a;
  case Node::sum:
  case Node::product:
    return [=](const double *x) {
      double value = a(x);
      for (size_t p = 1; p < parts.size(); p++) {
        const double next = parts[p](x);
        switch (node.operators[p - 1][0]) {
        case '+':
          value += next;
          break;
        case '-':
          value -= next;
          break;
        case '*':
          value *= next;
          break;
        default:
          value /= next;
        }
      }
      return value;
    };
  case Node::comparison:
    if (by == "==") return [=](const double *x) { return a(x) == b(x); };
    if (by == "!=") return [=](const double *x) { return a(x) != b(x); };
    if (by == "<=") return [=](const double *x) { return a(x) <= b(x); };
    if (by == ">=") return [=](const double *x) { return a(x) >= b(x); };
    if (by == "<") return [=](const double *x) { return a(x) < b(x); };
    return [=](const double *x) { return a(x) > b(x); };
  case Node::all:
  case Node::any: {
    const bool all = node.kind == Node::all;
    return [=](const double *x) {
      for (const NumberFunction &part : parts)
        if ((part(x) != 0) != all) return double(!all);
      return double(all);
    };
  }
  case Node::choice: {
    const auto other = parts[2];
    return [=](const double *x) { return a(x) != 0 ? b(x) : other(x); };
  }
  }
  if (problem->empty()) {
    *problem = node.text +
               (f ? " takes " + std::to_string(f->arguments()) + (f->arguments() == 1 ? " argument" : " arguments")
                  : " is not known") +
               "; a formula is of";
    for (const std::string &variable : variables) *problem += " " + variable + ",";
    *problem += " numbers, pi and functions of these, as sqrt(2) or max(x, 0.5)";
  }
  return nullptr;
}

bool constant_value(const Node &node, const LookUp &lookup, double *value) {
  std::vector<std::string> names;
  std::vector<double>      values;
  std::string              problem;
  bool                     is = true;

  for_each_node(node, [&](const Node &part) {
    const bool is_choice = part.kind == Node::comparison || part.kind == Node::all || part.kind == Node::any ||
                           part.kind == Node::choice || (part.kind == Node::sign && part.operators[0] == "!");
    double number = 0;
    is = is && !is_choice && (part.kind != Node::name || part.text == "pi" || lookup(part.text, &number));
    if (!is || part.kind != Node::name || part.text == "pi") return;
    names.push_back(part.text), values.push_back(number);
  });
  if (!is) return false;
  const NumberFunction f = function_of(node, names, &problem);
  if (problem.empty()) *value = f(values.data());
  return problem.empty();
}

} // namespace shellac
