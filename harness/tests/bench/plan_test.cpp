// Whose fault it is that a bench takes too long.
#include "judge/bench/plan.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/result/verdict.h"

namespace kb {
namespace {

Phases spent(double candidate, double reference) {
  Phases phases;
  phases.add("candidate", candidate);
  phases.add("reference", reference);
  return phases;
}

TEST(RequireTime, OnlyAFullTurnIsTooLong) {
  EXPECT_NO_THROW(require_time(Phases()));
  EXPECT_NO_THROW(require_time(spent(400, 400)));
}

TEST(RequireTime, ASlowCandidateGetsAVerdict) {
  try {
    require_time(spent(800, 100));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Decided& decided) {
    EXPECT_EQ(decided.verdict, Verdict::timeout);
    EXPECT_NE(std::string(decided.what()).find("candidate's units 800 s"), std::string::npos);
  }
}

TEST(RequireTime, ASlowReferenceIsNotTheCandidates) {
  EXPECT_THROW(require_time(spent(100, 800)), std::runtime_error);
  try {
    require_time(spent(100, 800));
  } catch (const Decided&) {
    ADD_FAILURE() << "it has a verdict";
  } catch (const std::runtime_error&) {
  }
}

}  // namespace
}  // namespace kb
