// Drawn orders find each race whatever the seed, and take no right kernel for a wrong one.
#include <gtest/gtest.h>

#include <string>

#include "run_command.h"

namespace {

using kb::test::environment;
using kb::test::run_command;

constexpr int seeds = 20;

class Races : public testing::TestWithParam<const char*> {
 protected:
  static std::string outcome(const std::string& kernel, int seed) {
    const std::string schedule = "drawn:" + std::to_string(seed);
    return run_command("KB_CPU_SCHEDULE=" + schedule + " " + environment("KB_RACES") + " " + kernel)
        .output;
  }
};

TEST_P(Races, AreFoundWithEachSeed) {
  int found = 0;
  for (int seed = 1; seed <= seeds; ++seed) found += outcome(GetParam(), seed)[0] != '0';
  EXPECT_EQ(found, seeds);
}

TEST_P(Races, AreNotSeenInTheirTwins) {
  for (int seed = 1; seed <= seeds; ++seed)
    EXPECT_EQ(outcome(GetParam() + std::string("_right"), seed), "0 of 24 launches wrong\n")
        << seed;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Races,
                         testing::Values("reused_sums", "reused_broadcast", "reused_tile",
                                         "last_block", "block_before", "first_block_clears",
                                         "threads_add", "warps_add", "threads_count", "blocks_add",
                                         "one_block_adds", "warps_add_shared"),
                         [](const auto& info) { return std::string(info.param); });

// Each launch compares hundreds of megabytes, so there are fewer.
TEST(Orders, IsolateTheBlocksAfterOneThatWritesMuch) {
  for (int seed = 1; seed <= 2; ++seed) {
    const std::string command = "KB_CPU_SCHEDULE=drawn:" + std::to_string(seed) + " " +
                                environment("KB_RACES") + " wide_blocks_add";
    EXPECT_NE(run_command(command).output[0], '0');
    EXPECT_EQ(run_command(command + "_right").output, "0 of 24 launches wrong\n");
  }
}

TEST(Orders, LeaveEveryFeatureRight) {
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto outcome = run_command("KB_CPU_SCHEDULE=drawn:" + std::to_string(seed) + " " +
                                     environment("KB_CONFORMANCE"));
    EXPECT_EQ(outcome.exit_code, 0) << "seed " << seed << "\n" << outcome.output;
  }
}

TEST(Orders, AreThoseOfTheSeed) {
  // One thread of the operating system: the rest is up to the seed.
  const std::string command = " KB_CPU_THREADS=1 " + environment("KB_RACES") + " last_block";
  const std::string first = run_command("KB_CPU_SCHEDULE=drawn:7" + command).output;
  EXPECT_NE(first[0], '0') << first;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run_command("KB_CPU_SCHEDULE=drawn:7" + command).output, first);
}

TEST(Orders, ForwardForgivesWhatOrderForgives) {
  for (const char* kernel : {"last_block", "threads_add", "blocks_add"})
    EXPECT_EQ(run_command("KB_CPU_THREADS=1 " + environment("KB_RACES") + " " + kernel).output,
              "0 of 24 launches wrong\n");
}

TEST(Orders, SaysWhichThereAre) {
  const auto outcome =
      run_command("KB_CPU_SCHEDULE=random " + environment("KB_RACES") + " reused_tile_right");
  EXPECT_NE(outcome.output.find("KB_CPU_SCHEDULE is forward, reverse or drawn:"), std::string::npos)
      << outcome.output;
}

}  // namespace
