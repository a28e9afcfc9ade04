// Which work of a call its stream waits for. Streams and events are only names here.
#include "sandbox/runner/stream_order.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace kb::runner {
namespace {

class StreamOrderTest : public testing::Test {
 protected:
  template <class Handle>
  static Handle name(std::uintptr_t number) {
    return reinterpret_cast<Handle>(number * 16);  // NOLINT(performance-no-int-to-ptr)
  }
  void SetUp() override { order_.begin(given_); }
  std::string end_after(bool joins_side) {
    if (joins_side) {
      order_.recorded(event_, side_);
      order_.waits(given_, event_);
    }
    return order_.end();
  }

  StreamOrder order_;
  const cudaStream_t given_ = name<cudaStream_t>(1), side_ = name<cudaStream_t>(2),
                     other_ = name<cudaStream_t>(3);
  const cudaEvent_t event_ = name<cudaEvent_t>(4), second_ = name<cudaEvent_t>(5);
};

TEST_F(StreamOrderTest, SaysNothingOfTheGivenStream) {
  order_.launched("kernel 'k'", given_);
  EXPECT_EQ(order_.end(), "");
}

TEST_F(StreamOrderTest, TellsOfEachDefaultStreamAndOfTheArgument) {
  for (const cudaStream_t stream : {cudaStream_t{nullptr}, cudaStreamLegacy, cudaStreamPerThread}) {
    order_.begin(given_);
    order_.launched("kernel 'k'", stream);
    order_.host_waits_for_all();  // it has started too early all the same
    const std::string said = order_.end();
    EXPECT_NE(said.find("starts kernel 'k' on the default stream"), std::string::npos) << said;
    EXPECT_NE(said.find("fourth argument"), std::string::npos) << said;
  }
}

TEST_F(StreamOrderTest, WorkElsewhereIsJoinedByAnEventBehindIt) {
  order_.launched("kernel 'k'", side_);
  EXPECT_EQ(end_after(true), "");
  order_.begin(given_);
  order_.launched("kernel 'k'", side_);
  EXPECT_NE(end_after(false).find("cudaStreamWaitEvent"), std::string::npos);
}

TEST_F(StreamOrderTest, AnEventInFrontOfTheWorkJoinsNothing) {
  order_.recorded(event_, side_);
  order_.launched("kernel 'late'", side_);
  order_.waits(given_, event_);
  EXPECT_NE(order_.end().find("kernel 'late'"), std::string::npos);
}

TEST_F(StreamOrderTest, JoinsByWayOfAThirdStream) {
  order_.launched("kernel 'k'", side_);
  order_.recorded(event_, side_);
  order_.waits(other_, event_);
  order_.launched("kernel 'l'", other_);
  order_.recorded(second_, other_);
  order_.waits(given_, second_);
  EXPECT_EQ(order_.end(), "");
}

TEST_F(StreamOrderTest, TheHostMayWaitInstead) {
  order_.launched("kernel 'k'", side_);
  order_.host_waits(side_);
  order_.launched("kernel 'l'", other_);
  order_.recorded(event_, other_);
  order_.host_waits(event_);
  EXPECT_EQ(order_.end(), "");
}

TEST_F(StreamOrderTest, ForgetsTheCallBefore) {
  order_.launched("kernel 'k'", side_);
  order_.end();
  order_.launched("kernel 'between'", side_);
  EXPECT_FALSE(order_.watches(side_));
  order_.begin(given_);
  EXPECT_TRUE(order_.watches(side_));
  EXPECT_FALSE(order_.watches(given_));
  EXPECT_EQ(order_.end(), "");
}

}  // namespace
}  // namespace kb::runner
