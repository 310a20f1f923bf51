#include "capture/sweeps_on_host.hpp"

#include <algorithm>

namespace shellac {

// ---- points of a row -----------------------------------------------------------------------------------------------

constexpr PetscInt chunk = 256; // points whose sums stay in the first cache

// start = keep x - omega rest/d, and a factor for the recurrence.
template <class T>
SHELLAC_WIDE void start_recurrence(const T *rest, const T *inverse, const T *side, PetscReal omega, PetscReal keep,
                                   const T *x, PetscInt n, T *__restrict__ start, T *__restrict__ factor) {
  for (PetscInt i = 0; i < n; i++) {
    const T over_d = -omega * inverse[i];
    start[i] = keep != 0 ? keep * x[i] + over_d * rest[i] : over_d * rest[i];
    factor[i] = over_d * side[i];
  }
}

// x[i] = start[i] + factor[i] x[i - 1], or from the last point on with x[i + 1]; copied to out, where that is not null. (A
// copy after the loop would wait for its stores.)
template <class T>
SHELLAC_WIDE void recur(const T *start, const T *factor, bool backward, PetscInt n, T *__restrict__ x,
                        T *__restrict__ out) {
  T last = backward ? x[n] : x[-1];
  if (!out) out = x;
  if (backward)
    for (PetscInt i = n - 1; i >= 0; i--) out[i] = x[i] = last = start[i] + factor[i] * last;
  else
    for (PetscInt i = 0; i < n; i++) out[i] = x[i] = last = start[i] + factor[i] * last;
}

// x = keep x + omega D⁻¹ (rest - the products waiting), point by point, block by block of up to `most` values. size: of the
// one block that has all values; 0: any. first: of each row's products waiting; dense: they are with all values of the
// neighbour. rest: [dof][chunk]
template <int size, bool dense, class T>
SHELLAC_WIDE void recur_blocks(const Waiting<T> *waiting, const int *first, const T *rest, const T *inverse,
                               size_t inverse_size, bool backward, PetscReal omega, PetscReal keep, PetscInt dof,
                               PetscInt most, PetscInt64 component, PetscInt n, T *x, T *out) {
  constexpr int room = size ? size : captured::most_values;
  for (PetscInt m = 0; m < n; m++) {
    const PetscInt i = backward ? n - 1 - m : m, blocks = size ? 1 : (dof + most - 1) / most;
    for (PetscInt b = 0; b < blocks; b++) {
      const PetscInt lo = (backward ? blocks - 1 - b : b) * most, in_block = size ? size : PetscMin(most, dof - lo);
      const T       *D = inverse + (size_t)i * inverse_size + (size_t)(lo * most);
      T              d[room], next[room];
      for (int c = 0; dense && c < size; c++) next[c] = x[i + waiting[c].offset];
      for (int r = 0; r < in_block; r++) {
        T part[2] = {rest[(lo + r) * chunk + i], 0}; // each waits for less
        if (dense)
          for (int c = 0; c < size; c++) part[c % 2] -= waiting[r * size + c].coefficient[i] * next[c];
        else
          for (int w = first[lo + r]; w < first[lo + r + 1]; w++)
            part[0] -= waiting[w].coefficient[i] * x[i + waiting[w].offset];
        d[r] = part[0] + part[1];
      }
      T y[2][size + 1] = {};
      for (int c = 0; c < size; c++)
        for (int r = 0; r < size; r++) y[c % 2][r] += D[c * size + r] * d[c];
      for (int r = 0; r < in_block; r++) {
        T &to = x[(lo + r) * component + i], value = size ? y[0][r] + y[1][r] : T(0);
        for (int c = 0; !size && c < in_block; c++) value += D[c * in_block + r] * d[c];
        value *= omega;
        to = keep != 0 ? keep * to + value : value;
        if (out) out[i * dof + lo + r] = to;
      }
    }
  }
}

// The products of row r that do not wait for points of this row: their coefficients and values.
int HostSweeps::find_terms(PetscInt r, const T *row, PetscInt from) {
  int count = 0;
  for (int s : terms_[r].ahead) {
    coefficient_[count] = lines_.coefficient(s) + from;
    value_[count++] = row + from + offset_[s];
  }
  return count;
}

void HostSweeps::relax_chain(const Pass &pass, T *row, size_t at, PetscInt from, PetscInt n) {
  const T *b = pass.b ? pass.b + at + from : nullptr, *side = lines_.coefficient(terms_[0].side[0]) + from;
  T        rest[chunk], start[chunk], factor[chunk], *x = row + from; // rest: A x - b

  const int terms = find_terms(0, row, from);
  for (PetscInt i = 0; b && i < n; i++) rest[i] = -b[i];
  add_all_slots<false>(terms, coefficient_.data(), value_.data(), n, b != nullptr, rest);
  start_recurrence(rest, lines_.inverse() + from, side, omega_, pass.keep, x, n, start, factor);
  recur(start, factor, pass.backward, n, x, pass.x ? pass.x + at + from : nullptr);
}

void HostSweeps::relax_blocks(const Pass &pass, T *row, size_t at, PetscInt from, PetscInt n) {
  const PetscInt dof = patch_->dof;
  T             *rest = work_.data();

  first_.assign(1, 0);
  waiting_.clear();
  for (PetscInt r = 0; r < dof; r++, rest += chunk) {
    const int terms = find_terms(r, row, from);
    add_all_slots<false>(terms, coefficient_.data(), value_.data(), n, false, rest);
    if (pass.b)
      for (PetscInt i = 0; i < n; i++) rest[i] = pass.b[(at + from + i) * dof + r] - rest[i];
    else
      for (PetscInt i = 0; i < n; i++) rest[i] = -rest[i];
    for (int s : terms_[r].side) waiting_.push_back({lines_.coefficient(s) + from, offset_[s]});
    first_.push_back((int)waiting_.size());
  }
  using Recur = decltype(&recur_blocks<0, false, T>);
  static const Recur of_size[][2] = {
      {recur_blocks<0, false>, recur_blocks<0, false>}, {recur_blocks<0, false>, recur_blocks<0, false>},
      {recur_blocks<2, false>, recur_blocks<2, true>},  {recur_blocks<3, false>, recur_blocks<3, true>},
      {recur_blocks<4, false>, recur_blocks<4, true>},  {recur_blocks<5, false>, recur_blocks<5, true>}};
  const size_t size = dof <= most_ ? (size_t)dof : 0; // of one block
  bool         dense = size && waiting_.size() == size * size;
  for (size_t w = size; dense && w < waiting_.size(); w++) dense = waiting_[w].offset == waiting_[w - size].offset;
  const Recur recur = of_size[size][dense];
  recur(waiting_.data(), first_.data(), work_.data(), lines_.inverse() + from * lines_.inverse_size(),
        lines_.inverse_size(), pass.backward, omega_, pass.keep, dof, most_, field_.component(), n, row + from,
        pass.x ? pass.x + (at + from) * dof : nullptr);
}

// ---- sweeps --------------------------------------------------------------------------------------------------------

void HostSweeps::choose_terms(const Pass &pass) {
  terms_.resize((size_t)patch_->dof);
  needed_.clear();
  for (PetscInt r = 0; r < patch_->dof; r++) {
    Terms         &terms = terms_[r];
    const PetscInt lo = r / most_ * most_, hi = PetscMin(lo + most_, patch_->dof);
    terms.ahead.clear();
    terms.side.clear();
    for (int s = a_->first[r]; s < a_->first[r + 1]; s++) {
      const Slot    &slot = a_->slot[s];
      const PetscInt step = slot.step[2] ? slot.step[2] : slot.step[1] ? slot.step[1] : slot.step[0];
      const bool     in_row = !slot.step[1] && !slot.step[2];
      if (step == 0 && slot.c >= lo && slot.c < hi) continue; // of the block
      const bool before = (step ? step < 0 : slot.c < lo) != pass.backward;
      if (pass.half && !before) continue;
      (in_row && before ? terms.side : terms.ahead).push_back(s);
      needed_.push_back(s);
    }
  }
}

void HostSweeps::sweep(const Pass &pass) {
  const Patch   &patch = *patch_;
  const PetscInt size = patch.size[0], rows = patch.size[1] * patch.size[2];
  const PetscInt margin = field_.closed(0) ? field_.margin()[0] : 0;

  choose_terms(pass);
  lines_.need(needed_);
  const std::vector<int> &side = terms_[0].side;
  const bool              chain = patch.dof == 1 && side.size() == 1 && PetscAbsInt(a_->slot[side[0]].step[0]) == 1;
  for (PetscInt n = 0; n < rows; n++) {
    const PetscInt at_row = pass.backward ? rows - 1 - n : n, j = at_row % patch.size[1], k = at_row / patch.size[1];
    const size_t   at = patch.index(0, j, k);
    T             *row = field_.row(j, k);
    lines_.get(j, k);
    // the last points meet the first across the end of a closed axis, with the values of this sweep
    for (int part = 0; part < (margin ? 2 : 1); part++) {
      const PetscInt length = part ? margin : size - margin, lo = (part == 1) == pass.backward ? 0 : size - length;
      for (PetscInt done = 0; done < length; done += chunk) {
        const PetscInt some = PetscMin(chunk, length - done),
                       from = pass.backward ? lo + length - done - some : lo + done;
        if (chain)
          relax_chain(pass, row, at, from, some);
        else
          relax_blocks(pass, row, at, from, some);
      }
      field_.close_ends(row);
    }
    field_.close_row(j, k);
  }
}

PetscErrorCode HostSweeps::Run(const Patch &patch, const CapturedCoefficients<T> &a, Halo *halo,
                               const SweepRequest &request, const T *b, T *x) {
  const PetscReal omega = request.omega;

  PetscFunctionBegin;
  patch_ = &patch;
  a_ = &a;
  omega_ = omega;
  most_ = omega == 1 && request.shift == T(0) ? captured::most_values : 1;
  field_.shape(patch, a.reach);
  lines_.start(patch, a, most_, request.shift);
  coefficient_.resize((size_t)a.count);
  value_.resize((size_t)a.count);
  offset_.resize((size_t)a.count);
  for (int s = 0; s < a.count; s++) offset_[s] = field_.offset(a.slot[s]);
  work_.resize((size_t)chunk * (size_t)patch.dof);
  if (!request.from_zero)
    field_.load(x);
  else if (field_.closed())
    field_.clear();
  else
    field_.clear_margins();
  if (request.from_zero && !request.forward && !request.backward)
    std::fill(x, x + (size_t)patch.all().points() * (size_t)patch.dof, T(0));

  for (PetscInt it = 0; it < request.its; it++) {
    const bool zero = request.from_zero && it == 0;
    if (!zero) {
      PetscCall(halo->Begin(x, PETSC_MEMTYPE_HOST));
      PetscCall(halo->End());
      field_.load_halo(halo->field());
      field_.close();
    }
    for (PetscInt inner = 0; inner < request.lits; inner++) {
      // From zero a sweep meets zeros at all points ahead, and leaves x = omega D⁻¹(b - L x). The one back then is
      // (1 - omega) x + omega D⁻¹(b - L x - U x) = (2 - omega) x - omega D⁻¹ U x. Closed axes have other orders.
      const bool untouched = zero && inner == 0 && !field_.closed();
      T         *last = inner == request.lits - 1 ? x : nullptr;
      if (request.forward) sweep({false, untouched, b, untouched ? 0 : 1 - omega, request.backward ? nullptr : last});
      if (request.backward) {
        const bool back = untouched && request.forward;
        sweep({true, untouched, back ? nullptr : b, back ? 2 - omega : untouched ? 0 : 1 - omega, last});
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
