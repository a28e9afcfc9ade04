// Result files: replaced as a whole or not at all, bound to one module and one harness.
#include "base/result/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/result/candidate_entry.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }

  const TemporaryDirectory folder;
  const fs::path& path = folder.path();
};

using Files = Folder;

TEST_F(Files, ReplaceCreatesFoldersAndLeavesNothingBeside) {
  replace_text(path / "a/b.json", "one");
  replace_text(path / "a/b.json", "two");
  EXPECT_EQ(read_text(path / "a/b.json"), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(path / "a"), fs::directory_iterator()), 1);
}

// A limit on file size fails a write half-way, as a full disk does.
TEST_F(Files, AFullDiskKeepsTheOldFile) {
  replace_text(path / "r.json", "old");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tiny{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tiny);
  EXPECT_THROW(replace_text(path / "r.json", std::string(100'000, 'x')), std::runtime_error);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(read_text(path / "r.json"), "old");
  EXPECT_EQ(files(), 1U) << "the half-written file is gone";
}

TEST_F(Files, ErrorsNameTheFile) {
  write("broken.json", "{\"a\": ");
  for (const fs::path& file : {path / "broken.json", path / "missing.json"}) {
    try {
      read_json(file);
      FAIL() << file << " was accepted";
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(file.filename()), std::string::npos) << error.what();
    }
  }
}

TEST_F(Files, TextThatIsNotUtf8IsStoredAsValidJson) {
  replace_json(path / "r.json", {{"evidence", "bad \xff\xfe bytes"}});
  EXPECT_NE(read_json(path / "r.json")["evidence"].get<std::string>().find("bad"),
            std::string::npos);
}

class Results : public Folder {
 protected:
  void SetUp() override {
    for (const char* file :
         {"lib/libkb_judge.so", "lib/libkb_reference_library.so", "bin/kb_runner",
          "lib/tasks/level1.019_relu.so", "modules/m/level1.019_relu.so"}) {
      write(file, file);
    }
    write("manifest.json", R"({"backend": "cpu", "contract": "fp32", "sizes": "24g",
      "required_isolation": "full", "lanes": ["eager"],
      "harness": ["lib/libkb_judge.so", "lib/libkb_reference_library.so", "bin/kb_runner"],
      "torch": "2.11.0", "source_dir": "/nowhere", "candidates": [
      {"name": "m.level1.019_relu", "run": "m", "sample": null, "level": 1, "task": "019_relu",
       "source": "x.cu", "module": "modules/m/level1.019_relu.so", "build_json": "b.json",
       "result": "results/m/level1/019_relu.json", "library": "cublas", "preload": ["/l/libc.so"]}]})");
    write("b.json", R"({"source_sha256": "of what was compiled"})");
    replace_json(path / "env.json", {{"harness_sha256", harness_sha256(path)},
                                     {"host", "h"},
                                     {"gpu", nullptr},
                                     {"gpus", {{{"uuid", "GPU-1a"}}, {{"uuid", "GPU-2b"}}}}});
  }
  CandidateEntry entry() { return find_candidate(path / "manifest.json", "m.level1.019_relu"); }
  void start() {
    ResultFile file(entry());
    file.begin();
    file.save("build", nullptr, "compiled");
  }
};

TEST_F(Results, AStepContinuesWhatTheEarlierOneLeft) {
  start();
  ResultFile file(entry());
  file.resume();
  EXPECT_EQ(file.json()["stage"], "build");
  EXPECT_TRUE(file.json()["verdict"].is_null());
  EXPECT_EQ(file.json()["hashes"]["source"], "of what was compiled");
  file.save("correct", "pass", "right");
  EXPECT_EQ(read_json(entry().result)["verdict"], "pass");
}

TEST_F(Results, ARunsLibraryIsRead) {
  EXPECT_EQ(entry().library, "cublas");
  EXPECT_EQ(entry().preload, std::vector<std::filesystem::path>{"/l/libc.so"});
}

TEST_F(Results, AnotherModuleOrHarnessIsNotContinued) {
  start();
  write("modules/m/level1.019_relu.so", "rebuilt");
  EXPECT_THROW(ResultFile(entry()).resume(), std::runtime_error);
  start();
  write("bin/kb_runner", "rebuilt");
  EXPECT_THROW(ResultFile(entry()).resume(), std::runtime_error);
}

TEST_F(Results, TheEnvironmentNamesTheGpus) {
  EXPECT_EQ(scheduled_gpus(path), (std::vector<std::string>{"GPU-1a", "GPU-2b"}));
}

TEST_F(Results, AMissingModuleOrEnvironmentSaysWhatToDo) {
  start();
  fs::remove(path / "modules/m/level1.019_relu.so");
  try {
    ResultFile(entry()).resume();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("build again"), std::string::npos);
  }
  fs::remove(path / "env.json");
  try {
    ResultFile(entry()).begin();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("kb.env"), std::string::npos);
  }
}

// Results are published; compilers and fault reports name whole paths.
TEST_F(Results, PathsOfTheMachineAreShortened) {
  ResultFile file(entry());
  file.begin();
  file.json()["build"] = {
      {"source", "/nowhere/candidates/x.cu"},
      {"diagnostics", "/nowhere/a.cu:1: no\n" + (path / "b.cu").string() + ": no"}};
  file.save("build", "compile_error", "/nowhere/a.cu:1: no");
  const Json saved = read_json(entry().result);
  EXPECT_EQ(saved["build"]["source"], "candidates/x.cu");
  EXPECT_EQ(saved["build"]["diagnostics"], "a.cu:1: no\nb.cu: no");
  EXPECT_EQ(saved["evidence"], "a.cu:1: no");
}

TEST_F(Results, APathThatIsLeftOutMakesNoTag) {
  ResultFile file(entry());
  file.begin();
  file.save("build", "compile_error", "#error <CT/nowhere/estMeasurementFile");
  const std::string saved = read_json(entry().result)["evidence"];
  EXPECT_EQ(saved.find("<CTest"), std::string::npos) << saved;
}

TEST_F(Results, ANewStartDropsTheTimingOfTheLastModule) {
  write("results/m/level1/019_relu.bench.json", "{}");
  start();
  EXPECT_FALSE(fs::exists(path / "results/m/level1/019_relu.bench.json"));
}

TEST_F(Results, TheBuildTreesChoicesReachWhoeverJudges) {
  EXPECT_EQ(entry().contract, "fp32");
  EXPECT_EQ(entry().sizes, "24g");
  EXPECT_EQ(entry().required_isolation, "full");
}

TEST_F(Results, AnUnknownCandidateIsAnError) {
  EXPECT_THROW(find_candidate(path / "manifest.json", "m.level1.020"), std::runtime_error);
}

}  // namespace
}  // namespace kb
