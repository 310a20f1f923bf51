#pragma once
// Multigrid on several ranks' GPUs. A rank computes a window of each large level: its own points and as many beside them as
// the steps of a visit reach, with the passes of one GPU, to which the window is all there is. Values from outside come once
// a visit, before it. Each rank has all of the smaller levels, and visits these alone. Only sums over axes and symmetric
// rows can have large levels.

#include "device/scratch.hpp"
#include "grid/filling.hpp"
#include "multigrid/couplings.hpp"
#include "multigrid/graphs.hpp"
#include "multigrid/multigrid.hpp"

namespace shellac {

class SpreadMultigrid final : public Multigrid {
  using S = PetscScalar;
  using Verb = std::function<PetscErrorCode(Multigrid &)>; // of the hierarchy of a level's window

public:
  SpreadMultigrid() { silent_ = true; }
  // from: one whose memory it may take, which can only be destroyed then. *serves: otherwise it can only be destroyed, as
  // where smoothing alone solves a large level.
  PetscErrorCode Create(const MultigridInput &of, bool single, SpreadMultigrid *from, bool *serves, bool *failed);
  PetscErrorCode Destroy() override;
  PetscErrorCode          Update(StencilMat *context, PetscMemType memory, Vec fixed, bool *done, bool *equal,
                                 bool *failed) override;
  PetscErrorCode Apply(PetscMemType memory, const S *b, S *x, bool from_x, bool full, PetscReal stop, PetscReal limit,
                       PetscReal *norm, InRow row) override;
  PetscErrorCode          GetMasses(S *m, int *any) override;
  std::vector<LevelInfo>  levels() const override;
  std::vector<LevelFlops> flops() const override;
  bool                    may_amplify() const override { return levels_[0]->of->may_amplify(); }
  bool                    gives_norm(PetscMemType) override { return gives_norm_; }
  bool                    last_is_one() const override { return last_is_one_; }

private:
  struct Level {
    Grid                       parts;   // of the ranks
    std::vector<LevelWindow>   windows; // likewise; none of the last level, which each rank has wholly
    Axis                       axes[3];
    S                          sigma;
    std::unique_ptr<Multigrid> of;      // the window, and the next level's points in it; of the last, all from there on
    Scratch<S>                 b, x;    // over the window, or all points
    Scratch<S>                 room;    // see Multigrid::GetCoarse()
    Filling                    around;  // from the ranks' own points to windows, or to all points
    Filling                    leave;   // of the last level: from its x to the window before, around periodic axes
    OutsideArrays              next;    // the next level's arrays, where they have all points of the window
    OutsideArrays              outside; // of the application under way
  };
  PetscErrorCode Plan(const MultigridInput &of, bool *serves);
  PetscErrorCode BringRows(const CouplingArrays &from, const Box &there, int l, const Patch &patch, Couplings *to);
  PetscErrorCode CreateLevels(const MultigridInput &of, bool single, bool *failed);
  void           TakeFrom(SpreadMultigrid *from);
  PetscErrorCode Connect();
  int            last() const override { return (int)levels_.size() - 1; }
  PetscErrorCode Down(int l, Guess guess) override;
  PetscErrorCode Up(int l) override {
    return Raise(l, [](Multigrid &of) { return of.up(0); });
  }
  PetscErrorCode RestrictB(int l) override {
    return Lower(l, false, [](Multigrid &of) { return of.restrict_b(0); });
  }
  PetscErrorCode RestrictResidualOf(int l) override {
    return Lower(l, true, [](Multigrid &of) { return of.restrict_residual(0); });
  }
  PetscErrorCode AddCorrection(int l) override {
    return Raise(l, [](Multigrid &of) { return of.correct(0); });
  }
  PetscErrorCode Solve(Guess guess, Cycle cycle, bool full) override;
  void           FindNext(int l);
  PetscErrorCode Lower(int l, bool from_x, const Verb &make);
  PetscErrorCode Raise(int l, const Verb &use);
  PetscErrorCode Enter(const S *b, S *x, bool from_x, bool again, bool with_b);
  PetscErrorCode CheckLate() const;
  PetscErrorCode RunOn(const S *b, S *x, bool from_x, bool full, PetscReal stop, PetscReal limit, PetscReal *norm,
                       InRow row);
  // A level's arrays, and their points.
  Scratch<S> &b_at(int l) { return levels_[(size_t)l]->b; }
  Scratch<S> &x_at(int l) { return levels_[(size_t)l]->x; }
  Box         box_at(int l) const;
  Patch       patch_at(int l) const; // of that box
  Grid        grid_at(int l) const;  // the whole level, for this rank alone
  Box         own_at(int l) const;   // this rank's own

  std::vector<std::unique_ptr<Level>> levels_;
  bool                                last_is_one_ = false;
  Scratch<S>                          own_b_, own_x_; // of vectors on the host
  std::unique_ptr<Filling>            enter_;         // from the vectors
  Axis                                axes_[3];       // of the vectors
  Grid                                grid_;
  HaloWay                             way_ = HaloWay::automatic;
  int                                 dim_ = 0;
  bool                                sound_ = true;  // no exchange is under way, as after an error
  bool                                begun_ = false; // the first pass of the cycle has been done
  size_t                              rank_ = 0;
  Box                                 own_ = {}; // points of this rank
  bool                                gives_norm_ = false;
  bool                                direct_ = false; // between all ranks no value goes through a host
#if SHELLAC_CUDA
  CycleGraphs graphs_;
#endif
};

} // namespace shellac
