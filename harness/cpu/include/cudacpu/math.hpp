// CUDA's device math: functions that the C library lacks, fast intrinsics, conversions with a
// rounding mode, and integer and bit intrinsics.
#pragma once
#pragma GCC system_header

#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <limits>

#include "atomics.hpp"

// min and max for exactly the pairs of types that CUDA has; anything else is ambiguous there too.
#define KB_MIN_MAX(A, B, R)                                      \
  KB_DEVICE_FUNCTION constexpr R min(A left, B right) {          \
    const R a = static_cast<R>(left), b = static_cast<R>(right); \
    return b < a ? b : a;                                        \
  }                                                              \
  KB_DEVICE_FUNCTION constexpr R max(A left, B right) {          \
    const R a = static_cast<R>(left), b = static_cast<R>(right); \
    return a < b ? b : a;                                        \
  }
#define KB_INTEGER_MIN_MAX(S, U) \
  KB_MIN_MAX(S, S, S) KB_MIN_MAX(U, U, U) KB_MIN_MAX(S, U, U) KB_MIN_MAX(U, S, U)
KB_INTEGER_MIN_MAX(int, unsigned int)
KB_INTEGER_MIN_MAX(long, unsigned long)
KB_INTEGER_MIN_MAX(long long, unsigned long long)
// A NaN loses against a number, as in fminf and fmaxf.
#define KB_FLOAT_MIN_MAX(A, B, R, suffix)                                  \
  KB_DEVICE_FUNCTION inline R min(A a, B b) { return fmin##suffix(a, b); } \
  KB_DEVICE_FUNCTION inline R max(A a, B b) { return fmax##suffix(a, b); }
KB_FLOAT_MIN_MAX(float, float, float, f)
KB_FLOAT_MIN_MAX(double, double, double, )
KB_FLOAT_MIN_MAX(float, double, double, )
KB_FLOAT_MIN_MAX(double, float, double, )
#define KB_NAMED_MIN_MAX(prefix, T)                                          \
  KB_DEVICE_FUNCTION constexpr T prefix##min(T a, T b) { return min(a, b); } \
  KB_DEVICE_FUNCTION constexpr T prefix##max(T a, T b) { return max(a, b); }
KB_NAMED_MIN_MAX(u, unsigned int)
KB_NAMED_MIN_MAX(ll, long long)
KB_NAMED_MIN_MAX(ull, unsigned long long)

using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

namespace kb::cpu {
inline constexpr double pi = 3.14159265358979323846;
/// The argument of sinpi or cospi in radians; the reduction is exact.
inline double half_turns(double x) { return pi * remainder(x, 2.0); }
/// Solves f(x) = y for increasing f, to the precision of double.
template <class F>
double invert(F f, double y, double low, double high) {
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    (f(middle) < y ? low : high) = middle;
  }
  return 0.5 * (low + high);
}
}  // namespace kb::cpu

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline double sinpi(double x) { return sin(kb::cpu::half_turns(x)); }
inline double cospi(double x) { return cos(kb::cpu::half_turns(x)); }
inline double erfcx(double x) {
  // exp(x*x) overflows beyond 26, where two terms of the asymptotic series are exact enough.
  if (x < 25) return exp(x * x) * erfc(x);
  const double s = 1 / (x * x);
  return 0.56418958354775628695 / x * (1 - s / 2 * (1 - 1.5 * s));
}
inline double erfinv(double y) {
  if (!(y > -1 && y < 1)) return y == 1 ? HUGE_VAL : y == -1 ? -HUGE_VAL : NAN;
  return kb::cpu::invert([](double x) { return erf(x); }, y, -6, 6);
}
inline double erfcinv(double y) {
  if (!(y > 0 && y < 2)) return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : NAN;
  return kb::cpu::invert([](double x) { return -erfc(x); }, -y, -6, 28);
}
inline double normcdfinv(double y) { return -1.41421356237309504880 * erfcinv(2 * y); }
inline double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
inline double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
inline double norm4d(double a, double b, double c, double d) { return hypot(norm3d(a, b, c), d); }
inline double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
namespace kb::cpu {
template <class T>
double norm(int dimensions, const T* x) {
  double squares = 0;
  for (int i = 0; i < dimensions; ++i) squares += static_cast<double>(x[i]) * x[i];
  return sqrt(squares);
}
inline double modified_bessel(int order, double x) {
  const double size = fabs(x);
  const double value = size > 714 ? HUGE_VAL : std::cyl_bessel_i(order, size);
  return order % 2 && x < 0 ? -value : value;
}
}  // namespace kb::cpu
inline double norm(int n, const double* x) { return kb::cpu::norm(n, x); }
inline double rnorm(int n, const double* x) { return 1 / kb::cpu::norm(n, x); }
inline float normf(int n, const float* x) { return static_cast<float>(kb::cpu::norm(n, x)); }
inline float rnormf(int n, const float* x) { return static_cast<float>(1 / kb::cpu::norm(n, x)); }
inline double cyl_bessel_i0(double x) { return kb::cpu::modified_bessel(0, x); }
inline double cyl_bessel_i1(double x) { return kb::cpu::modified_bessel(1, x); }
// The float functions are the double ones rounded.
#define KB_FLOAT_VERSION(name)                                   \
  template <class... Floats>                                     \
  float name##f(float x, Floats... more) {                       \
    return static_cast<float>(name(double(x), double(more)...)); \
  }
KB_FLOAT_VERSION(cyl_bessel_i0)
KB_FLOAT_VERSION(cyl_bessel_i1)
KB_FLOAT_VERSION(rcbrt)
KB_FLOAT_VERSION(normcdf)
KB_FLOAT_VERSION(sinpi)
KB_FLOAT_VERSION(cospi)
KB_FLOAT_VERSION(erfcx)
KB_FLOAT_VERSION(erfinv)
KB_FLOAT_VERSION(erfcinv)
KB_FLOAT_VERSION(normcdfinv)
KB_FLOAT_VERSION(rhypot)
KB_FLOAT_VERSION(norm3d)
KB_FLOAT_VERSION(norm4d)
KB_FLOAT_VERSION(rnorm3d)
KB_FLOAT_VERSION(rnorm4d)
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }

// The C library declares some of these names for itself, so they are macros here.
#define __expf(x) expf(x)
#define __exp10f(x) exp10f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __powf(x, y) powf(x, y)
#define __sincosf(x, s, c) sincosf(x, s, c)
#define __tanhf(x) tanhf(x)
inline float fdividef(float x, float y) { return x / y; }
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }

namespace kb::cpu {
/// Float to integer as on the device: saturating, NaN becomes 0.
template <class To, class From>
To saturate(From x) {
  using Limits = std::numeric_limits<To>;
  // The highest integer may not be representable; the power of two above it always is.
  constexpr From end = static_cast<From>(Limits::max() / 2 + 1) * 2;
  if (x != x) return 0;
  if (x < static_cast<From>(Limits::min())) return Limits::min();
  return x >= end ? Limits::max() : static_cast<To>(x);
}
template <int mode, class T>
T whole(T x) {
  if (mode == FE_TOWARDZERO) return std::trunc(x);
  return mode == FE_UPWARD ? std::ceil(x) : mode == FE_DOWNWARD ? std::floor(x) : std::rint(x);
}
/// The compiler neither knows the value nor moves what depends on it across calls.
template <class T>
T hidden(T value) {
  volatile T copy = value;
  return copy;
}
/// f(values...) with one of the rounding modes FE_*.
template <int mode, class F, class... T>
auto rounded(F f, T... values) {
  if constexpr (mode == FE_TONEAREST) {
    return f(values...);
  } else {
    struct Scope {
      int before = fegetround();
      Scope() { fesetround(mode); }
      ~Scope() { fesetround(before); }
    } scope;
    return hidden(f(hidden(values)...));
  }
}
}  // namespace kb::cpu

// All roundings: to nearest even, towards zero, up and down.
#define KB_ROUNDED(X, ...)         \
  X(rn, FE_TONEAREST, __VA_ARGS__) \
  X(rz, FE_TOWARDZERO, __VA_ARGS__) X(ru, FE_UPWARD, __VA_ARGS__) X(rd, FE_DOWNWARD, __VA_ARGS__)
#define KB_ROUNDED_1(mode, MODE, name, R, T, expression)                              \
  inline R name##_##mode(T a) {                                                       \
    return kb::cpu::rounded<MODE>([](T a) { return static_cast<R>(expression); }, a); \
  }
#define KB_TO_INTEGER(mode, MODE, name, R, T) \
  inline R name##_##mode(T a) { return kb::cpu::saturate<R>(kb::cpu::whole<MODE>(a)); }
#define KB_ROUNDED_2(mode, MODE, name, T, expression)                         \
  inline T name##_##mode(T a, T b) {                                          \
    return kb::cpu::rounded<MODE>([](T a, T b) { return expression; }, a, b); \
  }
#define KB_ROUNDED_3(mode, MODE, name, T, expression)                                 \
  inline T name##_##mode(T a, T b, T c) {                                             \
    return kb::cpu::rounded<MODE>([](T a, T b, T c) { return expression; }, a, b, c); \
  }
KB_ROUNDED(KB_ROUNDED_2, __fadd, float, a + b)
KB_ROUNDED(KB_ROUNDED_2, __fsub, float, a - b)
KB_ROUNDED(KB_ROUNDED_2, __fmul, float, a* b)
KB_ROUNDED(KB_ROUNDED_2, __fdiv, float, a / b)
KB_ROUNDED(KB_ROUNDED_1, __frcp, float, float, 1.0f / a)
KB_ROUNDED(KB_ROUNDED_1, __fsqrt, float, float, sqrtf(a))
KB_ROUNDED(KB_ROUNDED_3, __fmaf, float, fmaf(a, b, c))
KB_ROUNDED(KB_ROUNDED_2, __dadd, double, a + b)
KB_ROUNDED(KB_ROUNDED_2, __dsub, double, a - b)
KB_ROUNDED(KB_ROUNDED_2, __dmul, double, a* b)
KB_ROUNDED(KB_ROUNDED_2, __ddiv, double, a / b)
KB_ROUNDED(KB_ROUNDED_1, __drcp, double, double, 1.0 / a)
KB_ROUNDED(KB_ROUNDED_1, __dsqrt, double, double, sqrt(a))
KB_ROUNDED(KB_ROUNDED_3, __fma, double, fma(a, b, c))
KB_ROUNDED(KB_ROUNDED_1, __double2float, float, double, a)
// Between every integer and floating-point type.
#define KB_CONVERSIONS(name, T)                             \
  KB_ROUNDED(KB_ROUNDED_1, __##name##2float, float, T, a)   \
  KB_ROUNDED(KB_ROUNDED_1, __##name##2double, double, T, a) \
  KB_ROUNDED(KB_TO_INTEGER, __float2##name, T, float)       \
  KB_ROUNDED(KB_TO_INTEGER, __double2##name, T, double)
KB_CONVERSIONS(int, int)
KB_CONVERSIONS(uint, unsigned)
KB_CONVERSIONS(ll, long long)
KB_CONVERSIONS(ull, unsigned long long)

inline int __float_as_int(float x) { return kb::cpu::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return kb::cpu::bits<unsigned>(x); }
inline float __int_as_float(int x) { return kb::cpu::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return kb::cpu::bits<float>(x); }
inline long long __double_as_longlong(double x) { return kb::cpu::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return kb::cpu::bits<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

KB_DEVICE_FUNCTION inline int __popc(unsigned x) { return __builtin_popcount(x); }
KB_DEVICE_FUNCTION inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KB_DEVICE_FUNCTION inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
KB_DEVICE_FUNCTION inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
KB_DEVICE_FUNCTION inline int __ffs(int x) { return __builtin_ffs(x); }
KB_DEVICE_FUNCTION inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned __sad(int a, int b, unsigned c) {
  return c + static_cast<unsigned>(llabs(static_cast<long long>(a) - b));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(
      (static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long all = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned select = selector >> (4 * i) & 0xf;
    unsigned byte = static_cast<unsigned>(all >> (8 * (select & 7))) & 0xff;
    if (select & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
namespace kb::cpu {
template <class A, class B, class C>
C dot4(unsigned a, unsigned b, C c) {
  for (int i = 0; i < 4; ++i)
    c +=
        static_cast<C>(static_cast<A>(a >> (8 * i))) * static_cast<C>(static_cast<B>(b >> (8 * i)));
  return c;
}
}  // namespace kb::cpu
inline int __dp4a(int a, int b, int c) { return kb::cpu::dot4<signed char, signed char>(a, b, c); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return kb::cpu::dot4<unsigned char, unsigned char>(a, b, c);
}

inline long long clock64() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}
