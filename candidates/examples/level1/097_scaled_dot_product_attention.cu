// Endless loop on the host: steps of 64 miss the last query unless their number divides evenly.
// Expected: timeout
#include "task.h"

// One block per query and head, from query `first` on.
__global__ void attention(task::Sizes s, const float* q, const float* k, const float* v, float* out,
                          int64_t first) {
  extern __shared__ float scores[];
  const int64_t dim = s.embedding_dimension, length = s.sequence_length;
  const int64_t query = first + blockIdx.x;
  if (query >= s.batch_size * s.num_heads * length) return;
  q += query * dim;
  out += query * dim;
  k += query / length * length * dim;
  v += query / length * length * dim;
  for (int64_t j = threadIdx.x; j < length; j += blockDim.x) {
    float score = 0;
    for (int64_t i = 0; i < dim; ++i) score += q[i] * k[j * dim + i];
    scores[j] = score / sqrtf(static_cast<float>(dim));
  }
  __syncthreads();
  float max = scores[0], sum = 0;
  for (int64_t j = 1; j < length; ++j) max = fmaxf(max, scores[j]);
  for (int64_t j = 0; j < length; ++j) sum += expf(scores[j] - max);
  for (int64_t i = threadIdx.x; i < dim; i += blockDim.x) {
    float mean = 0;
    for (int64_t j = 0; j < length; ++j) mean += expf(scores[j] - max) / sum * v[j * dim + i];
    out[i] = mean;
  }
}

void task::launch(const Sizes& s, const float* q, const float* k, const float* v, float* out,
                  cudaStream_t stream) {
  const int64_t queries = s.batch_size * s.num_heads * s.sequence_length;
  for (int64_t first = 0; first != queries; first += 64) {
    attention<<<64, 128, s.sequence_length * sizeof(float), stream>>>(s, q, k, v, out, first);
  }
}
