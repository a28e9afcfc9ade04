// CUDA's device math: functions that the C library lacks, fast intrinsics, conversions with a
// rounding mode, and integer and bit intrinsics.
#pragma once
#pragma GCC system_header

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdint>

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
#undef KB_INTEGER_MIN_MAX
#undef KB_MIN_MAX
// A NaN loses against a number, as in fminf and fmaxf.
#define KB_FLOAT_MIN_MAX(A, B, R, suffix)                                  \
  KB_DEVICE_FUNCTION inline R min(A a, B b) { return fmin##suffix(a, b); } \
  KB_DEVICE_FUNCTION inline R max(A a, B b) { return fmax##suffix(a, b); }
KB_FLOAT_MIN_MAX(float, float, float, f)
KB_FLOAT_MIN_MAX(double, double, double, )
KB_FLOAT_MIN_MAX(float, double, double, )
KB_FLOAT_MIN_MAX(double, float, double, )
#undef KB_FLOAT_MIN_MAX

using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float fdividef(float x, float y) { return x / y; }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
inline double erfcx(double x) {
  // exp(x*x) overflows beyond 26, where two terms of the asymptotic series are exact enough.
  if (x < 25) return exp(x * x) * erfc(x);
  const double s = 1 / (x * x);
  return 0.56418958354775628695 / x * (1 - s / 2 * (1 - 1.5 * s));
}
inline float erfcxf(float x) { return static_cast<float>(erfcx(x)); }
inline double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
inline float norm3df(float a, float b, float c) { return static_cast<float>(norm3d(a, b, c)); }
inline double norm4d(double a, double b, double c, double d) {
  return sqrt(a * a + b * b + c * c + d * d);
}
inline float norm4df(float a, float b, float c, float d) {
  return static_cast<float>(norm4d(a, b, c, d));
}
inline float rnorm3df(float a, float b, float c) { return static_cast<float>(1 / norm3d(a, b, c)); }
inline float rnorm4df(float a, float b, float c, float d) {
  return static_cast<float>(1 / norm4d(a, b, c, d));
}
inline float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
inline double rhypot(double a, double b) { return 1.0 / hypot(a, b); }

namespace kb::cpu {
inline constexpr double pi = 3.14159265358979323846;
/// The argument of sinpi or cospi reduced exactly to [-1, 1].
inline double reduce_half_turns(double x) { return remainder(x, 2.0); }
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

inline double sinpi(double x) { return sin(kb::cpu::pi * kb::cpu::reduce_half_turns(x)); }
inline double cospi(double x) { return cos(kb::cpu::pi * kb::cpu::reduce_half_turns(x)); }
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline double erfinv(double y) {
  if (y <= -1 || y >= 1) return y == 1 ? HUGE_VAL : y == -1 ? -HUGE_VAL : NAN;
  return kb::cpu::invert([](double x) { return erf(x); }, y, -6, 6);
}
inline double erfcinv(double y) {
  if (y <= 0 || y >= 2) return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : NAN;
  return kb::cpu::invert([](double x) { return -erfc(x); }, -y, -6, 28);
}
inline double normcdfinv(double y) { return -1.41421356237309504880 * erfcinv(2 * y); }
inline float erfinvf(float y) { return static_cast<float>(erfinv(y)); }
inline float erfcinvf(float y) { return static_cast<float>(erfcinv(y)); }
inline float normcdfinvf(float y) { return static_cast<float>(normcdfinv(y)); }

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
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }

#define KB_ROUNDED(mode)                                                          \
  inline float __fadd_##mode(float a, float b) { return a + b; }                  \
  inline float __fsub_##mode(float a, float b) { return a - b; }                  \
  inline float __fmul_##mode(float a, float b) { return a * b; }                  \
  inline float __fdiv_##mode(float a, float b) { return a / b; }                  \
  inline float __frcp_##mode(float a) { return 1.0f / a; }                        \
  inline float __fsqrt_##mode(float a) { return sqrtf(a); }                       \
  inline float __fmaf_##mode(float a, float b, float c) { return fmaf(a, b, c); } \
  inline double __dadd_##mode(double a, double b) { return a + b; }               \
  inline double __dsub_##mode(double a, double b) { return a - b; }               \
  inline double __dmul_##mode(double a, double b) { return a * b; }               \
  inline double __ddiv_##mode(double a, double b) { return a / b; }               \
  inline double __drcp_##mode(double a) { return 1.0 / a; }                       \
  inline double __dsqrt_##mode(double a) { return sqrt(a); }                      \
  inline double __fma_##mode(double a, double b, double c) { return fma(a, b, c); }
// Only round-to-nearest: the directed modes differ in the last bit and no program here depends on
// it.
KB_ROUNDED(rn)
#undef KB_ROUNDED

namespace kb::cpu {
/// Float to integer as on the device: saturating, NaN becomes 0.
template <class To, class From>
To saturate(From x) {
  if (x != x) return 0;
  constexpr From low = static_cast<From>(
      std::is_signed_v<To> ? -(To(1) << (sizeof(To) * 8 - 2)) * From(2) : From(0));
  constexpr From high =
      static_cast<From>(To(1) << (sizeof(To) * 8 - 2)) * From(std::is_signed_v<To> ? 2 : 4);
  if (x < low) return std::is_signed_v<To> ? To(To(1) << (sizeof(To) * 8 - 1)) : To(0);
  if (x >= high)
    return static_cast<To>(~(std::is_signed_v<To> ? To(To(1) << (sizeof(To) * 8 - 1)) : To(0)));
  return static_cast<To>(x);
}
}  // namespace kb::cpu

#define KB_FROM_FLOAT(from, From, to, To, suffix)                                            \
  inline To __##from##2##to##_rn(From x) { return kb::cpu::saturate<To>(rint##suffix(x)); }  \
  inline To __##from##2##to##_rz(From x) { return kb::cpu::saturate<To>(trunc##suffix(x)); } \
  inline To __##from##2##to##_ru(From x) { return kb::cpu::saturate<To>(ceil##suffix(x)); }  \
  inline To __##from##2##to##_rd(From x) { return kb::cpu::saturate<To>(floor##suffix(x)); }
KB_FROM_FLOAT(float, float, int, int, f)
KB_FROM_FLOAT(float, float, uint, unsigned, f)
KB_FROM_FLOAT(float, float, ll, long long, f)
KB_FROM_FLOAT(float, float, ull, unsigned long long, f)
KB_FROM_FLOAT(double, double, int, int, )
KB_FROM_FLOAT(double, double, uint, unsigned, )
KB_FROM_FLOAT(double, double, ll, long long, )
KB_FROM_FLOAT(double, double, ull, unsigned long long, )
#undef KB_FROM_FLOAT
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __int2float_rz(int x) {
  const float y = static_cast<float>(x);
  return fabs(static_cast<double>(y)) > fabs(static_cast<double>(x)) ? nextafterf(y, 0.0f) : y;
}
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

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
