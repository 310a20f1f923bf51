#pragma once
// The stretching of an axis that a text or an option gives.

#include <string>

namespace shellac {

struct Stretching {
  enum Form { uniform, geometric, tanh };
  Form   form = uniform;
  double strength = 0; // geometric: the last spacing over the first one; tanh: how the points crowd at both ends, > 0

  // The unit interval mapped to itself.
  double operator()(double s) const;
};

// Reads "geometric" or "tanh" and its strength; returns the error, or an empty string.
std::string read_stretching(const std::string &form, const std::string &strength, Stretching *stretching);

} // namespace shellac
