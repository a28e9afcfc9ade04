// Headers beyond CUDA's own can be included by runs that declare them; for others that is a
// violation, whatever the path.
#include "base/landlock.h"
#include "sandbox/build/header_policy.h"
#include "workspace.h"

namespace kb::test {
namespace {

class Headers : public Workspace {
 protected:
  Headers() { write("blocks/include/kb/block.cuh", "int block() { return 1; }\n"); }

  std::string folder() const { return path("blocks/include"); }

  Ending compile(const std::string& include, const Words& options, const Words& more = {},
                 const Environment& environment = {}) const {
    write("src/candidate.cu", good_candidate + include + "\nint use() { return block(); }\n");
    return run(kb_cc(gxx_command() + more, options), environment);
  }

  void expect_violation(const Ending& run) const {
    expect_recorded_failure(run, "policy_violation");
    EXPECT_EQ(record()["reason"],
              "it includes kb/block.cuh, which belongs to the headers 'kb' that its run does not "
              "declare: add \"headers\": [\"kb\"] to the run's run.json");
    EXPECT_EQ(record()["headers"], nlohmann::json::array());
  }

  // Every way to write the name, and the folders that are searched for it.
  std::vector<std::string> includes() const {
    const std::string file = folder() + "/kb/block.cuh";
    return {"#include <kb/block.cuh>",
            "#include \"kb/block.cuh\"",
            "#define X <kb/block.cuh>\n#include X",
            "#include \"" + file + "\"",
            "#include \"" + path("obj").string() + "/../blocks/include/kb/block.cuh\"",
            "#include \"../blocks/include/kb/block.cuh\"",
            "#include <../blocks/include/kb/../kb/block.cuh>"};
  }

  Words declared() const { return {"--headers", "kb=" + folder()}; }
  Words undeclared() const { return {"--undeclared-headers", "kb=" + folder()}; }
};

TEST_F(Headers, DeclaredOnesAreReadableAndRecorded) {
  compile("#include <kb/block.cuh>", declared(), {"-I" + folder()});
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_EQ(record()["headers"], nlohmann::json({"kb"}));
}

TEST_F(Headers, UndeclaredOnesAreAViolation) {
  if (!landlock_available()) GTEST_SKIP() << "this kernel has no Landlock";
  for (const std::string& include : includes()) {
    SCOPED_TRACE(include);
    expect_violation(compile(include, undeclared()));
    EXPECT_EQ(record()["compile_sandbox"], "landlock");
  }
}

TEST_F(Headers, UndeclaredOnesAreAViolationWithoutTheSandbox) {
  for (const std::string& include : includes()) {
    SCOPED_TRACE(include);
    expect_violation(compile(include, undeclared(), {}, {{"KB_COMPILE_SANDBOX", "none"}}));
  }
}

TEST_F(Headers, AnyFolderThatIsSearchedCounts) {
  for (const Words& folders :
       {Words{"-I" + path("obj").string()}, Words{"-I", "obj"}, Words{"-isystem", "obj"}}) {
    expect_violation(compile("#include <../blocks/include/kb/block.cuh>", undeclared(), folders));
  }
}

TEST_F(Headers, AnotherMistakeDoesNotHideTheViolation) {
  expect_violation(compile("#include <kb/block.cuh>\nint x = ;", undeclared(), {},
                           {{"KB_COMPILE_SANDBOX", "none"}}));
}

TEST_F(Headers, OtherMissingFilesAreCompileErrors) {
  for (const char* include :
       {"#include <kb/missing.cuh>", "#include <block.cuh>", "#include \"../missing/block.cuh\""}) {
    expect_recorded_failure(compile(include, undeclared()), "compile_error");
  }
}

TEST_F(Headers, TheCheckOfTheSyntaxIsNotAsked) {
  const std::string check = write_script("check", "touch obj/asked\nexit 0\n");
  expect_violation(compile("#include <kb/block.cuh>", undeclared() + Words{"--cuda-check", check}));
  EXPECT_FALSE(exists("obj/asked"));
}

TEST_F(Headers, NvccTellsTheSame) {
  if (std::string(KB_TEST_NVCC).empty()) GTEST_SKIP() << "nvcc was not found at configure time";
  for (const std::string& include : {includes()[0], includes()[3]}) {
    write("src/candidate.cu", good_candidate + include + "\n");
    expect_violation(run(kb_cc(nvcc_command(), undeclared())));
    run(kb_cc(nvcc_command() + Words{"-I" + folder()}, declared()));
    EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  }
}

TEST_F(Headers, AnOptionWithoutAFolderIsRefused) {
  write("src/candidate.cu", good_candidate);
  EXPECT_EQ(run(kb_cc(gxx_command(), {"--headers", "kb"})).exit_code, 2);
}

TEST(HeaderPolicy, ReadsNameAndFolder) {
  const auto headers = parse_header_folder("kb=/a=b");
  ASSERT_TRUE(headers);
  EXPECT_EQ(headers->name, "kb");
  EXPECT_EQ(headers->folder, "/a=b");
  for (const char* wrong : {"", "kb", "=", "kb=", "=/a"}) {
    EXPECT_FALSE(parse_header_folder(wrong)) << wrong;
  }
}

TEST(HeaderPolicy, FindsTheFileInWhatCompilersSay) {
  EXPECT_EQ(unopened_file("a.cu:1:10: fatal error: kb/x.cuh: No such file or directory"),
            "kb/x.cuh");
  EXPECT_EQ(unopened_file("a.cu:1:10: fatal error: /b c/x.cuh: Permission denied"), "/b c/x.cuh");
  EXPECT_EQ(unopened_file("a.cu:1:10: fatal error: 'kb/x.cuh' file not found"), "kb/x.cuh");
  EXPECT_EQ(unopened_file("fatal error: cannot open file './x.cuh': Permission denied"), "./x.cuh");
  EXPECT_EQ(unopened_file("a.cu:1:10: error: expected ';'"), "");
  EXPECT_EQ(unopened_file("error: '"), "");
  EXPECT_EQ(unopened_file(""), "");
}

}  // namespace
}  // namespace kb::test
