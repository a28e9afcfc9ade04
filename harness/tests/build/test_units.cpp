// The parts of kb_cc that need no compiler: hashing, text, command lines, limits, names.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files.h"
#include "base/printable.h"
#include "base/process_tree.h"
#include "base/sha256.h"
#include "base/supervise.h"
#include "sandbox/build/build_record.h"
#include "sandbox/build/compile_command.h"
#include "sandbox/build/demangler.h"
#include "sandbox/build/diagnostics.h"
#include "sandbox/build/ptxas.h"
#include "sandbox/build/settings.h"
#include "sandbox/build/source_check.h"
#include "sandbox/build/source_text.h"
#include "sandbox/build/symbol_rules.h"

namespace kb {
namespace {

TEST(Sha256, KnownAnswers) {
  // FIPS 180-4 examples and the empty message.
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameAsTheWhole) {
  const std::string text(300, 'q');
  for (size_t first = 0; first <= text.size(); ++first) {
    Sha256 hash;
    hash.update(text.data(), first);
    hash.update(text.data() + first, text.size() - first);
    EXPECT_EQ(hash.hex_digest(), sha256_hex(text)) << first;
  }
}

TEST(Sha256, FilesAndMissingFiles) {
  const TemporaryDirectory folder;
  write_file_atomically(folder.path() / "abc", "abc");
  EXPECT_EQ(sha256_file(folder.path() / "abc"), sha256_hex("abc"));
  EXPECT_FALSE(sha256_file(folder.path() / "missing"));
  EXPECT_FALSE(sha256_file(folder.path()));
}

class Supervision : public testing::Test {
 public:
  // What a shell that runs `script` prints.
  std::string said(const std::string& script, bool compiles = false) {
    Launch launch;
    launch.words = {"sh", "-c", script};
    launch.temporary_directory = folder_.path();
    launch.timeout_s = 20;
    launch.memory_bytes = launch.file_bytes = uint64_t{1} << 40;
    launch.compiles = compiles;
    std::string text;
    run_supervised(launch, signals_, [&](std::string_view bytes) { text += bytes; });
    return text;
  }

  const TemporaryDirectory folder_;
  const SignalRouter signals_;
};

TEST_F(Supervision, OnlyCompilersAreKilledBeforeOthersAndShortOfProcessorTime) {
  const std::string limits = "cat /proc/self/oom_score_adj; ulimit -t";
  rlimit limit;
  getrlimit(RLIMIT_CPU, &limit);
  const std::string all =
      limit.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_max);
  EXPECT_EQ(said(limits), read_text("/proc/self/oom_score_adj") + all + "\n");
  EXPECT_EQ(said(limits, /*compiles=*/true), "1000\n100\n");
}

// ThreadSanitizer does not start where address space has a limit, however large.
TEST_F(Supervision, WhatHasNoLimitKeepsTheCallers) {
  Launch launch;
  launch.words = {"sh", "-c", "ulimit -v; ulimit -f"};
  launch.temporary_directory = folder_.path();
  launch.timeout_s = 20;
  std::string text;
  run_supervised(launch, signals_, [&](std::string_view bytes) { text += bytes; });
  const auto own = [](auto resource, rlim_t unit) {
    rlimit limit;
    getrlimit(resource, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? "unlimited\n"
                                           : std::to_string(limit.rlim_cur / unit) + "\n";
  };
  EXPECT_EQ(text, own(RLIMIT_AS, 1024) + own(RLIMIT_FSIZE, 512));
}

TEST_F(Supervision, TheCallerKeepsItsTemporaryFolder) {
  const auto own = [] {
    const char* folder = std::getenv("TMPDIR");
    return std::string(folder ? folder : "");
  };
  const std::string before = own();
  EXPECT_EQ(said("echo $TMPDIR"), folder_.path().string() + "\n");
  EXPECT_EQ(own(), before);
}

// CUDA's threads do not block SIGCHLD: now and then one took it, and kb_env waited for ever.
TEST(SignalRouting, AThreadThatTakesASignalHoldsNothingUp) {
  std::atomic<bool> done = false;
  std::thread taker([&] {
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const TemporaryDirectory folder;
  Launch launch;
  launch.words = {"true"};
  launch.temporary_directory = folder.path();
  launch.timeout_s = 60;
  {
    const SignalRouter signals;
    for (int i = 0; i < 50; ++i) {
      const Outcome outcome = run_supervised(launch, signals, [](std::string_view) {});
      EXPECT_EQ(outcome.exit_code, 0);
      EXPECT_FALSE(outcome.timed_out);
    }
  }
  done = true;
  taker.join();
}

TEST(Files, WhatIsNoFileIsNotWaitedFor) {
  const TemporaryDirectory folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::filesystem::path& path : {pipe, std::filesystem::path("/dev/zero")}) {
    EXPECT_THROW(read_text(path), std::runtime_error) << path;
    EXPECT_FALSE(sha256_file(path)) << path;
  }
}

TEST(SourceText, OtherEncodingsAreKnownWithAndWithoutTheirMark) {
  using namespace std::string_view_literals;
  const auto widened = [](std::string_view text, size_t bytes, size_t place) {
    std::string wide;
    for (const char c : text) {
      std::string unit(bytes, '\0');
      unit[place] = c;
      wide += unit;
    }
    return wide;
  };
  const std::string_view kernel = "#include \"task.h\"\n__global__ void k(float* x) {}\n";
  EXPECT_EQ(foreign_encoding(kernel), "");
  EXPECT_EQ(foreign_encoding("\xef\xbb\xbf" + std::string(kernel)), "");  // UTF-8 with a mark
  EXPECT_EQ(foreign_encoding(""), "");
  EXPECT_EQ(foreign_encoding("\xff\xfe"), "UTF-16");
  EXPECT_EQ(foreign_encoding("\xff\xfe\0\0"sv), "UTF-32");
  for (const size_t place : {0u, 1u}) {
    EXPECT_EQ(foreign_encoding(widened(kernel, 2, place)), "UTF-16") << place;
    EXPECT_EQ(foreign_encoding(widened(kernel, 4, 3 * place)), "UTF-32") << place;
  }
}

TEST(SourceText, LineDirectivesAreFoundHoweverTheyAreWritten) {
  for (const char* source :
       {"# 1 \"x\" 1 3\n", "int a;\n#line 7\n", "  /* a */ # /* b\n c */ 3\n", "%: 1 \"x\"\n",
        "#\\\n1 \"x\"\n", "#li\\  \nne 4\n", "#\n# 1 \"x\"\n", "#if 0\nit's\n#endif\n#line 2\n",
        "#if __has_include(</*>)\n#endif\n#line 2\n//*/\n", "#include <a'b>\n#line 3\n",
        "auto s = R\"x()\"; // )x\\\n\"\n)x\";\n# 1 \"x\"\n", "int i = 1'000;\n# 1 \"x\"\n",
        "auto c = '\"';\n#line 9\n", "auto s = u8R\"(\n)\";\n# 9\n",
        "#if 1 < 2 // > R\"(\n# 1 \"x\" 3\n// )\"\n#endif\n",
        "bool b = has_include < 2; // > R\"(\n# 1 \"x\"\n// )\"\n"}) {
    EXPECT_TRUE(line_directive(source)) << source;
  }
  EXPECT_EQ(line_directive("a\n/* b\n */\\\n\n#line 3\n"), 5);
}

TEST(SourceText, WhatOnlyLooksLikeALineDirectiveIsNone) {
  for (const char* source :
       {"#include \"task.h\"\n", "/*\n# 1. Tiling\n#line 3\n*/\n", "// \\\n# 1 \"x\"\n",
        "auto s = R\"(\n# 1 \"x\"\n)\";\n", "auto s = \"\\\n# 1\";\n", "#define F(x) #x\n",
        "#define G(a, b) a ## 1\n", "#pragma unroll 4\n", "#define line 3\n", "#linear\n",
        "int i = 3; # 1\n", "auto s = R\"a(\n#line 1\n)b\"\n#line 2\n)a\";\n"}) {
    EXPECT_FALSE(line_directive(source)) << source;
  }
}

TEST(Diagnostics, PrintableKeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("plain\ttext"), "plain\ttext");
  EXPECT_EQ(printable("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\x1b[01;31m\x1b[Kerror\x1b[m"), "error");
  EXPECT_EQ(printable("\x1b]0;x\x07"), "\\x1b]0;x\\x07");
  EXPECT_EQ(printable_text("one\n\xc2\x9b[2Jtwo\r\n"), "one\n\\xc2\\x9b[2Jtwo\n");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");  // C1 control
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("dos\r"), "dos");
}

// They would hide text, turn it, or begin a line where none is seen to begin.
TEST(Diagnostics, PrintableEscapesWhatIsNotSeen) {
  EXPECT_EQ(printable("a\u202eb\u2066"), "a\\u{202e}b\\u{2066}");
  EXPECT_EQ(printable("\u2028\u2029\u200b\ufeff\u00ad"),
            "\\u{2028}\\u{2029}\\u{200b}\\u{feff}\\u{00ad}");
  EXPECT_EQ(printable("\U000e0041"), "\\u{e0041}");
  EXPECT_EQ(printable("\u00e4\u4e2d\U0001f600"), "\u00e4\u4e2d\U0001f600");
  EXPECT_EQ(printable("<CT\u200bestLabel>"), "<CT\\u{200b}estLabel>");
}

TEST(Diagnostics, WordsOfACandidateStandInQuotesOnOneLine) {
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes("a\n\"b\""), "\"a\\x0a'b'\"");
}

TEST(Diagnostics, LinesOfACandidateAreMarked) {
  EXPECT_EQ(marked_lines(""), "");
  EXPECT_EQ(marked_lines("k.cu:1: error\n100% tests passed\r\n\nlast\u2028x"),
            "| k.cu:1: error\n| 100% tests passed\n| \n| last\\u{2028}x\n");
}

TEST(Diagnostics, PrintableEscapesTheTagsOfCTest) {
  EXPECT_EQ(printable("<CTestMeasurementFile>/etc/passwd</CTestMeasurementFile>"),
            "\\x3cCTestMeasurementFile>/etc/passwd</CTestMeasurementFile>");
  EXPECT_EQ(printable("a<CTestLabel><DartMeasurement>"), "a\\x3cCTestLabel>\\x3cDartMeasurement>");
  EXPECT_EQ(printable("<CT\x1b[mestDetails>"), "\\x3cCTestDetails>");
  EXPECT_EQ(printable("<<<grid, 256>>> <CTe"), "<<<grid, 256>>> <CTe");
}

TEST(Diagnostics, SplitterJoinsPiecesAndCutsLongLines) {
  std::vector<std::string> lines;
  LineSplitter splitter([&](std::string_view line) { lines.emplace_back(line); });
  splitter.append("on");
  splitter.append("e\ntwo\n\n");
  splitter.append(std::string(10000, 'x') + "\nlast");
  splitter.finish();
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "one");
  EXPECT_EQ(lines[1], "two");
  EXPECT_EQ(lines[2], "");
  EXPECT_EQ(lines[3], std::string(4096, 'x') + " [5904 more bytes in this line]");
  EXPECT_EQ(lines[4], "last");
}

TEST(Diagnostics, HeadAndTailStaysWithinCapacity) {
  HeadAndTail text;
  EXPECT_EQ(text.text(), "");
  for (int i = 0; i < 5000; ++i) text.add("line " + std::to_string(i) + std::string(20, '\xff'));
  EXPECT_LE(text.text().size(), HeadAndTail::capacity);
  EXPECT_GT(text.text().size(), HeadAndTail::capacity * 9 / 10);
  EXPECT_EQ(text.text().find("line 0\\xff"), 0u);
  EXPECT_NE(text.text().find("line 4999\\xff"), std::string::npos);
}

TEST(Diagnostics, ShortTextIsKeptWhole) {
  HeadAndTail text;
  text.add("one");
  text.add("two");
  EXPECT_EQ(text.text(), "one\ntwo\n");
  EXPECT_EQ(first_lines("a\nb\nc\n", 2), "a\nb\n");
  EXPECT_EQ(first_lines("a\nb", 5), "a\nb");
}

TEST(Ptxas, ReadsKernelsAndLeavesOtherLines) {
  PtxasReader reader;
  for (const char* line :
       {"ptxas info    : 0 bytes gmem, 8 bytes cmem[4]",
        "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'",
        "ptxas info    : Function properties for _Z1kPf",
        "    24 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads",
        "ptxas info    : Used 255 registers, used 1 barriers, 24 bytes cumulative stack size, 4096 "
        "bytes smem, 360 bytes cmem[0]",
        "ptxas info    : Compile time = 5.080 ms",
        "ptxas info    : Function properties for _Z6helperf",
        "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"}) {
    EXPECT_TRUE(reader.take(line)) << line;
  }
  for (const char* line :
       {"k.cu(3): error: no", "    0 bytes of nothing",
        "ptxas info    : (C7510) Potential Performance Loss: wgmma serialized"}) {
    EXPECT_FALSE(reader.take(line)) << line;
  }
  ASSERT_EQ(reader.kernels().size(), 1u);
  const KernelResources& kernel = reader.kernels()[0];
  EXPECT_EQ(kernel.kernel, "_Z1kPf");
  EXPECT_EQ(kernel.arch, "sm_90");
  EXPECT_EQ(kernel.registers, 255u);
  EXPECT_EQ(kernel.stack_bytes, 24u);
  EXPECT_EQ(kernel.spill_stores_bytes, 16u);
  EXPECT_EQ(kernel.spill_loads_bytes, 20u);
  EXPECT_EQ(kernel.shared_bytes, 4096u);
}

TEST(Ptxas, TheFirstLineAboutAKernelCounts) {
  PtxasReader reader;
  for (const char* line : {"ptxas info    : Compiling entry function 'k' for 'sm_90'",
                           "ptxas info    : Used 40 registers", "ptxas info    : Used 1 registers",
                           "ptxas info    : Compiling entry function 'k' for 'sm_90'",
                           "ptxas info    : Function properties for k",
                           "    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads",
                           "ptxas info    : Used 2 registers",
                           "ptxas info    : Compiling entry function 'k' for 'sm_80'",
                           "ptxas info    : Used 30 registers"}) {
    EXPECT_TRUE(reader.take(line)) << line;
  }
  ASSERT_EQ(reader.kernels().size(), 2u);
  EXPECT_EQ(reader.kernels()[0].registers, 40u);
  EXPECT_EQ(reader.kernels()[0].stack_bytes, 0u);
  EXPECT_EQ(reader.kernels()[1].registers, 30u);
}

TEST(Ptxas, OnlySoManyKernels) {
  PtxasReader reader;
  for (int i = 0; i < 2000; ++i) {
    EXPECT_TRUE(reader.take("ptxas info    : Compiling entry function 'k" + std::to_string(i) +
                            "' for 'sm_90'"));
    EXPECT_TRUE(reader.take("ptxas info    : Used " + std::to_string(i) + " registers"));
  }
  ASSERT_EQ(reader.kernels().size(), PtxasReader::most_kernels);
  EXPECT_EQ(reader.kernels().back().registers, PtxasReader::most_kernels - 1);
}

TEST(Ptxas, KernelsThatTheObjectDoesNotNameAreForged) {
  std::vector<KernelResources> kernels(5);
  const std::vector<std::string> names{"_Z1kPf", "_Z1kP", "k.static$1", "fast", ""};
  for (size_t i = 0; i < names.size(); ++i) kernels[i].kernel = names[i];
  using namespace std::string_view_literals;
  keep_named("\1\2_Z1kPf\0breakfast\0k.static$1"sv, &kernels);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].kernel, "_Z1kPf");
  EXPECT_EQ(kernels[1].kernel, "k.static$1");
}

TEST(Sass, CountsWhatAKernelUses) {
  SassReader reader;
  for (const char* line :
       {"        /*0000*/                   LDG.E.128 R8, desc[UR4][R2.64] ;  /* before any kernel "
        "*/",
        "\t\tFunction : _Z1kPf", "\t.headerflags\t@\"EF_CUDA_SM90\"",
        "        /*0100*/                   LDG.E.128 R8, desc[UR4][R2.64] ;  /* 0x00 */",
        "                                                                     /* 0x0000LDG.E.64 */",
        "        /*0110*/               @!P0 LDG.E.64.CONSTANT R8, desc[UR4][R2.64] ;",
        "        /*0120*/                   LDG.E R4, desc[UR4][R8.64] ;",
        "        /*0130*/                   LDGSTS.E.BYPASS.LTC128B.128 [R5], desc[UR4][R8.64] ;",
        "        /*0140*/                   LDG.E.LTC128B R5, desc[UR4][R8.64] ;",
        "        /*0150*/                   STG.E.128 desc[UR4][R8.64], R4 ;",
        "        /*0160*/                   LDS.128 R4, [R5] ;",
        "        /*0170*/                   HMMA.16816.F32 R16, R4.reuse, R12, RZ ;",
        "        /*0180*/              @UP0 HGMMA.64x64x16.F32 R24, gdesc[UR4], R24 ;",
        "        /*0190*/                   FFMA R4, R4, R5, R6 ;", "\t\tFunction : helper",
        "        /*0000*/                   EXIT;", "        /* not", "        /*0010*/ @P0"}) {
    reader.take(line);
  }
  ASSERT_EQ(reader.kernels().size(), 2u);
  EXPECT_EQ(reader.kernels().at("_Z1kPf").vector_load_instructions, 3u);
  EXPECT_EQ(reader.kernels().at("_Z1kPf").tensor_core_instructions, 2u);
  EXPECT_EQ(reader.kernels().at("helper").vector_load_instructions, 0u);
}

TEST(CompileCommand, GxxBehindCu2cpp) {
  const auto command = parse_compile_command({"/b/cu2cpp", "/usr/bin/g++", "-Dx=1", "-I", "a.cpp",
                                              "-include", "e.h", "-MD", "-MT", "o/c.o", "-MF",
                                              "o/c.o.d", "-x", "c++", "-o", "o/c.o", "-c", "c.cu"});
  EXPECT_EQ(command.source, "c.cu");
  EXPECT_EQ(command.object, "o/c.o");
  EXPECT_EQ(command.depfile, "o/c.o.d");
  EXPECT_EQ(command.depfile_target, "o/c.o");
  EXPECT_EQ(command.read_files, std::vector<std::string>{"e.h"});
  EXPECT_TRUE(command.uses_cu2cpp());
  EXPECT_EQ(command.compiler_name(), "cu2cpp g++");
}

TEST(CompileCommand, NvccWithHostCompilerAndOptionsFile) {
  const auto command = parse_compile_command({"ccache", "/c/bin/nvcc", "-ccbin=/usr/bin/g++-12",
                                              "--options-file", "i.rsp", "-x", "cu", "-c", "a b.cu",
                                              "-o", "a.o", "-MFdeps.d", "-Xcompiler", "x.cpp"});
  EXPECT_EQ(command.source, "a b.cu");
  EXPECT_EQ(command.depfile, "deps.d");
  EXPECT_EQ(command.programs(),
            (std::vector<std::string>{"ccache", "/c/bin/nvcc", "/usr/bin/g++-12"}));
  EXPECT_EQ(command.read_files, std::vector<std::string>{"i.rsp"});
  EXPECT_FALSE(command.uses_cu2cpp());
}

TEST(CompileCommand, WhatIsNoCompilationIsRefused) {
  EXPECT_THROW(parse_compile_command({}), std::runtime_error);
  EXPECT_THROW(parse_compile_command({"g++", "--version"}), std::runtime_error);
  EXPECT_THROW(parse_compile_command({"g++", "-c", "a.cpp"}), std::runtime_error);
  EXPECT_THROW(parse_compile_command({"g++", "-c", "-o", "a.o"}), std::runtime_error);
}

TEST(Settings, DefaultsFileAndUnits) {
  for (const char* key : {"KB_COMPILE_TIMEOUT", "KB_COMPILE_MEMORY", "KB_COMPILE_OUTPUT",
                          "KB_STRICT", "KB_COMPILE_SANDBOX", "KB_COMPILE_JOBS"}) {
    unsetenv(key);
  }
  const Settings defaults = read_settings("/nonexistent/kb_cc.conf");
  EXPECT_EQ(defaults.timeout_s, 180);
  EXPECT_GE(defaults.memory_bytes, 2ull << 30);
  EXPECT_LE(defaults.memory_bytes, 8ull << 30);
  EXPECT_EQ(defaults.output_bytes, 1ull << 30);
  EXPECT_FALSE(defaults.strict);
  const TemporaryDirectory folder;
  write_file_atomically(folder.path() / "conf",
                        "KB_COMPILE_TIMEOUT=2.5\nKB_COMPILE_MEMORY=3G\nKB_COMPILE_OUTPUT=12\n"
                        "KB_COMPILE_SANDBOX=none\n");
  const Settings settings = read_settings(folder.path() / "conf");
  EXPECT_EQ(settings.timeout_s, 2.5);
  EXPECT_EQ(settings.memory_bytes, 3ull << 30);
  EXPECT_EQ(settings.output_bytes, 12u);
  EXPECT_EQ(settings.sandbox, SandboxMode::off);
  for (const char* line :
       {"KB_COMPILE_MEMORY=99999999999G", "KB_COMPILE_MEMORY=1KB", "KB_COMPILE_TIMEOUT=nan",
        "KB_COMPILE_TIMEOUT=0", "KB_STRICT=2", "KB_COMPILE_JOBS=0"}) {
    write_file_atomically(folder.path() / "conf", line);
    EXPECT_THROW(read_settings(folder.path() / "conf"), std::runtime_error) << line;
  }
}

TEST(Settings, EachCompilationHasItsShareOfTheMemory) {
  constexpr uint64_t gibibyte = 1ull << 30;
  EXPECT_EQ(memory_share(256 * gibibyte, 8), 8 * gibibyte);
  EXPECT_EQ(memory_share(24 * gibibyte, 4), 6 * gibibyte);
  EXPECT_EQ(memory_share(64 * gibibyte, 16), 4 * gibibyte);
  EXPECT_EQ(memory_share(gibibyte, 1), 2 * gibibyte);
  const TemporaryDirectory folder;
  write_file_atomically(folder.path() / "conf", "KB_COMPILE_JOBS=1000000\n");
  EXPECT_EQ(read_settings(folder.path() / "conf").memory_bytes, 2 * gibibyte);
}

TEST(Settings, CMakeTellsHowManyCompileAtOnce) {
  if (std::string_view(KB_TEST_JOBS).empty()) GTEST_SKIP() << "these tests are configured alone";
  const std::string text =
      read_text(std::filesystem::path(KB_TEST_STUB).parent_path() / "kb_cc.conf");
  EXPECT_TRUE(text.starts_with("KB_COMPILE_JOBS=" KB_TEST_JOBS "\n")) << text;
}

TEST(SymbolRules, Definitions) {
  for (const char* name :
       {"main", "cudaEventElapsedTime", "cuMemAlloc", "clock_gettime", "gettimeofday", "dlsym",
        "malloc", "_Znwm", "_ZdlPvm", "_ZnamSt11align_val_t", "kb_secret", "_ZN7testing4Test3RunEv",
        "_ZNK2at6Tensor8allcloseERKS0_ddb", "_ZN3c106Device", "_ZN5torch3jit",
        "_ZTVN9benchmark5StateE"}) {
    EXPECT_TRUE(forbidden_definition(name, false)) << name;
    EXPECT_TRUE(forbidden_definition(name, true)) << name;
  }
  // Headers bring these along as weak symbols; a strong one is the candidate's own.
  for (const char* name : {"nvtxMarkEx_impl_init_v3", "nvmlInit", "__cudaRegisterFatBinary"}) {
    EXPECT_TRUE(forbidden_definition(name, false)) << name;
    EXPECT_FALSE(forbidden_definition(name, true)) << name;
  }
  for (const char* name :
       {"kb_launch", "kb_prepare", "_ZN4task6launchERKNS_5SizesE", "current", "cuts", "nvalues",
        "cudaless", "clock_rate", "dlrm_forward", "mainloop", "timer", "_ZN3FoonwEm", "_ZnwmPv",
        "_ZN4data2at1xE", "_Z4timev", "_Z24__device_stub__Z1kPKfPfl"}) {
    EXPECT_FALSE(forbidden_definition(name, false)) << name;
  }
}

TEST(SymbolRules, Imports) {
  for (const char* name : {"dlopen", "dlsym", "fork", "execve", "system", "popen", "ptrace",
                           "process_vm_writev", "cublasCreate_v2", "cudnnCreate", "cufftExecC2C",
                           "_ZN2at4_ops3mul4callE", "_ZNK3c1010TensorImpl5sizesEv"}) {
    EXPECT_TRUE(forbidden_import(name, LibraryPolicy::none)) << name;
  }
  for (const char* name :
       {"cudaMalloc", "__cudaRegisterFatBinary", "memcpy", "malloc", "dl_iterate_phdr", "_ZSt4cout",
        "clock_gettime", "forked", "systematic"}) {
    EXPECT_FALSE(forbidden_import(name, LibraryPolicy::none)) << name;
  }
  EXPECT_FALSE(forbidden_import("cublasCreate_v2", LibraryPolicy::cublas));
  EXPECT_TRUE(forbidden_import("cudnnCreate", LibraryPolicy::cublas));
  EXPECT_FALSE(forbidden_import("cudnnCreate", LibraryPolicy::cudnn));
  EXPECT_FALSE(forbidden_import("cublasCreate_v2", LibraryPolicy::cudnn));
  EXPECT_TRUE(forbidden_import("fork", LibraryPolicy::cudnn));
}

// P<P<int, int>, P<int, int>> and so on: the name of each further level is twice as long.
std::string symbol_of_doubling(int levels) {
  const auto reference = [](int number) {
    constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (number == 0) return std::string("S_");
    const int left = number - 1;
    const std::string high = left < 36 ? "" : std::string(1, digits[left / 36]);
    return "S" + high + digits[left % 36] + "_";
  };
  std::string symbol = "_Z1f1PIiiE";
  for (int level = 1; level <= levels; ++level) {
    symbol += reference(0) + "I" + reference(level) + reference(level) + "E";
  }
  return symbol;
}

TEST(Demangler, NamesForPeople) {
  EXPECT_EQ(demangled("_Z1fi"), "f(int)");
  EXPECT_EQ(demangled("f"), "f");  // not the type float
  EXPECT_EQ(demangled("_Z"), "_Z");
  EXPECT_EQ(demangled("cudaX\x1b[2J\n<CTestLabel>\xff"), "cudaX\\x1b[2J\\x0a\\x3cCTestLabel>\\xff");
  EXPECT_EQ(demangled(std::vector<std::string>{"_Z1gv", "", "_Z1hf"}),
            (std::vector<std::string>{"g()", "", "h(float)"}));
  EXPECT_TRUE(demangled(std::vector<std::string>{}).empty());
}

TEST(Demangler, LongNamesAreCut) {
  const std::string plain = demangled("f" + std::string(100000, 'x'));
  EXPECT_EQ(plain, "f" + std::string(295, 'x') + " ...");
  EXPECT_EQ(demangled(symbol_of_doubling(2)),
            "f(P<int, int>, P<P<int, int>, P<int, int> >, P<P<P<int, int>, P<int, int> >, "
            "P<P<int, int>, P<int, int> > >)");
  EXPECT_EQ(demangled(symbol_of_doubling(8)).size(), 300u);
}

TEST(Demangler, NamesThatExplodeStayAsTheyAre) {
  const std::string bomb = symbol_of_doubling(40);
  const std::vector<std::string> names = demangled({"_Z1gv", bomb, bomb, "_Z1hv"});
  EXPECT_EQ(names, (std::vector<std::string>{"g()", bomb.substr(0, 296) + " ...",
                                             bomb.substr(0, 296) + " ...", "_Z1hv"}));
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  EXPECT_LT(usage.ru_maxrss, 512 << 10);  // KiB
}

TEST(SourceCheck, DepfileWithEscapesAndContinuations) {
  EXPECT_EQ(depfile_inputs("o/a.o: a.cu \\\n  b\\ c.h d$$e.h\n\nb.h:\n"),
            (std::vector<std::string>{"a.cu", "b c.h", "d$e.h"}));
  EXPECT_EQ(depfile_inputs("a.o : a.cu\n"), std::vector<std::string>{"a.cu"});
  EXPECT_TRUE(depfile_inputs("").empty());
}

TEST(SourceCheck, EmbeddingIsSeenThroughBreaks) {
  EXPECT_TRUE(embeds_files("asm(\".incbin \\\"x\\\"\");"));
  EXPECT_TRUE(embeds_files("asm(\".inc\" \"bin \\\"x\\\"\");"));
  EXPECT_TRUE(embeds_files("asm(\".inc\\\nbin x\");"));
  EXPECT_TRUE(embeds_files("#embed \"x\""));
  EXPECT_TRUE(embeds_files(" # \t embed <x>"));
  EXPECT_FALSE(embeds_files("#include <torch> // embedding table\nasm volatile(\"mma.sync\");"));
  EXPECT_FALSE(embeds_files("int embed = 1; #define X(a) #a\n"));
}

TEST(BuildRecord, IsJsonWhateverTheTexts) {
  BuildRecord record;
  record.status = BuildStatus::crash;
  record.source = "a\xff.cu";
  record.reason = "quote \" and \n newline";
  const auto json = nlohmann::json::parse(to_json(record));
  EXPECT_EQ(json["status"], "crash");
  EXPECT_EQ(json["source"], "a\ufffd.cu");
  EXPECT_EQ(json["reason"], record.reason);
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

TEST(Files, AtomicWriteReplacesAndReportsErrors) {
  const TemporaryDirectory folder;
  write_file_atomically(folder.path() / "f", "one");
  write_file_atomically(folder.path() / "f", "two");
  EXPECT_EQ(read_text(folder.path() / "f"), "two");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"f"});
  EXPECT_THROW(write_file_atomically(folder.path() / "no" / "f", "x"), std::runtime_error);
}

TEST(Files, WhatIsNotCommittedLeavesNothing) {
  const TemporaryDirectory folder;
  write_file_atomically(folder.path() / "f", "old");
  FileReplacement(folder.path() / "f").write("new");
  EXPECT_EQ(read_text(folder.path() / "f"), "old");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"f"});
  // Something is written, but what stands there is no file.
  const TemporaryDirectory other;
  std::filesystem::create_directory(other.path() / "d");
  EXPECT_THROW(write_file_atomically(other.path() / "d", "x"), std::runtime_error);
  EXPECT_EQ(names_in(other.path()), std::vector<std::string>{"d"});
}

TEST(Files, WhatCannotBeReadIsAnError) {
  const TemporaryDirectory folder;
  EXPECT_THROW(read_text(folder.path() / "missing"), std::runtime_error);
  EXPECT_THROW(read_text(folder.path()), std::runtime_error);  // it opens, and no read succeeds
  write_file_atomically(folder.path() / "empty", "");
  EXPECT_EQ(read_text(folder.path() / "empty"), "");
}

TEST(ProcessTree, ChildrenOfEveryThreadAreFound) {
  std::promise<pid_t> started;
  std::promise<void> seen;
  std::thread second([&] {
    const pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    started.set_value(child);
    seen.get_future().wait();  // children of a thread that ends are given to another one
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  });
  const pid_t child = started.get_future().get();
  EXPECT_EQ(children_of(getpid()), std::vector<pid_t>{child});
  EXPECT_EQ(descendants_of(getpid()), std::vector<pid_t>{child});
  EXPECT_TRUE(children_of(child).empty());
  seen.set_value();
  second.join();
  EXPECT_TRUE(children_of(getpid()).empty());
}

}  // namespace
}  // namespace kb
