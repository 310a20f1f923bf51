#pragma once
// Programs that are run without a shell.

#include <string>
#include <sys/types.h>
#include <vector>

namespace shellac {

class Process {
public:
  // Starts a program, the first argument, which is looked for in PATH. It has no input, and messages in English.
  // folder: for its temporary files; empty: as for this process.
  explicit Process(const std::vector<std::string> &arguments, const std::string &folder = "");
  ~Process();
  Process(const Process &) = delete;
  Process &operator=(const Process &) = delete;

  enum { cannot_run = 127 };
  // Waits for its end, and adds what it wrote. Its exit status; or cannot_run; 256 and the number of the signal that
  // ended it.
  int wait(std::string *output);

private:
  pid_t process_ = -1;
  int   output_ = -1;
};

std::vector<std::string> words_of(const std::string &text); // between white space

} // namespace shellac
