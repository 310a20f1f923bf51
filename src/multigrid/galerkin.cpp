// Coarse operators of variable coefficients, from interpolation that follows them: Alcouffe, Brandt, Dendy and Painter,
// "The multi-grid method for the diffusion equation with strongly discontinuous coefficients" (1981), and Dendy,
// "Black box multigrid" (1982), written once for stars and boxes of any dimension.

#include "multigrid/couplings.hpp"
#include "multigrid/strip_rows.hpp"

namespace shellac {

namespace {

// Loops run over points of a row that lie alike between coarse ones: next to each other or, where the first axis is
// coarsened, two apart. So many points at once, whose values stay in the cache.
constexpr int most_run = 64;

// The neighbours as a table, for loops over points.
struct Table {
  struct Arm {
    PetscInt           d[3];
    PetscInt64         step; // in an array over the grown points
    const PetscScalar *coupling;
  };
  std::vector<Arm> arms;

  explicit Table(const Couplings &of) {
    of.neighbours.each([&](const PetscInt *d) {
      const PetscInt64 row = of.grown.size(0), plane = row * of.grown.size(1);
      arms.push_back(
          {{d[0], d[1], d[2]}, d[0] + d[1] * row + d[2] * plane, of.slot(FIRST_COUPLING + (int)arms.size())});
    });
  }
};

// Place of a step of -1, 0 or 1 along each axis among 27.
int place(PetscInt x, PetscInt y, PetscInt z) {
  return (int)(13 + x + 3 * y + 9 * z);
}

// ---- interpolation -------------------------------------------------------------------------------------------------

struct Weights {
  const Couplings      &fine;
  const GridCoarsening &coarsening;
  const Table           table;
  PetscScalar          *w; // [corners][points of grown]
};

// Of n points from p on, coarse ones themselves.
void set_kept_run(const Weights &of, const PetscInt p[3], PetscInt stride, int n) {
  const GridCoarsening &c = of.coarsening;
  const size_t          at = of.fine.grown.index(p);
  const PetscScalar    *inverse = of.fine.slot(INVERSE_DIAGONAL) + at;
  const auto inside = [&](int a, PetscInt J) { return c.patch.periodic[a] || (J >= 0 && J < c.coarse_N[a]); };
  if (!inside(1, c.below(1, p[1])) || !inside(2, c.below(2, p[2]))) return;
  for (int i = 0; i < n; i++)
    if (inverse[i * stride] != (PetscScalar)0 && inside(0, c.below(0, p[0]) + i)) of.w[at + i * stride] = 1;
}

// Of n points from p on, which lie between coarse ones along some axes: they take the value at which their row, summed
// up along the other axes, is zero.
template <int stride>
SHELLAC_WIDE void set_run_between(const Weights &of, const PetscInt p[3], const bool between[3], int n) {
  const size_t       at = of.fine.grown.index(p), points = of.fine.points();
  const PetscScalar *shift = of.fine.slot(SHIFT) + at, *inverse = of.fine.slot(INVERSE_DIAGONAL) + at;
  PetscScalar        towards[27][most_run], side[3][2][most_run], sum[most_run]; // the row, summed up
  bool               met[27] = {};

  for (int a = 0; a < 3; a++)
    for (int e = 0; e < 2; e++) std::fill_n(side[a][e], n, PetscScalar(0));
  std::fill_n(sum, n, PetscScalar(0));
  for (const Table::Arm &arm : of.table.arms) {
    const PetscInt     d[3] = {between[0] ? arm.d[0] : 0, between[1] ? arm.d[1] : 0, between[2] ? arm.d[2] : 0};
    const PetscScalar *c = arm.coupling + at;
    const int          to = place(d[0], d[1], d[2]);
    if (to == place(0, 0, 0)) continue;
    if (!met[to]) std::fill_n(towards[to], n, PetscScalar(0));
    met[to] = true;
    SHELLAC_COLUMNS
    for (int i = 0; i < n; i++) towards[to][i] += c[i * stride], sum[i] += c[i * stride];
    for (int a = 0; a < 3; a++) {
      PetscScalar *of_side = side[a][d[a] > 0];
      if (!d[a]) continue;
      SHELLAC_COLUMNS
      for (int i = 0; i < n; i++) of_side[i] += c[i * stride];
    }
  }
  // What the row has besides differences pulls the value to zero. Beside an end of the domain along another axis it
  // does that to the coarse points, too, and is left out; unless it is so much that the coarse points will differ.
  for (int i = 0; i < n; i++) {
    const PetscScalar s = shift[i * stride];
    bool              at_end = false;
    for (int a = 0; a < 3; a++)
      at_end = at_end || (between[a] && (side[a][0][i] == (PetscScalar)0 || side[a][1][i] == (PetscScalar)0));
    if (at_end || PetscAbsScalar(s) > 2 * PetscAbsScalar(sum[i])) sum[i] += s;
    if (inverse[i * stride] == (PetscScalar)0) sum[i] = 0;
  }
  for (PetscInt z = -between[2]; z <= between[2]; z++)
    for (PetscInt y = -between[1]; y <= between[1]; y++)
      for (PetscInt x = -between[0]; x <= between[0]; x++) {
        PetscScalar   *c = towards[place(x, y, z)];
        const PetscInt d[3] = {x, y, z}, q[3] = {p[0] + x, p[1] + y, p[2] + z};
        const size_t   there = of.fine.grown.index(q);
        PetscInt       to[3], from[3], last[3];
        if (!met[place(x, y, z)]) continue;
        for (int i = 0; i < n; i++) c[i] = sum[i] == (PetscScalar)0 ? 0 : c[i] / sum[i];
        for (int a = 0; a < 3; a++) last[a] = between[a] && !d[a];
        for (from[2] = 0; from[2] <= last[2]; from[2]++)
          for (from[1] = 0; from[1] <= last[1]; from[1]++)
            for (from[0] = 0; from[0] <= last[0]; from[0]++) {
              for (int a = 0; a < 3; a++) to[a] = d[a] ? d[a] > 0 : from[a];
              PetscScalar       *w = of.w + of.coarsening.corner(to) * points + at;
              const PetscScalar *its = of.w + of.coarsening.corner(from) * points + there;
              SHELLAC_COLUMNS
              for (int i = 0; i < n; i++) w[i * stride] += c[i] * its[i * stride];
            }
      }
}

// ---- the coarse operator -------------------------------------------------------------------------------------------

// The fine points around a coarse one along an axis, by their steps from the fine point that it is.
struct Around {
  static constexpr int reach = 3;
  PetscInt             kept;   // that point, on the patch
  int                  lo, hi; // the steps to points that give it something
  // of each step: the coarse point at or before, counted from this one; whether it lies between that and the next
  int below[2 * reach + 1] = {}, between[2 * reach + 1] = {};

  Around(const GridCoarsening &of, int a, PetscInt I) {
    const Coarsening &axis = of.axis[a];
    kept = (axis.coarsens ? 2 * I + axis.offset : I) - of.patch.start[a];
    lo = axis.coarsens ? axis.ties_ends && I == 0 ? -2 : -1 : 0;
    hi = axis.coarsens ? 1 : 0;
    for (int s = lo - 1; s <= hi + 1; s++) {
      below[reach + s] = (int)(of.below(a, kept + s) - I);
      between[reach + s] = of.between(a, kept + s);
    }
  }
  bool operator==(const Around &other) const { // but for their place
    return lo == other.lo && std::equal(below, below + 2 * reach + 1, other.below) &&
           std::equal(between, between + 2 * reach + 1, other.between);
  }
};

struct Product {
  const Couplings                 &fine;
  const Table                      table;
  std::vector<const PetscScalar *> w;     // [corners], of a point
  std::vector<PetscScalar>         total; // of a point's weights
  PetscInt                         corner_step[3];
  bool                             one[3]; // the coarse axis has one point: neighbours along it are the point itself
  PetscScalar                     *to[27]; // the coarse couplings; at the point itself its diagonal entry, negative
  PetscScalar                     *shift;
};

// To the rows of n coarse points, from one on that has the place `here`.
template <int stride> SHELLAC_WIDE void add_run(const Product &of, const Around *const around[3], size_t here, int n) {
  PetscScalar  weight[most_run], diagonal[most_run], value[most_run];
  PetscScalar *shift = of.shift + here;
  int          s[3];

  for (s[2] = around[2]->lo; s[2] <= around[2]->hi; s[2]++)
    for (s[1] = around[1]->lo; s[1] <= around[1]->hi; s[1]++)
      for (s[0] = around[0]->lo; s[0] <= around[0]->hi; s[0]++) {
        PetscInt p[3], corner = 0;
        bool     near = true;
        for (int a = 0; a < 3; a++) {
          const int c = -around[a]->below[Around::reach + s[a]];
          near = near && c >= 0 && c <= around[a]->between[Around::reach + s[a]];
          corner += c * of.corner_step[a];
          p[a] = around[a]->kept + s[a];
        }
        if (!near) continue;
        const size_t       at = of.fine.grown.index(p);
        const PetscScalar *w = of.w[corner] + at, *mass = of.fine.mass.empty() ? nullptr : of.fine.mass.data() + at,
                          *total = of.total.data() + at, *own = of.fine.slot(SHIFT) + at;
        SHELLAC_COLUMNS
        for (int i = 0; i < n; i++) weight[i] = w[i * stride];
        if (mass) {
          SHELLAC_COLUMNS
          for (int i = 0; i < n; i++) weight[i] *= mass[i * stride];
        }
        SHELLAC_COLUMNS
        for (int i = 0; i < n; i++) {
          diagonal[i] = own[i * stride];
          shift[i] += weight[i] * own[i * stride] * total[i * stride];
        }
        for (size_t n_arm = 0; n_arm <= of.table.arms.size(); n_arm++) { // the last: the point itself
          const Table::Arm   self = {{0, 0, 0}, 0, nullptr};
          const Table::Arm  &arm = n_arm < of.table.arms.size() ? of.table.arms[n_arm] : self;
          const PetscScalar *coupling = arm.coupling + (arm.coupling ? at : 0), *other = total + arm.step;
          const int         *between[3];
          int                first[3], c[3];
          if (arm.coupling) {
            SHELLAC_COLUMNS
            for (int i = 0; i < n; i++) {
              diagonal[i] += coupling[i * stride];
              value[i] = weight[i] * coupling[i * stride];
              shift[i] += value[i] * (total[i * stride] - other[i * stride]);
            }
          } else {
            SHELLAC_COLUMNS
            for (int i = 0; i < n; i++) value[i] = -weight[i] * diagonal[i];
          }
          for (int a = 0; a < 3; a++) {
            const int step = Around::reach + s[a] + (int)arm.d[a];
            first[a] = around[a]->below[step];
            between[a] = around[a]->between + step;
          }
          for (c[2] = 0; c[2] <= *between[2]; c[2]++)
            for (c[1] = 0; c[1] <= *between[1]; c[1]++)
              for (c[0] = 0; c[0] <= *between[0]; c[0]++) {
                PetscInt J[3], their_corner = 0;
                for (int a = 0; a < 3; a++) {
                  J[a] = of.one[a] ? 0 : first[a] + c[a];
                  their_corner += c[a] * of.corner_step[a];
                }
                const PetscScalar *its = of.w[their_corner] + at + arm.step;
                PetscScalar       *to = of.to[place(J[0], J[1], J[2])] + here;
                SHELLAC_COLUMNS
                for (int i = 0; i < n; i++) to[i] += value[i] * its[i * stride];
              }
        }
      }
  for (int i = 0; i < n; i++)
    if (PetscAbsScalar(shift[i]) <= cancellation * PetscAbsScalar(of.to[place(0, 0, 0)][here + i])) shift[i] = 0;
}

} // namespace

void Couplings::invert_diagonals() {
  PetscScalar *inverse = slot(INVERSE_DIAGONAL);
  for (size_t at = 0; at < points(); at++) inverse[at] = slot(SHIFT)[at];
  for (int n = FIRST_COUPLING; n < slots(); n++)
    for (size_t at = 0; at < points(); at++) inverse[at] += slot(n)[at];
  for (size_t at = 0; at < points(); at++)
    if (inverse[at] != (PetscScalar)0) inverse[at] = (PetscScalar)1 / inverse[at];
}

void interpolate(const Couplings &fine, const GridCoarsening &coarsening, int axes_between,
                 std::vector<PetscScalar> *weights) {
  const Weights  of = {fine, coarsening, Table(fine), weights->data()};
  const PetscInt stride = 1 + coarsening.axis[0].coarsens, *size = coarsening.patch.size;
  PetscInt       p[3];

  for (p[2] = 0; p[2] < size[2]; p[2]++)
    for (p[1] = 0; p[1] < size[1]; p[1]++)
      for (PetscInt first = 0; first < PetscMin(stride, size[0]); first++) {
        const bool between[3] = {coarsening.between(0, first), coarsening.between(1, p[1]),
                                 coarsening.between(2, p[2])};
        if (between[0] + between[1] + between[2] != axes_between) continue;
        for (p[0] = first; p[0] < size[0]; p[0] += most_run * stride) {
          const int n = (int)PetscMin((size[0] - p[0] + stride - 1) / stride, most_run);
          if (!axes_between)
            set_kept_run(of, p, stride, n);
          else if (stride == 2)
            set_run_between<2>(of, p, between, n);
          else
            set_run_between<1>(of, p, between, n);
        }
      }
}

void coarsen(const Couplings &fine, const GridCoarsening &coarsening, const std::vector<PetscScalar> &weights,
             const Patch &coarse_patch, Couplings *coarse) {
  const size_t        points = fine.points();
  Product             of = {fine, Table(fine), {}, std::vector<PetscScalar>(points, 0), {}, {}, {}, nullptr};
  std::vector<Around> along[3];
  int                 slot = FIRST_COUPLING;

  coarse->grown = coarse_patch.all();
  coarse->mass.clear();
  coarse->neighbours.star = false;
  for (int a = 0; a < 3; a++) coarse->neighbours.present[a] = coarse_patch.N[a] > 1;
  coarse->resize();
  for (int c = 0; c < coarsening.corners(); c++) {
    of.w.push_back(weights.data() + c * points);
    for (size_t at = 0; at < points; at++) of.total[at] += of.w[c][at];
  }
  for (int a = 0; a < 3; a++) {
    const PetscInt unit[3] = {a == 0, a == 1, a == 2};
    of.corner_step[a] = coarsening.corner(unit);
    of.one[a] = coarse_patch.N[a] == 1;
    for (PetscInt i = 0; i < coarse_patch.size[a]; i++) along[a].emplace_back(coarsening, a, coarse_patch.start[a] + i);
  }
  coarse->neighbours.each([&](const PetscInt *d) { of.to[place(d[0], d[1], d[2])] = coarse->slot(slot++); });
  of.to[place(0, 0, 0)] = coarse->slot(INVERSE_DIAGONAL); // for the time being
  of.shift = coarse->slot(SHIFT);
  for (PetscInt k = 0; k < coarse_patch.size[2]; k++)
    for (PetscInt j = 0; j < coarse_patch.size[1]; j++)
      for (PetscInt i = 0, n; i < coarse_patch.size[0]; i += n) {
        const Around *const around[3] = {&along[0][i], &along[1][j], &along[2][k]};
        for (n = 1; n < most_run && i + n < coarse_patch.size[0] && along[0][i + n] == along[0][i];) n++;
        const size_t here = coarse_patch.index(i, j, k);
        if (coarsening.axis[0].coarsens)
          add_run<2>(of, around, here, (int)n);
        else
          add_run<1>(of, around, here, (int)n);
      }
  coarse->invert_diagonals();
}

} // namespace shellac
