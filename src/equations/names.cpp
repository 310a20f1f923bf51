// The meaning of the names in a text, and mistakes that a compiler would not find or not explain.

#include "equations/text.hpp"

#include "equations/expression.hpp"

#include <algorithm>

namespace shellac {

const std::vector<std::string> statement_words = {"parameter", "field",      "unknowns", "grid",    "domain",
                                                  "stretch",   "periodic",   "residual", "rate",    "initial",
                                                  "exact",     "eliminated", "identity", "neumann", "robin"};

namespace {

using Names = std::vector<std::string>;

bool has(const Names &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What an expression may use: a row everything, data no state, a constant only parameters.
enum class Scope { row, data, constant };

const Names coordinates = {"x", "y", "z", "t"}, spacings = {"hx", "hy", "hz", "step_x", "step_y", "step_z"};
const Names helpers = {"laplacian", "bilaplacian", "d",   "dx",       "dy",       "dz",      "dxx",
                       "dyy",       "dzz",         "dxy", "upwind_x", "upwind_y", "upwind_z"};
const Names always = {"pi", "I", "real", "imag", "conj"};
const Names words_of_cpp = {"int",      "double", "float", "long", "bool", "true", "false",  "char",       "short",
                            "unsigned", "const",  "auto",  "and",  "or",   "not",  "sizeof", "static_cast"};
const struct {
  const char *name;
  int         axis;
} axis_names[] = {{"y", 1}, {"hy", 1}, {"step_y", 1}, {"dy", 1}, {"dyy", 1}, {"dxy", 1},     {"upwind_y", 1},
                  {"z", 2}, {"hz", 2}, {"step_z", 2}, {"dz", 2}, {"dzz", 2}, {"upwind_z", 2}};

// Checks a text that has been read.
class Checker {
public:
  explicit Checker(EquationText *text) : text_(*text) {}

  std::string check() {
    for (const auto &p : text_.parameters) parameters_.push_back(p.name);
    for (const auto &f : text_.fields) fields_.push_back(f.name);
    for (const auto &u : text_.unknowns) unknowns_.push_back(u.name);
    for (const auto &d : text_.definitions) {
      look(d.value, Scope::row, "", d.arguments);
      defined_.push_back(d.name);
    }
    for (const auto &f : text_.fields) look(f.formula, Scope::data, "the formula of a field");
    for (const auto &u : text_.unknowns) {
      look(u.residual, Scope::row);
      look(u.rate, Scope::row);
      look(u.initial, Scope::data, "an initial state");
      look(u.exact, Scope::data, "an exact solution");
      for (const auto &axis : u.ends)
        for (const auto &end : axis) {
          look(end.value, Scope::data, "a boundary's datum");
          look(end.alpha, Scope::constant, "the alpha of robin");
        }
    }
    look_for_unused();
    return error_;
  }

private:
  void fail(int line, const std::string &message) {
    if (error_.empty()) error_ = text_.error_at(line, message);
  }

  // What is wrong with a name in a scope, `what` in words; or empty.
  std::string problem(const std::string &name, Scope scope, const std::string &what) const {
    Names known = parameters_;
    for (const Names &more : {always, words_of_cpp}) known.insert(known.end(), more.begin(), more.end());
    for (const char *const *f = expression_functions; *f; f++) known.push_back(*f);
    Names state = fields_;
    for (const Names &more : {unknowns_, spacings, helpers}) state.insert(state.end(), more.begin(), more.end());
    for (const auto &d : text_.definitions)
      if (has(defined_, d.name)) (d.of_state ? state : known).push_back(d.name);
    known.insert(known.end(), coordinates.begin(), coordinates.end());
    if (scope == Scope::constant && (has(state, name) || has(coordinates, name) || has(defined_, name)))
      return what + " cannot depend on " + name + "; it is made of numbers and parameters";
    if (scope == Scope::data && has(unknowns_, name))
      return what + " cannot depend on the unknown " + name +
             "; it is a formula of coordinates, the time and parameters";
    if (scope == Scope::data && has(state, name))
      return what + " cannot have " + name +
             ", which belongs to the grid or its state; it is a formula of coordinates, the time and parameters";
    known.insert(known.end(), state.begin(), state.end());
    if (has(known, name)) return "";
    for (const auto &d : text_.definitions)
      if (d.name == name)
        return "the name " + name + " is defined in line " + std::to_string(d.line) + "; state it before it is used";
    const std::string near = name.size() > 1 ? suggestion(name, known) : "";
    return "the name " + name + " is not declared" + (near.empty() ? "; state " : near + " Else state ") +
           "parameter(" + name + "), field(" + name + ") or " + name + " = ...";
  }

  void look(const Expression &e, Scope scope, const std::string &what = "", const Names &arguments = {}) {
    if (e.text.find_first_of("[{") != std::string::npos) return; // C++ with names of its own
    for (const auto &found : names_by_line(e.text)) {
      if (has(arguments, found.name)) continue;
      const int         line = e.line + found.line;
      const std::string wrong = problem(found.name, scope, what);
      if (!wrong.empty()) return fail(line, wrong);
      for (const auto &a : axis_names)
        if (found.name == a.name) text_.axis_uses.push_back({found.name, a.axis, line});
    }
  }

  // A definition that nothing uses may be a statement that is misspelt.
  void look_for_unused() {
    Names      used;
    const auto use = [&](const Expression &e, const std::string &of = "") {
      for (const std::string &name : names_in(e.text))
        if (name != of) used.push_back(name);
    };
    for (const auto &d : text_.definitions) use(d.value, d.name);
    for (const auto &f : text_.fields) use(f.formula);
    for (const auto &u : text_.unknowns) {
      for (const Expression *e : {&u.residual, &u.rate, &u.initial, &u.exact}) use(*e);
      for (const auto &axis : u.ends)
        for (const auto &end : axis) use(end.value), use(end.alpha);
    }
    for (const auto &d : text_.definitions) {
      const std::string near = suggestion_of_statement(d.name);
      if (!has(used, d.name) && (!near.empty() || text_.has_residual || text_.has_rate))
        fail(d.line, "nothing uses " + d.name + (near.empty() ? "; remove it, or use it" : near));
    }
  }

  EquationText &text_;
  Names         parameters_, fields_, unknowns_, defined_; // so far
  std::string   error_;
};

} // namespace

std::string suggestion_of_statement(const std::string &word) {
  const std::string name = lower_case(word);
  if (name == "dirichlet") return ": did you mean eliminated or identity?";
  return name.size() > 1 ? suggestion(name, statement_words) : "";
}

std::string check_names(EquationText *text) {
  return Checker(text).check();
}

} // namespace shellac
