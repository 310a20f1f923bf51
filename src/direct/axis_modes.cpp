#include "direct/axis_modes.hpp"

#include <algorithm>

namespace shellac {

std::string FourierAxis::name() const {
  if (periodic) return "DFT";
  const bool        node = twice[0] != 1, alike = node == (twice[1] != 1);
  const int         type = (alike ? 0 : 4) + (half() ? 2 : 0) + (node ? 0 : 1); // as in that paper
  const char *const numbers[] = {"I", "II", "III", "IV", "V", "VI", "VII", "VIII"};
  return std::string(odd[0] ? "DST-" : "DCT-") + numbers[type];
}

// The axis' points that are not fixed, and the ends that its rows have.
void AxisModes::Recognise(const Axis &whole, PetscReal tiny) {
  constexpr PetscReal slack = 16 * PETSC_MACHINE_EPSILON;
  struct End {
    bool      odd;
    int       twice;
    PetscReal mass, edge; // relative to those inside
  } const ends[] = {{true, 2, 1, 1}, {true, 1, 1, 2}, {false, 1, 1, 0}, {false, 0, 0.5, 0}};

  first = whole.fixed ? 1 : 0;
  n = PetscMax(whole.N() - 2 * first, 0);
  axis.periodic = whole.periodic;
  axis.mass.assign(whole.mass.begin() + first, whole.mass.begin() + first + n);
  axis.edge.assign(whole.edge.begin() + first, whole.edge.begin() + first + n + 1);
  way = n > 1 ? Way::dense : Way::none;
  has_fourier = false;
  fourier.n = n;
  fourier.periodic = axis.periodic;
  if (n < 2) return;
  const auto is = [&](const End &lower, const End &upper) {
    const PetscReal edge = axis.edge[n / 2], mass = axis.mass[n / 2] / (n / 2 == n - 1 ? upper.mass : 1);
    bool            same = edge != 0;
    for (PetscInt i = 0; i < n; i++) {
      const PetscReal expected = mass * (i == 0 ? lower.mass : 1) * (i == n - 1 ? upper.mass : 1);
      same = same && PetscAbsReal(axis.mass[i] - expected) <= slack * expected;
    }
    for (PetscInt i = 0; i <= n; i++) {
      const bool      end = !axis.periodic && (i == 0 || i == n);
      const PetscReal expected = edge * (!end ? 1 : i == 0 ? lower.edge : upper.edge);
      same = same && PetscAbsReal(axis.edge[i] - expected) <= slack * PetscAbsReal(edge) + (end ? tiny * mass : 0);
    }
    return same;
  };
  for (const End &lower : ends)
    for (const End &upper : ends) {
      if (has_fourier || !is(lower, upper)) continue;
      has_fourier = true;
      fourier.odd[0] = lower.odd, fourier.odd[1] = upper.odd;
      fourier.twice[0] = lower.twice, fourier.twice[1] = upper.twice;
    }
  fourier.set_length();
}

bool AxisModes::is_stretched() const {
  PetscReal least = PETSC_MAX_REAL, most = 0;
  for (PetscInt i = 1; i < n; i++) {
    const PetscReal coupling = PetscAbsReal(axis.edge[i] / axis.mass[i]);
    least = PetscMin(least, coupling), most = PetscMax(most, coupling);
  }
  return most > 2 * least;
}

PetscReal AxisModes::coupling() const {
  const PetscInt i = n / 2;
  return axis.edge[i] / (i == n - 1 && !axis.periodic && fourier.twice[1] == 0 ? 2 * axis.mass[i] : axis.mass[i]);
}

PetscErrorCode AxisModes::Decompose() {
  Modes modes;

  PetscFunctionBegin;
  values.clear();
  forward.clear();
  back.clear();
  switch (way) {
  case Way::none:
    if (n == 1) values.push_back((axis.edge[0] + axis.edge[1]) / axis.mass[0]);
    break;
  case Way::fourier:
    for (PetscInt k = 0; k < n; k++) values.push_back(4 * coupling() * fourier.sine2(k));
    break;
  case Way::dense:
    PetscCall(get_modes(axis, &modes));
    values = std::move(modes.values);
    forward = std::move(modes.inverse);
    back = std::move(modes.vectors);
    break;
  case Way::tridiagonal:
    values.assign((size_t)n, 0);
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string AxisModes::text() const {
  std::string text = std::to_string(n) + (n == 1 ? " point" : " points");
  if (way == Way::fourier)
    text += ": " + fourier.name() + ", transforms of length " + std::to_string(fourier.length);
  else if (way == Way::dense)
    text += ": products with its eigenvectors";
  else if (way == Way::tridiagonal)
    text += ": tridiagonal systems";
  return text;
}

} // namespace shellac
