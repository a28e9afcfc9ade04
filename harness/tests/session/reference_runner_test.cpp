// The reference's runner as judges use it: this program is its own, as a task's programs are.
#include "judge/session/reference_runner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "judge/session/runner_session.h"
#include "judge/session/workload.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

// Its scratch memory comes from the allocator in each call.
Task small() {
  return small_task(
      {input<float>("x", {1 << 20}), output<float>("y", {1 << 20})},
      [](const std::vector<Tensor>& given) { return std::vector<Tensor>{given[0].exp().relu()}; });
}

class ReferenceRunner : public testing::Test {
 protected:
  ReferenceRunner()
      : workload_(task_, SizeBytes(sizeof(NoSizes)), 4, *memory_), runner_(options(), *memory_) {
    workload_.bind(runner_);
    runner_.call_prepare();
  }

  static RunnerOptions options() {
    RunnerOptions options;
    options.command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                       serve_reference_flag};
    for (const std::string& argument : to_arguments("fp32", Baseline{.lane = "graph"})) {
      options.command.push_back(argument);
    }
    options.environment = {"PATH=/usr/bin:/bin"};
    options.who = "the reference";
    options.trusted = true;
    return options;
  }

  Task task_ = small();
  std::unique_ptr<SharedMemory> memory_ = make_shared_memory();
  Workload workload_;
  RunnerSession runner_;
};

// LibTorch closes a pool of memory with its last graph.
TEST_F(ReferenceRunner, IsRecordedAgainAndAgain) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(runner_.capture(i % 2, 3), "");
    runner_.replay();
  }
}

TEST_F(ReferenceRunner, IsRecordedAgainAfterAnEmptyUnit) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(runner_.capture(0, 0), "");
    runner_.replay();
    EXPECT_EQ(runner_.capture(i % 2, 3), "");
    EXPECT_EQ(runner_.capture(1 - i % 2, 3), "");
    runner_.replay();
    runner_.run(0, 4);
  }
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], kb::serve_reference_flag) == 0) {
    kb::serve_reference(kb::small(), {argv + 2, argv + argc});
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
