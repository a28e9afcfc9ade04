// What softmax and its relatives need of a row: the maximum and the sum of exponentials, in one
// pass.
#pragma once

#include <cfloat>
#include <cstdint>

#include "map.cuh"
#include "reduce.cuh"

namespace kb {

/// The greatest of some values and the sum of exp(value - max).
struct ExpSum {
  float max, sum;
};

/// Operator of reduce() with the ExpSum of the values. Softmax is exp(v - max) / sum, its logarithm
/// (v - max) - log(sum); both are NaN for a row with NaN, with inf, or of -inf only.
struct OnlineSoftmax {
  using Value = ExpSum;
  // Not -inf: the difference of two would be NaN.
  __device__ static ExpSum identity() { return {-FLT_MAX, 0}; }
  __device__ ExpSum operator()(ExpSum a, ExpSum b) const {
    const float max = fmaxf(a.max, b.max);
    return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
  }
  template <int N>
  __device__ ExpSum of(const float (&values)[N], int64_t) const {
    ExpSum e = identity();
#pragma unroll
    for (const float v : values) e.max = fmaxf(e.max, v);
#pragma unroll
    for (const float v : values) e.sum += expf(v - e.max);
    return e;
  }
};

/// One block per row of n elements reads x twice: for maximum and sum together, then for the
/// quotients.
template <class Y, class X>
__global__ void softmax_rows(int64_t n, Y* y, const X* x) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  const ExpSum e = reduce(Block{}, n, OnlineSoftmax{}, Same{}, x);
  map(
      Block{}, n, [=](float v) { return expf(v - e.max) / e.sum; }, y, x);
}

/// Launches y = softmax of each row of x.
/// @param x, y  [rows, n]; y may be x
template <class Y, class X>
void launch_softmax(cudaStream_t stream, int64_t rows, int64_t n, Y* y, const X* x) {
  if (rows == 0) return;
  softmax_rows<<<static_cast<unsigned>(rows), 1024, 0, stream>>>(n, y, x);
}

}  // namespace kb
