// Each planted bug is caught by the presets that promise it, with kernel, place and kind.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "run_command.h"

namespace {

using kb::test::environment;
using kb::test::last_report;
using kb::test::run_command;

const std::string preset = KB_PRESET;  // none, address or thread

const std::vector<std::string> schedules{"forward", "reverse", "drawn:1", "drawn:2",
                                         "drawn:3", "drawn:4", "drawn:5", "drawn:6"};

struct Bug {
  const char* name;
  const char* cpu;  ///< what the last report must match in each preset; "" = no report is promised
  const char* address;
  const char* thread;
  const char* outcome;  ///< what the program itself must print when it survives
};

constexpr const char* wrong = "[1-9][0-9]* of 128 values wrong";
constexpr const char* overrun =
    "cudaErrorIllegalAddress in kernel global_overrun .*block \\(0,0,0\\), thread "
    "\\(0,0,0\\).*past the end";
constexpr const char* race = "data race: .*planted.cu:[0-9]+ and .*planted.cu:[0-9]+";

const Bug bugs[] = {
    {"global_overrun", overrun,
     "heap-buffer-overflow in kernel global_overrun .*planted.cu:[0-9]+$", "", ""},
    {"padding_overrun",
     "kernel spill_over .*4 bytes were written just past the end of the 400-byte",
     "heap-buffer-overflow in kernel spill_over .*thread \\(99,0,0\\)", "", ""},
    {"shared_overrun", "kernel shared_overrun .*past the end of the shared variable tile",
     "(use-after-poison|out of bounds).*|kernel shared_overrun.*", "", ""},
    {"small_dynamic",
     "kernel small_dynamic .*past the end of the dynamic shared memory of 400 bytes",
     "use-after-poison in kernel small_dynamic .*thread \\(100,0,0\\).*planted.cu:[0-9]+$", "", ""},
    {"far_behind_dynamic",
     "kernel far_behind_dynamic .*write of shared memory [0-9]+ bytes past the "
     "end.*planted.cu:[0-9]+",
     "kernel far_behind_dynamic .*planted.cu:[0-9]+", "", ""},
    {"static_and_dynamic",
     "cudaErrorInvalidValue in kernel static_and_dynamic .*40960 bytes up to variable fixed "
     "\\(planted.cu:[0-9]+\\), and the dynamic one, 40960 bytes, exceed together 49152",
     "cudaErrorInvalidValue in kernel static_and_dynamic",
     "cudaErrorInvalidValue in kernel static_and_dynamic", "error cudaErrorInvalidValue"},
    {"too_large_static",
     "cudaErrorInvalidKernelImage in kernel large_static .*233472 bytes up to variable fixed "
     "\\(planted.cu:[0-9]+\\), exceeds 232448 bytes; nvcc rejects this",
     "cudaErrorInvalidKernelImage", "cudaErrorInvalidKernelImage",
     "error cudaErrorInvalidKernelImage"},
    {"missing_barrier", "", "", race, wrong},
    {"missing_second_barrier", "", "", race, wrong},
    {"in_place_scan", "", "", race, wrong},
    {"unsynchronised_sum", "", "", race, wrong},
    {"unsynchronised_shared_sum", "", "", race, wrong},
    {"unsynchronised_histogram", "", "", race, wrong},
    {"warp_without_barrier", "", "", race, wrong},
    {"unsynchronised_blocks", "", "", race, ""},
    {"half_a_warp",
     "deadlock: threads 0-15 wait in __shfl_down_sync.*planted.cu:[0-9]+, threads 16-127 wait in "
     "__syncthreads.*planted.cu:[0-9]+",
     "deadlock: threads 0-15", "deadlock: threads 0-15", "error cudaErrorLaunchTimeout"},
    {"half_of_each_warp",
     "deadlock: threads 0, 2, 4, ... wait in __shfl_down_sync\\(\\) \\(mask 0x000000ff\\) at "
     "planted.cu:[0-9]+, threads 1, 3, 5, ... wait in __syncthreads\\(\\) at .* and others in 2 "
     "more "
     "ways, and no other thread of the block can run$",
     "deadlock: threads 0, 2, 4", "deadlock: threads 0, 2, 4", "error cudaErrorLaunchTimeout"},
    {"divergent_barrier",
     "warning: divergent barrier: .*planted.cu:[0-9]+ and at planted.cu:[0-9]+",
     "warning: divergent barrier", "warning: divergent barrier", "0 of 128 values wrong"},
    {"misaligned_vector",
     "cudaErrorMisalignedAddress in kernel misaligned_vector .*planted.cu:[0-9]+",
     "cudaErrorMisalignedAddress in kernel misaligned_vector .*planted.cu:[0-9]+", "",
     "error cudaErrorMisalignedAddress"},
    {"uninitialised_shared", "", "", "", "128 of 128 values wrong, NaN"},
    {"uninitialised_integer", "", "", "", "128 of 128 values wrong"},
    {"unwritten_output", "", "", "", "1 of 128 values wrong, NaN"},
    {"failing_assertion",
     "cudaErrorAssert in kernel failing_assertion .*thread \\(100,0,0\\).*threadIdx.x != 100",
     "cudaErrorAssert", "cudaErrorAssert", "error cudaErrorAssert"},
    {"null_pointer", "kernel null_pointer .*null pointer at planted.cu:[0-9]+",
     "null pointer.*planted.cu:[0-9]+", "null pointer", "error cudaErrorIllegalAddress"},
    {"stack_overflow", "cudaErrorHardwareStackError in kernel stack_overflow",
     "cudaErrorHardwareStackError", "cudaErrorHardwareStackError",
     "error cudaErrorHardwareStackError"},
    {"use_after_free", "after free: inside the 512-byte freed allocation",
     "heap-use-after-free in kernel fill", "", ""},
    {"host_dereference", "device memory dereferenced on the host at planted.cu:[0-9]+", "", "", ""},
    {"division_by_zero", "kernel divide .*division by zero", "kernel divide .*ivision by zero",
     "division by zero", "error cuda"},
    {"absent_lane",
     "warning: __shfl_down_sync.*planted.cu:[0-9]+ reads from lane (16|17|18|19|2.|3.)", "", "",
     wrong},
    {"block_too_large", "cudaErrorInvalidConfiguration in the launch of kernel fill .*2048 threads",
     "cudaErrorInvalidConfiguration", "cudaErrorInvalidConfiguration",
     "error cudaErrorInvalidConfiguration"},
    {"unchecked_launch", "warning: launch of kernel fill .*follows the failed launch",
     "follows the failed launch", "follows the failed launch",
     "error cudaErrorInvalidConfiguration"},
};

class Planted : public testing::TestWithParam<Bug> {};

TEST_P(Planted, IsReported) {
  const Bug& bug = GetParam();
  const char* promised = preset == "none"      ? bug.cpu
                         : preset == "address" ? bug.address
                                               : bug.thread;
  const bool survives = std::string(promised).empty() || *bug.outcome;
  if (!*promised && !*bug.outcome) GTEST_SKIP() << "not promised by this preset";
  // A missing barrier shows in at least one of the orders.
  std::string all;
  bool reported = !*promised, printed = !*bug.outcome;
  for (const std::string& schedule : schedules) {
    const auto outcome = run_command("KB_CPU_SCHEDULE=" + schedule + " " +
                                     environment("KB_PLANTED") + " " + bug.name);
    all += outcome.output;
    if (*promised) reported |= std::regex_search(last_report(outcome.output), std::regex(promised));
    if (*bug.outcome) printed |= std::regex_search(outcome.output, std::regex(bug.outcome));
    if (survives && *bug.outcome && preset == "none")
      EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  }
  EXPECT_TRUE(reported) << "expected " << promised << " in\n" << all;
  // With a sanitizer the process may end before it prints.
  if (preset == "none") EXPECT_TRUE(printed) << "expected " << bug.outcome << " in\n" << all;
}

INSTANTIATE_TEST_SUITE_P(Bugs, Planted, testing::ValuesIn(bugs),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Planted, CorrectKernelsAreSilent) {
  for (const char* name :
       {"none", "large_arrays", "large_static", "synchronised_sums", "static_and_dynamic_asked"}) {
    for (const std::string& schedule : schedules) {
      const auto outcome =
          run_command("KB_CPU_SCHEDULE=" + schedule + " " + environment("KB_PLANTED") + " " + name);
      EXPECT_EQ(outcome.exit_code, 0);
      EXPECT_EQ(outcome.output, "error cudaSuccess, 0 of 128 values wrong\n")
          << name << ", " << schedule;
    }
  }
}

TEST(Planted, EndlessKernelIsNamed) {
  const auto outcome = run_command("timeout 8 " + environment("KB_PLANTED") + " endless");
  EXPECT_TRUE(
      std::regex_search(last_report(outcome.output),
                        std::regex("kernel endless \\(planted.cu:[0-9]+\\) has been running")))
      << outcome.output;
}

TEST(Planted, DivergentBarrierIsAnErrorWhenStrict) {
  const auto outcome =
      run_command("KB_CPU_STRICT=1 " + environment("KB_PLANTED") + " divergent_barrier");
  EXPECT_TRUE(std::regex_search(last_report(outcome.output),
                                std::regex("^cudaErrorLaunchFailure in kernel divergent_barrier")))
      << outcome.output;
}

}  // namespace
