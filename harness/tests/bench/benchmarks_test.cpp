// What Google Benchmark runs and writes when chains are its benchmarks.
#include "judge/bench/benchmarks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "base/result/files.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

class BenchmarksTest : public testing::Test {
 protected:
  Benchmarks with(std::vector<std::string> flags) {
    flags.insert(flags.begin(), "--benchmark_filter=.");  // flags outlive who set them
    return Benchmarks("seed.level1.019_relu", "level1.019_relu.bench", std::move(flags));
  }
  static Chain chain(const std::string& lane, EstimatePolicy policy) {
    Chain chain{.lane = lane};
    chain.estimate = SpeedupEstimate(policy);
    chain.times.calls = 2;
    return chain;
  }

  const TemporaryDirectory folder_;
  const fs::path json_ = folder_.path() / "benchmarks.json";
};

// "name": value of each run of a chain that has it.
std::vector<double> values(const Json& file, const std::string& aggregate, const char* key) {
  std::vector<double> out;
  for (const Json& run : file["benchmarks"]) {
    if (run.value("aggregate_name", "") == aggregate) out.push_back(run[key]);
  }
  return out;
}

// Blocks of 2 ms against 4 ms that scatter so that the pilot of 8 asks for 13.
Abba scattered(int i) {
  const double off = std::exp((i % 2 == 0 ? 1 : -1) * 0.005 * std::sqrt(7.0 / 8));
  return {4e-3, 2e-3 * off, 2e-3 * off, 4e-3};
}

TEST_F(BenchmarksTest, EachBlockIsARepetitionThePilotsToo) {
  Benchmarks benchmarks = with({});
  Chain eager = chain("eager", {.pilot_blocks = 8, .half_width = 0.005});
  int blocks = 0;
  benchmarks.run(eager, [&] { return scattered(blocks++); });
  EXPECT_EQ(blocks, 13);
  benchmarks.write({&eager}, json_);
  const Json file = read_json(json_);
  EXPECT_EQ(file["context"]["executable"], "level1.019_relu.bench");
  const std::vector<double> times = values(file, "", "real_time");
  ASSERT_EQ(times.size(), 13);
  for (int i = 0; i < 13; ++i) EXPECT_NEAR(times[i], 1e6 * scattered(i).b1 / 2, 1e-6);
  EXPECT_NEAR(values(file, "hl", "speedup").at(0), 2, 0.02);
  EXPECT_NEAR(values(file, "hl", "reference_us").at(0), 2000, 1e-6);
  EXPECT_LT(values(file, "ci_lo", "speedup").at(0), 2);
  EXPECT_GT(values(file, "ci_hi", "speedup").at(0), 2);
}

TEST_F(BenchmarksTest, AChainThatIsTimedAgainReplacesItself) {
  Benchmarks benchmarks = with({});
  Chain first = chain("graph", {.pilot_blocks = 8}), empty = chain("eager", {});
  benchmarks.run(first, [] { return Abba{1, 1, 1, 1}; });
  Chain again = chain("graph", {.pilot_blocks = 4, .max_blocks = 4});
  benchmarks.run(again, [] { return Abba{6, 2, 2, 6}; });
  benchmarks.write({&empty, &again}, json_);
  const Json file = read_json(json_);
  const std::vector<double> speedups = values(file, "", "speedup");
  ASSERT_EQ(speedups.size(), 4);
  for (double speedup : speedups) EXPECT_NEAR(speedup, 3, 1e-9);
  EXPECT_TRUE(values(file, "ci_lo", "speedup").empty()) << "four blocks have no finite interval";
}

TEST_F(BenchmarksTest, WhatABlockThrowsEndsTheRun) {
  struct Wrong {};
  Benchmarks benchmarks = with({});
  Chain eager = chain("eager", {});
  int blocks = 0;
  EXPECT_THROW(benchmarks.run(eager,
                              [&]() -> Abba {
                                if (++blocks == 3) throw Wrong();
                                return {1, 1, 1, 1};
                              }),
               Wrong);
  EXPECT_EQ(blocks, 3);
}

TEST_F(BenchmarksTest, AFilterChoosesLanes) {
  const std::vector<std::string> lanes{"eager", "graph", "library"};
  EXPECT_EQ(with({}).chosen(lanes), lanes);
  EXPECT_EQ(with({"--benchmark_filter=/graph"}).chosen(lanes), std::vector<std::string>{"graph"});
  EXPECT_EQ(with({"--benchmark_filter=-graph"}).chosen(lanes),
            (std::vector<std::string>{"eager", "library"}));
  EXPECT_THROW(with({"--benchmark_filter=relu$"}).chosen(lanes), std::runtime_error);
}

TEST_F(BenchmarksTest, ListsLanesOnlyIfItIsAskedTo) {
  EXPECT_FALSE(with({}).list({"eager"}));
  EXPECT_FALSE(with({"--benchmark_list_tests=false"}).list({"eager"}));
  testing::internal::CaptureStdout();
  EXPECT_TRUE(with({"--benchmark_list_tests"}).list({"eager", "graph"}));
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "seed.level1.019_relu/eager\nseed.level1.019_relu/graph\n");
}

TEST_F(BenchmarksTest, TheTableIsAsWideAsItsNames) {
  Benchmarks benchmarks = with({});
  Chain eager = chain("eager", {.pilot_blocks = 1, .max_blocks = 1});
  benchmarks.run(eager, [] { return Abba{1, 1, 1, 1}; });
  testing::internal::CaptureStdout();
  benchmarks.print({&eager});
  const std::string table = testing::internal::GetCapturedStdout();
  EXPECT_NE(table.find("seed.level1.019_relu/eager"), std::string::npos);
  EXPECT_LT(table.size(), 4000) << table.substr(0, 4000);
}

TEST_F(BenchmarksTest, TheFileOfAFlagIsWrittenToo) {
  const fs::path other = folder_.path() / "out.json";
  Benchmarks benchmarks = with({"--benchmark_out=" + other.string()});
  Chain eager = chain("eager", {.pilot_blocks = 1, .max_blocks = 1});
  benchmarks.run(eager, [] { return Abba{1, 1, 1, 1}; });
  benchmarks.write({&eager}, "");
  EXPECT_EQ(values(read_json(other), "", "speedup"), std::vector<double>{1});
}

TEST_F(BenchmarksTest, WhatWouldChangeAChainIsRefused) {
  for (const char* flag : {"--benchmark_repetitions=3", "--benchmark_dry_run",
                           "--benchmark_out_format=csv", "--benchmark_nonsense"}) {
    EXPECT_THROW(with({flag}), std::runtime_error) << flag;
  }
}

}  // namespace
}  // namespace kb
