// Element types. Every block takes any of them: it loads and stores T and computes in float.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kb {

/// What elements of type T are handed to a functor as: arithmetic types as they are, __half and
/// __nv_bfloat16 as float.
template <class T>
using Compute = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

/// N neighbouring elements that one instruction loads or stores. N is a power of two.
template <class T, int N>
struct alignas(sizeof(T) * N) Vector {
  T at[N];
};

/// The j-th element of a vector as what it computes in.
template <class T, int N>
__device__ Compute<T> element(const Vector<T, N>& v, int j) {
  return static_cast<Compute<T>>(v.at[j]);
}

/// The i-th element of an array as what it computes in.
template <class T>
__device__ Compute<T> element(const T* x, int64_t i) {
  return static_cast<Compute<T>>(x[i]);
}

/// How many elements of each of these types one thread takes at a time: 16 bytes of the widest.
template <class... T>
inline constexpr int vector_width = (... && (sizeof(T) <= 1))   ? 16
                                    : (... && (sizeof(T) <= 2)) ? 8
                                    : (... && (sizeof(T) <= 4)) ? 4
                                    : (... && (sizeof(T) <= 8)) ? 2
                                                                : 1;

/// Cheaper than isnan(), which the compiler makes two instructions of.
__device__ inline bool is_nan(float v) { return v != v; }

#if defined(__NVCC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
/// The greater of two, or NaN if one is: one instruction, where comparisons take three.
__device__ inline float greater_of(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
/// The lesser of two, or NaN if one is.
__device__ inline float lesser_of(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
#else
__device__ inline float greater_of(float a, float b) { return is_nan(a) || a > b ? a : b; }
__device__ inline float lesser_of(float a, float b) { return is_nan(a) || a < b ? a : b; }
#endif

/// v, but at least `low` and at most `high`; NaN stays NaN.
__device__ inline float clamp(float v, float low, float high) {
  return v < low ? low : v > high ? high : v;
}

/// v * tanh(log(1 + exp(v))), PyTorch's mish.
__device__ inline float mish(float v) {
  // The factor is (e^2 + 2 e) / (e^2 + 2 e + 2). Beyond 20 it is 1, and e^2 may overflow.
  const float e = expf(v), n = e * (e + 2);
  return v > 20 ? v : v * (n / (n + 2));
}

/// The extents of a volume, or the sides of a window of one, in elements.
struct Box {
  int64_t depth, height, width;
};

/// The functor that changes nothing.
struct Same {
  template <class T>
  __device__ T operator()(T v) const {
    return v;
  }
};

/// The magnitude of a value.
struct Absolute {
  __device__ float operator()(float v) const { return fabsf(v); }
};

/// The square of a value.
struct Square {
  __device__ float operator()(float v) const { return v * v; }
};

}  // namespace kb
