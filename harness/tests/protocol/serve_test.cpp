// A runner's side of the page: what an answer says, and what is left of the one before.
#include "protocol/serve.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "protocol/futex.h"

namespace kb::protocol {
namespace {

class Fake final : public Executor {
 public:
  void bind(const Request&) override {}
  void prepare() override {}
  OwnTimes run(uint32_t first_slot, uint32_t slots) override {
    if (slots == 0) throw Failure(Status::cuda_error, "nothing to run");
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

TEST_F(Serve, NamesTheLastKernelWhenACallFailsAndOnlyThen) {
  EXPECT_STREQ(ask(Op::run, 0, 1).kernel, "");
  const Answer& failed = ask(Op::run, 0, 0);
  EXPECT_EQ(failed.status, Status::cuda_error);
  EXPECT_STREQ(failed.message, "nothing to run");
  EXPECT_STREQ(failed.kernel, "k()");
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
