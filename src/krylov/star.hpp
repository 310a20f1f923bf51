#pragma once
// Iterations of conjugate gradients in one kernel on each rank's GPU, where all rows of the matrix are those of one star in
// 1-D or 2-D. An iteration is two passes, in which the product is computed twice in place of being stored. All blocks run at
// the same time and meet after each pass, with those of the other ranks. Values beyond a patch are read where they are, in a
// neighbour's memory. In 3-D, where two such passes were measured to gain 7 %, passes.hpp serves.

#include "capture/coefficients.hpp"
#include "krylov/passes.hpp"

namespace shellac {
namespace cg {

// The points of a neighbouring patch beside this one's: the point n along the side has the index first + n step there.
struct Neighbour {
  PetscMPIInt rank = -1; // none
  size_t      first = 0, step = 0;
  size_t      points = 0; // of the patch
};

// Of a matrix: the star, what rows at the ends of the domain have more on their diagonal, and the points of each axis.
struct WholeStar {
  ConstantStar<PetscScalar> star;
  StarDiagonal<PetscScalar> at_ends;
  PetscInt                  size[3];
  Neighbour                 beside[2][2]; // [axis][end]
};

// What a pass reads: two vectors, or one.
struct Inputs {
  const PetscScalar *one, *other;
};

// A pass over a star's points has read(from, at, factor), what it reads of the inputs; value(raw, factor) of the vector that
// the star is applied to; load(at); and store(at, values, value, product, factor, sums) of that value and the product.
// factor: one of the scalars.

// p = D r + ratio p, into another array, and p·Ap. varies: D is an array, and no neighbour another rank
template <bool varies> struct DirectionOfStar {
  static constexpr int flops = 5;
  struct Raw {
    PetscScalar r = 0, p = 0;
  };
  struct RawWithD : Raw {
    PetscScalar d = 0;
  };
  using Read = std::conditional_t<varies, RawWithD, Raw>;
  struct Values {};
  Inputs       inputs;       // r and the p before
  Inputs       beside[2][2]; // of the neighbours
  Diagonal     D;
  PetscScalar *p;
  bool         hermitian;

  SHELLAC_HD Read read(const Inputs &from, size_t at, PetscScalar ratio) const {
    Read raw;
    raw.r = from.one[at];
    if (ratio != PetscScalar(0)) raw.p = from.other[at];
    if constexpr (varies) raw.d = D.at[at];
    return raw;
  }
  SHELLAC_HD PetscScalar value(const Read &raw, PetscScalar ratio) const {
    if constexpr (varies)
      return raw.d * raw.r + ratio * raw.p;
    else
      return D.all * raw.r + ratio * raw.p;
  }
  SHELLAC_HD Values load(size_t) const { return {}; }
  SHELLAC_HD void   store(size_t at, Values, PetscScalar value, PetscScalar product, PetscScalar, Sums *sums_of) const {
      p[at] = value;
      sums_of->add_product(value, product, hermitian);
  }
};

// As Update, with w = A p computed here.
template <bool varies> struct UpdateOfStar {
  static constexpr int flops = Update::flops;
  using Read = PetscScalar;
  struct Values {
    PetscScalar x, r, d;
  };
  Inputs inputs;       // p
  Inputs beside[2][2]; // of the neighbours
  Update update;

  SHELLAC_HD Read        read(const Inputs &from, size_t at, PetscScalar) const { return from.one[at]; }
  SHELLAC_HD PetscScalar value(Read p, PetscScalar) const { return p; }
  SHELLAC_HD Values      load(size_t at) const {
         return {update.x[at], update.r[at], varies ? update.D.at[at] : PetscScalar(0)};
  }
  SHELLAC_HD void store(size_t at, const Values &v, PetscScalar p, PetscScalar w, PetscScalar alpha,
                        Sums *sums_of) const {
    const Update::Values values = {v.x, p, v.r, w, varies ? v.d : update.D.all};
    Update               with = update;
    with.alpha = alpha;
    with.store(at, values, sums_of);
  }
};

// An iteration; the next one has the two vectors p in each other's place.
template <bool varies> struct IterationOfStar {
  static constexpr int    at_once = sizeof(PetscScalar) > 8 ? 2 : 4; // rows whose loads are under way together
  DirectionOfStar<varies> direction;
  UpdateOfStar<varies>    update;
};

#if SHELLAC_CUDA
namespace kernel {

constexpr int least_rows = 2, most_rows = 32; // of a tile, whose columns are a block's threads
constexpr int blocks_of_star = 2;             // of a multiprocessor

// A thread walks down a column of each tile that its block has. The rows after those that it computes are being read
// meanwhile. G: rows at once. meets: the patch has a neighbour, perhaps itself. backwards: what was read last is cached
template <bool meets, int G, class Pass>
__device__ __forceinline__ Sums walk_star(const WholeStar &a, const Pass &pass, unsigned rows, bool backwards,
                                          PetscScalar factor) {
  using T = PetscScalar;
  using Read = typename Pass::Read;
  using Values = typename Pass::Values;
  const int      lane = threadIdx.x % 32;
  const PetscInt nx = a.size[0], ny = a.size[1];
  const unsigned tiles_x = (unsigned)(nx + threads_of_pass - 1) / threads_of_pass,
                 tiles = tiles_x * (((unsigned)ny + rows - 1) / rows);
  const bool below = meets && a.beside[1][LOWER].rank >= 0, above = meets && a.beside[1][UPPER].rank >= 0;
  Sums       mine;

  const auto beyond = [&](int axis, Side end, PetscInt n) { // of the neighbour there; zero without one
    const Neighbour &its = a.beside[axis][end];
    return its.rank < 0 ? Read() : pass.read(pass.beside[axis][end], its.first + (size_t)n * its.step, factor);
  };
  for (unsigned turn = blockIdx.x; turn < tiles; turn += gridDim.x) {
    const unsigned tile = backwards ? tiles - 1 - turn : turn;
    const PetscInt ahead = (PetscInt)(tile % tiles_x * threads_of_pass + threadIdx.x), i = PetscMin(ahead, nx - 1),
                   first = (PetscInt)(tile / tiles_x * rows), end = PetscMin(first + (PetscInt)rows, ny);
    const bool before = i > 0, after = i + 1 < nx; // there is a point in the patch
    const bool reads_aside =
        ahead < nx && ((lane == 0 && (meets || before)) || (lane == 31 && after) || (meets && !after));
    const auto at = [&](PetscInt m) { return (size_t)i + (size_t)nx * (size_t)PetscMin(m, ny - 1); };
    Read       next[G], aside[G]; // aside: of the lane's neighbour that is not in the warp
    Values     values[G];
    const auto read_rows = [&](PetscInt j) { // the row after each of them, and what else each needs
#pragma unroll
      for (int s = 0; s < G; s++) {
        const PetscInt   m = PetscMin(j + s, end - 1);
        const Neighbour &its = a.beside[1][UPPER];
        const bool       leaves = above && m + 1 == ny;
        next[s] = pass.read(leaves ? pass.beside[1][UPPER] : pass.inputs,
                            leaves ? its.first + (size_t)i * its.step : at(m + 1), factor);
        aside[s] = Read();
        if (reads_aside) {
          if (meets && !(lane ? after : before))
            aside[s] = lane ? beyond(0, UPPER, m) : beyond(0, LOWER, m);
          else
            aside[s] = pass.read(pass.inputs, lane ? at(m) + 1 : at(m) - 1, factor);
        }
        values[s] = pass.load(at(m));
      }
    };
    T center = a.star.center;
    if (!before) center += a.at_ends.at_end[0][LOWER];
    if (!after) center += a.at_ends.at_end[0][UPPER];
    const Read edge = first > 0 ? pass.read(pass.inputs, at(first - 1), factor) : below ? beyond(1, LOWER, i) : Read();
    const Read begin = pass.read(pass.inputs, at(first), factor);
    read_rows(first);
    T south = pass.value(edge, factor), here = pass.value(begin, factor);
    for (PetscInt j = first; j < end; j += G) {
      T      north[G], side[G];
      Values now[G];
#pragma unroll
      for (int s = 0; s < G; s++)
        north[s] = pass.value(next[s], factor), side[s] = pass.value(aside[s], factor), now[s] = values[s];
      if (j + G < end) read_rows(j + G);
#pragma unroll
      for (int s = 0; s < G; s++) {
        const PetscInt m = j + s;
        const T        west = shuffled(here, lane + 31), east = shuffled(here, lane + 1);
        if (m < end && ahead < nx) {
          T last = lane == 31 || (meets && !after) ? side[s] : after ? east : T(0);
          if (meets && !after && lane == 0) last = pass.value(beyond(0, UPPER, m), factor);
          const T beside[2][2] = {{lane > 0 ? west : side[s], last}, {south, m + 1 < ny || above ? north[s] : T(0)}};
          ConstantStar<T> its = a.star;
          its.center =
              center + (m == 0 ? a.at_ends.at_end[1][LOWER] : T(0)) + (m == ny - 1 ? a.at_ends.at_end[1][UPPER] : T(0));
          pass.store(at(m), now[s], here, its.template operator()<2>(here, beside), factor, &mine);
        }
        south = here, here = north[s];
      }
    }
  }
  return mine;
}

// sums, of each thread, and then of all blocks of all ranks, for the first warp; false if they did not all come. `met`: how
// often this kernel's blocks have met before. partial: room for the sums of all blocks, twice. What a block wrote before,
// all read after the next __syncthreads().
template <int used, bool meets>
__device__ __forceinline__ bool cross(Sums *sums, unsigned met, unsigned long long before, double *partial,
                                      Crossing *crossing, const Meeting<Sums::count> &ranks, unsigned turn) {
  const int                lane = threadIdx.x % 32;
  const unsigned long long all = before + (unsigned long long)(met + 1) * gridDim.x;
  double                  *of_blocks = partial + Sums::count * gridDim.x * (met % 2);

  sum_up_block<used>(sums);
  if (threadIdx.x >= 32) return true;
  if (lane == 0) {
#pragma unroll
    for (int s = 0; s < used; s++)
      if (is_needed(s, used)) of_blocks[Sums::count * blockIdx.x + s] = sums->of[s];
    fence<Scope::gpu>();
    atomicAdd(&crossing->arrived, 1ull);
  }
  bool came = true;
  for (int n = 1; lane == 0 && came && acquire<Scope::gpu>(&crossing->arrived) < all; n++)
    came = n % 64 || acquire<Scope::gpu>(&crossing->in_vain) == 0;
  if (!__shfl_sync(0xffffffffu, came, 0)) return false;
  add_up<used>(of_blocks, sums);
  if (!meets || ranks.ranks == 1) return true;
  if (blockIdx.x == 0) ranks.send(turn, sums->of);
  if (ranks.receive(turn, sums->of)) return true;
  crossing->in_vain = 1;
  return false;
}

template <bool meets, bool varies>
__global__ void __launch_bounds__(threads_of_pass, blocks_of_star)
    iterate_star(const __grid_constant__ WholeStar a, const __grid_constant__ IterationOfStar<varies> even,
                 const __grid_constant__ IterationOfStar<varies> odd, int iterations, unsigned rows, Record *record,
                 double *partial, Crossing *crossing, const __grid_constant__ Meeting<Sums::count> ranks) {
  __shared__ double room[(sizeof(Scalars) + sizeof(double) - 1) / sizeof(double)];
  Scalars          &scalars = *reinterpret_cast<Scalars *>(room); // each block has its own, which are equal
  const bool is_first = threadIdx.x == 0, tells = is_first && blockIdx.x == 0, meets_others = meets && ranks.ranks > 1;
  const unsigned long long before = crossing->before;
  const unsigned           turns = meets_others ? ranks.of[ranks.rank]->turns : 0;
  unsigned                 met = 0;

  if (is_first) scalars = record->scalars;
  __syncthreads();
  for (int n = 0; n < iterations && scalars.stop == Scalars::none; n++) {
    const IterationOfStar<varies> &iteration = n % 2 ? odd : even;
    Sums sums = walk_star<meets, IterationOfStar<varies>::at_once>(a, iteration.direction, rows, false, scalars.ratio);
    bool came = cross<2, meets>(&sums, met, before, partial, crossing, ranks, turns + met + 1);
    met++;
    if (is_first && came) scalars.take_curvature(sums);
    if (is_first && !came) scalars.stop = Scalars::not_finite;
    __syncthreads();
    if (scalars.stop != Scalars::none) break;
    sums = walk_star<meets, IterationOfStar<varies>::at_once>(a, iteration.update, rows, true, scalars.alpha);
    came = cross<Sums::count, meets>(&sums, met, before, partial, crossing, ranks, turns + met + 1);
    met++;
    if (is_first && came) iteration.update.update.finish(&scalars, sums);
    if (is_first && !came) scalars.stop = Scalars::not_finite;
    if (tells) record->norm_of[scalars.its % Record::size] = scalars.norm;
    __syncthreads();
  }
  if (!tells) return;
  record->scalars = scalars;
  crossing->before = before + met * gridDim.x;
  if (meets_others) ranks.of[ranks.rank]->turns = turns + met;
}

} // namespace kernel

// So many iterations, the first, third ... as `even` says, the others as `odd`.
template <bool varies>
PetscErrorCode run_star(Runner *runner, const WholeStar &a, const IterationOfStar<varies> &even,
                        const IterationOfStar<varies> &odd, int iterations) {
  const auto run = [&](auto meets) {
    const auto         iterate = kernel::iterate_star<decltype(meets)::value, varies>;
    constexpr unsigned step = IterationOfStar<varies>::at_once;
    static PetscInt64  most = 0; // blocks that the GPU runs together
    const PetscInt64   tiles_x = (a.size[0] + kernel::threads_of_pass - 1) / kernel::threads_of_pass;
    PetscFunctionBegin;
    if (!most) {
      int of_one = 0;
      PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, iterate, kernel::threads_of_pass, 0));
      most = (PetscInt64)PetscMin(PetscMax(of_one, 1), kernel::blocks_of_star) * multiprocessors();
    }
    unsigned rows;
    for (PetscInt64 turns = 1;; turns++) { // as few tiles as possible for a block, and all blocks have as many
      const PetscInt64 layers = PetscMax(turns * most / tiles_x, (PetscInt64)1);
      rows = (unsigned)((a.size[1] + layers - 1) / layers);
      rows = rows > kernel::least_rows ? (rows + step - 1) / step * step : kernel::least_rows;
      if (rows <= kernel::most_rows) break;
    }
    const PetscInt64 tiles = tiles_x * ((a.size[1] + rows - 1) / rows);
    PetscCall(runner->LaunchTogether(iterate, PetscMin(tiles, most), a, even, odd, iterations, rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  bool meets = runner->meets();
  for (const auto &sides : a.beside)
    for (const Neighbour &side : sides) meets = meets || side.rank >= 0;
  return meets ? run(std::true_type()) : run(std::false_type());
}
#else
template <bool varies>
PetscErrorCode run_star(Runner *, const WholeStar &, const IterationOfStar<varies> &, const IterationOfStar<varies> &,
                        int) {
  return PETSC_ERR_PLIB; // is not called
}
#endif

} // namespace cg
} // namespace shellac
