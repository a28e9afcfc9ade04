// What an H200 showed of honest kernels passes; what tricks come to does not.
#include "judge/timing/suspicions.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

constexpr double us = 1e-6, ms = 1e-3;

UnitTimes honest() {
  return {.reference = {.unit = 3.0 * ms}, .candidate = {.unit = 2.0 * ms, .stream = 1.98 * ms}};
}

std::string name(const std::optional<Suspicion>& found) { return found ? found->name : ""; }

TEST(Suspicion, HonestTimesHaveNone) {
  EXPECT_EQ(name(find_suspicion(honest())), "");
  UnitTimes times = honest();
  times.calls = 4;
  times.captured = true;
  times.single_call = 0.52 * ms;
  times.reference_lag = 1.05;
  EXPECT_EQ(name(find_suspicion(times)), "");
}

TEST(Suspicion, WorkOnAnotherStream) {
  UnitTimes times = honest();
  times.candidate.off_stream = 1.5 * ms;
  EXPECT_EQ(name(find_suspicion(times)), "stream");
}

TEST(Suspicion, AMemoryPoolMayBeEmptiedAfterTheLastEvent) {
  UnitTimes times = honest();
  times.candidate.unit = 25.7 * ms;
  times.candidate.stream = 15.3 * ms;
  EXPECT_EQ(name(find_suspicion(times)), "");
  times.captured = true;
  EXPECT_EQ(name(find_suspicion(times)), "clocks");
}

TEST(Suspicion, EventsLongerThanTheUnitThatTheyAreIn) {
  UnitTimes times = honest();
  times.candidate.stream = 3 * ms;
  EXPECT_EQ(name(find_suspicion(times)), "clocks");
}

TEST(Suspicion, AReferenceThatIsSlowerAfterTheCandidate) {
  UnitTimes times = honest();
  times.reference_lag = 1.3;
  EXPECT_EQ(name(find_suspicion(times)), "lag");
  times.reference.unit = 50 * us;  // 15 us are a launch or two
  EXPECT_EQ(name(find_suspicion(times)), "");
}

TEST(Suspicion, AReferenceThatIsSlowerBeforeTheCandidate) {
  UnitTimes times = honest();
  times.reference_lag = 1 / 1.1;
  EXPECT_EQ(name(find_suspicion(times)), "");
  times.reference_lag = 1 / 1.3;
  EXPECT_EQ(name(find_suspicion(times)), "lag");
}

TEST(Suspicion, WorkThatIsDoneBeforeTheClockStarts) {
  UnitTimes times = honest();
  times.reference.ready = times.reference.ready_after = 220 * us;
  times.candidate.ready = 260 * us;
  EXPECT_EQ(name(find_suspicion(times)), "");
  times.candidate.ready = 2.2 * ms;
  const auto found = find_suspicion(times);
  EXPECT_EQ(name(found), "early");
  EXPECT_NE(found->evidence.find("takes 2.200000 ms to get ready, the reference's 0.220000 ms"),
            std::string::npos);
}

TEST(Suspicion, AnswersThatTheDeviceCannotGiveInTheirTime) {
  UnitTimes times = honest();
  times.least = 2.05 * ms;
  EXPECT_EQ(name(find_suspicion(times)), "") << "clocks are read to a few percent";
  times.least = 2.1 * ms;
  EXPECT_EQ(name(find_suspicion(times)), "floor");
}

TEST(Suspicion, WorkThatIsStillRunningWhenTheRunnerSaysDone) {
  UnitTimes times = honest();
  times.reference.ready =
      1.117 * ms;  // the reference of a network, which calls many operators first
  times.reference.ready_after = 1.165 * ms;
  times.reference.probe = times.candidate.probe = 90 * us;
  EXPECT_EQ(name(find_suspicion(times)), "");
  times.candidate.probe = 400 * us;
  EXPECT_EQ(name(find_suspicion(times)), "late");
  times.candidate.probe = 90 * us;
  times.reference.ready_after = 1.6 * ms;
  const auto found = find_suspicion(times);
  EXPECT_EQ(name(found), "late");
  EXPECT_NE(found->evidence.find("it takes 1.600000 ms (else 1.117000 ms)"), std::string::npos);
  times.candidate.unit = 600 * ms;
  EXPECT_EQ(name(find_suspicion(times)), "") << "less than a thousandth of the unit";
}

TEST(Suspicion, CallsThatShareWork) {
  UnitTimes times = honest();
  times.calls = 8;
  times.single_call = 2 * ms;
  EXPECT_EQ(name(find_suspicion(times)), "") << "a call on the stream pays for its launches";
  times.captured = true;
  const auto found = find_suspicion(times);
  EXPECT_EQ(name(found), "single");
  EXPECT_NE(found->evidence.find("a call alone takes 2.000000 ms, but one of 8 only 0.250000 ms"),
            std::string::npos);
}

TEST(Suspicion, CallsThatShareWorkWithoutBeingRecorded) {
  UnitTimes times = honest();
  times.calls = 8;
  EXPECT_EQ(name(shares_calls_on_stream(times, 0)), "") << "nothing was measured";
  times.single_call = 0.36 * ms;
  EXPECT_EQ(name(shares_calls_on_stream(times, 0)), "");
  times.single_call = 0.45 * ms;
  EXPECT_EQ(name(shares_calls_on_stream(times, 0)), "single");
  EXPECT_EQ(name(shares_calls_on_stream(times, 0.125 * ms)), "")
      << "lone calls cost the reference more, too";
}

TEST(Suspicion, InputsThatComeSlowerToTheCandidate) {
  UnitTimes times = honest();
  times.reference.publishing = 2 * ms;
  times.candidate.publishing = 2.25 * ms;
  EXPECT_EQ(name(find_suspicion(times)), "");
  times.candidate.publishing = 2.35 * ms;
  EXPECT_EQ(name(find_suspicion(times)), "early");
}

TEST(Suspicion, AReferenceThatIsSlowerWithTheCandidate) {
  const auto with = [](double unit, double alone) {
    return name(slows_reference({.unit = unit}, {.unit = alone}));
  };
  EXPECT_EQ(with(1.1 * ms, 1.0 * ms), "");
  EXPECT_EQ(with(140 * us, 100 * us), "");
  EXPECT_EQ(with(1.29 * ms, 1.0 * ms), "presence");
  EXPECT_EQ(with(0.7 * ms, 1.0 * ms), "");
}

TEST(Suspicion, WhateverElseIsSlowerWithTheCandidate) {
  const ArmTimes alone{.unit = 3 * ms, .empty = 17 * us, .ready = 220 * us, .publishing = 4 * ms};
  EXPECT_EQ(name(slows_reference(alone, alone)), "");
  ArmTimes with = alone;
  with.empty = 30 * us;
  with.ready = 300 * us;
  with.publishing = 4.3 * ms;
  EXPECT_EQ(name(slows_reference(with, alone)), "") << "hosts differ from moment to moment";
  with.empty = 60 * us;
  EXPECT_EQ(name(slows_reference(with, alone)), "presence");
  with.empty = alone.empty;
  with.ready = 500 * us;
  EXPECT_EQ(name(slows_reference(with, alone)), "presence");
  with.ready = alone.ready;
  with.publishing = 6 * ms;
  const auto found = slows_reference(with, alone);
  EXPECT_EQ(name(found), "presence");
  EXPECT_NE(found->evidence.find(
                "takes 6.000000 ms while the candidate's process lives, 4.000000 ms without it"),
            std::string::npos);
}

// On an H100 the eager calls of level3/032 took 1.5 to 2.2 ms from bench to bench, captured ones
// 0.47 ms: once an honest kernel's reference looked slowed three times in a row.
TEST(Suspicion, WhatRestsOnTheHostsTimesMustShowMoreOften) {
  const Suspicion times{.name = "presence", .evidence = "", .needs_control = true};
  const Suspicion proof{.name = "clocks", .evidence = "", .needs_control = false};
  const double launches = 1.6 * ms, kernels = 0.47 * ms;
  EXPECT_GT(needed_attempts(times, launches, kernels), needed_attempts(times, kernels, kernels));
  EXPECT_GT(needed_attempts(times, launches, 0), 3) << "a reference that cannot be captured";
  EXPECT_EQ(needed_attempts(times, 0, kernels), 3) << "the captured lane itself";
  EXPECT_EQ(needed_attempts(proof, launches, kernels), 3);
}

// cuDNN's transposed convolution by FFT starts 2,000 kernels; on an H200 a unit took 14.4 ms while
// an honest kernel's process lived and 11.2 ms without it.
TEST(Suspicion, WhatAControlShowsTooIsNotTheCandidates) {
  const ArmTimes with{.unit = 14.4 * ms}, alone{.unit = 11.2 * ms};
  const ArmTimes alike{.unit = 14.0 * ms}, faster{.unit = 11.3 * ms};
  ASSERT_EQ(name(slows_reference(with, alone)), "presence");
  EXPECT_TRUE(slows_reference(with, alone)->needs_control);
  EXPECT_EQ(name(slows_reference(with, alone, &alike)), "");
  EXPECT_EQ(name(slows_reference(with, alone, &faster)), "presence");
}

// On an H200 with seven other judges a control took 1.0 ms to get ready, next to an honest kernel
// 1.4 ms, three times in a row.
TEST(Suspicion, AReferenceThatIsReadyLateByTurnsIsTheMachines) {
  const auto ready = [](double seconds) { return ArmTimes{.unit = 3 * ms, .ready = seconds}; };
  const ArmTimes quick = ready(1.0 * ms), slow = ready(1.4 * ms);
  Presence steady;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(name(steady.find(slow, quick, &quick)), "presence");
  Presence busy_once;
  EXPECT_EQ(name(busy_once.find(slow, quick, &slow)), "");
  EXPECT_EQ(name(busy_once.find(slow, quick, &quick)), "") << "the machine has shown it";
  EXPECT_EQ(name(busy_once.find(ready(2 * ms), quick, &quick)), "presence");
}

TEST(Suspicion, AControlExcusesWhatRestsOnOthersTimesOnly) {
  UnitTimes times = honest();
  times.reference_lag = 1.3;
  UnitTimes control;
  EXPECT_TRUE(find_suspicion(times)->needs_control);
  EXPECT_EQ(name(find_suspicion(times, &control)), "lag") << "the control shows nothing";
  control.reference_lag = 1.25;
  EXPECT_EQ(name(find_suspicion(times, &control)), "");
  times = honest();
  times.candidate.ready = times.reference.ready_after = times.candidate.publishing = 2 * ms;
  EXPECT_EQ(name(find_suspicion(times, &control)), "early");
  control.candidate.ready = 1.9 * ms;
  EXPECT_EQ(name(find_suspicion(times, &control)), "early") << "inputs come late, too";
  control.candidate.publishing = 1.9 * ms;
  EXPECT_EQ(name(find_suspicion(times, &control)), "late");
  control.reference.ready_after = 1.9 * ms;
  EXPECT_EQ(name(find_suspicion(times, &control)), "");
  times.candidate.off_stream = 1.5 * ms;
  const auto own = find_suspicion(times, &control);
  EXPECT_EQ(name(own), "stream");
  EXPECT_FALSE(own->needs_control);
}

TEST(Suspicion, CallsThatAreFasterOnAStreamThanRecorded) {
  EXPECT_EQ(name(faster_on_stream(0.9 * ms, 1.0 * ms)), "");
  EXPECT_EQ(name(faster_on_stream(0.6 * ms, 1.0 * ms)), "lanes");
  EXPECT_EQ(name(faster_on_stream(1 * us, 4 * us)), "");
}

}  // namespace
}  // namespace kb
