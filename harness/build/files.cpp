// Atomic replacement by write, close and rename; every step's error is reported.
#include "files.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace kb {
namespace {

[[noreturn]] void fail(const char* action, const std::filesystem::path& path, int error) {
  throw std::runtime_error(std::string("cannot ") + action + " " + path.string() + ": " +
                           std::strerror(error));
}

}  // namespace

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path partial = path.string() + ".tmp" + std::to_string(getpid());
  const int fd = open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail("write", path, errno);
  int error = 0;
  while (error == 0 && !content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written > 0) {
      content.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(partial.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(partial.c_str());
    fail("write", path, error);
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  if (in) content << in.rdbuf();
  if (!in) fail("read", path, errno);
  return std::move(content).str();
}

void remove_file(const std::filesystem::path& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) fail("remove", path, errno);
}

bool disk_full(const std::filesystem::path& directory) {
  struct statvfs status;
  if (statvfs(directory.c_str(), &status) != 0) return false;
  constexpr uint64_t room_for_a_record = 256 << 10;
  const bool out_of_files = status.f_files > 0 && status.f_favail == 0;
  return out_of_files || uint64_t{status.f_bavail} * status.f_frsize < room_for_a_record;
}

TemporaryDirectory::TemporaryDirectory() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = (base != nullptr && *base != '\0' ? std::string(base) : "/tmp");
  pattern += "/kb_cc.XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) fail("create a folder", pattern, errno);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // nothing useful can be done about it in a destructor
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace kb
