#include "burgers/point.hpp"

namespace shellac {

// given: whether values beyond an end are the given ones of the state; otherwise they are zero, like their derivatives.
template <int dim, int radius>
static inline void load_cross(const BurgersPatch &patch, const Field<PetscReal> &field, const PetscInt p[2], bool given,
                              Cross *cross) {
  const PetscReal *here = field.u + patch.patch.index(p[0], p[1], 0) * dim;
  for (int a = 0; a < dim; a++) {
    const PetscInt64 stride = (PetscInt64)(a ? patch.patch.size[0] : 1) * dim;
    if (p[a] >= radius && p[a] + radius < patch.patch.size[a]) {
      for (int o = -radius; o <= radius; o++)
        for (int c = 0; c < dim; c++) cross->value[a][c][o + radius] = here[o * stride + c];
      continue;
    }
    for (int o = -radius; o <= radius; o++) {
      PetscInt   q[3];
      const bool found = find_cell(patch, p, a, o, q);
      for (int c = 0; c < dim; c++)
        cross->value[a][c][o + radius] = found   ? field.value(patch.patch, q, c)
                                         : given ? patch.beyond[c][a][o < 0 ? 0 : 1]
                                                 : 0;
    }
  }
}

template <int dim, int radius>
static void jacobian_loop(const BurgersPatch &patch, DifferentiatePoint *differentiate, const Field<PetscReal> &u,
                          const Field<PetscReal> &v, PetscReal shift, PetscReal scale, PetscReal *y) {
  Cross     state, direction;
  PetscReal derivative[2];
  for (PetscInt j = 0; j < patch.patch.size[1]; j++)
    for (PetscInt i = 0; i < patch.patch.size[0]; i++) {
      const PetscInt p[2] = {i, j};
      const size_t   at = patch.patch.index(i, j, 0) * dim;
      load_cross<dim, radius>(patch, u, p, true, &state);
      load_cross<dim, radius>(patch, v, p, false, &direction);
      differentiate(patch, p, state, direction, derivative);
      for (int c = 0; c < dim; c++) y[at + c] = shift * v.u[at + c] + scale * derivative[c];
    }
}

void jacobian_on_host(const BurgersPatch &patch, int radius, DifferentiatePoint *differentiate,
                      const Field<PetscReal> &u, const Field<PetscReal> &v, PetscReal shift, PetscReal scale,
                      PetscReal *y) {
  static_assert(longest_arm == 3, "a loop for each radius");
  const auto loop = patch.dim == 1 ? (radius == 1   ? jacobian_loop<1, 1>
                                      : radius == 2 ? jacobian_loop<1, 2>
                                                    : jacobian_loop<1, 3>)
                                   : (radius == 1   ? jacobian_loop<2, 1>
                                      : radius == 2 ? jacobian_loop<2, 2>
                                                    : jacobian_loop<2, 3>);
  loop(patch, differentiate, u, v, shift, scale, y);
}

void jacobian_row_on_host(const BurgersPatch &patch, int radius, DifferentiatePoint *differentiate,
                          const Field<PetscReal> &u, const PetscInt p[2], PetscInt c, std::vector<JacobianEntry> *row) {
  Cross     state, direction;
  PetscReal derivative[2];
  int       cells = 0, cell_at[2][2 * longest_arm + 1]; // [axis][offset + radius]: several places may share a cell
  PetscInt  q[3];
  row->clear();
  for (int a = 0; a < patch.dim; a++)
    for (PetscInt o = -radius; o <= radius; o++) {
      int &cell = cell_at[a][o + radius];
      cell = -1;
      if (!find_cell(patch, p, a, o, q)) continue;
      for (int k = 0; k < cells; k++) {
        const JacobianEntry &entry = (*row)[(size_t)k * patch.dim];
        if (entry.p[0] == q[0] && entry.p[1] == q[1]) cell = k;
      }
      if (cell >= 0) continue;
      cell = cells++;
      for (PetscInt component = 0; component < patch.dim; component++) row->push_back({{q[0], q[1]}, component, 0});
    }
  for (int a = 0; a < patch.dim; a++)
    for (PetscInt o = -radius; o <= radius; o++)
      for (int component = 0; component < patch.dim; component++)
        state.value[a][component][o + radius] = find_cell(patch, p, a, o, q)
                                                    ? u.value(patch.patch, q, component)
                                                    : patch.beyond[component][a][o < 0 ? 0 : 1];
  for (size_t e = 0; e < row->size(); e++) {
    JacobianEntry &entry = (*row)[e];
    for (int a = 0; a < patch.dim; a++)
      for (int k = 0; k < 2 * radius + 1; k++)
        for (int component = 0; component < patch.dim; component++)
          direction.value[a][component][k] = cell_at[a][k] == (int)e / patch.dim && component == entry.c ? 1 : 0;
    differentiate(patch, p, state, direction, derivative);
    entry.value = derivative[c];
  }
}

} // namespace shellac
