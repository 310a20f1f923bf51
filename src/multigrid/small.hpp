#pragma once
// The small levels at the bottom of a hierarchy, visited by one team: a block of threads that does all of it in one
// launch, its arrays in shared memory, or the host. The last level is solved by the inverse of its matrix.

#include "device/arrays.hpp"
#include "multigrid/cycle.hpp"
#include "multigrid/points.hpp"

namespace shellac {

// Who does the work: all the points of a box, and then together to the next step.
struct HostTeam {
  template <class Function> void over(const Patch &patch, const Function &f) const { for_each_on_host(patch.all(), f); }
};
#if SHELLAC_CUDA
struct BlockTeam {
  template <class Function> __device__ __forceinline__ void over(const Patch &patch, const Function &f) const {
    const int nx = (int)patch.size[0], ny = (int)patch.size[1], nz = (int)patch.size[2];
    if (nx == 1 && ny == 1) {
      for (int k = threadIdx.x + 32 * threadIdx.y; k < nz; k += 1024) f(0, 0, k);
    } else if (ny == 1) {
      for (int k = threadIdx.y; k < nz; k += 32)
        for (int i = threadIdx.x; i < nx; i += 32) f(i, 0, k);
    } else if (nz == 1 && nx == 1) {
      for (int j = threadIdx.x + 32 * threadIdx.y; j < ny; j += 1024) f(0, j, 0);
    } else {
      for (int k = 0; k < nz; k++)
        for (int j = threadIdx.y; j < ny; j += 32)
          for (int i = threadIdx.x; i < nx; i += 32) f(i, j, k);
    }
    __syncthreads();
  }
};
#endif

// Levels of whole grids. Plain data, to be given to a team.
template <class T> struct SmallLevels {
  const LevelPart<T> *part; // [levels]
  int                 levels;
  const T            *inverse; // of the last level's matrix [points][points]
  const T            *b;       // of the first level
  T                  *x;       // likewise
};

// Values that the arrays of visit_small() take.
template <class T> size_t small_values(const LevelPart<T> *part, int levels) {
  size_t sum = 0;
  for (int l = 0; l < levels; l++) sum += (l ? 4 : 2) * (size_t)part[l].patch.all().points();
  return sum;
}

template <class Team, class T> struct SmallSteps {
  Team                  team;
  const SmallLevels<T> &small;
  T                    *b[max_levels], *x[max_levels], *t[max_levels], *s[max_levels];

  SHELLAC_HD SmallSteps(Team team_, const SmallLevels<T> &levels, T *memory) : team(team_), small(levels) {
    for (int l = 0; l < small.levels; l++) {
      const size_t n = (size_t)small.part[l].patch.all().points();
      t[l] = memory, s[l] = t[l] + n;
      memory += 2 * n;
      b[l] = const_cast<T *>(small.b);
      x[l] = small.x;
      if (l) b[l] = memory, x[l] = b[l] + n, memory += 2 * n;
    }
  }
  SHELLAC_HD static Field<T> field(const T *u) {
    Field<T> f = {};
    f.u = u;
    return f;
  }
  // Smoothing steps from `from` (null: zero), the last of which writes `to`.
  SHELLAC_HD void smooth(int l, const T *from, T *to) {
    const LevelPart<T> &part = small.part[l];
    for (int n = 0; n < part.steps; n++) {
      T *out = (part.steps - n) % 2 ? to : s[l];
      team.over(part.patch, point::Smooth<T, T, T>{part, n, field(from), b[l], out});
      from = out;
    }
  }
  SHELLAC_HD void down(int l, Guess guess) {
    const LevelPart<T> &part = small.part[l], &next = small.part[l + 1];
    const T            *from = guess == Guess::zero ? nullptr : x[l];
    if (guess == Guess::interpolated)
      team.over(part.patch, point::Correct<T>{part, next.patch, field(x[l + 1]), nullptr, x[l]});
    smooth(l, from, t[l]);
    team.over(part.patch, point::Residual<T, T>{part, field(t[l]), b[l], s[l]});
    team.over(next.patch, point::Restrict<T>{part, next.patch, field(s[l]), b[l + 1]});
  }
  SHELLAC_HD void up(int l) {
    const LevelPart<T> &part = small.part[l];
    team.over(part.patch, point::Correct<T>{part, small.part[l + 1].patch, field(x[l + 1]), t[l], t[l]});
    smooth(l, t[l], x[l]);
  }
  SHELLAC_HD void restrict_b(int l) {
    const LevelPart<T> &part = small.part[l], &next = small.part[l + 1];
    team.over(next.patch, point::Restrict<T>{part, next.patch, field(b[l]), b[l + 1]});
  }
  SHELLAC_HD void solve(Cycle, Guess, int) { solve_full(); }
  SHELLAC_HD void solve_full();
};

template <class T> struct DenseRow {
  PetscInt n;
  const T *inverse, *b;
  T       *x;
  Patch    patch;
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const size_t row = patch.index(i, j, k);
    T            sum = 0;
    SHELLAC_UNROLL
    for (PetscInt c = 0; c < n; c++) sum += inverse[(size_t)c * n + row] * b[c]; // by columns: threads beside each other read such
    x[row] = sum;
  }
};

template <class Team, class T> SHELLAC_HD void SmallSteps<Team, T>::solve_full() {
  const int    l = small.levels - 1;
  const Patch &patch = small.part[l].patch;
  team.over(patch, DenseRow<T>{(PetscInt)patch.all().points(), small.inverse, b[l], x[l], patch});
}

// visits: of the first level, as run_cycle() asks for them; none: full multigrid
template <class Team, class T>
SHELLAC_HD void visit_small(Team team, const SmallLevels<T> &small, T *memory, Cycle cycle, Guess guess, int visits) {
  SmallSteps<Team, T> steps(team, small, memory);
  const int           last = small.levels - 1;
  if (visits == 0) run_full(steps, 0, last, cycle);
  for (int n = 0; n < visits; n++) {
    run_cycle(steps, 0, last, cycle, n ? Guess::given : guess);
    if (cycle == Cycle::F) cycle = Cycle::V;
    if (last == 0) break; // solved
  }
}

} // namespace shellac
