#include "equations/expression.hpp"

#include <algorithm>
#include <cctype>
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

std::vector<std::string> names_in(const std::string &expression) {
  std::vector<std::string> names;
  for (size_t at = 0; at < expression.size();) {
    size_t     end = at + 1;
    const bool number = std::isdigit((unsigned char)expression[at]) != 0; // 1.e3 has no name
    while (in_name(expression[at]) && end < expression.size() &&
           (in_name(expression[end]) || (number && expression[end] == '.')))
      end++;
    if (starts_name(expression[at])) names.push_back(expression.substr(at, end - at));
    at = end;
  }
  return names;
}

// ---- mistakes --------------------------------------------------------------------------------------------------------

// A division of whole numbers that leaves a rest, which C++ would drop: "1/3"; empty if there is none.
static std::string inexact_division(const std::string &line) {
  const auto is_digit = [](char c) { return std::isdigit((unsigned char)c) != 0; };
  const auto is_part = [](char c) { return std::isalnum((unsigned char)c) || c == '_' || c == '.'; };
  for (size_t slash = line.find('/'); slash != std::string::npos; slash = line.find('/', slash + 1)) {
    size_t end = slash, right = slash + 1;
    while (end > 0 && line[end - 1] == ' ') end--;
    size_t begin = end, before;
    while (begin > 0 && is_part(line[begin - 1])) begin--;
    for (before = begin; before > 0 && line[before - 1] == ' ';) before--;
    while (right < line.size() && line[right] == ' ') right++;
    size_t stop = right;
    while (stop < line.size() && is_part(line[stop])) stop++;
    const std::string a = line.substr(begin, end - begin), b = line.substr(right, stop - right);
    const char        operation = before > 0 ? line[before - 1] : '=';
    const bool        exponent = before > 1 && (operation == '-' || operation == '+') && is_part(line[before - 2]) &&
                          std::tolower((unsigned char)line[before - 2]) == 'e';
    const auto whole = [&](const std::string &n) {
      return !n.empty() && n.size() < 10 && std::all_of(n.begin(), n.end(), is_digit);
    };
    if (!whole(a) || !whole(b) || operation == '*' || operation == '/' || operation == '%' || exponent) continue;
    if (std::stol(b) == 0 || std::stol(a) % std::stol(b) != 0) return line.substr(begin, stop - begin);
  }
  return "";
}

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
  const std::string division = inexact_division(line);
  if (division.empty()) return "";
  return division + " divides whole numbers, which C++ does without the rest; write 1./3, say";
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
    const bool   begins = name.size() > 1 && other.compare(0, name.size(), name) == 0;
    const size_t away = begins ? 1 : distance(name, other);
    if (away < best) best = away, near.clear();
    if (away == best && best <= std::max<size_t>(1, name.size() / 3)) near += (near.empty() ? "" : " or ") + other;
  }
  return near.empty() ? "" : ": did you mean " + near + "?";
}

} // namespace shellac
