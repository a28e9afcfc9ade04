#include "judge/profile/ncu_table.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace kb::test {
namespace {

using Cells = std::map<std::string, std::string>;

// As measure_peaks() names them.
const Json peaks = {{"copy_bytes_per_s", 3.9e12},
                    {"write_bytes_per_s", 3.8e12},
                    {"read_bytes_per_s", 4e12},
                    {"fp32_flops_per_s", 50e12}};
const std::string long_scoreboard =
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
const std::string barrier = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";

std::string row(const std::vector<std::string>& header, const Cells& cells) {
  std::string line;
  for (const std::string& column : header) {
    const auto found = cells.find(column);
    line += (line.empty() ? "\"" : ",\"") + (found == cells.end() ? "" : found->second) + "\"";
  }
  return line + "\n";
}

// What ncu writes for these launches.
std::string table(const std::vector<Cells>& launches) {
  std::vector<std::string> header = {"ID", "Process Name", "Kernel Name", "Block Size",
                                     "Grid Size"};
  header.insert(header.end(), ncu_metrics().begin(), ncu_metrics().end());
  Cells names;
  for (const std::string& column : header) names[column] = column;
  std::string text = "==PROF== Connected to process 17 (/build/bin/kb_profiled)\n";
  text += row(header, names) + row(header, {{"gpu__time_duration.sum", "ns"}});
  for (const Cells& cells : launches) text += row(header, cells);
  return text;
}

Cells launch(const std::string& name, const std::string& nanoseconds, Cells more = {}) {
  more["ID"] = "0";
  more["Kernel Name"] = name;
  more["gpu__time_duration.sum"] = nanoseconds;
  return more;
}

TEST(NcuTable, ReadsCellsOfCsv) {
  EXPECT_EQ(csv_cells(R"("a","b, ""c""",,"d")"),
            (std::vector<std::string>{"a", "b, \"c\"", "", "d"}));
}

TEST(NcuTable, AddsUpTheLaunchesOfAKernel) {
  const Json found = summarise_ncu(table({launch("small(int)", "1,000"),
                                          launch("large<float>(float const*, int)", "2,000,000",
                                                 {{"Block Size", "(256, 1, 1)"}}),
                                          launch("large<float>(float const*, int)", "1,000,000")}),
                                   peaks);
  ASSERT_EQ(found["kernels"].size(), 2);
  const Json& large = found["kernels"][0];
  EXPECT_EQ(large["name"], "large<float>(float const*, int)");
  EXPECT_EQ(large["launches"], 2);
  EXPECT_DOUBLE_EQ(large["ms"].get<double>(), 3.0);
  EXPECT_EQ(large["block"], "(256, 1, 1)");
  EXPECT_NEAR(large["share"].get<double>() + found["kernels"][1]["share"].get<double>(), 1, 1e-12);
  EXPECT_DOUBLE_EQ(found["ms"].get<double>(), 3.001);
}

TEST(NcuTable, RatesAreOfTheMeasuredPeak) {
  const Json found = summarise_ncu(
      table({launch("k", "1000000",
                    {{"dram__bytes.sum", "2,000,000,000"},
                     {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "10000000000"},
                     {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "5000000000"}})}),
      peaks);
  const Json& kernel = found["kernels"][0];
  EXPECT_DOUBLE_EQ(kernel["bytes_per_second"].get<double>(), 2e12);
  EXPECT_DOUBLE_EQ(kernel["bytes_of_peak"].get<double>(), 0.5);
  EXPECT_DOUBLE_EQ(kernel["flops_per_second"].get<double>(), 25e12);
  EXPECT_DOUBLE_EQ(kernel["flops_of_peak"].get<double>(), 0.5);
  const Json unknown = summarise_ncu(table({launch("k", "1000")}), nullptr);
  EXPECT_TRUE(unknown["kernels"][0]["bytes_of_peak"].is_null());
}

TEST(NcuTable, SaysWhatWarpsWaitFor) {
  const Json found =
      summarise_ncu(table({launch("k", "1000", {{long_scoreboard, "3"}, {barrier, "1"}})}), peaks);
  const Json& stalls = found["kernels"][0]["stalls"];
  ASSERT_EQ(stalls.size(), 2);
  EXPECT_EQ(stalls[0]["reason"], "long_scoreboard");
  EXPECT_DOUBLE_EQ(stalls[0]["share"].get<double>(), 0.75);
}

TEST(NcuTable, LongLaunchesWeighMore) {
  const std::string warps = "sm__warps_active.avg.pct_of_peak_sustained_active";
  const Json found = summarise_ncu(
      table({launch("k", "1000", {{warps, "10"}}), launch("k", "3000", {{warps, "90"}})}), peaks);
  EXPECT_DOUBLE_EQ(found["kernels"][0]["occupancy_pct"].get<double>(), 70);
}

TEST(NcuTable, KeepsTheLongestKernels) {
  std::vector<Cells> launches;
  for (int i = 0; i < 20; ++i) {
    launches.push_back(launch("k" + std::to_string(i), std::to_string(100 + i)));
  }
  const Json found = summarise_ncu(table(launches), peaks);
  EXPECT_EQ(found["kernels"].size(), 12);
  EXPECT_EQ(found["kernels"][0]["name"], "k19");
  EXPECT_EQ(found["more_kernels"], 8);
}

TEST(NcuTable, NamesOfKernelsReachNoTerminal) {
  const Json found = summarise_ncu(table({launch("\x1b[31mk", "1000")}), peaks);
  EXPECT_EQ(found["kernels"][0]["name"].get<std::string>().find('\x1b'), std::string::npos);
}

TEST(NcuTable, WithoutKernelsThereIsNothing) {
  EXPECT_THROW(summarise_ncu("", peaks), std::runtime_error);
  EXPECT_THROW(summarise_ncu(table({}), peaks), std::runtime_error);
}

TEST(NcuComplaint, IsTheFirstError) {
  EXPECT_NE(ncu_complaint("==PROF== x\n==ERROR== Failed to find metric x\n").find("metric x"),
            std::string::npos);
  EXPECT_NE(ncu_complaint("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n")
                .find("performance counters"),
            std::string::npos);
  EXPECT_EQ(ncu_complaint("all is well\n"), "");
}

}  // namespace
}  // namespace kb::test
