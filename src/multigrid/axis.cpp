#include "multigrid/axis.hpp"

#include <algorithm>

#include <petscblaslapack.h>

// Divide and conquer for tridiagonal matrices (J. J. M. Cuppen, 1981), which PETSc does not declare.
#define LAPACKstedc_ PETSCBLAS(stedc, STEDC)
extern "C" void LAPACKstedc_(const char *, const PetscBLASInt *n, PetscReal *, PetscReal *, PetscScalar *,
                             const PetscBLASInt *,
#if defined(PETSC_USE_COMPLEX)
                             PetscScalar *, const PetscBLASInt *,
#endif
                             PetscReal *, const PetscBLASInt *, PetscBLASInt *, const PetscBLASInt *, PetscBLASInt *);

namespace shellac {

static PetscReal in_series(PetscReal a, PetscReal b) {
  return a == 0 || b == 0 ? 0 : a * (b / (a + b));
}

PetscReal Axis::lowest() const {
  const PetscInt end = N() - (fixed ? 1 : 0),
                 begin = fixed ? 1 : 0; // edges from `begin` to `end` touch points that are not fixed
  PetscReal resistance = 0, masses = 0;

  if (periodic || (edge[begin] == 0 && edge[end] == 0)) return 0;
  for (PetscInt i = begin; i < end; i++) masses += mass[i];
  for (PetscInt i = begin; i <= end; i++) { // the far end's edge may be missing; all others lead on
    if (edge[i] == 0 && i > begin && i < end) return 0;
    if (edge[i] != 0) resistance += 1 / PetscAbsReal(edge[i]);
  }
  return 1 / (resistance * masses);
}

// The first fine point that is kept.
static PetscInt first_kept(const Axis &axis) {
  const PetscInt N = axis.N();
  if (axis.periodic) return 0;
  if (axis.fixed) return 2; // the fixed node becomes the end of the domain
  // of an even number of points, the one at the further end: otherwise the other would be nearer to its end on each level
  if (axis.balanced && N % 2 == 0 && PetscAbsReal(axis.edge[N]) > PetscAbsReal(axis.edge[0])) return 0;
  // free ends: nodes at both, where there can be
  return axis.edge[0] == 0 && axis.edge[N] == 0 && N % 2 ? 0 : 1;
}

// Whether the last point of an odd periodic axis, which would be kept beside the first, is joined with it: where the
// edge between them is shorter than others. Otherwise it would be twice as short on each coarser axis.
static bool ties_ends(const Axis &axis) {
  const PetscInt N = axis.N();
  return axis.periodic && N % 2 && N > 1 &&
         PetscAbsReal(axis.edge[N]) > PetscReal(1.01) * PetscAbsReal(axis.edge[N / 2]);
}

static PetscInt coarse_size(const Axis &axis) {
  const PetscInt last = axis.N() - (axis.fixed || ties_ends(axis) ? 2 : 1), first = first_kept(axis);
  return last >= first ? (last - first) / 2 + 1 : 0;
}

Axis axis_beside_rows(PetscInt N, bool periodic, bool fixed, PetscReal edge, const bool free_end[2]) {
  Axis axis;
  axis.periodic = periodic;
  axis.fixed = !periodic && N > 2 && fixed;
  axis.balanced = true;
  axis.mass.assign(N, 1);
  axis.edge.assign(N + 1, N > 1 ? edge : 0);
  for (int e = 0; e < 2; e++)
    if (!periodic && free_end[e]) axis.edge[e ? N : 0] = 0;
  return axis;
}

bool can_coarsen(const Axis &axis) {
  const PetscInt coarse = coarse_size(axis);
  return coarse > 0 && coarse < axis.N();
}

Axis coarsen(const Axis &axis, bool coarsens, Coarsening *coarsening) {
  const PetscInt N = axis.N();
  Axis           coarse;

  coarsening->coarsens = coarsens;
  coarsening->offset = coarsens ? first_kept(axis) : 0;
  coarsening->ties_ends = coarsens && ties_ends(axis);
  for (int c = 0; c < 2; c++) {
    coarsening->prolong[c].assign(N, 0);
    coarsening->restriction[c].assign(N, 0);
  }
  if (!coarsens) {
    coarse = axis;
    for (PetscInt i = 0; i < N; i++)
      if (!axis.is_fixed(i)) coarsening->prolong[0][i] = coarsening->restriction[0][i] = 1;
    return coarse;
  }
  const PetscInt coarse_N = coarse_size(axis), offset = coarsening->offset, last = 2 * (coarse_N - 1) + offset;
  const auto     target = [&](PetscInt i, int c) { // the coarse point; -1 for none
    const PetscInt J = coarsening->below(i) + c;
    if (axis.periodic) return (J + coarse_N) % coarse_N;
    return J < 0 || J >= coarse_N ? -1 : J;
  };

  coarse.periodic = axis.periodic;
  coarse.balanced = axis.balanced;
  coarse.mass.assign(coarse_N, 0);
  for (PetscInt i = 0; i < N; i++) {
    if (axis.is_fixed(i)) continue;
    const bool      kept = (i - offset) % 2 == 0;
    const PetscReal both = axis.edge[i] + axis.edge[i + 1];
    for (int c = 0; c < 2; c++) {
      const PetscReal weight = kept ? 1 - c : both == 0 ? 0.5 : axis.edge[i + c] / both;
      if (weight == 0 || target(i, c) < 0) continue;
      coarsening->prolong[c][i] = weight;
      coarse.mass[target(i, c)] += weight * axis.mass[i];
    }
  }
  for (PetscInt i = 0; i < N; i++)
    for (int c = 0; c < 2; c++)
      if (coarsening->prolong[c][i] != 0)
        coarsening->restriction[c][i] = coarsening->prolong[c][i] * axis.mass[i] / coarse.mass[target(i, c)];

  coarse.edge.assign(coarse_N + 1, 0);
  for (PetscInt J = 1; J < coarse_N; J++)
    coarse.edge[J] = in_series(axis.edge[2 * J + offset - 1], axis.edge[2 * J + offset]);
  // at the ends: what lies between the last coarse point and the end of the domain, or the first coarse point
  coarse.edge[0] = offset == 0 ? axis.edge[0] : in_series(axis.edge[offset], axis.edge[offset - 1]);
  const PetscInt end = axis.fixed ? N - 1 : N; // the edge to it
  coarse.edge[coarse_N] = last == end - 1 ? axis.edge[end] : in_series(axis.edge[last + 1], axis.edge[end]);
  if (coarsening->ties_ends) { // the last point, tied to the first, lies in the middle of the edge that goes
    const PetscReal half = 2 * axis.edge[N];
    coarse.edge[coarse_N] = in_series(in_series(axis.edge[N - 2], axis.edge[N - 1]), half);
    if (coarse_N > 1) coarse.edge[1] = in_series(coarse.edge[1], half);
  }
  if (axis.periodic) coarse.edge[0] = coarse.edge[coarse_N];
  return coarse;
}

void cut(PetscInt lo, PetscInt hi, PetscInt coarse_lo, PetscInt coarse_hi, Axis *axis, Coarsening *coarsening) {
  const Axis       all = *axis;
  const Coarsening of_all = *coarsening;
  const PetscInt   N = all.N();
  if (lo == 0 && hi == N) return;
  const auto place = [&](PetscInt i) { return all.periodic ? (i % N + N) % N : i; };
  axis->mass.clear();
  axis->edge.clear();
  axis->periodic = false;
  for (int c = 0; c < 2; c++) coarsening->prolong[c].clear(), coarsening->restriction[c].clear();
  for (PetscInt i = lo; i < hi; i++) {
    axis->mass.push_back(all.mass[place(i)]);
    axis->edge.push_back(all.edge[place(i)]);
    for (int c = 0; c < 2; c++) {
      const PetscInt J = of_all.below(i) + c;
      const bool     in = J >= coarse_lo && J < coarse_hi;
      coarsening->prolong[c].push_back(in ? of_all.prolong[c][place(i)] : 0);
      coarsening->restriction[c].push_back(in ? of_all.restriction[c][place(i)] : 0);
    }
  }
  axis->edge.push_back(all.edge[place(hi - 1) + 1]);
}

SineModes sine_modes(const Axis &axis) {
  const PetscInt  N = axis.N();
  const PetscReal edge = axis.edge[0], mass = axis.mass[0], tiny = 16 * PETSC_MACHINE_EPSILON;
  bool            alike = N > 1 && edge != 0 && !axis.periodic && !axis.fixed;

  for (const PetscReal &one : axis.edge) alike = alike && PetscAbsReal(one - edge) <= tiny * PetscAbsReal(edge);
  for (const PetscReal &one : axis.mass) alike = alike && PetscAbsReal(one - mass) <= tiny * PetscAbsReal(mass);
  SineModes modes;
  if (alike) modes.N = N, modes.coupling = axis.coupling();
  return modes;
}

bool decomposes_fast(const Axis &axis) {
  PetscReal least = PETSC_MAX_REAL, most = 0;
  for (PetscInt i = 0; i < axis.N(); i++) {
    const PetscReal size = PetscAbsReal((axis.edge[i] + axis.edge[i + 1]) / axis.mass[i]);
    if (!axis.is_fixed(i)) least = PetscMin(least, size), most = PetscMax(most, size);
  }
  return !axis.periodic && most <= 1e6 * least;
}

// Eigenvalues and eigenvectors Q of a symmetric matrix from its diagonal, where the values come, and its entries beside that
// in each row and the next one; periodic: the last row is coupled with the first. whole: by the matrix with all its zeros
static PetscErrorCode decompose(bool whole, bool periodic, std::vector<PetscReal> *values,
                                std::vector<PetscReal> beside, std::vector<PetscScalar> *Q) {
  const size_t              count = values->size(), squares = PetscDefined(USE_COMPLEX) ? 2 : 1;
  std::vector<PetscScalar>  work(34 * count + 1);
  std::vector<PetscReal>    reals(whole ? 3 * count + 1 : 1 + 4 * count + squares * count * count);
  std::vector<PetscBLASInt> integers(3 + 5 * count);
  PetscBLASInt              n, error, of_work, of_reals, of_integers;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast((PetscInt)count, &n));
  PetscCall(PetscBLASIntCast((PetscInt)work.size(), &of_work));
  PetscCall(PetscBLASIntCast((PetscInt)reals.size(), &of_reals));
  PetscCall(PetscBLASIntCast((PetscInt)integers.size(), &of_integers));
  Q->assign(count * count, 0);
  for (size_t p = 0; p < count && whole; p++) {
    const size_t next = (p + 1) % count;
    (*Q)[p + p * count] += (*values)[p];
    if (p + 1 == count && !periodic) continue;
    (*Q)[p + next * count] += beside[p];
    (*Q)[next + p * count] += beside[p];
  }
#if defined(PETSC_USE_COMPLEX)
  if (whole)
    PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "U", &n, Q->data(), &n, values->data(), work.data(), &of_work,
                                            reals.data(), &error));
  else
    PetscCallBLAS("LAPACKstedc",
                  LAPACKstedc_("I", &n, values->data(), beside.data(), Q->data(), &n, work.data(), &of_work,
                               reals.data(), &of_reals, integers.data(), &of_integers, &error));
#else
  if (whole)
    PetscCallBLAS("LAPACKsyev",
                  LAPACKsyev_("V", "U", &n, Q->data(), &n, values->data(), work.data(), &of_work, &error));
  else
    PetscCallBLAS("LAPACKstedc", LAPACKstedc_("I", &n, values->data(), beside.data(), Q->data(), &n, reals.data(),
                                              &of_reals, integers.data(), &of_integers, &error));
#endif
  PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK's %s failed with %d on an axis of %d points",
             whole ? "syev" : "stedc", (int)error, (int)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_modes(const Axis &axis, Modes *modes) {
  const PetscInt           N = axis.N();
  std::vector<PetscInt>    points; // that are not fixed
  std::vector<PetscScalar> Q;      // eigenvectors of M^-1/2 K M^-1/2
  std::vector<PetscReal>   values;
  PetscBLASInt             n;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < N; i++)
    if (!axis.is_fixed(i)) points.push_back(i);
  modes->values.assign(N, 0);
  modes->vectors.assign((size_t)N * N, 0);
  modes->inverse.assign((size_t)N * N, 0);
  modes->in.assign(N, false);
  if (const SineModes sines = sine_modes(axis); sines.N) {
    const PetscReal root = PetscSqrtReal(axis.mass[0]);
    for (PetscInt m = 0; m < N; m++) {
      modes->values[m] = sines.value(m);
      modes->in[m] = true;
      for (PetscInt i = 0; i < N; i++) {
        const PetscReal q = SineModes::vector(N, m, i);
        modes->vectors[i + (size_t)m * N] = q / root;
        modes->inverse[m + (size_t)i * N] = q * root;
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (points.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscBLASIntCast((PetscInt)points.size(), &n));
  values.resize(n);
  const auto root = [&](PetscInt p) { return PetscSqrtReal(axis.mass[points[p]]); };
  std::vector<PetscReal> beside; // entries off the diagonal
  for (PetscInt p = 0; p < n; p++) {
    const PetscInt i = points[p], next = p + 1 < n ? p + 1 : 0;
    values[p] = N > 1 ? (axis.edge[i] + axis.edge[i + 1]) / axis.mass[i] : 0;
    beside.push_back(N > 1 ? -axis.edge[i + 1] / (root(p) * root(next)) : 0);
  }
  PetscCall(decompose(!decomposes_fast(axis), axis.periodic, &values, beside, &Q));
  // Where nothing holds the values of a piece of the axis, between edges of zero, constants are a mode of eigenvalue zero.
  const PetscInt begin = axis.fixed || axis.periodic ? 1 : 0, end = axis.fixed ? N - 1 : N;
  PetscInt       pieces = std::count(axis.edge.begin() + begin, axis.edge.begin() + end + 1, PetscReal(0));
  pieces = axis.periodic ? PetscMax(pieces, 1) : pieces - 1;
  std::vector<PetscReal *> by_size;
  for (PetscReal &value : values) by_size.push_back(&value);
  std::sort(by_size.begin(), by_size.end(),
            [](const PetscReal *a, const PetscReal *b) { return PetscAbsReal(*a) < PetscAbsReal(*b); });
  for (PetscInt piece = 0; piece < pieces; piece++) *by_size[piece] = 0;
  for (PetscInt m = 0; m < n; m++) {
    modes->values[m] = values[m];
    modes->in[m] = true;
    for (PetscInt p = 0; p < n; p++) {
      const PetscReal q = PetscRealPart(Q[p + (size_t)m * n]);
      modes->vectors[points[p] + (size_t)m * N] = q / root(p);
      modes->inverse[m + (size_t)points[p] * N] = q * root(p);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
