#pragma once
// The walk of planes.hpp: correction, smoothing steps, residual and restriction, each of one plane at a time.

#include "multigrid/planes.hpp"

namespace shellac {

template <class T> class PlaneWalk {
  using R = typename RealOf<T>::type;

public:
  explicit PlaneWalk(const PlanePass<T> &pass);
  void run();
  // Restricts a grid function, of which neighbouring ranks have a part.
  void restrict_field(const Field<T> &r);

private:
  bool inside(PetscInt k) const { return k >= 0 && k < layers_.planes; }
  // values at the points of a level's arrays, from column i on
  const T *at(const T *values, PetscInt i, PetscInt m, PetscInt k) const {
    return values + layers_.index(level_.grown, i, m, k);
  }
  const T *coefficients(int slot, PetscInt m, PetscInt k) const {
    return at(level_.rows + (size_t)slot * grown_points_, 0, m, k);
  }
  // of a corner of coarse points among those of a transfer, from first_column_ on
  const T *weights(const T *of, int x, int across, int slow, PetscInt m, PetscInt k) const {
    PetscInt c[3];
    c[0] = x, c[layers_.across] = across, c[layers_.slow] = slow;
    const PetscInt corner = c[0] + (level_.coarsens[0] ? 2 : 1) * (c[1] + (level_.coarsens[1] ? 2 : 1) * c[2]);
    return at(of + (size_t)corner * grown_points_, first_column_, m, k);
  }
  const AxisPoint<R> &point_across(PetscInt m) const { return level_.axis[layers_.across][m]; }
  const AxisPoint<R> &point_slow(PetscInt k) const { return level_.axis[layers_.slow][k]; }

  const T           *b_row(PetscInt m, PetscInt k);
  row::AxesRow<T>    axes_row(PetscInt m, PetscInt k) const;
  row::Neighbours<T> neighbours(const PlaneRing<T> &u, PetscInt m, PetscInt k) const;
  const T           *inverse_diagonal(int step, PetscInt m, PetscInt k);
  void               find_residual(const row::Neighbours<T> &u, PetscInt m, PetscInt k, T *r);
  void               couple(const row::Neighbours<T> &u, PetscInt m, PetscInt k, const T *inverse, R omega, T *result);
  void               begin_plane(PetscInt k);
  void               correct_plane(PetscInt k, Plane<T> *plane);
  void               smooth_plane(int s, PetscInt k);
  void               write_plane(PetscInt k);
  void               residual_plane(PetscInt k);
  void               weigh_by_mass(PetscInt k, bool beyond, Plane<T> *r);
  void               restrict_ready(PetscInt newest, bool all);
  void               restrict_plane(PetscInt K);

  const PlanePass<T> &pass_;
  const LevelPart<T> &level_;
  const Patch        &patch_;
  const Layers        layers_;
  const PetscInt      nx_;
  const size_t        grown_points_;
  const bool          starts_; // from values, not from zero
  const bool          alone_;  // no neighbouring rank has a part in the planes that steps make
  const int           steps_;  // those that take neighbours
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
  std::vector<T>            b_, buffer_;
  std::vector<PlaneRing<T>> u_; // of each step
  PlaneRing<T>              r_, e_;
};

template <class T>
PlaneWalk<T>::PlaneWalk(const PlanePass<T> &pass)
    : pass_(pass), level_(pass.level), patch_(pass.level.patch), layers_(patch_), nx_(layers_.nx),
      grown_points_((size_t)level_.grown.points()), starts_(pass.given || pass.corrected), alone_(is_alone(patch_)),
      steps_(starts_ || pass.end == pass.begin ? pass.end - pass.begin : pass.end - pass.begin - 1), columns_(nx_) {
  constexpr PetscInt room = 32;
  if (level_.coarsens[0]) {
    first_column_ = level_.between(0, 0) ? 0 : -1;
    columns_ = (nx_ - first_column_ + 1) / 2 * 2;
  }
  if (!level_.rows) {
    for (PetscInt i = 0; i < nx_; i++) {
      const AxisPoint<R> &x = level_.axis[0][i];
      west_.push_back(x.lower), east_.push_back(x.upper);
      for (int odd = 0; odd < 2; odd++) inverse_[odd].in.push_back(level_.red_black && i % 2 != odd ? R(0) : x.in);
    }
    for (PetscInt c = 0; c <= columns_; c++)
      for (int w = 0; w < 2; w++) {
        const AxisPoint<R> &x = level_.axis[0][first_column_ + c];
        prolong_[w].push_back(x.prolong[w]);
        restriction_[w].push_back(x.restriction[w]);
      }
  }
  for (std::vector<T> *values : {&inverse_[0].values, &inverse_[1].values, &b_, &buffer_})
    values->resize((size_t)(nx_ + room));
  u_.resize((size_t)steps_ + 1);
  for (PlaneRing<T> &ring : u_) ring.resize(nx_, layers_.rows);
  if (pass.residual || pass.b_coarse) r_.resize(nx_, layers_.rows);
  if (pass.corrected) e_.resize(pass.coarse_e.size[0], pass.coarse_e.size[layers_.across]);
}

template <class T> const T *PlaneWalk<T>::b_row(PetscInt m, PetscInt k) {
  const size_t at = layers_.index(patch_, 0, m, k);
  if (pass_.b) return pass_.b + at;
  strip::convert(pass_.b_of_vectors + at, (int)nx_, b_.data());
  return b_.data();
}

template <class T> row::AxesRow<T> PlaneWalk<T>::axes_row(PetscInt m, PetscInt k) const {
  const AxisPoint<R> &y = point_across(m), &z = point_slow(k);
  return {west_.data(), east_.data(), y.lower, y.upper, z.lower, z.upper, level_.sigma};
}

template <class T> row::Neighbours<T> PlaneWalk<T>::neighbours(const PlaneRing<T> &u, PetscInt m, PetscInt k) const {
  row::Neighbours<T> of;
  for (int z = 0; z < 3; z++)
    for (int y = 0; y < 3; y++) of.row[z][y] = u.at(k + z - 1).row(m + y - 1);
  return of;
}

template <class T> const T *PlaneWalk<T>::inverse_diagonal(int step, PetscInt m, PetscInt k) {
  if (level_.rows) return coefficients(INVERSE_DIAGONAL, m, k);
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

// b - A u along a row
template <class T> void PlaneWalk<T>::find_residual(const row::Neighbours<T> &u, PetscInt m, PetscInt k, T *r) {
  if (level_.rows)
    couple(u, m, k, nullptr, 0, r);
  else
    row::residual(axes_row(m, k), u, b_row(m, k), (int)nx_, r);
}

// By coefficients of each point: that, or where `inverse` is given a smoothing step.
template <class T>
void PlaneWalk<T>::couple(const row::Neighbours<T> &u, PetscInt m, PetscInt k, const T *inverse, R omega, T *result) {
  row::CouplingsRow<T> of = {coefficients(SHIFT, m, k),          b_row(m, k),   u.center(), inverse, omega,
                             coefficients(FIRST_COUPLING, m, k), grown_points_, {}};
  int                  count = 0;
  level_.neighbours.each(
      [&](const PetscInt *d) { of.there[count++] = u.row[d[layers_.slow] + 1][d[layers_.across] + 1] + d[0]; });
  const auto run = [&](auto couplings) {
    constexpr int all = decltype(couplings)::value;
    if (inverse)
      row::couple<all, true>(of, (int)nx_, result);
    else
      row::couple<all, false>(of, (int)nx_, result);
  };
  switch (count) { // all counts that stars and boxes have
  case 2:
    return run(std::integral_constant<int, 2>());
  case 4:
    return run(std::integral_constant<int, 4>());
  case 6:
    return run(std::integral_constant<int, 6>());
  case 8:
    return run(std::integral_constant<int, 8>());
  default:
    return run(std::integral_constant<int, 26>());
  }
}

// The plane k of the values that the walk starts from; beyond the patch those of the guess.
template <class T> void PlaneWalk<T>::begin_plane(PetscInt k) {
  if (!inside(k) && (!pass_.given || (alone_ && !patch_.periodic[layers_.slow]))) return;
  Plane<T> &plane = u_[0].put(k);
  if (pass_.given)
    load_plane(patch_, layers_, pass_.guess, k, &plane);
  else if (pass_.corrected)
    plane.clear();
  if (!inside(k)) return;
  if (pass_.corrected) correct_plane(k, &plane);
  if (!starts_ && pass_.end > pass_.begin)
    for (PetscInt m = 0; m < layers_.rows; m++)
      row::start(inverse_diagonal(pass_.begin, m, k), level_.omega[pass_.begin], b_row(m, k), (int)nx_, plane.row(m));
  if (alone_) close_plane(patch_, layers_, &plane);
}

template <class T> void PlaneWalk<T>::correct_plane(PetscInt k, Plane<T> *plane) {
  const Patch   &coarse = pass_.coarse_e;
  const int      across = layers_.across, slow = layers_.slow, columns = (int)columns_;
  const bool     coarsens = level_.coarsens[0];
  const PetscInt K = level_.below(slow, k) - coarse.start[slow];
  // the coarse point of column 1, or 0 where all are coarse
  const PetscInt I = level_.below(0, first_column_ + (coarsens ? 1 : 0)) - coarse.start[0];
  const int      planes = level_.between(slow, k) ? 2 : 1;
  for (int z = 0; z < planes; z++)
    if (!e_.has(K + z)) load_plane(coarse, Layers(coarse, slow), pass_.e, K + z, &e_.put(K + z));
  for (PetscInt m = 0; m < layers_.rows; m++) {
    T             *fine = plane->row(m) + first_column_;
    const PetscInt J = level_.below(across, m) - coarse.start[across];
    const int      rows = level_.between(across, m) ? 2 : 1, coarse_columns = coarsens ? columns / 2 : columns;
    if (!level_.rows) std::fill_n(buffer_.data(), coarse_columns + 1, T(0));
    for (int z = 0; z < planes; z++)
      for (int y = 0; y < rows; y++) {
        const T *e = e_.at(K + z).row(J + y) + I;
        if (level_.rows)
          row::add_interpolated(e, weights(level_.weights, 0, y, z, m, k),
                                coarsens ? weights(level_.weights, 1, y, z, m, k) : nullptr, coarsens, columns, fine);
        else
          row::add(point_across(m).prolong[y] * point_slow(k).prolong[z], e - 1, coarse_columns + 1, buffer_.data());
      }
    if (!level_.rows)
      row::add_interpolated(buffer_.data() + 1, prolong_[0].data(), prolong_[1].data(), coarsens, columns, fine);
  }
}

// Step s from the values of the one before it.
template <class T> void PlaneWalk<T>::smooth_plane(int s, PetscInt k) {
  const int n = (int)nx_, step = pass_.begin + s - (starts_ ? 1 : 0);
  const R   omega = level_.omega[step];
  Plane<T> &plane = u_[s].put(k);
  for (PetscInt m = 0; m < layers_.rows; m++) {
    const row::Neighbours<T> u = neighbours(u_[s - 1], m, k);
    const T                 *inverse = inverse_diagonal(step, m, k);
    if (level_.rows)
      couple(u, m, k, inverse, omega, plane.row(m));
    else
      row::smooth(axes_row(m, k), u, b_row(m, k), inverse, omega, n, plane.row(m));
  }
  if (alone_) close_plane(patch_, layers_, &plane);
}

template <class T> void PlaneWalk<T>::write_plane(PetscInt k) {
  for (PetscInt m = 0; m < layers_.rows; m++) {
    const T     *values = u_[steps_].at(k).row(m);
    const size_t at = layers_.index(patch_, 0, m, k);
    if (pass_.out) strip::convert(values, (int)nx_, pass_.out + at);
    if (pass_.out_of_vectors) strip::convert(values, (int)nx_, pass_.out_of_vectors + at);
  }
}

template <class T> void PlaneWalk<T>::residual_plane(PetscInt k) {
  Plane<T>  &plane = r_.put(k);
  const bool of_zero = !starts_ && pass_.begin == pass_.end;
  for (PetscInt m = 0; m < layers_.rows; m++) {
    T *r = plane.row(m);
    if (of_zero)
      std::copy_n(b_row(m, k), nx_, r);
    else
      find_residual(neighbours(u_[steps_], m, k), m, k, r);
    if (pass_.residual) std::copy_n(r, nx_, pass_.residual + layers_.index(patch_, 0, m, k));
  }
  if (!pass_.b_coarse) return;
  weigh_by_mass(k, false, &plane);
  close_plane(patch_, layers_, &plane);
}

// beyond: at points that belong to neighbours, too
template <class T> void PlaneWalk<T>::weigh_by_mass(PetscInt k, bool beyond, Plane<T> *r) {
  if (!level_.mass) return;
  const PetscInt rows = beyond && patch_.N[layers_.across] > 1 ? 1 : 0, columns = beyond && patch_.N[0] > 1 ? 1 : 0;
  for (PetscInt m = -rows; m < layers_.rows + rows; m++)
    row::multiply(at(level_.mass, -columns, m, k), (int)(nx_ + 2 * columns), r->row(m) - columns);
}

// To the coarse planes whose fine planes are all there.
template <class T> void PlaneWalk<T>::restrict_ready(PetscInt newest, bool all) {
  const Patch &coarse = pass_.coarse_b;
  const int    slow = layers_.slow;
  for (; next_coarse_ < coarse.size[slow]; next_coarse_++) {
    const PetscInt center = level_.coarse_point(slow, coarse.start[slow] + next_coarse_);
    if (!all && center + (level_.coarsens[slow] ? 1 : 0) > newest) return;
    restrict_plane(next_coarse_);
  }
}

template <class T> void PlaneWalk<T>::restrict_plane(PetscInt K) {
  const Patch   &coarse = pass_.coarse_b;
  const int      across = layers_.across, slow = layers_.slow, n = (int)coarse.size[0];
  const bool     coarsens = level_.coarsens[0];
  const int      columns = coarsens ? 2 * n : n;
  const PetscInt before =
      coarsens ? level_.coarse_point(0, coarse.start[0]) - 1 - first_column_ : 0; // columns of no coarse point
  const PetscInt k = level_.coarse_point(slow, coarse.start[slow] + K);
  const int      planes = level_.coarsens[slow] ? 1 : 0, rows = level_.coarsens[across] ? 1 : 0;
  for (PetscInt J = 0; J < coarse.size[across]; J++) {
    const PetscInt m = level_.coarse_point(across, coarse.start[across] + J);
    T             *sum = pass_.b_coarse + Layers(coarse, slow).index(coarse, 0, J, K);
    std::fill_n(sum, n, T(0));
    if (!level_.rows) std::fill_n(buffer_.data(), columns + 1, T(0));
    for (int z = -planes; z <= planes; z++)
      for (int y = -rows; y <= rows; y++) {
        const T  *r = r_.at(k + z).row(m + y) + first_column_ + before;
        const int before_y = y < 0 ? 1 : 0, before_z = z < 0 ? 1 : 0; // such a point gives to its upper coarse point
        if (level_.rows)
          row::add_restricted(r, weights(level_.restriction, 0, before_y, before_z, m + y, k + z) + before,
                              coarsens ? weights(level_.restriction, 1, before_y, before_z, m + y, k + z) + before
                                       : nullptr,
                              coarsens, columns, sum);
        else
          row::add(point_across(m + y).restriction[before_y] * point_slow(k + z).restriction[before_z], r,
                   columns + (coarsens ? 1 : 0), buffer_.data());
      }
    if (!level_.rows)
      row::add_restricted(buffer_.data(), restriction_[0].data() + before, restriction_[1].data() + before, coarsens,
                          columns, sum);
  }
}

template <class T> void PlaneWalk<T>::run() {
  const PetscInt planes = layers_.planes;
  for (PetscInt k = -1; k <= planes + steps_; k++) {
    if (k <= planes) begin_plane(k);
    for (int s = 1; s <= steps_; s++)
      if (inside(k - s)) smooth_plane(s, k - s);
    if (inside(k - steps_) && (pass_.out || pass_.out_of_vectors)) write_plane(k - steps_);
    const PetscInt q = k - steps_ - 1; // its neighbours are there
    if (!inside(q) || !(pass_.residual || pass_.b_coarse)) continue;
    residual_plane(q);
    if (pass_.b_coarse) restrict_ready(q, q == planes - 1);
  }
}

template <class T> void PlaneWalk<T>::restrict_field(const Field<T> &r) {
  for (PetscInt k = -1; k <= layers_.planes; k++) {
    if (!inside(k) && patch_.N[layers_.slow] == 1) continue;
    Plane<T> &plane = r_.put(k);
    load_plane(patch_, layers_, r, k, &plane);
    weigh_by_mass(k, true, &plane);
    restrict_ready(k, k == layers_.planes);
  }
  restrict_ready(layers_.planes, true);
}

} // namespace shellac
