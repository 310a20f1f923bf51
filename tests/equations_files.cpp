// Fields and initial states from files: those that PETSc's viewers write, and others that are written here byte by byte.

#include "catch.hpp"
#include "equations.hpp"

#include <cstring>
#include <fstream>

#if SHELLAC_HAS_HDF5 // from petscviewerhdf5.h, which needs hdf5.h
PETSC_EXTERN PetscErrorCode PetscViewerHDF5Open(MPI_Comm, const char[], PetscFileMode, PetscViewer *);
#endif

using namespace tests;

// A file with an ending, which its scope removes; its content is that of the first rank.
class File {
public:
  explicit File(const std::string &ending, const std::string &content = "")
      : without_(temporary_file()), path(without_ + ending) {
    int rank;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    if (rank == 0 && !content.empty()) std::ofstream(path, std::ios::binary) << content;
    MPI_Barrier(PETSC_COMM_WORLD);
  }
  ~File() {
    MPI_Barrier(PETSC_COMM_WORLD);
    remove_file(path);
    remove_file(without_);
  }

private:
  std::string without_;

public:
  const std::string path;
};

// What the files have at a point, of the unknown c: exact in single precision.
static double given(PetscInt i, PetscInt j, PetscInt k, int c = 0) {
  return 1 + (double)i + 10 * (double)j + 100 * (double)k + 0.25 * c;
}
static Lattice lattice(int dim, PetscInt dof = 1) {
  Lattice l;
  l.dim = dim, l.dof = dof;
  for (int a = 0; a < 3; a++) l.N[a] = a < dim ? 7 - a : 1;
  return l;
}

template <class Number> static std::string bytes_of(Number number) {
  std::string bytes(sizeof(number), '\0');
  memcpy(&bytes[0], &number, sizeof(number));
  return bytes;
}
// The numbers of a box of points, the first axis first; as text, or as bytes of a type.
enum class As { text, singles, doubles };
static std::string numbers(As as, const PetscInt first[3], const PetscInt end[3], int dof = 1, int c0 = 0) {
  std::string all;
  for (PetscInt k = first[2]; k < end[2]; k++)
    for (PetscInt j = first[1]; j < end[1]; j++)
      for (PetscInt i = first[0]; i < end[0]; i++)
        for (int c = c0; c < c0 + dof; c++)
          all += as == As::text      ? std::to_string(given(i, j, k, c)) + (i % 2 ? "\n" : " ")
                 : as == As::singles ? bytes_of((float)given(i, j, k, c))
                                     : bytes_of(given(i, j, k, c));
  return all;
}
static std::string numbers(As as, const Lattice &l, int dof = 1, int c0 = 0) {
  const PetscInt first[3] = {0, 0, 0};
  return numbers(as, first, l.N, dof, c0);
}
static std::string npy(const std::string &type, const std::string &shape, const std::string &data,
                       const std::string &order = "False", char version = 1) {
  std::string  head = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }";
  const size_t before = version == 1 ? 10 : 12;
  head.resize((before + head.size() + 64) / 64 * 64 - before - 1, ' ');
  head += '\n';
  const std::string length = version == 1 ? bytes_of((unsigned short)head.size()) : bytes_of((unsigned)head.size());
  return std::string("\x93NUMPY") + version + '\0' + length + head + data;
}
static std::string shape_of(const Lattice &l) {
  std::string shape;
  for (int a = l.dim; a-- > 0;) shape += std::to_string(l.N[a]) + ", ";
  return shape;
}
static std::string extent(const PetscInt first[3], const PetscInt end[3], PetscInt offset = 0) {
  std::string text;
  for (int a = 0; a < 3; a++)
    text += (a ? " " : "") + std::to_string(first[a] + offset) + " " + std::to_string(end[a] - 1 + offset);
  return text;
}
// A VTK file of one piece; arrays: the elements in PointData.
static std::string vtk(const std::string &kind, const Lattice &l, const std::string &arrays,
                       const std::string &appended = "", const std::string &attributes = "byte_order=\"LittleEndian\"",
                       PetscInt offset = 0) {
  const PetscInt    first[3] = {0, 0, 0};
  const std::string of = extent(first, l.N, offset);
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"" + kind + "\" version=\"1.0\" " + attributes + ">\n  <" + kind +
         " WholeExtent=\"" + of +
         "\" Origin=\"0 0 0\"\n    Spacing=\"1 1 1\">\n<FieldData><DataArray type=\"Float64\" "
         "Name=\"TimeValue\" format=\"ascii\">7</DataArray></FieldData>\n    <Piece Extent=\"" +
         of + "\">\n      <PointData Scalars=\"k\">\n" + arrays +
         "      </PointData>\n      <CellData>\n<DataArray "
         "type=\"Float64\" Name=\"cells\" format=\"ascii\">1</DataArray>\n</CellData>\n    </Piece>\n  </" +
         kind + ">\n" +
         (appended.empty() ? "" : "  <AppendedData encoding=\"raw\">\n   _" + appended + "\n  </AppendedData>\n") +
         "</VTKFile>\n";
}
static std::string ascii_array(const std::string &name, const std::string &data, const std::string &more = "") {
  return "<DataArray type=\"Float64\" Name=\"" + name + "\" " + more + " format=\"ascii\" RangeMin=\"1\">\n" + data +
         "</DataArray>\n";
}
static std::string appended_array(const std::string &name, size_t offset, const std::string &type = "Float64") {
  return "<DataArray type=\"" + type + "\" Name=\"" + name + "\" format=\"appended\" offset=\"" +
         std::to_string(offset) + "\"/>\n";
}
template <class Head = unsigned long long> static std::string block(const std::string &data) {
  return bytes_of((Head)data.size()) + data;
}

static Grid grid_of(const Lattice &l, const std::string &text) {
  Grid da;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, text);
  return da;
}
static std::string text_of(const Lattice &l) {
  return l.dof == 1 ? "field(k)\nresidual = u - k" : "unknowns(u, v)\nresidual(u) = u\nresidual(v) = v";
}
// The field k of one unknown, or an initial state of two, as the library reads a file.
static Vector loaded(const Lattice &l, const std::string &path, Grid &da) {
  Options options((l.dof == 1 ? "-equation_k " : "-equation_initial ") + path);
  da = grid_of(l, text_of(l));
  Vector u = make_vector(da), f = make_vector(da);
  if (l.dof > 1) {
    OK(DMDAEquationComputeInitial(da, f));
    return f;
  }
  OK(VecSet(u, 0));
  OK(compute_values(da, 0, u, f));
  OK(VecScale(f, -1));
  return f;
}
static PetscReal worst(const Lattice &l, const std::string &path, PetscScalar factor = 1) {
  Grid       da;
  Vector     f = loaded(l, path, da);
  const auto found = natural_values(da, f);
  PetscReal  most = 0;
  for (size_t p = 0; p < found.size(); p++) {
    const size_t point = p / (size_t)l.dof, nx = (size_t)l.N[0], ny = (size_t)l.N[1];
    most = std::max(most,
                    PetscAbsScalar(found[p] - factor * given((PetscInt)(point % nx), (PetscInt)(point / nx % ny),
                                                             (PetscInt)(point / nx / ny), (int)(p % (size_t)l.dof))));
  }
  return most;
}

TEST_CASE("fields and states from files of NumPy", "[equations]") {
  if (!equations_work(true)) return;
  for (int dim = 1; dim <= 3; dim++) {
    const Lattice l = lattice(dim), two = lattice(dim, 2);
    INFO(dim << " dimensions");
    CHECK(worst(l, File(".npy", npy("<f8", shape_of(l), numbers(As::doubles, l))).path) == 0);
    CHECK(worst(l, File(".NPY", npy("<f4", shape_of(l), numbers(As::singles, l), "False", 2)).path) == 0);
    CHECK(worst(l, File(".npy", npy("<f8", shape_of(l) + "1, ", numbers(As::doubles, l))).path) == 0);
    CHECK(worst(two, File(".npy", npy("<f8", shape_of(l) + "2", numbers(As::doubles, l, 2))).path) == 0);
  }
}

TEST_CASE("fields and states from files of VTK", "[equations]") {
  if (!equations_work(true)) return;
  const char *const order = "byte_order=\"LittleEndian\"", *const wide =
                                                               "byte_order=\"LittleEndian\" header_type=\"UInt64\"";
  for (int dim = 1; dim <= 3; dim++) {
    const Lattice     l = lattice(dim), two = lattice(dim, 2);
    const std::string doubles = numbers(As::doubles, l), other(doubles.size(), 'x');
    INFO(dim << " dimensions");
    CHECK(worst(l, File(".vti", vtk("ImageData", l, ascii_array("heat", numbers(As::text, l)))).path) ==
          0); // the only one
    CHECK(
        worst(l, File(".vti", vtk("ImageData", l, ascii_array("old.k", "1 ") + ascii_array("k", numbers(As::text, l))))
                     .path) == 0);
    CHECK(
        worst(l, File(".vtr", vtk("RectilinearGrid", l, appended_array("j", 0) + appended_array("k", other.size() + 8),
                                  block(other) + block(doubles), wide))
                     .path) == 0);
    CHECK(worst(l, File(".vts", vtk("StructuredGrid", l, appended_array("k", 0, "Float32"),
                                    block<unsigned>(numbers(As::singles, l)), order, 5))
                       .path) == 0);
    CHECK(worst(two, File(".vti",
                          vtk("ImageData", l, ascii_array("flow", numbers(As::text, l, 2), "NumberOfComponents=\"2\"")))
                         .path) == 0);
    CHECK(worst(two,
                File(".vti", vtk("ImageData", l,
                                 ascii_array("v", numbers(As::text, l, 1, 1)) + ascii_array("u", numbers(As::text, l))))
                    .path) == 0);
  }
}

TEST_CASE("a grid in pieces from a file of VTK", "[equations]") {
  if (!equations_work(true)) return;
  const Lattice  l = lattice(2);
  const PetscInt first[3] = {0, 0, 0}, middle[3] = {3, l.N[1], 1}, second[3] = {3, 0, 0};
  const auto     file = [&](bool whole) {
    return File(".vtr",
                    "<VTKFile type=\"RectilinearGrid\" byte_order=\"LittleEndian\"><RectilinearGrid WholeExtent=\"" +
                        extent(first, l.N) + "\"><Piece Extent=\"" + extent(first, middle) + "\"><PointData>" +
                        ascii_array("k", numbers(As::text, first, middle)) + "</PointData></Piece>" +
                        (whole ? "<Piece Extent=\"" + extent(second, l.N) + "\"><PointData>" +
                                 ascii_array("k", numbers(As::text, second, l.N)) + "</PointData></Piece>"
                               : "") +
                        "</RectilinearGrid></VTKFile>");
  };
  CHECK(worst(l, file(true).path) == 0);
  const File part = file(false);
  Options    options("-equation_k " + part.path);
  EXPECT_ERROR(PETSC_ERR_FILE_UNEXPECTED, ({"-equation_k", "do not cover"}), [&] {
    Grid da;
    OK(make_grid(l, nullptr, &da));
    return DMDASetEquation(da, "field(k)\nresidual = u - k");
  });
}

// By its viewer; as: the vector's name. fields: the names of the DMDA's fields.
static void write(const Lattice &l, const std::string &path, const char *as, bool fields,
                  PetscErrorCode (*open)(MPI_Comm, const char[], PetscFileMode, PetscViewer *),
                  PetscScalar factor = 1) {
  Grid         da;
  PetscViewer  viewer;
  PetscInt     n = 0;
  PetscScalar *value;
  OK(make_grid(l, nullptr, &da));
  for (PetscInt c = 0; c < l.dof && fields; c++) OK(DMDASetFieldName(da, c, c ? "v" : "u"));
  Vector u = make_vector(da);
  OK(PetscObjectSetName((PetscObject)(Vec)u, as));
  OK(VecGetArray(u, &value));
  for_each_owned(da, [&](const PetscInt p[3]) {
    for (int c = 0; c < l.dof; c++) value[n++] = factor * given(p[0], p[1], p[2], c);
  });
  OK(VecRestoreArray(u, &value));
  OK(open(PETSC_COMM_WORLD, path.c_str(), FILE_MODE_WRITE, &viewer));
  OK(VecView(u, viewer));
  OK(PetscViewerDestroy(&viewer));
}

TEST_CASE("fields and states from files that PETSc wrote", "[equations]") {
  if (!equations_work(true)) return;
#if defined(PETSC_USE_COMPLEX)
  const PetscScalar factor(1, 2);
#else
  const PetscScalar factor = 1;
#endif
  for (int dim = 1; dim <= 3; dim++)
    for (const PetscInt dof : {1, 2}) {
      const Lattice l = lattice(dim, dof);
      INFO(dim << " dimensions, " << dof << " values at a point");
      const File binary(".petsc");
      write(l, binary.path, "u", false, PetscViewerBinaryOpen, factor);
      CHECK(worst(l, binary.path, factor) == 0);
#if SHELLAC_HAS_HDF5
      for (const char *name : {"u", "temperature"}) {
        const File hdf5(".h5");
        write(l, hdf5.path, name, false, PetscViewerHDF5Open, factor);
        CHECK(worst(l, hdf5.path, factor) == 0);
      }
#endif
#if !defined(PETSC_USE_COMPLEX)
      for (const char *ending : {".vts", ".vtr"})
        for (const bool fields : {false, true}) {
          if (fields && ending[3] == 'r' && rank_count() > 1) continue; // PETSc 3.18 writes its data twice: damaged
          const File vtk(ending);
          write(l, vtk.path, "state", fields, PetscViewerVTKOpen);
          CHECK(worst(l, vtk.path) == 0);
        }
#endif
    }
}

#if defined(PETSC_USE_COMPLEX)
TEST_CASE("complex fields from files of NumPy", "[equations]") {
  const Lattice l = lattice(2);
  std::string   data;
  for (PetscInt j = 0; j < l.N[1]; j++)
    for (PetscInt i = 0; i < l.N[0]; i++) data += bytes_of(given(i, j, 0)) + bytes_of(2 * given(i, j, 0));
  (void)equations_work(true);
  CHECK(worst(l, File(".npy", npy("<c16", shape_of(l), data)).path, PetscScalar(1, 2)) == 0);
}
#endif

TEST_CASE("files that do not serve are refused on all ranks, with the remedy", "[equations]") {
  if (!equations_work(true)) return;
  struct Case {
    const char              *ending;
    std::string              content;
    std::vector<std::string> words;
  };
  const Lattice l = lattice(2), wider = [] {
    Lattice w = lattice(2);
    return w.N[0]++, w;
  }();
  const std::string doubles = numbers(As::doubles, l), text = numbers(As::text, l), good = npy("<f8", "6, 7", doubles),
                    raw = vtk("ImageData", l, appended_array("k", 0), block<unsigned>(doubles));
  const std::string       grid = "(6, 7) are needed", cut = "truncated";
  const std::vector<Case> cases = {
    {".npy", npy("<f8", "7, 6", doubles), {"(7, 6)", grid, "-da_grid_x"}},
    {".npy", npy("<f8", "6, 8", numbers(As::doubles, wider)), {"(6, 8)", grid}},
    {".npy", npy("<f8", "6, 7, 3", doubles + doubles + doubles), {"(6, 7, 3)", grid}},
    {".npy", npy("<f8", "42,", doubles), {"(42)", grid}},
    {".npy", npy("<f8", "6, 7", doubles, "True"), {"Fortran", "ascontiguousarray"}},
    {".npy", npy(">f8", "6, 7", doubles), {"'>f8'", "astype('<f8')"}},
    {".npy", npy("<i8", "6, 7", doubles), {"'<i8'", "astype('<f8')"}},
    {".npy", npy("f", "6, 7", doubles), {"'f'", "astype('<f8')"}},
#if !defined(PETSC_USE_COMPLEX)
    {".npy", npy("<c16", "6, 7", doubles + doubles), {"complex"}},
#endif
    {".npy", good.substr(0, good.size() - 1), {cut}},
    {".npy", good.substr(0, 40), {cut}},
    {".npy", "no numbers", {cut}},
    {".vti", vtk("ImageData", wider, ascii_array("k", numbers(As::text, wider))), {"array k", "(6, 8, 1)", grid}},
    {".vti", vtk("ImageData", lattice(3), ascii_array("k", numbers(As::text, lattice(3)))), {"(5, 6, 7, 1)", grid}},
    {".vti", vtk("ImageData", l, ascii_array("a", text) + ascii_array("b", text)), {"name k", "a, b"}},
    {".vti", vtk("ImageData", l, ""), {"name k", "none"}},
    {".vti", vtk("ImageData", l, ascii_array("a.k", text) + ascii_array("b.k", text)), {"several", "a.k, b.k"}},
    {".vti", vtk("ImageData", l, "<X WholeExtent=\"0 99 0 99 0 0\">" + ascii_array("k", text)), {cut}},
    {".vti", vtk("ImageData", l, ascii_array("k", "1 2 3")), {cut}},
    {".vti", vtk("ImageData", l, appended_array("k", 0, "Int32"), block<unsigned>(doubles)), {"Int32", "Float64"}},
    {".vti", vtk("ImageData", l, appended_array("k", 8), block<unsigned>(doubles)), {cut}},
    {".vti", vtk("ImageData", l, appended_array("k", 99999999), block<unsigned>(doubles)), {cut}},
    {".vti", raw.substr(0, raw.size() - 60), {cut}},
    {".vti", raw.substr(0, raw.find("encoding")) + "encoding=\"base64\">_AAAA", {"encoded", "raw"}},
    {".vti",
     vtk("ImageData", l, "<DataArray type=\"Float64\" Name=\"k\" format=\"binary\">AAAA</DataArray>"),
     {"encoded"}},
    {".vti",
     vtk("ImageData", l, ascii_array("k", text), "", "byte_order=\"BigEndian\""),
     {"BigEndian", "LittleEndian"}},
    {".vti",
     vtk("ImageData", l, ascii_array("k", text), "",
         "byte_order=\"LittleEndian\" compressor=\"vtkZLibDataCompressor\""),
     {"compressed"}},
    {".vts", "<html>", {cut}},
    {".petsc", "PETSc's binary files begin otherwise", {"no vector"}},
#if SHELLAC_HAS_HDF5
    {".h5", "\x89HDF\r\n\x1a\n and no more", {cut}},
    {".hdf5", "nonsense", {cut}},
#else
    {".h5", "\x89HDF\r\n\x1a\n", {"without HDF5", ".npy"}},
#endif
  };
  for (const Case &c : cases) {
    const File               file(c.ending, c.content);
    Options                  options("-equation_k " + file.path);
    std::vector<std::string> words = c.words;
    INFO(c.content.substr(0, 400));
    words.push_back("-equation_k " + file.path);
    CHECK(error_problem(PETSC_ERR_FILE_UNEXPECTED, words, [&] {
            Grid da;
            OK(make_grid(l, nullptr, &da));
            return DMDASetEquation(da, "field(k)\nresidual = u - k");
          }) == "");
  }
}

TEST_CASE("states of several unknowns need all of them in a file", "[equations]") {
  if (!equations_work(true)) return;
  const Lattice l = lattice(2, 2);
  const File    alone(".vti", vtk("ImageData", l, ascii_array("u", numbers(As::text, l)))),
      others(".vti",
             vtk("ImageData", l, ascii_array("u", numbers(As::text, l)) + ascii_array("w", numbers(As::text, l))));
  for (const File *file : {&alone, &others}) {
    Options options("-equation_initial " + file->path);
    Grid    da = grid_of(l, text_of(l));
    Vector  u = make_vector(da);
    EXPECT_ERROR(PETSC_ERR_FILE_UNEXPECTED,
                 ({"-equation_initial " + file->path, file == &alone ? "(6, 7, 2) are needed" : "name v"}),
                 [&] { return DMDAEquationComputeInitial(da, u); });
  }
}

#if SHELLAC_HAS_HDF5
TEST_CASE("HDF5 files of another grid are refused", "[equations]") {
  if (!equations_work(true)) return;
  for (const int more : {1, -1}) { // also a longer one, of which PETSc's VecLoad() takes the beginning
    Lattice    l = lattice(1), other = l;
    const File file(".h5");
    other.N[0] += more;
    write(other, file.path, "k", false, PetscViewerHDF5Open);
    Options options("-equation_k " + file.path);
    EXPECT_ERROR(PETSC_ERR_FILE_UNEXPECTED,
                 ({"-equation_k", "array k has the sizes (" + std::to_string(other.N[0]), "(7) are needed"}), [&] {
                   Grid da;
                   OK(make_grid(l, nullptr, &da));
                   return DMDASetEquation(da, "field(k)\nresidual = u - k");
                 });
  }
}
#endif
