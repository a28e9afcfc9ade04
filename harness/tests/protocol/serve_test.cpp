// A runner's side of the page: what an answer says, and what is left of the one before.
#include "sandbox/protocol/serve.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "sandbox/protocol/futex.h"

namespace kb::protocol {
namespace {

constexpr uint32_t throws_a_number = 1000, throws_words = 1001, calls_foreign_code = 1002;

class Fake final : public Executor {
 public:
  void bind(const Request&) override {}
  Prepared prepare() override { return {.own = true, .held_bytes = 4096}; }
  OwnTimes run(uint32_t first_slot, uint32_t slots) override {
    if (slots == 0) throw Failure(Status::cuda_error, "nothing to run");
    if (slots == throws_a_number) throw 7;
    if (slots == throws_words) throw std::runtime_error("own words");
    if (slots == calls_foreign_code) {
      call_foreign([] { throw Failure(Status::load_failed, "own words"); });
    }
    return {.event = static_cast<float>(first_slot), .off_stream = static_cast<float>(slots)};
  }
  void capture(uint32_t, uint32_t) override { throw Failure(Status::cannot_capture, "no graphs"); }
  OwnTimes replay() override { return {}; }
  void wake() override {}
  std::string last_kernel() const override { return "k()"; }
};

class Serve : public testing::Test {
 protected:
  void SetUp() override {
    void* memory =
        mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    page_ = new (memory) Page();
    page_->version = version;
    runner_ = fork();
    if (runner_ == 0) {
      Fake fake;
      serve(*page_, fake);
    }
  }
  void TearDown() override {
    kill(runner_, SIGKILL);
    waitpid(runner_, nullptr, 0);
    munmap(page_, sizeof(Page));
  }

  const Answer& ask(Op op, uint32_t first_slot = 0, uint32_t slots = 0) {
    page_->request.op = op;
    page_->request.first_slot = first_slot;
    page_->request.slots = slots;
    publish(page_->go, ++number_);
    EXPECT_EQ(wait_change(page_->done, number_ - 1, std::chrono::seconds(60)), number_);
    return page_->answer;
  }

  Page* page_ = nullptr;
  pid_t runner_ = -1;
  uint32_t number_ = 0;
};

TEST_F(Serve, AnswersWithTheRunnersOwnTimes) {
  const Answer& answer = ask(Op::run, 7, 3);
  EXPECT_EQ(answer.status, Status::ok);
  EXPECT_EQ(answer.event_ms, 7);
  EXPECT_EQ(answer.off_stream_ms, 3);
}

TEST_F(Serve, SaysWhatPreparingHolds) {
  const Answer& answer = ask(Op::prepare);
  EXPECT_EQ(answer.prepared, 1);
  EXPECT_EQ(answer.held_bytes, 4096);
  ask(Op::wake);
  EXPECT_EQ(answer.prepared, 0);
  EXPECT_EQ(answer.held_bytes, 0);
}

TEST_F(Serve, NamesTheLastKernelWhenACallFailsAndOnlyThen) {
  EXPECT_STREQ(ask(Op::run, 0, 1).kernel, "");
  const Answer& failed = ask(Op::run, 0, 0);
  EXPECT_EQ(failed.status, Status::cuda_error);
  EXPECT_STREQ(failed.message, "nothing to run");
  EXPECT_STREQ(failed.kernel, "k()");
}

TEST_F(Serve, WhateverIsThrownBecomesAnAnswer) {
  const Answer& failed = ask(Op::run, 0, throws_a_number);
  EXPECT_EQ(failed.status, Status::exception);
  EXPECT_STREQ(failed.message, "");
  EXPECT_STREQ(failed.kernel, "k()");
  EXPECT_EQ(ask(Op::run, 0, throws_words).status, Status::exception);
  EXPECT_STREQ(failed.message, "own words");
}

// Types are told apart by their names, and a candidate may use any.
TEST_F(Serve, AFailureThatForeignCodeThrowsIsAnException) {
  const Answer& failed = ask(Op::run, 0, calls_foreign_code);
  EXPECT_EQ(failed.status, Status::exception);
  EXPECT_STREQ(failed.message, "own words");
}

TEST_F(Serve, NothingOfAFailureIsLeftInTheNextAnswer) {
  ask(Op::run, 5, 2);
  EXPECT_EQ(ask(Op::capture, 0, 1).status, Status::cannot_capture);
  EXPECT_EQ(page_->answer.event_ms, 0);
  const Answer& next = ask(Op::wake);
  EXPECT_EQ(next.status, Status::ok);
  EXPECT_STREQ(next.message, "");
  EXPECT_STREQ(next.kernel, "");
}

}  // namespace
}  // namespace kb::protocol
