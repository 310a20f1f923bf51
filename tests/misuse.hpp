#pragma once
// Tables of mistakes. A row has what is done, the class of the error and words of its message: the value that is wrong and
// the remedy, as "length y|-1|positive". After each mistake the table's work gives the same result as before.
//
//   {"-mat_laplace_lengths 0,1", PETSC_ERR_ARG_OUTOFRANGE, "length x|0|positive"}     the work, with these options
//   CALL(PETSC_ERR_ARG_OUTOFRANGE, "shift|nan", MatHelmholtzSetShift(A, NAN))         a call, by reference
//
// Errors that PETSc itself finds have the words that its releases share. To write a row, begin with any class and
// no words: the failure prints them. Class 0 is no class.

#include "support.hpp"

namespace tests {

// Some work from the start, as the options say; *y: its result, a new vector. A call that fails may leave what it made.
using Work = std::function<PetscErrorCode(Vec *y)>;

struct Mistake {
  const char                     *what;
  PetscErrorCode                  code;
  const char                     *words;
  std::function<PetscErrorCode()> call = nullptr; // none: `what` is options
};
inline Mistake called(PetscErrorCode code, const char *words, const char *what,
                      const std::function<PetscErrorCode()> &call) {
  return {what, code, words, call};
}
#define CALL(code, words, ...) tests::called(code, words, #__VA_ARGS__, [&] { return __VA_ARGS__; })

// An argument that is wrong on the last rank alone; the error is the same on all.
template <class T> T on_last(T wrong, T right) {
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank == rank_count() - 1 ? wrong : right;
}

// On all ranks: one error of one class; exactly one message.
void check_mistakes(const Work &work, const std::vector<Mistake> &mistakes);

} // namespace tests
