// A new file is written beside the old one and renamed over it once it is safely on disk.
#include "result/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "build/sha256.h"

namespace kb {
namespace {

[[noreturn]] void fail(const std::string& doing, const std::filesystem::path& path) {
  throw std::runtime_error("cannot " + doing + " " + path.string() + ": " + std::strerror(errno));
}

void write_all(int fd, const std::string& text, const std::filesystem::path& path) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path);
    done += static_cast<size_t>(n);
  }
  if (fsync(fd) != 0) fail("write", path);
}

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("read", path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Json read_json(const std::filesystem::path& path) {
  try {
    return Json::parse(read_text(path));
  } catch (const Json::exception& error) {
    throw std::runtime_error(path.string() + " is not valid JSON: " + error.what());
  }
}

void replace_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  const std::filesystem::path fresh = path.string() + "." + std::to_string(getpid()) + ".tmp";
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail("write", fresh);
  try {
    write_all(fd, text, fresh);
    close(fd);
    if (rename(fresh.c_str(), path.c_str()) != 0) fail("replace", path);
  } catch (...) {
    close(fd);
    unlink(fresh.c_str());
    throw;
  }
}

void replace_json(const std::filesystem::path& path, const Json& json) {
  replace_text(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string file_sha256(const std::filesystem::path& path) {
  const std::optional<std::string> digest = sha256_file(path);
  if (!digest) fail("read", path);
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
