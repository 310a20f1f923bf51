// The cache of what is compiled at run time: which files it takes, and what it leaves.

#include "catch.hpp"
#include "equations/cache.hpp"
#include "equations/compiler.hpp"
#include "support.hpp"

#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mount.h>
#endif

using namespace tests;

namespace {

// A folder of the ranks of `comm`. It goes, with all that is in it, when the last of them is done with it.
struct Folder {
  std::string    path;
  const MPI_Comm comm;
  bool           own = true;

  explicit Folder(MPI_Comm ranks = PETSC_COMM_SELF) : comm(ranks) {
    char        name[] = "/tmp/test-of-cache-XXXXXX";
    PetscMPIInt rank;
    OK(MPI_Comm_rank(comm, &rank) ? PETSC_ERR_MPI : PETSC_SUCCESS);
    own = rank == 0;
    if (own) REQUIRE(mkdtemp(name));
    OK(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, comm) ? PETSC_ERR_MPI : PETSC_SUCCESS);
    path = name;
  }
  ~Folder() {
    MPI_Barrier(comm);
    if (own) (void)!std::system(("rm -rf " + path).c_str());
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    DIR                     *open = opendir(path.c_str());
    while (const dirent *next = open ? readdir(open) : nullptr)
      if (std::string(next->d_name).find_first_not_of('.') != std::string::npos) names.push_back(next->d_name);
    if (open) closedir(open);
    return names;
  }
};

struct Taken {
  std::string bytes, path, problem;
  int         made = 0;
  bool is_in(const Folder &folder) const { return path.compare(0, folder.path.size() + 1, folder.path + "/") == 0; }
};

std::string read(const std::string &path) {
  std::ifstream      file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}
void write(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
}
void set_age(const std::string &path, long seconds) {
  const struct timespec then = {time(nullptr) - seconds, 0}, times[2] = {then, then};
  CHECK(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

Taken take(const Folder &folder, const std::string &key = "key", MPI_Comm comm = PETSC_COMM_SELF, size_t size = 1000) {
  Taken      taken;
  const auto make = [&](const std::string &path) {
    taken.made++;
    write(path, std::string(size, 'm') + key);
    return std::string();
  };
  OK(shellac::GetCachedFile(
      comm, folder.path.c_str(), key, ".so", make,
      [&](const std::string &path, const std::string &bytes) {
        taken.path = path, taken.bytes = bytes;
        CHECK(read(path).compare(0, bytes.size(), bytes) == 0); // a library may have more behind it
      },
      &taken.problem));
  CHECK(taken.problem == "");
  CHECK(taken.bytes == std::string(size, 'm') + key);
  return taken;
}

} // namespace

TEST_CASE("a file of the cache is made once, and again if it is damaged or another one", "[equations][cache]") {
  Folder      folder;
  const Taken first = take(folder);
  CHECK(first.made == 1);
  CHECK(first.is_in(folder));
  CHECK(folder.files().size() == 1);
  CHECK(take(folder).made == 0);
  CHECK(take(folder, "another key").made == 1);
  const std::string whole = read(first.path), other = read(take(folder, "another key").path);
  std::string       changed = whole, key_changed = whole;
  changed[500]++;
  key_changed[1004]++;
  for (const std::string &content :
       {whole.substr(0, whole.size() / 2), std::string(), changed, key_changed, whole + "x", whole.substr(1), other,
        std::string("\x7f"
                    "ELF")}) {
    write(first.path, content);
    CHECK(take(folder).made == 1);
    CHECK(read(first.path) == whole);
    CHECK(take(folder).made == 0);
  }
  CHECK(folder.files().size() == 2);
}

TEST_CASE("the cache takes nothing that another user can have written", "[equations][cache]") {
  Folder            folder;
  const std::string path = take(folder).path, evil = read(path);
  struct stat       info;
  // files
  chmod(path.c_str(), 0666);
  CHECK(take(folder).made == 1);
  CHECK(take(folder).made == 0); // it was replaced
  unlink(path.c_str());
  write(folder.path + "/victim", evil);
  CHECK(symlink("victim", path.c_str()) == 0);
  CHECK(take(folder).made == 1);
  CHECK((lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)));
  unlink(path.c_str());
  CHECK(mkfifo(path.c_str(), 0600) == 0); // which nobody writes
  CHECK(take(folder).made == 1);
  CHECK(read(folder.path + "/victim") == evil);
  // folders: nothing is read or written there
  unlink(path.c_str());
  for (const mode_t mode : {0777, 0770, 0707}) {
    chmod(folder.path.c_str(), mode);
    for (int time = 0; time < 2; time++) {
      const Taken taken = take(folder);
      CHECK(taken.made == 1);
      CHECK(!taken.is_in(folder));
      CHECK(access(taken.path.c_str(), F_OK) != 0); // no longer there
    }
  }
  CHECK(folder.files() == std::vector<std::string>{"victim"});
  Folder below;
  below.path += "/cache"; // in a folder that others can write in
  chmod(below.path.substr(0, below.path.rfind('/')).c_str(), 0777);
  CHECK(take(below).made == 1);
  CHECK(take(below).made == 1);
  below.path.resize(below.path.rfind('/'));
  chmod(folder.path.c_str(), 01777); // as /tmp
  CHECK(take(folder).made == 1);
  CHECK(take(folder).made == 0);
  if (geteuid() != 0) return;
  CHECK(chown(path.c_str(), 65534, 65534) == 0);
  CHECK(take(folder).made == 1);
  chmod(folder.path.c_str(), 0755);
  CHECK(chown(folder.path.c_str(), 65534, 65534) == 0);
  CHECK(take(folder).made == 1);
  CHECK(take(folder).made == 1);
}

TEST_CASE("the cache has a bound, and what stopped programs leave goes", "[equations][cache]") {
  Folder            folder, temporary;
  const std::string old = take(folder, "old").path, part = folder.path + "/.shellac-part-aaaaaa",
                    young = folder.path + "/.shellac-part-bbbbbb", own = folder.path + "/part-of-mine",
                    left = temporary.path + "/shellac-compiles-aaaaaa",
                    used = temporary.path + "/shellac-compiles-bbbbbb";
  set_age(old, 3000000);
  const std::string recent = take(folder, "recent").path, newest = take(folder, "newest").path;
  set_age(recent, 200000);
  for (const std::string &file : {part, young, own}) write(file, std::string(5000, 'x'));
  for (const std::string &name : {left, used}) {
    CHECK(mkdir(name.c_str(), 0700) == 0);
    write(name + "/source.cpp", "");
  }
  for (const std::string &name : {part, own, left}) set_age(name, 200000);
  shellac::prune_cache(folder.path, 3000);
  CHECK(access(old.c_str(), F_OK) != 0);
  CHECK(access(part.c_str(), F_OK) != 0);
  for (const std::string &file : {recent, newest, young, own}) CHECK(access(file.c_str(), F_OK) == 0);
  CHECK(take(folder, "recent").made == 0); // which was used now
  set_age(newest, 100000);
  shellac::prune_cache(folder.path, 1500);
  CHECK(access(recent.c_str(), F_OK) == 0);
  CHECK(access(newest.c_str(), F_OK) != 0);

  const std::string before = getenv("TMPDIR") ? getenv("TMPDIR") : "";
  setenv("TMPDIR", temporary.path.c_str(), 1);
  {
    const shellac::PrivateFolder made;
    CHECK(made.path().compare(0, temporary.path.size(), temporary.path) == 0);
    write(made.path() + "/file", "");
  }
  if (before.empty())
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", before.c_str(), 1);
  CHECK(temporary.files() == std::vector<std::string>{"shellac-compiles-bbbbbb"});
}

TEST_CASE("several processes make a file of the cache at once", "[equations][cache]") {
  Folder folder(PETSC_COMM_WORLD);
  for (int time = 0; time < 5; time++) take(folder, "key " + std::to_string(time), PETSC_COMM_SELF, 100000);
  OK(MPI_Barrier(PETSC_COMM_WORLD) ? PETSC_ERR_MPI : PETSC_SUCCESS);
  CHECK(folder.files().size() == 5);
}

TEST_CASE("ranks that do not see the file of the cache get a copy", "[equations][cache]") {
  if (rank_count() == 1 || geteuid() != 0) return; // another user cannot look into the folder
  Folder      folder(PETSC_COMM_WORLD);
  PetscMPIInt rank;
  OK(MPI_Comm_rank(PETSC_COMM_WORLD, &rank) ? PETSC_ERR_MPI : PETSC_SUCCESS);
  const bool is_last = rank == rank_count() - 1;
  for (int time = 0; time < 2; time++) {
    if (is_last) CHECK(seteuid(65534) == 0);
    const Taken taken = take(folder, "key", PETSC_COMM_WORLD);
    if (is_last) CHECK(seteuid(0) == 0);
    CHECK(taken.made == (rank == 0 && time == 0));
    CHECK(taken.is_in(folder) == !is_last);
    CHECK((access(taken.path.c_str(), F_OK) == 0) == !is_last);
  }
}

#ifdef __linux__
TEST_CASE("a cache on a full disk", "[equations][cache]") {
  Folder folder;
  if (mount("none", folder.path.c_str(), "tmpfs", 0, "size=64k,mode=700")) return; // not allowed
  const Taken large = take(folder, "key", PETSC_COMM_SELF, 200000), small = take(folder, "key");
  CHECK(large.made == 1);
  CHECK(!large.is_in(folder));
  CHECK(small.is_in(folder));
  CHECK(folder.files().size() == 1); // no part of the large one
  CHECK(umount(folder.path.c_str()) == 0);
}
#endif

TEST_CASE("sources are compiled without a shell", "[equations][cache]") {
  Folder            folder;
  const std::string compiler = getenv("SHELLAC_CXX") ? getenv("SHELLAC_CXX") : "", touched = folder.path + "/touched";
  const auto        compile = [&](const std::string &name, const std::string &value) {
    const void *made = nullptr;
    setenv("SHELLAC_CXX", name.c_str(), 1);
    const PetscErrorCode error =
        shellac::CompileSource(PETSC_COMM_SELF, "extern \"C\" const int shellac_compiled = " + value + ";\n",
                                      {"the test", "test", {value}}, folder.path.c_str(), &made);
    return error ? -1 : *static_cast<const int *>(made);
  };
  CHECK(compile("env c++", "7") == 7); // a program and its argument
  OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  CHECK(compile("c++; touch " + touched, "8") == -1);
  CHECK(compile("c++ $(touch " + touched + ")", "8") == -1);
  CHECK(compile("env c++", "no number") == -1);
  OK(PetscPopErrorHandler());
  CHECK(access(touched.c_str(), F_OK) != 0);
  CHECK(folder.files().size() == 1);
  CHECK(compile("env c++", "7") == 7); // it is loaded
  if (compiler.empty())
    unsetenv("SHELLAC_CXX");
  else
    setenv("SHELLAC_CXX", compiler.c_str(), 1);
}

TEST_CASE("texts are compiled for an older processor where the environment names it", "[equations][cache]") {
  Folder            folder(PETSC_COMM_WORLD);
  const void       *made = nullptr;
  const std::string source = "#ifdef __SSE4_2__\nextern \"C\" const int shellac_compiled = 2;\n#else\n"
                             "extern \"C\" const int shellac_compiled = 1;\n#endif\n";
  const auto        compile = [&](const char *processor) {
    setenv("SHELLAC_PROCESSOR", processor, 1);
    return shellac::CompileSource(PETSC_COMM_WORLD, source, {"the test", "test", {source}}, folder.path.c_str(), &made);
  };
#ifdef __x86_64__
  OK(compile("x86-64"));
  CHECK(*static_cast<const int *>(made) == 1);
  OK(compile("x86-64-v2"));
  CHECK(*static_cast<const int *>(made) == 2);
  EXPECT_ERROR(PETSC_ERR_USER, ({"SHELLAC_PROCESSOR", "x86-64-v9", "x86-64-v3"}), [&] { return compile("x86-64-v9"); });
#else
  OK(compile("any"));
  EXPECT_ERROR(PETSC_ERR_USER, ({"SHELLAC_PROCESSOR", "old", "any"}), [&] { return compile("old"); });
#endif
  unsetenv("SHELLAC_PROCESSOR");
}
