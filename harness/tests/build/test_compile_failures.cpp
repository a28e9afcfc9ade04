// Each way in which a candidate can fail to compile becomes a record, a stub and exit code 0.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/sha256.h"
#include "sandbox/build/compile_command.h"
#include "workspace.h"

namespace kb::test {
namespace {

using CompileFailures = Workspace;

TEST_F(CompileFailures, GoodCandidateIsRecordedAsOk) {
  const Ending result = compile(good_candidate);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "");
  const auto json = record();
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["status"], "ok");
  EXPECT_TRUE(json["reason"].is_null());
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_TRUE(json["signal"].is_null());
  EXPECT_EQ(json["source"], path("src/candidate.cu").string());
  EXPECT_EQ(json["source_sha256"], sha256_hex(good_candidate));
  EXPECT_EQ(json["compiler"], base_name(KB_TEST_CXX));
  EXPECT_EQ(json["command"].get<Words>(), gxx_command());
  EXPECT_EQ(json["diagnostics"], "");
  EXPECT_EQ(json["object_bytes"], std::filesystem::file_size(path("obj/candidate.o")));
  EXPECT_EQ(json["cuda_syntax"], "unchecked");
  EXPECT_EQ(json["static_constructors"], 0);
  EXPECT_TRUE(json["resources"].empty());
  EXPECT_GT(json["cpu_seconds"], 0.0);
  // cc1plus alone needs more than this.
  EXPECT_GT(json["peak_bytes"], 10 << 20);
  EXPECT_FALSE(object_is_stub());
}

TEST_F(CompileFailures, WarningIsKeptAndShown) {
  const Ending result = compile(std::string("#warning look here\n") + good_candidate);
  EXPECT_EQ(record()["status"], "ok");
  EXPECT_NE(record()["diagnostics"].get<std::string>().find("look here"), std::string::npos);
  EXPECT_NE(result.output.find("look here"), std::string::npos);
}

TEST_F(CompileFailures, SyntaxError) {
  const Ending result = compile("#include \"task.h\"\nvoid task::launch(const Sizes& s {\n");
  expect_recorded_failure(result, "compile_error");
  EXPECT_EQ(record()["exit_code"], 1);
  EXPECT_EQ(record()["object_bytes"], 0);
  EXPECT_NE(record()["reason"].get<std::string>().find("error"), std::string::npos);
  EXPECT_NE(result.output.find("compile_error"), std::string::npos);
}

TEST_F(CompileFailures, TheTerminalShowsAMessageOnceAndPathsBelowTheRoot) {
  const std::string source = path("src/candidate.cu");
  write("src/candidate.cu", "int nothing = there;\n");
  Words compiler = gxx_command();
  std::replace(compiler.begin(), compiler.end(), std::string("src/candidate.cu"), source);
  const Ending result = run(kb_cc(compiler, {"--root", path("").parent_path()}));
  expect_recorded_failure(result, "compile_error");
  const size_t message = result.output.find("error: ");
  EXPECT_NE(message, std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("error: ", message + 1), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("| src/candidate.cu"), 0u) << result.output;
  EXPECT_EQ(result.output.find(source), std::string::npos) << result.output;
  EXPECT_NE(record()["reason"].get<std::string>().find(source), std::string::npos);
}

TEST_F(CompileFailures, OldRecordAndObjectDoNotSurvive) {
  compile(good_candidate);
  expect_recorded_failure(compile("broken"), "compile_error");
}

TEST_F(CompileFailures, MissingIncludeWritesDepfileItself) {
  expect_recorded_failure(compile("#include \"no_such_file.h\"\n"), "compile_error");
  const std::string rule = read("obj/candidate.o.d");
  EXPECT_EQ(rule.find("obj/candidate.o:"), 0u) << rule;
  EXPECT_NE(rule.find(path("src/candidate.cu").string()), std::string::npos) << rule;
}

TEST_F(CompileFailures, AFloatWhereTheContractHasAnotherTypeIsExplained) {
  write("src/cuda_bf16.h", "struct __nv_bfloat16 { unsigned short bits; };\n");
  write("src/candidate.cu", std::string(good_candidate) +
                                "void take(const float*);\n"
                                "void give(const task::real* x) { take(x); }\n");
  Words command = gxx_command();
  command.insert(command.begin() + 1, "-DKB_CONTRACT_BF16");
  run(kb_cc(command, {"--allow-file", path("src/cuda_bf16.h")}));
  EXPECT_EQ(record()["status"], "compile_error");
  EXPECT_NE(record()["reason"].get<std::string>().find("says kb::real where it now says float"),
            std::string::npos)
      << record()["reason"];
}

TEST_F(CompileFailures, UndefinedNameInSource) {
  const std::string call = std::string(good_candidate) + "int f() { return no_such_function(); }\n";
  expect_recorded_failure(compile(call), "compile_error");
}

TEST_F(CompileFailures, UndefinedSymbolIsLeftToTheLoader) {
  compile(std::string(good_candidate) + "void gone();\nvoid f() { gone(); }\n");
  EXPECT_EQ(record()["status"], "ok");
}

TEST_F(CompileFailures, WhatDoesNotLinkIsACompileError) {
  const std::string link =
      std::string(KB_TEST_CXX) + ";-shared;-Wl,--version-script=" + KB_TEST_MODULE_MAP;
  write("src/candidate.cu",
        std::string(good_candidate) +
            "extern \"C\" __attribute__((visibility(\"hidden\"))) int nowhere();\n"
            "int use() { return nowhere(); }\n");
  const Ending ending =
      run(kb_cc(gxx_command(), {"--link", link, "--allow-file", KB_TEST_MODULE_MAP}));
  expect_recorded_failure(ending, "compile_error");
  const std::string reason = record()["reason"];
  EXPECT_EQ(reason.find("it does not link: "), 0u) << reason;
  const std::string diagnostics = record()["diagnostics"];
  EXPECT_NE(diagnostics.find("nowhere"), std::string::npos) << diagnostics;
}

TEST_F(CompileFailures, OrdersToTheLinkerAreRefused) {
  const Ending ending =
      compile(std::string(good_candidate) +
              "__attribute__((used, section(\".deplibs,\\\"MS\\\",@0x6fff4c04,1\\n#\")))\n"
              "static const char more[] = \"other.o\";\n");
  expect_recorded_failure(ending, "compile_error");
  EXPECT_EQ(record()["reason"], "candidate has a section that gives orders to the linker");
}

// GNU ld prints the text of the first kind, where nobody makes it printable, and compiles the
// second.
TEST_F(CompileFailures, SectionsThatGnuLdActsUponAreOrders) {
  for (const std::string section : {".gnu.warning.exp", ".gnu.warning", ".gnu.lto_x"}) {
    const Ending ending =
        compile(std::string(good_candidate) + "__attribute__((used, section(\"" + section +
                "\")))\n"
                "static const char text[] = \"100% tests passed\";\n");
    expect_recorded_failure(ending, "compile_error");
    EXPECT_EQ(record()["reason"], "candidate has a section that gives orders to the linker");
  }
}

TEST_F(CompileFailures, TextInAnotherEncodingIsExplained) {
  std::string wide = "\xff\xfe";
  for (const char* c = good_candidate; *c != '\0'; ++c) wide += {*c, '\0'};
  expect_recorded_failure(compile(wide), "compile_error");
  EXPECT_EQ(record()["reason"], "the source is UTF-16 text: save it as UTF-8");
  compile("\xef\xbb\xbf" + std::string(good_candidate));
  EXPECT_EQ(record()["status"], "ok");
}

// A marker can name any file, and call what follows a system header.
TEST_F(CompileFailures, LineDirectivesAreRefusedBeforeACompilerReadsThem) {
  for (const std::string directive : {"#line 3 \"other.cu\"", "# 1 \"/usr/include/math.h\" 1 3"}) {
    expect_recorded_failure(compile(good_candidate + directive + "\n"), "policy_violation");
    EXPECT_NE(record()["reason"].get<std::string>().find("remove it"), std::string::npos);
  }
  EXPECT_EQ(record()["spent_seconds"], 0);
}

// A compiler that compiles nothing says nothing about a candidate.
TEST_F(CompileFailures, WhereNothingCompilesNothingIsRecorded) {
  write("src/candidate.cu", good_candidate);
  for (const std::string compiler :
       {"exit 1\n", "echo 'error: no space'; exit 1\n", "kill -SEGV $$\n"}) {
    Words command = gxx_command();
    command[0] = write_script("broken", compiler, /*broken=*/true);
    const Ending ending = run(kb_cc(command));
    EXPECT_EQ(ending.exit_code, 2);
    EXPECT_NE(ending.output.find("nothing can be compiled here"), std::string::npos)
        << ending.output;
    EXPECT_FALSE(exists("obj/candidate.o.build.json"));
  }
  const Ending link = run(kb_cc(
      gxx_command(), {"--link", write_script("ld", "exit 1\n", /*broken=*/true) + ";-shared"}));
  EXPECT_EQ(link.exit_code, 2) << link.output;
}

// The caller's limit of file sizes is not the candidate's.
TEST_F(CompileFailures, ALimitOfTheShellIsNoResult) {
  write("src/candidate.cu", std::string(good_candidate) + "char large[1 << 20] = {1};\n");
  std::string line = "ulimit -f 512; exec";
  for (const std::string& word : kb_cc(gxx_command())) line += " '" + word + "'";
  const Ending ending = run({"bash", "-c", line});
  EXPECT_EQ(ending.exit_code, 2) << ending.output;
  EXPECT_NE(ending.output.find("ulimit -f"), std::string::npos) << ending.output;
}

TEST_F(CompileFailures, APipeInThePlaceOfTheSourceIsNotWaitedFor) {
  write("src/candidate.cu", "");
  std::filesystem::remove(path("src/candidate.cu"));
  ASSERT_EQ(mkfifo(path("src/candidate.cu").c_str(), 0600), 0);
  expect_recorded_failure(run(kb_cc(gxx_command())), "compile_error");
  EXPECT_NE(record()["reason"].get<std::string>().find("pipe"), std::string::npos);
}

TEST_F(CompileFailures, NoEntryPoint) {
  const std::string sentence =
      "candidate does not define task::launch with the signature that task.h declares";
  for (const char* source :
       {"", "// only a comment\n/* and another */\n", "int other_name() { return 1; }\n",
        "#include \"task.h\"\nnamespace task { void launch(int) {} }\n",
        "#include \"task.h\"\nvoid launch(const task::Sizes&, const float*, float*, cudaStream_t) "
        "{}\n",
        "#include \"task.h\"\nnamespace task { static void launch(const Sizes&, const float*) {} "
        "}\n"}) {
    const Ending result = compile(source);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(record()["status"], "compile_error") << source;
    // Overloads make `&task::launch` ambiguous, which the compiler reports itself.
    if (record()["exit_code"] == 0) {
      EXPECT_EQ(record()["reason"], sentence) << source;
    }
    EXPECT_TRUE(object_is_stub());
  }
}

TEST_F(CompileFailures, InlineLaunchCountsAsDefined) {
  compile(
      "#include \"task.h\"\ninline void task::launch(const Sizes&, const float*, float* y, "
      "cudaStream_t) { *y = 1; }\n");
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
}

TEST_F(CompileFailures, HostileErrorTextStaysValidJson) {
  const std::string hostile =
      "#error \"quotes\" 'single' \\ back { \"status\": \"ok\" } \x01\x02\x1b[2J\x07 \xff\xfe\xc3( "
      "\xe2\x82 end\n";
  expect_recorded_failure(compile(hostile), "compile_error");
  const std::string text = record()["diagnostics"];
  EXPECT_NE(text.find("\"quotes\" 'single'"), std::string::npos) << text;
  EXPECT_NE(text.find("\\xff\\xfe"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(CompileFailures, TerminalSeesNoControlSequences) {
  const Ending result = compile("#error \x1b]0;title\x07 \x1b[2J\n");
  for (const char c : result.output) {
    EXPECT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20) << result.output;
  }
}

TEST_F(CompileFailures, NobodySeesTagsOfCTest) {
  const std::string tag = "<CTestMeasurementFile name=\"f\">/etc/hosts</CTestMeasurementFile>";
  const Ending result = compile("#error " + tag + "\n");
  expect_recorded_failure(result, "compile_error");
  EXPECT_EQ(result.output.find("<CTest"), std::string::npos) << result.output;
  EXPECT_EQ(read("obj/candidate.o.build.json").find("<CTest"), std::string::npos);
  // Nor one that is only there once the root's name is gone.
  write("src/candidate.cu", "#error <CT" + path("").string() + "estLabel>\n");
  const Ending joined = run(kb_cc(gxx_command(), {"--root", path("").parent_path()}));
  EXPECT_NE(joined.output.find("\\x3cCTestLabel>"), std::string::npos) << joined.output;
  EXPECT_EQ(joined.output.find("<CTest"), std::string::npos) << joined.output;
}

TEST_F(CompileFailures, LongDiagnosticsKeepHeadAndTail) {
  const std::string compiler = write_script(
      "chatty",
      "echo first line\ni=0\nwhile [ $i -lt 6000 ]; do echo \"noise $i xxxxxxxxxxxxxxxx\"; "
      "i=$((i+1)); done\necho last line >&2\nexit 1\n");
  write("src/candidate.cu", good_candidate);
  const Ending result =
      run(kb_cc(Words{compiler} + Words{"-c", "src/candidate.cu", "-o", "obj/candidate.o"}));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const std::string text = record()["diagnostics"];
  EXPECT_LE(text.size(), 64u << 10);
  EXPECT_EQ(text.find("first line"), 0u);
  EXPECT_NE(text.find("last line"), std::string::npos);
  EXPECT_NE(text.find("lines left out"), std::string::npos);
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 22);
}

TEST_F(CompileFailures, CompilerKilledBySignalIsACrash) {
  const std::string compiler = write_script("crashing", "kill -SEGV $$\n");
  write("src/candidate.cu", good_candidate);
  const Words command = gxx_command();
  expect_recorded_failure(run(kb_cc(Words{compiler} + Words(command.begin() + 1, command.end()))),
                          "crash");
  EXPECT_EQ(record()["signal"], SIGSEGV);
  EXPECT_EQ(record()["exit_code"], 128 + SIGSEGV);
}

TEST_F(CompileFailures, ACrashThatDoesNotComeAgainIsNone) {
  const std::string compiler = write_script(
      "crashing_once", "[ -e $TMPDIR/again ] || { : > $TMPDIR/again; kill -SEGV $$; }\nexec " +
                           std::string(KB_TEST_CXX) + " \"$@\"\n");
  write("src/candidate.cu", good_candidate);
  const Words command = gxx_command();
  const Ending result = run(kb_cc(Words{compiler} + Words(command.begin() + 1, command.end())));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
}

TEST_F(CompileFailures, ErrorOfPtxasIsNoCrash) {
  const std::string compiler = write_script(
      "nvcc",
      "echo \"ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x13880 bytes, "
      "0xc000 max)\" >&2\nexit 255\n");
  write("src/candidate.cu", good_candidate);
  const Words command = gxx_command();
  expect_recorded_failure(run(kb_cc(Words{compiler} + Words(command.begin() + 1, command.end()))),
                          "compile_error");
  EXPECT_EQ(record()["reason"],
            "ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x13880 bytes, "
            "0xc000 max)");
}

TEST_F(CompileFailures, MissingTorchHeaderComesWithAdvice) {
  expect_recorded_failure(compile("#include <torch/extension.h>\n"), "compile_error");
  const std::string reason = record()["reason"];
  EXPECT_NE(reason.find("torch/extension.h"), std::string::npos) << reason;
  EXPECT_NE(reason.find("gets raw device pointers, see task.h"), std::string::npos) << reason;
}

TEST_F(CompileFailures, ExitCode3MeansUnsupportedOnlyFromCu2cpp) {
  write("src/candidate.cu", good_candidate);
  const std::string body =
      "echo 'x.cu:1: fatal error: x.h: No such file' >&2\n"
      "echo 'candidate.cu:7: unsupported on the CPU backend: inline PTX' >&2\nexit 3\n";
  const std::string rewriter = write_script("cu2cpp", body);
  expect_recorded_failure(run(kb_cc(Words{rewriter} + gxx_command())), "unsupported");
  EXPECT_EQ(record()["compiler"], "cu2cpp " + base_name(KB_TEST_CXX));
  EXPECT_EQ(record()["reason"], "candidate.cu:7: unsupported on the CPU backend: inline PTX");
  const std::string other = write_script("other", body);
  expect_recorded_failure(run(kb_cc(Words{other} + gxx_command())), "compile_error");
}

TEST_F(CompileFailures, CompilerThatWritesNoObject) {
  const std::string compiler = write_script("lazy", "exit 0\n");
  write("src/candidate.cu", good_candidate);
  const Words command = gxx_command();
  expect_recorded_failure(run(kb_cc(Words{compiler} + Words(command.begin() + 1, command.end()))),
                          "compile_error");
}

TEST_F(CompileFailures, StubLinksIntoAModule) {
  compile("broken");
  const Ending linked = run({KB_TEST_CXX, "-shared", "-o", "obj/module.so", "obj/candidate.o",
                             std::string("-Wl,--version-script=") + KB_TEST_MODULE_MAP});
  EXPECT_EQ(linked.exit_code, 0) << linked.output;
  EXPECT_TRUE(exists("obj/module.so"));
}

TEST_F(CompileFailures, StrictModeFailsTheBuild) {
  const Ending result = compile("broken", {{"KB_STRICT", "1"}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_FALSE(exists("obj/candidate.o"));
  EXPECT_EQ(record()["status"], "compile_error");

  const std::string compiler = write_script("seven", "exit 7\n");
  write("src/candidate.cu", good_candidate);
  const Words command = gxx_command();
  EXPECT_EQ(
      run(kb_cc(Words{compiler} + Words(command.begin() + 1, command.end())), {{"KB_STRICT", "1"}})
          .exit_code,
      7);
}

TEST_F(CompileFailures, StrictModeAlsoFailsWhatOnlyTheAuditRefuses) {
  EXPECT_EQ(compile("// empty\n", {{"KB_STRICT", "1"}}).exit_code, 1);
  EXPECT_FALSE(exists("obj/candidate.o"));
  EXPECT_EQ(compile(good_candidate, {{"KB_STRICT", "1"}}).exit_code, 0);
}

TEST_F(CompileFailures, CompilerThatIsNotThereIsOurFault) {
  write("src/candidate.cu", good_candidate);
  Words command = gxx_command();
  command[0] = path("no_such_compiler");
  const Ending result = run(kb_cc(command));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.output.find("kb_cc: error: cannot run"), std::string::npos) << result.output;
  EXPECT_FALSE(exists("obj/candidate.o"));
  EXPECT_FALSE(exists("obj/candidate.o.build.json"));
}

TEST_F(CompileFailures, BadUsageIsAnError) {
  EXPECT_NE(run({KB_TEST_KB_CC}).exit_code, 0);
  EXPECT_NE(run({KB_TEST_KB_CC, "--nonsense", "--", "g++", "-c", "a.cpp", "-o", "a.o"}).exit_code,
            0);
  EXPECT_NE(run({KB_TEST_KB_CC, "--", "g++", "-c", "a.cpp"}).exit_code, 0);
  EXPECT_NE(run({KB_TEST_KB_CC, "--policy", "everything", "--", "g++", "-c", "a.cpp", "-o", "a.o"})
                .exit_code,
            0);
}

class CompileFailuresNvcc : public Workspace {
 protected:
  void SetUp() override {
    if (std::string(KB_TEST_NVCC).empty()) GTEST_SKIP() << "nvcc was not found at configure time";
  }

  Ending compile(const std::string& candidate) const {
    write("src/candidate.cu", candidate);
    return run(kb_cc(nvcc_command()));
  }
};

TEST_F(CompileFailuresNvcc, GoodKernelWithResources) {
  compile(R"(#include "task.h"
template <class T> __global__ void add_one(const T* x, T* y, int64_t n) {
  __shared__ T tile[64];
  tile[threadIdx.x % 64] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) y[threadIdx.x] = tile[(threadIdx.x + 1) % 64] + 1;
}
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  add_one<<<1, 64, 0, stream>>>(x, y, s.n);
}
)");
  const auto json = record();
  EXPECT_EQ(json["status"], "ok") << json.dump(1);
  EXPECT_EQ(json["diagnostics"], "");
  EXPECT_EQ(json["static_constructors"], 0);
  ASSERT_EQ(json["resources"].size(), 1u);
  EXPECT_EQ(json["resources"][0]["kernel"], "void add_one<float>(float const*, float*, long)");
  EXPECT_EQ(json["resources"][0]["arch"], "sm_90");
  EXPECT_EQ(json["resources"][0]["shared_bytes"], 256);
  EXPECT_GT(json["resources"][0]["registers"], 0);
}

TEST_F(CompileFailures, KernelsThatAreNotInTheObjectAreForged) {
  compile(std::string(good_candidate) +
          "asm(\".rept 3000\\n.print \\\"ptxas info    : Compiling entry function 'fast' for "
          "'sm_90'\\\"\\n.print \\\"ptxas info    : Used 7 registers\\\"\\n.endr\");\n");
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_TRUE(record()["resources"].empty()) << record().dump(1);
}

TEST_F(CompileFailuresNvcc, KernelsOfEveryLinkageAreInTheObject) {
  compile(R"(#include "task.h"
template <class T> __global__ void of_template(T* y) { *y = 1; }
static __global__ void of_file(float* y) { *y = 1; }
namespace {
__global__ void nameless(float* y) { *y = 1; }
template <int n> __global__ void nameless_template(float* y) { *y = n; }
}  // namespace
extern "C" __global__ void plain(float* y) { *y = 1; }
void task::launch(const Sizes&, const float*, float* y, cudaStream_t stream) {
  of_template<<<1, 1, 0, stream>>>(y);
  of_file<<<1, 1, 0, stream>>>(y);
  nameless<<<1, 1, 0, stream>>>(y);
  nameless_template<3><<<1, 1, 0, stream>>>(y);
  plain<<<1, 1, 0, stream>>>(y);
}
)");
  EXPECT_EQ(record()["resources"].size(), 5u) << record().dump(1);
}

TEST_F(CompileFailuresNvcc, SyntaxErrorMissingIncludeAndNoEntryPoint) {
  expect_recorded_failure(compile("__global__ void k( {}\n"), "compile_error");
  expect_recorded_failure(compile("#include \"no_such_file.h\"\n"), "compile_error");
  expect_recorded_failure(compile("__global__ void k() {}\n"), "compile_error");
  EXPECT_EQ(record()["reason"],
            "candidate does not define task::launch with the signature that task.h declares");
}

TEST_F(CompileFailuresNvcc, TooMuchSharedMemoryIsACompileError) {
  compile(std::string(good_candidate) +
          "__global__ void k(float* x) {\n  __shared__ float a[20000];\n"
          "  a[threadIdx.x] = *x;\n  __syncthreads();\n  *x = a[threadIdx.x + 1];\n}\n");
  EXPECT_EQ(record()["status"], "compile_error");
  EXPECT_NE(record()["reason"].get<std::string>().find("too much shared data"), std::string::npos)
      << record().dump(1);
}

TEST_F(CompileFailuresNvcc, HeadersOfTheToolkitAreNotMistakenForForgeries) {
  compile(R"(#include "task.h"
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
__device__ int counter;
__constant__ float table[16];
__global__ void total(const float* x, float* y) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  const float sum = Reduce(storage).Sum(x[threadIdx.x] + table[threadIdx.x % 16] + counter);
  if (threadIdx.x == 0) *y = sum;
  cooperative_groups::this_thread_block().sync();
}
void task::launch(const Sizes& s, const float* x, float* y, cudaStream_t stream) {
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, x, y, static_cast<int>(s.n), stream);
  total<<<1, 128, 0, stream>>>(x, y);
}
)");
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
}

}  // namespace
}  // namespace kb::test
