// Peaks are measured again for another GPU or driver, and only then.
#include "judge/device/peaks_file.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

TEST(PeaksFile, BelongsToOneGpuAndDriver) {
  const std::filesystem::path build_dir = testing::TempDir();
  const Json gpu = {{"name", "a GPU"}, {"uuid", "GPU-1"}, {"driver", "580.1"}};
  const std::filesystem::path file = peaks_file(build_dir, gpu["uuid"]);
  std::filesystem::remove(file);
  EXPECT_FALSE(has_peaks(file, gpu));

  keep_peaks(file, gpu, {{"copy_bytes_per_s", 4e12}});
  EXPECT_TRUE(has_peaks(file, gpu));
  EXPECT_EQ(read_json(file)["peaks"]["copy_bytes_per_s"], 4e12);

  Json updated = gpu;
  updated["driver"] = "580.2";
  EXPECT_FALSE(has_peaks(file, updated));
  Json other = gpu;
  other["uuid"] = "GPU-2";
  EXPECT_FALSE(has_peaks(file, other));
}

TEST(PeaksFile, TheFastestRateOfMemoryCounts) {
  Json peaks = {{"copy_bytes_per_s", 4.0e12}, {"read_bytes_per_s", 4.3e12}};
  EXPECT_THROW(memory_rate(peaks), Json::exception);
  peaks["write_bytes_per_s"] = 4.1e12;
  EXPECT_EQ(memory_rate(peaks), 4.3e12);
}

TEST(PeaksFile, OfAnEarlierVersionCountsAsNone) {
  const Json gpu = {{"name", "a GPU"}, {"uuid", "GPU-3"}, {"driver", "580.1"}};
  const std::filesystem::path file = peaks_file(testing::TempDir(), gpu["uuid"]);
  keep_peaks(file, gpu, Json::object());
  Json kept = read_json(file);
  kept["schema"] = 1;
  replace_json(file, kept);
  EXPECT_FALSE(has_peaks(file, gpu));
}

TEST(PeaksFile, OfEveryGpuOfTheMachineAreNeeded) {
  const std::filesystem::path build_dir = std::filesystem::path(testing::TempDir()) / "machine";
  std::filesystem::remove_all(build_dir);
  std::filesystem::create_directories(build_dir);
  const Json one = {{"name", "a GPU"}, {"uuid", "GPU-1"}, {"driver", "580.1"}};
  const Json two = {{"name", "a GPU"}, {"uuid", "GPU-2"}, {"driver", "580.1"}};
  replace_json(build_dir / "env.json", {{"gpus", {one, two}}});
  EXPECT_FALSE(all_peaks_known(build_dir));
  keep_peaks(peaks_file(build_dir, "GPU-1"), one, Json::object());
  EXPECT_FALSE(all_peaks_known(build_dir));
  keep_peaks(peaks_file(build_dir, "GPU-2"), two, Json::object());
  EXPECT_TRUE(all_peaks_known(build_dir));
}

TEST(PeaksFile, OfNoGpuAreNotKnown) {
  const std::filesystem::path build_dir = std::filesystem::path(testing::TempDir()) / "no_gpu";
  std::filesystem::create_directories(build_dir);
  replace_json(build_dir / "env.json", {{"gpus", Json::array()}});
  EXPECT_THROW(all_peaks_known(build_dir), std::runtime_error);
}

}  // namespace
}  // namespace kb
