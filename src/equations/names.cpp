// The meaning of the names in a text, and mistakes that a compiler would not find or not explain.

#include "equations/text.hpp"

#include "equations/at_neighbours.hpp"
#include "equations/in_cpp.hpp"

#include <algorithm>
#include <set>

namespace shellac {

const std::vector<std::string> statement_words = {
    "parameter", "field", "unknowns",  "grid",       "domain",   "stretch", "periodic", "residual", "rate",  "rate2",
    "initial",   "exact", "dirichlet", "eliminated", "identity", "neumann", "robin",    "solid"};

namespace {

using Names = std::vector<std::string>;

// What an expression may use: a row everything, data no state, an end's condition its unknown there, a constant only
// parameters.
enum class Scope { row, data, end, constant };

const Names of_complex = {"I", "real", "imag", "conj"};

// Checks a text that has been read.
class Checker {
public:
  explicit Checker(EquationText *text) : text_(*text) {
    for (const auto &f : text_.fields) declare(f.name, true);
    for (const auto &u : text_.unknowns) declare(u.name, true);
    for (const std::string &name : words_of_grid) declare(name, !is_coordinate(name));
    for (const auto &p : text_.parameters) known_.insert(p.name);
    known_.insert("pi");
    if (scalars_are_complex) known_.insert(of_complex.begin(), of_complex.end());
    for (const Function &f : expression_functions) known_.insert(f.name);
  }

  std::string check() {
    for (auto &d : text_.definitions) {
      find_dependence(&d);
      look(d.value, Scope::row, "", &d);
      declare(d.name, d.of_state);
    }
    for (const auto &f : text_.fields) {
      const bool is_solid = f.name == "solid";
      if (is_solid) check_solid(f.formula);
      look(f.formula, is_solid ? Scope::row : Scope::data, "the formula of a field");
      text_.fields_of_time = text_.fields_of_time || text_.is_of_time(f.formula);
    }
    for (auto &u : text_.unknowns) {
      look(u.residual, Scope::row);
      look(u.rate, Scope::row);
      look(u.initial, Scope::data, "an initial state");
      look(u.exact, Scope::data, "an exact solution");
      for (auto &axis : u.ends)
        for (auto &end : axis) {
          look(end.value, Scope::end, "a boundary's datum");
          if (end.value && error_.empty()) check_end(u, &end);
          look(end.alpha, Scope::constant, "the alpha of robin");
        }
    }
    look_for_unused();
    return error_;
  }

private:
  void declare(const std::string &name, bool of_state) { // what is no constant
    known_.insert(name);
    changing_.insert(name);
    if (of_state) state_.insert(name);
  }
  void fail(int line, const std::string &message) {
    if (error_.empty()) error_ = text_.error_at(line, message);
  }

  // What is wrong with a name in a scope, `what` in words; or empty.
  std::string problem(const std::string &name, Scope scope, const std::string &what) const {
    if (scope == Scope::constant && changing_.count(name))
      return what + " cannot depend on " + name + "; it is made of numbers and parameters";
    if (scope == Scope::data && has_name(text_.unknowns, name))
      return what + " cannot depend on the unknown " + name +
             "; it is a formula of coordinates, the time and parameters";
    if (scope == Scope::data && state_.count(name))
      return what + " cannot have " + name +
             ", which belongs to the grid or its state; it is a formula of coordinates, the time and parameters";
    if (known_.count(name)) return "";
    if (is_operator_word(name)) return name + " has no meaning here; a condition compares numbers, as 1 > 0";
    if (name == "I") return "the imaginary unit I needs a PETSc with complex numbers";
    if (has(of_complex, name)) return name + " is for complex numbers, and needs a PETSc with these";
    if (const auto *d = text_.definition(name))
      return "the name " + name + " is defined in line " + std::to_string(d->line) + "; state it before it is used";
    const std::string near = name.size() > 1 ? suggestion(name, {known_.begin(), known_.end()}) : "";
    return "the name " + name + " is not declared" + (near.empty() ? "; state " : near + " Else state ") +
           "parameter(" + name + "), field(" + name + ") or " + name + " = ...";
  }

  // Whether a condition depends on its unknown at the end, and on nothing else of the grid and its state.
  void check_end(const EquationText::Unknown &u, EquationText::End *end) {
    const auto needed = names_needed(text_, end->value.tree);
    const auto is_plain = [&](const std::string &name) { return !state_.count(name) || text_.definition(name); };
    const int         derivative = text_.derivative_of((size_t)(&u - text_.unknowns.data()));
    const std::string velocity = derivative < 0 ? "" : text_.unknowns[(size_t)derivative].name;
    end->of_state = needed.count(u.name);
    end->of_velocity = needed.count(velocity);
    const std::string &own = end->of_velocity ? velocity : u.name;
    if (end->of_state && end->of_velocity)
      fail(end->value.line, "a flux depends on " + u.name + " or on " + velocity +
                                ", not on both; for a part that is a " + "multiple of " + u.name +
                                ", state robin(left, alpha)");
    for (const std::string &name : needed)
      if (name != own && !is_plain(name))
        fail(end->value.line,
             "a boundary's datum cannot have " + name +
                 ", but only coordinates, the time, parameters and, of neumann and robin, the unknown itself" +
                 (text_.unknowns.size() > 1 ? "; here it is for " + u.name + ", as in neumann(left, " + u.name + ")"
                                            : ""));
    const bool of_own = end->of_state || end->of_velocity;
    if (of_own && (end == &u.ends[EquationText::walls][0] || end == &u.ends[EquationText::walls][1]))
      fail(end->value.line, "what holds at the walls of solid cells cannot depend on " + own +
                                "; give a value or a flux of coordinates, the time and parameters");
    if (of_own && end->form != EquationText::neumann && end->form != EquationText::robin)
      fail(end->value.line, "the value of " + u.name + " on an end cannot depend on " + own +
                                "; a flux can, as neumann(left) = -2*(" + own + " - 20)");
    const auto look_for_steps = [&](const Node &tree) {
      for_each_node(tree, [&](const Node &node) {
        if (node.kind == Node::call && node.text == own)
          fail(end->value.line, "a boundary's datum takes the value at the end: write " + own + " without steps");
      });
    };
    look_for_steps(end->value.tree);
    for (const auto &d : text_.definitions) {
      if (!needed.count(d.name)) continue;
      look_for_steps(d.value.tree);
      for (size_t a = 0; a < d.arguments.size(); a++)
        if (d.is_grid[a]) fail(end->value.line, "a boundary's datum cannot use " + d.name + ", which reads neighbours");
    }
  }

  // Solid cells are those of a formula of coordinates and of fields at the point.
  void check_solid(const Expression &e) {
    const auto needed = names_needed(text_, e.tree);
    const auto look_for_steps = [&](const Node &tree) {
      for_each_node(tree, [&](const Node &node) {
        if (node.kind == Node::call && has_name(text_.fields, node.text))
          fail(e.line, "solid cells take fields at the point: write " + node.text + " without steps");
      });
    };
    for (const std::string &name : needed)
      if (name == "solid" || has_name(text_.unknowns, name) || (has(words_of_grid, name) && !is_coordinate(name)))
        fail(e.line, "solid cells cannot depend on " + name +
                         "; they are a formula of coordinates, the time, parameters and fields at the point");
    look_for_steps(e.tree);
    for (const auto &d : text_.definitions)
      if (needed.count(d.name)) look_for_steps(d.value.tree);
  }

  // What a definition depends on, which of its arguments are steps to neighbours, whether its value is a whole number.
  void find_dependence(EquationText::Definition *d) {
    const NamesOf names{&text_, d};
    const Node   &tree = d->value.tree;
    for (const std::string &name : names_in(tree)) {
      const auto *used = names.definition(name);
      if (names.argument(name) >= 0) continue;
      d->of_state = d->of_state || state_.count(name);
      d->of_place = d->of_place || name == "x" || name == "y" || name == "z" || (used && used->of_place);
    }
    if (d->arguments.empty() && tree.kind == Node::name) {
      const auto *other = names.definition(tree.text);
      d->stands_for = other && !other->stands_for.empty() ? other->stands_for : tree.text;
    }
    d->is_step.assign(d->arguments.size(), false);
    for_each_node(tree, [&](const Node &call) {
      for (size_t a = 0; call.kind == Node::call && a < call.parts.size(); a++)
        if (takes_step(names, call, a))
          for (const std::string &name : names_in(call.parts[a]))
            if (names.argument(name) >= 0) d->is_step[(size_t)names.argument(name)] = true;
    });
    find_grid_arguments(text_, d);
    if (d->arguments.empty()) d->largest_whole = largest_whole(names, d->value.tree);
  }

  // What is wrong with a call, or with a name that is not called; or empty.
  std::string mistake_in_call(const NamesOf &names, const Node &node, const std::string &written) const {
    const std::string &name = node.text;
    const size_t       given = node.parts.size();
    const bool         called = node.kind == Node::call, grid = names.is_grid_function(name);
    const auto        *d = names.definition(name);
    const auto         takes = [&](size_t n) {
      return name + " takes " + std::to_string(n) + (n == 1 ? " argument" : " arguments");
    };
    for (size_t a = 0; a < given; a++)
      if (takes_step(names, node, a) && largest_whole(names, node.parts[a]) < 0)
        return written + ": steps to neighbours are integers, as " + name + "(1)";
    if (grid) return given > 3 ? name + " takes at most 3 steps, along x, y and z" : "";
    if (d && !d->arguments.empty())
      return !called || given != d->arguments.size()
                 ? takes(d->arguments.size()) + ", by its definition in line " + std::to_string(d->line)
                 : "";
    if (names.is_own(name) || is_coordinate(name) || name == "pi" || name == "I" ||
        (name.size() == 2 && name[0] == 'h'))
      return called ? written + ": " + name + " is no function; a product is written " + name + "*(...)" +
                          (d ? ", and a definition for neighbours " + name + "(i, j) = ..." : "")
                    : "";
    if (name.compare(0, 5, "step_") == 0)
      return !called || given > 1
                 ? "the distance to the next point is " + name + "(0), that to the previous one " + name + "(-1)"
                 : "";
    const Function *function = find_function(name); // none: of complex numbers
    const size_t    of_helper = arguments_of_helper(name), n = of_helper  ? of_helper
                                                               : function ? function->arguments()
                                                                          : 1;
    const int       order = called ? order_of(node) : 2;
    if (order == 0) return "the order of " + name + " is 2 or 4, as in " + name + "(u, 4)";
    return !called || (given != n && !has_order(node)) ? takes(n) : "";
  }

  void look(const Expression &e, Scope scope, const std::string &what = "",
            const EquationText::Definition *within = nullptr) {
    const NamesOf names{&text_, within};
    if (!e) return;
    for_each_node(e.tree, [&](const Node &node) {
      if ((node.kind != Node::name && node.kind != Node::call) || !error_.empty()) return;
      const bool  own = names.argument(node.text) >= 0;
      std::string wrong = own ? "" : problem(node.text, scope, what);
      if (wrong.empty()) wrong = mistake_in_call(names, node, e.text.substr(node.begin, node.end - node.begin));
      if (!wrong.empty()) return fail(e.line + node.line, wrong);
      const size_t axis = std::string("xyz").find(node.text.back());
      if (!own && has(words_of_grid, node.text) && axis != std::string::npos && axis > 0)
        text_.axis_uses.push_back({node.text, (int)axis, e.line + node.line});
      for (size_t a = 0; a < 3 && !own && order_of(node) == 4; a++)
        if (node.text == "laplacian" || a == axis) text_.fourth_order[a] = e.line + node.line;
      if (!own && is_weno(node.text) && axis < 3) text_.weno[axis] = e.line + node.line;
      if (is_integral(names, node)) look_at_integral(names, node.parts[0], e.line + node.line);
    });
  }

  // What is known of an argument of a definition: nothing.
  void look_at_integral(const NamesOf &names, const Node &of, int line) {
    text_.has_integrals = true;
    for (const std::string &name : names_needed(text_, of)) {
      const bool unknown = names.argument(name) >= 0;
      if (unknown || has_name(text_.unknowns, name)) text_.integral_of_state = line;
      text_.nests_integrals = text_.nests_integrals || unknown || name == "integral" || name == "mean";
    }
  }

  // A definition that nothing uses may be a statement that is misspelt.
  void look_for_unused() {
    std::set<std::string> used = text_.used;
    const auto            use = [&](const Expression &e, const std::string &of = "") {
      for (const std::string &name : names_in(e.tree))
        if (name != of) used.insert(name);
    };
    for (const auto &d : text_.definitions) use(d.value, d.name);
    for (const auto &f : text_.fields) use(f.formula);
    for (const auto &u : text_.unknowns) {
      for (const Expression *e : {&u.residual, &u.rate, &u.initial, &u.exact}) use(*e);
      for (const auto &axis : u.ends)
        for (const auto &end : axis) use(end.value), use(end.alpha);
    }
    for (const auto &d : text_.definitions) {
      if (used.count(d.name)) continue;
      const std::string near = suggestion_of_statement(d.name);
      if (!near.empty() || text_.has_residual || text_.has_rate)
        fail(d.line, "nothing uses " + d.name + (near.empty() ? "; remove it, or use it" : near));
    }
  }

  EquationText         &text_;
  std::set<std::string> known_, changing_, state_; // so far; no constants; of the grid or its state
  std::string           error_;
};

} // namespace

std::string suggestion_of_statement(const std::string &word) {
  const std::string name = lower_case(word);
  return name.size() > 1 ? suggestion(name, statement_words) : "";
}

const EquationText::Definition *EquationText::definition(const std::string &name) const {
  const auto at = definition_numbers_.find(name);
  return at == definition_numbers_.end() ? nullptr : &definitions[at->second];
}
bool EquationText::declares(const std::string &name) const {
  return has_name(unknowns, name) || has_name(fields, name) || has_name(parameters, name) || definition(name);
}
void EquationText::define(const Definition &definition) {
  definition_numbers_[definition.name] = definitions.size();
  definitions.push_back(definition);
}

bool EquationText::is_of_time(const Expression &e) const {
  return names_needed(*this, e.tree).count("t");
}

std::string check_names(EquationText *text) {
  return Checker(text).check();
}

} // namespace shellac
