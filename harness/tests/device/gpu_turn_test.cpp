// Two processes of one build folder on one GPU, and on two.
#include "judge/device/gpu_turn.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "base/files.h"

namespace kb {
namespace {

class GpuTurnTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(said_), 0);
    ASSERT_EQ(pipe(go_), 0);
    std::filesystem::create_directories(folder_ / "bin");
  }
  // A process that waits for its turn on a GPU, says so, and then does something.
  pid_t start(const char* gpu, char name, const std::function<void()>& then) {
    return start(folder_, gpu, name, then);
  }
  pid_t start(const std::filesystem::path& folder, const char* gpu, char name,
              const std::function<void()>& then) {
    const pid_t child = fork();
    if (child != 0) return child;
    dup2(said_[1], STDERR_FILENO);
    setenv("CUDA_VISIBLE_DEVICES", gpu, 1);
    wait_for_gpu(folder, {"GPU-1", "GPU-2"});
    say(name);
    then();
    _exit(0);
  }
  void say(char letter) const { ASSERT_EQ(write(said_[1], &letter, 1), 1); }
  // What a process said, or "w" for a line "waiting for ...".
  char hear() const {
    char first = 0, next = 0;
    if (read(said_[0], &first, 1) != 1) return 0;
    while (first == 'w' && next != '\n') {
      if (read(said_[0], &next, 1) != 1) return 0;
    }
    return first;
  }
  void let_go() const { ASSERT_EQ(write(go_[1], "", 1), 1); }
  void hold() const {
    char any;
    if (read(go_[0], &any, 1) == 1) say('E');
  }

  int said_[2], go_[2];
  const TemporaryDirectory temporary_;
  const std::filesystem::path folder_ = temporary_.path() / "gpu_turn";
};

TEST_F(GpuTurnTest, TheSecondProcessWaitsForTheFirstToEnd) {
  const pid_t first = start("GPU-1,GPU-2", 'A', [&] { hold(); });
  ASSERT_EQ(hear(), 'A');
  const pid_t second = start("GPU-1", 'B', [] {});
  EXPECT_EQ(hear(), 'w');
  let_go();
  EXPECT_EQ(hear(), 'E') << "the end of the first";
  EXPECT_EQ(hear(), 'B');
  for (pid_t child : {first, second}) waitpid(child, nullptr, 0);
}

TEST_F(GpuTurnTest, AGpuHasOneTurnByWhateverNameAndFolder) {
  // As tools/judge makes them.
  const std::filesystem::path other = temporary_.path() / "of_a_kernel";
  std::filesystem::create_directories(other);
  std::filesystem::create_directory_symlink(folder_ / "bin", other / "bin");
  const pid_t first = start("GPU-2", 'A', [&] { hold(); });
  ASSERT_EQ(hear(), 'A');
  const pid_t second = start(other, "1", 'B', [] {});
  EXPECT_EQ(hear(), 'w');
  let_go();
  EXPECT_EQ(hear(), 'E') << "the end of the first";
  EXPECT_EQ(hear(), 'B');
  for (pid_t child : {first, second}) waitpid(child, nullptr, 0);
}

TEST_F(GpuTurnTest, AnotherGpuIsFree) {
  const pid_t first = start("GPU-1", 'A', [&] { hold(); });
  ASSERT_EQ(hear(), 'A');
  const pid_t second = start("GPU-2", 'B', [] {});
  EXPECT_EQ(hear(), 'B');
  let_go();
  for (pid_t child : {first, second}) waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace kb
