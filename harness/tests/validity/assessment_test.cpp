// Tasks that accept a trivial answer are found out, and for the right reason.
#include "lab/validity/assessment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/reference/small_task.h"

namespace kb {
namespace {

using Values = std::vector<Tensor>;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// One input of 16 x 64 and one output like it.
Task elementwise(std::function<Tensor(const Tensor&)> operation, Fill fill = spiked()) {
  return small_task(
      {input<float>("x", {16, 64}).with(std::move(fill)), output<float>("y", {16, 64})},
      [operation](const Values& given) { return Values{operation(given[0])}; });
}

Task linear(double offset, double x_deviation = 1) {
  return small_task(
      {input<float>("x", {16, 64}).with(normal(0, x_deviation)),
       weight<float>("fc.weight", {32, 64}), output<float>("y", {16, 32})},
      [offset](const Values& given) { return Values{at::linear(given[0], given[1]) + offset}; });
}

TEST(Assessment, PassesASoundTask) {
  const Assessment found = assess(linear(0), {});
  EXPECT_TRUE(found.names(Fate::survived).empty());
  EXPECT_EQ(found.names(Fate::equivalent), std::vector<std::string>{"without_add"});  // of zero
  EXPECT_EQ(found.killed(), found.applicable());
  EXPECT_GT(found.applicable(), 20);
  EXPECT_EQ(found.canary, (std::vector<std::string>{"x", "fc.weight"}));
  EXPECT_TRUE(has(found.names(Fate::killed), "canary_tf32:x"));
  EXPECT_TRUE(has(found.names(Fate::killed), "canary_bf16:fc.weight"));
}

TEST(Assessment, FindsAnOutputThatIsAlwaysZero) {
  const Assessment found = assess(elementwise([](const Tensor& x) { return x * 0; }), {});
  const auto survivors = found.names(Fate::survived);
  EXPECT_TRUE(has(survivors, "zeros"));
  EXPECT_TRUE(has(survivors, "other_call"));
  EXPECT_TRUE(has(survivors, "mean"));
  EXPECT_TRUE(has(found.names(Fate::equivalent), "input_as_zeros:x"));
  EXPECT_TRUE(has(found.names(Fate::killed), "ones"));
}

TEST(Assessment, FindsReluOfPositiveInputs) {
  const auto relu = [](const Tensor& x) { return at::relu(x); };
  EXPECT_EQ(assess(elementwise(relu), {.inputs = "compat"}).names(Fate::survived),
            std::vector<std::string>{"identity:x"});
  EXPECT_TRUE(assess(elementwise(relu), {}).names(Fate::survived).empty());
}

TEST(Assessment, ListsWhatHasNoEffect) {
  const Task task = small_task(
      {input<float>("x", {16, 64}), weight<float>("bias", {64}), output<float>("y", {16, 64})},
      [](const Values& given) {
        const Tensor y = given[0] + given[1];
        return Values{y - y.mean(0, true)};  // takes the bias out again
      });
  const Assessment found = assess(task, {});
  EXPECT_TRUE(found.names(Fate::survived).empty());
  EXPECT_TRUE(has(found.names(Fate::equivalent), "weight_as_zeros:bias"));
}

TEST(Assessment, FindsAWeightTooSmallToMatter) {
  const Task task =
      small_task({input<float>("x", {16, 64}), weight<float>("bias", {64}).with(normal(0, 1e-8)),
                  output<float>("y", {16, 64})},
                 [](const Values& given) { return Values{given[0] + given[1]}; });
  EXPECT_TRUE(has(assess(task, {}).names(Fate::survived), "weight_as_zeros:bias"));
}

TEST(Assessment, FindsAProductDrownedInAConstant) {
  const auto survivors = assess(linear(1e4), {.inputs = "compat"}).names(Fate::survived);
  EXPECT_TRUE(has(survivors, "tf32_operands"));
  EXPECT_FALSE(has(survivors, "zeros"));
}

TEST(Assessment, LetsRoundingPassWhereNothingIsComputed) {
  const Task argmax =
      small_task({input<float>("x", {4, 8}).with(integers(0, 100)),
                  output<int64_t>("i", {4}).argument("x", 1)},
                 [](const Values& given) { return Values{at::argmax(given[0], 1)}; });
  const Assessment found = assess(argmax, {});
  EXPECT_TRUE(has(found.names(Fate::equivalent), "tf32_operands"));
}

TEST(Assessment, SpoilsOneOutputAtATime) {
  const Task task = small_task(
      {input<float>("x", {16, 64}), output<float>("y", {16, 64}), output<float>("z", {16})},
      [](const Values& given) {
        return Values{given[0].exp(), given[0].select(1, 0) * 0};
      });
  const Assessment found = assess(task, {});
  EXPECT_TRUE(has(found.names(Fate::survived), "zeros@z"));
  EXPECT_TRUE(has(found.names(Fate::killed), "zeros@y"));
}

TEST(Assessment, RefusesAReferenceWithNan) {
  EXPECT_THROW(assess(elementwise([](const Tensor& x) { return x.log(); }), {}), c10::Error);
}

TEST(Assessment, IsTheSameForTheSameSeed) {
  const auto errors = [](uint64_t seed) {
    std::vector<double> all;
    for (const Trial& t : assess(linear(0), {.rng_seed = seed}).trials) all.push_back(t.error);
    return all;
  };
  EXPECT_EQ(errors(5), errors(5));
  EXPECT_NE(errors(5), errors(6));
}

TEST(Assessment, UsesUpstreamsInputsWhenAsked) {
  const Task task = elementwise([](const Tensor& x) { return at::relu(x); });
  EXPECT_EQ(assess(task, {.inputs = "compat"}).names(Fate::survived),
            std::vector<std::string>{"identity:x"});
}

TEST(Assessment, WritesItsRecord) {
  Task task = elementwise([](const Tensor& x) { return x * 0; });
  task.degenerate = "zero whatever x is";
  const Json record = to_json(task, {}, assess(task, {}));
  EXPECT_EQ(record["task"], "001_small");
  EXPECT_EQ(record["degenerate"], "zero whatever x is");
  EXPECT_LT(record["killed"].get<int>(), record["applicable"].get<int>());
  EXPECT_EQ(record["applicable"].get<size_t>() + record["equivalent"].size(),
            record["mutants"].size());
}

}  // namespace
}  // namespace kb
