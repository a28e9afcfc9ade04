// Exponentials of scores as they are: right until one is above 88.
// Task: level1/097_scaled_dot_product_attention
// Expected: incorrect
#include "task.h"

// One block per query.
__global__ void attend(task::Sizes s, const float* q, const float* k, const float* v, float* out) {
  extern __shared__ float scores[];
  __shared__ float sum;
  const int64_t n = s.sequence_length, width = s.embedding_dimension;
  const int64_t of_head = blockIdx.x / n * n * width;
  q += blockIdx.x * width;
  out += blockIdx.x * width;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
    float score = 0;
    for (int64_t e = 0; e < width; ++e) score += q[e] * k[of_head + j * width + e];
    scores[j] = expf(score / sqrtf(static_cast<float>(width)));
    atomicAdd(&sum, scores[j]);
  }
  __syncthreads();
  for (int64_t e = threadIdx.x; e < width; e += blockDim.x) {
    float result = 0;
    for (int64_t j = 0; j < n; ++j) result += scores[j] * v[of_head + j * width + e];
    out[e] = result / sum;
  }
}

void task::launch(const Sizes& s, const float* q, const float* k, const float* v, float* out,
                  cudaStream_t stream) {
  attend<<<s.batch_size * s.num_heads * s.sequence_length, 64, s.sequence_length * sizeof(float),
           stream>>>(s, q, k, v, out);
}
