#pragma once
// Tables of mistakes: what is given or called, the class of the error, and words that its message must have: the value, and
// the remedy. After each mistake the work that its table is about gives the same result as before.
//
// SHELLAC_MISUSE=print in the environment prints what each mistake is told.

#include "support.hpp"

namespace tests {

using Words = std::vector<std::string>;

// Some work from the start, as the options say; *y: its result, a new vector. A call that fails may leave what it made.
using Work = std::function<PetscErrorCode(Vec *y)>;

struct WrongOption {
  const char    *options;
  PetscErrorCode code; // zero: any
  Words          words;
};
void check_options(const Work &work, const std::vector<WrongOption> &mistakes);

struct WrongCall {
  const char                     *what;
  PetscErrorCode                  code;
  Words                           words;
  std::function<PetscErrorCode()> call;
};
void check_calls(const Work &work, const std::vector<WrongCall> &mistakes);

} // namespace tests
