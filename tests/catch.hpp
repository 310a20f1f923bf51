#pragma once
// Catch2, version 3 or Debian's 2. An exception within an assertion ends the case: that compiles in less time.

#define CATCH_CONFIG_FAST_COMPILE
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
