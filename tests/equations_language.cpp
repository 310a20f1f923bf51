// The language of texts: what is no part of it, numbers, names, and what editors do to lines.

#include "catch.hpp"
#include "equations.hpp"

#include <cmath>
#include <sstream>

using namespace tests;

// Each line is one expression. All that is no part of the language is refused before a compiler sees it.
TEST_CASE("expressions that are no part of the language", "[misuse]") {
  const struct {
    const char *expression, *words;
  } cases[] = {
      // numbers of C++ that mean something else
      {"2u", "2u: write 2*u"},
      {"1 - 2u", "2u: write 2*u"},
      {"2l", "2l: write 2*l"},
      {"2.5f * u", "2.5f: write 2.5*f"},
      {"1e5f", "1e5f: write 1e5*f"},
      {"2pi", "2pi: write 2*pi"},
      {"010", "write 10"},
      {"00.5", "write 0.5"},
      {"0x10", "0x10 is no number"},
      {"0b11", "0b11 is no number"},
      {"1'000", "1'000 is no number"},
      {"1.2.3", "1.2.3 is no number"},
      {"1d5", "write 1e5"},
      {"1e400", "1e400 is out of the range"},
      {"1e-400", "out of the range"},
      // products and powers
      {"u**2", "** is no power|write u^2"},
      {"(u + 1) ** 3", "write (u + 1)^2"},
      {"2 u", "operator is missing|2*u"},
      {"2(u + 1)", "operator is missing|2*(...)"},
      {"(u)(u)", "operator is missing"},
      {"sin x", "write sin(...)"},
      {"u - x(u)", "x is no function|x*(...)"},
      // operators
      {"x > 0 and y > 0 ? 1 : 2", "write &&"},
      {"not x", "write !"},
      {"x > 0 & y > 0", "write &&"},
      {"(x > 0 | y > 0) * u", "write ||"},
      {"u % 2", "'%' has no meaning"},
      {"~u", "'~' has no meaning"},
      {"u <=> x", "before >"},
      {"u << 2", "before <"},
      {"u += 1", "before ="},
      {"(0 < x < 1) * u", "0 < x && x < 1"},
      {"(u, 1)", "comma"},
      {"u \xe2\x88\x92 1", "'\xe2\x88\x92' has no meaning"},
      {"true", "true has no meaning"},
      // C++
      {"*(0 ? &x : 0)", "before *"},
      {"u - (&x)[100000000000]", "&"},
      {"x[1]", "'[' has no meaning"},
      {"x<:1:>", "before :"},
      {"%:include \"/etc/passwd\"", "'%' has no meaning"},
      {"?\?=include", "before ?"},
      {"::exit(0)", "before :"},
      {"u::v", "no : can stand here"},
      {"u.v", "'.' has no meaning"},
      {"u->v", "before >"},
      {"\"text\"", "has no meaning"},
      {"'c'", "has no meaning"},
      {"u \\", "'\\' has no meaning"},
      {"[&]{ return 1; }()", "'[' has no meaning"},
      {"u; v", "one statement a line"},
      {"[] (auto v) (v)", "'[' has no meaning"},
      {"u{1}", "'{' has no meaning"},
      {"__builtin_trap()", "not declared"},
      {"sizeof(u)", "sizeof is not declared"},
      {"double(1) * u", "double is not declared"},
      {"(int) u", "operator is missing"},
      {"new int", "operator is missing"},
      {"static_cast<int>(u)", "two comparisons|a < b"},
      {"throw 1", "operator is missing"},
      {"this", "this is not declared"},
      {"point_", "not declared"},
      {"t_u", "not declared"},
      {"@u", "'@' has no meaning"},
      {"`u`", "'`' has no meaning"},
      // calls
      {"exp", "exp takes 1 argument"},
      {"pow(u)", "pow takes 2 arguments"},
      {"max(u, 1, 2)", "max takes 2 arguments"},
      {"u(1, 0, 0, 0)", "at most 3 steps"},
      {"u(1/2)", "u(1/2): steps to neighbours are integers"},
      {"u(2000000000)", "steps to neighbours are integers"},
      {"step_x", "step_x(0)"},
      {"()", "nothing stands"},
  };
  for (const auto &c : cases) {
    shellac::EquationText text;
    std::istringstream    words(c.words);
    const std::string     error = shellac::read_equation(
            "equation", std::string("grid(2)\nresidual = -laplacian(u)\n  - ") + c.expression, &text);
    INFO(c.expression << " gives " << error);
    CHECK(error.compare(0, 10, "equation:3") == 0);
    for (std::string word; std::getline(words, word, '|');) CHECK(error.find(word) != std::string::npos);
  }
  // deep nesting, at its bracket; long sums are no nesting
  shellac::EquationText text;
  const std::string     open(20000, '('), close(20000, ')'), signs(20000, '-');
  for (const std::string &deep : {open + "u" + close, signs + "u", "exp" + std::string(open) + "u" + close}) {
    const std::string error = shellac::read_equation("equation", "residual = " + deep, &text);
    CHECK(error.find("nested more than 200 deep") != std::string::npos);
  }
  std::string sum = "residual = u";
  for (int term = 0; term < 20000; term++) sum += " + 1";
  CHECK(shellac::read_equation("equation", sum, &text) == "");
}

// Each kind once took a time that grew with the square of their number, or doubled with each: processor seconds.
TEST_CASE("many definitions that use each other are read at once", "[equations]") {
  const int             n = 5000;
  std::string           content = "grid(1)\nparameter(p, 1)\nsum0 = x\nsame0 = u\nf0(k) = k\n";
  shellac::EquationText text;
  for (int i = 1; i <= n; i++) {
    const std::string now = std::to_string(i), before = std::to_string(i - 1);
    content += "sum" + now + " = 0.5 * (sum" + before + " + sum" + before + ")\n";
    content += "same" + now + " = same" + before + "\n";
    content += "f" + now + "(k) = p * f" + before + "(k)\n";
  }
  const std::string last = std::to_string(n);
  content += "residual = -d(sum" + last + ", same" + last + ") + f" + last + "(u)\n";
  const clock_t start = clock();
  CHECK(shellac::read_equation("t", content, &text) == "");
  CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 3);
}

// A declaration can make no name of a text a name of C++.
TEST_CASE("names of a text are free, and called only where they are functions", "[misuse]") {
  shellac::EquationText text;
  const auto            error = [&](const std::string &content) { return shellac::read_equation("t", content, &text); };
  CHECK(error("parameter(__builtin_execl, 1)\nresidual = u - __builtin_execl(1, 2)").find("no function") !=
        std::string::npos);
  CHECK(error("parameter(include, 1)\nresidual = %:include \"f\"\n - u").find("t:2:12: '%'") != std::string::npos);
  CHECK(error("parameter(class, 1)\nnew(int) = int + class\nfield(Unknown) = 1\nresidual = new(Unknown) * u") == "");
}

TEST_CASE("texts of other editors", "[equations]") {
  shellac::EquationText text;
  const auto            reads = [&](const std::string &content) {
    const std::string error = shellac::read_equation("t", content, &text);
    INFO(error);
    CHECK(error == "");
    CHECK(text.dim == 1);
    CHECK(text.unknowns[0].residual.text.find("dxx(u)") != std::string::npos);
  };
  reads("\xef\xbb\xbfgrid(1)\nresidual = -dxx(u) - 1"); // a byte-order mark
  reads("// of one line\r\ngrid(1)\r\nresidual = -dxx(u)\r\n  - 1\r\n");
  reads("// of one line\rgrid(1)\rresidual = -dxx(u)\r  - 1\r");
  reads("grid(1)\n\tresidual = -dxx(u) - 1"); // an indented statement
  reads("  grid(1)\n  k = 2\n  residual = k\n    - dxx(u)\n  neumann(left) = 1");
  CHECK(text.unknowns[0].ends[0][0].form == shellac::EquationText::neumann);
}

// The numbers of a text are real, as in mathematics.
TEST_CASE("numbers of a text do not divide or overflow as integers", "[equations]") {
  if (!equations_work()) return;
  Lattice l;
  Grid    da;
  l.dim = 1, l.N[0] = 5;
  OK(make_grid(l, nullptr, &da));
  set_equation(da, "third = 1/3\nsquare(a) = a*a\nhalf(i, a) = a/2 + i*u(i) - u(i)*i\nlarge = 1000000*1000000\n"
                   "inside = x < 0.5\n"
                   "residual = u - (third + 1/(2*3) + square(100000)/large + large*large/1e24 + half(1, 1)\n"
                   "  + (inside + !inside)/2 + (x < 2)/4 + --1 + pow(2, 3)/16 - 9999999999/9999999999)");
  Vector u = make_vector(da), f = make_vector(da);
  OK(VecSet(u, 0));
  OK(compute_values(da, 0, u, f));
  for (const PetscScalar value : natural_values(da, f))
    CHECK(std::fabs(PetscRealPart(value) + (1 / 3. + 1 / 6. + 0.01 + 1 + 0.5 + 0.5 + 0.25 + 1 + 0.5 - 1)) < 1e-14);
}
