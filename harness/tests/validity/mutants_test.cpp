// Every mutator on tensors made by hand.
#include "lab/validity/mutants.h"

#include <gtest/gtest.h>

#include <map>

#include "judge/acceptance/rounding.h"

namespace kb {
namespace {

using at::Tensor;

Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

std::map<std::string, Tensor> by_name(const std::vector<OutputMutant>& mutants) {
  std::map<std::string, Tensor> found;
  for (const OutputMutant& m : mutants) found[m.name] = m.value;
  return found;
}

std::map<std::string, ArgumentMutant> by_name(std::vector<ArgumentMutant> mutants) {
  std::map<std::string, ArgumentMutant> found;
  for (ArgumentMutant& m : mutants) found[m.name] = std::move(m);
  return found;
}

void expect_values(const Tensor& t, const std::vector<double>& values) {
  EXPECT_TRUE(at::equal(t.to(at::kDouble).reshape(-1), doubles(values))) << t;
}

TEST(OutputMutants, SpoilAMatrix) {
  const Tensor right = doubles({1, 2, 3, 4, 5, 0}).view({3, 2});
  const Tensor other = right * 10;
  const TensorSpec spec = output<float>("y", {3, 2});
  const auto m = by_name(output_mutants(spec, right, other));
  EXPECT_EQ(m.size(), 9u);
  expect_values(m.at("zeros"), {0, 0, 0, 0, 0, 0});
  expect_values(m.at("ones"), {1, 1, 1, 1, 1, 1});
  expect_values(m.at("mean"), {2.5, 2.5, 2.5, 2.5, 2.5, 2.5});
  expect_values(m.at("other_call"), {10, 20, 30, 40, 50, 0});
  expect_values(m.at("first_percent"), {1, 0, 0, 0, 0, 0});
  expect_values(m.at("last_percent_zero"), {1, 2, 3, 4, 0, 0});
  expect_values(m.at("rows_shifted"), {5, 0, 1, 2, 3, 4});
  expect_values(m.at("columns_shifted"), {2, 1, 4, 3, 0, 5});
  expect_values(m.at("batch_mean"), {3, 2, 3, 2, 3, 2});
  for (const auto& [name, value] : m) {
    EXPECT_EQ(value.scalar_type(), at::kFloat) << name;
    EXPECT_EQ(value.sizes(), right.sizes()) << name;
  }
}

TEST(OutputMutants, KeepAHundredthOfManyElements) {
  const Tensor right = at::ones({1000}, at::kDouble);
  const auto m = by_name(output_mutants(output<float>("y", {1000}), right, right));
  EXPECT_EQ(m.at("first_percent").sum().item<double>(), 10);
  EXPECT_EQ(m.at("last_percent_zero").sum().item<double>(), 990);
}

TEST(OutputMutants, OfAScalarAreFew) {
  const Tensor right = at::scalar_tensor(3.0, at::kDouble);
  const auto m = by_name(output_mutants(output<float>("y", {}), right, right + 1));
  EXPECT_EQ(m.size(), 3u);
  EXPECT_TRUE(m.contains("zeros") && m.contains("ones") && m.contains("other_call"));
}

TEST(OutputMutants, LeaveNothingToCutFromZeros) {
  const Tensor right = at::zeros({10}, at::kDouble);
  const auto m = by_name(output_mutants(output<float>("y", {10}), right, right));
  EXPECT_FALSE(m.contains("last_percent_zero"));
  EXPECT_TRUE(m.contains("zeros"));
}

TEST(OutputMutants, RoundToTheOutputsType) {
  const Tensor right = at::tensor(std::vector<int64_t>{1, 2, 5, 8}, at::kLong);
  const auto m = by_name(output_mutants(output<int64_t>("i", {4}), right, right));
  EXPECT_EQ(m.at("mean").scalar_type(), at::kLong);
  expect_values(m.at("mean"), {4, 4, 4, 4});
  const Tensor flags = at::tensor(std::vector<int64_t>{1, 1, 1, 0}, at::kLong).to(at::kBool);
  const auto b = by_name(output_mutants(output<bool>("b", {4}), flags, flags));
  expect_values(b.at("mean"), {1, 1, 1, 1});
  EXPECT_EQ(b.at("zeros").scalar_type(), at::kBool);
}

TEST(OutputMutants, TakeMeansOverWhatIsFinite) {
  const Tensor right = doubles({1, -INFINITY, 2, 0});
  const auto m = by_name(output_mutants(output<float>("y", {4}), right, right));
  expect_values(m.at("mean"), {0.75, 0.75, 0.75, 0.75});
}

TEST(IdentityMutants, TakeWhatHasAsManyElements) {
  const std::vector<TensorSpec> specs{input<float>("x", {2, 3}), input<float>("z", {4}),
                                      weight<float>("w", {6})};
  const std::vector<Tensor> given{at::arange(6, at::kFloat).view({2, 3}), at::ones({4}),
                                  at::ones({6})};
  const auto m = by_name(identity_mutants(output<float>("y", {3, 2}), specs, given));
  EXPECT_EQ(m.size(), 2u);
  expect_values(m.at("identity:x"), {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(m.at("identity:x").sizes(), (std::vector<int64_t>{3, 2}));
}

TEST(ArgumentMutants, IgnoreReorderAndSampleInputs) {
  const std::vector<TensorSpec> specs{input<float>("x", {2, 16}), input<bool>("mask", {3})};
  const Tensor x = at::arange(1, 33, at::kFloat).view({2, 16});
  const Tensor mask = at::tensor(std::vector<int64_t>{1, 0, 0}, at::kLong).to(at::kBool);
  const auto m = by_name(argument_mutants(specs, {x, mask}, {x, mask}));
  EXPECT_FALSE(m.at("input_as_zeros:x").given[0].any().item<bool>());
  EXPECT_TRUE(at::equal(m.at("input_as_zeros:x").given[1], mask));
  EXPECT_TRUE(m.at("input_as_ones:mask").given[1].all().item<bool>());
  expect_values(m.at("input_shifted:mask").given[1], {0, 1, 0});
  EXPECT_EQ(m.at("input_shifted:x").given[0][0][0].item<float>(), 32);
  // 16 elements in a row: stretches of 4.
  const Tensor held = m.at("input_held_along_1:x").given[0];
  expect_values(held[0].narrow(0, 0, 8), {1, 1, 1, 1, 5, 5, 5, 5});
  const Tensor sampled = m.at("input_sampled_along_1:x").given[0];
  expect_values(sampled[0].narrow(0, 0, 8), {4, 0, 0, 0, 20, 0, 0, 0});
  EXPECT_FALSE(m.contains("input_held_along_0:x"));  // 2 rows are too few to sample
  EXPECT_FALSE(m.contains("other_weights"));
}

TEST(ArgumentMutants, ReplaceWeights) {
  const std::vector<TensorSpec> specs{input<float>("x", {4}), weight<float>("w", {3, 3}),
                                      weight<float>("b", {3, 1, 1})};
  const std::vector<Tensor> given{at::ones({4}), at::full({3, 3}, 2.0), at::full({3, 1, 1}, 3.0)};
  const std::vector<Tensor> other{at::ones({4}), at::full({3, 3}, 5.0), at::full({3, 1, 1}, 7.0)};
  const auto m = by_name(argument_mutants(specs, given, other));
  EXPECT_TRUE(m.at("other_weight:w").given[1].eq(5).all().item<bool>());
  EXPECT_TRUE(m.at("other_weight:w").given[2].eq(3).all().item<bool>());
  EXPECT_TRUE(m.at("weight_as_zeros:b").given[2].eq(0).all().item<bool>());
  EXPECT_TRUE(m.at("weight_as_ones:b").given[2].eq(1).all().item<bool>());
  EXPECT_FALSE(m.contains("other_weight:b"));
  EXPECT_TRUE(m.at("other_weights").given[1].eq(5).all().item<bool>());
  EXPECT_TRUE(m.at("other_weights").given[2].eq(7).all().item<bool>());
  EXPECT_EQ(m.at("tf32_operands").aspect, Aspect::precision);
  EXPECT_EQ(m.at("other_weights").aspect, Aspect::value);
}

TEST(ArgumentMutants, RoundOnlyFloats) {
  const std::vector<TensorSpec> specs{input<int64_t>("i", {3})};
  const Tensor i = at::arange(3, at::kLong);
  const auto m = by_name(argument_mutants(specs, {i}, {i}));
  EXPECT_FALSE(m.contains("tf32_operands"));
  EXPECT_TRUE(m.contains("input_shifted:i"));
}

TEST(Rounding, Tf32KeepsTenBitsToNearestEven) {
  const double step = 0x1p-10;
  const Tensor t = doubles({1, 1 + step, 1 + step / 2, 1 + 1.5 * step, 1 + 0.51 * step,
                            -1 - 0.75 * step, 4097, 8191, 0, 3e38})
                       .to(at::kFloat);
  const Tensor rounded = rounded_to_tf32(t);
  expect_values(rounded.narrow(0, 0, 9),
                {1, 1 + step, 1, 1 + 2 * step, 1 + step, -1 - step, 4096, 8192, 0});
  EXPECT_TRUE(rounded[9].isfinite().item<bool>());
}

TEST(Rounding, KeepsSpecialValues) {
  const Tensor t = doubles({INFINITY, -INFINITY, NAN}).to(at::kFloat);
  for (const Tensor& rounded : {rounded_to_tf32(t), rounded_to_bf16(t)}) {
    EXPECT_TRUE(at::equal(rounded.narrow(0, 0, 2), t.narrow(0, 0, 2)));
    EXPECT_TRUE(rounded[2].isnan().item<bool>());
  }
}

TEST(Rounding, Bf16KeepsSevenBits) {
  expect_values(rounded_to_bf16(doubles({1 + 0x1p-7, 1 + 0x1p-9, 257}).to(at::kFloat)),
                {1 + 0x1p-7, 1, 256});
}

}  // namespace
}  // namespace kb
