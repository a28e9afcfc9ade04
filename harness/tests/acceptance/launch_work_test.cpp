// What launch() owes of small references, against numbers worked out by hand.
#include "judge/acceptance/launch_work.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace kb {
namespace {

using at::Tensor;

Tensor filled(at::IntArrayRef shape) { return at::ones(shape); }

/// Of a reference that takes one input and some weights.
template <class Reference>
LaunchWork work(const Tensor& x, const std::vector<Tensor>& weights, Reference reference) {
  return watch_launch_work({x}, weights, [&] { return std::vector<Tensor>{reference()}; });
}

constexpr double n = 16, m = 24, b = 8;  // features before and behind, samples
const Tensor x = filled({8, 16});
const Tensor w = filled({24, 16}), bias = filled({24});

TEST(LaunchWork, AProductThatANonLinearOperatorFollowsIsOwed) {
  const LaunchWork found = work(x, {w, bias}, [] { return at::relu(at::linear(x, w, bias)); });
  EXPECT_EQ(found.counted.flops, 2 * b * n * m);
  EXPECT_EQ(found.sure.flops, 2 * b * n * m);
  EXPECT_EQ(found.sure.weight_bytes, 4 * (n * m + m));
  EXPECT_EQ(found.unfolded_weight_bytes, found.sure.weight_bytes);
  EXPECT_EQ(found.flops_of_weights, 0);
}

TEST(LaunchWork, AProductOfTwoWeightsIsNotOwed) {
  const Tensor v = filled({16, 16});
  const LaunchWork found =
      work(x, {w, v}, [&] { return at::relu(at::matmul(x, at::mm(w, v).t())); });
  EXPECT_EQ(found.flops_of_weights, 2 * m * n * n);
  EXPECT_EQ(found.counted.flops, 2 * m * n * n + 2 * b * n * m);
  EXPECT_EQ(found.sure.flops, 2 * b * n * m);
  EXPECT_EQ(found.sure.weight_bytes, 4 * n * m) << "of what the two are multiplied to";
}

// level2/018: the columns of the weight may be summed up before there is an input.
TEST(LaunchWork, WhatIsSummedUpBehindAProductIsFoldedIntoItsWeight) {
  const LaunchWork found = work(x, {w, bias}, [] {
    Tensor y = at::sum(at::linear(x, w, bias), 1, /*keepdim=*/true);
    y = std::get<0>(at::max(y, 1, /*keepdim=*/true));
    return at::logsumexp(at::mean(y, 1, /*keepdim=*/true), 1, /*keepdim=*/true);
  });
  EXPECT_EQ(found.sure.flops, 2 * b * n);
  EXPECT_EQ(found.sure.weight_bytes, 4 * (n + 1));
  EXPECT_EQ(found.unfolded_weight_bytes, 4 * (n + m));
  EXPECT_EQ(found.flops_of_weights, 0) << "the product itself has an input";
}

// level2/098: means of windows.
TEST(LaunchWork, WhatIsPooledBehindAProductIsFoldedIntoItsWeight) {
  const LaunchWork found = work(x, {w}, [] {
    return at::gelu(at::avg_pool1d(at::matmul(x, w.t()).unsqueeze(1), 4).squeeze(1));
  });
  EXPECT_EQ(found.sure.flops, 2 * b * n * m / 4);
  EXPECT_EQ(found.unfolded_weight_bytes, 4 * n * m / 4);
}

// The mean over rows takes fewer products, but each weight.
TEST(LaunchWork, AMeanOverRowsFoldsNoWeight) {
  const LaunchWork found = work(x, {w}, [] { return at::mean(at::matmul(x, w.t()), 0); });
  EXPECT_EQ(found.sure.flops, 2 * n * m);
  EXPECT_EQ(found.unfolded_weight_bytes, 4 * n * m);
}

TEST(LaunchWork, WhatANonLinearOperatorNeedsInFullIsOwedInFull) {
  const LaunchWork largest = work(x, {w}, [] { return at::amax(at::matmul(x, w.t()), 1); });
  EXPECT_EQ(largest.sure.flops, 2 * b * n * m);
  const LaunchWork in_place = work(x, {w}, [] {
    Tensor y = at::matmul(x, w.t());
    return at::sum(y.relu_(), 1);
  });
  EXPECT_EQ(in_place.sure.flops, 2 * b * n * m);
}

// One reader that needs everything is enough, whatever others need.
TEST(LaunchWork, TheReaderThatNeedsMostDecides) {
  const LaunchWork found = work(x, {w}, [] {
    const Tensor y = at::matmul(x, w.t());
    return y - at::mean(y, 1, /*keepdim=*/true);
  });
  EXPECT_EQ(found.sure.flops, 2 * b * n * m);
}

TEST(LaunchWork, AChainOfProductsMayBeOne) {
  const Tensor first = filled({16, 16}), second = filled({16, 16});
  const LaunchWork chain = work(
      x, {first, second}, [&] { return at::relu(at::matmul(at::matmul(x, first) * 2, second)); });
  EXPECT_EQ(chain.counted.flops, 2 * 2 * b * n * n);
  EXPECT_EQ(chain.sure.flops, 2 * b * n * n);
  EXPECT_EQ(chain.sure.weight_bytes, 4 * n * n);
  const LaunchWork apart = work(x, {first, second}, [&] {
    return at::relu(at::matmul(at::relu(at::matmul(x, first)), second));
  });
  EXPECT_EQ(apart.sure.flops, 2 * 2 * b * n * n);
  const LaunchWork sum = work(
      x, {first, second}, [&] { return at::relu(at::matmul(x, first) + at::matmul(x, second)); });
  EXPECT_EQ(sum.sure.flops, 2 * b * n * n) << "the weights may be added";
}

TEST(LaunchWork, AChainThroughFewValuesStaysTwo) {
  const Tensor down = filled({16, 2}), up = filled({2, 16});
  const LaunchWork found =
      work(x, {down, up}, [&] { return at::relu(at::matmul(at::matmul(x, down), up)); });
  EXPECT_EQ(found.sure.flops, 2 * b * n * 2 * 2);
  EXPECT_EQ(found.sure.weight_bytes, 4 * n * 2 * 2);
}

TEST(LaunchWork, ValuesThatComeFromFewerAreNotMultipliedOneByOne) {
  const Tensor few = filled({8, 1});
  const LaunchWork found = work(few, {w}, [&] {
    return at::relu(at::matmul(few.expand({8, 16}).contiguous(), w.t()));
  });
  EXPECT_EQ(found.sure.flops, 2 * b * m);
}

// A weight of few parameters, as a diagonal matrix, leaves as few multiplications.
TEST(LaunchWork, AWeightIsNoMoreThanWhatItIsMadeOf) {
  const Tensor d = filled({16});
  const LaunchWork found = work(x, {d}, [&] { return at::relu(at::matmul(x, at::diag_embed(d))); });
  EXPECT_EQ(found.sure.flops, 2 * b * n);
  EXPECT_EQ(found.sure.weight_bytes, 4 * n);
}

TEST(LaunchWork, ConvolutionsUpToADimensionThatIsSummedUp) {
  const Tensor image = filled({2, 4, 9, 9}), kernel = filled({6, 4, 3, 3});
  const double flops = 2.0 * 2 * 49 * 6 * 4 * 9;
  const auto owed = [&](const std::function<Tensor(const Tensor&)>& behind) {
    return work(image, {kernel}, [&] { return behind(at::conv2d(image, kernel)); }).sure.flops;
  };
  EXPECT_EQ(owed([](const Tensor& y) { return at::relu(y); }), flops);
  EXPECT_NEAR(owed([](const Tensor& y) { return at::slice(y, 3, 0, 6); }), flops * 6 / 7, 1e-6);
  EXPECT_NEAR(owed([](const Tensor& y) { return at::mean(y, {2, 3}); }), flops / 49 / 9, 1e-6);
  EXPECT_EQ(
      owed([](const Tensor& y) {
        const Tensor moment = filled({6});
        return at::relu(at::batch_norm(y, moment, moment, moment, moment, false, 0.1, 1e-5, false));
      }),
      flops);
}

TEST(LaunchWork, ProjectionsOfAttentionAreOwedApart) {
  const int64_t features = 32, heads = 4, steps = 8;
  const Tensor in = filled({1, 8, 32});
  std::vector<Tensor> weights;
  for (int i = 0; i < 3; ++i) weights.push_back(filled({32, 32}));
  const auto reference = [&](const Tensor& queries) {
    const auto split = [&](const Tensor& t) {
      return t.view({1, -1, heads, features / heads}).transpose(1, 2);
    };
    return at::scaled_dot_product_attention(split(queries), split(at::matmul(in, weights[1])),
                                            split(at::matmul(in, weights[2])));
  };
  const double projection = 2.0 * steps * features * features,
               pairs = 4.0 * steps * steps * features;
  EXPECT_EQ(work(in, weights, [&] { return reference(at::matmul(in, weights[0])); }).sure.flops,
            3 * projection + pairs);
  // Queries that are weights may be multiplied with the keys' weights.
  const LaunchWork learned = work(in, weights, [&] { return reference(weights[0]); });
  EXPECT_LT(learned.sure.flops, learned.counted.flops);
}

TEST(LaunchWork, EachStepOfARecurrentLayerIsOwed) {
  const Tensor in = filled({3, 2, 16}), h = at::zeros({1, 2, 16});
  const std::vector<Tensor> weights{filled({64, 16}), filled({64, 16}), filled({64}), filled({64})};
  const LaunchWork found = watch_launch_work({in, h}, weights, [&] {
    const auto [y, hidden, cell] = at::lstm(in, {h, h}, weights, true, 1, 0, false, false, false);
    return std::vector<Tensor>{y.select(0, 2)};
  });
  EXPECT_EQ(found.sure.flops, 2.0 * 3 * 2 * 64 * 32);
  EXPECT_EQ(found.sure.weight_bytes, 4.0 * 64 * (16 + 16 + 1 + 1));
}

TEST(LaunchWork, OfATableOnlyRowsThatAreLookedUpAreOwed) {
  const Tensor table = filled({1000, 16}), places = at::zeros({8}, at::kLong);
  const LaunchWork found = work(places, {table}, [&] { return at::embedding(table, places); });
  EXPECT_EQ(found.sure.weight_bytes, 4 * 8 * 16);
  EXPECT_EQ(found.unfolded_weight_bytes, 4 * 1000 * 16) << "prepare() does not look up";
}

// level3/048: what steps do to one another follows from weights, and is most of what is computed.
TEST(LaunchWork, MostOfAStateSpaceLayerDependsOnWeightsAlone) {
  const int64_t steps = 64, states = 2, features = 4;
  const Tensor in = filled({steps, features}), a = filled({steps}), c = filled({steps, states}),
               d = filled({steps, states});
  const LaunchWork found = work(in, {a, c, d}, [&] {
    const Tensor sums = at::cumsum(a, 0);
    const Tensor decays = at::exp(sums.unsqueeze(1) - sums.unsqueeze(0)).tril();
    return at::matmul(at::matmul(c, d.t()) * decays, in);
  });
  const double of_matrix = 1 - static_cast<double>(states) / steps;  // made of c, d and a
  EXPECT_EQ(found.flops_of_weights, 2 * steps * steps * (states + features * of_matrix));
  EXPECT_EQ(found.counted.flops, 2 * steps * steps * (states + features));
  EXPECT_EQ(found.sure.flops, 2 * steps * states * features) << "as much as the weights are";
  EXPECT_GT(found.operator_bytes_of_weights, 0.5 * found.operator_bytes);
}

TEST(LaunchWork, WhatNobodyNeedsCountsNowhere) {
  const LaunchWork found = work(x, {w}, [] {
    at::matmul(w, w.t());
    return at::relu(x);
  });
  EXPECT_EQ(found.counted.flops, 0);
  EXPECT_EQ(found.operator_bytes_of_weights, 0);
  EXPECT_EQ(found.operator_bytes, 2 * 4 * b * n);
  EXPECT_EQ(found.sure.weight_bytes, 0);
}

}  // namespace
}  // namespace kb
