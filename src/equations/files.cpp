// Fields and states from files: HDF5, VTK's XML and NumPy's .npy, which the first rank reads, and PETSc's binary.

#include "equations/files.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include <petscdmda.h>

#include "device/petsc.hpp"
#include "equations/text.hpp"
#include "options/expression.hpp"
#if SHELLAC_HAS_HDF5
#include <hdf5.h>
#endif

namespace shellac {

namespace {

// An array of a file. Functions return what is wrong, or an empty string.
struct FileArray {
  std::string                          name;
  std::vector<size_t>                  shape; // the slowest index first
  std::function<std::string(double *)> read;  // all of it
  bool                                 complex = false; // the last size is that of real and imaginary part
};
using FileArrays = std::vector<FileArray>;

const char damaged[] = "it is truncated or damaged; write it anew";
#if defined(PETSC_WORDS_BIGENDIAN)
constexpr char own_order[] = "BigEndian", own_mark = '>';
#else
constexpr char own_order[] = "LittleEndian", own_mark = '<';
#endif

size_t product(const std::vector<size_t> &sizes) {
  size_t n = 1;
  for (const size_t size : sizes) n *= size;
  return n;
}

// Numbers of 4 or 8 bytes each, from there in the file's bytes on.
std::string convert(const std::string &content, size_t at, size_t bytes, size_t n, double *to) {
  float number;
  if (at > content.size() || (content.size() - at) / bytes < n) return damaged;
  if (bytes == sizeof(double)) memcpy(to, &content[at], n * bytes);
  for (size_t i = 0; i < n && bytes == sizeof(float); i++)
    memcpy(&number, &content[at + i * bytes], bytes), to[i] = number;
  return "";
}

// Behind its head are the entries of a Python dict.
std::string open_npy(const std::string &content, FileArrays *arrays) {
  const bool   is = content.size() > 12 && content.compare(1, 5, "NUMPY") == 0;
  const size_t begin = is && content[6] > 1 ? 12 : 10;
  size_t       length = 0;
  for (size_t i = begin; is && i-- > 8;) length = length << 8 | (unsigned char)content[i];
  if (!is || length > content.size() - begin) return damaged;
  const std::string dict = content.substr(begin, length);
  const auto        entry = [&](const std::string &key, char end) {
    const size_t at = dict.find_first_not_of(" ('", dict.find("'" + key + "':") + key.size() + 3);
    return at < length ? dict.substr(at, dict.find(end, at) - at) : "";
  };
  const std::string type = entry("descr", '\''), number = type.substr(PetscMin(type.size(), 1));
  if (type[0] != own_mark || (number != "f4" && number != "f8" && number != "c16"))
    return "its numbers are of the type '" + type + "'; save k.astype('" + own_mark + "f8')";
  if (entry("fortran_order", ',') != "False") return "it is in Fortran's order; save numpy.ascontiguousarray(k)";
  FileArray          array;
  std::istringstream shape(entry("shape", ')'));
  for (size_t size; shape >> size; shape.ignore()) array.shape.push_back(size);
  array.complex = number == "c16";
  if (array.complex) array.shape.push_back(2);
  array.read = [&content, at = begin + length, number, n = product(array.shape)](double *to) {
    return convert(content, at, number == "f4" ? sizeof(float) : sizeof(double), n, to);
  };
  arrays->push_back(array);
  return "";
}

// ---- VTK -------------------------------------------------------------------------------------------------------------

struct Extent { // points along each axis, from first to last
  long long first[3] = {0, 0, 0}, last[3] = {-1, -1, -1};

  explicit Extent(const std::string &text = "") {
    sscanf(text.c_str(), "%lld%lld%lld%lld%lld%lld", first, last, first + 1, last + 1, first + 2, last + 2);
  }
  size_t size(int a) const { return last[a] < first[a] ? 0 : (size_t)(last[a] - first[a] + 1); }
  size_t points() const { return size(0) * size(1) * size(2); }
};
struct VtkFile {
  size_t head = 4, data = 0; // bytes of a block's length; where appended blocks begin, or 0
  Extent whole;
};
struct VtkPart { // of an array, for a piece of the grid
  Extent      piece;
  std::string type, format;
  size_t      components, at; // where its numbers begin, or its block among the appended ones
};

// known: of the grid's points, those that have values
std::string read_part(const std::string &content, const VtkFile &file, const VtkPart &part, double *to,
                      std::vector<bool> *known) {
  const size_t        bytes = part.type == "Float32" ? sizeof(float) : sizeof(double), c = part.components;
  std::vector<double> numbers(part.piece.points() * c);
  if (part.type != "Float32" && part.type != "Float64")
    return "its numbers are of the type " + part.type + "; save Float64 or Float32";
  if (part.format == "ascii") {
    char *at = const_cast<char *>(&content[part.at]);
    for (double &number : numbers) {
      const char *const before = at;
      number = strtod(before, &at);
      if (at == before) return damaged;
    }
    while (isspace((unsigned char)*at)) at++;
    if (*at != '<') return damaged;
  } else if (part.format == "appended" && file.data) {
    const size_t       at = file.data + part.at;
    unsigned long long length = 0;
    if (at > content.size() || content.size() - at < file.head) return damaged;
    for (size_t i = 0; i < file.head; i++) // in this machine's order
      length |= (unsigned long long)(unsigned char)content[at + i] << 8 * (own_mark == '<' ? i : file.head - 1 - i);
    if (length != numbers.size() * bytes) return damaged;
    const std::string problem = convert(content, at + file.head, bytes, numbers.size(), numbers.data());
    if (!problem.empty()) return problem;
  } else
    return "its data are encoded; save them as ASCII, or appended and raw";
  const double *from = numbers.data();
  const Extent &piece = part.piece, &whole = file.whole;
  for (long long k = piece.first[2]; k <= piece.last[2]; k++)
    for (long long j = piece.first[1]; j <= piece.last[1]; j++, from += piece.size(0) * c) {
      const size_t row = (size_t)(j - whole.first[1]) + whole.size(1) * (size_t)(k - whole.first[2]),
                   point = (size_t)(piece.first[0] - whole.first[0]) + whole.size(0) * row;
      std::copy_n(from, piece.size(0) * c, to + point * c);
      std::fill_n(known->begin() + (std::ptrdiff_t)point, piece.size(0), true);
    }
  return "";
}

std::string open_vtk(const std::string &content, size_t dim, FileArrays *arrays) {
  std::vector<std::vector<VtkPart>> parts; // of each array
  VtkFile                           file;
  Extent                            piece;
  bool                              of_points = false;
  for (size_t at = content.find('<'), end; at < content.size() && !file.data; at = content.find('<', end)) {
    end = PetscMin(content.find('>', at), content.size());
    std::string tag = content.substr(at, end - at);
    std::replace_if(
        tag.begin(), tag.end(), [](unsigned char c) { return isspace(c); }, ' ');
    const auto is = [&](const char *name) { return tag.compare(1, tag.find_first_of(" ", 1) - 1, name) == 0; };
    const auto has = [&](const std::string &name) {
      const size_t begin = tag.find(" " + name + "=\"") + name.size() + 3;
      return begin < name.size() + 3 ? "" : tag.substr(begin, tag.find('"', begin) - begin);
    };
    if (is("VTKFile")) {
      if (!has("compressor").empty()) return "it is compressed; save it without";
      if (!has("byte_order").empty() && has("byte_order") != own_order)
        return "its numbers are " + has("byte_order") + "; save it as " + own_order;
      file.head = has("header_type") == "UInt64" ? 8 : 4;
    } else if (!has("WholeExtent").empty()) {
      if (file.whole.points()) return damaged;
      file.whole = Extent(has("WholeExtent"));
    } else if (is("Piece")) {
      piece = Extent(has("Extent"));
      for (int a = 0; a < 3; a++)
        if (piece.first[a] < file.whole.first[a] || piece.last[a] > file.whole.last[a]) return damaged;
    } else if (is("PointData") || is("/PointData"))
      of_points = is("PointData") && tag.back() != '/';
    else if (is("DataArray") && of_points) {
      const std::string components = has("NumberOfComponents");
      const size_t      count = components.empty() ? 1 : strtoull(components.c_str(), NULL, 10);
      FileArray         array{has("Name"), {}, nullptr};
      size_t            a = 0;
      while (a < arrays->size() && (*arrays)[a].name != array.name) a++;
      for (size_t axis = 3; axis-- > 0;)
        if (axis < dim || file.whole.size((int)axis) != 1) array.shape.push_back(file.whole.size((int)axis));
      array.shape.push_back(count);
      if (a == parts.size()) arrays->push_back(array), parts.emplace_back();
      if (array.shape != (*arrays)[a].shape) return damaged;
      parts[a].push_back(
          {piece, has("type"), has("format"), count,
           has("format") == "ascii" ? PetscMin(end + 1, content.size()) : strtoull(has("offset").c_str(), NULL, 10)});
    } else if (is("AppendedData") && has("encoding") == "raw")
      file.data = PetscMin(content.find('_', end), content.size()) + 1;
    else if (is("AppendedData"))
      break;
  }
  for (size_t a = 0; a < parts.size(); a++)
    (*arrays)[a].read = [&content, file, of = parts[a]](double *to) {
      std::vector<bool> known(file.whole.points());
      std::string       problem;
      for (const VtkPart &part : of)
        if (problem.empty()) problem = read_part(content, file, part, to, &known);
      const bool all = std::find(known.begin(), known.end(), false) == known.end();
      return problem.empty() && !all ? "its pieces do not cover the grid" : problem;
    };
  return file.whole.points() ? "" : damaged;
}

// ---- HDF5 ------------------------------------------------------------------------------------------------------------

#if SHELLAC_HAS_HDF5
struct Hdf5 { // is closed at the end of its scope
  hid_t id;
  herr_t (*close)(hid_t);

  ~Hdf5() {
    if (id >= 0) close(id);
  }
  operator hid_t() const { return id; }
};
struct Quiet { // its messages are not printed
  H5E_auto2_t print;
  void       *data;

  Quiet() { H5Eget_auto2(H5E_DEFAULT, &print, &data), H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print, data); }
};

// Arrays of numbers in the root group.
std::string open_hdf5(const std::string &path, FileArrays *arrays) {
  const Hdf5 file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  H5G_info_t root;
  if (file < 0 || H5Gget_info(file, &root) < 0) return damaged;
  for (hsize_t n = 0; n < root.nlinks; n++) {
    char       name[256] = "";
    hsize_t    sizes[H5S_MAX_RANK];
    const auto length = H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, n, name, sizeof(name), H5P_DEFAULT);
    const auto object = std::shared_ptr<Hdf5>(new Hdf5{length > 0 ? H5Oopen(file, name, H5P_DEFAULT) : -1, H5Oclose});
    if (H5Iget_type(*object) != H5I_DATASET) continue;
    const Hdf5        type{H5Dget_type(*object), H5Tclose}, space{H5Dget_space(*object), H5Sclose};
    const H5T_class_t numbers = H5Tget_class(type);
    const int         axes = H5Sget_simple_extent_dims(space, sizes, NULL);
    if (axes >= 0 && (numbers == H5T_FLOAT || numbers == H5T_INTEGER))
      arrays->push_back({name, {sizes, sizes + axes}, [object](double *to) {
                           const bool is_read =
                               H5Dread(*object, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0;
                           return is_read ? "" : damaged;
                         }});
  }
  return "";
}
#else
struct Quiet {};
std::string open_hdf5(const std::string &, FileArrays *) {
  return "this Shellac is built without HDF5; give a file .npy, .vti, .vtr or .vts, or one that PETSc wrote as binary";
}
#endif

// ---- all of them -----------------------------------------------------------------------------------------------------

std::string ending_of(const std::string &path) {
  return lower_case(path.substr(PetscMin(path.find_last_of('.'), path.size())));
}
bool ends_with(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), std::string::npos, end) == 0;
}
std::string text_of(const std::vector<size_t> &sizes) {
  std::string text;
  for (const size_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + ")";
}

// values: [points][names], in the natural order of a grid of these sizes, the last axis first.
std::string read_values(const std::string &path, const std::vector<size_t> &grid, const std::vector<std::string> &names,
                        std::vector<PetscScalar> *values) {
  const Quiet        quiet{};
  const size_t       dof = names.size();
  const bool         of_hdf5 = ending_of(path)[1] == 'h';
  FileArrays         arrays;
  std::ifstream      stream(path, std::ios::binary | std::ios::ate);
  std::string        content(of_hdf5 ? 0 : (size_t)PetscMax((long long)stream.tellg(), 0LL), 0);
  stream.seekg(0).read(&content[0], (std::streamsize)content.size());
  std::string       problem = of_hdf5                     ? open_hdf5(path, &arrays)
                              : ending_of(path) == ".npy" ? open_npy(content, &arrays)
                                                          : open_vtk(content, grid.size(), &arrays);
  (void)quiet;
  values->resize(product(grid) * dof);
  for (size_t c = 0; c < dof && problem.empty(); c++) {
    std::vector<const FileArray *> of; // that name
    std::string                    all;
    for (const FileArray &array : arrays) {
      const bool is = array.name == names[c], has = !of.empty() && of[0]->name == names[c];
      if (is) of.clear();
      if (is || (!has && ends_with(array.name, "." + names[c]))) of.push_back(&array); // PETSc's u.v is v in a vector u
      all += (all.empty() ? "" : ", ") + array.name;
    }
    if (of.size() > 1) return "several of its arrays have the name " + names[c] + "; they are: " + all;
    const bool             by_name = !of.empty();
    const FileArray *const found = by_name ? of[0] : arrays.size() == 1 ? &arrays[0] : nullptr;
    if (!found) return "it has no array of the name " + names[c] + "; its arrays are: " + (all.empty() ? "none" : all);
    // the grid's sizes, then components, then the parts of complex numbers
    std::vector<size_t> rest = found->shape, needed = grid;
    const bool          fits = rest.size() >= grid.size() && std::equal(grid.begin(), grid.end(), rest.begin());
    if (fits) rest.erase(rest.begin(), rest.begin() + (std::ptrdiff_t)grid.size());
    if (found->complex && !scalars_are_complex) return "its numbers are complex, and this PETSc has real ones";
    const bool   pairs = scalars_are_complex && !rest.empty() && rest.back() == 2 && (rest.size() == 2 || dof == 1);
    const size_t parts = fits && (pairs || found->complex) ? 2 : 1;
    if (parts == 2) rest.pop_back();
    const size_t components = rest.empty() ? 1 : rest[0];
    const bool   whole = components == dof;
    if (dof > 1) needed.push_back(dof);
    if (!fits || rest.size() > 1 || (!whole && (components != 1 || !by_name)))
      return "its array " + found->name + (found->name.empty() ? "" : " ") + "has the sizes " + text_of(found->shape) +
             ", but " + text_of(needed) +
             " are needed, those of the grid's first axis last; give these, or change the grid, as by -da_grid_x";
    std::vector<double> numbers(product(found->shape));
    problem = found->read(numbers.data());
    for (size_t i = 0; i < numbers.size() / parts; i++) {
      PetscScalar &value = (*values)[whole ? i : i * dof + c];
      value = numbers[i * parts];
#if defined(PETSC_USE_COMPLEX)
      if (parts == 2) value += numbers[i * 2 + 1] * PETSC_i;
#endif
    }
    if (whole) break;
  }
  return problem;
}

PetscErrorCode load_binary(const std::string &named, const std::string &file, Vec v) {
  const MPI_Comm comm = PetscObjectComm((PetscObject)v);
  PetscInt       head[2], n; // a mark and the number of values
  PetscViewer    viewer;

  PetscFunctionBegin;
  PetscCall(VecGetSize(v, &n));
  for (bool first : {true, false}) {
    PetscCall(PetscViewerBinaryOpen(comm, file.c_str(), FILE_MODE_READ, &viewer));
    if (first) {
      PetscCall(PetscViewerBinaryRead(viewer, head, 2, NULL, PETSC_INT));
      PetscCheck(head[0] == VEC_FILE_CLASSID, comm, PETSC_ERR_FILE_UNEXPECTED,
                 "%s: the file has no vector of this PETSc", named.c_str());
      PetscCheck(head[1] == n, comm, PETSC_ERR_ARG_SIZ,
                 "%s: the file has %" PetscInt_FMT " values; a vector of %" PetscInt_FMT " is needed", named.c_str(),
                 head[1], n);
    } else
      PetscCall(VecLoad(v, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// From values on the first rank, in the natural order.
PetscErrorCode distribute(DM da, const std::vector<PetscScalar> &values, Vec v) {
  Vec          natural, all;
  VecScatter   to_first;
  PetscScalar *array;

  PetscFunctionBegin;
  PetscCall(DMDACreateNaturalVector(da, &natural));
  PetscCall(VecScatterCreateToZero(natural, &to_first, &all));
  PetscCall(VecGetArrayWrite(all, &array));
  std::copy(values.begin(), values.end(), array);
  PetscCall(VecRestoreArrayWrite(all, &array));
  PetscCall(VecScatterBegin(to_first, all, natural, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(to_first, all, natural, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(DMDANaturalToGlobalBegin(da, natural, INSERT_VALUES, v));
  PetscCall(DMDANaturalToGlobalEnd(da, natural, INSERT_VALUES, v));
  PetscCall(VecScatterDestroy(&to_first));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode load_vector(DM da, const std::string &option, const std::string &file,
                           const std::vector<std::string> &names, Vec v) {
  const std::string        endings[] = {".h5", ".hdf5", ".npy", ".vti", ".vtr", ".vts"}, named = option + " " + file;
  const MPI_Comm           comm = PetscObjectComm((PetscObject)da);
  PetscInt                 dim, N[3];
  PetscMPIInt              rank;
  std::vector<size_t>      grid;
  std::vector<PetscScalar> values;
  std::string              problem;
  WorkVector               loaded;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  SHELLAC_CHECK_ALL(rank > 0 || std::ifstream(file), comm, PETSC_ERR_FILE_OPEN,
                    "%s: the file cannot be read; give one that PETSc wrote as binary, as by -u_view binary:u.petsc, "
                    "or .h5 (HDF5), .vti, .vtr, .vts (VTK), .npy (NumPy)",
                    named.c_str());
  PetscCall(loaded.Get(da));
  if (std::find(std::begin(endings), std::end(endings), ending_of(file)) == std::end(endings))
    PetscCall(load_binary(named, file, loaded));
  else {
    PetscCall(DMDAGetInfo(da, &dim, &N[0], &N[1], &N[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    while (dim-- > 0) grid.push_back((size_t)N[dim]);
    if (rank == 0) problem = read_values(file, grid, names, &values);
    SHELLAC_CHECK_ALL(problem.empty(), comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %s", named.c_str(), problem.c_str());
    PetscCall(distribute(da, values, loaded));
  }
  PetscCall(VecCopy(loaded, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
