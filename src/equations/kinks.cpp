// Kinks and jumps of an exact solution: there a second derivative is infinite, and the source at the points of the
// grid, which is right at each other point, belongs to another solution.

#include "equations/at_neighbours.hpp"
#include "equations/equation.hpp"

#include <algorithm>
#include <initializer_list>

namespace shellac {

namespace {

bool calls_one(const Node &node, std::initializer_list<const char *> names) {
  return node.kind == Node::call && std::any_of(names.begin(), names.end(), [&](auto n) { return node.text == n; });
}
bool is_piecewise(const Node &node) {
  return node.kind == Node::choice || node.kind == Node::comparison ||
         calls_one(node, {"abs", "fabs", "min", "max", "floor", "sign", "heaviside"});
}
bool is_second_derivative(const Node &node) {
  return calls_one(node, {"laplacian", "bilaplacian", "d", "dxx", "dyy", "dzz", "dxy"});
}
// Whether a part of an expression, or of the definitions of which it is made, is so.
bool has_part(const EquationText &text, const Expression &e, bool (*is)(const Node &)) {
  bool       has = false;
  const auto look = [&](const Node &tree) { for_each_node(tree, [&](const Node &node) { has = has || is(node); }); };
  if (!e) return false;
  look(e.tree);
  const auto needed = names_needed(text, e.tree);
  for (const auto &d : text.definitions)
    if (needed.count(d.name)) look(d.value.tree);
  return has;
}

// Whether a function has a kink or a jump inside an interval; *at: where. Each round looks closer at where it bends most:
// at a kink the second difference quotient at least doubles then, but for rounding; else it soon stays as it is.
template <class Function> bool has_kink(const Function &u, PetscReal lo, PetscReal hi, PetscReal *at) {
  const PetscReal first = lo, last = hi;
  PetscReal       before = 0;
  for (int round = 0; round < 8; round++) {
    const PetscReal s = (hi - lo) / 8, x = lo;
    PetscScalar     value[9];
    PetscReal       bend = 0, size = 0;
    for (int n = 0; n < 9; n++) value[n] = u(x + n * s), size = PetscMax(size, PetscAbsScalar(value[n]));
    for (int n = 1; n < 8; n++) {
      const PetscReal here = PetscAbsScalar((value[n + 1] - value[n]) - (value[n] - value[n - 1]));
      if (here > bend) bend = here, lo = x + (n - 1) * s, hi = x + (n + 1) * s;
    }
    if (bend <= 1e-12 * size || bend / (s * s) < 1.9 * before) return false;
    before = bend / (s * s);
  }
  *at = (lo + hi) / 2;
  return lo > first && hi < last;
}

} // namespace

// Where the equation's own coefficients are piecewise, as at an interface, a solution may have a kink. Otherwise this is an
// error; it is looked for along the lines of the grid. Collective.
PetscErrorCode EquationOnGrid::CheckKinks() const {
  const EquationText      &text = equation_->text;
  const int                n = (int)equation_->unknowns(), w = (int)grid_.width;
  std::vector<PetscScalar> values((size_t)n), fluid(owned() * (size_t)n, 1.);
  std::vector<double>      tables[3];
  equation::Region         one = {{0, 0, 0}, {1, 1, 1}, 0};
  equation::Place          place = place_;
  std::string              wrong;
  bool                     exact = false, rows = false, second = false;

  PetscFunctionBegin;
  for (const auto &unknown : text.unknowns) {
    const Expression &row = unknown.row();
    exact = exact || has_part(text, unknown.exact, is_piecewise);
    rows = rows || has_part(text, row, is_piecewise);
    second = second || has_part(text, row, is_second_derivative);
  }
  for (const auto &field : text.fields)
    rows = rows || (field.name != "solid" && has_part(text, field.formula, is_piecewise));
  if (!exact || rows || !second) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ZeroInSolid(fluid.data()));
  for (int a = 0; a < 3; a++) {
    tables[a].assign((size_t)w + 1, 0.);
    place.stretched[a] = tables[a].data();
    place.write_start[a] = 0, place.write_size[a] = 1;
  }
  for (size_t point = 0; point < owned() && wrong.empty(); point++)
    for (int a = 0; a < grid_.dim && wrong.empty(); a++) {
      PetscInt  i[3];
      PetscReal where = 0;
      size_t    rest = point;
      for (int b = 0; b < 3; b++) {
        i[b] = grid_.start[b] + (PetscInt)(rest % (size_t)grid_.size[b]), rest /= (size_t)grid_.size[b];
        place.origin[b] = tables[b][(size_t)w] = axes_[b].at(i[b]);
      }
      if (i[a] + 1 == grid_.N[a] || fluid[point * (size_t)n] == PetscScalar(0)) continue;
      for (int c = 0; c < n && wrong.empty(); c++) {
        const auto u = [&](PetscReal x) {
          place.origin[a] = tables[a][(size_t)w] = x;
          equation_->functions->exact(&place, &one, compiled_array(values.data()));
          return values[(size_t)c];
        };
        // from before the first point to behind the second one, unless it is the first or last one: no end is a kink
        const PetscReal x = axes_[a].at(i[a]), next = axes_[a].at(i[a] + 1), more = 0.3 * (next - x);
        if (!has_kink(u, x - (i[a] ? more : 0), next + (i[a] + 2 < grid_.N[a] ? more : 0), &where)) continue;
        char at[32];
        PetscCall(PetscSNPrintf(at, sizeof(at), "%.4g", (double)where));
        wrong = text.error_at(text.unknowns[(size_t)c].exact.line,
                              "the exact solution of " + text.unknowns[(size_t)c].name + " has a kink or a jump at " +
                                  "xyz"[a] + " = " + at + ", near the point " + PlaceOf(point) +
                                  ", where its source would be infinite; state a solution that has the equation's "
                                  "derivatives everywhere");
      }
    }
  SHELLAC_CHECK_ALL(wrong.empty(), grid_.comm, PETSC_ERR_ARG_WRONG, "%s", wrong.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
