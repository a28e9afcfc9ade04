// The 16-bit floating-point types: every operation is done in float and rounded once more, every
// conversion rounds once.
#pragma once
#pragma GCC system_header

#include <math.h>

#include "atomics.hpp"
#include "math.hpp"
#include "types.hpp"

KB_DEVICE_CODE_BEGIN
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

/// A float that rounds to 16 bits as `value` does. One that is not exact has an odd last bit, so
/// that it is never half way between two 16-bit numbers.
template <class T>
float to_float(T value) {
  const float nearest = static_cast<float>(value);
  if constexpr (!std::is_same_v<T, float> && sizeof(T) > 2) {
    const long double exact = value, got = nearest;  // holds all integers and doubles
    if (got != exact && exact == exact) {
      const bool away_from_zero = exact < 0 ? got < exact : got > exact;
      return bits<float>((bits<unsigned>(nearest) - away_from_zero) | 1u);
    }
  }
  return nearest;
}

// The functions of both types. Scalar name, name for pairs, value in float.
#define KB_NARROW_BINARY(X)                                        \
  X(operator+, operator+, a + b)                                   \
  X(operator-, operator-, a - b)                                   \
  X(operator*, operator*, a* b)                                    \
  X(operator/, operator/, a / b)                                   \
  X(__hadd, __hadd2, a + b)                                        \
  X(__hadd_rn, __hadd2_rn, a + b)                                  \
  X(__hsub, __hsub2, a - b)                                        \
  X(__hmul, __hmul2, a* b)                                         \
  X(__hdiv, __h2div, a / b)                                        \
  X(__hadd_sat, __hadd2_sat, __saturatef(a + b))                   \
  X(__hmul_sat, __hmul2_sat, __saturatef(a* b))                    \
  X(__hmax, __hmax2, fmaxf(a, b))                                  \
  X(__hmin, __hmin2, fminf(a, b))                                  \
  X(__hmax_nan, __hmax2_nan, a != a || b != b ? NAN : fmaxf(a, b)) \
  X(__hmin_nan, __hmin2_nan, a != a || b != b ? NAN : fminf(a, b))
#define KB_NARROW_UNARY(X)                 \
  X(operator-, operator-, -a)              \
  X(__hneg, __hneg2, -a)                   \
  X(__habs, __habs2, fabsf(a))             \
  X(hexp, h2exp, expf(a))                  \
  X(hexp2, h2exp2, exp2f(a))               \
  X(hexp10, h2exp10, exp10f(a))            \
  X(hlog, h2log, logf(a))                  \
  X(hlog2, h2log2, log2f(a))               \
  X(hlog10, h2log10, log10f(a))            \
  X(hsqrt, h2sqrt, sqrtf(a))               \
  X(hrsqrt, h2rsqrt, 1.0f / sqrtf(a))      \
  X(hrcp, h2rcp, 1.0f / a)                 \
  X(hsin, h2sin, sinf(a))                  \
  X(hcos, h2cos, cosf(a))                  \
  X(htanh, h2tanh, tanhf(a))               \
  X(htanh_approx, h2tanh_approx, tanhf(a)) \
  X(hfloor, h2floor, floorf(a))            \
  X(hceil, h2ceil, ceilf(a))               \
  X(hrint, h2rint, rintf(a))               \
  X(htrunc, h2trunc, truncf(a))
#define KB_NARROW_FMA(X)                                 \
  X(__hfma, __hfma2, fmaf(a, b, c))                      \
  X(__hfma_sat, __hfma2_sat, __saturatef(fmaf(a, b, c))) \
  X(__hfma_relu, __hfma2_relu, fmaxf(fmaf(a, b, c), 0))
// The ordered comparisons are false for NaN, the unordered ones, with a u, are true.
#define KB_NARROW_COMPARE(X) \
  X(eq, a == b)              \
  X(ne, a<b || a> b)         \
  X(lt, a < b)               \
  X(le, a <= b)              \
  X(gt, a > b)               \
  X(ge, a >= b)              \
  X(equ, !(a < b || a > b))  \
  X(neu, a != b)             \
  X(ltu, !(a >= b))          \
  X(leu, !(a > b))           \
  X(gtu, !(a <= b))          \
  X(geu, !(a < b))
#define KB_NARROW_OPERATORS(X) X(==, eq) X(!=, neu) X(<, lt) X(<=, le) X(>, gt) X(>=, ge)
#define KB_NARROW_ASSIGN(T, one)                                       \
  friend T operator+(T a) { return a; }                                \
  friend T& operator++(T& a) { return a = a + one; }                   \
  friend T& operator--(T& a) { return a = a - one; }                   \
  friend T operator++(T& a, int) { return std::exchange(a, a + one); } \
  friend T operator--(T& a, int) { return std::exchange(a, a - one); } \
  friend T& operator+=(T& a, T b) { return a = a + b; }                \
  friend T& operator-=(T& a, T b) { return a = a - b; }                \
  friend T& operator*=(T& a, T b) { return a = a * b; }                \
  friend T& operator/=(T& a, T b) { return a = a / b; }

#define KB_UNARY(name, name2, expression) \
  friend Narrow name(Narrow x) {          \
    const float a = x;                    \
    return Narrow(expression);            \
  }
#define KB_BINARY(name, name2, expression) \
  friend Narrow name(Narrow x, Narrow y) { \
    const float a = x, b = y;              \
    return Narrow(expression);             \
  }
#define KB_FMA(name, name2, expression)              \
  friend Narrow name(Narrow x, Narrow y, Narrow z) { \
    const float a = x, b = y, c = z;                 \
    return Narrow(expression);                       \
  }
#define KB_COMPARE(name, expression)          \
  friend bool __h##name(Narrow x, Narrow y) { \
    const float a = x, b = y;                 \
    return expression;                        \
  }
#define KB_OPERATOR(operation, name) \
  friend bool operator operation(Narrow a, Narrow b) { return __h##name(a, b); }

/// A scalar. The functions are friends so that both formats share one definition and arguments
/// still convert as in CUDA.
template <class Format>
struct Narrow {
  unsigned short raw;

  Narrow() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Narrow(T value) : raw(Format::round(to_float(value))) {}
  template <class Other>
  explicit Narrow(Narrow<Other> other) : Narrow(static_cast<float>(other)) {}
  operator float() const { return Format::widen(raw); }
  static Narrow from_raw(unsigned short raw) {
    Narrow result;
    result.raw = raw;
    return result;
  }

  KB_NARROW_UNARY(KB_UNARY)
  KB_NARROW_BINARY(KB_BINARY)
  KB_NARROW_FMA(KB_FMA)
  KB_NARROW_COMPARE(KB_COMPARE)
  KB_NARROW_OPERATORS(KB_OPERATOR)
  KB_NARROW_ASSIGN(Narrow, Narrow(1))
  friend bool __hisnan(Narrow x) { return float(x) != float(x); }
  friend int __hisinf(Narrow x) { return isinf(float(x)) ? (float(x) > 0 ? 1 : -1) : 0; }
};
#undef KB_UNARY
#undef KB_BINARY
#undef KB_FMA
#undef KB_COMPARE
#undef KB_OPERATOR

#define KB_UNARY(name, name2, expression) \
  friend Narrow2 name2(Narrow2 a) { return {name(a.x), name(a.y)}; }
#define KB_BINARY(name, name2, expression) \
  friend Narrow2 name2(Narrow2 a, Narrow2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define KB_FMA(name, name2, expression)                   \
  friend Narrow2 name2(Narrow2 a, Narrow2 b, Narrow2 c) { \
    return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};    \
  }
#define KB_COMPARE(name, expression)                                   \
  friend Narrow2 __h##name##2(Narrow2 a, Narrow2 b) {                  \
    return {Scalar(__h##name(a.x, b.x)), Scalar(__h##name(a.y, b.y))}; \
  }                                                                    \
  friend bool __hb##name##2(Narrow2 a, Narrow2 b) {                    \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                 \
  }
// True if it holds for both halves, so != is not the opposite of ==.
#define KB_OPERATOR(operation, name) \
  friend bool operator operation(Narrow2 a, Narrow2 b) { return __hb##name##2(a, b); }

/// Two of them in 32 bits.
template <class Format>
struct alignas(4) Narrow2 {
  using Scalar = Narrow<Format>;
  Scalar x, y;

  Narrow2() = default;
  Narrow2(Scalar x, Scalar y) : x(x), y(y) {}

  KB_NARROW_UNARY(KB_UNARY)
  KB_NARROW_BINARY(KB_BINARY)
  KB_NARROW_FMA(KB_FMA)
  KB_NARROW_COMPARE(KB_COMPARE)
  KB_NARROW_OPERATORS(KB_OPERATOR)
  KB_NARROW_ASSIGN(Narrow2, Narrow2(1, 1))
  friend float __low2float(Narrow2 v) { return v.x; }
  friend float __high2float(Narrow2 v) { return v.y; }
};
#undef KB_UNARY
#undef KB_BINARY
#undef KB_FMA
#undef KB_COMPARE
#undef KB_OPERATOR

}  // namespace kb::cpu
KB_DEVICE_CODE_END

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
