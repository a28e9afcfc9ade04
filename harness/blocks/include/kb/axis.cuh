// Reductions over one axis of a tensor, and over all of it.
#pragma once

#include <cstdint>

#include "reduce.cuh"
#include "team.cuh"
#include "types.cuh"

namespace kb {

/// One block per row of n neighbouring elements.
template <class Op, class Finish, class Y, class X>
__global__ void reduce_rows(int64_t n, Op op, Finish finish, Y* y, const X* x) {
  const auto result = reduce(Block{}, n, op, Same{}, x + blockIdx.x * n);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<Y>(finish(result));
}

/// A block reduces 32 neighbouring columns of one matrix of n rows; each of its 16 warps takes
/// every 16th row.
template <class Op, class Finish, class Y, class X>
__global__ void reduce_columns(int64_t n, int64_t columns, Op op, Finish finish, Y* y, const X* x) {
  constexpr int warps = 16;
  __shared__ typename Op::Value parts[warps][32];
  const int64_t tiles = (columns + 31) / 32, matrix = blockIdx.x / tiles;
  const int64_t column = blockIdx.x % tiles * 32 + threadIdx.x;
  typename Op::Value result = Op::identity();
  if (column < columns && threadIdx.y < n) {
    x += matrix * n * columns + column;
    const float first[] = {static_cast<float>(element(x, threadIdx.y * columns))};
    result = op.of(first, threadIdx.y);
#pragma unroll 8
    for (int64_t row = threadIdx.y + warps; row < n; row += warps) {
      result = append(op, result, static_cast<float>(element(x, row * columns)), row);
    }
  }
  parts[threadIdx.y][threadIdx.x] = result;
  __syncthreads();
  if (threadIdx.y == 0 && column < columns) {
    for (int i = 1; i < warps; ++i) result = op(result, parts[i][threadIdx.x]);
    y[matrix * columns + column] = static_cast<Y>(finish(result));
  }
}

/// Launches y[i, k] = finish(reduction of x[i, j, k] over all j).
/// @param x  [outer, n, inner]; inner is 1 for the last axis
/// @param y  [outer, inner]
/// @param finish  what to make of an Op::Value; a type with a name, not a lambda
template <class Op, class Finish, class Y, class X>
void launch_reduce_axis(cudaStream_t stream, int64_t outer, int64_t n, int64_t inner, Op op,
                        Finish finish, Y* y, const X* x) {
  const int64_t tiles = (inner + 31) / 32;
  if (outer * inner == 0) return;
  const auto blocks = static_cast<unsigned>(inner == 1 ? outer : outer * tiles);
  if (inner == 1) {
    const unsigned threads = n < 4096 ? 128 : 1024;
    reduce_rows<<<blocks, threads, 0, stream>>>(n, op, finish, y, x);
  } else {
    const dim3 threads(32, 16);
    reduce_columns<<<blocks, threads, 0, stream>>>(n, inner, op, finish, y, x);
  }
}

/// Each block's part of the sum of f(x[i], ...).
template <class F, class... X>
__global__ void sum_parts(int64_t n, F f, float* parts, const X*... x) {
  const float sum = combine(Block{}, fold(Grid{}, n, Sum{}, f, x...), Sum{});
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

/// One block adds up all f(x[i], ...).
template <class F, class Y, class... X>
__global__ void divided_sum(int64_t n, F f, float divisor, Y* y, const X*... x) {
  const float sum = reduce(Block{}, n, Sum{}, f, x...);
  if (threadIdx.x == 0) *y = static_cast<Y>(sum / divisor);
}

/// Launches *y = (sum of f(x[i], ...) over all i below n) / divisor: a sum, a mean, a loss. The
/// order of the additions depends on n only.
/// @param f  a type with a name, not a lambda
template <class F, class Y, class... X>
void launch_sum(cudaStream_t stream, int64_t n, F f, int64_t divisor, Y* y, const X*... x) {
  constexpr int64_t few = 65536, most_blocks = 2048, threads = 512;
  const auto by = static_cast<float>(divisor);
  if (n <= few) {
    divided_sum<<<1, 1024, 0, stream>>>(n, f, by, y, x...);
    return;
  }
  const int64_t wanted = n / (threads * vector_width<X...>)+1;
  const auto blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  void* memory = nullptr;
  cudaMallocAsync(&memory, blocks * sizeof(float), stream);
  const auto parts = static_cast<float*>(memory);
  sum_parts<<<blocks, threads, 0, stream>>>(n, f, parts, x...);
  const float* const all = parts;
  divided_sum<<<1, 1024, 0, stream>>>(blocks, Same{}, by, y, all);
  cudaFreeAsync(memory, stream);
}

}  // namespace kb
