// Reductions of a warp, a block or a range of elements, with one operator or several in one pass.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "team.cuh"
#include "types.cuh"

namespace kb {

// An operator has a type Value, identity(), the associative and commutative operator()(Value,
// Value), and of(values, first): the Value of N neighbouring elements, the first of which has the
// index `first`.

/// Reduces N values in pairs; N is a power of two.
template <class Op, class T, int N>
__device__ T reduce_values(Op op, const T (&values)[N]) {
  T v[N];
#pragma unroll
  for (int j = 0; j < N; ++j) v[j] = values[j];
#pragma unroll
  for (int step = N / 2; step > 0; step /= 2) {
#pragma unroll
    for (int j = 0; j < step; ++j) v[j] = op(v[j], v[j + step]);
  }
  return v[0];
}

struct Sum {
  using Value = float;
  __device__ static float identity() { return 0; }
  __device__ float operator()(float a, float b) const { return a + b; }
  template <int N>
  __device__ float of(const float (&values)[N], int64_t) const {
    return reduce_values(*this, values);
  }
};

struct Product {
  using Value = float;
  __device__ static float identity() { return 1; }
  __device__ float operator()(float a, float b) const { return a * b; }
  template <int N>
  __device__ float of(const float (&values)[N], int64_t) const {
    return reduce_values(*this, values);
  }
};

/// The greatest value; NaN if there is one.
struct Max {
  using Value = float;
  __device__ static float identity() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return greater_of(a, b); }
  template <int N>
  __device__ float of(const float (&values)[N], int64_t) const {
    return reduce_values(*this, values);
  }
};

/// The least value; NaN if there is one.
struct Min {
  using Value = float;
  __device__ static float identity() { return INFINITY; }
  __device__ float operator()(float a, float b) const { return lesser_of(a, b); }
  template <int N>
  __device__ float of(const float (&values)[N], int64_t) const {
    return reduce_values(*this, values);
  }
};

/// A value and its place.
struct Indexed {
  float value;
  int64_t index;
};

/// The better of two: NaN before all others, then the greater value (or the lesser one), then the
/// lower index.
template <bool greatest>
struct ArgBest {
  using Value = Indexed;
  __device__ static Indexed identity() { return {greatest ? -INFINITY : INFINITY, INT64_MAX}; }
  __device__ Indexed operator()(Indexed a, Indexed b) const {
    const bool better = is_nan(a.value) || (greatest ? a.value > b.value : a.value < b.value);
    const bool worse = is_nan(b.value) || (greatest ? a.value < b.value : a.value > b.value);
    return better != worse ? (better ? a : b) : (a.index < b.index ? a : b);
  }
  /// The better of `earlier` and an element after it, which is not taken if it is only as good.
  __device__ Indexed append(Indexed earlier, float v, int64_t i) const {
    const bool as_good = greatest ? earlier.value >= v : earlier.value <= v;
    return as_good || is_nan(earlier.value) ? earlier : Indexed{v, i};
  }
  template <int N>
  __device__ Indexed of(const float (&values)[N], int64_t first) const {
    Indexed best = {values[0], first};
#pragma unroll
    for (int j = 1; j < N; ++j) best = append(best, values[j], first + j);
    return best;
  }
};

/// The greatest value and its first index; the first NaN if there is one.
using ArgMax = ArgBest<true>;
/// The least value and its first index; the first NaN if there is one.
using ArgMin = ArgBest<false>;

/// The Value of some elements, at least one, and of one after them, the i-th.
template <class Op>
__device__ typename Op::Value append(Op op, typename Op::Value earlier, float v, int64_t i) {
  const float value[] = {v};
  return op(earlier, op.of(value, i));
}

template <bool greatest>
__device__ Indexed append(ArgBest<greatest> op, Indexed earlier, float v, int64_t i) {
  return op.append(earlier, v, i);
}

/// The functor that takes the place of an Indexed value.
struct IndexOf {
  __device__ int64_t operator()(Indexed v) const { return v.index; }
};

/// `value` of the lane whose number differs in the bits of `mask`, for any type that can be copied
/// byte by byte. All 32 lanes call it.
template <class T>
__device__ T shuffle_xor(const T& value, int mask) {
  unsigned words[(sizeof(T) + 3) / 4] = {};
  std::memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned& word : words) word = __shfl_xor_sync(~0u, word, mask);
  T other;
  std::memcpy(&other, words, sizeof(T));
  return other;
}

/// The values of all 32 lanes in one; each lane gets the result. `op` is any functor.
template <class T, class Op>
__device__ T combine(Warp, T value, Op op) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) value = op(value, shuffle_xor(value, mask));
  return value;
}

/// The values of all threads of the block in one; each thread gets the result.
/// @param op  any functor; op(identity, v) is v
template <class T, class Op>
__device__ T combine(Block, T value, Op op, T identity) {
  __shared__ T warps[32];
  value = combine(Warp{}, value, op);
  __syncthreads();  // an earlier call may still be reading
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  return combine(Warp{}, lane < blockDim.x / 32 ? warps[lane] : identity, op);
}

template <class Op>
__device__ typename Op::Value combine(Block team, typename Op::Value value, Op op) {
  return combine(team, value, op, Op::identity());
}

/// The Value of N neighbouring f(x[i], ...), the first of which has the index `first`.
template <int N, class Op, class F, class... X>
__device__ typename Op::Value value_of(Op op, F f, int64_t first, const Vector<X, N>&... x) {
  float values[N];
#pragma unroll
  for (int j = 0; j < N; ++j) values[j] = static_cast<float>(f(element(x, j)...));
  return op.of(values, first);
}

/// This thread's part of a reduction of f(x[i], ...) over all i below n.
template <class Team, class Op, class F, class... X>
__device__ typename Op::Value fold(Team team, int64_t n, Op op, F f, const X*... x) {
  constexpr int N = vector_width<X...>;
  typename Op::Value result = Op::identity();
  const int64_t before = elements_before_vectors<N>(n, x...);
  share<N, 2>(
      team, n, before,
      [&](auto rounds, int64_t first, int64_t step) {
#pragma unroll
        for (int i = 0; i < rounds.value; ++i) {
          const int64_t k = first + i * step;
          result = op(result, value_of<N, Op, F, X...>(op, f, before + k * N,
                                                       load_vector<N>(x + before, k)...));
        }
      },
      [&](int64_t i) {
        const float value[] = {static_cast<float>(f(element(x, i)...))};
        result = op(result, op.of(value, i));
      });
  return result;
}

/// Reduces f(x[i], ...) over all i below n by a warp or a block; each thread gets the result.
template <class Team, class Op, class F, class... X>
__device__ typename Op::Value reduce(Team team, int64_t n, Op op, F f, const X*... x) {
  return combine(team, fold(team, n, op, f, x...), op);
}

}  // namespace kb
