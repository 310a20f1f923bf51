#pragma once
// Heat maps as PNG files, without other libraries: the field of a DMDA, with axes and a colour bar.
//
// Sources: W3C, Portable Network Graphics, 3rd edition, 2025; RFC 1950 (zlib: header and Adler-32); RFC 1951 (deflate:
// stored blocks).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <petscdmda.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

namespace picture {

using Color = std::uint8_t; // index into the palette

// The palette: 252 colours from low to high, then these
constexpr int   levels = 252;
constexpr Color white = 252, black = 253, grey = 254, not_a_number = 255;

// Red, green and blue of a palette entry. The map runs from dark blue through green to yellow and grows evenly in
// lightness: straight lines between ten colours of viridis (S. van der Walt and N. Smith, matplotlib, 2015).
inline void get_rgb(int color, std::uint8_t rgb[3]) {
  static const std::uint8_t anchors[10][3] = {{68, 1, 84},    {72, 40, 120},  {62, 74, 137},  {49, 104, 142},
                                              {38, 130, 142}, {31, 158, 137}, {53, 183, 121}, {109, 205, 89},
                                              {180, 222, 44}, {253, 231, 37}};
  static const std::uint8_t others[4][3] = {{255, 255, 255}, {20, 20, 20}, {120, 120, 120}, {230, 30, 140}};

  for (int c = 0; c < 3; c++) {
    if (color >= levels) {
      rgb[c] = others[color - levels][c];
    } else {
      const double at = 9.0 * color / (levels - 1);
      const int    a = std::min((int)at, 8);
      rgb[c] = (std::uint8_t)std::lround(anchors[a][c] + (at - a) * (anchors[a + 1][c] - anchors[a][c]));
    }
  }
}

inline Color color_of(double value, double low, double high) {
  if (std::isnan(value)) return not_a_number;
  const double t = (value - low) / (high - low);
  return (Color)(t <= 0 ? 0 : t >= 1 ? levels - 1 : (int)(t * levels));
}

// Letters of 5 x 7 pixels: seven rows from the top, each a digit in base 32 (0-9, A-V) whose bits are the five pixels.
struct Glyph {
  const char *character; // UTF-8
  const char *rows;
};
inline const Glyph &find_glyph(const char *text) {
  static const Glyph glyphs[] = {
      {"0", "EHJLPHE"}, {"1", "4C4444E"}, {"2", "EH1248V"}, {"3", "V2421HE"}, {"4", "26AIV22"}, {"5", "VGU11HE"},
      {"6", "68GUHHE"}, {"7", "V124888"}, {"8", "EHHEHHE"}, {"9", "EHHF12C"}, {"A", "EHHVHHH"}, {"B", "UHHUHHU"},
      {"C", "EHGGGHE"}, {"D", "SIHHHIS"}, {"E", "VGGUGGV"}, {"F", "VGGUGGG"}, {"G", "EHGNHHF"}, {"H", "HHHVHHH"},
      {"I", "E44444E"}, {"J", "72222IC"}, {"K", "HIKOKIH"}, {"L", "GGGGGGV"}, {"M", "HRLLHHH"}, {"N", "HHPLJHH"},
      {"O", "EHHHHHE"}, {"P", "UHHUGGG"}, {"Q", "EHHHLID"}, {"R", "UHHUKIH"}, {"S", "FGGE11U"}, {"T", "V444444"},
      {"U", "HHHHHHE"}, {"V", "HHHHHA4"}, {"W", "HHHLLLA"}, {"X", "HHA4AHH"}, {"Y", "HHHA444"}, {"Z", "V1248GV"},
      {"a", "00E1FHF"}, {"b", "GGMPHHU"}, {"c", "00EGGHE"}, {"d", "11DJHHF"}, {"e", "00EHVGE"}, {"f", "698S888"},
      {"g", "0FHHF1E"}, {"h", "GGMPHHH"}, {"i", "40C444E"}, {"j", "20622IC"}, {"k", "GGIKOKI"}, {"l", "C44444E"},
      {"m", "00QLLHH"}, {"n", "00MPHHH"}, {"o", "00EHHHE"}, {"p", "00UHUGG"}, {"q", "00DJF11"}, {"r", "00MPGGG"},
      {"s", "00EGE1U"}, {"t", "88S8896"}, {"u", "00HHHJD"}, {"v", "00HHHA4"}, {"w", "00HHLLA"}, {"x", "00HA4AH"},
      {"y", "00HHF1E"}, {"z", "00V248V"}, {" ", "0000000"}, {".", "00000CC"}, {",", "0000C48"}, {":", "0CC0CC0"},
      {"-", "000V000"}, {"+", "044V440"}, {"=", "00V0V00"}, {"/", "01248G0"}, {"*", "04LEL40"}, {"^", "4AH0000"},
      {"(", "2488842"}, {")", "8422248"}, {"<", "248G842"}, {">", "8421248"}, {"_", "000000V"}, {"|", "4444444"},
      {"Δ", "44AAHHV"}, {"σ", "00FIIIC"}, {"×", "00A4A00"}, {"?", "EH12404"},
  };
  for (const Glyph &glyph : glyphs)
    if (!std::strncmp(text, glyph.character, std::strlen(glyph.character))) return glyph;
  return glyphs[sizeof(glyphs) / sizeof(glyphs[0]) - 1];
}

// An image of palette indices, (0, 0) at the top left.
class Canvas {
public:
  static constexpr int scale = 2; // pixels of the image to one of a letter's
  static constexpr int text_height = 7 * scale;

  Canvas(int width, int height) : width_(width), height_(height), pixels_((size_t)width * height, white) {}

  void set(int x, int y, Color color) {
    if (x >= 0 && x < width_ && y >= 0 && y < height_) pixels_[(size_t)y * width_ + x] = color;
  }
  void fill(int x, int y, int width, int height, Color color) {
    for (int j = 0; j < height; j++)
      for (int i = 0; i < width; i++) set(x + i, y + j, color);
  }
  // The outline of a rectangle, around its pixels.
  void frame(int x, int y, int width, int height) {
    fill(x - 1, y - 1, width + 2, 1, black);
    fill(x - 1, y + height, width + 2, 1, black);
    fill(x - 1, y - 1, 1, height + 2, black);
    fill(x + width, y - 1, 1, height + 2, black);
  }
  static int text_width(const std::string &text) {
    int letters = 0;
    for (const char *c = text.c_str(); *c; c = next(c)) letters++;
    return (6 * letters - (letters > 0)) * scale;
  }
  void text(int x, int y, const std::string &text) {
    for (const char *c = text.c_str(); *c; c = next(c), x += 6 * scale) {
      const char *rows = find_glyph(c).rows;
      for (int j = 0; j < 7; j++) {
        const int bits = rows[j] <= '9' ? rows[j] - '0' : rows[j] - 'A' + 10;
        for (int i = 0; i < 5; i++)
          if (bits & (16 >> i)) fill(x + i * scale, y + j * scale, scale, scale, black);
      }
    }
  }
  // Whether the file could be written.
  bool write_png(const char *file) const {
    std::string body;
    put_number(&body, width_);
    put_number(&body, height_);
    body += {8, 3, 0, 0, 0}; // bits a pixel, palette, deflate, the filters of PNG, not interlaced
    std::string png = "\x89PNG\r\n\x1a\n";
    put_chunk(&png, "IHDR", body);

    body.clear();
    for (int color = 0; color < 256; color++) {
      std::uint8_t rgb[3];
      get_rgb(color, rgb);
      body.append((const char *)rgb, 3);
    }
    put_chunk(&png, "PLTE", body);

    std::string rows;
    for (int y = 0; y < height_; y++) {
      rows += '\0'; // no filter
      rows.append((const char *)&pixels_[(size_t)y * width_], (size_t)width_);
    }
    put_chunk(&png, "IDAT", zlib(rows));
    put_chunk(&png, "IEND", "");

    std::FILE *out = std::fopen(file, "wb");
    if (!out) return false;
    const bool written = std::fwrite(png.data(), 1, png.size(), out) == png.size();
    return std::fclose(out) == 0 && written;
  }

private:
  static const char *next(const char *c) { // the next UTF-8 character
    for (c++; (*c & 0xc0) == 0x80; c++) continue;
    return c;
  }
  static void put_number(std::string *bytes, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) *bytes += (char)(number >> shift);
  }
  static void put_chunk(std::string *png, const char *type, const std::string &body) {
    const std::string checked = type + body;
    std::uint32_t     crc = 0xffffffff;
    for (unsigned char byte : checked) {
      crc ^= byte;
      for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    put_number(png, (std::uint32_t)body.size());
    *png += checked;
    put_number(png, ~crc);
  }
  static std::string zlib(const std::string &bytes) {
    std::string   packed = "\x78\x01";
    std::uint32_t a = 1, b = 0; // of Adler-32
    for (size_t at = 0; at < bytes.size(); at += 65535) {
      const size_t length = std::min<size_t>(65535, bytes.size() - at);
      packed += (char)(at + length == bytes.size()); // 1: the last block
      for (size_t number : {length, ~length}) {
        packed += (char)(number & 255);
        packed += (char)(number >> 8 & 255);
      }
      packed.append(bytes, at, length);
    }
    for (unsigned char byte : bytes) {
      a = (a + byte) % 65521;
      b = (b + a) % 65521;
    }
    put_number(&packed, b << 16 | a);
    return packed;
  }

  int                width_, height_;
  std::vector<Color> pixels_;
};

// The ends of an axis and how many pixels it takes.
struct Scale {
  double low, high;
  int    pixels;

  int at(double value) const { return (int)std::floor((value - low) / (high - low) * (pixels - 1) + 0.5); }

  // About five round numbers between the ends.
  std::vector<double> ticks() const {
    const double wanted = (high - low) / 5, power = std::pow(10, std::floor(std::log10(wanted)));
    const double step = power * (wanted <= 1.5 * power ? 1 : wanted <= 3.5 * power ? 2 : wanted <= 7 * power ? 5 : 10);
    std::vector<double> values;
    for (double k = std::ceil(low / step - 1e-6); k * step <= high + 1e-6 * step; k++) values.push_back(k * step);
    return values;
  }
};

inline std::string label(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value == 0 ? 0. : value);
  return text;
}

// Draws colors[y][x], y upwards, with its axes and the colour bar from low to high.
inline Canvas draw_heat_map(const std::vector<Color> &colors, const Scale &x, const Scale &y, double low, double high,
                            const std::string &title, const std::string &y_name = "y") {
  const Scale bar = {low, high, y.pixels < 160 ? 160 : y.pixels};
  const int   gap = 10, tick = 6, top = 50, bottom = 60, bar_width = 24;
  int         left = 0, right = 0;
  for (double value : y.ticks()) left = std::max(left, Canvas::text_width(label(value)));
  for (double value : bar.ticks()) right = std::max(right, Canvas::text_width(label(value)));
  left += 2 * gap + Canvas::text_width(y_name) + gap / 2 + tick;
  const int bar_left = left + x.pixels + 30;
  const int width = std::max(bar_left + bar_width + tick + right + 2 * gap, left + Canvas::text_width(title) + gap);
  Canvas    canvas(width, top + bar.pixels + bottom);
  const int base = top + y.pixels - 1; // row of the axis' lower end

  canvas.text(left, (top - Canvas::text_height) / 2, title);
  for (int j = 0; j < y.pixels; j++)
    for (int i = 0; i < x.pixels; i++) canvas.set(left + i, base - j, colors[(size_t)j * x.pixels + i]);
  canvas.frame(left, top, x.pixels, y.pixels);
  for (double value : x.ticks()) {
    const std::string text = label(value);
    canvas.fill(left + x.at(value), base + 2, 1, tick, black);
    canvas.text(left + x.at(value) - Canvas::text_width(text) / 2, base + 2 + tick + gap / 2, text);
  }
  for (double value : y.ticks()) {
    const std::string text = label(value);
    canvas.fill(left - 1 - tick, base - y.at(value), tick, 1, black);
    canvas.text(left - 1 - tick - gap / 2 - Canvas::text_width(text), base - y.at(value) - Canvas::text_height / 2,
                text);
  }
  canvas.text(left + x.pixels / 2 - Canvas::text_width("x") / 2, base + 2 + tick + gap / 2 + 20, "x");
  canvas.text(gap, base - y.pixels / 2 - Canvas::text_height / 2, y_name);

  const int bar_base = top + bar.pixels - 1;
  for (int j = 0; j < bar.pixels; j++)
    canvas.fill(bar_left, bar_base - j, bar_width, 1, (Color)((size_t)j * levels / bar.pixels));
  canvas.frame(bar_left, top, bar_width, bar.pixels);
  for (double value : bar.ticks()) {
    canvas.fill(bar_left + bar_width + 1, bar_base - bar.at(value), tick, 1, black);
    canvas.text(bar_left + bar_width + 1 + tick + gap / 2, bar_base - bar.at(value) - Canvas::text_height / 2,
                label(value));
  }
  return canvas;
}

// One axis of a picture: its length, and where the nodes of the grid are.
struct Axis {
  PetscInt  N;      // nodes
  PetscReal first;  // x of the first node [length]
  PetscReal h;      // from node to node [length]
  PetscReal length; // of the domain, which begins at 0 [length]
  int       pixels;

  // Values that are kept of this axis: of every node where there are pixels enough, else means of the nodes in a pixel.
  int kept() const { return N < pixels ? (int)N : pixels; }
  int kept_of_node(PetscInt i) const {
    // a node between two pixels goes to the upper one, whatever the rounding, so that no pixel is left without
    return N < pixels ? (int)i : clamp(std::floor((first + i * h) / length * pixels + 5e-4));
  }
  int kept_of_pixel(int p) const {
    return N < pixels ? clamp(std::round(((p + 0.5) / pixels * length - first) / h)) : p;
  }
  int clamp(double at) const { return at <= 0 ? 0 : at >= kept() - 1 ? kept() - 1 : (int)at; }
};

} // namespace picture

/*
  WriteFieldPicture - writes a heat map of (the real part of) a grid function as a PNG file

  Collective

  Input Parameters:
+ da      - a 2-D or 3-D DMDA with one degree of freedom; of a 3-D one the plane in the middle of the z axis is shown
. u       - the grid function
. first   - coordinates of the first node, one for each axis [length]
. h       - spacing of the nodes along each axis [length]
. lengths - side lengths of the domain, whose lower corner is the origin [length]
. title   - stands above the picture
- file    - its name

  Note:
  Every rank adds its points to the means of the pixels, so that no rank ever holds the whole grid.
  Pixels without a number are magenta.

  Errors:
  PETSC_ERR_FILE_OPEN, on every rank, where the file cannot be written.
*/
static inline PetscErrorCode WriteFieldPicture(DM da, Vec u, const PetscReal first[], const PetscReal h[],
                                               const PetscReal lengths[], const char title[], const char file[]) {
  const double       longest = PetscMax(lengths[0], lengths[1]);
  picture::Axis      axes[2];
  PetscInt           dim, N[3], start[3], size[3];
  const PetscScalar *values;
  PetscMPIInt        rank, written = 1;
  MPI_Comm           comm;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)da, &comm));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(DMDAGetInfo(da, &dim, &N[0], &N[1], &N[2], nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr));
  PetscCheck(dim >= 2, comm, PETSC_ERR_SUP, "a heat map needs a 2-D or 3-D grid, not a %" PetscInt_FMT "-D one", dim);
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &size[0], &size[1], &size[2]));
  for (int a = 0; a < 2; a++)
    axes[a] = {N[a], first[a], h[a], lengths[a], PetscMax(2, (int)std::lround(700 * lengths[a] / longest))};

  // means over the nodes of each pixel: sums, then counts
  const int           columns = axes[0].kept(), rows = axes[1].kept();
  std::vector<double> means((size_t)2 * columns * rows, 0);
  double              ends[2] = {-INFINITY, -INFINITY}; // of the values that are numbers: -lowest, highest
  double             *sums = means.data(), *counts = sums + (size_t)columns * rows;
  PetscCall(VecGetArrayRead(u, &values));
  for (PetscInt k = start[2]; k < start[2] + size[2]; k++) {
    if (k != N[2] / 2) continue;
    for (PetscInt j = start[1]; j < start[1] + size[1]; j++)
      for (PetscInt i = start[0]; i < start[0] + size[0]; i++) {
        const size_t from = (i - start[0]) + (size_t)size[0] * ((j - start[1]) + (size_t)size[1] * (k - start[2]));
        const size_t to = axes[0].kept_of_node(i) + (size_t)columns * axes[1].kept_of_node(j);
        const double value = PetscRealPart(values[from]);
        sums[to] += value;
        counts[to] += 1;
        if (!std::isfinite(value)) continue;
        ends[0] = std::max(ends[0], -value);
        ends[1] = std::max(ends[1], value);
      }
  }
  PetscCall(VecRestoreArrayRead(u, &values));
  PetscCallMPI(
      MPI_Reduce(rank ? sums : MPI_IN_PLACE, rank ? nullptr : sums, 2 * columns * rows, MPI_DOUBLE, MPI_SUM, 0, comm));

  PetscCallMPI(MPI_Reduce(rank ? ends : MPI_IN_PLACE, rank ? nullptr : ends, 2, MPI_DOUBLE, MPI_MAX, 0, comm));

  if (rank == 0) {
    double low = -ends[0], high = ends[1];
    if (!(low <= high)) low = high = 0; // no numbers at all
    if (!(high - low > 1e-12 * std::fabs(high))) {
      const double margin = high == 0 ? 1 : std::fabs(high) / 2;
      low -= margin;
      high += margin;
    }
    std::vector<picture::Color> colors;
    for (int y = 0; y < axes[1].pixels; y++)
      for (int x = 0; x < axes[0].pixels; x++) {
        const size_t from = axes[0].kept_of_pixel(x) + (size_t)columns * axes[1].kept_of_pixel(y);
        colors.push_back(picture::color_of(sums[from] / counts[from], low, high));
      }
    written = picture::draw_heat_map(colors, {0, (double)lengths[0], axes[0].pixels},
                                     {0, (double)lengths[1], axes[1].pixels}, low, high, title)
                  .write_png(file);
  }
  PetscCallMPI(MPI_Bcast(&written, 1, MPI_INT, 0, comm));
  PetscCheck(written, comm, PETSC_ERR_FILE_OPEN, "cannot write the picture %s; give a file that can be written", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}
