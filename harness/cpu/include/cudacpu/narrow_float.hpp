// The 16-bit floating-point types: every operation is done in float and rounded once.
#pragma once
#pragma GCC system_header

#include <math.h>

#include "atomics.hpp"
#include "math.hpp"
#include "types.hpp"

namespace kb::cpu {

struct Binary16 {
  static unsigned short round(float value) {
    const unsigned word = bits<unsigned>(value), sign = word >> 16 & 0x8000u;
    const unsigned magnitude = word & 0x7fffffffu;
    if (magnitude >= 0x7f800000u)  // infinity or NaN
      return static_cast<unsigned short>(sign | 0x7c00u | (magnitude > 0x7f800000u ? 0x3ffu : 0u));
    if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 puts the rounded bits into the mantissa
      const float shifted = bits<float>(magnitude) + 0.5f;
      return static_cast<unsigned short>(sign | (bits<unsigned>(shifted) - 0x3f000000u));
    }
    const unsigned odd = magnitude >> 13 & 1;
    return static_cast<unsigned short>(sign | (magnitude - 0x38000000u + 0xfffu + odd) >> 13);
  }
  static float widen(unsigned short raw) {
    const unsigned sign = static_cast<unsigned>(raw & 0x8000u) << 16, rest = raw & 0x7fffu;
    if (rest >= 0x7c00u) return bits<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest < 0x400u) {
      const float value = static_cast<float>(rest) * 0x1p-24f;
      return sign ? -value : value;
    }
    return bits<float>(sign | ((rest << 13) + 0x38000000u));
  }
};

struct Brain16 {
  static unsigned short round(float value) {
    const unsigned word = bits<unsigned>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<unsigned short>((word + 0x7fffu + (word >> 16 & 1)) >> 16);
  }
  static float widen(unsigned short raw) { return bits<float>(static_cast<unsigned>(raw) << 16); }
};

#define KB_UNARY(name, expression)   \
  friend Narrow name(Narrow value) { \
    const float x = value;           \
    return Narrow(expression);       \
  }
#define KB_BINARY(name, expression)               \
  friend Narrow name(Narrow left, Narrow right) { \
    const float a = left, b = right;              \
    return Narrow(expression);                    \
  }
#define KB_COMPARE(name, operation) \
  friend bool name(Narrow a, Narrow b) { return float(a) operation float(b); }

/// A scalar. The functions are friends so that both formats share one definition and arguments
/// still convert as in CUDA.
template <class Format>
struct Narrow {
  unsigned short raw;

  Narrow() = default;
  Narrow(float value) : raw(Format::round(value)) {}
  Narrow(double value) : raw(Format::round(static_cast<float>(value))) {}
  Narrow(int value) : Narrow(static_cast<float>(value)) {}
  Narrow(unsigned value) : Narrow(static_cast<float>(value)) {}
  Narrow(short value) : Narrow(static_cast<float>(value)) {}
  Narrow(unsigned short value) : Narrow(static_cast<float>(value)) {}
  Narrow(long value) : Narrow(static_cast<float>(value)) {}
  Narrow(unsigned long value) : Narrow(static_cast<float>(value)) {}
  Narrow(long long value) : Narrow(static_cast<float>(value)) {}
  Narrow(unsigned long long value) : Narrow(static_cast<float>(value)) {}
  template <class Other>
  explicit Narrow(Narrow<Other> other) : Narrow(static_cast<float>(other)) {}
  operator float() const { return Format::widen(raw); }
  static Narrow from_raw(unsigned short raw) {
    Narrow result;
    result.raw = raw;
    return result;
  }

  KB_BINARY(operator+, a + b)
  KB_BINARY(operator-, a - b)
  KB_BINARY(operator*, a* b)
  KB_BINARY(operator/, a / b)
  KB_BINARY(__hadd, a + b)
  KB_BINARY(__hadd_rn, a + b)
  KB_BINARY(__hsub, a - b)
  KB_BINARY(__hmul, a* b)
  KB_BINARY(__hdiv, a / b)
  KB_BINARY(__hadd_sat, __saturatef(a + b))
  KB_BINARY(__hmul_sat, __saturatef(a* b))
  KB_BINARY(__hmax, fmaxf(a, b))
  KB_BINARY(__hmin, fminf(a, b))
  KB_BINARY(__hmax_nan, a != a || b != b ? NAN : fmaxf(a, b))
  KB_BINARY(__hmin_nan, a != a || b != b ? NAN : fminf(a, b))
  friend Narrow operator-(Narrow value) { return from_raw(value.raw ^ 0x8000); }
  friend Narrow operator+(Narrow value) { return value; }
  friend Narrow __hneg(Narrow value) { return -value; }
  friend Narrow __habs(Narrow value) { return from_raw(value.raw & 0x7fff); }
  friend Narrow __hfma(Narrow a, Narrow b, Narrow c) { return Narrow(fmaf(a, b, c)); }
  friend Narrow __hfma_sat(Narrow a, Narrow b, Narrow c) {
    return Narrow(__saturatef(fmaf(a, b, c)));
  }
  friend Narrow __hfma_relu(Narrow a, Narrow b, Narrow c) {
    return Narrow(fmaxf(fmaf(a, b, c), 0));
  }
  KB_UNARY(hexp, expf(x))
  KB_UNARY(hexp2, exp2f(x))
  KB_UNARY(hexp10, exp10f(x))
  KB_UNARY(hlog, logf(x))
  KB_UNARY(hlog2, log2f(x))
  KB_UNARY(hlog10, log10f(x))
  KB_UNARY(hsqrt, sqrtf(x))
  KB_UNARY(hrsqrt, 1.0f / sqrtf(x))
  KB_UNARY(hrcp, 1.0f / x)
  KB_UNARY(hsin, sinf(x))
  KB_UNARY(hcos, cosf(x))
  KB_UNARY(htanh, tanhf(x))
  KB_UNARY(htanh_approx, tanhf(x))
  KB_UNARY(hfloor, floorf(x))
  KB_UNARY(hceil, ceilf(x))
  KB_UNARY(hrint, rintf(x))
  KB_UNARY(htrunc, truncf(x))
  KB_COMPARE(operator==, ==)
  KB_COMPARE(operator!=, !=)
  KB_COMPARE(operator<, <)
  KB_COMPARE(operator<=, <=)
  KB_COMPARE(operator>, >)
  KB_COMPARE(operator>=, >=)
  KB_COMPARE(__heq, ==)
  KB_COMPARE(__hne, !=)
  KB_COMPARE(__hlt, <)
  KB_COMPARE(__hle, <=)
  KB_COMPARE(__hgt, >)
  KB_COMPARE(__hge, >=)
  friend bool __hisnan(Narrow x) { return float(x) != float(x); }
  friend int __hisinf(Narrow x) { return isinf(float(x)) ? (float(x) > 0 ? 1 : -1) : 0; }
  friend Narrow& operator+=(Narrow& a, Narrow b) { return a = a + b; }
  friend Narrow& operator-=(Narrow& a, Narrow b) { return a = a - b; }
  friend Narrow& operator*=(Narrow& a, Narrow b) { return a = a * b; }
  friend Narrow& operator/=(Narrow& a, Narrow b) { return a = a / b; }
  friend Narrow& operator++(Narrow& a) { return a = a + Narrow(1.0f); }
};
#undef KB_UNARY
#undef KB_BINARY
#undef KB_COMPARE

#define KB_UNARY(name, function) \
  friend Narrow2 name(Narrow2 v) { return {function(v.x), function(v.y)}; }
#define KB_BINARY(name, function) \
  friend Narrow2 name(Narrow2 a, Narrow2 b) { return {function(a.x, b.x), function(a.y, b.y)}; }
#define KB_COMPARE(name, operation)                                                            \
  friend Narrow2 __h##name##2(Narrow2 a, Narrow2 b) {                                          \
    return {Scalar(a.x operation b.x ? 1.0f : 0.0f), Scalar(a.y operation b.y ? 1.0f : 0.0f)}; \
  }                                                                                            \
  friend bool __hb##name##2(Narrow2 a, Narrow2 b) { return a.x operation b.x && a.y operation b.y; }

/// Two of them in 32 bits.
template <class Format>
struct alignas(4) Narrow2 {
  using Scalar = Narrow<Format>;
  Scalar x, y;

  Narrow2() = default;
  Narrow2(Scalar x, Scalar y) : x(x), y(y) {}

  KB_BINARY(operator+, __hadd)
  KB_BINARY(operator-, __hsub)
  KB_BINARY(operator*, __hmul)
  KB_BINARY(operator/, __hdiv)
  KB_BINARY(__hadd2, __hadd)
  KB_BINARY(__hadd2_rn, __hadd)
  KB_BINARY(__hsub2, __hsub)
  KB_BINARY(__hmul2, __hmul)
  KB_BINARY(__h2div, __hdiv)
  KB_BINARY(__hadd2_sat, __hadd_sat)
  KB_BINARY(__hmax2, __hmax)
  KB_BINARY(__hmin2, __hmin)
  friend Narrow2 __hfma2(Narrow2 a, Narrow2 b, Narrow2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
  }
  friend Narrow2 __hfma2_relu(Narrow2 a, Narrow2 b, Narrow2 c) {
    return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
  }
  KB_UNARY(operator-, __hneg)
  KB_UNARY(__hneg2, __hneg)
  KB_UNARY(__habs2, __habs)
  KB_UNARY(h2exp, hexp)
  KB_UNARY(h2exp2, hexp2)
  KB_UNARY(h2log, hlog)
  KB_UNARY(h2log2, hlog2)
  KB_UNARY(h2sqrt, hsqrt)
  KB_UNARY(h2rsqrt, hrsqrt)
  KB_UNARY(h2rcp, hrcp)
  KB_UNARY(h2sin, hsin)
  KB_UNARY(h2cos, hcos)
  KB_UNARY(h2tanh, htanh)
  KB_UNARY(h2floor, hfloor)
  KB_UNARY(h2ceil, hceil)
  KB_UNARY(h2rint, hrint)
  KB_COMPARE(eq, ==)
  KB_COMPARE(ne, !=)
  KB_COMPARE(lt, <)
  KB_COMPARE(le, <=)
  KB_COMPARE(gt, >)
  KB_COMPARE(ge, >=)
  friend bool operator==(Narrow2 a, Narrow2 b) { return a.x == b.x && a.y == b.y; }
  friend bool operator!=(Narrow2 a, Narrow2 b) { return !(a == b); }
  friend Narrow2& operator+=(Narrow2& a, Narrow2 b) { return a = a + b; }
  friend Narrow2& operator-=(Narrow2& a, Narrow2 b) { return a = a - b; }
  friend Narrow2& operator*=(Narrow2& a, Narrow2 b) { return a = a * b; }
  friend Narrow2& operator/=(Narrow2& a, Narrow2 b) { return a = a / b; }
  friend float __low2float(Narrow2 v) { return v.x; }
  friend float __high2float(Narrow2 v) { return v.y; }
};
#undef KB_UNARY
#undef KB_BINARY
#undef KB_COMPARE

}  // namespace kb::cpu

// Conversions, whose names contain the name of the type: `n` is half or bfloat16, `n2` its pair.
#define KB_NARROW_CONVERSIONS(T, T2, n, n2)                                                \
  inline T __float2##n(float x) { return T(x); }                                           \
  inline T __float2##n##_rn(float x) { return T(x); }                                      \
  inline T __double2##n(double x) { return T(x); }                                         \
  inline T __int2##n##_rn(int x) { return T(x); }                                          \
  inline T __uint2##n##_rn(unsigned x) { return T(x); }                                    \
  inline T __ushort2##n##_rn(unsigned short x) { return T(x); }                            \
  inline T __short2##n##_rn(short x) { return T(x); }                                      \
  inline T __ll2##n##_rn(long long x) { return T(x); }                                     \
  inline float __##n##2float(T x) { return x; }                                            \
  inline int __##n##2int_rn(T x) { return __float2int_rn(x); }                             \
  inline int __##n##2int_rz(T x) { return __float2int_rz(x); }                             \
  inline int __##n##2int_rd(T x) { return __float2int_rd(x); }                             \
  inline int __##n##2int_ru(T x) { return __float2int_ru(x); }                             \
  inline unsigned __##n##2uint_rn(T x) { return __float2uint_rn(x); }                      \
  inline short __##n##_as_short(T x) { return static_cast<short>(x.raw); }                 \
  inline unsigned short __##n##_as_ushort(T x) { return x.raw; }                           \
  inline T __short_as_##n(short x) { return T::from_raw(static_cast<unsigned short>(x)); } \
  inline T __ushort_as_##n(unsigned short x) { return T::from_raw(x); }                    \
  inline T2 __##n##2##n2(T x) { return {x, x}; }                                           \
  inline T2 __halves2##n2(T x, T y) { return {x, y}; }                                     \
  inline T2 make_##n2(T x, T y) { return {x, y}; }                                         \
  inline T2 __float2##n2##_rn(float x) { return {T(x), T(x)}; }                            \
  inline T2 __floats2##n2##_rn(float x, float y) { return {T(x), T(y)}; }                  \
  inline T2 __float22##n2##_rn(float2 v) { return {T(v.x), T(v.y)}; }                      \
  inline float2 __##n2##2float2(T2 v) { return {v.x, v.y}; }                               \
  inline T __low2##n(T2 v) { return v.x; }                                                 \
  inline T __high2##n(T2 v) { return v.y; }                                                \
  inline T2 __low2##n2(T2 v) { return {v.x, v.x}; }                                        \
  inline T2 __high2##n2(T2 v) { return {v.y, v.y}; }                                       \
  inline T2 __lows2##n2(T2 a, T2 b) { return {a.x, b.x}; }                                 \
  inline T2 __highs2##n2(T2 a, T2 b) { return {a.y, b.y}; }                                \
  inline T2 __lowhigh2highlow(T2 v) { return {v.y, v.x}; }
