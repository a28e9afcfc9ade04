// Reads KB_COMPILE_* from the environment and from the file beside the stub.
#include "sandbox/build/settings.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace kb {
namespace {

class KeyValues {
 public:
  explicit KeyValues(const std::filesystem::path& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      const size_t equals = line.find('=');
      if (line.empty() || line.front() == '#' || equals == std::string::npos) continue;
      values_[line.substr(0, equals)] = line.substr(equals + 1);
    }
  }

  /// The environment wins over the file; an empty value counts as unset.
  std::optional<std::string> get(const std::string& key) const {
    if (const char* value = std::getenv(key.c_str()); value != nullptr && *value != '\0') {
      return value;
    }
    const auto found = values_.find(key);
    if (found == values_.end() || found->second.empty()) return std::nullopt;
    return found->second;
  }

 private:
  std::map<std::string, std::string> values_;
};

[[noreturn]] void reject(const std::string& key, const std::string& value, const char* wanted) {
  throw std::runtime_error(key + "='" + value + "' is not " + wanted);
}

double parse_seconds(const std::string& key, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || value > 1e6) {
    reject(key, text, "a number of seconds above 0");
  }
  return value;
}

uint64_t parse_count(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value == 0) reject(key, text, "a number above 0");
  return value;
}

uint64_t parse_bytes(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  int shift = 0;
  if (end + 1 == last) {
    shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : -1;
  } else if (end != last) {
    shift = -1;
  }
  if (error != std::errc() || shift < 0 || value == 0 || value > UINT64_MAX >> (shift + 1)) {
    reject(key, text, "a number of bytes above 0 (K, M and G are allowed)");
  }
  return value << shift;
}

}  // namespace

uint64_t memory_share(uint64_t machine_bytes, uint64_t jobs) {
  constexpr uint64_t gibibyte = 1ull << 30;
  return std::clamp(machine_bytes / jobs, 2 * gibibyte, 8 * gibibyte);
}

Settings read_settings(const std::filesystem::path& config_file) {
  const KeyValues values(config_file);
  Settings settings;
  if (const auto text = values.get("KB_COMPILE_TIMEOUT")) {
    settings.timeout_s = parse_seconds("KB_COMPILE_TIMEOUT", *text);
  }
  if (const auto text = values.get("KB_COMPILE_MEMORY")) {
    settings.memory_bytes = parse_bytes("KB_COMPILE_MEMORY", *text);
  } else {
    const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
    const auto cores = static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
    const auto jobs = values.get("KB_COMPILE_JOBS");
    settings.memory_bytes = memory_share(pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)),
                                         jobs ? parse_count("KB_COMPILE_JOBS", *jobs) : cores);
  }
  if (const auto text = values.get("KB_COMPILE_OUTPUT")) {
    settings.output_bytes = parse_bytes("KB_COMPILE_OUTPUT", *text);
  }
  if (const auto text = values.get("KB_STRICT")) {
    if (*text != "0" && *text != "1") reject("KB_STRICT", *text, "0 or 1");
    settings.strict = *text == "1";
  }
  if (const auto text = values.get("KB_COMPILE_SANDBOX")) {
    if (*text == "landlock") {
      settings.sandbox = SandboxMode::required;
    } else if (*text == "none") {
      settings.sandbox = SandboxMode::off;
    } else if (*text != "auto") {
      reject("KB_COMPILE_SANDBOX", *text, "auto, landlock or none");
    }
  }
  return settings;
}

}  // namespace kb
