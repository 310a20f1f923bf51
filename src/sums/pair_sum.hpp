#pragma once
// f_i = Σ_j g(x_i, y_j) c_j on raw arrays of one rank, in one kind of memory: the description of a sum.

#include <vector>

#include "sums/kernels/kernel.hpp"

namespace shellac {

class KernelFormula; // formula.hpp

struct PairSum {
  int            function = 0;      // index in KernelFunctions
  KernelFormula *formula = nullptr; // instead, where it is not null
  Parameters     parameters = {1, 0};
  SumForm        form = SumForm::value;
  int            dim = 3, columns = 1;

  Points                  targets, sources;
  Values<const PetscReal> in;
  Values<PetscReal>       out;
  bool                    add = false;           // to what `out` has
  PetscReal               center[3] = {0, 0, 0}; // what single precision counts coordinates from [length]

  bool own_value_at_zero =
      true; // whether g(x, x) is what the function gives; zero where not, or where that is not finite

  // Terms are added in blocks in the precision of computation, the blocks in double.
  int block = 128;

  // Lists instead of all pairs: group[g], of no more than `group_size` targets, sums over the ranges list[first[l]] to
  // list[first[l+1]-1] of its list l. Null: all targets, all sources.
  PetscInt        groups = 0, group_size = 0;
  const Group    *group = NULL;
  const Range    *list = NULL;
  const PetscInt *first = NULL;

  bool rough = false; // with lists: values right to 11 digits will do

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

// g[i], with the factor, at squares of distances r2[i], both in one kind of memory: of complex functions (re, im).
struct ManyValues {
  int            function = 0;
  KernelFormula *formula = nullptr;
  Parameters     parameters = {1, 0};
  bool           own_value_at_zero = true; // else zero there
  PetscInt       n = 0;
  const double  *r2 = nullptr;
  double        *g = nullptr; // of a real function: may be r2
  PetscMemType   memory = PETSC_MEMTYPE_HOST;
};
PetscErrorCode ComputeValues(const ManyValues &values);

// Computes in precision T.
template <class T> PetscErrorCode SumPairs(const PairSum &sum);
template <> PetscErrorCode        SumPairs<float>(const PairSum &sum);
template <> PetscErrorCode        SumPairs<double>(const PairSum &sum);

} // namespace shellac
