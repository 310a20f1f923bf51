// What the library and a compiled equation share: plain data. Without includes, for every compiler that compiles equations.

namespace shellac {
namespace equation {

using Real = double;
using Index = long long;

enum { sides = 2, axes = 3 };

// What stands for the value so many steps beyond an end: factor times the value at the point `inside`, plus given times
// the boundary's datum.
struct Fold {
  Index inside;
  Real  factor, given;
};

// Where a function is computed. Points have their indices on the whole grid.
struct Place {
  Index                N[axes];
  bool                 periodic[axes];
  Real                 h[axes], origin[axes]; // spacing; coordinate of the point 0 [length]
  Real                 end[axes][sides];      // coordinates of the domain's ends [length]
  Real                 time;
  const Real          *parameters;
  Index                ghost_start[axes], ghost_size[axes]; // of u and of the fields
  const Real          *u;                                   // [points][unknowns]
  const Real *const   *fields;                              // [fields][points]
  const Fold          *folds;                               // [unknown][axis][side][steps - 1]
  const unsigned char *identity;    // [unknown][axis][side]: the last point is on the end, where u is given
  const Real          *given_scale; // [unknown]: of the rows that say so, which makes them as large as the others
  Index                out_start[axes], out_size[axes]; // of the arrays that are written
  Real                 step;   // of the differences that a manufactured source is made of, of the length of the domain
  int                  arm[5]; // a neighbour beyond the stencil was read: 1, its steps, its unknown; else 0
};

// Points from start to end, exclusive.
struct Region {
  Index start[axes], end[axes];
  bool  ends; // their neighbours may be beyond an end of the domain
};

using VectorFunction = void (*)(Place *, const Region *, Real *out);         // out: [points][unknowns]
using EntriesFunction = void (*)(Place *, const Region *, Real *const *out); // out: [row][arm][unknown][points]

// The functions of an equation; null for those that its text does not give.
struct Functions {
  VectorFunction  values;                                             // the residual, or the rate
  EntriesFunction entries;                                            // its derivatives
  VectorFunction  initial, exact;                                     // states
  VectorFunction  source;                                             // what makes the exact solution one
  void (*field)(const Place *, const Region *, int field, Real *out); // out: [points]
  void (*robin)(const Place *, Real *alpha);                          // alpha: [unknown][axis][side]
};

} // namespace equation
} // namespace shellac
