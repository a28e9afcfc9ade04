// Private copies and what is compared with them.
#include "judge/workload.h"

#include <gtest/gtest.h>

#include <limits>

#include "result/verdict.h"
#include "tests/judge/small_task.h"

namespace kb {
namespace {

struct NoSizes {};

// The second weight begins in the middle of a word.
void gather(const NoSizes&, const std::vector<Tensor>& weights) {
  const Tensor whole = at::empty({5});
  Tensor(weights.at(0)).set_(whole.narrow(0, 0, 3));
  Tensor(weights.at(1)).set_(whole.narrow(0, 3, 2));
}

TEST(Workload, WeightsThatTheTaskHasGatheredKeepTheirValues) {
  const Task task = small_task({input<float>("x", {4}), weight<float>("w", {3}),
                                weight<float>("b", {2}), output<float>("y", {4})},
                               [](const std::vector<Tensor>& given) {
                                 return std::vector<Tensor>{given[0].clone()};
                               })
                        .settling(gather);
  const auto memory = make_shared_memory();
  Workload work(task, SizeBytes(sizeof(NoSizes)), 2, *memory);
  at::Generator rng = make_rng(memory->device(), 1);
  work.refill_weights(InputKind::standard, rng);
  for (int64_t slot = 0; slot < 2; ++slot) work.refill_slot(slot, InputKind::standard, rng);
  const std::vector<Tensor> given = work.arguments(1);
  ASSERT_TRUE(given[1].is_alias_of(given[2]));
  EXPECT_NO_THROW(work.check_inputs("smoke"));
  given[2].fill_(7);  // the shared copy is the one that no longer is what it was
  EXPECT_THROW(work.check_inputs("smoke"), Decided);
}

TEST(SameBits, LooksAtBitsWhereverTheyLie) {
  const Tensor nan = at::full({4}, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(same_bits(nan, nan.clone()));
  EXPECT_FALSE(same_bits(at::zeros({4}), -at::zeros({4})));
  const Tensor whole = at::arange(9).to(at::kFloat);
  EXPECT_TRUE(same_bits(whole.narrow(0, 1, 8), whole.narrow(0, 1, 8).clone()));
  EXPECT_FALSE(same_bits(whole.narrow(0, 1, 8), whole.narrow(0, 0, 8)));
}

}  // namespace
}  // namespace kb
