// Families of inputs, and what a LibTorch that fails means for them.
#include "judge/acceptance/families.h"

#include <gtest/gtest.h>

#include <cmath>

#include "judge/acceptance/expectation.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

at::Tensor drawn(const std::string& name, const Shape& shape) {
  at::Generator rng = make_rng(at::kCPU, 7);
  for (const Family& family : families()) {
    if (family.name != name) continue;
    at::Tensor x = at::full(shape, NAN);
    draw_values(x, family.fill, rng);
    return x;
  }
  ADD_FAILURE() << "there is no family " << name;
  return at::zeros(shape);
}

int64_t count(const at::Tensor& mask) { return mask.sum().item<int64_t>(); }

TEST(Families, AreFiniteInEveryShape) {
  for (const Family& family : families()) {
    if (family.fill == nullptr) continue;
    for (const Shape& shape :
         {Shape{}, Shape{1}, Shape{5}, Shape{0}, Shape{3, 0}, Shape{4, 3, 2, 2}}) {
      EXPECT_TRUE(at::isfinite(drawn(family.name, shape)).all().item<bool>()) << family.name;
    }
  }
}

TEST(Families, HoldWhatTheirNamesSay) {
  const Shape shape = {64, 128};
  const at::Tensor wide = drawn("wide", shape).abs();
  EXPECT_LT(wide.min().item<float>(), 0x1p-18);
  EXPECT_GT(wide.max().item<float>(), 0x1p18);
  EXPECT_LT(drawn("negative", shape).max().item<float>(), 0);
  EXPECT_LT(drawn("far_negative", shape).max().item<float>(), -9.9e3);
  EXPECT_GT(drawn("positive", shape).min().item<float>(), 0);
  EXPECT_GT(drawn("large_deviation", shape).max().item<float>(), 88);
  const at::Tensor zeros = drawn("zeros", shape);
  EXPECT_GT(count(zeros.eq(0).logical_and(zeros.signbit())), 1000) << "zeros below zero";
  EXPECT_GT(count(zeros.eq(0).logical_and(zeros.signbit().logical_not())), 1000);
  EXPECT_EQ(count(drawn("ties", shape).abs().gt(2)), 0);
  const at::Tensor largest = std::get<0>(drawn("dominated", shape).abs().max(1));
  EXPECT_GT(count(largest.gt(100)), 55) << "of 64 rows";
}

TEST(Families, AtLargeSizesNoneNeedsSumsWithoutRounding) {
  std::vector<std::string> names;
  for (const Family& family : for_large_sizes(families())) names.push_back(family.name);
  EXPECT_EQ(names, (std::vector<std::string>{"upstream", "wide", "far_negative", "large_deviation",
                                             "zeros", "dominated"}));
}

TEST(Families, HalfOfTheGroupsAreNearlyConstant) {
  const Shape shape = {64, 64, 32};
  const auto nearly = [&](const char* name, std::vector<int64_t> over) {
    return count(drawn(name, shape).to(at::kDouble).var(over, /*unbiased=*/false).lt(2e-3));
  };
  const auto zero = [&](const char* name, std::vector<int64_t> over) {
    return count(drawn(name, shape).to(at::kDouble).var(over, /*unbiased=*/false).lt(1e-14));
  };
  EXPECT_NEAR(nearly("nearly_constant_samples", {1, 2}), 32, 16);
  EXPECT_NEAR(nearly("nearly_constant_channels", {0, 2}), 32, 16);
  EXPECT_NEAR(nearly("nearly_constant_rows", {2}), 2048, 300);
  EXPECT_NEAR(zero("nearly_constant_rows", {2}), 512, 150);
}

TEST(Families, AreForInputsOfRealNumbers) {
  EXPECT_TRUE(takes_families(input<float>("x", {2})));
  EXPECT_TRUE(takes_families(input<float>("x", {2}).with(normal())));
  EXPECT_FALSE(takes_families(input<float>("x", {2}).with(normal()).only()));
  EXPECT_FALSE(takes_families(input<int64_t>("x", {2}).with(integers(0, 2))));
  EXPECT_FALSE(takes_families(weight<float>("w", {2})));
}

bool says_something(const std::function<Tensor(const Tensor&)>& reference, const Tensor& x) {
  const Task task = small_task(
      {input<float>("x", x.sizes().vec()), output<float>("y", x.sizes().vec())},
      [=](const std::vector<Tensor>& given) { return std::vector<Tensor>{reference(given[0])}; });
  return Expectation(task, SizeBytes(sizeof(NoSizes)), {x}, 1).says_something();
}

TEST(Expectation, SaysNothingWhereTheLibraryDoesNotHold) {
  const Tensor x = at::arange(1, 9, at::kFloat);
  EXPECT_TRUE(says_something([](const Tensor& t) { return t.exp(); }, x));
  EXPECT_FALSE(says_something([](const Tensor& t) { return t.exp(); }, 100 * x)) << "overflow";
  EXPECT_FALSE(says_something([](const Tensor& t) { return t + 1e9 - 1e9; }, x)) << "cancellation";
}

// y = bound(x - offset): where x is near the offset, what is left of large numbers.
TEST(Expectation, AllowsWhatRoundingCostsWhereTheLibraryIsRightByChance) {
  const Task task = small_task({input<float>("x", {64}), output<float>("y", {64})},
                               [=](const std::vector<Tensor>& given) {
                                 return std::vector<Tensor>{at::clamp(given[0] * 3 - 300, -1, 1)};
                               });
  Tensor x = at::full({64}, 100.0), y = at::zeros({64});
  x[7] = 100.25;
  const auto compare = [&](int64_t element, double value) {
    Expectation right(task, SizeBytes(sizeof(NoSizes)), {x}, 1);
    y = right.torch(0).clone();
    y[element] = value;
    return right.compare(0, y);
  };
  EXPECT_FALSE(compare(7, 0.75 + 1e-5).worst);
  EXPECT_GT(compare(7, 0.75 + 1e-5).noisy_runs, 0) << "LibTorch has no error here";
  EXPECT_TRUE(compare(7, 0.77).worst);
  EXPECT_TRUE(compare(8, 0.25).worst);
  EXPECT_EQ(compare(8, 0.25).noisy_runs, 32);
}

TEST(Expectation, HoldsForAMillionTermsOneAfterTheOther) {
  const int64_t rows = 4, terms = int64_t{1} << 20;
  const Task task = small_task(
      {input<float>("a", {rows, terms}), input<float>("b", {terms}), output<float>("c", {rows})},
      [](const std::vector<Tensor>& given) { return std::vector<Tensor>{given[0].mv(given[1])}; });
  at::Generator rng = make_rng(at::kCPU, 5);
  for (const double mean : {0.0, 1.0}) {
    const Tensor a = at::empty({rows, terms}, at::kFloat).normal_(mean, 1, rng);
    const Tensor b = at::empty({terms}, at::kFloat).normal_(mean, 1, rng);
    Tensor got = at::zeros({rows});
    const float* right = b.const_data_ptr<float>();
    for (int64_t i = 0; i < rows; ++i) {
      const float* left = a[i].const_data_ptr<float>();
      float sum = 0;
      for (int64_t j = 0; j < terms; ++j) sum += left[j] * right[j];
      got[i] = sum;
    }
    Expectation expected(task, SizeBytes(sizeof(NoSizes)), {a, b}, 1);
    const Comparison c = expected.compare(0, got);
    EXPECT_FALSE(c.worst) << "mean " << mean << ": error " << c.error << ", allowed " << c.bound;
    EXPECT_TRUE(expected.compare(0, got * 1.01).worst);
  }
}

TEST(Expectation, SaysNothingWhereRoundingDecides) {
  // As a deep network with large weights: what comes out hardly depends on LibTorch's error.
  const auto reference = [](const std::vector<Tensor>& given) {
    return std::vector<Tensor>{at::sin(given[0] * 1e6)};
  };
  const Task task = small_task({input<float>("x", {64}), output<float>("y", {64})}, reference);
  Expectation right(task, SizeBytes(sizeof(NoSizes)), {at::linspace(1, 2, 64)}, 1);
  EXPECT_FALSE(right.compare(0, at::zeros({64})).worst);
  EXPECT_FALSE(right.says_something());
}

TEST(Expectation, HoldsForAnotherOrderOfSumsWhereFewElementsDecide) {
  // Nearly all sums are clamped; the few others are what is left of large terms.
  const auto reference = [](const std::vector<Tensor>& given) {
    return std::vector<Tensor>{at::clamp(given[0].sum(1), -1, 1)};
  };
  const Task task =
      small_task({input<float>("x", {8192, 16}), output<float>("y", {8192})}, reference);
  at::Generator rng = make_rng(at::kCPU, 5);
  int decided = 0;
  for (uint64_t round = 0; round < 300; ++round) {
    const Tensor x = at::empty({8192, 16}, at::kFloat).normal_(0, 1000, rng);
    Expectation right(task, SizeBytes(sizeof(NoSizes)), {x}, round);
    Tensor sum = at::zeros({8192});
    for (int64_t i = 0; i < 16; ++i) sum += x.select(1, i);
    const Comparison c = right.compare(0, at::clamp(sum, -1, 1));
    EXPECT_FALSE(c.worst) << "round " << round << ": error " << c.error << ", allowed " << c.bound;
    decided += c.error > 0;
  }
  EXPECT_GT(decided, 100) << "the orders of sums do not differ";
}

}  // namespace
}  // namespace kb
