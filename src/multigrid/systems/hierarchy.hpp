#pragma once
// The hierarchy of levels for operators with several unknowns a point: each level holds captured rows, the finest the
// matrix' own or, of few points on several GPUs, all of them on each.

#include <memory>

#include "capture/mat.hpp"
#include "multigrid/coarse/dense.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/setup/shared_level.hpp"
#include "multigrid/systems/gathering.hpp"
#include "multigrid/systems/point_block_jacobi.hpp"
#include "multigrid/systems/transfers.hpp"

namespace shellac {

class SystemHierarchy final : public Multigrid {
  using T = PetscScalar;

  struct Level {
    Grid                             grid; // of this rank's part
    bool                             whole = false;
    bool                             relaxed = false; // the last level, by steps alone: see relaxations()
    CapturedStencil                 *op = nullptr;    // own's, or the matrix'
    std::unique_ptr<CapturedStencil> own;
    std::unique_ptr<CapturedStencil> transposed;                // of own; null until it is asked for
    Halo                             own_halo, *halo = nullptr; // of products, likewise
    Patch                            patch; // and its halo for transfers, along the axes that ranks share
    Halo                             transfer_halo;
    Axis                             axes[3];
    Coarsening                       to_next[3];
    SystemTransfers                  transfers = {};
    Mirror<T>                        prolongation; // restriction is its transpose
    Smoothing                        smoothing;
    Patch                            target; // this rank's part of the next level's points, before they are gathered
    Grid                             target_grid;
    SharedLevel                      shared; // the first that is whole, of several ranks
    Scratch<T>                       b, x, r, part;

    PetscErrorCode drop_transposed() { // its rows have changed
      PetscFunctionBegin;
      if (transposed) PetscCall(transposed->Destroy());
      transposed.reset();
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  };

public:
  // Collective. Where found->refusal is not empty, the hierarchy can only be destroyed then.
  PetscErrorCode Create(Mat matrix, const MultigridOptions &options, PetscBool device, SetupFindings *found,
                        bool *failed);
  PetscErrorCode Destroy() override;
  PetscErrorCode Update(StencilMat *, PetscMemType, Vec, bool *done, bool *equal, bool *failed) override;
  PetscErrorCode Apply(PetscMemType memory, const T *b, T *x, bool from_x, bool full, PetscReal stop, PetscReal limit,
                       PetscReal *norm, InRow row) override;
  std::vector<LevelInfo>  levels() const override;
  std::vector<LevelFlops> flops() const override;
  bool                    last_is_one() const override { return (int)levels_.size() == levels_made_; }
  bool                    may_amplify() const override { return options_.full || cycle() != Cycle::V; }

  // A level's rows (null where another rank has them) and its grid, and how its points lie between the next level's.
  CapturedStencil  *rows(int l) { return level(l).op; }
  const Grid       &grid(int l) { return level(l).grid; }
  const Coarsening *to_next(int l) { return level(l).to_next; }

private:
  Level   &level(int l) { return *levels_[l]; }
  int      last() const override { return (int)levels_.size() - 1; }
  const T *b(int l) { return l ? level(l).b.at(memory_) : b_; } // of the finest the vectors'
  T       *x(int l) { return l ? level(l).x.at(memory_) : x_; }
  bool     works(int l) const override { return works_ || !levels_[l]->whole; }

  PetscErrorCode GetMatrix(CapturedMat **context);
  PetscErrorCode FindFinest(); // the matrix' rows and halo, unless they are gathered
  PetscErrorCode GatherRows(bool *done);

  // set-up
  PetscErrorCode MakeLevels(CapturedStencil &finest, SetupFindings *result, bool *failed);
  PetscErrorCode AddLevel(int l, bool whole, const Axis axes[3]);
  PetscErrorCode ChooseAllDamping();
  PetscErrorCode ShareWithOthers(bool *problem); // what a rank that works finds
  PetscErrorCode MakeRows(Level *at); // its own, of zeros
  PetscErrorCode SetWeights(int l, Halo *halo, const SystemRows &rows);
  PetscErrorCode CoarsenRows(int l, const SystemRows &rows);
  PetscErrorCode SetSmoothing(int l, bool *singular);
  PetscErrorCode InvertBlocksOf(int l, bool *singular);
  PetscErrorCode BoundEigenvalues(int l, bool *odd);
  PetscErrorCode ChooseDamping(int l);
  PetscErrorCode SolveLast(bool *failed);
  // The finest level's rows, to know them again: after a change by a factor; zero: anew.
  PetscErrorCode Mark(T followed);

  // the verbs
  PetscErrorCode Prepare(PetscMemType memory); // the levels' arrays, to work there
  PetscErrorCode RowsToApply(int l, CapturedStencil **op);
  PetscErrorCode Down(int l, Guess guess) override;
  PetscErrorCode Up(int l) override;
  PetscErrorCode RestrictB(int l) override { return RestrictTo(l, b(l)); }
  PetscErrorCode RestrictResidualOf(int l) override;
  PetscErrorCode AddCorrection(int l) override { return ProlongFrom(l, true); }
  PetscErrorCode Solve(Guess guess, Cycle, bool) override {
    return level(last()).relaxed ? SmoothFrom(last(), guess) : dense_.Apply(memory_, b(last()), x(last()), transposed_);
  }
  PetscErrorCode Smooth(int l, int from_step);
  PetscErrorCode SmoothFrom(int l, Guess guess);
  PetscErrorCode Apply(int l, Form form, const T *b, const T *x, T *y);
  PetscErrorCode ProlongFrom(int l, bool add);
  PetscErrorCode RestrictTo(int l, const T *r);

  Mat                                 matrix_ = NULL;
  std::vector<std::unique_ptr<Level>> levels_;
  PetscMemType                        set_up_memory_ = PETSC_MEMTYPE_HOST; // where the hierarchy is made
  PetscBool                           device_ = PETSC_FALSE;
  HaloWay                             way_ = HaloWay::automatic;
  MPI_Comm                            comm_ = MPI_COMM_NULL;
  std::vector<PetscMPIInt>            workers_;         // of several ranks: see SharedLevel
  bool                                works_ = true;    // this rank has whole levels; else only the first one's part
  int                                 levels_made_ = 1; // on ranks that do
  std::unique_ptr<Gathering>          gathering_; // each rank has the finest level wholly; null elsewhere
  std::string                         vec_type_; // of one rank's vectors
  Pairs                               pairs_;
  int                                 steps_ = 0; // of smoothing
  DenseSolve<T>                       dense_;
  Mirror<T>                           diagonal_, marks_, diagonal_of_setup_; // of the finest level: see update.cpp
};

} // namespace shellac
