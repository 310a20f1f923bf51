#include "options/expression.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <locale>
#include <sstream>

namespace shellac {

static double sign(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : x;
}
static double heaviside(double x) {
  return x > 0 ? 1 : x < 0 ? 0 : x + 0.5;
}
static double smaller(double a, double b) { // not a number, if one of them is not
  return b < a || b != b ? b : a;
}
static double larger(double a, double b) {
  return b > a || b != b ? b : a;
}
const std::vector<Function> expression_functions = {
    {"exp", std::exp},   {"log", std::log},   {"sqrt", std::sqrt},      {"sin", std::sin},   {"cos", std::cos},
    {"tan", std::tan},   {"asin", std::asin}, {"acos", std::acos},      {"atan", std::atan}, {"sinh", std::sinh},
    {"cosh", std::cosh}, {"tanh", std::tanh}, {"floor", std::floor},    {"fabs", std::fabs}, {"abs", std::fabs},
    {"erf", std::erf},   {"sign", sign},      {"heaviside", heaviside}, {"pow", std::pow},   {"atan2", std::atan2},
    {"min", smaller},    {"max", larger}};

const Function *find_function(const std::string &name) {
  for (const Function &f : expression_functions)
    if (name == f.name) return &f;
  return nullptr;
}

// In ASCII, whatever the program's locale.
static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
static bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool in_name(char c) {
  return starts_name(c) || is_digit(c);
}
static bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_name(const std::string &text) {
  return !text.empty() && starts_name(text[0]) && std::all_of(text.begin(), text.end(), in_name);
}

bool is_operator_word(const std::string &name) {
  return name == "and" || name == "or" || name == "not" || name == "true" || name == "false";
}

bool has(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string lower_case(std::string text) {
  for (char &c : text)
    if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
  return text;
}

// ---- numbers ---------------------------------------------------------------------------------------------------------

// How many letters from a place on are a decimal number.
static size_t length_of_decimal(const std::string &text, size_t begin) {
  size_t     at = begin;
  const auto digits = [&] {
    const size_t first = at;
    while (at < text.size() && is_digit(text[at])) at++;
    return at - first;
  };
  size_t some = digits();
  if (at < text.size() && text[at] == '.') at++, some += digits();
  if (!some) return 0;
  const size_t mantissa = at;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    at++;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) at++;
    if (!digits()) at = mantissa;
  }
  return at - begin;
}

bool read_decimal(const std::string &text, double *value) {
  if (text.empty() || length_of_decimal(text, 0) != text.size()) return false;
  if (text[0] == '0' && text.size() > 1 && is_digit(text[1])) return false; // C++ would read it in base eight
  std::istringstream stream(text);
  stream.imbue(std::locale::classic()); // with a point, whatever the program's locale
  if (!(stream >> *value) || !std::isfinite(*value)) return false;
  return *value != 0 || text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == std::string::npos;
}

// What is wrong with a number of these letters.
static std::string mistake_in_number(const std::string &text) {
  const size_t      decimal = length_of_decimal(text, 0);
  const std::string number = text.substr(0, decimal), rest = text.substr(decimal);
  if (text[0] == '0' && text.size() > 1 && in_name(text[1]) && !(decimal > 1 && starts_name(text[1]))) {
    size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
    if (!is_digit(text[first])) first--;
    if (is_digit(text[1])) return text + ": a number has no zeros in front; write " + text.substr(first);
    if (std::strchr("xXbB", text[1])) return text + " is no number; numbers are decimal, as 16 or 1e-3";
  }
  if (rest.empty()) return text + " is out of the range of double precision";
  if (std::strchr("dD", rest[0]) && rest.size() > 1 && std::all_of(rest.begin() + 1, rest.end(), is_digit))
    return text + " is no number; write " + number + "e" + rest.substr(1);
  if (starts_name(rest[0]) && rest[0] != '_') return text + ": write " + number + "*" + rest;
  return text + " is no number; give one as 1000, 0.25 or 1e-3";
}

// ---- the grammar -----------------------------------------------------------------------------------------------------

std::vector<Token> tokens_of(const std::string &text) {
  static const std::string operators[] = {"**", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*",
                                          "/",  "<",  ">",  "!",  "?",  ":",  ",",  "=", "^"};
  std::vector<Token>       tokens;
  size_t                   at = 0;
  int                      line = 0;
  const auto               starts = [&](const std::string &with) { return text.compare(at, with.size(), with) == 0; };
  const auto               letter = [&](size_t n) { return n < text.size() ? text[n] : '\0'; };
  for (;;) {
    const size_t closed = starts("/*") ? text.find("*/", at + 2) : std::string::npos;
    Token        token;
    size_t      &end = token.end;
    token.begin = at, token.line = line, end = at + 1;
    if (at == text.size())
      end = at;
    else if (is_space(text[at]) || starts("//") || closed != std::string::npos) {
      end = starts("//") ? std::min(text.find('\n', at), text.size()) : starts("/*") ? closed + 2 : end;
      line += (int)std::count(text.begin() + (long)at, text.begin() + (long)end, '\n');
      at = end;
      continue;
    } else if (is_digit(text[at]) || (text[at] == '.' && is_digit(letter(at + 1)))) {
      token.kind = Token::number;
      end = at + length_of_decimal(text, at);
      while (in_name(letter(end)) || letter(end) == '.' || letter(end) == '\'') end++;
    } else if (starts_name(text[at])) {
      token.kind = Token::word;
      while (in_name(letter(end))) end++;
    } else if (text[at] == '(' || text[at] == ')')
      token.kind = text[at] == '(' ? Token::opening : Token::closing;
    else {
      const auto *o = std::find_if(std::begin(operators), std::end(operators), starts);
      token.kind = o == std::end(operators) || starts("/*") ? Token::other : Token::operation;
      if (token.kind == Token::operation)
        end = at + o->size();
      else if (starts("/*"))
        end = text.size();
      else
        while ((letter(end) & 0xc0) == 0x80) end++; // the rest of a character in UTF-8
    }
    token.text = text.substr(at, end - at);
    tokens.push_back(token);
    if (token.kind == Token::the_end) return tokens;
    at = end;
  }
}

namespace {

constexpr int    most_nested = 200;
constexpr size_t most_quoted = 40; // letters

// Reads an expression by its grammar. After the first mistake all that follows is its end.
class Parser {
public:
  explicit Parser(const std::string &text) : text_(text), tokens_(tokens_of(text)) { check_token(); }

  Mistake read(Node *tree) {
    *tree = read_choice();
    if (kind() == Token::closing)
      fail("a bracket is not opened: this ) closes nothing");
    else if (kind() != Token::the_end)
      expect_end();
    return mistake_;
  }

private:
  void fail(const std::string &message, size_t at) {
    if (mistake_.message.empty()) mistake_.message = message, mistake_.at = at;
    at_ = tokens_.size() - 1;
  }
  void fail(const std::string &message) { fail(message, tokens_[at_].begin); }
  bool failed() const { return !mistake_.message.empty(); }

  Token::Kind        kind() const { return tokens_[at_].kind; }
  const std::string &token() const { return tokens_[at_].text; }
  bool               is(const char *other) const { return kind() == Token::operation && token() == other; }
  std::string        written(const Node &node) const { return text_.substr(node.begin, node.end - node.begin); }

  void advance() {
    if (kind() == Token::the_end) return;
    at_++;
    check_token();
  }
  void check_token() {
    const std::string quoted = token(); // no longer there after a mistake
    const char        c = quoted[0];
    double            value;
    if (kind() == Token::number && !read_decimal(quoted, &value)) fail(mistake_in_number(quoted));
    if (kind() != Token::other) return;
    if (c == '&' || c == '|')
      fail(quoted + " is no operator here; write " + quoted + quoted);
    else if (c == ';')
      fail("a ; stands inside: give one expression, and one statement a line");
    else
      fail((c > ' ' || c < 0 ? "'" + quoted + "'" : "a character without a picture") +
           " has no meaning in an expression; it is made of numbers, names, calls, brackets and + - * / < <= > "
           ">= == != && || ! ?:");
  }

  // ---- parts

  Node start(Node::Kind kind) const {
    Node node;
    node.kind = kind, node.begin = tokens_[at_].begin, node.line = tokens_[at_].line;
    return node;
  }
  Node finish(Node node) const {
    if (at_) node.end = tokens_[at_ - 1].end;
    return node;
  }
  // A node above `first`.
  Node above(Node::Kind kind, Node first) const {
    Node node;
    node.kind = kind, node.begin = first.begin, node.line = first.line;
    node.parts.push_back(std::move(first));
    return node;
  }
  void take_operation(Node *node) {
    node->operators.push_back(token());
    advance();
  }
  // Of parts with operators of one rank between them.
  template <class Read> Node read_chain(Node::Kind kind, const std::vector<const char *> &operators, Read read) {
    Node       first = (this->*read)();
    const auto goes_on = [&] {
      return std::any_of(operators.begin(), operators.end(), [&](const char *o) { return is(o); });
    };
    if (!goes_on()) return first;
    Node node = above(kind, std::move(first));
    while (goes_on()) {
      take_operation(&node);
      node.parts.push_back((this->*read)());
    }
    return finish(std::move(node));
  }

  Node read_choice() {
    const Nesting nesting(this);
    Node          condition = read_any();
    if (!is("?")) return condition;
    Node node = above(Node::choice, std::move(condition));
    advance();
    node.parts.push_back(read_choice());
    if (!is(":")) {
      fail("a choice is written as condition ? a : b; here : is missing");
      return node;
    }
    advance();
    node.parts.push_back(read_choice());
    return finish(std::move(node));
  }
  Node read_any() { return read_chain(Node::any, {"||"}, &Parser::read_all); }
  Node read_all() { return read_chain(Node::all, {"&&"}, &Parser::read_comparison); }
  Node read_comparison() {
    static const std::vector<const char *> comparisons = {"<", "<=", ">", ">=", "==", "!="};
    Node                                   node = read_chain(Node::comparison, comparisons, &Parser::read_sum);
    if (node.kind == Node::comparison && !node.bracketed && node.parts.size() > 2 && !failed()) {
      const auto part = [&](size_t p) { return written(node.parts[p]); };
      const bool brief =
          part(0).size() + part(1).size() + part(2).size() < most_quoted && part(0).find('\n') == std::string::npos;
      const auto &o = node.operators;
      fail("two comparisons in a row compare the truth of the first one; write " +
               (brief ? part(0) + " " + o[0] + " " + part(1) + " && " + part(1) + " " + o[1] + " " + part(2)
                      : "a < b && b < c"),
           node.parts[1].begin);
    }
    return node;
  }
  Node read_sum() { return read_chain(Node::sum, {"+", "-"}, &Parser::read_product); }
  Node read_product() { return read_chain(Node::product, {"*", "/"}, &Parser::read_factor); }
  Node read_factor() {
    if (!is("+") && !is("-") && !is("!")) return read_power();
    const Nesting nesting(this);
    Node          node = start(Node::sign);
    take_operation(&node);
    node.parts.push_back(read_factor());
    return finish(std::move(node));
  }
  // As in mathematics: -a^b is -(a^b), and a^b^c is a^(b^c).
  Node read_power() {
    Node base = read_operand();
    if (!is("^")) return base;
    const Nesting nesting(this);
    Node          node = above(Node::call, std::move(base));
    node.text = "pow";
    advance();
    node.parts.push_back(read_factor());
    return finish(std::move(node));
  }
  Node read_operand() {
    Node node = start(kind() == Token::number ? Node::number : Node::name);
    if (kind() == Token::number || kind() == Token::word) {
      node.text = token();
      if (node.text == "not") fail("not is no operator here; write !");
      advance();
      if (node.kind == Node::name && kind() == Token::opening) {
        node.kind = Node::call;
        read_arguments(&node);
      }
    } else if (kind() == Token::opening)
      node = read_bracket(node.begin);
    else
      expect_operand();
    node = finish(std::move(node));
    check_next(node);
    return node;
  }
  Node read_bracket(size_t begin) {
    advance();
    if (kind() == Token::closing) fail("nothing stands in these brackets");
    Node node = read_choice();
    if (is(",")) fail("a comma stands in brackets that belong to no call; decimals have a point, as 1.5");
    close(begin);
    node.begin = begin, node.bracketed = true;
    return node;
  }
  void read_arguments(Node *call) {
    const size_t begin = tokens_[at_].begin;
    advance();
    if (kind() != Token::closing) call->parts.push_back(read_choice());
    while (is(",")) {
      advance();
      call->parts.push_back(read_choice());
    }
    close(begin);
  }
  void close(size_t opened) {
    if (kind() == Token::closing)
      advance();
    else if (kind() == Token::the_end)
      fail("a bracket that is opened here is not closed", opened);
    else
      expect_end();
  }

  // ---- mistakes

  // After an operand: a power, or a second operand without an operator.
  void check_next(const Node &node) {
    const std::string before = written(node);
    if (is("**"))
      fail("** is no power here; write " + (before.size() < most_quoted ? before : "u") + "^2");
    else if (kind() == Token::word && (token() == "and" || token() == "or"))
      fail(token() + " is no operator here; write " + (token() == "and" ? "&&" : "||"));
    else if (kind() == Token::number || kind() == Token::word || kind() == Token::opening) {
      const bool brief = before.size() < most_quoted, calls = find_function(node.text);
      fail("an operator is missing before " + token() +
           (calls   ? "; write " + node.text + "(...)"
            : brief ? "; a product is written " + before + "*" + token() + (kind() == Token::opening ? "...)" : "")
                    : "; a product is written a*b"));
    }
  }
  void expect_operand() {
    if (kind() == Token::the_end && at_)
      fail("the expression ends with " + tokens_[at_ - 1].text + "; what follows is missing");
    else if (kind() == Token::the_end)
      fail("the expression is empty");
    else
      fail("a number, a name or a bracket must stand before " + token());
  }
  void expect_end() {
    if (is("="))
      fail("an equals sign stands inside the expression; bring everything to one side, as residual = -laplacian(u) - "
           "1, or compare by ==");
    else if (is(","))
      fail("a comma stands outside of brackets; decimals have a point, as 1.5, and one statement has a line");
    else
      fail("no " + token() + " can stand here");
  }

  struct Nesting {
    Parser *parser;

    explicit Nesting(Parser *parser) : parser(parser) {
      if (++parser->nested_ > most_nested)
        parser->fail("brackets, calls and signs are nested more than " + std::to_string(most_nested) +
                     " deep; give inner parts names by definitions, as a = ...");
    }
    ~Nesting() { parser->nested_--; }
  };

  const std::string       &text_;
  const std::vector<Token> tokens_;
  size_t                   at_ = 0; // of the tokens
  Mistake                  mistake_;
  int                      nested_ = 0;
};

} // namespace

Mistake parse_expression(const std::string &text, Node *tree) {
  return Parser(text).read(tree);
}

std::vector<std::string> names_in(const Node &tree) {
  std::vector<std::string> names;
  for_each_node(tree, [&](const Node &node) {
    if (node.kind == Node::name || node.kind == Node::call) names.push_back(node.text);
  });
  return names;
}

// ---- misspelt names --------------------------------------------------------------------------------------------------

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
    const size_t away = name.size() > 3 && other.compare(0, name.size(), name) == 0 ? 0 // sigm for sigma
                        : begins                                                    ? 1
                                                                                    : distance(name, other);
    if (away < best) best = away, near.clear();
    if (away == best && best <= std::max<size_t>(1, name.size() / 3)) near += (near.empty() ? "" : " or ") + other;
  }
  return near.empty() ? "" : ": did you mean " + near + "?";
}

} // namespace shellac
