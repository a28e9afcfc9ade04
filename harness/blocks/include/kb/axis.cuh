// Reductions over one axis of a tensor, and over all of it.
#pragma once

#include <cstdint>

#include "reduce.cuh"
#include "team.cuh"
#include "types.cuh"

namespace kb {

/// What makes a mean of a sum: a `finish` of launch_reduce_axis().
struct DivideBy {
  float divisor;
  __device__ float operator()(float sum) const { return sum / divisor; }
};

/// One block per row of n neighbouring elements.
template <class Op, class Finish, class Y, class X>
__global__ void reduce_rows(int64_t n, Op op, Finish finish, Y* y, const X* x) {
  const auto result = reduce(Block{}, n, op, Same{}, x + blockIdx.x * n);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<Y>(finish(result));
}

/// A block of 512 threads reduces `width` neighbouring columns of a part of one matrix of n rows,
/// part_rows of them.
/// @param y  [matrices, parts, columns]; the grid has the parts as its second dimension
/// @tparam width  a multiple of 32: where rows begin anywhere, the wider a block is, the fewer
/// sectors of memory are read by two blocks
template <int width, class Op, class Finish, class Y, class X>
__global__ void reduce_columns(int64_t n, int64_t columns, int64_t part_rows, Op op, Finish finish,
                               Y* y, const X* x) {
  constexpr int rows = 512 / width;  // that are read at a time
  __shared__ typename Op::Value partial[rows][width];
  const int64_t tiles = (columns + width - 1) / width, matrix = blockIdx.x / tiles;
  const int64_t column = blockIdx.x % tiles * width + threadIdx.x;
  const int64_t first = blockIdx.y * part_rows + threadIdx.y;
  const int64_t end = n < (blockIdx.y + 1) * part_rows ? n : (blockIdx.y + 1) * part_rows;
  typename Op::Value result = Op::identity();
  if (column < columns && first < end) {
    x += matrix * n * columns + column;
    const float start[] = {static_cast<float>(element(x, first * columns))};
    result = op.of(start, first);
#pragma unroll 4
    for (int64_t row = first + rows; row < end; row += rows) {
      result = append(op, result, static_cast<float>(element(x, row * columns)), row);
    }
  }
  partial[threadIdx.y][threadIdx.x] = result;
  __syncthreads();
  if (threadIdx.y == 0 && column < columns) {
    for (int i = 1; i < rows; ++i) result = op(result, partial[i][threadIdx.x]);
    y[(matrix * gridDim.y + blockIdx.y) * columns + column] = static_cast<Y>(finish(result));
  }
}

/// One thread combines the parts of one column, in their order.
template <class Op, class Finish, class Y>
__global__ void combine_parts(int64_t size, int64_t columns, int64_t parts, Op op, Finish finish,
                              Y* y, const typename Op::Value* of_parts) {
  const int64_t i = Grid::rank();
  if (i >= size) return;
  of_parts += i / columns * parts * columns + i % columns;
  typename Op::Value result = of_parts[0];
  for (int64_t part = 1; part < parts; ++part) result = op(result, of_parts[part * columns]);
  y[i] = static_cast<Y>(finish(result));
}

/// launch_reduce_axis() where the axis is not the last.
template <int width, class Op, class Finish, class Y, class X>
void launch_reduce_columns(cudaStream_t stream, int64_t outer, int64_t n, int64_t inner, Op op,
                           Finish finish, Y* y, const X* x) {
  // Few columns of many rows would leave most of the device idle: blocks share the rows.
  constexpr int64_t enough_blocks = 1024, least_rows = 256;
  const int64_t blocks = outer * ((inner + width - 1) / width);
  const int64_t wanted = enough_blocks / blocks, most = n / least_rows;
  const int64_t shares = wanted < most ? wanted : most;
  const int64_t part_rows = shares > 1 ? (n + shares - 1) / shares : n;
  const int64_t parts = part_rows > 0 ? (n + part_rows - 1) / part_rows : 1;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(parts));
  const dim3 threads(width, 512 / width);
  if (parts == 1) {
    reduce_columns<width><<<grid, threads, 0, stream>>>(n, inner, part_rows, op, finish, y, x);
    return;
  }
  void* memory = nullptr;
  cudaMallocAsync(&memory, outer * parts * inner * sizeof(typename Op::Value), stream);
  const auto of_parts = static_cast<typename Op::Value*>(memory);
  reduce_columns<width><<<grid, threads, 0, stream>>>(n, inner, part_rows, op, Same{}, of_parts, x);
  const int64_t size = outer * inner;
  combine_parts<<<static_cast<unsigned>((size + 255) / 256), 256, 0, stream>>>(
      size, inner, parts, op, finish, y, static_cast<const typename Op::Value*>(of_parts));
  cudaFreeAsync(memory, stream);
}

/// Launches y[i, k] = finish(reduction of x[i, j, k] over all j).
/// @param x  [outer, n, inner]; inner is 1 for the last axis
/// @param y  [outer, inner]
/// @param finish  what to make of an Op::Value; a type with a name, not a lambda
template <class Op, class Finish, class Y, class X>
void launch_reduce_axis(cudaStream_t stream, int64_t outer, int64_t n, int64_t inner, Op op,
                        Finish finish, Y* y, const X* x) {
  if (outer * inner == 0) return;
  if (inner == 1) {
    const unsigned threads = n < 4096 ? 128 : 1024;
    reduce_rows<<<static_cast<unsigned>(outer), threads, 0, stream>>>(n, op, finish, y, x);
    return;
  }
  constexpr int64_t many = 1024;
  if (inner < many) {
    launch_reduce_columns<32>(stream, outer, n, inner, op, finish, y, x);
  } else {
    launch_reduce_columns<128>(stream, outer, n, inner, op, finish, y, x);
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
