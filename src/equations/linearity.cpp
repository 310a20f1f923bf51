#include "equations/linearity.hpp"

#include "equations/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

namespace shellac {

namespace {

// How a value depends on the unknowns: not at all, with a value that may be known; as a linear function and a constant; in a
// way that is not read; or otherwise.
struct Dependence {
  enum Kind { constant, affine, unclear, nonlinear } kind = constant;
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
    for (const char *name :
         {"x", "y", "z", "t", "hx", "hy", "hz", "step_x", "step_y", "step_z", "pi", "I", "true", "false"})
      names_[name] = Dependence();
    for (size_t p = 0; p < parameters.size(); p++)
      names_[text.parameters[p].name] = known[p] ? Dependence::number(parameters[p]) : Dependence();
    for (const auto &f : text.fields) names_[f.name] = Dependence();
    for (const auto &u : text.unknowns) names_[u.name] = Dependence::affine;
    for (const auto &d : text.definitions) {
      if (d.arguments.empty())
        names_[d.name] = read(d.value.text);
      else
        functions_[d.name] = &d;
    }
  }
  Dependence read(const std::string &expression) { return read(expression, names_); }

private:
  friend class Reader;
  Dependence read(const std::string &expression, const Names &names);
  Dependence call(const EquationText::Definition &function, const std::vector<Dependence> &arguments) {
    Names names = names_;
    for (size_t a = 0; a < function.arguments.size(); a++)
      names[function.arguments[a]] = a < arguments.size() ? arguments[a] : Dependence();
    return read(function.value.text, names);
  }

  Names                                                   names_;     // of values
  std::map<std::string, const EquationText::Definition *> functions_; // of arguments
  int                                                     calls_ = 0; // of these, so far
};

// Reads one expression, as C++ does.
class Reader {
public:
  Reader(Rows *rows, const std::string &text, const Names &names) : rows_(*rows), text_(text), names_(names) {}

  Dependence read() {
    const Dependence a = read_choice();
    return next() || failed_ ? Dependence(Dependence::unclear) : a;
  }

private:
  char next() {
    while (at_ < text_.size() && std::isspace((unsigned char)text_[at_])) at_++;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool next_is(const char *characters) {
    const char c = next();
    return c && std::strchr(characters, c);
  }
  bool take(const char *word) {
    next();
    if (text_.compare(at_, std::strlen(word), word) != 0) return false;
    at_ += std::strlen(word);
    return true;
  }
  Dependence fail() {
    failed_ = true;
    at_ = text_.size();
    return Dependence::unclear;
  }

  Dependence read_choice() {
    const Dependence a = read_condition();
    if (!take("?")) return a;
    const Dependence b = read_choice();
    if (!take(":")) return fail();
    const Dependence c = read_choice();
    return a.kind == Dependence::constant ? larger(b, c) : function_of({a});
  }
  // What compares, or combines comparisons.
  Dependence read_condition() {
    Dependence a = read_sum();
    for (bool compares = true; compares;) {
      compares = false;
      for (const char *word : {"<=", ">=", "==", "!=", "&&", "||", "<", ">"})
        if (!compares && take(word)) {
          compares = true;
          a = function_of({a, read_sum()});
        }
    }
    return a;
  }
  Dependence read_sum() {
    Dependence a = read_product();
    while (next_is("+-")) {
      const double     sign = text_[at_++] == '+' ? 1 : -1;
      const Dependence b = read_product();
      a = sum(a, b, sign);
    }
    return a;
  }
  Dependence read_product() {
    Dependence a = read_factor();
    while (next_is("*/%")) {
      const char       operation = text_[at_++];
      const Dependence b = read_factor();
      a = operation == '*' ? product(a, b) : operation == '/' ? quotient(a, b) : function_of({a, b});
    }
    return a;
  }
  Dependence read_factor() {
    if (take("+")) return read_factor();
    if (take("-")) return product(Dependence::number(-1), read_factor());
    if (take("!")) return function_of({read_factor()});
    if (take("(")) {
      const Dependence a = read_choice();
      return take(")") ? a : fail();
    }
    const char c = next();
    if (std::isdigit((unsigned char)c) || c == '.') return read_number();
    if (std::isalpha((unsigned char)c) || c == '_') return read_name();
    return fail();
  }
  Dependence read_number() {
    char        *end;
    const double value = std::strtod(text_.c_str() + at_, &end);
    if (end == text_.c_str() + at_) return fail();
    at_ = (size_t)(end - text_.c_str());
    while (at_ < text_.size() && std::strchr("fFlLuU", text_[at_])) at_++;
    return Dependence::number(value);
  }
  Dependence read_name() {
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum((unsigned char)text_[at_]) || text_[at_] == '_')) at_++;
    const std::string       name = text_.substr(begin, at_ - begin);
    std::vector<Dependence> arguments;
    const bool              called = take("(");
    if (called && !take(")")) {
      do arguments.push_back(read_choice());
      while (take(","));
      if (!take(")")) return fail();
    }
    return value_of(name, called, arguments);
  }
  Dependence value_of(const std::string &name, bool called, const std::vector<Dependence> &arguments) {
    const auto function = rows_.functions_.find(name);
    const auto value = names_.find(name);
    if (value != names_.end()) { // its arguments are steps
      const bool steps_known = function_of(arguments).kind == Dependence::constant;
      return !called ? value->second : steps_known ? Dependence(value->second.kind) : function_of(arguments);
    }
    if (function != rows_.functions_.end()) {
      if (++rows_.calls_ > 10000) return fail(); // definitions that call others many times
      return rows_.call(*function->second, arguments);
    }
    static const char *const linear[] = {"laplacian", "bilaplacian", "dx", "dy", "dz", "dxx", "dyy", "dzz", "dxy"};
    if (!called) return fail();
    if (arguments.size() == 1 && std::find(std::begin(linear), std::end(linear), name) != std::end(linear))
      return Dependence(arguments[0].kind);
    if (arguments.size() == 2 && (name == "d" || name.compare(0, 7, "upwind_") == 0))
      return arguments[0].kind == Dependence::constant ? Dependence(arguments[1].kind) : function_of(arguments);
    if (arguments.size() == 2 && name == "pow") return power(arguments[0], arguments[1]);
    for (const char *const *f = expression_functions; *f; f++)
      if (name == *f) return function_of(arguments);
    if (name == "real" || name == "imag" || name == "conj") return function_of(arguments);
    return fail();
  }

  Rows              &rows_;
  const std::string &text_;
  const Names       &names_;
  size_t             at_ = 0;
  bool               failed_ = false;
};

Dependence Rows::read(const std::string &expression, const Names &names) {
  return Reader(this, expression, names).read();
}

} // namespace

Linearity linearity_of(const EquationText &text, const std::vector<double> &parameters,
                       const std::vector<bool> &known) {
  Rows       rows(text, parameters, known);
  Dependence all;
  for (const auto &u : text.unknowns) all = larger(all, rows.read((text.has_rate ? u.rate : u.residual).text));
  return all.kind == Dependence::unclear     ? Linearity::unclear
         : all.kind == Dependence::nonlinear ? Linearity::nonlinear
                                             : Linearity::linear;
}

} // namespace shellac
