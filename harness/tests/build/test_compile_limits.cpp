// Time, memory, size and disk: what a candidate uses up ends the compilation and nothing else.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sstream>

#include "workspace.h"

namespace kb::test {
namespace {

using CompileLimits = Workspace;

// Doubles its instantiations 40 times over.
const char* const template_bomb = R"(#include "task.h"
template <int depth, unsigned long long path> struct Bomb {
  static constexpr int value = Bomb<depth - 1, path * 2>::value + Bomb<depth - 1, path * 2 + 1>::value;
};
template <unsigned long long path> struct Bomb<0, path> { static constexpr int value = 1; };
int explode = Bomb<40, 0>::value;
)";

TEST_F(CompileLimits, TemplateBombEndsAtTheTimeLimit) {
  expect_recorded_failure(compile(template_bomb, {{"KB_COMPILE_TIMEOUT", "1.5"}}), "timeout");
  EXPECT_EQ(record()["reason"], "the compiler was stopped after 1.5 s");
}

// Each of them would end in time, so that several limits would add up.
TEST_F(CompileLimits, AllCompilersOfAKernelShareOneLimitOfTime) {
  const std::string slow = write_script("slow", "sleep 2\necho > obj/candidate.o.cuda_check.o\n");
  write("src/candidate.cu", good_candidate);
  const std::string gxx =
      write_script("gxx", "sleep 2\nexec " + std::string(KB_TEST_CXX) + " \"$@\"\n");
  Words command = gxx_command();
  command[0] = gxx;
  const Ending result = run(kb_cc(command, {"--cuda-check", slow + ";-c"}),
                            {{"KB_COMPILE_TIMEOUT", "3.5"}, {"KB_COMPILE_SANDBOX", "none"}});
  expect_recorded_failure(result, "timeout");
  EXPECT_NE(record()["reason"].get<std::string>().find("3.5 s"), std::string::npos);
  EXPECT_EQ(record()["left_seconds"], 0);
  EXPECT_GE(record()["spent_seconds"], 3.4);
}

TEST_F(CompileLimits, WhatIsLeftOfTheTimeIsRecorded) {
  compile(good_candidate, {{"KB_COMPILE_TIMEOUT", "100"}});
  const double spent = record()["spent_seconds"];
  EXPECT_GT(spent, 0);
  EXPECT_NEAR(spent + record()["left_seconds"].get<double>(), 100, 0.01);
}

TEST_F(CompileLimits, TemplateBombEndsAtTheMemoryLimit) {
  const Ending result = compile(template_bomb, {{"KB_COMPILE_MEMORY", "150M"}});
  expect_recorded_failure(result, "out_of_memory");
  EXPECT_GT(record()["peak_bytes"], 75 << 20);
}

TEST_F(CompileLimits, CompilersAreTheFirstToGoWhereMemoryRunsOut) {
  write("src/candidate.cu", good_candidate);
  Words command = gxx_command();
  command[0] = write_script("compiler", "cat /proc/self/oom_score_adj\nexit 1\n");
  run(kb_cc(command), {{"KB_COMPILE_SANDBOX", "none"}});
  EXPECT_EQ(record()["diagnostics"], "1000\n");
  command[0] = write_script("compiler", "kill -KILL $$\n");
  expect_recorded_failure(run(kb_cc(command)), "out_of_memory");
}

TEST_F(CompileLimits, EndlessConstexprLoopEndsAtTheTimeLimit) {
  write("src/candidate.cu",
        "#include \"task.h\"\nconstexpr int spin() { int i = 0; while (true) i ^= 1; return i; }\n"
        "constexpr int never = spin();\n");
  const Ending result = run(kb_cc(gxx_command() + Words{"-fconstexpr-ops-limit=9223372036854775807",
                                                        "-fconstexpr-loop-limit=2147483647"}),
                            {{"KB_COMPILE_TIMEOUT", "1"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(record()["status"], "timeout") << record().dump(1);
}

TEST_F(CompileLimits, OutputWithoutPauseEndsAtTheTimeLimit) {
  write("src/candidate.cu", good_candidate);
  const std::string compiler =
      write_script("chatty", "for writer in 1 2 3; do yes '' & done\nexec yes ''\n");
  const Words command =
      kb_cc({compiler, "-c", "src/candidate.cu", "-o", "obj/candidate.o", "-MFobj/candidate.o.d"});
  // Ended from outside where the limit is not kept.
  const Ending result =
      run(Words{"timeout", "-s", "KILL", "60"} + command, {{"KB_COMPILE_TIMEOUT", "1"}});
  expect_recorded_failure(result, "timeout");
}

TEST_F(CompileLimits, HugeInitializedArrayEndsAtTheSizeLimit) {
  const Ending result = compile(std::string(good_candidate) + "char huge[4ull << 30] = {1};\n",
                                {{"KB_COMPILE_OUTPUT", "1M"}});
  expect_recorded_failure(result, "compile_error");
  EXPECT_EQ(record()["reason"], "the compiler wrote a file larger than 1 MiB");
}

TEST_F(CompileLimits, ObjectsAreNoLargerThanModulesMayBe) {
  const Ending result = compile(std::string(good_candidate) + "char huge[65 << 20] = {1};\n");
  expect_recorded_failure(result, "policy_violation");
  const std::string reason = record()["reason"];
  EXPECT_EQ(reason.find("candidate's object has "), 0u) << reason;
  EXPECT_NE(reason.find(" bytes, more than the 67108864 that are allowed"), std::string::npos);
}

TEST_F(CompileLimits, ModulesThatGrowWhileTheyAreLinkedAreRefused) {
  // Zeros that take no room in an object, among data that do in a module.
  write("src/candidate.cu", std::string(good_candidate) +
                                "asm(\".section .data.zeros,\\\"aw\\\",@nobits\\n.zero 100000000\\n"
                                ".section .data.after,\\\"aw\\\"\\n.quad 1\\n.text\");\n");
  const std::string link =
      std::string(KB_TEST_CXX) + ";-shared;-Wl,--version-script=" + KB_TEST_MODULE_MAP;
  const Ending result =
      run(kb_cc(gxx_command(), {"--link", link, "--allow-file", KB_TEST_MODULE_MAP}));
  expect_recorded_failure(result, "policy_violation");
  EXPECT_EQ(record()["reason"].get<std::string>().find("candidate's module has "), 0u)
      << record()["reason"];
}

TEST_F(CompileLimits, HugeZeroArrayCostsNothing) {
  compile(std::string(good_candidate) + "static char huge[4ull << 30];\nchar* p = huge;\n");
  EXPECT_EQ(record()["status"], "ok") << record().dump(1);
  EXPECT_LT(record()["object_bytes"], 1 << 20);
}

TEST_F(CompileLimits, WhatCu2cppLeavesWhenItIsStoppedIsRemoved) {
  write("src/candidate.cu", good_candidate);
  const std::string cu2cpp =
      write_script("cu2cpp", "echo text > obj/candidate.o.ii\nexec sleep 1000\n");
  const Words command =
      kb_cc({cu2cpp, KB_TEST_CXX, "-c", "src/candidate.cu", "-o", "obj/candidate.o"});
  // A busy machine may not even get to the script's first line within a short limit.
  for (const char* limit : {"1", "5", "60"}) {
    run(command, {{"KB_COMPILE_TIMEOUT", limit}, {"KB_CPU_KEEP", "1"}});
    EXPECT_EQ(record()["status"], "timeout");
    if (exists("obj/candidate.o.ii")) break;
  }
  EXPECT_TRUE(exists("obj/candidate.o.ii"));
  run(command, {{"KB_COMPILE_TIMEOUT", "1"}});
  EXPECT_EQ(record()["status"], "timeout");
  EXPECT_FALSE(exists("obj/candidate.o.ii"));
}

TEST_F(CompileLimits, LimitsMayStandBesideTheStub) {
  std::filesystem::copy_file(KB_TEST_STUB, path("stub.o"));
  write("kb_cc.conf", "# limits of this tree\nKB_COMPILE_TIMEOUT=0.5\nKB_STRICT=1\n");
  write("src/candidate.cu", "int x;\n");
  const std::string compiler = write_script("slow", "exec sleep 1000\n");
  Words command = kb_cc(Words{compiler, "-c", "src/candidate.cu", "-o", "obj/candidate.o"});
  command[2] = path("stub.o");
  EXPECT_NE(run(command).exit_code, 0);
  EXPECT_EQ(record()["status"], "timeout");
  // The environment wins over the file.
  EXPECT_EQ(run(command, {{"KB_STRICT", "0"}}).exit_code, 0);
}

TEST_F(CompileLimits, LimitThatIsNoNumberIsAnError) {
  for (const auto& [key, value] : Environment{{"KB_COMPILE_TIMEOUT", "soon"},
                                              {"KB_COMPILE_MEMORY", "-1"},
                                              {"KB_COMPILE_OUTPUT", "1T"},
                                              {"KB_STRICT", "yes"},
                                              {"KB_COMPILE_SANDBOX", "maybe"}}) {
    const Ending result = compile(good_candidate, {{key, value}});
    EXPECT_NE(result.exit_code, 0) << key;
    EXPECT_NE(result.output.find(key + "='" + value + "' is not"), std::string::npos)
        << result.output;
  }
}

// A compiler that starts a grandchild, tells us its pid through a pipe and never ends.
constexpr const char* hanging_compiler = R"(echo text > obj/candidate.o.ii
sleep 100000 &
echo $! > obj/grandchild
mv obj/grandchild obj/grandchild.pid
echo ready > obj/ready
exec sleep 100000
)";

class CompileOrphans : public Workspace {
 protected:
  // Starts kb_cc on the hanging compiler; returns when the grandchild runs.
  pid_t start() {
    write("src/candidate.cu", good_candidate);
    const std::string compiler = write_script("cu2cpp", hanging_compiler);
    const std::string ready = path("obj/ready");
    EXPECT_EQ(mkfifo(ready.c_str(), 0600), 0);
    const pid_t process = start_program(
        kb_cc({compiler, KB_TEST_CXX, "-c", "src/candidate.cu", "-o", "obj/candidate.o"}),
        environment_, root_, path("output.txt"));
    const int fd = open(ready.c_str(), O_RDONLY);  // blocks until the script has it open
    char byte;
    EXPECT_EQ(::read(fd, &byte, 1), 1);
    close(fd);
    std::istringstream(read("obj/grandchild.pid")) >> grandchild_;
    EXPECT_GT(grandchild_, 1);
    EXPECT_EQ(kill(grandchild_, 0), 0);
    return process;
  }

  // kb_cc reaps the whole tree before it ends, so no waiting is needed here.
  bool grandchild_is_gone() const { return kill(grandchild_, 0) == -1 && errno == ESRCH; }

  size_t temporary_folders() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path("tmp"))) {
      (void)entry;
      ++count;
    }
    return count;
  }

  void SetUp() override { std::filesystem::create_directory(path("tmp")); }

  Environment environment_ = {{"TMPDIR", path("tmp")}};
  pid_t grandchild_ = 0;
};

TEST_F(CompileOrphans, InterruptEndsTheWholeTree) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t process = start();
    kill(process, signal);
    EXPECT_EQ(wait_for(process).signal, signal);
    EXPECT_TRUE(grandchild_is_gone());
    EXPECT_FALSE(exists("obj/candidate.o"));
    EXPECT_FALSE(exists("obj/candidate.o.ii"));
    EXPECT_FALSE(exists("obj/candidate.o.build.json"));
    EXPECT_EQ(temporary_folders(), 0u);
    std::filesystem::remove(path("obj/ready"));
  }
}

TEST_F(CompileOrphans, TimeLimitEndsTheWholeTree) {
  write("src/candidate.cu", good_candidate);
  const std::string compiler = write_script(
      "slow", "sleep 100000 &\necho $! > obj/partial\nmv obj/partial obj/pid\nexec sleep 100000\n");
  // A busy machine may not even get to the script's second line within a short limit.
  for (const char* limit : {"1", "5", "60"}) {
    environment_["KB_COMPILE_TIMEOUT"] = limit;
    const Ending result =
        run(kb_cc({compiler, "-c", "src/candidate.cu", "-o", "obj/candidate.o"}), environment_);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(record()["status"], "timeout");
    EXPECT_EQ(temporary_folders(), 0u);
    if (exists("obj/pid")) break;
  }
  std::istringstream(read("obj/pid")) >> grandchild_;
  EXPECT_GT(grandchild_, 1);
  EXPECT_TRUE(grandchild_is_gone());
}

TEST_F(CompileOrphans, GrandchildOfAFinishedCompilerIsEnded) {
  write("src/candidate.cu", good_candidate);
  // In its own session and with the output pipe still open: neither may keep kb_cc waiting.
  const std::string compiler =
      write_script("leaving", "setsid sleep 100000 &\necho $! > obj/pid\nexit 1\n");
  EXPECT_EQ(run(kb_cc({compiler, "-c", "src/candidate.cu", "-o", "obj/candidate.o"})).exit_code, 0);
  EXPECT_EQ(record()["status"], "compile_error");
  std::istringstream(read("obj/pid")) >> grandchild_;
  EXPECT_TRUE(grandchild_is_gone());
}

TEST_F(CompileLimits, UnwritableFolderIsOneClearError) {
  write("src/candidate.cu", good_candidate);
  Words command = gxx_command();
  for (std::string& word : command) {
    if (word == "obj/candidate.o") word = "/proc/kb_cannot_be_written/candidate.o";
    if (word == "obj/candidate.o.d") word = "/proc/kb_cannot_be_written/candidate.o.d";
  }
  const Ending result = run(kb_cc(command));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.output.find("kb_cc: error: cannot write"), std::string::npos) << result.output;
}

TEST_F(CompileLimits, RecordThatCannotBeWrittenIsOneClearError) {
  write("src/candidate.cu", good_candidate);
  const std::string compiler = write_script("failing", "exit 1\n");
  std::string command = "{ (ulimit -f 0; exec";
  for (const std::string& word :
       kb_cc({compiler, "-c", "src/candidate.cu", "-o", "obj/candidate.o"})) {
    command += " '" + word + "'";
  }
  // A pipe, since the limit holds for kb_cc's own output file as well.
  command += "); echo \"exit code $?\"; } 2>&1 | cat";
  const Ending result = run({"/bin/sh", "-c", command});
  EXPECT_EQ(result.output.find("kb_cc: error: cannot write "), 0u) << result.output;
  EXPECT_NE(result.output.find("exit code 2\n"), std::string::npos) << result.output;
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 2) << result.output;
  EXPECT_FALSE(exists("obj/candidate.o"));
  EXPECT_FALSE(exists("obj/candidate.o.build.json"));
}

// A file system of 64 KiB that is unmounted whatever the test does.
class SmallDisk {
 public:
  explicit SmallDisk(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directory(folder_);
    mounted_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=64k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount(folder_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;  // owns the mount
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }

  void fill() const {
    const int fd = open((folder_ / "filler").c_str(), O_WRONLY | O_CREAT, 0600);
    const std::string block(4096, 'x');
    while (::write(fd, block.data(), block.size()) > 0) continue;
    close(fd);
  }

 private:
  std::filesystem::path folder_;
  bool mounted_ = false;
};

TEST_F(CompileLimits, FullDiskSaysNothingAboutTheCandidate) {
  const SmallDisk disk(path("small"));
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system needs root";
  disk.fill();
  write("src/candidate.cu", good_candidate);
  Words command = gxx_command();
  for (std::string& word : command) {
    if (word.starts_with("obj/")) word.replace(0, 3, "small");
  }
  const Ending result = run(kb_cc(command));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.output.find("kb_cc: error: no space left in small"), std::string::npos)
      << result.output;
  EXPECT_FALSE(exists("small/candidate.o.build.json"));
  // An empty result must not be taken for a success either.
  command[0] = write_script("writes_nothing", "exit 0\n");
  EXPECT_NE(run(kb_cc(command)).exit_code, 0);
}

}  // namespace
}  // namespace kb::test
