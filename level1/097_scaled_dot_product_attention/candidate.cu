#include "task.h"

#include <algorithm>
#include <cmath>

#include <kb/map.cuh>
#include <kb/product.cuh>
#include <kb/softmax.cuh>

struct Scale {
  float factor;
  __device__ float operator()(float v, int64_t, int64_t, int64_t) const { return v * factor; }
};

// One block per row.
template <class T>
__global__ void softmax(const float* scores, T* weights, int64_t length) {
  scores += blockIdx.x * length;
  weights += blockIdx.x * length;
  const kb::ExpSum e = kb::reduce(kb::Block{}, length, kb::OnlineSoftmax{}, kb::Same{}, scores);
  kb::map(
      kb::Block{}, length, [=](float v) { return expf(v - e.max) / e.sum; }, weights, scores);
}

void task::launch(const Sizes& s, const real* q, const real* k, const real* v, real* out,
                  cudaStream_t stream) {
  const int64_t heads = s.batch_size * s.num_heads;
  const int64_t length = s.sequence_length, dim = s.embedding_dimension;
  // As many heads at a time as keep the scores in the L2 cache.
  const int64_t most = (int64_t{32} << 20) / (length * length * sizeof(float));
  const int64_t group = std::clamp<int64_t>(most, 1, heads);
  float* scores;
  real* weights;
  cudaMallocAsync(&scores, group * length * length * sizeof(float), stream);
  cudaMallocAsync(&weights, group * length * length * sizeof(real), stream);
  const Scale scale = {1 / std::sqrt(static_cast<float>(dim))};
  for (int64_t head = 0; head < heads; head += group) {
    const int64_t count = std::min(group, heads - head), offset = head * length * dim;
    const kb::ProductShape by_keys = {length, length, dim, count};
    const kb::ProductShape by_values = {length, dim, length, count};
    kb::launch_product(stream, by_keys, kb::left(q + offset, by_keys),
                       kb::right_transposed(k + offset, by_keys),
                       kb::store(scores, by_keys, scale));
    softmax<<<count * length, 128, 0, stream>>>(scores, weights, length);
    kb::launch_product(stream, by_values, kb::left(weights, by_values),
                       kb::right(v + offset, by_values), kb::store(out + offset, by_values));
  }
  cudaFreeAsync(weights, stream);
  cudaFreeAsync(scores, stream);
}
