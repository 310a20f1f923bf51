// Panels drawn by Cairo: axes, ticks, colours, curves, legends.

#include "picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace picture {

// ---- labels and ticks ----------------------------------------------------------------------------------------------

// The power of ten that labels of numbers up to this size are divided by.
static int common_power(double largest) {
  const int power = largest > 0 ? (int)std::floor(std::log10(largest) + 1e-9) : 0;
  return power >= 4 || power <= -3 ? power : 0;
}

static std::string format(double value, int power, int decimals) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", std::min(decimals, 12), value / std::pow(10, power));
  return text[0] == '-' ? std::string("−") + (text + 1) : text;
}

static std::string power_of_ten(int power) {
  static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (power == 0) return "";
  std::string text = power < 0 ? "×10⁻" : "×10";
  for (char digit : std::to_string(std::abs(power))) text += digits[digit - '0'];
  return text;
}

std::string label(double value) {
  const int power = common_power(std::fabs(value));
  int       decimals = 0;
  for (double scaled = std::fabs(value) / std::pow(10, power); decimals < 3; decimals++, scaled *= 10)
    if (std::fabs(scaled - std::round(scaled)) <= 1e-3 * scaled) break;
  return format(value, power, decimals) + power_of_ten(power);
}

Range inner_range(std::vector<double> values, double fraction) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); }),
               values.end());
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t beyond = (size_t)(fraction * (double)values.size());
  return {values[beyond], values[values.size() - 1 - beyond]};
}

} // namespace picture

#if !defined(PICTURE_CAIRO)
bool picture::draw(const std::vector<Panel> &, int, const std::string &, const std::string &) {
  return false;
}
#else

#include <cairo-pdf.h>
#include <cairo-svg.h>

namespace picture {

using Color = std::array<double, 3>;

struct Tick {
  double      value;
  std::string text;
};

// At most `count` steps of 1, 2 or 5 times a power of ten.
static std::vector<Tick> ticks(Range range, int count, std::string *factor) {
  const double      wanted = (range.high - range.low) / count, power = std::pow(10, std::floor(std::log10(wanted)));
  const double      step = power * (wanted <= power ? 1 : wanted <= 2 * power ? 2 : wanted <= 5 * power ? 5 : 10);
  const int         common = common_power(std::max(std::fabs(range.low), std::fabs(range.high)));
  const int         decimals = std::max(0, common - (int)std::floor(std::log10(step) + 1e-9));
  std::vector<Tick> result;
  *factor = power_of_ten(common);
  for (double k = std::ceil(range.low / step - 1e-6); k * step <= range.high + 1e-6 * step; k++)
    result.push_back({k * step, format(k == 0 ? 0 : k * step, common, decimals)});
  return result;
}

// ---- colours -------------------------------------------------------------------------------------------------------

// t in [0, 1]. Sequential: viridis (S. van der Walt and N. Smith, matplotlib, 2015), even in lightness. Diverging:
// ColorBrewer's RdBu (C. Brewer, 2003), white in the middle. Straight lines between these colours.
static Color color_at(double t, bool diverging) {
  static const std::vector<std::uint32_t> maps[] = {
      {0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c, 0xfde725},
      {0x053061, 0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b, 0x67001f}};
  const auto  &map = maps[diverging];
  const double at = std::min(std::max(t, 0.), 1.) * (double)(map.size() - 1);
  const size_t k = std::min((size_t)at, map.size() - 2);
  Color        color;
  for (int c = 0; c < 3; c++) {
    const int shift = 16 - 8 * c, low = map[k] >> shift & 255, high = map[k + 1] >> shift & 255;
    color[c] = (low + (at - (double)k) * (high - low)) / 255;
  }
  return color;
}

struct Scale { // from values to colours
  Range range;
  bool  diverging = false;

  Color operator()(double value) const {
    if (std::isinf(value)) return {0.9, 0.9, 0.9};  // where there is nothing
    if (std::isnan(value)) return {0.9, 0.1, 0.55}; // not a number: magenta
    return color_at((value - range.low) / (range.high - range.low), diverging);
  }
};

static Range widened(Range range) { // to a length that can be divided by
  if (range.empty()) return {0, 1};
  const double size = std::max(std::fabs(range.low), std::fabs(range.high));
  if (range.high - range.low > 1e-9 * size) return range;
  return {range.low - (size > 0 ? size / 2 : 1), range.high + (size > 0 ? size / 2 : 1)};
}

static Scale scale_of(const Panel &panel) {
  Scale scale{panel.values};
  if (scale.range.empty())
    for (double value : panel.field.values) scale.range.include(value);
  scale.range = widened(scale.range);
  if (scale.range.low > 0 && scale.range.low < 0.02 * scale.range.high) scale.range.low = 0;
  const double low = -scale.range.low, high = scale.range.high;
  if (std::min(low, high) > 0.05 * std::max(low, high)) // both signs: zero in the middle
    scale = {{-std::max(low, high), std::max(low, high)}, true};
  return scale;
}

// ---- drawing -------------------------------------------------------------------------------------------------------

static const double font = 24, gap = 12, tick_length = 7, bar_width = 30; // to be read in a talk

class Canvas {
public:
  explicit Canvas(cairo_surface_t *surface) : cr(cairo_create(surface)) {
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  }
  ~Canvas() { cairo_destroy(cr); }
  Canvas(const Canvas &) = delete;

  double width(const std::string &text, double size = font) const {
    cairo_text_extents_t extents;
    cairo_set_font_size(cr, size);
    cairo_text_extents(cr, text.c_str(), &extents);
    return extents.x_advance;
  }
  // (x, y): the point of the text that lies at the fractions (right, down) of its box; up: written upwards.
  void text(double x, double y, const std::string &text, double right, double down, double size = font,
            bool up = false) const {
    const double w = width(text, size), height = 0.74 * size; // of a capital letter
    cairo_save(cr);
    cairo_set_source_rgb(cr, 0.1, 0.1, 0.1);
    cairo_translate(cr, x, y);
    if (up) cairo_rotate(cr, -std::acos(-1.) / 2);
    cairo_move_to(cr, -right * w, (1 - down) * height);
    cairo_show_text(cr, text.c_str());
    cairo_restore(cr);
  }
  void stroke() const { // the path, as a thin dark line
    cairo_set_line_width(cr, 1);
    cairo_set_source_rgb(cr, 0.1, 0.1, 0.1);
    cairo_stroke(cr);
  }
  void line(double x, double y, double to_x, double to_y) const {
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, to_x, to_y);
    stroke();
  }
  void set(Color color) const { cairo_set_source_rgb(cr, color[0], color[1], color[2]); }
  // An image of columns × rows colours, the lowest row first, over the rectangle whose upper left corner is (x, y). Cells at
  // the edges are repeated outside: SVG has no other way to extend an image.
  template <class Colors>
  void image(int columns, int rows, Colors color, double x, double y, double width, double height) const {
    cairo_surface_t *pixels = cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns + 2, rows + 2);
    unsigned char   *bytes = cairo_image_surface_get_data(pixels);
    for (int j = 0; bytes && j < rows + 2; j++)
      for (int i = 0; i < columns + 2; i++) {
        const Color    c = color(std::min(std::max(i - 1, 0), columns - 1), std::min(std::max(rows - j, 0), rows - 1));
        std::uint32_t *to = (std::uint32_t *)(bytes + (size_t)j * cairo_image_surface_get_stride(pixels)) + i;
        *to = (std::uint32_t)std::lround(255 * c[0]) << 16 | (std::uint32_t)std::lround(255 * c[1]) << 8 |
              (std::uint32_t)std::lround(255 * c[2]);
      }
    cairo_surface_mark_dirty(pixels);
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, width / columns, height / rows);
    cairo_set_source_surface(cr, pixels, -1, -1);
    // a coarse grid shows its cells
    cairo_pattern_set_filter(cairo_get_source(cr), columns < width / 4 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(pixels);
  }
  cairo_t *cr;
};

// A panel and where it lies: its axes have the lower left corner (left, bottom); margins lie around them.
struct Layout {
  const Panel      *panel;
  Scale             scale;
  Range             x, y;
  std::vector<Tick> x_ticks, y_ticks, bar_ticks;
  std::string       x_factor, y_factor, bar_factor, bar_name;
  double            margin_left = 0, margin_right = 0, margin_top = 0, margin_bottom = 0, left = 0, bottom = 0;
  bool              bar, legend = false;

  Layout(const Panel &p, const Canvas &canvas) : panel(&p), scale(scale_of(p)), x(p.x), y(p.y) {
    const bool fit_x = x.empty(), fit_y = y.empty();
    const auto include = [&](const std::vector<double> &xs, const std::vector<double> &ys) {
      for (double value : xs) fit_x ? x.include(value) : void();
      for (double value : ys) fit_y ? y.include(value) : void();
    };
    if (p.field.columns) include({p.field.x.low, p.field.x.high}, {p.field.y.low, p.field.y.high});
    for (const Curve &curve : p.curves) include(curve.x, curve.y);
    include(p.band.x, p.band.low), include(p.band.x, p.band.high);
    include(p.points.x, p.points.y);
    x = widened(x), y = widened(y);
    const double margin = fit_y && !p.field.columns ? 0.05 * (y.high - y.low) : 0;
    y = {y.low - margin, y.high + margin};

    bar = p.bar && p.field.columns > 0;
    for (int count = 7; count > 1; count--) { // labels with room between them
      double total = 0;
      x_ticks = ticks(x, count, &x_factor);
      for (const Tick &tick : x_ticks) total += canvas.width(tick.text) + 2 * gap;
      if (total < p.width) break;
    }
    y_ticks = ticks(y, std::max(2, (int)(p.height / 60)), &y_factor);
    bar_ticks = ticks(scale.range, std::max(2, (int)(p.height / 60)), &bar_factor);

    double widest = 0, name = p.y_name.empty() ? 0 : font + gap;
    for (const Tick &tick : y_ticks) widest = std::max(widest, canvas.width(tick.text));
    margin_left = gap + name + widest + tick_length + gap / 2;
    margin_right = 2 * gap;
    if (!x_ticks.empty()) margin_right = std::max(margin_right, canvas.width(x_ticks.back().text) / 2 + gap / 2);
    margin_right = std::max(margin_right, x_factor.empty() ? 0 : canvas.width(x_factor) + 2 * gap);
    if (bar) {
      bar_name = p.value_name + (p.value_name.empty() || bar_factor.empty() ? "" : " ") + bar_factor;
      widest = canvas.width(bar_name) - bar_width;
      for (const Tick &tick : bar_ticks) widest = std::max(widest, canvas.width(tick.text) + tick_length + gap / 2);
      margin_right = 2 * gap + bar_width + widest + gap;
    }
    widest = canvas.width(p.band.name);
    for (const Curve &curve : p.curves) widest = std::max(widest, canvas.width(curve.name));
    legend = widest > 0;
    if (legend) margin_right += gap + 40 + widest;
    const bool names = !(p.title + p.value_name + y_factor + bar_factor).empty();
    margin_top = !names ? gap : p.title.empty() || y_factor.empty() ? font + 2 * gap : 2 * font + 3 * gap;
    margin_bottom = tick_length + 1.8 * font + (p.x_name.empty() ? 0 : font + gap);
  }

  double at_x(double value) const { return left + (value - x.low) / (x.high - x.low) * panel->width; }
  double at_y(double value) const { return bottom - (value - y.low) / (y.high - y.low) * panel->height; }

  // The line where the field has a value: between the middles of four cells, a piece in each of two triangles.
  void draw_contour(const Canvas &canvas, double value) const {
    const Field &f = panel->field;
    const auto   piece = [&](int i, int j, const int(&corners)[3][2]) {
      double x[3], y[3];
      int    ends = 0;
      for (int k = 0; k < 3; k++) {
        const int   *a = corners[k], *b = corners[(k + 1) % 3];
        const double u = f.values[(size_t)(j + a[1]) * f.columns + i + a[0]] - value;
        const double v = f.values[(size_t)(j + b[1]) * f.columns + i + b[0]] - value;
        if ((u < 0) == (v < 0)) continue;
        const double part = u / (u - v);
        x[ends] = at_x(f.x.low + (f.x.high - f.x.low) * (i + 0.5 + a[0] + part * (b[0] - a[0])) / f.columns);
        y[ends++] = at_y(f.y.low + (f.y.high - f.y.low) * (j + 0.5 + a[1] + part * (b[1] - a[1])) / f.rows);
      }
      if (ends < 2) return;
      cairo_move_to(canvas.cr, x[0], y[0]);
      cairo_line_to(canvas.cr, x[1], y[1]);
    };
    for (int j = 0; j + 1 < f.rows; j++)
      for (int i = 0; i + 1 < f.columns; i++) {
        piece(i, j, {{0, 0}, {1, 0}, {1, 1}});
        piece(i, j, {{0, 0}, {1, 1}, {0, 1}});
      }
    cairo_set_source_rgba(canvas.cr, 1, 1, 1, 0.6);
    cairo_set_line_width(canvas.cr, 1);
    cairo_stroke(canvas.cr);
  }

  void draw(const Canvas &canvas) const {
    const double width = panel->width, height = panel->height, top = bottom - height;
    cairo_t     *cr = canvas.cr;
    cairo_save(cr);
    cairo_rectangle(cr, left, top, width, height);
    cairo_clip(cr);
    const Field &field = panel->field;
    if (field.columns)
      canvas.image(
          field.columns, field.rows, [&](int i, int j) { return scale(field.values[(size_t)j * field.columns + i]); },
          at_x(field.x.low), at_y(field.y.high), at_x(field.x.high) - at_x(field.x.low),
          at_y(field.y.low) - at_y(field.y.high));
    for (int level = 0; level < panel->contours; level++)
      draw_contour(canvas, scale.range.low + (scale.range.high - scale.range.low) * (level + 0.5) / panel->contours);
    const Band &band = panel->band;
    for (size_t k = 0; k < band.x.size(); k++) cairo_line_to(cr, at_x(band.x[k]), at_y(band.high[k]));
    for (size_t k = band.x.size(); k-- > 0;) cairo_line_to(cr, at_x(band.x[k]), at_y(band.low[k]));
    fill_band(canvas);
    for (size_t c = 0; c < panel->curves.size(); c++) {
      const Curve &curve = panel->curves[c];
      for (size_t k = 0; k < curve.x.size(); k++)
        if (std::isfinite(curve.y[k])) { // Cairo's numbers have 24 bits before the point
          const double to = std::min(std::max(at_y(curve.y[k]), -1e5), 1e5);
          cairo_line_to(cr, at_x(curve.x[k]), to);
        } else
          cairo_new_sub_path(cr);
      canvas.set(curve_color(c));
      cairo_set_line_width(cr, 2.5);
      cairo_stroke(cr);
    }
    for (size_t k = 0; k < panel->points.x.size(); k++) {
      cairo_new_sub_path(cr);
      cairo_arc(cr, at_x(panel->points.x[k]), at_y(panel->points.y[k]), 2, 0, 2 * std::acos(-1.));
    }
    cairo_set_source_rgba(cr, 1, 1, 1, 0.8);
    cairo_fill(cr);
    cairo_restore(cr);

    cairo_rectangle(cr, left, top, width, height);
    canvas.stroke();
    for (const Tick &tick : x_ticks) {
      canvas.line(at_x(tick.value), bottom, at_x(tick.value), bottom + tick_length);
      canvas.text(at_x(tick.value), bottom + tick_length + gap / 2, tick.text, 0.5, 0);
    }
    double widest = 0;
    for (const Tick &tick : y_ticks) {
      canvas.line(left - tick_length, at_y(tick.value), left, at_y(tick.value));
      canvas.text(left - tick_length - gap / 2, at_y(tick.value), tick.text, 1, 0.5);
      widest = std::max(widest, canvas.width(tick.text));
    }
    canvas.text(left + width / 2, bottom + margin_bottom - gap, panel->x_name, 0.5, 1);
    canvas.text(left - tick_length - gap - widest - gap / 2, bottom - height / 2, panel->y_name, 0.5, 1, font, true);
    canvas.text(left, top - gap, y_factor, 0, 1);
    canvas.text(left + width + gap, bottom + tick_length + gap / 2, x_factor, 0, 0);
    canvas.text(left + width / 2, y_factor.empty() ? top - gap : top - font - 2 * gap, panel->title, 0.5, 1, font + 1);
    if (bar) draw_bar(canvas, left + width + 2 * gap);
    for (size_t c = 0; legend && c < panel->curves.size(); c++) {
      const double at = left + width + 2 * gap, y = top + gap + (c + 0.5) * 1.6 * font;
      cairo_move_to(cr, at, y);
      cairo_line_to(cr, at + 30, y);
      canvas.set(curve_color(c));
      cairo_set_line_width(cr, 4);
      cairo_stroke(cr);
      canvas.text(at + 40, y, panel->curves[c].name, 0, 0.5);
    }
    if (band.x.empty()) return;
    const double at = left + width + 2 * gap, y = top + gap + ((double)panel->curves.size() + 0.5) * 1.6 * font;
    cairo_rectangle(cr, at, y - font / 2, 30, font);
    fill_band(canvas);
    canvas.text(at + 40, y, band.name, 0, 0.5);
  }

private:
  static void fill_band(const Canvas &canvas) {
    cairo_set_source_rgba(canvas.cr, 0.15, 0.6, 0.55, 0.3);
    cairo_fill(canvas.cr);
  }
  Color curve_color(size_t c) const { // dark to light, not as light as the paper
    const size_t count = panel->curves.size();
    return color_at(count > 1 ? 0.88 * (double)c / (double)(count - 1) : 0.3, false);
  }
  // The end of a bar is a triangle where values lie beyond it.
  void draw_bar(const Canvas &canvas, double at) const {
    bool above = false, below = false;
    for (double value : panel->field.values) {
      above = above || value > scale.range.high * (1 + 1e-9);
      below = below || value < scale.range.low - 1e-9 * std::fabs(scale.range.low);
    }
    const double low = bottom - (below ? bar_width : 0), top = bottom - panel->height + (above ? bar_width : 0);
    const double height = low - top, values = scale.range.high - scale.range.low;
    cairo_move_to(canvas.cr, at, low);
    if (below) cairo_line_to(canvas.cr, at + bar_width / 2, bottom);
    cairo_line_to(canvas.cr, at + bar_width, low);
    cairo_line_to(canvas.cr, at + bar_width, top);
    if (above) cairo_line_to(canvas.cr, at + bar_width / 2, bottom - panel->height);
    cairo_line_to(canvas.cr, at, top);
    cairo_close_path(canvas.cr);
    cairo_path_t *outline = cairo_copy_path(canvas.cr);
    cairo_save(canvas.cr);
    cairo_clip(canvas.cr);
    const auto color = [&](int, int j) { // of a triangle: that of the end
      const double up = (j + 0.5) / 256 * panel->height - (bottom - low);
      return color_at(std::min(std::max(up / height, 0.), 1.), scale.diverging);
    };
    canvas.image(1, 256, color, at, bottom - panel->height, bar_width, panel->height);
    cairo_restore(canvas.cr);
    cairo_append_path(canvas.cr, outline);
    cairo_path_destroy(outline);
    canvas.stroke();
    for (const Tick &tick : bar_ticks) {
      const double y = low - (tick.value - scale.range.low) / values * height;
      canvas.line(at + bar_width, y, at + bar_width + tick_length, y);
      canvas.text(at + bar_width + tick_length + gap / 2, y, tick.text, 0, 0.5);
    }
    canvas.text(at, bottom - panel->height - gap, bar_name, 0, 1);
  }
};

bool draw(const std::vector<Panel> &panels, int columns, const std::string &title, const std::string &file) {
  const std::string ending = file.substr(file.size() - 4);
  cairo_surface_t  *paper = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, nullptr), *surface;
  double            width = gap, height = gap + (title.empty() ? 0 : 52);
  {
    const Canvas                       canvas(paper);
    std::vector<Layout>                layouts;
    std::vector<std::array<double, 2>> lefts(columns, {0, 0});
    for (const Panel &panel : panels) layouts.emplace_back(panel, canvas);
    for (size_t k = 0; k < layouts.size(); k++) { // margins and right parts of each column
      auto &column = lefts[k % columns];
      column[0] = std::max(column[0], layouts[k].margin_left);
      column[1] = std::max(column[1], layouts[k].panel->width + layouts[k].margin_right);
    }
    for (size_t row = 0; row * columns < layouts.size(); row++) {
      double above = 0, below = 0;
      for (size_t k = row * columns; k < std::min(layouts.size(), (row + 1) * columns); k++) {
        above = std::max(above, layouts[k].margin_top + layouts[k].panel->height);
        below = std::max(below, layouts[k].margin_bottom);
      }
      width = gap;
      for (size_t k = row * columns; k < std::min(layouts.size(), (row + 1) * columns); k++) {
        layouts[k].left = width + lefts[k % columns][0];
        layouts[k].bottom = height + above;
        width += lefts[k % columns][0] + lefts[k % columns][1];
      }
      height += above + below;
    }
    width = 0;
    for (const auto &column : lefts) width += column[0] + column[1];
    width = std::max(width, canvas.width(title, 28)) + 2 * gap;
    canvas.text(width / 2, 2 * gap, title, 0.5, 0, 28);
    for (const Layout &layout : layouts) layout.draw(canvas);
  }
  const double scale = ending == ".png" ? 1 : 0.6; // to points of 1/72 inch
  width = std::ceil(width * scale), height = std::ceil((height + gap) * scale);
  if (ending == ".png")
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
  else
    surface = (ending == ".svg" ? cairo_svg_surface_create : cairo_pdf_surface_create)(file.c_str(), width, height);
  cairo_t *cr = cairo_create(surface);
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_paint(cr);
  cairo_scale(cr, scale, scale);
  cairo_set_source_surface(cr, paper, 0, 0);
  cairo_paint(cr);
  bool written = cairo_status(cr) == CAIRO_STATUS_SUCCESS;
  cairo_destroy(cr);
  if (ending == ".png") written = cairo_surface_write_to_png(surface, file.c_str()) == CAIRO_STATUS_SUCCESS && written;
  cairo_surface_finish(surface);
  written = written && cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS;
  cairo_surface_destroy(surface);
  cairo_surface_destroy(paper);
  return written;
}

} // namespace picture
#endif
