#pragma once
// y = A u, y = b + A u or y = b - A u, for A given by its Rows; one formula, two loops: rows of points on the host, and
// columns of points, a few steps along the slowest axis a thread, on a GPU.

#include <vector>

#include "device/stream.hpp"
#include "stencil/rows.hpp"

namespace shellac {

enum class Form { product, sum, residual }; // A u, b + A u, b - A u

template <class T> SHELLAC_HD T combine(Form form, const T *b, size_t at, T Au) {
  return form == Form::product ? Au : form == Form::sum ? b[at] + Au : b[at] - Au;
}

// Any point, transposed or not.
template <class T, int dim, template <class> class Formula> struct ApplyPoint {
  Rows<T, Formula> rows;
  Field<T>         field;
  bool             transposed;
  Form             form;
  const T         *b;
  T               *y;

  SHELLAC_HD void operator()(PetscInt i, PetscInt j, PetscInt k) const {
    const PetscInt p[3] = {i, j, k};
    const auto     star = field.template star<dim>(rows.patch, p);
    const size_t   at = rows.patch.index(i, j, k);
    y[at] =
        combine(form, b, at, transposed ? rows.template transposed_row<dim>(star, p) : rows.template row<dim>(star, p));
  }
};

// Points next to each other along the first axis, none of them special: out[i] = (formula + shift) u at i.
// side: the neighbouring rows along the other axes.
template <int dim, class T, template <class> class Formula>
SHELLAC_WIDE void compute_row(Formula<T> formula, T shift, const T *u, const T *const (*side)[2], PetscInt n, T *out) {
  const T *rows[3][2]; // on the stack: out cannot overlap them
  for (int a = 1; a < dim; a++) rows[a][0] = side[a][0], rows[a][1] = side[a][1];
#pragma GCC ivdep
  for (PetscInt i = 0; i < n; i++) {
    Star<T, dim> star;
    star.center = u[i];
    star.arm[0][0] = u[i - 1];
    star.arm[0][1] = u[i + 1];
    if constexpr (dim > 1) star.arm[1][0] = rows[1][0][i], star.arm[1][1] = rows[1][1][i];
    if constexpr (dim > 2) star.arm[2][0] = rows[2][0][i], star.arm[2][1] = rows[2][1][i];
    out[i] = shift * star.center + formula(star);
  }
}

// The points of a box that needs no halo, along whole rows so that the compiler vectorises them.
template <int dim, class T, template <class> class Formula>
void apply_rows_on_host(const Rows<T, Formula> &rows, const Field<T> &field, Form form, const T *b, const Box &box,
                        T *y) {
  const Patch       &patch = rows.patch;
  constexpr PetscInt chunk = 512; // points whose result stays in the first cache
  const bool         past = beyond_cache((size_t)box.points() * sizeof(T));
  std::vector<T>     zeros(dim > 1 ? patch.size[0] : 0);
  T                  buffer[chunk];
  if (!box.points()) return;
  const ApplyPoint<T, dim, Formula> point{rows, field, false, form, b, y};

  for (PetscInt k = box.lo[2]; k < box.hi[2]; k++) {
    for (PetscInt j = box.lo[1]; j < box.hi[1]; j++) {
      const PetscInt head[3] = {box.lo[0], j, k};
      const size_t   begin = patch.index(0, j, k);
      const T       *row = field.u + begin;
      bool           identity = false;
      const T       *side[3][2]; // [axis][end]: the neighbouring rows; an end of the domain turns into a choice of row
      for (int a = 1; a < dim; a++) {
        for (int e = 0; e < 2; e++) {
          const T   *next[2] = {row - patch.stride(a), row + patch.stride(a)};
          const bool leaves = patch.leaves_domain(head, a, (Side)e);
          side[a][e] = !leaves                             ? next[e]
                       : patch.beyond[a] == Beyond::copy   ? row
                       : patch.beyond[a] == Beyond::mirror ? next[1 - e]
                                                           : zeros.data();
          identity = identity || (patch.identity[a] && patch.at_domain_end(head, a, (Side)e));
        }
      }

      PetscInt lo = box.lo[0], hi = box.hi[0];
      if (lo == 0) point(lo++, j, k);
      if (hi == patch.size[0] && lo < hi) point(--hi, j, k);
      for (PetscInt from = lo; from < hi; from += chunk) {
        const PetscInt n = PetscMin(chunk, hi - from);
        const size_t   at = begin + from;
        const T       *u = field.u + at;
        T             *out = past || b == y ? buffer : y + at; // b may be y
        if (past) prefetch(dim > 1 ? side[dim - 1][UPPER] + from : u, n);
        if (identity) {
          const T entry = rows.identity + rows.shift;
          for (PetscInt i = 0; i < n; i++) out[i] = entry * u[i];
        } else {
          const T *ahead[3][2];
          for (int a = 1; a < dim; a++) ahead[a][0] = side[a][0] + from, ahead[a][1] = side[a][1] + from;
          compute_row<dim>(rows.formula, rows.shift, u, ahead, n, out);
        }
        if (rows.diagonal)
#pragma GCC ivdep
          for (PetscInt i = 0; i < n; i++) out[i] += rows.diagonal[at + i] * u[i];
        if (form != Form::product)
#pragma GCC ivdep
          for (PetscInt i = 0; i < n; i++) out[i] = combine(form, b + at, i, out[i]);
        if (past) stream_copy(y + at, buffer, n);
        else if (out == buffer) std::copy(buffer, buffer + n, y + at);
      }
    }
  }
  if (past) stream_fence();
}

#if SHELLAC_CUDA
namespace kernel {

constexpr int steps = 4; // points a thread computes along the slowest axis

template <int dim> struct Block { // threads of a block
  static constexpr int x = dim == 3 ? 64 : 256, y = dim == 3 ? 4 : 1;
};

// As many values next to each other as one load brings.
template <class T, int width> struct alignas(width * sizeof(T)) Pack { T lane[width]; };

// Each thread computes `width` columns next to each other and marches a few steps along the slowest axis: stars share
// their values in registers, and all loads are under way before the first is used.
// Where a star could leave the patch across the other axes, each point is taken alone.
// The blocks are numbered along the first axis first; a launch of one dimension has room for any shape.
template <int dim, Form form, int width, class T, template <class> class Formula>
__global__ void __launch_bounds__(256)
    apply(Box box, unsigned blocks_x, unsigned blocks_y, Rows<T, Formula> rows, Field<T> field, const T *b, T *y) {
  using Values = Pack<T, width>;
  constexpr int  slow = dim - 1;
  const Patch   &patch = rows.patch;
  const unsigned block_x = blockIdx.x % blocks_x, above = blockIdx.x / blocks_x;
  PetscInt p[3] = {box.lo[0] / width * width + (PetscInt)(block_x * Block<dim>::x + threadIdx.x) * width, box.lo[1],
                   box.lo[2]};
  if (dim == 3) p[1] += (PetscInt)(above % blocks_y * Block<dim>::y + threadIdx.y);
  if (dim > 1) p[slow] += (PetscInt)(dim == 3 ? above / blocks_y : above) * steps;
  if (p[0] >= box.hi[0] || (dim == 3 && p[1] >= box.hi[1])) return;

  bool plain = dim > 1 && p[slow] > 0 && p[slow] + steps < patch.size[slow] && p[slow] + steps <= box.hi[slow];
  if (dim == 3) plain = plain && p[1] > 0 && p[1] + 1 < patch.size[1];
  if (!plain) {
    const ApplyPoint<T, dim, Formula> point{rows, field, false, form, b, y};
    for (int s = 0; s < (dim > 1 ? steps : 1) && p[slow]<(dim > 1 ? box.hi[slow] : box.hi[0]); s++, p[slow] += dim> 1)
      for (int l = 0; l < width; l++)
        if (p[0] + l >= box.lo[0] && p[0] + l < box.hi[0]) point(p[0] + l, p[1], p[2]);
    return;
  }

  const size_t stride = patch.stride(slow), first = patch.index(p[0], p[1], p[2]);
  const bool   at_west = p[0] == 0, at_east = p[0] + width == patch.size[0];
  const auto   load = [&](size_t at) { return *reinterpret_cast<const Values *>(field.u + at); };
  Values       column[steps + 2], side[steps][2], result[steps];
  T            west[steps], east[steps];
#pragma unroll
  for (int s = 0; s < steps + 2; s++) column[s] = load(first + s * stride - stride);
#pragma unroll
  for (int s = 0; s < steps; s++) {
    const size_t at = first + s * stride;
    PetscInt     q[3] = {p[0], p[1], p[2]};
    q[slow] += s;
    west[s] = !at_west                    ? field.u[at - 1]
              : patch.neighbour[0][LOWER] ? field.halo[0][LOWER][patch.halo_index(q, 0)]
                                          : T(0);
    east[s] = !at_east                    ? field.u[at + width]
              : patch.neighbour[0][UPPER] ? field.halo[0][UPPER][patch.halo_index(q, 0)]
                                          : T(0);
    if (dim == 3) side[s][0] = load(at - patch.size[0]), side[s][1] = load(at + patch.size[0]);
  }
#pragma unroll
  for (int s = 0; s < steps; s++) {
#pragma unroll
    for (int l = 0; l < width; l++) {
      PetscInt     q[3] = {p[0] + l, p[1], p[2]};
      Star<T, dim> star;
      star.center = column[s + 1].lane[l];
      star.arm[slow][LOWER] = column[s].lane[l];
      star.arm[slow][UPPER] = column[s + 2].lane[l];
      if (dim == 3) star.arm[1][LOWER] = side[s][0].lane[l], star.arm[1][UPPER] = side[s][1].lane[l];
      star.arm[0][LOWER] = l > 0 ? column[s + 1].lane[l > 0 ? l - 1 : 0] : west[s];
      star.arm[0][UPPER] = l + 1 < width ? column[s + 1].lane[l + 1 < width ? l + 1 : l] : east[s];
      q[slow] += s;
      bool identity = false;
      if ((at_west && l == 0) || (at_east && l == width - 1)) { // an end of the row, perhaps of the domain
        star.fill(patch, q);
        identity = patch.template is_identity_row<dim>(q);
      }
      T value = rows.shift * star.center + (identity ? rows.identity * star.center : rows.formula(star));
      if (rows.diagonal) value += rows.diagonal[first + s * stride + l] * star.center;
      result[s].lane[l] = combine(form, b, first + s * stride + l, value);
    }
  }
  const bool whole = p[0] >= box.lo[0] && p[0] + width <= box.hi[0];
#pragma unroll
  for (int s = 0; s < steps; s++) {
    if (whole)
      *reinterpret_cast<Values *>(y + first + s * stride) = result[s];
    else
      for (int l = 0; l < width; l++)
        if (p[0] + l >= box.lo[0] && p[0] + l < box.hi[0]) y[first + s * stride + l] = result[s].lane[l];
  }
}

} // namespace kernel

template <int dim, Form form, int width, class T, template <class> class Formula>
PetscErrorCode launch_apply(const Rows<T, Formula> &rows, const Field<T> &field, const T *b, const Box &box, T *y,
                            cudaStream_t stream) {
  using Block = kernel::Block<dim>;
  const auto       blocks = [](PetscInt points, int each) { return (unsigned)((points + each - 1) / each); };
  const unsigned   x = blocks(box.hi[0] - box.lo[0] / width * width, Block::x * width);
  const unsigned   y_blocks = dim == 3 ? blocks(box.size(1), Block::y) : 1;
  const PetscInt64 all = (PetscInt64)x * y_blocks * (dim > 1 ? blocks(box.size(dim - 1), kernel::steps) : 1);

  PetscFunctionBegin;
  kernel::apply<dim, form, width>
      <<<(unsigned)all, dim3(Block::x, Block::y), 0, stream>>>(box, x, y_blocks, rows, field, b, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// With loads of 16 bytes where the rows are aligned to them.
template <int dim, Form form, class T, template <class> class Formula>
PetscErrorCode launch_apply(const Rows<T, Formula> &rows, const Field<T> &field, const T *b, const Box &box, T *y,
                            cudaStream_t stream) {
  constexpr int width = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  const bool    aligned =
      rows.patch.size[0] % width == 0 && ((uintptr_t)field.u | (uintptr_t)y) % (width * sizeof(T)) == 0;

  PetscFunctionBegin;
  if (!box.points()) PetscFunctionReturn(PETSC_SUCCESS);
  if (dim > 1 && aligned)
    PetscCall((launch_apply<dim, form, width>(rows, field, b, box, y, stream)));
  else
    PetscCall((launch_apply<dim, form, 1>(rows, field, b, box, y, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

// On the points that need no halo.
template <int dim, class T, template <class> class Formula>
PetscErrorCode apply_interior(PetscMemType memory, const Rows<T, Formula> &rows, const Field<T> &field, Form form,
                              const T *b, T *y) {
  const Box box = rows.patch.interior();

  PetscFunctionBegin;
  PetscCall(check_backend(memory));
#if SHELLAC_CUDA
  if (PetscMemTypeDevice(memory)) {
    cudaStream_t stream;
    PetscCall(current_stream(&stream));
    if (form == Form::product)
      PetscCall((launch_apply<dim, Form::product>(rows, field, b, box, y, stream)));
    else if (form == Form::sum)
      PetscCall((launch_apply<dim, Form::sum>(rows, field, b, box, y, stream)));
    else
      PetscCall((launch_apply<dim, Form::residual>(rows, field, b, box, y, stream)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  apply_rows_on_host<dim>(rows, field, form, b, box, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
