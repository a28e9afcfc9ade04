// kb_cc inside a real CMake and Ninja build: failures neither stop a build nor repeat themselves.
#include <sys/wait.h>

#include "workspace.h"

namespace kb::test {
namespace {

class IncrementalBuild : public Workspace {
 protected:
  void SetUp() override {
    if (run({"ninja", "--version"}).exit_code != 0) GTEST_SKIP() << "ninja was not found";
    write("good/task.h", read("src/task.h"));
    write("good/candidate.cpp", good_candidate);
    write("bad/task.h", read("src/task.h"));
    write("bad/candidate.cpp", "#include \"no_such_file.h\"\n");
    const std::string contract = KB_TEST_CONTRACT;
    write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(candidates LANGUAGES CXX)\n"
        "foreach(name good bad)\n  add_library(${name} MODULE ${name}/candidate.cpp)\n"
        "  target_include_directories(${name} PRIVATE ${name} " +
            contract +
            "/include)\n"
            "  target_compile_options(${name} PRIVATE -include " +
            contract +
            "/entry.h)\n"
            "  set_target_properties(${name} PROPERTIES PREFIX \"\" CXX_VISIBILITY_PRESET hidden\n"
            "    CXX_COMPILER_LAUNCHER \"" KB_TEST_KB_CC ";--stub;" KB_TEST_STUB ";--allow-read;" +
            contract +
            ";--allow-file;${CMAKE_SOURCE_DIR}/${name}/task.h;--\")\n"
            "  target_link_options(${name} PRIVATE -Wl,--version-script=" KB_TEST_MODULE_MAP
            ")\n"
            "endforeach()\n");
    const Ending configured = run({KB_TEST_CMAKE, "-G", "Ninja", "-S", ".", "-B", "build",
                                   std::string("-DCMAKE_CXX_COMPILER=") + KB_TEST_CXX});
    ASSERT_EQ(configured.exit_code, 0) << configured.output;
  }

  Ending build(const Environment& environment = {}) const {
    return run({KB_TEST_CMAKE, "--build", "build", "-j", "2"}, environment);
  }

  bool nothing_to_do(const Environment& environment = {}) const {
    return build(environment).output.find("no work to do") != std::string::npos;
  }

  nlohmann::json record_of(const std::string& name) const {
    return nlohmann::json::parse(
        read("build/CMakeFiles/" + name + ".dir/" + name + "/candidate.cpp.o.build.json"), nullptr,
        false);
  }
};

TEST_F(IncrementalBuild, FailureIsAResultAndNotRepeated) {
  const Ending first = build();
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_TRUE(exists("build/good.so"));
  EXPECT_TRUE(exists("build/bad.so"));
  EXPECT_EQ(record_of("good")["status"], "ok");
  EXPECT_EQ(record_of("bad")["status"], "compile_error");
  EXPECT_TRUE(nothing_to_do()) << read("output.txt");
}

TEST_F(IncrementalBuild, ChangedLimitsRebuildNothing) {
  build();
  EXPECT_TRUE(nothing_to_do({{"KB_COMPILE_TIMEOUT", "77"}, {"KB_COMPILE_MEMORY", "2G"}}));
}

TEST_F(IncrementalBuild, RepairBreakAndHeaderChangeRebuildWhatTheyTouch) {
  build();
  write("bad/candidate.cpp", good_candidate);
  EXPECT_EQ(build().exit_code, 0);
  EXPECT_EQ(record_of("bad")["status"], "ok");
  EXPECT_TRUE(nothing_to_do());

  write("good/candidate.cpp", "syntax error\n");
  EXPECT_EQ(build().exit_code, 0);
  EXPECT_EQ(record_of("good")["status"], "compile_error");
  EXPECT_EQ(record_of("bad")["status"], "ok");
  EXPECT_TRUE(nothing_to_do());

  // The depfile of a good compilation counts: a changed task.h is noticed.
  write("bad/task.h", "#error changed\n");
  EXPECT_EQ(build().exit_code, 0);
  EXPECT_EQ(record_of("bad")["status"], "compile_error");
  EXPECT_TRUE(nothing_to_do());
}

TEST_F(IncrementalBuild, CudaCheckSurvivesTheWayThroughCMakeAndNinja) {
  const std::string check =
      write_script("check", "for last; do :; done\nprintf '%s\\n' \"$@\" > \"$last.words\"\n");
  std::string lists = read("CMakeLists.txt");
  const std::string before = ";--allow-read;";
  lists.replace(lists.find(before), before.size(),
                ";--cuda-check;" + check + "\\;-DA=b c\\;-std=c++17" + before);
  write("CMakeLists.txt", lists);
  const Ending result = build();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(record_of("good")["cuda_syntax"], "ok") << record_of("good").dump(1);
  const std::string words =
      read("build/CMakeFiles/good.dir/good/candidate.cpp.o.cuda_check.o.words");
  EXPECT_EQ(words.find("-DA=b c\n-std=c++17\n"), 0u) << words;
  EXPECT_TRUE(nothing_to_do());
}

TEST_F(IncrementalBuild, StrictModeStopsTheBuild) {
  EXPECT_NE(build({{"KB_STRICT", "1"}}).exit_code, 0);
  EXPECT_FALSE(exists("build/bad.so"));
}

}  // namespace
}  // namespace kb::test
