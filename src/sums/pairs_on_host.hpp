#pragma once
// The tiled pair sum on the host, around the innermost loops of a kernel function.

#include <algorithm>
#include <vector>

#include "sums/loops_on_host.hpp"
#include "sums/pair_sum.hpp"

namespace shellac {
namespace host {

constexpr int chunk = 2048; // targets in the second cache

// The innermost loops in one form of sum.
template <class T> struct Loops {
  using Sum = typename FunctionLoops<T>::Sum;
  Sum         plain, careful; // the same loop where it always takes care
  bool        singular;
  int         parts, in, out; // of a value; values of a source, of a target
  const void *function;

  Loops(const FunctionLoops<T> &all, SumForm form, int columns, bool singular, int parts, const void *function)
      : singular(singular), parts(parts), in(form == SumForm::gradient_transposed ? 3 : columns),
        out(form == SumForm::gradient ? 3 : columns), function(function) {
    plain = careful = form == SumForm::gradient              ? all.gradient
                      : form == SumForm::gradient_transposed ? all.gradient_transposed
                      : columns > 1                          ? all.columns
                                                             : all.careful;
    if (form == SumForm::value && columns == 1) plain = all.value;
  }
};

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
    for (PetscInt g = 0; g < s.groups; g++) {
      const PetscInt *first = s.first + s.group[g].list;
      sum_group(s, loops, scale, factor, first_column, s.group[g], s.list + first[0], first[1] - first[0]);
    }
  } else {
    const Range all = {0, s.sources.n};
    sum_group(s, loops, scale, factor, first_column, {0, s.targets.n, 0, {s.center[0], s.center[1], s.center[2]}}, &all,
              1);
  }
}

// All columns of a sum. parts: of a value; scale, factor: of coordinates, of sums.
template <class T>
void sum_columns_of(const PairSum &s, const FunctionLoops<T> &loops, bool singular, int parts, const void *function,
                    double scale, double factor) {
  const int columns = s.form == SumForm::value ? s.columns : 1;
  for (int column = 0; column < columns; column += most_columns)
    sum_targets(s, Loops<T>(loops, s.form, std::min<int>(most_columns, columns - column), singular, parts, function),
                scale, factor, column);
}

} // namespace host
} // namespace shellac
