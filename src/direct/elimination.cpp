#include "direct/elimination.hpp"

#include <set>

namespace shellac {

namespace {

// on a GPU: threads at most, points of a piece at least, and pieces of a part at most
constexpr PetscInt64 most_threads = 65536;
constexpr PetscInt   least_piece = 32, most_pieces = 32;

// x of the rows with right-hand side b, with `lower` added to the last diagonal entry.
std::vector<PetscReal> solve_line(const std::vector<PetscReal> &lower, const std::vector<PetscReal> &upper,
                                  bool periodic, const std::vector<PetscReal> &b) {
  const size_t             N = b.size();
  std::vector<PetscScalar> ends(N * part, 0);
  std::vector<PetscReal>   x(N);
  for (size_t j = 0; j < N; j++) { // each row is a piece
    const PetscReal diagonal = lower[j] + upper[j] + (j + 1 < N ? 0 : lower[j]);
    PetscScalar    *end = ends.data() + j * part;
    end[value] = b[j] / diagonal, end[left] = lower[j] / diagonal, end[right] = upper[j] / diagonal;
    end[right_of_first] = 1;
  }
  SolveEnds{{1, 1, 1}, 0, (PetscInt)N, part, periodic, NULL}.line(ends.data());
  for (size_t j = 0; j < N; j++) x[j] = PetscRealPart(ends[j * part + own]);
  return x;
}

} // namespace

PetscErrorCode TridiagonalSolve::Create(MPI_Comm comm, const AxisModes &modes, int a, const Parts &parts,
                                        const Box &inside, bool device, HaloWay way) {
  const Axis            &axis = modes.axis;
  PetscMPIInt            rank;
  std::set<PetscInt>     begins;
  std::vector<PetscReal> lower, upper, constants((size_t)modes.n, 1), kink((size_t)modes.n);
  PetscReal              total = 0, moment = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  axis_ = a;
  part_ = parts[(size_t)rank];
  N_ = modes.n;
  first_ = part_.lo[a] - inside.lo[a];
  periodic_ = axis.periodic;
  free_ = periodic_ || (axis.edge.front() == 0 && axis.edge.back() == 0);

  PetscInt   least = N_; // points of a part along the axis
  PetscInt64 systems = 0;
  for (const Box &other : parts) {
    if (!other.points()) continue;
    begins.insert(other.lo[a]);
    least = PetscMin(least, other.size(a));
    systems = PetscMax(systems, other.points() / other.size(a));
  }
  pieces_ = 1;
  if (device)
    pieces_ = (PetscInt)PetscMin(most_threads / systems, (PetscInt64)PetscMin(most_pieces, least / least_piece));
  pieces_ = PetscMax(pieces_, 1);
  all_pieces_ = pieces_ * (PetscInt)begins.size();

  const PetscInt along = pieces_ * (free_ ? constant + 1 : part); // ends of a part
  const auto     ends_of = [&](Box box, PetscInt begin, PetscInt end) {
    if (!box.points()) begin = end = 0;
    box.lo[a] = begin * along, box.hi[a] = end * along;
    return box;
  };
  Parts ends[2];
  for (const Box &other : parts) {
    const PetscInt n = (PetscInt)std::distance(begins.begin(), begins.lower_bound(other.lo[a]));
    ends[0].push_back(ends_of(other, n, n + 1));
  }
  ends_ = lines_ = ends[0][(size_t)rank];
  if (begins.size() > 1) {
    ends[1] = whole_parts(ends_of(inside, 0, (PetscInt)begins.size()), (PetscMPIInt)parts.size(), a, -1);
    lines_ = ends[1][(size_t)rank];
    const Box rooms[2] = {ends_, lines_};
    move_ = std::make_unique<Move>();
    PetscCall(move_->Create(comm, ends, rooms, way));
  }

  for (PetscInt j = 0; j < N_; j++) {
    lower.push_back(axis.edge[j] / axis.mass[j]);
    upper.push_back(axis.edge[j + 1] / axis.mass[j]);
    total += axis.mass[j];
  }
  std::vector<PetscReal> &rows = rows_.change();
  rows = lower;
  rows.insert(rows.end(), upper.begin(), upper.end());
  if (free_) {
    for (PetscInt j = 0; j < N_; j++) kink[j] = (j + 1 < N_ ? 0 : 1 / axis.mass[j]) - 1 / total;
    const std::vector<PetscReal> repair = solve_line(lower, upper, periodic_, kink),
                                 of_constants = solve_line(lower, upper, periodic_, constants);
    for (PetscInt j = 0; j < N_; j++) moment += axis.mass[j] * repair[j];
    rows.insert(rows.end(), axis.mass.begin(), axis.mass.end());
    for (PetscInt j = 0; j < N_; j++) rows.push_back(-axis.mass[j] * (of_constants[j] + moment) / total);
    rows.insert(rows.end(), repair.begin(), repair.end());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool slopes, class T> PetscErrorCode TridiagonalSolve::Run(PetscMemType memory, const Systems<T> &systems) {
  const auto for_each_piece = [&](const auto &f) { // on the host one after the other: runs are of systems
    const PetscInt count = part_.points() ? pieces_ : 0, step = PetscMemTypeHost(memory) ? 1 : count;
    Box            box = without_place(part_);
    PetscFunctionBegin;
    for (PetscInt n = 0; n < count; n += step) {
      box.lo[axis_] = n, box.hi[axis_] = n + step;
      PetscCall(for_each_run(memory, box, f));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  if (systems.split) {
    Box          lines = without_place(lines_);
    PetscScalar *whole = systems.ends;
    SolveEnds    solve = {{1, (size_t)lines_.size(0), (size_t)lines_.size(0) * (size_t)lines_.size(1)},
                          axis_,
                          all_pieces_,
                          systems.ends_of_piece(),
                          periodic_,
                          NULL};
    PetscCall(for_each_piece(FindEnds<T, slopes>{systems}));
    if (move_) {
      PetscCall(whole_.Grow((size_t)lines_.points(), memory));
      whole = whole_.at(memory);
      PetscCall(move_->Run(memory, false, systems.ends, whole, packed_));
    }
    if (lines.points()) lines.hi[axis_] = 1;
    solve.ends = whole;
    PetscCall(for_each_run(memory, lines, solve));
    if (move_) PetscCall(move_->Run(memory, true, whole, systems.ends, packed_));
  }
  PetscCall(for_each_piece(SolvePieces<T, slopes>{systems}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
PetscErrorCode TridiagonalSolve::Apply(PetscMemType memory, const Symbol &symbol, PetscReal scale, T *x,
                                       Scratch<T> *work) {
  Systems<T>       systems = {};
  const PetscReal *rows;
  const PetscInt   size = part_.size(axis_);

  PetscFunctionBegin;
  PetscCall(rows_.Get(memory, &rows));
  systems.symbol = symbol;
  systems.scale = scale;
  for (int d = 0; d < 3; d++) {
    systems.stride[d] = d ? systems.stride[d - 1] * (size_t)part_.size(d - 1) : 1;
    systems.ends_stride[d] = d ? systems.ends_stride[d - 1] * (size_t)ends_.size(d - 1) : 1;
  }
  systems.axis = axis_;
  systems.N = N_, systems.first = first_, systems.size = size;
  systems.pieces = pieces_;
  systems.lower = rows, systems.upper = rows + N_;
  systems.for_part = rows + 2 * N_, systems.for_constant = rows + 3 * N_, systems.repair = rows + 4 * N_;
  systems.free = free_;
  systems.split = all_pieces_ > 1 || periodic_;
  systems.values = x;
  systems.systems[0] = (size_t)part_.size(axis_ == 0 ? 1 : 0);
  systems.systems[1] = size ? (size_t)(part_.points() / size) : 0;
  const size_t run = PetscMin((size_t)most_run, (size_t)part_.size(0));
  PetscCall(work->Grow((size_t)size * (PetscMemTypeHost(memory) ? run : systems.systems[1]), memory));
  systems.work = work->at(memory);
  if (systems.split) {
    PetscCall(known_.Grow((size_t)ends_.points(), memory));
    systems.ends = known_.at(memory);
  }
  if (symbol.is_sum)
    PetscCall(Run<false>(memory, systems));
  else
    PetscCall(Run<true>(memory, systems));
  PetscFunctionReturn(PETSC_SUCCESS);
}

size_t TridiagonalSolve::bytes() const {
  return (known_.size() + whole_.size() + packed_[0].size() + packed_[1].size()) * sizeof(PetscScalar) + rows_.bytes();
}

template PetscErrorCode TridiagonalSolve::Apply(PetscMemType, const Symbol &, PetscReal, PetscScalar *,
                                                Scratch<PetscScalar> *);
#if !defined(PETSC_USE_REAL_SINGLE)
template PetscErrorCode TridiagonalSolve::Apply(PetscMemType, const Symbol &, PetscReal, Single *, Scratch<Single> *);
#endif

} // namespace shellac
