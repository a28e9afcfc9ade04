// Calls whose samples have values of different families, and how they are judged.
#include "judge/acceptance/mixes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "judge/acceptance/rounding.h"
#include "kb/reference.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

int64_t count(const at::Tensor& mask) { return mask.sum().item<int64_t>(); }

TEST(Mixes, StayWithinTheRangeOfTheType) {
  at::Generator rng = make_rng(at::kCPU, 7);
  for (const Family& family : families()) {
    if (!family.fill) continue;
    at::Tensor x = at::empty({64, 64}, at::kHalf);
    const TensorSpec spec = input<__half>("x", {64, 64});
    const Mix mix{.name = family.name, .families = {family}};
    draw_values(
        x, [&](at::Tensor& out, at::Generator& g) { mix.fill(spec, out, g); }, rng);
    EXPECT_TRUE(at::isfinite(x).all().item<bool>()) << family.name;
  }
}

TEST(Mixes, GiveEachFamilyItsRows) {
  std::vector<Family> some;
  for (const char* name : {"negative", "ties", "offset"}) {
    for (const Family& family : families()) {
      if (family.name == name) some.push_back(family);
    }
  }
  at::Generator rng = make_rng(at::kCPU, 7);
  const std::vector<TensorSpec> tensors = {input<float>("x", {6, 9, 12}), output<float>("y", {6})};
  for (const int64_t dimension : {0, 1, 5}) {
    const Mix mix = divide(some, dimension, tensors);
    EXPECT_EQ(mix.name, "negative, ties, offset along dimension " + std::to_string(dimension));
    const int64_t along = std::min<int64_t>(dimension, 2);
    at::Tensor x = at::full({6, 9, 12}, NAN);
    mix.fill(tensors[0], x, rng);
    const std::vector<at::Tensor> parts = x.tensor_split(3, along);
    EXPECT_LT(parts[0].max().item<float>(), 0);
    EXPECT_EQ(count(parts[1].abs().gt(2)), 0);
    EXPECT_GT(parts[2].min().item<float>(), 900);
  }
  // Fewer rows than families, and shapes without any.
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{2}, Shape{0}, Shape{3, 0}, Shape{1, 2, 1}}) {
    at::Tensor x = at::full(shape, NAN);
    const TensorSpec spec = input<float>("x", shape);
    divide(some, 0, {spec, output<float>("y", shape)}).fill(spec, x, rng);
    EXPECT_TRUE(at::isfinite(x).all().item<bool>());
  }
}

// y = f(x), both [32, 64]; the first 16 samples are of "one", the others of "two".
struct OfTwoFamilies {
  Task task;
  Tensor x;
  Mix mix{.name = "one, two along dimension 0",
          .families = {{"one", nullptr}, {"two", nullptr}},
          .divided = {"x"},
          .samples = 32};

  OfTwoFamilies(Tensor values, const std::function<Tensor(const Tensor&)>& f)
      : task(small_task(
            {input<float>("x", {32, 64}), output<float>("y", {32, 64})},
            [=](const std::vector<Tensor>& given) { return std::vector<Tensor>{f(given[0])}; })),
        x(std::move(values)) {}

  Tensor right() const { return task.reference({}, {x})[0].clone(); }
  std::optional<WrongInMix> judge(const Tensor& got) const {
    Expectation right(task, {}, {x}, 1, {}, first_rows(mix));
    return judge_mix(right, mix, {got});
  }
};

TEST(Mixes, ALargeFamilyDoesNotHideASmallOne) {
  Tensor x = at::ones({32, 64});
  x.narrow(0, 0, 16).mul_(1e6);
  const OfTwoFamilies call(x, [](const Tensor& t) { return 3.1 * t; });
  EXPECT_FALSE(call.judge(call.right()));
  Tensor got = call.right();
  got[20][5] += 1e-4;
  const auto found = call.judge(got);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->wrong.comparison.worst->index, (std::vector<int64_t>{20, 5}));
  EXPECT_EQ(found->wrong.comparison.worst->all.count, 1);
  EXPECT_EQ(found->inputs, "two in samples 16 to 31");
}

// An output of one number per sample has no rows to pool.
TEST(Mixes, ALargeFamilyDoesNotHideASmallOneInNumbers) {
  Tensor x = at::linspace(1, 2, 32);
  x.narrow(0, 0, 16).mul_(1e6);
  const Task task = small_task(
      {input<float>("x", {32}), output<float>("y", {32})},
      [](const std::vector<Tensor>& given) { return std::vector<Tensor>{given[0] * 3.1}; });
  const Mix mix{.name = "one, two along dimension 0",
                .families = {{"one", nullptr}, {"two", nullptr}},
                .divided = {"x"},
                .samples = 32};
  Expectation right(task, {}, {x}, 1, {}, first_rows(mix));
  Tensor got = right.torch(0).clone();
  EXPECT_FALSE(judge_mix(right, mix, {got}));
  got[20] += 1e-4;
  const auto found = judge_mix(right, mix, {got});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->inputs, "two in samples 16 to 31");
}

TEST(Mixes, AFamilyInWhichRoundingDecidesDoesNotHideAnother) {
  Tensor x = at::zeros({32, 64});
  x.select(1, 0).fill_(1);
  x.select(1, 1).narrow(0, 0, 16).fill_(1e6);
  x.select(1, 2).narrow(0, 0, 16).fill_(1e6 + 0.25);
  const OfTwoFamilies call(x, [](const Tensor& t) { return at::softmax(t * 1.1, 1); });
  Tensor got = call.right();
  got[20][5] = 0.5;
  const auto found = call.judge(got);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->wrong.comparison.worst->index, (std::vector<int64_t>{20, 5}));
  got = call.right();
  got[3][1] = 0.6;
  EXPECT_FALSE(call.judge(got)) << "nothing is known of the first family";
}

TEST(Mixes, AllowForSumsOfEqualValuesInFloats) {
  const int64_t terms = 512;
  const Task task = small_task({input<float>("x", {32, terms}), output<float>("y", {32, terms})},
                               [=](const std::vector<Tensor>& given) {
                                 return std::vector<Tensor>{at::cumsum(given[0], 1)};
                               });
  at::Generator rng = make_rng(at::kCPU, 3);
  for (const Family& family : families()) {
    if (!family.fill) continue;
    const Mix mix = divide({family}, 0, task.tensors({}));
    Tensor x = at::empty({32, terms});
    mix.fill(task.tensors({})[0], x, rng);
    Tensor got = at::empty_like(x);
    float* y = got.data_ptr<float>();
    const float* values = x.data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); ++i) y[i] = values[i] + (i % terms ? y[i - 1] : 0);
    Expectation right(task, {}, {x}, 1, {}, first_rows(mix));
    EXPECT_FALSE(judge_mix(right, mix, {got})) << family.name;
    got.mul_(1.001);
    EXPECT_TRUE(judge_mix(right, mix, {got})) << family.name;
  }
}

// All rows add the same b, whose sum goes far and comes back to nearly zero. LibTorch is exact.
TEST(Mixes, AllowForSumsInFloatsThatEndNearZero) {
  constexpr int64_t rows = 32, terms = 1 << 14;
  const auto product = [](const std::vector<Tensor>& given) {
    const Tensor exact = given[0].to(at::kDouble).matmul(given[1].to(at::kDouble));
    return std::vector<Tensor>{exact.to(given[0].scalar_type())};
  };
  const Task task = small_task({input<float>("a", {rows, terms}), input<float>("b", {terms, 1}),
                                output<float>("y", {rows, 1})},
                               product);
  at::Generator rng = make_rng(at::kCPU, 3);
  const Tensor a = at::empty({rows, terms}).normal_(1, 0.1, rng);
  Tensor b = at::empty({terms, 1}).normal_(0, 1, rng);
  b -= b.mean();
  Tensor got = at::zeros({rows, 1});
  for (int64_t k = 0; k < terms; ++k) got += a.narrow(1, k, 1) * b[k];
  const Mix mix{.name = "one in b", .families = {{"one", nullptr}}};
  Expectation right(task, {}, {a, b}, 1);
  EXPECT_FALSE(judge_mix(right, mix, {got}));
  EXPECT_GT(right.compare(0, got).noisy_runs, 0) << "LibTorch has no error here";
  got = rounded_to_tf32(a).matmul(rounded_to_tf32(b));
  EXPECT_TRUE(judge_mix(right, mix, {got}));
}

TEST(Mixes, AreJudgedAsAWholeWhereOutputsHaveNoSamples) {
  const std::vector<TensorSpec> tensors = {input<float>("x", {32, 64}), output<float>("y", {64}),
                                           output<float>("z", {32})};
  const Mix mix = divide({{"one", nullptr}, {"two", nullptr}}, 0, tensors);
  ASSERT_EQ(sample_ranges(mix, tensors[1]).size(), 1);
  EXPECT_EQ(sample_ranges(mix, tensors[1])[0].inputs, "one, two along dimension 0");
  ASSERT_EQ(sample_ranges(mix, tensors[2]).size(), 2);
  EXPECT_EQ(sample_ranges(mix, tensors[2])[1].first, 16);
  EXPECT_EQ(sample_ranges(mix, tensors[2])[1].of(tensors[2]).shape, Shape{16});
}

TEST(Mixes, GiveNoSumValuesOfSeveralFamilies) {
  const std::vector<Family> two = {{"one", nullptr}, {"two", nullptr}};
  using Names = std::vector<std::string>;
  const auto mix_of = [&](const Shape& a, const Shape& b, const Shape& c) {
    return divide(two, 0, {input<float>("a", a), input<float>("b", b), output<float>("c", c)});
  };
  for (const int64_t depth : {5, 8}) {  // the second is square
    const Mix product = mix_of({8, depth}, {depth, 8}, {8, 8});
    EXPECT_EQ(product.divided, Names{"a"}) << depth;
    EXPECT_EQ(product.name, "one, two along dimension 0, one in b");
    const std::vector<SampleRange> ranges = sample_ranges(product, output<float>("c", {8, 8}));
    ASSERT_EQ(ranges.size(), 2);
    EXPECT_EQ(ranges[1].inputs, "two in samples 4 to 7, one in b");
  }
  EXPECT_EQ(mix_of({4, 8, 5}, {4, 5, 8}, {4, 8, 8}).divided, (Names{"a", "b"}));
  EXPECT_EQ(mix_of({8}, {8, 5}, {8, 5}).divided, (Names{"a", "b"}));
  const Mix transposed = mix_of({5, 8}, {5, 6}, {8, 6});
  EXPECT_EQ(transposed.name, "one");
  EXPECT_EQ(mix_of({8, 5}, {8, 5}, {}).name, "one");
}

}  // namespace
}  // namespace kb
