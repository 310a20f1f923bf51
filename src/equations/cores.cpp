#include "equations/cores.hpp"

#ifdef __linux__

#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace shellac {

namespace {

using Cores = std::vector<unsigned long>;

constexpr size_t words = 128; // 8192 cores

cpu_set_t *as_set(Cores &cores) {
  return reinterpret_cast<cpu_set_t *>(cores.data());
}
size_t bytes_of(const Cores &cores) {
  return cores.size() * sizeof(unsigned long);
}

// Of a process, or of this thread: 0; empty if the system does not say.
Cores cores_of(pid_t process) {
  Cores cores(words, 0);
  if (sched_getaffinity(process, bytes_of(cores), as_set(cores))) cores.clear();
  return cores;
}

bool launches_ranks(const std::string &program) {
  for (const char *name : {"mpirun", "mpiexec", "orte", "prte", "hydra_"}) // orterun, orted, prterun, hydra_pmi_proxy
    if (program.compare(0, std::string(name).size(), name) == 0) return true;
  return false;
}

pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, 5, "PPid:") == 0) return (pid_t)std::atol(line.c_str() + 5);
  return 0;
}

// The program that launched this process, or a script around it; 0 if there is none.
pid_t launcher() {
  pid_t process = getppid();
  for (int generation = 0; process > 0 && generation < 8; generation++, process = parent_of(process)) {
    std::ifstream file("/proc/" + std::to_string(process) + "/comm");
    std::string   program;
    if (std::getline(file, program) && launches_ranks(program)) return process;
  }
  return 0;
}

} // namespace

LauncherCores::LauncherCores() {
  const pid_t from = launcher();
  if (!from) return;
  Cores own = cores_of(0), all = cores_of(from);
  if (own.empty() || all.empty()) return;
  bool more = false;
  for (size_t w = 0; w < words; w++) {
    more = more || (all[w] & ~own[w]);
    all[w] |= own[w];
  }
  if (more && sched_setaffinity(0, bytes_of(all), as_set(all)) == 0) before_ = own;
}

LauncherCores::~LauncherCores() {
  if (!before_.empty()) (void)sched_setaffinity(0, bytes_of(before_), as_set(before_));
}

} // namespace shellac

#else

namespace shellac {

LauncherCores::LauncherCores() = default;
LauncherCores::~LauncherCores() = default;

} // namespace shellac

#endif
