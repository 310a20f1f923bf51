// BiCGStab in few passes over the vectors.

#include "krylov/solve.hpp"

namespace shellac {
namespace cg {
namespace bcgs {

// What each pass has: v = K p and t = K s of the preconditioned matrix K. Where the preconditioner is diagonal and from the
// left, these arrays have A p and A s, and D is applied where they are read. s is in the place of r.
struct Vectors {
  PetscScalar *x, *r, *p, *v, *t, *shadow; // shadow: the first residual
  Diagonal     D;
  PetscScalar  ratio = 0, alpha = 0, omega = 0;

  SHELLAC_HD void begin(const Scalars &s) { ratio = s.ratio, alpha = s.alpha, omega = s.omega; }
};

// p = r + ratio (p - omega v).
struct Direction : Vectors {
  static constexpr bool has_sums = false;
  static constexpr int  flops = 6; // of a place
  struct Values {
    PetscScalar r, p = 0, v = 0, d = 0;
  };

  SHELLAC_HD Values load(size_t i) const {
    Values its;
    its.r = r[i];
    if (ratio != PetscScalar(0)) its.p = p[i], its.v = v[i], its.d = D.value(i);
    return its;
  }
  SHELLAC_HD void store(size_t i, const Values &its, Sums *) const {
    p[i] = its.r + ratio * (its.p - omega * its.d * its.v);
  }
  SHELLAC_HD static void finish(Scalars *, const Sums &) {}
};

// alpha, from v · shadow.
struct Along : Vectors {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 3; // of a place
  struct Values {
    PetscScalar v, d, shadow;
  };

  SHELLAC_HD Values load(size_t i) const { return {v[i], D.value(i), shadow[i]}; }
  SHELLAC_HD void   store(size_t, const Values &its, Sums *sums) const {
      sums->add_product(its.d * its.v, its.shadow, true);
  }
  SHELLAC_HD static void finish(Scalars *s, const Sums &sums) {
    s->curvature = sums.product();
    if (!Scalars::is_finite(PetscAbsScalar(s->curvature)))
      s->stop = Scalars::not_finite;
    else if (s->curvature == PetscScalar(0))
      s->stop = Scalars::breakdown;
    else
      s->alpha = s->beta / s->curvature;
  }
};

// s = r - alpha v.
struct Half : Vectors {
  static constexpr bool has_sums = false;
  static constexpr int  flops = 3; // of a place
  struct Values {
    PetscScalar r, v, d;
  };

  SHELLAC_HD Values      load(size_t i) const { return {r[i], v[i], D.value(i)}; }
  SHELLAC_HD void        store(size_t i, const Values &its, Sums *) const { r[i] = its.r - alpha * its.d * its.v; }
  SHELLAC_HD static void finish(Scalars *, const Sums &) {}
};

// omega, which makes s - omega t the shortest.
struct Shortest : Vectors {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 5; // of a place
  struct Values {
    PetscScalar s, t, d;
  };

  SHELLAC_HD Values load(size_t i) const { return {r[i], t[i], D.value(i)}; }
  SHELLAC_HD void   store(size_t, const Values &its, Sums *sums) const {
      sums->add_product(its.s, its.d * its.t, true);
      sums->add_square(its.d * its.t);
  }
  SHELLAC_HD static void finish(Scalars *s, const Sums &sums) {
    if (sums.of[2] == 0)
      s->stop = Scalars::no_product;
    else
      s->omega = sums.product() / (PetscReal)sums.of[2], s->its++;
  }
};

// x += alpha p + omega s, r = s - omega t; the norm and r · shadow.
struct Update : Vectors {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 11; // of a place
  struct Values {
    PetscScalar x, p, s, t, d, shadow;
  };

  SHELLAC_HD Values load(size_t i) const { return {x[i], p[i], r[i], t[i], D.value(i), shadow[i]}; }
  SHELLAC_HD void   store(size_t i, const Values &its, Sums *sums) const {
      const PetscScalar residual = its.s - omega * its.d * its.t;
      x[i] = its.x + alpha * its.p + omega * its.s;
      r[i] = residual;
      sums->add_product(residual, its.shadow, true);
      sums->add_square(residual);
  }
  SHELLAC_HD static void finish(Scalars *s, const Sums &sums) {
    s->take_beta(sums);
    s->ratio *= s->alpha / s->omega;
    s->take_norm(sums);
    if ((s->stop == Scalars::none || s->stop == Scalars::limit) && s->beta_before == PetscScalar(0))
      s->stop = Scalars::breakdown;
  }
};

} // namespace bcgs
} // namespace cg

class BiCGStab : public Solve {
public:
  explicit BiCGStab(KSP ksp) : Solve(ksp), shadow_(ksp->work[3]), v_(ksp->work[4]), t_(ksp->work[5]) {
    counts_failed_ = 0;
  }
  PetscErrorCode Run() {
    const bool right = ksp_->pc_side == PC_RIGHT;

    PetscFunctionBegin;
    PetscCall(Solve::Run());
    if (right && ksp_->its > 0) PetscCall(KSPUnwindPreconditioner(ksp_, x_, w_));
    if (right && !ksp_->guess_zero) PetscCall(VecAXPY(x_, 1, cg_.guess));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Start() override {
    PetscFunctionBegin;
    PetscCall(KSPInitialResidual(ksp_, x_, v_, t_, r_, b_));
    if (ksp_->pc_side == PC_RIGHT && !ksp_->guess_zero) { // x is what the preconditioner is to be applied to
      if (!cg_.guess) PetscCall(VecDuplicate(x_, &cg_.guess));
      PetscCall(VecCopy(x_, cg_.guess));
      PetscCall(VecZeroEntries(x_));
    }
    PetscCall(VecCopy(r_, shadow_));
    PetscCall(Pass([&](Arrays *arrays, const auto &run) {
      cg::Inner pass = {NULL, NULL, {true, true, true, true}};
      PetscFunctionBegin;
      PetscCall(arrays->Read(r_, &pass.z));
      PetscCall(arrays->Read(shadow_, &pass.r));
      PetscCall(run(pass));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Iterate() override {
    PetscFunctionBegin;
    PetscCall(Walk<cg::bcgs::Direction>());
    PetscCall(Multiply(p_, v_));
    PetscCall(Walk<cg::bcgs::Along>());
    PetscCall(Walk<cg::bcgs::Half>());
    PetscCall(Multiply(r_, t_));
    PetscCall(Walk<cg::bcgs::Shortest>());
    PetscCall(Walk<cg::bcgs::Update>());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Precondition() override { return PETSC_SUCCESS; } // part of the product
  PetscErrorCode Multiply(Vec from, Vec to) {
    PetscFunctionBegin;
    PetscCall(is_diagonal_ ? KSP_MatMult(ksp_, A_, from, to) : KSP_PCApplyBAorAB(ksp_, from, to, w_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class Step> PetscErrorCode Walk() {
    return Pass([&](Arrays *arrays, const auto &run) {
      Step pass;
      PetscFunctionBegin;
      PetscCall(arrays->ReadWrite(x_, &pass.x));
      PetscCall(arrays->ReadWrite(r_, &pass.r));
      PetscCall(arrays->ReadWrite(p_, &pass.p));
      PetscCall(arrays->ReadWrite(v_, &pass.v));
      PetscCall(arrays->ReadWrite(t_, &pass.t));
      PetscCall(arrays->ReadWrite(shadow_, &pass.shadow));
      PetscCall(Read(arrays, &pass.D));
      PetscCall(run(pass));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }

  Vec shadow_, v_, t_;
};

PetscErrorCode solve_by_bcgs(KSP ksp) {
  return BiCGStab(ksp).Run();
}

} // namespace shellac
