#include "capture/sweeps_on_host.hpp"

#include <algorithm>

namespace shellac {

// ---- points of a row -----------------------------------------------------------------------------------------------

constexpr PetscInt chunk = 256; // points whose sums stay in the first cache

// start = keep x + omega (b - sum - Σ_s coefficient_s u_s)/d, and a factor for the recurrence; b or sum may be null. The
// terms are a pack, because only then does the compiler vectorise the loop.
template <bool keeps, class T, size_t... s>
SHELLAC_WIDE void start_recurrence(std::index_sequence<s...>, const T *const *coefficient, const T *const *u,
                                   const T *sum, const T *b, const T *inverse, const T *side, PetscReal omega,
                                   PetscReal keep, const T *x, PetscInt n, T *__restrict__ start,
                                   T *__restrict__ factor) {
  [[maybe_unused]] const T *const c[] = {coefficient[s]..., nullptr}, *const from[] = {u[s]..., nullptr};
  for (PetscInt i = 0; i < n; i++) {
    T rest = b ? b[i] : T(0);
    if (sum) rest -= sum[i];
    ((rest -= c[s][i] * from[s][i]), ...);
    const T over_d = omega * inverse[i];
    start[i] = keeps ? keep * x[i] + over_d * rest : over_d * rest;
    if (side) factor[i] = -over_d * side[i];
  }
}

template <bool keeps, size_t most = 3, class... Arguments> void start_recurrence(size_t terms, Arguments... arguments) {
  if (terms == most)
    start_recurrence<keeps>(std::make_index_sequence<most>(), arguments...);
  else if constexpr (most > 0)
    start_recurrence<keeps, most - 1>(terms, arguments...);
}

template <class T>
SHELLAC_WIDE void make_factors(const T *coefficient, const T *inverse, PetscReal omega, PetscInt n,
                               T *__restrict__ factor) {
  for (PetscInt i = 0; i < n; i++) factor[i] = -omega * inverse[i] * coefficient[i];
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

void HostSweeps::relax_scalars(const Pass &pass, T *row, size_t at, PetscInt from, PetscInt n) {
  const std::vector<int> &side = terms_[0].side;
  const size_t            sides = side.size();
  const T                *inverse = lines_.inverse() + from, *b = pass.b ? pass.b + at + from : nullptr;
  const T                *first_side = sides ? lines_.coefficient(side[0]) + from : nullptr;
  T   buffer[chunk], *start = work_.data(), *factor = start + chunk, *x = row + from, *sum = nullptr;
  int terms = find_terms(0, row, from), summed = PetscMax(terms - 3, 0);

  if (summed) {
    sum = buffer;
    add_all_slots<false>(summed, coefficient_.data(), value_.data(), n, false, sum);
  }
  const T *const *coefficient = coefficient_.data() + summed, *const *value = value_.data() + summed;
  if (pass.keep != 0)
    start_recurrence<true>((size_t)(terms - summed), coefficient, value, sum, b, inverse, first_side, omega_, pass.keep,
                           x, n, start, factor);
  else
    start_recurrence<false>((size_t)(terms - summed), coefficient, value, sum, b, inverse, first_side, omega_,
                            pass.keep, x, n, start, factor);
  for (size_t s = 1; s < sides; s++)
    make_factors(lines_.coefficient(side[s]) + from, inverse, omega_, n, factor + s * chunk);
  if (sides == 1 && PetscAbsInt(a_->slot[side[0]].step[0]) == 1) {
    recur(start, factor, pass.backward, n, x, pass.x ? pass.x + at + from : nullptr);
    return;
  }
  if (!sides)
    std::copy(start, start + n, x);
  else
    for (PetscInt m = 0; m < n; m++) {
      const PetscInt i = pass.backward ? n - 1 - m : m;
      T              value = start[i];
      for (size_t s = 0; s < sides; s++) value += factor[s * chunk + i] * x[i + offset_[side[s]]];
      x[i] = value;
    }
  if (pass.x) std::copy(x, x + n, pass.x + at + from);
}

template <int size> void HostSweeps::relax_blocks(const Pass &pass, T *row, size_t at, PetscInt from, PetscInt n) {
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
  bool dense = size && waiting_.size() == (size_t)(size * size);
  for (size_t w = size; dense && w < waiting_.size(); w++) dense = waiting_[w].offset == waiting_[w - size].offset;
  const auto recur = dense ? recur_blocks<size, size != 0, T> : recur_blocks<size, false, T>;
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
        if (patch.dof == 1)
          relax_scalars(pass, row, at, from, some);
        else if (most_ < patch.dof)
          relax_blocks<0>(pass, row, at, from, some);
        else if (patch.dof == 2)
          relax_blocks<2>(pass, row, at, from, some);
        else if (patch.dof == 3)
          relax_blocks<3>(pass, row, at, from, some);
        else if (patch.dof == 4)
          relax_blocks<4>(pass, row, at, from, some);
        else
          relax_blocks<5>(pass, row, at, from, some);
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
  work_.resize((size_t)chunk * (size_t)PetscMax(patch.dof, 1 + a.reach[0]));
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
