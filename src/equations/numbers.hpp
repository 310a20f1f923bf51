// Numbers with and without derivatives, for every compiler that compiles equations. Without includes.

// The GNU C library has some functions for several numbers at a time, with errors of up to four units in the last
// place; GCC takes them where the declaration says so.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&                       \
    !defined(__CUDACC_RTC__)
#define SHELLAC_IN_VECTORS(name) ::name
extern "C" {
__attribute__((simd("notinbranch"))) double exp(double) noexcept;
__attribute__((simd("notinbranch"))) double log(double) noexcept;
__attribute__((simd("notinbranch"))) double sin(double) noexcept;
__attribute__((simd("notinbranch"))) double cos(double) noexcept;
__attribute__((simd("notinbranch"))) double pow(double, double) noexcept;
}
#else
#define SHELLAC_IN_VECTORS(name) SHELLAC_MATH(name)
#endif

// Out of line is what is long and seldom called.
#if defined(__CUDACC_RTC__)
#define SHELLAC_EACH        _Pragma("unroll")
#define SHELLAC_ROLLED      _Pragma("unroll 1")
#define SHELLAC_OUT_OF_LINE __noinline__
#else
#if defined(__GNUC__) && !defined(__clang__)
#define SHELLAC_EACH _Pragma("GCC unroll 32") // else derivatives are kept in memory
#else
#define SHELLAC_EACH
#endif
#define SHELLAC_ROLLED
#define SHELLAC_OUT_OF_LINE __attribute__((noinline))
#endif

namespace shellac {
namespace equation {

// ---- arithmetic of plain numbers -----------------------------------------------------------------------------------

template <class T> struct Arithmetic {};
template <> struct Arithmetic<int> { using type = double; };
template <> struct Arithmetic<bool> { using type = double; };
template <> struct Arithmetic<long long> { using type = double; };
template <> struct Arithmetic<float> { using type = float; };
template <> struct Arithmetic<double> { using type = double; };
#if defined(__CUDACC_RTC__)
#define SHELLAC_MATH(name) ::name
#else
template <> struct Arithmetic<long double> { using type = long double; };
#define SHELLAC_MATH(name) __builtin_##name
#endif
template <class A, class B> using Wider = decltype(typename Arithmetic<A>::type() + typename Arithmetic<B>::type());

#if defined(__CUDACC_RTC__)
#define SHELLAC_REAL_FUNCTION(name, of_double)                                                                         \
  template <class A, class R = typename Arithmetic<A>::type> inline R name(A a) {                                      \
    return SHELLAC_MATH(name)(R(a));                                                                                   \
  }
#else
#define SHELLAC_REAL_FUNCTION(name, of_double)                                                                         \
  template <class A, class R = typename Arithmetic<A>::type> inline R name(A a) {                                      \
    if constexpr (sizeof(R) > sizeof(double))                                                                          \
      return SHELLAC_MATH(name##l)(R(a));                                                                              \
    else if constexpr (sizeof(R) < sizeof(double))                                                                     \
      return SHELLAC_MATH(name##f)(R(a));                                                                              \
    else                                                                                                               \
      return of_double(name)(R(a));                                                                                    \
  }
#endif
#if defined(__CUDACC_RTC__)
SHELLAC_REAL_FUNCTION(exp, SHELLAC_MATH)
#else
// The library's functions for several numbers take them one by one where a result underflows, or a base is zero: they are
// not given such. What is below the smallest normal number, about, is zero.
template <class A, class R = typename Arithmetic<A>::type> inline R exp(A a) {
  const R x = R(a);
  if constexpr (sizeof(R) > sizeof(double)) return SHELLAC_MATH(expl)(x);
  constexpr R least = sizeof(R) < sizeof(double) ? R(-87) : R(-708);
  const R     within = x < least ? least : x;
  R           e;
  if constexpr (sizeof(R) < sizeof(double))
    e = SHELLAC_MATH(expf)(within);
  else
    e = SHELLAC_IN_VECTORS(exp)(within);
  return x < least ? R(0) : e;
}
#endif
SHELLAC_REAL_FUNCTION(log, SHELLAC_IN_VECTORS)
SHELLAC_REAL_FUNCTION(sqrt, SHELLAC_MATH)
SHELLAC_REAL_FUNCTION(sin, SHELLAC_IN_VECTORS)
SHELLAC_REAL_FUNCTION(cos, SHELLAC_IN_VECTORS)
SHELLAC_REAL_FUNCTION(tan, SHELLAC_MATH)
SHELLAC_REAL_FUNCTION(asin, SHELLAC_MATH)
SHELLAC_REAL_FUNCTION(acos, SHELLAC_MATH)
SHELLAC_REAL_FUNCTION(atan, SHELLAC_MATH)
SHELLAC_REAL_FUNCTION(sinh, SHELLAC_MATH)
SHELLAC_REAL_FUNCTION(cosh, SHELLAC_MATH)
#if defined(__CUDACC_RTC__)
SHELLAC_REAL_FUNCTION(tanh, SHELLAC_MATH)
#else
// By exp, and near zero by Lambert's continued fraction, the first eight parts of it: both without branches.
template <class A, class R = typename Arithmetic<A>::type> inline R tanh(A a) {
  const R x = R(a), size = x < 0 ? -x : x, z = x * x;
  if constexpr (sizeof(R) > sizeof(double)) return SHELLAC_MATH(tanhl)(x);
  const R e = equation::exp(-2 * size), far = (1 - e) / (1 + e);
  const R near = x * (2027025 + z * (270270 + z * (6930 + z * 36))) /
                 (2027025 + z * (945945 + z * (51975 + z * (630 + z))));
  return size < R(0.6) ? near : x < 0 ? -far : far;
}
#endif
SHELLAC_REAL_FUNCTION(floor, SHELLAC_MATH)
SHELLAC_REAL_FUNCTION(fabs, SHELLAC_MATH)
SHELLAC_REAL_FUNCTION(erf, SHELLAC_MATH)
// What is not a number stays so.
template <class A, class R = typename Arithmetic<A>::type> inline R sign(A a) {
  return a > 0 ? R(1) : a < 0 ? R(-1) : R(a);
}
template <class A, class R = typename Arithmetic<A>::type> inline R heaviside(A a) {
  return a > 0 ? R(1) : a < 0 ? R(0) : R(a) + R(0.5);
}
template <class A, class B, class R = Wider<A, B>> inline R atan2(A y, B x) {
#if !defined(__CUDACC_RTC__)
  if constexpr (sizeof(R) > sizeof(double)) return SHELLAC_MATH(atan2l)(R(y), R(x));
#endif
  return (R)SHELLAC_MATH(atan2)((double)y, (double)x);
}
template <class A, class R = typename Arithmetic<A>::type> inline R abs(A a) {
  return fabs(a);
}
#if defined(__CUDACC_RTC__)
SHELLAC_OUT_OF_LINE double power(double a, double b) { // a hundred instructions
  return ::pow(a, b);
}
#endif
template <class A, class B, class R = Wider<A, B>> inline R pow(A a, B b) {
#if defined(__CUDACC_RTC__)
  return power(R(a), R(b));
#else
  if constexpr (sizeof(R) > sizeof(double)) return SHELLAC_MATH(powl)(R(a), R(b));
  const R x = R(a), y = R(b), base = x == 0 ? R(1) : x;
  R       power;
  if constexpr (sizeof(R) < sizeof(double))
    power = SHELLAC_MATH(powf)(base, y);
  else
    power = SHELLAC_IN_VECTORS(pow)(base, y);
  return x != 0 || y == 0 ? power : y > 0 ? R(0) : y < 0 ? R(SHELLAC_MATH(inf)()) : y;
#endif
}
// Not a number, where one of the two is not.
template <class A, class B, class R = Wider<A, B>> inline R min(A a, B b) {
  return R(a) < R(b) || R(a) != R(a) ? R(a) : R(b);
}
template <class A, class B, class R = Wider<A, B>> inline R max(A a, B b) {
  return R(a) > R(b) || R(a) != R(a) ? R(a) : R(b);
}

// 1/b. A GPU divides slowly, and with branches: from its approximation of 20 bits one step of third order, unless b is zero
// or infinite.
#if defined(__CUDACC_RTC__)
inline double inverse(double b) {
  double near;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(b));
  const double error = fma(-b, near, 1.), better = fma(near, fma(error, error, error), near); // without a branch
  return ::fabs(error) < 1 ? better : near;
}
inline float inverse(float b) {
  return 1 / b;
}
#else
template <class A, class R = typename Arithmetic<A>::type> inline R inverse(A b) {
  return 1 / R(b);
}
#endif

// a^b for 0 <= b <= most_by_products, by products: up to 8 units in the last place off. A compiler knows b, where a text has
// it, and keeps the products that are needed.
constexpr int most_by_products = 16;

template <class R> inline R product_of(R a, int b) {
  const R a2 = a * a, a4 = a2 * a2, a8 = a4 * a4;
  R       result = b & 1 ? a : R(1);
  if (b & 2) result = result * a2;
  if (b & 4) result = result * a4;
  if (b & 8) result = result * a8;
  return b & 16 ? a8 * a8 : result;
}
template <class R> inline R integer_power(R a, int b) {
  if (b >= 0 && b <= most_by_products) return product_of(a, b);
  if (b < 0 && b >= -most_by_products) return inverse(product_of(a, -b)); // also of complex numbers, below
  return pow(a, R(b));
}
template <class A, class R = typename Arithmetic<A>::type> inline R pow(A a, int b) {
  return equation::integer_power(R(a), b);
}

// ---- complex numbers -----------------------------------------------------------------------------------------------

#if defined(PETSC_USE_COMPLEX)

// As in PETSc's arrays. They have no order: max(u, 0) and u > 0 do not compile.
template <class R> struct Complex {
  R re, im;

  Complex() : re(0), im(0) {}
  Complex(R re, R im = 0) : re(re), im(im) {}
  template <class A, class = typename Arithmetic<A>::type> Complex(A value) : re(value), im(0) {}
  template <class Q> explicit Complex(const Complex<Q> &other) : re((R)other.re), im((R)other.im) {}

  friend Complex operator+(const Complex &a) { return a; }
  friend Complex operator-(const Complex &a) { return {-a.re, -a.im}; }
  friend Complex operator+(const Complex &a, const Complex &b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(const Complex &a, const Complex &b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(const Complex &a, const Complex &b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend Complex operator*(R a, const Complex &b) { return {a * b.re, a * b.im}; }
  friend Complex operator*(const Complex &a, R b) { return {a.re * b, a.im * b}; }
  friend Complex operator/(const Complex &a, const Complex &b) { return a * inverse(b); }
  friend Complex operator/(const Complex &a, R b) { return {a.re / b, a.im / b}; }
  friend Complex operator/(R a, const Complex &b) { return a * inverse(b); }
  template <class A, class = typename Arithmetic<A>::type> friend Complex operator*(A a, const Complex &b) {
    return R(a) * b;
  }
  template <class A, class = typename Arithmetic<A>::type> friend Complex operator*(const Complex &a, A b) {
    return a * R(b);
  }
  template <class A, class = typename Arithmetic<A>::type> friend Complex operator/(const Complex &a, A b) {
    return a / R(b);
  }
  template <class A, class = typename Arithmetic<A>::type> friend Complex operator/(A a, const Complex &b) {
    return R(a) / b;
  }
  Complex    &operator+=(const Complex &b) { return *this = *this + b; }
  friend bool operator==(const Complex &a, const Complex &b) { return a.re == b.re && a.im == b.im; }
  friend bool operator!=(const Complex &a, const Complex &b) { return !(a == b); }
};
template <class R> inline Complex<R> inverse(const Complex<R> &b) { // scaled, or the squares overflow
  const R scale = inverse(max(fabs(b.re), fabs(b.im)));
  const R re = scale * b.re, im = scale * b.im, over = scale * inverse(re * re + im * im);
  return {re * over, -im * over};
}
template <class R> inline R real(const Complex<R> &a) {
  return a.re;
}
template <class R> inline R imag(const Complex<R> &a) {
  return a.im;
}
template <class R> inline Complex<R> conj(const Complex<R> &a) {
  return {a.re, -a.im};
}
template <class R> inline R fabs(const Complex<R> &a) { // without overflow
  const R x = fabs(a.re), y = fabs(a.im), most = max(x, y), least = min(x, y);
  return most == 0 ? most : most * sqrt(1 + (least / most) * (least / most));
}
template <class R> inline R abs(const Complex<R> &a) {
  return fabs(a);
}
// The same of a field, not of an unknown: they have no complex derivative.
template <class Point, int f> struct Coefficient; // prelude.hpp
template <class Point, int f> inline auto real(const Coefficient<Point, f> &k) {
  return real(k.v);
}
template <class Point, int f> inline auto imag(const Coefficient<Point, f> &k) {
  return imag(k.v);
}
template <class Point, int f> inline auto conj(const Coefficient<Point, f> &k) {
  return conj(k.v);
}
template <class Point, int f> inline auto abs(const Coefficient<Point, f> &k) {
  return abs(k.v);
}
template <class R> inline Complex<R> exp(const Complex<R> &a) {
  const R e = exp(a.re);
  return {e * cos(a.im), e * sin(a.im)};
}
template <class R> inline Complex<R> sqrt(const Complex<R> &a) {
  const R root = sqrt((fabs(a) + fabs(a.re)) / 2);
  if (root == 0) return {};
  const R other = fabs(a.im) / (2 * root), sign = a.im < 0 ? -1 : 1;
  return a.re >= 0 ? Complex<R>(root, sign * other) : Complex<R>(other, sign * root);
}
template <class R> inline Complex<R> log(const Complex<R> &a) { // the angle from that of half of it
  const Complex<R> half = sqrt(a);
  return {log(fabs(a)), half.re == 0 ? (half.im < 0 ? -2 : 2) * atan(R(1)) * 2 : 2 * atan(half.im / half.re)};
}
template <class R> inline Complex<R> pow(const Complex<R> &a, const Complex<R> &b) {
  if (a == Complex<R>() && (b.re > 0 || b == Complex<R>())) return b.re > 0 ? R(0) : R(1);
  return exp(b * log(a));
}
template <class R, class B, class = typename Arithmetic<B>::type> inline Complex<R> pow(const Complex<R> &a, B b) {
  return pow(a, Complex<R>((R)b));
}
template <class R> inline Complex<R> sinh(const Complex<R> &a) {
  return {sinh(a.re) * cos(a.im), cosh(a.re) * sin(a.im)};
}
template <class R> inline Complex<R> cosh(const Complex<R> &a) {
  return {cosh(a.re) * cos(a.im), sinh(a.re) * sin(a.im)};
}
template <class R> inline Complex<R> tanh(const Complex<R> &a) {
  if (fabs(a.re) > 25) return a.re > 0 ? R(1) : R(-1); // to the last digit
  return sinh(a) / cosh(a);
}
template <class R> inline Complex<R> sin(const Complex<R> &a) {
  const Complex<R> s = sinh(Complex<R>(-a.im, a.re)); // i sin(a)
  return {s.im, -s.re};
}
template <class R> inline Complex<R> cos(const Complex<R> &a) {
  return cosh(Complex<R>(-a.im, a.re));
}
template <class R> inline Complex<R> tan(const Complex<R> &a) {
  const Complex<R> t = tanh(Complex<R>(-a.im, a.re)); // i tan(a)
  return {t.im, -t.re};
}

#endif

// ---- numbers with and without derivatives --------------------------------------------------------------------------

// 0 to n - 1, for what stands once for each of them. Of loops over derivatives a compiler has unrolled none when it
// looks for what is constant or zero the first time, and takes ten times as long.
template <int... each> struct Indices {};
template <int n, int... each> struct IndicesTo : IndicesTo<n - 1, n - 1, each...> {};
template <int... each> struct IndicesTo<0, each...> { using type = Indices<each...>; };

// Most derivatives are zero. Which ones may not be is known to the compiler, where it knows the directions; that a product
// with zero is zero it may not assume by itself.
template <class S, int directions> struct Derivatives {
  S        d[directions] = {}; // any number where nothing depends on the direction
  unsigned depends = 0;        // a bit for each direction

  bool depends_on(int n) const { return (depends >> n & 1) != 0; }
  S    derivative(int n) const { return depends_on(n) ? d[n] : S(0); }
};
template <class S> struct Derivatives<S, 0> {};

// A value, with its derivatives in some directions. Each operation stands here once.
template <class S, int directions> struct Number : Derivatives<S, directions> {
  S v;

  Number() : v(0) {}
  Number(S value) : v(value) {}
  template <class A, class = typename Arithmetic<A>::type> Number(A value) : v(value) {}
  template <class A, class = typename Arithmetic<A>::type> friend Number operator*(const Number &a, A b) {
    return a * S(b);
  }
  template <class A, class = typename Arithmetic<A>::type> friend Number operator*(A a, const Number &b) {
    return S(a) * b;
  }
  // f(a), f(a, b) by their values and partial derivatives
  static Number chain(S f, S fa, const Number &a) {
    Number result(f);
    if constexpr (directions > 0) {
      result.depends = a.depends;
      result.derive(AllDirections(), fa, a);
    }
    return result;
  }
  static Number chain(S f, S fa, const Number &a, S fb, const Number &b) {
    Number result(f);
    if constexpr (directions > 0) {
      result.depends = a.depends | b.depends;
      result.derive(AllDirections(), fa, a, fb, b);
    }
    return result;
  }
  static Number chain(S f, S fa, const Number &a, S fb, const Number &b, S fc, const Number &c) {
    Number result(f);
    if constexpr (directions > 0) {
      result.depends = a.depends | b.depends | c.depends;
      result.derive(AllDirections(), fa, a, fb, b, fc, c);
    }
    return result;
  }

  friend Number operator+(const Number &a) { return a; }
  friend Number operator-(const Number &a) { return chain(-a.v, S(-1), a); }
  friend Number operator+(const Number &a, const Number &b) { return chain(a.v + b.v, S(1), a, S(1), b); }
  friend Number operator-(const Number &a, const Number &b) { return chain(a.v - b.v, S(1), a, S(-1), b); }
  friend Number operator*(const Number &a, const Number &b) { return chain(a.v * b.v, b.v, a, a.v, b); }
  friend Number operator*(const Number &a, S b) { return chain(a.v * b, b, a); }
  friend Number operator*(S a, const Number &b) { return chain(a * b.v, a, b); }
  friend Number operator/(const Number &a, const Number &b) {
    const S over_b = inverse(b.v), quotient = a.v * over_b;
    return chain(quotient, over_b, a, -quotient * over_b, b);
  }
  friend Number inverse(const Number &b) {
    const S over_b = inverse(b.v);
    return chain(over_b, -over_b * over_b, b);
  }
  friend bool operator<(const Number &a, const Number &b) { return a.v < b.v; }
  friend bool operator>(const Number &a, const Number &b) { return a.v > b.v; }
  friend bool operator<=(const Number &a, const Number &b) { return a.v <= b.v; }
  friend bool operator>=(const Number &a, const Number &b) { return a.v >= b.v; }
  friend bool operator==(const Number &a, const Number &b) { return a.v == b.v; }
  friend bool operator!=(const Number &a, const Number &b) { return a.v != b.v; }
#ifdef SHELLAC_EQUATION_OF_DATA // of parameters; unknowns as truth values are refused when the values are compiled
  explicit operator bool() const { return v != S(0); }
#endif

  friend Number exp(const Number &a) {
    const S e = exp(a.v);
    return chain(e, e, a);
  }
  friend Number log(const Number &a) { return chain(log(a.v), 1 / a.v, a); }
  friend Number sqrt(const Number &a) {
    const S root = sqrt(a.v);
    return chain(root, S(0.5) / root, a);
  }
  friend Number sin(const Number &a) { return chain(sin(a.v), cos(a.v), a); }
  friend Number cos(const Number &a) { return chain(cos(a.v), -sin(a.v), a); }
  friend Number tan(const Number &a) {
    const S f = tan(a.v);
    return chain(f, 1 + f * f, a);
  }
  friend Number asin(const Number &a) { return chain(asin(a.v), 1 / sqrt(1 - a.v * a.v), a); }
  friend Number acos(const Number &a) { return chain(acos(a.v), -1 / sqrt(1 - a.v * a.v), a); }
  friend Number atan(const Number &a) { return chain(atan(a.v), 1 / (1 + a.v * a.v), a); }
  friend Number atan2(const Number &y, const Number &x) {
    const S over = inverse(x.v * x.v + y.v * y.v);
    return chain(atan2(y.v, x.v), x.v * over, y, -y.v * over, x);
  }
  friend Number erf(const Number &a) { return chain(erf(a.v), S(1.1283791670955126) * exp(-a.v * a.v), a); }
  friend Number sign(const Number &a) { return chain(sign(a.v), S(0), a); }
  friend Number heaviside(const Number &a) { return chain(heaviside(a.v), S(0), a); }
  friend Number sinh(const Number &a) { return chain(sinh(a.v), cosh(a.v), a); }
  friend Number cosh(const Number &a) { return chain(cosh(a.v), sinh(a.v), a); }
  friend Number tanh(const Number &a) {
    const S f = tanh(a.v);
    return chain(f, 1 - f * f, a);
  }
  friend Number fabs(const Number &a) { return chain(a.v < 0 ? -a.v : a.v, a.v < 0 ? S(-1) : S(1), a); }
  friend Number abs(const Number &a) { return fabs(a); }
  friend Number pow(const Number &a, S b) { // a power of a constant exponent
    return chain(pow(a.v, b), b == 0 ? S(0) : b * pow(a.v, b - 1), a);
  }
  friend Number pow(const Number &a, const Number &b) {
    const S f = pow(a.v, b.v);
    return chain(f, b.v * pow(a.v, b.v - 1), a, f == 0 ? S(0) : f * log(a.v), b);
  }
  friend Number min(const Number &a, const Number &b) { return b.v < a.v || b.v != b.v ? b : a; }
  friend Number max(const Number &a, const Number &b) { return b.v > a.v || b.v != b.v ? b : a; }

private:
  using AllDirections = typename IndicesTo<directions>::type;

  template <int... n> void derive(Indices<n...>, S fa, const Number &a) { ((this->d[n] = fa * a.d[n]), ...); }
  template <int... n> void derive(Indices<n...>, S fa, const Number &a, S fb, const Number &b) {
    const S nothing(-0.); // which a compiler may leave out of a sum
    ((this->d[n] = (a.depends_on(n) ? fa * a.d[n] : nothing) + (b.depends_on(n) ? fb * b.d[n] : nothing)), ...);
  }
  template <int... n> void derive(Indices<n...>, S fa, const Number &a, S fb, const Number &b, S fc, const Number &c) {
    const S nothing(-0.);
    ((this->d[n] = (a.depends_on(n) ? fa * a.d[n] : nothing) + (b.depends_on(n) ? fb * b.d[n] : nothing) +
                   (c.depends_on(n) ? fc * c.d[n] : nothing)),
     ...);
  }
};

// The differences of three values in a row, with weights. As one operation of numbers with derivatives a compiler takes
// a third of the time.
template <class A, class W> inline A differences(const A &before, const A &here, const A &after, W behind, W ahead) {
  return (after - here) * ahead + (here - before) * behind;
}
template <class S, int directions, class W>
inline Number<S, directions> differences(const Number<S, directions> &before, const Number<S, directions> &here,
                                         const Number<S, directions> &after, W behind, W ahead) {
  const S value = differences(before.v, here.v, after.v, behind, ahead);
  if constexpr (directions == 1) { // also in what follows: of equal numbers it is zero to the last bit
    Number<S, directions> result(value);
    result.depends = before.depends | here.depends | after.depends;
    result.d[0] = differences(before.derivative(0), here.derivative(0), after.derivative(0), behind, ahead);
    return result;
  } else
    return Number<S, directions>::chain(value, S(-behind), before, S(behind - ahead), here, S(ahead), after);
}

template <class S, int directions> inline Number<S, directions> pow(const Number<S, directions> &a, int b) {
  return Number<S, directions>::chain(integer_power(a.v, b), b == 0 ? S(0) : S(b) * integer_power(a.v, b - 1), a);
}
template <class S, int directions> inline Number<S, directions> pow(const Number<S, directions> &a, double b) {
  return pow(a, S(b));
}

} // namespace equation
} // namespace shellac
