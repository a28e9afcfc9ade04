// When a failure in one order of threads alone is put down to a race.
#include "judge/programs/order_hint.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

TEST(OrderHint, AnElementThatIsWrongMayBeARace) {
  EXPECT_TRUE(may_be_a_race({Verdict::incorrect, "y[3] is 1", {{"output", "y"}, {"wrong", 7}}}));
  EXPECT_TRUE(may_be_a_race({Verdict::runtime_error, "it failed"}));
  EXPECT_TRUE(
      may_be_a_race({Verdict::incorrect, "it wrote outside", {{"reason", "out_of_bounds"}}}));
}

TEST(OrderHint, WhereNoElementAloneIsWrongNoBarrierHelps) {
  EXPECT_FALSE(may_be_a_race({Verdict::incorrect, "relative error", {{"wrong", 0}}}));
  EXPECT_FALSE(may_be_a_race({Verdict::skipped, "not enough memory"}));
}

}  // namespace
}  // namespace kb
