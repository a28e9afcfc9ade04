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
  float scale = 0;     ///< factor of the scores; 0 stands for 1 / sqrt(size)

  float factor() const { return scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(size)); }
};

/// The keys that a query sees, one after the other: [first, end), never none.
struct KeyRange {
  int64_t first, end;
};

/// Which keys query i sees: any functor (int64_t query, int64_t keys) -> KeyRange, such as these.
struct SeesAll {
  __device__ KeyRange operator()(int64_t, int64_t keys) const { return {0, keys}; }
};
/// Itself and what is before it, in all `window` keys; 0 stands for all that are before it.
struct SeesEarlier {
  int64_t window = 0;
  __device__ KeyRange operator()(int64_t query, int64_t keys) const {
    const int64_t end = query + 1 < keys ? query + 1 : keys;
    return {window > 0 && query + 1 > window ? query + 1 - window : 0, end};
  }
};

struct ScaleScore {
  float factor;
  __device__ float operator()(float v, int64_t, int64_t, int64_t) const { return v * factor; }
};

/// One block per row of scores, which may be where the weights go.
template <AttentionRows kind, class Sees, class T>
__global__ void attention_rows(const float* scores, int64_t queries, int64_t keys,
                               int64_t first_query, Sees sees, T* weights) {
  const KeyRange range = sees(first_query + blockIdx.x % queries, keys);
  const int64_t seen = range.end - range.first;
  weights += blockIdx.x * keys;
  for (int64_t i = threadIdx.x; i < range.first; i += blockDim.x) weights[i] = static_cast<T>(0.f);
  for (int64_t i = range.end + threadIdx.x; i < keys; i += blockDim.x) {
    weights[i] = static_cast<T>(0.f);
  }
  scores += blockIdx.x * keys + range.first;
  weights += range.first;
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
}

/// Launches the attention of one sample. Scores pass through 128 MiB of memory at a time, which is
/// about what stays in the cache of a large GPU.
/// @param q, k, v  rows of all heads, such as thirds of one row
/// @param sees  takes the place of s.causal
/// @param out  [queries, heads * size], out_stride apart
template <AttentionRows kind, class Sees, class T>
void launch_attention(cudaStream_t stream, const AttentionShape& s, Sees sees, const T* q,
                      const T* k, const T* v, T* out) {
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
  const ScaleScore scale = {s.factor()};
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
          scores, rows, s.keys, row, sees, weights);
      launch_product(stream, by_values, left(static_cast<const T*>(weights), by_values),
                     right(v + at, by_values, s.stride, s.size),
                     Store<T>{out + row * s.out_stride + at, s.out_stride, s.size});
    }
  }
  if constexpr (!in_place) cudaFreeAsync(weights, stream);
  cudaFreeAsync(scores, stream);
}

template <AttentionRows kind, class T>
void launch_attention(cudaStream_t stream, const AttentionShape& s, const T* q, const T* k,
                      const T* v, T* out) {
  if (s.causal) {
    launch_attention<kind>(stream, s, SeesEarlier{}, q, k, v, out);
  } else {
    launch_attention<kind>(stream, s, SeesAll{}, q, k, v, out);
  }
}

/// One block per head of a sample. Its keys and values stay in shared memory, a warp takes a query.
template <class Sees, class T>
__global__ void attend_short(const T* q, const T* k, const T* v, AttentionShape s, float factor,
                             Sees sees, T* out) {
  constexpr int most = 64 / 32;  // keys of a lane
  const int64_t sample = blockIdx.x / s.heads, head = blockIdx.x % s.heads;
  const int64_t pitch = s.size + 1;  // odd for even sizes: lanes read neighbouring rows
  float* const keys = reinterpret_cast<float*>(dynamic_shared());
  float* const values = keys + s.keys * pitch;
  q += sample * s.queries * s.stride + head * s.size;
  k += sample * s.keys * s.stride + head * s.size;
  v += sample * s.keys * s.stride + head * s.size;
  out += sample * s.queries * s.out_stride + head * s.size;
  for (int64_t i = threadIdx.x; i < s.keys * s.size; i += blockDim.x) {
    const int64_t row = i / s.size, column = i % s.size;
    keys[row * pitch + column] = element(k, row * s.stride + column);
    values[row * pitch + column] = element(v, row * s.stride + column);
  }
  __syncthreads();
  const int64_t lane = threadIdx.x % 32;
  for (int64_t query = threadIdx.x / 32; query < s.queries; query += blockDim.x / 32) {
    const KeyRange range = sees(query, s.keys);
    float weight[most], max = -INFINITY, sum = 0;
#pragma unroll
    for (int j = 0; j < most; ++j) {
      const int64_t key = lane + 32 * j;
      float score = 0;
      if (key >= range.first && key < range.end) {
        for (int64_t i = 0; i < s.size; ++i) {
          score = fmaf(element(q, query * s.stride + i), keys[key * pitch + i], score);
        }
        weight[j] = __fmul_rn(score, factor);  // never one instruction with `- max` below
      } else {
        weight[j] = -INFINITY;
      }
      max = Max{}(max, weight[j]);
    }
    max = combine(Warp{}, max, Max{});
#pragma unroll
    for (int j = 0; j < most; ++j) sum += weight[j] = expf(weight[j] - max);
    sum = combine(Warp{}, sum, Sum{});
    for (int64_t i0 = 0; i0 < s.size; i0 += 32) {
      const int64_t i = i0 + lane < s.size ? i0 + lane : 0;
      float result = 0;
#pragma unroll
      for (int j = 0; j < most; ++j) {
        for (int64_t key = 32 * j; key < s.keys && key < 32 * (j + 1); ++key) {
          const float w = __shfl_sync(0xffffffff, weight[j], static_cast<int>(key % 32));
          result = fmaf(w, values[key * pitch + i], result);
        }
      }
      if (i0 + lane < s.size) out[query * s.out_stride + i] = static_cast<T>(result / sum);
    }
  }
}

/// Launches attention with softmax within each of `samples` sequences, whose rows of q, k, v and of
/// the result follow one another. Short sequences take one launch, others three and more each.
template <class Sees, class T>
void launch_attention_of_samples(cudaStream_t stream, int64_t samples, const AttentionShape& s,
                                 Sees sees, const T* q, const T* k, const T* v, T* out) {
  constexpr int64_t room = 48 << 10;  // bytes of shared memory that need no leave
  const int64_t bytes = 2 * s.keys * (s.size + 1) * static_cast<int64_t>(sizeof(float));
  if (samples * s.heads * s.queries <= 0) return;
  if (s.keys <= 64 && bytes <= room) {
    attend_short<<<static_cast<unsigned>(samples * s.heads), 256, bytes, stream>>>(
        q, k, v, s, s.factor(), sees, out);
    return;
  }
  for (int64_t n = 0; n < samples; ++n) {
    launch_attention<AttentionRows::softmax>(stream, s, sees, q + n * s.queries * s.stride,
                                             k + n * s.keys * s.stride, v + n * s.keys * s.stride,
                                             out + n * s.queries * s.out_stride);
  }
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
    // Rounded here, so that the greatest score is the greatest: fused with a subtraction of it, the
    // product of large scores would be off by more than exp() bears.
    return __fmul_rn(combine(Warp{}, sum, Sum{}), scale);
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
