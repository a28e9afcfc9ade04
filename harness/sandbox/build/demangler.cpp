// The demangler knows no limits, and a symbol of 300 bytes can ask it for gigabytes: each further
// level of P<L, L> doubles the name. So it works in a process that has limits.
#include "sandbox/build/demangler.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/printable.h"

namespace kb {
namespace {

constexpr size_t longest_name = 300;
constexpr rlim_t most_seconds = 1;  // for all names together
constexpr rlim_t most_bytes = 256 << 20;

std::string for_people(std::string_view name) {
  std::string text = printable(name);
  if (text.size() <= longest_name) return text;
  return std::string(first_bytes(text, longest_name - 4)) + " ...";
}

std::string one_demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // the demangler reads "f" as the type float
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : symbol;
}

// Writes a line for each symbol, as far as it comes.
[[noreturn]] void demangle_within_limits(const std::vector<std::string>& symbols, int output) {
  const auto limit = [](auto resource, rlim_t most) {
    const rlimit both = {most, most};
    setrlimit(resource, &both);
  };
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, most_seconds);
  limit(RLIMIT_AS, most_bytes);
  for (const std::string& symbol : symbols) {
    const std::string line = for_people(one_demangled(symbol)) + '\n';
    if (write(output, line.data(), line.size()) != static_cast<ssize_t>(line.size())) break;
  }
  _exit(0);
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t n = read(fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(chunk.data(), static_cast<size_t>(n));
  }
}

// "" if there can be no further process.
std::string lines_of_child(const std::vector<std::string>& symbols) {
  std::array<int, 2> fds;
  if (pipe2(fds.data(), O_CLOEXEC) != 0) return "";
  const pid_t child = fork();
  if (child == 0) demangle_within_limits(symbols, fds[1]);
  close(fds[1]);
  std::string text = child > 0 ? read_to_end(fds[0]) : "";
  close(fds[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return text;
}

}  // namespace

std::vector<std::string> demangled(const std::vector<std::string>& symbols) {
  std::vector<std::string> names;
  if (symbols.empty()) return names;
  const std::string lines = lines_of_child(symbols);
  for (size_t start = 0, end; (end = lines.find('\n', start)) != std::string::npos;
       start = end + 1) {
    names.push_back(lines.substr(start, end - start));
  }
  while (names.size() < symbols.size()) names.push_back(for_people(symbols[names.size()]));
  return names;
}

std::string demangled(std::string_view symbol) {
  return demangled(std::vector<std::string>{std::string(symbol)}).front();
}

}  // namespace kb
