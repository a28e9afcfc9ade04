// Shown in prompts: attention in one kernel, whose softmax follows the keys.
// Task: level1/097_scaled_dot_product_attention
// Expected: pass
#include "task.h"

constexpr int threads = 256, warps = threads / 32, tile = 32;  // keys at a time

// One block per query.
__global__ void attention(int64_t length, int64_t dim, float scale, const float* q, const float* k,
                          const float* v, float* out) {
  extern __shared__ float shared[];
  float* query = shared;       // [dim]
  float* sums = shared + dim;  // [dim], the weighted sum of the values so far
  __shared__ float weights[tile];
  const int64_t head = blockIdx.x / length;
  q += blockIdx.x * dim;
  k += head * length * dim;
  v += head * length * dim;
  for (int64_t i = threadIdx.x; i < dim; i += threads) {
    query[i] = q[i] * scale;
    sums[i] = 0;
  }
  float max = -INFINITY, sum = 0;  // of the scores, and of exp(score - max)
  for (int64_t first = 0; first < length; first += tile) {
    const int count = static_cast<int>(length - first < tile ? length - first : tile);
    __syncthreads();  // query is there, and weights of the tile before have been read
    for (int j = threadIdx.x / 32; j < count; j += warps) {
      float score = 0;
      for (int64_t i = threadIdx.x % 32; i < dim; i += 32) {
        score = fmaf(query[i], k[(first + j) * dim + i], score);
      }
      for (int lane = 16; lane > 0; lane /= 2) score += __shfl_xor_sync(~0u, score, lane);
      if (threadIdx.x % 32 == 0) weights[j] = score;
    }
    __syncthreads();
    float new_max = max;
    for (int j = 0; j < count; ++j) new_max = fmaxf(new_max, weights[j]);
    const float shrink = expf(max - new_max);  // what was added up belongs to the old maximum
    max = new_max;
    __syncthreads();  // all have read the scores
    if (threadIdx.x < count) weights[threadIdx.x] = expf(weights[threadIdx.x] - max);
    __syncthreads();
    sum *= shrink;
    for (int j = 0; j < count; ++j) sum += weights[j];
    for (int64_t i = threadIdx.x; i < dim; i += threads) {
      float weighted = sums[i] * shrink;
      for (int j = 0; j < count; ++j)
        weighted = fmaf(weights[j], v[(first + j) * dim + i], weighted);
      sums[i] = weighted;
    }
  }
  for (int64_t i = threadIdx.x; i < dim; i += threads) out[blockIdx.x * dim + i] = sums[i] / sum;
}

void task::launch(const Sizes& s, const float* q, const float* k, const float* v, float* out,
                  cudaStream_t stream) {
  const int64_t queries = s.batch_size * s.num_heads * s.sequence_length;
  const int64_t dim = s.embedding_dimension;
  const int shared = static_cast<int>(2 * dim * sizeof(float));
  cudaFuncSetAttribute(attention, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  attention<<<queries, threads, shared, stream>>>(s.sequence_length, dim,
                                                  1 / sqrtf(static_cast<float>(dim)), q, k, v, out);
}
