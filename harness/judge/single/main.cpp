// kb_judge_kernel: judges one kernel that lies anywhere, in a folder of its own, and prints its
// result. tools/judge calls it. Many may run at once.
#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "base/file_lock.h"
#include "base/machine.h"
#include "base/result/candidate_entry.h"
#include "base/supervise.h"
#include "judge/device/peaks_file.h"
#include "judge/single/compiler.h"
#include "judge/single/gpu_slots.h"
#include "sandbox/build/module_code.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr int exit_fault = 2, exit_same_code = 79;
constexpr size_t longest_source = 4 << 20;
constexpr double compile_limit_s = 1200;  // kb_cc stops each compiler long before
constexpr double test_limit_s = 1500, bench_limit_s = 1800;  // as in CTest, waiting included
constexpr double advice_limit_s = 5;  // of a source that was made to take long
constexpr useconds_t lock_poll_us = 50'000;

// The names are those of verdict.h; below 10 is what shells and this program mean by themselves.
int exit_code(const std::string& verdict) {
  static const std::map<std::string, int> codes{{"pass", 0},
                                                {"incorrect", 10},
                                                {"compile_error", 11},
                                                {"runtime_error", 12},
                                                {"timeout", 13},
                                                {"cheat", 14},
                                                {"policy_violation", 15},
                                                {"skipped", 77},
                                                {"degenerate", 78},
                                                {"same_code", exit_same_code}};
  return codes.at(verdict);
}

struct Arguments {
  fs::path build_dir;
  std::string task;
  std::string file;
  std::string library = "none";
  std::vector<std::string> headers;
  std::optional<std::string> contract;    // none: the build's
  std::optional<std::string> known_code;  // code_sha256 of a kernel that has been judged
  bool timing = true;
};

/// A signal has told this program to stop.
struct Interrupted {
  int signal;
};

[[noreturn]] void fail(const std::string& sentence) { throw std::runtime_error(sentence); }

std::string preset_of(const fs::path& build_dir) { return build_dir.filename().string(); }

std::string build_remedy(const fs::path& build_dir) {
  return "run cmake --build --preset " + preset_of(build_dir) + " --target kb_suite first";
}

// A file or standard input. The author may be a model that has answered nothing, or without end:
// this is a result like any other, hence a source that does not compile and says why, as
// tools/refine writes it.
std::string read_source(const std::string& name) {
  const bool piped = name == "-";
  const std::string shown = piped ? "the kernel on standard input" : name;
  std::error_code error;
  if (!piped && fs::is_directory(name, error)) fail(name + " is a folder: name a file of CUDA C++");
  const int fd = piped ? STDIN_FILENO : open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    fail("cannot read the kernel " + name + " (" + std::strerror(errno) +
         "): name a file, or - for standard input");
  }
  std::string text;
  std::array<char, 1 << 16> chunk;
  ssize_t n = 0;
  while (text.size() <= longest_source && (n = read(fd, chunk.data(), chunk.size())) > 0) {
    text.append(chunk.data(), static_cast<size_t>(n));
  }
  const int reason = errno;
  if (!piped) close(fd);
  if (n < 0) fail("cannot read " + shown + ": " + std::strerror(reason));
  if (text.size() > longest_source) return "#error the source is larger than 4 MiB\n";
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return "#error the source is empty\n";
  return text;
}

void check_built(const Arguments& arguments) {
  const fs::path& build = arguments.build_dir;
  if (!fs::exists(build / "manifest.json")) {
    fail(build.string() + " is not configured: run cmake --preset " + preset_of(build) +
         ", then cmake --build --preset " + preset_of(build) + " --target kb_suite");
  }
  const Json manifest = read_json(build / "manifest.json");
  const std::vector<std::string> tasks = configured_tasks(manifest);
  if (std::find(tasks.begin(), tasks.end(), arguments.task) == tasks.end()) {
    const std::string chosen = manifest.at("chosen_tasks");
    fail("there is no task '" + arguments.task + "' in " + build.string() +
         ": give the name of a task's folder, such as level1/019_relu" +
         (chosen == "*" ? "" : " (only those of -DKB_TASKS='" + chosen + "' are configured)"));
  }
  std::string name = arguments.task;
  name[name.find('/')] = '.';
  for (const std::string& file : {std::string("kernel_patterns.json"), std::string("bin/kb_cc"),
                                  std::string("bin/kb_check_build"), std::string("bin/kb_runner"),
                                  "bin/" + name + ".test", "bin/" + name + ".bench"}) {
    if (fs::exists(build / file)) continue;
    fail(build.string() + " is not built (" + file + " is missing): " + build_remedy(build));
  }
  check_declarations(arguments.library, arguments.headers, build);
}

/// The judging of one kernel: every step, and what they share.
class Judging {
 public:
  Judging(const Arguments& arguments, const std::string& source)
      : arguments_(arguments), build_(arguments.build_dir) {
    kernel_.task = arguments.task;
    kernel_.library = arguments.library;
    kernel_.headers = arguments.headers;
    kernel_.is_trusted = arguments.known_code.has_value();
    // A folder of its own for the compiler, which may write beside the object.
    fs::create_directory(folder_.path() / "object");
    kernel_.source = folder_.path() / "kernel.cu";
    kernel_.object = folder_.path() / "object/kernel.cu.o";
    kernel_.module = folder_.path() / "kernel.so";
    write_file_atomically(kernel_.source, source);
  }

  Json run() {
    know_machine();
    compile();
    if (!arguments_.known_code) return advised(judge());
    const std::string code = module_code_sha256(kernel_.module);
    if (code == *arguments_.known_code) return {{"verdict", "same_code"}, {"code_sha256", code}};
    Json judged = judge();
    judged["code_sha256"] = code;
    return judged;
  }

 private:
  // The three steps of a candidate, as far as it gets.
  Json judge() {
    step("bin/kb_check_build", test_limit_s);
    if (!result().at("verdict").is_null()) return result();
    const std::unique_ptr<FileLock> gpu = hold_gpu();
    std::vector<std::string> contract;
    if (arguments_.contract) contract = {"--contract", *arguments_.contract};
    step("bin/" + program() + ".test", test_limit_s, contract);
    if (arguments_.timing && result().at("verdict") == "pass") {
      step("bin/" + program() + ".bench", bench_limit_s, contract);
    }
    return result();
  }

  // What to change, in the words of the reports. A machine without Python has the verdict all the
  // same.
  Json advised(Json judged) {
    const std::string verdict = judged.at("verdict");
    if (verdict == "pass" || verdict == "skipped" || verdict == "degenerate") return judged;
    const fs::path source_dir = read_json(build_ / "manifest.json").at("source_dir");
    std::string said;
    try {
      const Outcome outcome = start({python(source_dir), source_dir / "reports/kb-advice",
                                     folder_.path() / "result.json", kernel_.source},
                                    advice_limit_s, &said);
      const Json advice = Json::parse(said, nullptr, false);
      if (outcome.exit_code == 0 && advice.is_array() && !advice.empty()) judged["advice"] = advice;
    } catch (const std::runtime_error&) {  // not started, or stopped
    }
    return judged;
  }

  // KB_PYTHON, as for reports/kb-report. Else the project's own comes first, since python3 on PATH
  // may be a script that starts slowly.
  static std::string python(const fs::path& source_dir) {
    const char* chosen = std::getenv("KB_PYTHON");
    if (chosen != nullptr && *chosen != 0) return chosen;
    const fs::path own = source_dir / ".venv/bin/python3";
    return fs::exists(own) ? own.string() : "python3";
  }

  std::string program() const {
    std::string name = kernel_.task;
    name[name.find('/')] = '.';
    return name;
  }
  std::string name() const { return "kernel." + program(); }
  Json result() const { return read_json(folder_.path() / "result.json"); }

  Outcome start(const std::vector<std::string>& words, double limit_s, std::string* said) {
    Launch launch;
    launch.words = words;
    launch.temporary_directory = folder_.path();
    launch.timeout_s = limit_s;  // the programs have other limits of their own
    const Outcome outcome =
        run_supervised(launch, signals_, [said](std::string_view text) { said->append(text); });
    if (outcome.interrupted_by != 0) throw Interrupted{outcome.interrupted_by};
    if (outcome.timed_out) {
      fail(words.front() + " was stopped after " + std::to_string(static_cast<int>(limit_s)) +
           " s, which no kernel takes: is the machine overloaded? Try again");
    }
    return outcome;
  }

  // Runs what must succeed. What it said is shown only if it did not.
  std::string must(const std::vector<std::string>& words, double limit_s,
                   const std::string& remedy) {
    std::string said;
    const Outcome outcome = start(words, limit_s, &said);
    if (outcome.exit_code == 0) return said;
    std::fputs(said.c_str(), stderr);
    fail(fs::path(words.front()).filename().string() + " failed: " + remedy);
  }

  // One of the three steps of a candidate. 0, 1 and 77 are verdicts; its result says which.
  void step(const std::string& file, double limit_s, const std::vector<std::string>& more = {}) {
    std::string said;
    std::vector<std::string> words{build_ / file, "--manifest", folder_.path() / "manifest.json",
                                   "--candidate", name()};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = start(words, limit_s, &said);
    if (outcome.exit_code == 0 || outcome.exit_code == 1 || outcome.exit_code == 77) return;
    std::fputs(said.c_str(), stderr);
    fail(file + " could not judge the kernel (exit code " + std::to_string(outcome.exit_code) +
         "): its message above says why; if the build is not complete, " + build_remedy(build_));
  }

  // env.json and, on a GPU, its peaks: those that CTest's fixtures write.
  void know_machine() {
    if (!environment_fits()) {
      const FileLock lock({build_ / "kernel.lock"}, [this] { wait(); });
      if (!environment_fits()) {
        must({build_ / "bin/kb_env", "--manifest", build_ / "manifest.json"}, test_limit_s,
             "its message above says what to do");
      }
    }
    gpu_ = read_json(build_ / "manifest.json").at("backend") == "cuda";
    if (gpu_ && arguments_.timing && !all_peaks_known(build_)) measure_peaks();
    for (const char* part : {"bin", "lib", "env.json", "sources.sha256", "peaks"}) {
      if (fs::exists(build_ / part)) fs::create_symlink(build_ / part, folder_.path() / part);
    }
  }

  bool environment_fits() const {
    if (!fs::exists(build_ / "env.json")) return false;
    return read_json(build_ / "env.json").value("harness_sha256", "") == harness_sha256(build_);
  }

  // Nothing else may use a GPU meanwhile.
  void measure_peaks() {
    std::vector<std::unique_ptr<FileLock>> all;
    for (const fs::path& file : gpu_slots(build_).files) {
      all.push_back(std::make_unique<FileLock>(std::vector<fs::path>{file}, [this] { wait(); }));
    }
    must({build_ / "bin/kb_peaks", "--manifest", build_ / "manifest.json"}, test_limit_s,
         "its message above says what to do; --no-timing judges without times");
  }

  // The GPU that CTest gave, if it runs us, or the first that no other call holds.
  std::unique_ptr<FileLock> hold_gpu() {
    const char* given = "CTEST_RESOURCE_GROUP_0_GPUS";
    if (!gpu_ || std::getenv(given) != nullptr) return nullptr;
    const GpuSlots slots = gpu_slots(build_);
    auto lock = std::make_unique<FileLock>(slots.files, [this] { wait(); });
    setenv(given, ("id:" + slots.ids[lock->chosen()] + ",slots:1").c_str(), 1);
    return lock;
  }

  void wait() const {
    signalfd_siginfo info;
    while (read(signals_.fd(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGCHLD) throw Interrupted{static_cast<int>(info.ssi_signo)};
    }
    usleep(lock_poll_us);
  }

  void compile() {
    const Commands commands =
        commands_for(kernel_, build_, [this](const std::vector<std::string>& words) {
          return must(words, test_limit_s,
                      "configure again (cmake --preset " + preset_of(build_) + ")");
        });
    write_manifest(commands.entry);
    fs::current_path(build_);  // the commands name files as seen from here
    std::string said;
    if (start(commands.compile, compile_limit_s, &said).exit_code != 0) {
      std::fputs(said.c_str(), stderr);
      fail("the compiler could not be run on the kernel: the message above says why");
    }
    if (start(commands.link, compile_limit_s, &said).exit_code != 0) {
      std::fputs(said.c_str(), stderr);
      fail("the kernel's module could not be linked: " + build_remedy(build_) +
           ", and look whether the disk is full");
    }
  }

  // As the configure step would write it for a run with this one kernel.
  void write_manifest(Json entry) {
    Json manifest = read_json(build_ / "manifest.json");
    entry["name"] = name();
    entry["run"] = "kernel";
    entry["level"] = std::stoi(kernel_.task.substr(std::string("level").size()));
    entry["task"] = kernel_.task.substr(kernel_.task.find('/') + 1);
    entry["source"] = kernel_.source;
    entry["module"] = "kernel.so";
    entry["build_json"] = "object/kernel.cu.o.build.json";
    entry["result"] = "result.json";
    manifest["runs"] = {{"kernel", {{"library", entry["library"]}, {"headers", entry["headers"]}}}};
    manifest["build_dir"] = folder_.path();
    manifest["candidates"] = Json::array({entry});
    replace_json(folder_.path() / "manifest.json", manifest);
  }

  Arguments arguments_;
  fs::path build_;
  SignalRouter signals_;  // first, so that no signal comes before the folder is removed
  TemporaryDirectory folder_;
  Kernel kernel_;
  bool gpu_ = false;
};

// The result has cost time: a reader that is gone, or a full disk, must be told.
void print(const Json& result) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::string text = result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (std::fputs(text.c_str(), stdout) == EOF || std::fflush(stdout) != 0) {
    fail(std::string("the result cannot be written to standard output (") + std::strerror(errno) +
         "): the verdict is " + result.at("verdict").get<std::string>());
  }
}

int judge(const Arguments& given) {
  Arguments arguments = given;
  arguments.build_dir = fs::absolute(given.build_dir).lexically_normal();
  if (!arguments.build_dir.has_filename()) arguments.build_dir = arguments.build_dir.parent_path();
  check_built(arguments);
  const std::string source = read_source(arguments.file);
  Json result;
  {
    Judging judging(arguments, source);
    result = judging.run();
  }
  print(result);
  const std::string verdict = result.at("verdict");
  std::fprintf(stderr, "%s: %s: %s\n", arguments.task.c_str(), verdict.c_str(),
               result.value("evidence", "it compiles to the code that is known").c_str());
  for (const Json& sentence : result.value("advice", Json::array())) {
    std::fprintf(stderr, "%s\n", sentence.get<std::string>().c_str());
  }
  return exit_code(verdict);
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  kb::Arguments arguments;
  CLI::App app(
      "Judges one kernel that lies anywhere and prints its result as JSON.\n"
      "Exit code: 0 pass, 10 incorrect, 11 compile_error, 12 runtime_error, 13 timeout, 14 cheat, "
      "15 policy_violation, 77 skipped, 78 degenerate, 79 the code of --unless-code; "
      "2: nothing was judged, stderr says why.");
  app.add_option("--build-dir", arguments.build_dir, "build/<preset>")->required();
  app.add_option("task", arguments.task, "levelN/NNN_slug")->required();
  app.add_option("file", arguments.file, "the kernel's source; - is standard input")->required();
  app.add_option("--library", arguments.library, "vendor library that it may call")
      ->check(CLI::IsMember({"none", "cublas", "cudnn"}));
  app.add_option("--headers", arguments.headers, "headers beyond CUDA's own that it may include")
      ->allow_extra_args(false);
  app.add_option("--contract", arguments.contract, "precision contract instead of the build's");
  app.add_option("--unless-code", arguments.known_code,
                 "code_sha256 of another kernel: one that compiles to the same code is not judged, "
                 "the result of any other has its own; for kernels that are trusted");
  app.add_flag("!--no-timing", arguments.timing, "only judge whether it is right");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kb::exit_fault;
  }
  try {
    kb::require_machine();
    return kb::judge(arguments);
  } catch (const kb::Interrupted& stop) {
    std::signal(stop.signal, SIG_DFL);
    std::raise(stop.signal);
    return 128 + stop.signal;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "judge: %s\n", error.what());
    return kb::exit_fault;
  }
}
