// Compiler launcher: `cu2cpp <compiler> <arguments>` compiles a .cu file as C++ for the CPU. It
// preprocesses, rewrites CUDA's syntax and compiles the result, and behaves like the compiler
// otherwise. Exit code 3: the program uses something that the CPU backend does not have; 5: it
// needs more than any GPU has.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "constants.hpp"
#include "named_file.hpp"
#include "rewrite.hpp"

namespace {

using namespace kb::cu2cpp;
using Arguments = std::vector<std::string>;

constexpr int exit_unsupported = 3, exit_exceeds_device = 5;
// What the device says that it is (KB_CUDA_CHECK_ARCH of the build).
constexpr const char* device_view = "-D__CUDA_ARCH__=" KB_CPU_CAPABILITY "0";

std::vector<char*> pointers(const Arguments& arguments) {
  std::vector<char*> result;
  for (const std::string& each : arguments) result.push_back(const_cast<char*>(each.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Runs a command; its stderr goes to `errors`. Returns the exit code, 128 + n for a signal.
int run(const Arguments& command, std::string* errors) {
  int pipe_ends[2] = {-1, -1};
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return 127;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, command[0].c_str(), &actions, nullptr,
                                   pointers(command).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  char buffer[4096];
  for (ssize_t n; failure == 0 && (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    errors->append(buffer, n);
  close(pipe_ends[0]);
  if (failure != 0) {
    std::cerr << "cu2cpp: cannot run " << command[0] << ": " << std::strerror(failure) << "\n";
    return 127;
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// What the command line asks for, split into the parts that the two compiler runs need.
struct Job {
  Arguments common;      ///< for both runs: -std, -O, -f, -W ...
  Arguments preprocess;  ///< only for the first: -I, -D, -include, -M ...
  std::string source, object;
  bool compiles = false, sanitizes = false, debug = false;
};

Job parse(int count, char** values) {
  Job job;
  for (int i = 2; i < count; ++i) {
    const std::string argument = values[i];
    auto takes_value = [&](const char* name) { return argument == name && i + 1 < count; };
    auto starts = [&](const char* prefix) { return argument.rfind(prefix, 0) == 0; };
    if (argument == "-c") {
      job.compiles = true;
    } else if (takes_value("-o")) {
      job.object = values[++i];
    } else if (takes_value("-x")) {
      ++i;
    } else if (takes_value("-include") || takes_value("-isystem") || takes_value("-iquote") ||
               takes_value("-idirafter") || takes_value("-imacros") || takes_value("-MF") ||
               takes_value("-MT") || takes_value("-MQ") || takes_value("-I") || takes_value("-D") ||
               takes_value("-U")) {
      job.preprocess.insert(job.preprocess.end(), {argument, values[++i]});
    } else if (starts("-I") || starts("-D") || starts("-U") || starts("-M") || starts("-isystem")) {
      job.preprocess.push_back(argument);
    } else if (argument.size() > 3 && argument.ends_with(".cu") && argument[0] != '-') {
      job.source = argument;
    } else {
      job.sanitizes |= starts("-fsanitize");
      job.debug |= starts("-g");
      job.common.push_back(argument);
    }
  }
  if (job.object.empty() && !job.source.empty()) {
    const std::size_t slash = job.source.rfind('/');
    const std::string name = slash == std::string::npos ? job.source : job.source.substr(slash + 1);
    job.object = name.substr(0, name.size() - 3) + ".o";
  }
  return job;
}

/// Runs one of the two compiler steps and passes its messages on. When it failed over a part of
/// CUDA that is not there, a line names this part and the exit code says so.
int run_step(const Arguments& command) {
  std::string errors;
  const int code = run(command, &errors);
  std::cerr << errors;
  if (code == 0) return 0;
  std::istringstream lines(errors);
  std::string from;  // the line that instantiates the template of these headers with an assertion
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("required from here")) from = line;
    const std::string marker = "error: ";
    const std::size_t at = line.find(marker);
    if (at == std::string::npos) continue;
    const std::string feature = missing_feature(line.substr(at + marker.size()));
    const bool assertion = line.find("static assertion failed") != std::string::npos;
    const std::string place = assertion && !from.empty() ? from : line;
    if (feature.empty()) continue;
    const std::size_t place_end = place.find(':', place.find(':') + 1);
    std::cerr << place.substr(0, place_end) << ": unsupported on the CPU backend: " << feature
              << "\n";
    return exit_unsupported;
  }
  return code;
}

/// Leaves what the host's or the device's compilation sees of the source in `text`.
int preprocess(const std::string& compiler, const Job& job, bool device, std::string* text) {
  const std::string file = job.object + ".ii";
  Arguments command{compiler};
  command.insert(command.end(), job.common.begin(), job.common.end());
  // nvcc includes its runtime header in front of everything, too.
  command.insert(command.end(), {"-DKB_CU2CPP", "-D__CUDACC__", "-include", "cuda_runtime.h"});
  if (device) command.push_back(device_view);
  for (std::size_t i = 0; i < job.preprocess.size(); ++i) {
    const std::string& each = job.preprocess[i];
    if (device || each.rfind("-M", 0) != 0)
      command.push_back(each);
    else if (each == "-MF" || each == "-MT" || each == "-MQ")
      ++i;  // the dependencies have been written by the first run
  }
  command.insert(command.end(), {"-x", "c++", "-E", job.source, "-o", file});
  const int code = run_step(command);
  std::ifstream in(file, std::ios::binary);
  text->assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  unlink(file.c_str());
  return code;
}

bool names_architecture(const Source& source) {
  return std::any_of(source.files.begin(), source.files.end(), [](const std::string& name) {
    return text_of(name).find("__CUDA_ARCH__") != std::string::npos;
  });
}

/// Refuses, as ptxas does, more constant memory than any GPU has.
int check_constants(const Job& job) {
  const std::size_t bytes = constant_bytes(job.object);
  if (bytes <= constant_limit) return 0;
  std::cerr << job.source << ": error: its __constant__ variables have " << bytes
            << " bytes together, and a GPU has " << constant_limit
            << "; put the larger ones into device memory\n";
  unlink(job.object.c_str());
  return exit_exceeds_device;
}

int compile(const std::string& compiler, const Job& job) {
  const std::string preprocessed = job.object + ".ii";
  std::string text, host_text;
  if (const int code = preprocess(compiler, job, true, &text)) return code;
  try {
    Source source = tokenize(text, job.source);
    refuse_unsupported_headers(source);
    if (names_architecture(source)) {
      if (const int code = preprocess(compiler, job, false, &host_text)) return code;
      const Source host = tokenize(host_text, job.source);
      refuse_unsupported_headers(host);
      merge_views(source, host);
    }
    refuse_unsupported_names(source);
    // AddressSanitizer leaves variables with a section of their own alone.
    rewrite(source, !job.sanitizes);
    std::ofstream(preprocessed, std::ios::binary | std::ios::trunc) << render(source);
  } catch (const Unsupported& error) {
    std::cerr << error.what() << "\n";
    return exit_unsupported;
  }

  Arguments second{compiler};
  second.insert(second.end(), job.common.begin(), job.common.end());
  // Candidates end up in a shared library; without this no function of theirs could be inlined.
  second.push_back("-fno-semantic-interposition");
  if (!job.sanitizes) second.push_back("-fsanitize=alignment");
  second.push_back("-Wno-unknown-pragmas");  // only nvcc and clang know "#pragma unroll"
  if (!job.debug) second.push_back("-g1");   // lines for fault reports
  second.insert(second.end(), {"-x", "c++-cpp-output", "-c", preprocessed, "-o", job.object});
  int code = run_step(second);
  if (code == 0) code = check_constants(job);
  if (!std::getenv("KB_CPU_KEEP")) unlink(preprocessed.c_str());
  return code;
}

}  // namespace

int main(int count, char** values) {
  if (count < 2) {
    std::cerr << "usage: cu2cpp <compiler> <arguments>\n";
    return 2;
  }
  setenv("LC_ALL", "C", 1);  // messages in the words that missing_feature() knows
  const Job job = parse(count, values);
  if (job.compiles && !job.source.empty()) return compile(values[1], job);
  execvp(values[1],
         values + 1);  // links, version queries and other sources: the compiler's business
  std::cerr << "cu2cpp: cannot run " << values[1] << ": " << std::strerror(errno) << "\n";
  return 127;
}
