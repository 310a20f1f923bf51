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
  template <class Function> void along(PetscInt n, const Function &f) const {
    for (PetscInt i = 0; i < n; i++) f(i);
  }
};
#if SHELLAC_CUDA
struct BlockTeam { // of 32 x 32 threads
  template <class Function> __device__ __forceinline__ void over(const Patch &patch, const Function &f) const {
    const int nx = (int)patch.size[0], ny = (int)patch.size[1], nz = (int)patch.size[2];
    const int thread = threadIdx.x + 32 * threadIdx.y;
    if (nx > 1 && ny > 1) {
      for (int k = 0; k < nz; k++)
        for (int j = threadIdx.y; j < ny; j += 32)
          for (int i = threadIdx.x; i < nx; i += 32) f(i, j, k);
    } else {
      for (int n = thread; n < nx * ny * nz; n += 1024) {
        const int k = n / (nx * ny);
        f(nx > 1 ? n - k * nx : 0, ny > 1 ? n - k * ny : 0, k);
      }
    }
    __syncthreads();
  }
  template <class Function> __device__ __forceinline__ void along(PetscInt n, const Function &f) const {
    for (int i = threadIdx.x + 32 * threadIdx.y; i < n; i += 1024) f(i);
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

// A whole level of one or two dimensions, close at hand: what the steps below need, with the inverse diagonal.
template <class T> struct Plane {
  using R = typename RealOf<T>::type;
  int                 nx, ny;
  bool                around_x, around_y;
  const AxisPoint<R> *x, *y; // as in LevelPart
  T                   sigma;
  T                  *inverse; // zero where there is nothing to correct

  // (A u)(i, j)
  SHELLAC_HD T product(const T *u, int i, int j) const {
    const int at = i + nx * j;
    const T   center = u[at];
    const T   west = i > 0      ? u[at - 1]
                     : around_x ? u[at + nx - 1]
                                : T(0),
            east = i < nx - 1 ? u[at + 1]
                   : around_x ? u[at - nx + 1]
                              : T(0),
            south = j > 0      ? u[at - nx]
                    : around_y ? u[i + nx * (ny - 1)]
                               : T(0),
            north = j < ny - 1 ? u[at + nx]
                    : around_y ? u[i]
                               : T(0);
    return level_sum(center, west, east, x[i]) + level_sum(center, south, north, y[j]) + sigma * center;
  }
  SHELLAC_HD static T level_sum(T center, T before, T after, const AxisPoint<R> &at) {
    return at.lower * (center - before) + at.upper * (center - after);
  }
};

namespace point {

template <class T> struct PlaneInverse {
  Plane<T>        plane;
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt) const {
    const auto &x = plane.x[i], &y = plane.y[j];
    plane.inverse[i + plane.nx * j] =
        x.in * y.in == 0 ? T(0) : T(1) / (plane.sigma + (x.lower + x.upper + y.lower + y.upper));
  }
};
template <class T> struct PlaneSmooth {
  Plane<T>                 plane;
  typename RealOf<T>::type omega;
  const T                 *u, *b; // u: null for zero
  T                       *out;
  SHELLAC_HD void          operator()(PetscInt i, PetscInt j, PetscInt) const {
             const int at = (int)i + plane.nx * (int)j;
             const T   scale = omega * plane.inverse[at];
             out[at] = u ? u[at] + scale * (b[at] - plane.product(u, (int)i, (int)j)) : scale * b[at];
  }
};
template <class T> struct PlaneResidual {
  Plane<T>        plane;
  const T        *u, *b;
  T              *out;
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt) const {
    const int at = (int)i + plane.nx * (int)j;
    out[at] = b[at] - plane.product(u, (int)i, (int)j);
  }
};

template <class T> struct PlaneRestrict { // see Restrict
  Plane<T>        fine;
  int             coarse_nx;
  bool            halves[2], joins[2];
  int             offset[2];
  const T        *r;
  T              *out;
  SHELLAC_HD void operator()(PetscInt I, PetscInt J, PetscInt) const {
    const int i = halves[0] ? 2 * (int)I + offset[0] : (int)I, j = halves[1] ? 2 * (int)J + offset[1] : (int)J;
    T         sum = 0;
    for (int q = j - before(1, (int)J); q <= j + halves[1]; q++) {
      const int  row = q < 0 ? q + fine.ny : q >= fine.ny ? q - fine.ny : q;
      const auto weight = fine.y[q].restriction[q < j ? 1 : 0];
      if (weight == 0) continue;
      T along = 0;
      for (int p = i - before(0, (int)I); p <= i + halves[0]; p++) {
        const int column = p < 0 ? p + fine.nx : p >= fine.nx ? p - fine.nx : p;
        along += fine.x[p].restriction[p < i ? 1 : 0] * r[column + fine.nx * row];
      }
      sum += weight * along;
    }
    out[I + coarse_nx * J] = sum;
  }
  SHELLAC_HD int before(int a, int I) const { return halves[a] + (joins[a] && I == 0); }
};
template <class T> struct PlaneCorrect { // see Correct
  Plane<T>        fine;
  int             coarse_nx, coarse_ny;
  bool            halves[2];
  int             offset[2];
  const T        *e, *u; // u: null for zero
  T              *out;
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt) const {
    const auto &x = fine.x[i], &y = fine.y[j];
    const int   I = below(0, (int)i), J = below(1, (int)j), at = (int)i + fine.nx * (int)j;
    T           sum = row(I, within(J, coarse_ny), x) * y.prolong[0];
    if (y.prolong[1] != 0) sum += row(I, within(J + 1, coarse_ny), x) * y.prolong[1];
    out[at] = (u ? u[at] : T(0)) + sum;
  }
  template <class Point> SHELLAC_HD T row(int I, int J, const Point &x) const {
    T sum = x.prolong[0] * e[within(I, coarse_nx) + coarse_nx * J];
    if (x.prolong[1] != 0) sum += x.prolong[1] * e[within(I + 1, coarse_nx) + coarse_nx * J];
    return sum;
  }
  SHELLAC_HD int below(int a, int i) const {
    const int g = i - offset[a];
    return halves[a] ? (g - (g & 1)) / 2 : g;
  }
  // Around the axis or, where the weight is zero, any point.
  SHELLAC_HD static int within(int I, int n) { return I < 0 ? I + n : I >= n ? I - n : I; }
};

// x[row] of the inverse times b; the inverse by columns, so that threads beside each other read what lies so.
template <class T> struct DenseRow {
  PetscInt        n;
  const T        *inverse, *b;
  T              *x;
  SHELLAC_HD void operator()(PetscInt row) const {
    T sum = 0;
    SHELLAC_UNROLL
    for (PetscInt c = 0; c < n; c++) sum += inverse[(size_t)c * n + row] * b[c];
    x[row] = sum;
  }
};

} // namespace point

template <class T> struct SmallArrays { // of one level
  T                                   *b, *x, *t, *s;
  Plane<T>                             plane;
  AxisPoint<typename RealOf<T>::type> *points; // of both axes
};

// Bytes of the arrays of visit_small(): t, s and the inverse diagonal; b and x of all levels but the first; the axes.
template <class T> size_t small_bytes_of(const LevelPart<T> *part, int levels) {
  size_t sum = 0;
  for (int l = 0; l < levels; l++) {
    sum += (l ? 5 : 3) * (size_t)part[l].patch.all().points() * sizeof(T);
    sum += (size_t)(part[l].patch.size[0] + part[l].patch.size[1] + 4 * axis_reach) *
           sizeof(AxisPoint<typename RealOf<T>::type>);
  }
  return sum;
}

template <class Team, class T> struct SmallSteps {
  using R = typename RealOf<T>::type;
  static constexpr int  most = 24; // levels
  Team                  team;
  const SmallLevels<T> &small;
  SmallArrays<T>        arrays[most];

  SHELLAC_HD SmallSteps(Team team_, const SmallLevels<T> &levels, char *memory) : team(team_), small(levels) {
    for (int l = 0; l < small.levels; l++) { // the axes first, whose size is a multiple of 16 bytes
      const Patch &patch = small.part[l].patch;
      arrays[l].points = reinterpret_cast<AxisPoint<R> *>(memory);
      memory += (size_t)(patch.size[0] + patch.size[1] + 4 * axis_reach) * sizeof(AxisPoint<R>);
    }
    T *values = reinterpret_cast<T *>(memory);
    for (int l = 0; l < small.levels; l++) {
      const LevelPart<T> &part = small.part[l];
      const Patch        &patch = part.patch;
      const size_t        n = (size_t)patch.all().points();
      SmallArrays<T>     &at = arrays[l];
      const PetscInt      nx = patch.size[0], ny = patch.size[1];
      at.t = values, at.s = values + n;
      at.plane = Plane<T>{(int)nx,
                          (int)ny,
                          patch.beyond[0] == Beyond::around,
                          patch.beyond[1] == Beyond::around,
                          at.points + axis_reach,
                          at.points + nx + 3 * axis_reach,
                          part.sigma,
                          values + 2 * n};
      values += 3 * n;
      at.b = const_cast<T *>(small.b);
      at.x = small.x;
      if (l) at.b = values, at.x = values + n, values += 2 * n;
      if (!flat(l)) continue;
      team.along(nx + ny + 4 * axis_reach,
                 CopyPoints{at.points, part.axis[0] - axis_reach, part.axis[1] - axis_reach, nx + 2 * axis_reach});
      team.over(patch, point::PlaneInverse<T>{at.plane});
    }
  }
  struct CopyPoints {
    AxisPoint<R>       *to;
    const AxisPoint<R> *x, *y;
    PetscInt            nx;
    SHELLAC_HD void     operator()(PetscInt i) const { to[i] = i < nx ? x[i] : y[i - nx]; }
  };
  SHELLAC_HD bool            flat(int l) const { return small.part[l].patch.size[2] == 1; }
  SHELLAC_HD static Field<T> field(const T *u) {
    Field<T> f = {};
    f.u = u;
    return f;
  }
  // Smoothing steps from `from` (null: zero), the last of which writes `to`.
  SHELLAC_HD void smooth(int l, const T *from, T *to) {
    const LevelPart<T>   &part = small.part[l];
    const SmallArrays<T> &at = arrays[l];
    for (int n = 0; n < part.steps; n++) {
      T *out = (part.steps - n) % 2 ? to : at.s;
      if (flat(l))
        team.over(part.patch, point::PlaneSmooth<T>{at.plane, part.omega[n], from, at.b, out});
      else
        team.over(part.patch, point::Smooth<T, T, T>{part, n, field(from), at.b, out});
      from = out;
    }
  }
  SHELLAC_HD void down(int l, Guess guess) {
    const LevelPart<T>   &part = small.part[l];
    const SmallArrays<T> &at = arrays[l];
    const T              *from = guess == Guess::zero ? nullptr : at.x;
    if (guess == Guess::interpolated) correct(l, nullptr, at.x);
    smooth(l, from, at.t);
    if (flat(l))
      team.over(part.patch, point::PlaneResidual<T>{at.plane, at.t, at.b, at.s});
    else
      team.over(part.patch, point::Residual<T, T>{part, field(at.t), at.b, at.s});
    restrict_from(l, at.s);
  }
  SHELLAC_HD void restrict_from(int l, const T *r) {
    const LevelPart<T> &part = small.part[l], &next = small.part[l + 1];
    if (flat(l))
      team.over(next.patch, point::PlaneRestrict<T>{arrays[l].plane,
                                                    (int)next.patch.size[0],
                                                    {part.halves[0], part.halves[1]},
                                                    {part.joins[0], part.joins[1]},
                                                    {(int)part.offset[0], (int)part.offset[1]},
                                                    r,
                                                    arrays[l + 1].b});
    else
      team.over(next.patch, point::Restrict<T>{part, next.patch, field(r), arrays[l + 1].b});
  }
  SHELLAC_HD void correct(int l, const T *u, T *out) {
    const LevelPart<T> &part = small.part[l], &next = small.part[l + 1];
    if (flat(l))
      team.over(part.patch, point::PlaneCorrect<T>{arrays[l].plane,
                                                   (int)next.patch.size[0],
                                                   (int)next.patch.size[1],
                                                   {part.halves[0], part.halves[1]},
                                                   {(int)part.offset[0], (int)part.offset[1]},
                                                   arrays[l + 1].x,
                                                   u,
                                                   out});
    else
      team.over(part.patch, point::Correct<T>{part, next.patch, field(arrays[l + 1].x), u, out});
  }
  SHELLAC_HD void up(int l) {
    const SmallArrays<T> &at = arrays[l];
    correct(l, at.t, at.t);
    smooth(l, at.t, at.x);
  }
  SHELLAC_HD void restrict_b(int l) { restrict_from(l, arrays[l].b); }
  SHELLAC_HD void solve(Cycle, Guess, int) { solve_full(); }
  SHELLAC_HD void solve_full() {
    const int      l = small.levels - 1;
    const PetscInt n = (PetscInt)small.part[l].patch.all().points();
    team.along(n, point::DenseRow<T>{n, small.inverse, arrays[l].b, arrays[l].x});
  }
};

// visits: of the first level, as run_cycle() asks for them; none: full multigrid
template <class Team, class T>
SHELLAC_HD void visit_small(Team team, const SmallLevels<T> &small, char *memory, Cycle cycle, Guess guess,
                            int visits) {
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
