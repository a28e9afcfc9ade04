#include "settings.hpp"

#include <cstdlib>
#include <cstring>

namespace kb::cpu {
namespace {

// Also out of /proc/self/environ, which shows the bytes that a process was started with.
std::string take(const char* name) {
  char* const value = std::getenv(name);
  if (value == nullptr) return "";
  std::string text = value;
  unsetenv(name);
  const std::size_t before = std::strlen(name) + 1;
  std::memset(value - before, '_', before + text.size());
  return text;
}

Settings read() {
  return {take("KB_CPU_SCHEDULE"), std::atoi(take("KB_CPU_THREADS").c_str()),
          take("KB_CPU_STRICT") == "1"};
}

// With the library, not with the first launch.
[[gnu::constructor]] void read_at_once() { settings(); }

}  // namespace

const Settings& settings() {
  static const Settings value = read();
  return value;
}

}  // namespace kb::cpu
