// JSON, hashes and times on top of base/files.h.
#include "base/result/files.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <stdexcept>

#include "base/sha256.h"

namespace kb {

Json read_json(const std::filesystem::path& path) {
  try {
    return Json::parse(read_text(path));
  } catch (const Json::exception& error) {
    throw std::runtime_error(path.string() + " is not valid JSON: " + error.what());
  }
}

void replace_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(folder_of(path));
  FileReplacement file(path);
  file.write(text);
  file.sync();
  file.commit();
}

void replace_json(const std::filesystem::path& path, const Json& json) {
  replace_text(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string file_sha256(const std::filesystem::path& path) {
  const std::optional<std::string> digest = sha256_file(path);
  if (!digest) {
    throw std::runtime_error("cannot read " + path.string() + ": " + std::strerror(errno));
  }
  return *digest;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace kb
