// From a GPU's UUID to CTest's name for it and back to what CUDA understands.
#include "judge/device/gpu_choice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <stdexcept>

namespace kb {
namespace {

const std::string first = "GPU-5d3cf1a0-9b8e-4c1d-a0b1-0123456789ab";
const std::string second = "GPU-00000000-ffff-4c1d-a0b1-fedcba987654";

std::string given(const std::string& id) { return "id:" + id + ",slots:1"; }

TEST(GpuChoice, UuidsSurviveTheWayThroughCTest) {
  const std::vector<std::string> ids = resource_ids({first, second});
  ASSERT_EQ(ids.size(), 2u);
  for (const std::string& id : ids) EXPECT_TRUE(std::regex_match(id, std::regex("[a-z0-9_]+")));
  EXPECT_EQ(visible_devices(given(ids[0]), {}), first);
  EXPECT_EQ(visible_devices(given(ids[1]), {}), second);
  EXPECT_EQ(visible_devices(given(ids[1]), "3,1"), second);  // a UUID is right whatever is visible
}

TEST(GpuChoice, ASingleGpuIsWhateverIsVisible) {
  EXPECT_EQ(resource_ids({first}), std::vector<std::string>{"0"});
  EXPECT_EQ(visible_devices(given("0"), {}), "0");
  EXPECT_EQ(visible_devices(given("0"), "MIG-2f1a"), "MIG-2f1a");
  EXPECT_EQ(visible_devices(given("0"), "5"), "5");
}

TEST(GpuChoice, NumbersCountInWhatWasVisible) {
  EXPECT_EQ(visible_devices(given("2"), {}), "2");
  EXPECT_EQ(visible_devices(given("1"), "4,6"), "6");
  EXPECT_EQ(visible_devices(given("1"), first + "," + second), second);
}

TEST(GpuChoice, WhatNamesNoGpuIsRefused) {
  for (const char* wrong : {"", "0", "id:", "id:,slots:1", "id:0", "id:a,slots:1", "id:-1,slots:1",
                            "id:99999,slots:1", "id:0,slots:1;id:1,slots:1"}) {
    EXPECT_THROW(visible_devices(wrong, {}), std::runtime_error) << wrong;
  }
  EXPECT_THROW(visible_devices(given("2"), "4,6"), std::runtime_error);
  EXPECT_THROW(visible_devices(given("0"), ""), std::runtime_error);
}

TEST(GpuChoice, ThePlaceAmongGpusIsKnownBeforeCudaIsAsked) {
  EXPECT_EQ(position_among({first, second}, {}), 0u);
  EXPECT_EQ(position_among({first, second}, first), 0u);
  EXPECT_EQ(position_among({first, second}, second), 1u);
  EXPECT_EQ(position_among({first, second}, second.substr(0, 8) + "," + first), 1u);
  EXPECT_EQ(position_among({first, second}, "1"), 1u);
  EXPECT_EQ(position_among({first}, "5,6"), 5u) << "a run on each of several GPUs";
  for (const char* unknown : {"", "MIG-2f1a", ",", "-1", "99999"}) {
    EXPECT_EQ(position_among({first, second}, unknown), 0u) << unknown;
  }
}

TEST(GpuChoice, AGpuHasOneNameHoweverItIsGiven) {
  EXPECT_EQ(name_among({first, second}, {}), first);
  for (const std::string& given : {second, second.substr(0, 8), std::string("1")}) {
    EXPECT_EQ(name_among({first, second}, given), second) << given;
  }
  EXPECT_EQ(name_among({first, second}, "MIG-2f1a,MIG-3b"), "MIG-2f1a");
  EXPECT_EQ(name_among({first}, "5"), "5");
}

TEST(GpuChoice, IsMadeInTheEnvironment) {
  setenv("CUDA_VISIBLE_DEVICES", "4,6", 1);
  unsetenv("CTEST_RESOURCE_GROUP_0_GPUS");
  use_given_gpu();
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "4,6");
  setenv("CTEST_RESOURCE_GROUP_0_GPUS", given("1").c_str(), 1);
  use_given_gpu();
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "6");
  unsetenv("CTEST_RESOURCE_GROUP_0_GPUS");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace kb
