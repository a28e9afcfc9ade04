// Poison fills a copy and nothing beside it, whatever its size.
#include "judge/buffers.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

struct Size {
  const char* name;
  TensorSpec spec;
};

class Poison : public testing::TestWithParam<Size> {};

TEST_P(Poison, FillsOneCopyAndNothingElse) {
  const auto memory = make_shared_memory();
  const auto tensor = memory->allocate(GetParam().spec, 3);
  for (int64_t i = 0; i < 3; ++i) tensor->slot(i).fill_(1);
  tensor->poison_slot(1);
  EXPECT_FALSE(tensor->is_poisoned(0));
  EXPECT_TRUE(tensor->is_poisoned(1));
  EXPECT_FALSE(tensor->is_poisoned(2));
  EXPECT_TRUE(tensor->slot(0).eq(1).all().item<bool>());
  EXPECT_TRUE(tensor->slot(2).eq(1).all().item<bool>());
  EXPECT_EQ(tensor->damaged_guard_bytes().item<int64_t>(), 0);
}

TEST(Damage, IsNamedByItsPlace) {
  const auto memory = make_shared_memory();
  const auto written = [&](int64_t copy, int64_t element) {
    const auto tensor = memory->allocate(output<float>("y", {5, 7}), 2);
    const at::Tensor slot = tensor->slot(copy);
    slot.as_strided({1}, {1}, slot.storage_offset() + element).fill_(1);
    EXPECT_GT(tensor->damaged_guard_bytes().item<int64_t>(), 0);
    return tensor->damage();
  };
  EXPECT_EQ(written(0, 35), "1 element behind its last");
  EXPECT_EQ(written(1, 37), "3 elements behind its last");
  EXPECT_EQ(written(0, -2), "2 elements before its first");
}

TEST_P(Poison, OneElementIsMissed) {
  const auto memory = make_shared_memory();
  const auto tensor = memory->allocate(GetParam().spec, 1);
  EXPECT_TRUE(tensor->is_poisoned(0));
  tensor->slot(0).view(-1).slice(0, -1).fill_(1);
  EXPECT_FALSE(tensor->is_poisoned(0)) << "the last element was written";
}

INSTANTIATE_TEST_SUITE_P(Sizes, Poison,
                         testing::Values(Size{"words", output<float>("y", {4, 8})},
                                         Size{"odd_floats", output<float>("y", {3})},
                                         Size{"bytes", output<bool>("y", {3})}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kb
