#pragma once
// How the points of an axis are placed, where a text or an option says so.

#include <string>

namespace shellac {

struct Stretching {
  enum Form { uniform, geometric, tanh };
  Form   form = uniform;
  double strength = 0; // geometric: the last spacing over the first one; tanh: how the points crowd at both ends, > 0

  // The unit interval mapped to itself.
  double operator()(double s) const;
};

// Reads "geometric" or "tanh" and its strength; what is wrong, or empty.
std::string read_stretching(const std::string &form, const std::string &strength, Stretching *stretching);

} // namespace shellac
