#pragma once
// The tiled pair sum on the host, vectorised over targets.
//
// Only the innermost loops depend on the kernel function. They are compiled for each function and form of a sum, and
// called for a tile of sources and a few targets at a time.

#include <algorithm>
#include <vector>

#include "device/stream.hpp"
#include "sums/pair_term.hpp"

namespace shellac {
namespace host {

constexpr int lanes = 32;        // targets that are computed together
constexpr int tile = 128;        // sources in the first cache
constexpr int chunk = 2048;      // targets in the second
constexpr int most_columns = 16; // right-hand sides that share the distances and the function
constexpr int most_parts = 2 * most_columns;

// A tile of sources and a few targets, as the innermost loops see them. Complex values are two parts each.
template <class T> struct alignas(64) Tile {
  T y[3][tile], w[most_parts][tile]; // coordinates and values of sources
  T sum[most_parts][lanes];          // results
};

// tile.sum += the terms of the sources [begin, end) at the targets x, of one column or of a gradient.
template <class Function, class T, SumForm form, bool careful>
SHELLAC_WIDEST void sum_one(const void *function, const T (*x)[lanes], int, bool, int begin, int end, Tile<T> &t) {
  using Term = PairTerm<Function, T, form, 1, careful>;
  using V = typename Term::V;
  constexpr int  parts = Scalar<V>::parts;
  const Function f = *static_cast<const Function *>(function);
  T(*sum)[lanes] = t.sum;
  for (int j = begin; j < end; j++) {
    V weight[Term::in];
    for (int c = 0; c < Term::in; c++)
      if constexpr (parts == 2)
        weight[c] = {t.w[2 * c][j], t.w[2 * c + 1][j]};
      else
        weight[c] = t.w[c][j];
    const T y0 = t.y[0][j], y1 = t.y[1][j], y2 = t.y[2][j];
#pragma GCC ivdep
    for (int l = 0; l < lanes; l++) {
      const T dx = x[0][l] - y0, dy = x[1][l] - y1, dz = x[2][l] - y2;
      V       s[Term::out];
      for (int c = 0; c < Term::out; c++)
        if constexpr (parts == 2)
          s[c] = {sum[2 * c][l], sum[2 * c + 1][l]};
        else
          s[c] = sum[c][l];
      Term::add(f, dx, dy, dz, dx * dx + dy * dy + dz * dz, weight, s);
      for (int c = 0; c < Term::out; c++)
        if constexpr (parts == 2)
          sum[2 * c][l] = s[c].re, sum[2 * c + 1][l] = s[c].im;
        else
          sum[c][l] = s[c];
    }
  }
}

// The same of many columns: the function first, then the columns. keep: g(x, x) is what the function gives.
template <class Function, class T>
SHELLAC_WIDEST void sum_columns(const void *function, const T (*x)[lanes], int columns, bool keep, int begin, int end,
                                Tile<T> &t) {
  using V = typename Function::Value;
  constexpr int  parts = Scalar<V>::parts;
  const Function f = *static_cast<const Function *>(function);
  const T        least = keep ? T(-1) : coincident<T>();
  for (int j = begin; j < end; j++) {
    const T y0 = t.y[0][j], y1 = t.y[1][j], y2 = t.y[2][j];
    T       g[parts][lanes];
#pragma GCC ivdep
    for (int l = 0; l < lanes; l++) {
      const T dx = x[0][l] - y0, dy = x[1][l] - y1, dz = x[2][l] - y2, r2 = dx * dx + dy * dy + dz * dz;
      const V value = or_zero(r2 > least, f.value(r2));
      if constexpr (parts == 2)
        g[0][l] = value.re, g[1][l] = value.im;
      else
        g[0][l] = value;
    }
    for (int c = 0; c < columns; c++) {
      if constexpr (parts == 2) {
        const T re = t.w[2 * c][j], im = t.w[2 * c + 1][j];
        for (int l = 0; l < lanes; l++) {
          t.sum[2 * c][l] += g[0][l] * re;
          t.sum[2 * c][l] -= g[1][l] * im;
          t.sum[2 * c + 1][l] += g[0][l] * im;
          t.sum[2 * c + 1][l] += g[1][l] * re;
        }
      } else {
        const T w = t.w[c][j];
        for (int l = 0; l < lanes; l++) t.sum[c][l] += g[0][l] * w;
      }
    }
  }
}

// The innermost loops of a function in one form of sum.
template <class T> struct Loops {
  using Sum = void (*)(const void *function, const T (*x)[lanes], int columns, bool keep, int begin, int end,
                       Tile<T> &t);
  Sum         plain, careful; // careful: pairs at one place count for nothing; the same loop where it always takes care
  bool        singular;
  int         parts, in, out; // of a value; values of a source, of a target
  const void *function;
};
template <class Function, class T> Loops<T> loops_of(SumForm form, int columns, const Function *f) {
  Loops<T> l;
  l.singular = Function::singular;
  l.parts = Scalar<typename Function::Value>::parts;
  l.in = form == SumForm::gradient_transposed ? 3 : columns;
  l.out = form == SumForm::gradient ? 3 : columns;
  l.function = f;
  if (form == SumForm::gradient)
    l.plain = l.careful = sum_one<Function, T, SumForm::gradient, true>;
  else if (form == SumForm::gradient_transposed)
    l.plain = l.careful = sum_one<Function, T, SumForm::gradient_transposed, true>;
  else if (columns > 1)
    l.plain = l.careful = sum_columns<Function, T>;
  else {
    l.plain = sum_one<Function, T, SumForm::value, false>;
    l.careful = sum_one<Function, T, SumForm::value, true>;
  }
  return l;
}

template <class T>
void sum_group(const PairSum &s, const Loops<T> &loops, double scale, double factor, int first_column,
               const Group &targets, const Range *list, PetscInt ranges) {
  const int           parts = loops.parts, in = loops.in, out = loops.out;
  std::vector<double> totals((size_t)chunk * out * parts);
  std::vector<T>      coordinates((size_t)3 * chunk);
  Tile<T>             t;
  const bool          narrow = sizeof(T) == sizeof(float);
  const bool          keep = s.own_value_at_zero && !loops.singular;
  const auto          scaled = [&](PetscReal x, int a) { return (T)(narrow ? (x - targets.center[a]) * scale : x); };

  for (PetscInt from = targets.begin; from < targets.end; from += chunk) {
    const int n = (int)std::min<PetscInt>(chunk, targets.end - from), blocks = (n + lanes - 1) / lanes;
    T(*x)[3][lanes] = reinterpret_cast<T(*)[3][lanes]>(coordinates.data());
    double(*total)[lanes] = reinterpret_cast<double(*)[lanes]>(totals.data()); // [block * out * parts + part]
    std::fill(totals.begin(), totals.begin() + (size_t)blocks * out * parts * lanes, 0);
    for (int i = 0; i < blocks * lanes; i++) // the last target again where there are no more
      for (int a = 0; a < 3; a++) x[i / lanes][a][i % lanes] = scaled(s.targets.x[a][from + std::min(i, n - 1)], a);
    for (PetscInt r = 0; r < ranges; r++) {
      for (PetscInt source = list[r].begin; source < list[r].end; source += tile) {
        const int m = (int)std::min<PetscInt>(tile, list[r].end - source);
        for (int j = 0; j < m; j++) {
          for (int a = 0; a < 3; a++) t.y[a][j] = scaled(s.sources.x[a][source + j], a);
          for (int c = 0; c < in; c++) {
            const PetscReal *value = &s.in.data[s.in.at(source + j, first_column + c)];
            const bool       beyond = s.form == SumForm::gradient_transposed && c >= s.dim;
            for (int p = 0; p < parts; p++) t.w[c * parts + p][j] = beyond ? 0 : (T)value[p];
          }
        }
        for (int b = 0; b < blocks; b++) {
          for (int begin = 0; begin < m; begin += s.block) {
            const int  end = std::min(begin + s.block, m);
            const auto sum = [&](typename Loops<T>::Sum loop) {
              std::fill(&t.sum[0][0], &t.sum[0][0] + out * parts * lanes, T(0));
              loop(loops.function, x[b], out, keep, begin, end, t);
            };
            if (loops.plain == loops.careful || !s.own_value_at_zero)
              sum(loops.careful);
            else {
              sum(loops.plain);
              if (loops.singular) {
                T unsound = 0;
                for (int c = 0; c < out * parts; c++)
                  for (int l = 0; l < lanes; l++) unsound += t.sum[c][l] - t.sum[c][l];
                if (!(unsound == 0)) sum(loops.careful);
              }
            }
            for (int c = 0; c < out * parts; c++)
              for (int l = 0; l < lanes; l++) total[b * out * parts + c][l] += t.sum[c][l];
          }
        }
      }
    }
    const int columns = s.form == SumForm::gradient ? s.dim : out;
    for (int i = 0; i < n; i++)
      for (int c = 0; c < columns; c++)
        for (int p = 0; p < parts; p++) {
          PetscReal   *to = &s.out.data[s.out.at(from + i, first_column + c) + p];
          const double value = factor * total[i / lanes * out * parts + c * parts + p][i % lanes];
          *to = (PetscReal)(s.add ? *to + value : value);
        }
  }
}

// All targets, or those of the lists.
template <class T>
void sum_targets(const PairSum &s, const Loops<T> &loops, double scale, double factor, int first_column) {
  if (s.group) {
    for (PetscInt g = 0; g < s.groups; g++)
      sum_group(s, loops, scale, factor, first_column, s.group[g], s.list + s.first[g], s.first[g + 1] - s.first[g]);
  } else {
    const Range all = {0, s.sources.n};
    sum_group(s, loops, scale, factor, first_column, {0, s.targets.n, {s.center[0], s.center[1], s.center[2]}}, &all,
              1);
  }
}

} // namespace host
} // namespace shellac
