#include "direct/fourier.hpp"

#include <cmath>

#include "direct/split_sines.hpp"

#if defined(SHELLAC_HAS_FFTW) || defined(SHELLAC_HAS_FFTWF)
#include <fftw3.h>
#endif

namespace shellac {

namespace {

constexpr size_t pairs_at_once = 4; // their continuations stay in the cache

// FFTW's functions for a precision.
template <class R> struct FFTW { static constexpr bool exists = false; };
#define SHELLAC_FFTW(R, name)                                                                                          \
  template <> struct FFTW<R> {                                                                                         \
    static constexpr bool exists = true;                                                                               \
    static void          *plan(int n, int count, ComplexOf<R> *z, int sign) {                                          \
               auto *at = reinterpret_cast<name##_complex *>(z);                                                       \
               return name##_plan_many_dft(1, &n, count, at, NULL, 1, n, at, NULL, 1, n, sign, FFTW_ESTIMATE);         \
    }                                                                                                                  \
    static void execute(void *plan) { name##_execute((name##_plan)plan); }                                             \
    static void destroy(void *plan) { name##_destroy_plan((name##_plan)plan); }                                        \
  };
#if defined(SHELLAC_HAS_FFTW)
SHELLAC_FFTW(double, fftw)
#endif
#if defined(SHELLAC_HAS_FFTWF)
SHELLAC_FFTW(float, fftwf)
#endif

template <class R> ComplexOf<R> turned(PetscReal fraction) { // e^{2 pi i fraction}
  return {(R)PetscCosReal(2 * PETSC_PI * fraction), (R)PetscSinReal(2 * PETSC_PI * fraction)};
}

#if SHELLAC_CUDA
// One value of a step for all lines. Complex lines lie side by side where those of the array do, so that threads beside
// each other read and write so; otherwise one after the other.
template <class T, class From, class To> struct Step {
  using R = typename RealOf<T>::type;
  FourierSteps<R> steps;
  Lines           lines;
  bool            back;
  const From     *from;
  To             *to;
  ComplexOf<R>   *z;
  bool            beside;
  PetscInt        pairs;

  SHELLAC_HD size_t along() const { return beside ? (size_t)pairs : 1; } // strides of z
  SHELLAC_HD size_t across() const { return beside ? 1 : (size_t)steps.length; }

  SHELLAC_HD void before(PetscInt m, PetscInt pair) const {
    const auto x = line_pair<T>(lines, const_cast<From *>(from), (size_t)pair);
    z[(size_t)pair * across() + (size_t)m * along()] = back ? steps.coefficient(x, m) : steps.continued(x, m);
  }
  SHELLAC_HD void after(PetscInt j, PetscInt pair) const {
    const Coefficients<R> of = {z + (size_t)pair * across(), along()};
    line_pair<T>(lines, to, (size_t)pair).set(j, back ? steps.value(of, j) : steps.mode(of, j));
  }
};
template <bool is_after, class Step> struct RunStep {
  Step            step;
  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt) const {
    const PetscInt m = step.beside ? j : i, pair = step.beside ? i : j;
    if (is_after)
      step.after(m, pair);
    else
      step.before(m, pair);
  }
};
template <bool is_after, class Step> PetscErrorCode run_step(const Step &step, PetscInt points) {
  const Box box = {{0, 0, 0}, {step.beside ? step.pairs : points, step.beside ? points : step.pairs, 1}};
  PetscFunctionBegin;
  PetscCall(for_each_of_box(PETSC_MEMTYPE_DEVICE, box, RunStep<is_after, Step>{step}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// cuFFT's functions for a precision.
template <class R> struct CuFFT;
#define SHELLAC_CUFFT_OF(R, REAL, real, COMPLEX, complex)                                                              \
  template <> struct CuFFT<R> {                                                                                        \
    static constexpr cufftType type = CUFFT_##COMPLEX##2##COMPLEX;                                                     \
    static constexpr cufftType of_reals[2] = {CUFFT_##REAL##2##COMPLEX, CUFFT_##COMPLEX##2##REAL};                     \
    static cufftResult         transform(int plan, const void *from, void *to, int way) {                              \
              return cufftExec##COMPLEX##2##COMPLEX((cufftHandle)plan, (complex *)from, (complex *)to, way);           \
    }                                                                                                                  \
    static cufftResult from_reals(int plan, const void *from, void *to) {                                              \
      return cufftExec##REAL##2##COMPLEX((cufftHandle)plan, (real *)from, (complex *)to);                              \
    }                                                                                                                  \
    static cufftResult to_reals(int plan, void *from, void *to) {                                                      \
      return cufftExec##COMPLEX##2##REAL((cufftHandle)plan, (complex *)from, (real *)to);                              \
    }                                                                                                                  \
  };
SHELLAC_CUFFT_OF(double, D, cufftDoubleReal, Z, cufftDoubleComplex)
SHELLAC_CUFFT_OF(float, R, cufftReal, C, cufftComplex)

// In place, of `count` arrays of a length, whose numbers of one place are beside each other, or which are one after another.
template <class R> PetscErrorCode make_plan(PetscInt length, PetscInt count, bool beside, GPUPlan *plan) {
  const int n[3] = {(int)length};
  return plan->Make(1, n, beside ? (int)count : 1, beside ? 1 : n[0], CuFFT<R>::type, (int)count);
}
template <class R> PetscErrorCode execute(GPUPlan *plan, ComplexOf<R> *z, bool back) {
  cufftHandle handle;

  PetscFunctionBegin;
  PetscCall(plan->Get(&handle));
  SHELLAC_CUFFT(CuFFT<R>::transform(handle, z, z, back ? CUFFT_INVERSE : CUFFT_FORWARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

} // namespace

template <class T> bool FourierTransform<T>::exists(PetscMemType memory) {
  return PetscMemTypeHost(memory) ? FFTW<R>::exists : SHELLAC_CUDA;
}

template <class T> const char *FourierTransform<T>::libraries() {
  return FFTW<R>::exists ? (SHELLAC_CUDA ? "FFTW, cuFFT" : "FFTW")
         : SHELLAC_CUDA  ? "cuFFT"
                         : "none, this build has no FFTW of this precision";
}

template <class T> PetscErrorCode FourierTransform<T>::Create(const FourierAxis &axis) {
  PetscFunctionBegin;
  PetscCall(Destroy());
  is_split_ = axis.is_split();
  steps_.n = axis.n;
  steps_.length = axis.length;
  steps_.periodic = axis.periodic;
  steps_.half = axis.half();
  steps_.complex = axis.complex;
  steps_.is_short = axis.is_short();
  steps_.first = axis.first();
  for (int side = 0; side < 2; side++) steps_.odd[side] = !axis.periodic && axis.odd[side];
  steps_.last = 2 * (axis.n - 1) + axis.twice[1];
  std::vector<Complex> &tables = tables_.change();
  tables.clear();
  for (PetscInt m = 0; m < axis.length; m++) tables.push_back(turned<R>(-PetscReal(m) / (2 * (PetscReal)axis.length)));
  for (PetscInt k = 0; k < axis.n && !axis.periodic; k++) { // e^{iωp}, and i times that where the lower end is odd
    const bool      odd = axis.odd[0] && !axis.is_short();
    const PetscReal twice = PetscReal(2 * (k + (odd ? axis.first() : 0)) + axis.half());
    const PetscReal frequency = twice / (2 * (PetscReal)axis.period());
    tables.push_back(turned<R>(-frequency * axis.twice[0] / 2 + (odd ? 0.25 : 0)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode FourierTransform<T>::Destroy() {
  PetscFunctionBegin;
  for (void *&plan : plans_) {
    if constexpr (FFTW<R>::exists)
      if (plan) FFTW<R>::destroy(plan);
    plan = nullptr;
  }
#if SHELLAC_CUDA
  for (GPUPlan &plan : gpu_plans_) plan.GiveBack();
#endif
  planned_lines_ = {0, 0, 0};
  planned_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
template <class From, class To>
PetscErrorCode FourierTransform<T>::OnHost(bool back, const Lines &lines, const From *from, To *to,
                                           Scratch<Complex> *work) {
  using F = FFTW<R>;
  PetscFunctionBegin;
  if constexpr (F::exists) {
    const FourierSteps<R> steps = steps_;
    const size_t length = (size_t)steps.length, pairs = (lines.count() + lines_in_pair<T> - 1) / lines_in_pair<T>;

    PetscCall(work->Grow(pairs_at_once * length, PETSC_MEMTYPE_HOST));
    Complex *z = work->at(PETSC_MEMTYPE_HOST);
    if (planned_ != z) { // another transform has made the array longer
      PetscCall(Destroy());
      const int n = (int)steps.length;
      for (int way = 0; way < 2; way++) plans_[way] = F::plan(n, (int)pairs_at_once, z, way ? 1 : -1);
      PetscCheck(plans_[0] && plans_[1], PETSC_COMM_SELF, PETSC_ERR_LIB, "FFTW has no transform of length %d", n);
      planned_ = z;
    }
    for (size_t begin = 0; begin < pairs; begin += pairs_at_once) {
      const size_t                             count = PetscMin(pairs_at_once, pairs - begin);
      LinePair<R, typename RealOf<From>::type> x[pairs_at_once];
      LinePair<R, typename RealOf<To>::type>   y[pairs_at_once];
      for (size_t p = 0; p < count; p++) {
        x[p] = line_pair<T>(lines, const_cast<From *>(from), begin + p);
        y[p] = line_pair<T>(lines, to, begin + p);
      }
      for (PetscInt m = 0; m < steps.length; m++)
        for (size_t p = 0; p < count; p++)
          z[p * length + (size_t)m] = back ? steps.coefficient(x[p], m) : steps.continued(x[p], m);
      F::execute(plans_[back]);
      for (PetscInt j = 0; j < steps.n; j++)
        for (size_t p = 0; p < count; p++) {
          const Complex *of = z + p * length;
          y[p].set(j, back ? steps.value(of, j) : steps.mode(of, j));
        }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode FourierTransform<T>::Plan(const Lines &lines) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  const bool     beside = lines.inner > 1;
  const PetscInt pairs = (PetscInt)((lines.count() + lines_in_pair<T> - 1) / lines_in_pair<T>), length = steps_.length;
  if (planned_lines_.inner == lines.inner && planned_lines_.outer == lines.outer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Destroy());
  if (is_split_) {
    PetscCall(make_plan<R>(length / 4, 2 * pairs, beside, &gpu_plans_[0]));
    PetscCall(make_plan<R>(length / 8, pairs, beside, &gpu_plans_[1]));
  } else
    PetscCall(make_plan<R>(length, pairs, beside, &gpu_plans_[0]));
  planned_lines_ = lines;
#else
  (void)lines;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
template <class From, class To>
PetscErrorCode FourierTransform<T>::OnGPU(bool back, const Lines &lines, const From *from, To *to,
                                          Scratch<Complex> *work) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  const PetscMemType memory = PETSC_MEMTYPE_DEVICE;
  const PetscInt     pairs = (PetscInt)((lines.count() + lines_in_pair<T> - 1) / lines_in_pair<T>);
  const bool         beside = lines.inner > 1;

  PetscCall(Plan(lines));
  if (is_split_) { // which is its own inverse
    SplitSines<T, From, To> step = {steps_.length / 4, beside, pairs, steps_.turns, lines, from, to, nullptr};
    PetscCall(work->Grow(step.size(), memory));
    step.z = work->at(memory);
    PetscCall(run_step<false>(step, step.groups(step.half)));
    PetscCall(execute(&gpu_plans_[0], step.z, true));
    PetscCall(execute(&gpu_plans_[1], step.z + step.begin_of_short(), true));
    PetscCall(run_step<true>(step, steps_.n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(work->Grow((size_t)pairs * (size_t)steps_.length, memory));
  const Step<T, From, To> step = {steps_, lines, back, from, to, work->at(memory), beside, pairs};
  PetscCall(run_step<false>(step, steps_.length));
  PetscCall(execute(&gpu_plans_[0], step.z, back));
  PetscCall(run_step<true>(step, steps_.n));
#else
  (void)back, (void)lines, (void)from, (void)to, (void)work;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
template <class From, class To>
PetscErrorCode FourierTransform<T>::Apply(PetscMemType memory, bool back, const Lines &lines, const From *from, To *to,
                                          Scratch<Complex> *work) {
  PetscFunctionBegin;
  PetscCheck(exists(memory), PETSC_COMM_SELF, PETSC_ERR_SUP, "this build has no Fourier transforms for such vectors");
  PetscCall(tables_.Get(memory, &steps_.turns));
  steps_.phase = steps_.turns + steps_.length;
  if (!lines.count()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemTypeHost(memory) ? OnHost(back, lines, from, to, work) : OnGPU(back, lines, from, to, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
PetscErrorCode PeriodicGrid<T>::Forward(const PetscInt n[3], int axes, const void *values,
                                        Scratch<ComplexOf<R>> *work) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  cufftHandle plan;
  int         sizes[3], rank = 0, batch = 1;

  if (!plans_[0].made() || !std::equal(n, n + 3, n_)) {
    std::copy_n(n, 3, n_);
    for (int a = 2; a >= 0; a--)
      if (a >= axes)
        batch *= (int)n[a];
      else if (n[a] > 1)
        sizes[rank++] = (int)n[a];
    for (int way = 0; way < 2; way++)
      PetscCall(
          plans_[way].Make(rank, sizes, 0, 0, lines_in_pair<T> == 1 ? CuFFT<R>::type : CuFFT<R>::of_reals[way], batch));
  }
  PetscCall(plans_[0].Get(&plan));
  PetscCall(work->Grow((size_t)modes().points(), PETSC_MEMTYPE_DEVICE));
  R *const z = (R *)work->at(PETSC_MEMTYPE_DEVICE); // cuFFT does not change the values
  SHELLAC_CUFFT(lines_in_pair<T> == 1 ? CuFFT<R>::transform(plan, values, z, CUFFT_FORWARD)
                                      : CuFFT<R>::from_reals(plan, values, z));
#else
  (void)n, (void)axes, (void)values, (void)work;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode PeriodicGrid<T>::Back(Scratch<ComplexOf<R>> *work, void *values) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  R *const    z = (R *)work->at(PETSC_MEMTYPE_DEVICE);
  cufftHandle plan;

  PetscCall(plans_[1].Get(&plan));
  SHELLAC_CUFFT(lines_in_pair<T> == 1 ? CuFFT<R>::transform(plan, z, values, CUFFT_INVERSE)
                                      : CuFFT<R>::to_reals(plan, z, values));
#else
  (void)work, (void)values;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SHELLAC_APPLY(T, From, To)                                                                                     \
  template PetscErrorCode FourierTransform<T>::Apply(PetscMemType, bool, const Lines &, const From *, To *,            \
                                                     Scratch<ComplexOf<R>> *);
#define SHELLAC_TRANSFORM(T)                                                                                           \
  template class FourierTransform<T>;                                                                                  \
  template class PeriodicGrid<T>;                                                                                      \
  SHELLAC_APPLY(T, T, T)
#define SHELLAC_TRANSFORM_OTHER(T)                                                                                     \
  SHELLAC_TRANSFORM(T)                                                                                                 \
  SHELLAC_APPLY(T, PetscScalar, T)                                                                                     \
  SHELLAC_APPLY(T, T, PetscScalar)
SHELLAC_TRANSFORM(PetscScalar)
#if !defined(PETSC_USE_REAL_SINGLE)
SHELLAC_TRANSFORM_OTHER(Single)
#if !defined(PETSC_USE_COMPLEX)
SHELLAC_TRANSFORM_OTHER(ComplexOf<float>)
#endif
#endif
#if !defined(PETSC_USE_COMPLEX)
SHELLAC_TRANSFORM_OTHER(ComplexOf<PetscReal>)
#endif

} // namespace shellac
