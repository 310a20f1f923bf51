#include "equations/at_neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace shellac {

const char *const side_names[4][2] = {{"left", "right"}, {"bottom", "top"}, {"back", "front"}, {"solid", "solid"}};
const char *const form_names_of_equations[4] = {"eliminated", "identity", "neumann", "robin"};

std::string EquationText::error_at(int line, const std::string &message, int column) const {
  const auto  number = [](int n) { return n ? ":" + std::to_string(n) : ""; };
  std::string text = file + number(line) + number(column) + ": " + message;
  if (line < 1 || line > (int)lines.size()) return text;
  const std::string &quoted = lines[(size_t)line - 1];
  const size_t       first = std::min(quoted.find_first_not_of(" \t\v\f"), quoted.size());
  return text + "\n  " + quoted.substr(first, quoted.find_last_not_of(" \t\v\f") + 1 - first);
}

namespace {

struct Statement {
  std::string              head;      // "rate"
  std::vector<std::string> arguments; // "u"
  bool                     called = false, has_value = false;
  Expression               value;
  int                      line = 0;
};

// Reads statements in turn; the first error ends it.
class Reader {
public:
  explicit Reader(EquationText *to) : to_(*to) {}

  std::string read(const std::string &as_given) {
    // without what editors put in front of a text in UTF-8, and with one character at the end of a line
    for (size_t c = as_given.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0; c < as_given.size(); c++) {
      const bool returns = as_given[c] == '\r';
      if (!returns || c + 1 == as_given.size() || as_given[c + 1] != '\n') text_ += returns ? '\n' : as_given[c];
    }
    for (size_t c = 0, end; c < text_.size(); c = end + 1) {
      end = std::min(text_.find('\n', c), text_.size());
      to_.lines.push_back(text_.substr(c, end - c));
    }
    tokens_ = tokens_of(text_);
    split();
    for (const Statement &statement : statements_)
      if (error_.empty()) take(statement);
    if (error_.empty()) finish();
    return error_;
  }

private:
  void fail(int line, const std::string &message, int column = 0) {
    if (error_.empty()) error_ = to_.error_at(line, message, column);
  }

  // A statement ends with its line, unless a bracket is open, the line ends in an operator, or the next one begins with
  // an operator, or with white space and is no statement by itself.
  void split() {
    size_t begin = 0;
    int    depth = 0, opened = 0;
    if (tokens_.size() > 1 && tokens_[tokens_.size() - 2].text.compare(0, 2, "/*") == 0)
      return fail(tokens_[tokens_.size() - 2].line + 1,
                  "a comment that is opened here by /* is not closed; close it by */");
    for (size_t n = 0; error_.empty(); n++) {
      const Token &t = tokens_[n];
      const bool   begins_line = !n || tokens_[n - 1].line < t.line, ends = t.kind == Token::the_end;
      if (begins_line && t.text == "#")
        return fail(t.line + 1, "the line begins with #; a text has no includes and no macros");
      if (n > begin && (ends ? depth == 0 : begins_line && depth == 0 && !goes_on(n))) parse(begin, n), begin = n;
      if (ends) break;
      if (t.text.find_first_of("([{") == 0 && !depth++) opened = t.line + 1;
      if (t.text.find_first_of(")]}") == 0 && --depth < 0)
        return fail(t.line + 1, "this " + t.text + " closes nothing");
    }
    if (depth > 0) fail(opened, "a bracket that is opened here is not closed");
  }
  // Whether a statement goes on with the first token of a line.
  bool goes_on(size_t n) const {
    const Token &t = tokens_[n];
    const auto   is_open = [](const Token &o) { return o.kind == Token::operation || o.kind == Token::opening; };
    const bool   indented = t.begin > 0 && text_[t.begin - 1] != '\n';
    return is_open(tokens_[n - 1]) || t.kind == Token::operation || t.kind == Token::closing ||
           std::strchr("%&|", t.text[0]) || (indented && !is_statement(n));
  }
  // Whether a line begins a statement: no expression has such a word, or an equals sign.
  bool is_statement(size_t n) const {
    size_t end = n;
    while (tokens_[end].kind != Token::the_end && tokens_[end].line == tokens_[n].line) end++;
    return has(statement_words, tokens_[n].text) || find(n, end, "=") < end;
  }
  // The first operator of that kind among some tokens that is in no brackets; or their end.
  size_t find(size_t n, size_t end, const char *operation) const {
    for (int depth = 0; n < end && (depth || tokens_[n].text != operation); n++)
      depth += (tokens_[n].kind == Token::opening) - (tokens_[n].kind == Token::closing);
    return n;
  }
  std::string written(size_t begin, size_t end) const { // of tokens
    return begin < end ? text_.substr(tokens_[begin].begin, tokens_[end - 1].end - tokens_[begin].begin) : "";
  }

  // An expression's tree.
  bool parse(Expression *e) {
    const Mistake mistake = parse_expression(e->text, &e->tree);
    if (mistake.message.empty()) return true;
    const auto   before = e->text.begin() + (long)mistake.at;
    const size_t start = mistake.at ? e->text.rfind('\n', mistake.at - 1) : std::string::npos;
    const size_t column = start == std::string::npos ? (size_t)e->column + mistake.at : mistake.at - start - 1;
    fail(e->line + (int)std::count(e->text.begin(), before, '\n'), mistake.message, (int)column + 1);
    return false;
  }
  void parse(size_t begin, size_t end) {
    Statement statement;
    const int line = statement.line = tokens_[begin].line + 1;
    while (end > begin && tokens_[end - 1].text == ";") end--;
    const size_t equals = find(begin, end, "=");
    if ((statement.has_value = equals < end)) {
      if (equals + 1 == end) return fail(line, "nothing stands after the equals sign");
      const Token &first = tokens_[equals + 1];
      statement.value.text = written(equals + 1, end), statement.value.line = first.line + 1;
      statement.value.column = (int)(first.begin - (first.begin ? text_.rfind('\n', first.begin - 1) + 1 : 0));
      if (!parse(&statement.value)) return;
    }
    statement.head = tokens_[begin].text;
    statement.called = equals > begin + 1;
    if (!is_name(statement.head) ||
        (statement.called && (tokens_[begin + 1].kind != Token::opening || tokens_[equals - 1].kind != Token::closing)))
      return fail(line, "this is no statement; give one as residual = ... or parameter(k, 1)");
    for (size_t n = begin + 2; n < equals;) {
      const size_t comma = find(n, equals - 1, ",");
      if (comma > n || comma < equals - 1 || n > begin + 2) statement.arguments.push_back(written(n, comma));
      n = comma + 1;
    }
    statements_.push_back(statement);
  }

  // ---- statements

  bool reserved(const std::string &name) const {
    return has(words_of_grid, name) || has(statement_words, name) || has({"pi", "I", "sides"}, name) ||
           find_function(name);
  }
  // what: an argument's name, say
  bool may_be_name(const Statement &s, const std::string &name, const char *what = "name") {
    if (!is_name(name)) fail(s.line, "'" + name + "' is no " + what + "; use letters, digits and _");
    if (is_operator_word(name))
      fail(s.line, name + " is an operator's word and can be no " + what + "; choose another");
    return error_.empty();
  }
  bool take_name(const Statement &s, const std::string &name) {
    if (!may_be_name(s, name)) return false;
    if (reserved(name) || to_.declares(name)) {
      fail(s.line, "the name " + name + " is taken; choose another");
      return false;
    }
    return true;
  }
  double constant_of(const std::string &name) const {
    const auto *d = to_.definition(name);
    return d ? d->constant : NAN;
  }
  // A number, or a formula of numbers and definitions of such.
  bool number(const Statement &s, const std::string &text, double *value) {
    const size_t at = text.empty() ? 0 : to_.lines[(size_t)s.line - 1].find(text);
    Expression   e{text, s.line, at == std::string::npos ? 0 : (int)at, {}};
    std::string  other;
    if (!parse(&e)) return false;
    const LookUp lookup = [&](const std::string &name, double *constant) {
      *constant = constant_of(name);
      return std::isnan(*constant) ? (other = name, false) : (to_.used.insert(name), true);
    };
    if (constant_value(e.tree, lookup, value) && std::isfinite(*value)) return true;
    const bool is_parameter = has_name(to_.parameters, other);
    fail(s.line, "'" + text + "' is no number; give one as 0.25, 1e-3 or 2*pi" +
                     (!is_parameter ? ""
                                    : ". The parameter " + other + " may change; a definition follows it, as " +
                                          (s.head == "parameter" ? s.arguments[0] : "a") + " = 2*" + other));
    return false;
  }
  // Adds the derivatives in time that statements rate2 need, behind the unknowns that the text names.
  void add_derivatives() {
    stated_ = to_.unknowns.size();
    for (const Statement &s : statements_)
      for (size_t n = 0; n < stated_ && s.head == "rate2"; n++) {
        const EquationText::Unknown &u = to_.unknowns[n];
        const std::string            name = u.name + "_t";
        if (s.arguments.empty() ? stated_ > 1 : s.arguments[0] != u.name) continue;
        if (to_.derivative_of(n) >= 0) continue; // the statement stands twice
        if (to_.declares(name)) return fail(s.line, "rate2 gives du/dt the name " + name + ", which is taken");
        to_.unknowns.emplace_back();
        to_.unknowns.back().name = name;
        to_.unknowns.back().line = s.line;
        to_.unknowns.back().derivative_of = (int)n;
      }
  }
  void need_unknowns() { // those of a text that names none
    if (!to_.unknowns.empty()) return;
    if (to_.declares("u")) {
      int line = 0;
      for (const auto &p : to_.parameters) line = p.name == "u" ? p.line : line;
      for (const auto &f : to_.fields) line = f.name == "u" ? f.line : line;
      fail(line, "the name u is that of the unknown, where a text names none; choose another, or state unknowns(...) "
                 "first");
    }
    to_.unknowns.resize(1);
    to_.unknowns[0].name = "u";
    add_derivatives();
  }

  void take(const Statement &s) {
    if (s.head == "parameter") return parameter(s);
    if (s.head == "field" || s.head == "solid") return field(s);
    if (s.head == "unknowns") return unknowns(s);
    if (s.head == "grid") return grid(s);
    if (s.head == "periodic") return periodic(s);
    if (s.head == "domain") return domain(s);
    if (s.head == "stretch") return stretch(s);
    need_unknowns();
    if (s.head == "residual") return function(s, &EquationText::Unknown::residual, &to_.has_residual);
    if (s.head == "rate" || s.head == "rate2") return function(s, &EquationText::Unknown::rate, &to_.has_rate);
    if (s.head == "initial") return function(s, &EquationText::Unknown::initial, &to_.has_initial);
    if (s.head == "exact") return function(s, &EquationText::Unknown::exact, &to_.has_exact);
    for (int form = 0; form < 4; form++)
      if (s.head == form_names_of_equations[form]) return end(s, (EquationText::Form)form);
    if (s.head == "dirichlet") return end(s, EquationText::eliminated);
    definition(s);
  }

  void parameter(const Statement &s) {
    if (s.has_value || s.arguments.empty() || s.arguments.size() > 2)
      return fail(s.line, "a parameter is stated as parameter(name, default), or without default");
    EquationText::Parameter p;
    p.name = s.arguments[0], p.line = s.line;
    if (!take_name(s, p.name)) return;
    for (const char *option : {"cache", "stretch_x", "stretch_y", "stretch_z"}) // as options, in any case
      if (lower_case(p.name) == option)
        return fail(s.line, "the parameter " + p.name + " would have the option -equation_" + option +
                                ", which is another; choose another name");
    p.has_default = s.arguments.size() == 2;
    if (p.has_default && !number(s, s.arguments[1], &p.value)) return;
    to_.parameters.push_back(p);
  }
  void field(const Statement &s) {
    const bool  is_solid = s.head == "solid";
    const auto &name = is_solid ? s.head : s.arguments.empty() ? "" : s.arguments[0];
    if (is_solid ? s.called || !s.has_value : s.arguments.size() != 1)
      return fail(s.line, is_solid ? "solid cells are stated as solid = x < 0.5, or by a field, as field(solid)"
                                   : "a field is stated as field(name), or field(name) = formula");
    for (const auto &f : to_.fields)
      if (f.name == "solid" && name == "solid")
        return fail(s.line, "solid cells are stated twice, first in line " + std::to_string(f.line));
    if (name != "solid" && !take_name(s, name)) return;
    const bool is_last = name == "solid" || to_.solid() < 0; // by its formula it may depend on the others
    to_.fields.insert(to_.fields.end() - (is_last ? 0 : 1), {name, s.value, s.line});
  }
  void unknowns(const Statement &s) {
    if (s.has_value || s.arguments.empty()) return fail(s.line, "unknowns are stated as unknowns(u, v)");
    if (!to_.unknowns.empty()) return fail(s.line, "the unknowns are stated once, before the statements about them");
    for (const std::string &name : s.arguments) {
      if (!take_name(s, name)) return;
      to_.unknowns.emplace_back();
      to_.unknowns.back().name = name;
      to_.unknowns.back().line = s.line;
    }
    add_derivatives();
  }
  void grid(const Statement &s) {
    double value;
    to_.grid_line = s.line;
    for (const std::string &word : s.arguments) {
      if (word == "star" || word == "box") {
        to_.box = word == "box";
        if (!to_.width) to_.width = 1;
      } else if (number(s, word, &value)) {
        int &to = &word == &s.arguments[0] ? to_.dim : to_.width;
        to = value >= 1 && value <= (&to == &to_.dim ? 3 : 8) && value == std::floor(value) ? (int)value : 0;
        if (!to)
          return fail(s.line, "'" + word +
                                  "' is not possible here; a grid is stated as grid(2, box, 1): dimension, "
                                  "star or box, and how far it reaches");
      } else
        return;
    }
    if (s.arguments.empty() || !to_.dim) fail(s.line, "a grid is stated as grid(2), grid(2, box) or grid(3, star, 2)");
  }
  void periodic(const Statement &s) {
    for (const std::string &word : s.arguments) {
      const int axis = word == "x" ? 0 : word == "y" ? 1 : word == "z" ? 2 : -1;
      if (axis < 0) return fail(s.line, "'" + word + "' is no axis; use x, y or z, as periodic(x, y)");
      to_.periodic[axis] = true;
      to_.axis_uses.push_back({"periodic(" + word + ")", axis, s.line});
    }
    if (s.arguments.empty()) fail(s.line, "periodic axes are stated as periodic(x, y)");
  }
  void stretch(const Statement &s) {
    const size_t axis = s.arguments.size() == 3 ? std::string("xyz").find(s.arguments[0]) : std::string::npos;
    if (axis == std::string::npos || s.arguments[0].size() != 1 || s.has_value)
      return fail(s.line, "an axis is stretched as stretch(x, geometric, 10) or stretch(y, tanh, 2)");
    const std::string problem = read_stretching(s.arguments[1], s.arguments[2], &to_.stretching[axis]);
    if (!problem.empty()) fail(s.line, problem);
    to_.axis_uses.push_back({"stretch(" + s.arguments[0] + ", ...)", (int)axis, s.line});
  }
  void domain(const Statement &s) {
    double value;
    to_.domain_line = s.line;
    for (const std::string &word : s.arguments) {
      if (!number(s, word, &value)) return;
      to_.domain.push_back(value);
    }
    const size_t n = to_.domain.size();
    bool         ascending = n == 2 || n == 4 || n == 6;
    for (size_t i = 0; i + 1 < n; i += 2) ascending = ascending && to_.domain[i] < to_.domain[i + 1];
    if (!ascending)
      fail(s.line, "a domain is stated by the ends of each axis, the lower one first, as domain(0, 1, 0, 2) in 2-D");
  }

  EquationText::Unknown *unknown(const Statement &s, const std::string &name) {
    for (auto &u : to_.unknowns)
      if (u.name == name) return &u;
    std::string names;
    for (auto &u : to_.unknowns) names += (names.empty() ? "" : ", ") + u.name;
    fail(s.line, "there is no unknown " + name + "; the unknowns are " + names);
    return nullptr;
  }

  void function(const Statement &s, Expression EquationText::Unknown::*which, bool *has) {
    if (!s.has_value || s.arguments.size() > 1 || (s.arguments.empty() && stated_ > 1))
      return fail(s.line, stated_ > 1 ? "with several unknowns, state it for each, as " + s.head + "(" +
                                            to_.unknowns[0].name + ") = ..."
                                      : "state it as " + s.head + " = ...");
    EquationText::Unknown *u = s.arguments.empty() ? &to_.unknowns[0] : unknown(s, s.arguments[0]);
    if (u && s.head == "rate2") {
      if (u->derivative_of >= 0) fail(s.line, u->name + " is a derivative in time itself; state its rate");
      const int derivative = to_.derivative_of((size_t)(u - to_.unknowns.data()));
      u = derivative < 0 ? nullptr : &to_.unknowns[(size_t)derivative];
    }
    if (!u) return;
    const Node &tree = s.value.tree;
    if (which != &EquationText::Unknown::initial && which != &EquationText::Unknown::exact &&
        tree.kind == Node::comparison && (tree.operators[0] == "==" || tree.operators[0] == "!="))
      return fail(s.line, "the " + s.head + " is a comparison, which is only 1 or 0" +
                              (s.head == "residual" ? "; bring everything to one side, as residual = -laplacian(u) - 1"
                                                    : "; state du/dt, as rate = laplacian(u)"));
    if (u->*which)
      return fail(s.line, "the " + s.head + " is stated twice, first in line " + std::to_string((u->*which).line));
    u->*which = s.value;
    *has = true;
  }

  void end(const Statement &s, EquationText::Form form) {
    const size_t      needed = form == EquationText::robin ? 2 : 1;
    const std::string example = form == EquationText::robin ? "robin(left, alpha) = g" : s.head + "(left) = g";
    if (s.arguments.size() < needed || s.arguments.size() > needed + 1)
      return fail(s.line, "a boundary condition is stated as " + example + ", for one of several unknowns as " +
                              (needed == 2 ? "robin(left, alpha, u) = g" : s.head + "(left, u) = g"));
    EquationText::Unknown *one = nullptr;
    if (s.arguments.size() > needed && !(one = unknown(s, s.arguments.back()))) return;
    Expression alpha;
    if (needed == 2) alpha.text = s.arguments[1], alpha.line = s.line;
    if (needed == 2 && !parse(&alpha)) return;
    const bool by_name = s.arguments[0] != "sides";
    bool       found = false;
    if (s.arguments[0] == "solid" && (form == EquationText::identity || form == EquationText::robin))
      return fail(s.line, s.head + " is not possible at solid cells, whose walls are half a spacing from the points; "
                                   "state dirichlet(solid) = g or neumann(solid) = g");
    for (auto &u : to_.unknowns)
      for (int a = 0; a < 4; a++)
        for (int side = 0; side < 2; side++) {
          if (one ? one != &u : u.derivative_of >= 0) continue;
          if (by_name ? s.arguments[0] != side_names[a][side] : a == EquationText::walls) continue;
          EquationText::End &e = u.ends[a][side];
          found = true;
          if (a == EquationText::walls && side) {
            e = u.ends[a][0];
            continue;
          }
          if (e.line && e.by_name == by_name)
            return fail(s.line, "the condition on " + s.arguments[0] + " is stated twice, first in line " +
                                    std::to_string(e.line) +
                                    (stated_ > 1 ? "; name the unknown of each, as in neumann(left, " +
                                                       to_.unknowns[stated_ - 1].name + ")"
                                                 : ""));
          if (e.line && e.by_name) continue; // `sides` is for the others
          if (by_name && a < 3 && (one || &u == &to_.unknowns[0]))
            to_.axis_uses.push_back({"the side " + s.arguments[0], a, s.line});
          e.form = form;
          e.value = s.value;
          e.line = s.line;
          e.by_name = by_name;
          e.alpha = alpha;
        }
    if (!found)
      fail(s.line,
           "'" + s.arguments[0] + "' is no side; use left, right, bottom, top, back, front, sides for all, or solid");
  }

  static bool is_side(const std::string &word) {
    for (const auto &axis : side_names)
      for (const char *side : axis)
        if (word == side) return true;
    return word == "sides";
  }
  void definition(const Statement &s) {
    const auto used = names_in(s.value.tree);
    if (std::any_of(s.arguments.begin(), s.arguments.end(),
                    [&](const std::string &argument) { return is_side(argument) && !has(used, argument); })) {
      const std::string near = suggestion_of_statement(s.head);
      return fail(s.line, "'" + s.head + "' is no condition" + (near.empty() ? "; conditions" : near + " Conditions") +
                              " on sides are dirichlet, eliminated, identity, neumann and robin");
    }
    if (!s.has_value) {
      std::string words;
      for (const std::string &word : statement_words) words += word + ", ";
      return fail(s.line, "'" + s.head + "' is no statement; there are " + words + "and definitions name = ..." +
                              suggestion_of_statement(s.head));
    }
    if (!take_name(s, s.head)) return;
    EquationText::Definition definition;
    definition.name = s.head, definition.line = s.line, definition.arguments = s.arguments, definition.value = s.value;
    if (s.called && s.arguments.empty()) return fail(s.line, "a definition has arguments or no brackets");
    for (const std::string &argument : s.arguments) {
      if (!may_be_name(s, argument, "name of an argument")) return;
      if (std::count(s.arguments.begin(), s.arguments.end(), argument) > 1)
        return fail(s.line, "two arguments have the name " + argument);
    }
    const LookUp lookup = [&](const std::string &name, double *constant) {
      return !std::isnan(*constant = constant_of(name));
    };
    if (!s.arguments.empty() || !constant_value(s.value.tree, lookup, &definition.constant)) definition.constant = NAN;
    to_.define(definition);
  }

  // An unknown without a condition whose neighbours nothing reads is placed as those are that have one.
  void place_unknowns() {
    for (auto &u : to_.unknowns)
      for (const auto &other : to_.unknowns)
        for (int a = 0; a < 3; a++)
          for (int side = 0; side < 2; side++) {
            const auto form = other.ends[a][side].form;
            if (u.ends[a][side].line || (form != EquationText::neumann && form != EquationText::robin)) continue;
            if (!reads_neighbours(to_, u.name)) u.ends[a][side].form = EquationText::neumann;
          }
  }

  // What holds for the text as a whole.
  void finish() {
    need_unknowns();
    error_ = check_names(&to_);
    if (error_.empty()) error_ = complete_derivatives(&to_);
    if (!error_.empty()) return;
    place_unknowns();
    if (!to_.has_residual && !to_.has_rate) {
      error_ = to_.file + ": there is neither a residual nor a rate; state one, as residual = -laplacian(u) - 1";
      return;
    }
    const auto missing = [&](const EquationText::Unknown &u, const std::string &what, const char *more) {
      error_ =
          to_.file + ": the " + what + " of " + u.name + " is missing; state " + what + "(" + u.name + ") = ..." + more;
    };
    for (const auto &u : to_.unknowns) {
      if (!u.row())
        missing(u, to_.has_rate ? "rate" : "residual", to_.has_rate ? ", or residual for an algebraic unknown" : "");
      if (to_.has_exact && !u.exact) missing(u, "exact", "");
      if (u.residual && u.rate)
        error_ = to_.file + ": there are a residual and a rate of " + u.name +
                 "; state the residual of a steady equation, or the rate du/dt of one in time";
      if (u.at_walls().line && to_.solid() < 0)
        fail(u.at_walls().line, "no cells are solid; state which, as solid = x < 0.5, or by a field, as field(solid)");
      for (const auto &axis : u.ends)
        for (const auto &end : axis)
          if (to_.is_mixed() && end.form == EquationText::identity)
            fail(end.line, "identity is not possible where residuals stand beside rates; use dirichlet");
    }
  }

  EquationText          &to_;
  std::string            text_; // and its tokens
  std::vector<Token>     tokens_;
  std::vector<Statement> statements_;
  size_t                 stated_ = 0; // unknowns
  std::string            error_;
};

} // namespace

std::string read_equation(const std::string &file, const std::string &text, EquationText *equation) {
  *equation = EquationText();
  equation->file = file;
  return Reader(equation).read(text);
}

} // namespace shellac
