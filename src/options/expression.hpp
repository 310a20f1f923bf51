#pragma once
// Expressions that a user writes. The language is closed: numbers, names, calls, operators and brackets are all that is
// read, and what a compiler gets is written anew from the tree (in_cpp.hpp).

#include <functional>
#include <string>
#include <vector>

namespace shellac {

// The functions of numbers that an expression may call, of one or of two numbers.
struct Function {
  const char *name;
  double (*of_one)(double) = nullptr;
  double (*of_two)(double, double) = nullptr;

  Function(const char *name, double (*f)(double)) : name(name), of_one(f) {}
  Function(const char *name, double (*f)(double, double)) : name(name), of_two(f) {}
  size_t arguments() const { return of_one ? 1 : 2; }
};
extern const std::vector<Function> expression_functions;
const Function                    *find_function(const std::string &name); // null: there is none

std::string lower_case(std::string text); // as PETSc takes options
bool        has(const std::vector<std::string> &names, const std::string &name);

bool is_name(const std::string &text);
bool is_operator_word(const std::string &name); // and, or, not, true, false: they can be no names
// A decimal number without a sign: 2, 0.25, 1e-3. False for C++'s other ones, as 010, 0x10 and 2f, and for what is out
// of range.
bool read_decimal(const std::string &text, double *value);

// The parts of a text, between which are white space and comments; the last one is its end. A comment that is not
// closed is `other`.
struct Token {
  enum Kind { the_end, number, word, operation, opening, closing, other } kind = the_end;
  std::string text;
  size_t      begin = 0, end = 0;
  int         line = 0; // from 0
};
std::vector<Token> tokens_of(const std::string &text);

// A part of an expression.
struct Node {
  enum Kind {
    number,     // text: as it is written
    name,       // text
    call,       // text: of what; parts: its arguments
    sign,       // of one part; operators: + or - or !
    sum,        // of two or more parts, with + and - between them
    product,    // with * and /
    comparison, // of two parts
    all,        // with && between them
    any,        // with ||
    choice      // a ? b : c
  } kind = number;
  std::string              text;
  std::vector<std::string> operators;
  std::vector<Node>        parts;
  bool                     bracketed = false;
  size_t                   begin = 0, end = 0; // in the expression's text
  int                      line = 0;           // of the expression, from 0
};

// Calls see(node) for a node and all of its parts, in the order of the text.
template <class See> void for_each_node(const Node &node, const See &see) {
  see(node);
  for (const Node &part : node.parts) for_each_node(part, see);
}
// The names in it, in their order.
std::vector<std::string> names_in(const Node &node);

// The value of an expression of numbers, pi and functions of these; lookup(name, &value): of other names. False: there is
// none.
using LookUp = std::function<bool(const std::string &, double *)>;
bool constant_value(const Node &node, const LookUp &lookup, double *value);

// The function of these variables that an expression is, true as 1; *problem: why there is none, or empty.
using NumberFunction = std::function<double(const double values[])>;
NumberFunction function_of(const Node &node, const std::vector<std::string> &variables, std::string *problem);

// What is wrong with an expression, as for a user, and where.
struct Mistake {
  std::string message; // empty: nothing
  size_t      at = 0;
};
Mistake parse_expression(const std::string &text, Node *tree);

// The `names` nearest to a misspelt name, as ": did you mean a or b?"; empty if none is near.
std::string suggestion(const std::string &name, const std::vector<std::string> &names);

} // namespace shellac
