// flock(2): of one open file, whoever has it open.
#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace kb {

namespace fs = std::filesystem;

namespace {

// Descriptors are closed in their order: what a process holds on a device comes before this.
int open_high(const fs::path& file) {
  constexpr int high = 512;
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, high);
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

}  // namespace

FileLock::FileLock(const std::vector<fs::path>& any_of, const std::function<void()>& wait) {
  for (;; wait()) {
    for (chosen_ = 0; chosen_ < any_of.size(); ++chosen_) {
      const fs::path& file = any_of[chosen_];
      fd_ = open_high(file);
      if (fd_ < 0) {
        throw std::runtime_error("cannot lock " + file.string() + ": " + std::strerror(errno) +
                                 "; the build folder must be writable");
      }
      if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
      close(fd_);
      fd_ = -1;
    }
  }
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace kb
