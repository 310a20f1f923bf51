#include "equations/cache.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace shellac {

// Two hashes of 64 bits (Fowler, Noll, Vo: FNV-1a) with different starts, as 32 digits.
static std::string hash_of(const std::string &text) {
  std::uint64_t hash[2] = {14695981039346656037u, 0x9e3779b97f4a7c15u};
  for (const unsigned char c : text)
    for (auto &h : hash) h = (h ^ c) * 1099511628211u;
  char digits[33];
  snprintf(digits, sizeof(digits), "%016llx%016llx", (unsigned long long)hash[0], (unsigned long long)hash[1]);
  return digits;
}

static bool exists(const std::string &path) {
  return access(path.c_str(), R_OK) == 0;
}

bool make_folder(const std::string &path) {
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

std::string unwritable(const std::string &folder) {
  return "the cache folder '" + folder +
         "' cannot be written; name one that can by the environment variable SHELLAC_CACHE, or for an equation by "
         "-equation_cache";
}

std::string part_of_file(const std::string &path) {
  char host[64] = "";
  gethostname(host, sizeof(host) - 1);
  return path + "." + host + "." + std::to_string(getpid());
}

// A barrier in which waiting ranks sleep: in MPI's barrier and broadcast each would occupy a core, which the compiler needs.
static PetscErrorCode sleep_until_all_are_here(MPI_Comm comm) {
  MPI_Request request;
  PetscMPIInt ranks;
  int         done = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Ibarrier(comm, &request));
  for (useconds_t pause = 10;; pause = std::min<useconds_t>(2 * pause, 2000)) { // in microseconds
    PetscCallMPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done) break;
    usleep(pause);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
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
    std::ofstream file(part_of_file(path), std::ios::binary);
    file << bytes;
    file.close();
    if (!file || rename(part_of_file(path).c_str(), path.c_str())) problem = unwritable(folder);
  }
  SHELLAC_CHECK_ALL(problem.empty(), comm, PETSC_ERR_FILE_OPEN, "%s", problem.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetCachedFile(MPI_Comm comm, const char given[], const std::string &content, const char extension[],
                             const std::function<std::string(const std::string &folder, const std::string &path)> &make,
                             std::string *path) {
  PetscMPIInt rank;
  std::string folder, problem;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    folder = cache_folder(given);
    *path = folder + "/" + hash_of(content) + extension;
    if (folder.empty())
      problem =
          "there is no cache folder for what is compiled; name one by the environment variable SHELLAC_CACHE, or for "
          "an equation by -equation_cache";
    else if (!exists(*path))
      problem = make(folder, *path);
  }
  PetscCall(sleep_until_all_are_here(comm));
  PetscCall(broadcast(comm, &problem));
  PetscCheck(problem.empty(), comm, PETSC_ERR_USER, "%s", problem.c_str());
  PetscCall(broadcast(comm, &folder));
  PetscCall(broadcast(comm, path));
  PetscCall(share_file(comm, folder, *path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
