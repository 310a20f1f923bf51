#include "equations/compiler.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <unistd.h>

#include "equations/cache.hpp"
#include "equations/cores.hpp"
#include "equations/process.hpp"
#include "equations/source.hpp"
#include "equation_compiler.inc" // SHELLAC_EQUATION_CXX

namespace shellac {

using Words = std::vector<std::string>;

static const Words flags = {"-std=c++17",
                            "-O3",
                            "-fPIC",
                            "-w",
                            "-fno-math-errno",
                            "-fno-trapping-math",
                            "-fno-signed-zeros",
                            "-freciprocal-math",
                            "--param=sra-max-scalarization-size-Ospeed=512"}; // GCC: derivatives in registers
// Of several parts: what runs seldom compiles in two thirds of the time.
static const Words flags_of_first_part = {"-O1", "-ftree-vectorize"};

#if defined(__x86_64__) && defined(__gnu_linux__)
static const Words libraries = {"-Wl,--as-needed", "-lmvec", "-lm"}; // see SHELLAC_IN_VECTORS
#else
static const Words libraries = {};
#endif

static std::string variable(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}
static void append(Words *words, const Words &more) {
  words->insert(words->end(), more.begin(), more.end());
}
static std::string joined(const Words &words) {
  std::string all;
  for (const std::string &word : words) all += word + " ";
  return all;
}

// ---- the compiler ----------------------------------------------------------------------------------------------------

struct Compiler {
  std::string name, version;
  Words       command; // its name may have options behind it
};

static bool find_version(const std::string &name, Compiler *compiler) {
  compiler->name = name;
  compiler->command = access(name.c_str(), X_OK) ? words_of(name) : Words{name}; // a path may have blanks
  Words call = compiler->command;
  call.push_back("--version");
  std::string output;
  if (Process(call).wait(&output) != 0) return false;
  compiler->version = output.substr(0, output.find('\n'));
  return true;
}

// That of $SHELLAC_CXX, of the build, or another one of this machine where the build's is no more.
static const Compiler &compiler() {
  static std::map<std::string, Compiler> found;
  const std::string                      own = variable("SHELLAC_CXX"), key = own.empty() ? SHELLAC_EQUATION_CXX : own;
  const auto                             known = found.find(key);
  if (known != found.end()) return known->second;
  Compiler &c = found[key];
  Words     names = {key};
  if (own.empty()) append(&names, {"c++", "g++", "clang++"});
  for (const std::string &name : names)
    if (find_version(name, &c)) return c;
  (void)find_version(key, &c);
  return c;
}
// What is asked for: no machine needs a compiler for what another one has compiled.
static std::string compiler_in_key() {
  const std::string own = variable("SHELLAC_CXX");
  return own.empty() ? SHELLAC_EQUATION_CXX SHELLAC_EQUATION_CXX_VERSION : own;
}

// ---- the processor ---------------------------------------------------------------------------------------------------

static Words lines_about_processor() { // what Linux says of the first core: its model, and what it can do
  std::ifstream file("/proc/cpuinfo");
  Words         lines;
  for (std::string line; std::getline(file, line) && !line.empty();)
    for (const char *begin : {"model", "flags", "CPU ", "Features", "cpu\t", "isa"})
      if (line.compare(0, strlen(begin), begin) == 0) lines.push_back(line);
  return lines;
}

#if defined(__x86_64__)
static const struct {
  const char *name;
  Words       features, flags; // of Linux; of the compiler
} levels[] = {{"x86-64", {}, {}},
              {"x86-64-v2", {"sse4_2", "popcnt", "ssse3"}, {"-msse4.2", "-mpopcnt"}},
              {"x86-64-v3", {"avx2", "fma", "bmi1", "bmi2"}, {"-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mtune=haswell"}},
              {"x86-64-v4",
               {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
               {"-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl", "-mtune=skylake-avx512"}}};

static int level_of_processor() {
  Words can;
  for (const std::string &line : lines_about_processor())
    if (line.compare(0, 5, "flags") == 0) can = words_of(line);
  for (int level = 1; level < 4; level++)
    for (const std::string &feature : levels[level].features)
      if (std::find(can.begin(), can.end(), feature) == can.end()) return level - 1;
  return 3;
}
#endif

// Options for a processor that all ranks have, or that is a part of each; *name: of it, for the key of the cache.
// SHELLAC_PROCESSOR names one that is as old as all which use the cache. Collective.
static PetscErrorCode GetTarget(MPI_Comm comm, Words *options, std::string *name) {
  const std::string most = variable("SHELLAC_PROCESSOR");

  PetscFunctionBegin;
#if defined(__x86_64__)
  static const int own = level_of_processor();
  int              level = most.empty() ? own : -1;
  for (int l = 0; l < 4; l++)
    if (most == levels[l].name) level = std::min(l, own);
  SHELLAC_CHECK_ALL(level >= 0, comm, PETSC_ERR_USER,
                    "SHELLAC_PROCESSOR is '%s', no processor that texts are compiled for; use x86-64, x86-64-v2, "
                    "x86-64-v3 or x86-64-v4, or leave it out",
                    most.c_str());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MIN, comm));
  for (int l = 0; l <= level; l++) append(options, levels[l].flags);
  *name = levels[level].name;
#else
  static const std::string hash = hash_of(joined(lines_about_processor()));
  SHELLAC_CHECK_ALL(most.empty() || most == "any", comm, PETSC_ERR_USER,
                    "SHELLAC_PROCESSOR is '%s'; use any, or leave it out", most.c_str());
  std::vector<int> extremes = {!most.empty(), 0}; // whether any is named; each digit, and its negative
  for (const char digit : hash) extremes.insert(extremes.end(), {digit, -digit});
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, extremes.data(), (PetscMPIInt)extremes.size(), MPI_INT, MPI_MAX, comm));
  bool same = true;
  for (size_t d = 0; d < extremes.size(); d += 2) same = same && extremes[d] == -extremes[d + 1];
  if (same) options->push_back("-march=native");
  *name = same ? "native, " + hash : "any";
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- messages --------------------------------------------------------------------------------------------------------

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
  if (says("Complex number") && (says("operator<") || says("operator>") || says("binary expression")))
    line += " (complex numbers have no order; max, min, comparisons and upwind velocities take real ones, as real(k))";
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

// ---- compiling -------------------------------------------------------------------------------------------------------

// On one rank: makes the library `path` of the parts of a source; returns the error, or an empty string.
static std::string compile(const std::string &source, int parts, const SourceText &text, const Words &target,
                           const std::string &target_name, const std::string &path) {
  const std::string folder = path.substr(0, path.rfind('/')), code = folder + "/source.cpp",
                    named = "the compiler '" + compiler().name + "'";
  std::ofstream stream(code);
  stream << source;
  stream.close();
  if (!stream)
    return "the file " + code +
           " cannot be written; is the disk full? Another folder for temporary files is named by "
           "the environment variable TMPDIR";
  const LauncherCores                   cores;
  const Words                           own = words_of(variable("SHELLAC_CXXFLAGS"));
  std::vector<std::unique_ptr<Process>> running;
  Words                                 objects;
  std::string                           output;
  int                                   status = 0;
  const auto                            command = [&](const Words &more, const Words &last) {
    Words words = compiler().command;
    append(&words, flags);
    append(&words, target);
    append(&words, more);
    append(&words, own);
    append(&words, last);
    return words;
  };
  const auto finish = [&] { // the first status that is not zero
    for (auto &process : running) {
      const int own_status = process->wait(&output);
      status = status ? status : own_status;
    }
    running.clear();
  };
  // without optimisation the headers take longer than the parts
  if (std::find(own.begin(), own.end(), "-O0") != own.end()) parts = 1;
  for (int k = 0; k < parts && parts > 1; k++) {
    objects.push_back(folder + "/" + std::to_string(k) + ".o");
    running.push_back(
        std::make_unique<Process>(command(k ? Words{} : flags_of_first_part,
                                          {"-c", "-DSHELLAC_PART=" + std::to_string(k), code, "-o", objects.back()}),
                                  folder));
  }
  finish();
  if (status == 0) {
    Words last = parts > 1 ? objects : Words{code};
    last.insert(last.begin(), "-shared");
    append(&last, {"-o", path});
    append(&last, libraries);
    running.push_back(std::make_unique<Process>(command({}, last), folder));
    finish();
  }
  if (status == 0 && access(path.c_str(), R_OK) == 0) return "";
  if (status == Process::cannot_run || status == 126)
    return named + ", which compiles " + text.what + ", cannot be run, and the cache has no result for the processor " +
           target_name +
           "; name another compiler by the environment variable SHELLAC_CXX, or run the program once where there is "
           "one, with the same SHELLAC_CACHE and SHELLAC_PROCESSOR";
  if (status > 256) output += " (it was ended by signal " + std::to_string(status - 256) + ")";
  if (output.find("error:") == std::string::npos)
    return named +
           " fails; name another by the environment variable SHELLAC_CXX. It says: " + first_error(output, text);
  return text.what + " does not compile: " + first_error(output, text);
}

PetscErrorCode CompileSource(MPI_Comm comm, const std::string &source, const SourceText &text, const char cache[],
                             const void **compiled, int parts, bool ahead) {
  static std::map<std::string, const void *> loaded; // by the hash of the key
  std::string                                problem, failed, key, hash(32, '0'), target_name, kept;
  Words                                      target;
  PetscMPIInt                                rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(GetTarget(comm, &target, &target_name));
  if (rank == 0) { // where it is compiled
    key = source + joined(flags) + joined(flags_of_first_part) + joined(target) + target_name +
          variable("SHELLAC_CXXFLAGS") + joined(libraries) + compiler_in_key();
    hash = hash_of(key);
  }
  PetscCallMPI(MPI_Bcast(&hash[0], 32, MPI_CHAR, 0, comm));
  int is_loaded = loaded.count(hash) > 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &is_loaded, 1, MPI_INT, MPI_MIN, comm));
  const auto make = [&](const std::string &to) {
    (void)!PetscInfo(NULL, "The compiler for %s is %s (%s), its processor %s\n", text.what.c_str(),
                     compiler().name.c_str(), compiler().version.c_str(), target_name.c_str());
    return compile(source, parts, text, target, target_name, to);
  };
  const auto load = [&](const std::string &path, const std::string &) {
    const void *found = nullptr;
    kept = path;
    if (loaded.count(hash)) return;
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) found = dlsym(library, "shellac_compiled");
    const char *error = found ? nullptr : dlerror();
    if (found)
      loaded[hash] = found;
    else
      failed = "what was compiled for " + text.what + ", " + path +
               ", cannot be loaded: " + (error ? error : "it has no functions") +
               "; name another cache folder, where programs may be, by the environment variable SHELLAC_CACHE";
  };
  if (!is_loaded) PetscCall(GetCachedFile(comm, cache, key, ".so", make, load, &problem, ahead));
  PetscCheck(problem.empty(), comm, PETSC_ERR_USER, "%s", problem.c_str());
  SHELLAC_CHECK_ALL(failed.empty(), comm, PETSC_ERR_LIB, "%s", failed.c_str());
  if (ahead && !is_loaded)
    PetscCall(PetscPrintf(comm, "%s is compiled for %s: %s\n", text.file.c_str(), target_name.c_str(), kept.c_str()));
  *compiled = loaded[hash];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
