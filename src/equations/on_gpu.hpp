// The functions of a compiled equation on a GPU, after helpers.hpp: what a thread does.

namespace shellac {
namespace equation {

// n / d, of the inverse 0xffffffff / d: a GPU divides slowly.
inline unsigned quotient(unsigned n, unsigned d, unsigned inverse) {
  const unsigned least = __umulhi(n, inverse); // or one less
  return least + (n - least * d >= d);
}

// A region has no fewer points along the last axis than a thread computes at once: the last ones begin so early that all have
// that many, and compute some points twice.
template <int at_once, class Function>
inline void for_points_of_thread(const Work &work, unsigned block, const Function &f) {
  constexpr int last = dim - 1;
  const Region &region = work.inside;
  Index         p[axes] = {0, 0, 0};
  const Index   thread[axes] = {threadIdx.x, threadIdx.y, 0};
  SHELLAC_EACH for (int a = 0; a < dim; a++) {
    const unsigned beyond = a < last ? quotient(block, work.blocks[a], work.inverse[a]) : 0,
                   along = block - beyond * work.blocks[a];
    p[a] = (a ? region.start[a] : work.first) + ((Index)along * threads_along(dim, a) + thread[a]) * (a < last ? 1 : at_once);
    if (at_once > 1 && a == last && p[a] > region.end[a] - at_once) p[a] = region.end[a] - at_once;
    if (p[a] < region.start[a] || p[a] >= region.end[a]) return;
    block = beyond;
  }
  f(p[0], p[1], p[2]);
}

// From a point to the next one along the last axis, in arrays of this size.
inline Index step_along_last(const Index size[axes]) {
  return dim == 3 ? size[0] * size[1] : dim == 2 ? size[0] : 1;
}

// An array whose points begin at multiples of 16 bytes, if their size is one: then loads and stores are of that many.
template <class Array> inline Array *wide(Array *array) {
  return whole_loads(unknowns * sizeof(Scalar)) ? (Array *)__builtin_assume_aligned(array, bytes_of_load) : array;
}

// The values around at_once points along the last axis, each of them loaded once. Of those that the text does not read a compiler
// makes no loads.
template <int at_once, bool along_vector> struct Window {
  static constexpr int row = steps_along, plane = row * (dim == 2 ? at_once + 2 * width : row);
  static constexpr int points = dim == 1 ? at_once + 2 * width : dim == 2 ? plane : plane * (at_once + 2 * width);
  static constexpr int loaded = box ? points : at_once + 2 * width * (1 + (dim - 1) * at_once);
  // A compiler leaves more values in memory.
  static constexpr bool fits = loaded * (unknowns * (along_vector ? 2 : 1) + field_count) <= 512;
  Scalar u[unknowns][points], direction[along_vector ? unknowns : 1][points], fields[field_count + 1][points];

  // Where the value is that so many steps from the first one of the points leads to.
  static constexpr int index(int dx, int dy, int dz) {
    return dx + width + (dim > 1 ? row * (dy + width) : 0) + (dim > 2 ? plane * (dz + width) : 0);
  }
  Window(const Place &q, Index at) {
    constexpr int    last[axes] = {dim == 1 ? at_once - 1 : 0, dim == 2 ? at_once - 1 : 0, dim == 3 ? at_once - 1 : 0};
    constexpr int    y = dim > 1 ? width : 0, z = dim > 2 ? width : 0;
    const FromArrays from{q, at};
    const Scalar    *state = wide(q.u), *vector = wide(q.direction);
    SHELLAC_EACH for (int dz = -z; dz <= z + last[2]; dz++) SHELLAC_EACH for (int dy = -y; dy <= y + last[1]; dy++)
        SHELLAC_EACH for (int dx = -width; dx <= width + last[0]; dx++) {
      if (!in_stencil(beyond(dx, last[0]), beyond(dy, last[1]), beyond(dz, last[2]))) continue;
      const int   n = index(dx, dy, dz);
      const Index there = from.index(dx, dy, dz);
      SHELLAC_EACH for (int c = 0; c < unknowns; c++) u[c][n] = state[there * unknowns + c];
      if (along_vector) SHELLAC_EACH for (int c = 0; c < unknowns; c++) direction[c][n] = vector[there * unknowns + c];
      SHELLAC_EACH for (int f = 0; f < field_count; f++) fields[f][n] = q.fields[f][there];
    }
  }

private:
  // The steps from the nearest of the points.
  static constexpr int beyond(int d, int last) { return d < 0 ? d : d <= last ? 0 : d - last; }
};

// Around one of these points.
template <int after, class Window> struct FromWindow {
  static constexpr bool at_ends = false, finds_neighbours = false;
  const Window         &window;

  int index(int dx, int dy, int dz) const {
    return window.index(dim == 1 ? dx + after : dx, dim == 2 ? dy + after : dy, dim == 3 ? dz + after : dz);
  }
  Scalar unknown(int c, int dx, int dy, int dz) const { return window.u[c][index(dx, dy, dz)]; }
  Scalar direction(int c, int dx, int dy, int dz) const { return window.direction[c][index(dx, dy, dz)]; }
  Scalar field(int f, int dx, int dy, int dz) const { return window.fields[f][index(dx, dy, dz)]; }
};

// What a kernel computes at a point, for each row: values, the product with a vector, the diagonal. What is computed often is
// worth a window, which takes a while to compile; its places must be known to the compiler, else it would be in memory.
template <class Row> struct Values {
  static constexpr bool along_vector = false, is_often = true;
  template <class From>
  static void at(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *sources, Scalar *out) {
    values_of<Row>(q, i, j, k, from, sources, out);
  }
};
template <class Row> struct Products {
  static constexpr bool along_vector = true, is_often = true;
  template <class From>
  static void at(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *, Scalar *out) {
    products_at<Row>(q, i, j, k, from, out);
  }
};
template <class Row> struct Diagonals {
  static constexpr bool along_vector = false, is_often = false;
  template <class From>
  static void at(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *, Scalar *out) {
    diagonal_at<Row>(q, i, j, k, from, out);
  }
};

template <class Of, int at_once, int s = 0, class Window>
inline void at_points(const Place &q, Index i, Index j, Index k, const Window &window,
                      const Scalar (*sources)[unknowns], Scalar (*out)[unknowns]) {
  Of::at(q, i, dim == 2 ? j + s : j, dim == 3 ? k + s : k, FromWindow<s, Window>{window}, sources[s], out[s]);
  if constexpr (s + 1 < at_once) at_points<Of, at_once, s + 1>(q, i, j, k, window, sources, out);
}
template <class Of> inline void inside(const Place &q, const Work &work, unsigned block, Scalar *out) {
  constexpr int at_once = points_at_once;
  for_points_of_thread<at_once>(work, block, [&](Index i, Index j, Index k) {
    const Index to = place_written(q, i, j, k), from = place_read(q, i, j, k), step = step_along_last(q.write_size);
    if constexpr (steps_are_known && Of::is_often && Window<at_once, Of::along_vector>::fits) {
      Scalar sources[at_once][unknowns] = {}, values[at_once][unknowns];
      if (q.source) SHELLAC_EACH for (int s = 0; s < at_once; s++) sources_at(q, to + s * step, sources[s]);
      const Window<at_once, Of::along_vector> window(q, from);
      at_points<Of, at_once>(q, i, j, k, window, sources, values);
      SHELLAC_EACH for (int s = 0; s < at_once; s++) SHELLAC_EACH for (int r = 0; r < unknowns; r++)
          wide(out)[(to + s * step) * unknowns + r] = values[s][r];
    } else {
      SHELLAC_ROLLED for (int s = 0; s < at_once; s++) {
        Scalar sources[unknowns];
        sources_at(q, to + s * step, sources);
        Of::at(q, i, dim == 2 ? j + s : j, dim == 3 ? k + s : k, FromArrays{q, from + s * step_along_last(q.read_size)},
               sources, out + (to + s * step) * unknowns);
      }
    }
  });
}

// Of a point that has very many entries a loop computes some at a time: a compiler would take minutes over all.
constexpr bool few_entries = unknowns * slots_of_row <= 256;
// Of fewer, many slots at a time share what they have in common.
template <class Row, int r = 0, int first = 0>
inline void entries_of_point(const Place &q, Index i, Index j, Index k, Scalar *const *out) {
  constexpr int most = 32, left = slots_of_row - first, count = left < most ? left : most;
  Scalar        entries[count];
  entries_of<Row, r>(q, Seeds<first, count>(), i, j, k, FromArrays{q, place_read(q, i, j, k)}, entries);
  const Index to = place_written(q, i, j, k);
  SHELLAC_EACH for (int n = 0; n < count; n++) out[r * slots_of_row + first + n][to] = entries[n];
  if constexpr (count < left)
    entries_of_point<Row, r, first + count>(q, i, j, k, out);
  else if constexpr (r + 1 < unknowns)
    entries_of_point<Row, r + 1, 0>(q, i, j, k, out);
}

// ---- at the ends of the domain -------------------------------------------------------------------------------------

template <class Function> inline void for_point_at_ends(const Work &work, unsigned block, const Function &f) {
  unsigned n = block * threads_of_block + threadIdx.y * blockDim.x + threadIdx.x;
  for (int b = 0; b < work.regions_at_ends; b++) {
    const Region  &region = work.at_ends[b];
    const unsigned points = (unsigned)region.points();
    if (n < points) {
      const unsigned nx = (unsigned)(region.end[0] - region.start[0]), ny = (unsigned)(region.end[1] - region.start[1]);
      f(region.start[0] + n % nx, region.start[1] + n / nx % ny, region.start[2] + n / nx / ny);
      return;
    }
    n -= points;
  }
}

// The values around a point near ends. All are loaded at once, as if they had no rules; then those beyond an end are replaced,
// one after the other. Arrays that are not placed for wide loads are read by it, too.
template <bool along_vector> struct WindowAtEnds {
  static constexpr bool at_ends = true, finds_neighbours = false;
  static constexpr bool fits = arm_count * (unknowns * (along_vector ? 2 : 1) + field_count) * sizeof(Scalar) <= 512;
  Scalar u[unknowns][arm_count], along[along_vector ? unknowns : 1][arm_count], fields[field_count + 1][arm_count];

  WindowAtEnds(const Place &q, Index i, Index j, Index k) {
    const NearEnds near(q, i, j, k);
    const Index    at = place_read(q, i, j, k), strides[axes] = {1, q.read_size[0], q.read_size[0] * q.read_size[1]};
    Index          step[axes][steps_along] = {};
    bool           leaves[axes][steps_along] = {};
    SHELLAC_EACH for (int a = 0; a < dim; a++) SHELLAC_EACH for (int d = -width; d <= width; d++) if (d) {
      leaves[a][d + width] = near.leaves(a, d);
      step[a][d + width] = near.inside(a, d) * strides[a];
    }
    each_arm([&](int dx, int dy, int dz, int n) {
      const Index there = at + step[0][dx + width] + step[1][dy + width] + step[2][dz + width];
      SHELLAC_EACH for (int c = 0; c < unknowns; c++) u[c][n] = q.u[there * unknowns + c];
      if (along_vector) SHELLAC_EACH for (int c = 0; c < unknowns; c++) along[c][n] = q.direction[there * unknowns + c];
      SHELLAC_EACH for (int f = 0; f < field_count; f++) fields[f][n] = q.fields[f][there];
    });
    each_arm([&](int dx, int dy, int dz, int n) {
      if (!leaves[0][dx + width] && !leaves[1][dy + width] && !leaves[2][dz + width]) return;
      SHELLAC_EACH for (int c = 0; c < unknowns; c++) {
        const Neighbour other = near.neighbour(c, dx, dy, dz);
        u[c][n] = near.unknown(c, other);
        if (along_vector) along[c][n] = other.factor == 0 ? Scalar(0) : other.factor * near.direction(c, other);
      }
    });
  }
  Scalar unknown(int c, int dx, int dy, int dz) const { return u[c][arm_of(dx, dy, dz)]; }
  Scalar direction(int c, int dx, int dy, int dz) const { return along[c][arm_of(dx, dy, dz)]; }
  Scalar field(int f, int dx, int dy, int dz) const { return fields[f][arm_of(dx, dy, dz)]; }

private:
  template <class Function> static void each_arm(const Function &f) {
    constexpr int y = dim > 1 ? width : 0, z = dim > 2 ? width : 0;
    SHELLAC_EACH for (int dz = -z; dz <= z; dz++) SHELLAC_EACH for (int dy = -y; dy <= y; dy++)
        SHELLAC_EACH for (int dx = -width; dx <= width; dx++) if (in_stencil(dx, dy, dz))
            f(dx, dy, dz, arm_of(dx, dy, dz));
  }
};

template <class Of> inline void at_ends(const Place &q, const Work &work, unsigned block, Scalar *out) {
  for_point_at_ends(work, block, [&](Index i, Index j, Index k) {
    const Index to = place_written(q, i, j, k);
    Scalar      sources[unknowns];
    sources_at(q, to, sources);
    if constexpr (steps_are_known && Of::is_often && WindowAtEnds<Of::along_vector>::fits) {
      Scalar values[unknowns];
      Of::at(q, i, j, k, WindowAtEnds<Of::along_vector>(q, i, j, k), sources, values);
      SHELLAC_EACH for (int r = 0; r < unknowns; r++) out[to * unknowns + r] = values[r];
    } else
      Of::at(q, i, j, k, NearEnds(q, i, j, k), sources, out + to * unknowns);
  });
}

// A thread an entry.
template <class Row, int r = 0>
inline void entry_at_end(const Place &q, int row, int slot, Index i, Index j, Index k, Scalar *const *out) {
  if (row == r)
    entries_of<Row, r>(q, AnySeeds<1>(slot), i, j, k, NearEnds(q, i, j, k),
                       out[r * slots_of_row + slot] + place_written(q, i, j, k));
  else if constexpr (r + 1 < unknowns)
    entry_at_end<Row, r + 1>(q, row, slot, i, j, k, out);
}

// ---- kernels -------------------------------------------------------------------------------------------------------

template <class Of> inline void at_all_points(const Place &q, const Work &work, Scalar *out) {
  if (blockIdx.x < work.blocks_at_ends)
    at_ends<Of>(q, work, blockIdx.x, out);
  else
    inside<Of>(q, work, blockIdx.x - work.blocks_at_ends, out);
}
template <class Row> inline void values(const Place &q, const Work &work, Scalar *out) {
  at_all_points<Values<Row>>(q, work, out);
}
template <class Row> inline void products(const Place &q, const Work &work, Scalar *out) {
  at_all_points<Products<Row>>(q, work, out);
}
template <class Row> inline void diagonals(const Place &q, const Work &work, Scalar *out) {
  at_all_points<Diagonals<Row>>(q, work, out);
}
template <class Row> inline void entries(const Place &q, const Work &work, Scalar *const *out) {
  const unsigned at_ends = work.blocks_at_ends * unknowns * slots_of_row;
  if (blockIdx.x < at_ends) {
    const int slot = blockIdx.x / work.blocks_at_ends;
    for_point_at_ends(work, blockIdx.x % work.blocks_at_ends, [&](Index i, Index j, Index k) {
      entry_at_end<Row>(q, slot / slots_of_row, slot % slots_of_row, i, j, k, out);
    });
  } else
    for_points_of_thread<1>(work, blockIdx.x - at_ends, [&](Index i, Index j, Index k) {
      if constexpr (few_entries)
        entries_of_point<Row>(q, i, j, k, out);
      else
        entries_by_loop<Row>(q, i, j, k, FromArrays{q, place_read(q, i, j, k)}, place_written(q, i, j, k), out);
    });
}

} // namespace equation
} // namespace shellac
