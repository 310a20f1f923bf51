#pragma once
// The operations of a scheme for TS, on arrays in any memory; one object for each flux and reconstruction.

#include <cstring>
#include <memory>

#include "burgers/fluxes.hpp"
#include "burgers/scheme.hpp"
#include "grid/grid.hpp"
#include "grid/patch.hpp"

namespace shellac {

// The largest |u| and |du/dt| as their bits, which are ordered as the numbers are; NaN is larger than infinity.
struct Extremes {
  unsigned long long state, rate;
};
SHELLAC_HD unsigned long long magnitude_bits(double x) {
#ifdef __CUDA_ARCH__
  return (unsigned long long)__double_as_longlong(x) & 0x7fffffffffffffffull;
#else
  unsigned long long bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits & 0x7fffffffffffffffull;
#endif
}
constexpr unsigned extremes_places = 64; // of them on a GPU, so that blocks do not wait for each other

// A rank's part of a grid in 1-D or 2-D; the fields in Field<Real> have `dim` components at a cell. In 2-D the component
// along an axis obeys the 1-D equation there, and carries the other one:
//   u_t + (u²/2)_x + v u_y = ν Δu,   v_t + u v_x + (v²/2)_y = ν Δv.
struct BurgersPatch {
  int                     dim;
  Patch                   patch;
  Coefficients<PetscReal> at[2];     // [axis]
  End                     end[2][2]; // [axis][end]
  bool                    frozen[2][2];
  PetscReal               beyond[2][2][2]; // [component][axis][end]
};

// Finds the cell `offset` steps from p along an axis, which may be in the halo: false if its value is a given one.
SHELLAC_HD bool find_cell(const BurgersPatch &patch, const PetscInt p[2], int axis, PetscInt offset, PetscInt q[3]) {
  const PetscInt n = patch.patch.size[axis];
  q[0] = p[0], q[1] = p[1], q[2] = 0;
  q[axis] += offset;
  if (q[axis] >= 0 && q[axis] < n) return true;
  const int e = q[axis] < 0 ? 0 : 1;
  const End end = patch.end[axis][e];
  if (end == End::value) return false;
  if (end == End::wrap) q[axis] = (q[axis] % n + n) % n;
  if (end == End::copy) q[axis] = e ? n - 1 : 0;
  return true;
}

template <int dim> SHELLAC_HD bool is_frozen(const BurgersPatch &patch, const PetscInt p[2]) {
  bool frozen = false;
  for (int a = 0; a < dim; a++)
    frozen = frozen || (patch.frozen[a][0] && p[a] == 0) || (patch.frozen[a][1] && p[a] == patch.patch.size[a] - 1);
  return frozen;
}

// An entry of a cell's rows of the Jacobian, one of each component: the component and the cell's indices on the patch, which
// may be in the halo, and the values.
struct JacobianEntry {
  PetscInt  p[2], c;
  PetscReal value[2];
};

// The cells of a 1-D grid with what is beyond them, from a field of a halo of that width.
Line<PetscReal> burgers_line(const BurgersPatch &patch, const Field<PetscReal> &field, PetscInt width);
// The largest |x|, as its bits.
unsigned long long largest_bits(const PetscReal *x, PetscInt n);

struct BurgersOperations {
  virtual ~BurgersOperations() = default;
  const char *flux, *reconstruction;
  int         radius;
  PetscReal   cfl;

  // rate = du/dt; extremes, where not null, are raised to those of the cells [memory of the arrays; on a GPU
  // extremes_places].
  virtual PetscErrorCode rates(PetscMemType memory, const Coefficients<PetscReal> &at, const Line<PetscReal> &u,
                               Extremes *extremes, PetscReal *rate) const = 0;
  // The same for the two components in 2-D; with a stage, `to` is the state after it, in place of the rates.
  virtual PetscErrorCode rates_2d(PetscMemType memory, const BurgersPatch &patch, const Field<PetscReal> &u,
                                  const Stage &stage, Extremes *extremes, PetscReal *to) const = 0;
  // y = shift v + scale J(u) v, J the derivative of the rates.
  virtual PetscErrorCode jacobian(PetscMemType memory, const BurgersPatch &patch, const Field<PetscReal> &u,
                                  const Field<PetscReal> &v, PetscReal shift, PetscReal scale, PetscReal *y) const = 0;
  // The rows of J at the cell p, on the host.
  virtual void jacobian_rows(const BurgersPatch &patch, const Field<PetscReal> &u, const PetscInt p[2],
                             std::vector<JacobianEntry> *rows) const = 0;
  // `steps` steps of Δt in one pass over memory. The halos of u are steps × stages × radius wide.
  virtual PetscErrorCode steps(PetscMemType memory, const Coefficients<PetscReal> &at, const Line<PetscReal> &u,
                               const Stages &stages, PetscReal dt, int steps, PetscReal *out) const = 0;
  // Whether resident() supports that many cells; and resident(): any number of steps of a whole grid in one launch on a
  // GPU.
  virtual bool           can_be_resident(const Stages &stages, PetscInt n) const = 0;
  virtual PetscErrorCode resident(const Coefficients<PetscReal> &at, const Line<PetscReal> &u, const Stages &stages,
                                  PetscReal dt, PetscInt steps, PetscReal *out) const = 0;
};

// The largest number of steps in one pass. Halos remain a small part of a tile, and tiles of a million cells fill an
// H200 evenly.
constexpr int most_fused_steps(int stages, int radius) {
  return 19 / (stages * radius) < 1 ? 1 : 19 / (stages * radius);
}

// The objects of a flux are made in its own source; null for a reconstruction that the flux does not support.
enum class Reconstruction { constant, minmod, vanleer, weno5 };
using MakeOperations = std::unique_ptr<BurgersOperations>(Reconstruction);
#define SHELLAC_DECLARE(flux) MakeOperations make_##flux;
SHELLAC_BURGERS_FLUXES(SHELLAC_DECLARE)
#undef SHELLAC_DECLARE

} // namespace shellac
