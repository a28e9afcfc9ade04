#include "task.h"

#include <algorithm>
#include <cfloat>

constexpr int rows = 8, columns = 8, slice = 16, chunk = 512, threads = 256;
constexpr int tile_m = threads / 32 * rows, tile_n = 32 * columns;  // of c, one block's
static_assert(tile_n == threads, "each thread fetches the elements of one column of b");

// c = a * b * factor for matrices a [m, depth] and c [m, n], one product per blockIdx.z; b is
// [depth, n], or [n, depth] if transposed. A block computes 64 rows of 256 columns, each warp 8
// rows, each lane 8 columns, 32 apart; slices of both matrices pass through shared memory. What a
// block fetches beyond their edges repeats the last row or column and counts for nothing. Sums of
// more than 512 products are added up in c, since the softmax magnifies their rounding errors.
template <bool transposed>
__global__ void __launch_bounds__(threads, 2)
    matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int depth,
           float factor) {
  __shared__ __align__(16) float a_tile[slice][tile_m + 4];
  __shared__ float b_tile[slice][tile_n + 2];  // + 4 and + 2: fewer bank conflicts
  a += blockIdx.z * m * depth;
  b += blockIdx.z * n * depth;
  c += blockIdx.z * m * n;
  const int64_t row0 = int64_t{blockIdx.y} * tile_m, column0 = int64_t{blockIdx.x} * tile_n;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int64_t column = min(column0 + thread, n - 1);
  for (int first = 0; first < depth; first += chunk) {
    const int end = min(first + chunk, depth);
    float sum[rows][columns] = {};
    for (int k0 = first; k0 < end; k0 += slice) {
      const int k = min(k0 + thread % slice, end - 1);
      __syncthreads();
      for (int i = thread / slice; i < tile_m; i += threads / slice) {
        a_tile[thread % slice][i] = a[min(row0 + i, m - 1) * depth + k];
      }
      // Neighbouring threads read neighbouring elements of b, whichever way it lies.
      for (int i = 0; i < slice; ++i) {
        if (transposed) {
          const int j = i * slice + thread / slice;
          b_tile[thread % slice][j] = b[min(column0 + j, n - 1) * depth + k];
        } else {
          b_tile[i][thread] = b[min(k0 + i, end - 1) * n + column];
        }
      }
      __syncthreads();
      const int count = min(slice, end - k0);
      for (int i = 0; i < count; ++i) {
        float a_part[rows], b_part[columns];
        for (int y = 0; y < rows; ++y) a_part[y] = a_tile[i][warp * rows + y];
        for (int x = 0; x < columns; ++x) b_part[x] = b_tile[i][lane + 32 * x];
        for (int y = 0; y < rows; ++y) {
          for (int x = 0; x < columns; ++x) sum[y][x] = fmaf(a_part[y], b_part[x], sum[y][x]);
        }
      }
    }
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const int64_t y = row0 + warp * rows + i, x = column0 + lane + 32 * j;
        if (y < m && x < n) c[y * n + x] = (first > 0 ? c[y * n + x] : 0) + sum[i][j] * factor;
      }
    }
  }
}

// In place, one warp per row, 8 rows per block.
__global__ void softmax(float* x, int64_t count, int64_t dim) {
  const int64_t row = int64_t{blockIdx.x} * 8 + threadIdx.y;
  if (row >= count) return;
  x += row * dim;
  float max = -FLT_MAX, sum = 0;
  for (int64_t i = threadIdx.x; i < dim; i += 32) max = fmaxf(max, x[i]);
  for (int i = 16; i > 0; i /= 2) max = fmaxf(max, __shfl_xor_sync(~0u, max, i));
  for (int64_t i = threadIdx.x; i < dim; i += 32) sum += expf(x[i] - max);
  for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
  for (int64_t i = threadIdx.x; i < dim; i += 32) x[i] = expf(x[i] - max) / sum;
}

void task::launch(const Sizes& s, const float* q, const float* k, const float* v, float* out,
                  cudaStream_t stream) {
  const int64_t heads = s.batch_size * s.num_heads;
  const int64_t length = s.sequence_length, dim = s.embedding_dimension;
  // As many heads at a time as keep the scores below 256 MiB.
  const int64_t score_bytes = length * length * sizeof(float);
  const int64_t group =
      std::clamp<int64_t>((int64_t{256} << 20) / score_bytes, 1, std::min<int64_t>(heads, 65535));
  void* memory;
  cudaMallocAsync(&memory, group * score_bytes, stream);
  float* scores = static_cast<float*>(memory);
  const unsigned down = (length + tile_m - 1) / tile_m;
  const unsigned across_length = (length + tile_n - 1) / tile_n;
  const unsigned across_dim = (dim + tile_n - 1) / tile_n;
  const float factor = 1 / std::sqrt(static_cast<float>(dim));
  for (int64_t head = 0; head < heads; head += group) {
    const unsigned count = std::min(group, heads - head);
    const int64_t offset = head * length * dim, score_rows = count * length;
    matmul<true><<<dim3(across_length, down, count), threads, 0, stream>>>(
        q + offset, k + offset, scores, length, length, dim, factor);
    softmax<<<(score_rows + 7) / 8, dim3(32, 8), 0, stream>>>(scores, score_rows, length);
    matmul<false><<<dim3(across_dim, down, count), threads, 0, stream>>>(
        scores, v + offset, out + offset, length, dim, length, 1);
  }
  cudaFreeAsync(memory, stream);
}
