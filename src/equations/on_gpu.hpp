// The functions of a compiled equation on a GPU, for one thread; after helpers.hpp.

namespace shellac {
namespace equation {

// n / d, of the inverse 0xffffffff / d: a GPU divides slowly.
inline unsigned quotient(unsigned n, unsigned d, unsigned inverse) {
  const unsigned least = __umulhi(n, inverse); // or one less
  return least + (n - least * d >= d);
}

// A region has at least as many points along the last axis as a thread computes at once. The last threads begin early
// enough to have that many points, and some points are computed twice. One of two columns may be outside the region.
template <int at_once, int columns, class Function>
inline void for_points_of_thread(const Work &work, unsigned block, const Function &f) {
  constexpr int last = dim - 1;
  const Region &region = work.inside;
  Index         p[axes] = {0, 0, 0};
  const Index   thread[axes] = {threadIdx.x, threadIdx.y, 0};
  SHELLAC_EACH for (int a = 0; a < dim; a++) {
    const unsigned beyond = a < last ? quotient(block, work.blocks[a], work.inverse[a]) : 0,
                   along = block - beyond * work.blocks[a];
    const int of_thread = a == last ? at_once : a == 0 ? columns : 1;
    p[a] = (a ? region.start[a] : work.first) + ((Index)along * threads_along(dim, a) + thread[a]) * of_thread;
    if (at_once > 1 && a == last && p[a] > region.end[a] - at_once) p[a] = region.end[a] - at_once;
    if (p[a] + (a == 0 ? columns - 1 : 0) < region.start[a] || p[a] >= region.end[a]) return;
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

// From one of the points beside each other along the first axis to a neighbour, which may be beyond an end: where its
// value is, and the factor of the boundary's rule. A rule's datum is zero where rows are whole.
struct StepInRow {
  int  to;
  Real factor = 1;

  StepInRow() = default;
  StepInRow(int d) : to(d) {}
  StepInRow(const Place &q, Index i, int d, int last) : to(d) {
    if (d >= 0 && d <= last) return;
    if (q.periodic[0]) {
      to = around(q, 0, i, d);
      return;
    }
    const Index x = i + d, N = q.N[0];
    const int   side = d > 0;
    if (side ? x < N : x >= 0) return;
    const Fold &rule = q.folds[side * width + (width == 1 ? 0 : (int)(side ? x - N : -1 - x))];
    factor = rule.factor;
    to = factor == 0 ? 0 : (int)(rule.inside - i);
  }
  void apply(Scalar *value) const { *value = factor == 0 ? Scalar(0) : factor * *value; }
};

// Two adjacent numbers, in one load or store.
struct alignas(2 * sizeof(Scalar)) Pair {
  Scalar at[2];
};

// The values around at_once points along the last axis, of so many columns, each of them loaded once. Of those that the
// text does not read a compiler makes no loads.
template <int at_once, int columns, bool along_vector> struct Window {
  static constexpr int row = steps_along + columns - 1;
  static constexpr int plane = row * (dim == 2 ? at_once + 2 * width : steps_along);
  static constexpr int points = dim == 1 ? at_once + 2 * width : dim == 2 ? plane : plane * (at_once + 2 * width);
  static constexpr int numbers = values_around(dim, width, box, at_once, columns) *
                                 (unknowns * (along_vector ? 2 : 1) + field_count) *
                                 (int)(sizeof(Scalar) / sizeof(Real));
  // A compiler leaves more values in memory.
  static constexpr bool fits = numbers <= 512, loads_first = numbers <= most_loaded_first && (dim < 3 || !box);
  Scalar u[unknowns][points], direction[along_vector ? unknowns : 1][points], fields[field_count + 1][points];

  // Where the value is that so many steps from the first one of the points leads to.
  static constexpr int index(int dx, int dy, int dz) {
    return dx + width + (dim > 1 ? row * (dy + width) : 0) + (dim > 2 ? plane * (dz + width) : 0);
  }
  // at: the place of the first point, i its index along the first axis.
  Window(const Place &q, Index at, Index i) {
    constexpr int    y = dim > 1 ? width : 0, z = dim > 2 ? width : 0;
    const FromArrays from{q, at};
    if (whole_rows)
      SHELLAC_EACH for (int dx = -width; dx <= width + last_x; dx++) steps[dx + width] = StepInRow(q, i, dx, last_x);
    SHELLAC_EACH for (int dz = -z; dz <= z + last_z; dz++) SHELLAC_EACH for (int dy = -y; dy <= y + last_y; dy++)
        SHELLAC_EACH for (int dx = -width; dx <= width + last_x; dx++) {
      if (!in_window(dx, dy, dz)) continue;
      const int       n = index(dx, dy, dz);
      const StepInRow step = whole_rows ? steps[dx + width] : StepInRow{dx};
      const Index     there = from.index(step.to, dy, dz);
      if (columns == 2 && dx == 1) continue; // with the one before
      const bool pair = columns == 2 && dx == 0;
      load<unknowns>(q.u, there, pair, n, u);
      if (along_vector) load<unknowns>(q.direction, there, pair, n, direction);
      SHELLAC_EACH for (int f = 0; f < field_count; f++) load<1>(q.fields[f], there, pair, n, fields + f);
    }
  }
  // What the rules make of values beyond ends of the rows. After all loads, which wait for nothing then.
  void follow_rules() {
    constexpr int y = dim > 1 ? width : 0, z = dim > 2 ? width : 0;
    if (whole_rows)
      SHELLAC_EACH for (int dz = -z; dz <= z + last_z; dz++) SHELLAC_EACH for (int dy = -y; dy <= y + last_y; dy++)
          SHELLAC_EACH for (int dx = -width; dx <= width + last_x; dx++) {
        if ((dx >= 0 && dx <= last_x) || !in_window(dx, dy, dz)) continue;
        const StepInRow &step = steps[dx + width];
        step.apply(&u[0][index(dx, dy, dz)]);
        if (along_vector) step.apply(&direction[0][index(dx, dy, dz)]);
      }
  }

private:
  static constexpr int last_x = dim == 1 ? at_once - 1 : columns - 1, last_y = dim == 2 ? at_once - 1 : 0,
                       last_z = dim == 3 ? at_once - 1 : 0;
  StepInRow steps[whole_rows ? row : 1];

  // The steps from the nearest of the points; whether these read what is so many steps from the first one.
  static constexpr int  beyond(int d, int last) { return d < 0 ? d : d <= last ? 0 : d - last; }
  static constexpr bool in_window(int dx, int dy, int dz) {
    return in_stencil(beyond(dx, last_x), beyond(dy, last_y), beyond(dz, last_z));
  }

  template <int count> static void load(const Scalar *array, Index there, bool pair, int n, Scalar (*to)[points]) {
    if (pair) {
      const Pair values = *(const Pair *)(array + there);
      to[0][n] = values.at[0], to[0][n + 1] = values.at[1];
    } else
      SHELLAC_EACH for (int c = 0; c < count; c++) to[c][n] =
          (count == unknowns ? wide(array) : array)[there * count + c];
  }
};

// Around one of these points: so many after the first one, in a column. One type for all of them compiles in half the time.
template <class Window> struct FromWindow {
  static constexpr bool at_ends = false, finds_neighbours = false;
  const Window         &window;
  int                   after, column;

  int index(int dx, int dy, int dz) const {
    return window.index(dim == 1 ? dx + after : dx + column, dim == 2 ? dy + after : dy, dim == 3 ? dz + after : dz);
  }
  Scalar unknown(int c, int dx, int dy, int dz) const { return window.u[c][index(dx, dy, dz)]; }
  Scalar direction(int c, int dx, int dy, int dz) const { return window.direction[c][index(dx, dy, dz)]; }
  Scalar field(int f, int dx, int dy, int dz) const { return window.fields[f][index(dx, dy, dz)]; }
};

template <class Row> struct Imposed : Computed<false, false> {
  template <class From>
  static void at(const Place &q, Index i, Index j, Index k, const From &from, const Scalar *, Scalar *out) {
    if (!in_solid(from)) impose_at(q, i, j, k, out);
  }
};

template <class Of> inline void inside(const Place &q, const Work &work, unsigned block, Scalar *out) {
  constexpr int at_once = points_at_once;
  for_points_of_thread<at_once, columns>(work, block, [&](Index i, Index j, Index k) {
    const Index to = place_written(q, i, j, k), from = place_read(q, i, j, k), step = step_along_last(q.write_size);
    const auto  is_column = [&](int x) {
      return columns == 1 || (i + x >= work.inside.start[0] && i + x < work.inside.end[0]);
    };
    using Around = Window<at_once, columns, Of::along_vector>;
    if constexpr (steps_are_known && Of::is_often && Around::fits) {
      Scalar sources[at_once][columns][unknowns] = {}, values[at_once][columns][unknowns];
      if (q.source)
        SHELLAC_EACH for (int s = 0; s < at_once; s++) SHELLAC_EACH for (int x = 0; x < columns; x++)
            sources_at(q, to + s * step + x, sources[s][x]);
      Around window(q, from, i);
      // A compiler would move loads behind arithmetic, which takes fewer registers, and then a warp waits for memory many
      // times. It leaves them before a barrier and a branch; it does not know that this is always taken.
      if (Around::loads_first) __syncwarp();
      if (Around::loads_first && work.regions_at_ends > most_regions_at_ends) return;
      window.follow_rules();
      SHELLAC_EACH for (int s = 0; s < at_once; s++) SHELLAC_EACH for (int x = 0; x < columns; x++)
          Of::at(q, i + x, dim == 2 ? j + s : j, dim == 3 ? k + s : k, FromWindow<Around>{window, s, x}, sources[s][x],
                 values[s][x]);
      SHELLAC_EACH for (int s = 0; s < at_once; s++) {
        Scalar *const there = out + (to + s * step) * unknowns;
        if (columns == 2 && is_column(0) && is_column(1))
          *(Pair *)there = Pair{{values[s][0][0], values[s][columns - 1][0]}};
        else
          SHELLAC_EACH for (int x = 0; x < columns; x++) if (is_column(x))
              SHELLAC_EACH for (int r = 0; r < unknowns; r++) wide(out)[(to + s * step + x) * unknowns + r] =
                  values[s][x][r];
      }
    } else {
      SHELLAC_ROLLED for (int s = 0; s < at_once; s++) SHELLAC_ROLLED for (int x = 0; x < columns; x++) {
        if (!is_column(x)) continue;
        Scalar        sources[unknowns];
        const Index   there = to + s * step + x, at[axes] = {i + x, dim == 2 ? j + s : j, dim == 3 ? k + s : k};
        Scalar *const values = out + there * Of::numbers;
        sources_at(q, there, sources);
        if (whole_rows && (at[0] < width || at[0] >= q.N[0] - width))
          Of::at(q, at[0], at[1], at[2], NearEnds(q, at[0], at[1], at[2]), sources, values);
        else
          Of::at(q, at[0], at[1], at[2], FromArrays{q, from + s * step_along_last(q.read_size) + x}, sources, values);
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
  Scalar        entries[count], *arrays[count];
  SHELLAC_EACH for (int n = 0; n < count; n++) arrays[n] = out[r * slots_of_row + first + n]; // before any store
  entries_of<Row, r>(q, Seeds<first, count>(), i, j, k, FromArrays{q, place_read(q, i, j, k)}, entries);
  const Index to = place_written(q, i, j, k);
  SHELLAC_EACH for (int n = 0; n < count; n++) arrays[n][to] = entries[n];
  if constexpr (count < left)
    entries_of_point<Row, r, first + count>(q, i, j, k, out);
  else if constexpr (r + 1 < unknowns)
    entries_of_point<Row, r + 1, 0>(q, i, j, k, out);
}

// ---- at the ends of the domain -------------------------------------------------------------------------------------

// Of the first blocks, which go through all of these points.
template <class Function> inline void for_points_at_ends(const Work &work, unsigned block, const Function &f) {
  const unsigned threads = work.blocks_at_ends * threads_of_block;
  unsigned       n = block * threads_of_block + threadIdx.y * blockDim.x + threadIdx.x;
  SHELLAC_ROLLED for (int b = 0; b < work.regions_at_ends; b++) {
    const Region  &region = work.at_ends[b];
    const unsigned points = (unsigned)region.points();
    const unsigned nx = (unsigned)(region.end[0] - region.start[0]), ny = (unsigned)(region.end[1] - region.start[1]);
    SHELLAC_ROLLED for (; n < points; n += threads)
        f(region.start[0] + n % nx, region.start[1] + n / nx % ny, region.start[2] + n / nx / ny);
    n -= points;
  }
}

// The values around a point near ends. For each axis and step is found where the value is and which factor the
// boundary's rule has; then all values are loaded at once, for the others a place that may be read. Arrays that are not
// placed for wide loads are read by it, too.
template <bool along_vector> struct WindowAtEnds {
  static constexpr bool at_ends = true, finds_neighbours = false;
  static constexpr bool fits = !imposes && !ends_of_state && !ends_of_velocity &&
                               arm_count * (unknowns * (along_vector ? 2 : 1) + field_count) * sizeof(Scalar) <= 512;
  Scalar u[unknowns][arm_count], along[along_vector ? unknowns : 1][arm_count], fields[field_count + 1][arm_count];

  WindowAtEnds(const Place &q, Index i, Index j, Index k) {
    const NearEnds near(q, i, j, k);
    const Index    at = place_read(q, i, j, k), strides[axes] = {1, q.read_size[0], q.read_size[0] * q.read_size[1]},
                p[axes] = {i, j, k};
    Index in_field[axes][steps_along] = {};
    bool  leaves[axes][steps_along] = {};
    SHELLAC_EACH for (int a = 0; a < dim; a++) SHELLAC_EACH for (int d = -width; d <= width; d++) if (d) {
      leaves[a][d + width] = near.leaves(a, d);
      in_field[a][d + width] = near.inside(a, d) * strides[a];
    }
    if (field_count > 0)
      each_arm([&](int dx, int dy, int dz, int n) {
        SHELLAC_EACH for (int f = 0; f < field_count; f++) fields[f][n] = q.fields[f][at + sum(in_field, dx, dy, dz)];
      });
    Real factor[unknowns][axes][steps_along];
    SHELLAC_EACH for (int c = 0; c < unknowns; c++) {
      Index step[axes][steps_along] = {};
      SHELLAC_EACH for (int a = 0; a < axes; a++) SHELLAC_EACH for (int d = -width; d <= width; d++) {
        Real  &f = factor[c][a][d + width];
        Index &there = step[a][d + width];
        f = 1, there = in_field[a][d + width];
        if (d == 0 || !leaves[a][d + width]) continue;
        const Fold &rule = near.fold(c, a, d);
        f = rule.factor;
        if (f != 0) there = (rule.inside - p[a]) * strides[a]; // else it may lead nowhere
      }
      each_arm([&](int dx, int dy, int dz, int n) {
        const Index there = (at + sum(step, dx, dy, dz)) * unknowns + c;
        u[c][n] = q.u[there];
        if (along_vector) along[c][n] = q.direction[there];
      });
    }
    each_arm([&](int dx, int dy, int dz, int n) {
      const bool any = leaves[0][dx + width] || leaves[1][dy + width] || leaves[2][dz + width];
      SHELLAC_EACH for (int c = 0; c < unknowns; c++) {
        const Real   f = factor[c][0][dx + width] * factor[c][1][dy + width] * factor[c][2][dz + width];
        const Scalar given = has_data && any ? plain(near.datum(c, dx, dy, dz)) : Scalar(0);
        u[c][n] = f == 0 ? given : given + f * u[c][n]; // its place may hold infinity
        if (along_vector) along[c][n] = f == 0 ? Scalar(0) : f * along[c][n];
      }
    });
  }
  Scalar unknown(int c, int dx, int dy, int dz) const { return u[c][arm_of(dx, dy, dz)]; }
  Scalar direction(int c, int dx, int dy, int dz) const { return along[c][arm_of(dx, dy, dz)]; }
  Scalar field(int f, int dx, int dy, int dz) const { return fields[f][arm_of(dx, dy, dz)]; }

private:
  static Index sum(const Index (&steps)[axes][steps_along], int dx, int dy, int dz) {
    return steps[0][dx + width] + steps[1][dy + width] + steps[2][dz + width];
  }
  template <class Function> static void each_arm(const Function &f) {
    constexpr int y = dim > 1 ? width : 0, z = dim > 2 ? width : 0;
    SHELLAC_EACH for (int dz = -z; dz <= z; dz++) SHELLAC_EACH for (int dy = -y; dy <= y; dy++)
        SHELLAC_EACH for (int dx = -width; dx <= width; dx++) if (in_stencil(dx, dy, dz))
            f(dx, dy, dz, arm_of(dx, dy, dz));
  }
};

template <class Of> inline void at_ends(const Place &q, const Work &work, unsigned block, Scalar *out) {
  for_points_at_ends(work, block, [&](Index i, Index j, Index k) {
    const Index to = place_written(q, i, j, k);
    Scalar      sources[unknowns];
    sources_at(q, to, sources);
    if constexpr (steps_are_known && Of::is_often && WindowAtEnds<Of::along_vector>::fits) {
      Scalar values[unknowns];
      Of::at(q, i, j, k, WindowAtEnds<Of::along_vector>(q, i, j, k), sources, values);
      SHELLAC_EACH for (int r = 0; r < unknowns; r++) out[to * unknowns + r] = values[r];
    } else
      Of::at(q, i, j, k, NearEnds(q, i, j, k), sources, out + to * Of::numbers);
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
template <class Row> inline void entries(const Place &q, const Work &work, Scalar *const *out) {
  const unsigned at_ends = work.blocks_at_ends * unknowns * slots_of_row;
  if (blockIdx.x < at_ends) {
    const int slot = blockIdx.x / work.blocks_at_ends;
    for_points_at_ends(work, blockIdx.x % work.blocks_at_ends, [&](Index i, Index j, Index k) {
      entry_at_end<Row>(q, slot / slots_of_row, slot % slots_of_row, i, j, k, out);
    });
  } else
    for_points_of_thread<1, 1>(work, blockIdx.x - at_ends, [&](Index i, Index j, Index k) {
      if constexpr (few_entries)
        entries_of_point<Row>(q, i, j, k, out);
      else
        entries_by_loop<Row>(q, i, j, k, FromArrays{q, place_read(q, i, j, k)}, place_written(q, i, j, k), out);
    });
}

} // namespace equation
} // namespace shellac
