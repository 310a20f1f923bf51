// Applications of a SeparableSolve, in PETSc's precision or in single.

#include "device/batch.hpp"
#include "direct/fourier.hpp"
#include "direct/modes.hpp"
#include "direct/solve.hpp"
#include "direct/types.hpp"

namespace shellac {

namespace {

template <class From, class To> struct CopyValues {
  const From     *from; // null: zeros
  To             *to;
  SHELLAC_HD void operator()(PetscInt i, PetscInt, PetscInt) const { to[i] = from ? (To)from[i] : (To)0; }
};

// Arrays between b and x are of T. Sums over eigenvalues, and pivots of elimination, are of PetscScalar: they cancel.
template <class T> class SolveIn final : public SeparableSolve {
public:
  PetscErrorCode Apply(PetscMemType memory, const PetscScalar *b, PetscScalar *x, bool transposed) override;
  size_t         bytes() const override;
  const char    *libraries() const override { return FourierTransform<T>::libraries(); }

private:
  using R = typename RealOf<T>::type;
  // not only skew operators
  static constexpr bool has_all = std::is_same<T, PetscScalar>::value || std::is_same<T, Single>::value;
  bool           transforms_exist(PetscMemType memory) const override { return FourierTransform<T>::exists(memory); }
  PetscErrorCode KeepModes(int a) override;
  Lines          LinesOf(const Box &part, int a) const;
  PetscErrorCode Multiply(PetscMemType memory, int a, bool back, const Box &part, const T *from, T **to);
  PetscErrorCode Other(PetscMemType memory, const T *x, size_t points, T **other);
  PetscErrorCode GetSymbol(PetscMemType memory, const Box &part, Symbol *symbol, PetscReal *scale);
  PetscErrorCode OnPeriodicGrid(PetscMemType memory, const T *b, T *x);
  PetscErrorCode InModes(PetscMemType memory, const Box &part, T *x);
  PetscErrorCode DivideSkew(PetscMemType memory, const Box &part, void *x);
  bool           transforms(int place) const; // along the axis there

  FourierTransform<T>   fourier_[3];
  PeriodicGrid<T>       periodic_;
  Mirror<T>             matrices_[3]; // V^-1 and V
  Scratch<T>            rounded_;     // b or x, where T is another type than theirs
  Scratch<T>            arrays_[2], packed_[2], eliminated_;
  Scratch<ComplexOf<R>> continued_;
  bool                  transposed_ = false; // of a skew operator
};

template <class T> PetscErrorCode SolveIn<T>::KeepModes(int a) {
  AxisModes &axis = axes_[a];

  PetscFunctionBegin;
  for (std::vector<PetscReal> *matrix : {&axis.forward, &axis.back}) {
    for (PetscReal value : *matrix) matrices_[a].change().push_back((T)(R)value);
    *matrix = std::vector<PetscReal>();
  }
  if (axis.way == Way::fourier) PetscCall(fourier_[a].Create(axis.fourier));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> Lines SolveIn<T>::LinesOf(const Box &part, int a) const {
  Lines lines = {part.size(a), 1, 1};
  for (int c = 0; c < 3; c++) (c < a ? lines.inner : lines.outer) *= c == a ? 1 : part.size(c);
  return lines;
}

template <class T> bool SolveIn<T>::transforms(int place) const {
  const Way way = axes_[order_[place]].way;
  return way == Way::fourier || way == Way::dense;
}

// By an axis' eigenvectors; *to becomes another array.
template <class T>
PetscErrorCode SolveIn<T>::Multiply(PetscMemType memory, int a, bool back, const Box &part, const T *from, T **to) {
  const Lines    lines = LinesOf(part, a);
  const PetscInt n = axes_[a].n;
  const size_t   line = (size_t)lines.inner * (size_t)n;
  const T       *matrices;
  T             *y;

  PetscFunctionBegin;
  if constexpr (has_all) {
    PetscCall(Other(memory, from, (size_t)part.points(), &y));
    PetscCall(matrices_[a].Get(memory, &matrices));
    T *const         x = const_cast<T *>(from);
    const BatchOf<T> matrix = {const_cast<T *>(matrices) + (back ? (size_t)n * n : 0), (size_t)n, 0};
    if (lines.inner == 1)
      PetscCall(
          MultiplyBatch<T>(memory, 'N', 'N', n, lines.outer, n, 1, matrix, {x, (size_t)n, 0}, 0, {y, (size_t)n, 0}, 1));
    else // the matrix is real
      PetscCall(MultiplyBatch<T>(memory, 'N', 'C', lines.inner, n, n, 1, {x, (size_t)lines.inner, line}, matrix, 0,
                                 {y, (size_t)lines.inner, line}, lines.outer));
    *to = y;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An array for a part, other than the one that is read.
template <class T> PetscErrorCode SolveIn<T>::Other(PetscMemType memory, const T *x, size_t points, T **other) {
  PetscFunctionBegin;
  Scratch<T> &array = arrays_[x && x == arrays_[0].at(memory) ? 1 : 0];
  PetscCall(array.Grow(points, memory));
  *other = array.at(memory);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
PetscErrorCode SolveIn<T>::GetSymbol(PetscMemType memory, const Box &part, Symbol *symbol, PetscReal *scale) {
  const PetscReal *values;

  PetscFunctionBegin;
  PetscCall(values_.Get(memory, &values));
  *scale = 1;
  const PetscReal *of[3];
  for (int a = 0; a < 3; a++) {
    of[a] = values + (part.lo[a] - inside_.lo[a]);
    values += axes_[a].n;
    *scale *= axes_[a].scale();
  }
  *symbol = SymbolOf(of[0], of[1], of[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode SolveIn<T>::OnPeriodicGrid(PetscMemType memory, const T *b, T *x) {
  const Box     &part = parts_[0];
  const PetscInt n[3] = {part.size(0), part.size(1), part.size(2)};
  const int      last = order_[2];
  const bool     eliminates = axes_[last].way == Way::tridiagonal;
  Symbol         symbol;
  PetscReal      scale;

  PetscFunctionBegin;
  PetscCall(GetSymbol(memory, part, &symbol, &scale));
  PetscCall(PetscLogEventBegin(direct_transform_event, 0, 0, 0, 0));
  if (part.points()) PetscCall(periodic_.Forward(n, eliminates ? last : 3, b, &continued_));
  PetscCall(PetscLogEventEnd(direct_transform_event, 0, 0, 0, 0));
  PetscCall(PetscLogEventBegin(direct_modes_event, 0, 0, 0, 0));
  if (is_skew_) {
    PetscCall(DivideSkew(memory, part, continued_.at(memory)));
  } else if constexpr (has_all) {
    if (eliminates) {
      PetscCall(grid_values_.Get(memory, &symbol.values[0]));
      PetscCall(of_grid_.Apply(memory, symbol, scale, reinterpret_cast<T *>(continued_.at(memory)), &eliminated_));
    } else if (part.points()) {
      const Box modes = periodic_.modes();
      PetscCall(for_each_of_box(memory, modes, DivideCoefficients<R>{symbol, scale, modes, continued_.at(memory)}));
    }
  }
  PetscCall(PetscLogEventEnd(direct_modes_event, 0, 0, 0, 0));
  PetscCall(PetscLogEventBegin(direct_transform_event, 0, 0, 0, 0));
  if (part.points()) PetscCall(periodic_.Back(&continued_, x));
  PetscCall(PetscLogEventEnd(direct_transform_event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// x: complex, over the part.
template <class T> PetscErrorCode SolveIn<T>::DivideSkew(PetscMemType memory, const Box &part, void *x) {
  DivideByPeriodicSymbol<R>   divide = {skew_, 1 / size_, zero_, {}, static_cast<ComplexOf<R> *>(x)};
  const ComplexOf<PetscReal> *roots;

  PetscFunctionBegin;
  PetscCall(roots_.Get(memory, &roots));
  for (int a = 0; a < 3; roots += axes_[a++].n) {
    divide.symbol.roots[a] = roots + part.lo[a];
    divide.scale *= axes_[a].scale();
  }
  divide.symbol.transposed = transposed_;
  divide.stride[0] = (size_t)part.size(0), divide.stride[1] = divide.stride[0] * (size_t)part.size(1);
  PetscCall(for_each_run(memory, without_place(part), divide));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode SolveIn<T>::InModes(PetscMemType memory, const Box &part, T *x) {
  const int last = order_[2];
  Symbol    symbol;
  PetscReal scale;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(direct_modes_event, 0, 0, 0, 0));
  PetscCall(GetSymbol(memory, part, &symbol, &scale));
  const size_t stride[2] = {(size_t)part.size(0), (size_t)part.size(0) * (size_t)part.size(1)};
  if (is_skew_) {
    PetscCall(DivideSkew(memory, part, x));
  } else if constexpr (has_all) {
    if (axes_[last].way == Way::tridiagonal)
      PetscCall(tridiagonal_.Apply(memory, symbol, scale, x, &eliminated_));
    else
      PetscCall(for_each_run(memory, without_place(part), DivideBySymbol<T>{symbol, scale, {stride[0], stride[1]}, x}));
  }
  PetscCall(PetscLogEventEnd(direct_modes_event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
PetscErrorCode SolveIn<T>::Apply(PetscMemType memory, const PetscScalar *b, PetscScalar *x, bool transposed) {
  constexpr bool rounds = !std::is_same<T, PetscScalar>::value;
  const size_t   owned = (size_t)owned_.points();
  T             *now = NULL, *room; // values at present, in b if there are none; an array of the size of x, or x
  int            at = 0;            // the parts that they are on
  bool           done = false;      // x has the solution

  PetscFunctionBegin;
  transposed_ = transposed;
  if (!inside_.points()) PetscFunctionReturn(for_each(memory, line_of(owned), CopyValues<T, PetscScalar>{NULL, x}));
  if constexpr (rounds) {
    PetscCall(rounded_.Grow(owned, memory));
    room = rounded_.at(memory);
  } else
    room = x;
  const auto own = [&]() { // values that may change
    PetscFunctionBegin;
    if (!now) PetscCall(for_each(memory, line_of(owned), CopyValues<PetscScalar, T>{b, room}));
    if (!now) now = room;
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto read = [&](const T **values) {
    PetscFunctionBegin;
    if constexpr (rounds) PetscCall(own());
    *values = now;
    if constexpr (!rounds)
      if (!now) *values = b;
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto move = [&](bool back) {
    const int to = at + (back ? -1 : 1);
    const T  *from = NULL;
    T        *y = room;
    PetscFunctionBegin;
    PetscCall(PetscLogEventBegin(direct_move_event, 0, 0, 0, 0));
    PetscCall(read(&from));
    if (to > 0) PetscCall(Other(memory, from, (size_t)parts_[(size_t)to].points(), &y));
    PetscCall(moves_[(size_t)PetscMin(at, to)]->Run(memory, back, from, y, packed_));
    now = y;
    at = to;
    PetscCall(PetscLogEventEnd(direct_move_event, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (PetscMemTypeDevice(memory) && is_periodic_grid()) {
    const T *from = NULL;
    PetscCall(read(&from));
    PetscCall(OnPeriodicGrid(memory, from, room));
    if (rounds) PetscCall(for_each(memory, line_of(owned), CopyValues<T, PetscScalar>{room, x}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto transform = [&](int place, bool back) {
    const int   a = order_[place];
    const Box  &part = parts_[(size_t)at];
    const Lines lines = LinesOf(part, a);
    const T    *from = NULL;
    PetscFunctionBegin;
    if (!transforms(place) || !part.points()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscLogEventBegin(direct_transform_event, 0, 0, 0, 0));
    if (axes_[a].way == Way::dense) {
      PetscCall(read(&from));
      PetscCall(Multiply(memory, a, back, part, from, &now));
    } else if (!now) {
      PetscCall(fourier_[a].Apply(memory, back, lines, b, room, &continued_));
      now = room;
    } else {
      done = back && at == 0;
      for (int earlier = 0; earlier < place; earlier++) done = done && !transforms(earlier);
      if (done)
        PetscCall(fourier_[a].Apply(memory, back, lines, now, x, &continued_));
      else
        PetscCall(fourier_[a].Apply(memory, back, lines, now, now, &continued_));
    }
    PetscCall(PetscLogEventEnd(direct_transform_event, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (int place = 0; place < 3; place++) {
    while (at < part_of_[place]) PetscCall(move(false));
    PetscCall(transform(place, false));
  }
  PetscCall(own()); // there was no transform if the only axis is solved in modes
  PetscCall(InModes(memory, parts_[(size_t)at], now));
  for (int place = 2; place >= 0; place--) {
    while (at > part_of_[place]) PetscCall(move(true));
    PetscCall(transform(place, true));
  }
  if (has_fixed_) PetscCall(for_each(memory, line_of(owned), CopyValues<T, T>{NULL, room}));
  while (at > 0) PetscCall(move(true));
  if (!done && (rounds || now != room)) PetscCall(for_each(memory, line_of(owned), CopyValues<T, PetscScalar>{now, x}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> size_t SolveIn<T>::bytes() const {
  size_t scalars = eliminated_.size() + rounded_.size();
  size_t tables = values_.bytes() + grid_values_.bytes() + tridiagonal_.bytes() + of_grid_.bytes();
  for (int n = 0; n < 2; n++) scalars += arrays_[n].size() + packed_[n].size();
  for (int a = 0; a < 3; a++) tables += matrices_[a].bytes() + fourier_[a].bytes();
  return scalars * sizeof(T) + continued_.size() * sizeof(ComplexOf<R>) + tables;
}

} // namespace

std::unique_ptr<SeparableSolve> SeparableSolve::Make(bool single, bool complex) {
#if !defined(PETSC_USE_COMPLEX)
  if (single && complex) return std::make_unique<SolveIn<ComplexOf<float>>>();
  if (complex) return std::make_unique<SolveIn<ComplexOf<PetscReal>>>();
#endif
  (void)complex;
  if (single) return std::make_unique<SolveIn<Single>>();
  return std::make_unique<SolveIn<PetscScalar>>();
}

} // namespace shellac
