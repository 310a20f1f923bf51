#include "equations/process.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace shellac {

std::vector<std::string> words_of(const std::string &text) {
  std::istringstream       stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

static std::vector<char *> pointers_to(std::vector<std::string> &strings) {
  std::vector<char *> pointers;
  for (std::string &s : strings) pointers.push_back(&s[0]);
  pointers.push_back(nullptr);
  return pointers;
}

Process::Process(const std::vector<std::string> &arguments, const std::string &folder) {
  std::vector<std::string>   words = arguments, variables = {"LC_ALL=C"};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t          attributes;
  sigset_t                   none, defaults;
  int                        ends[2];

  if (words.empty() || pipe(ends)) return;
  for (const int end : ends) (void)fcntl(end, F_SETFD, FD_CLOEXEC);
  if (!folder.empty()) variables.push_back("TMPDIR=" + folder);
  for (char **v = environ; *v; v++) {
    const std::string variable = *v;
    if (variable.compare(0, 7, "LC_ALL=") && (folder.empty() || variable.compare(0, 7, "TMPDIR=")))
      variables.push_back(variable);
  }
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  posix_spawn_file_actions_adddup2(&files, ends[1], 2);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  // as a program of its own has them, whatever this process does with its signals
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGCHLD, SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGFPE})
    sigaddset(&defaults, signal);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  const auto argument_pointers = pointers_to(words), variable_pointers = pointers_to(variables);
  if (posix_spawnp(&process_, words[0].c_str(), &files, &attributes, argument_pointers.data(),
                   variable_pointers.data()))
    process_ = -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  output_ = ends[0];
}

Process::~Process() {
  std::string rest;
  if (process_ > 0) (void)wait(&rest);
  if (output_ >= 0) close(output_);
}

int Process::wait(std::string *output) {
  char buffer[4096];
  int  status = 0;

  if (process_ <= 0) return cannot_run;
  for (;;) {
    const ssize_t n = read(output_, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    output->append(buffer, (size_t)n);
  }
  pid_t ended;
  while ((ended = waitpid(process_, &status, 0)) < 0 && errno == EINTR) {
  }
  process_ = -1;
  // a program that ignores SIGCHLD does not learn how others end: then what they made says it
  if (ended < 0) return 0;
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace shellac
