// Mean and variance of a range in one pass that does not cancel (Chan, Golub and LeVeque).
#pragma once

#include <cstdint>

#include "reduce.cuh"

namespace kb {

/// Number, mean and sum of squared deviations from the mean of some values.
struct Moments {
  float count, mean, squares;

  /// The biased variance: divided by the count.
  __device__ float variance() const { return squares / count; }
};

/// Operator of reduce() with the Moments of the values.
struct OnlineMoments {
  using Value = Moments;
  __device__ static Moments identity() { return {0, 0, 0}; }
  __device__ Moments operator()(Moments a, Moments b) const {
    const float count = a.count + b.count, delta = b.mean - a.mean;
    const float share = count > 0 ? b.count / count : 0;
    return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
  }
  template <int N>
  __device__ Moments of(const float (&values)[N], int64_t) const {
    float squares[N];
    const float mean = reduce_values(Sum{}, values) / N;
#pragma unroll
    for (int j = 0; j < N; ++j) squares[j] = (values[j] - mean) * (values[j] - mean);
    return {N, mean, reduce_values(Sum{}, squares)};
  }
};

/// One block per row of n elements.
template <class X>
__global__ void __launch_bounds__(1024, 2)
    moments_of_rows(int64_t n, Moments* moments, const X* x) {
  const Moments m = reduce(Block{}, n, OnlineMoments{}, Same{}, x + blockIdx.x * n);
  if (threadIdx.x == 0) moments[blockIdx.x] = m;
}

/// Launches moments[i] = those of row i of x: few rows of thousands of elements or more.
/// @param x  [rows, n]
template <class X>
void launch_moments(cudaStream_t stream, int64_t rows, int64_t n, Moments* moments, const X* x) {
  if (rows == 0) return;
  moments_of_rows<<<static_cast<unsigned>(rows), 1024, 0, stream>>>(n, moments, x);
}

}  // namespace kb
