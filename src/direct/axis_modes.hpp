#pragma once
// How one axis of a separable operator is solved: by a Fourier transform where its rows are those of a sine, cosine or
// periodic transform, and otherwise by its eigenvectors, or by elimination in each mode of the other axes.

#include <string>
#include <vector>

#include "multigrid/axis.hpp"

namespace shellac {

enum class Way { none, fourier, dense, tridiagonal }; // none: one point

// Modes of an axis whose function continues periodically, or evenly (u' = 0) or oddly (u = 0) beyond each end: about its
// last point, half a spacing beyond it, or a spacing. G. Strang, The discrete cosine transform (1999), has them all.
struct FourierAxis {
  PetscInt n = 0;                         // points
  bool     periodic = false, odd[2] = {}; // [side]
  bool     complex = false;               // modes are e^{iωx}, on a periodic axis
  int      twice[2] = {0, 0};             // [side]: the distance of the end from the last point, in half spacings
  PetscInt length = 0;                    // of the transform: the period, or half of it where one side is odd
  bool     half() const { return !periodic && odd[0] != odd[1]; }  // frequencies are k + 1/2
  PetscInt first() const { return !periodic && odd[0] && odd[1]; } // the lowest k
  bool     is_split() const { // between zeros, with a number of spacings that 4 divides: see SplitSines
    return first() && n > 3 && length == 2 * (n + 1) && length % 8 == 0;
  }
  // of type II: of values in another order, see FourierSteps
  bool     is_short() const { return !periodic && odd[0] == odd[1] && twice[0] == 1 && twice[1] == 1; }
  void     set_length() { length = periodic || is_short() ? n : 2 * (n - 1) + twice[0] + twice[1]; }
  PetscInt period() const { return is_short() ? 2 * n : length; } // or half of it, as length
  // sin² of half the mode's frequency
  PetscReal sine2(PetscInt mode) const {
    const PetscReal sine =
        PetscSinReal(PETSC_PI * (PetscReal)(2 * (mode + first()) + half()) / (PetscReal)(2 * period()));
    return sine * sine;
  }
  std::string name() const; // "DST-I"
};

struct AxisModes {
  Way                    way = Way::none;
  PetscInt               first = 0, n = 0; // points that are not fixed
  Axis                   axis;             // these alone: zero beyond both ends
  FourierAxis            fourier;
  bool                   has_fourier = false;
  std::vector<PetscReal> values;        // the eigenvalues [n]; none where elimination does without
  std::vector<PetscReal> forward, back; // of dense modes: V^-1 and V, by columns [n][n]

  // tiny: what an end's coefficient k/m may be off by
  void           Recognise(const Axis &whole, PetscReal tiny);
  PetscErrorCode Decompose(); // makes values, and the matrices of dense modes
  PetscReal      coupling() const;     // of a Fourier axis: a quarter of the bound of its eigenvalues
  bool           is_stretched() const; // its couplings range over more than a factor of two
  PetscReal   scale() const { return way == Way::fourier ? 1 / (PetscReal)fourier.length : 1; } // after both transforms
  std::string text() const;                                                                     // "63 points: DST-I"
};

} // namespace shellac
