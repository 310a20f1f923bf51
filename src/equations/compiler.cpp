#include "equations/compiler.hpp"

#include <cctype>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

#include "equations/cache.hpp"
#include "equations/cores.hpp"
#include "equations/source.hpp"
#include "equation_compiler.inc" // SHELLAC_EQUATION_CXX

namespace shellac {

static const char flags[] = "-std=c++17 -O3 -march=native -fPIC -w -fno-math-errno -fno-trapping-math "
                            "-fno-signed-zeros -freciprocal-math -ffinite-math-only "
                            "--param=sra-max-scalarization-size-Ospeed=512"; // GCC: derivatives in registers
// Of several parts: what runs seldom compiles in two thirds of the time.
static const char flags_of_first_part[] = "-O1 -ftree-vectorize ";

#if defined(__x86_64__) && defined(__gnu_linux__)
static const char libraries[] = " -Wl,--as-needed -lmvec -lm"; // see SHELLAC_IN_VECTORS
#else
static const char libraries[] = "";
#endif

static std::string compiler() {
  const char *own = getenv("SHELLAC_CXX");
  return own && *own ? own : SHELLAC_EQUATION_CXX;
}

// The user's options of it, after ours.
static std::string own_flags() {
  const char *own = getenv("SHELLAC_CXXFLAGS");
  return own && *own ? std::string(own) + " " : "";
}

// The first line that `COMPILER --version` prints. If the compiler cannot be run, that of the build, so that a machine without a
// compiler finds the results of another machine with the same compiler.
static std::string read_version(const std::string &name) {
  char        line[512] = "";
  FILE       *pipe = popen((name + " --version 2>/dev/null </dev/null").c_str(), "r");
  const bool  some = pipe && fgets(line, sizeof(line), pipe);
  std::string rest = some ? line : SHELLAC_EQUATION_CXX_VERSION;
  if (pipe) {
    while (fgets(line, sizeof(line), pipe)) {
    }
    pclose(pipe);
  }
  while (!rest.empty() && rest.back() == '\n') rest.pop_back();
  return rest;
}
static const std::string &version() {
  static std::map<std::string, std::string> read;
  const std::string                         name = compiler();
  if (!read.count(name)) read[name] = read_version(name);
  return read[name];
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

// A message in the field's words: "unknown" for the type shellac::equation::Unknown<...>.
static std::string in_words(std::string line) {
  static const char *const names[][2] = {
      {"Unknown<", "unknown"}, {"Coefficient<", "field"}, {"Number<", "number"}, {"Complex<", "Complex number"}};
  for (const auto &name : names) {
    const std::string type = name[0], scope = "shellac::equation::";
    for (size_t at; (at = line.find(type)) != std::string::npos;) {
      size_t end = at + type.size();
      if (at >= scope.size() && line.compare(at - scope.size(), scope.size(), scope) == 0) at -= scope.size();
      for (int depth = 1; depth && end < line.size(); end++) depth += line[end] == '<' ? 1 : line[end] == '>' ? -1 : 0;
      line.replace(at, end - at, name[1]);
    }
  }
  for (size_t at = 0; (at = line.find("t_", at)) != std::string::npos; at++) // the text's names, see name_in_cpp()
    if (!at || !(std::isalnum((unsigned char)line[at - 1]) || line[at - 1] == '_')) line.erase(at, 2);
  return line;
}

// The compiler's first error and the user's line; the whole output if there is none.
static std::string first_error(const std::string &output, const SourceText &text) {
  std::istringstream stream(output);
  std::string        line;
  while (std::getline(stream, line) && line.find("error:") == std::string::npos) {
  }
  if (line.find("error:") == std::string::npos) return output.substr(0, 900);
  line = in_words(line);
  const auto says = [&](const char *words) { return line.find(words) != std::string::npos; };
  if (says("‘I’") || says("'I'"))
    line += " (the imaginary unit I needs a PETSc with complex numbers)";
  else if (says("Complex number") && (says("operator<") || says("operator>") || says("binary expression")))
    line += " (complex numbers have no order; max, min, comparisons and upwind velocities take real ones, as real(k))";
  else if (says("Step(") || says("'Step'") || says("shellac::equation::Step"))
    line += " (steps to neighbours are integers, as u(1, 0))";
  else if (says("operands to") || says("operand types"))
    line += " (make them of one kind: u > 0 ? u + 0 : 0*u, or max(u, 0))";
  else if (says("helpers.hpp") && (says("no match for call to") || says("a call operator") || says(" function") ||
                                   says("point") || says("member reference")))
    line += " (laplacian, dx and the like take an unknown or a field itself: write 2*laplacian(u), not laplacian(2*u))";
  // the error's own line, or that which a helper was called from
  const std::string begin = std::string(compiled_text) + ":";
  const auto        is_of_text = [&](const std::string &l) { return l.compare(0, begin.size(), begin) == 0; };
  std::string       from = is_of_text(line) ? line : "";
  for (std::istringstream all(output); from.empty() && std::getline(all, from);)
    if (!is_of_text(from)) from.clear();
  const size_t number = text.lines.size() == 1 ? 1 : from.empty() ? 0 : (size_t)atol(from.c_str() + begin.size());
  if (number >= 1 && number <= text.lines.size()) {
    if (is_of_text(line)) line.erase(0, line.find("error:")); // columns are not the user's
    line = text.file + ":" + std::to_string(number) + ": " + line + "\n  " + text.lines[number - 1];
  }
  return line.substr(0, 900);
}

// The shell's command that makes a library of the parts of a source: the first one's messages, and the first status that is not
// zero.
static std::string command_of(const std::string &code, const std::string &to, int parts) {
  const std::string call = compiler() + " " + flags + " ", own = own_flags();
  if (parts == 1) return call + own + "-shared " + quoted(code) + " -o " + quoted(to) + libraries + " 2>&1 </dev/null";
  std::string command, wait = "s=0; ", objects;
  for (int k = parts; k-- > 0;) { // the first one in front of the others, which it waits for
    const std::string object = quoted(to + "." + std::to_string(k) + ".o"), number = std::to_string(k);
    command += call + (k ? "" : flags_of_first_part) + own + "-c -DSHELLAC_PART=" + number + " " + quoted(code) +
               " -o " + object +
               (k ? " >" + object + ".log 2>&1 </dev/null & p" + number + "=$!; " : " 2>&1 </dev/null; t=$?; ");
    if (k) wait += "wait $p" + number + " || { s=$?; cat " + object + ".log; }; rm -f " + object + ".log; ";
    objects += " " + object;
  }
  return command + wait + "[ $t = 0 ] || s=$t; [ $s = 0 ] && { " + compiler() + " -shared" + objects + " -o " +
         quoted(to) + libraries + " 2>&1; s=$?; }; rm -f" + objects + "; exit $s";
}

// On one rank: makes the library `path`; returns the error, or an empty string.
static std::string compile(const std::string &source, int parts, const SourceText &text, const std::string &folder,
                           const std::string &path) {
  if (!make_folder(folder)) return unwritable(folder);
  const std::string part = part_of_file(path), code = part + ".cpp";
  std::ofstream     stream(code);
  stream << source;
  stream.close();
  if (!stream) {
    unlink(code.c_str());
    return unwritable(folder);
  }
  const std::string   command = command_of(code, part, parts);
  const LauncherCores cores;
  FILE               *pipe = popen(command.c_str(), "r");
  std::string         output;
  char                buffer[4096];
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
    return "the compiler '" + compiler() + "', which compiles " + text.what +
           ", cannot be run; name another by the environment variable SHELLAC_CXX";
  if (output.find("error:") == std::string::npos)
    return "the compiler '" + compiler() +
           "' fails; name another by the environment variable SHELLAC_CXX. It says: " + first_error(output, text);
  return text.what + " does not compile: " + first_error(output, text);
}

PetscErrorCode CompileSource(MPI_Comm comm, const std::string &source, const SourceText &text, const char cache[],
                             const void **compiled, int parts) {
  static std::map<std::string, const void *> loaded;
  std::string                                path, problem, content;
  PetscMPIInt                                rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) // where it is compiled
    content = source + flags + flags_of_first_part + own_flags() + libraries + compiler() + version() + processor();
  const auto make = [&](const std::string &folder, const std::string &to) {
    return compile(source, parts, text, folder, to);
  };
  PetscCall(GetCachedFile(comm, cache, content, ".so", make, &path));
  auto &found = loaded[path];
  if (!found) {
    const std::string absolute = path.find('/') == std::string::npos ? "./" + path : path;
    if (void *library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL)) found = dlsym(library, "shellac_compiled");
    if (!found) {
      const char *error = dlerror();
      problem = "what was compiled for " + text.what + ", " + path +
                ", cannot be loaded: " + (error ? error : "it has no functions") +
                "; remove it, and it is compiled again";
    }
  }
  SHELLAC_CHECK_ALL(problem.empty(), comm, PETSC_ERR_LIB, "%s", problem.c_str());
  *compiled = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
