// Phases do not overlap and add up.
#include "judge/timing/phases.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

TEST(Phases, AnInnerPhaseTakesItsTimeFromTheOuter) {
  Phases phases;
  phases.add("start", 2);
  {
    const auto outer = phases.in("inputs");
    { const auto inner = phases.in("checks"); }
    EXPECT_FALSE(phases.seconds().at("inputs") < 0);
    EXPECT_TRUE(phases.seconds().contains("checks"));
  }
  const double inputs = phases.seconds().at("inputs"), checks = phases.seconds().at("checks");
  EXPECT_DOUBLE_EQ(phases.total(), 2 + inputs + checks);
  { const auto again = phases.in("checks"); }
  EXPECT_GE(phases.seconds().at("checks"), checks);
  EXPECT_EQ(phases.seconds().at("inputs"), inputs);
}

TEST(Phases, AProcessKnowsItsAge) {
  EXPECT_GE(process_seconds(), 0);
  EXPECT_LT(process_seconds(), 3600);
}

}  // namespace
}  // namespace kb
