// Attention: products of queries and keys, softmax or relu of each row, products with values.
#pragma once

#include <cmath>
#include <cstdint>

#include "map.cuh"
#include "product.cuh"
#include "reduce.cuh"

namespace kb {

/// What becomes of a row of scores.
enum class AttentionRows { softmax, relu };

/// Sizes of the attention of one sample. Heads stand side by side in the rows of q, k, v and of the
/// result: head h has the elements h * size to (h + 1) * size of a row.
struct AttentionShape {
  int64_t heads, queries, keys, size;
  int64_t stride;      ///< elements from a row of q, k or v to the next
  int64_t out_stride;  ///< elements from a row of the result to the next
  bool causal;         ///< query i sees keys 0 to i only
};

struct ScaleScore {
  float factor;
  __device__ float operator()(float v, int64_t, int64_t, int64_t) const { return v * factor; }
};

/// One block per row of scores, which may be where the weights go.
template <AttentionRows kind, class T>
__global__ void attention_rows(const float* scores, int64_t queries, int64_t keys,
                               int64_t first_query, bool causal, T* weights) {
  const int64_t last = first_query + blockIdx.x % queries;
  const int64_t seen = causal && last + 1 < keys ? last + 1 : keys;
  scores += blockIdx.x * keys;
  weights += blockIdx.x * keys;
  if constexpr (kind == AttentionRows::softmax) {
    const float max = reduce(Block{}, seen, Max{}, Same{}, scores);
    const float sum = reduce(
        Block{}, seen, Sum{}, [=](float v) { return expf(v - max); }, scores);
    __syncthreads();
    map(
        Block{}, seen, [=](float v) { return expf(v - max) / sum; }, weights, scores);
  } else {
    map(
        Block{}, seen, [](float v) { return v < 0 ? 0 : v; }, weights, scores);
  }
  for (int64_t i = seen + threadIdx.x; i < keys; i += blockDim.x) weights[i] = static_cast<T>(0.f);
}

/// Launches the attention of one sample. Scores pass through 128 MiB of memory at a time, which is
/// about what stays in the cache of a large GPU.
/// @param q, k, v  rows of all heads, such as thirds of one row
/// @param out  [queries, heads * size], out_stride apart
template <AttentionRows kind, class T>
void launch_attention(cudaStream_t stream, const AttentionShape& s, const T* q, const T* k,
                      const T* v, T* out) {
  if (s.queries <= 0 || s.keys <= 0 || s.heads <= 0) return;
  constexpr int64_t room = int64_t{32} << 20;  // scores
  const int64_t of_head = s.queries * s.keys;
  const int64_t together = of_head > room ? 1 : room / of_head < s.heads ? room / of_head : s.heads;
  const int64_t most = s.keys > room ? 1 : room / s.keys;
  const int64_t rows_together = of_head > room && most < s.queries ? most : s.queries;
  const int64_t elements = together * rows_together * s.keys;
  constexpr bool in_place = std::is_same_v<T, float>;
  float* scores = nullptr;
  T* weights = nullptr;
  cudaMallocAsync(&scores, elements * sizeof(float), stream);
  if constexpr (in_place) {
    weights = scores;
  } else {
    cudaMallocAsync(&weights, elements * sizeof(T), stream);
  }
  const ScaleScore scale = {1 / std::sqrt(static_cast<float>(s.size))};
  for (int64_t head = 0; head < s.heads; head += together) {
    const int64_t heads = s.heads - head < together ? s.heads - head : together;
    for (int64_t row = 0; row < s.queries; row += rows_together) {
      const int64_t rows = s.queries - row < rows_together ? s.queries - row : rows_together;
      const ProductShape by_keys = {rows, s.keys, s.size, heads};
      const ProductShape by_values = {rows, s.size, s.keys, heads};
      const int64_t at = head * s.size;
      launch_product(stream, by_keys, left(q + row * s.stride + at, by_keys, s.stride, s.size),
                     right_transposed(k + at, by_keys, s.stride, s.size),
                     store(scores, by_keys, scale));
      attention_rows<kind><<<static_cast<unsigned>(heads * rows), 128, 0, stream>>>(
          scores, rows, s.keys, row, s.causal, weights);
      launch_product(stream, by_values, left(static_cast<const T*>(weights), by_values),
                     right(v + at, by_values, s.stride, s.size),
                     Store<T>{out + row * s.out_stride + at, s.out_stride, s.size});
    }
  }
  if constexpr (!in_place) cudaFreeAsync(weights, stream);
  cudaFreeAsync(scores, stream);
}

/// One warp per (sequence, head, query) of few tokens: rows of q, k and v are thirds of `qkv`.
template <class T>
__global__ void attend_few(const T* qkv, int64_t sequences, int64_t tokens, int64_t heads,
                           int64_t size, T* out) {
  const int64_t item = Grid::rank() / 32, lane = threadIdx.x % 32, width = heads * size;
  if (item >= sequences * heads * tokens) return;
  const int64_t query = item % tokens, head = item / tokens % heads;
  const int64_t first = item / (tokens * heads) * tokens;  // row of the sequence
  const T* const q = qkv + (first + query) * 3 * width + head * size;
  const T* const k = qkv + first * 3 * width + width + head * size;
  const float scale = 1 / sqrtf(static_cast<float>(size));
  const auto score = [&](int64_t key) {
    float sum = 0;
    for (int64_t i = lane; i < size; i += 32) {
      sum = fmaf(element(q, i), element(k, key * 3 * width + i), sum);
    }
    return combine(Warp{}, sum, Sum{}) * scale;
  };
  float max = -INFINITY, sum = 0;
  for (int64_t key = 0; key < tokens; ++key) max = Max{}(max, score(key));
  for (int64_t key = 0; key < tokens; ++key) sum += expf(score(key) - max);
  for (int64_t i0 = 0; i0 < size; i0 += 32) {
    const int64_t i = i0 + lane;
    float result = 0;
    for (int64_t key = 0; key < tokens; ++key) {
      const float weight = expf(score(key) - max) / sum;
      if (i < size) result = fmaf(weight, element(k, key * 3 * width + width + i), result);
    }
    if (i < size) out[(first + query) * width + head * size + i] = static_cast<T>(result);
  }
}

/// Launches attention with softmax within sequences of few tokens.
/// @param qkv  [sequences * tokens, 3, heads, size]
/// @param out  [sequences * tokens, heads, size]
template <class T>
void launch_attention_of_few(cudaStream_t stream, int64_t sequences, int64_t tokens, int64_t heads,
                             int64_t size, const T* qkv, T* out) {
  constexpr int threads = 128;
  const int64_t blocks = (sequences * tokens * heads * 32 + threads - 1) / threads;
  if (blocks <= 0) return;
  attend_few<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(qkv, sequences, tokens, heads,
                                                                    size, out);
}

}  // namespace kb
