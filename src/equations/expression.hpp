#pragma once
// Expressions in C++ that a user writes: names, and mistakes that a compiler would not see, or not name.

#include <string>
#include <vector>

namespace shellac {

// The functions of numbers that an expression may call; a null pointer ends them.
extern const char *const expression_functions[];

std::string lower_case(std::string text); // as PETSc takes options

bool is_name(const std::string &text);
bool is_word_of_cpp(const std::string &name); // a keyword, which can be no name

// The names in an expression, in their order.
std::vector<std::string> names_in(const std::string &expression);
struct NameInLine {
  std::string name;
  int         line = 0; // of the expression, from 0
};
std::vector<NameInLine> names_by_line(const std::string &expression);
// Calls NAME(...), also within the arguments of others; line: from 0.
struct Call {
  std::string              name;
  std::vector<std::string> arguments;
  int                      line;
};
std::vector<Call> calls_in(const std::string &expression);

// Whether it is made of whole numbers, and of names that stand for such; and whether all arguments of these functions are.
bool is_whole(const std::string &expression, const std::vector<std::string> &whole);
bool calls_are_whole(const std::string &expression, const std::vector<std::string> &functions,
                     const std::vector<std::string> &whole);

// What is wrong with a line of an expression, as for a user, or empty: u^2, which is no power; 1/3 or 1/(2*3), which is
// zero.
std::string mistake_in(const std::string &line);

// What is wrong with an expression as a whole, and on which of its lines (from 0); or empty: it ends with an operator, has an
// equals sign or a comma outside of brackets.
std::string mistake_in_whole(const std::string &expression, int *line);

// The `names` nearest to a misspelt name, as ": did you mean a or b?"; empty if none is near.
std::string suggestion(const std::string &name, const std::vector<std::string> &names);

} // namespace shellac
