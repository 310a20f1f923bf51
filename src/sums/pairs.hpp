#pragma once
// The pair sum of one kernel function in one precision, on the host or on a GPU: which loop serves which form of a sum.
//
// A singular function is not finite where x = y. Sums do not look for that pair by pair: a block whose sum is not finite
// is summed again with care, which costs nothing where there is no such pair.

#include "sums/pairs_on_gpu.hpp"
#include "sums/pairs_on_host.hpp"

namespace shellac {

// What all loops need of a function: the unit of its coordinates, the factor of its sums.
template <class Function, class T> struct Scales {
  double unit, scale, factor;

  explicit Scales(const PairSum &s)
      : unit(Function::unit(s.parameters)), scale(unit_scale<T>(unit)), factor(Function::factor(s.parameters)) {
    // a gradient is g'/r by a difference of coordinates, of which floats come in units already
    if (s.form != SumForm::value) factor *= 1 / unit * (sizeof(T) == sizeof(float) ? 1 : 1 / unit);
  }
};

#if SHELLAC_CUDA
// few: targets a thread where they are few; many: where they fill the GPU.
template <class Function, class T, SumForm form, int K, int few, int many>
PetscErrorCode sum_on_gpu(const PairSum &s, int first_column) {
  const Scales<Function, T>   scales(s);
  device::Arguments<Function> a{Function(s.parameters), s.targets, s.sources, s.in, s.out};

  PetscFunctionBegin;
  a.partial = NULL;
  a.scale = scales.scale, a.factor = scales.factor;
  for (int d = 0; d < 3; d++) a.center[d] = s.center[d];
  a.group = NULL, a.list = NULL, a.first = NULL;
  a.first_column = first_column, a.dim = s.dim, a.block = s.block;
  a.add = s.add, a.own_value_at_zero = s.own_value_at_zero;
  // targets that fill the GPU, R of them a thread; the fewer they are, the fewer a thread and a block
  const bool full = s.group ? s.group_size > 128 * few : s.sources.n >= 512 && s.targets.n >= 32768;
  if (form == SumForm::value && K == 1 && !s.group && s.targets.n <= 512)
    PetscCall((device::launch<Function, T, form, K, 1, 64>(s, a)));
  else if (full)
    PetscCall((device::launch<Function, T, form, K, many>(s, a)));
  else
    PetscCall((device::launch<Function, T, form, K, few>(s, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Function, class T> PetscErrorCode sum_all_on_gpu(const PairSum &s) {
  constexpr bool narrow = sizeof(T) == sizeof(float), complex = Scalar<typename Function::Value>::parts == 2;
  constexpr int  of_sixteen = narrow && !complex ? 2 : 1, of_one = narrow && !complex ? 8 : 4;

  PetscFunctionBegin;
  if (s.form == SumForm::gradient) {
    PetscCall((sum_on_gpu<Function, T, SumForm::gradient, 1, 2, 2>(s, 0)));
  } else if (s.form == SumForm::gradient_transposed) {
    PetscCall((sum_on_gpu<Function, T, SumForm::gradient_transposed, 1, 2, 2>(s, 0)));
  } else {
    int column = 0; // many right-hand sides at a time share the distances and the function
    for (; column + 16 <= s.columns; column += 16)
      PetscCall((sum_on_gpu<Function, T, SumForm::value, 16, of_sixteen, of_sixteen>(s, column)));
    for (; column + 4 <= s.columns; column += 4)
      PetscCall((sum_on_gpu<Function, T, SumForm::value, 4, 2, 2>(s, column)));
    if constexpr (!complex)
      for (; column + 2 <= s.columns; column += 2)
        PetscCall((sum_on_gpu<Function, T, SumForm::value, 2, 2, 4>(s, column)));
    for (; column < s.columns; column++) PetscCall((sum_on_gpu<Function, T, SumForm::value, 1, 2, of_one>(s, column)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

template <class Function, class T> PetscErrorCode sum_function(const PairSum &s) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(s.memory)) {
    PetscCall((sum_all_on_gpu<Function, T>(s)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  const Function            f(s.parameters);
  const Scales<Function, T> scales(s);
  const int                 columns = s.form == SumForm::value ? s.columns : 1;
  for (int column = 0; column < columns; column += host::most_columns)
    host::sum_targets(s, host::loops_of<Function, T>(s.form, std::min<int>(host::most_columns, columns - column), &f),
                      scales.scale, scales.factor, column);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, class... Functions> PetscErrorCode sum_listed(FunctionList<Functions...>, const PairSum &s) {
  static PetscErrorCode (*const of_function[])(const PairSum &) = {&sum_function<Functions, T>...};
  return of_function[s.function](s);
}

} // namespace shellac
