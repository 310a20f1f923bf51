// Which neighbours a text reads; errors for one beyond the DMDA's stencil, with the line that reads it.

#include "equations/at_neighbours.hpp"
#include "equations/equation.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace shellac {

bool read_steps(const std::vector<Node> &arguments, int steps[3]) {
  double size = 0;
  for (size_t a = 0; a < 3; a++) steps[a] = 0;
  for (size_t a = 0; a < arguments.size() && a < 3; a++) {
    const bool  has_sign = arguments[a].kind == Node::sign;
    const Node &number = has_sign ? arguments[a].parts[0] : arguments[a];
    if (number.kind != Node::number || !read_decimal(number.text, &size)) return false;
    steps[a] = (int)(has_sign && arguments[a].operators[0] == "-" ? -size : size);
  }
  return true;
}

bool steps_are_known(const EquationText &text) {
  std::set<std::string> choosing; // definitions that may
  bool                  known = true;
  const auto            chooses = [&](const Node &tree) {
    bool does = false;
    for_each_node(tree, [&](const Node &n) { does = does || n.kind == Node::choice || choosing.count(n.text); });
    return does;
  };
  const auto look = [&](const NamesOf &names, const Node &tree) {
    for_each_node(tree, [&](const Node &call) {
      for (size_t a = 0; call.kind == Node::call && a < call.parts.size(); a++)
        if (takes_step(names, call, a) && chooses(call.parts[a])) known = false;
    });
  };
  for (const auto &d : text.definitions) {
    look({&text, &d}, d.value.tree);
    if (chooses(d.value.tree)) choosing.insert(d.name);
  }
  for (const auto &u : text.unknowns) look({&text}, u.row().tree);
  return known;
}

bool may_leave_stencil(const EquationText &text, int width, bool box) {
  std::vector<std::string> read; // what is called with steps
  bool                     chooses = false, leaves = false;
  for (const auto &u : text.unknowns) read.push_back(u.name);
  for (const auto &f : text.fields) read.push_back(f.name);
  const auto look = [&](const Expression &e, const std::vector<std::string> &also = {}) {
    for_each_node(e.tree, [&](const Node &node) {
      chooses = chooses || node.kind == Node::choice || node.kind == Node::all || node.kind == Node::any;
      if (node.kind != Node::call) return;
      int          steps[3], along = 0, farthest = 0;
      const size_t of_helper = arguments_of_helper(node.text); // a formula of it may read neighbours itself
      leaves = leaves || (of_helper && of_helper == node.parts.size() && node.parts.back().kind != Node::name) ||
               of_helper > 2 || (order_of(node) == 4 && (width < 2 || node.parts[0].kind != Node::name));
      const bool is_wide = node.text == "bilaplacian", is_step = node.text.compare(0, 5, "step_") == 0;
      if (is_wide || node.text == "dxy") leaves = leaves || !box || (is_wide && width < 2);
      if (!is_step && !has(read, node.text) && !has(also, node.text)) return;
      leaves = leaves || !read_steps(node.parts, steps);
      if (leaves) return;
      for (const int step : steps) along += step != 0, farthest = std::max(farthest, std::abs(step));
      leaves = (along > 1 && !box) || farthest + is_step > width;
    });
  };
  for (const auto &d : text.definitions) look(d.value, d.arguments);
  for (const auto &u : text.unknowns) look(u.residual), look(u.rate);
  return !steps_are_known(text) || (chooses && leaves);
}

namespace {

struct Reader { // what reads a neighbour
  std::string call;
  int         line = 0;
  int         certainty = -1; // 3: these steps; 2: a helper that reads it; 1: steps that are not numbers; 0: the row
};

// The first one of those that are most certain.
Reader find_reader(const EquationText &text, const std::string &name, const int steps[3]) {
  Reader     found;
  const auto take = [&](const Reader &other) {
    if (other.certainty > found.certainty) found = other;
  };
  const auto look = [&](const Expression &e, bool is_row) {
    if (is_row && e) take({"", e.line, 0});
    for_each_node(e.tree, [&](const Node &call) {
      int       given[3];
      const int line = e.line + call.line;
      if (call.kind != Node::call) return;
      const bool fourth = order_of(call) == 4;
      if ((fourth || call.text == "bilaplacian" || call.text == "dxy") && call.parts[0].text == name)
        take({call.text + "(" + name + (fourth ? ", 4)" : ")"), line, 2});
      if (call.text != name) return;
      if (!read_steps(call.parts, given))
        take({"", line, 1});
      else if (std::equal(given, given + 3, steps))
        take({"", line, 3});
    });
  };
  for (const auto &d : text.definitions) look(d.value, false);
  for (const auto &u : text.unknowns) look(u.row(), true);
  return found;
}

} // namespace

// arm: 1, the steps, and a number: of an unknown, of a field after those, or -1 - axis of step_x, step_y or step_z.
std::string EquationOnGrid::ArmProblem(const int arm[5]) const {
  const EquationText &text = equation_->text;
  const int           n = (int)text.unknowns.size(), number = arm[4], axis = -1 - number;
  int                 steps[3] = {arm[1], arm[2], arm[3]}, written = grid_.dim, box = 0, width = 1;
  for (int a = 0; a < 3; a++) {
    box += steps[a] != 0, width = std::max(width, std::abs(steps[a]));
    if (steps[a]) written = std::max(written, a + 1);
  }
  std::string name;
  if (number < 0) { // what was noted is the farther one of two points
    name = std::string("step_") + "xyz"[axis];
    const int farther = steps[axis];
    steps[0] = farther > 0 ? farther - 1 : farther, steps[1] = steps[2] = 0, written = 1;
  } else
    name = number < n ? text.unknowns[(size_t)number].name : text.fields[(size_t)(number - n)].name;
  const Reader reader = find_reader(text, name, steps);
  std::string  read = name + "(";
  for (int a = 0; a < written; a++) read += (a ? ", " : "") + std::to_string(steps[a]);
  read = (reader.call.empty() ? "" : reader.call + " reads ") + read + ")" + (reader.call.empty() ? " is" : ",");
  for (int a = grid_.dim; a < 3; a++)
    if (arm[1 + a])
      return text.error_at(reader.line, read + " beyond a grid of " + dimensions(grid_.dim) + "; a step along " +
                                            "xyz"[a] + " needs " + std::to_string(a + 1));
  if (text.solid() >= 0 && number >= 0)
    return text.error_at(reader.line, read + " farther than the next point along an axis, the only one whose value "
                                             "a wall of a solid cell gives; take differences of second order along the "
                                             "axes, a formula in another one as an unknown of its own, or remove the "
                                             "solid cells");
  if (reader.call == "bilaplacian(" + name + ")") box = grid_.dim > 1 ? 2 : box, width = 2;
  if (box > 1 || grid_.box) width = std::max(width, (int)grid_.width); // what else the text reads stays in reach
  const std::string shape = box > 1 || grid_.box ? "box" : "star";
  return text.error_at(reader.line, read + " beyond the DMDA's " + (grid_.box ? "box" : "star") + " stencil of width " +
                                        std::to_string(grid_.width) +
                                        (width > 8 ? "; the widest one that can be stated is 8"
                                                   : "; state grid(" + std::to_string(grid_.dim) + ", " + shape + ", " +
                                                         std::to_string(width) + "), and make the DMDA with a " +
                                                         shape + " of width " + std::to_string(width)));
}

} // namespace shellac
