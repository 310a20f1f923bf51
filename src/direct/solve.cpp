#include "direct/solve.hpp"

#include <algorithm>
#include <array>

#include "device/batch.hpp"
#include "direct/fourier.hpp"

namespace shellac {

namespace {

constexpr PetscInt64 least_points = 1 << 19; // on a GPU, for elimination in place of transforms
constexpr PetscInt   most_dense = 8192;     // points of an axis whose eigenvectors are computed
// of two dimensions where transforms are not split; multigrid takes less time on a GPU with more
constexpr PetscInt64 most_in_plane = (PetscInt64)4096 * 4096;

struct SetMasses {
  Box              owned, inside;
  const PetscReal *of[3];
  PetscScalar     *to;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    PetscReal      mass = 1;
    bool           is_inside = true;
    for (int a = 0; a < 3; a++) is_inside = is_inside && p[a] >= inside.lo[a] && p[a] < inside.hi[a];
    for (int a = 0; a < 3 && is_inside; a++) mass *= of[a][p[a] - inside.lo[a]];
    to[owned.index(p)] = mass;
  }
};

} // namespace

void SeparableSolve::Range(const PetscReal low[3], const PetscReal high[3], bool but_lowest, PetscReal *least,
                           PetscReal *most) const {
  *least = PETSC_MAX_REAL, *most = -PETSC_MAX_REAL;
  for (int corner = 0; corner < 8; corner++) {
    PetscReal value = 0;
    bool      lowest = true;
    for (int a = 0; a < 3; a++) lowest = lowest && (!(corner >> a & 1) || low[a] == high[a]);
    if (but_lowest && lowest) continue;
    for (int set = 0; set < 8; set++) {
      PetscReal product = PetscRealPart(terms_[set]);
      for (int a = 0; a < 3; a++)
        if (set >> a & 1) product *= corner >> a & 1 ? high[a] : low[a];
      value += product;
    }
    *least = PetscMin(*least, value), *most = PetscMax(*most, value);
  }
}

// Elimination takes the axis that costs most otherwise, if no pivot can vanish.
void SeparableSolve::Choose(const Parts &parts, bool device, bool *is_definite, std::string *why) {
  const PetscMemType memory = device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  PetscReal          low[3], high[3], least, most;
  int                eliminated = -1;
  bool               is_real = true;

  std::array<PetscInt, 3> best = {};

  for (int a = 0; a < 3; a++) {
    AxisModes &axis = axes_[a];
    PetscReal  sign = 1;
    axis.has_fourier = axis.has_fourier && transforms_exist(memory);
    if (axis.has_fourier) axis.way = Way::fourier;
    high[a] = axis.has_fourier ? 4 * axis.coupling() : 0;
    for (PetscInt i = 0; i < axis.n && !axis.has_fourier; i++) { // twice the diagonal entry, by Gershgorin's circles
      const PetscReal both = axis.axis.edge[i] + axis.axis.edge[i + 1], bound = 2 * both / axis.axis.mass[i];
      if (both != 0) sign = both > 0 ? 1 : -1;
      if (PetscAbsReal(bound) > PetscAbsReal(high[a])) high[a] = bound;
    }
    low[a] = axis.has_fourier ? high[a] * axis.fourier.sine2(0) : sign * axis.axis.lowest();
    axis.fourier.complex = is_skew_;
    if (is_skew_ && axis.n > 1 && !axis.has_fourier) *why = "needs Fourier transforms, which this build has not";
  }
  *is_definite = false;
  if (is_skew_) return;
  for (int set = 1; set < 8; set++) is_real = is_real && PetscImaginaryPart(terms_[set]) == 0;
  // without a shift, zero may be the eigenvalue of constants, but of nothing else
  const bool shifted = terms_[0] != (PetscScalar)0;
  Range(low, high, !shifted, &least, &most);
  const PetscReal tiny = 8 * PETSC_MACHINE_EPSILON * PetscMax(PetscAbsReal(least), PetscAbsReal(most));
  const bool      definite = is_real && ((is_sum_ && !shifted) || least > tiny || most < -tiny);
  *is_definite = definite;
  for (int a = 0; a < 3; a++) {
    const std::vector<PetscReal> &edge = axes_[a].axis.edge;
    const bool couples = axes_[a].n > 1 && std::count(edge.begin() + 1, edge.end() - 1, PetscReal(0)) == 0;
    const bool split = !is_whole(parts, inside_, a), few = device && inside_.points() < least_points;
    if (!definite || !couples || (axes_[a].has_fourier && !split && (axes_[a].axis.periodic || few))) continue;
    // without a transform, the axis would be dense; between ranks, all values would move
    const std::array<PetscInt, 3> gain = {!axes_[a].has_fourier, axes_[a].has_fourier ? split : axes_[a].n, a};
    if (eliminated < 0 || gain > best) eliminated = a, best = gain;
  }
  if (eliminated >= 0) axes_[eliminated].way = Way::tridiagonal;
  for (int a = 0; a < 3; a++) {
    if (axes_[a].way != Way::dense) continue;
    const auto ends = std::minmax_element(axes_[a].axis.mass.begin(), axes_[a].axis.mass.end());
    if (axes_[a].n > most_dense)
      *why = "has an axis of " + std::to_string(axes_[a].n) +
             " points that no Fourier transform serves, beside another "
             "one or with eigenvalues of both signs; " +
             std::to_string(most_dense) + " are the most for dense products";
    else if (!(*ends.second <= 1e8 * *ends.first))
      *why = "has rows with weights of a wide range along an axis that needs its eigenvectors, as of strong convection";
  }
}

// Nanoseconds of a multiplication and an addition in products of matrices: BLAS differ by a factor of ten. Collective.
static PetscErrorCode time_product(MPI_Comm comm, PetscReal *time) {
  constexpr PetscInt n = 64;
  static PetscReal   least = PETSC_MAX_REAL;

  PetscFunctionBegin;
  if (least == PETSC_MAX_REAL) {
    std::vector<PetscScalar> values(3 * n * n, 1);
    const auto               matrix = [&](PetscInt which) { return Batch{values.data() + which * n * n, n, n * n}; };
    for (int turn = 0; turn < 4; turn++) {
      PetscLogDouble begin, end;
      PetscCall(PetscTime(&begin));
      PetscCall(
          MultiplyBatch<PetscScalar>(PETSC_MEMTYPE_HOST, 'N', 'N', n, n, n, 1, matrix(0), matrix(1), 0, matrix(2), 1));
      PetscCall(PetscTime(&end));
      least = PetscMin(least, (PetscReal)(end - begin) * 1e9 / (n * n * n));
    }
  }
  *time = least;
  PetscCallMPI(MPI_Bcast(time, 1, MPIU_REAL, 0, comm)); // all ranks choose the same
  PetscFunctionReturn(PETSC_SUCCESS);
}

// With multigrid to 1e-8: one solve with its set-up, as `shellac_bench_choice` measures it.
PetscErrorCode SeparableSolve::Compare(bool device, std::string *why) const {
  // nanoseconds of cycles, [device][stretched], at least and for each point
  constexpr PetscReal least[2][2] = {{0, 0}, {8e5, 4e6}}, cycles[2][2] = {{85, 600}, {0.7, 3}};
  const bool          plane = axes_[0].n < 2 || axes_[1].n < 2 || axes_[2].n < 2;
  bool                stretched = false;
  PetscMPIInt         ranks;
  PetscReal           time = 0, product = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm_, &ranks));
  const PetscReal points = (PetscReal)inside_.points() / (PetscReal)ranks;
  for (const AxisModes &axis : axes_)
    if (axis.way == Way::dense && product == 0) PetscCall(time_product(comm_, &product));
  // for cubes of the numbers of points of an axis with eigenvectors, and in its products; of a GPU: nothing
  const PetscReal decompose = 0.05 + 0.4 * product, multiply = device ? 0 : 0.04 + 2 * product;
  for (const AxisModes &axis : axes_) {
    const PetscReal n = (PetscReal)axis.n;
    if (axis.way == Way::dense)
      time += (decomposes_fast(axis.axis) ? decompose : 1.4) * n * n * n + multiply * n * points;
    stretched = stretched || axis.is_stretched();
  }
  const bool slow = time > least[device][stretched] + cycles[device][stretched] * points;
  for (const AxisModes &axis : axes_) {
    const bool whole = axis.way == Way::fourier && axis.fourier.length > axis.n + 1 && !axis.fourier.is_split();
    if (axis.way == Way::dense && slow)
      *why = "has an axis of " + std::to_string(axis.n) + " points that would need its eigenvectors";
    if (device && plane && whole && inside_.points() > most_in_plane * ranks)
      *why = "is of a large plane grid on GPUs, with an axis of " + std::to_string(axis.n) +
             " points that needs transforms of twice its length";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SeparableSolve::MakeParts(const Grid &grid, Parts parts, bool device, HaloWay way) {
  PetscMPIInt rank, ranks;
  bool        split[3];
  int         last = -1;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  PetscCallMPI(MPI_Comm_size(comm_, &ranks));
  has_fixed_ = false;
  for (int a = 0; a < 3; a++) {
    has_fixed_ = has_fixed_ || axes_[a].n < grid.N[a];
  }
  for (int a = 0; a < 3; a++) {
    split[a] = !is_whole(parts, inside_, a);
    const bool better = last < 0 || axes_[last].n < 2 || (axes_[a].n > 1 && (split[a] || !split[last]));
    if (last < 0 || (axes_[last].way != Way::tridiagonal && (axes_[a].way == Way::tridiagonal || better))) last = a;
  }
  order_[2] = last;
  for (int a = 0, place = 0; a < 3; a++)
    if (a != last) order_[place++] = a;
  if (split[order_[0]] && !split[order_[1]]) std::swap(order_[0], order_[1]); // what needs no move comes first
  parts_.assign(1, parts[(size_t)rank]);
  moves_.clear();
  for (int place = 0; place < 3; place++) {
    const int a = order_[place];
    Parts     next = parts;
    if (!is_whole(parts, inside_, a) && axes_[a].way != Way::tridiagonal)
      next = whole_parts(inside_, ranks, a, place < 2 ? order_[place + 1] : -1);
    else if (!has_fixed_ || !moves_.empty())
      next.clear();
    if (!next.empty()) {
      const Parts sides[2] = {parts, next};
      const Box   rooms[2] = {moves_.empty() ? owned_ : parts_.back(), next[(size_t)rank]};
      moves_.push_back(std::make_unique<Move>());
      PetscCall(moves_.back()->Create(comm_, sides, rooms, way));
      parts = next;
      parts_.push_back(parts[(size_t)rank]);
    }
    part_of_[place] = (int)parts_.size() - 1;
  }
  if (axes_[last].way != Way::tridiagonal) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(tridiagonal_.Create(comm_, axes_[last], last, parts, inside_, device, way));
  if (!device || !is_periodic_grid()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(of_grid_.Create(comm_, axes_[last], last, GridModes(parts), GridModes({inside_})[0], device, way));
  std::vector<PetscReal> &values = grid_values_.change();
  values.clear();
  for (PetscReal value : axes_[0].values) values.insert(values.end(), lines_in_pair<PetscScalar>, value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool SeparableSolve::FindZerosOfSkew() {
  using Complex = PeriodicSymbol::Complex;
  std::vector<Complex> &roots = roots_.change();
  const Box            &part = parts_.back();
  PeriodicSymbol        symbol = skew_;
  bool                  zeros = false;
  size_t                begin[3];

  roots.clear();
  for (int a = 0; a < 3; a++) {
    begin[a] = roots.size();
    for (PetscInt k = 0; k < axes_[a].n; k++) {
      const PetscReal frequency = 2 * PETSC_PI * (PetscReal)k / (PetscReal)axes_[a].n;
      roots.push_back({PetscCosReal(frequency), PetscSinReal(frequency)});
    }
  }
  for (int a = 0; a < 3; a++) symbol.roots[a] = roots.data() + begin[a];
  zero_ = 0;
  for (const Complex &entry : symbol.entry)
    zero_ += 8 * PETSC_MACHINE_EPSILON * (PetscAbsReal(entry.re) + PetscAbsReal(entry.im));
  for (PetscInt k = part.lo[2]; k < part.hi[2]; k++)
    for (PetscInt j = part.lo[1]; j < part.hi[1]; j++) {
      const PetscInt p[3] = {part.lo[0], j, k};
      Complex        of[3];
      symbol.along(p, of);
      for (PetscInt i = part.lo[0]; i < part.hi[0]; i++) {
        const Complex value = symbol.value(of, i);
        zeros = zeros || value.re * value.re + value.im * value.im <= zero_ * zero_;
      }
    }
  return zeros;
}

// Whether an eigenvalue is zero. Without a shift, all axes have one then, which is exactly zero.
bool SeparableSolve::FindZeros() {
  PetscReal low[3], high[3], least, most;
  bool      all_have = true, eliminates = false;

  if (is_skew_) return FindZerosOfSkew();
  for (int a = 0; a < 3; a++) {
    const AxisModes &axis = axes_[a];
    const auto      &edge = axis.axis.edge;
    const auto       ends = std::minmax_element(axis.values.begin(), axis.values.end());
    bool             has = false;
    for (PetscReal value : axis.values) has = has || value == 0;
    if (axis.way == Way::tridiagonal) {
      eliminates = true;
      has = axis.axis.periodic || (edge.front() == 0 && edge.back() == 0);
    }
    all_have = all_have && has;
    low[a] = *ends.first, high[a] = *ends.second;
  }
  Range(low, high, false, &least, &most);
  const bool shifted = terms_[0] != (PetscScalar)0, exact = is_sum_ && !shifted;
  PetscReal  largest = 0;
  for (int set = 0; set < 8; set++) {
    PetscReal product = PetscAbsScalar(terms_[set]);
    for (int a = 0; a < 3; a++)
      if (set >> a & 1) product *= PetscMax(PetscAbsReal(low[a]), PetscAbsReal(high[a]));
    largest += product;
  }
  zero_ = exact ? 0 : 8 * PETSC_MACHINE_EPSILON * largest;
  if (exact || eliminates) return !shifted && all_have;
  if (least > zero_ || most < -zero_) return false;
  const Box   &part = parts_.back();
  const Symbol symbol = SymbolOf(axes_[0].values.data() - inside_.lo[0], axes_[1].values.data() - inside_.lo[1],
                                 axes_[2].values.data() - inside_.lo[2]);
  for (PetscInt k = part.lo[2]; k < part.hi[2]; k++)
    for (PetscInt j = part.lo[1]; j < part.hi[1]; j++) {
      const PetscInt     p[3] = {part.lo[0], j, k};
      const SymbolOfLine line = symbol.along(0, p);
      for (PetscInt i = part.lo[0]; i < part.hi[0]; i++)
        if (PetscAbsScalar(line.base + line.slope * symbol.values[0][i]) <= zero_) return true;
    }
  return false;
}

PetscErrorCode SeparableSolve::Create(const Grid &grid, const ProductsOfAxes &of, bool device, bool if_fast,
                                      HaloWay way, std::string *why) {
  const Axis        *axes = of.axes;
  const PetscScalar *terms = of.terms;
  PetscReal          strength = PetscAbsScalar(terms[0]);
  bool      definite;
  int       zeros;

  PetscFunctionBegin;
  comm_ = grid.comm;
  std::copy(terms, terms + 8, terms_);
  is_skew_ = of.skew;
  size_ = is_skew_ ? 0 : 1;
  for (const PetscScalar &entry : of.entry) size_ = PetscMax(size_, PetscAbsScalar(entry));
  for (int e = 0; e < 27 && is_skew_; e++)
    skew_.entry[e] = {PetscRealPart(of.entry[e]) / size_, PetscImaginaryPart(of.entry[e]) / size_};
  for (int set = 1; set < 8; set++) is_sum_ = is_sum_ && terms[set] == (PetscReal)(set == 1 || set == 2 || set == 4);
  for (int a = 0; a < 3; a++)
    for (PetscInt i = 0; i < axes[a].N(); i++)
      strength = PetscMax(strength, 4 * PetscAbsReal(axes[a].edge[i] / axes[a].mass[i]));
  for (int a = 0; a < 3; a++) {
    axes_[a].Recognise(axes[a], is_sum_ ? cancellation * strength : 0);
    inside_.lo[a] = axes_[a].first, inside_.hi[a] = axes_[a].first + axes_[a].n;
    owned_.lo[a] = grid.start[a], owned_.hi[a] = grid.start[a] + grid.size[a];
  }
  if (!inside_.points()) PetscFunctionReturn(PETSC_SUCCESS); // all rows are the identity's
  const Parts parts = parts_of_grid(grid, inside_);
  Choose(parts, device, &definite, why);
  if (if_fast && definite && why->empty()) PetscCall(Compare(device, why));
  if (!why->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  std::vector<PetscReal> &values = values_.change();
  values.clear();
  for (int a = 0; a < 3; a++) {
    AxisModes &axis = axes_[a];
    PetscCall(axis.Decompose());
    values.insert(values.end(), axis.values.begin(), axis.values.end());
    PetscCall(KeepModes(a));
  }
  PetscCall(MakeParts(grid, parts, device, way));
  zeros = FindZeros();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &zeros, 1, MPI_INT, MPI_MAX, comm_));
  singular_ = zeros;
  CountFlops();
  PetscFunctionReturn(PETSC_SUCCESS);
}

void SeparableSolve::CountFlops() {
  flops_ = 0;
  for (int place = 0; place < 3; place++) {
    const AxisModes     &axis = axes_[order_[place]];
    const PetscLogDouble points = (PetscLogDouble)parts_[(size_t)part_of_[place]].points();
    const PetscLogDouble lines = axis.n ? points / (PetscLogDouble)axis.n : 0,
                         length = (PetscLogDouble)axis.fourier.length;
    if (axis.way == Way::fourier) // 5 n log2 n of a complex transform, and what comes before and after it
      flops_ += 2 * lines / lines_in_pair<PetscScalar> * length * (5 * PetscLog2Real(length) + 8);
    if (axis.way == Way::dense) flops_ += 4 * points * (PetscLogDouble)axis.n;
    if (axis.way == Way::tridiagonal) flops_ += 11 * points;
    if (place == 2 && axis.way != Way::tridiagonal) flops_ += 5 * points;
  }
}

Symbol SeparableSolve::SymbolOf(const PetscReal *x, const PetscReal *y, const PetscReal *z) const {
  Symbol symbol = {{x, y, z}, {}, zero_, is_sum_};
  std::copy(terms_, terms_ + 8, symbol.terms);
  return symbol;
}

bool SeparableSolve::is_periodic_grid() const {
  const int last = order_[2], transformed = axes_[last].way == Way::tridiagonal ? last : 3;
  bool      is = SHELLAC_CUDA && moves_.empty() && axes_[0].n > 1 && transformed > 0;
  for (int a = 0; a < 3; a++) {
    const bool periodic = axes_[a].way == Way::fourier && axes_[a].fourier.periodic && a < transformed;
    is = is && (axes_[a].n == 1 || periodic || a == transformed);
  }
  return is;
}

// The parts of their modes, of which each is as many scalars side by side.
Parts SeparableSolve::GridModes(Parts parts) const {
  for (Box &part : parts)
    part.hi[0] =
        part.lo[0] + (part.points() ? lines_in_pair<PetscScalar> * PeriodicGrid<PetscScalar>::modes(axes_[0].n) : 0);
  return parts;
}

PetscErrorCode SeparableSolve::GetMasses(PetscMemType memory, PetscScalar *masses) const {
  Mirror<PetscReal> of_axes;
  const PetscReal  *of;
  SetMasses         set = {owned_, inside_, {}, masses};

  PetscFunctionBegin;
  for (const AxisModes &axis : axes_)
    of_axes.change().insert(of_axes.change().end(), axis.axis.mass.begin(), axis.axis.mass.end());
  PetscCall(of_axes.Get(memory, &of));
  for (int a = 0; a < 3; of += axes_[a++].n) set.of[a] = of;
  PetscCall(for_each_of_box(memory, owned_, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
