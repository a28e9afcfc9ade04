// What a duel makes of a candidate that answers the judge itself.
#include "judge/bench/duel.h"

#include <gtest/gtest.h>

#include "base/result/verdict.h"
#include "tests/containment/fake_runner.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

using namespace std::chrono_literals;

Task relu(int64_t elements) {
  return small_task(
      {input<float>("x", {elements}), output<float>("y", {elements})},
      [](const std::vector<Tensor>& given) { return std::vector<Tensor>{given[0].relu()}; });
}

RunnerSession runner(const std::string& how, SharedMemory& memory) {
  return {fake_runner(how, 2s), memory};
}

// With it some inputs come late in the first block, when the candidate's runner is ready.
constexpr uint64_t seed = 2;

TimedTask timed_task(const Task& task, SharedMemory& memory, Phases& phases) {
  return {task, SizeBytes(sizeof(NoSizes)), InputKind::standard, seed, memory, phases};
}

// What blocks on the stream say of the candidate.
Verdict verdict_on(const std::string& how, int64_t memory_bytes, std::optional<int64_t> calls,
                   const std::string& reference_how = "honest") {
  const Task task = relu(1000);
  const auto memory = make_shared_memory();
  RunnerSession reference = runner(reference_how, *memory), candidate = runner(how, *memory);
  Phases phases;
  const DuelPlan plan{.memory_bytes = memory_bytes, .tolerances = {Tolerance{}}};
  try {
    Duel duel(timed_task(task, *memory, phases), plan, reference, candidate,
              {.seconds = 0, .calls = 3}, calls);
    EXPECT_EQ(duel.calls_per_unit(), memory_bytes == 0 ? 1 : calls.value_or(3));
    EXPECT_EQ(duel.select(LaunchMode::stream), "");
    for (int i = 0; i < 5; ++i) duel.block();
    if (duel.calls_per_unit() > 1) duel.single_call();
  } catch (const Decided& decided) {
    return decided.verdict;
  }
  return Verdict::pass;
}

constexpr int64_t plenty = int64_t{1} << 30;

TEST(Duel, AnHonestCandidateIsTimed) {
  EXPECT_EQ(verdict_on("honest", plenty, std::nullopt), Verdict::pass);
}

TEST(Duel, CallsThatAreKnownNeedNoTrial) {
  EXPECT_EQ(verdict_on("honest", plenty, 5), Verdict::pass);
}

TEST(Duel, WhereMemoryIsShortAUnitIsOneCall) {
  EXPECT_EQ(verdict_on("honest", 0, std::nullopt), Verdict::pass);
}

// ATen allocates in the first, which takes up to milliseconds.
TEST(Duel, FirstCallsWithABufferAreNotTimed) {
  EXPECT_EQ(verdict_on("sets_buffers_up", plenty, 5, "sets_buffers_up"), Verdict::pass);
}

TEST(Duel, CallsFollowWhatBlocksShow) {
  const Task task = relu(1000);
  const auto memory = make_shared_memory();
  RunnerSession reference = runner("honest", *memory), candidate = runner("honest", *memory);
  Phases phases;
  Duel duel(timed_task(task, *memory, phases),
            {.memory_bytes = plenty, .tolerances = {Tolerance{}}}, reference, candidate,
            {.seconds = 0, .calls = 2}, std::nullopt);
  const UnitSize size{.seconds = 3e-3, .calls = 1};
  EXPECT_FALSE(duel.fit_calls(size, 0.5e-3, 1e-3, 3)) << "not much more than two";
  EXPECT_TRUE(duel.fit_calls(size, 0.1e-3, 1e-3, 3));
  EXPECT_EQ(duel.calls_per_unit(), 30);
  EXPECT_EQ(duel.select(LaunchMode::stream), "");
  duel.block();
}

// A control writes no output: a candidate that did would be wrong.
TEST(Duel, AControlIsTimedWithoutBeingRight) {
  const Task task = relu(1000);
  const auto memory = make_shared_memory();
  for (const bool is_control : {true, false}) {
    RunnerSession reference = runner("honest", *memory);
    RunnerSession control({.command = {KB_RUNNER, "--control"}, .trusted = true}, *memory);
    Phases phases;
    const DuelPlan plan{.memory_bytes = plenty, .tolerances = {Tolerance{}}, .control = is_control};
    Duel duel(timed_task(task, *memory, phases), plan, reference, control,
              {.seconds = 0, .calls = 3}, 3);
    for (const LaunchMode mode : {LaunchMode::stream, LaunchMode::graph}) {
      ASSERT_EQ(duel.select(mode), "");
      if (is_control) {
        for (int i = 0; i < 5; ++i) EXPECT_NO_THROW(duel.block());
      } else {
        EXPECT_THROW(duel.block(), Decided);
      }
    }
  }
}

TEST(Duel, WorkDoneBeforeTheClockStartsIsWrong) {
  EXPECT_EQ(verdict_on("works_while_waking", 0, std::nullopt), Verdict::incorrect);
}

TEST(Duel, WorkThatEndsLateIsSeen) {
  const Verdict verdict = verdict_on("done_too_early", plenty, std::nullopt);
  EXPECT_TRUE(verdict == Verdict::incorrect || verdict == Verdict::cheat)
      << static_cast<int>(verdict);
}

}  // namespace
}  // namespace kb
