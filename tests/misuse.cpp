#include "misuse.hpp"

#include <cstdlib>
#include <iostream>

#include "catch.hpp"

namespace tests {

static PetscErrorCode keep_message(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type,
                                   const char *message, void *context) {
  if (type == PETSC_ERROR_INITIAL && message) *static_cast<std::string *>(context) += message;
  return code;
}

static void print(const std::string &what, const std::function<PetscErrorCode()> &call) {
  std::string message;
  int         rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  OK(PetscPushErrorHandler(keep_message, &message));
  const int code = call();
  OK(PetscPopErrorHandler());
  if (rank == 0) std::cout << "MISUSE " << what << " => " << code << ": " << message << std::endl;
}

static PetscReal change(const Work &work, Vec expected) {
  Vector y;
  OK(work(&y));
  return difference(y, expected);
}

static void check(const std::string &what, PetscErrorCode code, const Words &words,
                  const std::function<PetscErrorCode()> &call) {
  INFO(what);
  if (getenv("SHELLAC_MISUSE"))
    print(what, call);
  else
    CHECK(error_problem(code, words, call) == "");
}

void check_options(const Work &work, const std::vector<WrongOption> &mistakes) {
  Vector expected;
  OK(work(&expected));
  for (const WrongOption &mistake : mistakes) {
    {
      Options set(mistake.options);
      check(mistake.options, mistake.code, mistake.words, [&] {
        Vector               y;
        const PetscErrorCode error = work(&y);
        return error;
      });
    }
    INFO(mistake.options);
    CHECK(change(work, expected) == 0);
  }
}

void check_calls(const Work &work, const std::vector<WrongCall> &mistakes) {
  Vector expected;
  OK(work(&expected));
  for (const WrongCall &mistake : mistakes) {
    check(mistake.what, mistake.code, mistake.words, mistake.call);
    INFO(mistake.what);
    CHECK(change(work, expected) == 0);
  }
}

} // namespace tests
