// The acceptance rule on tensors made by hand: what passes, what fails, and which element is
// blamed.
#include "judge/acceptance/compare.h"
#include "judge/acceptance/spread.h"

#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kb {
namespace {

using at::Tensor;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double u = 0x1p-24;

Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }
Tensor floats(const std::vector<double>& values) { return doubles(values).to(at::kFloat); }
Tensor longs(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

template <class T = float>
TensorSpec output_like(const Tensor& t) {
  return output<T>("y", t.sizes().vec());
}

// As the judge compares, with a LibTorch that is exact up to rounding.
Comparison compare(const Tensor& got, const Tensor& oracle) {
  return Spread(output_like(oracle), oracle.to(at::kFloat), oracle).compare(got);
}

Tensor wave(int64_t elements) { return at::arange(elements, at::kDouble).sin(); }

TEST(Compare, AcceptsTheRoundedOracle) {
  const Tensor oracle = wave(10000).view({100, 100});
  const Comparison c = compare(oracle.to(at::kFloat), oracle);
  EXPECT_FALSE(c.worst);
  EXPECT_EQ(c.elements, 10000);
  EXPECT_LT(c.error, u);
  EXPECT_GT(c.error, 0);
  EXPECT_NEAR(c.bound, 4 * u, u) << "one rounding of the output, and LibTorch's";
}

TEST(Compare, RejectsOneElementOffInAMillion) {
  const Tensor oracle = wave(1000000).view({100, 100, 100});
  Tensor got = oracle.to(at::kFloat);
  got.view(-1)[123456] += 1e-4;
  const Comparison c = compare(got, oracle);
  ASSERT_TRUE(c.worst);
  EXPECT_LT(c.error, c.bound);  // the whole is close; this element alone is not
  EXPECT_EQ(c.worst->index, (std::vector<int64_t>{12, 34, 56}));
  EXPECT_EQ(c.worst->reason, "value");
  EXPECT_EQ(c.worst->all.count, 1);
  EXPECT_EQ(c.worst->all.where,
            "only index 12 of dimension 0 and only index 34 of dimension 1 and only index 56 of "
            "dimension 2");
  EXPECT_NEAR(c.worst->got - c.worst->expected, 1e-4, 1e-6);
  EXPECT_LT(c.worst->bound, 3e-6);
  EXPECT_NEAR(c.max_abs_error, 1e-4, 1e-6);
}

TEST(Compare, RejectsManySmallErrorsThatPassOneByOne) {
  const Tensor oracle = wave(10000);
  const Comparison c = compare((oracle * (1 + 7 * u)).to(at::kFloat), oracle);
  ASSERT_TRUE(c.worst);
  EXPECT_GT(c.error, c.bound);
  EXPECT_LT(std::abs(c.worst->got - c.worst->expected), c.worst->bound);
}

TEST(Compare, FollowsTheLibrarysOwnError) {
  const Tensor oracle = wave(10000);
  Spread spread(output_like(oracle), (oracle * (1 + 1e-5)).to(at::kFloat), oracle);
  const auto off_by = [&](double e) { return spread.compare((oracle * (1 + e)).to(at::kFloat)); };
  EXPECT_NEAR(off_by(0).torch_error, 1e-5, 1e-7);
  EXPECT_NEAR(off_by(2e-5).bound, whole_limit * 1e-5, 1e-6);
  EXPECT_FALSE(off_by(3.5e-5).worst);
  EXPECT_TRUE(off_by(4.5e-5).worst);
}

TEST(Compare, RejectsNanAndInfinityThatTheOracleHasNot) {
  const Tensor oracle = wave(100);
  for (const double value : {nan, inf, -inf}) {
    Tensor got = oracle.to(at::kFloat);
    got[17] = value;
    const Comparison c = compare(got, oracle);
    ASSERT_TRUE(c.worst) << value;
    EXPECT_EQ(c.worst->index, std::vector<int64_t>{17});
    EXPECT_EQ(c.worst->reason, std::isnan(value) ? "nan" : "value");
  }
}

TEST(Compare, TellsUnwrittenFromNan) {
  const Tensor oracle = wave(100);
  Tensor got = oracle.to(at::kFloat);
  got.narrow(0, 40, 1).view(at::kInt).fill_(-1);  // the judge's poison
  const Comparison c = compare(got, oracle);
  ASSERT_TRUE(c.worst);
  EXPECT_EQ(c.worst->reason, "unwritten");
}

TEST(Compare, WantsNanExactlyWhereTheOracleHasIt) {
  const Tensor oracle = doubles({1, nan, 3, 4});
  EXPECT_FALSE(compare(floats({1, nan, 3, 4}), oracle).worst);
  for (const auto& wrong : {floats({1, 2, 3, 4}), floats({nan, 2, 3, 4}), floats({1, nan, nan, 4}),
                            floats({1, inf, 3, 4}), floats({1, nan, 3, 5})}) {
    EXPECT_TRUE(compare(wrong, oracle).worst) << wrong;
  }
}

TEST(Compare, WantsInfinitiesOfTheRightSign) {
  const Tensor oracle = doubles({1, inf, -inf, 4});
  EXPECT_FALSE(compare(floats({1, inf, -inf, 4}), oracle).worst);
  for (const auto& wrong : {floats({1, -inf, -inf, 4}), floats({1, inf, inf, 4}),
                            floats({1, 3e38, -inf, 4}), floats({1, nan, -inf, 4})}) {
    EXPECT_TRUE(compare(wrong, oracle).worst) << wrong;
  }
}

TEST(Compare, WantsInfinityWhereFp32Overflows) {
  const Tensor oracle = doubles({1, 1e39});
  EXPECT_FALSE(compare(floats({1, inf}), oracle).worst);
  EXPECT_TRUE(compare(floats({1, 3.4e38}), oracle).worst);
}

TEST(Compare, WantsZerosWhereAllIsZero) {
  const Tensor oracle = at::zeros({50}, at::kDouble);
  EXPECT_FALSE(compare(at::zeros({50}), oracle).worst);
  EXPECT_FALSE(compare(-at::zeros({50}), oracle).worst);
  Tensor got = at::zeros({50});
  got[3] = 1e-30;
  const Comparison c = compare(got, oracle);
  ASSERT_TRUE(c.worst);
  EXPECT_EQ(c.worst->index, std::vector<int64_t>{3});
  EXPECT_TRUE(compare(at::full({50}, nan), oracle).worst);
}

TEST(Compare, HoldsOverAHugeRangeOfValues) {
  const Tensor oracle = at::logspace(-30, 30, 61, 10.0, at::kDouble);
  EXPECT_FALSE(compare(oracle.to(at::kFloat), oracle).worst);
  Tensor got = oracle.to(at::kFloat);
  got[60] *= 1 + 1e-4;
  EXPECT_TRUE(compare(got, oracle).worst);
  EXPECT_TRUE(compare(at::zeros({61}), oracle).worst);
}

TEST(Compare, JudgesScalars) {
  const Tensor oracle = at::scalar_tensor(2.5, at::kDouble);
  EXPECT_FALSE(compare(at::scalar_tensor(2.5f), oracle).worst);
  const Comparison c = compare(at::scalar_tensor(2.5001f), oracle);
  ASSERT_TRUE(c.worst);
  EXPECT_TRUE(c.worst->index.empty());
  EXPECT_EQ(c.elements, 1);
}

// Noise that the rule for the whole output allows must not fail for its largest element, whose
// share of the noise grows with the output.
TEST(Compare, AllowsTheTailOfAllowedNoise) {
  const Tensor oracle = wave(1 << 22);
  at::Generator rng = at::make_generator<at::CPUGeneratorImpl>(1);
  const auto noise = [&] { return at::randn(oracle.sizes(), rng, oracle.options()) * 1e-5; };
  Spread spread(output_like(oracle), (oracle + noise()).to(at::kFloat), oracle);
  const Comparison c = spread.compare((oracle + noise()).to(at::kFloat));
  EXPECT_FALSE(c.worst);
  EXPECT_GT(c.max_abs_error, 4e-5);
}

TEST(Compare, AcceptsEmptyOutputs) {
  const Tensor oracle = at::empty({0, 3}, at::kDouble);
  const Comparison c = compare(at::empty({0, 3}), oracle);
  EXPECT_FALSE(c.worst);
  EXPECT_EQ(c.elements, 0);
  const TensorSpec integers = output<int64_t>("i", {0});
  EXPECT_FALSE(compare_output(integers, longs({}), longs({}), {}).worst);
}

TEST(Compare, ComparesIntegersExactly) {
  const Tensor oracle = longs({5, -7, int64_t{1} << 60}).view({3, 1});
  const TensorSpec spec = output_like<int64_t>(oracle);
  EXPECT_FALSE(compare_output(spec, oracle.clone(), oracle, {}).worst);
  const Comparison c = compare_output(spec, oracle + longs({0, 0, 1}).view({3, 1}), oracle, {});
  ASSERT_TRUE(c.worst);
  EXPECT_EQ(c.worst->index, (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(c.worst->reason, "integer");
  EXPECT_DOUBLE_EQ(c.error, 1.0 / 3);
}

TEST(Compare, TakesNoByteButOneForTrue) {
  const Tensor oracle = at::ones({4}, at::kBool);
  const TensorSpec spec = output_like<bool>(oracle);
  EXPECT_FALSE(compare_output(spec, oracle.clone(), oracle, {}).worst);
  const Tensor got = oracle.clone();
  got.view(at::kByte)[2] = 255;
  const Comparison c = compare_output(spec, got, oracle, {});
  ASSERT_TRUE(c.worst);
  EXPECT_EQ(c.worst->index, std::vector<int64_t>{2});
}

TEST(CompareExact, AllowsLessThanHalfAUnit) {
  const Tensor oracle = doubles({100000, 4097, 0, 12345});
  const TensorSpec spec = output_like(oracle);
  const Tolerance tolerance = integer_tolerance(spec, oracle.to(at::kFloat), oracle);
  const auto off_by = [&](double e) {
    return compare_output(spec, (oracle + doubles({0, e, 0, 0})).to(at::kFloat), oracle, tolerance);
  };
  EXPECT_FALSE(off_by(0).worst);
  EXPECT_FALSE(off_by(0.4).worst);
  EXPECT_TRUE(off_by(1).worst);
  EXPECT_TRUE(off_by(-1).worst);
}

TEST(CompareExact, AsksNoMoreThanTheLibraryGives) {
  const Tensor oracle = doubles({100000, 4097});
  const Tensor torch = floats({100000.25, 4097});
  const TensorSpec spec = output_like(oracle);
  const Tolerance tolerance = integer_tolerance(spec, torch, oracle);
  EXPECT_FALSE(compare_output(spec, floats({100001.5, 4097}), oracle, tolerance).worst);
  EXPECT_TRUE(compare_output(spec, floats({100003, 4097}), oracle, tolerance).worst);
}

TEST(CompareExact, AllowsTwoRoundingsIn16Bits) {
  const Tensor oracle = doubles({30000, 257});
  TensorSpec spec = output_like(oracle);
  spec.dtype = at::kBFloat16;
  const Tensor torch = oracle.to(at::kBFloat16);
  const Tolerance tolerance = integer_tolerance(spec, torch, oracle);
  EXPECT_FALSE(compare_output(spec, torch, oracle, tolerance).worst);
  EXPECT_FALSE(compare_output(spec, torch + 0.0, oracle, tolerance).worst);
  const Tensor far = doubles({30500, 257}).to(at::kBFloat16);
  EXPECT_TRUE(compare_output(spec, far, oracle, tolerance).worst);
}

TEST(CompareOutput, TakesInfinityNextToTheLargestHalf) {
  const Tensor oracle = doubles({65530, -65530, 1000, 70000});
  TensorSpec spec = output_like(oracle);
  spec.dtype = at::kHalf;
  const Tolerance tolerance{.relative = 1e-3, .per_rms = 0, .per_value = 1e-3};
  const double inf = std::numeric_limits<double>::infinity();
  const auto wrong = [&](const std::vector<double>& got) {
    return compare_output(spec, doubles(got).to(at::kHalf), oracle, tolerance).worst.has_value();
  };
  EXPECT_FALSE(wrong({inf, -inf, 1000, inf}));
  EXPECT_FALSE(wrong({65504, -65504, 1000, inf}));
  EXPECT_TRUE(wrong({-inf, -inf, 1000, inf}));
  EXPECT_TRUE(wrong({inf, -inf, inf, inf}));
  EXPECT_TRUE(wrong({inf, -inf, 1000, 65504}));
}

class CompareArgument : public testing::Test {
 protected:
  // Column 0 has its maximum twice.
  const Tensor input_ = floats({1, 9, 7, 5, 7, 2}).view({3, 2});
  const Tensor oracle_ = longs({1, 0});

  static TensorSpec spec(Shape shape) {
    return output<int64_t>("index", std::move(shape)).argument("x", 0);
  }
  Comparison compare_to(const std::vector<int64_t>& got) const {
    return compare_argument(spec({2}), longs(got), oracle_, input_);
  }
};

TEST_F(CompareArgument, AcceptsEveryPositionOfATie) {
  EXPECT_FALSE(compare_to({1, 0}).worst);
  EXPECT_FALSE(compare_to({2, 0}).worst);
}

TEST_F(CompareArgument, RejectsAnyOtherPosition) {
  const Comparison c = compare_to({1, 2});
  ASSERT_TRUE(c.worst);
  EXPECT_EQ(c.worst->index, std::vector<int64_t>{1});
  EXPECT_EQ(c.worst->expected, 0);
  EXPECT_EQ(c.worst->got, 2);
  EXPECT_DOUBLE_EQ(c.error, 0.5);
}

TEST_F(CompareArgument, RejectsPositionsOutsideTheInput) {
  for (const int64_t outside : {int64_t{-1}, int64_t{3}, int64_t{-2}, int64_t{1} << 40,
                                std::numeric_limits<int64_t>::min()}) {
    EXPECT_TRUE(compare_to({1, outside}).worst) << outside;
    EXPECT_TRUE(compare_to({outside, 0}).worst) << outside;
  }
}

TEST_F(CompareArgument, WorksWithAKeptDimension) {
  const Tensor oracle = oracle_.view({1, 2});
  EXPECT_FALSE(compare_argument(spec({1, 2}), longs({2, 0}).view({1, 2}), oracle, input_).worst);
  EXPECT_TRUE(compare_argument(spec({1, 2}), longs({0, 0}).view({1, 2}), oracle, input_).worst);
}

}  // namespace
}  // namespace kb
