#pragma once
// The innermost loops of a pair sum on the host, vectorised over targets. They depend on the kernel function and are
// compiled for each function and form of a sum, and called for a tile of sources and a few targets at a time. Formulas are
// compiled with them at run time.

#include "device/stream.hpp"
#include "sums/pair_term.hpp"

namespace shellac {
namespace host {

constexpr int lanes = 32;        // targets that are computed together
constexpr int tile = 128;        // sources in the first cache
constexpr int most_columns = 16; // right-hand sides that share the distances and the function
constexpr int most_parts = 2 * most_columns;

// A tile of sources and a few targets, for the innermost loops. Complex values are two parts each.
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

// The innermost loops of a function. careful: coincident pairs add nothing; the other loops always test for them.
template <class T> struct FunctionLoops {
  using Sum = void (*)(const void *function, const T (*x)[lanes], int columns, bool keep, int begin, int end,
                       Tile<T> &t);
  Sum value, careful, columns, gradient, gradient_transposed;
};
template <class Function, class T> FunctionLoops<T> loops_of() {
  return {sum_one<Function, T, SumForm::value, false>, sum_one<Function, T, SumForm::value, true>,
          sum_columns<Function, T>, sum_one<Function, T, SumForm::gradient, true>,
          sum_one<Function, T, SumForm::gradient_transposed, true>};
}

} // namespace host
} // namespace shellac
