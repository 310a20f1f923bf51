#pragma once
// The cores of compilers that a rank starts.

#include <vector>

namespace shellac {

// While it lives, this thread, and the threads and processes that it starts, may run on all cores that the program
// which launched the ranks has: MPI binds a rank to one core, which would have several compilers take turns. Without a
// launcher, without more cores, or on other systems than Linux it changes nothing.
class LauncherCores {
public:
  LauncherCores();
  ~LauncherCores();
  LauncherCores(const LauncherCores &) = delete;
  LauncherCores &operator=(const LauncherCores &) = delete;

private:
  std::vector<unsigned long> before_; // the thread's own cores, one a bit; empty: it has still these
};

} // namespace shellac
