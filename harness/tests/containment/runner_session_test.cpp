// What a judge makes of runners that lie, and that it leaves nothing of them behind.
#include "judge/session/runner_session.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>

#include "base/result/verdict.h"
#include "judge/programs/correctness.h"
#include "judge/session/process.h"
#include "tests/containment/fake_runner.h"

namespace kb {
namespace {

using namespace std::chrono_literals;

class LyingRunner : public testing::Test {
 protected:
  static RunnerOptions options(const std::string& how) { return fake_runner(how, 500ms); }

  // The verdict on two calls at smoke sizes.
  Verdict verdict_on(const std::string& how) {
    RunnerSession session(options(how), *memory_);
    Correctness correctness(task_, *memory_, {InputKind::standard, 1});
    try {
      correctness.check_set(session, "smoke", 2);
    } catch (const Decided& decided) {
      evidence_ = decided.what();
      return decided.verdict;
    }
    return Verdict::pass;
  }

  Task task_ = task();
  std::unique_ptr<SharedMemory> memory_ = make_shared_memory();
  std::string evidence_;
};

TEST_F(LyingRunner, HonestFakePasses) {
  EXPECT_EQ(verdict_on("honest"), Verdict::pass) << evidence_;
}

TEST_F(LyingRunner, DoneBeforeCompletionIsIncorrect) {
  EXPECT_EQ(verdict_on("done_too_early"), Verdict::incorrect) << evidence_;
}

TEST_F(LyingRunner, ForgedTimesDoNotReachTheClock) {
  RunnerSession session(options("forged_times"), *memory_);
  Workload work(task_, task_.smoke, 1, *memory_);
  work.bind(session);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_LT(session.run(0, 1).event_ms, 1e-6);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 100ms);
}

TEST_F(LyingRunner, TimesThatAreNoNumbersBreakTheProtocol) {
  EXPECT_EQ(verdict_on("no_number"), Verdict::runtime_error);
  EXPECT_NE(evidence_.find("broke the protocol"), std::string::npos) << evidence_;
}

TEST_F(LyingRunner, NumberOutOfRangeIsACheat) {
  EXPECT_EQ(verdict_on("huge_number"), Verdict::cheat) << evidence_;
}

// Where the judge sees it while it waits, it is a number out of range.
TEST_F(LyingRunner, AnswerBeforeTheQuestionIsACheat) {
  EXPECT_EQ(verdict_on("answers_ahead"), Verdict::cheat) << evidence_;
}

TEST_F(LyingRunner, NonsenseBreaksTheProtocol) {
  EXPECT_EQ(verdict_on("wild_answer"), Verdict::runtime_error);
  EXPECT_NE(evidence_.find("broke the protocol"), std::string::npos) << evidence_;
}

TEST_F(LyingRunner, TextWithoutEndIsCut) {
  EXPECT_EQ(verdict_on("endless_text"), Verdict::runtime_error);
  EXPECT_LT(evidence_.size(), 2000u);
}

// It only deprives itself of what it was told.
TEST_F(LyingRunner, OverwrittenRequestHurtsTheRunnerOnly) {
  EXPECT_EQ(verdict_on("wild_request"), Verdict::runtime_error) << evidence_;
}

TEST_F(LyingRunner, WrittenInputIsIncorrect) {
  EXPECT_EQ(verdict_on("writes_inputs"), Verdict::incorrect) << evidence_;
}

TEST_F(LyingRunner, ExitCodeOfSuccessIsARuntimeError) {
  EXPECT_EQ(verdict_on("exits_with_success"), Verdict::runtime_error);
}

TEST_F(LyingRunner, SilenceIsATimeout) { EXPECT_EQ(verdict_on("never_answers"), Verdict::timeout); }

// It adds up over calls and runners, and what the reference takes counts ten times for it.
TEST_F(LyingRunner, AllCallsTogetherHaveABudget) {
  RunnerOptions slow = options("forged_times");  // 100 ms a call
  slow.call_timeout = 100s;
  slow.budget = std::make_shared<CallBudget>(0.25);
  const auto call_twice = [&] {
    RunnerSession session(slow, *memory_);
    Workload work(task_, task_.smoke, 1, *memory_);
    work.bind(session);
    for (int i = 0; i < 2; ++i) session.run(0, 1);
  };
  slow.budget->add_reference(20);
  call_twice();
  EXPECT_GE(slow.budget->spent_s(), 0.2);
  EXPECT_LT(slow.budget->spent_s() + slow.budget->left_s(), 200.26);
  slow.budget->add_reference(-20);
  try {
    call_twice();
    FAIL() << "four calls of 0.1 s within 0.25 s";
  } catch (const Decided& decided) {
    EXPECT_EQ(decided.verdict, Verdict::timeout);
    EXPECT_NE(std::string(decided.what()).find("together"), std::string::npos) << decided.what();
  }
  EXPECT_LE(slow.budget->left_s(), 0);
}

TEST_F(LyingRunner, OnlyTheAnswerToLoadSaysThatTheModuleCannotBeLoaded) {
  EXPECT_EQ(verdict_on("was_never_loaded"), Verdict::runtime_error);
  EXPECT_EQ(evidence_.find("cannot be loaded"), std::string::npos) << evidence_;
}

TEST_F(LyingRunner, WordsOfARunnerStandOnOneLineInQuotes) {
  for (const std::string how : {"forges_lines", "prints_lines"}) {
    EXPECT_EQ(verdict_on(how), Verdict::runtime_error);
    EXPECT_EQ(evidence_.find('\n'), std::string::npos) << evidence_;
    EXPECT_NE(evidence_.find("tests passed\\u{202e}'\""), std::string::npos) << evidence_;
  }
}

// Before a candidate is loaded nothing is its fault.
TEST_F(LyingRunner, FailureBeforeLoadingIsNoVerdict) {
  EXPECT_THROW(verdict_on("exits_at_once"), std::runtime_error);
  try {
    verdict_on("exits_at_once");
  } catch (const Decided&) {
    ADD_FAILURE() << "a verdict on a candidate that was never loaded";
  } catch (const std::runtime_error&) {
  }
}

TEST_F(LyingRunner, MissingIsolationIsAnErrorWhereFullIsRequired) {
  RunnerOptions real = options("");
  real.command = {KB_RUNNER};
  real.required_isolation = "full";
  RunnerSession session(real, *memory_);
  Workload work(task_, task_.smoke, 1, *memory_);
  // The fake's program is no module: only with full isolation it gets as far as being refused as
  // one.
  bool loaded = false;
  try {
    work.bind(session);
  } catch (const Decided& decided) {
    loaded = true;
    EXPECT_EQ(decided.verdict, Verdict::compile_error) << decided.what();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("nothing untrusted was run"), std::string::npos);
  }
  EXPECT_FALSE(session.isolation().empty());
  EXPECT_EQ(loaded, session.isolation() == "full");
}

TEST_F(LyingRunner, ADeclaredLibraryThatIsNotThereIsNamed) {
  RunnerOptions real = options("");
  real.command = {KB_RUNNER, "--preload", "/nowhere/libcublas.so"};
  RunnerSession session(real, *memory_);
  try {
    session.load();
    FAIL() << "a runner without its library started";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/libcublas.so"), std::string::npos)
        << error.what();
  }
}

bool has_children() {
  const std::string self = std::to_string(getpid());
  std::ifstream in("/proc/" + self + "/task/" + self + "/children");
  pid_t child;
  return static_cast<bool>(in >> child);
}

ChildProcess::Options shell(const std::string& script) {
  ChildProcess::Options options;
  options.command = {"/bin/sh", "-c", script};
  options.environment = {"PATH=/usr/bin:/bin"};
  options.directory = "/";
  return options;
}

// Waits for a line of the child's, so that killing it comes after what it set up.
void await_output(ChildProcess& child) {
  while (!child.ended() && child.output().find("ready") == std::string::npos) usleep(1000);
}

TEST(Containment, DaemonsDieWithTheRunner) {
  ChildProcess child(
      shell("setsid sh -c 'sleep 1000 & sleep 1000' & setsid sleep 1000 & echo ready; wait"));
  await_output(child);
  child.kill();
  EXPECT_FALSE(has_children());
}

TEST(Containment, OrphansOfAnEndedRunnerDie) {
  ChildProcess child(shell("setsid sleep 1000 & echo ready"));
  while (!child.ended()) usleep(1000);
  child.kill();
  EXPECT_FALSE(has_children());
}

TEST(Containment, HundredsOfProcessesDie) {
  ChildProcess child(shell(
      "i=0; while [ $i -lt 300 ]; do setsid sleep 1000 & i=$((i+1)); done; echo ready; wait"));
  await_output(child);
  child.kill();
  EXPECT_FALSE(has_children());
}

// A bench starts fresh pairs of runners; the end of one may not reach the other.
TEST(Containment, AnotherRunnerLivesOn) {
  auto first = std::make_unique<ChildProcess>(shell("setsid sleep 1000 & echo ready"));
  await_output(*first);
  ChildProcess second(shell("sleep 1000 & echo ready; wait"));
  await_output(second);
  first.reset();
  EXPECT_FALSE(second.ended());
  second.kill();
  EXPECT_EQ(second.how(), "was killed by signal 9 (Killed)");
  EXPECT_FALSE(has_children());
}

// Whatever numbers a judge with many open files gets for what it hands down.
TEST(Containment, DescriptorsKeepTheirOrder) {
  std::vector<int> held, given;
  for (int i = 0; i < 200; ++i) held.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ChildProcess::Options options = shell("cat <&3; cat <&4; cat <&5; ls /proc/self/fd | wc -l");
  for (const char* text : {"one ", "two ", "three "}) {
    given.push_back(memfd_create("given", MFD_CLOEXEC));
    ASSERT_EQ(write(given.back(), text, std::strlen(text)), ssize_t(std::strlen(text)));
    lseek(given.back(), 0, SEEK_SET);
  }
  options.descriptors = {given[2], given[0], given[1]};
  ChildProcess child(options);
  while (!child.ended()) usleep(1000);
  child.kill();
  EXPECT_EQ(child.output(), "three one two 7\n");  // 0 to 5, and that of ls itself
  for (int fd : held) close(fd);
  for (int fd : given) close(fd);
}

TEST(Containment, FloodIsCapped) {
  ChildProcess child(shell("head -c 20000000 /dev/zero; echo ready"));
  while (!child.ended()) usleep(1000);
  child.kill();
  const std::string text = child.output();
  EXPECT_LT(text.size(), size_t{200} << 10);
  EXPECT_NE(text.find("bytes left out"), std::string::npos);
  EXPECT_TRUE(text.ends_with("ready\n"));
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  kb::own_descendants();
  return RUN_ALL_TESTS();
}
