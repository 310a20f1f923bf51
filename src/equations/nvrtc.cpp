#include "equations/nvrtc.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "equation_compiler.inc" // SHELLAC_CUDA_LIBRARIES
#include "equations/cache.hpp"
#include "equations/cores.hpp"

namespace shellac {

namespace {

const char *const flags[] = {"--std=c++17", "--device-as-default-execution-space", "--disable-warnings",
                             "--extra-device-vectorization"};

// The functions of nvrtc.h that are used; 0 is success.
struct Nvrtc {
  using Program = void *;
  struct Symbol { // becomes a function of the type that a member has
    void                     *at;
    template <class Function> operator Function *() const { return reinterpret_cast<Function *>(at); }
  };

  void *const library = open();
  bool        present = library;
  int (*version)(int *major, int *minor) = find("nvrtcVersion");
  int (*create)(Program *, const char *source, const char *name, int, const char *const *,
                const char *const *) = find("nvrtcCreateProgram");
  int (*compile)(Program, int count, const char *const *options) = find("nvrtcCompileProgram");
  int (*destroy)(Program *) = find("nvrtcDestroyProgram");
  int (*log_size)(Program, size_t *) = find("nvrtcGetProgramLogSize");
  int (*log)(Program, char *) = find("nvrtcGetProgramLog");
  int (*cubin_size)(Program, size_t *) = find("nvrtcGetCUBINSize");
  int (*cubin)(Program, char *) = find("nvrtcGetCUBIN");
  int (*ptx_size)(Program, size_t *) = find("nvrtcGetPTXSize");
  int (*ptx)(Program, char *) = find("nvrtcGetPTX");
  int (*count_architectures)(int *) = find("nvrtcGetNumSupportedArchs");
  int (*architectures)(int *) = find("nvrtcGetSupportedArchs");

  static void *open() {
    void *library = nullptr;
    for (const std::string name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"})
      for (const std::string folder : {"", SHELLAC_CUDA_LIBRARIES "/", "/usr/local/cuda/lib64/"})
        if (!library && folder != "/") library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
    return library;
  }
  Symbol find(const char *name) {
    const Symbol symbol = {library ? dlsym(library, name) : nullptr};
    present = present && symbol.at;
    return symbol;
  }
  std::string release() const {
    int major = 0, minor = 0;
    if (present) (void)version(&major, &minor);
    return std::to_string(major) + "." + std::to_string(minor);
  }
  // The best known architecture for a GPU of this one.
  int best_for(int architecture) const {
    int count = 0, best = 0;
    (void)count_architectures(&count);
    std::vector<int> known((size_t)count);
    (void)architectures(known.data());
    for (const int a : known)
      if (a <= architecture && a > best) best = a;
    return best;
  }
};

const Nvrtc &nvrtc() {
  static const Nvrtc loaded;
  return loaded;
}

} // namespace

bool nvrtc_present() {
  return nvrtc().present;
}

std::string nvrtc_compile(const std::string &source, const std::string &name, int architecture, std::string *binary) {
  const Nvrtc   &n = nvrtc();
  Nvrtc::Program program;
  size_t         size = 0;

  if (!n.present) return "NVRTC, a library of the CUDA Toolkit, is not found; add its folder to LD_LIBRARY_PATH";
  const int         best = n.best_for(architecture);
  const bool        exact = best == architecture;
  const std::string target = std::string("--gpu-architecture=") + (exact ? "sm_" : "compute_") + std::to_string(best);
  if (n.create(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr)) return "NVRTC fails";
  std::vector<const char *> options(flags, flags + sizeof(flags) / sizeof(*flags));
  options.push_back(target.c_str());
  const bool compiled = n.compile(program, (int)options.size(), options.data()) == 0;
  if (compiled) {
    (void)(exact ? n.cubin_size : n.ptx_size)(program, &size);
    binary->resize(size);
    if (size) (void)(exact ? n.cubin : n.ptx)(program, &(*binary)[0]);
  }
  std::string log;
  if (!compiled && n.log_size(program, &size) == 0 && size) {
    log.resize(size);
    (void)n.log(program, &log[0]);
  }
  (void)n.destroy(&program);
  return compiled ? "" : name + " does not compile for the GPU: " + log.substr(0, 900);
}

// Each of some sources, in no more threads than there are cores; the first problem.
static std::string compile_all(const std::vector<std::string> &sources, const std::string &name, int architecture,
                               std::vector<std::string> *binaries) {
  const LauncherCores      more_cores; // before they are counted
  std::vector<std::string> problems(sources.size());
  std::vector<std::thread> others;
  std::atomic<size_t>      next{0};
  const size_t             cores = std::max(1u, std::thread::hardware_concurrency());
  const auto               work = [&] {
    for (size_t k; (k = next++) < sources.size();)
      problems[k] = nvrtc_compile(sources[k], name, architecture, &(*binaries)[k]);
  };

  binaries->resize(sources.size());
  try {
    while (others.size() + 1 < std::min(sources.size(), cores)) others.emplace_back(work);
  } catch (const std::system_error &) { // no more threads: this one does their work
  }
  work();
  for (std::thread &t : others) t.join();
  for (const std::string &problem : problems)
    if (!problem.empty()) return problem;
  return "";
}

// A file of binaries: the size of each one in a line in front of it.
static void write_binaries(std::ostream &file, const std::vector<std::string> &binaries) {
  for (const std::string &binary : binaries) file << binary.size() << '\n' << binary;
}
static std::vector<std::string> read_binaries(std::istream &file) {
  std::vector<std::string> binaries;
  for (size_t size; file >> size && file.get() == '\n';) {
    binaries.emplace_back(size, '\0');
    if (!file.read(&binaries.back()[0], (std::streamsize)size)) return {};
  }
  return binaries;
}

PetscErrorCode CompileKernels(MPI_Comm comm, const std::vector<std::string> &sources, const std::string &name,
                              int architecture, const char cache[], std::vector<std::string> *binaries,
                              std::string *problem) {
  std::string key;
  PetscMPIInt rank;

  PetscFunctionBegin;
  binaries->clear();
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) { // where they are compiled
    for (const std::string &source : sources) key += source;
    key += std::to_string(architecture) + " " + nvrtc().release();
    for (const char *flag : flags) key += flag;
  }
  const auto make = [&](const std::string &path) {
    std::vector<std::string> made;
    std::string              wrong = compile_all(sources, name, architecture, &made);
    std::ofstream            file(path, std::ios::binary);
    write_binaries(file, made);
    file.close();
    return !wrong.empty() || file ? wrong : "the file " + path + " cannot be written; is the disk full?";
  };
  const auto read = [&](const std::string &, const std::string &bytes) {
    std::istringstream stream(bytes);
    *binaries = read_binaries(stream);
  };
  PetscCall(GetCachedFile(comm, cache, key, ".cubins", make, read, problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
