// Reads an operator's rows as couplings of neighbouring points.

#include "grid/halo.hpp"
#include "multigrid/couplings.hpp"

namespace shellac {

namespace {

// Relative to the diagonal entry of the row; and what is left where its entries cancel.
constexpr PetscReal rounding = 1e-10, cancellation = 64 * PETSC_MACHINE_EPSILON;

// What rows are not, in the order of what is said first.
enum Trouble { none, nonsymmetric, no_diagonal, far };
const char *const troubles[] = {"", "is not symmetric, with any weights of the axes", "has zeros on its diagonal",
                                "couples points that are not neighbours"};

struct Reader {
  const Grid &grid;
  Couplings  &to;
  Patch       patch; // the rank's points, with a halo of one
  Halo        halo;
  int         trouble = none;

  size_t own(const PetscInt p[3]) const { return to.grown.index(p); }
  void   find(Trouble t) { trouble = PetscMax(trouble, (int)t); }

  void           read(const StencilOperator &op, std::vector<PetscScalar> *fixed);
  void           share_pairs();
  PetscErrorCode get_masses(std::vector<PetscReal> mass[3]);
  PetscErrorCode Exchange(const PetscScalar *values, Field<PetscScalar> *field);
  PetscScalar    value(const Field<PetscScalar> &field, const PetscInt p[3]) const;
};

bool outside(const Grid &grid, const PetscInt p[3]) {
  bool is = false;
  for (int a = 0; a < 3; a++) {
    const PetscInt g = grid.start[a] + p[a];
    is = is || (!grid.periodic(a) && (g < 0 || g >= grid.N[a]));
  }
  return is;
}

// The sum of a row goes to SHIFT, its diagonal entry to INVERSE_DIAGONAL for the time being.
void Reader::read(const StencilOperator &op, std::vector<PetscScalar> *fixed) {
  std::vector<Entry>         entries;
  std::vector<int>           slot(27, -1);
  std::vector<PetscScalar *> array;
  int                        n = FIRST_COUPLING;

  to.neighbours.each([&](const PetscInt *d) {
    slot[13 + d[0] + 3 * d[1] + 9 * d[2]] = n;
    n++;
  });
  for (int s = 0; s < n; s++) array.push_back(to.slot(s));
  fixed->assign((size_t)patch.all().points(), 0);
  for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
    const size_t at = own(p);
    PetscScalar  diagonal = 0, sum = 0;
    bool         arms = false;
    op.row(p, 0, &entries);
    for (const Entry &entry : entries) {
      PetscInt d[3];
      bool     near = true, here = true;
      for (int a = 0; a < 3; a++) {
        d[a] = grid.N[a] > 1 ? entry.point[a] - p[a] : 0;
        near = near && PetscAbsInt(d[a]) <= 1;
        here = here && d[a] == 0;
      }
      if (entry.value == (PetscScalar)0) continue;
      sum += entry.value;
      if (here) {
        diagonal += entry.value;
        continue;
      }
      const int its_slot = near ? slot[13 + d[0] + 3 * d[1] + 9 * d[2]] : -1;
      arms = true;
      if (its_slot < 0)
        find(far);
      else
        array[its_slot][at] -= entry.value;
    }
    if (diagonal == (PetscScalar)0)
      find(no_diagonal);
    else if (!arms)
      (*fixed)[at] = (PetscScalar)1 / diagonal;
    array[SHIFT][at] = !arms || PetscAbsScalar(sum) <= cancellation * PetscAbsScalar(diagonal) ? 0 : sum;
    array[INVERSE_DIAGONAL][at] = diagonal;
  });
}

// Around an axis of two points both neighbours are one point: its coupling is shared by both.
void Reader::share_pairs() {
  const size_t           points = to.points();
  std::vector<Direction> steps;
  to.neighbours.each([&](const PetscInt *d) { steps.push_back({{(int)d[0], (int)d[1], (int)d[2]}}); });
  for (int a = 0; a < 3; a++) {
    if (!grid.periodic(a) || grid.N[a] != 2) continue;
    for (size_t n = 0; n < steps.size(); n++)
      for (size_t m = 0; m < n; m++) {
        Direction back = steps[n];
        back.d[a] = -back.d[a];
        if (!steps[n].d[a] || back.index() != steps[m].index()) continue;
        PetscScalar *one = to.slot(FIRST_COUPLING + (int)n), *other = to.slot(FIRST_COUPLING + (int)m);
        for (size_t at = 0; at < points; at++) one[at] = other[at] = (one[at] + other[at]) / (PetscReal)2;
      }
  }
}

PetscErrorCode Reader::Exchange(const PetscScalar *values, Field<PetscScalar> *field) {
  PetscFunctionBegin;
  PetscCall(halo.Begin(values, PETSC_MEMTYPE_HOST));
  PetscCall(halo.End());
  *field = halo.field();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A row's couplings towards i + 1 and from there back are k/m of the same edge: what they differ by is in the masses,
// which a row of points along each axis gives.
PetscErrorCode Reader::get_masses(std::vector<PetscReal> mass[3]) {
  PetscMPIInt count;

  PetscFunctionBegin;
  for (int a = 0; a < 3; a++) {
    const PetscInt         N = grid.N[a];
    std::vector<PetscReal> ways(2 * N, 0); // couplings to lower and upper neighbours
    PetscInt               p[3];
    bool                   ours = true;
    mass[a].assign(N, 1);
    if (N == 1) continue;
    for (int c = 0; c < 3; c++) {
      p[c] = grid.N[c] / 2 - grid.start[c];
      ours = ours && (c == a || (p[c] >= 0 && p[c] < grid.size[c]));
    }
    int n = FIRST_COUPLING;
    to.neighbours.each([&](const PetscInt *d) {
      const PetscScalar *coupling = to.slot(n++);
      bool               along = d[a] != 0;
      for (int c = 0; c < 3; c++) along = along && (c == a || d[c] == 0);
      if (!along || !ours) return;
      for (p[a] = 0; p[a] < grid.size[a]; p[a]++)
        ways[2 * (grid.start[a] + p[a]) + (d[a] > 0)] = PetscRealPart(coupling[own(p)]);
    });
    PetscCall(PetscMPIIntCast(2 * N, &count));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ways.data(), count, MPIU_REAL, MPIU_SUM, grid.comm));
    for (PetscInt i = 0; i + 1 < N; i++) {
      const PetscReal up = ways[2 * i + 1], down = ways[2 * (i + 1)];
      const bool      differ = up * down > 0 && PetscAbsReal(up - down) > rounding * PetscAbsReal(up);
      mass[a][i + 1] = mass[a][i] * (differ ? up / down : 1);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The values of one point and its neighbours, zero beyond the domain.
PetscScalar Reader::value(const Field<PetscScalar> &field, const PetscInt p[3]) const {
  PetscInt q[3] = {p[0], p[1], p[2]};
  for (int a = 0; a < 3; a++)
    if (grid.periodic(a) && grid.ranks[a] == 1) q[a] = (q[a] % grid.N[a] + grid.N[a]) % grid.N[a];
  return outside(grid, p) ? PetscScalar(0) : field.value(patch, q, 0);
}

} // namespace

PetscErrorCode MatStencilGetCouplings(StencilMat *context, OperatorRows *rows, std::string *why) {
  const Grid            &grid = context->grid;
  Couplings             &couplings = rows->couplings;
  Arrays                 arrays;
  Field<PetscScalar>     field;
  std::vector<PetscReal> mass[3];
  PetscReal              sums[3][4] = {}; // of an axis: couplings and how many; shifts at its lower, upper end
  int                    flags[5] = {0, 0, 0, 0, 0};
  Grid                   links = grid;

  PetscFunctionBegin;
  why->clear();
  if (grid.dof > 1) {
    *why = "has " + std::to_string(grid.dof) + " unknowns a point";
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Reader reader = {grid, couplings, {}, {}};
  Patch &patch = reader.patch;
  for (int a = 0; a < 3; a++) {
    patch.N[a] = grid.N[a];
    patch.start[a] = grid.start[a];
    patch.size[a] = grid.size[a];
    patch.beyond[a] = grid.periodic(a) ? Beyond::around : Beyond::zero;
    patch.identity[a] = false;
    couplings.neighbours.present[a] = grid.N[a] > 1;
    if (grid.ranks[a] == 1) links.boundary[a] = DM_BOUNDARY_NONE; // what is beyond is on this rank
    for (int e = 0; e < 2; e++) patch.neighbour[a][e] = links.neighbour(Direction::at(Direction::face(a, e))) >= 0;
  }
  couplings.grown = patch.all();
  couplings.neighbours.star = !grid.box;
  couplings.resize();
  PetscCall(context->bring(context->op.get(), &arrays));
  reader.read(*context->op, &rows->fixed);
  PetscCall(arrays.Restore());
  reader.share_pairs();
  PetscCall(reader.get_masses(mass));
  const size_t points = couplings.points();
  const auto   mass_at = [&](const PetscInt p[3]) {
    PetscReal product = 1;
    for (int a = 0; a < 3; a++) {
      const PetscInt g = grid.start[a] + p[a], N = grid.N[a];
      if (g >= 0 && g < N)
        product *= mass[a][g];
      else if (grid.periodic(a))
        product *= mass[a][(g % N + N) % N];
    }
    return product;
  };

  PetscCall(reader.halo.Create(links, patch, true, PETSC_FALSE, HaloWay::automatic));
  // fixed values are zero in corrections: what couples to them is a shift
  std::vector<char> fixed_near(points * 27, 0);
  PetscCall(reader.Exchange(rows->fixed.data(), &field));
  for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
    const size_t at = couplings.grown.index(p);
    for (int n = 0; n < 27; n++) {
      const auto     to = Direction::at(n);
      const PetscInt q[3] = {p[0] + to.d[0], p[1] + to.d[1], p[2] + to.d[2]};
      fixed_near[at * 27 + n] = reader.value(field, q) != (PetscScalar)0;
    }
  });
  std::vector<Direction> steps;
  couplings.neighbours.each([&](const PetscInt *d) { steps.push_back({{(int)d[0], (int)d[1], (int)d[2]}}); });
  for (int n = 0; n < (int)steps.size(); n++) {
    PetscScalar *coupling = couplings.slot(FIRST_COUPLING + n), *shift = couplings.slot(SHIFT);
    for (size_t at = 0; at < points; at++)
      if (fixed_near[at * 27 + steps[n].index()]) shift[at] += coupling[at], coupling[at] = 0;
  }
  // symmetric?
  for (int n = 0; n < (int)steps.size(); n++) {
    const int back = (int)steps.size() - 1 - n; // the opposite step, of a box
    int       m = back;
    for (int other = 0; other < (int)steps.size(); other++)
      if (steps[other].index() == 26 - steps[n].index()) m = other;
    const PetscScalar *there = couplings.slot(FIRST_COUPLING + m), *here = couplings.slot(FIRST_COUPLING + n);
    PetscCall(reader.Exchange(there, &field));
    for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
      const size_t      at = couplings.grown.index(p);
      const PetscInt    q[3] = {p[0] + steps[n].d[0], p[1] + steps[n].d[1], p[2] + steps[n].d[2]};
      const PetscScalar a = mass_at(p) * here[at], b = mass_at(q) * reader.value(field, q);
      const PetscReal   size = mass_at(p) * PetscAbsScalar(couplings.slot(INVERSE_DIAGONAL)[at]);
      if (PetscAbsScalar(a - b) > rounding * PetscMax(size, PetscAbsScalar(b))) reader.find(nonsymmetric);
      int axes = 0;
      for (int c = 0; c < 3; c++) axes += steps[n].d[c] != 0;
      if (axes > 1 && a != (PetscScalar)0) flags[0] = 1;
      for (int c = 0; c < 3 && axes == 1; c++)
        if (steps[n].d[c] && here[at] != (PetscScalar)0) sums[c][0] += PetscAbsScalar(here[at]), sums[c][1]++;
    });
  }
  PetscCall(reader.halo.Destroy());

  // what the axes' ends are
  bool fixed_end[3][2];
  for (int a = 0; a < 3; a++)
    for (int e = 0; e < 2; e++) fixed_end[a][e] = true;
  for_each_owned(grid, [&](const PetscInt p[3], PetscInt) {
    const size_t at = couplings.grown.index(p);
    if (rows->fixed[at] != (PetscScalar)0) flags[1] = 1;
    if (couplings.slot(SHIFT)[at] != (PetscScalar)0) flags[2] = 1;
    for (int a = 0; a < 3; a++)
      for (int e = 0; e < 2; e++) {
        if (!patch.at_domain_end(p, a, (Side)e)) continue;
        if (rows->fixed[at] == (PetscScalar)0) fixed_end[a][e] = false;
        sums[a][2 + e] = PetscMax(sums[a][2 + e], PetscAbsScalar(couplings.slot(SHIFT)[at]));
      }
    for (int a = 0; a < 3; a++)
      if (mass[a][grid.start[a] + p[a]] != 1) flags[3] = 1;
  });
  flags[4] = reader.trouble;
  int ends[6];
  for (int n = 0; n < 6; n++) ends[n] = fixed_end[n / 2][n % 2] ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, flags, 5, MPI_INT, MPI_MAX, grid.comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 6, MPI_INT, MPI_MAX, grid.comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 12, MPIU_REAL, MPIU_SUM, grid.comm));
  *why = troubles[flags[4]];
  rows->has_fixed = flags[1];
  rows->singular = !flags[1] && !flags[2];
  for (int a = 0; a < 3; a++) {
    const PetscInt  N = grid.N[a];
    const PetscReal mean = sums[a][1] > 0 ? sums[a][0] / sums[a][1] : 0;
    Axis           &axis = rows->axes[a];
    axis = Axis();
    axis.around = grid.periodic(a);
    axis.fixed = !axis.around && N > 2 && !ends[2 * a] && !ends[2 * a + 1];
    axis.mass.assign(N, 1);
    axis.edge.assign(N + 1, N > 1 ? mean : 0);
    for (int e = 0; e < 2 && !axis.around; e++) // free ends have nothing beyond them
      if (sums[a][2 + e] <= PetscReal(0.01) * mean) axis.edge[e ? N : 0] = 0;
  }

  // only the star's arms, where that is all there is
  if (!couplings.neighbours.star && !flags[0]) {
    Couplings star;
    star.grown = couplings.grown;
    star.neighbours = couplings.neighbours;
    star.neighbours.star = true;
    star.resize();
    int n = FIRST_COUPLING;
    std::copy(couplings.slot(SHIFT), couplings.slot(SHIFT) + points, star.slot(SHIFT));
    star.neighbours.each([&](const PetscInt *d) {
      for (int m = 0; m < (int)steps.size(); m++)
        if (steps[m].d[0] == d[0] && steps[m].d[1] == d[1] && steps[m].d[2] == d[2])
          std::copy(couplings.slot(FIRST_COUPLING + m), couplings.slot(FIRST_COUPLING + m) + points, star.slot(n));
      n++;
    });
    couplings = std::move(star);
  }
  couplings.invert_diagonals();
  if (flags[3]) {
    couplings.mass.resize(points);
    for_each_owned(grid, [&](const PetscInt p[3], PetscInt) { couplings.mass[couplings.grown.index(p)] = mass_at(p); });
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
