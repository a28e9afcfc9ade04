// Attention: products of queries and keys, softmax or relu of each row, products with values.
#pragma once

#include <cuda_pipeline.h>

#include <cmath>
#include <cstdint>

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
  float scale = 0;     ///< factor of the scores; 0 stands for 1 / sqrt(size)

  float factor() const { return scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(size)); }
};

/// The keys that a query sees, one after the other: [first, end), never none.
struct KeyRange {
  int64_t first, end;
};

/// Which keys query i sees: any functor (int64_t query, int64_t keys) -> KeyRange, such as these.
/// Neither end of the ranges goes back from a query to the next.
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

// ---------------------------------------------------------------------------------------------
// One launch for all heads of all samples, after FlashAttention (Dao et al., 2022): keys and values
// pass through shared memory in tiles, and a running maximum and sum (Milakov and Gimelshein, 2018)
// take the place of rows of scores.

/// How a block attends: each warp has 16 of its queries of a head, and all meet a tile of as many
/// keys at a time. Heads of more than `size` elements take that many in turn, and a block for each
/// so many of the results.
template <int size_, int tokens, int blocks_>
struct AttentionTile {
  static constexpr int size = size_, queries = tokens, keys = tokens, threads = tokens / 16 * 32;
  static constexpr int blocks_per_multiprocessor = blocks_;
  // Rows start 4 banks apart, so that the lanes of a warp meet in no bank.
  static constexpr int stride = size + 4;
  static constexpr int shared_bytes =
      (queries + 2 * keys) * stride * static_cast<int>(sizeof(float));
  using Scores = float[keys / 8][4];   // what mma() makes of 16 queries and 8 keys each
  using Results = float[size / 8][4];  // the same of 16 queries and 8 elements
};

/// Where rows of samples are that follow one another: any functor (int64_t sample, int64_t token)
/// -> int64_t row, such as this.
struct RowsInOrder {
  int64_t tokens;
  __device__ int64_t operator()(int64_t sample, int64_t token) const {
    return sample * tokens + token;
  }
};

/// What becomes of products of a query and keys before softmax: any functor (int64_t sample,
/// int64_t head, int64_t query) -> functor (float product, int64_t key) -> float, such as this. It
/// rounds what it multiplies: fused with the subtraction of the greatest score, the product of
/// large scores would be off by more than exp() bears.
struct ScaledScore {
  float factor;
  struct OfQuery {
    float factor;
    __device__ float operator()(float v, int64_t) const { return __fmul_rn(v, factor); }
  };
  __device__ OfQuery operator()(int64_t, int64_t, int64_t) const { return {factor}; }
};

/// Starts to copy rows of a head as floats to shared memory. What does not exist is zero.
/// @param count, size  how many rows and how many elements of each exist
/// @param row_of  functor (int row) -> int64_t: which row of x it is
template <class Tile, class T, class RowOf>
__device__ void copy_rows(float* to, const T* x, int64_t stride, int64_t count, int64_t size,
                          RowOf row_of) {
  static_assert(Tile::queries == Tile::keys, "tiles of queries and of keys are alike");
  constexpr int groups = Tile::size / 4, abreast = Tile::threads / groups;  // rows at a time
  const int column = static_cast<int>(threadIdx.x) % groups * 4;
  const int first = static_cast<int>(threadIdx.x) / groups;
  if (first >= abreast) return;
  const auto up_to = [](int64_t n, int most) {
    return n < 0 ? 0 : n < most ? static_cast<int>(n) : most;
  };
  const int exist = up_to(size - column, 4), rows = exist > 0 ? up_to(count, Tile::keys) : 0;
  const bool in_groups = reinterpret_cast<uintptr_t>(x) % (4 * sizeof(T)) == 0 && stride % 4 == 0;
  const T* const from = exist > 0 ? x + column : x;
  // Asynchronous copies do not wait for one another; loads of halves would, so those are unrolled.
  const auto for_each_row = [&](auto copy) {
#pragma unroll(sizeof(T) == sizeof(float) ? 1 : 4)
    for (int row = first; row < Tile::keys; row += abreast) {
      const T* const source = row < rows ? from + row_of(row) * stride : from;
      copy(to + row * Tile::stride + column, source, row < rows ? exist : 0);
    }
  };
  if constexpr (sizeof(T) == sizeof(float)) {
    if (in_groups) {
      for_each_row([](float* place, const T* source, int elements) {
        copy_async<16>(place, source, elements * static_cast<int>(sizeof(T)));
      });
    } else {
      for_each_row([&](float* place, const T* source, int elements) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          copy_element(place + e, Source<T>{e < elements ? source + e : x, elements - e});
        }
      });
    }
  } else {
    for_each_row([&](float* place, const T* source, int elements) {
      Vector<T, 4> values;
      if (in_groups && elements == 4) {
        values = *reinterpret_cast<const Vector<T, 4>*>(source);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) values.at[e] = e < elements ? source[e] : static_cast<T>(0.f);
      }
      Vector<float, 4> floats;
#pragma unroll
      for (int e = 0; e < 4; ++e) floats.at[e] = element(values, e);
      *reinterpret_cast<Vector<float, 4>*>(place) = floats;
    });
  }
}

/// The TF32 parts of a fragment of floats, or their nearest TF32 values.
template <Arithmetic arithmetic, int count>
__device__ void split_fragment(unsigned (&x)[count], unsigned (&low)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    if constexpr (arithmetic == Arithmetic::tf32x3) {
      split_tf32(x[i], x[i], low[i]);
    } else {
      x[i] = round_tf32(x[i]);
    }
  }
}

/// sum += a * b of fragments, of which the products with second parts are added up on their own.
template <Arithmetic arithmetic>
__device__ void multiply_fragments(float (&sum)[4], float (&small)[4], const unsigned (&a)[4],
                                   const unsigned (&a_low)[4], const unsigned (&b)[2],
                                   const unsigned (&b_low)[2]) {
  if constexpr (arithmetic == Arithmetic::tf32x3) {
    mma<float>(small, a_low, b);
    mma<float>(small, a, b_low);
  }
  mma<float>(sum, a, b);
}

/// Scores of a warp += its queries * the tile's keys.
template <class Tile, Arithmetic arithmetic>
__device__ void multiply_by_keys(typename Tile::Scores& scores, const float* queries,
                                 const float* keys) {
  constexpr int stride = Tile::stride;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  if constexpr (arithmetic == Arithmetic::plain) {
    // The same elements per lane as those of fragments, by ordinary instructions.
#pragma unroll 2
    for (int i = 0; i < Tile::size; ++i) {
      const float q[2] = {queries[g * stride + i], queries[(g + 8) * stride + i]};
#pragma unroll
      for (int j = 0; j < Tile::keys / 4; ++j) {
        const float k = keys[(j / 2 * 8 + 2 * t + j % 2) * stride + i];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float& score = scores[j / 2][2 * r + j % 2];
          score = fmaf(q[r], k, score);
        }
      }
    }
  } else {
    constexpr int together = 4;  // steps of 8 elements that tensor cores add up
#pragma unroll
    for (int from = 0; from < Tile::size; from += 8 * together) {
      unsigned q[together][4], q_low[together][4];
#pragma unroll
      for (int i = 0; i < together; ++i) {
        load_matrices<false>(q[i], queries + lane % 16 * stride + from + 8 * i + lane / 16 * 4);
        split_fragment<arithmetic>(q[i], q_low[i]);
      }
#pragma unroll
      for (int j = 0; j < Tile::keys / 8; j += 2) {
        float sum[2][4] = {}, small[2][4] = {};
#pragma unroll
        for (int i = 0; i < together; ++i) {
          unsigned r[4];
          load_matrices<false>(r, keys + (8 * j + lane / 16 * 8 + lane % 8) * stride + from +
                                      8 * i + lane / 8 % 2 * 4);
#pragma unroll
          for (int n = 0; n < 2; ++n) {
            unsigned k[2] = {r[2 * n], r[2 * n + 1]}, k_low[2];
            split_fragment<arithmetic>(k, k_low);
            multiply_fragments<arithmetic>(sum[n], small[n], q[i], q_low[i], k, k_low);
          }
        }
#pragma unroll
        for (int n = 0; n < 2; ++n) {
#pragma unroll
          for (int e = 0; e < 4; ++e) scores[j + n][e] += sum[n][e] + small[n][e];
        }
      }
    }
  }
}

/// Results of a warp += its weights * the tile's values.
template <class Tile, Arithmetic arithmetic>
__device__ void multiply_by_values(typename Tile::Results& results,
                                   const typename Tile::Scores& weights, const float* values) {
  constexpr int stride = Tile::stride;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  if constexpr (arithmetic == Arithmetic::plain) {
#pragma unroll
    for (int key = 0; key < Tile::keys; ++key) {
      const int owner = lane - t + key % 8 / 2;
      const float w[2] = {__shfl_sync(~0u, weights[key / 8][key % 2], owner),
                          __shfl_sync(~0u, weights[key / 8][2 + key % 2], owner)};
#pragma unroll
      for (int j = 0; j < Tile::size / 4; ++j) {
        const float v = values[key * stride + j / 2 * 8 + 2 * t + j % 2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float& result = results[j / 2][2 * r + j % 2];
          result = fmaf(w[r], v, result);
        }
      }
    }
  } else {
    // As the order of keys does not matter, a lane's weights are its part of a fragment as they
    // are: words t and t + 4 along the keys are keys 2 t and 2 t + 1.
    constexpr int steps = Tile::keys / 8;
    unsigned w[steps][4], w_low[steps][4];
#pragma unroll
    for (int i = 0; i < steps; ++i) {
#pragma unroll
      for (int e = 0; e < 4; ++e) w[i][e] = __float_as_uint(weights[i][e % 2 * 2 + e / 2]);
      split_fragment<arithmetic>(w[i], w_low[i]);
    }
#pragma unroll
    for (int j = 0; j < Tile::size / 8; j += 2) {
      float sum[2][4] = {}, small[2][4] = {};
#pragma unroll
      for (int i = 0; i < steps; ++i) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          const float* const from = values + (8 * i + 2 * t) * stride + 8 * (j + n) + g;
          unsigned v[2] = {__float_as_uint(from[0]), __float_as_uint(from[stride])}, v_low[2];
          split_fragment<arithmetic>(v, v_low);
          multiply_fragments<arithmetic>(sum[n], small[n], w[i], w_low[i], v, v_low);
        }
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) results[j + n][e] += sum[n][e] + small[n][e];
      }
    }
  }
}

/// What a lane knows of its two queries: the keys that they see, the greatest score so far, and its
/// part of the sum of weights.
struct AttendedRows {
  KeyRange seen[2];
  float max[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
};

/// Reduces a value of the four lanes that share a row of a fragment.
template <class Op>
__device__ float combine_in_row(float v, Op op) {
  v = op(v, __shfl_xor_sync(~0u, v, 1));
  return op(v, __shfl_xor_sync(~0u, v, 2));
}

/// Makes weights of products with the keys from `first_key` on, and gets results ready for them.
/// @param score  functor (float product, int row, int key) -> float; both are counted in the tile
template <class Tile, AttentionRows kind, class Score>
__device__ void weigh(typename Tile::Scores& scores, typename Tile::Results& results,
                      AttendedRows& rows, int64_t first_key, Score score_of) {
  constexpr int each = Tile::keys / 4;  // keys of a lane
  const int lane_key = threadIdx.x % 4 * 2;
  const auto in_tile = [&](int64_t key) {
    return static_cast<int>(key < first_key                ? 0
                            : key - first_key > Tile::keys ? Tile::keys
                                                           : key - first_key);
  };
  int first[2], end[2];
  float max[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    first[r] = in_tile(rows.seen[r].first);
    end[r] = in_tile(rows.seen[r].end);
    max[r] = rows.max[r];
  }
#pragma unroll
  for (int i = 0; i < each; ++i) {
    const int key = lane_key + i / 2 * 8 + i % 2;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float& score = scores[i / 2][2 * r + i % 2];
      if (key >= first[r] && key < end[r]) {
        score = score_of(score, r, key);
        if (kind == AttentionRows::relu && score < 0) score = 0;
      } else {
        score = kind == AttentionRows::softmax ? -INFINITY : 0;
      }
      max[r] = Max{}(max[r], score);
    }
  }
  if constexpr (kind == AttentionRows::softmax) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      max[r] = combine_in_row(max[r], Max{});
      const float base = max[r] == -INFINITY ? 0 : max[r];  // nothing is seen yet
      const float again = expf(rows.max[r] - base);
      float sum = rows.sum[r] * again;
#pragma unroll
      for (int i = 0; i < each; ++i) {
        float& score = scores[i / 2][2 * r + i % 2];
        sum += score = expf(score - base);
      }
#pragma unroll
      for (int j = 0; j < Tile::size / 4; ++j) results[j / 2][2 * r + j % 2] *= again;
      rows.max[r] = max[r];
      rows.sum[r] = sum;
    }
  }
}

/// Each block has some queries of a head of a sample, and some elements of their results.
/// @param query_row, key_row  where the rows of queries and results, of keys and values are
template <class Tile, AttentionRows kind, Arithmetic arithmetic, class QueryRows, class KeyRows,
          class Score, class Sees, class T>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_multiprocessor)
    attend(AttentionShape s, QueryRows query_row, KeyRows key_row, Score score, Sees sees,
           const T* q, const T* k, const T* v, T* out) {
  constexpr int stride = Tile::stride;
  float* const queries = reinterpret_cast<float*>(dynamic_shared());
  float* const keys = queries + Tile::queries * stride;
  float* const values = keys + Tile::keys * stride;

  // The last queries come first, since they see the most where only earlier keys are seen.
  const int64_t parts = (s.size + Tile::size - 1) / Tile::size;
  const int64_t tiles = (s.queries + Tile::queries - 1) / Tile::queries;
  const int64_t first_query = (tiles - 1 - blockIdx.x / parts % tiles) * Tile::queries;
  const int64_t part = blockIdx.x % parts * Tile::size;
  const int64_t head = blockIdx.x / parts / tiles % s.heads;
  const int64_t sample = blockIdx.x / parts / tiles / s.heads;
  const int64_t count = s.queries - first_query;
  q += head * s.size;
  k += head * s.size;
  v += head * s.size + part;
  out += head * s.size + part;
  const int own = threadIdx.x / 32 * 16, row = own + threadIdx.x % 32 / 4;
  const bool busy = own < count;  // the same for all lanes of a warp

  const int64_t last_query = first_query + (count < Tile::queries ? count : Tile::queries) - 1;
  const KeyRange all = {sees(first_query, s.keys).first, sees(last_query, s.keys).end};
  AttendedRows rows;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool exists = row + 8 * r < count;
    rows.seen[r] = exists ? sees(first_query + row + 8 * r, s.keys) : KeyRange{0, 0};
  }

  const decltype(score(0, 0, 0)) score_of[2] = {score(sample, head, first_query + row),
                                                score(sample, head, first_query + row + 8)};

  const int64_t first_tile = all.first / Tile::keys, end_tile = (all.end - 1) / Tile::keys + 1;
  const auto copy_keys = [&](int64_t tile, int64_t at) {
    if (tile < end_tile) {
      if (parts > 1 || tile == first_tile) {
        copy_rows<Tile>(queries, q + at, s.stride, count, s.size - at,
                        [&](int i) { return query_row(sample, first_query + i); });
      }
      const int64_t first = tile * Tile::keys;
      copy_rows<Tile>(keys, k + at, s.stride, s.keys - first, s.size - at,
                      [&](int i) { return key_row(sample, first + i); });
    }
    __pipeline_commit();
  };
  const auto copy_values = [&](int64_t tile) {
    if (tile < end_tile) {
      const int64_t first = tile * Tile::keys;
      copy_rows<Tile>(values, v, s.stride, s.keys - first, s.size - part,
                      [&](int i) { return key_row(sample, first + i); });
    }
    __pipeline_commit();
  };

  typename Tile::Results results = {};
  copy_keys(first_tile, 0);
  copy_values(first_tile);
  for (int64_t tile = first_tile; tile < end_tile; ++tile) {
    typename Tile::Scores scores = {};
    for (int64_t at = 0; at < s.size; at += Tile::size) {
      if (parts == 1) {
        __pipeline_wait_prior(1);  // not for the values
      } else {
        __pipeline_wait_prior(0);
      }
      __syncthreads();
      if (busy) multiply_by_keys<Tile, arithmetic>(scores, queries + own * stride, keys);
      __syncthreads();
      const bool more = at + Tile::size < s.size;
      copy_keys(more ? tile : tile + 1, more ? at + Tile::size : 0);
    }
    if (busy) {
      const int64_t first = tile * Tile::keys;
      weigh<Tile, kind>(scores, results, rows, first, [&](float product, int r, int key) {
        return score_of[r](product, first + key);
      });
    }
    __pipeline_wait_prior(1);  // not for the next keys
    __syncthreads();
    if (busy) multiply_by_values<Tile, arithmetic>(results, scores, values);
    __syncthreads();
    copy_values(tile + 1);
  }
  __pipeline_wait_prior(0);
  if (!busy) return;

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float sum = kind == AttentionRows::softmax ? combine_in_row(rows.sum[r], Sum{}) : 1;
    if (row + 8 * r >= count) continue;
    const int64_t place = query_row(sample, first_query + row + 8 * r);
#pragma unroll
    for (int j = 0; j < Tile::size / 8; ++j) {
      const int column = 8 * j + threadIdx.x % 4 * 2;
      const float pair[2] = {results[j][2 * r] / sum, results[j][2 * r + 1] / sum};
      Store<T>{out, s.out_stride, 0}(0, place, column, pair, s.size - part - column);
    }
  }
}

/// How floats are multiplied; TF32 has all bits of halves.
template <class T>
inline constexpr Arithmetic attention_arithmetic = sizeof(T) == sizeof(float) ? product_arithmetic
                                                   : has_tf32                 ? Arithmetic::tf32
                                                                              : Arithmetic::plain;

template <class Tile, AttentionRows kind, Arithmetic arithmetic, class QueryRows, class KeyRows,
          class Score, class Sees, class T>
void launch_attention_tiles(cudaStream_t stream, int64_t samples, const AttentionShape& s,
                            QueryRows query_row, KeyRows key_row, Score score, Sees sees,
                            const T* q, const T* k, const T* v, T* out) {
  const int64_t tiles = (s.queries + Tile::queries - 1) / Tile::queries;
  const int64_t parts = (s.size + Tile::size - 1) / Tile::size;
  const auto kernel = attend<Tile, kind, arithmetic, QueryRows, KeyRows, Score, Sees, T>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::shared_bytes);
  kernel<<<static_cast<unsigned>(samples * s.heads * tiles * parts), Tile::threads,
           Tile::shared_bytes, stream>>>(s, query_row, key_row, score, sees, q, k, v, out);
}

/// Launches attention within each of `samples` sequences.
/// @param query_row, key_row, score  such as RowsInOrder and ScaledScore; s.scale does not count
/// @param sees  which keys, such as SeesAll
/// @param q, k, v  rows of all heads, such as thirds of one row
/// @param out  rows of heads * size elements, out_stride apart
template <AttentionRows kind, class QueryRows, class KeyRows, class Score, class Sees, class T>
void launch_any_attention(cudaStream_t stream, int64_t samples, const AttentionShape& s,
                          QueryRows query_row, KeyRows key_row, Score score, Sees sees, const T* q,
                          const T* k, const T* v, T* out) {
  if (samples <= 0 || s.queries <= 0 || s.keys <= 0 || s.heads <= 0 || s.size <= 0) return;
  const auto launch = [&](auto tile) {
    launch_attention_tiles<decltype(tile), kind, attention_arithmetic<T>>(
        stream, samples, s, query_row, key_row, score, sees, q, k, v, out);
  };
  if constexpr (target == Target::cpu) {  // where a small tile is quicker
    if (s.size <= 32) {
      launch(AttentionTile<32, 16, 1>{});
    } else {
      launch(AttentionTile<64, 16, 1>{});
    }
  } else if (s.size <= 32) {
    launch(AttentionTile<32, 64, 4>{});
  } else if constexpr (target == Target::without_tf32) {  // 64 KiB of shared memory at most
    launch(AttentionTile<64, 64, 3>{});
  } else if (s.size <= 64) {
    launch(AttentionTile<64, 64, 3>{});
  } else if (s.size <= 96) {
    launch(AttentionTile<96, 64, 2>{});
  } else {
    launch(AttentionTile<128, 64, 2>{});
  }
}

/// The same of samples whose rows follow one another, with scaled scores.
template <AttentionRows kind = AttentionRows::softmax, class Sees, class T>
void launch_attention(cudaStream_t stream, int64_t samples, const AttentionShape& s, Sees sees,
                      const T* q, const T* k, const T* v, T* out) {
  launch_any_attention<kind>(stream, samples, s, RowsInOrder{s.queries}, RowsInOrder{s.keys},
                             ScaledScore{s.factor()}, sees, q, k, v, out);
}

// ---------------------------------------------------------------------------------------------
// Few tokens

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
