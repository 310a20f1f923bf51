#include "equations/source.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "equations/at_neighbours.hpp"
#include "equations/in_cpp.hpp"
#include "equations/interface.hpp"

namespace shellac {

// The headers that a source begins with, in turn.
static const struct {
  const char *name, *text;
} headers[] = {
#include "equation_headers.inc"
};

namespace {

class Writer {
public:
  // of: what the source has on the host; kernel: its name, or empty: for the host
  Writer(const EquationText &text, const EquationShape &shape, FunctionsOf of, const std::string &kernel = "")
      : text_(text), shape_(shape), of_(of), kernel_(kernel) {}

  std::string write() {
    coordinates("ExactRow", text_.unknowns, &EquationText::Unknown::exact);
    row_and_formulas();
    boundary();
    if (!kernel_.empty())
      kernel();
    else if (of_ == FunctionsOf::action)
      line(exported("ActionFunctions") + "all_points<Products<Row>>, all_points<Diagonals<Row>>};");
    else if (of_ == FunctionsOf::data)
      sensitivities();
    else
      functions();
    const std::string generated = out_;
    out_ = scalars_are_complex ? "#define PETSC_USE_COMPLEX 1\n" : "";
    if (of_ == FunctionsOf::data) line("#define SHELLAC_EQUATION_OF_DATA");
    out_ += "namespace shellac {\nnamespace equation {\n";
    number("dim", shape_.dim), number("unknowns", text_.unknowns.size()), number("width", shape_.width);
    number("parameter_count", text_.parameters.size()), number("field_count", text_.fields.size());
    number("solid_field", text_.solid()), number("walls_with_values", walls_with_values());
    flag("walls_have_data", walls_have_data());
    number("integral_numbers", 2 * integrals_.size());
    flag("box", shape_.box), flag("stretched", shape_.stretched), flag("has_exact", text_.has_exact);
    flag("has_data", has_data()), flag("data_vary", data_vary()),
        flag("ends_of_state", has_ends(&EquationText::End::of_state)), flag("imposes", imposes());
    flag("ends_of_velocity", has_ends(&EquationText::End::of_velocity));
    std::string velocities;
    for (size_t c = 0; c < text_.unknowns.size(); c++)
      velocities += "c == " + std::to_string(c) + " ? " + std::to_string(text_.derivative_of(c)) + " : ";
    line("constexpr int velocity_of(int c) {\n  return " + velocities + "-1;\n}");
    flag("steps_are_known", steps_are_known(text_)), flag("of_data", of_ == FunctionsOf::data);
    if (!kernel_.empty()) {
      number("points_at_once", shape_.at_once), number("columns", shape_.columns);
      flag("whole_rows", shape_.whole_rows);
    }
    out_ += "} // namespace equation\n} // namespace shellac\n";
    const std::string other = kernel_.empty() ? "on_gpu.hpp" : "on_host.hpp";
    for (const auto &header : headers)
      if (header.name != other) out_ += "#line 1 \"" + std::string(header.name) + "\"\n" + header.text;
    out_ += "#line 1 \"generated\"\nnamespace shellac {\nnamespace equation {\n" + generated;
    return out_ + "} // namespace equation\n} // namespace shellac\n";
  }

private:
  void line(const std::string &text) { out_ += text + "\n"; }
  template <class N> void number(const std::string &name, N n) {
    line("constexpr int " + name + " = " + std::to_string(n) + ";");
  }
  void flag(const std::string &name, bool is) {
    line("constexpr bool " + name + " = " + (is ? "true" : "false") + ";");
  }

  // An expression in brackets at the user's line, so that the compiler's messages have it. The bracket that closes it
  // is on its last line; what follows is the compiler's own again.
  std::string expression(const Expression &e, const EquationText::Definition *within = nullptr) const {
    const int  last = e.line + (int)std::count(e.text.begin(), e.text.end(), '\n');
    const auto at = [&](int line) { return "\n#line " + std::to_string(line) + " \"" + compiled_text + "\"\n"; };
    const bool whole = within && within->largest_whole >= 0;
    return "(" + at(e.line) + in_cpp({&text_, within}, e.tree, whole) + at(last) + ")\n#line 1 \"generated\"\n";
  }
  // The same of a row or a definition of the state, where formulas that are read at neighbours are functions of the point.
  std::string row_expression(const Expression &e, const EquationText::Definition *within = nullptr) {
    Expression in = e;
    in.tree = with_formulas(text_, e.tree, within, [&](const Node &formula, const Node &call) {
      const std::string key = in_cpp({&text_, within}, formula);
      const auto        found = formulas_.emplace(key, formulas_.size());
      if (found.second) formulas_in_order_.push_back({e.text, e.line, e.column, formula});
      const size_t number = found.first->second;
      if (!is_integral({&text_, within}, call))
        return "equation::at_neighbours<equation::Formula_" + std::to_string(number) + ">(point_)";
      const auto        at = std::find(integrals_.begin(), integrals_.end(), number);
      const std::string integral = "point_.template integral<" + std::to_string(at - integrals_.begin()) + ">()";
      if (at == integrals_.end()) integrals_.push_back(number);
      return call.text == "mean" ? "(" + integral + " * point_.place.inverse_measure)" : integral;
    });
    return expression(in, within);
  }
  // The row, and before it a structure for each of these formulas, and of those in them.
  void row_and_formulas() {
    const std::string before = out_;
    out_.clear();
    row();
    std::string row = out_;
    out_.clear();
    std::string declarations;
    for (size_t n = 0; n < formulas_in_order_.size(); n++) {
      const Expression  formula = formulas_in_order_[n];
      const std::string name = "struct Formula_" + std::to_string(n);
      declarations += name + ";\n";
      line(name + " {\ntemplate <class Point_> static auto at(const Point_ &point_) {");
      const std::string           value = row_expression(formula);
      const std::set<std::string> needed = names_needed(text_, formula.tree);
      names_of_point(&needed);
      line("return equation::number_of(" + value + ");\n}\n};");
    }
    row += "template <int n_, class Point_> static typename Point_::Number integrand(const Point_ &point_) {\n";
    for (size_t n = 0; n < integrals_.size(); n++)
      row += "if constexpr (n_ == " + std::to_string(n) + ") return typename Point_::Number(Formula_" +
             std::to_string(integrals_[n]) + "::at(point_));\n";
    out_ = before + declarations + out_ + row + "}\n};\n";
  }

  // see(number in a switch, end, axis, unknown) for all ends of the grid's axes.
  template <class See> void for_ends(const See &see) const {
    for (size_t c = 0; c < text_.unknowns.size(); c++)
      for (size_t a = 0; a < (size_t)shape_.dim; a++)
        for (size_t side = 0; side < 2; side++)
          see(std::to_string((c * 3 + a) * 2 + side), text_.unknowns[c].ends[a][side], a, c);
  }
  template <class Is> bool has_end(const Is &is) const {
    bool has = false;
    for_ends([&](const std::string &, const EquationText::End &end, size_t a, size_t) { has = has || is(end, a); });
    return has;
  }
  bool imposes() const { // a rate has unknowns that are given on ends
    return text_.has_rate &&
           has_end([](const EquationText::End &end, size_t) { return end.form == EquationText::identity; });
  }
  bool has_data() const { // an end's rule has a value, or the exact solution's
    return text_.has_exact ||
           has_end([&](const EquationText::End &end, size_t a) { return !text_.periodic[a] && end.value; });
  }
  bool data_vary() const { // along an end
    return text_.has_exact || has_end([&](const EquationText::End &end, size_t a) {
             return !text_.periodic[a] && end.value && varies({&text_, nullptr}, end.value.tree);
           });
  }
  bool has_ends(bool EquationText::End::*is) const {
    return has_end([=](const EquationText::End &end, size_t) { return end.*is; });
  }

  static bool gives_value(const EquationText::End &end) { return end.line && end.form == EquationText::eliminated; }
  int         walls_with_values() const { // a bit for each unknown
    int bits = 0;
    for (size_t c = 0; c < text_.unknowns.size(); c++) bits |= gives_value(text_.unknowns[c].at_walls()) << c;
    return bits;
  }
  bool walls_have_data() const {
    bool have = text_.has_exact;
    for (const auto &u : text_.unknowns) have = have || u.at_walls().value;
    return have && text_.solid() >= 0;
  }

  // among: the type of numbers that have derivatives by parameters, where there are such
  std::string parameters(const std::string &place, const std::string &among = "R_") const {
    std::string names;
    for (size_t p = 0; p < text_.parameters.size(); p++) {
      const std::string name = name_in_cpp(text_.parameters[p].name), number = std::to_string(p);
      names += of_ == FunctionsOf::data
                   ? "const " + among + " " + name + " = parameter_of<" + among + ">(" + place + ", " + number + "); "
                   : "const R_ " + name + " = " + place + ".parameters[" + number + "]; ";
    }
    if (scalars_are_complex) names += "const ScalarOf<R_> I(0, 1); ";
    return names + "const R_ pi = R_(3.14159265358979323846264338327950288L); ";
  }
  std::string definitions(bool of_state, const std::set<std::string> *only = nullptr) {
    std::string text;
    for (const auto &d : text_.definitions) {
      if ((d.of_state && !of_state) || d.expands || (only && !only->count(d.name))) continue;
      const std::string value = of_state ? row_expression(d.value, &d) : expression(d.value, &d);
      text += "const auto " + name_in_cpp(d.name) + " = ";
      if (d.arguments.empty()) {
        text += "(" + value + ");\n";
        continue;
      }
      text += "[&](";
      for (size_t a = 0; a < d.arguments.size(); a++) text += (a ? ", auto " : "auto ") + name_in_cpp(d.arguments[a]);
      text += ") { return (" + value + "); };\n";
    }
    return text;
  }

  // A function of coordinates for each of some things; zero where the text has none.
  template <class Things>
  void coordinates(const std::string &name, const Things &things, Expression Things::value_type::*which) {
    line("struct " + name + " {");
    line("template <int c_, class R_> static ScalarOf<R_> at(const Place &place_, R_ x, R_ y, R_ z, R_ t) {");
    line(parameters("place_"));
    out_ += definitions(false);
    for (size_t c = 0; c < things.size(); c++)
      if (const Expression &e = things[c].*which)
        line("if constexpr (c_ == " + std::to_string(c) + ") return ScalarOf<R_>(" + expression(e) + ");");
    line("return 0;\n}\n};");
  }

  // All that a text's expressions may use at a point_, of these definitions.
  void names_of_point(const std::set<std::string> *only = nullptr) {
    const auto declare = [&](const char *what, const std::string &name, size_t n) {
      if (!only || only->count(name))
        line(what + std::string("<Point_, ") + std::to_string(n) + "> " + name_in_cpp(name) + "(point_);");
    };
    line("using R_ = typename Point_::Real; " + parameters("point_.place", "typename Point_::Number"));
    line("const R_ x = point_.x(0), y = point_.x(1), z = point_.x(2), t = point_.t(), hx = point_.h(0), hy = "
         "point_.h(1), "
         "hz = point_.h(2);");
    for (int a = 0; a < 3; a++)
      line(std::string("const auto step_") + "xyz"[a] + " = [&](equation::Step d_) { return point_.step(" +
           std::to_string(a) + ", d_.steps); };");
    for (size_t c = 0; c < text_.unknowns.size(); c++) declare("const Unknown", text_.unknowns[c].name, c);
    for (size_t f = 0; f < text_.fields.size(); f++) declare("const Coefficient", text_.fields[f].name, f);
    out_ += definitions(true, only);
  }

  // What the grid function is at a point.
  void row() {
    line("struct Row : Rows<unknowns, true> {");
    std::string rates = "r_ < 0";
    for (size_t c = 0; c < text_.unknowns.size(); c++)
      if (text_.unknowns[c].rate) rates += " || r_ == " + std::to_string(c);
    line("static constexpr bool is_rate(int r_) { return " + rates + "; }");
    line("template <int r_, class Point_> static typename Point_::Number at(const Point_ &point_) {");
    names_of_point();
    for (size_t c = 0; c < text_.unknowns.size(); c++)
      line("if constexpr (r_ == " + std::to_string(c) + ") return typename Point_::Number(" +
           row_expression(text_.unknowns[c].row()) + ");");
    line("}");
  }

  void boundary() {
    line("template <class R_> SHELLAC_OUT_OF_LINE ScalarOf<R_> boundary_datum(const Place &place_, int c_, int axis_, "
         "int side_, "
         "R_ x, "
         "R_ y, R_ z, R_ t) {");
    line(parameters("place_"));
    out_ += definitions(false);
    line("switch (side_ < equation::sides ? (c_ * equation::axes + axis_) * equation::sides + side_ : -1 - c_) {");
    const auto datum = [&](const std::string &number, const EquationText::End &end, size_t c, bool normal) {
      if (end.of_state || end.of_velocity || (!end.value && !text_.has_exact)) return;
      line("case " + number + ": return ");
      if (end.value)
        line("ScalarOf<R_>(" + expression(end.value) + ");");
      else
        line("exact_datum<ExactRow, " + std::to_string(c) + ", R_>(place_, axis_, side_ % equation::sides, " +
             (normal ? "true" : "false") + ", R_(" + (end.alpha ? expression(end.alpha) : "0") + "), x, y, z, t);");
    };
    for_ends([&](const std::string &number, const EquationText::End &end, size_t a, size_t c) {
      if (!text_.periodic[a])
        datum(number, end, c, end.form == EquationText::neumann || end.form == EquationText::robin);
    });
    for (size_t c = 0; c < text_.unknowns.size() && walls_have_data(); c++) // at walls, of all axes
      datum(std::to_string(-1 - (int)c), text_.unknowns[c].at_walls(), c, !gives_value(text_.unknowns[c].at_walls()));
    line("}\nreturn 0;\n}");
    ends_of_state();
  }
  void ends_of_state() {
    std::string cases, data;
    for_ends([&](const std::string &number, const EquationText::End &end, size_t, size_t c) {
      if (!end.of_state && !end.of_velocity) return;
      const size_t                of = end.of_state ? c : (size_t)text_.derivative_of(c);
      const std::set<std::string> needed = names_needed(text_, end.value.tree);
      cases += "case " + number + ": return " + std::to_string(of) + ";\n";
      data += "case " + number + ": {\nconst auto &" + name_in_cpp(text_.unknowns[of].name) + " = u_;\n" +
              definitions(true, &needed) + "return " + expression(end.value) + ";\n}\n";
    });
    const std::string which = "switch ((c_ * equation::axes + axis_) * equation::sides + side_) {\n";
    line("inline int unknown_of_datum(int c_, int axis_, int side_) {\n" + which + cases + "}\nreturn -1;\n}");
    line("template <class N_> SHELLAC_OUT_OF_LINE N_ datum_of_state(const Place &place_, int c_, int axis_, int side_, "
         "Real x, Real y, Real z, Real t, const N_ &u_) {\nusing R_ = Real; " +
         parameters("place_", "N_") + "\n" + which + data + "}\nreturn u_;\n}");
  }

  void robin() {
    const bool of_data = of_ == FunctionsOf::data; // then derivatives
    line(std::string("inline void all_robin(const Place *place_, Real *alpha_) {\nusing R_ = ") +
         (of_data ? "Series<2>; " : "Real; ") + parameters("(*place_)"));
    for_ends([&](const std::string &number, const EquationText::End &end, size_t, size_t) {
      if (end.alpha)
        line("alpha_[" + number + "] = " + (of_data ? "coefficient(" : "") + "R_(" + expression(end.alpha) + ")" +
             (of_data ? ", 1);" : ";"));
    });
    line("}");
  }

  // Part 0 of the source is what is seldom called, and entries at the ends; 1 and 2 are entries inside, and values. Each is
  // compiled by itself, or all at a time.
  void functions() {
    const char arguments[] = "(const Place *q, const Region *region, Scalar *";
    const auto part = [&](const char *number, const auto &write) {
      line(std::string("#if !defined(SHELLAC_PART) || SHELLAC_PART == ") + number);
      write();
      line("#endif");
    };
    const auto entries = [&](const char *half) {
      line(std::string("void entries_part_") + half + arguments + "const *out) { part_of_entries<Row, " + half +
           ">(q, region, out); }");
    };
    part("0", [&] { tables(); });
    part("1", [&] { entries("0"); });
    part("2", [&] {
      entries("1");
      line(std::string("void values_part") + arguments + "out) { all_points<Values<Row>>(q, region, out); }");
    });
  }
  void fields() {
    const bool        of_data = of_ == FunctionsOf::data; // then their derivatives
    const std::string R = of_data ? "Series<2>" : "Real";
    const int         solid = text_.solid();
    auto              of_place = text_.fields;
    if (solid >= 0 && !of_data) solid_cells(of_place[(size_t)solid].formula);
    if (solid >= 0) of_place[(size_t)solid].formula = Expression();
    coordinates("FieldRow", of_place, &EquationText::Field::formula);
    line("inline void all_fields(const Place *q, const Region *region, int field, Scalar *out) {");
    line("for_each_point(*q, *region, [&](Index i, Index j, Index k, const FromArrays &, Index to) {");
    line("const " + R +
         " x = coordinate<Real>(*q, 0, i), y = coordinate<Real>(*q, 1, j), z = coordinate<Real>(*q, 2, k);");
    line("switch (field) {");
    if (solid >= 0)
      line(
          "case " + std::to_string(solid) + ": out[to] = " +
          (of_data ? "0" : "Solid::at(GridPoint<NoSeed, FromArrays>(*q, {}, i, j, k, {*q, place_read(*q, i, j, k)}))") +
          "; break;");
    for (size_t f = 0; f < text_.fields.size() - (solid >= 0); f++)
      line("case " + std::to_string(f) + ": out[to] = " + (of_data ? "coefficient(" : "") + "FieldRow::at<" +
           std::to_string(f) + ", " + R + ">(*q, x, y, z, q->time)" + (of_data ? ", 1); break;" : "; break;"));
    line("}\n});\n}");
  }
  // A formula that may use fields at the point.
  void solid_cells(const Expression &formula) {
    const std::set<std::string> needed = names_needed(text_, formula.tree);
    line("struct Solid {\ntemplate <class Point_> static Scalar at(const Point_ &point_) {");
    names_of_point(&needed);
    line("return typename Point_::Number(" + (formula ? expression(formula) : "0") + ").v;\n}\n};");
  }
  void sensitivities() {
    fields();
    robin();
    line(exported("SensitivityFunctions") + "all_points<Products<Row>>, " +
         (text_.fields.empty() ? "nullptr, " : "all_transposed<Row>, ") +
         (text_.fields.empty() || integrals_.empty() ? "nullptr, " : "all_transposed<IntegrandRows<Row>>, ") +
         (integrals_.empty() ? "nullptr" : "all_points<Integrands<Row>>") + ", all_fields, all_robin};");
  }
  void tables() {
    coordinates("InitialRow", text_.unknowns, &EquationText::Unknown::initial);
    fields();
    robin();
    // a time-dependent exact solution is the initial state, unless the text gives one
    const char *initial = text_.has_initial                   ? "all_coordinates<InitialRow>"
                          : text_.has_rate && text_.has_exact ? "all_coordinates<ExactRow>"
                                                              : "nullptr";
    line(exported("Functions") + "values_part, all_entries<Row>, " + initial + ", " +
         (text_.has_exact ? "all_coordinates<ExactRow>, all_sources<Row, ExactRow, FieldRow>" : "nullptr, nullptr") +
         (imposes() ? ", impose_all" : ", nullptr") + ", all_fields, all_robin, " +
         (shape_.holds_constants ? "all_points<Products<Row>>, " : "nullptr, ") +
         (integrals_.empty() ? "nullptr" : "all_points<Integrands<Row>>") + ", integral_numbers};");
  }

  static std::string exported(const std::string &type) {
    return "extern \"C\" __attribute__((visibility(\"default\"))) const " + type + " shellac_compiled = {";
  }
  void kernel() {
    line("extern \"C\" __global__ void __launch_bounds__(threads_of_block) shellac_" + kernel_ +
         "(const __grid_constant__ Place q, const __grid_constant__ Work work, " +
         (kernel_ == "entries" ? "Scalar *const *" : "Scalar *") + "out) {");
    const std::string of = (char)(kernel_[0] - 'a' + 'A') + kernel_.substr(1) + "<Row>"; // Values<Row>
    line((kernel_ == "entries" ? "entries<Row>" : "at_all_points<" + of + ">") + "(q, work, out);\n}");
  }

  const EquationText  &text_;
  const EquationShape &shape_;
  FunctionsOf                   of_;
  std::string          kernel_;
  std::string          out_;
  std::map<std::string, size_t> formulas_; // that are read at neighbours: their numbers, by what they are in C++
  std::vector<Expression>       formulas_in_order_;
  std::vector<size_t>           integrals_; // of which of these
};

} // namespace

// In 3-D many points are at the ends of rows, and computed separately each would read whole sectors of memory. Their
// rules must be factors, and nothing may ask where the ends are.
static bool has_whole_rows(const EquationShape &shape, const EquationText &text) {
  bool factors = shape.dim == 3 && text.unknowns.size() == 1 && text.fields.empty() && steps_are_known(text) &&
                 !text.fourth_order[0];
  const auto look = [&](const NamesOf &names, const Node &tree) { // d(1 + u, u) extrapolates its coefficient
    for_each_node(tree, [&](const Node &node) {
      factors = factors && !(node.kind == Node::call && node.text == "d" && names.argument("d") < 0 &&
                             varies(names, node.parts[0]) && !has_name(text.unknowns, node.parts[0].text));
    });
  };
  for (const auto &d : text.definitions) look({&text, &d}, d.value.tree);
  for (const auto &u : text.unknowns) look({&text}, u.row().tree);
  for (const EquationText::End &end : text.unknowns[0].ends[0])
    factors = factors && (text.periodic[0] || (end.form != EquationText::identity && !end.value && !text.has_exact));
  return factors;
}

// One load of 16 bytes reads both columns. In a box, a neighbour of a pair at the end of a row may be before the whole
// array.
bool has_columns(const EquationShape &shape, const EquationText &text) {
  return shape.dim == 3 && text.unknowns.size() == 1 && !scalars_are_complex && steps_are_known(text) &&
         (!shape.box || (shape.width == 1 && has_whole_rows(shape, text)));
}

// Measured on an H200. More than four points share more loads and have more of them in flight. This helps if a point
// reads many values of one unknown, as long as they fit into registers. For single columns of boxes in 3-D whole rows
// are slower.
EquationShape shape_on_gpu(EquationShape shape, const EquationText &text, bool along_vector, int columns) {
  const int arrays = (int)(1 + text.fields.size()) + along_vector, many = shape.width > 1 ? 10 : 8,
            numbers = equation::values_around(shape.dim, shape.width, shape.box, many, 1) * arrays;
  const bool in_2d = shape.dim == 2 && text.unknowns.size() == 1 && !scalars_are_complex &&
                     (arrays > 1 || shape.width > 1 || shape.box) && numbers <= equation::most_loaded_first,
             in_3d = columns == 2 && (shape.box ? !along_vector : arrays == 1);
  shape.columns = columns;
  shape.at_once = shape.dim == 1 ? 1 : in_2d ? many : in_3d ? 6 : 4;
  shape.whole_rows = (columns == 2 || !shape.box) && has_whole_rows(shape, text);
  return shape;
}

std::string equation_source(const EquationText &text, const EquationShape &shape, FunctionsOf of) {
  return Writer(text, shape, of).write();
}

std::string equation_kernel(const EquationText &text, const EquationShape &shape, const std::string &kernel) {
  return Writer(text, shape, shape.of_data ? FunctionsOf::data : FunctionsOf::values, kernel).write();
}

} // namespace shellac
