#include "equations/stretching.hpp"

#include <cmath>
#include <cstdlib>

namespace shellac {

double Stretching::operator()(double s) const {
  switch (form) {
  case geometric:
    return std::expm1(s * std::log(strength)) / std::expm1(std::log(strength));
  case tanh:
    return (1 + std::tanh(strength * (2 * s - 1)) / std::tanh(strength)) / 2;
  default:
    return s;
  }
}

std::string read_stretching(const std::string &form, const std::string &strength, Stretching *stretching) {
  char *end;
  stretching->strength = std::strtod(strength.c_str(), &end);
  const bool number = !strength.empty() && !*end;
  if ((form != "geometric" && form != "tanh") || !number)
    return "an axis is stretched by 'geometric' and the last spacing over the first one, or by 'tanh' and how the "
           "points crowd at both ends, as tanh, 2";
  const double most = form == "tanh" ? 15 : 1e6;
  if (!(stretching->strength >= 1e-6 && stretching->strength <= most))
    return "the strength " + strength + " is not possible; " + form + " needs one from 1e-6 to " +
           (form == "tanh" ? "15" : "1e6");
  stretching->form = form == "tanh" ? Stretching::tanh : Stretching::geometric;
  if (form == "geometric" && std::fabs(stretching->strength - 1) < 1e-12) stretching->form = Stretching::uniform;
  return "";
}

} // namespace shellac
