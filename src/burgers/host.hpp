#pragma once
// The loops on the host. What depends on the reconstruction, and what depends on the flux, works on rows of cells and is
// compiled once for each, also for dual numbers; host.cpp puts them together.

#include "burgers/lanes.hpp"
#include "burgers/operations.hpp"
#include "device/stream.hpp"

namespace shellac {

constexpr PetscInt host_chunk = 1024; // cells, of several steps with their halos
constexpr PetscInt most_cells = 2 * host_chunk + 2 * 64; // of a row

// The data of the rates of a row of cells in 2-D.
template <class T> struct PlaneRows {
  const T *u[2][3];    // [component][row below, here, above]
  const T *x[2][2];    // [component][lower, upper]: edges along the row, from the cell before it
  const T *y[2][3][2]; // [component][row][lower, upper]: edges across it
};

// A scheme for rows of n values of the type T.
template <class T> struct RowScheme {
  // The values at both faces of cells, from rows[0 .. 2 radius], which lie one above the other, or are one row from each of
  // its first cells on; null where they are the averages.
  void (*edges)(const T *const *rows, PetscInt n, T *lower, T *upper);
  // The rates of cells u: `below` and `above` are the values on both sides of the face below each cell.
  void (*line)(const Coefficients<PetscReal> &at, const T *below, const T *above, const T *u, PetscInt n, T *rate);
  // The same of both components in 2-D; null for a scheme that has no 2-D.
  void (*plane)(const Coefficients<PetscReal> at[2], const PlaneRows<T> &rows, PetscInt n, T *u_rate, T *v_rate);
};

struct HostScheme {
  int                        edge_radius = 0; // cells on each side that a cell's edges depend on
  RowScheme<PetscReal>       rates = {};
  RowScheme<Dual<PetscReal>> derivatives = {};
  StepsInLanes              *lanes = nullptr; // null where steps are taken row by row
  int                        radius() const { return edge_radius + 1; }
};

// The radius and the edges of a reconstruction.
HostScheme with_edges_of(Reconstruction reconstruction);

template <class Faces, class T>
SHELLAC_WIDEST __attribute__((flatten)) void line_rates(const Coefficients<PetscReal> &at, const T *below,
                                                        const T *above, const T *u, PetscInt n, T *rate) {
  const Faces scheme(at);
  if constexpr (!Faces::has_faces) {
    SHELLAC_COLUMNS
    for (PetscInt i = 0; i < n; i++) rate[i] = scheme.rate(u[i - 1], u[i + 1]);
  } else {
    T face[most_cells + 1]; // below cell i
    if (scheme.at.nu2_h != 0) {
      SHELLAC_COLUMNS
      for (PetscInt i = 0; i <= n; i++) face[i] = face_flux(scheme, true, below[i], above[i], u[i - 1], u[i]);
    } else {
      SHELLAC_COLUMNS
      for (PetscInt i = 0; i <= n; i++) face[i] = face_flux(scheme, false, below[i], above[i], u[i - 1], u[i]);
    }
    SHELLAC_COLUMNS
    for (PetscInt i = 0; i < n; i++) rate[i] = scheme.rate(face[i], face[i + 1]);
  }
}

template <bool viscous, class Faces, class T>
SHELLAC_WIDEST __attribute__((flatten)) void plane_row_rates(Faces along, Faces across, const PlaneRows<T> &rows,
                                                             PetscInt n, T *u_rate, T *v_rate) {
  const PlaneRows<T> in = rows;
  if (!viscous) along.at.nu2_h = across.at.nu2_h = 0; // so that the compiler leaves the terms out

  SHELLAC_COLUMNS
  for (PetscInt i = 0; i < n; i++) {
    Edges<T> x[2][3], y[2][3];
    T        ux[2][3], uy[2][3];
    SHELLAC_UNROLL_ALL
    for (int c = 0; c < 2; c++) {
      SHELLAC_UNROLL_ALL
      for (int o = 0; o < 3; o++) {
        x[c][o] = {in.x[c][0][i + o - 1], in.x[c][1][i + o - 1]};
        y[c][o] = {in.y[c][o][0][i], in.y[c][o][1][i]};
        ux[c][o] = in.u[c][1][i + o - 1];
        uy[c][o] = in.u[c][o][i];
      }
    }
    u_rate[i] = rate_along(along, x[0], ux[0]) + rate_across(across, uy[1][1], y[0], uy[0]);
    v_rate[i] = rate_across(along, ux[0][1], x[1], ux[1]) + rate_along(across, y[1], uy[1]);
  }
}

template <class Faces, class T>
void plane_rates(const Coefficients<PetscReal> at[2], const PlaneRows<T> &rows, PetscInt n, T *u_rate, T *v_rate) {
  const Faces along(at[0]), across(at[1]);
  const bool  viscous = !std::is_same_v<T, PetscReal> || along.at.nu2_h != 0 || across.at.nu2_h != 0;
  const auto  rates = viscous ? plane_row_rates<true, Faces, T> : plane_row_rates<false, Faces, T>;
  rates(along, across, rows, n, u_rate, v_rate);
}

template <class Faces> HostScheme make_host_scheme(Reconstruction reconstruction) {
  HostScheme scheme = with_edges_of(reconstruction);
  scheme.rates.line = line_rates<Faces, PetscReal>;
  scheme.derivatives.line = line_rates<Faces, Dual<PetscReal>>;
  if constexpr (Faces::has_faces) {
    scheme.rates.plane = plane_rates<Faces, PetscReal>;
    scheme.derivatives.plane = plane_rates<Faces, Dual<PetscReal>>;
#if SHELLAC_LANES
    if (reconstruction == Reconstruction::constant) scheme.lanes = steps_in_lanes<Faces>;
#endif
  }
  return scheme;
}

// du/dt of a line's cells; extremes, where not null, are raised to those of the cells.
void rates_on_host(const HostScheme &scheme, const Coefficients<PetscReal> &at, const Line<PetscReal> &line,
                   Extremes *extremes, PetscReal *rate);
void rates_2d_on_host(const HostScheme &scheme, const BurgersPatch &patch, const Field<PetscReal> &u,
                      const Stage &stage, Extremes *extremes, PetscReal *to);
void steps_on_host(const HostScheme &scheme, const Coefficients<PetscReal> &at, const Line<PetscReal> &line,
                   const Stages &stages, PetscReal dt, int steps, PetscReal *result);
// y = shift v + scale J(u) v, and a cell's rows of J.
void jacobian_on_host(const HostScheme &scheme, const BurgersPatch &patch, const Field<PetscReal> &u,
                      const Field<PetscReal> &v, PetscReal shift, PetscReal scale, PetscReal *y);
void jacobian_rows_on_host(const HostScheme &scheme, const BurgersPatch &patch, const Field<PetscReal> &u,
                           const PetscInt p[2], std::vector<JacobianEntry> *rows);

} // namespace shellac
