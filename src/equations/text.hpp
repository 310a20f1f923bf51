#pragma once
// The text of an equation, read into its statements.

#include <cmath>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <petscsys.h>

#include "options/expression.hpp"
#include "equations/stretching.hpp"

namespace shellac {

constexpr bool scalars_are_complex = sizeof(PetscScalar) > sizeof(PetscReal);

// Whether one of some things has that name.
template <class Things> bool has_name(const Things &things, const std::string &name) {
  bool has = false;
  for (const auto &thing : things) has = has || thing.name == name;
  return has;
}

// The right-hand side of a statement; empty if there is none.
struct Expression {
  std::string text;
  int         line = 0, column = 0; // of the text, where it begins; columns from 0
  Node        tree;

  explicit operator bool() const { return !text.empty(); }
};

struct EquationText {
  struct Parameter {
    std::string name;
    bool        has_default = false;
    double      value = 0;
    int         line = 0;
  };
  struct Field {
    std::string name;
    Expression  formula; // none: the program sets it
    int         line = 0;
  };
  struct Definition { // of a name for later statements
    std::string              name;
    std::vector<std::string> arguments; // none: a value
    Expression               value;
    int                      line = 0;
    bool                     of_state = false; // depends on unknowns or fields
    bool                     of_place = false; // on coordinates
    std::string              stands_for; // another name, if it is no more than that: the first one in a chain of such
    std::vector<bool> is_step, is_grid;  // [arguments]: it is a step to a neighbour, or a part of one; is read there
    bool              expands = false;   // its calls are replaced by what it stands for
    double            constant = NAN;    // its value, if that is made of numbers alone
    double largest_whole = -1; // its value is a whole number of at most this size; negative: another one
  };
  enum Form { eliminated, identity, neumann, robin };
  struct End { // what holds on an end of an axis for an unknown
    Form       form = eliminated;
    Expression alpha, value;
    int        line = 0;        // 0: nothing is stated
    bool       of_state = false;    // the value depends on the unknown at the end, or on
    bool       of_velocity = false; // its derivative in time, by a statement rate2
    bool       by_name = false; // of the side; else by `sides`, which is for the others
  };
  static constexpr int walls = 3; // in place of an axis: the faces of solid cells
  struct AxisUse { // a word that needs an axis of the grid: dz, front
    std::string word;
    int         axis = 0, line = 0;
  };
  struct Unknown {
    std::string       name;
    int               line = 0;           // 0: the text names none
    int               derivative_of = -1; // in time, of that unknown: by a statement rate2; -1: of none
    Expression        residual, rate, initial, exact;
    const Expression &row() const { return rate ? rate : residual; }
    End               ends[4][2]; // [axis][side]; of walls both sides are the same
    const End        &at_walls() const { return ends[walls][0]; }
  };

  std::string              file; // its name, for errors
  std::vector<std::string> lines;
  std::vector<Parameter>   parameters;
  std::vector<Field>       fields;
  std::vector<Definition>  definitions; // add by define()
  std::set<std::string>    used;        // definitions that statements without an expression use
  std::vector<Unknown>     unknowns; // one named u, where the text names none
  std::vector<AxisUse>     axis_uses;
  int                      dim = 0, width = 0;             // of the grid; 0: any
  int                      grid_line = 0, domain_line = 0; // of these statements; 0: there is none
  bool                     box = false;
  bool                     periodic[3] = {false, false, false};
  Stretching               stretching[3]; // of each axis
  std::vector<double>      domain;        // lower and upper end of each axis [length]; empty: 0 and 1
  bool                     has_rate = false, has_residual = false, has_initial = false, has_exact = false;
  // The lines of differences along an axis that are of fourth order, and of fluxes weno5_x and the like; 0: there are none.
  int                      fourth_order[3] = {0, 0, 0}, weno[3] = {0, 0, 0};
  bool                     fields_of_time = false; // a formula of one depends on the time
  bool                     has_integrals = false, nests_integrals = false; // with integrals in them, perhaps
  int                      integral_of_state = 0; // the line of one that may depend on an unknown; 0: there is none

  // The number of the field that is not zero in solid cells, the last one; -1: there is none.
  int  solid() const { return has_name(fields, "solid") ? (int)fields.size() - 1 : -1; }
  bool is_mixed() const { return has_rate && has_residual; } // algebraic unknowns beside those with rates
  bool stretches() const { // some axis, not by the DM's coordinates
    return stretching[0].form || stretching[1].form || stretching[2].form;
  }
  int derivative_of(size_t c) const { // the unknown that is the derivative in time of that one; -1: there is none
    for (size_t v = 0; v < unknowns.size(); v++)
      if (unknowns[v].derivative_of == (int)c) return (int)v;
    return -1;
  }
  const Definition *definition(const std::string &name) const; // null: there is none
  bool              declares(const std::string &name) const;   // an unknown, a field, a parameter or a definition
  void              define(const Definition &definition);
  bool              is_of_time(const Expression &e) const; // by t or a definition
  // "FILE:LINE: message", and the line; line 0: "FILE: message". column: from 1; 0: none is said
  std::string error_at(int line, const std::string &message, int column = 0) const;

private:
  std::unordered_map<std::string, size_t> definition_numbers_;
};

// The last step of reading: checks the names in all expressions, and gathers the axes that they need.
std::string check_names(EquationText *text);
// Completes what is not stated of derivatives in time that are unknowns. Returns a message, as read_equation().
std::string complete_derivatives(EquationText *text);

extern const std::vector<std::string> statement_words; // by which statements begin
extern const std::vector<std::string> words_of_grid;   // of coordinates, spacings and differences
// The statement nearest to a misspelt word, as ": did you mean initial?"; empty if none is near.
std::string suggestion_of_statement(const std::string &word);

// Reads a text; returns the message for the user if there is an error, or an empty string. file: its name.
std::string read_equation(const std::string &file, const std::string &text, EquationText *equation);

extern const char *const side_names[4][2]; // left, right, bottom, ...; of walls solid
extern const char *const form_names_of_equations[4];

} // namespace shellac
