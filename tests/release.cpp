// A library that is compiled for another PETSc than the program's says so.

#include "catch.hpp"
#include "support.hpp"

#include "release.hpp"

#define NEXT(part) (SHELLAC_VERSION_##part + 1)
#if !SHELLAC_VERSION_GE(SHELLAC_VERSION_MAJOR, SHELLAC_VERSION_MINOR, SHELLAC_VERSION_SUBMINOR) ||                     \
    SHELLAC_VERSION_GE(SHELLAC_VERSION_MAJOR, SHELLAC_VERSION_MINOR, NEXT(SUBMINOR)) ||                                \
    SHELLAC_VERSION_GE(SHELLAC_VERSION_MAJOR, NEXT(MINOR), 0) || SHELLAC_VERSION_GE(NEXT(MAJOR), 0, 0) ||              \
    !SHELLAC_VERSION_GE(SHELLAC_VERSION_MAJOR - 1, NEXT(MINOR), NEXT(SUBMINOR))
#error "SHELLAC_VERSION_GE() compares numbers one by one"
#endif

using namespace tests;
using shellac::check_release;
using shellac::compiled_release;
using shellac::Release;

TEST_CASE("the PETSc that runs is the one that the library is compiled for", "[release]") {
  Release running{};
  OK(shellac::running_release(&running));
  CHECK(running.name() == compiled_release.name());
  OK(check_release(running));
}

TEST_CASE("another PETSc than the library's is an error that names both", "[release]") {
  Release minor = compiled_release, major = minor, integer = minor, real = minor, scalar = minor;
  minor.minor++;
  major.major++;
  integer.integer = 12 - integer.integer; // 4 or 8 bytes
  real.real = 12 - real.real;
  scalar.complex = !scalar.complex;
  for (const Release &running : {minor, major, integer, real, scalar}) {
    INFO(running.name());
    EXPECT_ERROR(PETSC_ERR_SUP, ({compiled_release.name(), running.name(), "Build Shellac", "PETSC_DIR"}),
                 [&] { return check_release(running); });
  }
}
