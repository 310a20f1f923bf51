#include "equations/in_cpp.hpp"

#include <algorithm>

namespace shellac {

int NamesOf::argument(const std::string &name) const {
  if (!within) return -1;
  const auto at = std::find(within->arguments.begin(), within->arguments.end(), name);
  return at == within->arguments.end() ? -1 : (int)(at - within->arguments.begin());
}

const EquationText::Definition *NamesOf::definition(const std::string &name) const {
  return text && argument(name) < 0 ? text->definition(name) : nullptr;
}

bool NamesOf::is_grid_function(const std::string &name) const {
  if (!text) return false;
  if (argument(name) >= 0) return true;
  const auto        *d = text->definition(name);
  const std::string &of = d && !d->stands_for.empty() ? d->stands_for : name;
  return has_name(text->unknowns, of) || has_name(text->fields, of);
}

bool NamesOf::is_own(const std::string &name) const {
  return text && (argument(name) >= 0 || text->declares(name));
}

// ---- whole numbers ---------------------------------------------------------------------------------------------------

double largest_whole(const NamesOf &names, const Node &node) {
  const bool is_sum = node.kind == Node::sum, is_product = node.kind == Node::product;
  double     size = 0;

  if (node.kind == Node::number) {
    const bool digits = node.text.find_first_not_of("0123456789") == std::string::npos;
    return digits && read_decimal(node.text, &size) && size <= most_steps ? size : -1;
  }
  if (node.kind == Node::name) {
    const int argument = names.argument(node.text);
    if (argument >= 0) return names.within->is_step[(size_t)argument] ? of_step : -1;
    const auto *d = names.definition(node.text);
    return d && d->arguments.empty() ? d->largest_whole : -1;
  }
  if (node.kind == Node::sign && node.operators[0] != "!") return largest_whole(names, node.parts[0]);
  if (!is_sum && !is_product && node.kind != Node::choice) return -1;
  if (is_product && std::count(node.operators.begin(), node.operators.end(), "/")) return -1;
  size = is_product;
  for (size_t p = node.kind == Node::choice; p < node.parts.size(); p++) {
    const double part = largest_whole(names, node.parts[p]);
    if (part < 0) return -1;
    size = is_sum ? size + part : is_product ? size * std::max(part, 1.) : std::max(size, part);
  }
  return size <= most_steps ? size : -1;
}

bool takes_step(const NamesOf &names, const Node &call, size_t argument) {
  const std::string &name = call.text;
  if (names.is_grid_function(name) || name.find('<') != std::string::npos)
    return true; // also of a formula's name in C++
  if (const auto *d = names.definition(name)) return argument < d->is_step.size() && d->is_step[argument];
  return !names.is_own(name) && name.compare(0, 5, "step_") == 0;
}

// ---- C++ -------------------------------------------------------------------------------------------------------------

std::string name_in_cpp(const std::string &name) {
  return "t_" + name;
}

namespace {

class InCpp {
public:
  explicit InCpp(const NamesOf &names) : names_(names) {}

  // What a part's value is used as.
  enum Use { real, whole, truth };

  void write(const Node &node, Use use) {
    // whole numbers and truths become real numbers, or C++ would calculate with them in its own way
    const bool is_truth = node.kind == Node::comparison || node.kind == Node::all || node.kind == Node::any ||
                          (node.kind == Node::sign && node.operators[0] == "!");
    const bool converts = use != whole && ((is_truth && use == real) || (is_name(node) && is_whole(node)));
    if (converts)
      out_ += " R_(";
    else if (node.bracketed)
      out_ += " (";
    write_plain(node, use == truth && !is_truth ? real : use);
    if (converts || node.bracketed) out_ += ")";
  }
  const std::string &text() const { return out_; }

private:
  static bool is_name(const Node &node) { return node.kind == Node::name; }
  bool        is_whole(const Node &node) const { return largest_whole(names_, node) >= 0; }

  void write_plain(const Node &node, Use use) {
    switch (node.kind) {
    case Node::number:
      // without C++'s suffixes and bases, which the grammar has not
      leaf(node, use == whole ? node.text
                              : "R_(" + node.text + (node.text.find_first_of(".eE") == std::string::npos ? ".)" : ")"));
      return;
    case Node::name:
      leaf(node, names_.is_own(node.text) ? name_in_cpp(node.text) : node.text);
      return;
    case Node::call:
      leaf(node, (names_.is_own(node.text) ? name_in_cpp(node.text) : node.text) + "(");
      for (size_t a = 0; a < node.parts.size(); a++) {
        // a power with a whole exponent is a product
        const bool exponent = node.text == "pow" && a == 1 && is_whole(node.parts[a]);
        if (a) out_ += ",";
        write(node.parts[a], exponent || takes_step(names_, node, a) ? whole : real);
      }
      out_ += ")";
      return;
    case Node::choice:
      write(node.parts[0], truth);
      out_ += " ?";
      write(node.parts[1], use);
      out_ += " :";
      write(node.parts[2], use);
      return;
    default:
      for (size_t p = 0; p < node.parts.size(); p++) {
        if (node.kind == Node::sign || p) out_ += " " + node.operators[node.kind == Node::sign ? p : p - 1];
        write(node.parts[p], node.kind == Node::comparison                            ? real
                             : node.kind == Node::sum || node.kind == Node::product   ? use
                             : node.kind == Node::sign && node.operators[0][0] != '!' ? use
                                                                                      : truth);
      }
    }
  }
  void leaf(const Node &node, const std::string &text) {
    for (; line_ < node.line; line_++) out_ += "\n";
    out_ += " " + text;
  }

  const NamesOf &names_;
  std::string    out_;
  int            line_ = 0;
};

} // namespace

std::string in_cpp(const NamesOf &names, const Node &tree, bool whole) {
  InCpp writer(names);
  writer.write(tree, whole ? InCpp::whole : InCpp::real);
  return writer.text();
}

} // namespace shellac
