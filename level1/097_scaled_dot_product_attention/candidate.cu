#include "task.h"

#include <algorithm>
#include <cfloat>

constexpr int tile = 128, slice = 16, threads = 256;

// c = a * b * factor for matrices a [m, depth] and c [m, n], one product per blockIdx.z; b is
// [depth, n], or [n, depth] for scores. A block computes a tile of c, each thread 8 x 8
// elements of it, 16 apart; what lies outside the matrices counts as zero. Scores are sums of sums
// of 256 products, since the softmax magnifies their rounding errors.
template <bool scores>
__global__ void __launch_bounds__(threads, scores ? 1 : 2)
    matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t depth,
           float factor) {
  __shared__ float a_tile[slice][tile + 2], b_tile[slice][tile + 2];  // + 2: no bank conflicts
  a += blockIdx.z * m * depth;
  b += blockIdx.z * n * depth;
  c += blockIdx.z * m * n;
  const int64_t row0 = int64_t{blockIdx.y} * tile, column0 = int64_t{blockIdx.x} * tile;
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sum[8][8] = {}, total[8][8] = {};
  for (int64_t k0 = 0; k0 < depth; k0 += slice) {
    for (int i = threadIdx.x; i < tile * slice; i += threads) {
      const int64_t y = row0 + i / slice, k = k0 + i % slice;
      a_tile[i % slice][i / slice] = y < m && k < depth ? a[y * depth + k] : 0;
      // Neighbouring threads read neighbouring elements of b, whichever way it lies.
      const int b_k = scores ? i % slice : i / tile, b_x = scores ? i / slice : i % tile;
      const int64_t bk = k0 + b_k, x = column0 + b_x;
      b_tile[b_k][b_x] = x < n && bk < depth ? b[scores ? x * depth + bk : bk * n + x] : 0;
    }
    __syncthreads();
    for (int k = 0; k < slice; ++k) {
      float a_part[8], b_part[8];
      for (int i = 0; i < 8; ++i) a_part[i] = a_tile[k][row + 16 * i];
      for (int j = 0; j < 8; ++j) b_part[j] = b_tile[k][column + 16 * j];
      for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(a_part[i], b_part[j], sum[i][j]);
      }
    }
    __syncthreads();
    if (scores && k0 % 256 == 256 - slice) {
      for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) total[i][j] += sum[i][j], sum[i][j] = 0;
      }
    }
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const int64_t y = row0 + row + 16 * i, x = column0 + column + 16 * j;
      if (y < m && x < n) c[y * n + x] = (total[i][j] + sum[i][j]) * factor;
    }
  }
}

// In place, one warp per row, 8 rows per block.
__global__ void softmax(float* x, int64_t rows, int64_t dim) {
  const int64_t row = int64_t{blockIdx.x} * 8 + threadIdx.y;
  if (row >= rows) return;
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
  const unsigned length_tiles = (length + tile - 1) / tile, dim_tiles = (dim + tile - 1) / tile;
  const float factor = 1 / std::sqrt(static_cast<float>(dim));
  for (int64_t head = 0; head < heads; head += group) {
    const unsigned count = std::min(group, heads - head);
    const int64_t offset = head * length * dim, rows = count * length;
    matmul<true><<<dim3(length_tiles, length_tiles, count), threads, 0, stream>>>(
        q + offset, k + offset, scores, length, length, dim, factor);
    softmax<<<(rows + 7) / 8, dim3(32, 8), 0, stream>>>(scores, rows, length);
    matmul<false><<<dim3(dim_tiles, length_tiles, count), threads, 0, stream>>>(
        scores, v + offset, out + offset, length, dim, length, 1);
  }
  cudaFreeAsync(memory, stream);
}
