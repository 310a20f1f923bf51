// Matrices that a program assembles on any DMDA, in every way that PETSc knows.

#include "support.hpp"

#include <sstream>

namespace tests {

size_t Lattice::natural(const PetscInt p[3]) const {
  size_t index = 0;
  for (int a = 2; a >= 0; a--) index = index * (size_t)N[a] + (size_t)(((p[a] % N[a]) + N[a]) % N[a]);
  return index;
}

bool Lattice::has_ghost(const PetscInt p[3]) const {
  for (int a = 0; a < dim; a++)
    if (ends[a] == DM_BOUNDARY_NONE && (p[a] < 0 || p[a] >= N[a])) return false;
  return true;
}

Points Lattice::arms() const {
  Points         all;
  const PetscInt wy = dim > 1 ? width : 0, wz = dim > 2 ? width : 0;
  for (PetscInt k = -wz; k <= wz; k++)
    for (PetscInt j = -wy; j <= wy; j++)
      for (PetscInt i = -width; i <= width; i++)
        if (shape == DMDA_STENCIL_BOX || !!i + !!j + !!k < 2) all.push_back({i, j, k});
  return all;
}

std::string describe(const Lattice &l) {
  std::ostringstream text;
  for (int a = 0; a < l.dim; a++) text << (a ? " x " : "") << l.N[a] << " " << DMBoundaryTypes[l.ends[a]];
  text << ", " << (l.shape == DMDA_STENCIL_BOX ? "box" : "star") << " of width " << l.width << ", dof " << l.dof
       << ", on " << rank_count() << " ranks";
  return text.str();
}

Grid make_grid_alone(const Lattice &l) {
  Lattice alone = l;
  Grid    da;
  std::fill_n(alone.ranks, 3, PETSC_DECIDE);
  OK(make_grid(alone, NULL, &da, PETSC_COMM_SELF));
  return da;
}

bool try_make_grid(const Lattice &l, DM *da) {
  Grid            plain;
  Lattice         bare = l, placed = l;
  const PetscInt *ranges[3];

  // PETSc's error for ranks that are too narrow is of those ranks only; a grid without ghosts tells in advance
  bare.width = 0;
  for (int a = 0; a < 3; a++) bare.ends[a] = DM_BOUNDARY_NONE;
  OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  PetscErrorCode code = make_grid(bare, NULL, &plain);
  OK(PetscPopErrorHandler());
  if (!everywhere(!code)) return false;
  const Lattice made = lattice_of(plain);
  OK(DMDAGetOwnershipRanges(plain, &ranges[0], &ranges[1], &ranges[2]));
  for (int a = 0; a < l.dim; a++) {
    placed.ranks[a] = made.ranks[a];
    for (PetscInt r = 0; r < made.ranks[a]; r++) {
      if (ranges[a][r] < l.width && (made.ranks[a] > 1 || l.ends[a] == DM_BOUNDARY_PERIODIC)) return false;
      if (ranges[a][r] <= l.width && l.ends[a] == DM_BOUNDARY_MIRROR) return false;
    }
  }
  OK(make_grid(placed, ranges, da));
  return true;
}

Lattice lattice_of(DM da) {
  Lattice  l;
  PetscInt dim;
  OK(DMDAGetInfo(da, &dim, &l.N[0], &l.N[1], &l.N[2], &l.ranks[0], &l.ranks[1], &l.ranks[2], &l.dof, &l.width,
                 &l.ends[0], &l.ends[1], &l.ends[2], &l.shape));
  l.dim = (int)dim;
  return l;
}

std::vector<Lattice> lattices() {
  const DMBoundaryType none = DM_BOUNDARY_NONE, ghosted = DM_BOUNDARY_GHOSTED, mirror = DM_BOUNDARY_MIRROR,
                       around = DM_BOUNDARY_PERIODIC;
  const DMDAStencilType      star = DMDA_STENCIL_STAR, box = DMDA_STENCIL_BOX;
  const std::vector<Lattice> all = {
      {1, {9, 1, 1}, {none, none, none}, star, 1, 1},       {1, {1, 1, 1}, {none, none, none}, star, 1, 2},
      {1, {13, 1, 1}, {ghosted, none, none}, star, 3, 1},   {1, {11, 1, 1}, {around, none, none}, box, 2, 2},
      {1, {2, 1, 1}, {around, none, none}, star, 1, 1},     {1, {4, 1, 1}, {around, none, none}, star, 2, 1},
      {1, {10, 1, 1}, {mirror, none, none}, star, 1, 3},    {1, {6, 1, 1}, {none, none, none}, star, 0, 3},
      {2, {7, 5, 1}, {none, none, none}, star, 1, 1},       {2, {7, 6, 1}, {none, none, none}, box, 1, 1},
      {2, {6, 5, 1}, {none, none, none}, star, 1, 3},       {2, {11, 9, 1}, {around, none, none}, star, 2, 1},
      {2, {5, 7, 1}, {ghosted, around, none}, box, 1, 2},   {2, {9, 5, 1}, {mirror, around, none}, star, 1, 1},
      {2, {9, 6, 1}, {mirror, ghosted, none}, star, 1, 2},  {2, {8, 10, 1}, {none, mirror, none}, star, 2, 1},
      {2, {1, 8, 1}, {none, none, none}, box, 1, 1},        {2, {8, 1, 1}, {none, around, none}, star, 1, 1},
      {2, {2, 6, 1}, {around, ghosted, none}, star, 1, 2},  {2, {3, 4, 1}, {around, around, none}, box, 1, 1},
      {2, {9, 8, 1}, {around, around, none}, box, 2, 1},    {2, {8, 9, 1}, {none, ghosted, none}, box, 2, 2},
      {2, {5, 4, 1}, {none, none, none}, star, 0, 2},       {2, {4, 5, 1}, {none, none, none}, star, 1, 6},
      {3, {5, 4, 3}, {none, none, none}, star, 1, 1},       {3, {3, 5, 4}, {ghosted, none, around}, star, 1, 2},
      {3, {4, 3, 5}, {around, none, ghosted}, box, 1, 1},   {3, {4, 4, 5}, {mirror, around, none}, star, 1, 1},
      {3, {5, 6, 4}, {none, none, none}, star, 2, 1},       {3, {1, 4, 5}, {none, none, none}, box, 1, 2},
      {3, {2, 2, 5}, {around, around, around}, star, 1, 1},
  };
  std::vector<Lattice> possible;
  for (const Lattice &lattice : part_of(all)) {
    Grid da;
    if (try_make_grid(lattice, &da)) possible.push_back(lattice);
  }
  return possible;
}

std::vector<Lattice> part_of(const std::vector<Lattice> &all) {
  PetscInt             part[2] = {0, 1}, count = 2;
  std::vector<Lattice> some;
  OK(PetscOptionsGetIntArray(NULL, NULL, "-test_part", part, &count, NULL));
  for (size_t i = (size_t)part[0]; i < all.size(); i += (size_t)PetscMax(part[1], 1)) some.push_back(all[i]);
  return some;
}

const Form forms_of_storage[3] = {Form::constant, Form::indexed, Form::arrays};

const char *name_of(Form form) {
  static const char *const names[] = {"constant", "indexed", "arrays"};
  return names[(int)form];
}

const Way ways[6] = {Way::stencil,       Way::blocked_stencil, Way::local,
                     Way::blocked_local, Way::global,          Way::blocked_global};

const char *name_of(Way way) {
  static const char *const names[] = {"MatSetValuesStencil", "MatSetValuesBlockedStencil",
                                      "MatSetValuesLocal",   "MatSetValuesBlockedLocal",
                                      "MatSetValues",        "MatSetValuesBlocked"};
  return names[(int)way];
}

// One of two materials, at random.
static bool second_material(const Lattice &l, const PetscInt p[3]) {
  return PetscRealPart(random_value(l.natural(p), 77)) > 0;
}

// What tells points apart that may have other coefficients.
static size_t key_of(const Lattice &l, Form form, const PetscInt p[3]) {
  size_t key = 0;
  if (form == Form::arrays) return l.natural(p);
  if (form == Form::indexed) return second_material(l, p);
  for (int a = 0; a < l.dim; a++) { // the distance to the ends
    if (l.ends[a] == DM_BOUNDARY_PERIODIC) continue;
    const PetscInt far = l.width + 1;
    key = key * (size_t)(far + 1) + (size_t)PetscMin(p[a], far);
    key = key * (size_t)(far + 1) + (size_t)PetscMin(l.N[a] - 1 - p[a], far);
  }
  return key;
}

static int number_of(const Lattice &l, const PetscInt arm[3]) {
  int number = 0;
  for (int a = 2; a >= 0; a--) number = number * (int)(2 * l.width + 1) + (int)(arm[a] + l.width);
  return number;
}

static void random_block(const Lattice &l, size_t arms, size_t key, const PetscInt arm[3], int seed,
                         PetscScalar *block) {
  const int  first = (seed * 150 + number_of(l, arm)) * (int)(l.dof * l.dof);
  const bool diagonal = !arm[0] && !arm[1] && !arm[2];
  for (PetscInt e = 0; e < l.dof * l.dof; e++) {
    block[e] = random_value(key, first + (int)e);
    if (diagonal && e % (l.dof + 1) == 0) block[e] += (PetscReal)(2 * arms * (size_t)l.dof);
  }
}

Fill random_fill(const Lattice &l, Form form, int seed) {
  const size_t arms = l.arms().size();
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    random_block(l, arms, key_of(l, form, p), arm, seed, block);
  };
}

Fill uniform_fill(const Lattice &l, int seed) {
  const size_t arms = l.arms().size();
  return [=](const PetscInt *, const PetscInt arm[3], PetscScalar *block) {
    random_block(l, arms, 0, arm, seed, block);
    const auto to_grid = [](PetscReal x) { return PetscFloorReal(x * 1024) / 1024; }; // sums are exact in any order
    for (PetscInt e = 0; e < l.dof * l.dof; e++)
#if defined(PETSC_USE_COMPLEX)
      block[e] = PetscCMPLX(to_grid(PetscRealPart(block[e])), to_grid(PetscImaginaryPart(block[e])));
#else
      block[e] = to_grid(block[e]);
#endif
  };
}

Fill diffusion_fill(const Lattice &l, Form form) {
  const auto medium = [=](const PetscInt p[3]) {
    return form == Form::arrays ? 2 + PetscRealPart(random_value(l.natural(p), 78)) : PetscReal(1);
  };
  const auto edge = [=](const PetscInt p[3], const PetscInt arm[3]) {
    PetscInt  q[3];
    PetscReal length2 = 0;
    bool      inside = true;
    for (int a = 0; a < 3; a++) {
      q[a] = p[a] + arm[a];
      length2 += (PetscReal)(arm[a] * arm[a]);
      inside = inside && (l.ends[a] == DM_BOUNDARY_PERIODIC || (q[a] >= 0 && q[a] < l.N[a]));
    }
    return (medium(p) + medium(inside ? q : p)) / (2 * length2);
  };
  const Points arms = l.arms();
  return [=](const PetscInt p[3], const PetscInt arm[3], PetscScalar *block) {
    PetscReal value = 0;
    if (arm[0] || arm[1] || arm[2]) {
      value = -edge(p, arm);
    } else {
      for (const Point &other : arms)
        if (other[0] || other[1] || other[2]) value += edge(p, other.data());
      value += form == Form::constant ? PetscReal(0.1) : second_material(l, p) ? PetscReal(0.5) : PetscReal(0.05);
    }
    for (PetscInt r = 0; r < l.dof; r++)
      for (PetscInt c = 0; c < l.dof; c++) block[r * l.dof + c] = r == c ? value : value / (2 * (PetscReal)l.dof);
  };
}

// values: (rows x dof) x (columns x dof), by rows
static void set_blocks(DM da, Mat A, Way way, const Points &rows, const Points &columns, const PetscScalar *values,
                       InsertMode mode) {
  const Lattice  l = lattice_of(da);
  const bool     blocked = way == Way::blocked_stencil || way == Way::blocked_local || way == Way::blocked_global;
  const bool     stencil = way == Way::stencil || way == Way::blocked_stencil;
  const PetscInt components = blocked ? 1 : l.dof;
  PetscInt       start[3], size[3];
  OK(DMDAGetGhostCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));

  if (stencil) {
    const auto points = [&](const Points &from) {
      std::vector<MatStencil> to;
      for (const Point &p : from)
        for (PetscInt c = 0; c < components; c++) {
          MatStencil s = {};
          s.i = p[0], s.j = p[1], s.k = p[2], s.c = c;
          to.push_back(s);
        }
      return to;
    };
    const std::vector<MatStencil> i = points(rows), j = points(columns);
    if (blocked)
      OK(MatSetValuesBlockedStencil(A, (PetscInt)i.size(), i.data(), (PetscInt)j.size(), j.data(), values, mode));
    else
      OK(MatSetValuesStencil(A, (PetscInt)i.size(), i.data(), (PetscInt)j.size(), j.data(), values, mode));
    return;
  }
  ISLocalToGlobalMapping map;
  OK(DMGetLocalToGlobalMapping(da, &map));
  const auto indices = [&](const Points &from) {
    std::vector<PetscInt> to;
    for (const Point &p : from) {
      const bool     there = l.has_ghost(p.data());
      const PetscInt place = ((p[2] - start[2]) * size[1] + p[1] - start[1]) * size[0] + p[0] - start[0];
      for (PetscInt c = 0; c < components; c++) to.push_back(there ? place * components + c : -1);
    }
    if (way == Way::global) OK(ISLocalToGlobalMappingApply(map, (PetscInt)to.size(), to.data(), to.data()));
    if (way == Way::blocked_global)
      OK(ISLocalToGlobalMappingApplyBlock(map, (PetscInt)to.size(), to.data(), to.data()));
    return to;
  };
  const std::vector<PetscInt> i = indices(rows), j = indices(columns);
  const PetscInt              m = (PetscInt)i.size(), n = (PetscInt)j.size();
  if (way == Way::local) OK(MatSetValuesLocal(A, m, i.data(), n, j.data(), values, mode));
  if (way == Way::blocked_local) OK(MatSetValuesBlockedLocal(A, m, i.data(), n, j.data(), values, mode));
  if (way == Way::global) OK(MatSetValues(A, m, i.data(), n, j.data(), values, mode));
  if (way == Way::blocked_global) OK(MatSetValuesBlocked(A, m, i.data(), n, j.data(), values, mode));
}

Where some_points(const Lattice &l, Form form) {
  return [=](const PetscInt p[3]) {
    if (form == Form::arrays) return PetscRealPart(random_value(l.natural(p), 79)) > PetscReal(0.4);
    if (form == Form::indexed) return second_material(l, p);
    for (int a = 0; a < l.dim; a++)
      if (l.ends[a] != DM_BOUNDARY_PERIODIC && (p[a] == 0 || p[a] == l.N[a] - 1)) return true;
    return false;
  };
}

void set_rows(DM da, Mat A, const Fill &fill, Way way, InsertMode mode, const Where &where, bool diagonal_only) {
  const Lattice            l = lattice_of(da);
  const Points             arms = diagonal_only ? Points{{0, 0, 0}} : l.arms();
  std::vector<PetscScalar> block((size_t)(l.dof * l.dof)), values;
  for_each_owned(da, [&](const PetscInt p[3]) {
    if (where && !where(p)) return;
    Points columns;
    for (const Point &arm : arms) {
      const Point q = {p[0] + arm[0], p[1] + arm[1], p[2] + arm[2]};
      // PETSc maps points before the first to a negative index, which is ignored, and cannot tell those after the last
      bool after = false;
      for (int a = 0; a < 3; a++) after = after || (l.ends[a] == DM_BOUNDARY_NONE && q[a] >= l.N[a]);
      if (!after) columns.push_back(q);
    }
    const size_t width = columns.size() * (size_t)l.dof;
    values.assign((size_t)l.dof * width, 0);
    for (size_t n = 0; n < columns.size(); n++) {
      const PetscInt arm[3] = {columns[n][0] - p[0], columns[n][1] - p[1], columns[n][2] - p[2]};
      fill(p, arm, block.data());
      for (PetscInt r = 0; r < l.dof; r++)
        for (PetscInt c = 0; c < l.dof; c++)
          values[(size_t)r * width + n * (size_t)l.dof + (size_t)c] = block[(size_t)(r * l.dof + c)];
    }
    set_blocks(da, A, way, {{p[0], p[1], p[2]}}, columns, values.data(), mode);
  });
}

void add_pairs(DM da, Mat A, const Fill &fill, Way way) {
  const Lattice            l = lattice_of(da);
  const size_t             dof = (size_t)l.dof;
  std::vector<PetscScalar> block(dof * dof), values(4 * dof * dof);
  for_each_owned(da, [&](const PetscInt p[3]) {
    for (const Point &arm : l.arms()) {
      if (number_of(l, arm.data()) < number_of(l, Point{0, 0, 0}.data())) continue; // each pair once
      const Point from = {p[0], p[1], p[2]}, to = {p[0] + arm[0], p[1] + arm[1], p[2] + arm[2]};
      if (!l.has_ghost(to.data())) continue;
      fill(p, arm.data(), block.data());
      if (from == to) {
        set_blocks(da, A, way, {from}, {from}, block.data(), ADD_VALUES);
        continue;
      }
      for (size_t half = 0; half < 2; half++) // the diagonal blocks have the opposite sign
        for (size_t r = 0; r < dof; r++)
          for (size_t c = 0; c < dof; c++) {
            values[(half * dof + r) * 2 * dof + half * dof + c] = -block[r * dof + c];
            values[(half * dof + r) * 2 * dof + (1 - half) * dof + c] = block[r * dof + c];
          }
      set_blocks(da, A, way, {from, to}, {from, to}, values.data(), ADD_VALUES);
    }
  });
}

void assemble(Mat A) {
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

void for_each_capture(const std::function<void(const Lattice &, Form, const std::string &)> &f) {
  const int every = sanitized ? 2 : 1;
  int       number = 0;
  for (const Lattice &lattice : lattices())
    for (Form form : forms_of_storage)
      for (const std::string &choice : {std::string(name_of(form)), std::string("automatic")}) {
        number++;
        if ((number / 2) % every || !in_turn(number)) continue;
        Options set("-mat_stencil_compress " + choice);
        f(lattice, form, describe(lattice) + "; " + name_of(form) + " coefficients, -mat_stencil_compress " + choice);
      }
}

} // namespace tests
