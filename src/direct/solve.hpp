#pragma once
// The exact inverse of a sum over axes on the parts of a grid: transforms along the axes one after the other, each on parts
// that are whole along it; the division by the eigenvalues, or elimination along the last axis, whose lines may lie in
// pieces on several ranks; and all transforms back.
// R. E. Lynch, J. R. Rice, D. H. Thomas (1964); R. W. Hockney (1965) has one axis with elimination.

#include <memory>

#include "device/mirror.hpp"
#include "direct/box.hpp"
#include "direct/elimination.hpp"

namespace shellac {

class SeparableSolve {
public:
  // single: its arrays are in single precision; complex: its modes may be complex
  static std::unique_ptr<SeparableSolve> Make(bool single, bool complex);
  virtual ~SeparableSolve() = default;
  // Collective. device: the vectors are on GPUs, between which values go that way. *why: what the operator is or has that
  // prevents it, or, if it is wanted only then, makes it slower than multigrid.
  PetscErrorCode Create(const Grid &grid, const ProductsOfAxes &of, bool device, bool if_fast, HaloWay way,
                        std::string *why);
  // x = the inverse times b; zero at points that are fixed. transposed: where it is skew.
  virtual PetscErrorCode Apply(PetscMemType memory, const PetscScalar *b, PetscScalar *x, bool transposed = false) = 0;
  // The weights of rows, whose products with the operator are symmetric; ones at points that are fixed.
  PetscErrorCode GetMasses(PetscMemType memory, PetscScalar *masses) const;

  const AxisModes    &axis(int a) const { return axes_[a]; }
  bool                is_sum() const { return is_sum_; }               // over the axes
  bool                is_skew() const { return is_skew_; }             // see ProductsOfAxes
  bool                singular() const { return singular_; }           // an eigenvalue is zero
  virtual size_t      bytes() const = 0;                               // on this rank, besides the vectors
  virtual const char *libraries() const = 0;                           // of Fourier transforms
  PetscLogDouble      flops() const { return flops_; }                 // of an application, on this rank
  int                 moves() const { return 2 * (int)moves_.size(); } // of all values
  bool                moves_ends() const { return tridiagonal_.between_ranks(); }
  bool                has_fixed() const { return has_fixed_; }

protected:
  virtual bool           transforms_exist(PetscMemType memory) const = 0;            // Fourier's
  virtual PetscErrorCode KeepModes(int a) = 0;                                       // takes the axis' eigenvectors
  Symbol SymbolOf(const PetscReal *x, const PetscReal *y, const PetscReal *z) const; // with values of modes
  bool   is_periodic_grid() const; // but for the axis of elimination, and no values move

  AxisModes                          axes_[3];
  bool                               is_sum_ = true; // over the axes
  bool                               has_fixed_ = false, is_skew_ = false;
  Box                                inside_ = {}, owned_ = {};
  int                                order_[3] = {0, 1, 2}; // of the axes; the last one is solved in modes
  int                                part_of_[3] = {}; // the parts on which an axis is whole, among parts_, by order
  std::vector<Box>                   parts_;           // this rank's: those of the grid, and others
  std::vector<std::unique_ptr<Move>> moves_;           // between one and the next
  Mirror<PetscReal>                  values_;          // of all axes, one after the other
  Mirror<PetscReal>                  grid_values_;     // of the first axis, for each scalar of a mode
  PeriodicSymbol                     skew_ = {};       // divided by the size of the largest entry
  PetscReal                          size_ = 1;        // that
  Mirror<ComplexOf<PetscReal>>       roots_;           // of skew_, of all axes, one after the other
  PetscReal                          zero_ = 0;        // an eigenvalue of this size is zero
  TridiagonalSolve                   tridiagonal_;     // of the last axis
  TridiagonalSolve                   of_grid_;         // the same for modes of PeriodicGrid

private:
  // The real parts of the symbol over boxes of the axes' eigenvalues, which are at its corners. but_lowest: not where all
  // are the low ones.
  void Range(const PetscReal low[3], const PetscReal high[3], bool but_lowest, PetscReal *least, PetscReal *most) const;
  void           Choose(const Parts &parts, bool device, bool *definite, std::string *why);
  PetscErrorCode Compare(bool device, std::string *why) const;
  PetscErrorCode MakeParts(const Grid &grid, Parts parts, bool device, HaloWay way);
  Parts          GridModes(Parts parts) const;
  bool           FindZeros();
  bool           FindZerosOfSkew();
  void           CountFlops();

  MPI_Comm       comm_ = MPI_COMM_NULL;
  PetscScalar    terms_[8] = {};
  bool           singular_ = false;
  PetscLogDouble flops_ = 0;
};

} // namespace shellac
