// Scans: every element combined with all before it, of any length.
#pragma once

#include <cstdint>

#include "reduce.cuh"
#include "team.cuh"

namespace kb {

/// Each lane gets the values of the lanes up to its own, combined.
template <class T, class Op>
__device__ T scan_lanes(T value, Op op) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T before = __shfl_up_sync(~0u, value, step);
    if (threadIdx.x % 32 >= step) value = op(before, value);
  }
  return value;
}

/// Calls store(i, load(0) op ... op load(i)) for all i below n. One warp works through the range in
/// rounds of 8 groups of 32 neighbouring elements, so that 8 loads are under way at a time.
/// @param load  float load(int64_t i): i - 1 makes the scan exclusive, n - 1 - i reverses it
template <class Op, class Load, class Store>
__device__ void scan(Warp, int64_t n, Op op, Load load, Store store) {
  constexpr int groups = 8;
  const int lane = threadIdx.x % 32;
  float earlier = Op::identity();
  for (int64_t start = 0; start < n; start += 32 * groups) {
    float scans[groups], round = Op::identity();
#pragma unroll
    for (int j = 0; j < groups; ++j) {
      const int64_t i = start + 32 * j + lane;
      scans[j] = i < n ? load(i) : Op::identity();
    }
    // As scan_lanes() does, but the groups' shuffles overlap.
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
#pragma unroll
      for (int j = 0; j < groups; ++j) {
        const float before = __shfl_up_sync(~0u, scans[j], step);
        if (lane >= step) scans[j] = op(before, scans[j]);
      }
    }
#pragma unroll
    for (int j = 0; j < groups; ++j) {
      const int64_t i = start + 32 * j + lane;
      if (i < n) store(i, op(earlier, op(round, scans[j])));
      round = op(round, __shfl_sync(~0u, scans[j], 31));
    }
    earlier = op(earlier, round);
  }
}

/// The same by all threads of a block, for few long ranges: a round takes 4 neighbouring elements
/// of each thread.
template <class Op, class Load, class Store>
__device__ void scan(Block, int64_t n, Op op, Load load, Store store) {
  constexpr int each = 4;
  __shared__ float warps[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = blockDim.x / 32;
  float earlier = Op::identity();
  for (int64_t start = 0; start < n; start += int64_t{blockDim.x} * each) {
    const int64_t first = start + int64_t{threadIdx.x} * each;
    float sums[each], sum = Op::identity();
#pragma unroll
    for (int j = 0; j < each; ++j) {
      if (first + j < n) sum = op(sum, load(first + j));
      sums[j] = sum;
    }
    const float up_to_lane = scan_lanes(sum, op);
    if (lane == 31) warps[warp] = up_to_lane;
    __syncthreads();
    const float up_to_warp = scan_lanes(lane < count ? warps[lane] : Op::identity(), op);
    const float before_lane = __shfl_up_sync(~0u, up_to_lane, 1);
    const float before_warp = __shfl_sync(~0u, up_to_warp, (warp + 31) % 32);
    float before = warp > 0 ? op(earlier, before_warp) : earlier;
    if (lane > 0) before = op(before, before_lane);
#pragma unroll
    for (int j = 0; j < each; ++j) {
      if (first + j < n) store(first + j, op(before, sums[j]));
    }
    earlier = op(earlier, __shfl_sync(~0u, up_to_warp, count - 1));
    __syncthreads();  // `warps` is written anew in the next round
  }
}

/// One warp per row, blockDim.y rows per block.
template <class Op, class Y, class X>
__global__ void scan_rows(int64_t rows, int64_t n, Op op, Y* y, const X* x) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  x += row * n;
  y += row * n;
  const auto load = [=](int64_t i) { return element(x, i); };
  const auto store = [=](int64_t i, float v) { y[i] = static_cast<Y>(v); };
  scan(Warp{}, n, op, load, store);
}

/// Launches y[i, j] = the elements x[i, 0] to x[i, j], combined.
/// @param x, y  [rows, n]
template <class Op, class Y, class X>
void launch_scan(cudaStream_t stream, int64_t rows, int64_t n, Op op, Y* y, const X* x) {
  if (rows == 0) return;
  constexpr int rows_of_block = 8;
  const auto blocks = static_cast<unsigned>((rows + rows_of_block - 1) / rows_of_block);
  scan_rows<<<blocks, dim3(32, rows_of_block), 0, stream>>>(rows, n, op, y, x);
}

}  // namespace kb
