// Math functions, conversions, bit operations and the 16-bit floating-point types.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conformance.h"

using conformance::Buffer;
using conformance::make;
using conformance::near;

namespace {

__global__ void single_precision(const float* x, float* y) {
  const float v = x[threadIdx.x];
  float* out = y + 16 * threadIdx.x;
  out[0] = rsqrtf(v), out[1] = expf(-v), out[2] = log1pf(v), out[3] = tanhf(v), out[4] = erff(v);
  out[5] = fmaf(v, v, 1.0f), out[6] = powf(v, 1.5f), out[7] = sinf(v) + cosf(v),
  out[8] = normcdff(v);
  out[9] = exp2f(v) + exp10f(v), out[10] = cbrtf(v), out[11] = sinpif(v), out[12] = erfinvf(v / 8);
  out[13] = fmaxf(v, 1.0f) + fminf(v, 1.0f) + fabsf(-v), out[14] = lgammaf(v + 1),
  out[15] = rhypotf(v, 3.0f);
}

KB_FEATURE(math_single_precision) {
  const auto x = make<float>(32, [](int i) { return 0.125f + 0.2f * i; });
  Buffer<float> in(x), out(512, 0);
  single_precision<<<1, 32>>>(in, out);
  KB_LAUNCHED();
  const auto y = out.read();
  for (int i = 0; i < 32; ++i) {
    const double v = x[i];
    const double expected[16] = {1 / std::sqrt(v),
                                 std::exp(-v),
                                 std::log1p(v),
                                 std::tanh(v),
                                 std::erf(v),
                                 v * v + 1,
                                 std::pow(v, 1.5),
                                 std::sin(v) + std::cos(v),
                                 0.5 * std::erfc(-v / std::sqrt(2.0)),
                                 std::exp2(v) + std::pow(10.0, v),
                                 std::cbrt(v),
                                 std::sin(std::acos(-1.0) * v),
                                 NAN,
                                 std::fmax(v, 1) + std::fmin(v, 1) + v,
                                 std::lgamma(v + 1),
                                 1 / std::hypot(v, 3.0)};
    for (int k = 0; k < 16; ++k) {
      if (k == 12)
        KB_EXPECT(near(std::erf(double(y[16 * i + k])), v / 8, 1e-6));
      else
        KB_EXPECT(near(y[16 * i + k], expected[k], 2e-6));
    }
  }
}

__global__ void fast_math(const float* x, float* y) {
  const float v = x[threadIdx.x];
  float* out = y + 8 * threadIdx.x;
  out[0] = __expf(v), out[1] = __logf(v), out[2] = __fdividef(1.0f, v), out[3] = __sinf(v);
  out[4] = __powf(v, 0.5f), out[5] = __saturatef(v - 1), out[6] = __frcp_rn(v),
  out[7] = __fmul_rn(v, v);
}

KB_FEATURE(math_fast_intrinsics) {
  const auto x = make<float>(32, [](int i) { return 0.25f + 0.09f * i; });
  Buffer<float> in(x), out(256, 0);
  fast_math<<<1, 32>>>(in, out);
  KB_LAUNCHED();
  const auto y = out.read();
  for (int i = 0; i < 32; ++i) {
    const double v = x[i];
    const double expected[8] = {std::exp(v), std::log(v),  1 / v,
                                std::sin(v), std::sqrt(v), std::fmin(std::fmax(v - 1, 0), 1),
                                1 / v,       v * v};
    for (int k = 0; k < 8; ++k) KB_EXPECT(near(y[8 * i + k], expected[k], 1e-5));
  }
}

__global__ void double_precision(const double* x, double* y) {
  const double v = x[threadIdx.x];
  double* out = y + 8 * threadIdx.x;
  out[0] = exp(v), out[1] = rsqrt(v), out[2] = tanh(v), out[3] = erfc(v), out[4] = fma(v, v, -v);
  out[5] = normcdf(v), out[6] = pow(v, 2.25), out[7] = cospi(v);
}

KB_FEATURE(math_double_precision) {
  const auto x = make<double>(32, [](int i) { return 0.05 + 0.11 * i; });
  Buffer<double> in(x), out(256, 0);
  double_precision<<<1, 32>>>(in, out);
  KB_LAUNCHED();
  const auto y = out.read();
  for (int i = 0; i < 32; ++i) {
    const double v = x[i];
    const double expected[8] = {std::exp(v),       1 / std::sqrt(v),
                                std::tanh(v),      std::erfc(v),
                                v * v - v,         0.5 * std::erfc(-v / std::sqrt(2.0)),
                                std::pow(v, 2.25), std::cos(std::acos(-1.0) * v)};
    for (int k = 0; k < 8; ++k) KB_EXPECT(near(y[8 * i + k], expected[k], 1e-13));
  }
}

__global__ void inverses(const double* x, double* y) {
  const double v = x[threadIdx.x];
  double* out = y + 6 * threadIdx.x;
  out[0] = erfinv(v), out[1] = erfcinv(v), out[2] = normcdfinv(v);
  out[3] = erfinvf(float(v)), out[4] = erfcinvf(float(v)), out[5] = normcdfinvf(float(v));
}

KB_FEATURE(math_inverses_at_the_edges) {
  const std::vector<double> x{NAN, -1.5, 0, 1, 2, 2.5};
  const double expected[6][3] = {{NAN, NAN, NAN},          {NAN, NAN, NAN},
                                 {0, HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, 0, HUGE_VAL},
                                 {NAN, -HUGE_VAL, NAN},    {NAN, NAN, NAN}};
  Buffer<double> in(x), out(36, 5);
  inverses<<<1, 6>>>(in, out);
  KB_LAUNCHED();
  const auto y = out.read();
  for (int i = 0; i < 36; ++i) KB_EXPECT(near(y[i], expected[i / 6][i % 3]));
}

__global__ void norms_and_bessel(const float* x, const double* y, double* out) {
  out[0] = normf(5, x);
  out[1] = rnormf(5, x);
  out[2] = norm(5, y);
  out[3] = rnorm(5, y);
  out[4] = cyl_bessel_i0f(1.5f);
  out[5] = cyl_bessel_i1f(-1.5f);
  out[6] = cyl_bessel_i0(20.0);
  out[7] = cyl_bessel_i1(20.0);
}

KB_FEATURE(math_norms_and_bessel) {
  Buffer<float> x({1.0f, 2.0f, 4.0f, 6.0f, 8.0f});
  Buffer<double> y({1.0, 2.0, 4.0, 6.0, 8.0}), out(8, 0);
  norms_and_bessel<<<1, 1>>>(x, y, out);
  KB_LAUNCHED();
  auto bessel = [](int order, double v) {  // the power series
    double term = order == 0 ? 1 : v / 2, sum = term;
    for (int k = 1; k < 100; ++k) sum += term *= v * v / 4 / (k * (k + order));
    return sum;
  };
  const double expected[] = {
      11, 1 / 11.0, 11, 1 / 11.0, bessel(0, 1.5), bessel(1, -1.5), bessel(0, 20), bessel(1, 20)};
  const auto got = out.read();
  for (int i = 0; i < 8; ++i) KB_EXPECT(near(got[i], expected[i]));
}

__global__ void min_and_max(float* out) {
  const int i = threadIdx.x;
  out[0] = max(i - 1, 3), out[1] = min(2.5f, 1.0f), out[2] = max(2u, 7u), out[3] = min(5ll, -5ll);
  out[4] = max(1.0f, 2.0), out[5] = fmaxf(NAN, 1.0f), out[6] = min(-0.5, 3.0),
  out[7] = abs(-4) + fabsf(-0.5f);
  out[8] = umin(3u, 7u), out[9] = umax(3u, 7u), out[10] = llmin(-5, 2), out[11] = ullmax(6, 2);
  __prof_trigger(0);
  if (i > 0) __brkpt();
}

KB_FEATURE(math_min_max) {
  Buffer<float> out(12, 0);
  min_and_max<<<1, 1>>>(out);
  KB_LAUNCHED();
  KB_EXPECT((out.read() == std::vector<float>{3, 1, 7, -5, 2, 1, -0.5f, 4.5f, 3, 7, -5, 6}));
}

__global__ void conversions(const float* x, int* out) {
  const float v = x[threadIdx.x];
  int* o = out + 8 * threadIdx.x;
  o[0] = __float2int_rn(v), o[1] = __float2int_rz(v), o[2] = __float2int_ru(v),
  o[3] = __float2int_rd(v);
  o[4] = __float_as_int(v), o[5] = int(__int2float_rn(int(v))), o[6] = __float2uint_rn(fabsf(v));
  o[7] = __double2int_rn(double(v));
}

KB_FEATURE(conversions_with_rounding) {
  const std::vector<float> x{0.5f, 1.5f, -2.5f, 3.49f, -7.75f, 1e6f, -0.0f, 2.0f};
  Buffer<float> in(x);
  Buffer<int> out(64, 0);
  conversions<<<1, 8>>>(in, out);
  KB_LAUNCHED();
  const auto y = out.read();
  for (int i = 0; i < 8; ++i) {
    int word;
    memcpy(&word, &x[i], 4);
    const int expected[8] = {int(std::nearbyint(x[i])),
                             int(x[i]),
                             int(std::ceil(x[i])),
                             int(std::floor(x[i])),
                             word,
                             int(x[i]),
                             int(std::nearbyint(std::fabs(x[i]))),
                             int(std::nearbyint(x[i]))};
    for (int k = 0; k < 8; ++k) KB_EXPECT(y[8 * i + k] == expected[k]);
  }
}

template <class T>
struct Roundings {
  T nearest, zero, up, down;
};

#define KB_ALL_ROUNDINGS(f, ...) \
  { f##_rn(__VA_ARGS__), f##_rz(__VA_ARGS__), f##_ru(__VA_ARGS__), f##_rd(__VA_ARGS__) }

__global__ void directed_float(const float* x, Roundings<float>* out) {
  const float a = x[2 * threadIdx.x], b = x[2 * threadIdx.x + 1];
  Roundings<float>* o = out + 7 * threadIdx.x;
  o[0] = KB_ALL_ROUNDINGS(__fadd, a, b);
  o[1] = KB_ALL_ROUNDINGS(__fsub, a, b);
  o[2] = KB_ALL_ROUNDINGS(__fmul, a, b);
  o[3] = KB_ALL_ROUNDINGS(__fdiv, a, b);
  o[4] = KB_ALL_ROUNDINGS(__fmaf, a, b, 1.0f);
  o[5] = KB_ALL_ROUNDINGS(__fsqrt, b);
  o[6] = KB_ALL_ROUNDINGS(__frcp, b);
}

__global__ void directed_double(const double* x, Roundings<double>* out) {
  const double a = x[2 * threadIdx.x], b = x[2 * threadIdx.x + 1];
  Roundings<double>* o = out + 5 * threadIdx.x;
  o[0] = KB_ALL_ROUNDINGS(__dadd, a, b);
  o[1] = KB_ALL_ROUNDINGS(__dmul, a, b);
  o[2] = KB_ALL_ROUNDINGS(__ddiv, a, b);
  o[3] = KB_ALL_ROUNDINGS(__fma, a, b, 1.0);
  o[4] = KB_ALL_ROUNDINGS(__dsqrt, b);
}

__global__ void directed_conversions(const double* x, const int* i, Roundings<float>* out) {
  const int t = threadIdx.x;
  out[3 * t] = KB_ALL_ROUNDINGS(__double2float, x[t]);
  out[3 * t + 1] = KB_ALL_ROUNDINGS(__int2float, i[t]);
  out[3 * t + 2] = KB_ALL_ROUNDINGS(__ll2float, 4000000000ll * i[t]);
}

// The two neighbours of the exact value, and which of them each mode has to choose.
template <class T, class Wide>
bool rounds(const Roundings<T>& got, Wide exact) {
  const T high = got.up, low = got.down;
  const bool neighbours = Wide(low) <= exact && exact <= Wide(high) &&
                          (low == high || std::nextafter(low, high) == high);
  const T nearest = exact - Wide(low) < Wide(high) - exact ? low : high;
  return neighbours && got.zero == (exact > 0 ? low : high) &&
         (got.nearest == nearest || exact - Wide(low) == Wide(high) - exact);
}

KB_FEATURE(rounding_modes_single) {
  const auto x = make<float>(64, [](int i) { return (i % 3 - 1) * 1.7f + (i + 1) / 7.0f; });
  std::vector<float> pairs(x);
  for (int i = 1; i < 64; i += 2) pairs[i] = std::fabs(pairs[i]) + 0.01f;  // divisor, square root
  Buffer<float> in(pairs);
  Buffer<Roundings<float>> out(7 * 32, {});
  directed_float<<<1, 32>>>(in, out);
  KB_LAUNCHED();
  const auto y = out.read();
  for (int i = 0; i < 32; ++i) {
    const double a = pairs[2 * i], b = pairs[2 * i + 1];
    // Sums and products of such floats are exact in double; quotients and roots are close enough.
    const double exact[7] = {a + b, a - b, a * b, a / b, a * b + 1, std::sqrt(b), 1 / b};
    for (int k = 0; k < 7; ++k) KB_EXPECT(rounds(y[7 * i + k], exact[k]));
  }
}

KB_FEATURE(rounding_modes_double) {
  const auto x = make<double>(64, [](int i) { return (i % 2 ? 0.3 : -2.0) + (i + 1) / 7.0; });
  Buffer<double> in(x);
  Buffer<Roundings<double>> out(5 * 32, {});
  directed_double<<<1, 32>>>(in, out);
  KB_LAUNCHED();
  const auto y = out.read();
  for (int i = 0; i < 32; ++i) {
    const long double a = x[2 * i], b = x[2 * i + 1];
    const long double exact[5] = {a + b, a * b, a / b, a * b + 1, std::sqrt(b)};
    for (int k = 0; k < 5; ++k) KB_EXPECT(rounds(y[5 * i + k], exact[k]));
  }
}

KB_FEATURE(rounding_modes_conversions) {
  const auto x = make<double>(32, [](int i) { return (i - 16) / 3.0; });
  const auto n = make<int>(32, [](int i) { return (i - 16) * 33554433 / 3; });
  Buffer<double> in(x);
  Buffer<int> integers(n);
  Buffer<Roundings<float>> out(96, {});
  directed_conversions<<<1, 32>>>(in, integers, out);
  KB_LAUNCHED();
  const auto y = out.read();
  for (int i = 0; i < 32; ++i) {
    KB_EXPECT(rounds(y[3 * i], x[i]));
    KB_EXPECT(rounds(y[3 * i + 1], double(n[i])));
    KB_EXPECT(rounds(y[3 * i + 2], 4000000000.0L * n[i]));
  }
}

__global__ void bit_operations(unsigned* out) {
  const unsigned v = 0x00f0f001u + threadIdx.x;
  out[0] = __popc(v), out[1] = __clz(v), out[2] = __ffs(v & ~1u), out[3] = __brev(v);
  out[4] = __popcll(0xff00ull << 30), out[5] = __clzll(1ll << 40), out[6] = __ffsll(1ll << 40);
  out[7] = __umulhi(0x80000000u, 6u), out[8] = unsigned(__mulhi(-5, 0x40000000));
  out[9] = __byte_perm(0x03020100, 0x07060504, 0x7531),
  out[10] = __funnelshift_l(0x80000000u, 1u, 4);
  out[11] = unsigned(__dp4a(0x01020304, 0x01010101, 10)), out[12] = __sad(-3, 4, 1);
  out[13] = unsigned(__mul24(-7, 9)), out[14] = unsigned(__hadd(-3, 8));
}

KB_FEATURE(bit_intrinsics) {
  Buffer<unsigned> out(15, 0);
  bit_operations<<<1, 1>>>(out);
  KB_LAUNCHED();
  KB_EXPECT((out.read() == std::vector<unsigned>{9, 8, 13, 0x800f0f00u, 8, 23, 41, 3, unsigned(-2),
                                                 0x07050301u, 24, 20, 8, unsigned(-63), 2}));
}

__global__ void half_arithmetic(const float* x, float* y) {
  const int i = threadIdx.x;
  const __half a = __float2half(x[i]), b = __float2half(0.75f);
  float* out = y + 8 * i;
  out[0] = __half2float(a), out[1] = __half2float(a + b), out[2] = __half2float(__hmul(a, b));
  out[3] = __half2float(__hfma(a, b, a)), out[4] = __hgt(a, b), out[5] = __half2float(hexp(b));
  const __half2 pair = __hadd2(__halves2half2(a, b), __float2half2_rn(1.0f));
  out[6] = __low2float(pair), out[7] = __half22float2(pair).y;
}

KB_FEATURE(half_precision) {
  // Values whose results are exact in half precision, and the rounding of some that are not.
  const std::vector<float> x{1.0f,          -0.5f,          0.25f,    2.0f,
                             1.0009765625f, 1.00048828125f, 65504.0f, 6e-8f};
  Buffer<float> in(x), out(64, 0);
  half_arithmetic<<<1, 8>>>(in, out);
  KB_LAUNCHED();
  const auto y = out.read();
  KB_EXPECT(y[0] == 1 && y[1] == 1.75f && y[2] == 0.75f && y[3] == 1.75f && y[4] == 1 &&
            y[6] == 2 && y[7] == 1.75f);
  KB_EXPECT(y[8] == -0.5f && y[9] == 0.25f && y[12] == 0);
  KB_EXPECT(near(y[5], std::exp(0.75), 1e-3));
  KB_EXPECT(y[32] == 1.0009765625f && y[40] == 1.0f);  // half way between two: to the even one
  KB_EXPECT(y[48] == 65504.0f && std::isinf(y[48 + 1]) == false);
  KB_EXPECT(y[56] == 5.9604644775390625e-8f);  // the smallest subnormal
}

__global__ void bfloat_arithmetic(const float* x, float* y) {
  const int i = threadIdx.x;
  const __nv_bfloat16 a = __float2bfloat16(x[i]);
  float* out = y + 4 * i;
  out[0] = __bfloat162float(a), out[1] = __bfloat162float(a * __float2bfloat16(2.0f));
  const __nv_bfloat162 pair = __floats2bfloat162_rn(x[i], 1.0f);
  out[2] = __bfloat162float(__hadd(pair.x, pair.y)),
  out[3] = __bfloat162float(__hmax(pair.x, pair.y));
}

KB_FEATURE(bfloat16_precision) {
  const std::vector<float> x{1.0f, 3.140625f, 3.14159f, -1e30f};
  Buffer<float> in(x), out(16, 0);
  bfloat_arithmetic<<<1, 4>>>(in, out);
  KB_LAUNCHED();
  const auto y = out.read();
  KB_EXPECT(y[0] == 1 && y[1] == 2 && y[2] == 2 && y[3] == 1);
  KB_EXPECT(y[4] == 3.140625f && y[8] == 3.140625f && y[9] == 6.28125f && y[10] == 4.125f);
  KB_EXPECT(near(y[12], -1e30, 1e-2) && y[15] == 1);
}

__global__ void half_steps(float* out) {
  __half h = __float2half(1.5f);
  __half2 h2 = __floats2half2_rn(1, 2);
  __nv_bfloat16 b = __float2bfloat16(4.0f);
  out[0] = __half2float(++h);
  out[1] = __half2float(h++);
  out[2] = __half2float(h--);
  out[3] = __half2float(+h);
  ++h2;
  out[4] = __low2float(h2) + 10 * __high2float(h2);
  out[5] = __bfloat162float(--b);
}

KB_FEATURE(half_increments) {
  Buffer<float> out(6, 0);
  half_steps<<<1, 1>>>(out);
  KB_LAUNCHED();
  KB_EXPECT((out.read() == std::vector<float>{2.5f, 2.5f, 3.5f, 2.5f, 32, 3}));
}

template <class T, class T2>
__global__ void comparisons_with_nan(float nan, int* out) {
  const T x(nan), one(1.0f), two(2.0f);
  out[0] = __hne(x, x), out[1] = __hne(x, one), out[2] = __hne(one, two), out[3] = x != x;
  out[4] = __hneu(x, one), out[5] = __hequ(x, one), out[6] = __hltu(x, one), out[7] = __hlt(x, one);
  const T2 with_nan(x, one), ones(one, one), mixed(one, two), twos(two, two);
  const T2 differ = __hne2(with_nan, twos);
  out[8] = float(differ.x), out[9] = float(differ.y);
  out[10] = __hbne2(with_nan, twos), out[11] = __hbneu2(with_nan, twos), out[12] = with_nan != twos;
  out[13] = mixed != ones, out[14] = mixed == ones, out[15] = mixed == mixed;
}

KB_FEATURE(half_comparisons) {
  const std::vector<int> expected{0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1};
  Buffer<int> half(16, -1), bfloat(16, -1);
  comparisons_with_nan<__half, __half2><<<1, 1>>>(NAN, half);
  comparisons_with_nan<__nv_bfloat16, __nv_bfloat162><<<1, 1>>>(NAN, bfloat);
  KB_LAUNCHED();
  KB_EXPECT(half.read() == expected);
  KB_EXPECT(bfloat.read() == expected);
}

// Close to half way between two 16-bit numbers: a rounding to float first would end half way.
__global__ void wide_to_narrow(const double* d, const long long* l, unsigned short* out) {
  out[0] = __half_as_ushort(__double2half(d[0])), out[1] = __half_as_ushort(__half(-d[0]));
  out[2] = __half_as_ushort(__double2half(d[1])), out[3] = __half_as_ushort(__double2half(d[2]));
  out[4] = __bfloat16_as_ushort(__double2bfloat16(d[3]));
  out[5] = __bfloat16_as_ushort(__nv_bfloat16(-d[3]));
  out[6] = __bfloat16_as_ushort(__int2bfloat16_rn(int(l[0])));
  out[7] = __bfloat16_as_ushort(__int2bfloat16_rn(int(-l[0])));
  out[8] = __bfloat16_as_ushort(__uint2bfloat16_rn(unsigned(2 * l[0])));
  out[9] = __bfloat16_as_ushort(__ll2bfloat16_rn(l[1]));
  out[10] = __half_as_ushort(__double2half(1.5)), out[11] = __half_as_ushort(__int2half_rn(-7));
}

KB_FEATURE(half_conversions_round_once) {
  Buffer<double> d({1 + 0x1p-11 + 0x1p-40, 0x1p-25 + 0x1p-60, 1e300, 1 + 0x1p-8 + 0x1p-40});
  Buffer<long long> l(
      std::vector<long long>{(1ll << 30) + (1ll << 22) + 1, (1ll << 62) + (1ll << 54) + 1});
  Buffer<unsigned short> out(12, 0);
  wide_to_narrow<<<1, 1>>>(d, l, out);
  KB_LAUNCHED();
  KB_EXPECT(
      (out.read() == std::vector<unsigned short>{0x3c01, 0xbc01, 1, 0x7c00, 0x3f81, 0xbf81, 0x4e81,
                                                 0xce81, 0x4f01, 0x5e81, 0x3e00, 0xc700}));
}

__global__ void half_atomics(__half* h, __half2* h2, __nv_bfloat16* b) {
  atomicAdd(h, __float2half(0.5f));
  atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(b, __float2bfloat16(1.0f));
}

KB_FEATURE(half_atomics_add) {
  Buffer<float> storage(4, 0);
  float* base = storage;
  half_atomics<<<1, 64>>>(reinterpret_cast<__half*>(base), reinterpret_cast<__half2*>(base + 1),
                          reinterpret_cast<__nv_bfloat16*>(base + 2));
  KB_LAUNCHED();
  const auto raw = storage.read();
  __half h;
  __half2 h2;
  __nv_bfloat16 b;
  memcpy(&h, &raw[0], 2), memcpy(&h2, &raw[1], 4), memcpy(&b, &raw[2], 2);
  KB_EXPECT(__half2float(h) == 32 && __low2float(h2) == 64 && __high2float(h2) == 128);
  KB_EXPECT(__bfloat162float(b) == 64);
}

}  // namespace
