#pragma once
// The walk of planes.hpp: correction, smoothing steps, residual and restriction, each of one plane at a time.

#include "multigrid/host/planes.hpp"

namespace shellac {

template <class Level> class PlaneWalk {
  using T = typename Level::Scalar;
  using R = typename RealOf<T>::type;
  static constexpr bool variable = Level::variable;

public:
  explicit PlaneWalk(const PlanePass<Level> &pass);
  void run();

private:
  // Of an axis those points that have `beyond` more points between them and the rank's own, or fewer.
  struct Range {
    PetscInt begin, end;
    bool     has(PetscInt i) const { return i >= begin && i < end; }
  };
  Range range(int axis, PetscInt beyond) const {
    const PetscInt before = own_from_[axis], after = patch_.size[axis] - before - pass_.own.size[axis];
    return {PetscMax(before - beyond, 0), patch_.size[axis] - PetscMax(after - beyond, 0)};
  }
  Range rows(PetscInt beyond) const { return range(layers_.across, beyond); }
  Range planes(PetscInt beyond) const { return range(layers_.slow, beyond); }
  // The points beyond the rank's own at which the values of a step are needed.
  PetscInt beyond(int s) const { return (pass_.b_coarse ? 2 : 0) + steps_ - s; }
  // with variable coefficients: values at the points of a level's arrays, from column i on
  size_t   grown_points() const { return (size_t)level_.grown.points(); }
  const T *at(const T *values, PetscInt i, PetscInt m, PetscInt k) const {
    return values + layers_.index(level_.grown, i, m, k);
  }
  const T *coefficients(int slot, PetscInt m, PetscInt k) const {
    return at(level_.rows + (size_t)slot * grown_points(), 0, m, k);
  }
  // of a corner of coarse points among those of a transfer, from first_column_ on
  const T *weights(const T *of, int x, int across, int slow, PetscInt m, PetscInt k) const {
    PetscInt c[3];
    c[0] = x, c[layers_.across] = across, c[layers_.slow] = slow;
    const PetscInt corner = c[0] + (level_.coarsens[0] ? 2 : 1) * (c[1] + (level_.coarsens[1] ? 2 : 1) * c[2]);
    return at(of + (size_t)corner * grown_points(), first_column_, m, k);
  }
  // Calls f with constants: a count, one of `counts`, and a flag.
  template <int... counts, class Function> static void with_constants(int count, bool flag, const Function &f) {
    const auto known = [&](auto constant) {
      if (count == decltype(constant)::value) flag ? f(constant, std::true_type()) : f(constant, std::false_type());
    };
    (known(std::integral_constant<int, counts>()), ...);
  }
  const AxisPoint<R> &point_across(PetscInt m) const { return level_.axis[layers_.across][m]; }
  const AxisPoint<R> &point_slow(PetscInt k) const { return level_.axis[layers_.slow][k]; }

  const T           *b_row(PetscInt m, PetscInt k);
  row::AxesRow<T>    axes_row(PetscInt m, PetscInt k) const;
  row::Neighbours<T> neighbours(const PlaneRing<T> &u, PetscInt m, PetscInt k) const;
  const T           *inverse_diagonal(int step, PetscInt m, PetscInt k);
  void               couple(const PlaneRing<T> &u, Range rows, PetscInt k, const R *omega, Plane<T> *result);
  void               begin_plane(PetscInt k);
  void               correct_plane(PetscInt k, Plane<T> *plane);
  void               smooth_plane(int s, PetscInt k);
  void               write_plane(PetscInt k);
  void               residual_plane(PetscInt k);
  void               weigh_by_mass(PetscInt k, bool beyond, Plane<T> *r);
  void               restrict_ready(PetscInt newest, bool all);
  void               restrict_plane(PetscInt K);
  void               restrict_field();

  const PlanePass<Level> &pass_;
  const Level            &level_;
  const Patch            &patch_;
  const Layers            layers_;
  const PetscInt          nx_;
  PetscInt                own_from_[3]; // the rank's first point, on the patch that is walked over
  int          padded_; // of a row: loops take so many values, whole vectors, of which the last may not count
  const size_t own_points_;
  const bool   starts_; // from values, not from zero
  const bool   alone_;  // no neighbouring rank has a part in the planes that steps make
  const int    steps_;  // those that take neighbours
  // Transfers count columns from the one before the first coarse point, so that coarse points are odd columns.
  PetscInt first_column_ = 0, columns_;
  PetscInt next_coarse_ = 0; // plane to be restricted to

  // Inverse diagonal entries of the row that was asked for last, at the points that a step changes.
  struct Inverse {
    std::vector<R>  in; // by x
    std::vector<T>  values;
    row::AxesRow<T> row = {};
    R               row_in = -1;
  };

  std::vector<R>            west_, east_, prolong_[2], restriction_[2]; // along x
  Inverse                   inverse_[2]; // red-black: of the points with even x, and with odd x; otherwise one for all
  Plane<T>                  b_;          // rows that are copied
  std::vector<const T *>    b_rows_;
  std::vector<T>            buffer_[2];
  std::vector<PlaneRing<T>> u_; // of each step
  PlaneRing<T>              r_, e_;
  struct Coupling {
    PetscInt64 at;           // the place of its first coefficient in level_.rows, but for the row's
    int        across, slow; // steps to the row of the neighbours
    int        along;
  };
  std::vector<Coupling> couplings_;
  Layers                e_layers_;  // of the coarse points that a correction takes, beginning with e_from_
  PetscInt              e_from_[3]; // on the whole grid
};

template <class Level>
PlaneWalk<Level>::PlaneWalk(const PlanePass<Level> &pass)
    : pass_(pass), level_(pass.level), patch_(pass.level.patch), layers_(patch_), nx_(layers_.nx),
      own_points_((size_t)pass.own.all().points()), starts_(pass.guess.u || pass.e.u), alone_(is_alone(patch_)),
      steps_(starts_ || pass.end == pass.begin ? pass.end - pass.begin : pass.end - pass.begin - 1), columns_(nx_),
      e_layers_(patch_) {
  constexpr PetscInt room = 32; // more than a vector has
  padded_ = whole_vectors<T>(nx_);
  if (level_.coarsens[0]) {
    first_column_ = level_.between(0, 0) ? 0 : -1;
    columns_ = (nx_ - first_column_ + 1) / 2 * 2;
  }
  for (int a = 0; a < 3; a++) own_from_[a] = pass.own.start[a] - patch_.start[a];
  if constexpr (!variable) {
    west_.reserve((size_t)(nx_ + room)), east_.reserve((size_t)(nx_ + room));
    for (PetscInt i = 0; i < nx_; i++) {
      const AxisPoint<R> &x = level_.axis[0][i];
      west_.push_back(x.lower), east_.push_back(x.upper);
      for (int odd = 0; odd < 2; odd++) inverse_[odd].in.push_back(level_.red_black && i % 2 != odd ? R(0) : x.in);
    }
    west_.resize((size_t)(nx_ + room)), east_.resize((size_t)(nx_ + room));
    for (PetscInt c = 0; c <= columns_; c++)
      for (int w = 0; w < 2; w++) {
        const AxisPoint<R> &x = level_.axis[0][first_column_ + c];
        prolong_[w].push_back(x.prolong[w]);
        restriction_[w].push_back(x.restriction[w]);
      }
  }
  for (std::vector<T> *values : {&inverse_[0].values, &inverse_[1].values, &buffer_[0], &buffer_[1]})
    values->resize((size_t)(nx_ + room));
  b_.resize(nx_, variable ? layers_.rows : 1);
  b_rows_.resize(variable ? (size_t)layers_.rows : 0);
  u_.resize((size_t)steps_ + 1);
  for (PlaneRing<T> &ring : u_) ring.resize(nx_, layers_.rows);
  if (pass.residual || pass.b_coarse) r_.resize(nx_, layers_.rows);
  if constexpr (variable) {
    constexpr PetscInt origin[3] = {0, 0, 0};
    const Neighbours  &neighbours = level_.neighbours;
    const int          count = neighbours.count();
    neighbours.each([&](const PetscInt *d) {
      const PetscInt64 step = (PetscInt64)level_.grown.index(d) - (PetscInt64)level_.grown.index(origin);
      const int        own = (int)couplings_.size(), back = neighbours.star ? own ^ 1 : count - 1 - own;
      const bool       there = pass.halves && own < back;
      couplings_.push_back({(PetscInt64)grown_points() * (FIRST_COUPLING + (there ? back : own)) + (there ? step : 0),
                            (int)d[layers_.across], (int)d[layers_.slow], (int)d[0]});
    });
  }
  if (pass.e.u) {
    const int      across = layers_.across, slow = layers_.slow;
    const PetscInt last = layers_.rows - 1, first = level_.below(across, 0);
    e_layers_.nx = level_.coarsens[0] ? columns_ / 2 : columns_;
    e_layers_.rows = level_.below(across, last) + level_.between(across, last) - first + 1;
    // the coarse point of column 1, or 0 where all are coarse
    layers_.to_axes(level_.below(0, first_column_ + (level_.coarsens[0] ? 1 : 0)), first, level_.below(slow, 0),
                    e_from_);
    e_.resize(variable ? columns_ + 1 : e_layers_.nx, e_layers_.rows);
  }
}

// Where it is, if it is in one place, with values after its end that loops over whole vectors read.
template <class Level> auto PlaneWalk<Level>::b_row(PetscInt m, PetscInt k) -> const T * {
  const Patch   &own = pass_.own;
  const PetscInt own_m = m - own_from_[layers_.across], own_k = k - own_from_[layers_.slow];
  PetscInt       p[3], n = nx_;
  size_t         there;
  const bool is_own = own_m >= 0 && own_m < own.size[layers_.across] && own_k >= 0 && own_k < own.size[layers_.slow];
  if (is_own && own.size[0] == nx_) {
    const size_t here = layers_.index(own, 0, own_m, own_k);
    if (here + (size_t)padded_ <= own_points_) return pass_.b.u + here;
  }
  layers_.to_axes(-own_from_[0], own_m, own_k, p);
  const T *values = row_of(own, pass_.b, p, &n, &there);
  if (values && n == nx_ && there >= (size_t)padded_) return values;
  T *const copy = b_.row(variable ? m : 0); // where a plane's rows are used together, each has a place
  copy_row(own, pass_.b, p, nx_, copy);
  return copy;
}

template <class Level> auto PlaneWalk<Level>::axes_row(PetscInt m, PetscInt k) const -> row::AxesRow<T> {
  const AxisPoint<R> &y = point_across(m), &z = point_slow(k);
  return {west_.data(), east_.data(), y.lower, y.upper, z.lower, z.upper, level_.sigma};
}

template <class Level>
auto PlaneWalk<Level>::neighbours(const PlaneRing<T> &u, PetscInt m, PetscInt k) const -> row::Neighbours<T> {
  row::Neighbours<T> of;
  for (int z = 0; z < 3; z++)
    for (int y = 0; y < 3; y++) of.row[z][y] = u.at(k + z - 1).row(m + y - 1);
  return of;
}

template <class Level> auto PlaneWalk<Level>::inverse_diagonal(int step, PetscInt m, PetscInt k) -> const T * {
  if constexpr (variable)
    return coefficients(INVERSE_DIAGONAL, m, k);
  else {
    PetscInt first[3] = {0, 0, 0};
    first[layers_.across] = m, first[layers_.slow] = k;
    Inverse              &inverse = inverse_[level_.changes(step, first) ? 0 : 1];
    const row::AxesRow<T> op = axes_row(m, k), &last = inverse.row;
    const R               in = point_across(m).in * point_slow(k).in;
    if (in != inverse.row_in || op.south != last.south || op.north != last.north || op.below != last.below ||
        op.above != last.above) {
      row::invert_diagonal(op, inverse.in.data(), in, (int)nx_, inverse.values.data());
      inverse.row = op, inverse.row_in = in;
    }
    return inverse.values.data();
  }
}

// By coefficients of each point: a smoothing step, or with no omega the residual.
template <class Level>
void PlaneWalk<Level>::couple(const PlaneRing<T> &u, Range rows, PetscInt k, const R *omega, Plane<T> *result) {
  const PetscInt           first = rows.begin;
  const T *const           coefficients = at(level_.rows, 0, first, k);
  const row::Neighbours<T> around = neighbours(u, first, k);
  row::CouplingsPlane<T>   of;
  const int                count = (int)couplings_.size();
  for (PetscInt m = first; m < rows.end; m++) b_rows_[(size_t)(m - first)] = b_row(m, k);
  of.rows = (int)(rows.end - first), of.n = padded_;
  of.row_step = at(level_.rows, 0, first + 1, k) - coefficients;
  of.value_step = result->row(first + 1) - result->row(first);
  of.b = b_rows_.data();
  of.s = coefficients + SHIFT * grown_points(), of.inverse = coefficients + INVERSE_DIAGONAL * grown_points();
  of.u = around.center();
  of.omega = omega ? *omega : 0;
  of.result = result->row(first);
  for (int n = 0; n < count; n++) {
    const Coupling &coupling = couplings_[n];
    of.c[n] = coefficients + coupling.at;
    of.there[n] = around.row[coupling.slow + 1][coupling.across + 1] + coupling.along;
  }
  with_constants<2, 4, 6, 8, 26>(count, omega, [&](auto couplings, auto smooths) { // that stars and boxes have
    row::couple<decltype(couplings)::value, decltype(smooths)::value>(of);
  });
}

// The plane k of the values that the walk starts from; beyond the patch those of the guess.
template <class Level> void PlaneWalk<Level>::begin_plane(PetscInt k) {
  const bool  on_patch = k >= 0 && k < layers_.planes;
  const Range rows = this->rows(beyond(0));
  if (on_patch ? !planes(beyond(0)).has(k) : !pass_.guess.u || (alone_ && !patch_.periodic[layers_.slow])) return;
  Plane<T> &plane = u_[0].put(k);
  if (pass_.guess.u) {
    PetscInt from[3];
    layers_.to_axes(-own_from_[0], -own_from_[layers_.across], k - own_from_[layers_.slow], from);
    load_plane(pass_.own, layers_, pass_.guess, from, &plane);
  } else if (pass_.e.u)
    plane.clear();
  if (!on_patch) return;
  if (pass_.e.u) correct_plane(k, &plane);
  if (!starts_ && pass_.end > pass_.begin)
    for (PetscInt m = rows.begin; m < rows.end; m++)
      row::start(inverse_diagonal(pass_.begin, m, k), level_.omega[pass_.begin], b_row(m, k), padded_, plane.row(m));
  if (alone_) close_plane(patch_, layers_, &plane);
}

template <class Level> void PlaneWalk<Level>::correct_plane(PetscInt k, Plane<T> *plane) {
  const int  across = layers_.across, slow = layers_.slow, columns = (int)columns_, coarse_columns = (int)e_layers_.nx;
  const bool coarsens = level_.coarsens[0];
  const PetscInt K = level_.below(slow, k) - e_from_[slow];
  const int      planes = level_.between(slow, k) ? 2 : 1;
  const Range    rows = this->rows(beyond(0));
  for (int z = 0; z < planes; z++) {
    if (e_.has(K + z)) continue;
    const Patch   &coarse = pass_.coarse_e;
    const PetscInt plane_at = e_from_[slow] + K + z;
    PetscInt       from[3];
    for (int a = 0; a < 3; a++) from[a] = (a == slow ? plane_at : e_from_[a]) - coarse.start[a];
    Plane<T> &e = e_.put(K + z);
    load_plane(coarse, e_layers_, pass_.e, from, &e);
    if (variable && coarsens)
      for (PetscInt m = 0; m < e_layers_.rows; m++) row::spread(columns, e.row(m));
  }
  for (PetscInt m = rows.begin; m < rows.end; m++) {
    T             *fine = plane->row(m) + first_column_;
    const PetscInt J = level_.below(across, m) - e_from_[across];
    const int      sources = level_.between(across, m) ? 2 : 1;
    if constexpr (variable) {
      row::WeightedRows<T> of;
      for (int z = 0; z < planes; z++)
        for (int y = 0; y < sources; y++)
          of.add(e_.at(K + z).row(J + y), weights(level_.weights, 0, y, z, m, k),
                 coarsens ? weights(level_.weights, 1, y, z, m, k) : nullptr);
      with_constants<1, 2, 4>(of.count, coarsens, [&](auto rows_known, auto known) {
        row::interpolate<decltype(rows_known)::value, decltype(known)::value>(of, columns, fine);
      });
    } else {
      T *const sum = buffer_[0].data();
      std::fill_n(sum, coarse_columns + 1, T(0));
      for (int z = 0; z < planes; z++)
        for (int y = 0; y < sources; y++)
          row::add(point_across(m).prolong[y] * point_slow(k).prolong[z], e_.at(K + z).row(J + y) - 1,
                   coarse_columns + 1, sum);
      row::add_interpolated(sum + 1, prolong_[0].data(), prolong_[1].data(), coarsens, columns, fine);
    }
  }
}

// Step s from the values of the one before it.
template <class Level> void PlaneWalk<Level>::smooth_plane(int s, PetscInt k) {
  const int   step = pass_.begin + s - (starts_ ? 1 : 0);
  const R     omega = level_.omega[step];
  const Range rows = this->rows(beyond(s));
  Plane<T>   &plane = u_[s].put(k);
  if constexpr (variable)
    couple(u_[s - 1], rows, k, &omega, &plane);
  else
    for (PetscInt m = rows.begin; m < rows.end; m++)
      row::smooth(axes_row(m, k), neighbours(u_[s - 1], m, k), b_row(m, k), inverse_diagonal(step, m, k), omega,
                  padded_, plane.row(m));
  if (alone_) close_plane(patch_, layers_, &plane);
}

template <class Level> void PlaneWalk<Level>::write_plane(PetscInt k) {
  const Patch &own = pass_.own;
  const Range  rows = this->rows(0);
  for (PetscInt m = rows.begin; m < rows.end; m++) {
    const T     *values = u_[steps_].at(k).row(m) + own_from_[0];
    const size_t at = layers_.index(own, 0, m - own_from_[layers_.across], k - own_from_[layers_.slow]);
    std::copy_n(values, own.size[0], pass_.out + at);
  }
}

template <class Level> void PlaneWalk<Level>::residual_plane(PetscInt k) {
  Plane<T>   &plane = r_.put(k);
  const bool  of_zero = !starts_ && pass_.begin == pass_.end;
  const Range rows = this->rows(pass_.b_coarse ? 1 : 0);
  if (of_zero)
    for (PetscInt m = rows.begin; m < rows.end; m++) std::copy_n(b_row(m, k), nx_, plane.row(m));
  else if constexpr (variable)
    couple(u_[steps_], rows, k, nullptr, &plane);
  else
    for (PetscInt m = rows.begin; m < rows.end; m++)
      row::residual(axes_row(m, k), neighbours(u_[steps_], m, k), b_row(m, k), padded_, plane.row(m));
  for (PetscInt m = rows.begin; pass_.residual && m < rows.end; m++)
    std::copy_n(plane.row(m), nx_, pass_.residual + layers_.index(patch_, 0, m, k));
  if (!pass_.b_coarse) return;
  weigh_by_mass(k, false, &plane);
  close_plane(patch_, layers_, &plane);
}

// beyond: at points that belong to neighbours, too
template <class Level> void PlaneWalk<Level>::weigh_by_mass(PetscInt k, bool beyond, Plane<T> *r) {
  if constexpr (variable) {
    if (!level_.mass) return;
    const PetscInt rows = beyond && patch_.N[layers_.across] > 1 ? 1 : 0, columns = beyond && patch_.N[0] > 1 ? 1 : 0;
    for (PetscInt m = -rows; m < layers_.rows + rows; m++)
      row::multiply(at(level_.mass, -columns, m, k), (int)(nx_ + 2 * columns), r->row(m) - columns);
  }
}

// To the coarse planes whose fine planes are all there.
template <class Level> void PlaneWalk<Level>::restrict_ready(PetscInt newest, bool all) {
  const Patch &coarse = pass_.coarse_b;
  const int    slow = layers_.slow;
  for (; next_coarse_ < coarse.size[slow]; next_coarse_++) {
    const PetscInt center = level_.coarse_point(slow, coarse.start[slow] + next_coarse_);
    if (!all && center + (level_.coarsens[slow] ? 1 : 0) > newest) return;
    restrict_plane(next_coarse_);
  }
}

template <class Level> void PlaneWalk<Level>::restrict_plane(PetscInt K) {
  const Patch   &coarse = pass_.coarse_b;
  const int      across = layers_.across, slow = layers_.slow, n = (int)coarse.size[0];
  const bool     coarsens = level_.coarsens[0];
  const int      columns = coarsens ? 2 * n : n;
  const PetscInt before = // columns of no coarse point of this rank
      level_.coarse_point(0, coarse.start[0]) - (coarsens ? 1 : 0) - first_column_;
  const PetscInt k = level_.coarse_point(slow, coarse.start[slow] + K);
  const int      planes = level_.coarsens[slow] ? 1 : 0, rows = level_.coarsens[across] ? 1 : 0;
  for (PetscInt J = 0; J < coarse.size[across]; J++) {
    const PetscInt m = level_.coarse_point(across, coarse.start[across] + J);
    T             *sum = pass_.b_coarse + Layers(coarse, slow).index(coarse, 0, J, K);
    const PetscInt first = first_column_ + before;
    if constexpr (variable) {
      T *const lower = coarsens ? buffer_[0].data() : sum, *const upper = buffer_[1].data();
      row::WeightedRows<T> of;
      for (int z = -planes; z <= planes; z++)
        for (int y = -rows; y <= rows; y++) { // a point before the coarse one gives to its upper coarse point
          const auto weights = [&](int x) {
            return this->weights(level_.restriction, x, y < 0, z < 0, m + y, k + z) + before;
          };
          of.add(r_.at(k + z).row(m + y) + first, weights(0), coarsens ? weights(1) : nullptr);
        }
      with_constants<1, 3, 9>(of.count, coarsens, [&](auto rows_known, auto known) {
        row::weigh<decltype(rows_known)::value, decltype(known)::value>(of, columns + coarsens, lower, upper);
      });
      if (coarsens) row::collect(lower, upper, n, sum);
    } else {
      std::fill_n(sum, n, T(0));
      T *const along = buffer_[0].data();
      std::fill_n(along, columns + 1, T(0));
      for (int z = -planes; z <= planes; z++)
        for (int y = -rows; y <= rows; y++)
          row::add(point_across(m + y).restriction[y < 0] * point_slow(k + z).restriction[z < 0],
                   r_.at(k + z).row(m + y) + first, columns + coarsens, along);
      row::add_restricted(along, restriction_[0].data() + before, restriction_[1].data() + before, coarsens, columns,
                          sum);
    }
  }
}

template <class Level> void PlaneWalk<Level>::run() {
  if (pass_.r.u) return restrict_field();
  const Range of_out = planes(0), of_residual = planes(pass_.b_coarse ? 1 : 0);
  for (PetscInt k = -1; k <= layers_.planes + steps_; k++) {
    if (k <= layers_.planes) begin_plane(k);
    for (int s = 1; s <= steps_; s++)
      if (planes(beyond(s)).has(k - s)) smooth_plane(s, k - s);
    if (of_out.has(k - steps_) && pass_.out) write_plane(k - steps_);
    const PetscInt q = k - steps_ - 1; // its neighbours are there
    if (!of_residual.has(q) || !(pass_.residual || pass_.b_coarse)) continue;
    residual_plane(q);
    if (pass_.b_coarse) restrict_ready(q, q == of_residual.end - 1);
  }
}

template <class Level> void PlaneWalk<Level>::restrict_field() {
  for (PetscInt k = -1; k <= layers_.planes; k++) {
    if ((k < 0 || k == layers_.planes) && patch_.N[layers_.slow] == 1) continue;
    Plane<T> &plane = r_.put(k);
    PetscInt  from[3];
    layers_.to_axes(0, 0, k, from);
    load_plane(patch_, layers_, pass_.r, from, &plane);
    weigh_by_mass(k, true, &plane);
    restrict_ready(k, k == layers_.planes);
  }
  restrict_ready(layers_.planes, true);
}

} // namespace shellac
