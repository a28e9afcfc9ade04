// What is seen of a reference, and that nothing is counted twice.
#include "judge/acceptance/operators.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace kb {
namespace {

using at::Tensor;

Tensor filled(at::IntArrayRef shape) { return at::ones(shape); }

double flops(const std::function<void()>& run) { return watch_operators(run).flops; }

TEST(Operators, ProductsOfAllKinds) {
  const Tensor a = filled({3, 4}), b = filled({4, 5}), v = filled({4}), batch = filled({2, 3, 4});
  EXPECT_EQ(flops([&] { at::matmul(a, b); }), 2 * 3 * 4 * 5);
  EXPECT_EQ(flops([&] { at::matmul(a, v); }), 2 * 3 * 4);
  EXPECT_EQ(flops([&] { at::matmul(v, v); }), 2 * 4);
  EXPECT_EQ(flops([&] { at::matmul(batch, b); }), 2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(flops([&] { at::bmm(batch, batch.transpose(1, 2)); }), 2 * 2 * 3 * 4 * 3);
  EXPECT_EQ(flops([&] { at::linear(a, b.t(), filled({5})); }), 2 * 3 * 4 * 5);
  EXPECT_EQ(flops([&] { at::einsum("ij,jk->ik", {a, b}); }), 2 * 3 * 4 * 5);
  EXPECT_EQ(flops([&] { at::relu(a * 2); }), 0);
}

TEST(Operators, Convolutions) {
  const Tensor x = filled({2, 4, 9, 9});
  EXPECT_EQ(flops([&] { at::conv2d(x, filled({6, 4, 3, 3})); }), 2.0 * 2 * 49 * 6 * 4 * 9);
  EXPECT_EQ(flops([&] {
              at::conv2d(x, filled({4, 1, 3, 3}), {}, at::IntArrayRef{1}, at::IntArrayRef{0},
                         at::IntArrayRef{1}, 4);
            }),
            2.0 * 2 * 49 * 4 * 9);
  EXPECT_EQ(flops([&] {
              at::conv_transpose2d(x, filled({4, 6, 3, 3}), {}, 2);
            }),
            2.0 * 2 * 81 * 4 * 6 * 9);
}

// On a CPU these are made of matrix products, on a GPU they are one operator of cuDNN.
TEST(Operators, RecurrentLayersCountEachWeightAtEachStep) {
  const int64_t in = 5, hidden = 7, steps = 3, batch = 2;
  const Tensor x = filled({steps, batch, in}), h = filled({1, batch, hidden});
  const auto weights = [&](int64_t gates) {
    return std::vector<Tensor>{filled({gates * hidden, in}), filled({gates * hidden, hidden}),
                               filled({gates * hidden}), filled({gates * hidden})};
  };
  const double per_gate = 2.0 * steps * batch * hidden * (in + hidden);
  const Operators lstm = watch_operators([&] {
    at::lstm(x, {h, h}, weights(4), true, 1, 0, false, false, false);
  });
  EXPECT_EQ(lstm.flops, 4 * per_gate);
  EXPECT_TRUE(lstm.recurrent);
  EXPECT_FALSE(lstm.matmul);
  EXPECT_EQ(flops([&] { at::gru(x, h, weights(3), true, 1, 0, false, false, false); }),
            3 * per_gate);
  EXPECT_EQ(flops([&] { at::rnn_tanh(x, h, weights(1), true, 1, 0, false, false, false); }),
            per_gate);
}

TEST(Operators, AttentionCountsWhatItsMaskLeaves) {
  const Tensor q = filled({2, 3, 4, 8}), k = filled({2, 3, 6, 8}), v = filled({2, 3, 6, 10});
  const double per_pair = 2 * (8 + 10), heads = 2 * 3;
  EXPECT_EQ(flops([&] { at::scaled_dot_product_attention(q, k, v); }), per_pair * heads * 4 * 6);
  EXPECT_EQ(flops([&] { at::scaled_dot_product_attention(q, k, v, {}, 0, true); }),
            per_pair * heads * (1 + 2 + 3 + 4));
  Tensor mask = at::ones({4, 6}, at::kBool);
  mask.narrow(1, 0, 3).fill_(false);
  EXPECT_EQ(flops([&] { at::scaled_dot_product_attention(q, k, v, mask); }),
            per_pair * heads * 4 * 3);
  const Tensor additive = at::zeros({4, 6}).masked_fill(mask.logical_not(), -INFINITY);
  EXPECT_EQ(flops([&] { at::scaled_dot_product_attention(q, k, v, additive); }),
            per_pair * heads * 4 * 3);
}

// Upstream's modules compute what nobody needs; it counts for no bound.
TEST(Operators, WhatNoOutputDependsOnIsNotNeeded) {
  const Tensor a = filled({3, 4}), b = filled({4, 5}), x = filled({2, 4, 9, 9});
  const auto run = [&] {
    at::conv2d(x, filled({6, 4, 3, 3}));
    const Tensor weights = at::softmax(a, 1);
    at::matmul(weights, b).mean();
    const Tensor kept = at::zeros({3, 4});
    kept.copy_(weights);
    return std::vector<Tensor>{at::relu(at::matmul(kept.view({12, 1}), filled({1, 2})))};
  };
  const Operators needed = watch_needed_operators(run);
  EXPECT_EQ(needed.flops, 2 * 12 * 2);
  EXPECT_TRUE(needed.matmul);
  EXPECT_FALSE(needed.convolution);
  EXPECT_EQ(flops(run), needed.flops + 2 * 3 * 4 * 5 + 2.0 * 2 * 49 * 6 * 4 * 9);
}

// On a CPU it is no operator's result that max_pool1d() hands on, so that nothing before it seemed
// to be needed: level2/055 had no arithmetic.
TEST(Operators, WhatIsPooledByItsLargestIsNeeded) {
  const Tensor a = filled({3, 4}), b = filled({4, 6});
  const Operators needed = watch_needed_operators(
      [&] { return std::vector<Tensor>{at::max_pool1d(at::matmul(a, b).unsqueeze(1), 2).sum()}; });
  EXPECT_EQ(needed.flops, 2 * 3 * 4 * 6);
}

TEST(Operators, AReferenceThatThrowsLeavesNoTracer) {
  const Tensor x = filled({1, 1, 4, 4});
  EXPECT_ANY_THROW(watch_operators([&] { at::conv2d(x, filled({1, 9, 3, 3})); }));
  EXPECT_EQ(flops([&] { at::matmul(filled({2, 2}), filled({2, 2})); }), 16);
  EXPECT_FALSE(watch_operators([] {}).any());
}

}  // namespace
}  // namespace kb
