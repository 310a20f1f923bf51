#include "misuse.hpp"

#include <sstream>

#include "catch.hpp"

namespace tests {

static std::vector<std::string> split(const char *text) {
  std::vector<std::string> words;
  std::istringstream       stream(text);
  for (std::string word; std::getline(stream, word, '|');) words.push_back(word);
  return words;
}

// Newer versions of PETSc refuse an option's number that is not finite themselves, with words of their own.
static std::vector<std::string> words_of(const Mistake &mistake) {
  std::vector<std::string> words = split(mistake.words);
#if PETSC_VERSION_GE(3, 19, 0)
  if (!mistake.call && (words[0] == "nan" || words[0] == "inf")) words.resize(1);
#endif
  return words;
}

static void check(const Work &work, const Mistake &mistake) {
  if (mistake.call) {
    CHECK(error_problem(mistake.code, words_of(mistake), mistake.call) == "");
  } else {
    Options set(mistake.what);
    CHECK(error_problem(mistake.code, words_of(mistake), [&] {
            Vector               y;
            const PetscErrorCode code = work(&y);
            return code;
          }) == "");
  }
}

void check_mistakes(const Work &work, const std::vector<Mistake> &mistakes) {
  Vector expected;
  OK(work(&expected));
  for (const Mistake &mistake : mistakes) {
    INFO(mistake.what);
    REQUIRE(mistake.code != PETSC_SUCCESS); // which would stand for any class
    check(work, mistake);
    Vector y;
    OK(work(&y));
    CHECK(difference(y, expected) == 0);
  }
}

} // namespace tests
