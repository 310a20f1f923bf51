#pragma once
// The passes of conjugate gradients over vectors, and what runs them on the host or on the GPU.
//
// A pass has load(i), all that it reads at a place; store(i, values, sums), what it writes and adds up there; and
// finish(scalars, sums), what follows from the sums, where it has any.

#include "device/arrays.hpp"
#include "device/chain.hpp"
#include "device/meeting.hpp"
#include "device/nccl.hpp"
#include "device/stream.hpp"
#include "device/warp.hpp"
#include "grid/device_halo.hpp"
#include "krylov/scalars.hpp"

namespace shellac {
namespace cg { // other parts have passes and sums, too

// The preconditioner z = D r: D is an array, or the same everywhere.
struct Diagonal {
  const PetscScalar *at = nullptr;
  PetscScalar        all = 1;

  SHELLAC_HD PetscScalar value(size_t i) const { return at ? at[i] : all; }
};

// How many values are not the first one.
struct Compare {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 0; // of a place
  using Values = PetscScalar;
  const PetscScalar *d;

  SHELLAC_HD void        begin(const Scalars &) {}
  SHELLAC_HD Values      load(size_t i) const { return d[i]; }
  SHELLAC_HD void        store(size_t, Values v, Sums *sums) const { sums->of[2] += v != d[0]; }
  SHELLAC_HD static void finish(Scalars *scalars, const Sums &sums) { scalars->norm = (PetscReal)sums.of[2]; }
};

// What z·r and norms are made of, and which of them a pass gives.
struct Products {
  bool            hermitian, of_z; // the norm is that of z, not of r
  bool            gives_beta, gives_norm;
  SHELLAC_HD void add(PetscScalar z, PetscScalar r, Sums *sums) const {
    sums->add_product(z, r, hermitian);
    sums->add_square(of_z ? z : r);
  }
  SHELLAC_HD void finish(Scalars *scalars, const Sums &sums) const {
    if (gives_beta) scalars->take_beta(sums);
    if (gives_norm) scalars->take_norm(sums);
  }
};

// r = b - Ax; z·r and the norm.
struct Begin {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 6; // of a place
  struct Values {
    PetscScalar b, Ax, d;
  };
  const PetscScalar *b, *Ax; // null: x = 0
  Diagonal           D;
  PetscScalar       *r;
  Products           products;

  SHELLAC_HD void   begin(const Scalars &) {}
  SHELLAC_HD Values load(size_t i) const { return {b[i], Ax ? Ax[i] : PetscScalar(0), D.value(i)}; }
  SHELLAC_HD void   store(size_t i, const Values &v, Sums *sums) const {
      const PetscScalar residual = v.b - v.Ax;
      r[i] = residual;
      products.add(v.d * residual, residual, sums);
  }
  SHELLAC_HD void finish(Scalars *scalars, const Sums &sums) const { products.finish(scalars, sums); }
};

// z·r and, where it is z's, the norm, for any preconditioner.
struct Inner {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 4; // of a place
  struct Values {
    PetscScalar z, r;
  };
  const PetscScalar *z, *r;
  Products           products;

  SHELLAC_HD void   begin(const Scalars &) {}
  SHELLAC_HD Values load(size_t i) const { return {z[i], r[i]}; }
  SHELLAC_HD void   store(size_t, const Values &v, Sums *sums) const { products.add(v.z, v.r, sums); }
  SHELLAC_HD void   finish(Scalars *scalars, const Sums &sums) const { products.finish(scalars, sums); }
};

// p = D r + ratio p.
struct Direction {
  static constexpr bool has_sums = false;
  static constexpr int  flops = 3; // of a place
  struct Values {
    PetscScalar r, d, p;
  };
  const PetscScalar *r; // or z
  Diagonal           D;
  PetscScalar       *p;
  PetscScalar        ratio = 0;

  SHELLAC_HD void   begin(const Scalars &scalars) { ratio = scalars.ratio; }
  SHELLAC_HD Values load(size_t i) const { return {r[i], D.value(i), ratio == PetscScalar(0) ? PetscScalar(0) : p[i]}; }
  SHELLAC_HD void   store(size_t i, const Values &v, Sums *) const { p[i] = v.d * v.r + ratio * v.p; }
  SHELLAC_HD static void finish(Scalars *, const Sums &) {}
};

// p·w for w = A p.
struct Curvature {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 2; // of a place
  struct Values {
    PetscScalar p, w;
  };
  const PetscScalar *p, *w;
  bool               hermitian;

  SHELLAC_HD void        begin(const Scalars &) {}
  SHELLAC_HD Values      load(size_t i) const { return {p[i], w[i]}; }
  SHELLAC_HD void        store(size_t, const Values &v, Sums *sums) const { sums->add_product(v.p, v.w, hermitian); }
  SHELLAC_HD static void finish(Scalars *scalars, const Sums &sums) { scalars->take_curvature(sums); }
};

// x += alpha p, r -= alpha w; for a diagonal preconditioner z·r and the norm, otherwise r's norm.
struct Update {
  static constexpr bool has_sums = true;
  static constexpr int  flops = 9; // of a place
  struct Values {
    PetscScalar x, p, r, w, d;
  };
  const PetscScalar *p, *w;
  Diagonal           D;
  PetscScalar       *x, *r;
  Products           products;
  PetscScalar        alpha = 0;

  SHELLAC_HD void   begin(const Scalars &scalars) { alpha = scalars.alpha; }
  SHELLAC_HD Values load(size_t i) const { return {x[i], p[i], r[i], w[i], D.value(i)}; }
  SHELLAC_HD void   store(size_t i, const Values &v, Sums *sums) const {
      const PetscScalar residual = v.r - alpha * v.w;
      x[i] = v.x + alpha * v.p;
      r[i] = residual;
      products.add(v.d * residual, residual, sums);
  }
  SHELLAC_HD void finish(Scalars *scalars, const Sums &sums) const { products.finish(scalars, sums); }
};

// ---- on the host

constexpr int host_lanes = 4; // sums that one loop adds up, so that no addition waits for the one before

template <class Pass> SHELLAC_WIDE void run_on_host(size_t n, Pass pass, Sums *sums) {
  Sums   lanes[host_lanes];
  size_t i = 0;
  for (; i + host_lanes <= n; i += host_lanes) {
    typename Pass::Values values[host_lanes];
    for (int l = 0; l < host_lanes; l++) values[l] = pass.load(i + (size_t)l);
    for (int l = 0; l < host_lanes; l++) pass.store(i + (size_t)l, values[l], &lanes[l]);
  }
  for (; i < n; i++) pass.store(i, pass.load(i), &lanes[0]);
  for (const Sums &lane : lanes)
    for (int s = 0; s < Sums::count; s++) sums->of[s] += lane.of[s];
}

// ---- on the GPU

#if SHELLAC_CUDA
inline PetscInt64 most_blocks() { // that have room for their sums
  static const PetscInt64 most = 8 * multiprocessors();
  return most;
}

namespace kernel {

constexpr int threads_of_pass = 256, places_of_thread = 4;

// Who completes the scalars after a pass.
struct Completion {
  bool                 on_gpu; // otherwise the host reads the sums
  Meeting<Sums::count> ranks;  // whose sums are added up first
};

// Where the blocks of a kernel meet that all run at the same time.
struct Crossing {
  unsigned long long arrived, before; // blocks, ever; those of earlier kernels
  unsigned long long in_vain;         // a block has waited so
};

// Sums of which the first `used` are needed.
__host__ __device__ constexpr bool is_needed(int s, int used) {
  return s < used && (PetscDefined(USE_COMPLEX) || s != 1);
}

// For the first warp; all threads of a block call it.
template <int used> __device__ __forceinline__ void sum_up_block(Sums *sums) {
  __shared__ double of_warps[Sums::count][threads_of_pass / 32];
  const int         lane = threadIdx.x % 32, warp = threadIdx.x / 32;

#pragma unroll
  for (int s = 0; s < used; s++) {
    const double of_warp = is_needed(s, used) ? sum_of_warp(sums->of[s]) : 0;
    if (is_needed(s, used) && lane == 0) of_warps[s][warp] = of_warp;
  }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < used; s++)
    if (is_needed(s, used) && warp == 0)
      sums->of[s] = sum_of_warp(lane < threads_of_pass / 32 ? of_warps[s][lane] : 0.0);
}

// The sums of all blocks, for all lanes of a warp, which calls it.
template <int used> __device__ __forceinline__ void add_up(const double *partial, Sums *sums) {
  constexpr int at_once = 9; // of a lane: 288 blocks
  const int     lane = threadIdx.x % 32;
#pragma unroll
  for (int s = 0; s < used; s++)
    if (is_needed(s, used)) sums->of[s] = 0;
  for (unsigned first = lane; first < gridDim.x; first += 32 * at_once) {
    double of[at_once][used];
#pragma unroll
    for (int n = 0; n < at_once; n++)
#pragma unroll
      for (int s = 0; s < used; s++)
        of[n][s] =
            is_needed(s, used) && first + 32 * n < gridDim.x ? __ldcg(&partial[Sums::count * (first + 32 * n) + s]) : 0;
#pragma unroll
    for (int n = 0; n < at_once; n++)
#pragma unroll
      for (int s = 0; s < used; s++) sums->of[s] += of[n][s];
  }
#pragma unroll
  for (int s = 0; s < used; s++)
    if (is_needed(s, used)) sums->of[s] = sum_of_warp(sums->of[s]);
}

// The sums of all threads. partial: of each block. The last block that ends adds them up in their order and, where it may,
// completes the scalars. meets: perhaps with other ranks
template <bool meets, class Pass>
__device__ __forceinline__ void complete(const Sums &mine, const Pass &pass, Record *record, double *partial,
                                         unsigned *arrived, const Completion &completion) {
  __shared__ bool is_last;
  const int       lane = threadIdx.x % 32;
  Sums            of_block = mine;

  sum_up_block<Sums::count>(&of_block);
  if (threadIdx.x == 0) {
    for (int s = 0; s < Sums::count; s++) partial[Sums::count * blockIdx.x + s] = of_block.of[s];
    __threadfence();
    is_last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x >= 32) return;
  __threadfence();
  Scalars scalars = record->scalars; // read while the sums are
  add_up<Sums::count>(partial, &of_block);
  if (meets && completion.on_gpu && completion.ranks.ranks > 1) completion.ranks.add(of_block.of);
  if (lane == 0) {
    *arrived = 0;
    if (completion.on_gpu) {
      pass.finish(&scalars, of_block);
      record->scalars = scalars;
      record->norm_of[scalars.its % Record::size] = scalars.norm;
    } else
      record->sums = of_block;
  }
}

// After a pass whose sums have been added up over the ranks.
template <class Pass>
__global__ void finish_pass(Pass pass, Record *record, double *, unsigned *, const __grid_constant__ Completion) {
  wait_for_kernel_before();
  if (threadIdx.x || record->scalars.stop != Scalars::none) return;
  pass.finish(&record->scalars, record->sums);
  record->norm_of[record->scalars.its % Record::size] = record->scalars.norm;
}

template <class Pass>
__global__ void __launch_bounds__(threads_of_pass)
    run_pass(size_t n, Pass pass, Record *record, double *partial, unsigned *arrived,
             const __grid_constant__ Completion completion) {
  const size_t apart = (size_t)gridDim.x * threads_of_pass;

  wait_for_kernel_before();
  if (record->scalars.stop != Scalars::none) return;
  pass.begin(record->scalars);
  Sums mine;
  for (size_t first = blockIdx.x * (size_t)threads_of_pass + threadIdx.x; first < n;
       first += places_of_thread * apart) {
    typename Pass::Values values[places_of_thread];
#pragma unroll
    for (int m = 0; m < places_of_thread; m++)
      if (first + m * apart < n) values[m] = pass.load(first + m * apart);
#pragma unroll
    for (int m = 0; m < places_of_thread; m++)
      if (first + m * apart < n) pass.store(first + m * apart, values[m], &mine);
  }
  if constexpr (Pass::has_sums) complete<true>(mine, pass, record, partial, arrived, completion);
}

} // namespace kernel
#endif

// Runs passes over the vectors of all ranks, and keeps the scalars where they are completed.
class Runner {
public:
  ~Runner();
  // sound: no other rank's GPU uses this one's memory any more.
  void Disconnect(bool sound);

  Scalars scalars; // on the host; on a GPU that completes them, as of the last Fetch()

  // Collective. memory: of the vectors; all_on_gpu: of all ranks. way: as GPUs exchange halos
  PetscErrorCode Prepare(MPI_Comm comm, PetscMemType memory, bool all_on_gpu, HaloWay way);
  PetscErrorCode Send();                                      // the scalars that the host has changed
  PetscErrorCode Fetch();                                     // the host waits for all passes
  PetscErrorCode CheckLate() const;                           // whether a rank's sums did not come
  bool           on_gpu() const { return on_gpu_; }           // the scalars are completed there
  bool           meets() const { return peers_.connected(); } // other ranks' GPUs
  bool           by_nccl() const { return nccl_; }            // the ranks' sums

  // The arrays are in the memory of the vectors.
  template <class Pass> PetscErrorCode Run(size_t n, const Pass &pass) {
    PetscFunctionBegin;
    if (scalars.stop != Scalars::none && !on_gpu_) PetscFunctionReturn(PETSC_SUCCESS);
    if (PetscMemTypeHost(memory_)) {
      Pass with_scalars = pass;
      with_scalars.begin(scalars);
      sums_ = Sums();
      run_on_host(n, with_scalars, &sums_);
    }
#if SHELLAC_CUDA
    else {
      const PetscInt64 whole = (PetscInt64)kernel::threads_of_pass * kernel::places_of_thread;
      PetscCall(Launch(kernel::run_pass<Pass>, ((PetscInt64)n + whole - 1) / whole, n, pass));
      if (Pass::has_sums && on_gpu_ && nccl_) {
        PetscCall(nccl_->AddUp(on_device_->sums.of, Sums::count));
        PetscCall(Launch(kernel::finish_pass<Pass>, 1, pass));
      }
    }
#endif
    if (Pass::has_sums && !on_gpu_) {
      PetscCall(AddRanks());
      pass.finish(&scalars, sums_);
      if (PetscMemTypeDevice(memory_)) PetscCall(Send());
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Record *on_device() const {
    return on_device_;
  }
#if SHELLAC_CUDA
  // A kernel of passes, after whose arguments those follow that complete() takes. Its blocks take turns where they are many.
  template <class... Parameters, class... Arguments>
  PetscErrorCode Launch(void (*walk)(Parameters...), PetscInt64 blocks, const Arguments &...arguments) {
    PetscFunctionBegin;
    PetscCall(launch_in_chain(walk, PetscMax(PetscMin(blocks, most_blocks()), (PetscInt64)1), kernel::threads_of_pass,
                              0, arguments..., on_device_, partial_, arrived_,
                              kernel::Completion{on_gpu_ && !nccl_, meeting_}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // A kernel whose blocks all run at the same time.
  template <class... Parameters, class... Arguments>
  PetscErrorCode LaunchTogether(void (*walk)(Parameters...), PetscInt64 blocks, const Arguments &...arguments) {
    cudaLaunchConfig_t  config = {};
    cudaLaunchAttribute together = {};

    PetscFunctionBegin;
    PetscCall(current_stream(&config.stream));
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    config.gridDim = dim3((unsigned)PetscMax(blocks, (PetscInt64)1));
    config.blockDim = dim3(kernel::threads_of_pass);
    config.attrs = &together, config.numAttrs = 1;
    PetscCallCUDA(cudaLaunchKernelEx(&config, walk, arguments..., on_device_, partial_, crossing_, meeting_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif

private:
  PetscErrorCode AddRanks(); // the sums of all
  bool           is_late() const;

  MPI_Comm             comm_ = MPI_COMM_SELF;
  PetscMemType         memory_ = PETSC_MEMTYPE_HOST;
  bool                 on_gpu_ = false, asked_peers_ = false;
  Peers                peers_;   // whose GPUs add up sums
  Meeting<Sums::count> meeting_; // of them
  Record              *on_device_ = nullptr;
  Sums                 sums_; // of the last pass
  double              *partial_ = nullptr;
  unsigned            *arrived_ = nullptr;
  const Nccl          *nccl_ = nullptr; // adds up sums where GPUs do not reach each other's memory
#if SHELLAC_CUDA
  kernel::Crossing *crossing_ = nullptr;
#endif
};

} // namespace cg
} // namespace shellac
