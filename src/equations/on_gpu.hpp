// The functions of a compiled equation on a GPU, after helpers.hpp: what a thread does.

namespace shellac {
namespace equation {

// A region has no fewer points along the last axis than a thread computes: the last ones begin so early that all have that many,
// and compute some points twice.
template <int steps, class Function>
inline void for_points_of_thread(const Region &region, unsigned block, const Function &f) {
  const Blocks blocks(region, dim, steps);
  Index        p[axes] = {0, 0, 0};
  const Index  thread[axes] = {threadIdx.x, threadIdx.y, 0};
  SHELLAC_EACH for (int a = 0; a < dim; a++) {
    p[a] = blocks.first(a) + (block % blocks.count[a] * threads_along(dim, a) + thread[a]) * blocks.steps(a);
    block /= blocks.count[a];
    if (blocks.steps(a) > 1 && p[a] > region.end[a] - steps) p[a] = region.end[a] - steps;
    if (p[a] < region.start[a] || p[a] >= region.end[a]) return;
  }
  f(p[0], p[1], p[2]);
}

// From a point to the next one along the last axis, in arrays of this size.
inline Index step_along_last(const Index size[axes]) {
  return dim == 3 ? size[0] * size[1] : size[0];
}

// The values at points along the last axis.
template <class Row, int steps, int s = 0>
inline void values_of_steps(const Place &q, Index i, Index j, Index k, Index from, const Scalar (*sources)[unknowns],
                            Scalar (*values)[unknowns]) {
  values_of<Row, false>(q, i, dim == 2 ? j + s : j, dim == 3 ? k + s : k, from, sources[s], values[s]);
  if constexpr (s + 1 < steps)
    values_of_steps<Row, steps, s + 1>(q, i, j, k, from + step_along_last(q.read_size), sources, values);
}
template <class Row> inline void values_inside(const Place &q, const Region &region, unsigned block, Scalar *out) {
  constexpr int steps = dim > 1 ? steps_along_last : 1;
  for_points_of_thread<steps>(region, block, [&](Index i, Index j, Index k) {
    // the compiler sees what the points have in common as long as nothing branches and nothing is written
    const Index to = place_written(q, i, j, k), step = step_along_last(q.write_size);
    Scalar      sources[steps][unknowns] = {}, values[steps][unknowns];
    if (q.source) SHELLAC_EACH for (int s = 0; s < steps; s++) sources_at(q, to + s * step, sources[s]);
    values_of_steps<Row, steps>(q, i, j, k, place_read(q, i, j, k), sources, values);
    SHELLAC_EACH for (int s = 0; s < steps; s++) SHELLAC_EACH for (int r = 0; r < unknowns; r++)
        out[(to + s * step) * unknowns + r] = values[s][r];
  });
}

// Many slots at a time share what they have in common.
template <class Row, int r = 0, int first = 0>
inline void entries_of_point(const Place &q, Index i, Index j, Index k, Scalar *const *out) {
  constexpr int most = 32, left = slots_of_row - first, count = left < most ? left : most;
  Scalar        entries[count];
  entries_of<Row, r, false>(q, Seeds<first, count>(), i, j, k, place_read(q, i, j, k), entries);
  const Index to = place_written(q, i, j, k);
  SHELLAC_EACH for (int n = 0; n < count; n++) out[r * slots_of_row + first + n][to] = entries[n];
  if constexpr (count < left)
    entries_of_point<Row, r, first + count>(q, i, j, k, out);
  else if constexpr (r + 1 < unknowns)
    entries_of_point<Row, r + 1, 0>(q, i, j, k, out);
}

// ---- at the ends of the domain -------------------------------------------------------------------------------------

template <class Function> inline void for_point_at_ends(const Work &work, unsigned block, const Function &f) {
  Index n = block * (Index)threads_of_block + threadIdx.y * blockDim.x + threadIdx.x;
  for (int b = 0; b < work.regions_at_ends; b++) {
    const Region &region = work.at_ends[b];
    const Index   points = region.points();
    if (n < points) {
      const Index nx = region.end[0] - region.start[0], ny = region.end[1] - region.start[1];
      f(region.start[0] + n % nx, region.start[1] + n / nx % ny, region.start[2] + n / nx / ny);
      return;
    }
    n -= points;
  }
}

template <class Row> inline void values_at_ends(const Place &q, const Work &work, unsigned block, Scalar *out) {
  for_point_at_ends(work, block, [&](Index i, Index j, Index k) {
    const Index to = place_written(q, i, j, k);
    values_at<Row, true>(q, i, j, k, place_read(q, i, j, k), to, out + to * unknowns);
  });
}

// A thread an entry.
template <class Row, int r = 0>
inline void entry_at_end(const Place &q, int row, int slot, Index i, Index j, Index k, Scalar *const *out) {
  if (row == r)
    entries_of<Row, r, true>(q, AnySeeds<1>(slot), i, j, k, place_read(q, i, j, k),
                             out[r * slots_of_row + slot] + place_written(q, i, j, k));
  else if constexpr (r + 1 < unknowns)
    entry_at_end<Row, r + 1>(q, row, slot, i, j, k, out);
}

// ---- kernels -------------------------------------------------------------------------------------------------------

template <class Row> inline void values(const Place &q, const Work &work, Scalar *out) {
  if (blockIdx.x < work.blocks_at_ends)
    values_at_ends<Row>(q, work, blockIdx.x, out);
  else
    values_inside<Row>(q, work.inside, blockIdx.x - work.blocks_at_ends, out);
}
template <class Row> inline void entries(const Place &q, const Work &work, Scalar *const *out) {
  const unsigned at_ends = work.blocks_at_ends * unknowns * slots_of_row;
  if (blockIdx.x < at_ends) {
    const int slot = blockIdx.x / work.blocks_at_ends;
    for_point_at_ends(work, blockIdx.x % work.blocks_at_ends, [&](Index i, Index j, Index k) {
      entry_at_end<Row>(q, slot / slots_of_row, slot % slots_of_row, i, j, k, out);
    });
  } else
    for_points_of_thread<1>(work.inside, blockIdx.x - at_ends,
                            [&](Index i, Index j, Index k) { entries_of_point<Row>(q, i, j, k, out); });
}

// The same for what a point computes by itself: in the domain f_inside(i, j, k), else f_at_ends(i, j, k).
template <class Inside, class AtEnds>
inline void for_points(const Work &work, const Inside &f_inside, const AtEnds &f_at_ends) {
  if (blockIdx.x < work.blocks_at_ends)
    for_point_at_ends(work, blockIdx.x, f_at_ends);
  else
    for_points_of_thread<1>(work.inside, blockIdx.x - work.blocks_at_ends, f_inside);
}
template <class Row> inline void products(const Place &q, const Work &work, Scalar *out) {
  const auto to = [&](Index i, Index j, Index k) { return out + place_written(q, i, j, k) * unknowns; };
  for_points(
      work,
      [&](Index i, Index j, Index k) { products_at<Row, false>(q, i, j, k, place_read(q, i, j, k), to(i, j, k)); },
      [&](Index i, Index j, Index k) { products_at<Row, true>(q, i, j, k, place_read(q, i, j, k), to(i, j, k)); });
}
template <class Row> inline void diagonals(const Place &q, const Work &work, Scalar *out) {
  const auto to = [&](Index i, Index j, Index k) { return out + place_written(q, i, j, k) * unknowns; };
  for_points(
      work,
      [&](Index i, Index j, Index k) { diagonal_at<Row, false>(q, i, j, k, place_read(q, i, j, k), to(i, j, k)); },
      [&](Index i, Index j, Index k) { diagonal_at<Row, true>(q, i, j, k, place_read(q, i, j, k), to(i, j, k)); });
}

} // namespace equation
} // namespace shellac
