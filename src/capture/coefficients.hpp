#pragma once
// The coefficients of captured rows, in one of three forms; and a row times a grid function. Pure data, for host and
// device.

#include "device/runs.hpp"
#include "grid/patch.hpp"

namespace shellac {

enum class Storage {
  constant, // rows are classified by their place: far from the ends of the domain, or so many points from one
  indexed,  // a point has the index of its class
  arrays    // each slot has an array of coefficients
};

// From one class of rows to the next in a table: the rows of n values start at multiples of 16 bytes.
template <class T> SHELLAC_HD constexpr int table_stride(int n) {
  constexpr int pack = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  return (n + pack - 1) / pack * pack;
}

// Where a coefficient of a row stands in the grid function: the c-th value, this step away.
struct Slot {
  PetscInt step[3], c;
};

// Slots are numbered row by row of the block, arm by arm, and value by value at the arm's end.
SHELLAC_HD int slot_number(int arms, PetscInt dof, int arm, PetscInt r, PetscInt c) {
  return (int)((r * arms + arm) * dof + c);
}

// The coefficients of an operator that is open for changes, in one memory.
template <class T> struct OpenCoefficients {
  Patch       patch;
  int         arms, center; // how many; the one that leads nowhere
  const Slot *slots;        // where each leads
  T *const   *values;       // [slots][points]; null for a slot that is zero

  SHELLAC_HD int count() const { return (int)(arms * patch.dof * patch.dof); } // of slots
  SHELLAC_HD int slot(int arm, PetscInt r, PetscInt c) const { return slot_number(arms, patch.dof, arm, r, c); }
  // From a point to the one that an arm leads to, among the patch's.
  SHELLAC_HD ptrdiff_t distance(int arm) const {
    const PetscInt *d = slots[slot(arm, 0, 0)].step;
    return d[0] + (ptrdiff_t)patch.size[0] * (d[1] + (ptrdiff_t)patch.size[1] * d[2]);
  }
  // q: where an arm leads from p. Whether the domain has that point.
  SHELLAC_HD bool follow(int arm, const PetscInt p[3], PetscInt q[3]) const {
    for (int a = 0; a < 3; a++) q[a] = p[a] + slots[slot(arm, 0, 0)].step[a];
    return patch.in_domain(q);
  }
};

template <class T> struct CapturedCoefficients {
  Storage               storage;
  int                   count;    // of slots
  PetscInt              reach[3]; // longest step of a slot along each axis
  const Slot           *slot;     // [count], row by row
  const PetscInt64     *offset;   // [count]: from the first value at the point to the one that the slot meets
  const int            *first;    // [dof + 1]: of each row's slots
  const int            *used;     // [slots of the stencil]: the number among those in use; -1 for a zero
  const int            *diagonal; // [dof][dof]: the slot of row r and value c at the point itself; -1 for a zero
  const T              *table;    // constant, indexed: [classes][table_stride(count)]
  PetscInt              depth[3]; // constant: points from the ends of the domain that are in classes of their own
  const unsigned char  *index8;   // indexed: [points]; null for
  const unsigned short *index16;  // the other
  const T *const       *array;    // arrays: [count][points]

  SHELLAC_HD PetscInt place(const Patch &patch, int axis, PetscInt p) const {
    const PetscInt i = patch.start[axis] + p, N = patch.N[axis], D = depth[axis];
    return N <= 2 * D || i < D ? i : i >= N - D ? i - N + 2 * D + 1 : D;
  }
  SHELLAC_HD PetscInt places(const Patch &patch, int axis) const {
    return PetscMin(patch.N[axis], 2 * depth[axis] + 1);
  }
  // The coefficients of p's rows; null where they are in arrays.
  SHELLAC_HD const T *rows(const Patch &patch, const PetscInt p[3], size_t at) const {
    return storage == Storage::arrays ? nullptr : of_class(class_at(patch, p, at));
  }
  SHELLAC_HD size_t class_at(const Patch &patch, const PetscInt p[3], size_t at) const {
    return storage == Storage::constant ? class_of(patch, p) : index8 ? index8[at] : index16[at];
  }
  SHELLAC_HD size_t class_of(const Patch &patch, const PetscInt p[3]) const { // of places
    return place(patch, 0, p[0]) +
           (size_t)places(patch, 0) * (place(patch, 1, p[1]) + (size_t)places(patch, 1) * place(patch, 2, p[2]));
  }
  // How many of the n points from p on along the first axis are of its class of places.
  SHELLAC_HD int run_of_class(const Patch &patch, const PetscInt p[3], int n) const {
    const PetscInt N = patch.N[0], D = depth[0], left = N - D - patch.start[0] - p[0]; // to the end's first place
    return place(patch, 0, p[0]) == D && N > 2 * D ? (int)PetscMin(left, (PetscInt)n) : 1;
  }
  SHELLAC_HD const T *by_place(const Patch &patch, const PetscInt p[3]) const { // where they are constant
    return of_class(class_of(patch, p));
  }
  SHELLAC_HD const T *of_class(size_t number) const { return table + (size_t)table_stride<T>(count) * number; }
  SHELLAC_HD T        value(const T *rows, int s, size_t at) const { return rows ? rows[s] : array[s][at]; }
  // Of any slot of the stencil.
  SHELLAC_HD T entry(const T *rows, int slot, size_t at) const {
    return used[slot] < 0 ? T(0) : value(rows, used[slot], at);
  }
};

// Any row of any point. Arms that leave the domain are zero, and so is what Field::value() has there.
template <class T> struct CapturedRow {
  Patch                   patch;
  CapturedCoefficients<T> a;

  SHELLAC_HD T operator()(const Field<T> &u, const PetscInt p[3], PetscInt r, size_t at, const T *rows) const {
    const T *here = u.u + at * patch.dof;
    T        sum = 0;
    bool     inside = true;
    for (int axis = 0; axis < 3; axis++)
      inside = inside && p[axis] >= a.reach[axis] && p[axis] + a.reach[axis] < patch.size[axis];
    if (inside) {
      SHELLAC_UNROLL
      for (int s = a.first[r]; s < a.first[r + 1]; s++) sum += a.value(rows, s, at) * here[a.offset[s]];
      return sum;
    }
    SHELLAC_UNROLL
    for (int s = a.first[r]; s < a.first[r + 1]; s++) {
      const Slot &slot = a.slot[s];
      PetscInt    q[3];
      bool        on_patch = true;
      for (int axis = 0; axis < 3; axis++) {
        q[axis] = p[axis] + slot.step[axis];
        on_patch = on_patch && q[axis] >= 0 && q[axis] < patch.size[axis];
      }
      sum += a.value(rows, s, at) * (on_patch ? here[a.offset[s]] : u.value(patch, q, slot.c));
    }
    return sum;
  }
};

// A star of width 1 with the same coefficients at each point.
template <class T> struct ConstantStar {
  T center, arm[3][2]; // [axis][end]

  // The row of a point, by the values at the point and its neighbours.
  template <int dim> SHELLAC_HD T operator()(T value, const T (&beside)[dim][2]) const {
    T sum = center * value;
    SHELLAC_UNROLL_ALL
    for (int a = 0; a < dim; a++) sum += arm[a][LOWER] * beside[a][LOWER] + arm[a][UPPER] * beside[a][UPPER];
    return sum;
  }
  // The value at a point after a step of relaxation; factor: omega / diagonal
  template <int dim> SHELLAC_HD T relax(T value, const T (&beside)[dim][2], T b, T factor) const {
    return value + factor * (b - operator()<dim>(value, beside));
  }
  // Of coefficients in the order of WholeStencil.
  SHELLAC_HD static ConstantStar of_row(const T *row, int dim) {
    ConstantStar star = {};
    star.center = row[dim];
    SHELLAC_UNROLL_ALL
    for (int a = 0; a < 3; a++)
      for (int e = 0; e < 2; e++)
        if (a < dim) star.arm[a][e] = row[e == LOWER ? dim - 1 - a : dim + 1 + a];
    return star;
  }
};

// Ends of the first axis where rows are those of a constant star, with so much more on the diagonal and no arm beyond.
template <class T> struct StarEnds {
  PetscInt last[2] = {-1, -1}; // the points there: [side]; -1: their rows are others
  T        at_end[2] = {};
};

// What the diagonal of a row at the ends of the domain has more than that of an inner point, in 3-D: [z][y][x], by the place
// in the patch along each axis. 0 beside a neighbouring patch.
template <class T> struct EndDiagonal {
  T added[3][3][3] = {};

  // 0 at the lower end, 1 between the ends, 2 at the upper end of n points.
  SHELLAC_HD static int place(PetscInt i, PetscInt n) { return i == 0 ? 0 : i == n - 1 ? 2 : 1; }
  SHELLAC_HD T          at(const PetscInt p[3], const PetscInt n[3]) const {
             return added[place(p[2], n[2])][place(p[1], n[1])][place(p[0], n[0])];
  }
};

// The same, where it is a sum of what each end adds: the kernel of stars is faster so.
template <class T> struct StarDiagonal {
  T at_end[3][2] = {};
};

} // namespace shellac
