#pragma once
/*
  Pictures by Cairo: fields with a colour bar, curves with a legend, scattered points; PNG, SVG or PDF by the file's ending.

  A picture is a list of panels, each with its own axes. In a program:

      std::string file;
      PetscCall(PictureGetFile("field", {"-n"}, &file)); // what -picture says; before the computation: it may be an error
      ...
      picture::Panel panel;
      PetscCall(PictureSetField(da, u, first, h, &panel));
      PetscCall(PictureWrite(da, u, {panel}, 1, "title", file));
*/

#include <limits>
#include <string>
#include <vector>

#include <petscdmda.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

namespace picture {

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low; // empty: fits what is drawn

  bool empty() const { return !(low <= high); }
  void include(double value) { // unless it is NaN or infinite
    if (value - value != 0) return;
    if (value < low) low = value;
    if (value > high) high = value;
  }
};

struct Field { // a value for each cell, row by row, the lowest row first
  int                 columns = 0, rows = 0;
  std::vector<double> values;
  Range               x, y; // outer edges of the cells
};
struct Curve { // broken where y is not finite
  std::string         name;
  std::vector<double> x, y;
};
struct Band { // between two curves over the same x
  std::string         name;
  std::vector<double> x, low, high;
};
struct Points {
  std::vector<double> x, y;
};
struct Panel {
  std::string        title, x_name = "x", y_name = "y", value_name;
  Range              x, y, values; // of the axes and of the colours
  double             width = 600, height = 600;
  bool               bar = true; // draw the colour bar
  Field              field;
  std::vector<Curve> curves;
  Band               band;
  Points             points;
  int                contours = 0; // lines of equal value of the field, at even steps of the colours
};

std::string label(double value); // for people: 0.25, 1.5×10⁶

// The values without this fraction of them at each end: colours for fields with peaks.
Range inner_range(std::vector<double> values, double fraction);

bool is_vtk(const std::string &file); // by its ending, .vts or .vtr

// Whether the file could be written; its ending is .png, .svg or .pdf. Always false without Cairo.
bool draw(const std::vector<Panel> &panels, int columns, const std::string &title, const std::string &file);

} // namespace picture

// An error now, rather than after the computation, where the file of an option cannot be written.
PetscErrorCode CheckWritable(const char option[], const std::string &file);

// Reads -picture: the file's name, empty for none. Without the option the name tells the settings: `name`, then the last
// word and the value of each of these options that is given, as field-n20.png, so that no picture overwrites that of other
// settings. Errors: an ending that is not known, a file that cannot be written. A build without Cairo replaces the ending
// by .vts and says so.
PetscErrorCode PictureGetFile(const std::string &name, const std::vector<std::string> &options, std::string *file);

// Coordinates first + i h of the node i along each axis, one point on an axis too (unlike DMDASetUniformCoordinates()).
PetscErrorCode GridSetCoordinates(DM da, const PetscReal first[], const PetscReal h[]);

// Makes (the real part of) a component of a grid function the panel's field. Axes of one point are left out; of a 3-D grid
// the plane in the middle of z is shown. first, h: coordinates of the first node, and spacing [length].
PetscErrorCode PictureSetField(DM da, Vec u, const PetscReal first[], const PetscReal h[], picture::Panel *panel,
                               PetscInt component = 0);

// Writes the panels in rows of `columns`, or, where the file ends in .vts or .vtr, u. Collective; rank 0 has the panels.
PetscErrorCode PictureWrite(DM da, Vec u, const std::vector<picture::Panel> &panels, int columns,
                            const std::string &title, const std::string &file);
