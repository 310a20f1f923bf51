#include "equations/at_neighbours.hpp"

#include <algorithm>

namespace shellac {

// A call of a formula, by the steps that follow it.
static const char formula_call[] = "@";

static std::vector<std::string> all_words() {
  std::vector<std::string> words = {"t", "d", "laplacian", "bilaplacian", "dxy", "integral", "mean"};
  for (const std::string axis : {"x", "y", "z"}) {
    for (const char *of : {"", "h", "step_", "d", "upwind_", "rusanov_", "minmod_", "vanleer_", "weno5_", "hll_",
                           "hll_minmod_", "hll_vanleer_", "hll_weno5_"})
      words.push_back(of + axis);
    words.push_back("d" + axis + axis);
  }
  return words;
}
const std::vector<std::string> words_of_grid = all_words();

bool is_coordinate(const std::string &name) {
  return name == "x" || name == "y" || name == "z" || name == "t";
}
static bool is_spacing(const std::string &name) {
  return name == "hx" || name == "hy" || name == "hz" || name == "step_x" || name == "step_y" || name == "step_z";
}
bool has_order(const Node &call) {
  return call.parts.size() == 2 &&
         (call.text == "laplacian" || call.text == "dxx" || call.text == "dyy" || call.text == "dzz");
}
int order_of(const Node &call) {
  if (!has_order(call)) return 2;
  const std::string order = call.parts[1].kind == Node::number ? call.parts[1].text : "";
  return order == "4" ? 4 : order == "2" ? 2 : 0;
}
bool is_weno(const std::string &name) {
  return name.find("weno5_") != std::string::npos;
}
bool is_limited_flux(const std::string &name) {
  return name.find("minmod_") != std::string::npos || name.find("vanleer_") != std::string::npos || is_weno(name);
}
size_t arguments_of_helper(const std::string &name) {
  if (is_coordinate(name) || is_spacing(name) || !has(words_of_grid, name)) return 0;
  if (name.compare(0, 4, "hll_") == 0) return 4;
  if (name.compare(0, 8, "rusanov_") == 0 || is_limited_flux(name)) return 3;
  return name == "d" || name.compare(0, 7, "upwind_") == 0 ? 2 : 1;
}
bool is_integral(const NamesOf &names, const Node &node) {
  return node.kind == Node::call && (node.text == "integral" || node.text == "mean") && names.argument(node.text) < 0;
}

// ---- what is a formula -----------------------------------------------------------------------------------------------

bool varies(const NamesOf &names, const Node &tree) {
  bool does = false;
  for (const std::string &name : names_in(tree)) {
    const auto *d = names.definition(name);
    does = does || (is_coordinate(name) && name != "t") || is_spacing(name) || names.is_grid_function(name) ||
           (d && (d->of_state || d->of_place));
  }
  return does;
}
// What has values at neighbours itself is none.
static bool is_grid_function(const NamesOf &names, const Node &node) {
  return node.kind == Node::name && names.is_grid_function(node.text);
}
// Whether an argument of a call is read at neighbours; a constant coefficient of d needs not be.
static bool is_read(const NamesOf &names, const Node &call, size_t a) {
  if (call.kind != Node::call) return false;
  if (call.text == formula_call) return a == 0;
  if (const auto *d = names.definition(call.text)) return a < d->is_grid.size() && d->is_grid[a];
  if (names.is_own(call.text)) return false;
  const size_t of_helper = arguments_of_helper(call.text);
  return a + 1 == of_helper || of_helper > 2 || (call.text == "d" && a == 0 && varies(names, call.parts[0]));
}

bool reads_neighbours(const EquationText &text, const std::string &name) {
  bool       reads = false;
  const auto look = [&](const NamesOf &names, const Node &tree) {
    for_each_node(tree, [&](const Node &call) {
      if (call.kind != Node::call || is_integral(names, call)) return;
      const auto *d = names.definition(call.text);
      reads = reads || call.text == name || (d && d->stands_for == name);
      for (size_t a = 0; a < call.parts.size() && !reads; a++)
        reads = is_read(names, call, a) && names_needed(text, call.parts[a]).count(name);
    });
  };
  for (const auto &d : text.definitions) look({&text, &d}, d.value.tree);
  for (const auto &u : text.unknowns) look({&text}, u.row().tree);
  return reads;
}

void find_grid_arguments(const EquationText &text, EquationText::Definition *d) {
  const NamesOf names{&text, d};
  d->is_grid.assign(d->arguments.size(), false);
  if (d->arguments.empty()) return;
  for_each_node(d->value.tree, [&](const Node &call) {
    if (call.kind != Node::call) return;
    if (names.argument(call.text) >= 0) d->is_grid[(size_t)names.argument(call.text)] = true;
    const auto *other = names.definition(call.text);
    for (size_t a = 0; a < call.parts.size(); a++) {
      const Node &part = call.parts[a];
      const bool  is_plain = is_grid_function(names, part), reads = is_read(names, call, a);
      if (is_plain && reads && names.argument(part.text) >= 0) d->is_grid[(size_t)names.argument(part.text)] = true;
      if (((is_plain && !is_integral(names, call)) || !reads) && !(other && other->expands)) continue;
      for (const std::string &name : names_in(part)) d->expands = d->expands || names.argument(name) >= 0;
    }
  });
}

// ---- what a compiler gets --------------------------------------------------------------------------------------------

// The definition's formula with the arguments of a call; names: those of the call.
static Node substituted(const EquationText::Definition &d, const Node &part, const NamesOf &names, const Node &call) {
  const int argument =
      part.kind == Node::name || part.kind == Node::call ? NamesOf{nullptr, &d}.argument(part.text) : -1;
  Node made = part;
  for (Node &p : made.parts) p = substituted(d, p, names, call);
  made.line = call.line;
  if (argument < 0) return made;
  const Node &given = call.parts[(size_t)argument];
  if (part.kind == Node::name) {
    made = given;
    made.bracketed = true;
  } else if (is_grid_function(names, given))
    made.text = given.text;
  else {
    made.text = formula_call;
    made.parts.insert(made.parts.begin(), given);
  }
  return made;
}

Node with_formulas(const EquationText &text, const Node &tree, const EquationText::Definition *within,
                   const std::function<std::string(const Node &, const Node &)> &name) {
  const NamesOf names{&text, within};
  const auto   *d = tree.kind == Node::call ? names.definition(tree.text) : nullptr;
  bool          expands = d && d->expands;
  for (size_t a = 0; d && a < tree.parts.size(); a++)
    expands = expands || (is_read(names, tree, a) && !is_grid_function(names, tree.parts[a]));
  if (expands) {
    Node body = substituted(*d, d->value.tree, names, tree);
    body.bracketed = true;
    return with_formulas(text, body, within, name);
  }
  Node made = tree;
  for (size_t a = 0; a < made.parts.size(); a++) {
    Node &part = made.parts[a];
    if (!is_read(names, tree, a) || (is_grid_function(names, part) && !is_integral(names, tree))) {
      part = with_formulas(text, part, within, name);
      continue;
    }
    Node formula;
    formula.kind = Node::name, formula.line = part.line, formula.text = name(part, tree);
    part = formula;
    if (is_integral(names, tree)) return part;
  }
  const size_t arguments = tree.kind == Node::call && !names.is_own(tree.text) ? arguments_of_helper(tree.text) : 0;
  if (arguments && order_of(tree) == 4) made.text = "equation::" + tree.text + "_4";
  if (arguments) made.parts.resize(arguments); // without the order
  if (made.text != formula_call) return made;
  made.text = made.parts[0].text;
  made.parts.erase(made.parts.begin());
  return made;
}

std::set<std::string> names_needed(const EquationText &text, const Node &tree) {
  std::set<std::string> needed;
  for (const std::string &name : names_in(tree)) needed.insert(name);
  for (size_t n = text.definitions.size(); n-- > 0;) { // which use none but earlier ones
    const auto &d = text.definitions[n];
    if (!needed.count(d.name)) continue;
    for (const std::string &name : names_in(d.value.tree))
      if (!std::count(d.arguments.begin(), d.arguments.end(), name)) needed.insert(name);
  }
  return needed;
}

} // namespace shellac
