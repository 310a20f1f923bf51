// Derivatives in time of data: of the exact solution and the conditions of an unknown, for its velocity.

#include "equations/at_neighbours.hpp"

#include <map>

namespace shellac {

namespace {

using Parts = std::map<std::string, Node>;

Node parsed(const std::string &text) {
  Node tree;
  parse_expression(text, &tree);
  tree.bracketed = true;
  return tree;
}
// A tree with other ones in the place of names.
Node replaced(Node tree, const Parts &parts) {
  const auto part = tree.kind == Node::name ? parts.find(tree.text) : parts.end();
  if (part != parts.end()) tree = part->second, tree.bracketed = true;
  if (part == parts.end())
    for (Node &of : tree.parts) of = replaced(of, parts);
  tree.line = 0;
  return tree;
}

// Derivatives of operations and functions of a, or of a and b, by those of these, da and db; `*a`: where da alone is not
// zero. Others have none.
const std::map<std::string, const char *> rules = {{"+", "da + db"},
                                                   {"+a", "da"},
                                                   {"+b", "db"},
                                                   {"-", "da - db"},
                                                   {"-a", "da"},
                                                   {"-b", "-db"},
                                                   {"*", "da*b + a*db"},
                                                   {"*a", "da*b"},
                                                   {"*b", "a*db"},
                                                   {"/", "(da*b - a*db)/b^2"},
                                                   {"/a", "da/b"},
                                                   {"/b", "-a*db/b^2"},
                                                   {"sign-", "-da"},
                                                   {"sign+", "da"},
                                                   {"exp", "exp(a)*da"},
                                                   {"log", "da/a"},
                                                   {"sqrt", "da/(2*sqrt(a))"},
                                                   {"sin", "cos(a)*da"},
                                                   {"cos", "-sin(a)*da"},
                                                   {"tan", "(1 + tan(a)^2)*da"},
                                                   {"asin", "da/sqrt(1 - a^2)"},
                                                   {"acos", "-da/sqrt(1 - a^2)"},
                                                   {"atan", "da/(1 + a^2)"},
                                                   {"atan2", "(b*da - a*db)/(a^2 + b^2)"},
                                                   {"sinh", "cosh(a)*da"},
                                                   {"cosh", "sinh(a)*da"},
                                                   {"tanh", "da/cosh(a)^2"},
                                                   {"erf", "2/sqrt(pi)*exp(-a^2)*da"},
                                                   {"abs", "sign(a)*da"},
                                                   {"fabs", "sign(a)*da"},
                                                   {"real", "real(da)"},
                                                   {"imag", "imag(da)"},
                                                   {"conj", "conj(da)"},
                                                   {"min", "b < a ? db : da"},
                                                   {"max", "b > a ? db : da"},
                                                   {"choice", "c ? da : db"},
                                                   {"powa", "b*a^(b - 1)*da"},
                                                   {"pow", "a^b*(db*log(a) + b*da/a)"}};

class InTime {
public:
  explicit InTime(const EquationText &text) : text_(text) {}

  Node of(const Node &node) {
    const bool  is_call = node.kind == Node::call, is_choice = node.kind == Node::choice;
    const auto *d = is_call || node.kind == Node::name ? text_.definition(node.text) : nullptr;
    Parts       parts;
    if (++nodes_ > most_nodes) return zero_;
    if (d) {
      for (size_t a = 0; a < d->arguments.size(); a++) parts[d->arguments[a]] = node.parts[a];
      return of(replaced(d->value.tree, parts));
    }
    if (node.kind == Node::name) return node.text == "t" ? parsed("1") : zero_;
    std::string       rule = is_call ? node.text : is_choice ? "choice" : node.kind == Node::sign ? "sign" : "";
    std::vector<Node> of_two = node.parts;
    if (!node.operators.empty()) rule += node.operators.back();
    if (of_two.size() > 2 && is_choice)
      parts["c"] = of_two[0], of_two.erase(of_two.begin());
    else if (of_two.size() > 2) { // the others are the first operand
      of_two = {node, node.parts.back()};
      of_two[0].parts.pop_back(), of_two[0].operators.pop_back();
    }
    for (size_t n = 0; n < of_two.size(); n++) {
      const std::string name = n ? "b" : "a";
      parts["d" + name] = of(of_two[n]), parts[name] = of_two[n];
    }
    const bool by_a = of_two.size() > 0 && !is_zero(parts["da"]), by_b = of_two.size() > 1 && !is_zero(parts["db"]);
    const auto one = rules.find(rule + (by_a ? "a" : "b")), both = rules.find(rule);
    if (!by_a && !by_b) return zero_;
    const auto found = by_a == by_b || one == rules.end() ? both : one;
    return found == rules.end() ? zero_ : replaced(parsed(found->second), parts);
  }
  bool        is_too_long() const { return nodes_ > most_nodes; }
  static bool is_zero(const Node &node) { return node.kind == Node::number && node.text == "0"; }

private:
  static constexpr int most_nodes = 20000;

  const EquationText &text_;
  const Node          zero_ = parsed("0");
  int                 nodes_ = 0;
};

} // namespace

std::string complete_derivatives(EquationText *text) {
  std::string error;
  const auto  fail = [&](int line, const std::string &message) {
    if (error.empty()) error = text->error_at(line, message);
  };
  const auto derive = [&](const Expression &from, Expression *to) {
    InTime in_time(*text);
    if (!from) return;
    to->tree = in_time.of(from.tree), to->line = from.line;
    to->text = InTime::is_zero(to->tree) ? "0" : "d/dt";
    if (in_time.is_too_long()) fail(from.line, "the derivative of this in time is too long; state that of u_t, too");
  };
  for (auto &v : text->unknowns) {
    if (v.derivative_of < 0) continue;
    auto &u = text->unknowns[(size_t)v.derivative_of];
    if (u.rate) fail(u.rate.line, "there are a rate and a rate2 of " + u.name + "; state one of them");
    u.rate.text = v.name, u.rate.line = v.line, u.rate.tree = parsed(v.name);
    if (!v.exact) derive(u.exact, &v.exact);
    for (int a = 0; a < 4; a++)
      for (int side = 0; side < 2; side++) {
        const EquationText::End &end = u.ends[a][side];
        EquationText::End       &of_v = v.ends[a][side];
        if (of_v.line) continue;
        if ((end.of_state || end.of_velocity) && reads_neighbours(*text, v.name))
          fail(end.line, "this flux depends on " + (end.of_state ? u : v).name + ", and no flux of " + v.name +
                             " follows from it; state one, as neumann(" + side_names[a][side] + ", " + v.name +
                             ") = 0");
        of_v = end, of_v.value = Expression(), of_v.of_state = of_v.of_velocity = false;
        if (!end.of_state && !end.of_velocity) derive(end.value, &of_v.value);
      }
  }
  return error;
}

} // namespace shellac
