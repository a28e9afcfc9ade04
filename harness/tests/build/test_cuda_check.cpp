// On the CPU route nvcc, where there is one, has the last word on whether a candidate is CUDA; else
// clang may refuse what g++ accepts.
#include <algorithm>
#include <sstream>

#include "workspace.h"

namespace kb::test {
namespace {

class CudaCheck : public Workspace {
 protected:
  // Compiles the good candidate with a CPU compiler and a check that end with these exit codes.
  Ending compile(int cpu_exit_code, int check_exit_code, const Words& more = {},
                 const std::string& checker = "check") const {
    write("src/candidate.cu", good_candidate);
    Words command = gxx_command();
    if (cpu_exit_code != 0) {
      command.insert(command.begin(),
                     write_script("cu2cpp", "echo 'the CPU side: error'\nexit " +
                                                std::to_string(cpu_exit_code) + "\n"));
    }
    const std::string check = write_script(
        checker,
        "echo \"$@\" > obj/arguments\necho _Z1kv > obj/candidate.o.cuda_check.o\n"
        "echo \"ptxas info    : Compiling entry function '_Z1kv' for 'sm_80'\"\n"
        "echo 'ptxas info    : Used 7 registers, 16 bytes smem'\necho 'the check: error'\nexit " +
            std::to_string(check_exit_code) + "\n");
    Words options{"--cuda-check", check + ";-DA=1;-Ione two;-cuda"};
    options.insert(options.end(), more.begin(), more.end());
    return run(kb_cc(command, options));
  }
};

TEST_F(CudaCheck, AcceptedByBoth) {
  compile(0, 0);
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_EQ(record()["cuda_syntax"], "ok");
  ASSERT_EQ(record()["resources"].size(), 1u);
  EXPECT_EQ(record()["resources"][0]["kernel"], "k()");
  EXPECT_EQ(record()["resources"][0]["registers"], 7);
  EXPECT_EQ(read("obj/arguments"), "-DA=1 -Ione two -cuda " + path("src/candidate.cu").string() +
                                       " -o obj/candidate.o.cuda_check.o\n");
  EXPECT_FALSE(exists("obj/candidate.o.cuda_check.o"));
}

TEST_F(CudaCheck, MachineCodeIsDescribedWhereItCanBeListed) {
  const std::string lister = write_script(
      "cuobjdump",
      "[ \"$1 $2\" = '-sass obj/candidate.o.cuda_check.o' ] && [ -s \"$2\" ] || exit 1\n"
      "echo 'Function : _Z1kv'\necho '/*0000*/ LDG.E.64 R2, desc[UR4][R2.64] ;'\n");
  compile(0, 0, {"--cuobjdump", lister});
  const nlohmann::json kernel = record()["resources"].at(0);
  EXPECT_EQ(kernel["vector_load_instructions"], 1) << record().dump(1);
  EXPECT_EQ(kernel["tensor_core_instructions"], 0);
}

TEST_F(CudaCheck, MachineCodeThatCannotBeListedIsNoFailure) {
  compile(0, 0, {"--cuobjdump", write_script("cuobjdump", "echo 'Function : _Z1kv'\nexit 1\n")});
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_TRUE(record()["resources"].at(0)["vector_load_instructions"].is_null());
  compile(0, 0, {"--cuobjdump", path("missing").string()});
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
}

TEST_F(CudaCheck, RefusedByNvccOnly) {
  expect_recorded_failure(compile(0, 2), "compile_error");
  EXPECT_EQ(record()["cuda_syntax"], "failed");
  EXPECT_EQ(record()["diagnostics"], "the check: error\n");
  EXPECT_EQ(record()["exit_code"], 2);
}

TEST_F(CudaCheck, UnsupportedStaysUnsupportedIfNvccAccepts) {
  expect_recorded_failure(compile(3, 0), "unsupported");
  EXPECT_EQ(record()["cuda_syntax"], "ok");
  EXPECT_EQ(record()["diagnostics"], "the CPU side: error\n");
}

TEST_F(CudaCheck, UnsupportedBecomesCompileErrorIfNvccRefuses) {
  expect_recorded_failure(compile(3, 1), "compile_error");
  EXPECT_EQ(record()["cuda_syntax"], "failed");
  EXPECT_EQ(record()["diagnostics"], "the check: error\n");
}

TEST_F(CudaCheck, NvccNeedNotHaveTheLibraryThatIsRefused) {
  write("src/candidate.cu", good_candidate);
  Words command = gxx_command();
  command.insert(
      command.begin(),
      write_script("cu2cpp",
                   "echo 'candidate.cu:1: unsupported on the CPU backend: CUTLASS'\nexit 3\n"));
  const std::string check = write_script("check",
                                         "case \"$*\" in *-rdc=true*) ;; *) exit 9 ;; esac\n"
                                         "echo 'candidate.cu:1:10: fatal error: cutlass/cutlass.h: "
                                         "No such file or directory'\nexit 1\n");
  expect_recorded_failure(run(kb_cc(command, {"--cuda-check", check})), "unsupported");
  EXPECT_EQ(record()["cuda_syntax"], "unchecked");
}

TEST_F(CudaCheck, ValidCudaThatOurSideCannotCompileIsUnsupported) {
  expect_recorded_failure(compile(1, 0), "unsupported");
  EXPECT_NE(record()["reason"].get<std::string>().find("nvcc accepts the source"),
            std::string::npos);
}

TEST_F(CudaCheck, NvccsHostCompilerReadsWhatTheCpuSideRefuses) {
  for (const int cpu_exit_code : {1, 3}) {
    compile(cpu_exit_code, 1);
    EXPECT_TRUE(read("obj/arguments").starts_with("-DA=1 -Ione two -c ")) << read("obj/arguments");
  }
}

TEST_F(CudaCheck, AuditIsNotOverruledByNvcc) {
  write("src/candidate.cu", "// no launch\n");
  const std::string check = write_script("check", "exit 0\n");
  expect_recorded_failure(run(kb_cc(gxx_command(), {"--cuda-check", check})), "compile_error");
}

TEST_F(CudaCheck, AcceptedByClang) {
  compile(0, 0, {}, "clang++-14");
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_EQ(record()["cuda_syntax"], "clang");
  EXPECT_EQ(read("obj/arguments"),
            "-DA=1 -Ione two -cuda " + path("src/candidate.cu").string() + "\n");
}

TEST_F(CudaCheck, RefusedByClang) {
  expect_recorded_failure(compile(0, 1, {}, "clang++"), "compile_error");
  EXPECT_EQ(record()["cuda_syntax"], "failed");
  EXPECT_EQ(record()["diagnostics"], "the check: error\n");
}

TEST_F(CudaCheck, ClangIsNotAskedAboutWhatTheCpuRouteRefuses) {
  for (const int clang_exit_code : {0, 1}) {
    expect_recorded_failure(compile(3, clang_exit_code, {}, "clang++"), "unsupported");
    EXPECT_EQ(record()["cuda_syntax"], "unchecked");
    EXPECT_FALSE(exists("obj/arguments"));
  }
}

#if defined(KB_TEST_CLANG)
TEST_F(CudaCheck, RealClang) {
  const std::string contract = KB_TEST_CONTRACT;
  Words command = Words{KB_TEST_CU2CPP} + gxx_command();
  std::string check = std::string(KB_TEST_CLANG) + "|-fsyntax-only|" + KB_TEST_SYNTAX_CHECK;
  std::replace(check.begin(), check.end(), '|', ';');
  Words options;
  std::istringstream folders(KB_TEST_CPU_INCLUDES);
  for (std::string folder; std::getline(folders, folder, '|');) {
    check += ";-I" + folder;
    command.push_back("-I" + folder);
    options = options + Words{"--allow-read", folder};
  }
  check += ";-I" + contract + "/include;-I" + path("src").string() + ";-include;" + contract +
           "/entry.h";
  options = options + Words{"--cuda-check", check};
  const std::string kernel =
      std::string(good_candidate) + "int host(int x);\n__global__ void k(int* x) { *x = ";
  write("src/candidate.cu", kernel + "1; }\n");
  run(kb_cc(command, options));
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_EQ(record()["cuda_syntax"], "clang");
  // g++ knows no difference between host and device functions.
  write("src/candidate.cu", kernel + "host(1); }\n");
  expect_recorded_failure(run(kb_cc(command, options)), "compile_error");
  EXPECT_EQ(record()["cuda_syntax"], "failed");
  EXPECT_NE(record()["diagnostics"].get<std::string>().find("host"), std::string::npos);
}
#else
TEST_F(CudaCheck, RealClang) { GTEST_SKIP() << "no CPU layer or no clang++ in this build"; }
#endif

TEST_F(CudaCheck, RealNvcc) {
  if (std::string(KB_TEST_NVCC).empty()) GTEST_SKIP() << "nvcc was not found at configure time";
  const std::string contract = KB_TEST_CONTRACT;
  const std::string check =
      std::string(KB_TEST_NVCC) + ";-std=c++17;-arch=compute_90;-Xcicc;-O0;-c;-I" + contract +
      "/include;-I" + path("src").string() + ";-include;" + contract + "/entry.h";
  write("src/candidate.cu", good_candidate);
  run(kb_cc(gxx_command(), {"--cuda-check", check}));
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_EQ(record()["cuda_syntax"], "ok");
  // A kernel launch is g++'s error, and a designated array initializer is nvcc's.
  write("src/candidate.cu",
        std::string(good_candidate) + "#ifdef __CUDACC__\n__global__ int k() {}\n#endif\n");
  expect_recorded_failure(run(kb_cc(gxx_command(), {"--cuda-check", check})), "compile_error");
  EXPECT_EQ(record()["cuda_syntax"], "failed");
  // Only nvcc's host compiler refuses this.
  write("src/candidate.cu",
        std::string(good_candidate) + "namespace a { void f(long); }\nvoid a::f(int) {}\n");
  expect_recorded_failure(run(kb_cc(gxx_command(), {"--cuda-check", check})), "compile_error");
  EXPECT_EQ(record()["cuda_syntax"], "failed");
}

}  // namespace
}  // namespace kb::test
