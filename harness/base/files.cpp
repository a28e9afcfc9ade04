// Atomic replacement by write, close and rename; every step's error is reported.
#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

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

FileReplacement::FileReplacement(std::filesystem::path path) : path_(std::move(path)) {
  // A name that nobody has taken: neither another process nor a link that leads elsewhere.
  for (int i = 0; fd_ < 0; ++i) {
    fresh_ = path_.string() + "." + std::to_string(getpid()) + "." + std::to_string(i) + ".tmp";
    fd_ = open(fresh_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) fail("write", path_, errno);
  }
}

FileReplacement::~FileReplacement() {
  if (fd_ >= 0) close(fd_);
  if (!fresh_.empty()) unlink(fresh_.c_str());
}

void FileReplacement::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path_, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void FileReplacement::sync() {
  if (fsync(fd_) != 0) fail("write", path_, errno);
}

void FileReplacement::commit() {
  if (close(std::exchange(fd_, -1)) != 0) fail("write", path_, errno);
  if (rename(fresh_.c_str(), path_.c_str()) != 0) fail("write", path_, errno);
  fresh_.clear();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  FileReplacement file(path);
  file.write(content);
  file.commit();
}

std::unique_ptr<FILE, int (*)(FILE*)> open_regular(const std::filesystem::path& path) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(nullptr, &std::fclose);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return file;
  struct stat status {};
  const bool known = fstat(fd, &status) == 0;
  if (known && S_ISREG(status.st_mode)) file.reset(fdopen(fd, "rb"));
  if (file) return file;
  const int error = !known ? errno : S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  close(fd);
  errno = error;
  return file;
}

std::string read_text(const std::filesystem::path& path) {
  const auto file = open_regular(path);
  if (!file) fail("read", path, errno);
  std::string text;
  std::array<char, 1 << 16> chunk;
  while (const size_t read = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
    text.append(chunk.data(), read);
  }
  if (std::ferror(file.get())) fail("read", path, errno);
  return text;
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
