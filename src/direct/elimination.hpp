#pragma once
// Tridiagonal systems along an axis, one for each mode of the others. A line may lie in pieces: on several ranks, or on a
// GPU for more threads. The last unknown of a piece is its separator. A first pass over the values finds what each piece
// says of its ends, which is a tridiagonal system of the separators; with its solution each piece is solved by itself.
// H. H. Wang, A parallel method for tridiagonal equations, ACM Trans. Math. Softw. 7 (1981).

#include "device/mirror.hpp"
#include "direct/axis_modes.hpp"
#include "direct/modes.hpp"
#include "direct/moves.hpp"

namespace shellac {

// What is known of a piece, in this order: its separator is value + left times the one before it + right times the next
// piece's first unknown. The piece's own first unknown is value_of_first + left_of_first times the separator before it
// + right_of_first times its own one. part, constant: see Systems; only where a system may be singular. SolveEnds leaves
// the separator before the piece and its own in the first two places.
enum EndOf { value, left, right, value_of_first, left_of_first, right_of_first, part, constant, before = 0, own = 1 };

// Row j is -lower x[j-1] + (lower + upper + shift) x[j] - upper x[j+1]. No pivoting: the rows are diagonally dominant, or
// those of a definite matrix, up to weights. Where a system is singular, `lower` is added to its last diagonal entry, which
// leaves in the last row what b has outside the range. `part` times `repair` spreads it over all rows evenly, and `constant`
// makes the mean zero; both are sums of b with weights.
template <class T> struct Systems {
  Symbol           symbol;
  PetscReal        scale;
  size_t           stride[3]; // of the part's values
  int              axis;
  PetscInt         N, first, size;                   // points of the axis; of them the part's
  PetscInt         pieces;                           // of the part
  const PetscReal *lower, *upper;                    // k/m of both edges [N]
  const PetscReal *for_part, *for_constant, *repair; // weights [N]
  bool             free;                             // a system without shift is singular
  bool             split;                            // there are several pieces, or the axis is periodic
  T               *values;
  T               *work;       // entries after elimination: [size][systems] on a GPU, [size][of a run] on the host
  size_t           systems[2]; // of the part; along the first axis across
  PetscScalar     *ends;       // as the values, but [pieces][ends_of_piece] along the axis
  size_t           ends_stride[3];

  SHELLAC_HD PetscInt begin(PetscInt piece) const { return (PetscInt)((PetscInt64)size * piece / pieces); }
  SHELLAC_HD int      ends_of_piece() const { return free ? constant + 1 : part; }
  SHELLAC_RUN size_t  at_ends(const PetscInt p[3]) const {
    size_t at = 0;
    for (int d = 0; d < 3; d++) at += (size_t)p[d] * (size_t)(d == axis ? ends_of_piece() : 1) * ends_stride[d];
    return at;
  }
};

// A run of n systems in one piece. slopes: the operator is no sum over axes, and has a factor of its own for each system.
template <class T, bool slopes, int most> struct Piece {
  const Systems<T> &of;
  const int         n;
  PetscInt          lo, hi; // of the part's points along the axis
  T                *x;      // the values at the part's first point
  size_t            along;
  PetscScalar       shift[most], slope[most];
  bool              singular[most], any = false;

  SHELLAC_RUN Piece(const Systems<T> &systems, const PetscInt p[3], int count) : of(systems), n(count) {
    const int a = of.axis;
    lo = of.begin(p[a]), hi = of.begin(p[a] + 1);
    along = of.stride[a];
    x = of.values;
    for (int d = 0; d < 3; d++) x += d == a ? 0 : (size_t)p[d] * of.stride[d];
    for (int i = 0; i < n; i++) {
      const PetscInt     q[3] = {p[0] + i, p[1], p[2]};
      const SymbolOfLine line = of.symbol.along(a, q);
      shift[i] = line.base, slope[i] = line.slope;
      singular[i] = of.free && PetscAbsScalar(shift[i]) <= of.symbol.zero;
      any = any || singular[i];
    }
  }
  SHELLAC_RUN auto times(int i, PetscReal edge) const {
    if constexpr (slopes)
      return slope[i] * edge;
    else
      return edge;
  }

  // Downwards, from z[i] before the first row on: f(j, i, z, upper, lower) has the row's value and its entries.
  template <class F> SHELLAC_RUN void eliminate(PetscScalar z[most], const F &f) const {
    constexpr int together = most == 1 ? 8 : 1; // on a GPU loads of several rows are under way, and wait for no store
    PetscScalar   upper[most];
    for (int i = 0; i < n; i++) upper[i] = 0;
    for (PetscInt j0 = lo; j0 < hi; j0 += together) {
      PetscScalar rows[together][most];
      PetscReal   l[together], u[together];
      const int   count = (int)PetscMin(hi - j0, (PetscInt)together);
      SHELLAC_UNROLL_ALL
      for (int s = 0; s < together; s++) {
        const PetscInt j = PetscMin(j0 + s, hi - 1);
        l[s] = of.lower[of.first + j], u[s] = of.upper[of.first + j];
        for (int i = 0; i < n; i++) rows[s][i] = x[(size_t)j * along + (size_t)i];
      }
      SHELLAC_UNROLL_ALL
      for (int s = 0; s < together; s++) {
        if (s >= count) continue;
        const PetscReal more = of.first + j0 + s == of.N - 1 ? l[s] : 0;
        for (int i = 0; i < n; i++) {
          const auto        lower = times(i, l[s]);
          const PetscScalar pivot = times(i, l[s] + u[s] + (singular[i] ? more : 0)) + shift[i] - lower * upper[i];
          const PetscScalar inverse = (PetscScalar)1 / pivot;
          z[i] = (of.scale * rows[s][i] + lower * z[i]) * inverse;
          upper[i] = times(i, u[s]) * inverse;
          f(j0 + s, i, z[i], upper[i], lower * inverse);
        }
      }
    }
  }

  // The weighted sums of a singular system's values.
  SHELLAC_RUN void add(int i, PetscScalar sums[2]) const {
    sums[0] = sums[1] = 0;
    if (!singular[i]) return;
    SHELLAC_UNROLL
    for (PetscInt j = lo; j < hi; j++) {
      const PetscScalar b = of.scale * (PetscScalar)x[(size_t)j * along + (size_t)i];
      sums[0] += of.for_part[of.first + j] * b;
      sums[1] += of.for_constant[of.first + j] * b;
    }
  }
};

template <class T, bool slopes> struct FindEnds : Systems<T> {
  using Of = Systems<T>;
  using Of::at_ends, Of::axis, Of::ends, Of::ends_stride, Of::free;
  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const Piece<T, slopes, most> piece(*this, p, n);
    const size_t                 next = ends_stride[axis];
    PetscScalar *const        to = ends + at_ends(p);
    PetscScalar               z[most], g[most], first[most], by_left[most], by_right[most];

    fill_run(z, n, PetscScalar(0)), fill_run(first, n, PetscScalar(0)), fill_run(by_left, n, PetscScalar(0));
    fill_run(g, n, PetscScalar(1)), fill_run(by_right, n, PetscScalar(1));
    piece.eliminate(z, [&](PetscInt j, int i, PetscScalar value_of, PetscScalar upper, PetscScalar lower) {
      g[i] *= lower;
      if (j < piece.hi - 1) {
        first[i] += by_right[i] * value_of;
        by_left[i] += by_right[i] * g[i];
        by_right[i] *= upper;
      } else
        to[right * next + (size_t)i] = upper;
    });
    for (int i = 0; i < n; i++) {
      PetscScalar *const at = to + i;
      at[value * next] = z[i], at[left * next] = g[i];
      at[value_of_first * next] = first[i], at[left_of_first * next] = by_left[i],
                          at[right_of_first * next] = by_right[i];
      if (!free) continue;
      PetscScalar sums[2];
      piece.add(i, sums);
      at[part * next] = sums[0], at[constant * next] = sums[1];
    }
  }
};

// The systems of separators, over lines of pieces: s = Z + U times the next one + Q times the last one, which is the one
// before the first on a periodic axis.
struct SolveEnds {
  size_t       stride[3];
  int          axis;
  PetscInt     pieces;
  int          each; // ends of a piece
  bool         periodic;
  PetscScalar *ends;

  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    size_t at = 0;
    for (int d = 0; d < 3; d++) at += d == axis ? 0 : (size_t)p[d] * stride[d];
    for (int i = 0; i < n; i++) line(ends + at + i);
  }
  SHELLAC_HD void line(PetscScalar *of) const {
    const auto at = [&](PetscInt piece, int what) -> PetscScalar & {
      return of[((size_t)piece * (size_t)each + (size_t)what) * stride[axis]];
    };
    constexpr int together = 4;
    PetscScalar   Z = 0, U = 0, Q = periodic ? 1 : 0, s = 0;
    PetscScalar   first = 0, by_last = 0, by_next = 1; // of the first separator
    PetscScalar   wrapped[3] = {0, 0, 0}, sums[2] = {0, 0};
    for (int w = 0; w < 3 && periodic; w++) wrapped[w] = at(0, value_of_first + w);
    for (PetscInt c0 = 0; c0 < pieces; c0 += together) {
      PetscScalar here[together][3] = {}, next[together][3] = {}, more[together][2] = {};
      SHELLAC_UNROLL_ALL
      for (int t = 0; t < together; t++) {
        const PetscInt c = c0 + t;
        if (c >= pieces) continue;
        for (int w = 0; w < 3; w++) here[t][w] = at(c, w);
        for (int w = 0; w < 3; w++) next[t][w] = c + 1 < pieces ? at(c + 1, value_of_first + w) : wrapped[w];
        for (int w = 0; w < 2; w++) more[t][w] = each > part ? at(c, part + w) : 0;
      }
      SHELLAC_UNROLL_ALL
      for (int t = 0; t < together; t++) {
        const PetscInt c = c0 + t;
        if (c >= pieces) continue;
        const PetscScalar v = here[t][value], l = here[t][left], r = here[t][right];
        const PetscScalar sum = v + l * Z + r * next[t][0], diagonal = (PetscScalar)1 - l * U - r * next[t][1];
        for (int w = 0; w < 2; w++) sums[w] += more[t][w];
        if (c == pieces - 1)
          s = (sum + r * next[t][2] * first) / (diagonal - l * Q - r * next[t][2] * (by_last + by_next));
        else {
          const PetscScalar inverse = (PetscScalar)1 / diagonal;
          Z = sum * inverse, U = r * next[t][2] * inverse, Q = l * Q * inverse;
          first += by_next * Z, by_last += by_next * Q, by_next *= U;
          at(c, 0) = Z, at(c, 1) = U, at(c, 2) = Q;
        }
      }
    }
    const PetscScalar last = s;
    for (PetscInt c = pieces - 1; c >= 0; c--) {
      if (c < pieces - 1) {
        s = at(c, 0) + at(c, 1) * s + at(c, 2) * last;
        at(c + 1, before) = s;
      }
      at(c, own) = s;
      if (each > part) at(c, part) = sums[0], at(c, constant) = sums[1];
    }
    at(0, before) = periodic ? last : (PetscScalar)0;
  }
};

template <class T, bool slopes> struct SolvePieces : Systems<T> {
  using Of = Systems<T>;
  using Of::at_ends, Of::axis, Of::ends, Of::ends_stride, Of::first, Of::repair, Of::split, Of::systems, Of::work;
  template <int most> SHELLAC_RUN void run(const PetscInt p[3], int n) const {
    const Piece<T, slopes, most> piece(*this, p, n);
    const PetscScalar *const     known = ends + at_ends(p);
    const size_t              next = ends_stride[axis], along = piece.along;
    T *const                     x = piece.x;
    T                           *c = work; // upper entries after elimination
    size_t                    c_stride = (size_t)n;
    PetscScalar               z[most], sums[most][2] = {};

    if (most == 1) {
      const int across = axis == 0 ? 1 : 0, other = axis == 2 ? 1 : 2;
      c += (size_t)p[across] + systems[0] * (size_t)p[other] + systems[1] * (size_t)piece.lo;
      c_stride = systems[1];
    }
    c -= c_stride * (size_t)piece.lo;
    for (int i = 0; i < n; i++) {
      z[i] = split ? known[before * next + (size_t)i] : (PetscScalar)0;
      if (piece.singular[i] && !split) piece.add(i, sums[i]);
    }
    piece.eliminate(z, [&](PetscInt j, int i, PetscScalar value_of, PetscScalar upper, PetscScalar) {
      x[(size_t)j * along + (size_t)i] = (T)value_of;
      c[(size_t)j * c_stride + (size_t)i] = (T)upper;
    });
    for (int i = 0; i < n && split; i++) {
      z[i] = known[own * next + (size_t)i];
      x[(size_t)(piece.hi - 1) * along + (size_t)i] = (T)z[i];
    }
    constexpr int together = most == 1 ? 8 : 1;
    for (PetscInt j0 = piece.hi - 2; j0 >= piece.lo; j0 -= together) {
      PetscScalar rows[together][most], upper[together][most];
      const int   count = (int)PetscMin(j0 - piece.lo + 1, (PetscInt)together);
      SHELLAC_UNROLL_ALL
      for (int s = 0; s < together; s++) {
        const PetscInt j = PetscMax(j0 - s, piece.lo);
        for (int i = 0; i < n; i++) {
          rows[s][i] = x[(size_t)j * along + (size_t)i];
          upper[s][i] = c[(size_t)j * c_stride + (size_t)i];
        }
      }
      SHELLAC_UNROLL_ALL
      for (int s = 0; s < together; s++)
        for (int i = 0; i < n && s < count; i++) {
          z[i] = rows[s][i] + upper[s][i] * z[i];
          x[(size_t)(j0 - s) * along + (size_t)i] = (T)z[i];
        }
    }
    for (int i = 0; i < n && piece.any; i++) {
      if (!piece.singular[i]) continue;
      for (int w = 0; w < 2 && split; w++) sums[i][w] = known[(size_t)(part + w) * next + (size_t)i];
      for (PetscInt j0 = piece.lo; j0 < piece.hi; j0 += together) {
        PetscScalar rows[together];
        const int   count = (int)PetscMin(piece.hi - j0, (PetscInt)together);
        SHELLAC_UNROLL_ALL
        for (int s = 0; s < together; s++) {
          const PetscInt j = PetscMin(j0 + s, piece.hi - 1);
          rows[s] = (PetscScalar)x[(size_t)j * along + (size_t)i] +
                    (repair[first + j] * sums[i][0] + sums[i][1]) / piece.slope[i];
        }
        SHELLAC_UNROLL_ALL
        for (int s = 0; s < together && s < count; s++) x[(size_t)(j0 + s) * along + (size_t)i] = (T)rows[s];
      }
    }
  }
};

// The systems of one axis of an operator, on the parts of a grid.
class TridiagonalSolve {
public:
  // Collective. parts: of all ranks, which are those of a grid of boxes; inside: what they make up.
  PetscErrorCode Create(MPI_Comm comm, const AxisModes &axis, int a, const Parts &parts, const Box &inside, bool device,
                        HaloWay way);
  // x: on this rank's part; symbol and scale: see DivideBySymbol; work: for as many values on a GPU. What is known of the
  // ends of pieces is of PetscScalar, and so are pivots.
  template <class T>
  PetscErrorCode Apply(PetscMemType memory, const Symbol &symbol, PetscReal scale, T *x, Scratch<T> *work);
  size_t         bytes() const;
  bool           between_ranks() const { return move_ != nullptr; }

private:
  template <bool slopes, class T> PetscErrorCode Run(PetscMemType memory, const Systems<T> &systems);

  int      axis_ = -1;
  Box      part_ = {}, ends_ = {}, lines_ = {}; // this rank's: of points, and of ends; before and after the move
  PetscInt N_ = 0, first_ = 0, pieces_ = 1, all_pieces_ = 1; // pieces of a part; of a line
  bool     free_ = false, periodic_ = false;
  std::unique_ptr<Move> move_; // of ends, to where lines are whole
  Mirror<PetscReal>     rows_; // lower, upper, for_part, for_constant, repair
  Scratch<PetscScalar>  known_, whole_, packed_[2];
};

} // namespace shellac
