#pragma once
// Sine transforms between zeros, by complex ones of shorter lengths than that of the continuation: 5/8 of its work. With N
// spacings, modes 1, 3, ... are a transform of type III of N/2 sums of values, which has that length; modes 2, 6, ... one
// of N/4; modes 4, 8, ... are those of N/4 spacings, by a continuation of N/2 values. All of them are linear combinations
// of values by factors of size one. J. Makhoul, A fast cosine transform in one and two dimensions (1980).

#include "direct/lines.hpp"

namespace shellac {

// Arithmetic in T, values of types From and To.
template <class T, class From, class To> struct SplitSines {
  using R = typename RealOf<T>::type;
  using Complex = ComplexOf<R>;
  PetscInt           half;   // N/2, even: the length of two transforms; that of a third one is half of it
  bool               beside; // coefficients of all pairs of lines are beside each other
  PetscInt           pairs;
  const Complex     *turns; // [4 half]: e^{-i pi m / (4 half)}
  Lines              lines;
  const From        *from;
  To                *to; // may be the same
  Complex           *z;

  // Numbers of Complex; where coefficient m of transform 0, 1 (of length half) or 2 is.
  size_t            size() const { return (size_t)pairs * (size_t)(2 * half + half / 2); }
  size_t            begin_of_short() const { return 2 * (size_t)pairs * (size_t)half; }
  SHELLAC_HD size_t place(int transform, PetscInt m, PetscInt pair) const {
    const size_t begin = transform == 2 ? 2 * (size_t)pairs * (size_t)half : 0;
    const size_t batch = (size_t)(transform == 1 ? pairs : 0) + (size_t)pair;
    const size_t length = (size_t)(transform == 2 ? half / 2 : half);
    const size_t count = (size_t)pairs * (transform == 2 ? 1 : 2);
    return begin + (beside ? (size_t)m * count + batch : batch * length + (size_t)m);
  }

  // What values j, half - j, half + j, 2 half - j and those of half/2 - j in place of j give; 0 <= j <= half/4.
  static PetscInt groups(PetscInt half) { return half / 4 + 1; }
  SHELLAC_HD void before(PetscInt j, PetscInt pair) const {
    const auto  line = line_pair<T>(lines, const_cast<From *>(from), (size_t)pair);
    const auto *im = line.im ? line.im : line.re; // without a branch all loads are under way at once
    const auto  value = [&](PetscInt spacings) {
      const size_t at = (size_t)(spacings - 1) * line.stride;
      return Complex{(R)line.re[at], (R)im[at]};
    };
    const PetscInt quarter = half / 2, of[2] = {j, quarter - j};
    Complex        x[2][4], sum[2];

    if (!j) {
      const Complex a = value(quarter), b = value(half + quarter), middle = value(half), inner = a.plus(b);
      z[place(0, 0, pair)] = middle.scaled(2);
      put(0, quarter, 2, inner, inner, pair);
      z[place(1, 0, pair)] = z[place(1, quarter, pair)] = {0, 0};
      z[place(2, 0, pair)] = a.minus(b).scaled(2);
      return;
    }
    SHELLAC_UNROLL_ALL
    for (int g = 0; g < 2; g++) {
      const PetscInt at[4] = {of[g], half - of[g], half + of[g], 2 * half - of[g]};
      SHELLAC_UNROLL_ALL
      for (int i = 0; i < 4; i++) x[g][i] = value(at[i]);
    }
    SHELLAC_UNROLL_ALL
    for (int g = 0; g < 2; g++) {
      const Complex inner = x[g][1].plus(x[g][2]), outer = x[g][0].plus(x[g][3]);
      const Complex u = x[g][0].minus(x[g][3]), w = x[g][1].minus(x[g][2]), rest = u.minus(w);
      put(0, of[g], 2, inner, outer, pair);
      put(0, half - of[g], 2, outer, inner, pair);
      z[place(1, of[g], pair)] = rest;
      z[place(1, half - of[g], pair)] = rest.scaled(-1);
      sum[g] = u.plus(w);
    }
    put(2, of[0], 4, sum[1], sum[0], pair);
    put(2, of[1], 4, sum[0], sum[1], pair);
  }
  // The k-th mode, or value.
  SHELLAC_HD void after(PetscInt k, PetscInt pair) const {
    const auto     line = line_pair<T>(lines, to, (size_t)pair);
    const PetscInt mode = k + 1;
    if (mode % 4 == 0) {
      const Complex f = z[place(1, mode / 4, pair)];
      line.set(k, {f.im, -f.re});
      return;
    }
    const int      transform = mode % 2 ? 0 : 2;
    const PetscInt length = transform ? half / 2 : half, m = (transform ? mode / 2 : mode) / 2;
    const Complex  f = z[place(transform, m % 2 ? length - 1 - m / 2 : m / 2, pair)];
    line.set(k, f.scaled(m % 2 ? -1 : 1));
  }

private:
  SHELLAC_HD void put(int transform, PetscInt m, PetscInt turn, Complex a, Complex b, PetscInt pair) const {
    z[place(transform, m, pair)] = Complex{a.re + b.im, a.im - b.re}.times_conjugate(turns[turn * m]); // a - i b
  }
};

} // namespace shellac
