#pragma once
// Curves over x as PNG files: one colour for each, from dark to light.

#include "picture.hpp"

namespace picture {

struct Curve {
  std::string         name;
  std::vector<double> values; // over x evenly, the first at the lower end
};

inline Canvas draw_curves(const std::vector<Curve> &curves, double x_low, double x_high, const std::string &title) {
  const int gap = 10, tick = 6, top = 50, bottom = 60, width = 700, height = 400;
  double    low = INFINITY, high = -INFINITY;
  int       left = 0, right = 0;
  for (const Curve &curve : curves) {
    right = std::max(right, Canvas::text_width(curve.name));
    for (double value : curve.values)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  }
  if (!(low < high)) low = std::isfinite(low) ? low - 1 : -1, high = low + 2;
  const double margin = 0.05 * (high - low);
  const Scale  x = {x_low, x_high, width}, y = {low - margin, high + margin, height};
  for (double value : y.ticks()) left = std::max(left, Canvas::text_width(label(value)));
  left += 2 * gap + Canvas::text_width("u") + gap / 2 + tick;
  const int legend = left + width + 30, base = top + height - 1;
  Canvas canvas(std::max(legend + 30 + right + 2 * gap, left + Canvas::text_width(title) + gap), top + height + bottom);

  canvas.text(left, (top - Canvas::text_height) / 2, title);
  for (size_t c = 0; c < curves.size(); c++) {
    const Color  color = (Color)(curves.size() > 1 ? c * (levels - 40) / (curves.size() - 1) : 60);
    const auto  &values = curves[c].values;
    const double count = (double)values.size();
    int          last = 0;
    bool         drawn = false;
    for (int i = 0; i < width; i++) {
      // every value of a pixel's column, so that no peak is lost
      int lowest = height, highest = -1;
      for (size_t k = (size_t)(i * count / width);
           k < std::max((size_t)((i + 1) * count / width), (size_t)(i * count / width) + 1); k++) {
        if (!std::isfinite(values[k])) continue;
        lowest = std::min(lowest, y.at(values[k]));
        highest = std::max(highest, y.at(values[k]));
      }
      if (highest < 0) {
        drawn = false;
        continue;
      }
      const int from = drawn ? std::min(lowest, last) : lowest, to = drawn ? std::max(highest, last) : highest;
      canvas.fill(left + i, base - to, 1, to - from + 2, color);
      last = (lowest + highest) / 2;
      drawn = true;
    }
    canvas.fill(legend, top + 10 + (int)c * 24 + Canvas::text_height / 2 - 1, 20, 3, color);
    canvas.text(legend + 28, top + 10 + (int)c * 24, curves[c].name);
  }
  canvas.frame(left, top, width, height);
  for (double value : x.ticks()) {
    canvas.fill(left + x.at(value), base + 2, 1, tick, black);
    canvas.text(left + x.at(value) - Canvas::text_width(label(value)) / 2, base + 2 + tick + gap / 2, label(value));
  }
  for (double value : y.ticks()) {
    canvas.fill(left - 1 - tick, base - y.at(value), tick, 1, black);
    canvas.text(left - 1 - tick - gap / 2 - Canvas::text_width(label(value)),
                base - y.at(value) - Canvas::text_height / 2, label(value));
  }
  canvas.text(left + width / 2, base + 2 + tick + gap / 2 + 20, "x");
  canvas.text(gap, base - height / 2 - Canvas::text_height / 2, "u");
  return canvas;
}

} // namespace picture
