#pragma once
// The pair sum of one kernel function in one precision, on the host or on a GPU: chooses the loop for each form of a sum.
//
// A singular function is not finite for x = y. Sums do not test each pair: a block whose sum is not finite is summed again
// with tests, which costs nothing if there is no such pair.

#include "sums/inverse_distances.hpp"
#include "sums/kernels/list.hpp"
#include "sums/pairs_on_gpu.hpp"
#include "sums/pairs_on_host.hpp"
#include "sums/tiles_on_gpu.hpp"

namespace shellac {

// Data of a function for all loops: the scale of its coordinates, the factor of its sums.
template <class T> struct Scales {
  double scale, factor;

  Scales(const PairSum &s, double unit, double factor) : scale(unit_scale<T>(unit)), factor(factor) {
    // a gradient is g'/r by a difference of coordinates, of which floats come in units already
    if (s.form != SumForm::value) this->factor *= 1 / unit * (sizeof(T) == sizeof(float) ? 1 : 1 / unit);
  }
};
template <class Function, class T> Scales<T> scales_of(const PairSum &s) {
  return {s, Function::unit(s.parameters), Function::factor(s.parameters)};
}

#if SHELLAC_CUDA
// few: targets a thread where they are few; many: where they fill the GPU.
template <class Function, class T, SumForm form, int K, int few, int many>
PetscErrorCode sum_on_gpu(const PairSum &s, int first_column) {
  const Scales<T> scales = scales_of<Function, T>(s);
  const auto      a = device::arguments_of(s, Function(s.parameters), scales.scale, scales.factor, first_column);

  PetscFunctionBegin;
  if constexpr (device::has_tiles<Function, T, form, K>) {
    bool launched;
    PetscCall((device::launch_tiles<Function, T, K>(s, a, &launched)));
    if (launched) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if constexpr (form == SumForm::value && K == 1) {
    using Rough = RoughFunction<Function>;
    if constexpr (Rough::differs)
      if (s.rough && s.group) {
        const Scales<T> of_rough = scales_of<Rough, T>(s);
        PetscCall((device::launch<Rough, T, form, K, 2>(
            s, device::arguments_of(s, Rough(s.parameters), of_rough.scale, of_rough.factor, first_column))));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
    if (device::has_small_groups(s)) {
      PetscCall((device::launch<Function, T, form, K, 2, 64>(s, a)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (!s.group && s.targets.n <= 512) {
      PetscCall((device::launch<Function, T, form, K, 1, 64>(s, a)));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (device::fills(s, few))
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
  const Function  f(s.parameters);
  const Scales<T> scales = scales_of<Function, T>(s);
  host::sum_columns_of(s, host::best_loops_of<Function, T>(), Function::singular,
                       Scalar<typename Function::Value>::parts, &f, scales.scale, scales.factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, class... Functions> PetscErrorCode sum_listed(FunctionList<Functions...>, const PairSum &s) {
  static PetscErrorCode (*const of_function[])(const PairSum &) = {&sum_function<Functions, T>...};
  return of_function[s.function](s);
}

} // namespace shellac
