// Private copies and what is compared with them.
#include "judge/session/workload.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/result/verdict.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

// The second weight begins in the middle of a word.
void gather(const NoSizes&, const std::vector<Tensor>& weights) {
  const Tensor whole = at::empty({5}, weights.at(0).options());
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

class WorkloadOfSlots : public testing::Test {
 protected:
  WorkloadOfSlots() {
    for (int64_t s = 0; s < work_.slots(); ++s) work_.refill_slot(s, InputKind::standard, rng_);
  }

  Task task_ = small_task({input<float>("x", {1000}), output<float>("y", {1000})},
                          [](const std::vector<Tensor>& given) { return given; });
  std::unique_ptr<SharedMemory> memory_ = make_shared_memory();
  Workload work_{task_, SizeBytes(sizeof(NoSizes)), 4, *memory_};
  at::Generator rng_ = make_rng(memory_->device(), 1);
};

TEST_F(WorkloadOfSlots, InputsThatAreHeldBackComeWithTheOthersButAreOthers) {
  const Tensor before = work_.input("x", 1).clone();
  const auto give_back = work_.hold_back_inputs(1, 1, rng_);
  work_.publish_slot(1);
  const auto other = work_.input("x", 1).ne(before).sum().item<int64_t>();
  EXPECT_GT(other, 0);
  EXPECT_LE(other, 16);
  EXPECT_NO_THROW(work_.check_inputs("smoke")) << "the runners see what the judge has";
  give_back();
  EXPECT_TRUE(same_bits(work_.input("x", 1), before));
  EXPECT_NO_THROW(work_.check_inputs("smoke"));
}

TEST_F(WorkloadOfSlots, FewElementsChangeWhatTheRunnersSeeToo) {
  const Tensor before = work_.input("x", 1).clone();
  work_.output(1, 0).fill_(7);
  EXPECT_TRUE(work_.change_few_inputs(1, 16, rng_));
  const auto other = work_.input("x", 1).ne(before).sum().item<int64_t>();
  EXPECT_GT(other, 0);
  EXPECT_LE(other, 16);
  EXPECT_NO_THROW(work_.check_inputs("smoke"));
  EXPECT_NO_THROW(work_.check_untouched(1)) << "the outputs are poisoned again";
  EXPECT_FALSE(work_.change_few_weights(16, rng_)) << "there are none";
}

TEST(Workload, ValuesThatDependOnTheirPlaceDoNotMove) {
  const Task task =
      small_task({input<float>("x", {4, 4}).with(constant(1)).only(), output<float>("y", {4})},
                 [](const std::vector<Tensor>& given) { return std::vector<Tensor>{given[0][0]}; });
  const auto memory = make_shared_memory();
  Workload work(task, SizeBytes(sizeof(NoSizes)), 1, *memory);
  at::Generator rng = make_rng(memory->device(), 1);
  EXPECT_FALSE(work.change_few_inputs(0, 16, rng));
}

TEST_F(WorkloadOfSlots, ElementsOfOutputsAreReadWhereTheyAre) {
  for (int64_t slot = 1; slot < 3; ++slot) work_.output(slot, 0).fill_(7);
  const std::vector<at::Tensor> places = work_.output_places(1, 2, rng_);
  EXPECT_TRUE(work_.outputs_at(places).at(0).eq(7).all().item<bool>());
  work_.output(2, 0).fill_(8);
  EXPECT_TRUE(work_.outputs_at(places).at(0).eq(8).any().item<bool>());
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
