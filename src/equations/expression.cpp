#include "equations/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>

namespace shellac {

const char *const expression_functions[] = {"exp",  "log",  "sqrt", "sin",  "cos",  "tan",   "asin",
                                            "acos", "atan", "sinh", "cosh", "tanh", "floor", "fabs",
                                            "abs",  "pow",  "min",  "max",  nullptr};

static bool starts_name(char c) {
  return std::isalpha((unsigned char)c) || c == '_';
}
static bool in_name(char c) {
  return std::isalnum((unsigned char)c) || c == '_';
}

bool is_name(const std::string &text) {
  return !text.empty() && starts_name(text[0]) && std::all_of(text.begin(), text.end(), in_name);
}

std::string lower_case(std::string text) {
  for (char &c : text) c = (char)std::tolower((unsigned char)c);
  return text;
}

bool is_word_of_cpp(const std::string &name) {
  static const char *const words[] = {
      "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
      "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
      "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
      "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
      "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
      "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
      "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
      "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
      "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
      "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
      "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
      "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
      "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
      "xor_eq"};
  return std::any_of(std::begin(words), std::end(words), [&](const char *word) { return name == word; });
}

// The next name from a place on, and the place behind it; whether there is one.
static bool find_name(const std::string &expression, size_t *place, std::string *name) {
  while (*place < expression.size()) {
    const size_t at = *place;
    size_t       end = at + 1;
    const bool   number = std::isdigit((unsigned char)expression[at]) != 0; // 1.e3 has no name
    while (in_name(expression[at]) && end < expression.size() &&
           (in_name(expression[end]) || (number && expression[end] == '.')))
      end++;
    *place = end;
    if (!starts_name(expression[at])) continue;
    *name = expression.substr(at, end - at);
    return true;
  }
  return false;
}

std::vector<std::string> names_in(const std::string &expression) {
  std::vector<std::string> names;
  std::string              name;
  for (size_t at = 0; find_name(expression, &at, &name);) names.push_back(name);
  return names;
}

std::vector<NameInLine> names_by_line(const std::string &expression) {
  std::vector<NameInLine> names;
  std::string             name;
  size_t                  counted = 0;
  int                     line = 0;
  for (size_t at = 0; find_name(expression, &at, &name); counted = at) {
    line += (int)std::count(expression.begin() + (long)counted, expression.begin() + (long)at, '\n');
    names.push_back({name, line});
  }
  return names;
}

std::vector<Call> calls_in(const std::string &expression) {
  std::vector<Call> calls;
  std::string       name;
  for (size_t at = 0; find_name(expression, &at, &name);) {
    size_t c = at;
    while (c < expression.size() && std::isspace((unsigned char)expression[c])) c++;
    if (c == expression.size() || expression[c] != '(') continue;
    const int line = (int)std::count(expression.begin(), expression.begin() + (long)at, '\n');
    calls.push_back({name, {""}, line});
    auto &arguments = calls.back().arguments;
    for (int depth = 0; c < expression.size(); c++) {
      const char letter = expression[c];
      const int  change = letter == '(' ? 1 : letter == ')' ? -1 : 0;
      const bool outer = (change > 0 && depth == 0) || (change < 0 && depth == 1);
      depth += change;
      if (outer && change < 0) break;
      if (letter == ',' && depth == 1)
        arguments.emplace_back();
      else if (!outer && !std::isspace((unsigned char)letter))
        arguments.back() += letter;
    }
  }
  return calls;
}

static bool is_one_of(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_whole(const std::string &expression, const std::vector<std::string> &whole) {
  const auto names = names_in(expression);
  return std::all_of(names.begin(), names.end(), [&](const std::string &name) { return is_one_of(whole, name); }) &&
         std::all_of(expression.begin(), expression.end(),
                     [](char c) { return in_name(c) || std::isspace((unsigned char)c) || std::strchr("+-*(),", c); });
}

bool calls_are_whole(const std::string &expression, const std::vector<std::string> &functions,
                     const std::vector<std::string> &whole) {
  std::string name;
  for (size_t at = 0; find_name(expression, &at, &name);) {
    size_t open = at;
    while (open < expression.size() && std::isspace((unsigned char)expression[open])) open++;
    if (!is_one_of(functions, name) || open == expression.size() || expression[open] != '(') continue;
    size_t close = open;
    for (int depth = 0; close < expression.size(); close++) {
      depth += expression[close] == '(' ? 1 : expression[close] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    if (!is_whole(expression.substr(open, close - open), whole)) return false;
  }
  return true;
}

// ---- mistakes --------------------------------------------------------------------------------------------------------

// Finds integer divisions with a remainder, which C++ would drop: 1/3, 1/(2*3), 3*1/2. It parses an expression as C++ does, to
// find which parts are integers. Names and function calls count as real numbers.
class Divisions {
public:
  explicit Divisions(const std::string &text) : text_(text) {
    while (at_ < text_.size()) {
      read_list();
      at_++; // a bracket that closes nothing
    }
  }
  const std::string &inexact() const { return inexact_; } // the first one; empty if there is none

private:
  struct Operand {
    bool      whole = false, known = false; // known: by its value
    long long value = 0;
  };

  char next() {
    while (at_ < text_.size() && std::isspace((unsigned char)text_[at_])) at_++;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool next_is(const char *characters) {
    const char c = next();
    return c && std::string(characters).find(c) != std::string::npos;
  }
  static Operand whole(bool known, long long value) {
    Operand result;
    result.whole = true;
    result.known = known && value <= 2147483647 && value >= -2147483647; // an int
    result.value = result.known ? value : 0;
    return result;
  }

  // What is in a bracket, or in no bracket: expressions between commas and the like. The last one is the value.
  Operand read_list() {
    Operand a = read_choice();
    while (next() && !next_is(")")) {
      at_++;
      a = read_choice();
    }
    return a;
  }
  Operand read_choice() {
    const Operand a = read_comparison();
    if (!next_is("?")) return a;
    at_++;
    const Operand b = read_choice();
    if (!next_is(":")) return b;
    at_++;
    const Operand c = read_choice();
    return b.whole && c.whole ? whole(false, 0) : Operand();
  }
  Operand read_comparison() {
    Operand a = read_sum();
    while (next_is("<>=!&|^")) {
      while (next_is("<>=!&|^")) at_++;
      read_sum();
      a = whole(false, 0);
    }
    return a;
  }
  Operand read_sum() {
    Operand a = read_product();
    while (next_is("+-")) {
      const bool    plus = text_[at_++] == '+';
      const Operand b = read_product();
      a = a.whole && b.whole ? whole(a.known && b.known, plus ? a.value + b.value : a.value - b.value) : Operand();
    }
    return a;
  }
  Operand read_product() {
    next();
    const size_t begin = at_;
    Operand      a = read_factor();
    while (next_is("*/%")) {
      const char    operation = text_[at_++];
      const Operand b = read_factor();
      const bool    both = a.whole && b.whole, known = both && a.known && b.known;
      const bool    exact = known && b.value != 0 && a.value % b.value == 0;
      if (both && operation == '/' && !exact && inexact_.empty()) {
        inexact_ = text_.substr(begin, at_ - begin);
        while (std::isspace((unsigned char)inexact_.back())) inexact_.pop_back();
      }
      if (!both)
        a = Operand();
      else if (operation == '*')
        a = whole(known, a.value * b.value);
      else
        a = whole(operation == '/' && exact, exact ? a.value / b.value : 0);
    }
    return a;
  }
  Operand read_factor() {
    if (next_is("+-!~")) {
      const char    sign = text_[at_++];
      const Operand a = read_factor();
      return a.whole ? whole(a.known && (sign == '+' || sign == '-'), sign == '-' ? -a.value : a.value) : a;
    }
    Operand a;
    if (next_is("("))
      a = read_bracket();
    else if (std::isdigit((unsigned char)next()) || next_is("."))
      a = read_number();
    else
      while (at_ < text_.size() && in_name(text_[at_])) at_++;
    while (next_is("(")) { // a call
      read_bracket();
      a = Operand();
    }
    return a;
  }
  Operand read_bracket() {
    at_++;
    const Operand a = read_list();
    if (next_is(")")) at_++;
    return a;
  }
  Operand read_number() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (in_name(text_[at_]) || text_[at_] == '.' ||
            (std::tolower((unsigned char)text_[at_ - 1]) == 'e' && std::strchr("+-", text_[at_]))))
      at_++;
    const std::string number = text_.substr(begin, at_ - begin);
    if (number.find_first_of(".eEfF") != std::string::npos && number.compare(0, 2, "0x") != 0) return Operand();
    const bool decimal = number.size() < 10 && std::all_of(number.begin(), number.end(),
                                                           [](char c) { return std::isdigit((unsigned char)c) != 0; });
    return whole(decimal, decimal ? std::stol(number) : 0);
  }

  const std::string &text_;
  std::string        inexact_;
  size_t             at_ = 0;
};

// The powers that a line writes as u^2; empty if there is none.
static std::string power(const std::string &line) {
  const size_t at = line.find('^');
  if (at == std::string::npos) return "";
  size_t begin = at, end = at + 1;
  while (begin > 0 && line[begin - 1] == ' ') begin--;
  const size_t last = begin;
  if (begin > 0 && line[begin - 1] == ')') { // back to its bracket, and the name before
    for (int depth = 0; begin > 0;) {
      begin--;
      depth += line[begin] == ')' ? 1 : line[begin] == '(' ? -1 : 0;
      if (depth == 0) break;
    }
  }
  while (begin > 0 && (in_name(line[begin - 1]) || line[begin - 1] == '.')) begin--;
  while (end < line.size() && line[end] == ' ') end++;
  const size_t first = end;
  while (end < line.size() && (in_name(line[end]) || line[end] == '.' || (end == first && line[end] == '-'))) end++;
  const std::string base = line.substr(begin, last - begin), exponent = line.substr(first, end - first);
  if (base.empty() || exponent.empty()) return "^ is no power here, as in C++; write u*u or pow(u, 2)";
  return base + "^" + exponent + ": ^ is no power here, as in C++; write " +
         (exponent == "2" ? base + "*" + base + " or " : "") + "pow(" + base + ", " + exponent + ")";
}

std::string mistake_in(const std::string &line) {
  const std::string as_power = power(line);
  if (!as_power.empty()) return as_power;
  const std::string division = Divisions(line).inexact();
  if (division.empty()) return "";
  return division + " is an integer division, which C++ truncates; write 1./3, say";
}

std::string mistake_in_whole(const std::string &expression, int *line) {
  size_t last = expression.size();
  while (last > 0 && std::isspace((unsigned char)expression[last - 1])) last--;
  const auto at = [&](size_t c, const std::string &message) {
    *line = (int)std::count(expression.begin(), expression.begin() + (long)c, '\n');
    return message;
  };
  if (expression.find_first_of("[{") != std::string::npos) return ""; // C++ with statements of its own
  int depth = 0;
  for (size_t c = 0; c < last; c++) {
    const char before = c ? expression[c - 1] : ' ', after = c + 1 < last ? expression[c + 1] : ' ';
    depth += expression[c] == '(' ? 1 : expression[c] == ')' ? -1 : 0;
    if (expression[c] == '=' && after != '=' && !std::strchr("=<>!", before))
      return at(c, "an equals sign stands inside the expression; bring everything to one side, as residual = "
                   "-laplacian(u) - 1, or compare by ==");
    if (expression[c] == ',' && depth == 0)
      return at(c, "a comma stands outside of brackets; decimals have a point, as 1.5, and one statement has a line");
  }
  if (last > 0 && std::strchr("+-*/%?:=<>&|!,", expression[last - 1]))
    return at(last, std::string("the expression ends with ") + expression[last - 1] + "; what follows is missing");
  return "";
}

// The least number of letters that are put in, left out or changed (V. Levenshtein, 1966); two neighbours that change
// places count as one.
static size_t distance(const std::string &a, const std::string &b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); i++)
    for (size_t j = 0; j <= b.size(); j++) {
      if (!i || !j) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string suggestion(const std::string &name, const std::vector<std::string> &names) {
  size_t      best = std::max<size_t>(1, name.size() / 3) + 1;
  std::string near;
  for (const std::string &other : names) {
    const size_t letters = name.size() > 4 ? name.size() - 1 : name.size(); // laplace for laplacian
    const bool   begins = name.size() > 1 && other.compare(0, letters, name, 0, letters) == 0;
    const size_t away = begins ? 1 : distance(name, other);
    if (away < best) best = away, near.clear();
    if (away == best && best <= std::max<size_t>(1, name.size() / 3)) near += (near.empty() ? "" : " or ") + other;
  }
  return near.empty() ? "" : ": did you mean " + near + "?";
}

} // namespace shellac
