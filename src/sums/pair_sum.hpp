#pragma once
// f_i = Σ_j g(x_i, y_j) c_j on raw arrays of one rank, in one kind of memory: what is to be summed, and how.

#include <vector>

#include "sums/kernels/kernel.hpp"

namespace shellac {

// Points as three arrays of coordinates [length]; those beyond the dimension are zero.
struct Points {
  const PetscReal *x[3] = {NULL, NULL, NULL};
  PetscInt         n = 0;
};

// Values at points: column c of point j is data[j point + (c / inner) column + c % inner], c counting real numbers, or
// pairs (re, im) where the function is complex.
template <class Real> struct Values {
  Real      *data = NULL;
  PetscInt64 point = 1, column = 1;
  int        inner = 1;

  SHELLAC_INLINE PetscInt64 at(PetscInt64 j, int c) const { return j * point + (c / inner) * column + c % inner; }
};

enum class SumForm {
  value,              // f_i = Σ_j g(x_i, y_j) c_j, any number of columns
  gradient,           // the gradient of f at x_i: as many columns of results as dimensions, from one
  gradient_transposed // Σ_j ∇g(y_j, x_i) · c_j: one column of results, from as many as dimensions
};

// A part of a sum for a group of targets: the sources [begin, end).
struct Range {
  PetscInt begin, end;
};
// The targets [begin, end), and what single precision counts their coordinates from [length].
struct Group {
  PetscInt  begin, end;
  PetscReal center[3];
};

struct PairSum {
  int        function = 0; // index in KernelFunctions
  Parameters parameters = {1, 0};
  SumForm    form = SumForm::value;
  int        dim = 3, columns = 1;

  Points                  targets, sources;
  Values<const PetscReal> in;
  Values<PetscReal>       out;
  bool                    add = false;           // to what `out` has
  PetscReal               center[3] = {0, 0, 0}; // what single precision counts coordinates from [length]

  bool own_value_at_zero =
      true; // whether g(x, x) is what the function gives; zero where not, or where that is not finite

  // Terms are added in blocks in the precision of computation, the blocks in double.
  int block = 128;

  // Lists instead of all pairs: group[g], of no more than `group_size` targets, sums over the ranges list[first[g]] to
  // list[first[g+1]-1]. Null: all targets, all sources.
  PetscInt        groups = 0, group_size = 0;
  const Group    *group = NULL;
  const Range    *list = NULL;
  const PetscInt *first = NULL;

  PetscMemType memory = PETSC_MEMTYPE_HOST;
};

// What the rest of the library knows of a kernel function.
struct FunctionInfo {
  const char *name, *formula;
  bool        uses_sigma, uses_wavenumber, singular, complex;
  int         flops;
  double (*unit)(const Parameters &);
  double (*factor)(const Parameters &);
  Complex<double> (*value)(const Parameters &, double r2); // with its factor; r2 > 0, or any where not singular
  Complex<double> (*slope)(const Parameters &, double r2); // of the gradient: times (x - y)
};
const std::vector<FunctionInfo> &kernel_functions();

// Computes in precision T.
template <class T> PetscErrorCode SumPairs(const PairSum &sum);
template <> PetscErrorCode        SumPairs<float>(const PairSum &sum);
template <> PetscErrorCode        SumPairs<double>(const PairSum &sum);

} // namespace shellac
