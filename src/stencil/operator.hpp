#pragma once
// An operator on a patch of a grid, as the shell Mat sees it: what is asked of all of them.
//
// Arrays are in `memory`, on the host or a device; there the work is queued on PETSc's stream.

#include <functional>
#include <type_traits>
#include <vector>

#include "grid/patch.hpp"

namespace shellac {

enum class Form { product, sum, residual }; // A u, b + A u, b - A u

template <class T> SHELLAC_HD T combine(Form form, const T *b, size_t at, T Au) {
  return form == Form::product ? Au : form == Form::sum ? b[at] + Au : b[at] - Au;
}

// Calls f(std::integral_constant<Form, form>), so that the form is known when f is compiled.
template <class Function> auto with_form(Form form, const Function &f) {
  if (form == Form::product) return f(std::integral_constant<Form, Form::product>{});
  if (form == Form::sum) return f(std::integral_constant<Form, Form::sum>{});
  return f(std::integral_constant<Form, Form::residual>{});
}

// entries: how many are not zero, and the diagonal
enum class RowProperty { diagonal, sum_abs, sum_squares, max_abs, entries };

// An operator whose coefficients are in the memory of an operation's arrays, until those are restored: what computes
// products and reads rows. StencilMat::Prepare() makes it, so that no call finds coefficients in another memory.
class PreparedOperator {
public:
  virtual ~PreparedOperator() = default;
  virtual PetscLogDouble flops() const = 0; // of one row

  // Whether apply() serves the interior before u has its halo, and points() the rest.
  virtual bool interior_first(PetscMemType memory) const = 0;
  // On the points of a box: the patch's interior, or all of the patch where u has its halo, or its kernels have to exchange
  // it (u.exchange).
  virtual PetscErrorCode apply(PetscMemType memory, const Box &box, const Field<PetscScalar> &u, Form form,
                               const PetscScalar *b, PetscScalar *y) const = 0;
  virtual PetscErrorCode points(PetscMemType memory, const Boxes &boxes, const Field<PetscScalar> &u, Form form,
                                const PetscScalar *b, PetscScalar *y) const = 0;
  virtual PetscErrorCode rows(PetscMemType memory, RowProperty property, PetscScalar *out) const = 0;

  // x += omega (b - (A + shift) x)/diag on the points of one colour after the other. Points of one colour are not coupled,
  // except across the end of a periodic axis with an odd number of points: there the halo has the values before the sweep.
  // from_zero: x stands for zero, and is not read. exchange: brings x with its halo.
  using Exchange = std::function<PetscErrorCode(Field<PetscScalar> *)>;
  virtual PetscErrorCode sweep(PetscMemType memory, const std::vector<int> &colours, const Exchange &exchange,
                               bool from_zero, PetscReal omega, PetscScalar shift, const PetscScalar *b,
                               PetscScalar *x) const = 0;

  // What rows can have: an entry for each arm and each value at its end. Arms are in the order of the points at their ends.
  virtual int             arms() const = 0;
  virtual const PetscInt *step(int arm) const = 0;
  virtual bool stores_zeros() const = 0; // otherwise rows have only entries that are not zero, and the diagonal
  // The rows of a point and of those that follow in the order of the patch, in host memory: [points][dof][arms][dof].
  virtual void values(const PetscInt p[3], PetscInt points, PetscScalar *values) const = 0;
};

class StencilOperator {
public:
  virtual ~StencilOperator() = default;
  virtual const Patch &patch() const = 0;
  virtual int          colours() const = 0; // of sweep()
};

} // namespace shellac
