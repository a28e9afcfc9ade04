// Runs a shell command for a test and keeps what it prints.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace kb::test {

struct Outcome {
  int exit_code;       ///< 128 + n for a signal
  std::string output;  ///< stdout and stderr
};

inline Outcome run_command(const std::string& command) {
  Outcome outcome{-1, ""};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return outcome;
  std::array<char, 4096> buffer;
  while (std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), count);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The last line with the runtime's prefix: what a verdict quotes.
inline std::string last_report(const std::string& output) {
  const std::string prefix = "[kb-cpu] ";
  const std::size_t at = output.rfind(prefix);
  return at == std::string::npos
             ? ""
             : output.substr(at + prefix.size(), output.find('\n', at) - at - prefix.size());
}

}  // namespace kb::test
