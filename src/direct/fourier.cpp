#include "direct/fourier.hpp"

#include <cmath>

#include "direct/split_sines.hpp"

#if defined(SHELLAC_HAS_FFTW) && defined(PETSC_USE_REAL_DOUBLE)
#define SHELLAC_FFTW 1
#include <fftw3.h>
#else
#define SHELLAC_FFTW 0
#endif
#if SHELLAC_CUDA
#include <cufft.h>
#define SHELLAC_CUFFT(...)                                                                                             \
  do {                                                                                                                 \
    const cufftResult shellac_result = __VA_ARGS__;                                                                    \
    PetscCheck(shellac_result == CUFFT_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuFFT's error %d in %s",              \
               (int)shellac_result, #__VA_ARGS__);                                                                     \
  } while (0)
#endif

namespace shellac {

namespace {

#if SHELLAC_FFTW
constexpr size_t pairs_at_once = 4; // their continuations stay in the cache
#endif

Complex turned(PetscReal fraction) { // e^{2 pi i fraction}
  return {PetscCosReal(2 * PETSC_PI * fraction), PetscSinReal(2 * PETSC_PI * fraction)};
}

#if SHELLAC_CUDA
// One value of a step for all lines. Complex lines lie side by side where those of the array do, so that threads beside
// each other read and write so; otherwise one after the other.
struct Step {
  FourierSteps       steps;
  Lines              lines;
  bool               back;
  const PetscScalar *from;
  PetscScalar       *to;
  Complex           *z;
  bool               beside;
  PetscInt           pairs;

  SHELLAC_HD size_t along() const { return beside ? (size_t)pairs : 1; } // strides of z
  SHELLAC_HD size_t across() const { return beside ? 1 : (size_t)steps.length; }

  SHELLAC_HD void before(PetscInt m, PetscInt pair) const {
    const LinePair x = line_pair(lines, const_cast<PetscScalar *>(from), (size_t)pair);
    z[(size_t)pair * across() + (size_t)m * along()] = back ? steps.coefficient(x, m) : steps.continued(x, m);
  }
  SHELLAC_HD void after(PetscInt j, PetscInt pair) const {
    const Coefficients of = {z + (size_t)pair * across(), along()};
    line_pair(lines, to, (size_t)pair).set(j, back ? steps.value(of, j) : steps.mode(of, j));
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

// In place, of `count` arrays of length n, whose numbers of one place are beside each other, or which are one after another.
cufftResult plan_many(PetscInt length, PetscInt count, bool beside, int *plan) {
  int               n = (int)length, along = beside ? (int)count : 1, across = beside ? 1 : n;
  cufftHandle       handle = 0;
  const cufftResult result = cufftPlanMany(&handle, 1, &n, &n, along, across, &n, along, across, CUFFT_Z2Z, (int)count);
  *plan = (int)handle;
  return result;
}
cufftResult execute(int plan, Complex *z, bool back, cudaStream_t stream) {
  auto *const       at = reinterpret_cast<cufftDoubleComplex *>(z);
  const cufftResult result = cufftSetStream((cufftHandle)plan, stream);
  return result == CUFFT_SUCCESS ? cufftExecZ2Z((cufftHandle)plan, at, at, back ? CUFFT_INVERSE : CUFFT_FORWARD)
                                 : result;
}
#endif

} // namespace

bool FourierTransform::exists(PetscMemType memory) {
  return PetscMemTypeHost(memory) ? SHELLAC_FFTW : SHELLAC_CUDA;
}

const char *FourierTransform::libraries() {
  return SHELLAC_FFTW   ? (SHELLAC_CUDA ? "FFTW, cuFFT" : "FFTW")
         : SHELLAC_CUDA ? "cuFFT"
                        : "none, this build has no FFTW";
}

PetscErrorCode FourierTransform::Create(const FourierAxis &axis) {
  PetscFunctionBegin;
  PetscCall(Destroy());
  is_split_ = axis.is_split();
  steps_.n = axis.n;
  steps_.length = axis.length;
  steps_.periodic = axis.periodic;
  steps_.half = axis.half();
  steps_.first = axis.first();
  for (int side = 0; side < 2; side++) steps_.odd[side] = !axis.periodic && axis.odd[side];
  steps_.last = 2 * (axis.n - 1) + axis.twice[1];
  std::vector<Complex> &tables = tables_.change();
  tables.clear();
  for (PetscInt m = 0; m < axis.length; m++) tables.push_back(turned(-PetscReal(m) / (2 * (PetscReal)axis.length)));
  for (PetscInt k = 0; k < axis.n && !axis.periodic; k++) { // e^{iωp}, and i times that where the lower end is odd
    const PetscReal frequency = PetscReal(2 * (k + axis.first()) + axis.half()) / (2 * (PetscReal)axis.length);
    tables.push_back(turned(-frequency * axis.twice[0] / 2 + (axis.odd[0] ? 0.25 : 0)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FourierTransform::Destroy() {
  PetscFunctionBegin;
#if SHELLAC_FFTW
  for (void *&plan : plans_) {
    if (plan) fftw_destroy_plan((fftw_plan)plan);
    plan = nullptr;
  }
#endif
#if SHELLAC_CUDA
  for (int number = 0; number < (is_split_ ? 2 : 1); number++)
    if (planned_lines_.n) (void)cufftDestroy((cufftHandle)gpu_plans_[number]);
#endif
  planned_lines_ = {0, 0, 0};
  planned_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FourierTransform::OnHost(bool back, const Lines &lines, const PetscScalar *from, PetscScalar *to,
                                        Scratch<Complex> *work) {
  PetscFunctionBegin;
#if SHELLAC_FFTW
  const FourierSteps steps = steps_;
  const size_t       length = (size_t)steps.length, pairs = (lines.count() + lines_in_pair - 1) / lines_in_pair;

  PetscCall(work->Grow(pairs_at_once * length, PETSC_MEMTYPE_HOST));
  Complex *z = work->at(PETSC_MEMTYPE_HOST);
  if (planned_ != z) { // another transform has made the array longer
    PetscCall(Destroy());
    const int     n = (int)steps.length;
    fftw_complex *at = reinterpret_cast<fftw_complex *>(z);
    for (int way = 0; way < 2; way++)
      plans_[way] = fftw_plan_many_dft(1, &n, (int)pairs_at_once, at, NULL, 1, n, at, NULL, 1, n,
                                       way ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
    PetscCheck(plans_[0] && plans_[1], PETSC_COMM_SELF, PETSC_ERR_LIB, "FFTW has no transform of length %d", n);
    planned_ = z;
  }
  for (size_t begin = 0; begin < pairs; begin += pairs_at_once) {
    const size_t count = PetscMin(pairs_at_once, pairs - begin);
    LinePair     x[pairs_at_once], y[pairs_at_once];
    for (size_t p = 0; p < count; p++) {
      x[p] = line_pair(lines, const_cast<PetscScalar *>(from), begin + p);
      y[p] = line_pair(lines, to, begin + p);
    }
    for (PetscInt m = 0; m < steps.length; m++)
      for (size_t p = 0; p < count; p++)
        z[p * length + (size_t)m] = back ? steps.coefficient(x[p], m) : steps.continued(x[p], m);
    fftw_execute((fftw_plan)plans_[back]);
    for (PetscInt j = 0; j < steps.n; j++)
      for (size_t p = 0; p < count; p++) {
        const Complex *of = z + p * length;
        y[p].set(j, back ? steps.value(of, j) : steps.mode(of, j));
      }
  }
#else
  (void)back, (void)lines, (void)from, (void)to, (void)work;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FourierTransform::Plan(const Lines &lines) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  const bool     beside = lines.inner > 1;
  const PetscInt pairs = (PetscInt)((lines.count() + lines_in_pair - 1) / lines_in_pair), length = steps_.length;
  if (planned_lines_.inner == lines.inner && planned_lines_.outer == lines.outer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Destroy());
  if (is_split_) {
    SHELLAC_CUFFT(plan_many(length / 4, 2 * pairs, beside, &gpu_plans_[0]));
    SHELLAC_CUFFT(plan_many(length / 8, pairs, beside, &gpu_plans_[1]));
  } else
    SHELLAC_CUFFT(plan_many(length, pairs, beside, &gpu_plans_[0]));
  planned_lines_ = lines;
#else
  (void)lines;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FourierTransform::OnGPU(bool back, const Lines &lines, const PetscScalar *from, PetscScalar *to,
                                       Scratch<Complex> *work) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  const PetscMemType memory = PETSC_MEMTYPE_DEVICE;
  const PetscInt     pairs = (PetscInt)((lines.count() + lines_in_pair - 1) / lines_in_pair);
  const bool         beside = lines.inner > 1;
  cudaStream_t       stream;

  PetscCall(Plan(lines));
  PetscCall(current_stream(&stream));
  if (is_split_) { // which is its own inverse
    SplitSines step = {steps_.length / 4, beside, pairs, steps_.turns, lines, from, to, nullptr};
    PetscCall(work->Grow(step.size(), memory));
    step.z = work->at(memory);
    PetscCall(run_step<false>(step, SplitSines::groups(step.half)));
    SHELLAC_CUFFT(execute(gpu_plans_[0], step.z, true, stream));
    SHELLAC_CUFFT(execute(gpu_plans_[1], step.z + step.begin_of_short(), true, stream));
    PetscCall(run_step<true>(step, steps_.n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(work->Grow((size_t)pairs * (size_t)steps_.length, memory));
  const Step step = {steps_, lines, back, from, to, work->at(memory), beside, pairs};
  PetscCall(run_step<false>(step, steps_.length));
  SHELLAC_CUFFT(execute(gpu_plans_[0], step.z, back, stream));
  PetscCall(run_step<true>(step, steps_.n));
#else
  (void)back, (void)lines, (void)from, (void)to, (void)work;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FourierTransform::Apply(PetscMemType memory, bool back, const Lines &lines, const PetscScalar *from,
                                       PetscScalar *to, Scratch<Complex> *work) {
  PetscFunctionBegin;
  PetscCheck(exists(memory), PETSC_COMM_SELF, PETSC_ERR_SUP, "this build has no Fourier transforms for such vectors");
  PetscCall(tables_.Get(memory, &steps_.turns));
  steps_.phase = steps_.turns + steps_.length;
  if (!lines.count()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemTypeHost(memory) ? OnHost(back, lines, from, to, work) : OnGPU(back, lines, from, to, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PeriodicGrid::Destroy() {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  for (int plan : plans_)
    if (planned_) (void)cufftDestroy((cufftHandle)plan);
#endif
  planned_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PeriodicGrid::Forward(const PetscInt n[3], int axes, const PetscScalar *values, Scratch<Complex> *work) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  cudaStream_t stream;
  int          sizes[3], rank = 0, batch = 1;

  PetscCall(current_stream(&stream));
  if (!planned_ || n[0] != n_[0] || n[1] != n_[1] || n[2] != n_[2]) {
    PetscCall(Destroy());
    for (int a = 2; a >= 0; a--) {
      n_[a] = n[a];
      if (a >= axes)
        batch *= (int)n[a];
      else if (n[a] > 1)
        sizes[rank++] = (int)n[a];
    }
    for (int way = 0; way < 2; way++) {
      const cufftType type = lines_in_pair == 1 ? CUFFT_Z2Z : way ? CUFFT_Z2D : CUFFT_D2Z;
      cufftHandle     plan;
      SHELLAC_CUFFT(cufftPlanMany(&plan, rank, sizes, NULL, 1, 0, NULL, 1, 0, type, batch));
      plans_[way] = (int)plan;
    }
    planned_ = true;
  }
  for (int plan : plans_) SHELLAC_CUFFT(cufftSetStream((cufftHandle)plan, stream));
  PetscCall(work->Grow((size_t)modes().points(), PETSC_MEMTYPE_DEVICE));
  auto *z = reinterpret_cast<cufftDoubleComplex *>(work->at(PETSC_MEMTYPE_DEVICE));
  if (lines_in_pair == 2) // cuFFT does not change what it reads
    SHELLAC_CUFFT(cufftExecD2Z((cufftHandle)plans_[0], (cufftDoubleReal *)values, z));
  else
    SHELLAC_CUFFT(cufftExecZ2Z((cufftHandle)plans_[0], (cufftDoubleComplex *)values, z, CUFFT_FORWARD));
#else
  (void)n, (void)axes, (void)values, (void)work;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PeriodicGrid::Back(Scratch<Complex> *work, PetscScalar *values) {
  PetscFunctionBegin;
#if SHELLAC_CUDA
  auto *z = reinterpret_cast<cufftDoubleComplex *>(work->at(PETSC_MEMTYPE_DEVICE));
  if (lines_in_pair == 2)
    SHELLAC_CUFFT(cufftExecZ2D((cufftHandle)plans_[1], z, (cufftDoubleReal *)values));
  else
    SHELLAC_CUFFT(cufftExecZ2Z((cufftHandle)plans_[1], z, (cufftDoubleComplex *)values, CUFFT_INVERSE));
#else
  (void)work, (void)values;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
