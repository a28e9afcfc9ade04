// Peaks are measured again for another GPU or driver, and only then.
#include "judge/device/peaks_file.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace kb {
namespace {

class PeaksFile : public testing::Test {
 protected:
  const TemporaryDirectory folder_;
  const std::filesystem::path& build_dir_ = folder_.path();
};

TEST_F(PeaksFile, BelongsToOneGpuAndDriver) {
  const Json gpu = {{"name", "a GPU"}, {"uuid", "GPU-1"}, {"driver", "580.1"}};
  const std::filesystem::path file = peaks_file(build_dir_, gpu["uuid"]);
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

TEST_F(PeaksFile, TheFastestRateOfMemoryCounts) {
  Json peaks = {{"copy_bytes_per_s", 4.0e12}, {"read_bytes_per_s", 4.3e12}};
  EXPECT_THROW(memory_rate(peaks), Json::exception);
  peaks["write_bytes_per_s"] = 4.1e12;
  EXPECT_EQ(memory_rate(peaks), 4.3e12);
}

TEST_F(PeaksFile, OfAnEarlierVersionCountsAsNone) {
  const Json gpu = {{"name", "a GPU"}, {"uuid", "GPU-3"}, {"driver", "580.1"}};
  const std::filesystem::path file = peaks_file(build_dir_, gpu["uuid"]);
  keep_peaks(file, gpu, Json::object());
  Json kept = read_json(file);
  kept["schema"] = 1;
  replace_json(file, kept);
  EXPECT_FALSE(has_peaks(file, gpu));
}

TEST_F(PeaksFile, OfEveryGpuOfTheMachineAreNeeded) {
  const Json one = {{"name", "a GPU"}, {"uuid", "GPU-1"}, {"driver", "580.1"}};
  const Json two = {{"name", "a GPU"}, {"uuid", "GPU-2"}, {"driver", "580.1"}};
  replace_json(build_dir_ / "env.json", {{"gpus", {one, two}}});
  EXPECT_FALSE(all_peaks_known(build_dir_));
  keep_peaks(peaks_file(build_dir_, "GPU-1"), one, Json::object());
  EXPECT_FALSE(all_peaks_known(build_dir_));
  keep_peaks(peaks_file(build_dir_, "GPU-2"), two, Json::object());
  EXPECT_TRUE(all_peaks_known(build_dir_));
}

TEST_F(PeaksFile, OfNoGpuAreNotKnown) {
  replace_json(build_dir_ / "env.json", {{"gpus", Json::array()}});
  EXPECT_THROW(all_peaks_known(build_dir_), std::runtime_error);
}

}  // namespace
}  // namespace kb
