#include "equations/compiler.hpp"

#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "equation_compiler.inc" // SHELLAC_EQUATION_CXX

namespace shellac {

static const char flags[] =
    "-std=c++17 -O3 -march=native -fPIC -shared -w -fno-diagnostics-show-caret -fno-math-errno -fno-trapping-math "
    "-fno-signed-zeros -freciprocal-math -ffinite-math-only";

// Two hashes of 64 bits (Fowler, Noll, Vo: FNV-1a) with different starts, as 32 digits.
static std::string hash_of(const std::string &text) {
  std::uint64_t hash[2] = {14695981039346656037u, 0x9e3779b97f4a7c15u};
  for (const unsigned char c : text)
    for (auto &h : hash) h = (h ^ c) * 1099511628211u;
  char digits[33];
  snprintf(digits, sizeof(digits), "%016llx%016llx", (unsigned long long)hash[0], (unsigned long long)hash[1]);
  return digits;
}

static std::string compiler() {
  const char *own = getenv("SHELLAC_CXX");
  return own && *own ? own : SHELLAC_EQUATION_CXX;
}

static std::string read_processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string   line, text;
  while (std::getline(file, line) && !line.empty())
    if (line.compare(0, 5, "model") == 0 || line.compare(0, 5, "flags") == 0) text += line;
  return text;
}

// -march=native depends on it.
static const std::string &processor() {
  static const std::string text = read_processor();
  return text;
}

static std::string quoted(const std::string &text) { // for the shell
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

static bool exists(const std::string &path) {
  return access(path.c_str(), R_OK) == 0;
}

// Makes a folder and those above it.
static bool make_folder(const std::string &path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0700);
    if (slash == std::string::npos) break;
  }
  return access(path.c_str(), W_OK | X_OK) == 0;
}

static std::string cache_folder(const char given[]) {
  if (given && *given) return given;
  const auto variable = [](const char *name) {
    const char *value = getenv(name);
    return std::string(value ? value : "");
  };
  if (!variable("SHELLAC_CACHE").empty()) return variable("SHELLAC_CACHE");
  if (!variable("XDG_CACHE_HOME").empty()) return variable("XDG_CACHE_HOME") + "/shellac/equations";
  if (!variable("HOME").empty()) return variable("HOME") + "/.cache/shellac/equations";
  return "";
}

static std::string unwritable(const std::string &folder) {
  return "the cache folder '" + folder +
         "' cannot be written; name one that can by -equation_cache or the environment variable SHELLAC_CACHE";
}

// A name for a file that becomes `path` when it is whole.
static std::string part_of(const std::string &path) {
  char host[64] = "";
  gethostname(host, sizeof(host) - 1);
  return path + "." + host + "." + std::to_string(getpid());
}

// The compiler's first error, and the user's line that it is about; all that it says where there is none.
static std::string first_error(const std::string &output, const std::string &file,
                               const std::vector<std::string> &lines) {
  std::istringstream stream(output);
  std::string        line;
  while (std::getline(stream, line) && line.find("error:") == std::string::npos) {
  }
  if (line.find("error:") == std::string::npos) return output.substr(0, 900);
  if (line.compare(0, file.size() + 1, file + ":") == 0) {
    const size_t number = (size_t)atol(line.c_str() + file.size() + 1);
    if (number >= 1 && number <= lines.size()) line += "\n  " + lines[number - 1];
  }
  return line.substr(0, 900);
}

// On one rank: makes the library `path`; what is wrong, or empty.
static std::string compile(const std::string &source, const std::string &file, const std::vector<std::string> &lines,
                           const std::string &folder, const std::string &path) {
  if (!make_folder(folder)) return unwritable(folder);
  const std::string part = part_of(path), code = part + ".cpp";
  std::ofstream     stream(code);
  stream << source;
  stream.close();
  if (!stream) {
    unlink(code.c_str());
    return unwritable(folder);
  }
  const std::string command =
      compiler() + " " + flags + " " + quoted(code) + " -o " + quoted(part) + " 2>&1 </dev/null";
  FILE       *pipe = popen(command.c_str(), "r");
  std::string output;
  char        buffer[4096];
  if (pipe)
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) output.append(buffer, n);
  const int status = pipe ? pclose(pipe) : -1;
  unlink(code.c_str());
  if (status == 0 && rename(part.c_str(), path.c_str()) == 0) return "";
  unlink(part.c_str());
  if (status == 0) return unwritable(folder);
  const bool missing =
      status == -1 || (WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126));
  if (missing)
    return "the compiler '" + compiler() +
           "', which compiles equations, cannot be run; name another by the environment variable SHELLAC_CXX";
  if (output.find("error:") == std::string::npos)
    return "the compiler '" + compiler() + "' fails; name another by the environment variable SHELLAC_CXX. It says: " +
           first_error(output, file, lines);
  return "the equation does not compile: " + first_error(output, file, lines);
}

static PetscErrorCode broadcast(MPI_Comm comm, std::string *text) {
  PetscInt size = (PetscInt)text->size();

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&size, 1, MPIU_INT, 0, comm));
  text->resize((size_t)size);
  PetscCallMPI(MPI_Bcast(&(*text)[0], (PetscMPIInt)size, MPI_CHAR, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Ranks that do not see the first rank's file get a copy of it. *path: this rank's.
static PetscErrorCode share_file(MPI_Comm comm, const std::string &folder, const std::string &path) {
  int         seen = exists(path), all;
  std::string bytes, problem;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&seen, &all, 1, MPI_INT, MPI_MIN, comm));
  if (all) PetscFunctionReturn(PETSC_SUCCESS);
  if (seen) {
    std::ifstream      file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    bytes = content.str();
  }
  PetscCall(broadcast(comm, &bytes));
  if (!seen) {
    make_folder(folder);
    std::ofstream file(part_of(path), std::ios::binary);
    file << bytes;
    file.close();
    if (!file || rename(part_of(path).c_str(), path.c_str())) problem = unwritable(folder);
  }
  SHELLAC_CHECK_ALL(problem.empty(), comm, PETSC_ERR_FILE_OPEN, "%s", problem.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CompileEquation(MPI_Comm comm, const std::string &source, const std::string &file,
                               const std::vector<std::string> &lines, const char cache[],
                               const equation::Functions **functions) {
  static std::map<std::string, const equation::Functions *> loaded;
  PetscMPIInt                                               rank;
  std::string                                               path, folder, problem;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    folder = cache_folder(cache);
    path = folder + "/" + hash_of(source + flags + compiler() + processor()) + ".so";
    if (folder.empty())
      problem = "there is no cache folder for compiled equations; name one by -equation_cache or the environment "
                "variable SHELLAC_CACHE";
    else if (!exists(path))
      problem = compile(source, file, lines, folder, path);
  }
  PetscCall(broadcast(comm, &problem));
  PetscCheck(problem.empty(), comm, PETSC_ERR_USER, "%s", problem.c_str());
  PetscCall(broadcast(comm, &folder));
  PetscCall(broadcast(comm, &path));
  PetscCall(share_file(comm, folder, path));
  auto &found = loaded[path];
  if (!found) {
    const std::string absolute = path.find('/') == std::string::npos ? "./" + path : path;
    if (void *library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL))
      found = static_cast<const equation::Functions *>(dlsym(library, "shellac_equation"));
    if (!found) {
      const char *text = dlerror();
      problem = "the compiled equation " + path + " cannot be loaded: " + (text ? text : "it has no functions") +
                "; remove it, and it is compiled again";
    }
  }
  SHELLAC_CHECK_ALL(problem.empty(), comm, PETSC_ERR_LIB, "%s", problem.c_str());
  *functions = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
