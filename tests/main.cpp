// Runs the tests on all ranks: shellac_tests [options of Catch2] [-- options of PETSc].
// Rank 0 prints; another rank's report is shown only if it fails where rank 0 does not.
// -test_case_seconds 600: ends the program where a case takes longer, and says which one on each rank.

#include "catch.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <unistd.h>
#include <vector>

#include "gpu.hpp"
#include "support.hpp"

#if !defined(CATCH_VERSION_MAJOR) || CATCH_VERSION_MAJOR < 3
using ListenerBase = Catch::TestEventListenerBase;
#else
using ListenerBase = Catch::EventListenerBase;
#endif

// Says so where every case that was asked for needs what is not there; CTest then calls the test skipped.
class Skipped : public ListenerBase {
public:
  using ListenerBase::ListenerBase;
  void testRunEnded(const Catch::TestRunStats &run) override {
    const size_t cases = run.totals.testCases.total();
    if (cases == (size_t)tests::cases_skipped)
      std::cout << "skipped: no case that can run here\n";
    else if (tests::cases_skipped)
      std::cout << tests::cases_skipped << " of " << cases
                << " cases need what is not here: a GPU, or one rank on it\n";
  }
};
CATCH_REGISTER_LISTENER(Skipped)

static PetscInt case_seconds = 0; // 0: no limit

class Watch : public ListenerBase {
public:
  using ListenerBase::ListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo &info) override {
    int rank;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    snprintf(text_, sizeof(text_), "rank %d: not ended after %d seconds: \"%s\" of %s\n", rank, (int)case_seconds,
             info.name.c_str(), info.lineInfo.file);
    signal(SIGALRM, end);
    alarm((unsigned)case_seconds);
  }
  void testCaseEnded(const Catch::TestCaseStats &) override { alarm(0); }

private:
  // Only calls that a signal's handler may make. The first rank that ends takes the others with it: they have time for
  // their text.
  static void end(int) {
    if (write(STDERR_FILENO, text_, strlen(text_)) > 0) sleep(1);
    _exit(1);
  }
  static char text_[1024];
};
char Watch::text_[1024];
CATCH_REGISTER_LISTENER(Watch)

// Texts are compiled as for a user, but without optimisation, which takes longer than they run, in the cases of files of
// equations that do not have the tag [optimised], and in those with the tag [unoptimised]. Where SHELLAC_CXXFLAGS is set, it
// holds.
class Compilation : public ListenerBase {
public:
  using ListenerBase::ListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo &info) override {
    if (given_) return;
    const char       *path = info.lineInfo.file, *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const std::string tags = info.tagsAsString();
    const bool        quick = tags.find("[unoptimised]") != std::string::npos ||
                       (strstr(file, "equations") && tags.find("[optimised]") == std::string::npos);
    setenv("SHELLAC_CXXFLAGS", quick ? "-O0" : "", 1);
  }

private:
  const bool given_ = getenv("SHELLAC_CXXFLAGS") != NULL;
};
CATCH_REGISTER_LISTENER(Compilation)

// Sends standard output to a file, and shows the file if asked to.
class Silence {
public:
  Silence() : log_(tmpfile()), stdout_(dup(STDOUT_FILENO)) { dup2(fileno(log_), STDOUT_FILENO); }
  void Show(int rank) {
    char line[1024];
    Stop();
    fprintf(stderr, "---- rank %d ----\n", rank);
    rewind(log_);
    while (fgets(line, sizeof(line), log_)) fputs(line, stderr);
  }
  void Stop() {
    std::cout.flush();
    fflush(stdout);
    dup2(stdout_, STDOUT_FILENO);
  }

private:
  FILE *log_;
  int   stdout_;
};

#if defined(SHELLAC_TEST_WRAPS_MAIN) // the linker's option --wrap=main: the program begins with the first of these
extern "C" int __wrap_main(int argc, char **argv), __real_main(int argc, char **argv);
#define main __wrap_main
static int run_cases(int argc, char **argv) {
  return __real_main(argc, argv);
}
#else
static int run_cases(int argc, char **argv) {
  Catch::Session session;
#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR >= 3
  session.configData().allowZeroTests = true; // as in version 2
#endif
  return session.run(argc, argv);
}
#endif

static int run_tests(int argc, char **argv) {
  int result, rank, first_result;

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0) {
    first_result = result = run_cases(argc, argv);
    MPI_Bcast(&first_result, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  } else {
    Silence silence;
    result = run_cases(argc, argv);
    MPI_Bcast(&first_result, 1, MPI_INT, 0, PETSC_COMM_WORLD);
    if (result && !first_result) silence.Show(rank);
    silence.Stop();
  }
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  return result;
}

int main(int argc, char **argv) {
  std::vector<char *> ours{argv[0]}, petscs{argv[0]};
  bool                after = false;

  for (int i = 1; i < argc; i++) {
    if (!after && !strcmp(argv[i], "--"))
      after = true;
    else
      (after ? petscs : ours).push_back(argv[i]);
  }
  int petsc_argc = (int)petscs.size();
  petscs.push_back(NULL);
  char **petsc_argv = petscs.data();
  if (PetscInitialize(&petsc_argc, &petsc_argv, NULL, "Tests of Shellac\n")) return 1;
  OK(PetscPushErrorHandler(tests::print_error, NULL));
  OK(ShellacInitializePackage());
  OK(PetscOptionsGetInt(NULL, NULL, "-test_case_seconds", &case_seconds, NULL));
  const int result = run_tests((int)ours.size(), ours.data());
  OK(PetscPopErrorHandler());
  if (PetscFinalize()) return 1;
  return result ? 1 : 0;
}
