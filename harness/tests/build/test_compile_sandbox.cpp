// A candidate sees itself, its task.h, the contract and the toolchain; nothing else, by any means.
#include <cstdlib>

#include "base/landlock.h"
#include "workspace.h"

namespace kb::test {
namespace {

class CompileSandbox : public Workspace {
 protected:
  void SetUp() override {
    if (!landlock_available()) GTEST_SKIP() << "this kernel has no Landlock";
  }

  // Every way to read `file` into the candidate.
  static std::vector<std::string> thefts(const std::string& file) {
    return {"#include \"" + file + "\"\n",
            "asm(\".section .rodata\\n.incbin \\\"" + file + "\\\"\\n.text\");\n",
            "asm(\".include \\\"" + file + "\\\"\");\n",
            "#define X \"" + file + "\"\n#include X\n"};
  }

  void expect_refused(const std::string& file, const std::string& leaked_text) {
    for (const std::string& theft : thefts(file)) {
      expect_recorded_failure(compile(good_candidate + theft), "compile_error");
      EXPECT_EQ(record()["compile_sandbox"], "landlock");
      const std::string diagnostics = record()["diagnostics"];
      EXPECT_TRUE(leaked_text.empty() || diagnostics.find(leaked_text) == std::string::npos)
          << diagnostics;
      // The name of the folder for temporary files is random; records must not be.
      EXPECT_EQ(diagnostics.find("/kb_cc."), std::string::npos) << diagnostics;
    }
  }
};

TEST_F(CompileSandbox, ReferenceBesideTheTaskIsOutOfReach) {
  expect_refused("reference.cpp", "expected answer");
  expect_refused(path("src/reference.cpp"), "expected answer");
  expect_refused(path("obj/../src/reference.cpp"), "expected answer");
}

TEST_F(CompileSandbox, SystemFilesAreOutOfReach) {
  // The control: what is refused here exists and could be read without the sandbox.
  ASSERT_TRUE(std::filesystem::exists("/etc/passwd"));
  expect_refused("/etc/passwd", "root:");
  expect_refused("/proc/self/environ", "PATH=");
  expect_refused("/proc/self/cmdline", "cc1plus");
  expect_refused("/proc/1/cmdline", "");
}

TEST_F(CompileSandbox, OtherCandidatesAndEarlierTemporaryFilesAreOutOfReach) {
  write("other/candidate.cu", "int other_candidates_code;\n");
  expect_refused(path("other/candidate.cu"), "other_candidates_code");
  const std::string temporary = root_.string() + ".h";  // beside this test's folder
  std::filesystem::copy_file(write("probe.h", "int other_text;\n"), temporary);
  expect_refused(temporary, "other_text");
  std::filesystem::remove(temporary);
}

TEST_F(CompileSandbox, LinkToAForbiddenFileIsForbidden) {
  std::filesystem::create_symlink(path("src/reference.cpp"), path("obj/link.h"));
  expect_refused(path("obj/link.h"), "expected answer");
}

TEST_F(CompileSandbox, ProbingForFilesSeesNothingReadable) {
  compile(std::string(good_candidate) + "#if __has_include(\"" +
          path("src/reference.cpp").string() + "\")\n#error visible\n#endif\n");
  const std::string diagnostics = record()["diagnostics"];
  EXPECT_EQ(diagnostics.find("#error visible"), std::string::npos) << diagnostics;
}

TEST_F(CompileSandbox, LineDirectiveIsRefusedAndQuotesNothing) {
  const std::string line = "#line 1 \"" + path("src/reference.cpp").string() + "\"\n";
  expect_recorded_failure(compile(good_candidate + line + "int x = ;\n"), "policy_violation");
  const std::string diagnostics = record()["diagnostics"];
  EXPECT_EQ(diagnostics.find("expected answer"), std::string::npos) << diagnostics;
}

TEST_F(CompileSandbox, CompilerCannotWriteElsewhere) {
  const std::string compiler = write_script(
      "writer",
      "echo x > src/planted || echo refused-1\necho x > obj/allowed || echo refused-2\n"
      "echo x > \"$TMPDIR/allowed\" || echo refused-3\nexit 1\n");
  write("src/candidate.cu", good_candidate);
  run(kb_cc({compiler, "-c", "src/candidate.cu", "-o", "obj/candidate.o"}));
  EXPECT_FALSE(exists("src/planted"));
  EXPECT_TRUE(exists("obj/allowed"));
  const std::string diagnostics = record()["diagnostics"];
  EXPECT_NE(diagnostics.find("refused-1"), std::string::npos);
  EXPECT_EQ(diagnostics.find("refused-2"), std::string::npos);
  EXPECT_EQ(diagnostics.find("refused-3"), std::string::npos);
}

TEST_F(CompileSandbox, NvccWorksAndIsConfinedToo) {
  if (std::string(KB_TEST_NVCC).empty()) GTEST_SKIP() << "nvcc was not found at configure time";
  write("src/candidate.cu", good_candidate);
  run(kb_cc(nvcc_command()));
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_EQ(record()["compile_sandbox"], "landlock");
  for (const std::string& theft : thefts(path("src/reference.cpp"))) {
    write("src/candidate.cu", good_candidate + theft);
    expect_recorded_failure(run(kb_cc(nvcc_command())), "compile_error");
  }
}

TEST_F(CompileSandbox, WithoutTheSandboxTheTheftWouldWork) {
  // Proves that the tests above test the sandbox: the same compiler reads the file without it.
  write("src/candidate.cu", good_candidate + thefts(path("src/reference.cpp"))[1]);
  EXPECT_EQ(run(gxx_command()).exit_code, 0);
  EXPECT_NE(read("obj/candidate.o").find("expected answer"), std::string::npos);
}

// The fallback for kernels without Landlock can be tested on any.
class CompileWithoutSandbox : public Workspace {
 protected:
  Ending compile(const std::string& addition) const {
    return Workspace::compile(good_candidate + addition, {{"KB_COMPILE_SANDBOX", "none"}});
  }
};

TEST_F(CompileWithoutSandbox, GoodCandidateIsAccepted) {
  compile("#include <vector>\nint n() { return int(std::vector<int>(3).size()); }\n");
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_EQ(record()["compile_sandbox"], "none");
}

TEST_F(CompileWithoutSandbox, IncludedFileIsFoundInTheDepfile) {
  expect_recorded_failure(compile("#include \"reference.cpp\"\n"), "compile_error");
  EXPECT_NE(record()["reason"].get<std::string>().find("reference.cpp, which it may not read"),
            std::string::npos);
}

TEST_F(CompileWithoutSandbox, EmbeddedFileIsFoundInTheSource) {
  expect_recorded_failure(
      compile("asm(\".inc\" \"bin \\\"" + path("src/reference.cpp").string() + "\\\"\");\n"),
      "compile_error");
  EXPECT_EQ(record()["reason"], "candidate embeds a file (.incbin or #embed)");
}

}  // namespace
}  // namespace kb::test
