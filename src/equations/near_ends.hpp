// Neighbours of points near ends of the domain, by the rules of the boundary. After prelude.hpp; for any compiler.

namespace shellac {
namespace equation {

// The value of a neighbour that may be beyond an end: given plus factor times the value at a place in the arrays.
struct Neighbour {
  Datum  given, factor;
  Index  at;
  int    arm;
  bool   own; // it is the point itself
};

// The same where neighbours may be beyond an end of the domain. Their rules are compiled once, not for each neighbour
// that the text reads.
class NearEnds {
public:
  static constexpr bool at_ends = true, finds_neighbours = true;

  NearEnds(const Place &place, Index i, Index j, Index k) : place_(place), p_{i, j, k} {}

  SHELLAC_OUT_OF_LINE Neighbour neighbour(int c, int dx, int dy, int dz) const {
    return is_within(dx, dy, dz) ? within(arrays(), c, dx, dy, dz) : beyond(arrays(), c, dx, dy, dz);
  }
  // The place of a field's value: beyond an end that at the end.
  SHELLAC_OUT_OF_LINE Index field_at(int dx, int dy, int dz) const {
    return arrays().index(inside(0, dx), inside(1, dy), inside(2, dz));
  }

  Datum unknown(int c, const Neighbour &n) const {
    return n.factor == 0 ? n.given : n.given + n.factor * place_.u[n.at * unknowns + c]; // its place may hold infinity
  }
  Scalar direction(int c, const Neighbour &n) const { return place_.direction[n.at * unknowns + c]; }
  // The same, step by step.
  Datum  unknown(int c, int dx, int dy, int dz) const { return unknown(c, neighbour(c, dx, dy, dz)); }
  Scalar direction(int c, int dx, int dy, int dz) const { return direction(c, neighbour(c, dx, dy, dz)); }
  Scalar field(int f, int dx, int dy, int dz) const { return place_.fields[f][field_at(dx, dy, dz)]; }
  Scalar field_direction(int f, int dx, int dy, int dz) const {
    return place_.field_directions[f] ? place_.field_directions[f][field_at(dx, dy, dz)] : Scalar(0);
  }

  bool leaves(int axis, int d) const { return !place_.periodic[axis] && !is_within_axis(axis, d); }
  // Steps along an axis to where a field is read: beyond an end to the last point.
  int inside(int axis, int d) const {
    const Index index = p_[axis];
    if (place_.periodic[axis]) return axis < dim ? around(place_, axis, index, d) : d;
    return (int)((index + d < 0 ? 0 : index + d >= place_.N[axis] ? place_.N[axis] - 1 : index + d) - index);
  }

  // The rule of a step along an axis that leaves the domain.
  const Fold &fold(int c, int axis, int d) const {
    const int   side = d < 0 ? 0 : 1;
    const Index q = p_[axis] + d, steps = width == 1 ? 1 : side ? q - place_.N[axis] + 1 : -q;
    return place_.folds[((c * axes + axis) * sides + side) * width + steps - 1];
  }
  template <Real Fold::*part, class F = Factor> F of(const Fold &rule) const { // its factor, or `given`
    if constexpr (of_data)
      return with_change(rule.*part, place_.fold_changes[&rule - place_.folds].*part);
    else
      return rule.*part;
  }
  // The data of the rules of the axes along which an arm leaves the domain.
  SHELLAC_OUT_OF_LINE Datum datum(int c, int dx, int dy, int dz) const {
    Factor factor = 1;
    Datum  sum = 0;
    for_rules(c, dx, dy, dz, [&](const Fold &rule, int a, int side, const Real *x) {
      sum = sum + factor * of<&Fold::given>(rule) * datum_at(place_, c, a, side, x[0], x[1], x[2]);
      factor = factor * of<&Fold::factor>(rule);
    });
    return sum;
  }
  // Where data depend on the state: what the rules make of the value `inside` to which they lead, n->given plus n->factor
  // times it. The last rule comes first.
  SHELLAC_OUT_OF_LINE void follow(int c, int dx, int dy, int dz, Datum inside, Neighbour *n) const {
    const Fold *rules[axes];
    Real        x[axes][axes];
    int         axis[axes], side[axes], count = 0;
    for_rules(c, dx, dy, dz, [&](const Fold &rule, int a, int s, const Real *at) {
      for (int b = 0; b < axes; b++) x[count][b] = at[b];
      rules[count] = &rule, axis[count] = a, side[count++] = s;
    });
    n->given = 0, n->factor = 1;
    while (count-- > 0) {
      const Fold  &rule = *rules[count];
      const Real  *at = x[count];
      const Datum  value = n->given + n->factor * inside;
      const Factor factor = of<&Fold::factor>(rule), given = of<&Fold::given>(rule);
      if (unknown_of_datum(c, axis[count], side[count]) == c) {
        follow_state(factor, given, c, axis[count], side[count], at, value, inside, n);
      } else {
        n->given = factor * n->given + given * datum_at(place_, c, axis[count], side[count], at[0], at[1], at[2]);
        n->factor = factor * n->factor;
      }
    }
  }

protected:
  const Place &place_;
  Index        p_[axes];

  FromArrays arrays() const { return {place_, place_read(place_, p_[0], p_[1], p_[2])}; }
  bool       is_within(int dx, int dy, int dz) const { // the domain
    return is_within_axis(0, dx) && is_within_axis(1, dy) && is_within_axis(2, dz);
  }
  Neighbour within(const FromArrays &from, int c, int dx, int dy, int dz) const {
    const int arm = arm_of(dx, dy, dz);
    return imposed({Real(0), 1, from.index(dx, dy, dz), arm, arm == own_arm}, c, dx, dy, dz);
  }
  Neighbour beyond(const FromArrays &from, int c, int dx, int dy, int dz) const {
    int  in_arrays[axes] = {dx, dy, dz}, arm[axes] = {dx, dy, dz};
    Factor factor = 1;
    for (int a = 0; a < dim && factor != 0; a++) {
      if (place_.periodic[a]) in_arrays[a] = around(place_, a, p_[a], arm[a]);
      if (!leaves(a, arm[a])) continue;
      const Fold &rule = fold(c, a, arm[a]);
      factor = factor * of<&Fold::factor>(rule);
      in_arrays[a] = arm[a] = (int)(rule.inside - p_[a]);
    }
    const bool read = factor != 0; // else the step may lead nowhere
    bool       own = true;
    for (int a = 0; a < dim; a++) own = own && leads_back(a, arm[a]);
    const Index at = from.index(read ? in_arrays[0] : 0, read ? in_arrays[1] : 0, read ? in_arrays[2] : 0);
    Neighbour   n{has_data && !ends_of_state ? datum(c, dx, dy, dz) : Datum(0), factor, at,
                arm_of(arm[0], arm[1], arm[2]), own};
    if (ends_of_state) {
      const Neighbour inside = imposed({Datum(0), Datum(Real(read)), at, n.arm, own}, c, arm[0], arm[1], arm[2]);
      follow(c, dx, dy, dz, unknown(c, inside), &n);
      n.given = n.given + n.factor * inside.given, n.factor = n.factor * inside.factor;
      return n;
    }
    return imposed(n, c, arm[0], arm[1], arm[2]);
  }

private:
  // f(rule, axis, side, where its datum is taken) for the rules of the axes along which an arm leaves the domain. A rule
  // leads to a point inside, where the next axis takes its datum. Rules that lead to no point come last, so that no datum
  // is taken beyond its side for them.
  template <class F> void for_rules(int c, int dx, int dy, int dz, const F &f) const {
    const int d[axes] = {dx, dy, dz};
    Real      x[axes];
    bool      leads = true;
    for (int a = 0; a < axes; a++) x[a] = coordinate<Real>(place_, a, in_period(a, p_[a] + d[a]));
    for (int n = 0; n < 2 * dim && leads; n++) {
      const int a = n < dim ? n : n - dim;
      if (!leaves(a, d[a])) continue;
      const int   side = d[a] < 0 ? 0 : 1;
      const Fold &rule = fold(c, a, d[a]);
      if ((rule.factor == 0) != (n >= dim)) continue;
      x[a] = place_.end[a][side];
      f(rule, a, side, x);
      leads = rule.factor != 0;
      x[a] = coordinate<Real>(place_, a, rule.inside);
    }
  }
  // A datum g that depends on the value w at the end, which is the mean of `value` and the value beyond; that is the rule's
  // factor times `value` plus given times g(w). By Newton's method; not a number where there is no such w.
  template <class F, class D>
  void follow_state(const F &factor, const F &given, int c, int axis, int side, const Real *x, const D &value,
                    const D &inside, Neighbour *n) const {
    Number<Scalar, 1 + of_data> w(plain(value)); // a second derivative is by data: that of w itself follows at the end
    Scalar                      steep = 1, change = 1;
    const auto                  goes_on = [&] { return !(fabs(change) <= 1e-14 * (fabs(w.v) + fabs(plain(value)))); };
    D                           g;
    w.depends = 1, w.d[0] = 1;
    for (int step = 0; step < 50 && (step == 0 || goes_on()); step++) {
      const auto at_w = datum_of_state(place_, c, axis, side, x[0], x[1], x[2], place_.time, w);
      steep = 1 - (plain(given) / 2) * at_w.derivative(0);
      change = (w.v - ((1 + plain(factor)) / 2) * plain(value) - (plain(given) / 2) * at_w.v) / steep;
      w.v = w.v - change;
      if constexpr (of_data) g = with_change(at_w.v, at_w.derivative(1));
    }
    if (goes_on()) w.v = w.v * (Real(0) / Real(0));
    D at_end(w.v);
    if constexpr (of_data)
      at_end = with_change(w.v, (((1 + factor) / 2) * value + (given / 2) * g).derivative(0) / steep);
    n->factor = ((1 + plain(factor)) / steep - Scalar(1)) * plain(n->factor);
    n->given = 2 * at_end - value - n->factor * inside;
  }
  // In a rate's equation, the datum of an unknown that is given so many steps away takes the place of its value, at
  // every stage of every type of TS.
  Neighbour imposed(Neighbour n, int c, int dx, int dy, int dz) const {
    if constexpr (imposes) {
      const Index i = in_period(0, p_[0] + dx), j = in_period(1, p_[1] + dy), k = in_period(2, p_[2] + dz);
      int         axis, side;
      if (n.factor != 0 && is_given(place_, c, i, j, k, &axis, &side)) {
        n.given = n.given + n.factor * given_datum(place_, c, axis, side, i, j, k);
        n.factor = 0;
      }
    }
    return n;
  }
  bool  is_within_axis(int axis, int d) const { return d == 0 || (p_[axis] + d >= 0 && p_[axis] + d < place_.N[axis]); }
  Index in_period(int axis, Index index) const { // of data that are formulas, and repeat nothing themselves
    const Index N = place_.N[axis];
    return axis >= dim || !place_.periodic[axis] || (index >= 0 && index < N) ? index : (index % N + N) % N;
  }
  bool leads_back(int axis, int d) const {
    return d == 0 || (place_.periodic[axis] && place_.N[axis] <= width && d % (int)place_.N[axis] == 0);
  }
};

} // namespace equation
} // namespace shellac
