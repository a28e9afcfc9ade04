// What a task does with tensors besides computing.
#include "kb/task.h"

#include <gtest/gtest.h>

#include "tests/reference/small_task.h"

namespace kb {
namespace {

// nn.LSTM gathers its weights in one piece: a call of the reference must see it.
TEST(Task, SettlesWeightsOnlyAndWhereTheReferenceSeesThem) {
  const Task plain = small_task({input<float>("x", {2}), weight<float>("w", {2}),
                                 weight<float>("b", {2}), output<float>("y", {2})},
                                [](const std::vector<Tensor>& given) {
                                  return std::vector<Tensor>{given[0] * given[1] + given[2]};
                                });
  const std::vector<Tensor> given{at::ones({2}), at::full({2}, 2), at::full({2}, 3)};
  EXPECT_NO_THROW(plain.settle({}, given)) << "nothing to do for almost all tasks";

  const Task gathers =
      Task(plain).settling(+[](const NoSizes&, const std::vector<Tensor>& weights) {
        ASSERT_EQ(weights.size(), 2);
        const Tensor whole = at::cat(weights);
        for (int64_t i = 0; i < 2; ++i) Tensor(weights[i]).set_(whole.narrow(0, 2 * i, 2));
      });
  gathers.settle(SizeBytes(sizeof(NoSizes)), given);
  EXPECT_TRUE(given[1].is_alias_of(given[2]));
  EXPECT_FALSE(given[0].is_alias_of(given[1]));
  EXPECT_TRUE(gathers.reference({}, given)[0].equal(at::full({2}, 5)));
}

}  // namespace
}  // namespace kb
