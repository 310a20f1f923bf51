#include "equations/cache.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace shellac {

static constexpr long long most_bytes_of_cache = 512 << 20;
static constexpr long      day = 24 * 60 * 60; // [s]

std::string hash_of(const std::string &text) { // two of 64 bits (Fowler, Noll, Vo: FNV-1a), with different starts
  std::uint64_t hash[2] = {14695981039346656037u, 0x9e3779b97f4a7c15u};
  for (const unsigned char c : text)
    for (auto &h : hash) h = (h ^ c) * 1099511628211u;
  char digits[33];
  snprintf(digits, sizeof(digits), "%016llx%016llx", (unsigned long long)hash[0], (unsigned long long)hash[1]);
  return digits;
}

// ---- folders ---------------------------------------------------------------------------------------------------------

static std::string real_path(const std::string &path) { // absolute, without links; empty: there is none
  const std::unique_ptr<char, void (*)(void *)> real(realpath(path.c_str(), nullptr), free);
  return real ? real.get() : "";
}

static bool is_own(const struct stat &info) {
  return info.st_uid == geteuid() || info.st_uid == 0;
}

std::string untrusted(const std::string &path) {
  for (size_t slash = 0; slash != std::string::npos;) {
    slash = path.find('/', slash + 1);
    const std::string part = slash == 1 ? "/" : path.substr(0, slash);
    struct stat       info;
    if (lstat(part.c_str(), &info) || !S_ISDIR(info.st_mode)) return part + " is no folder";
    if (!is_own(info)) return part + " belongs to another user";
    // in a folder like /tmp nobody removes or renames what is another's
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) && !(info.st_mode & S_ISVTX)) return "others can write in " + part;
  }
  return "";
}

// The names in a folder, and what the system knows of them.
struct CacheFile {
  std::string path;
  struct stat info;
};
static std::vector<CacheFile> entries_of(const std::string &folder, bool (*is_ours)(const std::string &name)) {
  std::vector<CacheFile> entries;
  DIR               *open = opendir(folder.c_str());
  while (const dirent *next = open ? readdir(open) : nullptr) {
    CacheFile e{folder + "/" + next->d_name, {}};
    if (is_ours(next->d_name) && !lstat(e.path.c_str(), &e.info) && e.info.st_uid == geteuid()) entries.push_back(e);
  }
  if (open) closedir(open);
  return entries;
}

static const char temporary_folder[] = "shellac-compiles-", part_of_file[] = ".shellac-part-", pattern[] = "XXXXXX";
static bool is_of(const std::string &name, const char *begin) { // with such a pattern behind; else it is the user's own
  return name.size() == strlen(begin) + strlen(pattern) && name.compare(0, strlen(begin), begin) == 0;
}
static bool is_old(const CacheFile &e) {
  return e.info.st_mtime + day < time(nullptr);
}

static void remove_folder(const std::string &path) {
  for (const CacheFile &e : entries_of(path, [](const std::string &name) { return name != "." && name != ".."; }))
    unlink(e.path.c_str());
  rmdir(path.c_str());
}

PrivateFolder::PrivateFolder() {
  const char *given = getenv("TMPDIR");
  for (const char *name : {given && *given ? given : "/tmp", "/tmp", "/var/tmp"}) {
    const std::string folder = real_path(name);
    if (folder.empty() || !untrusted(folder).empty()) continue;
    for (const CacheFile &e : entries_of(folder, [](const std::string &n) { return is_of(n, temporary_folder); }))
      if (S_ISDIR(e.info.st_mode) && is_old(e)) remove_folder(e.path); // of programs that were stopped
    std::string path = folder + "/" + temporary_folder + pattern;
    if (!mkdtemp(&path[0])) continue;
    path_ = path;
    return;
  }
}

PrivateFolder::~PrivateFolder() {
  if (!path_.empty()) remove_folder(path_);
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

static void make_folders(const std::string &path) { // and those above it
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0700);
    if (slash == std::string::npos) break;
  }
}

static std::string unwritable(const std::string &folder) {
  return "the cache folder '" + folder +
         "' cannot be written; name one that can by the environment variable SHELLAC_CACHE, or for an equation by "
         "-equation_cache";
}

// ---- files -----------------------------------------------------------------------------------------------------------

// A file of the cache: what was made, the key, and a line about both.
static std::string line_about(size_t bytes, size_t key, const std::string &checksum) {
  char line[96];
  snprintf(line, sizeof(line), "\nshellac %20zu %20zu %s\n", bytes, key, checksum.c_str());
  return line;
}

static bool read_all(int file, size_t size, std::string *content) {
  content->resize(size);
  for (size_t at = 0; at < size;) {
    const ssize_t n = read(file, &(*content)[at], size - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += (size_t)n;
  }
  return true;
}

// The bytes and the key of a file, in turn, without the line. Returns whether it is whole and no other user can have
// written it.
static bool read_file(const std::string &path, std::string *content, size_t *bytes) {
  const size_t length = line_about(0, 0, hash_of("")).size();
  const int    file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat  info;
  size_t       key = 0;
  if (file < 0) return false;
  bool valid = !fstat(file, &info) && S_ISREG(info.st_mode) && is_own(info) && !(info.st_mode & (S_IWGRP | S_IWOTH)) &&
               info.st_size >= (off_t)length && read_all(file, (size_t)info.st_size, content);
  if (valid && info.st_mtime + day / 24 < time(nullptr)) (void)futimens(file, nullptr); // it is in use
  close(file);
  if (!valid) return false;
  const std::string line = content->substr(content->size() - length);
  content->resize(content->size() - length);
  return sscanf(line.c_str(), " shellac %zu %zu", bytes, &key) == 2 && *bytes + key == content->size() &&
         line == line_about(*bytes, key, hash_of(*content));
}

// Returns why it cannot be written, or empty.
static std::string write_file(int file, const std::string &content) {
  for (size_t at = 0; at < content.size();) {
    const ssize_t n = write(file, content.data() + at, content.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return strerror(n ? errno : ENOSPC);
    at += (size_t)n;
  }
  return "";
}

// Puts a whole file into the cache, at once. Returns why that is not possible, or empty.
static std::string keep_file(const std::string &folder, const std::string &path, const std::string &bytes,
                             const std::string &key) {
  std::string part = folder + "/" + part_of_file + pattern;
  const int   file = mkstemp(&part[0]); // a new one, no link
  if (file < 0) return strerror(errno);
  const std::string content = bytes + key;
  std::string       problem = write_file(file, content + line_about(bytes.size(), key.size(), hash_of(content)));
  if (problem.empty() && (fchmod(file, 0644) || fsync(file))) problem = strerror(errno);
  if (close(file) && problem.empty()) problem = strerror(errno);
  if (problem.empty() && rename(part.c_str(), path.c_str())) problem = strerror(errno);
  if (!problem.empty()) unlink(part.c_str());
  return problem;
}

void prune_cache(const std::string &folder, long long most_bytes) {
  const auto is_kept = [](const std::string &name) { // by its hash; else it is the user's own
    const std::string extension = name.size() > 32 ? name.substr(32) : "";
    return name.find_first_not_of("0123456789abcdef") == 32 && (extension == ".so" || extension == ".cubins");
  };
  long long bytes = 0;
  for (const CacheFile &e : entries_of(folder, [](const std::string &name) { return is_of(name, part_of_file); }))
    if (is_old(e)) unlink(e.path.c_str());
  auto kept = entries_of(folder, is_kept);
  std::sort(kept.begin(), kept.end(),
            [](const CacheFile &a, const CacheFile &b) { return a.info.st_mtime > b.info.st_mtime; });
  for (const CacheFile &e : kept)
    if ((bytes += (long long)e.info.st_size) > most_bytes) unlink(e.path.c_str());
}

// ---- all ranks -------------------------------------------------------------------------------------------------------

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
  unsigned long long size = text->size();

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, comm));
  text->resize((size_t)size);
  for (size_t at = 0; at < text->size(); at += INT_MAX)
    PetscCallMPI(MPI_Bcast(&(*text)[at], (PetscMPIInt)std::min<size_t>(text->size() - at, INT_MAX), MPI_CHAR, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// What the first rank finds or makes.
struct Found {
  std::string bytes, path, problem;
  std::string news;            // for -info
  bool        is_kept = false; // in the cache, at this path; else it is in the private folder
};

} // namespace

static Found find_or_make(const char given[], const std::string &key, const char extension[], bool must_keep,
                          const std::function<std::string(const std::string &path)> &make,
                          std::unique_ptr<PrivateFolder>                            &own) {
  Found             found;
  const std::string named = cache_folder(given);
  size_t            bytes = 0;
  if (named.empty()) {
    found.problem =
        "there is no cache folder for what is compiled; name one by the environment variable SHELLAC_CACHE, or for "
        "an equation by -equation_cache";
    return found;
  }
  if (access(named.c_str(), F_OK)) make_folders(named);
  const std::string folder = real_path(named);
  std::string       why = folder.empty() ? "" : untrusted(folder);
  found.path = folder + "/" + hash_of(key) + extension;
  found.is_kept = why.empty() && !folder.empty() && read_file(found.path, &found.bytes, &bytes) &&
                  found.bytes.compare(bytes, std::string::npos, key) == 0;
  if (found.is_kept) {
    found.bytes.resize(bytes);
    found.news = "It is in the cache, " + found.path;
    return found;
  }
  own = std::make_unique<PrivateFolder>();
  if (folder.empty() || (why.empty() && access(folder.c_str(), W_OK | X_OK)))
    found.problem = unwritable(named);
  else if (own->path().empty())
    found.problem = "there is no folder for temporary files that others cannot change; name one by the environment "
                    "variable TMPDIR";
  if (!found.problem.empty()) return found;
  const std::string made = own->path() + "/made" + extension;
  found.problem = make(made);
  if (!found.problem.empty()) return found;
  const int   file = open(made.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (file < 0 || fstat(file, &info) || !read_all(file, (size_t)info.st_size, &found.bytes))
    found.problem = "what was compiled cannot be read in " + own->path();
  if (file >= 0) close(file);
  if (!found.problem.empty()) return found;
  if (why.empty()) why = keep_file(folder, found.path, found.bytes, key);
  found.is_kept = why.empty();
  found.news = found.is_kept ? "It is compiled, and kept in the cache, " + found.path
                             : "It is compiled, and not kept in the cache, " + named + ": " + why;
  if (found.is_kept)
    prune_cache(folder, most_bytes_of_cache);
  else if (must_keep)
    found.problem = "what is compiled ahead cannot be kept in the cache, " + named + ": " + why +
                    "; name another folder by the environment variable SHELLAC_CACHE";
  else
    found.path = made;
  return found;
}

PetscErrorCode GetCachedFile(MPI_Comm comm, const char given[], const std::string &key, const char extension[],
                             const std::function<std::string(const std::string &path)>                    &make,
                             const std::function<void(const std::string &path, const std::string &bytes)> &take,
                             std::string *problem, bool must_keep) {
  PetscMPIInt                    rank;
  Found                          found;
  std::unique_ptr<PrivateFolder> own;
  std::string                    checksum, bytes, wrong;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    found = find_or_make(given, key, extension, must_keep, make, own);
    if (!found.news.empty()) PetscCall(PetscInfo(NULL, "%s\n", found.news.c_str()));
    checksum = hash_of(found.bytes + key);
  }
  PetscCall(sleep_until_all_are_here(comm));
  *problem = found.problem;
  PetscCall(broadcast(comm, problem));
  if (!problem->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  std::string path = found.is_kept || rank ? found.path : "";
  PetscCall(broadcast(comm, &path));
  PetscCall(broadcast(comm, &checksum));
  int lacks = 0, some_lack;
  if (rank) { // does it see that very file?
    size_t size = 0;
    lacks = path.empty() || !untrusted(path.substr(0, path.rfind('/'))).empty() ||
            !read_file(path, &found.bytes, &size) || hash_of(found.bytes) != checksum;
    found.bytes.resize(lacks ? 0 : size);
  }
  PetscCallMPI(MPI_Allreduce(&lacks, &some_lack, 1, MPI_INT, MPI_MAX, comm));
  if (some_lack) {
    bytes = rank ? "" : found.bytes;
    PetscCall(broadcast(comm, &bytes));
  }
  if (lacks) {
    own = std::make_unique<PrivateFolder>();
    path = own->path() + "/copy" + extension;
    const int file = own->path().empty() ? -1 : open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    wrong = file < 0 ? strerror(errno) : write_file(file, bytes);
    if (file >= 0) close(file);
    found.bytes = bytes;
  } else if (rank == 0)
    path = found.path;
  SHELLAC_CHECK_ALL(wrong.empty(), comm, PETSC_ERR_FILE_OPEN,
                    "a file cannot be written for what was compiled (%s); name a folder for temporary files by the "
                    "environment variable TMPDIR",
                    wrong.c_str());
  take(path, found.bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace shellac
