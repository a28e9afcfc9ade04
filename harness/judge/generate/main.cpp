// kb_generate: gives a prompt to a generator and makes a kernel's file of its answer. tools/refine
// calls it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "base/files.h"
#include "base/printable.h"
#include "base/supervise.h"
#include "judge/generate/answer.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr int exit_fault = 2;
constexpr int exit_no_program = 3;
constexpr size_t longest_answer = 4 << 20;
constexpr uint64_t no_limit = 1ull << 60;

struct Arguments {
  fs::path prompt, kernel, answer, log;
  double timeout_s = 600;
  std::string command;
};

std::string last_line(const fs::path& log) {
  std::string text = fs::exists(log) ? read_text(log) : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return std::string(first_bytes(printable(text.substr(text.rfind('\n') + 1)), 300));
}

// In a shell, since it is a command line; head ends a generator that writes for ever.
Launch launch_of(const Arguments& arguments, const fs::path& folder) {
  Launch launch;
  launch.words = {"bash",
                  "-o",
                  "pipefail",
                  "-c",
                  R"({ eval "$3"; } <"$1" 2>"$2" | head -c "$4")",
                  "generator",
                  arguments.prompt,
                  arguments.log,
                  arguments.command,
                  std::to_string(longest_answer + 1)};
  launch.temporary_directory = folder;
  launch.timeout_s = arguments.timeout_s;
  launch.memory_bytes = launch.file_bytes = no_limit;
  return launch;
}

int generate(const Arguments& arguments) {
  const SignalRouter signals;
  const TemporaryDirectory folder;
  std::string answer;
  const Outcome outcome = run_supervised(launch_of(arguments, folder.path()), signals,
                                         [&answer](std::string_view text) { answer.append(text); });
  if (outcome.interrupted_by != 0) return 128 + outcome.interrupted_by;
  std::string reason;
  if (outcome.timed_out) {
    char text[64];
    std::snprintf(text, sizeof text, "it was stopped after %g s", arguments.timeout_s);
    reason = text;
  } else if (answer.size() > longest_answer) {
    reason = "it printed more than 4 MiB";
  } else if (outcome.exit_code == 126 || outcome.exit_code == 127) {
    std::fprintf(stderr, "the generator cannot be started: %s\n", last_line(arguments.log).c_str());
    return exit_no_program;
  } else if (outcome.exit_code != 0) {
    reason = "it ended with exit code " + std::to_string(outcome.exit_code);
    const std::string said = last_line(arguments.log);
    if (!said.empty()) reason += ", saying: " + said;
  }
  std::string kernel = kernel_of(answer);
  if (reason.empty() && kernel.find_first_not_of(" \t\r\n") == std::string::npos) {
    reason = "its answer holds none";
  }
  answer.resize(std::min(answer.size(), longest_answer));
  write_file_atomically(arguments.answer, answer);
  // Last, since the kernel's file says that this answer is there.
  write_file_atomically(arguments.kernel, reason.empty() ? kernel : no_kernel(reason));
  std::printf("%s\n", reason.empty() ? "answered" : ("gave no kernel: " + reason).c_str());
  return 0;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) {
  kb::Arguments arguments;
  CLI::App app(
      "Gives a prompt to a generator and makes a kernel's file of its answer. One that fails, "
      "hangs "
      "or writes for ever gives a file that does not compile and says so. Exit code: 0 a file was "
      "written, 2 it could not be, 3 the generator cannot be started.");
  app.add_option("--prompt", arguments.prompt, "file that it reads")->required();
  app.add_option("--kernel", arguments.kernel, "file to write")->required();
  app.add_option("--answer", arguments.answer, "file for the whole answer")->required();
  app.add_option("--log", arguments.log, "file for what it says on stderr")->required();
  app.add_option("--timeout", arguments.timeout_s, "seconds")->check(CLI::PositiveNumber);
  app.add_option("command", arguments.command, "command line of the generator")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kb::exit_fault;
  }
  try {
    return kb::generate(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kb::exit_fault;
  }
}
