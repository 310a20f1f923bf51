#pragma once
// The order in which a cycle visits its levels. Multigrid cycles as in Trottenberg, Oosterlee and Schüller,
// "Multigrid" (2001), sections 2.4 and 2.6.

namespace shellac {

enum class Cycle { automatic, V, W, F };
enum class Guess { zero, given, interpolated };
constexpr int max_levels = 64;

inline int visits(Cycle cycle) {
  return cycle == Cycle::V ? 1 : 2;
}

// Levels: down(level, guess) smooths and makes the next level's right-hand side; up(level) takes the next level's
// solution and smooths; solve() solves the last level exactly.
template <class Levels> void run_cycle(Levels &levels, int top, int last, Cycle cycle, Guess guess) {
  Cycle kind[max_levels];
  int   left[max_levels];
  int   l = top;

  kind[top] = cycle;
  left[top] = 0;
  while (true) {
    for (; l < last; l++) {
      levels.down(l, guess);
      guess = Guess::zero;
      kind[l + 1] = kind[l];
      left[l + 1] = visits(kind[l]) - 1;
    }
    levels.solve();
    if (l > top) l--, levels.up(l); // once is enough there
    while (true) {
      if (l == top) return;
      if (left[l] > 0) { // once more, from what there is
        left[l]--;
        if (kind[l] == Cycle::F) kind[l] = Cycle::V;
        guess = Guess::given;
        break;
      }
      l--;
      levels.up(l);
    }
  }
}

// Full multigrid: the right-hand side goes down to the last level; then each level starts from the next one's solution
// and is improved by a cycle.
template <class Levels> void run_full(Levels &levels, int top, int last, Cycle cycle) {
  for (int l = top; l < last; l++) levels.restrict_b(l);
  levels.solve();
  for (int l = last - 1; l >= top; l--) run_cycle(levels, l, last, cycle, Guess::interpolated);
}

} // namespace shellac
