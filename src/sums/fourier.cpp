// The Gaussian by its Fourier series on a box that is longer than the points' by the Gaussian's reach:
//
//   Σ_j g(x_i - y_j) c_j = Σ_k ĝ_k e^{i k·x_i} Σ_j e^{-i k·y_j} c_j,   ĝ_k = Π_a sqrt(2π) σ/L_a e^{-σ² k_a²/2}.
//
// Both sums over points are computed directly: a smooth Gaussian needs so few modes that a grid, spreading and a fast
// transform would cost more. The values are real, so modes with k_z >= 0 suffice. The modes are summed over the ranks.
//
// Source: L. Greengard and J. Strain, The fast Gauss transform, 1991; J. Strain's Fourier form of it.

#include <algorithm>
#include <cmath>

#include "device/scratch.hpp"
#include "sums/fast_sum.hpp"

namespace shellac {

namespace {

// Modes -K .. K along the first two axes, 0 .. K along the last one.
struct Modes {
  int    K[3];
  double step[3];   // 2π/L [1/length]
  double center[3]; // coordinates count from it [length]
  int    axis[3];   // of the points, for each of these; the host has flat ones first, since its inner loop is the last

  SHELLAC_INLINE int    along(int a) const { return a < 2 ? 2 * K[a] + 1 : K[2] + 1; }
  SHELLAC_INLINE size_t count() const { return (size_t)along(0) * along(1) * along(2); }
};

SHELLAC_INLINE Complex<double> phase(double angle) {
#ifdef __CUDA_ARCH__
  Complex<double> z;
  sincos(angle, &z.im, &z.re);
  return z;
#else
  return {std::cos(angle), std::sin(angle)};
#endif
}

// Powers z^{-K} ... z^{K}, or from z^0 on, by repeated products.
SHELLAC_INLINE void powers(double angle, int K, bool negative, Complex<double> *out, int stride) {
  const Complex<double> z = phase(angle);
  Complex<double>       w = {1, 0};
  for (int k = 0; k <= K; k++) {
    out[(negative ? K + k : k) * stride] = w;
    if (negative) out[(K - k) * stride] = {w.re, -w.im};
    w = w * z;
  }
}

Modes make_modes(const KernelSumMat &context, const PetscReal lower[3], const PetscReal upper[3], double epsilon) {
  const double sigma = context.parameters.sigma, tail = std::sqrt(2 * std::log(1 / epsilon));
  Modes        m;
  int          places[3] = {0, 1, 2};
  if (PetscMemTypeHost(context.memory()))
    std::stable_sort(places, places + 3, [&](int a, int b) { return !(upper[a] > lower[a]) && upper[b] > lower[b]; });
  for (int a = 0; a < 3; a++) {
    const int    axis = m.axis[a] = places[a];
    const double extent = upper[axis] - lower[axis], L = extent + sigma * tail;
    m.step[a] = 2 * pi / L;
    m.K[a] = axis < context.targets->dim && extent > 0 ? (int)std::ceil(tail / sigma / m.step[a]) : 0;
    m.center[a] = 0.5 * (lower[axis] + upper[axis]);
    if (m.K[a] == 0) m.step[a] = 0; // a flat axis: one mode that is constant
  }
  return m;
}

// ---- host

// sums[mode] += e^{-ik·y} c over the points; modes with z fastest, as (re, im)
void to_modes(const Modes &m, const Points &y, const PetscReal *c, PetscInt64 stride, double *sums) {
  const int                    nx = m.along(0), ny = m.along(1), nz = m.along(2);
  std::vector<Complex<double>> e[3];
  std::vector<double>          re(nz), im(nz);
  for (int a = 0; a < 3; a++) e[a].resize(m.along(a));
  for (PetscInt j = 0; j < y.n; j++) {
    for (int a = 0; a < 3; a++) powers(-m.step[a] * (y.x[a][j] - m.center[a]), m.K[a], a < 2, e[a].data(), 1);
    for (int k = 0; k < nz; k++) re[k] = c[j * stride] * e[2][k].re, im[k] = c[j * stride] * e[2][k].im;
    double *sum = sums;
    for (int p = 0; p < nx; p++)
      for (int q = 0; q < ny; q++, sum += 2 * nz) {
        const Complex<double> w = e[0][p] * e[1][q];
        for (int k = 0; k < nz; k++) {
          sum[k] += w.re * re[k] - w.im * im[k];
          sum[nz + k] += w.re * im[k] + w.im * re[k];
        }
      }
  }
}

void from_modes(const Modes &m, const Points &x, const double *modes, PetscReal *f, PetscInt64 stride) {
  const int                    nx = m.along(0), ny = m.along(1), nz = m.along(2);
  std::vector<Complex<double>> e[3];
  std::vector<double>          re(nz), im(nz);
  for (int a = 0; a < 3; a++) e[a].resize(m.along(a));
  for (PetscInt i = 0; i < x.n; i++) {
    for (int a = 0; a < 3; a++) powers(m.step[a] * (x.x[a][i] - m.center[a]), m.K[a], a < 2, e[a].data(), 1);
    std::fill(re.begin(), re.end(), 0);
    std::fill(im.begin(), im.end(), 0);
    const double *mode = modes;
    for (int p = 0; p < nx; p++)
      for (int q = 0; q < ny; q++, mode += 2 * nz) {
        const Complex<double> w = e[0][p] * e[1][q];
        for (int k = 0; k < nz; k++) {
          re[k] += w.re * mode[k] - w.im * mode[nz + k];
          im[k] += w.re * mode[nz + k] + w.im * mode[k];
        }
      }
    double sum = 0;
    for (int k = 0; k < nz; k++) sum += re[k] * e[2][k].re - im[k] * e[2][k].im;
    f[i * stride] = (PetscReal)sum;
  }
}

// ---- GPU

#if SHELLAC_CUDA
constexpr int point_tile = 16;

constexpr int z_tile = 8; // modes along z that a thread holds

// Every thread sums z_tile modes of one (k_x, k_y) over a part of the points: partial[part][mode].
__global__ void __launch_bounds__(128)
    to_modes_kernel(const Modes m, Points y, const PetscReal *c, PetscInt64 stride, PetscInt part, double *partial) {
  extern __shared__ Complex<double> table[]; // [axis][k][point]
  const int                         nx = m.along(0), ny = m.along(1), nz = m.along(2);
  const int                         pair = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.z * z_tile;
  Complex<double>                  *ex = table, *ey = ex + nx * point_tile, *ez = ey + ny * point_tile;
  Complex<double>                   sum[z_tile] = {};
  const PetscInt                    end = min(y.n, (PetscInt)(blockIdx.y + 1) * part);
  for (PetscInt from = blockIdx.y * part; from < end; from += point_tile) {
    const int n = (int)min((PetscInt)point_tile, end - from);
    __syncthreads();
    for (int task = threadIdx.x; task < 3 * n; task += blockDim.x) {
      const int a = task / n, j = task % n;
      powers(-m.step[a] * (y.x[a][from + j] - m.center[a]), m.K[a], a < 2,
             (a == 0   ? ex
              : a == 1 ? ey
                       : ez) +
                 j,
             point_tile);
    }
    __syncthreads();
    if (pair < nx * ny)
      for (int j = 0; j < n; j++) {
        const Complex<double> w =
            (double)c[(from + j) * stride] * (ex[pair / ny * point_tile + j] * ey[pair % ny * point_tile + j]);
#pragma unroll
        for (int k = 0; k < z_tile; k++)
          if (first + k < nz) multiply_add(w, ez[(first + k) * point_tile + j], &sum[k]);
      }
  }
  if (pair >= nx * ny) return;
  double *to = partial + 2 * (size_t)blockIdx.y * m.count() + 2 * (size_t)pair * nz;
#pragma unroll
  for (int k = 0; k < z_tile; k++)
    if (first + k < nz) to[first + k] = sum[k].re, to[nz + first + k] = sum[k].im;
}

__global__ void add_parts(size_t n, int parts, const double *partial, double *sums) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  double       sum = 0;
  if (i >= n) return;
  for (int p = 0; p < parts; p++) sum += partial[p * n + i];
  sums[i] = sum;
}

// A thread for each target; by Horner's rule along z.
__global__ void __launch_bounds__(128)
    from_modes_kernel(const Modes m, Points x, const double *modes, PetscReal *f, PetscInt64 stride) {
  extern __shared__ Complex<double> row[]; // the modes of one k_x
  const int                         nx = m.along(0), ny = m.along(1), nz = m.along(2);
  const PetscInt                    i = (PetscInt)blockIdx.x * blockDim.x + threadIdx.x, at = min(i, x.n - 1);
  const Complex<double>             zx = phase(m.step[0] * (x.x[0][at] - m.center[0])),
                        zz = phase(m.step[2] * (x.x[2][at] - m.center[2]));
  const double          angle_y = m.step[1] * (x.x[1][at] - m.center[1]);
  const Complex<double> zy = phase(angle_y), first_y = phase(-m.K[1] * angle_y);
  Complex<double>       wx = phase(-m.K[0] * m.step[0] * (x.x[0][at] - m.center[0]));
  double                sum = 0;
  for (int p = 0; p < nx; p++) {
    __syncthreads();
    for (int k = threadIdx.x; k < ny * nz; k += blockDim.x) {
      const double *mode = modes + 2 * ((size_t)p * ny + k / nz) * nz + k % nz;
      row[k] = {mode[0], mode[nz]};
    }
    __syncthreads();
    Complex<double> wy = first_y, over_y = {0, 0};
    for (int q = 0; q < ny; q++) {
      Complex<double> horner = row[q * nz + nz - 1];
      for (int k = nz - 2; k >= 0; k--) {
        Complex<double> next = row[q * nz + k];
        multiply_add(horner, zz, &next);
        horner = next;
      }
      multiply_add(wy, horner, &over_y);
      wy = wy * zy;
    }
    sum += wx.re * over_y.re - wx.im * over_y.im;
    wx = wx * zx;
  }
  if (i < x.n) f[i * stride] = (PetscReal)sum;
}
#endif

class FourierSum final : public FastSum {
public:
  PetscErrorCode Apply(MPI_Comm comm, bool transposed, const Layout &layout) override;
  PetscErrorCode View(PetscViewer viewer) const override {
    int along[3];

    PetscFunctionBegin;
    for (int a = 0; a < 3; a++) along[modes.axis[a]] = 2 * modes.K[a] + 1;
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "Fourier series of %d x %d x %d modes, in double precision; error measured: %.2g\n", along[0], along[1],
        along[2], error));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Destroy() override {
    PetscFunctionBegin;
    for (PointCloud *&cloud : sources) PetscCall(PointCloudDestroy(&cloud));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscLogDouble Terms(bool) const override { return ((double)sources[0]->n + sources[1]->n) * modes.count(); }
  PetscLogDouble Bytes() const override { // two of each mode, in parts while they are summed
    return sizeof(double) * ((PetscLogDouble)on_host_.size() + sums_.size() + partial_.size());
  }

  Modes       modes;
  double      sigma = 1;
  PointCloud *sources[2] = {NULL, NULL}; // of A, of its transpose

private:
  Scratch<double>     sums_, partial_; // on the GPU
  std::vector<double> on_host_;
};

PetscErrorCode FourierSum::Apply(MPI_Comm comm, bool transposed, const Layout &layout) {
  const PetscMemType memory = layout.sum.memory;
  const size_t       reals = 2 * modes.count();
  const int          nz = modes.along(2);
  const auto         in_order = [&](const Points &points) { // of the modes' axes
    Points ordered = points;
    for (int a = 0; a < 3; a++) ordered.x[a] = points.x[modes.axis[a]];
    return ordered;
  };
  const Points x = in_order(layout.sum.targets);
  Points       y;
  PetscMPIInt  ranks, count;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(PetscMPIIntCast((PetscInt)reals, &count));
  PetscCall(PointCloudGetPoints(sources[transposed], memory, &y));
  y = in_order(y);
  on_host_.resize(reals);
  for (int p = 0; p < layout.reals; p++) { // the real, the imaginary parts
    const PetscReal *c = layout.sum.in.data + p;
    PetscReal       *f = layout.sum.out.data + p;
    std::fill(on_host_.begin(), on_host_.end(), 0);
#if SHELLAC_CUDA
    cudaStream_t stream = NULL;
    if (PetscMemTypeDevice(memory)) {
      PetscCall(current_stream(&stream));
      const int pairs = modes.along(0) * modes.along(1);
      const int parts = (int)std::max<PetscInt>(1, std::min<PetscInt>(128, y.n / 1024));
      PetscCall(sums_.Grow(reals, memory));
      PetscCall(partial_.Grow(reals * parts, memory));
      const size_t bytes = sizeof(Complex<double>) * point_tile * (modes.along(0) + modes.along(1) + nz);
      PetscCallCUDA(cudaFuncSetAttribute(to_modes_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
      to_modes_kernel<<<dim3((pairs + 127) / 128, parts, (nz + z_tile - 1) / z_tile), 128, bytes, stream>>>(
          modes, y, c, layout.reals, (y.n + parts - 1) / parts, partial_.at(memory));
      PetscCallCUDA(cudaGetLastError());
      add_parts<<<(unsigned)((reals + 255) / 256), 256, 0, stream>>>(reals, parts, partial_.at(memory),
                                                                     sums_.at(memory));
      PetscCallCUDA(cudaGetLastError());
      PetscCallCUDA(
          cudaMemcpyAsync(on_host_.data(), sums_.at(memory), reals * sizeof(double), cudaMemcpyDeviceToHost, stream));
      PetscCallCUDA(cudaStreamSynchronize(stream));
    } else
#endif
      to_modes(modes, y, c, layout.reals, on_host_.data());
    PetscCall(MonitorAdvance(layout.monitor, memory, 0.5 * ranks / layout.reals));
    if (ranks > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, on_host_.data(), count, MPI_DOUBLE, MPI_SUM, comm));
    // the Gaussian's own coefficients; modes with k_z > 0 stand for those with k_z < 0 too
    for (int a = 0, at = 0; a < modes.along(0); a++)
      for (int b = 0; b < modes.along(1); b++, at += 2 * nz)
        for (int k = 0; k < nz; k++) {
          const int index[3] = {a - modes.K[0], b - modes.K[1], k};
          double    g = k ? 2 : 1;
          for (int d = 0; d < 3; d++) {
            const double wave = modes.step[d] * index[d];
            if (modes.K[d])
              g *= std::sqrt(2 * pi) * sigma * modes.step[d] / (2 * pi) * std::exp(-0.5 * sigma * sigma * wave * wave);
          }
          on_host_[at + k] *= g;
          on_host_[at + nz + k] *= g;
        }
#if SHELLAC_CUDA
    if (PetscMemTypeDevice(memory)) {
      PetscCallCUDA(
          cudaMemcpyAsync(sums_.at(memory), on_host_.data(), reals * sizeof(double), cudaMemcpyHostToDevice, stream));
      const size_t bytes = sizeof(Complex<double>) * modes.along(1) * nz;
      PetscCallCUDA(cudaFuncSetAttribute(from_modes_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
      if (x.n)
        from_modes_kernel<<<(unsigned)((x.n + 127) / 128), 128, bytes, stream>>>(modes, x, sums_.at(memory), f,
                                                                                 layout.reals);
      PetscCallCUDA(cudaGetLastError());
      PetscCallCUDA(cudaStreamSynchronize(stream)); // the host's copy is used again
    } else
#endif
      from_modes(modes, x, on_host_.data(), f, layout.reals);
    PetscCall(MonitorAdvance(layout.monitor, memory, 0.5 * ranks / layout.reals));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

double FourierSumModes(const KernelSumMat &context, const PetscReal lower[3], const PetscReal upper[3],
                       double epsilon) {
  const Modes m = make_modes(context, lower, upper, epsilon);
  for (int a = 0; a < 3; a++)
    if (m.K[a] > 70) return INFINITY; // tables of them are in a GPU's shared memory
  return (double)m.count();
}

PetscErrorCode FourierSumCreate(MPI_Comm comm, const KernelSumMat &context, PointCloud *const sources[2],
                                double epsilon, FastSum **fast) {
  FourierSum *fourier = new FourierSum;
  PetscReal   lower[3], upper[3];

  PetscFunctionBegin;
  *fast = fourier;
  PetscCall(PointCloudsGetBox(comm, context.targets, context.sources, lower, upper));
  fourier->modes = make_modes(context, lower, upper, epsilon);
  fourier->sigma = context.parameters.sigma;
  for (int t = 0; t < 2; t++) {
    fourier->sources[t] = sources[t];
    sources[t]->references++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
