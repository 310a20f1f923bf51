// Plain data that the library and a compiled equation share. Without includes, for every compiler that compiles equations.

#ifndef SHELLAC_EQUATION_INTERFACE
#define SHELLAC_EQUATION_INTERFACE

namespace shellac {
namespace equation {

using Real = double;
#if defined(PETSC_USE_COMPLEX)
template <class R> struct Complex; // numbers.hpp
template <class R> using ScalarOf = Complex<R>;
#else
template <class R> using ScalarOf = R;
#endif
using Scalar = ScalarOf<Real>; // as PETSc's
using Index = long long;

enum { sides = 2, axes = 3 };

// What stands for the value so many steps beyond an end: factor times the value at the point `inside`, plus given times
// the boundary's datum.
struct Fold {
  Index inside;
  Real  factor, given;
};

// Where a function is computed: plain numbers, and arrays in the memory where it runs. Points have their indices on the
// whole grid.
struct PlaceNumbers {
  Index       N[axes];
  Index       periodic[axes];           // 0 or 1
  Real        h[axes], inverse_h[axes]; // spacing [length], and its reciprocal
  Real        origin[axes];             // coordinate of the point 0 [length]
  const Real *stretched[axes];          // tables of a stretched grid along each axis: see AxisTable
  Real        end[axes][sides];         // coordinates of the domain's ends [length]
  Real        time;
  Index read_start[axes], read_size[axes];   // of u and of the fields: with ghost points, where ranks have neighbours
  Index write_start[axes], write_size[axes]; // of the source, and of the arrays that are written
  const Scalar *u;                           // [points read][unknowns]
  const Scalar *source;                      // [points written][unknowns], is added to the values; null: zero
  const Scalar *direction;                   // [points read][unknowns], of the Jacobian's action
  Index                parameter, field;            // by which is derived; -1: none
  Index                gives; // where u is given, rows of a rate have the derivative of what is given; otherwise zero
  const Fold          *fold_changes;                // as folds: the rules' derivatives by the parameter
  const Scalar *const *field_directions;            // [fields][points read]: the fields' derivatives; null: zero
  Real          row_scale;                   // a factor of all rows
  Real          inverse_measure;             // of the domain [1/length^dim]
  int          *arm; // on the host: a neighbour that is read beyond the stencil: 1, its steps, its number: see ArmProblem()
};

// What a stretched grid's tables have for each point of an axis, from the point -width to N - 1 + width: first all of the
// first kind. A cell's faces are in the middle between points.
enum AxisTable { coordinates, inverse_steps, inverse_cells, axis_tables }; // inverse_steps: to the next point

// The same with its tables. A kernel's argument has them by value, so that they are in a GPU's constant memory.
struct Place : PlaceNumbers {
#if defined(__CUDACC_RTC__)
  const Scalar *fields[field_count + 1];
  Real          parameters[parameter_count + 1];
  Scalar        integrals[integral_numbers + 1];
  Real          given_scale[unknowns];
  Fold          folds[unknowns * axes * sides * width];
  unsigned char identity[unknowns * axes * sides];
#else
  const Scalar *const *fields; // [fields][points read]
  const Real          *parameters;
  const Scalar *integrals; // [integral_numbers]: of the text; their derivatives along the direction, if there is one
  const Real          *given_scale; // [unknown]: of the rows where u is given, which makes them as large as the others
  const Fold          *folds;       // [unknown][axis][side][steps - 1]
  const unsigned char *identity;    // [unknown][axis][side]: the last point is on the end, where u is given
#endif
};

// Points from start to end, exclusive.
struct Region {
  Index start[axes], end[axes];
  Index ends; // their neighbours may be beyond an end of the domain: 0 or 1

  Index points() const { return (end[0] - start[0]) * (end[1] - start[1]) * (end[2] - start[2]); }
};

// Threads of a block on a GPU, along the first and the second axis.
constexpr int threads_of_block = 128;
constexpr int threads_along(int dim, int axis) {
  return dim < 3 ? (axis ? 1 : 128) : axis == 0 ? 32 : axis == 1 ? 4 : 1;
}
// Whether all loads at points of that size may be wide ones.
constexpr int  bytes_of_load = 16;
constexpr bool whole_loads(int bytes_of_point) {
  return bytes_of_point % bytes_of_load == 0;
}

// How many points a thread reads that computes some: at_once along the last axis of a grid of several axes, of so many
// columns beside each other along the first one. In boxes corners too.
constexpr int values_around(int dim, int width, bool box, int at_once, int columns) {
  const int row = columns + 2 * width, across = 2 * width + 1, tall = at_once + 2 * width;
  if (dim == 1) return tall;
  if (box) return row * tall * (dim == 3 ? across : 1);
  return at_once * row + 2 * width * columns * (1 + (dim == 3 ? at_once : 0));
}
// All loads of a thread come before its arithmetic if it reads no more numbers than this, which fit into 168 registers.
// Many bytes are then in flight, also with few threads. For boxes in 3-D it is better to sum values as they arrive.
constexpr int most_loaded_first = 72;

constexpr int most_regions_at_ends = 7;

// What a kernel computes: the first blocks points whose neighbours may be beyond an end, for each slot that is computed; the
// others a region inside. These are in one row, along the first axis first, which has room for a grid of any shape.
struct Work {
  Region   at_ends[most_regions_at_ends], inside;
  int      regions_at_ends;
  unsigned blocks_at_ends; // for a slot
  unsigned blocks[axes];   // of the region inside, along each axis
  unsigned inverse[axes];  // of their numbers, times 2^32: see quotient()
  Index    first;          // point of the first thread, along the first axis: so that a warp's loads start with a line
};

#if !defined(__CUDACC_RTC__)
using VectorFunction = void (*)(const Place *, const Region *, Scalar *out);         // out: [points][unknowns]
using EntriesFunction = void (*)(const Place *, const Region *, Scalar *const *out); // out: [row][arm][unknown][points]

// The functions of an equation; null for those that its text does not give.
struct Functions {
  VectorFunction  values;                                               // the residual, or the rate
  EntriesFunction entries;                                              // its derivatives
  VectorFunction  initial, exact;                                       // states
  VectorFunction  source;                                               // what makes the exact solution one
  VectorFunction  impose;                                               // out becomes what is given on ends
  void (*field)(const Place *, const Region *, int field, Scalar *out); // out: [points]
  void (*robin)(const Place *, Real *alpha);                            // alpha: [unknown][axis][side]
  VectorFunction product; // as in ActionFunctions; null where no constants can be in the Jacobian's null space
  VectorFunction integrands; // out: [points][integral_numbers], as Place::integrals
  int            integral_numbers;
};

// The Jacobian's action on place->direction; its diagonal. out: [points][unknowns]
struct ActionFunctions {
  VectorFunction product, diagonal;
};

// Derivatives by the data: along a parameter, or a direction of the fields; and for a field the transposed product with
// place->direction, [points written][unknowns], which is added to out, [points read]; likewise of what integrals are of.
struct SensitivityFunctions {
  VectorFunction product, transposed, transposed_integrands;
  VectorFunction integrands;                                            // as in Functions
  void (*field)(const Place *, const Region *, int field, Scalar *out); // of its formula, by the parameter
  void (*robin)(const Place *, Real *alpha);                            // likewise
};
#endif

} // namespace equation
} // namespace shellac

#endif
