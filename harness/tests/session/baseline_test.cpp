// When a package may stand for the reference, and what the lane `library` switches on.
#include "judge/session/baseline.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/files.h"
#include "base/result/files.h"
#include "judge/acceptance/precision.h"
#include "tests/reference/small_task.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

class Package : public testing::Test {
 protected:
  Package() {
    entry_.level = 1;
    entry_.task = "001_small";
    entry_.torch = "2.11.0";
    entry_.build_dir = folder_.path() / "cpu";
    fs::create_directories(entry_.build_dir / "lib/tasks");
    fs::create_directories(entry_.build_dir / "aoti");
    const fs::path library = entry_.build_dir / "lib/tasks/level1.001_small.so";
    std::ofstream(library) << "a library";
    std::ofstream(path()) << "a package";
    made_ = {{"contract", "fp32"},
             {"device", "cpu"},
             {"torch", "2.11.0"},
             {"sizes", {{"N", 4}}},
             {"task_sha256", file_sha256(library)},
             {"failure", nullptr}};
    task_.fields.fields = {{"N", SizeField::Kind::integer, 0, 1, false}};
  }

  fs::path path() const { return package_of(entry_, "fp32"); }
  std::string why() const { return why_no_package(path(), entry_, task_, four_, "fp32", "cpu"); }
  void describe() const { replace_json(fs::path(path()).replace_extension(".json"), made_); }

  const TemporaryDirectory folder_;
  CandidateEntry entry_;
  Task task_ = small_task({}, {});
  SizeBytes four_{4, 0, 0, 0, 0, 0, 0, 0};
  Json made_;
};

TEST_F(Package, StandsForTheReferenceItWasMadeFrom) {
  EXPECT_EQ(path().filename(), "level1.001_small.fp32.pt2");
  EXPECT_EQ(why(), "there is no AOTInductor package; tools/export-aoti cpu makes it");
  describe();
  EXPECT_EQ(why(), "");
}

TEST_F(Package, StandsForNoOther) {
  for (const char* key : {"contract", "device", "torch", "sizes", "task_sha256"}) {
    const Json right = made_;
    made_[key] = "another";
    describe();
    EXPECT_NE(why().find("was made for another " + std::string(key)), std::string::npos);
    made_ = right;
  }
}

TEST_F(Package, SaysWhyItCouldNotBeMade) {
  made_["failure"] = "RuntimeError: data-dependent";
  describe();
  EXPECT_EQ(why(), "the reference could not be exported: RuntimeError: data-dependent");
}

TEST_F(Package, ThatIsNoneIsNotLoaded) {
  EXPECT_ANY_THROW(prepare_baseline(task_, {"aoti", path()}));
}

TEST(Baseline, TheLibrariesMaySearch) {
  apply_precision("fp32");
  const Task task = small_task({}, [](const std::vector<Tensor>& given) { return given; });
  const std::vector<Tensor> given{at::ones({3})};
  EXPECT_TRUE(at::equal(prepare_baseline(task, {"eager", {}})({}, given).at(0), given[0]));
  EXPECT_FALSE(precision_settings().at("cudnn_benchmark"));
  EXPECT_TRUE(at::equal(prepare_baseline(task, {"library", {}})({}, given).at(0), given[0]));
  EXPECT_TRUE(precision_settings().at("cudnn_benchmark"));
  EXPECT_FALSE(precision_settings().at("cudnn_tf32"));  // the contract stays
}

}  // namespace
}  // namespace kb
