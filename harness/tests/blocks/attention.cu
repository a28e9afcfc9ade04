// Attention against the definition: heads side by side, causal or not, few tokens.
#include <kb/attention.cuh>

#include "blocks.h"

namespace {

using kb::AttentionRows;

/// A result of attention in double; q, k and v are thirds of the rows of `qkv`.
template <class T>
std::vector<double> expected(AttentionRows rows, bool causal, int64_t tokens, int64_t heads,
                             int64_t size, const std::vector<T>& qkv, int64_t window = 0,
                             double factor = 0) {
  const int64_t width = heads * size;
  std::vector<double> out(tokens * width);
  const auto at = [&](int64_t token, int64_t third, int64_t i) {
    return double{static_cast<float>(qkv[(token * 3 + third) * width + i])};
  };
  for (int64_t query = 0; query < tokens; ++query) {
    for (int64_t head = 0; head < heads; ++head) {
      const int64_t seen = causal ? query + 1 : tokens, first = head * size;
      const int64_t begin = window > 0 && seen > window ? seen - window : 0;
      std::vector<double> scores(seen);
      double max = -INFINITY, sum = 0;
      for (int64_t key = begin; key < seen; ++key) {
        for (int64_t i = 0; i < size; ++i) {
          scores[key] += at(query, 0, first + i) * at(key, 1, first + i);
        }
        scores[key] *= factor != 0 ? factor : 1 / std::sqrt(double(size));
        max = std::max(max, scores[key]);
      }
      for (int64_t key = begin; key < seen; ++key) {
        double& score = scores[key];
        score = rows == AttentionRows::softmax ? std::exp(score - max) : std::max(score, 0.0);
        sum += score;
      }
      if (rows == AttentionRows::relu) sum = 1;
      for (int64_t key = begin; key < seen; ++key) {
        for (int64_t i = 0; i < size; ++i) {
          out[query * width + first + i] += scores[key] / sum * at(key, 2, first + i);
        }
      }
    }
  }
  return out;
}

/// What suits the sizes and the device.
struct AsChosen {
  template <AttentionRows rows, class Sees, class T>
  static void launch(const kb::AttentionShape& s, Sees sees, const T* q, const T* k, const T* v,
                     T* out) {
    kb::launch_attention<rows>(nullptr, 1, s, sees, q, k, v, out);
  }
};
template <class Tile, kb::Arithmetic arithmetic>
struct InTiles {
  template <AttentionRows rows, class Sees, class T>
  static void launch(const kb::AttentionShape& s, Sees sees, const T* q, const T* k, const T* v,
                     T* out) {
    kb::launch_attention_tiles<Tile, rows, arithmetic>(
        nullptr, 1, s, kb::RowsInOrder{s.queries}, kb::RowsInOrder{s.keys},
        kb::ScaledScore{s.factor()}, sees, q, k, v, out);
  }
};

template <AttentionRows rows, class T, class How = AsChosen>
void expect_attention(bool causal, int64_t tokens, int64_t heads, int64_t size, float factor = 1,
                      double tolerance = 4 * unit<T>) {
  const int64_t width = heads * size;
  auto values = signed_values<T>(tokens * 3 * width, 1);
  for (T& v : values) v = static_cast<T>(static_cast<float>(v) * factor);
  Buffer<T> qkv(values), out(static_cast<size_t>(tokens * width), T(0.f));
  const T* const q = qkv;
  T* const y = out;
  const kb::AttentionShape shape = {heads, tokens, tokens, size, 3 * width, width};
  const auto launch = [&](auto sees) {
    How::template launch<rows>(shape, sees, q, q + width, q + 2 * width, y);
  };
  causal ? launch(kb::SeesEarlier{}) : launch(kb::SeesAll{});
  KB_LAUNCHED();
  const auto got = as_double(out.read()),
             want = expected(rows, causal, tokens, heads, size, values);
  for (size_t i = 0; i < got.size(); ++i) KB_EXPECT(near(got[i], want[i], tolerance));
}

template <class T>
void attention_of_all_kinds() {
  expect_attention<AttentionRows::softmax, T>(false, 17, 3, 5);
  expect_attention<AttentionRows::softmax, T>(true, 40, 2, 9);
  expect_attention<AttentionRows::relu, T>(true, 19, 2, 8);
  expect_attention<AttentionRows::softmax, T>(false, 1, 1, 1);
}

KB_FEATURE(attention_of_any_type) { KB_FOR_EACH_TYPE(attention_of_all_kinds); }

// Times this, values have bits that TF32 has not.
constexpr float third = 1 / 3.f;

// One tile and several of queries, keys and elements, with and without a rest.
KB_FEATURE(attention_in_tiles) {
  expect_attention<AttentionRows::softmax, float>(false, 64, 1, 32, third);
  expect_attention<AttentionRows::softmax, float>(true, 130, 2, 36, third);
  expect_attention<AttentionRows::relu, float>(true, 65, 1, 64, third, 1e-4);
  expect_attention<AttentionRows::softmax, float>(true, 66, 1, 96, third);
  expect_attention<AttentionRows::softmax, float>(true, 67, 1, 128, third);
  expect_attention<AttentionRows::softmax, float>(false, 70, 2, 150, third);
  expect_attention<AttentionRows::softmax, __nv_bfloat16>(false, 80, 2, 100);
}

template <class T>
void attention_on_tensor_cores() {
  using kb::Arithmetic;
  using Narrow = InTiles<kb::AttentionTile<32, 64, 4>, Arithmetic::tf32x3>;
  constexpr auto rows = AttentionRows::softmax;
  using Wide = InTiles<kb::AttentionTile<64, 16, 3>, Arithmetic::tf32x3>;
  const float factor = sizeof(T) == 4 ? third : 1;
  expect_attention<rows, T, Narrow>(true, 70, 2, 40, factor);
  expect_attention<rows, T, Wide>(false, 65, 1, 60, factor);
  // One product of values that TF32 does not change, and weights that it does.
  using Rounded = InTiles<kb::AttentionTile<32, 64, 4>, Arithmetic::tf32>;
  expect_attention<rows, T, Rounded>(true, 70, 1, 32, 1, sizeof(T) == 4 ? 2e-3 : 4 * unit<T>);
}

KB_FEATURE(attention_on_tensor_cores) { KB_FOR_EACH_TYPE(attention_on_tensor_cores); }

KB_FEATURE(attention_of_scores_far_apart) {
  // Scores reach 180: exp() makes a relative error of each weight out of their absolute ones.
  expect_attention<AttentionRows::softmax, float>(false, 33, 2, 8, 4, 2e-4);
}

void expect_attention_of_few(int64_t size, float factor) {
  constexpr int64_t sequences = 3, tokens = 5, heads = 2;
  const int64_t width = heads * size;
  auto values = signed_values<float>(sequences * tokens * 3 * width, 1);
  for (float& v : values) v *= factor;
  Buffer<float> qkv(values), out(static_cast<size_t>(sequences * tokens * width), 0.f);
  kb::launch_attention_of_few<float>(nullptr, sequences, tokens, heads, size, qkv, out);
  KB_LAUNCHED();
  const auto got = out.read();
  for (int64_t n = 0; n < sequences; ++n) {
    const auto first = values.begin() + n * tokens * 3 * width;
    const std::vector<float> own(first, first + tokens * 3 * width);
    const auto want = expected(AttentionRows::softmax, false, tokens, heads, size, own);
    for (int64_t i = 0; i < tokens * width; ++i) {
      KB_EXPECT(near(got[n * tokens * width + i], want[i]));
    }
  }
}

KB_FEATURE(attention_of_few_tokens) { expect_attention_of_few(37, 1); }

// One key has all of the weight, by scores of 1e12 that are rounded to 1e5.
constexpr float huge = 1 << 20;

KB_FEATURE(attention_of_few_tokens_with_huge_scores) { expect_attention_of_few(37, huge); }

template <class Sees>
void expect_attention_of_samples(Sees sees, bool causal, int64_t window, int64_t tokens,
                                 int64_t heads, int64_t size, float factor = 0, float scale = 1) {
  constexpr int64_t samples = 2;
  const int64_t width = heads * size;
  auto values = signed_values<float>(samples * tokens * 3 * width, 1);
  for (float& v : values) v *= scale;
  Buffer<float> qkv(values), out(static_cast<size_t>(samples * tokens * width), 0.f);
  const float* const q = qkv;
  float* const y = out;
  const kb::AttentionShape shape = {heads, tokens, tokens, size, 3 * width, width, factor};
  kb::launch_attention(nullptr, samples, shape, sees, q, q + width, q + 2 * width, y);
  KB_LAUNCHED();
  const auto got = out.read();
  for (int64_t n = 0; n < samples; ++n) {
    const auto first = values.begin() + n * tokens * 3 * width;
    const std::vector<float> own(first, first + tokens * 3 * width);
    const auto want =
        expected(AttentionRows::softmax, causal, tokens, heads, size, own, window, factor);
    for (int64_t i = 0; i < tokens * width; ++i) {
      KB_EXPECT(near(got[n * tokens * width + i], want[i], 8 * unit<float>));
    }
  }
}

KB_FEATURE(attention_of_short_samples) {
  expect_attention_of_samples(kb::SeesAll{}, false, 0, 1, 1, 1);
  expect_attention_of_samples(kb::SeesAll{}, false, 0, 7, 2, 33);
  expect_attention_of_samples(kb::SeesEarlier{}, true, 0, 33, 3, 8);
  expect_attention_of_samples(kb::SeesEarlier{5}, true, 5, 64, 1, 12, 0.25f);
  expect_attention_of_samples(kb::SeesAll{}, false, 0, 7, 2, 33, 0, huge);
  // The first queries see few keys: of some the greatest score is below -1e11.
  expect_attention_of_samples(kb::SeesEarlier{}, true, 0, 33, 3, 8, 0, huge);
}

KB_FEATURE(attention_of_long_samples) {
  expect_attention_of_samples(kb::SeesAll{}, false, 0, 65, 2, 8);
  expect_attention_of_samples(kb::SeesEarlier{9}, true, 9, 70, 2, 4, 1.f);
}

}  // namespace
